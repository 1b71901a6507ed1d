//! Two rules about order that need a whole block or a whole program.
//!
//! A further clause must not come after a use of the binding from outside its recursive group: the
//! use would see another value than the reader. And a function must not be called before the
//! bindings it captures exist.

use std::collections::{HashMap, HashSet};

use einlang_source::{Name, Span};

use super::scope::{Frame, Use};
use crate::context::Context;
use crate::errors;
use crate::hir::*;

/// A clause or plain `let` of a block: which statement it is and what it binds.
pub(super) struct Binds {
    pub(super) statement: u32,
    pub(super) locals: Vec<LocalId>,
    /// The span of the bound name, when it is a clause.
    pub(super) clause: Option<Span>,
}

/// Reports clauses that come after a use from outside the recursive group.
pub(super) fn report_late_clauses(
    cx: &mut Context,
    frame: &Frame,
    binds: &[Binds],
    name: impl Fn(&Context, LocalId) -> Name,
) {
    let bound_by: HashMap<u32, &Binds> = binds.iter().map(|b| (b.statement, b)).collect();
    let reaches = reachable(&frame.uses, &bound_by);
    for late in binds.iter().filter(|b| b.clause.is_some()) {
        for local in &late.locals {
            let outside = frame.uses.iter().find(|used| {
                used.local == *local
                    && used.statement < late.statement
                    && !in_group(used, *local, &bound_by, &reaches)
            });
            let further =
                binds.iter().any(|b| b.statement < late.statement && b.locals.contains(local));
            if let (Some(used), true, Some(span)) = (outside, further, late.clause) {
                let text = cx.spelling(name(cx, *local)).to_string();
                cx.report(errors::clause_after_use(&text, span, used.span));
            }
        }
    }
}

/// A use belongs to the group when the statement that makes it binds something the used binding
/// itself needs. What a closure does is never part of the group.
fn in_group(
    used: &Use,
    local: LocalId,
    bound_by: &HashMap<u32, &Binds>,
    reaches: &HashMap<LocalId, HashSet<LocalId>>,
) -> bool {
    let Some(user) = bound_by.get(&used.statement) else {
        return false;
    };
    let needs = reaches.get(&local);
    !used.in_closure
        && user.locals.iter().any(|u| *u == local || needs.is_some_and(|needs| needs.contains(u)))
}

/// Which bindings of the block each binding needs, directly or not.
fn reachable(uses: &[Use], bound_by: &HashMap<u32, &Binds>) -> HashMap<LocalId, HashSet<LocalId>> {
    let mut direct: HashMap<LocalId, Vec<LocalId>> = HashMap::new();
    for used in uses {
        if let Some(user) = bound_by.get(&used.statement) {
            for local in &user.locals {
                direct.entry(*local).or_default().push(used.local);
            }
        }
    }
    // Only bindings with several clauses are asked about, and there are few of them.
    let mut clauses: HashMap<LocalId, u32> = HashMap::new();
    for binds in bound_by.values().filter(|b| b.clause.is_some()) {
        binds.locals.iter().for_each(|local| *clauses.entry(*local).or_default() += 1);
    }
    let several = clauses.into_iter().filter(|(_, n)| *n > 1).map(|(local, _)| local);
    several.map(|local| (local, reachable_from(local, &direct))).collect()
}

fn reachable_from(start: LocalId, direct: &HashMap<LocalId, Vec<LocalId>>) -> HashSet<LocalId> {
    let mut seen = HashSet::new();
    let mut open = vec![start];
    while let Some(local) = open.pop() {
        for next in direct.get(&local).into_iter().flatten() {
            if seen.insert(*next) {
                open.push(*next);
            }
        }
    }
    seen
}

/// What is known of captures, in the order it was found.
#[derive(Clone, Copy, Debug)]
pub(super) enum Capture {
    /// A binding became visible.
    Bound { body: BodyId, local: LocalId, time: u32 },
    /// The body `user` uses a binding of the body around.
    Captures { user: BodyId, body: BodyId, local: LocalId },
    /// A function is referred to.
    Refers { body: BodyId, time: u32, def: DefId, span: Span },
}

/// Reports functions that are referred to before what they capture is bound.
pub(super) fn report_early_calls(cx: &mut Context, captures: &[Capture]) {
    let graph = CaptureGraph::new(cx, captures);
    let mut needs = HashMap::new();
    let mut early = Vec::new();
    for capture in captures {
        let Capture::Refers { body, time, def, span } = *capture else {
            continue;
        };
        let needed = needs.entry((def, body)).or_insert_with(|| graph.needs(def, body));
        let too_late =
            |local: &&LocalId| graph.bound.get(&(body, **local)).is_some_and(|b| *b >= time);
        if let Some(local) = needed.iter().find(too_late) {
            early.push((def, body, *local, span));
        }
    }
    for (def, body, local, call) in early {
        let bound = cx.program.bodies[body].locals[local].name;
        let function = cx.spelling(cx.program.defs[def].name.name).to_string();
        let name = cx.spelling(bound.name).to_string();
        cx.report(errors::captured_too_late(&function, &name, call, bound.span));
    }
}

struct CaptureGraph {
    bound: HashMap<(BodyId, LocalId), u32>,
    captured: HashMap<BodyId, Vec<(BodyId, LocalId)>>,
    calls: HashMap<BodyId, Vec<DefId>>,
    bodies: HashMap<DefId, BodyId>,
}

impl CaptureGraph {
    fn new(cx: &Context, captures: &[Capture]) -> CaptureGraph {
        let mut graph = CaptureGraph {
            bound: HashMap::new(),
            captured: HashMap::new(),
            calls: HashMap::new(),
            bodies: HashMap::new(),
        };
        for (id, body) in cx.program.bodies.iter() {
            if let Owner::Def(def) = body.owner {
                graph.bodies.insert(def, id);
            }
        }
        for capture in captures {
            match *capture {
                Capture::Bound { body, local, time } => {
                    graph.bound.entry((body, local)).or_insert(time);
                }
                Capture::Captures { user, body, local } => {
                    graph.captured.entry(user).or_default().push((body, local));
                }
                Capture::Refers { body, def, .. } => {
                    graph.calls.entry(body).or_default().push(def);
                }
            }
        }
        graph
    }

    /// The bindings of `body` that a function needs, through the functions it refers to.
    fn needs(&self, def: DefId, body: BodyId) -> Vec<LocalId> {
        let mut seen = HashSet::new();
        let mut open = vec![def];
        let mut needs = Vec::new();
        while let Some(def) = open.pop() {
            let Some(inner) = self.bodies.get(&def) else {
                continue;
            };
            if !seen.insert(def) {
                continue;
            }
            let captured = self.captured.get(inner).into_iter().flatten();
            needs.extend(captured.filter(|(owner, _)| *owner == body).map(|(_, local)| *local));
            open.extend(self.calls.get(inner).into_iter().flatten());
        }
        needs
    }
}
