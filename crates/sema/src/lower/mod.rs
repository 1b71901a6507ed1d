//! Lowering: from a checked program to tensor IR and the host IR around it.
//!
//! One evaluator walks the HIR with values that stand for code (`value`). Numeric code goes into
//! the *pending* tensor module; when the host needs a value, or something has an effect, the
//! module is closed by a `run`, whose operands and results are filled in when the function is
//! finished, so that only what is asked for becomes an output. Instances of pure numeric functions
//! are lowered in place at each call, at the level of the module where the call stands there and
//! inside the region otherwise: extents, integer arguments and closures need no parameters then,
//! and locals of a call outside of any index become bindings that derivatives and schedules see.
//! Recursive functions, functions with effects and those whose values are not numbers become host
//! functions; regions reach them by host calls. Code size is bounded ([`MAX_INLINED`]).
//!
//! Invariants: what cannot be lowered is a diagnostic that names the construct, never a panic and
//! never other code; the program is verified in debug builds.
//!
//! | file | owns |
//! |---|---|
//! | `value.rs`, `types.rs` | values and activations; host types, leaves of records |
//! | `module.rs`, `tensors.rs`, `export.rs`, `symbols.rs` | modules and regions under construction, named tensors, index expressions |
//! | `classify.rs`, `captures.rs` | which code must be on the host, what functions capture |
//! | `expr.rs`, `equal.rs`, `names.rs`, `scalar.rs`, `whole.rs`, `arrays.rs`, `access.rs`, `update.rs`, `update_list.rs`, `subscript.rs` | expressions |
//! | `branch.rs`, `patterns.rs`, `decide.rs`, `conditions.rs` | `if`, `match`, `where` |
//! | `block.rs`, `clauses.rs`, `sizes.rs`, `order.rs`, `tables.rs`, `table_order.rs`, `table_visit.rs`, `table_reads.rs` | statements and indexed definitions |
//! | `reduce.rs`, `host_reduce.rs`, `host_select.rs`, `lists.rs`, `extremes.rs`, `comprehend.rs`, `derive.rs`, `requested.rs`, `reclaim.rs`, `host_paths.rs`, `prepare.rs` | reductions, reads of lists, comprehensions, derivatives |
//! | `call.rs`, `apply.rs`, `coordinates.rs`, `builtin.rs`, `converged.rs`, `assertion.rs`, `functions.rs`, `rules.rs`, `host_rules.rs` | calls, builtins, host functions |
//! | `host.rs`, `text.rs`, `entry.rs`, `finish.rs` | host code, strings, the entry, outputs and pruning |
//! | `given.rs` | what entries of a session take and leave |

mod access;
mod apply;
mod arrays;
mod assertion;
mod block;
mod branch;
mod builtin;
mod call;
mod captures;
mod classify;
mod clauses;
mod combination;
mod comprehend;
mod conditions;
mod converged;
mod coordinates;
mod decide;
mod derive;
mod entry;
mod equal;
mod export;
mod expr;
mod extremes;
mod finish;
mod functions;
mod gaps;
mod given;
mod host;
mod host_paths;
mod host_reduce;
mod host_rules;
mod host_select;
mod lists;
mod module;
mod names;
mod order;
mod patterns;
mod plain;
mod prepare;
mod python;
mod reclaim;
mod reduce;
mod requested;
mod rules;
mod scalar;
mod sizes;
mod subscript;
mod symbols;
mod table_order;
mod table_placed;
mod table_points;
mod table_reads;
mod table_visit;
mod tables;
mod tensors;
mod text;
mod types;
mod update;
mod update_list;
mod value;
mod whole;

use std::collections::HashMap;

use einlang_source::{Code, Diagnostic, Diagnostics, FileId, Interner, Span};
use einlang_tir::host::{Block, HostType, Program as HostProgram};
use einlang_tir::types::Ident;

use crate::hir::{DefId, ExprId, Program};
use crate::shapes::Shapes;
use crate::stack::with_large_stack;
use crate::types::walk::Captures;
use crate::types::{InstanceId, Ty, Typed};

use value::{Frame, R, Val};

/// Calls nested beyond this are calls of host functions.
pub const MAX_INLINE_DEPTH: usize = 64;

/// A program lowers this many calls in place at most; the others are calls of host functions, so
/// that functions which call each other twice do not make code without end.
pub const MAX_INLINED: usize = 10_000;

/// How deep expressions, calls and sizes may nest together.
const MAX_DEPTH: u32 = 6000;

