//! Which functions rules are for: a rule belongs to one function, a function has at most one rule,
//! and both have the same parameters. A rule that is wrong in this is for nothing from here on.

use einlang_source::map::HashMap;
use einlang_source::{Diagnostic, Span};

use crate::context::Context;
use crate::errors;
use crate::hir::*;

/// Reports the rules that cannot be those of their functions.
pub(super) fn report(cx: &mut Context) {
    let mut firsts: HashMap<DefId, Span> = HashMap::default();
    let mut found: Vec<(DefId, Diagnostic)> = Vec::new();
    for (id, def) in cx.program.defs.iter() {
        let DefKind::Rule(rule) = &def.kind else { continue };
        let name = cx.spelling(def.name.name);
        let span = def.name.span;
        let wrong = match rule.target {
            Res::Error => None,
            Res::Def(target) => match &cx.program.def(target).kind {
                DefKind::Fn(function) => match firsts.insert(target, span) {
                    Some(first) => Some(errors::second_rule(name, span, first)),
                    None => mismatch(cx, rule, &cx.program.bodies[function.body], span, name),
                },
                _ => Some(errors::rule_of_no_function(name, span)),
            },
            Res::Builtin(_) => Some(errors::rule_of_builtin(name, span)),
            _ => Some(errors::rule_of_no_function(name, span)),
        };
        found.extend(wrong.map(|diagnostic| (id, diagnostic)));
    }
    for (id, diagnostic) in found {
        cx.report(diagnostic);
        if let DefKind::Rule(rule) = &mut cx.program.defs[id].kind {
            rule.target = Res::Error;
        }
    }
}

/// A rule with more or fewer parameters than its function.
fn mismatch(
    cx: &Context,
    rule: &Rule,
    function: &Body,
    span: Span,
    name: &str,
) -> Option<Diagnostic> {
    let n_own = cx.program.bodies[rule.body].params.len() - usize::from(rule.reverse);
    let wanted: Vec<String> = function
        .params
        .iter()
        .map(|param| match param.pattern.kind {
            PatternKind::Bind(local, None) => cx.spelling(function[local].name.name).to_string(),
            _ => "_".to_owned(),
        })
        .collect();
    let Owner::Def(owner) = function.owner else { return None };
    let declared = cx.program.def(owner).name.span;
    (n_own != wanted.len()).then(|| errors::rule_arity(name, &wanted, n_own, span, declared))
}
