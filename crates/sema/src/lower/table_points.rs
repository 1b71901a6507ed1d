//! One point of a definition that the host evaluates: which clause covers it, and its value there.

use einlang_index::{Domain, Quasi};
use einlang_tir::constant::Const;
use einlang_tir::host::{HostArg, HostKind, HostType};
use einlang_tir::op::Op;
use einlang_tir::region::{
    Combiner, InstKind, Over, ReduceFlags, Reduction as TirReduction, Region, Start,
};
use einlang_tir::types::Elem;

use super::module::loc;
use super::tables::{Lists, Table};
use super::value::{Form, R, Scalar, Val};
use super::{Lower, unsupported};
use crate::hir::{Clause, Res, Subscript};
use crate::shapes::ClauseShape;
use crate::types::Ty;

/// How many guards are asked inside each other whether they cover a point.
const MAX_ASKED: usize = 3;

impl<'p> Lower<'p> {
    /// The element at a point: by the last clause that covers it, or zero.
    pub(super) fn covered(
        &mut self,
        table: &Table<'p>,
        at: &[HostArg],
        clauses: &[&'p Clause],
    ) -> R<Val<'p>> {
        let own = clauses.iter().rposition(|clause| clause.targets.contains(&table.local));
        let Some((earlier, clause)) = own.map(|at| (&clauses[..at], clauses[at])) else {
            return self.zero_of(&table.element);
        };
        let part = match &clause.targets[..] {
            [_] => None,
            targets => targets.iter().position(|local| *local == table.local),
        };
        let Some(shape) = self.clause_shape(table.local, clause) else {
            return unsupported(clause.span, "a clause whose domain is not known");
        };
        let outer = (self.frame.clone(), std::mem::replace(&mut self.here, clause.span));
        let holds = self.holds(clause, shape, at)?;
        let (value, items) = self.guarded_body(clause.value);
        let n_slots: usize = clause.slots.iter().map(|slot| self.n_axes(slot)).sum();
        let inner = at.get(n_slots..).unwrap_or(&[]);
        let body = |cx: &mut Self| {
            cx.bind_items(items)?;
            let value = cx.eval(value)?;
            let value = match (&value, part) {
                (Val::Record(parts), Some(part)) => {
                    parts.get(part).cloned().unwrap_or_else(Val::unit)
                }
                _ => value,
            };
            cx.element_at(value, inner, &table.element)
        };
        let result =
            self.host_if(&holds, &table.element, body, |cx| cx.covered(table, at, earlier));
        (self.frame, self.here) = outer;
        result
    }

    /// Binds the indices of a clause; whether it covers the point, its guards included.
    fn holds(&mut self, clause: &'p Clause, shape: &ClauseShape, at: &[HostArg]) -> R<Scalar> {
        self.bind_coordinates(clause, shape, at);
        let inside = self.is_covered(shape, at)?;
        let (_, items) = self.guarded_body(clause.value);
        if !Self::has_guard(items) {
            return Ok(inside);
        }
        let truth = Ty::Scalar(crate::hir::Scalar::Bool);
        let no = Val::Scalar(Scalar::constant(Const::bool(false)));
        let guards = |cx: &mut Self| cx.guards(items).map(Val::Scalar);
        let holds = self.host_if(&inside, &truth, guards, |_| Ok(no))?;
        self.expect_scalar(holds, clause.span)
    }

