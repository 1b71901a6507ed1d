//! Plans that are kept from one process to the next.
//!
//! Planning a large module takes longer than finding the machine code that an earlier process made of it.
//! So a plan is kept beside that code, as the texts of its schedule and of its loop IR, under all that
//! planning depends on: the text of the module and what may be chosen. The shapes of a call belong to that
//! only where the plan follows them.
//!
//! Contract: a plan that comes from there is the one that planning would give, places in the source
//! included. What cannot be read is planned again and written anew; what cannot be planned is not kept.

use std::fmt::Write;

use einlang_loops::decide::length_for_plans;
use einlang_loops::ir::{Kernel, parse_kernel};
use einlang_loops::lower::NotLowered;
use einlang_loops::plan::{Choices, Plan, plan};
use einlang_loops::schedule::{Schedule, parse_schedules};
use einlang_tir::module::Module;
use einlang_tir::types::Loc;

use crate::native::NativeCompiler;

/// What is kept in the place of a plan that follows the shapes of a call.
const OF_SHAPES: &str = "of shapes\n";

/// The code for a module and how it was chosen.
#[derive(Debug)]
pub(crate) struct Planned {
    pub(crate) schedule: Schedule,
    pub(crate) kernel: Kernel,
}

/// Where the plan of a module is kept.
#[derive(Debug)]
pub(crate) struct Shelf<'k> {
    pub(crate) keeper: &'k dyn NativeCompiler,
    /// All that planning depends on but the shapes of the call.
    pub(crate) key: String,
}

impl<'k> Shelf<'k> {
    pub(crate) fn of(
        keeper: &'k dyn NativeCompiler,
        module: &Module,
        choices: &Choices,
    ) -> Shelf<'k> {
        Shelf { keeper, key: key(module, choices) }
    }
}

/// Plans a module, or finds its plan.
pub(crate) fn planned(
    module: &Module,
    choices: &Choices,
    shelf: Option<&Shelf<'_>>,
) -> Result<Planned, NotLowered> {
    let Some(Shelf { keeper, key: of_any }) = shelf else {
        let Plan { schedule, kernel, .. } = plan(module, choices)?;
        return Ok(Planned { schedule, kernel });
    };
    let of_shapes = || format!("{of_any}\nshapes {:?}\n", shapes(choices));
    let text_of = |key: &str| String::from_utf8(keeper.recall(key)?).ok();
    let mut found = text_of(of_any);
    if found.as_deref() == Some(OF_SHAPES) {
        found = text_of(&of_shapes());
    }
    if let Some(planned) = found.and_then(|text| read(&text, module)) {
        return Ok(planned);
    }
    let Plan { schedule, kernel, follows_shapes, .. } = plan(module, choices)?;
    let planned = Planned { schedule, kernel };
    let text = write(&planned, module);
    match follows_shapes {
        true => {
            keeper.keep(of_any, OF_SHAPES.as_bytes());
            keeper.keep(&of_shapes(), text.as_bytes());
        }
        false => keeper.keep(of_any, text.as_bytes()),
    }
    Ok(planned)
}

/// All that planning depends on but the shapes of the call.
fn key(module: &Module, choices: &Choices) -> String {
    let Choices { storage, checked, schedules, checkpoint, cut, expects_sizes, shapes: _ } =
        choices;
    let mut key = format!("plan {storage:?} {checkpoint:?} {cut:?} checked {checked}\n");
    let _ = writeln!(key, "expects sizes {expects_sizes}");
    for schedule in schedules.iter().filter(|schedule| schedule.module == module.name) {
        let _ = write!(key, "{schedule}");
    }
    let _ = write!(key, "{module}");
    key
}

/// The shapes of the call, with lengths that plans tell apart.
fn shapes(choices: &Choices) -> Vec<Vec<i64>> {
    let each = choices.shapes.iter();
    each.map(|shape| shape.iter().map(|n| length_for_plans(*n)).collect()).collect()
}

/// Where the tensors of a module were defined.
fn places(module: &Module) -> impl Iterator<Item = Loc> {
    let bindings = module.groups.iter().flat_map(|group| &group.bindings);
    bindings.map(|binding| binding.loc)
}

