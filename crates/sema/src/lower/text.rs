//! Strings, enums, `Option` and `Result`: what only the host handles.

use einlang_syntax::format_spec::{Align, FormatSpec, Presentation, Sign};
use einlang_tir::host::{FormatPart as HostPart, HostArg, HostDef, HostKind, HostType, Intrinsic};
use einlang_tir::op::Op;
use einlang_tir::types::{Elem, Ident};

use super::value::{R, Val};
use super::{Lower, unsupported};
use crate::hir::{
    Arg, BinaryOp, DefId, DefKind, ExprId, ExprKind, FormatPart, Ident as Name, Payload, Res,
};
use crate::types::{Callee, Ty};

impl<'p> Lower<'p> {
    /// A string with interpolations.
    pub(super) fn format(&mut self, parts: &'p [FormatPart]) -> R<Val<'p>> {
        if self.in_region() {
            return unsupported(self.here, "a string inside a tensor body");
        }
        let mut lowered = Vec::with_capacity(parts.len());
        let mut values = Vec::new();
        for part in parts {
            if let FormatPart::Value(expr, _) = part {
                values.push((self.printable(*expr)?, self.ty(*expr)));
            }
        }
        let mut values = values.into_iter();
        for part in parts {
            lowered.push(match part {
                FormatPart::Text(text) => HostPart::Text(text.clone()),
                FormatPart::Value(_, spec) => {
                    let Some((value, ty)) = values.next() else { continue };
                    HostPart::Value(self.shown(&value, &ty)?, spec_text(spec))
                }
            });
        }
        let text = self.host_value_of(HostType::Str, HostKind::Format(lowered));
        Ok(Val::Host(text, HostType::Str))
    }

    /// An operator on strings or enums.
    pub(super) fn host_binary(
        &mut self,
        op: BinaryOp,
        left: Val<'p>,
        right: Val<'p>,
        ty: &Ty,
    ) -> R<Val<'p>> {
        let (a, b) = (self.hosted(&left, ty)?, self.hosted(&right, ty)?);
        let is_str = matches!(left, Val::Host(_, HostType::Str));
        let truth = HostType::Scalar(Elem::Bool);
        let (intrinsic, args, negated) = match op {
            BinaryOp::Add if is_str => {
                let kind = HostKind::Intrinsic(Intrinsic::Concat, vec![a, b]);
                return Ok(Val::Host(self.host_value_of(HostType::Str, kind), HostType::Str));
            }
            BinaryOp::Eq if is_str => (Intrinsic::StrEq, vec![a, b], false),
            BinaryOp::Ne if is_str => (Intrinsic::StrEq, vec![a, b], true),
            BinaryOp::Lt if is_str => (Intrinsic::StrLt, vec![a, b], false),
            BinaryOp::Gt if is_str => (Intrinsic::StrLt, vec![b, a], false),
            BinaryOp::Le if is_str => (Intrinsic::StrLt, vec![b, a], true),
            BinaryOp::Ge if is_str => (Intrinsic::StrLt, vec![a, b], true),
            BinaryOp::Eq => (Intrinsic::Equal, vec![a, b], false),
            BinaryOp::Ne => (Intrinsic::Equal, vec![a, b], true),
            _ => return unsupported(self.here, "this operator on these values"),
        };
        let mut value = self.host_value_of(truth.clone(), HostKind::Intrinsic(intrinsic, args));
        if negated {
            value = self.host_value_of(truth, HostKind::Op(Op::Not, vec![value]));
        }
        Ok(Val::Scalar(self.host_bool(value)))
    }

