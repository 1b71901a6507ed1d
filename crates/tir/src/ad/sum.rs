//! Sums over the points of a domain, with every index that is determined put in by its value.
//!
//! The transposed read of a stencil or an elementwise map has one point per summand: what looks
//! like a sum over all consumers is then plain code under a condition. That holds for consumers in several
//! parts too, such as the rim of a grid, where all parts determine the index in the same way.

use einlang_index::{Affine, Domain, Set, Var};

use super::context::{Ad, zero};
use super::fault::R;
use crate::constant::Const;
use crate::op::Op;
use crate::region::{Arg, Combiner, Inst, InstKind, ReduceFlags, Reduction, Region, Start};
use crate::substitute::Substitution;
use crate::types::{Elem, Loc};

/// A sum that is to be written down.
pub(super) struct Sum {
    /// What is summed over; the indices of the binding around are parameters.
    pub(super) domain: Domain,
    /// Conditions, each to be asked only if those before hold.
    pub(super) guards: Vec<Region>,
    /// Yields the summand.
    pub(super) body: Region,
    pub(super) elem: Elem,
    pub(super) loc: Loc,
}

impl Ad<'_> {
    /// Writes a sum into the body of a clause over `around`. `None` is zero.
    pub(super) fn sum(&mut self, out: &mut Vec<Inst>, sum: Sum, around: &Domain) -> R<Option<Arg>> {
        let Sum { domain, mut guards, mut body, elem, loc } = sum;
        let assumed = self.facts.set().clone();
        let domain = without_empty(&domain, around, &assumed)?;
        if domain.sets().is_empty() {
            return Ok(None);
        }
        let (domain, values) = solved(&domain)?;
        if !values.vars.is_empty() {
            values.region(&mut body)?;
            guards.iter_mut().try_for_each(|guard| values.region(guard))?;
        }
        self.prove_reads(&mut body, &domain, around);
        let guard = self.chain(guards);
        if !domain.dims().is_empty() {
            let flags = ReduceFlags { commutative: true, idempotent: false, reassociable: true };
            let start = Start::Identity(vec![zero(elem)]);
            let combine = Combiner::Op(Op::Add);
            // What holds around the sum need not be said again.
            let context = match around.sets() {
                [set] => set.intersect(&assumed).unwrap_or(assumed),
                _ => assumed,
            };
            let domain = domain.simplified_given(&context).into();
            let reduction = Reduction { domain, guard, body, combine, start, flags };
            return Ok(Some(self.push(out, elem, InstKind::Reduce(Box::new(reduction)), loc)));
        }
        let mut conditions = Vec::new();
        if let Some(condition) = self.holds(out, &domain, around)? {
            conditions.push(Region::yielding([condition]));
        }
        conditions.extend(guard);
        let Some(guard) = self.chain(conditions) else {
            out.extend(body.insts);
            return Ok(body.results.first().cloned());
        };
        out.extend(guard.insts);
        let condition = guard.results.first().cloned().unwrap_or(Const::bool(true).into());
        let otherwise = Region::yielding([zero(elem)]);
        Ok(Some(self.branch(out, condition, body, otherwise, elem)))
    }

    /// Whether a domain without dimensions has its point; `None` where that is certain.
    fn holds(&mut self, out: &mut Vec<Inst>, domain: &Domain, around: &Domain) -> R<Option<Arg>> {
        let part = Domain::of_sets(around.dims(), domain.sets().iter().cloned());
        let rest = around.subtract(&part);
        if rest.is_ok_and(|rest| rest.always_empty_given(self.facts.set()).is_true()) {
            return Ok(None);
        }
        let mut any: Option<Arg> = None;
        for set in domain.sets() {
            let mut all: Option<Arg> = None;
            let context = around.sets().len() == 1;
            for constraint in set.constraints() {
                if context && self.is_implied(around, &constraint) {
                    continue;
                }
                let holds = self.constraint(out, &constraint)?;
                all = Some(match all {
                    None => holds,
                    Some(all) => self.op(out, Op::And, vec![all, holds], Elem::Bool),
                });
            }
            let all = all.unwrap_or(Const::bool(true).into());
            any = Some(match any {
                None => all,
                Some(any) => self.op(out, Op::Or, vec![any, all], Elem::Bool),
            });
        }
        Ok(any)
    }

    fn is_implied(&self, around: &Domain, constraint: &einlang_index::Constraint) -> bool {
        let Ok(set) = Set::new([constraint.clone()]) else { return false };
        let part = Domain::new(around.dims(), set);
        let rest = around.subtract(&part);
        rest.is_ok_and(|rest| rest.always_empty_given(self.facts.set()).is_true())
    }

    pub(super) fn constraint(
        &mut self,
        out: &mut Vec<Inst>,
        constraint: &einlang_index::Constraint,
    ) -> R<Arg> {
        use einlang_index::Constraint;
        let index = |ad: &mut Self, out: &mut Vec<Inst>, expr: einlang_index::Quasi| {
            ad.push(out, Elem::I64, InstKind::Index(expr), Loc::default())
        };
        let zero: Arg = Const::zero(Elem::I64).into();
        Ok(match constraint {
            Constraint::Eq(expr) => {
                let value = index(self, out, expr.clone().into());
                self.op(out, Op::Eq, vec![value, zero], Elem::Bool)
            }
            Constraint::Ge(expr) => {
                let value = index(self, out, expr.clone().into());
                self.op(out, Op::Ge, vec![value, zero], Elem::Bool)
            }
            Constraint::Mod(congruence) => {
                let expr = einlang_index::Quasi::from(congruence.expr().clone());
                let value = index(self, out, expr.floor_mod(congruence.modulus())?);
                let most = Const::int(Elem::I64, congruence.at_most().into()).into();
                self.op(out, Op::Le, vec![value, most], Elem::Bool)
            }
        })
    }
}

