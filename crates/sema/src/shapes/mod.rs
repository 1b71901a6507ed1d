//! Ranges and shapes: the range of every index and the extents of every tensor, without data.
//!
//! Each instance is walked once, in source order. Extents and integers are expressions of symbols
//! (the axes and integers of parameters and inputs, named sizes, what data decides), so a function
//! is analysed once for all extents and a call puts the caller's extents for its symbols. The
//! subscripts of a clause or of an outermost reduction are collected in a `frame::Frame` and
//! solved together in the rounds of language.md §4 ([`einlang_index::solve`]). What is provably
//! wrong is reported at both places; what is provably right is recorded as proved; the rest becomes
//! a [`Check`]. Recurrences are judged by [`einlang_tir::order`], the checker that every backend
//! shares.
//!
//! Invariants: nothing panics on any typed program; an extent that cannot be expressed is a fresh
//! symbol, never a guess; every diagnostic has a help.
//!
//! | file | owns |
//! |---|---|
//! | `value.rs`, `symbols.rs`, `facts.rs`, `formula.rs`, `result.rs` | the data |
//! | `frame.rs`, `scopes.rs`, `solve.rs`, `judge.rs` | indices and reads, solving, what becomes of the answers |
//! | `instances.rs`, `annotations.rs`, `fresh.rs`, `names.rs` | functions, written types, unknown values, names |
//! | `expressions.rs`, `integers.rs`, `branches.rs`, `lists.rs`, `patterns.rs` | expressions |
//! | `calls.rs`, `builtins.rs`, `derivatives.rs`, `rules.rs` | calls, derivatives and their rules |
//! | `access.rs`, `reductions.rs` | brackets |
//! | `blocks.rs`, `clauses.rs`, `groups.rs`, `agree.rs` | statements and indexed definitions |
//! | `given.rs` | bindings of which a session has the values |
//! | `coverage.rs`, `recurrence.rs` | gaps, self-reads, orders |
//! | `reveal.rs`, `print.rs` | what was found, in words |

mod access;
mod agree;
mod annotations;
mod blocks;
mod branches;
mod builtins;
mod calls;
mod clauses;
mod coverage;
mod derivatives;
mod expressions;
mod facts;
mod formula;
mod frame;
mod fresh;
mod given;
mod groups;
mod instances;
mod integers;
mod judge;
mod lists;
mod names;
mod patterns;
mod print;
mod recurrence;
mod reductions;
mod result;
mod reveal;
mod rules;
mod scopes;
mod solve;
mod symbols;
mod value;

use einlang_source::map::{HashMap, HashSet};

use einlang_index::solve::AxisId;
use einlang_index::{MinMax, Truth, Var};
use einlang_source::{Diagnostic, Diagnostics, Interner, Span};

use crate::coords::Coords;
use crate::errors;
use crate::hir::*;
use crate::stack::with_large_stack;
use crate::types::walk::Captures;
use crate::types::{Instance, InstanceId, Ty, Typed};

pub use given::Given;
pub use print::print;
pub use result::{Check, CheckKind, ClauseShape, Index, InstanceShapes, Shapes, Slot};
pub use reveal::{Reveal, reveal};
pub use symbols::{Origin, Path, Source, Symbols};
pub use value::Shape;

use coverage::Coverage;
use facts::FactStore;
use formula::Formula;
use frame::Frame;
use instances::State;

/// What the command line says about warnings and outputs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// Gaps that can be read are errors.
    pub strict: bool,
    /// Self-reads of points that no clause covers give zero.
    pub zero_fill: bool,
    /// The outputs that were asked for; all top-level bindings if none were.
    pub outputs: Option<Vec<String>>,
}

/// Finds the ranges and shapes of a typed program.
pub fn analyse(
    program: &Program,
    typed: &Typed,
    coords: &Coords,
    interner: &Interner,
    options: &Options,
) -> (Shapes, Diagnostics) {
    analyse_given(program, typed, coords, interner, options, &Given::default())
}

/// Like [`analyse`], with bindings of which the values are there already.
pub fn analyse_given(
    program: &Program,
    typed: &Typed,
    coords: &Coords,
    interner: &Interner,
    options: &Options,
    given: &Given,
) -> (Shapes, Diagnostics) {
    with_large_stack(|| Analyser::new(program, typed, coords, interner, options, given).run())
}

/// The state of one analysis.
struct Analyser<'p> {
    program: &'p Program,
    typed: &'p Typed,
    coords: &'p Coords,
    interner: &'p Interner,
    options: &'p Options,
    given: &'p Given,
    symbols: Symbols,
    facts: FactStore,
    instances: Vec<InstanceShapes>,
    states: Vec<State>,
    /// The instances of each lambda.
    lambdas: HashMap<(BodyId, ExprId), Vec<InstanceId>>,
    captures: Captures,
    cur: InstanceId,
    frame: Frame,
    /// The conditions around the current expression.
    conditions: Vec<Formula>,
    /// The last points of the axes around the current subscript.
    lasts: Vec<MinMax>,
    /// The numbers of axes for the solver.
    axes: HashMap<(String, usize), AxisId>,
    /// The indices of rests.
    rest_vars: HashMap<(InstanceId, LocalId), Vec<Var>>,
    /// Integers that data decides anew at every point of the indices around them.
    local_data: HashSet<Var>,
    /// Coordinates bound by the coordinate calls around, whose axes pass through whole.
    coordinates: HashSet<LocalId>,
    /// How many coordinate calls are open.
    coordinate_calls: u32,
    /// The run-time extent of each group being walked that ends by `until`.
    until: Vec<Option<Var>>,
    /// The extents that the groups being walked are looking for, innermost last.
    placeholders: Vec<HashSet<Var>>,
    /// Bindings of the recursive groups that are being analysed.
    own: HashSet<(InstanceId, LocalId)>,
    /// Which points of indexed bindings are defined.
    coverage: HashMap<(InstanceId, LocalId), Coverage>,
    /// Bindings marked `#[zero_fill]`.
    zero_filled: HashSet<LocalId>,
    /// The shapes of program inputs.
    inputs: HashMap<DefId, Shape>,
    diagnostics: Vec<Diagnostic>,
    depth: u32,
}

