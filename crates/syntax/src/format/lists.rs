//! Bracketed lists: on one line, or one item a line between the brackets. Arrays of numbers fill
//! their lines instead.

use super::comments::Gap;
use super::doc::{GroupId, Sort};
use super::statements::breaks_after;
use super::walk::Formatter;
use crate::kind::SyntaxKind::*;
use crate::tree::{Element, Node, Token};

/// Items longer than this are not numbers of a table.
const MAX_FILL_ITEM: usize = 24;

/// How a list is laid out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Style {
    /// `(a, b)`: tight inside its brackets.
    Tight,
    /// `{ a, b }`: with spaces inside.
    Spaced,
    /// Like `Spaced`, but the author decides whether it is broken, and empty lines stay.
    Body,
    /// `[i, j]`: broken only when it is too long by itself.
    Weak,
}

/// The style of the bracketed list that a node is or ends with.
pub(super) fn style(node: Node<'_>) -> Option<Style> {
    Some(match node.kind() {
        PARAM_LIST if node.token(L_PAREN).is_none() => return None,
        ARG_LIST | PARAM_LIST | PAREN_EXPR | TUPLE_EXPR | ARRAY_EXPR | VARIANT_TUPLE | USE_LIST => {
            Style::Tight
        }
        STRUCT_FIELD_LIST | STRUCT_PAT => Style::Spaced,
        FIELD_LIST | VARIANT_LIST | MATCH_ARM_LIST => Style::Body,
        SUBSCRIPTS | SLOTS | COORD_PARAMS | ATTR_ARGS | GENERIC_PARAMS | GENERIC_ARGS
        | TENSOR_TYPE | JAGGED_TYPE | TUPLE_TYPE | PAREN_TYPE | FN_TYPE | PAREN_PAT | TUPLE_PAT
        | ARRAY_PAT | VARIANT_PAT => Style::Weak,
        _ => return None,
    })
}

/// A list that is being written.
struct List<'t> {
    node: Node<'t>,
    style: Style,
    /// The group of the list, between its brackets.
    group: Option<GroupId>,
    closed: bool,
    n_items: usize,
    last: Option<Node<'t>>,
    fills: bool,
}

impl<'t> List<'t> {
    fn new(node: Node<'t>, style: Style) -> List<'t> {
        List {
            node,
            style,
            group: None,
            closed: false,
            n_items: 0,
            last: node.children().last(),
            fills: node.kind() == ARRAY_EXPR && node.children().all(is_short_literal),
        }
    }

    fn opens_with(&self, token: Token<'_>) -> bool {
        let opens = matches!(token.kind(), L_PAREN | L_BRACK | L_BRACE | LT);
        opens && self.group.is_none() && !self.closed
    }

    fn closes_with(&self, token: Token<'_>) -> bool {
        matches!(token.kind(), R_PAREN | R_BRACK | R_BRACE | GT) && self.group.is_some()
    }

    /// Spaces stand inside the brackets of a list on one line.
    fn spaced(&self) -> bool {
        matches!(self.style, Style::Spaced | Style::Body)
    }

    /// The author wants the list broken.
    fn is_kept_broken(&self) -> bool {
        let opener = self.node.own_tokens().next();
        match self.style {
            Style::Weak => false,
            Style::Body => self.last.is_some() && breaks_after(opener),
            _ if is_table(self.node) && breaks_after(opener) => true,
            _ => ends_with_comma(self.node),
        }
    }
}

impl<'t> Formatter<'t> {
    /// A list, with what stands before and after its brackets in the same node.
    pub(super) fn list(&mut self, node: Node<'t>, style: Style) {
        let mut list = List::new(node, style);
        self.weak += u32::from(style == Style::Weak);
        for element in node.elements().filter(|element| !element.kind().is_trivia()) {
            match element {
                Element::Token(token) if list.opens_with(token) => self.open(&mut list, token),
                Element::Token(token) if list.closes_with(token) => self.close(&mut list, token),
                Element::Token(token) => self.token(token, node),
                Element::Node(item) if list.group.is_some() => self.item(&mut list, item),
                Element::Node(child) => self.node(child),
            }
        }
        self.weak -= u32::from(style == Style::Weak);
    }

    fn open(&mut self, list: &mut List<'t>, token: Token<'t>) {
        self.leading(token);
        let group = self.begin(list.node);
        if list.is_kept_broken() {
            self.doc.break_group(group);
        }
        if list.node.kind() == MATCH_ARM_LIST {
            self.follow_head(group);
        }
        list.group = Some(group);
        self.token(token, list.node);
        self.doc.indent();
    }

    fn close(&mut self, list: &mut List<'t>, token: Token<'t>) {
        self.closer(token, list.node, list.spaced(), list.n_items == 0);
        self.doc.end();
        if list.node.kind() == PARAM_LIST {
            self.head = list.group;
        }
        (list.group, list.closed) = (None, true);
    }

