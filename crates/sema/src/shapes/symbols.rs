//! The variables of a program: indices, and symbols for the integers that only a run knows.
//!
//! Every instance has variables of its own, so the table is one for the whole program and names
//! are for people only: [`Symbols::show`] gives each variable of an expression the name that the
//! source has for it, with primes where two would look alike.

use einlang_source::map::HashMap;

use einlang_index::{Affine, MinMax, Quasi, Range, Result, Var, VarKind, Vars};

use super::value::Shape;
use crate::hir::{DefId, ExprId, LocalId};
use crate::types::InstanceId;

/// Where the value of a symbol comes from.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Origin {
    /// The extent of an axis of a value.
    Axis(Source, Path, usize),
    /// An integer.
    Value(Source, Path),
    /// The run-time extent of the open axis of a recurrence with `until`, named by its binding.
    Until(InstanceId, LocalId),
    /// A size that is computed from other symbols: `N` where an axis was declared `2 * N`.
    Computed(MinMax),
    /// A size that nothing has bound yet.
    Unbound,
}

/// The fields to go through from a value to a part of it.
pub type Path = Vec<usize>;

/// A value that a symbol can come from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Source {
    /// A parameter of an instance, by position.
    Param(InstanceId, usize),
    /// A program input.
    Input(DefId),
    /// The value of an expression.
    Expr(InstanceId, ExprId),
    /// A binding: an integer `let`, or a pattern variable.
    Local(InstanceId, LocalId),
}

/// The variables with their names and origins.
#[derive(Debug, Default)]
pub struct Symbols {
    vars: Vars,
    names: HashMap<Var, String>,
    origins: HashMap<Var, Origin>,
    /// What symbols that stood for extents still to be found turned out to be.
    known: HashMap<Var, MinMax>,
}

impl Symbols {
    pub(super) fn index(&mut self, name: &str) -> Var {
        let var = self.vars.index(&format!("i#{}", self.names.len()));
        self.names.insert(var, name.to_owned());
        var
    }

    pub(super) fn symbol(&mut self, name: &str, origin: Origin) -> Var {
        let var = self.vars.symbol(&format!("s#{}", self.names.len()));
        self.names.insert(var, name.to_owned());
        self.origins.insert(var, origin);
        var
    }

    /// The name in the source.
    pub fn name(&self, var: Var) -> &str {
        self.names.get(&var).map_or("?", String::as_str)
    }

    /// A better name for a symbol.
    pub(super) fn rename(&mut self, var: Var, name: &str) {
        self.names.insert(var, name.to_owned());
    }

    /// Whether the name says nothing but how the value was computed.
    pub(super) fn is_generic(&self, var: Var) -> bool {
        self.name(var).contains('…')
    }

    /// Where the value of a symbol comes from; `None` for indices.
    pub fn origin(&self, var: Var) -> Option<&Origin> {
        self.origins.get(&var)
    }

    pub(super) fn bind(&mut self, var: Var, origin: Origin) {
        self.origins.insert(var, origin);
    }

    /// Whether a symbol still stands for an extent to be found.
    pub(super) fn is_open(&self, var: Var) -> bool {
        self.origins.get(&var) == Some(&Origin::Unbound) && !self.known.contains_key(&var)
    }

    /// Says what an open symbol is. Its value mentions no open symbol.
    pub(super) fn define(&mut self, var: Var, value: MinMax) {
        self.known.insert(var, value);
    }

    /// Whether an expression mentions a symbol that is still to be found.
    pub(super) fn mentions_open(&self, value: &MinMax) -> bool {
        let mut open = false;
        value.for_each_var(&mut |var| open |= self.is_open(var));
        open
    }

    /// The expression with everything in it that was found out since.
    pub fn resolved(&self, value: &MinMax) -> MinMax {
        let mut stale = false;
        value.for_each_var(&mut |var| stale |= self.known.contains_key(&var));
        if !stale {
            return value.clone();
        }
        substituted(value, &|var| self.known.get(&var).cloned()).unwrap_or_else(|| value.clone())
    }

