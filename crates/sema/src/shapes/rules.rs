//! Derivative rules: `result` and the cotangent have the shape of the function's value, and what the
//! rule gives has the shape of what it is the change of.

use einlang_index::Truth;

use super::Analyser;
use super::result::CheckKind;
use super::symbols::Source;
use super::value::Shape;
use crate::errors;
use crate::hir::*;
use crate::types::{InstanceId, Ty};

/// What the value of a rule is compared with.
pub(super) struct Wanted {
    function: String,
    shape: Shape,
    /// What it is the change of, by part if there are several.
    names: Vec<String>,
}

impl Analyser<'_> {
    /// Gives `result` and the cotangent their shapes, and tells that of the rule's own value.
    pub(super) fn shape_of_rule(&mut self, of: InstanceId) -> Option<Wanted> {
        let body = self.body();
        let Owner::Def(def) = body.owner else { return None };
        let DefKind::Rule(rule) = &self.program.def(def).kind else { return None };
        let function = self.text(self.program.def(def).name.name).to_owned();
        let (local, _) = body.locals.iter().find(|(_, local)| {
            local.kind == LocalKind::Let && self.text(local.name.name) == "result"
        })?;
        let params = self.here().params.clone();
        let result = self.value_for(Source::Local(self.cur, local), of, &params)?;
        self.bind(local, result.clone());
        if !rule.reverse {
            let names = vec!["the result".to_owned()];
            return Some(Wanted { function, shape: result, names });
        }
        if let Some(cotangent) = body.params.last() {
            self.bind_pattern(&cotangent.pattern, &result);
        }
        let types = self.typed_here().params.clone();
        let (mut shapes, mut names) = (Vec::new(), Vec::new());
        let own = body.params.iter().zip(&types).zip(params);
        for ((param, ty), shape) in own.take(types.len() - 1) {
            if !matches!(ty, Ty::Fn(_)) {
                shapes.push(shape);
                names.push(self.pattern_name(&param.pattern));
            }
        }
        let shape = match shapes.len() {
            1 => shapes.remove(0),
            _ => Shape::Record(shapes),
        };
        Some(Wanted { function, shape, names })
    }

    /// Compares the shape of a rule's value with what it must be.
    pub(super) fn check_rule(&mut self, found: &Shape, wanted: &Wanted, value: ExprId) {
        match (&wanted.names[..], found, &wanted.shape) {
            ([name], found, shape) => {
                self.same_shape(&wanted.function, (found, shape), name, value)
            }
            (names, Shape::Record(found), Shape::Record(shapes)) => {
                for ((found, shape), name) in found.iter().zip(shapes).zip(names) {
                    self.same_shape(&wanted.function, (found, shape), name, value);
                }
            }
            _ => {}
        }
    }

    fn same_shape(&mut self, function: &str, pair: (&Shape, &Shape), of: &str, value: ExprId) {
        match pair {
            (Shape::Record(found), Shape::Record(wanted)) => {
                for pair in found.iter().zip(wanted) {
                    self.same_shape(function, pair, of, value);
                }
            }
            (Shape::Tensor(found, inner), Shape::Tensor(wanted, element)) => {
                let span = self.tail_span(value);
                for (axis, (found, wanted)) in found.iter().zip(wanted).enumerate() {
                    let what = format!("axis {axis} of what the rule of `{function}` gives");
                    let names = (what, format!("that of {of}"));
                    let kind = CheckKind::Annotation;
                    let places = (span, span);
                    let answer = self.require_equal(found, wanted, kind, names, span, places);
                    if answer == Truth::False {
                        let (found, wanted) = (self.symbols.show(found), self.symbols.show(wanted));
                        let wanted = (of, &*wanted);
                        self.report(errors::rule_extent(function, axis, &found, wanted, span));
                        return;
                    }
                }
                self.same_shape(function, (inner, element), of, value);
            }
            _ => {}
        }
    }
}
