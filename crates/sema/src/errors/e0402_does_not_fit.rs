//! E0402: a value that does not fit what is written for its place.

use einlang_source::{Code, Diagnostic, Span};

/// A value against the annotation of its binding or field.
pub(crate) fn wrong_annotation(
    wanted: &str,
    found: &str,
    span: Span,
    declared: Span,
) -> Diagnostic {
    expected(format!("the value is `{found}`, but `{wanted}` is declared"), wanted, found, span)
        .with_label(declared, format!("declared as `{wanted}`"))
}

/// The value of a function against its declared result.
pub(crate) fn wrong_result(wanted: &str, found: &str, span: Span, declared: Span) -> Diagnostic {
    expected(
        format!("the function returns `{wanted}`, but its value is `{found}`"),
        wanted,
        found,
        span,
    )
    .with_label(declared, format!("the result is declared as `{wanted}`"))
}

/// The value of a forward rule, which is not of the type of its function's result.
pub(crate) fn wrong_tangent(name: &str, wanted: &str, found: &str, span: Span) -> Diagnostic {
    let message = format!("`{name}` gives `{wanted}`, but its rule gives `{found}`");
    Diagnostic::error(Code::E0402, message, span, format!("this is `{found}`")).with_help(format!(
        "a rule gives the change of the result, a value of its type: here `{wanted}`"
    ))
}

/// The value of a reverse rule, which is not one cotangent per parameter.
pub(crate) fn wrong_cotangents(name: &str, wanted: &str, found: &str, span: Span) -> Diagnostic {
    let message =
        format!("the parameters of `{name}` are `{wanted}`, but its rule gives `{found}`");
    Diagnostic::error(Code::E0402, message, span, format!("this is `{found}`")).with_help(
        "a rule with `from` gives one value for each parameter, of its type; several as a tuple: \
         `(…, …)`",
    )
}

/// A recursive function whose branches give different types.
pub(crate) fn result_changes(known: &str, found: &str, span: Span) -> Diagnostic {
    Diagnostic::error(
        Code::E0402,
        format!("the value is `{found}` here, but the recursive calls were taken for `{known}`"),
        span,
        format!("this is `{found}`"),
    )
    .with_help("declare the result after the parameters: `-> …`")
}

/// `"{2.5:d}"`
pub(crate) fn wrong_format(letter: char, wanted: &str, found: &str, span: Span) -> Diagnostic {
    Diagnostic::error(
        Code::E0402,
        format!("the format `{letter}` is for {wanted}, but this is `{found}`"),
        span,
        format!("this is `{found}`"),
    )
    .with_help("`s` and no letter at all are for any value; a float becomes an integer by `as i64`")
}

/// `load_npy("names.npy") as [str; N]`
pub(crate) fn loads_numbers(function: &str, found: &str, span: Span) -> Diagnostic {
    Diagnostic::error(
        Code::E0402,
        format!("`{function}` gives numbers, but this is to be `{found}`"),
        span,
        "numbers are loaded here",
    )
    .with_help("`read_text` of `std::io` gives the text of a file")
}

/// An argument against its parameter.
pub(crate) fn wrong_argument(
    wanted: &str,
    found: &str,
    span: Span,
    declared: Option<Span>,
) -> Diagnostic {
    let message = format!("the parameter is `{wanted}`, but the argument is `{found}`");
    let diagnostic = expected(message, wanted, found, span);
    match declared {
        Some(declared) => diagnostic.with_label(declared, format!("the parameter is `{wanted}`")),
        None => diagnostic,
    }
}

/// `x with [i] = e`
pub(crate) fn wrong_update(wanted: &str, found: &str, span: Span, base: Span) -> Diagnostic {
    expected(
        format!("the replaced part is `{wanted}`, but the new value is `{found}`"),
        wanted,
        found,
        span,
    )
    .with_label(base, "what is updated")
}

/// A literal that its type cannot hold.
pub(crate) fn literal_too_large(value: i128, ty: &str, span: Span) -> Diagnostic {
    let wider = if ty == "i32" { "annotate it as `i64`" } else { "use a wider type" };
    Diagnostic::error(
        Code::E0402,
        format!("`{value}` does not fit `{ty}`"),
        span,
        format!("taken as `{ty}`"),
    )
    .with_help(format!("{wider}, or convert a smaller number with `as`"))
}

