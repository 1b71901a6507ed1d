//! A reduction as a sum of products.
//!
//! Sums inside the sum are opened, and so are bindings of which nothing else is read. Whatever else a term
//! is made of is a factor, which is computed as it stands.

use std::collections::BTreeSet;

use einlang_index::{Constraint, Quasi, Var, VarKind};
use einlang_tir::fresh::Fresh;
use einlang_tir::module::{Binding, Clause, Module};
use einlang_tir::op::Op;
use einlang_tir::region::{Arg, Inst, InstKind, Read, Reduction, Region, Subscript, Value};
use einlang_tir::types::Ident;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::size::Sizes;
use super::{as_sum, is_open, reads};
use crate::decide::kept;

/// More terms than these are left as they are.
const MOST_TERMS: usize = 8;

/// More factors than these are left as they are.
const MOST_FACTORS: usize = 6;

/// What is multiplied.
#[derive(Clone, Debug)]
pub(super) struct Factor {
    /// What computes it.
    pub(super) code: Region,
    /// The indices that it depends on, in the order in which they appear.
    pub(super) vars: Vec<Var>,
    /// Whether it reads points of the group that is being computed.
    pub(super) own: bool,
}

/// A product that is summed over indices.
#[derive(Clone, Debug)]
pub(super) struct Product {
    pub(super) negative: bool,
    pub(super) factors: Vec<Factor>,
    pub(super) over: Vec<Var>,
    /// The values of those indices.
    pub(super) constraints: Vec<Constraint>,
}

impl Product {
    fn of(factor: Factor) -> Product {
        let factors = vec![factor];
        Product { negative: false, factors, over: Vec::new(), constraints: Vec::new() }
    }

    /// The product of two; nothing if they are sums over the same index.
    fn times(mut self, other: Product) -> Option<Product> {
        if self.over.iter().any(|var| other.over.contains(var)) {
            return None;
        }
        self.negative ^= other.negative;
        self.factors.extend(other.factors);
        self.over.extend(other.over);
        self.constraints.extend(other.constraints);
        (self.factors.len() <= MOST_FACTORS).then_some(self)
    }
}

/// Opens sums.
pub(super) struct Expand<'m> {
    module: &'m mut Module,
    names: &'m mut BTreeSet<Ident>,
    sizes: &'m mut Sizes,
    /// The bindings of the group in which the sum stands.
    own: HashSet<Ident>,
    counts: HashMap<Ident, usize>,
    defs: HashMap<u32, Inst>,
    /// What is computed as it stands.
    pub(super) cost: f64,
    /// The bindings that were opened.
    pub(super) spared: Vec<Ident>,
}

