//! Host functions: instances that cannot be lowered in place, each once.

use std::collections::HashMap;
use std::rc::Rc;

use einlang_tir::host::{Block, HostArg, HostDef, HostFn, HostKind, HostType};
use einlang_tir::types::Ident;

use super::captures::{Capture, Captured};
use super::module::loc;
use super::value::{FnVal, Frame, R, Val};
use super::{Lower, unsupported};
use crate::hir::{DefKind, Owner};
use crate::types::{FnTy, InstanceId, Ty};

/// A host function that is still to be lowered.
#[derive(Clone, Debug)]
pub(super) enum Queued {
    /// An instance, whose result is to be of another type where one is given.
    Instance(InstanceId, Option<Ty>),
    /// The rule of an instance, by this name.
    Rule(InstanceId, Ident),
}

/// The host functions so far.
#[derive(Debug, Default)]
pub(super) struct Functions {
    known: HashMap<(InstanceId, Option<Ty>), (Ident, Vec<Capture>)>,
    pub(super) queue: Vec<Queued>,
    /// Builtins and constructors that are values, with their signatures.
    builtins: HashMap<(FnTy, Vec<Ty>), Ident>,
    builtin_queue: Vec<(Ident, FnTy, Vec<Ty>, Ty)>,
}

impl<'p> Lower<'p> {
    /// The name of the host function of an instance, and what it captures.
    pub(super) fn host_function(&mut self, id: InstanceId) -> R<(Ident, Vec<Capture>)> {
        self.host_function_as(id, None)
    }

    /// The same for a function whose result is a value of a declared type: a function in it is then
    /// one of unknown identity.
    fn host_function_as(&mut self, id: InstanceId, ret: Option<Ty>) -> R<(Ident, Vec<Capture>)> {
        let key = (id, ret);
        if let Some(known) = self.functions.known.get(&key) {
            return Ok(known.clone());
        }
        let instance = self.typed.instance(id);
        let base = match (instance.lambda, self.body_of(instance.body).owner) {
            (Some(_), _) => "lambda".to_owned(),
            (None, Owner::Def(def)) => self.spelling(self.program.def(def).name.name).to_owned(),
            (None, Owner::Module(_)) => "module".to_owned(),
        };
        let name = Ident::new(&self.unique(&base));
        let captures = self.captures_with_rule(id);
        self.functions.known.insert(key.clone(), (name.clone(), captures.clone()));
        self.functions.queue.push(Queued::Instance(id, key.1));
        Ok((name, captures))
    }

    /// Lowers the host functions that were asked for, and those they ask for.
    pub(super) fn lower_functions(&mut self) -> R<()> {
        loop {
            let function = match (self.functions.queue.pop(), &mut self.functions.builtin_queue) {
                (Some(Queued::Instance(id, ret)), _) => self.lower_function(id, ret)?,
                (Some(Queued::Rule(of, name)), _) => self.lower_rule(of, name)?,
                (None, queue) => match queue.pop() {
                    Some(builtin) => self.lower_builtin(builtin)?,
                    None => return Ok(()),
                },
            };
            self.out.functions.push(function);
        }
    }

    /// The name of the host function that is a builtin or a constructor.
    fn builtin_function(&mut self, function: &FnTy, params: &[Ty], ret: &Ty) -> Ident {
        let key = (function.clone(), params.to_vec());
        if let Some(known) = self.functions.builtins.get(&key) {
            return known.clone();
        }
        let base = match function {
            FnTy::Builtin(function) => function.as_str().to_owned(),
            FnTy::Constructor(constructor) => constructor.as_str().to_owned(),
            FnTy::Python(path) => self.spelling(*path).replace('.', "_"),
            FnTy::Variant(def, at) => self.variant_name(*def, *at),
            _ => "function".to_owned(),
        };
        let name = Ident::new(&self.unique(&base));
        self.functions.builtins.insert(key, name.clone());
        let entry = (name.clone(), function.clone(), params.to_vec(), ret.clone());
        self.functions.builtin_queue.push(entry);
        name
    }

