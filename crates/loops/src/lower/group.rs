//! Groups: memory for their tensors, then their nests.

use einlang_index::{Domain, MinMax, Quasi, Set, Var};
use einlang_tir::module::{Binding, Group, Until, box_of};
use einlang_tir::order::Statement;
use einlang_tir::region::{InstKind, Subscript};
use rustc_hash::FxHashMap as HashMap;

use super::{Lower, NotLowered, Result};
use crate::decide::{planes_stored, window};
use crate::ir::{Block, BufferId, Layout, Stmt, UntilLoop};
use crate::schedule::{Compute, GroupSchedule, TensorSchedule};

impl Lower<'_> {
    /// A group of the module; what is not needed any more afterwards is freed.
    pub(super) fn top_group(&mut self, group: &Group, out: &mut Vec<Stmt>) -> Result<()> {
        self.group(group, out)?;
        self.values_of_group(group, out)
    }

    /// The schedule of a group.
    pub(super) fn schedule_of(&self, group: &Group) -> Result<GroupSchedule> {
        let first = group.bindings.first().map(|binding| &binding.name);
        let found = first.and_then(|first| self.schedules.get(first).copied());
        let name = || first.map_or("", |name| name.as_str());
        let missing = || NotLowered::new(format!("no schedule for `{}`", name()));
        let found = found.ok_or_else(missing)?;
        let same = found.tensors.len() == group.bindings.len()
            && found.tensors.iter().zip(&group.bindings).all(|(tensor, binding)| {
                tensor.name == binding.name && tensor.storage.len() == binding.axes.len()
            });
        match same {
            true => Ok(found.clone()),
            false => {
                Err(NotLowered::new(format!("the schedule of `{}` is of another group", name())))
            }
        }
    }

    /// A group of the module or of a region.
    pub(super) fn group(&mut self, group: &Group, out: &mut Vec<Stmt>) -> Result<()> {
        let schedule = self.schedule_of(group)?;
        if schedule.tensors.iter().all(|tensor| tensor.compute == Compute::AtReads) {
            return Ok(());
        }
        if let Some(until) = &group.until {
            length_is_not_needed_inside(group, until)?;
        }
        let panels = self.panels.clone();
        let (in_blocks, before): (Vec<_>, _) =
            schedule.packs.iter().cloned().partition(|pack| pack.in_blocks);
        for pack in &before {
            self.pack(pack, out)?;
        }
        let others = std::mem::replace(&mut self.in_blocks, in_blocks);
        let mut open = Vec::new();
        let outer = self.own_memory.clone();
        for (number, (binding, tensor)) in group.bindings.iter().zip(&schedule.tensors).enumerate()
        {
            let until = group.until.as_ref().map(|until| until.extent);
            let (id, grows) = self.memory(binding, tensor, until)?;
            if grows {
                open.push(id);
            }
            if !self.is_of_round(&schedule, number, id) {
                out.push(Stmt::Alloc(id));
            }
        }
        let names = group.bindings.iter().map(|binding| binding.name.clone()).collect();
        self.around.push(super::Around { names, n_loops: self.loops.len() });
        let until = match &group.until {
            Some(until) => Some(self.until(until, open)?),
            None => None,
        };
        let domains = self.domains(group)?;
        let planes = self.planes_stored(group, &schedule);
        let outside = std::mem::replace(&mut self.once, planes);
        self.nest(group, &schedule.nest, domains, until, out)?;
        self.once = outside;
        self.in_blocks = others;
        self.around.pop();
        self.own_memory = outer;
        self.panels = panels;
        Ok(())
    }

    /// A buffer for a binding, and whether it grows.
    pub(super) fn memory(
        &mut self,
        binding: &Binding,
        tensor: &TensorSchedule,
        until: Option<Var>,
    ) -> Result<(BufferId, bool)> {
        let id = self.buffer(&binding.name, &binding.ty());
        let marks = self.marked.contains(&binding.name);
        let buffer = &mut self.kernel.buffers[id.0 as usize];
        (buffer.marks, buffer.stack, buffer.loc) = (marks, tensor.stack, binding.loc);
        if !tensor.map.is_empty() {
            self.mapped(id, &tensor.map)?;
        }
        let buffer = &mut self.kernel.buffers[id.0 as usize];
        let mut grows = false;
        for ((dim, layout), axis) in buffer.dims.iter_mut().zip(&tensor.storage).zip(&binding.axes)
        {
            let is_open = until.is_some() && axis.dim.extent.as_var() == until;
            dim.layout = match (layout, is_open) {
                (Layout::Mod(width), _) => Layout::Mod(*width),
                (_, true) => Layout::Open,
                (_, false) => Layout::Full,
            };
            grows |= is_open;
        }
        let all = |is: fn(Layout) -> bool| buffer.dims.iter().all(|dim| is(dim.layout));
        // Planes of a window that there are no points for are never stored, and must not be seen outside.
        let is_seen = self.module.outputs.contains(&binding.name);
        let is_kept =
            if is_seen { all(|of| of == Layout::Full) } else { all(|of| of != Layout::Open) };
        buffer.unset = is_kept && tensor.map.is_empty() && !self.gaps.contains(&binding.name);
        Ok((id, grows))
    }

    /// Gives a buffer the dimensions of a map.
    fn mapped(&mut self, id: BufferId, map: &[Vec<i64>]) -> Result<()> {
        let buffer = &mut self.kernel.buffers[id.0 as usize];
        let mut dims = Vec::with_capacity(map.len());
        for form in map {
            let mut extent = Quasi::from(1);
            for (dim, c) in buffer.dims.iter().zip(form) {
                extent = extent.combine(1, &dim.extent.add_constant(-1)?, *c)?;
            }
            dims.push(crate::ir::BufferDim { extent, layout: Layout::Full });
        }
        buffer.dims = dims;
        self.maps.insert(id, map.to_vec());
        Ok(())
    }

    /// The points of every clause, inside the box.
    pub(super) fn domains(&self, group: &Group) -> Result<super::nest::Domains> {
        let mut domains = super::nest::Domains::new();
        for (at, binding) in group.bindings.iter().enumerate() {
            let whole = box_of(&binding.axes)?;
            for (clause, c) in binding.clauses.iter().enumerate() {
                let domain = c.domain.0.intersect(&whole)?;
                let statement = Statement { binding: at, clause };
                domains.insert(statement, domain.simplified_given(self.facts.set()));
            }
        }
        Ok(domains)
    }

    /// The planes in which clauses store that pass on what a window has.
    fn planes_stored(&self, group: &Group, schedule: &GroupSchedule) -> HashMap<Statement, Set> {
        let mut stored = HashMap::default();
        for (at, (binding, tensor)) in group.bindings.iter().zip(&schedule.tensors).enumerate() {
            let Some((axis, width)) = window(tensor) else { continue };
            // Points that are marked as computed are so in every plane.
            if self.marked.contains(&binding.name) {
                continue;
            }
            for clause in &tensor.once {
                let planes = binding
                    .clauses
                    .get(*clause)
                    .and_then(|of| planes_stored(binding, of, axis, width));
                let statement = Statement { binding: at, clause: *clause };
                stored.extend(planes.map(|planes| (statement, planes)));
            }
        }
        stored
    }

    /// What ends an open axis. The index of the condition is bound by the loop.
    pub(super) fn until(
        &mut self,
        until: &Until,
        buffers: Vec<BufferId>,
    ) -> Result<super::nest::Open> {
        let converged = self.fresh(einlang_tir::types::Elem::Bool);
        let last = until.first.add(&until.max)?;
        let first = MinMax::Value(until.first.clone());
        let end = MinMax::max_of([first.clone(), MinMax::Value(last)])?;
        Ok(super::nest::Open {
            until: UntilLoop {
                extent: until.extent,
                first,
                condition: Block::default(),
                converged,
                buffers,
            },
            end,
            index: until.index,
            condition: until.condition.clone(),
        })
    }
}