/// A function for numbers.
pub(crate) fn needs_number(name: &str, ty: &str, span: Span) -> Diagnostic {
    Diagnostic::error(
        Code::E0402,
        format!("`{name}` needs numbers, not `{ty}`"),
        span,
        format!("this is `{ty}`"),
    )
    .with_help(format!("pass numbers to `{name}`"))
}

/// A function for floats.
pub(crate) fn needs_float(name: &str, ty: &str, span: Span) -> Diagnostic {
    Diagnostic::error(
        Code::E0402,
        format!("`{name}` needs a float such as `f32`, not `{ty}`"),
        span,
        format!("this is `{ty}`"),
    )
    .with_help("convert the argument with `as f32`")
}

/// A function for arrays.
pub(crate) fn needs_array(name: &str, ty: &str, span: Span) -> Diagnostic {
    Diagnostic::error(
        Code::E0402,
        format!("`{name}` needs an array, not `{ty}`"),
        span,
        format!("this is `{ty}`"),
    )
    .with_help(format!("pass a tensor or a list to `{name}`"))
}

/// A place for integers.
pub(crate) fn needs_integer(what: &str, ty: &str, span: Span) -> Diagnostic {
    Diagnostic::error(
        Code::E0402,
        format!("{what} is an integer, not `{ty}`"),
        span,
        format!("this is `{ty}`"),
    )
    .with_help("convert with `as i32`, which drops the fraction of a float")
}

/// Something that cannot be iterated over.
pub(crate) fn not_iterable(ty: &str, span: Span) -> Diagnostic {
    Diagnostic::error(
        Code::E0402,
        format!("`{ty}` cannot be iterated over"),
        span,
        format!("this is `{ty}`"),
    )
    .with_help("iterate over a range `0..n` or an array")
}

/// The end of a range that is no integer.
pub(crate) fn range_not_integer(ty: &str, span: Span) -> Diagnostic {
    needs_integer("the end of a range", ty, span)
}

/// A subscript that is no integer.
pub(crate) fn subscript_not_integer(ty: &str, span: Span) -> Diagnostic {
    needs_integer("a subscript", ty, span)
}

/// `k in xs` for an index.
pub(crate) fn index_not_in_range(ty: &str, span: Span) -> Diagnostic {
    Diagnostic::error(
        Code::E0402,
        format!("an index runs over a range, not over `{ty}`"),
        span,
        format!("this is `{ty}`"),
    )
    .with_help("write a range such as `0..n`, and read the array at the index")
}

/// A pattern for another type.
pub(crate) fn wrong_pattern(what: &str, ty: &str, span: Span) -> Diagnostic {
    Diagnostic::error(
        Code::E0402,
        format!("the pattern is for {what}, but the value is `{ty}`"),
        span,
        format!("the value is `{ty}`"),
    )
    .with_help(format!("write a pattern for `{ty}`, or `_`"))
}

/// `let (a, b)[i] = e` with a body that is no such tuple.
pub(crate) fn body_not_tuple(n_targets: usize, ty: &str, span: Span) -> Diagnostic {
    Diagnostic::error(
        Code::E0402,
        format!("{n_targets} bindings need a tuple of {n_targets}, but the body is `{ty}`"),
        span,
        format!("this is `{ty}`"),
    )
    .with_help("make the body a tuple with one value per binding")
}

/// `x ?> f` on something else than an `Option`.
pub(crate) fn pipe_needs(op: &str, wanted: &str, ty: &str, span: Span) -> Diagnostic {
    let help = match op {
        "?>" | "!>" => "use `|>` for plain values",
        _ => "only values that may be missing need this",
    };
    Diagnostic::error(
        Code::E0402,
        format!("`{op}` works on `{wanted}`, not on `{ty}`"),
        span,
        format!("this is `{ty}`"),
    )
    .with_help(help)
}

