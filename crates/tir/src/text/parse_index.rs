//! Reading index expressions, domains, dimensions and conditions: a slice of the text is handed
//! to the readers of `einlang-index`, and names they would invent are refused.

use einlang_index::{Domain, Quasi, Var, VarKind};

use super::parse::Parser;
use super::{Parsed, TextError, Token};
use crate::module::{Axis, Condition, Relation};
use crate::region::Tensor;
use crate::types::{Dim, Elem, Ident, TensorType};

/// What ends an index expression, outside parentheses.
const ENDS: [&str; 15] =
    [",", ";", "]", ":", "{", "}", "=", "<", ">", "<=", ">=", "!=", "==", "|", ")"];

/// The words that may follow an index expression.
const FOLLOWS: [&str; 2] = ["max", "from"];

impl Parser<'_> {
    /// The number of tokens that an index expression takes.
    fn index_length(&self) -> usize {
        let mut depth = 0_usize;
        for ahead in 0.. {
            match self.cursor.peek_at(ahead) {
                None | Some(Token::Text(_)) => return ahead,
                Some(Token::Word(word)) if FOLLOWS.contains(word) => return ahead,
                Some(Token::Sign("(")) => depth += 1,
                Some(Token::Sign(")")) if depth > 0 => depth -= 1,
                Some(Token::Sign(sign)) if depth == 0 && ENDS.contains(sign) => return ahead,
                _ => {}
            }
        }
        0
    }

    pub(super) fn quasi(&mut self) -> Parsed<Quasi> {
        let length = self.index_length();
        let start = self.cursor.byte_at(0);
        let result = Quasi::parse(self.cursor.slice(length), self.module.vars.names_mut());
        let expr = result.map_err(|e| TextError::at(self.cursor.text, start + e.at, e.message))?;
        let mut unknown = None;
        expr.for_each_var(&mut |var| {
            if !self.module.vars.contains(var) {
                unknown = Some(var);
            }
        });
        self.all_known(unknown)?;
        self.cursor.skip(length);
        Ok(expr)
    }

    fn all_known(&self, unknown: Option<Var>) -> Parsed<()> {
        match unknown {
            Some(var) => {
                let name = self.module.vars.show(var);
                self.cursor.fail(format!("`{name}` is neither an index nor a symbol"))
            }
            None => Ok(()),
        }
    }

    pub(super) fn domain(&mut self) -> Parsed<Domain> {
        let start = self.cursor.byte_at(0);
        if !self.cursor.sees("{") {
            return self.cursor.fail("expected a domain");
        }
        let mut length = 0;
        while !matches!(self.cursor.peek_at(length), None | Some(Token::Sign("}"))) {
            length += 1;
        }
        let result = Domain::parse(self.cursor.slice(length + 1), self.module.vars.names_mut());
        let domain =
            result.map_err(|e| TextError::at(self.cursor.text, start + e.at, e.message))?;
        domain.dims().iter().for_each(|dim| self.module.vars.adopt_index(*dim));
        let unknown = domain.params().into_iter().find(|var| !self.module.vars.contains(*var));
        self.all_known(unknown)?;
        self.cursor.skip(length + 1);
        Ok(domain)
    }

    /// An index variable where it is bound.
    pub(super) fn binder(&mut self) -> Parsed<Var> {
        let name = self.cursor.ident()?;
        match self.module.vars.lookup(name.as_str()) {
            Some(var) if var.kind() == VarKind::Index => Ok(var),
            Some(_) => self.cursor.fail(format!("`{name}` is a symbol, not an index")),
            None => Ok(self.module.vars.index(name.as_str())),
        }
    }

    /// A symbol where it is used by name alone.
    pub(super) fn symbol_use(&mut self) -> Parsed<Var> {
        let name: Ident = self.cursor.ident()?;
        match self.module.vars.lookup(name.as_str()) {
            Some(var) if var.kind() == VarKind::Symbol => Ok(var),
            _ => self.cursor.fail(format!("`{name}` is not a symbol")),
        }
    }

    fn dim(&mut self) -> Parsed<Dim> {
        let extent = self.quasi()?;
        let coord = if self.cursor.eat(":") { Some(self.cursor.ident()?) } else { None };
        Ok(Dim { extent, coord })
    }

    /// Items in square brackets.
    pub(super) fn bracketed<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        self.cursor.expect("[")?;
        let mut items = Vec::new();
        while !self.cursor.sees("]") {
            items.push(item(self)?);
            if !self.cursor.eat(",") {
                break;
            }
        }
        self.cursor.expect("]")?;
        Ok(items)
    }

    /// `A: f32[N, M]`
    pub(super) fn tensor(&mut self) -> Parsed<Tensor> {
        let name = self.cursor.ident()?;
        self.cursor.expect(":")?;
        let elem: Elem = self.cursor.elem()?;
        let dims = self.bracketed(Parser::dim)?;
        Ok(Tensor { name, ty: TensorType { elem, dims } })
    }

    /// `i < N`
    pub(super) fn axis(&mut self) -> Parsed<Axis> {
        let var = self.binder()?;
        self.cursor.expect("<")?;
        Ok(Axis { var, dim: self.dim()? })
    }

    pub(super) fn condition(&mut self) -> Parsed<Condition> {
        let left = self.quasi()?;
        let relation = Relation::ALL.iter().copied().find(|r| self.cursor.sees(r.as_str()));
        let Some(relation) = relation else { return self.cursor.fail("expected a comparison") };
        self.cursor.skip(1);
        Ok(Condition { left, relation, right: self.quasi()? })
    }
}
