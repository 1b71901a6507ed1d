//! Typed views of the tree. A view is a node that is known to have a certain kind; its methods
//! find the parts by kind and order.
//!
//! Every method returns an `Option` or an iterator, because a tree with errors may lack any part;
//! in a tree without errors the parts that the grammar demands are there. Views borrow the tree,
//! are `Copy`, and cost nothing to make.

mod access;
mod expressions;
mod items;
mod operators;
mod patterns;
mod statements;
mod types;

pub use access::*;
pub use expressions::*;
pub use items::*;
pub use operators::*;
pub use patterns::*;
pub use statements::*;
pub use types::*;

use crate::kind::SyntaxKind;
use crate::tree::{Node, Token, Tree};

/// A typed view of a node.
pub trait AstNode<'t>: Sized + Copy {
    /// The view of a node, when it has the right kind.
    fn cast(node: Node<'t>) -> Option<Self>;

    /// The node behind the view.
    fn node(self) -> Node<'t>;

    /// The bytes of the node.
    fn range(self) -> std::ops::Range<usize> {
        self.node().range()
    }

    /// The text of the node as written.
    fn text(self) -> &'t str {
        self.node().text()
    }
}

/// Declares views of single kinds.
macro_rules! views {
    ($($(#[$doc:meta])* $view:ident = $kind:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub struct $view<'t>(pub(crate) $crate::tree::Node<'t>);

        impl<'t> $crate::ast::AstNode<'t> for $view<'t> {
            fn cast(node: $crate::tree::Node<'t>) -> Option<Self> {
                (node.kind() == $crate::kind::SyntaxKind::$kind).then_some($view(node))
            }
            fn node(self) -> $crate::tree::Node<'t> {
                self.0
            }
        }
    )*};
}

/// Declares a view that is one of several.
macro_rules! choices {
    ($(#[$doc:meta])* $choice:ident { $($(#[$variant_doc:meta])* $variant:ident($view:ident),)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum $choice<'t> {
            $($(#[$variant_doc])* $variant($view<'t>),)*
        }

        impl<'t> $crate::ast::AstNode<'t> for $choice<'t> {
            fn cast(node: $crate::tree::Node<'t>) -> Option<Self> {
                $(if let Some(view) = $view::cast(node) {
                    return Some($choice::$variant(view));
                })*
                None
            }
            fn node(self) -> $crate::tree::Node<'t> {
                match self {
                    $($choice::$variant(view) => view.node(),)*
                }
            }
        }
    };
}
pub(crate) use {choices, views};

/// The first child that is a `V`.
pub(crate) fn child<'t, V: AstNode<'t>>(node: Node<'t>) -> Option<V> {
    node.children().find_map(V::cast)
}

/// All children that are a `V`, in order.
pub(crate) fn children<'t, V: AstNode<'t>>(node: Node<'t>) -> impl Iterator<Item = V> {
    node.children().filter_map(V::cast)
}

/// The `n`th child that is a `V`.
pub(crate) fn nth_child<'t, V: AstNode<'t>>(node: Node<'t>, n: usize) -> Option<V> {
    children(node).nth(n)
}

/// The first child that is a `V` and stands after the first token of a kind.
pub(crate) fn child_after<'t, V: AstNode<'t>>(node: Node<'t>, kind: SyntaxKind) -> Option<V> {
    let end = node.token(kind)?.range().end;
    node.children().filter(|child| child.range().start >= end).find_map(V::cast)
}

views! {
    /// A whole file.
    SourceFile = SOURCE_FILE;
    /// A name that is introduced or referred to by itself.
    Name = NAME;
    /// `a::b::c`, also a plain name.
    Path = PATH;
}

impl<'t> SourceFile<'t> {
    /// The view of a tree.
    pub fn of(tree: &'t Tree) -> SourceFile<'t> {
        SourceFile(tree.root())
    }

    /// The statements and items, in order.
    pub fn statements(self) -> impl Iterator<Item = Statement<'t>> {
        children(self.0)
    }
}

impl<'t> Name<'t> {
    /// The token of the name.
    pub fn token(self) -> Option<Token<'t>> {
        self.0.own_tokens().next()
    }
}

impl<'t> Path<'t> {
    /// The words between the `::`.
    pub fn segments(self) -> impl Iterator<Item = Token<'t>> {
        self.0.own_tokens().filter(|token| token.kind() != SyntaxKind::COLON2)
    }

    /// The single word of a path without `::`.
    pub fn single(self) -> Option<Token<'t>> {
        let mut segments = self.segments();
        segments.next().filter(|_| segments.next().is_none())
    }

    /// The last word.
    pub fn last(self) -> Option<Token<'t>> {
        self.segments().last()
    }
}

#[cfg(test)]
mod tests;