/// While an open axis is being computed its length is not known: nothing in its group may ask.
fn length_is_not_needed_inside(group: &Group, until: &Until) -> Result<()> {
    let mut asked = false;
    let mentions = |expr: &Quasi| expr.mentions(until.extent);
    for region in group.regions() {
        region.for_each_inst(&mut |inst| {
            asked |= match &inst.kind {
                InstKind::Index(expr) => mentions(expr),
                InstKind::Read(read) => read.place.at.iter().any(|subscript| match subscript {
                    Subscript::Index(expr) => mentions(expr),
                    Subscript::Value(_) => false,
                }),
                InstKind::Reduce(reduction) => in_domain(&reduction.domain, until),
                InstKind::Group(group) => group.bindings.iter().any(|b| in_binding(b, until)),
                InstKind::Converged(var) => *var == until.extent,
                _ => false,
            }
        });
    }
    match asked {
        true => Err(NotLowered::new("the length of an open axis inside its own group")),
        false => Ok(()),
    }
}

fn in_domain(domain: &Domain, until: &Until) -> bool {
    domain.sets().iter().any(|set| set.mentions(until.extent))
}

fn in_binding(binding: &Binding, until: &Until) -> bool {
    binding.axes.iter().any(|axis| axis.dim.extent.mentions(until.extent))
        || binding.clauses.iter().any(|clause| in_domain(&clause.domain, until))
}
