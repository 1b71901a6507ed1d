//! Panels in a loop over blocks of terms: where they are copied, and what of them one block needs.
//!
//! `lower` copies all planes of an operand in such a loop, as if it had one round. When it gets a round for each block
//! of terms (`terms.rs`), a round copies its own planes only, to where those of the round before were.
//!
//! Invariant: what a fold reads of panels is what the same round copied, at the same term.

use einlang_index::{MinMax, Quasi, Var};
use rustc_hash::FxHashMap as HashMap;

use crate::ir::{Block, BufferId, Combine, Fold, Kernel, Stmt, Subscript, each_stmt};

use super::rewrite::blocks;

/// The panels that are copied in a loop, and the dimension of each that the terms go along.
#[derive(Clone, Default)]
pub(super) struct Panels {
    along: HashMap<BufferId, Option<usize>>,
}

/// One round: the first plane of its block, and how many of the terms it has.
pub(super) struct Part<'p> {
    pub(super) start: &'p Quasi,
    pub(super) length: &'p MinMax,
}

impl Panels {
    /// Takes note of a statement that does nothing but copy one element after the other into panels.
    pub(super) fn copied_by(&mut self, stmt: &Stmt) -> bool {
        let copied = copy_of(stmt);
        self.along.extend(copied.map(|(buffer, _)| (buffer, None)));
        copied.is_some()
    }

    /// Whether only the statements of a block touch them, given how often all do.
    pub(super) fn are_of(&self, block: &Block, touched: &HashMap<BufferId, usize>) -> bool {
        let here = touches(block);
        self.along.keys().all(|buffer| here.get(buffer) == touched.get(buffer))
    }

    /// Takes note of the dimension of each of them along which a fold goes; nothing if it is not the same for all
    /// that is read.
    pub(super) fn read_by(&mut self, fold: &Fold) -> Option<()> {
        let term = term_of(fold)?;
        let mut fine = true;
        each_read(fold, &mut |buffer, at| {
            let Some(along) = self.along.get_mut(&buffer) else { return };
            let found = dimension(at, term);
            fine &= found.is_some() && along.is_none_or(|along| Some(along) == found);
            *along = found;
        });
        fine.then_some(())
    }

    /// Whether a statement does nothing but copy into panels.
    pub(super) fn is_copy(&self, stmt: &Stmt) -> bool {
        copy_of(stmt).is_some_and(|(buffer, _)| self.along.contains_key(&buffer))
    }

    /// Lets a statement that copies do so for one block.
    pub(super) fn copy_part(&self, stmt: &mut Stmt, part: &Part<'_>) -> Option<()> {
        let (buffer, at) = copy_of(stmt)?;
        let Some(along) = *self.along.get(&buffer)? else { return Some(()) };
        let var = at.get(along)?.as_var()?;
        let others = at.iter().enumerate().filter(|(axis, _)| *axis != along);
        let is_lone = others.into_iter().all(|(_, at)| !at.mentions(var));
        is_lone.then_some(())?;
        copy_along(stmt, var, part)
    }

    /// Lets a fold read what was copied for one block.
    pub(super) fn read_part(&self, fold: &mut Fold, part: &Part<'_>) -> Option<()> {
        let mut fine = Some(());
        let mut moved = |stmt: &mut Stmt| {
            if let Stmt::Load { buffer, at, .. } = stmt
                && let Some(along) = self.along.get(buffer)
            {
                let at = along.and_then(|along| at.get_mut(along));
                fine = fine.and_then(|()| match at? {
                    Subscript::Index(at) => {
                        *at = at.sub(part.start).ok()?;
                        Some(())
                    }
                    Subscript::Value(_) => None,
                });
            }
        };
        each_in(&mut fold.body, &mut moved);
        if let Combine::Block { block, .. } = &mut fold.combine {
            each_in(block, &mut moved);
        }
        fine
    }

