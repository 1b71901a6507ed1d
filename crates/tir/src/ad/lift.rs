//! Flat bindings: what is reduced and what is local to a point become bindings of their own.
//!
//! A binding is *flat* when each of its clauses is straight-line code with branches, or such code
//! followed by one sum, maximum or minimum over it. A reduction elsewhere becomes a binding over
//! the indices around it, and so does a local tensor, with the indices around it as leading axes;
//! then every value on a path has a point at which its derivative can be stored. What a lifted
//! body used of the code before it is computed again there, which is cheap: reductions in it are
//! reads by then. Conditions around a lifted body restrict its domain where they are affine and
//! guard it where they are not.

use einlang_index::{Domain, Quasi, Set, Var};
use rustc_hash::FxHashMap as HashMap;

use super::context::Ad;
use super::fault::{Fault, R};
use super::joined;
use super::root::Rooted;
use super::sizes::sized_axes;
use super::uses::{Uses, slice};
use crate::constant::Const;
use crate::module::{Axis, Binding, Clause, Group};
use crate::order::Known;
use crate::region::{Arg, Def, Inst, InstKind, Place, Read, Region, Subscript};
use crate::substitute::Substitution;
use crate::types::{Elem, Ident, Loc};

impl Ad<'_> {
    /// Makes a binding flat. What comes out of it is made flat where it lies on a path itself.
    pub(super) fn flatten(&mut self, name: &Ident) -> R<()> {
        if !self.flat.insert(name.clone()) {
            return Ok(());
        }
        match self.binding(name).cloned() {
            Some(binding) => self.lift_from(&binding, true),
            None => Ok(()),
        }
    }

    /// Lifts the local tensors of a binding that asks for derivatives of them.
    pub(super) fn lift_locals(&mut self, name: &Ident) -> R<()> {
        let Some(binding) = self.binding(name).cloned() else { return Ok(()) };
        self.lift_from(&binding, false)
    }

    fn lift_from(&mut self, binding: &Binding, reductions: bool) -> R<()> {
        let mut made = Vec::new();
        let mut clauses = Vec::with_capacity(binding.clauses.len());
        for clause in &binding.clauses {
            let mut clause = clause.clone();
            self.inline_exports(&mut clause.guard, &mut clause.body)?;
            let mut lifter = Lifter {
                base: binding.name.clone(),
                loc: binding.loc,
                axes: binding.axes.clone(),
                domain: clause.domain.0.clone(),
                before: Vec::new(),
                conditions: Vec::new(),
                known: Known::default(),
                locals: HashMap::default(),
                most: HashMap::default(),
                made: Vec::new(),
                reductions,
                ad: self,
            };
            if let Some(guard) = &clause.guard
                && lifter.needs_guard(&clause.body)
            {
                lifter.under(guard);
            }
            clause.body = lifter.region(clause.body, true)?;
            made.extend(lifter.made);
            clauses.push(clause);
        }
        if reductions {
            for name in joined::join(&mut made, &mut clauses, &self.module.facts()) {
                self.prefixes.remove(&name);
                self.dims_at.remove(&name);
            }
        }
        self.set_clauses(&binding.name, clauses);
        for lifted in &made {
            self.lifted_from.insert(lifted.name.clone(), binding.name.clone());
        }
        made.into_iter().try_for_each(|binding| self.add_binding(binding))
    }

    /// What a guard hands to its body is computed in the body instead.
    pub(super) fn inline_exports(
        &mut self,
        guard: &mut Option<Region>,
        body: &mut Region,
    ) -> R<()> {
        let Some(guard) = guard else { return Ok(()) };
        if body.params.is_empty() {
            return Ok(());
        }
        let mut copy = self.copy(guard)?;
        let mut later = Substitution::default();
        for (param, arg) in std::mem::take(&mut body.params).iter().zip(copy.results.drain(1..)) {
            match (param, arg) {
                (Def::Scalar(value), arg) => drop(later.values.insert(value.number, arg)),
                (Def::Tensor(tensor), Arg::Tensor(name)) => {
                    later.tensors.insert(tensor.name.clone(), name);
                }
                (Def::Tensor(_), _) => {}
            }
        }
        later.region(body)?;
        body.insts.splice(0..0, copy.insts);
        guard.results.truncate(1);
        Ok(())
    }
}

