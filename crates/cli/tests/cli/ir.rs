//! `einlang ir`.

use crate::support::Sandbox;

#[test]
fn stages_are_listed() {
    Sandbox::new().transcript("ir-list", &["ir", "--list"]).ends_with(0);
}

#[test]
fn each_stage_prints_the_program() {
    let sandbox = Sandbox::with("model.ein", "let x = 1; // one\n");
    sandbox.transcript("ir-lex", &["ir", "model.ein", "--after", "lex"]).ends_with(0);
    sandbox.transcript("ir-parse", &["ir", "model.ein", "--after", "parse"]).ends_with(0);
    sandbox.transcript("ir-names", &["ir", "model.ein", "--after", "names"]).ends_with(0);
    sandbox.transcript("ir-types", &["ir", "model.ein", "--after", "types"]).ends_with(0);
    sandbox.transcript("ir-coords", &["ir", "model.ein", "--after", "coords"]).ends_with(0);
    sandbox.transcript("ir-shapes", &["ir", "model.ein", "--after", "shapes"]).ends_with(0);
}

#[test]
fn the_last_stage_is_the_default() {
    let sandbox = Sandbox::new();
    let last = sandbox.einlang(&["ir", "-c", "let x = 1;", "--after", "shapes"]).stdout;
    sandbox.einlang(&["ir", "-c", "let x = 1;"]).ends_with(0).says(&last, "");
    let piped = last.replace("<command line>", "<standard input>");
    sandbox.einlang_with_stdin(&["ir", "-"], b"let x = 1;").ends_with(0).says(&piped, "");
}

#[test]
fn a_program_with_errors_is_printed_as_well() {
    let sandbox = Sandbox::new();
    let answer = sandbox.einlang(&["ir", "-c", "let x = ;"]).ends_with(1);
    assert!(answer.stdout.starts_with("SOURCE_FILE @0..9\n"), "{}", answer.stdout);
    assert!(answer.stderr.starts_with("error[E0101]"), "{}", answer.stderr);
}

#[test]
fn an_unknown_stage_is_wrong_usage() {
    let answer = Sandbox::new().einlang(&["ir", "-c", "", "--after", "prase"]).ends_with(2);
    assert!(answer.stderr.contains("similar value exists: 'parse'"), "{}", answer.stderr);
}

const SUMS: &str = "input n: i32 = 5;
let x[i in 0..n] = i as f32 * 0.5;
print(sum[i](x[i] * x[i]));
let y[i in 0..n] = exp(x[i]) + 1.0;
print(y[0]);
";

#[test]
fn schedules_and_loops_have_short_names() {
    let sandbox = Sandbox::with("sums.ein", SUMS);
    for (short, pass) in [("schedule", "decide"), ("loops", "lower_loops")] {
        let wanted = sandbox.einlang(&["ir", "sums.ein", "--after", pass]).ends_with(0).stdout;
        assert_eq!(sandbox.einlang(&["ir", "sums.ein", "--after", short]).stdout, wanted);
    }
}

#[test]
fn one_kernel_can_be_asked_for() {
    let sandbox = Sandbox::with("sums.ein", SUMS);
    let all = sandbox.einlang(&["ir", "sums.ein", "--after", "loops"]).ends_with(0).stdout;
    let kernels: Vec<&str> = all.lines().filter_map(|line| line.strip_prefix("kernel ")).collect();
    let names: Vec<&str> = kernels.iter().map(|line| line.trim_end_matches(" {")).collect();
    assert_eq!(names.len(), 2, "{all}");
    let one = sandbox.einlang(&["ir", "sums.ein", "--after", "loops", "--kernel", names[1]]);
    assert!(all.ends_with(&one.stdout) && one.stdout.starts_with("kernel "), "{}", one.stdout);
    let args = ["ir", "sums.ein", "--after", "loops", "--kernel", "none"];
    let answer = sandbox.einlang(&args).ends_with(2);
    assert!(answer.stderr.contains("there is no kernel `none`"), "{}", answer.stderr);
    assert!(answer.stderr.contains(&format!("`{}`", names[0])), "{}", answer.stderr);
    let early = sandbox.einlang(&["ir", "sums.ein", "--after", "lex", "--kernel", names[0]]);
    assert!(early.ends_with(2).stderr.contains("the stage `lex` has no kernels"));
}

#[test]
fn machine_code_is_printed_where_there_is_llvm() {
    let sandbox = Sandbox::with("sums.ein", SUMS);
    let all = sandbox.einlang(&["ir", "sums.ein", "--after", "loops"]).stdout;
    let kernels = all.lines().filter_map(|line| line.strip_prefix("kernel "));
    for (stage, before) in [("llvm", "define i64 @"), ("llvm_passes", "i64 @"), ("asm", ".globl\t")]
    {
        let text = sandbox.einlang(&["ir", "sums.ein", "--after", stage]).ends_with(0).stdout;
        for kernel in kernels.clone() {
            let name = kernel.trim_end_matches(" {");
            match cfg!(feature = "native") {
                true => assert!(text.contains(&format!("{before}{name}")), "{stage}: {text}"),
                false => assert!(text.contains(&format!("`{name}` has no machine code")), "{text}"),
            }
        }
        // Floats are computed as they are written: nothing may be reassociated or assumed.
        let flags =
            [" fast ", " reassoc ", " nnan ", " ninf ", " nsz ", " arcp ", " contract ", " afn "];
        assert!(flags.iter().all(|flag| !text.contains(flag)), "{stage}: {text}");
    }
}

