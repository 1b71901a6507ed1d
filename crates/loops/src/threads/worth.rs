//! Which statements of a team threads are worth it for, given what is known of sizes.
//!
//! A team that threads lose by is undone, or falls into parts: a recurrence whose steps are too short to
//! wait for each other stays with one thread, and what stands before and after it is divided. What was
//! left to one thread is written down, for other sizes may be worth it.

use einlang_index::{MinMax, Var};

use super::estimate::{Known, WAIT};
use crate::ir::{Block, BufferId, Kernel, Loop, Range, Size, Stmt};

/// A variable around statements, and what it lies between; the same twice if it is bound.
type Bound = (Var, MinMax, MinMax);

/// What is known around a team that is being formed.
#[derive(Clone, Default, Debug)]
pub(super) struct Around {
    sizes: Vec<(Var, i64)>,
    bounds: Vec<Bound>,
    wait: f64,
}

/// Statements that could be a team, and which of them are left to one thread.
#[derive(Clone, Debug)]
pub struct Left {
    bounds: Vec<Bound>,
    block: Block,
    divided: Vec<bool>,
}

/// What threads cost, in the unit of estimates: what the first of them does takes as long on one thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Worth {
    /// Less work than that is left to one thread; if it is none, everything is divided.
    pub least: u64,
    /// What threads lose by waiting for each other once.
    pub wait: u64,
}

impl Worth {
    /// What divides everything.
    pub const ALWAYS: Worth = Worth { least: 0, wait: WAIT };
}

impl Around {
    /// The sizes of a kernel that follow from the shapes of its inputs.
    pub(super) fn of(kernel: &Kernel, shapes: &[Vec<i64>], worth: Worth) -> Around {
        let known = sizes_of(kernel, shapes).into_iter();
        let sizes = kernel.sizes.iter().zip(known);
        let sizes = sizes.filter_map(|((var, _), size)| Some((*var, size?))).collect();
        Around { sizes, bounds: Vec::new(), wait: worth.wait as f64 }
    }

    /// Goes into a loop.
    pub(super) fn enter(&mut self, range: &Range) {
        self.bounds.push((range.var, range.lo.clone(), range.hi.clone()));
    }

    /// Goes on after a statement.
    pub(super) fn pass(&mut self, stmt: &Stmt) {
        if let Stmt::Bind { var, expr } = stmt {
            self.bounds.push((*var, expr.clone(), expr.clone()));
        }
    }

    fn known(&self) -> Known {
        known(&self.sizes, &self.bounds, self.wait)
    }

    /// How far it went, and back.
    pub(super) fn depth(&self) -> usize {
        self.bounds.len()
    }

    pub(super) fn back(&mut self, depth: usize) {
        self.bounds.truncate(depth);
    }

    /// How many rounds a range has, if its bounds are known.
    pub(super) fn n_rounds(&self, range: &Range) -> Option<f64> {
        self.known().rounds(range)
    }

    /// The work of a loop inside of others, if it is known.
    pub(super) fn work_of_loop(&self, around: &[Range], of: &Loop) -> Option<f64> {
        let mut known = self.known();
        for range in around {
            known.rounds(range);
        }
        known.of_loop(of)
    }

    /// Which statements of a team threads are worth it for; nothing is written down if all are.
    pub(super) fn judge(&self, block: &Block, least: u64) -> Result<(), Left> {
        let divided = judge(&mut self.known(), block, least);
        match divided.iter().all(|divided| *divided) {
            true => Ok(()),
            false => Err(Left { bounds: self.bounds.clone(), block: block.clone(), divided }),
        }
    }

    /// Whether statements as one thread runs them certainly have less to do than that.
    pub(super) fn is_small(&self, block: &Block, least: u64) -> bool {
        let work = self.known().work(block);
        work.is_some_and(|work| work < least as f64)
    }
}

/// The work of a kernel in thirds of a nanosecond on one thread; nothing if it may be any. What is known are
/// some of its sizes, and inputs that are numbers.
pub fn work_of(
    kernel: &Kernel,
    sizes: &[Option<i64>],
    inputs: impl Iterator<Item = (BufferId, i64)>,
) -> Option<f64> {
    let sizes = kernel.sizes.iter().zip(sizes);
    let sizes = sizes.filter_map(|((var, _), size)| Some((*var, (*size)?)));
    Known::of_call(sizes, inputs).work(&kernel.body)
}

