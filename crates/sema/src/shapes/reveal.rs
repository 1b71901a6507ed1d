//! What was found, in words: the type and extents of every binding, the range of every index.

use einlang_index::MinMax;
use einlang_source::{Interner, Name, Span};

use super::result::{InstanceShapes, Shapes};
use super::value::Shape;
use crate::coords::{Coords, Layout};
use crate::hir::*;
use crate::types::{Ty, Typed};

/// One thing that was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reveal {
    /// Where the name is introduced.
    pub span: Span,
    /// The name.
    pub name: String,
    /// What is called so.
    pub kind: LocalKind,
    /// The body that it belongs to.
    pub body: BodyId,
    /// `[f32; M, N]` for a binding, `0..K` for an index.
    pub text: String,
}

/// Everything that was found, in source order. A function with several instances is shown for the
/// first one, and the library not at all.
pub fn reveal(
    program: &Program,
    typed: &Typed,
    coords: &Coords,
    shapes: &Shapes,
    interner: &Interner,
) -> Vec<Reveal> {
    let mut reveals = Vec::new();
    let mut seen = einlang_source::map::HashSet::default();
    for id in typed.ids() {
        let (types, found) = (typed.instance(id), shapes.instance(id));
        let body = &program.bodies[types.body];
        let module = match body.owner {
            Owner::Module(module) => module,
            Owner::Def(def) => program.def(def).module,
        };
        if program.modules[module].library {
            continue;
        }
        let names = Names { program, shapes, interner, body, here: found };
        let mut name = |local: LocalId, text: String| {
            let ident = body[local].name;
            if seen.insert((types.body, local)) {
                let name = interner.resolve(ident.name).to_owned();
                let kind = body[local].kind;
                reveals.push(Reveal { span: ident.span, name, kind, body: types.body, text });
            }
        };
        for (local, index) in &found.indices {
            name(*local, shapes.symbols.show_range(&index.range));
        }
        for (local, shape) in found.locals.iter() {
            let kind = body[local].kind;
            let named = matches!(
                kind,
                LocalKind::Let
                    | LocalKind::Indexed
                    | LocalKind::Param
                    | LocalKind::Pattern
                    | LocalKind::Where
            );
            let ty = types.local(local);
            if named && !ty.is_silent() && !found.indices.contains_key(&local) {
                name(local, names.show(ty, shape, &coords.local(id, local)));
            }
        }
        for (rest, indices) in &found.rests {
            let ranges: Vec<String> =
                indices.iter().map(|index| shapes.symbols.show_range(&index.range)).collect();
            name(*rest, ranges.join(", "));
        }
    }
    reveals.sort_by(|a, b| (a.span, &a.name).cmp(&(b.span, &b.name)));
    reveals
}

/// What names are looked up in.
struct Names<'a> {
    program: &'a Program,
    shapes: &'a Shapes,
    interner: &'a Interner,
    body: &'a Body,
    here: &'a InstanceShapes,
}

impl Names<'_> {
    /// Whether an axis is as long as its coordinate, as far as that is known here: a part of an
    /// axis is not called like the whole.
    fn is_whole(&self, name: Name, extent: &MinMax) -> bool {
        let declared = self.body.locals.iter().filter(|(_, local)| {
            matches!(local.kind, LocalKind::Extent(_)) && local.name.name == name
        });
        let mut values = declared.filter_map(|(id, _)| self.here.locals.get(&id));
        values.all(|value| *value == Shape::Int(extent.clone()))
    }

    /// A type with its extents in the names of the source; an axis with a coordinate by its name.
    fn show(&self, ty: &Ty, shape: &Shape, layout: &Layout) -> String {
        match (ty, shape) {
            (Ty::Differential(inner), _) => format!("@{}", self.show(inner, shape, layout)),
            (Ty::Tensor(element, _), _) => {
                let extents = shape.extents();
                let named = layout.axes.len() == extents.len();
                let extent = |(axis, extent): (usize, &MinMax)| {
                    let axis = layout.axes.get(axis).filter(|_| named);
                    match axis.and_then(|axis| axis.coordinate) {
                        Some(coordinate) if self.is_whole(coordinate.name, extent) => {
                            self.interner.resolve(coordinate.name).to_owned()
                        }
                        _ => self.shapes.symbols.show_extent(extent),
                    }
                };
                let extents: Vec<String> = extents.iter().enumerate().map(extent).collect();
                if extents.is_empty() {
                    return ty.show(self.program, self.interner);
                }
                let element = self.show(element, shape.element(), &Layout::default());
                format!("[{element}; {}]", extents.join(", "))
            }
            (Ty::Tuple(parts), Shape::Record(shapes))
                if parts.len() == shapes.len() && !parts.is_empty() =>
            {
                let none = Layout::default();
                let show = |(at, (ty, shape)): (usize, (&Ty, &Shape))| {
                    self.show(ty, shape, layout.parts.get(at).unwrap_or(&none))
                };
                let parts: Vec<String> = parts.iter().zip(shapes).enumerate().map(show).collect();
                format!("({})", parts.join(", "))
            }
            _ => ty.show(self.program, self.interner),
        }
    }
}
