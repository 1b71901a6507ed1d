//! Executing host instructions.

use std::sync::Arc;

use einlang_tir::host::{FormatPart, HostArg, HostInst, HostKind, HostType};
use einlang_tir::op::Op;
use einlang_tir::types::{Elem, Ident};

use super::machine::{End, Executor};
use crate::bytecode::Fault;
use crate::oracle::Oracle;
use crate::report::Ran;
use crate::scalar::{apply, trap_message};
use crate::show::format_value;
use crate::stop::{Stop, StopCode};
use crate::tensor::TensorValue;
use crate::value::{HostValue, Node, NodeKind};

/// A string of at least so many bytes is worth a look at the memory in use.
const LARGE: usize = 1 << 20;

impl<'p> Executor<'_, 'p> {
    /// Executes an instruction; false if a block or function has to end before it is complete.
    pub(super) fn execute(&mut self, inst: &'p HostInst) -> Result<bool, Stop> {
        let value = match &inst.kind {
            HostKind::Op(op, args) => self.op(*op, args, inst)?,
            HostKind::Tuple(args) => HostValue::tuple(self.args(args)?),
            HostKind::Struct(name, args) => {
                let fields = self.shared.names.fields(name);
                HostValue::node(NodeKind::Struct(name.clone(), fields), self.args(args)?)
            }
            HostKind::Variant(of, name, args) => {
                let fields = self.shared.names.labels(of, name);
                let kind = NodeKind::Variant { of: of.clone(), name: name.clone(), fields };
                HostValue::node(kind, self.args(args)?)
            }
            HostKind::List(args) => HostValue::list(self.args(args)?),
            HostKind::Field(of, at) => {
                let of = self.arg(of)?;
                let item = of.as_node().and_then(|node| node.items.get(*at)).cloned();
                item.ok_or_else(|| Stop::internal("there is no such field"))?
            }
            HostKind::Closure(name, args) => {
                HostValue::node(NodeKind::Closure(name.clone()), self.args(args)?)
            }
            HostKind::Run(name, args) => return self.run_module(name, args, inst).map(|()| true),
            HostKind::Format(parts) => self.format(parts)?,
            HostKind::Intrinsic(intrinsic, args) => {
                let args = self.args(args)?;
                match self.intrinsic(*intrinsic, args, inst.results.first().map(|def| &def.ty))? {
                    Some(value) => value,
                    None => return Ok(true),
                }
            }
            HostKind::Assert(condition, message) => {
                return match self.truth(condition)? {
                    true => Ok(true),
                    false => {
                        let message = format!("assertion failed: {message}");
                        Err(Stop::new(StopCode::Assertion, message))
                    }
                };
            }
            HostKind::Trap(trap, message) => return Err(Stop::of_trap(*trap, message)),
            HostKind::Fail(trap, message) => {
                let message = self.arg(message)?;
                return Err(Stop::of_trap(*trap, message.as_str().unwrap_or_default()));
            }
            HostKind::If(..)
            | HostKind::Switch(..)
            | HostKind::Match(..)
            | HostKind::For(..)
            | HostKind::While(..)
            | HostKind::Call(..)
            | HostKind::Apply(..)
            | HostKind::Try(_) => return self.control(inst),
        };
        self.define(&inst.results, vec![value]);
        Ok(true)
    }

    /// Instructions with blocks, and calls.
    fn control(&mut self, inst: &'p HostInst) -> Result<bool, Stop> {
        match &inst.kind {
            HostKind::If(condition, then, otherwise) => {
                let block = if self.truth(condition)? { then } else { otherwise };
                self.enter(block, Vec::new(), End::Arm);
            }
            HostKind::Switch(on, cases, otherwise) => {
                let on = self.int(on)?;
                let case = cases.iter().find(|case| i128::from(case.0) == on);
                self.enter(case.map_or(otherwise, |case| &case.1), Vec::new(), End::Arm);
            }
            HostKind::Match(on, arms, otherwise) => {
                let on = self.arg(on)?;
                let Some((Node { kind: NodeKind::Variant { name, .. }, items, .. }, _)) =
                    on.as_node().map(|node| (&**node, ()))
                else {
                    return Err(Stop::internal("`match` wants an enum"));
                };
                match (arms.iter().find(|arm| arm.0 == *name), otherwise) {
                    (Some((_, block)), _) => self.enter(block, items.clone(), End::Arm),
                    (None, Some(block)) => self.enter(block, Vec::new(), End::Arm),
                    (None, None) => return Err(Stop::internal("a variant is not covered")),
                }
            }
            HostKind::For(low, high, carried, block) => {
                let (low, high) = (self.int(low)? as i64, self.int(high)? as i64);
                let carried = self.args(carried)?;
                if low >= high {
                    self.define(&inst.results, carried);
                    return Ok(true);
                }
                self.enter_round(block, low, high, carried);
            }
            HostKind::While(carried, condition, _) => {
                let carried = self.args(carried)?;
                self.enter(condition, carried.clone(), End::Condition(carried));
            }
            HostKind::Call(name, args) => {
                let args = self.args(args)?;
                let callee = self.shared.function(name)?;
                self.call(callee, args)?;
            }
            HostKind::Apply(callee, args) => {
                let (callee, rest) = (self.arg(callee)?, self.args(args)?);
                let Some(node) = callee.as_node() else {
                    return Err(Stop::internal("only a function can be applied"));
                };
                let NodeKind::Closure(name) = &node.kind else {
                    return Err(Stop::internal("only a function can be applied"));
                };
                let function = self.shared.function(name)?;
                self.call(function, node.items.iter().cloned().chain(rest).collect())?;
            }
            HostKind::Try(block) => self.enter(block, Vec::new(), End::Try),
            _ => return Err(Stop::internal("the instruction has no blocks").at(self.loc())),
        }
        Ok(false)
    }

    fn truth(&mut self, arg: &HostArg) -> Result<bool, Stop> {
        let value = self.arg(arg)?.as_scalar().and_then(|value| value.as_bool());
        value.ok_or_else(|| Stop::internal("a condition is a truth value"))
    }

    fn int(&mut self, arg: &HostArg) -> Result<i128, Stop> {
        let value = self.arg(arg)?.as_scalar().and_then(|value| value.as_int());
        value.ok_or_else(|| Stop::internal("an integer is wanted"))
    }

    fn op(&mut self, op: Op, args: &[HostArg], inst: &HostInst) -> Result<HostValue, Stop> {
        let mut x = [0; 3];
        let mut elems = [Elem::Bool; 2];
        for (at, arg) in args.iter().take(3).enumerate() {
            let value = self.arg(arg)?.as_scalar();
            let value = value.ok_or_else(|| Stop::internal("an operation takes scalars"))?;
            x[at] = value.bits();
            if let Some(elem) = elems.get_mut(at) {
                *elem = value.elem();
            }
        }
        let result = match inst.results.first().map(|def| &def.ty) {
            Some(HostType::Scalar(elem)) => *elem,
            _ => return Err(Stop::internal("an operation gives a scalar")),
        };
        let bits = apply(op, elems, result, x, self.meter.options().checked)
            .map_err(|trap| Stop::of_trap(trap, trap_message(op, elems[0], x, trap)))?;
        Ok(einlang_tir::constant::Const::from_bits(result, bits).into())
    }

    fn format(&mut self, parts: &[FormatPart]) -> Result<HostValue, Stop> {
        let mut out = String::new();
        for part in parts {
            match part {
                FormatPart::Text(text) => out.push_str(text),
                FormatPart::Value(arg, spec) => {
                    let value = self.arg(arg)?;
                    if let HostValue::Str(text) = &value {
                        self.room(out.len() + text.len())?;
                    }
                    let wrong = |why| Stop::internal(format!("the format `{spec}`: {why}"));
                    out.push_str(&format_value(&value, spec).map_err(wrong)?);
                }
            }
            self.limit(out.len(), "a string")?;
        }
        Ok(HostValue::str(&out))
    }

    /// There must be room for a string, of which a few copies exist while it is made.
    pub(super) fn room(&self, bytes: usize) -> Result<(), Stop> {
        self.limit(bytes, "a string")?;
        match bytes >= LARGE {
            true => self.meter.measure(4 * bytes as u64),
            false => Ok(()),
        }
    }

    /// A single value must not be larger than all memory allowed.
    pub(super) fn limit(&self, bytes: usize, what: &str) -> Result<(), Stop> {
        match bytes as u64 > self.meter.options().memory {
            true => {
                let message = format!("{what} of {bytes} bytes is larger than the memory limit");
                Err(Stop::new(StopCode::Memory, message))
            }
            false => Ok(()),
        }
    }

    /// Evaluates a module on tensors and numbers.
    fn run_module(&mut self, name: &Ident, args: &[HostArg], inst: &HostInst) -> Result<(), Stop> {
        let (mut inputs, mut numbers): (Vec<Arc<TensorValue>>, Vec<i64>) = Default::default();
        for arg in self.args(args)? {
            match arg {
                HostValue::Tensor(tensor) => inputs.push(tensor),
                HostValue::Scalar(number) => {
                    numbers.push(number.as_int().and_then(|n| n.try_into().ok()).unwrap_or(0));
                }
                _ => return Err(Stop::internal("a module takes tensors and numbers")),
            }
        }
        let (shared, meter) = (self.shared, self.meter.clone());
        let _nested = meter.nest()?;
        if let Some(compiled) = shared.compiled(name, &inputs, meter.options()) {
            match compiled.run(&inputs, &numbers, &meter, Some(shared)) {
                Ok(tensors) => {
                    let results = tensors.into_iter().map(HostValue::tensor).collect();
                    self.define(&inst.results, results);
                    return Ok(());
                }
                Err(Fault::Stop(stop)) => return Err(*stop),
                Err(Fault::Trap(site)) => {
                    let why = Some(compiled.site(site));
                    meter.options().report.note(name.as_str(), Ran::Points, why);
                }
            }
        }
        let prepared = shared.module(name)?;
        let mut oracle = Oracle::start(&prepared, inputs, numbers, meter.clone(), Some(shared))?;
        let mut results = Vec::with_capacity(inst.results.len());
        for output in oracle.outputs() {
            results.push(HostValue::tensor(oracle.output(output.as_str())?));
        }
        self.define(&inst.results, results);
        Ok(())
    }
}
