//! Calls and blocks: what they compute on the way is written in lines before.

use super::math::{Math, is_short};
use super::scope::{Meaning, Scope, Writer};
use crate::hir::*;
use crate::types::InstanceId;

impl<'p> Writer<'p> {
    /// The differential of a call, whose own line says what it is.
    pub(super) fn expand_call(
        &mut self,
        scope: &Scope,
        expr: ExprId,
        id: InstanceId,
        args: &[Arg],
    ) -> Math {
        let label = self.own(scope, expr);
        let text = label.text();
        if self.open.contains(&id) || self.done.contains(&text) || !self.may_expand() {
            return label;
        }
        let Some(inner) = self.inside(scope, id, args) else { return label };
        self.open.push(id);
        let change = self.body_change(&inner, id);
        self.open.pop();
        match change {
            Some(change) if change.is_zero() => change,
            // Another call may read the same.
            Some(change) if is_short(&text) => change,
            Some(change) => {
                self.done.insert(text.clone());
                self.lines.push(format!("{text} = {}", change.text()));
                label
            }
            None => label,
        }
    }

    /// The scope inside a call, with its parameters.
    fn inside(&mut self, scope: &Scope, id: InstanceId, args: &[Arg]) -> Option<Scope> {
        let instance = self.typed.instance(id);
        let (body, rule) = match self.rule_of(id) {
            Some(rule) => (rule.body, true),
            None => (instance.body, false),
        };
        let mut inner = Scope { body, instance: id, named: Default::default(), rule };
        if instance.lambda.is_some() && body == scope.body {
            inner.named = scope.named.clone();
        }
        if !self.knows_captures(&inner, id) {
            return None;
        }
        let params = match rule {
            true => &self.program.bodies[body].params,
            false => self.params_of(id)?,
        };
        let mut next = 0;
        for arg in args {
            let at = match arg.name {
                None => next,
                Some(name) => params.iter().position(|param| {
                    bound(&param.pattern).is_some_and(|local| {
                        self.program.bodies[body][local].name.name == name.name
                    })
                })?,
            };
            next += usize::from(arg.name.is_none());
            let local = bound(&params.get(at)?.pattern)?;
            let (value, change) = (self.value(scope, arg.value), self.change(scope, arg.value));
            let meaning = self.named(&inner, local, value, change);
            inner.named.insert(local, meaning);
        }
        // A default is written in terms of the function.
        for param in params.iter().skip(args.len()) {
            if let (Some(local), Some(default)) = (bound(&param.pattern), param.default)
                && !inner.named.contains_key(&local)
            {
                let (value, change) = (self.value(&inner, default), self.change(&inner, default));
                inner.named.insert(local, Meaning { value, change });
            }
        }
        Some(inner)
    }

    /// Whether everything that a lambda captures has a meaning here.
    fn knows_captures(&self, inner: &Scope, id: InstanceId) -> bool {
        let (Some(closure), Some(value)) = (self.typed.instance(id).lambda, self.value_of(id))
        else {
            return true;
        };
        let body = self.body(inner);
        let own = self.typed.closures.get(closure.index()).map(|(_, lambda)| body.span(*lambda));
        let is_own = |local: LocalId| {
            let name = body[local].name.span;
            own.is_some_and(|own| {
                own.file == name.file && own.start <= name.start && name.end <= own.end
            })
        };
        let is_seen =
            |local: LocalId| self.root == Some(inner.body) && body[local].kind != LocalKind::Param;
        let mut known = true;
        crate::types::walk::visit(body, vec![value], &mut |_, kind| {
            if let ExprKind::Name(Res::Local(local)) = kind {
                known &= inner.named.contains_key(local) || is_own(*local) || is_seen(*local);
            }
        });
        known
    }

    /// A value that is short stands for itself; others get a line with a name.
    fn named(&mut self, scope: &Scope, local: LocalId, value: Math, change: Math) -> Meaning {
        if value.is_atomic() && (change.is_zero() || change.is_atomic()) {
            return Meaning { value, change };
        }
        let name = self.fresh(scope, local);
        self.lines.push(format!("{name} = {}", value.text()));
        let value = Math::atom(&*name);
        if change.is_zero() {
            return Meaning { value, change };
        }
        self.lines.push(format!("@{name} = {}", change.text()));
        Meaning { value, change: Math::atom(format!("@{name}")) }
    }

    /// A binding on the way, with lines of its own.
    pub(super) fn define(&mut self, scope: &mut Scope, local: LocalId, value: ExprId) {
        let (own, change) = (self.value(scope, value), self.change(scope, value));
        let meaning = self.named(scope, local, own, change);
        scope.named.insert(local, meaning);
    }