/// A condition around the code that is being looked at.
pub(super) struct Around {
    /// How many instructions come before it.
    pub(super) n_before: usize,
    pub(super) condition: Arg,
    pub(super) holds: bool,
}

/// Lifts what is inside one clause.
pub(super) struct Lifter<'a, 'm> {
    pub(super) ad: &'a mut Ad<'m>,
    pub(super) base: Ident,
    pub(super) loc: Loc,
    /// The indices around, outermost first, and the points they run over.
    pub(super) axes: Vec<Axis>,
    pub(super) domain: Domain,
    /// The instructions around and before, outermost first.
    pub(super) before: Vec<Inst>,
    pub(super) conditions: Vec<Around>,
    pub(super) known: Known,
    /// Tensors that were local, with the indices that now lead to them.
    pub(super) locals: HashMap<Ident, Vec<Var>>,
    /// Bounds that are known outside of symbols that are computed at each point.
    pub(super) most: HashMap<Var, Quasi>,
    pub(super) made: Vec<Binding>,
    /// Whether reductions are lifted too.
    pub(super) reductions: bool,
}

impl Lifter<'_, '_> {
    fn region(&mut self, mut region: Region, root: bool) -> R<Region> {
        let n_before = self.before.len();
        let mut out: Vec<Inst> = Vec::with_capacity(region.insts.len());
        let mut open: Vec<Inst> = std::mem::take(&mut region.insts);
        open.reverse();
        while let Some(mut inst) = open.pop() {
            self.relocate(&mut inst);
            let is_last = open.is_empty()
                && inst.results.iter().filter_map(Def::as_scalar).any(
                    |value| matches!(&region.results[..], [Arg::Value(result)] if value == *result),
                );
            let mut done = Vec::new();
            match &mut inst.kind {
                InstKind::Group(group) if group.until.is_some() => {
                    region.insts = open.into_iter().rev().collect();
                    let insts = self.close(group, &mut region)?;
                    open = insts.into_iter().chain(region.insts.drain(..)).rev().collect();
                    continue;
                }
                InstKind::Group(group) => {
                    if self.group(group)? {
                        open.reverse();
                        open = self.read_at_values(open, &group.bindings);
                        open.reverse();
                    }
                }
                InstKind::Call { function, args }
                    if args.iter().any(|arg| matches!(arg, Arg::Tensor(_)))
                        || inst.results.iter().any(|def| def.as_tensor().is_some())
                        || self.ad.captures(function) =>
                {
                    done = self.batch_call(&inst)?;
                }
                InstKind::Reduce(_) if root && is_last => match self.root(inst)? {
                    Rooted::Stays(inst) => done.push(inst),
                    Rooted::Becomes(insts) => {
                        open.extend(insts.into_iter().rev());
                        continue;
                    }
                },
                InstKind::Reduce(_) => done = self.reduce(inst)?,
                InstKind::If { .. } | InstKind::Switch { .. } | InstKind::Read(_) => {
                    self.arms(&mut inst)?;
                    done.push(inst);
                }
                _ => done.push(inst),
            }
            for inst in done {
                self.known.learn(&inst);
                self.before.push(inst.clone());
                out.push(inst);
            }
        }
        self.before.truncate(n_before);
        Ok(Region { insts: out, ..region })
    }

