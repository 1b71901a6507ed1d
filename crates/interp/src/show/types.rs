//! The type of a value as the language writes it, such as `[f32; 2, 3]`.

use crate::value::{HostValue, NodeKind};

/// The type of a value with its extents.
pub fn type_of(value: &HostValue) -> String {
    describe(value, 0)
}

fn describe(value: &HostValue, depth: usize) -> String {
    if depth > super::DEEPEST {
        return "...".to_owned();
    }
    match value {
        HostValue::Scalar(value) => value.elem().to_string(),
        HostValue::Str(_) => "str".to_owned(),
        HostValue::Tensor(tensor) if tensor.shape().is_empty() => tensor.elem().to_string(),
        HostValue::Tensor(tensor) => {
            let extents: Vec<String> = tensor.shape().iter().map(usize::to_string).collect();
            format!("[{}; {}]", tensor.elem(), extents.join(", "))
        }
        HostValue::Node(node) => match &node.kind {
            NodeKind::Tuple => {
                let items: Vec<String> =
                    node.items.iter().map(|item| describe(item, depth + 1)).collect();
                format!("({})", items.join(", "))
            }
            NodeKind::Struct(name, _) | NodeKind::Variant { of: name, .. } => {
                name.as_str().to_owned()
            }
            NodeKind::Closure(_) => "fn".to_owned(),
            NodeKind::List => list(value, depth),
        },
    }
}

/// A list of values that are no lists is a vector; lists of lists are jagged.
fn list(value: &HostValue, depth: usize) -> String {
    let (mut levels, mut at) = (0, value);
    loop {
        match at.as_node() {
            Some(node) if node.kind == NodeKind::List => {
                levels += 1;
                // An empty list says nothing about what it could hold; another one may.
                let found = node.items.iter().find(|item| !is_empty_list(item));
                match found.or(node.items.first()) {
                    Some(item) => at = item,
                    None => break,
                }
            }
            _ => break,
        }
    }
    let elem = match at.as_node() {
        Some(node) if node.kind == NodeKind::List => "()".to_owned(),
        _ => describe(at, depth + 1),
    };
    let n = value.as_node().map_or(0, |node| node.items.len());
    match levels {
        1 => format!("[{elem}; {n}]"),
        2 => format!("jagged[{elem}]"),
        levels => format!("jagged[{elem}; {levels}d]"),
    }
}

fn is_empty_list(value: &HostValue) -> bool {
    value.as_node().is_some_and(|node| node.kind == NodeKind::List && node.items.is_empty())
}

#[cfg(test)]
mod tests {
    use einlang_tir::constant::Const;
    use einlang_tir::types::Elem;

    use super::*;
    use crate::tensor::TensorValue;

    #[test]
    fn types_read_as_in_the_language() {
        let one: HostValue = Const::int(Elem::I32, 1).into();
        let row = HostValue::list(vec![one.clone(), one.clone()]);
        let tensor = TensorValue::f32s([2, 1], [0.0, 1.0]).expect("it fits");
        let pair = HostValue::tuple(vec![one, HostValue::tensor(tensor)]);
        assert_eq!(type_of(&pair), "(i32, [f32; 2, 1])");
        assert_eq!(type_of(&row), "[i32; 2]");
        let jagged = HostValue::list(vec![HostValue::list(vec![]), row]);
        assert_eq!(type_of(&jagged), "jagged[i32]");
    }
}
