//! The stages of a compilation, in order.
//!
//! [`compile`] reads as the list of what is done to a program; [`Stage`] is the list of what can be
//! printed on the way. A stage that joins the compiler adds one call to the first, its product to
//! [`Compilation`], and one line to the second.
//!
//! Invariants: stages run in the order of the list and each reads only what earlier ones made; only
//! the first reads files, through the [`World`]. Diagnostics come out in the order of the source text, each once.

use std::fmt;
use std::path::Path;

use einlang_interp::native::{CodeForm, Native};
use einlang_loops::checkpoint::Checkpoint;
use einlang_sema::coords::{self, Coords};
use einlang_sema::shapes::{self, Given, Options, Shapes};
use einlang_sema::types::{self, Typed};
use einlang_sema::{Resolved, hir};
use einlang_source::{Diagnostics, FileId, Sources, World};
use einlang_syntax::{Tree, dump};

use crate::kernels::{self, Form};
use crate::library::Std;
use crate::lowering;

/// What the stages made of one program.
#[derive(Debug)]
pub struct Compilation {
    /// The modules, items and bodies, every name with its definition.
    pub resolved: Resolved,
    /// The types, when every name has its definition.
    pub typed: Option<Typed>,
    /// The coordinates, when names and types are right.
    pub coords: Option<Coords>,
    /// The ranges and shapes, when names and types are right.
    pub shapes: Option<Shapes>,
    /// What is wrong with the program, as far as the stages decide it.
    pub diagnostics: Diagnostics,
}

impl Compilation {
    /// The lossless tree of the root file; there is one for every text.
    pub fn tree(&self) -> &Tree {
        self.resolved.trees.first().expect("invariant: every program has a root file")
    }
}

/// Compiles the program whose root is `file`, as far as the compiler goes today. Modules are read
/// from `folder`, and their texts join the sources.
pub fn compile(
    world: &dyn World,
    sources: &mut Sources,
    file: FileId,
    folder: &Path,
    options: &Options,
) -> Compilation {
    // Text to tokens to tree, the files of the modules, and what every name means.
    let resolved = einlang_sema::resolve_with(world, &Std, sources, file, folder);
    analyse(resolved, options, |_, _| Given::default())
}

/// The stages after names. `given` says of which bindings the values are there already, once the
/// types are known.
pub(crate) fn analyse(
    mut resolved: Resolved,
    options: &Options,
    given: impl FnOnce(&Resolved, &Typed) -> Given,
) -> Compilation {
    let mut diagnostics = std::mem::take(&mut resolved.diagnostics);
    // An element type and a rank for every expression of every instance.
    let typed = resolved.is_whole().then(|| {
        let (typed, found) = types::check(&resolved.program, &resolved.interner);
        diagnostics.extend(found);
        typed
    });
    // The coordinate of every axis, for each layouts of a function's arguments.
    let right = typed.as_ref().filter(|_| !diagnostics.has_errors());
    let coords = right.map(|typed| {
        let (coords, found) = coords::check(&resolved.program, typed, &resolved.interner);
        diagnostics.extend(found);
        coords
    });
    // The range of every index and the extents of every tensor.
    let right = typed.as_ref().filter(|_| !diagnostics.has_errors());
    let shapes = right.zip(coords.as_ref()).map(|(typed, coords)| {
        let (program, interner) = (&resolved.program, &resolved.interner);
        let given = given(&resolved, typed);
        let (shapes, found) =
            shapes::analyse_given(program, typed, coords, interner, options, &given);
        diagnostics.extend(found);
        shapes
    });
    // The tensor IR is made on demand, by `lowering`.
    diagnostics.sort();
    diagnostics.dedup();
    Compilation { resolved, typed, coords, shapes, diagnostics }
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
            pub fn print(self, compilation: &Compilation, sources: &Sources, view: &View<'_>) -> String {
                let print: fn(&Compilation, &Sources, &View<'_>) -> String = match self {
                    $(Stage::$stage => $print,)*
                };
                print(compilation, sources, view)
            }
        }
    };
}

