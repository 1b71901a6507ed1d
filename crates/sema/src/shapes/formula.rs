//! Conditions, as far as they are affine in indices and symbols.

use einlang_index::{Domain, MinMax, Quasi, Result, Var};

use super::symbols::Symbols;

/// A condition. Whatever is not affine is `Unknown`: possibly true and possibly false.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Formula {
    Unknown,
    Constant(bool),
    /// The expression is at least 0.
    AtLeast(Quasi),
    /// The expression is 0.
    Zero(Quasi),
    And(Vec<Formula>),
    Or(Vec<Formula>),
}

impl Formula {
    pub(super) fn and(parts: Vec<Formula>) -> Formula {
        let mut list: Vec<Formula> = Vec::new();
        for part in parts {
            match part {
                Formula::Constant(true) => {}
                Formula::And(inner) => list.extend(inner),
                other => list.push(other),
            }
        }
        match list.len() {
            0 => Formula::Constant(true),
            1 => list.remove(0),
            _ => Formula::And(list),
        }
    }

    /// The opposite.
    pub(super) fn negated(&self) -> Formula {
        match self {
            Formula::Unknown => Formula::Unknown,
            Formula::Constant(value) => Formula::Constant(!value),
            Formula::AtLeast(expr) => match below(expr) {
                Ok(formula) => formula,
                Err(_) => Formula::Unknown,
            },
            Formula::Zero(expr) => {
                let less = below(expr);
                let more = expr.add_constant(-1).map(Formula::AtLeast);
                match (less, more) {
                    (Ok(less), Ok(more)) => Formula::Or(vec![less, more]),
                    _ => Formula::Unknown,
                }
            }
            Formula::And(parts) => Formula::Or(parts.iter().map(Formula::negated).collect()),
            Formula::Or(parts) => Formula::and(parts.iter().map(Formula::negated).collect()),
        }
    }

    /// Whether the condition is known in full.
    pub(super) fn is_exact(&self) -> bool {
        match self {
            Formula::Unknown => false,
            Formula::Constant(_) | Formula::AtLeast(_) | Formula::Zero(_) => true,
            Formula::And(parts) | Formula::Or(parts) => parts.iter().all(Formula::is_exact),
        }
    }

    /// Whether it holds always.
    pub(super) fn is_true(&self) -> bool {
        match self {
            Formula::Constant(value) => *value,
            Formula::AtLeast(expr) => expr.as_constant().is_some_and(|c| c >= 0),
            Formula::Zero(expr) => expr.as_constant() == Some(0),
            Formula::And(parts) => parts.iter().all(Formula::is_true),
            Formula::Or(parts) => parts.iter().any(Formula::is_true),
            Formula::Unknown => false,
        }
    }

    /// The points at which it may hold; `Unknown` holds everywhere.
    pub(super) fn domain(&self, dims: &[Var]) -> Result<Domain> {
        match self {
            Formula::Unknown | Formula::Constant(true) => Ok(Domain::everything(dims)),
            Formula::Constant(false) => Ok(Domain::nothing(dims)),
            Formula::AtLeast(expr) => Domain::where_nonnegative(dims, std::slice::from_ref(expr)),
            Formula::Zero(expr) => Domain::where_zero(dims, expr),
            Formula::And(parts) => parts
                .iter()
                .try_fold(Domain::everything(dims), |all, part| all.intersect(&part.domain(dims)?)),
            Formula::Or(parts) => parts
                .iter()
                .try_fold(Domain::nothing(dims), |all, part| all.union(&part.domain(dims)?)),
        }
    }

    /// The condition with everything in it that was found out since; what is no longer affine is
    /// unknown.
    pub(super) fn resolved(&self, symbols: &Symbols) -> Formula {
        let value = |expr: &Quasi| match symbols.resolved(&MinMax::from(expr.clone())) {
            MinMax::Value(expr) => Some(expr),
            _ => None,
        };
        match self {
            Formula::AtLeast(expr) => value(expr).map_or(Formula::Unknown, Formula::AtLeast),
            Formula::Zero(expr) => value(expr).map_or(Formula::Unknown, Formula::Zero),
            Formula::And(parts) => {
                Formula::And(parts.iter().map(|part| part.resolved(symbols)).collect())
            }
            Formula::Or(parts) => {
                Formula::Or(parts.iter().map(|part| part.resolved(symbols)).collect())
            }
            other => other.clone(),
        }
    }

    pub(super) fn for_each_var(&self, visit: &mut dyn FnMut(Var)) {
        match self {
            Formula::Unknown | Formula::Constant(_) => {}
            Formula::AtLeast(expr) | Formula::Zero(expr) => expr.for_each_var(visit),
            Formula::And(parts) | Formula::Or(parts) => {
                parts.iter().for_each(|part| part.for_each_var(visit));
            }
        }
    }
}

/// `expr < 0`
fn below(expr: &Quasi) -> Result<Formula> {
    Ok(Formula::AtLeast(expr.neg()?.add_constant(-1)?))
}
