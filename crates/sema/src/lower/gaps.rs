//! Points that no clause covers, for reads with a default.
//!
//! A default stands for such points where the name that is read is the indexed binding itself; any
//! other name for the same value sees the zeros that fill them. A module knows the clauses of its
//! own bindings. Elsewhere a second tensor tells: the same clauses, true where they cover a point.

use einlang_index::Quasi;
use einlang_tir::constant::Const;
use einlang_tir::fresh::Fresh;
use einlang_tir::module::{Axis, Binding, Clause, Group};
use einlang_tir::op::Op;
use einlang_tir::region::{Over, Region, Subscript};
use einlang_tir::types::{Elem, Ident, Loc};
use einlang_tir::vars::rename_domain;

use super::tensors::{Home, TensorInfo};
use super::value::{Marks, R, Scalar, Src, Tensor, TensorId, Val};
use super::{Lower, unsupported};
use crate::hir::{self, BodyId, ExprId, ExprKind, LocalId, LocalKind, Res};
use crate::shapes::Slot;
use crate::types::{InstanceId, Ty};

pub(super) const WHAT: &str = "a default for points that no clause covers, in another function";

impl<'p> Lower<'p> {
    /// Whether an expression is the name of an indexed binding.
    pub(super) fn is_indexed(&self, base: ExprId) -> bool {
        self.indexed_name(base).is_some()
    }

    fn indexed_name(&self, base: ExprId) -> Option<(BodyId, LocalId)> {
        let (body, local) = match self.body().kind(base) {
            ExprKind::Name(Res::Local(local)) => (self.frame.body, *local),
            ExprKind::Name(Res::Outer(body, local)) => (*body, *local),
            _ => return None,
        };
        let is_indexed = matches!(self.body_of(body)[local].kind, LocalKind::Indexed);
        is_indexed.then_some((body, local))
    }

    /// The indexed binding that an expression names, if its clauses may leave out points.
    pub(super) fn named_with_gaps(&self, base: ExprId) -> Option<(BodyId, LocalId)> {
        let (body, local) = self.indexed_name(base)?;
        let owner = self.owner_of(self.frame.instance, body, local)?;
        self.shapes.instance(owner).gaps.contains(&local).then_some((body, local))
    }

    /// Whether a read of a tensor with a default, here, takes the default at points that no clause
    /// covers.
    pub(super) fn knows_gaps(&mut self, id: TensorId) -> bool {
        let here = Home::Module(self.module());
        let info = self.info(id);
        let told = info.covered.is_some_and(|covered| self.info(covered).home != here);
        info.gaps && info.home == here && !told
    }

    /// A default needs the gaps of the binding that it reads.
    pub(super) fn check_gaps(&self, base: ExprId, leaves: &[Val<'p>]) -> R<()> {
        let knows = |leaf: &Val<'p>| match leaf {
            Val::Tensor(Tensor { src: Src::Named(id), .. }) => self.info(*id).gaps,
            _ => false,
        };
        match self.named_with_gaps(base) {
            Some(_) if !leaves.iter().all(knows) => unsupported(self.here, WHAT),
            _ => Ok(()),
        }
    }

