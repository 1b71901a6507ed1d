//! Reads become loads, with a test where nothing was proved.
//!
//! A point that no clause covers is zero for readers outside the group: memory starts as zeros. For
//! readers inside, and for reads with a default, it makes a difference whether a point was stored;
//! where that cannot be proved the buffer has marks.

use einlang_index::{Domain, Facts, Map, Quasi};
use einlang_tir::constant::Const;
use einlang_tir::module::{Binding, Group, Module, box_of};
use einlang_tir::region::{Arg, Inst, InstKind, Read, Region, Subscript as Place, Value};
use einlang_tir::types::{Elem, Ident};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::{Lower, NotLowered, Part, Result};
use crate::decide::{Extremes, extended, is_order_seen};
use crate::ir::{Access, Block, BufferId, Condition, Fault, Stmt, Subscript};
use crate::schedule::axis_of;

impl Lower<'_> {
    pub(super) fn read(&mut self, read: &Read, inst: &Inst, out: &mut Vec<Stmt>) -> Result<()> {
        let name = &read.place.tensor;
        if self.at_reads.contains(name) {
            return self.read_inline(read, inst, out);
        }
        let missing =
            || NotLowered::new(format!("a read of `{}`, which is not there", name.as_str()));
        let buffer = *self.tensors.get(name).ok_or_else(missing)?;
        let mut at = Vec::with_capacity(read.place.at.len());
        for subscript in &read.place.at {
            at.push(match subscript {
                Place::Index(expr) => Subscript::Index(expr.clone()),
                Place::Value(arg) => Subscript::Value(self.operand(arg)?),
            });
        }
        let mut plain = true;
        if let Some(order) = self.turned(read, buffer) {
            plain = false;
            at = order.into_iter().map(|axis| at[axis].clone()).collect();
        } else if self.maps.contains_key(&buffer) {
            plain = false;
            at = self.read_mapped(read, buffer)?;
        }
        let found = self.in_panels(read, &at)?;
        plain &= found.is_none();
        let (buffer, mut at, proved) = found.unwrap_or((buffer, at, Access::Proved));
        let (buffer, within) = self.along_time(read, buffer, &mut at)?;
        let own = self.around.iter().any(|around| around.names.contains(name));
        let marks = self.marked.contains(name);
        let by_data = is_by_data(&read.place.at);
        let fault = Fault::Read { own, by_data, plain: plain && within.is_none() };
        let site = |lower: &mut Self| {
            lower.faulty(format!("a read of `{}`", name.as_str()), inst.loc, fault)
        };
        let Some(default) = &read.default else {
            let tested = own && marks && (by_data || !self.fills(name));
            let access = match (read.proved, tested) {
                (true, false) => proved,
                _ => Access::Site(site(self), tested),
            };
            if let (Access::Site(site, _), Some(within)) = (access, within) {
                out.push(Stmt::Assert { condition: Condition::Within(within), site });
            }
            let result = self.result(inst)?;
            out.push(Stmt::Load { result, buffer, at, access });
            return Ok(());
        };
        match self.is_inside(read, buffer).filter(|_| !marks && !by_data) {
            Some(true) => {
                let result = self.result(inst)?;
                out.push(Stmt::Load { result, buffer, at, access: Access::Proved });
                return Ok(());
            }
            Some(false) => {
                let parts = self.region(default, out)?;
                if let (Some(Part::Scalar(operand)), Some(Some(value))) =
                    (parts.first(), inst.results.first().map(|def| def.as_scalar()))
                {
                    self.values.insert(value.number, *operand);
                    return Ok(());
                }
                return Err(NotLowered::new("a default that is no scalar"));
            }
            None => {}
        }
        // A point of the own group that comes later is an error and not a gap.
        let early = own && by_data;
        let found = self.probe(buffer, &at, marks && !early, within, out);
        let access = if early { Access::Site(site(self), true) } else { Access::Proved };
        let loaded = self.fresh(self.kernel.buffers[buffer.0 as usize].elem);
        let load = Stmt::Load { result: loaded, buffer, at, access };
        let then = Block { stmts: vec![load], results: vec![loaded.into()] };
        let (stmts, parts) = self.scoped(|lower, out| lower.region(default, out))?;
        let Some(Part::Scalar(operand)) = parts.first() else {
            return Err(NotLowered::new("a default that is no scalar"));
        };
        let otherwise = Block { stmts, results: vec![*operand] };
        let result = self.result(inst)?;
        let condition = Condition::Value(found.into());
        out.push(Stmt::If { results: vec![result], condition, then, otherwise });
        Ok(())
    }

    /// Whether a point is there; along time it must lie within a domain.
    fn probe(
        &mut self,
        buffer: BufferId,
        at: &[Subscript],
        marked: bool,
        within: Option<Domain>,
        out: &mut Vec<Stmt>,
    ) -> Value {
        let found = self.fresh(Elem::Bool);
        let probe = Stmt::Probe { result: found, buffer, at: at.to_vec(), marked };
        let Some(within) = within else {
            out.push(probe);
            return found;
        };
        let result = self.fresh(Elem::Bool);
        out.push(Stmt::If {
            results: vec![result],
            condition: Condition::Within(within),
            then: Block { stmts: vec![probe], results: vec![found.into()] },
            otherwise: Block { stmts: Vec::new(), results: vec![Const::bool(false).into()] },
        });
        result
    }

    /// Where a point of a tensor lies in the dimensions of its buffer.
    pub(super) fn in_memory(&self, buffer: BufferId, mut at: Vec<Quasi>) -> Result<Vec<Quasi>> {
        if let Some(of) = self.segments.values().find(|of| of.buffer == buffer) {
            at[of.axis] = of.plane(&at[of.axis])?;
        }
        let Some(map) = self.maps.get(&buffer) else { return Ok(at) };
        let mut place = Vec::with_capacity(map.len());
        for form in map {
            let mut sum = Quasi::from(0);
            for (c, index) in form.iter().zip(&at) {
                sum = sum.combine(1, index, *c)?;
            }
            place.push(sum);
        }
        Ok(place)
    }

    /// The axis of each dimension of a buffer that has the axes of a tensor in another order.
    pub(super) fn turned(&self, read: &Read, buffer: BufferId) -> Option<Vec<usize>> {
        let map = self.maps.get(&buffer)?;
        let is_cut = self.segments.contains_key(&read.place.tensor);
        map.iter().map(|form| axis_of(form)).collect::<Option<Vec<_>>>().filter(|_| !is_cut)
    }

    /// The subscripts of a read in the dimensions of a buffer that are not the tensor's axes. There
    /// is nothing to test then.
    fn read_mapped(&self, read: &Read, buffer: BufferId) -> Result<Vec<Subscript>> {
        let at: Option<Vec<Quasi>> = read.place.at.iter().map(index_of).collect();
        let name = &read.place.tensor;
        match at {
            Some(at) if read.proved && read.default.is_none() && !self.marked.contains(name) => {
                Ok(self.in_memory(buffer, at)?.into_iter().map(Subscript::Index).collect())
            }
            _ => Err(NotLowered::new(format!("a read of `{}` that is tested", name.as_str()))),
        }
    }

    /// Whether own reads of uncovered points give zero.
    fn fills(&self, name: &Ident) -> bool {
        self.bindings.get(name).is_some_and(|binding| binding.zero_fill)
    }

    /// The body of a binding where it is read.
    fn read_inline(&mut self, read: &Read, inst: &Inst, out: &mut Vec<Stmt>) -> Result<()> {
        let name = &read.place.tensor;
        let binding =
            self.bindings.get(name).copied().filter(|b| b.clauses.len() == 1 && read.proved);
        let clause = binding.and_then(|binding| binding.clauses.first());
        let (Some(binding), Some(clause)) = (binding, clause) else {
            let why = format!("`{}` cannot be computed where it is read", name.as_str());
            return Err(NotLowered::new(why));
        };
        // What its indices are holds in its body only: the next read may be of another point.
        let context = self.context.clone();
        for (axis, subscript) in binding.axes.iter().zip(&read.place.at) {
            match subscript {
                Place::Index(expr) if expr.mentions(axis.var) => {
                    return Err(NotLowered::new("a binding that is read in itself"));
                }
                Place::Index(expr) => {
                    let stands = self.stands_for(expr);
                    self.inlined.insert(axis.var, stands);
                    self.bind(axis.var, expr.clone(), out)?;
                }
                Place::Value(arg) => {
                    self.inlined.remove(&axis.var);
                    let value = self.operand(arg)?;
                    self.param(axis.var, value, name.as_str(), out)?;
                }
            }
        }
        let parts = self.region(&clause.body, out)?;
        self.context = context;
        let (Some(Part::Scalar(operand)), [def]) = (parts.first(), &inst.results[..]) else {
            return Err(NotLowered::new("an element that is no scalar"));
        };
        if let Some(value) = def.as_scalar() {
            self.values.insert(value.number, *operand);
        }
        Ok(())
    }
}

