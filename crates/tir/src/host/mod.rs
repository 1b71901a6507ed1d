//! The host IR: what surrounds tensor code.
//!
//! First-order single-assignment code with structured control. It holds what tensors cannot be:
//! strings, printing, files, `match`, lists whose length depends on data, recursion, closures that
//! escaped specialisation. Effects happen in the order of the instructions. Pure tensor code is in
//! [`Module`]s, which `run` evaluates: its operands are the module's inputs in order, then one
//! integer per symbol that the caller passes, in order of declaration; its results are the outputs.
//!
//! Values are numbered uniquely within a program; nested blocks see what enclosing ones defined
//! before them. Loops carry values as block parameters, so nothing is ever assigned twice.

mod intrinsic;
mod parse;
mod print;
mod types;
mod verify;
mod verify_inst;

pub use intrinsic::{Class, Effect, Intrinsic};
pub use parse::parse_program;
pub use print::print_program;
pub use types::{HostType, Labels, TypeDecl, Variant};
pub use verify::verify_program;

use crate::constant::Const;
use crate::module::Module;
use crate::op::{Op, Trap};
use crate::types::{Ident, Loc};

/// A whole program.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Program {
    /// Structs and enums; generic ones are specialised.
    pub types: Vec<TypeDecl>,
    /// The names of variants' fields, where they have names.
    pub labels: Vec<Labels>,
    /// Tensor code.
    pub modules: Vec<Module>,
    /// Functions; they may call each other.
    pub functions: Vec<HostFn>,
    /// Where the program starts.
    pub entry: Option<Ident>,
}

/// A function.
#[derive(Clone, PartialEq, Debug)]
pub struct HostFn {
    /// The name.
    pub name: Ident,
    /// The types of the results.
    pub results: Vec<HostType>,
    /// Parameters, instructions and results.
    pub body: Block,
    /// The rule of the user's that replaces differentiating the body.
    pub rule: Option<HostRule>,
    /// Where it was written.
    pub loc: Loc,
}

/// A function that says how the result of another one changes.
///
/// It takes what the other one takes. A forward rule then takes a tangent for each parameter that
/// is not `silent`, and gives the tangent of the result; a reverse rule takes the cotangent of the
/// result and gives the cotangent of the parameter that is not `silent`, or a tuple of them. The
/// last operand of both is the result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HostRule {
    /// The function that is the rule.
    pub function: Ident,
    /// Whether it gives cotangents.
    pub reverse: bool,
    /// The parameters, by position, of which the rule says nothing: what was captured, and
    /// functions.
    pub silent: Vec<usize>,
}

/// A value and its type, where it is defined.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HostDef {
    /// The number.
    pub number: u32,
    /// The type.
    pub ty: HostType,
}

/// An operand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum HostArg {
    /// A number or truth value.
    Const(Const),
    /// A string.
    Str(String),
    /// A value.
    Value(u32),
}

/// Instructions and their results.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Block {
    /// What the surroundings hand in.
    pub params: Vec<HostDef>,
    /// The instructions, in order.
    pub insts: Vec<HostInst>,
    /// What the surroundings get.
    pub results: Vec<HostArg>,
}

/// One instruction.
#[derive(Clone, PartialEq, Debug)]
pub struct HostInst {
    /// What it defines.
    pub results: Vec<HostDef>,
    /// What it does.
    pub kind: HostKind,
    /// Where it comes from.
    pub loc: Loc,
}

/// A piece of a string with interpolations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FormatPart {
    /// Text.
    Text(String),
    /// A value with its format, empty for the default.
    Value(HostArg, String),
}

/// The kinds of instructions.
#[derive(Clone, PartialEq, Debug)]
pub enum HostKind {
    /// A scalar operation.
    Op(Op, Vec<HostArg>),
    /// A tuple; the empty one is `()`.
    Tuple(Vec<HostArg>),
    /// A struct with all its fields in order.
    Struct(Ident, Vec<HostArg>),
    /// A variant of an enum with its fields in order.
    Variant(Ident, Ident, Vec<HostArg>),
    /// A list.
    List(Vec<HostArg>),
    /// A field of a tuple or struct.
    Field(HostArg, usize),
    /// One of two blocks.
    If(HostArg, Block, Block),
    /// One of several blocks by number.
    Switch(HostArg, Vec<(i64, Block)>, Block),
    /// One of several blocks by variant; a block's parameters are the variant's fields.
    Match(HostArg, Vec<(Ident, Block)>, Option<Block>),
    /// A block for each `i64` from the first operand up to, not including, the second. Its
    /// parameters are the number and what is carried; it yields what is carried on.
    For(HostArg, HostArg, Vec<HostArg>, Block),
    /// While the first block yields true, the second; both take what is carried.
    While(Vec<HostArg>, Block, Block),
    /// A call; recursion is allowed.
    Call(Ident, Vec<HostArg>),
    /// A function with its first parameters given.
    Closure(Ident, Vec<HostArg>),
    /// A call of a function value.
    Apply(HostArg, Vec<HostArg>),
    /// Evaluates tensor code.
    Run(Ident, Vec<HostArg>),
    /// A string with interpolations.
    Format(Vec<FormatPart>),
    /// Something of [`Intrinsic`]'s table.
    Intrinsic(Intrinsic, Vec<HostArg>),
    /// `Ok` of the block's result, or `Err` with the message of what stopped it.
    Try(Block),
    /// Stops the program unless the condition holds.
    Assert(HostArg, String),
    /// Stops the program.
    Trap(Trap, String),
    /// Stops the program with a message that was computed.
    Fail(Trap, HostArg),
}

