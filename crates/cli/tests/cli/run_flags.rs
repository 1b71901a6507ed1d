//! The options of `einlang run`, and their misuse.

use crate::support::{Answer, Sandbox};

/// The object that `--json` prints, as a value.
#[track_caller]
fn object(answer: &Answer) -> serde_json::Value {
    assert_eq!(answer.code, 0, "{answer:#?}");
    serde_json::from_str(&answer.stdout).expect("one object")
}

#[test]
fn json_is_one_object_and_printing_goes_elsewhere() {
    let sandbox = Sandbox::with("m.ein", "let x = [1, 2];\nprint(\"hello\");\n");
    let answer = sandbox.einlang(&["run", "m.ein", "--json"]);
    let found = object(&answer);
    assert_eq!(found["outputs"]["x"]["type"], "[i32; 2]");
    assert_eq!(found["outputs"]["x"]["data"], serde_json::json!([1, 2]));
    assert!(found["storage"].is_object() && found["timings"]["run"].is_number());
    assert_eq!(answer.stderr, "hello\n");
    let answer = sandbox.einlang(&["run", "m.ein", "--json", "--message-format", "json"]);
    let line: serde_json::Value = serde_json::from_str(&answer.stderr).expect("one object");
    assert_eq!((&line["severity"], &line["message"]), (&"print".into(), &"hello".into()));
    let main = sandbox.einlang(&["run", "-c", "fn main() -> f32 { 0.5 }", "--json"]);
    assert_eq!(object(&main)["outputs"]["main"]["data"], 0.5);
}

#[test]
fn outputs_are_chosen_by_name() {
    let sandbox = Sandbox::with("m.ein", "let count = 1;\nlet total = 2;\n");
    let found = object(&sandbox.einlang(&["run", "m.ein", "--json", "--outputs", "total"]));
    assert_eq!(found["outputs"].as_object().map(serde_json::Map::len), Some(1));
    sandbox.transcript("run-unknown-output", &["run", "m.ein", "--outputs", "totla"]).ends_with(2);
    sandbox.transcript("run-allow-python", &["run", "--allow-python", "m.ein"]).ends_with(2);
}

#[test]
fn variables_that_make_no_sense_are_refused() {
    let sandbox = Sandbox::with("m.ein", "print(1);\n");
    let with = |name: &str, value: &str, args: &[&str]| {
        let mut command = sandbox.command(args);
        Answer::of(&command.env(name, value).output().expect("the binary ends"))
    };
    let refused = |name: &str, value: &str, why: &str| {
        let wrong = format!("error: invalid value `{value}` of the variable `{name}`: {why}\n");
        let help = format!("  help: set `{name}` otherwise, or not at all\n");
        for command in ["run", "repl"] {
            let program: &[&str] = if command == "run" { &["run", "m.ein"] } else { &["repl"] };
            with(name, value, program).ends_with(2).says("", &format!("{wrong}{help}"));
        }
        with(name, "", &["run", "m.ein"]).ends_with(0);
    };
    refused("EINLANG_COMPILE", "fast", "machine code is made `quick`, `thorough` or `tiered`");
    refused("EINLANG_THREADS", "0", "a number of threads is 1 to 256");
    refused("EINLANG_LEAST_WORK", "little", "an amount of work is a number");
    with("EINLANG_THREADS", "many", &["run", "m.ein", "--threads", "1"]).ends_with(0);
    with("EINLANG_COMPILE", "fast", &["run", "m.ein", "--compile", "quick"]).ends_with(0);
}

const RECURRENCE: &str = "\
input n: i32 = 10;
fn count(n: i32) -> i32 {
    let x[0] = 1;
    let x[1] = 3;
    let x[t in 2..n] = 2 * x[t - 1] - x[t - 2];
    x[n - 1]
}
print(count(n));
";

#[test]
fn schedules_that_are_not_legal_are_refused() {
    let sandbox = Sandbox::with("m.ein", RECURRENCE);
    let printed = sandbox.einlang(&["ir", "m.ein", "--after", "decide"]).ends_with(0).stdout;
    sandbox.write("m.schedule", &printed);
    let call = ["run", "m.ein", "--schedule", "m.schedule"];
    sandbox.einlang(&call).ends_with(0).says("19\n", "");
    assert!(printed.contains("[mod 3]"), "{printed}");
    sandbox.write("m.schedule", printed.replace("[mod 3]", "[mod 1]"));
    sandbox.transcript("run-window-too-narrow", &call).ends_with(2);
    let by_time = "loop x/0 by (1), x/1 by (1), x/2 by (1)";
    let back = printed.replace(by_time, "loop x/0 by (-1), x/1 by (-1), x/2 by (-1)");
    sandbox.write("m.schedule", back.replace("[mod 3]", "[full]"));
    sandbox.transcript("run-order-not-kept", &call).ends_with(2);
    let name = printed.split_whitespace().nth(1).expect("the name of the module");
    sandbox.write("m.schedule", printed.replacen(name, "other", 1));
    sandbox.transcript("run-schedule-of-nothing", &call).ends_with(2);
    let bench = ["bench", "m.ein", "--schedule", "m.schedule"];
    sandbox.einlang(&bench).ends_with(2);
}

