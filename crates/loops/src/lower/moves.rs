//! Planes on their way between segments, checkpoints and the ends of time.

use einlang_index::{MinMax, Quasi, Var};

use super::segments::{Kept, Segmented};
use super::sweep::{Parts, Sweep};
use super::{Lower, Result};
use crate::ir::Stmt;
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
                    found.push((of.clone(), part.shift + of.lead));
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
            let far = of.planes_in(of.buffer, sweep.length.into());
            let near = of.planes_in(of.buffer, Quasi::from(0));
            let (from, to) = if down { (&near, &far) } else { (&far, &near) };
            let around = (MinMax::from(0), MinMax::from(of.before + of.after));
            let moved = of.moved.map(|moved| moved.planes(None));
            match &moved {
                Some(moved) => self.copy_planes(&of, (from, moved), around.clone(), out)?,
                None if of.before + of.after > 0 && !of.marked => {
                    self.copy_planes(&of, (from, to), around.clone(), out)?;
                }
                None => {}
            }
            self.forget_points(&of, out);
            if let Some(moved) = &moved {
                self.copy_planes(&of, (moved, to), around, out)?;
            }
        }
        Ok(())
    }

    /// Makes a segment one of which no point was stored, if that is remembered.
    fn forget_points(&mut self, of: &Segmented, out: &mut Vec<Stmt>) {
        if of.marked {
            out.push(Stmt::Alloc(of.buffer));
        }
    }

    /// The same for the tensors of some groups.
    pub(super) fn forget<'p>(
        &mut self,
        parts: impl IntoIterator<Item = &'p SweepPart>,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        self.segments_of(parts)?.iter().for_each(|(of, _)| self.forget_points(of, out));
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
            let own = of.planes_in(of.buffer, start);
            let kept = states.planes(Some(lead));
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
            if let Some((buffer, planes)) = of.first {
                let kept = of.planes_in(buffer, Quasi::from(0));
                let end = [to.into(), of.extent.clone(), Quasi::from(planes)].map(MinMax::Value);
                let range = (MinMax::Value(from.into()), MinMax::min_of(end)?);
                self.copy_planes(&of, (&of.planes(&Quasi::from(0))?, &kept), range, out)?;
            }
            self.keep_last(&of, (from, to), out)?;
        }
        Ok(())
    }

    /// Copies the last planes of all that lie in this segment.
    pub(super) fn keep_last(
        &mut self,
        of: &Segmented,
        (from, to): (Var, Var),
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let Some((buffer, planes)) = of.last else { return Ok(()) };
        let start = Quasi::from(planes).sub(&of.extent)?;
        let lo = [from.into(), start.neg()?].map(MinMax::Value);
        let hi = [to.into(), of.extent.clone()].map(MinMax::Value);
        let (own, kept) = (of.planes(&Quasi::from(0))?, of.planes_in(buffer, start));
        let range = (MinMax::max_of(lo)?, MinMax::min_of(hi)?);
        self.copy_planes(of, (&own, &kept), range, out)
    }

    /// Copies the first planes of all while the segment is the first one: all, or as many as there are.
    pub(super) fn keep_first(
        &mut self,
        parts: &[SweepPart],
        n_planes: Option<Var>,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        for (of, _) in self.segments_of(parts)? {
            let Some((buffer, planes)) = of.first else { continue };
            let own = of.planes_in(of.buffer, Quasi::from(of.before));
            let kept = of.planes_in(buffer, Quasi::from(0));
            let hi = n_planes.map(Quasi::from).into_iter().chain([Quasi::from(planes)]);
            let range = (MinMax::from(0), MinMax::min_of(hi.map(MinMax::Value))?);
            self.copy_planes(&of, (&own, &kept), range, out)?;
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
    ) -> Result<Vec<Option<Kept>>> {
        let mut aside = Vec::new();
        for (of, _) in self.segments_of(parts)? {
            let planes = of.before + of.after;
            aside.push(of.aside);
            let Some(kept) = of.aside else { continue };
            let start = if down { Quasi::from(0) } else { sweep.length.into() };
            let own = of.planes_in(of.buffer, start);
            let kept = kept.planes(None);
            self.copy_planes(&of, (&own, &kept), (MinMax::from(0), MinMax::from(planes)), out)?;
        }
        Ok(aside)
    }

    /// Puts planes that were set aside where the next segment expects them.
    pub(super) fn bring_back<'p>(
        &mut self,
        parts: impl IntoIterator<Item = &'p SweepPart>,
        aside: &[Option<Kept>],
        sweep: Sweep,
        down: bool,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        for ((of, _), kept) in self.segments_of(parts)?.into_iter().zip(aside) {
            let Some(kept) = *kept else { continue };
            let start = if down { sweep.length.into() } else { Quasi::from(0) };
            let own = of.planes_in(of.buffer, start);
            let kept = kept.planes(None);
            let planes = MinMax::from(of.before + of.after);
            self.copy_planes(&of, (&kept, &own), (MinMax::from(0), planes), out)?;
        }
        Ok(())
    }
}
