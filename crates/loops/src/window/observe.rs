//! Who reads a tensor after it is computed: every read outside its own group, with the points at
//! which it happens.
//!
//! Reads inside the group are the business of `tir::order`; only the condition of an `until`, which
//! is tested after each step, is collected here as well.

use einlang_index::{Domain, Quasi, Set, Var};
use einlang_tir::module::{Group, Module, Until};
use einlang_tir::order::Known;
use einlang_tir::region::{Arg, Combiner, InstKind, Place, Reduction, Region, Subscript};
use einlang_tir::types::{Ident, Loc};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::report::Why;

/// More parts of a domain than this are not kept apart: the points are then more than there are.
const MAX_PARTS: usize = 64;

/// A read of a tensor by something that is not part of its group.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Observation {
    /// Which points, and when.
    pub(super) what: Observed,
    /// Where it is written.
    pub(super) loc: Loc,
    /// Whose facts hold where it happens: a number of `import`, none for the module itself.
    pub(super) scope: Option<usize>,
    /// The clause of which group and binding of the module reads, by position; none for others.
    pub(super) reader: Option<(usize, usize)>,
}

impl Observation {
    /// A read by something that knows no more than the module of the tensor.
    pub(super) fn new(what: Observed, loc: Loc) -> Observation {
        Observation { what, loc, scope: None, reader: None }
    }
}

/// What an observer reads.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Observed {
    /// One point for each point of some sets. A subscript that is data is none.
    Points(Vec<Option<Quasi>>, Vec<Set>),
    /// The same, by the condition of an `until` at the step that the variable counts.
    Step(Vec<Option<Quasi>>, Vec<Set>, Var),
    /// Everything.
    Whole(Why),
}

/// The observations of each tensor.
pub(super) type Observations = HashMap<Ident, Vec<Observation>>;

/// The observations of the tensors with these names.
pub(super) fn observe(module: &Module, tensors: &HashSet<Ident>) -> Observations {
    let mut walk = Walk {
        tensors,
        inside: HashSet::default(),
        found: HashMap::default(),
        step: None,
        reader: None,
        group: None,
    };
    for function in &module.functions {
        walk.region(&function.body, &Domain::everything([]), Known::default(), function.loc);
    }
    for (at, group) in module.groups.iter().enumerate() {
        walk.group = Some(at);
        walk.group(group, &Domain::everything([]), &Known::default());
    }
    for output in &module.outputs {
        if tensors.contains(output) && !module.bindings().any(|b| b.name == *output) {
            walk.found(output, Observed::Whole(Why::Escapes), Loc::default());
        }
    }
    walk.found
}

struct Walk<'a> {
    tensors: &'a HashSet<Ident>,
    /// The tensors whose groups are open.
    inside: HashSet<Ident>,
    found: Observations,
    /// The condition of which `until` is being walked, and the tensors of its group.
    step: Option<(Var, HashSet<Ident>)>,
    /// The clause of the module that is being walked, by group and binding.
    reader: Option<(usize, usize)>,
    /// The group of the module whose clauses come next.
    group: Option<usize>,
}

