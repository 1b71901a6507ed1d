//! Host code: instructions, blocks, and values on their way to the host and back.

use einlang_tir::constant::Const;
use einlang_tir::host::{Block, HostArg, HostDef, HostInst, HostKind, HostType, Intrinsic};
use einlang_tir::op::Op;
use einlang_tir::types::{Elem, Loc};

use super::module::loc;
use super::value::{Form, R, Scalar, Src, Tensor, Val};
use super::{Lower, unsupported};
use crate::types::{FnTy, Ty};

impl<'p> Lower<'p> {
    pub(super) fn new_number(&mut self) -> u32 {
        self.n_values += 1;
        self.n_values - 1
    }

    pub(super) fn host_inst(&mut self, results: Vec<HostDef>, kind: HostKind, loc: Loc) {
        if let Some(block) = self.blocks.last_mut() {
            block.insts.push(HostInst { results, kind, loc });
        }
    }

    /// An instruction that defines one host value.
    pub(super) fn host_value_of(&mut self, ty: HostType, kind: HostKind) -> HostArg {
        let number = self.new_number();
        let at = loc(self.here);
        self.host_inst(vec![HostDef { number, ty }], kind, at);
        HostArg::Value(number)
    }

    /// An instruction for its effect. What was computed so far is evaluated before it.
    pub(super) fn host_effect(&mut self, kind: HostKind) {
        self.flush();
        let at = loc(self.here);
        self.host_inst(Vec::new(), kind, at);
    }

    /// Lowers into a new block. Modules begin and end inside it.
    pub(super) fn block<T>(
        &mut self,
        params: Vec<HostDef>,
        f: impl FnOnce(&mut Self) -> R<(Vec<HostArg>, T)>,
    ) -> R<(Block, T)> {
        self.flush();
        self.blocks.push(Block { params, insts: Vec::new(), results: Vec::new() });
        let frame = self.frame.clone();
        let done = f(self);
        self.frame = frame;
        self.flush();
        let block = self.blocks.pop().unwrap_or_default();
        let (results, value) = done?;
        Ok((Block { results, ..block }, value))
    }

    pub(super) fn host_cast(&mut self, value: HostArg, from: Elem, to: Elem) -> HostArg {
        if from == to {
            return value;
        }
        if let HostArg::Const(constant) = &value
            && let Some(number) = constant.as_int()
        {
            return HostArg::Const(Const::int(to, number));
        }
        self.host_value_of(HostType::Scalar(to), HostKind::Op(Op::Cast, vec![value]))
    }

    /// A scalar as a host value.
    pub(super) fn host_scalar(&mut self, scalar: &Scalar) -> R<HostArg> {
        match &scalar.form {
            Form::Const(constant) => Ok(HostArg::Const(*constant)),
            Form::Host(host) => Ok(host.clone()),
            Form::Index(_, expr) if expr.as_constant().is_some() => {
                let number = expr.as_constant().unwrap_or_default();
                Ok(HostArg::Const(Const::int(scalar.elem, number.into())))
            }
            Form::Index(..) => {
                let id = self.export_index(scalar);
                self.host_scalar(&Scalar { elem: scalar.elem, form: Form::Named(id) })
            }
            Form::Named(id) => {
                let tensor = self.host_value(*id);
                let kind = HostKind::Intrinsic(Intrinsic::Element, vec![tensor]);
                Ok(self.host_value_of(HostType::Scalar(scalar.elem), kind))
            }
            Form::Value(_) => unsupported(self.here, "a value of a tensor body on the host"),
        }
    }

    /// A tensor as a host value.
    pub(super) fn host_whole(&mut self, tensor: &Tensor<'p>) -> R<HostArg> {
        let id = match &tensor.src {
            Src::Named(id) => *id,
            Src::Lazy(_) => self.materialise(tensor, "t", self.here)?,
        };
        Ok(self.host_value(id))
    }

    /// A value as one host value of its type.
    pub(super) fn hosted(&mut self, value: &Val<'p>, ty: &Ty) -> R<HostArg> {
        match value {
            Val::Scalar(scalar) => self.host_scalar(scalar),
            Val::Tensor(tensor) => self.host_whole(tensor),
            Val::Host(_, own) if self.host_type(ty).is_ok_and(|wanted| wanted != *own) => {
                unsupported(self.here, "a function inside a value of a declared type")
            }
            Val::Host(host, _) => Ok(host.clone()),
            Val::Record(parts) => {
                let types = self.part_types(ty, parts.len());
                let mut args = Vec::with_capacity(parts.len());
                // Everything numeric is evaluated together before it is taken out.
                let parts: Vec<Val<'p>> =
                    parts.iter().map(|part| self.settled(part)).collect::<R<_>>()?;
                for (part, ty) in parts.iter().zip(&types) {
                    args.push(self.hosted(part, ty)?);
                }
                let host = self.host_type(ty)?;
                let kind = match &host {
                    HostType::Struct(name) => HostKind::Struct(name.clone(), args),
                    _ => HostKind::Tuple(args),
                };
                Ok(self.host_value_of(host, kind))
            }
            Val::Range(lo, Some(hi)) => {
                let args = vec![self.host_scalar(lo)?, self.host_scalar(hi)?];
                let host = self.host_type(ty)?;
                Ok(self.host_value_of(host, HostKind::Tuple(args)))
            }
            Val::Fn(function) => self.hosted_closure(&function.clone(), ty),
            Val::Range(_, None) | Val::Differential(_) => {
                unsupported(self.here, "this value on the host")
            }
        }
    }

