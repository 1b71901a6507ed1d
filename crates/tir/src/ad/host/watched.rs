//! Watching the rules of host functions: each call compares the rule with differences of the
//! function's values and writes down how strongly it is contradicted, as `watch` does for functions
//! of modules.
//!
//! The calls go to a function that calls the one with the rule and looks at it afterwards. What it
//! evaluates once more prints nothing. Calls from modules are watched there. Functions that take or give lists, enums or functions to be
//! moved are not watched.

use super::Host;
use super::dual::Dual;
use super::tensors::{alone, axes_of, op, read};
use crate::ad::fault::{Fault, R};
use crate::ad::probe::weight;
use crate::ad::watch::Watch;
use crate::constant::Const;
use crate::host::{
    Block, HostArg, HostDef, HostFn, HostInst, HostKind, HostRule, HostType, Intrinsic,
};
use crate::module::{Module, Symbol, SymbolSource};
use crate::op::Op;
use crate::region::{Def, Inst, InstKind, Region, Tensor};
use crate::types::{Elem, Ident, Loc, TensorType};

/// What a call was given and gave, and the directions along which it is looked at.
struct Seen<'f> {
    function: &'f HostFn,
    rule: &'f HostRule,
    values: Vec<HostArg>,
    /// Along which each parameter moves, if the rule speaks of it.
    directions: Vec<Option<HostArg>>,
    result: HostArg,
    weights: HostArg,
}

impl Host<'_> {
    /// Sends calls to functions that look at rules; those that cannot be watched stay as they are.
    pub(super) fn watch_rules(&mut self, written: &[Ident]) -> Vec<Watch> {
        let mut watches = Vec::new();
        let mut sent = Vec::new();
        for name in written {
            let found = self.program.functions.iter().find(|f| f.name == *name).cloned();
            let Some((function, rule)) = found.and_then(|f| f.rule.clone().map(|rule| (f, rule)))
            else {
                continue;
            };
            let key = format!("host.{}", name.as_str());
            let Ok(body) = self.watching_body(&function, &rule, &key) else { continue };
            let watching = self.unique(&format!("{}.watched", name.as_str()));
            let place = self.program.functions.iter().find(|f| f.name == rule.function);
            let loc = place.map_or(function.loc, |place| place.loc);
            watches.push(Watch { function: name.clone(), output: Ident::new(&key), loc });
            let made = HostFn { name: watching.clone(), body, rule: None, ..function };
            sent.push((name.clone(), rule.function, watching, made));
        }
        for (name, rule, watching, _) in &sent {
            let is_caller =
                |f: &&mut HostFn| written.contains(&f.name) && f.name != *name && f.name != *rule;
            for function in self.program.functions.iter_mut().filter(is_caller) {
                send_calls(&mut function.body, name, watching);
            }
        }
        self.program.functions.extend(sent.into_iter().map(|(.., made)| made));
        watches
    }

    fn watching_body(&mut self, function: &HostFn, rule: &HostRule, key: &str) -> R<Block> {
        let loc = function.loc;
        let [ty] = &function.results[..] else { return Err(refused(loc)) };
        let mut own = Dual::new(self, loc);
        let types: Vec<HostType> = function.body.params.iter().map(|def| def.ty.clone()).collect();
        let params: Vec<HostDef> = types.iter().map(|ty| own.host.new_def(ty.clone())).collect();
        let values: Vec<HostArg> = params.iter().map(|def| HostArg::Value(def.number)).collect();
        let kind = HostKind::Call(function.name.clone(), values.clone());
        let result = own.value(ty.clone(), kind);
        let mut directions = Vec::with_capacity(types.len());
        for (at, ty) in types.iter().enumerate() {
            directions.push(match rule.silent.contains(&at) || !own.host.carries(ty) {
                true => None,
                false => Some(own.pattern(ty, &values[at], at, 1.0)?),
            });
        }
        let weights = own.pattern(ty, &result, 3, 1.0)?;
        let seen = Seen { function, rule, values, directions, result: result.clone(), weights };
        let fault = own.fault(&seen, types.iter().chain([ty]))?;
        let boxed = HostKind::Intrinsic(Intrinsic::Scalar, vec![fault]);
        let boxed = own.value(HostType::Tensor(Elem::F64, 0), boxed);
        let kind = HostKind::Intrinsic(Intrinsic::Observe, vec![boxed, HostArg::Str(key.into())]);
        own.out.push(HostInst { results: Vec::new(), kind, loc });
        Ok(Block { params, insts: own.out, results: vec![result] })
    }

    /// The module that gives numbers without a pattern in the shape of a tensor, times a factor.
    fn pattern_module(&mut self, elem: Elem, rank: usize, loc: Loc) -> Ident {
        if let Some(known) = self.patterns.get(&(elem, rank)) {
            return known.clone();
        }
        let name = self.unique("direction");
        let mut module = Module::new(name.as_str());
        let (x, factor, y) = (Ident::new("x"), Ident::new("factor"), Ident::new("y"));
        let mut dims = Vec::with_capacity(rank);
        for axis in 0..rank {
            let var = module.vars.symbol(&format!("x.{axis}"));
            let source = SymbolSource::Shape(x.clone(), axis);
            module.symbols.push(Symbol { var, source, loc });
            dims.push(einlang_index::Quasi::from(var).into());
        }
        let ty = TensorType { elem, dims };
        module.inputs.push(Tensor { name: x, ty: ty.clone() });
        module.inputs.push(Tensor { name: factor.clone(), ty: TensorType::scalar(elem) });
        let axes = axes_of(&mut module, &ty);
        let mut body = Region::default();
        let mut angle = Const::float(elem, weight(0)).into();
        for (axis, of) in axes.iter().enumerate() {
            let index = module.supply.value(Elem::I64);
            let kind = InstKind::Index(of.var.into());
            body.insts.push(Inst { results: vec![Def::Scalar(index)], kind, loc });
            let own = op(&mut module, &mut body.insts, Op::Cast, vec![index.into()], elem, loc);
            let slope = Const::float(elem, 1.0 + weight(axis + 7)).into();
            let part =
                op(&mut module, &mut body.insts, Op::Mul, vec![own.into(), slope], elem, loc);
            angle = op(&mut module, &mut body.insts, Op::Add, vec![angle, part.into()], elem, loc)
                .into();
        }
        let wave = op(&mut module, &mut body.insts, Op::Cos, vec![angle], elem, loc);
        let by = read(&mut module, &mut body.insts, factor, Vec::new(), elem, loc);
        let value = vec![wave.into(), by.into()];
        let value = op(&mut module, &mut body.insts, Op::Mul, value, elem, loc);
        body.results = vec![value.into()];
        module.groups.push(alone(y.clone(), elem, axes, body, loc));
        module.outputs.push(y);
        self.program.modules.push(module);
        self.patterns.insert((elem, rank), name.clone());
        name
    }
}

