//! The program under construction: its text, its bindings, and what is known about them.

use super::arithmetic::Rejected;
use super::evaluate::{Environment, Function, Scope, Tensor, slot_name};
use super::expr::{Body, Clause, Expr, float, int};
use super::facts::{Element, Fact, Value};
use super::write;
use crate::generate::Source;

/// How often something else is tried when a draft is rejected, before a plain one is taken.
const DRAFTS: usize = 4;

pub(super) struct Builder<'s, 'b> {
    pub(super) source: &'s mut Source<'b>,
    pub(super) text: String,
    pub(super) facts: Vec<Fact>,
    pub(super) printed: Vec<String>,
    pub(super) environment: Environment,
    n_names: usize,
}

impl<'s, 'b> Builder<'s, 'b> {
    pub(super) fn new(source: &'s mut Source<'b>) -> Builder<'s, 'b> {
        Builder {
            source,
            text: String::new(),
            facts: Vec::new(),
            printed: Vec::new(),
            environment: Environment::default(),
            n_names: 0,
        }
    }

    /// A name that nothing else has, and that is neither an index nor a builtin.
    pub(super) fn fresh(&mut self, prefix: &str) -> String {
        self.n_names += 1;
        format!("{prefix}{}", self.n_names)
    }

    /// The tensors that everything else reads: vectors and matrices of both number types.
    pub(super) fn operands(&mut self) {
        for element in [Element::Int, Element::Float] {
            let n = 2 + self.source.below(4);
            let m = 2 + self.source.below(3);
            self.tensor_literal(element, &[n]);
            self.tensor_literal(element, &[m, n]);
        }
    }

    /// `let a1 = [[1, 2], [3, 4]];`
    pub(super) fn tensor_literal(&mut self, element: Element, shape: &[usize]) -> String {
        let name = self.fresh(if shape.len() == 1 { "v" } else { "m" });
        let mut tensor = Tensor::empty(element, shape);
        tensor.points.fill_with(|| Some(small_value(self.source, element)));
        let text = nested(&tensor.points, shape);
        self.text.push_str(&format!("let {name} = {text};\n"));
        self.add(name.clone(), tensor);
        name
    }

    /// Adds a binding that drafts describe: the first that evaluates exactly, or else the plain one.
    pub(super) fn define(
        &mut self,
        prefix: &str,
        draft: impl Fn(&mut Self, &str) -> Vec<Clause>,
        plain: impl Fn(&mut Self, &str) -> Vec<Clause>,
    ) -> String {
        let name = self.fresh(prefix);
        for _ in 0..DRAFTS {
            let clauses = draft(self, &name);
            if self.try_define(&name, &clauses).is_ok() {
                return name;
            }
        }
        let clauses = plain(self, &name);
        let added = self.try_define(&name, &clauses);
        added.unwrap_or_else(|Rejected| {
            panic!("the plain draft of {name} is not exact: {clauses:?}")
        });
        name
    }

    /// Evaluates and, when every point is exact and covered, adds a binding of one or more clauses.
    pub(super) fn try_define(&mut self, name: &str, clauses: &[Clause]) -> Result<(), Rejected> {
        let shape = self.shape_of(clauses)?;
        let leaves = leaves(name, &clauses[0].body);
        let before = self.environment.clone();
        let filled = self.fill(&leaves, &shape, clauses);
        let tensors: Vec<Tensor> = match filled {
            Ok(()) => {
                leaves.iter().filter_map(|leaf| self.environment.tensors.remove(leaf)).collect()
            }
            Err(Rejected) => Vec::new(),
        };
        self.environment = before;
        let covered = tensors.iter().all(|tensor| tensor.points.iter().all(Option::is_some));
        if tensors.is_empty() || !covered {
            return Err(Rejected);
        }
        for clause in clauses {
            self.text.push_str(&write::clause(name, clause));
        }
        for (leaf, tensor) in leaves.into_iter().zip(tensors) {
            self.add(leaf, tensor);
        }
        Ok(())
    }

    pub(super) fn add(&mut self, name: String, tensor: Tensor) {
        let expected: Option<Vec<Value>> = tensor.points.iter().copied().collect();
        let (element, shape) = (tensor.element, tensor.shape.clone());
        self.facts.push(Fact { name: name.clone(), element, shape, expected });
        self.environment.tensors.insert(name, tensor);
    }

    pub(super) fn add_function(&mut self, name: &str, parameters: Vec<&'static str>, body: Expr) {
        self.environment.functions.insert(name.to_string(), Function { parameters, body });
    }