/// A plan as text: where its buffers were defined, as numbers of tensors of the module, its schedule, and
/// its loop IR.
pub(crate) fn write(planned: &Planned, module: &Module) -> String {
    let mut text = "places".to_owned();
    for buffer in &planned.kernel.buffers {
        let at = buffer.loc.0.and_then(|span| places(module).position(|loc| loc.0 == Some(span)));
        let _ = match at {
            Some(at) => write!(text, " {at}"),
            None => write!(text, " -"),
        };
    }
    let schedule = planned.schedule.to_string();
    let _ = write!(text, "\nschedule {}\n{schedule}{}", schedule.len(), planned.kernel);
    text
}

/// The plan that a text holds.
pub(crate) fn read(text: &str, module: &Module) -> Option<Planned> {
    let (line, rest) = text.strip_prefix("places")?.split_once('\n')?;
    let (length, rest) = rest.strip_prefix("schedule ")?.split_once('\n')?;
    let (schedule, kernel) = rest.split_at_checked(length.parse().ok()?)?;
    let schedule = parse_schedules(schedule).ok()?.pop()?;
    let mut kernel = parse_kernel(kernel).ok()?;
    let places: Vec<Loc> = places(module).collect();
    let mut words = line.split_whitespace();
    for buffer in &mut kernel.buffers {
        buffer.loc = match words.next()? {
            "-" => Loc::default(),
            at => *places.get(at.parse::<usize>().ok()?)?,
        };
    }
    let is_whole = words.next().is_none() && schedule.module == module.name;
    is_whole.then_some(Planned { schedule, kernel })
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::sync::{Arc, Mutex};

    use einlang_source::{FileId, Span};
    use einlang_tir::text::parse_module;

    use super::*;
    use crate::native::{CodeForm, Made, NativeKernel, NativeObject, Wanted};

    const SUMS: &str = "module part {
  symbol n = shape a 0;
  input a: f32[n];
  binding x: f32[i < n] {
    clause { [i] : i >= 0 and i < n } {
      %0: f32 = read a[i] proved;
      %1: f32 = add %0, 1.0f32;
      yield %1;
    }
  }
  output x;
}
";

    /// A recurrence whose state may be small.
    const STEPS: &str = "module part {
  symbol n = shape a 0;
  symbol m = shape a 1;
  input a: f32[n, m];
  binding h: f32[t < n + 1, j < m] {
    clause { [t, j] : t = 0 and t <= n and j >= 0 and j < m } {
      yield 0.0f32;
    }
    clause { [t, j] : t >= 1 and t <= n and j >= 0 and j < m } {
      %0: f32 = read h[t - 1, m - j - 1] proved;
      %1: f32 = read a[t - 1, j] proved;
      %2: f32 = add %0, %1;
      yield %2;
    }
  }
  binding out: f32[i < m] {
    clause { [i] : i >= 0 and i < m } {
      %3: f32 = read h[n, i] proved;
      yield %3;
    }
  }
  output out;
}
";

    /// Keeps what it is given.
    #[derive(Debug, Default)]
    struct Keeper {
        kept: Mutex<HashMap<String, Vec<u8>>>,
        written: Mutex<usize>,
    }

    impl Keeper {
        /// How many entries were written since this was asked.
        fn n_written(&self) -> usize {
            std::mem::take(&mut self.written.lock().expect("nobody failed"))
        }

        fn change(&self, with: impl Fn(&mut Vec<u8>)) {
            self.kept.lock().expect("nobody failed").values_mut().for_each(with);
        }
    }

    impl NativeCompiler for Keeper {
        fn compile(&self, _: &Kernel, _: Wanted) -> Result<Arc<dyn NativeKernel>, String> {
            Err("it only keeps".to_owned())
        }

        fn show(&self, _: &Kernel, _: bool, _: CodeForm) -> Result<String, String> {
            Err("it only keeps".to_owned())
        }

        fn object(&self, _: &Kernel, _: &str) -> Result<NativeObject, String> {
            Err("it only keeps".to_owned())
        }

        fn made(&self) -> Made {
            Made::default()
        }

        fn recall(&self, key: &str) -> Option<Vec<u8>> {
            self.kept.lock().expect("nobody failed").get(key).cloned()
        }

        fn keep(&self, key: &str, value: &[u8]) {
            *self.written.lock().expect("nobody failed") += 1;
            self.kept.lock().expect("nobody failed").insert(key.to_owned(), value.to_vec());
        }
    }

    fn module(text: &str) -> Module {
        let mut module = parse_module(text).expect("a module");
        let mut place = 0;
        for binding in module.groups.iter_mut().flat_map(|group| &mut group.bindings) {
            place += 10;
            binding.loc = Loc(Some(Span::new(FileId::FIRST, place, place + 1)));
        }
        module
    }

    /// Plans with a keeper.
    fn kept(module: &Module, choices: &Choices, keeper: &Keeper) -> Planned {
        let shelf = Shelf::of(keeper, module, choices);
        planned(module, choices, Some(&shelf)).expect("it can be planned")
    }

    fn of_shapes(shapes: &[Vec<i64>]) -> Choices {
        Choices { shapes: shapes.to_vec(), expects_sizes: true, ..Choices::default() }
    }

    /// The plan as text with the places of its buffers.
    fn told(planned: &Planned) -> String {
        let places = planned.kernel.buffers.iter().map(|buffer| buffer.loc.0);
        let places: Vec<Option<Span>> = places.collect();
        format!("{places:?}\n{}{}", planned.schedule, planned.kernel)
    }

    #[test]
    fn a_plan_that_was_kept_is_the_one_that_is_made() {
        for text in [SUMS, STEPS] {
            let (module, keeper) = (module(text), Keeper::default());
            for choices in [
                Choices::default(),
                Choices { checked: true, ..Choices::default() },
                of_shapes(&[vec![9, 3]]),
            ] {
                let fresh = planned(&module, &choices, None).expect("it can be planned");
                let first = kept(&module, &choices, &keeper);
                keeper.n_written();
                let found = kept(&module, &choices, &keeper);
                assert_eq!(keeper.n_written(), 0);
                assert_eq!([told(&first), told(&found)], [told(&fresh), told(&fresh)]);
                assert!(found.kernel.buffers.iter().any(|buffer| buffer.loc.0.is_some()));
            }
        }
    }

    #[test]
    fn shapes_matter_where_a_plan_follows_them() {
        let (keeper, made) = (Keeper::default(), |keeper: &Keeper, text: &str, shape: &[i64]| {
            let choices = of_shapes(&[shape.to_vec()]);
            let found = kept(&module(text), &choices, keeper);
            let fresh = planned(&module(text), &choices, None).expect("it can be planned");
            assert_eq!(told(&found), told(&fresh));
            keeper.n_written()
        });
        assert_eq!(made(&keeper, SUMS, &[5]), 1);
        assert_eq!(made(&keeper, SUMS, &[700]), 0, "any length is the same");
        assert_eq!(made(&keeper, STEPS, &[1000, 3]), 2, "that it follows them, and the plan");
        assert_eq!(made(&keeper, STEPS, &[1000, 4]), 2);
        assert_eq!(made(&keeper, STEPS, &[500, 4]), 0, "both are long");
        assert_eq!(made(&keeper, STEPS, &[2000, 4]), 2, "that is very long");
        assert_eq!(made(&keeper, STEPS, &[3000, 4]), 0, "both are");
        assert_eq!(made(&keeper, STEPS, &[1000, 3]), 0);
    }

    #[test]
    fn what_cannot_be_read_is_planned_again() {
        let (module, keeper) = (module(SUMS), Keeper::default());
        let right = told(&kept(&module, &Choices::default(), &keeper));
        let cut = |n: usize| move |text: &mut Vec<u8>| text.truncate(n);
        let length = keeper.kept.lock().expect("nobody failed").values().map(Vec::len).max();
        for n in (0..length.unwrap_or(0).saturating_sub(2)).step_by(7) {
            keeper.change(cut(n));
            keeper.n_written();
            let found = kept(&module, &Choices::default(), &keeper);
            assert_eq!((told(&found), keeper.n_written()), (right.clone(), 1), "{n} bytes");
        }
        for wrong in ["of shapes\n", "places 7\nschedule 0\n", "\u{fffd}"] {
            keeper.change(|text| wrong.as_bytes().clone_into(text));
            let found = kept(&module, &Choices::default(), &keeper);
            assert_eq!(told(&found), right);
        }
    }
}
