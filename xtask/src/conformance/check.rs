//! What `einlang check` must say about a case: the errors that the compiler can already decide,
//! and nothing else.

use super::cases::{Case, ExpectedError};
use super::last_line;
use crate::json::Json;
use std::process::Output;

/// The codes that `check` decides today, in every case that expects them: those of parsing, names,
/// types, coordinates, ranges, shapes and recurrences. A stage that decides more adds its codes here
/// in the same change; a case whose errors are all undecided must check cleanly.
const DECIDED: &[&str] = &[
    "E0101", "E0102", "E0103", "E0110", "E0111", "E0112", "E0113", "E0114", "E0115", "E0116",
    "E0201", "E0202", "E0203", "E0204", "E0205", "E0301", "E0302", "E0303", "E0304", "E0305",
    "W0305", "E0306", "E0307", "E0308", "E0309", "E0310", "E0311", "E0312", "E0401", "E0402",
    "E0403", "E0404", "E0405", "W0406", "E0407", "E0408", "E0409", "E0410", "E0501", "E0502",
    "E0503", "E0601", "E0603",
];

/// Compares the outcome of `check` with the directives of the case.
pub(crate) fn judge(case: &Case, output: &Output) -> Result<(), String> {
    let code = output.status.code().filter(|code| matches!(code, 0 | 1));
    let code = code.ok_or_else(|| last_line(output))?;
    judge_report(case, code, &String::from_utf8_lossy(&output.stderr))
}

fn judge_report(case: &Case, exit_code: i32, stderr: &str) -> Result<(), String> {
    let (warnings, found): (Vec<Json>, Vec<Json>) =
        diagnostics(stderr).into_iter().partition(|d| text(d, "severity") == "warning");
    judge_warnings(case, &warnings)?;
    let expected: Vec<_> = case.errors().filter(|error| is_decided(error.code)).collect();
    match (expected.first(), found.first()) {
        (None, Some(extra)) => Err(format!("unexpected {}", describe(extra))),
        (None, None) if exit_code != 0 => Err("exit code 1 without a diagnostic".to_owned()),
        (Some(first), _) if exit_code == 0 => Err(format!("no error, expected {}", first.code)),
        _ => expected.iter().try_for_each(|error| find_error(error, &found)),
    }
}

/// Every warning is one that the case expects, and those that are decided are there.
fn judge_warnings(case: &Case, found: &[Json]) -> Result<(), String> {
    let extra = found.iter().find(|d| case.warnings().all(|w| w.code != text(d, "code")));
    if let Some(extra) = extra {
        return Err(format!("unexpected {}", describe(extra)));
    }
    let mut decided = case.warnings().filter(|warning| is_decided(warning.code));
    decided.try_for_each(|warning| find_error(&warning, found))
}

/// Where the contract leaves a choice of codes, each of them must be decided.
fn is_decided(pattern: &str) -> bool {
    pattern.split('|').all(|code| DECIDED.contains(&code))
}

fn diagnostics(stderr: &str) -> Vec<Json> {
    let objects = stderr.lines().filter_map(|line| Json::parse(line.trim()));
    objects.filter(|object| object.get("severity").is_some()).collect()
}

/// Narrows the diagnostics down by code, line and words; the first empty set is the complaint.
fn find_error(expected: &ExpectedError<'_>, found: &[Json]) -> Result<(), String> {
    let code = expected.code;
    let is_code = |d: &&Json| code.split('|').any(|code| text(d, "code") == code);
    let hits: Vec<&Json> = found.iter().filter(is_code).collect();
    let first = hits.first().ok_or_else(|| format!("expected {code}, got {}", list(found)))?;
    let hits: Vec<&&Json> = hits.iter().filter(|d| is_at(d, expected.line)).collect();
    let Some(hit) = hits.iter().min_by_key(|d| missing_words(d, &expected.words).len()) else {
        let wanted = expected.line.unwrap_or_default();
        return Err(format!("expected {code} at line {wanted}, got {}", describe(first)));
    };
    let missing = missing_words(hit, &expected.words);
    if !missing.is_empty() {
        return Err(format!("{code} does not mention {}", missing.join(" ")));
    }
    if hits.iter().any(|d| text(d, "help").is_empty()) {
        return Err(format!("{code} has no help line"));
    }
    Ok(())
}

