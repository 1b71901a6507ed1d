//! Calls of functions with a rule that take or give tensors, where arguments depend on the indices
//! around the call.
//!
//! As in `isolate`, the results become bindings of their own, and so do the coefficients of the rule
//! and the sums by which a result follows a parameter; here all of them have the indices around as
//! leading axes. The function and its rule see the slice of each argument that belongs to a point.

use einlang_index::Var;

use super::context::zero;
use super::fault::{Fault, R};
use super::isolate::{RuleCall, result_type};
use super::lift::{Lifter, extended};
use crate::module::{Axis, Binding, Function, Rule, box_of};
use crate::op::Op;
use crate::region::{
    Arg, Combiner, Def, Inst, InstKind, Place, Read, ReduceFlags, Reduction, Region, Start,
    Subscript,
};
use crate::types::{Elem, Ident, TensorType};

/// An argument: a constant, or a tensor of the module with the indices that lead to its slice.
enum Given {
    Const(Arg),
    Tensor { name: Ident, prefix: Vec<Var>, ty: TensorType },
}

impl Given {
    fn ty(&self) -> TensorType {
        match self {
            Given::Const(arg) => {
                TensorType { elem: arg.elem().unwrap_or(Elem::F64), dims: Vec::new() }
            }
            Given::Tensor { ty, .. } => ty.clone(),
        }
    }
}

/// A call at each point of some indices around it.
struct Batched<'a> {
    inst: &'a Inst,
    function: &'a Ident,
    given: Vec<Given>,
    around: Vec<Var>,
    code: Function,
    rule: Rule,
}

impl Lifter<'_, '_> {
    /// Gives a call with tensors bindings of its own; what is left are reads of its results.
    pub(super) fn batch_call(&mut self, inst: &Inst) -> R<Vec<Inst>> {
        let InstKind::Call { function, args } = &inst.kind else { return Ok(Vec::new()) };
        let named = |name: &Ident| self.ad.module.functions.iter().find(|f| f.name == *name);
        let rule = named(function).and_then(|found| found.rule.clone());
        let code = rule.as_ref().and_then(|rule| named(&rule.function).cloned());
        let (Some(rule), Some(code)) = (rule, code) else {
            let what = format!("`{}`", function.as_str());
            return Err(Fault::no_rule(&what, inst.loc));
        };
        let given =
            args.iter().map(|arg| self.given(function, arg, inst)).collect::<R<Vec<_>>>()?;
        let leads = |var: &Var| {
            let is_led = |given: &Given| match given {
                Given::Tensor { prefix, .. } => prefix.contains(var),
                Given::Const(_) => false,
            };
            given.iter().any(is_led)
        };
        let around: Vec<Var> = self.axes.iter().map(|axis| axis.var).filter(leads).collect();
        let call = Batched { inst, function, given, around, code, rule };
        self.batch_results(&call)
    }

    fn given(&mut self, function: &Ident, arg: &Arg, inst: &Inst) -> R<Given> {
        let (name, prefix) = match arg {
            Arg::Const(_) => return Ok(Given::Const(arg.clone())),
            Arg::Tensor(name) => {
                let prefix = self.locals.get(name).cloned().unwrap_or_default();
                (name.clone(), prefix)
            }
            Arg::Value(value) => {
                let name = self.ad.fresh_name(&format!("{}.arg", function.as_str()));
                let body =
                    Region { params: Vec::new(), insts: Vec::new(), results: vec![arg.clone()] };
                let prefix = self.make(name.clone(), value.elem, body)?;
                (name, prefix)
            }
        };
        let made = self.made.iter().find(|binding| binding.name == name);
        let mut ty = match made {
            Some(binding) => binding.ty(),
            None => self.ad.tensor_type(&name)?,
        };
        ty.dims.drain(..prefix.len().min(ty.dims.len()));
        if !ty.dims.iter().all(|dim| self.ad.is_global(&dim.extent)) {
            return Err(self.ad.no_tensors(function, inst.loc));
        }
        Ok(Given::Tensor { name, prefix, ty })
    }

