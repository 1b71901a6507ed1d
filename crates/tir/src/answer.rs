//! How requests for derivatives were answered: notes for people, no part of what a module computes.

use std::fmt;

use crate::types::{Ident, Loc};

/// What was made of one request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answer {
    /// The target as `@y[i]`.
    pub of: String,
    /// The parameter as `@x[j]`.
    pub by: String,
    /// What was chosen.
    pub how: How,
    /// The reason, as a clause.
    pub why: String,
    /// The target's tensor.
    pub target: Ident,
    /// The tensor that holds the derivative; none if it is a number or zero.
    pub read: Option<Ident>,
    /// Where it was written.
    pub loc: Loc,
}

/// The ways in which a derivative is computed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum How {
    /// The target does not depend on the parameter.
    Zero,
    /// One entry, by a tangent.
    Entry,
    /// One target, by adjoints.
    Row,
    /// One parameter, by tangents.
    Column,
    /// Blocks along indices that target and parameter share.
    Block,
    /// One value for each point, zero elsewhere.
    Diagonal,
    /// One value for each point and offset, zero elsewhere.
    Banded,
    /// The product with a vector on the parameter's side.
    Jvp,
    /// The product with a vector on the target's side.
    Vjp,
    /// Everything, one tangent for each point of the parameter.
    Forward,
    /// Everything, one adjoint for each point of the target.
    Reverse,
}

impl How {
    /// All of them.
    pub const ALL: [How; 11] = [
        How::Zero,
        How::Entry,
        How::Row,
        How::Column,
        How::Block,
        How::Diagonal,
        How::Banded,
        How::Jvp,
        How::Vjp,
        How::Forward,
        How::Reverse,
    ];

    /// The name in texts.
    pub fn as_str(self) -> &'static str {
        match self {
            How::Zero => "zero",
            How::Entry => "entry",
            How::Row => "row",
            How::Column => "column",
            How::Block => "block",
            How::Diagonal => "diagonal",
            How::Banded => "banded",
            How::Jvp => "jvp",
            How::Vjp => "vjp",
            How::Forward => "forward",
            How::Reverse => "reverse",
        }
    }

    /// The one with this name.
    pub fn parse(name: &str) -> Option<How> {
        How::ALL.into_iter().find(|how| how.as_str() == name)
    }
}

impl fmt::Display for How {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