    /// A value as `print` is to show it: a tensor of records as lists of records.
    pub(super) fn shown(&mut self, value: &Val<'p>, ty: &Ty) -> R<HostArg> {
        let host = self.hosted(value, ty)?;
        let Ty::Tensor(element, extents) = ty else { return Ok(host) };
        if self.parts(element).is_none() || !self.is_numeric(element) {
            return Ok(host);
        }
        let mut list = self.host_type(element)?;
        extents.iter().for_each(|_| list = HostType::List(Box::new(list.clone())));
        let kind = HostKind::Intrinsic(Intrinsic::ZipRecords, vec![host]);
        Ok(self.host_value_of(list, kind))
    }

    /// The value with lazy tensors and index expressions named, so that a `run` gives them all.
    pub(super) fn settled(&mut self, value: &Val<'p>) -> R<Val<'p>> {
        Ok(match value {
            Val::Tensor(tensor) => {
                let id = self.materialise(tensor, "t", self.here)?;
                Val::named(tensor.elem, tensor.rank, id)
            }
            Val::Record(parts) => {
                Val::Record(parts.iter().map(|part| self.settled(part)).collect::<R<_>>()?)
            }
            other => other.clone(),
        })
    }

    /// The types of the parts of a record, which may be a tensor of records.
    pub(super) fn part_types(&self, ty: &Ty, n_parts: usize) -> Vec<Ty> {
        let types = match ty {
            Ty::Tensor(element, extents) => self.parts(element).map(|parts| {
                parts.into_iter().map(|(_, ty)| Ty::tensor(ty, extents.clone())).collect()
            }),
            _ => self.parts(ty).map(|parts| parts.into_iter().map(|(_, ty)| ty).collect()),
        };
        types.unwrap_or_else(|| vec![Ty::Error; n_parts])
    }

    /// What a host value of a type is for the lowering.
    pub(super) fn lifted(&mut self, host: HostArg, ty: &Ty, name: &str) -> R<Val<'p>> {
        let host_type = self.host_type(ty)?;
        self.lifted_as(host, ty, host_type, name)
    }

    fn lifted_as(&mut self, host: HostArg, ty: &Ty, of: HostType, name: &str) -> R<Val<'p>> {
        match (&of, ty) {
            (_, Ty::Fn(FnTy::Declared(..))) => Ok(Val::Host(host, of)),
            (_, Ty::Fn(function)) => self.lifted_closure(host, function),
            (HostType::Scalar(elem), _) => {
                Ok(Val::Scalar(Scalar { elem: *elem, form: Form::Host(host) }))
            }
            (HostType::Tensor(elem, rank), _) => Ok(self.host_tensor(name, *elem, *rank, host)),
            (HostType::Tuple(types), Ty::Range(inner)) => {
                let ends = self.host_fields(&host, types)?;
                let mut ends = ends.into_iter().map(|end| self.lifted(end, inner, name));
                match (ends.next(), ends.next()) {
                    (Some(Ok(Val::Scalar(lo))), Some(Ok(Val::Scalar(hi)))) => {
                        Ok(Val::Range(lo, Some(hi)))
                    }
                    _ => unsupported(self.here, "this range"),
                }
            }
            (HostType::Tuple(types), _) => self.lifted_record(&host, types, ty, name),
            (HostType::Struct(_), _) => {
                let types: Vec<Ty> = self.part_types(ty, 0);
                let types = self.host_types(&types)?;
                self.lifted_record(&host, &types, ty, name)
            }
            _ => Ok(Val::Host(host, of)),
        }
    }

    fn lifted_record(
        &mut self,
        host: &HostArg,
        types: &[HostType],
        ty: &Ty,
        name: &str,
    ) -> R<Val<'p>> {
        let fields = self.host_fields(host, types)?;
        let parts = self.part_types(ty, fields.len());
        let mut values = Vec::with_capacity(fields.len());
        for (at, (field, ty)) in fields.into_iter().zip(&parts).enumerate() {
            values.push(self.lifted(field, ty, &format!("{name}.{at}"))?);
        }
        Ok(Val::Record(values))
    }

    fn host_fields(&mut self, host: &HostArg, types: &[HostType]) -> R<Vec<HostArg>> {
        let mut fields = Vec::with_capacity(types.len());
        for (at, ty) in types.iter().enumerate() {
            let kind = HostKind::Field(host.clone(), at);
            fields.push(self.host_value_of(ty.clone(), kind));
        }
        Ok(fields)
    }
}
