//! `lower`: from a module and its schedule to loop IR, mechanically.
//!
//! Every group becomes the memory of its tensors and the loops of its nest; a clause becomes its
//! body and a store. Nothing is decided here: which points come first, what is kept and what is
//! computed where it is read are the schedule's.
//!
//! The module must be inlined, split into disjoint clauses and free of Jacobian entries. What has no
//! loop IR yet is a [`NotLowered`] with the reason.
//!
//! | file | owns |
//! |---|---|
//! | `scan.rs` | loops over domains |
//! | `pack.rs` | copies of tensors in panels |
//! | `group.rs`, `nest.rs` | groups, their memory, their loops |
//! | `split.rs`, `peel.rs` | rounds and points that are computed apart, so that the others need no tests |
//! | `region.rs`, `read.rs`, `fold.rs` | what is computed at a point |
//! | `fold_tensors.rs` | reductions whose state is kept in memory |
//! | `resume.rs`, `keyed.rs` | folds over prefixes, folds over equal keys |
//! | `sweep.rs`, `open.rs`, `times.rs` | groups that run along time in segments, forward and backward |
//! | `segments.rs`, `moves.rs`, `slots.rs` | their memory, and checkpoints |
//! | `sums.rs`, `carry.rs` | sums over time, added up segment by segment |
//! | `integers.rs` | sizes that kernels compute |
//! | `symbols.rs` | symbols, entry checks |
//! | `own.rs` | memory of one round of a loop |
//! | `free.rs` | when memory is given back |

mod bound;
mod carry;
mod fold;
mod fold_tensors;
mod free;
mod group;
mod integers;
mod keyed;
mod moves;
mod nest;
mod open;
mod own;
mod pack;
mod peel;
mod read;
mod region;
mod resume;
mod scan;
mod segments;
mod slots;
mod split;
mod sums;
mod sweep;
mod symbols;
mod times;

use einlang_index::{Facts, GaveUp, Quasi, Set, Var};
use einlang_tir::module::{Binding, Module, Symbol, SymbolSource};
use einlang_tir::order::Statement;
use einlang_tir::region::Value;
use einlang_tir::types::{Elem, Ident, TensorType};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use crate::ir::{Block, Buffer, BufferDim, BufferId, Kernel, Layout, Operand, Stmt};
use crate::schedule::{Compute, GroupSchedule, Pack, Replay, Schedule};

use self::bound::Bound;

/// Why a module has no loop IR.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NotLowered {
    /// One phrase, such as "a reduction whose state is a tensor".
    pub why: String,
    /// The tensor of a given schedule that it is about, if it is about one.
    pub tensor: Option<Ident>,
}

impl NotLowered {
    pub(crate) fn new(why: impl Into<String>) -> NotLowered {
        NotLowered { why: why.into(), tensor: None }
    }
}

impl From<GaveUp> for NotLowered {
    fn from(reason: GaveUp) -> NotLowered {
        NotLowered::new(format!("index arithmetic gave up: {reason}"))
    }
}

impl std::fmt::Display for NotLowered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.why)
    }
}

pub(crate) type Result<T> = std::result::Result<T, NotLowered>;

/// Lowers a module as its schedule says.
pub fn lower(module: &Module, schedule: &Schedule) -> Result<Kernel> {
    let properties = module.properties;
    if !properties.disjoint {
        return Err(NotLowered::new("clauses that overlap"));
    }
    if !module.functions.is_empty() {
        return Err(NotLowered::new("functions that are not inlined"));
    }
    let mut lower = Lower::new(module, schedule);
    lower.inputs();
    let mut out = Vec::new();
    lower.entry(&mut out)?;
    for pack in &schedule.packs {
        lower.pack(pack, &mut out)?;
    }
    match &schedule.replays[..] {
        [] => {
            for group in &module.groups {
                lower.top_group(group, &mut out)?;
            }
        }
        _ => lower.in_sweeps(schedule, &mut out)?,
    }
    for name in &module.outputs {
        let missing = || NotLowered::new(format!("the output `{}` is not stored", name.as_str()));
        let buffer = *lower.tensors.get(name).ok_or_else(missing)?;
        lower.kernel.outputs.push(buffer);
    }
    lower.unchecked()?;
    lower.kernel.body = Block { stmts: out, results: Vec::new() };
    free::free_dead(&mut lower.kernel);
    Ok(lower.kernel)
}

