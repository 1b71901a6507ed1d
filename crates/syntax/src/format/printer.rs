//! The printer: a document to text, in one pass over its commands.
//!
//! A group is laid out on one line when its own width, with the text behind it up to the next place
//! where a line may end, fits in what is left of the line. Each decision takes constant time, so
//! printing is linear.
//!
//! White space is written late: a line end or a space waits until the next text is known, and
//! therefore no line ends with a space.

use super::align::{Trailing, align};
use super::doc::{Cmd, Doc, Group, GroupId, Place, Sort};
use super::widths::Widths;

/// The longest line that groups try to keep to, in characters.
pub(super) const WIDTH: usize = 100;

/// One step of indentation.
const INDENT: usize = 4;

/// Prints a document; the text ends with exactly one line end unless it is empty.
pub(super) fn print(doc: &Doc<'_>) -> String {
    let mut printer = Printer::new(doc);
    for (i, cmd) in doc.cmds.iter().enumerate() {
        printer.command(i, *cmd);
    }
    if !printer.out.is_empty() {
        printer.out.push('\n');
    }
    align(&printer.out, &printer.trailing)
}

/// How the lines of an open group are laid out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    Flat,
    Broken,
}

/// White space that is due before the next text.
#[derive(Clone, Copy, Debug, Default)]
struct Due {
    newlines: u8,
    /// The indentation after the line end.
    indent: usize,
    space: bool,
}

struct Printer<'d, 't> {
    doc: &'d Doc<'t>,
    out: String,
    line: usize,
    column: usize,
    indent: usize,
    outer_indents: Vec<usize>,
    due: Due,
    modes: Vec<Mode>,
    /// For each group that was printed: its lines were broken.
    broken: Vec<bool>,
    /// Groups that must not be flat, because the group that hugs them did not fit.
    unfit: Vec<bool>,
    widths: Widths,
    trailing: Vec<Trailing>,
}

impl<'d, 't> Printer<'d, 't> {
    fn new(doc: &'d Doc<'t>) -> Printer<'d, 't> {
        Printer {
            doc,
            out: String::new(),
            line: 0,
            column: 0,
            indent: 0,
            outer_indents: Vec::new(),
            due: Due::default(),
            modes: vec![Mode::Broken],
            broken: vec![false; doc.groups.len()],
            unfit: vec![false; doc.groups.len()],
            widths: Widths::of(doc),
            trailing: Vec::new(),
        }
    }

    fn command(&mut self, at: usize, cmd: Cmd<'t>) {
        match cmd {
            Cmd::Text(text) => self.text(text),
            Cmd::Space => self.due.space = true,
            Cmd::Line { space, .. } => self.line(self.mode() == Mode::Broken, space),
            Cmd::LineIf(group) => self.line(self.broken[group.index()], true),
            Cmd::Rejoin { space } => self.line(false, space),
            Cmd::Blank if self.due.newlines > 0 => self.due.newlines = 2,
            Cmd::Blank => {}
            Cmd::Comment { text, place, source_column } => {
                self.comment(text, place);
                if place == Place::EndOfLine && !text.contains('\n') {
                    self.remember(text, source_column);
                }
            }
            Cmd::Begin(group) => self.begin(at, group),
            Cmd::End => {
                self.modes.pop();
            }
            // Where a group is flat, only its hugged part breaks, and that stands for the whole.
            Cmd::Indent => self.indent_by(INDENT * usize::from(self.mode() == Mode::Broken)),
            Cmd::IndentIf(group) => {
                self.indent_by(INDENT * usize::from(self.broken[group.index()]))
            }
            Cmd::Dedent => self.indent = self.outer_indents.pop().unwrap_or(0),
        }
    }

    fn indent_by(&mut self, columns: usize) {
        self.outer_indents.push(self.indent);
        self.indent += columns;
    }

    fn mode(&self) -> Mode {
        self.modes.last().copied().unwrap_or(Mode::Broken)
    }

    fn line(&mut self, broken: bool, space: bool) {
        if broken || self.due.newlines > 0 {
            self.due.newlines = self.due.newlines.max(1);
            self.due.indent = self.indent;
        } else {
            self.due.space = space;
        }
    }

