//! Seeing through computed integers: an index such as `x[T - 1]` is often data in the tensor IR,
//! though its value is an index expression of symbols.
//!
//! Every instruction whose value is such an expression is replaced by `index`, and every subscript
//! that is such a value by the expression. Arithmetic of the language wraps and index expressions
//! are exact, so an integer that may wrap becomes a symbol that is one of a few expressions; nothing
//! is taken to be exact that is not.

use einlang_index::{Affine, Constraint, DivOp, Domain, Quasi, Var};
use einlang_tir::module::{Group, Module, SymbolSource};
use einlang_tir::op::Op;
use einlang_tir::region::{Arg, Inst, InstKind, Region, Subscript};
use einlang_tir::types::{Elem, ElemKind, Ident};
use einlang_tir::vars::VarTable;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::context::Context;

/// A value that may wrap around more often than this is data.
const MAX_WRAPS: i128 = 3;

/// A value that is an index expression, and the numbers it lies between.
#[derive(Clone, Debug)]
struct Exact {
    value: Quasi,
    low: i128,
    high: i128,
}

/// The integers of a module that are index expressions.
pub(super) struct Integers {
    /// The values of the tensors without axes.
    pub(super) scalars: HashMap<Ident, Quasi>,
    /// The values of symbols that are computed.
    pub(super) defined: HashMap<Var, Quasi>,
}

/// Replaces what can be replaced, and tells the context what the integers are.
pub(super) fn see_through_integers(module: &mut Module, context: &mut Context) -> Integers {
    let mut symbols = HashMap::default();
    for symbol in &module.symbols {
        if let SymbolSource::Value(name) = &symbol.source {
            symbols.insert(name.clone(), symbol.var);
        }
    }
    let mut groups = std::mem::take(&mut module.groups);
    let vars = &mut module.vars;
    let mut eyes = Eyes {
        vars,
        context,
        wide: HashSet::default(),
        defined: HashMap::default(),
        values: HashMap::default(),
        scalars: HashMap::default(),
    };
    for input in module.inputs.iter().filter(|input| input.ty.rank() == 0) {
        // What comes from outside is one integer throughout, so it can be a symbol.
        let symbol = symbols.get(&input.name).copied();
        let symbol = symbol.unwrap_or_else(|| eyes.vars.symbol(input.name.as_str()));
        eyes.of_scalar(&input.name, input.ty.elem, Some(&symbol), None);
    }
    for group in &mut groups {
        eyes.group(group);
        if let [binding] = &group.bindings[..]
            && binding.axes.is_empty()
            && let [clause] = &binding.clauses[..]
        {
            let known = match (&clause.guard, &clause.body.results[..]) {
                (None, [result]) => eyes.exact(result),
                _ => None,
            };
            eyes.of_scalar(&binding.name, binding.elem, symbols.get(&binding.name), known);
        }
    }
    let scalars = eyes.scalars.into_iter().map(|(name, exact)| (name, exact.value)).collect();
    module.groups = groups;
    Integers { scalars, defined: eyes.defined }
}

struct Eyes<'a> {
    vars: &'a mut VarTable,
    context: &'a mut Context,
    /// Symbols that need not fit 32 bits.
    wide: HashSet<Var>,
    /// The values of symbols.
    defined: HashMap<Var, Quasi>,
    values: HashMap<u32, Exact>,
    scalars: HashMap<Ident, Exact>,
}

