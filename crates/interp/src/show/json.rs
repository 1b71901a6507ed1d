//! Values as JSON, for `run --json`.
//!
//! Tensors are nested lists, tuples lists, structs objects; non-finite floats are the strings
//! `"NaN"`, `"inf"` and `"-inf"`. A variant without fields is its name; one with fields is an
//! object with one key, its name, whose value is the field, the list of fields or the object of
//! named fields.

use einlang_tir::constant::Const;

use super::{scalar, type_of};
use crate::tensor::TensorValue;
use crate::value::{HostValue, Node, NodeKind};

/// The object `{"type": …, "shape": …, "data": …}` of an output.
pub fn output_json(value: &HostValue) -> String {
    let shape: Vec<String> = match value {
        HostValue::Tensor(tensor) => tensor.shape().iter().map(usize::to_string).collect(),
        HostValue::Node(node) if node.kind == NodeKind::List => vec![node.items.len().to_string()],
        _ => Vec::new(),
    };
    let (ty, data) = (json_text(&type_of(value)), json_of(value));
    format!("{{\"type\": {ty}, \"shape\": [{}], \"data\": {data}}}", shape.join(", "))
}

/// The value as JSON.
pub fn json_of(value: &HostValue) -> String {
    let mut out = String::new();
    write(value, 0, &mut out);
    out
}

fn number(value: Const) -> String {
    let text = scalar(value);
    match value.as_float() {
        Some(float) if !float.is_finite() => format!("\"{text}\""),
        _ => text,
    }
}

fn write(value: &HostValue, depth: usize, out: &mut String) {
    match value {
        _ if depth > super::DEEPEST => out.push_str("null"),
        HostValue::Scalar(value) => out.push_str(&number(*value)),
        HostValue::Str(text) => out.push_str(&json_text(text)),
        HostValue::Tensor(tensor) => axis(tensor, 0, 0, out),
        HostValue::Node(node) => write_node(node, depth, out),
    }
}

fn write_node(node: &Node, depth: usize, out: &mut String) {
    match &node.kind {
        NodeKind::List | NodeKind::Tuple => array(&node.items, depth, out),
        NodeKind::Struct(_, fields) => object(&node.items, fields, depth, out),
        NodeKind::Variant { name, .. } if node.items.is_empty() => {
            out.push_str(&json_text(name.as_str()));
        }
        NodeKind::Variant { name, fields, .. } => {
            out.push_str(&format!("{{{}: ", json_text(name.as_str())));
            match &node.items[..] {
                items if fields.len() == items.len() => object(items, fields, depth, out),
                [item] => write(item, depth + 1, out),
                items => array(items, depth, out),
            }
            out.push('}');
        }
        NodeKind::Closure(name) => out.push_str(&json_text(&format!("<fn {}>", name.as_str()))),
    }
}

fn array(items: &[HostValue], depth: usize, out: &mut String) {
    out.push('[');
    for (at, item) in items.iter().enumerate() {
        out.push_str(if at > 0 { ", " } else { "" });
        write(item, depth + 1, out);
    }
    out.push(']');
}

fn object(
    items: &[HostValue],
    names: &[einlang_tir::types::Ident],
    depth: usize,
    out: &mut String,
) {
    out.push('{');
    for (at, (item, name)) in items.iter().zip(names).enumerate() {
        out.push_str(if at > 0 { ", " } else { "" });
        out.push_str(&json_text(name.as_str()));
        out.push_str(": ");
        write(item, depth + 1, out);
    }
    out.push('}');
}

fn axis(tensor: &TensorValue, at: usize, first: usize, out: &mut String) {
    let Some(extent) = tensor.shape().get(at) else {
        return out.push_str(&tensor.get(first).map(number).unwrap_or_default());
    };
    let stride: usize = tensor.shape()[at + 1..].iter().product();
    out.push('[');
    for index in 0..*extent {
        out.push_str(if index > 0 { ", " } else { "" });
        axis(tensor, at + 1, first + index * stride, out);
    }
    out.push(']');
}

/// A text in double quotes, escaped as JSON asks.
pub fn json_text(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if (c as u32) < 0x20 => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use einlang_tir::types::{Elem, Ident};

    use super::*;

    #[test]
    fn outputs_are_objects() {
        let tensor = TensorValue::f32s([2, 1], [f32::NAN, 1.5]).expect("it fits");
        assert_eq!(
            output_json(&HostValue::tensor(tensor)),
            r#"{"type": "[f32; 2, 1]", "shape": [2, 1], "data": [["NaN"], [1.5]]}"#
        );
        let inf: HostValue = Const::float(Elem::F64, f64::NEG_INFINITY).into();
        assert_eq!(output_json(&inf), r#"{"type": "f64", "shape": [], "data": "-inf"}"#);
    }

    #[test]
    fn records_are_objects_and_variants_are_tagged() {
        let one: HostValue = Const::int(Elem::I32, 1).into();
        let names: Arc<[Ident]> = Arc::from([Ident::new("x")]);
        let p = HostValue::node(NodeKind::Struct(Ident::new("P"), names), vec![one.clone()]);
        assert_eq!(json_of(&p), r#"{"x": 1}"#);
        let of = Ident::new("Option");
        assert_eq!(json_of(&HostValue::variant(&of, "None", vec![])), r#""None""#);
        assert_eq!(json_of(&HostValue::variant(&of, "Some", vec![one])), r#"{"Some": 1}"#);
        assert_eq!(json_of(&HostValue::str("a\n\u{1}")), r#""a\n\u0001""#);
    }
}
