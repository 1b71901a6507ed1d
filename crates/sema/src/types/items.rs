//! Where checking starts: the statements of modules, and the items that nothing uses.

use super::Checker;
use super::annotations::Env;
use super::instances::{InstanceId, Key, Work};
use crate::errors;
use crate::hir::*;

impl Checker<'_> {
    /// The instance of a module's statements.
    pub(super) fn module_instance(&mut self, module: ModuleId) {
        let Some(body) = self.program.modules[module].body else { return };
        let key = Key { body, lambda: None, parent: None, args: Vec::new(), rests: Vec::new() };
        if self.keys.contains_key(&key) {
            return;
        }
        if let Some(id) = self.instance(key, Env::empty(body)) {
            self.type_instance(id);
        }
    }

    /// Checks the functions that nothing calls, for their errors.
    pub(super) fn type_uncalled(&mut self) {
        for (def, item) in self.program.defs.iter() {
            // The library is checked where it is used.
            let library = self.program.modules[item.module].library;
            if library || !self.roots.has_item(self.program, def) {
                continue;
            }
            let DefKind::Fn(Function { body, .. }) = item.kind else {
                self.check_item(def);
                continue;
            };
            let is_main = self.is_main(def);
            let n_params = self.program.bodies[body].params.len();
            let serves = |work: &Work| work.alive && work.body == body;
            let called = self.instances.iter().any(serves) && !(is_main && n_params > 0);
            let outer = item.inside.and_then(|inside| {
                let found =
                    self.instances.iter().position(|work| work.alive && work.body == inside);
                found.map(|index| InstanceId(index as u32))
            });
            if called || (item.inside.is_some() && outer.is_none()) {
                continue;
            }
            let key = Key {
                body,
                lambda: None,
                parent: outer,
                args: vec![None; n_params],
                rests: Vec::new(),
            };
            if let Some(id) = self.instance(key, Env::unknown(body, self.program)) {
                self.at(id).uncalled = true;
                self.type_instance(id);
                self.type_pending();
                let params = &self.program.bodies[body].params;
                let missing = params.iter().find(|param| is_main && param.default.is_none());
                if let Some(param) = missing {
                    let problem = errors::main_with_parameters(param.pattern.span, item.name.span);
                    self.at(id).diagnostics.push(problem);
                }
            }
        }
    }

    /// Whether a definition is the function whose value is that of the program.
    fn is_main(&self, def: DefId) -> bool {
        let item = self.program.def(def);
        let root = self.program.modules.iter().next().map(|(id, _)| id);
        item.inside.is_none() && root == Some(item.module) && self.name(item.name.name) == "main"
    }

    /// Checks a constant or the default of an input even if nothing uses it.
    pub(super) fn check_item(&mut self, def: DefId) {
        let item = self.program.def(def);
        match &item.kind {
            DefKind::Const(constant) if item.inside.is_none() => {
                self.constant(def, constant);
            }
            DefKind::Input(input) => self.check_input(def, input),
            _ => {}
        }
    }

    fn check_input(&mut self, def: DefId, input: &Input) {
        let wanted = self.def_value(def);
        let key = Key {
            body: input.body,
            lambda: None,
            parent: None,
            args: Vec::new(),
            rests: Vec::new(),
        };
        let Some(value) = self.program.bodies[input.body].value else { return };
        let Some(id) = self.instance(key, Env::empty(input.body)) else { return };
        self.inside(id, |cx| {
            let found = cx.infer_hinted(value, Some(&wanted));
            if cx.join(&wanted, &found).is_none() {
                let (wanted, got, span) = (cx.show(&wanted), cx.show(&found), cx.span(value));
                cx.report(errors::wrong_annotation(&wanted, &got, span, input.ty.span));
            }
            cx.work_mut().ret = wanted;
        });
    }
}
