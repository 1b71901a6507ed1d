//! `merge_loops`: loops one after the other that go through the same points and read the same things
//! become one.
//!
//! What both compute is computed once then, and what both read comes from memory once. A loop may read
//! what the one before stores if it does so in the round that stored it. Only loops of lanes, and free
//! loops around them, are merged: rounds of them may run in any order. Tiles in registers stay apart,
//! for two of them have no room.
//!
//! Invariant: no element is touched by other rounds than before, and within a round the statements of
//! the first loop come first.

use einlang_index::{MinMax, Quasi, Var, Vars};

use super::copy::Copy;
use super::rewrite::{Changes, blocks, next_value_of};
use super::touch::{At, Names, Places, Touched, resolved};
use crate::ir::{Block, Buffer, BufferId, Kernel, Loop, Role, Stmt, Uses};

/// The most operations of a merged loop.
const MOST_OPS: usize = 300;

/// The most folds of a merged loop: their states stay in registers.
const MOST_FOLDS: usize = 4;

/// Merges the loops of a kernel; whether there were any to merge.
pub(super) fn merge_loops(kernel: &mut Kernel) -> bool {
    let next = next_value_of(kernel);
    let (vars, buffers) = (&mut kernel.vars, &kernel.buffers);
    let mut merge = Merge { next, vars, buffers, places: Places::default(), any: false };
    merge.block(&mut kernel.body);
    merge.any
}

/// How two loops run as one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fit {
    AsTheyAre,
    /// Once the same values have the same names, since the bounds of their folds must read alike.
    UnderNames,
}

struct Merge<'k> {
    next: u32,
    vars: &'k mut Vars,
    buffers: &'k [Buffer],
    /// What variables stand for here.
    places: Places,
    any: bool,
}

