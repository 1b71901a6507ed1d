//! What a host function captures: it becomes a parameter before the written ones.

use std::collections::{BTreeSet, HashMap};

use einlang_tir::host::HostType;

use super::value::{Frame, Marks, R, Val};
use super::{Lower, unsupported};
use crate::hir::{BodyId, DefId, DefKind, ExprId, ExprKind, LocalId, LocalKind, Res};
use crate::types::walk;
use crate::types::{Callee, ClosureId, FnTy, InstanceId, Ty, Typed};

/// Something from outside a function.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Capture {
    /// A binding of an instance around.
    Local(InstanceId, LocalId),
    /// A program input.
    Input(DefId),
    /// Where the clauses of such a binding define a point. It follows the binding itself.
    Covered(InstanceId, LocalId),
}

/// What was captured, by the instance that has it, as it is known inside the function.
#[derive(Default)]
pub(super) struct Captured<'p> {
    values: HashMap<InstanceId, Vec<(LocalId, Val<'p>)>>,
    marks: HashMap<InstanceId, Vec<(LocalId, Marks)>>,
}

impl<'p> Captured<'p> {
    /// Tells an activation of an instance what was captured from it.
    pub(super) fn bind(&self, id: InstanceId, frame: &mut Frame<'p>) {
        for (local, value) in self.values.get(&id).into_iter().flatten() {
            frame.bind(*local, value.clone());
        }
        for (local, marks) in self.marks.get(&id).into_iter().flatten() {
            frame.bind_marks(*local, marks.clone());
        }
    }

    fn value(&self, owner: InstanceId, local: LocalId) -> Option<&Val<'p>> {
        let mut values = self.values.get(&owner).into_iter().flatten();
        values.find_map(|(name, value)| (*name == local).then_some(value))
    }
}

impl<'p> Lower<'p> {
    /// What an instance captures, directly and through the functions it calls.
    pub(super) fn captures_of(&self, id: InstanceId) -> Vec<Capture> {
        let mut found = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let mut open = vec![id];
        let mut around = vec![id];
        let mut parent = self.typed.instance(id).parent;
        while let Some(outer) = parent {
            around.push(outer);
            parent = self.typed.instance(outer).parent;
        }
        while let Some(next) = open.pop() {
            if !seen.insert(next) {
                continue;
            }
            // A lambda that is called comes as a value, with what it captures itself.
            let is_value = next != id && self.typed.instance(next).lambda.is_some();
            if let Some(value) = self.value_of(next).filter(|_| !is_value) {
                self.free(next, value, &mut found);
            }
            // What the lambdas in it call must be at hand where they are made.
            open.extend(self.lambdas_in.get(&next).into_iter().flatten());
            for callee in self.typed.instance(next).calls.values() {
                if let Callee::Instance(callee) = callee {
                    open.push(*callee);
                }
            }
        }
        // What a function on the way defines itself is not captured.
        let outside = |capture: &Capture| match capture {
            Capture::Local(owner, _) | Capture::Covered(owner, _) => {
                *owner != id && (around.contains(owner) || self.is_module(*owner))
            }
            Capture::Input(_) => true,
        };
        found.into_iter().filter(outside).collect()
    }

    /// What the source calls it.
    pub(super) fn capture_name(&self, capture: &Capture) -> String {
        let name = match capture {
            Capture::Local(owner, local) | Capture::Covered(owner, local) => {
                self.body_of(self.typed.instance(*owner).body)[*local].name.name
            }
            Capture::Input(def) => self.program.def(*def).name.name,
        };
        self.spelling(name).to_owned()
    }

    pub(super) fn is_module(&self, id: InstanceId) -> bool {
        self.typed.modules.contains(&Some(id))
    }

    /// The free names of an expression of an instance.
    fn free(&self, id: InstanceId, root: ExprId, found: &mut BTreeSet<Capture>) {
        let body = self.typed.instance(id).body;
        let mut names = Vec::new();
        let mut defaulted = Vec::new();
        walk::visit(self.body_of(body), vec![root], &mut |_, kind| match kind {
            ExprKind::Name(Res::Local(local)) => names.push((body, *local)),
            ExprKind::Name(Res::Outer(body, local)) => names.push((*body, *local)),
            ExprKind::Access { base, default: Some(_), .. } => {
                match self.body_of(body).kind(*base) {
                    ExprKind::Name(Res::Local(local)) => defaulted.push((body, *local)),
                    ExprKind::Name(Res::Outer(body, local)) => defaulted.push((*body, *local)),
                    _ => {}
                }
            }
            ExprKind::Name(Res::Def(def)) => {
                if matches!(self.program.def(*def).kind, DefKind::Input(_)) {
                    found.insert(Capture::Input(*def));
                }
            }
            _ => {}
        });
        for (body, local) in names {
            let owner = self.owner_of(id, body, local);
            found.extend(owner.map(|owner| Capture::Local(owner, local)));
        }
        for (body, local) in defaulted {
            let owner = self.owner_of(id, body, local);
            let has_gaps = |owner: &InstanceId| self.axes_with_gaps(*owner, local).is_some();
            let owner = owner.filter(has_gaps);
            found.extend(owner.map(|owner| Capture::Covered(owner, local)));
        }
    }