    /// The smallest box from 0 that holds the domains of all clauses.
    fn shape_of(&self, clauses: &[Clause]) -> Result<Vec<usize>, Rejected> {
        let mut shape = vec![0; clauses[0].slots.len()];
        for clause in clauses {
            for (extent, slot) in shape.iter_mut().zip(&clause.slots) {
                let range = self.environment.range(slot, &mut Scope::default())?;
                *extent = (*extent).max(usize::try_from(range.end).map_err(|_| Rejected)?);
            }
        }
        Ok(shape)
    }

    /// Computes every point, clause after clause; the leaves are visible to their own clauses.
    fn fill(
        &mut self,
        leaves: &[String],
        shape: &[usize],
        clauses: &[Clause],
    ) -> Result<(), Rejected> {
        for leaf in leaves {
            let tensor = Tensor::empty(Element::Int, shape);
            self.environment.tensors.insert(leaf.clone(), tensor);
        }
        for clause in clauses {
            for point in self.points(clause)? {
                self.fill_point(leaves, clause, &point)?;
            }
        }
        Ok(())
    }

    /// The points of a clause in the order in which they depend on each other.
    fn points(&self, clause: &Clause) -> Result<Vec<Vec<i64>>, Rejected> {
        let mut points = vec![Vec::new()];
        for slot in &clause.slots {
            let range = self.environment.range(slot, &mut Scope::default())?;
            let extended = |point: &Vec<i64>| {
                let point = point.clone();
                range.clone().map(move |index| [point.as_slice(), &[index]].concat())
            };
            points = points.iter().flat_map(extended).collect();
        }
        if clause.descending {
            points.reverse();
        }
        Ok(points)
    }

    fn fill_point(
        &mut self,
        leaves: &[String],
        clause: &Clause,
        at: &[i64],
    ) -> Result<(), Rejected> {
        let mut scope = Scope::default();
        for (slot, index) in clause.slots.iter().zip(at) {
            if let Some(name) = slot_name(slot) {
                scope.bind(name, *index);
            }
        }
        let mut bodies: Vec<&Expr> = match &clause.body {
            Body::Scalar(body) => vec![body],
            Body::Record(_, fields) => fields.iter().map(|(_, body)| body).collect(),
        };
        if let Some((condition, otherwise)) = &clause.guard
            && self.environment.evaluate(condition, &mut scope)? == Value::Bool(false)
        {
            match otherwise {
                Some(otherwise) => bodies = vec![otherwise],
                None => return Ok(()),
            }
        }
        let values = bodies.into_iter().map(|body| self.environment.evaluate(body, &mut scope));
        let values: Vec<Value> = values.collect::<Result<_, _>>()?;
        for (leaf, value) in leaves.iter().zip(values) {
            let tensor = self.environment.tensors.get_mut(leaf).ok_or(Rejected)?;
            let place = tensor.place(at).ok_or(Rejected)?;
            tensor.points[place] = Some(value);
            tensor.element = value.element();
        }
        Ok(())
    }
}

/// The tensors that a binding consists of.
fn leaves(name: &str, body: &Body) -> Vec<String> {
    match body {
        Body::Scalar(_) => vec![name.to_string()],
        Body::Record(_, fields) => {
            fields.iter().map(|(field, _)| format!("{name}.{field}")).collect()
        }
    }
}

/// A number as programs hold them: small, and for floats a multiple of a quarter.
pub(super) fn small_value(source: &mut Source<'_>, element: Element) -> Value {
    let n = [0, 1, 2, 3, 4, 5, -1, -2, -3, 7, -5, 9][source.below(12)];
    match element {
        Element::Int => Value::Int(n),
        Element::Float => Value::Float(n as f64 * [1.0, 0.5, 0.25][source.below(3)]),
        Element::Bool => Value::Bool(n > 0),
    }
}

/// A literal of an element type.
pub(super) fn small_literal(source: &mut Source<'_>, element: Element) -> Expr {
    Expr::Literal(small_value(source, element))
}

pub(super) fn zero(element: Element) -> Expr {
    match element {
        Element::Int => int(0),
        Element::Float => float(0.0),
        Element::Bool => Expr::Literal(Value::Bool(false)),
    }
}

fn nested(points: &[Option<Value>], shape: &[usize]) -> String {
    let Some((extent, inner)) = shape.split_first() else {
        let value = points[0].expect("invariant: literals have every point");
        return write::expression(&Expr::Literal(value));
    };
    let rows = points.chunks(points.len() / extent).map(|row| nested(row, inner));
    format!("[{}]", rows.collect::<Vec<_>>().join(", "))
}
