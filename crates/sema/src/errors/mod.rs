//! The messages of the checker, one file per code.

mod e0110_unknown_name;
mod e0111_unknown_module;
mod e0112_unknown_item;
mod e0113_private_item;
mod e0114_import_cycle;
mod e0115_name_clash;
mod e0116_index_rebound;
mod e0201_wrong_index;
mod e0202_consumed_absent;
mod e0203_unlisted_broadcast;
mod e0204_own_future;
mod e0205_layouts_differ;
mod e0301_extents_differ;
mod e0302_no_range;
mod e0303_range_in_where;
mod e0304_not_from_zero;
mod e0305_undefined_points;
mod e0306_wrong_rank;
mod e0307_invalid_slot;
mod e0308_out_of_bounds;
mod e0309_rest_undetermined;
mod e0310_jagged_read;
mod e0311_ragged_literal;
mod e0312_shapes_differ;
mod e0401_operands_differ;
mod e0402_does_not_fit;
mod e0403_wrong_call;
mod e0404_unknown_field;
mod e0405_not_exhaustive;
mod e0407_branches_differ;
mod e0408_impossible_cast;
mod e0410_effect;
mod e0501_outside_box;
mod e0502_no_base;
mod e0503_cycle;
mod e0601_not_differentiable;
mod e0603_not_linear;
mod w0406_unreachable_arm;

pub(crate) use e0110_unknown_name::*;
pub(crate) use e0111_unknown_module::*;
pub(crate) use e0112_unknown_item::*;
pub(crate) use e0113_private_item::*;
pub(crate) use e0114_import_cycle::*;
pub(crate) use e0115_name_clash::*;
pub(crate) use e0116_index_rebound::*;
pub(crate) use e0201_wrong_index::*;
pub(crate) use e0202_consumed_absent::*;
pub(crate) use e0203_unlisted_broadcast::*;
pub(crate) use e0204_own_future::*;
pub(crate) use e0205_layouts_differ::*;
pub(crate) use e0301_extents_differ::*;
pub(crate) use e0302_no_range::*;
pub(crate) use e0303_range_in_where::*;
pub(crate) use e0304_not_from_zero::*;
pub(crate) use e0305_undefined_points::*;
pub(crate) use e0306_wrong_rank::*;
pub(crate) use e0307_invalid_slot::*;
pub(crate) use e0308_out_of_bounds::*;
pub(crate) use e0309_rest_undetermined::*;
pub(crate) use e0310_jagged_read::*;
pub(crate) use e0311_ragged_literal::*;
pub(crate) use e0312_shapes_differ::*;
pub(crate) use e0401_operands_differ::*;
pub(crate) use e0402_does_not_fit::*;
pub(crate) use e0403_wrong_call::*;
pub(crate) use e0404_unknown_field::*;
pub(crate) use e0405_not_exhaustive::*;
pub(crate) use e0407_branches_differ::*;
pub(crate) use e0408_impossible_cast::*;
pub(crate) use e0410_effect::*;
pub(crate) use e0501_outside_box::*;
pub(crate) use e0502_no_base::*;
pub(crate) use e0503_cycle::*;
pub(crate) use e0601_not_differentiable::*;
pub(crate) use e0603_not_linear::{NotLinear, not_linear};
pub(crate) use w0406_unreachable_arm::*;

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

/// How the type of a function of known identity is shown.
pub(crate) const CLOSURE: &str = "closure";

/// What to do where two different functions meet.
const SIGNATURE: &str = "two functions have a type in common only where a signature is written: \
    annotate the binding, parameter or result, as in `let f: (i32) -> i32 = …`";
