//! Values as text: what `print` shows, format specifications, and JSON.
//!
//! Floats have the shortest digits that read back as the same number at their precision, with a
//! point or an exponent (`1.0`, `1e-7`, `1e16`). Strings inside other values are quoted. A tensor
//! of more than 1000 elements shows the first and last three of every axis that has more than six,
//! with `...` between them; so does a list of more than 1000 items. Values that nest more than 200
//! deep end in `...`.

mod float;
mod json;
mod spec;
mod types;

use einlang_tir::constant::Const;
use einlang_tir::types::Ident;

pub(crate) use float::shortest;
pub use json::{json_of, json_text, output_json};
pub use spec::{FormatSpec, format_value};
pub use types::type_of;

use crate::tensor::TensorValue;
use crate::value::{HostValue, Node, NodeKind};

/// Values with more elements are shortened.
const MANY: usize = 1000;

/// How many items are shown at each end of a shortened axis.
const EDGE: usize = 3;

/// How deeply values are shown.
pub(crate) const DEEPEST: usize = 200;

/// The value as `print` shows it.
pub fn show(value: &HostValue) -> String {
    match value {
        HostValue::Str(text) => text.to_string(),
        _ => {
            let mut out = String::new();
            write_value(value, 0, &mut out);
            out
        }
    }
}

/// The number or truth value as `print` shows it.
pub fn scalar(value: Const) -> String {
    match (value.as_bool(), value.as_int()) {
        (Some(truth), _) => truth.to_string(),
        (_, Some(int)) => int.to_string(),
        _ => shortest(value),
    }
}

fn write_value(value: &HostValue, depth: usize, out: &mut String) {
    match value {
        _ if depth > DEEPEST => out.push_str("..."),
        HostValue::Scalar(value) => out.push_str(&scalar(*value)),
        HostValue::Str(text) => out.push_str(&json_text(text)),
        HostValue::Tensor(tensor) => out.push_str(&show_tensor(tensor, &scalar)),
        HostValue::Node(node) => write_node(node, depth, out),
    }
}

fn write_node(node: &Node, depth: usize, out: &mut String) {
    let items = &node.items;
    match &node.kind {
        NodeKind::List => {
            out.push('[');
            let edge = if items.len() > MANY { EDGE } else { items.len() };
            write_edges(items.len(), edge, out, &mut |at, out| {
                write_value(&items[at], depth + 1, out);
            });
            out.push(']');
        }
        NodeKind::Tuple => {
            out.push('(');
            write_items(items, &[], depth, out);
            // A tuple of one is no parenthesis.
            out.push_str(if items.len() == 1 { ",)" } else { ")" });
        }
        NodeKind::Struct(name, fields) => {
            // The name of a generic struct has its arguments, and one that shadows another a number;
            // neither is part of the value.
            out.push_str(name.as_str().split(['<', '.']).next().unwrap_or_default());
            write_fields(items, fields, depth, out);
        }
        NodeKind::Variant { name, fields, .. } => {
            out.push_str(name.as_str());
            match (items.is_empty(), fields.len() == items.len()) {
                (true, _) => {}
                (_, true) => write_fields(items, fields, depth, out),
                _ => {
                    out.push('(');
                    write_items(items, &[], depth, out);
                    out.push(')');
                }
            }
        }
        NodeKind::Closure(name) => out.push_str(&format!("<fn {}>", name.as_str())),
    }
}

fn write_fields(items: &[HostValue], fields: &[Ident], depth: usize, out: &mut String) {
    if items.is_empty() {
        return out.push_str(" {}");
    }
    out.push_str(" { ");
    write_items(items, fields, depth, out);
    out.push_str(" }");
}

fn write_items(items: &[HostValue], names: &[Ident], depth: usize, out: &mut String) {
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push_str(", ");
        }
        if let Some(name) = names.get(at) {
            out.push_str(name.as_str());
            out.push_str(": ");
        }
        write_value(item, depth + 1, out);
    }
}

