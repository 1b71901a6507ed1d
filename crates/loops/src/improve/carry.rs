//! `carry_values`: what one round of a loop stores and the next one loads goes there directly.
//!
//! A recurrence over scalars stores its state and loads it again a moment later, and memory is what it
//! waits for. The last element that was stored gets a place of its own beside the buffer, a single
//! scalar, which machine code keeps in a register. Before the first round it is loaded.
//!
//! Invariant: the scalar is what the load would have given: the loop stores to that buffer at one place
//! only, once in every round.

use einlang_index::{MinMax, Quasi, Var};
use einlang_tir::region::Value;
use rustc_hash::FxHashMap as HashMap;

use super::rewrite::{Changes, blocks, next_value_of};
use crate::ir::{
    Access, Block, Buffer, BufferId, Kernel, Loop, Operand, Range, Role, Stmt, Subscript, each_stmt,
};

/// The most values of a loop that are carried.
const MOST_CARRIED: usize = 16;

/// Carries values through the loops of a kernel.
pub(super) fn carry_values(kernel: &mut Kernel) {
    let next = next_value_of(kernel);
    let mut body = std::mem::take(&mut kernel.body);
    let mut carry = Carry { next, kernel };
    carry.block(&mut body, true);
    kernel.body = body;
}

struct Carry<'k> {
    next: u32,
    kernel: &'k mut Kernel,
}

/// A store of every round, and the element of the round before.
struct Carried {
    buffer: BufferId,
    value: Operand,
    /// The subscripts of what the round before stored.
    before: Vec<Quasi>,
}

impl Carry<'_> {
    /// Carries values through the loops of a block. Memory that is given inside a loop stands in a loop of
    /// one round, which threads leave to one of them as a whole.
    fn block(&mut self, block: &mut Block, outermost: bool) {
        let mut stmts = Vec::with_capacity(block.stmts.len());
        for mut stmt in std::mem::take(&mut block.stmts) {
            blocks(&mut stmt, &mut |block| self.block(block, false));
            match &mut stmt {
                Stmt::Loop(of) if is_plain(of) => {
                    let (mut all, after) = self.looped(of);
                    let alone = all.is_empty() || outermost;
                    all.push(stmt);
                    all.extend(after);
                    match alone {
                        true => stmts.extend(all),
                        false => stmts.push(self.once(all)),
                    }
                }
                _ => stmts.push(stmt),
            }
        }
        block.stmts = stmts;
    }

    /// Statements as the only round of a loop.
    fn once(&mut self, stmts: Vec<Stmt>) -> Stmt {
        let var = self.kernel.vars.index("once");
        let (lo, hi) = (MinMax::from(0), MinMax::from(1));
        Stmt::rounds(Range { var, lo, hi, down: false }, stmts)
    }

    /// Carries what a loop stores; what has to be done before it and after it.
    fn looped(&mut self, of: &mut Loop) -> (Vec<Stmt>, Vec<Stmt>) {
        let (mut before, mut after) = (Vec::new(), Vec::new());
        let found = carried(of);
        if found.len() > MOST_CARRIED {
            return (before, after);
        }
        for carried in found {
            let Some(elem) = self.kernel.buffer(carried.buffer).map(|buffer| buffer.elem) else {
                continue;
            };
            let Some(first) = first(of) else { continue };
            let number = BufferId(self.kernel.buffers.len() as u32);
            let like = &self.kernel.buffers[carried.buffer.0 as usize];
            let (name, loc) = (like.name.clone(), like.loc);
            let dims = Vec::new();
            self.kernel.buffers.push(Buffer {
                name,
                elem,
                dims,
                marks: false,
                stack: true,
                unset: false,
                loc,
            });
            replace(of, &carried, number);
            let value = Value { number: self.next, elem };
            self.next = self.next.saturating_add(1);
            let at: Vec<Subscript> = carried.before.into_iter().map(Subscript::Index).collect();
            let (buffer, access) = (carried.buffer, Access::Proved);
            let load = Stmt::Load { result: value, buffer, at, access };
            let keep = Stmt::Store { buffer: number, at: Vec::new(), value: value.into() };
            before.extend([Stmt::Alloc(number), Stmt::rounds(first, vec![load, keep])]);
            let value = carried.value;
            of.body.stmts.push(Stmt::Store { buffer: number, at: Vec::new(), value });
            after.push(Stmt::Free(number));
        }
        (before, after)
    }
}

