//! Visiting statements without changing them.

use einlang_index::{Domain, MinMax, Quasi, Var};
use einlang_tir::region::Value;
use rustc_hash::FxHashSet as HashSet;

use super::{Block, Combine, Condition, Fold, FoldStart, Operand, Stmt, Subscript};

/// The blocks of a statement.
pub fn blocks(stmt: &Stmt) -> Vec<&Block> {
    match stmt {
        Stmt::If { then, otherwise, .. } => vec![then, otherwise],
        Stmt::Loop(of) => {
            let condition = of.until.as_ref().map(|until| &until.condition);
            [&of.body].into_iter().chain(condition).collect()
        }
        Stmt::Fold(fold) => {
            let key = fold.key.as_ref().map(|key| &key.block);
            let mut found: Vec<&Block> =
                key.into_iter().chain(&fold.guard).chain([&fold.body]).collect();
            if let Combine::Block { block, .. } = &fold.combine {
                found.push(block);
            }
            found
        }
        Stmt::Team(block) => vec![block],
        _ => Vec::new(),
    }
}

/// The values that a statement defines for those after it.
pub fn results(stmt: &Stmt) -> &[Value] {
    match stmt {
        Stmt::Op { result, .. }
        | Stmt::Index { result, .. }
        | Stmt::Load { result, .. }
        | Stmt::Probe { result, .. } => std::slice::from_ref(result),
        Stmt::If { results, .. } | Stmt::Call { results, .. } => results,
        Stmt::Fold(fold) => &fold.results,
        Stmt::Loop(of) => of.until.as_ref().map_or(&[], |u| std::slice::from_ref(&u.converged)),
        _ => &[],
    }
}

/// Calls `visit` for every statement of a block and of the blocks inside, in order.
pub fn each_stmt(block: &Block, visit: &mut dyn FnMut(&Stmt)) {
    for stmt in &block.stmts {
        visit(stmt);
        blocks(stmt).into_iter().for_each(|block| each_stmt(block, visit));
    }
}

/// What a block uses, wherever that is defined.
#[derive(Clone, Default, Debug)]
pub struct Uses {
    /// The numbers of values.
    pub values: HashSet<u32>,
    /// Indices and symbols.
    pub vars: HashSet<Var>,
}

impl Uses {
    /// What a block uses.
    pub fn of(block: &Block) -> Uses {
        let mut uses = Uses::default();
        uses.block(block);
        uses
    }

    /// Adds what a block uses.
    pub fn block(&mut self, block: &Block) {
        block.results.iter().for_each(|operand| self.operand(operand));
        block.stmts.iter().for_each(|stmt| self.stmt(stmt));
    }

    /// Adds what a statement uses.
    pub fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Op { args, .. } | Stmt::Call { args, .. } => {
                args.iter().for_each(|operand| self.operand(operand));
            }
            Stmt::Index { expr, .. } => self.quasi(expr),
            Stmt::Bind { expr, .. } => self.bound(expr),
            Stmt::Param { value, .. } => self.operand(value),
            Stmt::Load { at, .. } | Stmt::Probe { at, .. } => {
                for subscript in at {
                    match subscript {
                        Subscript::Index(expr) => self.quasi(expr),
                        Subscript::Value(operand) => self.operand(operand),
                    }
                }
            }
            Stmt::Store { at, value, .. } => {
                at.iter().for_each(|expr| self.quasi(expr));
                self.operand(value);
            }
            Stmt::If { condition, .. } | Stmt::Assert { condition, .. } => match condition {
                Condition::Value(operand) => self.operand(operand),
                Condition::Within(domain) => self.domain(domain),
            },
            Stmt::Loop(of) => {
                let first = of.until.as_ref().map(|until| &until.first);
                let bounds = [&of.range.lo, &of.range.hi].into_iter().chain(first);
                bounds.for_each(|bound| self.bound(bound));
            }
            Stmt::Fold(fold) => {
                for range in &fold.ranges {
                    self.bound(&range.lo);
                    self.bound(&range.hi);
                }
                fold.within.iter().for_each(|domain| self.domain(domain));
                self.start(fold);
                fold.key.iter().for_each(|key| self.operand(&key.bin));
            }
            Stmt::CheckShape(..)
            | Stmt::Alloc(_)
            | Stmt::Free(_)
            | Stmt::Copy { .. }
            | Stmt::Trap(_)
            | Stmt::Team(_)
            | Stmt::Barrier => {}
        }
        blocks(stmt).into_iter().for_each(|block| self.block(block));
    }

    /// Adds what a fold starts with.
    pub fn start(&mut self, fold: &Fold) {
        if let FoldStart::From(start) = &fold.start {
            start.iter().for_each(|operand| self.operand(operand));
        }
    }

    fn operand(&mut self, operand: &Operand) {
        if let Operand::Value(value) = operand {
            self.values.insert(value.number);
        }
    }

    fn quasi(&mut self, expr: &Quasi) {
        expr.for_each_var(&mut |var| {
            self.vars.insert(var);
        });
    }

    fn bound(&mut self, bound: &MinMax) {
        bound.for_each_var(&mut |var| {
            self.vars.insert(var);
        });
    }

    fn domain(&mut self, domain: &Domain) {
        self.vars.extend(domain.sets().iter().flat_map(|set| set.vars()));
    }
}
