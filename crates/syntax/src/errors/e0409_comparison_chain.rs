//! E0409: `a < b < c`.

use einlang_source::{Code, Diagnostic, Span};

/// A comparison whose left operand is a comparison of the same strength. `left`, `middle` and
/// `right` are the three operands, `operators` the two signs.
pub(crate) fn comparison_chain(
    [left, middle, right]: [&str; 3],
    operators: [&str; 2],
    [first, second]: [Span; 2],
    whole: Span,
) -> Diagnostic {
    let rewritten =
        format!("{left} {} {middle} && {middle} {} {right}", operators[0], operators[1]);
    let diagnostic = Diagnostic::error(
        Code::E0409,
        "comparisons cannot be chained",
        second,
        "a second comparison in a row",
    )
    .with_label(first, "the first comparison");
    // An operand that spans lines or computes much should not be written twice by a machine.
    if middle.len() <= 20 && !rewritten.contains('\n') {
        diagnostic.with_edit(format!("compare twice: `{rewritten}`"), whole, rewritten)
    } else {
        diagnostic.with_help("compare twice and join the results with `&&`")
    }
}
