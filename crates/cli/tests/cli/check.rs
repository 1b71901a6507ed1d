//! `einlang check`.

use crate::support::Sandbox;

#[test]
fn a_file_is_checked() {
    let sandbox = Sandbox::with("good.ein", "let x = 1;\n");
    sandbox.einlang(&["check", "good.ein"]).ends_with(0).says("", "checked 1 file: no errors\n");
    sandbox.einlang(&["check", "-q", "good.ein"]).ends_with(0).says("", "");
}

#[test]
fn several_files_are_reported_in_order() {
    let sandbox = Sandbox::with("b.ein", "let x = 1 < 2 < 3;\n");
    sandbox.write("a.ein", "let s = \"open;\n");
    sandbox.write("good.ein", "let x = 1;\n");
    sandbox.transcript("check-several", &["check", "b.ein", "good.ein", "a.ein"]).ends_with(1);
}

#[test]
fn directories_are_searched() {
    let sandbox = Sandbox::with("src/b.ein", "let x = 1;\n");
    sandbox.write("src/deep/a.ein", "let y = ;\n");
    sandbox.write("src/.cache/c.ein", "let = ;\n");
    sandbox.write("src/notes.md", "let = ;\n");
    let answer = sandbox.einlang(&["check", "."]).ends_with(1);
    assert!(answer.stderr.contains(" --> src/deep/a.ein:1:9\n"), "{}", answer.stderr);
    assert!(answer.stderr.ends_with("checked 2 files: 1 error\n"), "{}", answer.stderr);
}

#[test]
fn a_directory_without_programs_is_worth_a_warning() {
    let sandbox = Sandbox::with("empty/readme.md", "");
    sandbox.transcript("check-empty-directory", &["check", "empty"]).ends_with(0);
}

#[test]
fn one_bad_path_does_not_hide_the_others() {
    let sandbox = Sandbox::with("good.ein", "let x = 1;\n");
    let answer = sandbox.einlang(&["check", "none.ein", "good.ein"]).ends_with(1);
    assert!(answer.stderr.starts_with("error[E0901]"), "{}", answer.stderr);
    assert!(answer.stderr.ends_with("checked 2 files: 1 error\n"), "{}", answer.stderr);
}

#[test]
fn text_and_standard_input_are_checked_too() {
    let sandbox = Sandbox::new();
    sandbox.einlang(&["check", "-c", "let x = 1;"]).ends_with(0);
    sandbox.einlang(&["check", "-c", "let x = ;"]).ends_with(1);
    sandbox.einlang_with_stdin(&["check", "-"], b"let x = 1;").ends_with(0);
    sandbox.einlang_with_stdin(&["check", "-"], b"let x = ;").ends_with(1);
}

#[test]
fn coordinates_are_printed_when_wanted() {
    let layer = "fn layer(x: [f32; batch, in], W: [f32; class, in]) -> [f32; batch, class] {\n    \
                 let y[batch, class] = sum[in](x[batch, in] * W[class, in]);\n    y\n}\n\
                 let y = layer([[1.0, 2.0]], [[3.0, 4.0]]);\n";
    let sandbox = Sandbox::with("layer.ein", layer);
    sandbox.transcript("check-coords", &["check", "--coords", "layer.ein"]).ends_with(0);
    let printed = sandbox.einlang(&["ir", "--after", "coords", "layer.ein"]).stdout;
    let checked = sandbox.einlang(&["check", "-q", "--coords", "layer.ein"]).ends_with(0);
    checked.says(&printed, "");
}

#[test]
fn shapes_are_printed_when_wanted() {
    let program = "fn smooth(x: [f32; N], w: [f32; K]) -> [f32; N - K + 1] {\n    \
                   let y[i] = sum[k](w[k] * x[i + k]);\n    y\n}\n\
                   let h[0] = 1.0;\nlet g[0] = 2.0;\n\
                   let h[t in 1..9] = 0.5 * h[t - 1] + g[t - 1];\n\
                   let g[t in 1..9] = z + 1.0 where z = h[t];\n\
                   let (low, high) = (smooth(h, [0.5, 0.5]), sum[t](g[t]));\n\
                   let A = [[1.0, 2.0], [3.0, 4.0]];\n\
                   let B[..r] = 2.0 * A[..r];\n\
                   let inner = {\n    let square = A[0, 0] * A[0, 0];\n    sum[i, j](square * B[i, j])\n};\n\
                   print(max[i](low[i]));\n";
    let sandbox = Sandbox::with("model.ein", program);
    sandbox.transcript("check-shapes", &["check", "--shapes", "model.ein"]).ends_with(0);
    let printed = sandbox.einlang(&["ir", "--after", "shapes", "model.ein"]).stdout;
    sandbox.einlang(&["check", "-q", "--shapes", "model.ein"]).ends_with(0).says(&printed, "");
}

