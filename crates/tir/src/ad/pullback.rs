//! Adjoints of straight-line code: how its result follows some of its reads.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::context::{Ad, zero};
use super::fault::{Fault, R};
use super::flow::flow_of_inst;
use super::partial::Applied;
use crate::op::Derivative;
use crate::region::{Arg, Def, Inst, InstKind, Place, Read, Region, Value};
use crate::types::Elem;

/// The backward sweep for the reads of one place.
pub(super) struct Pullback<'a, 'm> {
    ad: &'a mut Ad<'m>,
    place: &'a Place,
    elem: Elem,
    /// A value that is stored and need not be computed again.
    own: Option<(u32, Arg)>,
    /// The values through which the reads reach the result.
    relevant: HashSet<u32>,
    /// The types of those, for sums that arms hand out.
    elems: HashMap<u32, Elem>,
}

type Adjoints = HashMap<u32, Arg>;

impl<'a, 'm> Pullback<'a, 'm> {
    /// Code that yields how the result of `code`, whose adjoint is given, follows the place.
    /// `None` is zero.
    pub(super) fn of(
        ad: &'a mut Ad<'m>,
        code: &Region,
        place: &'a Place,
        elem: Elem,
        adjoint: Arg,
        own: Option<(u32, Arg)>,
    ) -> R<Option<Region>> {
        let (relevant, elems) = (HashSet::default(), HashMap::default());
        let mut sweep = Pullback { ad, place, elem, own, relevant, elems };
        sweep.mark(&code.insts);
        let mut out = code.insts.clone();
        let mut adjoints = Adjoints::default();
        if let Some(result) = code.results.first() {
            sweep.accumulate(&mut out, &mut adjoints, result, adjoint);
        }
        let mut total = None;
        sweep.backward(&code.insts, &mut adjoints, &mut out, &mut total)?;
        Ok(total.map(|total| {
            let mut region = Region { params: Vec::new(), insts: out, results: vec![total] };
            super::tidy::drop_dead(&mut region);
            region
        }))
    }

    fn is_relevant(&self, arg: &Arg) -> bool {
        matches!(arg, Arg::Value(value) if self.relevant.contains(&value.number))
    }

    fn is_wanted(&self, read: &Read) -> bool {
        read.place == *self.place
    }

    /// Finds the values through which the reads reach the result.
    fn mark(&mut self, insts: &[Inst]) {
        for inst in insts {
            let hit = match &inst.kind {
                InstKind::Op(op, args) => {
                    op.info().derivative != Derivative::Zero
                        && args.iter().any(|arg| self.is_relevant(arg))
                }
                InstKind::Read(read) => {
                    let default = read.default.iter();
                    default.clone().for_each(|default| self.mark(&default.insts));
                    let mut results = default.flat_map(|default| &default.results);
                    self.is_wanted(read) || results.any(|arg| self.is_relevant(arg))
                }
                InstKind::If { .. } | InstKind::Switch { .. } => {
                    inst.regions().into_iter().for_each(|arm| self.mark(&arm.insts));
                    for (at, def) in inst.results.iter().enumerate() {
                        let mut arms = inst.regions().into_iter();
                        let hit =
                            arms.any(|r| r.results.get(at).is_some_and(|a| self.is_relevant(a)));
                        self.note(def, hit);
                    }
                    continue;
                }
                InstKind::Call { args, .. } | InstKind::HostCall { args, .. } => {
                    args.iter().any(|arg| self.is_relevant(arg))
                }
                InstKind::Reduce(_) => {
                    let flow = flow_of_inst(inst);
                    let wanted = flow.sites.iter().any(|site| site.place == *self.place);
                    wanted || flow.values.iter().any(|number| self.relevant.contains(number))
                }
                _ => false,
            };
            inst.results.iter().for_each(|def| self.note(def, hit));
        }
    }

    fn note(&mut self, def: &Def, hit: bool) {
        if let (Def::Scalar(value), true) = (def, hit)
            && value.elem != Elem::Bool
        {
            self.relevant.insert(value.number);
            self.elems.insert(value.number, value.elem);
        }
    }

