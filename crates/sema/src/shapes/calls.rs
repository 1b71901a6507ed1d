//! Calls: the caller's extents for the symbols of the callee.

use einlang_source::map::HashMap;

use einlang_index::{MinMax, Truth, Var, VarKind};

use super::Analyser;
use super::instances::State;
use super::result::{Check, CheckKind};
use super::symbols::{Origin, Path, Source, substituted};
use super::value::Shape;
use crate::builtins::Function;
use crate::errors;
use crate::hir::*;
use crate::types::{Callee, FnTy, InstanceId, Ty};

impl<'p> Analyser<'p> {
    pub(super) fn call(&mut self, expr: ExprId, callee: ExprId, args: &'p [Arg]) -> Shape {
        if !matches!(self.body().kind(callee), ExprKind::Name(_)) {
            self.eval(callee);
        }
        let n_accesses = self.frame.accesses.len();
        let shapes: Vec<Shape> = args.iter().map(|arg| self.eval(arg.value)).collect();
        let reads_nothing = [Function::Len, Function::Shape, Function::Typeof];
        if let Some(Callee::Function(FnTy::Builtin(function))) = self.typed_here().calls.get(&expr)
            && reads_nothing.contains(function)
            && args.iter().all(|arg| self.is_measured_unread(arg.value))
        {
            self.frame.accesses.truncate(n_accesses);
        }
        match self.typed_here().calls.get(&expr) {
            Some(Callee::Instance(id)) => {
                let id = *id;
                let given = self.arranged(id, args, &shapes);
                self.result_of(expr, id, &given)
            }
            Some(Callee::Function(FnTy::Builtin(function))) => {
                self.builtin(expr, *function, args, &shapes)
            }
            _ => self.unknown(expr),
        }
    }

    /// Whether the lengths of a value are known without it. A string that stands at a point, or a
    /// row of them, must be read to be measured.
    fn is_measured_unread(&self, expr: ExprId) -> bool {
        let ty = self.ty(expr);
        let element = match ty {
            Ty::Tensor(element, _) => element,
            ty => ty,
        };
        matches!(self.body().kind(expr), ExprKind::Name(_))
            || !matches!(element, Ty::Scalar(Scalar::Str) | Ty::Enum(..) | Ty::Jagged(..))
    }

    /// The arguments by position of their parameters; defaults are missing.
    fn arranged(&self, id: InstanceId, args: &[Arg], shapes: &[Shape]) -> Vec<Option<Shape>> {
        let instance = self.typed.instance(id);
        let body = &self.program.bodies[instance.body];
        let params: &[Param] = match instance.lambda {
            Some(closure) => match body.kind(self.typed.closures[closure.index()].1) {
                ExprKind::Lambda { params, .. } => params,
                _ => &[],
            },
            None => &body.params,
        };
        let mut given: Vec<Option<Shape>> = vec![None; params.len()];
        let mut next = 0;
        for (arg, shape) in args.iter().zip(shapes) {
            let position = match arg.name {
                None => {
                    next += 1;
                    Some(next - 1)
                }
                Some(name) => params.iter().position(|param| {
                    super::fresh::bound_name(&param.pattern)
                        .is_some_and(|local| body[local].name.name == name.name)
                }),
            };
            if let Some(slot) = position.and_then(|position| given.get_mut(position)) {
                *slot = Some(shape.clone());
            }
        }
        given
    }

    /// The shape of a call of an instance with these arguments.
    fn result_of(&mut self, expr: ExprId, id: InstanceId, given: &[Option<Shape>]) -> Shape {
        self.analyse_instance(id);
        if self.states[id.index()] != State::Done {
            // A recursive call: nothing is known of its result but the type.
            return self.unknown(expr);
        }
        let call = Call { id, given };
        let ret = self.instances[id.index()].ret.clone();
        let source = Source::Expr(self.cur, expr);
        let result = self.translated(source, &call, &ret, &mut Vec::new());
        self.check_call(expr, &call);
        result
    }

    /// The shape of an instance's value for these arguments, without the tests of a call; what they
    /// do not tell comes from `source`. None while the instance is being walked.
    pub(super) fn value_for(
        &mut self,
        source: Source,
        id: InstanceId,
        given: &[Shape],
    ) -> Option<Shape> {
        self.analyse_instance(id);
        if self.states[id.index()] != State::Done {
            return None;
        }
        let given: Vec<Option<Shape>> = given.iter().cloned().map(Some).collect();
        let ret = self.instances[id.index()].ret.clone();
        Some(self.translated(source, &Call { id, given: &given }, &ret, &mut Vec::new()))
    }

    /// The value in the caller's symbols, where it has one.
    fn in_caller(&self, call: &Call<'_>, value: &MinMax) -> Option<MinMax> {
        let value = self.symbols.resolved(value);
        let mut with: HashMap<Var, MinMax> = HashMap::default();
        let mut foreign = false;
        value.for_each_var(&mut |var| {
            if with.contains_key(&var) || foreign {
                return;
            }
            match self.symbols.origin(var) {
                None if var.kind() == VarKind::Index => {
                    // An index of the callee means nothing outside; one it captured does.
                    foreign |= !self.frame.indices.iter().any(|index| index.var == var);
                }
                Some(origin) => match call.value(origin) {
                    Given::Value(value) => {
                        with.insert(var, value);
                    }
                    Given::Computed(value) => match self.in_caller(call, &value) {
                        Some(value) => {
                            with.insert(var, value);
                        }
                        None => foreign = true,
                    },
                    Given::Kept => {}
                    Given::Foreign => foreign = true,
                },
                None => foreign = true,
            }
        });
        if foreign {
            return None;
        }
        substituted(&value, &|var| with.get(&var).cloned())
    }

