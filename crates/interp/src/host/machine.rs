//! Activations of functions and the blocks that are being executed.

use einlang_tir::host::{Block, HostArg, HostDef, HostFn, HostInst, HostKind, HostType};
use einlang_tir::types::{Ident, Loc};

use super::Shared;
use crate::io::Io;
use crate::options::Meter;
use crate::stop::{Stop, StopCode};
use crate::value::HostValue;

/// What happens when a block ends.
pub(super) enum End {
    /// Its results are those of the instruction below.
    Arm,
    /// The next round of a loop: the number, and the first that is not reached.
    For(i64, i64),
    /// Whether the loop goes on, with what is carried.
    Condition(Vec<HostValue>),
    /// What is carried on to the condition.
    Body,
    /// The results of the function.
    Function,
    /// The payload of `Ok`.
    Try,
}

/// A block that is being executed.
pub(super) struct Cursor<'p> {
    pub(super) block: &'p Block,
    pub(super) pc: usize,
    pub(super) end: End,
}

/// An activation of a function.
struct Frame<'p> {
    function: &'p HostFn,
    values: usize,
    cursors: usize,
    bytes: u64,
}

/// Executes functions of a program.
pub(super) struct Executor<'s, 'p> {
    pub(super) shared: &'s Shared<'p>,
    pub(super) meter: Meter,
    pub(super) io: &'s mut dyn Io,
    frames: Vec<Frame<'p>>,
    pub(super) cursors: Vec<Cursor<'p>>,
    values: Vec<Option<HostValue>>,
}

const FRAME_BYTES: u64 = 128;

impl<'s, 'p> Executor<'s, 'p> {
    pub(super) fn new(
        shared: &'s Shared<'p>,
        meter: Meter,
        io: &'s mut dyn Io,
    ) -> Executor<'s, 'p> {
        Executor { shared, meter, io, frames: Vec::new(), cursors: Vec::new(), values: Vec::new() }
    }

    /// Calls a function and executes until it returns.
    pub(super) fn run(
        mut self,
        function: &Ident,
        args: Vec<HostValue>,
    ) -> Result<Vec<HostValue>, Stop> {
        let callee = self.shared.function(function)?;
        self.call(callee, args)?;
        loop {
            match self.advance() {
                Ok(None) => {}
                Ok(Some(results)) => return Ok(results),
                Err(stop) => self.catch(stop)?,
            }
        }
    }

    /// Executes up to the end of a block or the start of another one. Results are the program's.
    fn advance(&mut self) -> Result<Option<Vec<HostValue>>, Stop> {
        let Some(at) = self.cursors.len().checked_sub(1) else {
            return Err(Stop::internal("nothing is left to be executed"));
        };
        let (block, pc) = (self.cursors[at].block, self.cursors[at].pc);
        // A block without instructions counts too, or a loop over it would have no limit.
        self.meter.step(1)?;
        for (pc, inst) in block.insts.iter().enumerate().skip(pc) {
            self.cursors[at].pc = pc;
            self.meter.step(1)?;
            let complete = self.execute(inst).map_err(|stop| stop.at(inst.loc))?;
            if !complete {
                return Ok(None);
            }
        }
        let results = self.args(&block.results)?;
        match self.cursors.pop() {
            Some(cursor) => self.finish(cursor, results),
            None => Ok(None),
        }
    }

    fn finish(
        &mut self,
        cursor: Cursor<'p>,
        results: Vec<HostValue>,
    ) -> Result<Option<Vec<HostValue>>, Stop> {
        match cursor.end {
            End::Arm => self.complete(results)?,
            End::For(number, limit) if number + 1 < limit => {
                self.enter_round(cursor.block, number + 1, limit, results);
            }
            End::For(..) => self.complete(results)?,
            End::Condition(carried) => {
                let HostKind::While(_, _, body) = &self.below()?.kind else {
                    return Err(Stop::internal("a condition belongs to no loop"));
                };
                match results.first().and_then(HostValue::as_scalar).and_then(|c| c.as_bool()) {
                    Some(true) => self.enter(body, carried, End::Body),
                    _ => self.complete(carried)?,
                }
            }
            End::Body => {
                let HostKind::While(_, condition, _) = &self.below()?.kind else {
                    return Err(Stop::internal("a body belongs to no loop"));
                };
                self.enter(condition, results.clone(), End::Condition(results));
            }
            End::Function => {
                self.pop_frame();
                match self.frames.is_empty() {
                    true => return Ok(Some(results)),
                    false => self.complete(results)?,
                }
            }
            End::Try => {
                let ok = self.variant_of_try("Ok", results)?;
                self.complete(vec![ok])?;
            }
        }
        Ok(None)
    }

    /// `Ok` or `Err` of the enum that the `try` below gives.
    fn variant_of_try(&self, name: &str, items: Vec<HostValue>) -> Result<HostValue, Stop> {
        match self.below()?.results.first().map(|def| &def.ty) {
            Some(HostType::Enum(of)) => Ok(HostValue::variant(of, name, items)),
            _ => Err(Stop::internal("`try` gives no enum")),
        }
    }

