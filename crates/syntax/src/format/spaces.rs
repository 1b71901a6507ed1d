//! Spaces between neighbours on a line. Everything is set apart by one space, but for the pairs
//! listed here. Where a line may break, the layout decides instead and nobody asks this module.
//!
//! Invariant: two tokens that would be read as other tokens when they touch never touch.

use crate::kind::SyntaxKind::{self, *};
use crate::tree::{Node, Token};

/// A token and the node it is a direct part of: together they say what the token means.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed<'t> {
    pub(super) token: Token<'t>,
    pub(super) parent: Node<'t>,
}

impl Placed<'_> {
    fn kind(self) -> SyntaxKind {
        self.token.kind()
    }

    fn within(self, kinds: &[SyntaxKind]) -> bool {
        kinds.contains(&self.parent.kind())
    }

    fn is_first(self) -> bool {
        self.parent.first_token() == Some(self.token)
    }

    fn is_last(self) -> bool {
        self.parent.last_token() == Some(self.token)
    }
}

/// Whether a space separates two tokens. `left_is_field` says that the left one is the number of a
/// tuple field and touches its dot.
pub(super) fn space_between(left: Placed<'_>, right: Placed<'_>, left_is_field: bool) -> bool {
    would_merge(left, right, left_is_field) || !(joins_right(left, right) || joins_left(right))
}

/// A token that touches the one after it.
fn joins_right(left: Placed<'_>, right: Placed<'_>) -> bool {
    match left.kind() {
        L_PAREN | L_BRACK | COLON2 | DOT | HASH => true,
        L_BRACE => right.kind() == R_BRACE || left.within(&[USE_LIST]),
        LT => left.within(GENERIC),
        MINUS | BANG | AT => left.within(&[UNARY_EXPR, LITERAL, RULE_ITEM, RULE_FROM]),
        DOT2 | DOT2EQ => !left.is_last(),
        PIPE => left.within(&[PARAM_LIST]) && left.is_first(),
        _ => false,
    }
}

/// A token that touches the one before it.
fn joins_left(right: Placed<'_>) -> bool {
    match right.kind() {
        R_PAREN | R_BRACK | COMMA | SEMI | COLON2 | DOT => true,
        COLON => !right.within(&[SUB_ALL]),
        R_BRACE => right.within(&[USE_LIST]),
        LT | GT => right.within(GENERIC),
        DOT2 | DOT2EQ => !right.is_first(),
        L_PAREN => right.within(&[ARG_LIST, PARAM_LIST, VARIANT_TUPLE, VARIANT_PAT, ATTR_ARGS]),
        L_BRACK => right.within(&[SLOTS, COORD_PARAMS, ATTR, JAGGED_TYPE]) || subscripts(right),
        PIPE => right.within(&[PARAM_LIST]) && !right.is_first(),
        _ => false,
    }
}

const GENERIC: &[SyntaxKind] = &[GENERIC_PARAMS, GENERIC_ARGS];

/// The bracket of `x[i]`, not that of `x with [i] = e`.
fn subscripts(bracket: Placed<'_>) -> bool {
    let owner = bracket.parent.parent().map(Node::kind);
    bracket.within(&[SUBSCRIPTS]) && owner == Some(INDEX_EXPR)
}

/// Pairs that are two tokens only apart: `1 .max` would begin with the number `1.`, `| |` would be
/// an operator, and in `t. 0x1` the dot would end the number after one digit.
fn would_merge(left: Placed<'_>, right: Placed<'_>, left_is_field: bool) -> bool {
    let text = left.token.text();
    match (left.kind(), right.kind()) {
        (INT | FLOAT, DOT) => !left_is_field,
        (FLOAT, DOT2 | DOT2EQ) => text.ends_with('.'),
        (DOT, INT) => !right.token.text().bytes().all(|b| b.is_ascii_digit() || b == b'_'),
        (PIPE, PIPE) => true,
        _ => false,
    }
}
