//! What a session must know of an entry to go on after it: which bindings it makes, and which of
//! them cannot be handed to later entries as values.
//!
//! A binding is handed over as a value unless it is more than that: functions and ranges are no
//! data, a later derivative may ask how it came about, and so on. Such bindings are computed again
//! where a later entry needs them, and that is possible only if computing them has no effect.

use einlang_source::map::HashSet;

use einlang_source::{Code, Diagnostic, Span};

use crate::Resolved;
use crate::builtins::Function;
use crate::hir::*;
use crate::types::walk::{Captures, reads, sizes, statement_exprs, visit};
use crate::types::{Callee, FnTy, InstanceId, Ty, Typed, groups};

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
    /// Computing it does nothing of that but print.
    pub prints: bool,
    /// It reads other bindings of the session.
    pub reads: bool,
}

/// The statements of the session that bind names, in order.
pub fn made(resolved: &Resolved, typed: &Typed) -> Vec<Made> {
    let Some(root) = Root::of(resolved, typed) else { return Vec::new() };
    let place = |local: LocalId| root.body[local].name.span;
    let captures = Captures::new(&resolved.program);
    let is_lasting = |function: Function| function.has_effect() && function != Function::Print;
    let mut effects = Effects::new(typed, Function::has_effect);
    let mut lasting = Effects::new(typed, is_lasting);
    let mut all = Vec::new();
    for statement in root.statements {
        let bound = groups::bound(statement);
        let (span, until) = match statement {
            Statement::Let { value, .. } => (root.body.span(*value), false),
            Statement::Clause(clause) => (clause.span, clause.until.is_some()),
            _ => continue,
        };
        let read = reads(&resolved.program, root.id, statement, &captures);
        let effect = effects.of(root.instance, root.body, statement_exprs(statement));
        let lasts = lasting.of(root.instance, root.body, statement_exprs(statement));
        all.push(Made {
            sizes: sizes(root.body, statement).into_iter().map(place).collect(),
            span,
            until,
            effect,
            prints: effect && !lasts,
            reads: read.iter().any(|local| !bound.contains(local)),
            names: bound.into_iter().map(place).collect(),
        });
    }
    all
}

/// The bindings of the session that derivatives look at, by the places of their names.
#[derive(Clone, Debug, Default)]
pub struct Differentiated {
    /// Targets, and all that they were computed from, up to the parameters.
    pub through: HashSet<Span>,
    /// Parameters.
    pub by: HashSet<Span>,
}

/// What the requests of the current entry look at, and those of functions and differentials, which
/// are computed where they are used.
pub fn differentiated(resolved: &Resolved, typed: &Typed) -> Differentiated {
    let Some(root) = Root::of(resolved, typed) else { return Differentiated::default() };
    let program = &resolved.program;
    let captures = Captures::new(program);
    let mut found = Differentiated::default();
    let place = |local: &LocalId| root.body[*local].name.span;
    for (id, body) in program.bodies.iter() {
        let roots = match id == root.id {
            true => root.live(typed).flat_map(statement_exprs).collect(),
            false if is_library(program, body) => continue,
            false => body.value.into_iter().collect(),
        };
        for request in requests(body, roots) {
            let params = root.named(id, body, request.params);
            let mut open = root.named(id, body, request.targets);
            let mut reached: HashSet<LocalId> = HashSet::default();
            while let Some(local) = open.pop() {
                if !reached.insert(local) {
                    continue;
                }
                let definitions = root
                    .statements
                    .iter()
                    .filter(|statement| groups::bound(statement).contains(&local));
                let read = definitions.flat_map(|s| reads(program, root.id, s, &captures));
                open.extend(read.filter(|local| !params.contains(local)));
            }
            found.through.extend(reached.iter().map(place));
            found.by.extend(params.iter().map(place));
        }
    }
    found
}

/// `targets / @params`; what has no divisor is a target too.
struct Request {
    targets: Vec<ExprId>,
    params: Vec<ExprId>,
}

