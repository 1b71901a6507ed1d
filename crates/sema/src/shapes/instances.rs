//! Instances: each is walked once, with symbols for what its parameters bring.

use einlang_source::Span;

use super::Analyser;
use super::formula::Formula;
use super::symbols::Source;
use super::value::Shape;
use crate::hir::*;
use crate::types::InstanceId;

/// How far an instance is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    New,
    Open,
    Done,
}

impl<'p> Analyser<'p> {
    /// Walks an instance unless that was done or is going on.
    pub(super) fn analyse_instance(&mut self, id: InstanceId) {
        if self.states[id.index()] != State::New {
            return;
        }
        let frame = std::mem::take(&mut self.frame);
        let conditions = std::mem::take(&mut self.conditions);
        let lasts = std::mem::take(&mut self.lasts);
        let until = std::mem::take(&mut self.until);
        let placeholders = std::mem::take(&mut self.placeholders);
        let coordinates = std::mem::take(&mut self.coordinates);
        let coordinate_calls = std::mem::take(&mut self.coordinate_calls);
        self.walk_instance(id);
        self.until = until;
        self.placeholders = placeholders;
        self.coordinates = coordinates;
        self.coordinate_calls = coordinate_calls;
        self.frame = frame;
        self.conditions = conditions;
        self.lasts = lasts;
    }

    /// Walks a lambda where it is written: its reads belong to the clause around it.
    pub(super) fn analyse_lambda(&mut self, id: InstanceId) {
        if self.states[id.index()] == State::New {
            let lasts = std::mem::take(&mut self.lasts);
            let called = !self.typed.instance(id).uncalled;
            let condition = if called { Formula::Constant(true) } else { Formula::Unknown };
            self.under(condition, |cx| cx.walk_instance(id));
            self.lasts = lasts;
        }
    }

    fn walk_instance(&mut self, id: InstanceId) {
        self.states[id.index()] = State::Open;
        let outer = std::mem::replace(&mut self.cur, id);
        let first_fact = self.facts.len();
        self.depth += 1;
        let body = self.body();
        let lambda = self.typed_here().lambda.map(|closure| self.typed.closures[closure.index()].1);
        let (params, value, ret): (&'p [Param], _, _) = match lambda.map(|expr| body.kind(expr)) {
            Some(ExprKind::Lambda { params, body }) => (params, Some(*body), None),
            Some(_) => (&[], None, None),
            None => (&body.params, body.value, body.ret.as_ref()),
        };
        self.params(id, params);
        if let Owner::Module(_) = body.owner
            && lambda.is_none()
        {
            self.inputs_of(id);
        }
        let wanted = self.typed_here().rule_of.and_then(|of| self.shape_of_rule(of));
        let found = match value {
            Some(value) => self.closed(|cx| cx.eval(value)),
            None => Shape::Opaque,
        };
        if let (Some(wanted), Some(value)) = (wanted, value) {
            self.check_rule(&found, &wanted, value);
        }
        let found = match (ret, value) {
            (Some(ret), Some(value)) => {
                let span = self.tail_span(value);
                self.annotate(&found, ret, span, "the result")
            }
            _ => found,
        };
        let facts = self.facts.since(first_fact).to_vec();
        let here = self.here();
        here.ret = found;
        here.facts = facts;
        self.depth -= 1;
        self.cur = outer;
        self.states[id.index()] = State::Done;
    }

    /// Gives the parameters their symbols; named sizes first, so that `[f32; N - K + 1]` may stand
    /// before `[f32; N]`.
    fn params(&mut self, id: InstanceId, params: &'p [Param]) {
        let types = self.typed.instance(id).params.clone();
        let mut shapes = Vec::with_capacity(params.len());
        for (position, param) in params.iter().enumerate() {
            let ty = types.get(position).cloned().unwrap_or(crate::types::Ty::Error);
            let shape = self.fresh(&ty, Source::Param(id, position), true);
            self.bind_sizes(&shape, param.ty.as_ref());
            shapes.push(shape);
        }
        for (shape, param) in shapes.iter_mut().zip(params) {
            if let Some(ty) = &param.ty {
                let name = self.pattern_name(&param.pattern);
                *shape = self.annotate(shape, ty, param.pattern.span, &name);
            }
            self.bind_pattern(&param.pattern, shape);
        }
        for param in params {
            if let Some(default) = param.default {
                // The default value belongs to the caller's world, but is written here.
                self.closed(|cx| cx.eval(default));
            }
        }
        self.here().params = shapes;
    }

    pub(super) fn pattern_name(&self, pattern: &Pattern) -> String {
        match super::fresh::bound_name(pattern) {
            Some(local) => format!("`{}`", self.text(self.body()[local].name.name)),
            None => "the parameter".to_owned(),
        }
    }

    /// The inputs of a module, before its statements.
    fn inputs_of(&mut self, id: InstanceId) {
        let body = self.typed.instance(id).body;
        let Owner::Module(module) = self.program.bodies[body].owner else { return };
        let mut inputs: Vec<(DefId, &'p Input)> = Vec::new();
        for (def, item) in self.program.defs.iter() {
            if let DefKind::Input(input) = &item.kind
                && item.module == module
                && item.inside.is_none()
            {
                inputs.push((def, input));
            }
        }
        let mut shapes = Vec::new();
        for (def, input) in &inputs {
            let ty = self.input_type(input);
            let shape = self.fresh(&ty, Source::Input(*def), true);
            self.bind_sizes(&shape, Some(&input.ty));
            shapes.push(shape);
        }
        for ((def, input), shape) in inputs.into_iter().zip(shapes) {
            let name = format!("`{}`", self.text(self.program.def(def).name.name));
            let span = self.program.def(def).name.span;
            let shape = self.annotate(&shape, &input.ty, span, &name);
            if let (TypeKind::Named(Res::Def(of), _), Shape::Record(parts)) =
                (&input.ty.kind, &shape)
            {
                self.fields_fit(*of, parts, span, &name);
            }
            self.inputs.insert(def, shape);
        }
    }

    /// The shape of an input, wherever it is used.
    pub(super) fn input_shape(&mut self, def: DefId, input: &'p Input) -> Shape {
        if let Some(shape) = self.inputs.get(&def) {
            return shape.clone();
        }
        // An input of a module whose statements come later.
        let module = self.program.def(def).module;
        if let Some(id) = self.typed.modules.get(module.index()).copied().flatten() {
            self.analyse_instance(id);
        }
        if let Some(shape) = self.inputs.get(&def) {
            return shape.clone();
        }
        let ty = self.input_type(input);
        let shape = self.fresh(&ty, Source::Input(def), true);
        self.inputs.insert(def, shape.clone());
        shape
    }

    /// The expression whose value a block or `where` yields, for messages.
    pub(super) fn tail_span(&self, expr: ExprId) -> Span {
        match self.body().kind(expr) {
            ExprKind::Block(Block { value: Some(value), .. }) => self.tail_span(*value),
            _ => self.span(expr),
        }
    }
}
