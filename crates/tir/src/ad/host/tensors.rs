//! Tangents of tensor code and of scalar operations: modules whose outputs are products of
//! Jacobians with tangents.

use rustc_hash::FxHashSet as HashSet;

use super::Host;
use super::dual::Dual;
use crate::ad::fault::{Fault, R};
use crate::ad::flow::flow_of;
use crate::constant::Const;
use crate::host::{HostArg, HostInst, HostKind, HostType, Intrinsic};
use crate::module::{Axis, Binding, Clause, Group, Module, Symbol, SymbolSource, box_of};
use crate::op::{Derivative, Op};
use crate::region::{
    Combiner, Def, Inst, InstKind, Over, Place, Read, ReduceFlags, Reduction, Region, Start,
    Subscript, Tensor,
};
use crate::types::{Elem, Ident, Loc, TensorType};

impl Dual<'_, '_> {
    /// The tangents of a module's outputs.
    pub(super) fn beside_run(&mut self, inst: &HostInst, args: &[HostArg]) -> R<()> {
        let HostKind::Run(name, _) = &inst.kind else { return Ok(()) };
        let active: Vec<usize> =
            (0..args.len()).filter(|at| self.tangent(&args[*at]).is_some()).collect();
        let tangents: Vec<HostArg> =
            active.iter().filter_map(|at| self.tangent(&args[*at])).collect();
        self.run_tangents(inst, name, args, (active, None), tangents)
    }

    /// The tangents of the outputs of a module that defines what is perturbed.
    pub(super) fn beside_copy(&mut self, inst: &HostInst, by: &Ident, seed: &HostArg) -> R<()> {
        let HostKind::Run(name, args) = &inst.kind else { return Ok(()) };
        let active: Vec<usize> =
            (0..args.len()).filter(|at| self.tangent(&args[*at]).is_some()).collect();
        let tangents = active.iter().filter_map(|at| self.tangent(&args[*at]));
        let tangents = tangents.chain([seed.clone()]).collect();
        self.run_tangents(inst, name, args, (active, Some(by.clone())), tangents)
    }

    fn run_tangents(
        &mut self,
        inst: &HostInst,
        name: &Ident,
        args: &[HostArg],
        (active, by): (Vec<usize>, Option<Ident>),
        tangents: Vec<HostArg>,
    ) -> R<()> {
        let found = self.host.program.modules.iter().find(|m| m.name == name.as_str());
        let Some(of) = found else { return Ok(()) };
        let n_inputs = of.inputs.len();
        let inputs = active.iter().filter_map(|at| of.inputs.get(*at).map(|input| &input.name));
        let moving = moving(of, inputs.chain(&by).cloned().collect());
        let moves = of.outputs.iter().map(|output| moving.contains(output)).collect::<Vec<bool>>();
        let module = self.host.tangent_module(name, active, by, inst.loc)?;
        let given = self.args(args);
        let (inputs, integers) = given.split_at(n_inputs.min(given.len()));
        let all = [inputs, &tangents[..], integers].concat();
        let mut results = Vec::new();
        let defs = inst.results.iter().zip(moves);
        for (def, _) in defs.filter(|(def, moves)| *moves && is_float(&def.ty)) {
            let fresh = self.host.new_def(def.ty.clone());
            self.tangents.insert(def.number, HostArg::Value(fresh.number));
            results.push(fresh);
        }
        if !results.is_empty() {
            let kind = HostKind::Run(module, all);
            self.out.push(HostInst { results, kind, loc: inst.loc });
        }
        Ok(())
    }

    /// The tangent of a scalar operation; none if it is zero.
    pub(super) fn beside_op(
        &mut self,
        inst: &HostInst,
        op: Op,
        args: &[HostArg],
        elem: Elem,
    ) -> R<Option<HostArg>> {
        if op.info().derivative == Derivative::Zero {
            return Ok(None);
        }
        let elems: Vec<Elem> = args
            .iter()
            .filter_map(|arg| match self.host.type_of(arg) {
                HostType::Scalar(elem) => Some(elem),
                _ => None,
            })
            .collect();
        let module = self.host.op_module(op, &elems, elem, inst.loc);
        let active: Vec<usize> =
            (0..args.len()).filter(|at| self.tangent(&args[*at]).is_some()).collect();
        let tangents: Vec<HostArg> =
            active.iter().filter_map(|at| self.tangent(&args[*at])).collect();
        let module = self.host.tangent_module(&module, active, None, inst.loc)?;
        let mut boxed = Vec::with_capacity(args.len() + tangents.len());
        for arg in self.args(args).into_iter().chain(tangents) {
            let HostType::Scalar(elem) = self.host.type_of(&arg) else { continue };
            let kind = HostKind::Intrinsic(Intrinsic::Scalar, vec![arg]);
            boxed.push(self.value(HostType::Tensor(elem, 0), kind));
        }
        let tangent = self.value(HostType::Tensor(elem, 0), HostKind::Run(module, boxed));
        let kind = HostKind::Intrinsic(Intrinsic::Element, vec![tangent]);
        Ok(Some(self.value(HostType::Scalar(elem), kind)))
    }
}

