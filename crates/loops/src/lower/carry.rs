//! The blocks of sums over time: how many there are, and which partial sums each is combined with.

use einlang_index::{MinMax, Quasi, Var};
use einlang_tir::module::{Binding, Group};
use einlang_tir::op::Op;
use einlang_tir::types::Ident;

use super::integers::number;
use super::scan::ranges_of;
use super::sums::{Carries, Partial, Step};
use super::sweep::Sweep;
use super::{Lower, NotLowered, Result};
use crate::decide::{sum_of, sum_over};
use crate::ir::{Operand, Range, Stmt};
use crate::schedule::SweepPart;

impl Lower<'_> {
    /// Memory for the partial sums of a sum over time.
    pub(super) fn carries_of(
        &mut self,
        binding: &Binding,
        sweep: Sweep,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let missing = || NotLowered::new("a sum over time that is none");
        let reduction = sum_of(binding).ok_or_else(missing)?;
        let (ranges, _) = ranges_of(&reduction.domain, &self.context)?;
        let (mut blocks, mut width) = (sweep.count, None);
        if let Some((_, others)) = ranges.split_first().filter(|(_, rest)| !rest.is_empty()) {
            let (mut lengths, mut product) = (Vec::new(), number(1));
            for range in others {
                let expr = MinMax::max_of([range.hi.sub(&range.lo)?, MinMax::from(0)])?;
                let length = self.kernel.vars.symbol("extent");
                out.push(Stmt::Bind { var: length, expr });
                self.bound.push(length);
                let value = self.value_of(&Quasi::from(length), out);
                product = self.integer(Op::Mul, &[product, value], out);
                lengths.push(length);
            }
            let count = self.value_of(&Quasi::from(sweep.count), out);
            let total = self.integer(Op::Mul, &[product, count], out);
            blocks = self.sized("blocks", total, out)?;
            width = Some((self.sized("width", product, out)?, lengths));
        }
        let total = self.value_of(&Quasi::from(blocks), out);
        let levels = self.count(
            62,
            |lower, bit, out| {
                let power = lower.integer(Op::Shl, &[number(1), bit], out);
                lower.integer(Op::Lt, &[power, total], out)
            },
            out,
        );
        let levels = self.integer(Op::Add, &[levels, number(2)], out);
        let levels = self.sized("levels", levels, out)?;
        let name = Ident::new(&format!("{}.carries", binding.name.as_str()));
        let buffer = self.extra_buffer(&name, binding.ty(), Some(levels), out);
        let carries = Carries { buffer, levels, blocks, width };
        self.carries.insert(binding.name.clone(), carries);
        Ok(())
    }

    /// Counts the blocks again when it is known how many segments there are.
    pub(super) fn recount(
        &mut self,
        parts: &[SweepPart],
        sweep: Sweep,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        for part in parts {
            let Some(carries) = self.carries.get(&part.group).cloned() else { continue };
            let blocks = match carries.width {
                None => sweep.count,
                Some((width, _)) => {
                    let width = self.value_of(&Quasi::from(width), out);
                    let count = self.value_of(&Quasi::from(sweep.count), out);
                    let total = self.integer(Op::Mul, &[width, count], out);
                    self.sized("blocks", total, out)?
                }
            };
            self.carries.insert(part.group.clone(), Carries { blocks, ..carries });
        }
        Ok(())
    }

    /// A sum over time, as far as this segment goes.
    pub(super) fn add_up(
        &mut self,
        group: &Group,
        sweep: Sweep,
        down: bool,
        (from, to): (Var, Var),
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let missing = || NotLowered::new("a sum over time that is none");
        let binding = group.bindings.first().ok_or_else(missing)?;
        let (time, _) = sum_of(binding).and_then(sum_over).ok_or_else(missing)?;
        let carries = self.carries[&binding.name].clone();
        let cut = (time, from, to);
        let Some((width, _)) = carries.width else {
            let segment = self.value_of(&Quasi::from(sweep.segment), out);
            let (joined, place) = self.carry(segment, &carries, down, out)?;
            return self.in_step(group, Step::Add { cut, joined, place, block: None }, out);
        };
        let block = self.kernel.vars.index("block");
        let (stmts, ()) = self.in_loop(block, down, |lower, out| {
            let segment = lower.value_of(&Quasi::from(sweep.segment), out);
            let in_segment = lower.value_of(&Quasi::from(width), out);
            let before = lower.integer(Op::Mul, &[segment, in_segment], out);
            let block = lower.value_of(&Quasi::from(block), out);
            let block = lower.integer(Op::Add, &[before, block], out);
            let (joined, place) = lower.carry(block, &carries, down, out)?;
            let length = lower.value_of(&Quasi::from(sweep.length), out);
            let start = lower.integer(Op::Mul, &[block, length], out);
            let start = lower.sized("start", start, out)?;
            let block = Some((start, sweep.length));
            lower.in_step(group, Step::Add { cut, joined, place, block }, out)
        })?;
        let hi = MinMax::Value(Quasi::from(width));
        let range = Range { var: block, lo: MinMax::from(0), hi, down };
        out.push(Stmt::rounds(range, stmts));
        Ok(())
    }

    fn in_step(&mut self, group: &Group, step: Step, out: &mut Vec<Stmt>) -> Result<()> {
        let Some(binding) = group.bindings.first() else { return Ok(()) };
        let name = binding.name.clone();
        let carries = self.carries[&name].clone();
        let schedule = self.schedule_of(group)?;
        let domains = self.domains(group)?;
        self.partial = Some(Partial { name, carries, step });
        let done = self.nest(group, &schedule.nest, domains, None, out);
        self.partial = None;
        done
    }

    /// How many carries the sum of a block is combined with, and at which level it is kept.
    fn carry(
        &mut self,
        block: Operand,
        carries: &Carries,
        down: bool,
        out: &mut Vec<Stmt>,
    ) -> Result<(Var, Var)> {
        let number_of = match down {
            false => self.integer(Op::Add, &[block, number(1)], out),
            true => block,
        };
        let ends = |lower: &mut Self, bit: Operand, out: &mut Vec<Stmt>| {
            let next = lower.integer(Op::Add, &[bit, number(1)], out);
            let power = lower.integer(Op::Shl, &[number(1), next], out);
            let mask = lower.integer(Op::Sub, &[power, number(1)], out);
            let low = lower.integer(Op::Band, &[number_of, mask], out);
            lower.integer(Op::Eq, &[low, number(0)], out)
        };
        let zeros = self.count(61, ends, out);
        if !down {
            let joined = self.sized("joined", zeros, out)?;
            return Ok((joined, joined));
        }
        let total = self.value_of(&Quasi::from(carries.blocks), out);
        let joined = self.count(
            61,
            |lower, bit, out| {
                let ends = ends(lower, bit, out);
                let power = lower.integer(Op::Shl, &[number(1), bit], out);
                let sibling = lower.integer(Op::Add, &[block, power], out);
                let exists = lower.integer(Op::Lt, &[sibling, total], out);
                lower.integer(Op::And, &[ends, exists], out)
            },
            out,
        );
        let top = self.value_of(&Quasi::from(carries.levels).add_constant(-1)?, out);
        let level = self.integer(Op::Min, &[zeros, top], out);
        Ok((self.sized("joined", joined, out)?, self.sized("level", level, out)?))
    }

    /// The sums over all segments.
    pub(super) fn finish_sums(
        &mut self,
        parts: &[SweepPart],
        down: bool,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        for part in parts {
            let group = self.group_of(&part.group)?;
            if let Some(carries) = self.carries.get(&part.group) {
                let step = match down {
                    true => Step::Highest(carries.levels),
                    false => Step::Bits(carries.blocks),
                };
                self.in_step(group, step, out)?;
            }
            self.values_of_group(group, out)?;
        }
        Ok(())
    }
}
