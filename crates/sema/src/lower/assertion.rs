//! `assert`: a condition, and a message that is made only when the condition is false.

use einlang_tir::constant::Const;
use einlang_tir::host::{Block, HostArg, HostKind, HostType, Intrinsic};
use einlang_tir::message::{Message, MessagePart};
use einlang_tir::op::Trap;
use einlang_tir::region::{InstKind, Region};
use einlang_tir::types::Loc;

use super::Lower;
use super::module::loc;
use super::text::spec_text;
use super::types::elem_of;
use super::value::{R, Scalar, Val};
use crate::hir::{Arg, ExprId, ExprKind, FormatPart, Literal};

/// What is reported without a message.
const NO_MESSAGE: &str = "the condition is false";

impl<'p> Lower<'p> {
    pub(super) fn assertion(&mut self, args: &'p [Arg]) -> R<Val<'p>> {
        let Some(condition) = args.first() else { return Ok(Val::unit()) };
        let message = args.get(1).map(|arg| arg.value);
        let value = self.eval(condition.value)?;
        let scalar = self.expect_scalar(value, self.here)?;
        let at = loc(self.here);
        match self.in_region() {
            true => self.assert_in_region(&scalar, message, at)?,
            false => self.assert_on_host(&scalar, message, at)?,
        }
        Ok(Val::unit())
    }

    fn assert_in_region(&mut self, scalar: &Scalar, message: Option<ExprId>, at: Loc) -> R<()> {
        let condition = self.arg(scalar)?;
        if let Some(message) = self.written_message(message) {
            let message = message.into();
            self.push_inst(Vec::new(), InstKind::Assert { condition, message }, at);
            return Ok(());
        }
        let (otherwise, ()) = self.region(|cx| {
            let message = cx.region_message(message)?;
            let condition = Const::bool(false).into();
            cx.push_inst(Vec::new(), InstKind::Assert { condition, message }, at);
            Ok((Vec::new(), ()))
        })?;
        let kind = InstKind::If { condition, then: Region::default(), otherwise };
        self.push_inst(Vec::new(), kind, at);
        Ok(())
    }

    fn assert_on_host(&mut self, scalar: &Scalar, message: Option<ExprId>, at: Loc) -> R<()> {
        let condition = self.host_scalar(scalar)?;
        self.flush();
        if let Some(text) = self.written_message(message) {
            self.host_inst(Vec::new(), HostKind::Assert(condition, text), at);
            return Ok(());
        }
        let Some(message) = message else { return Ok(()) };
        let (otherwise, ()) = self.block(Vec::new(), |cx| {
            let text = cx.host_arg(message)?;
            let prefix = HostArg::Str("assertion failed: ".to_owned());
            let kind = HostKind::Intrinsic(Intrinsic::Concat, vec![prefix, text]);
            let text = cx.host_value_of(HostType::Str, kind);
            cx.host_inst(Vec::new(), HostKind::Fail(Trap::Assertion, text), at);
            Ok((Vec::new(), ()))
        })?;
        self.host_inst(Vec::new(), HostKind::If(condition, Block::default(), otherwise), at);
        Ok(())
    }

    /// A message without values.
    fn written_message(&self, message: Option<ExprId>) -> Option<String> {
        let Some(message) = message else { return Some(NO_MESSAGE.to_owned()) };
        match self.body().kind(message) {
            ExprKind::Literal(Literal::Str(text)) => Some(text.clone()),
            _ => None,
        }
    }

    /// A message with the scalars it shows; what only the host knows is left out.
    fn region_message(&mut self, message: Option<ExprId>) -> R<Message> {
        let parts = match message.map(|message| self.body().kind(message)) {
            Some(ExprKind::Format(parts)) => &parts[..],
            _ => return Ok(NO_MESSAGE.into()),
        };
        let mut lowered = Vec::with_capacity(parts.len());
        for part in parts {
            lowered.push(match part {
                FormatPart::Text(text) => MessagePart::Text(text.clone()),
                FormatPart::Value(expr, spec) => {
                    match elem_of(&self.ty(*expr)).is_some() && !self.needs_host(*expr) {
                        true => {
                            let value = self.eval(*expr)?;
                            let scalar = self.expect_scalar(value, self.here)?;
                            MessagePart::Value(self.arg(&scalar)?, spec_text(spec))
                        }
                        false => MessagePart::Text("…".to_owned()),
                    }
                }
            });
        }
        if lowered.is_empty() {
            return Ok(NO_MESSAGE.into());
        }
        Ok(Message(lowered))
    }
}
