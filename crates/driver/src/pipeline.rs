//! The stages of a compilation, in order.
//!
//! [`compile`] reads as the list of what is done to a program; [`Stage`] is the list of what can be
//! printed on the way. A stage that joins the compiler adds one call to the first, its product to
//! [`Compilation`], and one line to the second.
//!
//! Invariants: stages run in the order of the list and each reads only what earlier ones made; no
//! stage reads files. Diagnostics come out in the order of the source text, each once.

use std::fmt;
use std::sync::Arc;

use einlang_source::{Diagnostics, FileId};
use einlang_syntax::{Tree, dump};

/// What the stages made of one file.
#[derive(Clone, Debug)]
pub struct Compilation {
    /// The lossless tree; there is one for every text.
    pub tree: Tree,
    /// What is wrong with the program, as far as the stages decide it.
    pub diagnostics: Diagnostics,
}

/// Compiles one file as far as the compiler goes today.
pub fn compile(file: FileId, text: Arc<str>) -> Compilation {
    // Text to tokens, tokens to tree, and the checks that need no names and no types.
    let parsed = einlang_syntax::parse(file, text);
    let mut diagnostics = Diagnostics::from(parsed.diagnostics);
    // Names, types, ranges and the tensor IR follow here.
    diagnostics.sort();
    diagnostics.dedup();
    Compilation { tree: parsed.tree, diagnostics }
}

macro_rules! stages {
    ($($stage:ident $name:literal $about:literal $print:expr;)*) => {
        /// A point of the pipeline at which the program can be printed.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Stage {
            $(#[doc = $about] $stage,)*
        }

        impl Stage {
            /// Every stage, in the order in which they run.
            pub const ALL: &[Stage] = &[$(Stage::$stage,)*];

            /// The name that users write, such as `parse`.
            pub fn name(self) -> &'static str {
                match self {
                    $(Stage::$stage => $name,)*
                }
            }

            /// What is printed after this stage, in one line.
            pub fn about(self) -> &'static str {
                match self {
                    $(Stage::$stage => $about,)*
                }
            }

            /// The program as it is after this stage. The text ends with a line break unless it
            /// is empty.
            pub fn print(self, compilation: &Compilation) -> String {
                let print: fn(&Compilation) -> String = match self {
                    $(Stage::$stage => $print,)*
                };
                print(compilation)
            }
        }
    };
}

stages! {
    Lex "lex" "the tokens with their bytes, white space included" |c| dump::dump_tokens(&c.tree);
    Parse "parse" "the tree, one node or token a line, with their bytes" |c| dump::dump(&c.tree);
}

impl Stage {
    /// The stage with this name.
    pub fn parse(name: &str) -> Option<Stage> {
        Stage::ALL.iter().copied().find(|stage| stage.name() == name)
    }

    /// The stage that a program reaches when nothing stops it.
    pub fn last() -> Stage {
        *Stage::ALL.last().expect("invariant: the list of stages is not empty")
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use einlang_source::Sources;

    use super::*;

    fn compiled(text: &str) -> Compilation {
        let file = Sources::new().add("f.ein", text);
        compile(file, Arc::from(text))
    }

    #[test]
    fn stages_are_found_by_name() {
        for stage in Stage::ALL {
            assert_eq!(Stage::parse(stage.name()), Some(*stage));
        }
        assert_eq!(Stage::parse("Parse"), None);
        assert_eq!(Stage::last().to_string(), "parse");
    }

    #[test]
    fn each_stage_prints_something_else() {
        let compilation = compiled("let x = 1;");
        let texts: Vec<_> = Stage::ALL.iter().map(|stage| stage.print(&compilation)).collect();
        assert!(texts[0].lines().any(|line| line == "WHITESPACE \" \" @3..4"), "{}", texts[0]);
        assert!(texts[1].starts_with("SOURCE_FILE @0..10\n"), "{}", texts[1]);
        assert!(texts.iter().all(|text| text.ends_with('\n')));
    }

    #[test]
    fn diagnostics_follow_the_source() {
        let compilation = compiled("let a = 1 < 2 < 3;\nlet b = 0b1;\nlet c = x[-1];\n");
        let codes: Vec<_> = compilation.diagnostics.iter().map(|d| d.code.as_str()).collect();
        assert_eq!(codes, ["E0409", "E0103", "E0308"]);
    }
}
