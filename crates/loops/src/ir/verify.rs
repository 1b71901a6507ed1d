//! The invariants of kernels.
//!
//! 1. `defined_once`: a value is defined once, before it is used, in the same block or one around;
//!    the body of a fold also sees its guard.
//! 2. `bound`: every variable of an index expression has a value there.
//! 3. `memory`: buffers exist, have as many subscripts as dimensions, get memory before they are
//!    used, are stored to only if they are no input, and windows have at least one plane.
//! 4. `typed`: operations, conditions, stores, yields and folds have fitting types.
//! 5. `sites`: the sites exist, and an access that was not proved has one.
//! 6. `teams`: between two barriers of a team, a place that one thread stores to is touched by no
//!    other ([`crate::threads`]).

use einlang_index::{Domain, MinMax, Quasi, Var};
use einlang_tir::region::Value;
use einlang_tir::types::Elem;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::{
    Access, Block, BufferId, Combine, Condition, Fold, FoldStart, Kernel, Layout, Loop, Operand,
    Range, SiteId, Stmt, Subscript,
};

/// An invariant that is broken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// Which.
    pub invariant: &'static str,
    /// How.
    pub message: String,
}

/// What is wrong with a kernel; nothing if it is fine.
pub fn verify(kernel: &Kernel) -> Vec<Problem> {
    let mut verifier = Verifier {
        kernel,
        problems: Vec::new(),
        defined: HashSet::default(),
        values: HashMap::default(),
        vars: kernel.sizes.iter().map(|size| size.0).collect(),
        alive: (0..kernel.n_inputs as u32).map(BufferId).collect(),
    };
    for buffer in &kernel.buffers {
        let empty = |layout: &Layout| matches!(layout, Layout::Mod(width) if *width < 1);
        if buffer.dims.iter().any(|dim| empty(&dim.layout)) {
            verifier.add("memory", format!("a window of `{}` is empty", buffer.name.as_str()));
        }
    }
    verifier.block(&kernel.body, &[]);
    for output in &kernel.outputs {
        verifier.buffer(*output, None);
    }
    for problem in crate::threads::check_teams(kernel) {
        verifier.add("teams", problem);
    }
    verifier.problems
}

struct Verifier<'k> {
    kernel: &'k Kernel,
    problems: Vec<Problem>,
    /// Every value that was ever defined.
    defined: HashSet<u32>,
    /// The values in scope.
    values: HashMap<u32, Elem>,
    vars: HashSet<Var>,
    alive: HashSet<BufferId>,
}

