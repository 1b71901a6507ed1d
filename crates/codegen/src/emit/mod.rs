//! From loop IR to LLVM IR.
//!
//! A kernel becomes one function. Indices, states of folds and what branches yield live in slots on the
//! stack, which LLVM turns into registers; scalars are LLVM values. Whatever can go wrong returns from
//! the function at once, with the number of a site.
//!
//! | file | owns |
//! |---|---|
//! | `stmt.rs` | statements, branches, loops |
//! | `index.rs`, `divide.rs` | index expressions, bounds, conditions on indices; quotients by constants |
//! | `places.rs` | places of elements that are found before loops, where code is made quickly |
//! | `memory.rs`, `own.rs`, `rows.rs`, `scopes.rs` | buffers: where they lie, addresses, tests; memory of one thread; rows apart; that they never meet |
//! | `op.rs`, `cast.rs`, `narrow.rs` | scalar operations, conversions, narrow floats |
//! | `powers.rs` | powers by products and roots |
//! | `math.rs` | elementary functions |
//! | `fold.rs`, `sums.rs`, `keys.rs` | folds, sums in pairs, reductions by keys |
//! | `lanes/` | loops whose rounds are lanes of vectors |
//! | `steps.rs` | short steps of recurrences, several written out |
//! | `passing.rs` | rows that recurrences pass by once, fetched ahead |
//! | `short.rs`, `spare.rs` | loops and folds that are written out; what is not, where code is made quickly |
//! | `piece.rs` | the nests of large kernels, which are functions of their own |
//! | `team.rs`, `estimate.rs` | what threads run together, and how much work it is |
//! | `service.rs` | calls of the surroundings |

mod cast;
mod divide;
mod estimate;
mod fold;
mod index;
mod keys;
mod lanes;
mod math;
mod memory;
mod narrow;
mod op;
mod own;
mod passing;
mod piece;
mod places;
mod powers;
mod rows;
mod scopes;
mod service;
mod short;
mod spare;
mod steps;
mod stmt;
mod sums;
mod taken;
mod team;
mod wave;

use einlang_index::Var;
use einlang_loops::ir::{Block, Kernel, Loop, Operand, Role, Stmt};
use einlang_tir::constant::Const;
use einlang_tir::region::Value;
use einlang_tir::types::{Elem, ElemKind};
use inkwell::attributes::AttributeLoc;
use inkwell::basic_block::BasicBlock;
use inkwell::builder::{Builder, BuilderError};
use inkwell::context::Context;
use inkwell::module::Module;
use inkwell::types::{BasicTypeEnum, IntType};
use inkwell::values::{BasicValueEnum, FunctionValue, IntValue, PointerValue};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use self::memory::Slots;
pub(crate) use self::piece::is_cut;
use self::piece::{Loops, Pieces};
use self::scopes::Scopes;
use self::spare::Spared;
use crate::frame::{Field, Tables, Told};
use crate::jit::ENTRY;
use crate::optimise::CHOSEN;
use crate::rounds::Jammed;
use crate::tiers::{Quality, Sums};

/// How much more often a branch goes the usual way.
const OFTEN: u64 = 1 << 20;

/// Why there is no code.
#[derive(Clone, Debug)]
pub(crate) struct Refused(pub(crate) String);

impl From<BuilderError> for Refused {
    fn from(error: BuilderError) -> Refused {
        Refused(error.to_string())
    }
}

type Result<T> = std::result::Result<T, Refused>;

/// A kernel as LLVM IR.
pub(crate) struct Emitted<'c> {
    pub(crate) module: Module<'c>,
    pub(crate) tables: Tables,
    /// What becomes of sums.
    pub(crate) sums: Sums,
    /// About how many instructions thorough code has more.
    pub(crate) n_spared: usize,
}

