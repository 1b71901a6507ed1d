//! Where an expression stands, and therefore when it needs parentheses.
//!
//! Binding strength alone does not decide. A lambda swallows the operators after it, a range
//! without an end swallows what could be its end, an `if` without `else` swallows an `else`, and a
//! number after a prefix minus becomes a negative literal. So a place also says what comes next and
//! what came before.

use einlang_syntax::SyntaxKind::{self, *};

/// How tightly a form binds, loosest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Level {
    Pipe,
    Or,
    And,
    Equality,
    Comparison,
    Range,
    Sum,
    Product,
    Prefix,
    Power,
    Cast,
    Postfix,
}

impl Level {
    /// The next tighter level: what the right operand of a left-associative operator must have.
    pub(super) fn tighter(self) -> Level {
        match self {
            Level::Pipe => Level::Or,
            Level::Or => Level::And,
            Level::And => Level::Equality,
            Level::Equality => Level::Comparison,
            Level::Comparison => Level::Range,
            Level::Range => Level::Sum,
            Level::Sum => Level::Product,
            Level::Product => Level::Prefix,
            Level::Prefix => Level::Power,
            Level::Power => Level::Cast,
            Level::Cast | Level::Postfix => Level::Postfix,
        }
    }
}

/// What stands right after an expression.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Next {
    /// A closing bracket, a comma, a semicolon, or a word that no expression goes on with.
    End,
    /// An infix operator.
    Operator(SyntaxKind, Level),
    /// The opening bracket of a call or subscript, or the dot of a field.
    Postfix,
    /// The bar of a comprehension.
    Bar,
    /// A contextual word such as `until`, which could also be a name.
    Word,
}

impl Next {
    /// The `else` of a `where` or of a default read.
    pub(super) const ELSE: Next = Next::Operator(ELSE, Level::Pipe);
}

/// The place of an expression.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Place {
    /// The loosest level that may stand here.
    pub(super) floor: Level,
    pub(super) next: Next,
    /// Right after a prefix minus, which would claim a number as its literal.
    pub(super) after_minus: bool,
    /// Right after the dots of a range, which in a head may have no end.
    pub(super) after_dots: bool,
    /// First in a bracket or comprehension item, where `name in` and `..name` have a meaning of
    /// their own and a negative literal is an error.
    pub(super) first_in_item: bool,
    /// First after `if`, `match` or `for … in`, where `{` would begin the body.
    pub(super) first_in_head: bool,
}

impl Place {
    /// A place that allows everything, such as inside parentheses.
    pub(super) const FREE: Place = Place {
        floor: Level::Pipe,
        next: Next::End,
        after_minus: false,
        after_dots: false,
        first_in_item: false,
        first_in_head: false,
    };

    /// A full expression with something after it.
    pub(super) fn before(next: Next) -> Place {
        Place { next, ..Place::FREE }
    }

    /// The first operand of an operator that itself stands here.
    pub(super) fn left(self, floor: Level, next: Next) -> Place {
        Place { floor, next, ..self }
    }

    /// The last operand of an operator that itself stands here.
    pub(super) fn right(self, floor: Level) -> Place {
        Place { floor, next: self.next, ..Place::FREE }
    }

    /// The loosest level that the body of a lambda here may have.
    pub(super) fn lambda_floor(self) -> Level {
        self.floor.min(Level::Or)
    }
}

/// What a form does beyond having a level.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Habit {
    /// Nothing.
    Plain,
    /// Begins with a brace: a block.
    Block,
    /// Ends with a brace: `if … else …`, `match`.
    Braced,
    /// `if` without `else`.
    OpenIf,
    /// `|x| e`
    Lambda,
    /// `try e`
    Try,
    /// `a..`
    OpenRange,
    /// `..b`
    PrefixRange,
    /// `x in xs`
    Membership,
    /// `P { x: 1 }`
    Struct,
    /// `x else e`
    Else,
}

/// What the constructs around forbid until the next bracket.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Context {
    /// In the head of `if`, `match` or `for`.
    pub(super) no_struct: bool,
    /// In a subscript or a `where` item.
    pub(super) no_else: bool,
    /// In an interpolation, where the `:` of a lambda's parameter would begin the format
    /// specification.
    pub(super) no_colon: bool,
}

/// Whether a form must stand in parentheses here.
pub(super) fn needs_parentheses(
    level: Level,
    habit: Habit,
    place: Place,
    context: Context,
) -> bool {
    let swallows = |floor| match place.next {
        Next::Operator(_, level) => level >= floor,
        Next::Postfix => true,
        _ => false,
    };
    let by_habit = match habit {
        Habit::Plain => false,
        Habit::Block => {
            let is_body = place.first_in_head || (place.after_dots && context.no_struct);
            is_body || place.next == Next::Postfix
        }
        Habit::Braced => place.next == Next::Postfix,
        Habit::OpenIf => matches!(place.next, Next::Postfix | Next::Operator(ELSE, _)),
        Habit::Lambda => context.no_colon || swallows(place.lambda_floor()),
        Habit::Try => swallows(Level::Or),
        Habit::OpenRange => {
            matches!(place.next, Next::Bar | Next::Word | Next::Operator(IN | PIPE2, _))
        }
        Habit::PrefixRange | Habit::Membership => place.first_in_item,
        Habit::Struct => context.no_struct,
        Habit::Else => context.no_else,
    };
    by_habit || level < place.floor
}
