//! The module in which a recurrence takes many steps at once.
//!
//! Step `t` is `BLOCK * K + k + 1`. The tensor keeps its name; its first axis counts blocks now. A pivot
//! has the axes `K`, `k` and those on which it does not move. The corner of one has the axes `K`, `k` and the number of
//! the place among those of the block.

use std::collections::BTreeSet;

use einlang_index::{Domain, GaveUp, Quasi, Var};
use einlang_tir::constant::Const;
use einlang_tir::fresh::Fresh;
use einlang_tir::module::{Axis, Binding, Clause, Group, Module};
use einlang_tir::region::{
    Arg, Combiner, Def, Inst, InstKind, Place, Read, ReduceFlags, Reduction, Region, Start,
    Subscript,
};
use einlang_tir::substitute::Substitution;
use einlang_tir::types::{Dim, Ident};

use super::BLOCK;
use super::corners::Corners;
use super::find::{Delayed, Pivot, name_of};

type Result<T> = std::result::Result<T, GaveUp>;

/// The module with the updates of one group delayed.
pub(super) fn rewrite(module: &Module, at: usize, delayed: &Delayed) -> Result<Module> {
    let binding = module.groups[at].bindings[0].clone();
    let mut changed = module.clone();
    let names = changed.tensor_names();
    let corners = Corners::of(delayed);
    let mut rewriting =
        Rewriting { module: &mut changed, names, binding: &binding, delayed, corners };
    let mut bindings = vec![rewriting.blocks()?];
    if let Some(corners) = &corners {
        for pivot in &delayed.pivots {
            bindings.push(rewriting.corner(pivot, corners)?);
        }
    }
    for pivot in &delayed.pivots {
        bindings.push(rewriting.pivot(pivot)?);
    }
    changed.groups[at].bindings = bindings;
    let n_blocks = n_blocks(&delayed.n_steps)?;
    for (number, group) in changed.groups.iter_mut().enumerate() {
        if number != at {
            read_the_last(group, &binding.name, &n_blocks);
        }
    }
    Ok(changed)
}

/// How many blocks so many steps are.
fn n_blocks(n_steps: &Quasi) -> Result<Quasi> {
    n_steps.add_constant(BLOCK - 1)?.floor_div(BLOCK)
}

/// Reads the last block in the place of the last step.
fn read_the_last(group: &mut Group, name: &Ident, n_blocks: &Quasi) {
    for region in group.regions_mut() {
        region.for_each_region_mut(&mut |region| {
            for inst in &mut region.insts {
                if let InstKind::Read(read) = &mut inst.kind
                    && read.place.tensor == *name
                    && let Some(first) = read.place.at.first_mut()
                {
                    *first = Subscript::Index(n_blocks.clone());
                }
            }
        });
    }
}

struct Rewriting<'a> {
    module: &'a mut Module,
    names: BTreeSet<Ident>,
    binding: &'a Binding,
    delayed: &'a Delayed,
    corners: Option<Corners>,
}

/// A point of the plane, and the steps that are taken there.
struct Steps {
    /// The number of the block.
    block: Quasi,
    /// What the axes but time are.
    at: Vec<Quasi>,
    /// The steps of the block that are taken, and the index among them.
    domain: Domain,
    step: Var,
    /// What is in the corner there, if the point is one of a pivot that has one.
    crossed: Option<Crossed>,
}

/// Where a point of a pivot or of its corner is.
struct Meets {
    at: Vec<Quasi>,
    crossed: Option<Crossed>,
}

/// What a pivot, or its corner, meets in the corners of a block.
#[derive(Clone, Copy)]
struct Crossed {
    /// The axis that the pivot has to itself.
    free: usize,
    /// The step, at which pivots along the other axis are crossed.
    step: Var,
    /// The number of the place, if it is the corner itself.
    place: Option<Var>,
}

impl Crossed {
    /// The number of the place in the corner of a pivot that is read here, if it is read there.
    fn meets(&self, read: &Pivot) -> Option<Var> {
        match read.free() == Some(self.free) {
            true => self.place,
            false => Some(self.step),
        }
    }
}