/// What the command line says.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Self-reads of points that no clause covers give zero in every binding.
    pub zero_fill: bool,
    /// The outputs that are asked for; none means all.
    pub outputs: Option<Vec<String>>,
    /// Bindings of earlier entries, by the place of their names, whose values the entry of the
    /// program takes after the inputs, in this order. Their statements are not run.
    pub given: Vec<Span>,
    /// Values of `let`s of earlier entries that are computed again without printing again.
    pub muted: std::collections::HashSet<Span>,
    /// The outputs are all bindings of this entry, each with its place, and the sizes it declares.
    pub entry: Option<FileId>,
    /// Rules of functions that run on the host are compared with differences.
    pub check_rules: bool,
}

/// A program in host and tensor IR, with what a caller needs to run it.
#[derive(Debug)]
pub struct Lowered {
    /// The code. The entry takes the inputs in order and gives the outputs in order.
    pub program: HostProgram,
    /// The declared inputs.
    pub inputs: Vec<ProgramInput>,
    /// The outputs.
    pub outputs: Vec<ProgramOutput>,
    /// The rules of host functions that are compared with differences.
    pub watches: Vec<einlang_tir::ad::Watch>,
}

/// An `input` of the program.
#[derive(Clone, Debug)]
pub struct ProgramInput {
    /// The name.
    pub name: String,
    /// The declared type.
    pub ty: Ty,
    /// The type of the entry's parameter.
    pub host: HostType,
    /// The function that computes the default value, if there is one.
    pub default: Option<Ident>,
    /// The declaration.
    pub span: Span,
}

/// One output of the program.
#[derive(Clone, Debug)]
pub struct ProgramOutput {
    /// The name; `main` for the value of `main`.
    pub name: String,
    /// The place of the name; none for the value of `main`.
    pub span: Option<Span>,
    /// Its type in the language; tensors of records come as tuples of tensors.
    pub ty: Ty,
    /// The type of the entry's result.
    pub host: HostType,
}

/// Lowers a program that was checked without errors.
pub fn lower(
    program: &Program,
    typed: &Typed,
    shapes: &Shapes,
    interner: &Interner,
    options: &Options,
) -> Result<Lowered, Diagnostics> {
    with_large_stack(|| {
        let Some(root) = program.modules.values().next() else { return Err(Diagnostics::new()) };
        let here = Span::new(root.file, 0, 0);
        let plain = plain::plain_clauses(program);
        let lower = Lower::new(program, typed, shapes, (interner, &plain), options, here);
        lower.run().map_err(|diagnostic| Diagnostics::from(*diagnostic))
    })
}

/// The state of one lowering.
struct Lower<'p> {
    program: &'p Program,
    typed: &'p Typed,
    shapes: &'p Shapes,
    interner: &'p Interner,
    /// Plain bindings as clauses.
    plain: &'p plain::Plain,
    options: &'p Options,
    out: HostProgram,
    /// The names of all host functions and modules.
    names: std::collections::HashSet<String>,
    /// Host values are numbered across the program.
    n_values: u32,
    n_fresh: u32,
    blocks: Vec<Block>,
    modules: Vec<module::ModuleCx>,
    /// The module that numeric code goes to.
    pending: Option<usize>,
    tensors: Vec<tensors::TensorInfo>,
    frame: Frame<'p>,
    /// The extents that `last` refers to, innermost last.
    lasts: Vec<value::Scalar>,
    /// Calls that are being lowered in place, and how many were.
    inline_depth: usize,
    n_inlined: usize,
    functions: functions::Functions,
    inputs: HashMap<DefId, Val<'p>>,
    /// Bindings whose values are given.
    given: HashMap<crate::hir::LocalId, Val<'p>>,
    module_frames: HashMap<InstanceId, Frame<'p>>,
    facts: classify::Facts,
    captures: Captures,
    /// The instances of lambdas by the instance around them.
    lambdas_in: HashMap<InstanceId, Vec<InstanceId>>,
    /// Bindings that a derivative request names.
    requested: std::collections::HashSet<(crate::hir::BodyId, crate::hir::LocalId)>,
    /// Where checks stand under a condition or depend on an index.
    conditional: std::collections::HashSet<(InstanceId, Span)>,
    /// Bodies with derivative requests.
    requesting: std::collections::HashSet<crate::hir::BodyId>,
    /// The instances with requests in them, or in what they call.
    asking: std::collections::HashSet<InstanceId>,
    /// Expressions of sizes that are being evaluated.
    computing: Vec<(InstanceId, ExprId)>,
    /// How many expressions are open inside each other.
    depth: u32,
    /// Coordinates bound by the calls around, whose axes pass through whole.
    coordinates: std::collections::HashSet<crate::hir::LocalId>,
    /// The name of the binding that the next scalar is for.
    hint: Option<String>,
    type_names: HashMap<Ty, Ident>,
    /// Scalars are computed by host instructions in this function.
    host_scalars: bool,
    /// Integers are computed exactly: this is a subscript.
    exact: bool,
    /// Definitions that the host is computing, innermost last.
    tables: Vec<tables::Table<'p>>,
    /// Tensors whose definitions were taken into later modules, by where they were before.
    former: HashMap<(usize, Ident), value::TensorId>,
    /// Derivatives that the host computed before a region which asks for points of them.
    jacobians: HashMap<(value::TensorId, value::TensorId), Val<'p>>,
    /// Tensors that the host computes point by point from points of their own.
    recurrent: HashMap<value::TensorId, String>,
    /// Bindings that the host computes.
    tabulated: std::collections::HashSet<(crate::hir::BodyId, crate::hir::LocalId)>,
    /// How many times, inside each other, it is asked which clause covers a point.
    n_asked: usize,
    /// The expression or statement that is being lowered.
    here: Span,
}

