//! Nests become loops; a clause becomes its body and a store.

use std::collections::BTreeMap;

use einlang_index::{Affine, Constraint, Domain, MinMax, Quasi, Set, Var};
use einlang_tir::module::{Clause, Group};
use einlang_tir::order::{Form, Statement};
use einlang_tir::region::{Def, Region};

use super::pack::{Tile, axis_of};
use super::scan::{Level, Scan, hull, scan_set};
use super::split::{divided, first_round, is_short};
use super::{Lower, NotLowered, Part, Result};
use crate::ir::{Block, Condition, Loop, Own, Range, Role, Stmt, UntilLoop};
use crate::schedule::Nest;

/// What is left of the points of every clause.
pub(super) type Domains = BTreeMap<Statement, Domain>;

/// The rounds of a loop over forms.
struct Rounds<'n> {
    forms: &'n [(Statement, Form)],
    tile: Option<i64>,
    role: Role,
    inner: &'n Nest,
}

impl Rounds<'_> {
    /// When the point with this value of its form is in a round.
    fn of(&self, var: Var, value: &Affine) -> einlang_index::Result<Set> {
        let round = Affine::var(var);
        let Some(width) = self.tile else {
            return Set::new([Constraint::equal(&round, value)?]);
        };
        // width * round <= value <= width * round + width - 1
        let first = round.scale(width)?;
        let next = first.add_constant(width)?;
        Set::new([Constraint::ge(value, &first)?, Constraint::lt(value, &next)?])
    }
}

/// An open axis whose loop has not been made.
pub(super) struct Open {
    pub(super) until: UntilLoop,
    pub(super) end: MinMax,
    pub(super) index: Var,
    pub(super) condition: Region,
}

