//! `einlang doc`: pages of documentation from the doc comments of a program and its modules.
//!
//! Invariants: nothing is written unless all pages can be made; a page that did not change is not
//! written.

use std::path::{Path, PathBuf};

use clap::Args;
use einlang_driver::Session;
use einlang_driver::document::ModulePage;
use einlang_source::World;

use super::diff;
use crate::Shell;
use crate::args::HELP_TEMPLATE;
use crate::exit::{Exit, Stop};
use crate::message::{Message, counted, quoted};

const EXAMPLES: &str = "\
Examples:
  einlang doc model.ein               print the documentation of a file and its public modules
  einlang doc src/mod.ein -o pages    write `pages/index.md` and a page for each public module
  einlang doc src -o pages --check    write nothing; exit with 1 if a page is out of date";

/// Write documentation from doc comments
#[derive(Debug, Args)]
#[command(before_help = EXAMPLES, help_template = HELP_TEMPLATE)]
pub(crate) struct DocArgs {
    /// The root file, or a directory with a `mod.ein` or `main.ein`
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// The directory for the pages [default: they are printed]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// The name of the root module [default: that of the file, or of its directory]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Write nothing; print a diff, and exit with 1 if there is one
    #[arg(long, requires = "output")]
    check: bool,
}

/// Makes the pages and prints, writes or compares them.
pub(crate) fn run(args: &DocArgs, shell: &Shell) -> Result<Exit, Stop> {
    let root = root(&args.path, &shell.world);
    let name = args.name.clone().unwrap_or_else(|| name(&root));
    let mut session = Session::new(&shell.world);
    let made = session.load(&root).and_then(|file| session.document(file, &name));
    let pages = match made {
        Ok(pages) => pages,
        Err(errors) => {
            shell.terminal.diagnostics(session.sources(), &errors);
            return Ok(Exit::with_errors(true));
        }
    };
    match &args.output {
        None => {
            let texts: Vec<String> = pages.iter().map(ModulePage::markdown).collect();
            shell.terminal.print(&texts.join("\n")).map(|()| Exit::Fine)
        }
        Some(folder) if args.check => compare(&pages, folder, shell),
        Some(folder) => write(&pages, folder, shell),
    }
}

/// The root file that a path means.
fn root(path: &Path, world: &dyn World) -> PathBuf {
    if !path.is_dir() {
        return path.to_owned();
    }
    let candidates = ["mod.ein", "main.ein"].map(|name| path.join(name));
    candidates.into_iter().find(|file| world.exists(file)).unwrap_or_else(|| path.to_owned())
}

/// The name of a program: `mod.ein` and `main.ein` are named after their directory.
fn name(root: &Path) -> String {
    let stem = root.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let folder = root.parent().and_then(|folder| match folder.as_os_str().is_empty() {
        true => std::env::current_dir().ok()?.file_name().map(ToOwned::to_owned),
        false => folder.canonicalize().ok()?.file_name().map(ToOwned::to_owned),
    });
    match (stem.as_str(), folder) {
        ("mod" | "main", Some(folder)) => folder.to_string_lossy().into_owned(),
        _ => stem,
    }
}

/// The text that lies where a page belongs.
fn old(path: &Path, shell: &Shell) -> Option<String> {
    shell.world.read_source(path).ok()
}

fn write(pages: &[ModulePage], folder: &Path, shell: &Shell) -> Result<Exit, Stop> {
    let (mut n_written, mut has_failed) = (0, false);
    for page in pages {
        let (path, text) = (folder.join(page.file()), page.markdown());
        if old(&path, shell).as_deref() == Some(&text) {
            continue;
        }
        let made = path.parent().map_or(Ok(()), std::fs::create_dir_all);
        let written = made.map_err(|error| error.to_string()).and_then(|()| {
            shell.world.write_atomic(&path, text.as_bytes()).map_err(|e| e.to_string())
        });
        match written {
            Ok(()) => n_written += 1,
            Err(error) => {
                let text = format!("cannot write {}: {error}", quoted(&path));
                let help = "check the permissions of the directory, or name another one with `-o`";
                shell.terminal.say(&Message::error(text).with_help(help));
                has_failed = true;
            }
        }
    }
    let n_unchanged = pages.len() - n_written;
    let summary = format!("{} written, {n_unchanged} unchanged", counted(n_written, "page"));
    if !has_failed {
        shell.terminal.summary(&summary);
    }
    Ok(Exit::with_errors(has_failed))
}

fn compare(pages: &[ModulePage], folder: &Path, shell: &Shell) -> Result<Exit, Stop> {
    let mut n_different = 0;
    for page in pages {
        let (path, text) = (folder.join(page.file()), page.markdown());
        let before = old(&path, shell).unwrap_or_default();
        if before != text {
            let name = path.display().to_string();
            let color = shell.terminal.color_out();
            shell.terminal.print(&diff::unified(&name, &before, &text, color))?;
            n_different += 1;
        }
    }
    shell.terminal.summary(&format!(
        "{} would change, {} unchanged",
        counted(n_different, "page"),
        pages.len() - n_different
    ));
    Ok(Exit::with_errors(n_different > 0))
}