/// The first round only, if there is one.
fn first(of: &Loop) -> Option<Range> {
    let range = &of.range;
    let second = range.lo.add_constant(1).ok()?;
    let hi = MinMax::min_of([range.hi.clone(), second]).ok()?;
    Some(Range { hi, ..range.clone() })
}

/// Whether the rounds of a loop follow each other and have no loops inside.
fn is_plain(of: &Loop) -> bool {
    let mut plain =
        of.role == Role::Seq && of.until.is_none() && !of.own.is_divided() && !of.range.down;
    each_stmt(&of.body, &mut |stmt| {
        plain &= !matches!(
            stmt,
            Stmt::Loop(_) | Stmt::Alloc(_) | Stmt::Free(_) | Stmt::Copy { .. } | Stmt::Param { .. }
        );
    });
    plain
}

/// What is stored in every round and loaded in the next.
fn carried(of: &mut Loop) -> Vec<Carried> {
    let places = places(of);
    let mut n_stores: HashMap<BufferId, usize> = HashMap::default();
    each_stmt(&of.body, &mut |stmt| {
        if let Stmt::Store { buffer, .. } = stmt {
            *n_stores.entry(*buffer).or_default() += 1;
        }
    });
    let mut found = Vec::new();
    for stmt in &of.body.stmts {
        let Stmt::Store { buffer, at, value } = stmt else { continue };
        let before: Option<Vec<Quasi>> =
            at.iter().map(|at| resolved(at, &places).and_then(|at| earlier(&at, of))).collect();
        let Some(before) = before.filter(|_| n_stores.get(buffer) == Some(&1)) else { continue };
        let is_loaded = of.body.stmts.iter().any(|stmt| is_load(stmt, *buffer, &before, &places));
        let moves = before.iter().any(|at| at.mentions(of.range.var));
        if is_loaded && moves {
            found.push(Carried { buffer: *buffer, value: *value, before });
        }
    }
    found
}

/// What the variables of a round stand for, in terms of its number and of what is around the loop.
fn places(of: &mut Loop) -> HashMap<Var, Option<Quasi>> {
    let mut places: HashMap<Var, Option<Quasi>> = HashMap::default();
    for stmt in &mut of.body.stmts {
        match stmt {
            Stmt::Bind { var, expr } => {
                let is = match expr {
                    MinMax::Value(expr) => resolved(expr, &places),
                    _ => None,
                };
                // A second meaning of a name is one too many.
                let is = if places.contains_key(var) { None } else { is };
                places.insert(*var, is);
            }
            stmt => {
                let changes = Changes::of(stmt);
                places.extend(changes.vars.into_iter().map(|var| (var, None)));
            }
        }
    }
    places
}

fn resolved(expr: &Quasi, places: &HashMap<Var, Option<Quasi>>) -> Option<Quasi> {
    let mut found = Vec::new();
    expr.for_each_var(&mut |var| found.push(var));
    let mut expr = expr.clone();
    for var in found {
        if let Some(place) = places.get(&var) {
            expr = expr.substitute(var, place.as_ref()?).ok()?;
        }
    }
    Some(expr)
}

/// An expression as it was in the round before.
fn earlier(expr: &Quasi, of: &Loop) -> Option<Quasi> {
    let var = of.range.var;
    expr.substitute(var, &Quasi::from(var).add_constant(-1).ok()?).ok()
}

fn is_load(
    stmt: &Stmt,
    of: BufferId,
    before: &[Quasi],
    places: &HashMap<Var, Option<Quasi>>,
) -> bool {
    let Stmt::Load { buffer, at, access: Access::Proved, .. } = stmt else { return false };
    let same = |(subscript, before): (&Subscript, &Quasi)| match subscript {
        Subscript::Index(expr) => resolved(expr, places).as_ref() == Some(before),
        Subscript::Value(_) => false,
    };
    *buffer == of && at.len() == before.len() && at.iter().zip(before).all(same)
}

/// Loads the scalar instead, wherever a round loads what the one before stored.
fn replace(of: &mut Loop, carried: &Carried, by: BufferId) {
    let places = places(of);
    fn inside(stmts: &mut [Stmt], visit: &mut dyn FnMut(&mut Stmt)) {
        for stmt in stmts {
            visit(stmt);
            blocks(stmt, &mut |block| inside(&mut block.stmts, visit));
        }
    }
    inside(&mut of.body.stmts, &mut |stmt| {
        if is_load(stmt, carried.buffer, &carried.before, &places)
            && let Stmt::Load { buffer, at, .. } = stmt
        {
            *buffer = by;
            at.clear();
        }
    });
}
