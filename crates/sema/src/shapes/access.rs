//! Reads `A[i, j else e]`: what they take, and what they ask of their subscripts.

use einlang_index::solve::AxisId;
use einlang_index::{MinMax, Quasi};

use super::Analyser;
use super::formula::Formula;
use super::frame::{Access, At, FrameRead};
use super::value::{Shape, natural};
use crate::errors;
use crate::hir::*;

/// A read that is being taken apart.
struct Reading {
    expr: ExprId,
    tensor: String,
    /// A number for each axis, equal for all reads of one tensor.
    key: String,
    default: bool,
    own: bool,
    proved: Vec<bool>,
    at: Vec<At>,
    kept: Vec<MinMax>,
}

impl<'p> Analyser<'p> {
    pub(super) fn access(
        &mut self,
        expr: ExprId,
        base: ExprId,
        subscripts: &'p [Subscript],
        default: Option<ExprId>,
    ) -> Shape {
        let whole = match self.body().kind(base) {
            // A name that is read in part is not used as a whole.
            ExprKind::Name(res) => {
                let shape = self.name_shape(*res);
                self.here().exprs.insert(base, shape.clone());
                shape
            }
            _ => self.eval(base),
        };
        let part = self.select(expr, base, &whole, subscripts, default);
        match default {
            Some(default) => {
                let other = self.under(Formula::Unknown, |cx| cx.eval(default));
                self.settled_by(&part, &other)
            }
            None => part,
        }
    }

    /// A part of a binding that is being defined has the extents that its default says.
    fn settled_by(&self, part: &Shape, default: &Shape) -> Shape {
        match (part, default) {
            (Shape::Tensor(extents, element), Shape::Tensor(others, other))
                if extents.len() == others.len() =>
            {
                let known = extents.iter().zip(others).map(|(extent, other)| {
                    if self.symbols.mentions_open(extent) { other } else { extent }.clone()
                });
                Shape::Tensor(known.collect(), Box::new(self.settled_by(element, other)))
            }
            (Shape::Record(parts), Shape::Record(others)) if parts.len() == others.len() => {
                let parts = parts.iter().zip(others).map(|(a, b)| self.settled_by(a, b));
                Shape::Record(parts.collect())
            }
            _ => part.clone(),
        }
    }

    /// The part of a tensor that subscripts select.
    pub(super) fn select(
        &mut self,
        expr: ExprId,
        base: ExprId,
        whole: &Shape,
        subscripts: &'p [Subscript],
        default: Option<ExprId>,
    ) -> Shape {
        if let Shape::Ints(values) = whole
            && let [Subscript::Expr(subscript)] = subscripts
            && !self.passes_whole(*subscript)
        {
            return self.known_element(expr, base, values, *subscript, default.is_some());
        }
        let extents = whole.extents();
        if extents.is_empty() {
            for subscript in subscripts {
                if let Subscript::Expr(subscript) = subscript {
                    self.eval(*subscript);
                }
            }
            if self.ty(base).is_silent() {
                self.silence();
            }
            return match whole {
                // A rest may stand for no axis at all.
                Shape::Record(_) | Shape::Int(_) => whole.clone(),
                _ => self.unknown(expr),
            };
        }
        let body = self.body();
        let binding = match body.kind(base) {
            ExprKind::Name(res) => self.owner_of(*res),
            _ => None,
        };
        let key = match (binding, body.kind(base)) {
            (Some((instance, local)), _) => format!("{}.{}", instance.index(), local.index()),
            (None, ExprKind::Name(Res::Def(def))) => format!("def.{}", def.index()),
            _ => format!("expr.{}.{}", self.cur.index(), base.index()),
        };
        let mut reading = Reading {
            expr,
            tensor: self.describe(body, base),
            key,
            default: default.is_some(),
            own: binding.is_some_and(|binding| self.own.contains(&binding)),
            proved: Vec::new(),
            at: Vec::new(),
            kept: Vec::new(),
        };
        for subscript in subscripts {
            self.subscript(&mut reading, &extents, subscript);
        }
        for extent in extents.iter().skip(reading.at.len()) {
            reading.at.push(At::Part(0.into(), extent.clone()));
            reading.kept.push(extent.clone());
        }
        let Reading { at, kept, proved, default, .. } = reading;
        self.here().reads.insert(expr, proved);
        if let Some(binding) = binding
            && at.len() == extents.len()
        {
            self.note_access(expr, binding, at, default);
        }
        Shape::tensor(kept, whole.element().clone())
    }

