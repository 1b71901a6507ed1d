//! What names stand for: the layouts of bindings in the variant that binds them, and which sizes
//! are coordinates.

use einlang_source::map::HashMap;

use super::layout::{Coordinate, Layout};
use super::{Checker, Val, VariantId};
use crate::hir::*;
use crate::types::{FnTy, Ty};

impl Checker<'_> {
    pub(super) fn name_val(&mut self, res: Res, expr: ExprId) -> Val {
        match res {
            Res::Local(local) => self.local_val(local),
            Res::Outer(body, local) => self.outer_val(body, local),
            Res::Def(def) => Val { layout: self.def_layout(def, expr), ..Val::default() }
                .reading(self.program.def(def).name.name),
            _ => Val::default(),
        }
    }

    fn local_val(&mut self, local: LocalId) -> Val {
        let body = self.body();
        let name = body[local].name.name;
        match body[local].kind {
            LocalKind::Index => Val::of_index(local),
            LocalKind::Extent(_) | LocalKind::Rest => Val::default(),
            _ => self.bound_val(Some(self.cur), local).reading(name),
        }
    }

    /// A binding in this variant, or in those that it is a lambda of.
    fn bound_val(&self, from: Option<VariantId>, local: LocalId) -> Val {
        let mut at = from;
        while let Some(id) = at {
            let work = &self.works[id.index()];
            if let Some(layout) = work.locals.get(&local) {
                let reach = work.reaches.get(&local).cloned().unwrap_or_default();
                return Val { layout: layout.clone(), reach };
            }
            let instance = self.typed.instance(work.instance);
            at = work.parent.filter(|_| instance.lambda.is_some());
        }
        Val::default()
    }

    fn outer_val(&mut self, body: BodyId, local: LocalId) -> Val {
        let found = &self.program.bodies[body][local];
        if matches!(found.kind, LocalKind::Index | LocalKind::Extent(_)) {
            return Val::default();
        }
        let name = found.name.name;
        let owner = self.owner(body);
        let layout = self.bound_val(owner, local).layout;
        Val { layout, ..Val::default() }.reading(name)
    }

    /// The layout of an item's value.
    fn def_layout(&mut self, def: DefId, expr: ExprId) -> Layout {
        let item = self.program.def(def);
        match &item.kind {
            DefKind::Fn(_) => {
                let captured = matches!(self.ty(expr), Ty::Fn(FnTy::Def(_, Some(_))));
                let owner = item.inside.filter(|_| captured);
                Layout::of_function(owner.and_then(|body| self.owner(body)))
            }
            DefKind::Const(constant) => {
                let instance = self.typed.items.get(&def).copied();
                let variant = instance.and_then(|instance| self.root(instance));
                let found = variant.map(|id| self.works[id.index()].ret.clone());
                let found = found.unwrap_or_default();
                match &constant.ty {
                    Some(ty) => {
                        let mut fit = super::declared::Fit::new(constant.body, HashMap::default());
                        self.fit(ty, &found, super::declared::Mode::Cast, &mut fit)
                    }
                    None => found,
                }
            }
            DefKind::Input(input) => {
                let body = item.inside.or(self.program.modules[item.module].body);
                body.map(|body| self.written(&input.ty, body)).unwrap_or_default()
            }
            DefKind::Rule(_) | DefKind::Struct(_) | DefKind::Enum(_) => Layout::default(),
        }
    }

    /// The coordinate that a size or coordinate of a body is; none for sizes and for names that
    /// are integers already.
    pub(super) fn extent(&mut self, body: BodyId, local: LocalId) -> Option<Coordinate> {
        if let Some(known) = self.extents.get(&(body, local)) {
            return *known;
        }
        let found = self.find_extent(body, local);
        self.extents.insert((body, local), found);
        found
    }

    fn find_extent(&mut self, body: BodyId, local: LocalId) -> Option<Coordinate> {
        let owner = &self.program.bodies[body];
        let found = owner.locals.get(local)?;
        let name = found.name.name;
        let LocalKind::Extent(before) = found.kind else { return None };
        if owner.coordinates.contains(&local) {
            return Some(Coordinate { name, local: Some((body, local)) });
        }
        let is_size = self.text(name).starts_with(char::is_uppercase);
        if is_size || before.is_some_and(|before| self.is_integer(body, before)) {
            return None;
        }
        match before {
            // The coordinate parameter of a function around.
            Some(Res::Outer(outer, local)) if outer != body => {
                let found = &self.program.bodies[outer][local];
                match found.kind {
                    LocalKind::Extent(_) => self.extent(outer, local),
                    _ => Some(Coordinate::named(name)),
                }
            }
            _ => Some(Coordinate::named(name)),
        }
    }

    /// Whether a name was an integer before an annotation used it.
    fn is_integer(&self, body: BodyId, res: Res) -> bool {
        match res {
            Res::Local(local) => self.is_integer_local(body, local),
            Res::Outer(outer, local) => self.is_integer_local(outer, local),
            Res::Def(def) => match &self.program.def(def).kind {
                DefKind::Const(_) => {
                    let instance = self.typed.items.get(&def);
                    instance.is_some_and(|id| is_integer_type(&self.typed.instance(*id).ret))
                }
                DefKind::Input(input) => {
                    matches!(input.ty.kind, TypeKind::Scalar(scalar) if is_integer_scalar(scalar))
                }
                _ => false,
            },
            _ => false,
        }
    }

    fn is_integer_local(&self, body: BodyId, local: LocalId) -> bool {
        match self.program.bodies[body][local].kind {
            LocalKind::Extent(Some(before)) => self.is_integer(body, before),
            LocalKind::Extent(None) => false,
            LocalKind::Index => true,
            _ => {
                let instance = self.firsts.get(&body);
                instance.is_some_and(|id| is_integer_type(self.typed.instance(*id).local(local)))
            }
        }
    }

    /// How many axes each rest in sight stands for.
    pub(super) fn visible_rests(&self) -> HashMap<LocalId, u32> {
        let mut rests = HashMap::default();
        let mut at = Some(self.work().instance);
        while let Some(id) = at {
            let instance = self.typed.instance(id);
            for (rest, rank) in &instance.rests {
                rests.entry(*rest).or_insert(*rank);
            }
            at = instance.parent.filter(|_| instance.lambda.is_some());
        }
        rests
    }

    pub(super) fn rest_rank(&self, rest: LocalId) -> Option<usize> {
        let mut at = Some(self.work().instance);
        while let Some(id) = at {
            let instance = self.typed.instance(id);
            if let Some(rank) = instance.rests.get(&rest) {
                return Some(*rank as usize);
            }
            at = instance.parent.filter(|_| instance.lambda.is_some());
        }
        None
    }
}

fn is_integer_type(ty: &Ty) -> bool {
    matches!(ty, Ty::Scalar(scalar) if is_integer_scalar(*scalar))
}

fn is_integer_scalar(scalar: Scalar) -> bool {
    !matches!(
        scalar,
        Scalar::Bool
            | Scalar::F8e4m3
            | Scalar::F16
            | Scalar::Bf16
            | Scalar::F32
            | Scalar::F64
            | Scalar::Str
    )
}
