//! The programs of the error pages do what the pages say.
//!
//! A block marked `ein,fails` reports the code of its page and no other; a block marked
//! `ein,repaired` reports nothing. Each block is saved as `src/main.ein` in a world of its own and
//! loaded from there. Some errors are about how the compiler is called and not about the text: a
//! block whose first line is `// $ einlang check OPTIONS PATH` is saved in the same place, but it is
//! PATH that is loaded, and the options hold. With `run` in place of `check`, a program without
//! errors also runs, in a folder of its own; with `einlang.run PATH` it is Python that runs it, of which
//! one function is there.

use std::path::{Path, PathBuf};

use einlang_driver::{
    Failure, Given, Options, Permits, Printer, ProjectIo, Python, RunOptions, Session, explain,
};
use einlang_interp::stop::{Stop, StopCode};
use einlang_interp::value::HostValue;
use einlang_source::render;
use einlang_source::{Code, Diagnostics, FileId, MemoryWorld};
use einlang_testkit::pages;
use einlang_tir::constant::Const;
use einlang_tir::host::HostType;
use einlang_tir::types::Elem;

/// Where every block is saved.
const SAVED_AS: &str = "src/main.ein";

/// What the first line of a block may begin with; the command, its options and the path follow.
const CALLED_AS: &str = "// $ einlang ";

/// The same for programs that Python runs; the path follows.
const RUN_BY_PYTHON: &str = "// $ einlang.run ";

/// The programs of a page: whether each fails, and its text. `cargo xtask tidy` sees to it that there
/// are only these two kinds.
fn blocks(page: &str) -> Vec<Block> {
    let blocks = pages::blocks(page).into_iter();
    let program = |block: pages::Block| Block {
        fails: block.info == "ein,fails",
        text: block.text.trim_end_matches('\n').to_owned(),
    };
    blocks.map(program).collect()
}

struct Block {
    fails: bool,
    text: String,
}

/// How a block is called.
struct Call<'a> {
    path: &'a str,
    options: Options,
    checked_rules: bool,
    /// How it runs, if it does.
    run: Option<RunOptions>,
    python: bool,
}

fn call(text: &str) -> Call<'_> {
    let first_line = text.lines().next().unwrap_or_default();
    let plain = Call {
        path: SAVED_AS,
        options: Options::default(),
        checked_rules: false,
        run: None,
        python: false,
    };
    if let Some(path) = first_line.strip_prefix(RUN_BY_PYTHON) {
        return Call { path, run: Some(RunOptions::default()), python: true, ..plain };
    }
    let Some(call) = first_line.strip_prefix(CALLED_AS) else { return plain };
    let words: Vec<&str> = call.split_whitespace().collect();
    let (command, flags, path) = match &words[..] {
        [command @ ("check" | "run"), flags @ .., path] => (*command, flags, *path),
        _ => panic!("`{first_line}` is no call of `check` or `run` with a path"),
    };
    let (mut options, mut run) = (Options::default(), RunOptions::default());
    let mut checked_rules = false;
    let mut flags = flags.iter();
    while let Some(flag) = flags.next() {
        let mut value = || flags.next().expect("the option has a value");
        match *flag {
            "--strict" => options.strict = true,
            "--zero-fill" => options.zero_fill = true,
            "--checked" => run.limits.checked = true,
            "--check-derivatives" => checked_rules = true,
            "--max-memory" => run.limits.memory = value().parse().expect("a number"),
            "--max-steps" => run.limits.steps = Some(value().parse().expect("a number")),
            "--input" => {
                let (name, text) = value().split_once('=').expect("a name and a value");
                run.inputs.push((name.to_owned(), Given::Text(text.to_owned())));
            }
            _ => panic!("the pages know no option `{flag}`"),
        }
    }
    Call { path, options, checked_rules, run: (command == "run").then_some(run), python: false }
}

/// A program of a page prints for nobody.
struct Nowhere;

impl Printer for Nowhere {
    fn line(&mut self, _: &str) -> std::io::Result<()> {
        Ok(())
    }
}

/// A Python that has one function.
struct Math;

impl Python for Math {
    fn call(
        &mut self,
        path: &str,
        _: &[&str],
        args: Vec<HostValue>,
        _: &HostType,
    ) -> Result<HostValue, Stop> {
        assert_eq!(path, "math.sqrt");
        let number = args[0].as_scalar().and_then(|number| number.as_float()).expect("a float");
        match number < 0.0 {
            true => {
                let message = "`math.sqrt` raised ValueError: math domain error";
                Err(Stop::new(StopCode::Python, message))
            }
            false => Ok(Const::from_bits(Elem::F64, number.sqrt().to_bits()).into()),
        }
    }
}

