//! Recurrences: every point that is read is defined, and there is an order.
//!
//! Whether there is one is decided by [`einlang_tir::order`], which every backend shares. It gets
//! the group with its domains and self-reads only: what is computed does not matter.

use einlang_source::map::HashMap;
use std::ops::Range;

use einlang_index::{Domain, Map, MinMax, Quasi, Result, Truth, Var, VarKind};
use einlang_source::Diagnostic;
use einlang_tir::constant::Const;
use einlang_tir::module::{
    Axis, Binding, Clause, Condition, Group, Module, Relation, Symbol, SymbolSource,
};
use einlang_tir::op::Op;
use einlang_tir::order::{CycleRead, NoOrder, find_order};
use einlang_tir::region::{
    Arg, Combiner, Def, Inst, InstKind, Over, Place, Read, ReduceFlags, Reduction, Region, Start,
    Subscript,
};
use einlang_tir::types::{Dim as TirDim, Elem, Ident as TirIdent, Loc};
use einlang_tir::vars::{rename_domain, rename_quasi};

use super::Analyser;
use super::clauses::Record;
use super::frame::{Access, At};
use crate::errors;
use crate::hir::*;

impl<'p> Analyser<'p> {
    pub(super) fn check_recurrence(&mut self, records: &[Record<'p>], targets: &[LocalId]) {
        let first = records.first().map(|record| record.from).unwrap_or_default();
        let last = records.last().map(|record| record.to).unwrap_or_default();
        let unsolved = self.frame.indices[first.indices..last.indices]
            .iter()
            .any(|index| index.range.is_none() || index.silent);
        if unsolved {
            return;
        }
        let n_before = self.diagnostics.len();
        for record in records {
            for number in record.from.accesses..record.to.accesses {
                let access = self.frame.accesses[number].clone();
                if self.own.contains(&access.binding)
                    && access.at.iter().any(|at| matches!(at, At::Data))
                {
                    self.instances[access.instance.index()].by_data.push(access.expr);
                }
                if targets.contains(&access.binding.1) && access.binding.0 == self.cur {
                    self.check_base(&access);
                }
            }
        }
        let wrong = self.diagnostics[n_before..]
            .iter()
            .any(|diagnostic| diagnostic.code.as_str().starts_with("E05"));
        if wrong {
            return;
        }
        let Ok(Some(problem)) = self.order_problem(records, targets) else { return };
        match find_order(&problem.0, &problem.0.groups[0]) {
            Ok(order) => self.here().orders.push((targets.to_vec(), order)),
            Err(NoOrder { cycle }) => {
                self.no_order(&cycle, &problem.1, first.accesses..last.accesses);
            }
        }
    }

    fn no_order(&mut self, cycle: &[CycleRead], names: &[String], accesses: Range<usize>) {
        let mut bindings: Vec<String> = Vec::new();
        let mut reads = Vec::new();
        for read in cycle {
            let Some(name) = names.get(read.reader.binding) else { continue };
            if !bindings.contains(name) {
                bindings.push(name.clone());
            }
            let mut candidates = self.frame.accesses[accesses.clone()].iter();
            let access = candidates.find(|access| Some(access.span) == read.loc.0).cloned();
            if let Some(access) = access {
                reads.push((name.clone(), self.show_access(&access), access.span));
            }
        }
        if reads.is_empty() {
            return;
        }
        let diagnostic = match &bindings[..] {
            [name] => errors::needs_own_future(name, &reads),
            _ => errors::cycle_of_bindings(&bindings, &reads),
        };
        self.report(diagnostic);
    }

    /// Every point of itself that a clause reads must be defined by some clause.
    fn check_base(&mut self, access: &Access) {
        if access.default || access.at.iter().any(|at| matches!(at, At::Data)) {
            return;
        }
        let Ok(Some(missing)) = self.missing_points(access) else { return };
        let Some(coverage) = self.coverage.get(&access.binding) else { return };
        let name = coverage.name.clone();
        let span = coverage.span;
        if self.is_zero_filled(access.binding.1) {
            if let Some(coverage) = self.coverage.get_mut(&access.binding) {
                coverage.read.get_or_insert(access.span);
            }
            return;
        }
        let point: Vec<String> =
            missing.iter().map(|at| self.symbols.show(&at.clone().into())).collect();
        let diagnostic = errors::no_base(&name, &point.join(", "), access.span, span);
        // Several reads may need the same point.
        let mut before = self.diagnostics.iter();
        let same = |other: &Diagnostic| {
            other.code == diagnostic.code
                && other.secondary == diagnostic.secondary
                && other.message == diagnostic.message
        };
        if !before.any(same) {
            self.report(diagnostic);
        }
    }

    /// Marked on any clause of the binding, or for the whole program.
    fn is_zero_filled(&self, target: LocalId) -> bool {
        self.options.zero_fill || self.zero_filled.contains(&target)
    }

    /// The first point that a read needs and no clause defines, if the read is bound to meet one.
    fn missing_points(&mut self, access: &Access) -> Result<Option<Vec<Quasi>>> {
        let Some((domain, at)) = self.reading(access)? else { return Ok(None) };
        if !access.condition.resolved(&self.symbols).is_exact() {
            return Ok(None);
        }
        let Some(coverage) = self.coverage.get(&access.binding) else { return Ok(None) };
        if coverage.dims.len() != at.len() {
            return Ok(None);
        }
        let map = Map::new(domain.dims(), &at[..]);
        let inside = domain.intersect(&coverage.whole.preimage(&map)?)?;
        let missing = inside.subtract(&coverage.defined.preimage(&map)?)?;
        let facts = self.facts.about(missing.params().into_iter().chain(domain.params()));
        if missing.always_empty_given(facts.set()) != Truth::False {
            return Ok(None);
        }
        let used = domain.restricted(facts.set())?.occupied()?;
        if used.is_subset(&missing.occupied()?) != Truth::True {
            // It depends on the symbols: found out when the program runs.
            return Ok(None);
        }
        let points = missing.image(&map, &coverage.dims)?;
        let piece = points.lexmin()?.into_iter().next();
        Ok(piece.map(|piece| piece.point))
    }

    /// The group as the order checker sees it, with the names of its bindings.
    fn order_problem(
        &mut self,
        records: &[Record<'p>],
        targets: &[LocalId],
    ) -> Result<Option<(Module, Vec<String>)>> {
        let mut builder = Skeleton { module: Module::new("order"), rename: HashMap::default() };
        let mut bindings: Vec<Binding> = Vec::new();
        let mut names = Vec::new();
        for (number, target) in targets.iter().enumerate() {
            let shape = self.local_shape(self.cur, *target);
            let extents = shape.extents();
            let name = self.text(self.body()[*target].name.name).to_owned();
            let mut axes = Vec::with_capacity(extents.len());
            for extent in &extents {
                let var = builder.module.vars.index(&format!("{name}.axis"));
                let extent = builder.extent(self, extent)?;
                axes.push(Axis { var, dim: TirDim::from(extent) });
            }
            names.push(name.clone());
            bindings.push(Binding {
                name: TirIdent::new(&format!("{number}.{name}")),
                elem: Elem::F32,
                axes,
                clauses: Vec::new(),
                zero_fill: false,
                loc: Loc::default(),
            });
        }
        for record in records {
            for target in &record.targets {
                let Some(position) = targets.iter().position(|other| other == target) else {
                    continue;
                };
                let clause =
                    self.statement_of(&mut builder, record, *target, &bindings, position, targets)?;
                match clause {
                    Some(clause) => bindings[position].clauses.push(clause),
                    None => return Ok(None),
                }
            }
        }
        for binding in &mut bindings {
            // Names as the user knows them, now that nothing is looked up any more.
            let domains: Vec<Domain> = binding.clauses.iter().map(|c| c.domain.0.clone()).collect();
            for (clause, domain) in binding.clauses.iter_mut().zip(Domain::make_disjoint(&domains)?)
            {
                clause.domain = Over(domain);
            }
        }
        builder.module.groups.push(Group { bindings, until: None });
        self.add_facts(&mut builder);
        Ok(Some((builder.module, names)))
    }

    fn add_facts(&self, builder: &mut Skeleton) {
        let symbols: Vec<Var> =
            builder.rename.keys().copied().filter(|var| var.kind() == VarKind::Symbol).collect();
        let facts = self.facts.about(symbols);
        for constraint in facts.set().constraints() {
            let expr = constraint.expr().clone();
            let known = expr.vars().all(|var| builder.rename.contains_key(&var));
            let relation = match constraint {
                einlang_index::Constraint::Ge(_) => Relation::Ge,
                einlang_index::Constraint::Eq(_) => Relation::Eq,
                _ => continue,
            };
            if known && let Ok(expr) = builder.quasi(self, &Quasi::from(expr)) {
                builder.module.assumptions.push(Condition::new(expr, relation, Quasi::from(0)));
            }
        }
    }

    /// One clause with its self-reads.
    fn statement_of(
        &mut self,
        builder: &mut Skeleton,
        record: &Record<'p>,
        target: LocalId,
        bindings: &[Binding],
        position: usize,
        targets: &[LocalId],
    ) -> Result<Option<Clause>> {
        let axes: Vec<Var> = bindings[position].axes.iter().map(|axis| axis.var).collect();
        let domain = match record.clause {
            Some(_) => {
                let shapes = self.here().bindings.get(&target).cloned().unwrap_or_default();
                let Some(shape) = shapes.iter().find(|shape| shape.span == record.span) else {
                    return Ok(None);
                };
                for (dim, axis) in shape.dims.iter().zip(&axes) {
                    builder.rename.insert(*dim, *axis);
                }
                builder.domain(self, &shape.domain)?
            }
            None => {
                let mut domain = Domain::everything(&axes[..]);
                for axis in &bindings[position].axes {
                    let extent = MinMax::from(axis.dim.extent.clone());
                    domain = super::coverage::restrict_to_box(&domain, &axes, axis.var, &extent)?;
                }
                domain
            }
        };
        let mut body = Region::default();
        for number in record.from.accesses..record.to.accesses {
            let access = self.frame.accesses[number].clone();
            let read = match targets.iter().position(|other| *other == access.binding.1) {
                Some(read) if access.binding.0 == self.cur => read,
                _ => continue,
            };
            if let Some(inst) = self.self_read(builder, record, &access, &bindings[read])? {
                body.insts.push(inst);
            }
        }
        body.results.push(Arg::Const(Const::float(Elem::F32, 0.0)));
        let loc = Loc(Some(record.span));
        Ok(Some(Clause { domain: Over(domain), guard: None, body, loc }))
    }

    /// A read inside the ranges and conditions around it.
    fn self_read(
        &mut self,
        builder: &mut Skeleton,
        record: &Record<'p>,
        access: &Access,
        binding: &Binding,
    ) -> Result<Option<Inst>> {
        let Some((domain, at)) = self.reading(access)? else { return Ok(None) };
        let slots: Vec<Var> = record
            .slots
            .iter()
            .filter_map(|slot| match slot {
                super::scopes::Opened::Index(position) => Some(self.frame.indices[*position].var),
                _ => None,
            })
            .collect();
        let inner: Vec<Var> =
            domain.dims().iter().copied().filter(|dim| !slots.contains(dim)).collect();
        for var in &inner {
            // Each read has dimensions of its own.
            let name = self.symbols.name(*var).to_owned();
            let new = builder.module.vars.index(&name);
            builder.rename.insert(*var, new);
        }
        let sets = domain.sets().to_vec();
        let over = builder.domain(self, &Domain::of_sets(inner, sets))?;
        let mut subscripts = Vec::with_capacity(at.len());
        for (place, value) in access.at.iter().zip(&at) {
            subscripts.push(match place {
                At::Data => {
                    let value = builder.module.supply.value(Elem::I32);
                    Subscript::Value(Arg::Value(value))
                }
                _ => Subscript::Index(builder.quasi(self, value)?),
            });
        }
        let loc = Loc(Some(access.span));
        let value = builder.module.supply.value(Elem::F32);
        let place = Place { tensor: binding.name.clone(), at: subscripts };
        let read = Inst {
            results: vec![Def::Scalar(value)],
            kind: InstKind::Read(Read { place, default: None, proved: true }),
            loc,
        };
        let term =
            Region { params: Vec::new(), insts: vec![read], results: vec![Arg::Value(value)] };
        let zero = Arg::Const(Const::float(Elem::F32, 0.0));
        let reduction = Reduction {
            domain: Over(over),
            guard: None,
            body: term,
            combine: Combiner::Op(Op::Add),
            start: Start::Identity(vec![zero]),
            flags: ReduceFlags::default(),
        };
        let result = Def::Scalar(builder.module.supply.value(Elem::F32));
        Ok(Some(Inst { results: vec![result], kind: InstKind::Reduce(Box::new(reduction)), loc }))
    }
}

/// A module with variables of its own.
struct Skeleton {
    module: Module,
    rename: HashMap<Var, Var>,
}

impl Skeleton {
    fn var(&mut self, cx: &Analyser<'_>, var: Var) -> Var {
        if let Some(new) = self.rename.get(&var) {
            return *new;
        }
        let name = cx.symbols.name(var);
        let new = match var.kind() {
            VarKind::Index => self.module.vars.index(name),
            VarKind::Symbol => {
                let new = self.module.vars.symbol(name);
                let source = SymbolSource::Argument;
                self.module.symbols.push(Symbol { var: new, source, loc: Loc::default() });
                new
            }
            VarKind::Local => return var,
        };
        self.rename.insert(var, new);
        new
    }

    fn quasi(&mut self, cx: &Analyser<'_>, value: &Quasi) -> Result<Quasi> {
        rename_quasi(value, &mut |var| self.var(cx, var))
    }

    fn domain(&mut self, cx: &Analyser<'_>, domain: &Domain) -> Result<Domain> {
        rename_domain(domain, &mut |var| self.var(cx, var))
    }

    /// An extent as one expression; the largest or smallest of several is a symbol.
    fn extent(&mut self, cx: &Analyser<'_>, extent: &MinMax) -> Result<Quasi> {
        let (list, relation) = match extent {
            MinMax::Value(value) => return self.quasi(cx, value),
            MinMax::Max(list) => (list, Relation::Ge),
            MinMax::Min(list) => (list, Relation::Le),
        };
        let var = self.module.vars.symbol("extent");
        let symbol = Symbol { var, source: SymbolSource::Argument, loc: Loc::default() };
        self.module.symbols.push(symbol);
        for part in list {
            let bound = self.extent(cx, part)?;
            self.module.assumptions.push(Condition::new(var, relation, bound));
        }
        Ok(var.into())
    }
}
