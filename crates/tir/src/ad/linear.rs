//! Whether code is linear in some of its parameters.

use rustc_hash::FxHashMap as HashMap;

use crate::constant::Const;
use crate::module::{Group, Module};
use crate::op::Op;
use crate::region::{Arg, Combiner, Def, Inst, InstKind, Region};
use crate::types::{Ident, Loc};

/// How a value depends on the differentials.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Degree {
    /// It is zero, which is linear too.
    Zero,
    /// It does not.
    Free,
    /// It is linear in them.
    Linear,
}

/// Whether the results are linear in the parameters from `n_fixed` on; otherwise the place that is
/// not.
pub(super) fn check_linear(region: &Region, n_fixed: usize) -> Result<(), Loc> {
    let mut check = Check { values: HashMap::default(), tensors: HashMap::default() };
    for (at, param) in region.params.iter().enumerate() {
        let degree = if at < n_fixed { Degree::Free } else { Degree::Linear };
        check.define(param, degree);
    }
    check.insts(&region.insts)?;
    match region.results.iter().any(|arg| check.degree(arg) == Degree::Free) {
        true => Err(Loc::default()),
        false => Ok(()),
    }
}

/// How the outputs of a module depend on differentials, if its inputs do like this; otherwise the
/// place that is not linear.
pub(super) fn module_degrees(module: &Module, inputs: &[Degree]) -> Result<Vec<Degree>, Loc> {
    let mut check = Check { values: HashMap::default(), tensors: HashMap::default() };
    for (input, degree) in module.inputs.iter().zip(inputs) {
        check.tensors.insert(input.name.clone(), *degree);
    }
    for group in &module.groups {
        check.group(group, Loc::default())?;
    }
    let known = |name: &Ident| check.tensors.get(name).copied().unwrap_or(Degree::Free);
    Ok(module.outputs.iter().map(known).collect())
}

/// What is added, or chosen between; none if it is not linear.
pub(super) fn joined_degrees(degrees: impl IntoIterator<Item = Degree>) -> Option<Degree> {
    degrees.into_iter().try_fold(Degree::Zero, |joined, degree| match (joined, degree) {
        (Degree::Zero, other) | (other, Degree::Zero) => Some(other),
        (a, b) if a == b => Some(a),
        _ => None,
    })
}

/// The degree of an operation on values of these degrees; none if it is not linear.
pub(super) fn op_degree(op: Op, degrees: &[Degree]) -> Option<Degree> {
    if !degrees.contains(&Degree::Linear) && !degrees.contains(&Degree::Zero) {
        return Some(Degree::Free);
    }
    match (op, degrees) {
        (Op::Add | Op::Sub, _) => joined_degrees(degrees.iter().copied()),
        (Op::Neg | Op::Cast, [degree]) => Some(*degree),
        (Op::Mul, [a, b]) => match (a, b) {
            (Degree::Zero, _) | (_, Degree::Zero) => Some(Degree::Zero),
            (Degree::Free, other) | (other, Degree::Free) => Some(*other),
            _ => None,
        },
        (Op::Div, [a, Degree::Free]) => Some(*a),
        _ if degrees.contains(&Degree::Linear) => None,
        _ => Some(Degree::Free),
    }
}

struct Check {
    values: HashMap<u32, Degree>,
    tensors: HashMap<Ident, Degree>,
}

impl Check {
    fn define(&mut self, def: &Def, degree: Degree) {
        match def {
            Def::Scalar(value) => drop(self.values.insert(value.number, degree)),
            Def::Tensor(tensor) => drop(self.tensors.insert(tensor.name.clone(), degree)),
        }
    }

    fn degree(&self, arg: &Arg) -> Degree {
        match arg {
            Arg::Const(constant) if constant.as_float() == Some(0.0) => Degree::Zero,
            Arg::Const(constant) if *constant == Const::zero(constant.elem()) => Degree::Zero,
            Arg::Const(_) => Degree::Free,
            Arg::Value(value) => self.values.get(&value.number).copied().unwrap_or(Degree::Free),
            Arg::Tensor(name) => self.tensors.get(name).copied().unwrap_or(Degree::Free),
        }
    }

    fn insts(&mut self, insts: &[Inst]) -> Result<(), Loc> {
        insts.iter().try_for_each(|inst| self.inst(inst))
    }

    /// Results of regions that are alternatives or summands.
    fn joined(&self, args: &[&Arg], loc: Loc) -> Result<Degree, Loc> {
        joined_degrees(args.iter().map(|arg| self.degree(arg))).ok_or(loc)
    }

    fn inst(&mut self, inst: &Inst) -> Result<(), Loc> {
        let loc = inst.loc;
        let degree = match &inst.kind {
            InstKind::Op(op, args) => {
                let degrees: Vec<Degree> = args.iter().map(|arg| self.degree(arg)).collect();
                op_degree(*op, &degrees).ok_or(loc)?
            }
            InstKind::Read(read) => {
                let own = self.tensors.get(&read.place.tensor).copied().unwrap_or(Degree::Free);
                match &read.default {
                    None => own,
                    Some(default) => {
                        self.insts(&default.insts)?;
                        let other =
                            self.joined(&default.results.iter().collect::<Vec<_>>(), loc)?;
                        match (own, other) {
                            (own, Degree::Zero) => own,
                            (own, other) if own == other => own,
                            _ => return Err(loc),
                        }
                    }
                }
            }
            InstKind::If { condition: on, .. } | InstKind::Switch { on, .. } => {
                if self.degree(on) == Degree::Linear {
                    return Err(loc);
                }
                for region in inst.regions() {
                    self.insts(&region.insts)?;
                }
                for (at, def) in inst.results.iter().enumerate() {
                    let args: Vec<&Arg> =
                        inst.regions().into_iter().filter_map(|r| r.results.get(at)).collect();
                    let degree = self.joined(&args, loc)?;
                    self.define(def, degree);
                }
                return Ok(());
            }
            InstKind::Reduce(reduction) => {
                for region in inst.regions() {
                    self.insts(&region.insts)?;
                }
                let terms: Vec<&Arg> =
                    reduction.body.results.iter().chain(reduction.start.args()).collect();
                let degree = self.joined(&terms, loc)?;
                if degree == Degree::Linear && reduction.combine != Combiner::Op(Op::Add) {
                    return Err(loc);
                }
                degree
            }
            InstKind::Group(group) => return self.group(group, loc),
            _ => match inst.args().iter().any(|arg| self.degree(arg) == Degree::Linear) {
                true => return Err(loc),
                false => Degree::Free,
            },
        };
        inst.results.iter().for_each(|def| self.define(def, degree));
        Ok(())
    }

    fn group(&mut self, group: &Group, loc: Loc) -> Result<(), Loc> {
        // A recurrence is linear if its other clauses are and it is where it reads itself.
        for binding in &group.bindings {
            self.tensors.insert(binding.name.clone(), Degree::Zero);
        }
        for _ in 0..2 {
            for binding in &group.bindings {
                let mut results = Vec::new();
                for clause in &binding.clauses {
                    for region in clause.guard.iter().chain([&clause.body]) {
                        self.insts(&region.insts)?;
                    }
                    results.extend(&clause.body.results);
                }
                let degree = self.joined(&results, loc)?;
                self.tensors.insert(binding.name.clone(), degree);
            }
        }
        Ok(())
    }
}
