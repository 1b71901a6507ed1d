//! Visiting the operands of statements, and numbers for new values.

use einlang_index::Var;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use crate::ir::{
    Block, BufferId, Combine, Condition, Fold, FoldStart, Kernel, Operand, Stmt, Subscript,
};

/// Calls `visit` for every operand of a statement itself, without those of its blocks.
pub(super) fn own_operands(stmt: &mut Stmt, visit: &mut dyn FnMut(&mut Operand)) {
    let condition = |condition: &mut Condition, visit: &mut dyn FnMut(&mut Operand)| {
        if let Condition::Value(operand) = condition {
            visit(operand);
        }
    };
    match stmt {
        Stmt::Op { args, .. } | Stmt::Call { args, .. } => args.iter_mut().for_each(visit),
        Stmt::Param { value, .. } | Stmt::Store { value, .. } => visit(value),
        Stmt::Load { at, .. } | Stmt::Probe { at, .. } => {
            for subscript in at {
                if let Subscript::Value(operand) = subscript {
                    visit(operand);
                }
            }
        }
        Stmt::If { condition: on, .. } | Stmt::Assert { condition: on, .. } => {
            condition(on, visit);
        }
        Stmt::Fold(fold) => {
            if let FoldStart::From(operands) = &mut fold.start {
                operands.iter_mut().for_each(&mut *visit);
            }
            if let Some(key) = &mut fold.key {
                visit(&mut key.bin);
            }
        }
        _ => {}
    }
}

/// Calls `visit` for every block of a statement.
pub(crate) fn blocks(stmt: &mut Stmt, visit: &mut dyn FnMut(&mut Block)) {
    match stmt {
        Stmt::If { then, otherwise, .. } => {
            visit(then);
            visit(otherwise);
        }
        Stmt::Loop(of) => {
            visit(&mut of.body);
            if let Some(until) = &mut of.until {
                visit(&mut until.condition);
            }
        }
        Stmt::Fold(fold) => fold_blocks(fold, visit),
        Stmt::Team(block) => visit(block),
        _ => {}
    }
}

fn fold_blocks(fold: &mut Fold, visit: &mut dyn FnMut(&mut Block)) {
    if let Some(key) = &mut fold.key {
        visit(&mut key.block);
    }
    if let Some(guard) = &mut fold.guard {
        visit(guard);
    }
    visit(&mut fold.body);
    if let Combine::Block { block, .. } = &mut fold.combine {
        visit(block);
    }
}

/// How often each value is used.
pub(super) fn uses(block: &mut Block, counts: &mut HashMap<u32, usize>) {
    let mut count = |operand: &mut Operand| {
        if let Operand::Value(value) = operand {
            *counts.entry(value.number).or_default() += 1;
        }
    };
    block.results.iter_mut().for_each(&mut count);
    for stmt in &mut block.stmts {
        own_operands(stmt, &mut |operand| {
            if let Operand::Value(value) = operand {
                *counts.entry(value.number).or_default() += 1;
            }
        });
        blocks(stmt, &mut |block| uses(block, counts));
    }
}

/// One more than the number of every value that a block defines.
pub(super) fn next_value(block: &mut Block) -> u32 {
    let mut next = 0;
    for stmt in &mut block.stmts {
        let mut more = |number: u32| next = next.max(number.saturating_add(1));
        match stmt {
            Stmt::Op { result, .. }
            | Stmt::Index { result, .. }
            | Stmt::Load { result, .. }
            | Stmt::Probe { result, .. } => more(result.number),
            Stmt::If { results, .. } | Stmt::Call { results, .. } => {
                results.iter().for_each(|value| more(value.number));
            }
            Stmt::Loop(of) => of.until.iter().for_each(|until| more(until.converged.number)),
            Stmt::Fold(fold) => {
                fold.results.iter().for_each(|value| more(value.number));
                if let Combine::Block { left, right, .. } = &fold.combine {
                    left.iter().chain(right).for_each(|value| more(value.number));
                }
            }
            _ => {}
        }
        blocks(stmt, &mut |block| next = next.max(next_value(block)));
    }
    next
}

/// What statements change.
#[derive(Default)]
pub(super) struct Changes {
    /// The buffers whose elements or memory are others afterwards.
    pub(super) buffers: HashSet<BufferId>,
    /// The variables that get a value.
    pub(super) vars: HashSet<Var>,
}

impl Changes {
    pub(super) fn of(stmt: &mut Stmt) -> Changes {
        let mut changes = Changes::default();
        changes.add(stmt);
        changes
    }

    fn add(&mut self, stmt: &mut Stmt) {
        match stmt {
            Stmt::Store { buffer, .. } | Stmt::Alloc(buffer) | Stmt::Free(buffer) => {
                self.buffers.insert(*buffer);
            }
            Stmt::Copy { to, .. } => {
                self.buffers.insert(*to);
            }
            Stmt::Bind { var, .. } | Stmt::Param { var, .. } => {
                self.vars.insert(*var);
            }
            Stmt::Loop(of) => {
                self.vars.insert(of.range.var);
                if let Some(until) = &of.until {
                    self.vars.insert(until.extent);
                    self.buffers.extend(until.buffers.iter().copied());
                }
            }
            Stmt::Fold(fold) => self.vars.extend(fold.ranges.iter().map(|range| range.var)),
            _ => {}
        }
        blocks(stmt, &mut |block| block.stmts.iter_mut().for_each(|stmt| self.add(stmt)));
    }
}

/// The number of the next value of a kernel.
pub(crate) fn next_value_of(kernel: &mut Kernel) -> u32 {
    next_value(&mut kernel.body)
}
