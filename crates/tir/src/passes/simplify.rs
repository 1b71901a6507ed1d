//! `simplify`: nothing is computed twice in a region, and nothing that no one uses.
//!
//! Equal operations, index expressions and reads become one, also where a nested region repeats
//! what an enclosing one has computed. Identities are used only where they hold for every bit:
//! `x * 1`, `x / 1`, `x - 0`, `x + -0`, `if` with equal arms. What may trap stays, for a program
//! must stop where it says.

use einlang_source::Diagnostics;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::Ctx;
use crate::constant::Const;
use crate::module::{Group, Module};
use crate::op::Op;
use crate::region::{Arg, Combiner, Def, Inst, InstKind, Region};

/// Simplifies every region.
pub fn simplify(module: &mut Module, ctx: &Ctx) -> Result<(), Diagnostics> {
    let (known, seen, log) = (HashMap::default(), HashMap::default(), Vec::new());
    let mut simplify = Simplify { checked: ctx.checked, known, seen, log };
    module.regions_mut().for_each(|region| simplify.region(region));
    Ok(())
}

struct Simplify {
    checked: bool,
    /// What stands for a value that is gone. Numbers are unique, so one table serves all regions.
    known: HashMap<u32, Arg>,
    /// Instructions that have been computed and are visible, with their results.
    seen: HashMap<InstKind, Vec<Def>>,
    /// The keys of those, in order, so that a region can take back its own.
    log: Vec<InstKind>,
}

impl Simplify {
    fn region(&mut self, region: &mut Region) {
        let n_outer = self.log.len();
        let mut kept = Vec::with_capacity(region.insts.len());
        for mut inst in std::mem::take(&mut region.insts) {
            inst.args_mut().into_iter().for_each(|arg| self.replace(arg));
            self.inside(&mut inst);
            if let Some(arg) = self.same_as(&inst) {
                self.define(&inst.results, &[arg]);
                continue;
            }
            if !can_repeat(&inst) {
                kept.push(inst);
                continue;
            }
            match self.seen.get(&inst.kind) {
                Some(results) if same_types(results, &inst.results) => {
                    let args: Vec<Arg> =
                        results.iter().filter_map(Def::as_scalar).map(Arg::from).collect();
                    self.define(&inst.results, &args);
                }
                _ => {
                    self.seen.insert(inst.kind.clone(), inst.results.clone());
                    self.log.push(inst.kind.clone());
                    kept.push(inst);
                }
            }
        }
        for kind in self.log.drain(n_outer..) {
            self.seen.remove(&kind);
        }
        region.insts = kept;
        region.results.iter_mut().for_each(|arg| self.replace(arg));
        self.drop_unused(region);
    }

    /// Nested regions see what was computed before them; combiners and local tensors too.
    fn inside(&mut self, inst: &mut Inst) {
        match &mut inst.kind {
            InstKind::Group(group) => self.group(group),
            InstKind::Reduce(reduction) => {
                if let Combiner::Region(combine) = &mut reduction.combine {
                    self.region(combine);
                }
                reduction.guard.iter_mut().for_each(|guard| self.region(guard));
                self.region(&mut reduction.body);
            }
            _ => inst.regions_mut().into_iter().for_each(|region| self.region(region)),
        }
    }

    fn group(&mut self, group: &mut Group) {
        group.regions_mut().into_iter().for_each(|region| self.region(region));
    }

    fn replace(&self, arg: &mut Arg) {
        if let Arg::Value(value) = arg
            && let Some(known) = self.known.get(&value.number)
        {
            *arg = known.clone();
        }
    }

    fn define(&mut self, results: &[Def], args: &[Arg]) {
        for (def, arg) in results.iter().zip(args) {
            if let Def::Scalar(value) = def {
                self.known.insert(value.number, arg.clone());
            }
        }
    }

    /// The operand that an instruction only repeats.
    fn same_as(&self, inst: &Inst) -> Option<Arg> {
        let [Def::Scalar(_)] = inst.results[..] else { return None };
        match &inst.kind {
            InstKind::Op(op, args) => same_operand(*op, args),
            InstKind::If { then, otherwise, .. } => {
                let plain = then.insts.is_empty() && otherwise.insts.is_empty();
                (plain && then.results == otherwise.results).then(|| then.results[0].clone())
            }
            _ => None,
        }
    }

    /// Removes what no one uses and what cannot stop the program.
    fn drop_unused(&self, region: &mut Region) {
        let mut used: HashSet<u32> = HashSet::default();
        let mut note = |arg: &Arg| {
            if let Arg::Value(value) = arg {
                used.insert(value.number);
            }
        };
        region.results.iter().for_each(&mut note);
        let mut kept = Vec::with_capacity(region.insts.len());
        while let Some(inst) = region.insts.pop() {
            let wanted = |def: &Def| def.as_scalar().is_none_or(|v| used.contains(&v.number));
            if self.is_silent(&inst) && !inst.results.iter().any(wanted) {
                continue;
            }
            let mut note = |arg: &Arg| {
                if let Arg::Value(value) = arg {
                    used.insert(value.number);
                }
            };
            inst.args().into_iter().for_each(&mut note);
            for region in inst.regions() {
                region.for_each_inst(&mut |inst| inst.args().into_iter().for_each(&mut note));
                region.for_each_region(&mut |region| region.results.iter().for_each(&mut note));
            }
            kept.push(inst);
        }
        kept.reverse();
        region.insts = kept;
    }

    /// Whether an instruction can be left out when its results are not used.
    fn is_silent(&self, inst: &Inst) -> bool {
        match &inst.kind {
            InstKind::Op(op, args) => {
                let may_trap = |arg: &Arg| arg.elem().is_some_and(|e| op.may_trap(e, self.checked));
                !args.iter().any(may_trap)
            }
            InstKind::Index(_) => true,
            InstKind::Read(read) => {
                read.proved || read.default.as_ref().is_some_and(|default| self.is_quiet(default))
            }
            InstKind::If { .. } => inst.regions().into_iter().all(|region| self.is_quiet(region)),
            _ => false,
        }
    }

    fn is_quiet(&self, region: &Region) -> bool {
        region.insts.iter().all(|inst| self.is_silent(inst))
    }
}

/// Whether an equal instruction gives equal results.
fn can_repeat(inst: &Inst) -> bool {
    match &inst.kind {
        InstKind::Op(..) | InstKind::Index(_) => true,
        InstKind::Read(read) => read.default.is_none(),
        _ => false,
    }
}

fn same_types(a: &[Def], b: &[Def]) -> bool {
    let elems = |defs: &[Def]| -> Vec<_> {
        defs.iter().filter_map(Def::as_scalar).map(|value| value.elem).collect()
    };
    elems(a) == elems(b)
}

/// The operand that an operation gives back, bit by bit.
fn same_operand(op: Op, args: &[Arg]) -> Option<Arg> {
    let number = |arg: &Arg| arg.as_const().and_then(Const::as_float);
    match (op, args) {
        (Op::Mul, [x, y]) if number(y) == Some(1.0) => Some(x.clone()),
        (Op::Mul, [x, y]) if number(x) == Some(1.0) => Some(y.clone()),
        (Op::Div, [x, y]) if number(y) == Some(1.0) => Some(x.clone()),
        (Op::Sub, [x, y]) if number(y).is_some_and(|y| y == 0.0 && y.is_sign_positive()) => {
            Some(x.clone())
        }
        (Op::Add, [x, y]) if number(y).is_some_and(|y| y == 0.0 && y.is_sign_negative()) => {
            Some(x.clone())
        }
        _ => None,
    }
}
