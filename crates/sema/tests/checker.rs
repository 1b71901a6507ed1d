//! Ranges, shapes and their errors, on the small programs of `tests/checker/*.ein`.
//!
//! `tests/checker/README.md` explains how their expectations are written. Every program of every
//! file is checked, and one report lists all that differs: place, name of the case, what was
//! expected and what was found. Extents and ranges are compared as functions of the sizes they
//! mention, not as text.

#[path = "checker/meaning.rs"]
mod meaning;
#[path = "checker/notation.rs"]
mod notation;

use std::path::{Path, PathBuf};

use einlang_sema::shapes::{self, CheckKind, Options};
use einlang_sema::{coords, resolve, types};
use einlang_source::{Diagnostic, MemoryWorld, Severity, Sources, Span};

use notation::{Case, Expected, Want};

/// A binding or an index that the checker has described.
struct Revealed {
    line: u32,
    name: String,
    text: String,
}

/// All that the checker says about a program.
#[derive(Default)]
struct Found {
    reveals: Vec<Revealed>,
    /// The lines of entry checks.
    checks: Vec<u32>,
    diagnostics: Vec<(u32, Diagnostic)>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/checker")
}

fn cases() -> Vec<Case> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder())
        .map(|list| list.filter_map(|entry| entry.ok()).map(|entry| entry.path()).collect())
        .unwrap_or_default();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "ein"));
    files.sort();
    let read = |file: &PathBuf| {
        let name = file.file_name().map(|name| name.to_string_lossy().to_string());
        notation::cases(
            &name.unwrap_or_default(),
            &std::fs::read_to_string(file).unwrap_or_default(),
        )
    };
    files.iter().flat_map(read).collect()
}

/// Runs the stages up to shapes; a stage that finds errors is the last one.
fn check(text: &str) -> Found {
    let mut sources = Sources::new();
    let file = sources.add("main.ein", text);
    let resolved = resolve(&MemoryWorld::new(), &mut sources, file, Path::new(""));
    let (program, interner) = (&resolved.program, &resolved.interner);
    let mut found = Found::default();
    let line = |span: Span| sources.line_col(span).line;
    let mut report = |list: Vec<Diagnostic>| {
        let failed = list.iter().any(|d| d.severity == Severity::Error);
        found.diagnostics.extend(list.into_iter().map(|d| (line(d.primary.span), d)));
        failed
    };
    if report(resolved.diagnostics.iter().cloned().collect()) {
        return found;
    }
    let (typed, diagnostics) = types::check(program, interner);
    if report(diagnostics.into_vec()) {
        return found;
    }
    let (coords, diagnostics) = coords::check(program, &typed, interner);
    if report(diagnostics.into_vec()) {
        return found;
    }
    let (shapes, diagnostics) =
        shapes::analyse(program, &typed, &coords, interner, &Options::default());
    report(diagnostics.into_vec());
    for reveal in shapes::reveal(program, &typed, &coords, &shapes, interner) {
        found.reveals.push(Revealed {
            line: line(reveal.span),
            name: reveal.name,
            text: reveal.text,
        });
    }
    for check in shapes.instances.iter().flat_map(|instance| &instance.checks) {
        let line = line(check.span);
        if check.kind != CheckKind::Annotation || !declares(text, line) {
            found.checks.push(line);
        }
    }
    found
}

/// Whether inputs or parameters are declared on a line: that these fit their types is always
/// checked.
fn declares(text: &str, line: u32) -> bool {
    let line = text.lines().nth(line.saturating_sub(1) as usize).unwrap_or("");
    ["input ", "fn "].iter().any(|word| line.starts_with(word))
}

/// What differs between the expectations of a case and what was found, with the line in its file.
fn problems(case: &Case) -> Vec<(u32, String)> {
    let mut found = check(&case.text);
    let mut problems = Vec::new();
    for want in &case.wants {
        let problem = match &want.what {
            Expected::Reveal { name, text } => reveals_differ(&found, want.line, name, text),
            Expected::Diagnostic(severity, code, words) => {
                reported(&mut found, want, *severity, code, words)
            }
            Expected::Check => {
                let before = found.checks.len();
                found.checks.retain(|line| *line != want.line);
                (found.checks.len() == before && !want.optional)
                    .then(|| "expected an entry check, found none".to_string())
            }
            Expected::Clean => None,
            Expected::Malformed(text) => Some(format!("malformed expectation `{text}`")),
        };
        problems.extend(problem.map(|problem| (want.line, problem)));
    }
    let fails = case.wants.iter().any(Want::is_error);
    for (line, left) in found.diagnostics {
        // What else is said beside an expected error is not compared, unless it is one too.
        if left.severity == Severity::Error || !fails {
            problems.push((line, format!("unexpected {}: {}", left.code, left.message)));
        }
    }
    found.checks.dedup();
    if !fails {
        problems.extend(found.checks.iter().map(|line| (*line, "unexpected entry check".into())));
    }
    problems
}

