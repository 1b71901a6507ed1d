//! The order of a block's statements: what is read comes before what reads it, and bindings that
//! need each other form one recursive group.
//!
//! Statements are the nodes (all clauses of a binding are one), reads are the edges, and groups
//! are the strongly connected components, which come after all they read.

use einlang_source::map::HashMap;

use petgraph::algo::kosaraju_scc;
use petgraph::graphmap::DiGraphMap;

use super::walk::{self, Captures};
use crate::hir::*;

/// The groups of a block, each after all it reads.
pub(crate) fn order<'b>(
    program: &Program,
    body: BodyId,
    block: &'b Block,
    captures: &Captures,
) -> &'b [Group] {
    block.groups.get_or_init(|| find(program, body, &block.statements, captures))
}

fn find(
    program: &Program,
    body: BodyId,
    statements: &[Statement],
    captures: &Captures,
) -> Vec<Group> {
    let nodes = nodes(statements);
    let mut binder: HashMap<LocalId, usize> = HashMap::default();
    for (node, members) in nodes.iter().enumerate() {
        for local in members.iter().flat_map(|index| bound(&statements[*index])) {
            binder.insert(local, node);
        }
    }
    // A size belongs to the statement whose type names it first; the others come after.
    let mut sizes: Vec<Vec<LocalId>> = vec![Vec::new(); nodes.len()];
    for (node, members) in nodes.iter().enumerate() {
        for index in members {
            sizes[node].extend(walk::sizes(&program.bodies[body], &statements[*index]));
        }
        for size in &sizes[node] {
            binder.entry(*size).or_insert(node);
        }
    }
    let mut needs: DiGraphMap<usize, ()> = DiGraphMap::new();
    for (node, members) in nodes.iter().enumerate() {
        needs.add_node(node);
        let reads =
            members.iter().flat_map(|i| walk::reads(program, body, &statements[*i], captures));
        let mut read: Vec<usize> = reads.filter_map(|local| binder.get(&local).copied()).collect();
        let others = sizes[node].iter().filter_map(|size| binder.get(size).copied());
        read.extend(others.filter(|other| *other != node));
        // The order of groups, and with it what is reported, is the same in every run.
        read.sort_unstable();
        for read in read {
            needs.add_edge(node, read, ());
        }
    }
    let mut groups = Vec::new();
    for component in kosaraju_scc(&needs) {
        let recursive = match &component[..] {
            [node] => needs.contains_edge(*node, *node),
            _ => true,
        };
        let mut members: Vec<usize> =
            component.iter().flat_map(|node| nodes[*node].clone()).collect();
        members.sort_unstable();
        groups.push(Group { statements: members, recursive });
    }
    groups
}

/// What a statement binds for the statements around it.
pub(crate) fn bound(statement: &Statement) -> Vec<LocalId> {
    match statement {
        Statement::Clause(clause) => clause.targets.clone(),
        Statement::Let { pattern, .. } => {
            let mut locals = Vec::new();
            pattern_locals(pattern, &mut locals);
            locals
        }
        Statement::For { .. } | Statement::Expr(_) => Vec::new(),
    }
}

/// The bindings that a pattern makes.
pub(crate) fn pattern_locals(pattern: &Pattern, out: &mut Vec<LocalId>) {
    match &pattern.kind {
        PatternKind::Bind(local, inner) => {
            out.push(*local);
            if let Some(inner) = inner {
                pattern_locals(inner, out);
            }
        }
        PatternKind::Rest(local) => out.extend(*local),
        PatternKind::Or(parts)
        | PatternKind::Tuple(parts)
        | PatternKind::Array(parts)
        | PatternKind::Variant(_, parts) => parts.iter().for_each(|part| pattern_locals(part, out)),
        PatternKind::Struct { fields, .. } => {
            fields.iter().for_each(|(_, part)| pattern_locals(part, out));
        }
        PatternKind::Typed(inner, _) => pattern_locals(inner, out),
        PatternKind::Error
        | PatternKind::Wildcard
        | PatternKind::Literal(_)
        | PatternKind::Range { .. }
        | PatternKind::Value(_) => {}
    }
}

/// Statements, with the clauses that share a target together.
fn nodes(statements: &[Statement]) -> Vec<Vec<usize>> {
    let mut nodes: Vec<Vec<usize>> = Vec::new();
    let mut node_of: HashMap<LocalId, usize> = HashMap::default();
    for (index, statement) in statements.iter().enumerate() {
        let Statement::Clause(clause) = statement else {
            nodes.push(vec![index]);
            continue;
        };
        let known = clause.targets.iter().find_map(|target| node_of.get(target).copied());
        let node = known.unwrap_or(nodes.len());
        if node == nodes.len() {
            nodes.push(Vec::new());
        }
        nodes[node].push(index);
        for target in &clause.targets {
            node_of.insert(*target, node);
        }
    }
    nodes
}
