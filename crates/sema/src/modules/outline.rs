//! The modules of a program as they are written: which there are, what stands in each, and whether
//! others may see it. Documentation needs no more than that, and works for programs whose names do
//! not resolve.
//!
//! Invariants: the first module is the root, and parents come before their children.

use std::path::Path;

use einlang_source::{Diagnostics, FileId, Sources, World};
use einlang_syntax::ast::{AstNode, Attributed, Statement};

use super::load::{self, Loaded};

/// The modules of a program before any name is resolved.
pub struct Outline {
    loaded: Loaded,
}

impl Outline {
    /// Loads the files of the program whose root text is `root`, and says which of them are missing
    /// or malformed. `folder` is where the files of its modules lie.
    pub fn load(
        world: &dyn World,
        sources: &mut Sources,
        root: FileId,
        folder: &Path,
    ) -> (Outline, Diagnostics) {
        let mut found = Vec::new();
        let loaded = load::load(world, sources, root, folder, &mut found);
        let mut diagnostics = Diagnostics::new();
        found.into_iter().for_each(|diagnostic| diagnostics.push(diagnostic));
        (Outline { loaded }, diagnostics)
    }

    /// How many modules there are, the root included.
    pub fn n_modules(&self) -> usize {
        self.loaded.modules.len()
    }

    /// The name of a module; the root has none.
    pub fn name(&self, module: usize) -> Option<&str> {
        self.loaded.modules[module].name.as_ref().map(|(name, _)| name.as_str())
    }

    /// The module around a module; the root has none.
    pub fn parent(&self, module: usize) -> Option<usize> {
        self.loaded.modules[module].parent
    }

    /// The module that a module declares under a name.
    pub fn child(&self, module: usize, name: &str) -> Option<usize> {
        (module + 1..self.n_modules())
            .find(|child| self.parent(*child) == Some(module) && self.name(*child) == Some(name))
    }

    /// Whether the module was declared with `pub`, and those around it too.
    pub fn is_public(&self, module: usize) -> bool {
        let mut around = std::iter::successors(Some(module), |module| self.parent(*module));
        around.all(|module| self.loaded.modules[module].public)
    }

    /// The statements of a module.
    pub fn statements(&self, module: usize) -> Vec<Statement<'_>> {
        load::statements(&self.loaded, module)
    }

    /// What the module says about itself: the `//!` lines at its beginning, after other comments if there are
    /// any, or else the doc comment of its declaration.
    pub fn documentation(&self, module: usize) -> String {
        let source = &self.loaded.modules[module];
        let tree = &self.loaded.files[source.file].tree;
        let text = tree.node(source.node).map_or(tree.text(), |node| match source.node {
            0 => tree.text(),
            _ => node.text().trim_start_matches('{'),
        });
        let lines = text.trim_start_matches('\u{feff}').lines().map(str::trim_start);
        let after_licence = lines.skip_while(|line| {
            let is_comment = line.starts_with("//") && !line.starts_with("///");
            line.is_empty() || (is_comment && !line.starts_with("//!"))
        });
        let inner: Vec<&str> = after_licence.map_while(|line| line.strip_prefix("//!")).collect();
        if inner.is_empty() {
            return self.declared_documentation(module);
        }
        let lines = inner.iter().map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end());
        lines.collect::<Vec<_>>().join("\n")
    }

    fn declared_documentation(&self, module: usize) -> String {
        let Some(parent) = self.parent(module) else { return String::new() };
        let declared = self.statements(parent).into_iter().find_map(|statement| match statement {
            Statement::Mod(item) if item.name().map(AstNode::text) == self.name(module) => {
                Some(item)
            }
            _ => None,
        });
        declared.map_or(String::new(), |item| item.doc_lines().collect::<Vec<_>>().join("\n"))
    }
}
