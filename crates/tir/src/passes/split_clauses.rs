//! `split_clauses`: no two clauses of a binding have a point in common.
//!
//! Before, the textually last clause that covers a point defines it; afterwards each point has at
//! most one clause. Points and affine conditions are settled by subtracting domains. A clause with
//! a guard covers a point only if the guard holds there, so where it meets an earlier clause the
//! two become one: `if guard { later } else { earlier }`, guarded by either guard if the earlier
//! one is guarded too. A guard that is left means that the point is zero where it fails.
//!
//! Where the index arithmetic gives up, the binding stays as it is and the module does not become
//! `disjoint`.

use std::collections::BTreeSet;

use einlang_index::{Domain, Result, Set};
use einlang_source::Diagnostics;

use super::Ctx;
use crate::constant::Const;
use crate::fresh::Fresh;
use crate::module::{Binding, Clause, Group, Module};
use crate::region::{Def, Inst, InstKind, Region, Value};
use crate::types::{Elem, Ident, Loc};

/// Makes the clauses of every binding disjoint.
pub fn split_clauses(module: &mut Module, _: &Ctx) -> std::result::Result<(), Diagnostics> {
    let mut split = Split { facts: module.facts().set().clone(), names: module.tensor_names() };
    let mut all = true;
    // The groups leave the module while they change, because copies need its variables.
    let mut groups = std::mem::take(&mut module.groups);
    let mut functions = std::mem::take(&mut module.functions);
    for function in &mut functions {
        all &= split.region(&mut function.body, module);
    }
    for group in &mut groups {
        all &= split.group(group, module);
    }
    (module.groups, module.functions) = (groups, functions);
    module.properties.disjoint = all;
    Ok(())
}

struct Split {
    facts: Set,
    names: BTreeSet<Ident>,
}

impl Split {
    /// Splits the group and those inside it; false when something was given up.
    fn group(&mut self, group: &mut Group, module: &mut Module) -> bool {
        let mut all = true;
        for region in group.regions_mut() {
            all &= self.region(region, module);
        }
        for binding in &mut group.bindings {
            all &= self.binding(binding, module).is_ok();
        }
        all
    }

    fn region(&mut self, region: &mut Region, module: &mut Module) -> bool {
        let mut all = true;
        for inst in &mut region.insts {
            all &= match &mut inst.kind {
                InstKind::Group(group) => self.group(group, module),
                _ => inst.regions_mut().into_iter().all(|region| self.region(region, module)),
            };
        }
        all
    }

    fn binding(&mut self, binding: &mut Binding, module: &mut Module) -> Result<()> {
        let mut done: Vec<Clause> = Vec::new();
        for clause in &binding.clauses {
            done = self.overlay(&done, clause, module)?;
        }
        binding.clauses = done;
        Ok(())
    }

    /// Lays a clause over disjoint ones.
    fn overlay(
        &mut self,
        done: &[Clause],
        later: &Clause,
        module: &mut Module,
    ) -> Result<Vec<Clause>> {
        let mut clauses = Vec::with_capacity(done.len() + 1);
        let mut own = later.domain.0.clone();
        for earlier in done {
            let rest = earlier.domain.subtract(&later.domain)?;
            self.keep(&mut clauses, Clause { domain: rest.into(), ..earlier.clone() });
            if later.guard.is_some() {
                let common = earlier.domain.intersect(&later.domain)?;
                own = own.subtract(&earlier.domain)?;
                if !self.is_empty(&common) {
                    clauses.push(self.merge(common, earlier, later, module)?);
                }
            }
        }
        self.keep(&mut clauses, Clause { domain: own.into(), ..later.clone() });
        Ok(clauses)
    }

    fn is_empty(&self, domain: &Domain) -> bool {
        domain.always_empty_given(&self.facts).is_true()
    }

    fn keep(&self, clauses: &mut Vec<Clause>, clause: Clause) {
        if !self.is_empty(&clause.domain) {
            let domain = clause.domain.simplified().into();
            clauses.push(Clause { domain, ..clause });
        }
    }

    /// One clause for the points where both are candidates.
    fn merge(
        &mut self,
        common: Domain,
        earlier: &Clause,
        later: &Clause,
        module: &mut Module,
    ) -> Result<Clause> {
        let mut fresh =
            |region: &Region, args: &[_]| Fresh::new(module, &mut self.names).inline(region, args);
        let Some(later_guard) = &later.guard else { return Ok(later.clone()) };
        let chosen = fresh(later_guard, &[])?;
        let then = fresh(&later.body, chosen.results.get(1..).unwrap_or(&[]))?;
        let otherwise = match &earlier.guard {
            None => fresh(&earlier.body, &[])?,
            Some(guard) => {
                let mut otherwise = fresh(guard, &[])?;
                let args = otherwise.results.split_off(1.min(otherwise.results.len()));
                let body = fresh(&earlier.body, &args)?;
                otherwise.insts.extend(body.insts);
                Region { results: body.results, ..otherwise }
            }
        };
        let elem = then.results.first().and_then(|arg| arg.elem()).unwrap_or(Elem::Bool);
        let body = either(chosen, then, otherwise, module.supply.value(elem));
        let guard = match &earlier.guard {
            None => None,
            Some(guard) => Some(self.either_guard(later_guard, guard, module)?),
        };
        Ok(Clause { domain: common.simplified().into(), guard, body, loc: later.loc })
    }

    /// Whether one of two guards holds; the second is asked only if the first does not.
    fn either_guard(
        &mut self,
        first: &Region,
        second: &Region,
        module: &mut Module,
    ) -> Result<Region> {
        let chosen = Fresh::new(module, &mut self.names).inline(first, &[])?;
        let mut otherwise = Fresh::new(module, &mut self.names).inline(second, &[])?;
        otherwise.results.truncate(1);
        let then = Region::yielding([Const::bool(true).into()]);
        Ok(either(chosen, then, otherwise, module.supply.value(Elem::Bool)))
    }
}

/// The instructions of `chosen`, and then one of two regions by its first result.
fn either(chosen: Region, then: Region, otherwise: Region, result: Value) -> Region {
    let mut region = chosen;
    let condition = region.results.first().cloned().unwrap_or(Const::bool(false).into());
    let kind = InstKind::If { condition, then, otherwise };
    region.insts.push(Inst { results: vec![Def::Scalar(result)], kind, loc: Loc::default() });
    region.results = vec![result.into()];
    region
}
