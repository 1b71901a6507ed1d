//! Copies of statements for another value of an index: new values, new names for what they bind.

use einlang_index::{Domain, MinMax, Quasi, Var, VarKind, Vars};
use einlang_tir::region::Value;
use rustc_hash::FxHashMap as HashMap;

use super::rewrite::{blocks, own_operands};
use crate::ir::{Block, Combine, Condition, Operand, Range, Stmt, Subscript};

/// How statements are copied.
pub(crate) struct Copy<'k> {
    /// The number of the next value.
    pub(super) next: u32,
    /// The variables of the kernel.
    pub(super) vars: &'k mut Vars,
    values: HashMap<u32, Value>,
    exprs: HashMap<Var, Quasi>,
    /// Whether statements about memory, and names, are copied as they are.
    memory: bool,
    /// Whether names are replaced by what they are bound to.
    inlines: bool,
}

impl<'k> Copy<'k> {
    pub(crate) fn new(next: u32, vars: &'k mut Vars) -> Copy<'k> {
        let (values, exprs) = (HashMap::default(), HashMap::default());
        Copy { next, vars, values, exprs, memory: false, inlines: false }
    }

    /// A copy of a block in which a variable is an expression; nothing if that cannot be written.
    pub(super) fn block_at(&mut self, block: &Block, var: Var, is: &Quasi) -> Option<Block> {
        self.block_where(block, [(var, is.clone())])
    }

    /// A copy of a block in which some variables are expressions; nothing if that cannot be written.
    pub(super) fn block_where(
        &mut self,
        block: &Block,
        exprs: impl IntoIterator<Item = (Var, Quasi)>,
    ) -> Option<Block> {
        self.values.clear();
        self.exprs = exprs.into_iter().collect();
        let mut copy = block.clone();
        self.block(&mut copy)?;
        Some(copy)
    }

    /// One that copies whole programs: memory and names stay the same.
    pub(crate) fn with_memory(mut self) -> Copy<'k> {
        self.memory = true;
        self
    }

