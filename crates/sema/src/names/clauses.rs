//! Two rules about order that need a whole block or a whole program.
//!
//! A further clause must not come after a use of the binding from outside its recursive group: the
//! use would see another value than the reader. And a function must not be called before the
//! bindings it captures exist.

use einlang_source::map::{HashMap, HashSet};

use einlang_source::{Id, Name, Span};
use petgraph::algo::kosaraju_scc;
use petgraph::graphmap::DiGraphMap;

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
    let groups = groups(&frame.uses, &bound_by);
    let outside = first_outside_uses(&frame.uses, &bound_by, &groups);
    let mut begun = HashSet::default();
    for bind in binds {
        let Some(span) = bind.clause else { continue };
        for local in &bind.locals {
            let first = begun.insert(*local);
            if let Some(used) = outside.get(local).filter(|used| used.statement < bind.statement)
                && !first
            {
                let text = cx.spelling(name(cx, *local)).to_string();
                cx.report(errors::clause_after_use(&text, span, used.span));
            }
        }
    }
}

/// The first use of each binding by a statement that is not part of its recursive group. What a
/// closure does is never part of it.
fn first_outside_uses<'a>(
    uses: &'a [Use],
    bound_by: &HashMap<u32, &Binds>,
    groups: &HashMap<LocalId, usize>,
) -> HashMap<LocalId, &'a Use> {
    let mut first: HashMap<LocalId, &Use> = HashMap::default();
    for used in uses {
        let group = groups.get(&used.local);
        let user = bound_by.get(&used.statement);
        let inside = user.is_some_and(|user| {
            user.locals
                .iter()
                .any(|l| *l == used.local || (group.is_some() && groups.get(l) == group))
        });
        if used.in_closure || !inside {
            let earliest = first.entry(used.local).or_insert(used);
            if used.statement < earliest.statement {
                *earliest = used;
            }
        }
    }
    first
}

/// Which bindings of the block need each other: a number per strongly connected component.
fn groups(uses: &[Use], bound_by: &HashMap<u32, &Binds>) -> HashMap<LocalId, usize> {
    let mut graph = DiGraphMap::<usize, ()>::new();
    for used in uses {
        for user in bound_by.get(&used.statement).into_iter().flat_map(|user| &user.locals) {
            graph.add_edge(user.index(), used.local.index(), ());
        }
    }
    let components = kosaraju_scc(&graph).into_iter().enumerate();
    let numbered = components.flat_map(|(number, component)| {
        component.into_iter().map(move |local| (Id::from_index(local), number))
    });
    numbered.collect()
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
    let latest = latest_captures(cx, captures);
    let mut early = Vec::new();
    for capture in captures {
        let Capture::Refers { body, time, def, span } = *capture else { continue };
        match latest.get(&def).and_then(|needs| needs.get(&body)) {
            Some((bound, local)) if *bound >= time => early.push((def, body, *local, span)),
            _ => {}
        }
    }
    for (def, body, local, call) in early {
        let bound = cx.program.bodies[body].locals[local].name;
        let function = cx.spelling(cx.program.defs[def].name.name).to_string();
        let name = cx.spelling(bound.name).to_string();
        cx.report(errors::captured_too_late(&function, &name, call, bound.span));
    }
}

/// Per body around: the captured binding of it that is bound last, with its time.
type Needs = HashMap<BodyId, (u32, LocalId)>;

/// What each function needs of the bodies around it, through the functions it refers to.
fn latest_captures(cx: &Context, captures: &[Capture]) -> HashMap<DefId, Needs> {
    let owner = |body: BodyId| match cx.program.bodies[body].owner {
        Owner::Def(def) => Some(def),
        Owner::Module(_) => None,
    };
    let mut bound = HashMap::default();
    let mut latest: HashMap<DefId, Needs> = HashMap::default();
    let mut calls = DiGraphMap::<usize, ()>::new();
    for capture in captures {
        match *capture {
            Capture::Bound { body, local, time } => {
                bound.entry((body, local)).or_insert(time);
            }
            Capture::Captures { user, body, local } => {
                if let (Some(def), Some(time)) = (owner(user), bound.get(&(body, local))) {
                    need(latest.entry(def).or_default(), body, (*time, local));
                }
            }
            Capture::Refers { body, def, .. } => {
                if let Some(user) = owner(body) {
                    calls.add_edge(user.index(), def.index(), ());
                }
            }
        }
    }
    // Components come callees first, so what a callee needs is known when it is asked for.
    for component in kosaraju_scc(&calls) {
        share(&component, &calls, &mut latest);
    }
    latest
}

/// Functions that call each other need the same; they also need what their callees need.
fn share(component: &[usize], calls: &DiGraphMap<usize, ()>, latest: &mut HashMap<DefId, Needs>) {
    let callees = component.iter().flat_map(|def| calls.neighbors(*def));
    let involved = component.iter().copied().chain(callees);
    let mut shared = Needs::default();
    for def in involved {
        for (body, last) in latest.get(&Id::from_index(def)).into_iter().flatten() {
            need(&mut shared, *body, *last);
        }
    }
    if !shared.is_empty() {
        for def in component {
            latest.insert(Id::from_index(*def), shared.clone());
        }
    }
}

fn need(needs: &mut Needs, body: BodyId, last: (u32, LocalId)) {
    let known = needs.entry(body).or_insert(last);
    *known = (*known).max(last);
}
