//! Index expressions in patterns.

use einlang_index::{Affine, Domain, MinMax, Quasi, Set, Var, VarKind};

use super::Reader;

impl Reader<'_> {
    pub(super) fn affine(&mut self, affine: &Affine) {
        self.count(affine.terms().len());
        for (var, coefficient) in affine.terms() {
            self.var(*var);
            self.say(&[*coefficient]);
        }
        self.say(&[affine.constant_part()]);
    }

    pub(super) fn quasi(&mut self, expr: &Quasi) {
        self.affine(expr.affine());
        self.count(expr.divisions().len());
        for (division, coefficient) in expr.divisions() {
            self.say(&[division.op as i64, division.divisor, *coefficient]);
            self.quasi(&division.number);
        }
    }

    pub(super) fn bounds(&mut self, bound: &MinMax) {
        let (word, list) = match bound {
            MinMax::Value(expr) => {
                self.say(&[0]);
                return self.quasi(expr);
            }
            MinMax::Min(list) => (1, list),
            MinMax::Max(list) => (2, list),
        };
        self.say(&[word, list.len() as i64]);
        list.iter().for_each(|bound| self.bounds(bound));
    }

    pub(super) fn domain(&mut self, domain: &Domain) {
        self.count(domain.dims().len());
        domain.dims().iter().for_each(|var| self.var(*var));
        self.count(domain.sets().len());
        domain.sets().iter().for_each(|set| self.set(set));
    }

    pub(super) fn set(&mut self, set: &Set) {
        for list in [set.eqs(), set.ges()] {
            self.count(list.len());
            list.iter().for_each(|affine| self.affine(affine));
        }
        self.count(set.mods().len());
        for congruence in set.mods() {
            self.say(&[congruence.modulus(), congruence.at_most()]);
            self.affine(congruence.expr());
        }
    }

    /// A subscript, or what an index is bound to.
    pub(super) fn place(&mut self, expr: &Quasi) {
        let affine = expr.as_affine().filter(|_| self.loose);
        let parts = affine.and_then(|affine| {
            let is_size = |var: Var| var.kind() == VarKind::Symbol && !self.bound.contains(&var);
            let (sizes, rest): (Vec<_>, Vec<_>) =
                affine.terms().iter().copied().partition(|(var, _)| is_size(*var));
            let offset = Affine::new(0, sizes).ok()?;
            let rest = Affine::new(affine.constant_part(), rest).ok()?;
            (!rest.terms().is_empty()).then_some((offset, rest))
        });
        match &parts {
            Some((_, rest)) => {
                self.say(&[2]);
                self.affine(rest);
            }
            None => {
                self.say(&[0]);
                self.quasi(expr);
            }
        }
        self.found.offsets.push(parts.map(|(offset, _)| offset));
    }
}
