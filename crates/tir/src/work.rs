//! How many operations on floats some tensors take when every point is computed once.
//!
//! Points are counted exactly where extents are numbers, or entry checks say that they are. Other
//! extents stay symbols, and a domain then counts as the box around it: an upper bound.

use std::collections::BTreeMap;
use std::fmt;

use einlang_index::{Affine, Domain, Var};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use crate::module::{Binding, Module, Relation};
use crate::op::Op;
use crate::region::{Arg, Combiner, Inst, InstKind, Region, Subscript};
use crate::types::Ident;

/// Operations on floats by kind.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counts {
    /// Products.
    pub multiplications: u128,
    /// Sums, differences, signs.
    pub additions: u128,
    /// Everything else.
    pub others: u128,
}

impl Counts {
    /// All operations.
    pub fn all(self) -> u128 {
        self.multiplications.saturating_add(self.additions).saturating_add(self.others)
    }

    fn by_kind(self) -> [u128; 3] {
        [self.multiplications, self.additions, self.others]
    }

    fn plus(self, other: Counts) -> Counts {
        Counts {
            multiplications: self.multiplications.saturating_add(other.multiplications),
            additions: self.additions.saturating_add(other.additions),
            others: self.others.saturating_add(other.others),
        }
    }
}

/// Operations, for each product of extents that are not known as numbers.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Work(BTreeMap<Vec<String>, Counts>);

/// How many points there are: a number times extents.
#[derive(Clone, Default)]
struct Points {
    number: u128,
    extents: Vec<String>,
}

impl Work {
    /// The operations, if every extent is a number.
    pub fn counts(&self) -> Option<Counts> {
        match self.0.keys().all(Vec::is_empty) {
            true => Some(self.0.values().next().copied().unwrap_or_default()),
            false => None,
        }
    }

    fn add(&mut self, other: Work) {
        for (key, counts) in other.0 {
            let own = self.0.entry(key).or_default();
            *own = own.plus(counts);
        }
    }

    fn one(op: Op, points: &Points) -> Work {
        let n = points.number;
        let counts = match op {
            Op::Mul => Counts { multiplications: n, ..Counts::default() },
            Op::Add | Op::Sub | Op::Neg => Counts { additions: n, ..Counts::default() },
            _ => Counts { others: n, ..Counts::default() },
        };
        Work([(points.extents.clone(), counts)].into_iter().collect())
    }

    fn weight(&self) -> u128 {
        self.0.values().fold(0, |sum, counts| sum.saturating_add(counts.all()))
    }
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        for (kind, name) in ["multiplications", "additions", "others"].into_iter().enumerate() {
            let mut terms = Vec::new();
            for (extents, counts) in self.0.iter().rev() {
                match (counts.by_kind()[kind], extents.is_empty()) {
                    (0, _) => {}
                    (n, true) => terms.push(n.to_string()),
                    (1, false) => terms.push(extents.join(" * ")),
                    (n, false) => terms.push(format!("{n} * {}", extents.join(" * "))),
                }
            }
            if !terms.is_empty() {
                parts.push(format!("{} {name}", terms.join(" + ")));
            }
        }
        match parts.is_empty() {
            true => f.write_str("no operations"),
            false => f.write_str(&parts.join(", ")),
        }
    }
}

/// The work for some tensors and all that they need, without what `except` needs.
pub fn work_of(module: &Module, tensors: &[Ident], except: &[Ident]) -> Work {
    let bindings: HashMap<&Ident, &Binding> = module.bindings().map(|b| (&b.name, b)).collect();
    let done = reached(&bindings, except, &HashSet::default());
    let counter = Counter::new(module);
    let mut total = Work::default();
    for name in reached(&bindings, tensors, &done) {
        for clause in bindings.get(name).iter().flat_map(|binding| &binding.clauses) {
            for region in clause.guard.iter().chain([&clause.body]) {
                total.add(counter.region(region, &clause.domain));
            }
        }
    }
    total
}

fn reached<'a>(
    bindings: &HashMap<&'a Ident, &'a Binding>,
    from: &[Ident],
    without: &HashSet<&'a Ident>,
) -> HashSet<&'a Ident> {
    let known = |name: &Ident| bindings.get_key_value(name).map(|(name, _)| *name);
    let mut open: Vec<&Ident> = from.iter().filter_map(known).collect();
    let mut found = HashSet::default();
    while let Some(name) = open.pop() {
        if without.contains(name) || !found.insert(name) {
            continue;
        }
        for clause in bindings.get(name).iter().flat_map(|binding| &binding.clauses) {
            for region in clause.guard.iter().chain([&clause.body]) {
                region.for_each_inst(&mut |inst| {
                    open.extend(inst.tensors().into_iter().filter_map(known));
                });
            }
        }
    }
    found
}

/// The extents that declarations fix.
struct Counter<'m> {
    module: &'m Module,
    fixed: HashMap<Var, i64>,
}

