//! `drop_unread`: memory that nobody reads is not there.
//!
//! Once loops are merged, what one clause computes for the next may have found its way without memory.
//! A buffer that is neither an output nor loaded anywhere loses its stores and its memory.

use rustc_hash::FxHashSet as HashSet;

use super::rewrite::blocks;
use crate::ir::{Block, BufferId, Kernel, Stmt, each_stmt};

/// Takes away what is stored and never read.
pub(super) fn drop_unread(kernel: &mut Kernel) {
    let mut read: HashSet<BufferId> = kernel.outputs.iter().copied().collect();
    read.extend((0..kernel.n_inputs).map(|input| BufferId(input as u32)));
    each_stmt(&kernel.body, &mut |stmt| match stmt {
        Stmt::Load { buffer, .. } | Stmt::Probe { buffer, .. } | Stmt::CheckShape(buffer, _) => {
            read.insert(*buffer);
        }
        Stmt::Copy { to, from } => read.extend([*to, *from]),
        Stmt::Loop(of) => read.extend(of.until.iter().flat_map(|until| &until.buffers)),
        _ => {}
    });
    if (0..kernel.buffers.len()).any(|at| !read.contains(&BufferId(at as u32))) {
        drop_in(&mut kernel.body, &read);
    }
}

fn drop_in(block: &mut Block, read: &HashSet<BufferId>) {
    block.stmts.retain(|stmt| match stmt {
        Stmt::Store { buffer, .. } | Stmt::Alloc(buffer) | Stmt::Free(buffer) => {
            read.contains(buffer)
        }
        _ => true,
    });
    for stmt in &mut block.stmts {
        blocks(stmt, &mut |block| drop_in(block, read));
    }
}
