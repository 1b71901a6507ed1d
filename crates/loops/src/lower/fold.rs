//! Reductions become folds, with the association that the oracle uses: one term after the other
//! in index order, but in pairs by position for float sums that may be reassociated.

use einlang_tir::op::Op;
use einlang_tir::region::{Combiner, Def, Inst, Reduction, Start, Value};

use super::scan::ranges_of;
use super::{Lower, NotLowered, Part, Result};
use crate::ir::{Block, Combine, Fold, FoldStart, Operand, Stmt};

impl Lower<'_> {
    pub(super) fn fold(
        &mut self,
        reduction: &Reduction,
        inst: &Inst,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        if self.fold_block(reduction, inst, out)? {
            return Ok(());
        }
        if let Some(part) = self.within_segment(reduction)? {
            let partial = self.partial.take();
            let done = self.fold(&part, inst, out);
            self.partial = partial;
            return done;
        }
        let scalars: Option<Vec<Value>> = inst.results.iter().map(Def::as_scalar).collect();
        let Some(scalars) = scalars else { return self.fold_tensors(reduction, inst, out) };
        let start = match &reduction.start {
            Start::Identity(args) | Start::Init(args) => FoldStart::From(self.operands(args)?),
            Start::First => FoldStart::First(self.site("a reduction of nothing", inst.loc)),
        };
        let (ranges, within) = ranges_of(&reduction.domain, &self.context)?;
        let resume = self.resumable(reduction, &ranges, within.as_ref(), &start);
        if let Some(var) = resume {
            self.resumed.insert(var);
        }
        let key = match resume {
            Some(_) => None,
            None => self.keyed(reduction, out)?,
        };
        let (stmts, (guard, body)) = self.scoped(|lower, _| {
            lower.repeats();
            for range in &ranges {
                lower.bound.push(range.var);
            }
            if let [set] = reduction.domain.sets()
                && let Ok(context) = lower.context.intersect(set)
            {
                lower.context = context;
            }
            let mut guard = None;
            if let Some(region) = &reduction.guard {
                let mut stmts = Vec::new();
                let parts = lower.region(region, &mut stmts)?;
                let Some((Part::Scalar(counts), rest)) = parts.split_first() else {
                    return Err(NotLowered::new("a guard that is no scalar"));
                };
                lower.define(&reduction.body.params, rest)?;
                guard = Some(Block { stmts, results: vec![*counts] });
            }
            let mut stmts = Vec::new();
            let parts = lower.region(&reduction.body, &mut stmts)?;
            Ok((guard, Block { stmts, results: scalars_of(&parts)? }))
        })?;
        debug_assert!(stmts.is_empty(), "folds keep their statements in blocks");
        let combine = self.combiner(reduction, &scalars)?;
        let results: Vec<Value> = scalars.iter().map(|value| self.named(*value)).collect();
        let fold = Fold { results, ranges, within, guard, body, combine, start, resume, key };
        out.push(Stmt::Fold(Box::new(fold)));
        Ok(())
    }

    fn combiner(&mut self, reduction: &Reduction, scalars: &[Value]) -> Result<Combine> {
        let region = match &reduction.combine {
            Combiner::Op(op) => {
                let floats = scalars.first().is_some_and(|value| value.elem.is_float());
                let pairs = *op == Op::Add && floats && reduction.flags.reassociable;
                return Ok(if pairs { Combine::Pairs(*op) } else { Combine::Op(*op) });
            }
            Combiner::Region(region) => region,
        };
        if region.params.len() != 2 * scalars.len() {
            return Err(NotLowered::new("a combiner of another state"));
        }
        let left: Vec<Value> = scalars.iter().map(|value| self.fresh(value.elem)).collect();
        let right: Vec<Value> = scalars.iter().map(|value| self.fresh(value.elem)).collect();
        let both: Vec<Part> =
            left.iter().chain(&right).map(|value| Part::Scalar((*value).into())).collect();
        self.define(&region.params, &both)?;
        let (stmts, parts) = self.scoped(|lower, out| lower.region(region, out))?;
        let block = Block { stmts, results: scalars_of(&parts)? };
        Ok(Combine::Block { left, right, block })
    }
}

fn scalars_of(parts: &[Part]) -> Result<Vec<Operand>> {
    let scalar = |part: &Part| match part {
        Part::Scalar(operand) => Ok(*operand),
        Part::Tensor(_) => Err(NotLowered::new("a reduction whose state is a tensor")),
    };
    parts.iter().map(scalar).collect()
}
