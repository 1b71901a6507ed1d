//! Coordinates and layouts.
//!
//! A coordinate is identified by its spelling: `batch` of one function is `batch` of the next, so
//! that layouts can be compared across calls without declaring the names in a common place. Its
//! extent belongs to the activation that declares it, and is the business of shapes. Two kinds are
//! known only inside one body and carry the local that introduces them: the coordinate parameter
//! `c` of `fn softmax[c]`, and the index of a coordinate call on an axis without a name. Neither
//! leaves its body: results are told in the coordinates of the caller.

use einlang_source::{Interner, Name};

use super::VariantId;
use crate::hir::{BodyId, LocalId};

/// The name of an axis.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Coordinate {
    /// The spelling.
    pub name: Name,
    /// The coordinate parameter or call index that it stands for inside one body.
    pub local: Option<(BodyId, LocalId)>,
}

impl Coordinate {
    /// The coordinate with this spelling.
    pub fn named(name: Name) -> Coordinate {
        Coordinate { name, local: None }
    }
}

/// One axis of a layout.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Axis {
    /// Its coordinate, if it has one.
    pub coordinate: Option<Coordinate>,
    /// The axis came with an argument whose parameter does not name it: any index may be used
    /// there, and what ranges over it still carries the coordinate.
    pub free: bool,
}

impl Axis {
    /// An axis with a name that its indices must have.
    pub fn named(coordinate: Coordinate) -> Axis {
        Axis { coordinate: Some(coordinate), free: false }
    }

    pub(super) fn freed(self) -> Axis {
        Axis { coordinate: self.coordinate, free: self.coordinate.is_some() }
    }

    /// The coordinate that indices here must be.
    pub(super) fn strict(self) -> Option<Coordinate> {
        self.coordinate.filter(|_| !self.free)
    }
}

/// The axes of a value, and the layouts of the parts of a record.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Layout {
    /// One per axis of the tensor; none for anything else.
    pub axes: Vec<Axis>,
    /// Of a tuple or struct, its fields in order; of an `Option`, its value; of a `Result`, both
    /// values. Empty where nothing is known: fields then have their declared layouts.
    pub parts: Vec<Layout>,
    /// Of a function, the variant it captures from.
    pub env: Option<VariantId>,
}

impl Layout {
    /// So many axes without names.
    pub fn unnamed(rank: usize) -> Layout {
        Layout { axes: vec![Axis::default(); rank], ..Layout::default() }
    }

    pub(super) fn of_parts(parts: Vec<Layout>) -> Layout {
        Layout { parts, ..Layout::default() }
    }

    pub(super) fn of_function(env: Option<VariantId>) -> Layout {
        Layout { env, ..Layout::default() }
    }

    /// The coordinates of the axes, in order.
    pub fn coordinates(&self) -> impl Iterator<Item = Option<Coordinate>> + '_ {
        self.axes.iter().map(|axis| axis.coordinate)
    }

    /// Nothing is said by such a layout.
    pub fn is_empty(&self) -> bool {
        self.axes.is_empty() && self.parts.is_empty() && self.env.is_none()
    }

    /// The layout with these axes before its own.
    pub(super) fn after(mut self, mut outer: Vec<Axis>) -> Layout {
        outer.append(&mut self.axes);
        self.axes = outer;
        self
    }

    /// The layout of one element along the first axis.
    pub(super) fn element(&self) -> Layout {
        let axes = self.axes.get(1..).unwrap_or_default().to_vec();
        Layout { axes, parts: self.parts.clone(), env: self.env }
    }

    /// Rebuilds every axis.
    pub(super) fn map(&self, f: &mut dyn FnMut(Axis) -> Axis) -> Layout {
        Layout {
            axes: self.axes.iter().map(|axis| f(*axis)).collect(),
            parts: self.parts.iter().map(|part| part.map(f)).collect(),
            env: self.env,
        }
    }

    /// What two layouts of one value agree on; an axis that only one names has that name.
    pub(super) fn joined(&self, other: &Layout) -> Layout {
        if self.is_empty() {
            return other.clone();
        }
        if other.is_empty() || self.axes.len() != other.axes.len() {
            return self.clone();
        }
        let axes = self.axes.iter().zip(&other.axes).map(|(a, b)| join_axes(*a, *b)).collect();
        let parts = match (self.parts.len(), other.parts.len()) {
            (0, _) => other.parts.clone(),
            (m, n) if m == n => {
                self.parts.iter().zip(&other.parts).map(|(a, b)| a.joined(b)).collect()
            }
            _ => self.parts.clone(),
        };
        Layout { axes, parts, env: self.env.or(other.env) }
    }

    /// What several runs of one piece of code have in common: an axis has a name if all agree.
    pub(super) fn common(&self, other: &Layout) -> Layout {
        if self.axes.len() != other.axes.len() || self.parts.len() != other.parts.len() {
            return self.map(&mut |_| Axis::default());
        }
        let axes = self.axes.iter().zip(&other.axes).map(|(a, b)| match a == b {
            true => *a,
            false => Axis::default(),
        });
        let parts = self.parts.iter().zip(&other.parts).map(|(a, b)| a.common(b));
        Layout { axes: axes.collect(), parts: parts.collect(), env: self.env }
    }

    /// The first pair of axes with different names that both must have.
    pub(super) fn clash(&self, other: &Layout) -> Option<(Coordinate, Coordinate)> {
        if self.axes.len() != other.axes.len() {
            return None;
        }
        let mut pairs = self.axes.iter().zip(&other.axes);
        let own = pairs.find_map(|(a, b)| match (a.strict(), b.strict()) {
            (Some(a), Some(b)) if a.name != b.name => Some((a, b)),
            _ => None,
        });
        own.or_else(|| self.parts.iter().zip(&other.parts).find_map(|(a, b)| a.clash(b)))
    }

    /// The layout as people read it: `[batch, _]`, records in parentheses.
    pub fn show(&self, interner: &Interner) -> String {
        if self.env.is_some() {
            return "fn".to_string();
        }
        let axes = self.axes.iter().map(|axis| axis_text(*axis, interner));
        let axes = format!("[{}]", axes.collect::<Vec<_>>().join(", "));
        if self.parts.is_empty() {
            return axes;
        }
        let parts: Vec<String> = self.parts.iter().map(|part| part.show(interner)).collect();
        let outer = if self.axes.is_empty() { String::new() } else { format!("{axes} of ") };
        format!("{outer}({})", parts.join(", "))
    }
}

/// The name of an axis, `_` if it has none.
pub(super) fn axis_text(axis: Axis, interner: &Interner) -> String {
    axis.coordinate.map_or("_", |coordinate| interner.resolve(coordinate.name)).to_string()
}

/// An axis that must have its name wins over one that may have it; two names cancel.
pub(super) fn join_axes(a: Axis, b: Axis) -> Axis {
    match (a.coordinate, b.coordinate) {
        (None, _) => b,
        (_, None) => a,
        (Some(x), Some(y)) if x.name == y.name => {
            if a.free {
                b
            } else {
                a
            }
        }
        _ => match (a.free, b.free) {
            (false, true) => a,
            (true, false) => b,
            _ => Axis::default(),
        },
    }
}
