//! Specialisations: one per body, element types and ranks of the arguments.
//!
//! An instance whose result is declared is typed later; one without waits for nothing: its inside
//! is typed at the first call. When that call meets itself, the first pass finds what the other
//! branches say about the result, and a second pass uses it.

use einlang_source::map::HashMap;

use einlang_source::{Diagnostic, IdMap};

use super::annotations::Env;
use super::effects::CallRecord;
use super::ty::Ty;
use super::vars::Frozen;
use super::{Checker, ClosureId, MAX_INSTANCES};
use crate::errors;
use crate::hir::*;

/// More open unannotated calls than this are an error.
const MAX_OPEN_CALLS: u32 = 500;

/// How many levels one expression may need.
const LEVELS_PER_CALL: u32 = 1200;

/// The number of an instance.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct InstanceId(pub(super) u32);

impl InstanceId {
    /// The first instance of a program.
    pub(crate) const FIRST: InstanceId = InstanceId(0);

    /// The position among the instances.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What makes two instances the same.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Key {
    pub(super) body: BodyId,
    pub(super) lambda: Option<ClosureId>,
    pub(super) parent: Option<InstanceId>,
    /// The types of the arguments; none where the default value is used.
    pub(super) args: Vec<Option<Ty>>,
    /// The axes of the rests in its signature, which a coordinate call may place otherwise.
    pub(super) rests: Vec<(LocalId, u32)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    New,
    Open,
    Done,
}

/// An instance under construction.
#[derive(Debug)]
pub(super) struct Work {
    pub(super) body: BodyId,
    pub(super) lambda: Option<ClosureId>,
    /// The function whose rule this is.
    pub(super) rule_of: Option<InstanceId>,
    pub(super) parent: Option<InstanceId>,
    pub(super) args: Vec<Option<Ty>>,
    pub(super) params: Vec<Ty>,
    pub(super) generics: Vec<Ty>,
    pub(super) ret: Ty,
    /// The type of a constant, whose literals are new at each use.
    pub(super) constant: Option<Frozen>,
    /// The result is declared, so the inside can be typed at any time.
    pub(super) declared: bool,
    pub(super) exprs: IdMap<Expr, Ty>,
    pub(super) locals: IdMap<Local, Ty>,
    pub(super) rests: HashMap<LocalId, u32>,
    pub(super) calls: HashMap<ExprId, CallRecord>,
    pub(super) conditions: HashMap<ExprId, bool>,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) state: State,
    /// It was called while it was open and its result unknown.
    pub(super) met: bool,
    /// It used such a result.
    pub(super) tainted: bool,
    pub(super) alive: bool,
    pub(super) uncalled: bool,
    /// It is typed for what it makes of literals alone.
    pub(super) adapting: bool,
}

impl Work {
    fn new(key: &Key) -> Work {
        Work {
            body: key.body,
            lambda: key.lambda,
            rule_of: None,
            parent: key.parent,
            args: key.args.clone(),
            params: Vec::new(),
            generics: Vec::new(),
            ret: Ty::Unknown,
            constant: None,
            declared: false,
            exprs: IdMap::default(),
            locals: IdMap::default(),
            rests: HashMap::default(),
            calls: HashMap::default(),
            conditions: HashMap::default(),
            diagnostics: Vec::new(),
            state: State::New,
            met: false,
            tainted: false,
            alive: true,
            uncalled: false,
            adapting: false,
        }
    }
}

