//! What the expansion of a module's requests works on.

use std::collections::BTreeSet;
use std::rc::Rc;

use einlang_index::{Domain, Facts, MinMax, Quasi, Var};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::contract::Side;
use super::fault::{Fault, R};
use super::flow::{Flow, Site, flow_of};
use super::idle::Idle;
use super::isolate::Calls;
use super::leaf::Hidden;
use crate::constant::Const;
use crate::fresh::Fresh;
use crate::module::{Binding, Clause, Group, Module, Symbol, SymbolSource};
use crate::op::Op;
use crate::passes::Mode;
use crate::region::{Arg, Def, Inst, InstKind, Place, Read, Region, Subscript};
use crate::types::{Elem, Ident, Loc, TensorType};

/// A module whose requests are being expanded.
pub(super) struct Ad<'m> {
    /// Which mode is asked for.
    pub(super) mode: Mode,
    pub(super) module: &'m mut Module,
    pub(super) names: BTreeSet<Ident>,
    pub(super) facts: Facts,
    /// Where each binding is: group and position.
    pub(super) places: HashMap<Ident, (usize, usize)>,
    flows: HashMap<Ident, Rc<Flow>>,
    /// The bindings that are flat.
    pub(super) flat: HashSet<Ident>,
    /// The entries that are contracted with a vector, by the number of their value.
    pub(super) sides: HashMap<u32, Side>,
    /// The entries that cannot be expanded.
    pub(super) idle: Idle,
    /// The stored derivatives that something reads.
    pub(super) referenced: HashSet<Ident>,
    /// The parameters that each target is asked about.
    pub(super) asked: HashMap<Ident, HashSet<Ident>>,
    /// The binding that each lifted one was local to.
    pub(super) lifted_from: HashMap<Ident, Ident>,
    /// What each entry does not see, by the number of its value.
    pub(super) hidden: HashMap<u32, Hidden>,
    /// The bindings that were not there to begin with.
    pub(super) added: HashSet<Ident>,
    /// The indices around that lead each lifted binding, and all that were around it.
    pub(super) prefixes: HashMap<Ident, Vec<Var>>,
    pub(super) dims_at: HashMap<Ident, Vec<Var>>,
    /// The calls of functions with rules that take or give tensors.
    pub(super) calls: Calls,
    /// Where clauses cover the points of tensors.
    pub(super) coverages: HashMap<Ident, Ident>,
    /// The first extremal index of reductions, by binding and clause.
    pub(super) firsts: HashMap<(Ident, usize), Ident>,
}