impl<'m> Expand<'m> {
    pub(super) fn new(
        module: &'m mut Module,
        names: &'m mut BTreeSet<Ident>,
        at: usize,
        sizes: &'m mut Sizes,
        body: &Region,
    ) -> Expand<'m> {
        let own = module.groups[at].bindings.iter().map(|binding| binding.name.clone()).collect();
        let counts = reads(module);
        let (cost, spared) = (0.0, Vec::new());
        let mut expand =
            Expand { module, names, sizes, own, counts, defs: HashMap::default(), cost, spared };
        expand.define(body);
        expand
    }

    fn define(&mut self, region: &Region) {
        for inst in &region.insts {
            for value in inst.results.iter().filter_map(|def| def.as_scalar()) {
                self.defs.insert(value.number, inst.clone());
            }
        }
    }

    /// The products of a sum that is computed at every point with these indices.
    pub(super) fn sum(&mut self, sum: &Reduction, around: &[Var]) -> Option<Vec<Product>> {
        let ([set], [term]) = (sum.domain.sets(), &sum.body.results[..]) else { return None };
        let dims = sum.domain.dims();
        let inside: Vec<Var> = around.iter().chain(dims).copied().collect();
        self.sizes.sum(dims, set);
        self.cost += self.sizes.points(&inside);
        self.define(&sum.body);
        let mut products = self.terms(term, &inside)?;
        for product in &mut products {
            if product.over.iter().any(|var| dims.contains(var)) {
                return None;
            }
            product.over.splice(0..0, dims.iter().copied());
            product.constraints.extend(set.constraints());
        }
        Some(products)
    }

    fn terms(&mut self, arg: &Arg, around: &[Var]) -> Option<Vec<Product>> {
        let value = match arg {
            Arg::Const(_) => return Some(vec![Product::of(self.factor(arg)?)]),
            Arg::Value(value) => *value,
            Arg::Tensor(_) => return None,
        };
        let inst = self.defs.get(&value.number)?.clone();
        let products = match &inst.kind {
            InstKind::Op(op @ (Op::Add | Op::Sub), args) => {
                let mut terms = self.terms(&args[0], around)?;
                let mut right = self.terms(&args[1], around)?;
                right.iter_mut().for_each(|product| product.negative ^= *op == Op::Sub);
                terms.extend(right);
                terms
            }
            InstKind::Op(Op::Neg, args) => {
                let mut terms = self.terms(&args[0], around)?;
                terms.iter_mut().for_each(|product| product.negative ^= true);
                terms
            }
            InstKind::Op(Op::Mul, args) => {
                let (left, right) = (self.terms(&args[0], around)?, self.terms(&args[1], around)?);
                match (<[Product; 1]>::try_from(left), <[Product; 1]>::try_from(right)) {
                    (Ok([left]), Ok([right])) => vec![left.times(right)?],
                    _ => vec![Product::of(self.factor(arg)?)],
                }
            }
            InstKind::Reduce(_) => self.sum(as_sum(&inst)?, around)?,
            InstKind::Read(read) => match self.definition(read) {
                // It is computed once for each of its own points.
                Some((result, at)) => self.terms(&result, &at)?,
                None => vec![Product::of(self.factor(arg)?)],
            },
            _ => vec![Product::of(self.factor(arg)?)],
        };
        (products.len() <= MOST_TERMS).then_some(products)
    }

    /// What a read element is and the indices of its point, if it is worth knowing: a copy, or something
    /// with a sum in it that nothing else reads.
    fn definition(&mut self, read: &Read) -> Option<(Arg, Vec<Var>)> {
        let name = &read.place.tensor;
        let (binding, clause) = self.opened(read)?;
        let at: Option<Vec<Var>> = read.place.at.iter().map(plain).collect();
        let (body, axes, at) = (clause.body.clone(), binding.axes.clone(), at?);
        let mut fresh = Fresh::new(self.module, self.names);
        axes.iter().zip(&at).for_each(|(axis, var)| fresh.replace_var(axis.var, *var));
        let body = fresh.inline(&body, &[]).ok()?;
        self.define(&body);
        self.spared.push(name.clone());
        Some((body.results.first()?.clone(), at))
    }

    /// The binding that a read would be replaced by, and its only clause.
    fn opened(&self, read: &Read) -> Option<(&Binding, &Clause)> {
        let name = &read.place.tensor;
        if self.own.contains(name) || !read.proved || read.default.is_some() {
            return None;
        }
        let group =
            self.module.groups.iter().find(|g| g.bindings.iter().any(|b| b.name == *name))?;
        let ([binding], None) = (&group.bindings[..], &group.until) else { return None };
        let [clause] = &binding.clauses[..] else { return None };
        let read_once = self.counts.get(name) == Some(&1) && !kept(self.module).contains(name);
        let has_sum = clause.body.insts.iter().any(|inst| as_sum(inst).is_some());
        let is_copy =
            matches!(&clause.body.insts[..], [inst] if matches!(inst.kind, InstKind::Read(_)));
        let plain = clause.guard.is_none() && is_open(&clause.body) && !is_own(clause, name);
        if !(plain && (is_copy || read_once && has_sum)) {
            return None;
        }
        let whole = binding.whole().ok()?;
        (clause.domain.0 == whole || clause.domain.is_same(&whole).is_true())
            .then_some((binding, clause))
    }

    /// Whether another order may gain something: there are several sums, or factors without an index.
    pub(super) fn is_promising(&self, sum: &Reduction) -> bool {
        let (mut n_reads, mut sums) = (0, false);
        sum.body.for_each_inst(&mut |inst| match &inst.kind {
            InstKind::Read(read) => {
                n_reads += 1;
                sums |= self.opened(read).is_some();
            }
            InstKind::Reduce(_) => sums = true,
            _ => {}
        });
        sums || n_reads > 1 && sum.domain.dims().len() > 1
    }

    /// What is computed as it stands.
    fn factor(&self, arg: &Arg) -> Option<Factor> {
        let mut code = Region::yielding([arg.clone()]);
        if let Arg::Value(value) = arg {
            self.collect(*value, &mut code.insts, &mut HashSet::default())?;
        }
        let (mut vars, mut own) = (Vec::new(), false);
        for inst in &code.insts {
            let exprs: Vec<&Quasi> = match &inst.kind {
                InstKind::Index(expr) => vec![expr],
                InstKind::Read(read) => {
                    own |= self.own.contains(&read.place.tensor);
                    let at = read.place.at.iter();
                    at.filter_map(|at| match at {
                        Subscript::Index(expr) => Some(expr),
                        Subscript::Value(_) => None,
                    })
                    .collect()
                }
                _ => Vec::new(),
            };
            for expr in exprs {
                expr.for_each_var(&mut |var| {
                    if var.kind() == VarKind::Index && !vars.contains(&var) {
                        vars.push(var);
                    }
                });
            }
        }
        Some(Factor { code, vars, own })
    }

    /// The instructions that compute a value, if it may be computed anywhere.
    fn collect(&self, value: Value, insts: &mut Vec<Inst>, seen: &mut HashSet<u32>) -> Option<()> {
        if !seen.insert(value.number) {
            return Some(());
        }
        let inst = self.defs.get(&value.number)?;
        let anywhere = match &inst.kind {
            InstKind::Index(_) => true,
            InstKind::Op(op, args) => {
                !args.iter().any(|arg| arg.elem().is_some_and(|elem| op.may_trap(elem, false)))
            }
            InstKind::Read(read) => {
                let shown = |at: &Subscript| matches!(at, Subscript::Index(_));
                let known = self.module.tensor_type(&read.place.tensor).is_some();
                known && read.proved && read.default.is_none() && read.place.at.iter().all(shown)
            }
            _ => false,
        };
        for arg in inst.args().into_iter().filter(|_| anywhere) {
            if let Arg::Value(value) = arg {
                self.collect(*value, insts, seen)?;
            }
        }
        insts.push(inst.clone());
        anywhere.then_some(())
    }
}

/// Whether a clause reads the tensor that it is of.
fn is_own(clause: &Clause, name: &Ident) -> bool {
    let mut found = false;
    clause.body.for_each_inst(&mut |inst| found |= inst.tensors().contains(&name));
    found
}

/// The index that a subscript is.
fn plain(at: &Subscript) -> Option<Var> {
    match at {
        Subscript::Index(expr) => expr.as_var().filter(|var| var.kind() == VarKind::Index),
        Subscript::Value(_) => None,
    }
}