    /// A variant with what it carries.
    pub(super) fn variant(&mut self, ty: &Ty, name: &str, args: Vec<HostArg>) -> R<Val<'p>> {
        if self.in_region() {
            return unsupported(self.here, "an enum inside a tensor body");
        }
        let host = self.host_type(ty)?;
        let HostType::Enum(of) = &host else { return unsupported(self.here, "this variant") };
        let kind = HostKind::Variant(of.clone(), Ident::new(name), args);
        let value = self.host_value_of(host.clone(), kind);
        Ok(Val::Host(value, host))
    }

    /// `Some(x)`, `E::B(x)`
    pub(super) fn construct_with(
        &mut self,
        ty: &Ty,
        name: &str,
        args: Vec<Val<'p>>,
        types: &[Ty],
    ) -> R<Val<'p>> {
        let declared = self.variants_of(ty).into_iter().find(|variant| variant.0 == name);
        let declared = declared.map_or_else(|| types.to_vec(), |variant| variant.1);
        let mut operands = Vec::with_capacity(args.len());
        for (arg, ty) in args.iter().zip(&declared) {
            let value = self.settled(arg)?;
            operands.push(self.hosted(&value, ty)?);
        }
        self.variant(ty, name, operands)
    }

    /// `P { x: 1.0 }`
    pub(super) fn construct(
        &mut self,
        res: Res,
        fields: &'p [(Name, ExprId)],
        expr: ExprId,
    ) -> R<Val<'p>> {
        let ty = self.ty(expr);
        let names: Vec<String> = match (res, &ty) {
            (Res::Variant(def, at), _) => self.variant_fields(def, at),
            (_, Ty::Struct(def, args)) => {
                self.fields(*def, args).into_iter().map(|field| field.0).collect()
            }
            _ => return unsupported(self.here, "this literal"),
        };
        let mut values: Vec<Option<(Val<'p>, Ty)>> = names.iter().map(|_| None).collect();
        for (name, value) in fields {
            let text = self.spelling(name.name);
            if let Some(at) = names.iter().position(|name| name == text) {
                values[at] = Some((self.eval(*value)?, self.ty(*value)));
            }
        }
        let Some(values) = values.into_iter().collect::<Option<Vec<_>>>() else {
            return unsupported(self.here, "a literal without all its fields");
        };
        let (values, types): (Vec<_>, Vec<_>) = values.into_iter().unzip();
        match res {
            Res::Variant(def, at) => {
                let name = self.variant_name(def, at);
                self.construct_with(&ty, &name, values, &types)
            }
            _ => Ok(Val::Record(values)),
        }
    }

    /// The names of a variant's fields.
    pub(super) fn variant_fields(&self, def: DefId, at: u32) -> Vec<String> {
        let DefKind::Enum(item) = &self.program.def(def).kind else { return Vec::new() };
        match item.variants.get(at as usize).map(|variant| &variant.payload) {
            Some(Payload::Fields(fields)) => {
                fields.iter().map(|field| self.spelling(field.name.name).to_owned()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// One block per variant, each with the fields as values.
    fn match_variants(
        &mut self,
        value: ExprId,
        result: &Ty,
        mut arm: impl FnMut(&mut Self, &str, Vec<Val<'p>>, &[Ty]) -> R<Val<'p>>,
    ) -> R<Val<'p>> {
        let ty = self.ty(value);
        let on = self.host_arg(value)?;
        self.flush();
        let mut arms = Vec::new();
        for (variant, types) in self.variants_of(&ty) {
            let hosts = self.host_types(&types)?;
            let params: Vec<HostDef> =
                hosts.into_iter().map(|ty| HostDef { number: self.new_number(), ty }).collect();
            let numbers: Vec<u32> = params.iter().map(|param| param.number).collect();
            let block = self.yielding(params, result, |cx| {
                let mut fields = Vec::with_capacity(types.len());
                for (number, ty) in numbers.iter().zip(&types) {
                    fields.push(cx.lifted(HostArg::Value(*number), ty, "field")?);
                }
                arm(cx, &variant, fields, &types)
            })?;
            arms.push((Ident::new(&variant), block));
        }
        self.chosen(HostKind::Match(on, arms, None), result)
    }

    /// `x ?> f` and `x !> f`
    pub(super) fn and_then(
        &mut self,
        value: ExprId,
        function: ExprId,
        expr: ExprId,
        on: &str,
    ) -> R<Val<'p>> {
        let result = self.ty(expr);
        let target = self.callee(expr).or_else(|| self.callee(function));
        let (callee, more): (ExprId, &'p [Arg]) = match self.body().kind(function) {
            ExprKind::Call { callee, args } => (*callee, args),
            _ => (function, &[]),
        };
        let is_value = more.is_empty()
            || !matches!(
                self.body().kind(callee),
                ExprKind::Name(Res::Variant(..) | Res::Builtin(_))
            );
        let function = if is_value { self.eval(callee)? } else { Val::unit() };
        let wrapped = self.variants_of(&result).into_iter().find(|variant| variant.0 == on);
        let inner = wrapped.and_then(|variant| variant.1.into_iter().next()).unwrap_or(Ty::Error);
        let own = match &target {
            Some(crate::types::Callee::Instance(id)) => self.typed.instance(*id).ret.clone(),
            _ => inner.clone(),
        };
        let flat = own.without_extents() == result.without_extents();
        self.match_variants(value, &result, |cx, variant, fields, types| {
            if variant == on {
                let ret = if flat { result.clone() } else { inner.clone() };
                let value =
                    cx.pipe(&function, (callee, target.clone()), (fields, types), more, &ret)?;
                if flat {
                    return Ok(value);
                }
                return cx.construct_with(&result, on, vec![value], &[ret]);
            }
            cx.construct_with(&result, variant, fields, types)
        })
    }

    /// A call with what a variant holds as its first argument, and with others after it.
    fn pipe(
        &mut self,
        function: &Val<'p>,
        (callee, target): (ExprId, Option<Callee>),
        (mut values, types): (Vec<Val<'p>>, &[Ty]),
        more: &'p [Arg],
        ret: &Ty,
    ) -> R<Val<'p>> {
        let (mut types, mut names) = (types.to_vec(), vec![None; values.len()]);
        for arg in more {
            values.push(self.eval(arg.value)?);
            types.push(self.ty(arg.value));
            names.push(arg.name);
        }
        match target {
            Some(Callee::Instance(id)) if !more.is_empty() => {
                let placed = self.placed(id, names, values)?;
                let parent = self.parent_of(id, callee)?;
                self.call_instance(id, parent, placed, ret)
            }
            target => self.apply_function(function, target, values, &types, ret),
        }
    }

    /// `x else e`
    pub(super) fn or_else(&mut self, value: ExprId, other: ExprId, expr: ExprId) -> R<Val<'p>> {
        let result = self.ty(expr);
        self.match_variants(value, &result, |cx, variant, fields, _| {
            match (variant, fields.into_iter().next()) {
                ("Some" | "Ok", Some(value)) => Ok(value),
                _ => cx.eval(other),
            }
        })
    }

    /// `x catch |err| e`
    pub(super) fn catch(&mut self, value: ExprId, handler: ExprId, expr: ExprId) -> R<Val<'p>> {
        let result = self.ty(expr);
        let target = self.callee(expr).or_else(|| self.callee(handler));
        let handler = self.eval(handler)?;
        self.match_variants(value, &result, |cx, variant, fields, types| {
            if variant == "Ok" {
                return Ok(fields.into_iter().next().unwrap_or_else(Val::unit));
            }
            cx.apply_function(&handler, target.clone(), fields, types, &result)
        })
    }

    /// `try e`
    pub(super) fn attempt(&mut self, value: ExprId, expr: ExprId) -> R<Val<'p>> {
        let (result, inner) = (self.ty(expr), self.ty(value));
        let (block, ()) = self.block(Vec::new(), |cx| {
            let span = cx.body().span(value);
            let value = cx.eval(value)?;
            cx.checks_in(span)?;
            Ok((vec![cx.hosted(&value, &inner)?], ()))
        })?;
        let host = self.host_type(&result)?;
        let value = self.host_value_of(host.clone(), HostKind::Try(block));
        Ok(Val::Host(value, host))
    }
}

/// A format specification as written.
pub(super) fn spec_text(spec: &FormatSpec) -> String {
    let mut text = String::new();
    text.extend(spec.fill.filter(|_| spec.align.is_some()));
    text.push_str(match spec.align {
        Some(Align::Left) => "<",
        Some(Align::Right) => ">",
        Some(Align::Centre) => "^",
        Some(Align::AfterSign) => "=",
        None => "",
    });
    text.push_str(match spec.sign {
        Sign::Minus => "",
        Sign::Plus => "+",
        Sign::Space => " ",
    });
    text.push_str(if spec.zero { "0" } else { "" });
    text.extend(spec.width.map(|width| width.to_string()));
    text.extend(spec.precision.map(|precision| format!(".{precision}")));
    text.push_str(match spec.presentation {
        Some(Presentation::Decimal) => "d",
        Some(Presentation::Fixed) => "f",
        Some(Presentation::Exponent) => "e",
        Some(Presentation::General) => "g",
        Some(Presentation::Hexadecimal) => "x",
        Some(Presentation::Binary) => "b",
        Some(Presentation::Text) => "s",
        Some(Presentation::Percent) => "%",
        None => "",
    });
    text
}
