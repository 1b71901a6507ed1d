//! What the host can do besides computing; one arm per row of the table of intrinsics.

use std::sync::Arc;

use einlang_tir::constant::Const;
use einlang_tir::host::{HostType, Intrinsic};
use einlang_tir::types::Elem;

use super::lists;
use super::machine::Executor;
use super::tangents;
use crate::show::{show, type_of};
use crate::stop::{Stop, StopCode};
use crate::tensor::{Storage, TensorValue};
use crate::value::{HostValue, NodeKind};

fn wrong<T>() -> Result<T, Stop> {
    Err(Stop::internal("an intrinsic got other operands than its row says"))
}

/// The element type and rank of what a loader gives; a scalar has no axes.
fn loaded_type(result: Option<&HostType>) -> Result<(Elem, usize), Stop> {
    match result {
        Some(HostType::Tensor(elem, rank)) => Ok((*elem, *rank)),
        Some(HostType::Scalar(elem)) => Ok((*elem, 0)),
        _ => wrong(),
    }
}

/// What was loaded, as a value of the type that is wanted.
fn loaded(tensor: TensorValue, result: Option<&HostType>) -> Result<HostValue, Stop> {
    if !matches!(result, Some(HostType::Scalar(_))) {
        return Ok(HostValue::tensor(tensor));
    }
    let value = tensor.consts().next();
    value.map_or_else(wrong, |value| Ok(value.into()))
}

impl Executor<'_, '_> {
    /// Executes an intrinsic; `None` for those that give nothing.
    pub(super) fn intrinsic(
        &mut self,
        intrinsic: Intrinsic,
        args: Vec<HostValue>,
        result: Option<&HostType>,
    ) -> Result<Option<HostValue>, Stop> {
        let value = match (intrinsic, &args[..]) {
            (Intrinsic::Mute, [HostValue::Scalar(silent)]) => {
                self.shared.muted.set(silent.as_bool().unwrap_or(false));
                return Ok(None);
            }
            (Intrinsic::Print, _) if self.shared.muted.get() => return Ok(None),
            (Intrinsic::Print, values) => {
                let line = values.iter().map(show).collect::<Vec<_>>().join(" ");
                self.io.print(&line)?;
                return Ok(None);
            }
            (Intrinsic::Observe, [value, HostValue::Str(name)]) => {
                let number = value.as_tensor().and_then(|tensor| tensor.consts().next());
                let number = number.and_then(|number| number.as_float());
                self.meter.options().report.observe(name, number.unwrap_or(f64::NAN));
                return Ok(None);
            }
            (Intrinsic::ReadText, [HostValue::Str(path)]) => {
                HostValue::str(&self.io.read_text(path)?)
            }
            (Intrinsic::WriteText, [HostValue::Str(path), HostValue::Str(text)]) => {
                self.io.write_text(path, text)?;
                return Ok(None);
            }
            (Intrinsic::FileExists, [HostValue::Str(path)]) => {
                Const::bool(self.io.exists(path)?).into()
            }
            (Intrinsic::ListDir, [HostValue::Str(path)]) => {
                let names = self.io.list(path)?;
                HostValue::list(names.iter().map(|name| HostValue::str(name)).collect())
            }
            (Intrinsic::LoadTensor, [HostValue::Str(format), HostValue::Str(path)]) => {
                let (elem, rank) = loaded_type(result)?;
                loaded(self.io.load_tensor(format, path, elem, rank)?, result)?
            }
            (
                Intrinsic::SaveTensor,
                [HostValue::Str(format), HostValue::Str(path), HostValue::Tensor(tensor)],
            ) => {
                self.io.save_tensor(format, path, tensor)?;
                return Ok(None);
            }
            (
                Intrinsic::SaveTensor,
                [HostValue::Str(format), HostValue::Str(path), HostValue::Scalar(value)],
            ) => {
                self.io.save_tensor(format, path, &TensorValue::scalar(*value))?;
                return Ok(None);
            }
            (
                Intrinsic::LoadNamed,
                [HostValue::Str(format), HostValue::Str(path), HostValue::Str(name)],
            ) => {
                let (elem, rank) = loaded_type(result)?;
                loaded(self.io.load_named(format, path, name, elem, rank)?, result)?
            }
            (
                Intrinsic::SaveNamed,
                [
                    HostValue::Str(format),
                    HostValue::Str(path),
                    HostValue::Node(names),
                    tensors @ ..,
                ],
            ) => {
                self.io.save_named(format, path, &named(&names.items, tensors)?)?;
                return Ok(None);
            }
            (Intrinsic::CallPython, [HostValue::Str(path), HostValue::Str(names), args @ ..]) => {
                let Some(result) = result else { return wrong() };
                let names: Vec<&str> = names.split(',').filter(|name| !name.is_empty()).collect();
                self.io.call_python(path, &names, args.to_vec(), result)?
            }
            (Intrinsic::Show, [value]) => HostValue::str(&show(value)),
            (Intrinsic::TypeOf, [value]) => HostValue::str(&type_of(value)),
            (Intrinsic::Equal, [a, b]) => Const::bool(lists::equal(a, b)).into(),
            (Intrinsic::Concat, [HostValue::Str(a), HostValue::Str(b)]) => {
                self.room(a.len() + b.len())?;
                HostValue::str(&format!("{a}{b}"))
            }
            (Intrinsic::StrEq, [HostValue::Str(a), HostValue::Str(b)]) => {
                Const::bool(a == b).into()
            }
            (Intrinsic::StrLt, [HostValue::Str(a), HostValue::Str(b)]) => Const::bool(a < b).into(),
            (Intrinsic::Upper, [HostValue::Str(text)]) => HostValue::str(&text.to_uppercase()),
            (Intrinsic::Lower, [HostValue::Str(text)]) => HostValue::str(&text.to_lowercase()),
            (Intrinsic::Chars, [HostValue::Str(text)]) => chars(text, result)?,
            (Intrinsic::FromChars, [HostValue::Tensor(tensor)]) => from_chars(tensor)?,
            (Intrinsic::ParseInt | Intrinsic::ParseFloat, [HostValue::Str(text)]) => {
                parse(text, result)?
            }
            _ => return self.collection(intrinsic, args, result).map(Some),
        };
        Ok(Some(value))
    }

