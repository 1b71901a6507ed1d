//! `let_take`: loops whose rounds threads take while they run.
//!
//! Equal parts of a loop take equal times only while nothing else runs on the machine. A thread that has to
//! share its processor with another program would keep all others waiting at the end of a long loop. Where it
//! is not known who runs which round, every thread begins with its own part, and takes rounds of others when
//! it has finished. In return there must be barriers where a thread met only its own stores, and what a thread
//! just stored may lie in the cache of another, so loops inside steps keep their parts. Blocks of terms are no steps:
//! what a block stores is more than the caches of a thread hold.
//!
//! Contract: the team has barriers before and afterwards wherever threads could meet (`fence`), the same
//! statements, and no other order of rounds within a thread's part.

use super::apart::Apart;
use super::estimate::WAIT;
use super::fence::{check_barriers, insert_barriers};
use super::places::Scope;
use crate::ir::{Block, Loop, Own, Range, Role, Stmt};

/// A loop is long if it has so much work that a barrier more costs less than a hundredth of it.
const LONG: f64 = 100.0 * WAIT as f64;

/// What is known of the work of a loop, given those around it in a team.
pub(super) type WorkOf<'a> = &'a dyn Fn(&[Range], &Loop) -> Option<f64>;

/// Lets threads take the rounds of a team's long loops. Where the amount of work is not known, they do only if
/// that costs nothing.
pub(super) fn let_take(block: &mut Block, apart: &mut Apart<'_>, scope: &Scope, work: WorkOf<'_>) {
    let as_it_was = block.clone();
    let is_long = |around: &[Range], of: &Loop| work(around, of).map(|work| work >= LONG);
    let n = mark(block, &mut Vec::new(), &|around, of| is_long(around, of) != Some(false));
    if n == 0 || check_barriers(block, apart, scope).is_empty() {
        return;
    }
    *block = as_it_was.clone();
    let n = mark(block, &mut Vec::new(), &|around, of| is_long(around, of) == Some(true));
    if n > 0 && !insert_barriers(block, apart, scope) {
        *block = as_it_was;
    }
}

/// Marks loops of a team outside of other loops, but for those over blocks of terms; how many there are.
fn mark(
    block: &mut Block,
    around: &mut Vec<Range>,
    is_meant: &dyn Fn(&[Range], &Loop) -> bool,
) -> usize {
    let mut n = 0;
    for stmt in &mut block.stmts {
        match stmt {
            Stmt::Loop(of)
                if of.own == Own::Part && of.role == Role::Par && is_meant(around, of) =>
            {
                of.own = Own::Taken;
                n += 1;
            }
            Stmt::Loop(of) if of.own == Own::All && matches!(of.role, Role::Terms(_)) => {
                around.push(of.range.clone());
                n += mark(&mut of.body, around, is_meant);
                around.pop();
            }
            Stmt::If { then, otherwise, .. } => {
                n += mark(then, around, is_meant) + mark(otherwise, around, is_meant)
            }
            _ => {}
        }
    }
    n
}

#[cfg(test)]
mod tests {
    use crate::ir::{parse_kernel, verify};
    use crate::threads::{Worth, divide_work};

    const KERNEL: &str = "kernel part {
  symbols n, m;
  indices i, j, a, b;
  size n = shape 0 0;
  size m = shape 0 1;
  buffer 0 input x: f32[full (n), full (m)];
  buffer 1 y: f32[full (n), full (m)] unset;
  buffer 2 z: f32[full (n), full (m)] unset;
  output 2;
  body {
    alloc 1;
    alloc 2;
    loop i in (0, n) par {
      loop j in (0, m) seq {
        %0: f32 = load 0[(i), (j)] proved;
        store 1[(i), (j)] = %0;
      }
    }
    loop a in (0, n) par {
      loop b in (0, m) seq {
        %1: f32 = load 1[(a), (b)] proved;
        store 2[(a), (b)] = %1;
      }
    }
  }
}
";

    /// Rows that a thread reads again are its own. For long loops a barrier costs less than waiting for a slow
    /// thread, for short ones more, and what is not known may be short.
    #[test]
    fn long_loops_are_worth_a_barrier() {
        let divided = |least: u64, shapes: &[Vec<i64>]| {
            let mut kernel = parse_kernel(KERNEL).expect("a kernel");
            divide_work(&mut kernel, Worth { least, ..Worth::ALWAYS }, shapes);
            assert_eq!(verify(&kernel), []);
            let text = kernel.to_string();
            (text.matches("par own").count(), text.matches("par taken").count(), text)
        };
        for (least, shapes, n_own, n_taken) in [
            (10_000, vec![vec![2000, 2000]], 0, 2),
            (10_000, vec![vec![200, 200]], 2, 0),
            (10_000, Vec::new(), 2, 0),
            (0, vec![vec![2000, 2000]], 2, 0),
        ] {
            let (own, taken, text) = divided(least, &shapes);
            assert_eq!((own, taken), (n_own, n_taken), "{text}");
            assert_eq!(text.contains("barrier"), n_taken > 0, "{text}");
        }
    }
}
