//! The forward sweep of an open axis.
//!
//! How many planes there are is known when it ends, so it is one loop as everywhere, which changes
//! segments on its way. What goes along with it runs over a segment when that is complete: before the
//! loop goes on to the next one, and after the loop. The backward sweep is that of any other axis.

use einlang_index::{Affine, Constraint, Domain, Quasi, Set, Var};
use einlang_tir::module::{Binding, Until};
use einlang_tir::op::Op;

use super::integers::number;
use super::sweep::Sweep;
use super::{Lower, Result};
use crate::ir::{Condition, Operand, Stmt};
use crate::schedule::Replay;

impl Lower<'_> {
    /// The forward sweep of an open axis: one loop, which changes segments on its way.
    pub(super) fn forward_open(
        &mut self,
        replay: &Replay,
        sweep: &mut Sweep,
        until: &Until,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let Some((part, followers)) = replay.forward.split_first() else { return Ok(()) };
        let group = self.group_of(&part.group)?;
        let grows = |binding: &Binding| {
            let along = binding.axes.iter().any(|a| a.dim.extent.as_var() == Some(until.extent));
            along && !self.segments.contains_key(&binding.name)
        };
        let open = group.bindings.iter().filter(|b| grows(b)).map(|b| self.tensors[&b.name]);
        let open = self.until(until, open.collect())?;
        let schedule = self.schedule_of(group)?;
        let domains = self.domains(group)?;
        let names = group.bindings.iter().map(|binding| binding.name.clone()).collect();
        self.around.push(super::Around { names, n_loops: self.loops.len() });
        self.opening = Some((replay.clone(), *sweep));
        self.nest(group, &schedule.nest, domains, Some(open), out)?;
        self.opening = None;
        self.around.pop();
        self.values_of_group(group, out)?;
        // From here on it is known how many planes there are.
        sweep.span = self.kernel.vars.symbol("span");
        let expr = self.span_of(replay)?;
        out.push(Stmt::Bind { var: sweep.span, expr });
        self.bound.push(sweep.span);
        sweep.count = self.segments_in(*sweep, out)?;
        let (mut stmts, ()) = self.scoped(|lower, out| {
            let last = Quasi::from(sweep.count).add_constant(-1)?;
            let last = lower.value_of(&last, out);
            lower.param(sweep.segment, last, "segment", out)?;
            let parts = lower.parts(replay, *sweep, out)?;
            for part in followers {
                lower.run_part(replay, part, *sweep, false, &parts, out)?;
            }
            let from = lower.sized("from", number(0), out)?;
            for (of, _) in lower.segments_of(&replay.forward)? {
                lower.keep_last(&of, (from, sweep.span), out)?;
            }
            let (first, ()) = lower
                .scoped(|lower, out| lower.keep_first(&replay.forward, Some(sweep.span), out))?;
            let alone = Constraint::equal(&Affine::var(sweep.count), &Affine::constant(1))?;
            let alone = Domain::new([], Set::new([alone])?);
            out.push(Stmt::when(Condition::Within(alone), first));
            Ok(())
        })?;
        out.append(&mut stmts);
        self.recount(followers, *sweep, out)?;
        self.finish_sums(followers, false, out)
    }

    /// What goes along with an open axis, over the segment that was completed last. Time has come so far
    /// that there is a plane more.
    fn follow(
        &mut self,
        (replay, sweep): (&Replay, Sweep),
        segment: Operand,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let Some((_, followers)) = replay.forward.split_first() else { return Ok(()) };
        let complete = self.integer(Op::Sub, &[segment, number(1)], out);
        self.param(sweep.segment, complete, "segment", out)?;
        let parts = self.parts(replay, sweep, out)?;
        followers.iter().try_for_each(|part| self.run_part(replay, part, sweep, false, &parts, out))
    }

    /// What comes first in a round of an open axis: it may be the first one of a segment.
    pub(super) fn open_segment(&mut self, round: Var, out: &mut Vec<Stmt>) -> Result<()> {
        let Some((replay, sweep)) = self.opening.clone() else { return Ok(()) };
        let plane = self.value_of(&Quasi::from(round), out);
        let length = self.value_of(&Quasi::from(sweep.length), out);
        let segment = self.integer(Op::Div, &[plane, length], out);
        let origin = self.integer(Op::Mul, &[segment, length], out);
        if replay.forward.len() > 1 {
            let begins = self.integer(Op::Eq, &[plane, origin], out);
            let later = self.integer(Op::Gt, &[segment, number(0)], out);
            let begins = self.integer(Op::And, &[begins, later], out);
            let (stmts, ()) =
                self.scoped(|lower, out| lower.follow((&replay, sweep), segment, out))?;
            out.push(Stmt::when(Condition::Value(begins), stmts));
        }
        self.param(sweep.segment, segment, "segment", out)?;
        self.param(sweep.origin, origin, "origin", out)?;
        let new = Set::new([
            Constraint::equal(&Affine::var(round), &Affine::var(sweep.origin))?,
            Constraint::ge(&Affine::var(sweep.segment), &Affine::constant(1))?,
        ])?;
        let second = Constraint::equal(&Affine::var(sweep.segment), &Affine::constant(1))?;
        let second = Domain::new([], Set::new([second])?);
        let (stmts, ()) = self.scoped(|lower, out| {
            let (first, ()) =
                lower.scoped(|lower, out| lower.keep_first(&replay.forward, None, out))?;
            out.push(Stmt::when(Condition::Within(second), first));
            lower.move_planes(&replay.forward, sweep, false, out)?;
            for (of, _) in lower.segments_of(&replay.forward)? {
                if of.clear && !of.marked {
                    let lo = Quasi::from(sweep.origin).add_constant(of.after)?;
                    let hi = lo.add(&Quasi::from(sweep.length))?;
                    lower.clear_planes(&of, (lo.into(), hi.into()), out)?;
                }
            }
            lower.save(&replay, sweep, out)
        })?;
        out.push(Stmt::when(Condition::Within(Domain::new([], new)), stmts));
        Ok(())
    }
}