impl Eyes<'_> {
    /// Takes note of a tensor without axes: it is its symbol, if it has one, or an expression.
    fn of_scalar(&mut self, name: &Ident, elem: Elem, symbol: Option<&Var>, known: Option<Exact>) {
        let Some((low, high)) = limits(elem) else { return };
        let exact = match (symbol, known) {
            (Some(symbol), known) => {
                let ends = i64::try_from(low).ok().zip(i64::try_from(high).ok());
                if elem.bits() <= 32
                    && let Some((low, high)) = ends
                {
                    self.bounded(&Affine::var(*symbol), low, high);
                } else {
                    self.wide.insert(*symbol);
                }
                if let Some(known) = known {
                    self.context.define(*symbol, &known.value);
                    self.defined.insert(*symbol, known.value);
                }
                Exact { value: Quasi::from(*symbol), low, high }
            }
            (None, Some(known)) => known,
            (None, None) => return,
        };
        self.scalars.insert(name.clone(), exact);
    }

    fn bounded(&mut self, expr: &Affine, low: i64, high: i64) {
        let above = low.checked_neg().and_then(|low| expr.add_constant(low).ok());
        let below = expr.neg().and_then(|expr| expr.add_constant(high)).ok();
        self.context.assume(above.into_iter().chain(below).map(Constraint::Ge));
    }

    fn group(&mut self, group: &mut Group) {
        group.regions_mut().into_iter().for_each(|region| self.region(region));
    }

    fn region(&mut self, region: &mut Region) {
        for inst in &mut region.insts {
            self.subscripts(inst);
            match &mut inst.kind {
                InstKind::Group(group) => self.group(group),
                _ => inst.regions_mut().into_iter().for_each(|region| self.region(region)),
            }
            let Some(result) = inst.results.first().and_then(|def| def.as_scalar()) else {
                continue;
            };
            if let Some(exact) = self.value(&inst.kind, result.elem) {
                if matches!(inst.kind, InstKind::Op(..)) && exact.value.as_constant().is_none() {
                    inst.kind = InstKind::Index(exact.value.clone());
                }
                self.values.insert(result.number, exact);
            }
        }
    }

    fn subscripts(&mut self, inst: &mut Inst) {
        let InstKind::Read(read) = &mut inst.kind else { return };
        for subscript in &mut read.place.at {
            if let Subscript::Value(arg) = subscript
                && let Some(exact) = self.exact(arg)
            {
                *subscript = Subscript::Index(exact.value);
            }
        }
    }

    fn exact(&self, arg: &Arg) -> Option<Exact> {
        match arg {
            Arg::Const(constant) => {
                let number = constant.as_int()?;
                let value = Quasi::from(i64::try_from(number).ok()?);
                Some(Exact { value, low: number, high: number })
            }
            Arg::Value(value) => self.values.get(&value.number).cloned(),
            Arg::Tensor(_) => None,
        }
    }

    /// An index expression and the numbers it lies between. Indices and extents fit 32 bits, as
    /// those of the language do; only computed integers of 64 bits may not.
    fn index(&self, expr: &Quasi) -> Option<Exact> {
        let affine = expr.as_affine()?;
        let start = i128::from(affine.constant_part());
        let (mut low, mut high) = (start, start);
        for (var, factor) in affine.terms() {
            let (least, most) = match self.wide.contains(var) {
                true => (i128::from(i64::MIN), i128::from(i64::MAX)),
                false => (i128::from(i32::MIN), i128::from(i32::MAX)),
            };
            let ends = [least.checked_mul((*factor).into())?, most.checked_mul((*factor).into())?];
            low = low.checked_add(ends[0].min(ends[1]))?;
            high = high.checked_add(ends[0].max(ends[1]))?;
        }
        Some(Exact { value: expr.clone(), low, high })
    }

    /// What an instruction computes, if it is an index expression.
    fn value(&mut self, kind: &InstKind, elem: Elem) -> Option<Exact> {
        let (low, high) = limits(elem)?;
        match kind {
            InstKind::Index(expr) => {
                let exact = self.index(expr)?;
                match low <= exact.low && exact.high <= high {
                    true => Some(exact),
                    false => self.wrapped(exact, elem),
                }
            }
            InstKind::Read(read) if read.place.at.is_empty() => {
                self.scalars.get(&read.place.tensor).cloned()
            }
            InstKind::Op(op, args) => {
                let args: Vec<Exact> =
                    args.iter().map(|arg| self.exact(arg)).collect::<Option<_>>()?;
                let exact = arithmetic(*op, &args)?;
                if low <= exact.low && exact.high <= high {
                    return Some(exact);
                }
                self.wrapped(exact, elem)
            }
            _ => None,
        }
    }

    /// Whether at most one term needs 64 bits, and is little changed.
    fn has_one_wide(&self, expr: &Quasi) -> bool {
        let Some(affine) = expr.as_affine() else { return false };
        let wide = affine.terms().iter().filter(|(var, _)| self.wide.contains(var));
        wide.clone().count() <= 1
            && wide.clone().all(|(_, factor)| factor.abs() == 1)
            && affine.constant_part().unsigned_abs() < 1 << 32
    }

    /// The value modulo the width of its type: a new symbol that is one of a few expressions.
    fn wrapped(&mut self, exact: Exact, elem: Elem) -> Option<Exact> {
        let (low, high) = limits(elem)?;
        if elem.bits() > 32 {
            // Where the one number of 64 bits wraps around, there is no such point.
            return self.has_one_wide(&exact.value).then_some(Exact { low, high, ..exact });
        }
        let width = 1_i128 << elem.bits();
        // The value with this many widths added lies between the limits.
        let least = (low - exact.high).div_euclid(width);
        let most = (high - exact.low).div_euclid(width);
        if most - least > MAX_WRAPS {
            return None;
        }
        let result = self.vars.symbol("wrapped");
        let mut ways = Vec::new();
        for wraps in least..=most {
            let moved = exact.value.add_constant(i64::try_from(wraps * width).ok()?).ok()?;
            let gap = Quasi::from(result).sub(&moved).ok()?;
            let ends = [
                Quasi::from(result).add_constant(i64::try_from(-low).ok()?).ok()?,
                Quasi::from(result).neg().ok()?.add_constant(i64::try_from(high).ok()?).ok()?,
            ];
            let inside = Domain::where_nonnegative(Vec::new(), &ends).ok()?;
            let way = Domain::where_zero(Vec::new(), &gap).ok()?.intersect(&inside).ok()?;
            ways.extend(way.sets().iter().cloned());
        }
        self.context.choose(result, ways);
        Some(Exact { value: result.into(), low, high })
    }
}

