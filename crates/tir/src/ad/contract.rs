//! Contractions of a Jacobian with a vector, which need one sweep and no Jacobian.
//!
//! `sum[j](J[i, j] * v[j])` is the tangent of the target for the perturbation `v`;
//! `sum[i](u[i] * J[i, j])` is the adjoint of the parameter for the weights `u`. The vector becomes
//! a binding and the seed. A Jacobian that was only named, and leaves the module nowhere, is a
//! request at each of its reads.
//!
//! The vector may depend on indices around the sum: then there is one sweep for each of their
//! values. A product of two Jacobians is such a sum, in which either of them can be the vector; the
//! side with fewer points is chosen, and neither the other Jacobian nor the product of matrices is
//! computed.

use einlang_index::{Domain, Quasi, Var};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::context::Ad;
use super::fault::R;
use super::uses::{Uses, slice};
use crate::module::{Axis, Binding, Clause, box_of};
use crate::op::Op;
use crate::region::{
    Arg, Combiner, Def, Inst, InstKind, Place, Reduction, Region, Subscript, Value,
};
use crate::substitute::Substitution;
use crate::types::{Ident, Loc};

/// Which side of a Jacobian is contracted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Side {
    /// The parameter's, with this vector.
    Parameter(Ident),
    /// The target's, with this vector.
    Target(Ident),
}

/// So many factors of a product are tried.
const MAX_WAYS: usize = 8;

/// One way to see a sum as the contraction of a Jacobian with a vector.
struct Way {
    /// The position of the entry, and the factors of the vector.
    entry: usize,
    factors: Vec<Arg>,
    of: Place,
    by: Place,
    /// Whether it is summed over the parameter.
    by_parameter: bool,
    /// The axes around that the vector depends on: one sweep for each point.
    axes: Vec<Axis>,
    n_sweeps: Option<u128>,
}

