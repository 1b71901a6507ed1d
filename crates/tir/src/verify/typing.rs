//! Types of operands, results and regions.

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::Problems;
use super::scope::{Item, Scope, walk};
use crate::message::Message;
use crate::module::Module;
use crate::region::{
    Arg, Combiner, Def, Inst, InstKind, Place, Reduction, Region, Start, Subscript,
};
use crate::types::{Elem, TensorType};

/// The type of an operand or definition as far as surroundings care: extents are not compared,
/// because equal extents may be written differently.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Scalar(Elem),
    Tensor(Elem, usize),
}

fn tensor_kind(ty: &TensorType) -> Kind {
    Kind::Tensor(ty.elem, ty.rank())
}

fn def_kinds(defs: &[Def]) -> Vec<Kind> {
    let kind = |def: &Def| match def {
        Def::Scalar(value) => Kind::Scalar(value.elem),
        Def::Tensor(tensor) => tensor_kind(&tensor.ty),
    };
    defs.iter().map(kind).collect()
}

/// `None` when a tensor is unknown, which another invariant reports.
fn arg_kinds(scope: &Scope<'_>, args: &[Arg]) -> Option<Vec<Kind>> {
    let kind = |arg: &Arg| match arg {
        Arg::Const(constant) => Some(Kind::Scalar(constant.elem())),
        Arg::Value(value) => Some(Kind::Scalar(value.elem)),
        Arg::Tensor(name) => scope.tensors.get(name).map(tensor_kind),
    };
    args.iter().map(kind).collect()
}

/// Calls `check` for every instruction and reports what it says.
fn each_inst(
    module: &Module,
    invariant: &'static str,
    problems: &mut Problems,
    check: impl Fn(&Scope<'_>, &Inst) -> Result<(), String>,
) {
    walk(module, &mut |scope, item| {
        if let Item::Inst(inst) = item
            && let Err(message) = check(scope, inst)
        {
            problems.add(invariant, &scope.place, message);
        }
    });
}

/// Operands and result of an operation obey the op table.
pub(super) fn typed_ops(module: &Module, problems: &mut Problems) {
    each_inst(module, "typed_ops", problems, |_, inst| {
        let InstKind::Op(op, args) = &inst.kind else { return Ok(()) };
        let [Def::Scalar(result)] = &inst.results[..] else {
            return Err(format!("`{}` defines one scalar", op.name()));
        };
        let elems: Option<Vec<Elem>> = args.iter().map(Arg::elem).collect();
        let elems = elems.ok_or_else(|| format!("`{}` takes scalars", op.name()))?;
        let elem = op.result(&elems, result.elem)?;
        expect(elem == result.elem, || format!("`{}` gives {elem}, not {}", op.name(), result.elem))
    });
}

fn expect(holds: bool, message: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(message()) }
}

/// Every other instruction has the operands and results its kind asks for.
pub(super) fn typed_insts(module: &Module, problems: &mut Problems) {
    each_inst(module, "typed_insts", problems, |scope, inst| match &inst.kind {
        InstKind::Index(_) => one_scalar(inst, "an index", Elem::is_int),
        InstKind::Read(read) => {
            integer_subscripts(&read.place)?;
            let elem = scope.tensors.get(&read.place.tensor).map(|ty| ty.elem);
            one_scalar(inst, "a read", |result| elem.is_none_or(|elem| elem == result))
        }
        InstKind::Deriv { of, by } => {
            integer_subscripts(of)?;
            integer_subscripts(by)?;
            let elem = |place: &Place| scope.tensors.get(&place.tensor).map(|ty| ty.elem);
            let differentiable = [of, by].into_iter().all(|p| elem(p).is_none_or(Elem::is_float));
            expect(differentiable, || "only floats have derivatives".to_owned())?;
            one_scalar(inst, "a derivative", |e| elem(of).is_none_or(|elem| elem == e))
        }
        InstKind::Param { value, .. } => {
            expect(value.elem().is_some_and(Elem::is_int), || "a parameter is an integer".into())?;
            no_results(inst)
        }
        InstKind::Converged(_) => one_scalar(inst, "`converged`", |elem| elem == Elem::Bool),
        InstKind::Assert { condition, message } => {
            expect(is_bool(condition), || "an assertion is a truth value".to_owned())?;
            shows_scalars(message)?;
            no_results(inst)
        }
        InstKind::Trap { message, .. } => {
            shows_scalars(message)?;
            no_results(inst)
        }
        InstKind::Group(_) => no_results(inst),
        InstKind::If { condition, .. } => {
            expect(is_bool(condition), || "a condition is a truth value".to_owned())
        }
        InstKind::Switch { on, cases, .. } => {
            expect(on.elem().is_some_and(Elem::is_int), || "`switch` wants an integer".into())?;
            let numbers: HashSet<i64> = cases.iter().map(|case| case.0).collect();
            expect(numbers.len() == cases.len(), || "a case is listed twice".to_owned())
        }
        InstKind::HostCall { function, args } => {
            let scalars = args.iter().all(|arg| arg.elem().is_some())
                && inst.results.iter().all(|def| def.as_scalar().is_some());
            let name = function.as_str();
            expect(scalars, || format!("`{name}` takes and gives scalars only"))
        }
        InstKind::Op(..) | InstKind::Reduce(_) | InstKind::Call { .. } => Ok(()),
    });
}

