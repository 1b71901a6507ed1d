//! Points sorted by their keys.

use std::collections::HashMap;

use super::code::Reg;
use crate::options::Meter;
use crate::stop::Stop;

/// The points of a fold by their keys.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    sorted: bool,
    n_dims: usize,
    /// The indices of all points, one after the other.
    points: Vec<i64>,
    keys: Vec<u64>,
    by_key: HashMap<u64, Vec<u64>>,
    /// The key that is being visited, and how many of its points were.
    bin: u64,
    at: usize,
    bytes: u64,
}

impl Keys {
    pub(crate) fn new(n_dims: usize) -> Keys {
        Keys { n_dims, ..Keys::default() }
    }

    pub(crate) fn is_sorted(&mut self) -> bool {
        if !self.sorted {
            self.points.clear();
            self.keys.clear();
        }
        self.sorted
    }

    /// Writes down the key of a point.
    pub(crate) fn add(&mut self, key: u64, point: impl Iterator<Item = i64>) {
        self.keys.push(key);
        self.points.extend(point);
    }

    /// Sorts the points.
    pub(crate) fn sort(&mut self, meter: &Meter) -> Result<(), Stop> {
        let bytes = 8 * (self.points.len() + 8 * self.keys.len()) as u64;
        meter.take(bytes, &|| "the keys of a reduction".to_owned())?;
        self.bytes = bytes;
        for (position, key) in self.keys.iter().enumerate() {
            self.by_key.entry(*key).or_default().push(position as u64);
        }
        self.keys = Vec::new();
        self.sorted = true;
        Ok(())
    }

    pub(crate) fn visit(&mut self, bin: u64) {
        (self.bin, self.at) = (bin, 0);
    }

    /// The next point of the key: its position and its indices.
    pub(crate) fn next(&mut self) -> Option<(u64, &[i64])> {
        let position = *self.by_key.get(&self.bin)?.get(self.at)?;
        self.at += 1;
        let from = position as usize * self.n_dims;
        Some((position, self.points.get(from..from + self.n_dims)?))
    }

    /// Gives the memory back.
    pub(crate) fn free(&mut self, meter: &Meter) {
        meter.give(std::mem::take(&mut self.bytes));
    }
}

/// Puts the indices of a point into their registers.
pub(super) fn place(point: &[i64], registers: &[Reg], regs: &mut [u64]) {
    for (reg, x) in registers.iter().zip(point) {
        regs[usize::from(*reg)] = *x as u64;
    }
}
