//! Sizes that follow from extents of parameters: `max(1, n)` where `n` is the extent of an argument.
//!
//! Code of a function that is put in place has the extents of the arguments instead of those of its
//! parameters; symbols that are made of the latter get copies that are made of the former.

use einlang_index::{Quasi, Result};

use crate::module::{Module, Symbol, SymbolSource};
use crate::substitute::Substitution;

/// Adds to known extents the sizes that follow from them.
pub(crate) fn derive_sizes(module: &mut Module, known: &mut Substitution) -> Result<()> {
    if known.vars.is_empty() {
        return Ok(());
    }
    // A symbol is made of earlier ones.
    for Symbol { var, source, loc } in module.symbols.clone() {
        let (SymbolSource::Max(of) | SymbolSource::Min(of)) = &source else { continue };
        let given = of.iter().map(|expr| known.quasi(expr)).collect::<Result<Vec<Quasi>>>()?;
        if given == *of {
            continue;
        }
        let is_largest = matches!(source, SymbolSource::Max(_));
        let numbers: Option<Vec<i64>> = given.iter().map(Quasi::as_constant).collect();
        let number = numbers.and_then(|numbers| match is_largest {
            true => numbers.into_iter().max(),
            false => numbers.into_iter().min(),
        });
        let value = match number {
            Some(number) => number.into(),
            None => {
                let source =
                    if is_largest { SymbolSource::Max(given) } else { SymbolSource::Min(given) };
                let own = module.vars.symbol("m");
                module.symbols.push(Symbol { var: own, source, loc });
                own.into()
            }
        };
        known.vars.insert(var, value);
    }
    Ok(())
}
