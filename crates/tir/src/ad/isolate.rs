//! Calls of functions with a rule that take or give tensors.
//!
//! Each such call becomes bindings of its own: its results, and for each result and parameter the
//! coefficients of the rule, which is linear, from what it gives for unit vectors. A result follows
//! a parameter by a sum of those coefficients, which count as constants there and are ordinary code
//! where derivatives are differentiated again. Calls with equal arguments are one call.
//!
//! Calls whose arguments depend on the indices around them are left to `batched`.

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::context::{Ad, one, zero};
use super::fault::R;
use super::uses::{Uses, slice};
use crate::derived::derive_sizes;
use crate::fresh::Fresh;
use crate::module::{Axis, Binding, Clause, Function, Group, Rule, box_of};
use crate::op::Op;
use crate::region::{
    Arg, Combiner, Def, Inst, InstKind, Place, Read, ReduceFlags, Reduction, Region, Start,
    Subscript, Tensor,
};
use crate::substitute::Substitution;
use crate::types::{Elem, Ident, Loc, TensorType};

/// A call: the function and its arguments, scalars as tensors without axes.
pub(super) type Key = (Ident, Vec<Arg>);

/// What is known of calls.
#[derive(Default, Debug)]
pub(super) struct Calls {
    /// The tensors that hold the results.
    results: HashMap<Key, Vec<Ident>>,
    /// The sums that each result follows its parameters by.
    pub(super) sums: HashMap<Ident, Vec<Ident>>,
    /// The coefficients in each of these sums, which are constants there.
    pub(super) constants: HashMap<Ident, Ident>,
    /// The coefficients that are derivatives of the bodies of functions, by what they capture.
    pub(super) through: HashSet<Ident>,
}

