//! `fold_constants`: operations on constants become constants, and an `if` or `switch` on a
//! constant becomes the arm that is taken.
//!
//! Only what every backend computes alike is folded: integers, truth values, and the IEEE
//! operations on `f32` and `f64`. An operation that would trap stays where it is.

use einlang_source::Diagnostics;
use rustc_hash::FxHashMap as HashMap;

use super::Ctx;
use crate::constant::Const;
use crate::module::Module;
use crate::op::Op;
use crate::region::{Arg, Def, Inst, InstKind, Region, Subscript};
use crate::types::Elem;

/// Folds constants in every region.
pub fn fold_constants(module: &mut Module, ctx: &Ctx) -> Result<(), Diagnostics> {
    let mut fold = Fold { checked: ctx.checked, known: HashMap::default() };
    module.regions_mut().for_each(|region| fold.region(region));
    Ok(())
}

struct Fold {
    checked: bool,
    /// What stands for a value that is gone. Numbers are unique, so one table serves all regions.
    known: HashMap<u32, Arg>,
}

impl Fold {
    fn region(&mut self, region: &mut Region) {
        let insts = std::mem::take(&mut region.insts);
        self.insts(insts, &mut region.insts);
        region.results.iter_mut().for_each(|arg| self.replace(arg));
    }

    fn insts(&mut self, insts: Vec<Inst>, out: &mut Vec<Inst>) {
        for mut inst in insts {
            inst.args_mut().into_iter().for_each(|arg| self.replace(arg));
            settle_subscripts(&mut inst);
            if let Some(constant) = self.value(&inst) {
                self.define(&inst.results, &[constant.into()]);
                continue;
            }
            match taken_arm(&mut inst) {
                Some(arm) => {
                    self.insts(arm.insts, out);
                    let mut results = arm.results;
                    results.iter_mut().for_each(|arg| self.replace(arg));
                    self.define(&inst.results, &results);
                }
                None => {
                    inst.regions_mut().into_iter().for_each(|region| self.region(region));
                    out.push(inst);
                }
            }
        }
    }

    fn define(&mut self, results: &[Def], args: &[Arg]) {
        for (def, arg) in results.iter().zip(args) {
            if let Def::Scalar(value) = def {
                self.known.insert(value.number, arg.clone());
            }
        }
    }

    fn replace(&self, arg: &mut Arg) {
        if let Arg::Value(value) = arg
            && let Some(known) = self.known.get(&value.number)
        {
            *arg = known.clone();
        }
    }

    /// The constant that an instruction computes.
    fn value(&self, inst: &Inst) -> Option<Const> {
        let [Def::Scalar(result)] = &inst.results[..] else { return None };
        match &inst.kind {
            InstKind::Index(expr) => {
                expr.as_constant().map(|number| Const::int(result.elem, number.into()))
            }
            InstKind::Op(op, args) => {
                let args: Option<Vec<Const>> = args.iter().map(Arg::as_const).collect();
                apply(*op, &args?, result.elem, self.checked)
            }
            _ => None,
        }
    }
}

/// A subscript that became constant is an index expression, which later stages see through.
fn settle_subscripts(inst: &mut Inst) {
    let places = match &mut inst.kind {
        InstKind::Read(read) => vec![&mut read.place],
        InstKind::Deriv { of, by } => vec![of, by],
        _ => return,
    };
    for subscript in places.into_iter().flat_map(|place| &mut place.at) {
        if let Subscript::Value(Arg::Const(constant)) = subscript
            && let Some(number) = constant.as_int().and_then(|number| i64::try_from(number).ok())
        {
            *subscript = Subscript::Index(number.into());
        }
    }
}

/// The arm that a constant condition takes, if it defines no tensors.
fn taken_arm(inst: &mut Inst) -> Option<Region> {
    if inst.results.iter().any(|def| def.as_tensor().is_some()) {
        return None;
    }
    match &mut inst.kind {
        InstKind::If { condition, then, otherwise } => {
            let holds = condition.as_const()?.as_bool()?;
            Some(std::mem::take(if holds { then } else { otherwise }))
        }
        InstKind::Switch { on, cases, otherwise } => {
            let number = on.as_const()?.as_int()?;
            let case = cases.iter_mut().find(|case| i128::from(case.0) == number);
            Some(std::mem::take(case.map_or(otherwise, |case| &mut case.1)))
        }
        _ => None,
    }
}

