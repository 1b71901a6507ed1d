//! `leave_unset`: memory that is read only where it was stored need not be zero.
//!
//! Lowering says which tensors are read only at points that have a clause, and the order of points stores each
//! before it is read. Of these, a buffer of floats keeps the word `unset` if no subscript that it is read at
//! is data; what vectors load beside that counts nowhere. Others keep it if, in the block that gives them
//! memory, all statements that store to them come before all that load from them: what they hold may be a
//! subscript, or be read in an order that is tested. Nothing else may touch either; a question whether a point is there
//! looks at extents alone, unless the buffer has marks. Results that nothing
//! loads are the most common case: to clear them would cost as much as to store them.

use rustc_hash::FxHashMap as HashMap;

use crate::ir::{Block, BufferId, Kernel, Stmt, Subscript, blocks, each_stmt};

/// Takes the word `unset` from buffers that may be read before they are stored.
pub(super) fn leave_unset(kernel: &mut Kernel) {
    if kernel.buffers.iter().all(|buffer| !buffer.unset) {
        return;
    }
    let mut all = HashMap::default();
    add_touches(&kernel.body, &mut all);
    let mut in_order = HashMap::default();
    look(&kernel.body, &mut in_order);
    for (at, buffer) in kernel.buffers.iter_mut().enumerate() {
        let id = BufferId(at as u32);
        let touches = all.get(&id).copied().unwrap_or_default();
        let seen = in_order.get(&id).copied().unwrap_or_default();
        let in_order = touches == seen || buffer.elem.is_float() && touches.by_data == 0;
        buffer.unset &= !buffer.marks && touches.others == 0 && in_order;
    }
}

/// How often a buffer is touched.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Touches {
    stores: usize,
    loads: usize,
    /// Loads at subscripts that are data.
    by_data: usize,
    /// Whole copies, shapes that are compared, conditions of loops.
    others: usize,
}

impl Touches {
    fn add(&mut self, other: Touches) {
        self.stores += other.stores;
        self.loads += other.loads;
        self.by_data += other.by_data;
    }
}

/// Counts the touches that come in order: all stores of a block before all its loads.
fn look(block: &Block, in_order: &mut HashMap<BufferId, Touches>) {
    let mut here: HashMap<BufferId, Touches> = HashMap::default();
    for stmt in &block.stmts {
        if let Stmt::Alloc(buffer) = stmt {
            here.insert(*buffer, Touches::default());
        }
        if !here.is_empty() {
            let mut now = HashMap::default();
            count(stmt, &mut now);
            for (buffer, new) in now {
                let Some(before) = here.get_mut(&buffer) else { continue };
                if new.stores > 0 && before.loads + new.loads > 0 {
                    here.remove(&buffer);
                    continue;
                }
                before.add(new);
            }
        }
        blocks(stmt).into_iter().for_each(|inner| look(inner, in_order));
    }
    for (buffer, touches) in here {
        in_order.entry(buffer).or_default().add(touches);
    }
}

fn add_touches(block: &Block, found: &mut HashMap<BufferId, Touches>) {
    each_stmt(block, &mut |stmt| add_touch(stmt, found));
}

fn count(stmt: &Stmt, found: &mut HashMap<BufferId, Touches>) {
    add_touch(stmt, found);
    blocks(stmt).into_iter().for_each(|block| add_touches(block, found));
}

/// Adds what a statement touches by itself.
fn add_touch(stmt: &Stmt, found: &mut HashMap<BufferId, Touches>) {
    let mut other = |buffer: &BufferId| found.entry(*buffer).or_default().others += 1;
    match stmt {
        Stmt::CheckShape(buffer, _) => other(buffer),
        Stmt::Copy { to, from } => [to, from].into_iter().for_each(other),
        Stmt::Loop(of) => of.until.iter().flat_map(|until| &until.buffers).for_each(other),
        Stmt::Store { buffer, .. } => found.entry(*buffer).or_default().stores += 1,
        Stmt::Load { buffer, at, .. } => {
            let touches = found.entry(*buffer).or_default();
            touches.loads += 1;
            let by_data = at.iter().any(|at| !matches!(at, Subscript::Index(_)));
            touches.by_data += usize::from(by_data);
        }
        _ => {}
    }
}
