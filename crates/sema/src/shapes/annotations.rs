//! Written types: sizes are bound or compared, and what cannot be compared is checked.

use einlang_index::{MinMax, Truth};
use einlang_source::Span;

use super::Analyser;
use super::result::{Check, CheckKind};
use super::symbols::Origin;
use super::value::{Shape, natural};
use crate::errors;
use crate::hir::*;
use crate::types::{Callee, FnTy, Ty};

impl Analyser<'_> {
    /// Binds the sizes that a written type names alone on an axis, where they are not bound yet.
    pub(super) fn bind_sizes(&mut self, shape: &Shape, ty: Option<&TypeRef>) {
        let Some(ty) = ty else { return };
        match (&ty.kind, shape) {
            (TypeKind::Tensor(element, dims), Shape::Tensor(extents, inner)) => {
                for (dim, extents) in self.dims_of(dims, extents) {
                    let (Dim::Extent(Res::Local(local), _), [extent]) = (dim, &extents[..]) else {
                        continue;
                    };
                    match self.meaning_before(*local) {
                        // The name is that integer here too.
                        Some(value) => self.bind(*local, Shape::Int(value)),
                        None if !self.is_bound(*local) => self.bind_size(*local, extent.clone()),
                        None => {}
                    }
                }
                self.bind_sizes(inner, Some(element));
            }
            (TypeKind::Tuple(parts), Shape::Record(shapes)) => {
                for (part, shape) in parts.iter().zip(shapes) {
                    self.bind_sizes(shape, Some(part));
                }
            }
            _ => {}
        }
    }

    /// Binds the one size of an expression that nothing else binds, such as `N` in `2 * N`.
    fn solve_sizes(&mut self, dims: &[Dim], extents: &[MinMax]) {
        for (dim, extents) in self.dims_of(dims, extents) {
            let (Dim::Expr(expr), [extent]) = (dim, &extents[..]) else { continue };
            let body = self.body();
            let mut unbound: Vec<LocalId> = Vec::new();
            crate::types::walk::visit(body, vec![*expr], &mut |_, kind| {
                if let ExprKind::Name(Res::Local(local)) = kind
                    && matches!(body[*local].kind, LocalKind::Extent(_))
                {
                    unbound.push(*local);
                }
            });
            unbound.sort_unstable();
            unbound.dedup();
            unbound.retain(|local| !self.is_bound(*local));
            let [local] = unbound[..] else { continue };
            let name = self.text(body[local].name.name).to_owned();
            let var = self.symbols.symbol(&name, Origin::Unbound);
            self.bind(local, Shape::Int(var.into()));
            let Shape::Int(MinMax::Value(value)) = self.closed(|cx| cx.eval(*expr)) else {
                continue;
            };
            let coefficient = value.affine().coeff(var);
            let rest = value.combine(1, &var.into(), -coefficient);
            let room = rest.ok().and_then(|rest| extent.add_scaled(&rest, -1).ok());
            let solved = match (room, coefficient) {
                (Some(room), 1..) => room.floor_div(coefficient).ok(),
                _ => None,
            };
            if let Some(solved) = solved {
                self.symbols.bind(var, Origin::Computed(solved));
                self.facts.nonnegative(var);
            }
        }
    }

    fn bind_size(&mut self, local: LocalId, extent: MinMax) {
        if let Some(var) = extent.as_quasi().and_then(|quasi| quasi.as_var()) {
            // The symbol of the axis is known by the name of the size from here on.
            let name = self.text(self.body()[local].name.name).to_owned();
            self.symbols.rename(var, &name);
        }
        self.bind(local, Shape::Int(extent));
    }

    /// Whether a size stands for a value already.
    fn is_bound(&mut self, local: LocalId) -> bool {
        let known = self.owner_of(Res::Local(local)).is_some_and(|(instance, local)| {
            self.instances[instance.index()].locals.contains_key(&local)
        });
        known || self.meaning_before(local).is_some()
    }

    /// The integer that the name meant before the annotation.
    fn meaning_before(&mut self, local: LocalId) -> Option<MinMax> {
        let LocalKind::Extent(Some(before)) = self.body()[local].kind else { return None };
        let before = match before {
            Res::Local(other) => {
                let is_value =
                    !matches!(self.body()[other].kind, LocalKind::Index | LocalKind::Rest);
                is_value.then_some(before)?
            }
            other => other,
        };
        match self.name_shape(before) {
            Shape::Int(value) => Some(value),
            _ => None,
        }
    }

    /// Each dimension with the axes it stands for.
    fn dims_of<'a>(&self, dims: &'a [Dim], extents: &[MinMax]) -> Vec<(&'a Dim, Vec<MinMax>)> {
        let rests = |dim: &Dim| match dim {
            Dim::Rest(rest, _) => self.rest_width(*rest),
            _ => None,
        };
        let fixed: usize = dims
            .iter()
            .map(|dim| match dim {
                Dim::Rest(..) => rests(dim).unwrap_or(0),
                Dim::AnyRank(_) => 0,
                _ => 1,
            })
            .sum();
        let spare = extents.len().saturating_sub(fixed);
        let mut at = 0;
        let mut result = Vec::new();
        for dim in dims {
            let width = match dim {
                Dim::Rest(..) => rests(dim).unwrap_or(spare),
                Dim::AnyRank(_) => spare,
                _ => 1,
            };
            let end = (at + width).min(extents.len());
            result.push((dim, extents[at.min(end)..end].to_vec()));
            at = end;
        }
        result
    }

    /// The value seen through a written type: its sizes are bound or compared with what they are.
    pub(super) fn annotate(
        &mut self,
        shape: &Shape,
        ty: &TypeRef,
        span: Span,
        what: &str,
    ) -> Shape {
        match (&ty.kind, shape) {
            (TypeKind::Tensor(element, dims), Shape::Tensor(extents, inner)) => {
                self.bind_sizes(shape, Some(ty));
                self.solve_sizes(dims, extents);
                let mut result = Vec::with_capacity(extents.len());
                for (dim, extents) in self.dims_of(dims, extents) {
                    let axis = result.len();
                    result.extend(self.annotated_axes(dim, extents, axis, span, what));
                }
                let inner = self.annotate(inner, element, span, what);
                Shape::tensor(result, inner)
            }
            (TypeKind::Tensor(_, dims), Shape::Ints(values)) => {
                let extents = vec![MinMax::from(values.len() as i64)];
                for (dim, extents) in self.dims_of(dims, &extents) {
                    self.annotated_axes(dim, extents, 0, span, what);
                }
                shape.clone()
            }
            (TypeKind::Tuple(parts), Shape::Record(shapes)) => {
                let annotated =
                    shapes.iter().enumerate().map(|(position, shape)| match parts.get(position) {
                        Some(part) => self.annotate(shape, part, span, what),
                        None => shape.clone(),
                    });
                Shape::Record(annotated.collect())
            }
            _ => shape.clone(),
        }
    }

    /// Compares the extents of a record's fields with the numbers that its declaration says, and with each
    /// other where that gives them one name.
    pub(super) fn fields_fit(&mut self, def: DefId, shapes: &[Shape], span: Span, what: &str) {
        let item = self.program.def(def);
        let DefKind::Struct(declared) = &item.kind else { return };
        let Some(body) = item.inside.or(self.program.modules[item.module].body) else { return };
        let mut sizes: Vec<(LocalId, MinMax)> = Vec::new();
        for (field, shape) in declared.fields.iter().zip(shapes) {
            let what = format!("field `{}` of {what}", self.text(field.name.name));
            match (&field.ty.kind, shape) {
                (TypeKind::Named(Res::Def(inner), _), Shape::Record(parts)) => {
                    self.fields_fit(*inner, parts, span, &what);
                }
                (TypeKind::Tensor(_, dims), Shape::Tensor(..) | Shape::Ints(_))
                    if dims.len() == shape.extents().len() =>
                {
                    for (axis, (dim, found)) in dims.iter().zip(&shape.extents()).enumerate() {
                        let Some((wanted, place)) = self.field_extent(body, dim, found, &mut sizes)
                        else {
                            continue;
                        };
                        self.required(found, &wanted, axis, &what, span, place);
                    }
                }
                _ => {}
            }
        }
    }

    /// What a dimension of a field says: a number, or what the same name is for a field before.
    fn field_extent(
        &self,
        body: BodyId,
        dim: &Dim,
        found: &MinMax,
        sizes: &mut Vec<(LocalId, MinMax)>,
    ) -> Option<(MinMax, Span)> {
        let body = &self.program.bodies[body];
        let number = |body: &Body, expr: ExprId| match body.kind(expr) {
            ExprKind::Literal(Literal::Int(value, _)) => i64::try_from(*value).ok(),
            _ => None,
        };
        match dim {
            Dim::Expr(expr) => Some((MinMax::from(number(body, *expr)?), body.span(*expr))),
            Dim::Extent(Res::Local(local), place) => {
                if let LocalKind::Extent(Some(Res::Def(def))) = body[*local].kind {
                    let DefKind::Const(constant) = &self.program.def(def).kind else { return None };
                    let body = &self.program.bodies[constant.body];
                    return Some((MinMax::from(number(body, body.value?)?), *place));
                }
                let known = sizes.iter().find(|(size, _)| size == local);
                if let Some((_, extent)) = known {
                    return Some((extent.clone(), *place));
                }
                sizes.push((*local, found.clone()));
                None
            }
            _ => None,
        }
    }

    /// A value seen through a written type; what a file holds is compared when it is loaded.
    pub(super) fn annotate_value(
        &mut self,
        shape: &Shape,
        value: ExprId,
        ty: &TypeRef,
        span: Span,
        what: &str,
    ) -> Shape {
        let n_before = self.here().checks.len();
        let annotated = self.annotate(shape, ty, span, what);
        let typed = self.typed;
        let callee = typed.instance(self.cur).calls.get(&value);
        let is_loaded = match callee {
            Some(Callee::Function(FnTy::Builtin(function))) => function.is_loader(),
            Some(Callee::Function(FnTy::Python(_))) => true,
            _ => false,
        };
        if is_loaded {
            let checks = self.here().checks.iter_mut().skip(n_before);
            for check in checks {
                // Tested as soon as it is loaded, before anything is done with it.
                (check.kind, check.conditional) = (CheckKind::Loaded, true);
            }
        }
        annotated
    }

    /// What a statement loads and does no more with is tested with the statement, by the name it gets.
    pub(super) fn test_with_statement(&mut self, value: ExprId) {
        let loaded = match self.body().kind(value) {
            ExprKind::Cast(inner, _) => *inner,
            _ => value,
        };
        if self.condition().is_true() {
            let span = self.span(loaded);
            let checks = self.here().checks.iter_mut();
            for check in
                checks.filter(|check| check.kind == CheckKind::Loaded && check.span == span)
            {
                check.conditional = false;
            }
        }
    }

    fn annotated_axes(
        &mut self,
        dim: &Dim,
        extents: Vec<MinMax>,
        axis: usize,
        span: Span,
        what: &str,
    ) -> Vec<MinMax> {
        let (wanted, place) = match dim {
            Dim::Any(_) | Dim::AnyRank(_) => return extents,
            Dim::Rest(rest, place) => {
                return self.annotated_rest(*rest, extents, axis, *place, span, what);
            }
            Dim::Extent(res, place) => (self.name_shape(*res), *place),
            Dim::Expr(expr) => (self.closed(|cx| cx.eval(*expr)), self.span(*expr)),
        };
        let (Shape::Int(wanted), [found]) = (wanted, &extents[..]) else { return extents };
        let nonnegative = self.facts.simplified(&natural(wanted.clone()));
        if self.facts.compare(&self.symbols.resolved(found), &nonnegative) == Truth::True {
            return extents;
        }
        if self.required(found, &wanted, axis, what, span, place) { vec![wanted] } else { extents }
    }

    /// A rest that occurs again stands for the same extents.
    fn annotated_rest(
        &mut self,
        rest: LocalId,
        extents: Vec<MinMax>,
        axis: usize,
        place: Span,
        span: Span,
        what: &str,
    ) -> Vec<MinMax> {
        let Some(Shape::Tensor(known, _)) = self.here().locals.get(&rest).cloned() else {
            let name = self.text(self.body()[rest].name.name).to_owned();
            for (position, extent) in extents.iter().enumerate() {
                if let Some(var) = extent.as_quasi().and_then(|quasi| quasi.as_var()) {
                    self.symbols.rename(var, &format!("{name}.{position}"));
                }
            }
            self.bind(rest, Shape::Tensor(extents.clone(), Box::new(Shape::Opaque)));
            return extents;
        };
        if known.len() != extents.len() {
            return extents;
        }
        for (position, (found, wanted)) in extents.iter().zip(&known).enumerate() {
            self.required(found, wanted, axis + position, what, span, place);
        }
        known
    }

    /// Compares an extent with what a type says. False when it cannot be so.
    fn required(
        &mut self,
        found: &MinMax,
        wanted: &MinMax,
        axis: usize,
        what: &str,
        span: Span,
        place: Span,
    ) -> bool {
        let names = (format!("axis {axis} of {what}"), "the annotation".to_owned());
        match self.require_equal(found, wanted, CheckKind::Annotation, names, span, (span, place)) {
            Truth::False => {
                let (found, wanted) = (self.symbols.show(found), self.symbols.show(wanted));
                self.report(errors::extent_differs(what, axis, &found, &wanted, span, place));
                false
            }
            _ => true,
        }
    }

    /// Compares two extents; what is not decided is recorded as a check and known from there on.
    pub(super) fn require_equal(
        &mut self,
        left: &MinMax,
        right: &MinMax,
        kind: CheckKind,
        names: (String, String),
        span: Span,
        places: (Span, Span),
    ) -> Truth {
        let (left, right) = (self.symbols.resolved(left), self.symbols.resolved(right));
        let answer = self.facts.compare(&left, &right);
        if answer == Truth::Unknown {
            let varies = !self.frame.scope.is_empty();
            let conditional = varies || !self.condition().is_true();
            if !conditional {
                self.facts.equal(&left, &right);
            }
            let check = Check { left, right, span, places, names, kind, conditional };
            let here = self.here();
            if !here.checks.contains(&check) {
                here.checks.push(check);
            }
        }
        answer
    }

    pub(super) fn rest_width(&self, rest: LocalId) -> Option<usize> {
        let mut at = Some(self.cur);
        while let Some(id) = at {
            let typed = self.typed.instance(id);
            if let Some(width) = typed.rests.get(&rest) {
                return Some(*width as usize);
            }
            at = typed.parent.filter(|_| typed.lambda.is_some());
        }
        None
    }

    /// The type of an input.
    pub(super) fn input_type(&self, input: &Input) -> Ty {
        written_type(self.program, &input.ty)
    }
}

/// A written type without parameters or rests, as far as ranks go.
fn written_type(program: &Program, ty: &TypeRef) -> Ty {
    let inner = |ty: &TypeRef| written_type(program, ty);
    match &ty.kind {
        TypeKind::Scalar(scalar) => Ty::Scalar(*scalar),
        TypeKind::Tensor(element, dims) => Ty::tensor(inner(element), vec![None; dims.len()]),
        TypeKind::Tuple(parts) => Ty::Tuple(parts.iter().map(inner).collect()),
        TypeKind::Named(Res::Def(def), args) => match program.def(*def).kind {
            DefKind::Struct(_) => Ty::Struct(*def, args.iter().map(inner).collect()),
            _ => Ty::Error,
        },
        _ => Ty::Error,
    }
}
