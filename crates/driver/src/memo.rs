//! Checking again after an edit: what was found about a unit is kept as long as it holds.
//!
//! The units are the items of modules and the statements of each module
//! ([`einlang_sema::units`]). Names are resolved anew each time, which is cheap; types, coordinates
//! and ranges are found again for the units whose text changed, whose names lead elsewhere, or
//! that read an interface that changed. The interface of a declared function is its types,
//! extents and entry checks, so that an edit of its body goes no further; what is specialised for
//! each use has its text for an interface.
//!
//! Diagnostics are kept relative to the units they point into. One that points into a unit that
//! changed, or that was found inside a unit that was not checked (the body of a generic function),
//! is never replayed: its unit is checked again.
//!
//! Invariant: the result is that of a check from the beginning.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use einlang_sema::shapes::{self, Options};
use einlang_sema::units::{self, Roots, Unit, UnitId};
use einlang_sema::{Resolved, coords, types};
use einlang_source::{Diagnostic, Diagnostics, Sources, Span};

/// What is known of the units of a program.
#[derive(Debug, Default)]
pub struct Memo {
    entries: HashMap<String, Entry>,
    /// The options of the last check; others begin anew.
    options: Option<Options>,
}

/// Types, coordinates, ranges: a stage says nothing while an earlier one finds errors.
const N_STAGES: usize = 3;

/// What is known of one unit.
#[derive(Debug)]
struct Entry {
    text: u64,
    reads: Vec<String>,
    interface: Option<String>,
    /// What each stage found; nothing if that is unknown or cannot be replayed.
    found: [Option<Vec<Diagnostic>>; N_STAGES],
    /// Where its pieces were when the diagnostics were made.
    pieces: Vec<Span>,
}

/// What one check had to do.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Work {
    /// The units that were checked, by key.
    pub checked: Vec<String>,
    /// How many units were as before.
    pub n_kept: usize,
}

impl Memo {
    /// Everything that is wrong with a resolved program, whose names gave `diagnostics`, and what
    /// had to be looked at.
    pub fn check(
        &mut self,
        resolved: &Resolved,
        mut diagnostics: Diagnostics,
        sources: &Sources,
        options: &Options,
    ) -> (Diagnostics, Work) {
        if self.options.as_ref() != Some(options) {
            self.entries.clear();
            self.options = Some(options.clone());
        }
        let program = &resolved.program;
        let all = units::units(program, &resolved.interner, sources);
        let own: Vec<&Unit> = all.iter().filter(|unit| !unit.library).collect();
        let keys: HashMap<UnitId, &str> = all.iter().map(|u| (u.id, u.key.as_str())).collect();
        let texts: HashMap<&str, u64> =
            own.iter().map(|unit| (unit.key.as_str(), text_hash(unit, sources))).collect();
        let mut dirty: BTreeSet<UnitId> = BTreeSet::new();
        for unit in &own {
            if !self.holds(unit, &texts, &keys) {
                dirty.insert(unit.id);
            }
        }
        let mut run = self.analyse(resolved, &own, &mut dirty, &texts, &keys, options);
        for stage in 0..N_STAGES {
            for unit in own.iter().filter(|unit| !dirty.contains(&unit.id)) {
                diagnostics.extend(self.replayed(unit, &own, stage));
            }
            diagnostics.extend(run.found[stage].iter().flatten().cloned());
            if diagnostics.has_errors() {
                break;
            }
        }
        let alive: HashSet<&str> = own.iter().map(|unit| unit.key.as_str()).collect();
        self.entries.retain(|key, _| alive.contains(key.as_str()));
        self.keep(&own, &dirty, &mut run, &texts, &keys);
        diagnostics.sort();
        diagnostics.dedup();
        let checked = own.iter().filter(|unit| dirty.contains(&unit.id));
        let checked: Vec<String> = checked.map(|unit| unit.key.clone()).collect();
        let n_kept = own.len() - checked.len();
        (diagnostics, Work { checked, n_kept })
    }

    /// Whether what is known of a unit still holds, as far as texts and names tell.
    fn holds(&self, unit: &Unit, texts: &HashMap<&str, u64>, keys: &HashMap<UnitId, &str>) -> bool {
        let Some(entry) = self.entries.get(&unit.key) else { return false };
        let same_text = texts.get(unit.key.as_str()) == Some(&entry.text);
        let reads = reads_of(unit, keys);
        let pieces = entry.pieces.len() == unit.pieces.len();
        same_text && pieces && reads == entry.reads && entry.found.iter().all(Option::is_some)
    }

    /// Checks the dirty units, and those that read an interface that changed, until no more do.
    fn analyse(
        &self,
        resolved: &Resolved,
        own: &[&Unit],
        dirty: &mut BTreeSet<UnitId>,
        texts: &HashMap<&str, u64>,
        keys: &HashMap<UnitId, &str>,
        options: &Options,
    ) -> Run {
        loop {
            let run = check_units(resolved, dirty, options);
            let changed: HashSet<UnitId> = own
                .iter()
                .filter(|unit| dirty.contains(&unit.id))
                .filter(|unit| match (self.entries.get(&unit.key), run.interfaces.get(&unit.id)) {
                    (None, _) => true,
                    (Some(entry), None) => {
                        entry.interface.is_some()
                            || texts.get(unit.key.as_str()) != Some(&entry.text)
                            || self.reads_changed(unit, dirty, keys)
                    }
                    (Some(entry), found) => entry.interface.as_ref() != found,
                })
                .map(|unit| unit.id)
                .collect();
            let more: Vec<UnitId> = own
                .iter()
                .filter(|unit| !dirty.contains(&unit.id))
                .filter(|unit| unit.reads.iter().any(|read| changed.contains(read)))
                .map(|unit| unit.id)
                .collect();
            if more.is_empty() {
                return run;
            }
            dirty.extend(more);
        }
    }

