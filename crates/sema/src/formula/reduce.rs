//! Differentials of reductions, `match` and `where`.

use super::math::Math;
use super::scope::{Meaning, Scope, Writer};
use crate::builtins::Reduction;
use crate::hir::*;

impl Writer<'_> {
    pub(super) fn reduce_change(
        &mut self,
        scope: &Scope,
        expr: ExprId,
        op: Reduction,
        indices: &[Subscript],
        body: ExprId,
    ) -> Math {
        let change = self.change(scope, body);
        if change.is_zero() {
            return Math::zero();
        }
        let over = self.subscripts(scope, indices);
        match op {
            Reduction::Sum | Reduction::Mean => {
                Math::atom(format!("{}[{over}]({})", op.as_str(), change.text()))
            }
            Reduction::Max | Reduction::Min => {
                let which = if op == Reduction::Max { "argmax" } else { "argmin" };
                let names = self.index_names(scope, indices);
                let names = if names.contains(',') { format!("({names})") } else { names };
                let value = self.value(scope, body).text();
                Math::loose(format!("{} where {names} = {which}[{over}]({value})", change.text()))
            }
            Reduction::Prod => self.product_change(scope, indices, body, &change, &over),
            _ => self.own(scope, expr),
        }
    }

    fn index_names(&self, scope: &Scope, indices: &[Subscript]) -> String {
        let names = indices.iter().filter_map(|index| match index {
            Subscript::Index(binder) => Some(self.local_text(scope, binder.local)),
            _ => None,
        });
        names.collect::<Vec<_>>().join(", ")
    }

    /// Each factor changes, times all others.
    fn product_change(
        &mut self,
        scope: &Scope,
        indices: &[Subscript],
        body: ExprId,
        change: &Math,
        over: &str,
    ) -> Math {
        let mut other = scope.clone();
        let mut differs = Vec::new();
        for index in indices {
            let Subscript::Index(binder) = index else { continue };
            let name = self.local_text(scope, binder.local);
            let primed = Math::atom(format!("{name}'"));
            differs.push(format!("{name}' != {name}"));
            let meaning = Meaning { value: primed, change: Math::zero() };
            other.named.insert(binder.local, meaning);
        }
        let others = self.subscripts(&other, indices);
        let rest = format!(
            "prod[{others}]({} where {})",
            self.value(&other, body).text(),
            differs.join(" || ")
        );
        Math::atom(format!("sum[{over}]({})", Math::atom(rest).scaling(change).text()))
    }

    pub(super) fn match_change(&mut self, scope: &Scope, scrutinee: ExprId, arms: &[Arm]) -> Math {
        let on = self.value(scope, scrutinee).text();
        let mut written = Vec::with_capacity(arms.len());
        let mut all_zero = true;
        for arm in arms {
            let pattern = self.pattern_text(scope, &arm.pattern);
            let guard = arm.guard.map_or(String::new(), |guard| {
                format!(" where {}", self.value(scope, guard).text())
            });
            let change = self.change(scope, arm.value);
            all_zero &= change.is_zero();
            written.push(format!("{pattern}{guard} => {}", change.text()));
        }
        match all_zero {
            true => Math::zero(),
            false => Math::loose(format!("match {on} {{ {} }}", written.join(", "))),
        }
    }

    /// Bindings of a `where` are lines of their own; guards stay where they are.
    pub(super) fn where_change(
        &mut self,
        scope: &Scope,
        value: ExprId,
        items: &[WhereItem],
        otherwise: Option<ExprId>,
    ) -> Math {
        let mut scope = scope.clone();
        let mut guards = Vec::new();
        for item in items {
            match item {
                WhereItem::Binding(local, value) => self.define(&mut scope, *local, *value),
                WhereItem::Guard(guard) => guards.push(self.value(&scope, *guard).text()),
            }
        }
        let change = self.change(&scope, value);
        let other = otherwise.map(|other| self.change(&scope, other)).unwrap_or_default();
        if guards.is_empty() || change.is_zero() && other.is_zero() {
            return change;
        }
        let other = match otherwise {
            Some(_) => format!(" else {}", other.text()),
            None => String::new(),
        };
        Math::loose(format!("{} where {}{other}", change.text(), guards.join(", ")))
    }
}