fn is_float(ty: &HostType) -> bool {
    matches!(ty, HostType::Tensor(elem, _) if elem.is_float())
}

impl Host<'_> {
    /// A module that applies one operation to scalars.
    fn op_module(&mut self, op: Op, elems: &[Elem], elem: Elem, loc: Loc) -> Ident {
        let key = (op, elems.to_vec(), elem);
        if let Some(known) = self.ops.get(&key) {
            return known.clone();
        }
        let name = self.unique(op.name());
        let mut module = Module::new(name.as_str());
        let mut body = Region::default();
        let mut args = Vec::with_capacity(elems.len());
        for (at, elem) in elems.iter().enumerate() {
            let input = Ident::new(&format!("x{at}"));
            module.inputs.push(Tensor { name: input.clone(), ty: TensorType::scalar(*elem) });
            let value = read(&mut module, &mut body.insts, input, Vec::new(), *elem, loc);
            args.push(value.into());
        }
        let result = module.supply.value(elem);
        let kind = InstKind::Op(op, args);
        body.insts.push(Inst { results: vec![Def::Scalar(result)], kind, loc });
        body.results = vec![result.into()];
        let output = Ident::new("y");
        module.groups.push(alone(output.clone(), elem, Vec::new(), body, loc));
        module.outputs.push(output);
        self.program.modules.push(module);
        self.ops.insert(key, name.clone());
        name
    }

    /// The module that gives the tangents of a module's float outputs. After its inputs come the
    /// tangents of some of them, or of the output that is perturbed.
    fn tangent_module(
        &mut self,
        name: &Ident,
        active: Vec<usize>,
        by: Option<Ident>,
        loc: Loc,
    ) -> R<Ident> {
        let key = (name.clone(), active.clone(), by.clone());
        if let Some(known) = self.runs.get(&key) {
            return Ok(known.clone());
        }
        let found = self.program.modules.iter().find(|m| m.name == name.as_str()).cloned();
        let Some(mut module) = found else { return Err(Fault::unsupported("this value", loc)) };
        let dual = self.unique(name.as_str());
        module.name = dual.as_str().to_owned();
        let mut taken = module.tensor_names();
        let mut sources: Vec<(Ident, Ident)> = Vec::new();
        for at in active {
            let Some(input) = module.inputs.get(at).cloned() else { continue };
            let tangent = fresh(&mut taken, &input.name);
            sources.push((input.name, tangent.clone()));
            module.inputs.push(Tensor { name: tangent, ty: input.ty });
        }
        if let Some(of) = by
            && let Some(ty) = module.tensor_type(&of)
        {
            let tangent = fresh(&mut taken, &of);
            let dims = (0..ty.rank()).map(|axis| {
                let var = module.vars.symbol(&format!("{}.{axis}", tangent.as_str()));
                let source = SymbolSource::Shape(tangent.clone(), axis);
                module.symbols.push(Symbol { var, source, loc });
                einlang_index::Quasi::from(var).into()
            });
            let ty = TensorType { elem: ty.elem, dims: dims.collect() };
            sources.push((of, tangent.clone()));
            module.inputs.push(Tensor { name: tangent, ty });
        }
        let moving = moving(&module, sources.iter().map(|(of, _)| of.clone()).collect());
        let outputs = std::mem::take(&mut module.outputs);
        for output in outputs {
            let Some(ty) = module.tensor_type(&output) else { continue };
            if ty.elem.is_float() && moving.contains(&output) {
                let tangent = fresh(&mut taken, &output);
                let group = tangent_binding(&mut module, &output, &tangent, &sources, loc)?;
                module.groups.push(group);
                module.outputs.push(tangent);
            }
        }
        self.program.modules.push(module);
        self.runs.insert(key, dual.clone());
        let origin = self.origins.get(name).unwrap_or(name).clone();
        self.origins.insert(dual.clone(), origin);
        Ok(dual)
    }
}

/// The tensors whose values follow some of a module, those included: not what is detached from them.
fn moving(module: &Module, mut found: HashSet<Ident>) -> HashSet<Ident> {
    for group in &module.groups {
        let flows = || group.bindings.iter().map(flow_of);
        if flows().any(|flow| flow.sources.iter().any(|source| found.contains(source))) {
            found.extend(group.bindings.iter().map(|binding| binding.name.clone()));
        }
    }
    found
}

