//! Functions that have a rule of the user's.
//!
//! The function with tangents computes the value, printing nothing, and asks the rule for the
//! tangent. A reverse rule is asked once per number of the result, with a unit cotangent: what it
//! gives is multiplied with the tangents and added up. What the rule says nothing about, captured
//! values and functions, is followed through the body as if there were no rule.
//!
//! The value keeps its rule, and the rule is a function like any other, so both can be
//! differentiated again.

use rustc_hash::FxHashSet as HashSet;

use super::dual::Dual;
use super::linear::{Trouble, check_rule};
use super::site::n_points;
use super::{Host, for_each_inst};
use crate::ad::fault::{Fault, R};
use crate::constant::Const;
use crate::host::{
    Block, HostArg, HostDef, HostFn, HostInst, HostKind, HostRule, HostType, Intrinsic, Program,
};
use crate::region::InstKind;
use crate::types::{Elem, Ident};

/// A call of a function with a rule.
struct Ruled<'r> {
    rule: &'r HostRule,
    /// The function that is the rule.
    function: Ident,
    values: Vec<HostArg>,
    /// By parameter: its type, and its tangent if it has one.
    tangents: Vec<(HostType, Option<HostArg>)>,
    /// Which parameters change.
    active: &'r [bool],
    result: HostArg,
}

impl Ruled<'_> {
    /// The parameters that the rule speaks of.
    fn spoken(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.values.len()).filter(|at| !self.rule.silent.contains(at))
    }
}

impl Host<'_> {
    /// The body of a function with tangents that follow its rule.
    pub(super) fn ruled_body(
        &mut self,
        function: &HostFn,
        rule: &HostRule,
        active: &[bool],
    ) -> R<Block> {
        let loc = function.loc;
        check_rule(self, function, rule).map_err(|trouble| match trouble {
            Trouble::NotLinear(loc) => Fault::not_linear(function.name.as_str(), loc),
            Trouble::Unknown(loc) => Fault::not_seen_linear(function.name.as_str(), loc),
        })?;
        let mut own = Dual::new(self, loc);
        let types: Vec<HostType> = function.body.params.iter().map(|def| def.ty.clone()).collect();
        let mut params: Vec<HostDef> =
            types.iter().map(|ty| own.host.new_def(ty.clone())).collect();
        let values: Vec<HostArg> = params.iter().map(|def| HostArg::Value(def.number)).collect();
        let mut tangents = Vec::with_capacity(types.len());
        for ty in types {
            let tangent = own.host.carries(&ty).then(|| own.host.new_def(ty.clone()));
            tangents.push((ty, tangent.as_ref().map(|def| HostArg::Value(def.number))));
            params.extend(tangent);
        }
        let quiet = own.host.quiet_function(&function.name, loc)?;
        let results: Vec<HostDef> =
            function.results.iter().map(|ty| own.host.new_def(ty.clone())).collect();
        let mut given: Vec<HostArg> =
            results.iter().map(|def| HostArg::Value(def.number)).collect();
        let kind = HostKind::Call(quiet, values.clone());
        own.out.push(HostInst { results, kind, loc });
        if let ([ty], [result]) = (&function.results[..], &given[..])
            && own.host.carries(ty)
        {
            let asked = own.host.quiet_function(&rule.function, loc)?;
            let result = result.clone();
            let call = Ruled { rule, function: asked, values, tangents, active, result };
            given.push(own.ruled_tangent(&function.name, ty, &call)?);
        }
        Ok(Block { params, insts: own.out, results: given })
    }
}

impl Dual<'_, '_> {
    fn ruled_tangent(&mut self, name: &Ident, ty: &HostType, call: &Ruled<'_>) -> R<HostArg> {
        let by_rule = call.spoken().any(|at| call.active[at]);
        let beside = call.rule.silent.iter().any(|at| call.active.get(*at) == Some(&true));
        let told = match (by_rule, call.rule.reverse) {
            (false, _) => None,
            (true, false) => Some(self.forward(ty, call)),
            (true, true) => Some(self.transposed(ty, &call.result, &mut Vec::new(), (ty, call))?),
        };
        let followed = if beside { Some(self.followed(name, ty, call)?) } else { None };
        match (told, followed) {
            (Some(told), Some(followed)) => self.added(ty, &told, &followed),
            (Some(tangent), None) | (None, Some(tangent)) => Ok(tangent),
            (None, None) => {
                let kind = HostKind::Intrinsic(Intrinsic::ZerosLike, vec![call.result.clone()]);
                Ok(self.value(ty.clone(), kind))
            }
        }
    }

