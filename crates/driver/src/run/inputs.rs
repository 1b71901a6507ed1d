//! What was given for the inputs of a program, as values of their declared types.
//!
//! A text is read as the type of the input asks: a string input takes it as it is; otherwise a text
//! that ends like a data file names one, and any other is a literal. Conversions follow the rule of
//! literals: integers become floats and narrower integers if every one fits, floats change their
//! precision, and nothing else converts.

use std::path::{Path, PathBuf};

use einlang_interp::io::Io;
use einlang_interp::options::Options as Limits;
use einlang_interp::tensor::{Storage, TensorValue};
use einlang_interp::value::{HostValue, NodeKind};
use einlang_runtime::formats::{Format, decode_text};
use einlang_runtime::{FileError, Kind, files};
use einlang_sema::lower::ProgramInput;
use einlang_source::{Code, Diagnostic, Diagnostics, nearest};
use einlang_tir::constant::Const;
use einlang_tir::host::{HostType, TypeDecl};
use einlang_tir::types::{Elem, ElemKind};

use super::arrays::to_tensor;
use super::declared::{Declared, disagreements};
use super::literal::{self, Literal};
use super::{Executable, Failure};

/// What was given for an input.
#[derive(Clone, Debug)]
pub enum Given {
    /// A text as people write it: a literal, or the path of a file.
    Text(String),
    /// A value.
    Value(HostValue),
}

impl Executable {
    /// A value for every input, in the order of their declaration.
    pub(super) fn bind(
        &self,
        given: &[(String, Given)],
        limits: &Limits,
        io: &mut dyn Io,
    ) -> Result<Vec<HostValue>, Failure> {
        let inputs = &self.lowered.inputs;
        for (at, (name, _)) in given.iter().enumerate() {
            if !inputs.iter().any(|input| input.name == *name) {
                return Err(unknown(name, inputs));
            }
            if given[..at].iter().any(|(other, _)| other == name) {
                let message = format!("the input `{name}` is given twice");
                let help = "give each input one value".to_owned();
                return Err(Failure::Usage { message, help });
            }
        }
        let mut errors = Diagnostics::new();
        let mut values = Vec::with_capacity(inputs.len());
        for (input, declared) in inputs.iter().zip(&self.declared) {
            let found = given.iter().find(|(name, _)| *name == input.name);
            match (found, &input.default) {
                (Some((_, given)), _) => {
                    let reader = Reader { types: &self.lowered.program.types, limits };
                    match reader.read(input, declared, given) {
                        Ok(value) => values.push(value),
                        Err(error) => errors.push(ill_typed(input, &declared.ty, &error)),
                    }
                }
                (None, Some(default)) => values.push(self.default_of(default, limits, io)?),
                (None, None) => errors.push(missing(input, &declared.ty)),
            }
        }
        if errors.is_empty() {
            errors = disagreements(&self.declared, &values);
        }
        if errors.is_empty() { Ok(values) } else { Err(Failure::Program(errors)) }
    }
}

fn unknown(name: &str, inputs: &[ProgramInput]) -> Failure {
    let names = inputs.iter().map(|input| input.name.as_str());
    let listed = names.clone().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let help = match (nearest(name, names), inputs.is_empty()) {
        (Some(near), _) => format!("did you mean `{near}`?"),
        (None, true) => format!("declare it in the program: `input {name}: f32;`"),
        (None, false) => format!("its inputs are {listed}"),
    };
    Failure::Usage { message: format!("the program has no input `{name}`"), help }
}

pub(super) fn missing(input: &ProgramInput, ty: &str) -> Diagnostic {
    let name = &input.name;
    let message = format!("the input `{name}` has no value");
    let example = match input.host {
        HostType::Tensor(..) => format!("{name}={name}.npy"),
        _ => format!("{name}=…"),
    };
    Diagnostic::error(Code::E0905, message, input.span, format!("wants {ty}"))
        .with_help(format!("give it one with `--input {example}`, or a default in the declaration"))
}

/// Why a given value does not serve.
pub(super) struct Misfit {
    code: Code,
    message: String,
}

