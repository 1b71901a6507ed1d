//! Symbols get their values as soon as what they depend on has one; entry checks are asked then.

use einlang_index::{Constraint, Domain, MinMax, Quasi, Var};
use einlang_tir::module::{Check, Group, SymbolSource};
use einlang_tir::types::Ident;

use super::{Lower, NotLowered, Result};
use crate::ir::{Access, BufferId, Condition, Size, Stmt};

/// Something that must hold before anything is relied upon.
pub(super) enum Waiting {
    /// An entry check, by its number.
    Check(usize),
    /// The shape of an input.
    Shape(BufferId),
}

impl Lower<'_> {
    /// Symbols of the caller, then everything that follows from them.
    pub(super) fn entry(&mut self, out: &mut Vec<Stmt>) -> Result<()> {
        for symbol in &self.module.symbols {
            let size = match &symbol.source {
                SymbolSource::Argument => Size::Argument,
                SymbolSource::Shape(name, axis) => match self.tensors.get(name) {
                    Some(buffer) => Size::Shape(*buffer, *axis as u32),
                    None => return Err(NotLowered::new("the shape of what is no input")),
                },
                _ => continue,
            };
            self.kernel.sizes.push((symbol.var, size));
            self.bound.push(symbol.var);
        }
        self.waiting = (0..self.module.checks.len()).map(Waiting::Check).collect();
        let inputs = (0..self.kernel.n_inputs as u32).map(|at| Waiting::Shape(BufferId(at)));
        self.waiting.extend(inputs);
        self.ready(out)?;
        let names: Vec<Ident> = self.module.inputs.iter().map(|i| i.name.clone()).collect();
        self.values_of(&names, out)
    }

    /// Binds the symbols that are values of these tensors.
    fn values_of(&mut self, names: &[Ident], out: &mut Vec<Stmt>) -> Result<()> {
        for name in names {
            let Some(buffer) = self.tensors.get(name).copied() else { continue };
            for var in self.value_symbols.get(name).cloned().unwrap_or_default() {
                if self.bound.contains(var) {
                    continue;
                }
                let elem = self.kernel.buffers[buffer.0 as usize].elem;
                let result = self.fresh(elem);
                let at = Vec::new();
                out.push(Stmt::Load { result, buffer, at, access: Access::Proved });
                self.param(var, result.into(), name.as_str(), out)?;
            }
        }
        Ok(())
    }

    /// Binds the symbols that are values of a group's tensors.
    pub(super) fn values_of_group(&mut self, group: &Group, out: &mut Vec<Stmt>) -> Result<()> {
        let names: Vec<Ident> = group.bindings.iter().map(|b| b.name.clone()).collect();
        self.values_of(&names, out)
    }

    /// Gives a variable the value of an integer.
    pub(super) fn param(
        &mut self,
        var: Var,
        value: crate::ir::Operand,
        what: &str,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let site = self.kernel.add_site(format!("the size `{what}`"), Default::default());
        out.push(Stmt::Param { var, value, site });
        self.bound.push(var);
        self.ready(out)
    }

    /// Gives a variable the value of an expression.
    pub(super) fn bind(&mut self, var: Var, expr: Quasi, out: &mut Vec<Stmt>) -> Result<()> {
        self.learn(var, &expr);
        self.defined.insert(var, expr.clone());
        out.push(Stmt::Bind { var, expr: MinMax::Value(expr) });
        self.bound.push(var);
        Ok(())
    }

    /// Takes note that a variable equals an expression.
    pub(super) fn learn(&mut self, var: Var, expr: &Quasi) {
        if let Some(affine) = expr.as_affine()
            && let Ok(fact) = Constraint::equal(&einlang_index::Affine::var(var), affine)
            && let Ok(context) = self.context.and(fact)
        {
            self.context = context;
        }
    }

    /// Whether all variables of an expression have a value.
    pub(super) fn knows(&self, expr: &Quasi) -> bool {
        let mut known = true;
        expr.for_each_var(&mut |var| known &= self.bound.contains(var));
        known
    }

    /// Binds what has become known, and asks the checks that can be asked.
    pub(super) fn ready(&mut self, out: &mut Vec<Stmt>) -> Result<()> {
        let mut again = true;
        while again {
            again = false;
            for symbol in self.extremes.clone() {
                let (of, max) = match &symbol.source {
                    SymbolSource::Max(of) => (of, true),
                    SymbolSource::Min(of) => (of, false),
                    _ => continue,
                };
                let known = of.iter().all(|expr| self.knows(expr));
                if self.bound.contains(symbol.var) || !known || of.is_empty() {
                    continue;
                }
                let values = of.iter().cloned().map(MinMax::Value);
                let expr = if max { MinMax::max_of(values)? } else { MinMax::min_of(values)? };
                out.push(Stmt::Bind { var: symbol.var, expr });
                self.bound.push(symbol.var);
                again = true;
            }
        }
        self.check(out)
    }

    fn check(&mut self, out: &mut Vec<Stmt>) -> Result<()> {
        let waiting = std::mem::take(&mut self.waiting);
        for item in waiting {
            let stmt = match &item {
                Waiting::Check(at) => self.entry_check(&self.module.checks[*at].clone())?,
                Waiting::Shape(buffer) => {
                    let dims = self.kernel.buffers[buffer.0 as usize].dims.clone();
                    let known = dims.iter().all(|dim| self.knows(&dim.extent));
                    let site = known
                        .then(|| self.kernel.add_site("the shape of an input", Default::default()));
                    site.map(|site| Stmt::CheckShape(*buffer, site))
                }
            };
            match stmt {
                Some(stmt) => out.push(stmt),
                None => self.waiting.push(item),
            }
        }
        Ok(())
    }

    fn entry_check(&mut self, check: &Check) -> Result<Option<Stmt>> {
        let condition = &check.condition;
        if !self.knows(&condition.left) || !self.knows(&condition.right) {
            return Ok(None);
        }
        let domain: Domain = condition.domain(&[])?;
        let site = self.kernel.add_site(check.message.clone(), check.loc);
        Ok(Some(Stmt::Assert { condition: Condition::Within(domain), site }))
    }

    /// Nothing may be left unchecked.
    pub(super) fn unchecked(&self) -> Result<()> {
        match self.waiting.is_empty() {
            true => Ok(()),
            false => Err(NotLowered::new("an entry check of a size that is never known")),
        }
    }
}
