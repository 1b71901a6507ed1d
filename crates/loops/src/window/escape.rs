//! Where the host code takes the outputs of modules.

use einlang_tir::host::{
    Block, FormatPart, HostArg, HostFn, HostInst, HostKind, HostType, Intrinsic, Program,
};
use einlang_tir::op::Op;
use einlang_tir::types::{Elem, Loc};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::report::Why;

/// A tensor that is used in more places than this counts as read in full.
const MAX_USES: usize = 1_000;

/// What happens to the values of the host.
#[derive(Default)]
pub(super) struct Fates {
    /// The runs of each module: which values go in and come out.
    pub(super) runs: HashMap<String, Vec<Run>>,
    /// Every use of a value, by number.
    pub(super) uses: HashMap<u32, Vec<Use>>,
    /// The run that made a value: module, which run of it, which result.
    pub(super) made: HashMap<u32, (String, usize, usize)>,
    /// The integer that an `i64` is a conversion of.
    pub(super) same: HashMap<u32, HostArg>,
}

/// One `run` of a module.
#[derive(Clone, Debug)]
pub(super) struct Run {
    /// The operands.
    pub(super) args: Vec<HostArg>,
    /// The numbers of the results.
    pub(super) results: Vec<u32>,
}

/// What is done with a value.
#[derive(Clone, Debug)]
pub(super) enum Use {
    /// It is an operand of a run of a module.
    Operand {
        /// The module.
        module: String,
        /// Which run of it.
        run: usize,
        /// Which operand.
        at: usize,
    },
    /// It becomes part of another value.
    Part(u32),
    /// It is read in full.
    Whole(Why, Loc),
}

/// Follows all values of a program, whose entry gives outputs of these names.
pub(super) fn fates(program: &Program, outputs: &[String]) -> Fates {
    let mut fates = Fates::default();
    for function in &program.functions {
        fates.function(function, program.entry.as_ref() == Some(&function.name), outputs);
    }
    fates
}

impl Fates {
    fn function(&mut self, function: &HostFn, entry: bool, outputs: &[String]) {
        self.block(&function.body);
        for (at, result) in function.body.results.iter().enumerate() {
            let why = match outputs.get(at) {
                Some(name) if entry => Why::Output(name.clone()),
                _ => Why::Escapes,
            };
            self.used(result, Use::Whole(why, Loc::default()));
        }
    }

    fn block(&mut self, block: &Block) {
        for inst in &block.insts {
            self.inst(inst);
            for inner in inst.blocks() {
                self.block(inner);
                for result in &inner.results {
                    self.used(result, Use::Whole(Why::Escapes, inst.loc));
                }
            }
        }
    }

    fn inst(&mut self, inst: &HostInst) {
        let whole = |why: Why| Use::Whole(why, inst.loc);
        match &inst.kind {
            HostKind::Run(module, args) => {
                let runs = self.runs.entry(module.as_str().to_owned()).or_default();
                let run = runs.len();
                for (at, def) in inst.results.iter().enumerate() {
                    self.made.insert(def.number, (module.as_str().to_owned(), run, at));
                }
                let results = inst.results.iter().map(|def| def.number).collect();
                runs.push(Run { args: args.clone(), results });
                for (at, arg) in args.iter().enumerate() {
                    self.used(arg, Use::Operand { module: module.as_str().to_owned(), run, at });
                }
            }
            HostKind::Tuple(args) | HostKind::Struct(_, args) => {
                let part = inst.results.first().map(|def| Use::Part(def.number));
                for arg in args {
                    self.used(arg, part.clone().unwrap_or(whole(Why::Escapes)));
                }
            }
            HostKind::Op(Op::Cast, args) => {
                if let ([arg], [def]) = (&args[..], &inst.results[..])
                    && def.ty == HostType::Scalar(Elem::I64)
                {
                    self.same.insert(def.number, arg.clone());
                }
            }
            HostKind::Intrinsic(Intrinsic::Extent | Intrinsic::TypeOf, _) => {}
            HostKind::Intrinsic(intrinsic, args) => {
                let why = match intrinsic {
                    Intrinsic::Print | Intrinsic::Show => Why::Printed,
                    Intrinsic::SaveTensor | Intrinsic::SaveNamed => Why::Saved,
                    Intrinsic::Element => Why::DynamicRead,
                    _ => Why::Escapes,
                };
                args.iter().for_each(|arg| self.used(arg, whole(why.clone())));
            }
            HostKind::Format(parts) => {
                for part in parts {
                    if let FormatPart::Value(arg, _) = part {
                        self.used(arg, whole(Why::Printed));
                    }
                }
            }
            _ => inst.args().into_iter().for_each(|arg| self.used(arg, whole(Why::Escapes))),
        }
    }

    fn used(&mut self, arg: &HostArg, how: Use) {
        if let HostArg::Value(number) = arg {
            self.uses.entry(*number).or_default().push(how);
        }
    }

    /// All uses of a value, those of values that it is a part of included.
    pub(super) fn all_uses(&self, number: u32) -> Vec<&Use> {
        let (mut open, mut seen, mut all) = (vec![number], HashSet::default(), Vec::new());
        while let Some(number) = open.pop() {
            if !seen.insert(number) {
                continue;
            }
            for how in self.uses.get(&number).into_iter().flatten() {
                match how {
                    Use::Part(whole) => open.push(*whole),
                    _ => all.push(how),
                }
                if all.len() > MAX_USES {
                    return all;
                }
            }
        }
        all
    }

    /// Whether a list of uses may have been cut short.
    pub(super) fn is_cut(uses: &[&Use]) -> bool {
        uses.len() > MAX_USES
    }

    /// The value that a conversion of integers started from.
    pub(super) fn origin(&self, arg: &HostArg) -> HostArg {
        let mut arg = arg.clone();
        for _ in 0..8 {
            match &arg {
                HostArg::Value(number) => match self.same.get(number) {
                    Some(from) => arg = from.clone(),
                    None => break,
                },
                _ => break,
            }
        }
        arg
    }
}
