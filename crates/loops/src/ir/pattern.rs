//! The pattern of a statement: all that its code depends on, but for names.
//!
//! Statements with equal keys do the same with other variables, values and buffers, those of each in the
//! order of their first occurrence. So the code of one serves all of them, given what they use from
//! outside. Keys are told apart by the order of terms in index expressions too, which may differ for
//! statements that do the same; then there is code for both.

mod exprs;

use einlang_index::{Affine, MinMax, Quasi, Var};
use einlang_tir::region::Value;
use rustc_hash::FxHashMap as HashMap;

use super::{
    Access, Block, BufferId, Combine, Condition, Fold, FoldStart, Kernel, Layout, Loop, Operand,
    Range, Role, Stmt, Subscript,
};

/// A statement without its names.
#[derive(Clone, Default, Debug)]
pub struct Pattern {
    /// What is equal for statements that do the same.
    pub key: Vec<i64>,
    /// The variables that it uses from outside, and that are not known there.
    pub vars: Vec<Var>,
    /// The values that it uses from outside.
    pub values: Vec<Value>,
    /// The buffers.
    pub buffers: Vec<BufferId>,
    /// For each subscript and each expression that an index is bound to, in order, the part of it that is
    /// left out of a loose key.
    pub offsets: Vec<Option<Affine>>,
}

/// The pattern of a loop, given the numbers that variables around it are known to be; nothing if it does
/// more than compute, load and store.
pub fn pattern_of(
    of: &Loop,
    kernel: &Kernel,
    known: &dyn Fn(Var) -> Option<i64>,
) -> Option<Pattern> {
    read(of, kernel, known, false)
}

/// The same with a loose key: equal also for statements that add other sizes to subscripts and indices.
pub fn loose_pattern_of(of: &Loop, kernel: &Kernel) -> Option<Pattern> {
    read(of, kernel, &|_| None, true)
}

fn read(
    of: &Loop,
    kernel: &Kernel,
    known: &dyn Fn(Var) -> Option<i64>,
    loose: bool,
) -> Option<Pattern> {
    let mut reader = Reader {
        kernel,
        known,
        loose,
        found: Pattern::default(),
        vars: HashMap::default(),
        bound: Vec::new(),
        values: HashMap::default(),
        buffers: HashMap::default(),
    };
    reader.looped(of)?;
    Some(reader.found)
}

struct Reader<'k> {
    kernel: &'k Kernel,
    known: &'k dyn Fn(Var) -> Option<i64>,
    loose: bool,
    found: Pattern,
    /// The numbers of variables.
    vars: HashMap<Var, i64>,
    /// The variables that are bound here.
    bound: Vec<Var>,
    values: HashMap<u32, i64>,
    buffers: HashMap<BufferId, i64>,
}