    /// What a forward rule gives.
    fn forward(&mut self, ty: &HostType, call: &Ruled<'_>) -> HostArg {
        let spoken: Vec<usize> = call.spoken().collect();
        let tangents = spoken
            .into_iter()
            .map(|at| call.tangents[at].1.clone().unwrap_or_else(|| call.values[at].clone()));
        let mut args = call.values.clone();
        args.extend(tangents);
        args.push(call.result.clone());
        self.value(ty.clone(), HostKind::Call(call.function.clone(), args))
    }

    /// What changes of the result through the parameters that the rule says nothing about.
    fn followed(&mut self, name: &Ident, ty: &HostType, call: &Ruled<'_>) -> R<HostArg> {
        let silent = |at: usize| call.rule.silent.contains(&at);
        let active = call.active.iter().enumerate().map(|(at, active)| *active && silent(at));
        let active: Vec<bool> = active.collect();
        let dual = self.host.dual_of(name, &active, false, self.loc)?;
        let mut args = call.values.clone();
        for (at, (ty, tangent)) in call.tangents.iter().enumerate() {
            let Some(tangent) = tangent else { continue };
            let zeros = HostKind::Intrinsic(Intrinsic::ZerosLike, vec![call.values[at].clone()]);
            args.push(match active[at] {
                true => tangent.clone(),
                false => self.value(ty.clone(), zeros),
            });
        }
        let results = vec![self.host.new_def(ty.clone()), self.host.new_def(ty.clone())];
        let tangent = HostArg::Value(results[1].number);
        let kind = HostKind::Call(dual, args);
        self.out.push(HostInst { results, kind, loc: self.loc });
        Ok(tangent)
    }

