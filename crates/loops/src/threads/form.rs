//! `form_teams`: runs of statements that threads run together, their free loops divided.
//!
//! A loop is divided if its rounds may run in any order and no two of them touch a place in common.
//! A loop that is not, but has such loops in it, is run by every thread; stores that lie beside them are
//! left to the first thread, as a loop of one round. What stands between two such loops and only moves
//! memory, binds indices or computes scalars joins them, so that a kernel is one team if it can be.

use einlang_index::{Facts, MinMax, Quasi, Var};
use rustc_hash::FxHashMap as HashMap;

use super::apart::Apart;
use super::fence::insert_barriers;
use super::memory::is_private;
use super::places::Scope;
use super::taken::let_take;
use super::waves::{is_wave, wave_or};
use super::work::is_small;
use super::worth::{Around, Left};
use crate::improve::may_go_together;
use crate::ir::{
    Block, BufferId, Condition, Layout, Loop, Own, Range, Role, Stmt, Uses, blocks, each_stmt,
};

/// Forms the teams of a kernel.
pub(super) struct Form<'k> {
    pub(super) apart: Apart<'k>,
    /// What a team knows before it begins.
    pub(super) scope: Scope,
    /// The index of loops with one round.
    pub(super) once: Var,
    /// Threads are not worth it for less than that.
    pub(super) least_work: u64,
    /// What is known where a team is formed.
    pub(super) around: Around,
    /// What is left to one thread because of that.
    pub(super) left: Vec<Left>,
}

/// A statement of a team, and whether there is something to divide in it.
type Shared = Option<(Stmt, bool)>;

