//! Teams: statements that several threads run together.
//!
//! They become a function of their own, which every thread calls with what the statements use of their
//! surroundings. A thread takes its part of the rounds of a loop that is divided; everything else is
//! the same code for all. The surroundings decide by the amount of work, which is estimated before,
//! how many threads there are; one thread calls the same function.

use einlang_index::Var;
use einlang_loops::ir::{Block, Loop, Stmt, Uses, each_stmt};
use einlang_tir::region::Value;
use inkwell::IntPredicate;
use inkwell::attributes::AttributeLoc;
use inkwell::module::Linkage;
use inkwell::types::BasicTypeEnum;
use inkwell::values::{BasicValueEnum, FunctionValue, IntValue, PointerValue};
use rustc_hash::FxHashMap as HashMap;

use super::{Emit, Refused, Result};
use crate::frame::Field;
use crate::jit::ENTRY;
use crate::optimise::CHOSEN;

/// Where a thread of a team is.
#[derive(Clone, Copy)]
pub(super) struct Threads<'c> {
    /// Which thread this is.
    pub(super) number: IntValue<'c>,
    /// How many there are.
    pub(super) total: IntValue<'c>,
    /// Whether this is inside a loop that is divided.
    pub(super) divided: bool,
}

/// What statements use of their surroundings.
pub(super) struct Given<'c> {
    pub(super) vars: Vec<(Var, IntValue<'c>)>,
    pub(super) values: Vec<(u32, BasicValueEnum<'c>)>,
    pub(super) buffers: Vec<usize>,
}

/// A function of its own for a part of a kernel.
pub(super) struct Part<'c> {
    pub(super) name: String,
    /// Whether it is a piece of what one thread runs, and counts the rounds of its caller.
    pub(super) is_piece: bool,
    /// Whether it is inside a loop that is divided.
    pub(super) divided: bool,
    pub(super) given: Given<'c>,
    /// What it computes for its caller.
    pub(super) results: Vec<Value>,
}

