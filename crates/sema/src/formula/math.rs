//! Mathematics that can be written down: a sum of terms, each a number times factors, over factors.
//!
//! Sums never hold two terms that differ by a number only, and zero is the empty sum.

use std::fmt::Write;

/// A sum of terms; without terms it is zero.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Math(Vec<Term>);

#[derive(Clone, PartialEq, Debug)]
struct Term {
    number: f64,
    factors: Vec<Factor>,
    under: Vec<Factor>,
}

/// What a product consists of.
#[derive(Clone, PartialEq, Debug)]
enum Factor {
    /// Text that can stand anywhere.
    Atom(String),
    /// Text that needs parentheses beside an operator.
    Loose(String),
    /// A power.
    Power(Box<Math>, Box<Math>),
    /// A sum of several terms.
    Sum(Math),
}

impl Math {
    pub(super) fn zero() -> Math {
        Math::default()
    }

    pub(super) fn number(number: f64) -> Math {
        Math::of(Term { number, factors: Vec::new(), under: Vec::new() })
    }

    /// A name, a read, a call.
    pub(super) fn atom(text: impl Into<String>) -> Math {
        Math::factor(Factor::Atom(text.into()))
    }

    /// Text that needs parentheses beside an operator.
    pub(super) fn loose(text: impl Into<String>) -> Math {
        Math::factor(Factor::Loose(text.into()))
    }

    fn factor(factor: Factor) -> Math {
        Math::of(Term { number: 1.0, factors: vec![factor], under: Vec::new() })
    }

    fn of(term: Term) -> Math {
        Math(if term.number == 0.0 { Vec::new() } else { vec![term] })
    }

    pub(super) fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    /// The number, if it is one.
    pub(super) fn as_number(&self) -> Option<f64> {
        match &self.0[..] {
            [] => Some(0.0),
            [term] if term.factors.is_empty() && term.under.is_empty() => Some(term.number),
            _ => None,
        }
    }

    /// Whether it is a name, a read, a call or a number: as good as a name for it.
    pub(super) fn is_atomic(&self) -> bool {
        match &self.0[..] {
            [Term { number, factors, under }] if *number == 1.0 && under.is_empty() => {
                matches!(&factors[..], [] | [Factor::Atom(_)])
            }
            _ => self.as_number().is_some(),
        }
    }

    pub(super) fn plus(mut self, other: Math) -> Math {
        for term in other.0 {
            match self.0.iter().position(|own| own.is_like(&term)) {
                Some(at) => {
                    self.0[at].number += term.number;
                    if self.0[at].number == 0.0 {
                        self.0.remove(at);
                    }
                }
                None => self.0.push(term),
            }
        }
        self
    }

    pub(super) fn negated(mut self) -> Math {
        self.0.iter_mut().for_each(|term| term.number = -term.number);
        self
    }

    /// The product; a sum becomes one factor.
    pub(super) fn times(self, other: Math) -> Math {
        let (Some(mut own), Some(other)) = (self.into_term(), other.into_term()) else {
            return Math::zero();
        };
        own.number *= other.number;
        own.factors.extend(other.factors);
        own.under.extend(other.under);
        Math::of(own)
    }

    /// The quotient.
    pub(super) fn over(self, other: Math) -> Math {
        let zero = Math::zero();
        let Some(mut own) = self.into_term() else { return zero };
        let Some(other) = other.into_term() else {
            own.under.push(Factor::Atom("0".to_owned()));
            return Math::of(own);
        };
        own.number /= other.number;
        if !own.number.is_finite() || own.number.fract() != 0.0 && other.number != 1.0 {
            // A quotient of numbers stays one: `x / 3` and not `0.333 * x`.
            own.number *= other.number;
            own.under.push(Factor::Atom(number_text(other.number)));
        }
        own.under.extend(other.factors);
        own.factors.extend(other.under);
        Math::of(own)
    }

    /// The power, without what is trivial about it.
    pub(super) fn raised(self, exponent: Math) -> Math {
        match exponent.as_number() {
            Some(0.0) => Math::number(1.0),
            Some(1.0) => self,
            _ => Math::factor(Factor::Power(Box::new(self), Box::new(exponent))),
        }
    }

    /// A factor times a differential: it goes into each term, before what changes.
    pub(super) fn scaling(&self, change: &Math) -> Math {
        let Some(factor) = self.clone().into_term() else { return Math::zero() };
        let mut sum = Math::zero();
        for term in &change.0 {
            let mut factors = term.factors.clone();
            let last = factors.pop();
            factors.extend(factor.factors.iter().cloned());
            factors.extend(last);
            let under = [&factor.under[..], &term.under[..]].concat();
            let number = factor.number * term.number;
            sum = sum.plus(Math::of(Term { number, factors, under }));
        }
        sum
    }

