//! Memory of tensors that are kept one segment at a time, and the ways of planes in and out of it.
//!
//! Where it is remembered which points of a tensor were stored, planes take their marks with them: a point
//! without a mark is not copied to memory that has marks, and in memory that is written more than once a
//! flag goes with each point.

use einlang_index::{Domain, MinMax, Quasi, Var};
use einlang_tir::module::Binding;
use einlang_tir::region::{Read, Value};
use einlang_tir::types::{Dim, Elem, Ident, TensorType};

use super::{Lower, NotLowered, Result};
use crate::decide::is_fixed;
use crate::ir::{Access, Block, BufferId, Condition, Loop, Own, Range, Role, Stmt, Subscript};
use crate::schedule::{Keep, Segment, TensorSchedule};

/// A tensor that is kept one segment at a time.
#[derive(Clone, Debug)]
pub(super) struct Segmented {
    /// Its segment.
    pub(super) buffer: BufferId,
    /// The axis that is time, and its length.
    pub(super) axis: usize,
    pub(super) extent: Quasi,
    /// How many planes it is ahead of its group.
    pub(super) lead: i64,
    /// How many planes lie before the origin of the segment, and behind its end.
    pub(super) before: i64,
    pub(super) after: i64,
    /// The first plane of the segment.
    pub(super) origin: Var,
    /// A checkpoint per segment, and of how many planes.
    pub(super) states: Option<Kept>,
    pub(super) state: i64,
    /// The planes around the next segment, while others are computed again.
    pub(super) aside: Option<Kept>,
    /// Whether it is remembered which points were stored, and where the planes around a segment with
    /// their marks are while all marks are forgotten.
    pub(super) marked: bool,
    pub(super) moved: Option<Kept>,
    /// The first and the last planes of the tensor.
    pub(super) first: Option<(BufferId, i64)>,
    pub(super) last: Option<(BufferId, i64)>,
    /// Whether planes are made zero before they are computed.
    pub(super) clear: bool,
}

/// Planes that are kept for a while, and which of their points were stored, if that is remembered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kept {
    buffer: BufferId,
    flags: Option<BufferId>,
}

impl Kept {
    /// These planes, after a subscript in front.
    pub(super) fn planes(self, lead: Option<Var>) -> Planes {
        let marks = self.flags.map_or(Marks::None, Marks::Beside);
        Planes { buffer: self.buffer, marks, lead, start: Quasi::from(0) }
    }
}

/// Where is remembered which points of planes were stored.
#[derive(Clone, Copy, Debug)]
pub(super) enum Marks {
    /// Nowhere.
    None,
    /// In the buffer itself.
    Own,
    /// In a buffer of flags.
    Beside(BufferId),
}

/// Some planes of a buffer: the subscripts before those of the tensor, and the first plane.
pub(super) struct Planes {
    pub(super) buffer: BufferId,
    pub(super) marks: Marks,
    pub(super) lead: Option<Var>,
    pub(super) start: Quasi,
}

impl Segmented {
    /// Where a plane of the tensor is in the segment.
    pub(super) fn plane(&self, at: &Quasi) -> Result<Quasi> {
        Ok(at.sub(&Quasi::from(self.origin))?.add_constant(self.before)?)
    }

    /// Whether a plane is among the first ones that are kept apart.
    fn first_has(&self, plane: i64) -> bool {
        self.first.is_some_and(|(_, planes)| plane < planes)
    }

    /// The planes of the segment from one of the tensor's on.
    pub(super) fn planes(&self, at: &Quasi) -> Result<Planes> {
        Ok(self.planes_in(self.buffer, self.plane(at)?))
    }

    /// Planes of the segment, or of those at an end, from one on.
    pub(super) fn planes_in(&self, buffer: BufferId, start: Quasi) -> Planes {
        let marks = if self.marked { Marks::Own } else { Marks::None };
        Planes { buffer, marks, lead: None, start }
    }
}

