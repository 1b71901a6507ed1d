//! Index expressions, conditions on indices, addresses.

use einlang_index::{Affine, Domain, MinMax, Quasi, Set, Var};
use einlang_loops::ir::{BufferId, Layout, Subscript};

use super::{Compile, Key, Known, Result, TooLarge};
use crate::bytecode::code::{Inst, Reg, Target};

impl Compile<'_> {
    /// Emits into a frame around, unless the same is there already.
    fn at_depth(
        &mut self,
        depth: usize,
        key: Option<Key>,
        inst: impl FnOnce(u16) -> Inst,
    ) -> Result<Known> {
        if let Some(key) = &key
            && let Some(reg) = self.frames[depth].cache.get(key)
        {
            return Ok(Known { reg: *reg, depth });
        }
        let reg = self.reg()?;
        let frame = &mut self.frames[depth];
        frame.code.push(inst(reg));
        if let Some(key) = key {
            frame.cache.insert(key, reg);
        }
        Ok(Known { reg, depth })
    }

    fn var(&mut self, var: Var) -> Result<Known> {
        match self.vars.get(&var) {
            Some((reg, depth)) if *depth < self.frames.len() => {
                Ok(Known { reg: *reg, depth: *depth })
            }
            _ => {
                let name = self.kernel.vars.name(var).unwrap_or("?");
                Err(TooLarge(format!("`{name}` has no value")))
            }
        }
    }

    fn number(&mut self, value: i64) -> Result<Known> {
        Ok(Known { reg: self.constant(value as u64)?, depth: 0 })
    }

    fn add(&mut self, a: Known, b: Known) -> Result<Known> {
        let (a, b) = if a.reg <= b.reg { (a, b) } else { (b, a) };
        let key = Key::Sum(a.reg, b.reg);
        let depth = a.depth.max(b.depth);
        self.at_depth(depth, Some(key), |dst| Inst::Add { dst, a: a.reg, b: b.reg })
    }

    fn scaled(&mut self, a: Known, by: i64) -> Result<Known> {
        match (by, i32::try_from(by)) {
            (1, _) => Ok(a),
            (_, Ok(imm)) => self.at_depth(a.depth, None, |dst| Inst::MulImm { dst, a: a.reg, imm }),
            _ => {
                let by = self.number(by)?;
                self.at_depth(a.depth, None, |dst| Inst::Mul { dst, a: a.reg, b: by.reg })
            }
        }
    }

    fn plus(&mut self, a: Known, constant: i64) -> Result<Known> {
        match (constant, i32::try_from(constant)) {
            (0, _) => Ok(a),
            (_, Ok(imm)) => self.at_depth(a.depth, None, |dst| Inst::AddImm { dst, a: a.reg, imm }),
            _ => {
                let constant = self.number(constant)?;
                self.add(a, constant)
            }
        }
    }

    /// The value of an index expression.
    pub(super) fn quasi(&mut self, expr: &Quasi) -> Result<Known> {
        if let Some(constant) = expr.as_constant() {
            return self.number(constant);
        }
        if let Some(var) = expr.as_var() {
            return self.var(var);
        }
        let key = Key::Expr(expr.clone());
        let depths = (0..self.frames.len()).rev();
        for depth in depths {
            if let Some(reg) = self.frames[depth].cache.get(&key) {
                return Ok(Known { reg: *reg, depth });
            }
        }
        let known = self.affine(expr.affine())?;
        let mut sum = known;
        for (division, coefficient) in expr.divisions() {
            let number = self.quasi(&division.number)?;
            let by = i32::try_from(division.divisor)
                .map_err(|_| TooLarge("a division by a large number".to_owned()))?;
            let op = division.op;
            let part = self.at_depth(number.depth, None, |dst| Inst::Divide {
                op,
                dst,
                a: number.reg,
                by,
            })?;
            let part = self.scaled(part, *coefficient)?;
            sum = Some(match sum {
                Some(sum) => self.add(sum, part)?,
                None => part,
            });
        }
        let sum = match sum {
            Some(sum) => self.plus(sum, expr.affine().constant_part())?,
            None => self.number(expr.affine().constant_part())?,
        };
        self.frames[sum.depth].cache.insert(key, sum.reg);
        Ok(sum)
    }

    /// The sum of the terms, outermost variables first.
    fn affine(&mut self, affine: &Affine) -> Result<Option<Known>> {
        let mut terms = Vec::with_capacity(affine.terms().len());
        for (var, coefficient) in affine.terms() {
            let var = self.var(*var)?;
            terms.push(self.scaled(var, *coefficient)?);
        }
        terms.sort_by_key(|known| known.depth);
        let mut sum: Option<Known> = None;
        for term in terms {
            sum = Some(match sum {
                Some(sum) => self.add(sum, term)?,
                None => term,
            });
        }
        Ok(sum)
    }

    /// The value of a bound.
    pub(super) fn bound(&mut self, bound: &MinMax) -> Result<Known> {
        let (list, max) = match bound {
            MinMax::Value(expr) => return self.quasi(expr),
            MinMax::Min(list) => (list, false),
            MinMax::Max(list) => (list, true),
        };
        let mut values = Vec::with_capacity(list.len());
        for item in list {
            values.push(self.bound(item)?);
        }
        values.sort_by_key(|known| known.depth);
        let mut best: Option<Known> = None;
        for value in values {
            best = Some(match best {
                None => value,
                Some(best) => {
                    let depth = best.depth.max(value.depth);
                    let (a, b) = (best.reg, value.reg);
                    self.at_depth(depth, None, |dst| match max {
                        true => Inst::Max { dst, a, b },
                        false => Inst::Min { dst, a, b },
                    })?
                }
            });
        }
        best.ok_or_else(|| TooLarge("a bound of nothing".to_owned()))
    }

    /// Jumps to `to` unless the variables lie in the domain. Everything is computed before the first
    /// jump, so that it is there whatever happens.
    pub(super) fn unless_within(&mut self, domain: &Domain, to: Target) -> Result<()> {
        let mut tests = Vec::with_capacity(domain.sets().len());
        for set in domain.sets() {
            tests.push(self.tests(set)?);
        }
        let inside = self.label();
        let Some((last, others)) = tests.split_last() else {
            self.emit(Inst::Jump(to));
            return Ok(());
        };
        for set in others {
            let next = self.label();
            set.iter().for_each(|test| self.emit(test.jump(next)));
            self.emit(Inst::Jump(inside));
            self.emit(Inst::Label(next));
        }
        last.iter().for_each(|test| self.emit(test.jump(to)));
        self.emit(Inst::Label(inside));
        Ok(())
    }

    fn tests(&mut self, set: &Set) -> Result<Vec<Test>> {
        let mut tests = Vec::new();
        for a in set.ges() {
            tests.push(Test::Negative(self.quasi(&Quasi::from(a.clone()))?.reg));
        }
        for a in set.eqs() {
            tests.push(Test::Nonzero(self.quasi(&Quasi::from(a.clone()))?.reg));
        }
        for congruence in set.mods() {
            let gave_up = |_| TooLarge("a condition that is too large".to_owned());
            let rest = Quasi::from(congruence.expr().clone());
            let rest = rest.floor_mod(congruence.modulus()).map_err(gave_up)?;
            let value = self.quasi(&rest)?.reg;
            let most = self.number(congruence.at_most().saturating_add(1))?.reg;
            tests.push(Test::AtLeast(value, most));
        }
        Ok(tests)
    }

    /// The subscripts of a load, as indices.
    pub(super) fn subscripts(&mut self, at: &[Subscript]) -> Result<Vec<Known>> {
        let mut indices = Vec::with_capacity(at.len());
        for subscript in at {
            indices.push(match subscript {
                Subscript::Index(expr) => self.quasi(expr)?,
                Subscript::Value(operand) => {
                    let (a, elem) = (self.operand(operand)?, operand.elem());
                    let depth = self.depth();
                    self.at_depth(depth, None, |dst| Inst::ToSubscript { dst, a, elem })?
                }
            });
        }
        Ok(indices)
    }

    /// The position of an element: the sum of subscripts times strides, outermost loops first.
    pub(super) fn address(&mut self, buffer: BufferId, indices: &[Known]) -> Result<u16> {
        let number = buffer.0 as usize;
        let unit = self.unit_dim(number);
        let allocated = self.allocated[number];
        let mut terms = Vec::with_capacity(indices.len());
        for (dim, index) in indices.iter().enumerate() {
            let mut index = *index;
            if let Some(Layout::Mod(width)) =
                self.kernel.buffers[number].dims.get(dim).map(|dim| dim.layout)
            {
                let wide = |_| TooLarge("a window that is too wide".to_owned());
                let (by, a) = (i32::try_from(width).map_err(wide)?, index.reg);
                let key = Key::Wrapped(by, a);
                index = self.at_depth(index.depth, Some(key), |dst| Inst::Wrap { dst, a, by })?;
            }
            if Some(dim) == unit {
                terms.push((index, None));
                continue;
            }
            let stride = self.code.strides[number] + dim as u16;
            terms.push((index, Some((stride, dim as u16))));
        }
        terms.sort_by_key(|(index, stride)| match stride {
            Some(_) => index.depth.max(allocated),
            None => index.depth,
        });
        let mut sum: Option<Known> = None;
        for (index, stride) in terms {
            sum = Some(match (sum, stride) {
                (None, None) => index,
                (Some(sum), None) => self.add(sum, index)?,
                (sum, Some((stride, dim))) => {
                    let depth = index.depth.max(allocated);
                    let key = Key::Product(buffer.0, dim, index.reg);
                    let (a, b) = (index.reg, stride);
                    match sum {
                        Some(sum) if depth == self.depth() && sum.depth <= depth => {
                            let c = sum.reg;
                            self.at_depth(depth, None, |dst| Inst::MulAdd { dst, a, b, c })?
                        }
                        sum => {
                            let part =
                                self.at_depth(depth, Some(key), |dst| Inst::Mul { dst, a, b })?;
                            match sum {
                                Some(sum) => self.add(sum, part)?,
                                None => part,
                            }
                        }
                    }
                }
            });
        }
        match sum {
            Some(sum) => Ok(sum.reg),
            None => self.constant(0),
        }
    }
}

/// What makes a point lie outside a set.
enum Test {
    Negative(Reg),
    Nonzero(Reg),
    AtLeast(Reg, Reg),
}

impl Test {
    fn jump(&self, to: Target) -> Inst {
        match self {
            Test::Negative(a) => Inst::IfNegative { a: *a, to },
            Test::Nonzero(a) => Inst::IfNonzero { a: *a, to },
            Test::AtLeast(a, b) => Inst::IfGe { a: *a, b: *b, to },
        }
    }
}
