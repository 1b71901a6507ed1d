//! Effects: `print`, access to files and calls of Python have no place in indexed bodies, reductions, `where`,
//! derivative targets and the top level of modules (E0410), not even through a function that is
//! called there.
//!
//! Calls are recorded while types are found, with the place that forbids effects around them;
//! which functions have effects is a fixpoint over the recorded calls of all instances.

use einlang_source::{Diagnostic, Name, Span};

use super::Checker;
use super::instances::InstanceId;
use super::ty::{FnTy, Ty};
use super::typed::Callee;
use crate::builtins::Function;
use crate::errors;
use crate::hir::{BodyId, ExprId, Owner, Program};

/// A place without effects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Pure {
    Indexed,
    Reduction,
    Where,
    Derivative,
    Module,
}

impl Pure {
    fn words(self) -> &'static str {
        match self {
            Pure::Indexed => "the body of an indexed definition",
            Pure::Reduction => "a reduction",
            Pure::Where => "`where`",
            Pure::Derivative => "the target of a derivative",
            Pure::Module => "the top level of a module",
        }
    }

    /// The place of the statements of a body, if that is one: only the program itself has effects.
    pub(super) fn of_body(program: &Program, body: BodyId) -> Option<Pure> {
        let root = program.modules.ids().next();
        match program.bodies[body].owner {
            Owner::Module(module) if Some(module) != root => Some(Pure::Module),
            _ => None,
        }
    }

    fn diagnostic(self, name: &str, effect: &str, span: Span) -> Diagnostic {
        match self {
            Pure::Module => errors::effect_in_module(name, effect, span),
            _ => errors::effect_here(name, effect, self.words(), span),
        }
    }
}

/// One call of an instance.
#[derive(Clone, Debug)]
pub(super) struct CallRecord {
    pub(super) callee: Callee,
    /// Functions passed as arguments, which the callee may call.
    passed: Vec<FnTy>,
    pure: Option<Pure>,
    pub(super) span: Span,
}

impl Checker<'_> {
    pub(super) fn in_pure<R>(&mut self, place: Pure, f: impl FnOnce(&mut Self) -> R) -> R {
        let outer = self.pure;
        self.pure = outer.or(Some(place));
        let result = f(self);
        self.pure = outer;
        result
    }

    /// The place without effects that the statements of an instance are, if they are one.
    pub(super) fn place_of(&self, id: InstanceId) -> Option<Pure> {
        let work = &self.instances[id.0 as usize];
        Pure::of_body(self.program, work.body).filter(|_| work.lambda.is_none())
    }

    /// Remembers what a call calls.
    pub(super) fn record_call(&mut self, expr: ExprId, callee: Callee, args: &[Ty], span: Span) {
        let passed = args.iter().filter_map(|ty| match ty {
            Ty::Fn(function) => Some(function.clone()),
            _ => None,
        });
        let record = CallRecord { callee, passed: passed.collect(), pure: self.pure, span };
        self.work_mut().calls.insert(expr, record);
    }

    /// The function with effects that a call may reach.
    fn effect_of(
        &self,
        record: &CallRecord,
        effects: &[Option<String>],
    ) -> Option<(String, String)> {
        match &record.callee {
            Callee::Function(FnTy::Builtin(function)) if function.has_effect() => {
                return Some(own_effect(*function));
            }
            Callee::Function(FnTy::Python(path)) => return Some(self.python_effect(*path)),
            Callee::Instance(id) => {
                if let Some(effect) = &effects[id.0 as usize] {
                    return Some((self.instance_name(*id), effect.clone()));
                }
            }
            Callee::Function(_) => {}
        }
        record.passed.iter().find_map(|function| self.passed_effect(function, effects))
    }

    fn passed_effect(
        &self,
        function: &FnTy,
        effects: &[Option<String>],
    ) -> Option<(String, String)> {
        let called = |(index, work): (usize, &super::Work)| match function {
            FnTy::Closure(closure) if work.lambda == Some(*closure) => Some(index),
            FnTy::Def(def, _) => {
                let crate::hir::DefKind::Fn(item) = &self.program.def(*def).kind else {
                    return None;
                };
                (work.body == item.body && work.lambda.is_none()).then_some(index)
            }
            _ => None,
        };
        if let FnTy::Builtin(function) = function
            && function.has_effect()
        {
            return Some(own_effect(*function));
        }
        if let FnTy::Python(path) = function {
            return Some(self.python_effect(*path));
        }
        let mut found = self.instances.iter().enumerate().filter_map(called);
        let index = found.find(|index| effects[*index].is_some())?;
        Some((self.instance_name(InstanceId(index as u32)), effects[index].clone()?))
    }

    /// Nobody knows what a function of Python does.
    fn python_effect(&self, path: Name) -> (String, String) {
        let name = self.name(path).to_string();
        (name.clone(), name)
    }

    /// A function of the library is itself the effect: what it calls is not the user's to know.
    fn known_as(&self, index: usize) -> Option<String> {
        let work = &self.instances[index];
        match self.program.bodies[work.body].owner {
            crate::hir::Owner::Def(def) if self.program.is_library(def) => {
                Some(self.name(self.program.def(def).name.name).to_string())
            }
            _ => None,
        }
    }

    fn instance_name(&self, id: InstanceId) -> String {
        let work = &self.instances[id.0 as usize];
        match (work.lambda, self.program.bodies[work.body].owner) {
            (None, crate::hir::Owner::Def(def)) => {
                self.name(self.program.def(def).name.name).to_string()
            }
            _ => "this closure".to_string(),
        }
    }
}

/// A function that has an effect by itself.
fn own_effect(function: Function) -> (String, String) {
    (function.as_str().to_string(), function.as_str().to_string())
}

/// Reports the effects in places without them.
pub(super) fn report(cx: &mut Checker<'_>) {
    let mut effects: Vec<Option<String>> = vec![None; cx.instances.len()];
    loop {
        let mut changed = false;
        for index in 0..cx.instances.len() {
            if effects[index].is_some() || !cx.instances[index].alive {
                continue;
            }
            let mut reached = cx.instances[index].calls.values();
            if let Some((_, effect)) = reached.find_map(|record| cx.effect_of(record, &effects)) {
                effects[index] = Some(cx.known_as(index).unwrap_or(effect));
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    for index in 0..cx.instances.len() {
        let mut found = Vec::new();
        for record in cx.instances[index].calls.values() {
            if let (Some(pure), Some((name, effect))) =
                (record.pure, cx.effect_of(record, &effects))
            {
                found.push(pure.diagnostic(&name, &effect, record.span));
            }
        }
        found.sort_by_key(|diagnostic| diagnostic.primary.span);
        cx.instances[index].diagnostics.extend(found);
    }
}