fn expected(message: String, wanted: &str, found: &str, span: Span) -> Diagnostic {
    let numbers = |ty: &str| {
        crate::hir::Scalar::parse(ty).is_some_and(|s| !matches!(s.as_str(), "str" | "bool"))
    };
    let help = if numbers(wanted) && (numbers(found) || found == "bool") {
        format!("convert explicitly: `… as {wanted}`")
    } else if wanted == "str" {
        "make a string by interpolation: `\"{x}\"`".to_string()
    } else {
        format!("give a value of type `{wanted}`, or change what is declared")
    };
    Diagnostic::error(Code::E0402, message, span, format!("this is `{found}`")).with_help(help)
}

/// A differential where only a value can be.
pub(crate) fn differential_as_value(how: &str, span: Span) -> Diagnostic {
    let message = format!("a differential cannot be {how}");
    Diagnostic::error(Code::E0402, message, span, "this is a differential, not a value").with_help(
        "divide it by another one first: `@y / @x` is a value, and can be used like any other",
    )
}

/// A value whose type nothing tells: `[]` and `None` have one only where something says it.
pub(crate) fn undecided_type(span: Span) -> Diagnostic {
    let message = "nothing says what type this value has";
    Diagnostic::error(Code::E0402, message, span, "its type is not decided").with_help(
        "annotate the binding, as in `let xs: [f32; 0] = [];` or `let o: Option<i32> = None;`",
    )
}

/// A loaded value whose type nothing tells.
pub(crate) fn untyped_load(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error(
        Code::E0402,
        format!("nothing says what type `{name}` loads"),
        span,
        "a file of any element type and rank fits here",
    )
    .with_help(format!("say what it holds: `{name}(…) as [f32; M, N]`"))
}

/// A call of Python whose result has no type.
pub(crate) fn untyped_python(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error(
        Code::E0402,
        format!("nothing says what type `{name}` gives"),
        span,
        "a function of Python may give anything",
    )
    .with_help("say what it gives: `f(…) as [f64; N]`, or annotate the binding")
}

/// The list of extents that makes a tensor, when its length is not known.
pub(crate) fn unknown_rank(function: &str, span: Span, declared: Span) -> Diagnostic {
    Diagnostic::error(
        Code::E0402,
        format!("`{function}` cannot tell how many axes its result has"),
        span,
        "the length of this list is known only at run time",
    )
    .with_label(declared, "as many axes as this list is long")
    .with_help("write the extents here: `[rows, columns]`, or `shape(x)`")
}

/// An extent that is known to differ from what a type says.
pub(crate) fn extent_differs(
    what: &str,
    axis: usize,
    found: &str,
    wanted: &str,
    span: Span,
    place: Span,
) -> Diagnostic {
    Diagnostic::error(
        Code::E0402,
        format!("axis {axis} of {what} has extent {found}, but the type says {wanted}"),
        span,
        format!("extent {found}"),
    )
    .with_label(place, format!("extent {wanted} expected"))
    .with_help(format!(
        "write `{found}` for this axis in the type, `?` for any extent, or give a value of extent {wanted}"
    ))
}

/// What a rule gives has another extent than what it is the change of.
pub(crate) fn rule_extent(
    name: &str,
    axis: usize,
    found: &str,
    wanted: (&str, &str),
    span: Span,
) -> Diagnostic {
    let (of, wanted) = wanted;
    Diagnostic::error(
        Code::E0402,
        format!(
            "axis {axis} of what the rule of `{name}` gives has extent {found}, but that of {of} is \
             {wanted}"
        ),
        span,
        format!("extent {found}"),
    )
    .with_help(format!("a rule gives a value with the shape of {of}"))
}

/// Arguments with which an extent in the function is known to differ from what its type says.
pub(crate) fn argument_extent(a: (&str, &str), wanted: (&str, Span), call: Span) -> Diagnostic {
    Diagnostic::error(
        Code::E0402,
        format!("in this call {} has extent {}, but its type says {}", a.0, a.1, wanted.0),
        call,
        format!("extent {} with these arguments", a.1),
    )
    .with_label(wanted.1, format!("this is {} in this call", wanted.0))
    .with_help("pass arguments for which both are equal, or change what the function declares")
}
