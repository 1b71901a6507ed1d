//! Memory of tensors while a kernel runs: typed elements, strides, marks.

use std::sync::Arc;

use einlang_loops::ir::{Buffer, Layout};
use einlang_tir::types::Elem;

use crate::options::Meter;
use crate::stop::{Stop, StopCode};
use crate::tensor::{Storage, TensorValue};

/// The elements of a buffer.
pub(crate) enum Data {
    /// An input.
    Input(Arc<TensorValue>),
    /// What the kernel stores.
    Own(Storage),
}

/// A buffer that exists.
pub(crate) struct Memory {
    pub(crate) data: Data,
    /// The extents of the tensor; that of an open axis as far as it has come.
    pub(crate) shape: Vec<i64>,
    pub(crate) strides: Vec<i64>,
    pub(crate) marks: Vec<bool>,
    /// Elements per plane of the open axis.
    plane: usize,
    bytes: u64,
    elem: Elem,
    has_marks: bool,
    /// How many elements machine code has yet to store all of.
    n_unset: Option<usize>,
}

impl Memory {
    /// A buffer without memory.
    pub(crate) fn new(buffer: &Buffer) -> Memory {
        Memory {
            data: Data::Own(Storage::zeros(buffer.elem, 0)),
            shape: vec![0; buffer.dims.len()],
            strides: vec![0; buffer.dims.len()],
            marks: Vec::new(),
            plane: 0,
            bytes: 0,
            elem: buffer.elem,
            has_marks: buffer.marks,
            n_unset: None,
        }
    }

    /// The buffer of an input.
    pub(crate) fn of_input(tensor: Arc<TensorValue>) -> Memory {
        let shape: Vec<i64> = tensor.shape().iter().map(|n| *n as i64).collect();
        let mut strides = vec![1; shape.len()];
        for at in (1..shape.len()).rev() {
            strides[at - 1] = strides[at] * shape[at].max(1);
        }
        let (elem, marks) = (tensor.elem(), Vec::new());
        let data = Data::Input(tensor);
        Memory {
            data,
            shape,
            strides,
            marks,
            plane: 0,
            bytes: 0,
            elem,
            has_marks: false,
            n_unset: None,
        }
    }

    #[inline(always)]
    pub(crate) fn storage(&self) -> &Storage {
        match &self.data {
            Data::Own(storage) => storage,
            Data::Input(tensor) => tensor.data(),
        }
    }

    /// Gives it memory for these extents, all zero.
    pub(crate) fn alloc(
        &mut self,
        buffer: &Buffer,
        extents: &[i64],
        meter: &Meter,
    ) -> Result<(), Stop> {
        let total = self.lay_out(buffer, extents, meter)?;
        if let Data::Own(storage) = &mut self.data {
            storage.reset(total);
        }
        Ok(())
    }

    /// The same, for machine code, which need not find zeros where the buffer says so.
    pub(crate) fn alloc_room(
        &mut self,
        buffer: &Buffer,
        extents: &[i64],
        meter: &Meter,
    ) -> Result<(), Stop> {
        if !buffer.unset {
            return self.alloc(buffer, extents, meter);
        }
        let total = self.lay_out(buffer, extents, meter)?;
        if let Data::Own(storage) = &mut self.data {
            storage.make_room(total);
            self.n_unset = Some(total);
        }
        Ok(())
    }

    /// Says that code has come to its end, and so has stored what it left unset.
    pub(crate) fn settle(&mut self) {
        if let (Some(n), Data::Own(storage)) = (self.n_unset.take(), &mut self.data) {
            storage.assume_stored(n);
        }
    }

    /// Computes shape and strides, and gives the number of elements that are to be kept.
    fn lay_out(&mut self, buffer: &Buffer, extents: &[i64], meter: &Meter) -> Result<usize, Stop> {
        let mut n: usize = 1;
        self.shape.clear();
        self.shape.extend(extents.iter().map(|extent| (*extent).max(0)));
        for (axis, dim) in buffer.dims.iter().enumerate().rev() {
            if dim.layout == Layout::Open {
                continue;
            }
            let kept = match dim.layout {
                Layout::Mod(width) => width,
                _ => self.shape[axis],
            };
            self.strides[axis] = n as i64;
            let kept = usize::try_from(kept).unwrap_or(0);
            n = n.checked_mul(kept).ok_or_else(|| too_much(buffer))?;
        }
        self.plane = n;
        let mut total = n;
        for (axis, dim) in buffer.dims.iter().enumerate() {
            if dim.layout == Layout::Open {
                self.strides[axis] = n as i64;
                total = 0;
            }
        }
        self.resize(total, buffer, meter)?;
        self.marks.clear();
        if self.has_marks {
            self.marks.resize(total, false);
        }
        Ok(total)
    }