    fn lower_builtin(&mut self, builtin: (Ident, FnTy, Vec<Ty>, Ty)) -> R<HostFn> {
        let (name, function, types, ret) = builtin;
        self.host_scalars = false;
        self.blocks.push(Block::default());
        let mut params = Vec::with_capacity(types.len());
        let mut args = Vec::with_capacity(types.len());
        for ty in &types {
            let host = self.param(ty, &mut params)?;
            args.push(self.lifted(host, ty, "param")?);
        }
        let value = Val::Fn(Rc::new(FnVal { ty: function.clone(), frame: self.frame.clone() }));
        let target = Some(crate::types::Callee::Function(function));
        let value = self.apply_function(&value, target, args, &types, &ret)?;
        let result = self.hosted(&value, &ret)?;
        self.flush();
        let block = self.blocks.pop().unwrap_or_default();
        let body = Block { params, insts: block.insts, results: vec![result] };
        let results = vec![self.host_type(&ret)?];
        let body = self.finish_body(body);
        Ok(HostFn { name, results, body, rule: None, loc: loc(self.here) })
    }

    fn lower_function(&mut self, id: InstanceId, ret: Option<Ty>) -> R<HostFn> {
        let (name, captures) = self.host_function_as(id, ret.clone())?;
        let instance = self.typed.instance(id);
        self.here = self.body_span(id);
        self.host_scalars = self.has_scalars_only(id);
        self.blocks.push(Block::default());
        let mut params = Vec::new();
        let known = self.take_captures(&captures, &mut params)?;
        let parent = instance.parent.map(|parent| Rc::new(self.frames_from(parent, &known)));
        let frame = Frame::new(id, instance.body, parent);
        let frame = self.take_params(id, frame, &mut params)?;
        let Some(value) = self.value_of(id) else {
            return unsupported(self.here, "a function without a body");
        };
        let ret = ret.unwrap_or_else(|| instance.ret.clone());
        let result = self.within(frame, |cx| {
            cx.entry_checks(id)?;
            let value = cx.eval(value)?;
            match ret == Ty::unit() {
                true => Ok(Vec::new()),
                false => Ok(vec![cx.hosted(&value, &ret)?]),
            }
        });
        self.flush();
        let block = self.blocks.pop().unwrap_or_default();
        let body = Block { params, insts: block.insts, results: result? };
        let results = match ret == Ty::unit() {
            true => Vec::new(),
            false => vec![self.host_type(&ret)?],
        };
        let body = self.finish_body(body);
        let rule = self.host_rule(id, &name, captures.len());
        Ok(HostFn { name, results, body, rule, loc: loc(self.here) })
    }

