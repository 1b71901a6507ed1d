//! Requests: entries of Jacobians, in the order in which they can be expanded.
//!
//! A binding is expanded when all its entries are; one that lies on the way of a request is
//! expanded before it, so derivatives of derivatives need no further machinery. A request about
//! tensors that are local to a clause sees only what is local there: the clause itself depends on
//! the request and cannot be on its way.

use einlang_index::Quasi;
use rustc_hash::FxHashMap as HashMap;

use super::context::{Ad, zero};
use super::contract::Side;
use super::fault::{Fault, R};
use super::seed::{Coord, Seed, SeedPoint, Stored};
use crate::module::Clause;
use crate::region::{Arg, Def, Inst, InstKind, Place, Region, Subscript};
use crate::types::{Elem, Ident, Loc};

/// So often something is lifted out of what was lifted itself; more would not end: the number of steps of a
/// local `until` is counted by the recurrence itself, with the requests in it.
const MOST_LIFTED: usize = 24;

/// So many bindings have entries that rules ask for; more would not end.
const MOST_IN_RULES: usize = 500;

/// One entry that is to be expanded.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) number: u32,
    pub(super) of: Place,
    pub(super) by: Place,
    pub(super) loc: Loc,
}

/// How an entry is computed.
#[derive(Clone, Debug)]
pub(super) enum Plan {
    /// The target does not depend on the parameter.
    Zero,
    /// A tangent of the target.
    Forward(Seed),
    /// An adjoint of the parameter.
    Reverse(Seed),
}

/// What has been made so far.
#[derive(Default)]
pub(super) struct Made {
    pub(super) tangents: HashMap<Seed, HashMap<Ident, Stored>>,
    pub(super) adjoints: HashMap<Seed, HashMap<Ident, Stored>>,
}

