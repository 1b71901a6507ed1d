//! The types of host values, and the structs and enums of a program.

use std::fmt;

use crate::types::{Elem, Ident};

/// The type of a host value.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum HostType {
    /// A number or truth value.
    Scalar(Elem),
    /// A string.
    Str,
    /// A rectangular tensor of some rank; its extents are values.
    Tensor(Elem, usize),
    /// A list whose length depends on data; lists of lists are jagged arrays.
    List(Box<HostType>),
    /// A tuple; the empty one is `()`.
    Tuple(Vec<HostType>),
    /// A struct of the program.
    Struct(Ident),
    /// An enum of the program.
    Enum(Ident),
    /// A function value.
    Fn(Vec<HostType>, Vec<HostType>),
}

impl fmt::Display for HostType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HostType::Scalar(elem) => write!(f, "{elem}"),
            HostType::Str => f.write_str("str"),
            HostType::Tensor(elem, rank) => write!(f, "tensor({elem}, {rank})"),
            HostType::List(of) => write!(f, "list({of})"),
            HostType::Tuple(types) => write!(f, "tuple({})", join(types)),
            HostType::Struct(name) => write!(f, "struct {name}"),
            HostType::Enum(name) => write!(f, "enum {name}"),
            HostType::Fn(params, results) => {
                write!(f, "fn({}) -> ({})", join(params), join(results))
            }
        }
    }
}

fn join(types: &[HostType]) -> String {
    types.iter().map(HostType::to_string).collect::<Vec<_>>().join(", ")
}

/// A struct or enum.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TypeDecl {
    /// `struct P { x: f32, y: f32 }`
    Struct {
        /// The name.
        name: Ident,
        /// The fields in order.
        fields: Vec<(Ident, HostType)>,
    },
    /// `enum E { A, B(f32) }`
    Enum {
        /// The name.
        name: Ident,
        /// The variants in order.
        variants: Vec<Variant>,
    },
}

/// A variant of an enum. The names of its fields matter to printing only and are [`Labels`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variant {
    /// The name.
    pub name: Ident,
    /// The types of its fields.
    pub fields: Vec<HostType>,
}

/// The names of a variant's fields, which only printing looks at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Labels {
    /// The enum.
    pub of: Ident,
    /// The variant.
    pub variant: Ident,
    /// One name per field.
    pub names: Vec<Ident>,
}

impl TypeDecl {
    /// The name.
    pub fn name(&self) -> &Ident {
        match self {
            TypeDecl::Struct { name, .. } | TypeDecl::Enum { name, .. } => name,
        }
    }
}