    /// Writes the white space that is due, then `text`.
    fn text(&mut self, text: &str) {
        let due = std::mem::take(&mut self.due);
        if due.newlines > 0 && !self.out.is_empty() {
            self.out.push_str(if due.newlines > 1 { "\n\n" } else { "\n" });
            self.line += usize::from(due.newlines);
            self.out.extend(std::iter::repeat_n(' ', due.indent));
            self.column = due.indent;
        } else if due.space && !self.out.is_empty() {
            self.out.push(' ');
            self.column += 1;
        }
        self.out.push_str(text);
        self.column += text.chars().count();
    }

    fn comment(&mut self, text: &str, place: Place) {
        let next_line = self.indent + INDENT;
        let indent = if self.due.newlines > 0 { self.due.indent } else { next_line };
        match place {
            Place::OwnLine => {
                self.due = Due { newlines: self.due.newlines.max(1), indent, space: false }
            }
            Place::SameLine => self.due = Due { space: true, ..Due::default() },
            Place::EndOfLine | Place::AfterToken => self.due.space = true,
            Place::BeforeToken => {}
        }
        self.comment_lines(text);
        self.due = match place {
            // What follows the comment stands below it; a line of the document may say otherwise.
            Place::OwnLine | Place::SameLine => Due { newlines: 1, indent, space: false },
            Place::EndOfLine => Due { newlines: 1, indent: next_line, space: false },
            Place::BeforeToken => Due { space: true, ..Due::default() },
            Place::AfterToken => Due::default(),
        };
    }

    /// The lines of a comment as they are, but for carriage returns at their ends.
    fn comment_lines(&mut self, text: &str) {
        let mut lines = text.split('\n').peekable();
        let mut first = true;
        while let Some(line) = lines.next() {
            let line = if lines.peek().is_some() { line.trim_end_matches('\r') } else { line };
            if std::mem::take(&mut first) {
                self.text(line);
            } else {
                self.out.push('\n');
                self.line += 1;
                self.out.push_str(line);
            }
        }
    }

    /// Notes where a comment stands that was just written at the end of its line.
    fn remember(&mut self, text: &str, source_column: usize) {
        self.trailing.push(Trailing {
            offset: self.out.len() - text.len(),
            line: self.line,
            column: self.column - text.chars().count(),
            source_column,
        });
    }

    fn begin(&mut self, at: usize, group: GroupId) {
        let mode = match self.mode() {
            Mode::Flat if !self.unfit[group.index()] => Mode::Flat,
            _ => self.choose(at, group),
        };
        self.broken[group.index()] = mode == Mode::Broken;
        self.modes.push(mode);
    }

    fn choose(&mut self, at: usize, id: GroupId) -> Mode {
        let group = self.doc.groups[id.index()];
        if group.broken || group.follows.is_some_and(|earlier| self.broken[earlier.index()]) {
            return Mode::Broken;
        }
        let left = WIDTH.saturating_sub(self.column_of_next());
        let end = group.end as usize;
        let whole = match group.sort {
            Sort::Weak => self.widths.to_any_line(at, end),
            Sort::Plain | Sort::LastResort => self.widths.to_line(at, end),
        };
        if !group.has_break && !self.unfit[id.index()] && whole <= left {
            return Mode::Flat;
        }
        if let Some(hugged) = group.hugged.filter(|hugged| self.may_hug(&group, *hugged)) {
            self.unfit[hugged.index()] = true;
            return Mode::Flat;
        }
        match group.sort {
            Sort::LastResort if self.widths.to_line(end, end) > self.next_line() => Mode::Flat,
            _ => Mode::Broken,
        }
    }

    /// The hugged part of a group begins on this line and may break alone.
    fn may_hug(&self, group: &Group, hugged: GroupId) -> bool {
        let inner = self.doc.groups[hugged.index()];
        let fits_alone = group.hugs_rather_than.is_some_and(|from| {
            let alone = self.widths.to_line(from as usize, inner.end as usize);
            !inner.has_break && alone <= self.next_line()
        });
        let left = WIDTH.saturating_sub(self.column_of_next());
        !fits_alone && self.widths.to_line(group.begin as usize, inner.begin as usize) <= left
    }

    /// The room on the next line.
    fn next_line(&self) -> usize {
        WIDTH.saturating_sub(self.indent + INDENT)
    }

    /// Where the next text will begin.
    fn column_of_next(&self) -> usize {
        if self.due.newlines > 0 {
            self.due.indent
        } else {
            self.column + usize::from(self.due.space)
        }
    }
}
