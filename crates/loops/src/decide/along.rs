//! Which loop of a nest runs along which dimension of a tensor's memory.
//!
//! A dimension may keep a few planes only if a loop goes through them one after the other: its form is
//! that of the dimension, up to sign and shift, for every clause of the tensor. Loops around it must
//! not move along the dimension, so that a plane and the one that takes its place belong to the same
//! round of them: of a memory that is mapped, such a loop runs along another dimension. A loop over tiles
//! of the very rounds that the loop right inside it takes changes nothing, and is no loop around.
//! Clauses of other tensors may come after the loop: they read the last planes.

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
            let moves = |forms: &&'n Forms| {
                let outer = own(forms).map(|form| &form.coefficients);
                outer.is_none_or(|outer| !stays_on_planes(tensor, dimension, outer))
            };
            let apart = !around.iter().any(moves);
            if same && apart && tile.is_none() && is.len() == form.coefficients.len() {
                let around = around.clone();
                found.push(Along { around, forms, form, dimension, down });
            }
        }
        if tile.is_none() || !is_tiled_by(forms, inner) {
            around.push(forms);
        }
        nest = inner;
    }
    found
}

/// Whether points that share a place of a tensor's memory, whatever a dimension keeps, are in the same round of
/// a loop of this form.
fn stays_on_planes(tensor: &TensorSchedule, dimension: usize, outer: &[i64]) -> bool {
    if tensor.map.is_empty() {
        return outer.get(dimension) == Some(&0);
    }
    // With a map, what moves along a dimension is more than one axis.
    let mut others = tensor.map.iter().enumerate().filter(|(number, _)| *number != dimension);
    others.any(|(_, form)| is_multiple(form, outer))
}

/// Whether a form is so many times another.
fn is_multiple(form: &[i64], other: &[i64]) -> bool {
    let pairs = || form.iter().zip(other);
    pairs().all(|(a, b)| pairs().all(|(c, d)| a.checked_mul(*d) == b.checked_mul(*c)))
        && other.iter().any(|c| *c != 0)
        && form.iter().any(|c| *c != 0)
}

/// Whether a nest is a loop over these forms, in whose order tiles of its rounds come.
fn is_tiled_by(forms: &Forms, nest: &Nest) -> bool {
    matches!(nest, Nest::Loop { forms: own, tile: None, .. } if own[..] == *forms)
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