impl Ad<'_> {
    /// Reads of bindings that only name a Jacobian become entries.
    pub(super) fn inline_jacobians(&mut self) -> R<()> {
        let outputs: HashSet<Ident> = self.module.outputs.iter().cloned().collect();
        let mut named: HashMap<Ident, (Vec<Var>, Place, Place)> = HashMap::default();
        // Coefficients stay what they are: sums count them as constants.
        let stays = |name: &Ident| outputs.contains(name) || self.calls.through.contains(name);
        for binding in self.module.bindings().filter(|b| !stays(&b.name)) {
            if let Some((of, by)) = only_entry(binding) {
                named.insert(binding.name.clone(), (binding.dims(), of.clone(), by.clone()));
            }
        }
        if named.is_empty() {
            return Ok(());
        }
        for name in self.binding_names() {
            let Some(binding) = self.binding(&name) else { continue };
            let mut clauses = binding.clauses.clone();
            let mut changed = false;
            for Clause { guard, body, .. } in &mut clauses {
                for region in guard.iter_mut().chain([body]) {
                    changed |= inline_reads(region, &named)?;
                }
            }
            if changed {
                self.set_clauses(&name, clauses);
            }
        }
        self.drop_unread(&named.into_keys().collect());
        Ok(())
    }

    /// Removes those of some bindings that nothing reads any more.
    fn drop_unread(&mut self, names: &HashSet<Ident>) {
        let mut uses = Uses::default();
        for group in &self.module.groups {
            group.regions().into_iter().for_each(|region| uses.region(region));
        }
        let unread = |name: &Ident| names.contains(name) && !uses.tensors.contains(name);
        for group in &mut self.module.groups {
            group.bindings.retain(|binding| !unread(&binding.name));
        }
        self.module.groups.retain(|group| !group.bindings.is_empty());
        self.find_places();
    }

    /// Replaces the contractions in a binding by entries with a vector for one side.
    pub(super) fn contract(&mut self, name: &Ident) -> R<()> {
        let Some(binding) = self.binding(name).cloned() else { return Ok(()) };
        let mut clauses = binding.clauses;
        let n_before = self.sides.len();
        for Clause { guard, body, .. } in &mut clauses {
            for region in guard.iter_mut().chain([body]) {
                self.contract_region(region, &binding.axes)?;
            }
        }
        if self.sides.len() > n_before {
            self.set_clauses(name, clauses);
        }
        Ok(())
    }

    fn contract_region(&mut self, region: &mut Region, around: &[Axis]) -> R<()> {
        for inst in &mut region.insts {
            for inner in inst.regions_mut() {
                self.contract_region(inner, around)?;
            }
            let (InstKind::Reduce(reduction), [Def::Scalar(value)]) =
                (&inst.kind, &inst.results[..])
            else {
                continue;
            };
            if let Some((of, by, side)) = self.contraction(reduction, around, inst.loc)? {
                self.sides.insert(value.number, side);
                inst.kind = InstKind::Deriv { of, by };
            }
        }
        Ok(())
    }

    /// The entry and the vector that a sum contracts, if it does.
    fn contraction(
        &mut self,
        reduction: &Reduction,
        around: &[Axis],
        loc: Loc,
    ) -> R<Option<(Place, Place, Side)>> {
        if reduction.combine != Combiner::Op(Op::Add) || !reduction.body.params.is_empty() {
            return Ok(None);
        }
        let start_is_zero =
            reduction.start.args().iter().all(|arg| super::context::is_number(arg, 0.0));
        if !start_is_zero {
            return Ok(None);
        }
        let mut ways = Vec::new();
        for (entry, factors) in factors(&reduction.body) {
            ways.extend(self.way(reduction, around, entry, factors)?);
        }
        ways.sort_by_key(|way| (way.n_sweeps.is_none(), way.n_sweeps, way.axes.len()));
        for way in ways {
            let Some(vector) = self.vector(reduction, &way, loc)? else { continue };
            let Way { of, by, by_parameter, axes, .. } = way;
            let at = |axis: &Axis| Subscript::Index(axis.var.into());
            let swept = |place: &Place| Place {
                tensor: place.tensor.clone(),
                at: axes.iter().map(at).collect(),
            };
            return Ok(Some(match by_parameter {
                true => (of, swept(&by), Side::Parameter(vector)),
                false => (swept(&of), by, Side::Target(vector)),
            }));
        }
        Ok(None)
    }

    /// How a sum can be a contraction of one of its factors, unless all of it is cheaper.
    fn way(
        &self,
        reduction: &Reduction,
        around: &[Axis],
        entry: usize,
        factors: Vec<Arg>,
    ) -> R<Option<Way>> {
        let InstKind::Deriv { of, by } = &reduction.body.insts[entry].kind else {
            return Ok(None);
        };
        let dims = reduction.domain.dims();
        let (by_parameter, free) = match (spans(by, dims), spans(of, dims)) {
            (true, false) => (true, of),
            (false, true) => (false, by),
            _ => return Ok(None),
        };
        if mentions(free, dims) || free.at.iter().any(|at| matches!(at, Subscript::Value(_))) {
            return Ok(None);
        }
        let insts = &reduction.body.insts;
        let before: Vec<Inst> = [&insts[..entry], &insts[entry + 1..]].concat();
        let mut uses = Uses::of_args(&factors);
        slice(&before, &mut uses);
        uses.vars.extend(reduction.domain.params());
        if let Some(guard) = &reduction.guard {
            uses.region(guard);
        }
        let axes: Vec<Axis> =
            around.iter().filter(|axis| uses.vars.contains(&axis.var)).cloned().collect();
        let vars: Vec<Var> = axes.iter().map(|axis| axis.var).collect();
        // A vector for each point of the other side is no saving.
        if mentions(free, &vars) {
            return Ok(None);
        }
        let n_sweeps = n_points(axes.iter().map(|axis| &axis.dim.extent));
        let n_all = [of, by].map(|place| {
            let ty = self.tensor_type(&place.tensor).ok()?;
            n_points(ty.dims.iter().map(|dim| &dim.extent))
        });
        if let (Some(n), [Some(of), Some(by)]) = (n_sweeps, n_all)
            && n > 1
            && n > of.min(by)
        {
            return Ok(None);
        }
        let (of, by) = (of.clone(), by.clone());
        Ok(Some(Way { entry, factors, of, by, by_parameter, axes, n_sweeps }))
    }

    /// The product of the other factors as a binding over the axes that are summed, after those
    /// around that it depends on.
    fn vector(&mut self, reduction: &Reduction, way: &Way, loc: Loc) -> R<Option<Ident>> {
        let summed = if way.by_parameter { &way.by } else { &way.of };
        let ty = self.tensor_type(&summed.tensor)?;
        let mut before = reduction.body.insts.clone();
        before.remove(way.entry);
        let factors = &way.factors;
        let mut uses = Uses::of_args(factors);
        let mut insts = slice(&before, &mut uses);
        uses.vars.extend(reduction.domain.params());
        if let Some(guard) = &reduction.guard {
            uses.region(guard);
        }
        let dims = reduction.domain.dims();
        let inside: HashSet<u32> = defined(&insts, reduction.guard.as_ref());
        let is_known = |var: &Var| {
            let around = way.axes.iter().any(|axis| axis.var == *var);
            around || dims.contains(var) || self.is_global(&(*var).into())
        };
        if !uses.vars.iter().all(is_known)
            || uses.values.iter().any(|number| !inside.contains(number))
            || uses.tensors.iter().any(|name| self.tensor_type(name).is_err())
            || factors.iter().any(|arg| arg.elem() != Some(ty.elem))
        {
            return Ok(None);
        }
        let mut product: Option<Arg> = None;
        for factor in factors {
            product = Some(match product {
                None => factor.clone(),
                Some(product) => self.mul(&mut insts, product, factor.clone()),
            });
        }
        let result = product.unwrap_or_else(|| super::context::one(ty.elem));
        let body = Region { params: Vec::new(), insts, results: vec![result] };
        let vars: Vec<Var> = summed.at.iter().filter_map(bare).collect();
        let own = vars.iter().zip(&ty.dims);
        let own = own.map(|(var, dim)| Axis { var: *var, dim: dim.clone() });
        let axes: Vec<Axis> = way.axes.iter().cloned().chain(own).collect();
        let mut sets = Vec::new();
        for set in reduction.domain.sets() {
            for outer in box_of(&way.axes)?.sets() {
                sets.push(set.intersect(outer)?);
            }
        }
        let all: Vec<Var> = axes.iter().map(|axis| axis.var).collect();
        let domain = Domain::of_sets(all, sets);
        // A sum beyond what is known to be there asks for entries one by one, which are tested.
        let beyond = domain.subtract(&box_of(&axes)?)?;
        if !beyond.always_empty_given(self.module.facts().set()).is_true() {
            return Ok(None);
        }
        let domain = domain.into();
        let guard = reduction.guard.clone();
        let name = self.fresh_name(&format!("{}_seed", summed.tensor.as_str()));
        let clauses = vec![Clause { domain, guard, body, loc }];
        let (elem, own) = (ty.elem, name.clone());
        self.add_binding(Binding { name: own, elem, axes, clauses, zero_fill: false, loc })?;
        Ok(Some(name))
    }
}

