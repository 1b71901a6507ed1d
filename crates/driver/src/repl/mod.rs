//! Sessions: entries that are evaluated one after the other, each of which sees what the earlier
//! ones bound. There is no terminal here; a shell reads the entries and shows the answers.
//!
//! An entry is compiled together with the texts of the earlier ones, each a scope of its own inside
//! those before it, so that types, coordinates and what functions capture are what they were. What
//! the earlier entries bound comes in as values (`past`); their statements do not run again.
//!
//! | file | owns |
//! |---|---|
//! | `mod.rs` | the session: evaluating an entry, asking about one |
//! | `past.rs` | what is left of earlier entries, and which of it is computed again |
//! | `shape.rs` | what a value says about extents |
//! | `input.rs`, `reader.rs` | where an entry ends |
//! | `words.rs` | completion |
//! | `remember.rs` | modules stay what they were when they were read first |
//!
//! Invariants: whatever an entry did for its effect happened once; an entry that fails leaves the
//! session as it was.

mod input;
mod past;
mod reader;
mod remember;
mod shape;
mod words;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Instant;

use einlang_interp::io::Io;
use einlang_interp::value::HostValue;
use einlang_sema::coords;
use einlang_sema::entries::{self, Made};
use einlang_sema::hir::ENTRY_VALUE;
use einlang_sema::lower;
use einlang_sema::shapes::{self, Options};
use einlang_source::{Diagnostics, FileId, Severity, Sources, World};
use einlang_tir::passes::Mode;

pub use input::{Input, input};
pub use reader::Reader;
pub use words::{Completion, complete};

use crate::library::Std;
use crate::pipeline::{self, Compilation};
use crate::run::{Executable, Failure, How, Output, RunOptions};
use past::{Bound, Past};
use remember::Remember;

/// What an entry gave.
#[derive(Debug, Default)]
pub struct Answer {
    /// The value of an expression, unless it is `()`.
    pub value: Option<Output>,
    /// The type of an expression whose value cannot be shown, such as a function.
    pub value_type: Option<String>,
    /// What the entry bound, in order, as far as it has a value that can be shown.
    pub bound: Vec<Output>,
    /// The warnings about the entry.
    pub warnings: Diagnostics,
}

/// What can be asked about an expression without evaluating it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Question {
    /// Its type, with extents and coordinates.
    Type,
    /// Its extents.
    Shape,
    /// Its coordinates, those it consumes, and what is broadcast.
    Coords,
}

/// A session.
pub struct Repl<'w> {
    world: Remember<'w>,
    options: Options,
    past: Past,
    n_entries: usize,
    sources: Sources,
}

/// An entry after the analysis.
struct Analysed {
    compilation: Compilation,
    file: FileId,
    /// The bindings of all entries.
    made: Vec<Made>,
    /// What earlier entries hand over.
    given: Vec<Bound>,
    start: Instant,
}

impl<'w> Repl<'w> {
    /// A session without entries.
    pub fn new(world: &'w dyn World, options: Options) -> Repl<'w> {
        Repl {
            world: Remember::new(world),
            options: Options { outputs: None, ..options },
            past: Past::default(),
            n_entries: 0,
            sources: Sources::new(),
        }
    }

    /// The texts that the diagnostics of the latest answer speak of.
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// The number of the next entry, from 1.
    pub fn next_number(&self) -> usize {
        self.n_entries + 1
    }

    /// Forgets everything.
    pub fn reset(&mut self) {
        self.past = Past::default();
        self.world.forget();
    }

    /// The names that entries made, the latest first; one may come more than once.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.past.names()
    }

    /// Evaluates an entry that was typed.
    pub fn evaluate(
        &mut self,
        text: &str,
        options: &RunOptions,
        io: &mut dyn Io,
    ) -> Result<Answer, Failure> {
        self.n_entries += 1;
        let name = format!("<entry {}>", self.n_entries);
        self.evaluate_named(&name, text, options, io)
    }

    /// Evaluates the text of a file as an entry.
    pub fn evaluate_named(
        &mut self,
        name: &str,
        text: &str,
        options: &RunOptions,
        io: &mut dyn Io,
    ) -> Result<Answer, Failure> {
        let entry = input::Entry::of(text);
        let analysed = self.analyse(name, &entry)?;
        let Analysed { compilation, file, made, given, start } = analysed;
        let mut answer = Answer { warnings: self.warnings(&compilation), ..Answer::default() };
        let shown_type = reveal(&compilation, file).filter(|_| entry.shows);
        let lowering = lower::Options {
            zero_fill: self.options.zero_fill,
            outputs: None,
            given: given.iter().map(|bound| bound.span).collect(),
            muted: past::muted(&made, file, &given),
            entry: Some(file),
            check_rules: false,
        };
        let gaps = past::gaps(&compilation.diagnostics);
        let executable = {
            let mode = Mode::default();
            Executable::new(
                compilation,
                &self.sources,
                lowering,
                How { mode, ..How::default() },
                file,
                start,
            )?
        };
        past::refuse_lost(&made, file, &executable, &self.sources).map_err(failure)?;
        let mut options = options.clone();
        options.inputs.retain(|(name, _)| executable.takes(name));
        let given: Vec<HostValue> = given.into_iter().map(|bound| bound.value).collect();
        let values = executable.evaluate(&options, given, io)?;
        let mut left = Vec::new();
        for ((output, form), value) in executable.described().zip(values) {
            let shown = form.output(&output.name, value.clone());
            let Some(span) = output.span else { continue };
            match output.name.as_str() {
                ENTRY_VALUE => answer.value = Some(shown),
                _ => {
                    left.push(Bound { span, shape: shape::of(&output.ty, &value), value });
                    answer.bound.push(shown);
                }
            }
        }
        past::refuse_functions(&made, &mut left, &self.sources).map_err(failure)?;
        answer.value_type = shown_type.filter(|_| answer.value.is_none());
        answer.value = answer.value.filter(|value| !value.is_unit());
        if entry.is_kept {
            self.past.push(name, &entry.text, entry.names, left, &made, &gaps);
        }
        Ok(answer)
    }

