//! Which loops can be emitted as lanes.
//!
//! Their statements are walked once with the variables and values that differ from lane to lane.
//! Bounds of loops inside must be the same in all lanes, what traps must not be under a condition of
//! some lanes, and whatever asks the surroundings stays scalar.

use einlang_index::{Domain, MinMax, Quasi};
use einlang_loops::ir::{
    Access, Block, Combine, Condition, Fold, Kernel, Loop, Operand, Role, Stmt, Subscript,
};
use einlang_tir::types::Elem;
use rustc_hash::FxHashSet as HashSet;

use super::steps::Steps;
use crate::emit::cast::is_plain;

/// The number of lanes of a loop that can be emitted with them.
pub(in crate::emit) fn has_lanes(kernel: &Kernel, of: &Loop) -> Option<u32> {
    let Role::Lane(width) = of.role else { return None };
    if of.range.down || of.until.is_some() {
        return None;
    }
    let mut check = Check {
        kernel,
        steps: Steps::new(width, of.range.var, &of.range.lo),
        values: HashSet::default(),
        divided: false,
    };
    check.block(&of.body).then_some(width)
}

/// Whether the terms of a fold with one index can be computed as so many lanes.
pub(in crate::emit) fn terms_are_lanes(kernel: &Kernel, fold: &Fold, width: u32) -> bool {
    let ([range], [term]) = (&fold.ranges[..], &fold.body.results[..]) else { return false };
    let mut check = Check {
        kernel,
        steps: Steps::new(width, range.var, &range.lo),
        values: HashSet::default(),
        divided: false,
    };
    !range.down && is_plain(term.elem()) && check.block(&fold.body)
}

struct Check<'k> {
    kernel: &'k Kernel,
    /// What differs from lane to lane.
    steps: Steps,
    values: HashSet<u32>,
    /// Whether only some lanes may be here.
    divided: bool,
}

impl Check<'_> {
    fn block(&mut self, block: &Block) -> bool {
        block.stmts.iter().all(|stmt| self.stmt(stmt))
    }

    fn differs(&self, expr: &Quasi) -> bool {
        self.steps.changes(expr)
    }

    fn bound_differs(&self, bound: &MinMax) -> bool {
        self.steps.changes_bound(bound)
    }

    /// Whether the expression is a number and a step.
    fn is_stepped(&self, expr: &Quasi) -> bool {
        self.steps.of(expr).is_some()
    }

    fn operand(&self, operand: &Operand) -> bool {
        matches!(operand, Operand::Value(value) if self.values.contains(&value.number))
    }

    fn within(&self, domain: &Domain) -> bool {
        !domain.sets().iter().flat_map(|set| set.vars()).any(|var| self.steps.changes_var(var))
    }

    fn subscripts(&self, at: &[Subscript]) -> bool {
        at.iter().all(|subscript| match subscript {
            Subscript::Index(expr) => self.is_stepped(expr),
            Subscript::Value(_) => true,
        })
    }

    fn at_differs(&self, at: &[Subscript]) -> bool {
        at.iter().any(|subscript| match subscript {
            Subscript::Index(expr) => self.differs(expr),
            Subscript::Value(operand) => self.operand(operand),
        })
    }

    fn plain(&self, elem: Elem) -> bool {
        is_plain(elem)
    }

    fn stmt(&mut self, stmt: &Stmt) -> bool {
        match stmt {
            Stmt::Op { result, args, site, .. } => {
                let differs = args.iter().any(|arg| self.operand(arg));
                if differs {
                    self.values.insert(result.number);
                }
                let plain =
                    args.iter().all(|arg| self.plain(arg.elem())) && self.plain(result.elem);
                !differs || (plain && site.is_none())
            }
            Stmt::Index { result, expr } => {
                if self.differs(expr) {
                    self.values.insert(result.number);
                }
                self.is_stepped(expr)
            }
            Stmt::Bind { var, expr } => self.steps.bind(*var, expr),
            Stmt::Load { result, buffer, at, access } => {
                if self.at_differs(at) {
                    self.values.insert(result.number);
                }
                let Some(buffer) = self.kernel.buffer(*buffer) else { return false };
                let tested = match access {
                    Access::Proved | Access::Ahead(_) => true,
                    Access::Site(_, marks) => !(self.divided || *marks && buffer.marks),
                };
                tested && self.subscripts(at) && self.plain(buffer.elem)
            }
            Stmt::Probe { result, buffer, at, marked } => {
                if self.at_differs(at) {
                    self.values.insert(result.number);
                }
                let marks = self.kernel.buffer(*buffer).is_some_and(|buffer| buffer.marks);
                !(*marked && marks) && self.subscripts(at)
            }
            Stmt::Store { buffer, at, .. } => {
                let buffer = self.kernel.buffer(*buffer);
                let differs = at.iter().any(|expr| self.differs(expr));
                let stepped = at.iter().all(|expr| self.is_stepped(expr));
                differs && stepped && buffer.is_some_and(|b| !b.marks && self.plain(b.elem))
            }
            Stmt::If { results, condition, then, otherwise } => {
                let divides = match condition {
                    Condition::Value(operand) => self.operand(operand),
                    Condition::Within(domain) if self.within(domain) => false,
                    Condition::Within(_) => return false,
                };
                let outer = self.divided;
                self.divided |= divides;
                let fine = self.block(then) && self.block(otherwise);
                self.divided = outer;
                self.values.extend(results.iter().map(|value| value.number));
                fine && results.iter().all(|value| self.plain(value.elem))
            }
            Stmt::Loop(of) => self.looped(of),
            Stmt::Fold(fold) => self.fold(fold),
            _ => false,
        }
    }

    fn looped(&mut self, of: &Loop) -> bool {
        let range = &of.range;
        self.steps.forget(range.var);
        let same = !self.bound_differs(&range.lo) && !self.bound_differs(&range.hi);
        !self.divided && of.until.is_none() && same && self.block(&of.body)
    }

    fn fold(&mut self, fold: &Fold) -> bool {
        let plain = fold.results.iter().all(|value| self.plain(value.elem));
        let simple = fold.key.is_none() && fold.resume.is_none() && fold.guard.is_none();
        if self.divided || !plain || !simple || !fold.within.iter().all(|d| self.within(d)) {
            return false;
        }
        for range in &fold.ranges {
            self.steps.forget(range.var);
            if self.bound_differs(&range.lo) || self.bound_differs(&range.hi) {
                return false;
            }
        }
        let fine = self.block(&fold.body);
        let combines = match &fold.combine {
            Combine::Block { left, right, block } => {
                self.values.extend(left.iter().chain(right).map(|value| value.number));
                self.block(block)
            }
            _ => true,
        };
        self.values.extend(fold.results.iter().map(|value| value.number));
        fine && combines
    }
}
