//! E0101: the text stops making sense at a token.
//!
//! The headline says what was expected and what was found; the help says what to write. Where the
//! text looks like another language (`return x`, `a += 1`, `a and b`), the help says how Einlang
//! spells it.

use einlang_source::{Code, Diagnostic, Span};

use crate::kind::SyntaxKind::{self, *};

/// What the grammar wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Expected {
    /// This token.
    Token(SyntaxKind),
    /// A comma or this closing bracket.
    CommaOr(SyntaxKind),
    /// A name; the words say whose, such as "a name for the binding".
    Name(&'static str),
    /// An expression.
    Expression,
    /// A pattern.
    Pattern,
    /// A type.
    Type,
    /// Something described in words, with the advice that goes with it.
    Other(&'static str, &'static str),
    /// The same, where what stands here is wrong and nothing before it is missing.
    Here(&'static str, &'static str),
}

/// What stands there instead, and what stands before it.
pub(crate) struct Found<'t> {
    pub(crate) kind: SyntaxKind,
    pub(crate) text: &'t str,
    pub(crate) span: Span,
    pub(crate) previous: Option<Previous<'t>>,
    /// A line break lies between the two.
    pub(crate) on_new_line: bool,
}

/// The token before the one that does not fit.
pub(crate) struct Previous<'t> {
    pub(crate) text: &'t str,
    pub(crate) span: Span,
}

/// The message for a token that does not fit. `opener` is the bracket that waits for its closer.
pub(crate) fn unexpected_token(
    expected: Expected,
    found: &Found<'_>,
    opener: Option<Span>,
) -> Diagnostic {
    if found.kind == UNKNOWN {
        return unknown_character(found);
    }
    let message = format!("expected {}, found {}", wanted(expected), describe(found));
    let (span, label) = place(expected, found);
    let mut diagnostic = Diagnostic::error(Code::E0101, message, span, label);
    if let Some(opener) = opener {
        diagnostic = diagnostic.with_label(opener, "opened here");
    }
    advise(diagnostic, expected, found)
}

/// Brackets, blocks or operators beyond the limit.
pub(crate) fn too_deep(span: Span) -> Diagnostic {
    Diagnostic::error(
        Code::E0101,
        "this is nested too deeply",
        span,
        "the limit of nested brackets or operators in a row is reached here",
    )
    .with_help("split the expression with `let`, or move a part of it into a function")
}

/// A closing bracket without its opening one.
pub(crate) fn unmatched_closer(text: &str, span: Span) -> Diagnostic {
    Diagnostic::error(Code::E0101, format!("unmatched `{text}`"), span, "no bracket is open here")
        .with_edit(format!("remove this `{text}`, or open its bracket earlier"), span, "")
}

/// An attribute with nothing to stand before.
pub(crate) fn dangling_attribute(span: Span) -> Diagnostic {
    Diagnostic::error(
        Code::E0101,
        "this attribute stands before nothing",
        span,
        "expected an item or a `let` after it",
    )
    .with_help("put the attribute right before the item or binding it describes")
}

fn wanted(expected: Expected) -> String {
    match expected {
        Expected::Token(kind) => kind.describe().to_string(),
        Expected::CommaOr(closer) => format!("`,` or {}", closer.describe()),
        Expected::Name(what) => what.to_string(),
        Expected::Expression => "an expression".to_string(),
        Expected::Pattern => "a pattern".to_string(),
        Expected::Type => "a type".to_string(),
        Expected::Other(what, _) | Expected::Here(what, _) => what.to_string(),
    }
}

fn describe(found: &Found<'_>) -> String {
    match found.kind {
        EOF => "the end of the file".to_string(),
        STR_OPEN | STR_TEXT => "a string".to_string(),
        kind if kind.is_keyword() => format!("the keyword `{}`", found.text),
        _ => format!("`{}`", found.text),
    }
}

/// What is missing is shown where it belongs, after the previous token; what is wrong is shown
/// where it stands.
fn place(expected: Expected, found: &Found<'_>) -> (Span, String) {
    let at_break = found.on_new_line || found.kind == EOF;
    let missing = match expected {
        Expected::Token(SEMI) => true,
        Expected::Here(..) => false,
        _ => at_break,
    };
    match &found.previous {
        Some(previous) if missing => {
            let end = Span::at(previous.span.file, previous.span.end);
            (end, format!("expected {}", wanted(expected)))
        }
        _ => (found.span, format!("expected {}", wanted(expected))),
    }
}

fn advise(diagnostic: Diagnostic, expected: Expected, found: &Found<'_>) -> Diagnostic {
    if let Some(advice) = foreign_advice(found) {
        return diagnostic.with_help(advice);
    }
    if found.kind == EQ && expected == Expected::Token(SEMI) {
        return diagnostic
            .with_help("begin the statement with `let` to bind a name; `==` compares");
    }
    if found.kind == DOT && expected == Expected::Expression {
        return diagnostic.with_help("write a digit before the point: `0.5`, not `.5`");
    }
    if found.kind == INTERP_CLOSE && expected == Expected::Expression {
        return diagnostic.with_help(
            "write an expression between the braces, or `{{` and `}}` for the characters",
        );
    }
    if found.kind == QUESTION && expected == Expected::Token(SEMI) {
        return diagnostic.with_help("write `if c { a } else { b }` for a choice");
    }
    match expected {
        Expected::Token(L_BRACK) if found.kind != L_BRACK && is_after_hash(found) => {
            diagnostic.with_help("an attribute is written `#[name]`; comments begin with `//`")
        }
        Expected::Token(kind) => advise_token(diagnostic, kind, found),
        Expected::CommaOr(closer) => diagnostic.with_help(format!(
            "separate the parts with `,` and end them with {}",
            closer.describe()
        )),
        Expected::Name(_) if found.kind.is_keyword() => {
            let renamed = format!("{}_", found.text);
            let help =
                format!("`{}` is a keyword; choose another name, such as `{renamed}`", found.text);
            diagnostic.with_edit(help, found.span, renamed)
        }
        Expected::Name(what) => diagnostic.with_help(format!("write {what} here")),
        Expected::Expression => {
            diagnostic.with_help("write a value here: a number, a name, a call, a block …")
        }
        Expected::Pattern => diagnostic
            .with_help("a pattern is a name, a literal, `_`, a tuple, a struct or a variant"),
        Expected::Type => diagnostic.with_help(
            "a type is written like `f32`, `[f32; N, 3]`, `(f32, i32)` or `Option<f32>`",
        ),
        Expected::Other(_, advice) | Expected::Here(_, advice) => diagnostic.with_help(advice),
    }
}