    /// Lists and tensors.
    fn collection(
        &mut self,
        intrinsic: Intrinsic,
        args: Vec<HostValue>,
        result: Option<&HostType>,
    ) -> Result<HostValue, Stop> {
        match (intrinsic, &args[..]) {
            (Intrinsic::ListLen, [HostValue::Node(list)]) => int(list.items.len() as i128, result),
            (Intrinsic::ListExtent, [list, HostValue::Scalar(axis)]) => {
                let axis = axis.as_int().and_then(|axis| usize::try_from(axis).ok());
                int(list.list_extent(axis.unwrap_or(0)) as i128, result)
            }
            (Intrinsic::ListShaped, [list, extents @ ..]) => {
                let extent = |value: &HostValue| value.as_scalar().and_then(|c| c.as_int());
                let extents = extents.iter().map(|value| extent(value).unwrap_or(0).max(0));
                let extents: Vec<usize> = extents.map(|n| n as usize).collect();
                Ok(lists::shaped(list, &extents))
            }
            (Intrinsic::ListGet, [HostValue::Node(list), HostValue::Scalar(at), place @ ..]) => {
                let (at, n) = (at.as_int().unwrap_or(-1), list.items.len());
                let item = usize::try_from(at).ok().and_then(|at| list.items.get(at)).cloned();
                item.ok_or_else(|| {
                    let name = place.first().and_then(HostValue::as_str);
                    let axis = place.get(1).and_then(HostValue::as_scalar).and_then(Const::as_int);
                    let axis = axis.and_then(|axis| usize::try_from(axis).ok());
                    out_of_bounds(name.unwrap_or("the list"), axis.unwrap_or(0), at, n)
                })
            }
            (Intrinsic::ListPush, [_, _]) => {
                let mut args = args;
                let (item, list) = (args.pop(), args.pop());
                self.append(list, item.into_iter().collect())
            }
            (Intrinsic::ListSet, [_, HostValue::Scalar(at), _]) => {
                let at = at.as_int().unwrap_or(-1);
                replace(args, at)
            }
            (Intrinsic::ListConcat, [_, HostValue::Node(more)]) => {
                let more = more.items.clone();
                self.append(args.into_iter().next(), more)
            }
            (Intrinsic::ListToTensor, [list]) => {
                let Some(HostType::Tensor(elem, rank)) = result else { return wrong() };
                Ok(HostValue::tensor(lists::to_tensor(list, *elem, *rank)?))
            }
            (Intrinsic::TensorToList, [HostValue::Tensor(tensor)]) => {
                let Some(HostType::List(of)) = result else { return wrong() };
                lists::to_list(tensor, of)
            }
            (Intrinsic::ZipRecords, [value]) => match result {
                Some(HostType::List(of)) => self.zip_records(value, of),
                _ => wrong(),
            },
            (Intrinsic::Extent, [HostValue::Tensor(tensor), HostValue::Scalar(axis)]) => {
                let axis = axis.as_int().and_then(|axis| usize::try_from(axis).ok());
                match axis.and_then(|axis| tensor.shape().get(axis)) {
                    Some(extent) => int(*extent as i128, result),
                    None => Err(Stop::new(
                        StopCode::OutOfBounds,
                        format!("a tensor of rank {} has no such axis", tensor.shape().len()),
                    )),
                }
            }
            (Intrinsic::Element, [HostValue::Tensor(tensor), at @ ..]) => element(tensor, at),
            (Intrinsic::Scalar, [HostValue::Scalar(value)]) => {
                Ok(HostValue::tensor(TensorValue::scalar(*value)))
            }
            (Intrinsic::Cast, [HostValue::Tensor(tensor)]) => match result {
                Some(HostType::Tensor(elem, _)) => Ok(HostValue::tensor(tensor.cast(*elem))),
                _ => wrong(),
            },
            (Intrinsic::FnName, [HostValue::Node(node)]) => match &node.kind {
                NodeKind::Closure(name) => Ok(HostValue::str(name.as_str())),
                _ => wrong(),
            },
            (Intrinsic::Captures, [HostValue::Node(node)]) => {
                Ok(HostValue::tuple(node.items.clone()))
            }
            (Intrinsic::Point, [value, ..]) => Ok(value.clone()),
            (Intrinsic::ZerosLike, [value]) => tangents::zeros_like(value),
            (Intrinsic::OneHot, [HostValue::Tensor(tensor), HostValue::Scalar(at)]) => {
                self.limit(tensor.len() * size_of::<f64>(), "a tangent")?;
                tangents::one_hot(tensor, at.as_int().unwrap_or(0))
            }
            (
                Intrinsic::Jacobian,
                [HostValue::Node(columns), HostValue::Tensor(of), HostValue::Tensor(by)],
            ) => {
                self.limit(of.len().saturating_mul(by.len()) * size_of::<f64>(), "a Jacobian")?;
                tangents::jacobian(&columns.items, of, by)
            }
            _ => wrong(),
        }
    }

