//! Expressions: the table of forms, and the forms made of operators.

use einlang_syntax::SyntaxKind::{self, *};

use super::place::{Habit, Level, Next, Place, needs_parentheses};
use super::{Grammar, Parentheses};

/// One way to write an expression.
#[derive(Clone, Copy)]
struct Form {
    level: Level,
    habit: Habit,
    write: fn(&mut Grammar<'_, '_>, Place),
}

const fn form(level: Level, habit: Habit, write: fn(&mut Grammar<'_, '_>, Place)) -> Form {
    Form { level, habit, write }
}

const LAMBDA: Form = form(Level::Postfix, Habit::Lambda, |g, at| g.lambda(at));

/// Every form that has parts, those of few tokens first.
const FORMS: &[Form] = &[
    form(Level::Postfix, Habit::Plain, |g, at| g.leaf(at)),
    form(Level::Prefix, Habit::Plain, |g, at| g.prefix(at)),
    form(Level::Sum, Habit::Plain, |g, at| g.left_associative(at, Level::Sum, &[PLUS, MINUS])),
    form(Level::Product, Habit::Plain, |g, at| {
        g.left_associative(at, Level::Product, &[STAR, SLASH, PERCENT]);
    }),
    form(Level::Power, Habit::Plain, |g, at| g.power(at)),
    form(Level::Postfix, Habit::Plain, |g, at| g.call(at)),
    form(Level::Postfix, Habit::Plain, |g, at| g.index(at)),
    form(Level::Postfix, Habit::Plain, |g, at| g.index(at)),
    form(Level::Postfix, Habit::Plain, |g, at| g.field(at)),
    form(Level::Postfix, Habit::Plain, |g, at| g.reduction(at)),
    form(Level::Comparison, Habit::Plain, |g, at| {
        g.comparison(at, Level::Comparison, &[LT, GT, LTEQ, GTEQ]);
    }),
    form(Level::Comparison, Habit::Membership, |g, at| g.comparison(at, Level::Comparison, &[IN])),
    form(Level::Equality, Habit::Plain, |g, at| g.comparison(at, Level::Equality, &[EQ2, NEQ])),
    form(Level::And, Habit::Plain, |g, at| g.left_associative(at, Level::And, &[AND2])),
    form(Level::Or, Habit::Plain, |g, at| g.left_associative(at, Level::Or, &[PIPE2])),
    form(Level::Range, Habit::Plain, |g, at| g.range(at)),
    form(Level::Range, Habit::OpenRange, |g, at| g.open_range(at)),
    form(Level::Range, Habit::PrefixRange, |g, at| g.prefix_range(at)),
    form(Level::Cast, Habit::Plain, |g, at| g.cast(at)),
    form(Level::Pipe, Habit::Plain, |g, at| {
        g.left_associative(at, Level::Pipe, &[PIPE_GT, QUESTION_GT, BANG_GT]);
    }),
    form(Level::Pipe, Habit::Else, |g, at| g.left_associative(at, Level::Pipe, &[ELSE])),
    form(Level::Pipe, Habit::Plain, |g, at| g.catch(at)),
    form(Level::Pipe, Habit::Plain, |g, at| g.with(at)),
    form(Level::Postfix, Habit::Plain, |g, _| g.parenthesised()),
    form(Level::Postfix, Habit::Plain, |g, _| g.tuple()),
    form(Level::Postfix, Habit::Plain, |g, _| g.array()),
    form(Level::Postfix, Habit::Plain, |g, _| g.comprehension()),
    form(Level::Postfix, Habit::Plain, |g, _| g.string()),
    form(Level::Postfix, Habit::Struct, |g, _| g.struct_literal()),
    LAMBDA,
    form(Level::Postfix, Habit::Try, |g, at| g.try_expression(at)),
    form(Level::Postfix, Habit::Block, |g, _| g.block()),
    form(Level::Postfix, Habit::Braced, |g, _| g.if_else()),
    form(Level::Postfix, Habit::OpenIf, |g, _| g.if_alone()),
    form(Level::Postfix, Habit::Braced, |g, _| g.match_expression()),
];

impl Grammar<'_, '_> {
    /// Any expression that may stand here, in parentheses where it could not stand otherwise.
    pub(super) fn expression(&mut self, place: Place) {
        if !self.spend() {
            return self.leaf(place);
        }
        let form = self.source.pick(FORMS);
        self.deeper(|g| g.form(form, place));
    }

    fn form(&mut self, Form { level, habit, write }: Form, place: Place) {
        if needs_parentheses(level, habit, place, self.context) {
            self.parentheses(|g| write(g, Place::FREE));
        } else {
            write(self, place);
        }
    }