/// Whether a subscript is data.
pub(crate) fn is_by_data(at: &[Place]) -> bool {
    at.iter().any(|subscript| match subscript {
        Place::Index(_) => false,
        Place::Value(arg) => arg.as_const().is_none(),
    })
}

/// The bindings for which it must be remembered which points were stored.
pub(crate) fn needs_marks(module: &Module, facts: &Facts) -> HashSet<Ident> {
    marks_and_gaps(module, facts).0
}

/// The same, and the bindings some point of which may be read, or leave the module, though nothing is stored
/// there.
pub(super) fn marks_and_gaps(module: &Module, facts: &Facts) -> (HashSet<Ident>, HashSet<Ident>) {
    let mut marks = Marks::new(module, facts);
    for group in &module.groups {
        marks.declare(group);
    }
    for group in &module.groups {
        marks.group(group, &Domain::everything([]));
    }
    for name in &module.outputs {
        marks.whole(name);
    }
    (marks.found, marks.gaps)
}

struct Marks<'a> {
    module: &'a Module,
    facts: &'a Facts,
    /// The bindings of groups the order of whose points can be seen.
    seen: HashSet<Ident>,
    extremes: Extremes,
    covered: HashMap<Ident, Covered>,
    around: Vec<Vec<Ident>>,
    found: HashSet<Ident>,
    gaps: HashSet<Ident>,
}

