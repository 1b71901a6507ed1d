//! Text made harmless for a terminal.
//!
//! Source text, file names and messages may hold anything, also the escape sequences that move a
//! cursor or retitle a window and the invisible marks that reorder a line. Invariant: what leaves
//! this module holds no control character but the line breaks and tabs it was asked to keep, and
//! each replaced character becomes exactly one, so that columns do not shift.

/// Source code: line breaks and tabs stay.
pub(super) fn source(text: &str) -> String {
    let mut rest = text.chars().peekable();
    let mut clean = String::with_capacity(text.len());
    while let Some(c) = rest.next() {
        let stays = matches!(c, '\n' | '\t') || (c == '\r' && rest.peek() == Some(&'\n'));
        clean.push(if stays { c } else { visible(c) });
    }
    clean
}

/// Words that must stay on one line: headlines, labels, file names.
pub(super) fn line(text: &str) -> String {
    text.chars().map(|c| if c == '\t' { ' ' } else { visible(c) }).collect()
}

/// Words that may run over several lines: notes and helps.
pub(super) fn block(text: &str) -> String {
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// JSON text in which every character that a terminal might obey is written as an escape. Such
/// characters occur only inside the strings of a JSON text, where both spellings mean the same.
pub(super) fn json(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for c in text.chars() {
        match visible(c) == c {
            true => clean.push(c),
            false => {
                clean.extend(c.encode_utf16(&mut [0; 2]).iter().map(|u| format!("\\u{u:04x}")))
            }
        }
    }
    clean
}

/// The character itself, or what is shown in its place.
fn visible(c: char) -> char {
    match c {
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}'),
        '\u{7f}' => '\u{2421}',
        '\u{80}'..='\u{9f}' => '\u{fffd}',
        _ if is_invisible(c) => '\u{fffd}',
        _ => c,
    }
}

/// Format characters that show nothing themselves but change or hide what stands around them. The
/// joiners U+200C and U+200D are not among them: scripts and emoji need them.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}')
        || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(c, '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_become_pictures() {
        assert_eq!(line("\u{1b}[31mred\u{7}"), "␛[31mred␇");
        assert_eq!(line("a\nb\tc\u{7f}\u{9b}2J"), "a␊b c␡\u{fffd}2J");
        assert_eq!(line("plain β 界 😀"), "plain β 界 😀");
    }

    #[test]
    fn reordering_marks_are_shown() {
        assert_eq!(line("a\u{202e}b\u{200b}c\u{2066}"), "a\u{fffd}b\u{fffd}c\u{fffd}");
        assert_eq!(line("👩\u{200d}🚀"), "👩\u{200d}🚀");
    }

    #[test]
    fn source_keeps_its_lines_and_tabs() {
        assert_eq!(source("a\r\n\tb\rc\n"), "a\r\n\tb␍c\n");
        assert_eq!(source("a\r"), "a␍");
    }

    #[test]
    fn blocks_keep_their_lines() {
        assert_eq!(block("one\r\ntwo\u{1b}"), "one\ntwo␛");
    }

    #[test]
    fn json_keeps_its_meaning() {
        let text = serde_json::json!("a\u{9b}\u{202e}\u{e0001}\u{1b}é").to_string();
        let clean = json(&text);
        assert_eq!(clean, r#""a\u009b\u202e\udb40\udc01\u001bé""#);
        let back: Option<String> = serde_json::from_str(&clean).ok();
        assert_eq!(back.as_deref(), Some("a\u{9b}\u{202e}\u{e0001}\u{1b}é"));
    }
}
