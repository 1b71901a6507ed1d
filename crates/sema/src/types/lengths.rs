//! Whether the length of an element of a comprehension depends on the generators around it, which
//! makes the comprehension jagged. Calls are followed into functions that are named.

use einlang_source::map::HashSet;

use super::Checker;
use super::ty::Ty;
use super::walk;
use crate::hir::*;

/// Calls are followed so deep; beyond that a length counts as fixed.
const MAX_CALLS: usize = 8;

impl Checker<'_> {
    /// Whether the length of an element depends on the generators around it.
    pub(super) fn varies(&self, element: ExprId, outer: &HashSet<LocalId>) -> bool {
        let is_row = |expr: ExprId| {
            let found = self.work().exprs.get(&expr).map(|ty| self.shallow(ty));
            matches!(found, Some(Ty::Tensor(..)))
        };
        let lengths = Lengths {
            program: self.program,
            body: self.body(),
            outer,
            is_row: &is_row,
            n_calls: 0,
        };
        lengths.vary(element, &mut Vec::new())
    }
}

/// The values that lengths may depend on, in one body.
struct Lengths<'a> {
    program: &'a Program,
    body: &'a Body,
    outer: &'a HashSet<LocalId>,
    /// Whether a name of `outer` stands for a row of a tensor: all rows are equally long.
    is_row: &'a dyn Fn(ExprId) -> bool,
    n_calls: usize,
}

impl Lengths<'_> {
    fn mentions(&self, expr: ExprId) -> bool {
        walk::mentions(self.body, expr, self.outer)
    }

    /// Whether the length of a value depends on `outer`; `open` are the bindings of blocks around.
    fn vary(&self, value: ExprId, open: &mut Vec<(LocalId, ExprId)>) -> bool {
        match self.body.kind(value) {
            ExprKind::Comprehension { element, items } => self.items_vary(*element, items, open),
            ExprKind::Access { subscripts, .. } => {
                subscripts.iter().any(|subscript| match subscript {
                    Subscript::Expr(expr) => {
                        matches!(self.body.kind(*expr), ExprKind::Range { .. })
                            && self.mentions(*expr)
                    }
                    _ => false,
                })
            }
            ExprKind::Block(block) => self.block_varies(block, open),
            ExprKind::If { then, otherwise, .. } => {
                self.vary(*then, open) || otherwise.is_some_and(|e| self.vary(e, open))
            }
            ExprKind::Match { arms, .. } => arms.iter().any(|arm| self.vary(arm.value, open)),
            ExprKind::Unary(_, of) | ExprKind::Cast(of, _) => self.vary(*of, open),
            ExprKind::Binary(_, a, b) => self.vary(*a, open) || self.vary(*b, open),
            ExprKind::Range { .. } => self.mentions(value),
            ExprKind::Name(Res::Local(local)) => {
                let known = open.iter().rposition(|known| known.0 == *local);
                known.is_some_and(|at| {
                    let bound = open[at].1;
                    self.vary(bound, &mut open[..at].to_vec())
                })
            }
            ExprKind::Call { callee, args } => self.call_varies(*callee, args, open),
            _ => false,
        }
    }

    fn items_vary(
        &self,
        element: ExprId,
        items: &[CompItem],
        open: &mut Vec<(LocalId, ExprId)>,
    ) -> bool {
        let dependent = items.iter().any(|item| match item {
            CompItem::Condition(_) => true,
            CompItem::Generator(_, iterable) => {
                self.mentions(*iterable) || self.vary(*iterable, open)
            }
            CompItem::Binding(..) => false,
        });
        // Iterating over a row of a tensor has the length of all rows.
        let rows = items.iter().all(|item| match item {
            CompItem::Generator(_, iterable) => {
                self.is_fixed(*iterable) && !self.vary(*iterable, open)
            }
            CompItem::Condition(_) => false,
            CompItem::Binding(..) => true,
        });
        (dependent && !rows) || self.vary(element, open)
    }

    /// A name of an outer generator that stands for a row of a tensor, or something that mentions
    /// no outer generator at all.
    fn is_fixed(&self, iterable: ExprId) -> bool {
        match self.body.kind(iterable) {
            ExprKind::Name(Res::Local(local)) if self.outer.contains(local) => {
                (self.is_row)(iterable)
            }
            _ => !self.mentions(iterable),
        }
    }

    fn block_varies(&self, block: &Block, open: &mut Vec<(LocalId, ExprId)>) -> bool {
        let Some(value) = block.value else { return false };
        let n_open = open.len();
        let named = match self.body.kind(value) {
            ExprKind::Name(Res::Local(local)) => Some(*local),
            _ => None,
        };
        let mut ranges = false;
        for statement in &block.statements {
            match statement {
                Statement::Let { pattern, value, .. } => {
                    if let PatternKind::Bind(local, None) = &untyped(pattern).kind {
                        open.push((*local, *value));
                    }
                }
                Statement::Clause(clause) if clause.targets.iter().any(|t| named == Some(*t)) => {
                    ranges |= clause.slots.iter().any(|slot| match slot {
                        Subscript::Index(binder) => {
                            binder.range.is_some_and(|range| self.mentions(range))
                        }
                        _ => false,
                    });
                }
                _ => {}
            }
        }
        let found = ranges || self.vary(value, open);
        open.truncate(n_open);
        found
    }

    /// Whether a type says all its lengths without any value of `outer`.
    fn is_fixed_type(&self, ty: &TypeRef) -> bool {
        match &ty.kind {
            TypeKind::Tensor(_, dims) => dims.iter().all(|dim| match dim {
                Dim::Any(_) | Dim::AnyRank(_) | Dim::Rest(..) => false,
                Dim::Extent(Res::Local(local), _) => !self.outer.contains(local),
                Dim::Extent(..) => true,
                Dim::Expr(expr) => !self.mentions(*expr),
            }),
            TypeKind::Scalar(_) => true,
            _ => false,
        }
    }

    fn call_varies(&self, callee: ExprId, args: &[Arg], open: &mut Vec<(LocalId, ExprId)>) -> bool {
        let ExprKind::Name(Res::Def(def)) = self.body.kind(callee) else { return false };
        let DefKind::Fn(item) = &self.program.def(*def).kind else { return false };
        let body = &self.program.bodies[item.body];
        let Some(value) = body.value else { return false };
        let mut outer = HashSet::default();
        for (at, arg) in args.iter().enumerate() {
            if self.vary(arg.value, open) {
                return true;
            }
            let param = body.params.get(at).map(|param| untyped(&param.pattern));
            if let Some(PatternKind::Bind(local, None)) = param.map(|param| &param.kind)
                && self.mentions(arg.value)
            {
                outer.insert(*local);
            }
        }
        let inner = Lengths {
            program: self.program,
            body,
            outer: &outer,
            // The argument's length was looked at above.
            is_row: &|_| true,
            n_calls: self.n_calls + 1,
        };
        let says_so = body.ret.as_ref().is_some_and(|ret| inner.is_fixed_type(ret));
        self.n_calls < MAX_CALLS && !says_so && inner.vary(value, &mut Vec::new())
    }
}

fn untyped(pattern: &Pattern) -> &Pattern {
    match &pattern.kind {
        PatternKind::Typed(inner, _) => untyped(inner),
        _ => pattern,
    }
}