/// A result of a region.
#[derive(Clone, Copy, Debug)]
enum Part {
    Scalar(Operand),
    Tensor(BufferId),
}

/// A group that is being lowered.
struct Around {
    names: Vec<Ident>,
    /// How many loops are around the whole group.
    n_loops: usize,
}

struct Lower<'m> {
    module: &'m Module,
    bindings: HashMap<Ident, &'m Binding>,
    schedules: HashMap<Ident, &'m GroupSchedule>,
    /// What is computed where it is read.
    at_reads: HashSet<Ident>,
    /// The symbols that are values of a tensor, and those that are extremes of others.
    value_symbols: HashMap<Ident, Vec<Var>>,
    extremes: Vec<&'m Symbol>,
    facts: Facts,
    kernel: Kernel,
    n_values: u32,
    /// What stands for a value of the module, at the place that is being lowered.
    values: HashMap<u32, Operand>,
    tensors: HashMap<Ident, BufferId>,
    /// The buffers whose dimensions are forms of the axes.
    maps: HashMap<BufferId, Vec<Vec<i64>>>,
    /// The tensors that lie in panels too.
    panels: HashMap<Ident, Vec<pack::Panels>>,
    /// Panels that were made outside of all loops, which later groups may read as well.
    packed: Vec<(Pack, pack::Panels)>,
    /// What is packed in blocks of terms and in tiles.
    in_blocks: Vec<Pack>,
    /// The loops around over tiles, and over axes.
    tiles: Vec<pack::Tile>,
    /// The axis whose points are lanes.
    lane: Option<Var>,
    /// The planes in which clauses of the group store that pass on what a window has.
    once: HashMap<Statement, Set>,
    /// The variables that have a value here, innermost last.
    bound: Bound,
    /// The loops around, innermost last, with how many variables are bound outside and whether they
    /// run downwards.
    loops: Vec<(Var, usize, bool)>,
    /// How many variables are bound outside the outermost loop or fold.
    fixed: Option<usize>,
    /// The loops that a fold goes on in, round by round.
    resumed: HashSet<Var>,
    /// What variables that were bound stand for.
    defined: HashMap<Var, Quasi>,
    /// What is known of them.
    context: Set,
    /// The groups around.
    around: Vec<Around>,
    /// Bindings in which some point may have no clause, and those that need marks.
    marked: HashSet<Ident>,
    /// The bindings of which points are wanted that may not be stored.
    gaps: HashSet<Ident>,
    /// Whether the `until` of an extent ended by its condition.
    converged: HashMap<Var, Operand>,
    /// The tensors that are kept one segment at a time.
    segments: HashMap<Ident, segments::Segmented>,
    /// The sums over time that are added up segment by segment, with their partial sums.
    carries: HashMap<Ident, sums::Carries>,
    /// The sum that is being added up.
    partial: Option<sums::Partial>,
    /// The sweep whose loop is over an open axis.
    opening: Option<(Replay, sweep::Sweep)>,
    /// What the axes of bindings that are computed where they are read stand for.
    inlined: HashMap<Var, Quasi>,
    /// Entry checks and inputs that wait for symbols.
    waiting: Vec<symbols::Waiting>,
    /// The buffers that get memory in each round of a loop, with its depth.
    own_memory: Vec<(usize, BufferId)>,
    depth: usize,
}

