//! What holds for the parse of every text, however wrong the text is. Property tests and fuzz
//! targets ask these questions of texts that nobody has looked at.
//!
//! Every check stops with a panic that shows the text.

use einlang_source::{Diagnostic, FileId, Sources, Span, apply_edits};
use einlang_syntax::SyntaxKind::{self, *};
use einlang_syntax::format::{format, format_source};
use einlang_syntax::{Element, MAX_HEIGHT, Node, Parse, Token, Tree, parse};

use crate::fixtures::diff;
use crate::shape::shape;

/// Nodes that may stand for something absent, right after the token that announced it: parameters,
/// what follows `with` or `where`, and what is nested too deeply.
const MAY_BE_EMPTY: &[SyntaxKind] = &[SOURCE_FILE, ERROR, PARAM_LIST, WITH_UPDATE, WHERE_GUARD];

/// More nodes per token than any construct of the grammar makes; beyond it, something was built in
/// vain.
const MOST_NODES_PER_TOKEN: usize = 6;

/// How much of a text a message shows.
const MOST_SHOWN: usize = 4000;

/// A text, its file and its parse.
pub struct Parsed {
    /// The store that holds the text.
    pub sources: Sources,
    /// The file of the text.
    pub file: FileId,
    /// What the parser made of it.
    pub parse: Parse,
}

/// Parses a text as a file of its own.
pub fn parse_text(text: &str) -> Parsed {
    let mut sources = Sources::new();
    let file = sources.add("text.ein", text);
    let parse = parse(file, sources.text_arc(file));
    Parsed { sources, file, parse }
}

/// Parses a text and checks everything that holds for all texts.
///
/// # Panics
/// When something does not hold.
pub fn check(text: &str) -> Parsed {
    let parsed = parse_text(text);
    check_parsed(&parsed);
    parsed
}

/// Checks everything that holds for all texts of a parse that was made already.
///
/// # Panics
/// When something does not hold.
pub fn check_parsed(parsed: &Parsed) {
    let text = parsed.sources.text(parsed.file);
    let problems = [
        text_problem(&parsed.parse.tree, text),
        tree_problem(&parsed.parse.tree),
        parsed.parse.diagnostics.iter().find_map(|d| diagnostic_problem(d, parsed)),
    ];
    if let Some(problem) = problems.into_iter().flatten().next() {
        panic!("{problem}\n--- text ---\n{}", shown(text));
    }
}

/// Like [`check`], for a text that is well formed.
///
/// # Panics
/// When something does not hold, or when there is a diagnostic.
pub fn check_clean(text: &str) -> Parsed {
    let parsed = check(text);
    if let Some(first) = parsed.parse.diagnostics.first() {
        let message = render(&parsed, first);
        panic!("a well-formed text has a diagnostic\n{message}\n--- text ---\n{}", shown(text));
    }
    parsed
}

/// Formats a text and checks what the formatter promises: a text with errors is refused; otherwise
/// tokens and comments stay the same, the result says the same, and formatting it again changes
/// nothing.
///
/// # Panics
/// When something does not hold.
pub fn check_format(text: &str) {
    let parsed = parse_text(text);
    let before = &parsed.parse;
    let formatted = format(&before.tree);
    if !before.diagnostics.is_empty() {
        // The text cannot be formatted, and nothing worse may happen.
        let refused = format_source(parsed.file, text).is_err();
        return assert!(refused, "a text with errors is formatted\n{}", shown(text));
    }
    let after = check_clean(&formatted).parse;
    same_words(&before.tree, &after.tree);
    let problem = "the formatted text means something else";
    assert!(shape(&before.tree) == shape(&after.tree), "{problem}\n--- text ---\n{}", shown(text));
    let again = format(&after.tree);
    let difference = || diff(&formatted, &again);
    assert!(again == formatted, "formatting twice\n{}\n{}", difference(), shown(text));
}

fn same_words(before: &Tree, after: &Tree) {
    let [first, second] = [before, after].map(|tree| words(tree).join("\n"));
    let difference = || diff(&first, &second);
    assert!(first == second, "words differ\n{}\n{}", difference(), shown(before.text()));
}

