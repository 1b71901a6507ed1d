//! Conjunctions of constraints: the convex (up to congruences) pieces of a [`crate::Domain`].
//!
//! Invariant: a set is always in the normal form of `conj` with reduced congruences, so
//! two sets built from the same constraints in any order are identical, and a set that contradicts
//! itself pairwise is exactly [`Set::nothing`]. A set does not know which of its variables are
//! dimensions; its domain does.

use crate::affine::Affine;
use crate::conj::{Added, add_ge, normalise};
use crate::constraint::{Congruence, Constraint, Reduced};
use crate::error::Result;
use crate::var::{Named, Var, Vars};

/// The points where all constraints hold.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Set {
    eqs: Vec<Affine>,
    ges: Vec<Affine>,
    mods: Vec<Congruence>,
}

impl Set {
    /// Every point.
    pub fn everything() -> Set {
        Set::default()
    }

    /// No point.
    pub fn nothing() -> Set {
        Set { ges: vec![Affine::constant(-1)], ..Set::default() }
    }

    /// The points where all the constraints hold.
    pub fn new(constraints: impl IntoIterator<Item = Constraint>) -> Result<Set> {
        let (mut eqs, mut ges, mut mods) = (Vec::new(), Vec::new(), Vec::new());
        for constraint in constraints {
            match constraint {
                Constraint::Eq(a) => eqs.push(a),
                Constraint::Ge(a) => ges.push(a),
                Constraint::Mod(c) => mods.push(c),
            }
        }
        Set::from_parts(eqs, ges, mods)
    }

    /// Normalises the parts.
    pub(crate) fn from_parts(
        mut eqs: Vec<Affine>,
        mut ges: Vec<Affine>,
        mods: Vec<Congruence>,
    ) -> Result<Set> {
        let mut reduced = Vec::with_capacity(mods.len());
        for c in mods {
            match Congruence::reduced(&c.expr, c.modulus, c.at_most)? {
                Reduced::Always => {}
                Reduced::Never => return Ok(Set::nothing()),
                Reduced::To(c) => reduced.push(c),
            }
        }
        reduced.sort_unstable();
        // Of congruences that differ only in what they allow, the tightest sorts first.
        reduced.dedup_by(|b, a| a.expr == b.expr && a.modulus == b.modulus);
        if !normalise(&mut eqs, &mut ges)? {
            return Ok(Set::nothing());
        }
        Ok(Set { eqs, ges, mods: reduced })
    }

    /// The equalities, each meaning `expr = 0`.
    pub fn eqs(&self) -> &[Affine] {
        &self.eqs
    }

    /// The inequalities, each meaning `expr >= 0`.
    pub fn ges(&self) -> &[Affine] {
        &self.ges
    }

    /// The congruences.
    pub fn mods(&self) -> &[Congruence] {
        &self.mods
    }

