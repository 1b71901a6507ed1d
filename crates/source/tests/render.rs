//! Rendered diagnostics, compared with the files in `tests/render/`.
//!
//! Each test builds one diagnostic over a small program and names its snapshot. After an intended
//! change, `EINLANG_BLESS=1 cargo test -p einlang-source` rewrites the files; read the difference
//! before committing it. Escape characters of coloured output are written as `␛`.

use std::env;
use std::fs;
use std::path::Path;

use einlang_source::render::{self, Options};
use einlang_source::{Code, Diagnostic, Edit, FileId, Sources, Span};

/// One file, and spans found by what they cover.
struct Program {
    sources: Sources,
    file: FileId,
}

impl Program {
    fn new(text: &str) -> Program {
        let mut sources = Sources::new();
        let file = sources.add("tour.ein", text);
        Program { sources, file }
    }

    /// The first occurrence of `wanted`.
    #[track_caller]
    fn find(&self, wanted: &str) -> Span {
        self.find_in(self.file, wanted)
    }

    #[track_caller]
    fn find_in(&self, file: FileId, wanted: &str) -> Span {
        let start = self.sources.text(file).find(wanted).expect("the text holds what is wanted");
        Span::new(file, start as u32, (start + wanted.len()) as u32)
    }

    /// The first occurrence of `wanted` within the first occurrence of `context`.
    #[track_caller]
    fn part(&self, context: &str, wanted: &str) -> Span {
        let context_start = self.find(context).start;
        let start = context_start + context.find(wanted).expect("the context holds it") as u32;
        Span::new(self.file, start, start + wanted.len() as u32)
    }

    /// The place just after the first occurrence of `wanted`.
    #[track_caller]
    fn after(&self, wanted: &str) -> Span {
        Span::at(self.file, self.find(wanted).end)
    }

    fn end(&self) -> Span {
        Span::at(self.file, self.sources.text(self.file).len() as u32)
    }

    #[track_caller]
    fn check(&self, name: &str, diagnostic: &Diagnostic) {
        snapshot(name, &render::human(&self.sources, diagnostic, &Options::default()));
    }
}

#[track_caller]
fn snapshot(name: &str, got: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/render").join(name);
    let got = format!("{}\n", got.replace('\u{1b}', "␛"));
    if env::var_os("EINLANG_BLESS").is_some() {
        fs::write(&path, got).expect("the snapshot can be written");
        return;
    }
    let wanted = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(got, wanted, "{name} differs; EINLANG_BLESS=1 accepts the new text");
}

#[test]
fn single_label() {
    let program = Program::new("let a = [1.0, 2.0, 3.0];\nlet last = a[3];\n");
    let diagnostic = Diagnostic::error(
        Code::E0308,
        "subscript 3 is out of bounds for `a`",
        program.part("a[3]", "3"),
        "the axis has extent 3, so subscripts run from 0 to 2",
    )
    .with_help("the last element is `a[2]`");
    program.check("single_label.txt", &diagnostic);
}

#[test]
fn two_labels_on_one_line() {
    let program = Program::new("let c[i, j] = sum[k](a[i, k] * b[j, k]);\n");
    let diagnostic = Diagnostic::error(
        Code::E0308,
        "index `k` ranges over different extents",
        program.find("b[j, k]"),
        "here `k` runs to 5",
    )
    .with_label(program.find("a[i, k]"), "here `k` runs to 4")
    .with_help("swap the subscripts if `b` is stored as `[k, j]`");
    program.check("two_labels_on_one_line.txt", &diagnostic);
}

#[test]
fn labels_on_different_lines() {
    let text = "let n = 4;\nlet a[i in 0..n] = i;\n\n// far away\n\nlet y = a[n];\n";
    let program = Program::new(text);
    let diagnostic = Diagnostic::error(
        Code::E0308,
        "subscript `n` is out of bounds for `a`",
        program.part("a[n]", "n"),
        "this is 4",
    )
    .with_label(program.find("i in 0..n"), "the axis ends before `n`")
    .with_label(program.part("let n", "n"), "`n` is defined here")
    .with_note("ranges exclude their upper bound");
    program.check("labels_on_different_lines.txt", &diagnostic);
}

#[test]
fn two_files() {
    let mut program = Program::new("use linear::scale;\nlet y = scale(1.0, 2.0, 3.0);\n");
    let other = program.sources.add("lib/linear.ein", "\n\npub fn scale(x: f32, by: f32) { x }\n");
    let diagnostic = Diagnostic::error(
        Code::E0101,
        "`scale` takes 2 arguments, but 3 are given",
        program.find(", 3.0"),
        "one too many",
    )
    .with_label(program.find_in(other, "(x: f32, by: f32)"), "the parameters are declared here")
    .with_edit("remove the third argument", program.find(", 3.0"), "");
    program.check("two_files.txt", &diagnostic);
}

