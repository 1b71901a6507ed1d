//! The meaning of generated programs: naive on purpose, one point at a time.

use std::collections::BTreeMap;

use super::arithmetic::{Rejected, apply, builtin, combine, exact};
use super::expr::{Expr, Reduce, Reduction, Slot};
use super::facts::{Element, Value};

/// A tensor, or a scalar of rank 0, some of whose points may not be computed yet.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Tensor {
    pub(super) element: Element,
    pub(super) shape: Vec<usize>,
    pub(super) points: Vec<Option<Value>>,
}

impl Tensor {
    pub(super) fn empty(element: Element, shape: &[usize]) -> Tensor {
        let n_points = shape.iter().product();
        Tensor { element, shape: shape.to_vec(), points: vec![None; n_points] }
    }

    /// The place of a point in row-major order; nothing outside the box.
    pub(super) fn place(&self, at: &[i64]) -> Option<usize> {
        let mut place = 0;
        for (&index, &extent) in at.iter().zip(&self.shape) {
            let index = usize::try_from(index).ok().filter(|index| *index < extent)?;
            place = place * extent + index;
        }
        (at.len() == self.shape.len()).then_some(place)
    }
}

/// A function of the program.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Function {
    pub(super) parameters: Vec<&'static str>,
    pub(super) body: Expr,
}

/// The bindings of a program. The field of a struct is a tensor `name.field`.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Environment {
    pub(super) tensors: BTreeMap<String, Tensor>,
    pub(super) functions: BTreeMap<String, Function>,
}

/// Names that mean something only here: indices, scalar parameters, tensor parameters.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Scope {
    values: Vec<(String, Value)>,
    aliases: Vec<(String, String)>,
}

impl Scope {
    pub(super) fn bind(&mut self, name: &str, value: i64) {
        self.values.push((name.to_string(), Value::Int(value)));
    }

    pub(super) fn unbind(&mut self) {
        self.values.pop();
    }

    fn value(&self, name: &str) -> Option<Value> {
        self.values.iter().rev().find(|(bound, _)| bound == name).map(|(_, value)| *value)
    }

    fn alias<'n>(&'n self, name: &'n str) -> &'n str {
        let found = self.aliases.iter().find(|(alias, _)| alias == name);
        found.map_or(name, |(_, actual)| actual)
    }
}

impl Environment {
    pub(super) fn evaluate(&self, expr: &Expr, scope: &mut Scope) -> Result<Value, Rejected> {
        let value = match expr {
            Expr::Literal(value) => *value,
            Expr::Name(name) => match scope.value(name) {
                Some(value) => value,
                None => self.read(name, None, &[], scope)?.ok_or(Rejected)?,
            },
            Expr::Whole(_) => return Err(Rejected),
            Expr::Read { name, subscripts, field } => {
                self.read(name, *field, subscripts, scope)?.ok_or(Rejected)?
            }
            Expr::ReadElse { name, subscripts, default } => {
                match self.read(name, None, subscripts, scope)? {
                    Some(value) => value,
                    None => self.evaluate(default, scope)?,
                }
            }
            Expr::Binary(operator, left, right) => {
                let (left, right) = (self.evaluate(left, scope)?, self.evaluate(right, scope)?);
                apply(*operator, left, right)?
            }
            Expr::Cast(inner) => match self.evaluate(inner, scope)? {
                Value::Int(value) => Value::Float(value as f64),
                _ => return Err(Rejected),
            },
            Expr::Call(function, arguments) => self.call(function, arguments, scope)?,
            Expr::If(condition, yes, no) => match self.evaluate(condition, scope)? {
                Value::Bool(true) => self.evaluate(yes, scope)?,
                _ => self.evaluate(no, scope)?,
            },
            Expr::Reduce(reduction) => self.reduce(reduction, scope)?,
        };
        exact(value)
    }

    /// A point, or nothing where there is none or none yet.
    fn read(
        &self,
        name: &str,
        field: Option<&str>,
        subscripts: &[Expr],
        scope: &mut Scope,
    ) -> Result<Option<Value>, Rejected> {
        let mut at = Vec::new();
        for subscript in subscripts {
            match self.evaluate(subscript, scope)? {
                Value::Int(index) => at.push(index),
                _ => return Err(Rejected),
            }
        }
        let name = scope.alias(name);
        let tensor = match field {
            Some(field) => self.tensors.get(&format!("{name}.{field}")),
            None => self.tensors.get(name),
        };
        let tensor = tensor.ok_or(Rejected)?;
        Ok(tensor.place(&at).and_then(|place| tensor.points[place]))
    }

