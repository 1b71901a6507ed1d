//! Machine-applicable edits, shown as a change of the lines they touch.
//!
//! A change is drawn only where it can be read: the edits do not contradict each other, and they
//! touch neither too many lines nor lines longer than the terminal is wide (the drawing crate does
//! not trim changes). Any other help keeps its words, which say what to do without the picture.

use std::collections::BTreeMap;

use annotate_snippets::{Element, Group, Level, Patch, Snippet};

use super::neutral;
use super::place::within;
use super::window::Window;
use crate::apply::apply_edits;
use crate::diagnostic::{Edit, Help};
use crate::files::{LineRange, Sources};
use crate::span::FileId;

/// An edit of more lines than this, old and new together, is not drawn.
const MOST_LINES: usize = 20;

/// True when the help has edits and a picture of them can be drawn.
pub(super) fn is_drawn(sources: &Sources, help: &Help, columns: usize) -> bool {
    changes(sources, help, columns).is_some()
}

/// The help under a title of its own, with a picture of its change in each file.
pub(super) fn group(sources: &Sources, help: &Help, columns: usize) -> Group<'static> {
    let title = Level::HELP.secondary_title(neutral::block(&help.text));
    let changes = changes(sources, help, columns).unwrap_or_default();
    let pictures = changes.iter().map(|edits| picture(sources, edits));
    Group::with_title(title).elements(pictures)
}

/// The edits to draw, file by file; nothing when there are none or they cannot be read.
fn changes(sources: &Sources, help: &Help, columns: usize) -> Option<Vec<Vec<Edit>>> {
    let mut changes = Vec::new();
    for (file, mut edits) in by_file(sources, &help.edits) {
        apply_edits(sources.text(file), &edits).ok()?;
        edits.sort_by_key(|edit| (edit.span.start, edit.span.end));
        let apart = joined(sources, &edits, |whole, next| whole.span.end == next.span.start);
        let is_simple = is_simple(sources, &apart);
        let edits = if is_simple { apart } else { joined(sources, &apart, |_, _| true) };
        changes.push(Some(edits).filter(|edits| is_legible(sources, edits, columns))?);
    }
    Some(changes).filter(|changes| !changes.is_empty())
}

/// The edits of each file, cut to its text.
fn by_file(sources: &Sources, edits: &[Edit]) -> BTreeMap<FileId, Vec<Edit>> {
    let mut files: BTreeMap<FileId, Vec<Edit>> = BTreeMap::new();
    for edit in edits {
        let span = sources.clamp(edit.span);
        let edit = Edit { span, replacement: edit.replacement.clone() };
        files.entry(span.file).or_default().push(edit);
    }
    files
}

/// Whether the drawing crate computes the columns of these edits together correctly: it does not
/// when an edit joins lines that others touch, nor when the last touched line loses its beginning.
fn is_simple(sources: &Sources, edits: &[Edit]) -> bool {
    let places: Vec<LineRange> = edits.iter().map(|edit| sources.line_col(edit.span)).collect();
    let ([first, .., last], Some(Edit { replacement, .. })) = (&places[..], edits.last()) else {
        return true;
    };
    let loses_beginning = last.col == 1 && replacement.is_empty();
    let ends_in_text = !loses_beginning && !replacement.ends_with('\n');
    places.iter().all(|at| at.line == at.end_line) && (first.line == last.line || ends_in_text)
}

/// The edits, which are in order, with neighbours made into one where `belong` says so.
fn joined(sources: &Sources, edits: &[Edit], belong: fn(&Edit, &Edit) -> bool) -> Vec<Edit> {
    let mut joined: Vec<Edit> = Vec::new();
    for edit in edits {
        match joined.last_mut().filter(|whole| belong(whole, edit)) {
            Some(whole) => join(sources, whole, edit),
            None => joined.push(edit.clone()),
        }
    }
    joined
}

fn join(sources: &Sources, whole: &mut Edit, next: &Edit) {
    let text = sources.text(next.span.file);
    whole.replacement.push_str(&text[whole.span.range().end..next.span.range().start]);
    whole.replacement.push_str(&next.replacement);
    whole.span = whole.span.cover(next.span);
}

