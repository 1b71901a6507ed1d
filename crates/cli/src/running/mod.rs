//! What `einlang run` needs besides a program: where it prints, how it is interrupted, how it shows
//! that it is alive, and how amounts are written.

mod amounts;
mod console;
mod environment;
mod interrupt;
mod progress;
mod threads;

pub(crate) use amounts::{bytes, duration};
pub(crate) use console::{Console, Target};
pub(crate) use environment::setting;
pub(crate) use interrupt::{cancel_with, watch};
pub(crate) use progress::Progress;
pub(crate) use threads::{chosen_threads, threads};
