//! Reductions.
//!
//! Terms are taken in index order and combined one after the other on the right of what is there;
//! a start that is given is combined once, on the left of everything. The one exception is a float
//! sum that may be reassociated: its terms are combined in pairs, the pairs in pairs and so on,
//! by their position among the points of the domain (a term that its guard leaves out is a gap),
//! which depends on the extent alone and has an error that grows with its logarithm.

use std::rc::Rc;

use einlang_tir::op::Op;
use einlang_tir::types::Elem;

use super::code::{Code, CombineCode, InstCode, Kind, ReduceCode, RegionCode, StartCode};
use super::grouped::{Keys, Record, Visit};
use super::index::Points;
use super::machine::{End, Halt, Machine, Part};
use super::step::Flow;
use crate::scalar::{apply, trap_message};
use crate::stop::{Stop, StopCode};

/// A reduction that is being evaluated.
#[derive(Debug)]
pub(super) struct Loop {
    pub(super) points: Points,
    /// Of a grouped reduction: the keys so far, or the terms that are left.
    pub(super) record: Option<Record>,
    pub(super) visit: Option<Visit>,
    /// Whether its keys were known when it began; they may become known while a term is computed.
    pub(super) jumps: bool,
    /// What is combined so far, and the start of a sum in pairs.
    state: Option<Vec<Part>>,
    /// Partial sums of 1, 2, 4, … terms, gaps included.
    pairs: Vec<Option<u64>>,
    n_terms: u64,
}