    /// Adds items to a list, in place if nobody else has it.
    fn append(&self, list: Option<HostValue>, more: Vec<HostValue>) -> Result<HostValue, Stop> {
        let Some(HostValue::Node(mut list)) = list else { return wrong() };
        if list.kind != NodeKind::List {
            return wrong();
        }
        self.limit((list.items.len() + more.len()) * size_of::<HostValue>(), "a list")?;
        Arc::make_mut(&mut list).items.extend(more);
        Ok(HostValue::Node(list))
    }
}

/// A list with another element at a position, in place if nobody else has it.
fn replace(mut args: Vec<HostValue>, at: i128) -> Result<HostValue, Stop> {
    let (item, _, list) = (args.pop(), args.pop(), args.pop());
    let (Some(HostValue::Node(mut list)), Some(item)) = (list, item) else { return wrong() };
    let n = list.items.len();
    let items = &mut Arc::make_mut(&mut list).items;
    match usize::try_from(at).ok().and_then(|at| items.get_mut(at)) {
        Some(place) => *place = item,
        None => return Err(out_of_bounds("the list", 0, at, n)),
    }
    Ok(HostValue::Node(list))
}

/// Tensors with their names, as many of each.
fn named<'v>(
    names: &[HostValue],
    tensors: &'v [HostValue],
) -> Result<Vec<(String, &'v TensorValue)>, Stop> {
    if names.len() != tensors.len() {
        let message = format!("there are {} names for {} tensors", names.len(), tensors.len());
        return Err(Stop::new(StopCode::OtherShape, message));
    }
    let pair = |(name, tensor): (&HostValue, &'v HostValue)| {
        Some((name.as_str()?.to_owned(), &**tensor.as_tensor()?))
    };
    let pairs: Option<Vec<_>> = names.iter().zip(tensors).map(pair).collect();
    pairs.map_or_else(wrong, Ok)
}

