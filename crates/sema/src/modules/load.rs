//! Finds the files of a program: the root, and what its `mod` items name, all the way down.
//!
//! `mod a;` in the root file `dir/main.ein` means `dir/a.ein` or `dir/a/mod.ein`; the modules of
//! `a` itself then lie in `dir/a/`. An inline module `mod a { mod b; }` looks in the folder `a` too.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use einlang_source::{Diagnostic, FileId, Sources, Span, World, WorldError};
use einlang_syntax::Tree;
use einlang_syntax::ast::AstNode;
use einlang_syntax::ast::{Attributed, ModItem, SourceFile, Statement};

use crate::errors;

/// A parsed file.
pub(crate) struct LoadedFile {
    pub(crate) file: FileId,
    pub(crate) tree: Tree,
}

/// A module and where its statements stand.
pub(crate) struct ModuleSource {
    /// The `mod` item's name and its place; none for the root.
    pub(crate) name: Option<(String, Span)>,
    pub(crate) parent: Option<usize>,
    pub(crate) public: bool,
    /// Which of the loaded files it is written in.
    pub(crate) file: usize,
    /// The node that holds its statements.
    pub(crate) node: usize,
    /// It belongs to the standard library.
    pub(crate) library: bool,
}

/// A module of the standard library that the program does not reach.
pub(crate) struct Unloaded {
    pub(crate) parent: usize,
    pub(crate) name: String,
    pub(crate) span: Span,
    pub(crate) public: bool,
}

/// The files and modules of a program; the first module is the root, parents before children.
#[derive(Default)]
pub(crate) struct Loaded {
    pub(crate) files: Vec<LoadedFile>,
    pub(crate) modules: Vec<ModuleSource>,
    /// The files of the root's entries; none for a program, whose root is one file.
    pub(crate) entries: Vec<usize>,
    /// The root of the standard library, when the program reaches it.
    pub(crate) std: Option<usize>,
    pub(crate) unloaded: Vec<Unloaded>,
    /// What is wrong with the library itself; there is a test that nothing is.
    pub(crate) library_diagnostics: Vec<Diagnostic>,
}

/// Modules nested deeper than this are a mistake, such as a link in the file system that leads
/// back to itself.
const MAX_DEPTH: usize = 64;

/// Loads the program whose root text is already in `sources`. `folder` is where its modules lie.
pub(crate) fn load(
    world: &dyn World,
    sources: &mut Sources,
    root: FileId,
    folder: &Path,
    diagnostics: &mut Vec<Diagnostic>,
) -> Loaded {
    let mut loader = Loader { world, sources, diagnostics, loaded: Loaded::default() };
    let file = loader.parse(root);
    let module =
        ModuleSource { name: None, parent: None, public: true, file, node: 0, library: false };
    loader.module(module, folder, 0);
    loader.loaded
}

/// Loads the entries of a session, whose texts are already in `sources`. Modules lie beside the file
/// that an entry comes from, and in the current directory for one that was typed.
pub(crate) fn load_entries(
    world: &dyn World,
    sources: &mut Sources,
    entries: &[FileId],
    diagnostics: &mut Vec<Diagnostic>,
) -> Loaded {
    let mut loader = Loader { world, sources, diagnostics, loaded: Loaded::default() };
    let files: Vec<usize> = entries.iter().map(|file| loader.parse(*file)).collect();
    let Some(last) = files.last().copied() else { return loader.loaded };
    loader.loaded.entries = files.clone();
    let root = ModuleSource {
        name: None,
        parent: None,
        public: true,
        file: last,
        node: 0,
        library: false,
    };
    loader.loaded.modules.push(root);
    for (file, id) in files.into_iter().zip(entries) {
        let name = loader.sources.name(*id).to_owned();
        let folder = Path::new(&name).parent().unwrap_or(Path::new(""));
        loader.children(0, (file, 0), folder, 0);
    }
    loader.loaded
}

/// The statements of the entries, with their files.
pub(crate) fn entry_statements(loaded: &Loaded) -> Vec<(FileId, Vec<Statement<'_>>)> {
    let of = |file: &usize| {
        let loaded = &loaded.files[*file];
        (loaded.file, SourceFile::of(&loaded.tree).statements().collect())
    };
    loaded.entries.iter().map(of).collect()
}

struct Loader<'a> {
    world: &'a dyn World,
    sources: &'a mut Sources,
    diagnostics: &'a mut Vec<Diagnostic>,
    loaded: Loaded,
}

