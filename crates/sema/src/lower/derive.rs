//! Derivative requests: entries of Jacobians between named tensors.
//!
//! A request becomes a lazy tensor whose elements are `deriv` entries, so what is not asked for is
//! not computed. Target and parameter are tensors of one module: bindings that a request in the
//! same function names get a name of their own wherever they are bound. Definitions that were
//! evaluated by an earlier module are copied into this one, so that no path is lost.

use std::rc::Rc;

use einlang_tir::region::{InstKind, Place, Subscript as At};
use einlang_tir::types::Elem;

use super::access::Spec;
use super::module::loc;
use super::tensors::Home;
use super::value::{Form, R, Scalar, Src, TensorId, Term, Val};
use super::{Lower, unsupported};
use crate::hir::{BodyId, ExprId, ExprKind, LocalId, Res};
use crate::types::Ty;

/// A tensor, or part of one, that a request names.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) id: TensorId,
    pub(super) specs: Rc<Vec<Spec>>,
    pub(super) elem: Elem,
    /// The axes that are left.
    pub(super) rank: usize,
}

impl<'p> Lower<'p> {
    /// Binds a name here, as [`Self::owned`] says.
    pub(super) fn bind_owned(&mut self, local: LocalId, value: &Val<'p>) -> R<()> {
        let value = self.owned(self.frame.body, local, value)?;
        self.frame.bind(local, value);
        Ok(())
    }