impl Form<'_> {
    /// Forms teams in a block that one thread runs; `last` tells where variables are used last, and
    /// nothing about them is known without it.
    pub(super) fn block(&mut self, block: &Block, last: Option<&HashMap<Var, usize>>) -> Block {
        let mut out = Vec::new();
        let mut team = Team::default();
        for (at, stmt) in block.stmts.iter().enumerate() {
            self.apart.begin();
            let shared = match stmt {
                // Code for other sizes has teams of its own.
                Stmt::If { otherwise, .. } if !otherwise.stmts.is_empty() => None,
                _ => self.shared(stmt, &mut self.scope.clone()),
            };
            match shared {
                Some((shared, true)) => team.take(shared, stmt.clone()),
                Some((stmt, false)) if is_glue(&stmt) && !team.stmts.is_empty() => {
                    team.loose.push(stmt);
                }
                _ => {
                    self.close(&mut team, &mut out, &|var| is_used(last, var, at));
                    out.push(self.alone(stmt));
                    self.around.pass(stmt);
                }
            }
        }
        self.close(&mut team, &mut out, &|var| is_used(last, var, block.stmts.len()));
        Block { stmts: out, results: block.results.clone() }
    }

    /// Ends a team; what is loose at its end stays outside, and indices that are used later are bound
    /// again.
    fn close(&mut self, team: &mut Team, out: &mut Vec<Stmt>, is_used: &dyn Fn(Var) -> bool) {
        let team = std::mem::take(team);
        if !team.stmts.is_empty() {
            let mut block = Block { stmts: team.stmts, results: Vec::new() };
            match insert_barriers(&mut block, &mut self.apart, &self.scope) {
                true => {
                    let around = &self.around;
                    // Where everything is divided, sizes are no reason for anything.
                    let work = |loops: &[Range], of: &Loop| match self.least_work {
                        0 => None,
                        _ => around.work_of_loop(loops, of),
                    };
                    let_take(&mut block, &mut self.apart, &self.scope, &work);
                    self.settle(block, &team.as_they_were, out, is_used);
                }
                false => {
                    out.extend(team.as_they_were);
                    out.extend(team.loose);
                    return;
                }
            }
        }
        team.as_they_were.iter().chain(&team.loose).for_each(|stmt| self.around.pass(stmt));
        out.extend(team.loose);
    }

    /// Puts out a team, its parts that threads are worth it for, or what it was before.
    fn settle(
        &mut self,
        block: Block,
        as_they_were: &[Stmt],
        out: &mut Vec<Stmt>,
        is_used: &dyn Fn(Var) -> bool,
    ) {
        let judged = match self.least_work {
            0 => Ok(()),
            least => self.around.judge(&block, least),
        };
        let Err(left) = judged else {
            return put_team(block.stmts, out, is_used);
        };
        let depth = self.around.depth();
        let mut as_they_were = as_they_were.iter();
        let mut part = Vec::new();
        for (stmt, divided) in block.stmts.into_iter().zip(left.divided()) {
            let is_barrier = matches!(stmt, Stmt::Barrier);
            let Some(as_it_was) =
                (if is_barrier { Some(&Stmt::Barrier) } else { as_they_were.next() })
            else {
                break;
            };
            if *divided {
                part.push(stmt);
            } else {
                put_team(std::mem::take(&mut part), out, &|_| true);
                if !is_barrier {
                    out.push(self.alone(as_it_was));
                }
            }
            self.around.pass(as_it_was);
        }
        put_team(part, out, is_used);
        self.around.back(depth);
        self.left.push(left);
    }

    /// A statement outside of teams, with teams inside.
    fn alone(&mut self, stmt: &Stmt) -> Stmt {
        let depth = self.around.depth();
        let stmt = match stmt {
            Stmt::Loop(of) => {
                self.around.enter(&of.range);
                let body = self.inside(&of.body);
                Stmt::Loop(Box::new(Loop { body, ..(**of).clone() }))
            }
            Stmt::If { results, condition, then, otherwise } => Stmt::If {
                results: results.clone(),
                condition: condition.clone(),
                then: self.inside(then),
                otherwise: self.inside(otherwise),
            },
            other => other.clone(),
        };
        self.around.back(depth);
        stmt
    }

    /// A block outside of teams, with teams inside if it may have enough to do.
    fn inside(&mut self, block: &Block) -> Block {
        if self.around.is_small(block, self.least_work) {
            return block.clone();
        }
        let depth = self.around.depth();
        let block = self.block(block, None);
        self.around.back(depth);
        block
    }

    /// A statement as threads run it together; nothing if they cannot.
    fn shared(&mut self, stmt: &Stmt, scope: &mut Scope) -> Shared {
        match stmt {
            Stmt::Loop(of) if of.until.is_none() => self.looped(of, scope),
            Stmt::If { results, condition, then, otherwise } if results.is_empty() => {
                let mut inside = scope.clone();
                if let Condition::Within(domain) = condition {
                    inside.assume(domain);
                }
                let (then_, a) = self.body(then, &mut inside)?;
                let (otherwise_, b) = self.body(otherwise, &mut scope.clone())?;
                if !(a || b) {
                    return self.left_to_one(stmt, scope);
                }
                let condition = condition.clone();
                let (then, otherwise) = (then_, otherwise_);
                Some((Stmt::If { results: Vec::new(), condition, then, otherwise }, true))
            }
            Stmt::Alloc(buffer) | Stmt::Free(buffer) => {
                self.is_shared(*buffer, scope).then(|| (stmt.clone(), false))
            }
            _ => self.left_to_one(stmt, scope),
        }
    }

    fn body(&mut self, block: &Block, scope: &mut Scope) -> Option<(Block, bool)> {
        let (mut stmts, mut any) = (Vec::with_capacity(block.stmts.len()), false);
        for stmt in &block.stmts {
            let (stmt, divided) = self.shared(stmt, scope)?;
            any |= divided;
            stmts.push(stmt);
        }
        block.results.is_empty().then_some((Block { stmts, results: Vec::new() }, any))
    }

    fn looped(&mut self, of: &Loop, scope: &mut Scope) -> Shared {
        let as_it_is = Stmt::Loop(Box::new(of.clone()));
        // Rounds that go together are one thread's; those inside may be divided.
        let is_free = of.role.is_free() && !may_go_together(of);
        let is_whole = is_free && !is_small(of, self.least_work / 4) && !is_lone(of);
        let is_outer = is_whole && !is_band(of, scope) && !self.is_for_one_thread(of);
        if is_outer && self.is_divisible(of, scope) {
            return Some((Stmt::Loop(Box::new(Loop { own: Own::Part, ..of.clone() })), true));
        }
        let holds = |wanted: fn(Role) -> bool| {
            let mut any = false;
            each_stmt(&of.body, &mut |stmt| {
                any |= matches!(stmt, Stmt::Loop(of) if wanted(of.role));
            });
            any
        };
        if is_wave(of) && !holds(|role| role == Role::Par) {
            return self.wave_or_one(of, scope);
        }
        if holds(Role::is_free) {
            let mut inside = scope.clone();
            self.apart.walk.bind_range(&of.range, &mut inside);
            inside.loops.push(of.range.var);
            if let Some((body, true)) = self.body(&of.body, &mut inside) {
                let role = if of.role == Role::Wave { Role::Seq } else { of.role };
                let divided = Stmt::Loop(Box::new(Loop { body, role, ..of.clone() }));
                let wave = is_wave(of).then(|| wave_or(of, divided.clone())).flatten();
                return Some((wave.unwrap_or(divided), true));
            }
        }
        self.left_to_one(&as_it_is, scope)
    }

    /// A wave, which is left to one thread where it has few rounds: the lanes of its steps are too few for
    /// several.
    fn wave_or_one(&mut self, of: &Loop, scope: &mut Scope) -> Shared {
        let alone = Stmt::Loop(Box::new(Loop { role: Role::Seq, ..of.clone() }));
        let (alone, divided) = self.left_to_one(&alone, scope)?;
        Some(wave_or(of, alone.clone()).map_or((alone, divided), |wave| (wave, true)))
    }

    /// Whether a loop has one round with the sizes that are known, and loops inside that may have more: a
    /// small result of a long contraction is one block of rows.
    fn is_for_one_thread(&self, of: &Loop) -> bool {
        let mut has_free = false;
        each_stmt(&of.body, &mut |stmt| {
            has_free |= matches!(stmt, Stmt::Loop(of) if of.role == Role::Par);
        });
        has_free && self.around.n_rounds(&of.range) == Some(1.0)
    }

    /// Whether no two rounds of a loop touch a place in common that one of them stores to.
    fn is_divisible(&mut self, of: &Loop, scope: &Scope) -> bool {
        let Some((var, accesses)) = self.apart.walk.rounds(of, scope) else { return false };
        self.apart.are_rounds_apart(&accesses, var, &scope.bound)
    }

    /// A statement that every thread runs if it only loads and computes, and one thread otherwise.
    fn left_to_one(&mut self, stmt: &Stmt, scope: &mut Scope) -> Shared {
        let mut accesses = Vec::new();
        let mut holds_memory = false;
        for block in blocks(stmt) {
            each_stmt(block, &mut |stmt| holds_memory |= matches!(stmt, Stmt::Alloc(_)));
        }
        let outside = scope.clone();
        self.apart.walk.stmt(stmt, scope, &mut accesses)?;
        if !holds_memory && accesses.iter().all(|access| !access.writes) {
            return Some((stmt.clone(), false));
        }
        // Nothing that is defined there is seen outside.
        let is_closed = match stmt {
            Stmt::Store { .. } | Stmt::Loop(_) => true,
            Stmt::If { results, .. } => results.is_empty(),
            _ => false,
        };
        let range = Range {
            var: self.once,
            lo: Quasi::from(0).into(),
            hi: Quasi::from(1).into(),
            down: false,
        };
        let body = Block { stmts: vec![stmt.clone()], results: Vec::new() };
        let once = Loop { range, role: Role::Seq, own: Own::Part, until: None, body };
        // A fold that goes on in a loop around would be found by every thread.
        self.apart.walk.rounds(&once, &outside).filter(|_| is_closed)?;
        Some((Stmt::Loop(Box::new(once)), false))
    }

    /// Whether the memory of a buffer can be given by one thread for all, and looked up afterwards.
    fn is_shared(&self, buffer: BufferId, scope: &Scope) -> bool {
        let Some(buffer) = self.apart.walk.kernel.buffer(buffer) else { return false };
        !is_private(buffer)
            && buffer.dims.iter().all(|dim| {
                dim.layout != Layout::Open && scope.is_fixed(&MinMax::Value(dim.extent.clone()))
            })
    }
}