    /// All constraints.
    pub fn constraints(&self) -> impl Iterator<Item = Constraint> + '_ {
        let eqs = self.eqs.iter().cloned().map(Constraint::Eq);
        let ges = self.ges.iter().cloned().map(Constraint::Ge);
        eqs.chain(ges).chain(self.mods.iter().cloned().map(Constraint::Mod))
    }

    /// The expressions of all constraints.
    pub(crate) fn affines(&self) -> impl Iterator<Item = &Affine> {
        self.eqs.iter().chain(&self.ges).chain(self.mods.iter().map(|c| &c.expr))
    }

    /// The constraints as `n` sets: `place` says where one belongs, by its expression; those that
    /// belong nowhere are left out. What is in normal form stays so in parts.
    pub(crate) fn divided(&self, n: usize, place: &dyn Fn(&Affine) -> Option<usize>) -> Vec<Set> {
        let mut sets = vec![Set::everything(); n];
        let at = |affine: &Affine| place(affine).filter(|at| *at < n);
        for (at, eq) in self.eqs.iter().filter_map(|eq| Some((at(eq)?, eq))) {
            sets[at].eqs.push(eq.clone());
        }
        for (at, ge) in self.ges.iter().filter_map(|ge| Some((at(ge)?, ge))) {
            sets[at].ges.push(ge.clone());
        }
        for (at, congruence) in self.mods.iter().filter_map(|c| Some((at(&c.expr)?, c))) {
            sets[at].mods.push(congruence.clone());
        }
        sets
    }

    /// Some of the constraints: those for which `kept` is true, in the order of [`Set::affines`].
    pub(crate) fn only(&self, kept: &[bool]) -> Set {
        let (eqs, rest) = kept.split_at(self.eqs.len().min(kept.len()));
        let (ges, mods) = rest.split_at(self.ges.len().min(rest.len()));
        Set {
            eqs: chosen(&self.eqs, eqs),
            ges: chosen(&self.ges, ges),
            mods: chosen(&self.mods, mods),
        }
    }

    /// How many constraints there are.
    pub(crate) fn size(&self) -> usize {
        self.eqs.len() + self.ges.len() + self.mods.len()
    }

    /// True when no constraint is left: every point is in the set.
    pub fn is_everything(&self) -> bool {
        self.size() == 0
    }

    /// True when every constraint bounds a single variable. The normal form has found any
    /// contradiction among such constraints, so unless it is nothing, such a set has a point.
    pub(crate) fn is_box(&self) -> bool {
        let mut affines = self.eqs.iter().chain(&self.ges);
        self.mods.is_empty() && affines.all(|a| a.terms().len() == 1)
    }

    /// True when two constraints were seen to contradict each other. A set may be empty without
    /// this being true; [`crate::Domain::is_empty`] decides.
    pub fn is_nothing(&self) -> bool {
        matches!(&self.ges[..], [a] if a.as_constant().is_some())
    }

    /// The points of both.
    pub fn intersect(&self, other: &Set) -> Result<Set> {
        if self.is_everything() || other.is_nothing() {
            return Ok(other.clone());
        }
        if other.is_everything() || self.is_nothing() {
            return Ok(self.clone());
        }
        let (few, many) = if self.size() < other.size() { (self, other) } else { (other, self) };
        if few.eqs.is_empty()
            && few.mods.is_empty()
            && let Some(both) = many.with_ges(&few.ges)?
        {
            return Ok(both);
        }
        let eqs = [&self.eqs[..], &other.eqs[..]].concat();
        let ges = [&self.ges[..], &other.ges[..]].concat();
        Set::from_parts(eqs, ges, [&self.mods[..], &other.mods[..]].concat())
    }

    /// The points where the constraint holds as well.
    pub fn and(&self, constraint: Constraint) -> Result<Set> {
        if self.is_nothing() {
            return Ok(Set::nothing());
        }
        if let Constraint::Ge(a) = &constraint
            && let Some(set) = self.with_ges(std::slice::from_ref(a))?
        {
            return Ok(set);
        }
        let Set { mut eqs, mut ges, mut mods } = self.clone();
        match constraint {
            Constraint::Eq(a) => eqs.push(a),
            Constraint::Ge(a) => ges.push(a),
            Constraint::Mod(c) => mods.push(c),
        }
        Set::from_parts(eqs, ges, mods)
    }

    /// The points where inequalities hold as well; nothing if that takes another normal form.
    fn with_ges(&self, more: &[Affine]) -> Result<Option<Set>> {
        let mut set = self.clone();
        for ge in more {
            match add_ge(&set.eqs, &mut set.ges, ge)? {
                Added::Fits => {}
                Added::Never => return Ok(Some(Set::nothing())),
                Added::Meets => return Ok(None),
            }
        }
        Ok(Some(set))
    }

    /// The set with every variable replaced at once.
    pub fn replace(&self, value: &mut dyn FnMut(Var) -> Option<Affine>) -> Result<Set> {
        let replaced: Result<Vec<Constraint>> =
            self.constraints().map(|c| Ok(c.with_expr(c.expr().replace(value)?))).collect();
        Set::new(replaced?)
    }

    /// The set with `value` in place of `var`.
    pub fn substitute(&self, var: Var, value: &Affine) -> Result<Set> {
        if !self.mentions(var) {
            return Ok(self.clone());
        }
        self.replace(&mut |v| (v == var).then(|| value.clone()))
    }

    /// The set with other variables, which are in the same order.
    pub(crate) fn renamed(&self, name: &dyn Fn(Var) -> Var) -> Set {
        let all = |list: &[Affine]| list.iter().map(|affine| affine.renamed(name)).collect();
        let mods = self.mods.iter().map(|of| Congruence { expr: of.expr.renamed(name), ..*of });
        Set { eqs: all(&self.eqs), ges: all(&self.ges), mods: mods.collect() }
    }

    /// True when `var` occurs.
    pub fn mentions(&self, var: Var) -> bool {
        self.affines().any(|a| a.mentions(var))
    }

    /// The variables that occur, each once.
    pub fn vars(&self) -> Vec<Var> {
        let mut vars: Vec<Var> = self.affines().flat_map(Affine::vars).collect();
        vars.sort_unstable();
        vars.dedup();
        vars
    }

    /// True when the point is in the set.
    pub fn contains(&self, value: &dyn Fn(Var) -> i64) -> Result<bool> {
        for expr in &self.ges {
            if expr.eval(value)? < 0 {
                return Ok(false);
            }
        }
        for expr in &self.eqs {
            if expr.eval(value)? != 0 {
                return Ok(false);
            }
        }
        for congruence in &self.mods {
            if !congruence.holds(value)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Prints with the names of `vars`, as `i >= 0 and i < n`.
    pub fn display<'a>(&'a self, vars: &'a Vars) -> Named<'a, Set> {
        Named::new(self, vars)
    }
}

/// The items of a list for which `kept` is true.
fn chosen<T: Clone>(list: &[T], kept: &[bool]) -> Vec<T> {
    let both = list.iter().zip(kept).filter(|(_, kept)| **kept);
    both.map(|(item, _)| item.clone()).collect()
}
