//! Paths: `crate::a::f`, `super::g`, `m::Shape::Dot`.
//!
//! All words of a path but the last are modules or enums. A plain path begins in the module where
//! it is written, or else at the root of the project. `std` leads into the library, and inside the
//! library `std::intrinsics::f` is what the compiler itself provides. `python::a::f` is the function `a.f`
//! of Python: any words may follow, for what is there is known when Python runs the program.

use einlang_source::{Diagnostic, Id, Name, Span};
use einlang_syntax::SyntaxKind;

use super::library::STD;
use crate::builtins::{Builtin, Function};
use crate::context::Context;
use crate::errors;
use crate::hir::*;

/// The word that leads to Python.
const PYTHON: &str = "python";

/// The module of `std` that only `std` can see.
const INTRINSICS: &str = "intrinsics";

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
    /// `python` without a module of it.
    NoPython,
}

/// Follows a path from a module. All words but the last must be modules or enums.
pub(crate) fn resolve_path(
    cx: &mut Context,
    from: ModuleId,
    anchors: &[SyntaxKind],
    path: &[Ident],
    namespace: Namespace,
) -> Result<Res, PathError> {
    let mut here = start(cx, from, anchors)?;
    let Some((last, containers)) = path.split_last() else {
        return Ok(here);
    };
    if anchors.is_empty() {
        match cx.spelling(path[0].name) {
            PYTHON => return python_path(cx, path),
            STD => return library_path(cx, from, path, namespace),
            _ => {}
        }
    }
    for (i, word) in containers.iter().enumerate() {
        let first = i == 0 && anchors.is_empty();
        here = step(cx, here, from, word.name, Namespace::Types, i, first)?;
        match here {
            Res::External => return Ok(here),
            Res::Python(base) => return Ok(python_member(cx, base, &path[i + 1..])),
            _ => {}
        }
    }
    let first = containers.is_empty() && anchors.is_empty();
    step(cx, here, from, last.name, namespace, path.len() - 1, first)
}

/// Follows a path whose first word is known.
pub(crate) fn resolve_within(
    cx: &mut Context,
    mut here: Res,
    from: ModuleId,
    path: &[Ident],
    namespace: Namespace,
) -> Result<Res, PathError> {
    for (i, word) in path.iter().enumerate().skip(1) {
        let of = if i + 1 == path.len() { namespace } else { Namespace::Types };
        here = step(cx, here, from, word.name, of, i, false)?;
        match here {
            Res::External => return Ok(here),
            Res::Python(base) => return Ok(python_member(cx, base, &path[i + 1..])),
            _ => {}
        }
    }
    Ok(here)
}

/// A path that begins with `python`.
fn python_path(cx: &mut Context, path: &[Ident]) -> Result<Res, PathError> {
    match path {
        [first, module, rest @ ..] => {
            let end = rest.last().unwrap_or(module).span.end;
            let span = Span { end, ..first.span };
            // An import looks for its path among types and among values.
            if cx.program.python.last() != Some(&span) {
                cx.program.python.push(span);
            }
            Ok(python_member(cx, module.name, rest))
        }
        _ => Err(PathError::NoPython),
    }
}

/// What Python has at the end of some words, beginning at a dotted path.
pub(crate) fn python_member(cx: &mut Context, base: Name, words: &[Ident]) -> Res {
    let mut dotted = cx.spelling(base).to_owned();
    for word in words {
        dotted.push('.');
        dotted.push_str(cx.spelling(word.name));
    }
    Res::Python(cx.interner.intern(&dotted))
}

/// A path that begins with `std`.
fn library_path(
    cx: &Context,
    from: ModuleId,
    path: &[Ident],
    namespace: Namespace,
) -> Result<Res, PathError> {
    let Some(root) = cx.program.std else { return Ok(Res::External) };
    if let [_, area, name] = path
        && cx.program.modules[from].library
        && cx.spelling(area.name) == INTRINSICS
    {
        let found =
            Function::parse(cx.spelling(name.name)).filter(|_| namespace == Namespace::Values);
        return found
            .map(|function| Res::Builtin(Builtin::Function(function)))
            .ok_or(PathError::NoItem(2, root));
    }
    let mut here = Res::Module(root);
    for (i, word) in path.iter().enumerate().skip(1) {
        let wanted = if i + 1 == path.len() { namespace } else { Namespace::Types };
        here = step(cx, here, from, word.name, wanted, i, false)?;
        if here == Res::External {
            return Ok(here);
        }
    }
    match (path.len(), namespace) {
        (1, Namespace::Values) => Err(PathError::NoModule(0)),
        _ => Ok(here),
    }
}

/// The root of the project or of the library, whichever the module belongs to.
fn root_of(cx: &Context, module: ModuleId) -> ModuleId {
    match cx.program.std {
        Some(std) if cx.program.modules[module].library => std,
        _ => Id::from_index(0),
    }
}

fn start(cx: &Context, from: ModuleId, anchors: &[SyntaxKind]) -> Result<Res, PathError> {
    let mut module = from;
    for anchor in anchors {
        match anchor {
            SyntaxKind::CRATE => module = root_of(cx, module),
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
            let root = root_of(cx, from);
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
        PathError::NoPython => errors::python_itself(span),
        PathError::NoModule(position) => {
            let (name, at) = word(position.saturating_sub(1));
            errors::unknown_module(name, at, names_in(cx, None))
        }
        PathError::NoItem(position, module) if position + 1 < path.len() => {
            let (name, at) = word(position);
            let names = names_in(cx, Some(module));
            match cx.program.modules[module].library {
                true => errors::unknown_library_module(name, at, &module_name(cx, module), names),
                false => errors::unknown_module(name, at, names),
            }
        }
        PathError::NoItem(position, module) => {
            let (name, at) = word(position);
            let owner = module_name(cx, module);
            let names = names_in(cx, Some(module));
            match cx.program.modules[module].library {
                true => errors::unknown_library_item(name, at, &owner, names),
                false => errors::unknown_item(name, at, &owner, names),
            }
        }
        PathError::Private(position, module, declared) => {
            let (name, at) = word(position);
            let owner = module_name(cx, module);
            match cx.program.modules[module].library {
                true => errors::private_library_item(name, at, &owner),
                false => errors::private_item(name, at, &owner, declared),
            }
        }
    }
}

fn module_name(cx: &Context, module: ModuleId) -> String {
    let found = &cx.program.modules[module];
    match (found.name, found.parent) {
        (Some(name), Some(parent)) if found.library => {
            format!("{}::{}", module_name(cx, parent), cx.spelling(name.name))
        }
        (Some(name), _) => cx.spelling(name.name).to_string(),
        (None, _) => "crate".to_string(),
    }
}

/// The names of a module that could have been meant; of the library only what it offers.
fn names_in(cx: &Context, module: Option<ModuleId>) -> Vec<&str> {
    let module = module.unwrap_or(Id::from_index(0));
    let Module { scope, library, .. } = &cx.program.modules[module];
    let visible = scope.entries.iter().filter(|(_, entry)| entry.public || !library);
    visible.map(|((name, _), _)| cx.spelling(*name)).collect()
}
