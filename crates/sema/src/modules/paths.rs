//! Paths: `crate::a::f`, `super::g`, `m::Shape::Dot`.
//!
//! All words of a path but the last are modules or enums. A plain path begins in the module where
//! it is written, or else at the root of the project. `std` and `python` lead outside the program.

use einlang_source::{Diagnostic, Id, Name, Span};
use einlang_syntax::SyntaxKind;

use crate::context::Context;
use crate::errors;
use crate::hir::*;

/// Why a path leads nowhere.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PathError {
    /// There is no module with the name at this position of the path.
    NoModule(usize),
    /// The module has no such item.
    NoItem(usize, ModuleId),
    /// The item is there but private.
    Private(usize, ModuleId, Span),
    /// `super` from the root.
    NoParent,
}

/// Follows a path from a module. All words but the last must be modules or enums.
pub(crate) fn resolve_path(
    cx: &Context,
    from: ModuleId,
    anchors: &[SyntaxKind],
    path: &[Ident],
    namespace: Namespace,
) -> Result<Res, PathError> {
    let mut here = start(cx, from, anchors)?;
    let Some((last, containers)) = path.split_last() else {
        return Ok(here);
    };
    if anchors.is_empty() && is_external(cx, path) {
        return Ok(Res::External);
    }
    for (i, word) in containers.iter().enumerate() {
        let first = i == 0 && anchors.is_empty();
        here = step(cx, here, from, word.name, Namespace::Types, i, first)?;
        if here == Res::External {
            return Ok(here);
        }
    }
    let first = containers.is_empty() && anchors.is_empty();
    step(cx, here, from, last.name, namespace, path.len() - 1, first)
}

/// `std` and `python` are not modules of the program.
fn is_external(cx: &Context, path: &[Ident]) -> bool {
    path.first().is_some_and(|word| matches!(cx.spelling(word.name), "std" | "python"))
}

fn start(cx: &Context, from: ModuleId, anchors: &[SyntaxKind]) -> Result<Res, PathError> {
    let mut module = from;
    for anchor in anchors {
        match anchor {
            SyntaxKind::CRATE => module = Id::from_index(0),
            SyntaxKind::SUPER => {
                module = cx.program.modules[module].parent.ok_or(PathError::NoParent)?;
            }
            _ => {}
        }
    }
    Ok(Res::Module(module))
}

/// One step of a path. The first word of a plain path may also be a module of the project's root.
fn step(
    cx: &Context,
    here: Res,
    from: ModuleId,
    name: Name,
    namespace: Namespace,
    position: usize,
    first: bool,
) -> Result<Res, PathError> {
    match here {
        Res::Module(module) => {
            let root = Id::from_index(0);
            let found = member(cx, module, from, name, namespace, position);
            match found {
                Err(PathError::NoItem(..)) if first && module != root => {
                    member(cx, root, from, name, namespace, position)
                }
                other => other,
            }
        }
        Res::Def(def) => match variant(cx, def, name) {
            Some(res) if namespace == Namespace::Values => Ok(res),
            _ => Err(PathError::NoModule(position)),
        },
        Res::External => Ok(Res::External),
        _ => Err(PathError::NoModule(position)),
    }
}

/// The variant of an enum with this name.
pub(crate) fn variant(cx: &Context, def: DefId, name: Name) -> Option<Res> {
    let DefKind::Enum(item) = &cx.program.defs[def].kind else {
        return None;
    };
    let position = item.variants.iter().position(|variant| variant.name.name == name)?;
    Some(Res::Variant(def, position as u32))
}

fn member(
    cx: &Context,
    module: ModuleId,
    from: ModuleId,
    name: Name,
    namespace: Namespace,
    position: usize,
) -> Result<Res, PathError> {
    let entry = cx.program.modules[module].scope.entries.get(&(name, namespace));
    match entry {
        Some(entry) if entry.public || is_inside(cx, from, module) => Ok(entry.res),
        Some(entry) => Err(PathError::Private(position, module, entry.span)),
        None => Err(PathError::NoItem(position, module)),
    }
}

/// Private items are visible in their module and in the modules inside it.
fn is_inside(cx: &Context, inner: ModuleId, outer: ModuleId) -> bool {
    let mut module = Some(inner);
    while let Some(id) = module {
        if id == outer {
            return true;
        }
        module = cx.program.modules[id].parent;
    }
    false
}

/// The message for a path that leads nowhere.
pub(crate) fn path_error(cx: &Context, path: &[Ident], span: Span, error: PathError) -> Diagnostic {
    let word = |position: usize| match path.get(position) {
        Some(ident) => (cx.spelling(ident.name), ident.span),
        None => ("super", span),
    };
    match error {
        PathError::NoParent => errors::no_parent(span),
        PathError::NoModule(position) => {
            let (name, at) = word(position.saturating_sub(1));
            errors::unknown_module(name, at, names_in(cx, None))
        }
        PathError::NoItem(position, module) if position + 1 < path.len() => {
            let (name, at) = word(position);
            errors::unknown_module(name, at, names_in(cx, Some(module)))
        }
        PathError::NoItem(position, module) => {
            let (name, at) = word(position);
            let owner = module_name(cx, module);
            errors::unknown_item(name, at, &owner, names_in(cx, Some(module)))
        }
        PathError::Private(position, module, declared) => {
            let (name, at) = word(position);
            errors::private_item(name, at, &module_name(cx, module), declared)
        }
    }
}

fn module_name(cx: &Context, module: ModuleId) -> String {
    match cx.program.modules[module].name {
        Some(name) => cx.spelling(name.name).to_string(),
        None => "crate".to_string(),
    }
}

fn names_in(cx: &Context, module: Option<ModuleId>) -> Vec<&str> {
    let module = module.unwrap_or(Id::from_index(0));
    let scope = &cx.program.modules[module].scope;
    scope.entries.keys().map(|(name, _)| cx.spelling(*name)).collect()
}
