//! The `safetensors` format: a JSON header that describes named tensors, then their elements.

use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};

use super::{no_such_name, within};
use crate::array::{Array, Elem, byte_length};
use crate::error::FileError;

const DTYPES: &[(Elem, Dtype)] = &[
    (Elem::Bool, Dtype::BOOL),
    (Elem::I8, Dtype::I8),
    (Elem::I16, Dtype::I16),
    (Elem::I32, Dtype::I32),
    (Elem::I64, Dtype::I64),
    (Elem::U8, Dtype::U8),
    (Elem::U16, Dtype::U16),
    (Elem::U32, Dtype::U32),
    (Elem::U64, Dtype::U64),
    (Elem::F8E4M3, Dtype::F8_E4M3),
    (Elem::F16, Dtype::F16),
    (Elem::BF16, Dtype::BF16),
    (Elem::F32, Dtype::F32),
    (Elem::F64, Dtype::F64),
];

fn open(bytes: &[u8]) -> Result<SafeTensors<'_>, FileError> {
    SafeTensors::deserialize(bytes)
        .map_err(|error| FileError::malformed(format!("the header cannot be read: {error}")))
}

pub(super) fn names(bytes: &[u8]) -> Result<Vec<String>, FileError> {
    let mut names: Vec<String> = open(bytes)?.names().into_iter().map(str::to_owned).collect();
    names.sort();
    Ok(names)
}

pub(super) fn decode(bytes: &[u8], name: &str, limit: u64) -> Result<Array, FileError> {
    let file = open(bytes)?;
    let Ok(view) = file.tensor(name) else {
        return Err(no_such_name(name, &names(bytes)?));
    };
    let elem = DTYPES.iter().find(|(_, dtype)| *dtype == view.dtype()).map(|(elem, _)| *elem);
    let unknown = || {
        let dtype = view.dtype();
        FileError::unsuitable(format!("elements of type {dtype:?} are no numbers of the language"))
    };
    let elem = elem.ok_or_else(unknown)?;
    within(byte_length(elem, view.shape())?, limit)?;
    Array::new(elem, view.shape().to_vec(), view.data().to_vec())
}

pub(super) fn encode(arrays: &[(String, Array)]) -> Result<Vec<u8>, FileError> {
    let failed = |error: &dyn std::fmt::Display| {
        FileError::unsuitable(format!("the tensors cannot be written: {error}"))
    };
    let mut views = Vec::with_capacity(arrays.len());
    for (name, array) in arrays {
        let dtype = DTYPES.iter().find(|(elem, _)| *elem == array.elem()).map(|(_, dtype)| *dtype);
        let dtype = dtype.ok_or_else(|| failed(&"of an unknown type"))?;
        let view = TensorView::new(dtype, array.shape().to_vec(), array.bytes());
        views.push((name.as_str(), view.map_err(|error| failed(&error))?));
    }
    safetensors::serialize(views, None).map_err(|error| failed(&error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Kind;

    #[test]
    fn every_type_survives() {
        for elem in Elem::ALL {
            let bytes: Vec<u8> = (0..2 * elem.size()).map(|at| (at % 2) as u8).collect();
            let array = Array::new(*elem, vec![1, 2], bytes).expect("it fits");
            let file = encode(&[("w".into(), array.clone())]).expect("a tensor");
            assert_eq!(names(&file), Ok(vec!["w".to_owned()]));
            assert_eq!(decode(&file, "w", 100), Ok(array));
            assert_eq!(decode(&file, "b", 9).map_err(|error| error.kind), Err(Kind::Unsuitable));
        }
    }

    #[test]
    fn hostile_headers_are_errors() {
        let file = |header: &str| {
            let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
            bytes.extend_from_slice(header.as_bytes());
            bytes
        };
        for header in [
            r#"{"w":{"dtype":"F32","shape":[1000000000],"data_offsets":[0,4000000000]}}"#,
            r#"{"w":{"dtype":"F32","shape":[18446744073709551615,2],"data_offsets":[0,0]}}"#,
            r#"{"w":{"dtype":"F32","shape":[1],"data_offsets":[8,4]}}"#,
            r#"{"w":{"dtype":"Q9","shape":[],"data_offsets":[0,0]}}"#,
            "{",
        ] {
            let refused = decode(&file(header), "w", 100).map_err(|error| error.kind);
            assert_eq!(refused, Err(Kind::Malformed), "{header}");
        }
        let huge = u64::MAX.to_le_bytes();
        assert_eq!(decode(&huge, "w", 100).map_err(|error| error.kind), Err(Kind::Malformed));
    }
}
