//! Expressions: the dispatch over their kinds, records, branches and updates.

use super::declared::Mode;
use super::layout::{Axis, Layout};
use super::{Checker, MAX_DEPTH, Reach, Val};
use crate::errors;
use crate::hir::*;
use crate::types::Ty;

/// The layout of a value of which only the type is known.
pub(super) fn unnamed(ty: &Ty) -> Layout {
    Layout::unnamed(super::plain(ty).rank())
}

impl<'p> Checker<'p> {
    /// The layout of an expression, which is as long as its type has axes.
    pub(super) fn expr(&mut self, expr: ExprId) -> Val {
        let rank = self.ty(expr).rank();
        if self.depth >= MAX_DEPTH {
            return Val::of_layout(Layout::unnamed(rank));
        }
        self.depth += 1;
        let mut val = self.expr_kind(expr);
        self.depth -= 1;
        self.fill(&mut val.layout, rank);
        if !val.layout.is_empty() {
            self.work_mut().exprs.insert(expr, val.layout.clone());
        }
        val
    }

    fn fill(&self, layout: &mut Layout, rank: usize) {
        if layout.axes.len() != rank {
            layout.axes = vec![Axis::default(); rank];
        }
    }

    fn expr_kind(&mut self, expr: ExprId) -> Val {
        match self.body().kind(expr) {
            ExprKind::Error | ExprKind::Literal(_) | ExprKind::Last | ExprKind::Coordinate(_) => {
                Val::default()
            }
            ExprKind::Format(parts) => self.format(parts),
            ExprKind::Name(res) => self.name_val(*res, expr),
            ExprKind::Tuple(items) => self.tuple(items),
            ExprKind::Array(items) => self.array(items),
            ExprKind::Comprehension { element, items } => self.comprehension(*element, items),
            ExprKind::Block(block) => self.block(block),
            ExprKind::If { condition, then, otherwise } => {
                self.branch(expr, *condition, *then, *otherwise)
            }
            ExprKind::Match { scrutinee, arms } => self.matching(expr, *scrutinee, arms),
            ExprKind::Lambda { .. } => Val::of_layout(Layout::of_function(Some(self.cur))),
            ExprKind::Unary(_, operand) | ExprKind::Differential(operand) => self.expr(*operand),
            ExprKind::Binary(op, a, b) => self.binary(expr, *op, *a, *b),
            ExprKind::Range { start, end, .. } => {
                let mut reach = Reach::default();
                for end in [start, end].into_iter().flatten() {
                    reach.merge(&self.expr(*end).reach);
                }
                Val { layout: Layout::default(), reach }
            }
            ExprKind::Cast(value, ty) => self.cast(*value, ty),
            ExprKind::Call { callee, args } => self.call(expr, *callee, args),
            ExprKind::Reduce { op, indices, body } => self.reduction(expr, *op, indices, *body),
            ExprKind::UserReduce { indices, init, combine, body } => {
                self.user_reduction(expr, indices, *init, *combine, *body)
            }
            ExprKind::CoordCall { callee, indices, args } => {
                self.coordinate_call(expr, *callee, indices, args)
            }
            ExprKind::Access { base, subscripts, default } => {
                self.access(expr, *base, subscripts, *default)
            }
            ExprKind::Field(base, field) => self.field(*base, *field),
            ExprKind::Struct { res, fields } => self.structure(*res, fields),
            ExprKind::AndThen(value, then) | ExprKind::OkThen(value, then) => {
                self.piped(expr, *value, *then)
            }
            ExprKind::OrElse(value, other) => self.or_else(*value, *other),
            ExprKind::Catch(value, handler) => self.catch(expr, *value, *handler),
            ExprKind::Try(value) => {
                let val = self.expr(*value);
                Val { layout: Layout::of_parts(vec![val.layout]), reach: val.reach }
            }
            ExprKind::With { base, updates } => self.updates(*base, updates),
            ExprKind::Where { value, items, otherwise } => {
                self.guarded(expr, *value, items, *otherwise)
            }
        }
    }

    fn format(&mut self, parts: &[FormatPart]) -> Val {
        for part in parts {
            if let FormatPart::Value(value, _) = part {
                self.expr(*value);
            }
        }
        Val::default()
    }

