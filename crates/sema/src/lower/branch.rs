//! `if` and `match`: lazy choices in tensor code, blocks on the host.

use std::rc::Rc;

use einlang_tir::constant::Const;
use einlang_tir::host::{Block, HostArg, HostDef, HostKind, HostType};
use einlang_tir::types::Elem;

use super::module::loc;
use super::value::{Form, R, Scalar, Val};
use super::{Lower, unsupported};
use crate::hir::{Arm, BinaryOp, ExprId};
use crate::types::Ty;

impl<'p> Lower<'p> {
    pub(super) fn eval_if(
        &mut self,
        condition: ExprId,
        then: ExprId,
        otherwise: Option<ExprId>,
        expr: ExprId,
    ) -> R<Val<'p>> {
        let conditions = &self.typed.instance(self.frame.instance).conditions;
        if let Some(known) = conditions.get(&condition).or_else(|| conditions.get(&expr)) {
            return match (known, otherwise) {
                (true, _) => self.eval(then),
                (false, Some(otherwise)) => self.eval(otherwise),
                (false, None) => Ok(Val::unit()),
            };
        }
        let value = self.eval(condition)?;
        let condition = self.expect_scalar(value, self.here)?;
        if self.in_region() || (!self.host_scalars && self.is_tensor_code(expr)) {
            let arms = [then].into_iter().chain(otherwise).collect();
            return self.with_requests(arms, |cx| {
                let frame = cx.frame.clone();
                let arm = move |body: Option<ExprId>| {
                    let frame = frame.clone();
                    Rc::new(move |cx: &mut Lower<'p>| match body {
                        Some(body) => cx.within(frame.clone(), |cx| cx.eval(body)),
                        None => Ok(Val::unit()),
                    })
                };
                cx.select(&condition, expr, arm(Some(then)), arm(otherwise))
            });
        }
        let ty = self.ty(expr);
        self.host_if(
            &condition,
            &ty,
            |cx| cx.eval(then),
            |cx| match otherwise {
                Some(otherwise) => cx.eval(otherwise),
                None => Ok(Val::unit()),
            },
        )
    }

    /// Whether an expression outside of regions belongs into the module.
    pub(super) fn is_tensor_code(&mut self, expr: ExprId) -> bool {
        let ty = self.ty(expr);
        ty != Ty::unit() && self.is_numeric(&ty) && !self.needs_host(expr)
    }

    /// One of two host blocks.
    pub(super) fn host_if(
        &mut self,
        condition: &Scalar,
        ty: &Ty,
        then: impl FnOnce(&mut Self) -> R<Val<'p>>,
        otherwise: impl FnOnce(&mut Self) -> R<Val<'p>>,
    ) -> R<Val<'p>> {
        if let Some(known) = condition.as_const().and_then(|c| c.as_bool()) {
            return if known { then(self) } else { otherwise(self) };
        }
        let condition = self.host_scalar(condition)?;
        let then = self.yielding(Vec::new(), ty, then)?;
        let otherwise = self.yielding(Vec::new(), ty, otherwise)?;
        self.chosen(HostKind::If(condition, then, otherwise), ty)
    }

    /// A block that yields one value of a type, nothing for `()`.
    pub(super) fn yielding(
        &mut self,
        params: Vec<HostDef>,
        ty: &Ty,
        f: impl FnOnce(&mut Self) -> R<Val<'p>>,
    ) -> R<Block> {
        let (block, ()) = self.block(params, |cx| {
            let value = f(cx)?;
            if *ty == Ty::unit() {
                return Ok((Vec::new(), ()));
            }
            Ok((vec![cx.hosted(&value, ty)?], ()))
        })?;
        Ok(block)
    }

    /// The value of an instruction with such blocks.
    pub(super) fn chosen(&mut self, kind: HostKind, ty: &Ty) -> R<Val<'p>> {
        let at = loc(self.here);
        if *ty == Ty::unit() {
            self.flush();
            self.host_inst(Vec::new(), kind, at);
            return Ok(Val::unit());
        }
        let host = self.host_type(ty)?;
        let number = self.new_number();
        self.host_inst(vec![HostDef { number, ty: host }], kind, at);
        self.lifted(HostArg::Value(number), ty, "chosen")
    }

    /// `&&` and `||` whose right side is host code.
    pub(super) fn host_logic(
        &mut self,
        op: BinaryOp,
        condition: &Scalar,
        right: ExprId,
    ) -> R<Val<'p>> {
        let ty = Ty::Scalar(crate::hir::Scalar::Bool);
        let known = Val::Scalar(Scalar::constant(Const::bool(op == BinaryOp::Or)));
        match op {
            BinaryOp::And => self.host_if(condition, &ty, |cx| cx.eval(right), |_| Ok(known)),
            _ => self.host_if(condition, &ty, |_| Ok(known), |cx| cx.eval(right)),
        }
    }

    pub(super) fn eval_match(
        &mut self,
        scrutinee: ExprId,
        arms: &'p [Arm],
        expr: ExprId,
    ) -> R<Val<'p>> {
        let value = self.eval(scrutinee)?;
        let value = self.named(value, "on")?;
        let ty = self.ty(scrutinee);
        if self.in_region() || (!self.host_scalars && self.is_tensor_code(expr)) {
            let values = arms.iter().map(|arm| arm.value).collect();
            return self.with_requests(values, |cx| cx.match_in_order(&value, &ty, arms, expr));
        }
        self.host_match(&value, &ty, arms, expr)
    }

    /// Arms asked one after the other; the last one is known to match.
    fn match_in_order(
        &mut self,
        value: &Val<'p>,
        ty: &Ty,
        arms: &'p [Arm],
        expr: ExprId,
    ) -> R<Val<'p>> {
        let Some((arm, rest)) = arms.split_first() else {
            return unsupported(self.here, "a `match` without arms");
        };
        let test = match rest.is_empty() && arm.guard.is_none() {
            true => Scalar::constant(Const::bool(true)),
            false => self.test(&arm.pattern, value, ty)?,
        };
        let known = test.as_const().and_then(|c| c.as_bool());
        if known == Some(true) && arm.guard.is_none() {
            self.bind_pattern(&arm.pattern, value, ty)?;
            return self.eval(arm.value);
        }
        let (frame, value, ty) = (self.frame.clone(), value.clone(), ty.clone());
        let condition = match arm.guard {
            None => test,
            Some(guard) => {
                let mut ask = |cx: &mut Lower<'p>| {
                    cx.within(frame.clone(), |cx| {
                        cx.bind_pattern(&arm.pattern, &value, &ty)?;
                        let holds = cx.eval(guard)?;
                        cx.expect_scalar(holds, cx.here)
                    })
                };
                let mut no = |_: &mut Lower<'p>| Ok(Scalar::constant(Const::bool(false)));
                self.choose(&test, Elem::Bool, &mut ask, &mut no)?
            }
        };
        let (of, at, around) = (value.clone(), ty.clone(), frame.clone());
        let then = move |cx: &mut Lower<'p>| {
            cx.within(around.clone(), |cx| {
                cx.bind_pattern(&arm.pattern, &of, &at)?;
                cx.eval(arm.value)
            })
        };
        let otherwise = move |cx: &mut Lower<'p>| {
            cx.within(frame.clone(), |cx| cx.match_in_order(&value, &ty, rest, expr))
        };
        self.select(&condition, expr, Rc::new(then), Rc::new(otherwise))
    }

    /// A value for a block that is never reached.
    pub(super) fn dead_value(&mut self, ty: &HostType) -> R<HostArg> {
        let (ty, kind) = match ty {
            HostType::Scalar(elem) => return Ok(HostArg::Const(Const::zero(*elem))),
            HostType::Str => return Ok(HostArg::Str(String::new())),
            HostType::List(_) => (ty.clone(), HostKind::List(Vec::new())),
            HostType::Tensor(elem, rank) => {
                let mut list = HostType::Scalar(*elem);
                for _ in 0..(*rank).max(1) {
                    list = HostType::List(Box::new(list));
                }
                let list = self.host_value_of(list, HostKind::List(Vec::new()));
                let intrinsic = einlang_tir::host::Intrinsic::ListToTensor;
                (ty.clone(), HostKind::Intrinsic(intrinsic, vec![list]))
            }
            HostType::Tuple(types) => {
                let args = types.iter().map(|ty| self.dead_value(ty)).collect::<R<Vec<_>>>()?;
                (ty.clone(), HostKind::Tuple(args))
            }
            HostType::Struct(name) => {
                let types = self.out.types.iter().find_map(|decl| match decl {
                    einlang_tir::host::TypeDecl::Struct { name: own, fields } if own == name => {
                        Some(fields.iter().map(|field| field.1.clone()).collect::<Vec<_>>())
                    }
                    _ => None,
                });
                let types = types.unwrap_or_default();
                let args = types.iter().map(|ty| self.dead_value(ty)).collect::<R<Vec<_>>>()?;
                (ty.clone(), HostKind::Struct(name.clone(), args))
            }
            HostType::Enum(name) => {
                let variants = self.out.types.iter().find_map(|decl| match decl {
                    einlang_tir::host::TypeDecl::Enum { name: own, variants } if own == name => {
                        Some(variants.clone())
                    }
                    _ => None,
                });
                let variants = variants.unwrap_or_default();
                let simplest = variants.iter().min_by_key(|variant| variant.fields.len());
                let Some(variant) = simplest else {
                    return unsupported(self.here, "an enum without variants");
                };
                let (types, label) = (variant.fields.clone(), variant.name.clone());
                let args = types.iter().map(|ty| self.dead_value(ty)).collect::<R<Vec<_>>>()?;
                (ty.clone(), HostKind::Variant(name.clone(), label, args))
            }
            HostType::Fn(..) => return unsupported(self.here, "a function from a `match`"),
        };
        Ok(self.host_value_of(ty, kind))
    }

    /// A host truth value.
    pub(super) fn host_bool(&self, host: HostArg) -> Scalar {
        Scalar { elem: Elem::Bool, form: Form::Host(host) }
    }
}
