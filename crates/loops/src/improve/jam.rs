//! `jam_rounds`: several rounds of a loop at once, their loops and folds made one.
//!
//! A loop `unroll U` around others becomes `U` copies of its body that go through the loops inside
//! together: a fold then has the states of all copies, which is what keeps a tile of a matrix product
//! in registers. Fewer than `U` rounds run four at a time, and what is left then, like all rounds after the
//! first `U`, one by one. Rounds of such a loop are independent, so their statements may be interleaved.
//!
//! Contract: runs last, after `divide_work`, by whoever makes code: plans are several times shorter without it.
//! Code that is to be short has no copies: where the loop goes around lanes it is moved inside of them, for whoever
//! makes code to run its folds together, and otherwise all rounds run four at a time.

use einlang_index::{Affine, Constraint, Domain, MinMax, Quasi, Set, Var, Vars};

use super::copy::Copy;
use super::rewrite::{blocks, next_value_of};
use super::share::share_values;
use crate::ir::{
    Block, Combine, Condition, Fold, FoldStart, Kernel, Loop, Own, Range, Role, Stmt, each_stmt,
};

/// So many rounds go together where there are fewer than a loop asks for.
const FEW: u32 = 4;

/// How many rounds of a loop go together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rounds {
    /// As many as it asks for.
    Asked,
    /// All inside of lanes, or four.
    Short,
}

/// Jams the loops of a kernel that are to be unrolled. About how many statements fewer there are than with all the
/// rounds that are asked for.
pub fn jam_rounds(kernel: &mut Kernel, rounds: Rounds) -> usize {
    let next = next_value_of(kernel);
    let mut jam = Jam { next, vars: &mut kernel.vars, rounds, any: false, n_spared: 0 };
    jam.block(&mut kernel.body);
    let Jam { any, n_spared, .. } = jam;
    if any {
        share_values(kernel);
    }
    n_spared
}

struct Jam<'k> {
    next: u32,
    vars: &'k mut Vars,
    rounds: Rounds,
    any: bool,
    n_spared: usize,
}