    fn batch_results(&mut self, call: &Batched<'_>) -> R<Vec<Inst>> {
        let mut reads = Vec::new();
        for (at, def) in call.inst.results.iter().enumerate() {
            let ty = result_type(def);
            if !ty.dims.iter().all(|dim| self.ad.is_global(&dim.extent)) {
                return Err(self.ad.no_tensors(call.function, call.inst.loc));
            }
            let name = match def {
                Def::Tensor(tensor) => {
                    self.locals.insert(tensor.name.clone(), call.around.clone());
                    tensor.name.clone()
                }
                Def::Scalar(value) => {
                    let name = self.ad.fresh_name(&format!("{}.result", call.function.as_str()));
                    let at = call.around.iter().map(|var| Subscript::Index((*var).into()));
                    let place = Place { tensor: name.clone(), at: at.collect() };
                    let kind = InstKind::Read(Read { place, default: None, proved: true });
                    reads.push(Inst {
                        results: vec![Def::Scalar(*value)],
                        kind,
                        loc: call.inst.loc,
                    });
                    name
                }
            };
            self.batch_value(call, at, &name, &ty)?;
            self.ad.flat.insert(name.clone());
            let mut sums = Vec::new();
            for (which, given) in call.given.iter().enumerate() {
                let by = given.ty();
                if let Given::Tensor { name: parameter, prefix, .. } = given
                    && by.elem.is_float()
                    && ty.elem.is_float()
                {
                    let coefficients = match which < call.rule.silent {
                        true => self.batch_body(call, (at, &ty), (which, &by))?,
                        false => self.batch_rule(call, (at, &ty), (which, &by))?,
                    };
                    let parameter = (parameter, &prefix[..], &by);
                    sums.push(self.batch_follow(call, &name, &ty, parameter, coefficients)?);
                }
            }
            self.ad.calls.sums.insert(name, sums);
        }
        Ok(reads)
    }

    /// The slices of the arguments at a point, as local tensors and scalars.
    fn slices(&mut self, call: &Batched<'_>, out: &mut Vec<Inst>) -> R<Vec<Arg>> {
        let mut operands = Vec::with_capacity(call.given.len());
        for given in &call.given {
            operands.push(match given {
                Given::Const(arg) => arg.clone(),
                Given::Tensor { name, prefix, ty } => {
                    let point = |own: &[Var]| -> Vec<Subscript> {
                        let all = prefix.iter().chain(own);
                        all.map(|var| Subscript::Index((*var).into())).collect()
                    };
                    match ty.dims.is_empty() {
                        true => self.ad.read(out, name, point(&[]), ty.elem, true),
                        false => Arg::Tensor(self.ad.local(out, ty, |ad, insts, own| {
                            Ok(ad.read(insts, name, point(own), ty.elem, true))
                        })?),
                    }
                }
            });
        }
        Ok(operands)
    }

    /// The binding that holds one result.
    fn batch_value(
        &mut self,
        call: &Batched<'_>,
        at: usize,
        name: &Ident,
        ty: &TensorType,
    ) -> R<()> {
        let mut insts = Vec::new();
        let args = self.slices(call, &mut insts)?;
        let defs: Vec<Def> = call.inst.results.iter().map(|def| self.ad.like(def)).collect();
        let kind = InstKind::Call { function: call.function.clone(), args };
        insts.push(Inst { results: defs.clone(), kind, loc: call.inst.loc });
        let own = self.own_axes(ty);
        let result = match &defs[at] {
            Def::Scalar(value) => Arg::from(*value),
            Def::Tensor(tensor) => {
                let point = own.iter().map(|axis| Subscript::Index(axis.var.into())).collect();
                self.ad.read(&mut insts, &tensor.name, point, ty.elem, true)
            }
        };
        self.batch_binding(call, name, ty.elem, own, insts, result)
    }

    /// How one result follows one parameter, for each point of both and of the indices around.
    fn batch_rule(
        &mut self,
        call: &Batched<'_>,
        of: (usize, &TensorType),
        by: (usize, &TensorType),
    ) -> R<Ident> {
        let name = self.ad.fresh_name(&format!("{}.rule", call.function.as_str()));
        let mut insts = Vec::new();
        let operands = self.slices(call, &mut insts)?;
        let types = call.given.iter().map(Given::ty).collect();
        let results = call.inst.results.iter().map(result_type).collect();
        let rule = RuleCall { code: &call.code, rule: &call.rule, operands, types, results };
        let entry = self.ad.rule_entry(&mut insts, rule, of, by)?;
        let own = [entry.of_axes, entry.by_axes].concat();
        self.batch_binding(call, &name, of.1.elem, own, insts, entry.value)?;
        Ok(name)
    }

