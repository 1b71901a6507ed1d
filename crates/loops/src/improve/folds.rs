//! `merge_folds`: folds over the same points, one after the other in lanes, become one with several
//! states.
//!
//! What both compute for a term is computed once then. Statements between them that need the first one,
//! and stores, come after both. Folds whose states would not all stay in registers, with those of the rounds
//! that run at once, stay apart.
//!
//! Invariant: every state is combined with the same terms in the same order as before.

use einlang_index::{Quasi, Vars};
use rustc_hash::FxHashSet as HashSet;

use super::copy::Copy;
use super::jam::{joined, with_block};
use super::rewrite::{blocks, next_value_of};
use crate::ir::{Block, Combine, Fold, Kernel, Role, Stmt, Uses, each_stmt};

/// Merges the folds of a kernel that run in lanes.
pub(super) fn merge_folds(kernel: &mut Kernel) {
    let next = next_value_of(kernel);
    let mut merge = Merge { next, vars: &mut kernel.vars };
    merge.block(&mut kernel.body, Around { lanes: None, rounds: 1 });
}

/// The bytes of registers that states of a fold may take; the rest is for terms.
const ROOM: u32 = 28 * 64;

/// The loops around a fold.
#[derive(Clone, Copy)]
struct Around {
    lanes: Option<u32>,
    /// How many rounds of loops run at once.
    rounds: u32,
}

impl Around {
    fn inside(mut self, stmt: &Stmt) -> Around {
        let Stmt::Loop(of) = stmt else { return self };
        match of.role {
            Role::Lane(width) => self.lanes = Some(width),
            Role::Unroll(rounds) => self.rounds = self.rounds.saturating_mul(rounds),
            _ => {}
        }
        self
    }

    /// Whether the states of two folds fit the registers. What is no tile has other states than those, or few.
    fn has_room(self, first: &Fold, second: &Fold) -> bool {
        let states = first.results.iter().chain(&second.results);
        let bytes: u32 = states.map(|state| state.elem.bits().div_ceil(8)).sum();
        let points = self.lanes.unwrap_or(1).saturating_mul(self.rounds);
        self.rounds == 1 || bytes.saturating_mul(points) <= ROOM
    }
}

struct Merge<'k> {
    next: u32,
    vars: &'k mut Vars,
}

impl Merge<'_> {
    fn block(&mut self, block: &mut Block, around: Around) {
        if around.lanes.is_some() {
            self.merge_in(block, around);
        }
        for stmt in &mut block.stmts {
            let around = around.inside(stmt);
            blocks(stmt, &mut |block| self.block(block, around));
        }
    }

    fn merge_in(&mut self, block: &mut Block, around: Around) {
        let mut done: Vec<Stmt> = Vec::with_capacity(block.stmts.len());
        for stmt in std::mem::take(&mut block.stmts) {
            let Stmt::Fold(second) = &stmt else {
                done.push(stmt);
                continue;
            };
            let at = done.iter().rposition(|stmt| matches!(stmt, Stmt::Fold(_)));
            let merged = at.and_then(|at| {
                let late = late(&done[at..], second)?;
                let Stmt::Fold(first) = &done[at] else { return None };
                if !around.has_room(first, second) {
                    return None;
                }
                Some((at, late, self.merged(first, second)?))
            });
            let Some((at, late, merged)) = merged else {
                done.push(stmt);
                continue;
            };
            let rest = done.split_off(at);
            let (mut after, mut before) = (Vec::new(), Vec::new());
            for (number, stmt) in rest.into_iter().enumerate().skip(1) {
                if late.contains(&number) { after.push(stmt) } else { before.push(stmt) }
            }
            done.append(&mut before);
            done.push(Stmt::Fold(Box::new(merged)));
            done.append(&mut after);
        }
        block.stmts = done;
    }

    /// Two folds as one; the second in terms of the indices of the first.
    fn merged(&mut self, first: &Fold, second: &Fold) -> Option<Fold> {
        let ([a], [b]) = (&first.ranges[..], &second.ranges[..]) else { return None };
        let simple = |fold: &Fold| {
            let plain = fold.key.is_none() && fold.resume.is_none() && fold.guard.is_none();
            plain && fold.within.is_none() && !matches!(fold.combine, Combine::Pairs(_))
        };
        let same = a.lo == b.lo && a.hi == b.hi && a.down == b.down;
        if !same || !simple(first) || !simple(second) {
            return None;
        }
        let first = with_block(first.clone(), &mut self.next, self.vars)?;
        let mut second = with_block(second.clone(), &mut self.next, self.vars)?;
        let (var, is) = (b.var, Quasi::from(a.var));
        second.ranges = first.ranges.clone();
        let mut copy = Copy::new(self.next, self.vars);
        second.body = copy.block_at(&second.body, var, &is)?;
        if let Combine::Block { block, .. } = &mut second.combine {
            *block = copy.block_at(block, var, &is)?;
        }
        self.next = copy.next;
        let more = std::mem::take(&mut second.body.stmts);
        let mut all = joined(first, second)?;
        all.body.stmts.extend(more);
        Some(all)
    }
}

/// Which of the statements after a fold must come after another one that stands behind them; nothing if
/// that needs some of them.
fn late(stmts: &[Stmt], second: &Fold) -> Option<HashSet<usize>> {
    let Some(Stmt::Fold(first)) = stmts.first() else { return None };
    let mut values: HashSet<u32> = first.results.iter().map(|value| value.number).collect();
    let (mut late, mut vars, mut stored) =
        (HashSet::default(), HashSet::default(), HashSet::default());
    for (number, stmt) in stmts.iter().enumerate().skip(1) {
        let mut uses = Uses::default();
        uses.stmt(stmt);
        let waits = !uses.values.is_disjoint(&values);
        match stmt {
            Stmt::Store { buffer, .. } => {
                stored.insert(*buffer);
            }
            Stmt::Op { result, .. } if waits => {
                values.insert(result.number);
            }
            Stmt::If { results, then, otherwise, .. } => {
                let mut only_computes = true;
                let mut look = |stmt: &Stmt| {
                    only_computes &= match stmt {
                        Stmt::Op { .. } | Stmt::Index { .. } => true,
                        Stmt::Load { buffer, .. } => !stored.contains(buffer),
                        _ => false,
                    };
                };
                [then, otherwise].into_iter().for_each(|block| each_stmt(block, &mut look));
                match (only_computes, waits) {
                    (false, _) => return None,
                    (true, false) => continue,
                    (true, true) => values.extend(results.iter().map(|value| value.number)),
                }
            }
            Stmt::Bind { var, .. } if vars.contains(var) => return None,
            Stmt::Load { buffer, .. } if stored.contains(buffer) => return None,
            Stmt::Op { .. } | Stmt::Index { .. } | Stmt::Bind { .. } | Stmt::Load { .. }
                if !waits =>
            {
                continue;
            }
            _ => return None,
        }
        late.insert(number);
        vars.extend(uses.vars);
    }
    let mut uses = Uses::default();
    uses.stmt(&Stmt::Fold(Box::new(second.clone())));
    let mut fine = uses.values.is_disjoint(&values);
    let mut look = |block: &Block| {
        each_stmt(block, &mut |stmt| {
            fine &= !matches!(stmt, Stmt::Load { buffer, .. } if stored.contains(buffer));
        });
    };
    look(&second.body);
    if let Combine::Block { block, .. } = &second.combine {
        look(block);
    }
    fine.then_some(late)
}
