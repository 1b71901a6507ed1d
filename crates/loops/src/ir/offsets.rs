//! Sizes that are added to subscripts and indices, as variables.
//!
//! Nests over the parts of one tensor, such as the gates of a cell side by side in a matrix, differ in no
//! more than what they add to them. With variables in place of that they have the same pattern.

use einlang_index::{Affine, MinMax, Quasi, Var};

use super::{Block, Combine, Loop, Pattern, Stmt, Subscript};

/// The loop with variables in place of what its loose pattern left out of subscripts: one for each place, or
/// none where it stays as it is. Nothing if numbers become too large.
pub fn with_offsets(of: &Loop, loose: &Pattern, vars: &[Option<Var>]) -> Option<Loop> {
    let mut of = of.clone();
    let mut places = loose.offsets.iter().zip(vars);
    let mut fine = true;
    each_place(&mut of.body, &mut |expr| {
        let replaced = match places.next() {
            Some((Some(offset), Some(var))) => replaced(expr, offset, *var),
            _ => return,
        };
        fine &= replaced.is_some();
        *expr = replaced.unwrap_or_default();
    });
    fine.then_some(of)
}

fn replaced(expr: &Quasi, offset: &Affine, var: Var) -> Option<Quasi> {
    expr.sub(&Quasi::from(offset.clone())).ok()?.add(&Quasi::from(var)).ok()
}

/// Visits subscripts and what indices are bound to, in the order of patterns.
fn each_place(block: &mut Block, visit: &mut dyn FnMut(&mut Quasi)) {
    for stmt in &mut block.stmts {
        match stmt {
            Stmt::Load { at, .. } | Stmt::Probe { at, .. } => {
                for subscript in at {
                    if let Subscript::Index(expr) = subscript {
                        visit(expr);
                    }
                }
            }
            Stmt::Bind { expr: MinMax::Value(expr), .. } => visit(expr),
            Stmt::Store { at, .. } => at.iter_mut().for_each(&mut *visit),
            Stmt::If { then, otherwise, .. } => {
                each_place(then, visit);
                each_place(otherwise, visit);
            }
            Stmt::Loop(of) => each_place(&mut of.body, visit),
            Stmt::Fold(fold) => {
                for block in fold.guard.iter_mut().chain([&mut fold.body]) {
                    each_place(block, visit);
                }
                if let Combine::Block { block, .. } = &mut fold.combine {
                    each_place(block, visit);
                }
            }
            _ => {}
        }
    }
}
