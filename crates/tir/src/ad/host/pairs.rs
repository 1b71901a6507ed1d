//! Sums and products of tangents: of scalars by operations, of tensors by modules, of records field
//! by field.

use super::Host;
use super::dual::Dual;
use super::tensors::{alone, axes_of, op, read, sum_over};
use crate::ad::fault::{Fault, R};
use crate::host::{HostArg, HostKind, HostType, Intrinsic};
use crate::module::{Module, Symbol, SymbolSource};
use crate::op::Op;
use crate::region::{Region, Subscript, Tensor};
use crate::types::{Elem, Ident, Loc, TensorType};

/// What is done with two tensors of one shape.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Pair {
    /// They are added.
    Sum,
    /// Their elements are multiplied and added up.
    Dot,
}

impl Host<'_> {
    /// The types of the parts of a tuple or struct.
    pub(super) fn parts(&self, ty: &HostType) -> Option<Vec<HostType>> {
        match ty {
            HostType::Tuple(parts) => Some(parts.clone()),
            HostType::Struct(name) => Some(self.field_types(name)),
            _ => None,
        }
    }

    /// The module that takes two tensors.
    fn pair_module(&mut self, pair: Pair, elem: Elem, rank: usize, loc: Loc) -> R<Ident> {
        if let Some(known) = self.pairs.get(&(pair, elem, rank)) {
            return Ok(known.clone());
        }
        let name = self.unique(if pair == Pair::Sum { "sum" } else { "dot" });
        let mut module = Module::new(name.as_str());
        let (a, b, y) = (Ident::new("a"), Ident::new("b"), Ident::new("y"));
        let mut dims = Vec::with_capacity(rank);
        for axis in 0..rank {
            let var = module.vars.symbol(&format!("a.{axis}"));
            let source = SymbolSource::Shape(a.clone(), axis);
            module.symbols.push(Symbol { var, source, loc });
            dims.push(einlang_index::Quasi::from(var).into());
        }
        let ty = TensorType { elem, dims };
        for name in [&a, &b] {
            module.inputs.push(Tensor { name: name.clone(), ty: ty.clone() });
        }
        let axes = axes_of(&mut module, &ty);
        let at: Vec<Subscript> = axes.iter().map(|a| Subscript::Index(a.var.into())).collect();
        let mut body = Region::default();
        let left = read(&mut module, &mut body.insts, a, at.clone(), elem, loc);
        let right = read(&mut module, &mut body.insts, b, at, elem, loc);
        let what = if pair == Pair::Sum { Op::Add } else { Op::Mul };
        let both = vec![left.into(), right.into()];
        let value = op(&mut module, &mut body.insts, what, both, elem, loc);
        body.results = vec![value.into()];
        let group = match pair {
            Pair::Dot if rank > 0 => {
                let mut whole = Region::default();
                let sum = sum_over(&mut module, &mut whole.insts, &axes, body, elem, loc)?;
                whole.results = vec![sum.into()];
                alone(y.clone(), elem, Vec::new(), whole, loc)
            }
            _ => alone(y.clone(), elem, axes, body, loc),
        };
        module.groups.push(group);
        module.outputs.push(y);
        self.program.modules.push(module);
        self.pairs.insert((pair, elem, rank), name.clone());
        Ok(name)
    }
}

impl Dual<'_, '_> {
    /// A part of a record.
    pub(super) fn field(&mut self, of: &HostArg, at: usize, ty: &HostType) -> HostArg {
        self.value(ty.clone(), HostKind::Field(of.clone(), at))
    }

    /// The record of these parts.
    pub(super) fn record(&mut self, ty: &HostType, parts: Vec<HostArg>) -> HostArg {
        let kind = match ty {
            HostType::Struct(name) => HostKind::Struct(name.clone(), parts),
            _ => HostKind::Tuple(parts),
        };
        self.value(ty.clone(), kind)
    }

    /// The sum of two tangents of a type.
    pub(super) fn added(&mut self, ty: &HostType, a: &HostArg, b: &HostArg) -> R<HostArg> {
        let both = vec![a.clone(), b.clone()];
        match ty {
            ty if !self.host.carries(ty) => Ok(a.clone()),
            HostType::Scalar(_) => Ok(self.value(ty.clone(), HostKind::Op(Op::Add, both))),
            HostType::Tensor(elem, rank) => {
                let module = self.host.pair_module(Pair::Sum, *elem, *rank, self.loc)?;
                Ok(self.value(ty.clone(), HostKind::Run(module, both)))
            }
            _ => {
                let parts = self.parts(ty)?;
                let mut sums = Vec::with_capacity(parts.len());
                for (at, part) in parts.iter().enumerate() {
                    let (a, b) = (self.field(a, at, part), self.field(b, at, part));
                    sums.push(self.added(part, &a, &b)?);
                }
                Ok(self.record(ty, sums))
            }
        }
    }

    /// The sum of the products of a cotangent and a tangent; none if their type has no floats.
    pub(super) fn product(
        &mut self,
        ty: &HostType,
        (cotangent, tangent): (&HostArg, &HostArg),
        elem: Elem,
    ) -> R<Option<HostArg>> {
        match ty {
            ty if !self.host.carries(ty) => Ok(None),
            HostType::Scalar(own) => {
                let both = [cotangent, tangent].map(|arg| self.converted(arg, *own, elem));
                let kind = HostKind::Op(Op::Mul, both.to_vec());
                Ok(Some(self.value(HostType::Scalar(elem), kind)))
            }
            HostType::Tensor(own, rank) => {
                let module = self.host.pair_module(Pair::Dot, *own, *rank, self.loc)?;
                let both = vec![cotangent.clone(), tangent.clone()];
                let sum = self.value(HostType::Tensor(*own, 0), HostKind::Run(module, both));
                let kind = HostKind::Intrinsic(Intrinsic::Element, vec![sum]);
                let sum = self.value(HostType::Scalar(*own), kind);
                Ok(Some(self.converted(&sum, *own, elem)))
            }
            _ => {
                let mut total: Option<HostArg> = None;
                for (at, part) in self.parts(ty)?.iter().enumerate() {
                    let own = (self.field(cotangent, at, part), self.field(tangent, at, part));
                    let found = self.product(part, (&own.0, &own.1), elem)?;
                    total = self.plus(total, found, elem);
                }
                Ok(total)
            }
        }
    }

    /// The sum of two scalars that may be missing.
    pub(super) fn plus(
        &mut self,
        a: Option<HostArg>,
        b: Option<HostArg>,
        elem: Elem,
    ) -> Option<HostArg> {
        match (a, b) {
            (Some(a), Some(b)) => {
                Some(self.value(HostType::Scalar(elem), HostKind::Op(Op::Add, vec![a, b])))
            }
            (a, b) => a.or(b),
        }
    }

    fn converted(&mut self, arg: &HostArg, from: Elem, to: Elem) -> HostArg {
        match from == to {
            true => arg.clone(),
            false => self.value(HostType::Scalar(to), HostKind::Op(Op::Cast, vec![arg.clone()])),
        }
    }

    fn parts(&self, ty: &HostType) -> R<Vec<HostType>> {
        let refused = || Fault::unsupported("a rule with lists, enums or functions", self.loc);
        self.host.parts(ty).ok_or_else(refused)
    }
}