    /// The activation of a function with its written parameters.
    pub(super) fn take_params(
        &mut self,
        id: InstanceId,
        mut frame: Frame<'p>,
        params: &mut Vec<HostDef>,
    ) -> R<Frame<'p>> {
        let instance = self.typed.instance(id);
        let mut values = Vec::new();
        for (at, param) in self.params_of(id).iter().enumerate() {
            let ty = instance.params.get(at).cloned().unwrap_or(Ty::Error);
            let host = self.param(&ty, params)?;
            let value = self.lifted(host, &ty, "param")?;
            values.push(value.clone());
            let outer = std::mem::replace(&mut self.frame, frame);
            let bound = self.bind_pattern(&param.pattern, &value, &ty);
            frame = std::mem::replace(&mut self.frame, outer);
            bound?;
        }
        frame.params = Rc::new(values);
        Ok(frame)
    }

    /// Parameters for what a function captures, by the instances that have it.
    pub(super) fn take_captures(
        &mut self,
        captures: &[Capture],
        params: &mut Vec<HostDef>,
    ) -> R<Captured<'p>> {
        self.inputs.clear();
        let mut known = Captured::default();
        for capture in captures {
            let ty = self.capture_type(capture);
            let host = self.param(&ty, params)?;
            let value = self.lifted(host, &ty, "captured")?;
            self.give_name(&value, &self.capture_name(capture));
            let value = match capture {
                Capture::Input(_) if !self.requesting.is_empty() => {
                    self.bound(value, &self.capture_name(capture))?
                }
                Capture::Local(owner, local) => {
                    let body = self.typed.instance(*owner).body;
                    self.owned(body, *local, &value)?
                }
                Capture::Input(_) | Capture::Covered(..) => value,
            };
            self.keep_captured(capture, value, &mut known);
        }
        self.module_frames.clear();
        for owner in self.typed.modules.iter().flatten() {
            let mut frame = Frame::new(*owner, self.typed.instance(*owner).body, None);
            known.bind(*owner, &mut frame);
            self.module_frames.insert(*owner, frame);
        }
        Ok(known)
    }

    fn body_span(&self, id: InstanceId) -> einlang_source::Span {
        let body = self.body_of(self.typed.instance(id).body);
        match body.owner {
            Owner::Def(def) => self.program.def(def).span,
            Owner::Module(_) => self.here,
        }
    }

    /// Activations of the instances around, which hold what is captured.
    pub(super) fn frames_from(&self, id: InstanceId, known: &Captured<'p>) -> Frame<'p> {
        let instance = self.typed.instance(id);
        let parent = instance.parent.map(|parent| Rc::new(self.frames_from(parent, known)));
        let mut frame = Frame::new(id, instance.body, parent);
        known.bind(id, &mut frame);
        frame
    }

    pub(super) fn param(&mut self, ty: &Ty, params: &mut Vec<HostDef>) -> R<HostArg> {
        let host = self.host_type(ty)?;
        let number = self.new_number();
        params.push(HostDef { number, ty: host });
        Ok(HostArg::Value(number))
    }

    /// A function as a host value: by its identity what it captured, otherwise a closure.
    pub(super) fn hosted_closure(&mut self, function: &FnVal<'p>, ty: &Ty) -> R<HostArg> {
        let Ty::Fn(FnTy::Declared(params, ret)) = ty else {
            let captures = match &function.ty {
                FnTy::Closure(id) => self.closure_captures(*id),
                _ => Vec::new(),
            };
            let mut args = Vec::with_capacity(captures.len());
            let types = self.captured_types(&captures)?;
            self.within(function.frame.clone(), |cx| {
                for capture in &captures {
                    let (value, ty) = cx.captured(capture)?;
                    args.push(cx.hosted(&value, &ty)?);
                }
                Ok(())
            })?;
            return Ok(self.host_value_of(HostType::Tuple(types), HostKind::Tuple(args)));
        };
        if let FnTy::Builtin(_) | FnTy::Python(_) | FnTy::Constructor(_) | FnTy::Variant(..) =
            &function.ty
        {
            let name = self.builtin_function(&function.ty, params, ret);
            let host = HostType::Fn(self.host_types(params)?, vec![self.host_type(ret)?]);
            return Ok(self.host_value_of(host, HostKind::Closure(name, Vec::new())));
        }
        let Some(id) = self.instance_for(&function.ty, params) else {
            return unsupported(self.here, "this function as a value of unknown identity");
        };
        let given = self.typed.instance(id).ret.clone();
        let differs = self.host_type(&given)? != self.host_type(ret)?;
        let ret = (**ret).clone();
        let (name, captures) = self.host_function_as(id, differs.then(|| ret.clone()))?;
        let mut args = Vec::with_capacity(captures.len());
        self.within(function.frame.clone(), |cx| {
            for capture in &captures {
                let (value, ty) = cx.captured(capture)?;
                args.push(cx.hosted(&value, &ty)?);
            }
            Ok(())
        })?;
        let host = HostType::Fn(self.host_types(params)?, vec![self.host_type(&ret)?]);
        Ok(self.host_value_of(host, HostKind::Closure(name, args)))
    }

    /// A function of known identity from what it captured.
    pub(super) fn lifted_closure(&mut self, host: HostArg, function: &FnTy) -> R<Val<'p>> {
        let frame = match function {
            FnTy::Closure(id) => {
                let captures = self.closure_captures(*id);
                let types = self.captured_types(&captures)?;
                let mut known = Captured::default();
                for (at, (capture, host_type)) in captures.iter().zip(types).enumerate() {
                    let field = self.host_value_of(host_type, HostKind::Field(host.clone(), at));
                    let ty = self.capture_type(capture);
                    let value = self.lifted(field, &ty, "captured")?;
                    self.keep_captured(capture, value, &mut known);
                }
                let owner = self.typed.closures.get(id.index()).map(|closure| closure.0);
                match owner {
                    Some(owner) => self.frames_from(owner, &known),
                    None => self.frame.clone(),
                }
            }
            _ => self.frame.clone(),
        };
        Ok(Val::Fn(Rc::new(FnVal { ty: function.clone(), frame })))
    }

    /// The name of a variant.
    pub(super) fn variant_name(&self, def: crate::hir::DefId, at: u32) -> String {
        match &self.program.def(def).kind {
            DefKind::Enum(item) => item
                .variants
                .get(at as usize)
                .map_or(String::new(), |variant| self.spelling(variant.name.name).to_owned()),
            _ => String::new(),
        }
    }
}