    /// Whether some clause covers a point.
    pub(super) fn is_defined(&mut self, table: &Table<'p>, at: &[HostArg]) -> R<HostArg> {
        if self.n_asked >= MAX_ASKED {
            return unsupported(self.here, "guards that read their binding with a default");
        }
        self.n_asked += 1;
        let outer = (self.frame.clone(), self.here);
        let mut defined = HostArg::Const(Const::bool(false));
        for clause in table.clauses.clone().iter().copied() {
            if !clause.targets.contains(&table.local) {
                continue;
            }
            let Some(shape) = self.clause_shape(table.local, clause) else {
                return unsupported(clause.span, "a clause whose domain is not known");
            };
            self.here = clause.span;
            let holds = self.holds(clause, shape, at)?;
            let holds = self.host_scalar(&holds)?;
            let kind = HostKind::Op(Op::Or, vec![defined, holds]);
            defined = self.host_value_of(HostType::Scalar(Elem::Bool), kind);
            self.frame = outer.0.clone();
        }
        self.here = outer.1;
        self.n_asked -= 1;
        Ok(defined)
    }

    /// The mark of a point that was visited: whether reads of the definition itself may meet it.
    pub(super) fn mark(
        &mut self,
        (table, group): (&Table<'p>, &[Table<'p>]),
        lists: &Lists,
        at: &[HostArg],
    ) -> R<HostArg> {
        if table.zero_fill || !table.gaps {
            return Ok(HostArg::Const(Const::bool(true)));
        }
        let n_open = self.tables.len();
        self.tables.extend(group.iter().map(|t| Table { lists: t.own(lists), ..t.clone() }));
        let defined = self.is_defined(table, at);
        self.tables.truncate(n_open);
        defined
    }

    /// Binds the indices of a clause to coordinates that the host counts.
    fn bind_coordinates(&mut self, clause: &'p Clause, shape: &ClauseShape, at: &[HostArg]) {
        for (var, coordinate) in shape.dims.iter().zip(at) {
            self.frame.bind_host_var(*var, coordinate.clone());
        }
        let mut axis = 0;
        for slot in &clause.slots {
            let n_axes = self.n_axes(slot);
            let axes = at.get(axis..axis + n_axes).unwrap_or(&[]).to_vec();
            axis += n_axes;
            let mut scalars = axes.into_iter().map(|host| {
                let narrow = self.host_cast(host, Elem::I64, Elem::I32);
                Val::Scalar(Scalar { elem: Elem::I32, form: Form::Host(narrow) })
            });
            match slot {
                Subscript::Index(binder) => {
                    if let Some(scalar) = scalars.next() {
                        self.frame.bind(binder.local, scalar);
                    }
                }
                Subscript::Rest { local: Res::Local(local), .. } => {
                    let rest = Val::Record(scalars.collect());
                    self.frame.bind(*local, rest);
                }
                _ => {}
            }
        }
    }

    /// Whether a point lies in the domain of a clause.
    pub(super) fn is_covered(&mut self, shape: &ClauseShape, at: &[HostArg]) -> R<Scalar> {
        let span = self.here;
        self.module();
        let dims: Vec<_> = shape.dims.iter().map(|_| self.new_index("p")).collect();
        let mut domain = self.map_domain(&shape.domain, &shape.dims, &dims)?;
        for (dim, coordinate) in dims.iter().zip(at) {
            let here = Scalar { elem: Elem::I64, form: Form::Host(coordinate.clone()) };
            let here = self.quasi(&here)?;
            let distance = self.index_result(here.sub(&Quasi::from(*dim)), span)?;
            let same = self.index_result(Domain::where_zero(dims.clone(), &distance), span)?;
            domain = self.index_result(domain.intersect(&same), span)?;
        }
        let name = self.fresh("v");
        let id = self.define_scalar(&name, span, |cx| {
            let reduction = TirReduction {
                domain: Over(domain),
                guard: None,
                body: Region::yielding(vec![Const::bool(true).into()]),
                combine: Combiner::Op(Op::Or),
                start: Start::Identity(vec![Const::bool(false).into()]),
                flags: ReduceFlags { commutative: true, idempotent: true, reassociable: true },
            };
            Ok(cx.emit(Elem::Bool, InstKind::Reduce(Box::new(reduction)), loc(span)))
        })?;
        Ok(Scalar { elem: Elem::Bool, form: Form::Named(id) })
    }
}
