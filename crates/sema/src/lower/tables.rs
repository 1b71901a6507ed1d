//! Indexed definitions that only the host can evaluate: strings, enums, records with them, and
//! numbers that are computed from those.
//!
//! The points are visited one after the other, axis by axis in some order, each up or down, and
//! appended to lists: one per number or tensor of a record, or one of host values. Definitions that
//! read each other advance along one axis in lockstep; an open one goes on until its condition holds. A read of the
//! definitions themselves looks into the lists so far. The direction is one in which the reads with
//! constant offsets lead back; every read is tested besides, so that one that comes too early stops
//! the program and gives no wrong value.

use std::rc::Rc;

use einlang_index::{MinMax, Quasi};
use einlang_tir::constant::Const;
use einlang_tir::host::{HostArg, HostDef, HostKind, HostType};
use einlang_tir::op::{Op, Trap};
use einlang_tir::types::Elem;

use super::module::loc;
use super::types::elem_of;
use super::value::{R, Val};
use super::{Lower, unsupported};
use crate::hir::{Clause, CompItem, ExprId, ExprKind, LocalId, Res};
use crate::shapes::Origin;
use crate::types::{Callee, FnTy, Ty, walk};

/// A definition that is being evaluated.
#[derive(Clone)]
pub(super) struct Table<'p> {
    pub(super) local: LocalId,
    /// The type of an element.
    pub(super) element: Ty,
    /// The lists so far, with their types.
    pub(super) lists: Vec<(HostArg, HostType)>,
    pub(super) extents: Vec<HostArg>,
    /// The axes in the order in which they are visited, outermost first. Definitions that read each
    /// other advance along the first one in lockstep; an open axis is that one.
    pub(super) order: Vec<usize>,
    /// Which axes are visited from the end.
    pub(super) descending: Vec<bool>,
    /// The axis that goes on until a condition holds.
    pub(super) open: Option<usize>,
    /// How many lists of the group come before its own.
    pub(super) first: usize,
    /// What derivatives call it.
    pub(super) mark: String,
    /// The clauses of the group.
    pub(super) clauses: Rc<[&'p Clause]>,
    /// Its clauses may leave out points.
    pub(super) gaps: bool,
    /// Points that no clause covers may be read by the definition itself, as zeros.
    pub(super) zero_fill: bool,
    /// The last of its lists tells which points are there.
    pub(super) marked: bool,
    /// Points are put in their places, row by row, in whatever order they come.
    pub(super) placed: bool,
}

/// What the host carries from point to point: lists with their types.
pub(super) type Lists = Vec<(HostArg, HostType)>;

pub(super) fn i64_const(number: i64) -> HostArg {
    HostArg::Const(Const::int(Elem::I64, number.into()))
}

impl Table<'_> {
    /// The axis along which definitions advance together.
    pub(super) fn lockstep(&self) -> usize {
        self.order.first().copied().unwrap_or(0)
    }

    /// Its own among the lists of the group.
    pub(super) fn own(&self, lists: &Lists) -> Lists {
        lists.get(self.first..self.first + self.lists.len()).unwrap_or(&[]).to_vec()
    }

    /// Which of its points are there, if that is written down.
    pub(super) fn marks(&self) -> Option<&(HostArg, HostType)> {
        self.lists.last().filter(|_| self.marked)
    }

    /// The lists with its elements.
    pub(super) fn elements(&self) -> &[(HostArg, HostType)] {
        let n_marks = usize::from(self.marked);
        &self.lists[..self.lists.len().saturating_sub(n_marks)]
    }
}

