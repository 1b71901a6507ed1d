//! Host matches: decision trees over the arms.
//!
//! Each arm is a row of tests. The first test of the first row is asked, and the rows are divided
//! by its answer; a variant's fields become tests of their own. Matches are exhaustive, so the last
//! row needs no test.

use einlang_tir::host::{HostArg, HostDef, HostKind, HostType};
use einlang_tir::op::Trap;
use einlang_tir::types::Ident;

use super::module::loc;
use super::value::{R, Val};
use super::{Lower, unsupported};
use crate::hir::{Arm, ExprId, LocalId, Pattern, PatternKind, Res};
use crate::types::Ty;

/// A value, its type, and the pattern it has to match.
pub(super) type Test<'p> = (Val<'p>, Ty, &'p Pattern);

/// One arm on its way through a host match: what is still to be tested, and what is bound.
#[derive(Clone)]
struct Row<'p> {
    tests: Vec<Test<'p>>,
    binds: Vec<(LocalId, Val<'p>)>,
    arm: &'p Arm,
}

impl<'p> Lower<'p> {
    /// A `match` by host blocks.
    pub(super) fn host_match(
        &mut self,
        value: &Val<'p>,
        ty: &Ty,
        arms: &'p [Arm],
        expr: ExprId,
    ) -> R<Val<'p>> {
        let row = |arm: &'p Arm| Row {
            tests: vec![(value.clone(), ty.clone(), &arm.pattern)],
            binds: Vec::new(),
            arm,
        };
        let result = self.ty(expr);
        self.decide(arms.iter().map(row).collect(), &result)
    }

    fn decide(&mut self, rows: Vec<Row<'p>>, result: &Ty) -> R<Val<'p>> {
        let mut rows = self.simplified(rows)?;
        if rows.is_empty() {
            return self.unreachable(result);
        }
        let first = rows.remove(0);
        let Some((value, ty, pattern)) = first.tests.first().cloned() else {
            for (local, value) in &first.binds {
                self.bind_owned(*local, value)?;
            }
            let Some(guard) = first.arm.guard else { return self.eval(first.arm.value) };
            let holds = self.eval(guard)?;
            let holds = self.expect_scalar(holds, self.here)?;
            let body = first.arm.value;
            return self.host_if(&holds, result, |cx| cx.eval(body), |cx| cx.decide(rows, result));
        };
        if let Val::Host(host, HostType::Enum(_)) = &value {
            let rows = [vec![first], rows].concat();
            return self.decide_enum(&value, host.clone(), &ty, rows, result);
        }
        let mut matched = first.clone();
        matched.tests.remove(0);
        if let PatternKind::Array(items) = &pattern.kind {
            let fits = self.test_length(items, &value)?;
            let others = rows.clone();
            let fitting = |cx: &mut Self| {
                // An element is looked at only if there is one.
                let inner = cx.inner(pattern, &value, &ty)?;
                matched.tests.splice(0..0, inner);
                cx.decide([vec![matched], others].concat(), result)
            };
            return match rows.is_empty() && first.arm.guard.is_none() {
                true => fitting(self),
                false => self.host_if(&fits, result, fitting, |cx| cx.decide(rows, result)),
            };
        }
        if rows.is_empty() && first.arm.guard.is_none() {
            // Every value matches some arm, so here it is this one.
            return self.decide(vec![matched], result);
        }
        let test = self.test(pattern, &value, &ty)?;
        let same = [vec![matched], rows.clone()].concat();
        self.host_if(&test, result, |cx| cx.decide(same, result), |cx| cx.decide(rows, result))
    }

    /// Rows without what needs no test: names are bound, records and alternatives taken apart.
    fn simplified(&mut self, rows: Vec<Row<'p>>) -> R<Vec<Row<'p>>> {
        let mut done = Vec::with_capacity(rows.len());
        let mut open: Vec<Row<'p>> = rows;
        open.reverse();
        while let Some(mut row) = open.pop() {
            let splits = |pattern: &Pattern| {
                let kind = &pattern.kind;
                !matches!(
                    kind,
                    PatternKind::Literal(_)
                        | PatternKind::Range { .. }
                        | PatternKind::Variant(..)
                        | PatternKind::Value(_)
                        | PatternKind::Error
                )
            };
            let found = row.tests.iter().position(|(value, _, pattern)| {
                let is_array = matches!(pattern.kind, PatternKind::Array(_));
                let is_enum = matches!(value, Val::Host(_, HostType::Enum(_)));
                let is_variant = is_enum && matches!(pattern.kind, PatternKind::Struct { .. });
                splits(pattern) && !is_array && !is_variant
            });
            let Some(at) = found else {
                done.push(row);
                continue;
            };
            let (value, ty, pattern) = row.tests.remove(at);
            match &pattern.kind {
                PatternKind::Bind(local, inner) => {
                    row.binds.push((*local, value.clone()));
                    row.tests
                        .extend(inner.iter().map(|inner| (value.clone(), ty.clone(), &**inner)));
                    open.push(row);
                }
                PatternKind::Typed(inner, _) => {
                    row.tests.insert(at, (value, ty, inner));
                    open.push(row);
                }
                PatternKind::Rest(local) => {
                    row.binds.extend(local.map(|local| (local, value)));
                    open.push(row);
                }
                PatternKind::Or(patterns) => {
                    for pattern in patterns.iter().rev() {
                        let mut row = row.clone();
                        row.tests.insert(at, (value.clone(), ty.clone(), pattern));
                        open.push(row);
                    }
                }
                PatternKind::Tuple(_) | PatternKind::Struct { .. } => {
                    let inner = self.inner(pattern, &value, &ty)?;
                    row.tests.splice(at..at, inner);
                    open.push(row);
                }
                _ => open.push(row),
            }
        }
        Ok(done)
    }

    /// A host `match` on the variants of one value.
    fn decide_enum(
        &mut self,
        value: &Val<'p>,
        host: HostArg,
        ty: &Ty,
        rows: Vec<Row<'p>>,
        result: &Ty,
    ) -> R<Val<'p>> {
        self.flush();
        let on = |row: &Row<'p>| row.tests.iter().position(|test| same_host(&test.0, value));
        let mut arms = Vec::new();
        for (variant, types) in self.variants_of(ty) {
            let hosts = self.host_types(&types)?;
            let params: Vec<HostDef> =
                hosts.into_iter().map(|ty| HostDef { number: self.new_number(), ty }).collect();
            let numbers: Vec<u32> = params.iter().map(|param| param.number).collect();
            let block = self.yielding(params, result, |cx| {
                let mut fields = Vec::with_capacity(types.len());
                for (number, ty) in numbers.iter().zip(&types) {
                    fields.push((cx.lifted(HostArg::Value(*number), ty, "field")?, ty.clone()));
                }
                let mut left = Vec::new();
                for row in &rows {
                    let mut row = row.clone();
                    let Some(at) = on(&row) else {
                        left.push(row);
                        continue;
                    };
                    let pattern = row.tests.remove(at).2;
                    if let Some(inner) = cx.variant_tests(pattern, &variant, &fields)? {
                        row.tests.splice(at..at, inner);
                        left.push(row);
                    }
                }
                cx.decide(left, result)
            })?;
            arms.push((Ident::new(&variant), block));
        }
        self.chosen(HostKind::Match(host, arms, None), result)
    }

    /// The tests on the fields, if a pattern is of this variant.
    fn variant_tests(
        &mut self,
        pattern: &'p Pattern,
        variant: &str,
        fields: &[(Val<'p>, Ty)],
    ) -> R<Option<Vec<Test<'p>>>> {
        let named = |cx: &Self, res: Res| match res {
            Res::Variant(def, at) => cx.variant_name(def, at),
            Res::Builtin(builtin) => builtin.to_string(),
            _ => String::new(),
        };
        Ok(match &pattern.kind {
            PatternKind::Variant(res, items) => (named(self, *res) == variant).then(|| {
                let fields = fields.iter().cloned();
                fields.zip(items).map(|((value, ty), item)| (value, ty, item)).collect()
            }),
            PatternKind::Value(res) => (named(self, *res) == variant).then(Vec::new),
            PatternKind::Struct { res, fields: items, .. } => {
                let (Res::Variant(def, at), true) = (*res, named(self, *res) == variant) else {
                    return Ok(None);
                };
                let names = self.variant_fields(def, at);
                let mut tests = Vec::with_capacity(items.len());
                for (name, item) in items {
                    let name = self.spelling(name.name);
                    if let Some(at) = names.iter().position(|field| field == name) {
                        tests.push((fields[at].0.clone(), fields[at].1.clone(), item));
                    }
                }
                Some(tests)
            }
            _ => return unsupported(pattern.span, "this pattern"),
        })
    }

    fn unreachable(&mut self, ty: &Ty) -> R<Val<'p>> {
        let at = loc(self.here);
        let message = "no arm matches".to_owned();
        self.host_inst(Vec::new(), HostKind::Trap(Trap::Assertion, message), at);
        if *ty == Ty::unit() {
            return Ok(Val::unit());
        }
        let host = self.host_type(ty)?;
        let value = self.dead_value(&host)?;
        self.lifted(value, ty, "dead")
    }
}

fn same_host(a: &Val<'_>, b: &Val<'_>) -> bool {
    match (a, b) {
        (Val::Host(HostArg::Value(a), _), Val::Host(HostArg::Value(b), _)) => a == b,
        _ => false,
    }
}
