//! Going through clauses and regions in the order in which they are evaluated.

use std::collections::BTreeSet;
use std::rc::Rc;

use einlang_index::Domain;

use super::plan::Candidate;
use super::rename::Renames;
use super::scope::{SHORT, Scope};
use super::{Host, Lift};
use crate::free::{Free, shape_vars};
use crate::module::{Binding, Clause};
use crate::region::{Arg, Combiner, Inst, InstKind, Reduction, Region};
use crate::types::Ident;

/// What has been done to an instruction.
#[derive(Clone, Copy, PartialEq)]
enum Stage {
    /// Nothing.
    New,
    /// It reads what it has to.
    Renamed,
    /// It stays, and so does what is inside.
    Done,
}

impl Lift<'_> {
    /// Goes through the clauses of a binding.
    pub(super) fn binding(&mut self, binding: &mut Binding, host: &mut Host) {
        for at in 0..binding.clauses.len() {
            let (earlier, later) = binding.clauses.split_at_mut(at + 1);
            let Some(clause) = earlier.last_mut() else { continue };
            let domain = self.evaluated(clause, later);
            let open = domain.is_some();
            let domain = domain.unwrap_or_else(|| clause.domain.0.clone());
            let mut scope = Scope::new(&binding.name, &binding.axes, domain, open);
            if let Some(guard) = &mut clause.guard {
                self.region(guard, &mut scope, host);
            }
            self.under_guard(clause.guard.as_ref(), &mut clause.body, &mut scope, host);
        }
    }

    /// The points at which a clause is evaluated, as far as domains tell.
    fn evaluated(&self, clause: &Clause, later: &[Clause]) -> Option<Domain> {
        let mut domain = clause.domain.0.clone();
        if self.module.properties.disjoint {
            return Some(domain);
        }
        for other in later {
            match &other.guard {
                None => domain = domain.subtract(&other.domain).ok()?,
                Some(_) => {
                    let common = domain.intersect(&other.domain).ok()?;
                    common.always_empty_given(self.facts.set()).is_true().then_some(())?;
                }
            }
        }
        Some(domain)
    }

    /// Goes through a region out of which nothing is moved.
    pub(super) fn inside(&mut self, region: &mut Region) {
        let nothing = Domain::nothing(Vec::new());
        let mut scope = Scope::new(&Ident::new("inside"), &[], nothing, false);
        let group = crate::module::Group { bindings: Vec::new(), until: None };
        self.region(region, &mut scope, &mut Host::new(&group, false, Vec::new()));
    }

    /// Goes through a body that is evaluated where a guard holds.
    fn under_guard(
        &mut self,
        guard: Option<&Region>,
        body: &mut Region,
        scope: &mut Scope,
        host: &mut Host,
    ) {
        match guard.map(|guard| (guard.results.first(), guard.results.get(1..))) {
            Some((Some(holds), args)) => {
                scope.hand_over(&body.params, args.unwrap_or(&[]));
                let holds = scope.plain_arg(holds);
                self.arm(body, &holds, true, scope, host);
            }
            _ => self.region(body, scope, host),
        }
    }

    fn region(&mut self, region: &mut Region, scope: &mut Scope, host: &mut Host) {
        let whole = whole_uses(region);
        let mut renames = Renames::default();
        let insts = std::mem::take(&mut region.insts);
        let mut open: Vec<(Inst, Stage)> =
            insts.into_iter().rev().map(|inst| (inst, Stage::New)).collect();
        while let Some((mut inst, stage)) = open.pop() {
            if stage == Stage::New && !renames.is_empty() {
                renames.inst(&mut inst);
            }
            if stage == Stage::Done {
                scope.pass(&inst);
                region.insts.push(inst);
                continue;
            }
            let mut latest = Renames::default();
            if scope.open
                && let Some(reads) = self.moved(&inst, &whole, scope, host, &mut latest)
            {
                // What came out of an instruction that waits may have been moved further.
                let waiting = open.iter_mut().filter(|(_, stage)| *stage != Stage::New);
                waiting.for_each(|(inst, _)| latest.inst(inst));
                renames.extend(latest);
                open.extend(reads.into_iter().rev().map(|inst| (inst, Stage::Done)));
                continue;
            }
            let before = self.nested(&mut inst, scope, host);
            open.push((inst, Stage::Done));
            open.extend(before.into_iter().rev().map(|inst| (inst, Stage::Renamed)));
        }
        region.results.iter_mut().for_each(|arg| renames.arg(arg));
    }

    /// Moves an instruction out of the clause, if it can be and is worth it; what stands for it.
    fn moved(
        &mut self,
        inst: &Inst,
        whole: &BTreeSet<Ident>,
        scope: &Scope,
        host: &mut Host,
        renames: &mut Renames,
    ) -> Option<Vec<Inst>> {
        match &inst.kind {
            InstKind::Group(_) => {
                let moved = self.group_moves(inst, whole, scope, host)?;
                renames.tensors.extend(moved.tensors);
                renames.vars.extend(moved.vars);
                Some(Vec::new())
            }
            InstKind::Reduce(_) | InstKind::HostCall { .. } => self.scalar_moves(inst, scope, host),
            _ => None,
        }
    }

    fn group_moves(
        &mut self,
        inst: &Inst,
        whole: &BTreeSet<Ident>,
        scope: &Scope,
        host: &mut Host,
    ) -> Option<Renames> {
        let InstKind::Group(group) = scope.plain(inst).kind else { return None };
        let candidate = Candidate {
            free: Free::of_group(&group),
            shape: shape_vars(&group),
            until: group.until.is_some(),
            few: false,
        };
        let plan = self.plan(&candidate, scope, host)?;
        let names: Vec<Ident> = group.bindings.iter().map(|b| b.name.clone()).collect();
        if !plan.axes.is_empty() && names.iter().any(|name| whole.contains(name)) {
            return None;
        }
        let extent = group.until.as_ref().map(|until| until.extent);
        let standing = self.lift_group(*group, &plan, host)?;
        let indices: Vec<_> = plan.axes.iter().map(|axis| axis.var).collect();
        let mut renames = Renames::default();
        for (old, new) in names.into_iter().zip(standing.names) {
            if old != new || !indices.is_empty() {
                renames.tensors.insert(old, (new, indices.clone()));
            }
        }
        if let (Some(old), Some(new)) = (extent, standing.extent)
            && old != new
        {
            renames.vars.insert(old, new);
        }
        Some(renames)
    }

    fn scalar_moves(&mut self, inst: &Inst, scope: &Scope, host: &mut Host) -> Option<Vec<Inst>> {
        if inst.results.is_empty() || inst.results.iter().any(|def| def.as_tensor().is_some()) {
            return None;
        }
        // What is computed once anyway stays where it is.
        if scope.axes.is_empty() {
            return None;
        }
        let inst = scope.plain(inst);
        let (free, few) = (Free::of_inst(&inst), has_few_terms(&inst));
        let candidate = Candidate { free, shape: BTreeSet::new(), until: false, few };
        let plan = self.plan(&candidate, scope, host)?;
        self.lift_inst(&inst, &plan, scope, host)
    }

    /// Goes through what is inside an instruction that stays; what is to stand before it.
    fn nested(&mut self, inst: &mut Inst, scope: &mut Scope, host: &mut Host) -> Vec<Inst> {
        let loc = inst.loc;
        match &mut inst.kind {
            InstKind::Group(group) => {
                let before = self.relieve(group, false, Vec::new());
                let as_inst = |lifted: super::share::Lifted| Inst {
                    results: Vec::new(),
                    kind: InstKind::Group(Box::new(lifted.group)),
                    loc,
                };
                return before.into_iter().map(as_inst).collect();
            }
            InstKind::If { condition, then, otherwise } => {
                let condition = scope.plain_arg(condition);
                self.arm(then, &condition, true, scope, host);
                self.arm(otherwise, &condition, false, scope, host);
            }
            InstKind::Reduce(reduction) => self.reduction(reduction, scope, host),
            _ => {
                let open = std::mem::replace(&mut scope.open, false);
                for region in inst.regions_mut() {
                    self.region(region, scope, host);
                }
                scope.open = open;
            }
        }
        Vec::new()
    }

    /// Goes through a region that is evaluated if an operand is true, or false.
    fn arm(
        &mut self,
        region: &mut Region,
        condition: &Arg,
        holds: bool,
        scope: &mut Scope,
        host: &mut Host,
    ) {
        let domain = Rc::clone(&scope.domain);
        let (n_conditions, n_checks) = (scope.conditions.len(), scope.checks.len());
        let points = scope.open.then(|| scope.affine(condition, self)).flatten();
        let limited = points.and_then(|points| match holds {
            true => domain.intersect(&points).ok(),
            false => domain.subtract(&points).ok(),
        });
        match limited {
            Some(limited) => scope.domain = Rc::new(limited),
            None => scope.conditions.push((condition.clone(), holds)),
        }
        self.region(region, scope, host);
        scope.domain = domain;
        scope.conditions.truncate(n_conditions);
        scope.checks.truncate(n_checks);
    }

    fn reduction(&mut self, reduction: &mut Reduction, scope: &mut Scope, host: &mut Host) {
        let open = scope.open;
        if let Combiner::Region(combine) = &mut reduction.combine {
            scope.open = false;
            self.region(combine, scope, host);
            scope.open = open;
        }
        let domain = Rc::clone(&scope.domain);
        let n_axes = scope.axes.len();
        let n_checks = scope.checks.len();
        scope.open &= scope.reduce_over(&reduction.domain).is_ok();
        if let Some(guard) = &mut reduction.guard {
            self.region(guard, scope, host);
        }
        self.under_guard(reduction.guard.as_ref(), &mut reduction.body, scope, host);
        scope.axes.truncate(n_axes);
        scope.checks.truncate(n_checks);
        (scope.domain, scope.open) = (domain, open);
    }
}

/// The tensors that are passed whole in a region.
fn whole_uses(region: &Region) -> BTreeSet<Ident> {
    let mut found = BTreeSet::new();
    let mut add = |arg: &Arg| {
        if let Arg::Tensor(name) = arg {
            found.insert(name.clone());
        }
    };
    region.for_each_region(&mut |region| {
        region.results.iter().for_each(&mut add);
        region.insts.iter().for_each(|inst| inst.args().into_iter().for_each(&mut add));
    });
    found
}

/// Whether an instruction is a reduction over one index that is known to have few values.
fn has_few_terms(inst: &Inst) -> bool {
    let InstKind::Reduce(reduction) = &inst.kind else { return false };
    let ([var], [set]) = (reduction.domain.dims(), reduction.domain.sets()) else { return false };
    let last = set.ges().iter().filter(|bound| bound.coeff(*var) == -1);
    last.filter_map(|bound| bound.without(*var).as_constant()).any(|last| last < SHORT)
}
