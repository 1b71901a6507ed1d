//! Statements of the loop IR.

use einlang_index::{Domain, MinMax, Quasi, Var};
use einlang_tir::constant::Const;
use einlang_tir::op::Op;
use einlang_tir::region::Value;
use einlang_tir::types::{Elem, Ident};

use super::{BufferId, SiteId};

/// Statements and what they yield.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// The statements, in order.
    pub stmts: Vec<Stmt>,
    /// What the surroundings get.
    pub results: Vec<Operand>,
}

/// A scalar operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Operand {
    /// A constant.
    Const(Const),
    /// A value.
    Value(Value),
}

impl Operand {
    /// The type.
    pub fn elem(&self) -> Elem {
        match self {
            Operand::Const(constant) => constant.elem(),
            Operand::Value(value) => value.elem,
        }
    }
}

impl From<Value> for Operand {
    fn from(value: Value) -> Operand {
        Operand::Value(value)
    }
}

impl From<Const> for Operand {
    fn from(constant: Const) -> Operand {
        Operand::Const(constant)
    }
}

/// One subscript of a load.
#[derive(Clone, PartialEq, Debug)]
pub enum Subscript {
    /// An index expression.
    Index(Quasi),
    /// An integer that was computed.
    Value(Operand),
}

/// Why a load is in bounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// It was proved to be.
    Proved,
    /// It was proved to be, and the next plane along the first dimension is wanted soon: in each of so
    /// many rounds of the loop around, one part of it may be fetched into a cache meanwhile.
    Ahead(u32),
    /// It is tested, and traps at this site otherwise. A buffer with marks traps as well where
    /// nothing was stored, if the flag is set.
    Site(SiteId, bool),
}

/// A truth value that decides what is done.
#[derive(Clone, Debug)]
pub enum Condition {
    /// A scalar.
    Value(Operand),
    /// The indices and symbols lie in a domain without dimensions of its own.
    Within(Domain),
}

/// Who runs the rounds of a loop.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Role {
    /// One after the other.
    #[default]
    Seq,
    /// In any order.
    Par,
    /// In any order, so many at a time as lanes of vectors; what is left at the end is masked.
    Lane(u32),
    /// In any order, so many at a time, written out.
    Unroll(u32),
    /// One after the other, each for so many terms of the sums inside, which go on where the round before
    /// left them; `block_terms` makes as many rounds as there are blocks of terms, or a sequence of the loop.
    Terms(u32),
    /// One after the other, but the threads of a team may run several at once: a round of the loop inside
    /// begins when the round before has ended all of its own up to there.
    Wave,
}

impl Role {
    /// Whether the rounds may run in any order.
    pub fn is_free(self) -> bool {
        !matches!(self, Role::Seq | Role::Terms(_) | Role::Wave)
    }

    /// How many rounds stay with one thread where a loop is divided, counted from the first.
    pub fn grain(self) -> i64 {
        match self {
            Role::Lane(width) => i64::from(width),
            _ => 1,
        }
    }
}

/// The values of an index: `lo..hi`, downwards if `down`.
#[derive(Clone, PartialEq, Debug)]
pub struct Range {
    /// The index.
    pub var: Var,
    /// The smallest value.
    pub lo: MinMax,
    /// One more than the largest.
    pub hi: MinMax,
    /// Whether the largest comes first.
    pub down: bool,
}

impl Range {
    /// Whether it is known to have at most so many values.
    pub fn has_at_most(&self, n: u32) -> bool {
        let ends = match &self.hi {
            MinMax::Min(list) => list.as_slice(),
            hi => std::slice::from_ref(hi),
        };
        let starts = match &self.lo {
            MinMax::Max(list) => list.as_slice(),
            lo => std::slice::from_ref(lo),
        };
        let is_near = |start: &MinMax, end: &MinMax| {
            let length = end.sub(start).ok().and_then(|length| length.as_constant());
            length.is_some_and(|length| length <= i64::from(n))
        };
        ends.iter().any(|end| starts.iter().any(|start| is_near(start, end)))
    }
}

