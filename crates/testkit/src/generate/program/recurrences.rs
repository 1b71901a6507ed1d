//! Recurrences with their base clauses: first and second order, descending, over a grid.

use super::build::{Builder, small_literal};
use super::expr::{Clause, Expr, Operator, Slot, binary, int, read, shifted};
use super::facts::Element;
use super::terms::Axis;

impl Builder<'_, '_> {
    pub(super) fn recurrences(&mut self) {
        let element = self.source.pick(&[Element::Int, Element::Float]);
        match self.source.below(4) {
            0 => self.first_order(element),
            1 => self.second_order(element),
            2 => self.descending(element),
            _ => self.grid(),
        }
    }

    /// `let h[0] = 1; let h[t in 1..5] = h[t - 1] + …;`
    fn first_order(&mut self, element: Element) {
        let high = self.source.between(2, 6);
        let axis = Axis::explicit("t", 1, high);
        let base = small_literal(self.source, element);
        let clauses = |body| {
            vec![
                Clause::new(vec![Slot::Point(0)], base.clone()),
                Clause::new(vec![axis.slot()], body),
            ]
        };
        self.define(
            "h",
            |builder, own| {
                let before = read(own, vec![shifted("t", -1)]);
                let other = builder.term(&[axis], element, 2);
                let operators = [Operator::Add, Operator::Subtract, Operator::Multiply];
                clauses(binary(builder.source.pick(&operators), before, other))
            },
            |_, own| clauses(read(own, vec![shifted("t", -1)])),
        );
    }

    /// `let h[t in 2..6] = a * h[t - 1] + h[t - 2];`
    fn second_order(&mut self, element: Element) {
        let high = self.source.between(3, 7);
        let axis = Axis::explicit("t", 2, high);
        let bases = [0, 1].map(|_| small_literal(self.source, element));
        let clauses = |body| {
            vec![
                Clause::new(vec![Slot::Point(0)], bases[0].clone()),
                Clause::new(vec![Slot::Point(1)], bases[1].clone()),
                Clause::new(vec![axis.slot()], body),
            ]
        };
        self.define(
            "h",
            |builder, own| {
                let factor = small_literal(builder.source, element);
                let near = binary(Operator::Multiply, factor, read(own, vec![shifted("t", -1)]));
                clauses(binary(Operator::Add, near, read(own, vec![shifted("t", -2)])))
            },
            |_, own| clauses(read(own, vec![shifted("t", -2)])),
        );
    }

    /// `let h[4] = 1; let h[t in 0..4] = … + h[t + 1];`
    fn descending(&mut self, element: Element) {
        let last = self.source.between(1, 5);
        let axis = Axis::explicit("t", 0, last);
        let base = small_literal(self.source, element);
        let clauses = |body| {
            let step = Clause { descending: true, ..Clause::new(vec![axis.slot()], body) };
            vec![Clause::new(vec![Slot::Point(last as usize)], base.clone()), step]
        };
        self.define(
            "h",
            |builder, own| {
                let after = read(own, vec![shifted("t", 1)]);
                let other = builder.term(&[axis], element, 2);
                clauses(binary(Operator::Add, other, after))
            },
            |_, own| clauses(read(own, vec![shifted("t", 1)])),
        );
    }

    /// The row by row recurrence of edit distances and lattice paths.
    fn grid(&mut self) {
        let (n, m) = (self.source.between(2, 5), self.source.between(2, 5));
        let axes = [Axis::explicit("i", 1, n), Axis::explicit("j", 1, m)];
        let clauses = |body| {
            vec![
                Clause::new(vec![Slot::Point(0), Slot::between("j", 0, m)], shifted("j", 0)),
                Clause::new(vec![Slot::between("i", 1, n), Slot::Point(0)], shifted("i", 0)),
                Clause::new(axes.map(Axis::slot).to_vec(), body),
            ]
        };
        let at = |own: &str, up, left| read(own, vec![shifted("i", up), shifted("j", left)]);
        let least = |a, b| Expr::Call("min".to_string(), vec![a, b]);
        self.define(
            "h",
            |builder, own| {
                let cost = builder.term(&axes, Element::Int, 1);
                let corner = binary(Operator::Add, at(own, -1, -1), cost);
                let sides = least(at(own, -1, 0), at(own, 0, -1));
                clauses(least(binary(Operator::Add, sides, int(1)), corner))
            },
            |_, own| clauses(at(own, -1, -1)),
        );
    }
}
