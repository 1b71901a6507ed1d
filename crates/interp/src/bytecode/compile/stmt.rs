//! Statements.

use einlang_loops::ir::{
    Access, Block, BufferId, Condition, Loop, Operand, Stmt, Subscript, UntilLoop,
};
use einlang_tir::op::Op;
use einlang_tir::region::Value;
use einlang_tir::types::Elem;

use super::{Compile, Known, Result};
use crate::bytecode::code::{Apply, Call, Fast, Inst, NO_SITE, Reg, Shape, Target};

impl Compile<'_> {
    pub(super) fn stmt(&mut self, stmt: &Stmt) -> Result<()> {
        match stmt {
            Stmt::Op { result, op, args, site } => {
                self.op(result, *op, args, site.map_or(NO_SITE, |site| site.0))
            }
            Stmt::Index { result, expr } => {
                let known = self.quasi(expr)?;
                let (dst, elem, a) = (self.result(result)?, result.elem, known.reg);
                self.emit(match elem {
                    Elem::I32 => Inst::ToI32 { dst, a },
                    _ => Inst::ToScalar { dst, a, elem },
                });
                Ok(())
            }
            Stmt::Bind { var, expr } => {
                // The value stays where it is: another name for its register is enough.
                let value = self.bound(expr)?;
                self.known(*var);
                self.vars.insert(*var, (value.reg, value.depth));
                Ok(())
            }
            Stmt::Param { var, value, site } => {
                let (a, elem) = (self.operand(value)?, value.elem());
                let dst = self.var_reg(*var)?;
                self.emit(Inst::ToIndex { dst, a, elem, site: site.0 });
                self.known(*var);
                Ok(())
            }
            Stmt::Load { result, buffer, at, access } => {
                let indices = self.subscripts(at)?;
                self.load(result, *buffer, at, &indices, *access)
            }
            Stmt::Probe { result, buffer, at, marked } => self.probe(result, *buffer, at, *marked),
            Stmt::Store { buffer, at, value } => {
                let mut indices = Vec::with_capacity(at.len());
                for expr in at {
                    indices.push(self.quasi(expr)?);
                }
                self.store(*buffer, &indices, value)
            }
            Stmt::If { results, condition, then, otherwise } => {
                self.branch(results, condition, then, otherwise)
            }
            Stmt::Loop(of) => self.looped(of),
            Stmt::Fold(fold) => self.fold(fold),
            Stmt::Alloc(buffer) => {
                let shape = self.shape(*buffer, 0)?;
                self.allocated[buffer.0 as usize] = self.depth();
                self.emit(Inst::Alloc(shape));
                Ok(())
            }
            Stmt::CheckShape(buffer, site) => {
                let shape = self.shape(*buffer, site.0)?;
                self.emit(Inst::CheckShape(shape));
                Ok(())
            }
            Stmt::Free(buffer) => {
                self.emit(Inst::Free(buffer.0 as u16));
                Ok(())
            }
            Stmt::Copy { to, from } => {
                self.emit(Inst::CopyBuffer { to: to.0 as u16, from: from.0 as u16 });
                Ok(())
            }
            Stmt::Call { results, function, args, site } => {
                let mut call = Call {
                    function: function.clone(),
                    args: Vec::new(),
                    results: Vec::new(),
                    site: site.0,
                };
                for arg in args {
                    call.args.push((self.operand(arg)?, arg.elem()));
                }
                for result in results {
                    call.results.push((self.result(result)?, result.elem));
                }
                self.code.calls.push(call);
                self.emit(Inst::Call(self.code.calls.len() as u32 - 1));
                Ok(())
            }
            Stmt::Assert { condition, site } => {
                let (wrong, right) = (self.label(), self.label());
                self.unless(condition, wrong)?;
                self.emit(Inst::Jump(right));
                self.emit(Inst::Label(wrong));
                self.emit(Inst::Trap(site.0));
                self.emit(Inst::Label(right));
                Ok(())
            }
            Stmt::Trap(site) => {
                self.emit(Inst::Trap(site.0));
                Ok(())
            }
            // One thread is a team of its own.
            Stmt::Team(block) => block.stmts.iter().try_for_each(|stmt| self.stmt(stmt)),
            Stmt::Barrier => Ok(()),
        }
    }

    fn shape(&mut self, buffer: BufferId, site: u32) -> Result<u32> {
        let kernel = self.kernel;
        let mut extents = Vec::new();
        for dim in &kernel.buffers[buffer.0 as usize].dims {
            // An open axis starts without a plane, and a window has its own width.
            let extent = match dim.layout {
                einlang_loops::ir::Layout::Open => self.constant(0)?,
                einlang_loops::ir::Layout::Mod(width) if self.is_unknown(&dim.extent) => {
                    self.constant(width as u64)?
                }
                _ => self.quasi(&dim.extent)?.reg,
            };
            extents.push(extent);
        }
        self.code.shapes.push(Shape { buf: buffer.0 as u16, extents, site });
        Ok(self.code.shapes.len() as u32 - 1)
    }

    /// Whether an extent is that of an axis which is still open.
    fn is_unknown(&self, extent: &einlang_index::Quasi) -> bool {
        let mut unknown = false;
        extent.for_each_var(&mut |var| {
            unknown |= self.vars.get(&var).is_none_or(|known| known.1 >= self.frames.len());
        });
        unknown
    }

    fn op(&mut self, result: &Value, op: Op, args: &[Operand], site: u32) -> Result<()> {
        let mut regs = [0; 3];
        let mut elems = [result.elem; 2];
        for (at, arg) in args.iter().take(3).enumerate() {
            regs[at] = self.operand(arg)?;
            if let Some(elem) = elems.get_mut(at) {
                *elem = arg.elem();
            }
        }
        let dst = self.result(result)?;
        let [a, b, _] = regs;
        match (op, elems[0]) {
            (Op::Div, Elem::I32) if !self.checked => {
                self.emit(Inst::Quotient { dst, a, b, site });
                return Ok(());
            }
            (Op::Rem, Elem::I32 | Elem::I64) => {
                self.emit(Inst::Remainder { dst, a, b, site });
                return Ok(());
            }
            _ => {}
        }
        match Fast::of(op, elems[0]).filter(|_| !self.checked) {
            Some(fast) => {
                let b = if args.len() > 1 { regs[1] } else { regs[0] };
                self.emit(Inst::Fast { op: fast, dst, a: regs[0], b });
            }
            None => {
                let apply = Apply { op, elems, result: result.elem, dst, args: regs, site };
                self.code.applies.push(apply);
                self.emit(Inst::Apply(self.code.applies.len() as u32 - 1));
            }
        }
        Ok(())
    }

    fn load(
        &mut self,
        result: &Value,
        buffer: BufferId,
        at: &[Subscript],
        indices: &[Known],
        access: Access,
    ) -> Result<()> {
        let buf = buffer.0 as u16;
        debug_assert_eq!(at.len(), indices.len(), "one index per subscript");
        let mut marked = None;
        if let Access::Site(site, marks) = access {
            for (axis, index) in indices.iter().enumerate() {
                let (a, axis, site) = (index.reg, axis as u16, site.0);
                self.emit(Inst::CheckAxis { a, buf, axis, site });
            }
            marked = (marks && self.kernel.buffers[usize::from(buf)].marks).then_some(site.0);
        }
        let at = self.address(buffer, indices)?;
        if let Some(site) = marked {
            self.emit(Inst::CheckMark { buf, at, site });
        }
        let dst = self.result(result)?;
        self.emit(match self.kernel.buffers[usize::from(buf)].elem {
            Elem::F32 => Inst::LoadF32 { dst, buf, at },
            Elem::F64 => Inst::LoadF64 { dst, buf, at },
            Elem::I32 => Inst::LoadI32 { dst, buf, at },
            _ => Inst::Load { dst, buf, at },
        });
        Ok(())
    }

    fn probe(
        &mut self,
        result: &Value,
        buffer: BufferId,
        at: &[Subscript],
        marked: bool,
    ) -> Result<()> {
        let buf = buffer.0 as u16;
        let indices = self.subscripts(at)?;
        let tested = marked && self.kernel.buffers[usize::from(buf)].marks;
        let address = tested.then(|| self.address(buffer, &indices)).transpose()?;
        let (dst, no, end) = (self.result(result)?, self.label(), self.label());
        let (zero, one) = (self.constant(0)?, self.constant(1)?);
        for (axis, index) in indices.iter().enumerate() {
            let inst = Inst::UnlessOnAxis { a: index.reg, buf, axis: axis as u16, to: no };
            self.emit(inst);
        }
        match address {
            Some(at) => self.emit(Inst::Marked { dst, buf, at }),
            None => self.emit(Inst::Copy { dst, src: one }),
        }
        self.emit(Inst::Jump(end));
        self.emit(Inst::Label(no));
        self.emit(Inst::Copy { dst, src: zero });
        self.emit(Inst::Label(end));
        Ok(())
    }

    fn store(&mut self, buffer: BufferId, indices: &[Known], value: &Operand) -> Result<()> {
        let buf = buffer.0 as u16;
        let at = self.address(buffer, indices)?;
        let src = self.operand(value)?;
        let (elem, marks) = {
            let buffer = &self.kernel.buffers[usize::from(buf)];
            (buffer.elem, buffer.marks)
        };
        self.emit(match elem {
            Elem::F32 => Inst::StoreF32 { src, buf, at },
            _ => Inst::Store { src, buf, at },
        });
        if marks {
            self.emit(Inst::Mark { buf, at });
        }
        Ok(())
    }

    /// Jumps unless the condition holds.
    fn unless(&mut self, condition: &Condition, to: Target) -> Result<()> {
        match condition {
            Condition::Value(operand) => {
                let a = self.operand(operand)?;
                self.emit(Inst::Unless { a, to });
                Ok(())
            }
            Condition::Within(domain) => self.unless_within(domain, to),
        }
    }

    fn branch(
        &mut self,
        results: &[Value],
        condition: &Condition,
        then: &Block,
        otherwise: &Block,
    ) -> Result<()> {
        let (no, end) = (self.label(), self.label());
        let mut regs = Vec::with_capacity(results.len());
        for result in results {
            regs.push(self.result(result)?);
        }
        let arm = |compile: &mut Self, block: &Block| {
            compile.framed(|compile| {
                compile.stmts(block)?;
                compile.yielded(block, &regs)
            })
        };
        // What the arms want of the frames around is computed before the jump.
        let then = arm(self, then)?;
        let otherwise = arm(self, otherwise)?;
        self.unless(condition, no)?;
        self.append(then);
        if !otherwise.is_empty() {
            self.emit(Inst::Jump(end));
        }
        self.emit(Inst::Label(no));
        self.append(otherwise);
        self.emit(Inst::Label(end));
        Ok(())
    }

    /// Copies what a block yields.
    pub(super) fn yielded(&mut self, block: &Block, regs: &[u16]) -> Result<()> {
        let mut from = Vec::with_capacity(regs.len());
        for operand in &block.results {
            from.push(self.operand(operand)?);
        }
        for (dst, src) in regs.iter().zip(from) {
            self.emit(Inst::Copy { dst: *dst, src });
        }
        Ok(())
    }

    fn looped(&mut self, of: &Loop) -> Result<()> {
        let range = &of.range;
        let (lo, hi) = (self.bound(&range.lo)?.reg, self.bound(&range.hi)?.reg);
        let (top, end, stop) = (self.label(), self.label(), self.label());
        let var = self.var_reg(range.var)?;
        let open = match &of.until {
            Some(until) => Some((self.var_reg(until.extent)?, self.result(&until.converged)?)),
            None => None,
        };
        let code = self.framed(|compile| {
            compile.known(range.var);
            match (&of.until, open) {
                (Some(until), Some(open)) => compile.open_round(of, until, open, var, stop),
                _ => compile.stmts(&of.body),
            }
        })?;
        if let Some((extent, converged)) = open {
            let zero = self.constant(0)?;
            self.emit(Inst::Copy { dst: converged, src: zero });
            self.emit(Inst::Max { dst: extent, a: hi, b: zero });
        }
        self.emit(Inst::IfGe { a: lo, b: hi, to: end });
        match range.down {
            false => self.emit(Inst::Copy { dst: var, src: lo }),
            true => self.emit(Inst::AddImm { dst: var, a: hi, imm: -1 }),
        }
        self.emit(Inst::Label(top));
        self.append(code);
        match range.down {
            false => self.emit(Inst::Up { a: var, end: hi, to: top }),
            true => self.emit(Inst::Down { a: var, end: lo, to: top }),
        }
        if let Some((extent, _)) = open {
            self.emit(Inst::Copy { dst: extent, src: hi });
        }
        self.emit(Inst::Label(stop));
        self.emit(Inst::Label(end));
        if let Some(until) = &of.until {
            self.known(until.extent);
        }
        Ok(())
    }

    /// A round of an open axis: room for its planes, the points, the condition.
    fn open_round(
        &mut self,
        of: &Loop,
        until: &UntilLoop,
        (extent, converged): (Reg, Reg),
        var: Reg,
        stop: Target,
    ) -> Result<()> {
        self.emit(Inst::AddImm { dst: extent, a: var, imm: 1 });
        self.known(until.extent);
        for buffer in &until.buffers {
            let dims = &self.kernel.buffers[buffer.0 as usize].dims;
            let axis = dims.iter().position(|dim| dim.extent.as_var() == Some(until.extent));
            if let Some(axis) = axis {
                self.emit(Inst::Grow { buf: buffer.0 as u16, axis: axis as u16, a: extent });
            }
        }
        self.stmts(&of.body)?;
        let (again, yes) = (self.label(), self.label());
        let first = self.bound(&until.first)?;
        let one = self.constant(1)?;
        self.emit(Inst::IfGe { a: var, b: first.reg, to: yes });
        self.emit(Inst::Jump(again));
        self.emit(Inst::Label(yes));
        let condition = self.framed(|compile| {
            compile.stmts(&until.condition)?;
            compile.yielded(&until.condition, &[converged])
        })?;
        self.append(condition);
        self.emit(Inst::Unless { a: converged, to: again });
        self.emit(Inst::Copy { dst: converged, src: one });
        self.emit(Inst::Jump(stop));
        self.emit(Inst::Label(again));
        Ok(())
    }
}