/// Which rounds of a loop a thread of a team runs.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Own {
    /// All of them.
    #[default]
    All,
    /// A part that is its own, the same wherever a loop has the same bounds.
    Part,
    /// Those that it takes while nobody else has.
    Taken,
}

impl Own {
    /// Whether every round is run by one thread only.
    pub fn is_divided(self) -> bool {
        self != Own::All
    }
}

/// A loop.
#[derive(Clone, Debug)]
pub struct Loop {
    /// The index and its values.
    pub range: Range,
    /// Who runs the rounds.
    pub role: Role,
    /// Which rounds each thread of the team around runs.
    pub own: Own,
    /// What ends it early.
    pub until: Option<UntilLoop>,
    /// One round.
    pub body: Block,
}

impl Stmt {
    /// A loop whose rounds follow each other, of some statements that give nothing.
    pub fn rounds(range: Range, stmts: Vec<Stmt>) -> Stmt {
        let body = Block { stmts, results: Vec::new() };
        Stmt::Loop(Box::new(Loop { range, role: Role::Seq, own: Own::All, until: None, body }))
    }

    /// Statements under a condition.
    pub fn when(condition: Condition, stmts: Vec<Stmt>) -> Stmt {
        let then = Block { stmts, results: Vec::new() };
        Stmt::If { results: Vec::new(), condition, then, otherwise: Block::default() }
    }
}

/// The end of an open axis.
#[derive(Clone, Debug)]
pub struct UntilLoop {
    /// The extent: one more than the index during a round, and the number of rounds afterwards.
    pub extent: Var,
    /// The first round after which the condition is asked for; before, there are only bases.
    pub first: MinMax,
    /// Yields whether to stop, after a round.
    pub condition: Block,
    /// Whether the condition ended the loop, once it has ended.
    pub converged: Value,
    /// The buffers that grow.
    pub buffers: Vec<BufferId>,
}

/// A reduction. Terms are combined one after the other in index order, or in pairs by position.
#[derive(Clone, Debug)]
pub struct Fold {
    /// The state when it ends.
    pub results: Vec<Value>,
    /// The indices, outermost first.
    pub ranges: Vec<Range>,
    /// What a point must satisfy besides to be one of the domain.
    pub within: Option<Domain>,
    /// Yields whether the point counts.
    pub guard: Option<Block>,
    /// Yields the term.
    pub body: Block,
    /// How states are combined.
    pub combine: Combine,
    /// Where it starts.
    pub start: FoldStart,
    /// The loop around in whose rounds it goes on: the terms of a round are those of the rounds
    /// before and then some, so that every term is computed once.
    pub resume: Option<Var>,
    /// Which points can count at all.
    pub key: Option<Key>,
}

/// The points of a fold that have a key. The key depends on nothing that changes while the kernel
/// runs, so points are sorted by it once.
#[derive(Clone, Debug)]
pub struct Key {
    /// Yields the key of a point.
    pub block: Block,
    /// The key whose points count.
    pub bin: Operand,
}

/// How two states become one.
#[derive(Clone, Debug)]
pub enum Combine {
    /// By an operation on a scalar, one term after the other.
    Op(Op),
    /// By an operation on a scalar, in pairs by position: the association of the extent.
    Pairs(Op),
    /// By a block over the state and the term, which need not be of the same type. It sees the
    /// indices of the fold.
    Block {
        /// The state so far.
        left: Vec<Value>,
        /// The term.
        right: Vec<Value>,
        /// Yields the new state.
        block: Block,
    },
}

/// The first state.
#[derive(Clone, Debug)]
pub enum FoldStart {
    /// A state that is combined once, on the left.
    From(Vec<Operand>),
    /// The first term; nothing to combine traps.
    First(SiteId),
}

