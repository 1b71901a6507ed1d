//! Visiting the points of definitions that the host evaluates.

use einlang_tir::constant::Const;
use einlang_tir::host::{HostArg, HostDef, HostKind, HostType, Intrinsic};
use einlang_tir::op::Op;
use einlang_tir::types::Elem;

use super::module::loc;
use super::tables::{Lists, Table, i64_const};
use super::value::{Form, R, Scalar, Val};
use super::{Lower, unsupported};
use crate::hir::Clause;
use crate::shapes::Origin;
use crate::types::Ty;

impl<'p> Lower<'p> {
    /// Visits all points, step by step along the outermost axis.
    pub(super) fn visit_steps(
        &mut self,
        tables: &[Table<'p>],
        lists: Lists,
        clauses: &[&'p Clause],
    ) -> R<Lists> {
        let firsts = tables.iter().filter_map(|table| table.extents.get(table.lockstep()).cloned());
        let longest =
            firsts.reduce(|a, b| if a == b { a } else { self.host_op(Op::Max, vec![a, b]) });
        let longest = longest.unwrap_or(i64_const(0));
        let descending =
            tables.iter().any(|table| table.descending.get(table.lockstep()) == Some(&true));
        self.counted(i64_const(0), longest.clone(), lists, |cx, counter, lists| {
            let step = match descending {
                true => {
                    let last = cx.host_op(Op::Sub, vec![longest, i64_const(1)]);
                    cx.host_op(Op::Sub, vec![last, counter])
                }
                false => counter,
            };
            cx.visit_step(tables, lists, &step, clauses)
        })
    }

    /// Visits the points of all definitions at one step.
    fn visit_step(
        &mut self,
        tables: &[Table<'p>],
        mut lists: Lists,
        step: &HostArg,
        clauses: &[&'p Clause],
    ) -> R<Lists> {
        let single = tables.len() == 1;
        for table in tables {
            let visit = |cx: &mut Self, lists: Lists| {
                cx.visit((table, tables), lists, &mut vec![step.clone()], clauses)
            };
            lists = match table.extents.get(table.lockstep()) {
                Some(extent) if !single => {
                    let kind = HostKind::Op(Op::Lt, vec![step.clone(), extent.clone()]);
                    let inside = self.host_value_of(HostType::Scalar(Elem::Bool), kind);
                    let once = self.host_cast(inside, Elem::Bool, Elem::I64);
                    self.counted(i64_const(0), once, lists, |cx, _, lists| visit(cx, lists))?
                }
                _ => visit(self, lists)?,
            };
        }
        Ok(lists)
    }

    /// Visits steps until the condition holds, and tells the definitions how many there were.
    pub(super) fn visit_until(
        &mut self,
        tables: &mut [Table<'p>],
        lists: Lists,
        clauses: &[&'p Clause],
    ) -> R<Lists> {
        let found = clauses.iter().find_map(|clause| Some((*clause, clause.until?)));
        let Some((clause, until)) = found else { return Ok(lists) };
        let Some((open, old, first)) = self.open_slot(clause) else {
            return unsupported(clause.span, "`until` without an open range");
        };
        let first = match first {
            Some(first) => self.extent(&first)?,
            None => 0.into(),
        };
        let first = self.index_scalar(Elem::I64, first);
        let first = self.host_scalar(&first)?;
        let value = self.eval(until.max)?;
        let max = self.expect_scalar(value, clause.span)?;
        let (max, elem) = (self.host_scalar(&max)?, max.elem);
        let max = self.host_cast(max, elem, Elem::I64);
        let max = self.host_op(Op::Max, vec![max, i64_const(0)]);
        let limit = self.host_op(Op::Add, vec![first.clone(), max]);
        self.flush();
        let (bool, int) = (HostType::Scalar(Elem::Bool), HostType::Scalar(Elem::I64));
        let kind = HostKind::Op(Op::Lt, vec![i64_const(0), limit.clone()]);
        let go = self.host_value_of(bool.clone(), kind);
        let no = HostArg::Const(Const::bool(false));
        let state = [(i64_const(0), int), (go, bool.clone()), (no, bool)];
        let n_lists = lists.len();
        let carried: Lists = lists.into_iter().chain(state).collect();
        let outer = self.frame.clone();
        let lengths = self.lengths_of(tables);
        let done = self.repeated(carried, n_lists + 1, |cx, carried| {
            let (lists, step) = (carried[..n_lists].to_vec(), carried[n_lists].0.clone());
            let next = cx.host_op(Op::Add, vec![step.clone(), i64_const(1)]);
            for table in tables.iter_mut() {
                let axis = table.lockstep();
                table.extents[axis] = next.clone();
            }
            lengths.iter().for_each(|var| cx.frame.bind_host_var(*var, next.clone()));
            let lists = cx.visit_step(tables, lists, &step, clauses)?;
            cx.frame.bind_host_var(old, step.clone());
            let narrow = cx.host_cast(step.clone(), Elem::I64, Elem::I32);
            let index = Scalar { elem: Elem::I32, form: Form::Host(narrow) };
            cx.frame.bind(open, Val::Scalar(index));
            let ends = cx.ends(tables, &lists, (&step, &first), until.condition)?;
            let more = HostKind::Op(Op::Lt, vec![next.clone(), limit.clone()]);
            let bool = HostType::Scalar(Elem::Bool);
            let more = cx.host_value_of(bool.clone(), more);
            let on = cx.host_value_of(bool.clone(), HostKind::Op(Op::Not, vec![ends.clone()]));
            let go = cx.host_value_of(bool, HostKind::Op(Op::And, vec![on, more]));
            let lists = lists.into_iter().map(|list| list.0);
            Ok(lists.chain([next, go, ends]).collect())
        })?;
        self.frame = outer;
        let length = done[n_lists].0.clone();
        for table in tables.iter_mut() {
            let axis = table.lockstep();
            table.extents[axis] = length.clone();
            self.frame.bind_ending(table.local, done[n_lists + 2].0.clone());
        }
        lengths.iter().for_each(|var| self.frame.bind_host_var(*var, length.clone()));
        Ok(done[..n_lists].to_vec())
    }

    /// What the analysis calls the lengths of open axes.
    fn lengths_of(&self, tables: &[Table<'p>]) -> Vec<einlang_index::Var> {
        let shapes = self.shapes.instance(self.frame.instance);
        let mut found = Vec::new();
        for shape in tables.iter().filter_map(|table| shapes.locals.get(&table.local)) {
            shape.for_each_var(&mut |var| {
                if matches!(self.shapes.symbols.origin(var), Some(Origin::Until(..))) {
                    found.push(var);
                }
            });
        }
        found
    }

    /// Whether the condition holds after a step, from the first one on at which it is tested.
    fn ends(
        &mut self,
        tables: &[Table<'p>],
        lists: &Lists,
        (step, first): (&HostArg, &HostArg),
        condition: crate::hir::ExprId,
    ) -> R<HostArg> {
        let kind = HostKind::Op(Op::Ge, vec![step.clone(), first.clone()]);
        let tested = self.host_value_of(HostType::Scalar(Elem::Bool), kind);
        let tested = self.host_bool(tested);
        let truth = Ty::Scalar(crate::hir::Scalar::Bool);
        let n_open = self.tables.len();
        self.tables.extend(tables.iter().map(|t| Table { lists: t.own(lists), ..t.clone() }));
        let no = Val::Scalar(Scalar::constant(Const::bool(false)));
        let holds = self.host_if(&tested, &truth, |cx| cx.eval(condition), |_| Ok(no));
        self.tables.truncate(n_open);
        let holds = self.expect_scalar(holds?, self.here)?;
        self.host_scalar(&holds)
    }

    /// A host loop that goes on while one of the values it carries is true.
    fn repeated(
        &mut self,
        carried: Lists,
        go: usize,
        each: impl FnOnce(&mut Self, Lists) -> R<Vec<HostArg>>,
    ) -> R<Lists> {
        self.flush();
        let (args, types): (Vec<HostArg>, Vec<HostType>) = carried.into_iter().unzip();
        let defs = |cx: &mut Self| -> Vec<HostDef> {
            types.iter().map(|ty| HostDef { number: cx.new_number(), ty: ty.clone() }).collect()
        };
        let typed = |defs: &[HostDef]| -> Lists {
            defs.iter().map(|def| (HostArg::Value(def.number), def.ty.clone())).collect()
        };
        let asked = defs(self);
        let test = HostArg::Value(asked[go].number);
        let (condition, ()) = self.block(asked, |_| Ok((vec![test], ())))?;
        let inner = defs(self);
        let given = typed(&inner);
        let (body, ()) = self.block(inner, |cx| Ok((each(cx, given)?, ())))?;
        let results = defs(self);
        let after = typed(&results);
        let place = loc(self.here);
        self.host_inst(results, HostKind::While(args, condition, body), place);
        Ok(after)
    }

    /// Visits the points below some coordinates and gives the lists with their elements.
    fn visit(
        &mut self,
        (table, group): (&Table<'p>, &[Table<'p>]),
        mut lists: Lists,
        at: &mut Vec<HostArg>,
        clauses: &[&'p Clause],
    ) -> R<Lists> {
        let axis = table.order.get(at.len()).copied();
        let Some((axis, extent)) = axis.map(|axis| (axis, table.extents[axis].clone())) else {
            let at = &in_written_order(table, at);
            let n_open = self.tables.len();
            self.tables.extend(group.iter().map(|t| Table { lists: t.own(&lists), ..t.clone() }));
            let value = self.covered(table, at, clauses);
            self.tables.truncate(n_open);
            let items = self.items(&value?, &table.element)?;
            let mut items = self.marked_points(table, at, items);
            if table.marked {
                items.push(self.mark((table, group), &lists, at)?);
            }
            let own = self.pushed(table.own(&lists), items);
            lists.splice(table.first..table.first + own.len(), own);
            return Ok(lists);
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
            let lists = cx.visit((table, group), lists, at, clauses);
            at.pop();
            lists
        })
    }

    pub(super) fn items(&mut self, value: &Val<'p>, element: &Ty) -> R<Vec<HostArg>> {
        if !self.is_numeric(element) {
            return Ok(vec![self.hosted(value, element)?]);
        }
        // Everything numeric is evaluated together before it is taken out.
        let value = self.settled(value)?;
        let mut items = Vec::new();
        for leaf in value.leaves() {
            items.push(match leaf {
                Val::Tensor(tensor) => self.host_whole(&tensor)?,
                leaf => {
                    let scalar = self.expect_scalar(leaf, self.here)?;
                    self.host_scalar(&scalar)?
                }
            });
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
}

/// The coordinates of a point in the order of the axes.
fn in_written_order(table: &Table<'_>, at: &[HostArg]) -> Vec<HostArg> {
    let place = |axis: usize| table.order.iter().position(|known| *known == axis);
    let axes = (0..table.order.len()).filter_map(|axis| at.get(place(axis)?).cloned());
    axes.collect()
}
