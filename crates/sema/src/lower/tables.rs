//! Indexed definitions that only the host can evaluate: strings, enums, records with them, and
//! numbers that are computed from those.
//!
//! The points are visited one after the other, each axis up or down, and appended to lists: one per
//! number of a record, or one of host values. A read of the definition itself looks into the lists
//! so far. The direction is one in which the reads with constant offsets lead back; every read is
//! tested besides, so that one that comes too early stops the program and gives no wrong value.

use einlang_index::{Domain, Quasi};
use einlang_tir::constant::Const;
use einlang_tir::host::{HostArg, HostDef, HostKind, HostType, Intrinsic};
use einlang_tir::op::{Op, Trap};
use einlang_tir::region::{
    Combiner, InstKind, Over, ReduceFlags, Reduction as TirReduction, Region, Start,
};
use einlang_tir::types::Elem;

use super::module::loc;
use super::types::elem_of;
use super::value::{Form, R, Scalar, Val};
use super::{Lower, unsupported};
use crate::hir::{Clause, ExprId, ExprKind, LocalId, Res, Subscript};
use crate::shapes::ClauseShape;
use crate::types::{Callee, Ty, walk};

/// A definition that is being evaluated.
#[derive(Clone)]
pub(super) struct Table {
    pub(super) local: LocalId,
    /// The type of an element.
    pub(super) element: Ty,
    /// The lists so far, with their types.
    pub(super) lists: Vec<(HostArg, HostType)>,
    pub(super) extents: Vec<HostArg>,
    /// Which axes are visited from the end.
    pub(super) descending: Vec<bool>,
}

pub(super) fn i64_const(number: i64) -> HostArg {
    HostArg::Const(Const::int(Elem::I64, number.into()))
}

impl<'p> Lower<'p> {
    /// Whether an expression handles anything but numbers on the way to its value.
    pub(super) fn handles_host_values(&self, expr: ExprId) -> bool {
        let instance = self.typed.instance(self.frame.instance);
        let mut found = Vec::new();
        walk::visit(self.body(), vec![expr], &mut |expr, kind| {
            if self.is_beyond_regions(expr, kind) {
                found.push(expr);
            }
            let is_host = |ty: &Ty| !matches!(ty, Ty::Fn(_)) && !self.is_plain(ty);
            if instance.exprs.get(&expr).is_some_and(is_host) {
                found.push(expr);
            }
        });
        if found.is_empty() {
            return false;
        }
        let messages = self.messages(self.frame.instance);
        found.iter().any(|expr| !messages.contains(expr))
    }

    /// Calls of host functions that take or give tensors, and reductions with a state of tensors.
    fn is_beyond_regions(&self, expr: ExprId, kind: &ExprKind) -> bool {
        let instance = self.typed.instance(self.frame.instance);
        match (kind, instance.calls.get(&expr)) {
            (ExprKind::UserReduce { .. }, _) => self.has_tensors(&self.ty(expr)),
            (_, Some(Callee::Instance(id))) if self.is_host(*id) => {
                let callee = self.typed.instance(*id);
                let captures = self.captures_of(*id);
                elem_of(&callee.ret).is_none()
                    || callee.params.iter().any(|ty| elem_of(ty).is_none())
                    || captures.iter().any(|c| elem_of(&self.capture_type(c)).is_none())
            }
            _ => false,
        }
    }

    /// Whether a record of numbers has tensors among them.
    pub(super) fn has_tensors(&self, ty: &Ty) -> bool {
        self.leaf_types(ty).is_some_and(|leaves| leaves.iter().any(|leaf| leaf.rank > 0))
    }

    /// Whether an expression reads a definition that the host is computing.
    pub(super) fn reads_table(&self, kind: &ExprKind) -> bool {
        let ExprKind::Access { base, .. } = kind else { return false };
        match self.body().kind(*base) {
            ExprKind::Name(Res::Local(local)) => {
                self.tabulated.contains(&(self.frame.body, *local))
            }
            _ => false,
        }
    }

