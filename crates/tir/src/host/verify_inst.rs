//! What each host instruction asks of its operands, results and blocks.

use rustc_hash::FxHashSet as HashSet;

use super::verify::{Check, Signature};
use super::{Class, HostArg, HostInst, HostKind, HostType, Intrinsic};
use crate::module::{Module, SymbolSource};
use crate::types::{Elem, Ident};

type Checked = Result<(), (&'static str, String)>;

const BOOL: HostType = HostType::Scalar(Elem::Bool);
const I64: HostType = HostType::Scalar(Elem::I64);

fn expect(holds: bool, message: impl Into<String>) -> Checked {
    if holds { Ok(()) } else { Err(("typed_insts", message.into())) }
}

/// Checks operands and results. What is not visible is another invariant's business.
pub(super) fn check_inst(check: &Check<'_>, inst: &HostInst) -> Checked {
    let results: Vec<HostType> = inst.results.iter().map(|def| def.ty.clone()).collect();
    let args: Vec<HostArg> = inst.args().into_iter().cloned().collect();
    let Some(types) = check.types_of(&args) else { return Ok(()) };
    let one = |wanted: &dyn Fn(&HostType) -> bool, what: &str| match &results[..] {
        [ty] => expect(wanted(ty), format!("{what} does not give {ty}")),
        _ => expect(false, format!("{what} defines one value")),
    };
    match &inst.kind {
        HostKind::Op(op, _) => {
            let elems: Option<Vec<Elem>> = types.iter().map(as_scalar).collect();
            let wanted = results.first().and_then(as_scalar).unwrap_or(Elem::Bool);
            let elems = elems.ok_or(("typed_insts", format!("`{}` takes scalars", op.name())))?;
            let elem = op.result(&elems, wanted).map_err(|message| ("typed_insts", message))?;
            one(&|ty| *ty == HostType::Scalar(elem), op.name())
        }
        HostKind::Tuple(_) => one(&|ty| *ty == HostType::Tuple(types.clone()), "a tuple"),
        HostKind::Struct(name, _) => {
            let fits = check.program.fields(name).is_some_and(|fields| fields == types);
            expect(fits, format!("`{}` has other fields", name.as_str()))?;
            one(&|ty| *ty == HostType::Struct(name.clone()), "a struct")
        }
        HostKind::Variant(name, variant, _) => {
            let fields = variant_fields(check, name, variant);
            let message = format!("`{}` has other fields", variant.as_str());
            expect(fields.is_some_and(|fields| fields == types), message)?;
            one(&|ty| *ty == HostType::Enum(name.clone()), "a variant")
        }
        HostKind::List(_) => one(
            &|ty| matches!(ty, HostType::List(of) if types.iter().all(|ty| *ty == **of)),
            "a list",
        ),
        HostKind::Field(_, at) => {
            let fields = match types.first() {
                Some(HostType::Tuple(types)) => Some(types.clone()),
                Some(HostType::Struct(name)) => check.program.fields(name),
                _ => None,
            };
            let field = fields.and_then(|fields| fields.get(*at).cloned());
            expect(field.is_some(), format!("there is no field {at}"))?;
            one(&|ty| field.as_ref() == Some(ty), "a field")
        }
        HostKind::If(..) => expect(types[..] == [BOOL], "a condition is a truth value"),
        HostKind::Switch(_, cases, _) => {
            let is_int = types.first().and_then(as_scalar).is_some_and(Elem::is_int);
            expect(is_int, "`switch` wants an integer")?;
            let numbers: HashSet<i64> = cases.iter().map(|case| case.0).collect();
            expect(numbers.len() == cases.len(), "a case is listed twice")
        }
        HostKind::Match(_, arms, otherwise) => {
            complete_match(check, types.first(), arms.iter().map(|a| &a.0), otherwise.is_some())
        }
        HostKind::For(..) => {
            expect(types.len() >= 2 && types[..2] == [I64, I64], "`for` runs over i64")?;
            expect(types[2..] == results[..], "what is carried does not fit the results")
        }
        HostKind::While(..) => expect(types == results, "what is carried does not fit the results"),
        HostKind::Call(name, _) => check_call(check, name, &types, &results),
        HostKind::Closure(name, _) => check_closure(check, name, &types, &results),
        HostKind::Apply(..) => match types.split_first() {
            Some((HostType::Fn(params, gives), given)) => {
                expect(params == given, "the function value takes other arguments")?;
                expect(*gives == results, "the function value gives other results")
            }
            _ => expect(false, "only a function value can be applied"),
        },
        HostKind::Run(name, _) => check_run(check, name, &types, &results),
        HostKind::Format(_) => one(&|ty| *ty == HostType::Str, "a format"),
        HostKind::Intrinsic(intrinsic, _) => check_intrinsic(*intrinsic, &types, &results),
        HostKind::Try(_) => one(&|ty| ok_type(check, ty).is_some(), "`try`"),
        HostKind::Assert(..) => {
            expect(types[..] == [BOOL], "an assertion is a truth value")?;
            expect(results.is_empty(), "an assertion defines nothing")
        }
        HostKind::Fail(..) => {
            expect(types[..] == [HostType::Str], "a message is a string")?;
            expect(results.is_empty(), "a failure defines nothing")
        }
        HostKind::Trap(..) => expect(results.is_empty(), "a trap defines nothing"),
    }
}

fn as_scalar(ty: &HostType) -> Option<Elem> {
    match ty {
        HostType::Scalar(elem) => Some(*elem),
        _ => None,
    }
}

fn variant_fields(check: &Check<'_>, name: &Ident, variant: &Ident) -> Option<Vec<HostType>> {
    let variants = check.program.variants(name)?;
    variants.iter().find(|v| v.name == *variant).map(|v| v.fields.clone())
}

/// The payload of `Ok` in an enum with the variants `Ok(T)` and `Err(str)`.
fn ok_type(check: &Check<'_>, ty: &HostType) -> Option<Vec<HostType>> {
    let HostType::Enum(name) = ty else { return None };
    let error = variant_fields(check, name, &Ident::new("Err"))?;
    variant_fields(check, name, &Ident::new("Ok")).filter(|_| error == [HostType::Str])
}

fn complete_match<'n>(
    check: &Check<'_>,
    on: Option<&HostType>,
    arms: impl Iterator<Item = &'n Ident>,
    has_else: bool,
) -> Checked {
    let broken = |message: String| Err(("complete_matches", message));
    let Some(HostType::Enum(name)) = on else {
        return broken("`match` wants an enum".to_owned());
    };
    let variants = check.program.variants(name).unwrap_or_default();
    let mut covered = HashSet::default();
    for arm in arms {
        if !variants.iter().any(|variant| variant.name == *arm) {
            return broken(format!("`{}` has no variant `{}`", name.as_str(), arm.as_str()));
        }
        if !covered.insert(arm) {
            return broken(format!("`{}` is matched twice", arm.as_str()));
        }
    }
    match variants.iter().find(|variant| !covered.contains(&variant.name)) {
        Some(missing) if !has_else => broken(format!("`{}` is not covered", missing.name.as_str())),
        _ => Ok(()),
    }
}

