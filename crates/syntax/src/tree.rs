//! The lossless tree: all tokens of a file in order, and the nodes above them in preorder.
//!
//! Both live in flat arrays. A node is a range of tokens and a range of nodes, so a handle is a
//! reference and a number: `Copy`, `Send`, without reference counts. Trees are never edited.
//!
//! Invariants: token texts concatenate to the source text; children follow their parent in the
//! array and lie inside its token range, in order and without overlap; node 0 is the
//! `SOURCE_FILE` and covers every token.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::kind::SyntaxKind;
use crate::lexer::Tokens;

/// A parsed file.
#[derive(Clone)]
pub struct Tree {
    text: Arc<str>,
    kinds: Vec<SyntaxKind>,
    starts: Vec<u32>,
    pub(crate) nodes: Vec<NodeData>,
}

/// What the tree stores per node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct NodeData {
    pub(crate) kind: SyntaxKind,
    pub(crate) first_token: u32,
    pub(crate) end_token: u32,
    /// One past the last descendant in preorder.
    pub(crate) end_node: u32,
    pub(crate) parent: u32,
}

impl Tree {
    pub(crate) fn new(text: Arc<str>, tokens: Tokens, nodes: Vec<NodeData>) -> Tree {
        Tree { text, kinds: tokens.kinds, starts: tokens.starts, nodes }
    }

    /// The whole source text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The node that covers the file.
    pub fn root(&self) -> Node<'_> {
        Node { tree: self, id: 0 }
    }

    /// The node with this [`Node::index`].
    pub fn node(&self, index: usize) -> Option<Node<'_>> {
        (index < self.nodes.len()).then_some(Node { tree: self, id: index as u32 })
    }

    /// All tokens in order, white space and comments included.
    pub fn tokens(&self) -> impl DoubleEndedIterator<Item = Token<'_>> {
        (0..self.kinds.len() as u32).map(|id| Token { tree: self, id })
    }

    /// The token that holds the byte at `offset`.
    pub fn token_at(&self, offset: u32) -> Option<Token<'_>> {
        let after = self.starts.partition_point(|&start| start <= offset);
        let id = after.checked_sub(1).filter(|&id| id < self.kinds.len())?;
        Some(Token { tree: self, id: id as u32 })
    }

    /// The kinds of all nodes, parents before children.
    pub(crate) fn kinds_of_nodes(&self) -> impl Iterator<Item = SyntaxKind> {
        self.nodes.iter().map(|node| node.kind)
    }

    /// The number of nodes.
    pub fn n_nodes(&self) -> usize {
        self.nodes.len()
    }
}

impl fmt::Debug for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&crate::dump::dump(self))
    }
}

/// A token or a node.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Element<'t> {
    /// A token, possibly white space or a comment.
    Token(Token<'t>),
    /// A node.
    Node(Node<'t>),
}

impl Element<'_> {
    /// The kind of the token or node.
    pub fn kind(&self) -> SyntaxKind {
        match self {
            Element::Token(token) => token.kind(),
            Element::Node(node) => node.kind(),
        }
    }
}

/// One token of a tree.
#[derive(Clone, Copy)]
pub struct Token<'t> {
    tree: &'t Tree,
    id: u32,
}

impl<'t> Token<'t> {
    /// The kind of the token.
    pub fn kind(self) -> SyntaxKind {
        self.tree.kinds[self.id as usize]
    }

    /// The text of the token.
    pub fn text(self) -> &'t str {
        &self.tree.text[self.range()]
    }

    /// Position among the tokens of the file.
    pub fn index(self) -> usize {
        self.id as usize
    }

    /// The bytes of the token.
    pub fn range(self) -> Range<usize> {
        let id = self.id as usize;
        self.tree.starts[id] as usize..self.tree.starts[id + 1] as usize
    }

    /// The token before this one, trivia included.
    pub fn previous(self) -> Option<Token<'t>> {
        Some(Token { id: self.id.checked_sub(1)?, ..self })
    }

    /// The token after this one, trivia included.
    pub fn next(self) -> Option<Token<'t>> {
        let id = self.id + 1;
        ((id as usize) < self.tree.kinds.len()).then_some(Token { id, ..self })
    }
}

impl PartialEq for Token<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id && std::ptr::eq(self.tree, other.tree)
    }
}
impl Eq for Token<'_> {}
impl std::hash::Hash for Token<'_> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.id.hash(state);
    }
}
impl fmt::Debug for Token<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {:?}", self.kind(), self.text())
    }
}

/// One node of a tree.
#[derive(Clone, Copy)]
pub struct Node<'t> {
    tree: &'t Tree,
    id: u32,
}