impl Merge<'_> {
    fn block(&mut self, block: &mut Block) {
        let outer = self.places.clone();
        self.merge_in(block);
        self.places.clone_from(&outer);
        for stmt in &mut block.stmts {
            self.passed(stmt);
            // What is free is merged as a whole or not at all.
            match stmt {
                Stmt::Loop(of) if of.role != Role::Seq && has_lanes(of) => {}
                Stmt::Loop(of) => self.inside(of.range.var, |merge| merge.block(&mut of.body)),
                stmt => blocks(stmt, &mut |block| self.block(block)),
            }
        }
        self.places = outer;
    }

    /// Does something in the rounds of a loop.
    fn inside<T>(&mut self, var: Var, done: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.places.clone();
        self.places.remove(&var);
        let result = done(self);
        self.places = outer;
        result
    }

    /// Takes note of what a statement binds. What a variable stands for mentions only loops around and
    /// symbols, so it stays true as long as the variable is not bound again.
    fn passed(&mut self, stmt: &mut Stmt) {
        match stmt {
            Stmt::Bind { var, expr: MinMax::Value(expr) } => {
                let is = resolved(expr, &self.places);
                self.places.insert(*var, is);
            }
            stmt => {
                let changed = Changes::of(stmt).vars.into_iter();
                self.places.extend(changed.map(|var| (var, None)));
            }
        }
    }

    fn merge_in(&mut self, block: &mut Block) {
        let mut done: Vec<Stmt> = Vec::with_capacity(block.stmts.len());
        for mut stmt in std::mem::take(&mut block.stmts) {
            self.passed(&mut stmt);
            let Stmt::Loop(second) = &stmt else {
                done.push(stmt);
                continue;
            };
            let between = done.iter().rposition(|stmt| !is_passed(stmt));
            let merged = between.and_then(|at| match &done[at] {
                Stmt::Loop(first) if is_passable(first, &done[at + 1..]) => {
                    self.merged(first, second).map(|merged| (at, merged))
                }
                _ => None,
            });
            match merged {
                Some((at, merged)) => {
                    self.any = true;
                    let (freed, others): (Vec<Stmt>, Vec<Stmt>) = done
                        .split_off(at)
                        .into_iter()
                        .skip(1)
                        .partition(|stmt| matches!(stmt, Stmt::Free(_)));
                    done.extend(others);
                    done.push(Stmt::Loop(Box::new(merged)));
                    done.extend(freed);
                }
                None => done.push(stmt),
            }
        }
        block.stmts = done;
    }

    /// Two loops as one, if they can be and should be.
    fn merged(&mut self, first: &Loop, second: &Loop) -> Option<Loop> {
        let same = first.role == second.role
            && first.range.lo == second.range.lo
            && first.range.hi == second.range.hi;
        if !same || !has_lanes(first) || !has_lanes(second) {
            return None;
        }
        let fit = self.fit(first, second)?;
        let names = if fit == Fit::UnderNames { self.names() } else { Vec::new() };
        let mut copy = Copy::new(self.next, self.vars);
        let mut of = first.clone();
        if !names.is_empty() {
            of.body = copy.block_where(&first.body, names.clone())?;
        }
        let own = (second.range.var, Quasi::from(first.range.var));
        let more = copy.block_where(&second.body, names.into_iter().chain([own]))?;
        let next = copy.next;
        of.body.stmts.extend(more.stmts);
        let before = std::mem::replace(&mut self.next, next);
        if !matches!(first.role, Role::Lane(_)) {
            let any = self.any;
            self.inside(first.range.var, |merge| merge.merge_in(&mut of.body));
            self.any = any;
            let n_loops = of.body.stmts.iter().filter(|s| matches!(s, Stmt::Loop(_))).count();
            if n_loops != 1 {
                self.next = before;
                return None;
            }
        }
        Some(of)
    }

    /// Variables that are others, and which: what is bound for each statement of a nest.
    fn names(&self) -> Vec<(Var, Quasi)> {
        let is_name = |is: &Option<Quasi>| is.as_ref().is_some_and(|is| is.as_var().is_some());
        let names = self.places.iter().filter(|(_, is)| is_name(is));
        names.filter_map(|(var, is)| Some((*var, is.clone()?))).collect()
    }

    /// Whether two places of a buffer have no element in common, whatever the rounds.
    fn are_apart(
        &self,
        names: &Names,
        buffer: BufferId,
        a: &Option<Vec<At>>,
        b: &Option<Vec<At>>,
    ) -> bool {
        let (Some(a), Some(b)) = (a, b) else { return false };
        let of = self.buffers.get(buffer.0 as usize);
        of.is_some_and(|of| names.are_apart(a, b, &of.dims))
    }

    /// Whether two loops may and should run as one.
    fn fit(&self, first: &Loop, second: &Loop) -> Option<Fit> {
        let mut names = Names::default();
        let (a, b) = (
            Touched::of(first, &mut names, &self.places),
            Touched::of(second, &mut names, &self.places),
        );
        let n_folds = a.folds.len() + b.folds.len();
        let alike = a.folds.is_empty() == b.folds.is_empty()
            && a.folds.iter().chain(&b.folds).all(|fold| Some(fold) == a.folds.first());
        if !a.plain || !b.plain || !alike || n_folds > MOST_FOLDS || a.n_ops + b.n_ops > MOST_OPS {
            return None;
        }
        let mut shared = 0_usize;
        for (buffer, place) in &a.stores {
            if b.stores.iter().any(|(other, _)| other == buffer) {
                return None;
            }
            for (_, read) in b.loads.iter().filter(|(other, _)| other == buffer) {
                if self.are_apart(&names, *buffer, place, read) {
                    continue;
                }
                let own = place.as_ref().filter(|place| !a.is_of_terms(place));
                if own.is_none() || own != read.as_ref() {
                    return None;
                }
                shared += 1;
            }
        }
        for (buffer, place) in &b.stores {
            let mut reads = a.loads.iter().filter(|(other, _)| other == buffer);
            if reads.any(|(_, read)| !self.are_apart(&names, *buffer, place, read)) {
                return None;
            }
        }
        let known = |(buffer, place): &&(_, Option<_>)| {
            place.is_some() && a.loads.iter().any(|(other, at)| other == buffer && at == place)
        };
        shared += b.loads.iter().filter(known).count();
        let written = || a.folds_written.iter().chain(&b.folds_written);
        let alike = written().all(|fold| Some(fold) == a.folds_written.first());
        let fit = if alike { Fit::AsTheyAre } else { Fit::UnderNames };
        (shared > 0 && 2 * shared >= a.loads.len().min(b.loads.len())).then_some(fit)
    }
}

/// Whether a loop may come after a statement that stands behind it.
fn is_passed(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Alloc(_) | Stmt::Free(_) | Stmt::Bind { .. })
}

/// Whether a loop may come after these statements: none of them gives a meaning to what it uses.
fn is_passable(of: &Loop, stmts: &[Stmt]) -> bool {
    if stmts.is_empty() {
        return true;
    }
    let mut uses = Uses::of(&of.body);
    [&of.range.lo, &of.range.hi].into_iter().for_each(|bound| {
        bound.for_each_var(&mut |var| {
            uses.vars.insert(var);
        });
    });
    let touched = Touched::of(of, &mut Names::default(), &Places::default());
    stmts.iter().all(|stmt| match stmt {
        Stmt::Bind { var, .. } => !uses.vars.contains(var) && *var != of.range.var,
        Stmt::Alloc(buffer) => {
            !touched.loads.iter().chain(&touched.stores).any(|(other, _)| other == buffer)
        }
        // Memory is taken away once both loops are done.
        stmt => matches!(stmt, Stmt::Free(_)),
    })
}

/// Whether a loop runs in lanes, or is free and has one such loop in it.
fn has_lanes(of: &Loop) -> bool {
    match of.role {
        Role::Lane(_) => true,
        Role::Par => {
            let mut inside = of.body.stmts.iter().filter(|s| !matches!(s, Stmt::Bind { .. }));
            matches!((inside.next(), inside.next()), (Some(Stmt::Loop(of)), None) if has_lanes(of))
        }
        _ => false,
    }
}
