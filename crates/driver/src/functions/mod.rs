//! Public functions of a file as things that a host calls with values.
//!
//! [`Session::signatures`] lists them; [`Session::build_call`] makes the program that calls one of them
//! with inputs of given types, for its value or for derivatives. Such a program is compiled once and
//! called as often as one likes ([`Executable::call`]).
//!
//! | file | owns |
//! |---|---|
//! | `given.rs` | inputs that the source does not declare |
//! | `signature.rs` | what the source says about each function |
//! | `shown.rs` | messages about a call in the words of the source |
//! | `wrapper.rs` | the text around a file that calls a function |
//!
//! Invariants: spans of the file stay what they are, since the wrapper follows its text; statements of
//! the file that only have effects, and its `main`, are left out.

mod given;
mod shown;
mod signature;
mod wrapper;

use einlang_source::FileId;
use einlang_tir::host::HostType;

pub(crate) use shown::Shown;
pub use signature::{Parameter, Signature};
pub use wrapper::{Argument, Ask, Call, argument_type};

use crate::run::{Executable, Failure};
use crate::session::Session;

impl Session<'_> {
    /// The public functions of a file without errors, in the order of the source.
    pub fn signatures(&mut self, file: FileId) -> Result<Vec<Signature>, Failure> {
        let found = self.check(file);
        if found.has_errors() {
            return Err(Failure::Program(found));
        }
        Ok(signature::all(&self.parse(file).tree))
    }

    /// A program that calls a function of a file.
    pub fn build_call(&mut self, file: FileId, call: &Call) -> Result<Executable, Failure> {
        let result = match call.ask.needs_result() {
            true => {
                let value = Call { ask: Ask::Value, of: None, ..call.clone() };
                Some(self.result_of(file, &value)?)
            }
            false => None,
        };
        let tree = self.parse(file).tree.clone();
        let text = wrapper::text(&tree, call, result.as_ref());
        let text = text.map_err(|why| Failure::Usage {
            message: why,
            help: "derivatives are taken of numbers and tensors of numbers".to_owned(),
        })?;
        let path = self.sources().name(file).to_owned();
        let caller = self.add_text(&path, text.clone());
        let shown = Shown::new(&tree, call, caller, &text);
        let outputs = self.outputs(Some(call.ask.outputs(result.as_ref())));
        let built = self.build(caller);
        self.outputs(outputs);
        match (built, shown) {
            (Ok(executable), Some(shown)) => Ok(executable.shown_as(shown)),
            (Err(failure), Some(shown)) => Err(shown.failure(failure)),
            (built, None) => built,
        }
    }

    /// What a call gives.
    fn result_of(&mut self, file: FileId, call: &Call) -> Result<HostType, Failure> {
        let value = self.build_call(file, call)?;
        let output = value.lowered().outputs.first();
        let result = output.map(|output| output.host.clone());
        result.ok_or_else(|| Failure::Bug("a call has no result".to_owned()))
    }
}
