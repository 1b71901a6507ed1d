//! The tensors and instructions for an order that was chosen.

use std::collections::BTreeSet;

use einlang_index::{Constraint, Domain, Facts, Quasi, Set, Var, VarKind};
use einlang_tir::constant::Const;
use einlang_tir::fresh::Fresh;
use einlang_tir::module::{Axis, Binding, Clause, Group, Module, box_of};
use einlang_tir::op::Op;
use einlang_tir::region::{
    Arg, Def, Inst, InstKind, Place, Read, Reduction, Region, Subscript, Value,
};
use einlang_tir::types::{Dim, Elem, Ident};

use super::At;
use super::choose::Step;
use super::expand::{Factor, Product};

/// What a tensor is called that some factors are summed into first.
const PART: &str = "part";

/// Makes tensors and instructions.
pub(super) struct Build<'b> {
    module: &'b mut Module,
    names: &'b mut BTreeSet<Ident>,
    facts: &'b Facts,
    /// Where the sum stands.
    binding: &'b Binding,
    clause: &'b Clause,
    inst: &'b Inst,
    sum: &'b Reduction,
    /// What is computed before.
    pub(super) made: Vec<Group>,
}

/// A term of the total: what computes it, and whether it is taken off.
pub(super) struct Term {
    code: Region,
    negative: bool,
}