fn fresh(taken: &mut std::collections::BTreeSet<Ident>, base: &Ident) -> Ident {
    let mut n = 0;
    loop {
        n += 1;
        let name = Ident::new(&format!("{}_tan{n}", base.as_str()));
        if taken.insert(name.clone()) {
            return name;
        }
    }
}

pub(super) fn alone(name: Ident, elem: Elem, axes: Vec<Axis>, body: Region, loc: Loc) -> Group {
    let domain = box_of(&axes).unwrap_or_else(|_| einlang_index::Domain::everything(Vec::new()));
    let clauses = vec![Clause { domain: Over(domain), guard: None, body, loc }];
    let binding = Binding { name, elem, axes, clauses, zero_fill: false, loc };
    Group { bindings: vec![binding], until: None }
}

pub(super) fn read(
    module: &mut Module,
    insts: &mut Vec<Inst>,
    tensor: Ident,
    at: Vec<Subscript>,
    elem: Elem,
    loc: Loc,
) -> crate::region::Value {
    let value = module.supply.value(elem);
    let read = Read { place: Place { tensor, at }, default: None, proved: false };
    insts.push(Inst { results: vec![Def::Scalar(value)], kind: InstKind::Read(read), loc });
    value
}

pub(super) fn axes_of(module: &mut Module, ty: &TensorType) -> Vec<Axis> {
    let dims = ty.dims.iter();
    dims.map(|dim| Axis { var: module.vars.index("p"), dim: dim.clone() }).collect()
}

/// `y_tan[i] = sum over x of sum[k](@y[i] / @x[k] * x_tan[k])`
fn tangent_binding(
    module: &mut Module,
    output: &Ident,
    tangent: &Ident,
    sources: &[(Ident, Ident)],
    loc: Loc,
) -> R<Group> {
    let gone = || Fault::unsupported("this value", loc);
    let ty = module.tensor_type(output).ok_or_else(gone)?;
    let axes = axes_of(module, &ty);
    let point: Vec<Subscript> = axes.iter().map(|a| Subscript::Index(a.var.into())).collect();
    let mut body = Region::default();
    let mut total: Option<crate::region::Arg> = None;
    for (of, weights) in sources {
        let source = module.tensor_type(of).ok_or_else(gone)?;
        let inner = axes_of(module, &source);
        let at: Vec<Subscript> = inner.iter().map(|a| Subscript::Index(a.var.into())).collect();
        let mut term = Region::default();
        let weight = read(module, &mut term.insts, weights.clone(), at.clone(), source.elem, loc);
        let entry = module.supply.value(ty.elem);
        let kind = InstKind::Deriv {
            of: Place { tensor: output.clone(), at: point.clone() },
            by: Place { tensor: of.clone(), at },
        };
        term.insts.push(Inst { results: vec![Def::Scalar(entry)], kind, loc });
        let weight = match source.elem == ty.elem {
            true => weight,
            false => op(module, &mut term.insts, Op::Cast, vec![weight.into()], ty.elem, loc),
        };
        let args = vec![entry.into(), weight.into()];
        let product = op(module, &mut term.insts, Op::Mul, args, ty.elem, loc);
        term.results = vec![product.into()];
        let part = match inner.is_empty() {
            true => {
                body.insts.append(&mut term.insts);
                product
            }
            false => sum_over(module, &mut body.insts, &inner, term, ty.elem, loc)?,
        };
        total = Some(match total {
            None => part.into(),
            Some(total) => {
                let args = vec![total, part.into()];
                op(module, &mut body.insts, Op::Add, args, ty.elem, loc).into()
            }
        });
    }
    body.results = vec![total.unwrap_or_else(|| Const::zero(ty.elem).into())];
    Ok(alone(tangent.clone(), ty.elem, axes, body, loc))
}

/// `sum[axes](term)`
pub(super) fn sum_over(
    module: &mut Module,
    insts: &mut Vec<Inst>,
    axes: &[Axis],
    term: Region,
    elem: Elem,
    loc: Loc,
) -> R<crate::region::Value> {
    let reduction = Reduction {
        domain: Over(box_of(axes)?),
        guard: None,
        body: term,
        combine: Combiner::Op(Op::Add),
        start: Start::Identity(vec![Const::zero(elem).into()]),
        flags: ReduceFlags { commutative: true, idempotent: false, reassociable: true },
    };
    let sum = module.supply.value(elem);
    let kind = InstKind::Reduce(Box::new(reduction));
    insts.push(Inst { results: vec![Def::Scalar(sum)], kind, loc });
    Ok(sum)
}

pub(super) fn op(
    module: &mut Module,
    insts: &mut Vec<Inst>,
    op: Op,
    args: Vec<crate::region::Arg>,
    elem: Elem,
    loc: Loc,
) -> crate::region::Value {
    let value = module.supply.value(elem);
    insts.push(Inst { results: vec![Def::Scalar(value)], kind: InstKind::Op(op, args), loc });
    value
}
