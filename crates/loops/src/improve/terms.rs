//! `block_terms`: a long sum goes through its terms block by block, outside of the loops over its points.
//!
//! A loop `terms N` has one round, around loops over points that each compute one fold and store what comes
//! of it. Here it gets a round for each block of terms. A round adds its terms to what the round before
//! stored at the point, and what is computed from the whole fold is left to the last round: until then the
//! place of the result holds the state. What all points of a round read of the operands is then small
//! enough for the nearest caches. A fold whose terms are blocks already, as those of chains are, has one of
//! them in a round; others have `N` terms.
//!
//! Panels that are copied in the loop are copied block by block (`panels.rs`).
//!
//! Invariant: every state is combined with the same terms in the same order as before. A loop that is not
//! of this form keeps its one round.

use einlang_index::{Affine, Constraint, Domain, MinMax, Quasi, Set, Var};
use einlang_tir::region::Value;
use einlang_tir::types::Elem;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::panels::{Panels, Part, touches};
use super::rewrite::{Changes, blocks, next_value_of};
use crate::ir::{
    Access, Block, BufferId, Combine, Condition, Fold, FoldStart, Kernel, Loop, Operand, Range,
    Role, Stmt, Subscript, each_stmt,
};

/// Gives loops over terms their rounds.
pub(super) fn block_terms(kernel: &mut Kernel) {
    let next = next_value_of(kernel);
    let marked = kernel.buffers.iter().map(|buffer| buffer.marks).collect();
    let elems = kernel.buffers.iter().map(|buffer| buffer.elem).collect();
    let (bound, shrunk, touched) = (Vec::new(), Vec::new(), touches(&kernel.body));
    let mut terms = Terms { next, marked, elems, touched, bound, shrunk };
    terms.block(&mut kernel.body);
    for (panels, n_planes) in terms.shrunk {
        panels.shrink(kernel, n_planes);
    }
}

struct Terms {
    next: u32,
    /// Which buffers have marks.
    marked: Vec<bool>,
    elems: Vec<Elem>,
    /// How often buffers are touched.
    touched: HashMap<BufferId, usize>,
    /// What is bound at the beginning of a round: the same for all its points.
    bound: Vec<Stmt>,
    /// Panels of which a round has so many planes.
    shrunk: Vec<(Panels, i64)>,
}

/// The rounds of a loop over terms.
#[derive(Clone, PartialEq)]
struct Rounds {
    /// How many there are, at least one.
    number: MinMax,
    /// The index of the fold at its start.
    lo: MinMax,
    hi: MinMax,
    /// How many values of that index belong to a round.
    each: i64,
    /// The first term, how many there are, and how many of them one round has.
    first: Affine,
    trip: Affine,
    block: i64,
}

impl Rounds {
    /// The first term of a round, and how many there are in it.
    fn part(&self, round: Var) -> Option<(Quasi, MinMax)> {
        let before = Affine::var(round).scale(self.block).ok()?;
        let start = self.first.add(&before).ok()?;
        let left = self.trip.sub(&before).ok()?;
        let length = MinMax::min_of([MinMax::from(self.block), MinMax::from(left)]).ok()?;
        Some((Quasi::from(start), length))
    }
}

impl Terms {
    fn block(&mut self, block: &mut Block) {
        for stmt in &mut block.stmts {
            blocks(stmt, &mut |block| self.block(block));
            if let Stmt::Loop(of) = stmt
                && let Role::Terms(n) = of.role
            {
                let of_terms = std::mem::replace(&mut of.role, Role::Seq);
                if let Some((rounds, panels)) = self.rounds(of, i64::from(n)) {
                    let mut divided = Loop { role: of_terms, ..(**of).clone() };
                    divided.range.hi = rounds.number.clone();
                    let done = self.divide(&mut divided.body, of.range.var, &rounds, &panels);
                    let bound = std::mem::take(&mut self.bound);
                    if done.is_some() {
                        divided.body.stmts.splice(0..0, bound);
                        **of = divided;
                        self.shrunk.push((panels, rounds.block));
                    }
                }
            }
        }
    }

    /// The rounds that all folds in a loop have in common, if its points can be divided like that.
    fn rounds(&self, of: &Loop, n: i64) -> Option<(Rounds, Panels)> {
        let mut found = Found::default();
        found.block(&of.body)?;
        found.panels.are_of(&of.body, &self.touched).then_some(())?;
        let mut changed = HashSet::default();
        for stmt in &of.body.stmts {
            changed.extend(Changes::of(&mut stmt.clone()).vars);
        }
        let mut all: Option<Rounds> = None;
        for (fold, buffer) in found.sites {
            let number = buffer.0 as usize;
            let fits = !*self.marked.get(number)?
                && fold.results.first()?.elem == *self.elems.get(number)?;
            let rounds = rounds_of(fold, n).filter(|_| fits)?;
            let mut fixed = true;
            for bound in [&rounds.lo, &rounds.hi, &rounds.number] {
                bound.for_each_var(&mut |var| fixed &= !changed.contains(&var));
            }
            let same = all.as_ref().is_none_or(|all| *all == rounds);
            if !fixed || !same || found.loaded.contains(&buffer) {
                return None;
            }
            found.panels.read_by(fold)?;
            all = Some(rounds);
        }
        Some((all?, found.panels))
    }

