//! Element types, tensor types and the names of tensors.
//!
//! Only numbers and truth values live in the tensor IR: `str` and enums stay in the host IR, and
//! structs and tuples of numbers arrive here as one tensor per field. Spans are optional
//! everywhere, because an embedding builds this IR without any source text; a [`Loc`] is never
//! part of what a piece of IR means.

use std::fmt;
use std::sync::Arc;

use einlang_index::Quasi;
use einlang_source::Span;

macro_rules! elems {
    ($($variant:ident $name:literal $class:ident $bits:literal $doc:literal,)*) => {
        /// The type of one element.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Elem {
            $(#[doc = $doc] $variant,)*
        }

        impl Elem {
            /// Every element type, in the order of the language reference.
            pub const ALL: &[Elem] = &[$(Elem::$variant,)*];

            /// The spelling in the language and in the text form.
            pub fn as_str(self) -> &'static str {
                match self { $(Elem::$variant => $name,)* }
            }

            /// The kind of number.
            pub fn kind(self) -> ElemKind {
                match self { $(Elem::$variant => ElemKind::$class,)* }
            }

            /// The width of one element in bits; a `bool` is stored in a byte.
            pub fn bits(self) -> u32 {
                match self { $(Elem::$variant => $bits,)* }
            }
        }
    };
}

elems! {
    Bool "bool" Bool 8 "A truth value.",
    I8 "i8" Signed 8 "A signed integer of 8 bits.",
    I16 "i16" Signed 16 "A signed integer of 16 bits.",
    I32 "i32" Signed 32 "A signed integer of 32 bits.",
    I64 "i64" Signed 64 "A signed integer of 64 bits.",
    U8 "u8" Unsigned 8 "An unsigned integer of 8 bits.",
    U16 "u16" Unsigned 16 "An unsigned integer of 16 bits.",
    U32 "u32" Unsigned 32 "An unsigned integer of 32 bits.",
    U64 "u64" Unsigned 64 "An unsigned integer of 64 bits.",
    F8E4M3 "f8e4m3" Float 8 "A float with 4 exponent and 3 fraction bits, without infinities.",
    F16 "f16" Float 16 "An IEEE half.",
    BF16 "bf16" Float 16 "The upper half of an `f32`.",
    F32 "f32" Float 32 "An IEEE single.",
    F64 "f64" Float 64 "An IEEE double.",
}

/// What kind of number an element is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ElemKind {
    /// Truth values.
    Bool,
    /// Two's complement integers.
    Signed,
    /// Integers from zero.
    Unsigned,
    /// Floating-point numbers.
    Float,
}

impl Elem {
    /// The type with this spelling.
    pub fn parse(text: &str) -> Option<Elem> {
        Elem::ALL.iter().copied().find(|elem| elem.as_str() == text)
    }

    /// True for the integer types.
    pub fn is_int(self) -> bool {
        matches!(self.kind(), ElemKind::Signed | ElemKind::Unsigned)
    }

    /// True for the floating-point types.
    pub fn is_float(self) -> bool {
        self.kind() == ElemKind::Float
    }
}

impl fmt::Display for Elem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The name of a tensor, a function or a module. A name is an identity: within one module no two
/// tensors share one, so printed IR reads back as the same IR.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ident(Arc<str>);

impl Ident {
    /// The name with this spelling. A back-quote would end a quoted name and becomes a prime.
    pub fn new(text: &str) -> Ident {
        Ident(Arc::from(text.replace(['`', '\n', '\r'], "'")))
    }

    /// The spelling.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::borrow::Borrow<str> for Ident {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Ident {
    fn from(text: &str) -> Ident {
        Ident::new(text)
    }
}

impl fmt::Debug for Ident {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Ident {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        crate::text::write_name(f, &self.0)
    }
}

/// One dimension of a tensor type: how long it is and, if the program says so, which coordinate
/// it runs along.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Dim {
    /// The length: a number or an expression of symbols (of enclosing indices for a local tensor).
    pub extent: Quasi,
    /// The coordinate of the language's section 5.
    pub coord: Option<Ident>,
}

impl From<Quasi> for Dim {
    fn from(extent: Quasi) -> Dim {
        Dim { extent, coord: None }
    }
}

/// The type of a whole tensor; rank 0 is a single element.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct TensorType {
    /// The type of the elements.
    pub elem: Elem,
    /// The dimensions, outermost first.
    pub dims: Vec<Dim>,
}

impl TensorType {
    /// The type of a single element.
    pub fn scalar(elem: Elem) -> TensorType {
        TensorType { elem, dims: Vec::new() }
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.dims.len()
    }
}

/// Where something was written, if anybody wrote it. All locations are equal to each other, so
/// that comparing IR compares meanings; the text form leaves them out.
#[derive(Clone, Copy, Default)]
pub struct Loc(pub Option<Span>);

impl PartialEq for Loc {
    fn eq(&self, _: &Loc) -> bool {
        true
    }
}

impl Eq for Loc {}

impl std::hash::Hash for Loc {
    fn hash<H: std::hash::Hasher>(&self, _: &mut H) {}
}

impl From<Span> for Loc {
    fn from(span: Span) -> Loc {
        Loc(Some(span))
    }
}

impl fmt::Debug for Loc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(span) => write!(f, "{span:?}"),
            None => f.write_str("nowhere"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_read_back() {
        for elem in Elem::ALL {
            assert_eq!(Elem::parse(elem.as_str()), Some(*elem));
        }
        assert_eq!(Elem::parse("int"), None);
        assert_eq!(
            (Elem::U8.is_int(), Elem::BF16.is_float(), Elem::Bool.is_int()),
            (true, true, false)
        );
    }

    #[test]
    fn names_cannot_end_their_quotes() {
        assert_eq!(Ident::new("a`b").as_str(), "a'b");
        assert_eq!(Ident::new("s.x").to_string(), "s.x");
        assert_eq!(Ident::new("two words").to_string(), "`two words`");
        assert_eq!(Ident::new("yield").to_string(), "`yield`");
    }
}