impl Lower<'_> {
    pub(super) fn nest(
        &mut self,
        group: &Group,
        nest: &Nest,
        domains: Domains,
        open: Option<Open>,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        match nest {
            Nest::Phases(phases) if open.is_none() => {
                for phase in phases {
                    self.nest(group, phase, domains.clone(), None, out)?;
                }
                Ok(())
            }
            Nest::Points { statement, axes, role } if open.is_none() => {
                self.points(group, *statement, axes, *role, &domains, out)
            }
            Nest::Loop { forms, tile, role, inner } => {
                let rounds = Rounds { forms, tile: *tile, role: *role, inner };
                self.looped(group, &rounds, domains, open, out)
            }
            _ => Err(NotLowered::new("an open axis without a loop over it")),
        }
    }

    fn looped(
        &mut self,
        group: &Group,
        rounds: &Rounds<'_>,
        domains: Domains,
        open: Option<Open>,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let forms = rounds.forms;
        let first = |form: &Form| form.coefficients.iter().copied().find(|c| *c != 0);
        let down =
            open.is_none() && forms.iter().all(|(_, form)| first(form).is_some_and(|c| c < 0));
        let sign = if down { -1 } else { 1 };
        let var = self.loop_var(group, forms);
        let n_tiles = self.tiles.len();
        let mut inside = Domains::new();
        for (statement, form) in forms {
            let missing = || NotLowered::new("a schedule of a clause that does not exist");
            let domain = domains.get(statement).ok_or_else(missing)?;
            let axes = group.bindings[statement.binding].dims();
            let value = form_of(&axes, form, sign)?;
            if let Some(axis) = axis_of(&axes, form) {
                self.tiles.push(Tile { axis, width: rounds.tile.unwrap_or(1), number: var });
            }
            inside.insert(*statement, domain.restricted(&rounds.of(var, &value)?)?);
        }
        let plain = open.is_none() && !down && rounds.tile.is_none();
        let first = if plain { first_round(&inside, var, &self.context) } else { None };
        let parts = first.map(|first| divided(&inside, var, first, &self.context)).transpose()?;
        let n_loops = self.loops.len() + 1;
        let is_nest =
            |statement: &Statement| group.bindings[statement.binding].axes.len() > n_loops;
        let Some((first, (of_first, others))) =
            first.zip(parts).filter(|(_, parts)| is_short(parts, &is_nest))
        else {
            let done = self.rounds(group, rounds, (var, down), inside, open, out);
            self.tiles.truncate(n_tiles);
            return done;
        };
        let (stmts, ()) = self.scoped(|lower, out| {
            lower.bind(var, Quasi::from(first), out)?;
            lower.give_own_memory(lower.loops.len() + 1, out);
            lower.nest(group, rounds.inner, of_first, None, out)
        })?;
        out.extend(stmts);
        self.rounds(group, rounds, (var, down), others, None, out)
    }

    /// The loop of some rounds.
    fn rounds(
        &mut self,
        group: &Group,
        rounds: &Rounds<'_>,
        (var, down): (Var, bool),
        inside: Domains,
        open: Option<Open>,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        if open.is_none() && inside.values().all(|rest| rest.sets().is_empty()) {
            return Ok(());
        }
        let mut projected = Domain::nothing([var]);
        for rest in inside.values() {
            let mut dims = vec![var];
            dims.extend(rest.dims());
            let with = Domain::of_sets(dims, rest.sets().iter().cloned());
            projected = projected.union(&with.project(&[var])?)?;
        }
        let projected = projected.simplified_given(&self.context);
        let (lo, hi) = match &open {
            Some(open) => (MinMax::from(0), open.end.clone()),
            None => hull(&projected, var)?,
        };
        // What no round can change is asked once.
        let before = match (projected.sets(), &open) {
            ([set], None) => Set::new(set.constraints().filter(|c| !c.expr().mentions(var)))?,
            _ => Set::everything(),
        };
        let outer = self.context.clone();
        self.context = self.context.intersect(&before).unwrap_or(outer.clone());
        let loc_until = open.as_ref().map(|open| open.until.extent);
        let mut outside = Vec::new();
        let (stmts, condition) = self.in_loop(var, down, |lower, out| {
            lower.give_own_memory(lower.loops.len(), out);
            if let ([set], true) = (projected.sets(), loc_until.is_none())
                && let Ok(bounds) = Set::new(set.constraints().filter(|c| is_bound(c, var)))
                && let Ok(context) = lower.context.intersect(&bounds)
            {
                lower.context = context;
            }
            if let Some(extent) = loc_until {
                // What is known of the length in the end need not hold of the length so far: there are
                // rounds for the first planes.
                let in_the_end = |c: &Constraint| c.expr().mentions(extent);
                let so_far = lower.context.constraints().filter(|c| !in_the_end(c));
                lower.context = Set::new(so_far)?;
                let next = Quasi::from(var).add_constant(1)?;
                lower.learn(extent, &next);
                lower.bound.push(extent);
                lower.open_segment(var, out)?;
            }
            let here = (rounds.role, rounds.tile, var);
            outside = lower.with_panels(group, here, out, |lower, out| {
                lower.nest(group, rounds.inner, inside, None, out)
            })?;
            let condition = open.as_ref().map(|open| lower.condition(open, var));
            condition.transpose()
        })?;
        let range = Range { var, lo, hi, down };
        let body = Block { stmts, results: Vec::new() };
        let until = match (open, condition) {
            (Some(open), Some(condition)) => {
                self.bound.push(open.until.extent);
                self.converged.insert(open.until.extent, open.until.converged.into());
                Some(UntilLoop { condition, ..open.until })
            }
            _ => None,
        };
        self.context = outer;
        let ended = until.is_some();
        let role = if self.resumed.contains(&var) { Role::Seq } else { rounds.role };
        let stmt = Stmt::Loop(Box::new(Loop { range, role, own: Own::All, until, body }));
        out.extend(outside.into_iter().map(Stmt::Alloc));
        out.extend(guarded(before, vec![stmt]));
        if ended { self.ready(out) } else { Ok(()) }
    }

    /// The condition of an open axis after the round `var`.
    fn condition(&mut self, open: &Open, var: Var) -> Result<Block> {
        let (stmts, results) = self.scoped(|lower, out| {
            lower.bind(open.index, var.into(), out)?;
            lower.region(&open.condition, out)
        })?;
        match results.first() {
            Some(Part::Scalar(operand)) => Ok(Block { stmts, results: vec![*operand] }),
            _ => Err(NotLowered::new("a condition that is no scalar")),
        }
    }

    /// A name for the loop: that of the axis if it is one, else a new one.
    fn loop_var(&mut self, group: &Group, forms: &[(Statement, Form)]) -> Var {
        let single = forms.first().and_then(|(statement, form)| {
            let mut used = form.coefficients.iter().enumerate().filter(|(_, c)| **c != 0);
            let first = used.next().map(|(at, _)| at);
            let axes = &group.bindings[statement.binding].axes;
            first.filter(|_| used.next().is_none()).and_then(|at| axes.get(at))
        });
        let name = single.and_then(|axis| self.kernel.vars.name(axis.var)).unwrap_or("z");
        let name = name.trim_end_matches('\'').to_owned();
        self.kernel.vars.index(&name)
    }

    /// The points of one clause.
    fn points(
        &mut self,
        group: &Group,
        statement: Statement,
        axes: &[usize],
        role: Role,
        domains: &Domains,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let missing = || NotLowered::new("a schedule of a clause that does not exist");
        let domain = domains.get(&statement).ok_or_else(missing)?;
        let binding = &group.bindings[statement.binding];
        let clause = &binding.clauses[statement.clause];
        let all = binding.dims();
        let dims: Vec<Var> = axes.iter().filter_map(|at| all.get(*at).copied()).collect();
        if dims.len() != all.len() {
            return Err(NotLowered::new("a schedule that leaves out an axis"));
        }
        let domain = match self.once.get(&statement) {
            Some(planes) => domain.restricted(planes)?.simplified_given(&self.context),
            None => domain.simplified_given(&self.context),
        };
        let domain = if domain.sets().len() > 1 { domain.disjoint()? } else { domain };
        let runs = |set: &Set| {
            let scan = scan_set(set, &dims, false, &self.context);
            scan.is_ok_and(|scan| scan.levels.iter().any(|level| matches!(level, Level::Range(_))))
        };
        let domain = match role.is_free() && domain.sets().iter().all(runs) {
            true => self.peeled(clause, domain),
            false => domain,
        };
        let outer = self.lane;
        self.lane = dims.last().copied().filter(|_| matches!(role, Role::Lane(_)));
        for set in domain.sets() {
            let scan = scan_set(set, &dims, !role.is_free(), &self.context)?;
            let (stmts, ()) = self.scoped(|lower, out| {
                let body =
                    |lower: &mut Self, out: &mut Vec<Stmt>| lower.clause(binding, clause, out);
                lower.scanned(&scan, set, role, &body, out)
            })?;
            match self.loops.is_empty() {
                true => out.extend(guarded(scan.before, stmts)),
                false => add_guarded(scan.before, stmts, out),
            }
        }
        self.lane = outer;
        Ok(())
    }

    /// The loops of a scan around a body.
    fn scanned(
        &mut self,
        scan: &Scan,
        set: &Set,
        role: Role,
        body: &dyn Fn(&mut Self, &mut Vec<Stmt>) -> Result<()>,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        if let Ok(context) = self.context.intersect(set) {
            self.context = context;
        }
        self.levels(&scan.levels, &scan.inside, role, body, out)
    }

    fn levels(
        &mut self,
        levels: &[Level],
        inside: &Set,
        role: Role,
        body: &dyn Fn(&mut Self, &mut Vec<Stmt>) -> Result<()>,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        match levels.split_first() {
            None => {
                let (stmts, ()) = self.scoped(|lower, out| body(lower, out))?;
                out.extend(guarded(inside.clone(), stmts));
                Ok(())
            }
            Some((Level::Bind(var, expr), rest)) => {
                self.bind(*var, expr.clone(), out)?;
                self.levels(rest, inside, role, body, out)
            }
            Some((Level::Range(range), rest)) => {
                let (stmts, ()) = self.in_loop(range.var, range.down, |lower, out| {
                    lower.levels(rest, inside, role, body, out)
                })?;
                let body = Block { stmts, results: Vec::new() };
                let range = range.clone();
                let innermost = !rest.iter().any(|level| matches!(level, Level::Range(_)));
                let role = match role {
                    _ if self.resumed.contains(&range.var) => Role::Seq,
                    Role::Lane(_) if !innermost => Role::Par,
                    role => role,
                };
                out.push(Stmt::Loop(Box::new(Loop {
                    range,
                    role,
                    own: Own::All,
                    until: None,
                    body,
                })));
                Ok(())
            }
        }
    }

    /// One point of a clause.
    fn clause(
        &mut self,
        binding: &einlang_tir::module::Binding,
        clause: &Clause,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let Some(guard) = &clause.guard else { return self.store(binding, clause, out) };
        let parts = self.region(guard, out)?;
        let Some((Part::Scalar(covered), rest)) = parts.split_first() else {
            return Err(NotLowered::new("a guard that is no scalar"));
        };
        self.define(&clause.body.params, rest)?;
        let (stmts, ()) = self.scoped(|lower, out| lower.store(binding, clause, out))?;
        out.push(Stmt::If {
            results: Vec::new(),
            condition: Condition::Value(*covered),
            then: Block { stmts, results: Vec::new() },
            otherwise: Block::default(),
        });
        Ok(())
    }

    fn store(
        &mut self,
        binding: &einlang_tir::module::Binding,
        clause: &Clause,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let partial = self.partial.clone().filter(|partial| partial.name == binding.name);
        if let Some(partial) = partial.as_ref().filter(|partial| partial.is_complete()) {
            return self.store_partial(binding, partial, None, out);
        }
        let parts = self.region(&clause.body, out)?;
        let Some(Part::Scalar(value)) = parts.first() else {
            return Err(NotLowered::new("an element that is no scalar"));
        };
        if let Some(partial) = &partial {
            return self.store_partial(binding, partial, Some(*value), out);
        }
        let buffer = self.tensors[&binding.name];
        let at: Vec<Quasi> = binding.dims().into_iter().map(Quasi::from).collect();
        let at = self.in_memory(buffer, at)?;
        out.push(Stmt::Store { buffer, at, value: *value });
        Ok(())
    }

    /// Names for what a region is handed in.
    pub(super) fn define(&mut self, params: &[Def], parts: &[Part]) -> Result<()> {
        for (param, part) in params.iter().zip(parts) {
            match (param, part) {
                (Def::Scalar(value), Part::Scalar(operand)) => {
                    self.values.insert(value.number, *operand);
                }
                (Def::Tensor(tensor), Part::Tensor(buffer)) => {
                    self.tensors.insert(tensor.name.clone(), *buffer);
                }
                _ => return Err(NotLowered::new("a scalar in the place of a tensor")),
            }
        }
        Ok(())
    }
}