    fn tuple(&mut self, items: &[ExprId]) -> Val {
        let mut reach = Reach::default();
        let mut parts = Vec::new();
        for item in items {
            let val = self.expr(*item);
            reach.merge(&val.reach);
            parts.push(val.layout);
        }
        Val { layout: Layout::of_parts(parts), reach }
    }

    fn array(&mut self, items: &[ExprId]) -> Val {
        let mut reach = Reach::default();
        let mut element: Option<(ExprId, Layout)> = None;
        for item in items {
            let val = self.expr(*item);
            reach.merge(&val.reach);
            element = Some(match element {
                None => (*item, val.layout),
                Some((first, layout)) => {
                    (first, self.agree((first, &layout), (*item, &val.layout)))
                }
            });
        }
        let element = element.map(|(_, layout)| layout).unwrap_or_default();
        Val { layout: element.after(vec![Axis::default()]), reach }
    }

    /// A single unfiltered generator over a tensor hands on the name of its axis.
    fn comprehension(&mut self, element: ExprId, items: &[CompItem]) -> Val {
        let (mut outer, mut n_generators, mut filtered) = (Axis::default(), 0, false);
        for item in items {
            match item {
                CompItem::Generator(pattern, iterable) => {
                    let val = self.expr(*iterable);
                    n_generators += 1;
                    outer = val.layout.axes.first().copied().unwrap_or_default();
                    self.bind(pattern, &val.layout.element(), &val.reach);
                }
                CompItem::Binding(local, value) => {
                    let val = self.expr(*value);
                    self.set_local(*local, val.layout, val.reach);
                }
                CompItem::Condition(condition) => {
                    self.expr(*condition);
                    filtered = true;
                }
            }
        }
        let val = self.expr(element);
        let outer = if n_generators == 1 && !filtered { outer } else { Axis::default() };
        Val { layout: val.layout.after(vec![outer]), reach: val.reach }
    }

    fn branch(
        &mut self,
        expr: ExprId,
        condition: ExprId,
        then: ExprId,
        otherwise: Option<ExprId>,
    ) -> Val {
        let decided = self.typed.instance(self.work().instance).conditions.get(&expr).copied();
        match (decided, otherwise) {
            (Some(true), _) => return self.expr(then),
            (Some(false), Some(otherwise)) => return self.expr(otherwise),
            (Some(false), None) => return Val::default(),
            _ => {}
        }
        let (test, first) = (self.expr(condition), self.expr(then));
        let Some(otherwise) = otherwise else { return Val::default() };
        let second = self.expr(otherwise);
        let reach = self.node(expr, &[(condition, &test), (then, &first), (otherwise, &second)]);
        Val { layout: self.agree((then, &first.layout), (otherwise, &second.layout)), reach }
    }

    fn matching(&mut self, expr: ExprId, scrutinee: ExprId, arms: &[Arm]) -> Val {
        let matched = self.expr(scrutinee);
        let mut values: Vec<(ExprId, Val)> = vec![(scrutinee, matched.clone())];
        let mut layout: Option<(ExprId, Layout)> = None;
        for arm in arms {
            self.bind(&arm.pattern, &matched.layout, &matched.reach);
            if let Some(guard) = arm.guard {
                self.expr(guard);
            }
            let val = self.expr(arm.value);
            layout = Some(match layout {
                None => (arm.value, val.layout.clone()),
                Some((first, layout)) => {
                    (first, self.agree((first, &layout), (arm.value, &val.layout)))
                }
            });
            values.push((arm.value, val));
        }
        let operands: Vec<(ExprId, &Val)> = values.iter().map(|(expr, val)| (*expr, val)).collect();
        let reach = self.node(expr, &operands);
        Val { layout: layout.map(|(_, layout)| layout).unwrap_or_default(), reach }
    }

    fn guarded(
        &mut self,
        expr: ExprId,
        value: ExprId,
        items: &[WhereItem],
        otherwise: Option<ExprId>,
    ) -> Val {
        let mut values: Vec<(ExprId, Val)> = Vec::new();
        for item in items {
            match item {
                WhereItem::Binding(local, value) => {
                    let val = self.expr(*value);
                    self.set_local(*local, val.layout, val.reach);
                }
                WhereItem::Guard(guard) => {
                    let val = self.expr(*guard);
                    values.push((*guard, val));
                }
            }
        }
        let val = self.expr(value);
        let mut layout = val.layout.clone();
        values.push((value, val));
        if let Some(otherwise) = otherwise {
            let other = self.expr(otherwise);
            layout = self.agree((value, &layout), (otherwise, &other.layout));
            values.push((otherwise, other));
        }
        let operands: Vec<(ExprId, &Val)> = values.iter().map(|(expr, val)| (*expr, val)).collect();
        let reach = self.node(expr, &operands);
        Val { layout, reach }
    }

