//! Property tests: every operation against brute force on small boxes.

#![allow(clippy::unwrap_used)]

mod domain_ops;
mod extremes;
mod huge;
mod naive;
mod plain;
mod proofs;
mod solver;
mod text_forms;
