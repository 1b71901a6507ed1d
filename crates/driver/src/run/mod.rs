//! Running a program: from a checked file to its outputs.
//!
//! [`Session::build`] compiles and lowers a program; `Executable::bind` turns what was given for
//! its inputs into values; [`Executable::run`] evaluates it in a world of the caller's choice.
//! [`Session::run`] does all three.
//!
//! | file | owns |
//! |---|---|
//! | `inputs.rs`, `declared.rs`, `literal.rs` | what was given for the inputs, as values of their types |
//! | `call.rs` | calls with values |
//! | `named.rs` | the outputs that can be asked for |
//! | `outputs.rs` | the outputs as the language sees them, and as JSON |
//! | `arrays.rs` | arrays of files and tensors of programs |
//! | `project.rs` | the files that a program may touch, and its printing |
//! | `python.rs` | the functions of Python that a program calls |
//!
//! Invariants: whatever stops a program is a diagnostic with a place in its source, but for bugs of
//! the compiler, which are told apart ([`Failure::Bug`]); nothing is evaluated before every input
//! has a value of its type.

mod arrays;
mod call;
mod declared;
mod inputs;
mod literal;
mod named;
mod outputs;
mod project;
mod python;

use std::time::{Duration, Instant};

use einlang_interp::host::{Index, run_indexed};
use einlang_interp::io::Io;
use einlang_interp::options::Options as Limits;
use einlang_interp::report::Report;
use einlang_interp::stop::{Stop, StopCode};
use einlang_interp::value::HostValue;
pub use einlang_loops::window::Given as SizeGiven;
use einlang_sema::lower::{self, Lowered, ProgramOutput};
use einlang_sema::shapes::Options;
use einlang_source::{Diagnostics, FileId, Sources, Span};
use einlang_tir::passes::{Mode, Stopped};

pub use call::Called;
pub use inputs::{Given, converted};
pub use named::UnknownOutput;
pub use outputs::{Outcome, Output};
pub use project::{Printer, ProjectIo, Python};

use crate::functions::Shown;
use crate::lowering::{lowered, prepare};
use crate::pipeline::Compilation;
use crate::session::Session;
use crate::watching::Watches;
use declared::Declared;
pub(crate) use outputs::Form;

/// How a program is run.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// What was given for its inputs, by name.
    pub inputs: Vec<(String, Given)>,
    /// Limits and modes of the evaluation; the clock starts when it does.
    pub limits: Limits,
    /// How long the evaluation may take (E0803).
    pub timeout: Option<Duration>,
}

/// Why a program did not run to its end.
#[derive(Debug)]
pub enum Failure {
    /// It was asked for in a way that makes no sense: an input or output that it does not have.
    Usage {
        /// One sentence.
        message: String,
        /// What to do.
        help: String,
    },
    /// It has errors, found before or while it ran.
    Program(Diagnostics),
    /// The compiler broke a promise to itself.
    Bug(String),
}

/// How derivatives are treated.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct How {
    /// Forward or reverse.
    pub(crate) mode: Mode,
    /// Whether rules are compared with differences.
    pub(crate) checked_rules: bool,
    /// Whether Python runs the program.
    pub(crate) python: bool,
}

/// A program that can be run, as often as one likes.
#[derive(Debug)]
pub struct Executable {
    lowered: Lowered,
    /// Where the parts of its code are.
    index: Index,
    /// The rules that are compared with differences.
    watches: Watches,
    /// How each output is shown.
    forms: Vec<Form>,
    /// The declarations of the inputs.
    declared: Vec<Declared>,
    /// Whether there is a function `main`.
    main: bool,
    /// Where messages point that have no place of their own.
    place: Span,
    /// What messages show instead of the words of a wrapper.
    shown: Option<Box<Shown>>,
    /// The warnings.
    pub warnings: Diagnostics,
    /// How long compiling took.
    pub compiled_in: Duration,
}

