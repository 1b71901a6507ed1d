//! What running programs need and no compiler: arrays, file formats, and the files that a program
//! may touch.
//!
//! | module | owns |
//! |---|---|
//! | [`mod@array`] | a plain array: element type, shape, bytes |
//! | [`formats`] | npy, npz, csv, safetensors, png, pgm and text, read and written |
//! | [`mod@cache`] | a folder of things that took long to make |
//! | [`files`] | reading within a limit, writing as a whole or not at all |
//! | [`memory`] | the allocator of processes that run programs |
//! | [`permits`] | which paths a program may read and write |
//! | [`pool`] | threads that stay, teams of them, barriers |
//! | [`error`] | what can go wrong, as data |
//!
//! Invariants: nothing here knows the compiler; no file makes this crate panic, and none makes it
//! allocate more than a small multiple of what the file holds or the caller allows; a file is
//! replaced as a whole or stays as it was.

pub mod array;
pub mod cache;
pub mod error;
pub mod files;
pub mod formats;
pub mod memory;
pub mod permits;
pub mod pool;

pub use array::{Array, Elem};
pub use error::{FileError, Kind};
pub use permits::Permits;
