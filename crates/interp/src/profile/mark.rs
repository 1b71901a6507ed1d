//! Marks: calls at the beginning of each nest of a kernel, which the surroundings take for the time.

use einlang_loops::ir::{Kernel, Stmt};
use einlang_loops::schedule::{Compute, Schedule};
use einlang_tir::types::{Ident, Loc};

/// The first letters of a mark's name; no function of a program has such a name.
const MARK: &str = "profile ";

/// The nests between marks.
#[derive(Debug)]
pub(crate) struct Marked {
    /// The statements of each part.
    pub(crate) parts: Vec<Vec<Stmt>>,
    /// The tensors that are computed where they are read.
    pub(crate) fused: Vec<String>,
}

/// A kernel that tells when it comes to a nest.
pub(crate) fn marked(kernel: &Kernel, schedule: &Schedule) -> (Kernel, Marked) {
    let mut with = Kernel { body: Default::default(), ..kernel.clone() };
    with.body.results.clone_from(&kernel.body.results);
    let site = with.add_site("a mark", Loc::default());
    let mark = |number: usize| Stmt::Call {
        results: Vec::new(),
        function: Ident::new(&format!("{MARK}{number}")),
        args: Vec::new(),
        site,
    };
    let mut parts: Vec<Vec<Stmt>> = Vec::new();
    for stmt in &kernel.body.stmts {
        if is_nest(stmt) || parts.is_empty() {
            with.body.stmts.push(mark(parts.len()));
            parts.push(Vec::new());
        }
        if let Some(part) = parts.last_mut() {
            part.push(stmt.clone());
        }
        with.body.stmts.push(stmt.clone());
    }
    with.body.stmts.push(mark(parts.len()));
    let tensors = schedule.groups.iter().flat_map(|group| &group.tensors);
    let fused = tensors.filter(|tensor| tensor.compute == Compute::AtReads);
    let fused = fused.map(|tensor| tensor.name.as_str().to_owned()).collect();
    (with, Marked { parts, fused })
}

/// Whether a statement is a nest, if under a condition.
fn is_nest(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Loop(_) | Stmt::Fold(_) | Stmt::Store { .. } => true,
        Stmt::If { results, then, otherwise, .. } => {
            results.is_empty() && then.stmts.iter().chain(&otherwise.stmts).any(is_nest)
        }
        _ => false,
    }
}

/// The part that a mark begins.
pub(crate) fn part_of(function: &Ident) -> Option<usize> {
    function.as_str().strip_prefix(MARK)?.parse().ok()
}
