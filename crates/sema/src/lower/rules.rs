//! Functions with a derivative rule of their own: they stay functions of the module until it is
//! differentiated, and so do their rules.
//!
//! Values are flattened: one parameter per number or tensor. A rule takes the function's
//! parameters and then their tangents (or the cotangents of the result) and gives the tangents of
//! the result (or the cotangents of the parameters). What either of the two captures comes first, as
//! parameters of which the rule says nothing.

use std::collections::HashMap;
use std::rc::Rc;

use einlang_tir::module::{Function, Rule as TirRule, SymbolSource};
use einlang_tir::region::{Arg, Def, InstKind, Region, Tensor as TirTensor};
use einlang_tir::types::{Ident, Loc, TensorType};

use super::captures::Captured;
use super::module::loc;
use super::types::Leaf;
use super::value::{Frame, R, Scalar, Val};
use super::{Lower, unsupported};
use crate::hir::{DefId, DefKind, LocalId, LocalKind, Owner, Res, Rule};
use crate::types::{InstanceId, Ty};

/// The function that a rule is for: the rule, the function, and what is around it.
type Of<'p> = (&'p Rule, InstanceId, Option<Rc<Frame<'p>>>);

impl<'p> Lower<'p> {
    /// The rule of an instance's function, if a derivative may ask for it.
    pub(super) fn rule_of(&self, id: InstanceId) -> Option<(DefId, &'p Rule)> {
        let instance = self.typed.instance(id);
        let (None, Owner::Def(def)) = (instance.lambda, self.body_of(instance.body).owner) else {
            return None;
        };
        if self.requesting.is_empty() {
            return None;
        }
        let mut rules = self.program.defs.iter().filter_map(|(at, item)| match &item.kind {
            DefKind::Rule(rule) if rule.target == Res::Def(def) => Some((at, rule)),
            _ => None,
        });
        rules.next()
    }

    /// What a function and its rule declare about their parameters is checked where the function is
    /// called: inside of them it is taken for granted.
    pub(super) fn check_before_rule(&mut self, id: InstanceId, frame: &Frame<'p>) -> R<()> {
        self.within(frame.clone(), |cx| cx.entry_checks(id))?;
        let rule = self.rule_of(id).and_then(|(_, rule)| self.rule_instance(rule, id));
        let Some(rule) = rule else { return Ok(()) };
        let mut own = Frame::new(rule, self.typed.instance(rule).body, frame.parent.clone());
        own.params = frame.params.clone();
        self.within(own, |cx| cx.entry_checks(rule))
    }

    /// A call that stays a call.
    pub(super) fn call_with_rule(&mut self, id: InstanceId, frame: &Frame<'p>) -> R<Val<'p>> {
        let ret = self.typed.instance(id).ret.clone();
        let captured = self.captured_by(id, frame)?;
        if self.in_region() {
            return self.emit_call(id, frame, &captured, &ret);
        }
        let leaves = self.leaf_types(&ret).unwrap_or_default();
        let span = self.here;
        let mut values = Vec::with_capacity(leaves.len());
        for (at, leaf) in leaves.iter().enumerate() {
            let (inner, around, of) = (frame.clone(), frame.clone(), ret.clone());
            let captured = captured.clone();
            let element = move |cx: &mut Lower<'p>, point: &[einlang_tir::region::Subscript]| {
                let value = cx.emit_call(id, &inner, &captured, &of)?;
                match value.leaves().into_iter().nth(at) {
                    Some(Val::Scalar(scalar)) => Ok(scalar),
                    Some(Val::Tensor(tensor)) => cx.element(&tensor, point, true, span),
                    _ => unsupported(span, "the result of a function with a rule"),
                }
            };
            values.push(match leaf.rank {
                0 => {
                    let name = self.fresh("v");
                    let id = self.define_scalar(&name, span, |cx| element(cx, &[]))?;
                    Val::named(leaf.elem, 0, id)
                }
                rank => {
                    let extents = move |cx: &mut Lower<'p>| cx.result_extents(id, &around, at);
                    Val::lazy(leaf.elem, rank, false, extents, element)
                }
            });
        }
        Ok(self.record(&ret, &mut values.into_iter()))
    }

    fn result_extents(
        &mut self,
        id: InstanceId,
        frame: &Frame<'p>,
        leaf: usize,
    ) -> R<Vec<einlang_index::Quasi>> {
        let shape = &self.shapes.instance(id).ret;
        self.within(frame.clone(), |cx| cx.shape_extents(shape, leaf))
    }