    fn accumulate(&mut self, out: &mut Vec<Inst>, adjoints: &mut Adjoints, to: &Arg, part: Arg) {
        let Arg::Value(Value { number, .. }) = to else { return };
        if !self.relevant.contains(number) {
            return;
        }
        let mut sum = adjoints.remove(number);
        self.ad.add_to(out, &mut sum, part);
        adjoints.extend(sum.map(|sum| (*number, sum)));
    }

    fn backward(
        &mut self,
        insts: &[Inst],
        adjoints: &mut Adjoints,
        out: &mut Vec<Inst>,
        total: &mut Option<Arg>,
    ) -> R<()> {
        for inst in insts.iter().rev() {
            let own = |def: &Def| def.as_scalar().and_then(|value| adjoints.remove(&value.number));
            let given: Vec<Option<Arg>> = inst.results.iter().map(own).collect();
            if given.iter().all(Option::is_none) {
                continue;
            }
            let done = self.one(inst, given, adjoints, out, total);
            done.map_err(|fault| fault.or_at(inst.loc))?;
        }
        Ok(())
    }

    fn one(
        &mut self,
        inst: &Inst,
        mut given: Vec<Option<Arg>>,
        adjoints: &mut Adjoints,
        out: &mut Vec<Inst>,
        total: &mut Option<Arg>,
    ) -> R<()> {
        match &inst.kind {
            InstKind::Op(op, args) => {
                let [Def::Scalar(result)] = inst.results[..] else { return Ok(()) };
                let Some(adjoint) = given.remove(0) else { return Ok(()) };
                let value = match &self.own {
                    Some((number, own)) if *number == result.number => own.clone(),
                    _ => result.into(),
                };
                let applied = Applied { op: *op, args, result: value, loc: inst.loc };
                for (which, arg) in args.iter().enumerate() {
                    if !self.is_relevant(arg) {
                        continue;
                    }
                    let to = arg.elem().unwrap_or(result.elem);
                    let part = self.ad.scaled(out, &applied, which, adjoint.clone(), to)?;
                    if let Some(part) = part {
                        self.accumulate(out, adjoints, arg, part);
                    }
                }
                Ok(())
            }
            InstKind::Read(read) => match given.remove(0) {
                Some(adjoint) => self.read(read, adjoint, adjoints, out, total),
                None => Ok(()),
            },
            InstKind::If { .. } | InstKind::Switch { .. } => {
                self.arms(inst, &given, adjoints, out, total)
            }
            InstKind::Call { function, args } => {
                let wanted: Vec<bool> = args.iter().map(|arg| self.is_relevant(arg)).collect();
                let parts = self.ad.call_adjoints(out, inst, function, args, &given, &wanted)?;
                for (arg, part) in args.iter().zip(parts) {
                    if let Some(part) = part {
                        self.accumulate(out, adjoints, arg, part);
                    }
                }
                Ok(())
            }
            InstKind::HostCall { .. } => {
                Err(Fault::no_rule("what the host program computes", inst.loc))
            }
            _ => Err(Fault::through_integer(inst.loc)),
        }
    }

    fn read(
        &mut self,
        read: &Read,
        adjoint: Arg,
        adjoints: &mut Adjoints,
        out: &mut Vec<Inst>,
        total: &mut Option<Arg>,
    ) -> R<()> {
        let wanted = self.is_wanted(read);
        let Some(default) = &read.default else {
            if wanted {
                self.ad.add_to(out, total, adjoint);
            }
            return Ok(());
        };
        let reaches = default.results.iter().any(|arg| self.is_relevant(arg));
        if !reaches && self.ad.is_full(&read.place.tensor)? {
            // The point that is asked about lies in the box.
            self.ad.add_to(out, total, adjoint);
            return Ok(());
        }
        let Some(covered) = self.ad.covered(out, &read.place.tensor, &read.place.at)? else {
            if wanted {
                self.ad.add_to(out, total, adjoint);
            }
            return Ok(());
        };
        let mut yes = Swept::default();
        if wanted {
            yes.total = Some(adjoint.clone());
        }
        let no = self.swept(default, &[Some(adjoint)])?;
        self.join(out, adjoints, total, vec![yes, no], |mut arms| {
            let otherwise = arms.pop().unwrap_or_default();
            let then = arms.pop().unwrap_or_default();
            InstKind::If { condition: covered, then, otherwise }
        });
        Ok(())
    }

