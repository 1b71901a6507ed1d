//! Folds: loops around a term, and a state in registers.

use einlang_loops::ir::{Combine, Fold, FoldStart, Range};
use einlang_tir::op::Op;
use einlang_tir::types::Elem;

use super::{Compile, Result};
use crate::bytecode::code::{Apply, Fast, Inst, Reg, Target};

/// The state of a fold that is being compiled.
struct State {
    regs: Vec<Reg>,
    /// Whether there is a state yet, if it starts with the first term.
    any: Option<Reg>,
    /// The number of the sum in pairs.
    pairs: Option<u16>,
}

impl Compile<'_> {
    pub(super) fn fold(&mut self, fold: &Fold) -> Result<()> {
        let state = self.begin(fold)?;
        let code = self.framed(|compile| {
            let next = compile.label();
            compile.rounds(&fold.ranges, fold, &state, next)
        })?;
        self.append(code);
        self.end(fold, &state)
    }

    fn begin(&mut self, fold: &Fold) -> Result<State> {
        let mut regs = Vec::with_capacity(fold.results.len());
        for result in &fold.results {
            regs.push(self.result(result)?);
        }
        let mut any = None;
        match &fold.start {
            FoldStart::From(start) => {
                for (dst, operand) in regs.iter().zip(start) {
                    let src = self.operand(operand)?;
                    self.emit(Inst::Copy { dst: *dst, src });
                }
            }
            FoldStart::First(_) => {
                let (flag, zero) = (self.reg()?, self.constant(0)?);
                self.emit(Inst::Copy { dst: flag, src: zero });
                any = Some(flag);
            }
        }
        let mut pairs = None;
        if let Combine::Pairs(_) = fold.combine {
            let number = self.code.pairs.len() as u16;
            self.code.pairs.push(fold.results.first().map_or(Elem::F32, |v| v.elem));
            self.emit(Inst::PairsBegin(number));
            pairs = Some(number);
        }
        Ok(State { regs, any, pairs })
    }

    /// The loops, outermost first, around one term.
    fn rounds(&mut self, ranges: &[Range], fold: &Fold, state: &State, next: Target) -> Result<()> {
        let Some((range, rest)) = ranges.split_first() else {
            self.term(fold, state, next)?;
            self.emit(Inst::Label(next));
            return Ok(());
        };
        let (lo, hi) = (self.bound(&range.lo)?.reg, self.bound(&range.hi)?.reg);
        let (top, end) = (self.label(), self.label());
        let var = self.var_reg(range.var)?;
        let code = self.framed(|compile| {
            compile.known(range.var);
            compile.rounds(rest, fold, state, next)
        })?;
        self.emit(Inst::IfGe { a: lo, b: hi, to: end });
        self.emit(Inst::Copy { dst: var, src: lo });
        self.emit(Inst::Label(top));
        self.append(code);
        self.emit(Inst::Up { a: var, end: hi, to: top });
        self.emit(Inst::Label(end));
        Ok(())
    }

    fn term(&mut self, fold: &Fold, state: &State, next: Target) -> Result<()> {
        if let Some(domain) = &fold.within {
            self.unless_within(domain, next)?;
        }
        if let Some(guard) = &fold.guard {
            self.stmts(guard)?;
            let gap = self.label();
            let counts = self.label();
            let mut holds = self.constant(1)?;
            if let Some(operand) = guard.results.first() {
                holds = self.operand(operand)?;
            }
            self.emit(Inst::If { a: holds, to: counts });
            self.emit(Inst::Label(gap));
            if let Some(number) = state.pairs {
                self.emit(Inst::PairsGap(number));
            }
            self.emit(Inst::Jump(next));
            self.emit(Inst::Label(counts));
        }
        // The body is reached only if the guard holds, so what it computes is its own.
        let code = self.framed(|compile| {
            compile.stmts(&fold.body)?;
            compile.combine(fold, state, next)
        })?;
        self.append(code);
        Ok(())
    }

    fn combine(&mut self, fold: &Fold, state: &State, next: Target) -> Result<()> {
        let mut terms = Vec::with_capacity(state.regs.len());
        for operand in &fold.body.results {
            terms.push(self.operand(operand)?);
        }
        if let Some(number) = state.pairs {
            let a = terms.first().copied().unwrap_or(0);
            self.emit(Inst::PairsTerm { state: number, a });
            return Ok(());
        }
        if let Some(any) = state.any {
            let later = self.label();
            let one = self.constant(1)?;
            self.emit(Inst::If { a: any, to: later });
            self.emit(Inst::Copy { dst: any, src: one });
            for (dst, src) in state.regs.iter().zip(&terms) {
                self.emit(Inst::Copy { dst: *dst, src: *src });
            }
            self.emit(Inst::Jump(next));
            self.emit(Inst::Label(later));
        }
        match &fold.combine {
            Combine::Op(op) | Combine::Pairs(op) => {
                let elem = fold.results.first().map_or(Elem::F32, |value| value.elem);
                let (dst, term) = (state.regs[0], terms.first().copied().unwrap_or(0));
                self.binary(*op, elem, dst, dst, term);
            }
            Combine::Block { left, right, block } => {
                for (value, reg) in left.iter().zip(&state.regs) {
                    self.values.insert(value.number, *reg);
                }
                for (value, reg) in right.iter().zip(&terms) {
                    self.values.insert(value.number, *reg);
                }
                let code = self.framed(|compile| {
                    compile.stmts(block)?;
                    // All are computed before any is replaced.
                    let mut copies = Vec::with_capacity(state.regs.len());
                    for operand in &block.results {
                        let (src, dst) = (compile.operand(operand)?, compile.reg()?);
                        compile.emit(Inst::Copy { dst, src });
                        copies.push(dst);
                    }
                    for (dst, src) in state.regs.iter().zip(copies) {
                        compile.emit(Inst::Copy { dst: *dst, src });
                    }
                    Ok(())
                })?;
                self.append(code);
            }
        }
        Ok(())
    }

    fn binary(&mut self, op: Op, elem: Elem, dst: Reg, a: Reg, b: Reg) {
        match Fast::of(op, elem).filter(|_| !self.checked) {
            Some(fast) => self.emit(Inst::Fast { op: fast, dst, a, b }),
            None => {
                let args = [a, b, a];
                self.code.applies.push(Apply { op, elems: [elem; 2], result: elem, dst, args });
                self.emit(Inst::Apply(self.code.applies.len() as u32 - 1));
            }
        }
    }

    fn end(&mut self, fold: &Fold, state: &State) -> Result<()> {
        if let (Some(number), Combine::Pairs(op)) = (state.pairs, &fold.combine) {
            let elem = fold.results.first().map_or(Elem::F32, |value| value.elem);
            let (sum, some, end) = (self.reg()?, self.reg()?, self.label());
            self.emit(Inst::PairsEnd { state: number, dst: sum, any: some });
            self.emit(Inst::Unless { a: some, to: end });
            match state.any {
                Some(any) => {
                    let one = self.constant(1)?;
                    self.emit(Inst::Copy { dst: any, src: one });
                    self.emit(Inst::Copy { dst: state.regs[0], src: sum });
                }
                None => self.binary(*op, elem, state.regs[0], state.regs[0], sum),
            }
            self.emit(Inst::Label(end));
        }
        if let (FoldStart::First(site), Some(any)) = (&fold.start, state.any) {
            let fine = self.label();
            self.emit(Inst::If { a: any, to: fine });
            self.emit(Inst::Trap(site.0));
            self.emit(Inst::Label(fine));
        }
        Ok(())
    }
}
