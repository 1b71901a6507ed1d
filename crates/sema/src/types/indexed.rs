//! Indexed definitions: the rank of a binding is its slots plus the rank of its body, taken from a
//! clause that does not need the binding itself; all clauses agree.
//!
//! In a recursive group, headers come first: clauses whose reads are known give the types of their
//! bindings; where every clause reads what is not known yet, a trial with the unknown reads left
//! open finds what the rest of the clause says. Then every clause is typed against the headers.

use einlang_source::map::HashSet;

use super::Checker;
use super::effects::Pure;
use super::groups::bound;
use super::ty::Ty;
use super::vars::Kind;
use super::walk;
use crate::errors;
use crate::hir::*;

impl<'p> Checker<'p> {
    pub(super) fn recursive_group(&mut self, statements: &'p [Statement], group: &Group) {
        let first = self.vars.count();
        let mut done: HashSet<usize> = HashSet::default();
        let id = self.work().body;
        let reads: Vec<HashSet<LocalId>> = group
            .statements
            .iter()
            .map(|index| walk::reads(self.program, id, &statements[*index], &self.captures))
            .collect();
        let mut open: HashSet<LocalId> =
            group.statements.iter().flat_map(|index| bound(&statements[*index])).collect();
        while !open.is_empty() {
            let ready = group.statements.iter().enumerate().find(|(position, index)| {
                let needed = bound(&statements[**index]).iter().any(|local| open.contains(local));
                needed && !done.contains(*index) && reads[*position].is_disjoint(&open)
            });
            match ready {
                Some((_, index)) => {
                    self.statement(&statements[*index]);
                    done.insert(*index);
                    for local in bound(&statements[*index]) {
                        open.remove(&local);
                    }
                }
                None => self.guess_header(statements, group, &mut open),
            }
        }
        for index in &group.statements {
            if !done.contains(index) {
                self.statement(&statements[*index]);
            }
        }
        self.decide_since(first);
    }

    /// Every clause left needs something unknown: a trial of the first binding's clauses tells its
    /// type, or else its body is taken for a scalar.
    fn guess_header(
        &mut self,
        statements: &'p [Statement],
        group: &Group,
        open: &mut HashSet<LocalId>,
    ) {
        let members = group.statements.iter().map(|index| &statements[*index]);
        let candidates: Vec<&'p Statement> =
            members.filter(|s| bound(s).iter().any(|local| open.contains(local))).collect();
        let mut types: Vec<(LocalId, Ty)> = Vec::new();
        if self.trials < super::MAX_TRIALS {
            for statement in &candidates {
                types = self.trial_types(statement);
                if types.iter().any(|(_, ty)| !ty.is_silent()) {
                    break;
                }
            }
        }
        types.retain(|(local, ty)| open.contains(local) && *ty != Ty::Unknown);
        if types.is_empty() {
            let Some(statement) = candidates.first() else { return open.clear() };
            types = self.scalar_guess(statement);
        }
        for (local, ty) in types {
            self.set_local(local, ty);
            open.remove(&local);
        }
    }

    /// What a statement says about its bindings while some reads are unknown. Literals stay open.
    fn trial_types(&mut self, statement: &'p Statement) -> Vec<(LocalId, Ty)> {
        let locals = bound(statement);
        let outer = std::mem::replace(&mut self.guessing, true);
        let found = self.trial(|cx| {
            match statement {
                Statement::Let { pattern, value, .. } => {
                    let ty = cx.infer(*value);
                    cx.bind_pattern(pattern, &ty);
                }
                other => cx.statement(other),
            }
            let known =
                |local: &LocalId| cx.work().locals.get(local).cloned().unwrap_or(Ty::Unknown);
            let found = locals.iter().map(|local| (*local, cx.vars.freeze(&known(local))));
            found.collect::<Vec<_>>()
        });
        self.guessing = outer;
        for local in &locals {
            self.work_mut().locals.remove(local);
        }
        found.into_iter().map(|(local, frozen)| (local, self.vars.thaw(&frozen))).collect()
    }

    /// A binding of which nothing is known has as many axes as slots.
    fn scalar_guess(&mut self, statement: &'p Statement) -> Vec<(LocalId, Ty)> {
        let n_slots = match statement {
            Statement::Clause(clause) => {
                self.find_rests(&clause.slots, vec![clause.value]);
                let width = |slot: &Subscript| match slot {
                    Subscript::Rest { local: Res::Local(rest), .. } => {
                        self.rest_rank(*rest).unwrap_or(1)
                    }
                    _ => 1,
                };
                clause.slots.iter().map(width).sum()
            }
            _ => 0,
        };
        let locals = bound(statement);
        locals
            .into_iter()
            .map(|local| (local, Ty::with_axes(self.vars.fresh(Kind::Any), n_slots)))
            .collect()
    }

    /// Types one clause, and makes or checks the types of its targets.
    pub(super) fn clause(&mut self, clause: &'p Clause) {
        let n_axes = self.slots(clause);
        let body = self.in_pure(Pure::Indexed, |cx| cx.clause_value(clause, n_axes));
        let parts = self.clause_parts(clause, &body);
        for (target, part) in clause.targets.iter().zip(parts) {
            let ty = match n_axes {
                Some(n_axes) => Ty::with_axes(part, n_axes),
                None => Ty::Error,
            };
            self.clause_target(clause, *target, ty);
        }
        if let Some(until) = clause.until {
            self.in_pure(Pure::Indexed, |cx| {
                cx.condition(until.condition, "the condition of `until`")
            });
            self.integer(until.max, "the largest number of steps");
        }
    }

