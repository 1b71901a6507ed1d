//! Coordinates on small programs with their expectations inline, in `tests/coords/*.ein`.
//!
//! A file holds several programs, each begun by `// --- title`. A line `//^ name: [batch, _]`
//! reveals the layout of a binding that the code line above introduces, the layouts of several
//! variants joined by ` | `; `//^ name consumes in` and `//^ name broadcasts b over batch` are facts
//! about its definition. `//^ error E0201 words` says what is reported on that line, with words of
//! its message or help. Nothing else may be reported, and every error has a help.

use std::path::{Path, PathBuf};

use einlang_sema::coords::{self, Coords, Variant};
use einlang_sema::hir::{ExprId, LocalId};
use einlang_sema::types::{self, Typed};
use einlang_sema::{Resolved, resolve};
use einlang_source::{Diagnostic, MemoryWorld, Sources};

struct Case {
    file: String,
    title: String,
    text: String,
}

struct Checked {
    sources: Sources,
    resolved: Resolved,
    typed: Typed,
    coords: Coords,
    found: Vec<Diagnostic>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/coords")
}

fn cases() -> Vec<Case> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder())
        .map(|list| list.filter_map(|entry| entry.ok()).map(|entry| entry.path()).collect())
        .unwrap_or_default();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "ein"));
    files.sort();
    let mut cases = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let stem = file.file_stem().map(|stem| stem.to_string_lossy().to_string());
        let name = stem.unwrap_or_default();
        for part in text.split("// --- ").skip(1) {
            let (title, text) = part.split_once('\n').unwrap_or((part, ""));
            let (title, text) = (title.trim().to_string(), text.to_string());
            cases.push(Case { file: name.clone(), title, text });
        }
    }
    cases
}

fn check(text: &str) -> Checked {
    let mut sources = Sources::new();
    let file = sources.add("main.ein", text);
    let resolved = resolve(&MemoryWorld::new(), &mut sources, file, Path::new(""));
    let (typed, diagnostics) = types::check(&resolved.program, &resolved.interner);
    let mut found: Vec<Diagnostic> = resolved.diagnostics.iter().cloned().collect();
    found.extend(diagnostics.into_vec());
    let (coords, diagnostics) = coords::check(&resolved.program, &typed, &resolved.interner);
    if found.is_empty() {
        found.extend(diagnostics.into_vec());
    }
    Checked { sources, resolved, typed, coords, found }
}

impl Checked {
    /// The layouts of the bindings of this name on this line, one per variant.
    fn layouts(&self, name: &str, line: u32) -> Vec<String> {
        let mut found = Vec::new();
        self.each_local(name, line, |variant, local| {
            found.push(variant.locals[&local].show(&self.resolved.interner));
        });
        found.sort();
        found.dedup();
        found
    }

    /// What the definitions of this name on this line consume and broadcast.
    fn facts(&self, name: &str, line: u32) -> Vec<String> {
        let interner = &self.resolved.interner;
        let list = |coordinates: &[coords::Coordinate]| {
            let names = coordinates.iter().map(|c| interner.resolve(c.name));
            names.collect::<Vec<_>>().join(", ")
        };
        let mut found = Vec::new();
        self.each_local(name, line, |variant, local| {
            let belongs = |expr: &ExprId| variant.binding_of.get(expr) == Some(&local);
            for (_, names) in variant.consumed.iter().filter(|(expr, _)| belongs(expr)) {
                found.push(format!("consumes {}", list(names)));
            }
            for (_, all) in variant.broadcasts.iter().filter(|(expr, _)| belongs(expr)) {
                for broadcast in all {
                    let tensors = broadcast.tensors.iter().map(|name| interner.resolve(*name));
                    let tensors = tensors.collect::<Vec<_>>().join(", ");
                    found.push(format!("broadcasts {tensors} over {}", list(&broadcast.missing)));
                }
            }
        });
        found
    }

    fn each_local(&self, name: &str, line: u32, mut f: impl FnMut(&Variant, LocalId)) {
        let interner = &self.resolved.interner;
        for variant in self.coords.variants.iter().filter(|variant| variant.reached) {
            let Some(instance) = variant.instance else { continue };
            let body = &self.resolved.program.bodies[self.typed.instance(instance).body];
            for id in variant.locals.keys() {
                let local = &body[id];
                let here = self.sources.line_col(local.name.span).line == line;
                if here && interner.resolve(local.name.name) == name {
                    f(variant, id);
                }
            }
        }
    }
}

fn problems(case: &Case) -> Vec<String> {
    let mut checked = check(&case.text);
    let mut problems = Vec::new();
    let mut line = 0;
    for (index, text) in case.text.lines().enumerate() {
        let Some(wanted) = text.trim_start().strip_prefix("//^ ") else {
            line = index as u32 + 1;
            continue;
        };
        let (first, rest) = wanted.split_once(' ').unwrap_or((wanted, ""));
        if first == "error" {
            problems.extend(reported(&mut checked, rest, line));
        } else if let Some(name) = first.strip_suffix(':') {
            let got = checked.layouts(name, line).join(" | ");
            if got != rest {
                problems.push(format!("line {line}: `{name}` is `{got}`, expected `{rest}`"));
            }
        } else if !checked.facts(first, line).contains(&rest.to_string()) {
            let facts = checked.facts(first, line);
            problems.push(format!("line {line}: `{first}` {facts:?}, expected `{rest}`"));
        }
    }
    for left in checked.found {
        let line = checked.sources.line_col(left.primary.span).line;
        problems.push(format!("line {line}: unexpected {}: {}", left.code, left.message));
    }
    problems
}

