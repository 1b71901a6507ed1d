//! Types on the conformance programs: those without errors are silent, and every error that types
//! decide is reported with its code, at its line, with the words it must mention and with a help.
//! Skipped where the shared cases are not at hand.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use einlang_sema::types;
use einlang_source::{Diagnostic, MemoryWorld, Severity, Sources};

/// The codes that types decide.
const OURS: &[&str] = &[
    "E0306", "E0307", "E0310", "E0311", "E0312", "E0401", "E0402", "E0403", "E0404", "E0405",
    "W0406", "E0407", "E0408", "E0410",
];

struct Expected {
    codes: Vec<String>,
    line: Option<u32>,
    words: Vec<String>,
}

fn cases() -> Vec<PathBuf> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = manifest.join("../../../shared/conformance/cases");
    let mut found = Vec::new();
    for section in entries(&root) {
        for case in entries(&section) {
            match case.is_dir() {
                true if case.join("main.ein").is_file() => found.push(case.join("main.ein")),
                false if case.extension().is_some_and(|ext| ext == "ein") => found.push(case),
                _ => {}
            }
        }
    }
    found
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let listed =
        std::fs::read_dir(folder).map(|list| list.filter_map(|e| e.ok()).map(|e| e.path()));
    let mut found: Vec<PathBuf> = listed.map(Iterator::collect).unwrap_or_default();
    found.sort();
    found
}

fn world_of(folder: &Path, below: &str, mut world: MemoryWorld) -> MemoryWorld {
    for entry in entries(folder) {
        let name =
            entry.file_name().map(|name| name.to_string_lossy().to_string()).unwrap_or_default();
        let path = if below.is_empty() { name } else { format!("{below}/{name}") };
        if entry.is_dir() {
            world = world_of(&entry, &path, world);
        } else if let Ok(text) = std::fs::read_to_string(&entry) {
            world = world.with(&path, text);
        }
    }
    world
}

/// Diagnostics, and the types of the bindings at the top of the program.
type Checked = (Sources, Vec<Diagnostic>, HashMap<String, String>);

fn check(case: &Path) -> Checked {
    let text = std::fs::read_to_string(case).unwrap_or_default();
    let is_folder = case.file_name().is_some_and(|name| name == "main.ein");
    let world = match case.parent() {
        Some(folder) if is_folder => world_of(folder, "", MemoryWorld::new()),
        _ => MemoryWorld::new(),
    };
    let mut sources = Sources::new();
    let file = sources.add("main.ein", text);
    let resolved = einlang_sema::resolve(&world, &mut sources, file, Path::new(""));
    let (typed, diagnostics) = types::check(&resolved.program, &resolved.interner);
    let (program, interner) = (&resolved.program, &resolved.interner);
    let mut bindings = HashMap::new();
    if let Some(Some(root)) = typed.modules.first() {
        let instance = typed.instance(*root);
        for (id, local) in program.bodies[instance.body].locals.iter() {
            let shown = instance.local(id).show(program, interner);
            bindings.insert(interner.resolve(local.name.name).to_string(), shown);
        }
    }
    let mut all: Vec<Diagnostic> = resolved.diagnostics.into_vec();
    all.extend(diagnostics.into_vec());
    (sources, all, bindings)
}

/// Whether a type agrees with an expected one, whose extents it may not know.
fn agrees(found: &str, wanted: &str) -> bool {
    let parts = |ty: &str| -> (String, Vec<String>) {
        let inner = ty.trim_start_matches('[').trim_end_matches(']');
        let (element, dims) =
            inner.split_once(';').unwrap_or((inner, if ty.starts_with('[') { "?" } else { "" }));
        let dims = dims.split(',').map(|dim| dim.trim().to_string()).filter(|dim| !dim.is_empty());
        (element.to_string(), dims.collect())
    };
    let ((element, dims), (wanted, extents)) = (parts(found), parts(wanted));
    let same = dims.iter().zip(&extents).all(|(dim, extent)| dim == "?" || dim == extent);
    element == wanted && dims.len() == extents.len() && same
}

fn expectations(text: &str) -> Vec<Expected> {
    let mut found = Vec::new();
    for line in text.lines() {
        let line = line.strip_prefix("//! error ").or_else(|| line.strip_prefix("//! warn "));
        let Some(line) = line else { continue };
        let mut words = line.split_whitespace();
        let codes = words.next().unwrap_or("").split('|').map(str::to_string).collect();
        let mut expected = Expected { codes, line: None, words: Vec::new() };
        while let Some(word) = words.next() {
            match word {
                "line" => expected.line = words.next().and_then(|n| n.parse().ok()),
                "mentions" => expected.words = words.by_ref().map(str::to_string).collect(),
                _ => {}
            }
        }
        found.push(expected);
    }
    found
}

