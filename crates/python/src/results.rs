//! From values to Python objects: tensors become NumPy arrays without a copy, numbers NumPy scalars,
//! records objects of the package.

use std::sync::Arc;

use einlang_interp::list::List;
use einlang_interp::tensor::{Storage, TensorValue};
use einlang_interp::value::{HostValue, Node, NodeKind};
use einlang_tir::constant::Const;
use einlang_tir::types::Elem;
use numpy::{Element, IntoPyArray, PyArrayMethods};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyList, PyTuple};

/// The object of a value.
pub(crate) fn object(py: Python<'_>, value: HostValue) -> PyResult<Py<PyAny>> {
    match value {
        HostValue::Scalar(number) => scalar(py, number),
        HostValue::Str(text) => text.into_py_any(py),
        HostValue::Tensor(tensor) => {
            let tensor = Arc::try_unwrap(tensor).unwrap_or_else(|shared| (*shared).clone());
            array(py, tensor)
        }
        HostValue::Node(node) => match Arc::try_unwrap(node) {
            Ok(mut node) => {
                let items = std::mem::take(&mut node.items);
                record(py, &node.kind, items)
            }
            Err(shared) => {
                let Node { kind, items, .. } = &*shared;
                record(py, kind, items.clone())
            }
        },
    }
}

fn record(py: Python<'_>, kind: &NodeKind, items: Vec<HostValue>) -> PyResult<Py<PyAny>> {
    let items: Vec<Py<PyAny>> =
        items.into_iter().map(|item| object(py, item)).collect::<PyResult<_>>()?;
    let values = || py.import("einlang._values");
    match kind {
        NodeKind::List => Ok(PyList::new(py, items)?.into_any().unbind()),
        NodeKind::Tuple if items.is_empty() => Ok(py.None()),
        NodeKind::Tuple => Ok(PyTuple::new(py, items)?.into_any().unbind()),
        NodeKind::Struct(name, fields) => {
            let fields: Vec<&str> = fields.iter().map(|field| field.as_str()).collect();
            let made = values()?.call_method1("record", (name.as_str(), fields, items))?;
            Ok(made.unbind())
        }
        NodeKind::Variant { of, name, fields } => {
            let fields: Vec<&str> = fields.iter().map(|field| field.as_str()).collect();
            let args = (of.as_str(), name.as_str(), fields, items);
            Ok(values()?.call_method1("variant", args)?.unbind())
        }
        NodeKind::Closure(_) => Err(PyTypeError::new_err("a function cannot leave its program")),
    }
}

/// A number as a scalar of NumPy.
fn scalar(py: Python<'_>, number: Const) -> PyResult<Py<PyAny>> {
    let of = |name: &'static str, cell: &'static PyOnceLock<Py<PyAny>>| {
        let class =
            cell.get_or_try_init(py, || py.import("numpy")?.getattr(name).map(Bound::unbind))?;
        Ok::<_, PyErr>(class.bind(py).clone())
    };
    macro_rules! made {
        ($name:literal, $value:expr) => {{
            static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
            Ok(of($name, &CLASS)?.call1(($value,))?.unbind())
        }};
    }
    let bits = number.bits();
    match number.elem() {
        Elem::Bool => (bits != 0).into_py_any(py),
        Elem::F32 => made!("float32", f32::from_bits(bits as u32)),
        Elem::F64 => made!("float64", f64::from_bits(bits)),
        Elem::I8 => made!("int8", bits as i64),
        Elem::I16 => made!("int16", bits as i64),
        Elem::I32 => made!("int32", bits as i64),
        Elem::I64 => made!("int64", bits as i64),
        Elem::U8 => made!("uint8", bits),
        Elem::U16 => made!("uint16", bits),
        Elem::U32 => made!("uint32", bits),
        Elem::U64 => made!("uint64", bits),
        Elem::F16 | Elem::BF16 | Elem::F8E4M3 => {
            let array = array(py, TensorValue::scalar(number))?;
            Ok(array.bind(py).get_item(())?.unbind())
        }
    }
}

/// A tensor as an array that owns its elements.
pub(crate) fn array(py: Python<'_>, tensor: TensorValue) -> PyResult<Py<PyAny>> {
    let (shape, data) = tensor.into_parts();
    match data {
        Storage::Bool(list) => shaped(py, list, &shape),
        Storage::I8(list) => shaped(py, list, &shape),
        Storage::I16(list) => shaped(py, list, &shape),
        Storage::I32(list) => shaped(py, list, &shape),
        Storage::I64(list) => shaped(py, list, &shape),
        Storage::U8(list) => shaped(py, list, &shape),
        Storage::U16(list) => shaped(py, list, &shape),
        Storage::U32(list) => shaped(py, list, &shape),
        Storage::U64(list) => shaped(py, list, &shape),
        Storage::F32(list) => shaped(py, list, &shape),
        Storage::F64(list) => shaped(py, list, &shape),
        Storage::F16(list) => small(py, shaped(py, list, &shape)?, "f16"),
        Storage::BF16(list) => small(py, shaped(py, list, &shape)?, "bf16"),
        Storage::F8E4M3(list) => small(py, shaped(py, list, &shape)?, "f8e4m3"),
    }
}

fn shaped<T: Element + Clone>(
    py: Python<'_>,
    list: List<T>,
    shape: &[usize],
) -> PyResult<Py<PyAny>> {
    let flat = list.into_vec().into_pyarray(py);
    match shape.len() {
        1 => Ok(flat.into_any().unbind()),
        _ => Ok(flat.reshape(shape.to_vec())?.into_any().unbind()),
    }
}

/// Bits as floats of a type that NumPy has not, or not under that name.
fn small(py: Python<'_>, bits: Py<PyAny>, elem: &str) -> PyResult<Py<PyAny>> {
    let made = py.import("einlang._arrays")?.call_method1("from_bits", (bits, elem))?;
    Ok(made.unbind())
}
