//! The text form: every module prints, and what is printed reads back as the same module.
//!
//! ```text
//! module   = "module" name ["with" property {"," property}] "{" {item} "}"
//! item     = "symbol" name ["=" source] ";"       source = "shape" name number | "value" name
//!                              | "max" "(" index {"," index} ")" | "min" … | "until" | "local"
//!          | "index" name {"," name} ";"           only where binders are out of order
//!          | "assume" condition ";"                condition = index ("=" | "<" | "<=" | …) index
//!          | "check" ["loaded_shape"] condition string ";"
//!          | "input" tensor ";"                    tensor = name ":" elem "[" [dim {"," dim}] "]"
//!          | "fn" name ["rule" | "reverse_rule" name ["silent" number]] region
//!          | group
//!          | "output" name {"," name} ";"
//! group    = binding | "group" "{" {binding} ["until" until] "}"
//! until    = name "index" name "from" index "max" index region
//! binding  = "binding" name ":" elem "[" [axis {"," axis}] "]" ["zero_fill"] "{" {clause} "}"
//! axis     = name "<" dim                          dim = index [":" coordinate]
//! clause   = "clause" domain ["where" region] region
//! region   = "{" ["|" def {"," def} "|"] {inst} "yield" [args] ";" "}"
//! def      = value ":" elem | tensor               value = "%" number
//! inst     = group | [def {"," def} "="] kind ";"
//! kind     = op args | "index" index | "read" place ["proved"] ["else" region]
//!          | "if" arg region "else" region
//!          | "switch" arg "{" {number region} "else" region "}"
//!          | "reduce" (op | region) start {flag} "over" domain ["where" region] "do" region
//!          | "call" name "(" [args] ")" | "host_call" name "(" [args] ")" | "deriv" place "/" place | "param" name "=" arg
//!          | "converged" name | "assert" arg message | "trap" trap message
//! message  = part {"," part}                       part = string | arg "as" string
//! start    = "identity" args | "init" args | "first"
//! place    = name "[" [subscript {"," subscript}] "]"      subscript = index | value | constant
//! arg      = value | constant | name               args = arg {"," arg}
//! ```
//!
//! `index` and `domain` are the expressions and domains of `einlang-index`, such as
//! `2*i + floor(n / 2)` and `{ [i, j] : 0 <= i < n }`. Constants carry their type: `2.5f32`,
//! `-1i8`, `true`. Names that are not words, or are words of this grammar, stand in back-quotes.
//! `//` starts a comment. Locations are not printed. Errors name line and column; no text panics.

mod cursor;
mod lexer;
mod parse;
mod parse_index;
mod parse_region;
mod print;
mod print_region;

use std::fmt;

pub(crate) use cursor::Cursor;
pub(crate) use lexer::Token;
pub use parse::parse_module;
pub(crate) use parse::parse_module_at;
pub use print::print_module;

/// Why a text could not be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TextError {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What was wrong there.
    pub message: String,
}

impl TextError {
    /// The error at a byte of a text.
    pub(crate) fn at(text: &str, byte: usize, message: impl Into<String>) -> TextError {
        let before = &text[..text.floor_char_boundary(byte)];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        TextError { line, column, message: message.into() }
    }
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for TextError {}

/// What reading gives.
pub(crate) type Parsed<T> = Result<T, TextError>;

/// The words that begin something of the grammar wherever a name may stand.
const KEYWORDS: [&str; 18] = [
    "assert", "binding", "call", "clause", "else", "first", "fn", "group", "if", "over", "param",
    "read", "reduce", "switch", "trap", "until", "where", "yield",
];

/// Writes a name, in back-quotes where it would not read back as a name.
pub(crate) fn write_name(f: &mut dyn fmt::Write, name: &str) -> fmt::Result {
    let word = lexer::is_word(name) && !KEYWORDS.contains(&name);
    match word && crate::constant::Const::parse_typed(name).is_none() {
        true => f.write_str(name),
        false => write!(f, "`{name}`"),
    }
}

/// A text in double quotes.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
