//! The result of the analysis, as plain data.

use einlang_source::map::{HashMap, HashSet};

use einlang_index::{Domain, MinMax, Range, Result, Set, Var};
use einlang_source::{IdMap, Span};

use super::symbols::Symbols;
use super::value::Shape;
use crate::hir::{Expr, ExprId, Local, LocalId};
use crate::types::InstanceId;

/// The shapes and ranges of a program.
#[derive(Debug, Default)]
pub struct Shapes {
    /// The variables of all instances, and where the values of symbols come from.
    pub symbols: Symbols,
    /// One per instance of [`crate::types::Typed`], in the same order.
    pub instances: Vec<InstanceShapes>,
}

/// What is known of one instance. Variables of different instances differ; what a function takes
/// is expressed by symbols of its own, one per axis and integer of its parameters.
#[derive(Debug, Default)]
pub struct InstanceShapes {
    /// The shapes of the parameters.
    pub params: Vec<Shape>,
    /// The shape of the value.
    pub ret: Shape,
    /// The shapes of expressions; what is missing was never reached.
    pub exprs: IdMap<Expr, Shape>,
    /// The shapes of bindings, and the values of sizes and coordinates.
    pub locals: IdMap<Local, Shape>,
    /// Every index with its variable and range: slots, reductions, coordinate calls.
    pub indices: HashMap<LocalId, Index>,
    /// Every rest with one index per axis.
    pub rests: HashMap<LocalId, Vec<Index>>,
    /// The clauses of indexed bindings by their span, in the order of the source.
    pub bindings: HashMap<LocalId, Vec<ClauseShape>>,
    /// Reads `A[i, j]`: for each subscript of the expression, in order, whether it is proved to be
    /// in bounds. A rest counts once; whole axes (`:`) are always in bounds.
    pub reads: HashMap<ExprId, Vec<bool>>,
    /// What has to be tested before the statement or call at this place, in order.
    pub checks: Vec<Check>,
    /// What is known of the symbols once the checks have passed, each expression at least 0.
    pub facts: Vec<einlang_index::Constraint>,
    /// Bindings that read themselves at points that data decides: each such read is checked to be
    /// computed already.
    pub by_data: Vec<ExprId>,
    /// Indexed bindings with points that no clause may cover.
    pub gaps: HashSet<LocalId>,
    /// Bindings that read each other, and an order in which they can be computed. A clause is counted
    /// among those of its binding; a plain `let` among them is a binding of one clause.
    pub orders: Vec<(Vec<LocalId>, einlang_tir::order::Order)>,
}

/// An index and its range.
#[derive(Clone, Debug)]
pub struct Index {
    /// Its variable.
    pub var: Var,
    /// Its range; bounds may mention indices further out. Provenance is the read or range that
    /// gave the bound.
    pub range: Range<Span>,
    /// False when the range was written.
    pub inferred: bool,
}

/// One clause of an indexed binding.
#[derive(Clone, Debug)]
pub struct ClauseShape {
    /// The clause.
    pub span: Span,
    /// One entry per axis of the binding: the slots, rests unrolled, and then the axes of a body
    /// that is a tensor.
    pub slots: Vec<Slot>,
    /// One variable per axis: that of the index where the slot is one.
    pub dims: Vec<Var>,
    /// The points it covers as far as that is affine: ranges, points and affine guards.
    pub domain: Domain,
    /// A guard that is not affine may leave out points of the domain.
    pub guarded: bool,
    /// No guard leaves out any point.
    pub covers_all: bool,
}

impl ClauseShape {
    /// Puts what was found out since for symbols that stood for extents.
    pub(super) fn resolve(&mut self, symbols: &Symbols) {
        for slot in &mut self.slots {
            if let Slot::Point(value) | Slot::Body(value) = slot {
                *value = symbols.resolved(value);
            }
        }
        let stale = |var: &Var| symbols.resolved(&MinMax::from(*var)) != MinMax::from(*var);
        if !self.domain.params().iter().any(stale) {
            return;
        }
        let known = |var: Var| match symbols.resolved(&MinMax::from(var)) {
            MinMax::Value(value) => value.as_affine().cloned(),
            _ => None,
        };
        let sets: Result<Vec<Set>> =
            self.domain.sets().iter().map(|set| set.replace(&mut |var| known(var))).collect();
        if let Ok(sets) = sets {
            self.domain = Domain::of_sets(&self.dims[..], sets);
        }
    }
}

/// What stands on one axis of a clause.
#[derive(Clone, PartialEq, Debug)]
pub enum Slot {
    /// An index.
    Index(Var),
    /// One point.
    Point(MinMax),
    /// An axis of the body, with its extent.
    Body(MinMax),
}

/// A condition that is neither proved nor refuted and is tested when the program gets there.
#[derive(Clone, PartialEq, Debug)]
pub struct Check {
    /// One side.
    pub left: MinMax,
    /// The other; both must be equal.
    pub right: MinMax,
    /// The statement, clause or call that needs it.
    pub span: Span,
    /// Where the sides come from.
    pub places: (Span, Span),
    /// What to call the two sides in a message, such as `axis 0 of `a``.
    pub names: (String, String),
    /// What requires it.
    pub kind: CheckKind,
    /// It stands under a condition, or depends on an index, and is tested there.
    pub conditional: bool,
}

/// What requires two extents to be equal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CheckKind {
    /// One index runs over both.
    Index,
    /// An annotation, parameter or result says so.
    Annotation,
    /// Whole tensors are combined.
    Whole,
    /// A cast or annotation says what a file holds.
    Loaded,
}

impl Shapes {
    /// The shapes of an instance.
    pub fn instance(&self, id: InstanceId) -> &InstanceShapes {
        &self.instances[id.index()]
    }
}