/// What a program reports before and while it runs.
fn run(session: &mut Session<'_>, file: FileId, options: &RunOptions) -> Diagnostics {
    let folder = tempfile::tempdir().expect("a folder");
    let permits = Permits::new(folder.path(), &[], &[]).expect("a folder");
    let mut nowhere = Nowhere;
    let mut math = Math;
    let mut io = ProjectIo::new(permits, &mut nowhere, 1 << 30).with_python(&mut math);
    let ran = session.build(file).and_then(|executable| {
        executable.run(options, &mut io)?;
        Ok(executable.contradicted_rules(&options.limits.report))
    });
    match ran {
        Ok(warnings) => warnings,
        Err(Failure::Program(found)) => found,
        Err(failure) => panic!("{failure:?}"),
    }
}

/// The codes that the program reports, and the messages as people see them.
fn report(text: &str) -> (Vec<Code>, String) {
    let call = call(text);
    let world = MemoryWorld::new().with(SAVED_AS, text);
    let session = Session::new(&world).with_options(call.options).with_python(call.python);
    let mut session = session.with_checked_rules(call.checked_rules);
    let found = session.load(Path::new(call.path)).map(|file| match &call.run {
        Some(options) => run(&mut session, file, options),
        None => session.check(file),
    });
    let found = found.unwrap_or_else(|errors| errors);
    let shown =
        found.iter().map(|d| render::human(session.sources(), d, &render::Options::default()));
    (found.iter().map(|d| d.code).collect(), shown.collect::<Vec<_>>().join("\n\n"))
}

#[test]
fn failing_programs_report_the_code_of_their_page() {
    for (code, page) in explain::PAGES {
        for block in blocks(page).iter().filter(|block| block.fails) {
            let (codes, shown) = report(&block.text);
            let as_promised = !codes.is_empty() && codes.iter().all(|found| found == code);
            assert!(as_promised, "page {code}, program\n{}\nreports\n{shown}", block.text);
        }
    }
}

#[test]
fn repaired_programs_report_nothing() {
    for (code, page) in explain::PAGES {
        for block in blocks(page).iter().filter(|block| !block.fails) {
            let (codes, shown) = report(&block.text);
            assert!(codes.is_empty(), "page {code}, program\n{}\nreports\n{shown}", block.text);
        }
    }
}

#[test]
fn every_page_has_both_kinds_of_programs() {
    for (code, page) in explain::PAGES {
        let blocks = blocks(page);
        assert!(blocks.iter().any(|block| block.fails), "{code}");
        assert!(blocks.iter().any(|block| !block.fails), "{code}");
    }
}

#[test]
fn every_error_says_what_to_do() {
    for (code, page) in explain::PAGES {
        for block in blocks(page).iter().filter(|block| block.fails) {
            let (_, shown) = report(&block.text);
            assert!(shown.contains("help: "), "page {code}:\n{shown}");
        }
    }
}

/// How the failing programs are reported, as people see it: one snapshot per code in
/// `tests/errors`, so that every code has a rendered message that somebody has read. With
/// `EINLANG_BLESS=1` they are rewritten.
#[test]
fn every_code_is_rendered_as_recorded() {
    let bless = std::env::var_os("EINLANG_BLESS").is_some_and(|value| value == "1");
    for (code, page) in explain::PAGES {
        let blocks = blocks(page);
        let failing = blocks.iter().filter(|block| block.fails);
        let reports: Vec<String> = failing.map(|block| report(&block.text).1).collect();
        let actual = reports.join("\n\n--------\n\n") + "\n";
        let path = snapshots().join(format!("{code}.txt"));
        if bless {
            std::fs::create_dir_all(snapshots()).expect("the folder can be made");
            std::fs::write(&path, &actual).expect("the snapshot can be written");
        }
        let expected = std::fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(actual, expected, "{code}; EINLANG_BLESS=1 rewrites the snapshot");
    }
}

#[test]
fn every_snapshot_has_its_code() {
    let entries = std::fs::read_dir(snapshots()).expect("there are snapshots");
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        assert!(Code::parse(name.trim_end_matches(".txt")).is_some(), "{name} belongs to no code");
    }
}

fn snapshots() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/errors")
}
