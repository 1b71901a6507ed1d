//! What the tests of Einlang share. Only ever a dev-dependency, so it may touch the disk and may
//! stop with a panic that says what is wrong.
//!
//! | module | owns |
//! |---|---|
//! | [`repository`] | where the project and the shared conformance cases lie |
//! | [`fixtures`] | programs in files, compared with the expectations beside them |
//! | [`generate`] | random programs: any well-formed text, or meaningful ones with known values |
//! | [`mutate`] | a program with one token deleted, doubled, exchanged or replaced |
//! | [`invariants`] | what holds for the parse of every text, however wrong the text is |
//! | [`pages`] | code blocks of documentation, and the programs among them |
//! | [`parallel`] | many independent checks at once |
//! | [`shape`] | what a tree says, apart from how it is written |
//!
//! ```
//! use einlang_testkit::generate::{Size, Source, syntax};
//!
//! let text = syntax::file(&mut Source::from_seed(7), Size::SMALL);
//! einlang_testkit::invariants::check_clean(&text);
//! ```

pub mod fixtures;
pub mod generate;
pub mod invariants;
pub mod mutate;
pub mod pages;
pub mod parallel;
pub mod repository;
pub mod shape;
