//! Why an evaluation stopped, as plain data.
//!
//! A [`Stop`] is the run-time counterpart of a diagnostic: a code, a sentence that names tensor,
//! axis, index value and extent, the point at which it happened, and the place in the source if
//! there is one. `try` in host code turns it into its message.

use std::fmt;

use einlang_source::{Code, Diagnostic, Span};
use einlang_tir::op::Trap;
use einlang_tir::types::Loc;

macro_rules! stop_codes {
    ($($variant:ident $text:literal $help:literal $doc:literal;)*) => {
        /// The kind of a stop.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum StopCode {
            $(#[doc = $doc] $variant,)*
        }

        impl StopCode {
            /// Every kind.
            pub const ALL: &[StopCode] = &[$(StopCode::$variant,)*];

            /// The code as users see it, such as `E0702`.
            pub fn as_str(self) -> &'static str {
                match self { $(StopCode::$variant => $text,)* }
            }

            /// What to do about it.
            pub fn help(self) -> &'static str {
                match self { $(StopCode::$variant => $help,)* }
            }
        }
    };
}

stop_codes! {
    NeedsFuture "E0204" "reverse the range or the offset, so that every point reads points computed before it"
        "A point of a binding needs itself.";
    OutsideBox "E0501" "widen the domain of the binding, or write a default `[… else e]`"
        "A self-read outside the box.";
    NoBase "E0502" "add a clause for that point, or write a default `[… else e]`"
        "A self-read of a point that no clause covers.";
    Cycle "E0503" "break the cycle: one of these reads must be of an earlier point"
        "Bindings that depend on each other in a cycle.";
    NotComputed "E0504" "a data-dependent self-read may only reach points that come earlier in the order"
        "A data-dependent self-read of a point not yet computed.";
    NoDerivative "E0602" "let fewer requests lie in each other, or give the function a rule with `@fn`"
        "Requests nested deeper than they are written down for.";
    Division "E0701" "test the divisor or exponent before, or compute with floats"
        "Integer division by zero or a negative integer power.";
    OutOfBounds "E0702" "guard the read with a condition, or write a default `[… else e]`"
        "An index outside its axis.";
    Assertion "E0703" "the asserted condition is false for these values"
        "An assertion failed.";
    Checked "E0704" "use a wider type, or run without `--checked`"
        "Overflow or NaN under `--checked`.";
    Extents "E0705" "pass tensors whose extents agree"
        "Extents differ at entry.";
    Empty "E0706" "make sure that the reduction has at least one term"
        "`argmax` or `argmin` of nothing.";
    Memory "E0801" "raise the memory limit, or compute less at once"
        "The memory limit.";
    Depth "E0802" "raise the recursion limit, or make sure that the recursion ends"
        "The recursion limit.";
    Steps "E0803" "raise the step or time limit, or compute less"
        "The step or time limit.";
    NotFound "E0901" "check the path; it is relative to the project"
        "A file was not found.";
    Access "E0902" "allow it with `--allow-read` or `--allow-write`"
        "A file outside the allowed folders.";
    Malformed "E0903" "check the contents"
        "A file or text that cannot be read as what it should be.";
    OtherShape "E0904" "convert the data or change the annotation"
        "Loaded data of another shape or type.";
    MissingInput "E0905" "pass a value for the input"
        "An input is missing.";
    IllTypedInput "E0906" "pass a value of the declared type"
        "An input of the wrong type.";
    Python "E0907" "look at the exception of Python, which names the line that raised it"
        "A function of Python raised an exception.";
    Unavailable "unavailable" "use a host that offers it"
        "The surroundings do not offer what was asked for.";
    Internal "internal" "this is a bug of the compiler: please report it with the program"
        "Something that a correct compiler never asks for.";
}

/// Why an evaluation stopped.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stop {
    /// The kind.
    pub code: StopCode,
    /// One sentence without a final stop.
    pub message: String,
    /// Where it was written, if anybody wrote it.
    pub loc: Loc,
    /// Where in the computation it happened, innermost first.
    pub notes: Vec<String>,
}

impl Stop {
    /// A stop without place and notes.
    pub fn new(code: StopCode, message: impl Into<String>) -> Stop {
        Stop { code, message: message.into(), loc: Loc::default(), notes: Vec::new() }
    }

    /// A broken promise of the compiler.
    pub fn internal(message: impl Into<String>) -> Stop {
        Stop::new(StopCode::Internal, message)
    }

    /// The stop of a trap.
    pub fn of_trap(trap: Trap, message: impl Into<String>) -> Stop {
        Stop::new(StopCode::of_trap(trap), message)
    }

    /// The stop with a place, unless it has one.
    #[must_use]
    pub fn at(mut self, loc: Loc) -> Stop {
        if self.loc.0.is_none() {
            self.loc = loc;
        }
        self
    }

    /// The stop with one more note.
    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Stop {
        self.notes.push(text.into());
        self
    }

    /// The diagnostic, at `fallback` if the stop has no place of its own. `None` while the
    /// catalogue of codes lacks this one.
    pub fn to_diagnostic(&self, fallback: Span) -> Option<Diagnostic> {
        let code = Code::parse(self.code.as_str())?;
        let span = self.loc.0.unwrap_or(fallback);
        let mut diagnostic = Diagnostic::error(code, &self.message, span, "");
        diagnostic.notes.clone_from(&self.notes);
        Some(diagnostic.with_help(self.code.help()))
    }
}

impl StopCode {
    /// The kind that a trap of the tensor IR is reported as.
    pub fn of_trap(trap: Trap) -> StopCode {
        match trap {
            Trap::DivisionByZero | Trap::NegativePower => StopCode::Division,
            Trap::Overflow => StopCode::Checked,
            Trap::OutOfBounds => StopCode::OutOfBounds,
            Trap::NotComputed => StopCode::NotComputed,
            Trap::Assertion => StopCode::Assertion,
            Trap::EmptyReduction => StopCode::Empty,
            Trap::ExtentsDiffer => StopCode::Extents,
            Trap::LoadedShape => StopCode::OtherShape,
            Trap::NoDerivative => StopCode::NoDerivative,
        }
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code.as_str(), self.message)?;
        self.notes.iter().try_for_each(|note| write!(f, "\n  {note}"))
    }
}

impl std::error::Error for Stop {}

#[cfg(test)]
mod tests {
    use einlang_source::Sources;

    use super::*;

    #[test]
    fn a_stop_becomes_a_diagnostic_with_help() {
        let stop = Stop::new(StopCode::NotFound, "there is no file `a.txt`").note("in `main`");
        let span = Span::at(Sources::default().add("a.ein", "let x = 1;"), 3);
        let diagnostic = stop.to_diagnostic(span).expect("E0901 is in the catalogue");
        assert_eq!((diagnostic.primary.span, diagnostic.notes.len()), (span, 1));
        assert_eq!(diagnostic.helps.len(), 1);
        assert_eq!(stop.to_string(), "E0901: there is no file `a.txt`\n  in `main`");
    }

    #[test]
    fn codes_are_unique() {
        for (at, code) in StopCode::ALL.iter().enumerate() {
            assert!(StopCode::ALL[..at].iter().all(|other| other.as_str() != code.as_str()));
        }
    }
}
