//! What the host can do besides computing: printing, files, strings, lists, shapes.
//!
//! One row per intrinsic: name, effect, operands, result, doc. As with the op table, whoever
//! evaluates them matches exhaustively.

use super::HostType;

/// A set of host types.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// Everything.
    Any,
    /// Strings.
    Str,
    /// Truth values.
    Bool,
    /// Integers.
    Int,
    /// Tensors.
    Tensor,
    /// Tensors and scalars, which are tensors without axes in files.
    Array,
    /// Lists.
    List,
    /// Nothing: the intrinsic defines no value.
    Nothing,
}

impl Class {
    /// Whether the type belongs to the set.
    pub fn contains(self, ty: &HostType) -> bool {
        match self {
            Class::Any => true,
            Class::Str => *ty == HostType::Str,
            Class::Bool => *ty == HostType::Scalar(crate::types::Elem::Bool),
            Class::Int => matches!(ty, HostType::Scalar(elem) if elem.is_int()),
            Class::Tensor => matches!(ty, HostType::Tensor(..)),
            Class::Array => matches!(ty, HostType::Tensor(..) | HostType::Scalar(_)),
            Class::List => matches!(ty, HostType::List(_)),
            Class::Nothing => false,
        }
    }
}

/// What an intrinsic does to the world.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Nothing; it may be left out or moved.
    Pure,
    /// Nothing, but it may stop the program.
    MayTrap,
    /// It prints, reads or writes; it stays where it is.
    World,
}

macro_rules! intrinsics {
    ($($variant:ident $name:literal $effect:ident [$($arg:ident),*] $more:literal $result:ident
       $doc:literal;)*) => {
        /// Something the host can do.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Intrinsic {
            $(#[doc = $doc] $variant,)*
        }

        impl Intrinsic {
            /// Every intrinsic.
            pub const ALL: &[Intrinsic] = &[$(Intrinsic::$variant,)*];

            /// The name in the text form.
            pub fn name(self) -> &'static str {
                match self { $(Intrinsic::$variant => $name,)* }
            }

            /// What it does to the world.
            pub fn effect(self) -> Effect {
                match self { $(Intrinsic::$variant => Effect::$effect,)* }
            }

            /// The operands it wants.
            pub fn operands(self) -> &'static [Class] {
                match self { $(Intrinsic::$variant => &[$(Class::$arg),*],)* }
            }

            /// Whether more operands of any type may follow.
            pub fn is_variadic(self) -> bool {
                match self { $(Intrinsic::$variant => $more,)* }
            }

            /// What it gives.
            pub fn result(self) -> Class {
                match self { $(Intrinsic::$variant => Class::$result,)* }
            }
        }
    };
}

