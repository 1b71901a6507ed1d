//! The text around a file that calls one of its functions.
//!
//! The arguments become inputs, the call a binding, and derivatives are requests about that binding and
//! those inputs. Indices have explicit ranges, so that they may be used on axes of any name.

use einlang_syntax::Tree;
use einlang_syntax::ast::{AstNode, SourceFile, Statement};
use einlang_tir::host::HostType;

/// The binding that holds what the function gives.
const RESULT: &str = "einlang_result";

/// A call of a function.
#[derive(Clone, Debug)]
pub struct Call {
    /// The function.
    pub function: String,
    /// The arguments that are given.
    pub arguments: Vec<Argument>,
    /// What is wanted.
    pub ask: Ask,
}

/// An argument of a call.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Argument {
    /// The name of its parameter; none for one that is given by position.
    pub name: Option<String>,
    /// Its type as the language writes it.
    pub ty: String,
}

/// What is wanted of a call. Numbers are those of its arguments.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Ask {
    /// What the function gives.
    Value,
    /// What the function gives, and its derivatives.
    Derivatives(Vec<usize>),
    /// The same, with the derivatives contracted on the side of the parameters: after the arguments
    /// follow the tangents of those.
    Tangent(Vec<usize>),
    /// The same, contracted on the side of the result: after the arguments follows its cotangent.
    Cotangent(Vec<usize>),
    /// The derivatives at one point of the first axes of the result, whose indices follow the arguments.
    Rows(Vec<usize>, usize),
}

impl Ask {
    /// Whether the type of the result must be known to write the text.
    pub(super) fn needs_result(&self) -> bool {
        matches!(self, Ask::Tangent(_) | Ask::Cotangent(_) | Ask::Rows(..))
    }

    /// The names of the outputs: the value, but for rows, then a derivative for each argument asked about,
    /// or one for all tangents together.
    pub(super) fn outputs(&self) -> Vec<String> {
        let n = match self {
            Ask::Value => 0,
            Ask::Tangent(_) => 1,
            Ask::Derivatives(by) | Ask::Cotangent(by) | Ask::Rows(by, _) => by.len(),
        };
        let value = (!matches!(self, Ask::Rows(..))).then(|| RESULT.to_owned());
        let derivatives = (0..n).map(|at| format!("einlang_deriv_{at}"));
        value.into_iter().chain(derivatives).collect()
    }
}

/// The type of an argument that is a number (no rank) or a tensor.
pub fn argument_type(elem: &str, rank: Option<usize>) -> String {
    match rank {
        None => elem.to_owned(),
        Some(0) => elem.to_owned(),
        Some(rank) => format!("[{elem}; {}]", vec!["?"; rank].join(", ")),
    }
}

/// The whole text, or why a derivative makes no sense.
pub(super) fn text(tree: &Tree, call: &Call, result: Option<&HostType>) -> Result<String, String> {
    let mut text = without_effects(tree);
    text.push('\n');
    let mut arguments = Vec::new();
    for (at, Argument { name, ty }) in call.arguments.iter().enumerate() {
        text += &format!("input {}: {ty};\n", argument(at));
        arguments.push(match name {
            Some(name) => format!("{name} = {}", argument(at)),
            None => argument(at),
        });
    }
    text += &format!("let {RESULT} = {}({});\n", call.function, arguments.join(", "));
    text += &derivatives(call, result)?;
    Ok(text)
}

fn argument(at: usize) -> String {
    format!("einlang_arg_{at}")
}

