//! Which tensors run along a long axis and are only summed over it.
//!
//! A member reads other members at its own point of the axis. Whoever else reads one does so in a sum over
//! the whole axis. What depends on such a sum comes after all blocks, so no member and no sum reads it.

use einlang_index::{Affine, Constraint, Var, VarKind};
use einlang_tir::module::{Binding, Clause, Group, Module};
use einlang_tir::op::Op;
use einlang_tir::region::{Arg, Combiner, Inst, InstKind, Reduction, Region, Start, Subscript};
use einlang_tir::types::Ident;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::super::at_reads::kept;
use super::n_long_axes;

/// More groups than that are not looked at.
const MOST_GROUPS: usize = 200;

/// More members than that are one group whose order takes long to find.
const MOST_MEMBERS: usize = 24;

/// Tensors along an axis, and the sums over it.
#[derive(Clone, Debug)]
pub(super) struct Stream {
    /// The length of the axis.
    pub(super) extent: Var,
    /// The members, with the number of the axis.
    pub(super) members: HashMap<Ident, usize>,
    /// The sums: tensor, clause, instruction.
    pub(super) sums: Vec<(Ident, usize, usize)>,
    /// What depends on the sums.
    pub(super) after: HashSet<Ident>,
}

/// The stream along the first axis that has one with a tensor of so many axes.
pub(super) fn find_stream(module: &Module, n_axes: usize) -> Option<Stream> {
    if module.groups.len() > MOST_GROUPS {
        return None;
    }
    let kept = kept(module);
    let mut tried: Vec<Var> = Vec::new();
    for binding in module.bindings().filter(|b| n_long_axes(b) >= n_axes && !kept.contains(&b.name))
    {
        for extent in binding.axes.iter().filter_map(|axis| axis.dim.extent.as_var()) {
            if extent.kind() != VarKind::Symbol || tried.contains(&extent) {
                continue;
            }
            tried.push(extent);
            let found = Finding { module, extent, kept: &kept }.stream();
            let long =
                |name: &Ident| module.binding(name).is_some_and(|b| n_long_axes(b) >= n_axes);
            let found = found.filter(|stream| stream.members.keys().any(long));
            if found.is_some() {
                return found;
            }
        }
    }
    None
}

struct Finding<'m> {
    module: &'m Module,
    extent: Var,
    kept: &'m HashSet<Ident>,
}

