//! W0305 and E0305: points that no clause defines.

use einlang_source::{Code, Diagnostic, Span};

/// A binding whose clauses leave a gap.
pub(crate) struct Undefined<'a> {
    /// The binding.
    pub(crate) name: &'a str,
    /// The number of its axes.
    pub(crate) rank: usize,
    /// The number of its points that no clause defines, when it is known.
    pub(crate) count: Option<u128>,
    /// Whether its type has a zero to read there.
    pub(crate) zero: bool,
    /// Its first clause.
    pub(crate) span: Span,
    /// A read of such a point.
    pub(crate) read: Option<Span>,
    /// Whether it is an output of the program.
    pub(crate) output: bool,
}

/// A gap that something can read; an error under `--strict`, and where the type has no zero.
pub(crate) fn undefined_points(gap: &Undefined<'_>, strict: bool) -> Diagnostic {
    let (message, name) = (message(gap), gap.name);
    let label = format!("the clauses of `{name}` leave a gap");
    let mut diagnostic = match strict || !gap.zero {
        true => Diagnostic::error(Code::E0305, message, gap.span, label),
        false => Diagnostic::warning(Code::W0305, message, gap.span, label),
    };
    let mut help = "add a clause for the missing points, or an `else` to the guard".to_owned();
    match gap.read {
        Some(read) => {
            diagnostic = diagnostic.with_label(read, "this can read such a point");
            help = format!(
                "add a clause for the missing points, an `else` to the guard, or read with a default: `{name}[{} else …]`",
                indices(gap.rank)
            );
        }
        None if gap.output => {
            diagnostic =
                diagnostic.with_note(format!("`{name}` is an output, which shows all its points"));
        }
        None => {}
    }
    diagnostic.with_help(help)
}

fn message(gap: &Undefined<'_>) -> String {
    let points = match gap.count {
        Some(1) => "no clause defines 1 point of".to_owned(),
        Some(count) => format!("no clause defines {count} points of"),
        None => "no clause is sure to define every point of".to_owned(),
    };
    let rest = match (gap.zero, gap.count) {
        (false, _) => ", and its type has no zero to read there",
        (true, Some(1)) => "; it reads as zero",
        (true, Some(_)) => "; they read as zero",
        (true, None) => "; what is missing reads as zero",
    };
    format!("{points} `{}`{rest}", gap.name)
}

fn indices(rank: usize) -> String {
    let names = ["i", "j", "k", "l"];
    names.get(..rank).map_or("…".to_owned(), |names| names.join(", "))
}
