//! Rows that a recurrence passes by once.
//!
//! A step that reads a long row of an input waits for memory: a processor fetches ahead within a page, and begins
//! anew with the next one. A load that every loop around takes to other elements finds each of them once, so
//! nothing has brought them into a cache before. Its vectors are fetched a page ahead. Fetching touches no value
//! and may leave the memory of the buffer: such addresses are ignored.

use std::iter;

use einlang_index::{MinMax, Var};
use einlang_loops::ir::{Access, Block, BufferId, Kernel, Layout, Role, Stmt, Subscript, blocks};
use rustc_hash::FxHashSet as HashSet;

use super::{Emit, Result};

/// How far ahead memory is fetched, in bytes.
const AHEAD: i64 = 4096;

/// The nearest cache, as LLVM counts them.
const FIRST_CACHE: u64 = 3;

/// The results of loads that pass by their elements once, in the lanes of a step.
pub(super) fn passing(kernel: &Kernel) -> HashSet<u32> {
    let mut walk = Walk { kernel, around: Vec::new(), found: HashSet::default() };
    walk.block(&kernel.body);
    walk.found
}

struct Walk<'k> {
    kernel: &'k Kernel,
    /// The loops that are open.
    around: Vec<Around>,
    found: HashSet<u32>,
}

struct Around {
    role: Option<Role>,
    /// What changes from round to round.
    changes: HashSet<Var>,
}

impl Walk<'_> {
    fn block(&mut self, block: &Block) {
        block.stmts.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Bind { var, expr } => {
                for around in &mut self.around {
                    around.changes.remove(var);
                    if mentions(expr, &around.changes) {
                        around.changes.insert(*var);
                    }
                }
            }
            Stmt::Loop(of) => {
                let changes = iter::once(of.range.var).collect();
                self.inside(Around { role: Some(of.role), changes }, stmt);
            }
            // Terms of a sum are not passed one vector after the other.
            Stmt::Fold(_) => {
                self.inside(Around { role: None, changes: HashSet::default() }, stmt);
            }
            Stmt::Load { result, buffer, at, access: Access::Proved }
                if self.passes(*buffer, at) =>
            {
                self.found.insert(result.number);
            }
            _ => blocks(stmt).into_iter().for_each(|block| self.block(block)),
        }
    }

    fn inside(&mut self, around: Around, stmt: &Stmt) {
        self.around.push(around);
        blocks(stmt).into_iter().for_each(|block| self.block(block));
        self.around.pop();
    }

    /// Whether a load takes the next elements of an input in every vector, and others in every round of each loop.
    fn passes(&self, buffer: BufferId, at: &[Subscript]) -> bool {
        let Some((lanes, outer)) = self.around.split_last() else { return false };
        let is_input = (buffer.0 as usize) < self.kernel.n_inputs;
        let is_whole = self
            .kernel
            .buffer(buffer)
            .is_some_and(|buffer| buffer.dims.iter().all(|dim| dim.layout == Layout::Full));
        let changes = |at: &Subscript, around: &Around| match at {
            Subscript::Index(expr) => around.changes.iter().any(|var| expr.mentions(*var)),
            Subscript::Value(_) => false,
        };
        let Some((last, others)) = at.split_last() else { return false };
        is_input
            && is_whole
            && matches!(lanes.role, Some(Role::Lane(_)))
            && outer.iter().any(|around| around.role == Some(Role::Seq))
            && changes(last, lanes)
            && others.iter().all(|at| !changes(at, lanes))
            && outer.iter().all(|around| at.iter().any(|at| changes(at, around)))
    }
}

fn mentions(bound: &MinMax, vars: &HashSet<Var>) -> bool {
    let mut any = false;
    bound.for_each_var(&mut |var| any |= vars.contains(&var));
    any
}

impl Emit<'_, '_> {
    /// Fetches what a later vector of a load needs.
    pub(super) fn fetch_passing(&mut self, buffer: BufferId, at: &[Subscript]) -> Result<()> {
        self.fetch_further(buffer.0 as usize, at, AHEAD)
    }

    /// Fetches what lies so many bytes behind an element of a buffer.
    pub(super) fn fetch_further(
        &mut self,
        buffer: usize,
        at: &[Subscript],
        further: i64,
    ) -> Result<()> {
        let at: Result<Vec<_>> = at.iter().map(|at| self.subscript(at)).collect();
        let bytes = i64::from(self.kernel.buffers[buffer].elem.bits().max(8) / 8);
        let position = self.add(self.position(buffer, &at?)?, self.i64(further / bytes))?;
        let place = self.place_of_some(buffer, position)?;
        let place = self.builder.build_ptr_to_int(place, self.i64_type(), "ahead")?;
        self.prefetch(place, false, FIRST_CACHE)
    }
}

#[cfg(test)]
mod tests {
    use einlang_loops::ir::parse_kernel;

    use super::*;

    const KERNEL: &str = "kernel part {
  symbols T, N;
  indices t, t', j, k;
  size T = shape 0 0;
  size N = shape 0 1;
  buffer 0 input wall: f32[full (T), full (N)];
  buffer 1 input row: f32[full (N)];
  buffer 2 r: f32[mod 2 (T), full (N)];
  output 2;
  body {
    alloc 2;
    loop t' in (1, T) seq {
      bind t = (t');
      loop j in (0, N) lane 16 {
        %0: f32 = load 0[(t), (j)] proved;
        %1: f32 = load 1[(j)] proved;
        %2: f32 = load 2[(t - 1), (j)] proved;
        %3: f32 = load 0[(t), (0)] proved;
        %4: f32 = fold max from (-inff32) over (k in (0, T)) {
          %5: f32 = load 0[(k), (j)] proved;
          yield %5;
        }
        %6: f32 = add %0, %4;
        store 2[(t), (j)] = %6;
      }
      loop j in (0, T) lane 16 {
        %7: f32 = load 0[(j), (t)] proved;
        store 2[(t), (j)] = %7;
      }
    }
    loop t in (0, T) par {
      loop j in (0, N) lane 16 {
        %8: f32 = load 0[(t), (j)] proved;
        store 2[(t), (j)] = %8;
      }
    }
  }
}
";

    /// Of all loads only the row of the step is passed by: another is the same in every step, was stored before, is
    /// one number, belongs to a sum, goes down a column, or is in no step.
    #[test]
    fn rows_of_inputs_that_steps_read_once_are_passed_by() {
        let kernel = parse_kernel(KERNEL).expect("a kernel");
        assert_eq!(passing(&kernel), HashSet::from_iter([0]));
    }
}
