//! Printing changes no derivative: neither of values that were printed before the request, nor of
//! values that went through functions which print.

use einlang_driver::run::RunOptions;
use einlang_interp::io::MemoryIo;
use einlang_testkit::generate::Source;
use einlang_tir::passes::Mode;

use super::program::{Made, program};
use super::{agree, build, largest, n_programs, numbers, run, words};

/// Functions that print and give back what they take.
const TOLD: &str = "fn told0(x: f64) -> f64 { print(\"told\"); x * 1.0 }\n\
                    fn told1(x: [f64; 4]) -> [f64; 4] { print(\"told\"); x * 1.0 }\n\
                    fn told2(x: [f64; 4, 4]) -> [f64; 4, 4] { print(\"told\"); x * 1.0 }\n";

/// The same with rules, one in each direction and one that is used in the middle of others.
const RULED: &str = "@fn told0(x) { @x * 1.0 }\n\
                     @fn told1(x) from @r { @r * 1.0 }\n\
                     @fn told2(x) { let d[i, j] = @x[i, j] * 1.0; d }\n";

/// The same as derivatives: of half the square of what they take.
const ASKING: &str = "fn told0(x: f64) -> f64 { print(\"told\"); let y = x * x * 0.5; @y / @x }\n\
     fn told1(x: [f64; 4]) -> [f64; 4] {\n\
         let y[i in 0..4] = x[i] * x[i] * 0.5;\n\
         print(y);\n\
         let d[i in 0..4] = sum[j in 0..4](@y[j] / @x[i]);\n\
         d\n\
     }\n\
     fn told2(x: [f64; 4, 4]) -> [f64; 4, 4] {\n\
         print(\"told\");\n\
         let y = sum[i in 0..4, j in 0..4](x[i, j] * halved(x[i, j]));\n\
         @y / @x\n\
     }\n\
     fn halved(x: f64) -> f64 { let y = x * x * 0.25; @y / @x }\n";

/// The name that a line binds.
fn bound(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("let ")?;
    rest.split(['[', ' ', ':']).next()
}

/// The text with some bindings printed after their last clause, and some told to a function, whose
/// result stands for them afterwards.
fn disturbed(source: &mut Source<'_>, made: &Made) -> String {
    let mut text = String::new();
    let mut replaced: Vec<String> = Vec::new();
    let lines: Vec<&str> = made.text.lines().collect();
    for (at, line) in lines.iter().enumerate() {
        text.push_str(&with_names(line, &replaced));
        text.push('\n');
        let Some(name) = bound(line) else { continue };
        let is_last = lines[at + 1..].iter().all(|later| bound(later) != Some(name));
        let rank = made.bindings.iter().find(|known| known.0 == name).map(|known| known.1);
        let (Some(rank), true) = (rank, is_last) else { continue };
        match source.below(4) {
            0 | 1 => text.push_str(&format!("print({name});\n")),
            2 => {
                text.push_str(&format!("let told_{name} = told{rank}({name});\n"));
                replaced.push(name.to_owned());
            }
            _ => {}
        }
    }
    text
}

/// The line with names replaced by what a function gave for them, but where they are defined.
fn with_names(line: &str, replaced: &[String]) -> String {
    let mut text = String::new();
    let mut word = String::new();
    for c in line.chars().chain(['\n']) {
        if c.is_alphanumeric() || c == '_' {
            word.push(c);
            continue;
        }
        if replaced.contains(&word) {
            text.push_str("told_");
        }
        text.push_str(&word);
        word.clear();
        text.push(c);
    }
    text.trim_end().to_owned()
}

fn check(seed: u64) -> usize {
    let mut source = Source::from_seed(seed);
    let n_bindings = 2 + source.below(6);
    let made = program(&mut source, n_bindings, seed % 4 == 3);
    let target = made.bindings.len() - 1;
    let moved = source.below(target);
    let (y, p) = (&made.bindings[target].0, &made.bindings[moved].0);
    let plain = format!("{}let J = @{y} / @{p};\n", made.text);
    let told = format!("{}let J = @{y} / @{p};\n", disturbed(&mut source, &made));
    let told = match seed % 3 {
        0 => format!("{TOLD}{told}"),
        1 => format!("{TOLD}{RULED}{told}"),
        _ => format!("{ASKING}{told}"),
    };
    let values = [&plain, &told].map(|text| {
        run(&build(text, &["J".to_owned()], Mode::Cheaper), &made, usize::MAX, &[], 0.0).remove(0)
    });
    let [plain, printed] = &values;
    assert_eq!(plain.len(), printed.len(), "seed {seed}\n{told}");
    for (at, (a, b)) in plain.iter().zip(printed).enumerate() {
        let agree = agree(*a, *b, largest(plain));
        assert!(agree, "{a}, printed {b} at {at}, seed {seed}\n{told}");
    }
    plain.iter().filter(|entry| **entry != 0.0).count()
}

#[test]
fn printing_changes_no_derivative() {
    let n = n_programs() / 4;
    let n_compared: usize = (2_000_000..2_000_000 + n).map(check).sum();
    assert!(n_compared as u64 >= n, "only {n_compared} derivatives were compared");
}

/// What a rule says is never passed over: these rules are wrong on purpose.
#[test]
fn rules_of_functions_that_print_or_recur_are_used() {
    let ways = ["(x) { 100.0 * x * @x }", "(x) from @r { 100.0 * x * @r }"];
    for body in ["print(\"told\"); x * x", "if x > 10.0 { x } else { told(x * 2.0) }"] {
        for way in ways {
            let text = format!(
                "fn told(x: f64) -> f64 {{ {body} }}\n@fn told{way}\n\
                 let a: f64 = 3.0;\nlet y = told(a) * 2.0;\nlet d = @y / @a;\n\
                 let dd = @d / @a;\n"
            );
            let built = build(&text, &["d".to_owned(), "dd".to_owned()], Mode::Cheaper);
            let mut io = MemoryIo::default();
            let outcome = built.run(&RunOptions::default(), &mut io);
            let outcome = outcome.unwrap_or_else(|why| panic!("{}\n{text}", words(&why)));
            let found: Vec<f64> =
                outcome.outputs.iter().flat_map(|output| numbers(&output.value)).collect();
            assert_eq!(found, [600.0, 200.0], "{text}");
        }
    }
}