    /// Reads of tensors that are no longer local name the indices around them.
    fn relocate(&self, inst: &mut Inst) {
        let fix = |place: &mut Place| {
            if let Some(vars) = self.locals.get(&place.tensor) {
                let around = vars.iter().map(|var| Subscript::Index((*var).into()));
                place.at.splice(0..0, around);
            }
        };
        match &mut inst.kind {
            InstKind::Read(read) => fix(&mut read.place),
            InstKind::Deriv { of, by } => {
                fix(of);
                fix(by);
            }
            _ => {}
        }
    }

    fn arms(&mut self, inst: &mut Inst) -> R<()> {
        let n_before = self.before.len();
        match &mut inst.kind {
            InstKind::If { condition, then, otherwise } => {
                for (arm, holds) in [(then, true), (otherwise, false)] {
                    let outer = self.domain.clone();
                    let part = self.known.domain(condition, holds, outer.dims());
                    let part = part.and_then(|part| outer.intersect(&part).ok());
                    match part.filter(|part| part.sets().len() <= 4) {
                        Some(part) => {
                            self.domain = part;
                            *arm = self.region(std::mem::take(arm), false)?;
                            self.domain = outer;
                        }
                        None => {
                            let condition = condition.clone();
                            self.conditions.push(Around { n_before, condition, holds });
                            *arm = self.region(std::mem::take(arm), false)?;
                            self.conditions.pop();
                        }
                    }
                }
            }
            _ => {
                for arm in inst.regions_mut() {
                    *arm = self.region(std::mem::take(arm), false)?;
                }
            }
        }
        Ok(())
    }

    /// A reduction that is not the whole of a clause.
    fn reduce(&mut self, mut inst: Inst) -> R<Vec<Inst>> {
        let carries = inst.results.iter().any(|def| match def {
            Def::Scalar(value) => value.elem.is_float(),
            Def::Tensor(_) => true,
        });
        if !carries || !self.reductions {
            self.inside(&mut inst)?;
            return Ok(vec![inst]);
        }
        inst.regions_mut().into_iter().for_each(|region| self.relocate_all(region));
        let mut reads = Vec::with_capacity(inst.results.len());
        for def in inst.results.clone() {
            let Def::Scalar(value) = def else {
                return Err(Fault::unsupported("a reduction to a tensor", inst.loc));
            };
            let name = self.ad.fresh_name(&format!("{}.sum", self.base.as_str()));
            let body = Region {
                params: Vec::new(),
                insts: vec![inst.clone()],
                results: vec![value.into()],
            };
            let around = self.make(name.clone(), value.elem, body)?;
            let at = around.into_iter().map(|var| Subscript::Index(var.into())).collect();
            let read = Read { place: Place { tensor: name, at }, default: None, proved: true };
            let results = vec![Def::Scalar(value)];
            reads.push(Inst { results, kind: InstKind::Read(read), loc: inst.loc });
        }
        Ok(reads)
    }

    /// A binding over those indices around that it needs, with what it needs of the code before;
    /// gives those indices.
    pub(super) fn make(&mut self, name: Ident, elem: Elem, body: Region) -> R<Vec<Var>> {
        let mut uses = Uses::default();
        uses.region(&body);
        let around = self.needed(uses);
        let axes = self.axes.iter().filter(|axis| around.contains(&axis.var)).cloned().collect();
        let domain = self.points(&around)?;
        let clause = self.clause(domain, None, body)?;
        let (loc, clauses) = (self.loc, vec![clause]);
        self.note_prefix(&name, &around);
        self.made.push(Binding { name, elem, axes, clauses, zero_fill: false, loc });
        Ok(around)
    }