#[test]
fn tabs() {
    let program = Program::new("fn f(x: f32) {\n\tlet y\t= x + tru;\n\ty\n}\n");
    let diagnostic =
        Diagnostic::error(Code::E0101, "unknown name `tru`", program.find("tru"), "not defined")
            .with_label(program.part("let y", "y"), "needed for this")
            .with_edit("a keyword has a similar name", program.find("tru"), "true");
    program.check("tabs.txt", &diagnostic);
}

#[test]
fn wide_characters() {
    let program = Program::new("let 温度 = \"🚀 cafe\u{301}\" + β;\n");
    let diagnostic =
        Diagnostic::error(Code::E0101, "unknown name `β`", program.find("β"), "not defined")
            .with_label(program.find("温度"), "this is a `str`")
            .with_label(program.find("cafe\u{301}"), "five scalar values, four columns");
    program.check("wide_characters.txt", &diagnostic);
}

#[test]
fn empty_span_at_the_end_of_the_file() {
    let program = Program::new("fn f(x: f32) {\n    x * 2.0\n\n");
    let diagnostic = Diagnostic::error(
        Code::E0101,
        "expected `}`, found the end",
        program.end(),
        "expected `}`",
    )
    .with_label(program.find("{"), "this block is never closed")
    .with_edit("close the block", program.end(), "}\n");
    program.check("empty_span_at_the_end_of_the_file.txt", &diagnostic);
}

#[test]
fn multi_line_span() {
    let text = "let y = match x {\n    0 => 1,\n    1 => 2,\n    2 => 3,\n    3 => 4,\n};\n";
    let program = Program::new(text);
    let span = program.find("match x").cover(program.find("}"));
    let diagnostic =
        Diagnostic::error(Code::E0101, "match is not exhaustive", span, "`4..` is not covered")
            .with_label(program.part("match x", "x"), "this has type `i32`")
            .with_help("add an arm `_ => …`");
    program.check("multi_line_span.txt", &diagnostic);
}

#[test]
fn insertion_edit() {
    let program = Program::new("let x = 1\nlet y = 2;\n");
    let diagnostic =
        Diagnostic::error(Code::E0101, "expected `;`", program.after("= 1"), "expected `;` here")
            .with_label(program.find("let y"), "the next statement starts here")
            .with_edit("end the statement", program.after("= 1"), ";");
    program.check("insertion_edit.txt", &diagnostic);
}

#[test]
fn replacement_edits() {
    let program = Program::new("let inside = 0.0 < x < 1.0;\n");
    let chain = program.find("0.0 < x < 1.0");
    let second = Span::new(program.file, program.find("x < 1.0").start, chain.end);
    let edits = vec![Edit { span: second, replacement: "x && x < 1.0".into() }];
    let diagnostic = Diagnostic::error(Code::E0409, "comparisons do not chain", chain, "")
        .with_edits("compare twice", edits)
        .with_edit("or test the range", chain, "in_range(x, 0.0, 1.0)");
    program.check("replacement_edits.txt", &diagnostic);
}

#[test]
fn multi_line_edit() {
    let program = Program::new("fn f(x: f32) {\n    x * 2.0\n}\n");
    let edits = vec![
        Edit { span: program.find("x * 2.0"), replacement: "let y = x * 2.0;\n    y".into() },
        Edit { span: program.find("f(x"), replacement: "double(x".into() },
    ];
    let diagnostic = Diagnostic::error(Code::E0101, "name the result", program.find("x * 2.0"), "")
        .with_edits("bind it first", edits);
    program.check("multi_line_edit.txt", &diagnostic);
}

#[test]
fn several_notes_and_helps() {
    let program = Program::new("let data = load(\"weights.npy\");\n");
    let diagnostic = Diagnostic::error(
        Code::E0901,
        "file `weights.npy` does not exist",
        program.find("\"weights.npy\""),
        "",
    )
    .with_note("paths are relative to the project directory")
    .with_note("the project directory is\n`projects/tour`")
    .with_help("a file with a similar name exists: `weight.npy`")
    .with_edit("use that file", program.find("weights"), "weight")
    .with_help("or pass it with `--input data=…`");
    program.check("several_notes_and_helps.txt", &diagnostic);
}

