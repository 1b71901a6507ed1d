//! Tensors as values: a shape and typed storage.

use einlang_tir::constant::Const;
use einlang_tir::types::Elem;

use crate::list::List;

macro_rules! storage {
    ($($variant:ident $native:ty, $bits:ident => $to:expr, $value:ident => $from:expr;)*) => {
        /// The elements, in row-major order, each at its own width. Floats that Rust does not
        /// have are kept as their bits.
        #[derive(Clone, PartialEq, Debug)]
        pub enum Storage {
            $(#[doc = concat!("Elements of type `", stringify!($variant), "`.")]
              $variant(List<$native>),)*
        }

        impl Storage {
            /// Storage of a type with room for some elements.
            pub fn with_capacity(elem: Elem, n: usize) -> Storage {
                match elem { $(Elem::$variant => Storage::$variant(List::Own(Vec::with_capacity(n))),)* }
            }

            /// The type of the elements.
            pub fn elem(&self) -> Elem {
                match self { $(Storage::$variant(_) => Elem::$variant,)* }
            }

            /// The number of elements.
            pub fn len(&self) -> usize {
                match self { $(Storage::$variant(list) => list.len(),)* }
            }

            /// Whether there is no element.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// The bits of an element as [`Const`] keeps them, if there is one.
            pub fn bits(&self, at: usize) -> Option<u64> {
                match self {
                    $(Storage::$variant(list) => list.get(at).map(|$value| $from),)*
                }
            }

            /// Where the first element lies.
            pub(crate) fn first(&self) -> *const u8 {
                match self { $(Storage::$variant(list) => list.as_ptr().cast(),)* }
            }

            /// The address of the first element, to tell what shares memory with what.
            pub fn address(&self) -> usize {
                self.first().addr()
            }

            /// Where the first element lies, to be stored to.
            pub(crate) fn first_mut(&mut self) -> *mut u8 {
                match self { $(Storage::$variant(list) => list.own().as_mut_ptr().cast(),)* }
            }

            /// So many elements, all zero.
            pub(crate) fn zeros(elem: Elem, n: usize) -> Storage {
                match elem { $(Elem::$variant => Storage::$variant(List::Own(vec![<$native>::default(); n])),)* }
            }

            /// Makes room for so many elements that machine code will store, keeping the memory; there are none before
            /// [`Storage::assume_stored`]. Tests find odd values there.
            pub(crate) fn make_room(&mut self, n: usize) {
                match self {
                    $(Storage::$variant(list) => {
                        let list = list.own();
                        list.clear();
                        if list.capacity() < n {
                            *list = Vec::with_capacity(n);
                        }
                    })*
                }
                if cfg!(debug_assertions) {
                    self.fill_odd(n);
                }
            }

            fn fill_odd(&mut self, n: usize) {
                match self {
                    $(Storage::$variant(list) => {
                        let $bits = 0x7ff5_a5a5_ffe5_a5a5_u64;
                        list.own().resize(n, $to);
                    })*
                }
            }

            /// Says that machine code has stored so many elements.
            pub(crate) fn assume_stored(&mut self, n: usize) {
                match self { $(Storage::$variant(list) => assume_stored(list.own(), n),)* }
            }

            /// Changes the number of elements; new ones are zero.
            pub(crate) fn resize(&mut self, n: usize) {
                match self { $(Storage::$variant(list) => list.own().resize(n, <$native>::default()),)* }
            }

            /// Makes every element zero and their number `n`, keeping the memory.
            pub(crate) fn reset(&mut self, n: usize) {
                match self {
                    $(Storage::$variant(list) => {
                        let list = list.own();
                        if list.capacity() < n {
                            // New memory is zero already.
                            *list = vec![<$native>::default(); n];
                        } else {
                            list.clear();
                            list.resize(n, <$native>::default());
                        }
                    })*
                }
            }

            /// Replaces an element by its bits; false if there is none.
            pub(crate) fn set_bits(&mut self, at: usize, bits: u64) -> bool {
                match self {
                    $(Storage::$variant(list) => match list.get_mut(at) {
                        Some(place) => {
                            let $bits = bits;
                            *place = $to;
                            true
                        }
                        None => false,
                    })*
                }
            }

            /// Adds an element by its bits.
            pub fn push_bits(&mut self, bits: u64) {
                match self {
                    $(Storage::$variant(list) => {
                        let $bits = bits;
                        list.own().push($to);
                    })*
                }
            }
        }
    };
}

storage! {
    Bool bool, bits => bits != 0, value => u64::from(*value);
    I8 i8, bits => bits as i8, value => *value as i64 as u64;
    I16 i16, bits => bits as i16, value => *value as i64 as u64;
    I32 i32, bits => bits as i32, value => *value as i64 as u64;
    I64 i64, bits => bits as i64, value => *value as u64;
    U8 u8, bits => bits as u8, value => u64::from(*value);
    U16 u16, bits => bits as u16, value => u64::from(*value);
    U32 u32, bits => bits as u32, value => u64::from(*value);
    U64 u64, bits => bits, value => *value;
    F8E4M3 u8, bits => bits as u8, value => u64::from(*value);
    F16 u16, bits => bits as u16, value => u64::from(*value);
    BF16 u16, bits => bits as u16, value => u64::from(*value);
    F32 f32, bits => f32::from_bits(bits as u32), value => u64::from(value.to_bits());
    F64 f64, bits => f64::from_bits(bits), value => value.to_bits();
}

