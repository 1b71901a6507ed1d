//! Symbols and conditions on them: the integers that are fixed during one evaluation but unknown
//! to the compiler, where they come from, and what is known or tested about them.

use einlang_index::{Affine, Constraint, Domain, Quasi, Result as IndexResult, Var};

use crate::op::Trap;
use crate::types::{Ident, Loc};

/// A symbol and where its value comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Symbol {
    /// The variable.
    pub var: Var,
    /// The origin.
    pub source: SymbolSource,
    /// Where it was declared.
    pub loc: Loc,
}

/// The origin of a symbol's value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SymbolSource {
    /// The caller passes it.
    Argument,
    /// The extent of an axis of an input or of a function's parameter.
    Shape(Ident, usize),
    /// The value of a rank-0 integer input or binding: an extent that is computed.
    Value(Ident),
    /// The largest of some expressions of earlier symbols.
    Max(Vec<Quasi>),
    /// The smallest of some expressions of earlier symbols.
    Min(Vec<Quasi>),
    /// The run-time extent of a group with `until`.
    Until,
    /// An instruction `param` inside a region; unknown and different from point to point.
    Local,
}

impl Symbol {
    /// What the source says about the value.
    pub(crate) fn constraints(&self) -> Vec<Constraint> {
        let (relation, bounds) = match &self.source {
            SymbolSource::Shape(..) | SymbolSource::Until => {
                return vec![Constraint::Ge(Affine::var(self.var))];
            }
            SymbolSource::Max(of) => (Relation::Ge, of),
            SymbolSource::Min(of) => (Relation::Le, of),
            SymbolSource::Argument | SymbolSource::Value(_) | SymbolSource::Local => {
                return Vec::new();
            }
        };
        let conditions = bounds.iter().map(|b| Condition::new(self.var, relation, b.clone()));
        conditions.flat_map(|condition| condition.constraints()).collect()
    }
}

/// How two index expressions compare.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Relation {
    /// `=`
    Eq,
    /// `<=`
    Le,
    /// `<`
    Lt,
    /// `>=`
    Ge,
    /// `>`
    Gt,
}

impl Relation {
    /// Every relation.
    pub const ALL: &[Relation] =
        &[Relation::Eq, Relation::Le, Relation::Lt, Relation::Ge, Relation::Gt];

    /// The sign in the text form.
    pub fn as_str(self) -> &'static str {
        match self {
            Relation::Eq => "=",
            Relation::Le => "<=",
            Relation::Lt => "<",
            Relation::Ge => ">=",
            Relation::Gt => ">",
        }
    }
}

/// A comparison of two index expressions.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Condition {
    /// The left side.
    pub left: Quasi,
    /// The relation.
    pub relation: Relation,
    /// The right side.
    pub right: Quasi,
}

impl Condition {
    /// The condition `left relation right`.
    pub fn new(left: impl Into<Quasi>, relation: Relation, right: impl Into<Quasi>) -> Condition {
        Condition { left: left.into(), relation, right: right.into() }
    }

    /// The points over `dims` where it holds.
    pub fn domain(&self, dims: &[Var]) -> IndexResult<Domain> {
        match self.relation {
            Relation::Eq => Domain::where_zero(dims, &self.left.sub(&self.right)?),
            _ => Domain::where_nonnegative(dims, &[self.slack()?]),
        }
    }

    /// What must not be negative, for an inequality.
    fn slack(&self) -> IndexResult<Quasi> {
        let (left, right) = (&self.left, &self.right);
        match self.relation {
            Relation::Eq | Relation::Ge => left.sub(right),
            Relation::Gt => left.sub(right)?.add_constant(-1),
            Relation::Le => right.sub(left),
            Relation::Lt => right.sub(left)?.add_constant(-1),
        }
    }

    /// The condition as constraints that hold together; none if it is no such thing.
    pub(crate) fn constraints(&self) -> Vec<Constraint> {
        if self.relation == Relation::Eq {
            let gap = self.left.sub(&self.right);
            let domain = gap.and_then(|gap| Domain::where_zero(Vec::new(), &gap));
            return match domain.as_ref().map(Domain::sets) {
                Ok([set]) => set.constraints().collect(),
                _ => Vec::new(),
            };
        }
        let slack = self.slack().ok();
        let affine = slack.as_ref().and_then(Quasi::as_affine);
        affine.map(|affine| Constraint::Ge(affine.clone())).into_iter().collect()
    }
}

/// A condition that is tested once at entry.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Check {
    /// What must hold.
    pub condition: Condition,
    /// What is reported if it does not.
    pub message: String,
    /// As which kind of stop: extents that differ, or a file of another shape.
    pub trap: Trap,
    /// Where it comes from.
    pub loc: Loc,
}

#[cfg(test)]
mod tests {
    use einlang_index::Quasi;

    use crate::text::parse_module;

    #[test]
    fn sources_and_checks_become_facts() {
        let text = "module m {
            symbol N = shape x 0; symbol M; symbol L = max(N, 2); symbol S = until;
            check M < N \"too long\";
            input x: f32[N];
            group {
                binding a: f32[t < S] { clause { [t] : t = 0 } { yield 0.0f32; } }
                until S index u from 1 max 5 { yield true; }
            }
        }";
        let mut module = parse_module(text).unwrap();
        for goal in ["N", "L - 2", "L - N", "N - M - 1", "S - 1"] {
            let goal = Quasi::parse(goal, module.vars.names_mut()).unwrap();
            assert!(module.facts().implies(&goal).is_true());
        }
    }
}
