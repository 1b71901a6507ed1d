//! Texts of messages as C: a format for `printf` and what it shows.

use einlang_tir::types::Elem;

use super::kernel;

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

    /// The text of a scalar; of types that C does not know, only that there is one.
    pub(super) fn number(expression: &str, elem: Elem) -> Text {
        let (format, value) = match elem {
            Elem::Bool => ("%s", format!("({expression}) ? \"true\" : \"false\"")),
            Elem::F32 | Elem::F64 => ("%g", format!("(double)({expression})")),
            Elem::U8 | Elem::U16 | Elem::U32 | Elem::U64 => {
                ("%llu", format!("(unsigned long long)({expression})"))
            }
            Elem::I8 | Elem::I16 | Elem::I32 | Elem::I64 => {
                ("%lld", format!("(long long)({expression})"))
            }
            Elem::F8E4M3 | Elem::F16 | Elem::BF16 => return Text::plain("…"),
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
