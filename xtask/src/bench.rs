//! `cargo xtask bench [name…]`: the project's benchmarks, the start-up time of the binary, the time from
//! source to machine code, and the memory of recurrences.

use crate::probes::{PROBES, probes};
use crate::project::Project;
use crate::{TaskResult, binary, latency, llvm, memory, process, table};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// The name that selects the start-up measurement.
const STARTUP: &str = "startup";

/// The name that selects the time from source to machine code.
const LATENCY: &str = "latency";

/// The name that selects the memory of recurrences.
const MEMORY: &str = "memory";

/// How often the binary is started; the median of fewer is not steady.
const N_STARTS: usize = 50;

/// Runs the benchmarks with these names, or everything when there is none.
pub(crate) fn bench(project: &Project, names: &[String]) -> TaskResult {
    if names == [PROBES] {
        return probes(project);
    }
    if let [name, rest @ ..] = names
        && table::NAMES.contains(&name.as_str())
    {
        return table::run(project, name, rest);
    }
    let (startup, names): (Vec<_>, Vec<_>) = names.iter().partition(|name| *name == STARTUP);
    let (latency, names): (Vec<_>, Vec<_>) = names.into_iter().partition(|name| *name == LATENCY);
    let (memory, names): (Vec<_>, Vec<_>) = names.into_iter().partition(|name| *name == MEMORY);
    let everything =
        startup.is_empty() && latency.is_empty() && memory.is_empty() && names.is_empty();
    let mut code = 0;
    if everything || !names.is_empty() {
        code = run_benchmarks(project, &names)?;
    }
    if everything || !startup.is_empty() {
        measure_startup(&binary::build(project, binary::RELEASE)?)?;
    }
    if everything || !latency.is_empty() {
        latency::measure(project, &binary::build(project, binary::RELEASE)?)?;
    }
    if everything || !memory.is_empty() {
        memory::measure(project, &binary::build(project, binary::RELEASE)?)?;
    }
    Ok(code)
}

fn run_benchmarks(project: &Project, names: &[&String]) -> TaskResult {
    if !has_benchmarks(&project.root.join("crates")) {
        println!("no crate has a `benches` folder");
        return Ok(0);
    }
    // Only benchmark targets: otherwise cargo also lists every unit test as ignored.
    let mut cargo = project.cargo();
    cargo.args(["bench", "--quiet", "--workspace"]);
    if names.is_empty() {
        cargo.args(["--bench", "*"]);
    }
    for name in names {
        cargo.args(["--bench", name]);
    }
    llvm::prepare(&mut cargo, true);
    process::show(&mut cargo).map(process::exit_code)
}

fn has_benchmarks(crates: &Path) -> bool {
    let folders = crates.read_dir().into_iter().flatten().flatten();
    folders.into_iter().any(|folder| folder.path().join("benches").is_dir())
}

fn measure_startup(binary: &Path) -> Result<(), String> {
    let program = "let x = 1;";
    let mut times = Vec::with_capacity(N_STARTS);
    let mut code = 0;
    for _ in 0..N_STARTS {
        let start = Instant::now();
        let output = process::capture(Command::new(binary).args(["-c", program]))?;
        times.push(start.elapsed());
        code = process::exit_code(output.status);
    }
    println!("{}", startup_line(times, code));
    Ok(())
}

/// A failing start is still timed, but the line must not read as if the program had run.
fn startup_line(mut times: Vec<Duration>, code: u8) -> String {
    times.sort_unstable();
    let milliseconds = |time: Option<&Duration>| time.map_or(0.0, |t| t.as_secs_f64() * 1e3);
    let median = milliseconds(times.get(times.len() / 2));
    let minimum = milliseconds(times.first());
    let note = if code == 0 { String::new() } else { format!(" (it ended with code {code})") };
    format!(
        "start-up: median {median:.2} ms, minimum {minimum:.2} ms of {} starts{note}",
        times.len()
    )
}

#[cfg(test)]
mod tests {
    use super::startup_line;
    use std::time::Duration;

    #[test]
    fn startup_reports_median_and_minimum() {
        let times = [5, 1, 3].map(Duration::from_millis).to_vec();
        assert_eq!(
            startup_line(times.clone(), 0),
            "start-up: median 3.00 ms, minimum 1.00 ms of 3 starts"
        );
        assert!(startup_line(times, 1).ends_with("(it ended with code 1)"));
    }
}
