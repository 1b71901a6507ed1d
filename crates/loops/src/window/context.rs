//! What is known of the symbols, and how far an index expression can range.
//!
//! The facts of a module are one conjunction; that a symbol is the larger of two expressions, or
//! the value of a computed integer, is a choice between several. [`Context::range`] looks at all
//! choices that concern an expression and eliminates everything else, so its answer is exact, or
//! it gives up.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use einlang_index::{Constraint, Domain, Quasi, Result, Set, Var};
use einlang_tir::module::{Module, SymbolSource};
use rustc_hash::FxHashMap as HashMap;

/// More combinations of alternatives than this are not looked at.
const MAX_CASES: usize = 128;

/// Numbers from here on are as good as none: windows that large are of no use, and they come from the
/// width of integers, also where a part of an index is read (`x[t / 10]`).
const FAR: u64 = 1 << 20;

/// The values of an expression.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Extent {
    /// There is none: the reads never happen.
    Nothing,
    /// From the least to the largest value, where there are such.
    Values(Option<i64>, Option<i64>),
    /// The index arithmetic gave up.
    Unknown,
}

/// What is known of the symbols.
#[derive(Clone, Debug)]
pub(super) struct Context {
    facts: Vec<(Constraint, Vec<Var>)>,
    /// The facts that mention a variable.
    about: HashMap<Var, Vec<usize>>,
    /// Symbols one of whose sets holds.
    choices: BTreeMap<Var, Vec<Set>>,
    /// A variable that nothing else uses.
    value: Var,
}

impl Context {
    /// What a module says of its symbols. `value` is a variable that occurs nowhere.
    pub(super) fn new(module: &Module, value: Var) -> Context {
        let (facts, about) = (Vec::new(), HashMap::default());
        let mut context = Context { facts, about, choices: BTreeMap::new(), value };
        context.assume(module.facts().set().constraints());
        for symbol in &module.symbols {
            match &symbol.source {
                SymbolSource::Max(of) => context.extreme(symbol.var, of, 1),
                SymbolSource::Min(of) => context.extreme(symbol.var, of, -1),
                _ => {}
            }
        }
        context
    }

    /// Adds constraints that hold at every point.
    pub(super) fn assume(&mut self, constraints: impl IntoIterator<Item = Constraint>) {
        for constraint in constraints {
            let vars = vars_of(&constraint);
            for var in &vars {
                self.about.entry(*var).or_default().push(self.facts.len());
            }
            self.facts.push((constraint, vars));
        }
    }

    /// Adds that a variable has the value of an expression.
    pub(super) fn define(&mut self, var: Var, value: &Quasi) {
        let gap = Quasi::from(var).sub(value);
        match gap.and_then(|gap| Domain::where_zero(Vec::new(), &gap)) {
            Ok(domain) if domain.sets().len() == 1 => {
                let constraints: Vec<Constraint> = domain.sets()[0].constraints().collect();
                self.assume(constraints);
            }
            Ok(domain) => {
                self.choices.insert(var, domain.sets().to_vec());
            }
            Err(_) => {}
        }
    }

    /// A symbol is the largest (`sign` 1) or smallest (-1) of some expressions.
    pub(super) fn extreme(&mut self, var: Var, of: &[Quasi], sign: i64) {
        let one = |chosen: usize| -> Result<Vec<Set>> {
            let dims: Vec<Var> = Vec::new();
            let mut domain = Domain::everything(dims.clone());
            for (at, expr) in of.iter().enumerate() {
                let gap = Quasi::from(var).sub(expr)?.scale(sign)?;
                let part = match at == chosen {
                    true => Domain::where_zero(dims.clone(), &gap)?,
                    false => Domain::where_nonnegative(dims.clone(), &[gap])?,
                };
                domain = domain.intersect(&part)?;
            }
            Ok(domain.sets().to_vec())
        };
        if let Ok(sets) = (0..of.len()).map(one).collect::<Result<Vec<_>>>() {
            self.choices.insert(var, sets.concat());
        }
    }

    /// The context in which a variable has the value of an expression.
    pub(super) fn with(&self, var: Var, value: &Quasi) -> Context {
        let mut context = self.clone();
        context.define(var, value);
        context
    }

    /// Adds that a symbol satisfies one of some sets.
    pub(super) fn choose(&mut self, var: Var, sets: Vec<Set>) {
        self.choices.insert(var, sets);
    }

    /// The facts.
    pub(super) fn facts(&self) -> impl Iterator<Item = &Constraint> {
        self.facts.iter().map(|fact| &fact.0)
    }