    /// Accounts for so many elements.
    fn resize(&mut self, n: usize, buffer: &Buffer, meter: &Meter) -> Result<(), Stop> {
        let each = self.elem.bits() as usize / 8 + usize::from(self.has_marks);
        let bytes = n.checked_mul(each).ok_or_else(|| too_much(buffer))? as u64;
        if bytes > self.bytes {
            let what = || format!("`{}`", buffer.name.as_str());
            meter.take(bytes - self.bytes, &what).map_err(|stop| stop.at(buffer.loc))?;
            self.bytes = bytes;
        }
        Ok(())
    }

    /// Makes room on the open axis, which doubles.
    pub(crate) fn grow(
        &mut self,
        buffer: &Buffer,
        axis: usize,
        extent: i64,
        meter: &Meter,
    ) -> Result<(), Stop> {
        self.shape[axis] = extent;
        if buffer.dims[axis].layout != Layout::Open {
            return Ok(());
        }
        let planes = usize::try_from(extent).unwrap_or(0);
        let n = planes.checked_mul(self.plane).ok_or_else(|| too_much(buffer))?;
        let have = self.storage().len();
        if n > have {
            let room = n.max(have.saturating_mul(2)).max(self.plane);
            self.resize(room, buffer, meter)?;
            if let Data::Own(storage) = &mut self.data {
                storage.resize(room);
            }
            if self.has_marks {
                self.marks.resize(room, false);
            }
        }
        Ok(())
    }

    /// Takes the memory away.
    pub(crate) fn free(&mut self, meter: &Meter) {
        meter.give(self.bytes);
        (self.bytes, self.n_unset) = (0, None);
        self.data = Data::Own(Storage::zeros(self.elem, 0));
        self.marks = Vec::new();
    }

    /// A copy of the tensor.
    pub(crate) fn copied(&self) -> Option<TensorValue> {
        let shape = self.shape.iter().map(|n| usize::try_from(*n).unwrap_or(0));
        TensorValue::new(shape.collect(), self.storage().clone())
    }

    /// The tensor, in the order of its axes; the buffer is empty afterwards.
    pub(crate) fn take(&mut self, buffer: &Buffer, meter: &Meter) -> Option<TensorValue> {
        let shape: Vec<usize> =
            self.shape.iter().map(|n| usize::try_from(*n).unwrap_or(0)).collect();
        let n = shape.iter().try_fold(1_usize, |n, extent| n.checked_mul(*extent))?;
        let empty = Data::Own(Storage::zeros(self.elem, 0));
        let mut data = match std::mem::replace(&mut self.data, empty) {
            Data::Input(tensor) => return Some(TensorValue::clone(&tensor)),
            Data::Own(storage) => storage,
        };
        let open = buffer.dims.iter().position(|dim| dim.layout == Layout::Open);
        if open.is_some_and(|axis| axis > 0) {
            data = reordered(&data, &shape, &self.strides, self.elem)?;
        }
        data.resize(n);
        self.free(meter);
        TensorValue::new(shape, data)
    }
}

fn too_much(buffer: &Buffer) -> Stop {
    let message = format!("`{}` has more points than any memory", buffer.name.as_str());
    Stop::new(StopCode::Memory, message).at(buffer.loc)
}

/// The elements in row-major order.
fn reordered(data: &Storage, shape: &[usize], strides: &[i64], elem: Elem) -> Option<Storage> {
    let n = shape.iter().product();
    let mut result = Storage::with_capacity(elem, n);
    let mut point = vec![0_usize; shape.len()];
    for _ in 0..n {
        let at: usize = point.iter().zip(strides).map(|(x, s)| x * *s as usize).sum();
        result.push_bits(data.bits(at)?);
        for (x, extent) in point.iter_mut().zip(shape).rev() {
            *x += 1;
            if *x < *extent {
                break;
            }
            *x = 0;
        }
    }
    Some(result)
}
