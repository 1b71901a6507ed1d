//! Short axes that continue another one.
//!
//! `z[t, g, k] = sum[j](h[t - 1, j] * w[j, g * H + k])` with `g in 0..4` and `k in 0..H` runs along one axis
//! of `w`. It has a clause for each value of `g` (`short_axes`). Where these continue each other along `k`, and
//! whoever reads the tensor says which `g` by a number, it gets one axis for both. Its adjoint then has one as
//! well, and is not first gathered along `g` and then put into one row for `w`.
//!
//! Invariants: a binding is changed only if its clauses compute the same, each at points that begin where those
//! of the one before end; every read of it is certain to lie inside, and reads the same value afterwards.

use einlang_index::{Affine, Facts, Quasi, Var};
use rustc_hash::FxHashMap as HashMap;

use super::joined::take_up;
use crate::module::{Binding, Module};
use crate::region::{Arg, Inst, InstKind, Over, Read, Region, Subscript};
use crate::substitute::Substitution;
use crate::types::Ident;

/// Where the points of one tensor are now: along another axis, at a distance for each value of the short one.
struct Union {
    short: usize,
    /// The axis that is continued, among those that are left.
    axis: usize,
    distances: Vec<Quasi>,
}

/// Unites axes in all bindings of a module.
pub(super) fn unite_axes(module: &mut Module) {
    let divided = |binding: &&Binding| binding.clauses.len() > 1 && short_axis(binding).is_some();
    if !module.properties.disjoint || !module.bindings().any(|binding| divided(&binding)) {
        return;
    }
    let facts = module.facts();
    let mut unions: HashMap<Ident, (Binding, Union)> = HashMap::default();
    for binding in module.bindings().filter(divided) {
        if let Some(union) = united(binding, &facts) {
            unions.insert(binding.name.clone(), union);
        }
    }
    module.outputs.iter().for_each(|name| drop(unions.remove(name)));
    module.for_each_inst(&mut |inst| keep_divided(inst, &mut unions));
    module.for_each_region(&mut |region| {
        let passed = region.results.iter().filter_map(Arg::as_tensor);
        passed.for_each(|name| drop(unions.remove(name)));
    });
    if unions.is_empty() {
        return;
    }
    for binding in module.groups.iter_mut().flat_map(|group| &mut group.bindings) {
        if let Some((united, _)) = unions.get(&binding.name) {
            *binding = united.clone();
        }
    }
    let groups = module.groups.iter_mut().flat_map(|group| group.regions_mut());
    for region in groups.chain(module.functions.iter_mut().map(|function| &mut function.body)) {
        redirect(region, &unions);
    }
}

/// The axis that has one value in each clause, which are as many as it is long.
fn short_axis(binding: &Binding) -> Option<usize> {
    let n_clauses = i64::try_from(binding.clauses.len()).ok()?;
    let is_short = |at: &usize| {
        let axis = &binding.axes[*at];
        let values = (0..).zip(&binding.clauses).map(|(value, clause)| {
            let [set] = clause.domain.sets() else { return false };
            let here = Affine::var(axis.var).add_constant(-value);
            here.is_ok_and(|here| {
                set.eqs().iter().any(|eq| *eq == here || eq.neg().is_ok_and(|eq| eq == here))
            })
        });
        axis.dim.extent.as_constant() == Some(n_clauses) && values.into_iter().all(|is| is)
    };
    (0..binding.axes.len()).find(is_short)
}

/// A binding with one axis for two.
fn united(binding: &Binding, facts: &Facts) -> Option<(Binding, Union)> {
    let short = short_axis(binding)?;
    let mut parts = (0..binding.clauses.len()).map(|value| part(binding, short, value));
    let mut whole = parts.next()??;
    let (mut axis, mut distances) = (None, vec![Quasi::from(0)]);
    for part in parts {
        let part = part?;
        let extents: Vec<Quasi> = part.axes.iter().map(|axis| axis.dim.extent.clone()).collect();
        let part = take_up(&mut whole, &part, facts)?;
        if axis.replace(part.axis).is_some_and(|axis| axis != part.axis) {
            return None;
        }
        // Each has a value at all points along the axis: at others it would read as zero.
        if part.distance != distances.last()?.add(&extents[part.axis]).ok()? {
            return None;
        }
        distances.push(part.distance);
    }
    Some((whole, Union { short, axis: axis?, distances }))
}

/// The points of a binding with one value of a short axis, without that axis.
fn part(binding: &Binding, short: usize, value: usize) -> Option<Binding> {
    let mut part = binding.clone();
    let var = part.axes.remove(short).var;
    let dims: Vec<Var> = part.dims();
    let mut clause = part.clauses.swap_remove(value);
    let mut here = Substitution::default();
    here.vars.insert(var, Quasi::from(i64::try_from(value).ok()?));
    here.region(&mut clause.body).ok()?;
    clause.domain = Over::from(clause.domain.project(&dims).ok()?);
    part.clauses = vec![clause];
    Some(part)
}

/// Takes away unions of tensors that are used otherwise than at a number along the short axis.
fn keep_divided(inst: &Inst, unions: &mut HashMap<Ident, (Binding, Union)>) {
    let read = match &inst.kind {
        InstKind::Read(read) => Some(read),
        _ => None,
    };
    for name in inst.tensors() {
        let is_whole = |(_, union): &(Binding, Union)| {
            read.is_some_and(|read| read.place.tensor == *name && union.place(read).is_some())
        };
        if unions.get(name).is_some_and(|of| !is_whole(of)) {
            unions.remove(name);
        }
    }
}

impl Union {
    /// The subscripts of a read afterwards.
    fn place(&self, read: &Read) -> Option<Vec<Subscript>> {
        if !read.proved || read.default.is_some() {
            return None;
        }
        let mut at = read.place.at.clone();
        let Subscript::Index(value) = at.remove(self.short) else { return None };
        let value = usize::try_from(value.as_constant()?).ok()?;
        let Some(Subscript::Index(along)) = at.get_mut(self.axis) else { return None };
        *along = along.add(self.distances.get(value)?).ok()?;
        Some(at)
    }
}

/// Lets reads of what was changed find it.
fn redirect(region: &mut Region, unions: &HashMap<Ident, (Binding, Union)>) {
    region.for_each_region_mut(&mut |region| {
        for inst in &mut region.insts {
            if let InstKind::Read(read) = &mut inst.kind
                && let Some((_, union)) = unions.get(&read.place.tensor)
                && let Some(at) = union.place(read)
            {
                read.place.at = at;
            }
        }
    });
}
