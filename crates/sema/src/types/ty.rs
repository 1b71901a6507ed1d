//! The types of values: an element type and a rank, and what is built from them.
//!
//! A tensor's element is never itself a tensor: its axes come after the outer ones. Extents are
//! kept only where a literal states them; everything else about extents belongs to later passes.
//! `Error` and `Unknown` are silent: the first absorbs what it meets because something was
//! reported or nothing can be known, the second gives way because inference is not there yet.

use std::fmt::Write;

use einlang_source::{Interner, Name};

use super::{ClosureId, InstanceId};
use crate::builtins::{Constructor, Function};
use crate::hir::{DefId, Program, Scalar};

/// The extent of an axis when a literal states it.
pub type Extent = Option<u64>;

/// The type of a value.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Ty {
    /// Reported already, or from a library that is not loaded.
    Error,
    /// Not inferred yet; never in a result.
    Unknown,
    /// A type that inference still decides; never in a result.
    Var(VarId),
    /// `f32`
    Scalar(Scalar),
    /// `[f32; ?, 3]`
    Tensor(Box<Ty>, Vec<Extent>),
    /// `jagged[i32; 2d]`
    Jagged(Box<Ty>, u32),
    /// `(f32, i32)`; `()` is the empty one.
    Tuple(Vec<Ty>),
    /// A struct with its type arguments.
    Struct(DefId, Vec<Ty>),
    /// An enum with its type arguments.
    Enum(DefId, Vec<Ty>),
    /// `Option<T>`
    Option(Box<Ty>),
    /// `Result<T, E>`
    Result(Box<Ty>, Box<Ty>),
    /// `0..n`
    Range(Box<Ty>),
    /// A function.
    Fn(FnTy),
    /// `@x`
    Differential(Box<Ty>),
}

/// A function as a value: which one it is, as far as that is known.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum FnTy {
    /// A named function, with the instance it captures from.
    Def(DefId, Option<InstanceId>),
    /// A lambda.
    Closure(ClosureId),
    /// A function that every program has.
    Builtin(Function),
    /// A function of Python, by its dotted path.
    Python(Name),
    /// `Some`, `Ok`, `Err`
    Constructor(Constructor),
    /// A variant with values.
    Variant(DefId, u32),
    /// `(f32) -> f32`: only the signature is known.
    Declared(Vec<Ty>, Box<Ty>),
}

/// The number of an undecided type.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct VarId(pub(super) u32);

impl Ty {
    pub(super) const I32: Ty = Ty::Scalar(Scalar::I32);
    pub(super) const BOOL: Ty = Ty::Scalar(Scalar::Bool);
    pub(super) const STR: Ty = Ty::Scalar(Scalar::Str);

    /// `()`
    pub fn unit() -> Ty {
        Ty::Tuple(Vec::new())
    }

    /// A tensor with these axes before those of the element.
    pub fn tensor(element: Ty, extents: Vec<Extent>) -> Ty {
        match element {
            Ty::Error => Ty::Error,
            Ty::Unknown => Ty::Unknown,
            element if extents.is_empty() => element,
            Ty::Tensor(element, inner) => Ty::Tensor(element, [extents, inner].concat()),
            Ty::Jagged(element, levels) => Ty::Jagged(element, levels + extents.len() as u32),
            Ty::Differential(inner) => Ty::Differential(Box::new(Ty::tensor(*inner, extents))),
            element => Ty::Tensor(Box::new(element), extents),
        }
    }

    /// A tensor with axes of unknown extent before those of the element.
    pub fn with_axes(element: Ty, n_axes: usize) -> Ty {
        Ty::tensor(element, vec![None; n_axes])
    }

    /// The number of axes, 0 for what has none.
    pub fn rank(&self) -> usize {
        match self {
            Ty::Tensor(_, extents) => extents.len(),
            _ => 0,
        }
    }

    /// Nothing can be said about such a value.
    pub fn is_silent(&self) -> bool {
        matches!(self, Ty::Error | Ty::Unknown)
    }

    /// The type without its known extents, as functions are specialised for it.
    pub fn without_extents(&self) -> Ty {
        self.map(&mut |ty| match ty {
            Ty::Tensor(element, extents) => {
                Some(Ty::Tensor(Box::new(element.without_extents()), vec![None; extents.len()]))
            }
            _ => None,
        })
    }

    /// Rebuilds the type: `f` answers for a node or leaves it to its parts.
    pub(super) fn map(&self, f: &mut dyn FnMut(&Ty) -> Option<Ty>) -> Ty {
        if let Some(ty) = f(self) {
            return ty;
        }
        let mut boxed = |ty: &Ty| Box::new(ty.map(f));
        match self {
            Ty::Error | Ty::Unknown | Ty::Var(_) | Ty::Scalar(_) => self.clone(),
            Ty::Tensor(element, extents) => Ty::Tensor(boxed(element), extents.clone()),
            Ty::Jagged(element, levels) => Ty::Jagged(boxed(element), *levels),
            Ty::Option(inner) => Ty::Option(boxed(inner)),
            Ty::Result(ok, err) => Ty::Result(boxed(ok), boxed(err)),
            Ty::Range(inner) => Ty::Range(boxed(inner)),
            Ty::Differential(inner) => Ty::Differential(boxed(inner)),
            Ty::Tuple(parts) => Ty::Tuple(parts.iter().map(|ty| ty.map(f)).collect()),
            Ty::Struct(def, args) => Ty::Struct(*def, args.iter().map(|ty| ty.map(f)).collect()),
            Ty::Enum(def, args) => Ty::Enum(*def, args.iter().map(|ty| ty.map(f)).collect()),
            Ty::Fn(FnTy::Declared(params, ret)) => {
                let params = params.iter().map(|ty| ty.map(f)).collect();
                Ty::Fn(FnTy::Declared(params, Box::new(ret.map(f))))
            }
            Ty::Fn(_) => self.clone(),
        }
    }