impl Jam<'_> {
    fn block(&mut self, block: &mut Block) {
        let stmts = std::mem::take(&mut block.stmts);
        for mut stmt in stmts {
            blocks(&mut stmt, &mut |block| self.block(block));
            let jammed = match &stmt {
                Stmt::Loop(of) if let Role::Unroll(n) = of.role => self.together(of, n),
                _ => None,
            };
            self.any |= jammed.is_some();
            match jammed {
                Some(jammed) => block.stmts.extend(jammed),
                None => block.stmts.push(stmt),
            }
        }
    }

    /// The loop with so many rounds together, or less than that.
    fn together(&mut self, of: &Loop, n: u32) -> Option<Vec<Stmt>> {
        let short = match self.rounds {
            Rounds::Short => inside_lanes(of, n).or_else(|| Some(vec![self.fewer(of, n)?])),
            Rounds::Asked => None,
        };
        if short.is_some() {
            self.n_spared += n_stmts(&of.body) * n as usize;
        }
        short.or_else(|| self.looped(of, n))
    }

    /// The loop, or its copies where it has as many rounds as there are.
    fn looped(&mut self, of: &Loop, n: u32) -> Option<Vec<Stmt>> {
        let range = &of.range;
        if !may_go_together(of) {
            return None;
        }
        let full = has_rounds(&range.lo, &range.hi, i64::from(n))?;
        let name = self.vars.name(range.var).unwrap_or("i").trim_end_matches('\'').to_owned();
        let base = self.vars.index(&name);
        let (fixed, body) = apart(&of.body, range.var);
        let mut copy = Copy::new(self.next, self.vars).without_names();
        let mut copies = Vec::with_capacity(n as usize);
        for at in 0..i64::from(n) {
            let is = Quasi::from(base).add_constant(at).ok()?;
            copies.push(copy.block_at(&body, range.var, &is)?.stmts);
        }
        let next = Range { lo: range.lo.add_constant(i64::from(n)).ok()?, ..range.clone() };
        // Where there are more rounds than that, the others follow one by one.
        let beyond = match range.has_at_most(n) {
            true => None,
            false => Some(copy.block_at(&of.body, range.var, &Quasi::from(range.var))?),
        };
        self.next = copy.next;
        let mut stmts = fixed;
        stmts.push(Stmt::Bind { var: base, expr: range.lo.clone() });
        stmts.extend(self.jam(copies)?);
        stmts.extend(beyond.map(|body| {
            let beyond = Loop { range: next, role: Role::Seq, own: Own::All, until: None, body };
            Stmt::Loop(Box::new(beyond))
        }));
        if full.is_everything() {
            return Some(stmts);
        }
        let rest = match self.fewer(of, n) {
            Some(rest) => rest,
            None => Stmt::Loop(Box::new(Loop { role: Role::Seq, ..of.clone() })),
        };
        Some(vec![Stmt::If {
            results: Vec::new(),
            condition: Condition::Within(Domain::new([], full)),
            then: Block { stmts, results: Vec::new() },
            otherwise: Block { stmts: vec![rest], results: Vec::new() },
        }])
    }

    /// The rounds of a loop that has fewer of them than it asks for, a few at a time.
    fn fewer(&mut self, of: &Loop, n: u32) -> Option<Stmt> {
        if n < 2 * FEW {
            return None;
        }
        let range = &of.range;
        let name = self.vars.name(range.var).unwrap_or("i").trim_end_matches('\'').to_owned();
        let var = self.vars.index(&name);
        let lo = range.lo.add_scaled(&Quasi::from(var), i64::from(FEW)).ok()?;
        let end = lo.add_constant(i64::from(FEW)).ok()?;
        let hi = MinMax::min_of([range.hi.clone(), end]).ok()?;
        let few = Loop { range: Range { lo, hi, ..range.clone() }, ..of.clone() };
        let stmts = self.looped(&few, FEW)?;
        let n_times = range.hi.sub(&range.lo).ok()?.ceil_div(i64::from(FEW)).ok()?;
        let over = Range { var, lo: MinMax::from(0), hi: n_times, down: false };
        let body = Block { stmts, results: Vec::new() };
        let all = Loop { range: over, role: Role::Seq, own: Own::All, until: None, body };
        Some(Stmt::Loop(Box::new(all)))
    }

    /// Statement by statement, all copies together.
    fn jam(&mut self, copies: Vec<Vec<Stmt>>) -> Option<Vec<Stmt>> {
        let mut columns: Vec<_> = copies.into_iter().map(Vec::into_iter).collect();
        let mut stmts = Vec::new();
        loop {
            let row: Vec<Stmt> = columns.iter_mut().filter_map(Iterator::next).collect();
            match &row[..] {
                [] => return Some(stmts),
                [Stmt::Loop(_), ..] => stmts.push(self.loops(row)?),
                [Stmt::Fold(_), ..] => stmts.push(self.folds(row)?),
                [Stmt::If { condition: Condition::Within(_), .. }, ..] if same_branch(&row) => {
                    match self.branches(row.clone()) {
                        Some(branch) => stmts.push(branch),
                        None => stmts.extend(row),
                    }
                }
                _ => stmts.extend(row),
            }
        }
    }

    /// Branches that all copies take together.
    fn branches(&mut self, row: Vec<Stmt>) -> Option<Stmt> {
        let (mut all, mut on) = (Vec::new(), None);
        let (mut thens, mut others) = (Vec::new(), Vec::new());
        let (mut yes, mut no) = (Vec::new(), Vec::new());
        for stmt in row {
            let Stmt::If { results, condition, then, otherwise } = stmt else { return None };
            all.extend(results);
            on = Some(condition);
            yes.extend(then.results);
            no.extend(otherwise.results);
            thens.push(then.stmts);
            others.push(otherwise.stmts);
        }
        let then = Block { stmts: self.jam(thens)?, results: yes };
        let otherwise = Block { stmts: self.jam(others)?, results: no };
        Some(Stmt::If { results: all, condition: on?, then, otherwise })
    }

    fn loops(&mut self, row: Vec<Stmt>) -> Option<Stmt> {
        let mut bodies = Vec::with_capacity(row.len());
        let mut first: Option<Loop> = None;
        for stmt in row {
            let Stmt::Loop(mut of) = stmt else { return None };
            bodies.push(std::mem::take(&mut of.body.stmts));
            match &first {
                Some(first) if first.range != of.range => return None,
                Some(_) => {}
                None => first = Some(*of),
            }
        }
        let mut of = first?;
        of.body.stmts = self.jam(bodies)?;
        Some(Stmt::Loop(Box::new(of)))
    }

    fn folds(&mut self, row: Vec<Stmt>) -> Option<Stmt> {
        let mut all: Option<Fold> = None;
        let mut bodies = Vec::with_capacity(row.len());
        for stmt in row {
            let Stmt::Fold(fold) = stmt else { return None };
            let mut fold = with_block(*fold, &mut self.next, self.vars)?;
            bodies.push(std::mem::take(&mut fold.body.stmts));
            all = Some(match all {
                None => fold,
                Some(before) => joined(before, fold)?,
            });
        }
        let mut fold = all?;
        fold.body.stmts = self.jam(bodies)?;
        Some(Stmt::Fold(Box::new(fold)))
    }
}

/// Whether rounds of a loop may go together, so that nobody else may run one of them.
pub(crate) fn may_go_together(of: &Loop) -> bool {
    let holds_loops = |stmt: &Stmt| matches!(stmt, Stmt::Loop(_) | Stmt::Fold(_));
    matches!(of.role, Role::Unroll(_))
        && !of.range.down
        && of.until.is_none()
        && !of.own.is_divided()
        && of.body.stmts.iter().any(holds_loops)
}