impl<'b> Build<'b> {
    pub(super) fn new(
        module: &'b mut Module,
        names: &'b mut BTreeSet<Ident>,
        facts: &'b Facts,
        at: &At<'b>,
        sum: &'b Reduction,
    ) -> Build<'b> {
        let At { binding, clause, number, .. } = *at;
        let inst = &clause.body.insts[number];
        Build { module, names, facts, binding, clause, inst, sum, made: Vec::new() }
    }

    /// A product in the order that was chosen.
    pub(super) fn product(&mut self, mut product: Product, steps: &[Step]) -> Option<Term> {
        for step in steps {
            let part = self.part(&product, step)?;
            let mut number = 0;
            product.factors.retain(|_| {
                number += 1;
                !step.factors.contains(&(number - 1))
            });
            product.factors.push(part);
            product.over.retain(|var| !step.over.contains(var));
            product.constraints.retain(|c| !c.expr().vars().any(|var| step.over.contains(&var)));
        }
        let code = self.summed(&product.factors, &product.over, &product.constraints)?;
        let code = Fresh::new(self.module, self.names).copy(&code).ok()?;
        Some(Term { code, negative: product.negative })
    }

    /// The instructions for a total, and its value.
    pub(super) fn total(&mut self, terms: Vec<Term>) -> Option<(Vec<Inst>, Arg)> {
        let (mut insts, mut total) = (Vec::new(), None);
        for Term { code, negative } in terms {
            let value = code.results.first()?.clone();
            insts.extend(code.insts);
            total = Some(match (total, negative) {
                (None, false) => value,
                // Not its negative: a sum of nothing is 0, not -0.
                (None, true) => {
                    let nothing = Const::zero(self.elem()?).into();
                    self.op(Op::Sub, vec![nothing, value], &mut insts)
                }
                (Some(before), false) => self.op(Op::Add, vec![before, value], &mut insts),
                (Some(before), true) => self.op(Op::Sub, vec![before, value], &mut insts),
            });
        }
        Some((insts, total?))
    }

    fn elem(&self) -> Option<Elem> {
        self.inst.results.first()?.as_scalar().map(|value| value.elem)
    }

    fn op(&mut self, op: Op, args: Vec<Arg>, insts: &mut Vec<Inst>) -> Arg {
        let elem = args.first().and_then(Arg::elem).unwrap_or(Elem::F64);
        let value = self.module.supply.value(elem);
        insts.push(self.defining(value, InstKind::Op(op, args)));
        value.into()
    }

    fn defining(&self, value: Value, kind: InstKind) -> Inst {
        Inst { results: vec![Def::Scalar(value)], kind, loc: self.inst.loc }
    }

    /// Code for the product of factors, summed over indices if there are any.
    fn summed(
        &mut self,
        factors: &[Factor],
        over: &[Var],
        constraints: &[Constraint],
    ) -> Option<Region> {
        let mut body = Region::default();
        let mut product: Option<Arg> = None;
        for factor in factors {
            let code = Fresh::new(self.module, self.names).copy(&factor.code).ok()?;
            let value = code.results.first()?.clone();
            body.insts.extend(code.insts);
            product = Some(match product {
                None => value,
                Some(before) => self.op(Op::Mul, vec![before, value], &mut body.insts),
            });
        }
        body.results = vec![product?];
        if over.is_empty() {
            // Whether there is anything to add may depend on the point.
            return constraints.is_empty().then_some(body);
        }
        let domain = Domain::new(over, Set::new(constraints.iter().cloned()).ok()?);
        let sum = Reduction { domain: domain.into(), body, ..self.sum.clone() };
        let value = self.module.supply.value(self.elem()?);
        let inst = self.defining(value, InstKind::Reduce(Box::new(sum)));
        Some(Region { params: Vec::new(), insts: vec![inst], results: vec![value.into()] })
    }

    /// The tensor of a step, as a factor of the rest.
    fn part(&mut self, product: &Product, step: &Step) -> Option<Factor> {
        let factors: Vec<Factor> =
            step.factors.iter().map(|at| product.factors[*at].clone()).collect();
        let axes = self.axes(&factors, step)?;
        let (summed, about): (Vec<Constraint>, Vec<Constraint>) =
            product.constraints.iter().cloned().partition(|constraint| {
                constraint.expr().vars().any(|var| step.over.contains(&var))
            });
        let [points] = self.clause.domain.sets() else { return None };
        let of_axes = |constraint: &Constraint| {
            let mut vars = constraint.expr().vars().filter(|var| var.kind() == VarKind::Index);
            vars.all(|var| step.kept.contains(&var))
        };
        let about = about.into_iter().chain(points.constraints()).filter(of_axes);
        let here = box_of(&axes).ok()?.restricted(&Set::new(about).ok()?).ok()?;
        self.check(&factors, &here, &step.over, &summed)?;
        let body = self.summed(&factors, &step.over, &summed)?;
        let loc = self.inst.loc;
        let clause = Clause { domain: here.into(), guard: None, body, loc };
        let part = Binding {
            name: self.name(),
            elem: self.elem()?,
            axes,
            clauses: vec![clause],
            zero_fill: false,
            loc,
        };
        let tensor = self.tensor(Group { bindings: vec![part], until: None })?;
        let at = step.kept.iter().map(|var| Subscript::Index((*var).into())).collect();
        let read = Read { place: Place { tensor, at }, default: None, proved: true };
        let value = self.module.supply.value(self.elem()?);
        let insts = vec![self.defining(value, InstKind::Read(read))];
        let code = Region { params: Vec::new(), insts, results: vec![value.into()] };
        Some(Factor { code, vars: step.kept.clone(), own: false })
    }

    /// A name that no tensor has: what is read must not be taken for what is made.
    fn name(&self) -> Ident {
        let mut text = format!("{}.{PART}", self.binding.name.as_str());
        while self.names.contains(text.as_str()) {
            text.push('\'');
        }
        Ident::new(&text)
    }

    /// The name of a tensor, which is made unless it is there.
    fn tensor(&mut self, group: Group) -> Option<Ident> {
        let canonical = |group: &Group| Fresh::canonical().copy_group(group).ok();
        let wanted = canonical(&group)?;
        let there = self.made.iter().find(|made| canonical(made).as_ref() == Some(&wanted));
        let name = |group: &Group| group.bindings.first().map(|binding| binding.name.clone());
        if let Some(there) = there {
            return name(there);
        }
        let copy = Fresh::new(self.module, self.names).copy_group(&group).ok()?;
        let made = name(&copy);
        self.made.push(copy);
        made
    }

    /// The axes of the tensor of a step: those of the clause, and those of what is read along an index.
    fn axes(&self, factors: &[Factor], step: &Step) -> Option<Vec<Axis>> {
        let axis = |var: &Var| {
            let own = self.binding.axes.iter().find(|axis| axis.var == *var);
            let extent = match own {
                Some(axis) => return Some(axis.clone()),
                None => self.extent_along(factors, *var)?,
            };
            Some(Axis { var: *var, dim: Dim::from(extent) })
        };
        step.kept.iter().map(axis).collect()
    }

    /// The extent of an axis that is read at exactly this index.
    fn extent_along(&self, factors: &[Factor], var: Var) -> Option<Quasi> {
        let mut reads = factors.iter().flat_map(|factor| reads_of(&factor.code));
        reads.find_map(|read| {
            let is_var =
                |at: &Subscript| matches!(at, Subscript::Index(expr) if expr.as_var() == Some(var));
            let axis = read.place.at.iter().position(is_var)?;
            self.dims_of(&read.place.tensor)?.get(axis).map(|dim| dim.extent.clone())
        })
    }

    /// The axes of a tensor, also of one that was made here.
    fn dims_of(&self, name: &Ident) -> Option<Vec<Dim>> {
        let made = self.made.iter().flat_map(|group| &group.bindings);
        let made = made.filter(|binding| binding.name == *name).map(Binding::ty).next();
        made.or_else(|| self.module.tensor_type(name)).map(|ty| ty.dims)
    }

    /// Whether everything that factors read exists at all points of a tensor.
    fn check(
        &self,
        factors: &[Factor],
        here: &Domain,
        over: &[Var],
        summed: &[Constraint],
    ) -> Option<()> {
        let terms = Domain::new(over, Set::new(summed.iter().cloned()).ok()?);
        let ([points], [terms]) = (here.sets(), terms.sets()) else { return None };
        let dims: Vec<Var> = here.dims().iter().chain(over).copied().collect();
        let everywhere = Domain::new(dims, points.intersect(terms).ok()?);
        let holds = |expr: &Quasi| self.facts.prove(&everywhere, expr).is_true();
        for read in factors.iter().flat_map(|factor| reads_of(&factor.code)) {
            for (at, dim) in read.place.at.iter().zip(&self.dims_of(&read.place.tensor)?) {
                let Subscript::Index(at) = at else { return None };
                let left = dim.extent.sub(at).and_then(|left| left.add_constant(-1)).ok()?;
                if !holds(at) || !holds(&left) {
                    return None;
                }
            }
        }
        Some(())
    }
}

fn reads_of(code: &Region) -> impl Iterator<Item = &Read> {
    code.insts.iter().filter_map(|inst| match &inst.kind {
        InstKind::Read(read) => Some(read),
        _ => None,
    })
}
