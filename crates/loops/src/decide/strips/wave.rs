//! `run_strips`: the strips of a grid follow each other as a wave, and each runs by its diagonals.
//!
//! A thread takes a whole strip and stays behind the one that has the strip above, of which it reads the edge:
//! in terms of the diagonals of the whole grid, what is read was written one diagonal ago. It waits once for
//! [`DIAGONALS`] of them.

use einlang_tir::module::{Binding, Group, Module};
use einlang_tir::order::{Form, Statement, dependences};
use einlang_tir::types::Ident;

use super::super::fuse::statements;
use super::super::legal::group_is_legal;
use super::super::windows::{Observers, fold_storage, needed_windows};
use super::super::work::Works;
use super::lanes_of_diagonals;
use crate::schedule::{GroupSchedule, Layout, Nest, Role};

/// So many diagonals of a strip are run before anybody waits.
const DIAGONALS: i64 = 512;

/// The memory of a strip is followed by as much that nobody uses: what a processor fetches ahead at its end
/// would be taken away from the thread that has the next strip.
const APART: i64 = 2;

/// What the names of edges have in common.
const EDGE: &str = ".edge";

/// The name of the edges of a tensor.
pub(super) fn edge_of(tensor: &Ident) -> Ident {
    Ident::new(&format!("{}{EDGE}", tensor.as_str()))
}

fn is_edge(binding: &Binding) -> bool {
    binding.axes.len() == 2 && binding.name.as_str().ends_with(EDGE)
}

/// The schedule of a grid in strips, if it is one.
pub(in super::super) fn run_strips(
    module: &Module,
    group: &Group,
    decided: &GroupSchedule,
    works: &Works<'_>,
    observers: &Observers,
) -> Option<GroupSchedule> {
    let of = |s: Statement| &group.bindings[s.binding];
    let rows = rows_of(group)?;
    let (edges, mut order): (Vec<Statement>, Vec<Statement>) =
        statements(&decided.nest).into_iter().partition(|s| is_edge(of(*s)));
    order.extend(edges);
    let forms = |strip: bool| -> Vec<(Statement, Form)> {
        let form = |s: Statement| match (strip, is_edge(of(s))) {
            (true, true) => Form { coefficients: vec![1, 0], offset: 0 },
            (true, false) => Form { coefficients: vec![1, 0, 0], offset: 0 },
            (false, true) => Form { coefficients: vec![rows, 1], offset: rows - 1 },
            (false, false) => Form { coefficients: vec![rows, 1, 1], offset: 0 },
        };
        order.iter().map(|s| (*s, form(*s))).collect()
    };
    let width = lanes_of_diagonals(group, works);
    let points = |s: &Statement| Nest::Points {
        statement: *s,
        axes: (0..of(*s).axes.len()).collect(),
        role: Role::Lane(width),
    };
    let inner = Box::new(Nest::Phases(order.iter().map(points).collect()));
    let along = |tile, inner| Nest::Loop { forms: forms(false), tile, role: Role::Seq, inner };
    let inner = Box::new(along(Some(DIAGONALS), Box::new(along(None, inner))));
    let mut changed = decided.clone();
    changed.nest = Nest::Loop { forms: forms(true), tile: Some(1), role: Role::Wave, inner };
    for (tensor, binding) in changed.tensors.iter_mut().zip(&group.bindings) {
        tensor.storage = vec![Layout::Full; binding.axes.len()];
        if !is_edge(binding) {
            tensor.map = vec![vec![APART, 0, 0], vec![rows, 1, 1], vec![0, 1, 0]];
        }
    }
    let (facts, dependences) = (module.facts(), dependences(module, group));
    fold_storage(group, &mut changed, &dependences, observers, &facts);
    let windows = needed_windows(group, &changed, &dependences, observers, &facts);
    for ((tensor, windows), binding) in changed.tensors.iter_mut().zip(windows).zip(&group.bindings)
    {
        let of_strips = windows.into_iter().find(|(axis, _)| *axis == 0 && is_edge(binding));
        if let Some((_, width)) = of_strips {
            tensor.storage[0] = Layout::Mod(width);
        }
    }
    let folded = changed.tensors.iter().all(|t| t.storage.iter().any(|l| *l != Layout::Full));
    (folded && group_is_legal(module, group, &changed, observers, &facts)).then_some(changed)
}

/// How many rows the strips of a group have, if it is a grid in strips.
fn rows_of(group: &Group) -> Option<i64> {
    let (edges, tensors): (Vec<&Binding>, Vec<&Binding>) =
        group.bindings.iter().partition(|binding| is_edge(binding));
    let rows = |binding: &&Binding| match &binding.axes[..] {
        [_, rows, _] => rows.dim.extent.as_constant(),
        _ => None,
    };
    let first = rows(tensors.first()?)?;
    let same = tensors.iter().all(|binding| rows(binding) == Some(first));
    (same && !edges.is_empty() && group.until.is_none()).then_some(first)
}
