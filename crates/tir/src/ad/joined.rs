//! Sums of neighbouring clauses that continue each other.
//!
//! Where a clause was divided by a short axis (`short_axes`), each part has its own copy of every sum:
//! `sum[i](x[i] * w[i, k])`, `sum[i](x[i] * w[i, k + H])` and so on, all for `k in 0..H`. Once they are
//! lifted, they are one tensor along `k`, `2 * H` long for two of them: one contraction, whose adjoints
//! are one contraction each, where there were as many as the short axis is long.
//!
//! Invariants: a binding takes up another only if it computes the same at points that begin where its own
//! end; every read of the other then reads it, further on along that axis.

use einlang_index::{Affine, Constraint, Domain, Facts, Quasi, Set, Var, VarKind};
use rustc_hash::FxHashSet as HashSet;

use super::tidy::drop_dead;
use crate::fresh::Fresh;
use crate::module::{Binding, Clause, Group};
use crate::region::{Arg, InstKind, Place, Region, Subscript};
use crate::substitute::Substitution;
use crate::types::Ident;

/// A binding that is part of another: that one, and the axis and distance at which it lies there.
pub(super) struct Part {
    name: Ident,
    whole: Ident,
    pub(super) axis: usize,
    pub(super) distance: Quasi,
}

/// Joins what was lifted from the clauses of one binding, all reads of which are in these clauses or in
/// what was lifted. The names that are gone.
pub(super) fn join(made: &mut Vec<Binding>, clauses: &mut [Clause], facts: &Facts) -> Vec<Ident> {
    if made.len() < 2 {
        return Vec::new();
    }
    let mut fixed = HashSet::default();
    let bodies = made.iter().flat_map(|binding| &binding.clauses).chain(clauses.iter());
    for region in bodies.flat_map(|clause| clause.guard.iter().chain([&clause.body])) {
        note_fixed(region, &mut fixed);
    }
    let mut parts: Vec<Part> = Vec::new();
    let mut kept: Vec<Binding> = Vec::with_capacity(made.len());
    for binding in made.drain(..) {
        let mut wholes = kept.iter_mut().filter(|_| !fixed.contains(&binding.name));
        match wholes.find_map(|whole| take_up(whole, &binding, facts)) {
            Some(part) => parts.push(part),
            None => kept.push(binding),
        }
    }
    let bodies = kept.iter_mut().flat_map(|binding| &mut binding.clauses).chain(clauses);
    for region in bodies.flat_map(|clause| clause.guard.iter_mut().chain([&mut clause.body])) {
        parts.iter().for_each(|part| part.redirect(region));
    }
    *made = kept;
    parts.into_iter().map(|part| part.name).collect()
}

impl Part {
    /// Lets what reads the part read the whole.
    fn redirect(&self, region: &mut Region) {
        let fix = |place: &mut Place| {
            if place.tensor == self.name
                && let Some(Subscript::Index(at)) = place.at.get_mut(self.axis)
                && let Ok(further) = at.add(&self.distance)
            {
                (*at, place.tensor) = (further, self.whole.clone());
            }
        };
        region.for_each_region_mut(&mut |region| {
            for inst in &mut region.insts {
                match &mut inst.kind {
                    InstKind::Read(read) => fix(&mut read.place),
                    InstKind::Deriv { of, by } => [of, by].into_iter().for_each(fix),
                    _ => {}
                }
            }
        });
    }
}

/// Takes note of tensors that are used otherwise than at index expressions.
fn note_fixed(region: &Region, fixed: &mut HashSet<Ident>) {
    region.for_each_inst(&mut |inst| {
        let tensors = inst.args().into_iter().filter_map(|arg| match arg {
            Arg::Tensor(name) => Some(name.clone()),
            _ => None,
        });
        fixed.extend(tensors);
        let places = match &inst.kind {
            InstKind::Read(read) => vec![&read.place],
            InstKind::Deriv { of, by } => vec![of, by],
            _ => Vec::new(),
        };
        let is_fixed = |place: &&Place| place.at.iter().any(|at| matches!(at, Subscript::Value(_)));
        fixed.extend(places.into_iter().filter(is_fixed).map(|place| place.tensor.clone()));
    });
}