#[test]
fn shapes_of_the_library_are_not_shown() {
    let program = "use std::ml::softmax;\nlet y = softmax([1.0, 2.0]);\n";
    let sandbox = Sandbox::with("model.ein", program);
    let answer = sandbox.einlang(&["check", "-q", "--shapes", "model.ein"]).ends_with(0);
    answer.says("model.ein:2  y: [f32; 2]\n", "");
}

#[test]
fn one_thing_is_printed_at_a_time() {
    let sandbox = Sandbox::with("model.ein", "let x = 1;\n");
    let both = &["check", "--coords", "--shapes", "model.ein"];
    sandbox.transcript("check-coords-and-shapes", both).ends_with(2);
}

#[test]
fn gaps_are_warnings_errors_or_unseen() {
    let program = "let x[i in 2..5] = 1.0;\nlet y = x[4];\n";
    let sandbox = Sandbox::with("gap.ein", program);
    let answer = sandbox.einlang(&["check", "gap.ein"]).ends_with(0);
    assert!(answer.stderr.starts_with("warning[W0305]"), "{}", answer.stderr);
    sandbox.transcript("check-strict", &["check", "--strict", "gap.ein"]).ends_with(1);
    let unseen = sandbox.einlang(&["check", "--strict", "--outputs", "y", "gap.ein"]).ends_with(0);
    unseen.says("", "checked 1 file: no errors\n");
    let seen = sandbox.einlang(&["check", "--strict", "--outputs", "y,x", "gap.ein"]);
    assert!(seen.ends_with(1).stderr.starts_with("error[E0305]"));
    sandbox.transcript("outputs-without-names", &["check", "gap.ein", "--outputs"]).ends_with(2);
}

#[test]
fn recurrences_without_a_base_may_be_filled_with_zeros() {
    let sandbox = Sandbox::with("walk.ein", "let x[t in 1..5] = 1.0 + x[t - 1];\n");
    let answer = sandbox.einlang(&["check", "walk.ein"]).ends_with(1);
    assert!(answer.stderr.starts_with("error[E0502]"), "{}", answer.stderr);
    let answer = sandbox.einlang(&["check", "--zero-fill", "walk.ein"]).ends_with(0);
    assert!(answer.stderr.starts_with("warning[W0305]"), "{}", answer.stderr);
    sandbox.einlang(&["check", "--zero-fill", "--strict", "walk.ein"]).ends_with(1);
}

#[test]
fn line_ends_and_marks_of_other_systems_are_fine() {
    let sandbox = Sandbox::with("dos.ein", "\u{feff}let x = 1;\r\nlet y = 2;\r\n");
    sandbox.einlang(&["check", "dos.ein"]).ends_with(0);
}

#[test]
fn modules_of_a_directory_are_checked_with_their_program() {
    let sandbox = Sandbox::with("main.ein", "mod a;\nfn one() { 1 }\nlet x = a::two();\n");
    sandbox.write("a.ein", "pub fn two() { crate::one() + 1 }\n");
    sandbox.einlang(&["check", "."]).ends_with(0).says("", "checked 2 files: no errors\n");
    sandbox.write("a.ein", "pub fn two() { crate::oen() + 1 }\n");
    let answer = sandbox.einlang(&["check", "."]).ends_with(1);
    assert!(answer.stderr.contains("error[E0112]"), "{}", answer.stderr);
    assert!(answer.stderr.contains("--> a.ein:1:23"), "{}", answer.stderr);
    assert!(answer.stderr.ends_with("checked 2 files: 1 error\n"), "{}", answer.stderr);
}