/// Says that machine code has stored so many elements of a list.
#[allow(unsafe_code)]
fn assume_stored<T>(list: &mut Vec<T>, n: usize) {
    assert!(n <= list.capacity(), "invariant: machine code stores inside of the room it was given");
    // SAFETY: there is room for so many; [`Memory`](crate::bytecode::buffer::Memory) calls this for buffers
    // of which loop IR says that code which came to its end has stored every element.
    unsafe { list.set_len(n) }
}

/// A tensor: rank 0 is a single element.
#[derive(Clone, PartialEq, Debug)]
pub struct TensorValue {
    shape: Vec<usize>,
    data: Storage,
}

impl TensorValue {
    /// The tensor of a shape and its elements in row-major order, if there are as many as the
    /// shape asks for.
    pub fn new(shape: Vec<usize>, data: Storage) -> Option<TensorValue> {
        let n = shape.iter().try_fold(1_usize, |n, extent| n.checked_mul(*extent))?;
        (n == data.len()).then_some(TensorValue { shape, data })
    }

    /// A single element.
    pub fn scalar(value: Const) -> TensorValue {
        let mut data = Storage::with_capacity(value.elem(), 1);
        data.push_bits(value.bits());
        TensorValue { shape: Vec::new(), data }
    }

    /// The tensor of constants in row-major order; all must have the type.
    pub fn of_consts(elem: Elem, shape: Vec<usize>, values: &[Const]) -> Option<TensorValue> {
        let mut data = Storage::with_capacity(elem, values.len());
        for value in values {
            if value.elem() != elem {
                return None;
            }
            data.push_bits(value.bits());
        }
        TensorValue::new(shape, data)
    }

    /// A vector of floats.
    pub fn f32s(shape: impl Into<Vec<usize>>, values: impl Into<Vec<f32>>) -> Option<TensorValue> {
        TensorValue::new(shape.into(), Storage::F32(List::Own(values.into())))
    }

    /// The type of the elements.
    pub fn elem(&self) -> Elem {
        self.data.elem()
    }

    /// The extents, outermost first.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.data.len()
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    /// The elements.
    pub fn data(&self) -> &Storage {
        &self.data
    }

    /// The extents and the elements.
    pub fn into_parts(self) -> (Vec<usize>, Storage) {
        (self.shape, self.data)
    }

    /// The element at a position in row-major order.
    pub fn get(&self, at: usize) -> Option<Const> {
        self.data.bits(at).map(|bits| Const::from_bits(self.elem(), bits))
    }

    /// All elements in row-major order.
    pub fn consts(&self) -> impl Iterator<Item = Const> + '_ {
        (0..self.len()).filter_map(|at| self.get(at))
    }

    /// The position of a point in row-major order, or the axis it leaves.
    pub fn position(&self, point: &[i128]) -> Result<usize, usize> {
        let mut position = 0;
        for (axis, (index, extent)) in point.iter().zip(&self.shape).enumerate() {
            match usize::try_from(*index) {
                Ok(index) if index < *extent => position = position * extent + index,
                _ => return Err(axis),
            }
        }
        Ok(position)
    }

    /// The elements converted to another type.
    pub fn cast(&self, to: Elem) -> TensorValue {
        let mut data = Storage::with_capacity(to, self.len());
        for value in self.consts() {
            data.push_bits(crate::scalar::cast(self.elem(), to, value.bits()));
        }
        TensorValue { shape: self.shape.clone(), data }
    }

    /// The part at one index of the first axis.
    pub fn row(&self, index: usize) -> Option<TensorValue> {
        let (first, rest) = self.shape.split_first()?;
        let n: usize = rest.iter().product();
        if index >= *first {
            return None;
        }
        let mut data = Storage::with_capacity(self.elem(), n);
        (index * n..(index + 1) * n)
            .filter_map(|at| self.data.bits(at))
            .for_each(|bits| data.push_bits(bits));
        TensorValue::new(rest.to_vec(), data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_keeps_its_bits() {
        for elem in Elem::ALL {
            let values: Vec<Const> = [0, 1, 0x3c00, u64::MAX]
                .iter()
                .map(|bits| Const::from_bits(*elem, *bits))
                .collect();
            let tensor = TensorValue::of_consts(*elem, vec![2, 2], &values).expect("it fits");
            assert_eq!((tensor.elem(), tensor.consts().collect::<Vec<_>>()), (*elem, values));
        }
    }

    #[test]
    fn points_have_positions_and_rows_are_tensors() {
        let tensor = TensorValue::f32s([2, 3], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]).expect("it fits");
        assert_eq!(tensor.position(&[1, 2]), Ok(5));
        assert_eq!(tensor.position(&[1, 3]), Err(1));
        assert_eq!(tensor.position(&[-1, 0]), Err(0));
        assert_eq!(tensor.row(1), TensorValue::f32s([3], [3.0, 4.0, 5.0]));
        assert_eq!(TensorValue::f32s([2], [1.0]), None);
    }
}
