//! `fence`: barriers where threads of a team could meet at one place of memory.
//!
//! A section is what runs between two looks at barriers: a loop that is divided, or loads that every
//! thread does. Two sections without a barrier between them may run at the same time on different
//! threads. If they touch no place in common, or only such that one thread owns for both, that is fine;
//! otherwise there must be a barrier. The same walk inserts barriers and checks those that are there.

use std::rc::Rc;

use einlang_index::{MinMax, Var};

use super::apart::{Apart, Between};
use super::memory::is_private;
use super::places::{Access, Scope};
use super::waves::is_wave;
use crate::ir::{Block, BufferId, Condition, Loop, Own, Stmt, blocks, each_stmt};

/// Sections that may run at the same time as what follows, each once.
type Pending = Vec<Rc<Section>>;

/// What runs between two looks at barriers.
struct Section {
    accesses: Vec<Access>,
    /// The loop that is divided; none if every thread does all of it.
    owner: Option<Owner>,
}

/// How the rounds of a loop are divided.
struct Owner {
    var: Var,
    /// The bounds, in terms of the rounds around.
    bounds: Option<(MinMax, MinMax)>,
    grain: i64,
    /// Whether there is one round.
    once: bool,
}

/// Walks a team.
pub(super) struct Fence<'a, 'k> {
    apart: &'a mut Apart<'k>,
    /// The buffers that the team stores to.
    stored: Vec<BufferId>,
    insert: bool,
    problems: Vec<String>,
}

/// Inserts barriers into a team; false if it is none, because too much about it is not known.
pub(super) fn insert_barriers(team: &mut Block, apart: &mut Apart<'_>, scope: &Scope) -> bool {
    let mut fence = Fence::new(team, apart, true);
    fence.block(team, &mut scope.clone(), &mut Vec::new());
    fence.problems.is_empty() && check_barriers(team, apart, scope).is_empty()
}

/// What is wrong with a team: stores of several threads, and barriers that are missing.
pub(super) fn check_barriers(team: &Block, apart: &mut Apart<'_>, scope: &Scope) -> Vec<String> {
    let mut fence = Fence::new(team, apart, false);
    fence.block(&mut team.clone(), &mut scope.clone(), &mut Vec::new());
    fence.problems
}

impl<'a, 'k> Fence<'a, 'k> {
    fn new(team: &Block, apart: &'a mut Apart<'k>, insert: bool) -> Fence<'a, 'k> {
        apart.begin();
        Fence { apart, stored: stores(team), insert, problems: Vec::new() }
    }

    fn block(&mut self, block: &mut Block, scope: &mut Scope, pending: &mut Pending) {
        let mut at = 0;
        while at < block.stmts.len() {
            let stmt = &mut block.stmts[at];
            let fine = match stmt {
                Stmt::Barrier => {
                    pending.clear();
                    true
                }
                Stmt::Alloc(buffer) | Stmt::Free(buffer) => {
                    // Giving and taking memory is done by one thread while the others wait.
                    pending.clear();
                    let found = self.apart.walk.kernel.buffer(*buffer);
                    match found.is_some_and(is_private) {
                        true => self.problem("memory of a team lies on the stack of a thread"),
                        false => true,
                    }
                }
                Stmt::Loop(of) if of.own.is_divided() => match self.owned(of, scope) {
                    Some(section) => self.meet(section, scope, pending),
                    None => self.problem("a loop is divided that cannot be"),
                },
                Stmt::Loop(of) if of.until.is_none() => self.looped(of, scope, pending),
                Stmt::If { results, .. } if results.is_empty() => {
                    self.branches(stmt, scope, pending)
                }
                other => self.shared(other, scope, pending),
            };
            if !fine && self.insert {
                block.stmts.insert(at, Stmt::Barrier);
            } else {
                at += 1;
            }
        }
    }

    /// Branches of which one is taken; false if there must be a barrier before them. That is where it is
    /// better off than in the branches, for what follows knows of it then.
    fn branches(&mut self, stmt: &mut Stmt, scope: &Scope, pending: &mut Pending) -> bool {
        let n_problems = self.problems.len();
        let (mut inside, mut after) = (stmt.clone(), pending.clone());
        self.both(&mut inside, scope, &mut after);
        let n_inside = n_barriers(&inside) - n_barriers(stmt);
        if n_inside > 0 && !pending.is_empty() {
            self.problems.truncate(n_problems);
            let mut alone = stmt.clone();
            self.both(&mut alone, scope, &mut Vec::new());
            self.problems.truncate(n_problems);
            if n_barriers(&alone) - n_barriers(stmt) < n_inside {
                pending.clear();
                return false;
            }
            (inside, after) = (stmt.clone(), pending.clone());
            self.both(&mut inside, scope, &mut after);
        }
        (*stmt, *pending) = (inside, after);
        true
    }

    fn both(&mut self, stmt: &mut Stmt, scope: &Scope, pending: &mut Pending) {
        let Stmt::If { condition, then, otherwise, .. } = stmt else { return };
        let mut also = pending.clone();
        let mut inside = scope.clone();
        if let Condition::Within(domain) = condition {
            inside.assume(domain);
        }
        self.block(then, &mut inside, pending);
        self.block(otherwise, &mut scope.clone(), &mut also);
        join(pending, also);
    }

    fn problem(&mut self, what: &str) -> bool {
        self.problems.push(what.to_owned());
        true
    }

