//! Short steps of recurrences of numbers: several are written out, and what they read is fetched ahead.
//!
//! A step of a few operations waits for the one before it. Meanwhile a processor looks ahead, but only as far as its
//! room for instructions reaches: the fewer a step has, the farther that is. What steps read one after the other lies
//! one after the other in memory, and is asked for long before it is needed.

use einlang_index::{Quasi, Var};
use einlang_loops::ir::{Access, Loop, Role, Stmt, Subscript};
use einlang_loops::schedule::Layout;
use rustc_hash::FxHashSet as HashSet;

use super::{Emit, Result};

/// So many steps are written out.
pub(super) const STEPS: i64 = 8;

/// The most statements of a step that is short.
const MOST: usize = 16;

/// How far ahead of a step memory is fetched, in bytes.
const AHEAD: i64 = 2048;

impl<'c> Emit<'c, '_> {
    /// Whether the rounds of a loop are short steps of a recurrence of numbers.
    pub(super) fn has_short_steps(&self, of: &Loop) -> bool {
        let is_plain = |stmt: &Stmt| match stmt {
            Stmt::Load { access, .. } => *access == Access::Proved,
            Stmt::Op { site, .. } => site.is_none(),
            Stmt::Bind { .. } | Stmt::Index { .. } | Stmt::Store { .. } => true,
            _ => false,
        };
        let body = &of.body.stmts;
        let is_sequence = of.role == Role::Seq && !of.range.down && of.until.is_none();
        is_sequence
            && self.lanes.is_none()
            && self.wave.is_none()
            && !self.tables.checked
            && body.len() <= MOST
            && body.iter().all(is_plain)
            && body.iter().any(|stmt| matches!(stmt, Stmt::Store { .. }))
    }

    /// Fetches what later steps read, after the statements of one.
    pub(super) fn fetch_for_steps(&mut self, of: &Loop) -> Result<()> {
        let mut steps: HashSet<Var> = HashSet::from_iter([of.range.var]);
        for stmt in &of.body.stmts {
            match stmt {
                Stmt::Bind { var, expr } => {
                    let along = expr.as_quasi().is_some_and(|expr| is_along(expr, &steps));
                    steps.extend(along.then_some(*var));
                }
                Stmt::Load { buffer, at, .. } => {
                    let buffer = buffer.0 as usize;
                    let dims = &self.kernel.buffers[buffer].dims;
                    let is_whole = dims.iter().all(|dim| dim.layout == Layout::Full);
                    if is_whole && goes_along(at, &steps) {
                        self.fetch_further(buffer, at, AHEAD)?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// Whether an expression is the number of a step, or a number more or less.
fn is_along(expr: &Quasi, steps: &HashSet<Var>) -> bool {
    let is_step =
        |step: &Var| expr.sub(&Quasi::from(*step)).is_ok_and(|rest| rest.as_constant().is_some());
    steps.iter().any(is_step)
}

/// Whether subscripts move to the next element in each step.
fn goes_along(at: &[Subscript], steps: &HashSet<Var>) -> bool {
    let [others @ .., Subscript::Index(last)] = at else { return false };
    let is_fixed = |at: &Subscript| match at {
        Subscript::Index(expr) => !steps.iter().any(|step| expr.mentions(*step)),
        Subscript::Value(_) => false,
    };
    is_along(last, steps) && others.iter().all(is_fixed)
}
