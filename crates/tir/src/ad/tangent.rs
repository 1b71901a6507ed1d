//! Tangents of straight-line code.

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::context::{Ad, zero};
use super::fault::{Fault, R};
use super::flow::flow_of_inst;
use super::partial::Applied;
use super::seed::{Seed, SeedPoint, Stored};
use super::uses::Uses;
use crate::op::{Derivative, Op};
use crate::region::{Arg, Def, Inst, InstKind, Read, Region, Subscript};
use crate::types::{Elem, Ident};

/// Where tangents of tensors are found.
pub(super) struct Tangents<'a> {
    pub(super) stored: &'a HashMap<Ident, Stored>,
    pub(super) seed: &'a Seed,
    /// The coordinates of the seed, as subscripts.
    pub(super) at: Vec<Subscript>,
}

impl<'a> Tangents<'a> {
    fn point(&'a self) -> SeedPoint<'a> {
        SeedPoint { seed: self.seed, at: &self.at, inside: false }
    }
}

/// Code that computes tangents beside values.
pub(super) struct Beside<'a, 'm> {
    pub(super) ad: &'a mut Ad<'m>,
    pub(super) of: &'a Tangents<'a>,
    /// The tangents that are not zero.
    tangents: HashMap<u32, Arg>,
    /// Integers that were computed from floats that have a tangent.
    rounded: HashSet<u32>,
    /// The values that flow into the result; others need no tangent.
    flowing: HashSet<u32>,
    /// The result as it is stored.
    own: Option<(u32, Arg)>,
}

impl<'a, 'm> Beside<'a, 'm> {
    pub(super) fn new(
        ad: &'a mut Ad<'m>,
        of: &'a Tangents<'a>,
        own: Option<(u32, Arg)>,
    ) -> Beside<'a, 'm> {
        let (tangents, rounded, flowing) =
            (HashMap::default(), HashSet::default(), HashSet::default());
        Beside { ad, of, tangents, rounded, flowing, own }
    }

    /// Writes code with its tangents; gives the tangent of the result.
    pub(super) fn code(&mut self, code: &Region, out: &mut Vec<Inst>) -> R<Option<Arg>> {
        code.results.iter().for_each(|arg| self.flows(arg));
        self.mark(&code.insts);
        self.insts(&code.insts, out)?;
        Ok(code.results.first().and_then(|arg| self.tangent(arg)))
    }

    fn flows(&mut self, arg: &Arg) {
        if let Arg::Value(value) = arg
            && value.elem != Elem::Bool
        {
            self.flowing.insert(value.number);
        }
    }

    /// Finds what flows into values that are known to.
    fn mark(&mut self, insts: &[Inst]) {
        for inst in insts.iter().rev() {
            let wanted = |def: &Def| {
                def.as_scalar().is_some_and(|value| self.flowing.contains(&value.number))
            };
            let wanted: Vec<bool> = inst.results.iter().map(wanted).collect();
            if !wanted.contains(&true) {
                continue;
            }
            match &inst.kind {
                InstKind::Op(op, _) if op.info().derivative == Derivative::Zero => {}
                InstKind::Op(_, args) | InstKind::Call { args, .. } => {
                    args.iter().for_each(|arg| self.flows(arg));
                }
                InstKind::HostCall { args, .. } => args.iter().for_each(|arg| self.flows(arg)),
                InstKind::Reduce(_) => {
                    let mut uses = Uses::default();
                    uses.inst(inst);
                    self.flowing.extend(uses.values);
                }
                _ => {
                    for arm in inst.regions() {
                        let results =
                            arm.results.iter().zip(&wanted).filter(|(_, wanted)| **wanted);
                        results.for_each(|(arg, _)| self.flows(arg));
                        self.mark(&arm.insts);
                    }
                }
            }
        }
    }