/// Translates a kernel for code of a quality, which may be checked and may tell what goes wrong: what it computes is
/// the same, by calls and loops or written out.
pub(crate) fn emit<'c>(
    context: &'c Context,
    jammed: &Jammed,
    (checked, tells): (bool, bool),
    quality: Quality,
) -> Result<Emitted<'c>> {
    let kernel = &jammed.kernel;
    let module = context.create_module(&kernel.name);
    let pointer = context.ptr_type(Default::default());
    let function =
        module.add_function(ENTRY, context.i64_type().fn_type(&[pointer.into()], false), None);
    if has_roles(&kernel.body) {
        let attribute = context.create_string_attribute(CHOSEN, "");
        function.add_attribute(AttributeLoc::Function, attribute);
    }
    let entry = context.append_basic_block(function, "entry");
    let body = context.append_basic_block(function, "body");
    let missing = || Refused("the function has no frame".to_owned());
    let frame = function.get_nth_param(0).ok_or_else(missing)?.into_pointer_value();
    let rounds = {
        let builder = context.create_builder();
        builder.position_at_end(entry);
        builder.build_alloca(context.i64_type(), "rounds")?
    };
    let mut emit = Emit {
        kernel,
        context,
        module,
        builder: context.create_builder(),
        function,
        entry,
        frame,
        tells,
        rounds,
        vars: HashMap::default(),
        before: HashMap::default(),
        values: HashMap::default(),
        known: HashMap::default(),
        buffers: Vec::new(),
        apart: rows::may_be_apart(kernel),
        passing: passing::passing(kernel),
        lanes: None,
        round: None,
        terms: None,
        fetches: true,
        places: Vec::new(),
        threads: None,
        wave: None,
        pieces: Pieces::of(jammed),
        loops: Loops::default(),
        spared: Spared::new(quality, piece::is_large(jammed), jammed.n_spared),
        scopes: Scopes::new(context, kernel.buffers.len()),
        tables: Tables { checked, ..Tables::default() },
    };
    emit.builder.position_at_end(body);
    emit.builder.build_store(rounds, emit.i64(0))?;
    emit.begin()?;
    emit.stmts(&kernel.body)?;
    emit.builder.build_return(Some(&emit.i64(0)))?;
    emit.builder.position_at_end(entry);
    emit.builder.build_unconditional_branch(body)?;
    emit.without_passes(function);
    let (sums, n_spared) = (emit.spared.sums(), emit.spared.n_instructions);
    Ok(Emitted { module: emit.module, tables: emit.tables, sums, n_spared })
}

/// Whether some loop is to run as lanes or several rounds at once.
fn has_roles(block: &Block) -> bool {
    block.stmts.iter().any(|stmt| match stmt {
        Stmt::Loop(of) => has_roles_of(of),
        Stmt::If { then, otherwise, .. } => has_roles(then) || has_roles(otherwise),
        Stmt::Team(block) => has_roles(block),
        _ => false,
    })
}

fn has_roles_of(of: &Loop) -> bool {
    matches!(of.role, Role::Lane(_) | Role::Unroll(_)) || has_roles(&of.body)
}

/// A kernel that is being translated.
struct Emit<'c, 'k> {
    kernel: &'k Kernel,
    context: &'c Context,
    module: Module<'c>,
    builder: Builder<'c>,
    function: FunctionValue<'c>,
    /// The block of slots.
    entry: BasicBlock<'c>,
    frame: PointerValue<'c>,
    /// Whether it tells what goes wrong.
    tells: bool,
    /// How many rounds were not told to the surroundings yet.
    rounds: PointerValue<'c>,
    /// The slots of indices and symbols.
    vars: HashMap<Var, PointerValue<'c>>,
    /// The block before each loop that is open, by its index.
    before: HashMap<Var, BasicBlock<'c>>,
    values: HashMap<u32, BasicValueEnum<'c>>,
    /// The numbers that variables are known to be.
    known: HashMap<Var, i64>,
    buffers: Vec<Slots<'c>>,
    /// Which of them may have room after their rows.
    apart: Vec<bool>,
    /// The results of loads that pass by their elements once.
    passing: HashSet<u32>,
    /// The lanes, inside a loop of them.
    lanes: Option<lanes::Lanes<'c>>,
    /// The index of the innermost loop that is open and no loop of lanes.
    round: Option<Var>,
    /// The index of the innermost fold that is open, and its bounds.
    terms: Option<(Var, IntValue<'c>, IntValue<'c>)>,
    /// Whether the round that is being emitted fetches ahead.
    fetches: bool,
    /// The places that were found before loops of the function that are open, the outermost first.
    places: Vec<places::Places<'c>>,
    /// The threads, inside a team.
    threads: Option<team::Threads<'c>>,
    /// The wave that is being emitted.
    wave: Option<wave::Wave<'c>>,
    pieces: Pieces<'c>,
    /// The loops of the function that is being emitted.
    loops: Loops,
    spared: Spared,
    scopes: Scopes<'c>,
    tables: Tables,
}

