//! Types on small programs with their expectations inline, in `tests/types/*.ein`.
//!
//! A file holds several programs, each begun by `// --- title`. A line `//^ name: type` reveals the
//! type of a binding that the code line above introduces, the types of several instances joined by
//! ` | `. `//^ error E0401 words` and `//^ warn W0406 words` say what is reported on that line, with
//! words of its message or help. Nothing else may be reported, and every error has a help.

use std::path::{Path, PathBuf};

use einlang_sema::types::{self, Typed};
use einlang_sema::{Resolved, resolve};
use einlang_source::{Diagnostic, MemoryWorld, Severity, Sources};

struct Case {
    file: String,
    title: String,
    text: String,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/types")
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
        let name =
            file.file_stem().map(|stem| stem.to_string_lossy().to_string()).unwrap_or_default();
        for part in text.split("// --- ").skip(1) {
            let (title, text) = part.split_once('\n').unwrap_or((part, ""));
            cases.push(Case {
                file: name.clone(),
                title: title.trim().to_string(),
                text: text.to_string(),
            });
        }
    }
    cases
}

fn check(text: &str) -> (Sources, Resolved, Typed, Vec<Diagnostic>) {
    let mut sources = Sources::new();
    let file = sources.add("main.ein", text);
    let resolved = resolve(&MemoryWorld::new(), &mut sources, file, Path::new(""));
    let (typed, diagnostics) = types::check(&resolved.program, &resolved.interner);
    let all = resolved.diagnostics.iter().cloned().chain(diagnostics.into_vec()).collect();
    (sources, resolved, typed, all)
}

/// The types of the bindings of this name on this line, one per instance.
fn revealed(
    sources: &Sources,
    resolved: &Resolved,
    typed: &Typed,
    name: &str,
    line: u32,
) -> String {
    let (program, interner) = (&resolved.program, &resolved.interner);
    let mut found: Vec<String> = Vec::new();
    for instance in &typed.instances {
        for (id, ty) in instance.locals.iter() {
            let local = &program.bodies[instance.body].locals[id];
            let here = sources.line_col(local.name.span).line == line;
            if here && interner.resolve(local.name.name) == name {
                found.push(ty.show(program, interner));
            }
        }
    }
    found.sort();
    found.dedup();
    found.join(" | ")
}

fn problems(case: &Case) -> Vec<String> {
    let (sources, resolved, typed, mut found) = check(&case.text);
    let mut problems = Vec::new();
    let mut line = 0;
    for (index, text) in case.text.lines().enumerate() {
        let Some(wanted) = text.trim_start().strip_prefix("//^ ") else {
            line = index as u32 + 1;
            continue;
        };
        let kind = wanted.split_whitespace().next().unwrap_or("");
        if matches!(kind, "error" | "warn") {
            problems.extend(reported(&sources, &mut found, wanted, line));
            continue;
        }
        let (name, ty) = wanted.split_once(": ").unwrap_or((wanted, ""));
        let got = revealed(&sources, &resolved, &typed, name, line);
        if got != ty {
            problems.push(format!("line {line}: `{name}` is `{got}`, expected `{ty}`"));
        }
    }
    for left in found {
        let line = sources.line_col(left.primary.span).line;
        problems.push(format!("line {line}: unexpected {}: {}", left.code, left.message));
    }
    problems
}

/// Removes an expected diagnostic from those found.
fn reported(
    sources: &Sources,
    found: &mut Vec<Diagnostic>,
    wanted: &str,
    line: u32,
) -> Option<String> {
    let mut words = wanted.split_whitespace();
    let severity = if words.next() == Some("warn") { Severity::Warning } else { Severity::Error };
    let code = words.next().unwrap_or("");
    let position = found.iter().position(|d| {
        d.code.as_str() == code
            && d.severity == severity
            && sources.line_col(d.primary.span).line == line
    });
    let Some(position) = position else { return Some(format!("line {line}: no {code}")) };
    let hit = found.remove(position);
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
fn programs_have_the_types_that_are_written_below_them() {
    let cases = cases();
    assert!(cases.len() >= 80, "only {} cases in {}", cases.len(), folder().display());
    let mut failed = Vec::new();
    for case in &cases {
        for problem in problems(case) {
            failed.push(format!("{} / {}: {problem}", case.file, case.title));
        }
    }
    assert!(failed.is_empty(), "{} problems:\n{}", failed.len(), failed.join("\n"));
}

/// Every way to damage a program a little: the checker must answer each of them.
#[test]
fn damaged_programs_do_not_break_the_checker() {
    for case in cases() {
        let lines: Vec<&str> = case.text.lines().collect();
        for skipped in 0..lines.len() {
            let kept = lines.iter().enumerate().filter(|(index, _)| *index != skipped);
            check(&kept.map(|(_, line)| *line).collect::<Vec<_>>().join("\n"));
        }
        for (from, to) in
            [("1", "true"), ("[", "("), ("i", "j"), ("f32", "str"), ("0", "0.5"), (", ", " + ")]
        {
            check(&case.text.replace(from, to));
        }
    }
}

#[test]
fn deep_trees_and_long_chains_are_checked_without_overflow() {
    // Name resolution walks the same trees on the caller's stack, which tests keep small.
    let builder = std::thread::Builder::new().stack_size(64 << 20);
    let handle = builder.spawn(deep_trees).expect("a thread can be started");
    assert!(handle.join().is_ok());
}

fn deep_trees() {
    check(&format!("let x = {};", vec!["1"; 1000].join(" + ")));
    check(&format!("let x = {}1{};", "(1 + ".repeat(150), ")".repeat(150)));
    let chain: String =
        (1..2000).map(|n| format!("fn f{n}(x) {{ f{}(x) + 1 }}\n", n - 1)).collect();
    check(&format!("fn f0(x) {{ x }}\n{chain}let y = f1999(2);"));
    check("struct A { a: A, b: A }\nfn f(x: A) -> A { sqrt(x) + x }");
    let later: String =
        (0..500).map(|n| format!("let a{n}[i in 0..2] = a{}[i];\n", n + 1)).collect();
    check(&format!("{later}let a500[i in 0..2] = i;"));
}

#[test]
fn endless_specialisation_is_an_error() {
    let (_, _, _, found) = check("fn grow(x) { grow([x]) }\nlet y = grow(1);");
    assert!(found.iter().any(|d| d.code.as_str() == "E0403"), "{found:?}");
    // Types that double, and literals that stay open all the way down.
    for text in [
        "fn g(x, n) { g((x, x), n) }\nlet a = g(1.0, 3);",
        "fn g(x, n) { g((x, n), n) }\nlet a = g(1.0, 3);",
    ] {
        let (_, _, _, found) = check(text);
        assert!(found.iter().any(|d| d.code.as_str() == "E0403"), "{text}: {found:?}");
    }
}
