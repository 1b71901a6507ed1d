//! Reductions whose state is or holds a tensor become loops that keep the state in memory.
//!
//! The state has one buffer per part, scalars included. Each round computes its term, combines the
//! state with it, and copies the result over the state once all of it is known.

use einlang_index::Quasi;
use einlang_tir::region::{Combiner, Def, Inst, Reduction, Start};
use einlang_tir::types::{Dim, Elem, Ident, TensorType};

use super::scan::ranges_of;
use super::{Lower, NotLowered, Part, Result};
use crate::ir::{Access, BufferId, Condition, Operand, Stmt};

impl Lower<'_> {
    /// Lowers a reduction with tensors in its state.
    pub(super) fn fold_tensors(
        &mut self,
        reduction: &Reduction,
        inst: &Inst,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let (Start::Init(start) | Start::Identity(start), Combiner::Region(combine)) =
            (&reduction.start, &reduction.combine)
        else {
            return Err(NotLowered::new("a reduction of tensors without a first state"));
        };
        let state = self.state(&inst.results, out);
        for (arg, buffer) in start.iter().zip(&state) {
            match self.part(arg)? {
                Part::Scalar(value) => out.push(store(*buffer, value)),
                Part::Tensor(from) => out.push(Stmt::Copy { to: *buffer, from }),
            }
        }
        let (ranges, within) = ranges_of(&reduction.domain, &self.context)?;
        let (stmts, ()) = self.scoped(|lower, out| {
            lower.repeats();
            ranges.iter().for_each(|range| lower.bound.push(range.var));
            let mut term = Vec::new();
            match &reduction.guard {
                None => lower.round(reduction, combine, inst, &state, &mut term)?,
                Some(region) => {
                    let parts = lower.region(region, out)?;
                    let Some((Part::Scalar(counts), rest)) = parts.split_first() else {
                        return Err(NotLowered::new("a guard that is no scalar"));
                    };
                    lower.define(&reduction.body.params, rest)?;
                    lower.round(reduction, combine, inst, &state, &mut term)?;
                    term = vec![Stmt::when(Condition::Value(*counts), term)];
                }
            }
            out.append(&mut term);
            Ok(())
        })?;
        let stmts = match within {
            Some(domain) => vec![Stmt::when(Condition::Within(domain), stmts)],
            None => stmts,
        };
        let nest =
            ranges.into_iter().rev().fold(stmts, |stmts, range| vec![Stmt::rounds(range, stmts)]);
        out.extend(nest);
        self.results_of(&inst.results, &state, out);
        Ok(())
    }

    /// A buffer for each part of a state.
    fn state(&mut self, defs: &[Def], out: &mut Vec<Stmt>) -> Vec<BufferId> {
        let mut state = Vec::with_capacity(defs.len());
        for def in defs {
            let buffer = match def {
                Def::Tensor(tensor) => self.buffer(&tensor.name, &tensor.ty),
                Def::Scalar(value) => self.scratch("state", value.elem, Vec::new()),
            };
            out.push(Stmt::Alloc(buffer));
            state.push(buffer);
        }
        state
    }

    fn scratch(&mut self, name: &str, elem: Elem, dims: Vec<Dim>) -> BufferId {
        let name = Ident::new(&format!("{name}.{}", self.kernel.buffers.len()));
        self.buffer(&name, &TensorType { elem, dims })
    }

    /// One round: the term, the new state, and the copy of it.
    fn round(
        &mut self,
        reduction: &Reduction,
        combine: &einlang_tir::region::Region,
        inst: &Inst,
        state: &[BufferId],
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let terms = self.region(&reduction.body, out)?;
        let mut both: Vec<Part> = Vec::with_capacity(state.len() + terms.len());
        for (def, buffer) in inst.results.iter().zip(state) {
            both.push(match def {
                Def::Tensor(_) => Part::Tensor(*buffer),
                Def::Scalar(value) => Part::Scalar(self.load(*buffer, value.elem, out)),
            });
        }
        both.extend(terms);
        if combine.params.len() != both.len() {
            return Err(NotLowered::new("a combiner of another state"));
        }
        self.define(&combine.params, &both)?;
        let mut next = self.region(combine, out)?;
        // A part of the state that moves to another place is saved before that place is overwritten.
        for (at, part) in next.iter_mut().enumerate() {
            if let (Part::Tensor(from), Def::Tensor(tensor)) = (&part, &inst.results[at])
                && *from != state[at]
                && state.contains(from)
            {
                let saved = self.scratch("moved", tensor.ty.elem, tensor.ty.dims.clone());
                out.extend([Stmt::Alloc(saved), Stmt::Copy { to: saved, from: *from }]);
                *part = Part::Tensor(saved);
            }
        }
        for (part, buffer) in next.into_iter().zip(state) {
            match part {
                Part::Scalar(value) => out.push(store(*buffer, value)),
                Part::Tensor(from) if from == *buffer => {}
                Part::Tensor(from) => out.push(Stmt::Copy { to: *buffer, from }),
            }
        }
        Ok(())
    }

    /// The scalars of the last state as values; its tensors have their names already.
    fn results_of(&mut self, defs: &[Def], state: &[BufferId], out: &mut Vec<Stmt>) {
        for (def, buffer) in defs.iter().zip(state) {
            if let Def::Scalar(value) = def {
                let last = self.load(*buffer, value.elem, out);
                self.values.insert(value.number, last);
            }
        }
    }

    fn load(&mut self, buffer: BufferId, elem: Elem, out: &mut Vec<Stmt>) -> Operand {
        let result = self.fresh(elem);
        out.push(Stmt::Load { result, buffer, at: Vec::new(), access: Access::Proved });
        result.into()
    }
}

fn store(buffer: BufferId, value: Operand) -> Stmt {
    Stmt::Store { buffer, at: Vec::<Quasi>::new(), value }
}