/// The target and parameter of a binding that is one entry at every point.
fn only_entry(binding: &Binding) -> Option<(&Place, &Place)> {
    let [Clause { guard: None, body, domain, .. }] = &binding.clauses[..] else { return None };
    let [Inst { kind: InstKind::Deriv { of, by }, results, .. }] = &body.insts[..] else {
        return None;
    };
    let yields = matches!((&body.results[..], &results[..]),
        ([Arg::Value(a)], [Def::Scalar(b)]) if a == b);
    let known = of.at.iter().chain(&by.at).all(|at| matches!(at, Subscript::Index(_)));
    let whole = binding.whole().is_ok_and(|whole| whole.is_subset(domain).is_true());
    (yields && known && whole && !binding.axes.is_empty()).then_some((of, by))
}

fn inline_reads(region: &mut Region, named: &HashMap<Ident, (Vec<Var>, Place, Place)>) -> R<bool> {
    let mut changed = false;
    for inst in &mut region.insts {
        for inner in inst.regions_mut() {
            changed |= inline_reads(inner, named)?;
        }
        let InstKind::Read(read) = &inst.kind else { continue };
        let Some((dims, of, by)) = named.get(&read.place.tensor) else { continue };
        if read.default.is_some() || !read.proved {
            continue;
        }
        let mut later = Substitution::default();
        for (dim, at) in dims.iter().zip(&read.place.at) {
            if let Subscript::Index(expr) = at {
                later.vars.insert(*dim, expr.clone());
            }
        }
        if later.vars.len() != dims.len() {
            continue;
        }
        let mut entry = InstKind::Deriv { of: of.clone(), by: by.clone() };
        std::mem::swap(&mut inst.kind, &mut entry);
        later.inst(inst)?;
        changed = true;
    }
    Ok(changed)
}