/// The loop of at most so many rounds inside of the lanes that it goes around, if there is nothing else in it.
fn inside_lanes(of: &Loop, n: u32) -> Option<Vec<Stmt>> {
    let range = &of.range;
    if !may_go_together(of) || !range.has_at_most(n) {
        return None;
    }
    let (mut stmts, body) = apart(&of.body, range.var);
    let (mut binds, mut changing) = (Vec::new(), vec![range.var]);
    for stmt in body.stmts {
        match stmt {
            Stmt::Bind { var, .. } => {
                changing.push(var);
                binds.push(stmt);
            }
            Stmt::Loop(mut lanes) if matches!(lanes.role, Role::Lane(_)) => {
                let mut same = lanes.until.is_none();
                for bound in [&lanes.range.lo, &lanes.range.hi] {
                    bound.for_each_var(&mut |var| same &= !changing.contains(&var));
                }
                if !same {
                    return None;
                }
                let inner = std::mem::take(&mut lanes.body.stmts);
                let body = Block { stmts: [binds.clone(), inner].concat(), results: Vec::new() };
                let rounds = Loop { range: range.clone(), body, ..of.clone() };
                lanes.body.stmts = vec![Stmt::Loop(Box::new(rounds))];
                stmts.push(Stmt::Loop(lanes));
            }
            _ => return None,
        }
    }
    Some(stmts)
}

/// How many statements a block has, those inside of others too.
fn n_stmts(block: &Block) -> usize {
    let mut n = 0;
    each_stmt(block, &mut |_| n += 1);
    n
}

/// The fold with a block that combines.
pub(super) fn with_block(mut fold: Fold, next: &mut u32, vars: &mut Vars) -> Option<Fold> {
    if fold.guard.is_some() || !matches!(fold.start, FoldStart::From(_)) {
        return None;
    }
    if let Combine::Op(op) = fold.combine {
        let value = *fold.results.first()?;
        let mut copy = Copy::new(*next, vars);
        let (a, b, result) = (copy.fresh(value), copy.fresh(value), copy.fresh(value));
        *next = copy.next;
        let args = vec![a.into(), b.into()];
        let stmts = vec![Stmt::Op { result, op, args, site: None }];
        let block = Block { stmts, results: vec![result.into()] };
        fold.combine = Combine::Block { left: vec![a], right: vec![b], block };
    }
    matches!(fold.combine, Combine::Block { .. }).then_some(fold)
}

/// What a body binds first that is the same in every round, and the rest of it: the bounds of loops
/// inside then are the same for all copies.
fn apart(body: &Block, var: Var) -> (Vec<Stmt>, Block) {
    let (mut fixed, mut rest, mut changing) = (Vec::new(), Vec::new(), vec![var]);
    for stmt in &body.stmts {
        if let Stmt::Bind { var, expr } = stmt {
            let mut same = !changing.contains(var);
            expr.for_each_var(&mut |var| same &= !changing.contains(&var));
            if same {
                fixed.push(stmt.clone());
                continue;
            }
            changing.push(*var);
        }
        if let Stmt::Param { var, .. } = stmt {
            changing.push(*var);
        }
        rest.push(stmt.clone());
    }
    (fixed, Block { stmts: rest, results: body.results.clone() })
}

/// Whether statements are branches on the same condition.
fn same_branch(row: &[Stmt]) -> bool {
    let condition = |stmt: &Stmt| match stmt {
        Stmt::If { condition: Condition::Within(domain), .. } => Some(domain.clone()),
        _ => None,
    };
    let first = row.first().and_then(condition);
    first.is_some() && row.iter().all(|stmt| condition(stmt) == first)
}

/// Two folds over the same points as one.
pub(super) fn joined(mut a: Fold, b: Fold) -> Option<Fold> {
    if a.ranges != b.ranges || a.within.is_some() || b.within.is_some() {
        return None;
    }
    a.results.extend(b.results);
    a.body.results.extend(b.body.results);
    let (FoldStart::From(start), FoldStart::From(more)) = (&mut a.start, b.start) else {
        return None;
    };
    start.extend(more);
    let (
        Combine::Block { left, right, block },
        Combine::Block { left: more_left, right: more_right, block: more },
    ) = (&mut a.combine, b.combine)
    else {
        return None;
    };
    left.extend(more_left);
    right.extend(more_right);
    block.stmts.extend(more.stmts);
    block.results.extend(more.results);
    Some(a)
}

/// When a range has at least so many values: every upper bound is that far from every lower one.
fn has_rounds(lo: &MinMax, hi: &MinMax, n: i64) -> Option<Set> {
    let leaves = |bound: &MinMax, max: bool| -> Option<Vec<Affine>> {
        let list = match (bound, max) {
            (MinMax::Value(expr), _) => return Some(vec![expr.as_affine()?.clone()]),
            (MinMax::Max(list), true) | (MinMax::Min(list), false) => list,
            _ => return None,
        };
        list.iter().map(|bound| bound.as_quasi()?.as_affine().cloned()).collect()
    };
    let mut all = Vec::new();
    let his = leaves(hi, false)?;
    for lo in leaves(lo, true)? {
        let end = lo.add_constant(n).ok()?;
        for hi in &his {
            all.push(Constraint::ge(hi, &end).ok()?);
        }
    }
    Set::new(all).ok()
}