    fn into_term(mut self) -> Option<Term> {
        match self.0.len() {
            0 => None,
            1 => self.0.pop(),
            _ => {
                let factors = vec![Factor::Sum(self)];
                Some(Term { number: 1.0, factors, under: Vec::new() })
            }
        }
    }

    /// The text.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for (at, term) in self.0.iter().enumerate() {
            match (at, term.number < 0.0) {
                (0, false) => {}
                (0, true) => text.push('-'),
                (_, false) => text.push_str(" + "),
                (_, true) => text.push_str(" - "),
            }
            term.write(&mut text, self.0.len() > 1 || term.number < 0.0);
        }
        if text.is_empty() { "0".to_owned() } else { text }
    }

    /// The text, in parentheses unless it can stand anywhere.
    pub(super) fn grouped(&self) -> String {
        match self.is_atomic() && !self.as_number().is_some_and(|number| number < 0.0) {
            true => self.text(),
            false => format!("({})", self.text()),
        }
    }
}

impl Term {
    /// Whether the terms differ by a number only, the order of factors apart. Of what is not
    /// written in full nobody knows.
    fn is_like(&self, other: &Term) -> bool {
        if self.factors.iter().chain(&self.under).any(|factor| is_short(&factor.text(true))) {
            return false;
        }
        let same = |a: &[Factor], b: &[Factor]| {
            let mut left: Vec<&Factor> = b.iter().collect();
            a.len() == b.len()
                && a.iter().all(|factor| {
                    let found = left.iter().position(|other| *other == factor);
                    found.map(|at| left.swap_remove(at)).is_some()
                })
        };
        same(&self.factors, &other.factors) && same(&self.under, &other.under)
    }

    fn write(&self, text: &mut String, in_sum: bool) {
        let number = self.number.abs();
        let mut parts: Vec<String> = Vec::new();
        if number != 1.0 || self.factors.is_empty() {
            parts.push(number_text(number));
        }
        let alone = parts.is_empty() && self.factors.len() == 1 && self.under.is_empty();
        parts.extend(self.factors.iter().map(|factor| factor.text(alone && !in_sum)));
        text.push_str(&parts.join(" * "));
        for factor in &self.under {
            let _ = write!(text, " / {}", factor.text(false));
        }
    }
}

impl Factor {
    fn text(&self, alone: bool) -> String {
        match self {
            Factor::Atom(text) => text.clone(),
            Factor::Loose(text) if alone => text.clone(),
            Factor::Loose(text) => format!("({text})"),
            Factor::Power(base, exponent) => {
                format!("{} ** {}", base.grouped(), exponent.grouped())
            }
            Factor::Sum(sum) if alone => sum.text(),
            Factor::Sum(sum) => format!("({})", sum.text()),
        }
    }
}

/// Whether a text leaves something out, so that others may read the same.
pub(super) fn is_short(text: &str) -> bool {
    text.contains('…')
}

/// A number without what is not needed of it: `2`, `0.5`, `1e-9`.
pub(super) fn number_text(number: f64) -> String {
    let text = format!("{number:?}");
    text.strip_suffix(".0").map_or_else(|| text.clone(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::Math;

    #[test]
    fn like_terms_are_collected() {
        let (x, dx) = (Math::atom("x"), Math::atom("@x"));
        let sum = x.scaling(&dx).plus(x.scaling(&dx));
        assert_eq!(sum.text(), "2 * x * @x");
        assert!(sum.clone().plus(sum.negated()).is_zero());
    }

    #[test]
    fn factors_go_before_what_changes() {
        let (x, y) = (Math::atom("x"), Math::atom("y"));
        let sum = y.scaling(&Math::atom("@x")).plus(x.scaling(&Math::atom("@y")));
        assert_eq!(Math::number(3.0).scaling(&sum).text(), "3 * y * @x + 3 * x * @y");
        assert_eq!(
            x.plus(Math::number(1.0)).scaling(&sum).text(),
            "y * (x + 1) * @x + x * (x + 1) * @y"
        );
    }

    #[test]
    fn what_is_not_written_in_full_is_not_collected() {
        let (a, b) = (Math::atom("@{ …; x }"), Math::atom("@{ …; x }"));
        assert_eq!(a.plus(b.negated()).text(), "@{ …; x } - @{ …; x }");
    }

    #[test]
    fn signs_quotients_and_powers_read_well() {
        let x = Math::atom("x");
        let square = x.clone().raised(Math::number(2.0));
        assert_eq!(Math::atom("@x").over(square).negated().text(), "-@x / x ** 2");
        assert_eq!(x.clone().over(Math::number(3.0)).text(), "x / 3");
        assert_eq!(Math::number(4.0).times(x.clone()).over(Math::number(2.0)).text(), "2 * x");
        assert_eq!(x.plus(Math::number(-0.5)).text(), "x - 0.5");
    }
}
