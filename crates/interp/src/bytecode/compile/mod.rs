//! From loop IR to register code.
//!
//! A block is compiled into a frame of its own, which is appended to the frame around it when it is
//! complete. Index expressions go into the outermost frame in which all of their variables have a
//! value: nothing that a loop does not change is computed inside it. They cannot trap, so it does no
//! harm if the block that wanted them is never reached.

mod fold;
mod index;
mod stmt;

use std::collections::{HashMap, HashSet};

use einlang_index::{Quasi, Var};
use einlang_loops::ir::{Block, Kernel, Layout, Operand};
use einlang_tir::region::Value;

use super::code::{Code, Inst, Reg, Target};

/// Why a kernel has no code: it is too large for the registers or mentions what is not defined.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct TooLarge(pub(super) String);

pub(super) type Result<T> = std::result::Result<T, TooLarge>;

/// Compiles a kernel; where operations are `checked`, none of them is a quick one.
pub(super) fn compile(kernel: &Kernel, checked: bool) -> Result<Code> {
    let mut compile = Compile {
        kernel,
        checked,
        code: Code::default(),
        frames: vec![Frame::default()],
        vars: HashMap::new(),
        owned: HashMap::new(),
        seen: HashSet::new(),
        values: HashMap::new(),
        constants: HashMap::new(),
        allocated: vec![0; kernel.buffers.len()],
        n_labels: 0,
    };
    compile.buffers()?;
    for (var, size) in &kernel.sizes {
        let reg = compile.var_reg(*var)?;
        compile.code.sizes.push((reg, *size));
        compile.known(*var);
    }
    compile.stmts(&kernel.body)?;
    compile.emit(Inst::End);
    compile.finish()
}

/// Something that is computed once per round of its frame.
#[derive(PartialEq, Eq, Hash, Clone, Debug)]
enum Key {
    Expr(Quasi),
    /// A subscript times its stride: buffer, dimension, subscript.
    Product(u32, u16, Reg),
    /// A subscript in its window.
    Wrapped(i32, Reg),
    Sum(Reg, Reg),
}

/// The code of a block that is being compiled.
#[derive(Default)]
struct Frame {
    code: Vec<Inst>,
    cache: HashMap<Key, Reg>,
    /// The variables that got their value in it, with the one they had outside.
    vars: Vec<(Var, Option<(Reg, usize)>)>,
}

struct Compile<'k> {
    kernel: &'k Kernel,
    checked: bool,
    code: Code,
    frames: Vec<Frame>,
    /// The register in which a variable has its value, and the frame from which on.
    vars: HashMap<Var, (Reg, usize)>,
    /// The registers of variables that loops and data set.
    owned: HashMap<Var, Reg>,
    /// The variables that had a value before.
    seen: HashSet<Var>,
    values: HashMap<u32, Reg>,
    constants: HashMap<u64, Reg>,
    /// The frame in which a buffer gets its memory.
    allocated: Vec<usize>,
    n_labels: u32,
}

/// An index that is in a register, with the frame in which it was computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Known {
    reg: Reg,
    depth: usize,
}