fn derivatives(call: &Call, result: Option<&HostType>) -> Result<String, String> {
    let (rank, elem) = match result {
        None => (0, ""),
        Some(HostType::Scalar(elem)) => (0, elem.as_str()),
        Some(HostType::Tensor(elem, rank)) => (*rank, elem.as_str()),
        Some(_) => return Err(format!("`{}` gives no tensor", call.function)),
    };
    let mut text = String::new();
    let axes = |of: &str, letter: char, rank: usize| Axes::new(of, letter, rank);
    let result_axes = axes(RESULT, 'a', rank);
    let of_argument = |at: usize| {
        let ty = &call.arguments[at].ty;
        axes(&argument(at), 'b', rank_of(ty))
    };
    let request = |at: usize| format!("@{RESULT} / @{}", argument(at));
    match &call.ask {
        Ask::Value => {}
        Ask::Derivatives(by) => {
            for (n, at) in by.iter().enumerate() {
                text += &format!("let einlang_deriv_{n} = {};\n", request(*at));
            }
        }
        Ask::Tangent(by) => {
            let mut terms = Vec::new();
            for (n, at) in by.iter().enumerate() {
                let own = of_argument(*at);
                text += &format!("input einlang_tan_{n}: {};\n", call.arguments[*at].ty);
                let read = format!("({}){}", request(*at), result_axes.and(&own).subscripts());
                let term = format!("{read} * einlang_tan_{n}{}", own.subscripts());
                terms.push(own.sum(&term));
            }
            let sum = terms.join(" + ");
            text += &format!("let einlang_deriv_0{} = {sum};\n", result_axes.slots());
        }
        Ask::Cotangent(by) => {
            let ty = argument_type(elem, Some(rank));
            text += &format!("input einlang_cot: {ty};\n");
            for (n, at) in by.iter().enumerate() {
                let own = of_argument(*at);
                let read = format!("({}){}", request(*at), result_axes.and(&own).subscripts());
                let term = format!("einlang_cot{} * {read}", result_axes.subscripts());
                let sum = result_axes.sum(&term);
                text += &format!("let einlang_deriv_{n}{} = {sum};\n", own.slots());
            }
        }
        Ask::Rows(by, n_fixed) => {
            if *n_fixed > rank {
                return Err(format!("`{}` gives a tensor with {rank} axes", call.function));
            }
            let fixed: Vec<String> = (0..*n_fixed).map(|at| format!("einlang_row_{at}")).collect();
            for row in &fixed {
                text += &format!("input {row}: i32;\n");
            }
            for (n, at) in by.iter().enumerate() {
                let rows = format!("({})[{}]", request(*at), fixed.join(", "));
                text += &format!("let einlang_deriv_{n} = {rows};\n");
            }
        }
    }
    Ok(text)
}

/// The axes of a value, each with an index and its range.
struct Axes {
    names: Vec<String>,
    ranges: Vec<String>,
}

impl Axes {
    fn new(of: &str, letter: char, rank: usize) -> Axes {
        let names: Vec<String> = (0..rank).map(|axis| format!("einlang_{letter}{axis}")).collect();
        let ranges = names.iter().enumerate();
        let ranges = ranges.map(|(axis, name)| format!("{name} in 0..shape({of})[{axis}]"));
        Axes { ranges: ranges.collect(), names }
    }

    fn and(&self, other: &Axes) -> Axes {
        Axes {
            names: [&self.names[..], &other.names[..]].concat(),
            ranges: [&self.ranges[..], &other.ranges[..]].concat(),
        }
    }

    fn subscripts(&self) -> String {
        bracketed(&self.names)
    }

    fn slots(&self) -> String {
        bracketed(&self.ranges)
    }

    fn sum(&self, term: &str) -> String {
        match self.ranges.is_empty() {
            true => format!("({term})"),
            false => format!("sum{}({term})", self.slots()),
        }
    }
}

fn bracketed(items: &[String]) -> String {
    match items.is_empty() {
        true => String::new(),
        false => format!("[{}]", items.join(", ")),
    }
}

/// How many axes a type with a settled rank has, by its text.
fn rank_of(ty: &str) -> usize {
    match ty.trim().strip_prefix('[').and_then(|inner| inner.split_once(';')) {
        Some((_, dims)) => dims.split(',').count(),
        None if ty.trim().starts_with('[') => 1,
        None => 0,
    }
}

/// The text of a file whose statements that only have effects, and whose `main`, are blank.
fn without_effects(tree: &Tree) -> String {
    let mut text = tree.text().to_owned().into_bytes();
    for statement in SourceFile::of(tree).statements() {
        let has_effects = match statement {
            Statement::Fn(item) => item.name().is_some_and(|name| name.text() == "main"),
            Statement::Expr(_) | Statement::For(_) => true,
            _ => false,
        };
        if has_effects {
            for byte in &mut text[statement.node().range()] {
                if *byte != b'\n' {
                    *byte = b' ';
                }
            }
        }
    }
    String::from_utf8(text).expect("invariant: whole statements are replaced by spaces")
}
