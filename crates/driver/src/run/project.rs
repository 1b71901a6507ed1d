//! The world of a program that runs in a folder of a disk: it prints, and touches the files that it
//! may.

use std::io;

use einlang_interp::io::{Io, no_python};
use einlang_interp::stop::{Stop, StopCode};
use einlang_interp::tensor::TensorValue;
use einlang_interp::value::HostValue;
use einlang_runtime::formats::{Format, decode_text};
use einlang_runtime::{Array, FileError, Kind, Permits, files};
use einlang_tir::host::HostType;
use einlang_tir::types::Elem;

use super::arrays::{to_array, to_tensor};

/// Where a program prints.
pub trait Printer {
    /// Prints one line.
    fn line(&mut self, line: &str) -> io::Result<()>;
}

/// The Python that runs a program.
pub trait Python {
    /// Calls a function by its dotted path; the last arguments have names.
    fn call(
        &mut self,
        path: &str,
        names: &[&str],
        args: Vec<HostValue>,
        result: &HostType,
    ) -> Result<HostValue, Stop>;
}

/// The world of a program in a folder.
pub struct ProjectIo<'p> {
    permits: Permits,
    printer: &'p mut dyn Printer,
    python: Option<&'p mut dyn Python>,
    /// The most bytes of one file.
    limit: u64,
}

impl<'p> ProjectIo<'p> {
    /// The world with these permissions, in which no file of more than `limit` bytes is read.
    pub fn new(permits: Permits, printer: &'p mut dyn Printer, limit: u64) -> ProjectIo<'p> {
        ProjectIo { permits, printer, python: None, limit }
    }

    /// The same world inside of Python.
    #[must_use]
    pub fn with_python(mut self, python: &'p mut dyn Python) -> ProjectIo<'p> {
        self.python = Some(python);
        self
    }

    fn read(&self, path: &str) -> Result<Vec<u8>, Stop> {
        let place = self.permits.readable(path).map_err(stop)?;
        files::read(&place, self.limit).map_err(|error| reading(error, path))
    }

    fn write(&self, path: &str, encoded: Result<Vec<u8>, FileError>) -> Result<(), Stop> {
        let place = self.permits.writable(path).map_err(stop)?;
        let written = encoded.and_then(|bytes| files::write(&place, &bytes));
        written.map_err(|error| stop(error.within(&format!("cannot write `{path}`"))))
    }
}

/// The format of this name.
fn format_of(name: &str) -> Result<Format, Stop> {
    let unknown = || {
        let known: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
        let message = format!("there is no format `{name}`; there are {}", known.join(", "));
        Stop::new(StopCode::Malformed, message)
    };
    Format::parse(name).ok_or_else(unknown)
}

fn reading(error: FileError, path: &str) -> Stop {
    let missing = "there is no such file";
    match (error.kind, error.message.as_str()) {
        (Kind::NotFound, message) if message == missing => {
            Stop::new(StopCode::NotFound, format!("there is no file `{path}`"))
        }
        _ => stop(error.within(&format!("cannot read `{path}`"))),
    }
}

fn stop(error: FileError) -> Stop {
    let code = match error.kind {
        Kind::NotFound => StopCode::NotFound,
        Kind::Outside => StopCode::Access,
        Kind::Malformed => StopCode::Malformed,
        Kind::Unsuitable => StopCode::OtherShape,
        Kind::TooLarge => StopCode::Memory,
    };
    Stop::new(code, error.message)
}

/// What was loaded as a tensor of the wanted type. A table of one column is also a vector.
fn fitted(
    array: Result<Array, FileError>,
    path: &str,
    elem: Elem,
    rank: usize,
) -> Result<TensorValue, Stop> {
    let array = array.map_err(|error| reading(error, path))?;
    let strange = || Stop::internal("an array of a file has no tensor");
    let tensor = to_tensor(&array).ok_or_else(strange)?.cast(elem);
    match tensor.shape() {
        shape if shape.len() == rank => Ok(tensor),
        [extent, 1] if rank == 1 => {
            TensorValue::new(vec![*extent], tensor.data().clone()).ok_or_else(strange)
        }
        shape => {
            let message = format!(
                "`{path}` holds {}, which has {} axes and not {rank}",
                array.describe(),
                shape.len()
            );
            Err(Stop::new(StopCode::OtherShape, message))
        }
    }
}

impl Io for ProjectIo<'_> {
    fn print(&mut self, line: &str) -> Result<(), Stop> {
        self.printer.line(line).map_err(|error| {
            Stop::new(StopCode::Unavailable, format!("the output cannot be written: {error}"))
        })
    }

    fn read_text(&mut self, path: &str) -> Result<String, Stop> {
        decode_text(self.read(path)?).map_err(|error| reading(error, path))
    }

    fn write_text(&mut self, path: &str, text: &str) -> Result<(), Stop> {
        self.write(path, Ok(text.as_bytes().to_vec()))
    }

    fn exists(&mut self, path: &str) -> Result<bool, Stop> {
        Ok(self.permits.readable(path).map_err(stop)?.is_file())
    }

    fn list(&mut self, path: &str) -> Result<Vec<String>, Stop> {
        let place = self.permits.readable(path).map_err(stop)?;
        files::list(&place).map_err(|error| reading(error, path))
    }

    fn load_tensor(
        &mut self,
        format: &str,
        path: &str,
        elem: Elem,
        rank: usize,
    ) -> Result<TensorValue, Stop> {
        let format = format_of(format)?;
        let bytes = self.read(path)?;
        fitted(format.decode(&bytes, self.limit), path, elem, rank)
    }

    fn load_named(
        &mut self,
        format: &str,
        path: &str,
        name: &str,
        elem: Elem,
        rank: usize,
    ) -> Result<TensorValue, Stop> {
        let format = format_of(format)?;
        let bytes = self.read(path)?;
        fitted(format.decode_named(&bytes, name, self.limit), path, elem, rank)
    }

    fn call_python(
        &mut self,
        path: &str,
        names: &[&str],
        args: Vec<HostValue>,
        result: &HostType,
    ) -> Result<HostValue, Stop> {
        match &mut self.python {
            Some(python) => python.call(path, names, args, result),
            None => Err(no_python(path)),
        }
    }

    fn save_tensor(&mut self, format: &str, path: &str, tensor: &TensorValue) -> Result<(), Stop> {
        let format = format_of(format)?;
        self.write(path, to_array(tensor).and_then(|array| format.encode(&array)))
    }

    fn save_named(
        &mut self,
        format: &str,
        path: &str,
        tensors: &[(String, &TensorValue)],
    ) -> Result<(), Stop> {
        let format = format_of(format)?;
        let arrays: Result<Vec<(String, Array)>, FileError> =
            tensors.iter().map(|(name, tensor)| Ok((name.clone(), to_array(tensor)?))).collect();
        self.write(path, arrays.and_then(|arrays| format.encode_named(&arrays)))
    }
}
