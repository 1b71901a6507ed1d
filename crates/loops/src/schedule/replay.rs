//! Trajectories that are computed again, segment by segment, instead of being kept.
//!
//! A forward sweep runs some groups along time, one segment after the other, and keeps what the next
//! segment needs of the last (a checkpoint). A backward sweep takes the segments in the opposite
//! order: it computes the forward groups of a segment again, from its checkpoint, and then its own.
//! Tensors of both sweeps have memory for one segment and a few planes on either side.

use std::fmt;

use einlang_tir::types::Ident;

use crate::text::{Cursor, Parsed, show_name};

/// How many checkpoints there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Checkpoints {
    /// One per segment, and about as many segments as a segment has planes.
    Sqrt,
    /// So many, and more sweeps if there are more segments.
    Binomial(u32),
}

impl fmt::Display for Checkpoints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Checkpoints::Sqrt => f.write_str("sqrt"),
            Checkpoints::Binomial(n) => write!(f, "binomial {n}"),
        }
    }
}

/// The sweeps of a module, and what is kept of their tensors.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Replay {
    /// How many checkpoints there are.
    pub checkpoints: Checkpoints,
    /// Whether the forward sweep starts at the last segment.
    pub down: bool,
    /// The groups of the forward sweep, in order.
    pub forward: Vec<SweepPart>,
    /// The groups of the backward sweep, in order.
    pub backward: Vec<SweepPart>,
    /// The tensors along time.
    pub tensors: Vec<Segment>,
}

/// A group in a sweep.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SweepPart {
    /// The first tensor of the group.
    pub group: Ident,
    /// How many planes its segments lie after those of the sweep.
    pub shift: i64,
    /// Whether the backward sweep computes it again.
    pub again: bool,
}

/// What is kept of a tensor along time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Segment {
    /// The tensor.
    pub name: Ident,
    /// Its axis that is time.
    pub axis: usize,
    /// How many planes it is ahead of its group.
    pub lead: i64,
    /// What is kept.
    pub keep: Keep,
}

/// What is kept along time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Keep {
    /// What the storage of the tensor says.
    Stored,
    /// One segment.
    Segment {
        /// How many planes before it.
        before: i64,
        /// How many planes after it.
        after: i64,
        /// How many planes are a checkpoint.
        state: i64,
        /// How many planes at the beginning of time are kept as well.
        first: i64,
        /// How many planes at the end of time are kept as well.
        last: i64,
        /// Whether its planes are made zero first: some points have no clause.
        clear: bool,
    },
}

impl Replay {
    /// Whether a group, by the name of its first tensor, runs in a sweep.
    pub fn has(&self, group: &Ident) -> bool {
        self.forward.iter().chain(&self.backward).any(|part| part.group == *group)
    }

    /// What is kept of a tensor, if it is in a sweep.
    pub fn tensor(&self, name: &Ident) -> Option<&Segment> {
        self.tensors.iter().find(|tensor| tensor.name == *name)
    }
}

impl fmt::Display for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let down = if self.down { " down" } else { "" };
        writeln!(f, "  replay {}{down} {{", self.checkpoints)?;
        for (word, parts) in [("forward", &self.forward), ("backward", &self.backward)] {
            for part in parts {
                let again = if part.again { " again" } else { "" };
                let name = show_name(part.group.as_str());
                writeln!(f, "    {word} {name} shift {}{again};", part.shift)?;
            }
        }
        for Segment { name, axis, lead, keep } in &self.tensors {
            let ahead = if *lead == 0 { String::new() } else { format!(" ahead {lead}") };
            let keep = match keep {
                Keep::Stored => "stored".to_owned(),
                Keep::Segment { before, after, state, first, last, clear } => {
                    let clear = if *clear { " clear" } else { "" };
                    format!(
                        "segment ({before}, {after}) state {state} first {first} last {last}{clear}"
                    )
                }
            };
            writeln!(f, "    keep {} axis {axis}{ahead} {keep};", show_name(name.as_str()))?;
        }
        f.write_str("  }\n")
    }
}

/// Reads what is printed, after the word `replay`.
pub(super) fn parse_replay(cursor: &mut Cursor<'_>) -> Parsed<Replay> {
    let checkpoints = match &cursor.name()?[..] {
        "sqrt" => Checkpoints::Sqrt,
        "binomial" => match u32::try_from(cursor.number()?) {
            Ok(n) if n > 0 => Checkpoints::Binomial(n),
            _ => return cursor.fail("there is at least one checkpoint"),
        },
        _ => return cursor.fail("expected `sqrt` or `binomial`"),
    };
    let down = cursor.eat_word("down");
    let (mut forward, mut backward, mut tensors) = (Vec::new(), Vec::new(), Vec::new());
    cursor.expect("{")?;
    while !cursor.eat("}") {
        match &cursor.name()?[..] {
            "forward" => forward.push(parse_part(cursor)?),
            "backward" => backward.push(parse_part(cursor)?),
            "keep" => tensors.push(parse_keep(cursor)?),
            _ => return cursor.fail("expected `forward`, `backward` or `keep`"),
        }
    }
    Ok(Replay { checkpoints, down, forward, backward, tensors })
}

fn parse_part(cursor: &mut Cursor<'_>) -> Parsed<SweepPart> {
    let group = Ident::new(&cursor.name()?);
    cursor.expect_word("shift")?;
    let shift = cursor.number()?;
    let again = cursor.eat_word("again");
    cursor.expect(";")?;
    Ok(SweepPart { group, shift, again })
}

fn parse_keep(cursor: &mut Cursor<'_>) -> Parsed<Segment> {
    let name = Ident::new(&cursor.name()?);
    cursor.expect_word("axis")?;
    let Ok(axis) = usize::try_from(cursor.number()?) else {
        return cursor.fail("an axis is not negative");
    };
    let lead = if cursor.eat_word("ahead") { cursor.number()? } else { 0 };
    let keep = match &cursor.name()?[..] {
        "stored" => Keep::Stored,
        "segment" => {
            cursor.expect("(")?;
            let before = cursor.number()?;
            cursor.expect(",")?;
            let after = cursor.number()?;
            cursor.expect(")")?;
            let mut count = |word: &str| {
                cursor.expect_word(word)?;
                cursor.number()
            };
            let (state, first, last) = (count("state")?, count("first")?, count("last")?);
            let clear = cursor.eat_word("clear");
            Keep::Segment { before, after, state, first, last, clear }
        }
        _ => return cursor.fail("expected `stored` or `segment`"),
    };
    cursor.expect(";")?;
    Ok(Segment { name, axis, lead, keep })
}