    /// The differential of what a function computes, by its rule if it has one.
    fn body_change(&mut self, inner: &Scope, id: InstanceId) -> Option<Math> {
        let Some(rule) = self.rule_of(id) else {
            let value = self.value_of(id)?;
            return Some(self.change(inner, value));
        };
        let body = &self.program.bodies[rule.body];
        let (value, instance) = (body.value?, self.rule_instance(rule, id)?);
        let inner = Scope { instance, ..inner.clone() };
        match rule.reverse {
            false => Some(self.rule_value(&inner, value)),
            true => self.transposed(&inner, value),
        }
    }

    /// A rule's value, its bindings in lines of their own.
    fn rule_value(&mut self, scope: &Scope, value: ExprId) -> Math {
        let ExprKind::Block(block) = self.body(scope).kind(value) else {
            return self.value(scope, value);
        };
        let mut scope = scope.clone();
        for statement in &block.statements {
            if let Statement::Let { pattern, value, .. } = statement
                && let Some(local) = bound(pattern)
            {
                let own = self.value(&scope, *value);
                let meaning = self.named(&scope, local, own, Math::zero());
                scope.named.insert(local, meaning);
            }
        }
        block.value.map(|value| self.rule_value(&scope, value)).unwrap_or_default()
    }

    /// A reverse rule of numbers, read forward: the sum over its cotangents, each for the change of
    /// its parameter.
    fn transposed(&mut self, scope: &Scope, value: ExprId) -> Option<Math> {
        let body = self.body(scope);
        let params: Vec<LocalId> =
            body.params.iter().map(|param| bound(&param.pattern)).collect::<Option<_>>()?;
        let (cotangent, params) = params.split_last()?;
        let instance = self.typed.instance(scope.instance);
        if instance.params.iter().any(|ty| !matches!(ty, crate::types::Ty::Scalar(_))) {
            return None;
        }
        let mut last = value;
        while let ExprKind::Block(Block { statements, value: Some(value), .. }) = body.kind(last) {
            if !statements.is_empty() {
                return None;
            }
            last = *value;
        }
        let parts = match body.kind(last) {
            ExprKind::Tuple(parts) => parts.clone(),
            _ => vec![last],
        };
        let mut sum = Math::zero();
        for (param, part) in params.iter().zip(parts) {
            let mut scope = scope.clone();
            let change = scope.named.get(param)?.change.clone();
            scope.named.insert(*cotangent, Meaning { value: Math::zero(), change });
            sum = sum.plus(self.value(&scope, part));
        }
        Some(sum)
    }

    /// `@x` inside a rule.
    pub(super) fn rule_change(&self, scope: &Scope, of: ExprId) -> Math {
        let (base, subscripts) = match self.body(scope).kind(of) {
            ExprKind::Access { base, subscripts, .. } => (*base, Some(subscripts)),
            _ => (of, None),
        };
        let ExprKind::Name(Res::Local(local)) = self.body(scope).kind(base) else {
            return self.own(scope, of);
        };
        let Some(meaning) = scope.named.get(local) else { return self.own(scope, of) };
        match subscripts {
            None => meaning.change.clone(),
            Some(_) if meaning.change.is_zero() => Math::zero(),
            Some(at) => {
                let at = self.bracketed(scope, at, "");
                Math::atom(format!("{}{at}", meaning.change.grouped()))
            }
        }
    }

    /// A block: its bindings in lines of their own, and then its value.
    pub(super) fn block_change(&mut self, scope: &Scope, expr: ExprId, block: &Block) -> Math {
        let Some(value) = block.value else { return Math::zero() };
        if !block.statements.is_empty() && !self.may_expand()
            || !block.statements.iter().all(|statement| self.can_define(scope, statement))
        {
            return self.own(scope, expr);
        }
        let mut scope = scope.clone();
        for statement in &block.statements {
            match statement {
                Statement::Let { pattern, value, .. } => match bound(pattern) {
                    Some(local) => self.define(&mut scope, local, *value),
                    None => self.define_parts(&mut scope, pattern, *value),
                },
                Statement::Clause(clause) => self.define_clause(&mut scope, clause),
                Statement::For { .. } | Statement::Expr(_) => {}
            }
        }
        self.change(&scope, value)
    }

    /// Whether the names of a statement can have lines.
    fn can_define(&self, scope: &Scope, statement: &Statement) -> bool {
        match statement {
            Statement::Let { pattern, value, .. } => {
                bound(pattern).is_some() || self.parts(scope, pattern, *value).is_some()
            }
            Statement::Clause(_) | Statement::For { .. } | Statement::Expr(_) => true,
        }
    }

    /// A local clause: the value and the differential at its points.
    fn define_clause(&mut self, scope: &mut Scope, clause: &Clause) {
        for target in &clause.targets {
            if !scope.named.contains_key(target) {
                self.introduce(scope, *target);
            }
        }
        let slots = self.bracketed(scope, &clause.slots, "");
        let value = self.value(scope, clause.value).text();
        let change = self.change(scope, clause.value).text();
        let (values, changes) = self.names_of(scope, &clause.targets);
        self.lines.push(format!("{values}{slots} = {value}"));
        self.lines.push(format!("{changes}{slots} = {change}"));
    }