impl From<String> for Misfit {
    fn from(message: String) -> Misfit {
        Misfit { code: Code::E0906, message }
    }
}

pub(super) fn ill_typed(input: &ProgramInput, ty: &str, misfit: &Misfit) -> Diagnostic {
    let (name, reason) = (&input.name, &misfit.message);
    let message = match misfit.code {
        Code::E0906 => format!("the value given for the input `{name}` does not serve: {reason}"),
        _ => format!("{reason} (for the input `{name}`)"),
    };
    let help = match misfit.code {
        Code::E0901 => "check the path; it starts at the current directory".to_owned(),
        Code::E0903 => "check that the file is whole and in the format of its extension".to_owned(),
        Code::E0801 => "raise `--max-memory`".to_owned(),
        _ => format!("give a value of type {ty}"),
    };
    Diagnostic::error(misfit.code, message, input.span, format!("declared as {ty}")).with_help(help)
}

/// Makes values of what was given.
pub(super) struct Reader<'p> {
    pub(super) types: &'p [TypeDecl],
    pub(super) limits: &'p Limits,
}

impl Reader<'_> {
    fn read(
        &self,
        input: &ProgramInput,
        declared: &Declared,
        given: &Given,
    ) -> Result<HostValue, Misfit> {
        let value = match (given, &input.host) {
            (Given::Value(value), _) => self.converted(value, &input.host)?,
            (Given::Text(text), HostType::Str) => match literal::parse(text) {
                Ok(Literal::Text(text)) => HostValue::str(&text),
                _ => HostValue::str(text),
            },
            (Given::Text(text), host) => match data_file(text) {
                Some((path, format, name)) => self.file(&path, format, name, input)?,
                None => self.value(&literal::parse(text)?, host)?,
            },
        };
        declared.misfit(&value).map_or(Ok(value), |message| Err(message.into()))
    }

    /// A value as the type of an input, if it has the extents that are declared.
    pub(super) fn fitted(
        &self,
        value: HostValue,
        ty: &HostType,
        declared: &Declared,
    ) -> Result<HostValue, Misfit> {
        let value = self.converted(&value, ty)?;
        declared.misfit(&value).map_or(Ok(value), |message| Err(message.into()))
    }

    /// The value in a file.
    fn file(
        &self,
        path: &Path,
        format: Option<Format>,
        name: Option<&str>,
        input: &ProgramInput,
    ) -> Result<HostValue, Misfit> {
        let place = format!("cannot read `{}`", path.display());
        let wrong = |error: FileError| of_file(error.within(&place));
        let bytes = files::read(path, self.limits.memory).map_err(wrong)?;
        let Some(format) = format else {
            let text = decode_text(bytes).map_err(wrong)?;
            let literal = literal::parse(&text).map_err(|error| {
                wrong(FileError::malformed(format!("this is no JSON: {error}")))
            })?;
            return self.value(&literal, &input.host);
        };
        let limit = self.limits.memory;
        let array = match (format.has_names(), name) {
            (true, Some(name)) => format.decode_named(&bytes, name, limit),
            (true, None) => {
                let names = format.names(&bytes).map_err(wrong)?;
                match names.contains(&input.name) {
                    true => format.decode_named(&bytes, &input.name, limit),
                    false => format.decode(&bytes, limit),
                }
            }
            (false, _) => format.decode(&bytes, limit),
        };
        let array = array.map_err(wrong)?;
        let tensor = to_tensor(&array).ok_or_else(|| "its elements are no numbers".to_owned())?;
        self.converted(&HostValue::tensor(tensor), &input.host)
    }

    /// A value of another type as the type of an input, if that loses nothing but precision.
    fn converted(&self, value: &HostValue, to: &HostType) -> Result<HostValue, Misfit> {
        match (value, to) {
            (HostValue::Tensor(tensor), HostType::Tensor(elem, rank))
                if tensor.elem() == *elem && tensor.shape().len() == *rank =>
            {
                Ok(value.clone())
            }
            (HostValue::Scalar(number), HostType::Scalar(elem)) if number.elem() == *elem => {
                Ok(value.clone())
            }
            (HostValue::Tensor(tensor), HostType::Tensor(elem, rank)) => {
                let n_axes = tensor.shape().len();
                // A table of one column is a vector as well.
                let squeezed = n_axes == 2 && *rank == 1 && tensor.shape()[1] == 1;
                let shape = match () {
                    () if n_axes == *rank => tensor.shape().to_vec(),
                    () if squeezed => vec![tensor.shape()[0]],
                    () => return Err(format!("it has {n_axes} axes, not {rank}").into()),
                };
                let data = converted_elements(tensor, *elem)?;
                let tensor = TensorValue::new(shape, data);
                tensor.map(HostValue::tensor).ok_or_else(|| "its shape is wrong".to_owned().into())
            }
            (HostValue::Tensor(tensor), HostType::Scalar(elem)) if tensor.len() == 1 => {
                let data = converted_elements(tensor, *elem)?;
                let bits = data.bits(0).unwrap_or_default();
                Ok(Const::from_bits(*elem, bits).into())
            }
            (HostValue::Scalar(value), HostType::Scalar(_)) => {
                self.converted(&HostValue::tensor(TensorValue::scalar(*value)), to)
            }
            (HostValue::Scalar(_) | HostValue::Tensor(_), _) => {
                Err(format!("it is {}", einlang_interp::show::type_of(value)).into())
            }
            (value, _) => Ok(value.clone()),
        }
    }

    /// A literal as a value of a type.
    fn value(&self, literal: &Literal, ty: &HostType) -> Result<HostValue, Misfit> {
        match (ty, literal) {
            (HostType::Scalar(elem), literal) => Ok(number(literal, *elem)?.into()),
            (HostType::Str, Literal::Text(text) | Literal::Word(text)) => Ok(HostValue::str(text)),
            (HostType::Tensor(elem, rank), literal) => {
                let mut data = Storage::with_capacity(*elem, 0);
                let mut shape = Vec::with_capacity(*rank);
                first_extents(literal, *rank, &mut shape);
                elements(literal, &shape, *elem, &mut data)?;
                let tensor = TensorValue::new(shape, data);
                tensor.map(HostValue::tensor).ok_or_else(|| "its rows differ".to_owned().into())
            }
            (HostType::List(of), Literal::List(items)) => {
                let items: Result<_, _> = items.iter().map(|item| self.value(item, of)).collect();
                Ok(HostValue::list(items?))
            }
            (HostType::Tuple(types), Literal::List(items)) if items.len() == types.len() => {
                let items = items.iter().zip(types).map(|(item, ty)| self.value(item, ty));
                Ok(HostValue::tuple(items.collect::<Result<_, _>>()?))
            }
            (HostType::Struct(name), Literal::Record(given)) => {
                let decl = self.types.iter().find_map(|decl| match decl {
                    TypeDecl::Struct { name: known, fields } if known == name => Some(fields),
                    _ => None,
                });
                let fields = decl.map_or(&[][..], Vec::as_slice);
                let mut items = Vec::with_capacity(fields.len());
                for (field, ty) in fields {
                    let found = given.iter().find(|(name, _)| name == field.as_str());
                    let missing = || format!("it has no field `{}`", field.as_str());
                    items.push(self.value(&found.ok_or_else(missing)?.1, ty)?);
                }
                if let Some((extra, _)) =
                    given.iter().find(|(name, _)| fields.iter().all(|(f, _)| f.as_str() != name))
                {
                    return Err(format!("it has a field `{extra}`").into());
                }
                let names = fields.iter().map(|(name, _)| name.clone()).collect();
                Ok(HostValue::node(NodeKind::Struct(name.clone(), names), items))
            }
            (_, literal) => Err(format!("it is {}", literal.describe()).into()),
        }
    }
}