    /// Makes the points of a block those of one round.
    fn divide(
        &mut self,
        block: &mut Block,
        round: Var,
        rounds: &Rounds,
        panels: &Panels,
    ) -> Option<()> {
        let (start, length) = rounds.part(round)?;
        let part = Part { start: &start, length: &length };
        if block.stmts.iter().any(|stmt| matches!(stmt, Stmt::Fold(_))) {
            for stmt in &mut block.stmts {
                if let Stmt::Fold(fold) = stmt {
                    panels.read_part(fold, &part)?;
                }
            }
            block.stmts = self.point(std::mem::take(&mut block.stmts), round, rounds)?;
            return Some(());
        }
        let mut fine = Some(());
        for stmt in &mut block.stmts {
            if panels.is_copy(stmt) {
                panels.copy_part(stmt, &part)?;
                continue;
            }
            blocks(stmt, &mut |block| {
                fine = fine.and_then(|()| self.divide(block, round, rounds, panels));
            });
        }
        fine
    }

    /// What happens at a point in one round.
    fn point(&mut self, stmts: Vec<Stmt>, round: Var, rounds: &Rounds) -> Option<Vec<Stmt>> {
        let mut stmts = stmts.into_iter();
        let mut out = Vec::new();
        let fold = loop {
            match stmts.next()? {
                Stmt::Fold(fold) => break fold,
                stmt => out.push(stmt),
            }
        };
        let after: Vec<Stmt> = stmts.collect();
        let place = after.iter().find_map(|stmt| match stmt {
            Stmt::Store { buffer, at, value } => Some((*buffer, at.clone(), *value)),
            _ => None,
        });
        let (buffer, at, value) = place?;
        let result = *fold.results.first()?;
        out.extend(self.part(*fold, (buffer, &at), round, rounds)?);
        let stored = Stmt::Store { buffer, at, value: result.into() };
        if value == Operand::from(result) {
            out.extend(after);
            return Some(out);
        }
        let end = Affine::var(round).scale(rounds.block).ok()?.add_constant(rounds.block).ok()?;
        let is_last = Constraint::ge(&end, &rounds.trip).ok()?;
        out.push(Stmt::If {
            results: Vec::new(),
            condition: within(is_last)?,
            then: Block { stmts: after, results: Vec::new() },
            otherwise: Block { stmts: vec![stored], results: Vec::new() },
        });
        Some(out)
    }

    /// A round of a fold, which goes on from what is stored at a place.
    fn part(
        &mut self,
        mut fold: Fold,
        (buffer, at): (BufferId, &[Quasi]),
        round: Var,
        rounds: &Rounds,
    ) -> Option<Vec<Stmt>> {
        let result = *fold.results.first()?;
        let FoldStart::From(start) = &fold.start else { return None };
        let [start] = start[..] else { return None };
        let loaded = self.fresh(result);
        let at = at.iter().cloned().map(Subscript::Index).collect();
        let load = Stmt::Load { result: loaded, buffer, at, access: Access::Proved };
        let is_first = Constraint::ge(&Affine::constant(0), &Affine::var(round)).ok()?;
        let condition = within(is_first)?;
        let first = rounds.lo.add_scaled(&Quasi::from(round), rounds.each).ok()?;
        let range = fold.ranges.first_mut()?;
        if let (1, Combine::Op(op), [term]) = (rounds.each, &fold.combine, &fold.body.results[..]) {
            self.bound.push(Stmt::Bind { var: range.var, expr: first });
            // In either branch: a tile needs registers for its states only then.
            let mut with = |before: Operand, stmts: Vec<Stmt>| {
                let (combined, args) = (self.fresh(result), vec![before, *term]);
                let combine = Stmt::Op { result: combined, op: *op, args, site: None };
                let stmts = stmts.into_iter().chain([combine]).collect();
                Block { stmts, results: vec![combined.into()] }
            };
            let (then, otherwise) = (with(start, Vec::new()), with(loaded.into(), vec![load]));
            let mut stmts = fold.body.stmts;
            stmts.push(Stmt::If { results: vec![result], condition, then, otherwise });
            return Some(stmts);
        }
        let before = self.fresh(result);
        let goes_on = Stmt::If {
            results: vec![before],
            condition,
            then: Block { stmts: Vec::new(), results: vec![start] },
            otherwise: Block { stmts: vec![load], results: vec![loaded.into()] },
        };
        let end = first.add_constant(rounds.each).ok()?;
        range.hi = MinMax::min_of([range.hi.clone(), end]).ok()?;
        range.lo = first;
        fold.start = FoldStart::From(vec![before.into()]);
        Some(vec![goes_on, Stmt::Fold(Box::new(fold))])
    }

    fn fresh(&mut self, like: Value) -> Value {
        let number = self.next;
        self.next = self.next.saturating_add(1);
        Value { number, elem: like.elem }
    }
}

