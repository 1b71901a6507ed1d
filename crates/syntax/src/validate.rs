//! Checks that need no names and no types, made once the tree stands: literals and their suffixes,
//! escapes, format specifications, negative subscripts, comparison chains.

use einlang_source::{Diagnostic, FileId, Span};

use crate::errors;
use crate::format_spec::FormatSpec;
use crate::kind::SyntaxKind::*;
use crate::literal::{self, BadLiteral};
use crate::tree::{Node, Token, Tree};

/// Adds what is wrong to `diagnostics`.
pub(crate) fn validate(file: FileId, tree: &Tree, diagnostics: &mut Vec<Diagnostic>) {
    let mut validator = Validator { file, diagnostics };
    // Few kinds are of interest, so the nodes are looked at only when theirs is one of them.
    for (index, kind) in tree.kinds_of_nodes().enumerate() {
        let interesting =
            matches!(kind, LITERAL | STRING | INTERPOLATION | SUBSCRIPTS | SLOTS | BINARY_EXPR);
        let Some(node) = tree.node(index).filter(|_| interesting) else { continue };
        match kind {
            LITERAL => validator.number(node),
            STRING => validator.string(node),
            INTERPOLATION => validator.format_spec(node),
            SUBSCRIPTS | SLOTS => validator.subscripts(node),
            BINARY_EXPR => validator.comparison(node),
            _ => {}
        }
    }
}

struct Validator<'a> {
    file: FileId,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl Validator<'_> {
    fn span(&self, range: std::ops::Range<usize>) -> Span {
        Span::new(self.file, range.start as u32, range.end as u32)
    }

    fn malformed(&mut self, problem: &BadLiteral, text: &str, range: std::ops::Range<usize>) {
        let span = self.span(range);
        self.diagnostics.push(errors::malformed_literal(problem, text, span));
    }

    fn number(&mut self, node: Node<'_>) {
        let negative = node.token(MINUS).is_some();
        let Some(token) = node.own_tokens().find(|t| matches!(t.kind(), INT | FLOAT)) else {
            return;
        };
        if let Err(problem) = literal::number(token.text(), negative) {
            self.malformed(&problem, token.text(), token.range());
        }
    }

    fn string(&mut self, node: Node<'_>) {
        for token in node.own_tokens().filter(|token| token.kind() == STR_TEXT) {
            for (range, problem) in literal::unescape(token.text()).1 {
                let start = token.range().start;
                let text = &token.text()[range.clone()];
                self.malformed(&problem, text, start + range.start..start + range.end);
            }
        }
    }

    fn format_spec(&mut self, node: Node<'_>) {
        let Some(token) = node.token(INTERP_SPEC) else { return };
        let spec = &token.text()[1..];
        if let Err(problem) = FormatSpec::parse(spec) {
            let range = token.range().start + 1..token.range().end;
            self.malformed(&BadLiteral::FormatSpec(problem), spec, range);
        }
    }

    fn subscripts(&mut self, node: Node<'_>) {
        let owner = node.parent().and_then(|parent| parent.children().next());
        let name = owner.map(Node::text).filter(|text| !text.contains(['\n', '[', '(']));
        for item in node.children().filter(|item| is_negative_literal(*item)) {
            let span = self.span(item.range());
            let is_slot = node.kind() == SLOTS;
            self.diagnostics.push(errors::negative_subscript(name, item.text(), span, is_slot));
        }
    }

    /// Reports a whole chain once, at its outermost comparison.
    fn comparison(&mut self, node: Node<'_>) {
        let Some(last) = operator(node).filter(|token| level(token.kind()) > 0) else { return };
        let chained = |inner: Node<'_>| {
            let token = operator(inner).filter(|_| inner.kind() == BINARY_EXPR);
            token.is_some_and(|token| level(token.kind()) == level(last.kind()))
        };
        let is_left = |parent: Node<'_>| parent.children().next() == Some(node);
        if node.parent().is_some_and(|parent| chained(parent) && is_left(parent)) {
            return;
        }
        let (mut operands, mut operators) = (Vec::new(), Vec::new());
        let mut left = node;
        while chained(left) {
            let mut sides = left.children();
            let (Some(inner), Some(right)) = (sides.next(), sides.next()) else { return };
            operands.push(right.text());
            operators.extend(operator(left));
            left = inner;
        }
        if operators.len() < 2 {
            return;
        }
        operands.push(left.text());
        operands.reverse();
        operators.reverse();
        let signs: Vec<&str> = operators.iter().map(|token| token.text()).collect();
        let spans = [self.span(operators[0].range()), self.span(operators[1].range())];
        let whole = self.span(node.range());
        self.diagnostics.push(errors::comparison_chain(&operands, &signs, spans, whole));
    }
}

fn operator(node: Node<'_>) -> Option<Token<'_>> {
    node.own_tokens().next()
}

/// Comparisons of one level cannot follow each other; equality may compare two comparisons.
fn level(operator: crate::SyntaxKind) -> u8 {
    match operator {
        EQ2 | NEQ => 1,
        LT | GT | LTEQ | GTEQ | IN => 2,
        _ => 0,
    }
}

fn is_negative_literal(node: Node<'_>) -> bool {
    node.kind() == LITERAL && node.token(MINUS).is_some() && node.token(INT).is_some()
}
