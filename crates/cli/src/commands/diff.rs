//! The difference that formatting makes, in the form that `patch` reads.

use anstyle::{AnsiColor, Style};
use similar::{ChangeTag, TextDiff};

use crate::message::painted;

/// Unchanged lines around a change.
const N_CONTEXT: usize = 3;

/// A unified diff of two texts that differ, under the name of the file.
pub(super) fn unified(name: &str, old: &str, new: &str, color: bool) -> String {
    let bold = Style::new().bold();
    let mut text = painted(color, bold, &format!("--- {name}")) + "\n";
    text += &(painted(color, bold, &format!("+++ {name}")) + "\n");
    let diff = TextDiff::from_lines(old, new);
    for hunk in diff.unified_diff().context_radius(N_CONTEXT).iter_hunks() {
        let header = hunk.header().to_string();
        text += &(painted(color, AnsiColor::Cyan.on_default(), &header) + "\n");
        for change in hunk.iter_changes() {
            text += &line(change.tag(), change.value(), color);
        }
    }
    text
}

fn line(tag: ChangeTag, value: &str, color: bool) -> String {
    let (sign, style) = match tag {
        ChangeTag::Equal => (' ', Style::new()),
        ChangeTag::Delete => ('-', AnsiColor::Red.on_default()),
        ChangeTag::Insert => ('+', AnsiColor::Green.on_default()),
    };
    match value.strip_suffix('\n') {
        Some(content) => painted(color, style, &format!("{sign}{content}")) + "\n",
        None => {
            let content = painted(color, style, &format!("{sign}{value}"));
            format!("{content}\n\\ No newline at end of file\n")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_shown_with_their_context() {
        let old = "a\nb\nc\nd\ne\nf\n";
        let new = "a\nb\nc\nD\ne\nf\n";
        let expected = "--- f.ein\n+++ f.ein\n@@ -1,6 +1,6 @@\n a\n b\n c\n-d\n+D\n e\n f\n";
        assert_eq!(unified("f.ein", old, new, false), expected);
    }

    #[test]
    fn a_missing_line_break_is_said() {
        let text = unified("f.ein", "a", "a\n", false);
        assert!(text.ends_with("-a\n\\ No newline at end of file\n+a\n"), "{text}");
    }

    #[test]
    fn colours_wrap_the_line_and_not_its_end() {
        let text = unified("f.ein", "a\n", "b\n", true);
        assert!(text.contains("\u{1b}[31m-a\u{1b}[0m\n\u{1b}[32m+b\u{1b}[0m\n"), "{text:?}");
    }
}
