//! The sentences of run-time errors: tensor, axis, index value, extent, point.

use std::rc::Rc;

use einlang_tir::passes::PART;

use super::code::{BindingCode, Code, ReadCode};
use super::machine::{Frame, Machine, What};
use super::table::{Handle, Instance};
use crate::stop::{Stop, StopCode};

/// How many of the points that wait are listed.
const MAX_NOTES: usize = 4;

impl Machine<'_> {
    fn name(&self, handle: &Handle, code: &Code) -> String {
        match handle {
            Handle::Bound(instance, member) => {
                code.groups[instance.group].bindings[*member as usize].name.as_str().to_owned()
            }
            Handle::Value(value) => {
                let is_it = |global: &&Handle| match global {
                    Handle::Value(other) => std::sync::Arc::ptr_eq(value, other),
                    Handle::Bound(..) => false,
                };
                let number = self.globals.iter().position(|global| is_it(&global));
                let name = code.names.iter().find(|(_, n)| Some(**n as usize) == number);
                name.map_or("the tensor".to_owned(), |(name, _)| name.as_str().to_owned())
            }
        }
    }

    /// A read outside the box. A proof that it could not happen was wrong.
    pub(super) fn outside(
        &self,
        handle: &Handle,
        read: &ReadCode,
        axis: usize,
        extent: i64,
        code: &Code,
    ) -> Stop {
        let (name, x) = (self.name(handle, code), self.point.get(axis).copied().unwrap_or(0));
        let coord = match handle {
            Handle::Bound(instance, member) => {
                let binding = &code.groups[instance.group].bindings[*member as usize];
                let coord = binding.axes.get(axis).and_then(|axis| axis.coord.clone());
                coord.map(|coord| format!(" (`{}`)", coord.as_str()))
            }
            Handle::Value(_) => None,
        };
        let coord = coord.unwrap_or_default();
        let message = format!(
            "`{name}` is read at index {x} of axis {axis}{coord}, whose extent is {extent}"
        );
        match (read.proved, read.own && !read.by_data) {
            (true, _) => Stop::internal(format!("{message}, although this was proved impossible")),
            (_, true) => Stop::new(StopCode::OutsideBox, message),
            _ => Stop::new(StopCode::OutOfBounds, message),
        }
    }

    /// A self-read of a point that no clause covers.
    pub(super) fn uncovered(&self, handle: &Handle, by_data: bool, code: &Code) -> Stop {
        let Handle::Bound(instance, member) = handle else {
            return Stop::internal("an input has no clauses");
        };
        let binding = &code.groups[instance.group].bindings[*member as usize];
        let place = show_point(binding, self.point.iter().copied());
        let message = format!("`{place}` is read, but no clause defines that point");
        let code = if by_data { StopCode::NotComputed } else { StopCode::NoBase };
        Stop::new(code, message)
    }

    /// A data-dependent self-read of a point that comes later.
    pub(super) fn not_yet(&self, binding: &BindingCode, to: &[i64]) -> Stop {
        let place = show_point(binding, to.iter().map(|x| i128::from(*x)));
        let message = format!("`{place}` is read before it is computed");
        Stop::new(StopCode::NotComputed, message)
    }

    /// A point that is being computed was asked for.
    pub(super) fn in_the_way(
        &self,
        handle: &Handle,
        by_data: bool,
        stop: Stop,
        code: &Code,
    ) -> Stop {
        let Handle::Bound(instance, member) = handle else { return stop };
        let binding = &code.groups[instance.group].bindings[*member as usize];
        let place = show_point(binding, self.point.iter().copied());
        let frames = self.frames.iter().rev();
        let cycle: Vec<String> =
            frames.take(MAX_NOTES).filter_map(|frame| point_of(frame, code)).collect();
        let several = self.frames.iter().rev().take(MAX_NOTES).any(|frame| match &frame.what {
            What::Point { instance: of, member: other, .. } => {
                !Rc::ptr_eq(of, instance) || other != member
            }
            _ => false,
        });
        let (code, message) = match (by_data, several) {
            (true, _) => {
                (StopCode::NotComputed, format!("`{place}` is read before it is computed"))
            }
            (_, true) => (StopCode::Cycle, format!("`{place}` depends on itself")),
            _ => (StopCode::NeedsFuture, format!("`{place}` depends on itself")),
        };
        Stop {
            notes: cycle.iter().map(|p| format!("read for `{p}`")).collect(),
            ..Stop::new(code, message)
        }
    }

    /// Adds the point at which it happened, and the points that waited for it.
    pub(super) fn blame(&self, mut stop: Stop, code: &Code) -> Stop {
        let mut points = self.frames.iter().rev().filter_map(|frame| point_of(frame, code));
        match points.next() {
            // An error of a function that was called names its own point already.
            Some(_) if stop.message.ends_with("`)") => {}
            Some(point) if point.contains('[') => {
                stop.message = format!("{} (at `{point}`)", stop.message);
            }
            Some(point) if stop.notes.is_empty() => stop.notes.push(format!("in `{point}`")),
            Some(_) => {}
            None => {}
        }
        // Functions that call each other through tensor code come here once for each call.
        let room = MAX_NOTES.saturating_sub(stop.notes.len());
        for point in points.take(room) {
            stop.notes.push(format!("needed for `{point}`"));
        }
        let clause = self.frames.last().and_then(|frame| clause_loc(frame, code));
        stop.at(clause.unwrap_or_default())
    }
}

