//! Expressions that break between their operands: chains of operators, pipelines, `if`, `where`.
//!
//! Chains lean to the left and may be as high as the tree, so they are walked in loops.

use super::doc::{GroupId, Sort};
use super::lists::has_simple_callee;
use super::statements::wants_lines;
use super::walk::Formatter;
use crate::kind::SyntaxKind::*;
use crate::tree::{Element, Node};

impl<'t> Formatter<'t> {
    /// Operators of one level: `a + b - c`, or the stages of a pipeline.
    pub(super) fn chain(&mut self, node: Node<'t>) {
        match chain_level(node) {
            Some(level) => {
                self.links(node, level);
            }
            None => self.plain(node),
        }
    }

    /// The first operand of a chain, then each operator with its operand on a line.
    fn links(&mut self, node: Node<'t>, level: u8) -> GroupId {
        let spine = spine(node, |node| chain_level(node) == Some(level));
        let group = self.begin(node);
        if let Some(operand) = spine.last().and_then(|link| link.children().next()) {
            self.node(operand);
        }
        self.doc.indent();
        for link in spine.iter().rev() {
            self.line(true);
            let target = match level {
                PIPES if spine.len() == 1 => block_at_end(*link),
                PRODUCT if *link == node => brackets_at_end(*link),
                _ => None,
            };
            if level == PRODUCT {
                self.doc.hug_reluctantly(group);
            }
            self.hugging(group, target, |formatter| formatter.after_first(*link));
        }
        self.doc.dedent();
        self.doc.end();
        group
    }

    /// Everything in a node but its first child.
    fn after_first(&mut self, node: Node<'t>) {
        if node.kind() == WITH_EXPR {
            return self.updates(node);
        }
        for element in node.elements().skip(1) {
            self.element(element, node);
        }
    }

    /// `with [i] = e, [j] = f`
    fn updates(&mut self, node: Node<'t>) {
        self.doc.begin(Sort::Plain);
        let mut n_updates = 0;
        for element in node.elements().skip(1) {
            match element {
                Element::Node(update) => self.further(update, &mut n_updates),
                Element::Token(token) => self.token(token, node),
            }
        }
        self.doc.end();
    }

    /// An item of a list without brackets: the first one stays on the line of the word before it,
    /// the others may go to lines of their own.
    pub(super) fn further(&mut self, item: Node<'t>, n_items: &mut usize) {
        *n_items += 1;
        if *n_items == 1 {
            return self.node(item);
        }
        self.doc.indent();
        self.line(true);
        self.node(item);
        self.doc.dedent();
    }

    /// Calls, subscripts, fields and casts after an operand.
    pub(super) fn postfix(&mut self, node: Node<'t>) {
        let is_postfix =
            |node: Node<'_>| matches!(node.kind(), CALL_EXPR | INDEX_EXPR | FIELD_EXPR | CAST_EXPR);
        let spine = spine(node, is_postfix);
        if let Some(operand) = spine.last().and_then(|link| link.children().next()) {
            self.node(operand);
        }
        for link in spine.iter().rev() {
            self.after_first(*link);
        }
    }

    /// `if c { … } else if d { … } else { … }`: all blocks on one line, or all broken.
    pub(super) fn if_expression(&mut self, node: Node<'t>) {
        let group = self.begin(node);
        if branches(node).any(|branch| branch.children().any(is_broken_block)) {
            self.doc.break_group(group);
        }
        for branch in branches(node) {
            self.branch(branch);
        }
        self.doc.end();
    }

    /// `if c { … } else`, with the last block when there is one.
    fn branch(&mut self, node: Node<'t>) {
        let mut blocks = false;
        for element in node.elements() {
            match element {
                Element::Token(token) => {
                    if token.kind() == ELSE {
                        self.rejoin(true);
                    }
                    self.token(token, node);
                }
                Element::Node(head) if !blocks => {
                    self.head(head);
                    blocks = true;
                }
                Element::Node(block) if block.kind() == BLOCK => self.braces(block),
                // The next branch follows.
                Element::Node(_) => {}
            }
        }
    }

    /// The condition of an `if`. When it breaks between its operators, the brace goes to a line of
    /// its own.
    fn head(&mut self, node: Node<'t>) {
        let Some(level) = chain_level(node) else { return self.node(node) };
        if let Some(first) = node.first_token() {
            self.leading(first);
        }
        let group = self.links(node, level);
        self.line_if(group);
    }

