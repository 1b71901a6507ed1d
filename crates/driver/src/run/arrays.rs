//! Arrays of files and tensors of programs.

use einlang_interp::tensor::{Storage, TensorValue};
use einlang_runtime::{Array, Elem as FileElem, FileError};
use einlang_tir::types::Elem;

/// The tensor of an array.
pub(super) fn to_tensor(array: &Array) -> Option<TensorValue> {
    let elem = Elem::parse(array.elem().as_str())?;
    let mut data = Storage::with_capacity(elem, array.len());
    array.bits().for_each(|bits| data.push_bits(bits));
    TensorValue::new(array.shape().to_vec(), data)
}

/// The array of a tensor.
pub(super) fn to_array(tensor: &TensorValue) -> Result<Array, FileError> {
    let elem = FileElem::parse(tensor.elem().as_str());
    let elem = elem.ok_or_else(|| FileError::unsuitable("the elements have no form in files"))?;
    let mut bytes = Vec::with_capacity(tensor.len() * elem.size());
    for at in 0..tensor.len() {
        let bits = tensor.data().bits(at).unwrap_or_default();
        bytes.extend_from_slice(&bits.to_le_bytes()[..elem.size()]);
    }
    Array::new(elem, tensor.shape().to_vec(), bytes)
}

#[cfg(test)]
mod tests {
    use einlang_tir::constant::Const;

    use super::*;

    #[test]
    fn every_type_goes_both_ways() {
        for elem in Elem::ALL {
            let values: Vec<Const> =
                [0, 1, u64::MAX].iter().map(|bits| Const::from_bits(*elem, *bits)).collect();
            let tensor = TensorValue::of_consts(*elem, vec![3, 1], &values).expect("it fits");
            let array = to_array(&tensor).expect("every type has a form in files");
            let back = to_tensor(&array).expect("and back");
            assert_eq!(back.consts().collect::<Vec<_>>(), values);
        }
    }
}
