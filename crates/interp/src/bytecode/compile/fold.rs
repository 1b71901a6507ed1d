//! Folds: loops around a term, and a state in registers.

use einlang_loops::ir::{Combine, Fold, FoldStart, Key, Range};
use einlang_tir::op::Op;
use einlang_tir::types::Elem;

use super::{Compile, Result, TooLarge};
use crate::bytecode::code::{Apply, Fast, Inst, NO_SITE, Reg, Target};

/// The state of a fold that is being compiled.
struct State {
    regs: Vec<Reg>,
    /// Where it starts.
    from: Vec<Reg>,
    /// Whether there is a state yet, if it starts with the first term.
    any: Option<Reg>,
    /// The number of the sum in pairs.
    pairs: Option<u16>,
    /// The first point of the next round, if the fold goes on in rounds.
    next: Option<Reg>,
}

impl Compile<'_> {
    pub(super) fn fold(&mut self, fold: &Fold) -> Result<()> {
        let state = self.begin(fold)?;
        let code = self.framed(|compile| {
            let next = compile.label();
            match &fold.key {
                Some(key) => compile.visits(key, fold, &state, next),
                None => compile.rounds(&fold.ranges, fold, &state, next, state.next),
            }
        })?;
        self.append(code);
        self.end(fold, &state)
    }

    /// Sets up the state: here, or before the loop in whose rounds the fold goes on.
    fn begin(&mut self, fold: &Fold) -> Result<State> {
        let here = self.depth();
        let depth = match fold.resume {
            Some(var) => self.vars.get(&var).and_then(|known| known.1.checked_sub(1)),
            None => Some(here),
        };
        let depth = depth.filter(|depth| *depth <= here);
        let depth = depth.ok_or_else(|| TooLarge("a fold goes on in no loop".to_owned()))?;
        let mut setup = Vec::new();
        let mut regs = Vec::with_capacity(fold.results.len());
        for _ in &fold.results {
            regs.push(self.reg()?);
        }
        let (mut any, mut from) = (None, Vec::new());
        match &fold.start {
            FoldStart::From(start) => {
                for operand in start {
                    from.push(self.operand(operand)?);
                }
            }
            FoldStart::First(_) => {
                let (flag, zero) = (self.reg()?, self.constant(0)?);
                setup.push(Inst::Copy { dst: flag, src: zero });
                any = Some(flag);
            }
        }
        let mut pairs = None;
        if let Combine::Pairs(_) = fold.combine {
            let number = self.code.pairs.len() as u16;
            self.code.pairs.push(fold.results.first().map_or(Elem::F32, |v| v.elem));
            setup.push(Inst::PairsBegin(number));
            pairs = Some(number);
        } else {
            let copies = regs.iter().zip(&from);
            setup.extend(copies.map(|(dst, src)| Inst::Copy { dst: *dst, src: *src }));
        }
        let mut next = None;
        if let (Some(_), Some(first)) = (fold.resume, fold.ranges.first()) {
            let (lo, reg) = (self.bound(&first.lo)?.reg, self.reg()?);
            setup.push(Inst::Copy { dst: reg, src: lo });
            next = Some(reg);
        }
        self.frames[depth].code.extend(setup);
        Ok(State { regs, from, any, pairs, next })
    }

    /// The loops, outermost first, around one term. The outermost one may go on from a register.
    fn rounds(
        &mut self,
        ranges: &[Range],
        fold: &Fold,
        state: &State,
        next: Target,
        resume: Option<Reg>,
    ) -> Result<()> {
        let Some((range, rest)) = ranges.split_first() else {
            self.term(fold, state, next)?;
            self.emit(Inst::Label(next));
            return Ok(());
        };
        let hi = self.bound(&range.hi)?.reg;
        let lo = match resume {
            Some(reg) => reg,
            None => self.bound(&range.lo)?.reg,
        };
        let (top, end) = (self.label(), self.label());
        let var = self.var_reg(range.var)?;
        let code = self.framed(|compile| {
            compile.known(range.var);
            compile.rounds(rest, fold, state, next, None)
        })?;
        self.emit(Inst::IfGe { a: lo, b: hi, to: end });
        self.emit(Inst::Copy { dst: var, src: lo });
        self.emit(Inst::Label(top));
        self.append(code);
        self.emit(Inst::Up { a: var, end: hi, to: top });
        if let Some(reg) = resume {
            self.emit(Inst::Copy { dst: reg, src: hi });
        }
        self.emit(Inst::Label(end));
        Ok(())
    }

    /// The points of one key, which are sorted by their keys the first time.
    fn visits(&mut self, key: &Key, fold: &Fold, state: &State, next: Target) -> Result<()> {
        let table = self.code.keys.len() as u32;
        let mut vars = Vec::with_capacity(fold.ranges.len());
        for range in &fold.ranges {
            vars.push(self.var_reg(range.var)?);
        }
        self.code.keys.push(vars);
        let (sorted, top, end) = (self.label(), self.label(), self.label());
        let bin = self.operand(&key.bin)?;
        let code = self.framed(|compile| {
            let skip = compile.label();
            compile.sorting(&fold.ranges, key, fold, table, skip)
        })?;
        self.emit(Inst::IfSorted { table, to: sorted });
        self.append(code);
        self.emit(Inst::KeysEnd(table));
        self.emit(Inst::Label(sorted));
        self.emit(Inst::Visit { table, a: bin });
        let pairs = state.pairs.unwrap_or(u16::MAX);
        let code = self.framed(|compile| {
            for range in &fold.ranges {
                compile.known(range.var);
            }
            compile.term(fold, state, next)
        })?;
        self.emit(Inst::Label(top));
        self.emit(Inst::VisitNext { table, pairs, to: end });
        self.append(code);
        self.emit(Inst::Label(next));
        self.emit(Inst::Jump(top));
        self.emit(Inst::Label(end));
        Ok(())
    }

    /// Loops over all points that write down their keys.
    fn sorting(
        &mut self,
        ranges: &[Range],
        key: &Key,
        fold: &Fold,
        table: u32,
        skip: Target,
    ) -> Result<()> {
        let Some((range, rest)) = ranges.split_first() else {
            if let Some(domain) = &fold.within {
                self.unless_within(domain, skip)?;
            }
            self.stmts(&key.block)?;
            if let Some(operand) = key.block.results.first() {
                let a = self.operand(operand)?;
                self.emit(Inst::KeysAdd { table, a });
            }
            self.emit(Inst::Label(skip));
            return Ok(());
        };
        let (lo, hi) = (self.bound(&range.lo)?.reg, self.bound(&range.hi)?.reg);
        let (top, end) = (self.label(), self.label());
        let var = self.var_reg(range.var)?;
        let code = self.framed(|compile| {
            compile.known(range.var);
            compile.sorting(rest, key, fold, table, skip)
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
        if let Some(domain) = fold.within.as_ref().filter(|_| fold.key.is_none()) {
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
                let (elems, site) = ([elem; 2], NO_SITE);
                self.code.applies.push(Apply { op, elems, result: elem, dst, args, site });
                self.emit(Inst::Apply(self.code.applies.len() as u32 - 1));
            }
        }
    }

    /// The results of a round; the state stays as it is.
    fn end(&mut self, fold: &Fold, state: &State) -> Result<()> {
        let mut results = Vec::with_capacity(fold.results.len());
        for result in &fold.results {
            results.push(self.result(result)?);
        }
        if let (FoldStart::First(site), Some(any), None) = (&fold.start, state.any, state.pairs) {
            let fine = self.label();
            self.emit(Inst::If { a: any, to: fine });
            self.emit(Inst::Trap(site.0));
            self.emit(Inst::Label(fine));
        }
        let (Some(number), Combine::Pairs(op)) = (state.pairs, &fold.combine) else {
            for (dst, src) in results.iter().zip(&state.regs) {
                self.emit(Inst::Copy { dst: *dst, src: *src });
            }
            return Ok(());
        };
        let elem = fold.results.first().map_or(Elem::F32, |value| value.elem);
        let (sum, some) = (self.reg()?, self.reg()?);
        let (none, end) = (self.label(), self.label());
        let dst = results.first().copied().unwrap_or(sum);
        self.emit(Inst::PairsEnd { state: number, dst: sum, any: some });
        self.emit(Inst::Unless { a: some, to: none });
        match state.from.first() {
            Some(start) => self.binary(*op, elem, dst, *start, sum),
            None => self.emit(Inst::Copy { dst, src: sum }),
        }
        self.emit(Inst::Jump(end));
        self.emit(Inst::Label(none));
        match (state.from.first(), &fold.start) {
            (Some(start), _) => self.emit(Inst::Copy { dst, src: *start }),
            (None, FoldStart::First(site)) => self.emit(Inst::Trap(site.0)),
            (None, FoldStart::From(_)) => {}
        }
        self.emit(Inst::Label(end));
        Ok(())
    }
}