    /// A unit without an interface of its own passes on changes of what it reads.
    fn reads_changed(
        &self,
        unit: &Unit,
        dirty: &BTreeSet<UnitId>,
        keys: &HashMap<UnitId, &str>,
    ) -> bool {
        let entry = self.entries.get(&unit.key);
        entry.is_none_or(|entry| entry.reads != reads_of(unit, keys))
            || unit.reads.iter().any(|read| dirty.contains(read))
    }

    /// The diagnostics of a unit, where its pieces are now.
    fn replayed(&self, unit: &Unit, own: &[&Unit], stage: usize) -> Vec<Diagnostic> {
        let Some(Some(list)) = self.entries.get(&unit.key).map(|entry| &entry.found[stage]) else {
            return Vec::new();
        };
        if list.is_empty() {
            return Vec::new();
        }
        let mut moves: Vec<(Span, Span)> = Vec::new();
        for unit in own {
            if let Some(entry) = self.entries.get(&unit.key) {
                moves.extend(entry.pieces.iter().copied().zip(unit.pieces.iter().copied()));
            }
        }
        let moved = |span: Span| {
            let found = moves.iter().find(|(old, _)| old.contains(span));
            found.map_or(span, |(old, new)| {
                let start = new.start + (span.start - old.start);
                Span::new(new.file, start, start + (span.end - span.start))
            })
        };
        list.iter().map(|diagnostic| diagnostic.map_spans(&moved)).collect()
    }

    /// Remembers what was found about the units that were checked.
    fn keep(
        &mut self,
        own: &[&Unit],
        dirty: &BTreeSet<UnitId>,
        run: &mut Run,
        texts: &HashMap<&str, u64>,
        keys: &HashMap<UnitId, &str>,
    ) {
        // Pieces of units that were not checked move too: their old places are those of now, and
        // their diagnostics with them.
        for unit in own.iter().filter(|unit| !dirty.contains(&unit.id)) {
            for stage in 0..N_STAGES {
                let list = self.replayed(unit, own, stage);
                if let Some(entry) = self.entries.get_mut(&unit.key) {
                    entry.found[stage] = Some(list);
                }
            }
        }
        for unit in own.iter().filter(|unit| !dirty.contains(&unit.id)) {
            if let Some(entry) = self.entries.get_mut(&unit.key) {
                entry.pieces.clone_from(&unit.pieces);
            }
        }
        let checked: Vec<&&Unit> = own.iter().filter(|unit| dirty.contains(&unit.id)).collect();
        let inside = |unit: &Unit, span: Span| unit.pieces.iter().any(|piece| piece.contains(span));
        let stray =
            run.found.iter().flatten().flatten().any(|diagnostic| {
                !checked.iter().any(|unit| inside(unit, diagnostic.primary.span))
            });
        for unit in checked {
            let mine = |found: &Option<Vec<Diagnostic>>| {
                let list = found.as_ref()?.iter().filter(|d| inside(unit, d.primary.span));
                let list: Vec<Diagnostic> = list.cloned().collect();
                let at_home = list.iter().all(|d| d.spans().all(|span| inside(unit, span)));
                (at_home && !stray).then_some(list)
            };
            let entry = Entry {
                text: texts.get(unit.key.as_str()).copied().unwrap_or_default(),
                reads: reads_of(unit, keys),
                interface: run.interfaces.remove(&unit.id),
                found: [mine(&run.found[0]), mine(&run.found[1]), mine(&run.found[2])],
                pieces: unit.pieces.clone(),
            };
            self.entries.insert(unit.key.clone(), entry);
        }
    }
}

/// What a check of some units found, by stage; a stage that did not run found nothing out.
#[derive(Default)]
struct Run {
    found: [Option<Vec<Diagnostic>>; N_STAGES],
    interfaces: HashMap<UnitId, String>,
}

fn check_units(resolved: &Resolved, dirty: &BTreeSet<UnitId>, options: &Options) -> Run {
    let (program, interner) = (&resolved.program, &resolved.interner);
    let mut run = Run::default();
    if dirty.is_empty() {
        return run;
    }
    let mut failed = false;
    let mut keep = |list: Diagnostics| {
        failed |= list.has_errors();
        (Some(list.into_vec()), failed)
    };
    let roots = Roots::only(dirty.iter().copied());
    let (typed, found) = types::check_roots(program, interner, &roots);
    let (found, stop) = keep(found);
    run.found[0] = found;
    if stop {
        return run;
    }
    let (coords, found) = coords::check(program, &typed, interner);
    let (found, stop) = keep(found);
    run.found[1] = found;
    if stop {
        return run;
    }
    let (shapes, found) = shapes::analyse(program, &typed, &coords, interner, options);
    run.found[2] = keep(found).0;
    let reveals = shapes::reveal(program, &typed, &coords, &shapes, interner);
    for unit in dirty {
        let found = units::interface(*unit, program, &typed, &shapes, interner, &reveals);
        run.interfaces.extend(found.map(|found| (*unit, found)));
    }
    run
}

fn reads_of(unit: &Unit, keys: &HashMap<UnitId, &str>) -> Vec<String> {
    let mut reads: Vec<String> =
        unit.reads.iter().filter_map(|read| keys.get(read)).map(|key| (*key).to_owned()).collect();
    reads.sort();
    reads
}

fn text_hash(unit: &Unit, sources: &Sources) -> u64 {
    let mut hasher = DefaultHasher::new();
    for piece in &unit.pieces {
        let text = sources.text(piece.file);
        text.get(piece.start as usize..piece.end as usize).hash(&mut hasher);
    }
    hasher.finish()
}
