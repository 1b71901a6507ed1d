//! Rules of functions that run on the host: host functions beside those they belong to.
//!
//! A function and its rule take the same captured values first, those that either of them names.
//! The rule then takes the parameters, their tangents or the cotangent of the result, and the
//! result, as `tir` wants it ([`HostRule`]).

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use einlang_tir::host::{Block, HostFn, HostRule};
use einlang_tir::types::Ident;

use super::captures::Capture;
use super::functions::Queued;
use super::module::loc;
use super::value::{Frame, R, Val};
use super::{Lower, unsupported};
use crate::hir::{LocalId, LocalKind};
use crate::types::{InstanceId, Ty};

impl<'p> Lower<'p> {
    /// What an instance and its rule capture.
    pub(super) fn captures_with_rule(&self, id: InstanceId) -> Vec<Capture> {
        let mut captures = self.captures_of(id);
        let rule = self.rule_of(id).and_then(|(_, rule)| self.rule_instance(rule, id));
        if let Some(rule) = rule {
            captures.extend(self.captures_of(rule));
            captures = captures.into_iter().collect::<BTreeSet<_>>().into_iter().collect();
        }
        captures
    }

    /// The rule of a host function, which is lowered after it.
    pub(super) fn host_rule(
        &mut self,
        id: InstanceId,
        name: &Ident,
        n_captured: usize,
    ) -> Option<HostRule> {
        let (_, rule) = self.rule_of(id)?;
        if self.typed.instance(id).ret == Ty::unit() {
            return None;
        }
        let ending = if rule.reverse { "adj" } else { "tan" };
        let function = Ident::new(&self.unique(&format!("{}_{ending}", name.as_str())));
        self.functions.queue.push(Queued::Rule(id, function.clone()));
        let params = self.typed.instance(id).params.iter().enumerate();
        let functions = params.filter(|(_, ty)| matches!(ty, Ty::Fn(_)));
        let functions = functions.map(|(at, _)| n_captured + at);
        let silent = (0..n_captured).chain(functions).collect();
        Some(HostRule { function, reverse: rule.reverse, silent })
    }

    /// The host function that is the rule of an instance.
    pub(super) fn lower_rule(&mut self, of: InstanceId, name: Ident) -> R<HostFn> {
        let found = self.rule_of(of).and_then(|(def, rule)| {
            self.rule_instance(rule, of).map(|id| (self.program.def(def).name.span, rule, id))
        });
        let Some((span, rule, id)) = found else { return unsupported(self.here, "this rule") };
        self.here = span;
        self.host_scalars = false;
        let (_, captures) = self.host_function(of)?;
        let (instance, target) = (self.typed.instance(id), self.typed.instance(of));
        self.blocks.push(Block::default());
        let mut params = Vec::new();
        let frames = self.take_captures(&captures, &mut params)?;
        let parent = instance.parent.map(|parent| Rc::new(self.frames_from(parent, &frames)));
        let frame = Frame::new(id, instance.body, parent);
        let mut frame = self.take_params(id, frame, &mut params)?;
        let mut tangents: HashMap<LocalId, Val<'p>> = HashMap::new();
        let written = self.params_of(id);
        if let (true, Some(param), Some(value)) =
            (rule.reverse, written.last(), frame.params.last())
        {
            super::order::pattern_locals(&param.pattern, &mut |local| {
                tangents.insert(local, value.clone());
            });
        }
        for (param, ty) in written.iter().zip(&instance.params).filter(|_| !rule.reverse) {
            if matches!(ty, Ty::Fn(_)) {
                continue;
            }
            let host = self.param(ty, &mut params)?;
            let tangent = self.lifted(host, ty, "tangent")?;
            super::order::pattern_locals(&param.pattern, &mut |local| {
                tangents.insert(local, tangent.clone());
            });
        }
        let ret = target.ret.clone();
        let host = self.param(&ret, &mut params)?;
        let result = self.lifted(host, &ret, "result")?;
        self.bind_host_result(&mut frame, result);
        frame.tangents = Some(Rc::new(tangents));
        let Some(value) = self.value_of(id) else {
            return unsupported(self.here, "a rule without a body");
        };
        let gives = instance.ret.clone();
        let result = self.within(frame, |cx| {
            let value = cx.eval(value)?;
            let value = cx.settled(&value)?;
            cx.hosted(&value, &gives)
        });
        self.flush();
        let block = self.blocks.pop().unwrap_or_default();
        let body = Block { params, insts: block.insts, results: vec![result?] };
        let results = vec![self.host_type(&gives)?];
        let body = self.finish_body(body);
        Ok(HostFn { name, results, body, rule: None, loc: loc(span) })
    }

    /// Binds `result` in a rule, if the rule names it.
    fn bind_host_result(&self, frame: &mut Frame<'p>, result: Val<'p>) {
        let body = self.body_of(frame.body);
        let found = body.locals.iter().find(|(_, local)| {
            local.kind == LocalKind::Let && self.spelling(local.name.name) == "result"
        });
        if let Some((local, _)) = found {
            frame.bind(local, result);
        }
    }
}
