//! Constants and scalar bindings.

use super::build::{Builder, small_literal};
use super::evaluate::Tensor;
use super::expr::Clause;
use super::facts::{Element, Value};

impl Builder<'_, '_> {
    pub(super) fn scalars(&mut self) {
        match self.source.below(4) {
            0 => self.constant(),
            n => {
                let element = [Element::Int, Element::Float, Element::Bool][n - 1];
                self.define(
                    "s",
                    |builder, _| vec![Clause::new(Vec::new(), builder.term(&[], element, 3))],
                    |builder, _| {
                        vec![Clause::new(Vec::new(), small_literal(builder.source, element))]
                    },
                );
            }
        }
    }

    /// `const N1 = 4;`. It is no output of the program, so there is no fact about it.
    fn constant(&mut self) {
        let name = self.fresh("N");
        let value = self.source.between(1, 6);
        self.text.push_str(&format!("const {name} = {value};\n"));
        let points = vec![Some(Value::Int(value))];
        let tensor = Tensor { element: Element::Int, shape: Vec::new(), points };
        self.environment.tensors.insert(name, tensor);
    }
}
