//! Blocks and plain statements.

use einlang_source::Span;
use einlang_tir::constant::Const;
use einlang_tir::host::{HostArg, HostDef, HostKind, HostType, Intrinsic};
use einlang_tir::message::Message;
use einlang_tir::module::{Axis, Check as TirCheck, Condition, Relation, box_of};
use einlang_tir::op::{Op, Trap};
use einlang_tir::region::{Combiner, InstKind, Over, ReduceFlags, Reduction, Region, Start};
use einlang_tir::types::Elem;

use super::Lower;
use super::module::loc;
use super::order::Unit;
use super::types::elem_of;
use super::value::{Form, R, Scalar, Val};
use crate::hir::{Block, ExprId, ExprKind, Pattern, PatternKind, Statement};
use crate::shapes::{Check, CheckKind, Origin, Source};
use crate::types::{InstanceId, Ty, walk};

impl<'p> Lower<'p> {
    pub(super) fn eval_block(&mut self, block: &'p Block) -> R<Val<'p>> {
        self.statements(&block.statements)?;
        match block.value {
            Some(value) => self.checked(value),
            None => Ok(Val::unit()),
        }
    }

    pub(super) fn statements(&mut self, statements: &'p [Statement]) -> R<()> {
        for unit in self.units(statements)? {
            match unit {
                Unit::One(at) if self.is_given(&statements[at]) => {}
                Unit::Clauses(members)
                    if members.iter().all(|at| self.is_given(&statements[*at])) => {}
                Unit::One(at) if self.is_muted(&statements[at]) => {
                    self.mute(true);
                    self.statement(&statements[at])?;
                    self.mute(false);
                }
                Unit::One(at) => self.statement(&statements[at])?,
                Unit::Clauses(members) => {
                    let clauses = members.iter().filter_map(|at| self.clause_of(&statements[*at]));
                    let clauses: Vec<_> = clauses.collect();
                    self.indexed(&clauses)?;
                }
            }
        }
        Ok(())
    }

    fn statement(&mut self, statement: &'p Statement) -> R<()> {
        match statement {
            Statement::Let { pattern, value, .. } => {
                self.bind_let(pattern, *value)?;
                self.checks_in(pattern.span.cover(self.body().span(*value)))
            }
            Statement::Expr(expr) => self.checked(*expr).map(|_| ()),
            Statement::For { pattern, iterable, body } => self.for_each(pattern, *iterable, *body),
            Statement::Clause(clause) => self.indexed(&[clause]),
        }
    }

    fn bind_let(&mut self, pattern: &'p Pattern, value: ExprId) -> R<()> {
        let name = match &simple(pattern).kind {
            PatternKind::Bind(local, None) => self.local_name(*local),
            _ => "let".to_owned(),
        };
        let span = self.body().span(value);
        let outer = std::mem::replace(&mut self.here, span);
        // What stands between a parameter and a target of a request has a name, so that the whole
        // path runs through tensors.
        let is_path = self.in_region() && self.requesting.contains(&self.frame.body);
        let bound = if is_path && elem_of(&self.ty(value)).is_some() {
            let id = self.define_scalar(&name, span, |cx| {
                let value = cx.eval(value)?;
                cx.expect_scalar(value, span)
            });
            id.map(|id| Val::named(self.info(id).elem, 0, id))
        } else {
            self.with_reductions(value, |cx| {
                cx.hint = Some(name.clone());
                cx.eval(value)
            })
        };
        self.hint = None;
        let bound = bound.and_then(|value| self.bound(value, &name));
        self.here = outer;
        let ty = self.ty(value);
        self.bind_pattern(pattern, &bound?, &ty)
    }

    /// `for pattern in iterable { … }`
    fn for_each(&mut self, pattern: &'p Pattern, iterable: ExprId, body: ExprId) -> R<()> {
        let value = self.eval(iterable)?;
        let ty = self.ty(iterable);
        if self.in_region() {
            return self.for_in_region(pattern, &value, &ty, body);
        }
        self.loop_over(&value, &ty, &mut |cx, item, item_ty| {
            cx.bind_pattern(pattern, item, item_ty)?;
            cx.eval(body).map(|_| ())
        })
    }

    /// A `for` inside a tensor body can only assert: it tests all its rounds in order.
    fn for_in_region(
        &mut self,
        pattern: &'p Pattern,
        value: &Val<'p>,
        ty: &Ty,
        body: ExprId,
    ) -> R<()> {
        let (span, outer) = (pattern.span, self.frame.clone());
        let (start, length) = match value {
            Val::Range(lo, Some(hi)) => {
                let (lo, hi) = (self.quasi(lo)?, self.quasi(hi)?);
                let length = self.index_result(hi.sub(&lo), span)?;
                (lo, length)
            }
            _ => {
                let length = self.extents_of(value)?.into_iter().next();
                (0.into(), length.unwrap_or_else(|| 0.into()))
            }
        };
        let axis = Axis { var: self.new_index("k"), dim: length.into() };
        let counter = self.index_result(start.add(&axis.var.into()), span)?;
        let domain = self.index_result(box_of(std::slice::from_ref(&axis)), span)?;
        let item_ty = item_type(ty);
        let (tested, _) = self.scalar_region(|cx| {
            let item = match value {
                Val::Range(lo, _) => Val::Scalar(cx.index_scalar(lo.elem, counter)),
                _ => {
                    let at = cx.index_scalar(Elem::I64, axis.var.into());
                    cx.item(value, &at, &item_ty)?
                }
            };
            cx.bind_pattern(pattern, &item, &item_ty)?;
            cx.eval(body)?;
            Ok(Scalar::constant(Const::bool(true)))
        })?;
        self.frame = outer;
        let reduction = Reduction {
            domain: Over(domain),
            guard: None,
            body: tested,
            combine: Combiner::Op(Op::And),
            start: Start::Identity(vec![Const::bool(true).into()]),
            flags: ReduceFlags::default(),
        };
        let held = self.emit(Elem::Bool, InstKind::Reduce(Box::new(reduction)), loc(span));
        let condition = self.arg(&held)?;
        let message = "a round of this loop".into();
        self.push_inst(Vec::new(), InstKind::Assert { condition, message }, loc(span));
        Ok(())
    }

    /// Runs a host loop over the elements of a range, tensor or list, for its effects.
    fn loop_over(
        &mut self,
        value: &Val<'p>,
        ty: &Ty,
        each: &mut dyn FnMut(&mut Self, &Val<'p>, &Ty) -> R<()>,
    ) -> R<()> {
        self.host_loop(value, ty, Vec::new(), |cx, item, ty, _| {
            each(cx, item, ty)?;
            Ok(Vec::new())
        })?;
        Ok(())
    }

    /// Runs a host loop that carries values, whose types stand with them.
    pub(super) fn host_loop(
        &mut self,
        value: &Val<'p>,
        ty: &Ty,
        carried: Vec<(HostArg, HostType)>,
        each: impl FnOnce(&mut Self, &Val<'p>, &Ty, &[HostArg]) -> R<Vec<HostArg>>,
    ) -> R<Vec<HostArg>> {
        let value = self.named(value.clone(), "items")?;
        let (lo, hi, item_ty) = self.bounds(&value, ty)?;
        let (args, types): (Vec<HostArg>, Vec<HostType>) = carried.into_iter().unzip();
        let counter = HostDef { number: self.new_number(), ty: HostType::Scalar(Elem::I64) };
        let at = HostArg::Value(counter.number);
        let inner: Vec<HostDef> =
            types.iter().map(|ty| HostDef { number: self.new_number(), ty: ty.clone() }).collect();
        let inner_args: Vec<HostArg> = inner.iter().map(|d| HostArg::Value(d.number)).collect();
        let params = [vec![counter], inner].concat();
        let (block, ()) = self.block(params, |cx| {
            let item = cx.loop_item(&value, at, &item_ty)?;
            let results = each(cx, &item, &item_ty, &inner_args)?;
            Ok((results, ()))
        })?;
        let results: Vec<HostDef> =
            types.into_iter().map(|ty| HostDef { number: self.new_number(), ty }).collect();
        let after = results.iter().map(|def| HostArg::Value(def.number)).collect();
        let place = loc(self.here);
        self.host_inst(results, HostKind::For(lo, hi, args, block), place);
        Ok(after)
    }

    /// From where to where a loop counts, and the type of its items.
    fn bounds(&mut self, value: &Val<'p>, ty: &Ty) -> R<(HostArg, HostArg, Ty)> {
        let zero = HostArg::Const(Const::int(Elem::I64, 0));
        match (value, ty) {
            (Val::Range(lo, Some(hi)), Ty::Range(inner)) => {
                let from = self.host_scalar(lo)?;
                let from = self.host_cast(from, lo.elem, Elem::I64);
                let to = self.host_scalar(hi)?;
                let to = self.host_cast(to, hi.elem, Elem::I64);
                Ok((from, to, (**inner).clone()))
            }
            (Val::Host(host, HostType::List(_)), _) => {
                let kind = HostKind::Intrinsic(Intrinsic::ListLen, vec![host.clone()]);
                let length = self.host_value_of(HostType::Scalar(Elem::I64), kind);
                Ok((zero, length, item_type(ty)))
            }
            _ => {
                let length = self.length(value)?;
                let host = self.host_scalar(&length)?;
                let host = self.host_cast(host, length.elem, Elem::I64);
                Ok((zero, host, item_type(ty)))
            }
        }
    }

    fn loop_item(&mut self, value: &Val<'p>, at: HostArg, ty: &Ty) -> R<Val<'p>> {
        let counter = Scalar { elem: Elem::I64, form: Form::Host(at) };
        match value {
            Val::Range(lo, _) => self.cast(&counter, lo.elem).map(Val::Scalar),
            _ => self.item(value, &counter, ty),
        }
    }

    /// The value of an expression, after the checks in it. Those about what the host computes for it
    /// come afterwards: that runs once, for it may have effects.
    fn checked(&mut self, expr: ExprId) -> R<Val<'p>> {
        let (now, later): (Vec<&Check>, Vec<&Check>) = {
            let tested = self.checks_within(self.body().span(expr));
            tested.into_iter().partition(|check| !self.awaits_host(check))
        };
        now.into_iter().try_for_each(|check| self.check(check))?;
        let value = self.with_reductions(expr, |cx| cx.eval(expr))?;
        later.into_iter().try_for_each(|check| self.check(check))?;
        Ok(value)
    }

    /// Puts the checks of a statement into the code.
    pub(super) fn checks_in(&mut self, span: Span) -> R<()> {
        let tested = self.checks_within(span);
        tested.into_iter().try_for_each(|check| self.check(check))
    }

    /// The checks of a statement that are tested with it.
    fn checks_within(&mut self, span: Span) -> Vec<&'p Check> {
        let checks = &self.shapes.instance(self.frame.instance).checks;
        let tested = checks.iter().filter(|check| !check.conditional && within(check.span, span));
        let tested: Vec<&'p Check> = tested.collect();
        if tested.is_empty() {
            return tested;
        }
        // What fails inside a `try` is caught there.
        let tries: Vec<Span> = self
            .tries()
            .into_iter()
            .filter(|inner| *inner != span && within(*inner, span))
            .collect();
        let is_caught = |check: &Check| tries.iter().any(|inner| within(check.span, *inner));
        tested.into_iter().filter(|check| !is_caught(check)).collect()
    }

    /// What stands after each `try` of the body.
    fn tries(&mut self) -> Vec<Span> {
        let body = self.body();
        let mut spans = Vec::new();
        walk::visit(body, body.value.into_iter().collect(), &mut |_, kind| {
            if let ExprKind::Try(value) = kind {
                spans.push(body.span(*value));
            }
        });
        spans
    }

    /// Puts the checks that stand under a condition, or depend on an index, where they are needed.
    /// `loaded` are those about the value of the expression itself.
    pub(super) fn conditional_checks(&mut self, span: Span, loaded: bool) -> R<()> {
        let instance = self.frame.instance;
        if !self.conditional.contains(&(instance, span)) {
            return Ok(());
        }
        let checks = &self.shapes.instance(instance).checks;
        for check in checks.iter().filter(|check| check.conditional && check.span == span) {
            if matches!(check.kind, CheckKind::Loaded) == loaded {
                self.check(check)?;
            }
        }
        Ok(())
    }

    /// Puts the checks of a function's parameters into the code.
    pub(super) fn entry_checks(&mut self, id: InstanceId) -> R<()> {
        let Some(value) = self.value_of(id) else { return Ok(()) };
        let body = self.body().span(value);
        for check in &self.shapes.instance(id).checks {
            let inside = body.file == check.span.file
                && body.start <= check.span.start
                && check.span.end <= body.end;
            if !inside && !check.conditional {
                self.check(check)?;
            }
        }
        Ok(())
    }

    /// Whether a check is about a value that the host has not computed yet.
    fn awaits_host(&mut self, check: &Check) -> bool {
        let mut exprs = Vec::new();
        let mut note = |var| {
            if let Some(Origin::Axis(Source::Expr(at, expr), ..)) = self.shapes.symbols.origin(var)
                && *at == self.frame.instance
                && !self.frame.exprs.contains_key(expr)
            {
                exprs.push(*expr);
            }
        };
        check.left.for_each_var(&mut note);
        check.right.for_each_var(&mut note);
        exprs.into_iter().any(|expr| self.needs_host(expr))
    }

    fn check(&mut self, check: &Check) -> R<()> {
        let (left, right) = (self.extent(&check.left)?, self.extent(&check.right)?);
        if left == right {
            return Ok(());
        }
        let (a, b) = (&check.names.0, &check.names.1);
        let (message, trap) = match check.kind {
            CheckKind::Loaded => {
                (format!("{a} does not have the extent that {b} says"), Trap::LoadedShape)
            }
            _ => (format!("{a} and {b} must have the same extent"), Trap::ExtentsDiffer),
        };
        if !self.in_region() {
            let condition = Condition::new(left, Relation::Eq, right);
            let check = TirCheck { condition, message, trap, loc: loc(check.span) };
            if !self.cx().tir.checks.contains(&check) {
                self.cx().tir.checks.push(check);
            }
            return Ok(());
        }
        let (left, right) =
            (self.index_scalar(Elem::I64, left), self.index_scalar(Elem::I64, right));
        let (left, right) = (self.arg(&left)?, self.arg(&right)?);
        let kind = InstKind::Op(Op::Eq, vec![left.clone(), right.clone()]);
        let equal = self.emit(Elem::Bool, kind, loc(check.span));
        let condition = self.arg(&equal)?;
        let (otherwise, ()) = self.region(|cx| {
            let message = Message::from(format!("{message} (")).value(left).text(" and ");
            cx.trap(trap, message.value(right).text(")"), loc(check.span));
            Ok((Vec::new(), ()))
        })?;
        let kind = InstKind::If { condition, then: Region::default(), otherwise };
        self.push_inst(Vec::new(), kind, loc(check.span));
        Ok(())
    }
}

fn within(inner: Span, outer: Span) -> bool {
    inner.file == outer.file && outer.start <= inner.start && inner.end <= outer.end
}

/// A pattern without its annotation.
fn simple(pattern: &Pattern) -> &Pattern {
    match &pattern.kind {
        PatternKind::Typed(inner, _) => simple(inner),
        _ => pattern,
    }
}

/// The type of the elements along the first axis.
pub(super) fn item_type(ty: &Ty) -> Ty {
    match ty {
        Ty::Tensor(element, extents) => {
            Ty::tensor((**element).clone(), extents.get(1..).unwrap_or(&[]).to_vec())
        }
        Ty::Jagged(element, 1) => (**element).clone(),
        Ty::Jagged(element, levels) => Ty::Jagged(element.clone(), levels - 1),
        Ty::Range(inner) => (**inner).clone(),
        _ => Ty::Error,
    }
}