fn is_bool(arg: &Arg) -> bool {
    arg.elem() == Some(Elem::Bool)
}

fn one_scalar(inst: &Inst, what: &str, fits: impl Fn(Elem) -> bool) -> Result<(), String> {
    match &inst.results[..] {
        [Def::Scalar(value)] if fits(value.elem) => Ok(()),
        [Def::Scalar(value)] => Err(format!("{what} does not give {}", value.elem)),
        _ => Err(format!("{what} defines one scalar")),
    }
}

fn shows_scalars(message: &Message) -> Result<(), String> {
    let scalars = message.args().all(|arg| arg.elem().is_some());
    expect(scalars && !message.0.is_empty(), || "a message is text and scalars".to_owned())
}

fn no_results(inst: &Inst) -> Result<(), String> {
    expect(inst.results.is_empty(), || "the instruction defines nothing".to_owned())
}

fn integer_subscripts(place: &Place) -> Result<(), String> {
    let is_int = |subscript: &Subscript| match subscript {
        Subscript::Index(_) => true,
        Subscript::Value(arg) => arg.elem().is_some_and(Elem::is_int),
    };
    expect(place.at.iter().all(is_int), || "a subscript is an integer".to_owned())
}

/// What a region must take and give.
struct Shape {
    what: &'static str,
    params: Vec<Kind>,
    results: Vec<Kind>,
}

/// Arms, bodies, guards and combiners yield what their surroundings expect.
pub(super) fn typed_regions(module: &Module, problems: &mut Problems) {
    // Regions are owned by their surroundings, so an address names one during this walk.
    let mut expected: HashMap<*const Region, Shape> = HashMap::default();
    let mut add = |region: &Region, what, params, results| {
        expected.insert(std::ptr::from_ref(region), Shape { what, params, results });
    };
    module.groups.iter().for_each(|group| expect_group(group, &mut add));
    module.for_each_inst(&mut |inst| expect_inst(inst, &mut add));
    walk(module, &mut |scope, item| {
        let Item::Yield(region) = item else { return };
        let Some(shape) = expected.get(&std::ptr::from_ref(region)) else { return };
        if def_kinds(&region.params) != shape.params {
            let message = format!("{} has the wrong parameters", shape.what);
            problems.add("typed_regions", &scope.place, message);
        }
        if arg_kinds(scope, &region.results).is_some_and(|kinds| kinds != shape.results) {
            let message = format!("{} yields the wrong results", shape.what);
            problems.add("typed_regions", &scope.place, message);
        }
    });
    each_inst(module, "typed_regions", problems, |scope, inst| match &inst.kind {
        InstKind::Reduce(reduction) => check_reduction(scope, inst, reduction),
        _ => Ok(()),
    });
}

