//! Pieces: functions of their own for the nests of a large kernel.
//!
//! What LLVM does takes longer than in proportion to the size of a function, and nests often do the same
//! with other tensors: the gates of a cell, the parts of a gradient. So a large kernel is cut at its free
//! loops, and at folds that run once. A piece is called with what it uses of its surroundings, and nests of the same pattern have one.
//! A piece that is itself large is cut further. A kernel that is not large is cut at its nests only, so that two
//! processors can compile it: what is called often stays where it is.
//! What is left is mostly calls and memory; where no loop of it computes anything, it needs no passes.
//!
//! Invariant: which loops are pieces depends on the loop IR alone, and changes nothing of what they compute.

use std::borrow::Cow;

use einlang_index::{Affine, Var, VarKind};
use einlang_loops::ir::{
    Block, BufferId, Fold, Kernel, Loop, Pattern, Role, Stmt, blocks, loose_pattern_of, pattern_of,
    with_offsets,
};
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::types::BasicTypeEnum;
use inkwell::values::{FunctionValue, PointerValue};
use rustc_hash::FxHashMap as HashMap;

use super::estimate::weight;
use super::team::{Given, Part};
use super::{Emit, Refused, Result};
use crate::jit::ENTRY;
use crate::optimise::leave_as_it_is;
use crate::rounds::Jammed;

/// A kernel of fewer statements is cut at its nests only.
const LARGE: usize = 400;

/// A kernel of fewer statements is one function.
const LEAST_CUT: usize = 60;

/// A piece of fewer statements is one function.
const LARGE_PIECE: usize = 100;

/// A single loop of fewer statements is no piece where it runs again and again.
const LEAST: usize = 12;

/// Whether a kernel is large, now or when it is made thoroughly.
pub(super) fn is_large(jammed: &Jammed) -> bool {
    Cut::of(jammed) == Cut::Loops
}

/// Whether a kernel may have pieces, now or when it is made thoroughly.
pub(crate) fn is_cut(jammed: &Jammed) -> bool {
    Cut::of(jammed) != Cut::Nowhere
}

/// Where a kernel is cut.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum Cut {
    #[default]
    Nowhere,
    /// At nests, which are not cut further.
    Nests,
    /// At loops and folds.
    Loops,
}

impl Cut {
    fn of(jammed: &Jammed) -> Cut {
        match weight(&jammed.kernel.body, 1) + jammed.n_spared {
            LARGE.. => Cut::Loops,
            LEAST_CUT.. => Cut::Nests,
            _ => Cut::Nowhere,
        }
    }

    /// Whether a loop may become a piece; inside of others, only one that may do enough for a call.
    fn is_at(self, of: &Loop, inside: bool) -> bool {
        let may_be = of.role != Role::Wave && (of.own.is_divided() || of.role.is_free());
        may_be
            && match self {
                Cut::Nowhere => false,
                Cut::Nests => is_nest(of),
                Cut::Loops => !inside || does_enough(of) || has_fold(of),
            }
    }

    /// Whether the loops of a piece may be pieces.
    fn goes_into(self, block: &Block) -> bool {
        self == Cut::Loops && weight(block, 1) >= LARGE_PIECE
    }
}

/// The loops of one function.
#[derive(Clone, Copy, Default)]
pub(super) struct Loops {
    /// How many of them are open.
    pub(super) n_open: usize,
    /// Whether something is computed in one of them.
    pub(super) compute: bool,
}

/// The pieces of a kernel.
#[derive(Default)]
pub(super) struct Pieces<'c> {
    cut: Cut,
    /// Whether loops here may become pieces.
    open: bool,
    /// For each loose pattern of several loops, the number of the variable for each subscript.
    offsets: HashMap<Vec<i64>, Vec<Option<u32>>>,
    known: HashMap<Vec<i64>, FunctionValue<'c>>,
    /// How many loops are pieces.
    n_loops: usize,
    /// How many folds are pieces.
    n_folds: usize,
}

impl Pieces<'_> {
    /// The pieces of a kernel.
    pub(super) fn of(jammed: &Jammed) -> Self {
        let (kernel, cut) = (&jammed.kernel, Cut::of(jammed));
        let (mut alike, open) = (HashMap::default(), cut != Cut::Nowhere);
        if open {
            gather(kernel, &kernel.body, (cut, false), &mut alike);
        }
        let offsets = alike.into_iter().map(|(key, lists)| (key, columns(&lists))).collect();
        Pieces { cut, open, offsets, ..Pieces::default() }
    }
}

/// What is left out of subscripts, for each loop of a loose pattern.
type Alike = HashMap<Vec<i64>, Vec<Vec<Option<Affine>>>>;