    /// Answers a question about an expression; nothing is evaluated.
    pub fn ask(&mut self, question: Question, text: &str) -> Result<String, Failure> {
        let entry = input::Entry { shows: true, ..input::Entry::of(text) };
        let Analysed { compilation, file, .. } = self.analyse("<question>", &entry)?;
        if compilation.diagnostics.has_errors() {
            return Err(Failure::Program(compilation.diagnostics));
        }
        let no_value = || Failure::Usage {
            message: "this has no value to ask about".to_owned(),
            help: "write an expression, such as a name".to_owned(),
        };
        let answer = match question {
            Question::Type => reveal(&compilation, file),
            Question::Shape => extents(&compilation, file),
            Question::Coords => layout(&compilation),
        };
        answer.ok_or_else(no_value)
    }

    /// Compiles an entry after the earlier ones.
    fn analyse(&mut self, name: &str, entry: &input::Entry) -> Result<Analysed, Failure> {
        let start = Instant::now();
        self.sources = Sources::new();
        let mut files: Vec<FileId> = self.past.add_to(&mut self.sources);
        let file = self.sources.add(name, Arc::clone(&entry.text));
        files.push(file);
        let resolved = einlang_sema::resolve_entries(
            &self.world,
            &Std,
            &mut self.sources,
            &files,
            entry.shows,
        );
        let (mut given, mut made, mut cut) = (Vec::new(), Vec::new(), None);
        let compilation = pipeline::analyse(resolved, &self.options, |resolved, typed| {
            made = entries::made(resolved, typed);
            let wanted = entries::differentiated(resolved, typed);
            cut = past::cut(&made, file, &wanted);
            let shapes;
            (given, shapes) = self.past.given(&made, file, &wanted, &entry.text);
            shapes
        });
        if let Some(at) = cut {
            let name = at.names.first().map_or("", |span| self.sources.slice(*span));
            return Err(failure(&entries::not_differentiated(name, at.span)));
        }
        Ok(Analysed { compilation, file, made, given, start })
    }

    /// The warnings that are about this entry; earlier ones were told before.
    fn warnings(&self, compilation: &Compilation) -> Diagnostics {
        let n_past = self.past.len();
        let is_new = |diagnostic: &&einlang_source::Diagnostic| {
            diagnostic.severity != Severity::Error
                && !self.sources.ids().take(n_past).any(|old| old == diagnostic.primary.span.file)
        };
        let mut warnings = Diagnostics::new();
        compilation.diagnostics.iter().filter(is_new).for_each(|d| warnings.push(d.clone()));
        warnings
    }
}

fn failure(diagnostic: impl std::ops::Deref<Target = einlang_source::Diagnostic>) -> Failure {
    Failure::Program(diagnostic.clone().into())
}

/// The type of the value of the entry, with its extents.
fn reveal(compilation: &Compilation, file: FileId) -> Option<String> {
    let Compilation { resolved, typed, coords, shapes, .. } = compilation;
    let (program, interner) = (&resolved.program, &resolved.interner);
    let (typed, coords, shapes) = (typed.as_ref()?, coords.as_ref()?, shapes.as_ref()?);
    let found = shapes::reveal(program, typed, coords, shapes, interner);
    let is_value = |r: &shapes::Reveal| r.name == ENTRY_VALUE && r.span.file == file;
    found.into_iter().find(is_value).map(|reveal| reveal.text)
}

/// The extents of the value of the entry.
fn extents(compilation: &Compilation, file: FileId) -> Option<String> {
    let Compilation { resolved, typed, shapes, .. } = compilation;
    let (typed, shapes) = (typed.as_ref()?, shapes.as_ref()?);
    let root = typed.modules.first().copied().flatten()?;
    let body = &resolved.program.bodies[typed.instance(root).body];
    let is_value = |name: einlang_sema::hir::Ident| {
        name.span.file == file && resolved.interner.resolve(name.name) == ENTRY_VALUE
    };
    let (local, _) = body.locals.iter().find(|(_, local)| is_value(local.name))?;
    let extents = shapes.instance(root).locals.get(&local)?.extents();
    let shown: Vec<String> =
        extents.iter().map(|extent| shapes.symbols.show_extent(extent)).collect();
    Some(format!("[{}]", shown.join(", ")))
}

/// The coordinates of the value of the entry.
fn layout(compilation: &Compilation) -> Option<String> {
    let Compilation { resolved, typed, coords, .. } = compilation;
    let (typed, coords) = (typed.as_ref()?, coords.as_ref()?);
    let all = coords::print(coords, typed, &resolved.program, &resolved.interner);
    let head = format!("  {ENTRY_VALUE}: ");
    let mut lines = all.lines().skip_while(|line| !line.starts_with(&head));
    let first = lines.next()?.strip_prefix(&head)?.to_owned();
    let facts = lines.take_while(|line| line.starts_with("    ")).map(str::trim_start);
    Some(std::iter::once(first.as_str()).chain(facts).collect::<Vec<_>>().join("\n"))
}
