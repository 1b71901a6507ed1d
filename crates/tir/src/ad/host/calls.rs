//! Calls of host functions from tensor code: where a derivative is asked for, the function gets a
//! rule, whose coefficients are calls of the function with tangents.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::Host;
use super::dual::Dual;
use crate::ad::fault::R;
use crate::constant::Const;
use crate::host::{Block, HostArg, HostFn, HostInst, HostKind, HostType};
use crate::module::{Function, Module, Rule};
use crate::op::Op;
use crate::region::{Arg, Def, Inst, InstKind, Region};
use crate::types::{Elem, Ident, Loc};

/// Derivatives of a higher order than this do not go through functions of the host in tensor code.
const MAX_NESTED: usize = 4;

/// Whether a module asks for derivatives and calls host functions with floats.
pub(super) fn asks_for_rules(module: &Module) -> bool {
    let (mut asks, mut calls) = (false, false);
    module.for_each_inst(&mut |inst| {
        asks |= matches!(inst.kind, InstKind::Deriv { .. });
        calls |= takes_floats(inst);
    });
    asks && calls
}

fn takes_floats(inst: &Inst) -> bool {
    let gives = |def: &Def| def.as_scalar().is_some_and(|value| value.elem.is_float());
    match &inst.kind {
        InstKind::HostCall { args, .. } => {
            inst.results.iter().any(gives)
                && args.iter().any(|arg| arg.elem().is_some_and(Elem::is_float))
        }
        _ => false,
    }
}

impl Host<'_> {
    /// Gives the host functions that tensor code calls their rules.
    pub(super) fn give_rules(&mut self) -> R<()> {
        // Rules bring modules of their own, which are looked at in their turn.
        let mut at = 0;
        while at < self.program.modules.len() {
            if asks_for_rules(&self.program.modules[at]) {
                self.rules_in(at)?;
            }
            at += 1;
        }
        Ok(())
    }

    /// The functions that a module calls get rules, the functions that these rules call get rules,
    /// and so on as often as requests are about other requests.
    fn rules_in(&mut self, at: usize) -> R<()> {
        let n_levels = n_nested(&self.program.modules[at]).min(MAX_NESTED);
        let mut ruled: HashSet<Ident> = HashSet::default();
        for _ in 0..n_levels {
            let mut called: BTreeMap<Ident, (Vec<Elem>, Vec<Elem>, Loc)> = BTreeMap::new();
            self.program.modules[at].for_each_inst(&mut |inst| {
                let InstKind::HostCall { function, args } = &inst.kind else { return };
                if takes_floats(inst) && !ruled.contains(function) {
                    let takes = args.iter().filter_map(Arg::elem).collect();
                    let gives = inst.results.iter().filter_map(Def::as_scalar).map(|v| v.elem);
                    called.insert(function.clone(), (takes, gives.collect(), inst.loc));
                }
            });
            redirect(&mut self.program.modules[at], &called.keys().cloned().collect());
            for (function, (takes, gives, loc)) in called {
                let mut partials = Vec::with_capacity(takes.len());
                for (which, taken) in takes.iter().enumerate() {
                    partials.push(match taken.is_float() {
                        true => Some(self.partial(&function, which, loc)?),
                        false => None,
                    });
                }
                let module = &mut self.program.modules[at];
                let own = wrapper(module, &function, &takes, &gives, loc);
                let rule = rule(module, &function, (&takes, &gives), &partials, loc);
                module.functions.extend([own, rule]);
                ruled.insert(function);
            }
        }
        Ok(())
    }

    /// The function that gives how the results follow one argument.
    fn partial(&mut self, function: &Ident, which: usize, loc: Loc) -> R<Ident> {
        let name = self.unique(&format!("{}.{which}", function.as_str()));
        let found = self.program.functions.iter().find(|f| f.name == *function).cloned();
        let Some(callee) = found else { return Ok(name) };
        let active: Vec<bool> = (0..callee.body.params.len()).map(|at| at == which).collect();
        let dual = self.dual_function(function, &active, loc)?;
        let own = Dual::new(self, loc);
        let params: Vec<_> =
            callee.body.params.iter().map(|def| own.host.new_def(def.ty.clone())).collect();
        let mut args: Vec<HostArg> = params.iter().map(|def| HostArg::Value(def.number)).collect();
        for (at, def) in callee.body.params.iter().enumerate() {
            if let HostType::Scalar(elem) = def.ty
                && elem.is_float()
            {
                let unit = if at == which { Const::one(elem) } else { Const::zero(elem) };
                args.push(HostArg::Const(unit));
            }
        }
        let floats: Vec<HostType> =
            callee.results.iter().filter(|ty| own.host.carries(ty)).cloned().collect();
        let types = callee.results.iter().chain(&floats);
        let results: Vec<_> = types.cloned().collect::<Vec<_>>();
        let results: Vec<_> = results.into_iter().map(|ty| own.host.new_def(ty)).collect();
        let given = results[callee.results.len()..].iter().map(|d| HostArg::Value(d.number));
        let given: Vec<HostArg> = given.collect();
        let call = HostInst { results, kind: HostKind::Call(dual, args), loc };
        let body = Block { params, insts: vec![call], results: given };
        self.program.functions.push(HostFn {
            name: name.clone(),
            results: floats,
            body,
            rule: None,
            loc,
        });
        Ok(name)
    }
}