const INPUTS: &str = "\
input A: [f32; N, 2];
input lr: f32 = 0.5;
let s[i] = sum[j](A[i, j]) * lr;
print(s, N);
";

#[test]
fn inputs_are_literals_and_files() {
    let sandbox = Sandbox::with("m.ein", INPUTS);
    let says = |inputs: &[&str], stdout: &str| {
        let mut args = vec!["run", "m.ein"];
        inputs.iter().for_each(|input| args.extend(["--input", input]));
        sandbox.einlang(&args).ends_with(0).says(stdout, "");
    };
    says(&["A=[[1, 2], [3, 4]]"], "[1.5, 3.5] 2\n");
    says(&["A=[[1, 2]]", "lr=2"], "[6.0] 1\n");
    sandbox.write("a.csv", "x,y\n1,2\n3,4\n");
    says(&["A=a.csv"], "[1.5, 3.5] 2\n");
    sandbox.write("a.json", "[[1, 2.5], [\"inf\", 4]]");
    says(&["A=a.json"], "[1.75, inf] 2\n");
    let save = "use std::io::save_npy; save_npy(\"a.npy\", [[1i64, 2i64]]);";
    sandbox.einlang(&["-c", save]).ends_with(0);
    says(&["A=a.npy"], "[1.5] 1\n");
}

#[test]
fn inputs_can_be_misused() {
    let sandbox = Sandbox::with("m.ein", INPUTS);
    let transcript = |name: &str, inputs: &[&str]| {
        let mut args = vec!["run", "m.ein"];
        inputs.iter().for_each(|input| args.extend(["--input", input]));
        sandbox.transcript(name, &args)
    };
    transcript("run-missing-input", &[]).ends_with(1);
    transcript("run-unknown-input", &["A=[[1, 2]]", "rl=2"]).ends_with(2);
    transcript("run-ill-typed-input", &["A=[[1, 2, 3]]", "lr=true"]).ends_with(1);
    transcript("run-input-without-value", &["A"]).ends_with(2);
    transcript("run-input-twice", &["lr=1", "lr=2"]).ends_with(2);
    transcript("run-input-file-missing", &["A=none.npy"]).ends_with(1);
    sandbox.write("bad.npy", b"\x93NUMPY\x01\x00\xff\xff{");
    transcript("run-input-malformed", &["A=bad.npy"]).ends_with(1);
}

#[test]
fn limits_are_kept() {
    let sandbox = Sandbox::new();
    let walk = "let x[0] = 1; let x[t in 1..100000] = x[t - 1] * 3 % 1000;";
    let deep = "fn f(n: i32) -> i32 { if n == 0 { 0 } else { 1 + f(n - 1) } } let x = f(100);";
    let wide = "let x = [100i8, 100i8]; let y = x[0] + x[1];";
    for (program, flags, code) in [
        (walk, &["--max-memory", "10K"][..], "E0801"),
        (walk, &["--max-steps", "1000"], "E0803"),
        (walk, &["--timeout", "1ms"], "E0803"),
        (deep, &["--max-depth", "50"], "E0802"),
        (wide, &["--checked"], "E0704"),
    ] {
        let answer = sandbox.einlang(&[&["run", "-c", program], flags].concat()).ends_with(1);
        assert!(answer.stderr.starts_with(&format!("error[{code}]")), "{}", answer.stderr);
        sandbox.einlang(&["run", "-q", "-c", program]).ends_with(0);
    }
}

