//! What every program has without importing it: reductions, the prelude of elementary functions,
//! a few host functions, and the constructors of `Option` and `Result`.
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
    /// Functions without import.
    Function {
        Print "print", Assert "assert", Len "len", Shape "shape", Typeof "typeof",
        ArrayAppend "array_append", Detach "detach", Converged "converged",
        Band "band", Bor "bor", Bxor "bxor", Bnot "bnot", Shl "shl", Shr "shr",
        Abs "abs", Min "min", Max "max", Sqrt "sqrt", Exp "exp", Log "log", Sin "sin", Cos "cos",
        Tan "tan", Tanh "tanh", Floor "floor", Ceil "ceil", Round "round", Pow "pow",
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
        let functions = Function::ALL.iter().map(|f| f.as_str());
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
