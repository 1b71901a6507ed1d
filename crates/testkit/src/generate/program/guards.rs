//! Guards with `else`, and bindings of several clauses.

use super::build::{Builder, small_literal};
use super::expr::{Clause, Slot};
use super::facts::Element;
use super::terms::Axis;

impl Builder<'_, '_> {
    pub(super) fn guards(&mut self) {
        let element = self.source.pick(&[Element::Int, Element::Float]);
        if self.source.flip() { self.overlapping(element) } else { self.guarded(element) }
    }

    /// `let g[i in 0..3, j in 0..3] = … where i <= j else …;`
    fn guarded(&mut self, element: Element) {
        let axes = ["i", "j"].map(|name| Axis::explicit(name, 0, self.source.between(1, 4)));
        let slots = || axes.map(Axis::slot).to_vec();
        self.define(
            "g",
            |builder, _| {
                let body = builder.term(&axes, element, 2);
                let condition = builder.condition(&axes, 1);
                let otherwise = builder.term(&axes, element, 1);
                let guard = Some((condition, Some(otherwise)));
                vec![Clause { guard, ..Clause::new(slots(), body) }]
            },
            |builder, _| vec![Clause::new(slots(), small_literal(builder.source, element))],
        );
    }

    /// A clause for the whole box, then others over parts of it: the last one wins where its
    /// guard holds.
    fn overlapping(&mut self, element: Element) {
        let n = self.source.between(2, 6);
        let whole = Axis::explicit("i", 0, n);
        let low = self.source.between(0, n - 1);
        let part = Axis::explicit("i", low, self.source.between(low + 1, n));
        let point = Slot::Point(self.source.below(n as usize));
        let (with_part, with_guard) = (self.source.flip(), self.source.flip());
        self.define(
            "g",
            |builder, _| {
                let mut clauses =
                    vec![Clause::new(vec![whole.slot()], builder.term(&[whole], element, 2))];
                if with_part {
                    let guard = with_guard.then(|| (builder.condition(&[part], 1), None));
                    let body = builder.term(&[part], element, 1);
                    clauses.push(Clause { guard, ..Clause::new(vec![part.slot()], body) });
                }
                let body = builder.term(&[], element, 1);
                clauses.push(Clause::new(vec![point.clone()], body));
                clauses
            },
            |builder, _| {
                vec![Clause::new(vec![whole.slot()], small_literal(builder.source, element))]
            },
        );
    }
}
