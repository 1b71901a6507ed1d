//! Where the time of a run goes: per kernel, and inside a kernel per nest of loops.
//!
//! A kernel that is profiled tells its surroundings when it comes to the next nest (`mark.rs`); how much
//! work a nest does is counted from its loops and the sizes of the call (`cost.rs`), not while it runs.
//! Invariant: profiling changes no value.

mod cost;
mod mark;

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use einlang_loops::ir::Kernel;
use einlang_tir::types::Loc;

pub(crate) use cost::Seen;
pub(crate) use mark::{Marked, marked, part_of};

/// What was measured. Copies are one list.
#[derive(Clone, Debug, Default)]
pub struct Profile(Arc<Mutex<Measured>>);

#[derive(Debug, Default)]
struct Measured {
    parts: Vec<Part>,
    /// Kernels, and the tensors that they compute where they are read.
    fused: Vec<(String, Vec<String>)>,
}

impl PartialEq for Profile {
    fn eq(&self, other: &Profile) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// A nest of loops of a kernel.
#[derive(Clone, Debug)]
pub struct Part {
    /// The kernel.
    pub kernel: String,
    /// Its position in the kernel.
    pub number: usize,
    /// The tensors that it stores.
    pub tensors: Vec<Stored>,
    /// Where the first of them was defined.
    pub loc: Loc,
    /// How often it ran.
    pub calls: u64,
    /// How long it took in all.
    pub time: Duration,
    /// Operations: one for each addition, multiplication or comparison, ten for each elementary
    /// function. Branches count half of each side.
    pub flops: f64,
    /// Bytes of the tensors that it reads and stores, each tensor counted once a call.
    pub bytes: f64,
}

/// A tensor and how it is kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stored {
    /// Its name.
    pub name: String,
    /// Its dimensions in memory, such as `3 x 2` or `2 of 1000 x 100`.
    pub layout: String,
}

impl Profile {
    /// The parts, by kernels in the order in which they first ended.
    pub fn parts(&self) -> Vec<Part> {
        self.0.lock().map(|measured| measured.parts.clone()).unwrap_or_default()
    }

    /// The tensors of each kernel that are computed where they are read, and nowhere stored.
    pub fn fused(&self) -> Vec<(String, Vec<String>)> {
        self.0.lock().map(|measured| measured.fused.clone()).unwrap_or_default()
    }

    /// Forgets everything.
    pub fn clear(&self) {
        if let Ok(mut measured) = self.0.lock() {
            *measured = Measured::default();
        }
    }

    fn add_fused(&self, kernel: &str, tensors: &[String]) {
        if let Ok(mut measured) = self.0.lock()
            && !tensors.is_empty()
            && measured.fused.iter().all(|(known, _)| known != kernel)
        {
            measured.fused.push((kernel.to_owned(), tensors.to_vec()));
        }
    }

    fn add(&self, part: Part) {
        let Ok(mut measured) = self.0.lock() else { return };
        let parts = &mut measured.parts;
        let same = |old: &&mut Part| old.kernel == part.kernel && old.number == part.number;
        match parts.iter_mut().find(same) {
            Some(old) => {
                old.calls += part.calls;
                old.time += part.time;
                old.flops += part.flops;
                old.bytes += part.bytes;
            }
            None => parts.push(part),
        }
    }
}

/// The clock of one call of a kernel.
#[derive(Debug)]
pub(crate) struct Clock {
    since: Instant,
    at: Option<usize>,
    spent: Vec<Duration>,
}

impl Clock {
    pub(crate) fn new(n_parts: usize) -> Clock {
        Clock { since: Instant::now(), at: None, spent: vec![Duration::ZERO; n_parts] }
    }

    /// Comes to a part, or to the end.
    pub(crate) fn reach(&mut self, part: usize) {
        let now = Instant::now();
        if let Some(spent) = self.at.and_then(|at| self.spent.get_mut(at)) {
            *spent += now - self.since;
        }
        (self.since, self.at) = (now, Some(part));
    }

    /// Writes down what was measured.
    pub(crate) fn write(&self, kernel: &Kernel, marked: &Marked, seen: &Seen<'_>, to: &Profile) {
        to.add_fused(&kernel.name, &marked.fused);
        for (number, (stmts, time)) in marked.parts.iter().zip(&self.spent).enumerate() {
            let cost = cost::of(kernel, stmts, seen);
            let loc =
                cost.stored.first().and_then(|id| kernel.buffer(*id)).map(|buffer| buffer.loc);
            let tensors = cost.stored.iter().filter_map(|id| Some((*id, kernel.buffer(*id)?)));
            to.add(Part {
                kernel: kernel.name.clone(),
                number,
                tensors: tensors.map(|of| cost::stored(kernel, of, seen)).collect(),
                loc: loc.unwrap_or_default(),
                calls: 1,
                time: *time,
                flops: cost.flops,
                bytes: cost.bytes,
            });
        }
    }
}