fn within(constraint: Constraint) -> Option<Condition> {
    Some(Condition::Within(Domain::new([], Set::new([constraint]).ok()?)))
}

/// The folds of a loop and where their results go.
#[derive(Default)]
struct Found<'k> {
    sites: Vec<(&'k Fold, BufferId)>,
    loaded: HashSet<BufferId>,
    panels: Panels,
}

impl<'k> Found<'k> {
    /// Looks through a block; nothing if something else happens there.
    fn block(&mut self, block: &'k Block) -> Option<()> {
        if block.stmts.iter().any(|stmt| matches!(stmt, Stmt::Fold(_))) {
            return self.site(block);
        }
        for stmt in &block.stmts {
            match stmt {
                Stmt::Loop(_) if self.panels.copied_by(stmt) => {}
                Stmt::Loop(of) if of.until.is_none() => self.block(&of.body)?,
                Stmt::If { results, then, otherwise, condition: Condition::Within(_) }
                    if results.is_empty() =>
                {
                    self.block(then)?;
                    self.block(otherwise)?;
                }
                Stmt::Bind { .. } | Stmt::Alloc(_) => {}
                _ => return None,
            }
        }
        Some(())
    }

    /// A block that computes one fold and stores once.
    fn site(&mut self, block: &'k Block) -> Option<()> {
        let mut plain = block.results.is_empty();
        each_stmt(block, &mut |stmt| match stmt {
            Stmt::Load { buffer, .. } | Stmt::Probe { buffer, .. } => {
                self.loaded.insert(*buffer);
            }
            Stmt::Op { site: None, .. }
            | Stmt::Index { .. }
            | Stmt::Bind { .. }
            | Stmt::If { .. }
            | Stmt::Fold(_)
            | Stmt::Store { .. } => {}
            _ => plain = false,
        });
        let at = block.stmts.iter().position(|stmt| matches!(stmt, Stmt::Fold(_)))?;
        let Stmt::Fold(fold) = &block.stmts[at] else { return None };
        let mut stores = Vec::new();
        each_stmt(block, &mut |stmt| {
            if let Stmt::Store { buffer, .. } = stmt {
                stores.push(*buffer);
            }
        });
        // The place of the result is the same before and after the fold.
        let after = &block.stmts[at + 1..];
        let bound = after.iter().any(|stmt| matches!(stmt, Stmt::Bind { .. } | Stmt::Fold(_)));
        let [.., Stmt::Store { .. }] = after else { return None };
        let [buffer] = stores[..] else { return None };
        self.sites.push((fold, buffer));
        (plain && !bound).then_some(())
    }
}

/// The rounds of one fold of blocks of so many terms.
fn rounds_of(fold: &Fold, n: i64) -> Option<Rounds> {
    let [range] = &fold.ranges[..] else { return None };
    let simple = fold.key.is_none() && fold.resume.is_none() && fold.results.len() == 1;
    let starts = matches!(&fold.start, FoldStart::From(start) if start.len() == 1);
    let ordered = !matches!(fold.combine, Combine::Pairs(_)) && !range.down;
    if !simple || !starts || !ordered || fold.guard.is_some() {
        return None;
    }
    let trip = range.hi.sub(&range.lo).ok()?;
    let (lo, hi) = (range.lo.clone(), range.hi.clone());
    let at_least_one = |number: MinMax| MinMax::max_of([MinMax::from(1), number]).ok();
    if let [Stmt::Fold(inner)] = &fold.body.stmts[..] {
        let (block, first, terms) = block_of(inner, range)?;
        let number = at_least_one(trip)?;
        return Some(Rounds { number, lo, hi, each: 1, first, trip: terms, block });
    }
    let number = at_least_one(trip.ceil_div(n).ok()?)?;
    let trip = trip.as_quasi()?.as_affine()?.clone();
    let short = trip.as_constant().is_some_and(|trip| trip <= n);
    let first = lo.as_quasi()?.as_affine()?.clone();
    (!short).then_some(Rounds { number, lo, hi, each: n, first, trip, block: n })
}

/// How many terms a block of a chain has, the first one, and how many there are in all blocks.
fn block_of(inner: &Fold, over: &Range) -> Option<(i64, Affine, Affine)> {
    let [range] = &inner.ranges[..] else { return None };
    let first = range.lo.as_quasi()?.as_affine()?;
    let block = first.coeff(over.var);
    let MinMax::Min(bounds) = &range.hi else { return None };
    let is_end = |bound: &&MinMax| !mentions(bound, over.var);
    let mut ends = bounds.iter().filter(is_end);
    let (end, None) = (ends.next()?, ends.next()) else { return None };
    let end = end.as_quasi()?.as_affine()?;
    let plain = over.lo == MinMax::from(0) && block > 0 && bounds.len() == 2;
    let first = first.without(over.var);
    let terms = end.sub(&first).ok()?;
    plain.then_some((block, first, terms))
}

fn mentions(bound: &MinMax, of: Var) -> bool {
    let mut any = false;
    bound.for_each_var(&mut |var| any |= var == of);
    any
}