intrinsics! {
    Print "print" World [] true Nothing "Prints values with spaces between them, and a line end.";
    Mute "mute" World [Bool] false Nothing "Whether `print` is silent from here on.";
    ReadText "read_text" World [Str] false Str "The text of a file.";
    WriteText "write_text" World [Str, Str] false Nothing "Writes a file.";
    FileExists "file_exists" World [Str] false Bool "Whether there is a file.";
    ListDir "list_dir" World [Str] false List "The names in a folder.";
    LoadTensor "load_tensor" World [Str, Str] false Array "Loads a tensor by format and path.";
    SaveTensor "save_tensor" World [Str, Str, Array] false Nothing
        "Saves a tensor by format and path.";
    LoadNamed "load_named" World [Str, Str, Str] false Array
        "Loads one of several tensors by format, path and name.";
    SaveNamed "save_named" World [Str, Str, List] true Nothing
        "Saves tensors by format, path and names.";
    CallPython "call_python" World [Str, Str] true Any
        "Calls a function of Python by its dotted path; the names of the last arguments, with commas \
         between them, and the arguments follow.";
    Observe "observe" World [Tensor, Str] false Nothing
        "Writes a number down under a name; of several the largest stays.";
    Show "show" Pure [Any] false Str "The value as `print` shows it.";
    TypeOf "type_of" Pure [Any] false Str "The type of the value with its extents.";
    Equal "equal" Pure [Any, Any] false Bool
        "Whether two values of one type are equal in all their parts; functions never are.";
    Concat "concat" Pure [Str, Str] false Str "One string after the other.";
    StrEq "str_eq" Pure [Str, Str] false Bool "Whether two strings are equal.";
    StrLt "str_lt" Pure [Str, Str] false Bool "Whether a string sorts before another.";
    Upper "upper" Pure [Str] false Str "The string in capital letters.";
    Lower "lower" Pure [Str] false Str "The string in small letters.";
    Chars "chars" Pure [Str] false Tensor "The characters as numbers.";
    FromChars "from_chars" MayTrap [Tensor] false Str "The string of character numbers.";
    ParseInt "parse_int" MayTrap [Str] false Any "The integer that a string spells.";
    ParseFloat "parse_float" MayTrap [Str] false Any "The float that a string spells.";
    ListLen "list_len" Pure [List] false Int "The number of elements.";
    ListExtent "list_extent" Pure [List, Int] false Int
        "The length of a list along an axis: its own, that of the first list in it, and so on.";
    ListShaped "list_shaped" Pure [List] true List
        "The list, whose axes have the extents that follow even where it is empty.";
    ListGet "list_get" MayTrap [List, Int] true Any
        "One element; what the list is called and its axis may follow, for messages.";
    ListPush "list_push" Pure [List, Any] false List "The list with one more element at the end.";
    ListSet "list_set" MayTrap [List, Int, Any] false List
        "The list with another element at one position.";
    ListConcat "list_concat" Pure [List, List] false List "One list after the other.";
    ListToTensor "list_to_tensor" MayTrap [List] false Tensor
        "The tensor of the elements; lists of lists must be rectangular.";
    TensorToList "tensor_to_list" Pure [Tensor] false List "The elements along the first axis.";
    ZipRecords "zip_records" Pure [Any] false List
        "The records whose fields are the elements of the tensors of a tuple.";
    Extent "extent" MayTrap [Tensor, Int] false Int "The extent of an axis.";
    Element "element" MayTrap [Tensor] true Any "The element at a point.";
    Scalar "scalar" Pure [Any] false Tensor "The rank-0 tensor of a scalar.";
    Point "point" Pure [Any, Str] true Any
        "The value, which is a point of a definition: its mark and the coordinates follow, for \
         derivatives by it.";
    HostDeriv "host_deriv" Pure [Tensor, Tensor] true Tensor
        "The derivative of one value by another, until it is expanded; modules that define the \
         other, each with its name there, follow, and after an empty name the mark of its points.";
    ZerosLike "zeros_like" Pure [Any] false Any "The value with all its floats zero.";
    OneHot "one_hot" Pure [Tensor, Int] false Tensor
        "Zeros in the shape of a tensor, and one at a position in row-major order.";
    FnName "fn_name" Pure [Any] false Str "The name of the function that a function value is.";
    Captures "captures" MayTrap [Any] false Any "What a function value captured, as a tuple.";
    Never "never" MayTrap [] false Any "Nothing: it stops the program, for a bug brought it there.";
    Jacobian "jacobian" MayTrap [List, Tensor, Tensor] false Tensor
        "The Jacobian whose columns are a list: the axes of the second operand, then of the third.";
    Cast "cast_tensor" Pure [Tensor] false Tensor "The elements converted to the result's type.";
}

impl Intrinsic {
    /// The intrinsic of this name.
    pub fn parse(name: &str) -> Option<Intrinsic> {
        Intrinsic::ALL.iter().copied().find(|intrinsic| intrinsic.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::Op;

    #[test]
    fn names_read_back_and_are_no_operations() {
        for intrinsic in Intrinsic::ALL {
            assert_eq!(Intrinsic::parse(intrinsic.name()), Some(*intrinsic));
            assert_eq!(Op::parse(intrinsic.name()), None);
        }
    }
}