impl<'c> Emit<'c, '_> {
    /// Reads the sizes and looks where the inputs lie.
    fn begin(&mut self) -> Result<()> {
        let sizes = self.field(crate::frame::Field::sizes)?;
        for (at, (var, _)) in self.kernel.sizes.iter().enumerate() {
            let place = self.word(sizes, at as u64)?;
            let value = self.builder.build_load(self.context.i64_type(), place, "size")?;
            let slot = self.var_slot(*var)?;
            self.builder.build_store(slot, value)?;
        }
        for buffer in 0..self.kernel.buffers.len() {
            let slots = self.slots(buffer)?;
            self.buffers.push(slots);
        }
        for buffer in 0..self.kernel.n_inputs {
            self.look(buffer)?;
            self.given_shape(buffer)?;
        }
        Ok(())
    }

    fn i64_type(&self) -> IntType<'c> {
        self.context.i64_type()
    }

    fn i64(&self, value: i64) -> IntValue<'c> {
        self.context.i64_type().const_int(value as u64, true)
    }

    /// A place on the stack.
    fn slot(&self, ty: BasicTypeEnum<'c>, name: &str) -> Result<PointerValue<'c>> {
        let builder = self.context.create_builder();
        match self.entry.get_first_instruction() {
            Some(first) => builder.position_before(&first),
            None => builder.position_at_end(self.entry),
        }
        Ok(builder.build_alloca(ty, name)?)
    }

    /// Places for so many words, one after the other.
    fn words(&self, n: usize, name: &str) -> Result<PointerValue<'c>> {
        let ty = self.i64_type().array_type(u32::try_from(n.max(1)).unwrap_or(u32::MAX));
        self.slot(ty.into(), name)
    }

    /// The slot of an index or symbol.
    fn var_slot(&mut self, var: Var) -> Result<PointerValue<'c>> {
        if let Some(slot) = self.vars.get(&var) {
            return Ok(*slot);
        }
        let name = self.kernel.vars.name(var).unwrap_or("index").to_owned();
        let slot = self.slot(self.i64_type().into(), &name)?;
        self.vars.insert(var, slot);
        Ok(slot)
    }

    fn block(&self, name: &str) -> BasicBlock<'c> {
        self.context.append_basic_block(self.function, name)
    }

    /// Goes on in another block.
    fn at(&self, block: BasicBlock<'c>) {
        self.builder.position_at_end(block);
    }

    fn jump(&self, to: BasicBlock<'c>) -> Result<()> {
        self.builder.build_unconditional_branch(to)?;
        Ok(())
    }

    fn branch(&self, on: IntValue<'c>, yes: BasicBlock<'c>, no: BasicBlock<'c>) -> Result<()> {
        self.builder.build_conditional_branch(on, yes, no)?;
        Ok(())
    }

    /// A branch that nearly always goes one way: what the other way needs must not cost that one registers.
    fn branch_mostly(
        &self,
        on: IntValue<'c>,
        (yes, no): (BasicBlock<'c>, BasicBlock<'c>),
        mostly: bool,
    ) -> Result<()> {
        let branch = self.builder.build_conditional_branch(on, yes, no)?;
        let (often, rarely) = if mostly { (OFTEN, 1) } else { (1, OFTEN) };
        let weight = |number: u64| self.context.i32_type().const_int(number, false).into();
        let name = self.context.metadata_string("branch_weights").into();
        let node = self.context.metadata_node(&[name, weight(often), weight(rarely)]);
        let refuse = |_| Refused("metadata was refused".to_owned());
        branch.set_metadata(node, self.context.get_kind_id("prof")).map_err(refuse)
    }

    /// Returns unless the condition holds, and goes on where it does.
    fn require(&self, holds: IntValue<'c>, code: i64) -> Result<()> {
        self.require_or(holds, code, |_| Ok(()))
    }

    /// Returns with a code unless something holds; code that tells what goes wrong does so before that.
    fn require_or(
        &self,
        holds: IntValue<'c>,
        code: i64,
        before: impl FnOnce(&Self) -> Result<()>,
    ) -> Result<()> {
        let (fine, wrong) = (self.block("fine"), self.block("wrong"));
        self.branch_mostly(holds, (fine, wrong), true)?;
        self.at(wrong);
        if self.tells {
            before(self)?;
        }
        self.builder.build_return(Some(&self.i64(code)))?;
        self.at(fine);
        Ok(())
    }

    /// Tells what goes wrong.
    fn tell_fault(&self, told: Told, words: &[IntValue<'c>]) -> Result<()> {
        let to = self.field(Field::told)?;
        self.builder.build_store(to, self.i64(told as i64))?;
        for (at, word) in (1..).zip(words) {
            self.builder.build_store(self.word(to, at)?, *word)?;
        }
        Ok(())
    }

    /// The LLVM type of a scalar. Floats that LLVM would compute with differently are their bits.
    fn ty(&self, elem: Elem) -> BasicTypeEnum<'c> {
        match elem {
            Elem::Bool => self.context.bool_type().into(),
            Elem::F32 => self.context.f32_type().into(),
            Elem::F64 => self.context.f64_type().into(),
            Elem::I8 | Elem::U8 | Elem::F8E4M3 => self.context.i8_type().into(),
            Elem::I16 | Elem::U16 | Elem::F16 | Elem::BF16 => self.context.i16_type().into(),
            Elem::I32 | Elem::U32 => self.context.i32_type().into(),
            Elem::I64 | Elem::U64 => self.context.i64_type().into(),
        }
    }

    fn constant(&self, value: Const) -> Result<BasicValueEnum<'c>> {
        let bits = self.i64_type().const_int(value.bits(), false);
        self.of_bits(bits, value.elem())
    }

    fn operand(&self, operand: &Operand) -> Result<BasicValueEnum<'c>> {
        match operand {
            Operand::Const(constant) => self.constant(*constant),
            Operand::Value(value) => {
                let missing = || Refused(format!("%{} has no value", value.number));
                self.values.get(&value.number).copied().ok_or_else(missing)
            }
        }
    }

    fn define(&mut self, value: &Value, is: BasicValueEnum<'c>) {
        self.values.insert(value.number, is);
    }

    /// A scalar as the bits of a [`Const`].
    fn to_bits(&self, value: BasicValueEnum<'c>, elem: Elem) -> Result<IntValue<'c>> {
        let word = self.i64_type();
        Ok(match elem {
            Elem::F64 => self.builder.build_bit_cast(value, word, "bits")?.into_int_value(),
            Elem::F32 => {
                let bits = self.builder.build_bit_cast(value, self.context.i32_type(), "bits")?;
                self.builder.build_int_z_extend(bits.into_int_value(), word, "bits")?
            }
            _ => match elem.kind() {
                ElemKind::Signed => self.widen(value.into_int_value(), true)?,
                _ => self.widen(value.into_int_value(), false)?,
            },
        })
    }

    /// The scalar of some bits.
    fn of_bits(&self, bits: IntValue<'c>, elem: Elem) -> Result<BasicValueEnum<'c>> {
        Ok(match elem {
            Elem::F64 => self.builder.build_bit_cast(bits, self.context.f64_type(), "value")?,
            Elem::F32 => {
                let half =
                    self.builder.build_int_truncate(bits, self.context.i32_type(), "bits")?;
                self.builder.build_bit_cast(half, self.context.f32_type(), "value")?
            }
            _ => match self.ty(elem).into_int_type() {
                ty if ty.get_bit_width() == 64 => bits.into(),
                ty => self.builder.build_int_truncate(bits, ty, "value")?.into(),
            },
        })
    }

    /// An integer as 64 bits.
    fn widen(&self, value: IntValue<'c>, signed: bool) -> Result<IntValue<'c>> {
        let word = self.i64_type();
        Ok(match (value.get_type().get_bit_width(), signed) {
            (64, _) => value,
            (_, true) => self.builder.build_int_s_extend(value, word, "wide")?,
            (_, false) => self.builder.build_int_z_extend(value, word, "wide")?,
        })
    }
}
