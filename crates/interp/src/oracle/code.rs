//! A module with its names resolved: values, indices and tensors are slots.
//!
//! The evaluation of one point, of one call or of an `until` condition is an *activation*; its
//! slots are numbered from 0. The clauses of a local group continue the numbering of the region
//! around them, because they see what it has defined: an activation of such a clause starts with a
//! copy of those slots. Nothing else is changed: regions keep their nesting and order.

use std::collections::HashMap;

use einlang_tir::module::Relation;
use einlang_tir::op::{Op, Trap};
use einlang_tir::order::Order;
use einlang_tir::types::{Elem, Ident, Loc};

use super::grouped::GroupedCode;
use super::index::{DomainCode, IndexCode};

/// A position in [`Code::regions`].
pub(super) type RegionId = usize;

/// A scalar operand.
#[derive(Clone, Copy, Debug)]
pub(super) enum Operand {
    Const(u64),
    Slot(u32),
}

/// A tensor.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum TensorRef {
    /// An input or a binding of the module, by its number.
    Global(u32),
    /// A parameter, a result or a local binding.
    Slot(u32),
}

/// An operand of any kind.
#[derive(Clone, Copy, Debug)]
pub(super) enum ArgCode {
    Scalar(Operand),
    Tensor(TensorRef),
}

/// Where something is put.
#[derive(Clone, Copy, Debug)]
pub(super) enum Dest {
    Scalar(u32),
    Tensor(u32),
}

/// How many slots an activation has.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub(super) struct Sizes {
    pub(super) vals: u32,
    pub(super) vars: u32,
    pub(super) tensors: u32,
}

