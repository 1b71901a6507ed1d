//! Watching the rules of functions: how far each is from differences of its function's values.
//!
//! For each function with a rule, an output is added that says how strongly its rule is
//! contradicted where the module calls it: above 1 it is. The derivative along one direction is
//! compared with central differences of two step lengths; where those disagree with each other the
//! function has a kink or the numbers are too coarse, and nothing is said.

use rustc_hash::FxHashMap as HashMap;

use super::context::{Ad, zero};
use super::fault::R;
use super::idle::Idle;
use crate::module::{Binding, Clause, Group, Module, Rule};
use crate::op::Op;
use crate::passes::Mode;
use crate::region::{Arg, Combiner, Def, Inst, InstKind, ReduceFlags, Reduction, Region, Start};
use crate::types::{Elem, Ident, Loc, TensorType};

/// An output that watches a rule.
#[derive(Clone, Debug)]
pub struct Watch {
    /// The name of the function.
    pub function: Ident,
    /// The output: a number above 1 if the rule is contradicted.
    pub output: Ident,
    /// Where the rule was written, or the function was called.
    pub loc: Loc,
}

/// Adds an output for each rule of a module that is used.
pub fn watch_rules(module: &mut Module) -> Vec<Watch> {
    let functions: Vec<(Ident, Rule, Loc)> = module
        .functions
        .iter()
        .filter_map(|f| {
            let rule = f.rule.clone()?;
            let written = module.functions.iter().find(|other| other.name == rule.function);
            Some((f.name.clone(), rule, written.map_or(f.loc, |written| written.loc)))
        })
        .collect();
    let mut watches = Vec::new();
    for (function, rule, loc) in functions {
        let before = module.clone();
        let mut ad = Ad::new(module, Mode::default(), Idle::default());
        match ad.watch(&function, &rule, loc) {
            Ok(Some(output)) => watches.push(Watch { function, output, loc }),
            Ok(None) => {}
            // What cannot be watched stays as it was.
            Err(_) => *module = before,
        }
    }
    watches
}

/// The rule that is watched, and where it is called.
pub(super) struct Watched<'a> {
    pub(super) function: &'a Ident,
    pub(super) rule: &'a Rule,
    /// The tensors and their types.
    pub(super) types: HashMap<Ident, TensorType>,
}

impl Ad<'_> {
    fn watch(&mut self, function: &Ident, rule: &Rule, loc: Loc) -> R<Option<Ident>> {
        let mut types = HashMap::default();
        types.extend(self.module.inputs.iter().map(|i| (i.name.clone(), i.ty.clone())));
        types.extend(self.module.bindings().map(|b| (b.name.clone(), b.ty())));
        self.module.for_each_inst(&mut |inst| match &inst.kind {
            InstKind::Group(group) => {
                types.extend(group.bindings.iter().map(|b| (b.name.clone(), b.ty())));
            }
            _ => {
                let tensors = inst.results.iter().filter_map(Def::as_tensor);
                types.extend(tensors.map(|tensor| (tensor.name.clone(), tensor.ty.clone())));
            }
        });
        let watched = Watched { function, rule, types };
        let mut out = Vec::new();
        let mut most: Option<Arg> = None;
        for group in self.module.groups.clone() {
            self.group_faults(&watched, &group, &mut out, &mut most)?;
        }
        let Some(most) = most else { return Ok(None) };
        let name = self.fresh_name(&format!("{}_check", function.as_str()));
        let body = Region { params: Vec::new(), insts: out, results: vec![most] };
        let domain = einlang_index::Domain::everything(&[][..]).into();
        let clauses = vec![Clause { domain, guard: None, body, loc }];
        let (axes, elem) = (Vec::new(), Elem::F64);
        self.add_binding(Binding {
            name: name.clone(),
            elem,
            axes,
            clauses,
            zero_fill: false,
            loc,
        })?;
        self.module.outputs.push(name.clone());
        Ok(Some(name))
    }

    /// The largest fault among the points of a group's clauses.
    fn group_faults(
        &mut self,
        watched: &Watched<'_>,
        group: &Group,
        out: &mut Vec<Inst>,
        most: &mut Option<Arg>,
    ) -> R<()> {
        for clause in group.bindings.iter().flat_map(|binding| &binding.clauses) {
            let Some(body) = self.faults(watched, &clause.body)? else { continue };
            let fault = self.largest(out, clause.domain.clone(), clause.guard.clone(), body)?;
            self.join(out, most, fault);
        }
        Ok(())
    }

    /// The largest value of a region over a domain.
    fn largest(
        &mut self,
        out: &mut Vec<Inst>,
        domain: crate::region::Over,
        guard: Option<Region>,
        body: Region,
    ) -> R<Arg> {
        let flags = ReduceFlags { commutative: true, idempotent: true, reassociable: true };
        let start = Start::Identity(vec![zero(Elem::F64)]);
        let combine = Combiner::Op(Op::Max);
        let reduction = Reduction { domain, guard, body, combine, start, flags };
        let result = self.module.supply.value(Elem::F64);
        let kind = InstKind::Reduce(Box::new(reduction));
        let inst = Inst { results: vec![Def::Scalar(result)], kind, loc: Loc::default() };
        let region = Region { params: Vec::new(), insts: vec![inst], results: vec![result.into()] };
        let mut copy = self.copy(&region)?;
        out.append(&mut copy.insts);
        Ok(copy.results.remove(0))
    }

    fn join(&mut self, out: &mut Vec<Inst>, most: &mut Option<Arg>, fault: Arg) {
        *most = Some(match most.take() {
            None => fault,
            Some(most) => self.op(out, Op::Max, vec![most, fault], Elem::F64),
        });
    }

    /// A region that yields the largest fault of the calls in another; `None` without calls.
    fn faults(&mut self, watched: &Watched<'_>, region: &Region) -> R<Option<Region>> {
        let mut out = Vec::with_capacity(region.insts.len());
        let mut most: Option<Arg> = None;
        for inst in &region.insts {
            out.push(inst.clone());
            match &inst.kind {
                InstKind::Call { function, args } if function == watched.function => {
                    let fault = self.fault(watched, inst, args, &mut out)?;
                    self.join(&mut out, &mut most, fault);
                }
                InstKind::If { condition, then, otherwise } => {
                    let arms = [self.faults(watched, then)?, self.faults(watched, otherwise)?];
                    if arms.iter().all(Option::is_none) {
                        continue;
                    }
                    let [then, otherwise] =
                        arms.map(|arm| arm.unwrap_or_else(|| Region::yielding([zero(Elem::F64)])));
                    let (then, otherwise) = (self.copy(&then)?, self.copy(&otherwise)?);
                    let fault =
                        self.branch(&mut out, condition.clone(), then, otherwise, Elem::F64);
                    self.join(&mut out, &mut most, fault);
                }
                InstKind::Reduce(reduction) => {
                    let Some(body) = self.faults(watched, &reduction.body)? else { continue };
                    let (domain, guard) = (reduction.domain.clone(), reduction.guard.clone());
                    let fault = self.largest(&mut out, domain, guard, body)?;
                    self.join(&mut out, &mut most, fault);
                }
                InstKind::Group(group) => {
                    self.group_faults(watched, group, &mut out, &mut most)?;
                }
                _ => {}
            }
        }
        let params = region.params.clone();
        Ok(most.map(|most| Region { params, insts: out, results: vec![most] }))
    }
}
