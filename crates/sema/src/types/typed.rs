//! The result of type checking, as plain data.

use einlang_source::map::HashMap;

use einlang_source::{Diagnostic, Diagnostics, IdMap};

use super::ty::{FnTy, Ty};
use super::{Checker, ClosureId, InstanceId};
use crate::hir::*;

/// The types of a program.
#[derive(Debug, Default)]
pub struct Typed {
    /// One per module, and one per function, element types and ranks.
    pub instances: Vec<Instance>,
    /// The lambdas that types refer to: the instance they are written in and their expression.
    pub closures: Vec<(InstanceId, ExprId)>,
    /// The instance of each module's statements.
    pub modules: Vec<Option<InstanceId>>,
    /// The instances of constants and of the default values of inputs.
    pub items: HashMap<DefId, InstanceId>,
}

/// A body with the types it has for one kind of arguments.
#[derive(Debug)]
pub struct Instance {
    /// The body.
    pub body: BodyId,
    /// The lambda whose inside this is; its expressions belong to the body.
    pub lambda: Option<ClosureId>,
    /// The function whose rule this is.
    pub rule_of: Option<InstanceId>,
    /// The instance that captured bindings belong to.
    pub parent: Option<InstanceId>,
    /// The types of the parameters.
    pub params: Vec<Ty>,
    /// The type parameters.
    pub generics: Vec<Ty>,
    /// The type of the value.
    pub ret: Ty,
    /// The types of expressions; what is missing is in a branch that is never taken.
    pub exprs: IdMap<Expr, Ty>,
    /// The types of bindings.
    pub locals: IdMap<Local, Ty>,
    /// The number of axes that each rest stands for.
    pub rests: HashMap<LocalId, u32>,
    /// What each call calls; for `?>`, `!>` and `catch` their function, for `reduce` its operator.
    pub calls: HashMap<ExprId, Callee>,
    /// Conditions on ranks, which are decided here.
    pub conditions: HashMap<ExprId, bool>,
    /// Nothing calls this: it was checked for its errors only.
    pub uncalled: bool,
}

/// What a call calls.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Callee {
    /// An instance of a function or lambda.
    Instance(InstanceId),
    /// A function without an instance: a builtin, a constructor, a value of function type.
    Function(FnTy),
}

impl Typed {
    /// The instance behind an id.
    pub fn instance(&self, id: InstanceId) -> &Instance {
        &self.instances[id.0 as usize]
    }

    /// The ids of all instances.
    pub fn ids(&self) -> impl Iterator<Item = InstanceId> + use<> {
        (0..self.instances.len() as u32).map(InstanceId)
    }
}

impl Instance {
    /// The type of an expression.
    pub fn expr(&self, expr: ExprId) -> &Ty {
        self.exprs.get(&expr).unwrap_or(&Ty::Error)
    }

    /// The type of a binding.
    pub fn local(&self, local: LocalId) -> &Ty {
        self.locals.get(&local).unwrap_or(&Ty::Error)
    }
}

impl Checker<'_> {
    /// Turns the working state into the result, leaving out instances that inference gave up.
    pub(super) fn finish(mut self) -> (Typed, Diagnostics) {
        for work in &mut self.instances {
            // A lambda that was checked for its errors only, and called after all.
            let called = work.lambda.is_some_and(|id| self.closures[id.0 as usize].called);
            work.alive &= !(work.uncalled && called);
        }
        let mut numbers: Vec<Option<InstanceId>> = Vec::new();
        let mut n_alive = 0;
        for work in &self.instances {
            numbers.push(work.alive.then_some(InstanceId(n_alive)));
            n_alive += u32::from(work.alive);
        }
        let new = |id: InstanceId| numbers.get(id.0 as usize).copied().flatten();
        let mut diagnostics: Vec<Diagnostic> = Vec::new();
        let mut typed = Typed::default();
        for work in std::mem::take(&mut self.instances) {
            if !work.alive {
                continue;
            }
            diagnostics.extend(work.diagnostics.iter().cloned());
            typed.instances.push(self.finished(work, &new));
        }
        for closure in &self.closures {
            typed.closures.push((new(closure.owner).unwrap_or(InstanceId(0)), closure.lambda));
        }
        let firsts = self.firsts();
        let found = |body: BodyId| firsts.get(&body).copied().and_then(new);
        typed.modules = self.program.modules.values().map(|m| found(m.body?)).collect();
        for (id, def) in self.program.defs.iter() {
            if let DefKind::Const(Const { body, .. }) | DefKind::Input(Input { body, .. }) =
                &def.kind
                && let Some(instance) = found(*body)
            {
                typed.items.insert(id, instance);
            }
        }
        (typed, distinct(diagnostics))
    }

    /// The first instance of each body; modules, constants and inputs have one at most.
    fn firsts(&self) -> HashMap<BodyId, InstanceId> {
        let mut firsts = HashMap::default();
        for (key, id) in &self.keys {
            let first = firsts.entry(key.body).or_insert(*id);
            *first = (*first).min(*id);
        }
        firsts
    }

    fn finished(
        &self,
        work: super::Work,
        new: &dyn Fn(InstanceId) -> Option<InstanceId>,
    ) -> Instance {
        let settle = |ty: &Ty| renumbered(&self.vars.settled(ty), new);
        let calls = work.calls.iter().filter_map(|(expr, call)| {
            let callee = match &call.callee {
                Callee::Instance(id) => Callee::Instance(new(*id)?),
                Callee::Function(function) => match renumbered(&Ty::Fn(function.clone()), new) {
                    Ty::Fn(function) => Callee::Function(function),
                    _ => return None,
                },
            };
            Some((*expr, callee))
        });
        Instance {
            body: work.body,
            lambda: work.lambda,
            rule_of: work.rule_of.and_then(new),
            parent: work.parent.and_then(new),
            params: work.params.iter().map(&settle).collect(),
            generics: work.generics.iter().map(&settle).collect(),
            ret: settle(&work.ret),
            exprs: work.exprs.iter().map(|(expr, ty)| (expr, settle(ty))).collect(),
            locals: work.locals.iter().map(|(local, ty)| (local, settle(ty))).collect(),
            calls: calls.collect(),
            rests: work.rests,
            conditions: work.conditions,
            uncalled: work.uncalled,
        }
    }
}

fn renumbered(ty: &Ty, new: &dyn Fn(InstanceId) -> Option<InstanceId>) -> Ty {
    ty.map(&mut |part| match part {
        Ty::Fn(FnTy::Def(def, Some(parent))) => Some(Ty::Fn(FnTy::Def(*def, new(*parent)))),
        _ => None,
    })
}

/// Several instances of one function repeat its mistakes.
fn distinct(list: Vec<Diagnostic>) -> Diagnostics {
    let mut seen = einlang_source::map::HashSet::default();
    let mut diagnostics = Diagnostics::new();
    for diagnostic in list {
        if seen.insert((diagnostic.code, diagnostic.primary.span)) {
            diagnostics.push(diagnostic);
        }
    }
    diagnostics.sort();
    diagnostics
}
