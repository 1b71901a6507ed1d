//! What is around an instruction, and what the instruction needs of it.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use einlang_index::{Domain, Quasi, Result, Var, VarKind};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::{Host, Lift};
use crate::free::Free;
use crate::module::{Axis, Condition, Relation, SymbolSource};
use crate::op::Op;
use crate::region::{Arg, Def, Inst, InstKind};
use crate::substitute::Substitution;
use crate::types::Ident;

/// Axes that are known to be no longer are run through at once, and share what is the same along them.
pub(super) const SHORT: i64 = 4;

/// Instructions larger than this are not computed a second time.
const MAX_SIZE: usize = 100;

/// Nothing is moved that needs more instructions than this from around it.
const MAX_NEEDS: usize = 200;

/// Coefficients up to this cannot make a condition on indices overflow the type it is tested in.
const MAX_COEFFICIENT: i64 = 1024;

/// An instruction before the current one, in the same region or one around it.
pub(super) struct Site {
    pub(super) order: usize,
    pub(super) inst: Inst,
    pub(super) free: Free,
    /// How many conditions were around it, and at which points it is evaluated.
    pub(super) n_conditions: usize,
    pub(super) domain: Rc<Domain>,
}

/// What is around an instruction in a clause.
pub(super) struct Scope {
    /// The indices: those of the binding, then those of reductions.
    pub(super) axes: Vec<Axis>,
    /// How many of them are of the binding.
    n_own: usize,
    /// Over those: the points at which the instruction is evaluated.
    pub(super) domain: Rc<Domain>,
    /// What else must hold there: each operand is true, or false.
    pub(super) conditions: Vec<(Arg, bool)>,
    /// Tests that have been passed.
    pub(super) checks: Vec<Rc<Site>>,
    /// Whether things may be moved from here.
    pub(super) open: bool,
    /// The name of the binding.
    pub(super) name: Ident,
    /// What parameters are that a guard hands over.
    handed: Substitution,
    /// Where scalars come from; none where they cannot be computed elsewhere.
    origins: HashMap<u32, Option<Rc<Site>>>,
    /// Indices of reductions whose extents are not known.
    unbounded: HashSet<Var>,
    ranges: HashMap<Var, Rc<Site>>,
    tensors: HashSet<Ident>,
    lengths: HashSet<Var>,
    n_sites: usize,
}

/// What an instruction needs of what is around it.
#[derive(Default)]
pub(super) struct Needs {
    /// Instructions, in order.
    pub(super) sites: BTreeMap<usize, Rc<Site>>,
    /// Indices.
    pub(super) indices: BTreeSet<Var>,
    /// Whether it reads the group itself.
    pub(super) own: bool,
}

impl Scope {
    pub(super) fn new(name: &Ident, axes: &[Axis], domain: Domain, open: bool) -> Scope {
        Scope {
            axes: axes.to_vec(),
            n_own: axes.len(),
            domain: Rc::new(domain),
            conditions: Vec::new(),
            checks: Vec::new(),
            open,
            name: name.clone(),
            handed: Substitution::default(),
            origins: HashMap::default(),
            unbounded: HashSet::default(),
            ranges: HashMap::default(),
            tensors: HashSet::default(),
            lengths: HashSet::default(),
            n_sites: 0,
        }
    }

    /// Whether something over these indices would be larger than the binding, and is the same along short axes of
    /// that only.
    pub(super) fn is_spread(&self, indices: &BTreeSet<Var>) -> bool {
        let (own, summed) = self.axes.split_at(self.n_own);
        let short = |axis: &Axis| axis.dim.extent.as_constant().is_some_and(|n| n <= SHORT);
        summed.iter().all(|axis| indices.contains(&axis.var))
            && !summed.is_empty()
            && own.iter().filter(|axis| !indices.contains(&axis.var)).all(short)
    }

    /// The indices.
    pub(super) fn dims(&self) -> Vec<Var> {
        self.axes.iter().map(|axis| axis.var).collect()
    }

    /// Parameters that are other operands.
    pub(super) fn hand_over(&mut self, params: &[Def], args: &[Arg]) {
        for (at, param) in params.iter().enumerate() {
            match (param, args.get(at)) {
                (Def::Scalar(value), Some(arg)) => {
                    let mut arg = arg.clone();
                    self.handed.arg(&mut arg);
                    self.handed.values.insert(value.number, arg);
                }
                (Def::Scalar(value), None) => drop(self.origins.insert(value.number, None)),
                (Def::Tensor(tensor), _) => drop(self.tensors.insert(tensor.name.clone())),
            }
        }
    }