fn int(value: i128, result: Option<&HostType>) -> Result<HostValue, Stop> {
    match result {
        Some(HostType::Scalar(elem)) => Ok(Const::int(*elem, value).into()),
        _ => wrong(),
    }
}

fn out_of_bounds(what: &str, axis: usize, index: i128, extent: usize) -> Stop {
    let message =
        format!("{what} is read at index {index} of axis {axis}, whose extent is {extent}");
    Stop::new(StopCode::OutOfBounds, message)
}

fn element(tensor: &TensorValue, at: &[HostValue]) -> Result<HostValue, Stop> {
    let point: Option<Vec<i128>> =
        at.iter().map(|index| index.as_scalar().and_then(Const::as_int)).collect();
    let Some(point) = point.filter(|point| point.len() == tensor.shape().len()) else {
        return wrong();
    };
    match tensor.position(&point) {
        Ok(position) => tensor.get(position).map_or_else(wrong, |value| Ok(value.into())),
        Err(axis) => Err(out_of_bounds("the tensor", axis, point[axis], tensor.shape()[axis])),
    }
}

fn chars(text: &str, result: Option<&HostType>) -> Result<HostValue, Stop> {
    let Some(HostType::Tensor(elem, _)) = result else { return wrong() };
    let mut data = Storage::with_capacity(*elem, text.len());
    text.chars().for_each(|c| data.push_bits(Const::int(*elem, i128::from(u32::from(c))).bits()));
    TensorValue::new(vec![data.len()], data).map_or_else(wrong, |t| Ok(HostValue::tensor(t)))
}

fn from_chars(tensor: &TensorValue) -> Result<HostValue, Stop> {
    let mut text = String::new();
    for value in tensor.consts() {
        let number = value.as_int().and_then(|number| u32::try_from(number).ok());
        match number.and_then(char::from_u32) {
            Some(c) => text.push(c),
            None => {
                let message =
                    format!("{} is not the number of a character", crate::show::scalar(value));
                return Err(Stop::new(StopCode::Malformed, message));
            }
        }
    }
    Ok(HostValue::str(&text))
}

fn parse(text: &str, result: Option<&HostType>) -> Result<HostValue, Stop> {
    let Some(HostType::Scalar(elem)) = result else { return wrong() };
    let elem: Elem = *elem;
    let text = text.trim();
    // The constants of the IR are also written by their bits, which no user means.
    let plain = !text.starts_with("0x");
    match Const::parse(elem, text).filter(|_| plain) {
        Some(value) => Ok(value.into()),
        None => {
            let message = format!("`{text}` is not a number of type {elem}");
            Err(Stop::new(StopCode::Malformed, message))
        }
    }
}
