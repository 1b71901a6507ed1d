//! What statements cost, by the bounds of their loops, and whether threads are worth it for them.
//!
//! A unit is about a third of a nanosecond; what threads cost in units is measured (`einlang_runtime::pool`).
//! Bounds that depend on an index around take its middle value.
//! Work that threads wait for each other is taken off, so that small steps stay with one thread: code
//! that is divided keeps its state in memory and asks at every turn which part is its own, so what one
//! thread runs anyway is better left as it was.

use einlang_index::{MinMax, Var};
use einlang_tir::op::Op;
use rustc_hash::FxHashMap as HashMap;

use crate::ir::{Block, BufferId, Combine, Loop, Operand, Range, Role, Stmt, each_stmt};

/// What an operation costs that is a function of its own.
pub const FUNCTION: f64 = 24.0;

/// What an exponential or a logarithm costs, which is written out.
pub const EXPONENTIAL: f64 = 12.0;

/// What waiting for each other costs where that was not measured.
pub const WAIT: u64 = 6_000;

/// What looking how far another thread is costs, for each tile of a wave.
pub const FOLLOW: f64 = 1_000.0;

/// The bytes of a vector.
const ONE_VECTOR: u32 = 64;

/// More work than anybody asks for.
pub const MOST_WORK: f64 = 1e15;

/// Whether an operation takes many instructions.
pub fn is_function(op: Op) -> bool {
    let cheap = matches!(op, Op::Sqrt | Op::Exp | Op::Log);
    (Op::Cbrt..=Op::Lgamma).contains(&op) && !cheap || op == Op::Pow
}

/// How many lanes of a loop run at once: as many elements as a vector has, of the widest that it loads.
pub fn at_once(width: u32, body: &Block) -> f64 {
    let mut bytes = 4;
    each_stmt(body, &mut |stmt| {
        if let Stmt::Load { result, .. } = stmt {
            bytes = bytes.max(result.elem.bits() / 8);
        }
    });
    f64::from(width.clamp(1, ONE_VECTOR / bytes))
}

/// Whether a block is a wave that stands for what is done where there are enough rounds.
pub fn is_for_wave(block: &Block) -> bool {
    matches!(&block.stmts[..], [Stmt::Loop(of)] if of.own.is_divided() && of.role == Role::Wave)
}

/// What the variables of bounds are, as far as that is known.
#[derive(Clone, Default, Debug)]
pub(super) struct Known {
    values: HashMap<Var, i64>,
    /// What is taken off for each barrier.
    wait: f64,
    /// What is known of a call.
    call: Option<Call>,
}

/// The numbers of a call that are known: those of its inputs, and what follows from them.
#[derive(Clone, Default, Debug)]
struct Call {
    inputs: HashMap<BufferId, i64>,
    numbers: HashMap<Operand, i64>,
}

impl Known {
    /// The sizes that are known.
    pub(super) fn of(sizes: impl Iterator<Item = (Var, i64)>, wait: f64) -> Known {
        Known { values: sizes.collect(), wait, call: None }
    }

    /// The same for a call with these numbers as inputs: nothing is taken off of its work.
    pub(super) fn of_call(
        sizes: impl Iterator<Item = (Var, i64)>,
        inputs: impl Iterator<Item = (BufferId, i64)>,
    ) -> Known {
        let call = Call { inputs: inputs.collect(), numbers: HashMap::default() };
        Known { values: sizes.collect(), wait: 0.0, call: Some(call) }
    }

    /// Takes note of the number that a statement gives.
    fn follow(&mut self, stmt: &Stmt) {
        let Some(call) = &self.call else { return };
        let (result, number) = match stmt {
            Stmt::Load { result, buffer, at, .. } if at.is_empty() => {
                (result, call.inputs.get(buffer).copied())
            }
            Stmt::Index { result, expr } => (result, self.value(&expr.clone().into())),
            Stmt::Op { result, op: Op::Cast, args, .. } => {
                (result, args.first().and_then(|arg| self.number(arg)))
            }
            _ => return,
        };
        if let (Some(call), Some(number)) = (&mut self.call, number) {
            call.numbers.insert((*result).into(), number);
        }
    }

    /// A number that is known.
    fn number(&self, operand: &Operand) -> Option<i64> {
        match operand {
            Operand::Const(number) => number.as_int().and_then(|number| number.try_into().ok()),
            Operand::Value(_) => self.call.as_ref()?.numbers.get(operand).copied(),
        }
    }

