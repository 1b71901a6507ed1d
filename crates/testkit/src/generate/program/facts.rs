//! What is known about a generated program.

/// The type of a scalar, or of the elements of a tensor.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Element {
    /// `i32`
    Int,
    /// `f32`
    Float,
    /// `bool`
    Bool,
}

impl Element {
    /// How the language spells it.
    pub fn spelling(self) -> &'static str {
        match self {
            Element::Int => "i32",
            Element::Float => "f32",
            Element::Bool => "bool",
        }
    }
}

/// One number or truth value.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Value {
    /// An integer that fits `i32` with room to spare.
    Int(i64),
    /// A float that `f32` holds exactly.
    Float(f64),
    /// A truth value.
    Bool(bool),
}

impl Value {
    /// The type of the value.
    pub fn element(self) -> Element {
        match self {
            Value::Int(_) => Element::Int,
            Value::Float(_) => Element::Float,
            Value::Bool(_) => Element::Bool,
        }
    }
}

/// One top-level binding.
#[derive(Clone, PartialEq, Debug)]
pub struct Fact {
    /// Its name; `s.x` for the field of a struct.
    pub name: String,
    /// The type of its elements.
    pub element: Element,
    /// Its extents; none for a scalar.
    pub shape: Vec<usize>,
    /// Its elements in row-major order, where the generator knows them.
    pub expected: Option<Vec<Value>>,
}