    /// How one result follows something captured, through the body of the function: entries of a
    /// request about a copy.
    fn batch_body(
        &mut self,
        call: &Batched<'_>,
        (at, ty): (usize, &TensorType),
        (which, by): (usize, &TensorType),
    ) -> R<Ident> {
        let point = |axes: &[Axis]| -> Vec<Subscript> {
            let all = call.around.iter().copied().chain(axes.iter().map(|axis| axis.var));
            all.map(|var| Subscript::Index(var.into())).collect()
        };
        let function = call.function.as_str();
        let copy = self.ad.fresh_name(&format!("{function}.captured"));
        let mut insts = Vec::new();
        let slices = self.slices(call, &mut insts)?;
        let own = self.own_axes(by);
        let result = match &slices[which] {
            Arg::Tensor(name) => {
                let at = own.iter().map(|axis| Subscript::Index(axis.var.into())).collect();
                self.ad.read(&mut insts, name, at, by.elem, true)
            }
            arg => arg.clone(),
        };
        self.batch_binding(call, &copy, by.elem, own, insts, result)?;
        let mut insts = Vec::new();
        let mut operands = self.slices(call, &mut insts)?;
        operands[which] = match by.dims.is_empty() {
            true => self.ad.read(&mut insts, &copy, point(&[]), by.elem, true),
            false => Arg::Tensor(self.ad.local(&mut insts, by, |ad, insts, own| {
                let all = call.around.iter().chain(own);
                let at = all.map(|var| Subscript::Index((*var).into())).collect();
                Ok(ad.read(insts, &copy, at, by.elem, true))
            })?),
        };
        let types: Vec<TensorType> = call.given.iter().map(Given::ty).collect();
        let made = (&operands[..], &types[..]);
        let result = self.ad.body_result(&mut insts, call.function, made, at, call.inst)?;
        let own = self.own_axes(ty);
        let result = match &result {
            Arg::Tensor(name) => {
                let at = own.iter().map(|axis| Subscript::Index(axis.var.into())).collect();
                self.ad.read(&mut insts, name, at, ty.elem, true)
            }
            arg => arg.clone(),
        };
        let value = self.ad.fresh_name(&format!("{function}.body"));
        self.batch_binding(call, &value, ty.elem, own, insts, result)?;
        let name = self.ad.fresh_name(&format!("{function}.through"));
        let (own, inner) = (self.own_axes(ty), self.own_axes(by));
        let kind = InstKind::Deriv {
            of: Place { tensor: value, at: point(&own) },
            by: Place { tensor: copy, at: point(&inner) },
        };
        let mut insts = Vec::new();
        let entry = self.ad.push(&mut insts, ty.elem, kind, call.inst.loc);
        self.batch_binding(call, &name, ty.elem, [own, inner].concat(), insts, entry)?;
        self.ad.calls.through.insert(name.clone());
        Ok(name)
    }

    /// The sum by which a result follows a parameter.
    fn batch_follow(
        &mut self,
        call: &Batched<'_>,
        result: &Ident,
        ty: &TensorType,
        (parameter, prefix, by): (&Ident, &[Var], &TensorType),
        coefficients: Ident,
    ) -> R<Ident> {
        let sum = self.ad.fresh_name(&format!("{}.follows", result.as_str()));
        let (own, inner) = (self.own_axes(ty), self.own_axes(by));
        let elem = ty.elem;
        let vars = |axes: &[Axis]| axes.iter().map(|axis| axis.var).collect::<Vec<_>>();
        let point = |vars: Vec<Var>| -> Vec<Subscript> {
            vars.into_iter().map(|var| Subscript::Index(var.into())).collect()
        };
        let mut insts = Vec::new();
        let at = point([call.around.clone(), vars(&own), vars(&inner)].concat());
        let factor = self.ad.read(&mut insts, &coefficients, at, elem, true);
        let at = point([prefix.to_vec(), vars(&inner)].concat());
        let value = self.ad.read(&mut insts, parameter, at, by.elem, true);
        let value = self.ad.cast(&mut insts, value, elem);
        let mut term = self.ad.op(&mut insts, Op::Mul, vec![factor, value], elem);
        if !inner.is_empty() {
            let body = Region { params: Vec::new(), insts, results: vec![term] };
            let flags = ReduceFlags { commutative: true, idempotent: false, reassociable: true };
            let start = Start::Identity(vec![zero(elem)]);
            let (domain, combine) = (box_of(&inner)?.into(), Combiner::Op(Op::Add));
            let reduction = Reduction { domain, guard: None, body, combine, start, flags };
            insts = Vec::new();
            let kind = InstKind::Reduce(Box::new(reduction));
            term = self.ad.push(&mut insts, elem, kind, call.inst.loc);
        }
        self.batch_binding(call, &sum, elem, own, insts, term)?;
        self.ad.flat.insert(sum.clone());
        self.ad.calls.constants.insert(sum.clone(), coefficients);
        Ok(sum)
    }

    fn own_axes(&mut self, ty: &TensorType) -> Vec<Axis> {
        let vars = &mut self.ad.module.vars;
        ty.dims.iter().map(|dim| Axis { var: vars.index("k"), dim: dim.clone() }).collect()
    }

    /// A binding over the indices around and further axes.
    fn batch_binding(
        &mut self,
        call: &Batched<'_>,
        name: &Ident,
        elem: Elem,
        own: Vec<Axis>,
        insts: Vec<Inst>,
        result: Arg,
    ) -> R<()> {
        let body = Region { params: Vec::new(), insts, results: vec![result] };
        let outer = self.points(&call.around)?;
        let domain = extended(&outer, &box_of(&own)?)?;
        let clause = self.clause(domain, None, body)?;
        let led = self.axes.iter().filter(|axis| call.around.contains(&axis.var)).cloned();
        let axes = led.chain(own).collect();
        self.note_prefix(name, &call.around);
        let (name, loc, clauses) = (name.clone(), self.loc, vec![clause]);
        self.made.push(Binding { name, elem, axes, clauses, zero_fill: false, loc });
        Ok(())
    }
}
