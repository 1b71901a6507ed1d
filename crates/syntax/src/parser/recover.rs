//! What happens when the text stops making sense: report once, then find the next place where
//! parsing can go on.
//!
//! Three rules keep one mistake from becoming many messages. Nothing is reported at a token that a
//! lexical error has already spoiled. After an error, nothing more is reported until
//! [`QUIET_TOKENS`] tokens were accepted or a new statement began. Tokens that fit nowhere are
//! passed over in whole bracket groups, up to a semicolon, a closing bracket of the construct
//! around, or a word that begins a statement at the start of a line.

use std::cell::Cell;

use einlang_source::{Diagnostic, Span};

use super::Parser;
use crate::errors::{self, Expected, Found, Previous};
use crate::kind::SyntaxKind::{self, *};

/// How many tokens must be accepted after an error before the next one is believed.
const QUIET_TOKENS: usize = 3;

/// How far recovery looks for the brace of a block: a head is short, and a long line of heads must
/// not be searched again and again.
const MAX_LOOKAHEAD: usize = 64;

#[derive(Debug, Default)]
pub(crate) struct Recovery {
    /// Errors before this position are not reported.
    quiet_until: usize,
    /// The position of the last error.
    last_error: Option<usize>,
    /// The nesting limit was reported; once is enough.
    too_deep: bool,
    /// Reported errors that may each have been a missing opening brace, and so explain one closing
    /// brace without a partner.
    explained_braces: u32,
}

/// A block whose closing brace was not reached yet.
#[derive(Debug)]
pub(super) struct OpenBlock {
    /// The position of its opening brace.
    opener: usize,
    /// The indentation of the line with the brace, once somebody asked for it.
    indentation: Cell<Option<usize>>,
}

impl OpenBlock {
    pub(super) fn new(opener: usize) -> OpenBlock {
        OpenBlock { opener, indentation: Cell::new(None) }
    }
}