impl Reader<'_> {
    fn say(&mut self, words: &[i64]) {
        self.found.key.extend_from_slice(words);
    }

    fn count(&mut self, n: usize) {
        self.found.key.push(n as i64);
    }

    fn var(&mut self, var: Var) {
        let is_bound = self.bound.contains(&var);
        if let Some(number) = (self.known)(var).filter(|_| !is_bound) {
            return self.say(&[0, number]);
        }
        if !is_bound && !self.found.vars.contains(&var) {
            self.found.vars.push(var);
        }
        let next = self.vars.len() as i64;
        let number = *self.vars.entry(var).or_insert(next);
        self.say(&[1, number, i64::from(is_bound)]);
    }

    fn bind(&mut self, var: Var) {
        self.bound.push(var);
        self.var(var);
    }

    fn operand(&mut self, operand: &Operand) {
        match operand {
            Operand::Const(constant) => {
                self.say(&[0, constant.elem() as i64, constant.bits() as i64]);
            }
            Operand::Value(value) => {
                if !self.values.contains_key(&value.number) {
                    self.found.values.push(*value);
                }
                self.value(*value);
            }
        }
    }

    fn operands(&mut self, operands: &[Operand]) {
        self.count(operands.len());
        operands.iter().for_each(|operand| self.operand(operand));
    }

    fn value(&mut self, value: Value) {
        let next = self.values.len() as i64;
        let number = *self.values.entry(value.number).or_insert(next);
        self.say(&[1, number, value.elem as i64]);
    }

    fn define(&mut self, values: &[Value]) {
        self.count(values.len());
        values.iter().for_each(|value| self.value(*value));
    }

    /// A buffer: its number, and what it is where it occurs first.
    fn buffer(&mut self, buffer: BufferId) -> Option<()> {
        if let Some(number) = self.buffers.get(&buffer) {
            self.found.key.push(*number);
            return Some(());
        }
        let number = self.buffers.len() as i64;
        self.buffers.insert(buffer, number);
        self.found.buffers.push(buffer);
        let kernel = self.kernel;
        let of = kernel.buffer(buffer)?;
        let tests = |stmt: &Stmt| matches!(stmt, Stmt::CheckShape(of, _) if *of == buffer);
        let is_given = (buffer.0 as usize) < kernel.n_inputs;
        let is_fixed = !is_given || kernel.body.stmts.iter().any(tests);
        let flags = [of.marks, of.stack, is_fixed].map(i64::from);
        self.say(&[number, of.elem as i64, flags[0], flags[1], flags[2], of.dims.len() as i64]);
        for (axis, dim) in of.dims.iter().enumerate() {
            self.say(&match dim.layout {
                Layout::Full => [0, 0],
                Layout::Open => [1, 0],
                Layout::Mod(width) => [2, width],
            });
            // How long the first axis is says nothing about where elements lie.
            if axis > 0 && is_of_sizes(kernel, &dim.extent) {
                self.quasi(&dim.extent);
            }
        }
        Some(())
    }

    fn subscripts(&mut self, at: &[Subscript]) {
        for subscript in at {
            match subscript {
                Subscript::Index(expr) => self.place(expr),
                Subscript::Value(operand) => {
                    self.say(&[1]);
                    self.operand(operand);
                }
            }
        }
    }

    fn condition(&mut self, condition: &Condition) {
        match condition {
            Condition::Value(operand) => {
                self.say(&[0]);
                self.operand(operand);
            }
            Condition::Within(domain) => {
                self.say(&[1]);
                self.domain(domain);
            }
        }
    }

    fn range(&mut self, range: &Range) {
        self.bounds(&range.lo);
        self.bounds(&range.hi);
        self.say(&[i64::from(range.down)]);
        self.bind(range.var);
    }

    fn block(&mut self, block: &Block) -> Option<()> {
        let outside = self.bound.len();
        self.count(block.stmts.len());
        block.stmts.iter().try_for_each(|stmt| self.stmt(stmt))?;
        self.operands(&block.results);
        self.bound.truncate(outside);
        Some(())
    }

    fn looped(&mut self, of: &Loop) -> Option<()> {
        if of.until.is_some() {
            return None;
        }
        let (role, width) = match of.role {
            Role::Seq => (0, 0),
            Role::Par => (1, 0),
            Role::Lane(width) => (2, width),
            Role::Unroll(rounds) => (3, rounds),
            Role::Terms(block) => (4, block),
            Role::Wave => (5, 0),
        };
        self.say(&[role, i64::from(width), of.own as i64]);
        let outside = self.bound.len();
        self.range(&of.range);
        self.block(&of.body)?;
        self.bound.truncate(outside);
        Some(())
    }

    fn fold(&mut self, fold: &Fold) -> Option<()> {
        let resumed = fold.resume.filter(|var| !self.bound.contains(var));
        if fold.key.is_some() || resumed.is_some() {
            return None;
        }
        self.count(usize::from(fold.resume.is_some()));
        fold.resume.iter().for_each(|var| self.var(*var));
        let outside = self.bound.len();
        self.count(fold.ranges.len());
        fold.ranges.iter().for_each(|range| self.range(range));
        self.count(usize::from(fold.within.is_some()));
        fold.within.iter().for_each(|domain| self.domain(domain));
        match &fold.start {
            FoldStart::From(start) => self.operands(start),
            FoldStart::First(site) => self.say(&[-1, i64::from(site.0)]),
        }
        self.count(usize::from(fold.guard.is_some()));
        for block in fold.guard.iter().chain([&fold.body]) {
            self.block(block)?;
        }
        match &fold.combine {
            Combine::Op(op) => self.say(&[0, *op as i64]),
            Combine::Pairs(op) => self.say(&[1, *op as i64]),
            Combine::Block { left, right, block } => {
                self.say(&[2]);
                self.define(left);
                self.define(right);
                self.block(block)?;
            }
        }
        self.bound.truncate(outside);
        self.define(&fold.results);
        Some(())
    }

    fn stmt(&mut self, stmt: &Stmt) -> Option<()> {
        match stmt {
            Stmt::Op { result, op, args, site } => {
                self.say(&[0, *op as i64, site.map_or(-1, |site| i64::from(site.0))]);
                self.operands(args);
                self.value(*result);
            }
            Stmt::Index { result, expr } => {
                self.say(&[1]);
                self.quasi(expr);
                self.value(*result);
            }
            Stmt::Bind { var, expr } => {
                self.say(&[2]);
                match expr {
                    MinMax::Value(expr) => self.place(expr),
                    bound => self.bounds(bound),
                }
                self.bind(*var);
            }
            Stmt::Param { var, value, site } => {
                self.say(&[3, i64::from(site.0)]);
                self.operand(value);
                self.bind(*var);
            }
            Stmt::Load { result, buffer, at, access } => {
                let (site, marked) = match access {
                    Access::Proved => (-1, false),
                    Access::Ahead(parts) => (-2 - i64::from(*parts), false),
                    Access::Site(site, marked) => (i64::from(site.0), *marked),
                };
                self.say(&[4, site, i64::from(marked)]);
                self.buffer(*buffer)?;
                self.subscripts(at);
                self.value(*result);
            }
            Stmt::Probe { result, buffer, at, marked } => {
                self.say(&[5, i64::from(*marked)]);
                self.buffer(*buffer)?;
                self.subscripts(at);
                self.value(*result);
            }
            Stmt::Store { buffer, at, value } => {
                self.say(&[6]);
                self.buffer(*buffer)?;
                at.iter().for_each(|expr| self.place(expr));
                self.operand(value);
            }
            Stmt::If { results, condition, then, otherwise } => {
                self.say(&[7]);
                self.condition(condition);
                self.block(then)?;
                self.block(otherwise)?;
                self.define(results);
            }
            Stmt::Loop(of) => {
                self.say(&[8]);
                self.looped(of)?;
            }
            Stmt::Fold(fold) => {
                self.say(&[9]);
                self.fold(fold)?;
            }
            Stmt::Alloc(buffer) | Stmt::Free(buffer) => {
                // Memory is asked for by number, so this is about one buffer.
                let is_alloc = matches!(stmt, Stmt::Alloc(_));
                self.say(&[10, i64::from(is_alloc), i64::from(buffer.0)]);
                self.buffer(*buffer)?;
                let kernel = self.kernel;
                kernel.buffer(*buffer)?.dims.iter().for_each(|dim| self.quasi(&dim.extent));
            }
            Stmt::Assert { condition, site } => {
                self.say(&[11, i64::from(site.0)]);
                self.condition(condition);
            }
            Stmt::Trap(site) => self.say(&[12, i64::from(site.0)]),
            Stmt::CheckShape(..)
            | Stmt::Copy { .. }
            | Stmt::Call { .. }
            | Stmt::Team(_)
            | Stmt::Barrier => return None,
        }
        Some(())
    }
}

/// Whether an expression speaks of the sizes of a kernel alone.
pub fn is_of_sizes(kernel: &Kernel, expr: &Quasi) -> bool {
    let mut all = true;
    expr.for_each_var(&mut |var| all &= kernel.sizes.iter().any(|(size, _)| *size == var));
    all
}
