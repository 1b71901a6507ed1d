//! The catalogue of diagnostic codes: one line per code that the code base can emit.
//!
//! A code is added here together with its page `docs/errors/<code>.md`; `cargo xtask tidy` fails
//! when the two disagree. Codes are never reused for another meaning.

use std::fmt;

macro_rules! codes {
    ($($name:ident: $title:literal,)*) => {
        /// The stable identity of one kind of diagnostic.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Code {
            $(#[doc = $title] $name,)*
        }

        impl Code {
            /// Every code, in order.
            pub const ALL: &[Code] = &[$(Code::$name,)*];

            /// The code as users write it, such as `E0101`.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Code::$name => stringify!($name),)*
                }
            }

            /// What the code means, in a few words.
            pub fn title(self) -> &'static str {
                match self {
                    $(Code::$name => $title,)*
                }
            }
        }
    };
}

codes! {
    E0101: "unexpected token",
    E0102: "unterminated string or comment",
    E0103: "malformed literal",
    E0110: "unknown name",
    E0111: "unknown module",
    E0112: "unknown item in a module",
    E0113: "private item",
    E0114: "import cycle",
    E0115: "name clash",
    E0116: "index rebound in `where`",
    E0201: "index on an axis that is not its coordinate",
    E0202: "consumed coordinate does not occur",
    E0203: "broadcast that is not listed",
    E0204: "a recurrence needs its own future",
    E0205: "layouts do not match",
    E0301: "one index, different extents",
    E0302: "range cannot be inferred",
    E0303: "index range in `where`",
    E0304: "inferred output domain does not start at 0",
    E0305: "points no clause defines",
    W0305: "points no clause defines",
    E0306: "wrong number of subscripts, or clauses of different rank",
    E0307: "invalid slot on the left side",
    E0308: "subscript provably out of bounds",
    E0309: "rest index undetermined",
    E0310: "jagged array in indexed notation",
    E0311: "ragged literal",
    E0312: "whole-tensor operands of different shape or rank",
    E0401: "operand types differ",
    E0402: "value does not fit the annotation or parameter",
    E0403: "not callable, or wrong arguments",
    E0404: "unknown field or method",
    E0405: "match not exhaustive",
    W0406: "unreachable arm",
    E0407: "condition not bool, or branches of different type",
    E0408: "impossible cast",
    E0409: "comparison chain",
    E0410: "effect where none is allowed",
    E0501: "self-read outside the box",
    E0502: "no clause defines the base",
    E0503: "bindings that depend on each other in a cycle",
    E0504: "data-dependent self-read of a point not yet computed",
    E0601: "not a differentiable type",
    E0602: "no derivative for this construct",
    E0603: "rule not linear in its differentials",
    W0604: "rule contradicted by its function",
    E0701: "integer division by zero, or negative integer power",
    E0702: "index out of bounds",
    E0703: "assertion failed",
    E0704: "overflow or NaN under `--checked`",
    E0705: "extents differ at entry",
    E0706: "`argmax` or `argmin` of nothing",
    E0801: "memory limit",
    E0802: "recursion depth",
    E0803: "step or time limit",
    E0901: "file not found",
    E0902: "access outside the allowed directories",
    E0903: "malformed file",
    E0904: "loaded data of another shape or type",
    E0905: "missing input",
    E0906: "ill-typed input",
    E0907: "a function of Python failed",
    E0999: "not supported yet",
}

impl Code {
    /// The code with this spelling, in either letter case.
    pub fn parse(text: &str) -> Option<Code> {
        Code::ALL.iter().copied().find(|code| code.as_str().eq_ignore_ascii_case(text))
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