#[test]
fn warning() {
    let program = Program::new("let t[i in 0..9] = 1.0;\nlet u[0] = 1.0;\nlet u[2] = 3.0;\n");
    let diagnostic =
        Diagnostic::warning(Code::E0308, "`u[1]` is not defined", program.find("u[2]"), "")
            .with_label(program.find("u[0]"), "the clauses leave out `u[1]`")
            .with_help("add a clause for `u[1]`");
    program.check("warning.txt", &diagnostic);
}

/// A line of 2000 characters with something to say about its beginning and its end.
fn long_line() -> Program {
    Program::new(&format!("let table = [{} oops, 7];\n", "1, ".repeat(660)))
}

#[test]
fn very_long_line() {
    let program = long_line();
    let diagnostic =
        Diagnostic::error(Code::E0101, "unknown name `oops`", program.find("oops"), "not defined")
            .with_edit("did you mean `loops`?", program.find("oops"), "loops");
    program.check("very_long_line.txt", &diagnostic);
}

#[test]
fn labels_far_apart_on_a_long_line() {
    let program = long_line();
    let all = program.find("[").cover(program.find("]"));
    let diagnostic =
        Diagnostic::error(Code::E0101, "unknown name `oops`", program.find("oops"), "not defined")
            .with_label(program.find("table"), "needed for this")
            .with_label(all, "the literal has 662 elements");
    program.check("labels_far_apart_on_a_long_line.txt", &diagnostic);
}

#[test]
fn narrow_terminal() {
    let program = Program::new(&format!("let y = {}x + {};\n", "a + ".repeat(20), "b".repeat(60)));
    let diagnostic =
        Diagnostic::error(Code::E0101, "unknown name `x`", program.find("x"), "not defined");
    let options = Options { width: Some(60), ..Options::default() };
    snapshot("narrow_terminal.txt", &render::human(&program.sources, &diagnostic, &options));
}

#[test]
fn control_characters() {
    let mut program = Program::new("");
    program.file =
        program.sources.add("evil\u{1b}[2J\n.ein", "let a\u{202e}b = \"\u{1b}[31m\u{9b}\";\r");
    let diagnostic = Diagnostic::error(
        Code::E0101,
        "unexpected character `\u{1b}`\nerror: this is not a second error",
        program.find("\u{1b}[31m"),
        "an \u{1b}[5mescape\nsequence",
    )
    .with_label(program.find("\u{202e}"), "reorders the line")
    .with_note("terminals obey \u{1b}]0;title\u{7}")
    .with_edit("write it as an escape", program.find("\u{1b}"), "\\u{1b}\u{1b}");
    program.check("control_characters.txt", &diagnostic);
}

#[test]
fn carriage_returns_and_a_byte_order_mark() {
    let program = Program::new("\u{feff}let x = 1;\r\nlet y = x +;\r\nlet z = 3;\r\n");
    let diagnostic =
        Diagnostic::error(Code::E0101, "expected an operand", program.part("+;", ";"), "found `;`")
            .with_label(program.find("let x"), "starts at column 1")
            .with_edit("remove the operator", program.find(" +"), "");
    program.check("carriage_returns_and_a_byte_order_mark.txt", &diagnostic);
}

#[test]
fn missing_file() {
    let program = Program::new("");
    let diagnostic = Diagnostic::error(
        Code::E0901,
        "cannot read `tour.ein`: there is no such file",
        program.end(),
        "",
    )
    .with_help("check the spelling and the directory");
    program.check("missing_file.txt", &diagnostic);
}

#[test]
#[cfg(not(windows))]
fn colours() {
    let program = Program::new("let x = 1\nlet y = 2;\n");
    let diagnostic =
        Diagnostic::error(Code::E0101, "expected `;`", program.after("= 1"), "expected `;` here")
            .with_label(program.find("let y"), "the next statement starts here")
            .with_note("every statement ends with `;`")
            .with_edit("end the statement", program.after("= 1"), ";");
    let options = Options { color: true, ..Options::default() };
    snapshot("colours.txt", &render::human(&program.sources, &diagnostic, &options));
}

#[test]
fn machine_readable() {
    let mut program = Program::new("let x = 1\nlet β = \"\u{1b}\u{9b}\";\n");
    let other = program.sources.add("b.ein", "");
    let diagnostic =
        Diagnostic::error(Code::E0101, "expected `;`", program.after("= 1"), "expected `;` here")
            .with_label(program.find("\"\u{1b}\u{9b}\""), "a string")
            .with_label(Span::at(other, 0), "elsewhere")
            .with_note("every statement ends with `;`")
            .with_help("end the statement")
            .with_edit("add a semicolon", program.after("= 1"), ";")
            .with_edit("add a comma", program.after("= 1"), ",");
    snapshot("machine_readable.txt", &render::json(&program.sources, &diagnostic));
}
