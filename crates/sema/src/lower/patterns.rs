//! Patterns: tests and bindings on values.

use einlang_index::VarKind;
use einlang_tir::constant::Const;
use einlang_tir::host::{HostArg, HostKind, HostType, Intrinsic};
use einlang_tir::op::Op;
use einlang_tir::types::Elem;

use super::decide::Test;
use super::types::elem_of;
use super::value::{Form, R, Scalar, Val};
use super::{Lower, unsupported};
use crate::hir::{Literal, LocalId, Pattern, PatternKind, Res};
use crate::shapes::Shape;
use crate::types::Ty;

impl<'p> Lower<'p> {
    /// Whether a value matches a pattern, for values without enums.
    pub(super) fn test(&mut self, pattern: &'p Pattern, value: &Val<'p>, ty: &Ty) -> R<Scalar> {
        let yes = || Scalar::constant(Const::bool(true));
        match &pattern.kind {
            PatternKind::Wildcard | PatternKind::Bind(_, None) => Ok(yes()),
            PatternKind::Bind(_, Some(inner)) | PatternKind::Typed(inner, _) => {
                self.test(inner, value, ty)
            }
            PatternKind::Literal(literal) => self.compare(Op::Eq, value, literal, ty),
            PatternKind::Range { start, end, inclusive } => {
                let low = self.compare(Op::Ge, value, start, ty)?;
                let Some(end) = end else { return Ok(low) };
                let below = if *inclusive { Op::Le } else { Op::Lt };
                let high = self.compare(below, value, end, ty)?;
                self.both(low, high)
            }
            PatternKind::Or(patterns) => {
                let mut any = Scalar::constant(Const::bool(false));
                for pattern in patterns {
                    let one = self.test(pattern, value, ty)?;
                    any = match any.as_const().and_then(|c| c.as_bool()) {
                        Some(false) => one,
                        Some(true) => any,
                        None => self.apply(Op::Or, &[any, one], Elem::Bool)?,
                    };
                }
                Ok(any)
            }
            PatternKind::Value(res) => self.test_value(*res, value, ty),
            PatternKind::Tuple(_) | PatternKind::Struct { .. } | PatternKind::Array(_) => {
                let mut all = match &pattern.kind {
                    PatternKind::Array(items) => self.test_length(items, value)?,
                    _ => yes(),
                };
                for (value, ty, pattern) in self.inner(pattern, value, ty)? {
                    let (known, one) = (all.clone(), (value, ty, pattern));
                    // An element is looked at only if there is one.
                    let mut ask = |cx: &mut Self| cx.test(one.2, &one.0, &one.1);
                    let mut no = |_: &mut Self| Ok(Scalar::constant(Const::bool(false)));
                    all = if self.host_scalars || matches!(one.0, Val::Host(..)) {
                        let next = ask(self)?;
                        self.both(known, next)?
                    } else {
                        self.choose(&known, Elem::Bool, &mut ask, &mut no)?
                    };
                }
                Ok(all)
            }
            PatternKind::Rest(_) => Ok(yes()),
            PatternKind::Error | PatternKind::Variant(..) => {
                unsupported(pattern.span, "this pattern")
            }
        }
    }

    fn both(&mut self, a: Scalar, b: Scalar) -> R<Scalar> {
        match (a.as_const().and_then(|c| c.as_bool()), b.as_const().and_then(|c| c.as_bool())) {
            (Some(true), _) => Ok(b),
            (_, Some(true)) => Ok(a),
            (Some(false), _) => Ok(a),
            _ => self.apply(Op::And, &[a, b], Elem::Bool),
        }
    }

