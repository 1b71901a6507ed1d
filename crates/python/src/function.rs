//! Public functions as callables.
//!
//! A function is compiled when it is first called: once if its parameters have types, otherwise once for
//! each combination of element types and ranks, never for other extents. Derivatives of a function are
//! functions of the same parameters.

use std::sync::{Arc, RwLock};

use einlang_driver::{Argument as Typed, Ask, Call, Parameter, Signature, argument_type};
use einlang_interp::tensor::TensorValue;
use einlang_interp::value::HostValue;
use einlang_tir::host::HostType;
use einlang_tir::types::{Elem, ElemKind};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

use crate::arguments::{Argument, argument};
use crate::ready::{Inputs, Ready};
use crate::results::object;
use crate::unit::{Text, Unit};

/// A public function, or a derivative of one.
#[pyclass(frozen, subclass, dict, module = "einlang._einlang")]
pub(crate) struct Function {
    unit: Arc<Text>,
    signature: Signature,
    kind: Kind,
    /// The parameters that derivatives are about.
    by: Vec<usize>,
    /// The part of a tuple that derivatives are about.
    of: Option<usize>,
    compiled: RwLock<Vec<(Vec<Slot>, Arc<Ready>)>>,
}

/// What is wanted of a call.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Value,
    Derivatives,
    Tangent,
    Cotangent,
    Rows(usize),
}

/// What a call says about a parameter.
#[derive(Clone, PartialEq, Debug)]
enum Slot {
    /// It takes its default.
    Absent,
    /// The declaration says the type.
    Declared,
    /// The argument says the type.
    Given(String),
}

#[pymethods]
impl Function {
    #[new]
    #[pyo3(signature = (unit, name, kind = "value", by = Vec::new(), n_rows = 0, of = None))]
    fn new(
        py: Python<'_>,
        unit: &Unit,
        name: &str,
        kind: &str,
        by: Vec<usize>,
        n_rows: usize,
        of: Option<usize>,
    ) -> PyResult<Function> {
        let found = unit.0.signatures(py)?.iter().find(|signature| signature.name == name);
        let missing = || PyValueError::new_err(format!("there is no public function `{name}`"));
        let signature = found.cloned().ok_or_else(missing)?;
        let kind = match kind {
            "value" => Kind::Value,
            "derivatives" => Kind::Derivatives,
            "tangent" => Kind::Tangent,
            "cotangent" => Kind::Cotangent,
            "rows" => Kind::Rows(n_rows),
            _ => return Err(PyValueError::new_err(format!("there is no kind `{kind}`"))),
        };
        if by.iter().any(|at| *at >= signature.params.len()) {
            return Err(PyValueError::new_err("there is no such parameter"));
        }
        let compiled = RwLock::default();
        Ok(Function { unit: Arc::clone(&unit.0), signature, kind, by, of, compiled })
    }

    #[pyo3(signature = (*args, **kwargs))]
    fn __call__(
        &self,
        py: Python<'_>,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        let (out, kwargs) = match kwargs {
            Some(kwargs) if !self.has_param("out") => match kwargs.get_item("out")? {
                Some(out) => {
                    let rest = kwargs.copy()?;
                    rest.del_item("out")?;
                    (Some(out).filter(|out| !out.is_none()), Some(rest))
                }
                None => (None, Some(kwargs.clone())),
            },
            kwargs => (None, kwargs.cloned()),
        };
        let mut values = self.evaluate(py, args, kwargs.as_ref(), &[])?;
        let result = match (self.kind, values.len()) {
            (Kind::Value, _) | (_, 1) => values.swap_remove(0),
            _ => PyTuple::new(py, values)?.into_any().unbind(),
        };
        match out {
            None => Ok(result),
            Some(out) => {
                let arrays = py.import("einlang._arrays")?;
                Ok(arrays.call_method1("deliver", (result, out, args, kwargs))?.unbind())
            }
        }
    }

    /// Calls it with further inputs after its arguments: tangents, a cotangent, indices of rows.
    fn call_with(
        &self,
        py: Python<'_>,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
        further: Vec<Bound<'_, PyAny>>,
    ) -> PyResult<Vec<Py<PyAny>>> {
        self.evaluate(py, args, kwargs, &further)
    }

    /// Compiles it for these arguments without calling it; says how its code will run.
    #[pyo3(signature = (*args, **kwargs))]
    fn prepare(
        &self,
        py: Python<'_>,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        let bound = self.bind(args, kwargs)?;
        self.ready(py, bound).map(|_| ())
    }

    /// How many times it was compiled.
    #[getter]
    fn n_compiled(&self) -> usize {
        self.compiled.read().map_or(0, |list| list.len())
    }
}

