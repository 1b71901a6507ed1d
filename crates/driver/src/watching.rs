//! `--check-derivatives`: rules of functions are compared with differences while a program runs.
//!
//! The pass that watches rules adds outputs to tensor modules; here each `run` of such a module
//! hands them on, and what was observed becomes warnings.

use std::collections::{HashMap, HashSet};

use einlang_interp::report::Report;
use einlang_source::{Code, Diagnostic, Diagnostics, FileId, Span};
use einlang_tir::ad::{Watch, watch_rules};
use einlang_tir::host::{
    Block, HostArg, HostDef, HostInst, HostKind, HostType, Intrinsic, Program,
};
use einlang_tir::types::{Elem, Ident};

/// The rules of a program that are watched.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watches(Vec<(String, Watch)>);

impl Watches {
    /// Adds what watches the rules of a program. It has to be differentiated afterwards.
    /// Those of host functions are watched already.
    pub(crate) fn add(program: &mut Program, on_host: Vec<Watch>) -> Watches {
        let mut all = Vec::new();
        let mut by_module: HashMap<Ident, Vec<String>> = HashMap::new();
        for module in &mut program.modules {
            let name = Ident::new(&module.name);
            for watch in watch_rules(module) {
                let key = format!("{}.{}", module.name, watch.output.as_str());
                by_module.entry(name.clone()).or_default().push(key.clone());
                all.push((key, watch));
            }
        }
        let mut largest = 0;
        for function in &mut program.functions {
            each_def(&mut function.body, &mut |def| largest = largest.max(def.number));
        }
        if !all.is_empty() {
            let mut next = largest + 1;
            for function in &mut program.functions {
                observe(&mut function.body, &by_module, &mut next);
            }
        }
        let on_host = on_host.into_iter().map(|watch| (watch.output.as_str().to_owned(), watch));
        all.splice(0..0, on_host);
        Watches(all)
    }

    /// Leaves out what is written in some files. The library's own rules are tested with it, and one that
    /// follows a root differs from its function on purpose.
    pub(crate) fn but_for(mut self, files: &HashSet<FileId>) -> Watches {
        self.0.retain(|(_, watch)| watch.loc.0.is_none_or(|span| !files.contains(&span.file)));
        self
    }

    /// A warning for each rule that a run contradicted.
    pub(crate) fn warnings(&self, report: &Report, place: Span) -> Diagnostics {
        let observed = report.observed();
        let mut found = Diagnostics::default();
        // The host and modules may call the same function.
        let mut named: HashSet<&Ident> = HashSet::new();
        for (key, watch) in &self.0 {
            if observed.get(key).is_some_and(|fault| *fault > 1.0) && named.insert(&watch.function)
            {
                let name = watch.function.as_str();
                let name = name.split('.').next().unwrap_or(name);
                let message = format!("the rule of `{name}` contradicts its values");
                let label = "differences of the function's values are something else";
                let span = watch.loc.0.unwrap_or(place);
                found.push(Diagnostic::warning(Code::W0604, message, span, label).with_help(
                    "correct the rule; if it is meant to differ from the function, run without \
                     `--check-derivatives`",
                ));
            }
        }
        found
    }
}

fn each_def(block: &mut Block, f: &mut impl FnMut(&HostDef)) {
    block.params.iter().for_each(&mut *f);
    for inst in &mut block.insts {
        inst.results.iter().for_each(&mut *f);
        inst.blocks_mut().into_iter().for_each(|inner| each_def(inner, f));
    }
}

/// Writes down what watches a module after each evaluation of it.
fn observe(block: &mut Block, watched: &HashMap<Ident, Vec<String>>, next: &mut u32) {
    let mut insts = Vec::with_capacity(block.insts.len());
    for mut inst in std::mem::take(&mut block.insts) {
        inst.blocks_mut().into_iter().for_each(|inner| observe(inner, watched, next));
        let keys = match &inst.kind {
            HostKind::Run(module, _) => watched.get(module),
            _ => None,
        };
        let loc = inst.loc;
        let mut notes = Vec::new();
        for key in keys.into_iter().flatten() {
            let number = *next;
            *next += 1;
            inst.results.push(HostDef { number, ty: HostType::Tensor(Elem::F64, 0) });
            let args = vec![HostArg::Value(number), HostArg::Str(key.clone())];
            let kind = HostKind::Intrinsic(Intrinsic::Observe, args);
            notes.push(HostInst { results: Vec::new(), kind, loc });
        }
        insts.push(inst);
        insts.append(&mut notes);
    }
    block.insts = insts;
}
