//! The functions of Python that a program calls.

use einlang_source::{Code, Diagnostic, Span};
use einlang_tir::host::{Block, HostArg, HostInst, HostKind, Intrinsic};

use super::{Executable, Failure};

impl Executable {
    /// The dotted paths of the functions of Python that it may call, each with the place of a call.
    pub fn python_functions(&self) -> Vec<(&str, Span)> {
        let mut found = Vec::new();
        let mut open: Vec<&Block> =
            self.lowered.program.functions.iter().map(|function| &function.body).collect();
        while let Some(block) = open.pop() {
            for inst in &block.insts {
                found.extend(called(inst).map(|path| (path, inst.loc.0.unwrap_or(self.place))));
                open.extend(inst.blocks());
            }
        }
        found.sort_unstable();
        found.dedup_by_key(|(path, _)| *path);
        found
    }

    /// The failure of a program that calls a function which Python does not have, or whose module it does
    /// not have.
    pub fn unknown_in_python(path: &str, why: &str, no_module: bool, span: Span) -> Failure {
        let message = format!("Python has no `{path}`: {why}");
        let code = if no_module { Code::E0111 } else { Code::E0112 };
        let diagnostic = Diagnostic::error(code, message, span, "called here").with_help(
            "install the package, or put its folder into `sys.path`; check the spelling",
        );
        Failure::Program(diagnostic.into())
    }
}

/// The path of the function that an instruction calls.
fn called(inst: &HostInst) -> Option<&str> {
    match &inst.kind {
        HostKind::Intrinsic(Intrinsic::CallPython, args) => match args.first() {
            Some(HostArg::Str(path)) => Some(path),
            _ => None,
        },
        _ => None,
    }
}