    /// One without names for affine expressions, so that copies tell how far their places lie from each other.
    pub(super) fn without_names(mut self) -> Copy<'k> {
        self.inlines = true;
        self
    }

    /// A copy of a block with values of its own.
    pub(crate) fn block_as_it_is(&mut self, block: &Block) -> Option<Block> {
        self.values.clear();
        self.exprs.clear();
        let mut copy = block.clone();
        self.block(&mut copy)?;
        Some(copy)
    }

    /// A new value.
    pub(super) fn fresh(&mut self, like: Value) -> Value {
        let number = self.next;
        self.next = self.next.saturating_add(1);
        Value { number, elem: like.elem }
    }

    fn define(&mut self, value: &mut Value) {
        let new = self.fresh(*value);
        self.values.insert(value.number, new);
        *value = new;
    }

    fn operand(&self, operand: &mut Operand) {
        if let Operand::Value(value) = operand
            && let Some(new) = self.values.get(&value.number)
        {
            *value = *new;
        }
    }

    fn expr(&self, expr: &mut Quasi) -> Option<()> {
        let mut found = Vec::new();
        expr.for_each_var(&mut |var| found.push(var));
        for var in found {
            if let Some(is) = self.exprs.get(&var) {
                *expr = expr.substitute(var, is).ok()?;
            }
        }
        Some(())
    }

    fn bound(&self, bound: &mut MinMax) -> Option<()> {
        match bound {
            MinMax::Value(expr) => self.expr(expr),
            MinMax::Min(list) | MinMax::Max(list) => {
                list.iter_mut().try_for_each(|bound| self.bound(bound))
            }
        }
    }

    fn range(&self, range: &mut Range) -> Option<()> {
        self.bound(&mut range.lo)?;
        self.bound(&mut range.hi)
    }

    fn domain(&self, domain: &mut Domain) -> Option<()> {
        let mut sets = Vec::with_capacity(domain.sets().len());
        for set in domain.sets() {
            let mut affine = true;
            let replaced = set.replace(&mut |var| {
                let is = self.exprs.get(&var)?;
                affine &= is.as_affine().is_some();
                is.as_affine().cloned()
            });
            sets.push(replaced.ok().filter(|_| affine)?);
        }
        *domain = Domain::of_sets(domain.dims(), sets);
        Some(())
    }

    fn block(&mut self, block: &mut Block) -> Option<()> {
        let mut stmts = Vec::with_capacity(block.stmts.len());
        for mut stmt in std::mem::take(&mut block.stmts) {
            if !self.inlined(&stmt)? {
                self.stmt(&mut stmt)?;
                stmts.push(stmt);
            }
        }
        block.stmts = stmts;
        block.results.iter_mut().for_each(|operand| self.operand(operand));
        Some(())
    }

    /// Whether a statement is a name that is replaced from here on.
    fn inlined(&mut self, stmt: &Stmt) -> Option<bool> {
        let Stmt::Bind { var, expr: MinMax::Value(expr) } = stmt else { return Some(false) };
        if !self.inlines || var.kind() != VarKind::Index {
            return Some(false);
        }
        let mut is = expr.clone();
        self.expr(&mut is)?;
        let affine = is.as_affine().is_some();
        if affine {
            self.exprs.insert(*var, is);
        }
        Some(affine)
    }

    fn stmt(&mut self, stmt: &mut Stmt) -> Option<()> {
        own_operands(stmt, &mut |operand| self.operand(operand));
        match stmt {
            _ if self.memory => {
                if let Stmt::Fold(fold) = stmt
                    && let Combine::Block { left, right, .. } = &mut fold.combine
                {
                    left.iter_mut().chain(right).for_each(|value| self.define(value));
                }
            }
            Stmt::Bind { var, expr } => {
                self.bound(expr)?;
                let name = self.vars.name(*var).unwrap_or("i").trim_end_matches('\'').to_owned();
                let new = self.vars.index(&name);
                self.exprs.insert(*var, Quasi::from(new));
                *var = new;
            }
            Stmt::Index { expr, .. } => self.expr(expr)?,
            Stmt::Load { at, .. } | Stmt::Probe { at, .. } => {
                for subscript in at {
                    if let Subscript::Index(expr) = subscript {
                        self.expr(expr)?;
                    }
                }
            }
            Stmt::Store { at, .. } => at.iter_mut().try_for_each(|expr| self.expr(expr))?,
            Stmt::If { condition: Condition::Within(domain), .. }
            | Stmt::Assert { condition: Condition::Within(domain), .. } => self.domain(domain)?,
            Stmt::Loop(of) if of.until.is_some() => return None,
            Stmt::Loop(of) => self.range(&mut of.range)?,
            Stmt::Fold(fold) => {
                if fold.resume.is_some() || fold.key.is_some() {
                    return None;
                }
                for range in &mut fold.ranges {
                    self.range(range)?;
                }
                fold.within.iter_mut().try_for_each(|domain| self.domain(domain))?;
                if let Combine::Block { left, right, .. } = &mut fold.combine {
                    left.iter_mut().chain(right).for_each(|value| self.define(value));
                }
            }
            Stmt::Param { .. } | Stmt::Alloc(_) | Stmt::Free(_) | Stmt::Copy { .. } => return None,
            _ => {}
        }
        let mut fine = Some(());
        blocks(stmt, &mut |block| fine = fine.and_then(|()| self.block(block)));
        fine?;
        match stmt {
            Stmt::Op { result, .. }
            | Stmt::Index { result, .. }
            | Stmt::Load { result, .. }
            | Stmt::Probe { result, .. } => self.define(result),
            Stmt::If { results, .. } | Stmt::Call { results, .. } => {
                results.iter_mut().for_each(|value| self.define(value));
            }
            Stmt::Fold(fold) => fold.results.iter_mut().for_each(|value| self.define(value)),
            Stmt::Loop(of) => {
                of.until.iter_mut().for_each(|until| self.define(&mut until.converged));
            }
            _ => {}
        }
        Some(())
    }
}
