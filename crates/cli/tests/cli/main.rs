//! The binary from end to end, as a user or a script meets it.
//!
//! Each test works in a folder of its own. What people read is compared with the transcripts in
//! `tests/cli/` at the root of the repository; `EINLANG_BLESS=1` rewrites them.

mod build;
mod cache;
mod check;
mod colors;
mod doc;
mod document;
mod explain;
mod explain_derivatives;
mod explain_storage;
mod fmt;
mod help;
mod ir;
mod json;
mod measure;
mod repl;
mod run;
mod run_flags;
mod streams;
mod support;
mod tune;
mod unreadable;
mod usage;
