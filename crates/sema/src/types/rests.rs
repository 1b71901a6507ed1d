//! Rests `..b`: how many axes they stand for.
//!
//! A rest takes its axes from `..b: x`, from the tensors it indexes, or from a rest of the same
//! name in the types of the function. One that nothing determines makes its clause silent here;
//! the pass that knows ranges reports it.

use einlang_source::map::HashMap;

use super::Checker;
use super::ty::Ty;
use super::walk;
use crate::hir::*;

impl Checker<'_> {
    /// The number of axes of a rest in the current instance or the ones it captures from.
    pub(super) fn rest_rank(&self, rest: LocalId) -> Option<usize> {
        let mut at = Some(self.cur);
        while let Some(id) = at {
            let work = &self.instances[id.0 as usize];
            if let Some(rank) = work.rests.get(&rest) {
                return Some(*rank as usize);
            }
            at = work.parent.filter(|_| work.lambda.is_some());
        }
        None
    }

    pub(super) fn visible_rests(&self) -> HashMap<LocalId, u32> {
        let mut rests = HashMap::default();
        let mut at = Some(self.cur);
        while let Some(id) = at {
            let work = &self.instances[id.0 as usize];
            for (rest, rank) in &work.rests {
                rests.entry(*rest).or_insert(*rank);
            }
            at = work.parent.filter(|_| work.lambda.is_some());
        }
        rests
    }

    /// Determines the rests that these subscripts introduce, from the reads below `roots`.
    pub(super) fn find_rests(&mut self, subscripts: &[Subscript], roots: Vec<ExprId>) {
        let mut open: Vec<LocalId> = Vec::new();
        for subscript in subscripts {
            let Subscript::Rest { local: Res::Local(rest), of, .. } = subscript else { continue };
            self.work_mut().rests.remove(rest);
            match of {
                Some(of) => {
                    let ty = self.infer(*of);
                    let rank = match self.shallow(&ty) {
                        Ty::Tensor(_, extents) => Some(extents.len() as u32),
                        Ty::Scalar(_) => Some(0),
                        _ => None,
                    };
                    if let Some(rank) = rank {
                        self.work_mut().rests.insert(*rest, rank);
                    }
                }
                None => open.push(*rest),
            }
        }
        if open.is_empty() {
            return;
        }
        self.rests_from_reads(&mut open, &roots);
        open.retain(|rest| !self.rest_from_types(*rest));
        self.rests_from_reads(&mut open, &roots);
    }

    fn rests_from_reads(&mut self, open: &mut Vec<LocalId>, roots: &[ExprId]) {
        let body = self.body();
        let mut accesses = Vec::new();
        walk::visit(body, roots.to_vec(), &mut |expr, kind| {
            if let ExprKind::Access { subscripts, .. } = kind
                && subscripts.iter().any(|s| matches!(s, Subscript::Rest { .. }))
            {
                accesses.push(expr);
            }
        });
        accesses.sort_unstable();
        loop {
            let before = open.len();
            for access in &accesses {
                let ExprKind::Access { base, subscripts, .. } = body.kind(*access) else {
                    continue;
                };
                let unknown: Vec<LocalId> =
                    subscripts.iter().filter_map(|s| self.open_rest(s)).collect();
                let [rest] = unknown[..] else { continue };
                if open.contains(&rest)
                    && let Some(rank) = self.rest_from_read(*base, subscripts)
                {
                    self.work_mut().rests.insert(rest, rank);
                    open.retain(|other| *other != rest);
                }
            }
            if open.len() == before || open.is_empty() {
                return;
            }
        }
    }

    fn open_rest(&self, subscript: &Subscript) -> Option<LocalId> {
        match subscript {
            Subscript::Rest { local: Res::Local(rest), .. } if self.rest_rank(*rest).is_none() => {
                Some(*rest)
            }
            _ => None,
        }
    }

    /// The axes that are left when all other subscripts have theirs.
    fn rest_from_read(&mut self, base: ExprId, subscripts: &[Subscript]) -> Option<u32> {
        if self.trials >= super::MAX_TRIALS {
            return None;
        }
        let ty = self.trial(|cx| {
            let ty = cx.infer(base);
            cx.plain(&ty)
        });
        let n_axes = match ty {
            Ty::Tensor(_, extents) => extents.len(),
            Ty::Scalar(_) => 0,
            _ => return None,
        };
        let width = |subscript: &Subscript| match subscript {
            Subscript::Rest { local: Res::Local(rest), .. } => self.rest_rank(*rest).unwrap_or(0),
            _ => 1,
        };
        let others: usize = subscripts.iter().map(width).sum();
        n_axes.checked_sub(others).map(|left| left as u32)
    }

    /// A rest named like one in the types of the function stands for the same axes.
    fn rest_from_types(&mut self, rest: LocalId) -> bool {
        let body = self.body();
        let name = body[rest].name.name;
        let same = |other: &LocalId| *other != rest && body[*other].name.name == name;
        let declared = self.declared_rests();
        let known =
            declared.iter().find(|other| same(other)).and_then(|other| self.rest_rank(*other));
        if let Some(rank) = known {
            self.work_mut().rests.insert(rest, rank as u32);
        }
        known.is_some()
    }

    /// The rests in the parameter types of the body.
    fn declared_rests(&self) -> Vec<LocalId> {
        let body = self.body();
        let mut rests = Vec::new();
        for ty in body.params.iter().filter_map(|param| param.ty.as_ref()) {
            if let TypeKind::Tensor(_, dims) = &ty.kind {
                rests.extend(dims.iter().filter_map(|dim| match dim {
                    Dim::Rest(rest, _) => Some(*rest),
                    _ => None,
                }));
            }
        }
        rests
    }
}