fn check_call(check: &Check<'_>, name: &Ident, args: &[HostType], results: &[HostType]) -> Checked {
    let callee = check.program.functions.iter().find(|function| function.name == *name);
    let Some(callee) = callee else {
        return expect(false, format!("there is no function `{}`", name.as_str()));
    };
    let fits = callee.body.params.iter().map(|param| &param.ty).eq(args);
    expect(fits, format!("`{}` takes other arguments", name.as_str()))?;
    expect(callee.results == results, format!("`{}` gives other results", name.as_str()))
}

fn check_closure(
    check: &Check<'_>,
    name: &Ident,
    given: &[HostType],
    results: &[HostType],
) -> Checked {
    let callee = check.program.functions.iter().find(|function| function.name == *name);
    let Some(callee) = callee else {
        return expect(false, format!("there is no function `{}`", name.as_str()));
    };
    let mut params: Vec<HostType> = callee.body.params.iter().map(|p| p.ty.clone()).collect();
    expect(params.starts_with(given), format!("`{}` captures other values", name.as_str()))?;
    let rest = params.split_off(given.len());
    expect(*results == [HostType::Fn(rest, callee.results.clone())], "a closure has another type")
}

fn check_run(check: &Check<'_>, name: &Ident, args: &[HostType], results: &[HostType]) -> Checked {
    let broken = |message: String| Err(("runnable_modules", message));
    let module = check.program.modules.iter().find(|module| module.name == name.as_str());
    let Some(module) = module else {
        return broken(format!("there is no module `{}`", name.as_str()));
    };
    if module_params(module) != args {
        return broken(format!("`{}` takes other arguments", name.as_str()));
    }
    let outputs = module.outputs.iter().filter_map(|name| module.tensor_type(name));
    let outputs: Vec<HostType> = outputs.map(|ty| HostType::Tensor(ty.elem, ty.rank())).collect();
    if outputs != results {
        return broken(format!("`{}` gives other results", name.as_str()));
    }
    Ok(())
}

