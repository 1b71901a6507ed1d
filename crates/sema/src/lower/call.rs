//! Calls: lowered in place, or calls of host functions.

use std::rc::Rc;

use einlang_tir::host::{HostArg, HostKind};
use einlang_tir::region::{Def, InstKind};

use super::module::loc;
use super::types::elem_of;
use super::value::{FnVal, Frame, R, Scalar, Val};
use super::{Lower, MAX_INLINE_DEPTH, MAX_INLINED, unsupported};
use crate::hir::{Arg, ExprId, ExprKind, Ident, Param, PatternKind, Res};
use crate::types::{Callee, FnTy, InstanceId, Ty};

impl<'p> Lower<'p> {
    pub(super) fn call(&mut self, expr: ExprId, callee: ExprId, args: &'p [Arg]) -> R<Val<'p>> {
        let target = self.callee(expr);
        if let Some(Callee::Function(FnTy::Builtin(function))) = target {
            return self.builtin(function, args, expr);
        }
        let ret = self.ty(expr);
        if let Some(Callee::Function(FnTy::Python(path))) = target {
            return self.call_python(path, args, &ret);
        }
        let mut values = Vec::with_capacity(args.len());
        let mut types = Vec::with_capacity(args.len());
        for arg in args {
            values.push(self.eval(arg.value)?);
            types.push(self.ty(arg.value));
        }
        if let Some(Callee::Instance(id)) = target {
            let names = args.iter().map(|arg| arg.name).collect();
            let placed = self.placed(id, names, values)?;
            let parent = self.parent_of(id, callee)?;
            return self.call_instance(id, parent, placed, &ret);
        }
        let function = match self.body().kind(callee) {
            ExprKind::Name(Res::Variant(..) | Res::Builtin(_)) => Val::unit(),
            _ => self.eval(callee)?,
        };
        if let (Val::Host(..), Ty::Fn(FnTy::Declared(params, _))) = (&function, self.ty(callee)) {
            types = params;
        }
        self.apply_function(&function, target, values, &types, &ret)
    }

    /// The arguments in the order of the parameters; none where the default is used.
    pub(super) fn placed(
        &self,
        id: InstanceId,
        names: Vec<Option<Ident>>,
        values: Vec<Val<'p>>,
    ) -> R<Vec<Option<Val<'p>>>> {
        let params = self.params_of(id);
        let mut placed: Vec<Option<Val<'p>>> = params.iter().map(|_| None).collect();
        let mut next = 0;
        for (name, value) in names.into_iter().zip(values) {
            let at = match name {
                None => {
                    next += 1;
                    next - 1
                }
                Some(name) => {
                    let body = self.body_of(self.typed.instance(id).body);
                    let found = params.iter().position(|param| {
                        let mut pattern = &param.pattern;
                        while let PatternKind::Typed(inner, _) = &pattern.kind {
                            pattern = inner;
                        }
                        matches!(&pattern.kind, PatternKind::Bind(local, _)
                            if body[*local].name.name == name.name)
                    });
                    match found {
                        Some(at) => at,
                        None => return unsupported(self.here, "this named argument"),
                    }
                }
            };
            match placed.get_mut(at) {
                Some(slot) => *slot = Some(value),
                None => return unsupported(self.here, "too many arguments"),
            }
        }
        Ok(placed)
    }

