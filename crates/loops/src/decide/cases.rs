//! `divide_cases`: a clause for each case of a condition on its indices.
//!
//! The derivative of a clause that covers a part of a tensor has sums over nothing and branches that are
//! not taken on the other part: `if t >= 1 { … }`, or a sum that has terms only where `k < H`. A clause for
//! each part asks nothing at its points, and its sums are contractions like any other. Conditions that
//! compare two indices are left to `widen.rs`.
//!
//! Invariant: every point has the value that it had, to the bit; clauses stay disjoint and cover what they
//! covered.

use einlang_index::{Constraint, Domain, Facts, Set, Var, VarKind};
use einlang_tir::constant::Const;
use einlang_tir::fresh::Fresh;
use einlang_tir::module::{Binding, Clause, Group, Module};
use einlang_tir::order::Known;
use einlang_tir::passes::{Ctx, fold_constants, simplify};
use einlang_tir::region::{Arg, Inst, InstKind, Reduction, Region, Start};
use einlang_tir::types::Ident;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::work::is_slow;
use super::{Storage, decide_order, reads_itself_by_data};
use crate::schedule::Compute;

/// The most cases of a clause.
const MOST_CASES: usize = 8;

/// A group gets no more clauses than that: orders are searched for in time that grows faster.
const MOST_CLAUSES: usize = 24;

/// A branch of fewer instructions without a function is not worth a clause of its own.
const SMALL: usize = 8;

/// The cases of a clause, each with what is left of its body there.
type Divided = Vec<(Domain, Region)>;

/// Divides the clauses of a module by the conditions on their indices.
pub fn divide_cases(mut module: Module, ctx: &Ctx) -> Module {
    let facts = module.facts();
    let cases = |clause: &Clause| Cases { facts: &facts, dims: clause.domain.dims() }.of(clause);
    if !module.properties.disjoint {
        return module;
    }
    let of = |b: &Binding| (b.name.clone(), b.clauses.iter().map(cases).collect::<Vec<_>>());
    let mut all: HashMap<Ident, Vec<Option<Divided>>> = module.bindings().map(of).collect();
    if all.values().flatten().all(Option::is_none) {
        return module;
    }
    let Ok(alone) = decide_order(&module, Storage::Window) else { return module };
    let tensors = alone.groups.iter().flat_map(|group| &group.tensors);
    let stored: HashSet<&Ident> =
        tensors.filter(|t| t.compute == Compute::Here).map(|t| &t.name).collect();
    let mut names = module.tensor_names();
    let mut groups = std::mem::take(&mut module.groups);
    for group in groups.iter_mut().filter(|g| g.until.is_none() && !reads_itself_by_data(g)) {
        let mut room = MOST_CLAUSES.saturating_sub(n_clauses(group));
        for binding in group.bindings.iter_mut().filter(|b| stored.contains(&b.name)) {
            let mut clauses = Vec::with_capacity(binding.clauses.len());
            let mut of_clauses = all.remove(&binding.name).unwrap_or_default().into_iter();
            for clause in &binding.clauses {
                let found = of_clauses.next().flatten().filter(|found| found.len() <= room + 1);
                let copied = found.and_then(|found| {
                    // Binders are new in every case but a single one.
                    let alone = found.len() == 1;
                    let copy = |(domain, body): (Domain, Region)| {
                        let mut fresh = || Fresh::new(&mut module, &mut names).copy(&body).ok();
                        let body = if alone { body.clone() } else { fresh()? };
                        Some(Clause { domain: domain.into(), body, ..clause.clone() })
                    };
                    found.into_iter().map(copy).collect::<Option<Vec<Clause>>>()
                });
                let copied = copied.unwrap_or_else(|| vec![clause.clone()]);
                room = (room + 1).saturating_sub(copied.len());
                clauses.extend(copied);
            }
            binding.clauses = clauses;
        }
    }
    module.groups = groups;
    // These two reject nothing.
    let _ = fold_constants(&mut module, ctx).and_then(|()| simplify(&mut module, ctx));
    module
}

fn n_clauses(group: &Group) -> usize {
    group.bindings.iter().map(|binding| binding.clauses.len()).sum()
}

