//! What is done to loop IR once it is there: nothing here changes which points are computed.
//!
//! | file | does |
//! |---|---|
//! | `share.rs` | `share_values`: nothing is computed or loaded twice in a row |
//! | `contract.rs` | `contract_products`: a product that is added becomes `fma`, where the schedule says so |
//! | `rewrite.rs` | what they have in common: visiting operands, counting uses, new values |

mod contract;
mod rewrite;
mod share;

use crate::ir::Kernel;
use crate::schedule::Schedule;

/// Improves a kernel as its schedule allows.
pub(crate) fn improve(kernel: &mut Kernel, schedule: &Schedule) {
    share::share_values(kernel);
    if schedule.fma {
        contract::contract_products(kernel);
    }
}
