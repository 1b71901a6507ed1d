//! The form for people: headline, snippets, notes, helps, in rustc's order and manner.
//!
//! The drawing itself is the crate `annotate-snippets`, which is rustc's own; this file decides
//! what is drawn. Everything handed to the crate is neutralised first, because it passes labels,
//! notes and file names through as they are.

use std::iter;

use annotate_snippets::{
    Annotation, AnnotationKind, Element, Group, Level, Message, Origin, Snippet,
};

use super::place::{self, Mark};
use super::window::Window;
use super::{Options, neutral, patch};
use crate::diagnostic::{Diagnostic, Severity};
use crate::files::Sources;

/// The diagnostic as rustc would print it, without a final line break.
///
/// Plain helps stand with the notes until the first one that shows a change; it and all after it
/// have titles of their own, so that the best advice stays first.
pub fn human(sources: &Sources, diagnostic: &Diagnostic, options: &Options) -> String {
    let columns = options.columns();
    let helps = &diagnostic.helps;
    let first_change = helps.iter().position(|help| patch::is_drawn(sources, help, columns));
    let (advice, changes) = helps.split_at(first_change.unwrap_or(helps.len()));
    let main = headline(diagnostic)
        .elements(snippets(sources, diagnostic, columns))
        .elements(diagnostic.notes.iter().map(|note| message(Level::NOTE, note)))
        .elements(advice.iter().map(|help| message(Level::HELP, &help.text)));
    let changes = changes.iter().map(|help| patch::group(sources, help, columns));
    let groups: Vec<Group<'_>> = iter::once(main).chain(changes).collect();
    options.renderer().render(&groups)
}

fn headline(diagnostic: &Diagnostic) -> Group<'static> {
    let level = level(diagnostic.severity);
    let title = level.primary_title(neutral::line(&diagnostic.message));
    Group::with_title(title.id(diagnostic.code.as_str()))
}

fn message(level: Level<'static>, text: &str) -> Message<'static> {
    level.message(neutral::block(text))
}

fn level(severity: Severity) -> Level<'static> {
    match severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    }
}

/// The pieces of source, the one with the primary label first.
fn snippets(sources: &Sources, diagnostic: &Diagnostic, columns: usize) -> Vec<Element<'static>> {
    let pieces = pieces(place::marks(sources, diagnostic, columns), columns);
    pieces.iter().map(|marks| element(sources, marks)).collect()
}

/// Labels further apart than this get pictures of their own: a snippet is handed all lines between
/// its labels, and in a long file that would be most of it for each message.
const MAX_LINES_APART: u32 = 300;

/// Labels that are drawn together: those of one file, unless some stand so far apart in lines, or
/// in columns of long lines, that a picture of all of them would be one of much that is between.
fn pieces(marks: Vec<Mark>, columns: usize) -> Vec<Vec<Mark>> {
    let mut pieces: Vec<Vec<Mark>> = Vec::new();
    for mark in marks {
        let home = pieces.iter_mut().find(|piece| fits(piece, &mark, columns));
        match home {
            Some(piece) => piece.push(mark),
            None => pieces.push(vec![mark]),
        }
    }
    pieces
}

fn fits(piece: &[Mark], mark: &Mark, columns: usize) -> bool {
    let all = || piece.iter().chain([mark]);
    let left = all().map(|mark| mark.columns.start).min().unwrap_or(0);
    let right = all().map(|mark| mark.columns.end).max().unwrap_or(0);
    let first = all().map(|mark| mark.lines.0).min().unwrap_or(0);
    let last = all().map(|mark| mark.lines.0).max().unwrap_or(0);
    all().all(|other| other.file == mark.file)
        && right.saturating_sub(left) <= columns
        && last - first <= MAX_LINES_APART
}

fn element(sources: &Sources, marks: &[Mark]) -> Element<'static> {
    let file = marks[0].file;
    let path = neutral::line(sources.name(file));
    if sources.text(file).is_empty() && marks.iter().all(|mark| mark.text.is_empty()) {
        return Origin::path(path).into();
    }
    let first = marks.iter().map(|mark| mark.lines.0).min().unwrap_or(1);
    let last = marks.iter().map(|mark| mark.lines.1).max().unwrap_or(first);
    let window = Window::new(sources, file, first, last);
    let annotations = marks.iter().map(|mark| annotation(&window, mark));
    Snippet::source(window.text())
        .line_start(window.first_line())
        .path(path)
        .annotations(annotations.collect::<Vec<_>>())
        .into()
}

fn annotation(window: &Window<'_>, mark: &Mark) -> Annotation<'static> {
    let kind = if mark.is_primary { AnnotationKind::Primary } else { AnnotationKind::Context };
    let words = Some(neutral::line(&mark.text)).filter(|words| !words.is_empty());
    kind.span(window.map(&mark.range)).label(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::Code;
    use crate::span::Span;

    /// The number of labels in each piece when labels stand at these bytes of a long line.
    fn sizes(places: &[u32]) -> Vec<usize> {
        let mut sources = Sources::new();
        let file = sources.add("f.ein", "x".repeat(1000));
        let span = |at: &u32| Span::new(file, *at, at + 1);
        let error = Diagnostic::error(Code::E0101, "m", span(&places[0]), "");
        let error = places[1..].iter().fold(error, |error, at| error.with_label(span(at), ""));
        let pieces = pieces(place::marks(&sources, &error, 100), 100);
        pieces.iter().map(Vec::len).collect()
    }

    #[test]
    fn labels_share_a_picture_when_it_fits() {
        assert_eq!(sizes(&[500, 510, 490]), [3]);
        assert_eq!(sizes(&[500, 3, 510]), [2, 1]);
        assert_eq!(sizes(&[500, 3, 700, 9]), [1, 2, 1]);
    }

    #[test]
    fn labels_far_apart_in_lines_have_pictures_of_their_own() {
        let mut sources = Sources::new();
        let file = sources.add("f.ein", "x\n".repeat(2000));
        let error = Diagnostic::error(Code::E0101, "m", Span::new(file, 3000, 3001), "late");
        let error = error.with_label(Span::new(file, 0, 1), "early");
        let text = human(&sources, &error, &Options::default());
        assert!(text.contains("1501 | x") && text.contains("::: f.ein:1:1"), "{text}");
    }

    #[test]
    fn the_first_change_ends_the_plain_helps() {
        let mut sources = Sources::new();
        let file = sources.add("f.ein", "let x = 1\n");
        let at = Span::at(file, 9);
        let error = Diagnostic::error(Code::E0101, "expected `;`", at, "")
            .with_help("one")
            .with_edit("two", at, ";")
            .with_help("three");
        let text = human(&sources, &error, &Options::default());
        let helps: Vec<&str> = text.lines().filter(|line| line.contains("help: ")).collect();
        assert_eq!(helps, ["  = help: one", "help: two", "help: three"]);
    }
}