impl Walk<'_> {
    fn found(&mut self, tensor: &Ident, what: Observed, loc: Loc) {
        let observation = Observation { reader: self.reader, ..Observation::new(what, loc) };
        self.found.entry(tensor.clone()).or_default().push(observation);
    }

    fn group(&mut self, group: &Group, over: &Domain, known: &Known) {
        self.inside.extend(group.bindings.iter().map(|binding| binding.name.clone()));
        let own = self.group.take();
        for (at, binding) in group.bindings.iter().enumerate() {
            if let Some(own) = own {
                self.reader = Some((own, at));
            }
            for clause in &binding.clauses {
                let points = extended(over, &clause.domain);
                for region in clause.guard.iter().chain([&clause.body]) {
                    self.region(region, &points, known.clone(), clause.loc);
                }
            }
        }
        if own.is_some() {
            self.reader = None;
        }
        for binding in &group.bindings {
            self.inside.remove(&binding.name);
        }
        if let Some(until) = &group.until {
            self.until(group, until, over, known);
        }
    }

    /// The condition sees the step that was just made.
    fn until(&mut self, group: &Group, until: &Until, over: &Domain, known: &Known) {
        let names = group.bindings.iter().map(|binding| binding.name.clone()).collect();
        let outer = self.step.replace((until.index, names));
        let first = Quasi::from(until.index).sub(&until.first);
        let steps = first.and_then(|first| Domain::where_nonnegative([until.index], &[first]));
        let points = steps.map_or_else(|_| over.clone(), |steps| extended(over, &steps));
        self.region(&until.condition, &points, known.clone(), Loc::default());
        self.step = outer;
    }

    fn region(&mut self, region: &Region, over: &Domain, mut known: Known, here: Loc) {
        let mut last = here;
        for inst in &region.insts {
            if inst.loc.0.is_some() {
                last = inst.loc;
            }
            inst.args().into_iter().for_each(|arg| self.passed(arg, last));
            match &inst.kind {
                InstKind::Read(read) => {
                    self.place(&read.place, over, last);
                    if let Some(default) = &read.default {
                        self.region(default, over, known.clone(), last);
                    }
                }
                InstKind::If { condition, then, otherwise } => {
                    for (arm, holds) in [(then, true), (otherwise, false)] {
                        let part = known.domain(condition, holds, over.dims());
                        let part = part.and_then(|part| over.intersect(&part).ok());
                        let part = part.filter(|part| part.sets().len() <= MAX_PARTS);
                        self.region(arm, part.as_ref().unwrap_or(over), known.clone(), last);
                    }
                }
                InstKind::Reduce(reduction) => self.reduction(reduction, over, &known, last),
                InstKind::Group(group) => self.group(group, over, &known),
                InstKind::Deriv { of, by } => {
                    for place in [of, by] {
                        self.whole(&place.tensor, Why::Derivative, last);
                    }
                }
                _ => {
                    for region in inst.regions() {
                        self.region(region, over, known.clone(), last);
                    }
                }
            }
            known.learn(inst);
        }
        region.results.iter().for_each(|arg| self.passed(arg, last));
    }

    fn reduction(&mut self, reduction: &Reduction, over: &Domain, known: &Known, here: Loc) {
        if let Combiner::Region(combine) = &reduction.combine {
            self.region(combine, over, known.clone(), here);
        }
        let inside = extended(over, &reduction.domain);
        for region in reduction.guard.iter().chain([&reduction.body]) {
            self.region(region, &inside, known.clone(), here);
        }
    }

    fn passed(&mut self, arg: &Arg, loc: Loc) {
        if let Arg::Tensor(name) = arg {
            self.whole(name, Why::Escapes, loc);
        }
    }

    fn whole(&mut self, name: &Ident, why: Why, loc: Loc) {
        if self.tensors.contains(name) {
            self.found(name, Observed::Whole(why), loc);
        }
    }

    fn place(&mut self, place: &Place, over: &Domain, loc: Loc) {
        let name = &place.tensor;
        if !self.tensors.contains(name) || self.inside.contains(name) {
            return;
        }
        let at = place.at.iter().map(|subscript| match subscript {
            Subscript::Index(expr) => Some(expr.clone()),
            Subscript::Value(_) => None,
        });
        let (at, sets) = (at.collect(), over.sets().to_vec());
        let what = match &self.step {
            Some((step, names)) if names.contains(name) => Observed::Step(at, sets, *step),
            _ => Observed::Points(at, sets),
        };
        self.found(name, what, loc);
    }
}

/// The points of `outer` with further dimensions.
fn extended(outer: &Domain, inner: &Domain) -> Domain {
    let dims: Vec<Var> = outer.dims().iter().chain(inner.dims()).copied().collect();
    if outer.sets().len().saturating_mul(inner.sets().len()) > MAX_PARTS {
        return Domain::of_sets(dims, outer.sets().to_vec());
    }
    let mut sets: Vec<Set> = Vec::new();
    for a in outer.sets() {
        for b in inner.sets() {
            // A condition that cannot be represented is left out: more points, never fewer.
            sets.push(a.intersect(b).unwrap_or_else(|_| a.clone()));
        }
    }
    Domain::of_sets(dims, sets)
}
