//! One call of a function with a rule, compared with differences of the function's values.
//!
//! All arguments move at once, along directions without a pattern, and all results are weighted and
//! added up, so a mistake about any of them shows.

use einlang_index::Var;

use super::context::{Ad, zero};
use super::fault::R;
use super::watch::Watched;
use crate::constant::Const;
use crate::module::{Axis, Binding, Clause, Group, box_of};
use crate::op::Op;
use crate::region::{
    Arg, Combiner, Def, Inst, InstKind, ReduceFlags, Reduction, Region, Start, Subscript, Tensor,
};
use crate::types::{Elem, Ident, Loc, TensorType};

impl Ad<'_> {
    /// How far the rule is from differences at one call.
    pub(super) fn fault(
        &mut self,
        watched: &Watched<'_>,
        inst: &Inst,
        args: &[Arg],
        out: &mut Vec<Inst>,
    ) -> R<Arg> {
        let mut directions = Vec::with_capacity(args.len());
        for (at, arg) in args.iter().enumerate() {
            // What was captured stays where it is.
            directions.push(match at < watched.rule.silent {
                true => None,
                false => self.direction(watched, arg, at, out)?,
            });
        }
        let is_short = |elem: Elem| elem.is_float() && elem != Elem::F64;
        let of_arg = |arg: &Arg| match arg {
            Arg::Tensor(name) => watched.types.get(name).is_some_and(|ty| is_short(ty.elem)),
            _ => arg.elem().is_some_and(is_short),
        };
        let of_def = |def: &Def| match def {
            Def::Scalar(value) => is_short(value.elem),
            Def::Tensor(tensor) => is_short(tensor.ty.elem),
        };
        let short = args.iter().any(of_arg) || inst.results.iter().any(of_def);
        let (step, tolerance) = if short { (2e-2, 3e-2) } else { (1e-4, 1e-5) };
        let by_rule = self.by_rule(watched, inst, args, &directions, out)?;
        let coarse = self.difference(watched, inst, args, &directions, step, out)?;
        let fine = self.difference(watched, inst, args, &directions, step / 2.0, out)?;
        let number = |x: f64| Arg::from(Const::float(Elem::F64, x));
        let f64s = |ad: &mut Self, out: &mut Vec<Inst>, op, args| ad.op(out, op, args, Elem::F64);
        let away = f64s(self, out, Op::Sub, vec![by_rule.clone(), fine.clone()]);
        let away = f64s(self, out, Op::Abs, vec![away]);
        let spread = f64s(self, out, Op::Sub, vec![coarse, fine.clone()]);
        let spread = f64s(self, out, Op::Abs, vec![spread]);
        let spread = f64s(self, out, Op::Mul, vec![spread, number(8.0)]);
        let size = [by_rule, fine].map(|x| f64s(self, out, Op::Abs, vec![x]));
        let size = f64s(self, out, Op::Add, size.to_vec());
        let size = f64s(self, out, Op::Add, vec![size, number(1.0)]);
        let size = f64s(self, out, Op::Mul, vec![size, number(tolerance)]);
        let fault = f64s(self, out, Op::Div, vec![away.clone(), size]);
        // False for NaN, so that a function without a value says nothing.
        let is_sure = self.op(out, Op::Gt, vec![away, spread], Elem::Bool);
        let (then, otherwise) = (Region::yielding([fault]), Region::yielding([zero(Elem::F64)]));
        Ok(self.branch(out, is_sure, then, otherwise, Elem::F64))
    }

    /// A direction for an argument, of its type; none for what is not a float.
    fn direction(
        &mut self,
        watched: &Watched<'_>,
        arg: &Arg,
        at: usize,
        out: &mut Vec<Inst>,
    ) -> R<Option<Arg>> {
        let slope = weight(at);
        match arg {
            Arg::Tensor(name) => {
                let Some(ty) = watched.types.get(name).filter(|ty| ty.elem.is_float()) else {
                    return Ok(None);
                };
                let elem = ty.elem;
                let tensor = self.local(out, ty, |ad, insts, axes| {
                    let mut angle: Arg = Const::float(elem, slope).into();
                    for (axis, var) in axes.iter().enumerate() {
                        let index = InstKind::Index((*var).into());
                        let index = ad.push(insts, Elem::I64, index, Loc::default());
                        let index = ad.cast(insts, index, elem);
                        let factor = Const::float(elem, 1.0 + weight(axis + 7)).into();
                        let part = ad.op(insts, Op::Mul, vec![index, factor], elem);
                        angle = ad.op(insts, Op::Add, vec![angle, part], elem);
                    }
                    Ok(ad.op(insts, Op::Cos, vec![angle], elem))
                })?;
                Ok(Some(Arg::Tensor(tensor)))
            }
            _ => Ok(arg.elem().filter(|e| e.is_float()).map(|e| Const::float(e, slope).into())),
        }
    }

    /// A local tensor of a type, point by point.
    pub(super) fn local(
        &mut self,
        out: &mut Vec<Inst>,
        ty: &TensorType,
        point: impl FnOnce(&mut Self, &mut Vec<Inst>, &[Var]) -> R<Arg>,
    ) -> R<Ident> {
        let axes: Vec<Axis> = ty
            .dims
            .iter()
            .map(|dim| Axis { var: self.module.vars.index("w"), dim: dim.clone() })
            .collect();
        let vars: Vec<Var> = axes.iter().map(|axis| axis.var).collect();
        let mut insts = Vec::new();
        let result = point(self, &mut insts, &vars)?;
        let body = Region { params: Vec::new(), insts, results: vec![result] };
        let domain = box_of(&axes)?.into();
        let name = self.fresh_name("moved");
        let clauses = vec![Clause { domain, guard: None, body, loc: Loc::default() }];
        let (elem, loc) = (ty.elem, Loc::default());
        let own = name.clone();
        let binding = Binding { name: own, elem, axes, clauses, zero_fill: false, loc };
        let group = Group { bindings: vec![binding], until: None };
        out.push(Inst { results: Vec::new(), kind: InstKind::Group(Box::new(group)), loc });
        Ok(name)
    }

    /// The arguments, each moved along its direction.
    fn moved(
        &mut self,
        watched: &Watched<'_>,
        args: &[Arg],
        directions: &[Option<Arg>],
        step: f64,
        out: &mut Vec<Inst>,
    ) -> R<Vec<Arg>> {
        let mut moved = Vec::with_capacity(args.len());
        for (arg, direction) in args.iter().zip(directions) {
            let Some(direction) = direction else {
                moved.push(arg.clone());
                continue;
            };
            moved.push(match (arg, direction) {
                (Arg::Tensor(name), Arg::Tensor(direction)) => {
                    let Some(ty) = watched.types.get(name).cloned() else { continue };
                    let elem = ty.elem;
                    Arg::Tensor(self.local(out, &ty, |ad, insts, axes| {
                        let at: Vec<Subscript> =
                            axes.iter().map(|var| Subscript::Index((*var).into())).collect();
                        let own = ad.read(insts, name, at.clone(), elem, true);
                        let along = ad.read(insts, direction, at, elem, true);
                        let factor = Const::float(elem, step).into();
                        let along = ad.op(insts, Op::Mul, vec![along, factor], elem);
                        Ok(ad.op(insts, Op::Add, vec![own, along], elem))
                    })?)
                }
                _ => {
                    let elem = arg.elem().unwrap_or(Elem::F64);
                    let factor = Const::float(elem, step).into();
                    let along = self.op(out, Op::Mul, vec![direction.clone(), factor], elem);
                    self.op(out, Op::Add, vec![arg.clone(), along], elem)
                }
            });
        }
        Ok(moved)
    }

    /// The difference of the function's values, over the distance, weighted over its results.
    fn difference(
        &mut self,
        watched: &Watched<'_>,
        inst: &Inst,
        args: &[Arg],
        directions: &[Option<Arg>],
        step: f64,
        out: &mut Vec<Inst>,
    ) -> R<Arg> {
        let mut sums = Vec::with_capacity(2);
        for step in [step, -step] {
            let moved = self.moved(watched, args, directions, step, out)?;
            let results = self.called(watched.function, moved, &inst.results, out);
            sums.push(self.weighted(&results, out)?);
        }
        let difference = self.op(out, Op::Sub, sums, Elem::F64);
        let distance = Const::float(Elem::F64, 2.0 * step).into();
        Ok(self.op(out, Op::Div, vec![difference, distance], Elem::F64))
    }

    /// A call; its results are like the given ones.
    fn called(
        &mut self,
        function: &Ident,
        args: Vec<Arg>,
        like: &[Def],
        out: &mut Vec<Inst>,
    ) -> Vec<Def> {
        let mut results = Vec::with_capacity(like.len());
        for def in like {
            results.push(match def {
                Def::Scalar(value) => Def::Scalar(self.module.supply.value(value.elem)),
                Def::Tensor(tensor) => {
                    let name = self.fresh_name("called");
                    Def::Tensor(Tensor { name, ty: tensor.ty.clone() })
                }
            });
        }
        let kind = InstKind::Call { function: function.clone(), args };
        out.push(Inst { results: results.clone(), kind, loc: Loc::default() });
        results
    }

    /// The sum of results, each with a weight of its own.
    fn weighted(&mut self, results: &[Def], out: &mut Vec<Inst>) -> R<Arg> {
        let mut sum: Option<Arg> = None;
        for (at, def) in results.iter().enumerate() {
            let total = match def {
                Def::Scalar(value) if value.elem.is_float() => {
                    self.cast(out, Arg::from(*value), Elem::F64)
                }
                Def::Tensor(tensor) if tensor.ty.elem.is_float() => {
                    self.total(out, &tensor.name, &tensor.ty, None)?
                }
                _ => continue,
            };
            let weight = Const::float(Elem::F64, weight(at + 3)).into();
            let part = self.op(out, Op::Mul, vec![total, weight], Elem::F64);
            self.add_to(out, &mut sum, part);
        }
        Ok(sum.unwrap_or_else(|| zero(Elem::F64)))
    }

    /// The sum of a tensor's elements, or of their products with another's.
    fn total(
        &mut self,
        out: &mut Vec<Inst>,
        name: &Ident,
        ty: &TensorType,
        other: Option<&Ident>,
    ) -> R<Arg> {
        let axes: Vec<Axis> = ty
            .dims
            .iter()
            .map(|dim| Axis { var: self.module.vars.index("w"), dim: dim.clone() })
            .collect();
        let at: Vec<Subscript> =
            axes.iter().map(|axis| Subscript::Index(axis.var.into())).collect();
        let mut insts = Vec::new();
        let mut term = self.read(&mut insts, name, at.clone(), ty.elem, true);
        if let Some(other) = other {
            let factor = self.read(&mut insts, other, at, ty.elem, true);
            term = self.op(&mut insts, Op::Mul, vec![term, factor], ty.elem);
        }
        let term = self.cast(&mut insts, term, Elem::F64);
        let body = Region { params: Vec::new(), insts, results: vec![term] };
        let flags = ReduceFlags { commutative: true, idempotent: false, reassociable: true };
        let domain = box_of(&axes)?.into();
        let start = Start::Identity(vec![zero(Elem::F64)]);
        let combine = Combiner::Op(Op::Add);
        let reduction = Reduction { domain, guard: None, body, combine, start, flags };
        let kind = InstKind::Reduce(Box::new(reduction));
        Ok(self.push(out, Elem::F64, kind, Loc::default()))
    }

    /// What the rule says about the same sum.
    fn by_rule(
        &mut self,
        watched: &Watched<'_>,
        inst: &Inst,
        args: &[Arg],
        directions: &[Option<Arg>],
        out: &mut Vec<Inst>,
    ) -> R<Arg> {
        let rule = &watched.rule.function;
        if !watched.rule.reverse {
            let zeros = args.iter().map(|arg| zero(arg.elem().unwrap_or(Elem::F64)));
            let along = directions.iter().zip(args).zip(zeros).skip(watched.rule.silent);
            let along = along.map(|((direction, arg), zero)| match (direction, arg) {
                (Some(direction), _) => direction.clone(),
                (None, Arg::Tensor(name)) => Arg::Tensor(name.clone()),
                (None, _) => zero,
            });
            let all = args.iter().cloned().chain(along).collect();
            let results = self.called(rule, all, &inst.results, out);
            return self.weighted(&results, out);
        }
        let mut cotangents = Vec::with_capacity(inst.results.len());
        for (at, def) in inst.results.iter().enumerate() {
            let number = weight(at + 3);
            cotangents.push(match def {
                Def::Scalar(value) => Const::float(value.elem, number).into(),
                Def::Tensor(tensor) => {
                    let elem = tensor.ty.elem;
                    Arg::Tensor(
                        self.local(out, &tensor.ty, |_, _, _| {
                            Ok(Const::float(elem, number).into())
                        })?,
                    )
                }
            });
        }
        let mut like = Vec::with_capacity(args.len());
        for arg in args.iter().skip(watched.rule.silent) {
            like.push(match arg {
                Arg::Tensor(name) => match watched.types.get(name) {
                    Some(ty) => Def::Tensor(Tensor { name: name.clone(), ty: ty.clone() }),
                    None => continue,
                },
                _ => Def::Scalar(self.module.supply.value(arg.elem().unwrap_or(Elem::F64))),
            });
        }
        let all = args.iter().cloned().chain(cotangents).collect();
        let results = self.called(rule, all, &like, out);
        let mut sum: Option<Arg> = None;
        for (def, direction) in results.iter().zip(directions.iter().skip(watched.rule.silent)) {
            let part = match (def, direction) {
                (Def::Scalar(value), Some(direction)) => {
                    let product = self.op(
                        out,
                        Op::Mul,
                        vec![Arg::from(*value), direction.clone()],
                        value.elem,
                    );
                    self.cast(out, product, Elem::F64)
                }
                (Def::Tensor(tensor), Some(Arg::Tensor(direction))) => {
                    self.total(out, &tensor.name, &tensor.ty, Some(direction))?
                }
                _ => continue,
            };
            self.add_to(out, &mut sum, part);
        }
        Ok(sum.unwrap_or_else(|| zero(Elem::F64)))
    }
}

/// Numbers between 0.6 and 1 without a pattern.
pub(super) fn weight(at: usize) -> f64 {
    let turned = (at as f64 + 1.0) * 0.618_033_988_749_895;
    0.6 + 0.4 * (turned - turned.floor())
}
