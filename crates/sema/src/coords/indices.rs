//! Indices: what they range over, and the reductions that consume them.

use super::layout::{Axis, Coordinate, Layout};
use super::variants::{Carried, Index};
use super::{Checker, Dep, Val};
use crate::builtins::Reduction;
use crate::errors;
use crate::hir::*;
use crate::types::walk;

impl Carried {
    /// What is carried after a use on this axis. A name that must be right wins over one that
    /// came with an argument; two different ones leave nothing.
    pub(super) fn on(self, axis: Axis) -> Carried {
        match (self, axis.coordinate) {
            (carried, None) => carried,
            (Carried::Nothing, Some(_)) => Carried::One(axis),
            (Carried::Mixed, Some(_)) if axis.free => Carried::Mixed,
            (Carried::Mixed, Some(_)) => Carried::Mixed,
            (Carried::One(before), Some(coordinate)) => {
                let same = before.coordinate.is_some_and(|other| other.name == coordinate.name);
                match (same, before.free, axis.free) {
                    (true, true, false) | (false, true, false) => Carried::One(axis),
                    (true, ..) | (false, false, true) => Carried::One(before),
                    _ => Carried::Mixed,
                }
            }
        }
    }

    pub(super) fn axis(self) -> Axis {
        match self {
            Carried::One(axis) => axis,
            Carried::Nothing | Carried::Mixed => Axis::default(),
        }
    }
}

impl Index {
    /// The axis that a definition over this index has.
    pub(super) fn axis(self) -> Axis {
        match self.declared {
            _ if self.wrong => Axis::default(),
            Some(coordinate) => Axis::named(coordinate),
            None => self.carried.axis(),
        }
    }
}

impl Checker<'_> {
    /// Brings indices and rests into scope, and tells which.
    pub(super) fn bind_indices(&mut self, indices: &[Subscript]) -> Vec<Dep> {
        let mut bound = Vec::new();
        for index in indices {
            match index {
                Subscript::Index(binder) => {
                    self.bind_index(binder);
                    bound.push(Dep::Index(binder.local));
                }
                Subscript::Rest { local: Res::Local(rest), of, .. } => {
                    let n_axes = self.rest_rank(*rest).unwrap_or(0);
                    let mut carried = vec![Carried::Nothing; n_axes];
                    if let Some(of) = of {
                        let of = self.expr(*of).layout;
                        for (carried, axis) in carried.iter_mut().zip(of.axes) {
                            *carried = carried.on(axis);
                        }
                    }
                    self.work_mut().rests.insert(*rest, carried);
                    bound.extend((0..n_axes as u32).map(|position| Dep::Rest(*rest, position)));
                }
                Subscript::Rest { .. } | Subscript::All(_) => {}
                Subscript::Expr(expr) => {
                    self.expr(*expr);
                }
            }
        }
        bound
    }

    fn bind_index(&mut self, binder: &IndexBinder) {
        if let Some(range) = binder.range {
            self.expr(range);
        }
        let declared = binder.coordinate.map(|(name, res)| self.declared_coordinate(name, res));
        let index = Index { declared, ranged: binder.range.is_some(), ..Index::default() };
        self.work_mut().indices.insert(binder.local, index);
        self.place.scope.push(binder.local);
    }

    /// What `k: in` names: the coordinate parameter of that name, or the coordinate so spelled.
    fn declared_coordinate(&mut self, name: Ident, res: Res) -> Coordinate {
        let found = match res {
            Res::Local(local) => {
                let body = self.body_id();
                self.extent(body, local)
            }
            Res::Outer(body, local) => self.extent(body, local),
            _ => None,
        };
        found.unwrap_or(Coordinate::named(name.name))
    }

    /// Takes indices out of scope again.
    pub(super) fn leave(&mut self, n_before: usize) {
        self.place.scope.truncate(n_before);
    }

    pub(super) fn reduction(
        &mut self,
        expr: ExprId,
        op: Reduction,
        indices: &[Subscript],
        body: ExprId,
    ) -> Val {
        let n_before = self.place.scope.len();
        let bound = self.bind_indices(indices);
        let mut val = self.expr(body);
        self.leave(n_before);
        self.check_consumed(op.as_str(), indices, body);
        self.consume(expr, bound, &mut val);
        if matches!(op, Reduction::MaxAt | Reduction::MinAt) {
            val.layout = Layout::of_parts(vec![val.layout, Layout::default()]);
        }
        val
    }

    fn consume(&mut self, expr: ExprId, bound: Vec<Dep>, val: &mut Val) {
        val.reach.without(&bound);
        let binding = self.place.binding;
        self.work_mut().consumed.insert(expr, (bound, binding));
    }

    /// `reduce[k](init, |a, b| …)(e)`
    pub(super) fn user_reduction(
        &mut self,
        expr: ExprId,
        indices: &[Subscript],
        init: ExprId,
        combine: ExprId,
        body: ExprId,
    ) -> Val {
        let first = self.expr(init);
        let operator = self.expr(combine);
        let n_before = self.place.scope.len();
        let bound = self.bind_indices(indices);
        let mut val = self.expr(body);
        self.leave(n_before);
        self.check_consumed("reduce", indices, body);
        self.consume(expr, bound, &mut val);
        let state = self.agree((init, &first.layout), (body, &val.layout));
        let args = vec![Some(state.clone()), Some(state.clone())];
        let result = self.call_instance(expr, operator.layout.env, args, &[]);
        val.reach.merge(&first.reach);
        Val { layout: result.map_or(state.clone(), |result| state.joined(&result)), ..val }
    }

    /// A coordinate that is consumed must occur in what is reduced.
    fn check_consumed(&mut self, op: &str, indices: &[Subscript], value: ExprId) {
        let body = self.body();
        for index in indices {
            let Subscript::Index(binder) = index else { continue };
            let Some(coordinate) = self.consumed_coordinate(binder) else { continue };
            let local = einlang_source::map::HashSet::from_iter([binder.local]);
            if walk::mentions(body, value, &local) {
                continue;
            }
            let name = body[binder.local].name;
            let (index, coordinate) = (self.text(name.name), self.text(coordinate.name));
            let layout = self.work().exprs.get(&value).map(|layout| self.show(layout));
            let what = self.snippet(value);
            let (span, at) = (name.span, self.span(value));
            self.report(errors::consumed_absent(
                op,
                (index, coordinate),
                (&what, layout.as_deref()),
                span,
                at,
            ));
        }
    }

    /// The coordinate that a reduction index is, by declaration or by its name.
    fn consumed_coordinate(&mut self, binder: &IndexBinder) -> Option<Coordinate> {
        if binder.range.is_some() {
            return None;
        }
        if let Some((name, res)) = binder.coordinate {
            return Some(self.declared_coordinate(name, res));
        }
        match binder.shadows? {
            Res::Local(local) => {
                let body = self.body_id();
                self.extent(body, local)
            }
            Res::Outer(body, local) => self.extent(body, local),
            _ => None,
        }
    }
}
