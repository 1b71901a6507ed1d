//! What a program says about the extents of its inputs, and whether the values keep to it.
//!
//! Numbers and names are judged here, where the declarations can be named; what is computed from
//! sizes is left to the program's own checks.

use einlang_interp::value::HostValue;
use einlang_sema::hir::{Def, DefKind, Dim, Input, Program, Res, TypeKind};
use einlang_source::{Code, Diagnostic, Diagnostics, Name, Sources, Span};

/// The declaration of an input.
#[derive(Clone, Debug)]
pub(super) struct Declared {
    /// The name.
    name: String,
    /// The type as it is written.
    pub(super) ty: String,
    span: Span,
    axes: Vec<Axis>,
}

#[derive(Clone, PartialEq, Debug)]
enum Axis {
    /// `3`
    Number(u64),
    /// `N`
    Named(Res, String),
    /// Whatever else.
    Other,
}

impl Declared {
    /// The declarations of a program, in order.
    pub(super) fn all(
        program: &Program,
        sources: &Sources,
        spelled: impl Fn(Name) -> String,
    ) -> Vec<Declared> {
        let declared = |def: &Def| match &def.kind {
            DefKind::Input(input) => Some(Declared {
                name: spelled(def.name.name),
                ty: sources.slice(input.ty.span).to_owned(),
                span: def.span,
                axes: axes(input, sources),
            }),
            _ => None,
        };
        program.defs.iter().filter_map(|(_, def)| declared(def)).collect()
    }

    /// What is wrong with the extents of a value, as far as numbers tell.
    pub(super) fn misfit(&self, value: &HostValue) -> Option<String> {
        let shape = value.as_tensor()?.shape();
        let wrong = shape.iter().zip(&self.axes).enumerate().find_map(|(axis, pair)| match pair {
            (extent, Axis::Number(wanted)) if *extent as u64 != *wanted => {
                Some(format!("the extent of its axis {axis} is {extent}, not {wanted}"))
            }
            _ => None,
        });
        wrong.filter(|_| shape.len() == self.axes.len())
    }
}

fn axes(input: &Input, sources: &Sources) -> Vec<Axis> {
    let TypeKind::Tensor(_, dims) = &input.ty.kind else { return Vec::new() };
    // Behind a rest it is not known which axis is which.
    if dims.iter().any(|dim| matches!(dim, Dim::Rest(..) | Dim::AnyRank(_))) {
        return Vec::new();
    }
    let written = sources.slice(input.ty.span);
    let parts: Vec<&str> = written
        .split_once(';')
        .map_or(Vec::new(), |(_, dims)| dims.trim_end_matches(']').split(',').collect());
    let axis = |(at, dim): (usize, &Dim)| match dim {
        Dim::Extent(res, span) => Axis::Named(*res, sources.slice(*span).to_owned()),
        // The expression belongs to another body; a number is its own text.
        Dim::Expr(_) => {
            let digits = parts.get(at).map(|part| part.trim().replace('_', ""));
            digits.and_then(|digits| digits.parse().ok()).map_or(Axis::Other, Axis::Number)
        }
        _ => Axis::Other,
    };
    dims.iter().enumerate().map(axis).collect()
}

/// Sizes of one name that have different values.
pub(super) fn disagreements(declared: &[Declared], values: &[HostValue]) -> Diagnostics {
    let mut known: Vec<(&Axis, usize, usize, &Declared)> = Vec::new();
    let mut errors = Diagnostics::new();
    for (input, value) in declared.iter().zip(values) {
        let Some(tensor) = value.as_tensor() else { continue };
        for (at, (axis, extent)) in input.axes.iter().zip(tensor.shape()).enumerate() {
            let Axis::Named(_, size) = axis else { continue };
            match known.iter().find(|(other, ..)| *other == axis) {
                None => known.push((axis, *extent, at, input)),
                Some((_, same, ..)) if same == extent => {}
                Some((_, other, first_axis, first)) => {
                    let message = format!(
                        "the size `{size}` is {other} in `{}` (axis {first_axis}) and {extent} in \
                         `{}` (axis {at})",
                        first.name, input.name
                    );
                    let here = format!("`{size}` is {extent} here");
                    errors.push(
                        Diagnostic::error(Code::E0705, message, input.span, here)
                            .with_label(first.span, format!("and {other} here"))
                            .with_help("give inputs whose extents agree"),
                    );
                }
            }
        }
    }
    errors
}
