//! `resolve_subscripts`: integers that are expressions of sizes become index expressions.
//!
//! `x[T - 1]` with a number `T` that the program computes is read at a value; where that value is a
//! size of the module as well, it is known which plane it is. Invariant: every subscript has the value
//! that it had.

use std::collections::HashMap;

use einlang_index::{Quasi, Var};
use einlang_tir::module::{Module, SymbolSource};
use einlang_tir::op::Op;
use einlang_tir::region::{Arg, Inst, InstKind, Region, Subscript};
use einlang_tir::types::{Elem, Ident};

/// Makes index expressions of values.
pub(crate) fn resolve_subscripts(module: &mut Module) {
    let mut sizes: HashMap<Ident, Var> = HashMap::new();
    for symbol in &module.symbols {
        if let SymbolSource::Value(name) = &symbol.source {
            sizes.insert(name.clone(), symbol.var);
        }
    }
    let mut known = HashMap::new();
    for group in &mut module.groups {
        for region in group.regions_mut() {
            resolve(region, &sizes, &mut known);
        }
    }
}

fn resolve(region: &mut Region, sizes: &HashMap<Ident, Var>, known: &mut HashMap<u32, Quasi>) {
    for inst in &mut region.insts {
        if let InstKind::Read(read) = &mut inst.kind {
            for subscript in &mut read.place.at {
                if let Subscript::Value(arg) = subscript
                    && let Some(expr) = value(arg, known)
                {
                    *subscript = Subscript::Index(expr);
                }
            }
        }
        if let Some((number, expr)) = learned(inst, sizes, known) {
            known.insert(number, expr);
        }
        for region in inst.regions_mut() {
            resolve(region, sizes, known);
        }
    }
}

fn value(arg: &Arg, known: &HashMap<u32, Quasi>) -> Option<Quasi> {
    match arg {
        Arg::Const(constant) => {
            let number = i64::try_from(constant.as_int()?).ok()?;
            // Larger numbers are no subscripts, and their sums might wrap.
            (number.abs() < 1 << 40).then(|| Quasi::from(number))
        }
        Arg::Value(value) => known.get(&value.number).cloned(),
        Arg::Tensor(_) => None,
    }
}

/// What an instruction tells of an integer. Narrow integers wrap where index expressions do not, so
/// they are only carried on.
fn learned(
    inst: &Inst,
    sizes: &HashMap<Ident, Var>,
    known: &HashMap<u32, Quasi>,
) -> Option<(u32, Quasi)> {
    let result = inst.results.first()?.as_scalar()?;
    let expr = match &inst.kind {
        InstKind::Read(read) if read.place.at.is_empty() => {
            Quasi::from(*sizes.get(&read.place.tensor)?)
        }
        InstKind::Index(expr) if result.elem == Elem::I64 => expr.clone(),
        InstKind::Op(Op::Cast, args) if result.elem == Elem::I64 => {
            let from = args.first()?.elem()?;
            if !from.is_int() || from == Elem::U64 {
                return None;
            }
            value(args.first()?, known)?
        }
        InstKind::Op(op @ (Op::Add | Op::Sub), args) if result.elem == Elem::I64 => {
            let (a, b) = (value(args.first()?, known)?, value(args.get(1)?, known)?);
            if *op == Op::Add { a.add(&b).ok()? } else { a.sub(&b).ok()? }
        }
        _ => return None,
    };
    Some((result.number, expr))
}