    /// The points around, of some of their indices. Code that does not depend on the index of an open
    /// recurrence is needed if there may be a step: how many there are is not known before it.
    pub(super) fn points(&self, around: &[Var]) -> R<Domain> {
        let mut domain = self.domain.project(around)?;
        for until in self.ad.module.groups.iter().filter_map(|group| group.until.as_ref()) {
            let open = |axis: &&Axis| axis.dim.extent.as_var() == Some(until.extent);
            let Some(axis) = self.axes.iter().find(open) else { continue };
            if around.contains(&axis.var) || !domain.params().contains(&until.extent) {
                continue;
            }
            let dims = [around, &[until.extent]].concat();
            let left = until.first.add(&until.max)?.sub(&until.extent.into())?;
            let within = Domain::where_nonnegative(&dims[..], &[left])?;
            let all = Domain::of_sets(&dims[..], domain.sets().iter().cloned());
            domain = all.intersect(&within)?.project(around)?;
        }
        Ok(domain)
    }

    pub(super) fn note_prefix(&mut self, name: &Ident, around: &[Var]) {
        let all = self.axes.iter().map(|axis| axis.var).collect();
        self.ad.prefixes.insert(name.clone(), around.to_vec());
        self.ad.dims_at.insert(name.clone(), all);
    }

    /// The conditions around.
    pub(super) fn conditions(&self) -> impl Iterator<Item = &Arg> {
        self.conditions.iter().map(|around| &around.condition)
    }

    /// The indices around that code with these uses depends on, conditions around included.
    pub(super) fn needed(&self, mut uses: Uses) -> Vec<Var> {
        self.conditions.iter().for_each(|around| uses.arg(&around.condition));
        slice(&self.before, &mut uses);
        // A range that depends on an index needs it as well.
        let mut vars: Vec<Var> = self.axes.iter().map(|axis| axis.var).collect();
        vars.retain(|var| uses.vars.contains(var));
        vars
    }

    /// A clause of a lifted binding: its own guard and body with the code around.
    pub(super) fn clause(
        &mut self,
        domain: Domain,
        guard: Option<Region>,
        body: Region,
    ) -> R<Clause> {
        let mut uses = Uses::default();
        uses.region(&body);
        let mut insts = slice(&self.before, &mut uses);
        insts.extend(body.insts);
        let body = Region { params: body.params, insts, results: body.results };
        if domain.params().iter().any(|var| !self.ad.is_global(&(*var).into())) {
            return Err(Fault::unsupported("a range that is computed at each point", self.loc));
        }
        let guard = self.guard(guard);
        let guard = guard.map(|guard| self.ad.copy(&guard)).transpose()?;
        Ok(Clause { domain: domain.into(), guard, body, loc: self.loc })
    }

    /// The conditions around and then a guard; each is asked only if those before hold.
    fn guard(&self, own: Option<Region>) -> Option<Region> {
        let mut inner: Option<Region> = own;
        let mut end = self.before.len();
        if let Some(region) = &mut inner {
            let mut uses = Uses::default();
            uses.region(region);
            let needed = slice(&self.before, &mut uses);
            region.insts.splice(0..0, needed);
        }
        for around in self.conditions.iter().rev() {
            end = around.n_before.min(end);
            let mut uses = Uses::of_args([&around.condition]);
            let insts = slice(&self.before[..end], &mut uses);
            let no = Region::yielding([Const::bool(false).into()]);
            let yes = inner.take().unwrap_or_else(|| Region::yielding([Const::bool(true).into()]));
            let (then, otherwise) = if around.holds { (yes, no) } else { (no, yes) };
            let mut region = Region { params: Vec::new(), insts, results: Vec::new() };
            // The number is replaced when the guard is copied; it only has to be free here.
            let value = crate::region::Value { number: u32::MAX - end as u32, elem: Elem::Bool };
            let kind = InstKind::If { condition: around.condition.clone(), then, otherwise };
            let results = vec![Def::Scalar(value)];
            region.insts.push(Inst { results, kind, loc: self.loc });
            region.results = vec![value.into()];
            inner = Some(region);
        }
        inner
    }