fn problems(case: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(case).unwrap_or_default();
    let expected: Vec<Expected> = expectations(&text);
    let (sources, found, bindings) = check(case);
    let mut problems = Vec::new();
    for line in text.lines().filter_map(|line| line.strip_prefix("//! type ")) {
        let (name, wanted) = line.split_once(" = ").unwrap_or((line, ""));
        match bindings.get(name) {
            // A library that is not loaded makes it unknown.
            Some(found) if found == "?" && text.contains("use std") => {}
            Some(found) if agrees(found, wanted) => {}
            found => problems.push(format!("type of {name}: {found:?} instead of {wanted}")),
        }
    }
    let ours = |code: &str| OURS.contains(&code);
    for wanted in expected.iter().filter(|e| e.codes.iter().any(|code| ours(code))) {
        let hit = found.iter().find(|d| wanted.codes.iter().any(|code| code == d.code.as_str()));
        let Some(hit) = hit else {
            problems.push(format!("missing {:?}", wanted.codes));
            continue;
        };
        let line = sources.line_col(hit.primary.span).line;
        if wanted.line.is_some_and(|wanted| wanted != line) {
            problems.push(format!("{} at line {line}", hit.code));
        }
        let help = hit.helps.iter().map(|h| h.text.as_str()).collect::<Vec<_>>().join(" ");
        for word in &wanted.words {
            if !hit.message.contains(word) && !help.contains(word) {
                problems.push(format!(
                    "{} does not mention {word}: {} / {help}",
                    hit.code, hit.message
                ));
            }
        }
    }
    for diagnostic in &found {
        let code = diagnostic.code.as_str();
        if !expected.iter().any(|e| e.codes.iter().any(|wanted| wanted == code)) {
            let line = sources.line_col(diagnostic.primary.span).line;
            problems.push(format!("unexpected {code} at line {line}: {}", diagnostic.message));
        }
        if diagnostic.severity == Severity::Error && diagnostic.helps.is_empty() {
            problems.push(format!("{code} has no help"));
        }
    }
    problems
}

#[test]
fn conformance_programs_have_the_types_they_should() {
    let cases = cases();
    if cases.is_empty() {
        eprintln!("skipped: shared/conformance is not here");
        return;
    }
    let mut failed = Vec::new();
    for case in &cases {
        for problem in problems(case) {
            failed.push(format!("{}: {problem}", case.display()));
        }
    }
    assert!(failed.is_empty(), "{} of {}:\n{}", failed.len(), cases.len(), failed.join("\n"));
}

/// Every program with one line missing is still answered.
#[test]
fn damaged_conformance_programs_do_not_break_the_checker() {
    for case in cases() {
        let text = std::fs::read_to_string(&case).unwrap_or_default();
        let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("//!")).collect();
        for skipped in 0..lines.len() {
            let kept = lines.iter().enumerate().filter(|(index, _)| *index != skipped);
            let text = kept.map(|(_, line)| *line).collect::<Vec<_>>().join("\n");
            let mut sources = Sources::new();
            let file = sources.add("main.ein", text);
            let resolved =
                einlang_sema::resolve(&MemoryWorld::new(), &mut sources, file, Path::new(""));
            types::check(&resolved.program, &resolved.interner);
        }
    }
}

/// In programs without errors and libraries every expression has a known type.
#[test]
fn every_expression_of_a_conformance_program_has_a_type() {
    for case in cases() {
        let text = std::fs::read_to_string(&case).unwrap_or_default();
        let is_folder = case.file_name().is_some_and(|name| name == "main.ein");
        if text.contains("//! error") || text.contains("std::") || is_folder {
            continue;
        }
        let mut sources = Sources::new();
        let file = sources.add("main.ein", text);
        let resolved =
            einlang_sema::resolve(&MemoryWorld::new(), &mut sources, file, Path::new(""));
        let (typed, _) = types::check(&resolved.program, &resolved.interner);
        let mut known = HashSet::new();
        for instance in typed.instances.iter().filter(|instance| !instance.uncalled) {
            for (expr, ty) in instance.exprs.iter() {
                assert_ne!(
                    *ty,
                    types::Ty::Error,
                    "{}: {:?}",
                    case.display(),
                    resolved.program.bodies[instance.body].span(expr)
                );
                known.insert((instance.body, expr));
            }
        }
        for instance in typed.instances.iter().filter(|instance| instance.uncalled) {
            known.extend(instance.exprs.keys().map(|expr| (instance.body, expr)));
        }
        for (id, body) in resolved.program.bodies.iter() {
            for (expr, found) in body.exprs.iter() {
                assert!(
                    known.contains(&(id, expr)),
                    "{}: {}",
                    case.display(),
                    sources.slice(found.span)
                );
            }
        }
    }
}
