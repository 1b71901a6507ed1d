//! Values of which only the type is known: a symbol for every extent and integer in them.

use einlang_index::MinMax;

use super::Analyser;
use super::frame::{Access, At};
use super::symbols::{Origin, Path, Source};
use super::value::Shape;
use crate::hir::*;
use crate::types::Ty;

/// Records inside records beyond this are taken for endless ones.
const MAX_RECORD_DEPTH: usize = 12;

impl Analyser<'_> {
    /// The shape of an unknown value. Integers become symbols only where `integers` says so: what
    /// an expression yields is no name that an extent could mention.
    pub(super) fn fresh(&mut self, ty: &Ty, source: Source, integers: bool) -> Shape {
        self.fresh_part(ty, source, &mut Vec::new(), integers)
    }

    pub(super) fn fresh_part(
        &mut self,
        ty: &Ty,
        source: Source,
        path: &mut Path,
        integers: bool,
    ) -> Shape {
        if path.len() > MAX_RECORD_DEPTH {
            return Shape::Opaque;
        }
        match ty {
            Ty::Scalar(scalar) if scalar.is_integer() && integers => {
                let name = self.source_name(source);
                let var = self.symbols.symbol(&name, Origin::Value(source, path.clone()));
                if !self.frame.scope.is_empty() {
                    self.local_data.insert(var);
                }
                if scalar.bounds().is_some_and(|(low, _)| low == 0) {
                    self.facts.nonnegative(var);
                }
                Shape::Int(var.into())
            }
            Ty::Tensor(element, extents) => {
                let axes: Vec<MinMax> = (0..extents.len())
                    .map(|axis| match extents[axis] {
                        Some(extent) => MinMax::from(extent as i64),
                        None => self.fresh_axis(source, path, axis, extents.len()),
                    })
                    .collect();
                // The elements of a tensor have no symbols of their own; fields that are tensors do.
                let element = self.fresh_part(element, source, path, false);
                Shape::tensor(axes, element)
            }
            Ty::Tuple(parts) => self.fresh_record(parts.clone(), source, path, integers),
            Ty::Struct(def, args) => match self.field_types(*def, args) {
                Some(parts) => self.fresh_record(parts, source, path, integers),
                None => Shape::Opaque,
            },
            Ty::Differential(inner) => self.fresh_part(inner, source, path, integers),
            Ty::Range(_) => {
                let name = self.source_name(source);
                let mut end = |what: &str, part: usize| {
                    let path = [&path[..], &[part]].concat();
                    self.symbols.symbol(&format!("{name}.{what}"), Origin::Value(source, path))
                };
                Shape::range(end("start", 0).into(), Some(end("end", 1).into()))
            }
            _ => Shape::Opaque,
        }
    }

    fn fresh_record(
        &mut self,
        parts: Vec<Ty>,
        source: Source,
        path: &mut Path,
        integers: bool,
    ) -> Shape {
        let mut shapes = Vec::with_capacity(parts.len());
        for (position, part) in parts.iter().enumerate() {
            path.push(position);
            shapes.push(self.fresh_part(part, source, path, integers));
            path.pop();
        }
        Shape::Record(shapes)
    }

    /// A symbol for the extent of an axis.
    pub(super) fn fresh_axis(
        &mut self,
        source: Source,
        path: &Path,
        axis: usize,
        n_axes: usize,
    ) -> MinMax {
        let name = self.source_name(source);
        let name = match n_axes {
            1 => format!("len({name})"),
            _ => format!("{name}.shape[{axis}]"),
        };
        let var = self.symbols.symbol(&name, Origin::Axis(source, path.clone(), axis));
        self.facts.nonnegative(var);
        var.into()
    }

    /// What to call a value in an expression.
    pub(super) fn source_name(&self, source: Source) -> String {
        match source {
            Source::Param(instance, position) => {
                let instance = self.typed.instance(instance);
                let body = &self.program.bodies[instance.body];
                let params = match instance.lambda {
                    Some(closure) => match body.kind(self.typed.closures[closure.index()].1) {
                        ExprKind::Lambda { params, .. } => params,
                        _ => return "?".to_owned(),
                    },
                    None => &body.params,
                };
                match params.get(position).map(|param| bound_name(&param.pattern)) {
                    Some(Some(local)) => self.text(body[local].name.name).to_owned(),
                    _ => format!("argument {}", position + 1),
                }
            }
            Source::Input(def) => self.text(self.program.def(def).name.name).to_owned(),
            Source::Local(instance, local) => {
                let body = &self.program.bodies[self.typed.instance(instance).body];
                self.text(body[local].name.name).to_owned()
            }
            Source::Expr(instance, expr) => {
                let body = &self.program.bodies[self.typed.instance(instance).body];
                self.describe(body, expr)
            }
        }
    }

    /// A short name for an expression.
    pub(super) fn describe(&self, body: &Body, expr: ExprId) -> String {
        match body.kind(expr) {
            ExprKind::Name(res) => self.res_name(body, *res),
            ExprKind::Call { callee, .. } | ExprKind::CoordCall { callee, .. } => {
                format!("{}(…)", self.describe(body, *callee))
            }
            ExprKind::Field(base, field) => {
                format!("{}.{}", self.describe(body, *base), self.text(field.name))
            }
            ExprKind::Access { base, .. } => format!("{}[…]", self.describe(body, *base)),
            ExprKind::Array(_) => "[…]".to_owned(),
            ExprKind::Comprehension { .. } => "[… | …]".to_owned(),
            _ => "(…)".to_owned(),
        }
    }

    /// A read in the names of the source, such as `h[t - 1, :]`.
    pub(super) fn show_access(&mut self, access: &Access) -> String {
        let (instance, local) = access.binding;
        let extents = self.local_shape(instance, local).extents();
        let body = &self.program.bodies[self.typed.instance(instance).body];
        let name = self.text(body[local].name.name);
        let show = |(axis, at): (usize, &At)| match at {
            At::Point(value) => self.symbols.show(&MinMax::from(value.clone())),
            At::Data => "…".to_owned(),
            At::Part(low, high)
                if low.as_constant() == Some(0) && extents.get(axis) == Some(high) =>
            {
                ":".to_owned()
            }
            At::Part(low, high) => {
                format!("{}..{}", self.symbols.show(low), self.symbols.show(high))
            }
        };
        let at: Vec<String> = access.at.iter().enumerate().map(show).collect();
        if at.is_empty() { name.to_owned() } else { format!("{name}[{}]", at.join(", ")) }
    }

    /// The types of the fields of a struct.
    pub(super) fn field_types(&self, def: DefId, args: &[Ty]) -> Option<Vec<Ty>> {
        match &self.program.def(def).kind {
            DefKind::Struct(item) => {
                Some(item.fields.iter().map(|field| field_type(&field.ty, args)).collect())
            }
            _ => None,
        }
    }
}

/// The binding of a pattern that is one name.
pub(super) fn bound_name(pattern: &Pattern) -> Option<LocalId> {
    match &pattern.kind {
        PatternKind::Bind(local, _) => Some(*local),
        PatternKind::Typed(inner, _) => bound_name(inner),
        _ => None,
    }
}

/// A written type of a field, as far as ranks go.
fn field_type(ty: &TypeRef, args: &[Ty]) -> Ty {
    match &ty.kind {
        TypeKind::Scalar(scalar) => Ty::Scalar(*scalar),
        TypeKind::Param(number) => args.get(*number as usize).cloned().unwrap_or(Ty::Error),
        TypeKind::Named(Res::Def(def), inner) => {
            // An enum has no fields that matter here, and is told apart by its definition.
            Ty::Struct(*def, inner.iter().map(|ty| field_type(ty, args)).collect())
        }
        TypeKind::Tensor(element, dims) => {
            Ty::tensor(field_type(element, args), vec![None; dims.len()])
        }
        TypeKind::Tuple(parts) => Ty::Tuple(parts.iter().map(|ty| field_type(ty, args)).collect()),
        _ => Ty::Error,
    }
}