#[test]
fn threads_are_a_small_number() {
    let run = &["run", "-c", "print(1);", "--threads"];
    for (name, n) in [("threads-none", "0"), ("threads-many", "1000")] {
        let args: Vec<&str> = run.iter().copied().chain([n]).collect();
        Sandbox::new().transcript(name, &args).ends_with(2);
    }
}

#[test]
fn what_a_tile_needs_after_its_sum_is_fetched_before_it() {
    if !cfg!(feature = "native") {
        return;
    }
    let n_fetched = |beside: &str| {
        let text = format!(
            "let a[i in 0..60, k in 0..200] = ((i + k) % 7) as f32;
             let b[k in 0..200, j in 0..64] = ((2 * k + j) % 5) as f32;
             let c[i in 0..60, j in 0..64] = ((i * j) % 9) as f32;
             let y[i in 0..60, j in 0..64] = {beside} + sum[k](a[i, k] * b[k, j]);
             print(sum[i, j](y[i, j] * c[i, j]));\n"
        );
        let sandbox = Sandbox::with("tiles.ein", &text);
        let text = sandbox.einlang(&["ir", "tiles.ein", "--after", "llvm"]).ends_with(0).stdout;
        // How often the tile is there is another matter.
        let blocks = text.split("\n\n");
        let fetched = blocks.map(|block| block.matches("call void @llvm.prefetch").count());
        fetched.max().unwrap_or(0)
    };
    // Places that are stored to, and elements that are combined with sums.
    let (stored, both) = (n_fetched("1.0"), n_fetched("c[i, j]"));
    assert_eq!((24, 48), (stored, both));
}

#[test]
fn short_steps_are_written_out_and_fetched_for() {
    if !cfg!(feature = "native") {
        return;
    }
    let sandbox = Sandbox::with(
        "filter.ein",
        "fn filtered(x: [f64; N]) -> f64 {
             let y[t in 0..N] = 0.5 * y[t - 1 else 0.0] + 0.25 * y[t - 5 else 0.0] + x[t];
             y[N - 1]
         }
         let x[t in 0..1000] = (t % 17) as f64 / 16.0;
         print(filtered(x));\n",
    );
    let text = sandbox.einlang(&["ir", "filter.ein", "--after", "llvm"]).ends_with(0).stdout;
    // A fused product for each of the first five steps, of eight that are written out, and of the last ones.
    assert_eq!(text.matches("call double @llvm.fma.f64").count(), 5 + 8 + 1, "{text}");
    assert_eq!(text.matches("call void @llvm.prefetch").count(), 1, "{text}");
}

/// A panel is fetched once for all rows of a tile, and the one behind the last is none.
#[test]
fn panels_are_fetched_once() {
    if !cfg!(feature = "native") {
        return;
    }
    let fetches = |n_lanes: usize, n_terms: usize, term: &str| {
        let text = format!(
            "let a[i in 0..200, t in 0..{n_terms}] = (t * i % 7) as f32;
             let b[j in 0..{n_lanes}, t in 0..{n_terms}] = (t + j) as f32;
             let product[i, j] = sum[t]({term});
             print(product[3, 4]);\n"
        );
        let sandbox = Sandbox::with("panels.ein", &text);
        let text = sandbox.einlang(&["ir", "panels.ein", "--after", "llvm"]).ends_with(0).stdout;
        let is_kept_inside = |line: &&str| line.contains("%next") && line.contains("= select i1");
        let n_ahead = text.lines().filter(is_kept_inside).count();
        // And what a tile of twelve rows stores to: two lines of each.
        assert_eq!(text.matches("call void @llvm.prefetch").count(), n_ahead + 2 * 12, "{text}");
        n_ahead
    };
    // Tiles of twelve rows, of four, and of one, each with one term in a round.
    let product = "a[i, t] * b[j, t]";
    assert_eq!(fetches(300, 300, product), 3);
    // Rows in panels: the first two tiles have four terms in a round, of which two fetch, or one.
    assert_eq!(fetches(1031, 1000, product), 2 * 3 + 1);
    // Two terms of several operations.
    assert_eq!(fetches(1031, 1000, "abs(a[i, t] - b[j, t])"), 2 * 2 + 1);
}

#[test]
fn nests_are_functions_where_two_threads_can_compile_them() {
    if !cfg!(feature = "native") {
        return;
    }
    let n_pieces = |text: &str| {
        let sandbox = Sandbox::with("pieces.ein", text);
        let text = sandbox.einlang(&["ir", "pieces.ein", "--after", "llvm"]).ends_with(0).stdout;
        text.lines().filter(|line| line.starts_with("define") && line.contains("_piece_")).count()
    };
    // The pivots of a block, its tiles, and what makes and ends them.
    let paths = n_pieces(
        "fn paths(w: [f32; N, N]) -> [f32; N, N] {
             let d[0, i, j] = w[i, j];
             let d[k in 1..N + 1, i in 0..N, j in 0..N] =
                 min(d[k - 1, i, j], d[k - 1, i, k - 1] + d[k - 1, k - 1, j]);
             d[N]
         }
         fn main(n: i64 = 600) {
             let w[i in 0..n, j in 0..n] = ((i * 7 + j * 13) % 31) as f32 + 1.0;
             let d = paths(w);
             print(d[3, 5]);
         }\n",
    );
    assert!((3..10).contains(&paths), "{paths}");
    let small = n_pieces(
        "fn main(n: i64 = 600) {
             let x[i in 0..n, j in 0..n] = (i - j) as f32;
             print(sum[i, j](x[i, j]));
         }\n",
    );
    assert_eq!(small, 0);
}
