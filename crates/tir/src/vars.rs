//! The index variables and symbols of a module.
//!
//! [`einlang_index::Vars`] gives them numbers and unique names; this table also knows which ones
//! there are, so that two tables can be compared and a text form can list them in order.

use einlang_index::{Affine, Domain, Quasi, Result, Set, Var, VarKind, Vars};

/// The variables of one module.
#[derive(Clone, Default, Debug)]
pub struct VarTable {
    names: Vars,
    indices: Vec<Var>,
    symbols: Vec<Var>,
}

impl PartialEq for VarTable {
    fn eq(&self, other: &VarTable) -> bool {
        let name = |table: &VarTable, var: &Var| table.names.name(*var).map(str::to_owned);
        let list = |table: &VarTable| -> Vec<Option<String>> {
            table.indices.iter().chain(&table.symbols).map(|var| name(table, var)).collect()
        };
        self.indices.len() == other.indices.len() && list(self) == list(other)
    }
}

impl VarTable {
    /// A new index variable; primes are added if the name is taken.
    pub fn index(&mut self, name: &str) -> Var {
        let var = self.names.index(name);
        self.indices.push(var);
        var
    }

    /// A new symbol; primes are added if the name is taken.
    pub fn symbol(&mut self, name: &str) -> Var {
        let var = self.names.symbol(name);
        self.symbols.push(var);
        var
    }

    /// A new variable of the same kind and nearly the same name.
    pub fn fresh_like(&mut self, var: Var) -> Var {
        let name = self.names.name(var).unwrap_or("v");
        let name = name.split_once('\'').map_or(name, |(base, _)| base).to_owned();
        match var.kind() {
            VarKind::Index => self.index(&name),
            _ => self.symbol(&name),
        }
    }

    /// The names, for printing.
    pub fn names(&self) -> &Vars {
        &self.names
    }

    /// The names, for the readers of `index`, which add what they do not know.
    pub(crate) fn names_mut(&mut self) -> &mut Vars {
        &mut self.names
    }

    /// Takes note of an index variable that a reader added.
    pub(crate) fn adopt_index(&mut self, var: Var) {
        if !self.indices.contains(&var) {
            self.indices.push(var);
        }
    }

    /// The index variables, by number.
    pub fn indices(&self) -> &[Var] {
        &self.indices
    }

    /// The symbols, by number.
    pub fn symbols(&self) -> &[Var] {
        &self.symbols
    }

    /// Whether the variable belongs to the table.
    pub fn contains(&self, var: Var) -> bool {
        match var.kind() {
            VarKind::Index => self.indices.contains(&var),
            VarKind::Symbol => self.symbols.contains(&var),
            VarKind::Local => false,
        }
    }

    /// The variable of this name.
    pub fn lookup(&self, name: &str) -> Option<Var> {
        self.names.lookup(name)
    }

    /// The name as the text form writes it.
    pub fn show(&self, var: Var) -> String {
        Affine::var(var).display(&self.names).to_string()
    }
}

/// The expression with variables renamed all at once.
pub fn rename_quasi(expr: &Quasi, rename: &mut dyn FnMut(Var) -> Var) -> Result<Quasi> {
    let affine = expr.affine().replace(&mut |var| Some(Affine::var(rename(var))))?;
    let mut sum = Quasi::from(affine);
    for (division, coefficient) in expr.divisions() {
        let number = rename_quasi(&division.number, rename)?;
        let quotient = number.divide(division.op, division.divisor)?;
        sum = sum.combine(1, &quotient, *coefficient)?;
    }
    Ok(sum)
}

/// The domain with variables renamed all at once, dimensions included.
pub fn rename_domain(domain: &Domain, rename: &mut dyn FnMut(Var) -> Var) -> Result<Domain> {
    let dims: Vec<Var> = domain.dims().iter().map(|dim| rename(*dim)).collect();
    let mut value = |var: Var| Some(Affine::var(rename(var)));
    let sets: Result<Vec<Set>> = domain.sets().iter().map(|set| set.replace(&mut value)).collect();
    Ok(Domain::of_sets(dims, sets?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renaming_reaches_divisions_and_dimensions() {
        let mut table = VarTable::default();
        let (i, n) = (table.index("i"), table.symbol("n"));
        let j = table.fresh_like(i);
        let expr = Quasi::parse("2*floor((i + n) / 4) + i - 1", table.names_mut()).unwrap();
        let mut swap = |var| if var == i { j } else { var };
        let renamed = rename_quasi(&expr, &mut swap).unwrap();
        let text = renamed.display(table.names()).to_string();
        assert_eq!(text, "i' + 2*(floor((i' + n) / 4)) - 1");
        let domain = Domain::parse("{ [i] : 0 <= i < n }", table.names_mut()).unwrap();
        let renamed = rename_domain(&domain, &mut swap).unwrap();
        assert_eq!(renamed.display(table.names()).to_string(), "{ [i'] : i' >= 0 and i' < n }");
        assert!(table.contains(j) && table.contains(n));
        assert_eq!(table.show(j), "i'");
    }
}