    /// Gives panels the memory of one block of so many planes.
    pub(super) fn shrink(&self, kernel: &mut Kernel, n_planes: i64) {
        for (buffer, along) in &self.along {
            let buffer = kernel.buffers.get_mut(buffer.0 as usize);
            if let Some(dim) = along.and_then(|along| buffer?.dims.get_mut(along)) {
                dim.extent = Quasi::from(n_planes);
            }
        }
    }
}

/// The index that counts the terms of a fold, or of the fold in it.
fn term_of(fold: &Fold) -> Option<Var> {
    let of = |fold: &Fold| match &fold.ranges[..] {
        [range] => Some(range.var),
        _ => None,
    };
    match &fold.body.stmts[..] {
        [Stmt::Fold(inner)] => of(inner),
        _ => of(fold),
    }
}

fn each_read(fold: &Fold, visit: &mut dyn FnMut(BufferId, &[Subscript])) {
    let mut look = |stmt: &Stmt| {
        if let Stmt::Load { buffer, at, .. } = stmt {
            visit(*buffer, at);
        }
    };
    each_stmt(&fold.body, &mut look);
    if let Combine::Block { block, .. } = &fold.combine {
        each_stmt(block, &mut look);
    }
}

/// The one dimension in which subscripts mention an index, which is all that they are there.
fn dimension(at: &[Subscript], term: Var) -> Option<usize> {
    let mentions = |at: &Subscript| match at {
        Subscript::Index(expr) => expr.mentions(term),
        Subscript::Value(_) => false,
    };
    let mut found = at.iter().enumerate().filter(|(_, at)| mentions(at));
    let ((axis, Subscript::Index(expr)), None) = (found.next()?, found.next()) else { return None };
    (expr.as_var() == Some(term)).then_some(axis)
}

/// How often statements of a block load from buffers, store to them or copy them.
pub(super) fn touches(block: &Block) -> HashMap<BufferId, usize> {
    let mut found: HashMap<BufferId, usize> = HashMap::default();
    each_stmt(block, &mut |stmt| {
        let touched = match stmt {
            Stmt::Load { buffer, .. } | Stmt::Store { buffer, .. } | Stmt::Probe { buffer, .. } => {
                [Some(*buffer), None]
            }
            Stmt::Copy { to, from } => [Some(*to), Some(*from)],
            _ => [None, None],
        };
        for buffer in touched.into_iter().flatten() {
            *found.entry(buffer).or_default() += 1;
        }
    });
    found
}

/// Where loops that do nothing else store what they load.
fn copy_of(stmt: &Stmt) -> Option<(BufferId, &[Quasi])> {
    let Stmt::Loop(of) = stmt else { return None };
    match &of.body.stmts[..] {
        [inner @ Stmt::Loop(_)] if of.until.is_none() => copy_of(inner),
        [Stmt::Load { result, .. }, Stmt::Store { buffer, at, value }]
            if of.until.is_none() && *value == (*result).into() =>
        {
            Some((*buffer, at))
        }
        _ => None,
    }
}

/// The planes of one block, in the loop over all of them.
fn copy_along(stmt: &mut Stmt, var: Var, part: &Part<'_>) -> Option<()> {
    let mut any = false;
    let mut fine = Some(());
    each_of(stmt, &mut |stmt| match stmt {
        Stmt::Loop(of) if of.range.var == var => {
            any = true;
            of.range.hi = part.length.clone();
        }
        Stmt::Load { at, .. } => {
            for at in at {
                if let Subscript::Index(at) = at {
                    let moved = Quasi::from(var).add(part.start);
                    let moved = moved.and_then(|moved| at.substitute(var, &moved)).ok();
                    fine = fine.and(moved.map(|moved| *at = moved));
                }
            }
        }
        _ => {}
    });
    fine.filter(|()| any)
}

fn each_of(stmt: &mut Stmt, visit: &mut dyn FnMut(&mut Stmt)) {
    visit(stmt);
    blocks(stmt, &mut |block| each_in(block, visit));
}

fn each_in(block: &mut Block, visit: &mut dyn FnMut(&mut Stmt)) {
    block.stmts.iter_mut().for_each(|stmt| each_of(stmt, visit));
}
