//! The types of a program as text, for `einlang ir --after types`: each instance with its
//! signature, and each of its bindings with its type.

use std::fmt::Write;

use einlang_source::Interner;

use super::{Instance, Typed};
use crate::hir::{LocalId, LocalKind, Owner, Program};

/// Prints the instances in the order in which they were found.
pub fn print(typed: &Typed, program: &Program, interner: &Interner) -> String {
    let mut out = String::new();
    for instance in typed.instances.iter().filter(|instance| !instance.uncalled) {
        let head = head(instance, program, interner);
        writeln!(out, "{head}").expect("invariant: writing to a string cannot fail");
        for line in bindings(instance, program, interner) {
            writeln!(out, "  {line}").expect("invariant: writing to a string cannot fail");
        }
    }
    out
}

fn head(instance: &Instance, program: &Program, interner: &Interner) -> String {
    let show = |ty: &super::Ty| ty.show(program, interner);
    let params: Vec<String> = instance.params.iter().map(show).collect();
    let signature = format!("({}) -> {}", params.join(", "), show(&instance.ret));
    if instance.lambda.is_some() {
        return format!("lambda{signature}");
    }
    match program.bodies[instance.body].owner {
        Owner::Module(module) => match program.modules[module].name {
            Some(name) => format!("module {}", interner.resolve(name.name)),
            None => "module crate".to_string(),
        },
        Owner::Def(def) => format!("{}{signature}", interner.resolve(program.defs[def].name.name)),
    }
}

/// The bindings that a reader wrote with `let`, in source order.
fn bindings(instance: &Instance, program: &Program, interner: &Interner) -> Vec<String> {
    let locals = &program.bodies[instance.body].locals;
    let written = |id: &LocalId| matches!(locals[*id].kind, LocalKind::Let | LocalKind::Indexed);
    let mut ids: Vec<LocalId> = instance.locals.keys().filter(written).collect();
    ids.sort_by_key(|id| locals[*id].name.span.start);
    let line = |id: &LocalId| {
        let name = interner.resolve(locals[*id].name.name);
        format!("{name}: {}", instance.local(*id).show(program, interner))
    };
    ids.iter().map(line).collect()
}
