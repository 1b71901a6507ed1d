//! The text around a file that calls one of its functions.
//!
//! The arguments become inputs, the call a binding, and derivatives are requests about that binding and
//! those inputs. Indices have explicit ranges, so that they may be used on axes of any name. A function that
//! gives a tuple is differentiated part by part; parts that are no floats have no derivative.

use einlang_syntax::Tree;
use einlang_syntax::ast::{AstNode, SourceFile, Statement};
use einlang_tir::host::HostType;

/// The binding that holds what the function gives.
pub(super) const RESULT: &str = "einlang_result";

/// A call of a function.
#[derive(Clone, Debug)]
pub struct Call {
    /// The function.
    pub function: String,
    /// The arguments that are given.
    pub arguments: Vec<Argument>,
    /// What is wanted.
    pub ask: Ask,
    /// The part of a tuple that derivatives and rows are about.
    pub of: Option<usize>,
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
    /// The same, contracted on the side of the result: after the arguments follow the cotangents of its
    /// parts that are floats, or its own.
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
    /// or one for each part of the result along all tangents together.
    pub(super) fn outputs(&self, result: Option<&HostType>) -> Vec<String> {
        let n = match self {
            Ask::Value => 0,
            Ask::Tangent(_) => match result {
                Some(HostType::Tuple(types)) => types.iter().filter(|ty| is_float(ty)).count(),
                _ => 1,
            },
            Ask::Derivatives(by) | Ask::Cotangent(by) | Ask::Rows(by, _) => by.len(),
        };
        let value = (!matches!(self, Ask::Rows(..))).then(|| RESULT.to_owned());
        let derivatives = (0..n).map(|at| format!("einlang_deriv_{at}"));
        value.into_iter().chain(derivatives).collect()
    }
}

fn is_float(ty: &HostType) -> bool {
    matches!(ty, HostType::Scalar(elem) | HostType::Tensor(elem, _) if elem.is_float())
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
        text += &format!("{} {ty};\n", declared(at));
        arguments.push(match name {
            Some(name) => format!("{name} = {}", argument(at)),
            None => argument(at),
        });
    }
    text += &format!("let {RESULT} = {}({});\n", call.function, arguments.join(", "));
    text += &derivatives(call, result)?;
    Ok(text)
}

/// The input of an argument.
pub(super) fn argument(at: usize) -> String {
    format!("einlang_arg_{at}")
}

/// What the declaration of that begins with.
pub(super) fn declared(at: usize) -> String {
    format!("input {}:", argument(at))
}

/// A part of the result, or all of it.
struct Part {
    name: String,
    elem: &'static str,
    axes: Axes,
}

impl Part {
    /// The result, or a part of it; before it is known, nothing but the name.
    fn new(at: Option<usize>, ty: Option<&HostType>) -> Option<Part> {
        let name = at.map_or(RESULT.to_owned(), |at| format!("einlang_part_{at}"));
        let (rank, elem) = match ty {
            None => (0, ""),
            Some(HostType::Scalar(elem)) => (0, elem.as_str()),
            Some(HostType::Tensor(elem, rank)) => (*rank, elem.as_str()),
            Some(_) => return None,
        };
        let axes = Axes::new(&name, 'a', rank);
        Some(Part { name, elem, axes })
    }

    /// The derivative by an argument at the indices of both.
    fn read(&self, at: usize, own: &Axes) -> String {
        format!("(@{} / @{}){}", self.name, argument(at), self.axes.and(own).subscripts())
    }
}

/// What derivatives are about, and the text that binds it.
fn parts(call: &Call, result: Option<&HostType>) -> Result<(Vec<Part>, String), String> {
    let no_tensor = || format!("`{}` gives no tensor", call.function);
    let (at, types): (Vec<Option<usize>>, Vec<Option<&HostType>>) = match (result, call.of) {
        (None, of) => (vec![of], vec![None]),
        (Some(HostType::Tuple(types)), Some(of)) => match types.get(of) {
            Some(ty) => (vec![Some(of)], vec![Some(ty)]),
            None => return Err(format!("`{}` gives {} values", call.function, types.len())),
        },
        (Some(HostType::Tuple(types)), None) => {
            let floats = types.iter().enumerate().filter(|(_, ty)| is_float(ty));
            floats.map(|(at, ty)| (Some(at), Some(ty))).unzip()
        }
        (Some(_), Some(_)) => return Err(format!("`{}` gives no tuple", call.function)),
        (ty, None) => (vec![None], vec![ty]),
    };
    let mut text = String::new();
    for at in at.iter().flatten() {
        text += &format!("let einlang_part_{at} = {RESULT}.{at};\n");
    }
    let parts = at.into_iter().zip(types).map(|(at, ty)| Part::new(at, ty));
    let parts: Option<Vec<Part>> = parts.collect();
    let parts = parts.filter(|parts| !parts.is_empty()).ok_or_else(no_tensor)?;
    Ok((parts, text))
}

