//! What names stand for.

use super::Analyser;
use super::instances::State;
use super::symbols::Source;
use super::value::Shape;
use crate::hir::*;
use crate::types::InstanceId;

impl Analyser<'_> {
    /// The shape of what a name means.
    pub(super) fn name_shape(&mut self, res: Res) -> Shape {
        match res {
            Res::Local(_) | Res::Outer(..) => {
                let Some((instance, local)) = self.owner_of(res) else { return Shape::Opaque };
                self.local_shape(instance, local)
            }
            Res::Def(def) => self.item_shape(def),
            _ => Shape::Opaque,
        }
    }

    /// The instance that a binding belongs to.
    pub(super) fn owner_of(&self, res: Res) -> Option<(InstanceId, LocalId)> {
        match res {
            Res::Local(local) => {
                // The inside of a lambda shares its body with what is around.
                let mut at = Some(self.cur);
                while let Some(id) = at {
                    let typed = self.typed.instance(id);
                    if self.instances[id.index()].locals.contains_key(&local) {
                        return Some((id, local));
                    }
                    at = typed.parent.filter(|_| typed.lambda.is_some());
                }
                Some((self.cur, local))
            }
            Res::Outer(body, local) => {
                let mut at = self.typed.instance(self.cur).parent;
                while let Some(id) = at {
                    let typed = self.typed.instance(id);
                    if typed.body == body && self.instances[id.index()].locals.contains_key(&local)
                    {
                        return Some((id, local));
                    }
                    at = typed.parent;
                }
                let Owner::Module(module) = self.program.bodies[body].owner else { return None };
                let id = self.typed.modules.get(module.index()).copied().flatten()?;
                Some((id, local))
            }
            _ => None,
        }
    }

    pub(super) fn local_shape(&mut self, instance: InstanceId, local: LocalId) -> Shape {
        if let Some(shape) = self.instances[instance.index()].locals.get(&local) {
            return self.symbols.resolved_shape(shape);
        }
        let body = &self.program.bodies[self.typed.instance(instance).body];
        if let LocalKind::Extent(Some(before)) = body[local].kind
            && instance == self.cur
        {
            return self.name_shape(before);
        }
        if self.states[instance.index()] == State::New {
            // A binding of another module.
            self.analyse_instance(instance);
            if let Some(shape) = self.instances[instance.index()].locals.get(&local) {
                return self.symbols.resolved_shape(shape);
            }
        }
        let ty = self.typed.instance(instance).local(local).clone();
        let shape = self.fresh(&ty, Source::Local(instance, local), true);
        self.instances[instance.index()].locals.insert(local, shape.clone());
        shape
    }

    /// The shape of a constant or input.
    fn item_shape(&mut self, def: DefId) -> Shape {
        match &self.program.def(def).kind {
            DefKind::Const(_) => match self.typed.items.get(&def).copied() {
                Some(id) => {
                    self.analyse_instance(id);
                    self.instances[id.index()].ret.clone()
                }
                None => Shape::Opaque,
            },
            DefKind::Input(input) => self.input_shape(def, input),
            _ => Shape::Opaque,
        }
    }

    /// The name that a resolution was written with.
    pub(super) fn res_name(&self, body: &Body, res: Res) -> String {
        match res {
            Res::Local(local) => self.text(body[local].name.name).to_owned(),
            Res::Outer(outer, local) => {
                self.text(self.program.bodies[outer][local].name.name).to_owned()
            }
            Res::Def(def) => self.text(self.program.def(def).name.name).to_owned(),
            Res::Builtin(builtin) => builtin.to_string(),
            Res::Python(path) => self.text(path).to_owned(),
            _ => "(…)".to_owned(),
        }
    }

    pub(super) fn bind(&mut self, local: LocalId, shape: Shape) {
        self.here().locals.insert(local, shape);
    }
}