impl Machine<'_> {
    pub(super) fn begin_reduce(
        &mut self,
        reduce: &ReduceCode,
        inst: &InstCode,
        code: &Code,
    ) -> Result<Flow, Halt> {
        let mut params = Vec::with_capacity(reduce.domain.params.len());
        for param in &reduce.domain.params {
            params.push(self.var(param, code)?);
        }
        let state = match &reduce.start {
            StartCode::From(args) => Some(self.parts(args)?),
            StartCode::First => None,
        };
        let points = Points::new(reduce.domain.dims.len(), &params);
        let record = self.begin_record(reduce);
        let keys = reduce.grouped.as_ref().and_then(|grouped| self.keys.get(grouped.number));
        let jumps = matches!(keys, Some(Keys::Known(_)));
        let (visit, pairs, n_terms) = (None, Vec::new(), 0);
        self.loops.push(Loop { points, record, visit, jumps, state, pairs, n_terms });
        match self.next_term(reduce)? {
            true => Ok(Flow::Inside),
            false => self.end_reduce(reduce, inst).map(|()| Flow::Next),
        }
    }

    /// The keys of a grouped reduction are written down the second time.
    fn begin_record(&mut self, reduce: &ReduceCode) -> Option<Record> {
        let keys = self.keys.get_mut(reduce.grouped.as_ref()?.number)?;
        match keys {
            Keys::Never => {
                *keys = Keys::Once;
                None
            }
            Keys::Once => Some(Record::new(reduce.domain.dims.len())),
            Keys::Known(_) => None,
        }
    }

    /// Starts the next term; false if there is none.
    fn next_term(&mut self, reduce: &ReduceCode) -> Result<bool, Stop> {
        let Some(current) = self.loops.last_mut() else { return Ok(false) };
        if let Some(visit) = &mut current.visit {
            let Some(position) = visit.next() else { return Ok(false) };
            let buckets = Rc::clone(&visit.buckets);
            current.points.xs[..reduce.domain.dims.len()].copy_from_slice(buckets.point(position));
            if let CombineCode::Op { op, elem, pairwise: true } = reduce.combine {
                self.skip_to(op, elem, position)?;
            }
        } else if !current.points.advance(&reduce.domain, &self.meter)? {
            return Ok(false);
        }
        let base = self.frames.last().map_or(0, |frame| frame.vars);
        let point = self.loops.last().map_or(&[][..], |current| &current.points.xs);
        for (slot, x) in reduce.domain.dims.iter().zip(point) {
            self.vars[base + *slot as usize] = *x;
        }
        match reduce.guard {
            Some(guard) => self.push_cursor(guard, End::TermGuard),
            None => self.push_cursor(reduce.body, End::Term),
        }
        Ok(true)
    }

    /// Goes on with the next term, or with what follows the reduction.
    fn after_term(&mut self, reduce: &ReduceCode, inst: &InstCode) -> Result<(), Halt> {
        if !self.next_term(reduce)? {
            self.end_reduce(reduce, inst)?;
            self.skip();
        }
        Ok(())
    }

    fn reduce_below<'c>(&self, code: &'c Code) -> Result<(&'c ReduceCode, &'c InstCode), Stop> {
        let inst = self.below(code)?;
        match &inst.kind {
            Kind::Reduce(reduce) => Ok((reduce, inst)),
            _ => Err(Stop::internal("a term belongs to no reduction")),
        }
    }

    pub(super) fn finish_term_guard(
        &mut self,
        region: &RegionCode,
        code: &Code,
    ) -> Result<(), Halt> {
        let (reduce, inst) = self.reduce_below(code)?;
        if let Some(grouped) = &reduce.grouped {
            let (key, bin) = (self.val(grouped.key), self.val(grouped.bin));
            if let Some(current) = self.loops.last_mut() {
                current.group(self.keys.get(grouped.number), key, bin);
            }
        }
        if self.holds(region)? {
            self.copy(&region.results[1..], &code.regions[reduce.body].params)?;
            self.push_cursor(reduce.body, End::Term);
            return Ok(());
        }
        if let CombineCode::Op { op, elem, pairwise: true } = reduce.combine {
            self.add_pair(op, elem, None).map_err(|stop| stop.at(inst.loc))?;
        }
        self.after_term(reduce, inst)
    }

    pub(super) fn finish_term(&mut self, region: &RegionCode, code: &Code) -> Result<(), Halt> {
        let (reduce, inst) = self.reduce_below(code)?;
        let CombineCode::Op { op, elem, pairwise } = reduce.combine else {
            return self.combine_states(region, reduce, inst, code);
        };
        let Some(Part::Scalar(term)) =
            region.results.first().map(|arg| self.part(*arg)).transpose()?
        else {
            return Err(Stop::internal("a term is a scalar").into());
        };
        if pairwise {
            self.add_pair(op, elem, Some(term)).map_err(|stop| stop.at(inst.loc))?;
            return self.after_term(reduce, inst);
        }
        let before = match self.loops.last_mut().and_then(|l| l.state.as_mut()).map(|s| &s[..]) {
            Some([Part::Scalar(bits)]) => Some(*bits),
            _ => None,
        };
        let after = match before {
            Some(before) => {
                self.combine_op(op, elem, before, term).map_err(|stop| stop.at(inst.loc))?
            }
            None => term,
        };
        if let Some(current) = self.loops.last_mut() {
            match current.state.as_mut().and_then(|state| state.first_mut()) {
                Some(part) => *part = Part::Scalar(after),
                None => current.state = Some(vec![Part::Scalar(after)]),
            }
        }
        self.after_term(reduce, inst)
    }

    fn combine_op(&self, op: Op, elem: Elem, left: u64, right: u64) -> Result<u64, Stop> {
        let x = [left, right, 0];
        apply(op, [elem; 2], elem, x, self.meter.options().checked)
            .map_err(|trap| Stop::of_trap(trap, trap_message(op, elem, x, trap)))
    }

    fn add_pair(&mut self, op: Op, elem: Elem, term: Option<u64>) -> Result<(), Stop> {
        self.add_block(op, elem, term, 0)
    }

    /// Adds the sum of `2^level` terms; as many must have been added before, a whole number of times.
    fn add_block(&mut self, op: Op, elem: Elem, sum: Option<u64>, level: u32) -> Result<(), Stop> {
        let Some(current) = self.loops.last_mut() else { return Ok(()) };
        current.n_terms += 1 << level;
        let mut n = current.n_terms >> level;
        let mut pairs = std::mem::take(&mut current.pairs);
        pairs.push(sum);
        while n.is_multiple_of(2) {
            let (right, left) = (pairs.pop().flatten(), pairs.pop().flatten());
            pairs.push(self.join(op, elem, left, right)?);
            n /= 2;
        }
        if let Some(current) = self.loops.last_mut() {
            current.pairs = pairs;
        }
        Ok(())
    }

    /// Counts the gaps before a term of a sum in pairs, in blocks as large as they fit.
    fn skip_to(&mut self, op: Op, elem: Elem, position: u64) -> Result<(), Stop> {
        while let Some(current) = self.loops.last().filter(|current| current.n_terms < position) {
            let room = position - current.n_terms;
            let level = current.n_terms.trailing_zeros().min(room.ilog2());
            self.add_block(op, elem, None, level)?;
        }
        Ok(())
    }

    fn join(
        &self,
        op: Op,
        elem: Elem,
        left: Option<u64>,
        right: Option<u64>,
    ) -> Result<Option<u64>, Stop> {
        match (left, right) {
            (Some(left), Some(right)) => self.combine_op(op, elem, left, right).map(Some),
            (one, None) | (None, one) => Ok(one),
        }
    }

    /// A term of several parts, or of a user's combiner.
    fn combine_states(
        &mut self,
        region: &RegionCode,
        reduce: &ReduceCode,
        inst: &InstCode,
        code: &Code,
    ) -> Result<(), Halt> {
        let term = self.parts(&region.results)?;
        let CombineCode::Region(combine) = reduce.combine else { return Ok(()) };
        let Some(current) = self.loops.last_mut() else { return Ok(()) };
        match current.state.take() {
            None => {
                current.state = Some(term);
                self.after_term(reduce, inst)
            }
            Some(left) => {
                let both = left.into_iter().chain(term);
                for (dest, part) in code.regions[combine].params.iter().zip(both) {
                    self.put(*dest, part);
                }
                self.push_cursor(combine, End::Combine);
                Ok(())
            }
        }
    }

    pub(super) fn finish_combine(&mut self, region: &RegionCode, code: &Code) -> Result<(), Halt> {
        let state = self.parts(&region.results)?;
        if let Some(current) = self.loops.last_mut() {
            current.state = Some(state);
        }
        let (reduce, inst) = self.reduce_below(code)?;
        self.after_term(reduce, inst)
    }

    /// Sets the results. The domain is exhausted.
    fn end_reduce(&mut self, reduce: &ReduceCode, inst: &InstCode) -> Result<(), Halt> {
        let Some(mut done) = self.loops.pop() else { return Ok(()) };
        if let (Some(grouped), Some(record)) = (&reduce.grouped, done.record.take()) {
            self.keys[grouped.number] = Keys::Known(Rc::new(record.finish(&self.meter)?));
        }
        if let CombineCode::Op { op, elem, pairwise: true } = reduce.combine {
            let mut sum = None;
            while let Some(left) = done.pairs.pop() {
                sum = self.join(op, elem, left, sum)?;
            }
            let start = match done.state.as_deref() {
                Some([Part::Scalar(bits)]) => Some(*bits),
                _ => None,
            };
            done.state = self.join(op, elem, start, sum)?.map(|bits| vec![Part::Scalar(bits)]);
        }
        let Some(state) = done.state else {
            let message = "`argmax`, `argmin` or another reduction without identity has no terms";
            return Err(Stop::new(StopCode::Empty, message).into());
        };
        for (dest, part) in inst.dests.iter().zip(state) {
            self.put(*dest, part);
        }
        Ok(())
    }
}
