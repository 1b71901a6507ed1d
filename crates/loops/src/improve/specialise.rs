//! `specialise_sizes`: code of its own for sizes that a schedule expects.
//!
//! Behind the entry checks the kernel asks whether the sizes are as expected, and traps at [`OTHER_SIZES`] if not,
//! so that whoever runs it runs one without expectations instead. Then it binds every size that is known to its
//! number and looks at the shapes of the inputs again: loops over such sizes have constant bounds from there on.

use einlang_index::{Affine, Constraint, Domain, MinMax, Quasi, Set, Var};
use rustc_hash::FxHashMap as HashMap;

use crate::checkpoint::OTHER_SIZES;
use crate::ir::{Condition, Kernel, Stmt};

/// Makes the body one for these sizes. A name that is no size of the kernel changes nothing.
pub(super) fn specialise_sizes(kernel: &mut Kernel, sizes: &[(String, i64)]) {
    let named = |name: &String| {
        let found = kernel.sizes.iter().map(|(var, _)| *var);
        found.into_iter().find(|var| kernel.vars.name(*var) == Some(name.as_str()))
    };
    let wanted: Option<Vec<(Var, i64)>> =
        sizes.iter().map(|(name, value)| Some((named(name)?, *value))).collect();
    let Some(wanted) = wanted.filter(|wanted| !wanted.is_empty()) else { return };
    let Some(split) = kernel.body.stmts.iter().position(|stmt| matches!(stmt, Stmt::Alloc(_)))
    else {
        return;
    };
    let entry = &kernel.body.stmts[..split];
    let known = implied(entry, wanted.iter().copied().collect());
    let mut constraints = Vec::new();
    for (var, value) in &wanted {
        let equal = Constraint::equal(&Affine::var(*var), &Affine::constant(*value));
        constraints.extend(equal.ok());
    }
    let Ok(condition) = Set::new(constraints) else { return };
    let mut order: Vec<(Var, i64)> = known.into_iter().collect();
    order.sort_unstable();
    let binds = order.into_iter().map(|(var, value)| {
        let expr = MinMax::Value(Quasi::from(value));
        Stmt::Bind { var, expr }
    });
    let mut stmts: Vec<Stmt> = binds.collect();
    stmts.extend(entry.iter().filter(|stmt| matches!(stmt, Stmt::CheckShape(..))).cloned());
    let site = kernel.add_site(OTHER_SIZES, Default::default());
    let condition = Condition::Within(Domain::new([], condition));
    stmts.insert(0, Stmt::Assert { condition, site });
    kernel.body.stmts.splice(split..split, stmts);
}

/// The sizes that follow from some by the entry checks.
fn implied(entry: &[Stmt], mut known: HashMap<Var, i64>) -> HashMap<Var, i64> {
    let mut equalities: Vec<Affine> = Vec::new();
    for stmt in entry {
        if let Stmt::Assert { condition: Condition::Within(domain), .. } = stmt
            && let [set] = domain.sets()
        {
            equalities.extend(set.eqs().iter().cloned());
        }
    }
    loop {
        let before = known.len();
        for equality in &equalities {
            let mut unknown = equality.terms().iter().filter(|(var, _)| !known.contains_key(var));
            if let (Some((var, c @ (1 | -1))), None) = (unknown.next(), unknown.next()) {
                let rest = equality.without(*var);
                let value = rest.eval(&|var| known.get(&var).copied().unwrap_or(0));
                if let Ok(value) = value.map(|value| -value * i128::from(*c))
                    && let Ok(value) = i64::try_from(value)
                {
                    known.insert(*var, value);
                }
            }
        }
        if known.len() == before {
            return known;
        }
    }
}