    fn subscript(&mut self, reading: &mut Reading, extents: &[MinMax], subscript: &'p Subscript) {
        let axis = reading.at.len();
        let Some(extent) = extents.get(axis).cloned() else { return };
        match subscript {
            Subscript::All(_) => self.keep(reading, extent),
            Subscript::Rest { local: Res::Local(rest), .. } => match self.rest_indices(*rest) {
                Some(vars) => {
                    let position = reading.proved.len();
                    reading.proved.push(true);
                    for (number, var) in vars.into_iter().enumerate() {
                        let Some(extent) = extents.get(axis + number).cloned() else { break };
                        self.read(reading, position, var.into(), extent, Formula::Constant(true));
                        reading.at.push(At::Point(var.into()));
                    }
                }
                None => {
                    // A rest of the signature, passed through whole.
                    let width = self.rest_width(*rest).unwrap_or(0);
                    reading.proved.push(true);
                    for extent in extents.iter().skip(axis).take(width) {
                        reading.at.push(At::Part(0.into(), extent.clone()));
                        reading.kept.push(extent.clone());
                    }
                }
            },
            Subscript::Rest { .. } => {}
            Subscript::Index(binder) => {
                let shape = self.name_shape(Res::Local(binder.local));
                self.point(reading, extent, shape);
            }
            Subscript::Expr(value) if self.passes_whole(*value) => self.keep(reading, extent),
            Subscript::Expr(value) => {
                self.lasts.push(extent.clone());
                let shape = self.eval(*value);
                self.lasts.pop();
                match shape {
                    Shape::Range(ends) => {
                        let (start, end) = *ends;
                        let end = end.unwrap_or_else(|| extent.clone());
                        self.slice(reading, extent, start, end);
                    }
                    shape => self.point(reading, extent, shape),
                }
            }
        }
    }

    fn keep(&mut self, reading: &mut Reading, extent: MinMax) {
        reading.proved.push(true);
        reading.at.push(At::Part(0.into(), extent.clone()));
        reading.kept.push(extent);
    }

    fn point(&mut self, reading: &mut Reading, extent: MinMax, shape: Shape) {
        let position = reading.proved.len();
        match shape.as_quasi().cloned() {
            Some(value) => {
                reading.proved.push(true);
                self.read(reading, position, value.clone(), extent, Formula::Constant(true));
                let by_data = self.varies(&value);
                reading.at.push(if by_data { At::Data } else { At::Point(value) });
            }
            None => {
                reading.proved.push(false);
                reading.at.push(At::Data);
            }
        }
    }

    /// `A[a..b]` reads its first and last points, if there are any.
    fn slice(&mut self, reading: &mut Reading, extent: MinMax, start: MinMax, end: MinMax) {
        let position = reading.proved.len();
        let length = end.sub(&start).ok().map(natural);
        match (start.as_quasi(), end.as_quasi()) {
            (Some(first), Some(after)) => {
                reading.proved.push(true);
                let some = after.sub(first).and_then(|gap| gap.add_constant(-1));
                let some = some.map_or(Formula::Unknown, Formula::AtLeast);
                let last = after.add_constant(-1).unwrap_or_else(|_| after.clone());
                self.read(reading, position, first.clone(), extent.clone(), some.clone());
                self.read(reading, position, last, extent, some);
            }
            (Some(first), None) if end == extent => {
                reading.proved.push(true);
                self.read(reading, position, first.clone(), extent, Formula::Unknown);
            }
            _ => reading.proved.push(false),
        }
        reading.at.push(At::Part(start, end));
        reading.kept.push(match length {
            Some(length) => self.facts.simplified(&length),
            None => {
                let source = super::symbols::Source::Expr(self.cur, reading.expr);
                self.fresh_axis(source, &Vec::new(), reading.kept.len(), reading.kept.len() + 2)
            }
        });
    }

    /// One subscript for the solver.
    fn read(
        &mut self,
        reading: &mut Reading,
        position: usize,
        value: Quasi,
        extent: MinMax,
        condition: Formula,
    ) {
        if reading.default {
            // Outside the box the default is taken, so there is nothing to prove or infer.
            return;
        }
        let number = reading.at.len();
        let next = AxisId(self.axes.len() as u32);
        let axis = *self.axes.entry((reading.key.clone(), number)).or_insert(next);
        let condition = Formula::and(vec![self.condition(), condition]);
        self.frame.reads.push(FrameRead {
            instance: self.cur,
            expr: reading.expr,
            position,
            value,
            extent,
            axis,
            number,
            tensor: reading.tensor.clone(),
            condition,
            own: reading.own,
            span: self.program.bodies[self.typed.instance(self.cur).body].span(reading.expr),
        });
    }

