//! Reading domains: formulas are evaluated to domains as they are read, `or` to a union, `and` to
//! an intersection, `not` to a complement and `exists` to a projection.

use super::lexer::Token;
use super::{Parsed, Parser};
use crate::affine::Affine;
use crate::budget::Budget;
use crate::constraint::Constraint;
use crate::domain::Domain;
use crate::error::Result;
use crate::quasi::Quasi;
use crate::set::Set;
use crate::var::{Var, VarKind};

impl Parser<'_> {
    /// A whole domain.
    pub(super) fn domain(&mut self) -> Parsed<Domain> {
        self.expect(Token::Sign("{"))?;
        let dims = self.dims()?;
        let sets = if self.eat(Token::Sign(":")) { self.formula()? } else { everything() };
        self.expect(Token::Sign("}"))?;
        Ok(Domain::of_sets(dims, sets.sets().iter().cloned()))
    }

    fn dims(&mut self) -> Parsed<Vec<Var>> {
        let mut dims = Vec::new();
        self.expect(Token::Sign("["))?;
        while self.peek() != Some(Token::Sign("]")) {
            let name = self.name()?;
            let dim = self.vars.lookup(name).unwrap_or_else(|| self.vars.index(name));
            if dim.kind() != VarKind::Index || dims.contains(&dim) {
                return self.fail(format!("`{name}` cannot be a dimension here"));
            }
            dims.push(dim);
            if !self.eat(Token::Sign(",")) {
                break;
            }
        }
        self.expect(Token::Sign("]"))?;
        Ok(dims)
    }

    /// Alternatives. All intermediate domains have no dimensions: every variable is free.
    fn formula(&mut self) -> Parsed<Domain> {
        let mut either = self.conjunction()?;
        while self.eat(Token::Word("or")) {
            let next = self.conjunction()?;
            either = self.known(either.union(&next))?;
        }
        Ok(either)
    }

    fn conjunction(&mut self) -> Parsed<Domain> {
        let mut both = self.unit()?;
        while self.eat(Token::Word("and")) {
            let next = self.unit()?;
            both = self.known(product(&both, &next))?;
        }
        Ok(both)
    }

    fn unit(&mut self) -> Parsed<Domain> {
        if self.eat(Token::Word("true")) {
            return Ok(everything());
        }
        if self.eat(Token::Word("false")) {
            return Ok(Domain::nothing(Vec::new()));
        }
        if self.eat(Token::Word("not")) {
            let inner = self.nested(Parser::unit)?;
            return self.known(inner.complement());
        }
        if self.eat(Token::Word("exists")) {
            return self.exists();
        }
        if self.peek() == Some(Token::Sign("(")) && self.starts_formula() {
            self.at += 1;
            let inner = self.nested(Parser::formula)?;
            self.expect(Token::Sign(")"))?;
            return Ok(inner);
        }
        self.comparison()
    }

    /// Whether the parenthesis that is next encloses a formula rather than a sum: only then does
    /// a comparison or a connective stand directly inside it.
    fn starts_formula(&self) -> bool {
        let mut depth = 0;
        for (token, _) in &self.tokens[self.at..] {
            match token {
                Token::Sign("(") => depth += 1,
                Token::Sign(")") => depth -= 1,
                Token::Sign("<" | "<=" | ">" | ">=" | "=" | "==" | "!=") => return depth > 0,
                Token::Word("true" | "false" | "not" | "exists") => return depth > 0,
                _ => {}
            }
            if depth == 0 {
                return false;
            }
        }
        false
    }

    fn exists(&mut self) -> Parsed<Domain> {
        let outer = self.bound.len();
        loop {
            let name = self.name()?;
            self.bound.push((name, Var::local(self.next_local)));
            self.next_local += 1;
            if !self.eat(Token::Sign(",")) {
                break;
            }
        }
        self.expect(Token::Sign(":"))?;
        let inner = self.nested(Parser::formula)?;
        let locals: Vec<Var> = self.bound.drain(outer..).map(|b| b.1).collect();
        self.known(inner.eliminated(&[], &locals, &mut Budget::new()))
    }

    /// A chain such as `0 <= i < n`: each neighbouring pair is compared.
    fn comparison(&mut self) -> Parsed<Domain> {
        let mut left = self.sum()?;
        let mut all = None;
        while let Some(Token::Sign(relation @ ("<" | "<=" | ">" | ">=" | "=" | "==" | "!="))) =
            self.peek()
        {
            self.at += 1;
            let right = self.sum()?;
            let one = self.known(compare(&left, relation, &right, self.next_local))?;
            all = Some(match all {
                None => one,
                Some(all) => self.known(product(&all, &one))?,
            });
            left = right;
        }
        match all {
            Some(all) => Ok(all),
            None => self.fail("expected a comparison"),
        }
    }
}

fn everything() -> Domain {
    Domain::everything(Vec::new())
}

/// The intersection without looking for empty parts, so that what is read is what was written.
fn product(a: &Domain, b: &Domain) -> Result<Domain> {
    let mut both = Domain::nothing(Vec::new());
    for x in a.sets() {
        for y in b.sets() {
            both.push(x.intersect(y)?);
        }
    }
    Ok(both)
}

/// Where the relation holds between the two expressions.
fn compare(a: &Quasi, relation: &str, b: &Quasi, first_local: u32) -> Result<Domain> {
    // Subtracting the right side from the left keeps `a = 0` as it was written.
    let (low, high) = if relation.starts_with('<') { (a, b) } else { (b, a) };
    let gap = high.sub(low)?;
    match relation {
        "<" | ">" => where_value(&gap.add_constant(-1)?, Constraint::Ge, first_local),
        "<=" | ">=" => where_value(&gap, Constraint::Ge, first_local),
        "!=" => {
            let above = where_value(&gap.add_constant(-1)?, Constraint::Ge, first_local)?;
            let below = gap.scale(-1)?.add_constant(-1)?;
            above.union(&where_value(&below, Constraint::Ge, first_local)?)
        }
        _ => where_value(&gap, Constraint::Eq, first_local),
    }
}

fn where_value(
    gap: &Quasi,
    constraint: fn(Affine) -> Constraint,
    first_local: u32,
) -> Result<Domain> {
    if let Some(affine) = gap.as_affine() {
        return Ok(Domain::new(Vec::new(), Set::new([constraint(affine.clone())])?));
    }
    let (gap, budget) = (std::slice::from_ref(gap), &mut Budget::new());
    Domain::lowered(Vec::new(), gap, first_local, constraint, budget)
}
