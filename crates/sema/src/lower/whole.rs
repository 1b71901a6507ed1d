//! Whole values: arithmetic leaf by leaf, naming, and records rebuilt from their leaves.

use std::rc::Rc;

use einlang_index::Quasi;
use einlang_tir::region::Subscript;
use einlang_tir::types::Elem;

use super::types::elem_of;
use super::value::{Form, R, Scalar, Src, Val};
use super::{Lower, unsupported};
use crate::hir::ExprId;
use crate::shapes::{Origin, Shape, Source};
use crate::types::Ty;

/// Something done to scalars.
type Map<'p> = Rc<dyn Fn(&mut Lower<'p>, &[Scalar]) -> R<Scalar> + 'p>;

/// One way to compute a value, lowered where it is needed.
pub(super) type Arm<'p> = Rc<dyn Fn(&mut Lower<'p>) -> R<Val<'p>> + 'p>;

impl<'p> Lower<'p> {
    /// Does something leaf by leaf and element by element; scalars go with every element.
    pub(super) fn map_leaves(
        &mut self,
        args: &[Val<'p>],
        ty: &Ty,
        f: impl Fn(&mut Lower<'p>, &[Scalar]) -> R<Scalar> + 'p,
    ) -> R<Val<'p>> {
        self.map_with(args, ty, Rc::new(f))
    }

    fn map_with(&mut self, args: &[Val<'p>], ty: &Ty, f: Map<'p>) -> R<Val<'p>> {
        let n_parts = args.iter().find_map(|arg| match arg {
            Val::Record(parts) => Some(parts.len()),
            _ => None,
        });
        if let Some(n_parts) = n_parts {
            let types = self.part_types(ty, n_parts);
            let mut parts = Vec::with_capacity(n_parts);
            for at in 0..n_parts {
                let column: Vec<Val<'p>> = args.iter().map(|arg| part(arg, at)).collect();
                let ty = types.get(at).cloned().unwrap_or(Ty::Error);
                parts.push(self.map_with(&column, &ty, f.clone())?);
            }
            return Ok(Val::Record(parts));
        }
        let scalars: Option<Vec<Scalar>> = args.iter().map(as_scalar).collect();
        if let Some(scalars) = scalars {
            return f(self, &scalars).map(Val::Scalar);
        }
        let Some((elem, rank)) = super::types::numbers(ty) else {
            return unsupported(self.here, "arithmetic on these values");
        };
        let tensor = args.iter().find_map(|arg| match arg {
            Val::Tensor(tensor) => Some(tensor.clone()),
            _ => None,
        });
        let Some(first) = tensor else {
            return unsupported(self.here, "arithmetic on these values");
        };
        let (args, span) = (args.to_vec(), self.here);
        Ok(Val::lazy(
            elem,
            rank,
            false,
            move |cx| cx.extents(&first),
            move |cx, at| {
                let mut scalars = Vec::with_capacity(args.len());
                for arg in &args {
                    scalars.push(match arg {
                        Val::Tensor(tensor) => cx.element(tensor, at, true, span)?,
                        Val::Scalar(scalar) => scalar.clone(),
                        _ => return unsupported(span, "arithmetic on these values"),
                    });
                }
                let outer = std::mem::replace(&mut cx.here, span);
                let value = f(cx, &scalars);
                cx.here = outer;
                value
            },
        ))
    }

    /// The value with names for what would be computed again at each use.
    pub(super) fn named(&mut self, value: Val<'p>, name: &str) -> R<Val<'p>> {
        Ok(match value {
            Val::Tensor(tensor) => match &tensor.src {
                Src::Named(_) => Val::Tensor(tensor),
                Src::Lazy(lazy) if lazy.view => Val::Tensor(tensor),
                Src::Lazy(_) => {
                    let id = self.materialise(&tensor, name, self.here)?;
                    Val::named(tensor.elem, tensor.rank, id)
                }
            },
            Val::Record(parts) => {
                let mut named = Vec::with_capacity(parts.len());
                for (at, part) in parts.into_iter().enumerate() {
                    named.push(self.named(part, &format!("{name}.{at}"))?);
                }
                Val::Record(named)
            }
            other => other,
        })
    }

    /// The value with every leaf a tensor of the module, so that derivatives can name it.
    pub(super) fn bound(&mut self, value: Val<'p>, name: &str) -> R<Val<'p>> {
        let value = self.named(value, name)?;
        if self.in_region() || self.host_scalars {
            return Ok(value);
        }
        Ok(match value {
            Val::Scalar(scalar) => match &scalar.form {
                Form::Named(_) => Val::Scalar(scalar),
                Form::Host(_) | Form::Const(_) | Form::Index(..) => {
                    let span = self.here;
                    let known = scalar.clone();
                    let id = self.define_scalar(name, span, |_| Ok(known))?;
                    Val::Scalar(Scalar { elem: scalar.elem, form: Form::Named(id) })
                }
                Form::Value(_) => Val::Scalar(scalar),
            },
            Val::Record(parts) => {
                let mut bound = Vec::with_capacity(parts.len());
                for (at, part) in parts.into_iter().enumerate() {
                    bound.push(self.bound(part, &format!("{name}.{at}"))?);
                }
                Val::Record(bound)
            }
            other => other,
        })
    }

    /// One of two values, of which only the one that is needed is computed.
    pub(super) fn select(
        &mut self,
        condition: &Scalar,
        expr: ExprId,
        then: Arm<'p>,
        otherwise: Arm<'p>,
    ) -> R<Val<'p>> {
        if let Some(known) = condition.as_const().and_then(|c| c.as_bool()) {
            return if known { then(self) } else { otherwise(self) };
        }
        let ty = self.ty(expr);
        let span = self.here;
        if let Some(elem) = elem_of(&ty) {
            let arm = |arm: &Arm<'p>| {
                let arm = arm.clone();
                move |cx: &mut Self| {
                    let value = arm(cx)?;
                    cx.expect_scalar(value, span)
                }
            };
            let (mut a, mut b) = (arm(&then), arm(&otherwise));
            return self.choose(condition, elem, &mut a, &mut b).map(Val::Scalar);
        }
        let Some(leaves) = self.leaf_types(&ty) else {
            return unsupported(span, "a choice between values that are not numbers");
        };
        if self.in_region() && leaves.iter().all(|leaf| leaf.rank == 0) {
            let elems: Vec<_> = leaves.iter().map(|leaf| leaf.elem).collect();
            let arm = |arm: &Arm<'p>| {
                let arm = arm.clone();
                move |cx: &mut Self| {
                    let value = arm(cx)?;
                    let leaves = value.leaves().into_iter();
                    leaves.map(|leaf| cx.expect_scalar(leaf, span)).collect::<R<Vec<_>>>()
                }
            };
            let (mut a, mut b) = (arm(&then), arm(&otherwise));
            let scalars = self.choose_many(condition, &elems, &mut a, &mut b)?;
            return Ok(self.record(&ty, &mut scalars.into_iter().map(Val::Scalar)));
        }
        let mut values = Vec::with_capacity(leaves.len());
        for (at, leaf) in leaves.iter().enumerate() {
            let (then, otherwise) = (pick(&then, at), pick(&otherwise, at));
            values.push(self.select_leaf(condition, expr, leaf, at, [then, otherwise])?);
        }
        Ok(self.record(&ty, &mut values.into_iter()))
    }

