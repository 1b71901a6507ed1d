//! Lexer, lossless tree, recovering parser, typed views and formatter of Einlang.
//!
//! ```
//! use einlang_source::Sources;
//!
//! let mut sources = Sources::default();
//! let file = sources.add("demo.ein", "let x = 1 + 2;");
//! let parsed = einlang_syntax::parse(file, sources.text(file));
//! assert!(parsed.diagnostics.is_empty());
//! assert_eq!(parsed.tree.text(), "let x = 1 + 2;");
//! ```
//!
//! Invariants: parsing never fails and never panics; `parse(s).tree.text() == s` for every text;
//! this crate knows no names, types or files and does no I/O.

pub mod ast;
pub mod dump;
mod errors;
pub mod format;
pub mod format_spec;
pub mod kind;
pub mod lexer;
pub mod literal;
mod parser;
pub mod tree;
mod validate;

pub use kind::SyntaxKind;
pub use parser::{MAX_HEIGHT, MAX_NESTING, Parse, parse};
pub use tree::{Element, Node, Token, Tree};
