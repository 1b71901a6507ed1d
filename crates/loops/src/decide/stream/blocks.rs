//! A stream over blocks: the axis of every member becomes three, and every sum a recurrence.
//!
//! Block number `n` is round `floor(n / PARTS)` of part `n mod PARTS`.

use std::collections::BTreeSet;

use einlang_index::{Affine, Constraint, Domain, Quasi, Result, Set, Var};
use einlang_tir::constant::Const;
use einlang_tir::fresh::Fresh;
use einlang_tir::module::{Axis, Binding, Clause, Group, Module};
use einlang_tir::op::Op;
use einlang_tir::region::{
    Arg, Def, Inst, InstKind, Place, Read, Reduction, Region, Subscript, Value,
};
use einlang_tir::substitute::Substitution;
use einlang_tir::types::{Elem, Ident};

use super::super::replay::with_what_it_needs;
use super::members::Stream;
use super::{BLOCK, PARTS};

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

/// The indices that take the place of one along the axis.
#[derive(Clone, Copy)]
struct At {
    part: Var,
    block: Var,
    within: Var,
}

impl At {
    /// The first point of the block.
    fn first(self) -> Result<Affine> {
        let part = Affine::var(self.part).scale(BLOCK)?;
        Affine::var(self.block).scale(BLOCK * PARTS)?.add(&part)
    }

    fn point(self) -> Result<Affine> {
        self.first()?.add(&Affine::var(self.within))
    }
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

    /// How many blocks a part has.
    fn n_blocks(&self) -> Result<Quasi> {
        let all = BLOCK * PARTS;
        Quasi::from(self.stream.extent).add_constant(all - 1)?.floor_div(all)
    }

    /// Indices in the place of one.
    fn at(&mut self, point: Var) -> At {
        let vars = &mut self.module.vars;
        let (part, block) = (vars.index("part"), vars.index("block"));
        At { part, block, within: vars.fresh_like(point) }
    }

    /// The axes of parts and blocks.
    fn axes(&self, at: At) -> Result<[Axis; 2]> {
        let part = Axis { var: at.part, dim: Quasi::from(PARTS).into() };
        Ok([part, Axis { var: at.block, dim: self.n_blocks()?.into() }])
    }

    /// The blocks of all parts; those behind the last point have none.
    fn blocks(&self, at: At) -> Result<Vec<Constraint>> {
        let first = Affine::var(at.block).scale(BLOCK * PARTS)?;
        Ok(vec![
            Constraint::Ge(Affine::var(at.part)),
            Constraint::lt(&Affine::var(at.part), &Affine::constant(PARTS))?,
            Constraint::Ge(Affine::var(at.block)),
            Constraint::lt(&first, &self.length())?,
        ])
    }

    /// The points of a block that exist.
    fn inside(&self, at: At) -> Result<Set> {
        let mut all = self.blocks(at)?;
        all.push(Constraint::Ge(Affine::var(at.within)));
        all.push(Constraint::lt(&Affine::var(at.within), &Affine::constant(BLOCK))?);
        all.push(Constraint::lt(&at.point()?, &self.length())?);
        Set::new(all)
    }

    /// A tensor of the stream.
    fn member(&mut self, binding: &Binding) -> Result<Binding> {
        let axis = self.stream.members.get(&binding.name).copied().unwrap_or(0);
        let point = binding.axes[axis].var;
        let at = self.at(point);
        let mut made = binding.clone();
        made.axes[axis] = Axis { var: at.within, dim: Quasi::from(BLOCK).into() };
        made.axes.splice(0..0, self.axes(at)?);
        let dims = made.dims();
        for clause in &mut made.clauses {
            self.places(&mut clause.body, point, at);
            stands(point, at)?.region(&mut clause.body)?;
            clause.domain = self.divided(&clause.domain, &dims, point, at)?.into();
        }
        Ok(made)
    }

    /// A domain over the points of blocks.
    fn divided(&self, domain: &Domain, dims: &[Var], point: Var, at: At) -> Result<Domain> {
        let inside = self.inside(at)?;
        let mut sets = Vec::new();
        for set in domain.sets() {
            sets.push(set.substitute(point, &at.point()?)?.intersect(&inside)?);
        }
        Ok(Domain::of_sets(dims, sets).simplified())
    }

