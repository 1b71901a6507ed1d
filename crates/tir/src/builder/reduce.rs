//! Reductions of the builder.

use einlang_index::{Domain, GaveUp, Quasi, Var};

use std::rc::Rc;

use super::Builder;
use super::expr::{Combine, Expr, Fold, FoldStart, NodeKind};
use super::ix::{Ix, Range};
use crate::op::Op;
use crate::region::ReduceFlags;

impl Builder {
    /// The sum over all indices.
    pub fn sum<R: Into<Range>, const N: usize>(
        &self,
        indices: [(&str, R); N],
        body: impl FnOnce([Ix; N]) -> Expr,
    ) -> Expr {
        self.reduce(Op::Add, indices, |ix| (None, body(ix)))
    }

    /// The largest term.
    pub fn max<R: Into<Range>, const N: usize>(
        &self,
        indices: [(&str, R); N],
        body: impl FnOnce([Ix; N]) -> Expr,
    ) -> Expr {
        self.reduce(Op::Max, indices, |ix| (None, body(ix)))
    }

    /// A reduction by an operation that has an identity, over the points where the guard holds.
    pub fn reduce<R: Into<Range>, const N: usize>(
        &self,
        op: Op,
        indices: [(&str, R); N],
        body: impl FnOnce([Ix; N]) -> (Option<Expr>, Expr),
    ) -> Expr {
        let (domain, ix) = self.ranges(indices);
        let (guard, term) = body(ix);
        let elem = term.elem();
        let Some(identity) = op.identity(elem) else {
            return Expr::error(elem, format!("`{}` has no identity", op.name()));
        };
        let laws = op.info().laws;
        let flags = ReduceFlags {
            commutative: true,
            idempotent: laws.idempotent.at(elem),
            reassociable: true,
        };
        let start = FoldStart::Identity(vec![Expr::new(elem, NodeKind::Const(identity))]);
        let (terms, combine) = (vec![term], Combine::Op(op));
        let fold = Rc::new(Fold { domain, guard, terms, combine, start, flags });
        Expr::new(elem, NodeKind::Part(fold, 0))
    }

    /// A reduction with a state of several scalars: `init` is combined once, on the left, and
    /// terms follow in index order. `combine` is associative.
    pub fn fold<R: Into<Range>, const N: usize, const S: usize>(
        &self,
        indices: [(&str, R); N],
        init: [Expr; S],
        combine: impl FnOnce([Expr; S], [Expr; S]) -> [Expr; S],
        body: impl FnOnce([Ix; N]) -> [Expr; S],
    ) -> [Expr; S] {
        let (domain, ix) = self.ranges(indices);
        let elems = init.clone().map(|part| part.elem());
        let mut params = Vec::new();
        let mut side = || {
            elems.map(|elem| {
                let value = self.state.borrow_mut().module.supply.value(elem);
                params.push(value);
                Expr::new(elem, NodeKind::Value(value))
            })
        };
        let (left, right) = (side(), side());
        let combine = Combine::Region(params, combine(left, right).into());
        let flags = ReduceFlags { reassociable: true, ..ReduceFlags::default() };
        let (start, terms) = (FoldStart::Init(init.into()), body(ix).into());
        let fold = Rc::new(Fold { domain, guard: None, terms, combine, start, flags });
        let mut at = 0..S;
        elems.map(|elem| {
            Expr::new(elem, NodeKind::Part(Rc::clone(&fold), at.next().unwrap_or_default()))
        })
    }

    /// Fresh indices and the box of their ranges.
    fn ranges<R: Into<Range>, const N: usize>(
        &self,
        indices: [(&str, R); N],
    ) -> (Result<Domain, GaveUp>, [Ix; N]) {
        let mut dims: Vec<Var> = Vec::with_capacity(N);
        let mut bounds: Vec<Ix> = Vec::with_capacity(2 * N);
        let ix = indices.map(|(name, range)| {
            let (var, range) = (self.index(name), range.into());
            let ix = Ix(Ok(var.into()));
            dims.push(var);
            bounds.push(&ix - &range.lo);
            bounds.push(&range.hi - &ix - 1);
            ix
        });
        let bounds: Result<Vec<Quasi>, GaveUp> = bounds.into_iter().map(|bound| bound.0).collect();
        (bounds.and_then(|bounds| Domain::where_nonnegative(dims, &bounds)), ix)
    }
}
