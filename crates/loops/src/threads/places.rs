//! Which places of memory statements touch, as integer constraints.
//!
//! Walking gives every index that is bound a variable of its own, so that two accesses have in common
//! only what is bound around both. A subscript that is not affine may be anything.

use std::hash::{Hash, Hasher};
use std::rc::Rc;

use einlang_index::{Affine, Constraint, Domain, MinMax, Quasi, Var, VarKind};
use einlang_source::map::{HashMap, HashSet};

use super::fewer::{join_neighbours, relevant};
use super::memory::is_private;
use crate::ir::{
    Block, BufferId, Combine, Condition, Fold, Kernel, Layout, Loop, Range, Stmt, Subscript,
    each_stmt,
};

/// The most variables that are made for one kernel.
const MOST_FRESH: u32 = 1 << 24;

/// The places that one load or store touches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Access {
    pub(super) buffer: BufferId,
    pub(super) writes: bool,
    /// One subscript per dimension; none where it may be anything.
    pub(super) at: Vec<Option<Affine>>,
    /// What holds there of the variables of its subscripts.
    pub(super) given: Rc<[Constraint]>,
}

/// What holds is long, and hardly ever differs where all else is the same.
impl Hash for Access {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.buffer, self.writes, &self.at).hash(state);
    }
}

/// What is bound and known at a place.
#[derive(Clone, Default)]
pub(super) struct Scope {
    vars: HashMap<Var, Affine>,
    given: Rc<Vec<Constraint>>,
    /// The variables that were made for what is bound here, outermost first.
    pub(super) bound: Vec<Var>,
    /// The loops that are open here.
    pub(super) loops: Vec<Var>,
}

impl Scope {
    /// What is known of the sizes of a kernel.
    pub(super) fn of(kernel: &Kernel) -> Scope {
        let shapes = kernel.sizes.iter().filter(|(_, size)| *size != crate::ir::Size::Argument);
        let given = shapes.map(|(var, _)| Constraint::Ge(Affine::var(*var))).collect();
        Scope { given: Rc::new(given), ..Scope::default() }
    }

    fn affine(&self, expr: &Quasi) -> Option<Affine> {
        expr.as_affine()?.replace(&mut |var| self.vars.get(&var).cloned()).ok()
    }

    /// Whether a bound has the same value wherever this scope is looked at.
    pub(super) fn is_fixed(&self, bound: &MinMax) -> bool {
        let mut fixed = true;
        bound.for_each_var(&mut |var| fixed &= !self.vars.contains_key(&var));
        fixed
    }

    /// A bound in terms of what is bound here and of symbols: equal ones have equal values, for what is
    /// bound in another round has another name.
    pub(super) fn resolved(&self, bound: &MinMax) -> Option<MinMax> {
        let all = |list: &[MinMax]| -> Option<Vec<MinMax>> {
            list.iter().map(|bound| self.resolved(bound)).collect()
        };
        Some(match bound {
            MinMax::Min(list) => MinMax::Min(all(list)?),
            MinMax::Max(list) => MinMax::Max(all(list)?),
            MinMax::Value(_) if self.is_fixed(bound) => bound.clone(),
            MinMax::Value(expr) => MinMax::Value(Quasi::from(self.affine(expr)?)),
        })
    }

    /// Adds what holds in a domain.
    pub(super) fn assume(&mut self, domain: &Domain) {
        if let [set] = domain.sets() {
            let renamed = set.replace(&mut |var| self.vars.get(&var).cloned());
            Rc::make_mut(&mut self.given).extend(renamed.iter().flat_map(|set| set.constraints()));
        }
    }
}

/// Makes accesses of statements.
pub(super) struct Walk<'k> {
    pub(super) kernel: &'k Kernel,
    n_fresh: u32,
    /// The buffers that some statement stores to; nobody meets at the others.
    stored: HashSet<BufferId>,
}