    /// The tangent of the part of a result that a path leads to, by a reverse rule.
    fn transposed(
        &mut self,
        ty: &HostType,
        part: &HostArg,
        path: &mut Vec<usize>,
        (whole, call): (&HostType, &Ruled<'_>),
    ) -> R<HostArg> {
        match ty {
            ty if !self.host.carries(ty) => Ok(part.clone()),
            HostType::Scalar(elem) => {
                let unit = HostArg::Const(Const::one(*elem));
                self.by_unit(unit, path, *elem, (whole, call))
            }
            HostType::Tensor(elem, rank) => {
                self.point_by_point(part, (*elem, *rank), path, (whole, call))
            }
            _ => {
                let refused = "a reverse rule of a function that gives lists, enums or functions";
                let parts = self.host.parts(ty);
                let parts = parts.ok_or_else(|| Fault::unsupported(refused, self.loc))?;
                let mut tangents = Vec::with_capacity(parts.len());
                for (at, inner) in parts.iter().enumerate() {
                    path.push(at);
                    let own = self.field(part, at, inner);
                    tangents.push(self.transposed(inner, &own, path, (whole, call))?);
                    path.pop();
                }
                Ok(self.record(ty, tangents))
            }
        }
    }

    /// The tangent of a tensor, one unit cotangent after the other.
    fn point_by_point(
        &mut self,
        part: &HostArg,
        (elem, rank): (Elem, usize),
        path: &[usize],
        (whole, call): (&HostType, &Ruled<'_>),
    ) -> R<HostArg> {
        let n_points = n_points(self, part, rank);
        let one = HostType::Tensor(elem, 0);
        let list = HostType::List(Box::new(one.clone()));
        let empty = self.value(list.clone(), HostKind::List(Vec::new()));
        let counter = self.host.new_def(HostType::Scalar(Elem::I64));
        let so_far = self.host.new_def(list.clone());
        let outer = std::mem::take(&mut self.out);
        let position = vec![part.clone(), HostArg::Value(counter.number)];
        let kind = HostKind::Intrinsic(Intrinsic::OneHot, position);
        let unit = self.value(HostType::Tensor(elem, rank), kind);
        let tangent = self.by_unit(unit, path, elem, (whole, call))?;
        let kind = HostKind::Intrinsic(Intrinsic::Scalar, vec![tangent]);
        let tangent = self.value(one.clone(), kind);
        let given = vec![HostArg::Value(so_far.number), tangent];
        let pushed = self.value(list.clone(), HostKind::Intrinsic(Intrinsic::ListPush, given));
        let insts = std::mem::replace(&mut self.out, outer);
        let body = Block { params: vec![counter, so_far], insts, results: vec![pushed] };
        let zero = HostArg::Const(Const::int(Elem::I64, 0));
        let all = self.value(list, HostKind::For(zero, n_points, vec![empty], body));
        let of = HostKind::Intrinsic(Intrinsic::Scalar, vec![HostArg::Const(Const::zero(elem))]);
        let of = self.value(one, of);
        let kind = HostKind::Intrinsic(Intrinsic::Jacobian, vec![all, of, part.clone()]);
        Ok(self.value(HostType::Tensor(elem, rank), kind))
    }

    /// The rule for one unit cotangent, times the tangents of the parameters.
    fn by_unit(
        &mut self,
        unit: HostArg,
        path: &[usize],
        elem: Elem,
        (whole, call): (&HostType, &Ruled<'_>),
    ) -> R<HostArg> {
        let cotangent = self.placed(whole, &call.result, path, unit);
        let mut args = call.values.clone();
        args.extend([cotangent, call.result.clone()]);
        let spoken: Vec<usize> = call.spoken().collect();
        let types: Vec<HostType> = spoken.iter().map(|at| call.tangents[*at].0.clone()).collect();
        let gives = match &types[..] {
            [one] => one.clone(),
            _ => HostType::Tuple(types.clone()),
        };
        let cotangents = self.value(gives, HostKind::Call(call.function.clone(), args));
        let mut total = None;
        for (which, (at, ty)) in spoken.iter().zip(&types).enumerate() {
            let Some(tangent) = call.tangents[*at].1.clone().filter(|_| call.active[*at]) else {
                continue;
            };
            let own = match types.len() {
                1 => cotangents.clone(),
                _ => self.field(&cotangents, which, ty),
            };
            let found = self.product(ty, (&own, &tangent), elem)?;
            total = self.plus(total, found, elem);
        }
        Ok(total.unwrap_or(HostArg::Const(Const::zero(elem))))
    }

    /// Zeros in the form of a value, and something else where a path leads.
    fn placed(&mut self, ty: &HostType, value: &HostArg, path: &[usize], leaf: HostArg) -> HostArg {
        let (Some((first, rest)), Some(parts)) = (path.split_first(), self.host.parts(ty)) else {
            return leaf;
        };
        let mut placed = Vec::with_capacity(parts.len());
        for (at, part) in parts.iter().enumerate() {
            let own = self.field(value, at, part);
            let zeros = HostKind::Intrinsic(Intrinsic::ZerosLike, vec![own.clone()]);
            placed.push(match at == *first {
                true => self.placed(part, &own, rest, leaf.clone()),
                false => self.value(part.clone(), zeros),
            });
        }
        self.record(ty, placed)
    }
}

/// Forgets the rules; those that nothing calls go, with the modules that only they run.
pub(super) fn drop_rules(program: &mut Program) {
    let mut rules: HashSet<Ident> = HashSet::default();
    for function in &mut program.functions {
        rules.extend(function.rule.take().map(|rule| rule.function));
    }
    if rules.is_empty() {
        return;
    }
    let mut called: HashSet<Ident> = HashSet::default();
    for function in program.functions.iter().filter(|f| !rules.contains(&f.name)) {
        for_each_inst(&function.body, &mut |inst| {
            if let HostKind::Call(name, _) | HostKind::Closure(name, _) = &inst.kind {
                called.insert(name.clone());
            }
        });
    }
    for module in &program.modules {
        module.for_each_inst(&mut |inst| {
            if let InstKind::HostCall { function, .. } = &inst.kind {
                called.insert(function.clone());
            }
        });
    }
    let runs = |function: &HostFn, found: &mut HashSet<String>| {
        for_each_inst(&function.body, &mut |inst| {
            if let HostKind::Run(name, _) = &inst.kind {
                found.insert(name.as_str().to_owned());
            }
        });
    };
    let (mut gone, mut kept) = (HashSet::default(), HashSet::default());
    program.functions.retain(|function| {
        let goes = rules.contains(&function.name) && !called.contains(&function.name);
        runs(function, if goes { &mut gone } else { &mut kept });
        !goes
    });
    program.modules.retain(|m| !gone.contains(&m.name) || kept.contains(&m.name));
}
