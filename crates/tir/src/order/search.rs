//! The search for an order.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use einlang_index::{Domain, Facts, Quasi};
use rustc_hash::FxHashMap as HashMap;

use super::combine::{Combinations, Forms};
use super::depend::{Dependence, Statement};
use super::forms::{candidates, offsets};
use super::{CycleRead, Form, NoOrder, Order};
use crate::graph::strong_parts;
use crate::module::{Axis, Group, Until};

/// The largest shift between bindings that is looked for.
const MAX_SHIFT: i64 = 8;

/// A conflict of more reads than this is shown as it is.
const MAX_CONFLICT: usize = 24;

/// How many distances of parts of reads are computed, and pairs of such parts compared, before a search gives
/// up. Programs that people write need some thousands.
const MAX_WORK: usize = 400_000;

/// The part of that work after which steady forms are preferred.
const LITTLE_WORK: usize = 6_000;

/// Finds an order that respects all dependences. Forms are tried as they come at first; where that does not
/// lead to an end, as with many short axes that may all stand for each other, steady ones come first.
pub(super) fn search(group: &Group, dependences: &[Dependence], facts: &Facts) -> Option<Order> {
    let little = Search { left: Cell::new(LITTLE_WORK), ..Search::new(group, facts) };
    let steady = || Search { steady: true, ..Search::new(group, facts) }.attempt(dependences);
    little.attempt(dependences).or_else(|_| steady()).ok()
}

/// The reads for which there is no order: leave out any one, and there is.
pub(super) fn conflict(group: &Group, dependences: &[Dependence], facts: &Facts) -> NoOrder {
    let search = Search { steady: true, ..Search::new(group, facts) };
    let stuck = match search.attempt(dependences) {
        Ok(_) => Vec::new(),
        Err(stuck) => stuck.0,
    };
    // Once it has given up, the search does not know what fails.
    let fails = |list: &[Dependence]| search.attempt(list).is_err() && search.left.get() > 0;
    NoOrder { cycle: cycle(&smallest_conflict(stuck, &fails)) }
}

/// Dependences that could not be ordered.
struct Stuck(Vec<Dependence>);

/// Leaves out what is not needed for the conflict, one dependence after the other.
fn smallest_conflict(
    mut conflict: Vec<Dependence>,
    fails: &dyn Fn(&[Dependence]) -> bool,
) -> Vec<Dependence> {
    if conflict.len() > MAX_CONFLICT || !fails(&conflict) {
        return conflict;
    }
    let mut at = 0;
    while at < conflict.len() {
        let mut fewer = conflict.clone();
        fewer.remove(at);
        match fails(&fewer) {
            true => conflict = fewer,
            false => at += 1,
        }
    }
    conflict
}

struct Search<'a> {
    group: &'a Group,
    facts: &'a Facts,
    /// How much work may still be done.
    left: Cell<usize>,
    /// Loops whose reads all reach equally far back are looked for first. There are few of them, and time is
    /// among them.
    steady: bool,
    /// Which domains of reads have no point, once it was asked.
    empty: RefCell<HashMap<Domain, bool>>,
}

/// What a loop does to dependences.
struct Carried {
    /// The shift of each binding.
    offsets: BTreeMap<usize, i64>,
    /// The dependences it does not carry, restricted to one value of it.
    rest: Vec<Dependence>,
    /// Whether it carries anything.
    gained: bool,
}

/// What is known of dependences, by position, under the forms of reader and writer: combinations of
/// forms have most of them in common.
type Distances = HashMap<(usize, Vec<i64>, Vec<i64>), Option<(Quasi, i64)>>;

impl<'a> Search<'a> {
    fn new(group: &'a Group, facts: &'a Facts) -> Search<'a> {
        Search { group, facts, left: Cell::new(MAX_WORK), steady: false, empty: RefCell::default() }
    }

    /// An order that respects these dependences.
    fn attempt(&self, dependences: &[Dependence]) -> Result<Order, Stuck> {
        let bindings = self.group.bindings.iter();
        let depth = bindings.clone().map(|binding| binding.axes.len()).max().unwrap_or(0);
        let statements = bindings.enumerate().flat_map(|(binding, b)| {
            (0..b.clauses.len()).map(move |clause| Statement { binding, clause })
        });
        let statements: Vec<Statement> = statements.collect();
        match &self.group.until {
            None => self.order(&statements, dependences.to_vec(), depth),
            Some(until) => self.lockstep(&statements, dependences, depth, until),
        }
    }
}

