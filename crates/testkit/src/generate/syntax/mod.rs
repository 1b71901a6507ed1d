//! Any well-formed text: every form of sections 1 to 10 of the language reference, with arbitrary
//! names. The text parses without a diagnostic and means nothing.
//!
//! The generator writes tokens directly, by a grammar of its own that was written from the
//! reference and not from the parser, so that the two check each other. Where an operand binds too
//! loosely for its place it gets parentheses, and only there: `place` decides.

mod access;
mod expressions;
mod items;
mod layout;
mod names;
mod patterns;
mod place;
mod primary;
mod statements;
mod strings;
mod types;

use place::{Context, Place};

use super::{Size, Source};

/// What stands between the tokens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Layout {
    /// A space where one belongs. Draws nothing, so it does not influence what is made.
    Plain,
    /// Any white space and any comment, wherever the language allows them.
    Wild,
}

/// Where operands stand in parentheses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Parentheses {
    /// Where the text would mean something else without them.
    Needed,
    /// Around every operand. Draws nothing, so the same choices give the same program.
    Everywhere,
}

/// What to make and how to write it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// How much.
    pub size: Size,
    /// What stands between the tokens.
    pub layout: Layout,
    /// Where operands stand in parentheses.
    pub parentheses: Parentheses,
}

impl Options {
    /// Wild layout, and parentheses where they are needed.
    pub fn wild(size: Size) -> Options {
        Options { size, layout: Layout::Wild, parentheses: Parentheses::Needed }
    }

    /// Plain layout, and the parentheses asked for.
    pub fn plain(size: Size, parentheses: Parentheses) -> Options {
        Options { size, layout: Layout::Plain, parentheses }
    }
}

/// A whole file, laid out wildly.
pub fn file(source: &mut Source<'_>, size: Size) -> String {
    file_with(source, Options::wild(size))
}

/// A whole file.
pub fn file_with(source: &mut Source<'_>, options: Options) -> String {
    let mut grammar = Grammar::new(source, options);
    grammar.file();
    grammar.text
}

/// One expression as a statement: `… ;`
pub fn expression_with(source: &mut Source<'_>, options: Options) -> String {
    let mut grammar = Grammar::new(source, options);
    grammar.expression(Place::FREE);
    grammar.token(";");
    grammar.text
}

/// The state of one generation: what is written so far, and what may still be.
struct Grammar<'s, 'b> {
    source: &'s mut Source<'b>,
    options: Options,
    text: String,
    /// The last token that was written, and whether the next one must touch it.
    last: String,
    touching: bool,
    /// Interpolations around: a string ends with its line, and so does everything in it.
    in_strings: u32,
    nodes_left: u32,
    depth_left: u32,
    context: Context,
}

impl<'s, 'b> Grammar<'s, 'b> {
    fn new(source: &'s mut Source<'b>, options: Options) -> Grammar<'s, 'b> {
        Grammar {
            source,
            options,
            text: String::new(),
            last: String::new(),
            touching: false,
            in_strings: 0,
            nodes_left: options.size.nodes,
            depth_left: options.size.depth,
            context: Context::default(),
        }
    }

    /// Takes one node from the budget; false when there is none, or when this is too deep.
    fn spend(&mut self) -> bool {
        if self.nodes_left == 0 || self.depth_left == 0 {
            return false;
        }
        self.nodes_left -= 1;
        true
    }

    /// Makes something one level deeper.
    fn deeper(&mut self, make: impl FnOnce(&mut Self)) {
        let outer = self.depth_left;
        self.depth_left = outer.saturating_sub(1);
        make(self);
        self.depth_left = outer;
    }

    /// Whether to make one more of something. Asking anew each time lets a shorter stream of
    /// choices end the list.
    fn one_more(&mut self, usual: usize) -> bool {
        self.nodes_left > 0 && self.source.below(usual + 1) > 0
    }

    /// Brackets, inside which nothing of what the place around forbids is forbidden.
    fn bracketed(&mut self, open: &str, close: &str, inside: impl FnOnce(&mut Self)) {
        self.token(open);
        let outer = std::mem::take(&mut self.context);
        self.deeper(inside);
        self.context = outer;
        self.token(close);
    }

    /// Parentheses that change nothing but the place of what they hold.
    fn parentheses(&mut self, inside: impl FnOnce(&mut Self)) {
        let depth = self.depth_left;
        self.bracketed("(", ")", |g| {
            g.depth_left = depth;
            inside(g);
        });
    }

    /// Exactly `n` items with commas between them, and sometimes one after the last.
    fn items(&mut self, n: usize, mut item: impl FnMut(&mut Self, usize)) {
        for i in 0..n {
            item(self, i);
            if i + 1 < n || self.source.one_in(6) {
                self.token(",");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use einlang_syntax::SyntaxKind;

    use super::*;
    use crate::invariants;

    #[test]
    fn no_choice_makes_the_empty_file() {
        assert_eq!(file(&mut Source::from_bytes(&[]), Size::LARGE), "");
    }

    #[test]
    fn files_of_all_sizes_parse_cleanly() {
        for (size, n) in [(Size::SMALL, 600), (Size::MEDIUM, 100), (Size::LARGE, 10)] {
            for seed in 0..n {
                invariants::check_clean(&file(&mut Source::from_seed(seed), size));
            }
        }
    }

    /// Whatever the language has, the generator makes: a new kind of node needs a form here.
    #[test]
    fn every_kind_is_made() {
        let mut seen = BTreeSet::from([SyntaxKind::EOF, SyntaxKind::ERROR, SyntaxKind::UNKNOWN]);
        for seed in 0..300 {
            let text = file(&mut Source::from_seed(seed), Size::MEDIUM);
            let tree = invariants::parse_text(&text).parse.tree;
            seen.extend(tree.tokens().map(|token| token.kind()));
            seen.extend(tree.root().descendants().map(|node| node.kind()));
        }
        let all = SyntaxKind::ALL.iter();
        let missing: Vec<&SyntaxKind> = all.filter(|kind| !seen.contains(kind)).collect();
        assert!(missing.is_empty(), "the generator never makes {missing:?}");
    }

    #[test]
    fn sizes_are_kept() {
        for seed in 0..20 {
            let text = file(&mut Source::from_seed(seed), Size::LARGE);
            assert!(text.len() < 200_000, "seed {seed} gives {} bytes", text.len());
        }
    }
}