    fn test_value(&mut self, res: Res, value: &Val<'p>, ty: &Ty) -> R<Scalar> {
        let Res::Def(def) = res else { return unsupported(self.here, "this pattern") };
        let Some(instance) = self.typed.items.get(&def).copied() else {
            return unsupported(self.here, "this pattern");
        };
        let own = self.typed.instance(instance);
        let Some(body) = self.body_of(own.body).value else {
            return unsupported(self.here, "this pattern");
        };
        let parent = own.parent.and_then(|parent| self.frame_of(parent));
        let mut frame = super::value::Frame::new(instance, own.body, parent.map(std::rc::Rc::new));
        if let (Some(from), Some(to)) = (elem_of(&own.ret), elem_of(ty)) {
            frame.retype = Some((from, to));
        }
        let constant = self.within(frame, |cx| cx.eval(body))?;
        match (value, &constant) {
            (Val::Scalar(a), Val::Scalar(b)) => {
                self.apply(Op::Eq, &[a.clone(), b.clone()], Elem::Bool)
            }
            (Val::Host(a, HostType::Str), Val::Host(b, HostType::Str)) => {
                let kind = HostKind::Intrinsic(Intrinsic::StrEq, vec![a.clone(), b.clone()]);
                let host = self.host_value_of(HostType::Scalar(Elem::Bool), kind);
                Ok(self.host_bool(host))
            }
            _ => unsupported(self.here, "this pattern"),
        }
    }

    fn compare(&mut self, op: Op, value: &Val<'p>, literal: &Literal, ty: &Ty) -> R<Scalar> {
        match (value, literal) {
            (Val::Scalar(scalar), _) => {
                let elem = elem_of(ty).unwrap_or(scalar.elem);
                let constant = match literal {
                    Literal::Int(n, _) => Const::int(elem, *n),
                    Literal::Float(x, _) => Const::float(elem, *x),
                    Literal::Bool(b) => Const::bool(*b),
                    Literal::Str(_) => return unsupported(self.here, "this pattern"),
                };
                self.apply(op, &[scalar.clone(), Scalar::constant(constant)], Elem::Bool)
            }
            (Val::Host(host, HostType::Str), Literal::Str(text)) if op == Op::Eq => {
                let args = vec![host.clone(), HostArg::Str(text.clone())];
                let kind = HostKind::Intrinsic(Intrinsic::StrEq, args);
                let host = self.host_value_of(HostType::Scalar(Elem::Bool), kind);
                Ok(self.host_bool(host))
            }
            _ => unsupported(self.here, "this pattern"),
        }
    }

    /// Whether a vector is as long as an array pattern wants.
    pub(super) fn test_length(&mut self, items: &[Pattern], value: &Val<'p>) -> R<Scalar> {
        let has_rest = items.iter().any(|item| matches!(item.kind, PatternKind::Rest(_)));
        let n_fixed = items.len() - usize::from(has_rest);
        let op = if has_rest { Op::Ge } else { Op::Eq };
        let length = self.length(value)?;
        let wanted = Scalar::constant(Const::int(length.elem, n_fixed as i128));
        if let Some(known) = length.as_const().and_then(|c| c.as_int()) {
            let fits = if has_rest { known >= n_fixed as i128 } else { known == n_fixed as i128 };
            return Ok(Scalar::constant(Const::bool(fits)));
        }
        self.apply(op, &[length, wanted], Elem::Bool)
    }

