//! Functions that compute the same as others and print nothing: what a request evaluates once more
//! is not seen twice. A function that has no effects is its own quiet one.

use rustc_hash::FxHashSet as HashSet;

use super::dual::Dual;
use super::{Host, for_each_inst};
use crate::ad::fault::{Fault, R};
use crate::host::{Effect, HostFn, HostInst, HostKind};
use crate::types::{Ident, Loc};

/// Whether an instruction does something to the world and gives nothing.
pub(super) fn is_effect(inst: &HostInst) -> bool {
    matches!(inst.kind, HostKind::Intrinsic(intrinsic, _)
        if intrinsic.effect() == Effect::World && inst.results.is_empty())
}

impl Host<'_> {
    /// The function that computes the same as another one and prints nothing; it has its rule.
    pub(super) fn quiet_function(&mut self, name: &Ident, loc: Loc) -> R<Ident> {
        if let Some(known) = self.quiet.get(name) {
            return Ok(known.clone());
        }
        if !self.is_noisy(name) {
            self.quiet.insert(name.clone(), name.clone());
            return Ok(name.clone());
        }
        let found = self.program.functions.iter().position(|f| f.name == *name);
        let Some(at) = found else { return Err(Fault::unsupported("this function", loc)) };
        let quiet = self.unique(&format!("{}.quiet", name.as_str()));
        self.quiet.insert(name.clone(), quiet.clone());
        self.expand_function(at)?;
        let function = self.program.functions[at].clone();
        let mut own = Dual::new(self, function.loc);
        own.quiet = true;
        let body = own.body(&function.body, 0)?;
        self.program.functions.push(HostFn { name: quiet.clone(), body, ..function });
        Ok(quiet)
    }

    /// Whether calling a function prints, or does something else to the world.
    pub(super) fn is_noisy(&self, name: &Ident) -> bool {
        let (mut open, mut seen) = (vec![name.clone()], HashSet::default());
        let mut noisy = false;
        while let Some(next) = open.pop() {
            if noisy || !seen.insert(next.clone()) {
                continue;
            }
            let found = self.program.functions.iter().find(|f| f.name == next);
            let Some(function) = found else { continue };
            for_each_inst(&function.body, &mut |inst| match &inst.kind {
                HostKind::Call(callee, _) => open.push(callee.clone()),
                HostKind::Apply(callee, _) => {
                    let candidates = self.candidates(&self.type_of(callee));
                    open.extend(candidates.into_iter().map(|candidate| candidate.0));
                }
                _ => noisy |= is_effect(inst),
            });
        }
        noisy
    }
}
