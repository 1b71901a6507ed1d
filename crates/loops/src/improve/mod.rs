//! What is done to loop IR once it is there: nothing here changes which points are computed.
//!
//! | file | does |
//! |---|---|
//! | `share.rs` | `share_values`: nothing is computed or loaded twice in a row |
//! | `edges.rs` | `part_edges`: the first rounds of a loop ask for defaults, the others do not |
//! | `carry.rs` | `carry_values`: what a round stores and the next one loads goes there directly |
//! | `guards.rs` | `turn_guards`: in lanes, a term that does not count is the identity |
//! | `contract.rs` | `contract_products`: a product that is added becomes `fma`, where the schedule says so |
//! | `merge.rs`, `touch.rs` | `merge_loops`: loops over the same points that share what they read become one |
//! | `unread.rs` | `drop_unread`: what nobody reads is not stored |
//! | `folds.rs` | `merge_folds`: and so do their folds |
//! | `terms.rs` | `block_terms`: long sums go through their terms block by block, outside of their points |
//! | `panels.rs` | and the panels that are copied in such a block |
//! | `jam.rs` | `jam_rounds`: several rounds of a loop go through the loops inside together, where code is made |
//! | `hoist.rs` | `hoist_values`: what no round of a loop changes is computed before it, where code is made |
//! | `specialise.rs` | `specialise_sizes`: code of its own for sizes that the schedule expects |
//! | `unset.rs` | `leave_unset`: memory that is stored whole before it is read need not be zero |
//! | `budget.rs` | `hold_budget`: trajectories that are too large trap before they get memory |
//! | `longest.rs` | `hold_axis`: grids that are cut along a shorter axis trap as well |
//! | `copy.rs`, `rewrite.rs` | what they have in common: copies, visiting operands, counting uses, new values |

mod budget;
mod carry;
mod contract;
mod copy;
mod edges;
mod folds;
mod guards;
mod hoist;
mod jam;
mod longest;
mod merge;
mod panels;
mod rewrite;
mod share;
mod specialise;
mod terms;
mod touch;
mod unread;
mod unset;

pub(crate) use budget::hold_budget;
pub(crate) use copy::Copy;
pub use hoist::hoist_values;
pub(crate) use jam::may_go_together;
pub use jam::{Rounds, jam_rounds};
pub(crate) use longest::{LongestAxis, hold_axis};
pub(crate) use rewrite::{blocks, next_value_of};

use crate::ir::Kernel;
use crate::schedule::{Fma, Schedule};

/// Improves a kernel as its schedule allows.
pub(crate) fn improve(kernel: &mut Kernel, schedule: &Schedule) {
    share::share_values(kernel);
    edges::part_edges(kernel);
    carry::carry_values(kernel);
    specialise::specialise_sizes(kernel, &schedule.variant);
    guards::turn_guards(kernel);
    let merged = merge::merge_loops(kernel);
    if merged {
        share::share_values(kernel);
        unread::drop_unread(kernel);
    }
    if schedule.fma == Fma::Everywhere || schedule.chains {
        contract::contract_products(kernel, schedule.fma == Fma::Everywhere);
    }
    // What blocks of terms load was stored by the block before.
    unset::leave_unset(kernel);
    terms::block_terms(kernel);
    if merged {
        folds::merge_folds(kernel);
        share::share_values(kernel);
    }
}
