//! Names and extents as the source has them: symbols that stand for something are shown as that.

use einlang_index::{Quasi, Var};
use einlang_tir::module::{Condition, Module, SymbolSource};

/// The name of an index, without the number that tells it from others of that name.
pub fn name(module: &Module, var: Var) -> String {
    let name = module.vars.names().name(var).unwrap_or("?");
    // Copies of an index have primes, and numbers after them.
    let name = name.split('\'').next().unwrap_or(name);
    match name.rsplit_once('_') {
        Some((base, digits))
            if !digits.is_empty()
                && digits.bytes().all(|b| b.is_ascii_digit())
                && module.vars.lookup(base).is_some() =>
        {
            base.to_owned()
        }
        _ => name.to_owned(),
    }
}

/// An index expression; a symbol alone is shown as what it is.
pub(super) fn expression(module: &Module, expr: &Quasi) -> String {
    let plain = |expr: &Quasi| {
        let mut text = expr.display(module.vars.names()).to_string();
        expr.for_each_var(&mut |var| {
            let shown = module.vars.show(var);
            // Only a quoted name cannot be part of another.
            if shown.starts_with('`') {
                text = text.replace(&shown, &symbol(module, var));
            }
        });
        if let Some(var) = expr.as_var() { symbol(module, var) } else { text }
    };
    let Some(var) = expr.as_var() else { return plain(expr) };
    let (word, of) = match module.source(var) {
        Some(SymbolSource::Max(of)) => ("max", of),
        Some(SymbolSource::Min(of)) => ("min", of),
        _ => return plain(expr),
    };
    format!("{word}({})", of.iter().map(plain).collect::<Vec<_>>().join(", "))
}

fn symbol(module: &Module, var: Var) -> String {
    match module.source(var) {
        Some(SymbolSource::Shape(tensor, 0))
            if module.tensor_type(tensor).is_some_and(|ty| ty.rank() == 1) =>
        {
            format!("len({})", tensor.as_str())
        }
        Some(SymbolSource::Shape(tensor, axis)) => format!("shape({})[{axis}]", tensor.as_str()),
        _ => name(module, var),
    }
}

/// A comparison.
pub(super) fn condition(module: &Module, condition: &Condition) -> String {
    let (left, right) = (expression(module, &condition.left), expression(module, &condition.right));
    format!("{left} {} {right}", condition.relation.as_str())
}
