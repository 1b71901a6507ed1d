//! Definitions that the host evaluates in the order that `order` found for them.
//!
//! The lists hold a place for every point from the start, row by row, and a mark for those that are
//! computed. An order is a tree of phases and loops over linear forms of the axes; inside all loops a
//! clause visits its points for which the forms have the values of the loops. One axis of each form
//! is computed from the others, so that a diagonal costs no more than its points and a row.

use einlang_tir::constant::Const;
use einlang_tir::host::{HostArg, HostKind, HostType, Intrinsic};
use einlang_tir::op::Op;
use einlang_tir::order::{Form, Order, Statement};
use einlang_tir::types::Elem;

use super::tables::{Lists, Table, i64_const};
use super::value::R;
use super::{Lower, unsupported};
use crate::hir::{Clause, LocalId};

/// What is done at a point of a table.
type PerPoint<'f, 'p> = dyn FnMut(&mut Lower<'p>, &[HostArg], Lists) -> R<Lists> + 'f;

/// The loops around: which form of which statement has which value.
type Around<'o> = Vec<(&'o [(Statement, Form)], HostArg)>;

/// `Σ coefficient · axis = value`.
#[derive(Clone)]
struct Equation {
    coefficients: Vec<i64>,
    value: HostArg,
}

/// Definitions with the order in which they are computed.
#[derive(Clone, Copy)]
pub(super) struct Ordered<'p> {
    targets: &'p [LocalId],
    order: &'p Order,
}