    /// The parameters of an instance.
    pub(super) fn params_of(&self, id: InstanceId) -> &'p [Param] {
        let instance = self.typed.instance(id);
        let body = self.body_of(instance.body);
        match instance.lambda {
            None => &body.params,
            Some(closure) => match self.typed.closures.get(closure.index()) {
                Some((_, lambda)) => match body.kind(*lambda) {
                    ExprKind::Lambda { params, .. } => params,
                    _ => &[],
                },
                None => &[],
            },
        }
    }

    /// The expression that an instance evaluates.
    pub(super) fn value_of(&self, id: InstanceId) -> Option<ExprId> {
        let instance = self.typed.instance(id);
        let body = self.body_of(instance.body);
        match instance.lambda {
            None => body.value,
            Some(closure) => {
                let (_, lambda) = self.typed.closures.get(closure.index())?;
                match body.kind(*lambda) {
                    ExprKind::Lambda { body, .. } => Some(*body),
                    _ => None,
                }
            }
        }
    }

    /// The activation that a callee captures from.
    pub(super) fn parent_of(&mut self, id: InstanceId, callee: ExprId) -> R<Option<Rc<Frame<'p>>>> {
        let instance = self.typed.instance(id);
        if instance.lambda.is_some() {
            return match self.eval(callee)? {
                Val::Fn(function) => Ok(Some(Rc::new(function.frame.clone()))),
                _ => unsupported(self.here, "a call of this closure"),
            };
        }
        if let Some(parent) = instance.parent
            && !matches!(self.body().kind(callee), ExprKind::Name(Res::Def(_)))
            && let Val::Fn(function) = self.eval(callee)?
            && let Some(frame) = function.frame.find(parent)
        {
            return Ok(Some(Rc::new(frame.clone())));
        }
        Ok(instance.parent.and_then(|parent| self.frame_of(parent)).map(Rc::new))
    }

    /// Keeps what the statements of a module have bound so far, for its functions.
    fn remember_module(&mut self) -> Option<InstanceId> {
        let mut frame = &self.frame;
        while let Some(parent) = &frame.parent {
            frame = parent;
        }
        let id = frame.instance;
        if !self.is_module(id) || self.module_frames.contains_key(&id) {
            return None;
        }
        self.module_frames.insert(id, frame.clone());
        Some(id)
    }

    /// The activation of an instance around, or of a module.
    pub(super) fn frame_of(&self, id: InstanceId) -> Option<Frame<'p>> {
        let around = self.frame.find(id).or_else(|| self.module_frames.get(&id));
        around.cloned()
    }

    pub(super) fn call_instance(
        &mut self,
        id: InstanceId,
        parent: Option<Rc<Frame<'p>>>,
        args: Vec<Option<Val<'p>>>,
        ret: &Ty,
    ) -> R<Val<'p>> {
        let remembered = self.remember_module();
        let value = self.call_activation(id, parent, args, ret);
        // Keeping it would mean copying all bindings at the next one.
        remembered.into_iter().for_each(|module| drop(self.module_frames.remove(&module)));
        value
    }

    fn call_activation(
        &mut self,
        id: InstanceId,
        parent: Option<Rc<Frame<'p>>>,
        args: Vec<Option<Val<'p>>>,
        ret: &Ty,
    ) -> R<Val<'p>> {
        let fits = self.inline_depth < MAX_INLINE_DEPTH && self.n_inlined < MAX_INLINED;
        if !self.is_host(id) && fits {
            self.n_inlined += 1;
            self.inline_depth += 1;
            let value = self.call_in_place(id, parent, args);
            self.inline_depth -= 1;
            return value;
        }
        if !fits && !self.requesting.is_empty() {
            // A derivative would not see through a call of the host.
            return unsupported(self.here, "this many calls in a program with derivatives");
        }
        let frame = self.activation(id, parent, args)?;
        if self.in_region() {
            return self.call_from_region(id, &frame, ret);
        }
        self.call_host(id, &frame, ret)
    }

    fn call_in_place(
        &mut self,
        id: InstanceId,
        parent: Option<Rc<Frame<'p>>>,
        args: Vec<Option<Val<'p>>>,
    ) -> R<Val<'p>> {
        let frame = self.activation(id, parent, args)?;
        if self.rule_of(id).is_some() {
            self.check_before_rule(id, &frame)?;
            return self.call_with_rule(id, &frame);
        }
        let Some(value) = self.value_of(id) else {
            return unsupported(self.here, "a function without a body");
        };
        let exact = std::mem::take(&mut self.exact);
        self.hint = None;
        let coordinates = std::mem::take(&mut self.coordinates);
        let result = self.within(frame, |cx| {
            cx.entry_checks(id)?;
            cx.eval(value)
        });
        self.coordinates = coordinates;
        self.exact = exact;
        result
    }

    /// A new activation with its parameters bound.
    fn activation(
        &mut self,
        id: InstanceId,
        parent: Option<Rc<Frame<'p>>>,
        args: Vec<Option<Val<'p>>>,
    ) -> R<Frame<'p>> {
        let instance = self.typed.instance(id);
        let params = self.params_of(id);
        let mut values = Vec::with_capacity(params.len());
        let mut frame = Frame::new(id, instance.body, parent);
        for (at, param) in params.iter().enumerate() {
            let ty = instance.params.get(at).cloned().unwrap_or(Ty::Error);
            let name = self.param_name(id, param);
            let value = match args.get(at).cloned().flatten() {
                Some(value) => value,
                None => {
                    let Some(default) = param.default else {
                        return unsupported(self.here, "a missing argument");
                    };
                    let around = frame.clone();
                    self.within(around, |cx| cx.eval(default))?
                }
            };
            let value = self.named(value, &name)?;
            values.push(value.clone());
            let outer = std::mem::replace(&mut self.frame, frame);
            let bound = self.bind_pattern(&param.pattern, &value, &ty);
            frame = std::mem::replace(&mut self.frame, outer);
            bound?;
            frame.params = Rc::new(values.clone());
        }
        Ok(frame)
    }

    fn param_name(&self, id: InstanceId, param: &Param) -> String {
        let body = self.body_of(self.typed.instance(id).body);
        let mut pattern = &param.pattern;
        while let PatternKind::Typed(inner, _) = &pattern.kind {
            pattern = inner;
        }
        match &pattern.kind {
            PatternKind::Bind(local, _) => self.spelling(body[*local].name.name).to_owned(),
            _ => "arg".to_owned(),
        }
    }

    /// Calls a host function from host code.
    fn call_host(&mut self, id: InstanceId, frame: &Frame<'p>, ret: &Ty) -> R<Val<'p>> {
        let (name, captures) = self.host_function(id)?;
        let mut operands = Vec::with_capacity(captures.len() + frame.params.len());
        self.within(frame.clone(), |cx| {
            for capture in &captures {
                let (value, ty) = cx.captured(capture)?;
                operands.push(cx.hosted(&value, &ty)?);
            }
            Ok(())
        })?;
        let types = self.typed.instance(id).params.clone();
        for (value, ty) in frame.params.iter().zip(&types) {
            let value = self.settled(value)?;
            operands.push(self.hosted(&value, ty)?);
        }
        self.flush();
        let own = self.typed.instance(id).ret.clone();
        if own == Ty::unit() {
            let at = loc(self.here);
            self.host_inst(Vec::new(), HostKind::Call(name, operands), at);
            return Ok(Val::unit());
        }
        let host = self.host_type(&own)?;
        let value = self.host_value_of(host, HostKind::Call(name, operands));
        let _ = ret;
        self.lifted(value, &own, "result")
    }

    /// Calls a host function from a region: scalars in, one scalar out.
    fn call_from_region(&mut self, id: InstanceId, frame: &Frame<'p>, ret: &Ty) -> R<Val<'p>> {
        let Some(elem) = elem_of(ret) else {
            return unsupported(self.here, "a call of this function inside a tensor body");
        };
        let (function, captures) = self.host_function(id)?;
        let mut args = Vec::with_capacity(captures.len() + frame.params.len());
        let mut scalars: Vec<Scalar> = Vec::new();
        self.within(frame.clone(), |cx| {
            for capture in &captures {
                let (value, _) = cx.captured(capture)?;
                scalars.push(cx.expect_scalar(value, cx.here)?);
            }
            Ok(())
        })?;
        for value in frame.params.iter() {
            scalars.push(self.expect_scalar(value.clone(), self.here)?);
        }
        for scalar in &scalars {
            args.push(self.arg(scalar)?);
        }
        let value = self.new_value(elem);
        let at = loc(self.here);
        self.push_inst(vec![Def::Scalar(value)], InstKind::HostCall { function, args }, at);
        Ok(Val::Scalar(Scalar::value(value)))
    }

    /// A function as a value, with what is around it.
    pub(super) fn function_value(&mut self, expr: ExprId) -> R<Val<'p>> {
        match self.fn_ty(expr) {
            Some(ty) => Ok(Val::Fn(Rc::new(FnVal { ty, frame: self.frame.clone() }))),
            None => unsupported(self.here, "this function as a value"),
        }
    }

    /// A host value as an operand, with its type.
    pub(super) fn host_arg(&mut self, expr: ExprId) -> R<HostArg> {
        let value = self.eval(expr)?;
        let ty = self.ty(expr);
        self.hosted(&value, &ty)
    }

    /// The type that a callee has as a function.
    pub(super) fn callee(&self, expr: ExprId) -> Option<Callee> {
        self.typed.instance(self.frame.instance).calls.get(&expr).cloned()
    }

    pub(super) fn fn_ty(&self, expr: ExprId) -> Option<FnTy> {
        match self.ty(expr) {
            Ty::Fn(function) => Some(function),
            _ => None,
        }
    }
}
