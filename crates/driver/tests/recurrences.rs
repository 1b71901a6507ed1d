//! Random recurrences: the oracle, the executor with full storage, with windows, and under random
//! legal schedules agree bit by bit.
//!
//! One to three axes, offsets of both signs, base slabs or default reads, guards, same-step and
//! mutual reads, open axes, producers that are read along the way, and observers of every kind. `EINLANG_RECURRENCES=20000 cargo test -p
//! einlang-driver --test recurrences -- --nocapture` tries more and prints how often a window was
//! found.

#[path = "recurrence/build.rs"]
mod build;
mod recurrence;
#[path = "recurrence/shake.rs"]
mod shake;
#[path = "recurrence/strings.rs"]
mod strings;

use build::build;
use einlang_driver::run::{Executable, Failure, RunOptions};
use einlang_driver::{Backend, StoragePlan};
use einlang_interp::io::MemoryIo;
use einlang_interp::value::HostValue;
use einlang_loops::decide::{Storage, is_legal};
use einlang_loops::ir::{parse_kernel, verify};
use einlang_loops::plan::{Choices, plan};
use einlang_loops::schedule::{Compute, Layout, Schedule, parse_schedules};
use einlang_loops::window::{StorageReport, analyse_program};
use einlang_testkit::generate::Source;
use einlang_tir::module::Module;

fn n_cases() -> u64 {
    let wanted = std::env::var("EINLANG_RECURRENCES").ok();
    wanted.and_then(|text| text.parse().ok()).unwrap_or(300)
}

fn bits(value: &HostValue) -> Vec<u64> {
    match (value.as_scalar(), value.as_tensor()) {
        (Some(scalar), _) => vec![scalar.bits()],
        (None, Some(tensor)) => tensor.consts().map(|constant| constant.bits()).collect(),
        (None, None) => vec![],
    }
}

type Ended = Result<Vec<(String, Vec<u64>)>, String>;

fn run(executable: &Executable, options: &RunOptions) -> Ended {
    match executable.run(options, &mut MemoryIo::default()) {
        Ok(outcome) => {
            Ok(outcome.outputs.iter().map(|o| (o.name.clone(), bits(&o.value))).collect())
        }
        Err(Failure::Program(found)) => {
            let all =
                found.iter().map(|d| format!("{} {} {:?}", d.code, d.message, d.primary.span));
            Err(all.collect::<Vec<_>>().join("\n"))
        }
        Err(Failure::Usage { message, .. } | Failure::Bug(message)) => Err(message),
    }
}

#[derive(Default, Debug)]
struct Counts {
    n_programs: usize,
    n_windows: usize,
    n_full: usize,
    n_schedules: usize,
    /// Windows that are kept as they are reported, and those that are not.
    n_same: usize,
    n_other_width: usize,
    n_only_reported: usize,
    n_only_kept: usize,
}

#[test]
fn storage_and_schedules_change_nothing() {
    let mut counts = Counts::default();
    for seed in 0..n_cases() {
        let mut source = Source::from_seed(seed);
        let text = recurrence::program(&mut source);
        let Some(executable) = build(&text) else { continue };
        counts.n_programs += 1;
        let wanted = run(&executable, &RunOptions::default());
        for storage in [StoragePlan::Full, StoragePlan::Window] {
            let mut options = RunOptions::default();
            (options.limits.backend, options.limits.storage) = (Backend::Bytecode, storage);
            let found = run(&executable, &options);
            assert_eq!(found, wanted, "seed {seed} with {storage:?}\n{text}");
            let fallen = options.limits.report.regions();
            let fallen = fallen.iter().any(|region| region.fallback.is_some());
            assert!(wanted.is_err() || !fallen, "{:?}\n{text}", options.limits.report.regions());
        }
        let program = executable.program();
        let report = analyse_program(program, &["o".to_owned()]);
        for module in &program.modules {
            compare_windows(module, &report, &text, &mut counts);
            other_schedules(module, &executable, &wanted, &text, &mut source, &mut counts);
        }
    }
    println!("{counts:?}");
    assert!(counts.n_programs as u64 > n_cases() / 2, "{counts:?}");
    assert!(counts.n_windows > 0 && counts.n_full > 0 && counts.n_schedules > 0, "{counts:?}");
}