    /// The values inside one with their patterns: fields, elements, the rest of an array.
    pub(super) fn inner(
        &mut self,
        pattern: &'p Pattern,
        value: &Val<'p>,
        ty: &Ty,
    ) -> R<Vec<Test<'p>>> {
        match (&pattern.kind, value) {
            (PatternKind::Tuple(items), Val::Record(parts)) => {
                let types = self.part_types(ty, parts.len());
                let parts = parts.iter().cloned().zip(types);
                Ok(parts.zip(items).map(|((value, ty), item)| (value, ty, item)).collect())
            }
            (PatternKind::Struct { fields, .. }, Val::Record(parts)) => {
                let types = self.parts(ty).unwrap_or_default();
                let mut found = Vec::with_capacity(fields.len());
                for (name, item) in fields {
                    let name = self.spelling(name.name);
                    let Some(at) = types.iter().position(|part| part.0 == name) else { continue };
                    found.push((parts[at].clone(), types[at].1.clone(), item));
                }
                Ok(found)
            }
            (PatternKind::Array(items), value) => self.array_items(items, value, ty),
            _ => unsupported(pattern.span, "this pattern"),
        }
    }

    fn array_items(&mut self, items: &'p [Pattern], value: &Val<'p>, ty: &Ty) -> R<Vec<Test<'p>>> {
        let Ty::Tensor(element, extents) = ty else {
            return unsupported(self.here, "an array pattern on this value");
        };
        let item_ty = Ty::tensor((**element).clone(), extents[1..].to_vec());
        let rest_at = items.iter().position(|item| matches!(item.kind, PatternKind::Rest(_)));
        let mut found = Vec::with_capacity(items.len());
        for (at, item) in items.iter().enumerate() {
            let from_end = rest_at.is_some_and(|rest| at > rest);
            let value = if rest_at == Some(at) {
                let PatternKind::Rest(Some(_)) = item.kind else { continue };
                self.middle(value, at, items.len() - at - 1)?
            } else if from_end {
                let length = self.length(value)?;
                let back = Scalar::constant(Const::int(length.elem, (items.len() - at) as i128));
                let elem = length.elem;
                let place = self.apply(Op::Sub, &[length, back], elem)?;
                self.item(value, &place, &item_ty)?
            } else {
                let place = Scalar::constant(Const::int(Elem::I32, at as i128));
                self.item(value, &place, &item_ty)?
            };
            let ty = if rest_at == Some(at) { ty.without_extents() } else { item_ty.clone() };
            found.push((value, ty, item));
        }
        Ok(found)
    }

    /// One element along the first axis.
    pub(super) fn item(&mut self, value: &Val<'p>, at: &Scalar, ty: &Ty) -> R<Val<'p>> {
        if let Val::Host(host, HostType::List(inner)) = value {
            let at = self.host_scalar(at)?;
            let kind = HostKind::Intrinsic(Intrinsic::ListGet, vec![host.clone(), at]);
            let host = self.host_value_of((**inner).clone(), kind);
            return self.lifted(host, ty, "item");
        }
        let point = self.point(at)?;
        self.read_specs(value, &[super::access::Spec::Point(point, false)])
    }

    /// All elements but some at both ends.
    fn middle(&mut self, value: &Val<'p>, before: usize, after: usize) -> R<Val<'p>> {
        let Some(extent) = self.extents_of(value)?.into_iter().next() else {
            return unsupported(self.here, "the rest of this value");
        };
        let less = -((before + after) as i64);
        let length = self.index_result(extent.add_constant(less), self.here)?;
        let slice = super::access::Spec::Slice((before as i64).into(), length, true);
        self.read_specs(value, &[slice])
    }

    /// The variable of a loop over a range is one of the analysis too.
    fn bind_loop_index(&mut self, local: LocalId, value: &Val<'p>) {
        let shapes = self.shapes.instance(self.frame.instance);
        let Some(Shape::Int(index)) = shapes.locals.get(&local) else { return };
        let var = index.as_quasi().and_then(einlang_index::Quasi::as_var);
        let Some(var) = var.filter(|var| var.kind() == VarKind::Index) else { return };
        if let Val::Scalar(Scalar { elem, form: Form::Host(host) }) = value {
            let wide = self.host_cast(host.clone(), *elem, Elem::I64);
            self.frame.bind_host_var(var, wide);
        } else if let Val::Scalar(Scalar { form: Form::Index(module, expr), .. }) = value {
            self.frame.bind_var(var, *module, expr.clone());
        }
    }

    /// Binds the names of a pattern that matches.
    pub(super) fn bind_pattern(&mut self, pattern: &'p Pattern, value: &Val<'p>, ty: &Ty) -> R<()> {
        match &pattern.kind {
            PatternKind::Bind(local, inner) => {
                let name = self.local_name(*local);
                self.give_name(value, &name);
                self.bind_owned(*local, value)?;
                self.bind_loop_index(*local, value);
                match inner {
                    Some(inner) => self.bind_pattern(inner, value, ty),
                    None => Ok(()),
                }
            }
            PatternKind::Typed(inner, _) => self.bind_pattern(inner, value, ty),
            PatternKind::Rest(Some(local)) => self.bind_owned(*local, value),
            PatternKind::Tuple(_) | PatternKind::Struct { .. } | PatternKind::Array(_) => {
                for (value, ty, inner) in self.inner(pattern, value, ty)? {
                    self.bind_pattern(inner, &value, &ty)?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }
}
