//! Texts of messages as C: a format for `printf` and what it shows.

use einlang_tir::types::Elem;

use super::{kernel, scalar};

/// A text that is known but for numbers in it.
#[derive(Clone, Debug, Default)]
pub(super) struct Text {
    format: String,
    values: Vec<String>,
}

impl Text {
    pub(super) fn plain(text: &str) -> Text {
        Text { format: text.replace('%', "%%"), values: Vec::new() }
    }

    /// The text of a scalar as `print` shows it, or under a format.
    pub(super) fn number(expression: &str, elem: Elem, format: &str) -> Text {
        let value = scalar::widened(elem, expression);
        if let Some(format) = printf(format, elem) {
            let ty = if elem.is_float() { "double" } else { "long long" };
            return Text { format, values: vec![format!("({ty})({value})")] };
        }
        let (format, value) = match elem {
            Elem::Bool => ("%s", format!("({value}) ? \"true\" : \"false\"")),
            Elem::U8 | Elem::U16 | Elem::U32 | Elem::U64 => {
                ("%llu", format!("(unsigned long long)({value})"))
            }
            Elem::I8 | Elem::I16 | Elem::I32 | Elem::I64 => {
                ("%lld", format!("(long long)({value})"))
            }
            _ => {
                let kind = scalar::shortest(elem);
                ("%s", format!("shown((char[40]){{0}}, (double)({value}), {kind})"))
            }
        };
        Text { format: format.to_owned(), values: vec![value] }
    }

    /// Both, one after the other.
    pub(super) fn then(mut self, other: Text) -> Text {
        self.format += &other.format;
        self.values.extend(other.values);
        self
    }

    /// The statement that gives the text as the message and ends the function.
    pub(super) fn stop(&self) -> String {
        let format = kernel::quote(&self.format);
        let values: String = self.values.iter().map(|value| format!(", {value}")).collect();
        format!(
            "    {{ if (message && message_size) snprintf(message, message_size, {format}{values}); goto done; }}\n"
        )
    }
}

/// The format of C that means the same; none for the shortest text, and where there is no such format.
fn printf(format: &str, elem: Elem) -> Option<String> {
    let (body, kind) = match format.chars().last()? {
        kind @ ('f' | 'e' | 'g') if elem.is_float() => {
            (format.strip_suffix(kind)?, kind.to_string())
        }
        kind @ ('d' | 'x') => (format.strip_suffix(kind)?, format!("ll{kind}")),
        _ if !elem.is_float() => (format, "lld".to_owned()),
        _ => return None,
    };
    let (width, precision) = body.split_once('.').unwrap_or((body, "0"));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let usable = digits(width) && digits(precision) && width.len() < 5 && precision.len() < 5;
    let fits = elem != Elem::Bool && elem != Elem::U64 && (elem.is_float() || !body.contains('.'));
    (usable && fits).then(|| format!("%{body}{kind}"))
}