fn is_after_hash(found: &Found<'_>) -> bool {
    found.previous.as_ref().is_some_and(|previous| previous.text == "#")
}

/// A missing token comes with the edit that adds it where that is likely to be the whole repair.
fn advise_token(diagnostic: Diagnostic, kind: SyntaxKind, found: &Found<'_>) -> Diagnostic {
    let (Some(text), Some(previous)) = (kind.fixed_text(), &found.previous) else {
        return diagnostic.with_help(format!("add {} here", kind.describe()));
    };
    let at_break = found.on_new_line || matches!(found.kind, EOF | R_BRACE);
    let (repairs, spaced) = match kind {
        SEMI => (at_break, false),
        EQ | FAT_ARROW | IN => (!at_break && found.kind != SEMI && !found.kind.is_closer(), true),
        kind if kind.is_closer() => {
            (at_break || found.kind == SEMI || found.kind.is_closer(), false)
        }
        GT | PIPE | COLON => (true, false),
        _ => (false, false),
    };
    if !repairs {
        let help = match kind {
            SEMI => "end the statement with `;`, or complete what stands before".to_string(),
            _ => format!("add `{text}` here"),
        };
        return diagnostic.with_help(help);
    }
    let end = Span::at(previous.span.file, previous.span.end);
    let inserted = match kind {
        R_BRACE if at_break => "\n}".to_string(),
        _ if spaced => format!(" {text}"),
        _ => text.to_string(),
    };
    diagnostic.with_edit(format!("add `{text}` here"), end, inserted)
}

/// Words and signs of other languages, and what to write here.
const FOREIGN: &[(&str, &str)] = &[
    ("return", "there is no `return`: the value of a function is its last expression"),
    ("mut", "bindings are immutable: leave out `mut` and bind a new name for a new value"),
    ("var", "bindings are written `let name = value;`"),
    ("def", "functions are written `fn name(parameters) { … }`"),
    ("lambda", "functions without a name are written `|x| x + 1`"),
    ("and", "write `&&` for and"),
    ("or", "write `||` for or"),
    ("not", "write `!` for not"),
    ("elif", "write `else if`"),
    (
        "while",
        "there are no loops: write a recurrence such as `let x[t in 1..T] = …`, or `until` for a condition",
    ),
    (
        "loop",
        "there are no loops: write a recurrence such as `let x[t in 1..T] = …`, or `until` for a condition",
    ),
    ("then", "the branches of `if` are blocks: `if c { a } else { b }`"),
    ("import", "modules are imported with `use`"),
];

fn foreign_advice(found: &Found<'_>) -> Option<String> {
    let previous = found.previous.as_ref().map_or("", |previous| previous.text);
    if found.kind == EQ && matches!(previous, "+" | "-" | "*" | "/" | "%" | "**") {
        return Some(format!(
            "bindings are immutable: there is no `{previous}=`, bind a new name instead"
        ));
    }
    // The suspicious word is the one that does not fit, or the one before it that was taken for a
    // name.
    let before = if found.on_new_line { "" } else { previous };
    let entry = FOREIGN.iter().find(|(word, _)| *word == found.text || *word == before)?;
    Some(entry.1.to_string())
}

/// Characters that look like Einlang but are not, and what was probably meant.
const LOOKALIKES: &[(char, &str)] = &[
    ('“', "\""),
    ('”', "\""),
    ('„', "\""),
    ('\'', "\""),
    ('‘', "\""),
    ('’', "\""),
    ('−', "-"),
    ('–', "-"),
    ('—', "-"),
    ('×', "*"),
    ('·', "*"),
    ('∗', "*"),
    ('÷', "/"),
    ('≤', "<="),
    ('≥', ">="),
    ('≠', "!="),
    ('→', "->"),
    ('⇒', "=>"),
    ('∧', "&&"),
    ('∨', "||"),
    ('¬', "!"),
    ('^', "**"),
    ('&', "&&"),
    ('；', ";"),
    ('，', ","),
    ('：', ":"),
    ('（', "("),
    ('）', ")"),
    ('∂', "@"),
];

fn unknown_character(found: &Found<'_>) -> Diagnostic {
    let c = found.text.chars().next().unwrap_or('\u{fffd}');
    let shown = if c.is_control() { format!("U+{:04X}", c as u32) } else { format!("`{c}`") };
    let diagnostic = Diagnostic::error(
        Code::E0101,
        format!("unknown character {shown}"),
        found.span,
        "not part of any token",
    );
    match LOOKALIKES.iter().find(|(lookalike, _)| *lookalike == c) {
        Some((_, meant)) => {
            diagnostic.with_edit(format!("did you mean `{meant}`?"), found.span, *meant)
        }
        None => diagnostic.with_edit("remove it, or put it into a string", found.span, ""),
    }
}
