//! Loads the part of the standard library that a program can reach.
//!
//! The library is a tree of modules like any other: `mod.ein` lists the areas, `math/mod.ein` the
//! topics of an area with the names that each of them offers (`pub use powers::{sqrt, cbrt};`).
//! An item can only be used by naming it, so an area is loaded when a file that mentions `std`
//! mentions its name, and a topic when a file that reaches the area mentions one of the names it
//! offers; in the library itself only imports count, as its files name nothing of each other
//! elsewhere. What is not loaded keeps its entry in the area, for suggestions, and means nothing.
//!
//! Invariant: loading more or less than needed never changes what a program means.

use einlang_source::map::HashSet;
use std::collections::{BTreeMap, BTreeSet};

use einlang_source::{Sources, Span};
use einlang_syntax::SyntaxKind;
use einlang_syntax::ast::{AstNode, SourceFile, Statement, UseTree};

use super::load::{Loaded, LoadedFile, ModuleSource, Unloaded};
use crate::library::Library;

/// The first word of paths into the library.
pub(crate) const STD: &str = "std";

/// Adds the reached modules of the library to a program that is loaded without errors.
pub(crate) fn load(library: &dyn Library, sources: &mut Sources, loaded: &mut Loaded) {
    let words: HashSet<String> =
        loaded.files.iter().flat_map(|file| words(&file.tree)).map(str::to_string).collect();
    if !words.contains(STD) {
        return;
    }
    let mut loader = Loader { library, sources, loaded, areas: BTreeMap::new() };
    let Some(file) = loader.parse("mod.ein") else { return };
    let id = loader.loaded.files[file].file;
    let root = loader.loaded.modules.len();
    let name = Some((STD.to_string(), Span::new(id, 0, 0)));
    loader.loaded.modules.push(module(name, None, true, file));
    loader.loaded.std = Some(root);
    loader.declare_areas(root, file);
    loader.reach(&words);
    while let Some((area, topic)) = loader.next_topic() {
        loader.load_topic(&area, &topic);
    }
    loader.leave_the_rest();
}

/// An area of the library, listed in the root and not loaded until it is reached.
struct Area {
    span: Span,
    parent: usize,
    /// The module, once it is loaded.
    module: Option<usize>,
    /// Words of files that reach this area.
    words: HashSet<String>,
    /// Topics that are not loaded, with the names they offer.
    topics: BTreeMap<String, Topic>,
}

struct Topic {
    span: Span,
    names: BTreeSet<String>,
}

struct Loader<'a> {
    library: &'a dyn Library,
    sources: &'a mut Sources,
    loaded: &'a mut Loaded,
    areas: BTreeMap<String, Area>,
}