    /// The body of a clause against its annotation, which is of the body or of the whole.
    fn clause_value(&mut self, clause: &Clause, n_axes: Option<usize>) -> Ty {
        let Some(ty) = &clause.ty else { return self.infer(clause.value) };
        let hint = self.lower_here(ty);
        let found = self.infer_hinted(clause.value, Some(&hint));
        let span = self.tail_span(clause.value);
        let n_axes = n_axes.unwrap_or(0);
        if hint.rank() > 0 && hint.rank() == n_axes + self.shallow(&found).rank() {
            let whole = Ty::with_axes(found.clone(), n_axes);
            self.fitted(ty, &whole, span);
            return found;
        }
        self.fitted(ty, &found, span)
    }

    /// One type per target: the body, or the parts of a tuple body.
    fn clause_parts(&mut self, clause: &Clause, body: &Ty) -> Vec<Ty> {
        let n_targets = clause.targets.len();
        if n_targets == 1 {
            return vec![body.clone()];
        }
        match self.shallow(body) {
            Ty::Tuple(parts) if parts.len() == n_targets => parts,
            ty if ty.is_silent() => vec![ty; n_targets],
            _ => {
                let (got, span) = (self.show(body), self.tail_span(clause.value));
                self.report(errors::body_not_tuple(n_targets, &got, span));
                vec![Ty::Error; n_targets]
            }
        }
    }

    fn clause_target(&mut self, clause: &Clause, target: LocalId, ty: Ty) {
        let Some(known) = self.work().locals.get(&target).cloned() else {
            self.set_local(target, ty);
            return;
        };
        let (known, ty) = (self.vars.deep(&known), self.vars.deep(&ty));
        if known.is_silent() || ty.is_silent() {
            let found = if known == Ty::Unknown { ty } else { known };
            self.set_local(target, found);
            return;
        }
        if let Some(joined) = self.join(&known, &ty) {
            self.set_local(target, joined);
            return;
        }
        let local = &self.body()[target];
        let (name, first) = (self.name(local.name.name), local.name.span);
        let (a, b) = (self.show(&known), self.show(&ty));
        let diagnostic = if known.rank() != ty.rank() {
            errors::clause_ranks(name, known.rank(), ty.rank(), clause.span, first)
        } else {
            errors::clause_types(name, &a, &b, self.tail_span(clause.value), first)
        };
        self.report(diagnostic);
    }

    /// Types the slots and counts their axes. None when a rest stays undetermined.
    fn slots(&mut self, clause: &Clause) -> Option<usize> {
        self.find_rests(&clause.slots, vec![clause.value]);
        let mut n_axes = Some(0);
        for slot in &clause.slots {
            let width = match slot {
                Subscript::Index(binder) => {
                    self.index_slot(binder);
                    Some(1)
                }
                Subscript::Rest { local: Res::Local(rest), .. } => self.rest_rank(*rest),
                Subscript::Rest { .. } => None,
                Subscript::Expr(point) => {
                    self.integer(*point, "a point on the left side");
                    Some(1)
                }
                Subscript::All(span) => {
                    self.report(errors::slot_is_slice(*span));
                    Some(1)
                }
            };
            n_axes = n_axes.zip(width).map(|(n, width)| n + width);
        }
        n_axes
    }

    fn index_slot(&mut self, binder: &IndexBinder) {
        self.index_range(binder);
        let bare = binder.range.is_none() && binder.coordinate.is_none();
        let Some(shadows) = binder.shadows.filter(|_| bare) else { return };
        if let Some((what, declared)) = self.integer_meaning(shadows) {
            let name = self.body()[binder.local].name;
            self.report(errors::slot_is_value(self.name(name.name), name.span, what, declared));
        }
    }

    /// Why a bare name cannot be an index: it is an integer value or a size already.
    fn integer_meaning(&mut self, res: Res) -> Option<(&'static str, einlang_source::Span)> {
        let (what, ty, span) = match res {
            Res::Local(local) => {
                let found = &self.body()[local];
                if let LocalKind::Extent(Some(before)) = found.kind {
                    return self.integer_meaning(before);
                }
                (self.value_kind(found)?, self.local(local), found.name.span)
            }
            Res::Outer(body, local) => {
                let found = &self.program.bodies[body][local];
                (self.value_kind(found)?, self.outer_local(body, local), found.name.span)
            }
            Res::Def(def) => {
                let what = match self.program.def(def).kind {
                    DefKind::Const(_) => "a constant",
                    DefKind::Input(_) => "an input",
                    _ => return None,
                };
                (what, self.def_value(def), self.program.def(def).name.span)
            }
            _ => return None,
        };
        let ty = self.vars.settled(&ty);
        (!ty.is_silent() && self.is_integer(&ty)).then_some((what, span))
    }

    fn value_kind(&self, local: &Local) -> Option<&'static str> {
        let name = self.name(local.name.name);
        match local.kind {
            LocalKind::Let => Some("an integer"),
            LocalKind::Param => Some("a parameter"),
            LocalKind::Extent(_) => name.starts_with(char::is_uppercase).then_some("a size"),
            _ => None,
        }
    }

    /// An expression that must be an integer.
    pub(super) fn integer(&mut self, expr: ExprId, what: &str) {
        let found = self.infer(expr);
        if self.is_integer(&found) {
            if self.vars.literal(&found).is_some() {
                self.unify(&found, &Ty::I32);
            }
            return;
        }
        let (got, span) = (self.show(&found), self.span(expr));
        self.report(errors::needs_integer(what, &got, span));
    }
}