    /// The tangent of an operand; `None` is zero.
    fn tangent(&self, arg: &Arg) -> Option<Arg> {
        match arg {
            Arg::Value(value) => self.tangents.get(&value.number).cloned(),
            _ => None,
        }
    }

    fn is_rounded(&self, arg: &Arg) -> bool {
        matches!(arg, Arg::Value(value) if self.rounded.contains(&value.number))
    }

    /// Writes the instructions with their tangents.
    fn insts(&mut self, insts: &[Inst], out: &mut Vec<Inst>) -> R<()> {
        insts.iter().try_for_each(|inst| {
            let loc = inst.loc;
            self.inst(inst, out).map_err(|fault| fault.or_at(loc))
        })
    }

    fn set(&mut self, def: &Def, tangent: Option<Arg>) {
        if let (Def::Scalar(value), Some(tangent)) = (def, tangent) {
            self.tangents.insert(value.number, tangent);
        }
    }

    fn inst(&mut self, inst: &Inst, out: &mut Vec<Inst>) -> R<()> {
        let flows = |def: &Def| match def {
            Def::Scalar(value) => self.flowing.contains(&value.number),
            Def::Tensor(_) => true,
        };
        if !inst.results.iter().any(flows) {
            out.push(inst.clone());
            return Ok(());
        }
        match &inst.kind {
            InstKind::Op(op, args) => {
                out.push(inst.clone());
                self.op(inst, *op, args, out)
            }
            InstKind::Read(read) => {
                out.push(inst.clone());
                self.read(inst, read, out)
            }
            InstKind::If { .. } | InstKind::Switch { .. } => self.arms(inst, out),
            InstKind::Call { function, args } => {
                out.push(inst.clone());
                let is_tensor = |arg: &Arg| matches!(arg, Arg::Tensor(_));
                let gives = inst.results.iter().any(|def| def.as_tensor().is_some());
                if gives || args.iter().any(is_tensor) {
                    return Err(self.ad.no_tensors(function, inst.loc));
                }
                let tangents: Vec<Option<Arg>> = args.iter().map(|a| self.tangent(a)).collect();
                if tangents.iter().all(Option::is_none) {
                    return Ok(());
                }
                let found = self.ad.call_tangents(out, inst, function, args, &tangents)?;
                for (def, tangent) in inst.results.iter().zip(found) {
                    self.set(def, tangent);
                }
                Ok(())
            }
            InstKind::HostCall { args, .. } => {
                out.push(inst.clone());
                match args.iter().any(|arg| self.tangent(arg).is_some()) {
                    true => Err(Fault::no_rule("what the host program computes", inst.loc)),
                    false => Ok(()),
                }
            }
            InstKind::Reduce(_) | InstKind::Group(_) => {
                out.push(inst.clone());
                self.opaque(inst);
                Ok(())
            }
            _ => {
                out.push(inst.clone());
                Ok(())
            }
        }
    }

    /// A reduction of integers: what it takes from floats is rounded; what it counts is not.
    fn opaque(&mut self, inst: &Inst) {
        let flow = flow_of_inst(inst);
        let active = flow.values.iter().any(|number| self.tangents.contains_key(number));
        let reads = flow.sources.iter().any(|name| self.of.stored.contains_key(name));
        if active || reads {
            self.rounded
                .extend(inst.results.iter().filter_map(|d| d.as_scalar()).map(|v| v.number));
        }
    }

