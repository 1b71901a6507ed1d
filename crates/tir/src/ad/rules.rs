//! Functions with a derivative rule of the user's.
//!
//! A forward rule takes the parameters and their tangents and gives the tangents of the results; a
//! reverse rule takes the parameters and the cotangents of the results and gives those of the
//! parameters. Either serves both modes: the rule is linear, so its coefficients are what it gives
//! for unit vectors. Its code is put in place, so that it can be differentiated again; `result`
//! stays a call of the function.

use super::context::{Ad, is_number, one, zero};
use super::fault::{Fault, R};
use super::linear::check_linear;
use crate::constant::Const;
use crate::fresh::Fresh;
use crate::module::Function;
use crate::region::{Arg, Inst};
use crate::types::{Elem, Ident};

impl Ad<'_> {
    /// Every rule is linear in its differentials.
    pub(super) fn check_rules(&self) -> R<()> {
        let functions = &self.module.functions;
        for function in functions {
            let Some(rule) = &function.rule else { continue };
            let Some(body) = functions.iter().find(|f| f.name == rule.function) else { continue };
            let n_fixed = function.body.params.len();
            if let Err(loc) = check_linear(&body.body, n_fixed) {
                let loc = if loc.0.is_some() { loc } else { body.loc };
                return Err(Fault::not_linear(function.name.as_str(), loc));
            }
        }
        Ok(())
    }

    /// The tangents of a call's results.
    pub(super) fn call_tangents(
        &mut self,
        out: &mut Vec<Inst>,
        inst: &Inst,
        function: &Ident,
        args: &[Arg],
        tangents: &[Option<Arg>],
    ) -> R<Vec<Option<Arg>>> {
        let (rule, reverse) = self.rule_for(function, args, inst)?;
        if !reverse {
            let given = args.iter().zip(tangents);
            let given = given.map(|(arg, t)| t.clone().unwrap_or_else(|| zero_like(arg)));
            let all: Vec<Arg> = args.iter().cloned().chain(given).collect();
            return Ok(self.inlined(out, &rule, &all)?.into_iter().map(Some).collect());
        }
        let elems = result_elems(inst);
        let mut found = Vec::with_capacity(elems.len());
        for at in 0..elems.len() {
            let cotangents = self.inlined(out, &rule, &units(args, &elems, at))?;
            let mut sum = None;
            for (cotangent, tangent) in cotangents.into_iter().zip(tangents) {
                let Some(tangent) = tangent else { continue };
                if !is_number(&cotangent, 0.0) {
                    let part = self.mul(out, cotangent, tangent.clone());
                    self.add_to(out, &mut sum, part);
                }
            }
            found.push(sum);
        }
        Ok(found)
    }

    /// The adjoints of a call's arguments.
    pub(super) fn call_adjoints(
        &mut self,
        out: &mut Vec<Inst>,
        inst: &Inst,
        function: &Ident,
        args: &[Arg],
        adjoints: &[Option<Arg>],
        wanted: &[bool],
    ) -> R<Vec<Option<Arg>>> {
        let (rule, reverse) = self.rule_for(function, args, inst)?;
        let elems = result_elems(inst);
        if reverse {
            let given = adjoints.iter().zip(&elems);
            let given = given.map(|(adj, elem)| adj.clone().unwrap_or_else(|| zero(*elem)));
            let all: Vec<Arg> = args.iter().cloned().chain(given).collect();
            let found = self.inlined(out, &rule, &all)?.into_iter().zip(wanted);
            return Ok(found.map(|(adj, wanted)| wanted.then_some(adj)).collect());
        }
        let kinds: Vec<Elem> = args.iter().map(|arg| arg.elem().unwrap_or(Elem::F32)).collect();
        let mut found = vec![None; args.len()];
        for at in (0..args.len()).filter(|at| wanted.get(*at) == Some(&true)) {
            let coefficients = self.inlined(out, &rule, &units(args, &kinds, at))?;
            for (coefficient, adjoint) in coefficients.into_iter().zip(adjoints) {
                let Some(adjoint) = adjoint else { continue };
                if !is_number(&coefficient, 0.0) {
                    let part = self.mul(out, adjoint.clone(), coefficient);
                    let part = self.cast(out, part, kinds[at]);
                    self.add_to(out, &mut found[at], part);
                }
            }
        }
        Ok(found)
    }

    /// The rule of a function and whether it is the reverse one.
    fn rule_for(&self, function: &Ident, args: &[Arg], inst: &Inst) -> R<(Function, bool)> {
        let named = |name: &Ident| self.module.functions.iter().find(|f| f.name == *name);
        let what = format!("`{}`", function.as_str());
        let Some(rule) = named(function).and_then(|function| function.rule.as_ref()) else {
            return Err(Fault::no_rule(&what, inst.loc));
        };
        let tensors = args.iter().any(|arg| matches!(arg, Arg::Tensor(_)))
            || inst.results.iter().any(|def| def.as_tensor().is_some());
        match named(&rule.function) {
            Some(found) if !tensors => Ok((found.clone(), rule.reverse)),
            _ => Err(self.no_tensors(function, inst.loc)),
        }
    }

    /// A call with tensors whose arguments depend on a point.
    pub(super) fn no_tensors(&self, function: &Ident, loc: crate::types::Loc) -> Fault {
        let name = function.as_str().split('.').next().unwrap_or_default();
        let what = format!("a call of `{name}` with tensors that depend on an index around it");
        Fault::unsupported(&what, loc)
    }

    /// The code of a function in place of a call.
    fn inlined(&mut self, out: &mut Vec<Inst>, function: &Function, args: &[Arg]) -> R<Vec<Arg>> {
        let region = Fresh::new(self.module, &mut self.names).inline(&function.body, args)?;
        out.extend(region.insts);
        Ok(region.results)
    }
}

/// The arguments, followed by a unit vector of the given types.
fn units(args: &[Arg], elems: &[Elem], at: usize) -> Vec<Arg> {
    let unit = elems.iter().enumerate();
    let unit = unit.map(|(own, elem)| if own == at { one(*elem) } else { zero(*elem) });
    args.iter().cloned().chain(unit).collect()
}

fn result_elems(inst: &Inst) -> Vec<Elem> {
    inst.results.iter().filter_map(|def| def.as_scalar()).map(|value| value.elem).collect()
}

fn zero_like(arg: &Arg) -> Arg {
    Const::zero(arg.elem().unwrap_or(Elem::F32)).into()
}
