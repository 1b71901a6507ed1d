//! What a session must know of an entry to go on after it: which bindings it makes, and which of
//! them cannot be handed to later entries as values.
//!
//! A binding is handed over as a value unless it is more than that: functions and ranges are no
//! data, a later derivative may ask how it came about, and so on. Such bindings are computed again
//! where a later entry needs them, and that is possible only if computing them has no effect.

use std::collections::HashSet;

use einlang_source::{Code, Diagnostic, Span};

use crate::Resolved;
use crate::hir::*;
use crate::types::walk::{Captures, reads, sizes, statement_exprs, visit};
use crate::types::{Callee, FnTy, InstanceId, Typed, groups};

/// A statement of an entry that binds names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Made {
    /// The places of the names it binds.
    pub names: Vec<Span>,
    /// The places of the sizes it declares.
    pub sizes: Vec<Span>,
    /// The whole clause, or the value of a `let`.
    pub span: Span,
    /// The recurrence ends by `until`.
    pub until: bool,
    /// Computing it prints, reads or writes.
    pub effect: bool,
    /// It reads other bindings of the session.
    pub reads: bool,
}

/// The statements of the session that bind names, in order.
pub fn made(resolved: &Resolved, typed: &Typed) -> Vec<Made> {
    let Some(root) = Root::of(resolved, typed) else { return Vec::new() };
    let place = |local: LocalId| root.body[local].name.span;
    let captures = Captures::new(&resolved.program);
    let mut effects = Effects { typed, pure: vec![false; typed.instances.len()] };
    let mut all = Vec::new();
    for statement in root.statements {
        let bound = groups::bound(statement);
        let (span, until) = match statement {
            Statement::Let { value, .. } => (root.body.span(*value), false),
            Statement::Clause(clause) => (clause.span, clause.until.is_some()),
            _ => continue,
        };
        let read = reads(&resolved.program, root.id, statement, &captures);
        all.push(Made {
            sizes: sizes(root.body, statement).into_iter().map(place).collect(),
            span,
            until,
            effect: effects.of(root.instance, root.body, statement_exprs(statement)),
            reads: read.iter().any(|local| !bound.contains(local)),
            names: bound.into_iter().map(place).collect(),
        });
    }
    all
}

/// The bindings of the session that requests for derivatives may reach, by the places of their
/// names: what the requests of the current entry and of functions name, and all that this reads.
pub fn differentiated(resolved: &Resolved, typed: &Typed) -> HashSet<Span> {
    let Some(root) = Root::of(resolved, typed) else { return HashSet::new() };
    let program = &resolved.program;
    let mut open: Vec<LocalId> = Vec::new();
    for (id, body) in program.bodies.iter() {
        let roots = match id == root.id {
            true => root.current().flat_map(statement_exprs).collect(),
            false if is_library(program, body) => continue,
            false => body.value.into_iter().collect(),
        };
        let mut requests = Vec::new();
        visit(body, roots, &mut |_, kind| {
            if let ExprKind::Differential(of) = kind {
                requests.push(*of);
            }
        });
        visit(body, requests, &mut |_, kind| match kind {
            ExprKind::Name(Res::Local(local)) if id == root.id => open.push(*local),
            ExprKind::Name(Res::Outer(of, local)) if *of == root.id => open.push(*local),
            _ => {}
        });
    }
    let captures = Captures::new(program);
    let mut reached: HashSet<LocalId> = HashSet::new();
    while let Some(local) = open.pop() {
        if reached.insert(local) {
            let definitions = root
                .statements
                .iter()
                .filter(|statement| groups::bound(statement).contains(&local));
            open.extend(definitions.flat_map(|s| reads(program, root.id, s, &captures)));
        }
    }
    reached.into_iter().map(|local| root.body[local].name.span).collect()
}

/// The error for a binding that can be handed over neither as a value nor by computing it again.
pub fn not_kept(name: &str, span: Span, why: &str) -> Diagnostic {
    let message = format!("`{name}` cannot be kept for later entries: {why}");
    Diagnostic::error(Code::E0410, message, span, "computing this again would repeat its effect")
        .with_help("bind what the effect gives first, and build on it in a `let` of its own")
}

/// The body of the entries.
struct Root<'p> {
    id: BodyId,
    body: &'p Body,
    instance: InstanceId,
    statements: &'p [Statement],
    file: einlang_source::FileId,
}

impl<'p> Root<'p> {
    fn of(resolved: &'p Resolved, typed: &Typed) -> Option<Root<'p>> {
        let module = resolved.program.modules.values().next()?;
        let id = module.body?;
        let body = &resolved.program.bodies[id];
        let instance = typed.modules.first().copied().flatten()?;
        match body.kind(body.value?) {
            ExprKind::Block(block) => {
                Some(Root { id, body, instance, statements: &block.statements, file: module.file })
            }
            _ => None,
        }
    }

    /// The statements of the current entry.
    fn current(&self) -> impl Iterator<Item = &'p Statement> {
        let (body, file) = (self.body, self.file);
        self.statements.iter().filter(move |statement| {
            statement_exprs(statement).first().is_some_and(|expr| body.span(*expr).file == file)
        })
    }
}

fn is_library(program: &Program, body: &Body) -> bool {
    let module = match body.owner {
        Owner::Module(module) => module,
        Owner::Def(def) => program.def(def).module,
    };
    program.modules[module].library
}

/// Which instances print, read or write.
struct Effects<'p> {
    typed: &'p Typed,
    /// Instances of which it is known that they do not.
    pure: Vec<bool>,
}

impl Effects<'_> {
    /// Whether evaluating expressions of an instance may have an effect. Functions of which only
    /// the signature is known count.
    fn of(&mut self, instance: InstanceId, body: &Body, roots: Vec<ExprId>) -> bool {
        let mut callees: Vec<Callee> = Vec::new();
        let calls = &self.typed.instance(instance).calls;
        visit(body, roots, &mut |expr, _| callees.extend(calls.get(&expr).cloned()));
        // Instances that call each other are looked at once.
        let mut seen: HashSet<InstanceId> = HashSet::new();
        while let Some(callee) = callees.pop() {
            match callee {
                Callee::Function(FnTy::Builtin(function)) if function.has_effect() => return true,
                Callee::Function(FnTy::Declared(..)) => return true,
                Callee::Function(_) => {}
                Callee::Instance(id) if !seen.insert(id) => {}
                Callee::Instance(id) if self.pure[id.index()] => {}
                Callee::Instance(id) => {
                    callees.extend(self.typed.instance(id).calls.values().cloned());
                }
            }
        }
        seen.iter().for_each(|id| self.pure[id.index()] = true);
        false
    }
}
