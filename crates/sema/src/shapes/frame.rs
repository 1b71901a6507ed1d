//! What one statement or clause asks of its indices: collected while its expressions are walked,
//! solved when the outermost index scope closes.

use einlang_index::solve::AxisId;
use einlang_index::{MinMax, Quasi, Range, Var};
use einlang_source::Span;

use super::formula::Formula;
use crate::hir::{ExprId, LocalId};
use crate::types::InstanceId;

/// The indices and reads of everything that is solved together.
#[derive(Debug, Default)]
pub(super) struct Frame {
    /// All indices so far, outermost first.
    pub(super) indices: Vec<FrameIndex>,
    /// All subscripts of reads so far, in source order.
    pub(super) reads: Vec<FrameRead>,
    /// Reads of indexed bindings, whole or in part.
    pub(super) accesses: Vec<Access>,
    /// The positions of the indices whose scope is open.
    pub(super) scope: Vec<usize>,
    /// A recursive group is being walked: nothing is settled before all of it is known.
    pub(super) holding: bool,
}

/// A moment while a frame fills.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Mark {
    pub(super) indices: usize,
    pub(super) reads: usize,
    pub(super) accesses: usize,
}

/// An index of a slot, a reduction or a generator.
#[derive(Clone, Debug)]
pub(super) struct FrameIndex {
    pub(super) var: Var,
    pub(super) owner: IndexOwner,
    pub(super) instance: InstanceId,
    /// The range as written, or as an inner scope has found it.
    pub(super) range: Option<Range<Span>>,
    /// The range was found, not written.
    pub(super) inferred: bool,
    /// On a left side: an inferred range must start at 0.
    pub(super) output: bool,
    pub(super) span: Span,
    /// No message about this one: something else was reported.
    pub(super) silent: bool,
}

/// Who introduced an index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum IndexOwner {
    /// A name.
    Local(LocalId),
    /// One axis of a rest.
    Rest(LocalId, usize),
    /// A generator of a comprehension, or an axis that is read whole.
    Anonymous,
}

/// One subscript of a read.
#[derive(Clone, Debug)]
pub(super) struct FrameRead {
    pub(super) instance: InstanceId,
    /// The access, and which of its subscripts.
    pub(super) expr: ExprId,
    pub(super) position: usize,
    pub(super) value: Quasi,
    pub(super) extent: MinMax,
    pub(super) axis: AxisId,
    /// The number of the axis, for messages.
    pub(super) number: usize,
    pub(super) tensor: String,
    pub(super) condition: Formula,
    /// A binding that is being defined where the read stands.
    pub(super) own: bool,
    pub(super) span: Span,
}

/// A read of an indexed binding.
#[derive(Clone, Debug)]
pub(super) struct Access {
    pub(super) instance: InstanceId,
    pub(super) expr: ExprId,
    /// The binding and the instance it belongs to.
    pub(super) binding: (InstanceId, LocalId),
    /// One entry per axis.
    pub(super) at: Vec<At>,
    pub(super) condition: Formula,
    /// With a value for points outside.
    pub(super) default: bool,
    /// The indices whose scope is open there, by position in the frame.
    pub(super) scope: Vec<usize>,
    pub(super) span: Span,
}

/// Where an axis is read.
#[derive(Clone, Debug)]
pub(super) enum At {
    Point(Quasi),
    /// A point that data decides.
    Data,
    /// All points from the first up to the second.
    Part(MinMax, MinMax),
}