    /// What a function and its rule capture, as it is where the function is called.
    fn captured_by(&mut self, id: InstanceId, frame: &Frame<'p>) -> R<Vec<Val<'p>>> {
        let captures = self.captures_with_rule(id);
        let mut values = Vec::with_capacity(captures.len());
        for capture in &captures {
            values.push(self.within(frame.clone(), |cx| cx.captured(capture))?.0);
        }
        Ok(values)
    }

    /// The call in the region that is open.
    fn emit_call(
        &mut self,
        id: InstanceId,
        frame: &Frame<'p>,
        captured: &[Val<'p>],
        ret: &Ty,
    ) -> R<Val<'p>> {
        let function = self.tir_function(id)?;
        let mut args = Vec::new();
        for value in captured.iter().chain(frame.params.iter()) {
            self.add_args(value, &mut args)?;
        }
        let mut defs = Vec::new();
        let mut values = Vec::new();
        let leaves = self.leaf_types(ret).unwrap_or_default();
        for (at, leaf) in leaves.iter().enumerate() {
            if leaf.rank == 0 {
                let value = self.new_value(leaf.elem);
                defs.push(Def::Scalar(value));
                values.push(Val::Scalar(Scalar::value(value)));
                continue;
            }
            let extents = self.result_extents(id, frame, at)?;
            let dims = extents.iter().cloned().map(Into::into).collect();
            let (tensor, name) = self.home_tensor("called", leaf.elem, extents);
            defs.push(Def::Tensor(TirTensor { name, ty: TensorType { elem: leaf.elem, dims } }));
            values.push(Val::named(leaf.elem, leaf.rank, tensor));
        }
        let at = loc(self.here);
        self.push_inst(defs, InstKind::Call { function, args }, at);
        Ok(self.record(ret, &mut values.into_iter()))
    }

    /// The operands for the leaves of a value.
    fn add_args(&mut self, value: &Val<'p>, args: &mut Vec<Arg>) -> R<()> {
        for leaf in value.leaves() {
            args.push(match leaf {
                Val::Scalar(scalar) => self.arg(&scalar)?,
                Val::Tensor(tensor) => {
                    let id = self.materialise(&tensor, "arg", self.here)?;
                    Arg::Tensor(self.import(id)?.0)
                }
                _ => return unsupported(self.here, "this argument of a function with a rule"),
            });
        }
        Ok(())
    }

    /// The function of the module, with its rule, made when it is first called.
    pub(super) fn tir_function(&mut self, id: InstanceId) -> R<Ident> {
        if let Some(name) = self.cx().functions.get(&id) {
            return Ok(name.clone());
        }
        let Some((rule_def, rule)) = self.rule_of(id) else {
            return unsupported(self.here, "a function without its rule");
        };
        let base = match self.body_of(self.typed.instance(id).body).owner {
            Owner::Def(def) => self.spelling(self.program.def(def).name.name).to_owned(),
            Owner::Module(_) => "function".to_owned(),
        };
        let n_before = self.cx().functions.len();
        let suffix = if n_before == 0 { String::new() } else { format!(".{n_before}") };
        let name = Ident::new(&format!("{base}{suffix}"));
        self.cx().functions.insert(id, name.clone());
        let (body, silent) = self.function_region(id, id, None)?;
        let Some(rule_id) = self.rule_instance(rule, id) else {
            return unsupported(self.program.def(rule_def).span, "this rule");
        };
        let ending = if rule.reverse { "adj" } else { "tan" };
        let rule_name = Ident::new(&format!("{base}{suffix}_{ending}"));
        let (rule_body, _) = self.function_region(rule_id, id, Some(rule))?;
        let place = loc(self.here);
        let link = TirRule { function: rule_name.clone(), reverse: rule.reverse, silent };
        let rule_place = self.program.def(rule_def).name.span;
        let functions = &mut self.cx().tir.functions;
        functions.push(Function { name: name.clone(), body, rule: Some(link), loc: place });
        let place = loc(rule_place);
        functions.push(Function { name: rule_name, body: rule_body, rule: None, loc: place });
        Ok(name)
    }

    /// The instance of a rule for the signature of its function.
    pub(super) fn rule_instance(&self, rule: &Rule, target: InstanceId) -> Option<InstanceId> {
        let mut params = self.typed.instance(target).params.clone();
        if rule.reverse {
            params.push(self.typed.instance(target).ret.clone());
        }
        let plain = |ty: &Ty| ty.without_extents();
        self.typed.ids().find(|id| {
            let instance = self.typed.instance(*id);
            instance.body == rule.body
                && instance.params.iter().map(plain).eq(params.iter().map(plain))
        })
    }

    /// The region of a function, or of the rule for one, and how many parameters are captured.
    fn function_region(
        &mut self,
        id: InstanceId,
        target: InstanceId,
        rule: Option<&'p Rule>,
    ) -> R<(Region, usize)> {
        let mut params = Vec::new();
        let mut known = Captured::default();
        let inputs = self.inputs.clone();
        for capture in self.captures_with_rule(target) {
            let ty = self.capture_type(&capture);
            let value = self.function_param(&ty, &mut params)?;
            self.give_name(&value, &self.capture_name(&capture));
            self.keep_captured(&capture, value, &mut known);
        }
        let silent = params.len();
        let modules = std::mem::take(&mut self.module_frames);
        for owner in self.typed.modules.iter().flatten() {
            let mut frame = Frame::new(*owner, self.typed.instance(*owner).body, None);
            known.bind(*owner, &mut frame);
            self.module_frames.insert(*owner, frame);
        }
        let around = |id: InstanceId, cx: &Self| {
            let parent = cx.typed.instance(id).parent;
            parent.map(|parent| Rc::new(cx.frames_from(parent, &known)))
        };
        let frame = Frame::new(id, self.typed.instance(id).body, around(id, self));
        let of = rule.map(|rule| (rule, target, around(target, self)));
        let region = self.region_within(frame, params, of);
        (self.inputs, self.module_frames) = (inputs, modules);
        Ok((region?, silent))
    }

    fn region_within(
        &mut self,
        mut frame: Frame<'p>,
        mut params: Vec<Def>,
        of: Option<Of<'p>>,
    ) -> R<Region> {
        let id = frame.instance;
        let instance = self.typed.instance(id);
        let mut values = Vec::new();
        for ty in &instance.params {
            values.push(self.function_param(ty, &mut params)?);
        }
        let mut tangents: HashMap<LocalId, Val<'p>> = HashMap::new();
        let patterns = self.params_of(id);
        for (at, (param, value)) in patterns.iter().zip(&values).enumerate() {
            let reverse = of.as_ref().map(|(rule, ..)| rule.reverse);
            let is_cotangent = reverse == Some(true) && at + 1 == patterns.len();
            let is_forward = reverse == Some(false);
            let mut names = Vec::new();
            super::order::pattern_locals(&param.pattern, &mut |local| names.push(local));
            if let ([local], true) = (&names[..], is_cotangent || is_forward) {
                let tangent = match is_cotangent {
                    true => value.clone(),
                    false => self.function_param(&instance.params[at], &mut params)?,
                };
                tangents.insert(*local, tangent);
            }
        }
        frame.params = Rc::new(values.clone());
        frame.tangents = of.is_some().then(|| Rc::new(tangents));
        let Some(value) = self.value_of(id) else {
            return unsupported(self.here, "a function without a body");
        };
        let (mut region, ()) = self.region(|cx| {
            cx.within(frame, |cx| {
                // What a request names is a tensor of the region.
                for ((param, value), ty) in patterns.iter().zip(&values).zip(&instance.params) {
                    cx.bind_pattern(&param.pattern, value, ty)?;
                }
                if let Some((_, target, around)) = of {
                    cx.bind_result(target, around)?;
                }
                let value = cx.eval(value)?;
                let mut results = Vec::new();
                cx.add_args(&value, &mut results)?;
                Ok((results, ()))
            })
        })?;
        region.params = params;
        Ok(region)
    }

    /// New parameters for the leaves of a value.
    fn function_param(&mut self, ty: &Ty, params: &mut Vec<Def>) -> R<Val<'p>> {
        let Some(leaves) = self.leaf_types(ty) else {
            return unsupported(self.here, "this parameter of a function with a rule");
        };
        let mut values = Vec::with_capacity(leaves.len());
        for leaf in &leaves {
            values.push(self.leaf_param(leaf, params));
        }
        Ok(self.record(ty, &mut values.into_iter()))
    }

