//! The messages of the checker, one file per code.

mod e0110_unknown_name;
mod e0111_unknown_module;
mod e0112_unknown_item;
mod e0113_private_item;
mod e0114_import_cycle;
mod e0115_name_clash;
mod e0116_index_rebound;
mod e0307_invalid_slot;

pub(crate) use e0110_unknown_name::*;
pub(crate) use e0111_unknown_module::*;
pub(crate) use e0112_unknown_item::*;
pub(crate) use e0113_private_item::*;
pub(crate) use e0114_import_cycle::*;
pub(crate) use e0115_name_clash::*;
pub(crate) use e0116_index_rebound::*;
pub(crate) use e0307_invalid_slot::*;

use einlang_source::{Diagnostic, Span, nearest};

/// Adds "did you mean" with its edit, or another piece of advice.
fn suggest<'a>(
    diagnostic: Diagnostic,
    wanted: &str,
    span: Span,
    candidates: impl IntoIterator<Item = &'a str>,
    otherwise: impl Into<String>,
) -> Diagnostic {
    match nearest(wanted, candidates) {
        Some(near) => diagnostic.with_edit(format!("did you mean `{near}`?"), span, near),
        None => diagnostic.with_help(otherwise),
    }
}
