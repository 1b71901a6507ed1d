//! `@x` and `@y / @x`: the differential of a value, and the shape of a derivative.
//!
//! A differential has the type of its value; sums and multiples of differentials are
//! differentials. Whether an expression is linear in them, and whether a type can be
//! differentiated at all, is decided where derivatives are taken.

use super::Checker;
use super::annotations::Env;
use super::effects::Pure;
use super::instances::{InstanceId, Key};
use super::operators::Leaf;
use super::ty::Ty;
use crate::errors;
use crate::hir::*;

impl Checker<'_> {
    pub(super) fn differential(&mut self, operand: ExprId) -> Ty {
        let ty = self.in_pure(Pure::Derivative, |cx| cx.infer(operand));
        match self.shallow(&ty) {
            ty if ty.is_silent() => ty,
            Ty::Differential(_) => ty,
            _ => Ty::Differential(Box::new(ty)),
        }
    }

    /// The type without `@`.
    pub(super) fn plain(&mut self, ty: &Ty) -> Ty {
        match self.shallow(ty) {
            Ty::Differential(inner) => *inner,
            ty => ty,
        }
    }

    pub(super) fn is_differential(&mut self, ty: &Ty) -> bool {
        matches!(self.shallow(ty), Ty::Differential(_))
    }

    /// `D / @p`; other operators on differentials are ordinary.
    pub(super) fn differential_operator(&mut self, op: BinaryOp, a: &Ty, b: &Ty) -> Option<Ty> {
        if op != BinaryOp::Div || !self.is_differential(b) {
            return None;
        }
        let (y, x) = (self.plain(a), self.plain(b));
        Some(self.derivative(&y, &x))
    }

    /// What is computed from a differential is one.
    pub(super) fn differential_result(&mut self, leaf: Leaf, a: &Ty, b: &Ty, ty: Ty) -> Ty {
        let any = self.is_differential(a) || self.is_differential(b);
        match leaf {
            Leaf::Number if any && !ty.is_silent() => Ty::Differential(Box::new(ty)),
            _ => ty,
        }
    }

    /// shape(y) ++ shape(x), with the element type of `y`; records give records.
    fn derivative(&mut self, y: &Ty, x: &Ty) -> Ty {
        let (y, x) = (self.shallow(y), self.shallow(x));
        match (&y, &x) {
            (y, x) if y.is_silent() || x.is_silent() => Ty::Error,
            (Ty::Tuple(parts), _) => {
                Ty::Tuple(parts.iter().map(|part| self.derivative(part, &x)).collect())
            }
            (_, Ty::Tuple(parts)) => {
                Ty::Tuple(parts.iter().map(|part| self.derivative(&y, part)).collect())
            }
            (Ty::Tensor(element, m), _) => {
                let inner = self.derivative(element, &x);
                Ty::tensor(inner, m.clone())
            }
            // The gradient of a scalar has the type of the record.
            (Ty::Scalar(_) | Ty::Var(_), Ty::Struct(..)) => x.clone(),
            (Ty::Struct(..), Ty::Scalar(_) | Ty::Var(_)) => y.clone(),
            (_, Ty::Tensor(element, n)) => {
                let inner = self.derivative(&y, element);
                Ty::tensor(inner, n.clone())
            }
            (Ty::Scalar(_) | Ty::Var(_), Ty::Scalar(_) | Ty::Var(_)) => y.clone(),
            _ => Ty::Error,
        }
    }

    /// Types the rules `@fn f(x, y) { … }` with the signatures that `f` has.
    pub(super) fn type_rules(&mut self) {
        for (_, def) in self.program.defs.iter() {
            let DefKind::Rule(rule) = &def.kind else { continue };
            let targets: Vec<InstanceId> = match rule.target {
                Res::Def(target) => self.instances_of(target),
                _ => Vec::new(),
            };
            for target in targets {
                self.type_rule(rule, target);
                self.type_pending();
            }
        }
    }

    fn instances_of(&self, def: DefId) -> Vec<InstanceId> {
        let DefKind::Fn(Function { body, .. }) = self.program.def(def).kind else {
            return Vec::new();
        };
        let all = self.instances.iter().enumerate();
        let found =
            all.filter(|(_, work)| work.alive && work.body == body && work.lambda.is_none());
        found.map(|(index, _)| InstanceId(index as u32)).collect()
    }

    fn type_rule(&mut self, rule: &Rule, target: InstanceId) {
        let work = self.at(target);
        let (params, ret, parent) = (work.params.clone(), work.ret.clone(), work.parent);
        let mut args: Vec<Option<Ty>> = params.into_iter().map(Some).collect();
        if rule.reverse {
            args.push(Some(ret.clone()));
        }
        let key = Key { body: rule.body, lambda: None, parent, args, rests: Vec::new() };
        let Some(id) = self.instance(key, Env::empty(rule.body)) else { return };
        let body = &self.program.bodies[rule.body];
        let result = body.locals.iter().find(|(_, local)| {
            local.kind == LocalKind::Let && self.name(local.name.name) == "result"
        });
        if let Some((local, _)) = result {
            self.at(id).locals.insert(local, ret.clone());
        }
        self.at(id).rule_of = Some(target);
        self.at(id).ret = match rule.reverse {
            false => ret,
            true => cotangents(&self.at(target).params),
        };
        self.type_instance(id);
    }

    /// The value of a rule: the change of the result, or one cotangent per parameter.
    pub(super) fn check_rule(&mut self, value: ExprId) -> Ty {
        let wanted = self.work().ret.clone();
        let found = self.infer_hinted(value, Some(&wanted));
        self.type_idle_closures();
        if self.join(&wanted, &found).is_none() {
            let (shown, got) = (self.show(&wanted), self.show(&found));
            let span = self.tail_span(value);
            let (name, reverse) = self.rule_here();
            self.report(match reverse {
                false => errors::wrong_tangent(&name, &shown, &got, span),
                true => errors::wrong_cotangents(&name, &shown, &got, span),
            });
        }
        wanted
    }

    /// What is written for a parameter of a rule must be what the function takes.
    pub(super) fn fit_rule_param(&mut self, param: &Param, given: &Ty) {
        if let (Some(ty), Some(_)) = (&param.ty, self.work().rule_of) {
            self.fitted(ty, given, param.pattern.span);
        }
    }

    /// The function whose rule the current instance is, and whether that is the reverse one.
    fn rule_here(&self) -> (String, bool) {
        let Owner::Def(def) = self.body().owner else { return (String::new(), false) };
        let def = self.program.def(def);
        let reverse = matches!(&def.kind, DefKind::Rule(rule) if rule.reverse);
        (self.name(def.name.name).to_owned(), reverse)
    }
}

/// What a reverse rule gives: one cotangent per parameter that is no function.
fn cotangents(params: &[Ty]) -> Ty {
    let spoken = params.iter().filter(|ty| !matches!(ty, Ty::Fn(_)));
    match &spoken.cloned().collect::<Vec<Ty>>()[..] {
        [one] => one.clone(),
        all => Ty::Tuple(all.to_vec()),
    }
}
