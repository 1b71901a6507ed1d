//! Patterns: tests and bindings on values, and the decision trees of host matches.

use einlang_tir::constant::Const;
use einlang_tir::host::{HostArg, HostDef, HostKind, HostType, Intrinsic};
use einlang_tir::op::{Op, Trap};
use einlang_tir::types::{Elem, Ident};

use super::module::loc;
use super::types::elem_of;
use super::value::{R, Scalar, Val};
use super::{Lower, unsupported};
use crate::hir::{Arm, ExprId, Literal, Pattern, PatternKind, Res};
use crate::types::Ty;

/// One arm on its way through a host match: what is still to be tested, and what is bound.
#[derive(Clone)]
struct Row<'p> {
    tests: Vec<(Val<'p>, Ty, &'p Pattern)>,
    binds: Vec<(crate::hir::LocalId, Val<'p>)>,
    arm: &'p Arm,
}

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
        let mut frame =
            super::value::Frame::new(instance, own.body, parent.map(std::rc::Rc::new));
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
    fn test_length(&mut self, items: &[Pattern], value: &Val<'p>) -> R<Scalar> {
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
    fn inner(
        &mut self,
        pattern: &'p Pattern,
        value: &Val<'p>,
        ty: &Ty,
    ) -> R<Vec<(Val<'p>, Ty, &'p Pattern)>> {
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

    fn array_items(
        &mut self,
        items: &'p [Pattern],
        value: &Val<'p>,
        ty: &Ty,
    ) -> R<Vec<(Val<'p>, Ty, &'p Pattern)>> {
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
            return self.from_host(host, ty, "item");
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

    /// Binds the names of a pattern that matches.
    pub(super) fn bind_pattern(&mut self, pattern: &'p Pattern, value: &Val<'p>, ty: &Ty) -> R<()> {
        match &pattern.kind {
            PatternKind::Bind(local, inner) => {
                let named = self.requested(*local, value)?;
                self.frame.bind(*local, named);
                match inner {
                    Some(inner) => self.bind_pattern(inner, value, ty),
                    None => Ok(()),
                }
            }
            PatternKind::Typed(inner, _) => self.bind_pattern(inner, value, ty),
            PatternKind::Rest(Some(local)) => {
                self.frame.bind(*local, value.clone());
                Ok(())
            }
            PatternKind::Tuple(_) | PatternKind::Struct { .. } | PatternKind::Array(_) => {
                for (value, ty, inner) in self.inner(pattern, value, ty)? {
                    self.bind_pattern(inner, &value, &ty)?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// A `match` by host blocks.
    pub(super) fn host_match(
        &mut self,
        value: &Val<'p>,
        ty: &Ty,
        arms: &'p [Arm],
        expr: ExprId,
    ) -> R<Val<'p>> {
        let row = |arm: &'p Arm| Row {
            tests: vec![(value.clone(), ty.clone(), &arm.pattern)],
            binds: Vec::new(),
            arm,
        };
        let result = self.ty(expr);
        self.decide(arms.iter().map(row).collect(), &result)
    }

    fn decide(&mut self, rows: Vec<Row<'p>>, result: &Ty) -> R<Val<'p>> {
        let mut rows = self.simplified(rows)?;
        if rows.is_empty() {
            return self.unreachable(result);
        }
        let first = rows.remove(0);
        let Some((value, ty, pattern)) = first.tests.first().cloned() else {
            for (local, value) in &first.binds {
                self.frame.bind(*local, value.clone());
            }
            let Some(guard) = first.arm.guard else { return self.eval(first.arm.value) };
            let holds = self.eval(guard)?;
            let holds = self.expect_scalar(holds, self.here)?;
            let body = first.arm.value;
            return self.host_if(&holds, result, |cx| cx.eval(body), |cx| cx.decide(rows, result));
        };
        if let Val::Host(host, HostType::Enum(name)) = &value {
            let rows = [vec![first], rows].concat();
            return self.decide_enum(&value, host.clone(), name.clone(), &ty, rows, result);
        }
        let mut matched = first.clone();
        matched.tests.remove(0);
        if rows.is_empty() && first.arm.guard.is_none() {
            // Every value matches some arm, so here it is this one.
            return self.decide(vec![matched], result);
        }
        let test = self.test(pattern, &value, &ty)?;
        let same = [vec![matched], rows.clone()].concat();
        self.host_if(&test, result, |cx| cx.decide(same, result), |cx| cx.decide(rows, result))
    }

    /// Rows without what needs no test: names are bound, records and alternatives taken apart.
    fn simplified(&mut self, rows: Vec<Row<'p>>) -> R<Vec<Row<'p>>> {
        let mut done = Vec::with_capacity(rows.len());
        let mut open: Vec<Row<'p>> = rows;
        open.reverse();
        while let Some(mut row) = open.pop() {
            let splits = |pattern: &Pattern| {
                let kind = &pattern.kind;
                !matches!(
                    kind,
                    PatternKind::Literal(_)
                        | PatternKind::Range { .. }
                        | PatternKind::Variant(..)
                        | PatternKind::Value(_)
                        | PatternKind::Error
                )
            };
            let found = row.tests.iter().position(|(value, _, pattern)| {
                let is_array = matches!(pattern.kind, PatternKind::Array(_));
                let is_enum = matches!(value, Val::Host(_, HostType::Enum(_)));
                let is_variant = is_enum && matches!(pattern.kind, PatternKind::Struct { .. });
                splits(pattern) && !is_array && !is_variant
            });
            let Some(at) = found else {
                done.push(row);
                continue;
            };
            let (value, ty, pattern) = row.tests.remove(at);
            match &pattern.kind {
                PatternKind::Bind(local, inner) => {
                    row.binds.push((*local, value.clone()));
                    row.tests.extend(inner.iter().map(|inner| (value.clone(), ty.clone(), &**inner)));
                    open.push(row);
                }
                PatternKind::Typed(inner, _) => {
                    row.tests.insert(at, (value, ty, inner));
                    open.push(row);
                }
                PatternKind::Rest(local) => {
                    row.binds.extend(local.map(|local| (local, value)));
                    open.push(row);
                }
                PatternKind::Or(patterns) => {
                    for pattern in patterns.iter().rev() {
                        let mut row = row.clone();
                        row.tests.insert(at, (value.clone(), ty.clone(), pattern));
                        open.push(row);
                    }
                }
                PatternKind::Tuple(_) | PatternKind::Struct { .. } => {
                    let inner = self.inner(pattern, &value, &ty)?;
                    row.tests.splice(at..at, inner);
                    open.push(row);
                }
                _ => open.push(row),
            }
        }
        Ok(done)
    }

    /// A host `match` on the variants of one value.
    fn decide_enum(
        &mut self,
        value: &Val<'p>,
        host: HostArg,
        name: Ident,
        ty: &Ty,
        rows: Vec<Row<'p>>,
        result: &Ty,
    ) -> R<Val<'p>> {
        self.flush();
        let on = |row: &Row<'p>| row.tests.iter().position(|test| same_host(&test.0, value));
        let mut arms = Vec::new();
        for (variant, types) in self.variants_of(ty) {
            let hosts = self.host_types(&types)?;
            let params: Vec<HostDef> = hosts
                .into_iter()
                .map(|ty| HostDef { number: self.new_number(), ty })
                .collect();
            let numbers: Vec<u32> = params.iter().map(|param| param.number).collect();
            let block = self.yielding(params, result, |cx| {
                let mut fields = Vec::with_capacity(types.len());
                for (number, ty) in numbers.iter().zip(&types) {
                    fields.push((cx.from_host(HostArg::Value(*number), ty, "field")?, ty.clone()));
                }
                let mut left = Vec::new();
                for row in &rows {
                    let mut row = row.clone();
                    let Some(at) = on(&row) else {
                        left.push(row);
                        continue;
                    };
                    let pattern = row.tests.remove(at).2;
                    if let Some(inner) = cx.variant_tests(pattern, &variant, &fields)? {
                        row.tests.splice(at..at, inner);
                        left.push(row);
                    }
                }
                cx.decide(left, result)
            })?;
            arms.push((Ident::new(&variant), block));
        }
        let _ = name;
        self.chosen(HostKind::Match(host, arms, None), result)
    }

    /// The tests on the fields, if a pattern is of this variant.
    fn variant_tests(
        &mut self,
        pattern: &'p Pattern,
        variant: &str,
        fields: &[(Val<'p>, Ty)],
    ) -> R<Option<Vec<(Val<'p>, Ty, &'p Pattern)>>> {
        let named = |cx: &Self, res: Res| match res {
            Res::Variant(def, at) => cx.variant_name(def, at),
            Res::Builtin(builtin) => builtin.to_string(),
            _ => String::new(),
        };
        Ok(match &pattern.kind {
            PatternKind::Variant(res, items) => (named(self, *res) == variant).then(|| {
                let fields = fields.iter().cloned();
                fields.zip(items).map(|((value, ty), item)| (value, ty, item)).collect()
            }),
            PatternKind::Value(res) => (named(self, *res) == variant).then(Vec::new),
            PatternKind::Struct { res, fields: items, .. } => {
                let (Res::Variant(def, at), true) = (*res, named(self, *res) == variant) else {
                    return Ok(None);
                };
                let names = self.variant_fields(def, at);
                let mut tests = Vec::with_capacity(items.len());
                for (name, item) in items {
                    let name = self.spelling(name.name);
                    if let Some(at) = names.iter().position(|field| field == name) {
                        tests.push((fields[at].0.clone(), fields[at].1.clone(), item));
                    }
                }
                Some(tests)
            }
            _ => return unsupported(pattern.span, "this pattern"),
        })
    }

    fn unreachable(&mut self, ty: &Ty) -> R<Val<'p>> {
        let at = loc(self.here);
        let message = "no arm matches".to_owned();
        self.host_inst(Vec::new(), HostKind::Trap(Trap::Assertion, message), at);
        if *ty == Ty::unit() {
            return Ok(Val::unit());
        }
        let host = self.host_type(ty)?;
        let value = self.dead_value(&host)?;
        self.from_host(value, ty, "dead")
    }
}

fn same_host(a: &Val<'_>, b: &Val<'_>) -> bool {
    match (a, b) {
        (Val::Host(HostArg::Value(a), _), Val::Host(HostArg::Value(b), _)) => a == b,
        _ => false,
    }
}