impl<'k> Walk<'k> {
    pub(super) fn new(kernel: &'k Kernel) -> Walk<'k> {
        let mut stored = HashSet::default();
        each_stmt(&kernel.body, &mut |stmt| {
            if let Stmt::Store { buffer, .. } = stmt {
                stored.insert(*buffer);
            }
        });
        Walk { kernel, n_fresh: 0, stored }
    }

    /// Whether a variable was made by a walk.
    pub(super) fn is_fresh(var: Var) -> bool {
        var.kind() == VarKind::Index
            && var.number() >= Var::reserved(VarKind::Index, MOST_FRESH).number()
    }

    /// A variable that nothing else has.
    pub(super) fn fresh(&mut self) -> Var {
        self.n_fresh = (self.n_fresh + 1).min(MOST_FRESH);
        Var::reserved(VarKind::Index, self.n_fresh)
    }

    /// Binds a variable to something that is not known.
    pub(super) fn bind_unknown(&mut self, var: Var, scope: &mut Scope) -> Var {
        let fresh = self.fresh();
        scope.vars.insert(var, Affine::var(fresh));
        scope.bound.push(fresh);
        fresh
    }

    /// Binds a variable to the value of an expression.
    pub(super) fn bind(&mut self, var: Var, expr: &MinMax, scope: &mut Scope) {
        match expr.as_quasi().and_then(|expr| scope.affine(expr)) {
            Some(is) => {
                scope.vars.insert(var, is);
            }
            None => {
                self.bind_unknown(var, scope);
            }
        }
    }

    /// Binds the index of a loop.
    pub(super) fn bind_range(&mut self, range: &Range, scope: &mut Scope) -> Var {
        let (lows, highs) = (bounds(&range.lo, true), bounds(&range.hi, false));
        let affine = |list: Vec<&Quasi>, scope: &Scope| -> Vec<Affine> {
            list.into_iter().filter_map(|expr| scope.affine(expr)).collect()
        };
        let (lows, highs) = (affine(lows, scope), affine(highs, scope));
        let var = self.bind_unknown(range.var, scope);
        let index = Affine::var(var);
        let given = Rc::make_mut(&mut scope.given);
        given.extend(lows.iter().filter_map(|low| Constraint::ge(&index, low).ok()));
        given.extend(highs.iter().filter_map(|high| Constraint::lt(&index, high).ok()));
        var
    }

    /// The accesses of a loop's rounds, and the variable of its index; nothing if they do more than
    /// load, compute and store.
    pub(super) fn rounds(&mut self, of: &Loop, scope: &Scope) -> Option<(Var, Vec<Access>)> {
        let mut scope = scope.clone();
        scope.loops.clear();
        let var = self.bind_range(&of.range, &mut scope);
        let mut found = Vec::new();
        self.block(&of.body, &mut scope, &mut found)?;
        let private = allocated(&of.body);
        found.retain(|access: &Access| !private.contains(&access.buffer));
        Some((var, join_neighbours(self, found)))
    }

    pub(super) fn block(
        &mut self,
        block: &Block,
        scope: &mut Scope,
        found: &mut Vec<Access>,
    ) -> Option<()> {
        block.stmts.iter().try_for_each(|stmt| self.stmt(stmt, scope, found))
    }

    pub(super) fn stmt(
        &mut self,
        stmt: &Stmt,
        scope: &mut Scope,
        found: &mut Vec<Access>,
    ) -> Option<()> {
        match stmt {
            Stmt::Op { .. } | Stmt::Index { .. } | Stmt::Assert { .. } | Stmt::Trap(_) => {}
            Stmt::Bind { var, expr } => self.bind(*var, expr, scope),
            Stmt::Param { var, .. } => {
                self.bind_unknown(*var, scope);
            }
            Stmt::Load { buffer, at, .. } | Stmt::Probe { buffer, at, .. } => {
                let at = at.iter().map(|subscript| match subscript {
                    Subscript::Index(expr) => scope.affine(expr),
                    Subscript::Value(_) => None,
                });
                self.touch(*buffer, false, at.collect(), scope, found);
            }
            Stmt::Store { buffer, at, .. } => {
                let at = at.iter().map(|expr| scope.affine(expr)).collect();
                self.touch(*buffer, true, at, scope, found);
            }
            Stmt::If { condition, then, otherwise, .. } => {
                let mut inside = scope.clone();
                if let Condition::Within(domain) = condition {
                    inside.assume(domain);
                }
                self.block(then, &mut inside, found)?;
                self.block(otherwise, &mut scope.clone(), found)?;
            }
            Stmt::Loop(of) if of.until.is_none() => {
                let mut inside = scope.clone();
                self.bind_range(&of.range, &mut inside);
                inside.loops.push(of.range.var);
                self.block(&of.body, &mut inside, found)?;
            }
            Stmt::Fold(fold) => self.fold(fold, scope, found)?,
            Stmt::Alloc(buffer) | Stmt::Free(buffer) => {
                self.kernel.buffer(*buffer).filter(|buffer| is_private(buffer))?;
            }
            _ => return None,
        }
        Some(())
    }

    fn fold(&mut self, fold: &Fold, scope: &Scope, found: &mut Vec<Access>) -> Option<()> {
        // What goes on in the rounds of a loop belongs to all of its rounds.
        let inside = fold.resume.is_none_or(|var| scope.loops.contains(&var));
        if fold.key.is_some() || !inside {
            return None;
        }
        let mut scope = scope.clone();
        for range in &fold.ranges {
            self.bind_range(range, &mut scope);
        }
        fold.within.iter().for_each(|domain| scope.assume(domain));
        for block in fold.guard.iter().chain([&fold.body]) {
            self.block(block, &mut scope, found)?;
        }
        match &fold.combine {
            Combine::Block { block, .. } => self.block(block, &mut scope, found),
            _ => Some(()),
        }
    }

    fn touch(
        &self,
        buffer: BufferId,
        writes: bool,
        at: Vec<Option<Affine>>,
        scope: &Scope,
        found: &mut Vec<Access>,
    ) {
        if self.stored.contains(&buffer) {
            let given = relevant(&at, &scope.given).into();
            let access = Access { buffer, writes, at, given };
            if !found.contains(&access) {
                found.push(access);
            }
        }
    }

    /// How a dimension of a buffer is kept.
    pub(super) fn layout(&self, buffer: BufferId, axis: usize) -> Layout {
        let dims = self.kernel.buffer(buffer).map(|buffer| &buffer.dims);
        dims.and_then(|dims| dims.get(axis)).map_or(Layout::Open, |dim| dim.layout)
    }
}

/// Expressions that a bound is at least, or at most.
fn bounds(bound: &MinMax, least: bool) -> Vec<&Quasi> {
    match (bound, least) {
        (MinMax::Value(expr), _) => vec![expr],
        (MinMax::Max(list), true) | (MinMax::Min(list), false) => {
            list.iter().flat_map(|bound| bounds(bound, least)).collect()
        }
        _ => Vec::new(),
    }
}

/// The buffers that get memory in a block.
pub(super) fn allocated(block: &Block) -> Vec<BufferId> {
    let mut found = Vec::new();
    each_stmt(block, &mut |stmt| {
        if let Stmt::Alloc(buffer) = stmt {
            found.push(*buffer);
        }
    });
    found
}