impl Verifier<'_> {
    fn add(&mut self, invariant: &'static str, message: impl Into<String>) {
        self.problems.push(Problem { invariant, message: message.into() });
    }

    fn define(&mut self, value: Value) {
        if !self.defined.insert(value.number) {
            self.add("defined_once", format!("%{} is defined twice", value.number));
        }
        self.values.insert(value.number, value.elem);
    }

    fn operand(&mut self, operand: &Operand) {
        let Operand::Value(value) = operand else { return };
        match self.values.get(&value.number) {
            None => self.add("defined_once", format!("%{} is not defined here", value.number)),
            Some(elem) if *elem != value.elem => {
                self.add("typed", format!("%{} is {elem}, not {}", value.number, value.elem));
            }
            Some(_) => {}
        }
    }

    fn var(&mut self, var: Var) {
        if !self.vars.contains(&var) {
            let name = self.kernel.vars.name(var).unwrap_or("?");
            self.add("bound", format!("`{name}` has no value here"));
        }
    }

    fn quasi(&mut self, expr: &Quasi) {
        expr.for_each_var(&mut |var| self.var(var));
    }

    fn bound(&mut self, bound: &MinMax) {
        bound.for_each_var(&mut |var| self.var(var));
    }

    fn domain(&mut self, domain: &Domain) {
        for var in domain.sets().iter().flat_map(|set| set.vars()).collect::<Vec<_>>() {
            self.var(var);
        }
    }

    fn condition(&mut self, condition: &Condition) {
        match condition {
            Condition::Value(operand) => {
                self.operand(operand);
                self.same(operand.elem(), Elem::Bool, "a condition");
            }
            Condition::Within(domain) => self.domain(domain),
        }
    }

    fn same(&mut self, found: Elem, wanted: Elem, what: &str) {
        if found != wanted {
            self.add("typed", format!("{what} is {found}, not {wanted}"));
        }
    }

    fn site(&mut self, site: SiteId) {
        if site.0 as usize >= self.kernel.sites.len() {
            self.add("sites", format!("there is no site {}", site.0));
        }
    }

    /// A buffer that is used, with this many subscripts; its type.
    fn buffer(&mut self, buffer: BufferId, rank: Option<usize>) -> Option<Elem> {
        let Some(found) = self.kernel.buffer(buffer) else {
            self.add("memory", format!("there is no buffer {}", buffer.0));
            return None;
        };
        let (elem, dims, name) = (found.elem, found.dims.len(), found.name.clone());
        if !self.alive.contains(&buffer) {
            self.add("memory", format!("`{}` has no memory here", name.as_str()));
        }
        if rank.is_some_and(|rank| rank != dims) {
            self.add("memory", format!("`{}` has {dims} dimensions", name.as_str()));
        }
        Some(elem)
    }

    fn subscripts(&mut self, at: &[Subscript]) {
        for subscript in at {
            match subscript {
                Subscript::Index(expr) => self.quasi(expr),
                Subscript::Value(operand) => {
                    self.operand(operand);
                    if !operand.elem().is_int() {
                        self.add("typed", "a subscript is no integer");
                    }
                }
            }
        }
    }

    /// A block in a scope of its own, which yields values of these types.
    fn block(&mut self, block: &Block, yields: &[Elem]) {
        let (values, vars) = (self.values.clone(), self.vars.clone());
        self.open_block(block, yields);
        (self.values, self.vars) = (values, vars);
    }

    /// A block whose definitions stay in scope.
    fn open_block(&mut self, block: &Block, yields: &[Elem]) {
        block.stmts.iter().for_each(|stmt| self.stmt(stmt));
        block.results.iter().for_each(|operand| self.operand(operand));
        let found: Vec<Elem> = block.results.iter().map(Operand::elem).collect();
        if found != yields {
            self.add("typed", format!("a block yields {found:?}, not {yields:?}"));
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Op { result, op, args, site } => {
                args.iter().for_each(|arg| self.operand(arg));
                let elems: Vec<Elem> = args.iter().map(Operand::elem).collect();
                match op.result(&elems, result.elem) {
                    Ok(elem) => self.same(elem, result.elem, op.name()),
                    Err(why) => self.add("typed", why),
                }
                site.iter().for_each(|site| self.site(*site));
                self.define(*result);
            }
            Stmt::Index { result, expr } => {
                self.quasi(expr);
                self.define(*result);
            }
            Stmt::Bind { var, expr } => {
                self.bound(expr);
                self.vars.insert(*var);
            }
            Stmt::Param { var, value, site } => {
                self.operand(value);
                self.site(*site);
                self.vars.insert(*var);
            }
            Stmt::Load { result, buffer, at, access } => {
                self.subscripts(at);
                if let Access::Site(site, _) = access {
                    self.site(*site);
                }
                if let Some(elem) = self.buffer(*buffer, Some(at.len())) {
                    self.same(result.elem, elem, "a load");
                }
                self.define(*result);
            }
            Stmt::Probe { result, buffer, at, .. } => {
                self.subscripts(at);
                self.buffer(*buffer, Some(at.len()));
                self.same(result.elem, Elem::Bool, "a probe");
                self.define(*result);
            }
            Stmt::Store { buffer, at, value } => {
                at.iter().for_each(|expr| self.quasi(expr));
                self.operand(value);
                if (buffer.0 as usize) < self.kernel.n_inputs {
                    self.add("memory", "an input is stored to");
                }
                if let Some(elem) = self.buffer(*buffer, Some(at.len())) {
                    self.same(value.elem(), elem, "a store");
                }
            }
            Stmt::If { results, condition, then, otherwise } => {
                self.condition(condition);
                let elems: Vec<Elem> = results.iter().map(|value| value.elem).collect();
                self.block(then, &elems);
                self.block(otherwise, &elems);
                results.iter().for_each(|value| self.define(*value));
            }
            Stmt::Loop(of) => self.looped(of),
            Stmt::Fold(fold) => self.fold(fold),
            other => self.rest(other),
        }
    }

    fn rest(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Alloc(buffer) => {
                self.alive.insert(*buffer);
                self.buffer(*buffer, None);
            }
            Stmt::Free(buffer) => {
                self.buffer(*buffer, None);
                self.alive.remove(buffer);
            }
            Stmt::CheckShape(buffer, site) => {
                self.buffer(*buffer, None);
                self.site(*site);
            }
            Stmt::Copy { to, from } => {
                self.buffer(*to, None);
                self.buffer(*from, None);
            }
            Stmt::Call { results, args, site, .. } => {
                args.iter().for_each(|arg| self.operand(arg));
                self.site(*site);
                results.iter().for_each(|value| self.define(*value));
            }
            Stmt::Assert { condition, site } => {
                self.condition(condition);
                self.site(*site);
            }
            Stmt::Trap(site) => self.site(*site),
            Stmt::Team(block) => self.block(block, &[]),
            _ => {}
        }
    }

    fn range(&mut self, range: &Range) {
        self.bound(&range.lo);
        self.bound(&range.hi);
        self.vars.insert(range.var);
    }

    fn looped(&mut self, of: &Loop) {
        let (values, vars) = (self.values.clone(), self.vars.clone());
        self.range(&of.range);
        if let Some(until) = &of.until {
            self.bound(&until.first);
            self.vars.insert(until.extent);
            until.buffers.iter().for_each(|buffer| {
                self.buffer(*buffer, None);
            });
        }
        self.open_block(&of.body, &[]);
        if let Some(until) = &of.until {
            self.block(&until.condition, &[Elem::Bool]);
        }
        (self.values, self.vars) = (values, vars);
        if let Some(until) = &of.until {
            self.vars.insert(until.extent);
            self.define(until.converged);
        }
    }

    fn fold(&mut self, fold: &Fold) {
        let elems: Vec<Elem> = fold.results.iter().map(|value| value.elem).collect();
        match &fold.start {
            FoldStart::From(operands) => {
                operands.iter().for_each(|operand| self.operand(operand));
                let found: Vec<Elem> = operands.iter().map(Operand::elem).collect();
                if found != elems {
                    self.add("typed", format!("a fold starts with {found:?}, not {elems:?}"));
                }
            }
            FoldStart::First(site) => self.site(*site),
        }
        if let Some(key) = &fold.key {
            self.operand(&key.bin);
        }
        let (values, vars) = (self.values.clone(), self.vars.clone());
        fold.ranges.iter().for_each(|range| self.range(range));
        fold.within.iter().for_each(|domain| self.domain(domain));
        if let Some(key) = &fold.key {
            self.block(&key.block, &[key.bin.elem()]);
        }
        if let Some(guard) = &fold.guard {
            self.open_block(guard, &[Elem::Bool]);
        }
        let terms: Vec<Elem> = match &fold.combine {
            Combine::Block { right, .. } => right.iter().map(|value| value.elem).collect(),
            _ => elems.clone(),
        };
        if matches!(fold.start, FoldStart::First(_)) && terms != elems {
            self.add("typed", "a fold starts with a term that is no state".to_owned());
        }
        self.open_block(&fold.body, &terms);
        self.values = values.clone();
        if let Combine::Block { left, right, block } = &fold.combine {
            left.iter().chain(right).for_each(|value| self.define(*value));
            self.block(block, &elems);
            self.values = values;
        }
        self.vars = vars;
        fold.results.iter().for_each(|value| self.define(*value));
    }
}