impl<'t> Node<'t> {
    fn data(self) -> NodeData {
        self.tree.nodes[self.id as usize]
    }

    /// The kind of the node.
    pub fn kind(self) -> SyntaxKind {
        self.data().kind
    }

    /// The tree the node belongs to.
    pub fn tree(self) -> &'t Tree {
        self.tree
    }

    /// Position among the nodes of the file, parents before children.
    pub fn index(self) -> usize {
        self.id as usize
    }

    /// The bytes from the first to the last token of the node.
    pub fn range(self) -> Range<usize> {
        let data = self.data();
        let start = self.tree.starts[data.first_token as usize] as usize;
        let end = self.tree.starts[data.end_token as usize] as usize;
        start..end
    }

    /// The text of the node as written, comments included.
    pub fn text(self) -> &'t str {
        &self.tree.text[self.range()]
    }

    /// The node around this one.
    pub fn parent(self) -> Option<Node<'t>> {
        (self.id != 0).then(|| Node { tree: self.tree, id: self.data().parent })
    }

    /// This node and the nodes around it, innermost first.
    pub fn ancestors(self) -> impl Iterator<Item = Node<'t>> {
        std::iter::successors(Some(self), |node| node.parent())
    }

    /// The nodes directly below this one.
    pub fn children(self) -> Children<'t> {
        Children { tree: self.tree, next: self.id + 1, end: self.data().end_node }
    }

    /// This node and everything below it, parents before children.
    pub fn descendants(self) -> impl Iterator<Item = Node<'t>> {
        (self.id..self.data().end_node).map(move |id| Node { tree: self.tree, id })
    }

    /// The first child of a kind.
    pub fn child(self, kind: SyntaxKind) -> Option<Node<'t>> {
        self.children().find(|child| child.kind() == kind)
    }

    /// The tokens and nodes directly below this one, in source order.
    pub fn elements(self) -> Elements<'t> {
        let data = self.data();
        Elements {
            children: self.children().peekable(),
            tree: self.tree,
            next: data.first_token,
            end: data.end_token,
        }
    }

    /// The tokens directly below this node that are not trivia.
    pub fn own_tokens(self) -> impl Iterator<Item = Token<'t>> {
        self.elements().filter_map(|element| match element {
            Element::Token(token) if !token.kind().is_trivia() => Some(token),
            _ => None,
        })
    }

    /// The first token of a kind directly below this node.
    pub fn token(self, kind: SyntaxKind) -> Option<Token<'t>> {
        self.own_tokens().find(|token| token.kind() == kind)
    }

    /// Every token the node covers, at any depth.
    pub fn all_tokens(self) -> impl DoubleEndedIterator<Item = Token<'t>> {
        let data = self.data();
        (data.first_token..data.end_token).map(move |id| Token { tree: self.tree, id })
    }

    /// The first token that is not trivia, at any depth.
    pub fn first_token(self) -> Option<Token<'t>> {
        self.all_tokens().find(|token| !token.kind().is_trivia())
    }

    /// The last token that is not trivia, at any depth.
    pub fn last_token(self) -> Option<Token<'t>> {
        self.all_tokens().rfind(|token| !token.kind().is_trivia())
    }
}

impl PartialEq for Node<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id && std::ptr::eq(self.tree, other.tree)
    }
}
impl Eq for Node<'_> {}
impl std::hash::Hash for Node<'_> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.id.hash(state);
    }
}
impl fmt::Debug for Node<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}@{:?}", self.kind(), self.range())
    }
}

/// The nodes directly below a node; see [`Node::children`].
#[derive(Clone)]
pub struct Children<'t> {
    tree: &'t Tree,
    next: u32,
    end: u32,
}

impl<'t> Iterator for Children<'t> {
    type Item = Node<'t>;

    fn next(&mut self) -> Option<Node<'t>> {
        if self.next >= self.end {
            return None;
        }
        let node = Node { tree: self.tree, id: self.next };
        self.next = node.data().end_node;
        Some(node)
    }
}

/// The tokens and nodes directly below a node; see [`Node::elements`].
#[derive(Clone)]
pub struct Elements<'t> {
    tree: &'t Tree,
    children: std::iter::Peekable<Children<'t>>,
    next: u32,
    end: u32,
}

impl<'t> Iterator for Elements<'t> {
    type Item = Element<'t>;

    fn next(&mut self) -> Option<Element<'t>> {
        if let Some(child) = self.children.next_if(|child| child.data().first_token == self.next) {
            self.next = child.data().end_token;
            return Some(Element::Node(child));
        }
        if self.next >= self.end {
            return None;
        }
        let id = self.next;
        self.next += 1;
        Some(Element::Token(Token { tree: self.tree, id }))
    }
}
