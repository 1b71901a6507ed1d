//! Which loop of a nest runs along which dimension of a tensor's memory.
//!
//! A dimension may keep a few planes only if a loop goes through them one after the other: its form is
//! that of the dimension, up to sign and shift, for every clause of the tensor. Loops around it must
//! not move along the dimension, so that a plane and the one that takes its place belong to the same
//! round of them. Clauses of other tensors may come after the loop: they read the last planes.

use einlang_tir::order::{Form, Statement};

use super::fuse::statements;
use crate::schedule::{Nest, TensorSchedule};

/// The forms of the clauses in one loop.
pub(super) type Forms = [(Statement, Form)];

/// A loop along a dimension.
pub(super) struct Along<'n> {
    /// The loops around, outermost first.
    pub(super) around: Vec<&'n Forms>,
    /// The loop.
    pub(super) forms: &'n Forms,
    /// Its form for the tensor.
    pub(super) form: &'n Form,
    /// The dimension.
    pub(super) dimension: usize,
    /// Whether the loop goes down.
    pub(super) down: bool,
}

/// The loops that run along a dimension of a tensor, outermost first.
pub(super) fn along<'n>(nest: &'n Nest, number: usize, tensor: &TensorSchedule) -> Vec<Along<'n>> {
    let (mut nest, mut around, mut found) = (nest, Vec::<&Forms>::new(), Vec::new());
    loop {
        let (forms, tile, inner) = match nest {
            Nest::Loop { forms, tile, inner, .. } => (forms, tile, inner),
            Nest::Phases(phases) => match phase_of(phases, number) {
                Some(phase) => {
                    nest = phase;
                    continue;
                }
                None => break,
            },
            Nest::Points { .. } => break,
        };
        let own = |forms: &'n Forms| own_form(forms, number);
        let Some(form) = own(forms) else { break };
        for dimension in 0..tensor.storage.len() {
            let is = tensor.dimension(dimension);
            let down = is.iter().zip(&form.coefficients).all(|(a, b)| *a == -*b);
            let same = is == form.coefficients || down;
            // With a map, what moves along a dimension is more than one axis.
            let moves = |forms: &&'n Forms| {
                let outer = own(forms).map(|form| &form.coefficients);
                outer.and_then(|outer| outer.get(dimension)).is_none_or(|c| *c != 0)
            };
            let apart = around.is_empty() || (tensor.map.is_empty() && !around.iter().any(moves));
            if same && apart && tile.is_none() && is.len() == form.coefficients.len() {
                let around = around.clone();
                found.push(Along { around, forms, form, dimension, down });
            }
        }
        around.push(forms);
        nest = inner;
    }
    found
}

/// The form of a tensor in a loop, if all its clauses have the same one.
pub(crate) fn own_form(forms: &[(Statement, Form)], number: usize) -> Option<&Form> {
    let mut own = forms.iter().filter(|(s, _)| s.binding == number).map(|(_, form)| form);
    let first = own.next()?;
    own.all(|form| form == first).then_some(first)
}

/// The phase that has all clauses of a tensor.
fn phase_of(phases: &[Nest], number: usize) -> Option<&Nest> {
    let has = |phase: &&Nest| statements(phase).iter().any(|s| s.binding == number);
    let mut with = phases.iter().filter(has);
    with.next().filter(|_| with.next().is_none())
}

/// Whether a map of a tensor's axes to its memory never sends two points to one place, and none to a
/// negative one.
pub(super) fn is_map(tensor: &TensorSchedule) -> bool {
    let rank = tensor.storage.len();
    tensor.map.is_empty()
        || tensor.map.len() == rank
            && tensor.map.iter().all(|form| form.len() == rank && form.iter().all(|c| *c >= 0))
            && determinant(&tensor.map).is_some_and(|d| d != 0)
}

/// The determinant of a small matrix, by expansion.
fn determinant(rows: &[Vec<i64>]) -> Option<i64> {
    if rows.len() > 5 {
        return None;
    }
    let Some((first, rest)) = rows.split_first() else { return Some(1) };
    let mut sum = 0_i64;
    for (at, entry) in first.iter().enumerate() {
        let minor: Vec<Vec<i64>> = rest
            .iter()
            .map(|row| row.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, c)| *c).collect())
            .collect();
        let part = determinant(&minor)?.checked_mul(*entry)?;
        sum = if at % 2 == 0 { sum.checked_add(part)? } else { sum.checked_sub(part)? };
    }
    Some(sum)
}