impl<'p> Lower<'p> {
    fn new(
        program: &'p Program,
        typed: &'p Typed,
        shapes: &'p Shapes,
        (interner, plain): (&'p Interner, &'p plain::Plain),
        options: &'p Options,
        here: Span,
    ) -> Lower<'p> {
        let body = program.bodies.ids().next().unwrap_or_else(|| crate::hir::BodyId::from_index(0));
        Lower {
            program,
            typed,
            shapes,
            interner,
            plain,
            options,
            out: HostProgram::default(),
            names: Default::default(),
            n_values: 0,
            n_fresh: 0,
            blocks: Vec::new(),
            modules: Vec::new(),
            pending: None,
            tensors: Vec::new(),
            frame: Frame::new(InstanceId::FIRST, body, None),
            lasts: Vec::new(),
            inline_depth: 0,
            n_inlined: 0,
            functions: functions::Functions::default(),
            inputs: HashMap::new(),
            given: HashMap::new(),
            module_frames: HashMap::new(),
            facts: classify::Facts::new(program, typed),
            captures: Captures::new(program),
            lambdas_in: captures::lambdas_in(typed),
            requested: Default::default(),
            requesting: Default::default(),
            asking: Default::default(),
            conditional: conditional_checks(typed, shapes),
            coordinates: Default::default(),
            computing: Vec::new(),
            depth: 0,
            hint: None,
            type_names: HashMap::new(),
            host_scalars: false,
            exact: false,
            tables: Vec::new(),
            former: HashMap::new(),
            jacobians: HashMap::new(),
            recurrent: Default::default(),
            tabulated: Default::default(),
            n_asked: 0,
            here,
        }
    }

    /// A name for something that has none in the source.
    fn fresh(&mut self, base: &str) -> String {
        self.n_fresh += 1;
        format!("{base}.{}", self.n_fresh)
    }

    /// A name that no other function or module has.
    fn unique(&mut self, base: &str) -> String {
        let mut name = base.to_owned();
        let mut n = 1;
        while !self.names.insert(name.clone()) {
            n += 1;
            name = format!("{base}.{n}");
        }
        name
    }

    fn spelling(&self, name: einlang_source::Name) -> &'p str {
        self.interner.resolve(name)
    }
}

/// The diagnostic for what is not lowered yet.
fn unsupported<T>(span: Span, what: impl Into<String>) -> R<T> {
    let message = format!("not supported yet: {}", what.into());
    Err(Box::new(
        Diagnostic::error(NOT_YET, message, span, "here")
            .with_help("this program is valid, but this version of the compiler cannot run it"),
    ))
}

/// The code of such diagnostics.
const NOT_YET: Code = Code::E0999;

/// The places of checks that are not tested at entry.
fn conditional_checks(
    typed: &Typed,
    shapes: &Shapes,
) -> std::collections::HashSet<(InstanceId, Span)> {
    let of = |id: InstanceId| {
        let checks = shapes.instances.get(id.index()).map_or(&[][..], |shapes| &shapes.checks);
        checks.iter().filter(|check| check.conditional).map(move |check| (id, check.span))
    };
    typed.ids().flat_map(of).collect()
}