impl<'p> Analyser<'p> {
    fn new(
        program: &'p Program,
        typed: &'p Typed,
        coords: &'p Coords,
        interner: &'p Interner,
        options: &'p Options,
        given: &'p Given,
    ) -> Analyser<'p> {
        let mut lambdas: HashMap<(BodyId, ExprId), Vec<InstanceId>> = HashMap::default();
        for id in typed.ids() {
            let instance = typed.instance(id);
            if let Some(closure) = instance.lambda {
                let (_, lambda) = typed.closures[closure.index()];
                lambdas.entry((instance.body, lambda)).or_default().push(id);
            }
        }
        Analyser {
            program,
            typed,
            coords,
            interner,
            options,
            given,
            symbols: Symbols::default(),
            facts: FactStore::default(),
            instances: typed.ids().map(|_| InstanceShapes::default()).collect(),
            states: typed.ids().map(|_| State::New).collect(),
            lambdas,
            captures: Captures::new(program),
            cur: InstanceId::FIRST,
            frame: Frame::default(),
            conditions: Vec::new(),
            lasts: Vec::new(),
            axes: HashMap::default(),
            rest_vars: HashMap::default(),
            local_data: HashSet::default(),
            coordinates: HashSet::default(),
            coordinate_calls: 0,
            until: Vec::new(),
            placeholders: Vec::new(),
            own: HashSet::default(),
            coverage: HashMap::default(),
            zero_filled: HashSet::default(),
            inputs: HashMap::default(),
            diagnostics: Vec::new(),
            depth: 0,
        }
    }

    fn run(mut self) -> (Shapes, Diagnostics) {
        self.bind_given();
        for id in self.typed.modules.iter().flatten() {
            self.analyse_instance(*id);
        }
        for id in self.typed.ids() {
            self.analyse_instance(id);
        }
        self.report_gaps();
        self.finish()
    }

    fn finish(mut self) -> (Shapes, Diagnostics) {
        for instance in &mut self.instances {
            let symbols = &self.symbols;
            for shape in instance.exprs.values_mut().chain(instance.locals.values_mut()) {
                *shape = symbols.resolved_shape(shape);
            }
            instance.ret = symbols.resolved_shape(&instance.ret);
            let rests = instance.rests.values_mut().flatten();
            for index in instance.indices.values_mut().chain(rests) {
                for bound in index.range.lower.iter_mut().chain(&mut index.range.upper) {
                    bound.value = symbols.resolved(&bound.value);
                }
            }
            for clause in instance.bindings.values_mut().flatten() {
                clause.resolve(symbols);
            }
            let (facts, found) = (&self.facts, &mut self.diagnostics);
            instance.checks.retain_mut(|check| {
                let before = (check.left.clone(), check.right.clone());
                check.left = symbols.resolved(&check.left);
                check.right = symbols.resolved(&check.right);
                if before == (check.left.clone(), check.right.clone()) {
                    return true;
                }
                // An extent was still to be found when the check was made.
                let answer = facts.compare(&check.left, &check.right);
                if answer == Truth::False && !check.conditional {
                    let shown = [&check.left, &check.right].map(|side| symbols.show(side));
                    let (x, y) = (&check.names.0, &check.names.1);
                    found.push(errors::extents_found(
                        (x, &shown[0], check.places.0),
                        (y, &shown[1], check.places.1),
                    ));
                }
                answer != Truth::True
            });
        }
        let mut seen = HashSet::default();
        let mut diagnostics = Diagnostics::new();
        for diagnostic in self.diagnostics {
            // Several instances of one function repeat its mistakes.
            if seen.insert((diagnostic.code, diagnostic.primary.span)) {
                diagnostics.push(diagnostic);
            }
        }
        diagnostics.sort();
        (Shapes { symbols: self.symbols, instances: self.instances }, diagnostics)
    }

    fn typed_here(&self) -> &'p Instance {
        self.typed.instance(self.cur)
    }

    fn body(&self) -> &'p Body {
        &self.program.bodies[self.typed_here().body]
    }

    fn here(&mut self) -> &mut InstanceShapes {
        &mut self.instances[self.cur.index()]
    }

    fn ty(&self, expr: ExprId) -> &'p Ty {
        self.typed_here().expr(expr)
    }

    /// The type of a value, or of what a differential is the change of.
    fn value_ty(&self, expr: ExprId) -> &'p Ty {
        match self.ty(expr) {
            Ty::Differential(inner) => inner,
            ty => ty,
        }
    }

    fn span(&self, expr: ExprId) -> Span {
        self.body().span(expr)
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn text(&self, name: einlang_source::Name) -> &'p str {
        self.interner.resolve(name)
    }

    /// The conditions around, as one.
    fn condition(&self) -> Formula {
        Formula::and(self.conditions.clone())
    }

    /// Runs `f` under one more condition.
    fn under<R>(&mut self, condition: Formula, f: impl FnOnce(&mut Self) -> R) -> R {
        self.conditions.push(condition);
        let result = f(self);
        self.conditions.pop();
        result
    }
}
