//! The messages of the front end, one file per code. Each function takes facts and returns a
//! finished [`Diagnostic`](einlang_source::Diagnostic); the parser decides only when to call it.

mod e0101_unexpected_token;
mod e0102_unterminated;
mod e0103_malformed_literal;
mod e0308_negative_subscript;
mod e0409_comparison_chain;

pub(crate) use e0101_unexpected_token::*;
pub(crate) use e0102_unterminated::*;
pub(crate) use e0103_malformed_literal::*;
pub(crate) use e0308_negative_subscript::*;
pub(crate) use e0409_comparison_chain::*;