/// The positions of the entries of a product, each with the other factors.
fn factors(body: &Region) -> Vec<(usize, Vec<Arg>)> {
    let leading = leading(body);
    let leads = |arg: &Arg| matches!(arg, Arg::Value(v) if leading.contains(&v.number));
    let mut found = Vec::new();
    let mut open: Vec<(Arg, Vec<Arg>)> =
        body.results.first().map(|arg| (arg.clone(), Vec::new())).into_iter().collect();
    while let Some((Arg::Value(value), factors)) = open.pop() {
        let Some(position) = body.insts.iter().position(|inst| defines(inst, &value)) else {
            continue;
        };
        match &body.insts[position].kind {
            InstKind::Deriv { .. } => found.push((position, factors)),
            InstKind::Op(Op::Mul, args) => {
                let [a, b] = &args[..] else { continue };
                for (next, factor) in [(b, a), (a, b)] {
                    if leads(next) && found.len() + open.len() < MAX_WAYS {
                        open.push((
                            next.clone(),
                            [&factors[..], std::slice::from_ref(factor)].concat(),
                        ));
                    }
                }
            }
            _ => {}
        }
    }
    found
}

/// The number of points of a box; none if it depends on symbols.
fn n_points<'a>(mut extents: impl Iterator<Item = &'a Quasi>) -> Option<u128> {
    extents.try_fold(1u128, |all, extent| {
        let extent = extent.as_constant().and_then(|n| u128::try_from(n).ok())?;
        all.checked_mul(extent)
    })
}

fn defines(inst: &Inst, value: &Value) -> bool {
    matches!(&inst.results[..], [Def::Scalar(own)] if own == value)
}

/// The values that are products with an entry in them.
fn leading(body: &Region) -> HashSet<u32> {
    let mut found = HashSet::default();
    let leads = |found: &HashSet<u32>, arg: &Arg| matches!(arg, Arg::Value(value) if found.contains(&value.number));
    for inst in &body.insts {
        let [Def::Scalar(value)] = inst.results[..] else { continue };
        let hit = match &inst.kind {
            InstKind::Deriv { .. } => true,
            InstKind::Op(Op::Mul, args) => args.iter().any(|arg| leads(&found, arg)),
            _ => false,
        };
        if hit {
            found.insert(value.number);
        }
    }
    found
}

fn bare(at: &Subscript) -> Option<Var> {
    match at {
        Subscript::Index(expr) => expr.as_var(),
        Subscript::Value(_) => None,
    }
}

/// Whether the subscripts of a place are exactly the dimensions of a sum.
fn spans(place: &Place, dims: &[Var]) -> bool {
    let vars: Option<Vec<Var>> = place.at.iter().map(bare).collect();
    let Some(mut vars) = vars else { return false };
    let mut dims = dims.to_vec();
    vars.sort_unstable();
    dims.sort_unstable();
    !vars.is_empty() && vars == dims
}

fn mentions(place: &Place, dims: &[Var]) -> bool {
    place.at.iter().any(|at| match at {
        Subscript::Index(expr) => dims.iter().any(|dim| expr.mentions(*dim)),
        Subscript::Value(_) => false,
    })
}

fn defined(insts: &[Inst], guard: Option<&Region>) -> HashSet<u32> {
    let mut found = HashSet::default();
    let mut note = |inst: &Inst| {
        found.extend(inst.results.iter().filter_map(Def::as_scalar).map(|value| value.number));
    };
    for inst in insts {
        note(inst);
        inst.regions().into_iter().for_each(|region| region.for_each_inst(&mut note));
    }
    guard.iter().for_each(|guard| guard.for_each_inst(&mut note));
    found
}