/// The alternatives of `wanted` and the descriptions of the name on the line must be the same set.
fn reveals_differ(found: &Found, line: u32, name: &str, wanted: &str) -> Option<String> {
    let got: Vec<&str> = found
        .reveals
        .iter()
        .filter(|reveal| reveal.line == line && reveal.name == name)
        .map(|reveal| reveal.text.as_str())
        .collect();
    let wants: Vec<&str> = wanted.split(" | ").collect();
    let same = wants.iter().all(|want| got.iter().any(|text| meaning::same(want, text)))
        && got.iter().all(|text| wants.iter().any(|want| meaning::same(want, text)));
    if same {
        return None;
    }
    let mut got = got;
    got.dedup();
    let got = if got.is_empty() { "nothing".to_string() } else { format!("`{}`", got.join(" | ")) };
    Some(format!("`{name}`: expected `{wanted}`, found {got}"))
}

/// Removes the diagnostics with this code on this line, and says what they lack.
fn reported(
    found: &mut Found,
    want: &Want,
    severity: Severity,
    code: &str,
    words: &[String],
) -> Option<String> {
    let fits = |line: u32, d: &Diagnostic| {
        line == want.line && d.code.as_str() == code && d.severity == severity
    };
    let hits: Vec<Diagnostic> = found
        .diagnostics
        .iter()
        .filter(|(line, d)| fits(*line, d))
        .map(|(_, d)| d.clone())
        .collect();
    found.diagnostics.retain(|(line, d)| !fits(*line, d));
    if hits.is_empty() {
        return (!want.optional).then(|| format!("expected {code}, found none here"));
    }
    if let Some(bare) = hits.iter().find(|d| d.helps.is_empty()) {
        return Some(format!("{code} has no help: {}", bare.message));
    }
    let said: Vec<String> = hits.iter().map(said).collect();
    let said = said.join(" // ");
    let missing: Vec<&String> = words.iter().filter(|word| !mentions(&said, word)).collect();
    (!missing.is_empty()).then(|| format!("{code} does not mention {missing:?}: {said}"))
}

/// Everything a diagnostic says.
fn said(diagnostic: &Diagnostic) -> String {
    let labels = std::iter::once(&diagnostic.primary).chain(&diagnostic.secondary);
    let mut parts = vec![diagnostic.message.clone()];
    parts.extend(labels.map(|label| label.text.clone()));
    parts.extend(diagnostic.notes.iter().cloned());
    parts.extend(diagnostic.helps.iter().map(|help| help.text.clone()));
    parts.join(" / ")
}

/// Whether a text has this word, not just as a part of a longer one.
fn mentions(text: &str, word: &str) -> bool {
    let in_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back().is_some_and(in_word);
        let after = text[at + word.len()..].chars().next().is_some_and(in_word);
        !(before || after) || !word.chars().all(in_word)
    })
}

#[test]
fn programs_have_the_ranges_and_shapes_that_are_written_beside_them() {
    let cases = cases();
    assert!(cases.len() >= 180, "only {} cases in {}", cases.len(), folder().display());
    let mut report = Vec::new();
    let mut failed = 0;
    for case in &cases {
        let problems = problems(case);
        failed += usize::from(!problems.is_empty());
        for (line, problem) in problems {
            let at = case.first_line + line;
            report.push(format!("{}:{at} ({}): {problem}", case.file, case.name));
        }
    }
    assert!(
        report.is_empty(),
        "{failed} of {} cases differ, in {} places:\n{}",
        cases.len(),
        report.len(),
        report.join("\n")
    );
}

#[test]
fn expectations_are_well_formed_and_cases_have_names_of_their_own() {
    let cases = cases();
    let mut seen = std::collections::HashSet::new();
    for case in &cases {
        let place = format!("{} ({})", case.file, case.name);
        assert!(seen.insert(place.clone()), "{place} occurs twice");
        assert!(!case.wants.is_empty(), "{place} expects nothing");
        for want in &case.wants {
            assert!(!matches!(want.what, Expected::Malformed(_)), "{place}: {want:?}");
        }
    }
}