    /// Local tensors become bindings with the indices around as leading axes; whether the extents
    /// of one differ from point to point.
    fn group(&mut self, group: &Group) -> R<bool> {
        let sizes = self.sizes(group)?;
        let around = self.needed(self.uses_of(group));
        let domain = self.points(&around)?;
        for binding in &group.bindings {
            self.locals.insert(binding.name.clone(), around.clone());
        }
        for binding in &group.bindings {
            let kept = self.axes.iter().filter(|axis| around.contains(&axis.var));
            let mut axes: Vec<Axis> = kept.cloned().collect();
            axes.extend(sized_axes(self, binding, &domain, &sizes)?);
            let mut clauses = Vec::with_capacity(binding.clauses.len());
            for clause in &binding.clauses {
                let mut clause = clause.clone();
                self.ad.inline_exports(&mut clause.guard, &mut clause.body)?;
                for region in clause.guard.iter_mut().chain([&mut clause.body]) {
                    if !sizes.is_empty() {
                        let insts = std::mem::take(&mut region.insts);
                        region.insts = self.read_at_values(insts, &group.bindings);
                    }
                    self.relocate_all(region);
                }
                if sizes.is_empty() {
                    let domain = extended(&domain, &clause.domain)?;
                    clauses.push(self.clause(domain, clause.guard, clause.body)?);
                } else {
                    clauses.extend(self.sized_clauses(&clause, &domain, &sizes)?);
                }
            }
            self.note_prefix(&binding.name, &around);
            self.made.push(Binding { axes, clauses, ..binding.clone() });
        }
        Ok(!sizes.is_empty())
    }

    /// What a group uses, once its reads of tensors that are no longer local are relocated.
    fn uses_of(&self, group: &Group) -> Uses {
        let mut copy = group.clone();
        copy.regions_mut().into_iter().for_each(|region| self.relocate_all(region));
        let kind = InstKind::Group(Box::new(copy));
        let mut uses = Uses::default();
        uses.inst(&Inst { results: Vec::new(), kind, loc: Loc::default() });
        uses
    }

    pub(super) fn relocate_all(&self, region: &mut Region) {
        region.for_each_region_mut(&mut |region| {
            region.insts.iter_mut().for_each(|inst| self.relocate(inst));
        });
    }

    /// The body of a reduction that stays, with its indices among those around.
    pub(super) fn inside(&mut self, inst: &mut Inst) -> R<()> {
        let loc = inst.loc;
        let InstKind::Reduce(reduction) = &mut inst.kind else { return Ok(()) };
        self.ad.inline_exports(&mut reduction.guard, &mut reduction.body)?;
        let inner = extended(&self.domain, &reduction.domain)?;
        let mut has_work = false;
        for region in reduction.guard.iter().chain([&reduction.body]) {
            region.for_each_inst(&mut |inst| {
                has_work |= matches!(inst.kind, InstKind::Group(_))
                    || self.reductions && matches!(inst.kind, InstKind::Reduce(_));
            });
        }
        let outer_axes = self.axes.len();
        let outer = std::mem::replace(&mut self.domain, inner.clone());
        if has_work {
            for var in reduction.domain.dims() {
                let extent = self.ad.extent_of(&inner, *var, loc)?;
                self.axes.push(Axis { var: *var, dim: extent.into() });
            }
        }
        if let Some(guard) = &mut reduction.guard {
            self.relocate_all(guard);
        }
        reduction.body = self.region(std::mem::take(&mut reduction.body), false)?;
        self.axes.truncate(outer_axes);
        self.domain = outer;
        Ok(())
    }
}

/// The points of `outer` with further dimensions.
pub(super) fn extended(outer: &Domain, inner: &Domain) -> R<Domain> {
    let dims: Vec<Var> = outer.dims().iter().chain(inner.dims()).copied().collect();
    let mut sets: Vec<Set> = Vec::new();
    for a in outer.sets() {
        for b in inner.sets() {
            sets.push(a.intersect(b)?);
        }
    }
    Ok(Domain::of_sets(dims, sets))
}
