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
type Candidate = (Ident, Vec<HostType>);

impl Host<'_> {
    /// The functions that a value of a function type may be.
    fn candidates(&self, ty: &HostType) -> Vec<Candidate> {
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
        let (value, tangent) = (self.arg(callee), self.tangent_or_zero(callee));
        let (values, tangents) = (self.args(args), self.carried(args).split_off(args.len()));
        let name = HostKind::Intrinsic(Intrinsic::FnName, vec![value.clone()]);
        let name = self.value(HostType::Str, name);
        let mut kind: Option<HostKind> = None;
        for (function, types) in candidates {
            let block =
                self.called(&function, &types, (&value, &tangent), (&values, &tangents), gives)?;
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
        (value, tangent): (&HostArg, &HostArg),
        (values, tangents): (&[HostArg], &[HostArg]),
        gives: &[HostDef],
    ) -> R<Block> {
        let dual = self.dual_function(function)?;
        let outer = std::mem::take(&mut self.out);
        let captured = self.captures(value, types);
        let beside = self.captures(tangent, types);
        let floats = types.iter().zip(beside).filter(|(ty, _)| self.host.carries(ty));
        let floats: Vec<HostArg> = floats.map(|(_, arg)| arg).collect();
        let all = [&captured[..], values, &floats[..], tangents].concat();
        let block = self.block_of(HostKind::Call(dual, all), gives);
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
