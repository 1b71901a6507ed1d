//! Statements and blocks: one statement a line, with the empty lines the author left between them.

use super::comments::Gap;
use super::doc::Sort;
use super::walk::Formatter;
use crate::kind::SyntaxKind::*;
use crate::tree::{Element, Node, Token};

/// A block on one line holds at most this many statements besides its value.
const MAX_STATEMENTS_ON_A_LINE: usize = 2;

impl<'t> Formatter<'t> {
    /// The statements of a file.
    pub(super) fn statements(&mut self, file: Node<'t>) {
        for (i, statement) in file.children().enumerate() {
            self.separator(statement, i > 0);
            self.node(statement);
        }
    }

    /// `{ …; e }`
    pub(super) fn block(&mut self, node: Node<'t>) {
        let group = self.begin(node);
        if wants_lines(node) {
            self.doc.break_group(group);
        }
        self.follow_head(group);
        self.braces(node);
        self.doc.end();
    }

    /// The braces of a block and what is between them; the group is around.
    pub(super) fn braces(&mut self, node: Node<'t>) {
        // Statements break whatever is around the block.
        let weak = std::mem::take(&mut self.weak);
        let mut n_statements = 0;
        for element in node.elements() {
            match element {
                Element::Token(token) if token.kind() == L_BRACE => {
                    self.token(token, node);
                    self.doc.indent();
                }
                Element::Token(token) if token.kind() == R_BRACE => {
                    self.closer(token, node, true, n_statements == 0);
                }
                Element::Token(token) => self.token(token, node),
                Element::Node(statement) => {
                    self.separator(statement, n_statements > 0);
                    self.node(statement);
                    n_statements += 1;
                }
            }
        }
        self.weak = weak;
    }

    /// The line end before a statement, field or arm, with its comments.
    pub(super) fn separator(&mut self, node: Node<'t>, keep_blank: bool) {
        let Some(first) = node.first_token() else { return };
        let gap = Gap::before(first);
        if keep_blank && is_lone_semicolon(node) && gap.leading().is_empty() {
            return;
        }
        self.line(true);
        self.blank_before(&gap, keep_blank);
        self.leading_of(first, &gap, true);
    }

    /// Keeps an empty line of the gap that a line end was just made for.
    pub(super) fn blank_before(&mut self, gap: &Gap<'t>, keep: bool) {
        let newlines =
            gap.leading().first().map_or(gap.newlines_after, |first| first.newlines_before);
        if keep && newlines > 1 {
            self.doc.blank();
        }
    }

    /// `let x[t in 1..] = e until cond, max n;`
    pub(super) fn recurrence(&mut self, node: Node<'t>) {
        let mut begun = false;
        for element in node.elements().filter(|element| !element.kind().is_trivia()) {
            if !begun && element.kind() != ATTR {
                begun = true;
                self.doc.begin(Sort::Plain);
            }
            if element.kind() == UNTIL_CLAUSE {
                self.doc.indent();
                self.line(true);
                self.element(element, node);
                self.doc.dedent();
            } else {
                self.element(element, node);
            }
        }
        self.doc.end();
    }
}

/// The author broke the block, or it is too much for one line.
pub(super) fn wants_lines(block: Node<'_>) -> bool {
    let statements = block.children().filter(|child| child.kind().is_statement()).count();
    statements > MAX_STATEMENTS_ON_A_LINE
        || (block.children().next().is_some() && breaks_after(block.token(L_BRACE)))
}

/// A line ends between this token and the next.
pub(super) fn breaks_after(token: Option<Token<'_>>) -> bool {
    let trivia = std::iter::successors(token.and_then(Token::next), |token| token.next())
        .take_while(|token| token.kind().is_trivia());
    trivia.into_iter().any(|token| token.text().contains('\n'))
}

/// A semicolon that ends nothing, as in `fn f() {};`.
fn is_lone_semicolon(node: Node<'_>) -> bool {
    node.kind() == EXPR_STMT && node.children().next().is_none()
}
