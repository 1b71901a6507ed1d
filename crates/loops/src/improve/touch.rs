//! What a loop touches, so that it can be compared with another one.
//!
//! Subscripts are written in terms of the loops around: the index of a loop or fold at some depth has
//! one name for both loops that are compared. A loop that does more than computing, loading and
//! storing is not looked at any further.

use einlang_index::{MinMax, Quasi, Var};
use rustc_hash::FxHashMap as HashMap;

use crate::ir::{
    Block, BufferDim, BufferId, Fold, Layout, Loop, Operand, Range, Role, Stmt, Subscript, blocks,
};

/// A subscript, comparable.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum At {
    Index(Quasi),
    Value(Operand),
}

/// An element that is loaded or stored; its subscripts, if they can be compared.
pub(super) type Place = (BufferId, Option<Vec<At>>);

/// What loops touch.
#[derive(Clone, Debug)]
pub(super) struct Touched {
    pub(super) loads: Vec<Place>,
    pub(super) stores: Vec<Place>,
    /// The bounds of all folds.
    pub(super) folds: Vec<Vec<(MinMax, MinMax)>>,
    /// The same as they are written.
    pub(super) folds_written: Vec<Vec<(MinMax, MinMax)>>,
    /// How many operations there are.
    pub(super) n_ops: usize,
    /// Whether there is nothing but computing, loading and storing, and nothing traps.
    pub(super) plain: bool,
    /// The indices of folds.
    pub(super) terms: Vec<Var>,
}

/// The indices at each depth.
#[derive(Default)]
pub(super) struct Names(Vec<Var>);

impl Names {
    /// Whether two places have no element in common, whatever the rounds: on some axis they are of
    /// different planes.
    pub(super) fn are_apart(&self, a: &[At], b: &[At], dims: &[BufferDim]) -> bool {
        a.iter().zip(b).zip(dims).any(|((a, b), dim)| {
            let (At::Index(a), At::Index(b)) = (a, b) else { return false };
            let fixed = !self.0.iter().any(|var| a.mentions(*var) || b.mentions(*var));
            let apart = a.sub(b).ok().and_then(|apart| apart.as_constant()).filter(|_| fixed);
            apart.is_some_and(|apart| match dim.layout {
                Layout::Mod(width) => apart % width.max(1) != 0,
                Layout::Full | Layout::Open => apart != 0,
            })
        })
    }
}

/// What variables stand for, in terms of loops and symbols; nothing where that is not known.
pub(super) type Places = HashMap<Var, Option<Quasi>>;

/// An expression in terms of loops and symbols.
pub(super) fn resolved(expr: &Quasi, places: &Places) -> Option<Quasi> {
    let mut found = Vec::new();
    expr.for_each_var(&mut |var| found.push(var));
    let mut all = Quasi::from(expr.affine().constant_part());
    if !expr.divisions().is_empty() {
        return None;
    }
    for var in found {
        let times = expr.affine().coeff(var);
        let is = match places.get(&var) {
            Some(is) => is.clone()?,
            None => Quasi::from(var),
        };
        all = all.add(&is.scale(times).ok()?).ok()?;
    }
    Some(all)
}

impl Touched {
    /// What a loop touches; `places` is what variables stand for around it.
    pub(super) fn of(of: &Loop, names: &mut Names, places: &Places) -> Touched {
        let touched = Touched {
            loads: Vec::new(),
            stores: Vec::new(),
            folds: Vec::new(),
            folds_written: Vec::new(),
            n_ops: 0,
            plain: true,
            terms: Vec::new(),
        };
        let mut walk = Walk { touched, names, places: places.clone() };
        walk.looped(of, 0);
        walk.touched
    }

    /// Whether a place changes with the terms of a fold.
    pub(super) fn is_of_terms(&self, place: &[At]) -> bool {
        place.iter().any(|at| match at {
            At::Index(expr) => self.terms.iter().any(|var| expr.mentions(*var)),
            At::Value(_) => true,
        })
    }
}

struct Walk<'n> {
    touched: Touched,
    names: &'n mut Names,
    /// What variables stand for, in terms of the names of loops.
    places: Places,
}

impl Walk<'_> {
    fn named(&mut self, var: Var, depth: usize) -> Var {
        if depth >= self.names.0.len() {
            self.names.0.push(var);
        }
        let name = self.names.0[depth];
        self.places.insert(var, Some(Quasi::from(name)));
        name
    }

    fn resolved(&self, expr: &Quasi) -> Option<Quasi> {
        resolved(expr, &self.places)
    }

    fn looped(&mut self, of: &Loop, depth: usize) {
        let unrolled = matches!(of.role, Role::Unroll(_) | Role::Seq);
        self.touched.plain &=
            of.until.is_none() && !of.own.is_divided() && !of.range.down && !unrolled;
        self.named(of.range.var, depth);
        self.block(&of.body, depth + 1);
    }

    fn fold(&mut self, fold: &Fold, depth: usize) {
        let simple = fold.key.is_none() && fold.resume.is_none() && fold.guard.is_none();
        self.touched.plain &= simple && fold.within.is_none();
        let written = |range: &Range| (range.lo.clone(), range.hi.clone());
        self.touched.folds_written.push(fold.ranges.iter().map(written).collect());
        let bounds = |range: &Range| (self.bound(&range.lo), self.bound(&range.hi));
        self.touched.folds.push(fold.ranges.iter().map(bounds).collect());
        for (at, range) in fold.ranges.iter().enumerate() {
            let name = self.named(range.var, depth + at);
            self.touched.terms.push(name);
        }
    }

    /// A bound in terms of loops and symbols where that is known, and else as it is.
    fn bound(&self, bound: &MinMax) -> MinMax {
        let known = |expr: &Quasi| self.resolved(expr).unwrap_or_else(|| expr.clone());
        let mapped = bound.map(true, &mut |expr| Ok(known(expr).into()));
        mapped.unwrap_or_else(|_| bound.clone())
    }

    fn place(&self, at: &[Subscript]) -> Option<Vec<At>> {
        let each = |subscript: &Subscript| match subscript {
            Subscript::Index(expr) => self.resolved(expr).map(At::Index),
            Subscript::Value(operand) => Some(At::Value(*operand)),
        };
        at.iter().map(each).collect()
    }

    fn block(&mut self, block: &Block, depth: usize) {
        for stmt in &block.stmts {
            let mut inside = depth;
            match stmt {
                Stmt::Op { site, .. } => {
                    self.touched.plain &= site.is_none();
                    self.touched.n_ops += 1;
                }
                Stmt::Index { .. } => {}
                Stmt::Bind { var, expr } => {
                    let is = match expr {
                        MinMax::Value(expr) => self.resolved(expr),
                        _ => None,
                    };
                    self.places.insert(*var, is);
                }
                Stmt::Load { buffer, at, .. } => {
                    let place = self.place(at);
                    self.touched.loads.push((*buffer, place));
                }
                Stmt::Store { buffer, at, .. } => {
                    let place = at.iter().map(|expr| self.resolved(expr).map(At::Index)).collect();
                    self.touched.stores.push((*buffer, place));
                }
                Stmt::If { .. } => {}
                Stmt::Loop(of) => {
                    self.looped(of, depth);
                    continue;
                }
                Stmt::Fold(fold) => {
                    self.fold(fold, depth);
                    inside = depth + fold.ranges.len();
                }
                _ => self.touched.plain = false,
            }
            blocks(stmt).into_iter().for_each(|block| self.block(block, inside));
        }
    }
}