    /// Gives a binding a name of its own.
    fn introduce(&mut self, scope: &mut Scope, local: LocalId) {
        let name = self.fresh(scope, local);
        let change = Math::atom(format!("@{name}"));
        scope.named.insert(local, Meaning { value: Math::atom(name), change });
    }

    /// The names of bindings and of their changes, several as a tuple.
    fn names_of(&self, scope: &Scope, locals: &[LocalId]) -> (String, String) {
        let all = |part: fn(&Meaning) -> &Math| {
            let texts = locals.iter().filter_map(|local| scope.named.get(local));
            texts.map(|meaning| part(meaning).text()).collect::<Vec<_>>().join(", ")
        };
        let (values, changes) = (all(|meaning| &meaning.value), all(|meaning| &meaning.change));
        match locals.len() {
            1 => (values, changes),
            _ => (format!("({values})"), format!("({changes})")),
        }
    }

    /// What a pattern of several names binds: parts of a tuple, each by itself or all at once.
    fn parts(&self, scope: &Scope, pattern: &Pattern, value: ExprId) -> Option<Parts> {
        let PatternKind::Tuple(parts) = &pattern.kind else { return None };
        let names: Vec<LocalId> = parts.iter().map(bound).collect::<Option<_>>()?;
        match self.body(scope).kind(value) {
            ExprKind::Tuple(values) if values.len() == names.len() => {
                Some(Parts::Each(names.into_iter().zip(values.iter().copied()).collect()))
            }
            _ => Some(Parts::All(names)),
        }
    }

    /// A pattern of several names: each is a part of the value.
    fn define_parts(&mut self, scope: &mut Scope, pattern: &Pattern, value: ExprId) {
        match self.parts(scope, pattern, value) {
            Some(Parts::Each(pairs)) => {
                for (local, value) in pairs {
                    self.define(scope, local, value);
                }
            }
            Some(Parts::All(names)) => {
                let (own, change) = (self.value(scope, value), self.change(scope, value));
                names.iter().for_each(|local| self.introduce(scope, *local));
                let (values, changes) = self.names_of(scope, &names);
                self.lines.push(format!("{values} = {}", own.text()));
                self.lines.push(format!("{changes} = {}", change.text()));
            }
            None => {}
        }
    }

    /// The rule of a function.
    fn rule_of(&self, id: InstanceId) -> Option<&'p Rule> {
        let instance = self.typed.instance(id);
        let (None, Owner::Def(def)) = (instance.lambda, self.program.bodies[instance.body].owner)
        else {
            return None;
        };
        self.program.defs.iter().find_map(|(_, item)| match &item.kind {
            DefKind::Rule(rule) if rule.target == Res::Def(def) => Some(rule),
            _ => None,
        })
    }

    fn rule_instance(&self, rule: &Rule, target: InstanceId) -> Option<InstanceId> {
        let params = &self.typed.instance(target).params;
        self.typed.ids().find(|id| {
            let instance = self.typed.instance(*id);
            instance.body == rule.body
                && instance
                    .params
                    .iter()
                    .zip(params)
                    .all(|(a, b)| a.without_extents() == b.without_extents())
        })
    }

    fn params_of(&self, id: InstanceId) -> Option<&'p [Param]> {
        let instance = self.typed.instance(id);
        let body = &self.program.bodies[instance.body];
        let Some(closure) = instance.lambda else { return Some(&body.params) };
        let (_, lambda) = self.typed.closures.get(closure.index())?;
        match body.kind(*lambda) {
            ExprKind::Lambda { params, .. } => Some(params),
            _ => None,
        }
    }

    fn value_of(&self, id: InstanceId) -> Option<ExprId> {
        let instance = self.typed.instance(id);
        let body = &self.program.bodies[instance.body];
        let Some(closure) = instance.lambda else { return body.value };
        let (_, lambda) = self.typed.closures.get(closure.index())?;
        match body.kind(*lambda) {
            ExprKind::Lambda { body, .. } => Some(*body),
            _ => None,
        }
    }
}

/// What a pattern of several names binds.
enum Parts {
    /// Each name has a value that is written for it.
    Each(Vec<(LocalId, ExprId)>),
    /// The names are the parts of one value.
    All(Vec<LocalId>),
}

/// The one name that a pattern binds.
pub(super) fn bound(pattern: &Pattern) -> Option<LocalId> {
    match &pattern.kind {
        PatternKind::Bind(local, None) => Some(*local),
        PatternKind::Typed(inner, _) => bound(inner),
        _ => None,
    }
}