/// The argument of each parameter.
type Bounds<'py> = Vec<Option<Bound<'py, PyAny>>>;

impl Function {
    fn has_param(&self, name: &str) -> bool {
        self.signature.params.iter().any(|param| param.name.as_deref() == Some(name))
    }

    fn evaluate(
        &self,
        py: Python<'_>,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
        further: &[Bound<'_, PyAny>],
    ) -> PyResult<Vec<Py<PyAny>>> {
        let bound = self.bind(args, kwargs)?;
        let (ready, mut values) = self.ready(py, bound)?;
        for object in further {
            values.push(argument(object, None, &[])?.value);
        }
        // The arrays are released here, with the lock of the interpreter.
        let kept = values.clone();
        let answer = ready.call(py, Inputs::InOrder(values), None);
        drop(kept);
        answer?.called.values.into_iter().map(|value| object(py, value)).collect()
    }

    /// Distributes arguments to parameters as Python does.
    fn bind<'py>(
        &self,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bounds<'py>> {
        let (name, params) = (&self.signature.name, &self.signature.params);
        if args.len() > params.len() {
            let message =
                format!("{name}() takes {} arguments but {} were given", params.len(), args.len());
            return Err(PyTypeError::new_err(message));
        }
        let mut bound: Bounds<'py> = args.iter().map(Some).collect();
        bound.resize(params.len(), None);
        for (key, value) in kwargs.into_iter().flatten() {
            let key = key.cast::<PyString>()?.to_str()?.to_owned();
            let at = params.iter().position(|param| param.name.as_deref() == Some(&key));
            let Some(at) = at else {
                let message = format!("{name}() got an unexpected keyword argument '{key}'");
                return Err(PyTypeError::new_err(message));
            };
            if bound[at].replace(value).is_some() {
                let message = format!("{name}() got multiple values for argument '{key}'");
                return Err(PyTypeError::new_err(message));
            }
        }
        for (at, (param, given)) in params.iter().zip(&bound).enumerate() {
            if given.is_none() && param.default.is_none() {
                let missing = param.name.clone().unwrap_or_else(|| format!("argument {at}"));
                let message = format!("{name}() missing required argument: '{missing}'");
                return Err(PyTypeError::new_err(message));
            }
        }
        Ok(bound)
    }

    /// The compiled call for these arguments, and the arguments as values.
    fn ready(&self, py: Python<'_>, bound: Bounds<'_>) -> PyResult<(Arc<Ready>, Vec<HostValue>)> {
        let params = &self.signature.params;
        let mut open: Vec<(usize, Argument)> = Vec::new();
        for (at, (param, given)) in params.iter().zip(&bound).enumerate() {
            if let (true, Some(object)) = (param.open, given) {
                open.push((at, argument(object, None, &[])?));
            }
        }
        if !open.is_empty() {
            settle(&mut open.iter_mut().map(|(_, argument)| argument).collect::<Vec<_>>());
        }
        let mut slots: Vec<Slot> = bound
            .iter()
            .map(|given| if given.is_some() { Slot::Declared } else { Slot::Absent })
            .collect();
        for (at, argument) in &open {
            slots[*at] = Slot::Given(self.given_type(&params[*at], &argument.value)?);
        }
        let ready = self.compiled(py, slots)?;
        let n_given = bound.iter().flatten().count();
        let mut values = Vec::with_capacity(n_given);
        let types = ready.executable.types();
        let n_own = ready.executable.inputs().take_while(|input| !is_added(input.0)).count();
        let wanted: Vec<&HostType> =
            ready.executable.inputs().skip(n_own).map(|input| input.1).collect();
        let mut wanted = wanted.into_iter();
        let mut open = open.into_iter().peekable();
        for (at, given) in bound.iter().enumerate() {
            let Some(object) = given else { continue };
            let want = wanted.next();
            values.push(match open.next_if(|(other, _)| *other == at) {
                Some((_, argument)) => argument.value,
                None => argument(object, want, types)?.value,
            });
        }
        Ok((ready, values))
    }

    /// The type of an argument whose parameter leaves it open; what the declaration says stands.
    fn given_type(&self, param: &Parameter, value: &HostValue) -> PyResult<String> {
        let declared = param.ty.as_deref().and_then(|ty| ty.strip_prefix('['));
        let declared = declared.and_then(|ty| Elem::parse(ty.split([';', ']']).next()?.trim()));
        let elem = |own: Elem| declared.unwrap_or(own).as_str();
        match value {
            HostValue::Scalar(number) => Ok(argument_type(elem(number.elem()), None)),
            HostValue::Tensor(tensor) => {
                Ok(argument_type(elem(tensor.elem()), Some(tensor.shape().len())))
            }
            HostValue::Str(_) => Ok("str".to_owned()),
            HostValue::Node(_) => {
                let name = param.name.as_deref().unwrap_or("_");
                let message =
                    format!("the parameter `{name}` has no type, so it takes arrays only");
                Err(PyTypeError::new_err(message))
            }
        }
    }

