//! Functions of scalars, applied elementwise, and functions of tensors.

use super::build::Builder;
use super::evaluate::Scope;
use super::expr::{Clause, Expr, Operator, Reduction, Slot, binary, int, name, read, reduce};
use super::facts::Element;
use super::write;

impl Builder<'_, '_> {
    pub(super) fn functions(&mut self) {
        let element = self.source.pick(&[Element::Int, Element::Float]);
        if self.source.flip() {
            self.function_of_tensors(element)
        } else {
            self.elementwise_call(element)
        }
    }

    /// `fn f(a: i32, b: i32) -> i32 { … }` and `let c[i] = f(v[i], v[i]);`
    fn elementwise_call(&mut self, element: Element) {
        let function = self.fresh("f");
        let untyped = self.source.flip();
        let body = self.body_of_parameters(2);
        let ty = element.spelling();
        let text = write::expression(&body);
        self.text.push_str(&match untyped {
            true => format!("fn {function}(a, b) {{ {text} }}\n"),
            false => format!("fn {function}(a: {ty}, b: {ty}) -> {ty} {{ {text} }}\n"),
        });
        self.add_function(&function, vec!["a", "b"], body);
        let (tensor, shape) = self.operand(element, 1);
        let at = || read(&tensor, vec![name("i")]);
        let slots = || vec![Slot::Bare { name: "i", extent: shape[0] }];
        self.define(
            "c",
            |builder, _| {
                let other = builder.term(&[], element, 1);
                let call = Expr::Call(function.clone(), vec![at(), other]);
                vec![Clause::new(slots(), call)]
            },
            |_, _| vec![Clause::new(slots(), at())],
        );
    }

    /// An expression over `a` and `b` alone; both occur, so that untyped parameters get a type.
    fn body_of_parameters(&mut self, depth: u32) -> Expr {
        if depth == 0 {
            return name(self.source.pick(&["a", "b"]));
        }
        let deeper = |builder: &mut Self| builder.body_of_parameters(depth - 1);
        let (left, right) = (deeper(self), deeper(self));
        match self.source.below(5) {
            0 => binary(Operator::Add, left, right),
            1 => binary(Operator::Subtract, left, right),
            2 => binary(Operator::Multiply, left, right),
            3 => Expr::Call("max".to_string(), vec![left, right]),
            _ => {
                let condition = binary(Operator::Less, name("a"), name("b"));
                Expr::If(Box::new(condition), Box::new(left), Box::new(right))
            }
        }
    }

    /// `fn dot(x: [i32; N], y: [i32; N]) -> i32 { sum[k](x[k] * y[k]) }` and a call of it.
    fn function_of_tensors(&mut self, element: Element) {
        let (tensor, shape) = self.operand(element, 1);
        let by = self.source.pick(&[Reduction::Sum, Reduction::Max, Reduction::Min]);
        let operator = self.source.pick(&[Operator::Multiply, Operator::Add, Operator::Subtract]);
        let product = binary(operator, read("x", vec![name("k")]), read("y", vec![name("k")]));
        let index = Slot::Bare { name: "k", extent: shape[0] };
        let function = self.fresh("f");
        let body = reduce(by, vec![index], product);
        let ty = element.spelling();
        let text = write::expression(&body);
        let head = format!("fn {function}(x: [{ty}; N], y: [{ty}; N]) -> {ty}");
        self.text.push_str(&format!("{head} {{ {text} }}\n"));
        self.add_function(&function, vec!["x", "y"], body);
        let whole = || Expr::Whole(tensor.clone());
        let call = Expr::Call(function, vec![whole(), whole()]);
        let exact = self.environment.evaluate(&call, &mut Scope::default()).is_ok();
        self.define(
            "c",
            |builder, _| {
                let other = builder.term(&[], element, 1);
                vec![Clause::new(Vec::new(), binary(Operator::Add, call.clone(), other))]
            },
            |_, _| match exact {
                true => vec![Clause::new(Vec::new(), call.clone())],
                // The function is there but nobody calls it.
                false => vec![Clause::new(Vec::new(), read(&tensor, vec![int(0)]))],
            },
        );
    }
}
