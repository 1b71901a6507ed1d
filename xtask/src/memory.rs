//! `cargo xtask bench memory`: how much tensor storage long recurrences take, as the allocator of the
//! run counts it.

use crate::process;
use crate::project::Project;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// A program of `bench/memory` and how it is run.
struct Row {
    name: &'static str,
    /// The output that is observed.
    output: &'static str,
    /// Further arguments.
    with: &'static [&'static str],
    /// The most bytes it may take, and what those are.
    most: u64,
    what: &'static str,
}

const ROWS: [Row; 9] = [
    Row {
        name: "edit_distance",
        output: "distance",
        with: &[],
        most: 1 << 20,
        what: "1 MiB; two rows of 20,000 numbers are 160,000 bytes",
    },
    Row {
        name: "heat",
        output: "warmest",
        with: &[],
        most: 2 * 512 * 512 * 4 + 512,
        what: "two planes of 512 by 512, and 512 bytes",
    },
    Row {
        name: "lookback",
        output: "last_one",
        with: &[],
        most: 11 * 4 + 512,
        what: "eleven numbers, and 512 bytes",
    },
    Row {
        name: "gradient",
        output: "slope",
        with: &["--checkpoint", "sqrt", "--input", "T=10000"],
        most: 8 * (2 * 257 + 40) + 1024,
        what: "two segments of 257 planes, 40 checkpoints, and 1024 bytes",
    },
    Row {
        name: "gradient",
        output: "slope",
        with: &["--checkpoint", "sqrt", "--input", "T=1000000"],
        most: 8 * (2 * 1025 + 977) + 1024,
        what: "two segments of 1025 planes, 977 checkpoints, and 1024 bytes",
    },
    Row {
        name: "gradient_grid",
        output: "slope",
        with: &["--checkpoint", "sqrt", "--input", "T=1000000"],
        most: 8 * 8 * (2 * 1026 + 977) + 1024,
        what: "two segments of 1026 rows, 977 checkpoints of a row, and 1024 bytes",
    },
    Row {
        name: "gradient_until",
        output: "slope",
        with: &["--checkpoint", "sqrt", "--input", "T=1000000"],
        most: 8 * (4 * 1026 + 2 * 977) + 1024,
        what: "four segments of 1026 planes, twice 977 checkpoints, and 1024 bytes",
    },
    Row {
        name: "gradient_pair",
        output: "slope",
        with: &["--checkpoint", "sqrt", "--input", "T=1000000"],
        most: 8 * (4 * 1026 + 2 * 977) + 1024,
        what: "four segments of 1026 planes, twice 977 checkpoints, and 1024 bytes",
    },
    Row {
        name: "gradient",
        output: "slope",
        with: &["--checkpoint", "none", "--input", "T=1000000"],
        most: 2 * 8 * 1_000_000 + 1024,
        what: "two trajectories of a million numbers, and 1024 bytes",
    },
];

/// Runs each program, prints its storage, and fails if one takes more than it may.
pub(crate) fn measure(project: &Project, binary: &Path) -> Result<(), String> {
    let mut over = Vec::new();
    for Row { name, output, with, most, what } in ROWS {
        let program = project.root.join("bench/memory").join(name).with_extension("ein");
        let start = Instant::now();
        let mut run = Command::new(binary);
        run.args(["run", "--explain", "--outputs", output]).args(with).arg(&program);
        let ended = process::capture(&mut run)?;
        let seconds = start.elapsed().as_secs_f64();
        let told = String::from_utf8_lossy(&ended.stderr).into_owned();
        let bytes = bytes_of(&told).ok_or(format!("{name} did not run:\n{told}"))?;
        let shown = [&[name], with].concat().join(" ");
        println!("{shown:<44} {bytes:>9} bytes of tensors, {seconds:6.1} s  (at most {what})");
        if bytes > most {
            over.push(name);
        }
    }
    match over.is_empty() {
        true => Ok(()),
        false => Err(format!("too much memory: {}", over.join(", "))),
    }
}

/// The bytes of `note: at most 240 bytes for values`.
fn bytes_of(told: &str) -> Option<u64> {
    let line = told.lines().find(|line| line.ends_with("bytes for values"))?;
    line.split_whitespace().find_map(|word| word.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::bytes_of;

    #[test]
    fn the_note_of_a_run_is_understood() {
        let told = "note: `part` ran as loops\nnote: at most 240 bytes for values\n";
        assert_eq!((bytes_of(told), bytes_of("note: nothing")), (Some(240), None));
    }
}
