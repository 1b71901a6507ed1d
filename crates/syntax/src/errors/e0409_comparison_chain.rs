//! E0409: `a < b < c`.

use einlang_source::{Code, Diagnostic, Span};

/// Operands longer than this, or computed over several lines, should not be written twice by a
/// machine.
const MAX_OPERAND: usize = 20;

/// Comparisons of one strength in a row: all operands, the signs between them, the places of the
/// first two signs, and the whole.
pub(crate) fn comparison_chain(
    operands: &[&str],
    signs: &[&str],
    [first, second]: [Span; 2],
    whole: Span,
) -> Diagnostic {
    let diagnostic = Diagnostic::error(
        Code::E0409,
        "comparisons cannot be chained",
        second,
        "a second comparison in a row",
    )
    .with_label(first, "the first comparison");
    let short = |operand: &&str| operand.len() <= MAX_OPERAND && !operand.contains('\n');
    if operands.len() > 4 || !operands.iter().all(short) {
        return diagnostic.with_help("compare two at a time and join the results with `&&`");
    }
    let pairs = operands.windows(2).zip(signs);
    let pairs: Vec<String> =
        pairs.map(|(sides, sign)| format!("{} {sign} {}", sides[0], sides[1])).collect();
    let rewritten = pairs.join(" && ");
    diagnostic.with_edit(format!("compare two at a time: `{rewritten}`"), whole, rewritten)
}
