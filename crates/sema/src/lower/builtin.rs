//! Functions that the compiler provides.

use einlang_tir::constant::Const;
use einlang_tir::host::{HostArg, HostKind, HostType, Intrinsic};
use einlang_tir::op::Op;
use einlang_tir::region::InstKind;
use einlang_tir::types::{Elem, Loc};

use super::module::loc;
use super::value::{Form, R, Scalar, Val};
use super::{Lower, unsupported};
use crate::builtins::Function;
use crate::formula::Writer;
use crate::hir::{Arg, BinaryOp, ExprId};
use crate::types::Ty;

/// The operation that a function applies to every number.
fn op_of(function: Function) -> Option<Op> {
    let name = match function {
        Function::Pow => return None,
        other => other.as_str(),
    };
    match Op::parse(name) {
        Some(Op::Select | Op::Cast | Op::Bitcast) | None => None,
        op => op,
    }
}

impl<'p> Lower<'p> {
    pub(super) fn builtin(
        &mut self,
        function: Function,
        args: &'p [Arg],
        expr: ExprId,
    ) -> R<Val<'p>> {
        match function {
            Function::Print => return self.print(args),
            Function::Assert => return self.assertion(args),
            Function::Typeof => {
                let jagged = args.first().and_then(|arg| jagged_text(&self.ty(arg.value)));
                if let Some(text) = jagged {
                    return Ok(Val::Host(HostArg::Str(text), HostType::Str));
                }
                let value = args.first().map(|arg| self.host_arg(arg.value)).transpose()?;
                let Some(value) = value else { return unsupported(self.here, "`typeof`") };
                let kind = HostKind::Intrinsic(Intrinsic::TypeOf, vec![value]);
                let text = self.host_value_of(HostType::Str, kind);
                return Ok(Val::Host(text, HostType::Str));
            }
            _ => {}
        }
        let ty = self.ty(expr);
        let mut values = Vec::with_capacity(args.len());
        for arg in args {
            values.push(self.eval(arg.value)?);
        }
        match (function, &values[..]) {
            (Function::ArrayAppend, [list, item]) => self.append(list.clone(), item.clone(), &ty),
            (Function::Converged, [value]) => self.converged(args.first(), value),
            _ if function.has_effect() || function >= Function::Chars => {
                self.host_builtin(function, args, &ty)
            }
            _ => self.elementary(function, values, &ty),
        }
    }

    /// A function of numbers, applied to values.
    pub(super) fn elementary(
        &mut self,
        function: Function,
        args: Vec<Val<'p>>,
        ty: &Ty,
    ) -> R<Val<'p>> {
        match (function, &args[..]) {
            (Function::Len, [value]) => self.length(value).map(Val::Scalar),
            (Function::Shape, [value]) => self.shape(value),
            (Function::Pow, _) => {
                self.map_leaves(&args, ty, |cx, args| cx.binary_op(BinaryOp::Pow, args))
            }
            (Function::Shl | Function::Shr, _) => {
                let Some(op) = op_of(function) else { return unsupported(self.here, "this call") };
                self.map_leaves(&args, ty, move |cx, args| {
                    let elem = args[0].elem;
                    let distance = cx.cast(&args[1], elem)?;
                    cx.apply(op, &[args[0].clone(), distance], elem)
                })
            }
            _ => {
                let Some(op) = op_of(function) else {
                    return unsupported(self.here, format!("`{}` here", function.as_str()));
                };
                self.map_leaves(&args, ty, move |cx, args| {
                    let elems: Vec<Elem> = args.iter().map(|arg| arg.elem).collect();
                    match op.result(&elems, elems[0]) {
                        Ok(elem) => cx.apply(op, args, elem),
                        Err(message) => unsupported(cx.here, message),
                    }
                })
            }
        }
    }

    /// `len(x)`
    pub(super) fn length(&mut self, value: &Val<'p>) -> R<Scalar> {
        match value {
            Val::Host(host, HostType::List(_)) => {
                let kind = HostKind::Intrinsic(Intrinsic::ListLen, vec![host.clone()]);
                let length = self.host_value_of(HostType::Scalar(Elem::I32), kind);
                Ok(Scalar { elem: Elem::I32, form: Form::Host(length) })
            }
            Val::Host(host, HostType::Str) => {
                let kind = HostKind::Intrinsic(Intrinsic::Chars, vec![host.clone()]);
                let chars = self.host_value_of(HostType::Tensor(Elem::I32, 1), kind);
                let value = self.host_tensor("chars", Elem::I32, 1, chars);
                self.length(&value)
            }
            _ => match self.extents_of(value)?.into_iter().next() {
                Some(extent) => Ok(self.index_scalar(Elem::I32, extent)),
                None => unsupported(self.here, "the length of this value"),
            },
        }
    }

    /// `shape(x)`
    fn shape(&mut self, value: &Val<'p>) -> R<Val<'p>> {
        let extents = self.extents_of(value)?;
        let scalars: Vec<Val<'p>> = extents
            .into_iter()
            .map(|extent| Val::Scalar(self.index_scalar(Elem::I32, extent)))
            .collect();
        Ok(self.stacked(scalars, Elem::I32, 1))
    }

    fn print(&mut self, args: &'p [Arg]) -> R<Val<'p>> {
        let mut values = Vec::with_capacity(args.len());
        for arg in args {
            values.push((self.printable(arg.value)?, self.ty(arg.value)));
        }
        let mut operands = Vec::with_capacity(args.len());
        for (value, ty) in &values {
            operands.push(self.shown(value, ty)?);
        }
        self.host_effect(HostKind::Intrinsic(Intrinsic::Print, operands));
        Ok(Val::unit())
    }

    /// A value that can be shown; a differential is the text of its equations.
    pub(super) fn printable(&mut self, expr: ExprId) -> R<Val<'p>> {
        if matches!(self.ty(expr), Ty::Differential(_)) && self.frame.tangents.is_none() {
            let writer = Writer::new(self.program, self.typed, self.interner);
            let text = writer.equations(self.frame.body, self.frame.instance, expr);
            return Ok(Val::Host(HostArg::Str(text), HostType::Str));
        }
        let value = self.eval(expr)?;
        self.settled(&value)
    }

    fn host_builtin(&mut self, function: Function, args: &'p [Arg], ty: &Ty) -> R<Val<'p>> {
        let mut operands = Vec::with_capacity(args.len());
        for arg in args {
            match function == Function::SaveTensors && operands.len() == 3 {
                true => operands.extend(self.tensor_operands(arg.value)?),
                false => operands.push(self.host_arg(arg.value)?),
            }
        }
        let format = |name: &str| HostArg::Str(name.to_owned());
        let (intrinsic, operands) = match function {
            Function::Chars => (Intrinsic::Chars, operands),
            Function::FromChars => (Intrinsic::FromChars, operands),
            Function::ParseI64 => (Intrinsic::ParseInt, operands),
            Function::ParseF64 => (Intrinsic::ParseFloat, operands),
            Function::ReadText => (Intrinsic::ReadText, operands),
            Function::WriteText => (Intrinsic::WriteText, operands),
            Function::FileExists => (Intrinsic::FileExists, operands),
            Function::ListDir => (Intrinsic::ListDir, operands),
            Function::LoadNpy => (Intrinsic::LoadTensor, [vec![format("npy")], operands].concat()),
            Function::LoadCsv => (Intrinsic::LoadTensor, [vec![format("csv")], operands].concat()),
            Function::LoadTensor => (Intrinsic::LoadTensor, operands),
            Function::LoadNpz => (Intrinsic::LoadNamed, [vec![format("npz")], operands].concat()),
            Function::LoadSafetensors => {
                (Intrinsic::LoadNamed, [vec![format("safetensors")], operands].concat())
            }
            Function::Upper => (Intrinsic::Upper, operands),
            Function::Lower => (Intrinsic::Lower, operands),
            Function::SaveTensor => (Intrinsic::SaveTensor, operands),
            Function::SaveTensors => (Intrinsic::SaveNamed, operands),
            _ => return unsupported(self.here, format!("`{}`", function.as_str())),
        };
        self.flush();
        if *ty == Ty::unit() {
            self.host_effect(HostKind::Intrinsic(intrinsic, operands));
            return Ok(Val::unit());
        }
        let host = self.host_type(ty)?;
        let value = self.host_value_of(host, HostKind::Intrinsic(intrinsic, operands));
        self.lifted(value, ty, function.as_str())
    }

    /// The tensors of a record, one operand each.
    fn tensor_operands(&mut self, expr: ExprId) -> R<Vec<HostArg>> {
        let value = self.eval(expr)?;
        let value = self.settled(&value)?;
        let mut operands = Vec::new();
        for leaf in value.leaves() {
            operands.push(match &leaf {
                Val::Tensor(tensor) => self.host_whole(tensor)?,
                Val::Scalar(scalar) => {
                    let host = self.host_scalar(scalar)?;
                    let kind = HostKind::Intrinsic(Intrinsic::Scalar, vec![host]);
                    self.host_value_of(HostType::Tensor(scalar.elem, 0), kind)
                }
                _ => return unsupported(self.here, "saving values that are not numbers"),
            });
        }
        Ok(operands)
    }

    /// `e as T`
    pub(super) fn eval_cast(&mut self, value: ExprId, expr: ExprId) -> R<Val<'p>> {
        let (from, to) = (self.ty(value), self.ty(expr));
        let inner = self.eval(value)?;
        let Some((elem, _)) = super::types::numbers(&to) else {
            return if from.without_extents() == to.without_extents() {
                Ok(inner)
            } else {
                unsupported(self.here, "this cast")
            };
        };
        if matches!(inner, Val::Host(..)) {
            return unsupported(self.here, "a cast of this value");
        }
        let same = super::types::numbers(&from).is_some_and(|(from, _)| from == elem);
        if same {
            return Ok(inner);
        }
        self.map_leaves(&[inner], &to, move |cx, args| cx.cast(&args[0], elem))
    }

    /// `x in xs`
    pub(super) fn membership(&mut self, item: ExprId, list: ExprId) -> R<Val<'p>> {
        let value = self.eval(item)?;
        let among = self.eval(list)?;
        match (&value, &among) {
            (Val::Scalar(x), Val::Range(lo, hi)) => {
                let low = self.apply(Op::Ge, &[x.clone(), lo.clone()], Elem::Bool)?;
                let Some(hi) = hi else { return Ok(Val::Scalar(low)) };
                let high = self.apply(Op::Lt, &[x.clone(), hi.clone()], Elem::Bool)?;
                self.apply(Op::And, &[low, high], Elem::Bool).map(Val::Scalar)
            }
            (Val::Scalar(x), Val::Tensor(tensor)) => self.is_element(x, tensor),
            (_, Val::Host(host, HostType::List(_))) if !self.in_region() => {
                let ty = self.ty(item);
                let wanted = self.hosted(&value, &ty)?;
                let _ = host;
                let list_ty = self.ty(list);
                let no = HostArg::Const(Const::bool(false));
                let start = vec![(no, HostType::Scalar(Elem::Bool))];
                let found = self.host_loop(&among, &list_ty, start, |cx, item, ty, carried| {
                    let item = cx.hosted(item, ty)?;
                    let kind = HostKind::Intrinsic(Intrinsic::Equal, vec![item, wanted.clone()]);
                    let equal = cx.host_value_of(HostType::Scalar(Elem::Bool), kind);
                    let kind = HostKind::Op(Op::Or, vec![carried[0].clone(), equal]);
                    Ok(vec![cx.host_value_of(HostType::Scalar(Elem::Bool), kind)])
                })?;
                Ok(Val::Scalar(self.host_bool(found[0].clone())))
            }
            _ => unsupported(self.here, "`in` on these values"),
        }
    }

    fn is_element(&mut self, x: &Scalar, tensor: &super::value::Tensor<'p>) -> R<Val<'p>> {
        let span = self.here;
        if !self.in_region() {
            let name = self.fresh("v");
            let id = self.define_scalar(&name, span, |cx| {
                let value = cx.is_element(x, tensor)?;
                cx.expect_scalar(value, span)
            })?;
            return Ok(Val::named(Elem::Bool, 0, id));
        }
        let extents = self.extents(tensor)?;
        let axes: Vec<einlang_tir::module::Axis> = extents
            .into_iter()
            .map(|extent| einlang_tir::module::Axis {
                var: self.new_index("k"),
                dim: extent.into(),
            })
            .collect();
        let at: Vec<_> = axes
            .iter()
            .map(|axis| einlang_tir::region::Subscript::Index(axis.var.into()))
            .collect();
        let (body, _) = self.scalar_region(|cx| {
            let item = cx.element(tensor, &at, true, span)?;
            cx.region_op(Op::Eq, &[item, x.clone()], Elem::Bool, loc(span))
        })?;
        let domain = self.index_result(einlang_tir::module::box_of(&axes), span)?;
        let reduction = einlang_tir::region::Reduction {
            domain: einlang_tir::region::Over(domain),
            guard: None,
            body,
            combine: einlang_tir::region::Combiner::Op(Op::Or),
            start: einlang_tir::region::Start::Identity(vec![Const::bool(false).into()]),
            flags: einlang_tir::region::ReduceFlags {
                commutative: true,
                idempotent: true,
                reassociable: true,
            },
        };
        let kind = InstKind::Reduce(Box::new(reduction));
        Ok(Val::Scalar(self.emit(Elem::Bool, kind, Loc::default())))
    }
}

/// A jagged array of scalars as it is spelled: no value of it need hold one.
fn jagged_text(ty: &Ty) -> Option<String> {
    let Ty::Jagged(element, levels @ 2..) = ty else { return None };
    let Ty::Scalar(scalar) = &**element else { return None };
    Some(match levels {
        2 => format!("jagged[{}]", scalar.as_str()),
        n => format!("jagged[{}; {n}d]", scalar.as_str()),
    })
}