/// A `mod` item, taken out of the tree so that loading can go on.
struct ModDeclaration {
    name: String,
    span: Span,
    public: bool,
    /// The node of the braces of an inline module.
    inline: Option<usize>,
}

impl Loader<'_> {
    fn parse(&mut self, file: FileId) -> usize {
        let text: Arc<str> = self.sources.text_arc(file);
        let parsed = einlang_syntax::parse(file, text);
        self.diagnostics.extend(parsed.diagnostics);
        self.loaded.files.push(LoadedFile { file, tree: parsed.tree });
        self.loaded.files.len() - 1
    }

    fn module(&mut self, module: ModuleSource, folder: &Path, depth: usize) {
        let (file, node) = (module.file, module.node);
        self.loaded.modules.push(module);
        let parent = self.loaded.modules.len() - 1;
        self.children(parent, (file, node), folder, depth);
    }

    /// Loads the modules that a node of a file declares.
    fn children(&mut self, parent: usize, at: (usize, usize), folder: &Path, depth: usize) {
        let (file, node) = at;
        for declaration in self.declarations(file, node) {
            let inner = folder.join(&declaration.name);
            match declaration.inline {
                Some(node) => {
                    let module = child(&declaration, parent, file, node);
                    self.module(module, &inner, depth + 1);
                }
                None if depth >= MAX_DEPTH => {
                    self.diagnostics
                        .push(errors::modules_too_deep(&declaration.name, declaration.span));
                }
                None => {
                    if let Some(file) = self.find(&declaration, folder) {
                        let module = child(&declaration, parent, file, 0);
                        self.module(module, &inner, depth + 1);
                    }
                }
            }
        }
    }

    /// The `mod` items right inside a module.
    fn declarations(&self, file: usize, node: usize) -> Vec<ModDeclaration> {
        let loaded = &self.loaded.files[file];
        let Some(holder) = loaded.tree.node(node) else {
            return Vec::new();
        };
        let items = holder.children().filter_map(|child| match Statement::cast(child) {
            Some(Statement::Mod(item)) => declaration(loaded.file, item),
            _ => None,
        });
        items.collect()
    }

    /// Reads and parses the file of `mod name;`.
    fn find(&mut self, declaration: &ModDeclaration, folder: &Path) -> Option<usize> {
        let (name, span) = (&declaration.name, declaration.span);
        let candidates = [folder.join(format!("{name}.ein")), folder.join(name).join("mod.ein")];
        let found: Vec<&PathBuf> =
            candidates.iter().filter(|path| self.world.exists(path)).collect();
        match found[..] {
            [path] => match self.world.read_source(path) {
                Ok(text) => {
                    let file = self.sources.add(path.display().to_string(), text);
                    Some(self.parse(file))
                }
                Err(error) => self.unreadable(name, span, path, &error),
            },
            [] => {
                self.diagnostics.push(errors::module_file_missing(name, span, &candidates));
                None
            }
            _ => {
                self.diagnostics.push(errors::module_file_twice(name, span, &candidates));
                None
            }
        }
    }

    fn unreadable<T>(
        &mut self,
        name: &str,
        span: Span,
        path: &Path,
        error: &WorldError,
    ) -> Option<T> {
        self.diagnostics.push(errors::module_file_unreadable(name, span, path, error));
        None
    }
}

fn child(declaration: &ModDeclaration, parent: usize, file: usize, node: usize) -> ModuleSource {
    ModuleSource {
        name: Some((declaration.name.clone(), declaration.span)),
        parent: Some(parent),
        public: declaration.public,
        file,
        node,
        library: false,
    }
}

fn declaration(file: FileId, item: ModItem<'_>) -> Option<ModDeclaration> {
    let name = item.name()?;
    let range = name.range();
    Some(ModDeclaration {
        name: name.text().to_string(),
        span: Span::new(file, range.start as u32, range.end as u32),
        public: item.pub_token().is_some(),
        inline: item.items_node().map(|node| node.index()),
    })
}

/// The statements of a module, wherever it is written. Those of entries are no module's: each
/// entry is a scope of its own.
pub(crate) fn statements<'t>(loaded: &'t Loaded, module: usize) -> Vec<Statement<'t>> {
    if module == 0 && !loaded.entries.is_empty() {
        return Vec::new();
    }
    let source = &loaded.modules[module];
    let tree = &loaded.files[source.file].tree;
    match tree.node(source.node) {
        Some(node) if source.node != 0 => node.children().filter_map(Statement::cast).collect(),
        _ => SourceFile::of(tree).statements().collect(),
    }
}