    /// `match e { … }` or `for p in e { … }`: when the head does not fit, the body breaks too.
    pub(super) fn headed(&mut self, node: Node<'t>) {
        let n_children = node.children().count();
        let mut n_seen = 0;
        for element in node.elements() {
            n_seen += usize::from(matches!(element, Element::Node(_)));
            match element {
                Element::Node(head) if n_seen + 1 == n_children => {
                    let group = self.doc.begin(Sort::Plain);
                    self.node(head);
                    self.doc.end();
                    self.head = Some(group);
                }
                _ => self.element(element, node),
            }
        }
    }

    /// Breaks the group of a body, just begun, where its head is broken.
    pub(super) fn follow_head(&mut self, body: GroupId) {
        if let Some(head) = self.head.take() {
            self.doc.follow(body, head);
        }
    }

    /// `|x, y| e`
    pub(super) fn lambda(&mut self, node: Node<'t>) {
        for element in node.elements() {
            match element {
                Element::Node(body) if body.kind() != PARAM_LIST => self.value(body),
                _ => self.element(element, node),
            }
        }
    }

    /// `e where z = a, z > b else c`
    pub(super) fn where_expression(&mut self, node: Node<'t>) {
        self.begin(node);
        let mut n_items = 0;
        for element in node.elements() {
            match element {
                Element::Token(token) if token.kind() == WHERE => {
                    self.doc.indent();
                    self.line(true);
                    self.token(token, node);
                    self.doc.begin(Sort::Plain);
                }
                Element::Node(item) if matches!(item.kind(), WHERE_BINDING | WHERE_GUARD) => {
                    self.further(item, &mut n_items);
                }
                Element::Node(fallback) if fallback.kind() == WHERE_ELSE => {
                    self.line(true);
                    self.node(fallback);
                }
                _ => self.element(element, node),
            }
        }
        self.doc.end();
        self.doc.dedent();
        self.doc.end();
    }

    /// `A | B(x) | C`
    pub(super) fn alternatives(&mut self, node: Node<'t>) {
        self.begin(node);
        self.doc.indent();
        for element in node.elements() {
            if element.kind() == PIPE {
                self.line(true);
            }
            self.element(element, node);
        }
        self.doc.dedent();
        self.doc.end();
    }
}

/// A node, its first child, and so on while they are of a kind, from the outside in.
fn spine<'t>(node: Node<'t>, of_kind: impl Fn(Node<'t>) -> bool) -> Vec<Node<'t>> {
    let inner = |node: &Node<'t>| node.children().next().filter(|child| of_kind(*child));
    std::iter::successors(Some(node), inner).collect()
}

const PIPES: u8 = 0;
const PRODUCT: u8 = 6;

/// Operators of equal level stand in one chain. Powers do not break.
fn chain_level(node: Node<'_>) -> Option<u8> {
    let operator = match node.kind() {
        PIPE_EXPR | ELSE_EXPR | CATCH_EXPR | WITH_EXPR => return Some(PIPES),
        BINARY_EXPR => node.own_tokens().next()?.kind(),
        _ => return None,
    };
    match operator {
        PIPE2 => Some(1),
        AND2 => Some(2),
        EQ2 | NEQ => Some(3),
        LT | GT | LTEQ | GTEQ | IN => Some(4),
        PLUS | MINUS => Some(5),
        STAR | SLASH | PERCENT => Some(PRODUCT),
        _ => None,
    }
}

/// The branches of an `if` and of the `if`s after its `else`s.
fn branches(node: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    std::iter::successors(Some(node), |node| {
        node.children().skip(1).find(|child| child.kind() == IF_EXPR)
    })
}

fn is_broken_block(node: Node<'_>) -> bool {
    node.kind() == BLOCK && wants_lines(node)
}

/// The block that ends the only stage of a chain: `e else { … }`, `e catch |err| { … }`,
/// `e |> f(|x| { … })`.
fn block_at_end(link: Node<'_>) -> Option<Node<'_>> {
    let mut at = link.children().last()?;
    loop {
        at = match at.kind() {
            BLOCK => return Some(at),
            LAMBDA_EXPR => at.children().last()?,
            CALL_EXPR => return at.child(ARG_LIST).filter(|args| ends_with_block(*args)),
            _ => return None,
        };
    }
}

/// The parentheses that end a product: `0.25 * (…)`, `2 * sum[k](…)`.
fn brackets_at_end(link: Node<'_>) -> Option<Node<'_>> {
    let last = link.children().last()?;
    match last.kind() {
        PAREN_EXPR => Some(last),
        CALL_EXPR if has_simple_callee(last) => last.child(ARG_LIST),
        _ => None,
    }
}

fn ends_with_block(args: Node<'_>) -> bool {
    let last = args.children().last();
    let lambda = last.filter(|last| last.kind() == LAMBDA_EXPR);
    let body = lambda.map_or(last, |lambda| lambda.children().last());
    body.is_some_and(|body| body.kind() == BLOCK)
}
