//! The dependence relation of a group: which point reads which.

use einlang_index::{Affine, Domain, Facts, Map, Quasi, Set, Var};

use super::affine_conditions::Known;
use crate::module::{Axis, Clause, Group, Module, box_of};
use crate::region::{Arg, Combiner, InstKind, Place, Reduction, Region, Subscript};
use crate::types::{Ident, Loc};
use crate::vars::VarTable;

/// A clause of a binding of the group.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Statement {
    /// The binding, by position in the group.
    pub binding: usize,
    /// The clause, by position in the binding.
    pub clause: usize,
}

/// Reads of one statement's points by another's.
#[derive(Clone, PartialEq, Debug)]
pub struct Dependence {
    /// Who reads.
    pub reader: Statement,
    /// Who defines what is read.
    pub writer: Statement,
    /// The reading points: the reader's axes first, then reduction indices and the like.
    pub domain: Domain,
    /// The point that is read, one expression per axis of the writer.
    pub at: Vec<Quasi>,
    /// The read as the text form shows it.
    pub read: String,
    /// Where the read was written.
    pub loc: Loc,
    /// Whether a subscript is data, so that this is only what may be read.
    pub by_data: bool,
}

/// All dependences inside a group. A dependence that cannot be computed is kept without the
/// restriction that failed, which may lose an order but never invents one.
pub fn dependences(module: &Module, group: &Group) -> Vec<Dependence> {
    let mut found = Vec::new();
    let facts = module.facts();
    for (binding, b) in group.bindings.iter().enumerate() {
        for (clause, c) in b.clauses.iter().enumerate() {
            let reader = Statement { binding, clause };
            // Fresh names are needed only here, so they go into a copy of the table.
            let vars = module.vars.clone();
            let mut collector = Collector { group, facts: &facts, reader, vars, found: &mut found };
            collector.clause(c, c.domain.0.clone(), &Known::default());
        }
    }
    found
}

struct Collector<'a> {
    group: &'a Group,
    facts: &'a Facts,
    reader: Statement,
    vars: VarTable,
    found: &'a mut Vec<Dependence>,
}

