//! `widen_sums`: sums below a diagonal are computed everywhere, and what does not count is chosen away.
//!
//! Lanes and rows of a contraction go through the same terms. A sum `b in 0..a` whose lanes run along `a`
//! has different ones in every lane, and a sum that has terms only where `a > b` has different rows. Both
//! become sums over all values: in the first the terms beyond the bound are nothing (`-0`, to which anything
//! is itself), in the second the whole is 0 where the condition does not hold. That is at most twice the work,
//! in tiles instead of one by one.
//!
//! Invariant: every point has the value that it had but for the association of its sums. Nothing is read
//! that was not proved to exist, nothing may trap, and points of the group itself are never read.

use einlang_index::{Constraint, Domain, Facts, Quasi, Set, Var};
use einlang_tir::constant::Const;
use einlang_tir::module::{Clause, Group, Module, Supply};
use einlang_tir::op::Op;
use einlang_tir::passes::Ctx;
use einlang_tir::region::{
    Arg, Combiner, Def, Inst, InstKind, Read, Reduction, Region, Start, Subscript, Value,
};
use einlang_tir::types::{Elem, Ident};
use rustc_hash::FxHashMap as HashMap;

/// Widens the sums of a module.
pub fn widen_sums(mut module: Module, ctx: &Ctx) -> Module {
    if ctx.checked || !module.properties.disjoint {
        return module;
    }
    let facts = module.facts();
    let mut shapes: HashMap<Ident, Vec<Quasi>> = HashMap::default();
    for input in &module.inputs {
        let extents = input.ty.dims.iter().map(|dim| dim.extent.clone());
        shapes.insert(input.name.clone(), extents.collect());
    }
    for binding in module.bindings() {
        let extents = binding.axes.iter().map(|axis| axis.dim.extent.clone());
        shapes.insert(binding.name.clone(), extents.collect());
    }
    let mut changed = false;
    let (groups, supply) = (&mut module.groups, &mut module.supply);
    for group in groups.iter_mut().filter(|group| group.until.is_none()) {
        let own = names(group);
        let others = |name: &Ident| shapes.get(name).filter(|_| !own.contains(name));
        let clauses = group.bindings.iter_mut().flat_map(|binding| &mut binding.clauses);
        for clause in clauses.filter(|clause| clause.guard.is_none()) {
            changed |= Widen { facts: &facts, shape: &others, supply }.clause(clause);
        }
    }
    module.properties.speculated |= changed;
    module
}

fn names(group: &Group) -> Vec<Ident> {
    group.bindings.iter().map(|binding| binding.name.clone()).collect()
}

struct Widen<'w, 's> {
    facts: &'w Facts,
    /// The extents of a tensor that may be read where it was not.
    shape: &'w dyn Fn(&Ident) -> Option<&'w Vec<Quasi>>,
    supply: &'s mut Supply,
}

/// What makes a sum smaller than its box.
enum Edge {
    /// The last term depends on the lane.
    Terms(Constraint),
    /// Whether there are terms depends on several indices of the clause.
    Points(Constraint),
}

impl Widen<'_, '_> {
    fn clause(&mut self, clause: &mut Clause) -> bool {
        let mut insts = Vec::with_capacity(clause.body.insts.len());
        let mut changed = false;
        for inst in std::mem::take(&mut clause.body.insts) {
            match self.widened(&clause.domain, &inst) {
                Some(list) => {
                    changed = true;
                    insts.extend(list);
                }
                None => insts.push(inst),
            }
        }
        clause.body.insts = insts;
        changed
    }

    fn widened(&mut self, points: &Domain, inst: &Inst) -> Option<Vec<Inst>> {
        let (InstKind::Reduce(reduction), [Def::Scalar(result)]) = (&inst.kind, &inst.results[..])
        else {
            return None;
        };
        let plain = matches!(result.elem, Elem::F32 | Elem::F64)
            && reduction.guard.is_none()
            && reduction.flags.reassociable
            && matches!(reduction.combine, Combiner::Op(Op::Add))
            && matches!(reduction.start, Start::Identity(_));
        let edge = edge(points.dims(), reduction).filter(|_| plain)?;
        let over = self.without(points, reduction, &edge)?;
        let reads = self.reads(points, &over, &reduction.body)?;
        let mut wide = Reduction { domain: over.into(), ..(**reduction).clone() };
        match edge {
            Edge::Points(condition) => {
                let all = self.supply.value(result.elem);
                let (mut insts, holds) = self.holds(&condition, inst);
                let kind = InstKind::Reduce(Box::new(wide));
                insts.push(Inst { results: vec![Def::Scalar(all)], kind, loc: inst.loc });
                let nothing = Const::float(result.elem, 0.0);
                insts.push(self.chosen(inst, holds, all.into(), nothing, *result));
                Some(insts)
            }
            Edge::Terms(condition) => {
                is_contraction(points.dims(), &reads).then_some(())?;
                let [term] = &wide.body.results[..] else { return None };
                let (term, counted) = (term.clone(), self.supply.value(result.elem));
                let (insts, holds) = self.holds(&condition, inst);
                // The condition stands first, so that a product stays beside its choice.
                wide.body.insts.splice(0..0, insts);
                let nothing = Const::float(result.elem, -0.0);
                wide.body.insts.push(self.chosen(inst, holds, term, nothing, counted));
                wide.body.results = vec![counted.into()];
                Some(vec![Inst { kind: InstKind::Reduce(Box::new(wide)), ..inst.clone() }])
            }
        }
    }