impl Finding<'_> {
    fn stream(&self) -> Option<Stream> {
        let mut members: HashMap<Ident, usize> = HashMap::default();
        for group in &self.module.groups {
            if let Some((binding, axis)) = self.candidate(group) {
                members.insert(binding.name.clone(), axis);
            }
        }
        loop {
            let mut found = Stream {
                extent: self.extent,
                members: members.clone(),
                sums: Vec::new(),
                after: HashSet::default(),
            };
            let bad = self.misfits(&mut found);
            if bad.is_empty() {
                let fits = !found.sums.is_empty() && found.members.len() <= MOST_MEMBERS;
                return fits.then_some(found);
            }
            members.retain(|name, _| !bad.contains(name));
        }
    }

    /// A tensor that might run along the axis.
    fn candidate<'g>(&self, group: &'g Group) -> Option<(&'g Binding, usize)> {
        let ([binding], None) = (&group.bindings[..], &group.until) else { return None };
        let is = |axis: &usize| binding.axes[*axis].dim.extent.as_var() == Some(self.extent);
        let mut axes = (0..binding.axes.len()).filter(is);
        let (Some(axis), None) = (axes.next(), axes.next()) else { return None };
        let plain = binding.clauses.iter().all(|clause| clause.guard.is_none());
        let recurrent = self.module.is_recurrent(&binding.name);
        (plain && !recurrent && !self.kept.contains(&binding.name)).then_some((binding, axis))
    }

    /// The members that do not belong to the stream, and what they read.
    fn misfits(&self, stream: &mut Stream) -> HashSet<Ident> {
        let mut bad = HashSet::default();
        for group in &self.module.groups {
            for binding in &group.bindings {
                match stream.members.get(&binding.name) {
                    Some(axis) => self.member(binding, *axis, stream, &mut bad),
                    None => self.other(group, binding, stream, &mut bad),
                }
            }
            let region = group.until.iter().map(|until| &until.condition);
            region.for_each(|region| bad.extend(members_read(region, stream)));
        }
        // What a tensor outside of the stream is computed from is outside too.
        for group in self.module.groups.iter().rev() {
            if group.bindings.iter().any(|binding| bad.contains(&binding.name)) {
                group.regions().iter().for_each(|region| bad.extend(members_read(region, stream)));
            }
        }
        bad
    }

    fn member(&self, b: &Binding, axis: usize, stream: &Stream, bad: &mut HashSet<Ident>) {
        let var = b.axes[axis].var;
        for clause in &b.clauses {
            clause.body.for_each_inst(&mut |inst| {
                let InstKind::Read(read) = &inst.kind else {
                    if matches!(inst.kind, InstKind::Group(_) | InstKind::Param { .. }) {
                        bad.insert(b.name.clone());
                    }
                    return;
                };
                let (name, at) = (&read.place.tensor, &read.place.at);
                if stream.after.contains(name) {
                    bad.insert(b.name.clone());
                }
                let own = stream.members.get(name).map(|axis| is_var(at.get(*axis), var));
                if own == Some(false) || own.is_some() && read.default.is_some() {
                    bad.insert(name.clone());
                }
            });
        }
    }

    fn other(&self, group: &Group, b: &Binding, stream: &mut Stream, bad: &mut HashSet<Ident>) {
        let mut after = false;
        for (number, clause) in b.clauses.iter().enumerate() {
            let sums = match group.bindings.len() == 1 && group.until.is_none() {
                true => self.sums(clause, stream, bad),
                false => Vec::new(),
            };
            let mut others = HashSet::default();
            for (at, inst) in clause.body.insts.iter().enumerate() {
                if !sums.contains(&at) {
                    others.extend(members_of(inst, stream));
                }
            }
            others.extend(clause.guard.iter().flat_map(|guard| members_read(guard, stream)));
            after |= !sums.is_empty() || !others.is_empty();
            bad.extend(others);
            stream.sums.extend(sums.into_iter().map(|at| (b.name.clone(), number, at)));
        }
        for region in group.regions() {
            region.for_each_inst(&mut |inst| {
                if let InstKind::Read(read) = &inst.kind {
                    after |= stream.after.contains(&read.place.tensor);
                }
            });
        }
        if after {
            stream.after.extend(group.bindings.iter().map(|binding| binding.name.clone()));
        }
    }

    /// The instructions of a clause that are sums over the axis.
    fn sums(&self, clause: &Clause, stream: &Stream, bad: &mut HashSet<Ident>) -> Vec<usize> {
        let mut found = Vec::new();
        let late = |inst: &Inst| {
            let mut late = false;
            each_read(inst, &mut |name, _| late |= stream.after.contains(name));
            late
        };
        // A sum may need anything before it.
        let mut is_late = clause.guard.is_some();
        for (at, inst) in clause.body.insts.iter().enumerate() {
            let InstKind::Reduce(reduction) = &inst.kind else {
                is_late |= late(inst);
                continue;
            };
            if members_of(inst, stream).is_empty() {
                is_late |= late(inst);
                continue;
            }
            let fits = self.is_sum(reduction).is_some_and(|var| {
                let mut own = true;
                each_read(inst, &mut |name, at| {
                    let axis = stream.members.get(name);
                    own &= axis.is_none_or(|axis| is_var(at.get(*axis), var));
                });
                own
            });
            match fits && !is_late && !late(inst) {
                true => found.push(at),
                false => bad.extend(members_of(inst, stream)),
            }
        }
        found
    }

    /// The index of a sum over the whole axis.
    fn is_sum(&self, reduction: &Reduction) -> Option<Var> {
        let Start::Identity(start) = &reduction.start else { return None };
        let is_float = start.first().and_then(Arg::elem).is_some_and(|elem| elem.is_float());
        let adds = reduction.combine == Combiner::Op(Op::Add) && reduction.flags.reassociable;
        let ([var], [set]) = (reduction.domain.dims(), reduction.domain.sets()) else {
            return None;
        };
        let below = Constraint::lt(&Affine::var(*var), &Affine::var(self.extent)).ok()?;
        let bounds = [Constraint::Ge(Affine::var(*var)), below];
        let whole =
            set.constraints().all(|c| bounds.contains(&c)) && set.constraints().count() == 2;
        (is_float && adds && whole && reduction.guard.is_none()).then_some(*var)
    }
}

fn is_var(at: Option<&Subscript>, var: Var) -> bool {
    matches!(at, Some(Subscript::Index(at)) if at.as_var() == Some(var))
}

/// Visits the reads of an instruction, those in its regions included.
fn each_read(inst: &Inst, visit: &mut dyn FnMut(&Ident, &[Subscript])) {
    if let InstKind::Read(read) = &inst.kind {
        visit(&read.place.tensor, &read.place.at);
    }
    for region in inst.regions() {
        region.for_each_inst(&mut |inst| {
            if let InstKind::Read(read) = &inst.kind {
                visit(&read.place.tensor, &read.place.at);
            }
        });
    }
}

/// The members that an instruction reads.
fn members_of(inst: &Inst, stream: &Stream) -> Vec<Ident> {
    let mut found = Vec::new();
    each_read(inst, &mut |name, _| {
        if stream.members.contains_key(name) {
            found.push(name.clone());
        }
    });
    found
}

/// The members that a region reads.
fn members_read(region: &Region, stream: &Stream) -> Vec<Ident> {
    region.insts.iter().flat_map(|inst| members_of(inst, stream)).collect()
}
