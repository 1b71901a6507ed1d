//! `name_subscripts`: a subscript that is computed from symbols becomes an index expression.
//!
//! Where an extent is a value of the program (`let T = …;`), `x[T - 1]` reads at a number that the
//! program computes, though it is an expression of the symbol `T`. As an expression, later stages see
//! which point it is: it can be a window's last, and its adjoint is a gather. Only arithmetic in 64 bits
//! is followed, with at most one number that needs them: where that wraps around, the subscript is far
//! outside of every axis, as its expression is. Reads of what is being defined stay as they are, for
//! they do not decide its order. A product of a short index and a symbol is an expression once there is
//! a clause for each value of the index (`short_axes.rs`).

use einlang_index::{Quasi, Var};
use einlang_source::Diagnostics;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::Ctx;
use super::short_axes::{divide_short_axes, prove_reads};
use crate::module::{Group, Module, SymbolSource};
use crate::op::Op;
use crate::region::{Arg, Def, Inst, InstKind, Place, Region, Subscript};
use crate::types::{Elem, Ident};

/// Names the subscripts of every region.
pub fn name_subscripts(module: &mut Module, _: &Ctx) -> Result<(), Diagnostics> {
    let mut symbols = HashMap::default();
    for symbol in &module.symbols {
        if let SymbolSource::Value(name) = &symbol.source {
            symbols.insert(name.clone(), symbol.var);
        }
    }
    let divided = divide_short_axes(module);
    if symbols.is_empty() && divided.is_empty() {
        return Ok(());
    }
    let wide = |name: &Ident| module.tensor_type(name).is_none_or(|ty| ty.elem.bits() > 32);
    let wide = symbols.iter().filter(|(name, _)| wide(name)).map(|(_, var)| *var).collect();
    let mut naming = Naming { symbols, wide, known: HashMap::default(), own: Vec::new() };
    module.groups.iter_mut().for_each(|group| naming.group(group));
    prove_reads(module, &divided);
    Ok(())
}

struct Naming {
    /// The symbols of tensors without axes.
    symbols: HashMap<Ident, Var>,
    /// Those that need 64 bits.
    wide: HashSet<Var>,
    /// Values that are index expressions.
    known: HashMap<u32, Quasi>,
    /// The tensors that are being defined.
    own: Vec<Ident>,
}

impl Naming {
    fn group(&mut self, group: &mut Group) {
        let n_outer = self.own.len();
        self.own.extend(group.bindings.iter().map(|binding| binding.name.clone()));
        group.regions_mut().into_iter().for_each(|region| self.region(region));
        self.own.truncate(n_outer);
    }

    fn region(&mut self, region: &mut Region) {
        for inst in &mut region.insts {
            match &mut inst.kind {
                InstKind::Read(read) => self.place(&mut read.place),
                InstKind::Deriv { of, by } => [of, by].into_iter().for_each(|p| self.place(p)),
                _ => {}
            }
            match &mut inst.kind {
                InstKind::Group(group) => self.group(group),
                _ => inst.regions_mut().into_iter().for_each(|region| self.region(region)),
            }
            if let (Some(value), [Def::Scalar(result)]) = (self.value(inst), &inst.results[..]) {
                self.known.insert(result.number, value);
            }
        }
    }

    fn place(&self, place: &mut Place) {
        if self.own.contains(&place.tensor) {
            return;
        }
        for subscript in &mut place.at {
            if let Subscript::Value(Arg::Value(value)) = subscript
                && let Some(expr) = self.known.get(&value.number)
                && self.is_exact(expr)
            {
                *subscript = Subscript::Index(expr.clone());
            }
        }
    }

    /// Whether the expression is what 64 bits compute, wherever that is inside an axis.
    fn is_exact(&self, expr: &Quasi) -> bool {
        let Some(affine) = expr.as_affine() else { return false };
        let wide = affine.terms().iter().filter(|(var, _)| self.wide.contains(var));
        let small = |(_, factor): &(Var, i64)| factor.unsigned_abs() < 1 << 16;
        wide.clone().count() <= 1
            && affine.terms().iter().all(small)
            && wide.clone().all(|(_, factor)| factor.abs() == 1)
            && affine.constant_part().unsigned_abs() < 1 << 32
    }

    /// The index expression that an instruction computes.
    fn value(&self, inst: &Inst) -> Option<Quasi> {
        let [Def::Scalar(result)] = &inst.results[..] else { return None };
        match &inst.kind {
            InstKind::Read(read) if read.place.at.is_empty() => {
                self.symbols.get(&read.place.tensor).map(|symbol| Quasi::from(*symbol))
            }
            InstKind::Index(expr) if result.elem == Elem::I64 => Some(expr.clone()),
            InstKind::Op(op, args) if result.elem == Elem::I64 => {
                let args: Vec<Quasi> =
                    args.iter().map(|arg| self.exact(arg)).collect::<Option<_>>()?;
                match (op, &args[..]) {
                    (Op::Cast, [x]) => Some(x.clone()),
                    (Op::Add, [x, y]) => x.add(y).ok(),
                    (Op::Sub, [x, y]) => x.sub(y).ok(),
                    (Op::Mul, [x, y]) => match (x.as_constant(), y.as_constant()) {
                        (Some(x), _) => y.scale(x).ok(),
                        (_, Some(y)) => x.scale(y).ok(),
                        _ => None,
                    },
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn exact(&self, arg: &Arg) -> Option<Quasi> {
        match arg {
            Arg::Const(constant) => Some(Quasi::from(i64::try_from(constant.as_int()?).ok()?)),
            Arg::Value(value) => self.known.get(&value.number).cloned(),
            Arg::Tensor(_) => None,
        }
    }
}