stages! {
    Lex "lex" "the tokens with their bytes, white space included" |c, _, _| dump::dump_tokens(c.tree());
    Parse "parse" "the tree, one node or token a line, with their bytes" |c, _, _| dump::dump(c.tree());
    Names "names" "modules, items and bodies, every name with its definition" print_names;
    Types "types" "each function for each kind of arguments, and the types of its bindings" print_types;
    Coords "coords" "the coordinates of each binding, what its reductions consume and what is broadcast" print_coords;
    Shapes "shapes" "the type and extents of each binding, and the range of each index" print_shapes;
    Lower "lower" "the host program and its tensor modules" |c, _, _| lowering::print(c, None);
    InlineCalls "inline_calls" "the same, without the functions that have no derivative rule" |c, _, _| lowering::print(c, Some("inline_calls"));
    SettleExtents "settle_extents" "the same, with extents that are known as numbers" |c, _, _| lowering::print(c, Some("settle_extents"));
    SplitClauses "split_clauses" "the same, no two clauses with a point in common" |c, _, _| lowering::print(c, Some("split_clauses"));
    NameSubscripts "name_subscripts" "the same, with subscripts computed from extents as index expressions" |c, _, _| lowering::print(c, Some("name_subscripts"));
    LowerRequests "lower-requests" "the same, with derivatives as ordinary code" |c, _, _| lowering::print(c, Some("lower_requests"));
    LiftLocals "lift_locals" "the same, with what is computed again at every point moved out" |c, _, _| lowering::print(c, Some("lift_locals"));
    FoldConstants "fold_constants" "the same, with constants computed" |c, _, _| lowering::print(c, Some("fold_constants"));
    Simplify "simplify" "the same, nothing computed twice in one place" |c, _, _| lowering::print(c, Some("simplify"));
    MergeBindings "merge_bindings" "the same, nothing defined twice" |c, _, _| lowering::print(c, Some("merge_bindings"));
    ForwardCopies "forward_copies" "the same, with reads of copies as reads of what was copied" |c, _, _| lowering::print(c, Some("forward_copies"));
    Decide "decide" "the schedule of each tensor module: orders, roles and storage" |c, _, view| print_kernels(c, view, Form::Schedule);
    LowerLoops "lower_loops" "the loop IR of each tensor module" |c, _, view| print_kernels(c, view, Form::Loops);
    DivideWork "divide_work" "the same, with the loops that threads divide among them, and where they wait" |c, _, view| print_kernels(c, view, Form::Teams);
    JamRounds "jam_rounds" "the same, with the rounds of a loop that go through the loops inside together" |c, _, view| print_kernels(c, view, Form::Jammed);
    HoistValues "hoist_values" "the same, with what no round of a loop changes computed before it" |c, _, view| print_kernels(c, view, Form::Hoisted);
    Llvm "llvm" "the LLVM IR of each kernel, as it is emitted" |c, _, view| print_kernels(c, view, Form::Code(CodeForm::Emitted));
    LlvmPasses "llvm_passes" "the same, after the passes of LLVM" |c, _, view| print_kernels(c, view, Form::Code(CodeForm::Optimised));
    Asm "asm" "the assembly of each kernel, for this computer" |c, _, view| print_kernels(c, view, Form::Code(CodeForm::Assembly));
}

/// What is asked of a stage besides the program.
#[derive(Clone, Copy, Debug, Default)]
pub struct View<'a> {
    /// The one kernel that is printed, at stages that have kernels.
    pub kernel: Option<&'a str>,
    /// What makes machine code.
    pub native: Option<&'a Native>,
    /// What is kept of trajectories that are read backwards.
    pub checkpoint: Checkpoint,
}

fn print_kernels(compilation: &Compilation, view: &View<'_>, form: Form) -> String {
    kernels::print(compilation, view, form)
}

fn print_names(compilation: &Compilation, _: &Sources, _: &View<'_>) -> String {
    hir::print(&compilation.resolved.program, &compilation.resolved.interner)
}

fn print_types(compilation: &Compilation, _: &Sources, _: &View<'_>) -> String {
    let Resolved { program, interner, .. } = &compilation.resolved;
    compilation.typed.as_ref().map_or(String::new(), |typed| types::print(typed, program, interner))
}

