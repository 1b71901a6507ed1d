//! The equations of a binding.

use super::calls::bound;
use super::math::Math;
use super::scope::{Scope, Writer};
use crate::hir::*;
use crate::types::{InstanceId, Ty, walk};

/// How far bindings of differentials are followed.
const MAX_DEPTH: usize = 100;

impl<'p> Writer<'p> {
    /// What `print` shows for an expression that is a differential.
    pub(crate) fn equations(mut self, body: BodyId, instance: InstanceId, expr: ExprId) -> String {
        let scope = Scope { body, instance, named: Default::default(), rule: false };
        let locals = self.body(&scope).locals.iter();
        let names: Vec<String> = locals.map(|(local, _)| self.local_text(&scope, local)).collect();
        for name in names {
            match self.taken.insert(name.clone()) {
                true => self.unique.insert(name),
                false => self.unique.remove(&name),
            };
        }
        self.root = Some(body);
        let mut targets = Vec::new();
        let combined = self.combination(&scope, expr, &mut targets, 0);
        let is_one = matches!(self.body(&scope).kind(expr), ExprKind::Differential(_));
        let is_sum = !is_one && targets.len() + usize::from(!combined.is_atomic()) > 1;
        for target in &targets {
            self.target(&scope, *target, !is_sum);
        }
        if is_sum {
            self.lines.push(combined.text());
        }
        self.lines.join("\n")
    }

    /// A sum of multiples of differentials, and what they are differentials of.
    fn combination(
        &mut self,
        scope: &Scope,
        expr: ExprId,
        targets: &mut Vec<ExprId>,
        depth: usize,
    ) -> Math {
        let body = self.body(scope);
        if !matches!(self.ty(scope, expr), Ty::Differential(_)) {
            return self.value(scope, expr);
        }
        match body.kind(expr) {
            ExprKind::Differential(of) => {
                if !targets.contains(of) {
                    targets.push(*of);
                }
                self.own(scope, *of)
            }
            ExprKind::Name(Res::Local(local)) if depth < MAX_DEPTH => {
                match self.definition(scope, *local) {
                    Some(Definition::Plain(value)) => {
                        self.combination(scope, value, targets, depth + 1)
                    }
                    _ => self.value(scope, expr),
                }
            }
            ExprKind::Unary(UnaryOp::Neg, operand) => {
                self.combination(scope, *operand, targets, depth + 1).negated()
            }
            ExprKind::Binary(op, a, b) if depth < MAX_DEPTH => {
                let left = self.combination(scope, *a, targets, depth + 1);
                let right = self.combination(scope, *b, targets, depth + 1);
                match op {
                    BinaryOp::Add => left.plus(right),
                    BinaryOp::Sub => left.plus(right.negated()),
                    BinaryOp::Mul => left.times(right),
                    BinaryOp::Div => left.over(right),
                    _ => self.value(scope, expr),
                }
            }
            _ => self.value(scope, expr),
        }
    }

    /// The lines for `@target`. One that nothing is known about has a line only if it stands alone.
    fn target(&mut self, scope: &Scope, target: ExprId, alone: bool) {
        if self.field_target(scope, target).is_some() {
            return;
        }
        let mut base = target;
        while let ExprKind::Access { base: inner, .. } | ExprKind::Field(inner, _) =
            self.body(scope).kind(base)
        {
            base = *inner;
        }
        let ExprKind::Name(res) = self.body(scope).kind(base) else {
            let change = self.change(scope, target).text();
            let own = self.own(scope, target).text();
            self.lines.push(format!("{own} = {change}"));
            return;
        };
        let name = self.res_text(scope, *res);
        let found = match res {
            Res::Local(local) => self.definition(scope, *local),
            _ => None,
        };
        match found {
            None => self.lines.extend(alone.then(|| format!("@{name}"))),
            Some(Definition::Plain(value)) => {
                let change = self.change(scope, value);
                let is_leaf = change.is_zero() && self.is_literal(scope, value);
                match is_leaf {
                    true => self.lines.extend(alone.then(|| format!("@{name}"))),
                    false => self.lines.push(format!("@{name} = {}", change.text())),
                }
            }
            Some(Definition::Part(value, at)) => {
                let change = self.change(scope, value).grouped();
                self.lines.push(format!("@{name} = {change}.{at}"));
            }
            Some(Definition::Clauses(clauses)) => {
                for clause in clauses {
                    let slots = self.bracketed(scope, &clause.slots, "");
                    let change = self.clause_change(scope, clause);
                    self.lines.push(format!("@{name}{slots} = {change}"));
                }
            }
        }
    }

