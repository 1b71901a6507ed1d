//! A stream over blocks: the axis of every member becomes two, and every sum a recurrence.

use std::collections::BTreeSet;

use einlang_index::{Affine, Constraint, Domain, Quasi, Result, Set, Var};
use einlang_tir::constant::Const;
use einlang_tir::fresh::Fresh;
use einlang_tir::module::{Axis, Binding, Clause, Group, Module};
use einlang_tir::op::Op;
use einlang_tir::region::{Arg, Def, Inst, InstKind, Place, Read, Region, Subscript, Value};
use einlang_tir::substitute::Substitution;
use einlang_tir::types::{Elem, Ident};

use super::super::replay::with_what_it_needs;
use super::BLOCK;
use super::members::Stream;

/// The module with a stream over blocks, and where its group is.
pub(super) fn in_blocks(module: &Module, stream: &Stream) -> Option<(Module, usize)> {
    let mut made = module.clone();
    let mut names = made.tensor_names();
    let mut writing = Writing { stream, module: &mut made, names: &mut names };
    let mut joint = Vec::new();
    for binding in module.bindings().filter(|b| stream.members.contains_key(&b.name)) {
        joint.push(writing.member(binding).ok()?);
    }
    // From the last to the first, for what takes the place of a sum is longer.
    for (name, clause, inst) in stream.sums.iter().rev() {
        joint.push(writing.sum(name, *clause, *inst)?);
    }
    let groups = std::mem::take(&mut made.groups);
    let is = |group: &Group, set: &dyn Fn(&Ident) -> bool| {
        group.bindings.iter().any(|binding| set(&binding.name))
    };
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for group in groups {
        if is(&group, &|name| stream.members.contains_key(name)) {
            continue;
        }
        match is(&group, &|name| stream.after.contains(name)) {
            true => after.push(group),
            false => before.push(group),
        }
    }
    let at = before.len();
    before.push(Group { bindings: joint, until: None });
    before.extend(after);
    made.groups = before;
    Some((made, at))
}

struct Writing<'w> {
    stream: &'w Stream,
    module: &'w mut Module,
    names: &'w mut BTreeSet<Ident>,
}

