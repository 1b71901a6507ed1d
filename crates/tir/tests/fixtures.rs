//! Fixtures in `tests/tir`: `FOLDER/NAME.tir` and beside it `NAME.out`. The folder is a pass, or
//! `verify` (the problems found), or `text` (the module printed again). With `EINLANG_BLESS=1`
//! the expectations are rewritten.

use std::path::{Path, PathBuf};
use std::{env, fs};

use einlang_tir::host::{Program, parse_program, verify_program};
use einlang_tir::module::Module;
use einlang_tir::order::{find_order, show_cycle, show_order};
use einlang_tir::passes::{Ctx, PASSES, Pass, run_passes};
use einlang_tir::text::parse_module;
use einlang_tir::verify::{Problem, verify};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/tir").join(name)
}

/// Compares what `produce` makes of every module in a folder with the file beside it.
fn check(name: &str, produce: impl Fn(Module) -> String) {
    check_texts(name, |text| {
        let module = parse_module(text).map_err(|error| error.to_string())?;
        assert_round_trip(&module);
        Ok(produce(module))
    });
}

/// The same for host programs.
fn check_programs(name: &str, produce: impl Fn(Program) -> String) {
    check_texts(name, |text| {
        let program = parse_program(text).map_err(|error| error.to_string())?;
        assert_eq!(parse_program(&program.to_string()).as_ref(), Ok(&program));
        Ok(produce(program))
    });
}

fn check_texts(name: &str, produce: impl Fn(&str) -> Result<String, String>) {
    let bless = env::var_os("EINLANG_BLESS").is_some_and(|value| value == "1");
    let mut paths: Vec<PathBuf> = fs::read_dir(folder(name))
        .expect("the folder exists")
        .map(|e| e.expect("the entry can be read").path())
        .collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "tir"));
    paths.sort();
    assert!(!paths.is_empty(), "there is no fixture in {name}");
    let mut complaints = Vec::new();
    for path in paths {
        let text = fs::read_to_string(&path).expect("the fixture can be read");
        let actual = produce(&text).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        let expectation = path.with_extension("out");
        if bless {
            fs::write(&expectation, &actual).expect("the expectation can be written");
        } else if fs::read_to_string(&expectation).ok().as_deref() != Some(&actual) {
            complaints.push(format!("{path:?} gives\n{actual}"));
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

fn assert_round_trip(module: &Module) {
    let text = module.to_string();
    match parse_module(&text) {
        Ok(again) => assert_eq!(again, *module, "{text}"),
        Err(error) => panic!("{error}\n{text}"),
    }
}

fn run(pass: Pass, mut module: Module) -> String {
    let ctx = Ctx { verify: true, ..Ctx::default() };
    match run_passes(&mut module, &[pass], &ctx, &mut |_, module| assert_round_trip(module)) {
        Ok(()) => module.to_string(),
        Err(stopped) => panic!("{stopped:#?}\n{module}"),
    }
}

#[test]
fn passes_give_what_their_fixtures_say() {
    for pass in PASSES {
        check(pass.name, |module| run(*pass, module));
    }
}

#[test]
fn every_construct_prints_as_it_reads() {
    check("text", |module| module.to_string());
}

#[test]
fn orders_are_found_or_cycles_shown() {
    check("order", |module| {
        assert_eq!(verify(&module), []);
        let show = |group| match find_order(&module, group) {
            Ok(order) => show_order(&module, group, &order),
            Err(no_order) => show_cycle(group, &no_order),
        };
        module.groups.iter().map(show).collect()
    });
}

#[test]
fn host_programs_print_as_they_read() {
    check_programs("host", |program| {
        assert_eq!(verify_program(&program), []);
        program.to_string()
    });
}

#[test]
fn the_verifiers_name_the_broken_invariant() {
    let list = |problems: Vec<Problem>| problems.iter().map(|p| format!("{p}\n")).collect();
    check("verify", |module| list(verify(&module)));
    check_programs("verify_host", |program| list(verify_program(&program)));
    assert_names_its_invariant("verify");
    assert_names_its_invariant("verify_host");
}

/// Each fixture is named after an invariant, which must be among those reported.
fn assert_names_its_invariant(name: &str) {
    for entry in fs::read_dir(folder(name)).expect("the folder exists") {
        let path = entry.expect("the entry can be read").path();
        let invariant = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read_to_string(path.with_extension("out")).expect("blessed");
        assert!(text.lines().any(|line| line.starts_with(&invariant)), "{invariant}:\n{text}");
    }
}
