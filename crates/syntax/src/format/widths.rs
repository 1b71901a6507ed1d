//! How wide the parts of a document are on one line. Sums from the start of the document, computed
//! once, make every question one subtraction.

use super::doc::{Cmd, Doc, Place};

/// The width of the document up to each command, were it printed on one line.
pub(super) struct Widths {
    before: Vec<usize>,
    /// For each command, the width before the next place where a line may end. Comments are no
    /// such places: whether a block comment ends its line is what the printer is about to decide.
    line: Vec<usize>,
    /// The same, weak lines included.
    any_line: Vec<usize>,
}

impl Widths {
    pub(super) fn of(doc: &Doc<'_>) -> Widths {
        let mut before = Vec::with_capacity(doc.cmds.len() + 1);
        let mut width = 0;
        for cmd in &doc.cmds {
            before.push(width);
            width += flat_width(cmd);
        }
        before.push(width);
        let next = |weak_too: bool| {
            let mut next = vec![width; doc.cmds.len() + 1];
            for (i, cmd) in doc.cmds.iter().enumerate().rev() {
                let ends = matches!(cmd, Cmd::Line { weak, .. } if weak_too || !weak);
                next[i] = if ends { before[i] } else { next[i + 1] };
            }
            next
        };
        let (line, any_line) = (next(false), next(true));
        Widths { before, line, any_line }
    }

    /// From one command to the first place at or behind another where the line may end.
    pub(super) fn to_line(&self, from: usize, behind: usize) -> usize {
        self.line[behind] - self.before[from]
    }

    /// The same, with weak lines among the places.
    pub(super) fn to_any_line(&self, from: usize, behind: usize) -> usize {
        self.any_line[behind] - self.before[from]
    }
}

fn flat_width(cmd: &Cmd<'_>) -> usize {
    match cmd {
        Cmd::Text(text) => text.chars().count(),
        Cmd::Comment { text, place: Place::BeforeToken, .. } => text.chars().count() + 1,
        Cmd::Space
        | Cmd::Line { space: true, .. }
        | Cmd::LineIf(_)
        | Cmd::Rejoin { space: true } => 1,
        // Other comments never make a line break that would not break without them.
        _ => 0,
    }
}
