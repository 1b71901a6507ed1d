//! Reads the files of `tests/checker`: programs with their expectations beside them.

use einlang_source::Severity;

/// One program with what is expected of it.
pub(crate) struct Case {
    /// The file it stands in.
    pub(crate) file: String,
    /// The line of its name; the program starts on the next one.
    pub(crate) first_line: u32,
    /// Its name.
    pub(crate) name: String,
    /// The program.
    pub(crate) text: String,
    /// The expectations, in the order of the text.
    pub(crate) wants: Vec<Want>,
}

/// An expectation.
#[derive(Debug)]
pub(crate) struct Want {
    /// The line of the program it is about, counted from 1.
    pub(crate) line: u32,
    /// It may also fail to hold.
    pub(crate) optional: bool,
    /// What is expected.
    pub(crate) what: Expected,
}

/// What can be expected on a line.
#[derive(Debug)]
pub(crate) enum Expected {
    /// `name: text`: what a binding or an index is.
    Reveal { name: String, text: String },
    /// `error E0301 mentions a b`: a diagnostic with words it must contain.
    Diagnostic(Severity, String, Vec<String>),
    /// `check`: a comparison of extents at entry.
    Check,
    /// `clean`: nothing is reported, which is also expected where nothing is said.
    Clean,
    /// Something else.
    Malformed(String),
}

impl Want {
    /// Whether the program is expected to be rejected.
    pub(crate) fn is_error(&self) -> bool {
        matches!(self.what, Expected::Diagnostic(Severity::Error, ..))
    }
}

/// The cases of a file.
pub(crate) fn cases(file: &str, text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if let Some(name) = line.strip_prefix("//// ") {
            cases.push(Case {
                file: file.to_string(),
                first_line: index as u32 + 1,
                name: name.trim().to_string(),
                text: String::new(),
                wants: Vec::new(),
            });
            continue;
        }
        if let Some(case) = cases.last_mut() {
            case.text.push_str(line);
            case.text.push('\n');
            let line_number = index as u32 + 1 - case.first_line;
            let wants = line.split("//~").skip(1).map(|part| want(line_number, part.trim()));
            case.wants.extend(wants);
        }
    }
    cases
}

fn want(line: u32, text: &str) -> Want {
    let (optional, text) = match text.strip_prefix("maybe ") {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    Want { line, optional, what: expected(text) }
}

fn expected(text: &str) -> Expected {
    if text == "check" {
        return Expected::Check;
    }
    if text == "clean" {
        return Expected::Clean;
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    let severity = match words.first() {
        Some(&"error") => Some(Severity::Error),
        Some(&"warn") => Some(Severity::Warning),
        _ => None,
    };
    match (severity, words.as_slice()) {
        (Some(severity), [_, code]) => Expected::Diagnostic(severity, code.to_string(), Vec::new()),
        (Some(severity), [_, code, "mentions", rest @ ..]) if !rest.is_empty() => {
            let rest = rest.iter().map(|word| word.to_string()).collect();
            Expected::Diagnostic(severity, code.to_string(), rest)
        }
        (None, _) => match text.split_once(": ") {
            Some((name, text)) => Expected::Reveal { name: name.into(), text: text.trim().into() },
            None => Expected::Malformed(text.to_string()),
        },
        _ => Expected::Malformed(text.to_string()),
    }
}
