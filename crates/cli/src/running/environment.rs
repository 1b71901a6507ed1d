//! What variables of the environment say where an option of the command line is not given.

use std::env;

use crate::exit::Stop;
use crate::message::Message;

/// What a variable says, read as the option with the same meaning is; nothing if it is absent or empty. A value
/// that makes no sense is no reason to do something else than was asked for.
pub(crate) fn setting<T>(
    name: &str,
    read: impl FnOnce(&str) -> Result<T, String>,
) -> Result<Option<T>, Stop> {
    let Some(text) = env::var_os(name).filter(|text| !text.is_empty()) else { return Ok(None) };
    let text = text.to_string_lossy();
    read(&text).map(Some).map_err(|why| {
        let message = format!("invalid value `{text}` of the variable `{name}`: {why}");
        Stop::Usage(
            Message::error(message).with_help(format!("set `{name}` otherwise, or not at all")),
        )
    })
}
