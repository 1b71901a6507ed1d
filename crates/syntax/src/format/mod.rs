//! The formatter: one canonical layout for every program.
//!
//! Contract
//! - Lines of at most 100 characters where the program lets them be that short, indentation by four
//!   spaces, lines end with a line feed, the file ends with exactly one (an empty file stays empty),
//!   no white space at the end of a line.
//! - Only white space changes. The tokens are the same in the same order, and every comment is kept,
//!   in order, between the same tokens. A comment at the end of a line stays at the end of a line,
//!   one on a line of its own stays on one, one inside a line stays inside it. White space at the
//!   end of line comments goes; the inside of block comments and of strings is never touched.
//! - The result parses to the same tree, and formatting it again changes nothing.
//!
//! Layout
//! - One statement, item, arm or field a line. Between them at most one empty line is kept where
//!   there was one; none at the start or end of a block.
//! - The author decides with a line break after the opening brace whether a block or the body of a
//!   `struct`, `enum` or `match` is broken. Without one it stays on its line if it fits and holds at
//!   most two statements. An array of arrays may be broken in the same way, one row a line, and a
//!   comma behind the last item of a list keeps the list broken.
//! - A list that does not fit breaks after its bracket, one item a line (arrays of numbers fill their
//!   lines). A block that is the last argument, or brackets that are the only one, break alone:
//!   `f(x, |y| {`. Subscripts, types and patterns break only when they are too long by themselves.
//! - Chains of operators break before the operators, pipelines before each stage; `where` and
//!   `until` go to lines of their own; a value leaves the line of its `=` only when nothing else
//!   helps.
//! - Comments at the ends of neighbouring lines that stood below each other still do.
//!
//! How: `Formatter` walks the tree and writes a document (`doc`), taking each token exactly once, in
//! order, with the comments around it (`comments`) and the space before it (`spaces`); `printer`
//! decides where lines end. What kind of node may break where is in `statements`, `lists` and
//! `expressions`; everything else is its parts in a row. All of it is linear in the size of the
//! file, and recursion is bounded by how deep programs may nest.

mod align;
mod comments;
mod doc;
mod expressions;
mod lists;
mod printer;
mod spaces;
mod statements;
mod walk;
mod widths;

use einlang_source::{Diagnostic, FileId};

use crate::kind::SyntaxKind::{ERROR, WHITESPACE};
use crate::lexer::lex;
use crate::tree::Tree;

/// The canonical text of a program that was parsed without errors. A tree with errors in it comes
/// back as it was written.
pub fn format(tree: &Tree) -> String {
    let wrong = tree.root().descendants().any(|node| node.kind() == ERROR);
    let document = if wrong { None } else { walk::document(tree) };
    let formatted = document.map(|document| printer::print(&document));
    let kept = formatted.filter(|text| says_the_same(tree, text));
    kept.unwrap_or_else(|| tree.text().to_owned())
}

/// Whether a text has the tokens and comments of the tree, in their order. Losing a comment would
/// be worse than not formatting: a tree that the parser repaired without a trace may have one where
/// no layout expects it.
fn says_the_same(tree: &Tree, text: &str) -> bool {
    let tokens = lex(text);
    let after = (0..tokens.len())
        .filter(|i| tokens.kinds[*i] != WHITESPACE)
        .map(|i| (tokens.kinds[i], &text[tokens.range(i)]));
    let mut before = tree
        .tokens()
        .filter(|token| token.kind() != WHITESPACE)
        .map(|token| (token.kind(), token.text()));
    // White space at the ends of lines inside comments is not kept, nor is the kind of line end.
    let same_lines =
        |a: &str, b: &str| a == b || a.lines().map(str::trim_end).eq(b.lines().map(str::trim_end));
    let mut same = |(kind, text)| {
        before.next().is_some_and(|(other, old)| kind == other && same_lines(old, text))
    };
    after.into_iter().all(&mut same) && before.next().is_none()
}

/// Parses a text and formats it, or says why it cannot be parsed.
pub fn format_source(file: FileId, text: &str) -> Result<String, Vec<Diagnostic>> {
    let parsed = crate::parse(file, text);
    if parsed.diagnostics.is_empty() { Ok(format(&parsed.tree)) } else { Err(parsed.diagnostics) }
}