fn clause_loc(frame: &Frame, code: &Code) -> Option<einlang_tir::types::Loc> {
    match &frame.what {
        What::Point { instance, member, clause, .. } => {
            let binding = &code.groups[instance.group].bindings[*member as usize];
            Some(binding.clauses.get(clause.wrapping_sub(1)).map_or(binding.loc, |c| c.loc))
        }
        _ => None,
    }
}

/// The point or function that an activation computes; none for what nobody has named.
fn point_of(frame: &Frame, code: &Code) -> Option<String> {
    match &frame.what {
        What::Point { instance, member, .. } if is_part(instance, *member, code) => None,
        What::Point { instance, member, offset, .. } => {
            Some(show_member(instance, *member, *offset, code))
        }
        What::Call { function } => {
            Some(format!("{}(…)", code.functions.get(*function)?.name.as_str()))
        }
        What::Until { instance, .. } => {
            let name = code.groups[instance.group].bindings.first()?.name.as_str();
            Some(format!("until of {name}"))
        }
    }
}

/// Whether a binding is a part of an expression: a pass has moved it out of its clause, or nobody
/// has named it.
fn is_part(instance: &Instance, member: u32, code: &Code) -> bool {
    let name = code.groups[instance.group].bindings[member as usize].name.as_str();
    let nameless = name.rsplit_once('.').is_some_and(|(base, number)| {
        matches!(base, "v" | "n" | "d" | "target") && number.bytes().all(|b| b.is_ascii_digit())
    });
    // What a derivative adds: tangents, adjoints, and calls of rules.
    let own = name.trim_end_matches('\'');
    let derived = [".rule", ".result", ".follows", "_tan", "_adj"];
    nameless || name.ends_with(PART) || derived.iter().any(|end| own.ends_with(end))
}

fn show_member(instance: &Instance, member: u32, offset: u64, code: &Code) -> String {
    let binding = &code.groups[instance.group].bindings[member as usize];
    // While a point is being set up its table is in use; its name has to do then.
    let Ok(table) = instance.tables[member as usize].try_borrow() else {
        return binding.name.as_str().to_owned();
    };
    show_point(
        binding,
        (0..binding.axes.len()).map(|axis| i128::from(table.coordinate(offset, axis))),
    )
}

/// `h[t = 3, j = 0]`
fn show_point(binding: &BindingCode, at: impl Iterator<Item = i128>) -> String {
    let axes = binding.axes.iter().zip(at);
    let axes: Vec<String> = axes.map(|(axis, x)| format!("{} = {x}", axis.name)).collect();
    match axes.is_empty() {
        true => binding.name.as_str().to_owned(),
        false => format!("{}[{}]", binding.name.as_str(), axes.join(", ")),
    }
}