impl Sizes {
    pub(super) fn max(self, other: Sizes) -> Sizes {
        Sizes {
            vals: self.vals.max(other.vals),
            vars: self.vars.max(other.vars),
            tensors: self.tensors.max(other.tensors),
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct RegionCode {
    pub(super) params: Vec<Dest>,
    pub(super) insts: Vec<InstCode>,
    pub(super) results: Vec<ArgCode>,
}

#[derive(Debug)]
pub(super) struct InstCode {
    pub(super) dests: Vec<Dest>,
    pub(super) kind: Kind,
    pub(super) loc: Loc,
}

#[derive(Debug)]
pub(super) enum Kind {
    Op { op: Op, elems: [Elem; 2], result: Elem, args: [Operand; 3] },
    Index { expr: IndexCode, elem: Elem },
    Read(ReadCode),
    If { condition: Operand, then: RegionId, otherwise: RegionId },
    Switch { on: Operand, elem: Elem, cases: HashMap<i64, RegionId>, otherwise: RegionId },
    Reduce(Box<ReduceCode>),
    Group(usize),
    Call { function: usize, args: Vec<ArgCode> },
    HostCall { function: Ident, args: Vec<(Operand, Elem)>, elems: Vec<Elem> },
    Deriv(String),
    Param { slot: u32, value: Operand, elem: Elem },
    Converged(OpenRef),
    Assert { condition: Operand, message: Vec<MessageCode> },
    Trap { trap: Trap, message: Vec<MessageCode> },
}

/// A piece of a message: text, or a scalar with its type and format.
#[derive(Debug)]
pub(super) enum MessageCode {
    Text(String),
    Value(Operand, Elem, String),
}

/// The group whose run-time extent is meant.
#[derive(Clone, Copy, Debug)]
pub(super) enum OpenRef {
    /// A group of the module.
    Global(usize),
    /// The group of a local tensor.
    Slot(u32),
}

#[derive(Debug)]
pub(super) struct ReadCode {
    pub(super) tensor: TensorRef,
    pub(super) at: Vec<SubscriptCode>,
    pub(super) default: Option<RegionId>,
    pub(super) proved: bool,
    /// The tensor belongs to a group around the read.
    pub(super) own: bool,
    /// A subscript is data.
    pub(super) by_data: bool,
}

#[derive(Debug)]
pub(super) enum SubscriptCode {
    Index(IndexCode),
    Value(Operand, Elem),
}

#[derive(Debug)]
pub(super) struct ReduceCode {
    pub(super) domain: DomainCode,
    pub(super) guard: Option<RegionId>,
    pub(super) body: RegionId,
    pub(super) combine: CombineCode,
    pub(super) start: StartCode,
    pub(super) grouped: Option<GroupedCode>,
}

#[derive(Debug)]
pub(super) enum CombineCode {
    Op {
        op: Op,
        elem: Elem,
        /// Terms are combined in pairs, pairs of pairs and so on, by position.
        pairwise: bool,
    },
    Region(RegionId),
}

#[derive(Debug)]
pub(super) enum StartCode {
    /// Combined once, on the left.
    From(Vec<ArgCode>),
    /// The first term.
    First,
}

#[derive(Debug)]
pub(super) struct GroupCode {
    pub(super) bindings: Vec<BindingCode>,
    pub(super) until: Option<UntilCode>,
    /// What a local group's clauses see of the activation around it, its own tensors excluded.
    pub(super) outer: Sizes,
    /// The order that data-dependent self-reads are held to.
    pub(super) order: Option<Order>,
    /// Whether the group is one of the module's.
    pub(super) is_global: bool,
}

#[derive(Debug)]
pub(super) struct BindingCode {
    pub(super) name: Ident,
    pub(super) elem: Elem,
    pub(super) axes: Vec<AxisCode>,
    pub(super) clauses: Vec<ClauseCode>,
    pub(super) zero_fill: bool,
    pub(super) sizes: Sizes,
    pub(super) loc: Loc,
}

#[derive(Debug)]
pub(super) struct AxisCode {
    pub(super) name: String,
    pub(super) coord: Option<Ident>,
    pub(super) slot: u32,
    pub(super) extent: IndexCode,
    /// The axis ends where the `until` of its group says.
    pub(super) is_open: bool,
}

#[derive(Debug)]
pub(super) struct ClauseCode {
    pub(super) domain: DomainCode,
    pub(super) guard: Option<RegionId>,
    pub(super) body: RegionId,
    pub(super) loc: Loc,
}

#[derive(Debug)]
pub(super) struct UntilCode {
    pub(super) slot: u32,
    pub(super) first: IndexCode,
    pub(super) max: IndexCode,
    pub(super) condition: RegionId,
    pub(super) sizes: Sizes,
}

#[derive(Debug)]
pub(super) struct FunctionCode {
    pub(super) name: Ident,
    pub(super) body: RegionId,
    pub(super) sizes: Sizes,
}

/// Where a symbol of the module gets its value.
#[derive(Debug)]
pub(super) enum SymbolCode {
    Argument(usize),
    Extent(u32, usize),
    Value(u32),
    Max(Vec<IndexCode>),
    Min(Vec<IndexCode>),
    Until(usize),
    /// It differs from activation to activation and is never asked for by number.
    Local,
}

#[derive(Debug)]
pub(super) struct CheckCode {
    pub(super) left: IndexCode,
    pub(super) relation: Relation,
    pub(super) right: IndexCode,
    pub(super) message: String,
    pub(super) trap: Trap,
    pub(super) loc: Loc,
}

#[derive(Debug)]
pub(super) struct InputCode {
    pub(super) name: Ident,
    pub(super) elem: Elem,
    pub(super) dims: Vec<(IndexCode, String)>,
}

/// An input or a binding of the module.
#[derive(Clone, Copy, Debug)]
pub(super) enum GlobalCode {
    Input(usize),
    Binding(usize, u32),
}

#[derive(Debug, Default)]
pub(super) struct Code {
    pub(super) regions: Vec<RegionCode>,
    pub(super) groups: Vec<GroupCode>,
    /// How many symbols the caller passes.
    pub(super) n_arguments: usize,
    pub(super) functions: Vec<FunctionCode>,
    pub(super) symbols: Vec<SymbolCode>,
    pub(super) checks: Vec<CheckCode>,
    pub(super) inputs: Vec<InputCode>,
    pub(super) globals: Vec<GlobalCode>,
    pub(super) names: HashMap<Ident, u32>,
    pub(super) outputs: Vec<Ident>,
    /// How many reductions are grouped.
    pub(super) n_grouped: usize,
}
