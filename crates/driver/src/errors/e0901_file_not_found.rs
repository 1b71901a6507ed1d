//! E0901: there is nothing to read at a path.

use std::path::{Path, PathBuf};

use einlang_source::{Code, Diagnostic, FileId, Span, World, WorldError, nearest};

/// A file that does not exist, or that exists and may not be read.
pub(super) fn not_found(name: &str, file: FileId, error: &WorldError) -> Diagnostic {
    let place = Span::at(file, 0);
    let message = match error {
        WorldError::NotFound => format!("there is no file `{name}`"),
        error => format!("cannot read `{name}`: {error}"),
    };
    Diagnostic::error(Code::E0901, message, place, "").with_help(advice(error))
}

fn advice(error: &WorldError) -> &'static str {
    match error {
        WorldError::NotFound => {
            "check the spelling; a relative path starts at the current directory"
        }
        WorldError::Denied => "check the permissions of the file and of the directories above it",
        _ => "check that the path names a file that can be read",
    }
}

/// Gives a path that does exist in place of the general advice, where one is near.
pub(crate) fn suggest_path(
    mut diagnostic: Diagnostic,
    error: &WorldError,
    world: &dyn World,
    path: &Path,
) -> Diagnostic {
    let may_be_a_slip = matches!(error, WorldError::NotFound | WorldError::IsDirectory);
    match similar_path(world, path).filter(|_| may_be_a_slip) {
        Some(found) => {
            diagnostic.helps.clear();
            diagnostic.with_help(format!("did you mean `{found}`?"))
        }
        None => diagnostic,
    }
}

/// The file with the extension that was left out, the main file of a directory, or the file beside
/// it whose name is nearly the same.
fn similar_path(world: &dyn World, path: &Path) -> Option<String> {
    let mut with_extension = path.as_os_str().to_owned();
    with_extension.push(".ein");
    let candidates = [with_extension.into(), path.join("main.ein")];
    let found = candidates.into_iter().find(|candidate| world.exists(candidate));
    found.or_else(|| similar_name(world, path)).map(|found| found.display().to_string())
}

fn similar_name(world: &dyn World, path: &Path) -> Option<PathBuf> {
    let directory = path.parent()?;
    let names = world.list(directory);
    let wanted = path.file_name()?.to_string_lossy();
    let name = nearest(&wanted, names.iter().map(String::as_str))?;
    Some(directory.join(name))
}

#[cfg(test)]
mod tests {
    use einlang_source::MemoryWorld;

    use crate::Session;

    /// Headline and help for a path in a world with two files.
    fn said(path: &str) -> (String, String) {
        let world = MemoryWorld::new().with("model.ein", "").with("src/main.ein", "");
        let errors = Session::new(&world).load(path.as_ref()).expect_err("it is not there");
        let first = errors.into_vec().remove(0);
        (first.message, first.helps[0].text.clone())
    }

    #[test]
    fn what_was_probably_meant_is_suggested() {
        assert_eq!(said("model").1, "did you mean `model.ein`?");
        assert_eq!(said("src").1, "did you mean `src/main.ein`?");
        assert_eq!(said("modle.ein").1, "did you mean `model.ein`?");
        assert_eq!(said("src/mian.ein").1, "did you mean `src/main.ein`?");
        assert!(said("nothing.ein").1.starts_with("check the spelling"));
    }

    #[test]
    fn the_headline_names_the_file() {
        assert_eq!(said("nothing.ein").0, "there is no file `nothing.ein`");
    }
}