/// Whether the work of a kernel is known once its sizes and the numbers among its inputs are.
pub fn is_bounded(kernel: &Kernel) -> bool {
    let sizes = vec![Some(1); kernel.sizes.len()];
    let inputs = kernel.buffers.iter().take(kernel.n_inputs).zip(0..);
    let numbers = inputs.filter(|(buffer, _)| buffer.dims.is_empty());
    work_of(kernel, &sizes, numbers.map(|(_, number)| (BufferId(number), 1))).is_some()
}

/// The sizes of a kernel that follow from the shapes of its inputs.
pub fn sizes_of(kernel: &Kernel, shapes: &[Vec<i64>]) -> Vec<Option<i64>> {
    let known = |size: &Size| match size {
        Size::Shape(buffer, axis) if shapes.len() == kernel.n_inputs => {
            shapes.get(buffer.0 as usize)?.get(*axis as usize).copied()
        }
        _ => None,
    };
    kernel.sizes.iter().map(|(_, size)| known(size)).collect()
}

impl Left {
    /// Which of the statements threads run.
    pub(super) fn divided(&self) -> &[bool] {
        &self.divided
    }

    /// Whether threads would be worth it for more of the statements with these sizes of the kernel.
    pub fn is_worth_more(&self, kernel: &Kernel, sizes: &[i64], worth: Worth) -> bool {
        let named = kernel.sizes.iter().zip(sizes).map(|((var, _), size)| (*var, *size));
        let named: Vec<(Var, i64)> = named.collect();
        let divided =
            judge(&mut known(&named, &self.bounds, worth.wait as f64), &self.block, worth.least);
        divided.iter().zip(&self.divided).any(|(now, before)| *now && !before)
    }
}

fn known(sizes: &[(Var, i64)], bounds: &[Bound], wait: f64) -> Known {
    let mut known = Known::of(sizes.iter().copied(), wait);
    for (var, lo, hi) in bounds {
        known.bind(*var, lo, hi);
    }
    known
}

/// Which statements of a team are divided, by what is won: all, runs of those that do not lose, or none.
fn judge(known: &mut Known, block: &Block, least: u64) -> Vec<bool> {
    let works: Vec<Option<f64>> = block.stmts.iter().map(|stmt| known.of_stmt(stmt)).collect();
    let loses = |at: usize| {
        works[at].is_some_and(|work| work < 0.0) && !matches!(block.stmts[at], Stmt::Barrier)
    };
    // A team is worth what it does beyond the least; what is not known may be much.
    let won = |works: &[Option<f64>]| {
        works.iter().copied().sum::<Option<f64>>().map_or(f64::INFINITY, |all| all - least as f64)
    };
    let (mut divided, mut in_parts) = (vec![false; works.len()], 0.0);
    let mut from = 0;
    for at in 0..=works.len() {
        if at == works.len() || loses(at) {
            let run = won(&works[from..at]);
            if run >= 0.0 && from < at {
                divided[from..at].fill(true);
                in_parts += run;
            }
            from = at + 1;
        }
    }
    let whole = won(&works);
    if whole >= 0.0 && whole >= in_parts { vec![true; works.len()] } else { divided }
}

#[cfg(test)]
mod tests {
    use std::iter;

    use super::*;
    use crate::ir::parse_kernel;

    const KERNEL: &str = "kernel part {
  symbols k, n;
  indices i, j;
  size k = argument;
  buffer 0 input n: i32[];
  buffer 1 y: f32[full (n)] unset;
  site 0 \"the size `n`\";
  output 1;
  body {
    %0: i32 = load 0[] proved;
    param n = %0 site 0;
    alloc 1;
    team {
      loop i in (0, n) par own {
        loop j in (0, k) seq {
          store 1[(i)] = 1.0f32;
        }
      }
      barrier;
    }
  }
}
";

    #[test]
    fn the_work_of_a_call_follows_from_its_numbers() {
        let kernel = parse_kernel(KERNEL).expect("a kernel");
        let n = || iter::once((BufferId(0), 100));
        let work = work_of(&kernel, &[Some(1000)], n()).expect("all is known");
        assert!((100_000.0..100_100.0).contains(&work), "{work}");
        assert_eq!(work_of(&kernel, &[None], n()), None);
        assert_eq!(work_of(&kernel, &[Some(1000)], iter::empty()), None);
    }
}
