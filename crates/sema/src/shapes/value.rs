//! What is known of a value without data: the extents of its tensors and the integers in it.

use einlang_index::{MinMax, Quasi, Var};

/// The shape of a value.
#[derive(Clone, PartialEq, Default, Debug)]
pub enum Shape {
    /// Nothing that an extent or a range could depend on: a float, a string, an enum, a function.
    #[default]
    Opaque,
    /// An integer of which an expression of indices and symbols is known.
    Int(MinMax),
    /// A tensor: its extents, outermost first, and the shape of its elements, which is never a
    /// tensor (a tensor of tensors has all their axes) but may be a record of tensors.
    Tensor(Vec<MinMax>, Box<Shape>),
    /// A vector of known integers, such as `shape(x)`.
    Ints(Vec<MinMax>),
    /// The parts of a tuple or struct, in order of declaration.
    Record(Vec<Shape>),
    /// `start..end`, the end exclusive and missing for an open range; rare, and boxed to keep the
    /// others small.
    Range(Box<(MinMax, Option<MinMax>)>),
}

impl Shape {
    /// A range, open without an end.
    pub fn range(start: MinMax, end: Option<MinMax>) -> Shape {
        Shape::Range(Box::new((start, end)))
    }

    /// An integer that is known.
    pub fn int(value: i64) -> Shape {
        Shape::Int(value.into())
    }

    /// A vector of integers that are known.
    pub fn ints(values: impl IntoIterator<Item = i64>) -> Shape {
        Shape::Ints(values.into_iter().map(MinMax::from).collect())
    }

    /// A tensor of which the extents are known.
    pub fn with_extents(extents: &[usize], element: Shape) -> Shape {
        let extents = extents.iter().map(|extent| MinMax::from(*extent as i64));
        Shape::tensor(extents.collect(), element)
    }

    /// A tensor with these axes before those of the element.
    pub fn tensor(mut extents: Vec<MinMax>, element: Shape) -> Shape {
        match element {
            element if extents.is_empty() => element,
            Shape::Tensor(inner, element) => {
                extents.extend(inner);
                Shape::Tensor(extents, element)
            }
            Shape::Ints(values) => {
                extents.push(MinMax::from(values.len() as i64));
                Shape::Tensor(extents, Box::new(Shape::Opaque))
            }
            Shape::Int(_) | Shape::Range(..) => Shape::Tensor(extents, Box::new(Shape::Opaque)),
            element => Shape::Tensor(extents, Box::new(element)),
        }
    }

    /// The extents, none for what is no tensor.
    pub fn extents(&self) -> Vec<MinMax> {
        match self {
            Shape::Tensor(extents, _) => extents.clone(),
            Shape::Ints(values) => vec![MinMax::from(values.len() as i64)],
            Shape::Range(ends) => match &**ends {
                (start, Some(end)) => end.sub(start).map(natural).into_iter().collect(),
                (_, None) => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    /// The element of a tensor, or the value itself.
    pub fn element(&self) -> &Shape {
        match self {
            Shape::Tensor(_, element) => element,
            Shape::Ints(_) | Shape::Range(..) => &Shape::Opaque,
            other => other,
        }
    }

    /// The integer as one expression.
    pub fn as_quasi(&self) -> Option<&Quasi> {
        match self {
            Shape::Int(value) => value.as_quasi(),
            _ => None,
        }
    }

    /// The same shape with every extent and integer replaced.
    pub fn map(&self, f: &mut dyn FnMut(&MinMax) -> MinMax) -> Shape {
        match self {
            Shape::Opaque => Shape::Opaque,
            Shape::Int(value) => Shape::Int(f(value)),
            Shape::Tensor(extents, element) => {
                let extents = extents.iter().map(&mut *f).collect();
                Shape::Tensor(extents, Box::new(element.map(f)))
            }
            Shape::Ints(values) => Shape::Ints(values.iter().map(f).collect()),
            Shape::Record(parts) => Shape::Record(parts.iter().map(|part| part.map(f)).collect()),
            Shape::Range(ends) => Shape::range(f(&ends.0), ends.1.as_ref().map(f)),
        }
    }

    /// Calls `visit` for every extent and integer.
    pub fn for_each_extent(&self, visit: &mut dyn FnMut(&MinMax)) {
        self.map(&mut |value| {
            visit(value);
            value.clone()
        });
    }

    /// Calls `visit` for every variable, with repetitions.
    pub fn for_each_var(&self, visit: &mut dyn FnMut(Var)) {
        match self {
            Shape::Opaque => {}
            Shape::Int(value) => value.for_each_var(visit),
            Shape::Tensor(extents, element) => {
                extents.iter().for_each(|extent| extent.for_each_var(visit));
                element.for_each_var(visit);
            }
            Shape::Ints(values) => values.iter().for_each(|value| value.for_each_var(visit)),
            Shape::Record(parts) => parts.iter().for_each(|part| part.for_each_var(visit)),
            Shape::Range(ends) => {
                ends.0.for_each_var(visit);
                ends.1.iter().for_each(|end| end.for_each_var(visit));
            }
        }
    }
}

/// The value, or 0 where it would be negative.
pub(super) fn natural(value: MinMax) -> MinMax {
    match value.as_constant() {
        Some(constant) => constant.max(0).into(),
        None => MinMax::max_of([value.clone(), 0.into()]).unwrap_or(value),
    }
}
