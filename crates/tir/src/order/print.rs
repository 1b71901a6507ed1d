//! Orders and cycles as text, for reports and fixtures.

use einlang_index::Affine;

use super::{Form, NoOrder, Order, Statement};
use crate::module::{Group, Module};

/// The order as an indented list: `loop`, `phases` and `points`.
pub fn show_order(module: &Module, group: &Group, order: &Order) -> String {
    let mut out = String::new();
    show(module, group, order, 0, &mut out);
    out
}

fn show(module: &Module, group: &Group, order: &Order, depth: usize, out: &mut String) {
    let indent = "  ".repeat(depth);
    match order {
        Order::Points(statement) => {
            *out += &format!("{indent}points {}\n", name(group, *statement));
        }
        Order::Phases(phases) => {
            *out += &format!("{indent}phases\n");
            phases.iter().for_each(|phase| show(module, group, phase, depth + 1, out));
        }
        Order::Loop { forms, inner } => {
            let forms = forms.iter().map(|(statement, form)| {
                format!(
                    "{} by {}",
                    name(group, *statement),
                    show_form(module, group, *statement, form)
                )
            });
            *out += &format!("{indent}loop {}\n", forms.collect::<Vec<_>>().join(", "));
            show(module, group, inner, depth + 1, out);
        }
    }
}

/// The cycle as one line per read.
pub fn show_cycle(group: &Group, no_order: &NoOrder) -> String {
    let mut out = "no order\n".to_owned();
    for read in &no_order.cycle {
        let (reader, writer) = (name(group, read.reader), name(group, read.writer));
        out += &format!("  {reader} reads {} of {writer}\n", read.read);
    }
    out
}

/// The binding and the number of its clause.
fn name(group: &Group, statement: Statement) -> String {
    let binding = group.bindings.get(statement.binding);
    let binding = binding.map_or("?".to_owned(), |binding| binding.name.to_string());
    format!("{binding}/{}", statement.clause)
}

fn show_form(module: &Module, group: &Group, statement: Statement, form: &Form) -> String {
    let axes = group.bindings.get(statement.binding).map(|b| b.dims()).unwrap_or_default();
    let terms = axes.into_iter().zip(form.coefficients.iter().copied());
    let affine = Affine::new(form.offset, terms).unwrap_or_default();
    affine.display(module.vars.names()).to_string()
}