    fn compiled(&self, py: Python<'_>, slots: Vec<Slot>) -> PyResult<Arc<Ready>> {
        let known = self.compiled.read().ok().and_then(|list| {
            list.iter().find(|(other, _)| *other == slots).map(|(_, ready)| Arc::clone(ready))
        });
        if let Some(ready) = known {
            return Ok(ready);
        }
        let ask = self.ask(&slots)?;
        let arguments = arguments(&self.signature, &slots);
        let call = Call { function: self.signature.name.clone(), arguments, ask, of: self.of };
        let ready = self.unit.ready_call(py, call)?;
        if let Ok(mut list) = self.compiled.write() {
            list.push((slots, Arc::clone(&ready)));
        }
        Ok(ready)
    }

    /// What is asked of the call, by the numbers of its arguments.
    fn ask(&self, slots: &[Slot]) -> PyResult<Ask> {
        let mut by = Vec::with_capacity(self.by.len());
        for at in &self.by {
            if slots[*at] == Slot::Absent {
                let name = self.signature.params[*at].name.as_deref().unwrap_or("_");
                let message = format!("give `{name}` a value to differentiate by it");
                return Err(PyTypeError::new_err(message));
            }
            by.push(slots[..*at].iter().filter(|slot| **slot != Slot::Absent).count());
        }
        Ok(match self.kind {
            Kind::Value => Ask::Value,
            Kind::Derivatives => Ask::Derivatives(by),
            Kind::Tangent => Ask::Tangent(by),
            Kind::Cotangent => Ask::Cotangent(by),
            Kind::Rows(n) => Ask::Rows(by, n),
        })
    }
}

/// Whether an input belongs to the call, and not to the file: it is an argument, or follows them.
fn is_added(name: &str) -> bool {
    ["arg", "tan", "cot", "row"].iter().any(|kind| {
        let rest = name.strip_prefix("einlang_").and_then(|rest| rest.strip_prefix(kind));
        rest.is_some_and(|rest| rest.starts_with('_'))
    })
}

/// The arguments with their types; those after one that is absent have names.
fn arguments(signature: &Signature, slots: &[Slot]) -> Vec<Typed> {
    let mut gap = false;
    let mut list = Vec::new();
    for (param, slot) in signature.params.iter().zip(slots) {
        let ty = match slot {
            Slot::Absent => {
                gap = true;
                continue;
            }
            Slot::Declared => param.ty.clone().unwrap_or_default(),
            Slot::Given(ty) => ty.clone(),
        };
        list.push(Typed { name: param.name.clone().filter(|_| gap), ty });
    }
    list
}

/// Gives weak numbers types: those of the other arguments, or the language's own.
pub(crate) fn settle(arguments: &mut [&mut Argument]) {
    let elem_of = |value: &HostValue| match value {
        HostValue::Scalar(number) => Some(number.elem()),
        HostValue::Tensor(tensor) => Some(tensor.elem()),
        _ => None,
    };
    let strong = arguments.iter().filter(|argument| !argument.weak);
    let float = match strong
        .filter_map(|argument| elem_of(&argument.value))
        .any(|elem| elem == Elem::F64)
    {
        true => Elem::F64,
        false => Elem::F32,
    };
    for argument in arguments.iter_mut().filter(|argument| argument.weak) {
        let Some(elem) = elem_of(&argument.value) else { continue };
        let to = match elem.kind() {
            ElemKind::Float => float,
            ElemKind::Bool => continue,
            _ if fits_i32(&argument.value) => Elem::I32,
            _ => continue,
        };
        argument.value = match &argument.value {
            HostValue::Scalar(number) => {
                let cast = TensorValue::scalar(*number).cast(to).get(0);
                cast.map_or(HostValue::Scalar(*number), HostValue::from)
            }
            HostValue::Tensor(tensor) => HostValue::tensor(tensor.cast(to)),
            other => other.clone(),
        };
        argument.weak = false;
    }
}

fn fits_i32(value: &HostValue) -> bool {
    let small = |number: einlang_tir::constant::Const| {
        number.as_int().is_some_and(|number| i32::try_from(number).is_ok())
    };
    match value {
        HostValue::Scalar(number) => small(*number),
        HostValue::Tensor(tensor) => tensor.consts().all(small),
        _ => false,
    }
}