impl Session<'_> {
    /// Compiles and lowers a program without errors.
    pub fn build(&mut self, file: FileId) -> Result<Executable, Failure> {
        let start = Instant::now();
        let compilation = self.compile(file);
        let Options { zero_fill, outputs, .. } = self.options().clone();
        let check_rules = self.checked_rules();
        let options = lower::Options { zero_fill, outputs, check_rules, ..Default::default() };
        let mode = self.mode();
        let how = How { mode, checked_rules: self.checked_rules(), python: self.python() };
        Executable::new(compilation, self.sources(), options, how, file, start)
    }

    /// The same for one output.
    pub(crate) fn build_for(&mut self, file: FileId, output: &str) -> Result<Executable, Failure> {
        let outputs = self.outputs(Some(vec![output.to_owned()]));
        let built = self.build(file);
        self.outputs(outputs);
        built
    }

    /// The first output that the options ask for and that a program without errors does not have.
    pub fn unknown_output(&mut self, file: FileId) -> Option<UnknownOutput> {
        let asked = self.options().outputs.clone()?;
        let compilation = self.compile(file);
        match compilation.diagnostics.has_errors() {
            true => None,
            false => named::unknown(&compilation, &asked),
        }
    }

    /// Compiles and runs a program.
    pub fn run(
        &mut self,
        file: FileId,
        options: &RunOptions,
        io: &mut dyn Io,
    ) -> Result<Outcome, Failure> {
        let executable = self.build(file)?;
        executable.run(options, io)
    }
}

/// What a value says about sizes: an integer, or the shape of a tensor.
fn size_given(value: &HostValue) -> Option<SizeGiven> {
    match value {
        HostValue::Scalar(number) => i64::try_from(number.as_int()?).ok().map(SizeGiven::Integer),
        HostValue::Tensor(tensor) => Some(SizeGiven::Shape(tensor.shape().to_vec())),
        HostValue::Str(_) | HostValue::Node(_) => None,
    }
}

/// What stopped a program, for people.
fn failure(stop: &Stop, place: Span) -> Failure {
    match (stop.code, stop.to_diagnostic(place)) {
        (StopCode::Internal, _) | (_, None) => Failure::Bug(stop.to_string()),
        (_, Some(diagnostic)) => Failure::Program(diagnostic.into()),
    }
}

impl Executable {
    /// Lowers a program without errors, whose compilation began at `start`.
    pub(crate) fn new(
        compilation: Compilation,
        sources: &Sources,
        options: lower::Options,
        how: How,
        file: FileId,
        start: Instant,
    ) -> Result<Executable, Failure> {
        if let Some(asked) = &options.outputs
            && !compilation.diagnostics.has_errors()
            && let Some(UnknownOutput { message, help }) = named::unknown(&compilation, asked)
        {
            return Err(Failure::Usage { message, help });
        }
        let unreachable = compilation.resolved.without_python();
        if !how.python && !unreachable.is_empty() {
            let mut all = compilation.diagnostics;
            all.extend(unreachable);
            return Err(Failure::Program(all));
        }
        let mut made = match lowered(&compilation, &options) {
            Some(Ok(made)) => made,
            Some(Err(found)) => {
                let mut all = compilation.diagnostics;
                all.extend(found);
                return Err(Failure::Program(all));
            }
            None => return Err(Failure::Program(compilation.diagnostics)),
        };
        let watches = match how.checked_rules {
            true => {
                let modules = compilation.resolved.program.modules.values();
                let library = modules.filter(|module| module.library).map(|module| module.file);
                Watches::add(&mut made.program, std::mem::take(&mut made.watches))
                    .but_for(&library.collect())
            }
            false => Watches::default(),
        };
        match prepare(&mut made, how.mode) {
            Ok(()) => {}
            Err(Stopped::Rejected(found)) => {
                let mut all = compilation.diagnostics;
                all.extend(found);
                return Err(Failure::Program(all));
            }
            Err(Stopped::Broken { pass, problems }) => {
                let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
                return Err(Failure::Bug(format!("after `{pass}`: {}", problems.join("; "))));
            }
        }
        let (program, interner) = (&compilation.resolved.program, &compilation.resolved.interner);
        let forms = made.outputs.iter().map(|output| Form::of(&output.ty, program, interner));
        let spelled = |name| interner.resolve(name).to_owned();
        let declared = Declared::all(program, sources, spelled);
        let place = Span::new(file, 0, 0);
        let index = Index::new(&made.program).map_err(|stop| failure(&stop, place))?;
        Ok(Executable {
            index,
            main: named::has_main(&compilation),
            forms: forms.collect(),
            declared,
            place,
            shown: None,
            warnings: compilation.diagnostics,
            compiled_in: start.elapsed(),
            watches,
            lowered: made,
        })
    }