impl<'m> Counter<'m> {
    fn new(module: &'m Module) -> Counter<'m> {
        let checks = module.checks.iter().map(|check| &check.condition);
        let all = module.assumptions.iter().chain(checks);
        let fixed = all.filter(|condition| condition.relation == Relation::Eq).filter_map(|c| {
            let sides = [(&c.left, &c.right), (&c.right, &c.left)];
            sides.into_iter().find_map(|(a, b)| Some((a.as_var()?, b.as_constant()?)))
        });
        Counter { module, fixed: fixed.collect() }
    }

    fn points(&self, domain: &Domain) -> Points {
        let mut value = |var: Var| self.fixed.get(&var).map(|n| Affine::constant(*n));
        let sets = domain.sets().iter().map(|set| set.replace(&mut value));
        let Ok(sets) = sets.collect::<Result<Vec<_>, _>>() else { return Points::default() };
        let domain = Domain::of_sets(domain.dims(), sets);
        if let Ok(number) = domain.count() {
            return Points { number, extents: Vec::new() };
        }
        let mut points = Points { number: 1, extents: Vec::new() };
        for dim in domain.dims() {
            let names = self.module.vars.names();
            let bounds = domain.axis_bounds(*dim).ok();
            let extent = bounds.and_then(|bounds| {
                let (lower, upper) = (bounds.lower?, bounds.upper?);
                let (lower, upper) = (lower.as_quasi()?.clone(), upper.as_quasi()?.clone());
                upper.sub(&lower).ok()?.add_constant(1).ok()
            });
            match extent.map(|extent| (extent.as_constant(), extent)) {
                Some((Some(n), _)) => {
                    let n = u128::try_from(n).unwrap_or(0);
                    points.number = points.number.saturating_mul(n);
                }
                Some((None, extent)) => {
                    let text = extent.display(names).to_string().replace('`', "");
                    let is_word = text.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.');
                    points.extents.push(if is_word { text } else { format!("({text})") });
                }
                None => points.extents.push(format!("#{}", self.module.vars.show(*dim))),
            }
        }
        points.extents.sort_unstable();
        points
    }

    fn region(&self, region: &Region, over: &Domain) -> Work {
        let points = self.points(over);
        let mut sum = Work::default();
        region.insts.iter().for_each(|inst| sum.add(self.inst(inst, over, &points)));
        sum
    }

    fn inst(&self, inst: &Inst, over: &Domain, points: &Points) -> Work {
        let is_float = inst.results.iter().filter_map(|d| d.as_scalar()).any(|v| v.elem.is_float());
        match &inst.kind {
            InstKind::Op(op, _) if is_float => Work::one(*op, points),
            InstKind::Reduce(reduction) => {
                let dims = over.dims().iter().chain(reduction.domain.dims());
                let dims: Vec<Var> = dims.copied().collect();
                let mut sets = Vec::new();
                for a in over.sets() {
                    sets.extend(reduction.domain.sets().iter().filter_map(|b| a.intersect(b).ok()));
                }
                let mut inside = Domain::of_sets(dims, sets);
                let key = reduction.guard.as_ref().and_then(|guard| key_of(guard, over.dims()));
                if let Some(key) = key {
                    // Terms are grouped by their key once: each is in one group.
                    let rest: Vec<Var> =
                        inside.dims().iter().copied().filter(|dim| *dim != key).collect();
                    inside = inside.project(&rest).unwrap_or(inside);
                }
                let mut sum = self.region(&reduction.body, &inside);
                if let Some(guard) = &reduction.guard {
                    sum.add(self.region(guard, &inside));
                }
                match &reduction.combine {
                    Combiner::Op(op) if is_float => {
                        sum.add(Work::one(*op, &self.points(&inside)));
                    }
                    Combiner::Op(_) => {}
                    Combiner::Region(combine) => sum.add(self.region(combine, &inside)),
                }
                sum
            }
            _ => {
                let arms = inst.regions().into_iter().map(|arm| self.region(arm, over));
                arms.max_by_key(Work::weight).unwrap_or_default()
            }
        }
    }
}

/// The dimension around a reduction that a guard compares a key of its terms with.
fn key_of(guard: &Region, around: &[Var]) -> Option<Var> {
    let defined = |arg: &Arg| match arg {
        Arg::Value(value) => guard
            .insts
            .iter()
            .find(|inst| inst.results.iter().any(|def| def.as_scalar() == Some(*value))),
        _ => None,
    };
    let InstKind::Op(Op::Eq, sides) = &defined(guard.results.first()?)?.kind else { return None };
    let [a, b] = &sides[..] else { return None };
    [(a, b), (b, a)].into_iter().find_map(|(key, bin)| {
        let InstKind::Index(expr) = &defined(bin)?.kind else { return None };
        let bin = expr.as_var().filter(|var| around.contains(var))?;
        // What the key is computed from must not depend on the bin.
        let mut open = vec![defined(key)?];
        while let Some(inst) = open.pop() {
            let mentions = |at: &Subscript| match at {
                Subscript::Index(expr) => expr.mentions(bin),
                Subscript::Value(arg) => {
                    open.extend(defined(arg));
                    false
                }
            };
            let depends = match &inst.kind {
                InstKind::Read(read) => read.place.at.iter().any(mentions),
                InstKind::Index(expr) => expr.mentions(bin),
                InstKind::Op(_, args) => {
                    open.extend(args.iter().filter_map(defined));
                    false
                }
                _ => true,
            };
            if depends {
                return None;
            }
        }
        Some(bin)
    })
}
