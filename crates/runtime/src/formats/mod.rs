//! File formats: bytes to arrays and back.
//!
//! Decoders take the whole file and a limit on the bytes of an array. They check what a header
//! declares against what the file holds before they allocate.

mod csv;
mod npy;
mod npz;
mod pgm;
mod png;
mod safetensors;
mod text;
#[cfg(test)]
mod truncation;

pub use text::{decode_text, number_text};

use crate::array::Array;
use crate::error::FileError;

macro_rules! formats {
    ($($variant:ident $name:literal $doc:literal;)*) => {
        /// A format of files with one array.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Format {
            $(#[doc = $doc] $variant,)*
        }

        impl Format {
            /// Every format.
            pub const ALL: &[Format] = &[$(Format::$variant,)*];

            /// The name, which is also the extension of its files.
            pub fn name(self) -> &'static str {
                match self { $(Format::$variant => $name,)* }
            }
        }
    };
}

formats! {
    Npy "npy" "One array as NumPy saves it.";
    Npz "npz" "Named arrays as NumPy saves them, in a zip archive.";
    Csv "csv" "A table of numbers as comma separated text.";
    Safetensors "safetensors" "Named tensors.";
    Png "png" "A picture: height, width and 1 to 4 channels of bytes.";
    Pgm "pgm" "A grey picture: height and width.";
}

impl Format {
    /// The format of this name.
    pub fn parse(name: &str) -> Option<Format> {
        Format::ALL.iter().copied().find(|format| format.name().eq_ignore_ascii_case(name))
    }

    /// Whether files of this format hold named arrays.
    pub fn has_names(self) -> bool {
        matches!(self, Format::Npz | Format::Safetensors)
    }

    /// The array in a file; in one with names, the only one. An array may have `limit` bytes.
    pub fn decode(self, bytes: &[u8], limit: u64) -> Result<Array, FileError> {
        match self {
            Format::Npy => npy::decode(bytes, limit),
            Format::Csv => csv::decode(bytes, limit),
            Format::Png => png::decode(bytes, limit),
            Format::Pgm => pgm::decode(bytes, limit),
            Format::Npz | Format::Safetensors => {
                let names = self.names(bytes)?;
                match &names[..] {
                    [name] => self.decode_named(bytes, name, limit),
                    names => {
                        let message =
                            format!("the file holds several arrays ({}); name one", some(names));
                        Err(FileError::unsuitable(message))
                    }
                }
            }
        }
    }

    /// The array of this name.
    pub fn decode_named(self, bytes: &[u8], name: &str, limit: u64) -> Result<Array, FileError> {
        match self {
            Format::Npz => npz::decode(bytes, name, limit),
            Format::Safetensors => safetensors::decode(bytes, name, limit),
            _ => Err(unnamed(self)),
        }
    }

    /// The names of the arrays in a file, sorted.
    pub fn names(self, bytes: &[u8]) -> Result<Vec<String>, FileError> {
        match self {
            Format::Npz => npz::names(bytes),
            Format::Safetensors => safetensors::names(bytes),
            _ => Err(unnamed(self)),
        }
    }

    /// The file of one array.
    pub fn encode(self, array: &Array) -> Result<Vec<u8>, FileError> {
        match self {
            Format::Npy => npy::encode(array),
            Format::Csv => csv::encode(array),
            Format::Png => png::encode(array),
            Format::Pgm => pgm::encode(array),
            Format::Npz | Format::Safetensors => {
                let message =
                    format!("the arrays of a file in format `{}` need names", self.name());
                Err(FileError::unsuitable(message))
            }
        }
    }

    /// The file of arrays with names.
    pub fn encode_named(self, arrays: &[(String, Array)]) -> Result<Vec<u8>, FileError> {
        if let Some((name, _)) = twice(arrays) {
            let message = format!("the name `{name}` is given to two arrays");
            return Err(FileError::unsuitable(message));
        }
        match self {
            Format::Npz => npz::encode(arrays),
            Format::Safetensors => safetensors::encode(arrays),
            _ => Err(unnamed(self)),
        }
    }
}

fn twice(arrays: &[(String, Array)]) -> Option<&(String, Array)> {
    let mut seen = std::collections::HashSet::new();
    arrays.iter().find(|(name, _)| !seen.insert(name))
}

fn unnamed(format: Format) -> FileError {
    let message = format!("files in format `{}` hold one array without a name", format.name());
    FileError::unsuitable(message)
}

/// The first few of many names.
fn some(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(8).map(|name| format!("`{name}`")).collect();
    let more = if names.len() > shown.len() { ", …" } else { "" };
    shown.join(", ") + more
}

/// No array of this name.
fn no_such_name(name: &str, names: &[String]) -> FileError {
    let among = match names {
        [] => "it holds none".to_owned(),
        names => format!("it holds {}", some(names)),
    };
    FileError::unsuitable(format!("the file holds no array `{name}`; {among}"))
}

/// Fails if an array would have more bytes than allowed.
fn within(n_bytes: usize, limit: u64) -> Result<(), FileError> {
    if n_bytes as u64 <= limit {
        return Ok(());
    }
    let message = format!("the array has {n_bytes} bytes, more than the limit of {limit}");
    Err(FileError::too_large(message))
}