/// Compares the windows that are kept with those that are reported: on the axis of the outermost
/// loop they are the same, and what is kept is never less than what is reported.
fn compare_windows(module: &Module, report: &StorageReport, text: &str, counts: &mut Counts) {
    let Ok(planned) = plan(module, &Choices::default()) else { return };
    let tensors = planned.schedule.groups.iter().flat_map(|group| &group.tensors);
    for tensor in tensors.filter(|tensor| tensor.compute == Compute::Here) {
        let Some(logical) = report.binding(&module.name, &tensor.name) else { continue };
        for (axis, layout) in logical.axes.iter().zip(&tensor.storage) {
            match (axis.window(), layout) {
                (Some(window), Layout::Mod(width)) if window == *width as u64 => {
                    counts.n_same += 1;
                }
                (Some(_), Layout::Mod(_)) => counts.n_other_width += 1,
                // As many planes as there are: full and window are the same.
                (Some(window), _) if axis.extent.as_constant() == Some(window as i64) => {}
                (Some(_), _) => {
                    counts.n_only_reported += 1;
                    if std::env::var_os("EINLANG_SHOW").is_some() {
                        println!("only reported: {axis:?}\n{}\n{text}", planned.schedule);
                    }
                }
                (None, Layout::Mod(width)) => {
                    counts.n_only_kept += 1;
                    assert!(*width > 0, "{text}");
                    if std::env::var_os("EINLANG_SHOW").is_some() {
                        println!("only kept: {axis:?}\n{}\n{text}", planned.schedule);
                    }
                }
                (None, _) => {}
            }
        }
    }
}

/// Runs a module under schedules near the one that was decided.
fn other_schedules(
    module: &Module,
    executable: &Executable,
    wanted: &Ended,
    text: &str,
    source: &mut Source<'_>,
    counts: &mut Counts,
) {
    let choices = Choices { storage: Storage::Window, ..Choices::default() };
    let Ok(planned) = plan(module, &choices) else { return };
    let layouts = planned.schedule.groups.iter().flat_map(|g| &g.tensors).flat_map(|t| &t.storage);
    let is_window = |layout: &Layout| matches!(layout, Layout::Mod(_));
    match layouts.clone().any(is_window) {
        true => counts.n_windows += 1,
        false => counts.n_full += 1,
    }
    let printed = planned.schedule.to_string();
    assert_eq!(parse_schedules(&printed), Ok(vec![planned.schedule.clone()]), "{printed}");
    let kernel = planned.kernel.to_string();
    let again = parse_kernel(&kernel).map(|kernel| kernel.to_string());
    assert_eq!(again.as_ref(), Ok(&kernel), "{kernel}");
    assert!(is_legal(&planned.module, &planned.schedule), "{printed}\n{text}");
    for _ in 0..3 {
        let mut schedule: Schedule = planned.schedule.clone();
        shake::shake(&mut schedule, source);
        if !is_legal(&planned.module, &schedule) {
            continue;
        }
        counts.n_schedules += 1;
        let mut options = RunOptions::default();
        options.limits.backend = Backend::Bytecode;
        let shown = schedule.to_string();
        assert_eq!(parse_schedules(&shown), Ok(vec![schedule.clone()]), "{shown}");
        let choices = Choices { schedules: vec![schedule.clone()], ..choices.clone() };
        if let Ok(other) = plan(module, &choices) {
            let kernel = other.kernel.to_string();
            assert_eq!(verify(&other.kernel), [], "{shown}\n{kernel}");
            let again = parse_kernel(&kernel).map(|kernel| kernel.to_string());
            assert_eq!(again.as_ref(), Ok(&kernel), "{kernel}");
        }
        options.limits.schedules = vec![schedule];
        assert_eq!(&run(executable, &options), wanted, "{shown}\n{text}");
    }
}
