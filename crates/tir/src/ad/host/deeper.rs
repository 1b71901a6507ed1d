//! Functions that ask for derivatives and are differentiated for the sake of their own requests.
//!
//! In `grad(grad(f))` the function value that asks may itself be what is asked about, and so it is
//! for a recursive function that asks about its own result. How deep that goes is known only when
//! the program runs, and each depth is code of another order. The first ones are written down, as
//! copies of the function; where a program goes deeper it stops with E0602.

use rustc_hash::FxHashMap as HashMap;

use super::{Host, for_each_inst, is_request};
use crate::host::{Block, HostArg, HostDef, HostInst, HostKind, Intrinsic};
use crate::op::Trap;
use crate::types::Ident;

/// How many requests may lie in each other this way.
const MAX_DEPTH: usize = 4;

impl Host<'_> {
    /// The function to differentiate in place of this one: another copy of it while its own
    /// requests are being expanded.
    pub(super) fn deeper(&mut self, name: &Ident, is_value: bool) -> Ident {
        let depth = self.open.len();
        let is_open = self.open.contains(name);
        if !is_open && (!is_value || depth < MAX_DEPTH || !self.asks(name)) {
            return name.clone();
        }
        let key = (name.clone(), depth.min(MAX_DEPTH));
        if let Some(known) = self.deeper.get(&key) {
            return known.clone();
        }
        let Some(function) = self.program.functions.iter().find(|f| f.name == *name) else {
            return name.clone();
        };
        let mut function = function.clone();
        function.name = self.unique(&format!("{}.deeper", name.as_str()));
        function.body = self.renumbered(&function.body, &mut HashMap::default());
        if depth >= MAX_DEPTH {
            self.stop_at_requests(&mut function.body);
        }
        let copy = function.name.clone();
        self.written.insert(copy.clone(), name.clone());
        self.program.functions.push(function);
        self.deeper.insert(key, copy.clone());
        copy
    }

    fn asks(&self, name: &Ident) -> bool {
        let mut asks = false;
        for function in self.program.functions.iter().filter(|f| f.name == *name) {
            for_each_inst(&function.body, &mut |inst| asks |= is_request(inst));
        }
        asks
    }

    /// Puts what stops the program in place of requests.
    fn stop_at_requests(&self, block: &mut Block) {
        for mut inst in std::mem::take(&mut block.insts) {
            inst.blocks_mut().into_iter().for_each(|inner| self.stop_at_requests(inner));
            if is_request(&inst) {
                let message = format!(
                    "no derivative yet through more than {MAX_DEPTH} requests in each other"
                );
                let kind = HostKind::Trap(Trap::NoDerivative, message);
                block.insts.push(HostInst { results: Vec::new(), kind, loc: inst.loc });
                inst.kind = HostKind::Intrinsic(Intrinsic::Never, Vec::new());
            }
            block.insts.push(inst);
        }
    }

    /// The block with values of its own.
    fn renumbered(&mut self, block: &Block, new: &mut HashMap<u32, u32>) -> Block {
        let mut block = block.clone();
        self.renumber_defs(&mut block.params, new);
        for inst in &mut block.insts {
            inst.args_mut().into_iter().for_each(|arg| renumber(arg, new));
            for inner in inst.blocks_mut() {
                *inner = self.renumbered(inner, new);
            }
            self.renumber_defs(&mut inst.results, new);
        }
        block.results.iter_mut().for_each(|arg| renumber(arg, new));
        block
    }

    fn renumber_defs(&mut self, defs: &mut [HostDef], new: &mut HashMap<u32, u32>) {
        for def in defs {
            let fresh = self.new_def(def.ty.clone());
            new.insert(def.number, fresh.number);
            *def = fresh;
        }
    }
}

fn renumber(arg: &mut HostArg, new: &HashMap<u32, u32>) {
    if let HostArg::Value(number) = arg
        && let Some(fresh) = new.get(number)
    {
        *number = *fresh;
    }
}