impl Dual<'_, '_> {
    /// How strongly the rule is contradicted: above 1 it is.
    fn fault<'t>(
        &mut self,
        seen: &Seen<'_>,
        mut types: impl Iterator<Item = &'t HostType>,
    ) -> R<HostArg> {
        let short = types.any(|ty| self.is_short(ty));
        let (step, tolerance) = if short { (2e-2, 3e-2) } else { (1e-4, 1e-5) };
        let by_rule = self.by_rule(seen)?;
        let coarse = self.difference(seen, step)?;
        let fine = self.difference(seen, step / 2.0)?;
        let away = self.float(Op::Sub, vec![by_rule.clone(), fine.clone()]);
        let away = self.float(Op::Abs, vec![away]);
        let spread = self.float(Op::Sub, vec![coarse, fine.clone()]);
        let spread = self.float(Op::Abs, vec![spread]);
        let spread = self.float(Op::Mul, vec![spread, number(8.0)]);
        let sizes = [by_rule, fine].map(|of| self.float(Op::Abs, vec![of]));
        let size = self.float(Op::Add, sizes.to_vec());
        let size = self.float(Op::Add, vec![size, number(1.0)]);
        let size = self.float(Op::Mul, vec![size, number(tolerance)]);
        let fault = self.float(Op::Div, vec![away.clone(), size]);
        // False for NaN, so that a function without a value says nothing.
        let kind = HostKind::Op(Op::Gt, vec![away, spread]);
        let is_sure = self.value(HostType::Scalar(Elem::Bool), kind);
        let block = |result| Block { params: Vec::new(), insts: Vec::new(), results: vec![result] };
        let kind = HostKind::If(is_sure, block(fault), block(number(0.0)));
        Ok(self.value(HostType::Scalar(Elem::F64), kind))
    }

    fn float(&mut self, op: Op, args: Vec<HostArg>) -> HostArg {
        self.value(HostType::Scalar(Elem::F64), HostKind::Op(op, args))
    }

    /// Whether a type has floats of less than 64 bits.
    fn is_short(&self, ty: &HostType) -> bool {
        match ty {
            HostType::Scalar(elem) | HostType::Tensor(elem, _) => {
                elem.is_float() && *elem != Elem::F64
            }
            _ => self.host.parts(ty).is_some_and(|parts| parts.iter().any(|ty| self.is_short(ty))),
        }
    }

    /// Numbers in the form of a value, times a factor.
    fn pattern(&mut self, ty: &HostType, value: &HostArg, salt: usize, by: f64) -> R<HostArg> {
        match ty {
            ty if !self.host.carries(ty) => Ok(value.clone()),
            HostType::Scalar(elem) => Ok(HostArg::Const(Const::float(*elem, by * weight(salt)))),
            HostType::Tensor(elem, rank) => {
                let module = self.host.pattern_module(*elem, *rank, self.loc);
                let factor = HostArg::Const(Const::float(*elem, by * weight(salt)));
                let factor = HostKind::Intrinsic(Intrinsic::Scalar, vec![factor]);
                let factor = self.value(HostType::Tensor(*elem, 0), factor);
                Ok(self.value(ty.clone(), HostKind::Run(module, vec![value.clone(), factor])))
            }
            _ => {
                let parts = self.host.parts(ty).ok_or_else(|| refused(self.loc))?;
                let mut made = Vec::with_capacity(parts.len());
                for (at, part) in parts.iter().enumerate() {
                    let own = self.field(value, at, part);
                    made.push(self.pattern(part, &own, salt + at, by)?);
                }
                Ok(self.record(ty, made))
            }
        }
    }

    /// What the rule says about the weighted sum of the result.
    fn by_rule(&mut self, seen: &Seen<'_>) -> R<HostArg> {
        let Seen { function, rule, values, directions, result, weights } = seen;
        let asked = self.host.quiet_function(&rule.function, self.loc)?;
        let spoken: Vec<usize> = (0..values.len()).filter(|at| !rule.silent.contains(at)).collect();
        let types: Vec<HostType> = function.body.params.iter().map(|def| def.ty.clone()).collect();
        let mut args = values.clone();
        let ty = &function.results[0];
        if !rule.reverse {
            let along = |at: &usize| directions[*at].clone().unwrap_or_else(|| values[*at].clone());
            args.extend(spoken.iter().map(along));
            args.push(result.clone());
            let tangent = self.value(ty.clone(), HostKind::Call(asked, args));
            let sum = self.product(ty, (&tangent, weights), Elem::F64)?;
            return Ok(sum.unwrap_or(number(0.0)));
        }
        args.extend([weights.clone(), result.clone()]);
        let given: Vec<HostType> = spoken.iter().map(|at| types[*at].clone()).collect();
        let gives = match &given[..] {
            [one] => one.clone(),
            _ => HostType::Tuple(given.clone()),
        };
        let all = self.value(gives, HostKind::Call(asked, args));
        let mut total = None;
        for (which, (at, ty)) in spoken.iter().zip(&given).enumerate() {
            let Some(direction) = &directions[*at] else { continue };
            let own = match given.len() {
                1 => all.clone(),
                _ => self.field(&all, which, ty),
            };
            let found = self.product(ty, (&own, direction), Elem::F64)?;
            total = self.plus(total, found, Elem::F64);
        }
        Ok(total.unwrap_or(number(0.0)))
    }

    /// The difference of the weighted sums on both sides, over the distance.
    fn difference(&mut self, seen: &Seen<'_>, step: f64) -> R<HostArg> {
        let Seen { function, values, directions, weights, .. } = seen;
        let quiet = self.host.quiet_function(&function.name, self.loc)?;
        let ty = &function.results[0];
        let mut sums = Vec::with_capacity(2);
        for step in [step, -step] {
            let mut moved = Vec::with_capacity(values.len());
            for (at, (value, def)) in values.iter().zip(&function.body.params).enumerate() {
                moved.push(match directions[at] {
                    None => value.clone(),
                    Some(_) => {
                        let way = self.pattern(&def.ty, value, at, step)?;
                        self.added(&def.ty, value, &way)?
                    }
                });
            }
            let found = self.value(ty.clone(), HostKind::Call(quiet.clone(), moved));
            let sum = self.product(ty, (&found, weights), Elem::F64)?;
            sums.push(sum.unwrap_or(number(0.0)));
        }
        let difference = self.float(Op::Sub, sums);
        Ok(self.float(Op::Div, vec![difference, number(2.0 * step)]))
    }
}

/// Sends the calls of one function to another.
fn send_calls(block: &mut Block, from: &Ident, to: &Ident) {
    for inst in &mut block.insts {
        inst.blocks_mut().into_iter().for_each(|inner| send_calls(inner, from, to));
        if let HostKind::Call(name, _) = &mut inst.kind
            && name == from
        {
            *name = to.clone();
        }
    }
}

fn refused(loc: Loc) -> Fault {
    Fault::unsupported("watching this rule", loc)
}

fn number(of: f64) -> HostArg {
    HostArg::Const(Const::float(Elem::F64, of))
}
