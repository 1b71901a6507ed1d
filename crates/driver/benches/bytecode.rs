//! How fast the bytecode executor is, and how much memory its plans take.
//! Run with `cargo xtask bench bytecode`; the programs are in `bench/memory/`.

use einlang_driver::run::RunOptions;
use einlang_driver::{Backend, Options, Session};
use einlang_interp::io::MemoryIo;
use einlang_source::MemoryWorld;

/// A program, its output, its scalar operations and the most bytes that its plan may take.
struct Case {
    name: &'static str,
    text: &'static str,
    output: &'static str,
    n_operations: f64,
    most_bytes: u64,
}

const CASES: &[Case] = &[
    Case {
        name: "edit_distance",
        text: include_str!("../../../bench/memory/edit_distance.ein"),
        output: "distance",
        // Per point: three additions, two minima, a comparison and a choice.
        n_operations: 7.0 * 20_000.0 * 20_000.0,
        most_bytes: 1 << 20,
    },
    Case {
        name: "heat",
        text: include_str!("../../../bench/memory/heat.ein"),
        output: "warmest",
        n_operations: 7.0 * 512.0 * 512.0 * 39.0,
        // Two planes, the output and the call of the entry.
        most_bytes: 2 * 512 * 512 * 4 + 256,
    },
    Case {
        name: "lookback",
        text: include_str!("../../../bench/memory/lookback.ein"),
        output: "last_one",
        n_operations: 3.0 * 1e8,
        // Eleven numbers, the output and the call of the entry.
        most_bytes: 11 * 4 + 256,
    },
];

/// The plate is watched for fewer steps than by machine code; the planes are the same.
const LONG: &str = "const T = 10000;";
const SHORT: &str = "const T = 40;";

/// What the executor must do at least, in scalar operations per second on one core.
const LEAST: f64 = 30e6;

fn main() {
    for case in CASES {
        let world = MemoryWorld::new();
        let outputs = Some(vec![case.output.to_owned()]);
        let mut session =
            Session::new(&world).with_options(Options { outputs, ..Options::default() });
        let text = case.text.replace(LONG, SHORT);
        let file = session.add_text(case.name, text);
        let executable = session.build(file).expect("invariant: the program is right");
        let mut options = RunOptions::default();
        options.limits.backend = Backend::Bytecode;
        let before = seconds_of_work();
        let outcome = executable.run(&options, &mut MemoryIo::default());
        let outcome = outcome.expect("invariant: the program runs");
        let worked = seconds_of_work().zip(before).map(|(after, before)| after - before);
        let report = &options.limits.report;
        let regions = report.regions();
        assert!(regions.iter().all(|r| r.fallback.is_none()), "{regions:?}");
        let seconds = worked.unwrap_or(outcome.ran_in.as_secs_f64());
        let rate = case.n_operations / seconds;
        let (name, peak) = (case.name, report.peak());
        println!("{name:14} {seconds:7.2} s, {:6.0} M operations/s, {peak} bytes", rate / 1e6);
        assert!(peak <= case.most_bytes, "`{name}` may take {} bytes", case.most_bytes);
        assert!(rate >= LEAST, "`{name}` is slower than {LEAST} operations/s");
    }
}

/// How long this process has been running on a core, where the system says so: other work on the
/// machine does not count.
fn seconds_of_work() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/schedstat").ok()?;
    Some(text.split_whitespace().next()?.parse::<f64>().ok()? / 1e9)
}
