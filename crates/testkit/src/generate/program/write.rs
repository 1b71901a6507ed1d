//! Generated programs as text, with parentheses where binding strength asks for them.

use super::expr::{Body, Clause, Expr, Operator, Reduce, Reduction, Slot};
use super::facts::Value;

/// Binding strengths, as in the language reference.
const CAST: u8 = 9;
const POSTFIX: u8 = 10;

impl Operator {
    fn spelling(self) -> &'static str {
        match self {
            Operator::Or => "||",
            Operator::And => "&&",
            Operator::Equal => "==",
            Operator::NotEqual => "!=",
            Operator::Less => "<",
            Operator::LessEqual => "<=",
            Operator::Add => "+",
            Operator::Subtract => "-",
            Operator::Multiply => "*",
            Operator::Divide => "/",
            Operator::Remainder => "%",
            Operator::Power => "**",
        }
    }

    /// Its strength, and those that its operands need.
    fn strengths(self) -> (u8, u8, u8) {
        match self {
            Operator::Or => (1, 1, 2),
            Operator::And => (2, 2, 3),
            Operator::Equal | Operator::NotEqual => (3, 4, 4),
            Operator::Less | Operator::LessEqual => (4, 5, 5),
            Operator::Add | Operator::Subtract => (6, 6, 7),
            Operator::Multiply | Operator::Divide | Operator::Remainder => (7, 7, 8),
            Operator::Power => (8, CAST, 8),
        }
    }
}

/// The text of an expression.
pub(super) fn expression(expr: &Expr) -> String {
    write(expr, 0)
}

/// The text of an expression where operators must bind at least as tightly as `least`.
fn write(expr: &Expr, least: u8) -> String {
    let (text, strength) = match expr {
        // A negative literal is one token pair, but not before `**`.
        Expr::Literal(value) => {
            (literal(*value), if is_negative(*value) { CAST - 1 } else { POSTFIX })
        }
        Expr::Name(name) | Expr::Whole(name) => (name.clone(), POSTFIX),
        Expr::Read { name, subscripts, field } => {
            let field = field.map_or(String::new(), |field| format!(".{field}"));
            (format!("{name}{}{field}", brackets(subscripts, None)), POSTFIX)
        }
        Expr::ReadElse { name, subscripts, default } => {
            (format!("{name}{}", brackets(subscripts, Some(default))), POSTFIX)
        }
        Expr::Binary(operator, left, right) => {
            let (own, on_left, on_right) = operator.strengths();
            let (left, right) = (write(left, on_left), write(right, on_right));
            (format!("{left} {} {right}", operator.spelling()), own)
        }
        Expr::Cast(inner) => (format!("{} as f32", write(inner, CAST)), CAST),
        Expr::Call(function, arguments) => {
            let arguments: Vec<String> = arguments.iter().map(expression).collect();
            (format!("{function}({})", arguments.join(", ")), POSTFIX)
        }
        Expr::If(condition, yes, no) => {
            let parts = [condition, yes, no].map(|part| expression(part));
            (format!("if {} {{ {} }} else {{ {} }}", parts[0], parts[1], parts[2]), 0)
        }
        Expr::Reduce(reduction) => (reduce(reduction), POSTFIX),
    };
    if strength < least { format!("({text})") } else { text }
}

fn is_negative(value: Value) -> bool {
    matches!(value, Value::Int(n) if n < 0) || matches!(value, Value::Float(x) if x < 0.0)
}

fn literal(value: Value) -> String {
    match value {
        Value::Int(value) => value.to_string(),
        // `{:?}` always writes a point or an exponent.
        Value::Float(value) => format!("{value:?}"),
        Value::Bool(value) => value.to_string(),
    }
}

fn brackets(subscripts: &[Expr], default: Option<&Expr>) -> String {
    if subscripts.is_empty() {
        return String::new();
    }
    let subscripts: Vec<String> = subscripts.iter().map(expression).collect();
    let default = default.map_or(String::new(), |value| format!(" else {}", expression(value)));
    format!("[{}{default}]", subscripts.join(", "))
}

fn reduce(reduction: &Reduce) -> String {
    let by = match reduction.by {
        Reduction::Sum => "sum",
        Reduction::Prod => "prod",
        Reduction::Max => "max",
        Reduction::Min => "min",
        Reduction::All => "all",
        Reduction::Any => "any",
        Reduction::ArgMax => "argmax",
        Reduction::ArgMin => "argmin",
    };
    let guard = &reduction.guard;
    let guard = guard.as_ref().map_or(String::new(), |g| format!(" where {}", expression(g)));
    format!("{by}[{}]({}{guard})", slots(&reduction.indices), expression(&reduction.body))
}

fn slots(slots: &[Slot]) -> String {
    let slots: Vec<String> = slots.iter().map(slot).collect();
    slots.join(", ")
}

fn slot(slot: &Slot) -> String {
    match slot {
        Slot::Bare { name, .. } => name.to_string(),
        Slot::Point(at) => at.to_string(),
        Slot::Range { name, low, high, inclusive } => {
            let dots = if *inclusive { "..=" } else { ".." };
            // Bounds bind tighter than the range itself.
            format!("{name} in {}{dots}{}", write(low, 6), write(high, 6))
        }
    }
}

/// The text of one clause of a binding.
pub(super) fn clause(name: &str, clause: &Clause) -> String {
    let body = match &clause.body {
        Body::Scalar(expr) => expression(expr),
        Body::Record(ty, fields) => {
            let fields =
                fields.iter().map(|(name, value)| format!("{name}: {}", expression(value)));
            format!("{ty} {{ {} }}", fields.collect::<Vec<_>>().join(", "))
        }
    };
    let guard = clause.guard.as_ref().map_or(String::new(), |(condition, otherwise)| {
        let otherwise = otherwise.as_ref().map(|value| format!(" else {}", expression(value)));
        format!(" where {}{}", expression(condition), otherwise.unwrap_or_default())
    });
    let slots =
        if clause.slots.is_empty() { String::new() } else { format!("[{}]", slots(&clause.slots)) };
    format!("let {name}{slots} = {body}{guard};\n")
}