/// The parts that can have a point where the surroundings have one.
fn without_empty(domain: &Domain, around: &Domain, assumed: &Set) -> R<Domain> {
    let mut sets = Vec::new();
    for set in domain.sets() {
        let mut lives = around.sets().is_empty();
        for outer in around.sets() {
            let both = set.intersect(outer)?.intersect(assumed)?;
            lives |= !Domain::new(domain.dims(), both).is_empty().is_true();
        }
        if lives {
            sets.push(set.clone());
        }
    }
    Ok(Domain::of_sets(domain.dims(), sets))
}

/// The domain without the dimensions that an equality determines, and their values.
fn solved(domain: &Domain) -> R<(Domain, Substitution)> {
    let mut values = Substitution::default();
    let mut domain = domain.clone();
    while let Some((dim, value)) = determined(&domain) {
        let mut sets = Vec::with_capacity(domain.sets().len());
        for set in domain.sets() {
            sets.push(set.substitute(dim, &value)?);
        }
        let one = Substitution {
            vars: [(dim, value.clone().into())].into_iter().collect(),
            ..Substitution::default()
        };
        for known in values.vars.values_mut() {
            *known = one.quasi(known)?;
        }
        values.vars.insert(dim, value.into());
        let dims: Vec<Var> = domain.dims().iter().copied().filter(|d| *d != dim).collect();
        domain = Domain::of_sets(dims, sets);
    }
    Ok((domain, values))
}

/// A dimension that an equality gives as an expression of everything else, the same one in all sets.
fn determined(domain: &Domain) -> Option<(Var, Affine)> {
    let (first, others) = domain.sets().split_first()?;
    for dim in domain.dims().iter().rev() {
        for value in values_of(first, *dim) {
            let same = |set: &Set| values_of(set, *dim).any(|other| other == value);
            if others.iter().all(same) {
                return Some((*dim, value));
            }
        }
    }
    None
}

/// What equalities say of a dimension.
fn values_of(set: &Set, dim: Var) -> impl Iterator<Item = Affine> {
    set.eqs().iter().filter_map(move |eq| match eq.coeff(dim) {
        1 => eq.without(dim).neg().ok(),
        -1 => Some(eq.without(dim)),
        _ => None,
    })
}
