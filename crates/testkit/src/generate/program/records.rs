//! Structs: as values, read field by field, and as the state of a recurrence.

use super::build::{Builder, small_literal};
use super::expr::{Body, Clause, Expr, Operator, Slot, binary, int, shifted};
use super::facts::Element;
use super::terms::Axis;

const FIELDS: [&str; 2] = ["x", "y"];

impl Builder<'_, '_> {
    pub(super) fn records(&mut self) {
        let element = self.source.pick(&[Element::Int, Element::Float]);
        let ty = self.fresh("P");
        let spelled = element.spelling();
        self.text.push_str(&format!("struct {ty} {{ x: {spelled}, y: {spelled} }}\n"));
        let record =
            if self.source.flip() { self.state(&ty, element) } else { self.value(&ty, element) };
        self.use_of_fields(&record, element);
    }

    /// `let p = P { x: …, y: … };`
    fn value(&mut self, ty: &str, element: Element) -> (String, Option<i64>) {
        let name = self.define(
            "p",
            |builder, _| {
                vec![record(ty, Vec::new(), FIELDS.map(|_| builder.term(&[], element, 2)))]
            },
            |builder, _| {
                let plain = FIELDS.map(|_| small_literal(builder.source, element));
                vec![record(ty, Vec::new(), plain)]
            },
        );
        (name, None)
    }

    /// `let p[0] = P { … }; let p[t in 1..4] = P { x: p[t - 1].y, y: p[t - 1].x + … };`
    fn state(&mut self, ty: &str, element: Element) -> (String, Option<i64>) {
        let high = self.source.between(2, 5);
        let axis = Axis::explicit("t", 1, high);
        let base = FIELDS.map(|_| small_literal(self.source, element));
        let before = |own: &str, field| field_of(own, vec![shifted("t", -1)], field);
        let clauses = |step| {
            let base = record(ty, vec![Slot::Point(0)], base.clone());
            vec![base, record(ty, vec![axis.slot()], step)]
        };
        let name = self.define(
            "p",
            |builder, own| {
                let other = builder.term(&[axis], element, 1);
                let operators = [Operator::Add, Operator::Subtract, Operator::Multiply];
                let sum = binary(builder.source.pick(&operators), before(own, "x"), other);
                clauses([before(own, "y"), sum])
            },
            |_, own| clauses([before(own, "y"), before(own, "x")]),
        );
        (name, Some(high - 1))
    }

    /// `let q = p[3].x + p[3].y;`
    fn use_of_fields(&mut self, (record, last): &(String, Option<i64>), element: Element) {
        let at = |field| {
            let subscripts = last.map(int).into_iter().collect();
            field_of(record, subscripts, field)
        };
        let operators = [Operator::Add, Operator::Subtract, Operator::Multiply];
        self.define(
            "q",
            |builder, _| {
                let operator = builder.source.pick(&operators);
                let other = builder.term(&[], element, 1);
                let both = binary(operator, at("x"), binary(Operator::Add, at("y"), other));
                vec![Clause::new(Vec::new(), both)]
            },
            |_, _| vec![Clause::new(Vec::new(), at("x"))],
        );
    }
}

fn record(ty: &str, slots: Vec<Slot>, fields: [Expr; 2]) -> Clause {
    let fields = FIELDS.into_iter().zip(fields).collect();
    Clause { slots, body: Body::Record(ty.to_string(), fields), guard: None, descending: false }
}

fn field_of(name: &str, subscripts: Vec<Expr>, field: &'static str) -> Expr {
    Expr::Read { name: name.to_string(), subscripts, field: Some(field) }
}