    /// The instruction with what was handed over in place of parameters.
    pub(super) fn plain(&self, inst: &Inst) -> Inst {
        let mut inst = inst.clone();
        if !self.handed.is_empty() {
            // Only operands are replaced, which does no arithmetic that could fail.
            let _ = self.handed.inst(&mut inst);
        }
        inst
    }

    /// The operand with what was handed over in place of a parameter.
    pub(super) fn plain_arg(&self, arg: &Arg) -> Arg {
        let mut arg = arg.clone();
        self.handed.arg(&mut arg);
        arg
    }

    /// Adds the indices of a reduction.
    pub(super) fn reduce_over(&mut self, domain: &Domain) -> Result<()> {
        let mut dims = self.dims();
        dims.extend(domain.dims());
        let around = Domain::of_sets(dims.clone(), self.domain.sets().to_vec());
        let inside = Domain::of_sets(dims, domain.sets().to_vec());
        let both = around.intersect(&inside)?;
        for dim in domain.dims() {
            let bounds = both.axis_bounds(*dim)?;
            let upper = bounds.upper.as_ref().and_then(|upper| upper.as_quasi());
            let lower = bounds.lower.as_ref().and_then(|lower| lower.as_constant());
            let extent = match (upper, lower) {
                (Some(upper), Some(0..)) => upper.add_constant(1)?,
                _ => {
                    self.unbounded.insert(*dim);
                    0.into()
                }
            };
            self.axes.push(Axis { var: *dim, dim: extent.into() });
        }
        self.domain = Rc::new(both);
        Ok(())
    }

    /// Whether an index has no extent.
    pub(super) fn is_unbounded(&self, var: Var) -> bool {
        self.unbounded.contains(&var)
    }

    /// Whether a symbol is the length of an open axis that stays in its region.
    pub(super) fn is_length(&self, var: Var) -> bool {
        self.lengths.contains(&var)
    }

    /// Takes note of an instruction that stays.
    pub(super) fn pass(&mut self, inst: &Inst) {
        if let InstKind::Group(group) = &inst.kind {
            self.tensors.extend(group.bindings.iter().map(|binding| binding.name.clone()));
            self.lengths.extend(group.until.iter().map(|until| until.extent));
            return;
        }
        let tensors = inst.results.iter().filter_map(|def| def.as_tensor());
        self.tensors.extend(tensors.map(|tensor| tensor.name.clone()));
        if !self.open {
            return;
        }
        self.n_sites += 1;
        let site = (size(inst) <= MAX_SIZE).then(|| {
            let plain = self.plain(inst);
            Rc::new(Site {
                order: self.n_sites,
                free: Free::of_inst(&plain),
                inst: plain,
                n_conditions: self.conditions.len(),
                domain: Rc::clone(&self.domain),
            })
        });
        for value in inst.results.iter().filter_map(|def| def.as_scalar()) {
            self.origins.insert(value.number, site.clone());
        }
        match (&inst.kind, site) {
            (InstKind::Param { var, .. }, Some(site)) => drop(self.ranges.insert(*var, site)),
            (InstKind::Assert { .. } | InstKind::If { .. }, Some(site))
                if inst.results.is_empty() =>
            {
                self.checks.push(site);
            }
            _ => {}
        }
    }

    /// The instruction that computes a local symbol.
    pub(super) fn range(&self, var: Var) -> Option<&Rc<Site>> {
        self.ranges.get(&var)
    }

    /// The condition on indices that an operand is, as the points where it holds.
    pub(super) fn affine(&self, arg: &Arg, lift: &Lift<'_>) -> Option<Domain> {
        let Arg::Value(value) = arg else { return None };
        let Some(Some(site)) = self.origins.get(&value.number) else { return None };
        let InstKind::Op(op, args) = &site.inst.kind else { return None };
        let relation = match op {
            Op::Eq => Relation::Eq,
            Op::Le => Relation::Le,
            Op::Lt => Relation::Lt,
            Op::Ge => Relation::Ge,
            Op::Gt => Relation::Gt,
            _ => return None,
        };
        let [left, right] = &args[..] else { return None };
        let (left, right) = (self.index(left, lift)?, self.index(right, lift)?);
        Condition::new(left, relation, right).domain(&self.dims()).ok()
    }