    fn cast(&mut self, value: ExprId, ty: &TypeRef) -> Val {
        let val = self.expr(value);
        let TypeKind::Tensor(..) = ty.kind else { return val };
        let mut fit = self.fit_here();
        Val { layout: self.fit(ty, &val.layout, Mode::Cast, &mut fit), reach: val.reach }
    }

    fn field(&mut self, base: ExprId, field: Ident) -> Val {
        let val = self.expr(base);
        let name = self.text(field.name);
        let layout = match self.ty(base) {
            Ty::Tuple(_) => {
                let part = name.parse::<usize>().ok().and_then(|index| val.layout.parts.get(index));
                part.cloned().unwrap_or_default()
            }
            Ty::Struct(def, _) => self.struct_field(*def, field, &val.layout),
            _ => Layout::default(),
        };
        Val { layout, reach: val.reach }.reading(field.name)
    }

    /// A field as it was built, or as it is declared.
    fn struct_field(&mut self, def: DefId, field: Ident, layout: &Layout) -> Layout {
        let item = self.program.def(def);
        let DefKind::Struct(structure) = &item.kind else { return Layout::default() };
        let position = structure.fields.iter().position(|other| other.name.name == field.name);
        let Some(position) = position else { return Layout::default() };
        if let Some(part) = layout.parts.get(position) {
            return part.clone();
        }
        match item.inside.or(self.program.modules[item.module].body) {
            Some(body) => self.written(&structure.fields[position].ty, body),
            None => Layout::default(),
        }
    }

    /// `P { x: 1.0 }`: fields are like arguments.
    fn structure(&mut self, res: Res, fields: &[(Ident, ExprId)]) -> Val {
        let declared: Option<(DefId, &'p [Field])> = match res {
            Res::Def(def) => match &self.program.def(def).kind {
                DefKind::Struct(item) => Some((def, &item.fields)),
                _ => None,
            },
            _ => None,
        };
        let mut reach = Reach::default();
        let n_fields = declared.map_or(0, |(_, fields)| fields.len());
        let mut parts = vec![Layout::default(); n_fields];
        for (name, value) in fields {
            let val = self.expr(*value);
            reach.merge(&val.reach);
            let Some((def, declared)) = declared else { continue };
            let position = declared.iter().position(|field| field.name.name == name.name);
            let Some(position) = position else { continue };
            parts[position] = self.field_value(def, &declared[position], *value, &val.layout);
        }
        Val { layout: Layout::of_parts(parts), reach }
    }

    fn field_value(&mut self, def: DefId, field: &Field, value: ExprId, found: &Layout) -> Layout {
        let item = self.program.def(def);
        let Some(body) = item.inside.or(self.program.modules[item.module].body) else {
            return found.clone();
        };
        let mut fit = super::declared::Fit::new(body, Default::default());
        let layout = self.fit(&field.ty, found, Mode::Annotation, &mut fit);
        if fit.wrong.is_some() {
            let wanted = self.spell(&field.ty, body);
            let (shown, span) = (self.show(found), self.tail_span(value));
            self.report(errors::annotation_layout(&wanted, &shown, span, field.ty.span));
        }
        layout
    }

    /// `x with [i] = e`
    fn updates(&mut self, base: ExprId, updates: &[(Vec<Subscript>, ExprId)]) -> Val {
        let val = self.expr(base);
        let mut reach = val.reach.clone();
        for (subscripts, value) in updates {
            let part = self.part(base, &val, subscripts);
            let new = self.expr(*value);
            reach.merge(&part.reach);
            reach.merge(&new.reach);
            if new.layout.axes.len() == part.layout.axes.len() {
                self.agree((base, &part.layout), (*value, &new.layout));
            }
        }
        Val { layout: val.layout, reach }
    }
}
