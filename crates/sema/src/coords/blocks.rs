//! Statements: bindings, clauses, and the groups of clauses that need each other.

use einlang_source::Name;

use super::layout::{Axis, Layout};
use super::variants::Node;
use super::{Checker, Reach, Val};
use crate::hir::*;
use crate::types::groups;

/// First passes inside first passes are given up beyond this: each repeats the work below.
const MAX_TRIALS: u32 = 2;

impl<'p> Checker<'p> {
    pub(super) fn block(&mut self, block: &'p Block) -> Val {
        if block.statements.iter().any(|statement| matches!(statement, Statement::Clause(_))) {
            let id = self.body_id();
            for group in groups::order(self.program, id, block, &self.captures) {
                self.group(&block.statements, group);
            }
        } else {
            for statement in &block.statements {
                self.statement(statement);
            }
        }
        block.value.map(|value| self.expr(value)).unwrap_or_default()
    }

    /// Walks statements that belong together. Those that read each other are walked twice: the
    /// first pass finds their layouts and reports nothing, the second checks the reads.
    fn group(&mut self, statements: &'p [Statement], group: &Group) {
        for local in group.statements.iter().flat_map(|index| groups::bound(&statements[*index])) {
            self.work_mut().locals.remove(&local);
        }
        if group.recursive && self.n_trials < MAX_TRIALS {
            let n_said = self.work().diagnostics.len();
            let reported = self.work().reported.clone();
            self.n_trials += 1;
            for index in &group.statements {
                self.statement(&statements[*index]);
            }
            self.n_trials -= 1;
            let work = self.work_mut();
            work.diagnostics.truncate(n_said);
            work.reported = reported;
        }
        for index in &group.statements {
            self.statement(&statements[*index]);
        }
    }

    fn statement(&mut self, statement: &'p Statement) {
        match statement {
            Statement::Let { pattern, ty, value, attrs } => {
                let mut bound = Vec::new();
                groups::pattern_locals(pattern, &mut bound);
                self.defining(bound.first().copied(), attrs, |cx| {
                    let mut val = cx.expr(*value);
                    if let Some(ty) = ty {
                        val.layout = cx.annotated(ty, *value, &val.layout);
                    }
                    cx.bind(pattern, &val.layout, &val.reach);
                });
            }
            Statement::Clause(clause) => {
                self.defining(clause.targets.first().copied(), &clause.attrs, |cx| {
                    cx.clause(clause);
                });
            }
            Statement::For { pattern, iterable, body } => {
                let val = self.expr(*iterable);
                self.bind(pattern, &val.layout.element(), &val.reach);
                self.expr(*body);
            }
            Statement::Expr(value) => {
                self.expr(*value);
            }
        }
    }

    /// Runs `f` as part of the definition of a binding.
    fn defining(&mut self, binding: Option<LocalId>, attrs: &[Attr], f: impl FnOnce(&mut Self)) {
        let list = self.listed(attrs);
        let outer = (self.place.binding, self.place.listed);
        // What an inner block binds is still part of the definition around it.
        self.place.binding = outer.0.or(binding);
        if !list.is_empty() {
            let lists = &mut self.work_mut().lists;
            lists.push(list);
            self.place.listed = self.work().lists.len() - 1;
        }
        f(self);
        (self.place.binding, self.place.listed) = outer;
    }

    /// `#[broadcast(scale: b, h, w)]`: a name before a colon holds until the next.
    fn listed(&self, attrs: &[Attr]) -> Vec<(Name, Name)> {
        let mut list = Vec::new();
        for attr in attrs.iter().filter(|attr| self.text(attr.name.name) == "broadcast") {
            let mut tensor = None;
            for (name, coordinate) in &attr.args {
                tensor = name.or(tensor);
                list.extend(tensor.map(|tensor| (tensor.name, coordinate.name)));
            }
        }
        list
    }

    fn clause(&mut self, clause: &'p Clause) {
        let n_before = self.place.scope.len();
        let bound = self.bind_indices(&clause.slots);
        let mut val = self.expr(clause.value);
        if let Some(until) = clause.until {
            self.expr(until.condition);
            self.expr(until.max);
        }
        self.leave(n_before);
        let mut slots = self.slot_axes(&clause.slots);
        if let Some(ty) = &clause.ty {
            (slots, val.layout) = self.clause_annotation(clause, ty, slots, val.layout);
        }
        self.clause_node(clause, &bound, &val);
        let parts: Vec<Layout> = match &clause.targets[..] {
            [_] => vec![val.layout],
            targets => {
                let part = |n: usize| val.layout.parts.get(n).cloned().unwrap_or_default();
                (0..targets.len()).map(part).collect()
            }
        };
        for (target, part) in clause.targets.iter().zip(parts) {
            let layout = part.after(slots.clone());
            let known = self.work().locals.get(target).cloned();
            let layout = known.map_or(layout.clone(), |known| known.joined(&layout));
            self.set_local(*target, layout, Reach::default());
        }
    }

    /// The definition itself spreads its body over the indices that the body does not use.
    fn clause_node(&mut self, clause: &Clause, bound: &[super::Dep], val: &Val) {
        let body = val.reached();
        if body.deps.is_empty() || bound.is_empty() {
            return;
        }
        let mut whole = Reach::default();
        whole.add(bound, &[]);
        whole.add(&body.deps, &[]);
        let (binding, listed) = (self.place.binding, self.place.listed);
        let known = self.work_mut().nodes.remove(&clause.value);
        let mut operands = known.map_or_else(Vec::new, |node| node.operands);
        // Recorded with the operands of the value, which lack the same coordinates and more.
        if operands.is_empty() {
            operands.push((clause.value, body));
        }
        operands.push((clause.value, Reach { tensors: Vec::new(), ..whole }));
        self.work_mut().nodes.insert(clause.value, Node { operands, binding, listed });
    }

    /// The axes that the slots define.
    fn slot_axes(&self, slots: &[Subscript]) -> Vec<Axis> {
        let work = self.work();
        let mut axes = Vec::new();
        for slot in slots {
            match slot {
                Subscript::Index(binder) => {
                    let index = work.indices.get(&binder.local).copied().unwrap_or_default();
                    axes.push(index.axis());
                }
                Subscript::Rest { local: Res::Local(rest), .. } => {
                    let carried = work.rests.get(rest).into_iter().flatten();
                    axes.extend(carried.map(|carried| carried.axis()));
                }
                Subscript::Rest { .. } => {}
                Subscript::Expr(_) | Subscript::All(_) => axes.push(Axis::default()),
            }
        }
        axes
    }

    /// The annotation after the slots is of the body or of the whole.
    fn clause_annotation(
        &mut self,
        clause: &Clause,
        ty: &TypeRef,
        slots: Vec<Axis>,
        found: Layout,
    ) -> (Vec<Axis>, Layout) {
        let TypeKind::Tensor(_, dims) = &ty.kind else { return (slots, found) };
        let whole = found.clone().after(slots.clone());
        if dims.len() == whole.axes.len() && !slots.is_empty() {
            let mut axes = self.annotated(ty, clause.value, &whole).axes;
            let inner = axes.split_off(slots.len().min(axes.len()));
            return (axes, Layout { axes: inner, ..found });
        }
        let layout = self.annotated(ty, clause.value, &found);
        (slots, layout)
    }
}
