//! Types: the element type and rank of every expression of every instance.
//!
//! A function is checked once per element types and ranks of its arguments, a module once. Inside
//! an instance, types flow by unification: literals are variables that their context decides
//! (language.md §2), the clauses of a recursive group share the element type of their binding, and
//! what nothing decides is decided by default at the end of its statement. Extents, coordinates
//! and ranges are left to later passes.
//!
//! Invariants: one diagnostic per mistake (what it spoils has type `Error`, which is silent);
//! every diagnostic has a help; nothing panics on any program; work is bounded by
//! [`MAX_INSTANCES`] and `MAX_DEPTH`.
//!
//! | file | owns |
//! |---|---|
//! | `ty.rs`, `vars.rs`, `unify.rs` | types, undecided types, agreement |
//! | `annotations.rs`, `fit.rs`, `dims.rs`, `spelling.rs` | types as written, and in words |
//! | `items.rs`, `instances.rs`, `closures.rs`, `typed.rs` | where checking starts, specialisations, lambdas, the result |
//! | `expressions.rs`, `names.rs`, `branches.rs`, `literals.rs`, `operators.rs`, `casts.rs` | expressions |
//! | `calls.rs`, `parameters.rs`, `adapt.rs`, `coordinates.rs`, `placing.rs`, `builtins.rs`, `host.rs`, `constructors.rs`, `fields.rs` | calls and records |
//! | `blocks.rs`, `groups.rs`, `indexed.rs`, `rests.rs`, `walk.rs` | statements and clauses |
//! | `reads.rs`, `reductions.rs`, `comprehensions.rs` | brackets |
//! | `patterns.rs`, `exhaustive.rs`, `usefulness.rs` | patterns |
//! | `derivatives.rs`, `effects.rs`, `formats.rs`, `blame.rs` | `@`, where nothing may be printed, how values are written, whose mistake it is |

mod adapt;
mod annotations;
mod blame;
mod blocks;
mod branches;
mod builtins;
mod calls;
mod casts;
mod closures;
mod comprehensions;
mod constructors;
mod coordinates;
mod derivatives;
mod differentiable;
mod differentials;
mod dims;
mod effects;
mod exhaustive;
mod expressions;
mod fields;
mod fit;
mod formats;
pub(crate) mod groups;
mod host;
mod indexed;
mod instances;
mod items;
mod lengths;
mod linear_rules;
mod literals;
mod names;
mod operators;
mod parameters;
mod patterns;
mod placing;
mod print;
mod reads;
mod reductions;
mod rests;
mod spelling;
mod ty;
mod typed;
mod undecided;
mod unify;
mod usefulness;
mod vars;
pub(crate) mod walk;

use einlang_source::map::{HashMap, HashSet};
use std::collections::VecDeque;

use einlang_source::{Diagnostic, Diagnostics, Interner, Span};

use crate::coords::{Placements, Site};
use crate::hir::*;
use crate::stack::with_large_stack;
use crate::units::Roots;

pub use closures::ClosureId;
pub use instances::InstanceId;
pub use print::print;
pub use ty::{Extent, FnTy, Ty, VarId};
pub use typed::{Callee, Instance, Typed};

use closures::Closure;
use effects::Pure;
use instances::{Key, Work};
use vars::Vars;

/// More specialisations than this are taken for a recursion that makes new types without end.
pub const MAX_INSTANCES: usize = 2000;

/// Arguments whose types have more parts than this are taken for those of such a recursion as well.
const MAX_PARTS: usize = 5000;

/// How deep expressions and unannotated calls may nest together.
const MAX_DEPTH: u32 = 6000;

/// Trials inside trials are given up beyond this: each level may repeat the work of the one below.
const MAX_TRIALS: u32 = 3;

/// Records inside records beyond this are taken for endless ones.
const MAX_RECORD_DEPTH: u32 = 12;

/// Gives every expression of every instance its type.
pub fn check(program: &Program, interner: &Interner) -> (Typed, Diagnostics) {
    check_roots(program, interner, &Roots::all())
}

/// Gives types to some units of a program, and to what they need of the others.
pub fn check_roots(program: &Program, interner: &Interner, roots: &Roots) -> (Typed, Diagnostics) {
    with_large_stack(|| placing::check(program, interner, roots))
}

/// The items that are written in each body, those of a module in the body of the module.
fn items_of(program: &Program) -> HashMap<BodyId, Vec<DefId>> {
    let mut items: HashMap<BodyId, Vec<DefId>> = HashMap::default();
    for (id, def) in program.defs.iter() {
        if let Some(body) = def.inside.or(program.modules[def.module].body) {
            items.entry(body).or_default().push(id);
        }
    }
    items
}