/// A team that is being formed.
#[derive(Default)]
struct Team {
    stmts: Vec<Stmt>,
    /// The same for one thread.
    as_they_were: Vec<Stmt>,
    /// What follows, and belongs to the team if another loop does.
    loose: Vec<Stmt>,
}

impl Team {
    fn take(&mut self, stmt: Stmt, as_it_was: Stmt) {
        self.as_they_were.extend(self.loose.iter().cloned());
        self.as_they_were.push(as_it_was);
        self.stmts.append(&mut self.loose);
        self.stmts.push(stmt);
    }
}

/// Puts out a team, without barriers at its ends; indices that are used later are bound again.
fn put_team(mut stmts: Vec<Stmt>, out: &mut Vec<Stmt>, is_used: &dyn Fn(Var) -> bool) {
    let is_inner = |stmt: &Stmt| !matches!(stmt, Stmt::Barrier);
    stmts.truncate(stmts.iter().rposition(is_inner).map_or(0, |last| last + 1));
    stmts.drain(..stmts.iter().position(is_inner).unwrap_or(0));
    let binds = stmts.iter().filter(|stmt| matches!(stmt, Stmt::Bind { .. })).cloned();
    let binds: Vec<Stmt> = binds.collect();
    if !stmts.is_empty() {
        out.push(Stmt::Team(Block { stmts, results: Vec::new() }));
    }
    if binds.iter().any(|stmt| matches!(stmt, Stmt::Bind { var, .. } if is_used(*var))) {
        out.extend(binds);
    }
}

