//! Regions: what is computed at one point.
//!
//! A region is a list of instructions in single-assignment form followed by its results. Values
//! are scalars; tensors are named and read point by point, so every index map stays visible to
//! derivatives and scheduling. Nested regions see what the enclosing ones defined before them.
//! Arms of `if` and `switch`, defaults of reads and guards are evaluated only when they are
//! needed: a guarded gather or division must not trap.

use einlang_index::{Domain, Quasi, Var};

use crate::constant::Const;
use crate::message::Message;
use crate::module::Group;
use crate::op::{Op, Trap};
use crate::types::{Elem, Ident, Loc, TensorType};

/// A scalar that was computed. The number is unique within the module; the type is repeated at
/// every use, so that a rewrite never has to look for the definition.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Value {
    /// The number, as in `%7`.
    pub number: u32,
    /// The type.
    pub elem: Elem,
}

/// The definition of a tensor by anything but a binding: an input, a parameter, a result.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Tensor {
    /// Its name.
    pub name: Ident,
    /// Its type.
    pub ty: TensorType,
}

/// Something that a parameter or an instruction defines.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Def {
    /// A scalar.
    Scalar(Value),
    /// A small or local tensor.
    Tensor(Tensor),
}

/// An operand.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Arg {
    /// A constant.
    Const(Const),
    /// A scalar.
    Value(Value),
    /// A whole tensor, for calls, reduction states and results.
    Tensor(Ident),
}

impl Arg {
    /// The type of a scalar operand.
    pub fn elem(&self) -> Option<Elem> {
        match self {
            Arg::Const(constant) => Some(constant.elem()),
            Arg::Value(value) => Some(value.elem),
            Arg::Tensor(_) => None,
        }
    }

    /// The constant, if it is one.
    pub fn as_const(&self) -> Option<Const> {
        match self {
            Arg::Const(constant) => Some(*constant),
            _ => None,
        }
    }

    /// The tensor, if it is one.
    pub fn as_tensor(&self) -> Option<&Ident> {
        match self {
            Arg::Tensor(name) => Some(name),
            _ => None,
        }
    }
}

impl From<Value> for Arg {
    fn from(value: Value) -> Arg {
        Arg::Value(value)
    }
}

impl From<Const> for Arg {
    fn from(constant: Const) -> Arg {
        Arg::Const(constant)
    }
}

/// Instructions and their results.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Region {
    /// What the surroundings hand in.
    pub params: Vec<Def>,
    /// The instructions, in order.
    pub insts: Vec<Inst>,
    /// What the surroundings get.
    pub results: Vec<Arg>,
}

impl Region {
    /// A region that only yields what exists already.
    pub fn yielding(results: impl Into<Vec<Arg>>) -> Region {
        Region { params: Vec::new(), insts: Vec::new(), results: results.into() }
    }
}

/// One instruction.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Inst {
    /// What it defines.
    pub results: Vec<Def>,
    /// What it does.
    pub kind: InstKind,
    /// Where it comes from; a trap is reported there.
    pub loc: Loc,
}

