//! Finishing functions: the operands and results of every `run`, and what nothing needs.

use std::collections::{HashMap, HashSet};

use einlang_source::{Code, Diagnostic};
use einlang_tir::host::{Block, HostDef, HostKind, HostType, verify_program};
use einlang_tir::module::{Group, Module, SymbolSource};
use einlang_tir::types::Ident;

use super::module::ModuleCx;
use super::reclaim::in_order;
use super::value::R;
use super::{Lower, NOT_YET};

impl<'p> Lower<'p> {
    /// Fills in what the modules of a function take and give. A module that nothing asks for and
    /// that asserts and checks nothing is left out.
    pub(super) fn finish_body(&mut self, mut body: Block) -> Block {
        let mut used = HashSet::new();
        for cx in &mut self.modules {
            for name in std::mem::take(&mut cx.kept) {
                let known = cx.outputs.iter().any(|output| output.0 == name);
                if let Some(ty) = cx.tir.tensor_type(&name).filter(|_| !known) {
                    let ty = HostType::Tensor(ty.elem, ty.rank());
                    cx.outputs.push((name, HostDef { number: self.n_values, ty }));
                    self.n_values += 1;
                }
            }
            in_source_order(cx);
            if cx.outputs.is_empty() && cx.tir.checks.is_empty() {
                continue;
            }
            used.insert(cx.tir.name.clone());
        }
        patch(&mut body, &self.modules, &used);
        for mut cx in std::mem::take(&mut self.modules) {
            if used.contains(&cx.tir.name) {
                cx.tir.outputs = cx.outputs.iter().map(|output| output.0.clone()).collect();
                prune(&mut cx.tir);
                self.out.modules.push(cx.tir);
            }
        }
        self.pending = None;
        self.former.clear();
        body
    }

    /// Checks the program; a mistake here is one of the compiler.
    pub(super) fn verify(&self) -> R<()> {
        if !cfg!(debug_assertions) {
            return Ok(());
        }
        let problems = verify_program(&self.out);
        let Some(first) = problems.first() else { return Ok(()) };
        let code: Code = NOT_YET;
        let message = format!("the compiler made code that is not well formed: {first}");
        let mut diagnostic = Diagnostic::error(code, message, self.here, "in this program")
            .with_help("please report this program");
        for problem in problems.iter().skip(1).take(5) {
            diagnostic = diagnostic.with_note(problem.to_string());
        }
        Err(Box::new(diagnostic.with_note(self.out.to_string())))
    }
}

/// The operands and results of each `run` in a block and those inside it.
fn patch(block: &mut Block, modules: &[ModuleCx], used: &HashSet<String>) {
    block.insts.retain(|inst| match &inst.kind {
        HostKind::Run(name, _) => used.contains(name.as_str()),
        _ => true,
    });
    for inst in &mut block.insts {
        if let HostKind::Run(name, _) = &inst.kind
            && let Some(cx) = modules.iter().find(|cx| cx.tir.name == name.as_str())
        {
            let integers = in_order(cx.tir.vars.symbols(), &cx.integers);
            let args = cx.inputs.iter().cloned().chain(integers).collect();
            inst.results = cx.outputs.iter().map(|output| output.1.clone()).collect();
            inst.kind = HostKind::Run(name.clone(), args);
        }
        inst.blocks_mut().into_iter().for_each(|inner| patch(inner, modules, used));
    }
}

/// The outputs are evaluated in the order of their definitions, so that the first one that fails in
/// the source is the one that is reported.
fn in_source_order(cx: &mut ModuleCx) {
    let names = cx.tir.groups.iter().enumerate().flat_map(|(at, group)| {
        group.bindings.iter().map(move |binding| (binding.name.clone(), at))
    });
    let places: HashMap<Ident, usize> = names.collect();
    cx.outputs.sort_by_key(|output| places.get(&output.0).copied());
}

/// Leaves out groups that neither an output nor a symbol needs.
fn prune(module: &mut Module) {
    let mut needed: HashSet<Ident> = module.outputs.iter().cloned().collect();
    needed.extend(module.symbols.iter().filter_map(|symbol| match &symbol.source {
        SymbolSource::Value(name) => Some(name.clone()),
        _ => None,
    }));
    let mut kept: Vec<Group> = Vec::with_capacity(module.groups.len());
    for group in std::mem::take(&mut module.groups).into_iter().rev() {
        let wanted = group.bindings.iter().any(|binding| needed.contains(&binding.name))
            || group.until.is_some();
        if !wanted {
            continue;
        }
        for region in group.regions() {
            region.for_each_inst(&mut |inst| {
                needed.extend(inst.tensors().into_iter().cloned());
            });
        }
        kept.push(group);
    }
    kept.reverse();
    module.groups = kept;
}
