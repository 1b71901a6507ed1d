//! Combinations of forms, one per binding, for one loop.
//!
//! Bindings get their forms one after the other, each next to one that has its own, in the order of
//! the candidates. A form is passed over at once if a read of or by an earlier binding has no bound
//! under it, or if no shifts of the bindings so far bring all reads between them into order. What is
//! known of two forms of two bindings is remembered, so the work grows with the pairs that are met
//! and not with their combinations. Where no form of a binding fits, the search goes back to the last
//! binding that has something to do with it: others in between may have any form.

use std::collections::{BTreeMap, BTreeSet};

use super::depend::Dependence;
use super::forms::offsets_with_next;

/// How many combinations are tried for one loop.
const MAX_TRIES: usize = 2_000;

/// How many pairs of forms are looked at for one loop.
const MAX_PAIRS: usize = 20_000;

/// How many steps the search takes, each as long as there are distances to bring into order.
const MAX_STEPS: usize = 10_000_000;

/// One coefficient vector per binding.
pub(super) type Forms = BTreeMap<usize, Vec<i64>>;

/// How much later than what it reads a reader is at least, under a form of the reader and one of the
/// writer.
type Least<'a> = Box<dyn Fn(&Dependence, &[i64], &[i64]) -> Option<i64> + 'a>;

/// The place of a reader, that of what it reads, and the least distance between them.
type Slack = (usize, usize, i64);

/// The reads between two bindings, either way, and what is known of their candidates.
struct Pair<'a> {
    /// The place of the earlier one.
    first: usize,
    reads: Vec<&'a Dependence>,
    /// The distances by the numbers of both candidates, once they were asked for, if all have bounds.
    known: Vec<Vec<Option<Option<Vec<Slack>>>>>,
}

/// The combinations of one loop.
pub(super) struct Combinations<'a> {
    /// The bindings with their candidates.
    lists: Vec<(usize, Vec<Vec<i64>>)>,
    /// For each place of the list, the pairs with earlier ones, in their order.
    pairs: Vec<Vec<Pair<'a>>>,
    least: Least<'a>,
    n_tries: usize,
    n_pairs: usize,
    n_steps: usize,
}