/// Calls of these functions of the host become calls of functions of the module.
fn redirect(module: &mut Module, called: &HashSet<Ident>) {
    let mut redirect = |region: &mut Region| {
        for inst in &mut region.insts {
            if let InstKind::HostCall { function, args } = &inst.kind
                && called.contains(function)
            {
                let (function, args) = (function.clone(), args.clone());
                inst.kind = InstKind::Call { function, args };
            }
        }
    };
    module.regions_mut().for_each(|region| region.for_each_region_mut(&mut redirect));
}

/// How many requests of a module are about each other, at most.
fn n_nested(module: &Module) -> usize {
    let mut orders: HashMap<&Ident, usize> = HashMap::default();
    let mut most = 1;
    for group in &module.groups {
        let mut own = 0;
        for region in group.regions() {
            region.for_each_inst(&mut |inst| match &inst.kind {
                InstKind::Read(read) => {
                    own = own.max(orders.get(&read.place.tensor).copied().unwrap_or(0));
                }
                InstKind::Deriv { of, .. } => {
                    own = own.max(1 + orders.get(&of.tensor).copied().unwrap_or(own));
                }
                _ => {}
            });
        }
        most = most.max(own);
        orders.extend(group.bindings.iter().map(|binding| (&binding.name, own)));
    }
    most
}

fn params(module: &mut Module, takes: &[Elem]) -> (Vec<Def>, Vec<Arg>) {
    let values: Vec<_> = takes.iter().map(|elem| module.supply.value(*elem)).collect();
    let defs = values.iter().map(|value| Def::Scalar(*value)).collect();
    (defs, values.into_iter().map(Arg::Value).collect())
}

fn host_call(
    module: &mut Module,
    function: &Ident,
    args: &[Arg],
    gives: &[Elem],
    loc: Loc,
) -> (Inst, Vec<Arg>) {
    let (results, values) = params(module, gives);
    let kind = InstKind::HostCall { function: function.clone(), args: args.to_vec() };
    (Inst { results, kind, loc }, values)
}

/// The function of the module that stands for the one of the host.
fn wrapper(
    module: &mut Module,
    function: &Ident,
    takes: &[Elem],
    gives: &[Elem],
    loc: Loc,
) -> Function {
    let (params, args) = params(module, takes);
    let (inst, results) = host_call(module, function, &args, gives, loc);
    let rule = Rule { function: rule_name(function), reverse: false, silent: 0 };
    let body = Region { params, insts: vec![inst], results };
    Function { name: function.clone(), body, rule: Some(rule), loc }
}

fn rule_name(function: &Ident) -> Ident {
    Ident::new(&format!("{}.rule", function.as_str()))
}

/// The arguments and their tangents give the tangents of the results.
fn rule(
    module: &mut Module,
    function: &Ident,
    (takes, gives): (&[Elem], &[Elem]),
    partials: &[Option<Ident>],
    loc: Loc,
) -> Function {
    let (mut defs, args) = params(module, takes);
    let (more, tangents) = params(module, takes);
    defs.extend(more);
    let floats: Vec<Elem> = gives.iter().copied().filter(|elem| elem.is_float()).collect();
    let mut insts = Vec::new();
    let mut sums: Vec<Option<Arg>> = vec![None; floats.len()];
    for (partial, tangent) in partials.iter().zip(&tangents) {
        let Some(partial) = partial else { continue };
        let (call, coefficients) = host_call(module, partial, &args, &floats, loc);
        insts.push(call);
        for (sum, (coefficient, elem)) in sums.iter_mut().zip(coefficients.iter().zip(&floats)) {
            let tangent = match tangent.elem() == Some(*elem) {
                true => tangent.clone(),
                false => apply(module, &mut insts, Op::Cast, vec![tangent.clone()], *elem, loc),
            };
            let product = vec![coefficient.clone(), tangent];
            let product = apply(module, &mut insts, Op::Mul, product, *elem, loc);
            *sum = Some(match sum.take() {
                None => product,
                Some(sum) => apply(module, &mut insts, Op::Add, vec![sum, product], *elem, loc),
            });
        }
    }
    let mut sums = sums.into_iter();
    let results = gives.iter().map(|elem| match elem.is_float() {
        true => sums.next().flatten().unwrap_or_else(|| Const::zero(*elem).into()),
        false => Const::zero(*elem).into(),
    });
    let body = Region { params: defs, insts, results: results.collect() };
    Function { name: rule_name(function), body, rule: None, loc }
}

fn apply(
    module: &mut Module,
    insts: &mut Vec<Inst>,
    op: Op,
    args: Vec<Arg>,
    elem: Elem,
    loc: Loc,
) -> Arg {
    let value = module.supply.value(elem);
    insts.push(Inst { results: vec![Def::Scalar(value)], kind: InstKind::Op(op, args), loc });
    value.into()
}
