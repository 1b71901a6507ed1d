//! Coordinates: the layout of every tensor, and the rules that its names bring (language.md §5).
//!
//! A function is walked once per instance and layouts of its arguments (a *variant*): parameters
//! that name their axes are checked where they are called, the others carry the names of the
//! argument through the body into the result. Indices learn what they range over from the axes
//! they are used on, and a definition's layout is what its indices range over. Whether each rule
//! is kept is decided on the way; broadcasts and consumed coordinates are collected as they are
//! met and told apart at the end of the variant, when every index is known.
//!
//! Invariants: an expression has one axis in its layout per axis of its type; unknown types are
//! silent; one mistake is reported once, however many variants repeat it; the number of variants
//! is bounded (beyond it, names are no longer followed, which accepts more and never less), and so
//! is the depth of the walk.
//!
//! | file | owns |
//! |---|---|
//! | `layout.rs`, `result.rs`, `print.rs` | coordinates, layouts, the result and its text |
//! | `variants.rs`, `declared.rs`, `places.rs` | one walk per layouts, layouts as written, names |
//! | `exprs.rs`, `combine.rs`, `blocks.rs`, `patterns.rs` | expressions and statements |
//! | `reads.rs`, `indices.rs` | subscripts, slots and reductions |
//! | `calls.rs`, `builtins.rs`, `coordinate_calls.rs` | calls |
//! | `finish.rs` | broadcasts, consumed coordinates, `#[audit]` |

mod blocks;
mod builtins;
mod calls;
mod combine;
mod coordinate_calls;
mod declared;
mod exprs;
mod finish;
mod indices;
mod layout;
mod patterns;
mod places;
mod print;
mod reads;
mod result;
mod variants;

use einlang_source::map::{HashMap, HashSet};
use std::collections::VecDeque;

use einlang_source::{Diagnostic, Diagnostics, Interner, Name, Span};

use crate::hir::*;
use crate::stack::with_large_stack;
use crate::types::{InstanceId, Ty, Typed, walk::Captures};

pub use layout::{Axis, Coordinate, Layout};
pub use print::print;
pub use result::{Broadcast, Coords, Variant, VariantId};

pub(crate) use coordinate_calls::{Placements, Site, around};

use variants::{Key, Work};

/// How deep expressions and calls may nest together before the rest is walked on its own.
const MAX_DEPTH: u32 = 6000;

/// Gives every tensor its layout, and checks the rules about coordinates.
pub fn check(program: &Program, typed: &Typed, interner: &Interner) -> (Coords, Diagnostics) {
    with_large_stack(|| {
        let mut checker = Checker::new(program, typed, interner);
        checker.run();
        checker.finish()
    })
}

/// Where the coordinates of coordinate calls lie, for types to count axes with.
pub(crate) fn placements(program: &Program, typed: &Typed, interner: &Interner) -> Placements {
    let mut checker = Checker::new(program, typed, interner);
    checker.run();
    checker.placements
}

/// The state of one check.
struct Checker<'p> {
    program: &'p Program,
    typed: &'p Typed,
    interner: &'p Interner,
    works: Vec<Work>,
    memo: HashMap<Key, VariantId>,
    /// How many variants each instance has.
    n_variants: HashMap<InstanceId, usize>,
    /// The latest variant of each instance.
    latest: HashMap<InstanceId, VariantId>,
    /// Variants whose inside waits because calls nest too deep.
    pending: VecDeque<VariantId>,
    captures: Captures,
    /// The first instance of each body.
    firsts: HashMap<BodyId, InstanceId>,
    /// Which sizes are coordinates.
    extents: HashMap<(BodyId, LocalId), Option<Coordinate>>,
    /// The variant being walked.
    cur: VariantId,
    place: Place,
    /// How many variants are open.
    n_open: u32,
    depth: u32,
    /// How many first passes over recursive groups are open.
    n_trials: u32,
    placements: Placements,
}

/// Where the walk is inside a variant.
#[derive(Default)]
struct Place {
    /// The indices in scope, innermost last.
    scope: Vec<LocalId>,
    /// The indices of the coordinate calls around.
    call_indices: HashSet<LocalId>,
    /// How many coordinate calls are open.
    n_calls: u32,
    /// The binding that is being defined.
    binding: Option<LocalId>,
    /// The broadcasts that its attributes list.
    listed: usize,
}

/// A value as the walk sees it: its layout and what it depends on.
#[derive(Clone, Debug, Default)]
struct Val {
    layout: Layout,
    reach: Reach,
}

/// What a value depends on besides its own axes.
#[derive(Clone, Debug, Default)]
struct Reach {
    /// Sorted, each once.
    deps: Vec<Dep>,
    /// The tensors that are read, each once.
    tensors: Vec<Name>,
}

/// Something that has a coordinate once the variant is walked.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Dep {
    Index(LocalId),
    Rest(LocalId, u32),
    Axis(Coordinate),
}

impl<'p> Checker<'p> {
    fn new(program: &'p Program, typed: &'p Typed, interner: &'p Interner) -> Checker<'p> {
        let mut firsts = HashMap::default();
        for id in typed.ids() {
            firsts.entry(typed.instance(id).body).or_insert(id);
        }
        Checker {
            program,
            typed,
            interner,
            works: Vec::new(),
            memo: HashMap::default(),
            n_variants: HashMap::default(),
            latest: HashMap::default(),
            pending: VecDeque::new(),
            captures: Captures::new(program),
            firsts,
            extents: HashMap::default(),
            cur: VariantId(0),
            place: Place::default(),
            n_open: 0,
            depth: 0,
            n_trials: 0,
            placements: Placements::default(),
        }
    }

    fn run(&mut self) {
        for instance in self.typed.modules.iter().flatten() {
            self.root(*instance);
        }
        self.walk_pending();
        self.walk_unreached();
    }

    fn body(&self) -> &'p Body {
        &self.program.bodies[self.body_id()]
    }

    fn body_id(&self) -> BodyId {
        self.typed.instance(self.work().instance).body
    }

    fn work(&self) -> &Work {
        &self.works[self.cur.index()]
    }

    fn work_mut(&mut self) -> &mut Work {
        &mut self.works[self.cur.index()]
    }

    /// The type of an expression of the variant being walked.
    fn ty(&self, expr: ExprId) -> &'p Ty {
        plain(self.typed.instance(self.work().instance).expr(expr))
    }

    fn span(&self, expr: ExprId) -> Span {
        self.body().span(expr)
    }

    fn text(&self, name: Name) -> &'p str {
        self.interner.resolve(name)
    }

    fn show(&self, layout: &Layout) -> String {
        layout.show(self.interner)
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.work_mut().diagnostics.push(diagnostic);
    }
}

/// A differential has the layout of its value.
fn plain(ty: &Ty) -> &Ty {
    match ty {
        Ty::Differential(inner) => inner,
        ty => ty,
    }
}