impl<'a> Combinations<'a> {
    pub(super) fn new(
        lists: Vec<(usize, Vec<Vec<i64>>)>,
        dependences: &'a [Dependence],
        least: Least<'a>,
    ) -> Combinations<'a> {
        let lists = side_by_side(lists, dependences);
        let place = |binding: usize| lists.iter().position(|list| list.0 == binding);
        let mut between: BTreeMap<(usize, usize), Vec<&Dependence>> = BTreeMap::new();
        for dependence in dependences {
            let ends = [dependence.reader, dependence.writer].map(|s| place(s.binding));
            if let [Some(reader), Some(writer)] = ends
                && reader != writer
            {
                let pair = (reader.min(writer), reader.max(writer));
                between.entry(pair).or_default().push(dependence);
            }
        }
        let mut pairs: Vec<Vec<Pair<'_>>> = lists.iter().map(|_| Vec::new()).collect();
        for ((first, second), reads) in between {
            let known = vec![Vec::new(); lists[first].1.len()];
            pairs[second].push(Pair { first, reads, known });
        }
        Combinations { lists, pairs, least, n_tries: 0, n_pairs: 0, n_steps: 0 }
    }

    /// The first answer that one of the combinations gives.
    pub(super) fn search<R>(mut self, visit: &mut dyn FnMut(Forms) -> Option<R>) -> Option<R> {
        self.extend(&mut Vec::new(), &mut Vec::new(), &[], visit).ok()
    }

    /// The first answer with these forms for the first places, whose reads the shifts bring into order, or the
    /// places without whose forms there might be another.
    fn extend<R>(
        &mut self,
        chosen: &mut Vec<usize>,
        slacks: &mut Vec<Slack>,
        shifts: &[i64],
        visit: &mut dyn FnMut(Forms) -> Option<R>,
    ) -> Result<R, BTreeSet<usize>> {
        let at = chosen.len();
        let Some((_, candidates)) = self.lists.get(at) else {
            self.n_tries += 1;
            let pick = |((b, list), at): (&(usize, Vec<Vec<i64>>), &usize)| (*b, list[*at].clone());
            let forms = self.lists.iter().zip(chosen.iter()).map(pick).collect();
            return visit(forms).ok_or_else(|| (0..at).collect());
        };
        let mut blamed = BTreeSet::new();
        for number in 0..candidates.len() {
            self.n_steps += slacks.len().max(1);
            let is_long = self.n_steps >= MAX_STEPS;
            if is_long || self.n_tries >= MAX_TRIES || self.n_pairs >= MAX_PAIRS {
                return Err(BTreeSet::new());
            }
            let n_slacks = slacks.len();
            let unbounded = (0..self.pairs[at].len()).find(|pair| {
                let more = self.between(*pair, chosen, (at, number));
                more.map(|more| slacks.extend_from_slice(more)).is_none()
            });
            let shifted = match unbounded {
                Some(pair) => Err(BTreeSet::from([self.pairs[at][pair].first])),
                None => offsets_with_next(shifts, slacks),
            };
            match shifted {
                Err(others) => blamed.extend(others),
                Ok(shifts) => {
                    chosen.push(number);
                    let found = self.extend(chosen, slacks, &shifts, visit);
                    chosen.pop();
                    match found {
                        Err(others) if others.contains(&at) => blamed.extend(others),
                        // Another form here would change nothing.
                        found => return found,
                    }
                }
            }
            slacks.truncate(n_slacks);
        }
        blamed.remove(&at);
        Err(blamed)
    }

    /// The distances of the reads between what was chosen for the earlier place of a pair and a candidate.
    fn between(
        &mut self,
        pair: usize,
        chosen: &[usize],
        (at, number): (usize, usize),
    ) -> Option<&[Slack]> {
        let (lists, least) = (&self.lists, &self.least);
        let Pair { first, reads, known } = &mut self.pairs[at][pair];
        let (one, other) = (&lists[*first], &lists[at]);
        let row = &mut known[chosen[*first]];
        row.resize(other.1.len(), None);
        let n_pairs = &mut self.n_pairs;
        let found = row[number].get_or_insert_with(|| {
            *n_pairs += 1;
            let (one_form, other_form) = (&one.1[chosen[*first]], &other.1[number]);
            let slack = |read: &&Dependence| match read.reader.binding == one.0 {
                true => Some((*first, at, least(read, one_form, other_form)?)),
                false => Some((at, *first, least(read, other_form, one_form)?)),
            };
            reads.iter().map(slack).collect::<Option<Vec<_>>>().map(tightest)
        });
        found.as_deref()
    }
}

/// Of several distances between the same two bindings, only the least matters.
fn tightest(mut slacks: Vec<Slack>) -> Vec<Slack> {
    slacks.sort_unstable();
    slacks.dedup_by_key(|slack| (slack.0, slack.1));
    slacks
}

/// The bindings in an order in which each after the first reads or is read by an earlier one, where
/// there is one.
fn side_by_side(
    mut lists: Vec<(usize, Vec<Vec<i64>>)>,
    dependences: &[Dependence],
) -> Vec<(usize, Vec<Vec<i64>>)> {
    let mut ordered: Vec<(usize, Vec<Vec<i64>>)> = Vec::with_capacity(lists.len());
    while !lists.is_empty() {
        let placed = |binding: usize| ordered.iter().any(|list| list.0 == binding);
        let next_to = |list: &(usize, Vec<Vec<i64>>)| {
            dependences.iter().any(|dependence| {
                let (reader, writer) = (dependence.reader.binding, dependence.writer.binding);
                (reader == list.0 && placed(writer)) || (writer == list.0 && placed(reader))
            })
        };
        let at = lists.iter().position(next_to).unwrap_or(0);
        ordered.push(lists.remove(at));
    }
    ordered
}
