//! `hoist_values`: what no round of a loop changes is computed before the loop.
//!
//! Steps of a recurrence ask for the numbers of the program again and again, since whoever makes code from them cannot
//! know that no step stores to those. A step size that is halved in each of a thousand steps is halved once.
//!
//! Only what can be computed whether or not there are rounds leaves a loop: operations that never trap, and inputs
//! without axes. It leaves loops whose rounds follow each other, and those inside of them; a loop that threads divide
//! keeps what it has, so that each nest is still all that a piece or a thread needs.
//!
//! Contract: runs after `jam_rounds`, by whoever makes code that is to run often.

use rustc_hash::FxHashSet as HashSet;

use crate::ir::{Access, Block, Kernel, Loop, Operand, Role, Stmt, results};

/// Hoists the values of a kernel.
pub fn hoist_values(kernel: &mut Kernel) {
    let n_inputs = kernel.n_inputs;
    block(&mut kernel.body, n_inputs, false);
}

/// Hoists the values of the loops of a block, which may be inside of a loop whose rounds follow each other.
fn block(of: &mut Block, n_inputs: usize, in_steps: bool) {
    for mut stmt in std::mem::take(&mut of.stmts) {
        match &mut stmt {
            Stmt::Loop(inner) => {
                let is_step = inner.role == Role::Seq;
                let whole = !inner.own.is_divided() && inner.until.is_none();
                block(&mut inner.body, n_inputs, whole && (in_steps || is_step));
                if whole && (in_steps || is_step) {
                    of.stmts.extend(taken(inner, n_inputs));
                }
            }
            Stmt::If { then, otherwise, .. } => {
                block(then, n_inputs, false);
                block(otherwise, n_inputs, false);
            }
            Stmt::Team(inner) => block(inner, n_inputs, false),
            _ => {}
        }
        of.stmts.push(stmt);
    }
}

/// What a loop computes in each round and no round changes, taken out of it.
fn taken(of: &mut Loop, n_inputs: usize) -> Vec<Stmt> {
    let mut inside: HashSet<u32> = HashSet::default();
    let (mut out, mut stay) = (Vec::new(), Vec::new());
    for stmt in std::mem::take(&mut of.body.stmts) {
        let fixed = match &stmt {
            Stmt::Op { args, site: None, .. } => args.iter().all(|arg| match arg {
                Operand::Const(_) => true,
                Operand::Value(value) => !inside.contains(&value.number),
            }),
            Stmt::Load { buffer, at, access: Access::Proved, .. } => {
                at.is_empty() && (buffer.0 as usize) < n_inputs
            }
            _ => false,
        };
        match fixed {
            true => out.push(stmt),
            false => {
                inside.extend(results(&stmt).iter().map(|value| value.number));
                stay.push(stmt);
            }
        }
    }
    of.body.stmts = stay;
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::parse_kernel;

    const KERNEL: &str = "kernel part {
  symbols N;
  indices i, t;
  size N = shape 1 0;
  buffer 0 input h: f64[];
  buffer 1 input x: f64[full (N)];
  buffer 2 y: f64[full (N)];
  site 0 \"a quotient\";
  output 2;
  body {
    alloc 2;
    team {
      loop i in (0, N) par own {
        %0: f64 = load 0[] proved;
        store 2[(i)] = %0;
        loop t in (0, N) seq {
          %1: f64 = load 0[] proved;
          %2: f64 = div %1, 2.0f64;
          %3: f64 = load 1[(0)] proved;
          %4: f64 = mul %2, %3;
          %5: f64 = load 2[(i)] proved;
          %6: f64 = add %4, %5;
          store 2[(i)] = %6;
        }
      }
    }
  }
}
";

    /// Steps of a loop without rounds read nothing that is not there, and a nest keeps what is its own.
    #[test]
    fn numbers_leave_steps_and_elements_stay() {
        let mut kernel = parse_kernel(KERNEL).expect("it reads");
        hoist_values(&mut kernel);
        let text = kernel.to_string();
        let at = |what: &str| text.find(what).unwrap_or_else(|| panic!("no {what}: {text}"));
        let (nest, steps) = (at("loop i in"), at("loop t in"));
        assert!(nest < at("%0: f64 = load") && at("%1: f64 = load 0[]") < steps, "{text}");
        assert!(
            at("%2: f64 = div %1, 2.0f64;") < steps && steps < at("%3: f64 = load 1"),
            "{text}"
        );
        assert!(steps < at("%4: f64 = mul %2, %3;"), "{text}");
    }

    /// What may trap does so in its own round.
    #[test]
    fn what_may_trap_stays() {
        let text = KERNEL.replace("div %1, 2.0f64;", "div %1, 2.0f64 site 0;");
        let mut kernel = parse_kernel(&text).expect("it reads");
        hoist_values(&mut kernel);
        let text = kernel.to_string();
        assert!(text.find("loop t in") < text.find("%2: f64 = div"), "{text}");
    }
}