/// The numbers of an integer type.
fn limits(elem: Elem) -> Option<(i128, i128)> {
    let bits = elem.bits();
    match elem.kind() {
        ElemKind::Signed => Some((-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1)),
        ElemKind::Unsigned => Some((0, (1_i128 << bits) - 1)),
        ElemKind::Bool | ElemKind::Float => None,
    }
}

/// The exact result of an operation on integers.
fn arithmetic(op: Op, args: &[Exact]) -> Option<Exact> {
    match (op, args) {
        (Op::Add, [a, b]) => Some(Exact {
            value: a.value.add(&b.value).ok()?,
            low: a.low + b.low,
            high: a.high + b.high,
        }),
        (Op::Sub, [a, b]) => Some(Exact {
            value: a.value.sub(&b.value).ok()?,
            low: a.low - b.high,
            high: a.high - b.low,
        }),
        (Op::Neg, [a]) => Some(Exact { value: a.value.neg().ok()?, low: -a.high, high: -a.low }),
        (Op::Mul, [a, b]) => {
            let (a, factor) = match (a.value.as_constant(), b.value.as_constant()) {
                (_, Some(factor)) => (a, factor),
                (Some(factor), _) => (b, factor),
                _ => return None,
            };
            let ends =
                [a.low.checked_mul(i128::from(factor))?, a.high.checked_mul(i128::from(factor))?];
            let value = a.value.scale(factor).ok()?;
            Some(Exact { value, low: ends[0].min(ends[1]), high: ends[0].max(ends[1]) })
        }
        (Op::Div | Op::Rem, [a, b]) => {
            let divisor = b.value.as_constant().filter(|divisor| *divisor > 0)?;
            let size = i128::from(divisor);
            let (op, low, high) = match op {
                Op::Div => (DivOp::TruncDiv, a.low / size, a.high / size),
                _ => (DivOp::TruncRem, 1 - size, size - 1),
            };
            Some(Exact { value: a.value.divide(op, divisor).ok()?, low, high })
        }
        (Op::Cast, [a]) => Some(a.clone()),
        _ => None,
    }
}
