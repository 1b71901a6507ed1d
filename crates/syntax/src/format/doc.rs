//! The document: the text of a program as a flat list of commands, in the manner of Oppen and
//! Wadler. Groups are laid out on one line where they fit; otherwise every line of the group breaks.
//!
//! A document is built once from front to back, and groups nest like brackets. Some breaks cannot
//! be avoided: after a comment, between the statements of a long block. They are known while
//! building, and here they spread to the groups around, so that the printer decides each group by
//! one look at its flag and its width.
//!
//! Invariant: a group marked `broken` holds a break that must happen outside its hugged part, and
//! one marked `has_break` holds such a break anywhere.

/// The name of a group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct GroupId(u32);

impl GroupId {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// Where a comment stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// On a line of its own.
    OwnLine,
    /// On the line of the comment before it.
    SameLine,
    /// After a token, as the last thing of its line.
    EndOfLine,
    /// After a token, inside a line.
    AfterToken,
    /// Before a token, inside a line.
    BeforeToken,
}

impl Place {
    /// Nothing but comments follows on the line.
    pub(super) fn ends_line(self) -> bool {
        matches!(self, Place::OwnLine | Place::SameLine | Place::EndOfLine)
    }
}

/// One step of printing.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cmd<'t> {
    Text(&'t str),
    Space,
    /// A line end if the group around is broken; else a space or nothing.
    Line {
        space: bool,
        weak: bool,
    },
    /// A line end if that group was broken, else a space.
    LineIf(GroupId),
    /// A space or nothing; after a comment that ends its line, a line end without indentation.
    Rejoin {
        space: bool,
    },
    /// An empty line, where a line end was just made.
    Blank,
    Comment {
        text: &'t str,
        place: Place,
        /// Where it began on its line in the source.
        source_column: usize,
    },
    Begin(GroupId),
    End,
    Indent,
    Dedent,
    /// Indents if that group was broken; ended by `Dedent`.
    IndentIf(GroupId),
}

/// What distinguishes groups.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Sort {
    /// Breaks when it does not fit.
    Plain,
    /// Breaks when it does not fit itself, however long the text behind it; its lines are not
    /// counted as places where an earlier group could end its line.
    Weak,
    /// Breaks when it does not fit and what follows fits better on a line of its own.
    LastResort,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    pub(super) sort: Sort,
    /// The commands `Begin` and `End` of the group.
    pub(super) begin: u32,
    pub(super) end: u32,
    pub(super) broken: bool,
    pub(super) has_break: bool,
    /// The last part of the group, which may break while the rest stays on its line: the block of
    /// `f(x, |y| { … })`.
    pub(super) hugged: Option<GroupId>,
    /// The hugged part breaks alone only where what begins here would not fit on the next line.
    pub(super) hugs_rather_than: Option<u32>,
    /// An earlier group with which this one breaks.
    pub(super) follows: Option<GroupId>,
    /// The group that hugs this one.
    hugged_by: Option<GroupId>,
    /// The hugged part is being built.
    hugging: bool,
}

/// A document.
#[derive(Debug, Default)]
pub(super) struct Doc<'t> {
    pub(super) cmds: Vec<Cmd<'t>>,
    pub(super) groups: Vec<Group>,
    open: Vec<GroupId>,
    /// A comment was written that ends its line, and nothing since. Holds its position.
    after_comment: Option<u32>,
    /// The group of the line written last, if no text came after it.
    last_line: Option<GroupId>,
}

impl<'t> Doc<'t> {
    fn here(&self) -> u32 {
        self.cmds.len() as u32
    }

    pub(super) fn text(&mut self, text: &'t str) {
        if let Some(comment) = self.after_comment.take() {
            // The line ends between the comment and this text, in every group around both.
            self.spread_break(comment);
        }
        self.last_line = None;
        self.cmds.push(Cmd::Text(text));
    }

    pub(super) fn space(&mut self) {
        self.cmds.push(Cmd::Space);
    }

