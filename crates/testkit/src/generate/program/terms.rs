//! Expressions over the indices at hand: numbers, reads that stay inside their tensors, and
//! arithmetic.

use super::build::{Builder, small_literal};
use super::expr::{Expr, Operator, Slot, binary, int, name, read, shifted};
use super::facts::Element;

/// An index and the values it takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Axis {
    pub(super) name: &'static str,
    pub(super) low: i64,
    pub(super) high: i64,
    /// Its range is inferred from bare uses, so it may be used only bare, and only on axes of
    /// exactly that extent: any other use would change what is inferred.
    pub(super) bare: bool,
}

impl Axis {
    pub(super) fn explicit(name: &'static str, low: i64, high: i64) -> Axis {
        Axis { name, low, high, bare: false }
    }

    pub(super) fn bare(name: &'static str, extent: usize) -> Axis {
        Axis { name, low: 0, high: extent as i64, bare: true }
    }

    pub(super) fn slot(self) -> Slot {
        match self.bare {
            true => Slot::Bare { name: self.name, extent: self.high as usize },
            false => Slot::between(self.name, self.low, self.high),
        }
    }
}

impl Builder<'_, '_> {
    /// An expression of this type, at most `depth` operators deep.
    pub(super) fn term(&mut self, axes: &[Axis], element: Element, depth: u32) -> Expr {
        if element == Element::Bool {
            return self.condition(axes, depth);
        }
        if depth == 0 {
            return self.small_term(axes, element);
        }
        let deeper = |builder: &mut Self| builder.term(axes, element, depth - 1);
        match self.source.below(12) {
            0..=1 => self.small_term(axes, element),
            2..=3 => binary(Operator::Add, deeper(self), deeper(self)),
            4..=5 => binary(Operator::Subtract, deeper(self), deeper(self)),
            6..=7 => binary(Operator::Multiply, deeper(self), deeper(self)),
            8 => {
                let function = self.source.pick(&["min", "max"]);
                Expr::Call(function.to_string(), vec![deeper(self), deeper(self)])
            }
            9 => Expr::Call("abs".to_string(), vec![deeper(self)]),
            10 => {
                let condition = self.condition(axes, depth - 1);
                Expr::If(Box::new(condition), Box::new(deeper(self)), Box::new(deeper(self)))
            }
            _ => self.division_or_power(axes, element, depth),
        }
    }

    /// Integers are divided by positive literals; floats are squared.
    fn division_or_power(&mut self, axes: &[Axis], element: Element, depth: u32) -> Expr {
        let left = self.term(axes, element, depth - 1);
        match (element, self.source.below(3)) {
            (Element::Int, 0) => binary(Operator::Divide, left, int(self.source.between(2, 5))),
            (Element::Int, 1) => binary(Operator::Remainder, left, int(self.source.between(2, 7))),
            _ => binary(Operator::Power, left, int(2)),
        }
    }

    /// A comparison, or two of them together.
    pub(super) fn condition(&mut self, axes: &[Axis], depth: u32) -> Expr {
        if depth > 0 && self.source.one_in(4) {
            let operator = self.source.pick(&[Operator::And, Operator::Or]);
            return binary(
                operator,
                self.condition(axes, depth - 1),
                self.condition(axes, depth - 1),
            );
        }
        let operators = [Operator::Less, Operator::LessEqual, Operator::Equal, Operator::NotEqual];
        let operator = self.source.pick(&operators);
        let element = self.source.pick(&[Element::Int, Element::Float]);
        let left = self.small_term(axes, element);
        let right = match self.source.flip() {
            true => self.small_term(axes, element),
            false => small_literal(self.source, element),
        };
        // Two literals would be a condition about nothing.
        match (&left, &right) {
            (Expr::Literal(_), Expr::Literal(_)) if !axes.is_empty() => {
                binary(Operator::Less, name(axes[0].name), int(self.source.between(0, 3)))
            }
            _ => binary(operator, left, right),
        }
    }

    fn small_term(&mut self, axes: &[Axis], element: Element) -> Expr {
        match self.source.below(6) {
            0 => small_literal(self.source, element),
            1..=3 => self.any_read(axes, element),
            4 => self.scalar(element),
            _ => match (axes, element) {
                ([], _) => small_literal(self.source, element),
                (axes, Element::Float) => Expr::Cast(Box::new(name(self.source.pick(axes).name))),
                (axes, _) => name(self.source.pick(axes).name),
            },
        }
    }

    /// A scalar binding, or a literal where there is none.
    fn scalar(&mut self, element: Element) -> Expr {
        let names = self.tensors(element, |shape| shape.is_empty());
        match names.is_empty() {
            true => small_literal(self.source, element),
            false => name(&names[self.source.below(names.len())]),
        }
    }

    /// A read of some tensor at a point that is always inside.
    fn any_read(&mut self, axes: &[Axis], element: Element) -> Expr {
        let names = self.tensors(element, |shape| !shape.is_empty());
        if names.is_empty() {
            return small_literal(self.source, element);
        }
        let tensor = names[self.source.below(names.len())].clone();
        let shape = self.environment.tensors[&tensor].shape.clone();
        let subscripts = shape.iter().map(|&extent| self.subscript(axes, extent)).collect();
        read(&tensor, subscripts)
    }

    /// The names of bindings of this type whose shape is as asked, fields of structs aside.
    pub(super) fn tensors(&self, element: Element, is_wanted: fn(&[usize]) -> bool) -> Vec<String> {
        let tensors = self.environment.tensors.iter();
        let wanted = tensors.filter(|(name, tensor)| {
            !name.contains('.') && tensor.element == element && is_wanted(&tensor.shape)
        });
        wanted.map(|(name, _)| name.clone()).collect()
    }

    /// A subscript that stays inside an axis for all values of the indices.
    fn subscript(&mut self, axes: &[Axis], extent: usize) -> Expr {
        let n = extent as i64;
        let mut fitting = vec![int(self.source.between(0, n - 1))];
        for axis in axes {
            if axis.bare {
                if (axis.low, axis.high) == (0, n) {
                    fitting.push(name(axis.name));
                }
                continue;
            }
            let (least, most) = (-axis.low, n - axis.high);
            if least <= most {
                fitting.push(shifted(axis.name, self.source.between(least, most)));
            }
            if 0 <= axis.low && axis.high <= n {
                fitting.push(binary(Operator::Subtract, int(n - 1), name(axis.name)));
            }
            if 0 <= axis.low && 2 * (axis.high - 1) < n {
                fitting.push(binary(Operator::Multiply, int(2), name(axis.name)));
            }
            if 0 <= axis.low && (axis.high - 1) / 2 < n {
                fitting.push(binary(Operator::Divide, name(axis.name), int(2)));
            }
            if 0 <= axis.low {
                fitting.push(binary(Operator::Remainder, name(axis.name), int(n)));
            }
        }
        // Constants come first as the smallest choice, but reads that move are worth more.
        let at = self.source.below(2 * fitting.len());
        fitting.swap_remove(at.min(fitting.len() - 1))
    }
}
