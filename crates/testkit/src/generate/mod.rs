//! Random programs for property tests, fuzzers and later stages.
//!
//! Every choice is drawn from a [`Source`], so one generator serves a seed, a fuzzer's bytes and
//! proptest's shrinking alike. A [`Size`] bounds what is made, so every generator ends.
//!
//! | module | makes |
//! |---|---|
//! | [`syntax`] | any well-formed text: every form of the grammar, arbitrary names, no meaning |
//! | [`program`] | well-typed programs together with the values that they must compute |

pub mod program;
mod source;
pub mod syntax;

pub use source::Source;

/// How much a generator may make.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Size {
    /// Roughly the number of nodes; when they are spent, only leaves are made.
    pub nodes: u32,
    /// How deep constructs may nest.
    pub depth: u32,
}

impl Size {
    /// A few statements.
    pub const SMALL: Size = Size { nodes: 30, depth: 5 };
    /// About a page.
    pub const MEDIUM: Size = Size { nodes: 200, depth: 8 };
    /// Several pages with deep nesting. One level of the generator is at most eight levels of the
    /// parser, whose limit stays out of reach.
    pub const LARGE: Size = Size { nodes: 2000, depth: 14 };
}
