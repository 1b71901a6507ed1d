//! Executing instructions, and what follows when a region ends.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use einlang_tir::constant::Const;
use einlang_tir::types::Loc;

use super::code::{Code, InstCode, Kind, MessageCode, OpenRef, RegionCode};
use super::machine::{End, Halt, Machine, What};
use super::table::{Captured, Handle, Instance, Open, State, Table};
use crate::scalar::{apply, bool_bits, cast, int_of, trap_message};
use crate::show::format_value;
use crate::stop::{Stop, StopCode};

/// Whether an instruction is complete.
pub(super) enum Flow {
    /// It is, and its results are set.
    Next,
    /// A region or an activation must end first; what ends it sets the results.
    Inside,
}

impl Machine<'_> {
    /// Goes on with the activation on top.
    pub(super) fn advance(&mut self, code: &Code) -> Result<(), Halt> {
        if self.is_idle() {
            return self.start(code);
        }
        let Some(at) = self.cursors.len().checked_sub(1) else { return Ok(()) };
        let cursor = self.cursors[at];
        let region = &code.regions[cursor.region];
        // A region without instructions counts too, or a loop over it would have no limit.
        self.meter.step(1)?;
        for (pc, inst) in region.insts.iter().enumerate().skip(cursor.pc) {
            self.cursors[at].pc = pc;
            self.meter.step(1)?;
            match self.execute(inst, code) {
                Ok(Flow::Next) => {}
                Ok(Flow::Inside) => return Ok(()),
                Err(Halt::Stop(stop)) => return Err(Halt::Stop(Box::new(stop.at(inst.loc)))),
                Err(halt) => return Err(halt),
            }
        }
        self.cursors.pop();
        self.finish(cursor.end, region, code)
    }

    /// What an activation does when no region of it is being evaluated.
    fn start(&mut self, code: &Code) -> Result<(), Halt> {
        match self.frames.last().map(|frame| &frame.what) {
            Some(What::Point { .. }) => self.select(code),
            Some(What::Until { .. }) => self.next_step(code),
            Some(What::Call { .. }) | None => {
                Err(Stop::internal("a function has nothing to evaluate").into())
            }
        }
    }

    /// Finds the last clause that may cover the point and has not been refused.
    fn select(&mut self, code: &Code) -> Result<(), Halt> {
        let Some(What::Point { instance, member, offset, clause }) =
            self.frames.last().map(|frame| &frame.what)
        else {
            return Ok(());
        };
        let (instance, member) = (Rc::clone(instance), *member);
        let (offset, mut clause) = (*offset, *clause);
        let binding = &code.groups[instance.group].bindings[member as usize];
        while clause > 0 {
            let candidate = &binding.clauses[clause - 1];
            if self.covers(&candidate.domain, code)? {
                self.set_clause(clause);
                match candidate.guard {
                    Some(guard) => self.push_cursor(guard, End::Guard),
                    None => self.push_cursor(candidate.body, End::Body),
                }
                return Ok(());
            }
            clause -= 1;
        }
        self.pop_frame();
        self.remember(&instance, member, offset, State::Uncovered, code)
    }

    fn set_clause(&mut self, to: usize) {
        if let Some(What::Point { clause, .. }) =
            self.frames.last_mut().map(|frame| &mut frame.what)
        {
            *clause = to;
        }
    }

    fn remember(
        &mut self,
        instance: &Instance,
        member: u32,
        offset: u64,
        state: State,
        code: &Code,
    ) -> Result<(), Halt> {
        let binding = &code.groups[instance.group].bindings[member as usize];
        let name = || format!("`{}`", binding.name.as_str());
        let mut table = instance.tables[member as usize].borrow_mut();
        let set = table.set(offset, state, &self.meter, &name);
        Ok(set.map_err(|stop| stop.at(binding.loc))?)
    }

    /// What follows when a region has been evaluated; its cursor is gone.
    fn finish(&mut self, end: End, region: &RegionCode, code: &Code) -> Result<(), Halt> {
        match end {
            End::Arm => {
                let below = self.below(code)?;
                self.copy(&region.results, &below.dests)?;
                self.skip();
                Ok(())
            }
            End::Body => {
                let Some(result) = region.results.first() else { return Ok(()) };
                let super::machine::Part::Scalar(bits) = self.part(*result)? else {
                    return Err(Stop::internal("an element is a scalar").into());
                };
                match self.pop_frame().map(|frame| frame.what) {
                    Some(What::Point { instance, member, offset, .. }) => {
                        self.remember(&instance, member, offset, State::Computed(bits), code)
                    }
                    _ => Ok(()),
                }
            }
            End::Guard => self.finish_guard(region, code),
            End::Function => {
                let results = self.parts(&region.results)?;
                self.pop_frame();
                self.n_calls = self.n_calls.saturating_sub(1);
                let below = self.below(code)?;
                for (dest, part) in below.dests.iter().zip(results) {
                    self.put(*dest, part);
                }
                self.skip();
                Ok(())
            }
            End::Until => self.finish_step(self.holds(region)?),
            End::TermGuard => self.finish_term_guard(region, code),
            End::Term => self.finish_term(region, code),
            End::Combine => self.finish_combine(region, code),
        }
    }

    /// The first result of a region, as a truth value.
    pub(super) fn holds(&self, region: &RegionCode) -> Result<bool, Stop> {
        match region.results.first().map(|arg| self.part(*arg)).transpose()? {
            Some(super::machine::Part::Scalar(bits)) => Ok(bits != 0),
            _ => Err(Stop::internal("a condition is a scalar")),
        }
    }

    fn finish_guard(&mut self, region: &RegionCode, code: &Code) -> Result<(), Halt> {
        let covered = self.holds(region)?;
        let Some(What::Point { instance, member, clause, .. }) =
            self.frames.last().map(|frame| &frame.what)
        else {
            return Ok(());
        };
        let clauses = &code.groups[instance.group].bindings[*member as usize].clauses;
        let (number, Some(clause)) = (*clause, clauses.get(clause.wrapping_sub(1))) else {
            return Ok(());
        };
        if !covered {
            self.set_clause(number - 1);
            return Ok(());
        }
        self.copy(&region.results[1..], &code.regions[clause.body].params)?;
        self.push_cursor(clause.body, End::Body);
        Ok(())
    }

    /// The instruction that waits for a region or an activation.
    pub(super) fn below<'c>(&self, code: &'c Code) -> Result<&'c InstCode, Stop> {
        let cursor = self.cursors.last();
        let inst = cursor.and_then(|at| code.regions[at.region].insts.get(at.pc));
        inst.ok_or_else(|| Stop::internal("a region ends in nothing"))
    }

    /// Goes on after the instruction that waited.
    pub(super) fn skip(&mut self) {
        if let Some(cursor) = self.cursors.last_mut() {
            cursor.pc += 1;
        }
    }

    fn execute(&mut self, inst: &InstCode, code: &Code) -> Result<Flow, Halt> {
        match &inst.kind {
            Kind::Op { op, elems, result, args } => {
                let x = args.map(|arg| self.val(arg));
                let checked = self.meter.options().checked;
                match apply(*op, *elems, *result, x, checked) {
                    Ok(bits) => self.set_result(inst, bits),
                    Err(trap) => {
                        let message = trap_message(*op, elems[0], x, trap);
                        return Err(Stop::of_trap(trap, message).into());
                    }
                }
                Ok(Flow::Next)
            }
            Kind::Index { expr, elem } => {
                let value = self.index(expr, code)?;
                let bits = Const::int(*elem, value).bits();
                self.set_result(inst, bits);
                Ok(Flow::Next)
            }
            Kind::Read(read) => self.read(read, inst, code),
            Kind::If { condition, then, otherwise } => {
                let arm = if self.val(*condition) != 0 { *then } else { *otherwise };
                self.push_cursor(arm, End::Arm);
                Ok(Flow::Inside)
            }
            Kind::Switch { on, elem, cases, otherwise } => {
                let number = i64::try_from(int_of(*elem, self.val(*on))).ok();
                let arm = number.and_then(|number| cases.get(&number)).unwrap_or(otherwise);
                self.push_cursor(*arm, End::Arm);
                Ok(Flow::Inside)
            }
            Kind::Reduce(reduce) => self.begin_reduce(reduce, inst, code),
            Kind::Group(group) => self.make_group(*group, code),
            Kind::Call { function, args } => {
                let callee = &code.functions[*function];
                self.count_call(callee.name.as_str())?;
                let parts = self.parts(args)?;
                let what = What::Call { function: *function };
                self.push_frame(what, callee.sizes, None, code)?;
                for (dest, part) in code.regions[callee.body].params.iter().zip(parts) {
                    self.put(*dest, part);
                }
                self.push_cursor(callee.body, End::Function);
                Ok(Flow::Inside)
            }
            Kind::HostCall { function, args, elems } => self.host_call(function, args, elems, inst),
            Kind::Deriv(text) => {
                let message = format!("the derivative `{text}` was not expanded before running");
                Err(Stop::internal(message).into())
            }
            Kind::Param { slot, value, elem } => {
                let value = int_of(*elem, self.val(*value));
                let narrow = i64::try_from(value).map_err(|_| super::index::too_large())?;
                self.set_var(*slot, narrow);
                Ok(Flow::Next)
            }
            Kind::Converged(open) => {
                let bits = bool_bits(self.ended(*open)?.1);
                self.set_result(inst, bits);
                Ok(Flow::Next)
            }
            Kind::Assert { condition, message } => match self.val(*condition) != 0 {
                true => Ok(Flow::Next),
                false => {
                    let message = format!("assertion failed: {}", self.message(message)?);
                    Err(Stop::new(StopCode::Assertion, message).into())
                }
            },
            Kind::Trap { trap, message } => {
                Err(Stop::of_trap(*trap, self.message(message)?).into())
            }
        }
    }

    /// A message with the values of its scalars.
    fn message(&self, parts: &[MessageCode]) -> Result<String, Stop> {
        let mut text = String::new();
        for part in parts {
            match part {
                MessageCode::Text(part) => text.push_str(part),
                MessageCode::Value(operand, elem, spec) => {
                    let value = Const::from_bits(*elem, self.val(*operand)).into();
                    let wrong = |why| Stop::internal(format!("the format `{spec}`: {why}"));
                    text.push_str(&format_value(&value, spec).map_err(wrong)?);
                }
            }
        }
        Ok(text)
    }

    pub(super) fn set_result(&mut self, inst: &InstCode, bits: u64) {
        if let Some(super::code::Dest::Scalar(slot)) = inst.dests.first() {
            self.set_val(*slot, bits);
        }
    }

    fn host_call(
        &mut self,
        function: &einlang_tir::types::Ident,
        args: &[(super::code::Operand, einlang_tir::types::Elem)],
        elems: &[einlang_tir::types::Elem],
        inst: &InstCode,
    ) -> Result<Flow, Halt> {
        let args: Vec<Const> =
            args.iter().map(|(arg, elem)| Const::from_bits(*elem, self.val(*arg))).collect();
        let missing = || Stop::internal("there are no functions to be called here");
        let host = self.host.ok_or_else(missing)?;
        let _nested = self.meter.nest()?;
        let results = host.call(function, &args, &self.meter)?;
        for ((dest, value), elem) in inst.dests.iter().zip(results).zip(elems) {
            let bits = cast(value.elem(), *elem, value.bits());
            self.put(*dest, super::machine::Part::Scalar(bits));
        }
        Ok(Flow::Next)
    }

    /// A local group comes into being with a copy of what it can see.
    fn make_group(&mut self, number: usize, code: &Code) -> Result<Flow, Halt> {
        let group = &code.groups[number];
        let mut tables = Vec::with_capacity(group.bindings.len());
        for binding in &group.bindings {
            let mut table = Table::default();
            self.shape(&mut table, binding, code)?;
            tables.push(RefCell::new(table));
        }
        let Some(frame) = self.frames.last() else { return Ok(Flow::Next) };
        let (vals, vars, tensors) = (frame.vals, frame.vars, frame.tensors);
        let outer = group.outer;
        let captured = Captured {
            vals: self.vals[vals..vals + outer.vals as usize].to_vec(),
            vars: self.vars[vars..vars + outer.vars as usize].to_vec(),
            tensors: self.tensors[tensors..tensors + outer.tensors as usize].to_vec(),
        };
        let instance = Rc::new(Instance {
            group: number,
            captured: Some(captured),
            tables,
            open: Cell::new(Open::NotAsked),
            meter: self.meter.clone(),
        });
        let first = tensors + outer.tensors as usize;
        for member in 0..group.bindings.len() {
            self.tensors[first + member] = Some(Handle::Bound(Rc::clone(&instance), member as u32));
        }
        Ok(Flow::Next)
    }

    /// The length of an open axis and whether its condition ended it.
    pub(super) fn ended(&self, open: OpenRef) -> Result<(i64, bool), Halt> {
        let instance = match open {
            OpenRef::Global(group) => self.groups.get(group).map(Rc::clone),
            OpenRef::Slot(slot) => match self.handle(super::code::TensorRef::Slot(slot))? {
                Handle::Bound(instance, _) => Some(instance),
                Handle::Value(_) => None,
            },
        };
        let Some(instance) = instance else {
            return Err(Stop::internal("an open axis has no group").into());
        };
        match instance.open.get() {
            Open::Done(extent, converged) => Ok((extent, converged)),
            Open::NotAsked => Err(Halt::Extent(instance)),
            Open::Running(_) => Err(self.unended(&instance).into()),
        }
    }

    fn unended(&self, instance: &Instance) -> Stop {
        let group = &self.code.groups[instance.group];
        let binding = group.bindings.first();
        let name = binding.map_or("?", |binding| binding.name.as_str());
        let loc = binding.map_or(Loc::default(), |binding| binding.loc);
        let message = format!("the length of `{name}` is needed while `{name}` is being computed");
        Stop::new(StopCode::Cycle, message).at(loc)
    }
}
