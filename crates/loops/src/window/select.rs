//! What the inputs of a run decide: the values of symbols, and with them the conditions of windows.

use einlang_index::{Quasi, Var};
use einlang_tir::host::{HostArg, Program};
use einlang_tir::module::{Condition, Relation, SymbolSource};
use rustc_hash::FxHashMap as HashMap;

use super::Prepared;
use super::escape::{Fates, Run};
use super::report::{AxisStorage, BindingStorage, Keep, Reason, Why};

/// What a run was given for a parameter of the entry.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Given {
    /// An integer.
    Integer(i64),
    /// A tensor of this shape.
    Shape(Vec<usize>),
}

/// The parameters of the entry by number, with what they were given.
pub(super) fn parameters(program: &Program, given: &[Option<Given>]) -> HashMap<u32, Given> {
    let entry = program.functions.iter().find(|f| Some(&f.name) == program.entry.as_ref());
    let params = entry.iter().flat_map(|entry| &entry.body.params);
    params.zip(given).filter_map(|(def, given)| Some((def.number, given.clone()?))).collect()
}

/// The values of the symbols of a module that runs once, as far as the parameters decide them.
pub(super) fn symbols(
    prepared: &Prepared,
    fates: &Fates,
    given: &HashMap<u32, Given>,
) -> HashMap<Var, i64> {
    let mut values = HashMap::default();
    let Some([run]) = fates.runs.get(&prepared.module.name).map(Vec::as_slice) else {
        return values;
    };
    let module = &prepared.module;
    let mut passed = run.args.iter().skip(module.inputs.len());
    for symbol in &module.symbols {
        let value = match &symbol.source {
            SymbolSource::Argument => passed.next().and_then(|arg| integer(fates, given, arg)),
            SymbolSource::Shape(name, axis) => {
                let at = module.inputs.iter().position(|input| input.name == *name);
                at.and_then(|at| extent(run, given, at, *axis))
            }
            SymbolSource::Value(_) => {
                prepared.defined.get(&symbol.var).and_then(|e| at(e, &values))
            }
            SymbolSource::Max(of) => extreme(of, &values, i64::max),
            SymbolSource::Min(of) => extreme(of, &values, i64::min),
            SymbolSource::Until | SymbolSource::Local => None,
        };
        values.extend(value.map(|value| (symbol.var, value)));
    }
    values
}

fn integer(fates: &Fates, given: &HashMap<u32, Given>, arg: &HostArg) -> Option<i64> {
    match fates.origin(arg) {
        HostArg::Const(constant) => i64::try_from(constant.as_int()?).ok(),
        HostArg::Value(number) => match given.get(&number)? {
            Given::Integer(value) => Some(*value),
            Given::Shape(_) => None,
        },
        HostArg::Str(_) => None,
    }
}

fn extent(run: &Run, given: &HashMap<u32, Given>, at: usize, axis: usize) -> Option<i64> {
    let HostArg::Value(number) = run.args.get(at)? else { return None };
    match given.get(number)? {
        Given::Shape(shape) => i64::try_from(*shape.get(axis)?).ok(),
        Given::Integer(_) => None,
    }
}

fn extreme(of: &[Quasi], values: &HashMap<Var, i64>, pick: fn(i64, i64) -> i64) -> Option<i64> {
    let all: Option<Vec<i64>> = of.iter().map(|expr| at(expr, values)).collect();
    all?.into_iter().reduce(pick)
}

/// The value of an expression, if all its variables have one.
fn at(expr: &Quasi, values: &HashMap<Var, i64>) -> Option<i64> {
    let mut known = true;
    expr.for_each_var(&mut |var| known &= values.contains_key(&var));
    let value = expr.eval(&|var| values.get(&var).copied().unwrap_or(0)).ok();
    value.filter(|_| known).and_then(|value| i64::try_from(value).ok())
}

/// Settles the conditions and extents of a binding for one run.
pub(super) fn settle(binding: &mut BindingStorage, values: &HashMap<Var, i64>) {
    for axis in &mut binding.axes {
        axis.extent_now = at(&axis.extent, values);
        settle_axis(axis, values);
    }
}

fn settle_axis(axis: &mut AxisStorage, values: &HashMap<Var, i64>) {
    let truths: Vec<Option<bool>> = axis.conditions.iter().map(|c| holds(c, values)).collect();
    let mut open = truths.iter().map(Option::is_none);
    axis.conditions.retain(|_| open.next().unwrap_or(true));
    let failed = truths.iter().position(|truth| *truth == Some(false));
    let text = failed.and_then(|at| axis.condition_text.get(at).cloned());
    let mut open = truths.iter().map(Option::is_none);
    axis.condition_text.retain(|_| open.next().unwrap_or(true));
    if let Some(text) = text {
        axis.keep = Keep::Full;
        axis.tail = None;
        axis.conditions.clear();
        axis.condition_text.clear();
        let loc = axis.reasons.last().map(|reason| reason.loc).unwrap_or_default();
        axis.reasons = vec![Reason { why: Why::ConditionFails(text), loc }];
    }
}

fn holds(condition: &Condition, values: &HashMap<Var, i64>) -> Option<bool> {
    let (left, right) = (at(&condition.left, values)?, at(&condition.right, values)?);
    Some(match condition.relation {
        Relation::Eq => left == right,
        Relation::Le => left <= right,
        Relation::Lt => left < right,
        Relation::Ge => left >= right,
        Relation::Gt => left > right,
    })
}