/// A value of another type as this type, if that loses nothing but precision; otherwise why not. Parts
/// of records are converted where they are made.
pub fn converted(value: &HostValue, to: &HostType) -> Result<HostValue, String> {
    let limits = Limits::default();
    let reader = Reader { types: &[], limits: &limits };
    let made = reader.converted(value, to).map_err(|misfit| misfit.message)?;
    let fits = match (&made, to) {
        (HostValue::Scalar(_), HostType::Scalar(_)) => true,
        (HostValue::Tensor(_), HostType::Tensor(..)) => true,
        (HostValue::Str(_), HostType::Str) => true,
        (HostValue::Node(_), HostType::Scalar(_) | HostType::Tensor(..) | HostType::Str) => false,
        (HostValue::Node(_), _) => true,
        _ => false,
    };
    match fits {
        true => Ok(made),
        false => Err(format!("it is {}", einlang_interp::show::type_of(value))),
    }
}

/// The path of a data file, its format (none is JSON) and the name of an array in it.
fn data_file(text: &str) -> Option<(PathBuf, Option<Format>, Option<&str>)> {
    let (path, name) = match text.split_once('#') {
        Some((path, name)) => (path, Some(name)),
        None => (text, None),
    };
    let extension = Path::new(path).extension()?.to_str()?;
    let format = Format::parse(extension);
    let known = format.is_some() || extension.eq_ignore_ascii_case("json");
    known.then(|| (PathBuf::from(path), format, name))
}

