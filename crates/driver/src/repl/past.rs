//! What is left of earlier entries: their texts, and the values of what they bound.
//!
//! A binding comes into a later entry as its value, unless the later entry can see more of it than
//! that. Then its statement is computed again, which is only done where it has no effect but to
//! print, and nothing is printed again:
//!
//! - functions, ranges and differentials, which are no data;
//! - indexed definitions with points that no clause defines, since a default read tells them apart;
//! - recurrences with `until`, where `converged` is mentioned;
//! - what a derivative looks at.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use einlang_interp::value::{HostValue, NodeKind};
use einlang_sema::entries::{Differentiated, Made, not_kept};
use einlang_sema::shapes::{Given, Shape};
use einlang_source::{Code, Diagnostic, Diagnostics, FileId, Sources, Span};

use crate::run::Executable;

/// The value of a binding.
#[derive(Clone, Debug)]
pub(super) struct Bound {
    /// The place of its name.
    pub(super) span: Span,
    pub(super) shape: Shape,
    pub(super) value: HostValue,
}

/// Earlier entries.
#[derive(Default)]
pub(super) struct Past {
    entries: Vec<Kept>,
    bound: HashMap<Span, Bound>,
}

struct Kept {
    name: String,
    text: Arc<str>,
    names: Vec<String>,
}

impl Past {
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The names that entries made, the latest first.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().rev().flat_map(|entry| entry.names.iter().map(String::as_str))
    }

    /// Adds the texts to sources that have none, so that their places are the same each time.
    pub(super) fn add_to(&self, sources: &mut Sources) -> Vec<FileId> {
        let add = |entry: &Kept| sources.add(entry.name.as_str(), Arc::clone(&entry.text));
        self.entries.iter().map(add).collect()
    }

    /// Keeps an entry that was evaluated, and the values that can be handed over.
    pub(super) fn push(
        &mut self,
        name: &str,
        text: &Arc<str>,
        names: Vec<String>,
        left: Vec<Bound>,
        made: &[Made],
        gaps: &HashSet<Span>,
    ) {
        let with_gaps: HashSet<Span> = made
            .iter()
            .filter(|made| gaps.contains(&made.span))
            .flat_map(|made| made.names.iter().copied())
            .collect();
        let kept = left.into_iter().filter(|bound| !with_gaps.contains(&bound.span));
        self.bound.extend(kept.map(|bound| (bound.span, bound)));
        self.entries.push(Kept { name: name.to_owned(), text: Arc::clone(text), names });
    }

    /// What the entry in `file` is given: values, and what is known of them. The sizes that a
    /// statement declares are known if it is not computed again.
    pub(super) fn given(
        &self,
        made: &[Made],
        file: FileId,
        wanted: &Differentiated,
        text: &str,
    ) -> (Vec<Bound>, Given) {
        let asks_for_ends =
            text.contains("converged") || self.entries.iter().any(|e| e.text.contains("converged"));
        let again = |made: &Made| {
            let is_wanted = |name: &Span| wanted.through.contains(name) || wanted.by.contains(name);
            let derived = made.names.iter().any(is_wanted);
            (derived && (!made.effect || made.prints)) || (made.until && asks_for_ends)
        };
        // All clauses of a binding are computed again if one is.
        let computed: HashSet<Span> = made
            .iter()
            .filter(|made| again(made))
            .flat_map(|made| made.names.iter().copied())
            .collect();
        let is_given = |span: &Span| self.bound.contains_key(span) && !computed.contains(span);
        let (mut values, mut shapes, mut seen) = (Vec::new(), Given::default(), HashSet::new());
        for made in made.iter().filter(|made| made.span.file != file) {
            if !made.names.iter().all(is_given) {
                continue;
            }
            for span in &made.names {
                if let Some(bound) = self.bound.get(span).filter(|_| seen.insert(*span)) {
                    values.push(bound.clone());
                }
            }
            for span in made.names.iter().chain(&made.sizes) {
                shapes.extend(self.bound.get(span).map(|bound| (*span, bound.shape.clone())));
            }
        }
        (values, shapes)
    }
}

/// The clauses of bindings with points that no clause defines.
pub(super) fn gaps(diagnostics: &Diagnostics) -> HashSet<Span> {
    let gap = |d: &&Diagnostic| d.code == Code::W0305;
    diagnostics.iter().filter(gap).map(|d| d.primary.span).collect()
}

/// The statements of earlier entries that print and are computed again.
pub(super) fn muted(made: &[Made], file: FileId, given: &[Bound]) -> HashSet<Span> {
    let is_given = |name: &Span| given.iter().any(|bound| bound.span == *name);
    let again =
        |made: &&Made| made.span.file != file && made.prints && !made.names.iter().all(is_given);
    made.iter().filter(again).map(|made| made.span).collect()
}

/// An earlier binding that a derivative looks through although it cannot be computed again.
pub(super) fn cut(made: &[Made], file: FileId, wanted: &Differentiated) -> Option<Made> {
    let is_cut = |made: &&Made| {
        let is_past = made.span.file != file;
        let reached = made.names.iter().any(|name| wanted.through.contains(name));
        is_past && reached && made.effect && !made.prints && made.reads
    };
    made.iter().find(is_cut).cloned()
}

/// Refuses an entry, before it runs, that would bind something which neither leaves it as a value
/// nor can be computed again.
pub(super) fn refuse_lost(
    made: &[Made],
    file: FileId,
    executable: &Executable,
    sources: &Sources,
) -> Result<(), Box<Diagnostic>> {
    let left: HashSet<Span> =
        executable.described().filter_map(|(output, _)| output.span).collect();
    for made in made.iter().filter(|made| made.span.file == file && made.effect) {
        if let Some(lost) =
            made.names.iter().find(|name| !left.contains(name) && **name != made.span)
        {
            let why = "it is no plain value";
            return Err(Box::new(not_kept(sources.slice(*lost), made.span, why)));
        }
    }
    Ok(())
}

/// Takes out values with functions inside: a function belongs to the program that made it.
pub(super) fn refuse_functions(
    made: &[Made],
    left: &mut Vec<Bound>,
    sources: &Sources,
) -> Result<(), Box<Diagnostic>> {
    for bound in left.iter().filter(|bound| has_function(&bound.value)) {
        let maker = made.iter().find(|made| made.effect && made.names.contains(&bound.span));
        if let Some(made) = maker {
            let why = "there is a function in it";
            return Err(Box::new(not_kept(sources.slice(bound.span), made.span, why)));
        }
    }
    left.retain(|bound| !has_function(&bound.value));
    Ok(())
}

fn has_function(value: &HostValue) -> bool {
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        let Some(node) = value.as_node() else { continue };
        if matches!(node.kind, NodeKind::Closure(_)) {
            return true;
        }
        open.extend(&node.items);
    }
    false
}
