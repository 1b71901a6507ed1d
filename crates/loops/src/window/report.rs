//! The report: what is kept of each recurrent binding, and who decided it. Plain data.

use einlang_index::Quasi;
use einlang_tir::module::Condition;
use einlang_tir::types::{Elem, Ident, Loc};

/// What is kept of every recurrent binding of a program, and of those that are made along with one.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct StorageReport {
    /// The bindings, module by module, in the order of their definition; in each module the
    /// recurrent ones come first.
    pub bindings: Vec<BindingStorage>,
}

impl StorageReport {
    /// The binding of this name in a module.
    pub fn binding(&self, module: &str, name: &Ident) -> Option<&BindingStorage> {
        self.bindings.iter().find(|binding| binding.module == module && binding.name == *name)
    }

    /// The first binding of this name.
    pub fn named(&self, name: &str) -> Option<&BindingStorage> {
        self.bindings.iter().find(|binding| binding.name.as_str() == name)
    }
}

/// What is kept of one binding.
#[derive(Clone, PartialEq, Debug)]
pub struct BindingStorage {
    /// The name of the tensor in its module; a field of a record is `s.x`.
    pub name: Ident,
    /// The module.
    pub module: String,
    /// Which group of the module it belongs to; bindings of one group are computed together.
    pub group: usize,
    /// The type of the elements.
    pub elem: Elem,
    /// Where it was defined.
    pub loc: Loc,
    /// The order in which the axes run, outermost first.
    pub schedule: AxisOrder,
    /// The axes, in the order in which they are written.
    pub axes: Vec<AxisStorage>,
    /// For a binding that does not read itself: the recurrence that reads it, along with which it
    /// can be computed.
    pub along_with: Option<Ident>,
    /// Whether the tensor also leaves its module, for another one or for the host.
    pub leaves: bool,
}

/// How the points of a binding are run through.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AxisOrder {
    /// Axis after axis, outermost first.
    Axes(Vec<ScheduledAxis>),
    /// No order of the axes alone computes it: clauses come one after the other, or the points
    /// follow a diagonal.
    Other,
}

/// One axis of a schedule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ScheduledAxis {
    /// The axis, by position in the binding.
    pub axis: usize,
    /// Whether it runs from its last point to its first.
    pub descending: bool,
    /// How many steps later it runs than the other bindings of its group.
    pub shift: i64,
    /// The loop: bindings of a group with the same number at the same place share it, and otherwise
    /// the one with the smaller number comes first.
    pub in_loop: usize,
}

/// What is kept along one axis.
#[derive(Clone, PartialEq, Debug)]
pub struct AxisStorage {
    /// The name of the index.
    pub name: String,
    /// The extent.
    pub extent: Quasi,
    /// The extent as a number, if it is one or the inputs of the run decide it.
    pub extent_now: Option<i64>,
    /// The extent as the text form shows it.
    pub extent_text: String,
    /// How many steps back self-reads reach; none if that is no fixed number.
    pub lookback: Option<u64>,
    /// How many points from the end later reads reach; none if that is no fixed number.
    pub tail: Option<u64>,
    /// What is kept.
    pub keep: Keep,
    /// The window that would be enough if the tensor were not an output, printed or saved, where
    /// nothing else stands in the way.
    pub possible: Option<u64>,
    /// What must hold when the program starts for the window to be enough; otherwise the axis is
    /// kept in full.
    pub conditions: Vec<Condition>,
    /// The conditions as the text form shows them.
    pub condition_text: Vec<String>,
    /// What decided it: for a window the reads that reach furthest, otherwise what prevents one.
    pub reasons: Vec<Reason>,
}

/// What is kept along an axis.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Keep {
    /// The points computed last, this many.
    Window(u64),
    /// Every point.
    Full,
}

/// One thing that decided, and where it is written.
#[derive(Clone, PartialEq, Debug)]
pub struct Reason {
    /// What it is.
    pub why: Why,
    /// Where.
    pub loc: Loc,
}

/// What decides how much of an axis is kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Why {
    /// A self-read reaches this many steps back.
    Lookback(u64),
    /// The reads of the recurrence that it is computed along with lie within this many steps.
    Spans(u64),
    /// A later read reaches this many points from the end.
    Tail(u64),
    /// The program gives the tensor as this output.
    Output(String),
    /// It is printed.
    Printed,
    /// It is written to a file.
    Saved,
    /// It is passed as a whole to something that may read any of it.
    Escapes,
    /// A derivative reads the points of the axis.
    Derivative,
    /// A later read runs over the whole axis.
    WholeRead,
    /// A later read has an index that is known only when the program runs.
    DynamicRead,
    /// A later read is of a fixed point that does not move with the end of the axis.
    FixedPoint,
    /// A later read is not at a fixed distance from the end.
    VaryingRead,
    /// A self-read has an index that depends on data.
    DynamicSelfRead,
    /// A self-read does not reach a fixed number of steps back.
    VaryingSelfRead,
    /// A self-read goes back along this other axis, which runs outside.
    OuterOffset(String),
    /// In this run this does not hold, which a window would need.
    ConditionFails(String),
    /// No order of the axes alone computes the binding.
    NoAxisOrder,
    /// The index arithmetic was given up.
    Undecided,
}

impl BindingStorage {
    /// Whether any axis keeps a window.
    pub fn has_window(&self) -> bool {
        self.axes.iter().any(|axis| axis.keep != Keep::Full)
    }

    /// The bytes of the whole tensor, if its extents are numbers.
    pub fn full_bytes(&self) -> Option<u128> {
        self.bytes(|axis| axis.extent_now.map(|n| u128::from(n.max(0).unsigned_abs())))
    }

    /// The bytes of what is kept, if the extents of full axes are numbers.
    pub fn kept_bytes(&self) -> Option<u128> {
        self.bytes(|axis| {
            let extent = axis.extent_now.map(|n| u128::from(n.max(0).unsigned_abs()));
            match axis.keep {
                Keep::Full => extent,
                Keep::Window(n) => Some(extent.map_or(n.into(), |extent| extent.min(n.into()))),
            }
        })
    }

    fn bytes(&self, points: impl Fn(&AxisStorage) -> Option<u128>) -> Option<u128> {
        let size = u128::from(self.elem.bits() / 8);
        self.axes.iter().try_fold(size, |bytes, axis| bytes.checked_mul(points(axis)?))
    }
}

impl AxisStorage {
    /// The number of points of a window.
    pub fn window(&self) -> Option<u64> {
        match self.keep {
            Keep::Window(n) => Some(n),
            Keep::Full => None,
        }
    }
}
