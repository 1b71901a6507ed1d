//! Combinations of forms, one per binding, for one loop.
//!
//! Bindings get their forms one after the other, in the order of the candidates, and a form that
//! leaves a read of or by an earlier binding without a bound is passed over at once. What is known
//! of two forms of two bindings is remembered, so the work grows with the pairs that are met and not
//! with their combinations.

use std::collections::{BTreeMap, HashMap};

use super::depend::Dependence;

/// How many combinations are tried for one loop.
const MAX_TRIES: usize = 2_000;

/// How many pairs of forms are looked at for one loop.
const MAX_PAIRS: usize = 20_000;

/// One coefficient vector per binding.
pub(super) type Forms = BTreeMap<usize, Vec<i64>>;

/// Whether the distance of a read is bounded under a form of the reader and one of the writer.
type Bounded<'a> = Box<dyn Fn(&Dependence, &[i64], &[i64]) -> bool + 'a>;

/// The combinations of one loop.
pub(super) struct Combinations<'a> {
    /// The bindings with their candidates.
    lists: Vec<(usize, Vec<Vec<i64>>)>,
    /// The reads between two places of the list, either way.
    between: HashMap<(usize, usize), Vec<&'a Dependence>>,
    bounded: Bounded<'a>,
    /// Whether two candidates, each by its place and number, fit together.
    known: HashMap<(usize, usize, usize, usize), bool>,
    n_tries: usize,
}

impl<'a> Combinations<'a> {
    pub(super) fn new(
        lists: Vec<(usize, Vec<Vec<i64>>)>,
        dependences: &'a [Dependence],
        bounded: Bounded<'a>,
    ) -> Combinations<'a> {
        let place = |binding: usize| lists.iter().position(|list| list.0 == binding);
        let mut between: HashMap<(usize, usize), Vec<&Dependence>> = HashMap::new();
        for dependence in dependences {
            let ends = [dependence.reader, dependence.writer].map(|s| place(s.binding));
            if let [Some(reader), Some(writer)] = ends
                && reader != writer
            {
                let pair = (reader.min(writer), reader.max(writer));
                between.entry(pair).or_default().push(dependence);
            }
        }
        Combinations { lists, between, bounded, known: HashMap::new(), n_tries: 0 }
    }

    /// The first answer that one of the combinations gives.
    pub(super) fn search<R>(mut self, visit: &mut dyn FnMut(Forms) -> Option<R>) -> Option<R> {
        self.extend(&mut Vec::new(), visit)
    }

    fn extend<R>(
        &mut self,
        chosen: &mut Vec<usize>,
        visit: &mut dyn FnMut(Forms) -> Option<R>,
    ) -> Option<R> {
        let at = chosen.len();
        let Some((_, candidates)) = self.lists.get(at) else {
            self.n_tries += 1;
            let pick = |((b, list), at): (&(usize, Vec<Vec<i64>>), &usize)| (*b, list[*at].clone());
            return visit(self.lists.iter().zip(chosen.iter()).map(pick).collect());
        };
        for number in 0..candidates.len() {
            if self.n_tries >= MAX_TRIES || self.known.len() >= MAX_PAIRS {
                return None;
            }
            let earlier: Vec<usize> = chosen.clone();
            let fits = earlier.iter().enumerate();
            if fits.into_iter().all(|(place, other)| self.fit((place, *other), (at, number))) {
                chosen.push(number);
                let found = self.extend(chosen, visit);
                chosen.pop();
                if found.is_some() {
                    return found;
                }
            }
        }
        None
    }

    /// Whether two candidates, the earlier place first, leave every read between them bounded.
    fn fit(&mut self, first: (usize, usize), second: (usize, usize)) -> bool {
        let Some(reads) = self.between.get(&(first.0, second.0)) else { return true };
        let key = (first.0, first.1, second.0, second.1);
        let (lists, bounded) = (&self.lists, &self.bounded);
        *self.known.entry(key).or_insert_with(|| {
            let (one, other) = (&lists[first.0], &lists[second.0]);
            let (one_form, other_form) = (&one.1[first.1], &other.1[second.1]);
            reads.iter().all(|read| match read.reader.binding == one.0 {
                true => bounded(read, one_form, other_form),
                false => bounded(read, other_form, one_form),
            })
        })
    }
}
