//! Variants: one walk over an instance per layouts of its arguments.
//!
//! What a call needs of its function is the layout of the result, so the function is walked at its
//! first call. A call that meets its own function while that is open, or that nests too deep, takes
//! the declared result; the inside of the latter waits in a queue. When an instance has met many
//! layouts already, further ones are taken without the names that its parameters leave open.

use einlang_source::map::{HashMap, HashSet};

use einlang_source::{Diagnostic, IdMap, Name};

use super::layout::{Axis, Coordinate, Layout};
use super::{Checker, Dep, MAX_DEPTH, Reach, VariantId};
use crate::hir::*;
use crate::types::InstanceId;

/// Layouts of one instance beyond this are taken without open names.
const MAX_PER_INSTANCE: usize = 32;

/// More variants than this are not made at all.
const MAX_VARIANTS: usize = 20_000;

/// More variants than this are not open inside each other.
const MAX_OPEN: u32 = 300;

/// How many levels one variant may need.
const LEVELS_PER_VARIANT: u32 = 1200;

/// What makes two variants the same.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Key {
    instance: InstanceId,
    parent: Option<VariantId>,
    /// The layouts inside; none where the default value is used.
    params: Vec<Option<Layout>>,
}

/// What an index or one axis of a rest ranges over.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Carried {
    #[default]
    Nothing,
    One(Axis),
    /// Axes with different names.
    Mixed,
}

/// An index, with what is said and found of its range.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Index {
    pub(super) declared: Option<Coordinate>,
    pub(super) ranged: bool,
    pub(super) carried: Carried,
    /// A use of it was wrong: nothing is concluded from it.
    pub(super) wrong: bool,
}

/// Operands that are combined at one place.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) operands: Vec<(ExprId, Reach)>,
    pub(super) binding: Option<LocalId>,
    pub(super) listed: usize,
}

/// A variant being walked.
#[derive(Debug)]
pub(super) struct Work {
    pub(super) instance: InstanceId,
    pub(super) parent: Option<VariantId>,
    pub(super) given: Vec<Option<Layout>>,
    pub(super) params: Vec<Layout>,
    pub(super) ret: Layout,
    pub(super) exprs: IdMap<Expr, Layout>,
    pub(super) locals: IdMap<Local, Layout>,
    pub(super) reaches: HashMap<LocalId, Reach>,
    pub(super) indices: HashMap<LocalId, Index>,
    pub(super) rests: HashMap<LocalId, Vec<Carried>>,
    /// The axes that the rests of the signature stand for.
    pub(super) declared_rests: HashMap<LocalId, Vec<Axis>>,
    pub(super) nodes: HashMap<ExprId, Node>,
    pub(super) consumed: HashMap<ExprId, (Vec<Dep>, Option<LocalId>)>,
    pub(super) calls: HashMap<ExprId, VariantId>,
    pub(super) read_at: HashMap<ExprId, Vec<Option<LocalId>>>,
    /// The broadcasts that attributes list, per binding; the first is the empty list.
    pub(super) lists: Vec<Vec<(Name, Name)>>,
    pub(super) reported: HashSet<(LocalId, Name)>,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) root: bool,
    walked: bool,
}

