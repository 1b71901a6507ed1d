//! The order of statements in a block.
//!
//! Statements run in source order as far as their effects go; clauses of one binding belong
//! together, and a name may mean a bracketed binding further down. Units are therefore taken in
//! the order of the source among those whose names are defined; bindings that read each other
//! make one unit.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::Lower;
use super::plain::plain_targets;
use super::unsupported;
use super::value::R;
use crate::hir::{Clause, LocalId, Pattern, PatternKind, Statement};
use crate::types::walk;

/// What is lowered together.
#[derive(Debug)]
pub(super) enum Unit {
    /// A statement, by position.
    One(usize),
    /// Bindings that read each other: their clauses, by position.
    Clauses(Vec<usize>),
}

impl<'p> Lower<'p> {
    pub(super) fn units(&mut self, statements: &'p [Statement]) -> R<Vec<Unit>> {
        if !statements.iter().any(|s| matches!(s, Statement::Clause(_))) {
            return Ok((0..statements.len()).map(Unit::One).collect());
        }
        let nodes = nodes(statements);
        let mut owner: HashMap<LocalId, usize> = HashMap::new();
        for (node, members) in nodes.iter().enumerate() {
            for at in members {
                defined(&statements[*at], &mut |local| {
                    owner.insert(local, node);
                });
            }
        }
        let mut edges: Vec<HashSet<usize>> = vec![HashSet::new(); nodes.len()];
        let mut effect: Option<usize> = None;
        for (node, members) in nodes.iter().enumerate() {
            for at in members {
                let statement = &statements[*at];
                let reads = walk::reads(self.program, self.frame.body, statement, &self.captures);
                edges[node].extend(reads.iter().filter_map(|local| owner.get(local)));
                if !matches!(statement, Statement::Let { .. } | Statement::Clause(_)) {
                    edges[node].extend(effect.replace(node).filter(|before| *before != node));
                }
            }
        }
        let parts = components(&edges);
        self.sorted(statements, &nodes, &edges, &parts)
    }

    /// A statement as a clause.
    pub(super) fn clause_of(&self, statement: &'p Statement) -> Option<&'p Clause> {
        match statement {
            Statement::Clause(clause) => Some(clause),
            _ => {
                let first = plain_targets(statement)?.first().copied()?;
                self.plain.get(&(self.frame.body, first))
            }
        }
    }

    fn sorted(
        &self,
        statements: &'p [Statement],
        nodes: &[Vec<usize>],
        edges: &[HashSet<usize>],
        parts: &[Vec<usize>],
    ) -> R<Vec<Unit>> {
        let mut part_of = vec![0; nodes.len()];
        for (part, members) in parts.iter().enumerate() {
            members.iter().for_each(|node| part_of[*node] = part);
        }
        let mut waits: Vec<HashSet<usize>> = vec![HashSet::new(); parts.len()];
        let mut wakes: Vec<Vec<usize>> = vec![Vec::new(); parts.len()];
        for (node, to) in edges.iter().enumerate() {
            for to in to {
                let (from, to) = (part_of[node], part_of[*to]);
                if from != to && waits[from].insert(to) {
                    wakes[to].push(from);
                }
            }
        }
        let position = |part: usize| {
            let members = parts[part].iter().flat_map(|node| &nodes[*node]);
            members.copied().max().unwrap_or(0)
        };
        let mut ready: BTreeSet<(usize, usize)> =
            (0..parts.len()).filter(|p| waits[*p].is_empty()).map(|p| (position(p), p)).collect();
        let mut units = Vec::with_capacity(parts.len());
        while let Some((_, part)) = ready.pop_first() {
            let mut members: Vec<usize> =
                parts[part].iter().flat_map(|node| nodes[*node].clone()).collect();
            members.sort_unstable();
            let is_clause = |at: &usize| self.clause_of(&statements[*at]).is_some();
            units.push(match &members[..] {
                [one] if !matches!(statements[*one], Statement::Clause(_)) => Unit::One(*one),
                _ if members.iter().all(is_clause) => Unit::Clauses(members),
                _ => return unsupported(self.here, "plain bindings that depend on each other"),
            });
            for next in &wakes[part] {
                waits[*next].remove(&part);
                if waits[*next].is_empty() {
                    ready.insert((position(*next), *next));
                }
            }
        }
        Ok(units)
    }
}

/// Statements by themselves, and the clauses of one binding (or of several that share a clause)
/// together.
fn nodes(statements: &[Statement]) -> Vec<Vec<usize>> {
    let mut nodes: Vec<Vec<usize>> = Vec::new();
    let mut node_of: HashMap<LocalId, usize> = HashMap::new();
    for (at, statement) in statements.iter().enumerate() {
        let Statement::Clause(clause) = statement else {
            nodes.push(vec![at]);
            continue;
        };
        let mut known: Vec<usize> =
            clause.targets.iter().filter_map(|local| node_of.get(local).copied()).collect();
        known.sort_unstable();
        known.dedup();
        let node = match known.first() {
            Some(node) => *node,
            None => {
                nodes.push(Vec::new());
                nodes.len() - 1
            }
        };
        for other in known.into_iter().skip(1) {
            let moved = std::mem::take(&mut nodes[other]);
            nodes[node].extend(moved);
            node_of.values_mut().filter(|n| **n == other).for_each(|n| *n = node);
        }
        nodes[node].push(at);
        node_of.extend(clause.targets.iter().map(|local| (*local, node)));
    }
    nodes.retain(|node| !node.is_empty());
    nodes
}

pub(super) fn defined(statement: &Statement, f: &mut dyn FnMut(LocalId)) {
    match statement {
        Statement::Let { pattern, .. } => pattern_locals(pattern, f),
        Statement::Clause(clause) => clause.targets.iter().for_each(|local| f(*local)),
        Statement::For { .. } | Statement::Expr(_) => {}
    }
}

/// The names that a pattern binds.
pub(super) fn pattern_locals(pattern: &Pattern, f: &mut dyn FnMut(LocalId)) {
    match &pattern.kind {
        PatternKind::Bind(local, inner) => {
            f(*local);
            inner.iter().for_each(|inner| pattern_locals(inner, f));
        }
        PatternKind::Rest(Some(local)) => f(*local),
        PatternKind::Typed(inner, _) => pattern_locals(inner, f),
        PatternKind::Or(items)
        | PatternKind::Tuple(items)
        | PatternKind::Array(items)
        | PatternKind::Variant(_, items) => items.iter().for_each(|item| pattern_locals(item, f)),
        PatternKind::Struct { fields, .. } => {
            fields.iter().for_each(|(_, item)| pattern_locals(item, f));
        }
        _ => {}
    }
}

fn components(edges: &[HashSet<usize>]) -> Vec<Vec<usize>> {
    let mut graph = petgraph::graph::DiGraph::<(), (), usize>::with_capacity(edges.len(), 0);
    let nodes: Vec<_> = edges.iter().map(|_| graph.add_node(())).collect();
    for (from, to) in edges.iter().enumerate() {
        for to in to {
            graph.add_edge(nodes[from], nodes[*to], ());
        }
    }
    let parts = petgraph::algo::tarjan_scc(&graph);
    parts.into_iter().map(|part| part.into_iter().map(|node| node.index()).collect()).collect()
}
