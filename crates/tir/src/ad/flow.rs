//! Which reads a binding's value flows from.
//!
//! Subscripts, conditions, ranges and extents are constants for derivatives, and so is what passes
//! through an operation whose derivative is zero by definition. Integers are followed: a float that
//! becomes an integer and a float again must be found, to be refused.

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use crate::module::{Binding, Clause, Group};
use crate::op::Derivative;
use crate::region::{Arg, Combiner, Def, Inst, InstKind, Place, Read, Region};
use crate::types::{Elem, Ident};

/// A read whose value flows into the result of a clause.
#[derive(Clone, Debug)]
pub(super) struct Site {
    /// The point.
    pub(super) place: Place,
}

/// What flows into a binding.
#[derive(Clone, Default, Debug)]
pub(super) struct Flow {
    /// The reads of tensors that are not local to a clause.
    pub(super) sites: Vec<Site>,
    /// The tensors read, those passed as a whole included.
    pub(super) sources: HashSet<Ident>,
    /// The values that were computed outside.
    pub(super) values: HashSet<u32>,
}

/// What flows into a binding.
pub(super) fn flow_of(binding: &Binding) -> Flow {
    let mut flow = Flow::default();
    for clause in &binding.clauses {
        let mut tracer = Tracer::default();
        tracer.clause(clause);
        tracer.run(&clause.body.results, &mut flow);
    }
    flow
}

/// What flows into the results of an instruction.
pub(super) fn flow_of_inst(inst: &Inst) -> Flow {
    let results = inst.results.iter().filter_map(Def::as_scalar).map(Arg::from).collect();
    let body = Region { params: Vec::new(), insts: vec![inst.clone()], results };
    let mut flow = Flow::default();
    let mut tracer = Tracer::default();
    tracer.region(&body);
    tracer.run(&body.results, &mut flow);
    flow
}

enum From<'a> {
    Inst(&'a Inst, usize),
    /// A parameter: the operand that it stands for.
    Same(&'a Arg),
}

#[derive(Default)]
struct Tracer<'a> {
    values: HashMap<u32, From<'a>>,
    locals: HashMap<Ident, Vec<&'a Arg>>,
    seen: HashSet<u32>,
    open: Vec<&'a Arg>,
}

impl<'a> Tracer<'a> {
    fn clause(&mut self, clause: &'a Clause) {
        self.guarded(clause.guard.as_ref(), &clause.body);
    }

    fn guarded(&mut self, guard: Option<&'a Region>, body: &'a Region) {
        if let Some(guard) = guard {
            self.region(guard);
            for (param, arg) in body.params.iter().zip(guard.results.iter().skip(1)) {
                if let Def::Scalar(value) = param {
                    self.values.insert(value.number, From::Same(arg));
                }
            }
        }
        self.region(body);
    }

    fn region(&mut self, region: &'a Region) {
        for inst in &region.insts {
            for (at, def) in inst.results.iter().enumerate() {
                match def {
                    Def::Scalar(value) => {
                        self.values.insert(value.number, From::Inst(inst, at));
                    }
                    Def::Tensor(tensor) => {
                        let from = inst.args().into_iter();
                        let inner = inst.regions().into_iter().filter_map(|r| r.results.get(at));
                        self.locals.insert(tensor.name.clone(), from.chain(inner).collect());
                    }
                }
            }
            match &inst.kind {
                InstKind::Group(group) => self.group(group),
                InstKind::Reduce(reduction) => {
                    if let Combiner::Region(combine) = &reduction.combine {
                        self.region(combine);
                    }
                    self.guarded(reduction.guard.as_ref(), &reduction.body);
                }
                _ => inst.regions().into_iter().for_each(|region| self.region(region)),
            }
        }
    }

    fn group(&mut self, group: &'a Group) {
        for binding in &group.bindings {
            binding.clauses.iter().for_each(|clause| self.clause(clause));
            let results = binding.clauses.iter().flat_map(|clause| &clause.body.results);
            self.locals.insert(binding.name.clone(), results.collect());
        }
    }

    fn run(&mut self, results: &'a [Arg], flow: &mut Flow) {
        self.open.extend(results);
        while let Some(arg) = self.open.pop() {
            match arg {
                Arg::Const(_) => {}
                Arg::Tensor(name) => self.tensor(name, flow),
                Arg::Value(value) if value.elem == Elem::Bool => {}
                Arg::Value(value) => {
                    if !self.seen.insert(value.number) {
                        continue;
                    }
                    match self.values.get(&value.number) {
                        Some(From::Same(arg)) => self.open.push(arg),
                        Some(From::Inst(inst, at)) => {
                            let (inst, at) = (*inst, *at);
                            self.inst(inst, at, flow);
                        }
                        None => drop(flow.values.insert(value.number)),
                    }
                }
            }
        }
    }

    fn tensor(&mut self, name: &Ident, flow: &mut Flow) {
        match self.locals.remove(name) {
            Some(results) => {
                self.open.extend(results);
                self.locals.insert(name.clone(), Vec::new());
            }
            None => drop(flow.sources.insert(name.clone())),
        }
    }

    fn inst(&mut self, inst: &'a Inst, at: usize, flow: &mut Flow) {
        match &inst.kind {
            InstKind::Op(op, _) if op.info().derivative == Derivative::Zero => {}
            InstKind::Op(_, args) => self.open.extend(args),
            InstKind::Read(Read { place, default, .. }) => {
                self.open.extend(default.iter().flat_map(|default| &default.results));
                let is_local = self.locals.contains_key(&place.tensor);
                self.tensor(&place.tensor, flow);
                if !is_local {
                    let place = place.clone();
                    flow.sites.push(Site { place });
                }
            }
            InstKind::If { .. } | InstKind::Switch { .. } => {
                self.open.extend(inst.regions().into_iter().filter_map(|r| r.results.get(at)));
            }
            InstKind::Reduce(reduction) => {
                self.open.extend(&reduction.body.results);
                self.open.extend(reduction.start.args());
                if let Combiner::Region(combine) = &reduction.combine {
                    self.open.extend(&combine.results);
                }
            }
            InstKind::Call { args, .. } | InstKind::HostCall { args, .. } => self.open.extend(args),
            InstKind::Deriv { of, by } => {
                self.tensor(&of.tensor, flow);
                self.tensor(&by.tensor, flow);
            }
            _ => {}
        }
    }
}
