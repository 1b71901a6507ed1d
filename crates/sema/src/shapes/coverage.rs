//! Which points of a binding its clauses define, and who can read the others.

use einlang_index::{Affine, Constraint, Domain, Map, MinMax, Quasi, Result, Set, Truth, Var};
use einlang_source::{Diagnostic, Severity, Span};

use super::Analyser;
use super::clauses::Record;
use super::facts::vars_of;
use super::frame::{Access, At};
use super::result::{ClauseShape, Slot};
use super::scopes::Opened;
use crate::errors;
use crate::hir::*;
use crate::types::{InstanceId, Ty};

/// What is known of the points of a binding.
#[derive(Debug)]
pub(super) struct Coverage {
    pub(super) name: String,
    pub(super) span: Span,
    /// The clauses.
    spans: Vec<Span>,
    pub(super) dims: Vec<Var>,
    /// The points of the box.
    pub(super) whole: Domain,
    /// The points that some clause defines, those under a guard that is not affine included.
    pub(super) defined: Domain,
    gap: Gap,
    /// Where a point that no clause defines can be read.
    pub(super) read: Option<Span>,
}

#[derive(Debug)]
enum Gap {
    /// Every point is defined.
    None,
    /// These are not, for some values of the symbols.
    Points(Domain),
    /// A guard that data decides leaves out some.
    Guarded,
}

