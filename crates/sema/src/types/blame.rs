//! Mistakes that show only inside a function of the library belong to the call that led there.
//!
//! A library function without parameter types is checked like any other, for the arguments it gets.
//! What goes wrong in it is reported once, at the outermost call that the user wrote, with the place
//! in the library as a second label.

use einlang_source::map::{HashMap, HashSet};

use einlang_source::{Diagnostic, Severity, Span};

use super::Checker;
use super::instances::InstanceId;
use super::typed::Callee;
use crate::errors;
use crate::hir::*;

/// A call of an instance: by whom and where. A lambda is called by the instance around it.
type Caller = (InstanceId, Option<Span>);

impl Checker<'_> {
    /// Moves the errors of library instances to the calls that caused them.
    pub(super) fn blame_callers(&mut self) {
        let all = (0..self.instances.len()).filter(|index| self.instances[*index].alive);
        let failed: Vec<usize> = all
            .filter(|index| {
                !self.instances[*index].diagnostics.is_empty() && self.in_library(*index)
            })
            .collect();
        if failed.is_empty() {
            return;
        }
        let callers = self.callers();
        for index in failed {
            let Some((user, callee, span)) = self.user_call(index, &callers) else { continue };
            let inner = std::mem::take(&mut self.instances[index].diagnostics);
            let errors = inner.into_iter().filter(|d| d.severity == Severity::Error);
            if let Some(first) = errors.min_by_key(|d| d.primary.span) {
                let moved = self.at_call(callee, span, &first);
                self.instances[user.index()].diagnostics.push(moved);
            }
        }
    }

    fn in_library(&self, index: usize) -> bool {
        let module = match self.program.bodies[self.instances[index].body].owner {
            Owner::Module(module) => module,
            Owner::Def(def) => self.program.def(def).module,
        };
        self.program.modules[module].library
    }

    fn callers(&self) -> HashMap<InstanceId, Vec<Caller>> {
        let mut callers: HashMap<InstanceId, Vec<Caller>> = HashMap::default();
        for (index, work) in self.instances.iter().enumerate().filter(|(_, work)| work.alive) {
            let id = InstanceId(index as u32);
            for record in work.calls.values() {
                if let Callee::Instance(callee) = record.callee {
                    callers.entry(callee).or_default().push((id, Some(record.span)));
                }
            }
            if let (Some(parent), true) = (work.parent, work.lambda.is_some()) {
                callers.entry(id).or_default().push((parent, None));
            }
        }
        for list in callers.values_mut() {
            list.sort_unstable_by_key(|(id, span)| (*span, *id));
        }
        callers
    }

    /// The first call in the user's text through which an instance was reached.
    fn user_call(
        &self,
        index: usize,
        callers: &HashMap<InstanceId, Vec<Caller>>,
    ) -> Option<(InstanceId, InstanceId, Span)> {
        let start = InstanceId(index as u32);
        let (mut seen, mut open) = (HashSet::from_iter([start]), vec![start]);
        let mut found: Vec<(Span, InstanceId, InstanceId)> = Vec::new();
        while let Some(callee) = open.pop() {
            for (caller, span) in callers.get(&callee).into_iter().flatten() {
                match span {
                    Some(span) if !self.in_library(caller.index()) => {
                        found.push((*span, *caller, callee));
                    }
                    _ if seen.insert(*caller) => open.push(*caller),
                    _ => {}
                }
            }
        }
        let (span, user, callee) = found.into_iter().min_by_key(|(span, ..)| *span)?;
        Some((user, callee, span))
    }

    fn at_call(&mut self, callee: InstanceId, span: Span, inner: &Diagnostic) -> Diagnostic {
        let work = &self.instances[callee.index()];
        let name = match self.program.bodies[work.body].owner {
            Owner::Def(def) => self.name(self.program.def(def).name.name),
            Owner::Module(_) => "this function",
        };
        let params = work.params.clone();
        let types: Vec<String> = params.iter().map(|ty| self.show(ty)).collect();
        errors::library_call(name, &types.join(", "), span, inner)
    }
}
