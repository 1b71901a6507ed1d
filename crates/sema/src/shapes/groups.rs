//! Groups: the clauses of bindings that are found together.
//!
//! In a recursive group the extents of its bindings are symbols at first. Clauses are solved
//! without the reads of such extents; what they fix is put for the symbols, and the reads count
//! from then on (language.md §4).

use einlang_source::map::HashSet;

use einlang_index::{MinMax, Var};

use super::Analyser;
use super::clauses::Record;
use super::scopes::Opened;
use super::solve::Attempt;
use super::symbols::Origin;
use super::value::{Shape, natural};
use crate::hir::*;
use crate::types::Ty;
use crate::types::groups;

impl<'p> Analyser<'p> {
    pub(super) fn group(&mut self, statements: &'p [Statement], group: &Group) {
        let members = || group.statements.iter().map(|index| &statements[*index]);
        if members().all(|statement| self.is_given(statement)) {
            return;
        }
        let clauses = members().any(|statement| matches!(statement, Statement::Clause(_)));
        if !clauses && !group.recursive {
            for statement in members() {
                self.closed(|cx| cx.statement(statement));
            }
            return;
        }
        let outermost = self.is_outermost();
        let outer = outermost.then(|| std::mem::take(&mut self.frame));
        let held = std::mem::replace(&mut self.frame.holding, true);
        let mut targets: Vec<LocalId> = Vec::new();
        for local in members().flat_map(groups::bound) {
            if !targets.contains(&local) {
                targets.push(local);
            }
        }
        let until = self.until_extent(members());
        self.until.push(until);
        self.placeholders.push(HashSet::default());
        if group.recursive {
            for target in &targets {
                let ty = self.typed_here().local(*target).clone();
                let shape = self.placeholder(&ty, *target);
                if let Some(open) = self.placeholders.last_mut() {
                    shape.for_each_var(&mut |var| {
                        open.insert(var);
                    });
                }
                self.own.insert((self.cur, *target));
                self.bind(*target, shape);
            }
        }
        let mut records: Vec<Record<'p>> = Vec::new();
        for statement in members() {
            match statement {
                Statement::Clause(clause) => records.push(self.clause(clause)),
                other => records.push(self.plain_member(other)),
            }
        }
        self.until.pop();
        self.frame.holding = held;
        self.solve_group(&records, &targets, group.recursive, outermost);
        self.placeholders.pop();
        for target in &targets {
            self.own.remove(&(self.cur, *target));
        }
        if let Some(outer) = outer {
            self.frame = outer;
        }
    }

    /// The run-time extent of open axes, where some clause ends by `until`.
    fn until_extent(&mut self, members: impl Iterator<Item = &'p Statement>) -> Option<Var> {
        let clause = members.into_iter().find_map(|statement| match statement {
            Statement::Clause(clause) if clause.until.is_some() => Some(clause),
            _ => None,
        })?;
        let target = *clause.targets.first()?;
        let name = format!("len({})", self.text(self.body()[target].name.name));
        let var = self.symbols.symbol(&name, Origin::Until(self.cur, target));
        self.facts.nonnegative(var);
        Some(var)
    }

    /// A shape whose extents are still to be found.
    fn placeholder(&mut self, ty: &Ty, target: LocalId) -> Shape {
        match ty {
            Ty::Tensor(element, extents) => {
                let name = self.text(self.body()[target].name.name).to_owned();
                let axes = (0..extents.len())
                    .map(|axis| {
                        let name = format!("{name}.shape[{axis}]");
                        let var = self.symbols.symbol(&name, Origin::Unbound);
                        self.facts.nonnegative(var);
                        MinMax::from(var)
                    })
                    .collect();
                let element = self.placeholder(element, target);
                Shape::tensor(axes, element)
            }
            Ty::Tuple(parts) => {
                Shape::Record(parts.iter().map(|part| self.placeholder(part, target)).collect())
            }
            Ty::Struct(def, args) => match self.field_types(*def, args) {
                Some(parts) => {
                    Shape::Record(parts.iter().map(|part| self.placeholder(part, target)).collect())
                }
                None => Shape::Opaque,
            },
            _ => Shape::Opaque,
        }
    }

