//! Random programs that are known to be right are accepted, with the types and extents they are
//! known to have.

use std::path::Path;

use einlang_index::MinMax;
use einlang_sema::coords;
use einlang_sema::hir::LocalKind;
use einlang_sema::shapes::{self, Options, Shape};
use einlang_sema::types::{self, Ty};
use einlang_source::{MemoryWorld, Severity, Sources, render};
use einlang_testkit::generate::Source;
use einlang_testkit::generate::program::{Program, Section, program};

const N_PROGRAMS: u64 = 400;

/// The spelling of the element type and the extents of each binding of the program.
fn checked(text: &str) -> Vec<(String, String, Vec<Option<i64>>)> {
    let mut sources = Sources::new();
    let file = sources.add("generated.ein", text);
    let resolved = einlang_sema::resolve(&MemoryWorld::new(), &mut sources, file, Path::new(""));
    let (typed, found) = types::check(&resolved.program, &resolved.interner);
    let (program, interner) = (&resolved.program, &resolved.interner);
    let (coords, more) = coords::check(program, &typed, interner);
    let (shapes, gaps) = shapes::analyse(program, &typed, &coords, interner, &Options::default());
    let errors = gaps.iter().filter(|diagnostic| diagnostic.severity == Severity::Error);
    let mut wrong = resolved.diagnostics.iter().chain(&found).chain(&more).chain(errors);
    if let Some(diagnostic) = wrong.next() {
        let message = render::human(&sources, diagnostic, &render::Options::default());
        panic!("a program that is right has a diagnostic\n{message}\n--- program ---\n{text}");
    }
    let root = typed.modules.first().copied().flatten().expect("the root is checked");
    let instance = typed.instance(root);
    let body = &resolved.program.bodies[instance.body];
    let named = body
        .locals
        .iter()
        .filter(|(_, local)| matches!(local.kind, LocalKind::Let | LocalKind::Indexed));
    let show = |ty: &Ty| ty.show(&resolved.program, &resolved.interner);
    named
        .map(|(id, local)| {
            let ty = instance.local(id);
            let element = match ty {
                Ty::Tensor(element, _) => show(element),
                scalar => show(scalar),
            };
            let shape = shapes.instance(root).locals.get(&id).map(Shape::extents);
            let extents = shape.unwrap_or_default().iter().map(MinMax::as_constant).collect();
            (resolved.interner.resolve(local.name.name).to_string(), element, extents)
        })
        .collect()
}

/// Compares what was found with what the generator knows; fields of structs are facts of their own
/// and are left to the stage that splits them. Returns how many bindings were compared: constants
/// are items and have no type of their own.
fn agrees(program: &Program) -> usize {
    let found = checked(&program.text);
    let mut n_compared = 0;
    for fact in program.facts.iter().filter(|fact| !fact.name.contains('.')) {
        let Some((_, element, extents)) = found.iter().rev().find(|(name, ..)| *name == fact.name)
        else {
            continue;
        };
        let shape: Vec<Option<i64>> = fact.shape.iter().map(|n| Some(*n as i64)).collect();
        assert_eq!(
            (element.as_str(), extents),
            (fact.element.spelling(), &shape),
            "{}\n{}",
            fact.name,
            program.text
        );
        n_compared += 1;
    }
    n_compared
}

#[test]
fn right_programs_are_accepted_with_their_types() {
    let programs =
        (0..N_PROGRAMS).map(|seed| program(&mut Source::from_seed(seed), Section::ALL, 12));
    let n_compared: usize = programs.map(|program| agrees(&program)).sum();
    assert!(n_compared as u64 > 5 * N_PROGRAMS, "only {n_compared} bindings were compared");
}

#[test]
fn each_section_is_accepted_by_itself() {
    for section in Section::ALL {
        for seed in 0..N_PROGRAMS / 10 {
            agrees(&program(&mut Source::from_seed(seed), &[*section], 6));
        }
    }
}
