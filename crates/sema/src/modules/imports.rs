//! What every `use` means.
//!
//! Imports can depend on imports (`pub use`), in any order and across files that import each
//! other, so they are resolved in rounds until nothing changes. What is left then is an unknown
//! module or item, a private one, or imports that chase each other.

use einlang_source::{FileId, Name};
use einlang_syntax::SyntaxKind;
use einlang_syntax::Token;
use einlang_syntax::ast::{AstNode, Attributed, UseTree};

use super::collect::{PendingUse, add_entry};
use super::paths::{PathError, path_error, resolve_path};
use crate::context::{Context, span_of};
use crate::errors;
use crate::hir::*;

/// One leaf of a `use`: a full path with the name it gets here, or everything of a module.
struct Import {
    module: ModuleId,
    path: Vec<Ident>,
    /// The words before the first name: `crate`, `self`, `super`, `super` …
    anchors: Vec<SyntaxKind>,
    /// The name it gets; none for `*`.
    name: Option<Ident>,
    public: bool,
    span: einlang_source::Span,
    done: bool,
}

/// Resolves every `use` of the program.
pub(crate) fn resolve(cx: &mut Context, uses: &[PendingUse<'_>]) {
    let mut imports = Vec::new();
    for pending in uses {
        if let Some(tree) = pending.item.tree() {
            let prefix = Prefix { anchors: Vec::new(), path: Vec::new() };
            let public = pending.item.pub_token().is_some();
            flatten(cx, pending.module, pending.file, tree, &prefix, public, &mut imports);
        }
    }
    while round(cx, &mut imports) {}
    report_failures(cx, &imports);
}

/// What a `use` inside a block brings, resolved at once: the modules are complete by then. A path
/// may begin with a type of the blocks around, which `local` finds.
pub(crate) fn in_block(
    cx: &mut Context,
    module: ModuleId,
    file: FileId,
    tree: UseTree<'_>,
    local: &dyn Fn(Name) -> Option<Res>,
) -> Vec<(Ident, Namespace, Res)> {
    let mut imports = Vec::new();
    let prefix = Prefix { anchors: Vec::new(), path: Vec::new() };
    flatten(cx, module, file, tree, &prefix, false, &mut imports);
    let mut found = Vec::new();
    for import in &imports {
        let before = found.len();
        found.extend(variants(cx, import, local));
        match import.name {
            _ if found.len() > before => continue,
            None => {
                if let Ok(res) = container(cx, import).and_then(not_python) {
                    let all = offered(cx, res).into_iter();
                    let span = import.span;
                    found.extend(all.map(|(name, ns, res)| (Ident { name, span }, ns, res)));
                    continue;
                }
            }
            Some(name) => {
                for namespace in [Namespace::Types, Namespace::Values] {
                    let res = lookup(cx, import, namespace).ok();
                    found.extend(res.map(|res| (name, namespace, res)));
                }
            }
        }
        if found.len() == before {
            report_failure(cx, import, None);
            let poisoned = [Namespace::Types, Namespace::Values].map(|ns| (ns, Res::Error));
            let names = import.name.into_iter();
            found.extend(names.flat_map(|name| poisoned.map(|(ns, res)| (name, ns, res))));
        }
    }
    found
}

/// The variants that an import names of an enum of the blocks around.
fn variants(
    cx: &Context,
    import: &Import,
    local: &dyn Fn(Name) -> Option<Res>,
) -> Vec<(Ident, Namespace, Res)> {
    let (first, rest) = match &import.path[..] {
        [first, rest @ ..] if import.anchors.is_empty() => (first, rest),
        _ => return Vec::new(),
    };
    let all = local(first.name).map_or(Vec::new(), |res| offered(cx, res)).into_iter();
    match (import.name, rest) {
        (None, []) => {
            let span = import.span;
            all.map(|(name, space, res)| (Ident { name, span }, space, res)).collect()
        }
        (Some(name), [variant]) => {
            let same = all.filter(|(known, ..)| *known == variant.name);
            same.map(|(_, space, res)| (name, space, res)).collect()
        }
        _ => Vec::new(),
    }
}

#[derive(Clone)]
struct Prefix {
    anchors: Vec<SyntaxKind>,
    path: Vec<Ident>,
}

fn flatten(
    cx: &mut Context,
    module: ModuleId,
    file: FileId,
    tree: UseTree<'_>,
    prefix: &Prefix,
    public: bool,
    out: &mut Vec<Import>,
) {
    let mut prefix = prefix.clone();
    if let Some(path) = tree.path() {
        path.segments().for_each(|segment| add_segment(cx, file, segment, &mut prefix));
    }
    if let Some(list) = tree.list() {
        for inner in list {
            flatten(cx, module, file, inner, &prefix, public, out);
        }
        return;
    }
    let span = span_of(file, tree.range());
    let name = match (tree.glob(), tree.alias()) {
        (Some(_), _) => None,
        (None, Some(alias)) => Some(cx.ident(file, alias)),
        // `use p::{self}` imports `p` under its own name.
        (None, None) => match prefix.path.last() {
            Some(last) => Some(*last),
            None => return,
        },
    };
    let Prefix { anchors, path } = prefix;
    out.push(Import { module, path, anchors, name, public, span, done: false });
}

fn add_segment(cx: &mut Context, file: FileId, segment: Token<'_>, prefix: &mut Prefix) {
    match segment.kind() {
        SyntaxKind::IDENT => prefix.path.push(cx.token(file, segment)),
        SyntaxKind::SELF if !prefix.path.is_empty() => {}
        anchor => prefix.anchors.push(anchor),
    }
}

/// Tries every import once; returns whether anything became known.
fn round(cx: &mut Context, imports: &mut [Import]) -> bool {
    let mut progress = false;
    for import in imports.iter_mut() {
        progress |= match import.name {
            Some(_) if import.done => false,
            Some(name) => {
                import.done = import_name(cx, import, name);
                import.done
            }
            // What a module offers may grow in every round.
            None => import_all(cx, import),
        };
    }
    progress
}

fn import_name(cx: &mut Context, import: &Import, name: Ident) -> bool {
    let mut found = false;
    for namespace in [Namespace::Types, Namespace::Values] {
        if let Ok(res) = lookup(cx, import, namespace) {
            let entry = Entry { res, public: import.public, span: import.span, from_glob: false };
            add_entry(cx, import.module, name, namespace, entry);
            found = true;
        }
    }
    found
}

/// Takes in what a module offers; returns whether there was anything new.
fn import_all(cx: &mut Context, import: &mut Import) -> bool {
    let Ok(res) = container(cx, import).and_then(not_python) else {
        return false;
    };
    import.done = true;
    let mut progress = false;
    for (name, namespace, res) in offered(cx, res) {
        let ident = Ident { name, span: import.span };
        let known = cx.program.modules[import.module].scope.entries.get(&(name, namespace));
        if known.is_some_and(|entry| entry.res == res && (entry.public || !import.public)) {
            continue;
        }
        if known.is_some_and(|entry| is_own_binding(cx, import.module, entry)) {
            let scope = &mut cx.program.modules[import.module].scope;
            progress |= scope.before_bindings.insert((name, namespace), res).is_none();
            continue;
        }
        let entry = Entry { res, public: import.public, span: import.span, from_glob: true };
        let taken_by_name = known.is_some_and(|entry| !entry.from_glob);
        if !taken_by_name {
            progress |= add_entry(cx, import.module, ident, namespace, entry);
        }
    }
    progress
}

/// Whether an entry is a binding of the module's own statements.
fn is_own_binding(cx: &Context, module: ModuleId, entry: &Entry) -> bool {
    matches!(entry.res, Res::Outer(body, _) if cx.program.modules[module].body == Some(body))
}

/// Nobody knows what everything of a module of Python is.
fn not_python(res: Res) -> Result<Res, PathError> {
    match res {
        Res::Python(_) => Err(PathError::NoPython),
        other => Ok(other),
    }
}

/// The public names of a module, or the variants of an enum.
fn offered(cx: &Context, res: Res) -> Vec<(Name, Namespace, Res)> {
    match res {
        Res::Module(module) => {
            let entries = cx.program.modules[module].scope.entries.iter();
            let public = entries.filter(|(_, entry)| entry.public);
            public.map(|((name, namespace), entry)| (*name, *namespace, entry.res)).collect()
        }
        Res::Def(def) => match &cx.program.defs[def].kind {
            DefKind::Enum(item) => {
                let variants = item.variants.iter().enumerate();
                let named = variants.map(|(i, variant)| {
                    (variant.name.name, Namespace::Values, Res::Variant(def, i as u32))
                });
                named.collect()
            }
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

fn lookup(cx: &mut Context, import: &Import, namespace: Namespace) -> Result<Res, PathError> {
    resolve_path(cx, import.module, &import.anchors, &import.path, namespace)
}

fn container(cx: &mut Context, import: &Import) -> Result<Res, PathError> {
    resolve_path(cx, import.module, &import.anchors, &import.path, Namespace::Types)
}

fn report_failures(cx: &mut Context, imports: &[Import]) {
    let unresolved: Vec<&Import> = imports.iter().filter(|import| !import.done).collect();
    for import in &unresolved {
        report_failure(cx, import, Some(&unresolved));
        poison(cx, import);
    }
}

/// Says why an import failed; a private item is the better reason than a missing one.
fn report_failure(cx: &mut Context, import: &Import, unresolved: Option<&[&Import]>) {
    let error = match lookup(cx, import, Namespace::Values) {
        Err(private @ PathError::Private(..)) => private,
        _ => match lookup(cx, import, Namespace::Types).and_then(not_python) {
            Err(error) => error,
            Ok(_) => return,
        },
    };
    let chased = unresolved.and_then(|unresolved| chased_by(import, unresolved, error));
    let diagnostic = match chased {
        Some(other) => errors::import_cycle(&text(cx, &import.path), import.span, other.span),
        None => path_error(cx, &import.path, import.span, error),
    };
    cx.report(diagnostic);
}

/// An import that waits for another import which waits as well.
fn chased_by<'a>(
    import: &Import,
    unresolved: &[&'a Import],
    error: PathError,
) -> Option<&'a Import> {
    let PathError::NoItem(position, module) = error else {
        return None;
    };
    let wanted = import.path.get(position)?.name;
    let offers = |other: &&&Import| {
        other.module == module && other.name.is_some_and(|name| name.name == wanted)
    };
    unresolved.iter().find(offers).copied()
}

/// After an error the name exists and means nothing, so that its uses are not errors too.
fn poison(cx: &mut Context, import: &Import) {
    let Some(name) = import.name else { return };
    for namespace in [Namespace::Types, Namespace::Values] {
        let entry = Entry { res: Res::Error, public: true, span: import.span, from_glob: true };
        let scope = &mut cx.program.modules[import.module].scope;
        scope.entries.entry((name.name, namespace)).or_insert(entry);
    }
}

fn text(cx: &Context, path: &[Ident]) -> String {
    path.iter().map(|word| cx.spelling(word.name)).collect::<Vec<_>>().join("::")
}
