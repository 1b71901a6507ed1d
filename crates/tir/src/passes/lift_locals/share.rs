//! Finding the same computation again.
//!
//! Two groups are the same if their canonical copies are equal and they were written at the same
//! place. Where they are needed may differ: what is shared is defined where either is needed,
//! which can be widened only until things have been moved out of it in turn. A condition on the
//! sizes of the second that are not known yet where the first stands is left out then.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

use einlang_index::{Domain, Result, Set, Var};
use einlang_source::Span;

use super::{Host, Lift};
use crate::fresh::Fresh;
use crate::module::{Group, Module, SymbolSource};
use crate::types::Ident;

/// A computation, whatever its names.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Key {
    /// Compared first, so that different groups are told apart at once.
    hash: u64,
    group: Group,
    places: Vec<Option<Span>>,
}

/// A group that was moved.
pub(super) struct Lifted {
    pub(super) group: Group,
    names: Vec<Ident>,
    extent: Option<Var>,
    /// What it computes; none if it stays apart from others.
    key: Option<Key>,
    /// How many of the axes are those of the points where it is needed.
    n_outer: usize,
    /// Those points.
    outer: Domain,
    /// The domains of its clauses without regard to them.
    inner: Vec<Vec<Domain>>,
}

/// What stands for the members of a group and for the length of its open axis.
#[derive(Clone)]
pub(super) struct Standing {
    pub(super) names: Vec<Ident>,
    pub(super) extent: Option<Var>,
}

/// A group that has its final domains.
pub(super) struct Settled {
    standing: Standing,
    outer: Domain,
}

impl Key {
    fn of(group: &Group) -> Result<Key> {
        let places = group.bindings.iter().map(|binding| binding.loc.0).collect();
        let group = Fresh::canonical().copy_group(group)?;
        let mut hasher = DefaultHasher::new();
        group.hash(&mut hasher);
        Ok(Key { hash: hasher.finish(), group, places })
    }
}

impl Lifted {
    /// `group` has `n_outer` axes in front of its own, over which it is needed at `outer`.
    pub(super) fn new(
        group: Group,
        n_outer: usize,
        outer: Domain,
        derived: bool,
    ) -> Result<Lifted> {
        let key = match derived {
            true => None,
            false => Some(Key::of(&group)?),
        };
        let domains = |binding: &crate::module::Binding| -> Vec<Domain> {
            binding.clauses.iter().map(|clause| clause.domain.0.clone()).collect()
        };
        let inner = group.bindings.iter().map(domains).collect();
        let names = group.bindings.iter().map(|binding| binding.name.clone()).collect();
        let extent = group.until.as_ref().map(|until| until.extent);
        let nowhere = Domain::nothing(outer.dims());
        let mut lifted = Lifted { group, names, extent, key, n_outer, outer: nowhere, inner };
        lifted.limit(outer)?;
        Ok(lifted)
    }

    /// Limits the clauses to the points where the group is needed, or changes nothing.
    fn limit(&mut self, outer: Domain) -> Result<()> {
        let mut limited = Vec::with_capacity(self.inner.len());
        for (binding, inner) in self.group.bindings.iter().zip(&self.inner) {
            let dims = binding.dims();
            let points = outer.renamed(&dims[..self.n_outer])?;
            let points = Domain::of_sets(dims, points.sets().to_vec());
            for inner in inner {
                limited.push(inner.intersect(&points)?.simplified());
            }
        }
        let clauses = self.group.bindings.iter_mut().flat_map(|binding| &mut binding.clauses);
        for (clause, domain) in clauses.zip(limited) {
            clause.domain = domain.into();
        }
        self.outer = outer;
        Ok(())
    }

    fn standing(&self) -> Standing {
        Standing { names: self.names.clone(), extent: self.extent }
    }

    /// What later copies of the group need to know of it.
    pub(super) fn settled(&self) -> Option<(Rc<Key>, Rc<Settled>)> {
        let key = Rc::new(self.key.clone()?);
        let settled = Settled { standing: self.standing(), outer: self.outer.clone() };
        Some((key, Rc::new(settled)))
    }
}

impl Lift<'_> {
    /// Adds a group in front of the host or, if it is one of its own, to the host, unless the same
    /// is there already.
    pub(super) fn place(&mut self, lifted: Lifted, own: bool, host: &mut Host) -> Standing {
        if let Some(standing) = self.again(&lifted, own, host) {
            return standing;
        }
        let standing = lifted.standing();
        let list = if own { &mut host.added } else { &mut host.before };
        list.push(lifted);
        if own {
            host.own.extend(standing.names.iter().cloned());
        }
        standing
    }

    fn again(&mut self, lifted: &Lifted, own: bool, host: &mut Host) -> Option<Standing> {
        let key = lifted.key.as_ref()?;
        let (list, n_looked) = match own {
            true => (&mut host.added, host.n_looked),
            false => (&mut host.before, 0),
        };
        let same = list.iter_mut().enumerate().find(|(_, other)| other.key.as_ref() == Some(key));
        if let Some((at, other)) = same {
            let covered = self.holds(&lifted.outer, &other.outer);
            if !covered && at >= n_looked {
                let known = other.outer.params();
                let added = relaxed(&lifted.outer, &|var| {
                    known.contains(&var) || !is_computed(self.module, var)
                })?;
                let both = other.outer.union(&added).ok()?;
                other.limit(both).ok()?;
            }
            return (covered || at >= n_looked).then(|| other.standing());
        }
        let settled = self.settled.get(key).filter(|_| host.global && !own)?;
        self.holds(&lifted.outer, &settled.outer).then(|| settled.standing.clone())
    }

    /// Whether all points of one domain are points of another.
    fn holds(&self, points: &Domain, of: &Domain) -> bool {
        let rest = of.renamed(points.dims()).and_then(|of| points.subtract(&of));
        rest.is_ok_and(|rest| rest.always_empty_given(self.facts.set()).is_true())
    }
}

/// Whether a symbol is known only after some group has been evaluated.
pub(super) fn is_computed(module: &Module, var: Var) -> bool {
    match module.source(var) {
        Some(SymbolSource::Argument | SymbolSource::Shape(..)) => false,
        Some(SymbolSource::Max(of) | SymbolSource::Min(of)) => {
            let mut computed = false;
            // Only earlier symbols count, so this ends.
            let mut look = |v: Var| computed |= v >= var || is_computed(module, v);
            of.iter().for_each(|expr| expr.for_each_var(&mut look));
            computed
        }
        _ => true,
    }
}

/// The domain without the conditions that mention other symbols than those to keep; none if such a
/// condition is one on the points.
pub(super) fn relaxed(domain: &Domain, keep: &dyn Fn(Var) -> bool) -> Option<Domain> {
    let dims = domain.dims();
    let mut sets = Vec::with_capacity(domain.sets().len());
    for set in domain.sets() {
        let mut kept = Vec::new();
        for constraint in set.constraints() {
            let vars: Vec<Var> = constraint.expr().vars().collect();
            if vars.iter().all(|var| dims.contains(var) || keep(*var)) {
                kept.push(constraint);
            } else if vars.iter().any(|var| dims.contains(var)) {
                return None;
            }
        }
        sets.push(Set::new(kept).ok()?);
    }
    Some(Domain::of_sets(dims, sets))
}
