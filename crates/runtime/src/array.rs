//! A plain array: element type, shape, and bytes in row-major, little-endian order.
//!
//! Invariant: there are exactly as many bytes as the shape and the element type ask for, the
//! extents are at most [`MAX_EXTENT`] each, and so is their product without those that are zero.

use std::fmt;

use crate::error::FileError;

/// The largest extent: sizes are `i32` values in the language.
pub const MAX_EXTENT: usize = i32::MAX as usize;

macro_rules! elems {
    ($($variant:ident $name:literal $bytes:literal,)*) => {
        /// The type of one element.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Elem {
            $(#[doc = concat!("`", $name, "`")] $variant,)*
        }

        impl Elem {
            /// Every element type.
            pub const ALL: &[Elem] = &[$(Elem::$variant,)*];

            /// The spelling in the language.
            pub fn as_str(self) -> &'static str {
                match self { $(Elem::$variant => $name,)* }
            }

            /// The number of bytes of one element.
            pub fn size(self) -> usize {
                match self { $(Elem::$variant => $bytes,)* }
            }
        }
    };
}

elems! {
    Bool "bool" 1,
    I8 "i8" 1,
    I16 "i16" 2,
    I32 "i32" 4,
    I64 "i64" 8,
    U8 "u8" 1,
    U16 "u16" 2,
    U32 "u32" 4,
    U64 "u64" 8,
    F8E4M3 "f8e4m3" 1,
    F16 "f16" 2,
    BF16 "bf16" 2,
    F32 "f32" 4,
    F64 "f64" 8,
}

impl Elem {
    /// The type with this spelling.
    pub fn parse(text: &str) -> Option<Elem> {
        Elem::ALL.iter().copied().find(|elem| elem.as_str() == text)
    }
}

impl fmt::Display for Elem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The most axes; other libraries have no more either.
pub const MAX_RANK: usize = 64;

/// An array.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Array {
    elem: Elem,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl Array {
    /// The array of these bytes, if they are as many as the shape asks for. A truth value is any
    /// byte but zero.
    pub fn new(elem: Elem, shape: Vec<usize>, mut bytes: Vec<u8>) -> Result<Array, FileError> {
        let wanted = byte_length(elem, &shape)?;
        if wanted != bytes.len() {
            let message = format!("{wanted} bytes are needed, and there are {}", bytes.len());
            return Err(FileError::malformed(message));
        }
        if elem == Elem::Bool {
            bytes.iter_mut().for_each(|byte| *byte = u8::from(*byte != 0));
        }
        Ok(Array { elem, shape, bytes })
    }

    /// The type of the elements.
    pub fn elem(&self) -> Elem {
        self.elem
    }

    /// The extents, outermost first.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The elements in row-major order, each in little-endian order.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.bytes.len() / self.elem.size()
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The bits of each element, in order.
    pub fn bits(&self) -> impl Iterator<Item = u64> + '_ {
        self.bytes.chunks_exact(self.elem.size()).map(|element| {
            let mut wide = [0; 8];
            wide[..element.len()].copy_from_slice(element);
            u64::from_le_bytes(wide)
        })
    }

    /// The type and shape as the language writes them, such as `[f32; 2, 3]`.
    pub fn describe(&self) -> String {
        match &self.shape[..] {
            [] => self.elem.to_string(),
            shape => format!("[{}; {}]", self.elem, listed(shape)),
        }
    }
}

/// The extents with commas.
pub(crate) fn listed(shape: &[usize]) -> String {
    shape.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}

/// The number of bytes of an array of this shape.
pub fn byte_length(elem: Elem, shape: &[usize]) -> Result<usize, FileError> {
    if shape.len() > MAX_RANK {
        let message = format!("an array of {} axes has too many of them", shape.len());
        return Err(FileError::too_large(message));
    }
    let too_large = || {
        let message = format!("an array of shape ({}) has too many elements", listed(shape));
        FileError::too_large(message)
    };
    let apart_from_zeros = shape.iter().filter(|extent| **extent > 0);
    let product = apart_from_zeros.clone().try_fold(1_usize, |n, extent| n.checked_mul(*extent));
    let product = product.ok_or_else(too_large)?;
    let is_empty = shape.contains(&0);
    let fits = shape.iter().all(|extent| *extent <= MAX_EXTENT);
    if !fits || (is_empty && product > MAX_EXTENT) {
        return Err(too_large());
    }
    let n = if is_empty { 0 } else { product };
    n.checked_mul(elem.size()).ok_or_else(too_large)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Kind;

    #[test]
    fn arrays_have_the_bytes_they_need() {
        let array = Array::new(Elem::U16, vec![2, 1], vec![1, 0, 0, 1]).expect("it fits");
        assert_eq!(array.bits().collect::<Vec<_>>(), [1, 256]);
        assert_eq!((array.len(), array.describe()), (2, "[u16; 2, 1]".to_owned()));
        let short = Array::new(Elem::F32, vec![2], vec![0; 7]);
        assert_eq!(short.map_err(|error| error.kind), Err(Kind::Malformed));
        let truths = Array::new(Elem::Bool, vec![3], vec![0, 1, 255]).expect("it fits");
        assert_eq!(truths.bytes(), [0, 1, 1]);
    }

    #[test]
    fn enormous_shapes_are_refused() {
        for shape in
            [&[usize::MAX, 2][..], &[1; 65], &[1 << 40, 0], &[1 << 20, 1 << 20, 0], &[1 << 31]]
        {
            let refused = byte_length(Elem::I8, shape).map_err(|error| error.kind);
            assert_eq!(refused, Err(Kind::TooLarge), "{shape:?}");
        }
        assert_eq!(byte_length(Elem::F64, &[0, 5]), Ok(0));
        assert_eq!(byte_length(Elem::F64, &[]), Ok(8));
    }
}
