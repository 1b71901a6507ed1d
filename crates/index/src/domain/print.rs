//! The text form of domains: `{ [i, j] : i >= 0 and i < n and j = 2*i + 1 or (i + n) mod 3 = 0 }`.
//! Everything printed reads back as the same domain, part by part.

use std::fmt;

use super::Domain;
use crate::affine::Affine;
use crate::constraint::Constraint;
use crate::set::Set;
use crate::var::Named;

impl fmt::Display for Named<'_, Domain> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{ [")?;
        for (at, dim) in self.item.dims.iter().enumerate() {
            f.write_str(if at == 0 { "" } else { ", " })?;
            self.vars.write_name(*dim, f)?;
        }
        match &self.item.sets[..] {
            [] => f.write_str("] : false }"),
            [set] if set.is_everything() => f.write_str("] }"),
            sets => {
                f.write_str("] : ")?;
                write_joined(f, " or ", sets.iter().map(|s| self.part(s)))?;
                f.write_str(" }")
            }
        }
    }
}

impl fmt::Display for Named<'_, Set> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.item.is_everything() {
            return f.write_str("true");
        }
        let constraints: Vec<Constraint> = self.item.constraints().collect();
        write_joined(f, " and ", constraints.iter().map(|c| self.part(c)))
    }
}

impl fmt::Display for Named<'_, Constraint> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let expr = self.item.expr();
        match self.item {
            Constraint::Eq(_) => self.write_sides(f, expr, "=", "="),
            Constraint::Ge(_) => self.write_sides(f, expr, ">=", "<="),
            Constraint::Mod(c) if c.at_most == 0 => {
                write!(f, "({}) mod {} = 0", self.part(expr), c.modulus)
            }
            Constraint::Mod(c) => {
                write!(f, "({}) mod {} <= {}", self.part(expr), c.modulus, c.at_most)
            }
        }
    }
}

impl Named<'_, Constraint> {
    /// Writes `expr` compared with zero with its first variable alone on the left: `i >= 0`,
    /// `i < n`, `2*i = n - 1`.
    fn write_sides(
        &self,
        f: &mut fmt::Formatter<'_>,
        expr: &Affine,
        relation: &str,
        mirrored: &str,
    ) -> fmt::Result {
        let Some(&(first, c)) = expr.terms().first() else {
            return write!(f, "{} {relation} 0", expr.constant_part());
        };
        let left = Affine::new(0, [(first, c)]);
        let rest = expr.without(first);
        match (c < 0, left.and_then(|l| l.neg()), rest.neg()) {
            (true, Ok(left), _) if mirrored == "<=" && rest.constant_part() == -1 => {
                write!(f, "{} < {}", self.part(&left), self.part(&rest.with_constant(0)))
            }
            // The reader subtracts the right side from the left, so an equality whose sign could
            // not be made positive is printed as it is.
            (true, Ok(left), _) if mirrored == "<=" => {
                write!(f, "{} {mirrored} {}", self.part(&left), self.part(&rest))
            }
            (false, Ok(left), Ok(rest)) => {
                let left = left.neg().unwrap_or(left);
                write!(f, "{} {relation} {}", self.part(&left), self.part(&rest))
            }
            _ => write!(f, "{} {relation} 0", self.part(expr)),
        }
    }
}

fn write_joined<T: fmt::Display>(
    f: &mut fmt::Formatter<'_>,
    between: &str,
    items: impl Iterator<Item = T>,
) -> fmt::Result {
    for (at, item) in items.enumerate() {
        write!(f, "{}{item}", if at == 0 { "" } else { between })?;
    }
    Ok(())
}