impl Rewriting<'_> {
    /// The tensor after each block.
    fn blocks(&mut self) -> Result<Binding> {
        let (block, others) = (self.index("block"), self.others());
        let q = self.index("q");
        let steps = &self.delayed.n_steps;
        let mut axes = vec![Axis { var: block, dim: n_blocks(steps)?.add_constant(1)?.into() }];
        axes.extend(others.iter().cloned());
        let dims: Vec<Var> = axes.iter().map(|axis| axis.var).collect();
        let mut first = in_box(&others)?;
        let mut bounds = first.clone();
        first.extend([block.into(), Quasi::from(block).neg()?]);
        bounds.push(Quasi::from(block).add_constant(-1)?);
        bounds.push(steps.combine(1, &block.into(), -BLOCK)?.add_constant(BLOCK - 1)?);
        let at: Vec<Quasi> = others.iter().map(|axis| axis.var.into()).collect();
        let before = Quasi::from(block).add_constant(-1)?;
        let mut among = vec![Quasi::from(q), Quasi::from(q).neg()?.add_constant(BLOCK - 1)?];
        among.push(steps.sub(&step_of(&before, q)?)?);
        let domain = Domain::where_nonnegative([q], &among)?;
        let taken = Steps { block: before, at, domain, step: q, crossed: None };
        let base = self.base(block, &others)?;
        let base = self.clause(Domain::where_nonnegative(dims.clone(), &first)?, base);
        let step = self.body(&taken)?;
        let step = self.clause(Domain::where_nonnegative(dims, &bounds)?, step);
        Ok(Binding { axes, clauses: vec![base, step], ..self.binding.clone() })
    }

    /// The body of the first plane, in terms of other indices.
    fn base(&mut self, block: Var, others: &[Axis]) -> Result<Region> {
        let mut copy = Fresh::new(self.module, &mut self.names).copy(&self.delayed.base.body)?;
        let mut replaced = Substitution::default();
        let is = [block].into_iter().chain(others.iter().map(|axis| axis.var));
        for (axis, is) in self.binding.axes.iter().zip(is) {
            replaced.vars.insert(axis.var, is.into());
        }
        replaced.region(&mut copy)?;
        Ok(copy)
    }

    /// The values of a pivot, each before its step.
    fn pivot(&mut self, pivot: &Pivot) -> Result<Binding> {
        let (block, k, q) = (self.index("block"), self.index("k"), self.index("q"));
        let n_blocks = n_blocks(&self.delayed.n_steps)?;
        let mut axes = vec![Axis { var: block, dim: n_blocks.into() }];
        axes.push(Axis { var: k, dim: Quasi::from(BLOCK).into() });
        let step = step_of(&block.into(), k)?;
        let mut at = Vec::with_capacity(pivot.at.len());
        let mut free = Vec::new();
        for (axis, moves) in self.others().into_iter().zip(&pivot.at) {
            at.push(match moves {
                Some(more) => step.add_constant(*more)?,
                None => axis.var.into(),
            });
            if moves.is_none() {
                free.push(axis);
            }
        }
        let bounds = in_box(&free)?;
        axes.extend(free);
        let free = pivot.free().filter(|_| self.corners.is_some());
        let crossed = free.map(|free| Crossed { free, step: k, place: None });
        let steps = (block, k, q);
        self.until_step(pivot, axes, bounds, steps, Meets { at, crossed })
    }

    /// The values of a pivot in the corner of the block, each before its step.
    fn corner(&mut self, pivot: &Pivot, Corners(more): &Corners) -> Result<Binding> {
        let (block, k, q) = (self.index("block"), self.index("k"), self.index("q"));
        let place = self.index("place");
        let n_blocks = n_blocks(&self.delayed.n_steps)?;
        let axes = [(block, n_blocks), (k, BLOCK.into()), (place, BLOCK.into())];
        let axes = axes.into_iter().map(|(var, extent)| Axis { var, dim: extent.into() }).collect();
        let mut at = Vec::with_capacity(pivot.at.len());
        let mut bounds = vec![place.into(), Quasi::from(place).neg()?.add_constant(BLOCK - 1)?];
        let mut free = 0;
        let along = self.others().into_iter().zip(&pivot.at).zip(more);
        for (number, ((axis, moves), more)) in along.enumerate() {
            at.push(match moves {
                Some(more) => step_of(&block.into(), k)?.add_constant(*more)?,
                None => {
                    free = number;
                    let is = step_of(&block.into(), place)?.add_constant(*more)?;
                    bounds.extend([is.clone(), axis.dim.extent.sub(&is)?.add_constant(-1)?]);
                    is
                }
            });
        }
        let crossed = Some(Crossed { free, step: k, place: Some(place) });
        self.until_step(pivot, axes, bounds, (block, k, q), Meets { at, crossed })
    }

    /// The values of a pivot or of its corner: what a point is before each step of a block.
    fn until_step(
        &mut self,
        pivot: &Pivot,
        axes: Vec<Axis>,
        mut bounds: Vec<Quasi>,
        (block, k, q): (Var, Var, Var),
        Meets { at, crossed }: Meets,
    ) -> Result<Binding> {
        let step = step_of(&block.into(), k)?;
        bounds.extend([block.into(), k.into(), Quasi::from(k).neg()?.add_constant(BLOCK - 1)?]);
        bounds.push(self.delayed.n_steps.sub(&step)?);
        let dims: Vec<Var> = axes.iter().map(|axis| axis.var).collect();
        let before = Quasi::from(k).sub(&q.into())?.add_constant(-1)?;
        let domain = Domain::where_nonnegative([q], &[q.into(), before])?;
        let body = self.body(&Steps { block: block.into(), at, domain, step: q, crossed })?;
        let clause = self.clause(Domain::where_nonnegative(dims, &bounds)?, body);
        let is_corner = crossed.is_some_and(|crossed| crossed.place.is_some());
        let missing = || self.binding.name.clone();
        let name = name_of(&self.binding.name, self.delayed, pivot, is_corner);
        let name = name.unwrap_or_else(missing);
        self.names.insert(name.clone());
        Ok(Binding { name, axes, clauses: vec![clause], ..self.binding.clone() })
    }

    /// What a point is after some steps of a block: one reduction over what they bring.
    fn body(&mut self, steps: &Steps) -> Result<Region> {
        let delayed = self.delayed;
        let elem = self.binding.elem;
        let loc = delayed.step.body.insts[delayed.last].loc;
        let subscripts = |first: &Quasi| -> Vec<Subscript> {
            [first].into_iter().chain(&steps.at).cloned().map(Subscript::Index).collect()
        };
        let place = Place { tensor: self.binding.name.clone(), at: subscripts(&steps.block) };
        let read = InstKind::Read(Read { place, default: None, proved: true });
        let term = self.term(steps)?;
        let supply = &mut self.module.supply;
        let (before, brought, after) = (supply.value(elem), supply.value(elem), supply.value(elem));
        let identity = delayed.op.identity(elem).unwrap_or(Const::float(elem, 0.0));
        let reduction = Reduction {
            domain: steps.domain.clone().into(),
            guard: None,
            body: term,
            combine: Combiner::Op(delayed.op),
            start: Start::Identity(vec![identity.into()]),
            flags: ReduceFlags { commutative: false, idempotent: true, reassociable: true },
        };
        let inst = |value, kind| Inst { results: vec![Def::Scalar(value)], kind, loc };
        let args = vec![Arg::Value(before), Arg::Value(brought)];
        let insts = vec![
            inst(before, read),
            inst(brought, InstKind::Reduce(Box::new(reduction))),
            inst(after, InstKind::Op(delayed.op, args)),
        ];
        Ok(Region { params: Vec::new(), insts, results: vec![after.into()] })
    }

    /// What one step brings to a point.
    fn term(&mut self, steps: &Steps) -> Result<Region> {
        let delayed = self.delayed;
        let mut term = delayed.step.body.clone();
        term.insts.remove(delayed.last);
        term.insts.remove(delayed.own);
        term.results = vec![delayed.term.clone()];
        let axes = self.binding.dims();
        for inst in &mut term.insts {
            if let InstKind::Read(read) = &mut inst.kind
                && read.place.tensor == self.binding.name
                && let Some(pivot) = Pivot::of(read, &axes)
            {
                let place = steps.crossed.and_then(|crossed| crossed.meets(&pivot));
                let name = name_of(&self.binding.name, delayed, &pivot, place.is_some());
                let Some(name) = name else { continue };
                let free = axes[1..].iter().zip(&pivot.at).filter(|(_, moves)| moves.is_none());
                let mut at = vec![steps.block.clone(), Quasi::from(steps.step)];
                match place {
                    Some(place) => at.push(place.into()),
                    None => at.extend(free.map(|(var, _)| Quasi::from(*var))),
                }
                let at = at.into_iter().map(Subscript::Index).collect();
                read.place = Place { tensor: name, at };
            }
        }
        let mut term = Fresh::new(self.module, &mut self.names).copy(&term)?;
        let mut replaced = Substitution::default();
        replaced.vars.insert(axes[0], step_of(&steps.block, steps.step)?);
        for (axis, is) in axes[1..].iter().zip(&steps.at) {
            replaced.vars.insert(*axis, is.clone());
        }
        replaced.region(&mut term)?;
        Ok(term)
    }

    fn clause(&self, domain: Domain, body: Region) -> Clause {
        Clause { domain: domain.into(), guard: None, body, loc: self.delayed.step.loc }
    }

    fn index(&mut self, name: &str) -> Var {
        self.module.vars.index(name)
    }

    /// New axes like those of the tensor, without time.
    fn others(&mut self) -> Vec<Axis> {
        let axes = self.binding.axes[1..].iter();
        let vars = &mut self.module.vars;
        axes.map(|axis| Axis { var: vars.fresh_like(axis.var), dim: axis.dim.clone() }).collect()
    }
}

/// The step with a number in a block.
fn step_of(block: &Quasi, number: Var) -> Result<Quasi> {
    block.scale(BLOCK)?.add(&number.into())?.add_constant(1)
}

/// What is not negative for the indices of axes.
fn in_box(axes: &[Axis]) -> Result<Vec<Quasi>> {
    let mut bounds = Vec::with_capacity(2 * axes.len());
    for Axis { var, dim: Dim { extent, .. } } in axes {
        bounds.push(Quasi::from(*var));
        bounds.push(extent.sub(&(*var).into())?.add_constant(-1)?);
    }
    Ok(bounds)
}