    /// The code of the program.
    pub(crate) fn lowered(&self) -> &Lowered {
        &self.lowered
    }

    /// The names of the outputs, in order.
    pub fn outputs(&self) -> impl Iterator<Item = &str> {
        self.lowered.outputs.iter().map(|output| output.name.as_str())
    }

    /// The host and tensor code of the program.
    pub fn program(&self) -> &einlang_tir::host::Program {
        &self.lowered.program
    }

    /// Whether the value of the program is that of its function `main`.
    pub fn has_main(&self) -> bool {
        self.main
    }

    /// Evaluates the program.
    pub fn run(&self, options: &RunOptions, io: &mut dyn Io) -> Result<Outcome, Failure> {
        let start = Instant::now();
        let (values, given) = self.evaluate_given(options, Vec::new(), io)?;
        let described = self.described().zip(values);
        let outputs = described.map(|((output, form), value)| form.output(&output.name, value));
        Ok(Outcome {
            outputs: outputs.collect(),
            storage: None,
            given,
            compiled_in: self.compiled_in,
            ran_in: start.elapsed(),
            peak: options.limits.report.peak(),
        })
    }

    /// The outputs and how they are shown.
    pub(crate) fn described(&self) -> impl Iterator<Item = (&ProgramOutput, &Form)> {
        self.lowered.outputs.iter().zip(&self.forms)
    }

    /// Whether the program has an input of this name.
    pub(crate) fn takes(&self, name: &str) -> bool {
        self.lowered.inputs.iter().any(|input| input.name == name)
    }

    /// Evaluates the program with the values of bindings that it is given after its inputs.
    pub(crate) fn evaluate(
        &self,
        options: &RunOptions,
        given: Vec<HostValue>,
        io: &mut dyn Io,
    ) -> Result<Vec<HostValue>, Failure> {
        self.evaluate_given(options, given, io).map(|(values, _)| values)
    }

    /// The same, and what the storage of recurrences may depend on.
    fn evaluate_given(
        &self,
        options: &RunOptions,
        given: Vec<HostValue>,
        io: &mut dyn Io,
    ) -> Result<(Vec<HostValue>, Vec<Option<SizeGiven>>), Failure> {
        let mut inputs = self.bind(&options.inputs, &options.limits, io)?;
        inputs.extend(given);
        let sizes = inputs.iter().map(size_given).collect();
        Ok((self.entered(inputs, options, io)?, sizes))
    }

    /// Evaluates the program with a value for every input; the clock starts here.
    fn entered(
        &self,
        inputs: Vec<HostValue>,
        options: &RunOptions,
        io: &mut dyn Io,
    ) -> Result<Vec<HostValue>, Failure> {
        let deadline = options.timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let timed =
            deadline.map(|deadline| Limits { deadline: Some(deadline), ..options.limits.clone() });
        let limits = timed.as_ref().unwrap_or(&options.limits);
        let values = run_indexed(&self.lowered.program, &self.index, inputs, limits, io);
        values.map_err(|stop| self.failure(&stop))
    }

    /// A warning for each rule that a run with this report contradicted.
    pub fn contradicted_rules(&self, report: &Report) -> Diagnostics {
        self.watches.warnings(report, self.place)
    }

    /// What stopped the program, for people.
    fn failure(&self, stop: &Stop) -> Failure {
        failure(stop, self.place)
    }

    /// The value of a default.
    fn default_of(
        &self,
        function: &einlang_tir::types::Ident,
        limits: &Limits,
        io: &mut dyn Io,
    ) -> Result<HostValue, Failure> {
        let program = &self.lowered.program;
        let values = einlang_interp::host::call_function(program, function, Vec::new(), limits, io);
        let value = values.map_err(|stop| self.failure(&stop))?.into_iter().next();
        value.ok_or_else(|| Failure::Bug("a default gives no value".to_owned()))
    }
}