/// The first and last items of `n`, `edge` at each end, with commas between them.
fn write_edges(n: usize, edge: usize, out: &mut String, item: &mut dyn FnMut(usize, &mut String)) {
    let whole = n <= 2 * edge;
    let head = if whole { n } else { edge };
    for at in 0..head {
        out.push_str(if at > 0 { ", " } else { "" });
        item(at, out);
    }
    if !whole {
        out.push_str(", ...");
        for at in n - edge..n {
            out.push_str(", ");
            item(at, out);
        }
    }
}

/// The elements as nested lists.
fn show_tensor(tensor: &TensorValue, element: &dyn Fn(Const) -> String) -> String {
    let edge = if tensor.len() > MANY { EDGE } else { MANY };
    let mut out = String::new();
    write_axis(tensor, element, edge, 0, 0, &mut out);
    out
}

fn write_axis(
    tensor: &TensorValue,
    element: &dyn Fn(Const) -> String,
    edge: usize,
    axis: usize,
    first: usize,
    out: &mut String,
) {
    let Some(extent) = tensor.shape().get(axis) else {
        return out.push_str(&tensor.get(first).map(element).unwrap_or_default());
    };
    let stride: usize = tensor.shape()[axis + 1..].iter().product();
    out.push('[');
    write_edges(*extent, edge, out, &mut |at, out| {
        write_axis(tensor, element, edge, axis + 1, first + at * stride, out);
    });
    out.push(']');
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use einlang_tir::types::Elem;

    use super::*;

    fn int(value: i128) -> HostValue {
        Const::int(Elem::I32, value).into()
    }

    #[test]
    fn records_and_lists() {
        let fields: Arc<[Ident]> = Arc::from([Ident::new("x"), Ident::new("s")]);
        let one: HostValue = Const::float(Elem::F32, 1.0).into();
        let p = HostValue::node(
            NodeKind::Struct(Ident::new("P"), fields),
            vec![one, HostValue::str("a\"b")],
        );
        assert_eq!(show(&p), "P { x: 1.0, s: \"a\\\"b\" }");
        assert_eq!(show(&HostValue::tuple(vec![int(1), int(2)])), "(1, 2)");
        assert_eq!(show(&HostValue::tuple(vec![int(1)])), "(1,)");
        assert_eq!(show(&HostValue::tuple(Vec::new())), "()");
        let of = Ident::new("Option");
        assert_eq!(show(&HostValue::variant(&of, "Some", vec![int(3)])), "Some(3)");
        assert_eq!(show(&HostValue::variant(&of, "None", vec![])), "None");
        let jagged =
            HostValue::list(vec![HostValue::list(vec![int(1), int(2)]), HostValue::list(vec![])]);
        assert_eq!(show(&jagged), "[[1, 2], []]");
        assert_eq!(show(&HostValue::str("plain")), "plain");
    }

    #[test]
    fn long_tensors_are_shortened() {
        let n = 1001;
        let values: Vec<f32> = (0..n).map(|i| i as f32).collect();
        let tensor = TensorValue::f32s([n], values).expect("it fits");
        assert_eq!(show(&HostValue::tensor(tensor)), "[0.0, 1.0, 2.0, ..., 998.0, 999.0, 1000.0]");
        let matrix = TensorValue::f32s([2, 2], [1.0, 2.5, 3.0, -0.0]).expect("it fits");
        assert_eq!(show(&HostValue::tensor(matrix)), "[[1.0, 2.5], [3.0, -0.0]]");
        let empty = TensorValue::f32s([0, 3], []).expect("it fits");
        assert_eq!(show(&HostValue::tensor(empty)), "[]");
        let tall = TensorValue::f32s([2, 600], vec![0.5; 1200]).expect("it fits");
        let row = "[0.5, 0.5, 0.5, ..., 0.5, 0.5, 0.5]";
        assert_eq!(show(&HostValue::tensor(tall)), format!("[{row}, {row}]"));
    }

    #[test]
    fn deep_values_end() {
        let mut value = HostValue::tuple(Vec::new());
        for _ in 0..100_000 {
            value = HostValue::list(vec![value]);
        }
        assert!(show(&value).contains("..."));
    }
}