impl<'m> Lower<'m> {
    fn new(module: &'m Module, schedule: &'m Schedule) -> Lower<'m> {
        let facts = module.facts();
        let context = facts.set().clone();
        let kernel = Kernel {
            name: module.name.clone(),
            vars: module.vars.names().clone(),
            ..Kernel::default()
        };
        let (marked, gaps) = read::marks_and_gaps(module, &facts);
        let mut value_symbols: HashMap<Ident, Vec<Var>> = HashMap::default();
        for symbol in &module.symbols {
            if let SymbolSource::Value(name) = &symbol.source {
                value_symbols.entry(name.clone()).or_default().push(symbol.var);
            }
        }
        let extreme = |s: &&Symbol| matches!(s.source, SymbolSource::Max(_) | SymbolSource::Min(_));
        let first = |group: &'m GroupSchedule| {
            group.tensors.first().map(|tensor| (tensor.name.clone(), group))
        };
        let tensors = schedule.groups.iter().flat_map(|group| &group.tensors);
        let at_reads = tensors.filter(|tensor| tensor.compute == Compute::AtReads);
        Lower {
            module,
            bindings: module.bindings().map(|b| (b.name.clone(), b)).collect(),
            schedules: schedule.groups.iter().filter_map(first).collect(),
            at_reads: at_reads.map(|tensor| tensor.name.clone()).collect(),
            value_symbols,
            extremes: module.symbols.iter().filter(extreme).collect(),
            facts,
            kernel,
            n_values: 0,
            values: HashMap::default(),
            tensors: HashMap::default(),
            maps: HashMap::default(),
            panels: HashMap::default(),
            packed: Vec::new(),
            in_blocks: Vec::new(),
            tiles: Vec::new(),
            lane: None,
            once: HashMap::default(),
            bound: Bound::default(),
            loops: Vec::new(),
            fixed: None,
            resumed: HashSet::default(),
            defined: HashMap::default(),
            context,
            around: Vec::new(),
            marked,
            gaps,
            converged: HashMap::default(),
            segments: HashMap::default(),
            carries: HashMap::default(),
            partial: None,
            opening: None,
            inlined: HashMap::default(),
            waiting: Vec::new(),
            own_memory: Vec::new(),
            depth: 0,
        }
    }

    /// A new value.
    fn fresh(&mut self, elem: Elem) -> Value {
        let number = self.n_values;
        self.n_values = self.n_values.saturating_add(1);
        Value { number, elem }
    }

    /// A buffer for a tensor of a type.
    fn buffer(&mut self, name: &Ident, ty: &TensorType) -> BufferId {
        let dims = ty.dims.iter();
        let dims = dims.map(|dim| BufferDim { extent: dim.extent.clone(), layout: Layout::Full });
        let buffer = Buffer {
            name: name.clone(),
            elem: ty.elem,
            dims: dims.collect(),
            marks: false,
            stack: false,
            unset: false,
            loc: Default::default(),
        };
        let id = self.kernel.add_buffer(buffer);
        self.tensors.insert(name.clone(), id);
        id
    }

    /// Whether a tensor is an input or a binding outside any region.
    fn is_of_module(&self, name: &Ident) -> bool {
        let input = |id: &BufferId| (id.0 as usize) < self.kernel.n_inputs;
        self.bindings.contains_key(name) || self.tensors.get(name).is_some_and(input)
    }

    fn inputs(&mut self) {
        for input in &self.module.inputs {
            self.buffer(&input.name, &input.ty);
        }
        self.kernel.n_inputs = self.kernel.buffers.len();
    }

    /// Lowers a round of a loop.
    fn in_loop<T>(
        &mut self,
        var: Var,
        down: bool,
        inside: impl FnOnce(&mut Self, &mut Vec<Stmt>) -> Result<T>,
    ) -> Result<(Vec<Stmt>, T)> {
        self.loops.push((var, self.bound.len(), down));
        let lowered = self.scoped(|lower, out| {
            lower.repeats();
            lower.bound.push(var);
            inside(lower, out)
        });
        self.loops.pop();
        lowered
    }

    /// What is bound from here on may differ from round to round.
    fn repeats(&mut self) {
        self.fixed = self.fixed.or(Some(self.bound.len()));
    }

    /// Lowers something in a scope of its own: what it binds is unknown afterwards.
    fn scoped<T>(
        &mut self,
        inside: impl FnOnce(&mut Self, &mut Vec<Stmt>) -> Result<T>,
    ) -> Result<(Vec<Stmt>, T)> {
        let (n_bound, fixed, context) = (self.bound.len(), self.fixed, self.context.clone());
        let mut out = Vec::new();
        let result = inside(self, &mut out)?;
        self.bound.truncate(n_bound);
        (self.fixed, self.context) = (fixed, context);
        Ok((out, result))
    }
}

pub(crate) use read::{index_of, is_by_data, needs_marks};
pub(crate) use scan::ranges_of;
pub(crate) use sweep::SHORTEST;
pub(crate) use times::order_of_sweeps;
