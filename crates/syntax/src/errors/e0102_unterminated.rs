//! E0102: a string or comment without its end.

use einlang_source::{Code, Diagnostic, FileId, Span};

use crate::lexer::{LexError, Unterminated};

/// A string, interpolation or comment that was never closed.
pub(crate) fn unterminated(file: FileId, error: LexError) -> Diagnostic {
    let span = Span::new(file, error.start, error.end);
    let end = Span::at(file, error.end);
    match error.what {
        Unterminated::String => {
            Diagnostic::error(Code::E0102, "this string has no closing quote", span, "begins here")
                .with_note(
                    "a string ends on the line where it begins; `\\n` stands for a line break",
                )
                .with_edit("close the string with `\"`", end, "\"")
        }
        Unterminated::Interpolation => Diagnostic::error(
            Code::E0102,
            "this string ends inside an interpolation",
            span,
            "the `{` in it is not closed on this line",
        )
        .with_help(
            "close the interpolation with `}` and the string with `\"`, or write `{{` for a brace",
        ),
        Unterminated::Comment => {
            let opener = Span::new(file, error.start, error.start + 2);
            Diagnostic::error(Code::E0102, "this comment has no end", opener, "begins here")
                .with_note("block comments nest: each `/*` needs its own `*/`")
                .with_edit("close the comment with `*/`", end, " */")
        }
    }
}