impl<'p> Lower<'p> {
    /// The order that was found for definitions that read each other.
    pub(super) fn order_of(&self, tables: &[Table<'p>]) -> Option<Ordered<'p>> {
        let shapes = self.shapes.instance(self.frame.instance);
        let is_group = |targets: &[LocalId]| {
            targets.len() == tables.len()
                && tables.iter().all(|table| targets.contains(&table.local))
        };
        let (targets, order) = shapes.orders.iter().find(|(targets, _)| is_group(targets))?;
        let n_axes = |local: &LocalId| {
            let table = tables.iter().find(|table| table.local == *local);
            table.map_or(0, |table| table.extents.len())
        };
        let n_axes: Vec<usize> = targets.iter().map(n_axes).collect();
        is_about_slots(order, &n_axes).then_some(Ordered { targets, order })
    }

    /// Visits all points in the order that was found.
    pub(super) fn visit_in_order(
        &mut self,
        tables: &mut [Table<'p>],
        lists: Lists,
        ordered: Ordered<'p>,
    ) -> R<Lists> {
        let mut lists = lists;
        for table in tables.iter_mut() {
            (table.order, table.descending) =
                ((0..table.extents.len()).collect(), vec![false; table.extents.len()]);
            lists = self.with_places(table, lists)?;
        }
        for table in tables.iter().filter(|table| table.gaps && table.zero_fill) {
            lists = self.with_gaps(table, tables, lists)?;
        }
        self.visit_order((tables, ordered.targets), lists, ordered.order, &mut Vec::new())
    }

    /// A place for every point.
    fn with_places(&mut self, table: &Table<'p>, lists: Lists) -> R<Lists> {
        let mut n_points = i64_const(1);
        for extent in &table.extents {
            n_points = self.host_op(Op::Mul, vec![n_points, extent.clone()]);
        }
        let mut items = Vec::new();
        for (_, ty) in &table.lists {
            let HostType::List(item) = ty else { continue };
            items.push(self.dead_value(item)?);
        }
        let own = self.counted(i64_const(0), n_points, table.own(&lists), |cx, _, own| {
            Ok(cx.pushed(own, items))
        })?;
        Ok(replaced(table, lists, own))
    }

    /// Points that no clause covers are there, where the definition may read them.
    fn with_gaps(&mut self, table: &Table<'p>, group: &[Table<'p>], lists: Lists) -> R<Lists> {
        let free: Vec<usize> = (0..table.extents.len()).collect();
        let mut at = vec![i64_const(0); free.len()];
        self.each_point(table, &free, &mut at, lists, &mut |cx, at, lists| {
            let asked = Table { zero_fill: false, ..table.clone() };
            let defined = cx.mark((&asked, group), &lists, at)?;
            let kind = HostKind::Op(Op::Not, vec![defined]);
            let gap = cx.host_value_of(HostType::Scalar(Elem::Bool), kind);
            cx.only_if(gap, lists, |cx, lists| {
                let position = cx.position(table, at);
                let mut own = table.own(&lists);
                if let Some(marks) = own.last_mut() {
                    let yes = HostArg::Const(Const::bool(true));
                    let args = vec![marks.0.clone(), position, yes];
                    let kind = HostKind::Intrinsic(Intrinsic::ListSet, args);
                    marks.0 = cx.host_value_of(marks.1.clone(), kind);
                }
                Ok(replaced(table, lists, own))
            })
        })
    }

    fn visit_order(
        &mut self,
        (tables, targets): (&[Table<'p>], &'p [LocalId]),
        mut lists: Lists,
        order: &'p Order,
        around: &mut Around<'p>,
    ) -> R<Lists> {
        match order {
            Order::Phases(phases) => {
                for phase in phases {
                    lists = self.visit_order((tables, targets), lists, phase, around)?;
                }
                Ok(lists)
            }
            Order::Loop { forms, inner } => {
                let (lo, end) = self.values_of((tables, targets), forms);
                self.counted(lo, end, lists, |cx, value, lists| {
                    around.push((forms, value));
                    let lists = cx.visit_order((tables, targets), lists, inner, around);
                    around.pop();
                    lists
                })
            }
            Order::Points(statement) => {
                let found = targets.get(statement.binding).copied();
                let table = tables.iter().find(|table| Some(table.local) == found);
                match table {
                    Some(table) => self.visit_points((table, tables), lists, *statement, around),
                    None => Ok(lists),
                }
            }
        }
    }

    /// The smallest value of the forms of a loop, and one more than the largest.
    fn values_of(
        &mut self,
        (tables, targets): (&[Table<'p>], &[LocalId]),
        forms: &[(Statement, Form)],
    ) -> (HostArg, HostArg) {
        let mut ends: Option<(HostArg, HostArg)> = None;
        for (statement, form) in forms {
            let found = targets.get(statement.binding);
            let Some(table) = tables.iter().find(|table| Some(&table.local) == found) else {
                continue;
            };
            let (mut lo, mut hi) = (i64_const(form.offset), i64_const(form.offset));
            for (coefficient, extent) in form.coefficients.iter().zip(&table.extents) {
                if *coefficient == 0 {
                    continue;
                }
                let last = self.host_op(Op::Sub, vec![extent.clone(), i64_const(1)]);
                let far = self.host_op(Op::Mul, vec![last, i64_const(*coefficient)]);
                let end = if *coefficient > 0 { &mut hi } else { &mut lo };
                *end = self.host_op(Op::Add, vec![end.clone(), far]);
            }
            let end = self.host_op(Op::Add, vec![hi, i64_const(1)]);
            ends = Some(match ends {
                None => (lo, end),
                Some((least, most)) => {
                    (self.host_op(Op::Min, vec![least, lo]), self.host_op(Op::Max, vec![most, end]))
                }
            });
        }
        ends.unwrap_or((i64_const(0), i64_const(0)))
    }

    /// Visits the points of a clause at which its forms have the values of the loops around.
    fn visit_points(
        &mut self,
        (table, group): (&Table<'p>, &[Table<'p>]),
        lists: Lists,
        statement: Statement,
        around: &Around<'p>,
    ) -> R<Lists> {
        let own: Vec<&'p Clause> =
            table.clauses.iter().copied().filter(|c| c.targets.contains(&table.local)).collect();
        let Some((clause, later)) = own.get(statement.clause..).and_then(<[_]>::split_first) else {
            return Ok(lists);
        };
        let (solved, rest) = self.solved(table, statement, around);
        let is_free = |axis: &usize| !solved.iter().any(|known| known.0 == *axis);
        let free: Vec<usize> = (0..table.extents.len()).filter(is_free).collect();
        let mut at = vec![i64_const(0); table.extents.len()];
        self.each_point(table, &free, &mut at, lists, &mut |cx, at, lists| {
            let mut at = at.to_vec();
            let mut inside = HostArg::Const(Const::bool(true));
            for (axis, equation) in &solved {
                let value = cx.rest_of_equation(equation, &at, Some(*axis));
                let extent = table.extents[*axis].clone();
                inside = cx.and_op(inside, Op::Ge, vec![value.clone(), i64_const(0)]);
                inside = cx.and_op(inside, Op::Lt, vec![value.clone(), extent]);
                at[*axis] = value;
            }
            for equation in &rest {
                let value = cx.rest_of_equation(equation, &at, None);
                inside = cx.and_op(inside, Op::Eq, vec![value, i64_const(0)]);
            }
            let put = |cx: &mut Self, lists: Lists| {
                let mine = cx.is_of_clause(table, clause, later, &at)?;
                cx.only_if(mine, lists, |cx, lists| cx.put_point((table, group), lists, &at))
            };
            match inside {
                HostArg::Const(_) => put(cx, lists),
                _ => cx.only_if(inside, lists, put),
            }
        })
    }

    /// Whether a point is in the domain of a clause and in none of those that come later.
    fn is_of_clause(
        &mut self,
        table: &Table<'p>,
        clause: &'p Clause,
        later: &[&'p Clause],
        at: &[HostArg],
    ) -> R<HostArg> {
        let bool = HostType::Scalar(Elem::Bool);
        let mut mine = HostArg::Const(Const::bool(true));
        for (number, other) in [clause].iter().chain(later).enumerate() {
            let Some(shape) = self.clause_shape(table.local, other) else {
                return unsupported(other.span, "a clause whose domain is not known");
            };
            let covered = self.is_covered(shape, at)?;
            let mut covered = self.host_scalar(&covered)?;
            if number > 0 {
                covered = self.host_value_of(bool.clone(), HostKind::Op(Op::Not, vec![covered]));
            }
            mine = self.host_value_of(bool.clone(), HostKind::Op(Op::And, vec![mine, covered]));
        }
        Ok(mine)
    }

    /// Computes a point and puts it in its place.
    fn put_point(
        &mut self,
        (table, group): (&Table<'p>, &[Table<'p>]),
        lists: Lists,
        at: &[HostArg],
    ) -> R<Lists> {
        let n_open = self.tables.len();
        self.tables.extend(group.iter().map(|t| Table { lists: t.own(&lists), ..t.clone() }));
        let value = self.covered(table, at, &table.clauses);
        self.tables.truncate(n_open);
        let items = self.items(&value?, &table.element)?;
        let mut items = self.marked_points(table, at, items);
        items.push(self.mark((table, group), &lists, at)?);
        self.flush();
        let position = self.position(table, at);
        let mut own = table.own(&lists);
        for ((list, ty), item) in own.iter_mut().zip(items) {
            let args = vec![list.clone(), position.clone(), item];
            let kind = HostKind::Intrinsic(Intrinsic::ListSet, args);
            *list = self.host_value_of(ty.clone(), kind);
        }
        Ok(replaced(table, lists, own))
    }

    /// Visits all points along some axes.
    fn each_point(
        &mut self,
        table: &Table<'p>,
        free: &[usize],
        at: &mut Vec<HostArg>,
        lists: Lists,
        each: &mut PerPoint<'_, 'p>,
    ) -> R<Lists> {
        let Some((axis, rest)) = free.split_first() else { return each(self, at, lists) };
        let extent = table.extents[*axis].clone();
        self.counted(i64_const(0), extent, lists, |cx, coordinate, lists| {
            at[*axis] = coordinate;
            cx.each_point(table, rest, at, lists, each)
        })
    }

    fn only_if(
        &mut self,
        condition: HostArg,
        lists: Lists,
        then: impl FnOnce(&mut Self, Lists) -> R<Lists>,
    ) -> R<Lists> {
        let once = self.host_cast(condition, Elem::Bool, Elem::I64);
        self.counted(i64_const(0), once, lists, |cx, _, lists| then(cx, lists))
    }

    fn and_op(&mut self, first: HostArg, op: Op, args: Vec<HostArg>) -> HostArg {
        let bool = HostType::Scalar(Elem::Bool);
        let second = self.host_value_of(bool.clone(), HostKind::Op(op, args));
        self.host_value_of(bool, HostKind::Op(Op::And, vec![first, second]))
    }

    /// The value of an equation less its terms, but for that of one axis.
    fn rest_of_equation(
        &mut self,
        equation: &Equation,
        at: &[HostArg],
        axis: Option<usize>,
    ) -> HostArg {
        let mut value = equation.value.clone();
        for (other, coefficient) in equation.coefficients.iter().enumerate() {
            if *coefficient != 0 && Some(other) != axis {
                let term = self.host_op(Op::Mul, vec![at[other].clone(), i64_const(*coefficient)]);
                value = self.host_op(Op::Sub, vec![value, term]);
            }
        }
        value
    }

    /// The forms of a statement solved for as many axes as possible, each in terms of axes that are
    /// free; what cannot be solved in integers is left to be tested.
    fn solved(
        &mut self,
        table: &Table<'p>,
        statement: Statement,
        around: &Around<'p>,
    ) -> (Vec<(usize, Equation)>, Vec<Equation>) {
        let mut solved: Vec<(usize, Equation)> = Vec::new();
        let mut rest = Vec::new();
        for (forms, value) in around {
            let Some((_, form)) = forms.iter().find(|form| form.0 == statement) else { continue };
            let value = self.host_op(Op::Sub, vec![value.clone(), i64_const(form.offset)]);
            let mut coefficients = form.coefficients.clone();
            coefficients.truncate(table.extents.len());
            let mut equation = Equation { coefficients, value };
            for (axis, known) in &solved {
                equation = self.without(equation, *axis, known);
            }
            let unit = equation.coefficients.iter().position(|c| c.abs() == 1);
            let Some(axis) = unit else {
                rest.push(equation);
                continue;
            };
            if equation.coefficients[axis] < 0 {
                equation.coefficients.iter_mut().for_each(|c| *c = -*c);
                equation.value = self.host_op(Op::Sub, vec![i64_const(0), equation.value]);
            }
            for known in &mut solved {
                known.1 = self.without(known.1.clone(), axis, &equation);
            }
            solved.push((axis, equation));
        }
        (solved, rest)
    }

    /// An equation without an axis that another is solved for.
    fn without(&mut self, equation: Equation, axis: usize, known: &Equation) -> Equation {
        let factor = equation.coefficients.get(axis).copied().unwrap_or(0);
        if factor == 0 {
            return equation;
        }
        let terms = equation.coefficients.iter().zip(&known.coefficients);
        let coefficients = terms.map(|(a, b)| a - factor * b).collect();
        let taken = self.host_op(Op::Mul, vec![known.value.clone(), i64_const(factor)]);
        let value = self.host_op(Op::Sub, vec![equation.value, taken]);
        Equation { coefficients, value }
    }
}

/// The lists of a group with those of one definition replaced.
fn replaced(table: &Table<'_>, mut lists: Lists, own: Lists) -> Lists {
    let end = table.first + own.len();
    if end <= lists.len() {
        lists.splice(table.first..end, own);
    }
    lists
}

/// Whether an order speaks of no axes but those that have slots.
fn is_about_slots(order: &Order, n_axes: &[usize]) -> bool {
    match order {
        Order::Points(_) => true,
        Order::Phases(phases) => phases.iter().all(|phase| is_about_slots(phase, n_axes)),
        Order::Loop { forms, inner } => {
            let fits = |(statement, form): &(Statement, Form)| {
                let n_slots = n_axes.get(statement.binding).copied().unwrap_or(0);
                form.coefficients.iter().skip(n_slots).all(|c| *c == 0)
            };
            forms.iter().all(fits) && is_about_slots(inner, n_axes)
        }
    }
}
