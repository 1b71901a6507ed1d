//! Reads `A[i, j else e]`: subscripts against the names of axes.

use einlang_source::{Edit, Name, Span};

use super::layout::{Axis, Coordinate, Layout};
use super::variants::Index;
use super::{Checker, Dep, Val, VariantId};
use crate::errors;
use crate::hir::*;
use crate::types::Ty;

/// The walk over the subscripts of one read.
struct Read<'a> {
    base: ExprId,
    whole: &'a Layout,
    /// The next axis.
    position: usize,
    kept: Vec<Axis>,
    deps: Vec<Dep>,
    /// The bare indices on named axes.
    bare: Vec<(LocalId, Coordinate)>,
    wrong: Vec<Wrong>,
}

/// An index on an axis that it is not.
#[derive(Clone, Copy)]
struct Wrong {
    name: Name,
    /// The index; a coordinate that passes through whole is none.
    local: Option<LocalId>,
    wanted: Coordinate,
    position: usize,
    span: Span,
}

impl Checker<'_> {
    pub(super) fn access(
        &mut self,
        expr: ExprId,
        base: ExprId,
        subscripts: &[Subscript],
        default: Option<ExprId>,
    ) -> Val {
        let whole = self.expr(base);
        let part = self.part(base, &whole, subscripts);
        let Some(default) = default else { return part };
        let other = self.expr(default);
        let layout = self.agree((expr, &part.layout), (default, &other.layout));
        let mut reach = part.reach;
        reach.merge(&other.reach);
        Val { layout, reach }
    }

    /// What subscripts select.
    pub(super) fn part(&mut self, base: ExprId, whole: &Val, subscripts: &[Subscript]) -> Val {
        let mut reach = whole.reach.clone();
        let mut read = Read {
            base,
            whole: &whole.layout,
            position: 0,
            kept: Vec::new(),
            deps: Vec::new(),
            bare: Vec::new(),
            wrong: Vec::new(),
        };
        for subscript in subscripts {
            match subscript {
                Subscript::All(_) => read.keep(),
                Subscript::Index(_) => read.position += 1,
                Subscript::Rest { local: Res::Local(rest), span, .. } => {
                    self.rest_subscript(&mut read, *rest, *span);
                }
                Subscript::Rest { .. } => {}
                Subscript::Expr(expr) => {
                    let tensors = self.subscript(&mut read, *expr);
                    reach.add(&[], &tensors);
                }
            }
        }
        self.report_wrong(&read);
        self.check_repeated(&read, subscripts);
        let mut axes = read.kept;
        axes.extend_from_slice(whole.layout.axes.get(read.position..).unwrap_or_default());
        reach.add(&read.deps, &[]);
        Val { layout: Layout { axes, ..whole.layout.clone() }, reach }
    }

    /// One subscript; gives the tensors that it reads itself.
    fn subscript(&mut self, read: &mut Read<'_>, expr: ExprId) -> Vec<Name> {
        let axis = read.axis();
        match self.body().kind(expr) {
            ExprKind::Coordinate(name) => {
                self.pass_through(read, name.name, name.span);
                read.keep();
            }
            ExprKind::Name(Res::Local(local)) if self.place.call_indices.contains(local) => {
                self.index_on(read, *local, axis, self.span(expr));
                let name = self.body()[*local].name.name;
                let marker = Coordinate { name, local: Some((self.body_id(), *local)) };
                read.keep();
                if let (None, Some(kept)) = (axis.coordinate, read.kept.last_mut()) {
                    *kept = Axis::named(marker);
                }
            }
            ExprKind::Name(Res::Local(local)) if self.passes_whole(*local) => {
                let name = self.body()[*local].name.name;
                self.pass_through(read, name, self.span(expr));
                read.keep();
            }
            ExprKind::Name(Res::Local(local)) if self.body()[*local].kind == LocalKind::Index => {
                self.index_on(read, *local, axis, self.span(expr));
                read.deps.push(Dep::Index(*local));
                read.position += 1;
            }
            _ => {
                let val = self.expr(expr);
                read.deps.extend(val.reach.deps);
                match self.ty(expr) {
                    Ty::Range(_) => read.keep(),
                    _ => read.position += 1,
                }
                return val.reach.tensors;
            }
        }
        Vec::new()
    }

    /// A coordinate of the function in the arguments of a coordinate call, which types pass whole.
    fn passes_whole(&self, local: LocalId) -> bool {
        self.place.n_calls > 0 && matches!(self.body()[local].kind, LocalKind::Extent(None))
    }

    /// A coordinate that passes through whole must be the name of its axis.
    fn pass_through(&mut self, read: &mut Read<'_>, name: Name, span: Span) {
        if let Some(wanted) = read.axis().strict().filter(|wanted| wanted.name != name) {
            let position = read.position;
            read.wrong.push(Wrong { name, local: None, wanted, position, span });
        }
    }

    /// Checks a bare index against its axis, and tells it what it ranges over.
    pub(super) fn index_on_axis(&mut self, local: LocalId, axis: Axis) -> bool {
        let name = self.body()[local].name.name;
        let Some(home) = self.index_home(local) else { return true };
        let Some(index) = self.works[home.index()].indices.get_mut(&local) else { return true };
        index.carried = index.carried.on(axis);
        let Some(wanted) = axis.strict() else { return true };
        let right = match index.declared {
            Some(declared) => declared.name == wanted.name,
            None => index.ranged || name == wanted.name,
        };
        index.wrong |= !right;
        right
    }

    /// The variant that binds an index: this one, or one that it is a lambda of.
    pub(super) fn index_home(&self, local: LocalId) -> Option<VariantId> {
        let mut at = Some(self.cur);
        while let Some(id) = at {
            let work = &self.works[id.index()];
            if work.indices.contains_key(&local) {
                return Some(id);
            }
            let instance = self.typed.instance(work.instance);
            at = work.parent.filter(|_| instance.lambda.is_some());
        }
        None
    }

    fn index(&self, local: LocalId) -> Index {
        let home = self.index_home(local);
        let index = home.and_then(|id| self.works[id.index()].indices.get(&local));
        index.copied().unwrap_or_default()
    }

    fn index_on(&mut self, read: &mut Read<'_>, local: LocalId, axis: Axis, span: Span) {
        let right = self.index_on_axis(local, axis);
        let Some(wanted) = axis.strict() else { return };
        let index = self.index(local);
        if right {
            if index.declared.is_none() && !index.ranged {
                read.bare.push((local, wanted));
            }
            return;
        }
        let (name, position) = (self.body()[local].name.name, read.position);
        read.wrong.push(Wrong { name, local: Some(local), wanted, position, span });
    }

    /// Reports the first wrong index of a read, once per index and coordinate.
    fn report_wrong(&mut self, read: &Read<'_>) {
        let Some(first) = read.wrong.first().copied() else { return };
        let mut fresh = false;
        for wrong in &read.wrong {
            fresh |= match wrong.local {
                Some(local) => self.work_mut().reported.insert((local, wrong.wanted.name)),
                None => true,
            };
        }
        if !fresh {
            return;
        }
        // Indices of this tensor that stand on the wrong axes change places.
        let swapped = |wrong: &&Wrong| {
            let own = read.whole.coordinates().flatten().any(|c| c.name == wrong.name);
            self.index_named(wrong.wanted.name) && own
        };
        let edits = read.wrong.iter().filter(swapped).map(|wrong| Edit {
            span: wrong.span,
            replacement: self.text(wrong.wanted.name).to_string(),
        });
        let edits: Vec<Edit> = edits.collect();
        let declared = first.local.map(|local| {
            let declared = self.index(local).declared;
            let at = self.body()[local].name.span;
            (at, declared.map(|coordinate| self.text(coordinate.name)))
        });
        let (tensor, layout) = (self.snippet(read.base), self.show(read.whole));
        let (index, wanted) = (self.text(first.name), self.text(first.wanted.name));
        self.report(errors::wrong_index(
            (index, declared),
            (&tensor, &layout, first.position),
            wanted,
            edits,
            first.span,
        ));
    }

    /// Whether an index in scope ranges over the coordinate of this name.
    fn index_named(&self, name: Name) -> bool {
        let body = self.body();
        self.place.scope.iter().any(|local| body[*local].name.name == name)
    }

    /// One bare coordinate may stand on a tensor once.
    fn check_repeated(&mut self, read: &Read<'_>, subscripts: &[Subscript]) {
        if !read.wrong.is_empty() {
            return;
        }
        for (position, (local, coordinate)) in read.bare.iter().enumerate() {
            if !read.bare[..position].iter().any(|(before, _)| before == local) {
                continue;
            }
            let spans: Vec<Span> = subscripts
                .iter()
                .filter_map(|subscript| match subscript {
                    Subscript::Expr(expr) => match self.body().kind(*expr) {
                        ExprKind::Name(Res::Local(other)) if other == local => {
                            Some(self.span(*expr))
                        }
                        _ => None,
                    },
                    _ => None,
                })
                .collect();
            let (Some(first), Some(second)) = (spans.first(), spans.get(1)) else { continue };
            let (tensor, layout) = (self.snippet(read.base), self.show(read.whole));
            let name = self.text(coordinate.name);
            self.report(errors::repeated_coordinate(name, &tensor, &layout, *second, *first));
            return;
        }
    }

    /// A rest takes the names of the axes it stands for, the same on every tensor.
    fn rest_subscript(&mut self, read: &mut Read<'_>, rest: LocalId, span: Span) {
        let n_axes = self.rest_rank(rest).unwrap_or(0);
        for position in 0..n_axes {
            let axis = read.axis();
            read.position += 1;
            read.deps.push(Dep::Rest(rest, position as u32));
            let Some(carried) = self.work_mut().rests.get_mut(&rest) else { continue };
            let Some(carried) = carried.get_mut(position) else { continue };
            let before = carried.axis();
            *carried = carried.on(axis);
            let (Some(before), Some(found)) = (before.strict(), axis.strict()) else { continue };
            if before.name != found.name {
                let (tensor, layout) = (self.snippet(read.base), self.show(read.whole));
                let name = self.text(self.body()[rest].name.name);
                let (before, found) = (self.text(before.name), self.text(found.name));
                self.report(errors::rest_differs(name, (before, found), (&tensor, &layout), span));
                return read.position += n_axes - position - 1;
            }
        }
    }
}

impl Read<'_> {
    fn axis(&self) -> Axis {
        self.whole.axes.get(self.position).copied().unwrap_or_default()
    }

    fn keep(&mut self) {
        self.kept.push(self.axis());
        self.position += 1;
    }
}
