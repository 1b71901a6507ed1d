//! The programs that a command is about: files, directories, standard input, `-c`.
//!
//! Invariants: the order is that of the command line, and within a directory the alphabet; no path
//! comes twice; a path that cannot be read is still an input, so that it is reported in its place.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use einlang_driver::{COMMAND_LINE, STANDARD_INPUT, Session};
use einlang_source::{Diagnostics, FileId};

use crate::args::{ProgramArg, ProgramArgs};
use crate::exit::Stop;
use crate::message::{Level, Message, quoted};
use crate::terminal::Terminal;

/// Where a program comes from.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Input {
    File(PathBuf),
    Stdin,
    Text(String),
}

impl Input {
    /// The name that messages show.
    pub(crate) fn name(&self) -> String {
        match self {
            Input::File(path) => path.display().to_string(),
            Input::Stdin => STANDARD_INPUT.to_owned(),
            Input::Text(_) => COMMAND_LINE.to_owned(),
        }
    }

    /// Brings the program into the session.
    pub(crate) fn load(&self, session: &mut Session<'_>) -> Result<FileId, Diagnostics> {
        match self {
            Input::File(path) => session.load(path),
            Input::Text(text) => Ok(session.add_text(COMMAND_LINE, text.as_str())),
            Input::Stdin => match einlang_driver::disk::read_limited(io::stdin().lock()) {
                Ok(bytes) => session.add_bytes(STANDARD_INPUT, bytes),
                Err(error) => Err(session.unreadable(STANDARD_INPUT, &error).into()),
            },
        }
    }

    fn from_path(path: &Path) -> Input {
        if path == "-" { Input::Stdin } else { Input::File(path.to_owned()) }
    }
}

/// The one program of a command; `command` is who asks.
pub(crate) fn single(arg: &ProgramArg, command: &str) -> Result<Input, Stop> {
    let file = arg.file.as_deref().map(Input::from_path);
    let text = || arg.source.clone().map(Input::Text);
    let help =
        format!("name a file, as in `einlang {command} model.ein`, or `-` for standard input");
    file.or_else(text).ok_or_else(|| nothing(command, &help))
}

/// All programs of a command, and the directories in which there were none.
#[derive(Debug, Default)]
pub(crate) struct Inputs {
    pub(crate) list: Vec<Input>,
    /// Those that nobody named: they were found in a directory.
    pub(crate) found: HashSet<Input>,
    empty_directories: Vec<PathBuf>,
}

/// The programs that the arguments name; `command` is who asks.
pub(crate) fn several(args: &ProgramArgs, command: &str) -> Result<Inputs, Stop> {
    if args.paths.is_empty() && args.source.is_none() {
        let help = format!(
            "name files or directories, as in `einlang {command} .`, or `-` for standard input"
        );
        return Err(nothing(command, &help));
    }
    let mut inputs = Inputs::default();
    inputs.list.extend(args.source.clone().map(Input::Text));
    args.paths.iter().for_each(|path| inputs.add(path));
    let mut seen = HashSet::new();
    inputs.list.retain(|input| seen.insert(input.clone()));
    Ok(inputs)
}

fn nothing(command: &str, help: &str) -> Stop {
    let text = format!("`einlang {command}` needs a program");
    Stop::Usage(Message::error(text).with_help(help))
}

impl Inputs {
    /// A directory without programs is probably the wrong one.
    pub(crate) fn warn_of_empty_directories(&self, terminal: &Terminal) {
        for directory in &self.empty_directories {
            let text = format!("there are no `.ein` files in {}", quoted(directory));
            terminal.say(&Message::new(Level::Warning, text));
        }
    }

    fn add(&mut self, path: &Path) {
        if path == "-" || !path.is_dir() {
            return self.list.push(Input::from_path(path));
        }
        let found = programs_below(path);
        if found.is_empty() {
            self.empty_directories.push(path.to_owned());
        }
        let found: Vec<Input> = found.into_iter().map(Input::File).collect();
        self.found.extend(found.iter().cloned());
        self.list.extend(found);
    }
}

/// Every `.ein` file of a directory and of those below it. Hidden directories are left out, links
/// to directories are not followed, and what cannot be listed counts as empty.
fn programs_below(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut entries: Vec<_> = entries.collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    let mut found = Vec::new();
    for entry in entries {
        let path = directory.join(entry.file_name());
        let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
        match is_directory {
            true if is_hidden => {}
            true => found.extend(programs_below(&path)),
            false if path.extension().is_some_and(|extension| extension == "ein") => {
                found.push(without_dots(&path));
            }
            false => {}
        }
    }
    found
}

/// The path without `.`, so that `einlang check .` speaks of `a.ein` and not of `./a.ein`.
fn without_dots(path: &Path) -> PathBuf {
    path.components().filter(|part| *part != Component::CurDir).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(paths: &[&Path]) -> Vec<String> {
        let paths = paths.iter().map(|path| path.to_path_buf()).collect();
        let inputs = several(&ProgramArgs { paths, source: None }, "check").expect("some paths");
        inputs.list.iter().map(Input::name).collect()
    }

    #[test]
    fn directories_are_searched_in_order() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let root = folder.path();
        for name in ["b/x.ein", "b/.hidden/no.ein", "a.ein", "z.ein", "notes.md", "b/c/y.ein"] {
            let path = root.join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, "").expect("a file");
        }
        let found: Vec<_> = names(&[root]);
        let expected = ["a.ein", "b/c/y.ein", "b/x.ein", "z.ein"];
        assert_eq!(found, expected.map(|name| root.join(name).display().to_string()));
    }

    #[test]
    fn a_path_comes_once() {
        let (a, stdin) = (Path::new("a.ein"), Path::new("-"));
        assert_eq!(names(&[stdin, a, stdin, a]), ["<standard input>", "a.ein"]);
    }

    #[test]
    fn an_empty_directory_is_remembered() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let args = ProgramArgs { paths: vec![folder.path().to_owned()], source: None };
        let inputs = several(&args, "check").expect("some paths");
        assert_eq!((inputs.list.len(), inputs.empty_directories.len()), (0, 1));
        assert!(several(&ProgramArgs { paths: Vec::new(), source: None }, "check").is_err());
    }
}