    /// One axis of the result of a call, read at a point.
    pub(super) fn read_result(
        &mut self,
        expr: ExprId,
        tensor: &str,
        number: usize,
        value: Quasi,
        extent: MinMax,
    ) {
        let next = AxisId(self.axes.len() as u32);
        let key = format!("expr.{}.{}", self.cur.index(), expr.index());
        let axis = *self.axes.entry((key, number)).or_insert(next);
        let (condition, span) = (self.condition(), self.span(expr));
        self.frame.reads.push(FrameRead {
            instance: self.cur,
            expr,
            position: 0,
            value,
            extent,
            axis,
            number,
            tensor: tensor.to_owned(),
            condition,
            own: false,
            span,
        });
        self.here().reads.insert(expr, vec![true]);
    }

    /// Whether an expression has a part that differs from point to point and is no index.
    fn varies(&self, value: &Quasi) -> bool {
        if self.frame.scope.is_empty() {
            return false;
        }
        let mut varies = false;
        value.for_each_var(&mut |var| varies |= self.local_data.contains(&var));
        varies
    }

    /// A subscript of a vector whose elements are known.
    fn known_element(
        &mut self,
        expr: ExprId,
        base: ExprId,
        values: &[MinMax],
        subscript: ExprId,
        default: bool,
    ) -> Shape {
        let extent = MinMax::from(values.len() as i64);
        self.lasts.push(extent);
        let at = self.eval(subscript);
        self.lasts.pop();
        let constant = at.as_quasi().and_then(Quasi::as_constant);
        if let Some(value) =
            constant.and_then(|at| usize::try_from(at).ok()).and_then(|at| values.get(at))
        {
            self.here().reads.insert(expr, vec![true]);
            return Shape::Int(value.clone());
        }
        if let Some(at) = constant
            && !default
            && self.condition().is_true()
        {
            let name = self.describe(self.body(), base);
            let (span, extent) = (self.span(expr), values.len().to_string());
            self.report(errors::out_of_bounds(&name, 0, &at.to_string(), &extent, span));
        }
        // One of several: nothing is known of it but that it is an integer.
        let whole = Shape::tensor(vec![MinMax::from(values.len() as i64)], Shape::Opaque);
        self.reselect(expr, base, &whole, at, default)
    }

    fn reselect(
        &mut self,
        expr: ExprId,
        base: ExprId,
        whole: &Shape,
        at: Shape,
        default: bool,
    ) -> Shape {
        let extent = whole.extents().remove(0);
        let mut reading = Reading {
            expr,
            tensor: self.describe(self.body(), base),
            key: format!("expr.{}.{}", self.cur.index(), base.index()),
            default,
            own: false,
            proved: Vec::new(),
            at: Vec::new(),
            kept: Vec::new(),
        };
        match at {
            Shape::Range(ends) => {
                let (start, end) = *ends;
                let end = end.unwrap_or_else(|| extent.clone());
                self.slice(&mut reading, extent, start, end);
            }
            at => self.point(&mut reading, extent, at),
        }
        let Reading { kept, proved, .. } = reading;
        self.here().reads.insert(expr, proved);
        Shape::tensor(kept, Shape::Opaque)
    }

    /// A coordinate in the arguments of a coordinate call that is no index in scope.
    fn passes_whole(&self, expr: ExprId) -> bool {
        let body = self.body();
        match body.kind(expr) {
            ExprKind::Coordinate(_) => true,
            ExprKind::Name(Res::Local(local)) if self.coordinate_calls > 0 => {
                self.coordinates.contains(local)
                    || matches!(body[*local].kind, LocalKind::Extent(None))
            }
            _ => false,
        }
    }

    /// Nothing is known of a tensor, so nothing can be said about the indices that read it.
    fn silence(&mut self) {
        for position in &self.frame.scope {
            self.frame.indices[*position].silent = true;
        }
    }

    /// A binding that is used as a whole.
    pub(super) fn whole_use(&mut self, res: Res, expr: ExprId) {
        let Some(binding) = self.owner_of(res) else { return };
        let (instance, local) = binding;
        let body = &self.program.bodies[self.typed.instance(instance).body];
        if body[local].kind != LocalKind::Indexed && !self.own.contains(&binding) {
            return;
        }
        let extents = self.local_shape(instance, local).extents();
        let at = extents.into_iter().map(|extent| At::Part(0.into(), extent)).collect();
        self.note_access(expr, binding, at, false);
    }

    fn note_access(
        &mut self,
        expr: ExprId,
        binding: (crate::types::InstanceId, LocalId),
        at: Vec<At>,
        default: bool,
    ) {
        let (instance, local) = binding;
        let body = &self.program.bodies[self.typed.instance(instance).body];
        let indexed = body[local].kind == LocalKind::Indexed;
        if !indexed && !self.own.contains(&binding) {
            return;
        }
        let (condition, scope) = (self.condition(), self.frame.scope.clone());
        let (instance, span) = (self.cur, self.span(expr));
        let access = Access { instance, expr, binding, at, condition, default, scope, span };
        self.frame.accesses.push(access);
    }
}
