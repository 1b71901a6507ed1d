//! What is done to loop IR once it is there: nothing here changes which points are computed.
//!
//! | file | does |
//! |---|---|
//! | `share.rs` | `share_values`: nothing is computed or loaded twice in a row |
//! | `guards.rs` | `turn_guards`: in lanes, a term that does not count is the identity |
//! | `contract.rs` | `contract_products`: a product that is added becomes `fma`, where the schedule says so |
//! | `jam.rs` | `jam_rounds`: several rounds of a loop go through the loops inside together |
//! | `specialise.rs` | `specialise_sizes`: code of its own for sizes that the schedule expects |
//! | `budget.rs` | `hold_budget`: trajectories that are too large trap before they get memory |
//! | `copy.rs`, `rewrite.rs` | what they have in common: copies, visiting operands, counting uses, new values |

mod budget;
mod contract;
mod copy;
mod guards;
mod jam;
mod rewrite;
mod share;
mod specialise;

pub(crate) use budget::hold_budget;

use crate::ir::Kernel;
use crate::schedule::Schedule;

/// Improves a kernel as its schedule allows.
pub(crate) fn improve(kernel: &mut Kernel, schedule: &Schedule) {
    share::share_values(kernel);
    specialise::specialise_sizes(kernel, &schedule.variant);
    guards::turn_guards(kernel);
    if schedule.fma || schedule.chains {
        contract::contract_products(kernel, schedule.fma);
    }
    if jam::jam_rounds(kernel) {
        share::share_values(kernel);
    }
}