impl HostInst {
    /// The blocks directly inside, in the order of the text form.
    pub fn blocks(&self) -> Vec<&Block> {
        match &self.kind {
            HostKind::If(_, then, otherwise) => vec![then, otherwise],
            HostKind::Switch(_, cases, otherwise) => {
                cases.iter().map(|case| &case.1).chain([otherwise]).collect()
            }
            HostKind::Match(_, arms, otherwise) => {
                arms.iter().map(|arm| &arm.1).chain(otherwise).collect()
            }
            HostKind::For(_, _, _, body) | HostKind::Try(body) => vec![body],
            HostKind::While(_, condition, body) => vec![condition, body],
            _ => Vec::new(),
        }
    }

    /// The blocks directly inside, to be changed.
    pub fn blocks_mut(&mut self) -> Vec<&mut Block> {
        match &mut self.kind {
            HostKind::If(_, then, otherwise) => vec![then, otherwise],
            HostKind::Switch(_, cases, otherwise) => {
                cases.iter_mut().map(|case| &mut case.1).chain([otherwise]).collect()
            }
            HostKind::Match(_, arms, otherwise) => {
                arms.iter_mut().map(|arm| &mut arm.1).chain(otherwise).collect()
            }
            HostKind::For(_, _, _, body) | HostKind::Try(body) => vec![body],
            HostKind::While(_, condition, body) => vec![condition, body],
            _ => Vec::new(),
        }
    }

    /// The operands, without those inside blocks.
    pub fn args(&self) -> Vec<&HostArg> {
        match &self.kind {
            HostKind::Op(_, args)
            | HostKind::Tuple(args)
            | HostKind::Struct(_, args)
            | HostKind::Variant(_, _, args)
            | HostKind::List(args)
            | HostKind::Call(_, args)
            | HostKind::Closure(_, args)
            | HostKind::Run(_, args)
            | HostKind::While(args, ..)
            | HostKind::Intrinsic(_, args) => args.iter().collect(),
            HostKind::Field(arg, _)
            | HostKind::If(arg, ..)
            | HostKind::Switch(arg, ..)
            | HostKind::Match(arg, ..)
            | HostKind::Assert(arg, _)
            | HostKind::Fail(_, arg) => vec![arg],
            HostKind::For(lo, hi, carried, _) => [lo, hi].into_iter().chain(carried).collect(),
            HostKind::Apply(callee, args) => [callee].into_iter().chain(args).collect(),
            HostKind::Format(parts) => parts.iter().filter_map(FormatPart::arg).collect(),
            HostKind::Try(_) | HostKind::Trap(..) => Vec::new(),
        }
    }

    /// The operands, to be changed.
    pub fn args_mut(&mut self) -> Vec<&mut HostArg> {
        match &mut self.kind {
            HostKind::Op(_, args)
            | HostKind::Tuple(args)
            | HostKind::Struct(_, args)
            | HostKind::Variant(_, _, args)
            | HostKind::List(args)
            | HostKind::Call(_, args)
            | HostKind::Closure(_, args)
            | HostKind::Run(_, args)
            | HostKind::While(args, ..)
            | HostKind::Intrinsic(_, args) => args.iter_mut().collect(),
            HostKind::Field(arg, _)
            | HostKind::If(arg, ..)
            | HostKind::Switch(arg, ..)
            | HostKind::Match(arg, ..)
            | HostKind::Assert(arg, _)
            | HostKind::Fail(_, arg) => vec![arg],
            HostKind::For(lo, hi, carried, _) => [lo, hi].into_iter().chain(carried).collect(),
            HostKind::Apply(callee, args) => [callee].into_iter().chain(args).collect(),
            HostKind::Format(parts) => parts.iter_mut().filter_map(FormatPart::arg_mut).collect(),
            HostKind::Try(_) | HostKind::Trap(..) => Vec::new(),
        }
    }
}

impl FormatPart {
    fn arg(&self) -> Option<&HostArg> {
        match self {
            FormatPart::Text(_) => None,
            FormatPart::Value(arg, _) => Some(arg),
        }
    }

    fn arg_mut(&mut self) -> Option<&mut HostArg> {
        match self {
            FormatPart::Text(_) => None,
            FormatPart::Value(arg, _) => Some(arg),
        }
    }
}