impl<'p> Analyser<'p> {
    /// Records the clauses of bindings and the points they define.
    pub(super) fn note_coverage(&mut self, records: &[Record<'p>], targets: &[LocalId]) {
        for target in targets {
            let own: Vec<&Record<'p>> =
                records.iter().filter(|record| record.targets.contains(target)).collect();
            let mut clauses = Vec::new();
            for record in &own {
                match self.clause_shape(record, *target) {
                    Some(Ok(clause)) => clauses.push(clause),
                    // Something was reported, or is beyond what can be decided.
                    Some(Err(_)) | None => {
                        clauses.clear();
                        break;
                    }
                }
            }
            if clauses.is_empty() {
                continue;
            }
            if own.iter().any(|record| record.clause.is_none()) {
                // A plain `let` covers the one point it has.
                self.here().bindings.insert(*target, clauses);
                continue;
            }
            let first = own.first().map(|record| record.span);
            let own_reads = self.own.contains(&(self.cur, *target));
            let is_box = self.is_box(&clauses);
            let mut has_gaps = !is_box;
            if let Some(span) = first
                && (own_reads || !is_box)
                && let Ok(coverage) = self.covered(*target, &clauses, span)
            {
                has_gaps = !matches!(coverage.gap, Gap::None);
                self.coverage.insert((self.cur, *target), coverage);
            }
            if has_gaps {
                self.here().gaps.insert(*target);
            }
            self.here().bindings.insert(*target, clauses);
        }
    }

    /// Whether there is one clause, which starts at 0 on every axis and leaves out nothing.
    fn is_box(&self, clauses: &[ClauseShape]) -> bool {
        let [clause] = clauses else { return false };
        let from_zero = |slot: &Slot| match slot {
            Slot::Index(var) => {
                let index = self.frame.indices.iter().rev().find(|index| index.var == *var);
                index.and_then(|index| index.range.as_ref()).is_some_and(|range| {
                    let whole = range.hi().is_some_and(|hi| !self.mentions_index(&hi));
                    whole && range.lo().is_some_and(|lo| lo.as_constant() == Some(0))
                })
            }
            Slot::Point(value) => value.as_constant() == Some(0),
            Slot::Body(_) => true,
        };
        clause.covers_all && clause.slots.iter().all(from_zero)
    }

    /// The points of one clause; nothing when a range is missing.
    fn clause_shape(
        &mut self,
        record: &Record<'p>,
        target: LocalId,
    ) -> Option<Result<ClauseShape>> {
        let mut slots = Vec::new();
        let mut dims: Vec<Var> = Vec::new();
        for slot in &record.slots {
            match slot {
                Opened::Index(position) => {
                    let index = &self.frame.indices[*position];
                    index.range.as_ref()?;
                    slots.push(Slot::Index(index.var));
                    dims.push(index.var);
                }
                Opened::Point(value) => {
                    slots.push(Slot::Point(self.symbols.resolved(value)));
                    dims.push(self.symbols.index("point"));
                }
                Opened::Unknown => return None,
            }
        }
        for extent in record.body_extents(target) {
            slots.push(Slot::Body(self.symbols.resolved(&extent)));
            dims.push(self.symbols.index("body"));
        }
        let guard = record.guard.resolved(&self.symbols);
        let domain = self.clause_domain(record, &slots, &dims, &guard);
        let (span, guarded, covers_all) = (record.span, !guard.is_exact(), guard.is_true());
        Some(domain.map(|domain| ClauseShape { span, slots, dims, domain, guarded, covers_all }))
    }

    fn clause_domain(
        &self,
        record: &Record<'p>,
        slots: &[Slot],
        dims: &[Var],
        guard: &super::formula::Formula,
    ) -> Result<Domain> {
        let mut domain = Domain::everything(dims);
        for (slot, dim) in slots.iter().zip(dims) {
            domain = match slot {
                Slot::Index(var) => {
                    let indices = &self.frame.indices[record.from.indices..record.to.indices];
                    let index = indices.iter().find(|index| index.var == *var);
                    match index.and_then(|index| index.range.as_ref()) {
                        Some(range) => self.resolved_range(range).restrict(&domain, *dim)?,
                        None => domain,
                    }
                }
                Slot::Point(value) => {
                    let low = value.at_most_domain(dims, &(*dim).into())?;
                    let high = value.at_least_domain(dims, &(*dim).into())?;
                    domain.intersect(&low)?.intersect(&high)?
                }
                Slot::Body(extent) => restrict_to_box(&domain, dims, *dim, extent)?,
            };
        }
        domain.intersect(&guard.domain(dims)?)
    }

    fn covered(&self, target: LocalId, clauses: &[ClauseShape], span: Span) -> Result<Coverage> {
        let dims = clauses[0].dims.clone();
        let extents = match self.instances[self.cur.index()].locals.get(&target) {
            Some(shape) => shape.extents(),
            None => Vec::new(),
        };
        let mut whole = Domain::everything(&dims[..]);
        for (dim, extent) in dims.iter().zip(&extents) {
            whole = restrict_to_box(&whole, &dims, *dim, extent)?;
        }
        let mut sure = Domain::nothing(&dims[..]);
        let mut defined = Domain::nothing(&dims[..]);
        for clause in clauses {
            let domain = clause.domain.renamed(&dims)?;
            defined = defined.union(&domain)?;
            if !clause.guarded {
                sure = sure.union(&domain)?;
            }
        }
        let mut facts = self.facts.about(vars_of(&extents).into_iter().chain(whole.params()));
        for clause in clauses {
            // Sizes for which a clause has no point at all are not what a gap is about.
            if let Ok(used) = clause.domain.occupied()
                && let [set] = used.sets()
            {
                set.constraints().for_each(|constraint| facts.assume(constraint));
            }
        }
        let missing = |covered: &Domain| -> Result<Option<Domain>> {
            let gap = whole.subtract(covered)?;
            Ok((gap.always_empty_given(facts.set()) == Truth::False).then_some(gap))
        };
        let gap = match missing(&defined)? {
            Some(points) => Gap::Points(points),
            None if !clauses.iter().any(|clause| clause.guarded) => Gap::None,
            None => match missing(&sure)? {
                Some(_) => Gap::Guarded,
                None => Gap::None,
            },
        };
        let name = self.text(self.body()[target].name.name).to_owned();
        let spans = clauses.iter().map(|clause| clause.span).collect();
        Ok(Coverage { name, span, spans, dims, whole, defined, gap, read: None })
    }

    /// Looks for reads of points that no clause defines.
    pub(super) fn judge_gap_reads(&mut self, from: usize, to: usize) {
        for number in from..to {
            let access = self.frame.accesses[number].clone();
            if access.default || self.own.contains(&access.binding) {
                continue;
            }
            let Some(coverage) = self.coverage.get(&access.binding) else { continue };
            let can_read = match &coverage.gap {
                Gap::None => false,
                _ if coverage.read.is_some() => false,
                Gap::Guarded => true,
                Gap::Points(points) => {
                    let points = points.clone();
                    self.reaches(&access, &points).unwrap_or(true)
                }
            };
            if can_read && let Some(coverage) = self.coverage.get_mut(&access.binding) {
                coverage.read = Some(access.span);
            }
        }
    }

    /// Whether a read can meet some points.
    fn reaches(&mut self, access: &Access, points: &Domain) -> Result<bool> {
        let Some((domain, at)) = self.reading(access)? else { return Ok(true) };
        let map = Map::new(domain.dims(), &at[..]);
        let meeting = domain.intersect(&points.preimage(&map)?)?;
        let facts = self.facts.about(meeting.params());
        Ok(meeting.always_empty_given(facts.set()) != Truth::True)
    }

    /// The points at which a read happens, and the point it reads. Axes that are read in part or
    /// by data have a dimension of their own. Nothing when a range is not known.
    pub(super) fn reading(&mut self, access: &Access) -> Result<Option<(Domain, Vec<Quasi>)>> {
        let mut dims: Vec<Var> = Vec::new();
        for position in &access.scope {
            dims.push(self.frame.indices[*position].var);
        }
        let n_scope = dims.len();
        let (instance, local) = access.binding;
        let extents = self.local_shape(instance, local).extents();
        let mut at = Vec::with_capacity(access.at.len());
        for place in &access.at {
            match place {
                At::Point(value) => match self.symbols.resolved(&MinMax::from(value.clone())) {
                    MinMax::Value(value) => at.push(value),
                    _ => return Ok(None),
                },
                At::Data | At::Part(..) => {
                    let dim = self.symbols.index("any");
                    dims.push(dim);
                    at.push(dim.into());
                }
            }
        }
        let mut domain = Domain::everything(&dims[..]);
        for position in &access.scope {
            let index = &self.frame.indices[*position];
            let Some(range) = &index.range else { return Ok(None) };
            domain = self.resolved_range(range).restrict(&domain, index.var)?;
        }
        let mut next = n_scope;
        for (axis, place) in access.at.iter().enumerate() {
            let (low, high) = match place {
                At::Point(_) => continue,
                At::Data => (MinMax::from(0), extents.get(axis).cloned()),
                At::Part(low, high) => (low.clone(), Some(high.clone())),
            };
            let dim = dims[next];
            next += 1;
            let (low, high) =
                (self.symbols.resolved(&low), high.map(|h| self.symbols.resolved(&h)));
            domain = domain.intersect(&low.at_most_domain(&dims, &dim.into())?)?;
            if let Some(high) = high {
                let last = high.add_constant(-1)?;
                domain = domain.intersect(&last.at_least_domain(&dims, &dim.into())?)?;
            }
        }
        let condition = access.condition.resolved(&self.symbols);
        domain = domain.intersect(&condition.domain(&dims)?)?;
        Ok(Some((domain, at)))
    }

    /// Warns about gaps that an expression or output can read.
    pub(super) fn report_gaps(&mut self) {
        let mut found: Vec<((InstanceId, LocalId), Coverage)> = self.coverage.drain().collect();
        found.sort_by_key(|(key, _)| *key);
        for ((instance, local), coverage) in found {
            let count = match &coverage.gap {
                Gap::None => continue,
                Gap::Guarded => None,
                Gap::Points(points) => points.count().ok(),
            };
            let mistaken = |d: &Diagnostic| {
                d.severity == Severity::Error
                    && coverage.spans.iter().any(|span| span.contains(d.primary.span))
            };
            if self.diagnostics.iter().any(mistaken) {
                // The gap may be what the mistake leaves behind.
                continue;
            }
            let zero = self.has_zero(self.typed.instance(instance).local(local));
            let output = self.is_output(instance, &coverage.name);
            if coverage.read.is_none() && !output && zero {
                continue;
            }
            let undefined = errors::Undefined {
                name: &coverage.name,
                rank: coverage.dims.len(),
                count,
                zero,
                span: coverage.span,
                read: coverage.read,
                output,
            };
            self.report(errors::undefined_points(&undefined, self.options.strict));
        }
    }

    /// Whether undefined points of a type can be zero.
    fn has_zero(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Tensor(element, _) => self.has_zero(element),
            Ty::Tuple(parts) => parts.iter().all(|part| self.has_zero(part)),
            Ty::Struct(def, args) => match self.field_types(*def, args) {
                Some(parts) => parts.iter().all(|part| self.has_zero(part)),
                None => false,
            },
            Ty::Enum(..) | Ty::Option(_) | Ty::Result(..) | Ty::Fn(_) => false,
            _ => true,
        }
    }

