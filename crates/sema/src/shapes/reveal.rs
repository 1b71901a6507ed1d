//! What was found, in words: the type and extents of every binding, the range of every index.

use einlang_source::{Interner, Span};

use super::result::Shapes;
use super::value::Shape;
use crate::hir::*;
use crate::types::{Ty, Typed};

/// One thing that was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reveal {
    /// Where the name is introduced.
    pub span: Span,
    /// The name.
    pub name: String,
    /// `[f32; M, N]` for a binding, `0..K` for an index.
    pub text: String,
}

/// Everything that was found, in source order. A function with several instances is shown for the
/// first one.
pub fn reveal(program: &Program, typed: &Typed, shapes: &Shapes, interner: &Interner) -> Vec<Reveal> {
    let mut reveals = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for id in typed.ids() {
        let (types, found) = (typed.instance(id), shapes.instance(id));
        let body = &program.bodies[types.body];
        let mut name = |local: LocalId, text: String| {
            let ident = body[local].name;
            if seen.insert((types.body, local)) {
                let name = interner.resolve(ident.name).to_owned();
                reveals.push(Reveal { span: ident.span, name, text });
            }
        };
        for (local, index) in &found.indices {
            name(*local, shapes.symbols.show_range(&index.range));
        }
        for (local, shape) in &found.locals {
            let kind = body[*local].kind;
            let named = matches!(kind, LocalKind::Let | LocalKind::Indexed | LocalKind::Param | LocalKind::Pattern | LocalKind::Where);
            let ty = types.local(*local);
            if named && !ty.is_silent() && !found.indices.contains_key(local) {
                name(*local, show(ty, shape, shapes, program, interner));
            }
        }
        for (rest, indices) in &found.rests {
            let ranges: Vec<String> =
                indices.iter().map(|index| shapes.symbols.show_range(&index.range)).collect();
            name(*rest, ranges.join(", "));
        }
    }
    reveals.sort_by_key(|reveal| (reveal.span.start, reveal.span.end, reveal.name.clone()));
    reveals
}

/// A type with its extents in the names of the source.
fn show(
    ty: &Ty,
    shape: &Shape,
    shapes: &Shapes,
    program: &Program,
    interner: &Interner,
) -> String {
    match (ty, shape) {
        (Ty::Differential(inner), _) => {
            format!("@{}", show(inner, shape, shapes, program, interner))
        }
        (Ty::Tensor(element, _), _) => {
            let extents: Vec<String> =
                shape.extents().iter().map(|extent| shapes.symbols.show_extent(extent)).collect();
            let element = show(element, shape.element(), shapes, program, interner);
            if extents.is_empty() {
                return ty.show(program, interner);
            }
            format!("[{element}; {}]", extents.join(", "))
        }
        (Ty::Tuple(parts), Shape::Record(inner)) if parts.len() == inner.len() && !parts.is_empty() => {
            let parts: Vec<String> = (parts.iter().zip(inner))
                .map(|(ty, shape)| show(ty, shape, shapes, program, interner))
                .collect();
            format!("({})", parts.join(", "))
        }
        _ => ty.show(program, interner),
    }
}
