//! Cuts long loops into pieces, so that machine code looks at limits and interruptions between them.
//!
//! Code counts the rounds of a loop before the first one. A kernel of one long loop would not be stopped
//! by anything until its end; here it becomes a loop over pieces, in the same order. Loops inside others
//! stay as they are: between two runs of them there is a look already.

use einlang_index::{MinMax, Quasi, Result, Vars};
use einlang_loops::ir::{Block, Kernel, Loop, Own, Range, Role, Stmt};

/// The rounds of a piece, some milliseconds of work.
const PIECE: i64 = 1 << 20;

/// Cuts the loops of a kernel.
pub(super) fn breathe(kernel: &mut Kernel) {
    let stmts = std::mem::take(&mut kernel.body.stmts);
    for stmt in stmts {
        match stmt {
            Stmt::Loop(of) if is_long(&of) => match cut(&of, &mut kernel.vars) {
                Ok(pieces) => kernel.body.stmts.extend(pieces),
                Err(_) => kernel.body.stmts.push(Stmt::Loop(of)),
            },
            other => kernel.body.stmts.push(other),
        }
    }
}

/// Whether a loop may run for long without a look; folds that go on from round to round stay whole.
fn is_long(of: &Loop) -> bool {
    let constant = of.range.lo.as_constant().zip(of.range.hi.as_constant());
    let is_short = constant.is_some_and(|(lo, hi)| hi.saturating_sub(lo) <= PIECE);
    let is_plain = matches!(of.role, Role::Seq | Role::Par) && of.until.is_none();
    is_plain && !is_short && is_straight(&of.body)
}

fn is_straight(block: &Block) -> bool {
    block.stmts.iter().all(|stmt| match stmt {
        Stmt::Loop(_) | Stmt::Fold(_) => false,
        Stmt::If { then, otherwise, .. } => is_straight(then) && is_straight(otherwise),
        _ => true,
    })
}

/// The bounds, and a loop over pieces.
fn cut(of: &Loop, vars: &mut Vars) -> Result<[Stmt; 3]> {
    let name = vars.name(of.range.var).unwrap_or("index").to_owned();
    let mut fresh = |what: &str| {
        let mut name = format!("{name}'{what}");
        while vars.lookup(&name).is_some() {
            name.push('\'');
        }
        vars.index(&name)
    };
    let (from, to, piece) = (fresh("from"), fresh("to"), fresh("piece"));
    let (from_, to_) = (Quasi::from(from), Quasi::from(to));
    let n_pieces = MinMax::from(to_.sub(&from_)?).ceil_div(PIECE)?;
    let start = from_.add(&Quasi::from(piece).scale(PIECE)?)?;
    let stop = MinMax::min_of([to_.into(), start.add_constant(PIECE)?.into()])?;
    let inner = Range { lo: start.into(), hi: stop, ..of.range.clone() };
    let inner = Stmt::Loop(Box::new(Loop { range: inner, ..of.clone() }));
    let range = Range { var: piece, lo: Quasi::from(0).into(), hi: n_pieces, down: of.range.down };
    let body = Block { stmts: vec![inner], results: Vec::new() };
    let outer = Loop { range, role: Role::Seq, own: Own::All, until: None, body };
    Ok([
        Stmt::Bind { var: from, expr: of.range.lo.clone() },
        Stmt::Bind { var: to, expr: of.range.hi.clone() },
        Stmt::Loop(Box::new(outer)),
    ])
}