    /// An expression as the operand of an operator.
    pub(super) fn operand(&mut self, place: Place) {
        match self.options.parentheses {
            Parentheses::Needed => self.expression(place),
            Parentheses::Everywhere => self.parentheses(|g| g.expression(Place::FREE)),
        }
    }

    /// A full expression that a `where` with its items may follow. With `several`, commas may
    /// separate the items.
    pub(super) fn expression_where(&mut self, several: bool, next: Next) {
        if !self.source.one_in(6) {
            return self.expression(Place::before(next));
        }
        self.expression(Place::FREE);
        self.token("where");
        let n = if several { 1 + self.source.below(3) } else { 1 };
        let with_else = self.source.flip();
        for i in 0..n {
            let after = match (i + 1 < n, with_else) {
                (true, _) => Next::End,
                (false, true) => Next::ELSE,
                (false, false) => next,
            };
            self.where_item(after);
            if i + 1 < n {
                self.token(",");
            }
        }
        if with_else {
            self.token("else");
            self.expression(Place::before(next));
        }
    }

    /// `z = e` or a guard.
    fn where_item(&mut self, next: Next) {
        let outer = self.context;
        self.context.no_else = true;
        if self.source.flip() {
            self.index_name();
            self.token("=");
        }
        self.expression(Place::before(next));
        self.context = outer;
    }

    /// One of the operators, and what the operand before it has to know.
    fn operator(&mut self, among: &[SyntaxKind], level: Level) -> (&'static str, Next) {
        let kind = self.source.pick(among);
        let text = kind.fixed_text().expect("invariant: operators have a spelling");
        (text, Next::Operator(kind, level))
    }

    fn left_associative(&mut self, place: Place, level: Level, among: &[SyntaxKind]) {
        let (operator, next) = self.operator(among, level);
        self.operand(place.left(level, next));
        self.token(operator);
        self.operand(place.right(level.tighter()));
    }

    /// Comparisons of one strength never follow each other.
    fn comparison(&mut self, place: Place, level: Level, among: &[SyntaxKind]) {
        let (operator, next) = self.operator(among, level);
        self.operand(place.left(level.tighter(), next));
        self.token(operator);
        self.operand(place.right(level.tighter()));
    }

    /// `a ** b`, whose right operand may carry a sign.
    fn power(&mut self, place: Place) {
        let next = Next::Operator(STAR2, Level::Power);
        self.operand(place.left(Level::Cast, next));
        self.token("**");
        self.operand(place.right(Level::Prefix));
    }

    fn prefix(&mut self, place: Place) {
        let sign = self.source.pick(&["-", "!", "@"]);
        self.token(sign);
        let right = place.right(Level::Prefix);
        self.operand(Place { after_minus: sign == "-", ..right });
    }

    /// `a..b`, `a..=b`
    fn range(&mut self, place: Place) {
        let (operator, next) = self.operator(&[DOT2, DOT2EQ], Level::Range);
        self.operand(place.left(Level::Sum, next));
        self.token(operator);
        self.operand(Place { after_dots: true, ..place.right(Level::Sum) });
    }

    fn open_range(&mut self, place: Place) {
        self.operand(place.left(Level::Sum, Next::Operator(DOT2, Level::Range)));
        self.token("..");
    }

    fn prefix_range(&mut self, place: Place) {
        self.token("..");
        self.operand(place.right(Level::Sum));
    }

    fn cast(&mut self, place: Place) {
        self.operand(place.left(Level::Cast, Next::Operator(AS, Level::Cast)));
        self.token("as");
        self.cast_type();
    }

    /// `x catch |err| e`
    fn catch(&mut self, place: Place) {
        self.operand(place.left(Level::Pipe, Next::Operator(CATCH, Level::Pipe)));
        self.token("catch");
        let right = place.right(Level::Or);
        if self.source.flip() { self.operand(right) } else { self.form(LAMBDA, right) }
    }

    /// `x with [i, 1..3] = e, [0, :] = f`
    fn with(&mut self, place: Place) {
        self.operand(place.left(Level::Pipe, Next::Operator(WITH, Level::Pipe)));
        self.token("with");
        let n = 1 + self.source.below(3);
        for i in 0..n {
            self.subscripts(false);
            self.token("=");
            let next = if i + 1 < n { Next::End } else { place.next };
            self.operand(Place { next, ..place.right(Level::Or) });
            if i + 1 < n {
                self.token(",");
            }
        }
    }

    fn try_expression(&mut self, place: Place) {
        self.token("try");
        self.operand(place.right(Level::Or));
    }
}
