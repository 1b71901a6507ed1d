//! Names: the resolved form of every program in `tests/names`, with its diagnostics, and programs
//! of several files.

use std::path::Path;

use einlang_sema::{Resolved, hir};
use einlang_source::{MemoryWorld, Sources, World, render};
use einlang_testkit::{fixtures, repository};

fn resolve(world: &dyn World, name: &str, text: &str) -> (Sources, Resolved) {
    let mut sources = Sources::new();
    let file = sources.add(name, text);
    let folder = Path::new(name).parent().unwrap_or(Path::new(""));
    let resolved = einlang_sema::resolve(world, &mut sources, file, folder);
    (sources, resolved)
}

fn messages(sources: &Sources, resolved: &Resolved) -> String {
    let options = render::Options::default();
    let rendered = resolved.diagnostics.iter().map(|d| render::human(sources, d, &options));
    rendered.collect::<Vec<_>>().join("\n\n")
}

#[test]
fn programs_resolve_as_recorded() {
    fixtures::check("tests/names", "hir", |program| {
        let (sources, resolved) = resolve(&MemoryWorld::new(), &program.name, &program.text);
        let printed = hir::print(&resolved.program, &resolved.interner);
        let said = messages(&sources, &resolved);
        if said.is_empty() { printed } else { format!("{printed}\n{said}\n") }
    });
}

#[test]
fn every_error_carries_a_help() {
    for program in fixtures::programs("tests/names") {
        let (_, resolved) = resolve(&MemoryWorld::new(), &program.name, &program.text);
        for diagnostic in &resolved.diagnostics {
            assert!(!diagnostic.helps.is_empty(), "{}: {}", program.name, diagnostic.message);
        }
    }
}

#[test]
fn modules_lie_beside_and_below_their_parent() {
    let world = MemoryWorld::new()
        .with("p/a.ein", "mod inner; pub use self::inner::deep;")
        .with("p/a/inner.ein", "pub fn deep(n) { n * crate::ten() }")
        .with("p/b/mod.ein", "mod low; pub fn up(n) { low::down(n) }")
        .with("p/b/low.ein", "pub fn down(n) { n - 1 }")
        .with("p/c/d.ein", "pub fn e(n) { n }");
    let main = "mod a; mod b; mod c { pub mod d; } fn ten() { 10 }
        let x = a::deep(3) + b::up(2) + c::d::e(1);";
    let (sources, resolved) = resolve(&world, "p/main.ein", main);
    assert_eq!(messages(&sources, &resolved), "");
    assert_eq!(resolved.program.modules.len(), 7);
}

#[test]
fn missing_and_doubled_module_files_are_reported_at_the_declaration() {
    let world =
        MemoryWorld::new().with("twice.ein", "").with("twice/mod.ein", "").with("bad.ein", [0xff]);
    let (sources, resolved) = resolve(&world, "main.ein", "mod gone;\nmod twice;\nmod bad;\n");
    let found: Vec<_> = resolved
        .diagnostics
        .iter()
        .map(|d| (d.code.as_str(), sources.line_col(d.primary.span).line))
        .collect();
    assert_eq!(found, [("E0111", 1), ("E0111", 2), ("E0111", 3)]);
}

#[test]
fn files_may_import_each_other() {
    let world = MemoryWorld::new()
        .with("a.ein", "use crate::b::g; pub fn f(n) { if n == 0 { 0 } else { g(n - 1) } }")
        .with("b.ein", "use crate::a::f; pub fn g(n) { f(n) }");
    let (sources, resolved) = resolve(&world, "main.ein", "mod a; mod b; let x = a::f(3);");
    assert_eq!(messages(&sources, &resolved), "");
}

#[test]
fn public_bindings_of_a_module_can_be_read() {
    let text = "mod m { pub let rate = 0.5; let own = 1.0; }\nlet a = m::rate;\nlet b = m::own;\n";
    let (_, resolved) = resolve(&MemoryWorld::new(), "main.ein", text);
    let codes: Vec<_> = resolved.diagnostics.iter().map(|d| d.code.as_str()).collect();
    assert_eq!(codes, ["E0113"]);
}

#[test]
fn conformance_programs_have_no_unknown_names() {
    let Some(root) = repository::conformance() else {
        return;
    };
    for program in fixtures::programs_below(&root.join("cases")) {
        let decided = ["E01", "E0303", "E0307", "E0308", "E0409"];
        let expected = program
            .text
            .lines()
            .any(|line| decided.iter().any(|code| line.starts_with(&format!("//! error {code}"))));
        let files =
            program.text.lines().any(|line| line.starts_with("mod ") && line.ends_with(';'));
        // Modules in files of their own need a disk, and are covered by `xtask test`.
        if expected || files || program.name.starts_with("modules/") {
            continue;
        }
        let (sources, resolved) = resolve(&MemoryWorld::new(), &program.name, &program.text);
        assert_eq!(messages(&sources, &resolved), "", "{}", program.name);
    }
}