    fn op(&mut self, inst: &Inst, op: Op, args: &[Arg], out: &mut Vec<Inst>) -> R<()> {
        let [Def::Scalar(result)] = inst.results[..] else { return Ok(()) };
        let active = |arg: &Arg| self.tangent(arg).is_some() || self.is_rounded(arg);
        if result.elem == Elem::Bool
            || op.info().derivative == Derivative::Zero
            || !args.iter().any(active)
        {
            return Ok(());
        }
        if !result.elem.is_float() {
            self.rounded.insert(result.number);
            return Ok(());
        }
        if args.iter().any(|arg| self.is_rounded(arg)) {
            return Err(Fault::through_integer(inst.loc));
        }
        let stored = self.own.as_ref().filter(|(number, _)| *number == result.number);
        let value = stored.map_or_else(|| result.into(), |(_, stored)| stored.clone());
        let applied = Applied { op, args, result: value, loc: inst.loc };
        let mut sum = None;
        for (which, arg) in args.iter().enumerate() {
            let Some(tangent) = self.tangent(arg) else { continue };
            if let Some(part) = self.ad.scaled(out, &applied, which, tangent, result.elem)? {
                self.ad.add_to(out, &mut sum, part);
            }
        }
        self.set(&inst.results[0], sum);
        Ok(())
    }

    fn read(&mut self, inst: &Inst, read: &Read, out: &mut Vec<Inst>) -> R<()> {
        let [Def::Scalar(result)] = inst.results[..] else { return Ok(()) };
        let elem = result.elem;
        let stored = self.of.stored.get(&read.place.tensor);
        if stored.is_some() && !elem.is_float() {
            self.rounded.insert(result.number);
            return Ok(());
        }
        let Some(default) = &read.default else {
            let Some(stored) = stored else { return Ok(()) };
            let (point, at) = (self.of.point(), &read.place.at);
            let tangent = self.ad.stored(out, stored, &point, at, elem, read.proved)?;
            self.set(&inst.results[0], Some(tangent));
            return Ok(());
        };
        let mut otherwise = default.clone();
        let insts = std::mem::take(&mut otherwise.insts);
        self.insts(&insts, &mut otherwise.insts)?;
        let from_default = otherwise.results.first().and_then(|arg| self.tangent(arg));
        if stored.is_none() && from_default.is_none() {
            return Ok(());
        }
        otherwise.results = vec![from_default.unwrap_or_else(|| zero(elem))];
        let mut then = Region::default();
        let value = match stored {
            Some(stored) => {
                let (point, at) = (self.of.point(), &read.place.at);
                self.ad.stored(&mut then.insts, stored, &point, at, elem, false)?
            }
            None => zero(elem),
        };
        then.results = vec![value];
        let tangent = match self.ad.covered(out, &read.place.tensor, &read.place.at)? {
            Some(covered) => self.ad.branch(out, covered, then, otherwise, elem),
            None => {
                out.extend(then.insts);
                then.results.remove(0)
            }
        };
        self.set(&inst.results[0], Some(tangent));
        Ok(())
    }

    /// The arms yield tangents after their values.
    fn arms(&mut self, inst: &Inst, out: &mut Vec<Inst>) -> R<()> {
        let mut inst = inst.clone();
        let mut found: Vec<Vec<Option<Arg>>> = Vec::new();
        let mut rounded = HashSet::default();
        for arm in inst.regions_mut() {
            let insts = std::mem::take(&mut arm.insts);
            self.insts(&insts, &mut arm.insts)?;
            found.push(arm.results.iter().map(|arg| self.tangent(arg)).collect());
            let at = arm.results.iter().enumerate().filter(|(_, arg)| self.is_rounded(arg));
            rounded.extend(at.map(|(at, _)| at));
        }
        let results = inst.results.clone();
        for (at, def) in results.iter().enumerate() {
            let Def::Scalar(value) = def else { continue };
            if rounded.contains(&at) {
                self.rounded.insert(value.number);
            }
            if !found.iter().any(|arm| matches!(arm.get(at), Some(Some(_)))) {
                continue;
            }
            let tangent = self.ad.module.supply.value(value.elem);
            inst.results.push(Def::Scalar(tangent));
            for (arm, found) in inst.regions_mut().into_iter().zip(&found) {
                let own = found.get(at).cloned().flatten();
                arm.results.push(own.unwrap_or_else(|| zero(value.elem)));
            }
            self.set(def, Some(tangent.into()));
        }
        out.push(inst);
        Ok(())
    }
}
