//! Coordinate calls `softmax[class](logits[batch, class])`.
//!
//! The call names the coordinate that the function's parameter `c` stands for. The axis is the one
//! of the argument that carries the name; on an argument that is subscripted it is the axis where
//! the name stands, and where a single axis has no name it can only be that one. Which axis it is
//! decides how many axes the rests around `c` stand for, and which axes of the result are read at
//! indices in scope decides its rank. Both are questions of types, so types ask for the
//! [`Placements`] and count again until the answers stay as they are.

use einlang_source::map::HashMap;

use einlang_source::Name;

use super::declared::{Fit, Slot};
use super::layout::{Axis, Coordinate, Layout};
use super::{Checker, Dep, Val};
use crate::errors;
use crate::hir::*;
use crate::types::{Callee, InstanceId, Ty};

/// A coordinate call, as one function makes it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Site {
    pub(crate) body: BodyId,
    pub(crate) call: ExprId,
    /// The axes of the rests in the signature of the function around, which tell its
    /// specialisations of one rank apart.
    pub(crate) around: Vec<(LocalId, u32)>,
}

/// A site and a number of axes: a generic function may make the call at several ranks.
pub(crate) type At = (Site, usize);

/// How the axes of coordinate calls are counted.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Placements {
    /// By the rank of the argument, the axes of the rests around its coordinate.
    pub(crate) rests: HashMap<At, Vec<(LocalId, u32)>>,
    /// By the rank of the function's result, how many of its axes are read at indices in scope.
    pub(crate) n_read: HashMap<At, usize>,
    /// Types have counted otherwise somewhere.
    pub(crate) differ: bool,
}

/// A coordinate parameter with the coordinate that a call gives it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Binding {
    pub(super) parameter: LocalId,
    pub(super) coordinate: Coordinate,
    /// The index of the call.
    index: LocalId,
}

/// Arguments in the order of the parameters.
type Placed = Vec<Option<(Option<ExprId>, Layout)>>;

impl<'p> Checker<'p> {
    pub(super) fn coordinate_call(
        &mut self,
        expr: ExprId,
        callee: ExprId,
        indices: &'p [Subscript],
        args: &[Arg],
    ) -> Val {
        let function = self.expr(callee);
        let n_before = self.place.scope.len();
        self.bind_indices(indices);
        let own: Vec<LocalId> = self.place.scope[n_before..].to_vec();
        let new: Vec<LocalId> =
            own.iter().copied().filter(|l| self.place.call_indices.insert(*l)).collect();
        self.place.n_calls += 1;
        let values: Vec<Val> = args.iter().map(|arg| self.expr(arg.value)).collect();
        self.place.n_calls -= 1;
        for local in new {
            self.place.call_indices.remove(&local);
        }
        self.leave(n_before);
        let operands: Vec<(ExprId, &Val)> =
            args.iter().zip(&values).map(|(arg, val)| (arg.value, val)).collect();
        let mut reach = self.node(expr, &operands);
        reach.deps.retain(|dep| !matches!(dep, Dep::Index(local) if own.contains(local)));
        let calls = &self.typed.instance(self.work().instance).calls;
        let Some(Callee::Instance(instance)) = calls.get(&expr).cloned() else {
            return Val { layout: Layout::default(), reach };
        };
        let bindings = self.bindings(instance, indices);
        let placed = self.placed(instance, args, &values);
        self.check_bindings(expr, instance, &placed, &bindings);
        let env = function.layout.env;
        let (plain, marked) = self.call_placed(expr, instance, env, placed, &bindings);
        let (layout, read_at) = self.read_at_indices(plain, &marked);
        for local in read_at.iter().flatten() {
            reach.add(&[Dep::Index(*local)], &[]);
        }
        let n_read = read_at.iter().flatten().count();
        self.record_read(expr, instance, n_read);
        self.work_mut().read_at.insert(expr, read_at);
        Val { layout: self.without_own(layout, &own), reach }
    }

    /// The function's coordinate parameters with the call's indices.
    fn bindings(&mut self, instance: InstanceId, indices: &[Subscript]) -> Vec<Binding> {
        let body = self.typed.instance(instance).body;
        let parameters = &self.program.bodies[body].coordinates;
        let mut bindings = Vec::new();
        for (parameter, index) in parameters.iter().zip(indices) {
            let Subscript::Index(binder) = index else { continue };
            let declared = self.work().indices.get(&binder.local).and_then(|i| i.declared);
            let name = self.body()[binder.local].name.name;
            let coordinate = declared.unwrap_or(Coordinate::named(name));
            bindings.push(Binding { parameter: *parameter, coordinate, index: binder.local });
        }
        bindings
    }