    pub(super) fn line(&mut self, space: bool, weak: bool) {
        if self.after_comment.take().is_some() {
            self.spread_break(self.here());
        }
        self.last_line = self.open.last().copied();
        self.cmds.push(Cmd::Line { space, weak });
    }

    /// A line end in any case.
    pub(super) fn hard_line(&mut self) {
        self.spread_break(self.here());
        self.line(true, false);
    }

    pub(super) fn line_if(&mut self, group: GroupId) {
        self.cmds.push(Cmd::LineIf(group));
    }

    pub(super) fn rejoin(&mut self, space: bool) {
        self.cmds.push(Cmd::Rejoin { space });
    }

    pub(super) fn blank(&mut self) {
        self.cmds.push(Cmd::Blank);
    }

    pub(super) fn comment(&mut self, text: &'t str, place: Place, source_column: usize) {
        if place == Place::OwnLine {
            self.spread_break(self.here());
            if let Some(group) = self.last_line {
                self.break_group(group);
            }
        }
        if place.ends_line() {
            self.after_comment = Some(self.here());
        }
        self.cmds.push(Cmd::Comment { text, place, source_column });
    }

    pub(super) fn begin(&mut self, sort: Sort) -> GroupId {
        let id = GroupId(self.groups.len() as u32);
        self.groups.push(Group {
            sort,
            begin: self.here(),
            end: self.here(),
            broken: false,
            has_break: false,
            hugged: None,
            hugs_rather_than: None,
            follows: None,
            hugged_by: None,
            hugging: false,
        });
        self.open.push(id);
        self.cmds.push(Cmd::Begin(id));
        id
    }

    /// Closes the innermost group.
    pub(super) fn end(&mut self) {
        let end = self.here();
        self.cmds.push(Cmd::End);
        let Some(id) = self.open.pop() else { return };
        let group = &mut self.groups[id.index()];
        group.end = end;
        if let Some(outer) = group.hugged_by {
            self.groups[outer.index()].hugging = false;
        }
    }

    /// Lets `inner`, just begun, break without `outer` around it.
    pub(super) fn hug(&mut self, outer: GroupId, inner: GroupId) {
        self.groups[inner.index()].hugged_by = Some(outer);
        let outer = &mut self.groups[outer.index()];
        outer.hugged = Some(inner);
        outer.hugging = true;
    }

    /// Lets the hugged part of a group break alone only if what comes now, up to the end of that
    /// part, would not fit on the next line.
    pub(super) fn hug_reluctantly(&mut self, group: GroupId) {
        self.groups[group.index()].hugs_rather_than = Some(self.here());
    }

    /// Breaks a group, just begun, wherever an earlier one was broken.
    pub(super) fn follow(&mut self, group: GroupId, earlier: GroupId) {
        self.groups[group.index()].follows = Some(earlier);
    }

    pub(super) fn indent(&mut self) {
        self.cmds.push(Cmd::Indent);
    }

    pub(super) fn dedent(&mut self) {
        self.cmds.push(Cmd::Dedent);
    }

    pub(super) fn indent_if(&mut self, group: GroupId) {
        self.cmds.push(Cmd::IndentIf(group));
    }

    /// Breaks a group in any case, and so those around it that are still open.
    pub(super) fn break_group(&mut self, id: GroupId) {
        let group = &mut self.groups[id.index()];
        (group.broken, group.has_break) = (true, true);
        let begin = group.begin;
        self.spread_break(begin);
    }

    /// A break that must happen lies in the open groups that began before a position. A group that
    /// knows of a break already has told those around it.
    fn spread_break(&mut self, position: u32) {
        for id in self.open.iter().rev() {
            let group = &mut self.groups[id.index()];
            if group.begin >= position {
                continue;
            }
            group.broken |= !group.hugging;
            if std::mem::replace(&mut group.has_break, true) {
                return;
            }
        }
    }
}
