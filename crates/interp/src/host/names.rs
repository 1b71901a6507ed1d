//! Where the values of functions live, and the names that printing wants.
//!
//! Value numbers are unique in a program; each function's are given slots from 0. A value is
//! *moved* by its use if that is the only one and stands in the block that defines the value, so
//! that it cannot be reached again.

use std::collections::HashMap;
use std::sync::Arc;

use einlang_tir::host::{Block, HostArg, HostInst, Program, TypeDecl};
use einlang_tir::types::Ident;

use super::no_names;
use crate::stop::{Stop, StopCode};

/// Where a value lives.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub(super) struct Slot {
    pub(super) at: u32,
    pub(super) moved: bool,
}

/// Numbers below this are looked up in a list.
const DENSE: u32 = 1 << 20;

/// Blocks nested deeper than this come from no program.
const MAX_NESTING: usize = 300;

#[derive(Debug, Default)]
pub(super) struct Names {
    dense: Vec<Slot>,
    sparse: HashMap<u32, Slot>,
    sizes: HashMap<Ident, u32>,
    structs: HashMap<Ident, Arc<[Ident]>>,
    labels: HashMap<(Ident, Ident), Arc<[Ident]>>,
}

impl Names {
    pub(super) fn new(program: &Program) -> Result<Names, Stop> {
        let mut names = Names::default();
        for function in &program.functions {
            let mut count = Count::default();
            count.block(&function.body, 0)?;
            for (number, slot) in count.slots() {
                names.set(number, slot);
            }
            names.sizes.insert(function.name.clone(), count.n_slots);
        }
        for decl in &program.types {
            if let TypeDecl::Struct { name, fields } = decl {
                let fields = fields.iter().map(|field| field.0.clone()).collect();
                names.structs.insert(name.clone(), fields);
            }
        }
        for labels in &program.labels {
            let key = (labels.of.clone(), labels.variant.clone());
            names.labels.insert(key, labels.names.clone().into());
        }
        Ok(names)
    }

    fn set(&mut self, number: u32, slot: Slot) {
        if number >= DENSE {
            self.sparse.insert(number, slot);
            return;
        }
        let at = number as usize;
        if at >= self.dense.len() {
            self.dense.resize(at + 1, Slot::default());
        }
        self.dense[at] = slot;
    }

    /// Where a value lives in an activation of its function.
    pub(super) fn slot(&self, number: u32) -> Slot {
        match number < DENSE {
            true => self.dense.get(number as usize).copied().unwrap_or_default(),
            false => self.sparse.get(&number).copied().unwrap_or_default(),
        }
    }

    /// How many slots an activation of a function has.
    pub(super) fn size(&self, function: &Ident) -> u32 {
        self.sizes.get(function).copied().unwrap_or(0)
    }

    /// The names of a struct's fields.
    pub(super) fn fields(&self, of: &Ident) -> Arc<[Ident]> {
        self.structs.get(of).cloned().unwrap_or_else(no_names)
    }

    /// The names of a variant's fields, none for positional ones.
    pub(super) fn labels(&self, of: &Ident, variant: &Ident) -> Arc<[Ident]> {
        let key = (of.clone(), variant.clone());
        self.labels.get(&key).cloned().unwrap_or_else(no_names)
    }
}

/// The values of one function.
#[derive(Default)]
struct Count {
    n_slots: u32,
    n_blocks: u32,
    /// Slot and defining block.
    defs: HashMap<u32, (u32, u32)>,
    /// How often a value is used, and the block of its last use.
    uses: HashMap<u32, (u32, u32)>,
}

impl Count {
    fn define(&mut self, number: u32, block: u32) {
        self.defs.insert(number, (self.n_slots, block));
        self.n_slots += 1;
    }

    fn block(&mut self, block: &Block, depth: usize) -> Result<(), Stop> {
        if depth > MAX_NESTING {
            return Err(Stop::new(StopCode::Depth, "the code nests too deeply"));
        }
        self.n_blocks += 1;
        let id = self.n_blocks;
        block.params.iter().for_each(|def| self.define(def.number, id));
        for inst in &block.insts {
            self.uses(inst.args(), id);
            self.inside(inst, depth)?;
            inst.results.iter().for_each(|def| self.define(def.number, id));
        }
        self.uses(block.results.iter().collect(), id);
        Ok(())
    }

    fn inside(&mut self, inst: &HostInst, depth: usize) -> Result<(), Stop> {
        inst.blocks().into_iter().try_for_each(|block| self.block(block, depth + 1))
    }

    fn uses(&mut self, args: Vec<&HostArg>, block: u32) {
        for arg in args {
            if let HostArg::Value(number) = arg {
                let (n, at) = self.uses.entry(*number).or_default();
                (*n, *at) = (*n + 1, block);
            }
        }
    }

    fn slots(&self) -> impl Iterator<Item = (u32, Slot)> + '_ {
        self.defs.iter().map(|(number, (at, block))| {
            let moved = self.uses.get(number) == Some(&(1, *block));
            (*number, Slot { at: *at, moved })
        })
    }
}