impl Ad<'_> {
    /// Gives calls with tensors bindings of their own.
    pub(super) fn isolate_calls(&mut self) -> R<()> {
        let mut open = self.binding_names();
        while let Some(name) = open.pop() {
            let is_result = self.calls.sums.contains_key(&name);
            let Some(binding) = self.binding(&name).filter(|_| !is_result).cloned() else {
                continue;
            };
            let n_before = self.module.groups.len();
            let mut clauses = binding.clauses;
            let mut changed = false;
            for clause in &mut clauses {
                changed |= self.isolate_in(&mut clause.body)?;
            }
            if changed {
                self.set_clauses(&name, clauses);
            }
            let new = &self.module.groups[n_before..];
            open.extend(new.iter().flat_map(|g| &g.bindings).map(|b| b.name.clone()));
        }
        Ok(())
    }

    fn isolate_in(&mut self, region: &mut Region) -> R<bool> {
        let mut later = Substitution::default();
        let mut out: Vec<Inst> = Vec::with_capacity(region.insts.len());
        let mut changed = false;
        for mut inst in std::mem::take(&mut region.insts) {
            later.inst(&mut inst)?;
            for inner in inst.regions_mut() {
                changed |= self.isolate_in(inner)?;
            }
            let Some(results) = self.isolated(&inst, &out)? else {
                out.push(inst);
                continue;
            };
            changed = true;
            for (def, name) in inst.results.into_iter().zip(results) {
                match def {
                    Def::Tensor(tensor) => drop(later.tensors.insert(tensor.name, name)),
                    Def::Scalar(value) => {
                        let place = Place { tensor: name, at: Vec::new() };
                        let kind = InstKind::Read(Read { place, default: None, proved: true });
                        let results = vec![Def::Scalar(value)];
                        out.push(Inst { results, kind, loc: inst.loc });
                    }
                }
            }
        }
        region.insts = out;
        region.results.iter_mut().for_each(|arg| later.arg(arg));
        Ok(changed)
    }

    /// The tensors that hold the results of a call, if it can stand alone.
    fn isolated(&mut self, inst: &Inst, before: &[Inst]) -> R<Option<Vec<Ident>>> {
        let InstKind::Call { function, args } = &inst.kind else { return Ok(None) };
        let found = self.module.functions.iter().find(|f| f.name == *function);
        let Some(rule) = found.and_then(|found| found.rule.clone()) else { return Ok(None) };
        let has_tensors = args.iter().any(|arg| matches!(arg, Arg::Tensor(_)))
            || inst.results.iter().any(|def| def.as_tensor().is_some())
            || rule.silent > 0;
        let is_known = |ty: &TensorType| ty.dims.iter().all(|dim| self.is_global(&dim.extent));
        let fits = inst.results.iter().filter_map(Def::as_tensor).all(|t| is_known(&t.ty));
        let code = self.module.functions.iter().find(|f| f.name == rule.function).cloned();
        let (true, true, Some(code)) = (has_tensors, fits, code) else { return Ok(None) };
        let Some(given) = self.given(args, before, function, inst.loc)? else { return Ok(None) };
        let key = (function.clone(), given);
        if let Some(results) = self.calls.results.get(&key) {
            return Ok(Some(results.clone()));
        }
        let mut results = Vec::with_capacity(inst.results.len());
        for (at, def) in inst.results.iter().enumerate() {
            let name = self.fresh_name(&format!("{}.result", function.as_str()));
            let ty = result_type(def);
            let mut body = Vec::new();
            let operands = self.operands(&mut body, &key.1)?;
            let mut defs = Vec::with_capacity(inst.results.len());
            for def in &inst.results {
                defs.push(self.like(def));
            }
            let call = InstKind::Call { function: function.clone(), args: operands };
            body.push(Inst { results: defs.clone(), kind: call, loc: inst.loc });
            self.binding_of(&name, &ty, body, &[], |ad, out, axes| match &defs[at] {
                Def::Scalar(value) => Arg::from(*value),
                Def::Tensor(tensor) => {
                    let point = axes.iter().map(|axis| Subscript::Index(axis.var.into()));
                    ad.read(out, &tensor.name, point.collect(), tensor.ty.elem, true)
                }
            })?;
            results.push(name);
        }
        self.calls.results.insert(key.clone(), results.clone());
        for (at, (def, name)) in inst.results.iter().zip(&results).enumerate() {
            self.flat.insert(name.clone());
            let ty = result_type(def);
            let mut sums = Vec::new();
            for (which, arg) in key.1.iter().enumerate() {
                let by = match arg {
                    Arg::Tensor(tensor) if ty.elem.is_float() => self.tensor_type(tensor)?,
                    _ => continue,
                };
                if by.elem.is_float() {
                    let call = Isolated { key: &key, code: &code, rule: &rule, inst };
                    let coefficients = match which < rule.silent {
                        true => self.through_body(&call, (at, &ty), (which, &by))?,
                        false => self.coefficients(&call, (at, &ty), (which, &by))?,
                    };
                    sums.push(self.follow(name, &ty, arg, &by, coefficients)?);
                }
            }
            self.calls.sums.insert(name.clone(), sums);
        }
        Ok(Some(results))
    }

    /// The arguments as tensors of the module and constants; none if they depend on a point.
    fn given(
        &mut self,
        args: &[Arg],
        before: &[Inst],
        function: &Ident,
        loc: Loc,
    ) -> R<Option<Vec<Arg>>> {
        let mut given = Vec::with_capacity(args.len());
        for arg in args {
            let Arg::Value(value) = arg else {
                match arg {
                    Arg::Tensor(name) if self.tensor_type(name).is_err() => return Ok(None),
                    _ => given.push(arg.clone()),
                }
                continue;
            };
            let mut uses = Uses::of_args([arg]);
            let code = slice(before, &mut uses);
            let defined: usize = code.iter().map(|inst| inst.results.len()).sum();
            let is_global = uses.vars.iter().all(|var| self.is_global(&(*var).into()));
            let is_here = code
                .iter()
                .any(|inst| inst.results.iter().any(|def| def.as_scalar() == Some(*value)));
            let tensors = uses.tensors.iter().all(|name| self.tensor_type(name).is_ok());
            if !is_global || !is_here || !tensors || defined < uses.values.len() {
                return Ok(None);
            }
            if let [Inst { kind: InstKind::Read(read), .. }] = &code[..]
                && read.place.at.is_empty()
                && read.default.is_none()
            {
                given.push(Arg::Tensor(read.place.tensor.clone()));
                continue;
            }
            let name = self.fresh_name(&format!("{}.arg", function.as_str()));
            let body = Region { params: Vec::new(), insts: code, results: vec![arg.clone()] };
            let body = self.copy(&body)?;
            let ty = TensorType { elem: value.elem, dims: Vec::new() };
            let result = body.results[0].clone();
            self.binding_of(&name, &ty, body.insts, &[], |_, _, _| result)?;
            if let Some(binding) = self.binding(&name).cloned() {
                let clauses = binding.clauses.into_iter().map(|c| Clause { loc, ..c }).collect();
                self.set_clauses(&name, clauses);
            }
            given.push(Arg::Tensor(name));
        }
        Ok(Some(given))
    }

    /// The arguments as operands: tensors without axes are read.
    pub(super) fn operands(&mut self, out: &mut Vec<Inst>, given: &[Arg]) -> R<Vec<Arg>> {
        let mut operands = Vec::with_capacity(given.len());
        for arg in given {
            operands.push(match arg {
                Arg::Tensor(name) => {
                    let ty = self.tensor_type(name)?;
                    match ty.dims.is_empty() {
                        true => self.read(out, name, Vec::new(), ty.elem, true),
                        false => arg.clone(),
                    }
                }
                _ => arg.clone(),
            });
        }
        Ok(operands)
    }

    pub(super) fn like(&mut self, def: &Def) -> Def {
        match def {
            Def::Scalar(value) => Def::Scalar(self.module.supply.value(value.elem)),
            Def::Tensor(tensor) => {
                let name = self.fresh_name("called");
                Def::Tensor(Tensor { name, ty: tensor.ty.clone() })
            }
        }
    }

    /// Adds a binding over the axes of a type and further ones.
    pub(super) fn binding_of(
        &mut self,
        name: &Ident,
        ty: &TensorType,
        mut insts: Vec<Inst>,
        more: &[Axis],
        point: impl FnOnce(&mut Self, &mut Vec<Inst>, &[Axis]) -> Arg,
    ) -> R<()> {
        let own =
            ty.dims.iter().map(|dim| Axis { var: self.module.vars.index("k"), dim: dim.clone() });
        let own: Vec<Axis> = own.collect();
        let result = point(self, &mut insts, &own);
        let axes = [&own[..], more].concat();
        let body = Region { params: Vec::new(), insts, results: vec![result] };
        let domain = box_of(&axes)?.into();
        let clauses = vec![Clause { domain, guard: None, body, loc: Loc::default() }];
        let (name, elem, loc) = (name.clone(), ty.elem, Loc::default());
        self.add_binding(Binding { name, elem, axes, clauses, zero_fill: false, loc })
    }

    /// How one result follows one parameter, for each point of both.
    fn coefficients(
        &mut self,
        call: &Isolated<'_>,
        (at, ty): (usize, &TensorType),
        (which, by): (usize, &TensorType),
    ) -> R<Ident> {
        let name = self.fresh_name(&format!("{}.rule", call.key.0.as_str()));
        let mut insts = Vec::new();
        let operands = self.operands(&mut insts, &call.key.1)?;
        let mut types = Vec::with_capacity(operands.len());
        for arg in &call.key.1 {
            types.push(match arg {
                Arg::Tensor(name) => self.tensor_type(name)?,
                _ => TensorType { elem: arg.elem().unwrap_or(Elem::F64), dims: Vec::new() },
            });
        }
        let results = call.inst.results.iter().map(result_type).collect();
        let rule = RuleCall { code: call.code, rule: call.rule, operands, types, results };
        let entry = self.rule_entry(&mut insts, rule, (at, ty), (which, by))?;
        let axes = [entry.of_axes, entry.by_axes].concat();
        let scalar = TensorType { elem: ty.elem, dims: Vec::new() };
        let result = entry.value;
        self.binding_of(&name, &scalar, insts, &axes, |_, _, _| result)?;
        Ok(name)
    }

    /// What a rule gives for a unit vector, at one point of a result and one of a parameter.
    pub(super) fn rule_entry(
        &mut self,
        insts: &mut Vec<Inst>,
        call: RuleCall<'_>,
        (at, ty): (usize, &TensorType),
        (which, by): (usize, &TensorType),
    ) -> R<Entry> {
        let RuleCall { code, rule, mut operands, mut types, results } = call;
        let reverse = rule.reverse;
        let spoken = which - rule.silent.min(which);
        let index = |ad: &mut Self, dim: &crate::types::Dim| Axis {
            var: ad.module.vars.index("j"),
            dim: dim.clone(),
        };
        let by_axes: Vec<Axis> = by.dims.iter().map(|dim| index(self, dim)).collect();
        let of_axes: Vec<Axis> = ty.dims.iter().map(|dim| index(self, dim)).collect();
        let (units, unit_at, point): (Vec<TensorType>, usize, &[Axis]) = match reverse {
            false => (types[rule.silent.min(types.len())..].to_vec(), spoken, &by_axes),
            true => (results, at, &of_axes),
        };
        for (own, unit) in units.iter().enumerate() {
            let at = (own == unit_at).then_some(point);
            let unit_arg = self.unit(insts, unit, at)?;
            operands.push(unit_arg);
            types.push(unit.clone());
        }
        let mut region = Fresh::new(self.module, &mut self.names).inline(&code.body, &operands)?;
        self.extents(&code.body.params, &types)?.region(&mut region)?;
        insts.append(&mut region.insts);
        let (wanted, place) = if reverse { (spoken, &by_axes) } else { (at, &of_axes) };
        let result = match region.results.get(wanted) {
            Some(Arg::Tensor(tensor)) => {
                let elem = if reverse { by.elem } else { ty.elem };
                let point = place.iter().map(|axis| Subscript::Index(axis.var.into()));
                self.read(insts, tensor, point.collect(), elem, true)
            }
            Some(arg) => arg.clone(),
            None => zero(ty.elem),
        };
        let value = self.cast(insts, result, ty.elem);
        Ok(Entry { value, of_axes, by_axes })
    }

    /// The extents of parameters, which stand for those of the arguments, and the sizes that follow from them.
    pub(super) fn extents(&mut self, params: &[Def], types: &[TensorType]) -> R<Substitution> {
        let mut known = Substitution::default();
        for (param, ty) in params.iter().zip(types) {
            let Def::Tensor(tensor) = param else { continue };
            for (own, given) in tensor.ty.dims.iter().zip(&ty.dims) {
                if let Some(var) = own.extent.as_var() {
                    known.vars.insert(var, given.extent.clone());
                }
            }
        }
        derive_sizes(self.module, &mut known)?;
        self.facts = self.module.facts();
        Ok(known)
    }

    /// One at a point, zero elsewhere; without a point it is all zeros.
    fn unit(&mut self, out: &mut Vec<Inst>, ty: &TensorType, at: Option<&[Axis]>) -> R<Arg> {
        if ty.dims.is_empty() {
            return Ok(if at.is_some() { one(ty.elem) } else { zero(ty.elem) });
        }
        let axes =
            ty.dims.iter().map(|dim| Axis { var: self.module.vars.index("u"), dim: dim.clone() });
        let axes: Vec<Axis> = axes.collect();
        let mut insts = Vec::new();
        let result = match at {
            None => zero(ty.elem),
            Some(at) => {
                let index = |axis: &Axis| Subscript::Index(axis.var.into());
                let pairs: Vec<_> = axes.iter().map(index).zip(at.iter().map(index)).collect();
                self.one_where(&mut insts, &pairs, ty.elem)?
            }
        };
        let name = self.fresh_name("unit");
        let body = Region { params: Vec::new(), insts, results: vec![result] };
        let domain = box_of(&axes)?.into();
        let clauses = vec![Clause { domain, guard: None, body, loc: Loc::default() }];
        let (own, elem, loc) = (name.clone(), ty.elem, Loc::default());
        let binding = Binding { name: own, elem, axes, clauses, zero_fill: false, loc };
        let group = Group { bindings: vec![binding], until: None };
        out.push(Inst { results: Vec::new(), kind: InstKind::Group(Box::new(group)), loc });
        Ok(Arg::Tensor(name))
    }

    /// The sum by which a result follows a parameter.
    fn follow(
        &mut self,
        name: &Ident,
        ty: &TensorType,
        arg: &Arg,
        by: &TensorType,
        coefficients: Ident,
    ) -> R<Ident> {
        let Arg::Tensor(parameter) = arg else { return Ok(coefficients) };
        let sum = self.fresh_name(&format!("{}.follows", name.as_str()));
        let elem = ty.elem;
        let axes =
            by.dims.iter().map(|dim| Axis { var: self.module.vars.index("j"), dim: dim.clone() });
        let axes: Vec<Axis> = axes.collect();
        let domain = box_of(&axes)?;
        let read = coefficients.clone();
        self.binding_of(&sum, ty, Vec::new(), &[], |ad, out, own| {
            let index = |axis: &Axis| Subscript::Index(axis.var.into());
            let mut insts = Vec::new();
            let at = own.iter().chain(&axes).map(index).collect();
            let factor = ad.read(&mut insts, &read, at, elem, true);
            let at = axes.iter().map(index).collect();
            let value = ad.read(&mut insts, parameter, at, by.elem, true);
            let value = ad.cast(&mut insts, value, elem);
            let term = ad.op(&mut insts, Op::Mul, vec![factor, value], elem);
            if axes.is_empty() {
                out.append(&mut insts);
                return term;
            }
            let body = Region { params: Vec::new(), insts, results: vec![term] };
            let flags = ReduceFlags { commutative: true, idempotent: false, reassociable: true };
            let start = Start::Identity(vec![zero(elem)]);
            let (domain, combine) = (domain.into(), Combiner::Op(Op::Add));
            let reduction = Reduction { domain, guard: None, body, combine, start, flags };
            ad.push(out, elem, InstKind::Reduce(Box::new(reduction)), Loc::default())
        })?;
        self.calls.constants.insert(sum.clone(), coefficients);
        Ok(sum)
    }
}

/// A rule, and what a call gives it.
pub(super) struct RuleCall<'a> {
    pub(super) code: &'a Function,
    pub(super) rule: &'a Rule,
    pub(super) operands: Vec<Arg>,
    pub(super) types: Vec<TensorType>,
    /// The types of the results of the call.
    pub(super) results: Vec<TensorType>,
}

/// How one result follows one parameter, at a point of both.
pub(super) struct Entry {
    pub(super) value: Arg,
    pub(super) of_axes: Vec<Axis>,
    pub(super) by_axes: Vec<Axis>,
}

/// A call and the code of its rule.
pub(super) struct Isolated<'a> {
    pub(super) key: &'a Key,
    code: &'a Function,
    rule: &'a Rule,
    pub(super) inst: &'a Inst,
}

pub(super) fn result_type(def: &Def) -> TensorType {
    match def {
        Def::Scalar(value) => TensorType { elem: value.elem, dims: Vec::new() },
        Def::Tensor(tensor) => tensor.ty.clone(),
    }
}
