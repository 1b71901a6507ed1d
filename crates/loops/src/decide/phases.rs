//! What comes first in a round of a loop.

use einlang_tir::order::Statement;

use super::along::Forms;
use super::fuse::statements;
use crate::schedule::{Nest, Role};

/// Clauses that are looked for.
pub(super) type Wanted<'a> = &'a dyn Fn(&Statement) -> bool;

/// Whether in each round of the loop with these forms a clause is through with all its points before any
/// of those that write begins.
pub(super) fn comes_before(nest: &Nest, of: &Forms, reader: Statement, writes: Wanted<'_>) -> bool {
    match nest {
        Nest::Loop { forms, tile: None, role: Role::Seq, inner } if forms == of => {
            is_first(inner, reader, writes)
        }
        Nest::Loop { inner, .. } => comes_before(inner, of, reader, writes),
        Nest::Phases(phases) => phases.iter().any(|nest| comes_before(nest, of, reader, writes)),
        Nest::Points { .. } => false,
    }
}

fn is_first(nest: &Nest, reader: Statement, writes: Wanted<'_>) -> bool {
    let Nest::Phases(phases) = nest else { return false };
    let first = |wanted: Wanted<'_>| phases.iter().position(|p| statements(p).iter().any(wanted));
    match (first(&|statement| *statement == reader), first(writes)) {
        (Some(read), Some(written)) if read == written => is_first(&phases[read], reader, writes),
        (Some(read), Some(written)) => read < written,
        _ => false,
    }
}

/// Whether a clause runs in rounds of the loop with these forms, and there stores each point once, when all was
/// read for it: where terms go outside of points, its place holds their sum so far.
pub(super) fn is_stored_once(nest: &Nest, of: &Forms, clause: Statement) -> bool {
    match nest {
        Nest::Loop { forms, tile: None, role: Role::Seq, inner } if forms == of => {
            !has_terms_around(inner, clause)
        }
        Nest::Loop { inner, .. } => is_stored_once(inner, of, clause),
        Nest::Phases(phases) => phases.iter().any(|nest| is_stored_once(nest, of, clause)),
        Nest::Points { .. } => false,
    }
}

fn has_terms_around(nest: &Nest, clause: Statement) -> bool {
    match nest {
        Nest::Loop { role: Role::Terms(_), inner, .. } => statements(inner).contains(&clause),
        Nest::Loop { inner, .. } => has_terms_around(inner, clause),
        Nest::Phases(phases) => phases.iter().any(|nest| has_terms_around(nest, clause)),
        Nest::Points { .. } => false,
    }
}