type Add<'f> = &'f mut dyn FnMut(&Region, &'static str, Vec<Kind>, Vec<Kind>);

fn expect_group(group: &crate::module::Group, add: Add<'_>) {
    for binding in &group.bindings {
        for clause in &binding.clauses {
            let exported = expect_guard(clause.guard.as_ref(), &clause.body, add);
            add(&clause.body, "a clause", exported, vec![Kind::Scalar(binding.elem)]);
        }
    }
    if let Some(until) = &group.until {
        add(&until.condition, "an `until`", Vec::new(), vec![Kind::Scalar(Elem::Bool)]);
    }
}

/// A guard yields a truth value and then what the body takes.
fn expect_guard(guard: Option<&Region>, body: &Region, add: Add<'_>) -> Vec<Kind> {
    let Some(guard) = guard else { return Vec::new() };
    let exported = def_kinds(&body.params);
    let mut results = vec![Kind::Scalar(Elem::Bool)];
    results.extend(&exported);
    add(guard, "a guard", Vec::new(), results);
    exported
}

fn expect_inst(inst: &Inst, add: Add<'_>) {
    let results = def_kinds(&inst.results);
    match &inst.kind {
        InstKind::Read(read) => {
            read.default.iter().for_each(|r| add(r, "a default", Vec::new(), results.clone()));
        }
        InstKind::If { .. } | InstKind::Switch { .. } => {
            inst.regions().into_iter().for_each(|r| add(r, "an arm", Vec::new(), results.clone()));
        }
        InstKind::Group(group) => expect_group(group, add),
        InstKind::Reduce(reduction) => {
            let exported = expect_guard(reduction.guard.as_ref(), &reduction.body, add);
            add(&reduction.body, "a reduction", exported, results.clone());
            if let Combiner::Region(combine) = &reduction.combine {
                let both = [results.clone(), results.clone()].concat();
                add(combine, "a combiner", both, results);
            }
        }
        _ => {}
    }
}

/// The state has one part per result, and starts with the right types.
fn check_reduction(scope: &Scope<'_>, inst: &Inst, reduction: &Reduction) -> Result<(), String> {
    let state = def_kinds(&inst.results);
    expect(!state.is_empty(), || "a reduction defines its state".to_owned())?;
    if let Combiner::Op(op) = &reduction.combine {
        let [Kind::Scalar(elem)] = state[..] else {
            return Err("an operation combines one scalar".to_owned());
        };
        let result = op.result(&[elem, elem], elem)?;
        expect(result == elem, || format!("`{}` does not give {elem}", op.name()))?;
    }
    if reduction.start == Start::First {
        return Ok(());
    }
    let start = arg_kinds(scope, reduction.start.args());
    expect(start.is_none_or(|s| s == state), || "the start does not fit the state".to_owned())
}

/// Callees exist and take the arguments given.
pub(super) fn typed_calls(module: &Module, problems: &mut Problems) {
    each_inst(module, "typed_calls", problems, |scope, inst| {
        let InstKind::Call { function, args } = &inst.kind else { return Ok(()) };
        let name = function.as_str();
        let callee = module.functions.iter().find(|f| f.name == *function);
        let callee = callee.ok_or_else(|| format!("there is no function `{name}`"))?;
        let given = arg_kinds(scope, args);
        let fits = given.is_none_or(|given| given == def_kinds(&callee.body.params));
        expect(fits, || format!("`{name}` takes other arguments"))?;
        let fits = results_fit(&callee.body, &inst.results);
        expect(fits, || format!("`{name}` gives other results"))
    });
    for function in &module.functions {
        if let Some(rule) = &function.rule
            && !module.functions.iter().any(|f| f.name == rule.function)
        {
            let entity = format!("function `{}`", function.name.as_str());
            let message = format!("there is no rule `{}`", rule.function.as_str());
            problems.add("typed_calls", entity, message);
        }
    }
}

/// Whether results of a body fit definitions; the rank of a tensor is checked where it is read.
fn results_fit(body: &Region, defs: &[Def]) -> bool {
    let fits = |(arg, def): (&Arg, &Def)| match (arg.elem(), def) {
        (Some(elem), Def::Scalar(value)) => elem == value.elem,
        (None, Def::Tensor(_)) => true,
        _ => false,
    };
    body.results.len() == defs.len() && body.results.iter().zip(defs).all(fits)
}
