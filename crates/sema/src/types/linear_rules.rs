//! Whether the rules of functions are linear in their differentials, as far as their text shows.
//!
//! Every rule is looked at once, whether its function is called or not. What depends on other
//! functions is not decided here but where the rule is used.

use std::collections::HashMap;

use einlang_source::Span;

use super::Checker;
use crate::builtins::{Builtin, Function, Reduction};
use crate::errors::{self, NotLinear};
use crate::hir::*;

/// How a value depends on the differentials.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Degree {
    /// It is zero, which is linear too.
    Zero,
    /// It does not.
    Free,
    /// It is linear in them.
    Linear,
    /// Nobody knows.
    Unknown,
}

/// The degree, or what is not linear.
type Found = Result<Degree, NotLinear>;

/// Reports the rules that are not linear.
pub(super) fn report(cx: &mut Checker<'_>) {
    let rules = cx.program.defs.iter().filter_map(|(_, def)| match &def.kind {
        DefKind::Rule(rule) => Some((def.name.name, rule)),
        _ => None,
    });
    let mut found = Vec::new();
    for (name, rule) in rules {
        let body = &cx.program.bodies[rule.body];
        let Some(value) = body.value else { continue };
        let mut rule_check = RuleCheck { body, locals: HashMap::new() };
        let home = cx.instances.iter().position(|work| work.alive && work.body == rule.body);
        if let (Err(why), Some(home)) = (rule_check.result(value), home) {
            let name_of = |param: &Param| match param.pattern.kind {
                PatternKind::Bind(local, None) => Some(body.locals[local].name.name),
                _ => None,
            };
            let param = if rule.reverse { body.params.last() } else { body.params.first() };
            let param = param.and_then(name_of).map(|name| cx.interner.resolve(name));
            found.push((home, errors::not_linear(cx.interner.resolve(name), param, why)));
        }
    }
    for (home, diagnostic) in found {
        cx.instances[home].diagnostics.push(diagnostic);
    }
}

struct RuleCheck<'p> {
    body: &'p Body,
    locals: HashMap<LocalId, Degree>,
}