    /// Whether a binding of the root module leaves the program.
    fn is_output(&self, instance: InstanceId, name: &str) -> bool {
        let root = self.typed.modules.first().copied().flatten();
        if root != Some(instance) {
            return false;
        }
        if let Some(outputs) = &self.options.outputs {
            return outputs.iter().any(|output| output == name);
        }
        let has_main = self.program.defs.iter().any(|(_, def)| {
            def.inside.is_none()
                && def.module.index() == 0
                && matches!(def.kind, DefKind::Fn(_))
                && self.text(def.name.name) == "main"
        });
        !has_main
    }
}

/// The points with `0 <= dim < extent`.
pub(super) fn restrict_to_box(
    domain: &Domain,
    dims: &[Var],
    dim: Var,
    extent: &MinMax,
) -> Result<Domain> {
    if let Some(affine) = extent.as_quasi().and_then(Quasi::as_affine) {
        let var = Affine::var(dim);
        let inside = [Constraint::Ge(var.clone()), Constraint::lt(&var, affine)?];
        return domain.restricted(&Set::new(inside)?);
    }
    let domain = domain.intersect(&Domain::where_nonnegative(dims, &[dim.into()])?)?;
    let last = extent.add_constant(-1)?;
    domain.intersect(&last.at_least_domain(dims, &dim.into())?)
}
