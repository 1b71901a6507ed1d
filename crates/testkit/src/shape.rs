//! What a tree says, apart from how it is written: the kinds of its nodes and the texts of its
//! tokens, without layout, comments, ranges and redundant parentheses.
//!
//! Two texts of one shape mean the same. That is what a formatter must keep, and how the binding
//! strength of operators is tested: a text with parentheses where they are needed has the shape of
//! the text with parentheses everywhere.

use einlang_syntax::{Element, Node, SyntaxKind, Tree};

/// One line per node and token, indented by depth.
pub fn shape(tree: &Tree) -> String {
    let mut out = String::new();
    write_node(tree.root(), 0, &mut out);
    out
}

fn write_node(node: Node<'_>, depth: usize, out: &mut String) {
    if let Some(inner) = redundant(node) {
        return write_node(inner, depth, out);
    }
    write_line(&format!("{:?}", node.kind()), depth, out);
    for element in node.elements() {
        match element {
            Element::Node(child) => write_node(child, depth + 1, out),
            Element::Token(token) if token.kind().is_trivia() => {}
            Element::Token(token) => write_line(token.text(), depth + 1, out),
        }
    }
}

fn write_line(text: &str, depth: usize, out: &mut String) {
    out.push_str(&"  ".repeat(depth));
    out.push_str(text);
    out.push('\n');
}

/// What stands in parentheses that hold one expression and nothing else.
fn redundant(node: Node<'_>) -> Option<Node<'_>> {
    let mut children = node.children();
    let inner = children.next()?;
    let alone = children.next().is_none();
    (node.kind() == SyntaxKind::PAREN_EXPR && alone).then_some(inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::parse_text;

    fn shape_of(text: &str) -> String {
        shape(&parse_text(text).parse.tree)
    }

    #[test]
    fn layout_and_redundant_parentheses_do_not_count() {
        assert_eq!(shape_of("let x = a + b * c;"), shape_of("let x=( (a)+( b*c ) ) ; // note\n"));
        assert_ne!(shape_of("let x = a + b * c;"), shape_of("let x = (a + b) * c;"));
        assert_ne!(shape_of("f(a);"), shape_of("f((a, b));"));
    }
}
