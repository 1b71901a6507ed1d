//! Calling a program with values, as often as one likes.
//!
//! The values belong to the last inputs, in order; inputs before them are those of the file and take their
//! defaults. Nothing is copied that has the type of its input.

use einlang_interp::io::Io;
use einlang_interp::value::HostValue;
use einlang_loops::window::Given as SizeGiven;
use einlang_source::Diagnostics;
use einlang_tir::host::{HostType, TypeDecl};

use super::inputs::{Reader, ill_typed, missing};
use super::{Executable, Failure, RunOptions, declared, size_given};
use crate::functions::Shown;

/// What a call gave.
#[derive(Debug)]
pub struct Called {
    /// The outputs, in order. A tensor of records is a record of tensors.
    pub values: Vec<HostValue>,
    /// What the storage of recurrences may depend on.
    pub given: Vec<Option<SizeGiven>>,
}

impl Executable {
    /// The names and types of the inputs, in order.
    pub fn inputs(&self) -> impl Iterator<Item = (&str, &HostType, bool)> {
        let inputs = self.lowered.inputs.iter();
        inputs.map(|input| (input.name.as_str(), &input.host, input.default.is_some()))
    }

    /// The structs and enums of the program.
    pub fn types(&self) -> &[TypeDecl] {
        &self.lowered.program.types
    }

    /// The types of the outputs, in order.
    pub fn output_types(&self) -> impl Iterator<Item = &HostType> {
        self.lowered.outputs.iter().map(|output| &output.host)
    }

    /// Evaluates the program with these values for its last inputs.
    pub fn call(
        &self,
        values: Vec<HostValue>,
        options: &RunOptions,
        io: &mut dyn Io,
    ) -> Result<Called, Failure> {
        let called = self.called(values, options, io);
        called.map_err(|failure| match &self.shown {
            Some(shown) => shown.failure(failure),
            None => failure,
        })
    }

    /// The same, with messages that name what the wrapper of a call declares.
    fn called(
        &self,
        values: Vec<HostValue>,
        options: &RunOptions,
        io: &mut dyn Io,
    ) -> Result<Called, Failure> {
        let inputs = self.fitted(values, options, io)?;
        let given = inputs.iter().map(size_given).collect();
        let values = self.entered(inputs, options, io)?;
        let values = self.forms.iter().zip(values).map(|(form, value)| form.columns(value));
        Ok(Called { values: values.collect(), given })
    }

    /// The program with messages in the words of the function that it calls.
    pub(crate) fn shown_as(self, shown: Shown) -> Executable {
        let warnings = shown.diagnostics(&self.warnings);
        Executable { warnings, shown: Some(Box::new(shown)), ..self }
    }

    /// Evaluates the program with what is given for its inputs by name.
    pub fn call_named(&self, options: &RunOptions, io: &mut dyn Io) -> Result<Called, Failure> {
        let inputs = self.bind(&options.inputs, &options.limits, io)?;
        let given = inputs.iter().map(size_given).collect();
        let values = self.entered(inputs, options, io)?;
        let values = self.forms.iter().zip(values).map(|(form, value)| form.columns(value));
        Ok(Called { values: values.collect(), given })
    }

    /// A value of its type for every input.
    fn fitted(
        &self,
        values: Vec<HostValue>,
        options: &RunOptions,
        io: &mut dyn Io,
    ) -> Result<Vec<HostValue>, Failure> {
        let inputs = &self.lowered.inputs;
        let Some(n_own) = inputs.len().checked_sub(values.len()) else {
            return Err(Failure::Bug("a call has more values than inputs".to_owned()));
        };
        let mut errors = Diagnostics::new();
        let mut all = Vec::with_capacity(inputs.len());
        for (input, declared) in inputs.iter().zip(&self.declared).take(n_own) {
            match &input.default {
                Some(default) => all.push(self.default_of(default, &options.limits, io)?),
                None => errors.push(missing(input, &declared.ty)),
            }
        }
        let reader = Reader { types: self.types(), limits: &options.limits };
        let wanted = inputs.iter().zip(&self.declared).skip(n_own);
        for ((input, declared), value) in wanted.zip(values) {
            match reader.fitted(value, &input.host, declared) {
                Ok(value) => all.push(value),
                Err(misfit) => errors.push(ill_typed(input, &declared.ty, &misfit)),
            }
        }
        if errors.is_empty() {
            errors = declared::disagreements(&self.declared, &all);
        }
        if errors.is_empty() { Ok(all) } else { Err(Failure::Program(errors)) }
    }
}