fn is_at(diagnostic: &Json, wanted: Option<usize>) -> bool {
    wanted.is_none_or(|wanted| line(diagnostic) == Some(wanted as f64))
}

fn missing_words<'a>(diagnostic: &Json, words: &[&'a str]) -> Vec<&'a str> {
    let said = format!("{}\n{}", text(diagnostic, "message"), text(diagnostic, "help"));
    words.iter().copied().filter(|word| !mentions(&said, word)).collect()
}

/// Whether the word occurs on its own: `in` is not mentioned by `line`.
fn mentions(text: &str, word: &str) -> bool {
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let joins = |outer, inner| is_word(outer) && is_word(inner);
    text.match_indices(word).any(|(start, _)| {
        let (before, after) = (&text[..start], &text[start + word.len()..]);
        !joins(before.chars().next_back(), word.chars().next())
            && !joins(after.chars().next(), word.chars().next_back())
    })
}

fn text<'a>(diagnostic: &'a Json, key: &str) -> &'a str {
    diagnostic.get(key).and_then(Json::as_str).unwrap_or("")
}

fn line(diagnostic: &Json) -> Option<f64> {
    diagnostic.get("span")?.get("line")?.as_number()
}

fn describe(diagnostic: &Json) -> String {
    let line = line(diagnostic).unwrap_or_default();
    format!("{} at line {line}: {}", text(diagnostic, "code"), text(diagnostic, "message"))
}

fn list(found: &[Json]) -> String {
    let codes: Vec<&str> = found.iter().map(|diagnostic| text(diagnostic, "code")).collect();
    if codes.is_empty() { "no diagnostic".to_owned() } else { codes.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::{Case, judge_report, mentions};

    const ERROR: &str = r#"{"severity": "error", "code": "E0101", "message": "found `;` here",
        "span": {"line": 2}, "help": "write an expression"}"#;

    fn judged(directive: &str, exit_code: i32, stderr: &str) -> String {
        let case = Case::of("errors/some", &format!("let x = ;\n//! {directive}\n"));
        judge_report(&case, exit_code, &stderr.replace('\n', " ")).err().unwrap_or_default()
    }

    #[test]
    fn a_decided_error_must_be_reported_as_described() {
        assert_eq!(judged("error E0101 line 2 mentions ; write", 1, ERROR), "");
        let elsewhere = "expected E0101 at line 3, got E0101 at line 2: found `;` here";
        assert_eq!(judged("error E0101 line 3", 1, ERROR), elsewhere);
        assert_eq!(judged("error E0101 mentions x fou", 1, ERROR), "E0101 does not mention x fou");
        assert_eq!(judged("error E0102", 1, ERROR), "expected E0102, got E0101");
        assert_eq!(judged("error E0102", 0, ""), "no error, expected E0102");
        assert_eq!(judged("error E0102", 1, "panic"), "expected E0102, got no diagnostic");
        let without_help = ERROR.replace("write an expression", "");
        assert_eq!(judged("error E0101", 1, &without_help), "E0101 has no help line");
    }

    #[test]
    fn warnings_are_those_the_case_expects() {
        let warning = ERROR.replace("\"error\"", "\"warning\"").replace("E0101", "W0406");
        assert_eq!(judged("warn W0406 line 2", 0, &warning), "");
        assert_eq!(judged("warn W0999", 0, ""), "");
        assert_eq!(judged("warn W0406", 0, ""), "expected W0406, got no diagnostic");
        let extra = "unexpected W0406 at line 2: found `;` here";
        assert_eq!(judged("out x = 1", 0, &warning), extra);
    }

    #[test]
    fn an_undecided_case_must_check_cleanly() {
        assert_eq!(judged("error E0602", 0, ""), "");
        assert_eq!(judged("out x = 1", 0, ""), "");
        assert_eq!(judged("out x = 1", 1, ERROR), "unexpected E0101 at line 2: found `;` here");
        assert_eq!(judged("out x = 1", 1, ""), "exit code 1 without a diagnostic");
        assert_eq!(judged("error E0101|E0602", 0, ""), "", "one of the choices is undecided");
    }

    #[test]
    fn words_are_mentioned_on_their_own() {
        assert!(mentions("did you mean `in`?", "in"));
        assert!(!mentions("see line 3", "in"));
        assert!(mentions("x[-1] is out", "-1"));
    }
}