    /// The instruction that waits for a block or a function.
    fn below(&self) -> Result<&'p HostInst, Stop> {
        let inst = self.cursors.last().and_then(|at| at.block.insts.get(at.pc));
        inst.ok_or_else(|| Stop::internal("a block ends in nothing"))
    }

    /// Sets the results of the instruction that waited, and goes on after it.
    fn complete(&mut self, results: Vec<HostValue>) -> Result<(), Stop> {
        let inst = self.below()?;
        self.define(&inst.results, results);
        if let Some(cursor) = self.cursors.last_mut() {
            cursor.pc += 1;
        }
        Ok(())
    }

    /// Goes back to the nearest `try`, or gives up.
    fn catch(&mut self, stop: Stop) -> Result<(), Stop> {
        let stop = match self.frames.last() {
            Some(frame) => stop.at(frame.function.loc),
            None => stop,
        };
        let is_try = |cursor: &Cursor<'_>| matches!(cursor.end, End::Try);
        let at = self.cursors.iter().rposition(is_try).filter(|_| may_be_caught(stop.code));
        let Some(at) = at else { return Err(self.blame(stop)) };
        while self.frames.last().is_some_and(|frame| frame.cursors > at) {
            self.pop_frame();
        }
        self.cursors.truncate(at);
        let error = self.variant_of_try("Err", vec![HostValue::str(&stop.message)])?;
        self.complete(vec![error])
    }

    /// Adds the functions that were being executed, by the names that they were written with.
    fn blame(&self, mut stop: Stop) -> Stop {
        let written = |name: &'p str| name.split('.').next().unwrap_or(name);
        for frame in self.frames.iter().skip(1).rev().take(4) {
            let note = format!("in `{}`", written(frame.function.name.as_str()));
            if stop.notes.last() != Some(&note) {
                stop.notes.push(note);
            }
        }
        stop
    }

    /// Starts a block.
    pub(super) fn enter(&mut self, block: &'p Block, params: Vec<HostValue>, end: End) {
        self.define(&block.params, params);
        self.cursors.push(Cursor { block, pc: 0, end });
    }

    /// Starts a round of a `for`.
    pub(super) fn enter_round(
        &mut self,
        block: &'p Block,
        number: i64,
        limit: i64,
        carried: Vec<HostValue>,
    ) {
        let mut params = Vec::with_capacity(carried.len() + 1);
        let counter =
            einlang_tir::constant::Const::int(einlang_tir::types::Elem::I64, number.into());
        params.push(HostValue::Scalar(counter));
        params.extend(carried);
        self.enter(block, params, End::For(number, limit));
    }

    /// Starts a function.
    pub(super) fn call(&mut self, function: &'p HostFn, args: Vec<HostValue>) -> Result<(), Stop> {
        let limit = self.meter.options().depth;
        let name = function.name.as_str();
        if self.frames.len() >= limit {
            let message = format!("`{name}` recurses more than {limit} deep");
            return Err(Stop::new(StopCode::Depth, message).at(function.loc));
        }
        let size = self.shared.names.size(&function.name);
        let bytes = FRAME_BYTES + 32 * u64::from(size);
        self.meter.take(bytes, &|| format!("the recursion of `{name}`"))?;
        let (values, cursors) = (self.values.len(), self.cursors.len());
        self.values.resize(values + size as usize, None);
        self.frames.push(Frame { function, values, cursors, bytes });
        self.enter(&function.body, args, End::Function);
        Ok(())
    }

    fn pop_frame(&mut self) {
        if let Some(frame) = self.frames.pop() {
            self.values.truncate(frame.values);
            self.cursors.truncate(frame.cursors);
            self.meter.give(frame.bytes);
        }
    }

    pub(super) fn define(&mut self, defs: &[HostDef], values: Vec<HostValue>) {
        let base = self.frames.last().map_or(0, |frame| frame.values);
        for (def, value) in defs.iter().zip(values) {
            let slot = self.shared.names.slot(def.number);
            if let Some(place) = self.values.get_mut(base + slot.at as usize) {
                *place = Some(value);
            }
        }
    }

    /// The value of an operand. A value that is used only here is moved.
    pub(super) fn arg(&mut self, arg: &HostArg) -> Result<HostValue, Stop> {
        let number = match arg {
            HostArg::Const(constant) => return Ok(HostValue::Scalar(*constant)),
            HostArg::Str(text) => return Ok(HostValue::str(text)),
            HostArg::Value(number) => *number,
        };
        let slot = self.shared.names.slot(number);
        let base = self.frames.last().map_or(0, |frame| frame.values);
        let value = match self.values.get_mut(base + slot.at as usize) {
            Some(place) if slot.moved => place.take(),
            Some(place) => place.clone(),
            None => None,
        };
        value.ok_or_else(|| Stop::internal(format!("%{number} is used before it is defined")))
    }

    pub(super) fn args(&mut self, args: &[HostArg]) -> Result<Vec<HostValue>, Stop> {
        args.iter().map(|arg| self.arg(arg)).collect()
    }

    /// Where the program is, for errors of blocks without a place of their own.
    pub(super) fn loc(&self) -> Loc {
        self.frames.last().map_or(Loc::default(), |frame| frame.function.loc)
    }
}

/// Exceeded limits and bugs are no business of the program's.
fn may_be_caught(code: StopCode) -> bool {
    !matches!(code, StopCode::Memory | StopCode::Depth | StopCode::Steps | StopCode::Internal)
}