impl<'m> Ad<'m> {
    pub(super) fn new(module: &'m mut Module, mode: Mode, idle: Idle) -> Ad<'m> {
        let (names, facts) = (module.tensor_names(), module.facts());
        let (places, flows, flat) = (HashMap::default(), HashMap::default(), HashSet::default());
        let mut ad = Ad {
            mode,
            module,
            names,
            facts,
            places,
            flows,
            flat,
            sides: HashMap::default(),
            idle,
            referenced: HashSet::default(),
            asked: HashMap::default(),
            lifted_from: HashMap::default(),
            hidden: HashMap::default(),
            added: HashSet::default(),
            prefixes: HashMap::default(),
            dims_at: HashMap::default(),
            calls: Calls::default(),
            coverages: HashMap::default(),
            firsts: HashMap::default(),
        };
        ad.find_places();
        ad
    }

    /// Notes where the bindings are.
    pub(super) fn find_places(&mut self) {
        self.places.clear();
        for (at, group) in self.module.groups.iter().enumerate() {
            for (member, binding) in group.bindings.iter().enumerate() {
                self.places.insert(binding.name.clone(), (at, member));
            }
        }
    }

    /// The binding of this name outside any region.
    pub(super) fn binding(&self, name: &Ident) -> Option<&Binding> {
        let (group, member) = self.places.get(name)?;
        self.module.groups.get(*group)?.bindings.get(*member)
    }

    /// The type of a binding or input.
    pub(super) fn tensor_type(&self, name: &Ident) -> R<TensorType> {
        if let Some(binding) = self.binding(name) {
            return Ok(binding.ty());
        }
        let input = self.module.inputs.iter().find(|input| input.name == *name);
        let found = input.map(|input| input.ty.clone());
        let what = format!("`{}`, which is local to a point", name.as_str());
        found.ok_or_else(|| Fault::unsupported(&what, Loc::default()))
    }

    /// Where a tensor was defined.
    pub(super) fn loc_of(&self, name: &Ident) -> Loc {
        self.binding(name).map(|binding| binding.loc).unwrap_or_default()
    }

    /// The names of all bindings, in order.
    pub(super) fn binding_names(&self) -> Vec<Ident> {
        self.module.bindings().map(|binding| binding.name.clone()).collect()
    }

    /// What flows into a binding.
    pub(super) fn flow(&mut self, name: &Ident) -> Rc<Flow> {
        if let Some(flow) = self.flows.get(name) {
            return Rc::clone(flow);
        }
        let mut flow = self.binding(name).map(flow_of).unwrap_or_default();
        if let Some(constant) = self.calls.constants.get(name) {
            flow.sources.remove(constant);
            flow.sites.retain(|site| site.place.tensor != *constant);
        }
        if let Some(sums) = self.calls.sums.get(name) {
            let axes = self.binding(name).map(|binding| binding.dims()).unwrap_or_default();
            let at: Vec<Subscript> =
                axes.into_iter().map(|axis| Subscript::Index(axis.into())).collect();
            let place = |tensor: &Ident| Place { tensor: tensor.clone(), at: at.clone() };
            flow.sites = sums.iter().map(|sum| Site { place: place(sum) }).collect();
            flow.sources = sums.iter().cloned().collect();
        }
        let flow = Rc::new(flow);
        self.flows.insert(name.clone(), Rc::clone(&flow));
        flow
    }

    /// Puts other clauses into a binding.
    pub(super) fn set_clauses(&mut self, name: &Ident, clauses: Vec<Clause>) {
        self.flows.remove(name);
        let place = self.places.get(name);
        if let Some((group, member)) = place
            && let Some(group) = self.module.groups.get_mut(*group)
            && let Some(binding) = group.bindings.get_mut(*member)
        {
            binding.clauses = clauses;
        }
    }

    /// A name that no tensor has yet.
    pub(super) fn fresh_name(&mut self, text: &str) -> Ident {
        let mut text = text.to_owned();
        while self.names.contains(text.as_str()) {
            text.push('\'');
        }
        let name = Ident::new(&text);
        self.names.insert(name.clone());
        name
    }

    /// Adds a binding with new binders throughout. Its name must be one that
    /// [`Ad::fresh_name`] gave, or that of a local tensor which is no longer local.
    pub(super) fn add_binding(&mut self, binding: Binding) -> R<()> {
        let name = binding.name.clone();
        self.names.remove(&name);
        let group = Group { bindings: vec![binding], until: None };
        let group = Fresh::new(self.module, &mut self.names).copy_group(&group)?;
        self.names.insert(name.clone());
        self.added.insert(name.clone());
        self.places.insert(name, (self.module.groups.len(), 0));
        self.module.groups.push(group);
        Ok(())
    }

    /// A copy of a region with new binders.
    pub(super) fn copy(&mut self, region: &Region) -> R<Region> {
        Ok(Fresh::new(self.module, &mut self.names).copy(region)?)
    }

    /// The extent of a box that holds every value of a dimension of a domain.
    pub(super) fn extent_of(&mut self, domain: &Domain, var: Var, loc: Loc) -> R<Quasi> {
        let below = || Fault::unsupported("an index that may be negative", loc);
        if !self.facts.prove(domain, &var.into()).is_true() {
            return Err(below());
        }
        let bounds = domain.axis_bounds(var)?;
        let upper = bounds.upper.ok_or_else(below)?.simplified(&self.facts).add_constant(1)?;
        let leaves = |of: &[MinMax]| -> R<Vec<Quasi>> {
            let list: Option<Vec<Quasi>> = of.iter().map(|m| m.as_quasi().cloned()).collect();
            list.ok_or_else(|| Fault::unsupported("a range of this kind", loc))
        };
        let source = match &upper {
            MinMax::Value(extent) => return Ok(extent.clone()),
            MinMax::Max(of) => SymbolSource::Max(leaves(of)?),
            MinMax::Min(of) => SymbolSource::Min(leaves(of)?),
        };
        let var = self.module.vars.symbol("n");
        self.module.symbols.push(Symbol { var, source, loc });
        self.facts = self.module.facts();
        Ok(var.into())
    }

    /// Whether the symbols, and nothing else, decide an expression.
    pub(super) fn is_global(&self, expr: &Quasi) -> bool {
        let ends = |var: Var| {
            let mut untils = self.module.groups.iter().filter_map(|group| group.until.as_ref());
            untils.any(|until| until.extent == var)
        };
        let mut global = true;
        expr.for_each_var(&mut |var| {
            global &= match self.module.source(var) {
                None | Some(SymbolSource::Local) => false,
                Some(SymbolSource::Until) => ends(var),
                Some(_) => true,
            };
        });
        global
    }

    // Instructions.

    /// Appends an instruction with one scalar result.
    pub(super) fn push(
        &mut self,
        out: &mut Vec<Inst>,
        elem: Elem,
        kind: InstKind,
        loc: Loc,
    ) -> Arg {
        let value = self.module.supply.value(elem);
        out.push(Inst { results: vec![Def::Scalar(value)], kind, loc });
        value.into()
    }

    /// Appends an operation.
    pub(super) fn op(&mut self, out: &mut Vec<Inst>, op: Op, args: Vec<Arg>, elem: Elem) -> Arg {
        self.push(out, elem, InstKind::Op(op, args), Loc::default())
    }

    /// The sum, without what is plainly zero.
    pub(super) fn add(&mut self, out: &mut Vec<Inst>, a: Arg, b: Arg) -> Arg {
        let elem = a.elem().or(b.elem()).unwrap_or(Elem::F32);
        match () {
            () if is_number(&a, 0.0) => b,
            () if is_number(&b, 0.0) => a,
            () => self.op(out, Op::Add, vec![a, b], elem),
        }
    }

    /// Adds to a sum that may be empty so far.
    pub(super) fn add_to(&mut self, out: &mut Vec<Inst>, sum: &mut Option<Arg>, term: Arg) {
        *sum = Some(match sum.take() {
            None => term,
            Some(sum) => self.add(out, sum, term),
        });
    }

    /// The product, without what is plainly one.
    pub(super) fn mul(&mut self, out: &mut Vec<Inst>, a: Arg, b: Arg) -> Arg {
        let elem = a.elem().or(b.elem()).unwrap_or(Elem::F32);
        match () {
            () if is_number(&a, 1.0) => b,
            () if is_number(&b, 1.0) => a,
            () if is_number(&a, -1.0) => self.neg(out, b),
            () if is_number(&b, -1.0) => self.neg(out, a),
            () => self.op(out, Op::Mul, vec![a, b], elem),
        }
    }

    /// The negated value.
    pub(super) fn neg(&mut self, out: &mut Vec<Inst>, a: Arg) -> Arg {
        let elem = a.elem().unwrap_or(Elem::F32);
        match a.as_const().and_then(Const::as_float) {
            Some(number) => Const::float(elem, -number).into(),
            None => self.op(out, Op::Neg, vec![a], elem),
        }
    }

    /// The value as a float of another width.
    pub(super) fn cast(&mut self, out: &mut Vec<Inst>, a: Arg, to: Elem) -> Arg {
        match a.elem() == Some(to) {
            true => a,
            false => self.op(out, Op::Cast, vec![a], to),
        }
    }

    /// The element of a tensor.
    pub(super) fn read(
        &mut self,
        out: &mut Vec<Inst>,
        tensor: &Ident,
        at: Vec<Subscript>,
        elem: Elem,
        proved: bool,
    ) -> Arg {
        let place = Place { tensor: tensor.clone(), at };
        let kind = InstKind::Read(Read { place, default: None, proved });
        self.push(out, elem, kind, Loc::default())
    }

    /// `then` where the condition holds, else `otherwise`.
    pub(super) fn branch(
        &mut self,
        out: &mut Vec<Inst>,
        condition: Arg,
        then: Region,
        otherwise: Region,
        elem: Elem,
    ) -> Arg {
        self.push(out, elem, InstKind::If { condition, then, otherwise }, Loc::default())
    }
}

/// Whether an operand is this number.
pub(super) fn is_number(arg: &Arg, number: f64) -> bool {
    arg.as_const().and_then(Const::as_float) == Some(number)
}

/// The zero of a type as an operand.
pub(super) fn zero(elem: Elem) -> Arg {
    Const::zero(elem).into()
}

/// The one of a type as an operand.
pub(super) fn one(elem: Elem) -> Arg {
    Const::one(elem).into()
}