    fn leaf_param(&mut self, leaf: &Leaf, params: &mut Vec<Def>) -> Val<'p> {
        if leaf.rank == 0 {
            let value = self.new_value(leaf.elem);
            params.push(Def::Scalar(value));
            return Val::Scalar(Scalar::value(value));
        }
        let (id, name) = self.home_tensor("param", leaf.elem, Vec::new());
        let mut extents = Vec::with_capacity(leaf.rank);
        for axis in 0..leaf.rank {
            let source = SymbolSource::Shape(name.clone(), axis);
            let text = format!("{}.{axis}", name.as_str());
            extents.push(self.new_symbol(&text, source, Loc::default()).into());
        }
        let dims = extents.iter().cloned().map(Into::into).collect();
        (self.tensors[id.0].extents, self.tensors[id.0].rank) = (extents, leaf.rank);
        params.push(Def::Tensor(TirTensor { name, ty: TensorType { elem: leaf.elem, dims } }));
        Val::named(leaf.elem, leaf.rank, id)
    }

    /// Binds `result` in a rule to a call of the function; it goes away if nothing uses it.
    fn bind_result(&mut self, target: InstanceId, around: Option<Rc<Frame<'p>>>) -> R<()> {
        let found = self.body().locals.iter().find(|(_, local)| {
            local.kind == LocalKind::Let && self.spelling(local.name.name) == "result"
        });
        let Some((local, _)) = found else { return Ok(()) };
        let n_params = self.typed.instance(target).params.len();
        let mut frame = Frame::new(target, self.typed.instance(target).body, around);
        frame.params = Rc::new(self.frame.params.iter().take(n_params).cloned().collect());
        let ret = self.typed.instance(target).ret.clone();
        let captured = self.captured_by(target, &frame)?;
        let value = self.emit_call(target, &frame, &captured, &ret)?;
        self.frame.bind(local, value);
        Ok(())
    }
}