    /// A shape in the caller's symbols; axes that cannot be told are those of `source`.
    fn translated(
        &mut self,
        source: Source,
        call: &Call<'_>,
        shape: &Shape,
        path: &mut Path,
    ) -> Shape {
        match shape {
            Shape::Opaque => Shape::Opaque,
            Shape::Int(value) => self.in_caller(call, value).map_or(Shape::Opaque, Shape::Int),
            Shape::Ints(values) => {
                let known: Option<Vec<MinMax>> =
                    values.iter().map(|value| self.in_caller(call, value)).collect();
                known.map_or_else(|| super::expressions::plain(shape.clone()), Shape::Ints)
            }
            Shape::Range(ends) => {
                let start = self.in_caller(call, &ends.0);
                let end = ends.1.as_ref().map(|end| self.in_caller(call, end));
                match (start, end) {
                    (Some(start), None) => Shape::range(start, None),
                    (Some(start), Some(Some(end))) => Shape::range(start, Some(end)),
                    _ => Shape::Opaque,
                }
            }
            Shape::Record(parts) => {
                let mut result = Vec::with_capacity(parts.len());
                for (position, part) in parts.iter().enumerate() {
                    path.push(position);
                    result.push(self.translated(source, call, part, path));
                    path.pop();
                }
                Shape::Record(result)
            }
            Shape::Tensor(extents, element) => {
                let n_axes = extents.len();
                let mut axes = Vec::with_capacity(n_axes);
                for (axis, extent) in extents.iter().enumerate() {
                    let known = self.in_caller(call, extent);
                    axes.push(match known {
                        Some(extent) => self.facts.simplified(&extent),
                        None => self.fresh_axis(source, path, axis, n_axes),
                    });
                }
                let element = self.translated(source, call, element, path);
                Shape::tensor(axes, element)
            }
        }
    }

    /// What the callee tests at entry and these arguments are bound to fail.
    fn check_call(&mut self, expr: ExprId, call: &Call<'_>) {
        if !self.condition().is_true() {
            return;
        }
        let checks: Vec<Check> = self.instances[call.id.index()].checks.clone();
        for check in checks.iter().filter(|check| !check.conditional) {
            let left = self.in_caller(call, &check.left);
            let right = self.in_caller(call, &check.right);
            let (Some(left), Some(right)) = (left, right) else { continue };
            if self.facts.compare(&left, &right) != Truth::False {
                continue;
            }
            let (x, y) = (self.symbols.show(&left), self.symbols.show(&right));
            let span = self.span(expr);
            let (a, b) = (check.names.0.as_str(), check.names.1.as_str());
            let diagnostic = match check.kind {
                CheckKind::Annotation => {
                    errors::argument_extent((a, &x), (&y, check.places.1), span)
                }
                _ => {
                    errors::extents_at_call((a, &x, check.places.0), (b, &y, check.places.1), span)
                }
            };
            return self.report(diagnostic);
        }
    }
}

/// A call that is being looked into.
struct Call<'a> {
    id: InstanceId,
    given: &'a [Option<Shape>],
}

enum Given {
    /// What the arguments say.
    Value(MinMax),
    /// What other symbols of the callee say.
    Computed(MinMax),
    /// The symbol means the same outside.
    Kept,
    /// The symbol means something only inside.
    Foreign,
}

impl Call<'_> {
    fn value(&self, origin: &Origin) -> Given {
        let (source, path) = match origin {
            Origin::Axis(source, path, _) | Origin::Value(source, path) => (source, path),
            Origin::Until(instance, _) if *instance == self.id => return Given::Foreign,
            Origin::Computed(value) => return Given::Computed(value.clone()),
            Origin::Until(..) | Origin::Unbound => return Given::Kept,
        };
        match source {
            Source::Param(id, position) if *id == self.id => {
                let Some(Some(shape)) = self.given.get(*position) else { return Given::Foreign };
                let Some(part) = part_at(shape, path) else { return Given::Foreign };
                let value = match (origin, part) {
                    (Origin::Axis(_, _, axis), part) => part.extents().get(*axis).cloned(),
                    (_, Shape::Int(value)) => Some(value.clone()),
                    _ => None,
                };
                value.map_or(Given::Foreign, Given::Value)
            }
            Source::Expr(id, _) | Source::Local(id, _) if *id == self.id => Given::Foreign,
            _ => Given::Kept,
        }
    }
}

/// The part of a shape at the end of a path.
fn part_at<'a>(shape: &'a Shape, path: &[usize]) -> Option<&'a Shape> {
    let Some((first, rest)) = path.split_first() else { return Some(shape) };
    match shape {
        Shape::Record(parts) => part_at(parts.get(*first)?, rest),
        Shape::Tensor(_, element) => part_at(element, path),
        _ => None,
    }
}
