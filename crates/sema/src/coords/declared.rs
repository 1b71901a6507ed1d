//! Layouts as written in types, and whether values have them.
//!
//! A coordinate in a type names its axis and is compared with what the value carries; sizes,
//! numbers and `?` leave the axis to the value; rests hand on what they stand for.

use einlang_source::map::HashMap;

use super::Checker;
use super::layout::{Axis, Coordinate, Layout, join_axes};
use crate::errors;
use crate::hir::*;
use crate::types::{InstanceId, Ty};

/// What a written layout does to the value's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mode {
    /// A parameter: axes that it does not name take any index inside.
    Param,
    /// An annotation or a declared result.
    Annotation,
    /// `as`: names win without comparison.
    Cast,
}

/// The state of one comparison.
#[derive(Debug)]
pub(super) struct Fit {
    /// The body that the written type belongs to.
    pub(super) body: BodyId,
    /// How many axes each rest stands for.
    pub(super) ranks: HashMap<LocalId, u32>,
    /// The axes of the rests met so far.
    pub(super) rests: HashMap<LocalId, Vec<Axis>>,
    /// The axes of the value where the type has a coordinate parameter.
    pub(super) bound: HashMap<LocalId, Axis>,
    /// The first name that is wanted, and the one that is there.
    pub(super) wrong: Option<(Coordinate, Coordinate)>,
}

/// One axis of a written tensor type.
#[derive(Clone, Copy, Debug)]
pub(super) enum Slot {
    Named(Coordinate),
    Parameter(LocalId, Coordinate),
    Open,
    Rest(LocalId, usize),
}

impl Fit {
    pub(super) fn of_instance(cx: &Checker<'_>, instance: InstanceId) -> Fit {
        let instance = cx.typed.instance(instance);
        Fit::new(instance.body, instance.rests.clone())
    }

    pub(super) fn new(body: BodyId, ranks: HashMap<LocalId, u32>) -> Fit {
        Fit { body, ranks, rests: HashMap::default(), bound: HashMap::default(), wrong: None }
    }
}