    fn select_leaf(
        &mut self,
        condition: &Scalar,
        expr: ExprId,
        leaf: &super::types::Leaf,
        at: usize,
        [then, otherwise]: [Arm<'p>; 2],
    ) -> R<Val<'p>> {
        let (condition, elem, span) = (condition.clone(), leaf.elem, self.here);
        let frame = self.frame.clone();
        let (test, arms, rank) = (condition.clone(), [then.clone(), otherwise.clone()], leaf.rank);
        let by_value = self.is_known_by_value(expr);
        let element = move |cx: &mut Lower<'p>, at: &[Subscript]| {
            let read = |arm: &Arm<'p>| {
                let (arm, at) = (arm.clone(), at.to_vec());
                move |cx: &mut Lower<'p>| match arm(cx)? {
                    Val::Tensor(tensor) => cx.element(&tensor, &at, true, span),
                    Val::Scalar(scalar) => Ok(scalar),
                    _ => unsupported(span, "a choice between these values"),
                }
            };
            let (mut a, mut b) = (read(&then), read(&otherwise));
            cx.choose(&condition, elem, &mut a, &mut b)
        };
        if leaf.rank == 0 {
            let name = self.fresh("v");
            let id = self.define_scalar(&name, span, |cx| element(cx, &[]))?;
            return Ok(Val::named(elem, 0, id));
        }
        let extents = move |cx: &mut Lower<'p>| {
            let frame = frame.clone();
            cx.within(frame, |cx| match by_value {
                true => cx.chosen_extents(&test, &arms, rank),
                false => cx.leaf_extents(expr, at),
            })
        };
        Ok(Val::lazy(elem, leaf.rank, false, extents, element))
    }

    /// The extents that the analysis found for a leaf of an expression.
    pub(super) fn leaf_extents(&mut self, expr: ExprId, leaf: usize) -> R<Vec<Quasi>> {
        let shape = self.shapes.instance(self.frame.instance).exprs.get(&expr);
        let Some(shape) = shape else {
            return unsupported(self.here, "a value whose shape is not known");
        };
        let key = (self.frame.instance, expr);
        if self.computing.contains(&key) {
            return unsupported(self.here, "a value whose shape depends on itself");
        }
        self.computing.push(key);
        let extents = self.shape_extents(shape, leaf);
        self.computing.pop();
        extents
    }

    /// Whether the analysis knows the extents of an expression only as those of its value.
    fn is_known_by_value(&self, expr: ExprId) -> bool {
        let instance = self.frame.instance;
        let Some(shape) = self.shapes.instance(instance).exprs.get(&expr) else { return true };
        let mut own = false;
        shape.for_each_var(&mut |var| {
            let origin = self.shapes.symbols.origin(var);
            own |= matches!(origin, Some(Origin::Axis(Source::Expr(at, of), ..))
                if *at == instance && *of == expr);
        });
        own
    }

    /// The extents of the arm that is chosen.
    fn chosen_extents(
        &mut self,
        condition: &Scalar,
        arms: &[Arm<'p>; 2],
        rank: usize,
    ) -> R<Vec<Quasi>> {
        let span = self.here;
        let mut extents = Vec::with_capacity(rank);
        for axis in 0..rank {
            let length = |arm: &Arm<'p>| {
                let arm = arm.clone();
                move |cx: &mut Lower<'p>| {
                    let value = arm(cx)?;
                    let extent = cx.extents_of(&value)?.into_iter().nth(axis);
                    match extent {
                        Some(extent) => Ok(cx.index_scalar(Elem::I64, extent)),
                        None => unsupported(span, "a choice between these values"),
                    }
                }
            };
            let (mut a, mut b) = (length(&arms[0]), length(&arms[1]));
            let chosen = self.choose(condition, Elem::I64, &mut a, &mut b)?;
            extents.push(self.quasi(&chosen)?);
        }
        Ok(extents)
    }

    pub(super) fn shape_extents(&mut self, shape: &Shape, leaf: usize) -> R<Vec<Quasi>> {
        let mut found = Vec::new();
        leaf_shapes(shape, &mut Vec::new(), &mut found);
        let Some(extents) = found.into_iter().nth(leaf) else {
            return unsupported(self.here, "a value whose shape is not known");
        };
        extents.iter().map(|extent| self.extent(extent)).collect()
    }

    /// A value of a type from its leaves.
    pub(super) fn record(&self, ty: &Ty, leaves: &mut dyn Iterator<Item = Val<'p>>) -> Val<'p> {
        let element = match ty {
            Ty::Tensor(element, _) => element,
            ty => ty,
        };
        match self.parts(element) {
            Some(parts) => {
                Val::Record(parts.iter().map(|(_, ty)| self.record(ty, leaves)).collect())
            }
            None => leaves.next().unwrap_or_else(Val::unit),
        }
    }
}

