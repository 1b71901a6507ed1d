//! The meaning of Einlang programs: what every name, axis, range and shape is, without data.
//!
//! [`resolve`] loads the modules of a program and gives every name its definition;
//! [`types::check`] gives every expression an element type and a rank, [`coords::check`] every
//! axis its coordinate. Ranges and shapes build on their results.
//!
//! Invariants: nothing here panics on any program; all I/O goes through a [`World`]; errors are
//! data, each with a code and a help line.

pub mod builtins;
mod context;
pub mod coords;
pub mod entries;
mod errors;
mod formula;
pub mod hir;
mod library;
pub mod lower;
mod modules;
mod names;
pub mod shapes;
mod stack;
pub mod types;
pub mod units;

use std::path::Path;

use einlang_source::{Diagnostics, FileId, Interner, Sources, World};
use einlang_syntax::Tree;

use context::Context;
use hir::Program;

pub use library::{Library, NoLibrary};
pub use modules::outline::Outline;

/// A program whose names have found their definitions.
#[derive(Debug)]
pub struct Resolved {
    /// Modules, items and bodies.
    pub program: Program,
    /// The spellings of its names.
    pub interner: Interner,
    /// The trees of its files; the first is the root's.
    pub trees: Vec<Tree>,
    /// What is wrong, syntax errors included.
    pub diagnostics: Diagnostics,
}

impl Resolved {
    /// Whether the program was resolved at all: one with syntax errors is not.
    pub fn is_whole(&self) -> bool {
        !self.program.modules.is_empty()
    }

    /// What is wrong where no Python runs the program: every path that leads there.
    pub fn without_python(&self) -> Diagnostics {
        self.program.python.iter().map(|span| errors::no_python(*span)).collect()
    }
}

/// Loads the modules of the program whose root text is `root`, and resolves every name. `folder`
/// is where the files of its modules lie. Nothing is known of the standard library.
pub fn resolve(world: &dyn World, sources: &mut Sources, root: FileId, folder: &Path) -> Resolved {
    resolve_with(world, &NoLibrary, sources, root, folder)
}

/// Like [`resolve`], with the standard library, of which only what the program reaches is parsed.
pub fn resolve_with(
    world: &dyn World,
    library: &dyn Library,
    sources: &mut Sources,
    root: FileId,
    folder: &Path,
) -> Resolved {
    let mut cx = Context::default();
    let loaded = modules::load::load(world, sources, root, folder, &mut cx.diagnostics);
    resolve_loaded(library, sources, cx, loaded, false)
}

/// Loads the entries of a session and resolves every name of the last one. Each entry is a scope
/// of its own inside those before it. Of the earlier ones only items and bindings are left: what
/// they did for its effect is done. If the last entry ends with an expression and `shows` holds, its
/// value is bound to the name [`hir::ENTRY_VALUE`].
pub fn resolve_entries(
    world: &dyn World,
    library: &dyn Library,
    sources: &mut Sources,
    entries: &[FileId],
    shows: bool,
) -> Resolved {
    let mut cx = Context::default();
    let loaded = modules::load::load_entries(world, sources, entries, &mut cx.diagnostics);
    resolve_loaded(library, sources, cx, loaded, shows)
}

fn resolve_loaded(
    library: &dyn Library,
    sources: &mut Sources,
    mut cx: Context,
    mut loaded: modules::load::Loaded,
    shows: bool,
) -> Resolved {
    if cx.diagnostics.is_empty() {
        modules::library::load(library, sources, &mut loaded);
        cx.diagnostics.append(&mut loaded.library_diagnostics);
    }
    let malformed = !cx.diagnostics.is_empty();
    if !malformed {
        // Names in a tree with holes would only echo the syntax errors.
        stack::with_large_stack(|| {
            let collected = modules::collect::collect(&mut cx, &loaded);
            modules::imports::resolve(&mut cx, &collected.uses);
            names::resolve(&mut cx, &loaded, collected, shows);
        });
    }
    let mut diagnostics: Diagnostics = cx.diagnostics.into();
    diagnostics.sort();
    diagnostics.dedup();
    let trees = loaded.files.into_iter().map(|file| file.tree).collect();
    Resolved { program: cx.program, interner: cx.interner, trees, diagnostics }
}
