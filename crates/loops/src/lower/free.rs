//! Memory is given back after the last statement of the kernel that mentions it.

use rustc_hash::FxHashMap as HashMap;

use crate::ir::{Block, BufferId, Combine, Kernel, Stmt};

/// Inserts `free` where a buffer is not mentioned any more.
pub(super) fn free_dead(kernel: &mut Kernel) {
    let mut last: HashMap<BufferId, usize> = HashMap::default();
    for (at, stmt) in kernel.body.stmts.iter().enumerate() {
        each_buffer(stmt, &mut |buffer| {
            last.insert(buffer, at);
        });
    }
    let mut ends: HashMap<usize, Vec<BufferId>> = HashMap::default();
    for (buffer, at) in last {
        let input = (buffer.0 as usize) < kernel.n_inputs;
        if !input && !kernel.outputs.contains(&buffer) {
            ends.entry(at).or_default().push(buffer);
        }
    }
    let mut stmts = Vec::with_capacity(kernel.body.stmts.len() + ends.len());
    for (at, stmt) in std::mem::take(&mut kernel.body.stmts).into_iter().enumerate() {
        stmts.push(stmt);
        if let Some(mut dead) = ends.remove(&at) {
            dead.sort_unstable();
            stmts.extend(dead.into_iter().map(Stmt::Free));
        }
    }
    kernel.body.stmts = stmts;
}

fn each_in(block: &Block, visit: &mut dyn FnMut(BufferId)) {
    block.stmts.iter().for_each(|stmt| each_buffer(stmt, visit));
}

/// Calls `visit` for every buffer that a statement mentions.
pub(crate) fn each_buffer(stmt: &Stmt, visit: &mut dyn FnMut(BufferId)) {
    match stmt {
        Stmt::Load { buffer, .. } | Stmt::Probe { buffer, .. } | Stmt::Store { buffer, .. } => {
            visit(*buffer);
        }
        Stmt::Alloc(buffer) | Stmt::Free(buffer) | Stmt::CheckShape(buffer, _) => visit(*buffer),
        Stmt::Copy { to, from } => {
            visit(*to);
            visit(*from);
        }
        Stmt::If { then, otherwise, .. } => {
            each_in(then, visit);
            each_in(otherwise, visit);
        }
        Stmt::Loop(of) => {
            each_in(&of.body, visit);
            if let Some(until) = &of.until {
                each_in(&until.condition, visit);
            }
        }
        Stmt::Fold(fold) => {
            let key = fold.key.as_ref().map(|key| &key.block);
            fold.guard.iter().chain([&fold.body]).chain(key).for_each(|b| each_in(b, visit));
            if let Combine::Block { block, .. } = &fold.combine {
                each_in(block, visit);
            }
        }
        Stmt::Team(block) => each_in(block, visit),
        Stmt::Op { .. }
        | Stmt::Index { .. }
        | Stmt::Bind { .. }
        | Stmt::Param { .. }
        | Stmt::Call { .. }
        | Stmt::Assert { .. }
        | Stmt::Trap(_)
        | Stmt::Barrier => {}
    }
}
