//! E0903: something is at the path, but it is not a source text.

use einlang_source::{Code, Diagnostic, FileId, Sources, Span};

use crate::session::MAX_SOURCE_BYTES;

/// How many bytes after the first bad one are shown; more would only be more garbage.
const N_SHOWN_AFTER: usize = 80;

/// A directory where a file was expected.
pub(super) fn directory(name: &str, file: FileId) -> Diagnostic {
    let message = format!("`{name}` is a directory, not a file");
    Diagnostic::error(Code::E0903, message, Span::at(file, 0), "")
        .with_help("name one of the `.ein` files in it")
}

/// A file beyond the limit.
pub(super) fn too_large(name: &str, file: FileId) -> Diagnostic {
    let limit = MAX_SOURCE_BYTES >> 20;
    let message = format!("`{name}` is larger than {limit} MiB");
    Diagnostic::error(Code::E0903, message, Span::at(file, 0), "").with_help(
        "split the program into modules, and load large data from a file of its own \
         with `std::io`",
    )
}

/// Bytes that are not UTF-8 from `offset` on. The text up to the end of that line joins the
/// sources, so that the message can show where.
pub(crate) fn not_utf8(
    sources: &mut Sources,
    name: &str,
    bytes: &[u8],
    offset: usize,
) -> Diagnostic {
    let file = sources.add(name, shown(bytes, offset));
    let start = u32::try_from(offset).expect("invariant: larger files are refused before");
    let n_replacement = char::REPLACEMENT_CHARACTER.len_utf8() as u32;
    let place = Span::new(file, start, start + n_replacement);
    let line = sources.line_col(place).line;
    let byte = bytes.get(offset).copied().unwrap_or(0);
    let message = format!("`{name}` is not UTF-8 text: byte {offset}, on line {line}, is invalid");
    let label = format!("0x{byte:02X} does not begin or continue a character here");
    Diagnostic::error(Code::E0903, message, place, label).with_help(advice(bytes))
}

/// The text before the bad byte, and what follows it on its line with each bad sequence replaced.
fn shown(bytes: &[u8], offset: usize) -> String {
    let (before, after) = bytes.split_at(offset);
    let mut text = String::from_utf8_lossy(before).into_owned();
    let after = after.split(|byte| *byte == b'\n').next().unwrap_or_default();
    text.push_str(&String::from_utf8_lossy(&after[..after.len().min(N_SHOWN_AFTER)]));
    text
}

/// The most likely reason, judged by the first bytes as editors do.
fn advice(bytes: &[u8]) -> &'static str {
    let head = &bytes[..bytes.len().min(1024)];
    if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") {
        return "this is UTF-16, as some Windows programs write it: save the file as UTF-8";
    }
    if head.contains(&0) {
        return "this looks like a binary file: name a source text, or load data with `std::io`";
    }
    "save the file as UTF-8, which editors offer under “encoding”"
}

#[cfg(test)]
mod tests {
    use einlang_source::MemoryWorld;

    use super::*;
    use crate::Session;

    fn rejected(bytes: &[u8]) -> (Diagnostic, u32, u32) {
        let world = MemoryWorld::new();
        let mut session = Session::new(&world);
        let errors = session.add_bytes("f.ein", bytes.to_vec()).expect_err("not a text");
        let diagnostic = errors.into_vec().remove(0);
        let at = session.sources().line_col(diagnostic.primary.span);
        (diagnostic, at.line, at.col)
    }

    #[test]
    fn the_bad_byte_is_shown_where_it_stands() {
        let (diagnostic, line, col) = rejected(b"let a = 1;\nlet s = \"caf\xe9\";\n");
        let expected = "`f.ein` is not UTF-8 text: byte 23, on line 2, is invalid";
        assert_eq!(diagnostic.message, expected);
        assert_eq!((line, col), (2, 13));
        assert!(diagnostic.primary.text.starts_with("0xE9"));
    }

    #[test]
    fn a_character_cut_off_at_the_end_is_found() {
        assert_eq!(rejected(b"x\xe2\x82").1, 1);
    }

    #[test]
    fn the_help_knows_usual_causes() {
        assert!(rejected(b"\xff\xfel\0e\0").0.helps[0].text.contains("UTF-16"));
        assert!(rejected(b"\x93NUMPY\x01\0").0.helps[0].text.contains("binary"));
        assert!(rejected(b"caf\xe9").0.helps[0].text.contains("encoding"));
    }

    #[test]
    fn large_files_and_directories_are_named() {
        let file = Sources::new().add("x", "");
        let message = |make: fn(&str, FileId) -> Diagnostic| make("x", file).message;
        assert_eq!(message(too_large), "`x` is larger than 256 MiB");
        assert_eq!(message(directory), "`x` is a directory, not a file");
    }
}
