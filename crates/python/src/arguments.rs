//! From Python objects to values.
//!
//! NumPy arrays are lent where their layout allows that; whatever else holds numbers becomes such an
//! array first, which is done in Python (`einlang._arrays`). Numbers and lists of Python are *weak*: they
//! have no type of their own.

use einlang_interp::tensor::{Storage, TensorValue};
use einlang_interp::value::{HostValue, NodeKind};
use einlang_tir::constant::Const;
use einlang_tir::host::{HostType, TypeDecl};
use einlang_tir::types::Elem;
use numpy::PyUntypedArray;
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

use crate::lend::lent;

/// A value, and whether its type may still be chosen.
pub(crate) struct Argument {
    pub(crate) value: HostValue,
    pub(crate) weak: bool,
}

/// The value of an object. What is wanted tells records and lists from arrays.
pub(crate) fn argument(
    object: &Bound<'_, PyAny>,
    want: Option<&HostType>,
    types: &[TypeDecl],
) -> PyResult<Argument> {
    if let Ok(array) = object.cast::<PyUntypedArray>()
        && let Some(tensor) = lent(array)
    {
        return Ok(Argument { value: HostValue::tensor(tensor), weak: false });
    }
    if let Some(number) = number(object)? {
        return Ok(Argument { value: number.into(), weak: true });
    }
    if let Ok(text) = object.cast::<PyString>() {
        return Ok(Argument { value: HostValue::str(text.to_str()?), weak: false });
    }
    if let Some(value) = record(object, want, types)? {
        return Ok(Argument { value, weak: false });
    }
    array_like(object)
}

/// A number of Python.
fn number(object: &Bound<'_, PyAny>) -> PyResult<Option<Const>> {
    if object.is_exact_instance_of::<PyFloat>() {
        return Ok(Some(Const::from_bits(Elem::F64, object.extract::<f64>()?.to_bits())));
    }
    if object.is_exact_instance_of::<PyBool>() {
        return Ok(Some(Const::bool(object.extract()?)));
    }
    if object.is_exact_instance_of::<PyInt>() {
        if let Ok(number) = object.extract::<i64>() {
            return Ok(Some(Const::int(Elem::I64, number.into())));
        }
        let large = |_| PyOverflowError::new_err("the integer does not fit into 64 bits");
        let number = object.extract::<u64>().map_err(large)?;
        return Ok(Some(Const::int(Elem::U64, number.into())));
    }
    Ok(None)
}

/// A record, tuple or list, where one is wanted.
fn record(
    object: &Bound<'_, PyAny>,
    want: Option<&HostType>,
    types: &[TypeDecl],
) -> PyResult<Option<HostValue>> {
    let value = |object: &Bound<'_, PyAny>, want: &HostType| {
        let made = argument(object, Some(want), types)?.value;
        // Parts of records are not converted by the driver.
        let unfit =
            |why| PyTypeError::new_err(format!("a part of the value does not serve: {why}"));
        einlang_driver::converted(&made, want).map_err(unfit)
    };
    match want {
        Some(HostType::List(of)) => {
            let items = object.try_iter()?.map(|item| value(&item?, of));
            Ok(Some(HostValue::list(items.collect::<PyResult<_>>()?)))
        }
        Some(HostType::Tuple(parts)) => {
            let items: Vec<Bound<'_, PyAny>> = object.try_iter()?.collect::<PyResult<_>>()?;
            if items.len() != parts.len() {
                let message =
                    format!("a tuple of {} values is wanted, not {}", parts.len(), items.len());
                return Err(PyTypeError::new_err(message));
            }
            let items = items.iter().zip(parts).map(|(item, want)| value(item, want));
            Ok(Some(HostValue::tuple(items.collect::<PyResult<_>>()?)))
        }
        Some(HostType::Struct(name)) => {
            let fields = types.iter().find_map(|decl| match decl {
                TypeDecl::Struct { name: known, fields } if known == name => Some(fields),
                _ => None,
            });
            let fields = fields.map_or(&[][..], Vec::as_slice);
            let mut items = Vec::with_capacity(fields.len());
            for (field, want) in fields {
                items.push(value(&field_of(object, field.as_str())?, want)?);
            }
            let names = fields.iter().map(|(name, _)| name.clone()).collect();
            Ok(Some(HostValue::node(NodeKind::Struct(name.clone(), names), items)))
        }
        _ => Ok(None),
    }
}

/// The field of a dict, or the attribute of another object.
fn field_of<'py>(object: &Bound<'py, PyAny>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    let found = match object.cast::<PyDict>() {
        Ok(dict) => dict.get_item(name)?,
        Err(_) => object.getattr_opt(name)?,
    };
    let missing = || PyTypeError::new_err(format!("the record has no field `{name}`"));
    found.ok_or_else(missing)
}

/// Whatever Python can make an array of.
fn array_like(object: &Bound<'_, PyAny>) -> PyResult<Argument> {
    static HELPER: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = object.py();
    let helper = HELPER.get_or_try_init(py, || {
        let module = py.import("einlang._arrays")?;
        module.getattr("as_array").map(Bound::unbind)
    })?;
    let made = helper.bind(py).call1((object,))?;
    let (array, elem): (Bound<'_, PyAny>, Option<String>) = made.extract()?;
    let strange = || PyTypeError::new_err("the elements of the array are no numbers");
    let tensor = lent(array.cast::<PyUntypedArray>()?).ok_or_else(strange)?;
    let tensor = match elem.as_deref().and_then(Elem::parse) {
        Some(elem) => retyped(tensor, elem).ok_or_else(strange)?,
        None => tensor,
    };
    let weak = object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>();
    Ok(Argument { value: HostValue::tensor(tensor), weak })
}

/// Bits that stand for floats which NumPy does not have.
fn retyped(tensor: TensorValue, elem: Elem) -> Option<TensorValue> {
    let (shape, data) = tensor.into_parts();
    let data = match (data, elem) {
        (Storage::U16(list), Elem::BF16) => Storage::BF16(list),
        (Storage::U8(list), Elem::F8E4M3) => Storage::F8E4M3(list),
        _ => return None,
    };
    TensorValue::new(shape, data)
}
