//! Data-dependent self-reads are held to an order.
//!
//! Evaluation on demand would find any point that does not depend on itself. The language says
//! more: such a read must be of a point that comes earlier in the order found for the group, which
//! is the same for every backend. The clause that defines the point read is taken to be the last
//! one whose domain holds it, whatever its guard says.

use std::cmp::Ordering;
use std::rc::Rc;

use einlang_tir::order::{Order, Statement};

use super::code::Code;
use super::machine::{Halt, Machine, What};
use super::read::narrow;
use super::table::Instance;

impl Machine<'_> {
    /// A data-dependent read of the own group must be of a point that comes before in the order
    /// found for the group; where the order leaves points free, index order decides.
    pub(super) fn check_order(
        &mut self,
        instance: &Rc<Instance>,
        member: u32,
        code: &Code,
    ) -> Result<(), Halt> {
        let Some(order) = &code.groups[instance.group].order else { return Ok(()) };
        let Some((reader, at)) = self.reader(instance, code) else { return Ok(()) };
        let binding = &code.groups[instance.group].bindings[member as usize];
        let mut to = Vec::with_capacity(self.point.len());
        for x in &self.point {
            to.push(narrow(*x)?);
        }
        let mut writer = None;
        for (clause, candidate) in binding.clauses.iter().enumerate().rev() {
            let mut xs = to.clone();
            if self.contains(&candidate.domain, &mut xs, code)? {
                writer = Some(Statement { binding: member as usize, clause });
                break;
            }
        }
        let Some(writer) = writer else { return Ok(()) };
        match compare(order, (writer, &to), (reader, &at)) {
            Ordering::Less => Ok(()),
            _ => Err(self.not_yet(binding, &to).into()),
        }
    }

    /// The point of the group that is being computed, with its clause.
    fn reader(&self, instance: &Rc<Instance>, code: &Code) -> Option<(Statement, Vec<i64>)> {
        self.frames.iter().rev().find_map(|frame| match &frame.what {
            What::Point { instance: of, member, clause, offset } if Rc::ptr_eq(of, instance) => {
                let axes = code.groups[of.group].bindings[*member as usize].axes.len();
                let table = of.tables[*member as usize].borrow();
                let at = (0..axes).map(|axis| table.coordinate(*offset, axis)).collect();
                let clause = clause.saturating_sub(1);
                Some((Statement { binding: *member as usize, clause }, at))
            }
            _ => None,
        })
    }
}

/// Which of two points of a group comes first in an order.
fn compare(order: &Order, a: (Statement, &[i64]), b: (Statement, &[i64])) -> Ordering {
    match order {
        Order::Points(_) => a.1.cmp(b.1),
        Order::Phases(phases) => {
            let phase = |s: Statement| phases.iter().position(|phase| mentions(phase, s));
            let (first, second) = (phase(a.0), phase(b.0));
            match first.cmp(&second) {
                Ordering::Equal => match first.and_then(|at| phases.get(at)) {
                    Some(phase) => compare(phase, a, b),
                    None => a.1.cmp(b.1),
                },
                different => different,
            }
        }
        Order::Loop { forms, inner } => {
            let value = |of: (Statement, &[i64])| {
                forms.iter().find(|form| form.0 == of.0).map(|form| form.1.at(of.1))
            };
            value(a).cmp(&value(b)).then_with(|| compare(inner, a, b))
        }
    }
}

fn mentions(order: &Order, statement: Statement) -> bool {
    match order {
        Order::Points(of) => *of == statement,
        Order::Phases(phases) => phases.iter().any(|phase| mentions(phase, statement)),
        Order::Loop { forms, .. } => forms.iter().any(|form| form.0 == statement),
    }
}