/// What is certain to be stored of a binding.
struct Covered {
    whole: Option<Domain>,
    stored: Option<Domain>,
    total: bool,
    zero_fill: bool,
}

impl<'a> Marks<'a> {
    fn new(module: &'a Module, facts: &'a Facts) -> Marks<'a> {
        Marks {
            module,
            facts,
            seen: HashSet::default(),
            extremes: Extremes::of(module),
            covered: HashMap::default(),
            around: Vec::new(),
            found: HashSet::default(),
            gaps: HashSet::default(),
        }
    }

    fn declare(&mut self, group: &Group) {
        if is_order_seen(self.module, group) {
            self.seen.extend(group.bindings.iter().map(|binding| binding.name.clone()));
        }
        for binding in &group.bindings {
            let covered = self.coverage(binding);
            self.covered.insert(binding.name.clone(), covered);
        }
    }

    fn coverage(&self, binding: &Binding) -> Covered {
        let whole = box_of(&binding.axes).ok();
        let mut stored = Some(Domain::nothing(binding.dims()));
        for clause in binding.clauses.iter().filter(|clause| clause.guard.is_none()) {
            stored = stored.and_then(|stored| stored.union(&clause.domain).ok());
        }
        let rest = match (&whole, &stored) {
            (Some(whole), Some(stored)) => whole.subtract(stored).ok(),
            _ => None,
        };
        let total = rest.is_some_and(|rest| self.extremes.is_empty(self.facts, &rest));
        Covered { whole, stored, total, zero_fill: binding.zero_fill }
    }

    fn group(&mut self, group: &Group, over: &Domain) {
        self.around.push(group.bindings.iter().map(|binding| binding.name.clone()).collect());
        for clause in group.bindings.iter().flat_map(|binding| &binding.clauses) {
            let inside = extended(over, &clause.domain);
            for region in clause.guard.iter().chain([&clause.body]) {
                self.region(region, &inside);
            }
        }
        if let Some(until) = &group.until {
            self.region(&until.condition, over);
        }
        self.around.pop();
    }

    /// Takes note that all of a tensor is wanted.
    fn whole(&mut self, name: &Ident) {
        if self.covered.get(name).is_none_or(|covered| !covered.total) {
            self.gaps.insert(name.clone());
        }
    }

    fn region(&mut self, region: &Region, over: &Domain) {
        let results = region.results.iter();
        for arg in region.insts.iter().flat_map(|inst| inst.args()).chain(results) {
            if let Arg::Tensor(name) = arg {
                self.whole(name);
            }
        }
        for inst in &region.insts {
            match &inst.kind {
                InstKind::Read(read) => {
                    self.read(read, over);
                    read.default.iter().for_each(|region| self.region(region, over));
                }
                InstKind::Reduce(reduction) => {
                    let inside = extended(over, &reduction.domain);
                    inst.regions().into_iter().for_each(|r| self.region(r, &inside));
                }
                InstKind::Group(group) => {
                    self.declare(group);
                    self.group(group, over);
                }
                _ => inst.regions().into_iter().for_each(|region| self.region(region, over)),
            }
        }
    }

    fn read(&mut self, read: &Read, over: &Domain) {
        let name = &read.place.tensor;
        let Some(covered) = self.covered.get(name) else { return };
        let own = self.around.iter().any(|names| names.contains(name));
        let by_data = is_by_data(&read.place.at);
        let matters = read.default.is_some() || (own && !covered.zero_fill);
        let seen = own && by_data && self.seen.contains(name);
        let is_gap = !covered.total && !self.is_stored(read, covered, over);
        if seen || matters && is_gap {
            self.found.insert(name.clone());
        }
        if is_gap {
            self.gaps.insert(name.clone());
        }
    }

    /// Whether every point of the box that is read is certain to be stored.
    fn is_stored(&self, read: &Read, covered: &Covered, over: &Domain) -> bool {
        let at: Option<Vec<Quasi>> = read.place.at.iter().map(index_of).collect();
        let (Some(at), Some(whole), Some(stored)) = (at, &covered.whole, &covered.stored) else {
            return false;
        };
        let map = Map::new(over.dims(), at);
        let inside = whole.preimage(&map).and_then(|part| over.intersect(&part));
        let missing = stored
            .preimage(&map)
            .and_then(|part| inside?.subtract(&part))
            .map(|rest| self.extremes.is_empty(self.facts, &rest));
        missing.unwrap_or(false)
    }
}

pub(crate) fn index_of(subscript: &Place) -> Option<Quasi> {
    match subscript {
        Place::Index(expr) => Some(expr.clone()),
        Place::Value(Arg::Const(constant)) => {
            constant.as_int().and_then(|n| i64::try_from(n).ok()).map(Quasi::from)
        }
        Place::Value(_) => None,
    }
}
