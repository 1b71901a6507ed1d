//! Calls: arguments against the layouts that parameters declare, and the result in the names of
//! the caller.

use einlang_source::map::{HashMap, HashSet};

use einlang_source::Name;

use super::coordinate_calls::Binding;
use super::declared::{Fit, Mode};
use super::layout::{Axis, Coordinate, Layout};
use super::{Checker, Reach, Val, VariantId};
use crate::errors;
use crate::hir::*;
use crate::types::{Callee, FnTy, InstanceId, Ty};

impl<'p> Checker<'p> {
    pub(super) fn call(&mut self, expr: ExprId, callee: ExprId, args: &[Arg]) -> Val {
        let function = self.expr(callee);
        let values: Vec<Val> = args.iter().map(|arg| self.expr(arg.value)).collect();
        let operands: Vec<(ExprId, &Val)> =
            args.iter().zip(&values).map(|(arg, val)| (arg.value, val)).collect();
        let mut reach = self.node(expr, &operands);
        reach.merge(&Reach { tensors: Vec::new(), ..function.reach });
        let layout = match self.typed.instance(self.work().instance).calls.get(&expr) {
            Some(Callee::Instance(instance)) => {
                let placed = self.placed(*instance, args, &values);
                self.call_placed(expr, *instance, function.layout.env, placed, &[]).0
            }
            Some(Callee::Function(FnTy::Builtin(builtin))) => self.builtin(*builtin, &operands),
            Some(Callee::Function(FnTy::Constructor(constructor))) => {
                let parts = values.iter().map(|val| val.layout.clone()).collect();
                super::builtins::constructed(*constructor, parts)
            }
            _ => Layout::default(),
        };
        Val { layout, reach }
    }

    /// A call without written arguments: of an operator, or at the end of a pipe.
    pub(super) fn call_instance(
        &mut self,
        expr: ExprId,
        env: Option<VariantId>,
        args: Vec<Option<Layout>>,
        exprs: &[Option<ExprId>],
    ) -> Option<Layout> {
        let instance = match self.typed.instance(self.work().instance).calls.get(&expr) {
            Some(Callee::Instance(instance)) => *instance,
            Some(Callee::Function(FnTy::Constructor(constructor))) => {
                let parts = args.into_iter().flatten().collect();
                return Some(super::builtins::constructed(*constructor, parts));
            }
            // What a builtin does to one value keeps its axes; ranks are settled by the type.
            Some(Callee::Function(FnTy::Builtin(_))) => return args.into_iter().next().flatten(),
            _ => return None,
        };
        let args = args.into_iter().enumerate();
        let placed = args.map(|(position, layout)| {
            layout.map(|layout| (exprs.get(position).copied().flatten(), layout))
        });
        Some(self.call_placed(expr, instance, env, placed.collect(), &[]).0)
    }

    /// The arguments in the order of the parameters.
    pub(super) fn placed(
        &self,
        instance: InstanceId,
        args: &[Arg],
        values: &[Val],
    ) -> Vec<Option<(Option<ExprId>, Layout)>> {
        let params = self.params_of(instance);
        let body = &self.program.bodies[self.typed.instance(instance).body];
        let mut placed = vec![None; params.len()];
        let mut next = 0;
        for (arg, val) in args.iter().zip(values) {
            let position = match arg.name {
                Some(name) => {
                    let named = |param: &Param| param_name(body, param) == Some(name.name);
                    params.iter().position(named)
                }
                None => {
                    next += 1;
                    Some(next - 1)
                }
            };
            if let Some(slot) = position.and_then(|position| placed.get_mut(position)) {
                *slot = Some((Some(arg.value), val.layout.clone()));
            }
        }
        placed
    }

