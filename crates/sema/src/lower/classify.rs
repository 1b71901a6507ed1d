//! Which code must be on the host.
//!
//! A function is on the host when it is recursive, has effects, or handles anything but numbers
//! (strings, enums, lists whose length depends on data, function values of unknown identity), when a
//! derivative may ask for its rule and functions are among what it is given or captures, and when it
//! calls such a function. Everything else is lowered in place.

use std::collections::HashMap;

use super::Lower;
use crate::builtins::Function;
use crate::hir::{CompItem, ExprId, ExprKind, Program, Statement};
use crate::types::walk::children;
use crate::types::{Callee, FnTy, InstanceId, Ty, Typed};

/// What is known of the instances.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// By instance: it is a host function.
    host: Vec<bool>,
    /// By instance: it asserts something, or calls what does.
    asserts: Vec<bool>,
    needs: HashMap<(InstanceId, ExprId), bool>,
}

impl Facts {
    pub(super) fn new(_: &Program, typed: &Typed) -> Facts {
        let none = vec![false; typed.instances.len()];
        Facts { host: none.clone(), asserts: none, needs: HashMap::new() }
    }
}

impl<'p> Lower<'p> {
    /// Decides for every instance; called once, before anything is lowered.
    pub(super) fn classify(&mut self) {
        let ids: Vec<InstanceId> = self.typed.ids().collect();
        let calls: Vec<Vec<usize>> = ids.iter().map(|id| self.called(*id)).collect();
        let graph = petgraph::graph::DiGraph::<(), (), usize>::from_edges(
            calls.iter().enumerate().flat_map(|(from, to)| to.iter().map(move |to| (from, *to))),
        );
        let (mut host, mut asserts) = (vec![false; ids.len()], vec![false; ids.len()]);
        for part in petgraph::algo::tarjan_scc(&graph) {
            let is_loop = part.len() > 1
                || part.iter().any(|node| {
                    calls.get(node.index()).is_some_and(|to| to.contains(&node.index()))
                });
            for node in part {
                let at = node.index();
                let Some(id) = ids.get(at) else { continue };
                // Parts come after those they lead to.
                host[at] = is_loop
                    || calls[at].iter().any(|to| host[*to])
                    || self.handles_more_than_numbers(*id)
                    || self.has_rule_about_functions(*id);
                asserts[at] = calls[at].iter().any(|to| asserts[*to]) || self.asserts_itself(*id);
            }
        }
        (self.facts.host, self.facts.asserts) = (host, asserts);
    }

    /// A function with a rule stays a function of its module, whose parameters are numbers and tensors.
    fn has_rule_about_functions(&self, id: InstanceId) -> bool {
        let is_function = |ty: &Ty| matches!(ty, Ty::Fn(_));
        self.rule_of(id).is_some()
            && (self.typed.instance(id).params.iter().any(is_function)
                || self.captures_with_rule(id).iter().any(|c| is_function(&self.capture_type(c))))
    }

    fn asserts_itself(&self, id: InstanceId) -> bool {
        let assert = Callee::Function(FnTy::Builtin(Function::Assert));
        self.typed.instance(id).calls.values().any(|callee| *callee == assert)
    }

    /// Whether evaluating an expression outside of regions may end the pending module.
    pub(super) fn leaves_module(&mut self, expr: ExprId) -> bool {
        if self.needs_host(expr) {
            return true;
        }
        let asserts =
            |cx: &Self, expr: ExprId| match cx.typed.instance(cx.frame.instance).calls.get(&expr) {
                Some(Callee::Instance(id)) => {
                    cx.facts.asserts.get(id.index()).copied().unwrap_or(true)
                }
                Some(Callee::Function(function)) => *function == FnTy::Builtin(Function::Assert),
                None => false,
            };
        let mut open = vec![expr];
        while let Some(expr) = open.pop() {
            if asserts(self, expr) {
                return true;
            }
            open.extend(children(self.body().kind(expr)));
        }
        false
    }

    fn called(&self, id: InstanceId) -> Vec<usize> {
        let calls = self.typed.instance(id).calls.values();
        calls
            .filter_map(|callee| match callee {
                Callee::Instance(id) => Some(id.index()),
                Callee::Function(_) => None,
            })
            .collect()
    }

    pub(super) fn is_host(&self, id: InstanceId) -> bool {
        self.facts.host.get(id.index()).copied().unwrap_or(true)
    }