impl<'c> Emit<'c, '_> {
    pub(super) fn team(&mut self, block: &Block) -> Result<()> {
        if self.threads.is_some() || self.lanes.is_some() {
            return Err(Refused("a team inside of another".to_owned()));
        }
        let given = self.given(block)?;
        let (place, types) = self.hand_over(&given, None, &[])?;
        let work = self.estimate(block)?;
        let name = format!("{ENTRY}_team");
        let part = Part { name, is_piece: false, divided: false, given, results: Vec::new() };
        let function = self.part(&part, &types, &|emit| emit.stmts(block))?;
        self.choose_passes(function, super::has_roles(block));
        let function = function.as_global_value().as_pointer_value();
        let code = self.service(Field::team, &[function.into(), place.into(), work.into()])?;
        self.pass_on(code)?;
        for buffer in allocated(block) {
            self.look(buffer)?;
            self.given_shape(buffer)?;
        }
        Ok(())
    }

    /// Returns with the code of a part unless that is fine.
    pub(super) fn pass_on(&self, code: IntValue<'c>) -> Result<()> {
        let (fine, wrong) = (self.block("fine"), self.block("wrong"));
        let is_fine = self.compare(IntPredicate::EQ, code, self.i64(0))?;
        self.branch(is_fine, fine, wrong)?;
        self.at(wrong);
        self.builder.build_return(Some(&code))?;
        self.at(fine);
        Ok(())
    }

    /// Puts what a part is given in a place on the stack, after a number of the caller if there is one and
    /// before what it computes.
    pub(super) fn hand_over(
        &self,
        given: &Given<'c>,
        first: Option<IntValue<'c>>,
        results: &[Value],
    ) -> Result<(PointerValue<'c>, Vec<BasicTypeEnum<'c>>)> {
        let mut fields: Vec<BasicValueEnum<'c>> = first.into_iter().map(Into::into).collect();
        fields.extend(given.vars.iter().map(|(_, value)| BasicValueEnum::from(*value)));
        fields.extend(given.values.iter().map(|(_, value)| *value));
        for buffer in &given.buffers {
            fields.extend(match first {
                Some(_) => self.told(*buffer)?,
                None => self.described(*buffer)?,
            });
        }
        fields.extend(results.iter().map(|value| self.ty(value.elem).const_zero()));
        let types: Vec<BasicTypeEnum<'c>> = fields.iter().map(|field| field.get_type()).collect();
        let ty = self.context.struct_type(&types, false);
        let place = self.slot(ty.into(), "given")?;
        for (at, field) in fields.iter().enumerate() {
            let to = self.builder.build_struct_gep(ty, place, at as u32, "field")?;
            self.builder.build_store(to, *field)?;
        }
        Ok((place, types))
    }

    /// Lets a function whose loops have roles do with few passes.
    pub(super) fn choose_passes(&self, function: FunctionValue<'c>, has_roles: bool) {
        if has_roles {
            let attribute = self.context.create_string_attribute(CHOSEN, "");
            function.add_attribute(AttributeLoc::Function, attribute);
        }
    }

    /// What a block uses.
    pub(super) fn given(&mut self, block: &Block) -> Result<Given<'c>> {
        let mut uses = Uses::of(block);
        let mut buffers: Vec<usize> = Vec::new();
        each_stmt(block, &mut |stmt| {
            let buffer = match stmt {
                Stmt::Load { buffer, .. } | Stmt::Probe { buffer, .. } => buffer,
                Stmt::Store { buffer, .. } | Stmt::Alloc(buffer) | Stmt::Free(buffer) => buffer,
                _ => return,
            };
            buffers.push(buffer.0 as usize);
            if let (Stmt::Alloc(_), Some(of)) = (stmt, self.kernel.buffer(*buffer)) {
                for dim in &of.dims {
                    dim.extent.for_each_var(&mut |var| {
                        uses.vars.insert(var);
                    });
                }
            }
        });
        buffers.sort_unstable();
        buffers.dedup();
        uses.vars.extend(buffers.iter().flat_map(|buffer| self.sizes_of(*buffer)));
        let mut used: Vec<Var> = uses.vars.into_iter().collect();
        used.retain(|var| self.vars.contains_key(var) && !self.known.contains_key(var));
        used.sort_unstable();
        let mut vars = Vec::with_capacity(used.len());
        for var in used {
            vars.push((var, self.var(var)?));
        }
        let mut numbers: Vec<u32> = uses.values.into_iter().collect();
        numbers.sort_unstable();
        let values = numbers.into_iter().filter_map(|n| Some((n, *self.values.get(&n)?)));
        let values = values.collect();
        Ok(Given { vars, values, buffers })
    }

    /// The function of a part, given the types of what is handed over to it.
    pub(super) fn part(
        &mut self,
        part: &Part<'c>,
        types: &[BasicTypeEnum<'c>],
        inside: &dyn Fn(&mut Self) -> Result<()>,
    ) -> Result<FunctionValue<'c>> {
        let (word, pointer) = (self.i64_type(), self.context.ptr_type(Default::default()));
        let ty = word.fn_type(&[pointer.into(), pointer.into(), word.into(), word.into()], false);
        let function = self.module.add_function(&part.name, ty, Some(Linkage::Internal));
        let missing = || Refused("the function has no frame".to_owned());
        let param = |at: u32| function.get_nth_param(at).ok_or_else(missing);
        let (frame, from) = (param(0)?.into_pointer_value(), param(1)?.into_pointer_value());
        let (number, total) = (param(2)?.into_int_value(), param(3)?.into_int_value());
        let entry = self.context.append_basic_block(function, "entry");
        let body = self.context.append_basic_block(function, "body");
        let outer_at = self.builder.get_insert_block();
        let in_team = !part.is_piece || self.threads.is_some();
        let threads = Threads { number, total, divided: part.divided };
        let outer = Outer {
            function: std::mem::replace(&mut self.function, function),
            entry: std::mem::replace(&mut self.entry, entry),
            frame: std::mem::replace(&mut self.frame, frame),
            rounds: self.rounds,
            vars: std::mem::take(&mut self.vars),
            before: std::mem::take(&mut self.before),
            values: std::mem::take(&mut self.values),
            buffers: std::mem::take(&mut self.buffers),
            threads: std::mem::replace(&mut self.threads, in_team.then_some(threads)),
            round: self.round.take(),
            terms: self.terms.take(),
            places: std::mem::take(&mut self.places),
            loops: std::mem::take(&mut self.loops),
        };
        let known = self.known.clone();
        self.at(body);
        let made = self.part_body(part, types, from, &outer, inside);
        self.known = known;
        self.at(entry);
        self.builder.build_unconditional_branch(body)?;
        self.without_passes(function);
        self.function = outer.function;
        self.entry = outer.entry;
        self.frame = outer.frame;
        self.rounds = outer.rounds;
        self.vars = outer.vars;
        self.before = outer.before;
        self.values = outer.values;
        self.buffers = outer.buffers;
        self.threads = outer.threads;
        self.round = outer.round;
        self.terms = outer.terms;
        self.places = outer.places;
        self.loops = outer.loops;
        if let Some(block) = outer_at {
            self.at(block);
        }
        made.map(|()| function)
    }

    fn part_body(
        &mut self,
        part: &Part<'c>,
        types: &[BasicTypeEnum<'c>],
        from: PointerValue<'c>,
        outer: &Outer<'c>,
        inside: &dyn Fn(&mut Self) -> Result<()>,
    ) -> Result<()> {
        let given = &part.given;
        let ty = self.context.struct_type(types, false);
        let mut fields = Vec::with_capacity(types.len());
        for (at, field) in types.iter().enumerate() {
            let place = self.builder.build_struct_gep(ty, from, at as u32, "field")?;
            fields.push(self.builder.build_load(*field, place, "given")?);
        }
        let mut fields = fields.into_iter().peekable();
        self.rounds = self.slot(self.i64_type().into(), "rounds")?;
        let counted = fields.next_if(|_| part.is_piece);
        self.builder.build_store(self.rounds, counted.unwrap_or(self.i64(0).into()))?;
        for ((var, _), value) in given.vars.iter().zip(&mut fields) {
            let slot = self.var_slot(*var)?;
            self.builder.build_store(slot, value)?;
        }
        for ((number, _), value) in given.values.iter().zip(&mut fields) {
            self.values.insert(*number, value);
        }
        for buffer in 0..self.kernel.buffers.len() {
            let slots = match given.buffers.contains(&buffer) {
                true => self.slots(buffer)?,
                false => outer.buffers[buffer].nowhere(),
            };
            self.buffers.push(slots);
        }
        for buffer in &given.buffers {
            match part.is_piece {
                true => self.take_told(*buffer, &outer.buffers[*buffer], &mut fields)?,
                false => self.take_over(*buffer, &outer.buffers[*buffer], &mut fields)?,
            }
        }
        inside(self)?;
        for (at, value) in part.results.iter().enumerate() {
            let at = types.len() - part.results.len() + at;
            let place = self.builder.build_struct_gep(ty, from, at as u32, "field")?;
            self.builder.build_store(place, self.operand(&(*value).into())?)?;
        }
        if part.is_piece {
            let rounds = self.builder.build_load(self.i64_type(), self.rounds, "rounds")?;
            let place = self.builder.build_struct_gep(ty, from, 0, "field")?;
            self.builder.build_store(place, rounds)?;
        }
        self.builder.build_return(Some(&self.i64(0)))?;
        Ok(())
    }

    /// The threads of a team wait for each other.
    pub(super) fn barrier(&self) -> Result<()> {
        self.ask(Field::barrier, &[], -1)
    }

    /// The part of a loop's rounds that a thread runs.
    pub(super) fn own_part(
        &self,
        of: &Loop,
        lo: IntValue<'c>,
        hi: IntValue<'c>,
    ) -> Result<(IntValue<'c>, IntValue<'c>)> {
        let Some(Threads { number, total, .. }) = self.threads.filter(|_| of.own.is_divided())
        else {
            return Ok((lo, hi));
        };
        let grain = self.i64(of.role.grain());
        let rounds = self.builder.build_int_nsw_sub(hi, lo, "rounds")?;
        let per = self.builder.build_int_nsw_mul(total, grain, "per")?;
        let up = self.add(rounds, self.builder.build_int_nsw_sub(per, self.i64(1), "up")?)?;
        let share = self.builder.build_int_signed_div(up, per, "share")?;
        let share = self.mul(share, grain)?;
        let from = self.add(lo, self.mul(number, share)?)?;
        let to = self.add(from, share)?;
        let least = |a: IntValue<'c>, b: IntValue<'c>| -> Result<IntValue<'c>> {
            let less = self.compare(IntPredicate::SLT, a, b)?;
            Ok(self.builder.build_select(less, a, b, "part")?.into_int_value())
        };
        Ok((least(from, hi)?, least(to, hi)?))
    }

    /// Runs the rounds of a loop, which may be divided.
    pub(super) fn in_part(
        &mut self,
        of: &Loop,
        inside: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        let before = self.threads;
        if let Some(threads) = self.threads.as_mut().filter(|_| of.own.is_divided()) {
            threads.divided = true;
        }
        let done = inside(self);
        self.threads = before;
        done
    }
}

/// What is put aside while a team is emitted.
struct Outer<'c> {
    function: FunctionValue<'c>,
    entry: inkwell::basic_block::BasicBlock<'c>,
    frame: PointerValue<'c>,
    rounds: PointerValue<'c>,
    vars: HashMap<Var, PointerValue<'c>>,
    before: HashMap<Var, inkwell::basic_block::BasicBlock<'c>>,
    values: HashMap<u32, BasicValueEnum<'c>>,
    buffers: Vec<super::memory::Slots<'c>>,
    threads: Option<Threads<'c>>,
    round: Option<Var>,
    terms: Option<(Var, IntValue<'c>, IntValue<'c>)>,
    places: Vec<super::places::Places<'c>>,
    loops: super::piece::Loops,
}

/// The buffers that get memory in a team and keep it.
fn allocated(block: &Block) -> Vec<usize> {
    let mut found: Vec<usize> = Vec::new();
    for stmt in &block.stmts {
        match stmt {
            Stmt::Alloc(buffer) => found.push(buffer.0 as usize),
            Stmt::Free(buffer) => found.retain(|other| *other != buffer.0 as usize),
            _ => {}
        }
    }
    found
}