impl Checker<'_> {
    pub(super) fn at(&mut self, id: InstanceId) -> &mut Work {
        &mut self.instances[id.0 as usize]
    }

    /// The instance with this key, made if it is new. None when there are too many.
    pub(super) fn instance(&mut self, key: Key, env: Env) -> Option<InstanceId> {
        if let Some(id) = self.keys.get(&key) {
            return Some(*id);
        }
        if self.instances.len() >= MAX_INSTANCES + self.program.bodies.len() {
            return None;
        }
        let id = InstanceId(self.instances.len() as u32);
        let mut work = Work::new(&key);
        let ret = self.program.bodies[key.body].ret.as_ref().filter(|_| key.lambda.is_none());
        if let Some(ret) = ret {
            (work.ret, work.declared) = (self.lower(ret, &env), true);
        }
        work.generics = env.generics.into_iter().map(|ty| ty.unwrap_or(Ty::Error)).collect();
        work.rests = env.rests;
        self.instances.push(work);
        self.keys.insert(key, id);
        Some(id)
    }

    /// The type of an instance's value, typing its inside when nothing else tells it.
    pub(super) fn result_of(&mut self, id: InstanceId) -> Ty {
        let work = &self.instances[id.0 as usize];
        let (state, declared) = (work.state, work.declared);
        match state {
            State::New if declared => {
                self.pending.push_back(id);
                self.at(id).state = State::Done;
            }
            State::New => self.type_instance(id),
            State::Open if !declared => self.meet(id),
            _ => {}
        }
        self.at(id).ret.clone()
    }

    /// Whether the inside of an instance must be typed now, and there is no room for it.
    pub(super) fn is_too_deep(&self, id: InstanceId) -> bool {
        let work = &self.instances[id.0 as usize];
        let deep =
            self.open_calls >= MAX_OPEN_CALLS || self.depth + LEVELS_PER_CALL > super::MAX_DEPTH;
        work.state == State::New && !work.declared && deep
    }

    /// An open instance is called again: everything typed since depends on a guess.
    fn meet(&mut self, id: InstanceId) {
        self.at(id).met = true;
        let since = self.open.iter().position(|open| *open == id).unwrap_or(0);
        for index in since + 1..self.open.len() {
            let between = self.open[index];
            self.at(between).tainted = true;
        }
    }

    pub(super) fn type_pending(&mut self) {
        while let Some(id) = self.pending.pop_front() {
            if self.at(id).alive {
                self.type_instance(id);
            }
        }
    }

    /// Types the inside of an instance.
    pub(super) fn type_instance(&mut self, id: InstanceId) {
        let (first, n_before) = (self.vars.count(), self.instances.len());
        self.open_calls += 1;
        self.inside(id, |cx| {
            let found = cx.instance_body();
            if cx.work().met && !cx.work().declared {
                cx.forget_since(n_before);
                cx.work_mut().ret = if found == Ty::Unknown { Ty::Error } else { found };
                cx.instance_body();
            }
            cx.vars.default_since(first);
        });
        self.open_calls -= 1;
    }

    /// Runs `f` with another instance as the current one, outside of what is open here.
    pub(super) fn inside<R>(&mut self, id: InstanceId, f: impl FnOnce(&mut Self) -> R) -> R {
        let place = self.place_of(id);
        let cur = std::mem::replace(&mut self.cur, id);
        let pure = std::mem::replace(&mut self.pure, place);
        let coordinates = std::mem::take(&mut self.coordinates);
        let coordinate_calls = std::mem::take(&mut self.coordinate_calls);
        // A function outlives a trial; a lambda shares undecided types with what is on trial.
        let apart = self.at(id).lambda.is_none();
        let open_trials = if apart { self.vars.suspend() } else { 0 };
        let trials = if apart { std::mem::take(&mut self.trials) } else { self.trials };
        let adapting = self.adapting;
        self.adapting = if apart { self.at(id).adapting } else { adapting };
        self.at(id).state = State::Open;
        self.open.push(id);
        let result = f(self);
        self.open.pop();
        self.at(id).state = State::Done;
        (self.trials, self.coordinate_calls, self.coordinates) =
            (trials, coordinate_calls, coordinates);
        self.adapting = adapting;
        if apart {
            self.vars.resume(open_trials);
        }
        (self.cur, self.pure) = (cur, pure);
        result
    }

    /// Gives up what a first pass over the current instance made.
    fn forget_since(&mut self, n_before: usize) {
        self.drop_since(n_before, |work| work.tainted || work.parent.is_some());
        let work = self.work_mut();
        work.diagnostics.clear();
        work.exprs.clear();
        work.calls.clear();
    }

    /// Gives up the lambdas and inner functions made since.
    pub(super) fn drop_inner_since(&mut self, n_before: usize) {
        self.drop_since(n_before, |work| work.parent.is_some());
    }

    fn drop_since(&mut self, n_before: usize, condition: impl Fn(&Work) -> bool) {
        let mut dropped = false;
        for work in &mut self.instances[n_before..] {
            if work.alive && condition(work) {
                work.alive = false;
                dropped = true;
            }
        }
        if dropped {
            let instances = &self.instances;
            self.keys.retain(|_, id| instances[id.0 as usize].alive);
        }
    }

    /// Types the parameters, the defaults and the value of the current instance.
    fn instance_body(&mut self) -> Ty {
        let body = self.body();
        self.bind_params(body);
        self.type_dims_of_items();
        let Some(value) = body.value else { return Ty::unit() };
        match (&body.ret, self.work().declared) {
            (Some(ret), true) => self.check_result(value, ret),
            _ if self.work().rule_of.is_some() => self.check_rule(value),
            _ => {
                let found = self.infer(value);
                self.type_idle_closures();
                let known = self.work().ret.clone();
                let ret = match self.join(&known, &found) {
                    Some(ret) => ret,
                    None => {
                        let (known, found) = (self.show(&known), self.show(&found));
                        let span = self.tail_span(value);
                        self.fail(errors::result_changes(&known, &found, span))
                    }
                };
                self.work_mut().ret = ret.clone();
                ret
            }
        }
    }

    fn bind_params(&mut self, body: &'_ Body) {
        // The parameters of a rule come from its target, and are set by `type_rules`.
        let args = self.work().args.clone();
        let mut params = Vec::new();
        for (index, param) in body.params.iter().enumerate() {
            let given = args.get(index).cloned().flatten();
            let ty = match given {
                Some(ty) => {
                    self.fit_rule_param(param, &ty);
                    ty
                }
                None => self.param_without_argument(param),
            };
            self.bind_pattern(&param.pattern, &ty);
            params.push(ty);
        }
        self.work_mut().params = params;
    }

    fn param_without_argument(&mut self, param: &Param) -> Ty {
        let Some(default) = param.default else {
            return param.ty.as_ref().map_or(Ty::Error, |ty| self.lower_here(ty));
        };
        match &param.ty {
            Some(ty) => self.annotated(default, ty),
            None => self.infer(default),
        }
    }

    /// The value of a function against its declared result.
    fn check_result(&mut self, value: ExprId, ret: &TypeRef) -> Ty {
        let hint = self.work().ret.clone();
        let found = self.infer_hinted(value, Some(&hint));
        self.type_idle_closures();
        let mut env = self.env();
        if self.fit(ret, &found, &mut env).is_none() {
            let (wanted, got) = (self.spell(ret), self.show(&found));
            let span = self.tail_span(value);
            self.report(errors::wrong_result(&wanted, &got, span, ret.span));
        }
        hint
    }

    /// The place of the value itself, inside blocks.
    pub(super) fn tail_span(&self, value: ExprId) -> einlang_source::Span {
        let body = self.body();
        let mut tail = value;
        while let ExprKind::Block(Block { value: Some(inner), .. }) = body.kind(tail) {
            tail = *inner;
        }
        body.span(tail)
    }
}