fn of_file(error: FileError) -> Misfit {
    let code = match error.kind {
        Kind::NotFound => Code::E0901,
        Kind::Outside => Code::E0902,
        Kind::Malformed => Code::E0903,
        Kind::Unsuitable => Code::E0906,
        Kind::TooLarge => Code::E0801,
    };
    Misfit { code, message: error.message }
}

fn number(literal: &Literal, elem: Elem) -> Result<Const, Misfit> {
    let found = match (literal, elem.kind()) {
        (Literal::Word(word), ElemKind::Bool) => match word.as_str() {
            "true" => Some(Const::bool(true)),
            "false" => Some(Const::bool(false)),
            _ => None,
        },
        (Literal::Word(word), _) => {
            let plain = word.replace('_', "");
            // By their bits nobody writes numbers here.
            Const::parse(elem, &plain).filter(|_| !plain.starts_with("0x"))
        }
        // JSON has no other way to write them.
        (Literal::Text(text), ElemKind::Float) => match text.as_str() {
            "NaN" | "inf" | "-inf" => Const::parse(elem, text),
            _ => None,
        },
        _ => None,
    };
    found.ok_or_else(|| format!("{} is no {elem}", literal.describe()).into())
}

/// The extents of a nested list, judged by the first items.
fn first_extents(literal: &Literal, rank: usize, shape: &mut Vec<usize>) {
    let mut at = Some(literal);
    for _ in 0..rank {
        match at {
            Some(Literal::List(items)) => {
                shape.push(items.len());
                at = items.first();
            }
            _ => {
                shape.push(0);
                at = None;
            }
        }
    }
}

fn elements(
    literal: &Literal,
    shape: &[usize],
    elem: Elem,
    data: &mut Storage,
) -> Result<(), Misfit> {
    match (shape.split_first(), literal) {
        (None, literal) => {
            data.push_bits(number(literal, elem)?.bits());
            Ok(())
        }
        (Some((extent, rest)), Literal::List(items)) if items.len() == *extent => {
            items.iter().try_for_each(|item| elements(item, rest, elem, data))
        }
        (Some((extent, _)), Literal::List(items)) => {
            Err(format!("one of its rows has {extent} elements, another {}", items.len()).into())
        }
        (Some(_), literal) => Err(format!("{} is no list", literal.describe()).into()),
    }
}

/// The elements as another type.
fn converted_elements(tensor: &TensorValue, to: Elem) -> Result<Storage, Misfit> {
    let from = tensor.elem();
    let allowed = from == to
        || match (from.kind(), to.kind()) {
            (ElemKind::Bool, _) | (_, ElemKind::Bool) => false,
            (ElemKind::Float, kind) => kind == ElemKind::Float,
            _ => true,
        };
    if !allowed {
        return Err(format!("its elements are {from}, not {to}").into());
    }
    if to.is_int() {
        for value in tensor.consts() {
            let number = value.as_int().unwrap_or_default();
            if Const::int(to, number).as_int() != Some(number) {
                return Err(format!("its element {number} does not fit into {to}").into());
            }
        }
    }
    Ok(tensor.cast(to).data().clone())
}