impl Ad<'_> {
    /// Expands every entry of the module.
    pub(super) fn expand_all(&mut self) -> R<()> {
        self.check_rules()?;
        self.bind_conditions()?;
        self.isolate_calls()?;
        self.inline_jacobians()?;
        self.globalise(self.binding_names())?;
        // Before anything is expanded, so that only what was written counts.
        self.note_entries(&self.binding_names())?;
        let mut made = Made::default();
        for name in self.binding_names() {
            if !self.calls.through.contains(&name) {
                self.expand(&name, &mut made, &mut Vec::new())?;
            }
        }
        while let Some(name) = self.needed_through_bodies() {
            self.expand(&name, &mut made, &mut Vec::new())?;
        }
        self.expand_rules(&mut made)?;
        self.drop_through_bodies();
        Ok(())
    }

    /// Expands what rules ask for themselves, which is there once they are put in place.
    fn expand_rules(&mut self, made: &mut Made) -> R<()> {
        for _ in 0..MOST_IN_RULES {
            let waits = |name: &Ident| self.waits(name) && !self.calls.through.contains(name);
            let Some(name) = self.binding_names().into_iter().find(waits) else { return Ok(()) };
            self.expand(&name, made, &mut Vec::new())?;
        }
        let left = self.binding_names().into_iter().find(|name| self.waits(name));
        let loc = left.and_then(|name| self.entries(&name).first().map(|entry| entry.loc));
        Err(Fault::unsupported("a rule that asks for it again and again", loc.unwrap_or_default()))
    }

    /// Takes note of what the entries of bindings do not see.
    fn note_entries(&mut self, names: &[Ident]) -> R<()> {
        for name in names {
            for entry in self.entries(name) {
                let hidden = self.hidden_from(name, &entry)?;
                self.hidden.insert(entry.number, hidden);
                let parameters = self.asked.entry(entry.of.tensor).or_default();
                parameters.insert(entry.by.tensor);
            }
        }
        Ok(())
    }

    /// Makes the entries of a binding that a rule has brought ones like all others.
    fn take_in_rules(&mut self, name: &Ident) -> R<()> {
        if self.entries(name).iter().all(|entry| self.hidden.contains_key(&entry.number)) {
            return Ok(());
        }
        let before = self.module.groups.len();
        self.globalise(vec![name.clone()])?;
        let new = self.module.groups[before..].iter().flat_map(|group| &group.bindings);
        let names: Vec<Ident> = new.map(|b| b.name.clone()).chain([name.clone()]).collect();
        self.note_entries(&names)
    }

    /// Targets and parameters become tensors of the module, not of a point.
    fn globalise(&mut self, mut open: Vec<Ident>) -> R<()> {
        while let Some(name) = open.pop() {
            let is_local = |place: &Place| self.tensor_type(&place.tensor).is_err();
            let entries = self.entries(&name);
            let local = entries.iter().find(|entry| is_local(&entry.of) || is_local(&entry.by));
            if let Some(entry) = local {
                let above = std::iter::successors(Some(&name), |name| self.lifted_from.get(*name));
                if above.take(MOST_LIFTED).count() == MOST_LIFTED {
                    let what = "a request in the steps of an `until` at each point";
                    return Err(Fault::unsupported(what, entry.loc));
                }
                let before = self.module.groups.len();
                self.lift_locals(&name)?;
                let new = &self.module.groups[before..];
                open.extend(new.iter().flat_map(|g| &g.bindings).map(|b| b.name.clone()));
            }
        }
        Ok(())
    }

    /// The entries inside a binding, in order.
    pub(super) fn entries(&self, name: &Ident) -> Vec<Entry> {
        let Some(binding) = self.binding(name) else { return Vec::new() };
        let mut found = Vec::new();
        for clause in &binding.clauses {
            for region in clause.guard.iter().chain([&clause.body]) {
                region.for_each_inst(&mut |inst| {
                    if let (InstKind::Deriv { of, by }, [Def::Scalar(value)]) =
                        (&inst.kind, &inst.results[..])
                    {
                        let (of, by) = (of.clone(), by.clone());
                        let (number, loc) = (value.number, inst.loc);
                        found.push(Entry { number, of, by, loc });
                    }
                });
            }
        }
        found
    }

    /// Whether a binding has entries that can be expanded.
    pub(super) fn waits(&self, name: &Ident) -> bool {
        self.entries(name).iter().any(|entry| !self.idle.contains_key(&entry.number))
    }

    /// Why the entries that are left in a binding cannot be expanded, if none can.
    fn idle_in(&self, name: &Ident) -> Option<Fault> {
        let reasons: Option<Vec<&Fault>> =
            self.entries(name).iter().map(|entry| self.idle.get(&entry.number)).collect();
        reasons?.first().copied().cloned()
    }

    /// Expands the entries of a binding. `around` are the bindings whose expansion waits for it.
    fn expand(&mut self, name: &Ident, made: &mut Made, around: &mut Vec<Ident>) -> R<()> {
        if self.entries(name).is_empty() {
            return Ok(());
        }
        self.take_in_rules(name)?;
        self.contract(name)?;
        let mut entries = self.entries(name);
        entries.retain(|entry| !self.idle.contains_key(&entry.number));
        around.push(name.clone());
        let mut plans = HashMap::default();
        for entry in &entries {
            let plan = self
                .plan(name, entry, made, around)
                .map_err(|f| f.or_of(entry.number, entry.loc))?;
            self.note(entry, &plan, made)?;
            plans.insert(entry.number, plan);
        }
        around.pop();
        let Some(binding) = self.binding(name).cloned() else { return Ok(()) };
        let mut clauses = binding.clauses;
        for Clause { guard, body, .. } in &mut clauses {
            for region in guard.iter_mut().chain([body]) {
                self.replace_entries(region, &plans, made)?;
            }
        }
        self.set_clauses(name, clauses);
        Ok(())
    }

    fn replace_entries(
        &mut self,
        region: &mut Region,
        plans: &HashMap<u32, Plan>,
        made: &Made,
    ) -> R<()> {
        let mut later = crate::substitute::Substitution::default();
        let mut out: Vec<Inst> = Vec::with_capacity(region.insts.len());
        for mut inst in std::mem::take(&mut region.insts) {
            later.inst(&mut inst)?;
            for inner in inst.regions_mut() {
                self.replace_entries(inner, plans, made)?;
            }
            if let (InstKind::Deriv { of, by }, [Def::Scalar(value)]) =
                (&inst.kind, &inst.results[..])
                && let Some(plan) = plans.get(&value.number)
            {
                let value_of = self.entry(&mut out, plan, of, by, value.elem, made)?;
                later.values.insert(value.number, value_of);
                continue;
            }
            out.push(inst);
        }
        region.insts = out;
        region.results.iter_mut().for_each(|arg| later.arg(arg));
        Ok(())
    }

    fn entry(
        &mut self,
        out: &mut Vec<Inst>,
        plan: &Plan,
        of: &Place,
        by: &Place,
        elem: Elem,
        made: &Made,
    ) -> R<Arg> {
        let (seed, found, seed_at, at, tensor) = match plan {
            Plan::Zero => return Ok(zero(elem)),
            Plan::Forward(seed) => (seed, made.tangents.get(seed), &by.at, &of.at, &of.tensor),
            Plan::Reverse(seed) => (seed, made.adjoints.get(seed), &of.at, &by.at, &by.tensor),
        };
        let Some(stored) = found.and_then(|found| found.get(tensor)) else {
            return Ok(zero(elem));
        };
        let own = self.tensor_type(tensor)?.elem;
        let point = SeedPoint { seed, at: seed_at, inside: false };
        let value = self.stored(out, stored, &point, at, own, false)?;
        Ok(self.cast(out, value, elem))
    }

    /// Decides how an entry is computed and makes what it reads.
    fn plan(
        &mut self,
        home: &Ident,
        entry: &Entry,
        made: &mut Made,
        around: &mut Vec<Ident>,
    ) -> R<Plan> {
        let (of, by) = (&entry.of.tensor, &entry.by.tensor);
        if let Some(Side::Parameter(vector) | Side::Target(vector)) = self.sides.get(&entry.number)
        {
            let vector = vector.clone();
            self.expand(&vector, made, around)?;
        }
        let hidden = match self.hidden.get(&entry.number) {
            Some(hidden) => hidden.clone(),
            None => self.hidden_from(home, &self.plainly(entry))?,
        };
        let nodes = loop {
            let nodes = self.between(by, of, &hidden);
            if nodes.is_empty() {
                return Ok(Plan::Zero);
            }
            let waits = |node: &&Ident| self.has_entry(node) && !(hidden.leaf && *node == by);
            if let Some(waiting) = nodes.iter().find(waits).cloned() {
                if around.contains(&waiting) {
                    return Err(Fault::of_itself(entry.loc));
                }
                if let Some(fault) = self.idle_in(&waiting) {
                    return Err(fault.of_nothing());
                }
                self.expand(&waiting, made, around)?;
                continue;
            }
            let before = self.module.groups.len();
            for node in &nodes {
                if node != by || !hidden.leaf && self.depends_on_itself(node) {
                    self.flatten(node)?;
                }
            }
            if self.module.groups.len() == before {
                break nodes;
            }
        };
        for node in &nodes {
            if !self.tensor_type(node)?.elem.is_float() {
                return Err(Fault::through_integer(self.loc_of(node)));
            }
        }
        let leaf = hidden.leaf.then(|| by.clone());
        let plan = self.choose(home, entry, hidden.leaf)?;
        match &plan {
            Plan::Zero => {}
            Plan::Forward(seed) => {
                let mut known = made.tangents.remove(seed).unwrap_or_default();
                self.make_tangents(seed, &nodes, &mut known)?;
                made.tangents.insert(seed.clone(), known);
            }
            Plan::Reverse(seed) => {
                let mut known = made.adjoints.remove(seed).unwrap_or_default();
                self.make_adjoints(seed, &nodes, leaf.as_ref(), &mut known)?;
                made.adjoints.insert(seed.clone(), known);
            }
        }
        Ok(plan)
    }

    /// The entry without the indices that select a vector: they are no point of its tensors.
    pub(super) fn plainly(&self, entry: &Entry) -> Entry {
        let mut entry = entry.clone();
        match self.sides.get(&entry.number) {
            Some(Side::Parameter(_)) => entry.by.at.clear(),
            Some(Side::Target(_)) => entry.of.at.clear(),
            None => {}
        }
        entry
    }

    /// The seed for a point, with what is known outside all bindings fixed.
    pub(super) fn seed_at(&self, place: &Place) -> Seed {
        let coord = |at: &Subscript| match at {
            Subscript::Index(expr) if self.is_fixed(expr) => Coord::Fixed(expr.clone()),
            _ => Coord::Axis,
        };
        let at = place.at.iter().map(coord).collect();
        Seed { tensor: place.tensor.clone(), at, vector: None, leaf: false }
    }

    fn is_fixed(&self, expr: &Quasi) -> bool {
        expr.as_affine().is_some() && self.is_global(expr)
    }
}