fn is_legible(sources: &Sources, edits: &[Edit], columns: usize) -> bool {
    edits.iter().all(|edit| {
        let at = sources.line_col(edit.span);
        let old = (at.line..=at.end_line).map(|line| sources.line_text(edit.span.file, line));
        let lines = old.chain(edit.replacement.lines()).take(MOST_LINES + 1);
        let lengths: Vec<usize> = lines.map(|line| line.chars().count()).collect();
        lengths.len() <= MOST_LINES && lengths.iter().all(|length| *length <= columns)
    })
}

/// The lines that the edits of one file touch, before and after.
fn picture(sources: &Sources, edits: &[Edit]) -> Element<'static> {
    let file = edits[0].span.file;
    let places = || edits.iter().map(|edit| sources.line_col(edit.span));
    let first = places().map(|at| at.line).min().unwrap_or(1);
    let last = places().map(|at| at.end_line).max().unwrap_or(first);
    let window = Window::new(sources, file, first, last);
    let patches = edits.iter().map(|edit| patch(sources, &window, edit));
    Snippet::source(window.text())
        .line_start(window.first_line())
        .path(neutral::line(sources.name(file)))
        .patches(patches.collect::<Vec<_>>())
        .into()
}

fn patch(sources: &Sources, window: &Window<'_>, edit: &Edit) -> Patch<'static> {
    let at = sources.line_col(edit.span);
    let content = |line| sources.line_span(edit.span.file, line).range();
    let start = within(edit.span.start, &content(at.line));
    let end = within(edit.span.end, &content(at.end_line));
    Patch::new(window.map(&(start..end)), neutral::source(&edit.replacement))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::span::Span;

    /// What would be drawn for these edits of one text, as ranges and replacements.
    fn drawn(text: &str, edits: &[(u32, u32, &str)]) -> Option<Vec<(u32, u32, String)>> {
        let mut sources = Sources::new();
        let file = sources.add("f.ein", text);
        let edits = edits.iter().map(|(start, end, replacement)| Edit {
            span: Span { file, start: *start, end: *end },
            replacement: (*replacement).into(),
        });
        let help = Help { text: String::new(), edits: edits.collect() };
        let changes = changes(&sources, &help, 40)?;
        let parts = changes.into_iter().flatten();
        Some(parts.map(|edit| (edit.span.start, edit.span.end, edit.replacement)).collect())
    }

    #[test]
    fn edits_apart_stay_apart() {
        let both = vec![(0, 0, "(".into()), (5, 5, ")".into())];
        assert_eq!(drawn("a + b", &[(5, 5, ")"), (0, 0, "(")]), Some(both));
        let on_two_lines = vec![(0, 1, "x".into()), (2, 3, "y".into())];
        assert_eq!(drawn("a\nb\n", &[(0, 1, "x"), (2, 3, "y")]), Some(on_two_lines));
    }

    #[test]
    fn touching_edits_become_one() {
        assert_eq!(drawn("ab", &[(0, 1, "x"), (1, 2, "y")]), Some(vec![(0, 2, "xy".into())]));
    }

    #[test]
    fn edits_that_remove_lines_become_one() {
        assert_eq!(drawn("a\nb c", &[(0, 1, ""), (2, 4, "")]), Some(vec![(0, 4, "\n".into())]));
        assert_eq!(drawn("a\nb c", &[(1, 2, ""), (4, 5, "d")]), Some(vec![(1, 5, "b d".into())]));
    }

    #[test]
    fn what_cannot_be_read_is_not_drawn() {
        assert_eq!(drawn("ab", &[]), None);
        assert_eq!(drawn("abc", &[(0, 2, "x"), (1, 3, "y")]), None, "contradiction");
        assert_eq!(drawn(&"x".repeat(41), &[(0, 1, "y")]), None, "long line");
        assert_eq!(drawn("ab", &[(0, 1, &"y".repeat(41))]), None, "long replacement");
        assert_eq!(drawn(&"x\n".repeat(30), &[(0, 50, "y")]), None, "many lines");
    }
}
