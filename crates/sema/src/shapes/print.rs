//! The shapes of a program as text, for `einlang check --shapes` and `einlang ir --after shapes`:
//! one line per name with its place, indices indented under the binding that they serve.

use einlang_source::map::HashMap;

use einlang_source::{FileId, Sources, Span};

use super::reveal::Reveal;
use crate::hir::*;

/// Where a line stands: the file, what it belongs to, whether it is below that, and its own place.
type Key = (FileId, u32, bool, u32);

/// Prints what was found. Clauses of one binding are gathered where its first one stands.
pub fn print(reveals: &[Reveal], program: &Program, sources: &Sources) -> String {
    let mut heads = HashMap::default();
    for reveal in reveals {
        heads.entry(reveal.body).or_insert_with(|| Heads::of(&program.bodies[reveal.body]));
    }
    let mut lines: Vec<(Key, Span, String)> = Vec::new();
    for reveal in reveals {
        let start = reveal.span.start;
        if !is_below(reveal.kind) {
            let text = format!("{}: {}", reveal.name, reveal.text);
            lines.push((key(reveal.span, start, false), reveal.span, text));
            continue;
        }
        let head = heads[&reveal.body].around(reveal.span);
        if let Head::Expression(span) = head {
            lines.push((key(span, span.start, false), span, "(expression)".to_owned()));
        }
        let text = format!("  {}", below(reveal));
        lines.push((key(reveal.span, head.place(), true), reveal.span, text));
    }
    lines.sort();
    lines.dedup();
    aligned(&lines, sources)
}

fn key(span: Span, head: u32, below: bool) -> Key {
    (span.file, head, below, span.start)
}

fn is_below(kind: LocalKind) -> bool {
    !matches!(kind, LocalKind::Let | LocalKind::Indexed | LocalKind::Param)
}

fn below(reveal: &Reveal) -> String {
    let Reveal { name, text, .. } = reveal;
    match reveal.kind {
        LocalKind::Index => format!("{name} in {text}"),
        LocalKind::Rest if text.is_empty() => format!("..{name}: no axes"),
        LocalKind::Rest => format!("..{name} in {text}"),
        _ => format!("{name}: {text}"),
    }
}

fn aligned(lines: &[(Key, Span, String)], sources: &Sources) -> String {
    let place = |span: Span| format!("{}:{}", sources.name(span.file), sources.line_col(span).line);
    let places: Vec<String> = lines.iter().map(|(_, span, _)| place(*span)).collect();
    let width = places.iter().map(|place| place.chars().count()).max().unwrap_or(0);
    let shown = places.iter().zip(lines);
    shown.map(|(place, (_, _, text))| format!("{place:width$}  {text}\n")).collect()
}

/// What an index belongs to.
#[derive(Clone, Copy)]
enum Head {
    /// A binding; the place after its name.
    Binding(u32),
    /// An expression that is bound to no name.
    Expression(Span),
}

impl Head {
    fn place(self) -> u32 {
        match self {
            Head::Binding(place) => place,
            Head::Expression(span) => span.start,
        }
    }
}

/// The statements of a body, outer ones first where they begin together.
struct Heads {
    statements: Vec<(Span, Head)>,
    /// For each statement the innermost one around it.
    around: Vec<Option<usize>>,
}

impl Heads {
    fn of(body: &Body) -> Heads {
        let mut statements = Vec::new();
        let expression = |expr: ExprId| (body.span(expr), Head::Expression(body.span(expr)));
        for (expr, _) in body.exprs.iter() {
            let ExprKind::Block(block) = body.kind(expr) else { continue };
            for statement in &block.statements {
                statements.push(match statement {
                    Statement::Let { pattern, value, .. } => {
                        let (start, end) = (pattern.span, body.span(*value).end);
                        (Span { end, ..start }, Head::Binding(start.end))
                    }
                    Statement::Clause(clause) => {
                        let names = clause.targets.iter().map(|target| body[*target].name.span);
                        let last = names.map(|span| span.start).max();
                        (clause.span, Head::Binding(last.unwrap_or(clause.span.start)))
                    }
                    Statement::For { iterable, .. } => expression(*iterable),
                    Statement::Expr(expr) => expression(*expr),
                });
            }
            // What the body yields; the value of an inner block belongs to whatever is around.
            statements.extend(block.value.filter(|_| body.value == Some(expr)).map(expression));
        }
        statements.sort_by_key(|(span, _)| (span.start, std::cmp::Reverse(span.end)));
        let mut open: Vec<usize> = Vec::new();
        let mut around = Vec::with_capacity(statements.len());
        for (number, (span, _)) in statements.iter().enumerate() {
            while open.last().is_some_and(|outer| statements[*outer].0.end <= span.start) {
                open.pop();
            }
            around.push(open.last().copied());
            open.push(number);
        }
        Heads { statements, around }
    }

    /// The innermost statement around a place.
    fn around(&self, place: Span) -> Head {
        let after = self.statements.partition_point(|(span, _)| span.start <= place.start);
        let mut at = after.checked_sub(1);
        while let Some(number) = at {
            let (span, head) = self.statements[number];
            if span.end >= place.end {
                return head;
            }
            at = self.around[number];
        }
        Head::Expression(place)
    }
}