    fn arms(
        &mut self,
        inst: &Inst,
        given: &[Option<Arg>],
        adjoints: &mut Adjoints,
        out: &mut Vec<Inst>,
        total: &mut Option<Arg>,
    ) -> R<()> {
        let mut swept = Vec::new();
        for arm in inst.regions() {
            swept.push(self.swept(arm, given)?);
        }
        let kind = inst.kind.clone();
        self.join(out, adjoints, total, swept, |arms| {
            let mut inst = Inst { results: Vec::new(), kind, loc: inst.loc };
            inst.regions_mut().into_iter().zip(arms).for_each(|(arm, new)| *arm = new);
            inst.kind
        });
        Ok(())
    }

    /// The sweep of one arm: its own code again, and then backwards.
    fn swept(&mut self, arm: &Region, given: &[Option<Arg>]) -> R<Swept> {
        let mut swept = Swept { insts: arm.insts.clone(), ..Swept::default() };
        for (result, adjoint) in arm.results.iter().zip(given) {
            if let Some(adjoint) = adjoint {
                self.accumulate(&mut swept.insts, &mut swept.adjoints, result, adjoint.clone());
            }
        }
        let Swept { insts, adjoints, total } = &mut swept;
        self.backward(&arm.insts, adjoints, insts, total)?;
        Ok(swept)
    }

    /// One instruction for all arms, which yields the total and what reached values outside.
    fn join(
        &mut self,
        out: &mut Vec<Inst>,
        adjoints: &mut Adjoints,
        total: &mut Option<Arg>,
        swept: Vec<Swept>,
        kind: impl FnOnce(Vec<Region>) -> InstKind,
    ) {
        let has_total = swept.iter().any(|arm| arm.total.is_some());
        let mut outer: BTreeMap<u32, Elem> = BTreeMap::new();
        for number in swept.iter().flat_map(|arm| arm.adjoints.keys()) {
            outer.insert(*number, self.elems.get(number).copied().unwrap_or(self.elem));
        }
        if !has_total && outer.is_empty() {
            return;
        }
        let mut arms = Vec::with_capacity(swept.len());
        for mut arm in swept {
            let mut results = Vec::new();
            if has_total {
                results.push(arm.total.take().unwrap_or_else(|| zero(self.elem)));
            }
            for (number, elem) in &outer {
                results.push(arm.adjoints.remove(number).unwrap_or_else(|| zero(*elem)));
            }
            let mut region = Region { params: Vec::new(), insts: arm.insts, results };
            super::tidy::drop_dead(&mut region);
            arms.push(region);
        }
        let kind = kind(arms);
        let mut results = Vec::new();
        if has_total {
            results.push(self.ad.module.supply.value(self.elem));
        }
        results.extend(outer.values().map(|elem| self.ad.module.supply.value(*elem)));
        let defs = results.iter().map(|value| Def::Scalar(*value)).collect();
        out.push(Inst { results: defs, kind, loc: Default::default() });
        let mut results = results.into_iter();
        if has_total && let Some(value) = results.next() {
            self.ad.add_to(out, total, value.into());
        }
        for ((number, elem), value) in outer.into_iter().zip(results) {
            let to = Arg::Value(Value { number, elem });
            self.accumulate(out, adjoints, &to, value.into());
        }
    }
}

/// What the sweep of an arm gives.
#[derive(Default)]
struct Swept {
    insts: Vec<Inst>,
    adjoints: Adjoints,
    total: Option<Arg>,
}