    /// Checks that each argument has the coordinate where the function wants it, and notes the
    /// axes of the rests that follow from it.
    fn check_bindings(
        &mut self,
        expr: ExprId,
        instance: InstanceId,
        placed: &Placed,
        bindings: &[Binding],
    ) {
        let params = self.params_of(instance);
        for (param, given) in params.iter().zip(placed) {
            let (Some(ty), Some((arg, layout))) = (&param.ty, given) else { continue };
            let TypeKind::Tensor(_, dims) = &ty.kind else { continue };
            let mut rests: HashMap<LocalId, u32> = HashMap::default();
            for binding in bindings {
                let has = |dim: &Dim| matches!(dim, Dim::Extent(Res::Local(l), _) if *l == binding.parameter);
                let Some(at) = dims.iter().position(has) else { continue };
                let (before, after) = (&dims[..at], &dims[at + 1..]);
                match self.position_of(layout, *binding, before, after) {
                    Some(position) => {
                        let n_after = layout.axes.len() - position - 1;
                        split(&mut rests, before, position);
                        split(&mut rests, after, n_after);
                    }
                    None => self.report_unplaced(expr, *arg, layout, *binding, instance),
                }
            }
            self.record_rests(expr, instance, layout.axes.len(), rests);
            self.check_slots(dims, instance, layout, bindings, (*arg).unwrap_or(expr));
        }
    }

    /// The axis that carries the coordinate of a binding.
    fn position_of(
        &self,
        layout: &Layout,
        binding: Binding,
        before: &[Dim],
        after: &[Dim],
    ) -> Option<usize> {
        let marker = Some((self.body_id(), binding.index));
        let carries = |axis: &Axis| {
            axis.coordinate.is_some_and(|coordinate| match coordinate.local {
                Some(local) if Some(local) == marker => true,
                _ => coordinate.name == binding.coordinate.name,
            })
        };
        if let Some(position) = layout.axes.iter().position(carries) {
            return Some(position);
        }
        // Without a name, it can only be the axis that is left.
        let fixed = |dims: &[Dim]| !dims.iter().any(|dim| matches!(dim, Dim::Rest(..)));
        let rank = layout.axes.len();
        let candidates: Vec<usize> = match (fixed(before), fixed(after)) {
            (true, _) => vec![before.len()],
            (_, true) => rank.checked_sub(after.len() + 1).into_iter().collect(),
            _ => (0..rank).collect(),
        };
        let unnamed = |position: &usize| {
            layout.axes.get(*position).is_some_and(|axis| axis.coordinate.is_none())
        };
        match candidates.iter().copied().filter(unnamed).collect::<Vec<_>>()[..] {
            [position] => Some(position),
            _ => None,
        }
    }

    fn report_unplaced(
        &mut self,
        expr: ExprId,
        arg: Option<ExprId>,
        layout: &Layout,
        binding: Binding,
        instance: InstanceId,
    ) {
        let at = arg.unwrap_or(expr);
        if *self.ty(at) == Ty::Error {
            return;
        }
        let (argument, shown) = (self.snippet(at), self.show(layout));
        let function = self.function_name(instance);
        let index = self.body()[binding.index].name;
        let known: Vec<&str> =
            layout.coordinates().flatten().map(|coordinate| self.text(coordinate.name)).collect();
        let coordinate = self.text(binding.coordinate.name);
        let span = self.span(at);
        self.report(errors::no_such_axis(
            &function,
            coordinate,
            (&argument, &shown, layout.axes.len()),
            &known,
            (index.span, span),
        ));
    }

    /// The axis that types counted out for a parameter must be the one that carries its name.
    fn check_slots(
        &mut self,
        dims: &[Dim],
        instance: InstanceId,
        layout: &Layout,
        bindings: &[Binding],
        at: ExprId,
    ) {
        let fit = Fit::of_instance(self, instance);
        let Some(slots) = self.slots_of(dims, &fit) else { return };
        if slots.len() != layout.axes.len() {
            return;
        }
        for (slot, axis) in slots.iter().zip(&layout.axes) {
            let Slot::Parameter(local, _) = slot else { continue };
            let Some(binding) = bindings.iter().find(|b| b.parameter == *local) else { continue };
            let Some(found) = axis.coordinate else { continue };
            let own = found.local == Some((self.body_id(), binding.index));
            let elsewhere = layout
                .coordinates()
                .flatten()
                .any(|coordinate| coordinate.name == binding.coordinate.name);
            if own || found.name == binding.coordinate.name || !elsewhere {
                continue;
            }
            let (argument, shown) = (self.snippet(at), self.show(layout));
            let function = self.function_name(instance);
            let (coordinate, found) = (self.text(binding.coordinate.name), self.text(found.name));
            let span = self.span(at);
            self.report(errors::coordinate_elsewhere(
                &function,
                coordinate,
                found,
                (&argument, &shown),
                span,
            ));
        }
    }

