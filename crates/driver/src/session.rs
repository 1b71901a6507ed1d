//! A session: the sources that were loaded, and the questions that tools ask about them.
//!
//! Invariants: a [`FileId`] that a session returned is a text that can be compiled; a file that
//! cannot be read becomes diagnostics, and its name (with as much of its text as helps) stays among
//! the sources so that they can be rendered.

use std::path::Path;
use std::sync::Arc;

use einlang_sema::shapes::Options;
use einlang_source::{Diagnostic, Diagnostics, FileId, Sources, World, WorldError};
use einlang_syntax::Parse;
use einlang_syntax::format::format_source;
use einlang_tir::passes::Mode;

use crate::document::{self, ModulePage};
use crate::errors;
use crate::kernels;
use crate::library::Std;
use crate::memo::{Memo, Work};
use crate::pipeline::{self, Compilation, Stage, View};

/// The name of a program that was given as an argument.
pub const COMMAND_LINE: &str = "<command line>";

/// The name of a program that was read from standard input.
pub const STANDARD_INPUT: &str = "<standard input>";

/// The largest source that is accepted, in bytes. Nobody writes that much, and a data file that was
/// passed by mistake should be refused before it fills the memory.
pub const MAX_SOURCE_BYTES: usize = 256 << 20;

/// The program as a stage sees it, and what is wrong with it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Printed {
    /// The printed form; it is there even if the program has errors.
    pub text: String,
    /// The diagnostics up to that stage.
    pub diagnostics: Diagnostics,
    /// The names of the kernels, if one of them was asked for.
    pub kernels: Vec<String>,
}

/// Sources and the world they come from.
pub struct Session<'w> {
    world: &'w dyn World,
    sources: Sources,
    options: Options,
    mode: Mode,
    checked_rules: bool,
    python: bool,
}

impl<'w> Session<'w> {
    /// A session without sources.
    pub fn new(world: &'w dyn World) -> Session<'w> {
        Session {
            world,
            sources: Sources::new(),
            options: Options::default(),
            mode: Mode::default(),
            checked_rules: false,
            python: false,
        }
    }

    /// What the command line says about warnings and outputs.
    pub fn with_options(mut self, options: Options) -> Session<'w> {
        self.options = options;
        self
    }

    /// How derivatives are computed; tests compare the ways.
    pub fn with_mode(mut self, mode: Mode) -> Session<'w> {
        self.mode = mode;
        self
    }

    pub(crate) fn mode(&self) -> Mode {
        self.mode
    }

    /// Asks for other outputs; those before come back.
    pub(crate) fn outputs(&mut self, outputs: Option<Vec<String>>) -> Option<Vec<String>> {
        std::mem::replace(&mut self.options.outputs, outputs)
    }

    /// Whether rules of functions are compared with differences when programs run.
    pub fn with_checked_rules(mut self, checked: bool) -> Session<'w> {
        self.checked_rules = checked;
        self
    }

    /// Whether Python runs the programs, so that they may call its functions.
    pub fn with_python(mut self, python: bool) -> Session<'w> {
        self.python = python;
        self
    }

    pub(crate) fn python(&self) -> bool {
        self.python
    }

    pub(crate) fn checked_rules(&self) -> bool {
        self.checked_rules
    }

    pub(crate) fn options(&self) -> &Options {
        &self.options
    }

    /// Every text of the session, for rendering diagnostics.
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// Reads a source file of the world.
    pub fn load(&mut self, path: &Path) -> Result<FileId, Diagnostics> {
        let name = path.display().to_string();
        match self.world.read(path) {
            Ok(bytes) => self.add_bytes(&name, bytes),
            Err(error) => {
                let diagnostic = self.unreadable(&name, &error);
                Err(errors::suggest_path(diagnostic, &error, self.world, path).into())
            }
        }
    }

    /// Adds a source that is text already, under the name that diagnostics show.
    pub fn add_text(&mut self, name: &str, text: impl Into<Arc<str>>) -> FileId {
        self.sources.add(name, text)
    }

    /// Adds a source that came from outside the world, such as standard input, as bytes.
    pub fn add_bytes(&mut self, name: &str, bytes: Vec<u8>) -> Result<FileId, Diagnostics> {
        if bytes.len() > MAX_SOURCE_BYTES {
            return Err(self.unreadable(name, &WorldError::TooLarge).into());
        }
        match String::from_utf8(bytes) {
            Ok(text) => Ok(self.sources.add(name, text)),
            Err(error) => {
                let offset = error.utf8_error().valid_up_to();
                Err(errors::not_utf8(&mut self.sources, name, error.as_bytes(), offset).into())
            }
        }
    }

    /// The diagnostic for a source that could not be read at all. It has no place in a text, so it
    /// points into an empty one that bears the name of the source.
    pub fn unreadable(&mut self, name: &str, error: &WorldError) -> Diagnostic {
        let file = self.sources.add(name, "");
        errors::unreadable(name, file, error)
    }

    /// The tree of a file and the errors of its grammar.
    pub fn parse(&self, file: FileId) -> Parse {
        einlang_syntax::parse(file, self.sources.text_arc(file))
    }

    /// Everything that is wrong with a file.
    pub fn check(&mut self, file: FileId) -> Diagnostics {
        self.compile(file).diagnostics
    }

    /// Everything that is wrong with a file, looking only at what changed since the memo saw it.
    pub fn check_again(&mut self, file: FileId, memo: &mut Memo) -> (Diagnostics, Work) {
        let name = self.sources.name(file).to_owned();
        let folder = Path::new(&name).parent().unwrap_or(Path::new(""));
        let world = self.world;
        let mut resolved = einlang_sema::resolve_with(world, &Std, &mut self.sources, file, folder);
        let diagnostics = std::mem::take(&mut resolved.diagnostics);
        if !resolved.is_whole() {
            return (diagnostics, Work::default());
        }
        memo.check(&resolved, diagnostics, &self.sources, &self.options)
    }

    /// The file in the one layout that the language has, or the errors that keep it from being
    /// understood.
    pub fn format(&self, file: FileId) -> Result<String, Diagnostics> {
        format_source(file, self.sources.text(file)).map_err(Diagnostics::from)
    }

    /// The pages of documentation of a program called `name`, from the doc comments of the file and
    /// its modules, or the errors that keep them from being read.
    pub fn document(&mut self, file: FileId, name: &str) -> Result<Vec<ModulePage>, Diagnostics> {
        let path = self.sources.name(file).to_owned();
        let folder = Path::new(&path).parent().unwrap_or(Path::new(""));
        document::pages(self.world, &mut self.sources, file, folder, name)
    }

    /// The file as it is after a stage, or after the last one that it reaches.
    pub fn ir(&mut self, file: FileId, stage: Option<Stage>) -> Printed {
        self.ir_of(file, stage, &View::default())
    }

    /// The same, as far as it is asked for.
    pub fn ir_of(&mut self, file: FileId, stage: Option<Stage>, view: &View<'_>) -> Printed {
        let compilation = self.compile(file);
        let stage = stage.unwrap_or_else(|| Stage::reached(&compilation));
        let text = stage.print(&compilation, &self.sources, view);
        let kernels = view.kernel.map_or(Vec::new(), |_| kernels::names(&compilation));
        Printed { text, diagnostics: compilation.diagnostics, kernels }
    }

    /// Modules lie beside the file that declares them; a text without a file has them in the
    /// current directory.
    pub(crate) fn compile(&mut self, file: FileId) -> Compilation {
        let name = self.sources.name(file).to_owned();
        let folder = Path::new(&name).parent().unwrap_or(Path::new(""));
        pipeline::compile(self.world, &mut self.sources, file, folder, &self.options)
    }
}

