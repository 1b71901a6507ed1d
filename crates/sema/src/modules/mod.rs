//! Modules: which files a program is made of, what each module offers, what imports mean.
//!
//! `load` finds and parses the files, `library` those of `std` that are reached, `collect` lists the
//! items, `imports` resolves every `use`, `paths` follows paths. `outline` shows what `load` found to
//! tools. None of them looks inside bodies.

pub(crate) mod collect;
pub(crate) mod imports;
pub(crate) mod library;
pub(crate) mod load;
pub(crate) mod outline;
pub(crate) mod paths;
