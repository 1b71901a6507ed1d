//! `xs with [i, 1..3] = e` where the elements are strings, enums or records with them: new lists.

use einlang_tir::host::{Block, HostArg, HostKind, HostType, Intrinsic};
use einlang_tir::op::{Op, Trap};
use einlang_tir::types::Elem;

use super::module::loc;
use super::tables::i64_const;
use super::value::{R, Val};
use super::{Lower, unsupported};
use crate::hir::{ExprId, ExprKind, Subscript};

/// The positions `from..to` along one axis, and whether it is a single one.
#[derive(Clone)]
struct Along {
    from: HostArg,
    to: Option<HostArg>,
    single: bool,
}

impl<'p> Lower<'p> {
    /// A list with some of its elements replaced.
    pub(super) fn update_list(
        &mut self,
        host: HostArg,
        ty: &HostType,
        updates: &'p [(Vec<Subscript>, ExprId)],
    ) -> R<Val<'p>> {
        if self.in_region() {
            return unsupported(self.here, "`with` on a list inside a tensor body");
        }
        let mut list = host;
        for (subscripts, value) in updates {
            let mut along = Vec::with_capacity(subscripts.len());
            for subscript in subscripts {
                along.push(self.along(subscript)?);
            }
            let new = self.eval(*value)?;
            let of = self.ty(*value);
            let new = self.hosted(&new, &of)?;
            let of = self.host_type(&of)?;
            self.flush();
            list = self.replaced((list, ty), &along, (new, &of))?;
        }
        Ok(Val::Host(list, ty.clone()))
    }

    fn along(&mut self, subscript: &'p Subscript) -> R<Along> {
        let Subscript::Expr(expr) = subscript else {
            return match subscript {
                Subscript::All(_) => Ok(Along { from: i64_const(0), to: None, single: false }),
                _ => unsupported(self.here, "this subscript of a list"),
            };
        };
        if let ExprKind::Range { start, end, inclusive } = self.body().kind(*expr) {
            let from = match start {
                Some(start) => self.wide_integer(*start)?,
                None => i64_const(0),
            };
            let to = match end {
                Some(end) if *inclusive => {
                    let end = self.wide_integer(*end)?;
                    Some(self.host_op(Op::Add, vec![end, i64_const(1)]))
                }
                Some(end) => Some(self.wide_integer(*end)?),
                None => None,
            };
            return Ok(Along { from, to, single: false });
        }
        let from = self.wide_integer(*expr)?;
        let to = self.host_op(Op::Add, vec![from.clone(), i64_const(1)]);
        Ok(Along { from, to: Some(to), single: true })
    }

    fn wide_integer(&mut self, expr: ExprId) -> R<HostArg> {
        let value = self.eval(expr)?;
        let scalar = self.expect_scalar(value, self.here)?;
        let host = self.host_scalar(&scalar)?;
        Ok(self.host_cast(host, scalar.elem, Elem::I64))
    }

    /// The list with a value at some positions: everywhere the same, or its elements in order.
    fn replaced(
        &mut self,
        (list, ty): (HostArg, &HostType),
        along: &[Along],
        (value, of): (HostArg, &HostType),
    ) -> R<HostArg> {
        let (HostType::List(item), Some((first, rest))) = (ty, along.split_first()) else {
            return Ok(value);
        };
        let kind = HostKind::Intrinsic(Intrinsic::ListLen, vec![list.clone()]);
        let length = self.host_value_of(HostType::Scalar(Elem::I64), kind);
        let (from, to) = (first.from.clone(), first.to.clone().unwrap_or(length.clone()));
        self.check_positions(&from, &to, &length);
        let spread = !first.single && of == ty;
        let empty = self.host_value_of(ty.clone(), HostKind::List(Vec::new()));
        let start = vec![(empty, ty.clone())];
        let done = self.counted(i64_const(0), length, start, |cx, counter, lists| {
            let get = |list: &HostArg, at: HostArg| {
                HostKind::Intrinsic(Intrinsic::ListGet, vec![list.clone(), at])
            };
            let kept = cx.host_value_of((**item).clone(), get(&list, counter.clone()));
            let inside = cx.is_between(&counter, &from, &to);
            let (then, ()) = cx.block(Vec::new(), |cx| {
                let (value, of) = match spread {
                    true => {
                        let at = cx.host_op(Op::Sub, vec![counter, from.clone()]);
                        (cx.host_value_of((**item).clone(), get(&value, at)), &**item)
                    }
                    false => (value.clone(), of),
                };
                let new = cx.replaced((kept.clone(), item), rest, (value, of))?;
                Ok((vec![new], ()))
            })?;
            let (otherwise, ()) = cx.block(Vec::new(), |_| Ok((vec![kept.clone()], ())))?;
            let chosen = cx.host_value_of((**item).clone(), HostKind::If(inside, then, otherwise));
            Ok(cx.pushed(lists, vec![chosen]))
        })?;
        Ok(done.into_iter().next().map_or(HostArg::Str(String::new()), |list| list.0))
    }

    fn is_between(&mut self, at: &HostArg, from: &HostArg, to: &HostArg) -> HostArg {
        let bool = HostType::Scalar(Elem::Bool);
        let low = HostKind::Op(Op::Ge, vec![at.clone(), from.clone()]);
        let low = self.host_value_of(bool.clone(), low);
        let high = HostKind::Op(Op::Lt, vec![at.clone(), to.clone()]);
        let high = self.host_value_of(bool.clone(), high);
        self.host_value_of(bool, HostKind::Op(Op::And, vec![low, high]))
    }

    /// Stops the program unless the positions lie in the list, or there are none.
    fn check_positions(&mut self, from: &HostArg, to: &HostArg, length: &HostArg) {
        let bool = HostType::Scalar(Elem::Bool);
        let test = |cx: &mut Self, op: Op, args: Vec<HostArg>| {
            cx.host_value_of(HostType::Scalar(Elem::Bool), HostKind::Op(op, args))
        };
        let low = test(self, Op::Ge, vec![from.clone(), i64_const(0)]);
        let high = test(self, Op::Le, vec![to.clone(), length.clone()]);
        let inside = test(self, Op::And, vec![low, high]);
        let none = test(self, Op::Ge, vec![from.clone(), to.clone()]);
        let fine = self.host_value_of(bool, HostKind::Op(Op::Or, vec![inside, none]));
        let at = loc(self.here);
        let message = "an element outside the list is replaced".to_owned();
        let trap = self.block(Vec::new(), |cx| {
            cx.host_inst(Vec::new(), HostKind::Trap(Trap::OutOfBounds, message), at);
            Ok((Vec::new(), ()))
        });
        let otherwise = trap.map(|(block, ())| block).unwrap_or_default();
        self.host_inst(Vec::new(), HostKind::If(fine, Block::default(), otherwise), at);
    }
}
