//! Comprehensions: lazy tensors where the length is known, host loops where data decides it.

use std::rc::Rc;

use einlang_index::Quasi;
use einlang_tir::host::{HostArg, HostDef, HostKind, HostType, Intrinsic};
use einlang_tir::op::Op;
use einlang_tir::region::Subscript as At;
use einlang_tir::types::Elem;

use super::module::loc;
use super::types::Leaf;
use super::value::{R, Val};
use super::{Lower, unsupported};
use crate::hir::{CompItem, ExprId, Pattern};
use crate::shapes::{Origin, Source};
use crate::types::Ty;

/// A generator of a rectangular comprehension: its pattern, what it runs over, and the length.
type Generator<'p> = (&'p Pattern, Val<'p>, Ty, Quasi);

/// Lists that are being filled, with their types.
type Lists = Vec<(HostArg, HostType)>;

/// Appends one element to every list.
type Push<'f, 'p> = &'f mut dyn FnMut(&mut Lower<'p>, &[(HostArg, HostType)]) -> R<Lists>;

impl<'p> Lower<'p> {
    pub(super) fn comprehension(
        &mut self,
        element: ExprId,
        items: &'p [CompItem],
        expr: ExprId,
    ) -> R<Val<'p>> {
        let ty = self.ty(expr);
        let filtered = items.iter().any(|item| matches!(item, CompItem::Condition(_)));
        let fits = !filtered && self.is_numeric(&ty);
        if fits && (self.in_region() || !self.needs_host(expr)) {
            let bound = items.iter().filter_map(|item| match item {
                CompItem::Binding(_, value) => Some(*value),
                CompItem::Generator(..) | CompItem::Condition(_) => None,
            });
            let asked = bound.chain([element]).collect();
            let value = self.with_requests(asked, |cx| cx.rectangular(element, items, &ty))?;
            if let Some(value) = value {
                return Ok(value);
            }
        }
        if self.in_region() {
            return unsupported(self.here, "this comprehension inside a tensor body");
        }
        self.with_gradients(element, |cx| cx.collected(element, items, expr, &ty))
    }

    /// A comprehension whose generators depend on nothing inside it.
    fn rectangular(
        &mut self,
        element: ExprId,
        items: &'p [CompItem],
        ty: &Ty,
    ) -> R<Option<Val<'p>>> {
        let mut generators: Vec<Generator<'p>> = Vec::new();
        for item in items {
            if let CompItem::Generator(pattern, over) = item {
                if !generators.is_empty() && self.depends(*over, items) {
                    return Ok(None);
                }
                let value = self.eval(*over)?;
                let value = self.named(value, "items")?;
                let Some(length) = self.extents_of(&value)?.into_iter().next() else {
                    return Ok(None);
                };
                generators.push((pattern, value, self.ty(*over), length));
            }
        }
        let inner_known =
            generators.iter().skip(1).all(|g| g.3.as_constant().is_some_and(|n| n > 0));
        if generators.is_empty() || !inner_known {
            return Ok(None);
        }
        let leaves = self.leaf_types(ty).unwrap_or_default();
        // Lengths that only the elements know are found while they are collected.
        for (at, leaf) in leaves.iter().enumerate() {
            if leaf.rank > 1 && !self.in_region() && self.leaf_extents(element, at).is_err() {
                return Ok(None);
            }
        }
        let generators = Rc::new(generators);
        let home = self.module();
        let mut parts = Vec::with_capacity(leaves.len());
        for (at, leaf) in leaves.iter().enumerate() {
            parts.push(self.flat_leaf(element, items, &generators, (at, leaf), home));
        }
        Ok(Some(self.record(ty, &mut parts.into_iter())))
    }

    /// Whether an expression mentions a name that the comprehension introduces.
    fn depends(&self, expr: ExprId, items: &[CompItem]) -> bool {
        let mut bound = einlang_source::map::HashSet::default();
        for item in items {
            match item {
                CompItem::Generator(pattern, _) => {
                    super::order::pattern_locals(pattern, &mut |local| {
                        bound.insert(local);
                    });
                }
                CompItem::Binding(local, _) => drop(bound.insert(*local)),
                CompItem::Condition(_) => {}
            }
        }
        crate::types::walk::mentions(self.body(), expr, &bound)
    }

    fn flat_leaf(
        &mut self,
        element: ExprId,
        items: &'p [CompItem],
        generators: &Rc<Vec<Generator<'p>>>,
        (at, leaf): (usize, &Leaf),
        home: usize,
    ) -> Val<'p> {
        let (frame, span, elem) = (self.frame.clone(), self.here, leaf.elem);
        let (all, around) = (generators.clone(), frame.clone());
        let extents = move |cx: &mut Lower<'p>| {
            cx.check_home(Some(home), span)?;
            let mut total = all[0].3.clone();
            for generator in all.iter().skip(1) {
                let n = generator.3.as_constant().unwrap_or(1);
                total = cx.index_result(total.scale(n), span)?;
            }
            let mut extents = vec![total];
            let inner = cx.within(around.clone(), |cx| match cx.ty(element) {
                Ty::Tensor(..) | Ty::Struct(..) | Ty::Tuple(_) => cx.leaf_extents(element, at),
                _ => Ok(Vec::new()),
            })?;
            extents.extend(inner);
            Ok(extents)
        };
        let all = generators.clone();
        let one = move |cx: &mut Lower<'p>, point: &[At]| {
            cx.check_home(Some(home), span)?;
            let (Some(first), rest) = (point.first(), point.get(1..).unwrap_or(&[])) else {
                return unsupported(span, "a comprehension without an axis");
            };
            cx.within(frame.clone(), |cx| {
                cx.bind_generators(&all, items, first)?;
                let value = cx.eval(element)?;
                match value.leaves().into_iter().nth(at) {
                    Some(Val::Scalar(scalar)) => Ok(scalar),
                    Some(Val::Tensor(tensor)) => cx.element(&tensor, rest, true, span),
                    _ => unsupported(span, "the element of this comprehension"),
                }
            })
        };
        Val::lazy(elem, leaf.rank, false, extents, one)
    }

    /// Binds the names of a comprehension at one position of the flat list.
    fn bind_generators(
        &mut self,
        generators: &[Generator<'p>],
        items: &'p [CompItem],
        position: &At,
    ) -> R<()> {
        let places = self.unflattened(generators, position)?;
        let mut next = generators.iter().zip(places);
        for item in items {
            match item {
                CompItem::Generator(..) => {
                    let Some(((pattern, value, ty, _), place)) = next.next() else { continue };
                    let item_ty = super::block::item_type(ty);
                    let value = match value {
                        Val::Range(lo, hi) => {
                            let tensor = self.range_tensor(lo.clone(), hi.clone())?;
                            Val::Scalar(self.element(&tensor, &[place], true, self.here)?)
                        }
                        value => {
                            let spec = super::access::Spec::Point(place, true);
                            self.read_specs(value, &[spec])?
                        }
                    };
                    self.bind_pattern(pattern, &value, &item_ty)?;
                }
                CompItem::Binding(local, bound) => {
                    let value = self.eval(*bound)?;
                    let name = self.local_name(*local);
                    let value = self.named(value, &name)?;
                    self.bind_owned(*local, &value)?;
                }
                CompItem::Condition(_) => {}
            }
        }
        Ok(())
    }

    /// The place of each generator, the last one running fastest.
    fn unflattened(&mut self, generators: &[Generator<'p>], position: &At) -> R<Vec<At>> {
        let span = self.here;
        let mut rest = position.clone();
        let mut places = Vec::with_capacity(generators.len());
        for (at, generator) in generators.iter().enumerate().rev() {
            let n = generator.3.as_constant().unwrap_or(1).max(1);
            if at == 0 {
                places.push(rest.clone());
                continue;
            }
            match &rest {
                At::Index(expr) => {
                    places.push(At::Index(self.index_result(expr.floor_mod(n), span)?));
                    rest = At::Index(self.index_result(expr.floor_div(n), span)?);
                }
                At::Value(arg) => {
                    let wide = self.wide(arg.clone())?;
                    let size = self.index_scalar(Elem::I64, n.into());
                    let args = [wide, size];
                    let inner = self.region_op(Op::Rem, &args, Elem::I64, loc(span))?;
                    let outer = self.region_op(Op::Div, &args, Elem::I64, loc(span))?;
                    places.push(At::Value(self.arg(&inner)?));
                    rest = At::Value(self.arg(&outer)?);
                }
            }
        }
        places.reverse();
        Ok(places)
    }

    /// A comprehension by host loops that append to lists, one per leaf of a record.
    fn collected(
        &mut self,
        element: ExprId,
        items: &'p [CompItem],
        expr: ExprId,
        ty: &Ty,
    ) -> R<Val<'p>> {
        let item_ty = super::block::item_type(ty);
        let numeric = matches!(ty, Ty::Tensor(..)) && self.is_numeric(&item_ty);
        let leaves = match numeric {
            true => self.leaf_types(&item_ty).unwrap_or_default(),
            false => Vec::new(),
        };
        let types: Vec<HostType> = match numeric {
            true => leaves
                .iter()
                .map(|leaf| match leaf.rank {
                    0 => HostType::Scalar(leaf.elem),
                    rank => HostType::Tensor(leaf.elem, rank),
                })
                .collect(),
            false => vec![self.host_type(&item_ty)?],
        };
        let lists: Vec<HostType> =
            types.iter().map(|ty| HostType::List(Box::new(ty.clone()))).collect();
        let mut start = Vec::with_capacity(lists.len());
        for ty in &lists {
            let empty = self.host_value_of(ty.clone(), HostKind::List(Vec::new()));
            start.push((empty, ty.clone()));
        }
        let done = self.collect(items, start, &mut |cx, carried| {
            let value = cx.with_reductions(element, |cx| cx.eval(element))?;
            let own = cx.ty(element);
            let value = cx.settled(&value)?;
            let mut pushed = Vec::with_capacity(carried.len());
            let parts: Vec<HostArg> = if numeric {
                let mut hosts = Vec::new();
                for leaf in value.leaves() {
                    hosts.push(match &leaf {
                        Val::Scalar(scalar) => cx.host_scalar(scalar)?,
                        Val::Tensor(tensor) => cx.host_whole(tensor)?,
                        _ => return unsupported(cx.here, "the element of this comprehension"),
                    });
                }
                hosts
            } else {
                vec![cx.as_list(&value, &own, &item_ty)?]
            };
            for ((list, ty), part) in carried.iter().zip(parts) {
                let kind = HostKind::Intrinsic(Intrinsic::ListPush, vec![list.clone(), part]);
                pushed.push((cx.host_value_of(ty.clone(), kind), ty.clone()));
            }
            Ok(pushed)
        })?;
        let mut shaped = Vec::with_capacity(done.len());
        for (list, ty) in done {
            shaped.push((self.with_extents_of(list, &ty, expr)?, ty));
        }
        let done = shaped;
        if !numeric {
            let (list, host) =
                done.into_iter().next().unwrap_or((HostArg::Str(String::new()), HostType::Str));
            return Ok(Val::Host(list, host));
        }
        let mut values = Vec::with_capacity(leaves.len());
        for (leaf, (list, _)) in leaves.iter().zip(done) {
            let kind = HostKind::Intrinsic(Intrinsic::ListToTensor, vec![list]);
            let host = self.host_value_of(HostType::Tensor(leaf.elem, leaf.rank + 1), kind);
            values.push(self.host_tensor("list", leaf.elem, leaf.rank + 1, host));
        }
        Ok(self.record(&item_ty, &mut values.into_iter()))
    }

    /// A list of lists or tensors with the extents that the analysis found for an expression, as
    /// far as they do not come from its value.
    fn with_extents_of(&mut self, list: HostArg, ty: &HostType, expr: ExprId) -> R<HostArg> {
        let instance = self.frame.instance;
        let Some(shape) = self.shapes.instance(instance).exprs.get(&expr) else { return Ok(list) };
        let extents = shape.extents();
        let mut known = true;
        shape.for_each_var(&mut |var| {
            known &= match self.shapes.symbols.origin(var) {
                Some(Origin::Axis(source, ..) | Origin::Value(source, _)) => match source {
                    Source::Param(..) | Source::Input(_) => true,
                    Source::Local(_, local) => self.frame.lookup(self.frame.body, *local).is_some(),
                    Source::Expr(..) => false,
                },
                _ => false,
            };
        });
        let (HostType::List(inner), true) = (ty, known) else { return Ok(list) };
        if extents.len() < 2 || !matches!(**inner, HostType::List(_) | HostType::Tensor(..)) {
            return Ok(list);
        }
        let mut args = vec![list];
        for extent in &extents {
            let extent = self.extent(extent)?;
            let scalar = self.index_scalar(Elem::I64, extent);
            args.push(self.host_scalar(&scalar)?);
        }
        Ok(self.host_value_of(ty.clone(), HostKind::Intrinsic(Intrinsic::ListShaped, args)))
    }

    /// A value as an element of a jagged array: tensors become lists.
    pub(super) fn as_list(&mut self, value: &Val<'p>, from: &Ty, to: &Ty) -> R<HostArg> {
        let host = self.hosted(value, from)?;
        let (Ty::Tensor(_, extents), Ty::Jagged(..)) = (from, to) else { return Ok(host) };
        self.tensor_as_list(host, extents.len(), from, to)
    }

    fn tensor_as_list(&mut self, host: HostArg, rank: usize, from: &Ty, to: &Ty) -> R<HostArg> {
        let ty = self.host_type(to)?;
        let (inner_from, inner_to) = (super::block::item_type(from), super::block::item_type(to));
        let items = HostType::List(Box::new(self.host_type(&inner_from)?));
        let kind = HostKind::Intrinsic(Intrinsic::TensorToList, vec![host]);
        let list = self.host_value_of(items, kind);
        if rank <= 1 {
            return Ok(list);
        }
        let kind = HostKind::Intrinsic(Intrinsic::ListLen, vec![list.clone()]);
        let length = self.host_value_of(HostType::Scalar(Elem::I64), kind);
        let empty = self.host_value_of(ty.clone(), HostKind::List(Vec::new()));
        let start = vec![(empty, ty)];
        let done =
            self.counted(super::tables::i64_const(0), length, start, |cx, counter, lists| {
                let kind = HostKind::Intrinsic(Intrinsic::ListGet, vec![list, counter]);
                let of = cx.host_type(&inner_from)?;
                let item = cx.host_value_of(of, kind);
                let item = cx.tensor_as_list(item, rank - 1, &inner_from, &inner_to)?;
                Ok(cx.pushed(lists, vec![item]))
            })?;
        Ok(done.into_iter().next().map_or(HostArg::Str(String::new()), |list| list.0))
    }

    /// Runs the items in order, the first outermost.
    fn collect(&mut self, items: &'p [CompItem], carried: Lists, push: Push<'_, 'p>) -> R<Lists> {
        let Some((item, rest)) = items.split_first() else { return push(self, &carried) };
        match item {
            CompItem::Binding(local, bound) => {
                let value = self.eval(*bound)?;
                let name = self.local_name(*local);
                let value = self.named(value, &name)?;
                self.bind_owned(*local, &value)?;
                self.collect(rest, carried, push)
            }
            CompItem::Generator(pattern, over) => {
                let value = self.eval(*over)?;
                let ty = self.ty(*over);
                let types: Vec<HostType> = carried.iter().map(|c| c.1.clone()).collect();
                let done = self.host_loop(&value, &ty, carried, |cx, item, ty, inner| {
                    cx.bind_pattern(pattern, item, ty)?;
                    let inner = inner.iter().cloned().zip(types.iter().cloned()).collect();
                    let pushed = cx.collect(rest, inner, push)?;
                    Ok(pushed.into_iter().map(|c| c.0).collect())
                })?;
                Ok(done.into_iter().zip(types).collect())
            }
            CompItem::Condition(condition) => {
                let value = self.eval(*condition)?;
                let scalar = self.expect_scalar(value, self.here)?;
                let test = self.host_scalar(&scalar)?;
                let kept: Vec<HostArg> = carried.iter().map(|c| c.0.clone()).collect();
                let types: Vec<HostType> = carried.iter().map(|c| c.1.clone()).collect();
                let (then, ()) = self.block(Vec::new(), |cx| {
                    let pushed = cx.collect(rest, carried, push)?;
                    Ok((pushed.into_iter().map(|c| c.0).collect(), ()))
                })?;
                let (otherwise, ()) = self.block(Vec::new(), |_| Ok((kept, ())))?;
                let results: Vec<HostDef> = types
                    .iter()
                    .map(|ty| HostDef { number: self.new_number(), ty: ty.clone() })
                    .collect();
                let after: Vec<HostArg> =
                    results.iter().map(|def| HostArg::Value(def.number)).collect();
                let at = loc(self.here);
                self.host_inst(results, HostKind::If(test, then, otherwise), at);
                Ok(after.into_iter().zip(types).collect())
            }
        }
    }
}
