//! The public functions of a file, and for each the program that calls it with its inputs.

use einlang_source::{Diagnostics, FileId, Span};
use einlang_syntax::Tree;
use einlang_syntax::ast::{AstNode, Attributed, FnItem, SourceFile, Statement};

use super::mistake;

/// The binding that holds what a function gives.
pub(super) const RESULT: &str = "einlang_result";

/// A public function.
#[derive(Clone, Debug)]
pub(crate) struct Export {
    pub(super) name: String,
    /// The place of its name.
    pub(super) span: Span,
    /// The file of the program that calls it.
    pub(super) file: FileId,
    /// Where the text of its file ends, and that of the call begins.
    pub(super) end: u32,
    /// The lines of its doc comment.
    pub(super) doc: Vec<String>,
    pub(super) params: Vec<Param>,
}

/// A parameter and its type as written.
#[derive(Clone, Debug)]
pub(crate) struct Param {
    pub(super) name: String,
    ty: String,
}

impl Export {
    /// What was said about the inputs of the program that calls the function, in the words of its
    /// parameters.
    pub(super) fn in_own_words(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (at, param) in self.params.iter().enumerate().rev() {
            text = text.replace(&input(at), &param.name);
        }
        text
    }

    /// A program of the file's text and a call of the function.
    pub(super) fn program(&self, text: &str) -> String {
        let mut program = format!("{text}\n");
        let mut args = Vec::new();
        for (at, param) in self.params.iter().enumerate() {
            program += &format!("input {}: {};\n", input(at), param.ty);
            args.push(input(at));
        }
        program + &format!("let {RESULT} = {}({});\n", self.name, args.join(", "))
    }
}

/// The name of an input of the program that calls a function.
fn input(at: usize) -> String {
    format!("einlang_input_{at}")
}

/// The public functions of a file that is right.
pub(super) fn find(tree: &Tree, file: FileId) -> Result<Vec<Export>, Diagnostics> {
    let mut exports = Vec::new();
    let place = |node: std::ops::Range<usize>| Span::new(file, node.start as u32, node.end as u32);
    for statement in SourceFile::of(tree).statements() {
        let belongs =
            "a program has it, a library has none; keep the functions in a file of their own";
        match statement {
            Statement::Input(item) => {
                let span = place(item.name().map_or(item.range(), |name| name.range()));
                let message = "a library has no inputs";
                return Err(mistake(message, span, "this is an input of a program", belongs));
            }
            Statement::Fn(item) if item.name().is_some_and(|name| name.text() == "main") => {
                let span = place(item.name().map_or(item.range(), |name| name.range()));
                let message = "a library has no `main`";
                return Err(mistake(message, span, "a program begins here", belongs));
            }
            Statement::Fn(item) if item.pub_token().is_some() => {
                let end = SourceFile::of(tree).range().end as u32;
                exports.extend(export(item, end, &place)?);
            }
            _ => {}
        }
    }
    if exports.is_empty() {
        let help = "write `pub` before the functions that C may call";
        return Err(mistake("there is no public function", place(0..0), "in this file", help));
    }
    Ok(exports)
}

fn export(
    item: FnItem<'_>,
    end: u32,
    place: &dyn Fn(std::ops::Range<usize>) -> Span,
) -> Result<Option<Export>, Diagnostics> {
    let Some(name) = item.name() else { return Ok(None) };
    let span = place(name.range());
    let mut params = Vec::new();
    for (at, param) in item.params().enumerate() {
        let spelled = param.pattern().map_or(String::new(), |pattern| pattern.text().to_owned());
        let ty = param.ty().map(|ty| ty.text().to_owned());
        let open = ty.as_deref().is_some_and(is_open);
        match ty.filter(|_| !open && item.generics().next().is_none()) {
            Some(ty) => params.push(Param { name: c_name(&spelled, at), ty }),
            None => {
                let message = format!(
                    "`{}` cannot be a function of a C library: the type of `{spelled}` is not settled",
                    name.text()
                );
                let label = "C needs an element type and a rank";
                let help =
                    "declare the type, such as `x: [f32; n, k]`, or make the function private";
                return Err(mistake(message, place(param.range()), label, help));
            }
        }
    }
    let doc = item.doc_lines().map(|line| line.trim().to_owned()).collect();
    let name = name.text().to_owned();
    Ok(Some(Export { name, span, file: span.file, end, doc, params }))
}

/// Whether a type leaves its rank open.
fn is_open(ty: &str) -> bool {
    let mut dims = ty.split(['[', ']', ';', ',']).map(str::trim);
    dims.any(|dim| dim == "*" || dim.starts_with(".."))
}

/// A name for C; what C cannot spell is numbered.
fn c_name(name: &str, at: usize) -> String {
    let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let usable = plain && name.starts_with(|c: char| c.is_ascii_alphabetic());
    // Results and renamed parameters have names of these kinds.
    let numbered = ["out_", "arg_"].iter().any(|kind| {
        let number = name.strip_prefix(kind);
        number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
    });
    match usable && !numbered && !RESERVED.contains(&name) {
        true => name.to_owned(),
        false => format!("arg_{at}"),
    }
}

/// Words of C and C++, macros and types of the headers, and the parameters that every function has.
const RESERVED: &[&str] = &[
    "EOF",
    "INFINITY",
    "NAN",
    "NULL",
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "asm",
    "auto",
    "bitand",
    "bitor",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "char16_t",
    "char32_t",
    "char8_t",
    "class",
    "co_await",
    "co_return",
    "co_yield",
    "compl",
    "concept",
    "const",
    "const_cast",
    "consteval",
    "constexpr",
    "constinit",
    "continue",
    "decltype",
    "default",
    "delete",
    "do",
    "double",
    "dynamic_cast",
    "einlang_tensor",
    "else",
    "enum",
    "errno",
    "explicit",
    "export",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "goto",
    "if",
    "inline",
    "int",
    "int16_t",
    "int32_t",
    "int64_t",
    "int8_t",
    "linux",
    "long",
    "main",
    "message",
    "message_size",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "nullptr",
    "operator",
    "or",
    "or_eq",
    "out",
    "private",
    "protected",
    "public",
    "register",
    "reinterpret_cast",
    "requires",
    "restrict",
    "return",
    "short",
    "signed",
    "size_t",
    "sizeof",
    "static",
    "static_assert",
    "static_cast",
    "struct",
    "switch",
    "template",
    "this",
    "thread_local",
    "throw",
    "true",
    "try",
    "typedef",
    "typeid",
    "typename",
    "typeof",
    "uint16_t",
    "uint32_t",
    "uint64_t",
    "uint8_t",
    "union",
    "unix",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "wchar_t",
    "while",
    "xor",
    "xor_eq",
];
