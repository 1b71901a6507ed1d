//! What is written down about a run: which tensor code was evaluated by what, and the most memory
//! that was in use at once.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// Notes about a run. Copies are one list.
#[derive(Clone, Debug, Default)]
pub struct Report(Arc<Notes>);

#[derive(Debug, Default)]
struct Notes {
    regions: Mutex<Vec<Region>>,
    peak: AtomicU64,
    observed: Mutex<BTreeMap<String, f64>>,
}

/// How one module was evaluated.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Region {
    /// The module.
    pub module: String,
    /// What evaluated it.
    pub ran: Ran,
    /// Why that was not what the run asked for.
    pub fallback: Option<String>,
}

/// What evaluates a module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ran {
    /// The oracle.
    Points,
    /// The bytecode executor.
    Loops,
    /// The processor.
    MachineCode,
}

impl PartialEq for Report {
    fn eq(&self, other: &Report) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Report {
    /// What was written down about modules, in the order in which they were first evaluated.
    pub fn regions(&self) -> Vec<Region> {
        self.0.regions.lock().map(|list| list.clone()).unwrap_or_default()
    }

    /// The most bytes that were in use at once.
    pub fn peak(&self) -> u64 {
        self.0.peak.load(Ordering::Relaxed)
    }

    /// Takes note of how a module is evaluated; that the oracle had to is never forgotten.
    pub(crate) fn note(&self, module: &str, ran: Ran, fallback: Option<String>) {
        if let Ok(mut list) = self.0.regions.lock() {
            match list.iter_mut().find(|region| region.module == module) {
                Some(region) if region.ran == Ran::Points => {}
                Some(region) => (region.ran, region.fallback) = (ran, fallback),
                None => list.push(Region { module: module.to_owned(), ran, fallback }),
            }
        }
    }

    /// The numbers that the program wrote down, the largest for each name.
    pub fn observed(&self) -> BTreeMap<String, f64> {
        self.0.observed.lock().map(|map| map.clone()).unwrap_or_default()
    }

    /// Writes a number down; of several under one name the largest stays.
    pub(crate) fn observe(&self, name: &str, number: f64) {
        if let Ok(mut map) = self.0.observed.lock() {
            let largest = map.entry(name.to_owned()).or_insert(number);
            *largest = largest.max(number);
        }
    }

    /// Takes note of the memory in use.
    pub(crate) fn used(&self, bytes: u64) {
        self.0.peak.fetch_max(bytes, Ordering::Relaxed);
    }
}