/// Whether a loop over the variable keeps to a constraint by its bounds.
fn is_bound(constraint: &Constraint, var: Var) -> bool {
    !matches!(constraint, Constraint::Mod(_)) && constraint.expr().mentions(var)
}

/// The value of a form at a point.
fn form_of(axes: &[Var], form: &Form, sign: i64) -> einlang_index::Result<Affine> {
    let terms = axes.iter().copied().zip(form.coefficients.iter().map(|c| sign * c));
    Affine::new(sign * form.offset, terms)
}

/// Adds statements under a condition on indices, in one block with those before if they have the same condition: what
/// stands together can be merged.
fn add_guarded(condition: Set, stmts: Vec<Stmt>, out: &mut Vec<Stmt>) {
    let more = guarded(condition, stmts);
    match (out.last_mut(), &more[..]) {
        (
            Some(Stmt::If { results, condition: Condition::Within(before), then, otherwise }),
            [Stmt::If { condition: Condition::Within(same), then: next, .. }],
        ) if before == same && results.is_empty() && otherwise.stmts.is_empty() => {
            then.stmts.extend(next.stmts.iter().cloned());
        }
        _ => out.extend(more),
    }
}

/// Statements under a condition on indices.
fn guarded(condition: Set, stmts: Vec<Stmt>) -> Vec<Stmt> {
    if condition.is_everything() || stmts.is_empty() {
        return stmts;
    }
    vec![Stmt::If {
        results: Vec::new(),
        condition: Condition::Within(Domain::new([], condition)),
        then: Block { stmts, results: Vec::new() },
        otherwise: Block::default(),
    }]
}