struct Cases<'f> {
    facts: &'f Facts,
    /// The indices of the clause.
    dims: &'f [Var],
}

impl Cases<'_> {
    /// The cases of a clause, each with what is left of the body there; nothing if all conditions stay.
    fn of(&self, clause: &Clause) -> Option<Divided> {
        if clause.guard.is_some() || clause.domain.sets().len() != 1 {
            return None;
        }
        self.all(clause).or_else(|| self.inside(clause))
    }

    /// A case for everything that can be different.
    fn all(&self, clause: &Clause) -> Option<Divided> {
        let (mut waiting, mut done) = (vec![clause.domain.0.clone()], Vec::new());
        let mut changed = false;
        while let Some(domain) = waiting.pop() {
            if waiting.len() + done.len() >= MOST_CASES {
                return None;
            }
            let mut body = clause.body.clone();
            let settled = self.settle(&mut body, &domain, &mut Known::default());
            match self.open_condition(&body, &domain) {
                Some(condition) => {
                    changed = true;
                    for case in [condition.clone()].into_iter().chain(condition.negate().ok()?) {
                        let part = domain.restricted(&Set::new([case]).ok()?).ok()?;
                        if !self.is_empty(&part) {
                            waiting.push(part.simplified());
                        }
                    }
                }
                None => {
                    changed |= settled;
                    done.push((domain, body));
                }
            }
        }
        // The last case that was found is the first one of the source.
        done.reverse();
        changed.then_some(done)
    }

    /// A case for the points at which all conditions hold, such as the inside of a stencil, and few for the
    /// others, which go on asking.
    fn inside(&self, clause: &Clause) -> Option<Divided> {
        let settled = |domain: &Domain| {
            let mut body = clause.body.clone();
            self.settle(&mut body, domain, &mut Known::default());
            body
        };
        let (mut inside, mut body) = (clause.domain.0.clone(), clause.body.clone());
        while let Some(condition) = self.open_condition(&body, &inside) {
            let Constraint::Ge(_) = condition else { return None };
            inside = inside.restricted(&Set::new([condition]).ok()?).ok()?.simplified();
            body = settled(&inside);
        }
        let edge = clause.domain.subtract(&inside).ok()?.disjoint().ok()?;
        let edge = edge.simplified_given(self.facts.set());
        if edge.sets().is_empty() || edge.sets().len() >= MOST_CASES {
            return None;
        }
        let parts = edge.sets().iter().map(|set| Domain::new(self.dims, set.clone()));
        let edges = parts.map(|part| (part.clone(), settled(&part)));
        Some([(inside, body)].into_iter().chain(edges).collect())
    }

    fn is_empty(&self, domain: &Domain) -> bool {
        domain.always_empty_given(self.facts.set()).is_true()
    }

    /// Whether a set speaks of the indices of the clause and of symbols only.
    fn is_outer(&self, set: &Set) -> bool {
        set.vars().into_iter().all(|v| v.kind() == VarKind::Symbol || self.dims.contains(&v))
    }

    /// The points at which a condition holds, if that is a matter of the clause's indices.
    fn points(&self, condition: &Arg, known: &Known) -> Option<Domain> {
        let points = known.domain(condition, true, self.dims)?;
        points.sets().iter().all(|set| self.is_outer(set)).then_some(points)
    }

    /// What the terms of a reduction ask of the clause's indices.
    fn asked(&self, reduction: &Reduction) -> Vec<Constraint> {
        let [set] = reduction.domain.sets() else { return Vec::new() };
        let mentions = |c: &Constraint| self.dims.iter().any(|var| c.expr().mentions(*var));
        let own = |c: &Constraint| Set::new([c.clone()]).is_ok_and(|set| self.is_outer(&set));
        set.constraints().filter(|c| mentions(c) && own(c)).collect()
    }

    /// Takes the arms and leaves out the sums that are the same for all points; whether there were any.
    fn settle(&self, region: &mut Region, domain: &Domain, known: &mut Known) -> bool {
        let mut changed = false;
        for inst in &mut region.insts {
            known.learn(inst);
            if let InstKind::If { condition, .. } = &mut inst.kind
                && let Some(points) = self.points(condition, known)
            {
                let never = domain.intersect(&points).is_ok_and(|both| self.is_empty(&both));
                let always = domain.subtract(&points).is_ok_and(|rest| self.is_empty(&rest));
                if never || always {
                    *condition = Const::bool(always).into();
                    changed = true;
                }
            }
            changed |= self.settle_sum(inst, domain);
            if !matches!(inst.kind, InstKind::Group(_)) {
                for region in inst.regions_mut() {
                    changed |= self.settle(region, domain, &mut known.clone());
                }
            }
        }
        changed
    }

    fn settle_sum(&self, inst: &mut Inst, domain: &Domain) -> bool {
        let InstKind::Reduce(reduction) = &mut inst.kind else { return false };
        let asked = self.asked(reduction);
        if asked.is_empty() || inst.results.iter().any(|def| def.as_tensor().is_some()) {
            return false;
        }
        let some = Set::new(asked).and_then(|set| domain.restricted(&set));
        if let (Ok(true), Start::Identity(start) | Start::Init(start)) =
            (some.map(|some| self.is_empty(&some)), &reduction.start)
        {
            let arm = Region::yielding(start.clone());
            let condition = Const::bool(false).into();
            inst.kind = InstKind::If { condition, then: arm.clone(), otherwise: arm };
            return true;
        }
        let [set] = domain.sets() else { return false };
        let Ok(context) = set.intersect(self.facts.set()) else { return false };
        let shorter = reduction.domain.simplified_given(&context);
        let changed = shorter != reduction.domain.0 && shorter.sets().len() == 1;
        if changed {
            reduction.domain = shorter.into();
        }
        changed
    }

    /// The condition on one index that holds at some points of a domain and not at others, and that is
    /// asked most often.
    fn open_condition(&self, body: &Region, domain: &Domain) -> Option<Constraint> {
        let mut found: Vec<(Constraint, usize)> = Vec::new();
        self.conditions(body, &mut Known::default(), &mut |condition| match found
            .iter_mut()
            .find(|(known, _)| *known == condition)
        {
            Some((_, n_times)) => *n_times += 1,
            None if self.is_open(&condition, domain) => found.push((condition, 1)),
            None => {}
        });
        let most = found.iter().map(|(_, n_times)| *n_times).max()?;
        found.into_iter().find(|(_, n_times)| *n_times == most).map(|(condition, _)| condition)
    }

    /// Visits the conditions that are worth a clause of their own.
    fn conditions(&self, region: &Region, known: &mut Known, visit: &mut dyn FnMut(Constraint)) {
        for inst in &region.insts {
            known.learn(inst);
            match &inst.kind {
                InstKind::If { condition: Arg::Const(_), .. } | InstKind::Group(_) => continue,
                InstKind::If { condition, .. } if is_worth(inst) => {
                    let points = self.points(condition, known);
                    let sets = points.iter().flat_map(|points| points.sets());
                    sets.flat_map(|set| set.constraints()).for_each(&mut *visit);
                }
                InstKind::Reduce(reduction) => {
                    self.asked(reduction).into_iter().for_each(&mut *visit)
                }
                _ => {}
            }
            for region in inst.regions() {
                self.conditions(region, &mut known.clone(), visit);
            }
        }
    }

    fn is_open(&self, condition: &Constraint, domain: &Domain) -> bool {
        let indices = self.dims.iter().filter(|var| condition.expr().mentions(**var)).count();
        if indices != 1 || matches!(condition, Constraint::Mod(_)) {
            return false;
        }
        let some = |case: Constraint| {
            let part = Set::new([case]).and_then(|set| domain.restricted(&set));
            part.is_ok_and(|part| !self.is_empty(&part))
        };
        let Ok(mut others) = condition.negate() else { return false };
        some(condition.clone()) && others.drain(..).any(some)
    }
}

/// Whether the arms of a branch do so much that asking for them once is better.
fn is_worth(inst: &Inst) -> bool {
    let (mut n_insts, mut heavy) = (0, false);
    for region in inst.regions() {
        region.for_each_inst(&mut |inst| {
            n_insts += 1;
            heavy |= match &inst.kind {
                InstKind::Reduce(_) => true,
                InstKind::Op(op, _) => is_slow(*op),
                _ => false,
            };
        });
    }
    heavy || n_insts > SMALL
}