impl RuleCheck<'_> {
    /// The value of the rule: each part is linear.
    fn result(&mut self, value: ExprId) -> Result<(), NotLinear> {
        match self.body.kind(value) {
            ExprKind::Block(block) => {
                self.statements(block)?;
                block.value.map_or(Ok(()), |value| self.result(value))
            }
            ExprKind::Tuple(parts) => parts.iter().try_for_each(|part| self.result(*part)),
            _ => match self.degree(value)? {
                Degree::Free => Err(NotLinear::Without(self.body.span(value))),
                _ => Ok(()),
            },
        }
    }

    fn statements(&mut self, block: &Block) -> Result<(), NotLinear> {
        for statement in &block.statements {
            match statement {
                Statement::Let { pattern, value, .. } => self.bind(pattern, *value)?,
                Statement::Clause(clause) => {
                    let known =
                        clause.targets.iter().map(|target| self.locals.get(target).copied());
                    let known = known.flatten().next().unwrap_or(Degree::Zero);
                    self.locals.extend(clause.targets.iter().map(|target| (*target, known)));
                    let own = self.degree(clause.value)?;
                    let both = joined(known, own, self.body.span(clause.value))?;
                    self.locals.extend(clause.targets.iter().map(|target| (*target, both)));
                }
                Statement::For { .. } | Statement::Expr(_) => {}
            }
        }
        Ok(())
    }

    fn bind(&mut self, pattern: &Pattern, value: ExprId) -> Result<(), NotLinear> {
        match (&pattern.kind, self.body.kind(value)) {
            (PatternKind::Typed(inner, _), _) => self.bind(inner, value),
            (PatternKind::Bind(local, None), _) => {
                let degree = self.degree(value)?;
                self.locals.insert(*local, degree);
                Ok(())
            }
            (PatternKind::Tuple(patterns), ExprKind::Tuple(values)) => {
                patterns.iter().zip(values).try_for_each(|(p, value)| self.bind(p, *value))
            }
            _ => {
                self.degree(value)?;
                let mut names = Vec::new();
                super::groups::pattern_locals(pattern, &mut names);
                self.locals.extend(names.into_iter().map(|name| (name, Degree::Unknown)));
                Ok(())
            }
        }
    }

    fn all(&mut self, exprs: impl IntoIterator<Item = ExprId>, span: Span) -> Found {
        exprs.into_iter().try_fold(Degree::Zero, |all, expr| joined(all, self.degree(expr)?, span))
    }

    /// Something that no differential may go through.
    fn fixed(&mut self, exprs: impl IntoIterator<Item = ExprId>, span: Span) -> Found {
        let mut unknown = false;
        for expr in exprs {
            match self.degree(expr)? {
                Degree::Linear => return Err(NotLinear::At(span)),
                Degree::Unknown => unknown = true,
                Degree::Zero | Degree::Free => {}
            }
        }
        Ok(if unknown { Degree::Unknown } else { Degree::Free })
    }

    fn degree(&mut self, expr: ExprId) -> Found {
        let (body, span) = (self.body, self.body.span(expr));
        match body.kind(expr) {
            ExprKind::Literal(Literal::Int(0, _)) => Ok(Degree::Zero),
            ExprKind::Literal(Literal::Float(number, _)) if *number == 0.0 => Ok(Degree::Zero),
            ExprKind::Differential(_) => Ok(Degree::Linear),
            ExprKind::Name(Res::Local(local)) => {
                Ok(self.locals.get(local).copied().unwrap_or(Degree::Free))
            }
            ExprKind::Unary(UnaryOp::Neg, operand) => self.degree(*operand),
            ExprKind::Binary(op, a, b) => self.binary(*op, *a, *b, span),
            ExprKind::Cast(value, _) | ExprKind::Field(value, _) => self.degree(*value),
            ExprKind::Array(items) => self.all(items.iter().copied(), span),
            ExprKind::If { condition, then, otherwise } => {
                self.fixed([*condition], span)?;
                self.all([*then].into_iter().chain(*otherwise), span)
            }
            ExprKind::Match { scrutinee, arms } => {
                self.fixed([*scrutinee], span)?;
                self.all(arms.iter().map(|arm| arm.value), span)
            }
            ExprKind::Block(block) => {
                self.statements(block)?;
                block.value.map_or(Ok(Degree::Free), |value| self.degree(value))
            }
            ExprKind::Reduce { op: Reduction::Sum | Reduction::Mean, body, .. } => {
                self.degree(*body)
            }
            ExprKind::Reduce { body, .. } => self.fixed([*body], span),
            ExprKind::Access { base, default, .. } => {
                self.all([*base].into_iter().chain(*default), span)
            }
            ExprKind::Where { value, items, otherwise } => {
                for item in items {
                    match item {
                        WhereItem::Binding(local, value) => {
                            let degree = self.degree(*value)?;
                            self.locals.insert(*local, degree);
                        }
                        WhereItem::Guard(guard) => drop(self.fixed([*guard], span)?),
                    }
                }
                self.all([*value].into_iter().chain(*otherwise), span)
            }
            ExprKind::Call { callee, args } => {
                let given: Vec<ExprId> = args.iter().map(|arg| arg.value).collect();
                match body.kind(*callee) {
                    ExprKind::Name(Res::Builtin(Builtin::Function(Function::Detach))) => {
                        Ok(Degree::Free)
                    }
                    ExprKind::Name(Res::Builtin(Builtin::Function(_))) => self.fixed(given, span),
                    // A function value may hold differentials itself.
                    _ => self.through([*callee].into_iter().chain(given).collect()),
                }
            }
            _ => self.through(super::walk::children(body.kind(expr))),
        }
    }

    /// What depends on code that is not looked at.
    fn through(&mut self, below: Vec<ExprId>) -> Found {
        let mut free = true;
        for expr in below {
            free &= matches!(self.degree(expr)?, Degree::Free | Degree::Zero);
        }
        Ok(if free { Degree::Free } else { Degree::Unknown })
    }

    fn binary(&mut self, op: BinaryOp, a: ExprId, b: ExprId, span: Span) -> Found {
        let (left, right) = (self.degree(a)?, self.degree(b)?);
        if left == Degree::Unknown || right == Degree::Unknown {
            return Ok(Degree::Unknown);
        }
        match (op, left, right) {
            (BinaryOp::Add | BinaryOp::Sub, left, right) => joined(left, right, span),
            (BinaryOp::Mul, Degree::Zero, _) | (BinaryOp::Mul, _, Degree::Zero) => Ok(Degree::Zero),
            (BinaryOp::Mul, Degree::Linear, Degree::Linear) => Err(NotLinear::At(span)),
            (BinaryOp::Mul, Degree::Linear, _) | (BinaryOp::Mul, _, Degree::Linear) => {
                Ok(Degree::Linear)
            }
            (BinaryOp::Div, left, Degree::Free | Degree::Zero) => Ok(left),
            (BinaryOp::Div, Degree::Linear, Degree::Linear) => Err(NotLinear::Request(span)),
            (_, Degree::Linear, _) | (_, _, Degree::Linear) => Err(NotLinear::At(span)),
            _ => Ok(Degree::Free),
        }
    }
}

/// What is added, or chosen between.
fn joined(a: Degree, b: Degree, span: Span) -> Found {
    match (a, b) {
        (Degree::Unknown, _) | (_, Degree::Unknown) => Ok(Degree::Unknown),
        (Degree::Zero, other) | (other, Degree::Zero) => Ok(other),
        (a, b) if a == b => Ok(a),
        _ => Err(NotLinear::At(span)),
    }
}