/// Tokens and comments in order. White space at the end of a comment's lines does not count.
fn words(tree: &Tree) -> Vec<String> {
    let trimmed = |text: &str| text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
    let word = |token: Token<'_>| match token.kind() {
        WHITESPACE => None,
        kind if kind.is_comment() => Some(trimmed(token.text())),
        _ => Some(token.text().to_string()),
    };
    tree.tokens().filter_map(word).collect()
}

/// A diagnostic as people see it, without colours.
pub fn render(parsed: &Parsed, diagnostic: &Diagnostic) -> String {
    einlang_source::render::human(&parsed.sources, diagnostic, &Default::default())
}

fn shown(text: &str) -> &str {
    &text[..text.floor_char_boundary(MOST_SHOWN)]
}

/// The tokens are the text, in order and without gaps.
fn text_problem(tree: &Tree, text: &str) -> Option<String> {
    if tree.text() != text {
        return Some("the text of the tree differs from the source".to_string());
    }
    let mut end = 0;
    for token in tree.tokens() {
        let range = token.range();
        if range.start != end || range.is_empty() {
            return Some(format!("token {token:?} at {range:?} does not follow byte {end}"));
        }
        end = range.end;
    }
    (end != text.len()).then(|| format!("the tokens end at {end}, the text at {}", text.len()))
}

fn tree_problem(tree: &Tree) -> Option<String> {
    let root = tree.root();
    let n_tokens = tree.tokens().count();
    if root.kind() != SOURCE_FILE || root.all_tokens().count() != n_tokens {
        return Some("the root is not the whole file".to_string());
    }
    if tree.n_nodes() > MOST_NODES_PER_TOKEN * n_tokens + 1 {
        return Some(format!("{} nodes for {n_tokens} tokens", tree.n_nodes()));
    }
    let mut heights = vec![0_u32; tree.n_nodes()];
    for node in root.descendants() {
        let above = node.parent().map_or(0, |parent| heights[parent.index()]);
        heights[node.index()] = above + 1;
        if above >= MAX_HEIGHT {
            return Some(format!("{node:?} is higher than {MAX_HEIGHT}"));
        }
        if let Some(problem) = node_problem(node) {
            return Some(problem);
        }
    }
    None
}

fn node_problem(node: Node<'_>) -> Option<String> {
    let range = node.range();
    if range.is_empty() && !MAY_BE_EMPTY.contains(&node.kind()) {
        return Some(format!("{node:?} is empty, in {:?}", node.parent()));
    }
    let mut end = range.start;
    for element in node.elements() {
        let (part, is_ours) = match element {
            Element::Token(token) => (token.range(), true),
            Element::Node(child) => (child.range(), child.parent() == Some(node)),
        };
        if part.start != end || !is_ours {
            return Some(format!("in {node:?}: {element:?} does not follow byte {end}"));
        }
        end = part.end;
    }
    let n_children = node.children().count();
    let n_shown = node.elements().filter(|element| matches!(element, Element::Node(_))).count();
    if end != range.end || n_children != n_shown {
        return Some(format!("{node:?} has parts up to {end} and {n_shown}/{n_children} children"));
    }
    None
}

/// Spans lie on characters of the text; there is help, and its edits can be applied.
fn diagnostic_problem(diagnostic: &Diagnostic, parsed: &Parsed) -> Option<String> {
    let text = parsed.parse.tree.text();
    let fits = |span: Span| {
        span.file == parsed.file && span.start <= span.end && text.get(span.range()).is_some()
    };
    let edits = diagnostic.helps.iter().flat_map(|help| &help.edits);
    let mut spans = vec![diagnostic.primary.span];
    spans.extend(diagnostic.secondary.iter().map(|label| label.span));
    spans.extend(edits.map(|edit| edit.span));
    if let Some(span) = spans.into_iter().find(|span| !fits(*span)) {
        return Some(format!("span {span:?} does not fit the text: {diagnostic:?}"));
    }
    if diagnostic.helps.is_empty() || diagnostic.message.is_empty() {
        return Some(format!("there is nothing to do about it: {diagnostic:?}"));
    }
    // One edit cannot overlap; applying it anyway would cost a copy of the text per message.
    let several = diagnostic.helps.iter().filter(|help| help.edits.len() > 1);
    let mut overlapping = several.filter(|help| apply_edits(text, &help.edits).is_err());
    overlapping.next().map(|help| format!("the edits of {:?} overlap", help.text))
}
