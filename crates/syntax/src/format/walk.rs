//! The walk over the tree: every token once, in order, with its comments and the space before it.
//!
//! Nodes whose lines may break are handed to the layouts; the others are their parts in a row.

use super::comments::{Comment, Gap};
use super::doc::{Doc, GroupId, Place, Sort};
use super::lists;
use super::spaces::{self, Placed};
use crate::kind::SyntaxKind::*;
use crate::tree::{Element, Node, Token, Tree};

/// The document of a whole file. None for a tree that the parser cut short, in which the layouts
/// did not find every token where it belongs.
pub(super) fn document(tree: &Tree) -> Option<Doc<'_>> {
    let mut formatter = Formatter { source: tree.text(), ..Formatter::default() };
    formatter.statements(tree.root());
    formatter.rest_of_file(tree);
    (formatter.n_tokens == n_tokens(tree.root())).then_some(formatter.doc)
}

/// The number of tokens that are not trivia.
fn n_tokens(node: Node<'_>) -> usize {
    node.all_tokens().filter(|token| !token.kind().is_trivia()).count()
}

#[derive(Default)]
pub(super) struct Formatter<'t> {
    pub(super) doc: Doc<'t>,
    source: &'t str,
    /// How many tokens are written.
    n_tokens: usize,
    last: Option<Placed<'t>>,
    /// The last token is the number of a tuple field and touches its dot.
    last_is_field: bool,
    /// The layout has written the separator before the next token.
    separated: bool,
    /// A comment stands between the last token and the next.
    commented: bool,
    /// Comments before tokens up to this one are written.
    comments_done: usize,
    /// How many constructs around are better not broken.
    pub(super) weak: u32,
    /// The group of the parameters or of the head whose body comes next and breaks with it.
    pub(super) head: Option<GroupId>,
    /// Groups that let the group of a node inside them break alone.
    hugs: Vec<(Node<'t>, GroupId)>,
}

impl<'t> Formatter<'t> {
    /// A node with everything in it.
    pub(super) fn node(&mut self, node: Node<'t>) {
        // Comments before the node come before its groups, which they must not break.
        if let Some(first) = node.first_token() {
            self.leading(first);
        }
        match node.kind() {
            STRING => self.string(node),
            BLOCK | ITEM_LIST => self.block(node),
            IF_EXPR => self.if_expression(node),
            LET_STMT if node.child(UNTIL_CLAUSE).is_some() => self.recurrence(node),
            WHERE_EXPR => self.where_expression(node),
            BINARY_EXPR | PIPE_EXPR | ELSE_EXPR | CATCH_EXPR | WITH_EXPR => self.chain(node),
            CALL_EXPR | INDEX_EXPR | FIELD_EXPR | CAST_EXPR => self.postfix(node),
            MATCH_EXPR | FOR_STMT => self.headed(node),
            LAMBDA_EXPR => self.lambda(node),
            OR_PAT => self.alternatives(node),
            COMPREHENSION => self.comprehension(node),
            DIM_LIST => self.dimensions(node),
            _ => match lists::style(node) {
                Some(style) => self.list(node, style),
                None => self.plain(node),
            },
        }
    }

    /// The parts of a node in a row.
    pub(super) fn plain(&mut self, node: Node<'t>) {
        for element in node.elements() {
            self.element(element, node);
        }
    }

    /// A part of `parent`: a value after `=` or `=>` may go to the next line as a last resort, an
    /// attribute has its own line.
    pub(super) fn element(&mut self, element: Element<'t>, parent: Node<'t>) {
        match element {
            Element::Token(token) => self.token(token, parent),
            Element::Node(child) if self.after_equals() => self.value(child),
            Element::Node(child) => {
                self.node(child);
                if child.kind() == ATTR {
                    self.hard_line();
                }
            }
        }
    }

    fn after_equals(&self) -> bool {
        !self.separated && self.last.is_some_and(|last| matches!(last.token.kind(), EQ | FAT_ARROW))
    }

    /// A node that follows on the same line, unless only the next line has room for it.
    pub(super) fn value(&mut self, node: Node<'t>) {
        let group = self.doc.begin(Sort::LastResort);
        self.doc.indent();
        self.line(true);
        self.doc.dedent();
        self.doc.end();
        self.doc.indent_if(group);
        self.node(node);
        self.doc.dedent();
    }

    /// A token with its comments and the space before it. Trivia are passed over.
    pub(super) fn token(&mut self, token: Token<'t>, parent: Node<'t>) {
        if token.kind().is_trivia() {
            return;
        }
        self.leading(token);
        self.text(Placed { token, parent }, token.text());
        self.n_tokens += 1;
        self.trailing(token);
    }

