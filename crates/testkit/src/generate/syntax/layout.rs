//! Tokens, and what stands between them.

use super::{Grammar, Layout};

const LINE_COMMENTS: &[&str] =
    &["// note", "//", "//// rule", "// ünïcode “quotes” ( [ {", "//! inner \"text", "//\tfn let"];

const BLOCK_COMMENTS: &[&str] =
    &["/* b */", "/**/", "/* a /* nested */ c */", "/* } ) ] \" */", "/***/", "/* α */"];

const DOC_COMMENTS: &[&str] = &["/// What it is.", "///", "/// `code` and – dashes –", "/// {x}"];

/// Pairs of characters that would join two tokens into another one, or begin a comment.
const JOINING: &[&str] = &[
    "::", "..", ".=", "==", "!=", "<=", ">=", "**", "||", "|>", "?>", "!>", "=>", "->", "//", "/*",
    "&&",
];

/// What [`Grammar::last`] holds after the brace that begins an interpolation.
pub(super) const INTERPOLATION: &str = "\"{";

impl Grammar<'_, '_> {
    /// Writes a token after a gap of some kind.
    pub(super) fn token(&mut self, token: &str) {
        let separate = must_separate(&self.last, token);
        let touching = std::mem::take(&mut self.touching);
        if !touching {
            match self.options.layout {
                Layout::Plain => self.plain_gap(token, separate),
                Layout::Wild => self.wild_gap(token, separate),
            }
        } else if separate {
            self.text.push(' ');
        }
        self.text.push_str(token);
        self.last.clear();
        self.last.push_str(token);
    }

    /// Several tokens in a row.
    pub(super) fn tokens(&mut self, tokens: &[&str]) {
        for token in tokens {
            self.token(token);
        }
    }

    /// Writes a token with nothing before it.
    pub(super) fn touching_token(&mut self, token: &str) {
        self.text.push_str(token);
        self.last.clear();
        self.last.push_str(token);
        self.touching = false;
    }

    /// The next token stands right after the last one.
    pub(super) fn touch_next(&mut self) {
        self.touching = true;
    }

    /// A line break after a statement, where a person would put one.
    pub(super) fn end_line(&mut self) {
        if self.in_strings == 0 {
            self.text.push('\n');
        }
    }

    /// Doc comments, which need the line to themselves.
    pub(super) fn docs(&mut self) {
        if self.in_strings > 0 || !self.source.one_in(8) {
            return;
        }
        for _ in 0..=self.source.below(2) {
            let comment = self.source.pick(DOC_COMMENTS);
            self.text.push('\n');
            self.text.push_str(comment);
            self.text.push('\n');
        }
    }

    fn plain_gap(&mut self, token: &str, separate: bool) {
        let tight_after = ["(", "[", "!", "@", ".", "#", "::", ""].contains(&self.last.as_str());
        let tight_before = [")", "]", ",", ";", ".", "(", "[", "::"].contains(&token);
        if separate || !(tight_after || tight_before || self.text.ends_with('\n')) {
            self.text.push(' ');
        }
    }

    fn wild_gap(&mut self, token: &str, separate: bool) {
        match self.source.below(20) {
            0..=11 => self.plain_gap(token, separate),
            12 | 13 if !separate => {}
            14 if self.in_strings == 0 => self.text.push('\n'),
            15 if self.in_strings == 0 => self.text.push_str("\r\n\t"),
            16 if self.in_strings == 0 => {
                let comment = self.source.pick(LINE_COMMENTS);
                self.text.push(' ');
                self.text.push_str(comment);
                self.text.push('\n');
            }
            17 if self.in_strings == 0 => self.text.push_str(" /* two\n   lines */ "),
            18 => {
                let comment = self.source.pick(BLOCK_COMMENTS);
                // A slash before the comment would be part of it.
                self.text.push(' ');
                self.text.push_str(comment);
            }
            19 => self.text.push_str("\t  \u{a0}"),
            _ => self.text.push(' '),
        }
    }
}

/// Whether two tokens would become something else if they touched.
fn must_separate(last: &str, token: &str) -> bool {
    let (Some(before), Some(after)) = (last.chars().last(), token.chars().next()) else {
        return false;
    };
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    // `2.` takes in whatever could go on with it.
    let open_number = before == '.' && last.starts_with(|c: char| c.is_ascii_digit());
    // `{{` in a string is a brace and no interpolation.
    let doubled = last == INTERPOLATION && after == '{';
    let pair: String = [before, after].iter().collect();
    let joins = JOINING.contains(&pair.as_str());
    (is_word(before) && is_word(after)) || open_number || doubled || joins
}

#[cfg(test)]
mod tests {
    use super::*;
    use einlang_syntax::SyntaxKind;
    use einlang_syntax::lexer::lex;

    #[test]
    fn separation_agrees_with_the_lexer() {
        let words = ["x", "α", "42", "1.5", "_", "_y"];
        let fixed = SyntaxKind::ALL.iter().filter_map(|kind| kind.fixed_text());
        let all: Vec<&str> = fixed.chain(words).collect();
        for first in &all {
            for second in &all {
                // A number before a dot gets parentheses, and one after it has no fraction.
                let number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
                let field = (*second == "." && number(first)) || (*first == "." && number(second));
                if field || must_separate(first, second) {
                    continue;
                }
                let tokens = lex(&format!("{first}{second}"));
                assert_eq!(tokens.starts.get(1), Some(&(first.len() as u32)), "{first} {second}");
                assert_eq!(tokens.len(), 2, "{first} {second}");
            }
        }
    }
}
