//! Copies of tensors in panels: what a tile of a product reads lies in one piece of memory then.

use einlang_index::{MinMax, Quasi, Var, VarKind};
use einlang_tir::order::Form;
use einlang_tir::region::Read;

use super::free::each_buffer;
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
    /// The tensor in memory.
    of: BufferId,
    axis: usize,
    /// How many axes lie around the panels.
    under: usize,
    /// The first plane of the first panel.
    from: Quasi,
    /// How many planes there are from there on.
    extent: Quasi,
    /// How many planes a panel has.
    width: i64,
    /// In how many parts the next panel is fetched.
    ahead: u32,
    /// Whether they are for tiles of rows, and not for lanes.
    rows: bool,
    in_blocks: bool,
    /// The loop over tiles in whose rounds there are those of its rows only.
    of_tile: Option<Tile>,
}

/// A round of a loop over tiles: the axis, how many of its values a tile has, and the number of the tile.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tile {
    pub(super) axis: Var,
    pub(super) width: i64,
    pub(super) number: Var,
}

impl Tile {
    /// Whether it consists of several panels of so many planes.
    fn holds(&self, width: i64) -> bool {
        self.width > width && self.width % width == 0
    }
}

impl Lower<'_> {
    /// Copies a tensor into panels, which are read instead of it in lanes along their axis.
    pub(super) fn pack(&mut self, pack: &Pack, out: &mut Vec<Stmt>) -> Result<()> {
        let is_outside = self.loops.is_empty() && self.around.is_empty();
        let before = self.packed.iter().find(|(before, _)| before == pack);
        if let Some((_, panels)) = before.filter(|_| is_outside) {
            let panels = panels.clone();
            self.panels.entry(pack.tensor.clone()).or_default().push(panels);
            return Ok(());
        }
        let panels = self.panels_for(pack, None)?;
        out.push(Stmt::Alloc(panels.buffer));
        out.push(self.copy_panels(&panels)?);
        if is_outside {
            self.packed.push((pack.clone(), panels.clone()));
        }
        self.panels.entry(pack.tensor.clone()).or_default().push(panels);
        Ok(())
    }

    /// Lowers a round of a loop with the panels that are copied in it: those of lanes in a loop over blocks of terms,
    /// whose memory is to be given before the loop, and those of rows in the loop over tiles inside of it, where each
    /// round has memory of its own and thus may run on any thread.
    pub(super) fn with_panels(
        &mut self,
        role: Role,
        var: Var,
        out: &mut Vec<Stmt>,
        inside: impl FnOnce(&mut Self, &mut Vec<Stmt>) -> Result<()>,
    ) -> Result<Vec<BufferId>> {
        let mut tiles = self.tiles.iter().filter(|tile| tile.number == var);
        let (tile, several) = (tiles.next().copied(), tiles.next().is_some());
        let is_block = matches!(role, Role::Terms(_));
        let is_here = |pack: &Pack| match tile {
            None => is_block && !pack.rows,
            Some(tile) => self.is_in_block && !several && pack.rows && tile.holds(pack.width),
        };
        let packs: Vec<Pack> =
            self.in_blocks.iter().filter(|pack| is_here(pack)).cloned().collect();
        let around = self.is_in_block;
        self.is_in_block = is_block || around && tile.is_none();
        let mut made = Vec::new();
        for pack in &packs {
            let panels = self.panels_for(pack, tile)?;
            self.panels.entry(pack.tensor.clone()).or_default().push(panels.clone());
            made.push((&pack.tensor, panels));
        }
        let (mut stmts, mut before) = (Vec::new(), Vec::new());
        inside(self, &mut stmts)?;
        self.is_in_block = around;
        for (tensor, panels) in made {
            let list = self.panels.entry(tensor.clone()).or_default();
            list.retain(|other| other.buffer != panels.buffer);
            if stmts.iter().any(|stmt| mentions(stmt, panels.buffer)) {
                match tile {
                    Some(_) => out.push(Stmt::Alloc(panels.buffer)),
                    None => before.push(panels.buffer),
                }
                out.push(self.copy_panels(&panels)?);
            }
        }
        out.extend(stmts);
        Ok(before)
    }

    /// A buffer for the panels of a tensor: of all of them, or of those in a tile of rows.
    fn panels_for(&mut self, pack: &Pack, tile: Option<Tile>) -> Result<Panels> {
        let name = pack.tensor.as_str();
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
        let layout = tile.map_or(Layout::Full, |tile| Layout::Mod(tile.width / width));
        dims.insert(under, BufferDim { extent: extent.ceil_div(width)?, layout });
        dims.push(full(Quasi::from(width)));
        let name = Buffer::panels_of(name);
        let buffer = Buffer { name, dims, stack: tile.is_some(), unset: true, ..of };
        let buffer = self.kernel.add_buffer(buffer);
        let (axis, ahead, rows, in_blocks) = (pack.axis, pack.ahead, pack.rows, pack.in_blocks);
        Ok(Panels {
            buffer,
            of: from,
            axis,
            under,
            from: from_plane,
            extent,
            width,
            ahead,
            rows,
            in_blocks,
            of_tile: tile,
        })
    }

    /// Whether a tensor lies in memory as it is: all its points, each where its axes say.
    fn is_plain(&self, id: BufferId) -> bool {
        let buffer = &self.kernel.buffers[id.0 as usize];
        let full = buffer.dims.iter().all(|dim| dim.layout == Layout::Full);
        full && !buffer.marks && !self.maps.contains_key(&id)
    }

    fn copy_panels(&mut self, panels: &Panels) -> Result<Stmt> {
        let Panels { buffer: to, of, axis, under, width, .. } = panels;
        let (to, axis, width) = (*to, *axis, *width);
        let dims = self.kernel.buffers[to.0 as usize].dims.clone();
        let vars: Vec<Var> = dims.iter().map(|_| self.kernel.vars.index("p")).collect();
        let (Some(panel), Some((inside, others))) = (vars.get(*under), vars.split_last()) else {
            return Err(NotLowered::new("a panel of a scalar"));
        };
        let others = others.iter().filter(|var| *var != panel);
        let mut at: Vec<Quasi> = others.map(|var| Quasi::from(*var)).collect();
        let first = Quasi::from(*panel).scale(width)?;
        let plane = first.add(&Quasi::from(*inside))?.add(&panels.from)?;
        at.insert(axis.min(at.len()), plane);
        let result = self.fresh(self.kernel.buffers[of.0 as usize].elem);
        let at = at.into_iter().map(Subscript::Index).collect();
        let load = Stmt::Load { result, buffer: *of, at, access: Access::Proved };
        let at = vars.iter().map(|var| Quasi::from(*var)).collect();
        let store = Stmt::Store { buffer: to, at, value: result.into() };
        let left = MinMax::Value(panels.extent.sub(&first)?);
        let hi = MinMax::min_of([MinMax::from(width), left])?;
        let role = match width {
            2..=MOST_LANES => Role::Lane((width as u32).next_power_of_two()),
            _ => Role::Par,
        };
        let range = Range { var: *inside, lo: MinMax::from(0), hi, down: false };
        let mut stmt = looped(range, role, vec![load, store]);
        // In blocks what lies next to each other goes to all panels: it is read but once.
        let mut around: Vec<(&Var, &BufferDim)> =
            vars.iter().zip(&dims).take(vars.len() - 1).collect();
        if panels.in_blocks && axis + 1 == around.len() {
            let panel = around.remove(*under);
            around.push(panel);
        }
        for (var, dim) in around.into_iter().rev() {
            let (mut lo, mut hi) = (MinMax::from(0), MinMax::Value(dim.extent.clone()));
            if let Some(tile) = panels.of_tile.filter(|_| var == panel) {
                let n_panels = tile.width / width;
                let first = Quasi::from(tile.number).scale(n_panels)?;
                hi = MinMax::min_of([hi, first.add_constant(n_panels)?.into()])?;
                lo = first.into();
            }
            stmt = looped(Range { var: *var, lo, hi, down: false }, Role::Par, vec![stmt]);
        }
        Ok(stmt)
    }

    /// The loop around over tiles of so many values of an axis.
    fn tile_around(&self, axis: Var, width: i64) -> Option<Var> {
        let mut tiles = self.tiles.iter().rev();
        tiles.find(|tile| (tile.axis, tile.width) == (axis, width)).map(|tile| tile.number)
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
            if panels.of_tile.is_some_and(|tile| tile.axis != var) {
                continue;
            }
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

/// Whether a statement reads from a buffer or stores to it.
fn mentions(stmt: &Stmt, buffer: BufferId) -> bool {
    let mut found = false;
    each_buffer(stmt, &mut |other| found |= other == buffer);
    found
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
