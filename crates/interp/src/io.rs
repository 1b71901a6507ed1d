//! The world of a running program: printing and files, behind a trait.
//!
//! Nothing here opens a file. An embedder implements [`Io`] and decides what may be read and
//! written; decoding of tensor formats lies behind [`Io::load_tensor`] and [`Io::save_tensor`], so
//! that it can live with the file formats and not with the language.

use std::collections::BTreeMap;

use einlang_tir::host::HostType;
use einlang_tir::types::Elem;

use crate::stop::{Stop, StopCode};
use crate::tensor::TensorValue;
use crate::value::HostValue;

/// What a program may do to the world.
pub trait Io {
    /// Prints one line.
    fn print(&mut self, line: &str) -> Result<(), Stop>;

    /// The text of a file.
    fn read_text(&mut self, path: &str) -> Result<String, Stop>;

    /// Writes a file.
    fn write_text(&mut self, path: &str, text: &str) -> Result<(), Stop>;

    /// Whether there is a file.
    fn exists(&mut self, path: &str) -> Result<bool, Stop>;

    /// The names in a folder, sorted.
    fn list(&mut self, path: &str) -> Result<Vec<String>, Stop>;

    /// Loads a tensor of a type and rank from a file in a format such as `npy`.
    fn load_tensor(
        &mut self,
        format: &str,
        path: &str,
        elem: Elem,
        rank: usize,
    ) -> Result<TensorValue, Stop> {
        let _ = (elem, rank);
        Err(unavailable("load", format, path))
    }

    /// Loads one of the named tensors in a file, in a format such as `npz`.
    fn load_named(
        &mut self,
        format: &str,
        path: &str,
        name: &str,
        elem: Elem,
        rank: usize,
    ) -> Result<TensorValue, Stop> {
        let _ = (name, elem, rank);
        Err(unavailable("load", format, path))
    }

    /// Saves tensors with names to a file in a format.
    fn save_named(
        &mut self,
        format: &str,
        path: &str,
        tensors: &[(String, &TensorValue)],
    ) -> Result<(), Stop> {
        let _ = tensors;
        Err(unavailable("save", format, path))
    }

    /// Calls a function of Python by its dotted path, where Python hosts the program. The last
    /// arguments have names.
    fn call_python(
        &mut self,
        path: &str,
        names: &[&str],
        args: Vec<HostValue>,
        result: &HostType,
    ) -> Result<HostValue, Stop> {
        let _ = (names, args, result);
        Err(no_python(path))
    }

    /// Saves a tensor to a file in a format.
    fn save_tensor(&mut self, format: &str, path: &str, tensor: &TensorValue) -> Result<(), Stop> {
        let _ = tensor;
        Err(unavailable("save", format, path))
    }
}

/// A function of Python cannot be called, because Python does not host the program.
pub fn no_python(path: &str) -> Stop {
    let message = format!("`{path}` cannot be called: no Python runs this program");
    Stop::new(StopCode::Python, message)
}

fn unavailable(verb: &str, format: &str, path: &str) -> Stop {
    let message = format!("cannot {verb} `{path}`: the format `{format}` is not available here");
    Stop::new(StopCode::Unavailable, message)
}

/// A world made of memory, for tests and for programs without files.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MemoryIo {
    /// The lines printed.
    pub lines: Vec<String>,
    /// The files by path.
    pub files: BTreeMap<String, String>,
}

impl Io for MemoryIo {
    fn print(&mut self, line: &str) -> Result<(), Stop> {
        self.lines.push(line.to_owned());
        Ok(())
    }

    fn read_text(&mut self, path: &str) -> Result<String, Stop> {
        let missing = || Stop::new(StopCode::NotFound, format!("there is no file `{path}`"));
        self.files.get(path).cloned().ok_or_else(missing)
    }

    fn write_text(&mut self, path: &str, text: &str) -> Result<(), Stop> {
        self.files.insert(path.to_owned(), text.to_owned());
        Ok(())
    }

    fn exists(&mut self, path: &str) -> Result<bool, Stop> {
        Ok(self.files.contains_key(path))
    }

    fn list(&mut self, path: &str) -> Result<Vec<String>, Stop> {
        let folder = format!("{}/", path.trim_end_matches('/'));
        let names = self.files.keys().filter_map(|file| match path {
            "." | "" => Some(file.as_str()),
            _ => file.strip_prefix(&folder),
        });
        let mut names: Vec<String> =
            names.filter_map(|name| name.split('/').next()).map(str::to_owned).collect();
        names.dedup();
        Ok(names)
    }
}