    /// The index expression that an operand is, in indices and symbols of the module.
    fn index(&self, arg: &Arg, lift: &Lift<'_>) -> Option<Quasi> {
        let expr = match arg {
            Arg::Const(constant) => Quasi::from(i64::try_from(constant.as_int()?).ok()?),
            Arg::Value(value) => match &self.origins.get(&value.number)?.as_ref()?.inst.kind {
                InstKind::Index(expr) => expr.clone(),
                _ => return None,
            },
            Arg::Tensor(_) => return None,
        };
        let affine = expr.as_affine()?;
        let small = |n: i64| (-MAX_COEFFICIENT..=MAX_COEFFICIENT).contains(&n);
        let mut fixed = true;
        expr.for_each_var(&mut |var| fixed &= !lift.is_local(var));
        let terms = affine.terms().iter().all(|(_, coefficient)| small(*coefficient));
        (fixed && terms && small(affine.constant_part())).then_some(expr)
    }
}

impl Lift<'_> {
    /// Whether a symbol is computed in a region.
    pub(super) fn is_local(&self, var: Var) -> bool {
        match self.source(var) {
            Some(SymbolSource::Local) => true,
            Some(SymbolSource::Max(of) | SymbolSource::Min(of)) => {
                let mut local = false;
                // Only earlier symbols count, so this ends.
                let mut look = |v: Var| local |= v < var && self.is_local(v);
                of.iter().for_each(|expr| expr.for_each_var(&mut look));
                local
            }
            _ => false,
        }
    }

    pub(super) fn source(&self, var: Var) -> Option<&SymbolSource> {
        match var.kind() {
            VarKind::Symbol => self.module.symbols.get(var.number()).map(|symbol| &symbol.source),
            _ => None,
        }
    }

    /// A symbol and those it is the largest or smallest of.
    pub(super) fn with_parts(&self, var: Var, found: &mut BTreeSet<Var>) {
        if !found.insert(var) {
            return;
        }
        if let Some(SymbolSource::Max(of) | SymbolSource::Min(of)) = self.source(var) {
            let mut parts = Vec::new();
            of.iter().for_each(|expr| expr.for_each_var(&mut |v| parts.push(v)));
            parts.into_iter().filter(|v| *v < var).for_each(|v| self.with_parts(v, found));
        }
    }

    /// Adds what some code needs of what is around it; none if it cannot stand elsewhere.
    pub(super) fn need(
        &self,
        free: &Free,
        scope: &Scope,
        host: &Host,
        needs: &mut Needs,
    ) -> Option<()> {
        let mut frees: Vec<Free> = vec![free.clone()];
        while let Some(free) = frees.pop() {
            if free.tensors.iter().any(|name| scope.tensors.contains(name)) {
                return None;
            }
            needs.own |= free.tensors.iter().any(|name| host.own.contains(name));
            let mut found: Vec<&Rc<Site>> = Vec::new();
            for number in &free.values {
                match scope.origins.get(number) {
                    None => {}
                    Some(Some(site)) => found.push(site),
                    Some(None) => return None,
                }
            }
            let mut vars = BTreeSet::new();
            free.vars.iter().for_each(|var| self.with_parts(*var, &mut vars));
            for var in vars {
                if scope.lengths.contains(&var) {
                    return None;
                }
                needs.own |= host.open == Some(var);
                found.extend(scope.ranges.get(&var).filter(|_| self.is_local(var)));
                if scope.axes.iter().any(|axis| axis.var == var) {
                    needs.indices.insert(var);
                }
            }
            for site in found {
                if needs.sites.insert(site.order, Rc::clone(site)).is_none() {
                    frees.push(site.free.clone());
                }
            }
            if needs.sites.len() > MAX_NEEDS {
                return None;
            }
        }
        Some(())
    }
}

/// How many instructions an instruction has inside, itself included.
fn size(inst: &Inst) -> usize {
    let mut n = 1;
    inst.regions().into_iter().for_each(|region| region.for_each_inst(&mut |_| n += 1));
    n
}