    fn call(&self, name: &str, arguments: &[Expr], scope: &mut Scope) -> Result<Value, Rejected> {
        let Some(function) = self.functions.get(name) else {
            let values = arguments.iter().map(|argument| self.evaluate(argument, scope));
            return builtin(name, &values.collect::<Result<Vec<_>, _>>()?);
        };
        let mut inner = Scope::default();
        for (parameter, argument) in function.parameters.iter().zip(arguments) {
            match argument {
                Expr::Whole(tensor) => inner.aliases.push((parameter.to_string(), tensor.clone())),
                _ => {
                    let value = self.evaluate(argument, scope)?;
                    inner.values.push((parameter.to_string(), value));
                }
            }
        }
        self.evaluate(&function.body, &mut inner)
    }

    fn reduce(&self, reduction: &Reduce, scope: &mut Scope) -> Result<Value, Rejected> {
        let mut terms = Vec::new();
        self.terms(reduction, &reduction.indices, scope, &mut terms)?;
        match (reduction.by, self.element(&reduction.body)) {
            (Reduction::Sum, Element::Float) if terms.is_empty() => Ok(Value::Float(0.0)),
            (Reduction::Sum, _) if terms.is_empty() => Ok(Value::Int(0)),
            (by, _) => combine(by, &terms),
        }
    }

    /// The type of an expression. Names that are bound nowhere are indices.
    fn element(&self, expr: &Expr) -> Element {
        match expr {
            Expr::Literal(value) => value.element(),
            Expr::Name(name) | Expr::Whole(name) | Expr::ReadElse { name, .. } => {
                self.tensors.get(name).map_or(Element::Int, |tensor| tensor.element)
            }
            Expr::Read { name, field, .. } => {
                let leaf = field.map_or(name.clone(), |field| format!("{name}.{field}"));
                self.tensors.get(&leaf).map_or(Element::Int, |tensor| tensor.element)
            }
            Expr::Binary(operator, left, _) if operator.is_arithmetic() => self.element(left),
            Expr::Binary(..) => Element::Bool,
            Expr::Cast(_) => Element::Float,
            Expr::Call(function, arguments) => match self.functions.get(function) {
                Some(function) => self.element(&function.body),
                None => arguments.first().map_or(Element::Int, |first| self.element(first)),
            },
            Expr::If(_, yes, _) => self.element(yes),
            Expr::Reduce(reduction) => match reduction.by {
                Reduction::All | Reduction::Any => Element::Bool,
                Reduction::ArgMax | Reduction::ArgMin => Element::Int,
                _ => self.element(&reduction.body),
            },
        }
    }

    /// All terms in index order, each with the value of its outermost index.
    fn terms(
        &self,
        reduction: &Reduce,
        indices: &[Slot],
        scope: &mut Scope,
        terms: &mut Vec<(i64, Value)>,
    ) -> Result<(), Rejected> {
        let Some((slot, inner)) = indices.split_first() else {
            if let Some(guard) = &reduction.guard
                && self.evaluate(guard, scope)? == Value::Bool(false)
            {
                return Ok(());
            }
            let first = &reduction.indices[0];
            let at = slot_name(first).and_then(|name| scope.value(name));
            let Some(Value::Int(at)) = at else { return Err(Rejected) };
            terms.push((at, self.evaluate(&reduction.body, scope)?));
            return Ok(());
        };
        let name = slot_name(slot).ok_or(Rejected)?;
        for value in self.range(slot, scope)? {
            scope.bind(name, value);
            let result = self.terms(reduction, inner, scope, terms);
            scope.unbind();
            result?;
        }
        Ok(())
    }

    /// The values that an index takes, or the one point.
    pub(super) fn range(
        &self,
        slot: &Slot,
        scope: &mut Scope,
    ) -> Result<std::ops::Range<i64>, Rejected> {
        match slot {
            Slot::Bare { extent, .. } => Ok(0..*extent as i64),
            Slot::Point(at) => Ok(*at as i64..*at as i64 + 1),
            Slot::Range { low, high, inclusive, .. } => {
                let bounds = (self.evaluate(low, scope)?, self.evaluate(high, scope)?);
                let (Value::Int(low), Value::Int(high)) = bounds else { return Err(Rejected) };
                Ok(low..high + i64::from(*inclusive))
            }
        }
    }
}

/// The name that a slot binds.
pub(super) fn slot_name(slot: &Slot) -> Option<&'static str> {
    match slot {
        Slot::Bare { name, .. } | Slot::Range { name, .. } => Some(name),
        Slot::Point(_) => None,
    }
}