    /// A loop that every thread runs; false if there must be a barrier before it. That is where one is better off
    /// that only the first round needs.
    fn looped(&mut self, of: &mut Loop, scope: &Scope, pending: &mut Pending) -> bool {
        let (n_problems, n_before) = (self.problems.len(), n_barriers_in(&of.body));
        let (mut inside, mut after) = (of.clone(), pending.clone());
        self.rounds(&mut inside, scope, &mut after);
        let n_inside = n_barriers_in(&inside.body);
        if n_inside > n_before && !pending.is_empty() {
            let found = self.problems.split_off(n_problems);
            let mut alone = of.clone();
            self.rounds(&mut alone, scope, &mut Vec::new());
            self.problems.truncate(n_problems);
            if n_barriers_in(&alone.body) < n_inside {
                pending.clear();
                return false;
            }
            self.problems.extend(found);
        }
        (*of, *pending) = (inside, after);
        true
    }

    /// The rounds of a loop. What follows a round is another round or what follows the loop.
    fn rounds(&mut self, of: &mut Loop, scope: &Scope, pending: &mut Pending) {
        let before = pending.clone();
        self.round(of, scope, pending);
        let n_problems = self.problems.len();
        let insert = std::mem::replace(&mut self.insert, false);
        self.round(&mut of.clone(), scope, &mut pending.clone());
        self.insert = insert;
        if self.insert && self.problems.len() > n_problems {
            self.problems.truncate(n_problems);
            of.body.stmts.push(Stmt::Barrier);
            pending.clear();
        }
        join(pending, before);
    }

    fn round(&mut self, of: &mut Loop, scope: &Scope, pending: &mut Pending) {
        let mut inside = scope.clone();
        self.apart.walk.bind_range(&of.range, &mut inside);
        inside.loops.push(of.range.var);
        self.block(&mut of.body, &mut inside, pending);
    }

    /// A loop whose rounds are divided.
    fn owned(&mut self, of: &Loop, scope: &Scope) -> Option<Section> {
        let (var, mut accesses) = self.apart.walk.rounds(of, scope)?;
        let (once, wave) = (is_once(of), of.own.is_divided() && is_wave(of));
        if !once && !wave && !self.apart.are_rounds_apart(&accesses, var, &scope.bound) {
            return None;
        }
        accesses.retain(|access| self.stored.contains(&access.buffer));
        // Nobody knows which thread runs which round of a wave, or of those that are taken.
        let bounds = scope.resolved(&of.range.lo).zip(scope.resolved(&of.range.hi));
        let bounds = bounds.filter(|_| !wave && of.own == Own::Part);
        let owner = Owner { var, bounds, grain: of.role.grain(), once };
        Some(Section { accesses, owner: Some(owner) })
    }

    /// A statement that every thread runs.
    fn shared(&mut self, stmt: &Stmt, scope: &mut Scope, pending: &mut Pending) -> bool {
        let mut accesses = Vec::new();
        if self.apart.walk.stmt(stmt, scope, &mut accesses).is_none() {
            return self.problem("a statement is not for several threads");
        }
        accesses.retain(|access| self.stored.contains(&access.buffer));
        if accesses.iter().any(|access| access.writes) {
            return self.problem("every thread stores to one place");
        }
        match accesses.is_empty() {
            true => true,
            false => self.meet(Section { accesses, owner: None }, scope, pending),
        }
    }

    /// Whether a section may run beside those that are not over; if not, they are over then.
    fn meet(&mut self, section: Section, scope: &Scope, pending: &mut Pending) -> bool {
        if self.conflicts(pending, &section, scope) {
            pending.clear();
            if !self.insert {
                self.problem("a barrier is missing");
                pending.push(Rc::new(section));
            }
            return false;
        }
        pending.push(Rc::new(section));
        true
    }

    fn conflicts(&mut self, pending: &[Rc<Section>], next: &Section, scope: &Scope) -> bool {
        pending.iter().any(|before| {
            let distinct = match (&before.owner, &next.owner) {
                (None, None) => return false,
                (Some(a), Some(b)) if a.once && b.once => return false,
                (Some(a), Some(b)) if a.is_as(b) => Some((a.var, b.var)),
                _ => None,
            };
            let between = Between { common: &scope.bound, distinct };
            before
                .accesses
                .iter()
                .any(|a| next.accesses.iter().any(|b| !self.apart.are_apart(a, b, between)))
        })
    }
}

impl Owner {
    /// Whether every thread owns the same rounds of both loops: the bounds are equal in the same rounds of
    /// the loops around.
    fn is_as(&self, other: &Owner) -> bool {
        self.bounds.is_some() && (&self.bounds, self.grain) == (&other.bounds, other.grain)
    }
}

/// How many barriers a statement has.
fn n_barriers(stmt: &Stmt) -> usize {
    blocks(stmt).into_iter().map(n_barriers_in).sum()
}

/// How many barriers a block has.
fn n_barriers_in(block: &Block) -> usize {
    let mut n = 0;
    each_stmt(block, &mut |stmt| n += usize::from(matches!(stmt, Stmt::Barrier)));
    n
}

/// Adds what is pending on another way.
fn join(pending: &mut Pending, other: Pending) {
    for section in other {
        if !pending.iter().any(|known| Rc::ptr_eq(known, &section)) {
            pending.push(section);
        }
    }
}

/// Whether a loop has one round, which is the first thread's.
fn is_once(of: &Loop) -> bool {
    (of.range.lo.as_constant(), of.range.hi.as_constant()) == (Some(0), Some(1))
}

/// The buffers that a block stores to.
fn stores(block: &Block) -> Vec<BufferId> {
    let mut found = Vec::new();
    each_stmt(block, &mut |stmt| {
        if let Stmt::Store { buffer, .. } = stmt
            && !found.contains(buffer)
        {
            found.push(*buffer);
        }
    });
    found
}
