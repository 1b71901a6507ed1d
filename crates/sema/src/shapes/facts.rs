//! What is known of symbols, and the part of it that a question needs.
//!
//! Proofs get slower with every fact, so a question about some variables takes only the facts that
//! are connected to them.

use einlang_source::map::{HashMap, HashSet};

use einlang_index::{Affine, Constraint, Facts, MinMax, Quasi, Truth, Var};

/// All facts of a program.
#[derive(Debug, Default)]
pub(super) struct FactStore {
    facts: Vec<Constraint>,
    by_var: HashMap<Var, Vec<usize>>,
}

/// Facts further away than this from the question rarely matter, and cost much.
const MAX_FACTS: usize = 40;

impl FactStore {
    pub(super) fn len(&self) -> usize {
        self.facts.len()
    }

    /// The facts since some earlier moment.
    pub(super) fn since(&self, start: usize) -> &[Constraint] {
        &self.facts[start.min(self.facts.len())..]
    }

    pub(super) fn add(&mut self, constraint: Constraint) {
        let number = self.facts.len();
        let vars: HashSet<Var> = constraint.expr().vars().collect();
        if vars.is_empty() {
            return;
        }
        for var in vars {
            self.by_var.entry(var).or_default().push(number);
        }
        self.facts.push(constraint);
    }

    pub(super) fn nonnegative(&mut self, var: Var) {
        self.add(Constraint::Ge(Affine::var(var)));
    }

    /// `low <= high`
    pub(super) fn at_most(&mut self, low: &Quasi, high: &Quasi) {
        if let Ok(gap) = high.sub(low)
            && let Some(affine) = gap.as_affine()
        {
            self.add(Constraint::Ge(affine.clone()));
        }
    }

    /// Two values are equal from here on; only what is one expression can be used.
    pub(super) fn equal(&mut self, a: &MinMax, b: &MinMax) {
        if let (Some(a), Some(b)) = (a.as_quasi(), b.as_quasi())
            && let (Some(a), Some(b)) = (a.as_affine(), b.as_affine())
            && let Ok(constraint) = Constraint::equal(a, b)
        {
            self.add(constraint);
        }
    }

    /// The facts that are connected to some variables.
    pub(super) fn about(&self, vars: impl IntoIterator<Item = Var>) -> Facts {
        let mut open: Vec<Var> = vars.into_iter().collect();
        open.sort_unstable();
        open.dedup();
        let mut seen: HashSet<Var> = open.iter().copied().collect();
        let mut taken: Vec<usize> = Vec::new();
        let mut taken_set: HashSet<usize> = HashSet::default();
        let mut at = 0;
        while at < open.len() && taken.len() < MAX_FACTS {
            for number in self.by_var.get(&open[at]).into_iter().flatten() {
                if taken_set.insert(*number) {
                    taken.push(*number);
                    for var in self.facts[*number].expr().vars() {
                        if seen.insert(var) {
                            open.push(var);
                        }
                    }
                }
            }
            at += 1;
        }
        taken.sort_unstable();
        let mut facts = Facts::new();
        for number in taken {
            facts.assume(self.facts[number].clone());
        }
        facts
    }

    /// Whether two values are equal, with what is known of their variables.
    pub(super) fn compare(&self, a: &MinMax, b: &MinMax) -> Truth {
        if a == b {
            return Truth::True;
        }
        if let (Some(a), Some(b)) = (a.as_constant(), b.as_constant()) {
            return if a == b { Truth::True } else { Truth::False };
        }
        self.about(vars_of([a, b])).equal(a, b)
    }

    /// The value with what is known used to make it short.
    pub(super) fn simplified(&self, value: &MinMax) -> MinMax {
        match value {
            MinMax::Value(_) => value.clone(),
            _ => value.simplified(&self.about(vars_of([value]))),
        }
    }
}

/// The variables of some values.
pub(super) fn vars_of<'a>(values: impl IntoIterator<Item = &'a MinMax>) -> Vec<Var> {
    let mut vars = Vec::new();
    for value in values {
        value.for_each_var(&mut |var| vars.push(var));
    }
    vars
}