    /// The value of a binding. If a request names it, its leaves are tensors of its own: another
    /// binding of the same value is perturbed by itself.
    pub(super) fn owned(&mut self, body: BodyId, local: LocalId, value: &Val<'p>) -> R<Val<'p>> {
        let is_requested = self.requested.contains(&(body, local));
        let leaves = value.leaves();
        let mut owned = Vec::with_capacity(leaves.len());
        for leaf in leaves {
            let known = match &leaf {
                Val::Scalar(Scalar { form: Form::Named(id), .. }) => Some(*id),
                Val::Tensor(tensor) => match tensor.src {
                    Src::Named(id) => Some(id),
                    Src::Lazy(_) => None,
                },
                _ => None,
            };
            let taken = known.is_none_or(|id| self.info(id).bound);
            let leaf = match is_requested && taken {
                true => {
                    let name = self.spelling(self.body_of(body)[local].name.name).to_owned();
                    self.copied(&name, leaf)?
                }
                false => leaf,
            };
            if let Some(id) = known {
                self.tensors[id.0].bound = true;
            }
            owned.push(leaf);
        }
        Ok(value.with_leaves(&mut owned.into_iter()))
    }

    /// A binding that only repeats a value.
    fn copied(&mut self, name: &str, value: Val<'p>) -> R<Val<'p>> {
        let span = self.here;
        Ok(match value {
            Val::Scalar(scalar) => {
                let elem = scalar.elem;
                let id = self.define_scalar(name, span, |_| Ok(scalar))?;
                self.tensors[id.0].bound = true;
                Val::named(elem, 0, id)
            }
            Val::Tensor(tensor) => {
                let (of, read) = (tensor.clone(), tensor.clone());
                let copy = Val::lazy(
                    tensor.elem,
                    tensor.rank,
                    false,
                    move |cx| cx.extents(&of),
                    move |cx, at| cx.element(&read, at, true, span),
                );
                let named = self.named(copy, name)?;
                if let Val::Tensor(tensor) = &named
                    && let Src::Named(id) = tensor.src
                {
                    self.tensors[id.0].bound = true;
                }
                named
            }
            other => other,
        })
    }

    pub(super) fn differential(&mut self, of: ExprId) -> R<Val<'p>> {
        if let Some(tangents) = self.frame.tangents.clone() {
            // In a rule, `@x[i]` is the tangent of `x`, read where `x` would be.
            let root = self.root_of(of);
            if let Some(root) = root
                && let ExprKind::Name(Res::Local(local)) = self.body().kind(root)
                && let Some(tangent) = tangents.get(local)
            {
                self.frame.hoist(root, tangent.clone());
                let value = self.eval(of);
                self.frame.forget(root);
                return value;
            }
            let mut frame = self.frame.clone();
            for (local, tangent) in tangents.iter() {
                frame.bind(*local, tangent.clone());
            }
            return self.within(frame, |cx| cx.eval(of));
        }
        let frame = self.frame.clone();
        let term = Term { negated: false, factor: None, target: of, frame };
        Ok(Val::Differential(Rc::new(vec![term])))
    }

    /// What is read in brackets and by fields, without defaults.
    fn root_of(&self, of: ExprId) -> Option<ExprId> {
        let mut root = of;
        loop {
            match self.body().kind(root) {
                ExprKind::Access { base, default: None, .. } | ExprKind::Field(base, _) => {
                    root = *base;
                }
                ExprKind::Access { .. } => return None,
                _ => return Some(root),
            }
        }
    }

    /// The tensors that an expression names, one per leaf. Only what is differentiated may be made
    /// for the request: nothing depends on a parameter that is.
    pub(super) fn targets(&mut self, expr: ExprId, may_make: bool) -> R<Vec<Target>> {
        if let ExprKind::Access { base, subscripts, default: None } = self.body().kind(expr) {
            let inner = self.targets(*base, may_make)?;
            let value = self.eval(*base)?;
            let proved = self.shapes.instance(self.frame.instance).reads.get(&expr).cloned();
            let specs = self.specs(&value, subscripts, proved.as_deref())?;
            let n_points = specs.iter().filter(|spec| matches!(spec, Spec::Point(..))).count();
            let mut targets = Vec::with_capacity(inner.len());
            for target in inner {
                let specs = self.specs_within(&target.specs, &specs)?;
                let rank = target.rank.saturating_sub(n_points);
                targets.push(Target { specs: Rc::new(specs), rank, ..target });
            }
            return Ok(targets);
        }
        if let ExprKind::Tuple(paths) = self.body().kind(expr) {
            let mut targets = Vec::new();
            for path in paths {
                targets.extend(self.targets(*path, may_make)?);
            }
            return Ok(targets);
        }
        if let ExprKind::Field(base, field) = self.body().kind(expr)
            && self.is_part(*base)
        {
            return self.field_targets(*base, *field, may_make);
        }
        let value = self.eval(expr)?;
        let mut targets = Vec::new();
        for leaf in value.leaves() {
            let (id, elem, rank) = match leaf {
                Val::Scalar(scalar) => {
                    let elem = scalar.elem;
                    let id = match scalar.form {
                        Form::Named(id) => id,
                        _ if !may_make => {
                            return unsupported(self.here, "a derivative by this value");
                        }
                        _ => {
                            let (name, span) = (self.fresh("target"), self.here);
                            self.define_scalar(&name, span, |_| Ok(scalar))?
                        }
                    };
                    (id, elem, 0)
                }
                Val::Tensor(tensor) => match &tensor.src {
                    Src::Named(id) => (*id, tensor.elem, tensor.rank),
                    Src::Lazy(_) if !may_make => {
                        return unsupported(self.here, "a derivative by this value");
                    }
                    Src::Lazy(_) => {
                        let id = self.materialise(&tensor, "target", self.here)?;
                        (id, tensor.elem, tensor.rank)
                    }
                },
                _ => return unsupported(self.here, "a derivative of this value"),
            };
            targets.push(Target { id, specs: Rc::new(Vec::new()), elem, rank });
        }
        Ok(targets)
    }

    /// Whether a path goes through an element or a slice.
    fn is_part(&self, expr: ExprId) -> bool {
        let mut expr = expr;
        loop {
            match self.body().kind(expr) {
                ExprKind::Access { .. } => return true,
                ExprKind::Field(base, _) => expr = *base,
                _ => return false,
            }
        }
    }

    /// The tensors of one field of a part: those of the base that belong to the field.
    fn field_targets(
        &mut self,
        base: ExprId,
        field: crate::hir::Ident,
        may_make: bool,
    ) -> R<Vec<Target>> {
        let inner = self.targets(base, may_make)?;
        let ty = match self.ty(base) {
            Ty::Tensor(element, _) => *element,
            ty => ty,
        };
        let name = self.spelling(field.name);
        let mut start = 0;
        for (part, ty) in self.parts(&ty).unwrap_or_default() {
            let n_leaves = self.leaf_types(&ty).map_or(0, |leaves| leaves.len());
            if part == name {
                return Ok(inner.into_iter().skip(start).take(n_leaves).collect());
            }
            start += n_leaves;
        }
        unsupported(self.here, format!("a derivative of the field `{name}`"))
    }

    /// The derivative of one tensor by another.
    pub(super) fn jacobian(&mut self, of: &Target, by: &Target) -> R<Val<'p>> {
        if self.is_of_host(of.id, by.id) {
            return self.host_jacobian(of, by);
        }
        self.check_path(of, by)?;
        let (elem, span, rank) = (of.elem, self.here, of.rank + by.rank);
        let home = self.module();
        let (of, by) = (of.clone(), by.clone());
        let (first, second) = (of.clone(), by.clone());
        let entry = move |cx: &mut Lower<'p>, at: &[At]| {
            cx.check_home(Some(home), span)?;
            let split = of.rank.min(at.len());
            let of = cx.place(&of, &at[..split])?;
            let by = cx.place(&by, &at[split..])?;
            Ok(cx.emit(elem, InstKind::Deriv { of, by }, loc(span)))
        };
        if rank == 0 {
            if self.in_region() {
                return entry(self, &[]).map(Val::Scalar);
            }
            let name = self.hint.take().unwrap_or_else(|| self.fresh("d"));
            let id = self.define_scalar(&name, span, |cx| entry(cx, &[]))?;
            return Ok(Val::named(elem, 0, id));
        }
        let extents = move |cx: &mut Lower<'p>| {
            let mut extents = cx.left_extents(&first)?;
            extents.extend(cx.left_extents(&second)?);
            Ok(extents)
        };
        Ok(Val::lazy(elem, rank, false, extents, entry))
    }

    /// Takes the definitions on the way from the parameter to the target into this module.
    fn check_path(&mut self, of: &Target, by: &Target) -> R<()> {
        if self.is_new(by.id) {
            return Ok(());
        }
        let follows_itself = self.is_earlier_recurrence(by.id);
        if of.id == by.id && !follows_itself {
            return Ok(());
        }
        let is_earlier = !self.is_at_home(of.id) && self.info(of.id).home != Home::Host;
        if !is_earlier && !follows_itself && self.earlier_imports(Some(by.id)).is_empty() {
            return Ok(());
        }
        if self.in_region() {
            return unsupported(self.here, "a derivative inside a body of values printed before");
        }
        self.reclaim(of.id, by.id)
    }

    /// Whether a tensor is of this module and was of no other: nothing that earlier modules
    /// computed depends on it.
    pub(super) fn is_new(&self, id: TensorId) -> bool {
        self.is_at_home(id) && self.former.values().all(|moved| *moved != id)
    }

    fn left_extents(&mut self, target: &Target) -> R<Vec<einlang_index::Quasi>> {
        let (_, extents) = self.import(target.id)?;
        let kept = extents.into_iter().enumerate().filter_map(|(axis, extent)| {
            match target.specs.get(axis) {
                Some(Spec::Point(..)) => None,
                Some(Spec::Slice(_, length, _)) => Some(length.clone()),
                Some(Spec::All) | None => Some(extent),
            }
        });
        Ok(kept.collect())
    }

    fn place(&mut self, target: &Target, rest: &[At]) -> R<Place> {
        let (tensor, extents) = self.import(target.id)?;
        let what = format!("`{}` is read", tensor.as_str());
        for (axis, (spec, extent)) in target.specs.iter().zip(&extents).enumerate() {
            self.check_spec(&what, spec, extent, axis, self.here)?;
        }
        let mut rest = rest.iter();
        let mut at = Vec::with_capacity(extents.len());
        for axis in 0..extents.len() {
            let next = |rest: &mut std::slice::Iter<'_, At>| {
                rest.next().cloned().unwrap_or_else(|| At::Index(0.into()))
            };
            at.push(match target.specs.get(axis) {
                Some(Spec::Point(point, _)) => point.clone(),
                Some(Spec::Slice(lo, _, _)) => {
                    let inner = next(&mut rest);
                    self.shifted(&inner, lo, self.here)?
                }
                Some(Spec::All) | None => next(&mut rest),
            });
        }
        Ok(Place { tensor, at })
    }

    /// The subscripts of a part of a part.
    fn specs_within(&mut self, outer: &[Spec], inner: &[Spec]) -> R<Vec<Spec>> {
        let mut inner = inner.iter();
        let mut specs = Vec::with_capacity(outer.len() + inner.len());
        for spec in outer {
            let Spec::Slice(lo, ..) = spec else {
                specs.push(match spec {
                    Spec::Point(..) => spec.clone(),
                    _ => inner.next().cloned().unwrap_or(Spec::All),
                });
                continue;
            };
            specs.push(match inner.next() {
                None | Some(Spec::All) => spec.clone(),
                Some(Spec::Point(at, proved)) => {
                    Spec::Point(self.shifted(at, lo, self.here)?, *proved)
                }
                Some(Spec::Slice(start, length, proved)) => {
                    let start = self.index_result(lo.add(start), self.here)?;
                    Spec::Slice(start, length.clone(), *proved)
                }
            });
        }
        specs.extend(inner.cloned());
        Ok(specs)
    }
}