    /// Reads members where they lie now.
    fn places(&self, region: &mut Region, point: Var, to: At) {
        for inst in &mut region.insts {
            if let InstKind::Read(read) = &mut inst.kind
                && let Some(axis) = self.stream.members.get(&read.place.tensor)
                && let Some(at) = read.place.at.get_mut(*axis)
                && matches!(at, Subscript::Index(at) if at.as_var() == Some(point))
            {
                *at = Subscript::Index(to.within.into());
                let first = [to.part, to.block].map(|var| Subscript::Index(var.into()));
                read.place.at.splice(0..0, first);
            }
            inst.regions_mut().into_iter().for_each(|region| self.places(region, point, to));
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
        let at = self.at(point);
        let terms = Domain::new([at.within], self.inside(at).ok()?);
        reduction.domain = terms.into();
        self.places(&mut body, point, at);
        stands(point, at).ok()?.region(&mut body).ok()?;
        let own: Vec<Subscript> =
            made.dims().into_iter().map(|var| Subscript::Index(var.into())).collect();
        made.axes.splice(0..0, self.axes(at).ok()?);
        let dims = made.dims();
        let here = Set::new(self.blocks(at).ok()?).ok()?;
        let sets: Result<Vec<Set>> =
            clause.domain.sets().iter().map(|set| set.intersect(&here)).collect();
        let domain = Domain::of_sets(dims, sets.ok()?);
        let sum = body.results.first()?.clone();
        let before = Quasi::from(at.block).add_constant(-1).ok()?;
        let place = [Quasi::from(at.part), before.clone()].map(Subscript::Index);
        let place = Place { tensor: made.name.clone(), at: place.into_iter().chain(own).collect() };
        let supply = &mut self.module.supply;
        let (number, some) = (supply.value(Elem::I64), supply.value(Elem::Bool));
        let (read, so_far, total) = (supply.value(elem), supply.value(elem), supply.value(elem));
        let of = |value, kind| Inst { results: vec![Def::Scalar(value)], kind, loc: clause.loc };
        let reads = InstKind::Read(Read { place, default: None, proved: true });
        let then = Region { insts: vec![of(read, reads)], ..Region::yielding([Arg::Value(read)]) };
        // What this is added to stays as it is.
        let otherwise = Region::yielding([Arg::Const(Const::float(elem, -0.0))]);
        let none = Const::int(Elem::I64, 0).into();
        body.insts.extend([
            of(number, InstKind::Index(before)),
            of(some, InstKind::Op(Op::Ge, vec![number.into(), none])),
            of(so_far, InstKind::If { condition: some.into(), then, otherwise }),
            of(total, InstKind::Op(Op::Add, vec![so_far.into(), sum])),
        ]);
        body.results = vec![total.into()];
        made.clauses = vec![Clause { domain: domain.into(), body, guard: None, loc: clause.loc }];
        Some(made)
    }

    /// The sum of the last blocks of all parts, 0 if there is none.
    fn last_plane(
        &mut self,
        name: &Ident,
        of: &Binding,
        inst: &Inst,
        value: Value,
    ) -> Result<Vec<Inst>> {
        let InstKind::Reduce(sum) = &inst.kind else { return Ok(Vec::new()) };
        let part = self.module.vars.index("part");
        let supply = &mut self.module.supply;
        let (end, some) = (supply.value(Elem::I64), supply.value(Elem::Bool));
        let (term, total) = (supply.value(value.elem), supply.value(value.elem));
        let last = self.n_blocks()?.add_constant(-1)?;
        let first = [Quasi::from(part), last].map(Subscript::Index);
        let own = of.dims().into_iter().map(|var| Subscript::Index(var.into()));
        let at = first.into_iter().chain(own).collect();
        let read = Read { place: Place { tensor: name.clone(), at }, default: None, proved: true };
        let made = |value, kind| Inst { results: vec![Def::Scalar(value)], kind, loc: inst.loc };
        let yields = |value, kind| Region {
            insts: vec![made(value, kind)],
            ..Region::yielding([Arg::Value(value)])
        };
        let parts = Set::new([
            Constraint::Ge(Affine::var(part)),
            Constraint::lt(&Affine::var(part), &Affine::constant(PARTS))?,
        ])?;
        let sum = Reduction {
            domain: Domain::new([part], parts).into(),
            body: yields(term, InstKind::Read(read)),
            ..(**sum).clone()
        };
        let then = yields(total, InstKind::Reduce(Box::new(sum)));
        let otherwise = Region::yielding([Arg::Const(Const::float(value.elem, 0.0))]);
        let extent = InstKind::Index(Quasi::from(self.stream.extent));
        let one = Const::int(Elem::I64, 1).into();
        let asks = InstKind::Op(Op::Ge, vec![end.into(), one]);
        let chooses = InstKind::If { condition: some.into(), then, otherwise };
        Ok(vec![made(end, extent), made(some, asks), made(value, chooses)])
    }
}

/// What an index along the axis is.
fn stands(point: Var, at: At) -> Result<Substitution> {
    let at = Quasi::from(at.point()?);
    Ok(Substitution { vars: [(point, at)].into_iter().collect(), ..Substitution::default() })
}