/// Whether all rounds of a loop stay with one thread, however many there are: they are lanes of one vector.
fn is_lone(of: &Loop) -> bool {
    matches!(of.role, Role::Lane(width) if of.range.has_at_most(width))
}

/// The most rounds of a band.
const BAND: i64 = 8;

/// Whether a loop is a narrow band that moves with loops around it, with a free loop inside that does not
/// move. Its rounds would wander from thread to thread, and with them all that they left in caches; parts
/// of the loop inside stay where they are.
fn is_band(of: &Loop, scope: &Scope) -> bool {
    let is_fixed = |range: &Range| scope.is_fixed(&range.lo) && scope.is_fixed(&range.hi);
    let is_narrow = || {
        let far = of.range.lo.add_constant(BAND);
        far.is_ok_and(|far| of.range.hi.at_most(&far, &Facts::default()))
    };
    let [Stmt::Loop(inner)] = &of.body.stmts[..] else { return false };
    inner.role.is_free() && !is_fixed(&of.range) && is_fixed(&inner.range) && is_narrow()
}

/// Whether a statement may stand between loops of a team.
fn is_glue(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Alloc(_) | Stmt::Free(_) | Stmt::Bind { .. })
}

/// Whether a variable may be used from a statement on.
fn is_used(last: Option<&HashMap<Var, usize>>, var: Var, from: usize) -> bool {
    last.is_none_or(|last| last.get(&var).is_some_and(|last| *last >= from))
}

/// Where each variable of a block is used last.
pub(super) fn last_uses(block: &Block) -> HashMap<Var, usize> {
    let mut last = HashMap::default();
    for (at, stmt) in block.stmts.iter().enumerate() {
        let mut uses = Uses::default();
        uses.stmt(stmt);
        last.extend(uses.vars.into_iter().map(|var| (var, at)));
    }
    last
}