    /// The symbols with alternatives.
    pub(super) fn choices(&self) -> impl Iterator<Item = (Var, &[Set])> {
        self.choices.iter().map(|(var, sets)| (*var, &sets[..]))
    }

    /// The least and the largest value of an expression at the points of some sets.
    pub(super) fn range(&self, sets: &[Set], expr: &Quasi) -> Extent {
        if sets.is_empty() {
            return Extent::Nothing;
        }
        if let Some(number) = expr.as_constant() {
            return Extent::Values(Some(number), Some(number));
        }
        self.try_range(sets, expr).unwrap_or(Extent::Unknown)
    }

    fn try_range(&self, sets: &[Set], expr: &Quasi) -> Result<Extent> {
        let (mut lower, mut upper, mut any) = (None::<i64>, None::<i64>, false);
        let (mut below, mut above) = (false, false);
        let equal = Domain::where_zero(Vec::new(), &expr.sub(&self.value.into())?)?;
        for set in sets {
            for value in equal.sets() {
                for part in self.cases(&set.intersect(value)?)? {
                    let Some((low, high)) = self.bounds(part)? else { continue };
                    any = true;
                    below |= low.is_none();
                    above |= high.is_none();
                    lower = low.into_iter().chain(lower).min();
                    upper = high.into_iter().chain(upper).max();
                }
            }
        }
        if !any {
            return Ok(Extent::Nothing);
        }
        // A bound that comes from the width of integers is none.
        let near = |n: &i64| n.unsigned_abs() < FAR;
        let lower = lower.filter(|n| !below && near(n));
        Ok(Extent::Values(lower, upper.filter(|n| !above && near(n))))
    }

    /// The set together with all that concerns its variables, once for each choice.
    fn cases(&self, set: &Set) -> Result<Vec<Set>> {
        let mut open: VecDeque<Var> = set.vars().into();
        let mut seen: BTreeSet<Var> = open.iter().copied().collect();
        let mut taken: BTreeSet<usize> = BTreeSet::new();
        let mut chosen: Vec<&[Set]> = Vec::new();
        while let Some(var) = open.pop_front() {
            let mut reach = Vec::new();
            for fact in self.about.get(&var).into_iter().flatten() {
                if taken.insert(*fact) {
                    reach.extend(self.facts[*fact].1.iter().copied());
                }
            }
            if let Some(sets) = self.choices.get(&var) {
                chosen.push(sets);
                reach.extend(sets.iter().flat_map(Set::vars));
            }
            open.extend(reach.into_iter().filter(|var| seen.insert(*var)));
        }
        let relevant = taken.into_iter().map(|fact| self.facts[fact].0.clone());
        let mut cases = vec![set.intersect(&Set::new(relevant)?)?];
        for alternatives in chosen {
            if cases.len().saturating_mul(alternatives.len()) > MAX_CASES {
                // What is left out only makes the answer wider.
                break;
            }
            let mut next = Vec::with_capacity(cases.len() * alternatives.len());
            for case in &cases {
                for alternative in alternatives {
                    let both = case.intersect(alternative)?;
                    if !both.is_nothing() && !Domain::new([], both.clone()).is_empty().is_true() {
                        next.push(both);
                    }
                }
            }
            cases = next;
        }
        Ok(cases)
    }

    /// The bounds of the value in a set; none if the set is empty.
    #[allow(clippy::type_complexity)]
    fn bounds(&self, set: Set) -> Result<Option<(Option<i64>, Option<i64>)>> {
        let vars = set.vars();
        let line = Domain::new(vars.clone(), set);
        if !vars.contains(&self.value) {
            return Ok((!line.is_empty().is_true()).then_some((None, None)));
        }
        let line = line.project(&[self.value])?;
        let (mut lower, mut upper, mut any) = (Some(i64::MAX), Some(i64::MIN), false);
        for part in line.sets() {
            let part = Domain::new([self.value], part.clone());
            if part.is_empty().is_true() {
                continue;
            }
            any = true;
            let bounds = part.axis_bounds(self.value)?;
            let number = |bound: Option<einlang_index::MinMax>| bound.and_then(|b| b.as_constant());
            lower = lower.zip(number(bounds.lower)).map(|(a, b)| a.min(b));
            upper = upper.zip(number(bounds.upper)).map(|(a, b)| a.max(b));
        }
        Ok(any.then_some((lower, upper)))
    }
}

/// The variables of a constraint.
pub(super) fn vars_of(constraint: &Constraint) -> Vec<Var> {
    match constraint {
        Constraint::Ge(expr) | Constraint::Eq(expr) => expr.vars().collect(),
        Constraint::Mod(_) => Set::new([constraint.clone()]).map_or(Vec::new(), |set| set.vars()),
    }
}