impl Collector<'_> {
    fn clause(&mut self, clause: &Clause, over: Domain, known: &Known) {
        for region in clause.guard.iter().chain([&clause.body]) {
            self.region(region, over.clone(), known.clone());
        }
    }

    fn region(&mut self, region: &Region, over: Domain, mut known: Known) {
        for inst in &region.insts {
            inst.args().into_iter().for_each(|arg| self.whole(arg, &over, inst.loc));
            match &inst.kind {
                InstKind::Read(read) => {
                    self.place(&read.place, &over, inst.loc);
                    read.default.iter().for_each(|r| self.region(r, over.clone(), known.clone()));
                }
                InstKind::If { condition, then, otherwise } => {
                    for (arm, holds) in [(then, true), (otherwise, false)] {
                        let part = known.domain(condition, holds, over.dims());
                        let part = part.and_then(|part| over.intersect(&part).ok());
                        self.region(arm, part.unwrap_or_else(|| over.clone()), known.clone());
                    }
                }
                InstKind::Reduce(reduction) => self.reduction(reduction, &over, &known),
                InstKind::Group(group) => {
                    for clause in group.bindings.iter().flat_map(|binding| &binding.clauses) {
                        self.clause(clause, extended(&over, &clause.domain), &known);
                    }
                    let until = group.until.iter().map(|until| &until.condition);
                    until.for_each(|region| self.region(region, over.clone(), known.clone()));
                }
                _ => {
                    for region in inst.regions() {
                        self.region(region, over.clone(), known.clone());
                    }
                }
            }
            known.learn(inst);
        }
        region.results.iter().for_each(|arg| self.whole(arg, &over, Loc::default()));
    }

    /// A tensor that is passed on as a whole is read at every point.
    fn whole(&mut self, arg: &Arg, over: &Domain, loc: Loc) {
        let Arg::Tensor(name) = arg else { return };
        let Some(binding) = self.group.bindings.iter().find(|b| b.name == *name) else { return };
        let any = |axis: &Axis| Axis { var: self.vars.index("any"), dim: axis.dim.clone() };
        let axes: Vec<Axis> = binding.axes.iter().map(any).collect();
        let domain = box_of(&axes).map_or_else(|_| over.clone(), |points| extended(over, &points));
        let at = axes.iter().map(|axis| Subscript::Index(axis.var.into())).collect();
        self.place(&Place { tensor: name.clone(), at }, &domain, loc);
    }

    fn reduction(&mut self, reduction: &Reduction, over: &Domain, known: &Known) {
        if let Combiner::Region(combine) = &reduction.combine {
            self.region(combine, over.clone(), known.clone());
        }
        let inside = extended(over, &reduction.domain);
        for region in reduction.guard.iter().chain([&reduction.body]) {
            self.region(region, inside.clone(), known.clone());
        }
    }

    /// The dependences of one read: one for each clause of what is read.
    fn place(&mut self, place: &Place, over: &Domain, loc: Loc) {
        let Some(binding) = self.group.bindings.iter().position(|b| b.name == place.tensor) else {
            return;
        };
        let target = &self.group.bindings[binding];
        if place.at.len() != target.axes.len() {
            return;
        }
        let mut domain = over.clone();
        let mut at = Vec::with_capacity(place.at.len());
        let mut by_data = false;
        for (subscript, axis) in place.at.iter().zip(&target.axes) {
            match subscript {
                Subscript::Index(expr) => at.push(expr.clone()),
                Subscript::Value(_) => {
                    // Any point along the axis.
                    let any = Axis { var: self.vars.index("any"), dim: axis.dim.clone() };
                    at.push(any.var.into());
                    domain = box_of(&[any]).map_or(domain.clone(), |part| extended(&domain, &part));
                    by_data = true;
                }
            }
        }
        for clause in 0..target.clauses.len() {
            let writer = Statement { binding, clause };
            let read = self.show(&place.tensor, &place.at);
            let covered = self.covered(&domain, &target.clauses[clause].domain, &at);
            if !covered.always_empty_given(self.facts.set()).is_true() {
                let (reader, at) = (self.reader, at.clone());
                let dependence =
                    Dependence { reader, writer, domain: covered, at, read, loc, by_data };
                self.found.push(dependence);
            }
        }
    }

    /// The reading points whose target lies in the writer's domain.
    fn covered(&self, domain: &Domain, written: &Domain, at: &[Quasi]) -> Domain {
        let map = Map::new(domain.dims(), at);
        let part = written.preimage(&map).and_then(|part| domain.intersect(&part));
        part.unwrap_or_else(|_| domain.clone())
    }

    fn show(&self, tensor: &Ident, at: &[Subscript]) -> String {
        let subscript = |subscript: &Subscript| match subscript {
            Subscript::Index(expr) => expr.display(self.vars.names()).to_string(),
            Subscript::Value(arg) => arg.to_string(),
        };
        let at: Vec<String> = at.iter().map(subscript).collect();
        format!("{tensor}[{}]", at.join(", "))
    }
}

/// The points of `outer` with further dimensions.
fn extended(outer: &Domain, inner: &Domain) -> Domain {
    let dims: Vec<Var> = outer.dims().iter().chain(inner.dims()).copied().collect();
    let mut sets: Vec<Set> = Vec::new();
    for a in outer.sets() {
        for b in inner.sets() {
            // A condition that cannot be represented is left out: more points, never fewer.
            sets.push(a.intersect(b).unwrap_or_else(|_| a.clone()));
        }
    }
    Domain::of_sets(dims, sets)
}

impl Dependence {
    /// How much later the reader is than what it reads, for forms without offsets.
    pub(super) fn distance(
        &self,
        reader_axes: &[Var],
        reader: &[i64],
        writer: &[i64],
    ) -> einlang_index::Result<Quasi> {
        let own = reader_axes.iter().copied().zip(reader.iter().copied());
        let mut distance = Quasi::from(Affine::new(0, own)?);
        for (expr, coefficient) in self.at.iter().zip(writer) {
            let negated = coefficient.checked_neg().ok_or(einlang_index::GaveUp::Overflow)?;
            distance = distance.combine(1, expr, negated)?;
        }
        Ok(distance)
    }
}