/// Finds loops that may become pieces.
fn gather(kernel: &Kernel, block: &Block, (cut, inside): (Cut, bool), alike: &mut Alike) {
    for stmt in &block.stmts {
        if let Stmt::Loop(of) = stmt
            && cut.is_at(of, inside)
        {
            if let Some(pattern) = loose_pattern_of(of, kernel) {
                alike.entry(pattern.key).or_default().push(pattern.offsets);
            }
            if cut.goes_into(&of.body) {
                gather(kernel, &of.body, (cut, true), alike);
            }
            continue;
        }
        let inside = inside || matches!(stmt, Stmt::Loop(_));
        blocks(stmt).into_iter().for_each(|block| gather(kernel, block, (cut, inside), alike));
    }
}

/// The number of a variable for each place where lists differ; places that always agree with each other have
/// one.
fn columns(lists: &[Vec<Option<Affine>>]) -> Vec<Option<u32>> {
    let mut known: Vec<Vec<&Affine>> = Vec::new();
    let n_places = lists.first().map_or(0, Vec::len);
    let number = |place: usize| {
        let column: Vec<&Affine> =
            lists.iter().map(|list| list.get(place)?.as_ref()).collect::<Option<_>>()?;
        if column.windows(2).all(|pair| pair[0] == pair[1]) {
            return None;
        }
        let at = known.iter().position(|other| *other == column).unwrap_or_else(|| {
            known.push(column);
            known.len() - 1
        });
        u32::try_from(at + 1).ok()
    };
    (0..n_places).map(number).collect()
}

/// Whether a loop does enough for a call, however few rounds its folds have.
fn does_enough(of: &Loop) -> bool {
    is_nest(of) || weight(&of.body, 1) >= LEAST
}

fn is_nest(of: &Loop) -> bool {
    of.body.stmts.iter().any(|stmt| matches!(stmt, Stmt::Loop(_)))
}

fn has_fold(of: &Loop) -> bool {
    of.body.stmts.iter().any(|stmt| matches!(stmt, Stmt::Fold(_)))
}

