//! What can be moved, and over which indices.

use std::collections::BTreeSet;
use std::rc::Rc;

use einlang_index::{Domain, Var};

use super::scope::{Needs, Scope, Site};
use super::share::relaxed;
use super::{Host, Lift};
use crate::free::Free;
use crate::module::{Axis, SymbolSource};
use crate::region::{Arg, InstKind, Region};

/// A condition with what it needs.
pub(super) struct Under {
    pub(super) condition: Arg,
    pub(super) holds: bool,
    pub(super) sites: Vec<Rc<Site>>,
}

/// How something is moved.
pub(super) struct Plan {
    /// The indices it depends on.
    pub(super) axes: Vec<Axis>,
    /// The points over those where it is needed.
    pub(super) outer: Domain,
    /// What must hold besides, outermost first.
    pub(super) under: Vec<Under>,
    /// Instructions that are computed again with it.
    pub(super) sites: Vec<Rc<Site>>,
    /// Whether it becomes a member of the host.
    pub(super) own: bool,
}

/// What is to be moved.
pub(super) struct Candidate {
    pub(super) free: Free,
    /// What its extents, domains and steps mention.
    pub(super) shape: BTreeSet<Var>,
    /// Whether it finds a length.
    pub(super) until: bool,
    /// Whether it is a reduction of few terms.
    pub(super) few: bool,
}

impl Lift<'_> {
    /// How something that stands in a clause is moved out of it, if that saves anything.
    pub(super) fn plan(
        &mut self,
        candidate: &Candidate,
        scope: &Scope,
        host: &mut Host,
    ) -> Option<Plan> {
        let mut needs = Needs::default();
        self.need(&candidate.free, scope, host, &mut needs)?;
        let under = self.under(scope.conditions.len(), scope, host, &mut needs)?;
        let saves = needs.indices.len() < scope.axes.len() || scope.axes.is_empty();
        // Memory for all pairs takes longer than a few operations at each.
        let saves = saves && !(candidate.few && scope.is_spread(&needs.indices));
        if !saves || (candidate.until && !needs.indices.is_empty()) {
            return None;
        }
        let kept = |axis: &&Axis| needs.indices.contains(&axis.var);
        let axes: Vec<Axis> = scope.axes.iter().filter(kept).cloned().collect();
        let indices: Vec<Var> = axes.iter().map(|axis| axis.var).collect();
        if indices.iter().any(|var| scope.is_unbounded(*var)) {
            return None;
        }
        let outer = scope.domain.project(&indices).ok()?.simplified();
        // That an open axis has a point at all is known only when it has ended.
        let is_length = |var: Var| matches!(self.source(var), Some(SymbolSource::Until));
        let outer = relaxed(&outer, &|var| !is_length(var)).unwrap_or(outer);
        let mut shape = candidate.shape.clone();
        shape.extend(outer.params());
        axes.iter().for_each(|axis| {
            axis.dim.extent.for_each_var(&mut |var| shape.extend([var]));
        });
        let mut all = BTreeSet::new();
        shape.iter().for_each(|var| self.with_parts(*var, &mut all));
        let own = needs.own || host.open.is_some_and(|open| all.contains(&open));
        if all.iter().any(|var| scope.is_length(*var)) || (own && !joins(candidate, &axes, host)) {
            return None;
        }
        for var in all.into_iter().filter(|var| !indices.contains(var)) {
            if matches!(self.source(var), Some(SymbolSource::Local)) {
                self.fix(var, scope, host)?;
            }
        }
        // What only computed a range is not needed once that is a symbol of the module.
        needs.sites.clear();
        self.need(&candidate.free, scope, host, &mut needs)?;
        self.checks(scope, host, &mut needs);
        let sites = needs.sites.into_values().collect();
        Some(Plan { axes, outer, under, sites, own })
    }

    /// The first conditions around, with what they need.
    fn under(&self, n: usize, scope: &Scope, host: &Host, needs: &mut Needs) -> Option<Vec<Under>> {
        let mut all = Vec::with_capacity(n);
        for (condition, holds) in scope.conditions.iter().take(n) {
            let region = Region::yielding([condition.clone()]);
            let mut own = Needs::default();
            self.need(&Free::of_region(&region), scope, host, &mut own)?;
            needs.indices.extend(&own.indices);
            needs.own |= own.own;
            let sites = own.sites.into_values().collect();
            all.push(Under { condition: condition.clone(), holds: *holds, sites });
        }
        Some(all)
    }

    /// Adds the tests before it that depend on nothing else, for what was proved relies on them.
    fn checks(&self, scope: &Scope, host: &Host, needs: &mut Needs) {
        for check in &scope.checks {
            let mut own = Needs::default();
            let stands = self.need(&check.free, scope, host, &mut own).is_some();
            if stands && own.indices.is_subset(&needs.indices) && (needs.own || !own.own) {
                needs.sites.extend(own.sites);
                needs.sites.insert(check.order, Rc::clone(check));
            }
        }
    }

    /// Makes a symbol that is computed in the region one of the module.
    fn fix(&mut self, var: Var, scope: &Scope, host: &mut Host) -> Option<()> {
        let site = Rc::clone(scope.range(var).filter(|_| host.global)?);
        let InstKind::Param { value, .. } = &site.inst.kind else { return None };
        let mut needs = Needs::default();
        self.need(&site.free, scope, host, &mut needs)?;
        let under = self.under(site.n_conditions, scope, host, &mut needs)?;
        let outer = site.domain.project(&[]).ok()?.simplified();
        let fixed = outer.params().into_iter().all(|var| !self.is_local(var));
        if !needs.indices.is_empty() || needs.own || !fixed {
            return None;
        }
        let sites = needs.sites.into_values().collect();
        let plan = Plan { axes: Vec::new(), outer, under, sites, own: false };
        let name = self.lift_value(&plan, value, site.inst.loc, host)?;
        let earlier = self.module.symbols.iter().find(|symbol| {
            matches!(&symbol.source, SymbolSource::Value(of) if *of == name) && symbol.var != var
        });
        if let Some(earlier) = earlier {
            let by = earlier.var;
            self.same.insert(var, by);
        }
        self.module.symbols[var.number()].source = SymbolSource::Value(name);
        Some(())
    }
}

/// Whether something over these axes may become a member of the host.
fn joins(candidate: &Candidate, axes: &[Axis], host: &Host) -> bool {
    let Some(open) = host.open else { return !host.by_data && !candidate.until };
    let n_open = axes.iter().filter(|axis| axis.dim.extent.as_var() == Some(open)).count();
    !host.by_data && !candidate.until && n_open == 1 && !candidate.shape.contains(&open)
}