    /// Whether some part satisfies the condition.
    pub(super) fn any(&self, condition: &dyn Fn(&Ty) -> bool) -> bool {
        let mut found = false;
        self.map(&mut |ty| {
            found |= condition(ty);
            found.then(|| ty.clone())
        });
        found
    }

    /// How many types it is made of.
    pub(super) fn n_parts(&self) -> usize {
        let mut n_parts = 0;
        self.map(&mut |_| {
            n_parts += 1;
            None
        });
        n_parts
    }

    /// The type in the language's spelling.
    pub fn show(&self, program: &Program, interner: &Interner) -> String {
        let mut text = String::new();
        self.write(&mut text, program, interner);
        text
    }

    fn write(&self, out: &mut String, program: &Program, interner: &Interner) {
        let list = |out: &mut String, types: &[Ty]| {
            for (i, ty) in types.iter().enumerate() {
                out.push_str(if i > 0 { ", " } else { "" });
                ty.write(out, program, interner);
            }
        };
        match self {
            Ty::Error | Ty::Unknown | Ty::Var(_) => out.push('?'),
            Ty::Scalar(scalar) => out.push_str(scalar.as_str()),
            Ty::Tensor(element, extents) => {
                out.push('[');
                element.write(out, program, interner);
                out.push_str(&show_extents(extents));
                out.push(']');
            }
            Ty::Jagged(element, levels) => {
                out.push_str("jagged[");
                element.write(out, program, interner);
                let _ = if *levels > 1 { write!(out, "; {levels}d]") } else { write!(out, "]") };
            }
            Ty::Tuple(parts) => {
                out.push('(');
                list(out, parts);
                out.push_str(if parts.len() == 1 { ",)" } else { ")" });
            }
            Ty::Struct(def, args) | Ty::Enum(def, args) => {
                out.push_str(interner.resolve(program.def(*def).name.name));
                if !args.is_empty() {
                    out.push('<');
                    list(out, args);
                    out.push('>');
                }
            }
            Ty::Option(inner) => {
                out.push_str("Option<");
                inner.write(out, program, interner);
                out.push('>');
            }
            Ty::Result(ok, err) => {
                out.push_str("Result<");
                ok.write(out, program, interner);
                out.push_str(", ");
                err.write(out, program, interner);
                out.push('>');
            }
            Ty::Range(inner) => {
                out.push_str("range of ");
                inner.write(out, program, interner);
            }
            Ty::Differential(inner) => {
                out.push('@');
                inner.write(out, program, interner);
            }
            Ty::Fn(FnTy::Declared(params, ret)) => {
                out.push('(');
                list(out, params);
                out.push_str(") -> ");
                ret.write(out, program, interner);
            }
            Ty::Fn(function) => out.push_str(&show_function(function, program, interner)),
        }
    }
}

fn show_extents(extents: &[Extent]) -> String {
    if let [None] = extents {
        return String::new();
    }
    let shown = extents.iter().map(|n| n.map_or("?".to_string(), |n| n.to_string()));
    format!("; {}", shown.collect::<Vec<_>>().join(", "))
}

fn show_function(function: &FnTy, program: &Program, interner: &Interner) -> String {
    match function {
        FnTy::Def(def, _) => format!("fn {}", interner.resolve(program.def(*def).name.name)),
        FnTy::Builtin(function) => format!("fn {}", function.as_str()),
        FnTy::Python(path) => format!("fn python {}", interner.resolve(*path)),
        FnTy::Constructor(constructor) => format!("fn {}", constructor.as_str()),
        FnTy::Variant(def, _) => {
            format!("variant of {}", interner.resolve(program.def(*def).name.name))
        }
        FnTy::Closure(_) | FnTy::Declared(..) => crate::errors::CLOSURE.to_owned(),
    }
}

impl Scalar {
    pub(crate) fn is_float(self) -> bool {
        matches!(self, Scalar::F8e4m3 | Scalar::F16 | Scalar::Bf16 | Scalar::F32 | Scalar::F64)
    }

    pub(crate) fn is_integer(self) -> bool {
        self.bounds().is_some()
    }

    pub(crate) fn is_number(self) -> bool {
        self.is_float() || self.is_integer()
    }

    /// The least and the greatest value of an integer type.
    pub(crate) fn bounds(self) -> Option<(i128, i128)> {
        Some(match self {
            Scalar::I8 => (i8::MIN.into(), i8::MAX.into()),
            Scalar::I16 => (i16::MIN.into(), i16::MAX.into()),
            Scalar::I32 => (i32::MIN.into(), i32::MAX.into()),
            Scalar::I64 => (i64::MIN.into(), i64::MAX.into()),
            Scalar::U8 => (0, u8::MAX.into()),
            Scalar::U16 => (0, u16::MAX.into()),
            Scalar::U32 => (0, u32::MAX.into()),
            Scalar::U64 => (0, u64::MAX.into()),
            _ => return None,
        })
    }
}