impl<'p> Lower<'p> {
    /// Whether an expression handles anything but numbers on the way to its value.
    pub(super) fn handles_host_values(&self, expr: ExprId) -> bool {
        let instance = self.typed.instance(self.frame.instance);
        let mut found = Vec::new();
        walk::visit(self.body(), vec![expr], &mut |expr, kind| {
            if self.is_beyond_regions(expr, kind) || self.is_open_table(kind) {
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

    /// Calls of host functions that take or give tensors, reductions with a state of tensors, and
    /// comprehensions that are filtered or have several generators.
    fn is_beyond_regions(&self, expr: ExprId, kind: &ExprKind) -> bool {
        let instance = self.typed.instance(self.frame.instance);
        match (kind, instance.calls.get(&expr)) {
            (ExprKind::UserReduce { .. }, _) => self.has_tensors(&self.ty(expr)),
            // What is filtered has a length that only the host finds out.
            (ExprKind::Comprehension { items, .. }, _) => {
                let is_generator = |item: &&CompItem| matches!(item, CompItem::Generator(..));
                items.iter().any(|item| matches!(item, CompItem::Condition(_)))
                    || items.iter().filter(is_generator).count() > 1
            }
            (_, Some(Callee::Instance(id))) if self.is_host(*id) => {
                let callee = self.typed.instance(*id);
                let captures = self.captures_of(*id);
                elem_of(&callee.ret).is_none()
                    || callee.params.iter().any(|ty| elem_of(ty).is_none())
                    || captures.iter().any(|c| elem_of(&self.capture_type(c)).is_none())
            }
            (ExprKind::Call { callee, .. }, Some(Callee::Function(FnTy::Declared(..)))) => {
                !self.is_known_function(*callee)
            }
            _ => false,
        }
    }

    /// Whether a callee is a function whose code is known here.
    fn is_known_function(&self, callee: ExprId) -> bool {
        match self.body().kind(callee) {
            ExprKind::Name(Res::Local(local)) => {
                matches!(self.frame.lookup(self.frame.body, *local), Some(Val::Fn(_)))
            }
            _ => false,
        }
    }

    /// Whether a record of numbers has tensors among them.
    pub(super) fn has_tensors(&self, ty: &Ty) -> bool {
        self.leaf_types(ty).is_some_and(|leaves| leaves.iter().any(|leaf| leaf.rank > 0))
    }

    /// Whether an expression is a definition that the host is in the middle of.
    fn is_open_table(&self, kind: &ExprKind) -> bool {
        match kind {
            ExprKind::Name(Res::Local(local)) => {
                self.tables.iter().any(|table| table.local == *local)
            }
            _ => false,
        }
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

    /// Evaluates definitions that read each other point by point.
    pub(super) fn tabulate(&mut self, locals: &[LocalId], clauses: &[&'p Clause]) -> R<()> {
        if self.in_region() {
            let name = locals.first().map(|local| self.local_name(*local)).unwrap_or_default();
            return unsupported(self.here, format!("`{name}` inside a tensor body"));
        }
        self.tabulated.extend(locals.iter().map(|local| (self.frame.body, *local)));
        let clauses: Rc<[&'p Clause]> = clauses.into();
        let mut tables = Vec::with_capacity(locals.len());
        for local in locals {
            tables.push(self.declared(*local, &clauses)?);
        }
        let is_recurrent = self.reads_itself(&tables, &clauses);
        let is_open = clauses.iter().any(|clause| clause.until.is_some());
        let directed = self.direct(&mut tables, &clauses);
        let order = match directed {
            Some(true) => None,
            _ if is_open || !is_recurrent => None,
            _ => self.order_of(&tables),
        };
        if directed.is_none() && order.is_none() {
            let name = self.local_name(tables[0].local);
            return unsupported(self.here, format!("the order in which `{name}` is computed"));
        }
        for table in &mut tables {
            table.placed = order.is_some();
            table.marked = table.gaps || table.placed;
        }
        let lists = self.empty_lists(&mut tables)?;
        let lists = match order {
            Some(order) => self.visit_in_order(&mut tables, lists, order)?,
            None if is_open => self.visit_until(&mut tables, lists, &clauses)?,
            None => self.visit_steps(&tables, lists, &clauses)?,
        };
        for table in tables {
            let lists = table.own(&lists);
            let table = Table { lists, ..table };
            let ty = self.local_ty(table.local);
            let value = self.finished(&table, &ty)?;
            if is_recurrent {
                self.note_recurrent(&table, &value);
            }
            let name = self.local_name(table.local);
            self.give_name(&value, &name);
            self.frame.bind(table.local, value);
        }
        Ok(())
    }

    /// A definition before any of its points is evaluated.
    fn declared(&mut self, local: LocalId, clauses: &Rc<[&'p Clause]>) -> R<Table<'p>> {
        let name = self.local_name(local);
        let ty = self.local_ty(local);
        let shape = self.shapes.instance(self.frame.instance).locals.get(&local);
        let Some(shape) = shape else {
            return unsupported(self.here, format!("`{name}`, whose shape is not known"));
        };
        let (element, axes) = match &ty {
            Ty::Tensor(element, axes) => (&**element, &axes[..]),
            _ => (&ty, &[][..]),
        };
        let own = || clauses.iter().filter(|clause| clause.targets.contains(&local));
        let n_slots: Vec<usize> =
            own().map(|c| c.slots.iter().map(|slot| self.n_axes(slot)).sum()).collect();
        let n_axes = n_slots.iter().copied().max().unwrap_or(0);
        if n_axes > axes.len() {
            return unsupported(self.here, format!("`{name}`, whose shape is not known"));
        }
        let element = match axes.get(n_axes..) {
            Some(rest) if !rest.is_empty() => Ty::tensor(element.clone(), rest.to_vec()),
            _ => element.clone(),
        };
        let around = self.at_first_point(local, clauses);
        let is_open = |extent: &MinMax| {
            let var = extent.as_quasi().and_then(Quasi::as_var);
            var.is_some_and(|var| {
                matches!(self.shapes.symbols.origin(var), Some(Origin::Until(..)))
            })
        };
        let extents: Vec<MinMax> = shape.extents().into_iter().take(n_axes).collect();
        let open = extents.iter().position(is_open);
        let mut sizes = Vec::with_capacity(extents.len());
        for (axis, extent) in extents.iter().enumerate() {
            if open == Some(axis) {
                sizes.push(i64_const(0));
                continue;
            }
            let extent = self.within(around.clone(), |cx| cx.extent(extent))?;
            let extent = self.at_least_zero(extent);
            let scalar = self.index_scalar(Elem::I64, extent);
            sizes.push(self.host_scalar(&scalar)?);
        }
        let mut attrs = own().flat_map(|clause| &clause.attrs);
        let zero_fill = self.options.zero_fill
            || attrs.any(|attr| self.spelling(attr.name.name) == "zero_fill");
        Ok(Table {
            local,
            element,
            lists: Vec::new(),
            order: (0..sizes.len()).collect(),
            descending: vec![false; sizes.len()],
            extents: sizes,
            open,
            first: 0,
            mark: self.fresh(&name),
            clauses: clauses.clone(),
            gaps: self.shapes.instance(self.frame.instance).gaps.contains(&local),
            zero_fill,
            marked: false,
            placed: false,
        })
    }

    /// Gives the definitions empty lists.
    fn empty_lists(&mut self, tables: &mut [Table<'p>]) -> R<Lists> {
        let mut all: Lists = Vec::new();
        for table in tables {
            table.first = all.len();
            let mut items = self.item_types(&table.element)?;
            items.extend(table.marked.then_some(HostType::Scalar(Elem::Bool)));
            for item in items {
                let ty = HostType::List(Box::new(item));
                table.lists.push((self.host_value_of(ty.clone(), HostKind::List(Vec::new())), ty));
            }
            all.extend(table.lists.iter().cloned());
        }
        Ok(all)
    }

    /// The types of what is collected for an element: its numbers and tensors, or one host value.
    pub(super) fn item_types(&mut self, element: &Ty) -> R<Vec<HostType>> {
        let item = |leaf: &super::types::Leaf| match leaf.rank {
            0 => HostType::Scalar(leaf.elem),
            rank => HostType::Tensor(leaf.elem, rank),
        };
        match self.leaf_types(element) {
            Some(leaves) => Ok(leaves.iter().map(item).collect()),
            None => Ok(vec![self.host_type(element)?]),
        }
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

    /// What a point is that no clause covers.
    pub(super) fn zero_of(&mut self, ty: &Ty) -> R<Val<'p>> {
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
