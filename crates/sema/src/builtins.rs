//! What every program has without importing it: reductions, the prelude of elementary functions,
//! a few host functions, and the constructors of `Option` and `Result`. Besides, what the standard
//! library cannot express: further elementary functions, characters, files.
//!
//! User bindings may shadow any of them, so these are looked up last.

macro_rules! names {
    ($(#[$doc:meta])* $list:ident { $($variant:ident $spelling:literal,)* }) => {
        $(#[$doc])*
        #[allow(missing_docs, reason = "the names are the documentation")]
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum $list { $($variant,)* }

        impl $list {
            /// Every one of them, in declaration order.
            pub const ALL: &[$list] = &[$($list::$variant,)*];

            /// The name in programs.
            pub fn as_str(self) -> &'static str {
                match self { $($list::$variant => $spelling,)* }
            }

            /// The one with this name.
            pub fn parse(text: &str) -> Option<$list> {
                match text { $($spelling => Some($list::$variant),)* _ => None }
            }
        }
    };
}

names! {
    /// The reductions `sum[k](…)`.
    Reduction {
        Sum "sum", Prod "prod", Max "max", Min "min", All "all", Any "any", ArgMax "argmax",
        ArgMin "argmin", Mean "mean", MaxAt "max_at", MinAt "min_at",
    }
}

names! {
    /// Functions that the compiler provides. Those up to [`Function::Pow`] need no import; the
    /// others are reached through the standard library, which alone can name them.
    Function {
        Print "print", Assert "assert", Len "len", Shape "shape", Typeof "typeof",
        ArrayAppend "array_append", Detach "detach", Converged "converged",
        Band "band", Bor "bor", Bxor "bxor", Bnot "bnot", Shl "shl", Shr "shr",
        Abs "abs", Min "min", Max "max", Sqrt "sqrt", Exp "exp", Log "log", Sin "sin", Cos "cos",
        Tan "tan", Tanh "tanh", Floor "floor", Ceil "ceil", Round "round", Pow "pow",
        Sign "sign", IsNan "is_nan", IsFinite "is_finite", Atan2 "atan2", Hypot "hypot",
        Trunc "trunc", Cbrt "cbrt", Exp2 "exp2", Expm1 "expm1", Log2 "log2", Log10 "log10",
        Log1p "log1p", Asin "asin", Acos "acos", Atan "atan", Sinh "sinh", Cosh "cosh",
        Asinh "asinh", Acosh "acosh", Atanh "atanh", Erf "erf", Erfc "erfc", Gamma "gamma",
        Lgamma "lgamma", Digamma "digamma", BesselJ0 "bessel_j0", BesselJ1 "bessel_j1",
        Chars "chars", FromChars "from_chars", Upper "upper", Lower "lower",
        ParseI64 "parse_i64", ParseF64 "parse_f64",
        ReadText "read_text", WriteText "write_text", FileExists "exists", ListDir "list_dir",
        LoadNpy "load_npy", LoadNpz "load_npz", LoadCsv "load_csv",
        LoadSafetensors "load_safetensors", LoadTensor "load_tensor", SaveTensor "save_tensor",
        SaveTensors "save_tensors",
    }
}

impl Function {
    /// Whether every program has it without an import.
    pub fn is_prelude(self) -> bool {
        self <= Function::Pow
    }

    /// Whether it works on numbers, and on tensors element by element.
    pub fn is_elementwise(self) -> bool {
        (Function::Band..=Function::BesselJ1).contains(&self)
    }

    /// Whether it prints, reads or writes.
    pub fn has_effect(self) -> bool {
        self == Function::Print || self >= Function::ReadText
    }

    /// Whether it gives what a file holds, whose type only an annotation or a cast can tell.
    pub fn is_loader(self) -> bool {
        matches!(
            self,
            Function::LoadNpy
                | Function::LoadNpz
                | Function::LoadCsv
                | Function::LoadSafetensors
                | Function::LoadTensor
        )
    }
}

names! {
    /// The constructors of `Option` and `Result`.
    Constructor { Some "Some", None "None", Ok "Ok", Err "Err", }
}

names! {
    /// Generic types without import.
    BuiltinType { Option "Option", Result "Result", }
}

/// Something every program has.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Builtin {
    /// A function; `min` and `max` are reductions too when subscripted.
    Function(Function),
    /// A reduction.
    Reduction(Reduction),
    /// `reduce`, the reduction with an operator of the user's.
    Reduce,
    /// A constructor.
    Constructor(Constructor),
    /// A generic type.
    Type(BuiltinType),
}

impl Builtin {
    /// The value with this name. A reduction of the same name is found by [`Self::reduction`].
    pub fn value(text: &str) -> Option<Builtin> {
        if text == "reduce" {
            return Some(Builtin::Reduce);
        }
        Function::parse(text)
            .filter(|function| function.is_prelude())
            .map(Builtin::Function)
            .or_else(|| Reduction::parse(text).map(Builtin::Reduction))
            .or_else(|| Constructor::parse(text).map(Builtin::Constructor))
    }

    /// The reduction this is when subscripts follow.
    pub fn reduction(self) -> Option<Reduction> {
        match self {
            Builtin::Reduction(op) => Some(op),
            Builtin::Function(Function::Max) => Some(Reduction::Max),
            Builtin::Function(Function::Min) => Some(Reduction::Min),
            _ => None,
        }
    }

    /// The names of all values, for suggestions.
    pub fn value_names() -> impl Iterator<Item = &'static str> {
        let functions = Function::ALL.iter().filter(|f| f.is_prelude()).map(|f| f.as_str());
        let reductions = Reduction::ALL.iter().map(|r| r.as_str());
        let constructors = Constructor::ALL.iter().map(|c| c.as_str());
        functions.chain(reductions).chain(constructors).chain(["reduce"])
    }
}

impl std::fmt::Display for Builtin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Builtin::Function(function) => function.as_str(),
            Builtin::Reduction(reduction) => reduction.as_str(),
            Builtin::Reduce => "reduce",
            Builtin::Constructor(constructor) => constructor.as_str(),
            Builtin::Type(ty) => ty.as_str(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_needs_an_import_has_no_name_without_one() {
        assert_eq!(Builtin::value("pow"), Some(Builtin::Function(Function::Pow)));
        assert_eq!(Builtin::value("erf"), None);
        assert!(Builtin::value_names().all(|name| name != "erf"));
        assert_eq!(Function::parse("erf"), Some(Function::Erf));
    }

    #[test]
    fn files_and_printing_are_the_effects() {
        let effects = Function::ALL.iter().filter(|f| f.has_effect()).map(|f| f.as_str());
        let words: Vec<&str> = effects.collect();
        assert_eq!(words.first(), Some(&"print"));
        assert!(words.contains(&"save_tensor") && words.contains(&"exists"));
        assert!(!words.contains(&"parse_f64"));
    }
}
