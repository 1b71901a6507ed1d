//! The outputs that a program can be asked for, by name.

use einlang_sema::Resolved;
use einlang_sema::hir::{
    DefKind, ExprKind, LocalId, Namespace, Owner, Pattern, PatternKind, Res, Statement,
};
use einlang_source::nearest;

use crate::pipeline::Compilation;

/// An output that was asked for and that the program does not have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownOutput {
    /// One sentence.
    pub message: String,
    /// What to ask for instead.
    pub help: String,
}

/// Whether the root module has a function `main`, whose value is then that of the program.
pub(super) fn has_main(compilation: &Compilation) -> bool {
    let Resolved { program, interner, .. } = &compilation.resolved;
    let Some(root) = program.modules.values().next() else { return false };
    root.scope.entries.iter().any(|((name, space), entry)| match entry.res {
        Res::Def(def) => {
            *space == Namespace::Values
                && interner.resolve(*name) == "main"
                && matches!(program.def(def).kind, DefKind::Fn(_))
        }
        _ => false,
    })
}

/// The first of some names that is no output of a program.
pub(crate) fn unknown(compilation: &Compilation, asked: &[String]) -> Option<UnknownOutput> {
    let names = names(compilation);
    let name = asked.iter().find(|name| !names.contains(name))?;
    let listed: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    let help = match (nearest(name, names.iter().map(String::as_str)), names.is_empty()) {
        (Some(near), _) => format!("did you mean `{near}`?"),
        (None, true) => "the program has no outputs".to_owned(),
        (None, false) => format!("its outputs are {}", listed.join(", ")),
    };
    Some(UnknownOutput { message: format!("the program has no output `{name}`"), help })
}

/// The names of all outputs: `main`, or what the top level binds.
fn names(compilation: &Compilation) -> Vec<String> {
    if has_main(compilation) {
        return vec!["main".to_owned()];
    }
    let Resolved { program, interner, .. } = &compilation.resolved;
    let root = program.modules.ids().next();
    let is_root = |owner: Owner| matches!(owner, Owner::Module(module) if Some(module) == root);
    let Some(body) = program.bodies.values().find(|body| is_root(body.owner)) else {
        return Vec::new();
    };
    let Some(ExprKind::Block(block)) = body.value.map(|value| body.kind(value)) else {
        return Vec::new();
    };
    let mut locals: Vec<LocalId> = Vec::new();
    for statement in &block.statements {
        match statement {
            Statement::Let { pattern, .. } => pattern_locals(pattern, &mut locals),
            Statement::Clause(clause) => locals.extend(&clause.targets),
            _ => {}
        }
    }
    let mut names: Vec<String> = Vec::new();
    for local in locals {
        let name = interner.resolve(body[local].name.name);
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}

/// The names that a pattern of a `let` binds.
fn pattern_locals(pattern: &Pattern, found: &mut Vec<LocalId>) {
    match &pattern.kind {
        PatternKind::Bind(local, inner) => {
            found.push(*local);
            inner.iter().for_each(|inner| pattern_locals(inner, found));
        }
        PatternKind::Rest(Some(local)) => found.push(*local),
        PatternKind::Typed(inner, _) => pattern_locals(inner, found),
        PatternKind::Tuple(items) | PatternKind::Array(items) => {
            items.iter().for_each(|item| pattern_locals(item, found));
        }
        PatternKind::Struct { fields, .. } => {
            fields.iter().for_each(|(_, item)| pattern_locals(item, found));
        }
        _ => {}
    }
}
