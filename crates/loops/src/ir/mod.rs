//! The loop IR: what machines are asked to do, and in which order.
//!
//! A kernel computes the outputs of one tensor module. Its body is a tree of blocks: loops whose
//! bounds are minima and maxima of quasi-affine expressions, scalar operations, loads and stores of
//! buffers, branches and folds. Scalars are single-assignment; only buffers change. Where a value
//! lies is a matter of the buffer's layout alone: a dimension with a modulus keeps only so many
//! planes, and subscripts always speak of points of the tensor.
//!
//! What goes wrong while a kernel runs is a *trap* with the number of a site. A trap says nothing
//! but that the oracle must be asked: it evaluates the same module on demand and either reports the
//! exact error or finds that nobody needed the point.
//!
//! | file | owns |
//! |---|---|
//! | `stmt.rs` | statements |
//! | `print.rs`, `parse.rs`, `parse_stmt.rs` | the text form |
//! | `verify.rs` | the invariants |
//! | `visit.rs` | visiting statements |
//! | `pattern.rs`, `offsets.rs` | which statements do the same |
//!
//! Absences: no tensors of tensors, no names of the source but for messages.

mod offsets;
mod parse;
mod parse_stmt;
mod pattern;
mod print;
mod stmt;
mod verify;
mod visit;

use einlang_index::{Quasi, Var, Vars};
use einlang_tir::op::Trap;
use einlang_tir::types::{Elem, Ident, Loc};

pub use offsets::with_offsets;
pub use parse::parse_kernel;
pub(crate) use parse_stmt::parse_role;
pub use pattern::{Pattern, is_of_sizes, loose_pattern_of, pattern_of};
pub(crate) use print::show_role;
pub use stmt::{
    Access, Block, Combine, Condition, Fold, FoldStart, Key, Loop, Operand, Own, Range, Role, Stmt,
    Subscript, UntilLoop,
};
pub use verify::{Problem, verify};
pub use visit::{Uses, blocks, each_stmt, results};

/// A position in [`Kernel::buffers`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct BufferId(pub u32);

/// A position in [`Kernel::sites`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SiteId(pub u32);

/// The code of one tensor module.
#[derive(Clone, Debug, Default)]
pub struct Kernel {
    /// The name of the module.
    pub name: String,
    /// The names of indices and symbols.
    pub vars: Vars,
    /// The symbols whose values come from the caller.
    pub sizes: Vec<(Var, Size)>,
    /// The buffers, those of the inputs first.
    pub buffers: Vec<Buffer>,
    /// How many buffers are inputs.
    pub n_inputs: usize,
    /// The buffers that leave, in the order of the module's outputs.
    pub outputs: Vec<BufferId>,
    /// Where it may trap.
    pub sites: Vec<Site>,
    /// What it does.
    pub body: Block,
}

/// Where the value of a symbol comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Size {
    /// The next number that the caller passes.
    Argument,
    /// The extent of an axis of an input.
    Shape(BufferId, u32),
}

/// A piece of memory for one tensor.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// The tensor.
    pub name: Ident,
    /// The type of the elements.
    pub elem: Elem,
    /// The dimensions, outermost first.
    pub dims: Vec<BufferDim>,
    /// Whether it is remembered which elements were stored.
    pub marks: bool,
    /// Whether it lies on the stack where its size is a constant, and, if it keeps a window only, in
    /// memory of the thread where it is not.
    pub stack: bool,
    /// Whether code stores every element before anything reads one, so that what the memory held
    /// before does not matter.
    pub unset: bool,
    /// Where the tensor was defined.
    pub loc: Loc,
}

/// What the names of panels end with, which are copies of what a tile reads.
const PANELS: &str = ".packed";

impl Buffer {
    /// The name of the panels of a tensor.
    pub fn panels_of(tensor: &str) -> Ident {
        Ident::new(&format!("{tensor}{PANELS}"))
    }

    /// Whether it has the panels of a tensor.
    pub fn has_panels(&self) -> bool {
        self.name.as_str().ends_with(PANELS)
    }
}

/// One dimension of a buffer.
#[derive(Clone, Debug)]
pub struct BufferDim {
    /// The length of the tensor's axis.
    pub extent: Quasi,
    /// How it is kept.
    pub layout: Layout,
}

/// How the planes of one dimension are kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Layout {
    /// All of them.
    Full,
    /// Plane `x` at `x mod W`.
    Mod(i64),
    /// As many as there are so far: the axis of an `until`, which is outermost in memory.
    Open,
}

/// A place where a kernel may trap.
#[derive(Clone, Debug)]
pub struct Site {
    /// What is done there.
    pub what: String,
    /// Where it was written.
    pub loc: Loc,
    /// What goes wrong there, as far as it is known; the text form does not say it.
    pub fault: Fault,
}

/// What goes wrong at a site.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Fault {
    /// What the site says cannot be done.
    #[default]
    Other,
    /// A tensor is read at a point that is not there.
    Read {
        /// By the group that computes it.
        own: bool,
        /// At a point that data say.
        by_data: bool,
        /// The subscripts of the load are those of the tensor.
        plain: bool,
    },
    /// The program stops here, and the site has its message.
    Stop(Trap),
}

impl Kernel {
    /// The buffer with this number.
    pub fn buffer(&self, id: BufferId) -> Option<&Buffer> {
        self.buffers.get(id.0 as usize)
    }

    /// A new buffer.
    pub fn add_buffer(&mut self, buffer: Buffer) -> BufferId {
        self.buffers.push(buffer);
        BufferId(self.buffers.len() as u32 - 1)
    }

    /// A new site.
    pub fn add_site(&mut self, what: impl Into<String>, loc: Loc) -> SiteId {
        self.sites.push(Site { what: what.into(), loc, fault: Fault::default() });
        SiteId(self.sites.len() as u32 - 1)
    }
}
