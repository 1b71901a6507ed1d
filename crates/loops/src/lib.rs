//! From the tensor IR towards machines: what must be kept of each tensor, and in which order it is made.
//!
//! `window` decides how much of a recurrence anybody can observe. It reads modules of `tir` and makes
//! plain data; nothing here does I/O or runs a program.

pub mod window;
