//! Copies of tensors in panels: what a tile of a product reads lies in one piece of memory then.

use einlang_index::{MinMax, Quasi, Var, VarKind};
use einlang_tir::order::Form;
use einlang_tir::region::Read;
use einlang_tir::types::{Elem, Ident};

use super::{Lower, NotLowered, Result};
use crate::ir::{
    Access, Block, Buffer, BufferDim, BufferId, Layout, Loop, Own, Range, Role, Stmt, Subscript,
};
use crate::schedule::Pack;

/// The most planes of a panel that are lanes of one vector.
const MOST_LANES: i64 = 64;

/// A tensor in panels.
#[derive(Clone, Debug)]
pub(super) struct Panels {
    buffer: BufferId,
    axis: usize,
    /// How many axes lie around the panels.
    under: usize,
    /// The first plane of the first panel.
    from: Quasi,
    /// How many planes a panel has.
    width: i64,
    /// In how many parts the next panel is fetched.
    ahead: u32,
    /// Whether they are for tiles of rows, and not for lanes.
    rows: bool,
}

impl Lower<'_> {
    /// Copies a tensor into panels, which are read instead of it in lanes along their axis.
    pub(super) fn pack(&mut self, pack: &Pack, out: &mut Vec<Stmt>) -> Result<()> {
        let name = pack.tensor.as_str();
        let is_outside = self.loops.is_empty() && self.around.is_empty();
        let before = self.packed.iter().find(|(before, _)| before == pack);
        if let Some((_, panels)) = before.filter(|_| is_outside) {
            let panels = panels.clone();
            self.panels.entry(pack.tensor.clone()).or_default().push(panels);
            return Ok(());
        }
        let from = self.tensors.get(&pack.tensor).copied().filter(|id| self.is_plain(*id));
        let from = from.ok_or_else(|| NotLowered::new(format!("no `{name}` to pack")))?;
        let of = self.kernel.buffers[from.0 as usize].clone();
        let Some(axis) = of.dims.get(pack.axis) else {
            return Err(NotLowered::new(format!("no axis {} of `{name}` to pack", pack.axis)));
        };
        let mut from_plane = Quasi::from(0);
        for (times, size) in &pack.from {
            let unknown = || NotLowered::new(format!("no size `{size}` to pack `{name}` from"));
            let size = self.module.vars.lookup(size).filter(|var| var.kind() == VarKind::Symbol);
            from_plane = from_plane.combine(1, &size.ok_or_else(unknown)?.into(), *times)?;
        }
        let (extent, width) = (axis.extent.sub(&from_plane)?, pack.width);
        let full = |extent: Quasi| BufferDim { extent, layout: Layout::Full };
        let others = of.dims.iter().enumerate().filter(|(at, _)| *at != pack.axis);
        let mut dims: Vec<BufferDim> = others.map(|(_, dim)| full(dim.extent.clone())).collect();
        let under = pack.under.min(pack.axis);
        dims.insert(under, full(extent.ceil_div(width)?));
        dims.push(full(Quasi::from(width)));
        let vars: Vec<Var> = dims.iter().map(|_| self.kernel.vars.index("p")).collect();
        let name = Ident::new(&format!("{name}.packed"));
        let to =
            self.kernel.add_buffer(Buffer { name, dims, stack: false, unset: true, ..of.clone() });
        out.push(Stmt::Alloc(to));
        let (axis, ahead, rows) = (pack.axis, pack.ahead, pack.rows);
        let panels = Panels { buffer: to, axis, under, from: from_plane, width, ahead, rows };
        out.push(self.copy_panels(from, of.elem, &vars, &extent, &panels)?);
        if is_outside {
            self.packed.push((pack.clone(), panels.clone()));
        }
        self.panels.entry(pack.tensor.clone()).or_default().push(panels);
        Ok(())
    }

    /// Whether a tensor lies in memory as it is: all its points, each where its axes say.
    fn is_plain(&self, id: BufferId) -> bool {
        let buffer = &self.kernel.buffers[id.0 as usize];
        let full = buffer.dims.iter().all(|dim| dim.layout == Layout::Full);
        full && !buffer.marks && !self.maps.contains_key(&id)
    }

    fn copy_panels(
        &mut self,
        from: BufferId,
        elem: Elem,
        vars: &[Var],
        extent: &Quasi,
        panels: &Panels,
    ) -> Result<Stmt> {
        let Panels { buffer: to, axis, under, from: from_plane, width, .. } = panels;
        let (to, axis, width) = (*to, *axis, *width);
        let (Some(panel), Some((inside, others))) = (vars.get(*under), vars.split_last()) else {
            return Err(NotLowered::new("a panel of a scalar"));
        };
        let others = others.iter().filter(|var| *var != panel);
        let mut at: Vec<Quasi> = others.map(|var| Quasi::from(*var)).collect();
        let first = Quasi::from(*panel).scale(width)?;
        let plane = first.add(&Quasi::from(*inside))?.add(from_plane)?;
        at.insert(axis.min(at.len()), plane);
        let result = self.fresh(elem);
        let at = at.into_iter().map(Subscript::Index).collect();
        let load = Stmt::Load { result, buffer: from, at, access: Access::Proved };
        let at = vars.iter().map(|var| Quasi::from(*var)).collect();
        let store = Stmt::Store { buffer: to, at, value: result.into() };
        let left = MinMax::Value(extent.sub(&first)?);
        let hi = MinMax::min_of([MinMax::from(width), left])?;
        let role = match width {
            2..=MOST_LANES => Role::Lane((width as u32).next_power_of_two()),
            _ => Role::Par,
        };
        let range = Range { var: *inside, lo: MinMax::from(0), hi, down: false };
        let mut stmt = looped(range, role, vec![load, store]);
        let dims = &self.kernel.buffers[to.0 as usize].dims;
        for (var, dim) in vars.iter().zip(dims).take(vars.len() - 1).rev() {
            let hi = MinMax::Value(dim.extent.clone());
            let range = Range { var: *var, lo: MinMax::from(0), hi, down: false };
            stmt = looped(range, Role::Par, vec![stmt]);
        }
        Ok(stmt)
    }

    /// The loop around over tiles of so many values of an axis.
    fn tile_around(&self, axis: Var, width: i64) -> Option<Var> {
        let found = self.tiles.iter().rev().find(|(of, by, _)| (*of, *by) == (axis, width));
        found.map(|(_, _, tile)| *tile)
    }

    /// The panels that a read finds its lanes or rows in, its subscripts there, and how they are loaded.
    pub(super) fn in_panels(
        &self,
        read: &Read,
        at: &[Subscript],
    ) -> Result<Option<(BufferId, Vec<Subscript>, Access)>> {
        let (Some(list), Some(lane)) = (self.panels.get(&read.place.tensor), self.lane) else {
            return Ok(None);
        };
        let tested = !read.proved || read.default.is_some();
        for panels in list.iter().filter(|_| !tested) {
            let (axis, width) = (panels.axis, panels.width);
            let Some(Subscript::Index(along)) = at.get(axis) else { continue };
            let along = along.sub(&panels.from)?;
            let Some(var) = self.stands_for(&along).as_var() else { continue };
            let (panel, inside) = match panels.rows {
                false if var == lane => (along.floor_div(width)?, along.floor_mod(width)?),
                true => match self.tile_around(var, width) {
                    Some(tile) => (tile.into(), along.combine(1, &tile.into(), -width)?),
                    None => continue,
                },
                _ => continue,
            };
            let others = at.iter().enumerate().filter(|(i, _)| *i != axis);
            let mut place: Vec<Subscript> = others.map(|(_, s)| s.clone()).collect();
            place.insert(panels.under, Subscript::Index(panel));
            place.push(Subscript::Index(inside));
            let access = match panels.ahead {
                0 => Access::Proved,
                parts => Access::Ahead(parts),
            };
            return Ok(Some((panels.buffer, place, access)));
        }
        Ok(None)
    }
}

/// The axis whose values a form has.
pub(super) fn axis_of(axes: &[Var], form: &Form) -> Option<Var> {
    let mut used = axes.iter().zip(&form.coefficients).filter(|(_, c)| **c != 0);
    let (axis, coefficient) = used.next()?;
    (used.next().is_none() && *coefficient == 1 && form.offset == 0).then_some(*axis)
}

fn looped(range: Range, role: Role, stmts: Vec<Stmt>) -> Stmt {
    let body = Block { stmts, results: Vec::new() };
    Stmt::Loop(Box::new(Loop { range, role, own: Own::All, until: None, body }))
}
