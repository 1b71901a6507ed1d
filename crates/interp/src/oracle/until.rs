//! Open axes: steps in lockstep, the condition after each.
//!
//! A step makes the points of one more index readable and evaluates the condition, which asks for
//! the points it wants; points that it does not want are computed when somebody reads them. While
//! the group is stepping, its axis ends after the current step.

use std::rc::Rc;

use super::code::Code;
use super::index::too_large;
use super::machine::{End, Halt, Machine, What};
use super::table::Open;
use crate::stop::Stop;

impl Machine<'_> {
    /// Starts the next step, or ends the axis when the largest number of steps is reached.
    pub(super) fn next_step(&mut self, code: &Code) -> Result<(), Halt> {
        let Some(What::Until { instance, steps }) = self.frames.last().map(|frame| &frame.what)
        else {
            return Ok(());
        };
        let (instance, steps) = (Rc::clone(instance), *steps);
        let Some(until) = &code.groups[instance.group].until else {
            return Err(Stop::internal("a group without `until` has no length").into());
        };
        let (step, end) = match steps {
            Some(steps) => steps,
            None => {
                let (first, max) = (self.index(&until.first, code)?, self.index(&until.max, code)?);
                let narrow = |x: i128| i64::try_from(x).map_err(|_| too_large());
                (narrow(first)?, narrow(first + max.max(0))?)
            }
        };
        if step >= end {
            instance.open.set(Open::Done(end.max(0), false));
            self.pop_frame();
            return Ok(());
        }
        if let Some(What::Until { steps, .. }) = self.frames.last_mut().map(|f| &mut f.what) {
            *steps = Some((step, end));
        }
        instance.open.set(Open::Running(step));
        self.set_var(until.slot, step);
        self.push_cursor(until.condition, End::Until);
        Ok(())
    }

    /// What follows when the condition has been evaluated.
    pub(super) fn finish_step(&mut self, stop: bool) -> Result<(), Halt> {
        let Some(What::Until { instance, steps: Some((step, _)) }) =
            self.frames.last_mut().map(|frame| &mut frame.what)
        else {
            return Ok(());
        };
        *step += 1;
        if stop {
            instance.open.set(Open::Done(*step, true));
            self.pop_frame();
        }
        Ok(())
    }
}