    /// The shape with everything in it that was found out since.
    pub fn resolved_shape(&self, shape: &Shape) -> Shape {
        let mut stale = false;
        shape.for_each_var(&mut |var| stale |= self.known.contains_key(&var));
        if stale { shape.map(&mut |value| self.resolved(value)) } else { shape.clone() }
    }

    /// The expression in the names of the source.
    pub fn show(&self, value: &MinMax) -> String {
        let mut vars = Vec::new();
        value.for_each_var(&mut |var| vars.push(var));
        let (table, rename) = self.readable(vars);
        let shown = value.map(true, &mut |quasi| {
            Ok(einlang_tir::vars::rename_quasi(quasi, &mut |var| {
                rename.get(&var).copied().unwrap_or(var)
            })?
            .into())
        });
        shown.map_or_else(|_| "?".to_owned(), |value| value.display(&table).to_string())
    }

    /// The extent in the names of the source. That it is never negative goes without saying.
    pub fn show_extent(&self, extent: &MinMax) -> String {
        match extent {
            MinMax::Max(list) => match &list[..] {
                [zero, other] | [other, zero] if zero.as_constant() == Some(0) => self.show(other),
                _ => self.show(extent),
            },
            _ => self.show(extent),
        }
    }

    /// The range in the names of the source.
    pub fn show_range(&self, range: &Range<einlang_source::Span>) -> String {
        let end = |bound: Option<MinMax>| bound.map_or(String::new(), |bound| self.show(&bound));
        format!("{}..{}", end(range.lo()), end(range.hi()))
    }

    /// A small table with readable names for some variables.
    pub(super) fn readable(&self, mut vars: Vec<Var>) -> (Vars, HashMap<Var, Var>) {
        vars.sort_unstable();
        vars.dedup();
        let mut table = Vars::new();
        let mut rename = HashMap::default();
        for var in vars {
            let name = self.name(var);
            let new = match var.kind() {
                VarKind::Index => table.index(name),
                _ => table.symbol(name),
            };
            rename.insert(var, new);
        }
        (table, rename)
    }
}

/// The expression with variables replaced all at once, or nothing where that is no such expression
/// (a maximum inside a remainder, an overflow).
pub(super) fn substituted(value: &MinMax, with: &dyn Fn(Var) -> Option<MinMax>) -> Option<MinMax> {
    match value {
        MinMax::Value(quasi) => substituted_quasi(quasi, with).ok(),
        MinMax::Min(list) => {
            let list: Option<Vec<MinMax>> =
                list.iter().map(|part| substituted(part, with)).collect();
            MinMax::min_of(list?).ok()
        }
        MinMax::Max(list) => {
            let list: Option<Vec<MinMax>> =
                list.iter().map(|part| substituted(part, with)).collect();
            MinMax::max_of(list?).ok()
        }
    }
}

fn substituted_quasi(quasi: &Quasi, with: &dyn Fn(Var) -> Option<MinMax>) -> Result<MinMax> {
    let affine = quasi.affine();
    let mut sum = MinMax::from(Quasi::from(Affine::constant(affine.constant_part())));
    for (var, coefficient) in affine.terms() {
        let value = with(*var).unwrap_or_else(|| MinMax::from(*var));
        sum = sum.add(&value.scale(*coefficient)?)?;
    }
    for (division, coefficient) in quasi.divisions() {
        let number = substituted_quasi(&division.number, with)?;
        let quotient = match &number {
            MinMax::Value(number) => number.divide(division.op, division.divisor)?.into(),
            // A quotient preserves order, a remainder does not.
            _ if matches!(
                division.op,
                einlang_index::DivOp::FloorDiv | einlang_index::DivOp::TruncDiv
            ) =>
            {
                number.map(true, &mut |q| Ok(q.divide(division.op, division.divisor)?.into()))?
            }
            _ => return Err(einlang_index::GaveUp::Symbolic),
        };
        sum = sum.add(&quotient.scale(*coefficient)?)?;
    }
    Ok(sum)
}
