//! Reductions: of whole tensors, products of matrices, prefixes, and by key.

use super::build::Builder;
use super::expr::{
    Clause, Expr, Operator, Reduce, Reduction, Slot, binary, int, name, read, reduce,
};
use super::facts::Element;
use super::terms::Axis;

impl Builder<'_, '_> {
    pub(super) fn reductions(&mut self) {
        let element = self.source.pick(&[Element::Int, Element::Float]);
        match self.source.below(6) {
            0 => self.total(element),
            1 => self.product_of_matrices(element),
            2 => self.extremum(element),
            3 => self.prefix(element),
            4 => self.quantifier(element),
            _ => self.histogram(),
        }
    }

    /// `let r = sum[i, j](m[i, j] * … where …);`
    fn total(&mut self, element: Element) {
        let rank = 1 + self.source.below(2);
        let (tensor, shape) = self.operand(element, rank);
        let axes: Vec<Axis> =
            shape.iter().zip(["i", "j"]).map(|(extent, name)| Axis::bare(name, *extent)).collect();
        let slots: Vec<Slot> = axes.iter().map(|axis| axis.slot()).collect();
        let whole = read(&tensor, axes.iter().map(|axis| name(axis.name)).collect());
        let by = match element {
            Element::Int => self.source.pick(&[Reduction::Sum, Reduction::Prod]),
            _ => Reduction::Sum,
        };
        self.define(
            "r",
            |builder, _| {
                let factor = builder.term(&axes, element, 1);
                let body = binary(Operator::Multiply, whole.clone(), factor);
                let guard = builder.source.flip().then(|| builder.condition(&axes, 1));
                let reduction = Reduce { by, indices: slots.clone(), body, guard };
                vec![Clause::new(Vec::new(), Expr::Reduce(Box::new(reduction)))]
            },
            |_, _| {
                let plain = reduce(Reduction::Max, slots.clone(), whole.clone());
                vec![Clause::new(Vec::new(), plain)]
            },
        );
    }

    /// `let r[i, j] = sum[k](a[i, k] * b[k, j]);`, with one operand transposed where it must be.
    fn product_of_matrices(&mut self, element: Element) {
        let (left, n) = self.operand(element, 2);
        let (right, m) = self.operand(element, 2);
        // One of the axes of the right operand may have the extent of the left one's last axis.
        let (second, j) = if m[0] == n[1] {
            (vec![name("k"), name("j")], m[1])
        } else if m[1] == n[1] {
            (vec![name("j"), name("k")], m[0])
        } else {
            (vec![int(0), name("j")], m[1])
        };
        let slots = vec![Axis::bare("i", n[0]).slot(), Axis::bare("j", j).slot()];
        let summed = Axis::bare("k", n[1]).slot();
        let body = binary(
            Operator::Multiply,
            read(&left, vec![name("i"), name("k")]),
            read(&right, second.clone()),
        );
        self.define(
            "r",
            |_, _| {
                let sum = reduce(Reduction::Sum, vec![summed.clone()], body.clone());
                vec![Clause::new(slots.clone(), sum)]
            },
            |_, _| {
                let left = reduce(
                    Reduction::Max,
                    vec![summed.clone()],
                    read(&left, vec![name("i"), name("k")]),
                );
                let column = if second[0] == int(0) { second.clone() } else { at_zero(&second) };
                let both = Expr::Call("min".to_string(), vec![left, read(&right, column)]);
                vec![Clause::new(slots.clone(), both)]
            },
        );
    }

    /// `let r[i] = argmax[j](m[i, j]);`
    fn extremum(&mut self, element: Element) {
        let all = [Reduction::Max, Reduction::Min, Reduction::ArgMax, Reduction::ArgMin];
        let by = self.source.pick(&all);
        let (tensor, shape) = self.operand(element, 2);
        let over_rows = self.source.flip();
        let (kept, reduced) = if over_rows { (1, 0) } else { (0, 1) };
        let names = if over_rows { ["k", "i"] } else { ["i", "k"] };
        let body = read(&tensor, names.map(name).to_vec());
        let slots = vec![Axis::bare("i", shape[kept]).slot()];
        let inner = Axis::bare("k", shape[reduced]);
        let clause = |body| vec![Clause::new(slots.clone(), reduce(by, vec![inner.slot()], body))];
        self.define(
            "r",
            |builder, _| {
                let axes = [Axis::bare("i", shape[kept]), inner];
                let other = builder.term(&axes, element, 1);
                clause(binary(Operator::Subtract, body.clone(), other))
            },
            |_, _| clause(body.clone()),
        );
    }

    /// `let r[i] = sum[k in 0..=i](v[k]);` or the same over a suffix.
    fn prefix(&mut self, element: Element) {
        let (tensor, shape) = self.operand(element, 1);
        let suffix = self.source.flip();
        let by = self.source.pick(&[Reduction::Sum, Reduction::Max, Reduction::Min]);
        let range = match suffix {
            true => Slot::Range {
                name: "k",
                low: name("i"),
                high: int(shape[0] as i64),
                inclusive: false,
            },
            false => Slot::Range { name: "k", low: int(0), high: name("i"), inclusive: true },
        };
        let slots = vec![Slot::upto("i", shape[0])];
        let clause = |by| {
            let body = read(&tensor, vec![name("k")]);
            vec![Clause::new(slots.clone(), reduce(by, vec![range.clone()], body))]
        };
        self.define("r", |_, _| clause(by), |_, _| clause(Reduction::Max));
    }

    /// `let r = all[i](v[i] < …);`
    fn quantifier(&mut self, element: Element) {
        let by = self.source.pick(&[Reduction::All, Reduction::Any]);
        let (tensor, shape) = self.operand(element, 1);
        let axis = Axis::bare("i", shape[0]);
        let first = read(&tensor, vec![name("i")]);
        let clause = |right| {
            let body = binary(Operator::LessEqual, first.clone(), right);
            vec![Clause::new(Vec::new(), reduce(by, vec![axis.slot()], body))]
        };
        self.define(
            "r",
            |builder, _| clause(builder.term(&[axis], element, 1)),
            |_, _| clause(first.clone()),
        );
    }

    /// `let r[b in 0..4] = sum[i](1 where v[i] == b);`
    fn histogram(&mut self) {
        let (keys, shape) = self.operand(Element::Int, 1);
        let n_bins = self.source.between(1, 6);
        let guard = binary(Operator::Equal, read(&keys, vec![name("i")]), name("b"));
        let indices = vec![Axis::bare("i", shape[0]).slot()];
        let counted = |body| {
            let reduction = Reduce {
                by: Reduction::Sum,
                indices: indices.clone(),
                body,
                guard: Some(guard.clone()),
            };
            vec![Clause::new(
                vec![Slot::between("b", 0, n_bins)],
                Expr::Reduce(Box::new(reduction)),
            )]
        };
        self.define(
            "r",
            |builder, _| match builder.source.flip() {
                true => counted(binary(Operator::Multiply, name("i"), name("i"))),
                false => counted(int(1)),
            },
            |_, _| counted(int(1)),
        );
    }
}

/// The same read with the summed index at 0.
fn at_zero(subscripts: &[Expr]) -> Vec<Expr> {
    let at = |subscript: &Expr| if *subscript == name("k") { int(0) } else { subscript.clone() };
    subscripts.iter().map(at).collect()
}