#[test]
fn amounts_and_backends_can_be_misused() {
    let sandbox = Sandbox::new();
    let run = |flags: &[&'static str]| [&["run", "-c", "let x = 1;"], flags].concat();
    sandbox.transcript("run-unknown-backend", &run(&["--backend", "magic"])).ends_with(2);
    sandbox.transcript("run-bad-memory", &run(&["--max-memory", "much"])).ends_with(2);
    sandbox.transcript("run-bad-timeout", &run(&["--timeout", "soon"])).ends_with(2);
    sandbox.einlang(&run(&["--max-steps", "-1"])).ends_with(2);
    sandbox.einlang(&run(&["--max-depth", "deep"])).ends_with(2);
    sandbox.einlang(&run(&["--backend", "interp", "-q"])).ends_with(0).says("", "");
}

#[test]
fn files_outside_need_permission() {
    let sandbox = Sandbox::new();
    let read = "use std::io::read_text;\nprint(read_text(\"../notes.txt\"));\n";
    let write = "use std::io::write_text;\nwrite_text(\"../out.txt\", \"done\");\n";
    sandbox.write("project/read.ein", read);
    sandbox.write("project/write.ein", write);
    sandbox.write("notes.txt", "secret");
    sandbox.transcript("run-read-outside", &["run", "project/read.ein"]).ends_with(1);
    sandbox.transcript("run-write-outside", &["run", "project/write.ein"]).ends_with(1);
    let wrong = ["run", "project/read.ein", "--allow-write", "."];
    sandbox.einlang(&wrong).ends_with(1);
    let allowed = ["run", "project/read.ein", "--allow-read", "notes.txt", "--allow-read", "other"];
    sandbox.einlang(&allowed).ends_with(0).says("secret\n", "");
    sandbox.einlang(&["run", "project/write.ein", "--allow-write", "."]).ends_with(0);
    assert_eq!(sandbox.read("out.txt"), "done");
}

#[test]
fn a_program_that_stops_has_printed_before() {
    let sandbox =
        Sandbox::with("m.ein", "print(\"first\");\nlet x = [1, 0];\nlet y[i] = 1 / x[i];\n");
    sandbox.transcript("run-stopped", &["run", "m.ein"]).ends_with(1);
    let answer = sandbox.einlang(&["run", "m.ein", "--json"]).ends_with(1);
    assert_eq!(answer.stdout, "", "there is no answer");
}

#[cfg(unix)]
mod unix {
    use std::io::Read;
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    use crate::support::Sandbox;

    #[test]
    fn a_reader_that_goes_away_stops_the_program_quietly() {
        let program = "for i in 0..1000000 { print(i); }";
        let sandbox = Sandbox::new();
        let mut command = sandbox.command(&["run", "-c", program]);
        let mut child =
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a start");
        let mut stdout = child.stdout.take().expect("a pipe");
        stdout.read_exact(&mut [0; 16]).expect("the first bytes");
        drop(stdout);
        let output = child.wait_with_output().expect("an end");
        assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
    }

    #[test]
    fn an_interrupted_program_has_written_what_it_printed() {
        let sandbox = Sandbox::new();
        let program = "use std::io::write_text;\nprint(\"begun\");\nwrite_text(\"mark\", \"\");\n\
                       let x = sum[i in 0..1000000, j in 0..1000000](i * j % 7);\nprint(x);\n";
        sandbox.write("long.ein", program);
        let mut command = sandbox.command(&["run", "long.ein"]);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a start");
        let start = Instant::now();
        while !sandbox.path("mark").exists() {
            assert!(start.elapsed() < Duration::from_secs(60), "it never began");
            std::thread::sleep(Duration::from_millis(10));
        }
        let pid = child.id().to_string();
        let killed = Command::new("kill").args(["-INT", &pid]).status().expect("a signal");
        assert!(killed.success());
        let output = child.wait_with_output().expect("an end");
        assert_eq!(output.status.code(), Some(130));
        assert_eq!((&output.stdout[..], &output.stderr[..]), (&b"begun\n"[..], &b""[..]));
        let files = std::fs::read_dir(sandbox.path(".")).expect("a folder").count();
        assert_eq!(files, 2, "no temporary file is left");
    }
}

#[test]
fn checkpoints_have_a_plan() {
    let sandbox = Sandbox::with("m.ein", "let x = 1;\n");
    let wrong = |name: &str, plan: &str| {
        sandbox.transcript(name, &["run", "m.ein", "--checkpoint", plan]).ends_with(2);
    };
    wrong("run-unknown-checkpoint", "cube");
    wrong("run-no-checkpoints", "binomial:0");
    wrong("run-wrong-budget", "budget:much");
    for plan in ["none", "sqrt", "binomial:5", "budget:1M"] {
        sandbox.einlang(&["run", "m.ein", "--checkpoint", plan]).ends_with(0);
    }
}
