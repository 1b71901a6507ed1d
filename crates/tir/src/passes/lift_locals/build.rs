//! The binding that is made of what is moved.

use std::rc::Rc;

use einlang_index::{Domain, Result, Var};
use rustc_hash::FxHashSet as HashSet;

use super::plan::{Plan, Under};
use super::rename::Renames;
use super::scope::{Scope, Site};
use super::share::{Lifted, Standing};
use super::{Host, Lift, reads_by_data};
use crate::constant::Const;
use crate::fresh::Fresh;
use crate::module::{Axis, Binding, Clause, Group, SymbolSource};
use crate::order::any_order;
use crate::region::{Arg, Def, Inst, InstKind, Place, Read, Region, Subscript, Value};
use crate::substitute::Substitution;
use crate::types::{Ident, Loc};
use crate::vars::rename_domain;

/// How the names of bindings end that nothing in the source has named.
pub const PART: &str = ".part";

impl Lift<'_> {
    /// Moves a local group; what stands for its members.
    pub(super) fn lift_group(
        &mut self,
        mut group: Group,
        plan: &Plan,
        host: &mut Host,
    ) -> Option<Standing> {
        let names: Vec<Ident> = group.bindings.iter().map(|b| b.name.clone()).collect();
        for binding in &mut group.bindings {
            let (axes, start) = self.prefix(plan);
            let indices: Vec<Var> = axes.iter().map(|axis| axis.var).collect();
            let members = names.iter().map(|name| (name.clone(), (name.clone(), indices.clone())));
            let members = Renames { tensors: members.collect(), ..Renames::default() };
            let dims: Vec<Var> = axes.iter().chain(&binding.axes).map(|axis| axis.var).collect();
            for clause in &mut binding.clauses {
                let domain = Domain::of_sets(dims.clone(), clause.domain.sets().to_vec());
                clause.domain = domain.into();
                clause.guard.iter_mut().for_each(|guard| members.region(guard));
                members.region(&mut clause.body);
                clause.guard = self.guard(clause.guard.take(), plan, start.clone()).ok()?;
                self.body(&mut clause.body, plan, start.clone()).ok()?;
            }
            binding.axes.splice(0..0, axes);
        }
        if let Some(until) = &mut group.until {
            self.steps(&mut until.condition, plan).ok()?;
        }
        let by_data = reads_by_data(&group, &names.into_iter().collect());
        if by_data && any_order(self.module, &group).is_none() {
            return None;
        }
        self.add(group, plan, host)
    }

    /// Moves an operand of the region to a binding of rank 0, and gives its name.
    pub(super) fn lift_value(
        &mut self,
        plan: &Plan,
        value: &Arg,
        loc: Loc,
        host: &mut Host,
    ) -> Option<Ident> {
        let body = Region::yielding([value.clone()]);
        self.lift_body(body, plan, &Ident::new("n"), loc, host)
    }

    /// Moves an instruction with scalar results; what reads them.
    pub(super) fn lift_inst(
        &mut self,
        inst: &Inst,
        plan: &Plan,
        scope: &Scope,
        host: &mut Host,
    ) -> Option<Vec<Inst>> {
        let mut reads = Vec::with_capacity(inst.results.len());
        for def in &inst.results {
            let Def::Scalar(value) = def else { return None };
            let copy = Region {
                params: Vec::new(),
                insts: vec![inst.clone()],
                results: vec![(*value).into()],
            };
            let body = Fresh::new(self.module, &mut self.names).copy(&copy).ok()?;
            let tensor = self.lift_body(body, plan, &scope.name, inst.loc, host)?;
            let at = plan.axes.iter().map(|axis| Subscript::Index(axis.var.into())).collect();
            let read = Read { place: Place { tensor, at }, default: None, proved: true };
            let kind = InstKind::Read(read);
            reads.push(Inst { results: vec![Def::Scalar(*value)], kind, loc: inst.loc });
        }
        Some(reads)
    }

    fn lift_body(
        &mut self,
        mut body: Region,
        plan: &Plan,
        base: &Ident,
        loc: Loc,
        host: &mut Host,
    ) -> Option<Ident> {
        let elem = body.results.first().and_then(Arg::elem)?;
        let (axes, start) = self.prefix(plan);
        let guard = self.guard(None, plan, start.clone()).ok()?;
        self.body(&mut body, plan, start).ok()?;
        let dims: Vec<Var> = axes.iter().map(|axis| axis.var).collect();
        let domain = Domain::everything(dims).into();
        let clauses = vec![Clause { domain, guard, body, loc }];
        let name = self.new_name(base);
        let binding = Binding { name, elem, axes, clauses, zero_fill: false, loc };
        let group = Group { bindings: vec![binding], until: None };
        self.add(group, plan, host)?.names.into_iter().next()
    }

    fn new_name(&mut self, base: &Ident) -> Ident {
        let base = base.as_str().trim_end_matches(PART);
        let mut n = 1;
        let mut name = Ident::new(&format!("{base}{PART}"));
        while self.names.contains(&name) {
            n += 1;
            name = Ident::new(&format!("{base}.{n}{PART}"));
        }
        self.names.insert(name.clone());
        name
    }

    fn add(&mut self, mut group: Group, plan: &Plan, host: &mut Host) -> Option<Standing> {
        let vars = self.same.iter().map(|(var, by)| (*var, (*by).into())).collect();
        Substitution { vars, ..Substitution::default() }.group(&mut group).ok()?;
        let same = |var: Var| self.same.get(&var).copied().unwrap_or(var);
        let outer = rename_domain(&plan.outer, &mut { same }).ok()?;
        let derived = group.bindings.iter().any(|b| self.derived.contains(&b.name));
        let extent = group.until.as_ref().map(|until| until.extent);
        let lifted = Lifted::new(group, plan.axes.len(), outer, derived).ok()?;
        let standing = self.place(lifted, plan.own, host);
        if let (Some(old), Some(new)) = (extent, standing.extent)
            && old != new
        {
            self.module.symbols[old.number()].source = SymbolSource::Local;
            self.same.insert(old, new);
        }
        Some(standing)
    }

    /// New axes for the indices of a plan, and what stands for those indices.
    fn prefix(&mut self, plan: &Plan) -> (Vec<Axis>, Substitution) {
        let mut start = Substitution::default();
        let mut axes = Vec::with_capacity(plan.axes.len());
        for axis in &plan.axes {
            let var = self.module.vars.fresh_like(axis.var);
            start.vars.insert(axis.var, var.into());
            axes.push(Axis { var, dim: axis.dim.clone() });
        }
        (axes, start)
    }

    /// Puts what it needs in front of a body.
    fn body(&mut self, body: &mut Region, plan: &Plan, mut start: Substitution) -> Result<()> {
        let mut insts = Vec::with_capacity(plan.sites.len() + body.insts.len());
        self.copy(&plan.sites, &mut HashSet::default(), &mut start, &mut insts)?;
        start.region(body)?;
        insts.append(&mut body.insts);
        body.insts = insts;
        Ok(())
    }

    /// The guard of what stood under conditions.
    fn guard(
        &mut self,
        guard: Option<Region>,
        plan: &Plan,
        mut start: Substitution,
    ) -> Result<Option<Region>> {
        if guard.is_none() && plan.under.is_empty() {
            return Ok(None);
        }
        let guarded = guard.is_some();
        let mut inner = guard.unwrap_or_else(|| Region::yielding([Const::bool(true).into()]));
        if guarded {
            self.body(&mut inner, plan, start.clone())?;
        }
        let mut insts = Vec::new();
        let mut levels = Vec::with_capacity(plan.under.len());
        let mut copied = HashSet::default();
        for Under { condition, holds, sites } in &plan.under {
            self.copy(sites, &mut copied, &mut start, &mut insts)?;
            let mut condition = condition.clone();
            start.arg(&mut condition);
            levels.push((std::mem::take(&mut insts), condition, *holds));
        }
        for (insts, condition, holds) in levels.into_iter().rev() {
            inner = self.level(insts, condition, holds, inner);
        }
        Ok(Some(inner))
    }

    /// Asks a condition before what is inside.
    fn level(
        &mut self,
        mut insts: Vec<Inst>,
        condition: Arg,
        holds: bool,
        inner: Region,
    ) -> Region {
        let trivial = inner.insts.is_empty() && inner.results == [Const::bool(true).into()];
        if trivial && holds {
            return Region { params: Vec::new(), insts, results: vec![condition] };
        }
        let elems = inner.results.iter().filter_map(Arg::elem);
        let none: Vec<Arg> = elems.clone().map(|elem| Const::zero(elem).into()).collect();
        let values: Vec<Value> = elems.map(|elem| self.module.supply.value(elem)).collect();
        let none = Region::yielding(none);
        let (then, otherwise) = if holds { (inner, none) } else { (none, inner) };
        let kind = InstKind::If { condition, then, otherwise };
        let results = values.iter().map(|value| Def::Scalar(*value)).collect();
        insts.push(Inst { results, kind, loc: Loc::default() });
        Region { params: Vec::new(), insts, results: values.into_iter().map(Arg::from).collect() }
    }

    /// The condition of an `until` that stood under conditions: without them one step is enough.
    fn steps(&mut self, condition: &mut Region, plan: &Plan) -> Result<()> {
        self.body(condition, plan, Substitution::default())?;
        if plan.under.is_empty() {
            return Ok(());
        }
        let Some(asked) = self.guard(None, plan, Substitution::default())? else { return Ok(()) };
        let mut inner = std::mem::take(condition);
        let holds = asked.results.first().cloned().unwrap_or(Const::bool(true).into());
        let value = self.module.supply.value(crate::types::Elem::Bool);
        inner.results.truncate(1);
        let otherwise = Region::yielding([Const::bool(true).into()]);
        let kind = InstKind::If { condition: holds, then: inner, otherwise };
        let mut insts = asked.insts;
        insts.push(Inst { results: vec![Def::Scalar(value)], kind, loc: Loc::default() });
        *condition = Region { params: Vec::new(), insts, results: vec![value.into()] };
        Ok(())
    }

    /// Copies instructions with new binders, but for ranges that are symbols of the module now.
    fn copy(
        &mut self,
        sites: &[Rc<Site>],
        copied: &mut HashSet<usize>,
        start: &mut Substitution,
        insts: &mut Vec<Inst>,
    ) -> Result<()> {
        for site in sites {
            if !copied.insert(site.order) {
                continue;
            }
            if let InstKind::Param { var, .. } = &site.inst.kind
                && !matches!(self.source(*var), Some(SymbolSource::Local))
            {
                continue;
            }
            let one = Region { insts: vec![site.inst.clone()], ..Region::default() };
            let copy = Fresh::new(self.module, &mut self.names).copy(&one)?;
            for mut inst in copy.insts {
                start.inst(&mut inst)?;
                for (old, new) in site.inst.results.iter().zip(&inst.results) {
                    if let (Def::Scalar(old), Def::Scalar(new)) = (old, new) {
                        start.values.insert(old.number, (*new).into());
                    }
                }
                if let (InstKind::Param { var: old, .. }, InstKind::Param { var: new, .. }) =
                    (&site.inst.kind, &inst.kind)
                {
                    start.vars.insert(*old, (*new).into());
                }
                insts.push(inst);
            }
        }
        Ok(())
    }
}