    /// A string as it is written, whatever it holds.
    fn string(&mut self, node: Node<'t>) {
        let (Some(first), Some(last)) = (node.first_token(), node.last_token()) else { return };
        self.text(Placed { token: first, parent: node }, node.text());
        self.n_tokens += n_tokens(node);
        self.last = Some(Placed { token: last, parent: node });
        self.trailing(last);
    }

    fn text(&mut self, here: Placed<'t>, text: &'t str) {
        let last = self.last.filter(|_| !self.separated);
        let spaced = last.is_some_and(|last| spaces::space_between(last, here, self.last_is_field));
        if spaced {
            self.doc.space();
        }
        self.doc.text(text);
        let after_dot = last.is_some_and(|last| last.token.kind() == DOT);
        self.last_is_field = after_dot && !spaced && !self.commented;
        self.last = Some(here);
        (self.separated, self.commented) = (false, false);
    }

    /// The comments that belong to a token and stand before it.
    pub(super) fn leading(&mut self, token: Token<'t>) {
        if self.comments_done <= token.index() {
            self.leading_of(token, &Gap::before(token), false);
        }
    }

    /// The same, with the empty lines among them.
    pub(super) fn leading_of(&mut self, token: Token<'t>, gap: &Gap<'t>, blanks: bool) {
        self.comments_done = token.index() + 1;
        for (i, comment) in gap.leading().iter().enumerate() {
            if blanks && i > 0 && comment.newlines_before > 1 {
                self.doc.blank();
            }
            self.comment(comment);
            self.separated = true;
        }
        if blanks
            && !token.kind().is_closer()
            && !gap.leading().is_empty()
            && gap.newlines_after > 1
        {
            self.doc.blank();
        }
    }

    fn trailing(&mut self, token: Token<'t>) {
        for comment in Gap::after(token).trailing() {
            self.comment(comment);
        }
    }

    fn comment(&mut self, comment: &Comment<'t>) {
        if comment.place == Place::BeforeToken && !self.separated {
            self.doc.space();
        }
        self.doc.comment(comment.text, comment.place, self.source_column(comment));
        self.commented = true;
    }

    fn source_column(&self, comment: &Comment<'t>) -> usize {
        if comment.place != Place::EndOfLine {
            return 0;
        }
        let before = &self.source[..comment.start];
        before[before.rfind('\n').map_or(0, |end| end + 1)..].chars().count()
    }

    /// The comments after the last token.
    fn rest_of_file(&mut self, tree: &'t Tree) {
        let last = self.last.map(|last| last.token);
        let gap = last.map_or_else(|| Gap::of_empty_file(tree), Gap::after);
        for comment in gap.leading() {
            self.line(true);
            if comment.newlines_before > 1 {
                self.doc.blank();
            }
            self.comment(comment);
        }
    }

    /// A place where the line may end.
    pub(super) fn line(&mut self, space: bool) {
        self.doc.line(space, self.weak > 0);
        self.separated = true;
    }

    pub(super) fn hard_line(&mut self) {
        self.doc.hard_line();
        self.separated = true;
    }

    /// A line end if a group was broken, else a space.
    pub(super) fn line_if(&mut self, group: GroupId) {
        self.doc.line_if(group);
        self.separated = true;
    }

    /// A place where the line does not end; but if a comment does, the next token is not indented.
    pub(super) fn rejoin(&mut self, space: bool) {
        self.doc.rejoin(space);
        self.separated = true;
    }

    /// Begins the group of a node. If a group around has asked for it, this one may break alone.
    pub(super) fn begin(&mut self, node: Node<'t>) -> GroupId {
        let sort = if self.weak > 0 { Sort::Weak } else { Sort::Plain };
        let id = self.doc.begin(sort);
        if let Some((_, outer)) = self.hugs.pop_if(|(target, _)| *target == node) {
            self.doc.hug(outer, id);
        }
        id
    }

    /// Runs `write`, in which the group of `target` may break without `outer`.
    pub(super) fn hugging(
        &mut self,
        outer: GroupId,
        target: Option<Node<'t>>,
        write: impl FnOnce(&mut Self),
    ) {
        let n_hugs = self.hugs.len();
        self.hugs.extend(target.filter(|_| self.weak == 0).map(|target| (target, outer)));
        write(self);
        self.hugs.truncate(n_hugs);
    }
}
