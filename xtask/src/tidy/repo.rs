//! The files that belong to the repository, read once for all checks.

use crate::process;
use crate::project::Project;
use std::fs;
use std::path::Path;

/// Every file that is tracked, or new and not ignored.
pub(crate) struct Repo {
    files: Vec<File>,
}

/// One file of the repository.
pub(crate) struct File {
    /// The path from the root, with `/` between its parts.
    pub(crate) path: String,
    /// The content, unless it is binary.
    pub(crate) text: Option<String>,
}

impl Repo {
    /// Reads the files of the project.
    pub(crate) fn read(project: &Project) -> Result<Repo, String> {
        let paths = listed(project).map_or_else(|| walked(&project.root), Ok)?;
        let files = paths.into_iter().filter_map(|path| read_file(&project.root, path));
        Ok(Repo { files: files.collect() })
    }

    /// A repository for tests.
    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Repo {
        let file = |(path, text): &(&str, &str)| File {
            path: (*path).to_owned(),
            text: Some((*text).to_owned()),
        };
        Repo { files: files.iter().map(file).collect() }
    }

    /// The paths of all files, binary ones included.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|file| file.path.as_str())
    }

    /// The path and the content of every text file.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().filter_map(|file| Some((file.path.as_str(), file.text.as_deref()?)))
    }

    /// The content of one text file.
    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.texts().find(|(candidate, _)| *candidate == path).map(|(_, text)| text)
    }

    /// The manifests of the workspace members: name of the folder, path, content.
    pub(crate) fn manifests(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        self.texts().filter_map(|(path, text)| {
            let folder = path.strip_suffix("/Cargo.toml")?;
            let name = folder.strip_prefix("crates/").or((folder == "xtask").then_some(folder))?;
            (!name.contains('/')).then_some((name, path, text))
        })
    }
}

/// What git knows; nothing outside a git checkout.
fn listed(project: &Project) -> Option<Vec<String>> {
    let mut git = project.git();
    git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"]);
    let output = process::capture(&mut git).ok().filter(|output| output.status.success())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Some(text.split_terminator('\0').map(str::to_owned).collect())
}

/// Every file but build outputs, for a tree that was unpacked from an archive.
fn walked(root: &Path) -> Result<Vec<String>, String> {
    let mut paths = Vec::new();
    walk(root, "", &mut paths).map_err(|error| format!("cannot list the files: {error}"))?;
    paths.sort();
    Ok(paths)
}

fn walk(folder: &Path, prefix: &str, paths: &mut Vec<String>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if !entry.file_type()?.is_dir() {
            paths.push(format!("{prefix}{name}"));
        } else if !matches!(name.as_str(), "target" | ".git") {
            walk(&entry.path(), &format!("{prefix}{name}/"), paths)?;
        }
    }
    Ok(())
}

/// A file that git still lists but that was deleted is no longer part of the repository.
fn read_file(root: &Path, path: String) -> Option<File> {
    let bytes = fs::read(root.join(&path)).ok()?;
    let text = String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
    Some(File { path, text })
}

#[cfg(test)]
mod tests {
    use super::Repo;

    #[test]
    fn manifests_are_those_of_members() {
        let paths =
            ["Cargo.toml", "crates/a/Cargo.toml", "crates/a/b/Cargo.toml", "xtask/Cargo.toml"];
        let repo = Repo::of(&paths.map(|path| (path, "")));
        assert_eq!(repo.manifests().map(|(name, ..)| name).collect::<Vec<_>>(), ["a", "xtask"]);
    }
}