    /// A closing bracket: the comments before it belong to the inside.
    pub(super) fn closer(&mut self, token: Token<'t>, node: Node<'t>, spaced: bool, empty: bool) {
        let gap = Gap::before(token);
        if gap.is_inline() {
            self.rejoin(spaced);
            self.leading(token);
            self.doc.dedent();
            self.rejoin(spaced);
            return self.token(token, node);
        }
        if !gap.leading().is_empty() {
            self.line(spaced);
            self.blank_before(&gap, spaced && !empty);
            self.leading_of(token, &gap, spaced);
        }
        self.doc.dedent();
        if !empty || !gap.is_empty() {
            self.line(spaced);
        }
        self.token(token, node);
    }

    fn item(&mut self, list: &mut List<'t>, item: Node<'t>) {
        let first = list.n_items == 0;
        match list.style {
            // The dimensions begin with the semicolon and have lines of their own.
            _ if item.kind() == DIM_LIST => {}
            Style::Body => self.separator(item, !first),
            _ if first => self.line(list.spaced()),
            _ if list.fills => self.fill_line(),
            _ => self.line(true),
        }
        list.n_items += 1;
        match list.group.filter(|_| list.last == Some(item)) {
            Some(group) => {
                let target = hug_target(list.node, item, first);
                self.hugging(group, target, |formatter| formatter.node(item));
            }
            None => self.node(item),
        }
    }

    /// A line end only where the next item does not fit.
    fn fill_line(&mut self) {
        self.doc.begin(Sort::Plain);
        self.line(true);
        self.doc.end();
    }

    /// `; 2, 3` inside the brackets of a tensor type, whose group is around.
    pub(super) fn dimensions(&mut self, node: Node<'t>) {
        for element in node.elements() {
            if matches!(element, Element::Node(_)) {
                self.line(true);
            }
            self.element(element, node);
        }
    }

    /// `[e | i in 0..n, cond]`
    pub(super) fn comprehension(&mut self, node: Node<'t>) {
        self.begin(node);
        let mut n_items = None;
        for element in node.elements() {
            match (element, &mut n_items) {
                (Element::Token(token), _) => {
                    n_items = self.bracket_or_bar(token, node).or(n_items)
                }
                (Element::Node(item), Some(n_items)) => self.further(item, n_items),
                (Element::Node(value), None) => self.node(value),
            }
        }
        self.doc.end();
    }

    /// A mark of a comprehension. After the bar, the items are counted from 0.
    fn bracket_or_bar(&mut self, token: Token<'t>, node: Node<'t>) -> Option<usize> {
        match token.kind() {
            L_BRACK => {
                self.token(token, node);
                self.doc.indent();
                self.line(false);
            }
            R_BRACK => {
                self.doc.end();
                self.closer(token, node, false, false);
            }
            PIPE => {
                self.line(true);
                self.token(token, node);
                self.doc.begin(Sort::Plain);
                return Some(0);
            }
            _ => self.token(token, node),
        }
        None
    }
}

/// What the last item of a list may break alone, the list staying on its line: the block of
/// `f(x, |y| { … })`, or whatever has brackets when it is the only argument.
fn hug_target<'t>(list: Node<'t>, item: Node<'t>, only: bool) -> Option<Node<'t>> {
    let allowed = matches!(list.kind(), ARG_LIST | PAREN_EXPR) && !ends_with_comma(list);
    match item.kind() {
        _ if !allowed => None,
        BLOCK => Some(item),
        LAMBDA_EXPR => hug_target(list, item.children().last()?, only),
        _ if !only => None,
        IF_EXPR | ARRAY_EXPR | COMPREHENSION | TUPLE_EXPR => Some(item),
        MATCH_EXPR => item.child(MATCH_ARM_LIST),
        STRUCT_EXPR => item.child(STRUCT_FIELD_LIST),
        CALL_EXPR if has_simple_callee(item) => item.child(ARG_LIST),
        _ => None,
    }
}

/// The callee is a name, a field or a name with subscripts.
pub(super) fn has_simple_callee(call: Node<'_>) -> bool {
    let callee = call.children().next().map(Node::kind);
    matches!(callee, Some(PATH | FIELD_EXPR | INDEX_EXPR))
}

/// An array of arrays.
fn is_table(node: Node<'_>) -> bool {
    node.kind() == ARRAY_EXPR && node.children().next().is_some_and(|row| row.kind() == ARRAY_EXPR)
}

/// A comma stands behind the last item. In `(x,)` it makes the tuple and says nothing else.
fn ends_with_comma(node: Node<'_>) -> bool {
    let single_tuple = node.kind() == TUPLE_EXPR && node.children().nth(1).is_none();
    let mut last_two = [EOF, EOF];
    for element in node.elements().filter(|element| !element.kind().is_trivia()) {
        last_two = [last_two[1], element.kind()];
    }
    last_two[0] == COMMA && !single_tuple
}

/// A number, truth value or string that is short, whatever white space is in it.
fn is_short_literal(node: Node<'_>) -> bool {
    let width = match node.kind() {
        LITERAL => node.own_tokens().map(|token| token.text().len()).sum(),
        STRING => node.range().len(),
        _ => return false,
    };
    width <= MAX_FILL_ITEM
}