/// The extents of every leaf of a shape, in order.
pub(super) fn leaf_shapes(
    shape: &Shape,
    outer: &mut Vec<einlang_index::MinMax>,
    found: &mut Vec<Vec<einlang_index::MinMax>>,
) {
    match shape {
        Shape::Tensor(extents, element) => {
            let n_before = outer.len();
            outer.extend(extents.iter().cloned());
            leaf_shapes(element, outer, found);
            outer.truncate(n_before);
        }
        Shape::Record(parts) => parts.iter().for_each(|part| leaf_shapes(part, outer, found)),
        Shape::Ints(_) => found.push([outer.clone(), shape.extents()].concat()),
        _ => found.push(outer.clone()),
    }
}

fn pick<'p>(arm: &Arm<'p>, leaf: usize) -> Arm<'p> {
    let arm = arm.clone();
    Rc::new(move |cx| {
        let value = arm(cx)?;
        match value.leaves().into_iter().nth(leaf) {
            Some(leaf) => Ok(leaf),
            None => unsupported(cx.here, "a choice between different records"),
        }
    })
}

pub(super) fn part<'p>(value: &Val<'p>, at: usize) -> Val<'p> {
    match value {
        Val::Record(parts) => parts.get(at).cloned().unwrap_or_else(Val::unit),
        other => other.clone(),
    }
}

fn as_scalar(value: &Val<'_>) -> Option<Scalar> {
    match value {
        Val::Scalar(scalar) => Some(scalar.clone()),
        _ => None,
    }
}
