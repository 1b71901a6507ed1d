//! Parts of programs that are written as text at once. What they mean is worked out here, in plain
//! Rust beside each of them, and compared as values or as printed lines.

use super::build::Builder;
use super::evaluate::Tensor;
use super::facts::{Element, Value};

/// Products of several numbers up to this are far from overflow.
const MOST_READ: i64 = 100;

impl Builder<'_, '_> {
    /// Adds a line of text.
    pub(super) fn line(&mut self, text: impl AsRef<str>) {
        self.text.push_str(text.as_ref());
        self.text.push('\n');
    }

    /// Prints an expression whose value prints like this.
    pub(super) fn say(&mut self, expr: impl AsRef<str>, expected: impl ToString) {
        self.line(format!("print({});", expr.as_ref()));
        self.printed.push(expected.to_string());
    }

    /// A vector of small integers with its values.
    pub(super) fn ints(&mut self, n: usize) -> (String, Vec<i64>) {
        let name = self.tensor_literal(Element::Int, &[n]);
        let values = self.values(&name);
        (name, values)
    }

    /// A matrix of small integers with its rows.
    pub(super) fn rows(&mut self, n: usize, m: usize) -> (String, Vec<Vec<i64>>) {
        let name = self.tensor_literal(Element::Int, &[n, m]);
        let values = self.values(&name);
        (name, values.chunks(m).map(<[i64]>::to_vec).collect())
    }

    fn values(&self, name: &str) -> Vec<i64> {
        let points = self.environment.tensors.get(name).map(|tensor| tensor.points.as_slice());
        let int = |point: &Option<Value>| match point {
            Some(Value::Int(value)) => *value,
            _ => 0,
        };
        points.unwrap_or_default().iter().map(int).collect()
    }

    /// A small integer.
    pub(super) fn small(&mut self) -> i64 {
        self.source.between(0, 18) - 6
    }

    /// Adds what is known of a binding of integers that was written as text. Other parts read it
    /// only if it has points, and small ones.
    pub(super) fn know(&mut self, name: &str, shape: &[usize], values: &[i64]) {
        let points = values.iter().map(|value| Some(Value::Int(*value))).collect();
        let tensor = Tensor { element: Element::Int, shape: shape.to_vec(), points };
        self.add(name.to_owned(), tensor);
        if values.is_empty() || values.iter().any(|value| value.abs() > MOST_READ) {
            self.environment.tensors.remove(name);
        }
    }

    /// `let name = expr;` for integers of a known shape.
    pub(super) fn bind(&mut self, expr: impl AsRef<str>, shape: &[usize], values: &[i64]) {
        let name = self.fresh("w");
        self.line(format!("let {name} = {};", expr.as_ref()));
        self.know(&name, shape, values);
    }
}

/// A list of integers as programs print it.
pub(super) fn shown(values: &[i64]) -> String {
    let texts: Vec<String> = values.iter().map(i64::to_string).collect();
    format!("[{}]", texts.join(", "))
}

/// Lists in a list.
pub(super) fn shown_rows(rows: &[Vec<i64>]) -> String {
    let texts: Vec<String> = rows.iter().map(|row| shown(row)).collect();
    format!("[{}]", texts.join(", "))
}
