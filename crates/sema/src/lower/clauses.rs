//! Indexed definitions: one binding per leaf of the body, one clause per clause.
//!
//! The axes of a leaf are those of the slots and then those of the body; a clause's body is
//! lowered at the point of its axes, so a tensor body needs no temporary.

use einlang_index::{Domain, Quasi, Var};
use einlang_tir::constant::Const;
use einlang_tir::module::{
    Axis, Binding, Clause as TirClause, Group, SymbolSource, Until as TirUntil, box_of,
};
use einlang_tir::region::{Over, Region, Subscript as At};
use einlang_tir::types::{Elem, Ident};

use super::module::loc;
use super::types::{Leaf, elem_of};
use super::value::{Frame, R, Scalar, TensorId, Val};
use super::{Lower, unsupported};
use crate::hir::{Clause, LocalId, Subscript};
use crate::shapes::{ClauseShape, Origin};

/// One leaf of a binding under construction.
struct Target {
    local: LocalId,
    /// Which of the local's leaves.
    at: usize,
    leaf: Leaf,
    name: Ident,
    extents: Vec<Quasi>,
}

impl<'p> Lower<'p> {
    /// Lowers the clauses of bindings that read each other.
    pub(super) fn indexed(&mut self, clauses: &[&'p Clause]) -> R<()> {
        let Some(first) = clauses.first() else { return Ok(()) };
        let outer = std::mem::replace(&mut self.here, first.span);
        self.module();
        for clause in clauses {
            self.checks_in(clause.span)?;
        }
        let mut locals: Vec<LocalId> = Vec::new();
        for local in clauses.iter().flat_map(|clause| &clause.targets) {
            if !locals.contains(local) {
                locals.push(*local);
            }
        }
        if locals.iter().any(|local| !self.is_numeric(&self.local_ty(*local)))
            || clauses.iter().any(|clause| self.is_beyond_tensors(clause))
        {
            let done = self.tabulate(&locals, clauses);
            self.here = outer;
            return done;
        }
        let untils = clauses.iter().filter_map(|clause| clause.until.map(|until| until.condition));
        let roots = clauses.iter().map(|clause| clause.value).chain(untils).collect();
        let group = self.with_requests(roots, |cx| cx.group_of(clauses, &locals))?;
        self.push_group(group, loc(first.span));
        self.here = outer;
        Ok(())
    }

    /// The bindings that clauses define together.
    fn group_of(&mut self, clauses: &[&'p Clause], locals: &[LocalId]) -> R<Group> {
        self.settle_sizes(clauses, locals)?;
        let open = self.open_symbol(clauses, locals);
        let mut targets = Vec::new();
        for local in locals {
            targets.extend(self.declare_binding(*local, clauses)?);
        }
        let mut bindings = Vec::with_capacity(targets.len());
        for target in &targets {
            bindings.push(self.binding(target, clauses)?);
        }
        let until = match open {
            Some(extent) => self.until(clauses, extent)?,
            None => None,
        };
        Ok(Group { bindings, until })
    }

    /// Whether a clause handles anything but numbers.
    fn is_beyond_tensors(&self, clause: &Clause) -> bool {
        let until = clause.until.map(|until| until.condition);
        self.handles_host_values(clause.value)
            || until.is_some_and(|condition| self.handles_host_values(condition))
    }

    /// The symbol of an open axis: what the analysis calls it, and what the module does.
    fn open_symbol(&mut self, clauses: &[&'p Clause], locals: &[LocalId]) -> Option<Var> {
        clauses.iter().find(|clause| clause.until.is_some())?;
        let symbol = self.new_symbol("steps", SymbolSource::Until, loc(self.here));
        let module = self.module();
        for local in locals {
            let shape = self.shapes.instance(self.frame.instance).locals.get(local)?;
            let mut found = Vec::new();
            shape.for_each_var(&mut |var| {
                if matches!(self.shapes.symbols.origin(var), Some(Origin::Until(..))) {
                    found.push(var);
                }
            });
            for var in found {
                self.frame.bind_var(var, module, symbol.into());
            }
        }
        Some(symbol)
    }

    /// Gives every leaf of a binding its name and extents.
    fn declare_binding(&mut self, local: LocalId, clauses: &[&'p Clause]) -> R<Vec<Target>> {
        let ty = self.local_ty(local);
        let base = self.local_name(local);
        let Some(leaves) = self.leaf_types(&ty) else {
            return unsupported(self.here, format!("`{base}`, whose elements are not numbers"));
        };
        let Some(shape) = self.shapes.instance(self.frame.instance).locals.get(&local) else {
            return unsupported(self.here, format!("`{base}`, whose shape is not known"));
        };
        let mut targets = Vec::with_capacity(leaves.len());
        let mut values = Vec::with_capacity(leaves.len());
        let around = self.at_first_point(local, clauses);
        let has_gaps = self.shapes.instance(self.frame.instance).gaps.contains(&local);
        for (at, leaf) in leaves.into_iter().enumerate() {
            let extents = self.within(around.clone(), |cx| cx.shape_extents(shape, at))?;
            if extents.len() != leaf.rank {
                return unsupported(self.here, format!("`{base}`, whose shape is not known"));
            }
            let full = format!("{base}{}", leaf.path);
            let (id, name): (TensorId, Ident) = self.home_tensor(&full, leaf.elem, extents.clone());
            self.tensors[id.0].bound = true;
            self.tensors[id.0].gaps = has_gaps;
            values.push(Val::named(leaf.elem, leaf.rank, id));
            targets.push(Target { local, at, leaf, name, extents });
        }
        let value = self.record(&ty, &mut values.into_iter());
        self.frame.bind(local, value);
        Ok(targets)
    }

    /// The activation with the indices of a binding's clauses at 0. The extents of a body are the
    /// same at all points, so where they are computed from the body any point will do.
    pub(super) fn at_first_point(&self, local: LocalId, clauses: &[&'p Clause]) -> Frame<'p> {
        let mut frame = self.frame.clone();
        for clause in clauses.iter().filter(|clause| clause.targets.contains(&local)) {
            for slot in &clause.slots {
                if let Subscript::Index(binder) = slot {
                    let zero = Scalar::constant(Const::int(Elem::I32, 0));
                    frame.bind(binder.local, Val::Scalar(zero));
                }
            }
        }
        frame
    }

    fn binding(&mut self, target: &Target, clauses: &[&'p Clause]) -> R<Binding> {
        let own: Vec<&'p Clause> =
            clauses.iter().filter(|c| c.targets.contains(&target.local)).copied().collect();
        let names = self.axis_names(&own, target.leaf.rank);
        let axes: Vec<Axis> = target
            .extents
            .iter()
            .zip(&names)
            .map(|(extent, name)| Axis { var: self.new_index(name), dim: extent.clone().into() })
            .collect();
        let mut lowered = Vec::with_capacity(own.len());
        let mut zero_fill = self.options.zero_fill;
        for clause in &own {
            zero_fill |= clause.attrs.iter().any(|a| self.spelling(a.name.name) == "zero_fill");
            lowered.push(self.clause(target, clause, &axes)?);
        }
        let place = loc(own.first().map_or(self.here, |clause| clause.span));
        Ok(Binding {
            name: target.name.clone(),
            elem: target.leaf.elem,
            axes,
            clauses: lowered,
            zero_fill,
            loc: place,
        })
    }

    /// The names of the first clause that has one for each axis.
    fn axis_names(&self, clauses: &[&'p Clause], rank: usize) -> Vec<String> {
        let mut names: Vec<String> = (0..rank).map(|at| format!("i{at}")).collect();
        for clause in clauses.iter().rev() {
            let mut at = 0;
            for slot in &clause.slots {
                let n_axes = self.n_axes(slot);
                if let Subscript::Index(binder) = slot
                    && let Some(name) = names.get_mut(at)
                {
                    *name = self.local_name(binder.local);
                }
                at += n_axes;
            }
        }
        names
    }

    /// How many axes a slot stands for.
    pub(super) fn n_axes(&self, slot: &Subscript) -> usize {
        match slot {
            Subscript::Rest { local: crate::hir::Res::Local(local), .. } => {
                let rests = &self.typed.instance(self.frame.instance).rests;
                rests.get(local).map_or(0, |n| *n as usize)
            }
            _ => 1,
        }
    }

    pub(super) fn clause_shape(&self, local: LocalId, clause: &Clause) -> Option<&'p ClauseShape> {
        let shapes = self.shapes.instance(self.frame.instance).bindings.get(&local)?;
        shapes.iter().find(|shape| shape.span == clause.span)
    }

    fn clause(&mut self, target: &Target, clause: &'p Clause, axes: &[Axis]) -> R<TirClause> {
        self.here = clause.span;
        let Some(shape) = self.clause_shape(target.local, clause) else {
            return unsupported(clause.span, "a clause whose domain is not known");
        };
        let outer = self.frame.clone();
        let vars: Vec<Var> = axes.iter().map(|axis| axis.var).collect();
        let around = self.at_first_point(target.local, &[clause]);
        let domain = self.within(around, |cx| cx.clause_domain(shape, axes))?;
        let n_slots = self.bind_slots(clause, shape, &vars)?;
        let (value, items) = self.guarded_body(clause.value);
        let guard = match shape.guarded && Self::has_guard(items) {
            true => {
                let frame = self.frame.clone();
                let region = self.scalar_region(|cx| cx.guards(items))?.0;
                self.frame = frame;
                Some(region)
            }
            false => None,
        };
        let part = match &clause.targets[..] {
            [_] => None,
            targets => targets.iter().position(|local| *local == target.local),
        };
        let rest: Vec<At> = vars.iter().skip(n_slots).map(|v| At::Index((*v).into())).collect();
        let (at, elem, span) = (target.at, target.leaf.elem, clause.span);
        let (body, _) = self.scalar_region(|cx| {
            cx.conditional_checks(span, false)?;
            cx.bind_items(items)?;
            let mut value = cx.eval(value)?;
            if let (Val::Record(parts), Some(part)) = (&value, part) {
                value = parts.get(part).cloned().unwrap_or_else(Val::unit);
            }
            let scalar = match value.leaves().into_iter().nth(at) {
                Some(Val::Scalar(scalar)) => scalar,
                Some(Val::Tensor(tensor)) if tensor.rank == rest.len() => {
                    cx.element(&tensor, &rest, true, span)?
                }
                _ => return unsupported(span, "the body of this clause"),
            };
            match scalar.elem == elem {
                true => Ok(scalar),
                false => unsupported(span, "a clause body of another element type"),
            }
        })?;
        self.frame = outer;
        Ok(TirClause { domain: Over(domain), guard, body, loc: loc(clause.span) })
    }

    /// Binds the indices of a clause to the axes of a leaf; gives the number of slot axes.
    fn bind_slots(&mut self, clause: &'p Clause, shape: &ClauseShape, vars: &[Var]) -> R<usize> {
        let module = self.module();
        for (old, new) in shape.dims.iter().zip(vars) {
            self.frame.bind_var(*old, module, (*new).into());
        }
        let mut at = 0;
        for slot in &clause.slots {
            let n_axes = self.n_axes(slot);
            let axes = vars.get(at..at + n_axes).unwrap_or(&[]).to_vec();
            at += n_axes;
            match slot {
                Subscript::Index(binder) => {
                    let Some(var) = axes.first() else { continue };
                    let scalar = self.index_value(binder.local, *var);
                    self.frame.bind(binder.local, Val::Scalar(scalar));
                }
                Subscript::Rest { local: crate::hir::Res::Local(local), .. } => {
                    let scalars = axes.iter().map(|v| self.index_scalar(Elem::I32, (*v).into()));
                    let rest = Val::Record(scalars.map(Val::Scalar).collect());
                    self.frame.bind(*local, rest);
                }
                _ => {}
            }
        }
        Ok(at)
    }

    /// An index as a value of its type.
    pub(super) fn index_value(&mut self, local: LocalId, var: Var) -> Scalar {
        let ty = self.typed.instance(self.frame.instance).local(local);
        let elem = elem_of(ty).unwrap_or(Elem::I32);
        self.index_scalar(elem, var.into())
    }

    fn clause_domain(&mut self, shape: &ClauseShape, axes: &[Axis]) -> R<Domain> {
        let span = self.here;
        let vars: Vec<Var> = axes.iter().map(|axis| axis.var).collect();
        let known = vars.get(..shape.dims.len().min(vars.len())).unwrap_or(&[]).to_vec();
        let slots = self.map_domain(&shape.domain, &shape.dims, &known)?;
        let wide = Domain::of_sets(vars, slots.sets().to_vec());
        let whole = self.index_result(box_of(axes), span)?;
        let domain = self.index_result(wide.intersect(&whole), span)?;
        Ok(domain.simplified())
    }

    fn until(&mut self, clauses: &[&'p Clause], extent: Var) -> R<Option<TirUntil>> {
        let found = clauses.iter().find_map(|clause| Some((*clause, clause.until?)));
        let Some((clause, until)) = found else { return Ok(None) };
        let outer = self.frame.clone();
        let Some((local, old, first)) = self.open_slot(clause) else {
            return unsupported(clause.span, "`until` without an open range");
        };
        let first = match first {
            Some(first) => self.extent(&first)?,
            None => 0.into(),
        };
        let value = self.eval(until.max)?;
        let max = self.expect_scalar(value, clause.span)?;
        let max = self.quasi(&max)?;
        let name = self.local_name(local);
        let index = self.new_index(&name);
        let module = self.module();
        self.frame.bind_var(old, module, index.into());
        let scalar = self.index_value(local, index);
        self.frame.bind(local, Val::Scalar(scalar));
        let (condition, _): (Region, Elem) = self.scalar_region(|cx| {
            let value = cx.eval(until.condition)?;
            cx.expect_scalar(value, clause.span)
        })?;
        self.frame = outer;
        Ok(Some(TirUntil { extent, index, first, max, condition }))
    }

    /// The open index of a clause: its binder, its variable in the analysis and where it starts.
    pub(super) fn open_slot(
        &self,
        clause: &Clause,
    ) -> Option<(LocalId, Var, Option<einlang_index::MinMax>)> {
        let shapes = self.shapes.instance(self.frame.instance);
        clause.slots.iter().find_map(|slot| match slot {
            Subscript::Index(binder) => {
                let index = shapes.indices.get(&binder.local)?;
                let written = self.written_range(binder.range)?;
                (written.1.is_none()).then_some((binder.local, index.var, index.range.lo()))
            }
            _ => None,
        })
    }

    /// The ends of a range that is written.
    fn written_range(
        &self,
        range: Option<crate::hir::ExprId>,
    ) -> Option<(Option<crate::hir::ExprId>, Option<crate::hir::ExprId>)> {
        match self.body().kind(range?) {
            crate::hir::ExprKind::Range { start, end, .. } => Some((*start, *end)),
            _ => None,
        }
    }
}