    fn handles_more_than_numbers(&self, id: InstanceId) -> bool {
        let instance = self.typed.instance(id);
        let body = self.body_of(instance.body);
        if !self.is_plain(&instance.ret) || !instance.params.iter().all(|ty| self.is_plain(ty)) {
            return true;
        }
        let messages = self.messages(id);
        instance.exprs.iter().any(|(expr, ty)| {
            !messages.contains(&expr)
                && (!self.is_plain(ty) || self.is_host_kind(id, expr, body.kind(expr)))
        })
    }

    /// The second operands of `assert`, which no tensor code evaluates.
    pub(super) fn messages(&self, id: InstanceId) -> Vec<ExprId> {
        let instance = self.typed.instance(id);
        let body = self.body_of(instance.body);
        let mut found = Vec::new();
        for (expr, callee) in &instance.calls {
            if *callee == Callee::Function(FnTy::Builtin(Function::Assert))
                && let ExprKind::Call { args, .. } = body.kind(*expr)
                && let Some(message) = args.get(1)
            {
                let mut open = vec![message.value];
                while let Some(expr) = open.pop() {
                    found.push(expr);
                    open.extend(children(body.kind(expr)));
                }
            }
        }
        found
    }

    /// Whether a type is one of tensor code.
    pub(super) fn is_plain(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Fn(FnTy::Declared(..)) => false,
            Ty::Fn(_) | Ty::Error => true,
            Ty::Range(inner) | Ty::Differential(inner) => self.is_plain(inner),
            Ty::Tuple(parts) => parts.iter().all(|ty| self.is_plain(ty)),
            _ => self.is_numeric(ty),
        }
    }

    /// Whether an expression is one that only the host evaluates, whatever its operands are.
    fn is_host_kind(&self, id: InstanceId, expr: ExprId, kind: &ExprKind) -> bool {
        let instance = self.typed.instance(id);
        match kind {
            ExprKind::Try(_)
            | ExprKind::AndThen(..)
            | ExprKind::OkThen(..)
            | ExprKind::OrElse(..)
            | ExprKind::Catch(..) => true,
            ExprKind::Comprehension { items, .. } => {
                items.iter().any(|item| matches!(item, CompItem::Condition(_)))
            }
            ExprKind::Block(block) => {
                block.statements.iter().any(|s| matches!(s, Statement::For { .. }))
            }
            ExprKind::Call { .. } | ExprKind::CoordCall { .. } => match instance.calls.get(&expr) {
                Some(Callee::Function(FnTy::Builtin(function))) => {
                    function.has_effect() || *function == Function::Typeof
                }
                Some(Callee::Function(FnTy::Declared(..) | FnTy::Python(_))) => true,
                _ => false,
            },
            _ => false,
        }
    }

    /// Whether some part of an expression must be evaluated by the host.
    pub(super) fn needs_host(&mut self, expr: ExprId) -> bool {
        let id = self.frame.instance;
        if let Some(known) = self.facts.needs.get(&(id, expr)) {
            return *known;
        }
        let instance = self.typed.instance(id);
        let kind = self.body().kind(expr);
        let callee = instance.calls.get(&expr);
        let own = instance.exprs.get(&expr).is_some_and(|ty| !self.is_plain(ty))
            || self.is_host_kind(id, expr, kind)
            || self.reads_table(kind)
            || matches!(kind, ExprKind::UserReduce { .. } if self.has_tensors(&self.ty(expr)))
            || matches!(callee, Some(Callee::Instance(callee)) if self.is_host(*callee));
        let below = match kind {
            ExprKind::Lambda { .. } => Vec::new(),
            ExprKind::Call { callee: function, args }
                if callee == Some(&Callee::Function(FnTy::Builtin(Function::Assert))) =>
            {
                [*function].into_iter().chain(args.iter().take(1).map(|arg| arg.value)).collect()
            }
            kind => children(kind),
        };
        let needs = own || below.into_iter().any(|expr| self.needs_host(expr));
        self.facts.needs.insert((id, expr), needs);
        needs
    }

    /// Whether an instance has nothing but scalars, so that host instructions compute it best.
    pub(super) fn has_scalars_only(&self, id: InstanceId) -> bool {
        let instance = self.typed.instance(id);
        let body = self.body_of(instance.body);
        instance.exprs.iter().all(|(expr, ty)| {
            !matches!(ty, Ty::Tensor(..) | Ty::Differential(_))
                && !matches!(
                    body.kind(expr),
                    ExprKind::Reduce { .. } | ExprKind::UserReduce { .. } | ExprKind::Where { .. }
                )
        })
    }
}