impl Parser<'_> {
    /// Reports that something else was expected here.
    pub(super) fn error_expected(&mut self, expected: Expected) {
        let diagnostic = errors::unexpected_token(expected, &self.found(), None);
        self.report(diagnostic);
    }

    /// Reports that the bracket opened at `opener` is not closed here.
    pub(super) fn error_unclosed(&mut self, closer: SyntaxKind, opener: usize) {
        // Brackets that all end at one place are one mistake.
        if self.recovery.last_error == Some(self.pos) {
            return;
        }
        self.error_in_list(Expected::Token(closer), opener);
    }

    /// Reports that something else was expected inside the bracket opened at `opener`.
    pub(super) fn error_in_list(&mut self, expected: Expected, opener: usize) {
        let opened = Some(self.span_at(opener));
        let diagnostic = errors::unexpected_token(expected, &self.found(), opened);
        self.report(diagnostic);
        // One message for one pair of parentheses or brackets; braces hold independent parts.
        if let Some(closer) = self.brackets.partner(opener)
            && self.kinds[opener] != L_BRACE
        {
            self.recovery.quiet_until = self.recovery.quiet_until.max(closer);
        }
    }

    /// Reports a problem at the current token, unless it would be the echo of another one.
    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        if self.pos >= self.recovery.quiet_until && !self.spoiled() {
            self.errors.push(diagnostic);
            self.recovery.last_error = Some(self.pos);
            self.recovery.explained_braces += 1;
        }
        self.recovery.quiet_until = self.pos + QUIET_TOKENS;
    }

    /// Whether an earlier error explains the closing brace here, which then is no error of its own.
    fn brace_is_explained(&mut self) -> bool {
        let explained =
            self.at(R_BRACE) && !self.brackets.balanced && self.recovery.explained_braces > 0;
        if explained {
            self.recovery.explained_braces -= 1;
        }
        explained
    }

    /// The line before this one ended inside a string: whatever its brackets were, they are over.
    pub(super) fn line_was_cut(&self) -> bool {
        self.pos > 0 && self.on_new_line() && self.is_spoiled(self.span_at(self.pos - 1))
    }

    /// A new statement begins: earlier errors no longer silence anything.
    pub(super) fn believe_again(&mut self) {
        self.recovery.quiet_until = 0;
    }

    /// The current or previous token lies in something that was never terminated.
    fn spoiled(&self) -> bool {
        let errors = &self.tokens.errors;
        let to_the_end = errors.last().is_some_and(|error| error.end as usize == self.text.len());
        (self.at(EOF) && to_the_end)
            || self.is_spoiled(self.span_at(self.pos))
            || (self.pos > 0 && self.is_spoiled(self.span_at(self.pos - 1)))
    }

    /// The span lies in something that was never terminated.
    fn is_spoiled(&self, span: Span) -> bool {
        let errors = &self.tokens.errors;
        let after = errors.partition_point(|error| error.start <= span.start);
        after > 0 && span.end <= errors[after - 1].end
    }

    fn found(&self) -> Found<'_> {
        let previous = self
            .pos
            .checked_sub(1)
            .map(|pos| Previous { text: self.text_at(pos), span: self.span_at(pos) });
        Found {
            kind: self.current(),
            text: self.text_at(self.pos),
            span: self.span_at(self.pos),
            previous,
            on_new_line: self.on_new_line(),
        }
    }

    /// True when a line break precedes the current token.
    pub(super) fn on_new_line(&self) -> bool {
        self.begins_line(self.pos)
    }

    fn begins_line(&self, pos: usize) -> bool {
        let Some(&token) = self.significant.get(pos) else { return true };
        let before = match pos.checked_sub(1) {
            Some(previous) => self.significant[previous] as usize + 1,
            None => return true,
        };
        let between =
            self.tokens.starts[before] as usize..self.tokens.starts[token as usize] as usize;
        self.text[between].contains('\n')
    }

    /// Takes the expected token or reports that it is missing.
    pub(super) fn expect(&mut self, kind: SyntaxKind) -> bool {
        let here = self.eat(kind);
        if !here {
            self.error_expected(Expected::Token(kind));
        }
        here
    }

    /// Takes the semicolon that ends a statement, or finds the end of the statement without it.
    pub(super) fn expect_semicolon(&mut self) {
        if !self.eat(SEMI) {
            if self.at_unpaired_closer() && !self.at(R_BRACE) {
                self.unmatched_closer();
            } else if !self.at_unpaired_closer() {
                self.error_expected(Expected::Token(SEMI));
            }
            let next_statement = self.on_new_line() && self.at_statement_start();
            if !next_statement && !self.line_was_cut() {
                self.skip_statement();
            }
        }
        self.believe_again();
    }

    /// A closing bracket without a partner is the mistake itself, and is reported as such.
    fn at_unpaired_closer(&self) -> bool {
        self.current().is_closer() && self.brackets.partner(self.pos).is_none()
    }

    /// Reports a closing bracket that closes nothing, unless an earlier error explains it.
    pub(super) fn unmatched_closer(&mut self) {
        if self.brace_is_explained() {
            return;
        }
        let diagnostic = errors::unmatched_closer(self.text_at(self.pos), self.span_at(self.pos));
        let explained = self.recovery.explained_braces;
        self.report(diagnostic);
        self.recovery.explained_braces = explained;
    }

    /// Where a block must begin and its brace is not here: passes over what stands before a brace
    /// later on the line. When brackets do not balance, the brace itself is what is missing.
    pub(super) fn skip_to_block(&mut self) {
        let Some(brace) = self.brace_on_line().filter(|_| self.brackets.balanced) else { return };
        let marker = self.start();
        self.bump_to(brace);
        self.finish(marker, ERROR);
    }

    /// The next opening brace of the line, when it is near.
    fn brace_on_line(&self) -> Option<usize> {
        let mut pos = self.pos;
        for _ in 0..MAX_LOOKAHEAD {
            match *self.kinds.get(pos)? {
                L_BRACE => return Some(pos),
                SEMI | R_BRACE | EOF => return None,
                _ if pos > self.pos && self.begins_line(pos) => return None,
                _ => pos = self.brackets.partner(pos).map_or(pos, |partner| partner.max(pos)) + 1,
            }
        }
        None
    }

    /// Passes over the rest of a statement, its semicolon included.
    pub(super) fn skip_statement(&mut self) {
        let marker = self.start();
        let from = self.pos;
        while !self.at(EOF) && !self.at(R_BRACE) {
            if self.eat(SEMI) {
                break;
            }
            if self.pos > from && self.on_new_line() && self.at_item_start() {
                break;
            }
            self.bump_group();
        }
        if self.pos > from {
            self.finish(marker, ERROR);
        } else {
            self.abandon(marker);
        }
    }

    /// Takes one token, or a whole group when it opens one that is closed.
    fn bump_group(&mut self) {
        match self.brackets.partner(self.pos) {
            Some(partner) if partner > self.pos => self.bump_to(partner + 1),
            _ => self.bump(),
        }
    }

    pub(super) fn bump_to(&mut self, end: usize) {
        while self.pos < end && !self.at(EOF) {
            self.bump();
        }
    }

    /// Inside brackets that were opened at `opener`: passes over what fits nowhere, up to a comma
    /// or the closer. Returns false when the list must end here without its closer. Only a list of
    /// `arms` holds `=>`; in another one it shows that a pattern was not closed.
    pub(super) fn skip_in_list(&mut self, opener: usize, closer: SyntaxKind, arms: bool) -> bool {
        let end = self.brackets.partner(opener);
        let marker = self.start();
        let from = self.pos;
        while !self.at(EOF) && !self.at(closer) && !self.at(COMMA) {
            let stop = match end {
                Some(end) => self.pos >= end,
                None => {
                    matches!(self.current(), SEMI | L_BRACE | IN | EQ | WHERE)
                        || self.current().is_closer()
                        || self.at_item_start()
                }
            };
            if stop || (self.at(FAT_ARROW) && !arms) {
                break;
            }
            self.bump_group();
        }
        if self.pos > from {
            self.finish(marker, ERROR);
            self.recovery.quiet_until = self.pos + QUIET_TOKENS;
        } else {
            self.abandon(marker);
        }
        self.at(COMMA) || self.at(closer)
    }

    /// A token that begins an item, whatever came before.
    pub(super) fn at_item_start(&self) -> bool {
        match self.current() {
            LET | CONST | FN | PUB | USE | MOD | STRUCT | ENUM | FOR | HASH => true,
            INPUT => self.nth(1) == IDENT,
            AT => self.nth(1) == FN,
            _ => false,
        }
    }

    /// A token that can begin a statement, or the end of the statements.
    pub(super) fn at_statement_start_or_end(&self) -> bool {
        matches!(self.current(), EOF | R_BRACE) || self.at_statement_start()
    }

    /// A token that can begin a statement.
    pub(super) fn at_statement_start(&self) -> bool {
        self.at_item_start() || self.at_expression_start()
    }

    /// The innermost block ends here: at its brace, at the end of the file, or by its layout.
    pub(super) fn block_ends(&self) -> bool {
        matches!(self.current(), R_BRACE | EOF) || self.block_ended_by_layout()
    }

    /// In a file whose brackets do not balance: the innermost block has surely ended, because this
    /// line is indented less than the block's contents would be.
    pub(super) fn block_ended_by_layout(&self) -> bool {
        let Some(block) = &self.block else { return false };
        if self.brackets.balanced || !self.on_new_line() || self.at(EOF) {
            return false;
        }
        let head = block.indentation.get().unwrap_or_else(|| self.indentation(block.opener));
        block.indentation.set(Some(head));
        let here = self.indentation(self.pos);
        match self.current() {
            R_BRACE => here < head,
            _ => here <= head && self.at_item_start(),
        }
    }

    /// The current token is the first of its line and not indented.
    pub(super) fn column_is_zero(&self) -> bool {
        self.on_new_line() && self.indentation(self.pos) == 0
    }

    /// The indentation of the line that holds the token at `pos`.
    fn indentation(&self, pos: usize) -> usize {
        let start = self.span_at(pos).start as usize;
        let line = self.text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let text = &self.text[line..];
        text.len() - text.trim_start_matches([' ', '\t']).len()
    }

    /// Reports nesting beyond the limit, and passes over what is too deep.
    pub(super) fn too_deep(&mut self) {
        if !self.recovery.too_deep {
            self.recovery.too_deep = true;
            self.errors.push(errors::too_deep(self.span_at(self.pos)));
        }
        self.recovery.last_error = Some(self.pos);
        self.recovery.quiet_until = self.pos + QUIET_TOKENS;
        let marker = self.start();
        while !self.at(EOF) && !self.at(SEMI) && !self.current().is_closer() {
            self.bump_group();
        }
        self.recovery.quiet_until = self.pos + QUIET_TOKENS;
        self.recovery.last_error = Some(self.pos);
        self.finish(marker, ERROR);
    }
}
