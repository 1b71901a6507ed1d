//! Variables and their names.
//!
//! A [`Var`] is an index variable (it runs over a domain), a symbol (a parameter: an extent or an
//! integer input, fixed but unknown) or a local (bound by `exists`, never seen outside this
//! crate). The distinction only matters for printing and for who quantifies over it: for every
//! operation on a [`crate::Domain`], whatever is not one of its dimensions is a parameter.
//!
//! Invariant: within one [`Vars`] table all names differ, so a printed form names one variable.

use std::fmt;
use std::sync::Arc;

use rustc_hash::FxHashMap as HashMap;

/// A variable. The order is: indices, then symbols, then locals, each by age; printed expressions
/// list their terms in this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Var(u32);

/// What a variable stands for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum VarKind {
    /// An index variable.
    Index,
    /// A symbol: fixed but unknown.
    Symbol,
    /// Bound by an `exists`.
    Local,
}

/// The two top bits hold the kind.
const NUMBER_BITS: u32 = 30;
const NUMBER_MASK: u32 = (1 << NUMBER_BITS) - 1;

impl Var {
    fn new(kind: VarKind, number: u32) -> Var {
        Var((kind as u32) << NUMBER_BITS | (number & NUMBER_MASK))
    }

    /// The local with this number.
    pub(crate) fn local(number: u32) -> Var {
        Var::new(VarKind::Local, number)
    }

    /// A variable that is in no table, counted from the end: for comparing things whose bound
    /// variables may have any names.
    pub fn reserved(kind: VarKind, number: u32) -> Var {
        Var::new(kind, NUMBER_MASK - number.min(NUMBER_MASK))
    }

    /// What the variable stands for.
    pub fn kind(self) -> VarKind {
        match self.0 >> NUMBER_BITS {
            0 => VarKind::Index,
            1 => VarKind::Symbol,
            _ => VarKind::Local,
        }
    }

    /// The position among the variables of its kind.
    pub fn number(self) -> usize {
        (self.0 & NUMBER_MASK) as usize
    }
}

impl fmt::Debug for Var {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = match self.kind() {
            VarKind::Index => 'i',
            VarKind::Symbol => 's',
            VarKind::Local => 'e',
        };
        write!(f, "{letter}{}", self.number())
    }
}

/// The table of all index variables and symbols, with their names. Copies have their names in common until one of
/// them gets another.
#[derive(Clone, Default, Debug)]
pub struct Vars(Arc<Names>);

#[derive(Clone, Default, Debug)]
struct Names {
    indices: Vec<Arc<str>>,
    symbols: Vec<Arc<str>>,
    by_name: HashMap<Arc<str>, Var>,
    /// How many names were made from each name that was asked for and taken.
    n_made: HashMap<Arc<str>, u32>,
}

impl Vars {
    /// An empty table.
    pub fn new() -> Vars {
        Vars::default()
    }

    /// A new index variable. If the name is taken, primes are added, and counted from the
    /// fourth on.
    pub fn index(&mut self, name: &str) -> Var {
        let names = Arc::make_mut(&mut self.0);
        let var = Var::new(VarKind::Index, names.indices.len() as u32);
        let name = names.claim(name, var);
        names.indices.push(name);
        var
    }

    /// A new symbol. If the name is taken, primes are added, and counted from the
    /// fourth on.
    pub fn symbol(&mut self, name: &str) -> Var {
        let names = Arc::make_mut(&mut self.0);
        let var = Var::new(VarKind::Symbol, names.symbols.len() as u32);
        let name = names.claim(name, var);
        names.symbols.push(name);
        var
    }

    /// The variable of this name.
    pub fn lookup(&self, name: &str) -> Option<Var> {
        self.0.by_name.get(name).copied()
    }

    /// The name, or `None` for a variable of another table.
    pub fn name(&self, var: Var) -> Option<&str> {
        let table = match var.kind() {
            VarKind::Index => &self.0.indices,
            VarKind::Symbol => &self.0.symbols,
            VarKind::Local => return None,
        };
        table.get(var.number()).map(|name| &**name)
    }

    /// The name as it is printed: quoted where it would not read back as one word.
    pub(crate) fn write_name(&self, var: Var, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name(var) {
            Some(name) if crate::text::is_plain_name(name) => f.write_str(name),
            Some(name) => write!(f, "`{name}`"),
            None => write!(f, "{var:?}"),
        }
    }
}

impl Names {
    /// Finds a free name close to `name` and records it. A back-quote would end a quoted name.
    fn claim(&mut self, name: &str, var: Var) -> Arc<str> {
        let asked: Arc<str> = name.replace('`', "'").into();
        let mut name = Arc::clone(&asked);
        while self.by_name.contains_key(&name) {
            // Three primes can be read; from then on they are counted.
            let n_made = self.n_made.entry(Arc::clone(&asked)).or_default();
            *n_made = n_made.saturating_add(1);
            name = match *n_made {
                n @ 1..=3 => format!("{asked}{}", "'".repeat(n as usize)).into(),
                n => format!("{asked}'{n}").into(),
            };
        }
        self.by_name.insert(Arc::clone(&name), var);
        name
    }
}

/// Something that prints with the names of a table; made by the `display` methods.
#[derive(Clone, Copy)]
pub struct Named<'a, T: ?Sized> {
    pub(crate) item: &'a T,
    pub(crate) vars: &'a Vars,
}

impl<'a, T: ?Sized> Named<'a, T> {
    pub(crate) fn new(item: &'a T, vars: &'a Vars) -> Named<'a, T> {
        Named { item, vars }
    }

    /// The same table for a part of the item.
    pub(crate) fn part<'b, U: ?Sized>(&self, item: &'b U) -> Named<'b, U>
    where
        'a: 'b,
    {
        Named { item, vars: self.vars }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_found_again() {
        let mut vars = Vars::new();
        let (i, n, j) = (vars.index("i"), vars.symbol("n"), vars.index("i"));
        assert_eq!([vars.name(i), vars.name(n), vars.name(j)], [Some("i"), Some("n"), Some("i'")]);
        assert_eq!(vars.lookup("i'"), Some(j));
        assert_eq!([i.kind(), n.kind()], [VarKind::Index, VarKind::Symbol]);
        assert!(i < j && j < n && n < Var::local(0));
    }
}
