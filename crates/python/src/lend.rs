//! Memory of NumPy arrays as elements of tensors.
//!
//! The only `unsafe` of the crate: a slice over the memory of an array. It is sound as long as the array
//! is alive, which the slice sees to, and as long as nobody changes the elements while a program reads
//! them, which is the same promise that NumPy asks of threads.

#![allow(unsafe_code)]

use std::sync::Arc;

use einlang_interp::list::{Lend, List};
use einlang_interp::tensor::{Storage, TensorValue};
use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;

/// The elements of an array that is kept alive.
struct Borrowed<T> {
    first: *const T,
    n: usize,
    _owner: Py<PyAny>,
}

// SAFETY: the elements are plain numbers or truth values that are only read; the owner may be released by any thread.
unsafe impl<T: Sync> Send for Borrowed<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Borrowed<T> {}

impl<T: Sync> Lend<T> for Borrowed<T> {
    fn elements(&self) -> &[T] {
        // SAFETY: `lent` saw that so many elements lie there, aligned and one after the other.
        unsafe { std::slice::from_raw_parts(self.first, self.n) }
    }
}

/// The tensor over the memory of an array, where its type and layout allow that.
pub(crate) fn lent(array: &Bound<'_, PyUntypedArray>) -> Option<TensorValue> {
    let dtype = array.dtype();
    if dtype.is_native_byteorder() == Some(false) || !array.is_c_contiguous() {
        return None;
    }
    let data = match (dtype.kind(), dtype.itemsize()) {
        (b'f', 4) => Storage::F32(elements(array)?),
        (b'f', 8) => Storage::F64(elements(array)?),
        (b'f', 2) => Storage::F16(elements(array)?),
        (b'i', 1) => Storage::I8(elements(array)?),
        (b'i', 2) => Storage::I16(elements(array)?),
        (b'i', 4) => Storage::I32(elements(array)?),
        (b'i', 8) => Storage::I64(elements(array)?),
        (b'u', 1) => Storage::U8(elements(array)?),
        (b'u', 2) => Storage::U16(elements(array)?),
        (b'u', 4) => Storage::U32(elements(array)?),
        (b'u', 8) => Storage::U64(elements(array)?),
        (b'b', 1) => Storage::Bool(truth_values(array)?),
        _ => return None,
    };
    TensorValue::new(array.shape().to_vec(), data)
}

/// How many bytes are looked at before it is asked whether to go on.
const AT_ONCE: usize = 1 << 14;

/// Truth values, which are copied where other bytes than 0 and 1 stand for them.
fn truth_values(array: &Bound<'_, PyUntypedArray>) -> Option<List<bool>> {
    let bytes: List<u8> = elements(array)?;
    let are_plain = |bytes: &[u8]| bytes.iter().fold(0, |all, byte| all | byte) <= 1;
    match bytes.chunks(AT_ONCE).all(are_plain) {
        true => elements(array),
        false => Some(List::Own(bytes.iter().map(|byte| *byte != 0).collect())),
    }
}

/// The elements of a contiguous array whose elements have the size of `T`, and bytes that a `T` may have.
fn elements<T: Copy + Send + Sync + 'static>(array: &Bound<'_, PyUntypedArray>) -> Option<List<T>> {
    let n = array.shape().iter().product();
    if n == 0 {
        return Some(List::Own(Vec::new()));
    }
    // SAFETY: an array object has a pointer to its first element.
    let first: *const T = unsafe { (*array.as_array_ptr()).fields.data }.cast_const().cast();
    if !first.is_aligned() {
        return None;
    }
    let owner = array.as_any().clone().unbind();
    Some(List::Lent(Arc::new(Borrowed { first, n, _owner: owner })))
}