/// The value of an operation, or `None` where it traps or backends might differ.
fn apply(op: Op, args: &[Const], result: Elem, checked: bool) -> Option<Const> {
    let [first, rest @ ..] = args else { return None };
    if op == Op::Cast {
        return cast(*first, result);
    }
    if let (Some(a), b) = (first.as_bool(), rest.first().and_then(|b| b.as_bool())) {
        return logic(op, a, b).map(Const::bool);
    }
    let b = rest.first().copied();
    if let (Some(a), b) = (first.as_int(), b.and_then(Const::as_int)) {
        if let Some(holds) = b.and_then(|b| compare(op, &a, &b)) {
            return Some(Const::bool(holds));
        }
        let exact = integer(op, a, b)?;
        let wrapped = Const::int(result, exact);
        return (!checked || wrapped.as_int() == Some(exact)).then_some(wrapped);
    }
    if !matches!(first.elem(), Elem::F32 | Elem::F64) {
        return None;
    }
    let (a, b) = (first.as_float()?, b.and_then(Const::as_float));
    if let Some(holds) = b.and_then(|b| compare(op, &a, &b)) {
        return Some(Const::bool(holds));
    }
    // One operation on singles in double precision and rounded once more is correctly rounded.
    float(op, a, b).filter(|value| !value.is_nan()).map(|value| Const::float(result, value))
}

fn cast(value: Const, to: Elem) -> Option<Const> {
    if let Some(holds) = value.as_bool() {
        return Some(Const::int(to, holds.into()));
    }
    match value.as_int() {
        // A large integer would round twice on its way to a small float.
        Some(number) if !to.is_float() || number.abs() < 1 << 24 => Some(Const::int(to, number)),
        Some(_) => None,
        None => value.as_float().map(|number| Const::float(to, number)),
    }
}

fn logic(op: Op, a: bool, b: Option<bool>) -> Option<bool> {
    match (op, b) {
        (Op::Not, None) => Some(!a),
        (Op::And, Some(b)) => Some(a && b),
        (Op::Or, Some(b)) => Some(a || b),
        (Op::Eq, Some(b)) => Some(a == b),
        (Op::Ne, Some(b)) => Some(a != b),
        _ => None,
    }
}

fn compare<T: PartialOrd>(op: Op, a: &T, b: &T) -> Option<bool> {
    match op {
        Op::Eq => Some(a == b),
        Op::Ne => Some(a != b),
        Op::Lt => Some(a < b),
        Op::Le => Some(a <= b),
        Op::Gt => Some(a > b),
        Op::Ge => Some(a >= b),
        _ => None,
    }
}

fn integer(op: Op, a: i128, b: Option<i128>) -> Option<i128> {
    match (op, b) {
        (Op::Add, Some(b)) => Some(a + b),
        (Op::Sub, Some(b)) => Some(a - b),
        (Op::Mul, Some(b)) => Some(a.wrapping_mul(b)),
        (Op::Div, Some(b)) => a.checked_div(b),
        (Op::Rem, Some(b)) => a.checked_rem(b),
        (Op::Min, Some(b)) => Some(a.min(b)),
        (Op::Max, Some(b)) => Some(a.max(b)),
        (Op::Neg, None) => Some(-a),
        (Op::Abs, None) => Some(a.abs()),
        (Op::Sign, None) => Some(a.signum()),
        _ => None,
    }
}

fn float(op: Op, a: f64, b: Option<f64>) -> Option<f64> {
    match (op, b) {
        (Op::Add, Some(b)) => Some(a + b),
        (Op::Sub, Some(b)) => Some(a - b),
        (Op::Mul, Some(b)) => Some(a * b),
        (Op::Div, Some(b)) => Some(a / b),
        (Op::Min, Some(b)) => Some(if b < a { b } else { a }),
        (Op::Max, Some(b)) => Some(if b > a { b } else { a }),
        (Op::Neg, None) => Some(-a),
        (Op::Abs, None) => Some(a.abs()),
        (Op::Sqrt, None) => Some(a.sqrt()),
        _ => None,
    }
}