impl Loader<'_> {
    fn parse(&mut self, path: &str) -> Option<usize> {
        let text = self.library.text(path)?;
        let file = self.sources.add(format!("<std>/{path}"), text.clone());
        let parsed = einlang_syntax::parse(file, text);
        self.loaded.library_diagnostics.extend(parsed.diagnostics);
        self.loaded.files.push(LoadedFile { file, tree: parsed.tree });
        Some(self.loaded.files.len() - 1)
    }

    fn declare_areas(&mut self, root: usize, file: usize) {
        for (name, span) in declared(&self.loaded.files[file]) {
            let (module, words, topics) = (None, HashSet::default(), BTreeMap::new());
            self.areas.insert(name, Area { span, parent: root, module, words, topics });
        }
    }

    /// Notes that a file, or the program, with these words may use the areas it names.
    fn reach(&mut self, words: &HashSet<String>) {
        let named: Vec<String> =
            self.areas.keys().filter(|name| words.contains(*name)).cloned().collect();
        for name in named {
            self.open(&name);
            if let Some(area) = self.areas.get_mut(&name) {
                area.words.extend(words.iter().cloned());
            }
        }
    }

    /// Loads the list of an area's topics.
    fn open(&mut self, name: &str) {
        let Some((span, parent)) =
            self.areas.get(name).filter(|area| area.module.is_none()).map(|a| (a.span, a.parent))
        else {
            return;
        };
        let Some(file) = self.parse(&format!("{name}/mod.ein")) else { return };
        let index = self.loaded.modules.len();
        self.loaded.modules.push(module(Some((name.to_string(), span)), Some(parent), true, file));
        let topics = topics(&self.loaded.files[file]);
        if let Some(area) = self.areas.get_mut(name) {
            (area.module, area.topics) = (Some(index), topics);
        }
    }

    /// A topic reaches its own area, and those it names after `std`.
    fn reach_from(&mut self, area: &str, file: usize) {
        let found: HashSet<String> =
            imported_words(&self.loaded.files[file].tree).map(str::to_string).collect();
        if let Some(area) = self.areas.get_mut(area) {
            area.words.extend(found.iter().cloned());
        }
        if found.contains(STD) {
            self.reach(&found);
        }
    }

    /// A topic that is needed and not loaded yet.
    fn next_topic(&self) -> Option<(String, String)> {
        self.areas.iter().find_map(|(name, area)| {
            let needed = area.topics.iter().find(|(topic, found)| {
                found.names.is_empty()
                    || area.words.contains(*topic)
                    || found.names.iter().any(|name| area.words.contains(name))
            });
            needed.map(|(topic, _)| (name.clone(), topic.clone()))
        })
    }

    fn load_topic(&mut self, area: &str, topic: &str) {
        let Some((parent, span)) = self.areas.get_mut(area).and_then(|found| {
            let span = found.topics.remove(topic)?.span;
            Some((found.module?, span))
        }) else {
            return;
        };
        let Some(file) = self.parse(&format!("{area}/{topic}.ein")) else { return };
        self.loaded.modules.push(module(
            Some((topic.to_string(), span)),
            Some(parent),
            false,
            file,
        ));
        self.reach_from(area, file);
    }

    fn leave_the_rest(&mut self) {
        for (name, area) in std::mem::take(&mut self.areas) {
            match area.module {
                None => {
                    let rest =
                        Unloaded { parent: area.parent, name, span: area.span, public: true };
                    self.loaded.unloaded.push(rest);
                }
                Some(parent) => {
                    let topics = area.topics.into_iter();
                    self.loaded.unloaded.extend(topics.map(|(name, topic)| Unloaded {
                        parent,
                        name,
                        span: topic.span,
                        public: false,
                    }));
                }
            }
        }
    }
}

fn module(
    name: Option<(String, Span)>,
    parent: Option<usize>,
    public: bool,
    file: usize,
) -> ModuleSource {
    ModuleSource { name, parent, public, file, node: 0, library: true }
}

/// The identifiers of a file.
fn words(tree: &einlang_syntax::Tree) -> impl Iterator<Item = &str> {
    tree.tokens().filter(|token| token.kind() == SyntaxKind::IDENT).map(|token| token.text())
}

/// The identifiers in the imports of a file.
fn imported_words(tree: &einlang_syntax::Tree) -> impl Iterator<Item = &str> {
    let items = SourceFile::of(tree).statements().filter_map(|statement| match statement {
        Statement::Use(item) => Some(item.node()),
        _ => None,
    });
    let tokens = items.flat_map(|item| item.all_tokens());
    tokens.filter(|token| token.kind() == SyntaxKind::IDENT).map(|token| token.text())
}

/// The `mod` items of a file.
fn declared(file: &LoadedFile) -> Vec<(String, Span)> {
    let items = SourceFile::of(&file.tree).statements().filter_map(|statement| match statement {
        Statement::Mod(item) => {
            let name = item.name()?;
            let range = name.range();
            let span = Span::new(file.file, range.start as u32, range.end as u32);
            Some((name.text().to_string(), span))
        }
        _ => None,
    });
    items.collect()
}

/// The topics of an area, with the names that its `pub use topic::{…}` lists.
fn topics(file: &LoadedFile) -> BTreeMap<String, Topic> {
    let mut topics: BTreeMap<String, Topic> = declared(file)
        .into_iter()
        .map(|(name, span)| (name, Topic { span, names: BTreeSet::new() }))
        .collect();
    for statement in SourceFile::of(&file.tree).statements() {
        let Statement::Use(item) = statement else { continue };
        let Some(tree) = item.tree() else { continue };
        let first = tree.path().and_then(|path| path.segments().next());
        let Some(topic) = first.and_then(|first| topics.get_mut(first.text())) else { continue };
        offered(tree, &mut topic.names);
    }
    topics
}

fn offered(tree: UseTree<'_>, names: &mut BTreeSet<String>) {
    if let Some(list) = tree.list() {
        list.into_iter().for_each(|inner| offered(inner, names));
    } else if let Some(alias) = tree.alias() {
        names.insert(alias.text().to_string());
    } else if let Some(last) = tree.path().and_then(|path| path.segments().last()) {
        names.insert(last.text().to_string());
    }
}
