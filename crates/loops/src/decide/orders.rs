//! Orders that were found while one module is planned.
//!
//! Several passes ask how the groups of a module run before the schedule is decided, and most groups are the
//! same for all of them. An order follows from a group and from what is known of sizes, so it is looked for
//! once. What is known is kept per thread, and forgotten when there is much of it.

use std::cell::RefCell;
use std::collections::HashMap;

use einlang_index::Facts;
use einlang_tir::module::{Group, Module};
use einlang_tir::order::{Order, any_order};

/// So many groups are remembered: those of one large module, or each pass would look for all of them again.
const MOST: usize = 1024;

/// The orders of groups, each with the facts it was found under.
type Known = HashMap<Group, (Facts, Option<Order>)>;

thread_local! {
    static KNOWN: RefCell<Known> = RefCell::default();
}

/// The order of a group of a module, of which these facts hold.
pub(super) fn order_of(module: &Module, group: &Group, facts: &Facts) -> Option<Order> {
    let known = KNOWN.with_borrow(|known| {
        known.get(group).filter(|(under, _)| under == facts).map(|(_, order)| order.clone())
    });
    known.unwrap_or_else(|| {
        let order = any_order(module, group);
        KNOWN.with_borrow_mut(|known| {
            if known.len() >= MOST {
                known.clear();
            }
            known.insert(group.clone(), (facts.clone(), order.clone()));
        });
        order
    })
}