fn print_coords(compilation: &Compilation, _: &Sources, _: &View<'_>) -> String {
    let Resolved { program, interner, .. } = &compilation.resolved;
    match (&compilation.coords, &compilation.typed) {
        (Some(found), Some(typed)) => coords::print(found, typed, program, interner),
        _ => String::new(),
    }
}

fn print_shapes(compilation: &Compilation, sources: &Sources, _: &View<'_>) -> String {
    let Resolved { program, interner, .. } = &compilation.resolved;
    let Compilation { typed: Some(typed), coords: Some(coords), shapes: Some(found), .. } =
        compilation
    else {
        return String::new();
    };
    let reveals = shapes::reveal(program, typed, coords, found, interner);
    shapes::print(&reveals, program, sources)
}

impl Stage {
    /// The stage with this name, or whose other name it is.
    pub fn parse(name: &str) -> Option<Stage> {
        let is_it = |stage: &Stage| stage.name() == name || stage.other_name() == Some(name);
        Stage::ALL.iter().copied().find(is_it)
    }

    /// What is printed there, for those who do not think of passes.
    pub fn other_name(self) -> Option<&'static str> {
        match self {
            Stage::Decide => Some("schedule"),
            Stage::LowerLoops => Some("loops"),
            Stage::DivideWork => Some("threads"),
            _ => None,
        }
    }

    /// Whether the stage prints kernels one by one.
    pub fn has_kernels(self) -> bool {
        self >= Stage::Decide
    }

    /// The last stage that the program reached: names are resolved only in a tree without holes.
    pub fn reached(compilation: &Compilation) -> Stage {
        if compilation.shapes.is_some() {
            return Stage::Shapes;
        }
        match (compilation.typed.is_some(), compilation.resolved.is_whole()) {
            (true, _) => Stage::Types,
            (false, true) => Stage::Names,
            (false, false) => Stage::Parse,
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use einlang_source::MemoryWorld;

    use super::*;

    fn compiled(text: &str) -> Compilation {
        compiled_with(&mut Sources::new(), text)
    }

    fn compiled_with(sources: &mut Sources, text: &str) -> Compilation {
        let file = sources.add("f.ein", text);
        compile(&MemoryWorld::new(), sources, file, Path::new(""), &Options::default())
    }

    #[test]
    fn stages_are_found_by_name() {
        for stage in Stage::ALL {
            assert_eq!(Stage::parse(stage.name()), Some(*stage));
        }
        assert_eq!(Stage::parse("loops"), Some(Stage::LowerLoops));
        assert_eq!(Stage::parse("Parse"), None);
        assert_eq!(Stage::reached(&compiled("let x = 1;")).to_string(), "shapes");
        assert_eq!(Stage::reached(&compiled("let x = ;")).to_string(), "parse");
    }

    #[test]
    fn each_stage_prints_something_else() {
        let mut sources = Sources::new();
        let compilation = compiled_with(&mut sources, "let x = 1;");
        let texts: Vec<_> = Stage::ALL
            .iter()
            .map(|stage| stage.print(&compilation, &sources, &View::default()))
            .collect();
        assert!(texts[0].lines().any(|line| line == "WHITESPACE \" \" @3..4"), "{}", texts[0]);
        assert!(texts[1].starts_with("SOURCE_FILE @0..10\n"), "{}", texts[1]);
        assert_eq!(texts[2], "module crate\n  let x#0 = 1\n");
        assert_eq!(texts[3], "module crate\n  x: i32\n");
        assert_eq!(texts[4], "module crate\n  x: []\n");
        assert_eq!(texts[5], "f.ein:1  x: i32\n");
        assert!(texts.iter().all(|text| text.ends_with('\n')));
    }

    #[test]
    fn diagnostics_follow_the_source() {
        let compilation = compiled("let a = 1 < 2 < 3;\nlet b = 0b1;\nlet c = x[-1];\n");
        let codes: Vec<_> = compilation.diagnostics.iter().map(|d| d.code.as_str()).collect();
        assert_eq!(codes, ["E0409", "E0103", "E0308"]);
    }
}