/// The inputs of a module and then the symbols that the caller passes.
fn module_params(module: &Module) -> Vec<HostType> {
    let inputs = module.inputs.iter().map(|i| HostType::Tensor(i.ty.elem, i.ty.rank()));
    let symbols = module.symbols.iter().filter(|s| s.source == SymbolSource::Argument);
    inputs.chain(symbols.map(|_| I64)).collect()
}

fn check_intrinsic(intrinsic: Intrinsic, args: &[HostType], results: &[HostType]) -> Checked {
    let (wanted, name) = (intrinsic.operands(), intrinsic.name());
    let enough = match intrinsic.is_variadic() {
        true => args.len() >= wanted.len(),
        false => args.len() == wanted.len(),
    };
    expect(enough, format!("`{name}` takes {} operands, not {}", wanted.len(), args.len()))?;
    let fits = wanted.iter().zip(args).all(|(class, ty)| class.contains(ty));
    expect(fits, format!("`{name}` takes other operands"))?;
    match (intrinsic.result(), results) {
        (Class::Nothing, []) => Ok(()),
        (class, [ty]) => expect(class.contains(ty), format!("`{name}` does not give {ty}")),
        _ => expect(false, format!("`{name}` has other results")),
    }
}

/// The signatures of an instruction's blocks, in the order of [`HostInst::blocks`].
pub(super) fn expected_blocks(check: &Check<'_>, inst: &HostInst) -> Option<Vec<Signature>> {
    let results: Vec<HostType> = inst.results.iter().map(|def| def.ty.clone()).collect();
    match &inst.kind {
        HostKind::If(..) | HostKind::Switch(..) => {
            Some(inst.blocks().iter().map(|_| (Vec::new(), results.clone())).collect())
        }
        HostKind::Match(on, arms, _) => {
            let Some(HostType::Enum(name)) = check.type_of(on) else { return None };
            let fields = |arm: &Ident| variant_fields(check, &name, arm).unwrap_or_default();
            let arms = arms.iter().map(|arm| (fields(&arm.0), results.clone()));
            Some(arms.chain([(Vec::new(), results.clone())]).collect())
        }
        HostKind::For(..) => {
            let params = [I64].into_iter().chain(results.clone()).collect();
            Some(vec![(params, results)])
        }
        HostKind::While(..) => {
            Some(vec![(results.clone(), vec![BOOL]), (results.clone(), results)])
        }
        HostKind::Try(_) => {
            let ok = results.first().and_then(|ty| ok_type(check, ty))?;
            Some(vec![(Vec::new(), ok)])
        }
        _ => None,
    }
}