impl Lower<'_> {
    /// Where a read finds a tensor that is kept one segment at a time, and when it is in the box along
    /// time: in the segment, or in what is kept of the ends of time if it is the same at all points.
    pub(super) fn along_time(
        &self,
        read: &Read,
        buffer: BufferId,
        at: &mut [Subscript],
    ) -> Result<(BufferId, Option<Domain>)> {
        let Some(of) = self.segments.get(&read.place.tensor) else { return Ok((buffer, None)) };
        let other = || NotLowered::new("a read of a segment at a point that is data");
        let Some(Subscript::Index(time)) = at.get(of.axis).cloned() else { return Err(other()) };
        let left = of.extent.sub(&time)?.add_constant(-1)?;
        let within = Domain::where_nonnegative([], &[time.clone(), left])?;
        let fixed = self.stands_for(&time);
        let (buffer, place) = match is_fixed(&fixed) {
            false => (of.buffer, of.plane(&time)?),
            true if fixed.as_constant().is_some_and(|plane| of.first_has(plane)) => {
                (of.first.ok_or_else(other)?.0, time)
            }
            true => {
                let (buffer, planes) = of.last.ok_or_else(other)?;
                (buffer, time.sub(&of.extent)?.add_constant(planes)?)
            }
        };
        at[of.axis] = Subscript::Index(place);
        Ok((buffer, Some(within)))
    }

    /// An expression in the indices of the clause that is being lowered.
    pub(super) fn stands_for(&self, expr: &Quasi) -> Quasi {
        let mut found = expr.clone();
        expr.for_each_var(&mut |var| {
            if let Some(value) = self.inlined.get(&var)
                && let Ok(replaced) = found.substitute(var, value)
            {
                found = replaced;
            }
        });
        found
    }

    /// Memory for a tensor that is kept one segment at a time.
    pub(super) fn segment(
        &mut self,
        binding: &Binding,
        tensor: &TensorSchedule,
        (segment, until): (&Segment, Option<Var>),
        (length, count, origin): (Var, Var, Var),
        replayed: bool,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let Keep::Segment { before, after, state, first, last, clear } = segment.keep else {
            let (id, _) = self.memory(binding, tensor, until)?;
            out.push(Stmt::Alloc(id));
            return Ok(());
        };
        let missing = || NotLowered::new("a segment along an axis that does not exist");
        let extent = binding.axes.get(segment.axis).ok_or_else(missing)?.dim.extent.clone();
        let (buffer, _) = self.memory(binding, tensor, None)?;
        let planes = Quasi::from(length).add_constant(before + after)?;
        let dim = &mut self.kernel.buffers[buffer.0 as usize].dims[segment.axis];
        (dim.extent, dim.layout) = (planes, crate::ir::Layout::Full);
        out.push(Stmt::Alloc(buffer));
        let marked = self.marked.contains(&binding.name);
        let around = before + after;
        let axis = segment.axis;
        let mut kept = |what: &str, planes: i64, lead: Option<Var>| {
            let wanted = planes > 0;
            wanted.then(|| self.kept(binding, (axis, marked), (what, planes, lead), out))
        };
        let states = kept("states", state, Some(count));
        let aside = kept("aside", if replayed { around } else { 0 }, None);
        let moved = kept("moved", if marked { around } else { 0 }, None);
        let mut end = |what: &str, planes: i64| {
            let wanted = planes > 0;
            wanted.then(|| {
                let id = self.planes_of(binding, axis, what, (planes, binding.elem), None, out);
                self.kernel.buffers[id.0 as usize].marks = marked;
                (id, planes)
            })
        };
        let (first, last) = (end("first", first), end("last", last));
        let segmented = Segmented {
            buffer,
            axis,
            extent,
            lead: segment.lead,
            before,
            after,
            origin,
            states,
            state,
            aside,
            marked,
            moved,
            first,
            last,
            clear,
        };
        self.segments.insert(binding.name.clone(), segmented);
        Ok(())
    }

    /// Memory for some planes of a tensor, once or so many times, and for their marks.
    fn kept(
        &mut self,
        binding: &Binding,
        (axis, marked): (usize, bool),
        (what, planes, lead): (&str, i64, Option<Var>),
        out: &mut Vec<Stmt>,
    ) -> Kept {
        let buffer = self.planes_of(binding, axis, what, (planes, binding.elem), lead, out);
        let what = format!("{what}.marks");
        let flags =
            marked.then(|| self.planes_of(binding, axis, &what, (planes, Elem::Bool), lead, out));
        Kept { buffer, flags }
    }

    /// A buffer for something about some planes of a tensor, once or so many times.
    fn planes_of(
        &mut self,
        binding: &Binding,
        axis: usize,
        what: &str,
        (planes, elem): (i64, Elem),
        lead: Option<Var>,
        out: &mut Vec<Stmt>,
    ) -> BufferId {
        let mut ty = TensorType { elem, ..binding.ty() };
        ty.dims[axis] = Dim::from(Quasi::from(planes));
        let name = Ident::new(&format!("{}.{what}", binding.name.as_str()));
        self.extra_buffer(&name, ty, lead, out)
    }

    /// A buffer that is no tensor of the module, with one dimension more in front if wanted.
    pub(super) fn extra_buffer(
        &mut self,
        name: &Ident,
        mut ty: TensorType,
        lead: Option<Var>,
        out: &mut Vec<Stmt>,
    ) -> BufferId {
        if let Some(count) = lead {
            ty.dims.insert(0, Dim::from(Quasi::from(count)));
        }
        let hidden = self.tensors.get(name).copied();
        let id = self.buffer(name, &ty);
        match hidden {
            Some(hidden) => self.tensors.insert(name.clone(), hidden),
            None => self.tensors.remove(name),
        };
        out.push(Stmt::Alloc(id));
        id
    }

    /// Copies planes from one place to another, with what is remembered of their points.
    pub(super) fn copy_planes(
        &mut self,
        of: &Segmented,
        (from, to): (&Planes, &Planes),
        (lo, hi): (MinMax, MinMax),
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let elem = self.kernel.buffers[of.buffer.0 as usize].elem;
        let value = self.fresh(elem);
        let (ranges, dims) = self.plane_ranges(of, lo, hi);
        let at = |planes: &Planes| -> Result<Vec<Quasi>> {
            let mut at: Vec<Quasi> = dims.iter().copied().map(Quasi::from).collect();
            at[of.axis] = at[of.axis].add(&planes.start)?;
            at.splice(0..0, planes.lead.map(Quasi::from));
            Ok(at)
        };
        let (source, place) = (at(from)?, at(to)?);
        let source: Vec<Subscript> = source.into_iter().map(Subscript::Index).collect();
        let load = |result: Value, buffer: BufferId| {
            let (at, access) = (source.clone(), Access::Proved);
            Stmt::Load { result, buffer, at, access }
        };
        let store = |buffer: BufferId, value: Value| {
            let (at, value) = (place.clone(), value.into());
            Stmt::Store { buffer, at, value }
        };
        let mut stmts = Vec::new();
        let found = self.fresh(Elem::Bool);
        match from.marks {
            Marks::None => {}
            Marks::Own => {
                let (result, buffer, at) = (found, from.buffer, source.clone());
                stmts.push(Stmt::Probe { result, buffer, at, marked: true });
            }
            Marks::Beside(flags) => stmts.push(load(found, flags)),
        }
        stmts.push(load(value, from.buffer));
        match to.marks {
            Marks::None => stmts.push(store(to.buffer, value)),
            Marks::Own => {
                let stored = vec![store(to.buffer, value)];
                stmts.push(Stmt::when(Condition::Value(found.into()), stored));
            }
            Marks::Beside(flags) => {
                stmts.extend([store(flags, found), store(to.buffer, value)]);
            }
        }
        out.extend(in_loops(ranges, stmts));
        Ok(())
    }

    /// Makes planes of a segment zero.
    pub(super) fn clear_planes(
        &mut self,
        of: &Segmented,
        (lo, hi): (MinMax, MinMax),
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let elem = self.kernel.buffers[of.buffer.0 as usize].elem;
        let (ranges, dims) = self.plane_ranges(of, lo, hi);
        let mut at: Vec<Quasi> = dims.into_iter().map(Quasi::from).collect();
        at[of.axis] = of.plane(&at[of.axis])?;
        let value = einlang_tir::constant::Const::zero(elem).into();
        out.extend(in_loops(ranges, vec![Stmt::Store { buffer: of.buffer, at, value }]));
        Ok(())
    }

    /// A loop over some planes, and loops over the other dimensions inside; the indices as the
    /// dimensions have them.
    fn plane_ranges(&mut self, of: &Segmented, lo: MinMax, hi: MinMax) -> (Vec<Range>, Vec<Var>) {
        let extents: Vec<Quasi> = self.kernel.buffers[of.buffer.0 as usize]
            .dims
            .iter()
            .map(|dim| dim.extent.clone())
            .collect();
        let mut dims = Vec::with_capacity(extents.len());
        let mut ranges = Vec::with_capacity(extents.len());
        for (number, extent) in extents.into_iter().enumerate() {
            let var = self.kernel.vars.index("p");
            dims.push(var);
            let range = match number == of.axis {
                true => Range { var, lo: lo.clone(), hi: hi.clone(), down: false },
                false => Range { var, lo: MinMax::from(0), hi: extent.into(), down: false },
            };
            match number == of.axis {
                true => ranges.insert(0, range),
                false => ranges.push(range),
            }
        }
        (ranges, dims)
    }
}

/// Loops around statements, outermost first.
fn in_loops(ranges: Vec<Range>, stmts: Vec<Stmt>) -> Vec<Stmt> {
    ranges.into_iter().rev().fold(stmts, |stmts, range| {
        let body = Block { stmts, results: Vec::new() };
        vec![Stmt::Loop(Box::new(Loop {
            range,
            role: Role::Seq,
            own: Own::All,
            until: None,
            body,
        }))]
    })
}
