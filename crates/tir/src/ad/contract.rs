//! Contractions of a Jacobian with a vector, which need one sweep and no Jacobian.
//!
//! `sum[j](J[i, j] * v[j])` is the tangent of the target for the perturbation `v`;
//! `sum[i](u[i] * J[i, j])` is the adjoint of the parameter for the weights `u`. The vector becomes
//! a binding and the seed. A Jacobian that was only named, and leaves the module nowhere, is a
//! request at each of its reads.

use std::collections::{HashMap, HashSet};

use einlang_index::{Domain, Var};

use super::context::Ad;
use super::fault::R;
use super::uses::{Uses, slice};
use crate::module::{Axis, Binding, Clause};
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

impl Ad<'_> {
    /// Reads of bindings that only name a Jacobian become entries.
    pub(super) fn inline_jacobians(&mut self) -> R<()> {
        let outputs: HashSet<Ident> = self.module.outputs.iter().cloned().collect();
        let mut named: HashMap<Ident, (Vec<Var>, Place, Place)> = HashMap::new();
        for binding in self.module.bindings().filter(|b| !outputs.contains(&b.name)) {
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
                self.contract_region(region)?;
            }
        }
        if self.sides.len() > n_before {
            self.set_clauses(name, clauses);
        }
        Ok(())
    }

    fn contract_region(&mut self, region: &mut Region) -> R<()> {
        for inst in &mut region.insts {
            for inner in inst.regions_mut() {
                self.contract_region(inner)?;
            }
            let (InstKind::Reduce(reduction), [Def::Scalar(value)]) =
                (&inst.kind, &inst.results[..])
            else {
                continue;
            };
            if let Some((of, by, side)) = self.contraction(reduction, inst.loc)? {
                self.sides.insert(value.number, side);
                inst.kind = InstKind::Deriv { of, by };
            }
        }
        Ok(())
    }

    /// The entry and the vector that a sum contracts, if it does.
    fn contraction(&mut self, reduction: &Reduction, loc: Loc) -> R<Option<(Place, Place, Side)>> {
        if reduction.combine != Combiner::Op(Op::Add) || !reduction.body.params.is_empty() {
            return Ok(None);
        }
        let start_is_zero =
            reduction.start.args().iter().all(|arg| super::context::is_number(arg, 0.0));
        let Some((entry, factors)) = factors(&reduction.body).filter(|_| start_is_zero) else {
            return Ok(None);
        };
        let (of, by) = match &reduction.body.insts[entry].kind {
            InstKind::Deriv { of, by } => (of.clone(), by.clone()),
            _ => return Ok(None),
        };
        let dims = reduction.domain.dims();
        let (summed, free) = match (spans(&by, dims), spans(&of, dims)) {
            (true, false) => (&by, &of),
            (false, true) => (&of, &by),
            _ => return Ok(None),
        };
        if mentions(free, dims) || free.at.iter().any(|at| matches!(at, Subscript::Value(_))) {
            return Ok(None);
        }
        let Some(vector) = self.vector(reduction, entry, &factors, summed, loc)? else {
            return Ok(None);
        };
        let whole = |place: &Place| Place { tensor: place.tensor.clone(), at: Vec::new() };
        Ok(Some(match summed == &by {
            true => (of, whole(&by), Side::Parameter(vector)),
            false => (whole(&of), by, Side::Target(vector)),
        }))
    }

    /// The product of the other factors as a binding over the axes that are summed.
    fn vector(
        &mut self,
        reduction: &Reduction,
        entry: usize,
        factors: &[Arg],
        summed: &Place,
        loc: Loc,
    ) -> R<Option<Ident>> {
        let ty = self.tensor_type(&summed.tensor)?;
        let mut before = reduction.body.insts.clone();
        before.remove(entry);
        let mut uses = Uses::of_args(factors);
        let mut insts = slice(&before, &mut uses);
        uses.vars.extend(reduction.domain.params());
        if let Some(guard) = &reduction.guard {
            uses.region(guard);
        }
        let dims = reduction.domain.dims();
        let inside: HashSet<u32> = defined(&insts, reduction.guard.as_ref());
        let is_known =
            uses.vars.iter().all(|var| dims.contains(var) || self.is_global(&(*var).into()));
        if !is_known
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
        let axes = vars.iter().zip(&ty.dims);
        let axes = axes.map(|(var, dim)| Axis { var: *var, dim: dim.clone() }).collect();
        let domain = Domain::of_sets(vars, reduction.domain.sets().iter().cloned()).into();
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

/// The position of the one entry of a product, and the other factors.
fn factors(body: &Region) -> Option<(usize, Vec<Arg>)> {
    let leading = leading(body);
    let leads = |arg: &Arg| matches!(arg, Arg::Value(v) if leading.contains(&v.number));
    let mut factors = Vec::new();
    let mut at = body.results.first()?.clone();
    loop {
        let Arg::Value(value) = &at else { return None };
        let position = body.insts.iter().position(|inst| defines(inst, value))?;
        match &body.insts[position].kind {
            InstKind::Deriv { .. } => return Some((position, factors)),
            InstKind::Op(Op::Mul, args) => {
                let [a, b] = &args[..] else { return None };
                let (next, factor) = match (leads(a), leads(b)) {
                    (true, _) => (a, b),
                    (false, true) => (b, a),
                    (false, false) => return None,
                };
                factors.push(factor.clone());
                at = next.clone();
            }
            _ => return None,
        }
    }
}

fn defines(inst: &Inst, value: &Value) -> bool {
    matches!(&inst.results[..], [Def::Scalar(own)] if own == value)
}

/// The values that are products with an entry in them.
fn leading(body: &Region) -> HashSet<u32> {
    let mut found = HashSet::new();
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
    let mut found = HashSet::new();
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