#[cfg(test)]
mod tests {
    use einlang_source::MemoryWorld;

    use super::*;

    fn codes(diagnostics: &Diagnostics) -> Vec<&'static str> {
        diagnostics.iter().map(|diagnostic| diagnostic.code.as_str()).collect()
    }

    #[test]
    fn files_and_texts_are_checked_alike() {
        let world = MemoryWorld::new().with("good.ein", "let x = 1;").with("bad.ein", "let = 1;");
        let mut session = Session::new(&world);
        let good = session.load(Path::new("good.ein")).expect("it is there");
        let bad = session.load(Path::new("bad.ein")).expect("it is there");
        let text = session.add_text(COMMAND_LINE, "let y = 2");
        assert_eq!(codes(&session.check(good)), [""; 0]);
        assert_eq!(codes(&session.check(bad)), ["E0101"]);
        assert_eq!(codes(&session.check(text)), ["E0101"]);
        let name = session.add_text(COMMAND_LINE, "let y = z;");
        let ty = session.add_text(COMMAND_LINE, "let n = 3; let x = 1.5; let y = n + x;");
        assert_eq!(codes(&session.check(name)), ["E0110"]);
        assert_eq!(codes(&session.check(ty)), ["E0401"]);
        assert_eq!(session.sources().name(text), "<command line>");
        assert_eq!(session.parse(good).tree.text(), "let x = 1;");
    }

    #[test]
    fn a_file_that_is_missing_is_a_diagnostic() {
        let world = MemoryWorld::new();
        let mut session = Session::new(&world);
        let diagnostics = session.load(Path::new("none.ein")).expect_err("there is none");
        assert_eq!(codes(&diagnostics), ["E0901"]);
    }

    #[test]
    fn bytes_must_be_text() {
        let world = MemoryWorld::new();
        let mut session = Session::new(&world);
        assert!(session.add_bytes(STANDARD_INPUT, b"let x = 1;".to_vec()).is_ok());
        let diagnostics = session.add_bytes(STANDARD_INPUT, b"\xff".to_vec()).expect_err("no text");
        assert_eq!(codes(&diagnostics), ["E0903"]);
    }

    #[test]
    fn formatting_gives_text_or_errors() {
        let world = MemoryWorld::new();
        let mut session = Session::new(&world);
        let good = session.add_text(COMMAND_LINE, "let   x=1 ;");
        let bad = session.add_text(COMMAND_LINE, "let x = ;\n");
        assert_eq!(session.format(good).as_deref(), Ok("let x = 1;\n"));
        assert_eq!(session.format(bad).map_err(|errors| codes(&errors)), Err(vec!["E0101"]));
    }

    #[test]
    fn a_program_with_errors_is_still_printed() {
        let world = MemoryWorld::new();
        let mut session = Session::new(&world);
        let file = session.add_text(COMMAND_LINE, "let x = ;");
        let printed = session.ir(file, Some(Stage::Parse));
        assert!(printed.text.starts_with("SOURCE_FILE"));
        assert_eq!(codes(&printed.diagnostics), ["E0101"]);
    }
}
