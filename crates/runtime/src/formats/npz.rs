//! The `npz` format: a zip archive with one `npy` file per array.

use std::io::{Cursor, Read, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::{no_such_name, npy};
use crate::array::Array;
use crate::error::FileError;

/// Room for the header of an `npy` file beside its elements.
const HEADER_BYTES: u64 = 1 << 16;

fn open(bytes: &[u8]) -> Result<ZipArchive<Cursor<&[u8]>>, FileError> {
    ZipArchive::new(Cursor::new(bytes)).map_err(|error| broken(&error))
}

fn broken(error: &dyn std::fmt::Display) -> FileError {
    FileError::malformed(format!("the archive cannot be read: {error}"))
}

pub(super) fn names(bytes: &[u8]) -> Result<Vec<String>, FileError> {
    let archive = open(bytes)?;
    let mut names: Vec<String> = archive
        .file_names()
        .flatten()
        .filter_map(|name| name.strip_suffix(".npy").map(str::to_owned))
        .collect();
    names.sort();
    Ok(names)
}

pub(super) fn decode(bytes: &[u8], name: &str, limit: u64) -> Result<Array, FileError> {
    let mut archive = open(bytes)?;
    let entry = format!("{name}.npy");
    if archive.index_for_name(&entry).is_none() {
        return Err(no_such_name(name, &names(bytes)?));
    }
    let file = archive.by_name(&entry).map_err(|error| broken(&error))?;
    // What the archive says about the size is not believed: reading stops at the limit.
    let limit_of_file = limit.saturating_add(HEADER_BYTES);
    let mut content = Vec::new();
    file.take(limit_of_file.saturating_add(1))
        .read_to_end(&mut content)
        .map_err(|error| broken(&error))?;
    if content.len() as u64 > limit_of_file {
        let message = format!("the array `{name}` has more bytes than the limit of {limit}");
        return Err(FileError::too_large(message));
    }
    npy::decode(&content, limit).map_err(|error| error.within(&format!("array `{name}`")))
}

pub(super) fn encode(arrays: &[(String, Array)]) -> Result<Vec<u8>, FileError> {
    let failed = |error: &dyn std::fmt::Display| {
        FileError::unsuitable(format!("the archive cannot be written: {error}"))
    };
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, array) in arrays {
        let content = npy::encode(array)?;
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .large_file(u32::try_from(content.len()).is_err());
        archive.start_file(format!("{name}.npy"), options).map_err(|error| failed(&error))?;
        archive.write_all(&content).map_err(|error| failed(&error))?;
    }
    let written = archive.finish().map_err(|error| failed(&error))?;
    Ok(written.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::array::Elem;
    use crate::error::Kind;

    #[test]
    fn arrays_keep_their_names() {
        let a = Array::new(Elem::U8, vec![2], vec![1, 2]).expect("it fits");
        let b = Array::new(Elem::F32, vec![], vec![0; 4]).expect("it fits");
        let file = encode(&[("b".into(), b.clone()), ("a".into(), a)]).expect("two arrays");
        assert_eq!(names(&file), Ok(vec!["a".to_owned(), "b".to_owned()]));
        assert_eq!(decode(&file, "b", 100), Ok(b));
        let missing = decode(&file, "c", 100).expect_err("no such array");
        assert_eq!(missing.message, "the file holds no array `c`; it holds `a`, `b`");
    }

    #[test]
    fn compressed_arrays_are_read_up_to_the_limit() {
        let array = Array::new(Elem::U8, vec![200_000], vec![7; 200_000]).expect("it fits");
        let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
        archive.start_file("x.npy", options).expect("an entry");
        archive.write_all(&npy::encode(&array).expect("bytes")).expect("an entry");
        let file = archive.finish().expect("an archive").into_inner();
        assert!(file.len() < 10_000);
        assert_eq!(decode(&file, "x", 200_000), Ok(array));
        let refused = decode(&file, "x", 1000).map_err(|error| error.kind);
        assert_eq!(refused, Err(Kind::TooLarge));
    }
}