fn requests(body: &Body, roots: Vec<ExprId>) -> Vec<Request> {
    let differentials = |roots: Vec<ExprId>| {
        let mut found = Vec::new();
        visit(body, roots, &mut |expr, kind| {
            if let ExprKind::Differential(of) = kind {
                found.push((expr, *of));
            }
        });
        found
    };
    let mut all = Vec::new();
    let mut seen: HashSet<ExprId> = HashSet::default();
    visit(body, roots.clone(), &mut |_, kind| {
        if let ExprKind::Binary(BinaryOp::Div, left, right) = kind
            && let ExprKind::Differential(by) = body.kind(*right)
        {
            let above = differentials(vec![*left]);
            seen.extend(above.iter().map(|(expr, _)| *expr).chain([*right]));
            let targets = above.into_iter().map(|(_, of)| of).collect();
            all.push(Request { targets, params: vec![*by] });
        }
    });
    let rest = differentials(roots).into_iter().filter(|(expr, _)| !seen.contains(expr));
    all.extend(rest.map(|(_, of)| Request { targets: vec![of], params: Vec::new() }));
    all
}

/// The error for a binding that can be handed over neither as a value nor by computing it again.
pub fn not_kept(name: &str, span: Span, why: &str) -> Diagnostic {
    let message = format!("`{name}` cannot be kept for later entries: {why}");
    Diagnostic::error(Code::E0410, message, span, "computing this again would repeat its effect")
        .with_help("bind what the effect gives first, and build on it in a `let` of its own")
}

/// The error for a derivative that looks through a binding which cannot be computed again.
pub fn not_differentiated(name: &str, span: Span) -> Diagnostic {
    let message =
        format!("no derivative can look through `{name}`, which was computed with an effect");
    let label = "computing this again would repeat its effect";
    Diagnostic::error(Code::E0410, message, span, label)
        .with_help(format!("define `{name}` again without printing, reading or writing"))
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

    /// The statements of the current entry, and those that are never handed over as values.
    fn live(&self, typed: &'p Typed) -> impl Iterator<Item = &'p Statement> {
        let (body, file, types) = (self.body, self.file, typed.instance(self.instance));
        let is_code =
            |local: &LocalId| matches!(types.local(*local), Ty::Differential(_) | Ty::Fn(_));
        self.statements.iter().filter(move |statement| {
            let first = statement_exprs(statement).first().map(|expr| body.span(*expr).file);
            first == Some(file) || groups::bound(statement).iter().any(is_code)
        })
    }

    /// The bindings of the session that expressions of a body name.
    fn named(&self, id: BodyId, body: &Body, exprs: Vec<ExprId>) -> Vec<LocalId> {
        let mut found = Vec::new();
        visit(body, exprs, &mut |_, kind| match kind {
            ExprKind::Name(Res::Local(local)) if id == self.id => found.push(*local),
            ExprKind::Name(Res::Outer(of, local)) if *of == self.id => found.push(*local),
            _ => {}
        });
        found
    }
}

fn is_library(program: &Program, body: &Body) -> bool {
    let module = match body.owner {
        Owner::Module(module) => module,
        Owner::Def(def) => program.def(def).module,
    };
    program.modules[module].library
}

/// Which instances have some kind of effect.
struct Effects<'p> {
    typed: &'p Typed,
    is_effect: fn(Function) -> bool,
    /// Instances of which it is known that they do not.
    pure: Vec<bool>,
}

impl<'p> Effects<'p> {
    fn new(typed: &'p Typed, is_effect: fn(Function) -> bool) -> Effects<'p> {
        Effects { typed, is_effect, pure: vec![false; typed.instances.len()] }
    }

    /// Whether evaluating expressions of an instance may have an effect. Functions of which only
    /// the signature is known count.
    fn of(&mut self, instance: InstanceId, body: &Body, roots: Vec<ExprId>) -> bool {
        let mut callees: Vec<Callee> = Vec::new();
        let calls = &self.typed.instance(instance).calls;
        visit(body, roots, &mut |expr, _| callees.extend(calls.get(&expr).cloned()));
        // Instances that call each other are looked at once.
        let mut seen: HashSet<InstanceId> = HashSet::default();
        while let Some(callee) = callees.pop() {
            match callee {
                Callee::Function(FnTy::Builtin(function)) if (self.is_effect)(function) => {
                    return true;
                }
                Callee::Function(FnTy::Declared(..) | FnTy::Python(_)) => return true,
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