    /// Where the clauses of a tensor define a point.
    pub(super) fn covered_points(&mut self, id: TensorId) -> R<Tensor<'p>> {
        let covered = match self.info(id).covered {
            Some(covered) => covered,
            None => self.add_covered(id)?,
        };
        self.tensors[id.0].covered = Some(covered);
        let rank = self.info(covered).rank;
        Ok(Tensor { elem: Elem::Bool, rank, src: Src::Named(covered) })
    }

    fn add_covered(&mut self, id: TensorId) -> R<TensorId> {
        let (info, span) = (self.info(id).clone(), self.here);
        let Home::Module(home) = info.home else { return unsupported(span, WHAT) };
        let groups = &self.modules[home].tir.groups;
        let mut bindings = groups.iter().flat_map(|group| &group.bindings);
        let Some(of) = bindings.find(|binding| binding.name == info.name).cloned() else {
            return unsupported(span, WHAT);
        };
        let module = &mut self.modules[home];
        let name = module.free_name(&format!("{}.covered", info.name.as_str()));
        let copied = module.covering(&of, &name);
        let group = Group { bindings: vec![self.index_result(copied, span)?], until: None };
        self.modules[home].tir.groups.push(group);
        let covered = TensorInfo {
            elem: Elem::Bool,
            name,
            host: None,
            index: None,
            bound: false,
            nameless: false,
            gaps: false,
            covered: None,
            ..info
        };
        Ok(self.add_tensor(covered))
    }

    /// Where a binding that the host holds is defined, in what is around or in a module.
    pub(super) fn marks_of(&self, body: BodyId, local: LocalId) -> Option<&Marks> {
        let mut modules = self.module_frames.values();
        let found = self.frame.marks_of(body, local);
        found.or_else(|| modules.find_map(|frame| frame.marks_of(body, local)))
    }

    /// The number of written axes of an indexed binding whose clauses may leave out points.
    pub(super) fn axes_with_gaps(&self, owner: InstanceId, local: LocalId) -> Option<usize> {
        let shapes = self.shapes.instance(owner);
        if !shapes.gaps.contains(&local) {
            return None;
        }
        let clause = shapes.bindings.get(&local)?.first()?;
        Some(clause.slots.iter().filter(|slot| !matches!(slot, Slot::Body(_))).count())
    }

    /// What a function knows of the points of a binding that it captures: a tensor of bools, or
    /// lists of them where the binding is made of lists.
    pub(super) fn coverage_type(&self, owner: InstanceId, local: LocalId) -> Ty {
        let truth = Box::new(Ty::Scalar(hir::Scalar::Bool));
        let axes = self.axes_with_gaps(owner, local).unwrap_or_default();
        match self.typed.instance(owner).local(local) {
            Ty::Tensor(element, extents) if self.leaf_types(element).is_some() => {
                Ty::Tensor(truth, extents.iter().take(axes).cloned().collect())
            }
            _ => Ty::Jagged(truth, u32::try_from(axes).unwrap_or(u32::MAX)),
        }
    }

    /// Where the clauses of a binding define a point, as a value of that type.
    pub(super) fn coverage_of(
        &mut self,
        owner: InstanceId,
        local: LocalId,
        value: &Val<'p>,
    ) -> R<Val<'p>> {
        let axes = self.axes_with_gaps(owner, local).unwrap_or_default();
        match value.leaves().into_iter().next() {
            Some(Val::Tensor(Tensor { src: Src::Named(id), .. })) if self.info(id).gaps => {
                let covered = self.covered_points(id)?;
                Ok(first_points(covered, axes))
            }
            Some(Val::Host(..)) => {
                let body = self.typed.instance(owner).body;
                let Some((marks, _)) = self.marks_of(body, local).cloned() else {
                    return unsupported(self.here, WHAT);
                };
                let ty = self.coverage_type(owner, local);
                Ok(Val::Host(marks, self.host_type(&ty)?))
            }
            _ => unsupported(self.here, WHAT),
        }
    }

    /// A host value becomes a tensor whose gaps are known.
    pub(super) fn note_gaps(&mut self, value: &Val<'p>, covered: &Val<'p>) {
        let Val::Tensor(Tensor { src: Src::Named(covered), .. }) = covered else { return };
        for leaf in value.leaves() {
            if let Val::Tensor(Tensor { src: Src::Named(id), .. }) = leaf {
                self.tensors[id.0].gaps = true;
                self.tensors[id.0].covered = Some(*covered);
            }
        }
    }
}

/// Coverage along the written axes: a body that is a tensor is covered as a whole.
fn first_points<'p>(covered: Tensor<'p>, axes: usize) -> Val<'p> {
    if covered.rank <= axes {
        return Val::Tensor(covered);
    }
    let shape = covered.clone();
    Val::lazy(
        Elem::Bool,
        axes,
        true,
        move |cx| Ok(cx.extents(&shape)?.into_iter().take(axes).collect()),
        move |cx, at| {
            let origin = Subscript::Index(Quasi::from(0));
            let mut inside = Scalar::constant(Const::bool(true));
            for extent in cx.extents(&covered)?.iter().skip(axes) {
                let here = cx.is_inside(&origin, extent)?;
                inside = cx.region_op(Op::And, &[inside, here], Elem::Bool, Loc::default())?;
            }
            let point = [at, &vec![origin; covered.rank - axes]].concat();
            let mut read = |cx: &mut Lower<'p>| cx.element(&covered, &point, true, cx.here);
            let mut no = |_: &mut Lower<'p>| Ok(Scalar::constant(Const::bool(false)));
            cx.choose(&inside, Elem::Bool, &mut read, &mut no)
        },
    )
}

impl super::module::ModuleCx {
    /// The binding that is true where the clauses of another cover a point.
    fn covering(&mut self, of: &Binding, name: &Ident) -> einlang_index::Result<Binding> {
        let mut axes = Vec::with_capacity(of.axes.len());
        for axis in &of.axes {
            axes.push(Axis { var: self.tir.vars.fresh_like(axis.var), dim: axis.dim.clone() });
        }
        let renamed = |var| {
            let at = of.axes.iter().position(|axis| axis.var == var);
            at.map_or(var, |at| axes[at].var)
        };
        let mut clauses = Vec::with_capacity(of.clauses.len());
        for clause in &of.clauses {
            let domain = rename_domain(&clause.domain.0, &mut |var| renamed(var))?;
            let guard = match &clause.guard {
                Some(guard) => {
                    let mut fresh = Fresh::new(&mut self.tir, &mut self.names);
                    for (old, new) in of.axes.iter().zip(&axes) {
                        fresh.replace_var(old.var, new.var);
                    }
                    Some(fresh.copy(guard)?)
                }
                None => None,
            };
            let body = Region::yielding(vec![Const::bool(true).into()]);
            clauses.push(Clause { domain: Over(domain), guard, body, loc: clause.loc });
        }
        let (name, elem, loc) = (name.clone(), Elem::Bool, of.loc);
        Ok(Binding { name, elem, axes, clauses, zero_fill: false, loc })
    }
}
