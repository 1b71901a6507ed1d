//! What becomes of the solver's answers: ranges are recorded, what is wrong is reported, what is
//! undecided is checked when the program runs.

use einlang_index::solve::EqualityStatus;
use einlang_index::{MinMax, Truth, Verdict};

use super::Analyser;
use super::facts::vars_of;
use super::frame::{IndexOwner, Mark};
use super::result::{Check, CheckKind, Index};
use super::solve::Attempt;
use crate::errors;

impl Analyser<'_> {
    /// Solves and judges all that the frame collected since, and drops it.
    pub(super) fn settle(&mut self, from: Mark) {
        let to = self.frame.mark();
        if to.indices > from.indices || to.reads > from.reads {
            let attempt = self.attempt(from, to, true);
            self.take_ranges(from, to, &attempt);
            self.take_equalities(&attempt);
            self.take_obligations(&attempt);
            self.doubt_unseen(from, to, &attempt);
        }
        self.judge_gap_reads(from.accesses, to.accesses);
        self.drop_since(from);
    }

    pub(super) fn drop_since(&mut self, from: Mark) {
        self.frame.indices.truncate(from.indices);
        self.frame.reads.truncate(from.reads);
        self.frame.accesses.truncate(from.accesses);
    }

    /// Records the ranges of indices; those without one are reported.
    pub(super) fn take_ranges(&mut self, from: Mark, to: Mark, attempt: &Attempt) {
        for position in from.indices..to.indices {
            let index = self.frame.indices[position].clone();
            let solved = attempt.solution.solved.iter().find(|solved| solved.var == index.var);
            match solved {
                Some(solved) => {
                    let range = solved.range.simplified(&attempt.solution.facts);
                    let inferred = index.inferred || (index.range.is_none() && solved.inferred);
                    if index.range.is_none() && index.output && solved.starts_at_zero != Truth::True
                    {
                        self.not_from_zero(&index, &range, solved.starts_at_zero);
                    }
                    let found = &mut self.frame.indices[position];
                    found.range = Some(range.clone());
                    found.inferred = inferred;
                    self.record_index(&index, Index { var: index.var, range, inferred });
                }
                None => {
                    if !index.silent {
                        let suggestion = attempt
                            .solution
                            .unsolved
                            .iter()
                            .find(|unsolved| unsolved.var == index.var)
                            .and_then(|unsolved| unsolved.suggestion.clone());
                        let suggestion = suggestion.map(|range| self.symbols.show_range(&range));
                        let name = self.symbols.name(index.var).to_owned();
                        self.report(errors::no_range(
                            &name,
                            suggestion.as_deref(),
                            index.output,
                            index.span,
                        ));
                    }
                    self.frame.indices[position].silent = true;
                }
            }
        }
    }

    fn not_from_zero(
        &mut self,
        index: &super::frame::FrameIndex,
        range: &einlang_index::Range<einlang_source::Span>,
        starts: Truth,
    ) {
        // A start that only a run knows is no reason to reject the program.
        if starts == Truth::Unknown && range.lo().is_some_and(|lo| lo.as_constant().is_none()) {
            return;
        }
        let name = self.symbols.name(index.var).to_owned();
        let shown = self.symbols.show_range(range);
        let from = range
            .lower
            .iter()
            .find_map(|bound| bound.from.filter(|_| bound.value.as_constant() != Some(0)));
        let own = self.frame.reads.iter().any(|read| read.own && Some(read.span) == from);
        self.report(errors::not_from_zero(&name, &shown, index.span, from, own));
    }

    fn record_index(&mut self, index: &super::frame::FrameIndex, found: Index) {
        let here = &mut self.instances[index.instance.index()];
        match index.owner {
            IndexOwner::Local(local) => {
                here.indices.insert(local, found);
            }
            IndexOwner::Rest(rest, axis) => {
                let list = here.rests.entry(rest).or_default();
                list.truncate(axis);
                list.push(found);
            }
            IndexOwner::Anonymous => {}
        }
    }

    /// Axes that one index runs over have equal extents.
    pub(super) fn take_equalities(&mut self, attempt: &Attempt) {
        for equality in &attempt.solution.equalities {
            let (Some(first), Some(second)) =
                (attempt.reads.get(equality.first), attempt.reads.get(equality.second))
            else {
                continue;
            };
            let (a, b) = (self.frame.reads[*first].clone(), self.frame.reads[*second].clone());
            let (x, y) = (self.symbols.resolved(&a.extent), self.symbols.resolved(&b.extent));
            match equality.status {
                EqualityStatus::Proved | EqualityStatus::Offset => {}
                EqualityStatus::Refuted => {
                    let index = self.symbols.name(equality.var).to_owned();
                    let smaller = self.smaller(&x, &y).map(|extent| self.symbols.show(extent));
                    let (x, y) = (self.symbols.show(&x), self.symbols.show(&y));
                    self.report(errors::extents_differ(
                        &index,
                        (&a.tensor, a.number, &x, a.span),
                        (&b.tensor, b.number, &y, b.span),
                        smaller.as_deref(),
                    ));
                }
                EqualityStatus::Unproved => {
                    let name = |read: &super::frame::FrameRead| {
                        format!("axis {} of `{}`", read.number, read.tensor)
                    };
                    let conditional = !a.condition.is_true()
                        || !b.condition.is_true()
                        || self.mentions_index(&x)
                        || self.mentions_index(&y);
                    if !conditional {
                        self.facts.equal(&x, &y);
                    }
                    let check = Check {
                        left: x,
                        right: y,
                        span: b.span,
                        places: (a.span, b.span),
                        names: (name(&a), name(&b)),
                        kind: CheckKind::Index,
                        conditional,
                    };
                    let checks = &mut self.instances[b.instance.index()].checks;
                    let same = |other: &Check| {
                        (&other.left, &other.right) == (&check.left, &check.right)
                            && other.conditional == check.conditional
                    };
                    if !checks.iter().any(same) {
                        checks.push(check);
                    }
                }
            }
        }
    }

    /// The smaller of two extents, if that is known.
    fn smaller<'a>(&self, a: &'a MinMax, b: &'a MinMax) -> Option<&'a MinMax> {
        let facts = self.facts.about(vars_of([a, b]));
        match (a.at_most(b, &facts), b.at_most(a, &facts)) {
            (true, _) => Some(a),
            (_, true) => Some(b),
            _ => None,
        }
    }

    pub(super) fn mentions_index(&self, value: &MinMax) -> bool {
        let mut found = false;
        value.for_each_var(&mut |var| found |= var.kind() == einlang_index::VarKind::Index);
        found
    }

    /// Every subscript is in bounds, wrong, or checked at run time.
    pub(super) fn take_obligations(&mut self, attempt: &Attempt) {
        if !attempt.solution.unsolved.is_empty() {
            return;
        }
        for obligation in &attempt.solution.obligations {
            let Some(number) = attempt.reads.get(obligation.subscript) else { continue };
            let verdicts = [obligation.lower, obligation.upper];
            if verdicts == [Verdict::Holds; 2] {
                continue;
            }
            let read = self.frame.reads[*number].clone();
            let proved = self.instances[read.instance.index()].reads.get_mut(&read.expr);
            if let Some(proved) = proved.and_then(|proved| proved.get_mut(read.position)) {
                *proved = false;
            }
            if verdicts.contains(&Verdict::Fails) && read.condition.is_exact() {
                self.out_of_bounds(&read, obligation.lower == Verdict::Fails);
            }
        }
    }

    /// What the solver never saw is not proved.
    pub(super) fn doubt_unseen(&mut self, from: Mark, to: Mark, attempt: &Attempt) {
        for number in from.reads..to.reads {
            if attempt.reads.binary_search(&number).is_err() {
                let read = &self.frame.reads[number];
                let proved = self.instances[read.instance.index()].reads.get_mut(&read.expr);
                if let Some(proved) = proved.and_then(|proved| proved.get_mut(read.position)) {
                    *proved = false;
                }
            }
        }
    }

    fn out_of_bounds(&mut self, read: &super::frame::FrameRead, below: bool) {
        let value = self.symbols.show(&MinMax::from(read.value.clone()));
        let extent = self.symbols.resolved(&read.extent);
        let extent = self.symbols.show(&extent);
        if read.own {
            self.report(errors::self_read_outside(
                &read.tensor,
                read.number,
                &value,
                &extent,
                below,
                read.span,
            ));
        } else {
            self.report(errors::out_of_bounds(
                &read.tensor,
                read.number,
                &value,
                &extent,
                read.span,
            ));
        }
    }
}
