//! The kernel that code of each quality is made from: rounds of its loops go together, written out or, where code is
//! made quickly, inside of lanes (`einlang_loops::jam_rounds`).

use std::sync::OnceLock;

use einlang_loops::ir::Kernel;
use einlang_loops::{Rounds, hoist_values, jam_rounds};

use crate::tiers::Quality;

/// A kernel with rounds that go together.
#[derive(Debug)]
pub(crate) struct Jammed {
    pub(crate) kernel: Kernel,
    /// About how many statements it would have more, were it made thoroughly.
    pub(crate) n_spared: usize,
}

impl Jammed {
    pub(crate) fn new(kernel: &Kernel, quality: Quality) -> Jammed {
        let mut kernel = kernel.clone();
        let rounds = match quality {
            Quality::Quick => Rounds::Short,
            Quality::Thorough => Rounds::Asked,
        };
        let n_spared = jam_rounds(&mut kernel, rounds);
        if quality == Quality::Thorough {
            hoist_values(&mut kernel);
        }
        Jammed { kernel, n_spared }
    }
}

/// The same for each quality, made when it is first asked for.
#[derive(Debug)]
pub(crate) struct Forms<'k> {
    kernel: &'k Kernel,
    quick: OnceLock<Jammed>,
    thorough: OnceLock<Jammed>,
}

impl<'k> Forms<'k> {
    pub(crate) fn new(kernel: &'k Kernel) -> Forms<'k> {
        Forms { kernel, quick: OnceLock::new(), thorough: OnceLock::new() }
    }

    pub(crate) fn of(&self, quality: Quality) -> &Jammed {
        let slot = match quality {
            Quality::Quick => &self.quick,
            Quality::Thorough => &self.thorough,
        };
        slot.get_or_init(|| Jammed::new(self.kernel, quality))
    }
}

#[cfg(test)]
mod tests {
    use einlang_loops::ir::parse_kernel;

    use super::*;

    const STEPS: &str = "kernel part {
  indices t;
  buffer 0 input h: f64[];
  buffer 1 y: f64[];
  output 1;
  body {
    alloc 1;
    loop t in (0, 9) seq {
      %0: f64 = load 0[] proved;
      %1: f64 = div %0, 2.0f64;
      store 1[] = %1;
    }
  }
}
";

    #[test]
    fn thorough_code_computes_numbers_before_its_steps() {
        let kernel = parse_kernel(STEPS).expect("it reads");
        let divides_in_steps = |quality| {
            let text = Jammed::new(&kernel, quality).kernel.to_string();
            text.find("= div") > text.find("loop t")
        };
        assert!(divides_in_steps(Quality::Quick));
        assert!(!divides_in_steps(Quality::Thorough));
    }
}
