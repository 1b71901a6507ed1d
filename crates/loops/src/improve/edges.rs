//! `part_edges`: the first rounds of a loop, which ask whether what they read is there, run apart.
//!
//! A recurrence that reads a few steps back with a default asks in every round whether there were so
//! many. From some round on the answer is always yes; those rounds get a loop that asks nothing.
//!
//! Invariant: the rounds are the same, in the same order.

use einlang_index::{MinMax, Quasi, Var, Vars};
use rustc_hash::FxHashMap as HashMap;

use super::copy::Copy;
use super::rewrite::{blocks, next_value_of, own_operands};
use crate::ir::{Block, Condition, Kernel, Layout, Loop, Operand, Range, Role, Stmt, Subscript};

/// Later rounds than this are no edge.
const WIDEST: i64 = 64;

/// Divides the loops of a kernel whose first rounds are different.
pub(super) fn part_edges(kernel: &mut Kernel) {
    let next = next_value_of(kernel);
    let extents = kernel.buffers.iter().map(|buffer| match &buffer.dims[..] {
        [dim] if dim.layout != Layout::Open && !buffer.marks => Some(dim.extent.clone()),
        _ => None,
    });
    let extents = extents.collect();
    let mut part = Part { next, vars: &mut kernel.vars, extents };
    part.block(&mut kernel.body);
}

struct Part<'k> {
    next: u32,
    vars: &'k mut Vars,
    /// The extents of buffers with one dimension, all of whose points are computed.
    extents: Vec<Option<Quasi>>,
}

impl Part<'_> {
    fn block(&mut self, block: &mut Block) {
        let mut stmts = Vec::with_capacity(block.stmts.len());
        for mut stmt in std::mem::take(&mut block.stmts) {
            blocks(&mut stmt, &mut |block| self.block(block));
            let later = match &mut stmt {
                Stmt::Loop(of) if of.role == Role::Seq => self.later(of),
                _ => None,
            };
            stmts.push(stmt);
            stmts.extend(later);
        }
        block.stmts = stmts;
    }

    /// Leaves a loop its first rounds; the loop of the others.
    fn later(&mut self, of: &mut Loop) -> Option<Stmt> {
        if of.until.is_some() || of.own.is_divided() || of.range.down {
            return None;
        }
        let (first, asked) = self.asked(of)?;
        let range = &of.range;
        let from = MinMax::from(first);
        let begin = MinMax::max_of([range.lo.clone(), from.clone()]).ok()?;
        let end = MinMax::min_of([range.hi.clone(), from]).ok()?;
        let mut body = of.body.clone();
        answer(&mut body, &asked);
        let mut copy = Copy::new(self.next, self.vars);
        let body = copy.block_at(&body, range.var, &Quasi::from(range.var))?;
        self.next = copy.next;
        let later = Loop { range: Range { lo: begin, ..range.clone() }, body, ..of.clone() };
        of.range.hi = end;
        Some(Stmt::Loop(Box::new(later)))
    }

    /// The round from which on everything that the rounds ask for is there, and the answers.
    fn asked(&self, of: &Loop) -> Option<(i64, Vec<u32>)> {
        let (mut first, mut asked) = (0, Vec::new());
        let mut places: HashMap<Var, Quasi> = HashMap::default();
        for stmt in &of.body.stmts {
            match stmt {
                Stmt::Bind { var, expr: MinMax::Value(expr) } => {
                    let mut is = expr.clone();
                    for (var, place) in &places {
                        is = is.substitute(*var, place).ok()?;
                    }
                    places.insert(*var, is);
                }
                Stmt::Probe { result, buffer, at, .. } => {
                    let ([Subscript::Index(at)], Some(extent)) =
                        (&at[..], self.extents.get(buffer.0 as usize)?)
                    else {
                        continue;
                    };
                    let mut at = at.clone();
                    for (var, place) in &places {
                        at = at.substitute(*var, place).ok()?;
                    }
                    let back = at.sub(&Quasi::from(of.range.var)).ok()?.as_constant();
                    let ends = of.range.hi == MinMax::Value(extent.clone());
                    if let Some(back) = back.filter(|b| ends && (-WIDEST..0).contains(b)) {
                        first = first.max(-back);
                        asked.push(result.number);
                    }
                }
                _ => {}
            }
        }
        (first > 0).then_some((first, asked))
    }
}

/// Takes away questions whose answer is yes.
fn answer(body: &mut Block, asked: &[u32]) {
    let mut renamed: HashMap<u32, Operand> = HashMap::default();
    let rename = |operand: &mut Operand, renamed: &HashMap<u32, Operand>| {
        if let Operand::Value(value) = operand
            && let Some(other) = renamed.get(&value.number)
        {
            *operand = *other;
        }
    };
    let mut stmts = Vec::with_capacity(body.stmts.len());
    for mut stmt in std::mem::take(&mut body.stmts) {
        renaming(&mut stmt, &mut |operand| rename(operand, &renamed));
        match stmt {
            Stmt::If {
                results, condition: Condition::Value(Operand::Value(value)), then, ..
            } if asked.contains(&value.number) => {
                renamed.extend(results.iter().map(|result| result.number).zip(then.results));
                stmts.extend(then.stmts);
            }
            other => stmts.push(other),
        }
    }
    let mut used = false;
    for stmt in &mut stmts {
        renaming(stmt, &mut |operand| {
            used |= matches!(operand, Operand::Value(value) if asked.contains(&value.number));
        });
    }
    if !used {
        stmts
            .retain(|s| !matches!(s, Stmt::Probe { result, .. } if asked.contains(&result.number)));
    }
    body.stmts = stmts;
}

/// Calls `visit` for every operand of a statement, inside its blocks too.
fn renaming(stmt: &mut Stmt, visit: &mut dyn FnMut(&mut Operand)) {
    own_operands(stmt, visit);
    blocks(stmt, &mut |block| {
        block.stmts.iter_mut().for_each(|stmt| renaming(stmt, visit));
        block.results.iter_mut().for_each(&mut *visit);
    });
}