    fn solve_group(
        &mut self,
        records: &[Record<'p>],
        targets: &[LocalId],
        recursive: bool,
        outermost: bool,
    ) {
        let mut attempts = self.attempts(records, outermost && !recursive);
        while recursive && self.define_axes(records, &attempts, targets) {
            attempts = self.attempts(records, false);
        }
        for (record, attempt) in records.iter().zip(&attempts) {
            self.take_ranges(record.from, record.to, attempt);
            self.take_equalities(attempt);
        }
        let from = records.first().map(|record| record.from).unwrap_or_default();
        for target in targets {
            if records.iter().any(|r| r.clause.is_some() && r.targets.contains(target)) {
                self.define_binding(records, *target, recursive);
            }
        }
        if recursive {
            self.define_rest(targets);
        }
        if outermost {
            if recursive {
                // The extents are all known now; what they say about bounds is asked again.
                attempts = self.attempts(records, true);
            }
            for (record, attempt) in records.iter().zip(&attempts) {
                self.take_obligations(attempt);
                self.doubt_unseen(record.from, record.to, attempt);
            }
        }
        let to = self.frame.mark();
        self.note_coverage(records, targets);
        if recursive {
            self.check_recurrence(records, targets);
        }
        if outermost {
            self.judge_gap_reads(from.accesses, to.accesses);
            self.drop_since(from);
        }
    }

    fn attempts(&self, records: &[Record<'p>], judge: bool) -> Vec<Attempt> {
        records.iter().map(|record| self.attempt(record.from, record.to, judge)).collect()
    }

    /// Puts what the clauses say for extents that were still to be found. False when nothing new
    /// was found.
    fn define_axes(
        &mut self,
        records: &[Record<'p>],
        attempts: &[Attempt],
        targets: &[LocalId],
    ) -> bool {
        let mut found: Vec<(Var, MinMax)> = Vec::new();
        for target in targets {
            let Some(shape) = self.here().locals.get(target).cloned() else { continue };
            let Shape::Tensor(axes, _) = &shape else { continue };
            for (axis, extent) in axes.iter().enumerate() {
                let var = extent.as_quasi().and_then(|quasi| quasi.as_var());
                let Some(var) = var.filter(|var| self.symbols.is_open(*var)) else { continue };
                let ends: Vec<MinMax> = (records.iter().zip(attempts))
                    .filter(|(record, _)| record.targets.contains(target))
                    .filter_map(|(record, attempt)| self.end_of(record, attempt, *target, axis))
                    .collect();
                if let Ok(end) = MinMax::max_of(ends) {
                    found.push((var, self.facts.simplified(&natural(end))));
                }
            }
        }
        for record in records {
            for target in &record.targets {
                if let Some(known) = self.here().locals.get(target).cloned() {
                    let part = self.symbols.resolved_shape(&record.part(*target));
                    let whole = match (record.clause, &known) {
                        (Some(_), Shape::Tensor(_, element)) => (**element).clone(),
                        _ => known,
                    };
                    let part = if record.clause.is_some() { part.element().clone() } else { part };
                    self.matched(&whole, &part, &mut found);
                }
            }
        }
        let mut progress = false;
        for (var, value) in found {
            if self.symbols.is_open(var) && !self.symbols.mentions_open(&value) {
                self.symbols.define(var, value);
                progress = true;
            }
        }
        progress
    }

    /// What an open shape turns out to be, where another one is known.
    fn matched(&self, open: &Shape, known: &Shape, found: &mut Vec<(Var, MinMax)>) {
        match (open, known) {
            (Shape::Tensor(axes, element), Shape::Tensor(extents, other)) => {
                for (axis, extent) in axes.iter().zip(extents) {
                    if let Some(var) = axis.as_quasi().and_then(|quasi| quasi.as_var()) {
                        found.push((var, extent.clone()));
                    }
                }
                self.matched(element, other, found);
            }
            (Shape::Tensor(axes, _), Shape::Ints(values)) => {
                if let Some(var) = axes.first().and_then(|a| a.as_quasi()).and_then(|q| q.as_var())
                {
                    found.push((var, MinMax::from(values.len() as i64)));
                }
            }
            (Shape::Record(parts), Shape::Record(others)) => {
                for (part, other) in parts.iter().zip(others) {
                    self.matched(part, other, found);
                }
            }
            _ => {}
        }
    }

    /// Where one axis of a clause ends.
    fn end_of(
        &self,
        record: &Record<'p>,
        attempt: &Attempt,
        target: LocalId,
        axis: usize,
    ) -> Option<MinMax> {
        record.clause?;
        if axis < record.slots.len() {
            return match &record.slots[axis] {
                Opened::Index(position) => {
                    let range = attempt.range(self.frame.indices[*position].var)?;
                    let mut indices =
                        self.frame.indices[record.from.indices..record.to.indices].to_vec();
                    for index in &mut indices {
                        index.range = attempt.range(index.var).cloned();
                    }
                    let end = self.widest(&range.hi()?, &indices);
                    (!self.symbols.mentions_open(&end)).then_some(end)
                }
                Opened::Point(value) => value.add_constant(1).ok(),
                Opened::Unknown => None,
            };
        }
        let extents = record.body_extents(target);
        let extent = self.symbols.resolved(extents.get(axis - record.slots.len())?);
        (!self.symbols.mentions_open(&extent)).then_some(extent)
    }

    /// The shape of a binding: the box around its clauses, and the axes and fields of its bodies.
    fn define_binding(&mut self, records: &[Record<'p>], target: LocalId, recursive: bool) {
        let own: Vec<&Record<'p>> =
            records.iter().filter(|r| r.clause.is_some() && r.targets.contains(&target)).collect();
        let n_axes = match self.typed_here().local(target) {
            Ty::Tensor(_, extents) => extents.len(),
            _ => own.first().map_or(0, |record| record.slots.len()),
        };
        let before = self.here().locals.get(&target).cloned().filter(|_| recursive);
        let mut axes = Vec::with_capacity(n_axes);
        for axis in 0..n_axes {
            let ends: Vec<MinMax> =
                own.iter().filter_map(|record| self.final_end(record, target, axis)).collect();
            let end = MinMax::max_of(ends).ok().map(|end| self.facts.simplified(&natural(end)));
            axes.push(end.unwrap_or_else(|| {
                let source = super::symbols::Source::Local(self.cur, target);
                self.fresh_axis(source, &Vec::new(), axis, n_axes)
            }));
        }
        if let Some(Shape::Tensor(open, _)) = &before {
            for (axis, end) in open.iter().zip(&axes) {
                if let Some(var) = axis.as_quasi().and_then(|quasi| quasi.as_var()) {
                    self.symbols.define(var, end.clone());
                }
            }
        }
        let element = self.element_of(&own, target, before.as_ref());
        self.bind(target, Shape::tensor(axes.clone(), element));
        self.agree(&own, target, &axes);
        self.clause_annotations(&own, target);
    }

    fn final_end(&self, record: &Record<'p>, target: LocalId, axis: usize) -> Option<MinMax> {
        if axis < record.slots.len() {
            return match &record.slots[axis] {
                Opened::Index(position) => {
                    let range = self.frame.indices[*position].range.as_ref()?;
                    let indices = &self.frame.indices[record.from.indices..record.to.indices];
                    Some(self.widest(&range.hi()?, indices))
                }
                Opened::Point(value) => self.symbols.resolved(value).add_constant(1).ok(),
                Opened::Unknown => None,
            };
        }
        let extent =
            self.symbols.resolved(record.body_extents(target).get(axis - record.slots.len())?);
        (!self.symbols.mentions_open(&extent)).then_some(extent)
    }

    /// The shape of the elements, from a clause that does not need the binding itself.
    fn element_of(
        &mut self,
        own: &[&Record<'p>],
        target: LocalId,
        before: Option<&Shape>,
    ) -> Shape {
        let parts: Vec<Shape> = own
            .iter()
            .map(|record| self.symbols.resolved_shape(&record.part(target)).element().clone())
            .collect();
        let closed = parts.iter().find(|part| {
            let mut open = false;
            part.for_each_var(&mut |var| open |= self.symbols.is_open(var));
            !open
        });
        let element = match (closed, before) {
            (Some(part), _) => part.clone(),
            (None, Some(shape)) => shape.element().clone(),
            (None, None) => Shape::Opaque,
        };
        super::reductions::without_integers(&element)
    }

    /// Extents that nothing determines are whatever a run finds.
    fn define_rest(&mut self, targets: &[LocalId]) {
        for target in targets {
            let Some(shape) = self.here().locals.get(target).cloned() else { continue };
            let mut open = Vec::new();
            shape.for_each_var(&mut |var| {
                if self.symbols.is_open(var) {
                    open.push(var);
                }
            });
            for (axis, var) in open.into_iter().enumerate() {
                let source = super::symbols::Source::Local(self.cur, *target);
                let known = self.fresh_axis(source, &Vec::new(), axis, 2);
                self.symbols.define(var, known);
            }
            let shape = self.symbols.resolved_shape(&shape);
            self.bind(*target, shape);
        }
    }
}
