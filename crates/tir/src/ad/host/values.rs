//! Tangents of calls of function values.
//!
//! The tangent of a function value is the same function with the tangents of what it captured.
//! Which function it is is known only when the program runs, so a call becomes a choice between
//! those that have the type.

use super::dual::Dual;
use super::{Host, for_each_inst};
use crate::ad::fault::R;
use crate::host::{Block, HostArg, HostDef, HostInst, HostKind, HostType, Intrinsic};
use crate::types::{Elem, Ident};

/// A function and the types of what it captures.
pub(super) type Candidate = (Ident, Vec<HostType>);

/// A function value and its arguments, each with what is beside it.
type With<'c> = ((&'c HostArg, &'c HostArg), (&'c [HostArg], &'c [HostArg]));

impl Host<'_> {
    /// The functions that a value of a function type may be.
    pub(super) fn candidates(&self, ty: &HostType) -> Vec<Candidate> {
        let mut found: Vec<Candidate> = Vec::new();
        for function in &self.program.functions {
            for_each_inst(&function.body, &mut |inst| {
                if let HostKind::Closure(name, given) = &inst.kind
                    && inst.results.iter().any(|def| def.ty == *ty)
                    && !found.iter().any(|known| known.0 == *name)
                {
                    let types = given.iter().map(|arg| self.type_of(arg)).collect();
                    found.push((name.clone(), types));
                }
            });
        }
        found
    }
}

impl Dual<'_, '_> {
    /// The call of a function value, with tangents.
    pub(super) fn applied(
        &mut self,
        callee: &HostArg,
        args: &[HostArg],
        gives: &[HostDef],
    ) -> R<HostKind> {
        let ty = self.host.type_of(callee);
        let candidates = self.host.candidates(&ty);
        if self.quiet && !candidates.iter().any(|found| self.host.is_noisy(&found.0)) {
            return Ok(HostKind::Apply(self.arg(callee), self.args(args)));
        }
        let value = self.arg(callee);
        let tangent = match self.quiet {
            true => value.clone(),
            false => self.tangent_or_zero(callee),
        };
        let (values, tangents) = (self.args(args), self.carried(args).split_off(args.len()));
        let (in_function, in_args) = (self.tangent(callee).is_some(), self.active(args));
        let name = HostKind::Intrinsic(Intrinsic::FnName, vec![value.clone()]);
        let name = self.value(HostType::Str, name);
        let mut kind: Option<HostKind> = None;
        for (function, types) in candidates {
            let function_and_args = ((&value, &tangent), (&values[..], &tangents[..]));
            let active = (in_function, &in_args[..]);
            let block = self.called(&function, &types, function_and_args, gives, active)?;
            let is_it = vec![name.clone(), HostArg::Str(function.as_str().to_owned())];
            let is_it = HostKind::Intrinsic(Intrinsic::StrEq, is_it);
            let is_it = self.value(HostType::Scalar(Elem::Bool), is_it);
            let others = match kind.take() {
                Some(kind) => self.block_of(kind, gives),
                None => self.nobody(gives),
            };
            kind = Some(HostKind::If(is_it, block, others));
        }
        match kind {
            Some(kind) => Ok(kind),
            None => Ok(HostKind::If(
                HostArg::Const(crate::constant::Const::bool(true)),
                self.nobody(gives),
                self.nobody(gives),
            )),
        }
    }

    /// The types of values and of the tangents of those that have one.
    fn doubled(&self, gives: &[HostDef]) -> Vec<HostType> {
        let types = gives.iter().map(|def| def.ty.clone());
        if self.quiet {
            return types.collect();
        }
        let floats = gives.iter().map(|def| def.ty.clone()).filter(|ty| self.host.carries(ty));
        types.chain(floats).collect()
    }

    fn block_of(&mut self, kind: HostKind, gives: &[HostDef]) -> Block {
        let types = self.doubled(gives);
        let results: Vec<HostDef> = types.into_iter().map(|ty| self.host.new_def(ty)).collect();
        let given = results.iter().map(|def| HostArg::Value(def.number)).collect();
        let insts = vec![HostInst { results, kind, loc: self.loc }];
        Block { params: Vec::new(), insts, results: given }
    }

    /// No other function has the type.
    fn nobody(&mut self, gives: &[HostDef]) -> Block {
        let outer = std::mem::take(&mut self.out);
        let results = self
            .doubled(gives)
            .into_iter()
            .map(|ty| self.value(ty, HostKind::Intrinsic(Intrinsic::Never, Vec::new())))
            .collect();
        let insts = std::mem::replace(&mut self.out, outer);
        Block { params: Vec::new(), insts, results }
    }

    /// The call of one function by the name of its dual.
    fn called(
        &mut self,
        function: &Ident,
        types: &[HostType],
        ((value, tangent), (values, tangents)): With<'_>,
        gives: &[HostDef],
        active: (bool, &[bool]),
    ) -> R<Block> {
        let captured = types.iter().map(|_| active.0);
        let active: Vec<bool> = captured.chain(active.1.iter().copied()).collect();
        let function = self.host.deeper(function, true);
        let callee = self.callee(&function, &active)?;
        let outer = std::mem::take(&mut self.out);
        let captured = self.captures(value, types);
        let floats: Vec<HostArg> = match self.quiet {
            true => Vec::new(),
            false => {
                let beside = types.iter().zip(self.captures(tangent, types));
                beside.filter(|(ty, _)| self.host.carries(ty)).map(|(_, arg)| arg).collect()
            }
        };
        let all = [&captured[..], values, &floats[..], tangents].concat();
        let block = self.block_of(HostKind::Call(callee, all), gives);
        let insts = std::mem::replace(&mut self.out, outer);
        let insts = insts.into_iter().chain(block.insts).collect();
        Ok(Block { insts, ..block })
    }

    /// What a function value captured.
    fn captures(&mut self, value: &HostArg, types: &[HostType]) -> Vec<HostArg> {
        let kind = HostKind::Intrinsic(Intrinsic::Captures, vec![value.clone()]);
        let all = self.value(HostType::Tuple(types.to_vec()), kind);
        let each = types.iter().enumerate();
        each.map(|(at, ty)| self.value(ty.clone(), HostKind::Field(all.clone(), at))).collect()
    }
}