/// A statement.
#[derive(Clone, Debug)]
pub enum Stmt {
    /// A scalar operation.
    Op {
        /// What it gives.
        result: Value,
        /// The operation.
        op: Op,
        /// Its operands.
        args: Vec<Operand>,
        /// Where it traps, if it can.
        site: Option<SiteId>,
    },
    /// The value of an index expression.
    Index {
        /// What it gives.
        result: Value,
        /// The expression.
        expr: Quasi,
    },
    /// From here on the variable has the value of the expression.
    Bind {
        /// The variable.
        var: Var,
        /// Its value.
        expr: MinMax,
    },
    /// From here on the variable is the integer.
    Param {
        /// The variable.
        var: Var,
        /// Its value.
        value: Operand,
        /// Where it traps if the integer is larger than any extent.
        site: SiteId,
    },
    /// One element of a buffer.
    Load {
        /// What it gives.
        result: Value,
        /// The buffer.
        buffer: BufferId,
        /// One subscript per dimension.
        at: Vec<Subscript>,
        /// Why it is in bounds.
        access: Access,
    },
    /// Whether a point lies in the box and, with marks, was stored.
    Probe {
        /// What it gives.
        result: Value,
        /// The buffer.
        buffer: BufferId,
        /// One subscript per dimension.
        at: Vec<Subscript>,
        /// Whether marks count.
        marked: bool,
    },
    /// Stores an element.
    Store {
        /// The buffer.
        buffer: BufferId,
        /// One subscript per dimension.
        at: Vec<Quasi>,
        /// The element.
        value: Operand,
    },
    /// One of two blocks.
    If {
        /// What the blocks yield.
        results: Vec<Value>,
        /// Which.
        condition: Condition,
        /// Executed when it holds.
        then: Block,
        /// Executed when it does not.
        otherwise: Block,
    },
    /// A loop.
    Loop(Box<Loop>),
    /// A reduction.
    Fold(Box<Fold>),
    /// Traps unless the shape of an input is what its dimensions say.
    CheckShape(BufferId, SiteId),
    /// Gives a buffer its memory, all zero, for the extents of now.
    Alloc(BufferId),
    /// Takes the memory of a buffer away.
    Free(BufferId),
    /// Makes a buffer equal to another one of the same type.
    Copy {
        /// The buffer that is changed.
        to: BufferId,
        /// The one that is copied.
        from: BufferId,
    },
    /// Calls a function of the program around, scalars in and scalars out.
    Call {
        /// What it gives.
        results: Vec<Value>,
        /// The function.
        function: Ident,
        /// Its operands.
        args: Vec<Operand>,
        /// Where it was written.
        site: SiteId,
    },
    /// Traps unless the condition holds.
    Assert {
        /// The condition.
        condition: Condition,
        /// Where.
        site: SiteId,
    },
    /// Traps.
    Trap(SiteId),
    /// Statements that all threads of a team run, each by itself: they take the same branches, and
    /// divide the rounds of loops that are [`Loop::own`] among them.
    Team(Block),
    /// The threads of a team wait here for each other.
    Barrier,
}

#[cfg(test)]
mod tests {
    use einlang_index::Vars;

    use super::*;

    #[test]
    fn tiles_have_at_most_so_many_rounds() {
        let mut vars = Vars::new();
        let var = vars.index("j");
        let mut bound = |text: &str| MinMax::from(Quasi::parse(text, &mut vars).expect("it reads"));
        let min = |list: [MinMax; 2]| MinMax::min_of(list).expect("it is small");
        let (first, next, end) = (bound("32*T"), bound("32*T + 32"), bound("n"));
        let range = |lo: &MinMax, hi: MinMax| Range { var, lo: lo.clone(), hi, down: false };
        let tile = range(&first, min([next.clone(), end.clone()]));
        assert!(tile.has_at_most(32) && !tile.has_at_most(16));
        assert!(!range(&first, end.clone()).has_at_most(32));
        let later = MinMax::max_of([first, bound("m")]).expect("it is small");
        assert!(range(&later, min([next, end])).has_at_most(32));
    }
}
