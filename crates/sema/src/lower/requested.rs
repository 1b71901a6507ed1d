//! What derivative requests are about, found once before anything is lowered: the bindings that they
//! name, which then have tensors of their own, the bodies they stand in, and the functions that call
//! one of those.

use std::collections::HashMap;

use super::Lower;
use crate::hir::{DefKind, ExprKind, Owner, Res};
use crate::types::{Callee, InstanceId, walk};

impl<'p> Lower<'p> {
    /// The bindings that requests name, and the bodies with requests in them.
    pub(super) fn find_requested(&mut self) {
        let is_rule = |owner: Owner| match owner {
            Owner::Def(def) => matches!(self.program.def(def).kind, DefKind::Rule(_)),
            Owner::Module(_) => false,
        };
        for (id, body) in self.program.bodies.iter().filter(|(_, body)| !is_rule(body.owner)) {
            let mut roots = Vec::new();
            walk::visit(body, body.value.into_iter().collect(), &mut |_, kind| {
                if let ExprKind::Differential(of) = kind {
                    roots.push(*of);
                }
            });
            if !roots.is_empty() {
                self.requesting.insert(id);
            }
            let found = &mut self.requested;
            walk::visit(body, roots, &mut |_, kind| match kind {
                ExprKind::Name(Res::Local(local)) => {
                    found.insert((id, *local));
                }
                ExprKind::Name(Res::Outer(body, local)) => {
                    found.insert((*body, *local));
                }
                _ => {}
            });
        }
        self.find_asking();
    }

    /// The instances with requests in them, or in what they call.
    fn find_asking(&mut self) {
        if self.requesting.is_empty() {
            return;
        }
        let mut callers: HashMap<InstanceId, Vec<InstanceId>> = HashMap::new();
        let mut open = Vec::new();
        for id in self.typed.ids() {
            let instance = self.typed.instance(id);
            for callee in instance.calls.values() {
                if let Callee::Instance(callee) = callee {
                    callers.entry(*callee).or_default().push(id);
                }
            }
            if self.requesting.contains(&instance.body) {
                open.push(id);
            }
        }
        while let Some(id) = open.pop() {
            if self.asking.insert(id) {
                open.extend(callers.get(&id).into_iter().flatten());
            }
        }
    }
}
