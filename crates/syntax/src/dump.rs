//! The tree as text, for `einlang ir --after parse` and for fixtures: one node or token a line,
//! indented by depth, with byte ranges; white space is left out, comments are kept.

use std::fmt::Write;

use crate::kind::SyntaxKind;
use crate::tree::{Element, Node, Tree};

/// Prints a tree.
pub fn dump(tree: &Tree) -> String {
    let mut out = String::new();
    dump_node(tree.root(), 0, &mut out);
    out
}

/// Prints the tokens of a tree, one a line, white space included.
pub fn dump_tokens(tree: &Tree) -> String {
    let mut out = String::new();
    for token in tree.tokens() {
        write_line(
            &mut out,
            0,
            format_args!("{:?} {:?}", token.kind(), token.text()),
            token.range(),
        );
    }
    out
}

fn dump_node(node: Node<'_>, depth: usize, out: &mut String) {
    write_line(out, depth, format_args!("{:?}", node.kind()), node.range());
    for element in node.elements() {
        match element {
            Element::Node(child) => dump_node(child, depth + 1, out),
            Element::Token(token) if token.kind() == SyntaxKind::WHITESPACE => {}
            Element::Token(token) => {
                let what = format_args!("{:?} {:?}", token.kind(), token.text());
                write_line(out, depth + 1, what, token.range());
            }
        }
    }
}

fn write_line(
    out: &mut String,
    depth: usize,
    what: std::fmt::Arguments<'_>,
    range: std::ops::Range<usize>,
) {
    let indent = "  ".repeat(depth);
    writeln!(out, "{indent}{what} @{}..{}", range.start, range.end)
        .expect("invariant: writing to a string cannot fail");
}
