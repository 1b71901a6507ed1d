//! `share_values`: nothing is computed or loaded twice where the first result is still at hand.
//!
//! Blocks are walked with what is known to have a value: operations by their operands, loads by their
//! subscripts in terms of loops and symbols. A store replaces what is known of its element and keeps
//! only loads of other elements of the same buffer: those whose subscript differs by a constant on an
//! axis that keeps both planes. What a block defines is not known outside it. In a team, where others store
//! meanwhile, nothing that was loaded is known beyond the loop it is in, or after a barrier.
//!
//! Invariant: a shared operation or load had the same operands and the same memory, so it gives the
//! same bits and traps where the first one would have.

use einlang_index::{MinMax, Quasi, Var};
use einlang_tir::op::Op;
use einlang_tir::types::Elem;
use rustc_hash::FxHashMap as HashMap;

use super::rewrite::{Changes, own_operands};
use crate::ir::{
    Access, Block, BufferId, Combine, Fold, Kernel, Layout, Loop, Operand, Stmt, Subscript,
};

/// Shares the values of a kernel.
pub(super) fn share_values(kernel: &mut Kernel) {
    let layouts = kernel.buffers.iter();
    let layouts = layouts.map(|b| b.dims.iter().map(|dim| dim.layout).collect()).collect();
    let mut share = Share {
        layouts,
        known: HashMap::default(),
        defined: HashMap::default(),
        renamed: HashMap::default(),
        in_team: false,
    };
    share.block(&mut kernel.body);
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Key {
    Op(Op, Vec<Operand>, Elem),
    Index(Quasi, Elem),
    /// With whether it is tested that the element was stored.
    Load(BufferId, Vec<At>, bool),
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum At {
    Index(Quasi),
    Value(Operand),
}

type Known = HashMap<Key, Operand>;

struct Share {
    layouts: Vec<Vec<Layout>>,
    known: Known,
    /// What variables stand for, in terms of loops and symbols.
    defined: HashMap<Var, Quasi>,
    /// What takes the place of a value.
    renamed: HashMap<u32, Operand>,
    /// Whether there are other threads.
    in_team: bool,
}

impl Share {
    fn block(&mut self, block: &mut Block) {
        let stmts = std::mem::take(&mut block.stmts);
        for mut stmt in stmts {
            own_operands(&mut stmt, &mut |operand| self.rename(operand));
            if !self.is_known(&stmt) {
                self.inside(&mut stmt);
                block.stmts.push(stmt);
            }
        }
        block.results.iter_mut().for_each(|operand| self.rename(operand));
    }

    fn rename(&self, operand: &mut Operand) {
        if let Operand::Value(value) = operand
            && let Some(other) = self.renamed.get(&value.number)
        {
            *operand = *other;
        }
    }

    /// An expression in terms of loops and symbols.
    fn plain(&self, expr: &Quasi) -> Option<Quasi> {
        let mut found = Vec::new();
        expr.for_each_var(&mut |var| found.push(var));
        let mut expr = expr.clone();
        for var in found {
            if let Some(value) = self.defined.get(&var) {
                expr = expr.substitute(var, value).ok()?;
            }
        }
        Some(expr)
    }

    fn place(&self, at: &[Subscript]) -> Option<Vec<At>> {
        let plain = |subscript: &Subscript| match subscript {
            Subscript::Index(expr) => self.plain(expr).map(At::Index),
            Subscript::Value(operand) => Some(At::Value(*operand)),
        };
        at.iter().map(plain).collect()
    }

    /// Whether a statement defines a value that is known; if not, it is from here on.
    fn is_known(&mut self, stmt: &Stmt) -> bool {
        let (result, key) = match stmt {
            Stmt::Op { result, op, args, .. } => {
                (result, Some(Key::Op(*op, args.clone(), result.elem)))
            }
            Stmt::Index { result, expr } => {
                (result, self.plain(expr).map(|expr| Key::Index(expr, result.elem)))
            }
            Stmt::Load { result, buffer, at, access } => {
                let tested = matches!(access, Access::Site(_, true));
                (result, self.place(at).map(|at| Key::Load(*buffer, at, tested)))
            }
            _ => return false,
        };
        let Some(key) = key else { return false };
        match self.known.get(&key) {
            Some(operand) => {
                self.renamed.insert(result.number, *operand);
                true
            }
            None => {
                self.known.insert(key, (*result).into());
                false
            }
        }
    }

    fn inside(&mut self, stmt: &mut Stmt) {
        if matches!(stmt, Stmt::Loop(_) | Stmt::Fold(_) | Stmt::Team(_)) {
            self.forget(stmt);
        }
        if self.in_team && matches!(stmt, Stmt::Loop(_) | Stmt::Barrier) {
            self.known.retain(|key, _| !matches!(key, Key::Load(..)));
        }
        match stmt {
            Stmt::Bind { var, expr } => {
                let plain = match expr {
                    MinMax::Value(expr) => self.plain(expr).filter(|expr| !expr.mentions(*var)),
                    _ => None,
                };
                self.forget_var(*var);
                if let Some(plain) = plain {
                    self.defined.insert(*var, plain);
                }
            }
            Stmt::Store { buffer, at, value } => self.stored(*buffer, at, *value),
            Stmt::If { then, otherwise, .. } => {
                for block in [then, otherwise] {
                    self.apart(|share| share.block(block));
                }
                self.forget(stmt);
            }
            Stmt::Loop(of) => self.apart(|share| share.looped(of)),
            Stmt::Fold(fold) => self.apart(|share| share.fold(fold)),
            Stmt::Team(block) => self.apart(|share| share.team(block)),
            _ => self.forget(stmt),
        }
    }

    fn team(&mut self, block: &mut Block) {
        self.in_team = true;
        self.known.retain(|key, _| !matches!(key, Key::Load(..)));
        self.block(block);
        self.in_team = false;
    }

    fn looped(&mut self, of: &mut Loop) {
        self.block(&mut of.body);
        if let Some(until) = &mut of.until {
            self.known.clear();
            self.block(&mut until.condition);
        }
    }

    fn fold(&mut self, fold: &mut Fold) {
        if let Some(key) = &mut fold.key {
            // Points are sorted before anything around is computed.
            let known = std::mem::take(&mut self.known);
            self.block(&mut key.block);
            self.known = known;
        }
        if let Some(guard) = &mut fold.guard {
            self.block(guard);
        }
        self.block(&mut fold.body);
        if let Combine::Block { block, .. } = &mut fold.combine {
            self.known.clear();
            self.block(block);
        }
    }

    /// Does something whose values are not known afterwards.
    fn apart(&mut self, inside: impl FnOnce(&mut Share)) {
        let (known, defined) = (self.known.clone(), self.defined.clone());
        inside(self);
        (self.known, self.defined) = (known, defined);
    }

    /// Forgets what a statement changes.
    fn forget(&mut self, stmt: &mut Stmt) {
        let changes = Changes::of(stmt);
        self.forget_changes(&changes);
    }

    fn forget_changes(&mut self, changes: &Changes) {
        if !changes.buffers.is_empty() {
            self.known.retain(|key, _| match key {
                Key::Load(buffer, ..) => !changes.buffers.contains(buffer),
                _ => true,
            });
        }
        changes.vars.iter().for_each(|var| self.forget_var(*var));
    }

    fn forget_var(&mut self, var: Var) {
        self.defined.remove(&var);
        self.defined.retain(|_, expr| !expr.mentions(var));
        self.known.retain(|key, _| match key {
            Key::Op(..) => true,
            Key::Index(expr, _) => !expr.mentions(var),
            Key::Load(_, at, _) => {
                !at.iter().any(|at| matches!(at, At::Index(expr) if expr.mentions(var)))
            }
        });
    }

    /// An element has a new value; others keep theirs.
    fn stored(&mut self, buffer: BufferId, at: &[Quasi], value: Operand) {
        let place: Option<Vec<Quasi>> = at.iter().map(|expr| self.plain(expr)).collect();
        let layouts = self.layouts.get(buffer.0 as usize).cloned().unwrap_or_default();
        self.known.retain(|key, _| match (key, &place) {
            (Key::Load(other, at, _), Some(place)) if *other == buffer => {
                at.iter().zip(place).zip(&layouts).any(|((a, b), layout)| is_apart(a, b, *layout))
            }
            (Key::Load(other, ..), None) => *other != buffer,
            _ => true,
        });
        if let Some(place) = place {
            let at: Vec<At> = place.into_iter().map(At::Index).collect();
            for tested in [false, true] {
                self.known.insert(Key::Load(buffer, at.clone(), tested), value);
            }
        }
    }
}

/// Whether two subscripts are certain to be of different planes in memory.
fn is_apart(a: &At, b: &Quasi, layout: Layout) -> bool {
    let At::Index(a) = a else { return false };
    let Some(apart) = a.sub(b).ok().and_then(|apart| apart.as_constant()) else { return false };
    match layout {
        Layout::Full | Layout::Open => apart != 0,
        Layout::Mod(width) => apart % width.max(1) != 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::parse_kernel;

    const KERNEL: &str = "kernel part {
  symbols N;
  indices i, j;
  size N = shape 0 0;
  buffer 0 x: f64[full (N)];
  buffer 1 y: f64[full (N)];
  output 1;
  body {
    alloc 1;
    team {
      loop i in (0, N) par own {
        %0: f64 = load 0[(i)] proved;
        %1: f64 = load 0[(i)] proved;
        %2: f64 = add %0, %1;
        store 1[(i)] = %2;
      }
      %3: f64 = load 1[(0)] proved;
      barrier;
      %4: f64 = load 1[(0)] proved;
      loop j in (0, 1) seq {
        %5: f64 = load 1[(0)] proved;
        %6: f64 = add %4, %5;
        store 1[(j)] = %6;
      }
    }
  }
}
";

    /// Others may store until a barrier is passed, and while a loop runs.
    #[test]
    fn threads_share_no_more_than_a_loop_loads() {
        let mut kernel = parse_kernel(KERNEL).expect("it reads");
        share_values(&mut kernel);
        let text = kernel.to_string();
        assert!(text.contains("%2: f64 = add %0, %0;"), "{text}");
        assert!(text.contains("%6: f64 = add %4, %5;"), "{text}");
        assert_eq!(text.matches("= load 1[(0)]").count(), 3, "{text}");
    }
}