fn derivatives(call: &Call, result: Option<&HostType>) -> Result<String, String> {
    if call.ask == Ask::Value {
        return Ok(String::new());
    }
    let (parts, mut text) = parts(call, result)?;
    let of_argument = |at: usize| {
        let ty = &call.arguments[at].ty;
        Axes::new(&argument(at), 'b', rank_of(ty))
    };
    match &call.ask {
        Ask::Value => {}
        Ask::Derivatives(by) => {
            for (n, at) in by.iter().enumerate() {
                let request = format!("@{} / @{}", parts[0].name, argument(*at));
                text += &format!("let einlang_deriv_{n} = {request};\n");
            }
        }
        Ask::Tangent(by) => {
            for (n, at) in by.iter().enumerate() {
                text += &format!("input einlang_tan_{n}: {};\n", call.arguments[*at].ty);
            }
            for (which, part) in parts.iter().enumerate() {
                let terms = by.iter().enumerate().map(|(n, at)| {
                    let own = of_argument(*at);
                    let term = part.read(*at, &own);
                    let tangent = format!("einlang_tan_{n}{}", own.subscripts());
                    match elem_of(&call.arguments[*at].ty) == part.elem {
                        true => own.sum(&format!("{term} * {tangent}")),
                        false => own.sum(&format!("{term} * ({tangent} as {})", part.elem)),
                    }
                });
                let sum = terms.collect::<Vec<_>>().join(" + ");
                text += &format!("let einlang_deriv_{which}{} = {sum};\n", part.axes.slots());
            }
        }
        Ask::Cotangent(by) => text += &cotangents(call, by, &parts, &of_argument),
        Ask::Rows(by, n_fixed) => {
            let rank = parts[0].axes.names.len();
            if *n_fixed > rank {
                return Err(format!("`{}` gives a tensor with {rank} axes", call.function));
            }
            let fixed: Vec<String> = (0..*n_fixed).map(|at| format!("einlang_row_{at}")).collect();
            for row in &fixed {
                text += &format!("input {row}: i32;\n");
            }
            for (n, at) in by.iter().enumerate() {
                let request = format!("@{} / @{}", parts[0].name, argument(*at));
                let rows = format!("({request})[{}]", fixed.join(", "));
                text += &format!("let einlang_deriv_{n} = {rows};\n");
            }
        }
    }
    Ok(text)
}

/// The contributions of all parts to the cotangent of each argument.
fn cotangents(
    call: &Call,
    by: &[usize],
    parts: &[Part],
    of_argument: &dyn Fn(usize) -> Axes,
) -> String {
    let mut text = String::new();
    for (which, part) in parts.iter().enumerate() {
        let ty = argument_type(part.elem, Some(part.axes.names.len()));
        text += &format!("input einlang_cot_{which}: {ty};\n");
    }
    let mixed = parts.iter().any(|part| part.elem != parts[0].elem);
    for (n, at) in by.iter().enumerate() {
        let own = of_argument(*at);
        let terms = parts.iter().enumerate().map(|(which, part)| {
            let cotangent = format!("einlang_cot_{which}{}", part.axes.subscripts());
            let sum = part.axes.sum(&format!("{cotangent} * {}", part.read(*at, &own)));
            match mixed {
                true => format!("({sum} as {})", elem_of(&call.arguments[*at].ty)),
                false => sum,
            }
        });
        let sum = terms.collect::<Vec<_>>().join(" + ");
        text += &format!("let einlang_deriv_{n}{} = {sum};\n", own.slots());
    }
    text
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

/// The element type of a type, by its text.
fn elem_of(ty: &str) -> &str {
    let inner = ty.trim().trim_start_matches('[');
    inner.split([';', ']']).next().unwrap_or(inner).trim()
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
