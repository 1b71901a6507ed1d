//! The file of earlier entries, in the folder that the system has for such things. It is a comfort:
//! where it cannot be read or written, nothing is said and nothing fails.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use rustyline::Editor;
use rustyline::history::FileHistory;

use super::editor::Helper;

/// Where earlier entries are kept; nowhere, if that is not wanted or there is no place.
pub(super) struct History(Option<PathBuf>);

/// The history of this user.
pub(super) fn open(unwanted: bool) -> History {
    History(if unwanted { None } else { place(|name| env::var_os(name)) })
}

/// The file, from the environment. An empty `EINLANG_HISTORY` means none.
fn place(var: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    if let Some(path) = var("EINLANG_HISTORY") {
        return (!path.is_empty()).then(|| PathBuf::from(path));
    }
    let folder = |name: &str| var(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = folder("XDG_STATE_HOME")
        .or_else(|| folder("LOCALAPPDATA"))
        .or_else(|| folder("HOME").map(|home| home.join(".local/state")))?;
    Some(state.join("einlang").join("history"))
}

impl History {
    pub(super) fn load(&self, editor: &mut Editor<Helper, FileHistory>) {
        if let Some(path) = &self.0 {
            let _ = editor.load_history(path);
        }
    }

    pub(super) fn save(&self, editor: &mut Editor<Helper, FileHistory>) {
        if let Some(path) = &self.0 {
            let _ = path.parent().map(make_folder);
            let _ = editor.save_history(path);
        }
    }
}

fn make_folder(folder: &Path) -> std::io::Result<()> {
    fs::create_dir_all(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(vars: &[(&str, &str)]) -> Option<PathBuf> {
        place(|name| vars.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into()))
    }

    #[cfg(unix)]
    #[test]
    fn the_environment_says_where() {
        assert_eq!(found(&[]), None);
        assert_eq!(found(&[("HOME", "/h")]), Some("/h/.local/state/einlang/history".into()));
        let state = [("HOME", "/h"), ("XDG_STATE_HOME", "/s")];
        assert_eq!(found(&state), Some("/s/einlang/history".into()));
        assert_eq!(found(&[("HOME", "/h"), ("EINLANG_HISTORY", "")]), None);
        assert_eq!(found(&[("EINLANG_HISTORY", "f")]), Some("f".into()));
        assert_eq!(found(&[("HOME", "relative")]), None);
    }
}
