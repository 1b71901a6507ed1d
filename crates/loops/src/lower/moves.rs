//! Planes on their way between segments, checkpoints and the ends of time.

use einlang_index::{MinMax, Quasi, Var};

use super::segments::{Planes, Segmented};
use super::sweep::{Parts, Sweep};
use super::{Lower, Result};
use crate::ir::{BufferId, Stmt};
use crate::schedule::{Replay, SweepPart};

impl Lower<'_> {
    /// The segments of the tensors of some groups, with their shifts.
    pub(super) fn segments_of<'p>(
        &self,
        parts: impl IntoIterator<Item = &'p SweepPart>,
    ) -> Result<Vec<(Segmented, i64)>> {
        let mut found = Vec::new();
        for part in parts {
            for binding in &self.group_of(&part.group)?.bindings {
                if let Some(of) = self.segments.get(&binding.name) {
                    found.push((of.clone(), part.shift));
                }
            }
        }
        Ok(found)
    }

    /// Moves the planes that lie around the next segment as well as around the last one.
    pub(super) fn move_planes<'p>(
        &mut self,
        parts: impl IntoIterator<Item = &'p SweepPart>,
        sweep: Sweep,
        down: bool,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        for (of, _) in self.segments_of(parts)? {
            if of.before + of.after == 0 {
                continue;
            }
            let far = Planes { buffer: of.buffer, lead: None, start: sweep.length.into() };
            let near = Planes { buffer: of.buffer, lead: None, start: Quasi::from(0) };
            let (from, to) = if down { (&near, &far) } else { (&far, &near) };
            let planes = MinMax::from(of.before + of.after);
            self.copy_planes(&of, (from, to), (MinMax::from(0), planes), out)?;
        }
        Ok(())
    }

    /// Saves or restores what the groups of a segment need of those before it.
    pub(super) fn checkpoint(
        &mut self,
        replay: &Replay,
        sweep: Sweep,
        lead: Var,
        save: bool,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        for (of, shift) in self.segments_of(&replay.forward)? {
            let Some(states) = of.states else { continue };
            let start = match replay.down {
                false => Quasi::from(0),
                true => Quasi::from(sweep.length).add_constant(of.before + shift)?,
            };
            let own = Planes { buffer: of.buffer, lead: None, start };
            let kept = Planes { buffer: states, lead: Some(lead), start: Quasi::from(0) };
            let (from, to) = if save { (&own, &kept) } else { (&kept, &own) };
            let planes = MinMax::from(of.state);
            self.copy_planes(&of, (from, to), (MinMax::from(0), planes), out)?;
        }
        Ok(())
    }

    /// Copies the planes at the ends of time that lie in this segment.
    pub(super) fn keep_ends(
        &mut self,
        parts: &[SweepPart],
        bounds: &Parts,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        for (of, shift) in self.segments_of(parts)? {
            let Some((from, to)) = bounds.get(&shift).copied() else { continue };
            let own = of.planes(&Quasi::from(0))?;
            let end = |more: Quasi| {
                MinMax::min_of([to.into(), of.extent.clone(), more].map(MinMax::Value))
            };
            if let Some((buffer, planes)) = of.first {
                let kept = Planes { buffer, lead: None, start: Quasi::from(0) };
                let range = (MinMax::Value(from.into()), end(Quasi::from(planes))?);
                self.copy_planes(&of, (&own, &kept), range, out)?;
            }
            if let Some((buffer, planes)) = of.last {
                let start = Quasi::from(planes).sub(&of.extent)?;
                let lo = [from.into(), start.neg()?].map(MinMax::Value);
                let kept = Planes { buffer, lead: None, start };
                let range = (MinMax::max_of(lo)?, end(of.extent.clone())?);
                self.copy_planes(&of, (&own, &kept), range, out)?;
            }
        }
        Ok(())
    }

    /// Copies the planes that lie around the next segment to where replays leave them alone.
    pub(super) fn set_aside<'p>(
        &mut self,
        parts: impl IntoIterator<Item = &'p SweepPart>,
        sweep: Sweep,
        down: bool,
        out: &mut Vec<Stmt>,
    ) -> Result<Vec<Option<BufferId>>> {
        let mut aside = Vec::new();
        for (of, _) in self.segments_of(parts)? {
            let planes = of.before + of.after;
            aside.push(of.aside);
            let Some(buffer) = of.aside else { continue };
            let start = if down { Quasi::from(0) } else { sweep.length.into() };
            let own = Planes { buffer: of.buffer, lead: None, start };
            let kept = Planes { buffer, lead: None, start: Quasi::from(0) };
            self.copy_planes(&of, (&own, &kept), (MinMax::from(0), MinMax::from(planes)), out)?;
        }
        Ok(aside)
    }

    /// Puts planes that were set aside where the next segment expects them.
    pub(super) fn bring_back<'p>(
        &mut self,
        parts: impl IntoIterator<Item = &'p SweepPart>,
        aside: &[Option<BufferId>],
        sweep: Sweep,
        down: bool,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        for ((of, _), buffer) in self.segments_of(parts)?.into_iter().zip(aside) {
            let Some(buffer) = *buffer else { continue };
            let start = if down { sweep.length.into() } else { Quasi::from(0) };
            let own = Planes { buffer: of.buffer, lead: None, start };
            let kept = Planes { buffer, lead: None, start: Quasi::from(0) };
            let planes = MinMax::from(of.before + of.after);
            self.copy_planes(&of, (&kept, &own), (MinMax::from(0), planes), out)?;
        }
        Ok(())
    }
}
