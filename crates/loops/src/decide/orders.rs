//! Orders and windows that were found while one module is planned.
//!
//! Several passes ask how the groups of a module run before the schedule is decided, and most groups are the
//! same for all of them. An order follows from a group and from what is known of sizes, and windows from those
//! and from who reads the group; so they are looked for once. What is known is kept per thread, and forgotten
//! when there is much of it.

use std::cell::RefCell;
use std::thread::LocalKey;

use einlang_index::Facts;
use einlang_tir::module::{Group, Module};
use einlang_tir::order::{Order, any_order};
use rustc_hash::FxHashMap as HashMap;

use super::observers::Readers;
use crate::schedule::GroupSchedule;

/// So many groups are remembered: those of one large module, or each pass would look for all of them again.
const MOST: usize = 1024;

/// What was found for groups, each with what it follows from besides.
type Known<U, T> = HashMap<Group, (U, T)>;

thread_local! {
    static ORDERS: RefCell<Known<Facts, Option<Order>>> = RefCell::default();
    static WINDOWS: RefCell<Known<(Facts, Readers), GroupSchedule>> = RefCell::default();
}

/// The order of a group of a module, of which these facts hold.
pub(super) fn order_of(module: &Module, group: &Group, facts: &Facts) -> Option<Order> {
    recalled(&ORDERS, group, facts.clone(), || any_order(module, group))
}

/// The schedule of a group with its windows, which is found from these facts and readers.
pub(super) fn windows_of(
    group: &Group,
    facts: &Facts,
    readers: Readers,
    find: impl FnOnce() -> GroupSchedule,
) -> GroupSchedule {
    recalled(&WINDOWS, group, (facts.clone(), readers), find)
}

fn recalled<U: PartialEq, T: Clone>(
    all: &'static LocalKey<RefCell<Known<U, T>>>,
    group: &Group,
    under: U,
    find: impl FnOnce() -> T,
) -> T {
    let known = all.with_borrow(|all| {
        all.get(group).filter(|(then, _)| *then == under).map(|(_, found)| found.clone())
    });
    known.unwrap_or_else(|| {
        let found = find();
        all.with_borrow_mut(|all| {
            if all.len() >= MOST {
                all.clear();
            }
            all.insert(group.clone(), (under, found.clone()));
        });
        found
    })
}