    /// The parameters of a function or lambda.
    pub(super) fn params_of(&self, instance: InstanceId) -> &'p [Param] {
        let instance = self.typed.instance(instance);
        let body = &self.program.bodies[instance.body];
        let Some(closure) = instance.lambda else { return &body.params };
        let lambda = self.typed.closures.get(closure.index()).map(|(_, lambda)| *lambda);
        match lambda.map(|expr| body.kind(expr)) {
            Some(ExprKind::Lambda { params, .. }) => params,
            _ => &[],
        }
    }

    /// Calls an instance. Gives the result, and the same before coordinate parameters are told
    /// apart from the names that the call gives them.
    pub(super) fn call_placed(
        &mut self,
        expr: ExprId,
        instance: InstanceId,
        env: Option<VariantId>,
        placed: Vec<Option<(Option<ExprId>, Layout)>>,
        bindings: &[Binding],
    ) -> (Layout, Layout) {
        let params = self.params_of(instance);
        let mut fit = Fit::of_instance(self, instance);
        let mut inside = Vec::new();
        let mut strict: HashSet<Name> = HashSet::default();
        let mut free: HashSet<Name> = HashSet::default();
        for (param, given) in params.iter().zip(&placed) {
            let Some((arg, layout)) = given else {
                inside.push(None);
                continue;
            };
            layout.map(&mut |axis| {
                if let Some(coordinate) = axis.coordinate {
                    let set = if axis.free { &mut free } else { &mut strict };
                    set.insert(coordinate.name);
                }
                axis
            });
            inside.push(Some(self.fit_argument(expr, instance, param, (*arg, layout), &mut fit)));
        }
        let parent = self.parent_of(instance, env);
        let Some(variant) = self.variant(instance, parent, inside) else {
            return (Layout::default(), Layout::default());
        };
        self.work_mut().calls.insert(expr, variant);
        let ret = self.works[variant.index()].ret.clone();
        let body = fit.body;
        let told = |axis: Axis, bound: &HashMap<LocalId, Axis>| match axis.coordinate {
            Some(Coordinate { local: Some((owner, local)), .. }) if owner == body => {
                bound.get(&local).copied().unwrap_or_default()
            }
            Some(coordinate) if axis.free => {
                let known = free.contains(&coordinate.name) && !strict.contains(&coordinate.name);
                Axis { coordinate: Some(coordinate), free: known }
            }
            _ => axis,
        };
        let plain = ret.map(&mut |axis| told(axis, &fit.bound));
        let named: HashMap<LocalId, Axis> =
            bindings.iter().map(|b| (b.parameter, Axis::named(b.coordinate))).collect();
        let marked = ret.map(&mut |axis| told(axis, &named));
        (plain, marked)
    }

    fn fit_argument(
        &mut self,
        call: ExprId,
        instance: InstanceId,
        param: &Param,
        (arg, layout): (Option<ExprId>, &Layout),
        fit: &mut Fit,
    ) -> Layout {
        let Some(ty) = &param.ty else { return layout.map(&mut Axis::freed) };
        let inside = self.fit(ty, layout, Mode::Param, fit);
        if let Some((wanted, found)) = fit.wrong.take() {
            let body = &self.program.bodies[fit.body];
            let name = param_name(body, param).map_or("_", |name| self.text(name));
            let function = self.function_name(instance);
            let declared = self.spell(ty, fit.body);
            let (shown, at) = (self.show(layout), arg.unwrap_or(call));
            let argument = self.snippet(at);
            let span = self.span(at);
            let (wanted, found) = (self.text(wanted.name), self.text(found.name));
            self.report(errors::argument_layout(
                (&function, name, &declared),
                (&argument, &shown),
                (wanted, found),
                span,
                ty.span,
            ));
        }
        inside
    }

    pub(super) fn function_name(&self, instance: InstanceId) -> String {
        let instance = self.typed.instance(instance);
        match self.program.bodies[instance.body].owner {
            Owner::Def(def) if instance.lambda.is_none() => {
                self.text(self.program.def(def).name.name).to_string()
            }
            _ => "this closure".to_string(),
        }
    }

    /// The variant that a called instance captures from.
    fn parent_of(&mut self, instance: InstanceId, env: Option<VariantId>) -> Option<VariantId> {
        let parent = self.typed.instance(instance).parent?;
        let fits = |id: &VariantId| self.works[id.index()].instance == parent;
        env.filter(fits).or_else(|| self.latest.get(&parent).copied())
    }

    /// `x ?> f`, `x !> f(2)`
    pub(super) fn piped(&mut self, expr: ExprId, value: ExprId, then: ExprId) -> Val {
        let val = self.expr(value);
        let first = val.layout.parts.first().cloned().unwrap_or_default();
        let mut args = vec![Some(first)];
        let mut exprs = vec![Some(value)];
        let mut reach = val.reach.clone();
        let callee = match self.body().kind(then) {
            ExprKind::Call { callee, args: more } => {
                for arg in more.iter().filter(|arg| arg.name.is_none()) {
                    let val = self.expr(arg.value);
                    reach.merge(&val.reach);
                    args.push(Some(val.layout));
                    exprs.push(Some(arg.value));
                }
                *callee
            }
            _ => then,
        };
        let env = self.expr(callee).layout.env;
        let result = self.call_instance(expr, env, args, &exprs).unwrap_or_default();
        let ty = self.typed.instance(self.work().instance).calls.get(&expr);
        let wrapped = match ty {
            Some(Callee::Instance(id)) => {
                matches!(self.typed.instance(*id).ret, Ty::Option(_) | Ty::Result(..))
            }
            Some(Callee::Function(FnTy::Constructor(_))) => true,
            _ => false,
        };
        let layout = if wrapped { result } else { Layout::of_parts(vec![result]) };
        Val { layout, reach }
    }

    /// `x else e`
    pub(super) fn or_else(&mut self, value: ExprId, other: ExprId) -> Val {
        let (val, otherwise) = (self.expr(value), self.expr(other));
        let first = val.layout.parts.first().cloned().unwrap_or_default();
        let mut reach = val.reach;
        reach.merge(&otherwise.reach);
        Val { layout: self.agree((value, &first), (other, &otherwise.layout)), reach }
    }

    /// `x catch |err| e`
    pub(super) fn catch(&mut self, expr: ExprId, value: ExprId, handler: ExprId) -> Val {
        let (val, handled) = (self.expr(value), self.expr(handler));
        let first = val.layout.parts.first().cloned().unwrap_or_default();
        let error = val.layout.parts.get(1).cloned().unwrap_or_default();
        let called = self.call_instance(expr, handled.layout.env, vec![Some(error)], &[]);
        let other = called.unwrap_or(handled.layout);
        Val { layout: self.agree((value, &first), (handler, &other)), reach: val.reach }
    }
}

/// The name of a parameter that is one name.
pub(super) fn param_name(body: &Body, param: &Param) -> Option<Name> {
    let mut kind = &param.pattern.kind;
    while let PatternKind::Typed(inner, _) = kind {
        kind = &inner.kind;
    }
    match kind {
        PatternKind::Bind(local, _) => Some(body[*local].name.name),
        _ => None,
    }
}
