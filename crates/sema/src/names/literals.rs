//! Literals and strings.

use einlang_syntax::SyntaxKind;
use einlang_syntax::ast;
use einlang_syntax::format_spec::FormatSpec;
use einlang_syntax::literal::{self, NumberValue};

use super::Resolver;
use crate::hir::*;

impl<'t> Resolver<'_, 't> {
    /// A number or bool. Malformed ones were reported by the parser.
    pub(super) fn number(&mut self, literal: ast::Literal<'t>) -> Option<Literal> {
        let token = literal.token()?;
        match token.kind() {
            SyntaxKind::TRUE => return Some(Literal::Bool(true)),
            SyntaxKind::FALSE => return Some(Literal::Bool(false)),
            _ => {}
        }
        let negative = literal.is_negative();
        let number = literal::number(token.text(), negative).ok()?;
        let suffix = number.suffix.map(str::to_string);
        Some(match number.value {
            NumberValue::Int(value) => {
                let value = i128::from(value);
                Literal::Int(if negative { -value } else { value }, suffix)
            }
            NumberValue::Float(value) => {
                Literal::Float(if negative { -value } else { value }, suffix)
            }
        })
    }

    /// A string without interpolations, as a pattern needs it.
    pub(super) fn plain_string(&mut self, string: ast::StringExpr<'t>) -> Option<Literal> {
        let mut text = String::new();
        for part in string.parts() {
            let ast::StringPart::Text(token) = part else {
                return None;
            };
            text.push_str(&literal::unescape(token.text()).0);
        }
        Some(Literal::Str(text))
    }

    /// A string, with its interpolations if it has any.
    pub(super) fn string(&mut self, string: ast::StringExpr<'t>) -> Option<ExprKind> {
        if let Some(plain) = self.plain_string(string) {
            return Some(ExprKind::Literal(plain));
        }
        let mut parts = Vec::new();
        for part in string.parts() {
            parts.push(match part {
                ast::StringPart::Text(token) => {
                    FormatPart::Text(literal::unescape(token.text()).0.into_owned())
                }
                ast::StringPart::Interpolation(inner) => {
                    let value = self.expression(inner.expr()?);
                    let spec = inner.spec().and_then(|spec| FormatSpec::parse(spec).ok());
                    FormatPart::Value(value, spec.unwrap_or_default())
                }
            });
        }
        Some(ExprKind::Format(parts))
    }
}
