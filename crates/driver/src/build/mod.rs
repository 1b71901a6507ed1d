//! Libraries for C: one function per `pub fn` of a file.
//!
//! Each function is compiled like a program whose inputs are its parameters. Its tensor code becomes
//! objects through the machine-code compiler; what surrounds it becomes a few lines of C, which a C
//! compiler translates and links. What those lines cannot say is E0999 at the function, with the reason.
//!
//! | file | owns |
//! |---|---|
//! | `exports.rs` | which functions, and the programs that call them |
//! | `function.rs` | the C function around kernels |
//! | `kernel.rs` | the description of a kernel in C |
//! | `scalar.rs` | scalar types, constants and operations in C |
//! | `words.rs` | texts of messages in C |
//! | `header.rs` | the header |
//! | `support.c` | what kernels ask of their surroundings |
//! | `numbers.c` | what numbers need beyond what C has |
//!
//! Invariants: a library has no global state; a function returns 0 or an error with its text, and on an
//! error nothing is left allocated. No name that is not meant for users is one that a function can have:
//! functions are named after library and function, with an underscore between them; names at file scope have
//! no underscore, and those of kernels a dollar sign.

mod exports;
mod function;
mod header;
mod kernel;
mod scalar;
mod words;

use einlang_interp::native::Native;
use einlang_source::{Code, Diagnostic, Diagnostics, FileId, Span};

use crate::run::Failure;
use crate::session::Session;
use exports::Export;

/// The most axes of a tensor that crosses the border.
pub(crate) const MAX_AXES: usize = 8;

/// The texts and objects of a library.
#[derive(Clone, Debug, Default)]
pub struct Library {
    /// The C header.
    pub header: String,
    /// The C source of the functions, to be compiled beside the header.
    pub source: String,
    /// The objects of the kernels, by the names of their functions.
    pub objects: Vec<(String, Vec<u8>)>,
}

impl Session<'_> {
    /// The library of a file's public functions, whose names begin with `name`.
    pub fn library(
        &mut self,
        file: FileId,
        name: &str,
        native: &Native,
    ) -> Result<Library, Failure> {
        let found = self.check(file);
        if found.has_errors() {
            return Err(Failure::Program(found));
        }
        let exports = exports::find(&self.parse(file).tree, file).map_err(Failure::Program)?;
        let mut made = function::Made::default();
        let mut refused = Diagnostics::default();
        for export in &exports {
            match self.export(file, name, export, native, &mut made) {
                Ok(()) => {}
                Err(Failure::Program(found)) => refused.extend(found.into_vec()),
                Err(other) => return Err(other),
            }
        }
        if refused.has_errors() {
            return Err(Failure::Program(refused));
        }
        let frame = made.frame.unwrap_or_default();
        let header = header::text(name, &made.prototypes);
        let source = header::source(name, frame, &made.functions)
            .map_err(|service| Failure::Bug(format!("C has no service `{service}`")))?;
        Ok(Library { header, source, objects: made.objects })
    }

    /// Compiles one function.
    fn export(
        &mut self,
        file: FileId,
        library: &str,
        export: &Export,
        native: &Native,
        made: &mut function::Made,
    ) -> Result<(), Failure> {
        let text = export.program(self.sources().text(file));
        let path = self.sources().name(file).to_owned();
        let caller = self.add_text(&path, text);
        let export = &Export { file: caller, ..export.clone() };
        let executable = self.build_for(caller, exports::RESULT)?;
        let lowered = executable.lowered();
        let mut function = function::Function::new(library, export, lowered, self.sources());
        let done = function.translate(native, made);
        done.map_err(|why| Failure::Program(refused(export, &why).into()))?;
        function.finish(made);
        Ok(())
    }
}

/// Why a function has no place in a library.
fn refused(export: &Export, why: &str) -> Diagnostic {
    let message = format!("`{}` cannot be a function of a C library: {why}", export.name);
    let help = "make it private, or move what C cannot do into the program that calls it";
    Diagnostic::error(Code::E0999, message, export.span, "this function is public").with_help(help)
}

/// A mistake that concerns a whole file or a place in it.
fn mistake(message: impl Into<String>, span: Span, label: &str, help: &str) -> Diagnostics {
    Diagnostic::error(Code::E0999, message, span, label).with_help(help).into()
}