    /// The values of the indices of a sum without its edge.
    fn without(&self, points: &Domain, reduction: &Reduction, edge: &Edge) -> Option<Domain> {
        let ([outer], [set]) = (points.sets(), reduction.domain.sets()) else { return None };
        let dims = reduction.domain.dims();
        let rest = |condition: &Constraint| Set::new(set.constraints().filter(|c| c != condition));
        match edge {
            Edge::Points(condition) => Some(Domain::new(dims, rest(condition).ok()?)),
            Edge::Terms(_) => {
                let all: Vec<Var> = points.dims().iter().chain(dims).copied().collect();
                let both = Domain::new(all, outer.intersect(set).ok()?);
                let wide = both.project(dims).ok()?.simplified_given(self.facts.set());
                (wide.sets().len() == 1).then_some(wide)
            }
        }
    }

    /// The reads of a term, if it may be computed everywhere.
    fn reads<'r>(&self, points: &Domain, over: &Domain, body: &'r Region) -> Option<Vec<&'r Read>> {
        let ([outer], [set]) = (points.sets(), over.sets()) else { return None };
        let dims: Vec<Var> = points.dims().iter().chain(over.dims()).copied().collect();
        let everywhere = Domain::new(dims, outer.intersect(set).ok()?);
        let holds = |expr: &Quasi| self.facts.prove(&everywhere, expr).is_true();
        let mut reads = Vec::new();
        for inst in &body.insts {
            match &inst.kind {
                InstKind::Index(_) => {}
                InstKind::Op(op, args) => {
                    let traps = |arg: &Arg| arg.elem().is_some_and(|elem| op.may_trap(elem, false));
                    if args.iter().any(traps) {
                        return None;
                    }
                }
                InstKind::Read(read) if read.proved && read.default.is_none() => {
                    let shape = (self.shape)(&read.place.tensor)?;
                    for (at, extent) in read.place.at.iter().zip(shape) {
                        let Subscript::Index(at) = at else { return None };
                        let left = extent.sub(at).and_then(|left| left.add_constant(-1)).ok()?;
                        if !holds(at) || !holds(&left) {
                            return None;
                        }
                    }
                    reads.push(read);
                }
                _ => return None,
            }
        }
        Some(reads)
    }

    /// Instructions that ask whether a condition holds.
    fn holds(&mut self, condition: &Constraint, at: &Inst) -> (Vec<Inst>, Value) {
        let (number, holds) = (self.supply.value(Elem::I64), self.supply.value(Elem::Bool));
        let of = |value: Value, kind: InstKind| Inst {
            results: vec![Def::Scalar(value)],
            kind,
            loc: at.loc,
        };
        let index = InstKind::Index(Quasi::from(condition.expr().clone()));
        let args = vec![Arg::Value(number), Const::int(Elem::I64, 0).into()];
        (vec![of(number, index), of(holds, InstKind::Op(Op::Ge, args))], holds)
    }

    fn chosen(&self, at: &Inst, holds: Value, yes: Arg, no: Const, result: Value) -> Inst {
        let kind = InstKind::Op(Op::Select, vec![holds.into(), yes, no.into()]);
        Inst { results: vec![Def::Scalar(result)], kind, loc: at.loc }
    }
}

/// The one condition of a sum that compares indices.
fn edge(dims: &[Var], reduction: &Reduction) -> Option<Edge> {
    let [set] = reduction.domain.sets() else { return None };
    let (own, last) = (reduction.domain.dims(), *dims.last()?);
    let mut found = None;
    for constraint in set.constraints() {
        let expr = constraint.expr();
        let outer: Vec<Var> = dims.iter().copied().filter(|var| expr.mentions(*var)).collect();
        let inner: Vec<Var> = own.iter().copied().filter(|var| expr.mentions(*var)).collect();
        if outer.is_empty() {
            continue;
        }
        let unit = outer.iter().chain(&inner).all(|var| expr.coeff(*var).abs() == 1);
        let edge = match (&constraint, &outer[..], &inner[..]) {
            (Constraint::Ge(_), [var], [_]) if *var == last => Edge::Terms(constraint.clone()),
            (Constraint::Ge(_), [_, _], []) => Edge::Points(constraint.clone()),
            _ => return None,
        };
        if found.is_some() || !unit {
            return None;
        }
        found = Some(edge);
    }
    found
}

/// Whether what moves along the last index of a clause is shared by the rows of another.
fn is_contraction(dims: &[Var], reads: &[&Read]) -> bool {
    let Some((last, others)) = dims.split_last() else { return false };
    let moves = |read: &Read, var: Var| {
        read.place.at.iter().any(|at| matches!(at, Subscript::Index(at) if at.mentions(var)))
    };
    others.iter().any(|row| {
        let along = || reads.iter().filter(|read| moves(read, *last));
        along().count() > 0 && !along().any(|read| moves(read, *row))
    })
}
