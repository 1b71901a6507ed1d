//! Why a derivative cannot be formed, with the place and the words for it.

use einlang_index::GaveUp;
use einlang_source::{Code, Diagnostic, Span};

use crate::host::HostArg;
use crate::types::Loc;

/// A request that cannot be expanded.
#[derive(Clone, Debug)]
pub(super) struct Fault {
    code: Code,
    message: String,
    help: String,
    loc: Loc,
    /// The entry it is about.
    entry: Option<u32>,
    /// Whether there is a derivative, which this compiler does not find.
    unsupported: bool,
}

/// The result of a step of the expansion.
pub(super) type R<T> = Result<T, Fault>;

impl Fault {
    /// Nothing says how to differentiate this (E0602).
    pub(super) fn no_rule(what: &str, loc: Loc) -> Fault {
        Fault {
            code: Code::E0602,
            message: format!("no derivative for {what}"),
            help:
                "give the function around it a rule with `@fn`, or say with `detach(…)` that its \
                   derivative counts as zero"
                    .to_owned(),
            loc,
            entry: None,
            unsupported: false,
        }
    }

    /// Nobody knows what a function of Python computes (E0602).
    pub(super) fn in_python(path: Option<&HostArg>, loc: Loc) -> Fault {
        let what = match path {
            Some(HostArg::Str(path)) => format!("`{path}`, which is a function of Python"),
            _ => "a function of Python".to_owned(),
        };
        let help = "write it in Einlang, or say with `detach(…)` around its arguments that its derivative \
                    counts as zero";
        Fault { help: help.to_owned(), ..Fault::no_rule(&what, loc) }
    }

    /// A float that became an integer and a float again (E0602).
    pub(super) fn through_integer(loc: Loc) -> Fault {
        Fault {
            code: Code::E0602,
            message: "no derivative for a float that passes through an integer".to_owned(),
            help: "use `floor` or `round`, whose derivative is zero, or `detach(…)`".to_owned(),
            loc,
            entry: None,
            unsupported: false,
        }
    }

    /// A step that asks how the steps before it follow something, which asked the same (E0602).
    pub(super) fn of_itself(loc: Loc) -> Fault {
        Fault {
            code: Code::E0602,
            message: "no derivative through a value that depends on this derivative itself".to_owned(),
            help: "every step would need one of a higher order than the step before: keep it from earlier \
                   steps with `detach(…)`, or ask by a value that is bound in the step"
                .to_owned(),
            loc,
            entry: None,
            unsupported: true,
        }
    }

    /// A rule that is not linear in its differentials (E0603).
    pub(super) fn not_linear(function: &str, loc: Loc) -> Fault {
        Fault {
            code: Code::E0603,
            message: format!("the rule of `{function}` is not linear in its differentials"),
            help: "add differentials and scale them by what does not contain one".to_owned(),
            loc,
            entry: None,
            unsupported: false,
        }
    }

    /// A rule that may be linear in its differentials, which the construct does not let be seen (E0603).
    pub(super) fn not_seen_linear(function: &str, loc: Loc) -> Fault {
        Fault {
            code: Code::E0603,
            message: format!(
                "the rule of `{function}` is not seen to be linear in its differentials"
            ),
            help:
                "call functions that are known by their names there, keep differentials apart from \
                   other values, or call the function with 1 and multiply by the differential"
                    .to_owned(),
            loc,
            entry: None,
            unsupported: false,
        }
    }

    /// There is a derivative, and this compiler does not find it (E0602).
    pub(super) fn unsupported(what: &str, loc: Loc) -> Fault {
        Fault {
            code: Code::E0602,
            message: format!("no derivative yet through {what}"),
            help: "the program is valid, and this version of the compiler cannot do it: write it in another way, \
                   give the function around it a rule with `@fn`, or keep it constant with `detach(…)`"
                .to_owned(),
            loc,
            entry: None,
            unsupported: true,
        }
    }

    /// The entry if this has no derivative, so that it matters only where the entry is needed.
    pub(super) fn entry_without_rule(&self) -> Option<u32> {
        self.entry.filter(|_| self.code == Code::E0602 && !self.unsupported)
    }

    /// The fault as that of whatever entry meets it next.
    pub(super) fn of_nothing(self) -> Fault {
        Fault { entry: None, ..self }
    }

    /// The entry and its place, if none is known yet.
    pub(super) fn or_of(mut self, entry: u32, loc: Loc) -> Fault {
        self.entry.get_or_insert(entry);
        self.or_at(loc)
    }

    /// The place, if it has none yet.
    pub(super) fn or_at(mut self, loc: Loc) -> Fault {
        if self.loc.0.is_none() {
            self.loc = loc;
        }
        self
    }

    /// The message for people; `place` is where it points if nothing is known.
    pub(super) fn into_diagnostic(self, place: Span) -> Diagnostic {
        let span = self.loc.0.unwrap_or(place);
        Diagnostic::error(self.code, self.message, span, "here").with_help(self.help)
    }
}

impl From<GaveUp> for Fault {
    fn from(_: GaveUp) -> Fault {
        Fault::unsupported("subscripts of this kind", Loc::default())
    }
}