    /// The instance that has a binding, among this one, those around it and the modules.
    pub(super) fn owner_of(
        &self,
        id: InstanceId,
        body: BodyId,
        local: LocalId,
    ) -> Option<InstanceId> {
        let has = |id: &InstanceId| {
            let instance = self.typed.instance(*id);
            instance.body == body && instance.locals.contains_key(&local)
        };
        let mut around = std::iter::successors(Some(id), |id| self.typed.instance(*id).parent);
        let modules = || self.typed.modules.iter().flatten().copied();
        around.find(has).or_else(|| modules().find(has))
    }

    /// What a closure captures.
    pub(super) fn closure_captures(&self, id: ClosureId) -> Vec<Capture> {
        let Some((owner, lambda)) = self.typed.closures.get(id.index()).copied() else {
            return Vec::new();
        };
        let mut found = BTreeSet::new();
        self.free(owner, lambda, &mut found);
        found.into_iter().collect()
    }

    /// The value of what is captured, here, and its type.
    pub(super) fn captured(&mut self, capture: &Capture) -> R<(Val<'p>, Ty)> {
        match capture {
            Capture::Input(def) => {
                let ty = self.input_type(*def);
                match self.inputs.get(def) {
                    Some(value) => Ok((value.clone(), ty)),
                    None => unsupported(self.here, "an input that is not known here"),
                }
            }
            Capture::Local(owner, local) => {
                let body = self.typed.instance(*owner).body;
                let ty = self.typed.instance(*owner).local(*local).clone();
                let found = self.module_frames.get(owner).and_then(|f| f.lookup(body, *local));
                let value = match (self.frame.lookup(body, *local), found) {
                    (Some(value), _) | (None, Some(value)) => value.clone(),
                    _ => self.local(body, *local)?,
                };
                Ok((value, ty))
            }
            Capture::Covered(owner, local) => {
                let (value, _) = self.captured(&Capture::Local(*owner, *local))?;
                Ok((self.coverage_of(*owner, *local, &value)?, self.capture_type(capture)))
            }
        }
    }

    /// Keeps what a function is given for a capture.
    pub(super) fn keep_captured(
        &mut self,
        capture: &Capture,
        value: Val<'p>,
        known: &mut Captured<'p>,
    ) {
        match capture {
            Capture::Input(def) => drop(self.inputs.insert(*def, value)),
            Capture::Local(owner, local) => {
                known.values.entry(*owner).or_default().push((*local, value));
            }
            Capture::Covered(owner, local) => match &value {
                Val::Host(marks, _) => {
                    let rank = self.axes_with_gaps(*owner, *local).unwrap_or_default();
                    let entry = (*local, (marks.clone(), rank));
                    known.marks.entry(*owner).or_default().push(entry);
                }
                covered => {
                    if let Some(of) = known.value(*owner, *local) {
                        self.note_gaps(of, covered);
                    }
                }
            },
        }
    }

    pub(super) fn captured_types(&mut self, captures: &[Capture]) -> R<Vec<HostType>> {
        let mut types = Vec::with_capacity(captures.len());
        for capture in captures {
            let ty = self.capture_type(capture);
            types.push(self.host_type(&ty)?);
        }
        Ok(types)
    }

    pub(super) fn capture_type(&self, capture: &Capture) -> Ty {
        match capture {
            Capture::Input(def) => self.input_type(*def),
            Capture::Local(owner, local) => {
                let instance = self.typed.instance(*owner);
                let kind = self.body_of(instance.body)[*local].kind;
                match instance.local(*local) {
                    Ty::Error if matches!(kind, LocalKind::Extent(_)) => {
                        Ty::Scalar(crate::hir::Scalar::I32)
                    }
                    ty => ty.clone(),
                }
            }
            Capture::Covered(owner, local) => self.coverage_type(*owner, *local),
        }
    }

    /// The declared type of an input.
    pub(super) fn input_type(&self, def: DefId) -> Ty {
        match &self.program.def(def).kind {
            DefKind::Input(input) => self.written(&input.ty, &[]),
            _ => Ty::Error,
        }
    }

    /// The instance of a function that takes these arguments.
    pub(super) fn instance_for(&self, function: &FnTy, params: &[Ty]) -> Option<InstanceId> {
        let fits = |id: &InstanceId| {
            let instance = self.typed.instance(*id);
            let same = match function {
                FnTy::Closure(closure) => instance.lambda == Some(*closure),
                FnTy::Def(def, parent) => match &self.program.def(*def).kind {
                    DefKind::Fn(item) => {
                        instance.body == item.body
                            && instance.lambda.is_none()
                            && (instance.parent == *parent || parent.is_none())
                    }
                    _ => false,
                },
                _ => false,
            };
            let plain = |ty: &Ty| ty.without_extents();
            same && instance.params.iter().map(plain).eq(params.iter().map(plain))
        };
        self.typed.ids().find(fits)
    }
}

/// The instances of lambdas by the instance around them.
pub(super) fn lambdas_in(typed: &Typed) -> HashMap<InstanceId, Vec<InstanceId>> {
    let mut found: HashMap<InstanceId, Vec<InstanceId>> = HashMap::new();
    for id in typed.ids() {
        let instance = typed.instance(id);
        if let Some(around) = instance.parent.filter(|_| instance.lambda.is_some()) {
            found.entry(around).or_default().push(id);
        }
    }
    found
}
