//! The small expressions in which the op table states derivatives.
//!
//! ```text
//! partial = "x" | "y" | "z"        the operands, in order
//!         | "r"                    the result of the operation
//!         | number
//!         | op "(" partial {"," partial} ")"
//! ```
//!
//! A number takes the type of the operation's result, or `i32` where an operation wants an
//! integer; `cast` converts to the type of the operation's result.

use std::fmt;

use super::Op;

/// One partial derivative.
#[derive(Clone, PartialEq, Debug)]
pub enum Partial {
    /// An operand, by position.
    Arg(usize),
    /// The result of the operation.
    Result,
    /// A number.
    Number(f64),
    /// An operation.
    Apply(Op, Vec<Partial>),
}

/// The text of a partial that could not be read, from where it went wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PartialError(String);

impl fmt::Display for PartialError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a partial derivative: `{}`", self.0)
    }
}

impl std::error::Error for PartialError {}

impl Partial {
    /// Reads an expression such as `mul(r, log(x))`.
    pub fn parse(text: &str) -> Result<Partial, PartialError> {
        match expression(text)? {
            (partial, "") => Ok(partial),
            (_, rest) => Err(PartialError(rest.to_owned())),
        }
    }

    /// True for the number zero: the operand does not matter.
    pub fn is_zero(&self) -> bool {
        *self == Partial::Number(0.0)
    }
}

fn expression(text: &str) -> Result<(Partial, &str), PartialError> {
    let text = text.trim_start();
    let end = text.find(['(', ')', ',', ' ']).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    if let Some(inside) = rest.strip_prefix('(') {
        let op = Op::parse(word).ok_or_else(|| PartialError(text.to_owned()))?;
        let (args, rest) = arguments(inside)?;
        return match args.len() == op.arity() {
            true => Ok((Partial::Apply(op, args), rest)),
            false => Err(PartialError(text.to_owned())),
        };
    }
    let atom = match word {
        "x" => Partial::Arg(0),
        "y" => Partial::Arg(1),
        "z" => Partial::Arg(2),
        "r" => Partial::Result,
        number => Partial::Number(number.parse().map_err(|_| PartialError(text.to_owned()))?),
    };
    Ok((atom, rest.trim_start()))
}

fn arguments(mut text: &str) -> Result<(Vec<Partial>, &str), PartialError> {
    let mut args = Vec::new();
    loop {
        let (arg, rest) = expression(text)?;
        args.push(arg);
        let rest = rest.trim_start();
        if let Some(rest) = rest.strip_prefix(')') {
            return Ok((args, rest.trim_start()));
        }
        text = rest.strip_prefix(',').ok_or_else(|| PartialError(rest.to_owned()))?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_read_as_trees() {
        let tree = Partial::parse("mul(r, neg(x))").unwrap();
        let negated = Partial::Apply(Op::Neg, vec![Partial::Arg(0)]);
        assert_eq!(tree, Partial::Apply(Op::Mul, vec![Partial::Result, negated]));
        assert!(Partial::parse("0").unwrap().is_zero());
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "q", "mul(x)", "mul(x, y", "sin(x))", "nothing(x)"] {
            assert!(Partial::parse(text).is_err(), "{text}");
        }
    }
}
