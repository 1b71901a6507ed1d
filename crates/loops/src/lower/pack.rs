//! Copies of tensors in panels: what a tile of a product reads lies in one piece of memory then.

use einlang_index::{MinMax, Quasi, Var, VarKind};
use einlang_tir::module::Group;
use einlang_tir::order::Form;
use einlang_tir::region::{InstKind, Read, Subscript as Place};

use super::free::each_buffer;
use super::read::index_of;
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
    of_tile: Option<OfTile>,
}

/// A round of a loop over tiles: the axis, how many of its values a tile has, and the number of the tile. A loop over
/// an axis has tiles of one value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tile {
    pub(super) axis: Var,
    pub(super) width: i64,
    pub(super) number: Var,
}

/// Where panels belong to a tile: how many planes it has, its number, and the loops over the axes around.
#[derive(Clone, Debug)]
struct OfTile {
    width: i64,
    number: Var,
    around: Vec<Var>,
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
    /// whose memory is to be given before the loop, and those of rows in the outermost loop over tiles of them, where
    /// each round has memory of its own and thus may run on any thread.
    pub(super) fn with_panels(
        &mut self,
        group: &Group,
        (role, tile, var): (Role, Option<i64>, Var),
        out: &mut Vec<Stmt>,
        inside: impl FnOnce(&mut Self, &mut Vec<Stmt>) -> Result<()>,
    ) -> Result<Vec<BufferId>> {
        let mut packs: Vec<(Pack, Option<OfTile>)> = Vec::new();
        for pack in &self.in_blocks {
            match tile {
                None if matches!(role, Role::Terms(_)) && !pack.rows => {
                    packs.push((pack.clone(), None));
                }
                Some(width) if pack.rows => {
                    let of_tile = self.panels_of_tile(group, pack, (width, var));
                    packs.extend(of_tile.map(|of_tile| (pack.clone(), Some(of_tile))));
                }
                _ => {}
            }
        }
        let mut made = Vec::new();
        for (pack, of_tile) in packs {
            let panels = self.panels_for(&pack, of_tile)?;
            self.panels.entry(pack.tensor.clone()).or_default().push(panels.clone());
            made.push((pack.tensor, panels));
        }
        let (mut stmts, mut before) = (Vec::new(), Vec::new());
        inside(self, &mut stmts)?;
        for (tensor, panels) in made {
            let list = self.panels.entry(tensor).or_default();
            list.retain(|other| other.buffer != panels.buffer);
            if stmts.iter().any(|stmt| mentions(stmt, panels.buffer)) {
                match &panels.of_tile {
                    Some(_) => out.push(Stmt::Alloc(panels.buffer)),
                    None => before.push(panels.buffer),
                }
                out.push(self.copy_panels(&panels)?);
            }
        }
        out.extend(stmts);
        Ok(before)
    }

    /// Where the panels of a tensor belong to a tile of some width and number, whose loop is the outermost one along
    /// the rows of what reads it.
    fn panels_of_tile(
        &self,
        group: &Group,
        pack: &Pack,
        (width, number): (i64, Var),
    ) -> Option<OfTile> {
        let mut read: Option<Vec<Place>> = None;
        for region in group.regions() {
            region.for_each_inst(&mut |inst| {
                if let InstKind::Read(found) = &inst.kind
                    && found.place.tensor == pack.tensor
                {
                    read.get_or_insert_with(|| found.place.at.clone());
                }
            });
        }
        let read = read?;
        let var = |axis: usize| index_of(read.get(axis)?)?.as_var();
        let of_rows = |tile: &&Tile| Some(tile.axis) == var(pack.axis);
        let is_outermost = self.tiles.iter().find(of_rows)?.number == number;
        let around: Option<Vec<Var>> =
            (0..pack.under).map(|axis| self.tile_around(var(axis)?, 1)).collect();
        let holds = width > pack.width && width % pack.width == 0;
        let around = around.filter(|_| is_outermost && holds)?;
        Some(OfTile { width, number, around })
    }

    /// A buffer for the panels of a tensor: of all of them, or of those in a tile of rows.
    fn panels_for(&mut self, pack: &Pack, of_tile: Option<OfTile>) -> Result<Panels> {
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
        let mut layout = Layout::Full;
        if let Some(tile) = &of_tile {
            dims.iter_mut().take(under).for_each(|dim| dim.layout = Layout::Mod(1));
            layout = Layout::Mod(tile.width / width);
        }
        dims.insert(under, BufferDim { extent: extent.ceil_div(width)?, layout });
        dims.push(full(Quasi::from(width)));
        let name = Buffer::panels_of(name);
        let buffer = Buffer { name, dims, stack: of_tile.is_some(), unset: true, ..of };
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
            of_tile,
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
            if let Some(tile) = &panels.of_tile {
                let number = vars.iter().position(|other| other == var).unwrap_or(vars.len());
                let n_panels = tile.width / width;
                let first = Quasi::from(tile.number).scale(n_panels)?;
                match tile.around.get(number) {
                    Some(is) => {
                        lo = Quasi::from(*is).into();
                        hi = Quasi::from(*is).add_constant(1)?.into();
                    }
                    None if var == panel => {
                        hi = MinMax::min_of([hi, first.add_constant(n_panels)?.into()])?;
                        lo = first.into();
                    }
                    None => {}
                }
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

    /// Whether a read along some rows finds them in the panels of a tile, at the axes around that those have.
    fn is_there(&self, tile: &OfTile, rows: Var, at: &[Subscript]) -> bool {
        let is_round = |axis: Var, number: Var| {
            self.tiles.iter().any(|other| (other.axis, other.number) == (axis, number))
        };
        let is_at = |(at, number): (&Subscript, &Var)| match at {
            Subscript::Index(at) => {
                self.stands_for(at).as_var().is_some_and(|axis| is_round(axis, *number))
            }
            Subscript::Value(_) => false,
        };
        is_round(rows, tile.number) && at.iter().zip(&tile.around).all(is_at)
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
            if panels.of_tile.as_ref().is_some_and(|tile| !self.is_there(tile, var, at)) {
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
