//! The signatures of what the compiler provides, as they would be written in the language. `F` is
//! any float type and `T` any type of numbers; a rest stands for tensors of any rank.
//!
//! Invariant: everything that the library passes on from the compiler is here; a test says so.

use einlang_sema::builtins::Function;

/// The signature of `std::intrinsics::name`.
pub(super) fn signature(path: &[String], name: &str) -> Option<String> {
    if !matches!(path, [std, intrinsics] if std == "std" && intrinsics == "intrinsics") {
        return None;
    }
    Some(format!("pub fn {name}{}", parameters(Function::parse(name)?)?))
}

fn parameters(function: Function) -> Option<&'static str> {
    use Function::*;
    Some(match function {
        Abs | Sign => "<T>(x: [T; ..r]) -> [T; ..r]",
        Min | Max => "<T>(a: [T; ..r], b: [T; ..r]) -> [T; ..r]",
        IsNan | IsFinite => "<F>(x: [F; ..r]) -> [bool; ..r]",
        Pow => "<F>(x: [F; ..r], y: [F; ..r]) -> [F; ..r]",
        Atan2 => "<F>(y: [F; ..r], x: [F; ..r]) -> [F; ..r]",
        Hypot => "<F>(x: [F; ..r], y: [F; ..r]) -> [F; ..r]",
        Chars => "(s: str) -> [i32]",
        FromChars => "(codes: [i32]) -> str",
        Upper | Lower => "(s: str) -> str",
        ParseI64 => "(s: str) -> i64",
        ParseF64 => "(s: str) -> f64",
        ReadText => "(path: str) -> str",
        WriteText => "(path: str, text: str)",
        FileExists => "(path: str) -> bool",
        ListDir => "(path: str) -> [str]",
        LoadNpy | LoadCsv => "(path: str)",
        LoadNpz | LoadSafetensors => "(path: str, name: str)",
        _ if function.is_elementwise() => "<F>(x: [F; ..r]) -> [F; ..r]",
        _ => return None,
    })
}