/// The kinds of instructions.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum InstKind {
    /// A scalar operation.
    Op(Op, Vec<Arg>),
    /// The value of an index expression, computed exactly and then converted to the result's type.
    Index(Quasi),
    /// One element of a tensor.
    Read(Read),
    /// One of two regions.
    If {
        /// Which.
        condition: Arg,
        /// Evaluated when it holds.
        then: Region,
        /// Evaluated when it does not.
        otherwise: Region,
    },
    /// One of several regions.
    Switch {
        /// Which: an integer.
        on: Arg,
        /// The regions by number; numbers differ.
        cases: Vec<(i64, Region)>,
        /// The region for every other number.
        otherwise: Region,
    },
    /// A reduction.
    Reduce(Box<Reduction>),
    /// Tensors that exist only at this point.
    Group(Box<Group>),
    /// A call, until everything is inlined. The callee is a function of the module.
    Call {
        /// The function.
        function: Ident,
        /// Scalars and tensors.
        args: Vec<Arg>,
    },
    /// A call of a function of the program around the module, for elements that recursion or
    /// `match` computes. Operands and results are scalars, and the function has no effects.
    HostCall {
        /// The function of the host program.
        function: Ident,
        /// Scalars.
        args: Vec<Arg>,
    },
    /// One entry of a Jacobian, until derivatives are expanded. Which indices are bound around it
    /// says which projection is wanted; a whole Jacobian is a binding whose body is this.
    Deriv {
        /// The element that is differentiated.
        of: Place,
        /// The element it is differentiated by, perturbed after its definition.
        by: Place,
    },
    /// From here on the symbol stands for the integer: data-dependent ranges and extents.
    Param {
        /// A symbol declared `local`.
        var: Var,
        /// Its value, an integer.
        value: Arg,
    },
    /// Whether the `until` of the group with this extent ended by its condition.
    Converged(Var),
    /// Stops the program unless the condition holds.
    Assert {
        /// The condition.
        condition: Arg,
        /// What is reported.
        message: Message,
    },
    /// Stops the program.
    Trap {
        /// Why.
        trap: Trap,
        /// What is reported.
        message: Message,
    },
}

/// One subscript of a read.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Subscript {
    /// An index expression: derivatives transpose it, scheduling sees through it.
    Index(Quasi),
    /// Any integer that was computed.
    Value(Arg),
}

/// A point of a tensor.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Place {
    /// The tensor.
    pub tensor: Ident,
    /// One subscript per axis.
    pub at: Vec<Subscript>,
}

/// `T[i - 1, j]`
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Read {
    /// What is read.
    pub place: Place,
    /// The value outside the box and at points that no clause covers.
    pub default: Option<Region>,
    /// Whether every subscript was proved to be in range; otherwise it is checked at run time.
    pub proved: bool,
}

/// A reduction over a domain.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Reduction {
    /// Its dimensions are the indices of the reduction; index order is their lexicographic order.
    pub domain: Over,
    /// Yields whether a point counts, and then what the body's parameters are.
    pub guard: Option<Region>,
    /// Yields the term of a point, one result per part of the state.
    pub body: Region,
    /// How two states become one.
    pub combine: Combiner,
    /// Where it starts.
    pub start: Start,
    /// What evaluation may assume.
    pub flags: ReduceFlags,
}

/// A [`Domain`] that can be a key of a table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Over(pub Domain);

impl std::hash::Hash for Over {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.dims().hash(state);
        self.0.sets().hash(state);
    }
}

impl From<Domain> for Over {
    fn from(domain: Domain) -> Over {
        Over(domain)
    }
}

impl std::ops::Deref for Over {
    type Target = Domain;

    fn deref(&self) -> &Domain {
        &self.0
    }
}

/// How two states are combined.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Combiner {
    /// A binary operation on a single scalar.
    Op(Op),
    /// A region whose parameters are the left state and then the right one.
    Region(Region),
}

/// The first state of a reduction.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Start {
    /// A neutral state: it may be combined in any number of times.
    Identity(Vec<Arg>),
    /// A state that is combined once, on the left.
    Init(Vec<Arg>),
    /// The term of the first point; an empty domain traps.
    First,
}

/// What evaluation may assume of a combiner. The association is a function of the extent alone in
/// any case, so that neither threads nor vectors change a bit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct ReduceFlags {
    /// The order of terms does not matter.
    pub commutative: bool,
    /// A term may be combined in twice.
    pub idempotent: bool,
    /// Terms may be grouped in any way that depends on the extent only.
    pub reassociable: bool,
}

impl ReduceFlags {
    /// The flags with their names in the text form.
    pub fn named(self) -> [(&'static str, bool); 3] {
        [
            ("commutative", self.commutative),
            ("idempotent", self.idempotent),
            ("reassociable", self.reassociable),
        ]
    }
}