/// Removes an expected diagnostic from those found.
fn reported(checked: &mut Checked, wanted: &str, line: u32) -> Option<String> {
    let mut words = wanted.split_whitespace();
    let code = words.next().unwrap_or("");
    let sources = &checked.sources;
    let position = checked
        .found
        .iter()
        .position(|d| d.code.as_str() == code && sources.line_col(d.primary.span).line == line);
    let Some(position) = position else { return Some(format!("line {line}: no {code}")) };
    let hit = checked.found.remove(position);
    let helps: Vec<&str> = hit.helps.iter().map(|help| help.text.as_str()).collect();
    let said = format!("{} / {}", hit.message, helps.join(" / "));
    if helps.is_empty() {
        return Some(format!("line {line}: {code} has no help: {said}"));
    }
    let missing: Vec<&str> = words.filter(|word| !said.contains(word)).collect();
    (!missing.is_empty())
        .then(|| format!("line {line}: {code} does not mention {missing:?}: {said}"))
}

#[test]
fn programs_have_the_layouts_that_are_written_below_them() {
    let cases = cases();
    assert!(cases.len() >= 60, "only {} cases in {}", cases.len(), folder().display());
    let mut failed = Vec::new();
    for case in &cases {
        for problem in problems(case) {
            failed.push(format!("{} / {}: {problem}", case.file, case.title));
        }
    }
    assert!(failed.is_empty(), "{} problems:\n{}", failed.len(), failed.join("\n"));
}

/// Every way to damage a program a little: the pass must answer each of them, also where types
/// have found mistakes.
#[test]
fn damaged_programs_do_not_break_the_pass() {
    for case in cases() {
        let lines: Vec<&str> = case.text.lines().collect();
        for skipped in 0..lines.len() {
            let kept = lines.iter().enumerate().filter(|(index, _)| *index != skipped);
            check(&kept.map(|(_, line)| *line).collect::<Vec<_>>().join("\n"));
        }
        for (from, to) in [
            ("1", "true"),
            ("batch", "feat"),
            ("i", "j"),
            ("f32", "str"),
            ("..l", "l"),
            (", ", " + "),
        ] {
            check(&case.text.replace(from, to));
        }
    }
}

#[test]
fn deep_chains_of_calls_end() {
    // Name resolution walks the same trees on the caller's stack, which tests keep small.
    let builder = std::thread::Builder::new().stack_size(64 << 20);
    let handle = builder.spawn(deep_chains).expect("a thread can be started");
    assert!(handle.join().is_ok());
}

fn deep_chains() {
    let chain: String = (1..3000)
        .map(|n| format!("fn f{n}(x: [f32; a, b]) -> [f32; a, b] {{ f{}(x) }}\n", n - 1))
        .collect();
    let checked = check(&format!(
        "fn f0(x: [f32; a, b]) -> [f32; a, b] {{ x }}\n{chain}let y = f2999([[1.0]]);"
    ));
    assert!(checked.found.is_empty(), "{:?}", checked.found);
    assert_eq!(checked.layouts("y", 3001), ["[a, b]"]);
    let untyped: String =
        (1..400).map(|n| format!("fn f{n}(x) {{ f{}(x) + 1.0 }}\n", n - 1)).collect();
    let checked = check(&format!("fn f0(x) {{ x }}\n{untyped}let y = f250([1.0] as [f32; a]);"));
    assert_eq!(checked.layouts("y", 401), ["[a]"]);
    check(&format!("let x = [1.0] as [f32; a];\nlet y = {};", vec!["x"; 1000].join(" + ")));
}

/// Each function calls the one before it with its argument in two layouts: without bounds there
/// would be as many variants as there are paths.
#[test]
fn variants_do_not_blow_up() {
    let mut text = "fn f0(x) { x }\n".to_string();
    for n in 1..60 {
        let before = n - 1;
        text.push_str(&format!(
            "fn f{n}(x) {{ let t[k, i, j] = x[i, j, k]; let s[j, i, k] = x[i, j, k]; \
             f{before}(t) + f{before}(s) + f{before}(x) }}\n"
        ));
    }
    text.push_str("let y = f59([[[1.0]]] as [f32; a, b, c]);\n");
    let checked = check(&text);
    assert!(checked.coords.variants.len() < 1000, "{}", checked.coords.variants.len());
    let turning = "fn f(g, n: i32) { if n < 0 { g(1.0) } else { f(|x| g(x) + 1.0, n - 1) } }\n";
    check(&format!("{turning}let y = f(|x| x, 3);"));
}

/// An expression has one entry per axis of its type.
#[test]
fn layouts_are_as_long_as_types_have_axes() {
    for case in cases() {
        let checked = check(&case.text);
        for variant in &checked.coords.variants {
            let Some(instance) = variant.instance.map(|id| checked.typed.instance(id)) else {
                continue;
            };
            for (expr, layout) in variant.exprs.iter() {
                let ty = match instance.expr(expr) {
                    types::Ty::Differential(inner) => inner,
                    ty => ty,
                };
                assert_eq!(layout.axes.len(), ty.rank(), "{} / {}", case.file, case.title);
            }
        }
    }
}