/// Lets a binding compute another as well, if that goes on where it ends.
pub(super) fn take_up(whole: &mut Binding, part: &Binding, facts: &Facts) -> Option<Part> {
    let is_alike = whole.elem == part.elem && whole.axes.len() == part.axes.len();
    let ([own], [other], true) = (&whole.clauses[..], &part.clauses[..], is_alike) else {
        return None;
    };
    if own.guard.is_some() || other.guard.is_some() || whole.zero_fill || part.zero_fill {
        return None;
    }
    let (a, b) = (canonical(whole)?, canonical(part)?);
    let (own_body, other_body) = (&a.clauses[0].body, &b.clauses[0].body);
    let (axis, distance) = shift(&a, own_body, other_body)?;
    let var = a.axes[axis].var;
    let mut moved = own_body.clone();
    let mut substitution = Substitution::default();
    substitution.vars.insert(var, Quasi::from(var).add(&distance).ok()?);
    substitution.region(&mut moved).ok()?;
    if moved != *other_body {
        return None;
    }
    let mut dims = a.axes.iter().zip(&b.axes).enumerate();
    if dims.any(|(at, (a, b))| at != axis && a.dim != b.dim) {
        return None;
    }
    // Where the points of each begin and end along the axis; they are the same along all others.
    let range = |binding: &Binding| match binding.clauses[0].domain.sets() {
        [set] => range(set, var),
        _ => None,
    };
    let (own_range, other_range) = (range(&a)?, range(&b)?);
    let begins = Quasi::from(other_range.first.clone()).add(&distance).ok()?;
    let ends = Quasi::from(own_range.last.clone()).add_constant(1).ok()?;
    let has_points = |range: &Range| {
        let length = range.last.sub(&range.first).and_then(|length| length.add_constant(1));
        length.is_ok_and(|length| facts.implies(&length.into()).is_true())
    };
    if own_range.rest != other_range.rest
        || begins != ends
        || !has_points(&own_range)
        || !has_points(&other_range)
    {
        return None;
    }
    let last = other_range.last.add(distance.as_affine()?).ok()?;
    let own_var = whole.axes[axis].var;
    let set = until(whole.clauses[0].domain.sets().first()?, own_var, &last)?;
    let dims = whole.clauses[0].domain.dims().to_vec();
    whole.clauses[0].domain = Domain::new(dims, set).into();
    whole.axes[axis].dim = Quasi::from(last.add_constant(1).ok()?).into();
    let (name, whole) = (part.name.clone(), whole.name.clone());
    Some(Part { name, whole, axis, distance })
}

/// A copy that is the same for all bindings that compute the same, without what nothing uses.
fn canonical(binding: &Binding) -> Option<Binding> {
    let mut binding = binding.clone();
    for clause in &mut binding.clauses {
        clause.body.for_each_region_mut(&mut drop_dead);
    }
    let group = Group { bindings: vec![binding], until: None };
    Fresh::canonical().copy_group(&group).ok()?.bindings.pop()
}

/// The axis along which the second of two bodies reads further on than the first, and how far, if they
/// differ at all.
fn shift(binding: &Binding, a: &Region, b: &Region) -> Option<(usize, Quasi)> {
    let (a, b) = (subscripts(a), subscripts(b));
    let (from, to) = a.iter().zip(&b).find(|(a, b)| a != b)?;
    let distance = to.sub(from).ok()?;
    let mut is_fixed = distance.as_affine().is_some();
    distance.for_each_var(&mut |var| is_fixed &= var.kind() == VarKind::Symbol);
    let affine = from.as_affine().filter(|_| is_fixed)?;
    let axis = binding.axes.iter().position(|axis| affine.coeff(axis.var) == 1)?;
    Some((axis, distance))
}

/// All subscripts of a body that are index expressions, in order.
fn subscripts(region: &Region) -> Vec<Quasi> {
    let mut found = Vec::new();
    region.for_each_inst(&mut |inst| {
        if let InstKind::Read(read) = &inst.kind {
            found.extend(read.place.at.iter().filter_map(|at| match at {
                Subscript::Index(expr) => Some(expr.clone()),
                Subscript::Value(_) => None,
            }));
        }
    });
    found
}

/// The points of a set along an axis.
struct Range {
    first: Affine,
    last: Affine,
    /// What the set says of other axes.
    rest: Set,
}

/// The first and last points along an axis, where they are the same for all others.
fn range(set: &Set, var: Var) -> Option<Range> {
    let (mut first, mut last, mut rest) = (None, None, Vec::new());
    for constraint in set.constraints() {
        if !constraint.expr().mentions(var) {
            rest.push(constraint);
        }
    }
    let is_elsewhere = set.eqs().iter().any(|expr| expr.mentions(var))
        || set.mods().iter().any(|congruence| congruence.expr().mentions(var));
    if is_elsewhere {
        return None;
    }
    for expr in set.ges().iter().filter(|expr| expr.mentions(var)) {
        let bound = expr.without(var);
        if bound.vars().any(|var| var.kind() != VarKind::Symbol) {
            return None;
        }
        let place = match expr.coeff(var) {
            1 => &mut first,
            -1 => &mut last,
            _ => return None,
        };
        let bound = if expr.coeff(var) == 1 { bound.neg().ok()? } else { bound };
        if place.replace(bound).is_some() {
            return None;
        }
    }
    Some(Range { first: first?, last: last?, rest: Set::new(rest).ok()? })
}

/// A set with another last point along an axis.
fn until(set: &Set, var: Var, last: &Affine) -> Option<Set> {
    let Range { first, rest, .. } = range(set, var)?;
    let at = Affine::var(var);
    let from = Constraint::ge(&at, &first).ok()?;
    let to = Constraint::ge(last, &at).ok()?;
    rest.and(from).ok()?.and(to).ok()
}