    fn value(&self, bound: &MinMax) -> Option<i64> {
        let mut known = true;
        bound.for_each_var(&mut |var| known &= self.values.contains_key(&var));
        let value = |var: Var| self.values.get(&var).copied().unwrap_or(0);
        i64::try_from(bound.eval(&value).ok().filter(|_| known)?).ok()
    }

    /// Binds a variable to the middle of two bounds.
    pub(super) fn bind(&mut self, var: Var, lo: &MinMax, hi: &MinMax) -> Option<(i64, i64)> {
        let bounds = self.value(lo).zip(self.value(hi));
        match bounds.and_then(|(lo, hi)| lo.checked_add(hi)) {
            Some(both) => self.values.insert(var, both / 2),
            None => self.values.remove(&var),
        };
        bounds
    }

    /// How many rounds a range has; its index gets the middle value.
    pub(super) fn rounds(&mut self, range: &Range) -> Option<f64> {
        let (lo, hi) = self.bind(range.var, &range.lo, &range.hi)?;
        Some(hi.saturating_sub(lo).max(0) as f64)
    }

    /// How many rounds the loop inside a loop has.
    fn rounds_inside(&mut self, of: &Loop) -> Option<f64> {
        match of.body.stmts.first() {
            Some(Stmt::Loop(inner)) => self.rounds(&inner.range),
            _ => None,
        }
    }

    /// The work of a block less what threads wait in it; nothing if that may be any number that is not
    /// negative.
    pub(super) fn work(&mut self, block: &Block) -> Option<f64> {
        let works: Vec<Option<f64>> = block.stmts.iter().map(|stmt| self.of_stmt(stmt)).collect();
        works.into_iter().sum()
    }

    pub(super) fn of_stmt(&mut self, stmt: &Stmt) -> Option<f64> {
        match stmt {
            Stmt::Op { op: Op::Exp | Op::Log, .. } => Some(EXPONENTIAL),
            Stmt::Op { op, .. } if is_function(*op) => Some(FUNCTION),
            Stmt::Barrier => Some(-self.wait),
            Stmt::Team(block) => self.work(block),
            Stmt::Bind { var, expr } => {
                self.bind(*var, expr, expr);
                Some(0.0)
            }
            Stmt::Param { var, value, .. } => {
                match self.call.as_ref().and_then(|_| self.number(value)) {
                    Some(number) => self.values.insert(*var, number),
                    None => self.values.remove(var),
                };
                Some(1.0)
            }
            Stmt::Index { .. } | Stmt::Load { .. } | Stmt::Op { op: Op::Cast, .. } => {
                self.follow(stmt);
                Some(1.0)
            }
            Stmt::Loop(of) => self.of_loop(of),
            Stmt::Fold(fold) => {
                let mut rounds = Some(1.0);
                for range in &fold.ranges {
                    let more = self.rounds(range);
                    rounds = rounds.zip(more).map(|(all, more)| all * more);
                }
                let combined = match &fold.combine {
                    Combine::Block { block, .. } => self.work(block),
                    _ => Some(0.0),
                };
                let term = self.work(&fold.body)? + combined?;
                times(rounds, term)
            }
            Stmt::If { then, .. } if is_for_wave(then) => self.work(then),
            Stmt::If { then, otherwise, .. } => Some(self.work(then)? + self.work(otherwise)?),
            _ => Some(1.0),
        }
    }

    pub(super) fn of_loop(&mut self, of: &Loop) -> Option<f64> {
        let rounds = self.rounds(&of.range);
        let at_once = match of.role {
            Role::Lane(width) => at_once(width, &of.body),
            _ => 1.0,
        };
        let each = self.work(&of.body)? / at_once;
        let follows = match of.role {
            Role::Wave if of.own.is_divided() && self.wait > 0.0 => {
                self.rounds_inside(of).map(|tiles| tiles * FOLLOW)
            }
            _ => Some(0.0),
        };
        times(rounds, each - follows?)
    }
}

/// So much so many times: what loses in each round loses however many there are.
fn times(rounds: Option<f64>, each: f64) -> Option<f64> {
    match rounds {
        Some(rounds) => Some(rounds * each),
        None if each < 0.0 => Some(-MOST_WORK),
        None => None,
    }
}
