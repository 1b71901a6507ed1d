//! Elementwise definitions, transposes, outer products, stencils and default reads.

use super::build::{Builder, small_literal, zero};
use super::expr::{Clause, Expr, Operator, Slot, binary, name, read, shifted};
use super::facts::Element;
use super::terms::Axis;

impl Builder<'_, '_> {
    pub(super) fn indexed(&mut self) {
        let element = self.source.pick(&[Element::Int, Element::Float]);
        match self.source.below(5) {
            0 => self.elementwise(element),
            1 => self.explicit(element),
            2 => self.outer_product(element),
            3 => self.stencil(element),
            _ => self.padded(element),
        }
    }

    /// Some vector or matrix.
    pub(super) fn operand(&mut self, element: Element, rank: usize) -> (String, Vec<usize>) {
        let wanted: fn(&[usize]) -> bool = match rank {
            1 => |shape| shape.len() == 1,
            _ => |shape| shape.len() == 2,
        };
        let names = self.tensors(element, wanted);
        let name = names[self.source.below(names.len())].clone();
        let shape = self.environment.tensors[&name].shape.clone();
        (name, shape)
    }

    /// `let t[i, j] = m[j, i] + …;`: ranges are inferred from the bare read.
    fn elementwise(&mut self, element: Element) {
        let rank = 1 + self.source.below(2);
        let (tensor, shape) = self.operand(element, rank);
        let transposed = self.source.flip();
        let names = if transposed { ["j", "i"] } else { ["i", "j"] };
        let mut axes: Vec<Axis> =
            shape.iter().zip(names).map(|(extent, name)| Axis::bare(name, *extent)).collect();
        let whole = read(&tensor, axes.iter().map(|axis| name(axis.name)).collect());
        axes.sort_by_key(|axis| axis.name);
        if rank == 1 {
            axes[0] = Axis::bare(names[0], shape[0]);
        }
        let slots = || axes.iter().map(|axis| axis.slot()).collect::<Vec<Slot>>();
        let operators = [Operator::Add, Operator::Subtract, Operator::Multiply];
        self.define(
            "t",
            |builder, _| {
                let operator = builder.source.pick(&operators);
                let other = builder.term(&axes, element, 2);
                vec![Clause::new(slots(), binary(operator, whole.clone(), other))]
            },
            |_, _| vec![Clause::new(slots(), whole.clone())],
        );
    }

    /// `let t[i in 0..3, j in 0..2] = …;`: anything that stays inside.
    fn explicit(&mut self, element: Element) {
        let rank = 1 + self.source.below(2);
        let axes: Vec<Axis> = ["i", "j"][..rank]
            .iter()
            .map(|name| Axis::explicit(name, 0, self.source.between(1, 5)))
            .collect();
        let slots = || axes.iter().map(|axis| axis.slot()).collect::<Vec<Slot>>();
        self.define(
            "t",
            |builder, _| vec![Clause::new(slots(), builder.term(&axes, element, 3))],
            |builder, _| vec![Clause::new(slots(), small_literal(builder.source, element))],
        );
    }

    /// `let t[i, j] = v[i] * w[j];`
    fn outer_product(&mut self, element: Element) {
        let (left, n) = self.operand(element, 1);
        let (right, m) = self.operand(element, 1);
        let operators = [Operator::Multiply, Operator::Add, Operator::Subtract];
        let draft = |operator| {
            let slots = [Axis::bare("i", n[0]), Axis::bare("j", m[0])].map(Axis::slot).to_vec();
            let (left, right) = (read(&left, vec![name("i")]), read(&right, vec![name("j")]));
            vec![Clause::new(slots, binary(operator, left, right))]
        };
        self.define(
            "t",
            |builder, _| draft(builder.source.pick(&operators)),
            |builder, _| {
                let slots = vec![Slot::upto("i", n[0]), Slot::upto("j", m[0])];
                vec![Clause::new(slots, small_literal(builder.source, element))]
            },
        );
    }

    /// `let t[i in 0..n - 2] = v[i] + 2 * v[i + 1] + v[i + 2];`
    fn stencil(&mut self, element: Element) {
        let (tensor, shape) = self.operand(element, 1);
        let width = self.source.between(1, shape[0] as i64);
        let axis = Axis::explicit("i", 0, shape[0] as i64 - width + 1);
        let at = |offset| read(&tensor, vec![shifted("i", offset)]);
        self.define(
            "t",
            |builder, _| {
                let weighted = |builder: &mut Self, offset| {
                    let weight = small_literal(builder.source, element);
                    binary(Operator::Multiply, weight, at(offset))
                };
                let first = weighted(builder, 0);
                let body = (1..width).fold(first, |sum, offset| {
                    binary(Operator::Add, sum, weighted(builder, offset))
                });
                vec![Clause::new(vec![axis.slot()], body)]
            },
            |_, _| vec![Clause::new(vec![axis.slot()], at(0))],
        );
    }

    /// `let t[i in 0..5] = v[i - 1 else 0] + v[i + 1 else 0];`
    fn padded(&mut self, element: Element) {
        let (tensor, shape) = self.operand(element, 1);
        let high = shape[0] as i64 + self.source.between(0, 3);
        let axis = Axis::explicit("i", 0, high);
        let at = |builder: &mut Self, default: Expr| Expr::ReadElse {
            name: tensor.clone(),
            subscripts: vec![shifted("i", builder.source.between(-2, 2))],
            default: Box::new(default),
        };
        self.define(
            "t",
            |builder, _| {
                let defaults = [(); 2].map(|()| small_literal(builder.source, element));
                let [left, right] = defaults.map(|default| at(builder, default));
                vec![Clause::new(vec![axis.slot()], binary(Operator::Add, left, right))]
            },
            |builder, _| vec![Clause::new(vec![axis.slot()], at(builder, zero(element)))],
        );
    }
}