impl Checker<'_> {
    /// The layout of a value where this type is written.
    pub(super) fn fit(
        &mut self,
        ty: &TypeRef,
        given: &Layout,
        mode: Mode,
        fit: &mut Fit,
    ) -> Layout {
        match &ty.kind {
            TypeKind::Tensor(element, dims) => {
                let axes = self.fit_axes(dims, given, mode, fit);
                let inner = Layout { axes: Vec::new(), ..given.clone() };
                self.fit(element, &inner, mode, fit).after(axes)
            }
            TypeKind::Tuple(types) if types.len() == given.parts.len() => {
                let pairs = types.iter().zip(&given.parts);
                Layout::of_parts(pairs.map(|(ty, part)| self.fit(ty, part, mode, fit)).collect())
            }
            TypeKind::Tuple(types) => {
                let none = Layout::default();
                Layout::of_parts(types.iter().map(|ty| self.fit(ty, &none, mode, fit)).collect())
            }
            TypeKind::Named(Res::Builtin(_), types) if !given.parts.is_empty() => {
                let mut parts = given.parts.clone();
                for (part, ty) in parts.iter_mut().zip(types) {
                    *part = self.fit(ty, part, mode, fit);
                }
                Layout::of_parts(parts)
            }
            TypeKind::Param(_) if mode == Mode::Param => given.map(&mut Axis::freed),
            _ => given.clone(),
        }
    }

    fn fit_axes(&mut self, dims: &[Dim], given: &Layout, mode: Mode, fit: &mut Fit) -> Vec<Axis> {
        let Some(slots) = self.slots_of(dims, fit) else {
            return given.axes.iter().map(|axis| open_axis(*axis, mode)).collect();
        };
        let known = slots.len() == given.axes.len();
        let mut axes = Vec::new();
        for (position, slot) in slots.into_iter().enumerate() {
            let axis = given.axes.get(position).copied().filter(|_| known).unwrap_or_default();
            axes.push(self.fit_axis(slot, axis, mode, fit));
        }
        axes
    }

    fn fit_axis(&mut self, slot: Slot, axis: Axis, mode: Mode, fit: &mut Fit) -> Axis {
        let compare = |wanted: Option<Coordinate>, fit: &mut Fit| {
            if let (Some(wanted), Some(found)) = (wanted, axis.coordinate)
                && wanted.name != found.name
                && mode != Mode::Cast
            {
                fit.wrong.get_or_insert((wanted, found));
            }
        };
        match slot {
            Slot::Open => open_axis(axis, mode),
            Slot::Named(coordinate) => {
                compare(Some(coordinate), fit);
                Axis::named(coordinate)
            }
            Slot::Parameter(local, coordinate) => {
                if mode != Mode::Param {
                    compare(Some(coordinate), fit);
                    return Axis::named(coordinate);
                }
                let before = fit.bound.get(&local).copied().unwrap_or_default();
                compare(before.coordinate, fit);
                fit.bound.insert(local, join_axes(before, axis));
                Axis::named(coordinate)
            }
            Slot::Rest(rest, position) => {
                let known = fit.rests.get(&rest).and_then(|axes| axes.get(position)).copied();
                let known = known.unwrap_or_default();
                compare(known.coordinate, fit);
                let joined = join_axes(known, axis);
                let axes = fit.rests.entry(rest).or_default();
                axes.resize(axes.len().max(position + 1), Axis::default());
                axes[position] = joined;
                open_axis(joined, mode)
            }
        }
    }

    /// The axes of a written type, or nothing for any rank.
    pub(super) fn slots_of(&mut self, dims: &[Dim], fit: &Fit) -> Option<Vec<Slot>> {
        let mut slots = Vec::new();
        for dim in dims {
            match dim {
                Dim::AnyRank(_) => return None,
                Dim::Any(_) | Dim::Expr(_) => slots.push(Slot::Open),
                Dim::Rest(rest, _) => {
                    let n_axes = fit.ranks.get(rest).copied().unwrap_or(0) as usize;
                    slots.extend((0..n_axes).map(|position| Slot::Rest(*rest, position)));
                }
                Dim::Extent(res, _) => slots.push(self.extent_slot(fit.body, *res)),
            }
        }
        Some(slots)
    }

    fn extent_slot(&mut self, body: BodyId, res: Res) -> Slot {
        let Res::Local(local) = res else { return Slot::Open };
        match self.extent(body, local) {
            Some(coordinate) if coordinate.local.is_some() => Slot::Parameter(local, coordinate),
            Some(coordinate) => Slot::Named(coordinate),
            None => Slot::Open,
        }
    }

    /// The value of an annotated place: what is written, and what is not from the value.
    pub(super) fn annotated(&mut self, ty: &TypeRef, value: ExprId, found: &Layout) -> Layout {
        let mut fit = self.fit_here();
        let layout = self.fit(ty, found, Mode::Annotation, &mut fit);
        if fit.wrong.is_some() {
            let wanted = self.spell(ty, fit.body);
            let (found, span) = (self.show(found), self.tail_span(value));
            self.report(errors::annotation_layout(&wanted, &found, span, ty.span));
        }
        layout
    }

    /// The value of a function against its declared result.
    pub(super) fn check_return(&mut self, ret: &TypeRef, value: ExprId, found: &Layout) -> Layout {
        let mut fit = self.fit_here();
        fit.rests = self.work().declared_rests.clone();
        let layout = self.fit(ret, found, Mode::Annotation, &mut fit);
        if let Some((wanted, carried)) = fit.wrong {
            let declared = self.spell(ret, fit.body);
            let (shown, span) = (self.show(found), self.tail_span(value));
            let what = self.snippet(value);
            let (wanted, carried) = (self.text(wanted.name), self.text(carried.name));
            self.report(errors::return_layout(
                &what, &declared, &shown, wanted, carried, span, ret.span,
            ));
        }
        layout
    }

    /// The result as far as the signature tells it.
    pub(super) fn declared_result(&mut self) -> Layout {
        let (body, instance) = (self.body(), self.typed.instance(self.work().instance));
        let unnamed = super::exprs::unnamed(&instance.ret);
        let Some(ret) = body.ret.as_ref().filter(|_| instance.lambda.is_none()) else {
            return unnamed;
        };
        let given = self.work().given.clone();
        for (param, layout) in body.params.iter().zip(given) {
            self.learn_rests(param, &layout.unwrap_or_default());
        }
        let mut fit = self.fit_here();
        fit.rests = self.work().declared_rests.clone();
        self.fit(ret, &unnamed, Mode::Annotation, &mut fit)
    }

    /// Remembers the axes that the rests in a parameter's type stand for.
    pub(super) fn learn_rests(&mut self, param: &Param, layout: &Layout) {
        let Some(TypeRef { kind: TypeKind::Tensor(_, dims), .. }) = &param.ty else { return };
        let mut fit = self.fit_here();
        fit.rests = std::mem::take(&mut self.work_mut().declared_rests);
        self.fit_axes(dims, layout, Mode::Cast, &mut fit);
        self.work_mut().declared_rests = fit.rests;
    }

    /// A parameter whose argument is not there has its default, or what its type says.
    pub(super) fn param_without_argument(&mut self, param: &Param, ty: Option<&Ty>) -> Layout {
        let found = match param.default {
            Some(default) => self.expr(default).layout,
            None => ty.map(super::exprs::unnamed).unwrap_or_default(),
        };
        match &param.ty {
            Some(ty) => {
                let mut fit = self.fit_here();
                self.fit(ty, &found, Mode::Param, &mut fit)
            }
            None => found.map(&mut Axis::freed),
        }
    }

    pub(super) fn fit_here(&self) -> Fit {
        Fit::new(self.body_id(), self.visible_rests())
    }

    /// The layout of a written type of another body, without a value.
    pub(super) fn written(&mut self, ty: &TypeRef, body: BodyId) -> Layout {
        let mut fit = Fit::new(body, HashMap::default());
        self.fit(ty, &Layout::default(), Mode::Annotation, &mut fit)
    }

    /// The layout that a type states, in its own words.
    pub(super) fn spell(&self, ty: &TypeRef, body: BodyId) -> String {
        let body = &self.program.bodies[body];
        let name = |local: LocalId| body.locals.get(local).map_or("?", |l| self.text(l.name.name));
        match &ty.kind {
            TypeKind::Tensor(_, dims) => {
                let dims = dims.iter().map(|dim| match dim {
                    Dim::Any(_) => "?".to_string(),
                    Dim::AnyRank(_) => "*".to_string(),
                    Dim::Rest(rest, _) => format!("..{}", name(*rest)),
                    Dim::Extent(Res::Local(local), _) => name(*local).to_string(),
                    Dim::Extent(..) | Dim::Expr(_) => "_".to_string(),
                });
                format!("[{}]", dims.collect::<Vec<_>>().join(", "))
            }
            TypeKind::Tuple(types) => {
                let parts: Vec<String> =
                    types.iter().map(|ty| self.spell(ty, self.body_id())).collect();
                format!("({})", parts.join(", "))
            }
            _ => "[]".to_string(),
        }
    }

    /// The place of the value itself, inside blocks.
    pub(super) fn tail_span(&self, value: ExprId) -> einlang_source::Span {
        self.body().span(self.tail(value))
    }

    fn tail(&self, value: ExprId) -> ExprId {
        let (body, mut tail) = (self.body(), value);
        while let ExprKind::Block(Block { value: Some(inner), .. }) = body.kind(tail) {
            tail = *inner;
        }
        tail
    }

    /// What a value is called in a message.
    pub(super) fn snippet(&self, value: ExprId) -> String {
        let body = self.body();
        match body.kind(self.tail(value)) {
            ExprKind::Name(Res::Local(local)) => self.text(body[*local].name.name).to_string(),
            ExprKind::Name(Res::Outer(body, local)) => {
                self.text(self.program.bodies[*body][*local].name.name).to_string()
            }
            ExprKind::Name(Res::Def(def)) => {
                self.text(self.program.def(*def).name.name).to_string()
            }
            ExprKind::Field(base, field) => {
                format!("{}.{}", self.snippet(*base), self.text(field.name))
            }
            ExprKind::Access { base, .. } => self.snippet(*base),
            ExprKind::Call { callee, .. } | ExprKind::CoordCall { callee, .. } => {
                format!("{}(…)", self.snippet(*callee))
            }
            _ => "this value".to_string(),
        }
    }
}

fn open_axis(axis: Axis, mode: Mode) -> Axis {
    if mode == Mode::Param { axis.freed() } else { axis }
}