    /// The line for a field of a record that is written out.
    fn field_target(&mut self, scope: &Scope, target: ExprId) -> Option<()> {
        let ExprKind::Field(base, field) = self.body(scope).kind(target) else { return None };
        let ExprKind::Name(res @ Res::Local(local)) = self.body(scope).kind(*base) else {
            return None;
        };
        let Definition::Plain(value) = self.definition(scope, *local)? else { return None };
        let ExprKind::Struct { fields, .. } = self.body(scope).kind(value) else { return None };
        let (_, value) = fields.iter().find(|(name, _)| name.name == field.name)?;
        let change = self.change(scope, *value);
        let path = format!("@{}.{}", self.res_text(scope, *res), self.spelling(field.name));
        self.lines.push(format!("{path} = {}", change.text()));
        Some(())
    }

    fn clause_change(&mut self, scope: &Scope, clause: &Clause) -> String {
        let change = self.change(scope, clause.value).text();
        match clause.until {
            None => change,
            Some(until) => {
                let condition = self.value(scope, until.condition).text();
                let max = self.value(scope, until.max).text();
                format!("{change} until {condition}, max {max}")
            }
        }
    }

    /// Whether nothing but numbers is in a value: then it is where changes begin.
    fn is_literal(&self, scope: &Scope, value: ExprId) -> bool {
        let mut literal = true;
        walk::visit(self.body(scope), vec![value], &mut |_, kind| {
            literal &= matches!(
                kind,
                ExprKind::Literal(_)
                    | ExprKind::Array(_)
                    | ExprKind::Tuple(_)
                    | ExprKind::Unary(..)
                    | ExprKind::Binary(..)
                    | ExprKind::Cast(..)
            );
        });
        literal
    }

    /// Where a name of the body is bound.
    fn definition(&self, scope: &Scope, local: LocalId) -> Option<Definition<'p>> {
        let body = self.body(scope);
        let mut blocks = Vec::new();
        walk::visit(body, body.value.into_iter().collect(), &mut |expr, kind| {
            if matches!(kind, ExprKind::Block(_)) {
                blocks.push(expr);
            }
        });
        let mut clauses = Vec::new();
        for block in blocks {
            let ExprKind::Block(block) = body.kind(block) else { continue };
            for statement in &block.statements {
                match statement {
                    Statement::Let { pattern, value, .. } => {
                        if bound(pattern) == Some(local) {
                            return Some(Definition::Plain(*value));
                        }
                        let PatternKind::Tuple(parts) = &pattern.kind else { continue };
                        if let Some(at) = parts.iter().position(|part| bound(part) == Some(local)) {
                            return Some(match body.kind(*value) {
                                ExprKind::Tuple(values) => Definition::Plain(*values.get(at)?),
                                _ => Definition::Part(*value, at),
                            });
                        }
                    }
                    Statement::Clause(clause) if clause.targets == [local] => clauses.push(clause),
                    _ => {}
                }
            }
        }
        (!clauses.is_empty()).then_some(Definition::Clauses(clauses))
    }
}

/// How a name is bound.
enum Definition<'p> {
    Plain(ExprId),
    /// A part of a tuple.
    Part(ExprId, usize),
    Clauses(Vec<&'p Clause>),
}
