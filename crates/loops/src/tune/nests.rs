//! Changes of a nest: tiles, roles, orders of axes and of loops.
//!
//! Contract: each change concerns one place of the tree, but for numbers that belong together.

use einlang_tir::order::{Form, Statement};

use super::{BLOCKS, MOST_ROWS, ROWS};
use crate::schedule::{Nest, Role};

type Forms = Vec<(Statement, Form)>;

/// Shows every loop and all points: the forms of a loop, the role, and the tile.
pub(super) fn visit<F>(nest: &Nest, see: &mut F)
where
    F: FnMut(Option<&Forms>, &Role, Option<i64>),
{
    match nest {
        Nest::Points { role, .. } => see(None, role, None),
        Nest::Phases(phases) => phases.iter().for_each(|phase| visit(phase, see)),
        Nest::Loop { forms, tile, role, inner } => {
            see(Some(forms), role, *tile);
            visit(inner, see);
        }
    }
}

/// Changes the lanes of one width to another, and the tiles that are as wide.
pub(super) fn widen(nest: &mut Nest, old: u32, new: u32) {
    let wider = |role: &mut Role| {
        if *role == Role::Lane(old) {
            *role = Role::Lane(new);
        }
    };
    match nest {
        Nest::Points { role, .. } => wider(role),
        Nest::Phases(phases) => phases.iter_mut().for_each(|phase| widen(phase, old, new)),
        Nest::Loop { tile, role, inner, .. } => {
            wider(role);
            if *tile == Some(i64::from(old)) {
                *tile = Some(i64::from(new));
            }
            widen(inner, old, new);
        }
    }
}

/// Every change of a nest, in words and done.
pub(super) fn changed(nest: &Nest) -> Vec<(String, Nest)> {
    let mut found = tiles(nest);
    for (change, nest) in roles(nest) {
        found.push((change, nest));
    }
    found
}

/// Other tiles: those of one form and size everywhere, with the loops that are written out inside.
fn tiles(nest: &Nest) -> Vec<(String, Nest)> {
    let mut tiles: Vec<(Forms, i64)> = Vec::new();
    visit(nest, &mut |forms, _, tile| {
        if let (Some(forms), Some(tile)) = (forms, tile)
            && !tiles.iter().any(|(known, size)| known == forms && *size == tile)
        {
            tiles.push((forms.clone(), tile));
        }
    });
    let mut found = Vec::new();
    for (forms, old) in tiles {
        let sizes: &[i64] = if old <= MOST_ROWS { &ROWS } else { &BLOCKS };
        for new in sizes.iter().filter(|new| **new != old) {
            let mut other = nest.clone();
            resize(&mut other, &forms, old, *new);
            found.push((format!("tiles of {old} to {new}"), other));
        }
    }
    found
}

fn resize(nest: &mut Nest, of: &Forms, old: i64, new: i64) {
    match nest {
        Nest::Points { .. } => {}
        Nest::Phases(phases) => phases.iter_mut().for_each(|phase| resize(phase, of, old, new)),
        Nest::Loop { forms, tile, role, inner } => {
            if forms == of && *tile == Some(old) {
                *tile = Some(new);
            }
            if forms == of
                && let Role::Unroll(rounds) = role
                && i64::from(*rounds) == old
            {
                *rounds = u32::try_from(new).unwrap_or(*rounds);
            }
            resize(inner, of, old, new);
        }
    }
}

/// Other roles and orders, at one place each.
fn roles(nest: &Nest) -> Vec<(String, Nest)> {
    match nest {
        Nest::Points { statement, axes, role } => points(*statement, axes, *role),
        Nest::Phases(phases) => {
            let mut found = Vec::new();
            for (at, phase) in phases.iter().enumerate() {
                for (change, other) in roles(phase) {
                    let mut phases = phases.clone();
                    phases[at] = other;
                    found.push((change, Nest::Phases(phases)));
                }
            }
            found
        }
        Nest::Loop { forms, tile, role, inner } => {
            let with = |forms: &Forms, tile, role, inner: Nest| Nest::Loop {
                forms: forms.clone(),
                tile,
                role,
                inner: Box::new(inner),
            };
            let mut found = Vec::new();
            match role {
                Role::Par => found.push((
                    "one thread".to_owned(),
                    with(forms, *tile, Role::Seq, (**inner).clone()),
                )),
                Role::Seq if tile.is_none() => found
                    .push(("threads".to_owned(), with(forms, *tile, Role::Par, (**inner).clone()))),
                _ => {}
            }
            if let Nest::Loop { forms: next, tile: size, role: own, inner: rest } = &**inner
                && same_statements(forms, next)
                && forms != next
            {
                let inside = with(forms, *tile, *role, (**rest).clone());
                found.push(("loops exchanged".to_owned(), with(next, *size, *own, inside)));
            }
            for (change, other) in roles(inner) {
                found.push((change, with(forms, *tile, *role, other)));
            }
            found
        }
    }
}

fn same_statements(one: &Forms, other: &Forms) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(a, b)| a.0 == b.0)
}

/// Points in another order of their axes, in lanes or not, and several rows at a time.
fn points(statement: Statement, axes: &[usize], role: Role) -> Vec<(String, Nest)> {
    let with = |axes: Vec<usize>, role| Nest::Points { statement, axes, role };
    let mut found = Vec::new();
    for at in 1..axes.len() {
        let mut axes = axes.to_vec();
        axes.swap(at - 1, at);
        found.push(("axes exchanged".to_owned(), with(axes, role)));
    }
    match role {
        Role::Par if !axes.is_empty() => {
            for width in [8, 16, 32] {
                found.push((format!("{width} lanes"), with(axes.to_vec(), Role::Lane(width))));
            }
        }
        Role::Lane(_) => {
            found.push(("no lanes".to_owned(), with(axes.to_vec(), Role::Par)));
            if let [.., row, _] = axes {
                for rows in [2, 4, 8] {
                    let inner = with(axes.to_vec(), role);
                    let nest = in_rows(statement, *row, axes.len(), rows, inner);
                    found.push((format!("{rows} rows at a time"), nest));
                }
            }
        }
        _ => {}
    }
    found
}

/// Points with so many values of an axis at a time, written out.
fn in_rows(statement: Statement, axis: usize, rank: usize, rows: u32, inner: Nest) -> Nest {
    let coefficients = (0..rank).map(|at| i64::from(at == axis)).collect();
    let forms = vec![(statement, Form { coefficients, offset: 0 })];
    let written_out = Nest::Loop {
        forms: forms.clone(),
        tile: None,
        role: Role::Unroll(rows),
        inner: Box::new(inner),
    };
    let (tile, inner) = (Some(i64::from(rows)), Box::new(written_out));
    Nest::Loop { forms, tile, role: Role::Par, inner }
}
