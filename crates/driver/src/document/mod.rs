//! Documentation: a page of Markdown for each public module of a program, from its doc comments.
//!
//! | file | owns |
//! |---|---|
//! | `items.rs` | what a module offers: its public items and what it passes on with `pub use` |
//! | `provided.rs` | the signatures of what the compiler provides |
//! | `markdown.rs` | the text of a page |
//!
//! `//!` at the beginning of a file speaks of the module, `///` of the item after it. What a module
//! passes on from one of its own modules is a section of its page, headed by what that module says
//! of itself, so that a private module is a topic and not a place. Signatures are as they are written.
//!
//! Invariants: pages depend on the texts alone; a program whose names do not resolve has pages too.

mod items;
mod markdown;
mod provided;

use std::path::Path;

use einlang_sema::Outline;
use einlang_source::{Diagnostics, FileId, Sources, World};

pub use items::{Item, Section};
pub use markdown::MARK;

/// What is known of a public module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModulePage {
    /// The words of its path, the first being the name of the program.
    pub path: Vec<String>,
    /// What the module says about itself.
    pub text: String,
    /// The paths of the public modules in it, with what they say about themselves.
    pub modules: Vec<(String, String)>,
    /// What it offers: first what is written in it, then a section for each module it passes on.
    pub sections: Vec<Section>,
}

impl ModulePage {
    /// The file of the page: `index.md` for the root, `a/b.md` for the module `a::b`.
    pub fn file(&self) -> String {
        match &self.path[1..] {
            [] => "index.md".to_owned(),
            below => format!("{}.md", below.join("/")),
        }
    }

    /// The page as Markdown.
    pub fn markdown(&self) -> String {
        markdown::page(self)
    }

    /// Everything that the module offers.
    pub fn items(&self) -> impl Iterator<Item = &Item> {
        self.sections.iter().flat_map(|section| &section.items)
    }
}

/// The pages of the program whose root text is `root` and whose name is `name`, or the errors that
/// keep it from being read. `folder` is where the files of its modules lie.
pub fn pages(
    world: &dyn World,
    sources: &mut Sources,
    root: FileId,
    folder: &Path,
    name: &str,
) -> Result<Vec<ModulePage>, Diagnostics> {
    let (outline, diagnostics) = Outline::load(world, sources, root, folder);
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    let public = (0..outline.n_modules()).filter(|module| outline.is_public(*module));
    Ok(public.map(|module| page(&outline, module, name)).collect())
}

fn page(outline: &Outline, module: usize, name: &str) -> ModulePage {
    let inside = (module + 1..outline.n_modules())
        .filter(|other| outline.parent(*other) == Some(module) && outline.is_public(*other));
    let modules = inside.map(|other| {
        let name = outline.name(other).unwrap_or_default().to_owned();
        (name, outline.documentation(other))
    });
    ModulePage {
        path: path(outline, module, name),
        text: outline.documentation(module),
        modules: modules.collect(),
        sections: items::sections(outline, module),
    }
}

fn path(outline: &Outline, module: usize, name: &str) -> Vec<String> {
    let around = std::iter::successors(Some(module), |module| outline.parent(*module));
    let mut path: Vec<String> =
        around.map(|module| outline.name(module).unwrap_or(name).to_owned()).collect();
    path.reverse();
    path
}

#[cfg(test)]
mod tests;