    /// Reads the axes of a result whose coordinates are indices in scope at those indices.
    fn read_at_indices(
        &mut self,
        plain: Layout,
        marked: &Layout,
    ) -> (Layout, Vec<Option<LocalId>>) {
        let mut left = Vec::new();
        let mut read_at = Vec::new();
        for (axis, named) in plain.axes.iter().zip(&marked.axes) {
            let name = named.coordinate.or(axis.coordinate).map(|coordinate| coordinate.name);
            let index = name.and_then(|name| self.index_over(name));
            read_at.push(index);
            match index {
                Some(local) => {
                    self.index_on_axis(local, *axis);
                }
                None => left.push(*axis),
            }
        }
        (Layout { axes: left, ..plain }, read_at)
    }

    /// The innermost index in scope that ranges over this coordinate. Those of the coordinate
    /// calls around stand for whole axes.
    fn index_over(&self, name: Name) -> Option<LocalId> {
        let body = self.body();
        let found = self.place.scope.iter().rev().copied().find(|local| {
            let declared = self.work().indices.get(local).and_then(|index| index.declared);
            declared.map_or(body[*local].name.name, |coordinate| coordinate.name) == name
        });
        found.filter(|local| !self.place.call_indices.contains(local))
    }

    /// The indices of the call are names of axes only inside its arguments.
    fn without_own(&self, layout: Layout, own: &[LocalId]) -> Layout {
        let body = self.body_id();
        layout.map(&mut |axis| match axis.coordinate {
            Some(Coordinate { local: Some((owner, local)), .. })
                if owner == body && own.contains(&local) =>
            {
                Axis::default()
            }
            _ => axis,
        })
    }

    fn site(&self, call: ExprId) -> Site {
        let rank = |rest: LocalId| self.rest_rank(rest).map(|n| n as u32);
        Site { body: self.body_id(), call, around: around(self.body(), rank) }
    }

    fn record_rests(
        &mut self,
        expr: ExprId,
        instance: InstanceId,
        rank: usize,
        rests: HashMap<LocalId, u32>,
    ) {
        if rests.is_empty() {
            return;
        }
        let callee = self.typed.instance(instance);
        self.placements.differ |= rests.iter().any(|(rest, n)| callee.rests.get(rest) != Some(n));
        let mut rests: Vec<(LocalId, u32)> = rests.into_iter().collect();
        rests.sort_unstable();
        self.placements.rests.insert((self.site(expr), rank), rests);
    }

    fn record_read(&mut self, expr: ExprId, instance: InstanceId, n_read: usize) {
        let ret = super::plain(&self.typed.instance(instance).ret);
        if ret.is_silent() {
            return;
        }
        self.placements.differ |= ret.rank() != self.ty(expr).rank() + n_read;
        self.placements.n_read.insert((self.site(expr), ret.rank()), n_read);
    }
}

/// The axes of the rest on one side of a coordinate, when there is exactly one.
fn split(rests: &mut HashMap<LocalId, u32>, dims: &[Dim], n_axes: usize) {
    let mut rest = None;
    let mut n_others = 0;
    for dim in dims {
        match dim {
            Dim::Rest(local, _) if rest.is_none() => rest = Some(*local),
            Dim::Rest(..) => return,
            _ => n_others += 1,
        }
    }
    if let (Some(rest), Some(n_left)) = (rest, n_axes.checked_sub(n_others)) {
        rests.entry(rest).or_insert(n_left as u32);
    }
}

/// The axes of the rests in the parameters of a body.
pub(crate) fn around(body: &Body, rank: impl Fn(LocalId) -> Option<u32>) -> Vec<(LocalId, u32)> {
    let mut rests = Vec::new();
    for ty in body.params.iter().filter_map(|param| param.ty.as_ref()) {
        let TypeKind::Tensor(_, dims) = &ty.kind else { continue };
        for dim in dims {
            if let Dim::Rest(rest, _) = dim {
                rests.extend(rank(*rest).map(|n| (*rest, n)));
            }
        }
    }
    rests
}