impl Writing<'_> {
    fn length(&self) -> Affine {
        Affine::var(self.stream.extent)
    }

    /// How many blocks there are.
    fn n_blocks(&self) -> Result<Quasi> {
        Quasi::from(self.stream.extent).add_constant(BLOCK - 1)?.floor_div(BLOCK)
    }

    /// The points of a block that exist.
    fn inside(&self, block: Var, within: Var) -> Result<Set> {
        let at = Affine::var(block).scale(BLOCK)?.add(&Affine::var(within))?;
        Set::new([
            Constraint::Ge(Affine::var(block)),
            Constraint::Ge(Affine::var(within)),
            Constraint::lt(&Affine::var(within), &Affine::constant(BLOCK))?,
            Constraint::lt(&at, &self.length())?,
        ])
    }

    /// A tensor of the stream.
    fn member(&mut self, binding: &Binding) -> Result<Binding> {
        let axis = self.stream.members.get(&binding.name).copied().unwrap_or(0);
        let point = binding.axes[axis].var;
        let (block, within) = (self.module.vars.index("block"), self.module.vars.fresh_like(point));
        let mut made = binding.clone();
        made.axes[axis] = Axis { var: within, dim: Quasi::from(BLOCK).into() };
        made.axes.insert(0, Axis { var: block, dim: self.n_blocks()?.into() });
        let dims = made.dims();
        for clause in &mut made.clauses {
            self.places(&mut clause.body, point, block, within);
            let stands = self.point(point, block, within)?;
            stands.region(&mut clause.body)?;
            clause.domain = self.divided(&clause.domain, &dims, point, block, within)?.into();
        }
        Ok(made)
    }

    /// What an index along the axis is.
    fn point(&self, point: Var, block: Var, within: Var) -> Result<Substitution> {
        let at = Quasi::from(block).scale(BLOCK)?.add(&within.into())?;
        Ok(Substitution { vars: [(point, at)].into_iter().collect(), ..Substitution::default() })
    }

    /// A domain over the points of blocks.
    fn divided(
        &self,
        domain: &Domain,
        dims: &[Var],
        point: Var,
        block: Var,
        within: Var,
    ) -> Result<Domain> {
        let at = Affine::var(block).scale(BLOCK)?.add(&Affine::var(within))?;
        let inside = self.inside(block, within)?;
        let mut sets = Vec::new();
        for set in domain.sets() {
            sets.push(set.substitute(point, &at)?.intersect(&inside)?);
        }
        Ok(Domain::of_sets(dims, sets).simplified())
    }

    /// Reads members where they lie now.
    fn places(&self, region: &mut Region, point: Var, block: Var, within: Var) {
        for inst in &mut region.insts {
            if let InstKind::Read(read) = &mut inst.kind
                && let Some(axis) = self.stream.members.get(&read.place.tensor)
                && let Some(at) = read.place.at.get_mut(*axis)
                && matches!(at, Subscript::Index(at) if at.as_var() == Some(point))
            {
                *at = Subscript::Index(within.into());
                read.place.at.insert(0, Subscript::Index(block.into()));
            }
            inst.regions_mut().into_iter().for_each(|r| self.places(r, point, block, within));
        }
    }

    /// The sums of all blocks so far; its last plane is read instead of the sum.
    fn sum(&mut self, name: &Ident, clause: usize, number: usize) -> Option<Binding> {
        let binding = self.module.binding(name)?.clone();
        let of = binding.clauses.get(clause)?;
        let inst = of.body.insts.get(number)?.clone();
        let value = inst.results.first().and_then(|def| def.as_scalar())?;
        let body = with_what_it_needs(&of.body, number)?;
        let taken = Binding {
            name: Ident::new(&format!("{}.blocks", name.as_str())),
            elem: value.elem,
            clauses: vec![Clause { body, ..of.clone() }],
            ..binding.clone()
        };
        let group = Group { bindings: vec![taken], until: None };
        let copy = Fresh::new(self.module, self.names).copy_group(&group).ok()?;
        let made = self.recurrence(copy.bindings.into_iter().next()?, value.elem)?;
        let last = self.last_plane(&made.name, &binding, &inst, value).ok()?;
        let own = self.module.groups.iter_mut().flat_map(|group| &mut group.bindings);
        let own = own.into_iter().find(|b| b.name == *name)?;
        own.clauses.get_mut(clause)?.body.insts.splice(number..=number, last);
        Some(made)
    }

    /// A sum over the axis as a recurrence over blocks.
    fn recurrence(&mut self, mut made: Binding, elem: Elem) -> Option<Binding> {
        let clause = made.clauses.pop()?;
        let mut body = clause.body;
        let InstKind::Reduce(reduction) = &mut body.insts.last_mut()?.kind else { return None };
        let [point] = reduction.domain.dims()[..] else { return None };
        let (block, within) = (self.module.vars.index("block"), self.module.vars.fresh_like(point));
        let terms = Domain::new([within], self.inside(block, within).ok()?);
        reduction.domain = terms.into();
        self.places(&mut body, point, block, within);
        self.point(point, block, within).ok()?.region(&mut body).ok()?;
        let own: Vec<Subscript> =
            made.dims().into_iter().map(|var| Subscript::Index(var.into())).collect();
        made.axes.insert(0, Axis { var: block, dim: self.n_blocks().ok()?.into() });
        let dims = made.dims();
        let exists = Constraint::lt(&Affine::var(block).scale(BLOCK).ok()?, &self.length()).ok()?;
        let part = |first: bool| -> Option<Domain> {
            let when = match first {
                true => Constraint::Eq(Affine::var(block)),
                false => Constraint::Ge(Affine::var(block).add_constant(-1).ok()?),
            };
            let here = Set::new([when, exists.clone()]).ok()?;
            let sets: Result<Vec<Set>> =
                clause.domain.sets().iter().map(|set| set.intersect(&here)).collect();
            Some(Domain::of_sets(dims.clone(), sets.ok()?))
        };
        let (first, later) = (part(true)?, part(false)?);
        let mut further = Fresh::new(self.module, self.names).copy(&body).ok()?;
        let sum = further.results.first()?.clone();
        let before = Quasi::from(block).add_constant(-1).ok()?;
        let at = [Subscript::Index(before)].into_iter().chain(own).collect();
        let (so_far, total) = (self.module.supply.value(elem), self.module.supply.value(elem));
        let place = Place { tensor: made.name.clone(), at };
        let read = Read { place, default: None, proved: true };
        let of = |value, kind| Inst { results: vec![Def::Scalar(value)], kind, loc: clause.loc };
        further.insts.push(of(so_far, InstKind::Read(read)));
        further.insts.push(of(total, InstKind::Op(Op::Add, vec![so_far.into(), sum])));
        further.results = vec![total.into()];
        made.clauses = vec![
            Clause { domain: first.into(), body, guard: None, loc: clause.loc },
            Clause { domain: later.into(), body: further, guard: None, loc: clause.loc },
        ];
        Some(made)
    }

    /// The sum of all blocks, 0 if there is none.
    fn last_plane(
        &mut self,
        name: &Ident,
        of: &Binding,
        inst: &Inst,
        value: Value,
    ) -> Result<Vec<Inst>> {
        let supply = &mut self.module.supply;
        let (end, some, sum) =
            (supply.value(Elem::I64), supply.value(Elem::Bool), supply.value(value.elem));
        let last = self.n_blocks()?.add_constant(-1)?;
        let own = of.dims().into_iter().map(|var| Subscript::Index(var.into()));
        let at = [Subscript::Index(last)].into_iter().chain(own).collect();
        let read = Read { place: Place { tensor: name.clone(), at }, default: None, proved: true };
        let made = |value, kind| Inst { results: vec![Def::Scalar(value)], kind, loc: inst.loc };
        let then = Region {
            insts: vec![made(sum, InstKind::Read(read))],
            ..Region::yielding([Arg::Value(sum)])
        };
        let otherwise = Region::yielding([Arg::Const(Const::float(value.elem, 0.0))]);
        let extent = InstKind::Index(Quasi::from(self.stream.extent));
        let one = Const::int(Elem::I64, 1).into();
        let asks = InstKind::Op(Op::Ge, vec![end.into(), one]);
        let chooses = InstKind::If { condition: some.into(), then, otherwise };
        Ok(vec![made(end, extent), made(some, asks), made(value, chooses)])
    }
}