impl Compile<'_> {
    fn reg(&mut self) -> Result<Reg> {
        let reg = Reg::try_from(self.code.n_regs).ok().filter(|reg| *reg < Reg::MAX);
        let reg = reg.ok_or_else(|| TooLarge("more values than registers".to_owned()))?;
        self.code.n_regs += 1;
        Ok(reg)
    }

    fn label(&mut self) -> Target {
        self.n_labels += 1;
        self.n_labels
    }

    fn emit(&mut self, inst: Inst) {
        if let Some(frame) = self.frames.last_mut() {
            frame.code.push(inst);
        }
    }

    fn depth(&self) -> usize {
        self.frames.len() - 1
    }

    /// Gives every buffer registers for its strides.
    fn buffers(&mut self) -> Result<()> {
        if self.kernel.buffers.len() > usize::from(u16::MAX) {
            return Err(TooLarge("more tensors than can be numbered".to_owned()));
        }
        for buffer in &self.kernel.buffers {
            let first = self.reg()?;
            for _ in 0..buffer.dims.len() {
                self.reg()?;
            }
            self.code.strides.push(first);
        }
        Ok(())
    }

    /// The register that a variable owns.
    fn var_reg(&mut self, var: Var) -> Result<Reg> {
        let reg = match self.owned.get(&var) {
            Some(reg) => *reg,
            None => self.reg()?,
        };
        self.owned.insert(var, reg);
        self.vars.insert(var, (reg, usize::MAX));
        Ok(reg)
    }

    /// From here on a variable has a value: what was computed from another one is forgotten.
    fn known(&mut self, var: Var) {
        let depth = self.depth();
        let before = self.vars.get(&var).copied().filter(|(_, at)| *at != usize::MAX);
        if let Some((_, at)) = self.vars.get_mut(&var) {
            *at = depth;
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.vars.push((var, before));
        }
        // What has its first value was used nowhere before.
        if self.seen.insert(var) {
            return;
        }
        let reg = self.vars.get(&var).map(|known| known.0);
        for frame in &mut self.frames {
            let mut stale: Vec<Reg> = reg.into_iter().collect();
            // What is computed from a stale register is stale.
            loop {
                let before = stale.len();
                frame.cache.retain(|key, value| {
                    let old = match key {
                        Key::Expr(expr) => expr.mentions(var),
                        Key::Product(_, _, reg) | Key::Wrapped(_, reg) => stale.contains(reg),
                        Key::Sum(a, b) => stale.contains(a) || stale.contains(b),
                    };
                    if old {
                        stale.push(*value);
                    }
                    !old
                });
                if stale.len() == before {
                    break;
                }
            }
        }
    }

    fn operand(&mut self, operand: &Operand) -> Result<Reg> {
        match operand {
            Operand::Const(constant) => self.constant(constant.bits()),
            Operand::Value(value) => match self.values.get(&value.number) {
                Some(reg) => Ok(*reg),
                None => Err(TooLarge(format!("%{} has no value", value.number))),
            },
        }
    }

    fn constant(&mut self, bits: u64) -> Result<Reg> {
        if let Some(reg) = self.constants.get(&bits) {
            return Ok(*reg);
        }
        let reg = self.reg()?;
        self.constants.insert(bits, reg);
        self.code.constants.push((reg, bits));
        Ok(reg)
    }

    fn result(&mut self, value: &Value) -> Result<Reg> {
        let reg = self.reg()?;
        self.values.insert(value.number, reg);
        Ok(reg)
    }

    /// Compiles something in a frame of its own and gives its code.
    fn framed(&mut self, inside: impl FnOnce(&mut Self) -> Result<()>) -> Result<Vec<Inst>> {
        let allocated = self.allocated.clone();
        self.frames.push(Frame::default());
        inside(self)?;
        let frame = self.frames.pop().unwrap_or_default();
        // Memory that was given again inside has the strides that it had outside.
        self.allocated = allocated;
        // What was bound inside has the value again that it had outside, if any.
        for (var, before) in frame.vars.iter().rev() {
            if let Some(known) = self.vars.get_mut(var) {
                *known = before.unwrap_or((known.0, usize::MAX));
            }
        }
        Ok(frame.code)
    }

    fn append(&mut self, code: Vec<Inst>) {
        if let Some(frame) = self.frames.last_mut() {
            frame.code.extend(code);
        }
    }

    fn stmts(&mut self, block: &Block) -> Result<()> {
        block.stmts.iter().try_for_each(|stmt| self.stmt(stmt))
    }

    /// The dimension whose stride is one, if that is known.
    fn unit_dim(&self, buffer: usize) -> Option<usize> {
        let dims = &self.kernel.buffers[buffer].dims;
        let last = dims.iter().rposition(|dim| dim.layout != Layout::Open);
        last.or_else(|| dims.len().checked_sub(1))
    }

    /// Labels become places.
    fn finish(mut self) -> Result<Code> {
        let frame = self.frames.pop().unwrap_or_default();
        let mut places = vec![0; self.n_labels as usize + 1];
        let mut at = 0;
        for inst in &frame.code {
            match inst {
                Inst::Label(label) => places[*label as usize] = at,
                _ => at += 1,
            }
        }
        let real = frame.code.into_iter().filter(|inst| !matches!(inst, Inst::Label(_)));
        self.code.insts = real.map(|inst| placed(inst, &places)).collect();
        Ok(self.code)
    }
}

fn placed(mut inst: Inst, places: &[u32]) -> Inst {
    match &mut inst {
        Inst::Jump(to)
        | Inst::If { to, .. }
        | Inst::Unless { to, .. }
        | Inst::IfGe { to, .. }
        | Inst::IfNegative { to, .. }
        | Inst::IfNonzero { to, .. }
        | Inst::UnlessOnAxis { to, .. }
        | Inst::IfSorted { to, .. }
        | Inst::VisitNext { to, .. }
        | Inst::Up { to, .. }
        | Inst::Down { to, .. } => *to = places[*to as usize],
        _ => {}
    }
    inst
}