    /// Evaluates a definition point by point.
    pub(super) fn tabulate(&mut self, local: LocalId, clauses: &[&'p Clause]) -> R<()> {
        let name = self.local_name(local);
        if self.in_region() {
            return unsupported(self.here, format!("`{name}` inside a tensor body"));
        }
        self.tabulated.insert((self.frame.body, local));
        let ty = self.local_ty(local);
        let shape = self.shapes.instance(self.frame.instance).locals.get(&local);
        let (Ty::Tensor(element, axes), Some(shape)) = (&ty, shape) else {
            return unsupported(self.here, format!("`{name}`, whose shape is not known"));
        };
        let n_slots: Vec<usize> =
            clauses.iter().map(|c| c.slots.iter().map(|slot| self.n_axes(slot)).sum()).collect();
        let extents = shape.extents();
        if extents.len() != axes.len() || n_slots.iter().any(|n| *n != axes.len()) {
            return unsupported(self.here, format!("`{name}`, whose elements are tensors"));
        }
        let around = self.at_first_point(local, clauses);
        let mut sizes = Vec::with_capacity(extents.len());
        for extent in &extents {
            let extent = self.within(around.clone(), |cx| cx.extent(extent))?;
            let extent = self.at_least_zero(extent);
            let scalar = self.index_scalar(Elem::I64, extent);
            sizes.push(self.host_scalar(&scalar)?);
        }
        let Some(descending) = self.directions(local, clauses, sizes.len()) else {
            return unsupported(self.here, format!("the order in which `{name}` is computed"));
        };
        let mut lists = Vec::new();
        for item in self.item_types(element)? {
            let ty = HostType::List(Box::new(item));
            lists.push((self.host_value_of(ty.clone(), HostKind::List(Vec::new())), ty));
        }
        let table =
            Table { local, element: (**element).clone(), lists, extents: sizes, descending };
        let lists = self.visit(&table, table.lists.clone(), &mut Vec::new(), clauses)?;
        let table = Table { lists, ..table };
        let value = self.finished(&table, &ty)?;
        self.give_name(&value, &name);
        self.frame.bind(local, value);
        Ok(())
    }

    /// The types of what is collected for an element: its numbers, or one host value.
    fn item_types(&mut self, element: &Ty) -> R<Vec<HostType>> {
        match self.leaf_types(element) {
            Some(leaves) => Ok(leaves.iter().map(|leaf| HostType::Scalar(leaf.elem)).collect()),
            None => Ok(vec![self.host_type(element)?]),
        }
    }

    /// Visits the points below some coordinates and gives the lists with their elements.
    fn visit(
        &mut self,
        table: &Table,
        lists: Vec<(HostArg, HostType)>,
        at: &mut Vec<HostArg>,
        clauses: &[&'p Clause],
    ) -> R<Vec<(HostArg, HostType)>> {
        let axis = at.len();
        let Some(extent) = table.extents.get(axis).cloned() else {
            let now = Table { lists: lists.clone(), ..table.clone() };
            self.tables.push(now);
            let value = self.covered(table, at, clauses);
            self.tables.pop();
            let items = self.items(&value?, &table.element)?;
            return Ok(self.pushed(lists, items));
        };
        let descending = table.descending.get(axis) == Some(&true);
        self.counted(i64_const(0), extent.clone(), lists, |cx, counter, lists| {
            let coordinate = match descending {
                true => {
                    let last = cx.host_op(Op::Sub, vec![extent, i64_const(1)]);
                    cx.host_op(Op::Sub, vec![last, counter])
                }
                false => counter,
            };
            at.push(coordinate);
            let lists = cx.visit(table, lists, at, clauses);
            at.pop();
            lists
        })
    }

    /// A host loop over integers that carries lists.
    pub(super) fn counted(
        &mut self,
        from: HostArg,
        to: HostArg,
        carried: Vec<(HostArg, HostType)>,
        each: impl FnOnce(&mut Self, HostArg, Vec<(HostArg, HostType)>) -> R<Vec<(HostArg, HostType)>>,
    ) -> R<Vec<(HostArg, HostType)>> {
        self.flush();
        let (args, types): (Vec<HostArg>, Vec<HostType>) = carried.into_iter().unzip();
        let counter = HostDef { number: self.new_number(), ty: HostType::Scalar(Elem::I64) };
        let at = HostArg::Value(counter.number);
        let defs = |cx: &mut Self| -> Vec<HostDef> {
            types.iter().map(|ty| HostDef { number: cx.new_number(), ty: ty.clone() }).collect()
        };
        let typed = |defs: &[HostDef]| -> Vec<(HostArg, HostType)> {
            defs.iter().map(|def| (HostArg::Value(def.number), def.ty.clone())).collect()
        };
        let inner = defs(self);
        let given = typed(&inner);
        let (block, ()) = self.block([vec![counter], inner].concat(), |cx| {
            let done = each(cx, at, given)?;
            Ok((done.into_iter().map(|c| c.0).collect(), ()))
        })?;
        let results = defs(self);
        let after = typed(&results);
        let place = loc(self.here);
        self.host_inst(results, HostKind::For(from, to, args, block), place);
        Ok(after)
    }

    pub(super) fn host_op(&mut self, op: Op, args: Vec<HostArg>) -> HostArg {
        self.host_value_of(HostType::Scalar(Elem::I64), HostKind::Op(op, args))
    }

    fn items(&mut self, value: &Val<'p>, element: &Ty) -> R<Vec<HostArg>> {
        if !self.is_numeric(element) {
            return Ok(vec![self.hosted(value, element)?]);
        }
        let mut items = Vec::new();
        for leaf in value.leaves() {
            let scalar = self.expect_scalar(leaf, self.here)?;
            items.push(self.host_scalar(&scalar)?);
        }
        Ok(items)
    }

    pub(super) fn pushed(
        &mut self,
        lists: Vec<(HostArg, HostType)>,
        items: Vec<HostArg>,
    ) -> Vec<(HostArg, HostType)> {
        self.flush();
        let push = |((list, ty), item): ((HostArg, HostType), HostArg)| {
            let kind = HostKind::Intrinsic(Intrinsic::ListPush, vec![list, item]);
            (self.host_value_of(ty.clone(), kind), ty)
        };
        lists.into_iter().zip(items).map(push).collect()
    }

    /// The element at a point: by the last clause that covers it, or zero.
    fn covered(&mut self, table: &Table, at: &[HostArg], clauses: &[&'p Clause]) -> R<Val<'p>> {
        let Some((clause, earlier)) = clauses.split_last() else {
            return self.zero_of(&table.element);
        };
        let Some(shape) = self.clause_shape(table.local, clause) else {
            return unsupported(clause.span, "a clause whose domain is not known");
        };
        let outer = (self.frame.clone(), std::mem::replace(&mut self.here, clause.span));
        self.bind_coordinates(clause, shape, at);
        let inside = self.is_covered(shape, at)?;
        let (value, items) = self.guarded_body(clause.value);
        let truth = Ty::Scalar(crate::hir::Scalar::Bool);
        let holds = match Self::has_guard(items) {
            true => {
                let no = Val::Scalar(Scalar::constant(Const::bool(false)));
                let guards = |cx: &mut Self| cx.guards(items).map(Val::Scalar);
                let holds = self.host_if(&inside, &truth, guards, |_| Ok(no))?;
                self.expect_scalar(holds, clause.span)?
            }
            false => inside,
        };
        let body = |cx: &mut Self| {
            cx.bind_items(items)?;
            cx.eval(value)
        };
        let result =
            self.host_if(&holds, &table.element, body, |cx| cx.covered(table, at, earlier));
        (self.frame, self.here) = outer;
        result
    }

    /// Binds the indices of a clause to coordinates that the host counts.
    fn bind_coordinates(&mut self, clause: &'p Clause, shape: &ClauseShape, at: &[HostArg]) {
        for (var, coordinate) in shape.dims.iter().zip(at) {
            self.frame.bind_host_var(*var, coordinate.clone());
        }
        let mut axis = 0;
        for slot in &clause.slots {
            let n_axes = self.n_axes(slot);
            let axes = at.get(axis..axis + n_axes).unwrap_or(&[]).to_vec();
            axis += n_axes;
            let mut scalars = axes.into_iter().map(|host| {
                let narrow = self.host_cast(host, Elem::I64, Elem::I32);
                Val::Scalar(Scalar { elem: Elem::I32, form: Form::Host(narrow) })
            });
            match slot {
                Subscript::Index(binder) => {
                    if let Some(scalar) = scalars.next() {
                        self.frame.bind(binder.local, scalar);
                    }
                }
                Subscript::Rest { local: Res::Local(local), .. } => {
                    let rest = Val::Record(scalars.collect());
                    self.frame.bind(*local, rest);
                }
                _ => {}
            }
        }
    }

    /// Whether a point lies in the domain of a clause.
    fn is_covered(&mut self, shape: &ClauseShape, at: &[HostArg]) -> R<Scalar> {
        let span = self.here;
        self.module();
        let dims: Vec<_> = shape.dims.iter().map(|_| self.new_index("p")).collect();
        let mut domain = self.map_domain(&shape.domain, &shape.dims, &dims)?;
        for (dim, coordinate) in dims.iter().zip(at) {
            let here = Scalar { elem: Elem::I64, form: Form::Host(coordinate.clone()) };
            let here = self.quasi(&here)?;
            let distance = self.index_result(here.sub(&Quasi::from(*dim)), span)?;
            let same = self.index_result(Domain::where_zero(dims.clone(), &distance), span)?;
            domain = self.index_result(domain.intersect(&same), span)?;
        }
        let name = self.fresh("v");
        let id = self.define_scalar(&name, span, |cx| {
            let reduction = TirReduction {
                domain: Over(domain),
                guard: None,
                body: Region::yielding(vec![Const::bool(true).into()]),
                combine: Combiner::Op(Op::Or),
                start: Start::Identity(vec![Const::bool(false).into()]),
                flags: ReduceFlags { commutative: true, idempotent: true, reassociable: true },
            };
            Ok(cx.emit(Elem::Bool, InstKind::Reduce(Box::new(reduction)), loc(span)))
        })?;
        Ok(Scalar { elem: Elem::Bool, form: Form::Named(id) })
    }

    /// What a point is that no clause covers.
    fn zero_of(&mut self, ty: &Ty) -> R<Val<'p>> {
        let host = self.host_type(ty)?;
        if !self.has_zero(ty, 0) {
            let message = "no clause defines this point, and its type has no zero".to_owned();
            let at = loc(self.here);
            self.host_inst(Vec::new(), HostKind::Trap(Trap::OutOfBounds, message), at);
        }
        let value = self.dead_value(&host)?;
        self.lifted(value, ty, "zero")
    }

    fn has_zero(&self, ty: &Ty, depth: usize) -> bool {
        match ty {
            Ty::Scalar(_) => true,
            _ => match self.parts(ty) {
                Some(parts) => {
                    depth < 64 && parts.iter().all(|(_, ty)| self.has_zero(ty, depth + 1))
                }
                None => false,
            },
        }
    }
}
