//! Schedules near a schedule change nothing but the time, the search finds the fastest of them, and what it
//! found is used where it is legal.

#[path = "recurrence/build.rs"]
mod build;
mod recurrence;

use std::time::{Duration, Instant};

use build::build;
use einlang_driver::run::{Executable, RunOptions};
use einlang_driver::tune::{Found, Store, Trial, search};
use einlang_driver::{Backend, Output, Schedule, Tuned};
use einlang_interp::io::MemoryIo;
use einlang_loops::plan::{Choices, plan};
use einlang_loops::schedule::{Nest, Role, parse_schedules};
use einlang_loops::tune::neighbours;
use einlang_testkit::generate::Source;

const MATRICES: &str = "input n: i32 = 19;
let a[i in 0..n, j in 0..n] = (i * 31 + j * 17) % 13;
let o[i, j] = sum[k](a[i, k] * a[k, j]);
";

fn outputs(executable: &Executable, options: &RunOptions) -> Option<Vec<Output>> {
    executable.run(options, &mut MemoryIo::default()).ok().map(|outcome| outcome.outputs)
}

fn planned(executable: &Executable) -> Vec<Schedule> {
    let modules = executable.program().modules.iter();
    modules.filter_map(|m| plan(m, &Choices::default()).ok()).map(|plan| plan.schedule).collect()
}

#[test]
fn neighbours_change_nothing() {
    let (mut n_legal, mut n_illegal) = (0, 0);
    let generated = (0..40).map(|seed| recurrence::program(&mut Source::from_seed(seed)));
    for text in generated.chain([MATRICES.to_owned()]) {
        let Some(executable) = build(&text) else { continue };
        let Some(right) = outputs(&executable, &RunOptions::default()) else { continue };
        for near in planned(&executable).iter().flat_map(neighbours) {
            let read = parse_schedules(&near.schedule.to_string()).expect("it reads back");
            assert_eq!(read, std::slice::from_ref(&near.schedule));
            if !executable.accepts(&near.schedule) {
                n_illegal += 1;
                continue;
            }
            n_legal += 1;
            let mut options = RunOptions::default();
            options.limits.backend = Backend::Bytecode;
            options.limits.schedules = vec![near.schedule.clone()];
            let found = outputs(&executable, &options).expect("it runs as before");
            let same = Output::all_same(&right, &found);
            assert!(same, "{}\n{}\n{text}", near.change, near.schedule);
        }
    }
    assert!(n_legal > 100 && n_illegal > 0, "{n_legal} {n_illegal}");
}

/// The rows of the first tile that is written out.
fn rows(nest: &Nest) -> Option<u32> {
    match nest {
        Nest::Points { .. } => None,
        Nest::Phases(phases) => phases.iter().find_map(rows),
        Nest::Loop { role: Role::Unroll(rows), .. } => Some(*rows),
        Nest::Loop { inner, .. } => rows(inner),
    }
}

/// Looks with times that are best for six rows.
fn look(until: Instant, trial: impl Fn(u32) -> Trial) -> Found {
    let executable = build(MATRICES).expect("it has no errors");
    let rows_of = |all: &[Schedule]| {
        let nests = all.iter().flat_map(|schedule| &schedule.groups).map(|group| &group.nest);
        nests.into_iter().find_map(rows).unwrap_or(1)
    };
    let schedules = planned(&executable);
    let time = Duration::from_millis(100 + 10 * u64::from(rows_of(&schedules).abs_diff(6)));
    let found = search(
        schedules,
        time,
        until,
        |schedule| executable.accepts(schedule),
        |all, _| Ok::<_, ()>(trial(rows_of(all))),
        |_, _| {},
    );
    found.expect("no trial fails")
}

fn later() -> Instant {
    Instant::now() + Duration::from_secs(600)
}

#[test]
fn the_search_climbs_to_what_is_fastest() {
    let best =
        |rows: u32| Trial::Same(Duration::from_millis(100 + 10 * u64::from(rows.abs_diff(6))));
    let found = look(later(), best);
    assert_eq!(found.time, Duration::from_millis(100), "{found:?}");
    assert!(!found.steps.is_empty() && found.tried > found.steps.len() && !found.cut_short);
    let times: Vec<Duration> = found.steps.iter().map(|step| step.1).collect();
    assert!(times.windows(2).all(|pair| pair[1] < pair[0]), "{times:?}");
}

#[test]
fn other_results_and_late_ones_are_not_taken() {
    let found = look(later(), |_| Trial::Other);
    assert!(found.steps.is_empty() && found.other == found.tried && found.tried > 0, "{found:?}");
    let found = look(Instant::now(), |_| Trial::Same(Duration::ZERO));
    assert!(found.steps.is_empty() && found.tried == 0 && found.cut_short, "{found:?}");
}

#[test]
fn what_was_found_is_used_where_it_is_legal() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = || Store::in_folder(folder.path().join("tuned"));
    let executable = build(MATRICES).expect("it has no errors");
    let right = outputs(&executable, &RunOptions::default()).expect("it runs");
    let run_with = |tuned: Tuned| {
        let mut options = RunOptions::default();
        (options.limits.backend, options.limits.tuned) = (Backend::Native, tuned);
        options.limits.kept = einlang_driver::Kept::new();
        let found = outputs(&executable, &options).expect("it runs");
        assert!(Output::all_same(&right, &found));
        options.limits.kept.used()
    };
    let usual = run_with(Tuned::default());
    assert_eq!(run_with(store().into_tuned()), usual, "nothing was kept yet");
    let legal = usual.iter().flat_map(neighbours).map(|near| near.schedule);
    let other = legal.into_iter().find(|schedule| executable.accepts(schedule)).expect("one");
    let module = executable.module(&other.module).expect("its module");
    store().keep(module, &other);
    assert!(run_with(store().into_tuned()).contains(&other));
    // A program that differs has another text.
    let others = build(&MATRICES.replace("13", "11")).expect("it has no errors");
    let module_of_others = others.module(&other.module).expect("its module");
    assert!(!store().forget(module_of_others));
    let mut illegal = other.clone();
    illegal.groups.pop();
    store().keep(module, &illegal);
    assert_eq!(run_with(store().into_tuned()), usual, "what is not legal is ignored");
    assert!(store().forget(module) && !store().forget(module));
}
