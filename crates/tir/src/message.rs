//! What is reported when a program stops: text, with scalars shown in it.
//!
//! The scalars are operands like any other, so whatever renames or replaces operands sees them.

use crate::region::Arg;

/// A message: at least one piece.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Message(pub Vec<MessagePart>);

/// A piece of a message.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum MessagePart {
    /// Text.
    Text(String),
    /// A scalar with its format, empty for the default.
    Value(Arg, String),
}

impl Message {
    /// The scalars that are shown.
    pub fn args(&self) -> impl Iterator<Item = &Arg> {
        self.0.iter().filter_map(|part| match part {
            MessagePart::Text(_) => None,
            MessagePart::Value(arg, _) => Some(arg),
        })
    }

    /// The scalars that are shown, to be changed.
    pub fn args_mut(&mut self) -> impl Iterator<Item = &mut Arg> {
        self.0.iter_mut().filter_map(|part| match part {
            MessagePart::Text(_) => None,
            MessagePart::Value(arg, _) => Some(arg),
        })
    }

    /// The message with a mark in place of each scalar.
    pub fn without_values(&self) -> String {
        let parts = self.0.iter().map(|part| match part {
            MessagePart::Text(text) => text.as_str(),
            MessagePart::Value(..) => "…",
        });
        parts.collect()
    }

    /// The message with one more piece of text.
    #[must_use]
    pub fn text(mut self, text: impl Into<String>) -> Message {
        self.0.push(MessagePart::Text(text.into()));
        self
    }

    /// The message with one more scalar.
    #[must_use]
    pub fn value(mut self, arg: Arg) -> Message {
        self.0.push(MessagePart::Value(arg, String::new()));
        self
    }
}

impl From<String> for Message {
    fn from(text: String) -> Message {
        Message(vec![MessagePart::Text(text)])
    }
}

impl From<&str> for Message {
    fn from(text: &str) -> Message {
        Message::from(text.to_owned())
    }
}