impl Checker<'_> {
    /// Walks an instance that nothing calls: a module, a constant, a default value.
    pub(super) fn root(&mut self, instance: InstanceId) -> Option<VariantId> {
        let id = self.variant(instance, None, Vec::new())?;
        self.works[id.index()].root = true;
        Some(id)
    }

    /// The variant of an instance for these layouts.
    pub(super) fn variant(
        &mut self,
        instance: InstanceId,
        parent: Option<VariantId>,
        params: Vec<Option<Layout>>,
    ) -> Option<VariantId> {
        let mut key = Key { instance, parent, params };
        if let Some(id) = self.memo.get(&key) {
            return Some(*id);
        }
        if self.n_variants.get(&instance).is_some_and(|n| *n >= MAX_PER_INSTANCE) {
            let closed = |axis: Axis| if axis.free { Axis::default() } else { axis };
            for param in key.params.iter_mut().flatten() {
                *param = param.map(&mut |axis| closed(axis));
            }
            if let Some(id) = self.memo.get(&key) {
                return Some(*id);
            }
        }
        if self.works.len() >= MAX_VARIANTS {
            return self.latest.get(&instance).copied();
        }
        let id = VariantId(self.works.len() as u32);
        self.works.push(Work::new(&key));
        self.memo.insert(key, id);
        *self.n_variants.entry(instance).or_default() += 1;
        self.latest.insert(instance, id);
        self.works[id.index()].ret = self.inside(id, |cx| cx.declared_result());
        if self.n_open >= MAX_OPEN || self.depth + LEVELS_PER_VARIANT > MAX_DEPTH {
            self.pending.push_back(id);
        } else {
            self.walk(id);
        }
        Some(id)
    }

    pub(super) fn walk_pending(&mut self) {
        while let Some(id) = self.pending.pop_front() {
            self.walk(id);
        }
    }

    /// Instances that no walk has reached are walked with the layouts that they declare.
    pub(super) fn walk_unreached(&mut self) {
        for id in self.typed.ids() {
            let instance = self.typed.instance(id);
            if self.latest.contains_key(&id) {
                continue;
            }
            let parent = instance.parent.and_then(|parent| self.latest.get(&parent).copied());
            let n_params = instance.params.len();
            if let Some(variant) = self.variant(id, parent, vec![None; n_params]) {
                self.works[variant.index()].root = true;
            }
            self.walk_pending();
        }
    }

    /// Runs `f` with another variant as the one being walked.
    pub(super) fn inside<R>(&mut self, id: VariantId, f: impl FnOnce(&mut Self) -> R) -> R {
        let cur = std::mem::replace(&mut self.cur, id);
        let place = std::mem::take(&mut self.place);
        let n_trials = std::mem::take(&mut self.n_trials);
        let result = f(self);
        (self.cur, self.place, self.n_trials) = (cur, place, n_trials);
        result
    }

    fn walk(&mut self, id: VariantId) {
        if std::mem::replace(&mut self.works[id.index()].walked, true) {
            return;
        }
        self.n_open += 1;
        self.inside(id, |cx| {
            cx.bind_params();
            let ret = cx.walk_value();
            cx.work_mut().ret = ret;
        });
        self.n_open -= 1;
    }

    fn walk_value(&mut self) -> Layout {
        let (body, instance) = (self.body(), self.typed.instance(self.work().instance));
        if let Some(closure) = instance.lambda {
            let lambda = self.typed.closures.get(closure.index()).map(|(_, lambda)| *lambda);
            let Some(ExprKind::Lambda { body: value, .. }) = lambda.map(|expr| body.kind(expr))
            else {
                return Layout::default();
            };
            return self.expr(*value).layout;
        }
        let Some(value) = body.value else { return Layout::default() };
        let found = self.expr(value).layout;
        match &body.ret {
            Some(ret) => self.check_return(ret, value, &found),
            None => found,
        }
    }

    fn bind_params(&mut self) {
        let body = self.body();
        let instance = self.typed.instance(self.work().instance);
        let params: &[Param] = match instance.lambda {
            None => &body.params,
            Some(closure) => {
                let lambda = self.typed.closures.get(closure.index()).map(|(_, lambda)| *lambda);
                match lambda.map(|expr| body.kind(expr)) {
                    Some(ExprKind::Lambda { params, .. }) => params,
                    _ => &[],
                }
            }
        };
        let given = self.work().given.clone();
        let mut layouts = Vec::new();
        for (index, param) in params.iter().enumerate() {
            let layout = match given.get(index).cloned().flatten() {
                Some(layout) => layout,
                None => self.param_without_argument(param, instance.params.get(index)),
            };
            self.learn_rests(param, &layout);
            self.bind(&param.pattern, &layout, &Reach::default());
            layouts.push(layout);
        }
        self.work_mut().params = layouts;
    }

    /// The variant around the one being walked that has this body, or that of a module.
    pub(super) fn owner(&mut self, body: BodyId) -> Option<VariantId> {
        let mut at = Some(self.cur);
        while let Some(id) = at {
            let work = &self.works[id.index()];
            if self.typed.instance(work.instance).body == body {
                return Some(id);
            }
            at = work.parent;
        }
        match self.program.bodies[body].owner {
            Owner::Module(module) => {
                let instance = self.typed.modules.get(module.index()).copied().flatten()?;
                self.root(instance)
            }
            Owner::Def(_) => None,
        }
    }
}

impl Work {
    fn new(key: &Key) -> Work {
        Work {
            instance: key.instance,
            parent: key.parent,
            given: key.params.clone(),
            params: Vec::new(),
            ret: Layout::default(),
            exprs: IdMap::default(),
            locals: IdMap::default(),
            reaches: HashMap::default(),
            indices: HashMap::default(),
            rests: HashMap::default(),
            declared_rests: HashMap::default(),
            nodes: HashMap::default(),
            consumed: HashMap::default(),
            calls: HashMap::default(),
            read_at: HashMap::default(),
            lists: vec![Vec::new()],
            reported: HashSet::default(),
            diagnostics: Vec::new(),
            root: false,
            walked: false,
        }
    }
}
