//! Reading sums, products and divisions.

use super::lexer::Token;
use super::{KEYWORDS, Parsed, Parser};
use crate::error::GaveUp;
use crate::int::narrow;
use crate::minmax::MinMax;
use crate::quasi::{DivOp, Quasi};
use crate::var::Var;

/// A product under construction: a number times at most one expression. Keeping the number apart
/// lets `-9223372036854775808` be read without ever holding its positive twin.
struct Product {
    number: i128,
    expr: Option<Quasi>,
}

impl Product {
    fn value(self) -> Result<Quasi, GaveUp> {
        let number = narrow(self.number)?;
        match self.expr {
            Some(expr) => expr.scale(number),
            None => Ok(number.into()),
        }
    }

    /// The product of two, of which at most one may hold variables.
    fn times(self, other: Product) -> Option<Product> {
        if self.expr.is_some() && other.expr.is_some() {
            return None;
        }
        let number = self.number.checked_mul(other.number)?;
        Some(Product { number, expr: self.expr.or(other.expr) })
    }
}

impl<'a> Parser<'a> {
    /// A sum of products.
    pub(super) fn sum(&mut self) -> Parsed<Quasi> {
        let mut sum = Quasi::default();
        let mut negative = self.eat(Token::Sign("-"));
        loop {
            let mut product = self.product()?;
            product.number = if negative { -product.number } else { product.number };
            let product = self.known(product.value())?;
            sum = self.known(sum.add(&product))?;
            negative = match self.peek() {
                Some(Token::Sign("+")) => false,
                Some(Token::Sign("-")) => true,
                _ => return Ok(sum),
            };
            self.at += 1;
        }
    }

    /// An expression, or the smallest or largest of several.
    pub(super) fn bound(&mut self) -> Parsed<MinMax> {
        let max = match (self.peek(), self.tokens.get(self.at + 1).map(|t| t.0)) {
            (Some(Token::Word("min")), Some(Token::Sign("("))) => false,
            (Some(Token::Word("max")), Some(Token::Sign("("))) => true,
            _ => return Ok(self.sum()?.into()),
        };
        self.at += 2;
        let mut list = vec![self.nested(Parser::bound)?];
        while self.eat(Token::Sign(",")) {
            list.push(self.nested(Parser::bound)?);
        }
        self.expect(Token::Sign(")"))?;
        self.known(if max { MinMax::max_of(list) } else { MinMax::min_of(list) })
    }

    /// Factors and divisions, from left to right.
    fn product(&mut self) -> Parsed<Product> {
        let mut product = self.factor()?;
        loop {
            if self.eat(Token::Sign("*")) {
                let factor = self.factor()?;
                let Some(next) = product.times(factor) else {
                    return self.fail("a product needs a number on one side");
                };
                product = next;
            } else if let Some(op) = self.division() {
                let divisor = self.divisor()?;
                let value = self.known(product.value())?;
                let value = self.known(value.divide(op, divisor))?;
                product = Product { number: 1, expr: Some(value) };
            } else {
                return Ok(product);
            }
        }
    }

    /// A division operator, unless it belongs to an enclosing `floor`.
    fn division(&mut self) -> Option<DivOp> {
        let op = match self.peek()? {
            Token::Sign("/") => DivOp::TruncDiv,
            Token::Sign("%") => DivOp::TruncRem,
            Token::Word("mod") => DivOp::FloorMod,
            _ => return None,
        };
        self.at += 1;
        Some(op)
    }

    fn divisor(&mut self) -> Parsed<i64> {
        match self.peek() {
            Some(Token::Number(n)) if i64::try_from(n).is_ok() => {
                self.at += 1;
                Ok(n as i64)
            }
            _ => self.fail("expected a positive number"),
        }
    }

    fn factor(&mut self) -> Parsed<Product> {
        match self.peek() {
            Some(Token::Number(n)) => {
                let Ok(number) = i128::try_from(n) else { return self.fail("number too large") };
                self.at += 1;
                Ok(Product { number, expr: None })
            }
            Some(Token::Sign("(")) => {
                self.at += 1;
                let expr = self.nested(Parser::sum)?;
                self.expect(Token::Sign(")"))?;
                Ok(match expr.as_constant() {
                    Some(number) => Product { number: number.into(), expr: None },
                    None => Product { number: 1, expr: Some(expr) },
                })
            }
            Some(Token::Word("floor")) => self.floor(),
            _ => {
                let var = self.var()?;
                Ok(Product { number: 1, expr: Some(var.into()) })
            }
        }
    }

    /// `floor(product / number)`. The dividend ends at the last `/`, which is the one that is
    /// rounded down.
    fn floor(&mut self) -> Parsed<Product> {
        self.at += 1;
        self.expect(Token::Sign("("))?;
        let mut dividend = self.nested(Parser::factor)?;
        while self.eat(Token::Sign("*")) {
            let factor = self.nested(Parser::factor)?;
            let Some(next) = dividend.times(factor) else {
                return self.fail("a product needs a number on one side");
            };
            dividend = next;
        }
        self.expect(Token::Sign("/"))?;
        let divisor = self.divisor()?;
        self.expect(Token::Sign(")"))?;
        let dividend = self.known(dividend.value())?;
        let expr = self.known(dividend.floor_div(divisor))?;
        Ok(Product { number: 1, expr: Some(expr) })
    }

    /// The name that is next.
    pub(super) fn name(&mut self) -> Parsed<&'a str> {
        match self.peek() {
            Some(Token::Quoted(name)) => {
                self.at += 1;
                Ok(name)
            }
            Some(Token::Word(name)) if !KEYWORDS.contains(&name) => {
                self.at += 1;
                Ok(name)
            }
            _ => self.fail("expected a name or number"),
        }
    }

    /// The variable of the name that is next: bound by `exists`, known, or a new symbol.
    fn var(&mut self) -> Parsed<Var> {
        let name = self.name()?;
        if let Some(bound) = self.bound.iter().rev().find(|b| b.0 == name) {
            return Ok(bound.1);
        }
        Ok(self.vars.lookup(name).unwrap_or_else(|| self.vars.symbol(name)))
    }
}
