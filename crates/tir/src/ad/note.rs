//! Notes on how each request was answered.

use super::context::Ad;
use super::contract::Side;
use super::fault::R;
use super::request::{Entry, Made, Plan};
use super::seed::{Band, Coord, Stored};
use crate::answer::{Answer, How};
use crate::region::{Place, Subscript};

impl Ad<'_> {
    /// Writes down how an entry is computed.
    pub(super) fn note(&mut self, entry: &Entry, plan: &Plan, made: &Made) -> R<()> {
        let end = match plan {
            Plan::Zero => None,
            Plan::Forward(seed) => {
                made.tangents.get(seed).and_then(|found| found.get(&entry.of.tensor))
            }
            Plan::Reverse(seed) => {
                made.adjoints.get(seed).and_then(|found| found.get(&entry.by.tensor))
            }
        };
        let (how, why) = self.account(entry, plan, end)?;
        let entry = &self.plainly(entry);
        let whole = is_whole(&entry.of, &entry.by);
        let answer = Answer {
            of: self.differential_text(&entry.of, &entry.by, whole),
            by: self.differential_text(&entry.by, &entry.of, whole),
            how,
            why,
            target: entry.of.tensor.clone(),
            read: end.and_then(|stored| stored.name.clone()),
            loc: entry.loc,
        };
        if !self.module.answers.contains(&answer) {
            self.module.answers.push(answer);
        }
        Ok(())
    }

    fn account(&self, entry: &Entry, plan: &Plan, end: Option<&Stored>) -> R<(How, String)> {
        let (of, by) = (entry.of.tensor.as_str(), entry.by.tensor.as_str());
        let (Some(end), false) = (end, matches!(plan, Plan::Zero)) else {
            return Ok((How::Zero, format!("`{of}` does not depend on `{by}`")));
        };
        match self.sides.get(&entry.number) {
            Some(Side::Parameter(vector)) => {
                let sweeps = if entry.by.at.is_empty() { "one" } else { "for each column one" };
                let why =
                    format!("it is summed over `{by}`: {sweeps} forward sweep for `{vector}`");
                return Ok((How::Jvp, why));
            }
            Some(Side::Target(vector)) => {
                let sweeps = if entry.of.at.is_empty() { "one" } else { "for each row one" };
                let why =
                    format!("it is summed over `{of}`: {sweeps} reverse sweep for `{vector}`");
                return Ok((How::Vjp, why));
            }
            None => {}
        }
        let (left_of, left_by) =
            (self.left(&entry.of, &entry.by)?, self.left(&entry.by, &entry.of)?);
        let (seed, forward) = match plan {
            Plan::Reverse(seed) => (seed, false),
            Plan::Forward(seed) => (seed, true),
            Plan::Zero => return Ok((How::Zero, String::new())),
        };
        let sweep = match forward {
            true => format!("a forward sweep from `{by}`"),
            false => format!("a reverse sweep from `{of}`"),
        };
        // Axes of the other side that equal a free coordinate of the seed.
        let is_free = |band: &Band| matches!(seed.at.get(band.coord), Some(Coord::Axis));
        let free: Vec<Band> = end.bands.iter().flatten().copied().filter(is_free).collect();
        let n_equal = free.iter().filter(|band| band.is_equal()).count();
        let width: i64 = free.iter().map(|band| band.width()).fold(1, i64::saturating_mul);
        let n_seed = seed.at.iter().filter(|coord| **coord == Coord::Axis).count();
        let shared = shares(&entry.of, &entry.by);
        Ok(match (left_of.n_axes, left_by.n_axes) {
            _ if n_equal > 0 && n_equal == end.bands.len() && n_equal == n_seed && !shared => {
                let why = format!("point by point, `{of}` follows one point of `{by}`: {sweep}");
                (How::Diagonal, why)
            }
            _ if n_equal < free.len() => {
                let offsets = if width == 1 { "1 offset" } else { &format!("{width} offsets") };
                let near = format!("a point of `{of}` follows only points of `{by}` near it");
                let why = format!("{near}: {sweep} with {offsets}");
                (How::Banded, why)
            }
            _ if n_equal > 0 && shared => {
                let why = format!("target and parameter share an index: {sweep} for all of it");
                (How::Block, why)
            }
            _ if n_equal > 0 => {
                let why = format!("along {n_equal} of its axes only equal points matter: {sweep}");
                (How::Block, why)
            }
            (0, 0) if forward => (How::Entry, format!("both points are given: {sweep}")),
            (0, 0) => {
                let why = format!("one target with several parameters: {sweep} serves all");
                (How::Row, why)
            }
            (0, _) => (How::Row, format!("one point of `{of}`: {sweep}")),
            (_, 0) => (How::Column, format!("one point of `{by}`: {sweep}")),
            (_, _) => {
                let fewer = if forward { by } else { of };
                let how = if forward { How::Forward } else { How::Reverse };
                (how, format!("everything is used, and `{fewer}` has no more points: {sweep}"))
            }
        })
    }

    fn differential_text(&self, place: &Place, other: &Place, whole: bool) -> String {
        let text = |at: &Subscript| match at {
            Subscript::Index(expr) if expr.as_var().is_some() && !other.at.contains(at) => {
                ":".to_owned()
            }
            Subscript::Index(expr) => {
                plain_names(&expr.display(self.module.vars.names()).to_string())
            }
            Subscript::Value(_) => "…".to_owned(),
        };
        match whole || place.at.is_empty() {
            true => format!("@{}", place.tensor.as_str()),
            false => {
                let at: Vec<String> = place.at.iter().map(text).collect();
                format!("@{}[{}]", place.tensor.as_str(), at.join(", "))
            }
        }
    }
}

/// Index names without the numbers that tell them from others of the same name.
fn plain_names(text: &str) -> String {
    let mut words = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('_') {
        let (before, after) = (&rest[..at], &rest[at + 1..]);
        let n_digits = after.bytes().take_while(u8::is_ascii_digit).count();
        words.push_str(before);
        if n_digits == 0 {
            words.push('_');
        }
        rest = &after[n_digits..];
    }
    words + rest
}

/// Whether every point of both is asked about.
fn is_whole(of: &Place, by: &Place) -> bool {
    let mut seen = Vec::new();
    of.at.iter().chain(&by.at).all(|at| {
        let is_new = matches!(at, Subscript::Index(expr) if expr.as_var().is_some());
        let is_new = is_new && !seen.contains(&at);
        seen.push(at);
        is_new
    })
}

/// Whether an index stands in both places.
fn shares(of: &Place, by: &Place) -> bool {
    let is_index = |at: &&Subscript| match at {
        Subscript::Index(expr) => expr.as_constant().is_none(),
        Subscript::Value(_) => false,
    };
    of.at.iter().filter(is_index).any(|at| by.at.contains(at))
}