impl<'c> Emit<'c, '_> {
    /// Emits a part of the loops of a function.
    pub(super) fn in_loop(&mut self, inside: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        self.loops.n_open += 1;
        let done = inside(self);
        self.loops.n_open -= 1;
        done
    }

    /// Takes note of a statement.
    pub(super) fn note_work(&mut self, stmt: &Stmt) {
        let is_work = matches!(
            stmt,
            Stmt::Op { .. } | Stmt::Load { .. } | Stmt::Store { .. } | Stmt::Probe { .. }
        );
        self.loops.compute |= is_work && self.loops.n_open > 0;
    }

    /// Spares the passes for a function of a large kernel all of whose work is done by pieces.
    pub(super) fn without_passes(&self, function: FunctionValue<'c>) {
        if self.pieces.open && !self.loops.compute {
            leave_as_it_is(self.context, function);
        }
    }

    /// Emits a loop as a piece; false if it is none.
    pub(super) fn piece(&mut self, of: &Loop) -> Result<bool> {
        let inside = self.loops.n_open > 0;
        let Pieces { cut, open, .. } = self.pieces;
        let may_be = open && self.lanes.is_none() && cut.is_at(of, inside);
        if !may_be || self.short(of).is_some() {
            return Ok(false);
        }
        // What folds become that are written out counts too.
        let is_enough = |emit: &Self| emit.weight(&of.body).is_none_or(|n| n >= LEAST);
        if inside && !does_enough(of) && !is_enough(self) {
            return Ok(false);
        }
        let (of, offsets) = self.with_variables(of);
        let known = |var| self.known.get(&var).copied();
        let Some(mut pattern) = pattern_of(&of, self.kernel, &known) else { return Ok(false) };
        // Strides follow from extents and from whether there is room between rows.
        let apart = pattern.buffers.iter().map(|b| i64::from(self.apart[b.0 as usize]));
        pattern.key.extend(apart);
        let is_here = |buffer: &BufferId| self.is_on_stack(buffer.0 as usize);
        let is_missing = |var| !self.vars.contains_key(var) && !offsets.contains_key(var);
        if pattern.buffers.iter().any(is_here) || pattern.vars.iter().any(is_missing) {
            return Ok(false);
        }
        let given = self.given_to(&pattern, &offsets)?;
        let rounds = self.builder.build_load(self.i64_type(), self.rounds, "rounds")?;
        let (place, types) = self.hand_over(&given, Some(rounds.into_int_value()), &[])?;
        let function = match self.pieces.known.get(&pattern.key) {
            Some(function) => *function,
            None => self.new_piece(&of, given, &types)?,
        };
        self.pieces.known.insert(pattern.key, function);
        self.call_piece(function, place)?;
        self.known.remove(&of.range.var);
        Ok(true)
    }

    /// Emits a fold that runs once as a piece; false if it is none.
    pub(super) fn fold_piece(&mut self, fold: &Fold) -> Result<bool> {
        let is_alone = self.loops.n_open == 0 && self.lanes.is_none();
        let is_plain = fold.resume.is_none() && fold.key.is_none();
        let is_cut = self.pieces.open && self.pieces.cut == Cut::Loops;
        if !is_cut || !is_alone || !is_plain {
            return Ok(false);
        }
        let stmts = vec![Stmt::Fold(Box::new(fold.clone()))];
        let given = self.given(&Block { stmts, results: Vec::new() })?;
        if given.buffers.iter().any(|buffer| self.is_on_stack(*buffer)) {
            return Ok(false);
        }
        let rounds = self.builder.build_load(self.i64_type(), self.rounds, "rounds")?;
        let rounds = rounds.into_int_value();
        let (place, types) = self.hand_over(&given, Some(rounds), &fold.results)?;
        let name = format!("{ENTRY}_piece_fold_{}", self.pieces.n_folds);
        self.pieces.n_folds += 1;
        let results = fold.results.clone();
        let part = Part { name, is_piece: true, divided: false, given, results };
        let function = self.as_piece(&part, &types, false, &|emit| emit.fold(fold))?;
        self.choose_passes(function, true);
        self.call_piece(function, place)?;
        let ty = self.context.struct_type(&types, false);
        for (at, value) in fold.results.iter().enumerate() {
            let at = types.len() - fold.results.len() + at;
            let from = self.builder.build_struct_gep(ty, place, at as u32, "field")?;
            let is = self.builder.build_load(types[at], from, "result")?;
            self.define(value, is);
        }
        Ok(true)
    }

    /// Calls a piece with what was handed over to it.
    fn call_piece(&mut self, function: FunctionValue<'c>, place: PointerValue<'c>) -> Result<()> {
        let (number, total) = match self.threads {
            Some(threads) => (threads.number, threads.total),
            None => (self.i64(0), self.i64(1)),
        };
        let args = [self.frame.into(), place.into(), number.into(), total.into()];
        let call = self.builder.build_call(function, &args, "done")?;
        let none = || Refused("a piece gives no answer".to_owned());
        self.pass_on(call.try_as_basic_value().basic().ok_or_else(none)?.into_int_value())?;
        let rounds = self.builder.build_load(self.i64_type(), place, "rounds")?;
        self.builder.build_store(self.rounds, rounds)?;
        Ok(())
    }

    /// The loop with variables for what differs in the subscripts of loops that do the same, and what they
    /// are here.
    fn with_variables<'l>(&self, of: &'l Loop) -> (Cow<'l, Loop>, HashMap<Var, Affine>) {
        let as_it_is = || (Cow::Borrowed(of), HashMap::default());
        let Some(loose) = loose_pattern_of(of, self.kernel) else { return as_it_is() };
        let Some(numbers) = self.pieces.offsets.get(&loose.key) else { return as_it_is() };
        let var = |number: &u32| Var::reserved(VarKind::Symbol, *number);
        let vars: Vec<Option<Var>> = numbers.iter().map(|n| n.as_ref().map(var)).collect();
        let Some(replaced) = with_offsets(of, &loose, &vars) else { return as_it_is() };
        let both = vars.into_iter().zip(loose.offsets);
        let offsets = both.filter_map(|(var, offset)| Some((var?, offset?))).collect();
        (Cow::Owned(replaced), offsets)
    }

    /// What a piece is given.
    fn given_to(&self, pattern: &Pattern, offsets: &HashMap<Var, Affine>) -> Result<Given<'c>> {
        let mut given = Given { vars: Vec::new(), values: Vec::new(), buffers: Vec::new() };
        for var in &pattern.vars {
            let value = match offsets.get(var) {
                Some(offset) => self.quasi(&offset.clone().into())?,
                None => self.var(*var)?,
            };
            given.vars.push((*var, value));
        }
        for value in &pattern.values {
            given.values.push((value.number, self.operand(&(*value).into())?));
        }
        given.buffers.extend(pattern.buffers.iter().map(|buffer| buffer.0 as usize));
        Ok(given)
    }

    fn new_piece(
        &mut self,
        of: &Loop,
        given: Given<'c>,
        types: &[BasicTypeEnum<'c>],
    ) -> Result<FunctionValue<'c>> {
        let name = format!("{ENTRY}_piece_{}", self.pieces.n_loops);
        self.pieces.n_loops += 1;
        let divided = self.threads.is_some_and(|threads| threads.divided);
        let part = Part { name, is_piece: true, divided, given, results: Vec::new() };
        let further = self.pieces.cut.goes_into(&of.body);
        let function = self.as_piece(&part, types, further, &|emit| emit.looped(of))?;
        self.choose_passes(function, super::has_roles_of(of));
        Ok(function)
    }

    /// The function of a piece, and whether there may be others in it.
    fn as_piece(
        &mut self,
        part: &Part<'c>,
        types: &[BasicTypeEnum<'c>],
        further: bool,
        inside: &dyn Fn(&mut Self) -> Result<()>,
    ) -> Result<FunctionValue<'c>> {
        self.pieces.open = further;
        let made = self.part(part, types, inside);
        self.pieces.open = true;
        let function = made?;
        let kind = Attribute::get_named_enum_kind_id("noinline");
        let attribute = self.context.create_enum_attribute(kind, 0);
        function.add_attribute(AttributeLoc::Function, attribute);
        Ok(function)
    }
}