impl Search<'_> {
    /// The order of a group with `until`: the open axis is the outermost loop, ascending and in
    /// lockstep, because the condition is tested after each of its steps.
    fn lockstep(
        &self,
        statements: &[Statement],
        dependences: &[Dependence],
        depth: usize,
        until: &Until,
    ) -> Result<Order, Stuck> {
        let open = |axis: &Axis| i64::from(axis.dim.extent.as_var() == Some(until.extent));
        let bindings = self.group.bindings.iter().enumerate();
        let forms: Forms =
            bindings.map(|(at, b)| (at, b.axes.iter().map(open).collect())).collect();
        match self.carry(&forms, dependences, &mut Distances::default()) {
            Some(carried) if carried.offsets.values().all(|offset| *offset == 0) => {
                let inner =
                    Box::new(self.order(statements, carried.rest, depth.saturating_sub(1))?);
                let form =
                    |s: &Statement| Form { coefficients: forms[&s.binding].clone(), offset: 0 };
                let forms = statements.iter().map(|s| (*s, form(s))).collect();
                Ok(Order::Loop { forms, inner })
            }
            _ => Err(Stuck(dependences.to_vec())),
        }
    }

    /// Phases of the parts that depend on each other.
    fn order(
        &self,
        statements: &[Statement],
        dependences: Vec<Dependence>,
        depth: usize,
    ) -> Result<Order, Stuck> {
        let number: HashMap<Statement, usize> =
            statements.iter().enumerate().map(|(at, s)| (*s, at)).collect();
        let mut edges = vec![Vec::new(); statements.len()];
        for dependence in &dependences {
            edges[number[&dependence.reader]].push(number[&dependence.writer]);
        }
        let mut phases = Vec::new();
        for part in strong_parts(&edges) {
            let members: BTreeSet<Statement> = part.iter().map(|at| statements[*at]).collect();
            let inside =
                |d: &&Dependence| members.contains(&d.reader) && members.contains(&d.writer);
            let inside: Vec<Dependence> = dependences.iter().filter(inside).cloned().collect();
            phases.push(self.part(&members, inside, depth)?);
        }
        match phases.len() {
            1 => Ok(phases.remove(0)),
            _ => Ok(Order::Phases(phases)),
        }
    }

    /// A loop for statements that depend on each other, or a single statement.
    fn part(
        &self,
        members: &BTreeSet<Statement>,
        dependences: Vec<Dependence>,
        depth: usize,
    ) -> Result<Order, Stuck> {
        if dependences.is_empty()
            && let Some(statement) = members.first()
        {
            return Ok(Order::Points(*statement));
        }
        if depth == 0 {
            return Err(Stuck(dependences));
        }
        let steady = self.steady.then(|| self.looped(members, &dependences, depth, true)).flatten();
        let found = steady.or_else(|| self.looped(members, &dependences, depth, false));
        found.ok_or(Stuck(dependences))
    }

    /// A loop for statements that depend on each other.
    fn looped(
        &self,
        members: &BTreeSet<Statement>,
        dependences: &[Dependence],
        depth: usize,
        steady: bool,
    ) -> Option<Order> {
        let list: Vec<Statement> = members.iter().copied().collect();
        let mut known = Distances::default();
        self.combinations(members, dependences, steady).search(&mut |forms| {
            let carried = self.carry(&forms, dependences, &mut known)?;
            if !carried.gained {
                return None;
            }
            let inner = Box::new(self.order(&list, carried.rest, depth - 1).ok()?);
            let form = |s: &Statement| Form {
                coefficients: forms[&s.binding].clone(),
                offset: carried.offsets[&s.binding],
            };
            Some(Order::Loop { forms: list.iter().map(|s| (*s, form(s))).collect(), inner })
        })
    }

    /// Forms for all bindings of a part: the axes in the order written, then skews. Steady ones are those
    /// under which the distance of each read is one number.
    fn combinations<'a>(
        &'a self,
        members: &BTreeSet<Statement>,
        dependences: &'a [Dependence],
        steady: bool,
    ) -> Combinations<'a> {
        let bindings: BTreeSet<usize> = members.iter().map(|statement| statement.binding).collect();
        let suitable = |binding: usize| {
            let mut candidates = candidates(self.group.bindings[binding].axes.len());
            candidates.retain(|form| self.suits(binding, form, dependences));
            (binding, candidates)
        };
        let lists = bindings.into_iter().map(suitable).collect();
        let least = move |dependence: &Dependence, reader: &[i64], writer: &[i64]| {
            let (distance, least) = self.distance(dependence, reader, writer)?;
            (!steady || distance.as_constant().is_some()).then_some(least)
        };
        Combinations::new(lists, dependences, Box::new(least))
    }

    /// Whether a form runs none of a binding's reads of itself backwards, which no shift mends.
    fn suits(&self, binding: usize, form: &[i64], dependences: &[Dependence]) -> bool {
        let own = |d: &&Dependence| (d.reader.binding, d.writer.binding) == (binding, binding);
        let least = |d: &Dependence| self.distance(d, form, form).map(|distance| distance.1);
        dependences.iter().filter(own).all(|d| least(d).is_some_and(|least| least >= 0))
    }

    /// How much later a reader is than what it reads, and the least that it ever is.
    fn distance(
        &self,
        dependence: &Dependence,
        reader: &[i64],
        writer: &[i64],
    ) -> Option<(Quasi, i64)> {
        self.pay(dependence.domain.sets().len())?;
        let axes = self.group.bindings[dependence.reader.binding].dims();
        let distance = dependence.distance(&axes, reader, writer).ok()?;
        let least = self.least(&dependence.domain, &distance)?;
        Some((distance, least))
    }

    /// What a loop does to the dependences; `None` if one would run backwards.
    fn carry(
        &self,
        forms: &Forms,
        dependences: &[Dependence],
        known: &mut Distances,
    ) -> Option<Carried> {
        let mut distances = Vec::with_capacity(dependences.len());
        for (at, dependence) in dependences.iter().enumerate() {
            let (reader, writer) = (dependence.reader.binding, dependence.writer.binding);
            let (reader, writer) = (&forms[&reader], &forms[&writer]);
            let found = known.entry((at, reader.clone(), writer.clone()));
            let found = found.or_insert_with(|| self.distance(dependence, reader, writer));
            let (distance, least) = found.clone()?;
            distances.push((dependence, distance, least));
        }
        let slacks =
            distances.iter().map(|(d, _, least)| (d.reader.binding, d.writer.binding, *least));
        let offsets = offsets(forms.keys().copied(), &slacks.collect::<Vec<_>>())?;
        let mut rest = Vec::new();
        let mut gained = false;
        for (dependence, distance, least) in distances {
            let shift = offsets[&dependence.reader.binding] - offsets[&dependence.writer.binding];
            if least + shift >= 1 {
                gained = true;
                continue;
            }
            // Parts of a domain are compared with each other.
            self.pay(dependence.domain.sets().len().saturating_pow(2))?;
            let distance = distance.add_constant(shift).ok()?;
            gained |= !self.always_zero(&dependence.domain, &distance);
            rest.push(at_once(dependence, &distance));
        }
        Some(Carried { offsets, rest, gained })
    }

    /// Takes note of work; nothing if there was too much of it.
    fn pay(&self, work: usize) -> Option<()> {
        let left = self.left.get().saturating_sub(work.max(1));
        self.left.set(left);
        (left > 0).then_some(())
    }

    /// The largest number, within limits, that the expression never falls below.
    fn least(&self, domain: &Domain, expr: &Quasi) -> Option<i64> {
        let at_least = |bound: i64| {
            expr.add_constant(-bound).is_ok_and(|slack| self.facts.prove(domain, &slack).is_true())
        };
        // Most reads are of the same step or the one before, so these are tried first; of others most have no bound.
        let (mut low, mut high) = match expr.as_constant() {
            Some(number @ 1..=MAX_SHIFT) => return Some(number),
            Some(number) if (-MAX_SHIFT..=0).contains(&number) && !self.is_empty(domain) => {
                return Some(number);
            }
            _ if !at_least(-MAX_SHIFT) => return None,
            _ if !at_least(0) => (-MAX_SHIFT, 0),
            _ if !at_least(1) => return Some(0),
            _ if !at_least(2) => return Some(1),
            _ => (2, MAX_SHIFT + 1),
        };
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if at_least(middle) { low = middle } else { high = middle }
        }
        Some(low)
    }

    /// Whether a domain is known to have no point.
    fn is_empty(&self, domain: &Domain) -> bool {
        if let Some(known) = self.empty.borrow().get(domain) {
            return *known;
        }
        let is_empty = self.facts.prove(domain, &Quasi::from(-1)).is_true();
        self.empty.borrow_mut().insert(domain.clone(), is_empty);
        is_empty
    }

    fn always_zero(&self, domain: &Domain, expr: &Quasi) -> bool {
        expr.neg().is_ok_and(|negated| self.facts.prove(domain, &negated).is_true())
    }
}

/// The dependence among points with equal values of the loop.
fn at_once(dependence: &Dependence, distance: &Quasi) -> Dependence {
    let domain = &dependence.domain;
    let equal = Domain::where_zero(domain.dims(), distance);
    let part = equal.and_then(|equal| domain.intersect(&equal));
    Dependence { domain: part.unwrap_or_else(|_| domain.clone()), ..dependence.clone() }
}

/// The reads of a conflict, each followed, where possible, by one of what it reads.
pub(super) fn cycle(conflict: &[Dependence]) -> Vec<CycleRead> {
    let mut left: Vec<&Dependence> = conflict.iter().collect();
    let mut reads = Vec::with_capacity(left.len());
    let mut at = 0;
    while !left.is_empty() {
        let Dependence { reader, writer, read, loc, .. } = left.remove(at).clone();
        reads.push(CycleRead { reader, writer, read, loc });
        at = left.iter().position(|next| next.reader == writer).unwrap_or(0);
    }
    reads
}