/// The state of one check.
struct Checker<'p> {
    program: &'p Program,
    interner: &'p Interner,
    roots: &'p Roots,
    vars: Vars,
    instances: Vec<Work>,
    keys: HashMap<Key, InstanceId>,
    /// Instances whose result is declared, so that their inside can wait.
    pending: VecDeque<InstanceId>,
    closures: Vec<Closure>,
    /// What functions capture.
    captures: walk::Captures,
    /// The items that are written in each body.
    items_of: HashMap<BodyId, Vec<DefId>>,
    /// The instance being typed.
    cur: InstanceId,
    /// The instances being typed, outermost first.
    open: Vec<InstanceId>,
    /// Where effects are forbidden, and why.
    pure: Option<Pure>,
    depth: u32,
    /// How many records are open inside each other.
    record_depth: u32,
    /// How many unannotated calls are open.
    open_calls: u32,
    /// Coordinates bound by the coordinate calls around, whose axes pass through whole.
    coordinates: HashSet<LocalId>,
    /// How many coordinate calls are open.
    coordinate_calls: u32,
    /// The coordinate call whose arguments come next.
    placing: Option<Site>,
    /// Where the coordinates of coordinate calls lie.
    placements: Placements,
    /// How many trials are open.
    trials: u32,
    /// The instance being typed has open arguments.
    adapting: bool,
    /// A statement is asked what it says about bindings whose types are not known: its literals stay open.
    guessing: bool,
    /// What functions make of open arguments.
    schemes: adapt::Schemes,
    /// Loaded values whose type the context has to tell.
    loadings: Vec<host::Loading>,
}

impl<'p> Checker<'p> {
    fn new(program: &'p Program, interner: &'p Interner, roots: &'p Roots) -> Checker<'p> {
        Checker {
            program,
            interner,
            roots,
            vars: Vars::default(),
            instances: Vec::new(),
            keys: HashMap::default(),
            pending: VecDeque::new(),
            closures: Vec::new(),
            captures: walk::Captures::new(program),
            items_of: items_of(program),
            open: Vec::new(),
            cur: InstanceId(0),
            pure: None,
            depth: 0,
            record_depth: 0,
            open_calls: 0,
            coordinates: HashSet::default(),
            coordinate_calls: 0,
            placing: None,
            placements: Placements::default(),
            trials: 0,
            adapting: false,
            guessing: false,
            schemes: adapt::Schemes::default(),
            loadings: Vec::new(),
        }
    }

    fn run(mut self) -> (Typed, Diagnostics) {
        for (id, module) in self.program.modules.iter() {
            if !module.library && self.roots.has_module(id) {
                self.module_instance(id);
            }
        }
        self.type_pending();
        self.type_uncalled();
        self.type_rules();
        self.check_literals();
        self.check_loadings();
        effects::report(&mut self);
        differentiable::report(&mut self);
        linear_rules::report(&mut self);
        differentials::report(&mut self);
        formats::report(&mut self);
        undecided::report(&mut self);
        self.blame_callers();
        self.finish()
    }

    fn body(&self) -> &'p Body {
        &self.program.bodies[self.work().body]
    }

    fn work(&self) -> &Work {
        &self.instances[self.cur.0 as usize]
    }

    fn work_mut(&mut self) -> &mut Work {
        &mut self.instances[self.cur.0 as usize]
    }

    fn span(&self, expr: ExprId) -> Span {
        self.body().span(expr)
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.work_mut().diagnostics.push(diagnostic);
    }

    /// Reports and gives the type that silences what follows.
    fn fail(&mut self, diagnostic: Diagnostic) -> Ty {
        self.report(diagnostic);
        Ty::Error
    }

    fn name(&self, name: einlang_source::Name) -> &'p str {
        self.interner.resolve(name)
    }

    /// The type in the language's spelling, literals decided by default.
    fn show(&self, ty: &Ty) -> String {
        self.vars.settled(ty).show(self.program, self.interner)
    }

    /// Runs `f` and undoes all it did to types and diagnostics of this instance.
    fn trial<R>(&mut self, f: impl FnOnce(&mut Self) -> R) -> R {
        let (mark, said) = (self.vars.begin_trial(), self.work().diagnostics.len());
        let n_before = self.instances.len();
        self.trials += 1;
        let result = f(self);
        self.trials -= 1;
        self.work_mut().diagnostics.truncate(said);
        self.drop_inner_since(n_before);
        self.vars.end_trial(mark);
        result
    }
}
