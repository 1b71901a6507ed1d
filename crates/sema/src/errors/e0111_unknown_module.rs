//! E0111: a module that is not there.

use std::path::{Path, PathBuf};

use einlang_source::{Code, Diagnostic, Span, WorldError};

use super::suggest;

/// A path through a module that does not exist.
pub(crate) fn unknown_module<'a>(
    name: &str,
    span: Span,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Diagnostic {
    let diagnostic =
        Diagnostic::error(Code::E0111, format!("unknown module `{name}`"), span, "no such module");
    let help = format!("declare it with `mod {name};` in the file that uses it");
    suggest(diagnostic, name, span, candidates, help)
}

/// A path through an area that the standard library does not have.
pub(crate) fn unknown_library_module<'a>(
    name: &str,
    span: Span,
    owner: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Diagnostic {
    let message = format!("`{owner}` has no module `{name}`");
    let diagnostic = Diagnostic::error(Code::E0111, message, span, "no such module");
    let help = "the areas are listed in the documentation of the standard library".to_string();
    suggest(diagnostic, name, span, candidates, help)
}

/// `python` by itself, or everything that a module of Python has.
pub(crate) fn python_itself(span: Span) -> Diagnostic {
    let message = "what Python has is known only when it runs";
    Diagnostic::error(Code::E0111, message, span, "no function is named here").with_help(
        "name a module, `use python::numpy as np;`, or functions, `use python::math::{sqrt, erf};`",
    )
}

/// `python::…` in a program that no Python runs.
pub(crate) fn no_python(span: Span) -> Diagnostic {
    let message = "Python modules exist only when Python runs the program";
    Diagnostic::error(Code::E0111, message, span, "no Python is here").with_help(
        "run the program from Python with `einlang.run`, where `Options` may forbid them, or with \
             `python -m einlang run --allow-python`, or pass the values as `input`s",
    )
}

/// `mod name;` without its file.
pub(crate) fn module_file_missing(name: &str, span: Span, tried: &[PathBuf; 2]) -> Diagnostic {
    let [file, folder] = tried.each_ref().map(|path| path.display().to_string());
    Diagnostic::error(
        Code::E0111,
        format!("the file of module `{name}` is missing"),
        span,
        "declared here",
    )
    .with_help(format!(
        "create `{file}` or `{folder}`, or write the module as `mod {name} {{ … }}`"
    ))
}

/// `mod name;` with a file that cannot be read.
pub(crate) fn module_file_unreadable(
    name: &str,
    span: Span,
    path: &Path,
    error: &WorldError,
) -> Diagnostic {
    let path = path.display();
    Diagnostic::error(
        Code::E0111,
        format!("cannot read module `{name}` from `{path}`: {error}"),
        span,
        "declared here",
    )
    .with_help("a module is a readable text file in UTF-8")
}

/// `mod name;` where both forms of the file exist.
pub(crate) fn module_file_twice(name: &str, span: Span, found: &[PathBuf; 2]) -> Diagnostic {
    let [file, folder] = found.each_ref().map(|path| path.display().to_string());
    Diagnostic::error(
        Code::E0111,
        format!("module `{name}` has two files"),
        span,
        format!("both `{file}` and `{folder}` exist"),
    )
    .with_help("keep one of the two files")
}

/// Files that declare modules without end.
pub(crate) fn modules_too_deep(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error(
        Code::E0111,
        format!("module `{name}` is nested too deeply"),
        span,
        "declared here",
    )
    .with_help("look for a link in the file system that leads back to itself")
}

/// `super` at the root.
pub(crate) fn no_parent(span: Span) -> Diagnostic {
    Diagnostic::error(
        Code::E0111,
        "`super` leads above the root module",
        span,
        "no module is there",
    )
    .with_help("use `crate::…` for paths from the root")
}
