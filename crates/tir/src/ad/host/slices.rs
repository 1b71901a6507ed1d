//! Points that are tensors: the part of a seed that belongs to one, taken by a module.

use super::Host;
use super::dual::Dual;
use super::tensors::{alone, axes_of, read};
use crate::ad::fault::{Fault, R};
use crate::host::{HostArg, HostKind, HostType, Intrinsic};
use crate::module::{Module, Symbol, SymbolSource};
use crate::region::{Region, Subscript, Tensor};
use crate::types::{Elem, Ident, Loc, TensorType};

/// The element type of a seed, its rank, and the types of the subscripts that come first.
pub(super) type SliceKey = (Elem, usize, Vec<Elem>);

impl Host<'_> {
    /// The module that gives `x[at.., :]`.
    fn slice_module(&mut self, key: SliceKey, loc: Loc) -> Ident {
        if let Some(known) = self.slices.get(&key) {
            return known.clone();
        }
        let (elem, rank, given) = &key;
        let name = self.unique("slice");
        let mut module = Module::new(name.as_str());
        let (x, y) = (Ident::new("x"), Ident::new("y"));
        let mut dims = Vec::with_capacity(*rank);
        for axis in 0..*rank {
            let var = module.vars.symbol(&format!("x.{axis}"));
            let source = SymbolSource::Shape(x.clone(), axis);
            module.symbols.push(Symbol { var, source, loc });
            dims.push(einlang_index::Quasi::from(var).into());
        }
        let rest = TensorType { elem: *elem, dims: dims.split_off(given.len().min(*rank)) };
        let whole = TensorType { elem: *elem, dims: [dims, rest.dims.clone()].concat() };
        module.inputs.push(Tensor { name: x.clone(), ty: whole });
        let mut body = Region::default();
        let mut at = Vec::with_capacity(*rank);
        for (number, elem) in given.iter().enumerate() {
            let input = Ident::new(&format!("i{number}"));
            module.inputs.push(Tensor { name: input.clone(), ty: TensorType::scalar(*elem) });
            let value = read(&mut module, &mut body.insts, input, Vec::new(), *elem, loc);
            at.push(Subscript::Value(value.into()));
        }
        let axes = axes_of(&mut module, &rest);
        at.extend(axes.iter().map(|axis| Subscript::Index(axis.var.into())));
        let value = read(&mut module, &mut body.insts, x, at, *elem, loc);
        body.results = vec![value.into()];
        module.groups.push(alone(y.clone(), *elem, axes, body, loc));
        module.outputs.push(y);
        self.program.modules.push(module);
        self.slices.insert(key, name.clone());
        name
    }
}

impl Dual<'_, '_> {
    /// The part of a seed that belongs to a point: an element, or a slice if the point is a tensor.
    pub(super) fn seed_of(&mut self, ty: &HostType, seed: HostArg, at: &[HostArg]) -> R<HostArg> {
        let loc = self.loc;
        let refused = || Fault::unsupported("points of this kind", loc);
        let place = [vec![seed.clone()], self.args(at)].concat();
        match (ty, self.host.type_of(&seed)) {
            (HostType::Scalar(_), _) => {
                Ok(self.value(ty.clone(), HostKind::Intrinsic(Intrinsic::Element, place)))
            }
            (HostType::Tensor(elem, _), HostType::Tensor(_, rank)) => {
                let mut given = Vec::with_capacity(at.len());
                let mut elems = Vec::with_capacity(at.len());
                for index in &place[1..] {
                    let HostType::Scalar(elem) = self.host.type_of(index) else {
                        return Err(refused());
                    };
                    let kind = HostKind::Intrinsic(Intrinsic::Scalar, vec![index.clone()]);
                    given.push(self.value(HostType::Tensor(elem, 0), kind));
                    elems.push(elem);
                }
                let module = self.host.slice_module((*elem, rank, elems), self.loc);
                let all = [vec![seed], given].concat();
                Ok(self.value(ty.clone(), HostKind::Run(module, all)))
            }
            _ => Err(refused()),
        }
    }
}
