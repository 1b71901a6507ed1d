//! Expressions by precedence climbing. Loosest first: `where` · pipes, `else`, `catch`, `with` ·
//! `||` · `&&` · `== !=` · `< > <= >= in` · `..` · `+ -` · `* / %` · prefixes · `**` · `as` · calls,
//! subscripts and fields (in `primary`).

use super::{Finished, Parser, operators, primary, types};
use crate::errors::Expected;
use crate::kind::SyntaxKind::{self, *};

/// How tightly an operator binds.
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
}

impl Level {
    fn tighter(self) -> Level {
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
            Level::Power | Level::Cast => Level::Cast,
        }
    }
}

fn infix(kind: SyntaxKind) -> Option<Level> {
    Some(match kind {
        PIPE_GT | QUESTION_GT | BANG_GT | ELSE | CATCH | WITH => Level::Pipe,
        PIPE2 => Level::Or,
        AND2 => Level::And,
        EQ2 | NEQ => Level::Equality,
        LT | GT | LTEQ | GTEQ | IN => Level::Comparison,
        DOT2 | DOT2EQ => Level::Range,
        PLUS | MINUS => Level::Sum,
        STAR | SLASH | PERCENT => Level::Product,
        STAR2 => Level::Power,
        AS => Level::Cast,
        _ => return None,
    })
}

impl Parser<'_> {
    /// A token that can begin an expression.
    pub(super) fn at_expression_start(&self) -> bool {
        match self.current() {
            IDENT | IN | INT | FLOAT | STR_OPEN | TRUE | FALSE | SELF | SUPER | CRATE | L_PAREN
            | L_BRACK | L_BRACE | IF | MATCH | TRY | PIPE | PIPE2 | MINUS | BANG | DOT2
            | DOT2EQ => true,
            AT => self.nth(1) != FN,
            _ => false,
        }
    }

    /// An expression without `where`.
    pub(super) fn expression(&mut self) -> Option<Finished> {
        self.expression_above(Level::Pipe)
    }

    /// An expression that may end with `where … else …`. With `several`, commas separate further
    /// items of the `where`; otherwise a comma ends the expression.
    pub(super) fn expression_where(&mut self, several: bool) -> Option<Finished> {
        let value = self.expression()?;
        Some(operators::where_clause(self, value, several))
    }

    /// An expression at the start of a statement, and whether it is a construct that ends with a
    /// block. `if a { … } (b, c)` is two statements, not a call.
    pub(super) fn statement_expression(&mut self) -> (Option<Finished>, bool) {
        if !matches!(self.current(), IF | MATCH | L_BRACE) {
            return (self.expression_where(true), false);
        }
        let Some(block) = primary::atom(self, Level::Pipe) else { return (None, true) };
        let goes_on = self.at(DOT) || self.at(WHERE) || infix(self.current()).is_some();
        if !goes_on {
            return (Some(block), true);
        }
        let block = primary::fields_only(self, block);
        let whole = self.operators_after(block, Level::Pipe);
        (Some(operators::where_clause(self, whole, true)), false)
    }

    /// An expression whose operators all bind at least as tightly as `floor`.
    pub(super) fn expression_above(&mut self, floor: Level) -> Option<Finished> {
        let left = self.nested(|p| p.operand(floor))??;
        Some(self.operators_after(left, floor))
    }

    fn operators_after(&mut self, mut left: Finished, floor: Level) -> Finished {
        let mut ranged = false;
        while let Some(level) = infix(self.current()) {
            let kind = self.current();
            let elsewhere = kind == ELSE && self.context.no_else;
            // `a..b..c` means nothing: the second `..` is left to be an error.
            if level < floor || elsewhere || (ranged && level == Level::Range) {
                break;
            }
            ranged = level == Level::Range;
            left = match kind {
                AS => self.cast(left),
                ELSE | CATCH | WITH | PIPE_GT | QUESTION_GT | BANG_GT => {
                    operators::pipe(self, left)
                }
                DOT2 | DOT2EQ => self.range_after(left),
                _ => self.binary(left, level),
            };
        }
        left
    }

    fn binary(&mut self, left: Finished, level: Level) -> Finished {
        let marker = self.precede(left);
        self.bump();
        // `**` is right-associative: its right operand takes in further powers.
        self.expression_above(if level == Level::Power { level } else { level.tighter() });
        self.finish(marker, BINARY_EXPR)
    }

    fn range_after(&mut self, left: Finished) -> Finished {
        let marker = self.precede(left);
        self.bump();
        if self.at_expression_start() && !(self.at(L_BRACE) && self.context.no_struct) {
            self.expression_above(Level::Sum);
        }
        self.finish(marker, RANGE_EXPR)
    }

    fn cast(&mut self, value: Finished) -> Finished {
        let marker = self.precede(value);
        self.bump();
        types::cast_target(self);
        self.finish(marker, CAST_EXPR)
    }

    /// A prefix operator with its operand, or a primary expression.
    fn operand(&mut self, floor: Level) -> Option<Finished> {
        match self.current() {
            MINUS if matches!(self.nth(1), INT | FLOAT) && self.nth(2) != STAR2 => {
                Some(primary::with_postfix(self, floor)?)
            }
            MINUS | BANG => Some(self.prefix()),
            AT if self.nth(1) != FN => Some(self.prefix()),
            DOT2 | DOT2EQ => Some(self.range_before()),
            _ if self.at_expression_start() => primary::with_postfix(self, floor),
            _ => {
                self.error_expected(Expected::Expression);
                None
            }
        }
    }

    fn prefix(&mut self) -> Finished {
        let marker = self.start();
        self.bump();
        self.expression_above(Level::Prefix);
        self.finish(marker, UNARY_EXPR)
    }

    /// `..b`: a range from the beginning.
    fn range_before(&mut self) -> Finished {
        let marker = self.start();
        self.bump();
        if self.at_expression_start() {
            self.expression_above(Level::Sum);
        } else {
            self.error_expected(Expected::Other(
                "a name or a bound after `..`",
                "write `..name` for a rest of axes, or `:` for a whole axis",
            ));
        }
        self.finish(marker, RANGE_EXPR)
    }
}
