//! The entry of a program: inputs come in, module statements run, outputs go out.

use std::rc::Rc;

use einlang_source::Span;
use einlang_tir::host::{Block, HostFn, Labels};
use einlang_tir::types::Ident;

use super::module::loc;
use super::order::pattern_locals;
use super::value::{Frame, R, Val};
use super::{Lower, Lowered, ProgramInput, ProgramOutput, unsupported};
use crate::hir::{
    DefId, DefKind, ExprKind, Function, LocalId, ModuleId, Namespace, Payload, Res, Statement,
};
use crate::types::{InstanceId, Ty};

/// What leaves the program.
pub(super) struct Output<'p> {
    pub(super) name: String,
    pub(super) span: Option<Span>,
    pub(super) value: Val<'p>,
    pub(super) ty: Ty,
}

impl<'p> Lower<'p> {
    pub(super) fn run(mut self) -> R<Lowered> {
        self.find_requested();
        self.classify();
        let entry = Ident::new(&self.unique("entry"));
        self.out.entry = Some(entry.clone());
        self.blocks.push(Block::default());
        let mut params = Vec::new();
        let inputs = self.declare_inputs(&mut params)?;
        self.declare_given(&mut params)?;
        let root = self.lower_modules()?;
        let outputs = match self.options.entry {
            Some(entry) => self.left_behind(root, entry)?,
            None => self.outputs(root)?,
        };
        let outputs = self.wanted(outputs);
        let mut settled = Vec::with_capacity(outputs.len());
        for output in outputs {
            settled.push(Output { value: self.settled(&output.value)?, ..output });
        }
        let mut described = Vec::with_capacity(settled.len());
        let mut results = Vec::with_capacity(settled.len());
        let mut types = Vec::with_capacity(settled.len());
        for Output { name, span, value, ty } in settled {
            results.push(self.hosted(&value, &ty)?);
            let host = self.host_type(&ty)?;
            types.push(host.clone());
            described.push(ProgramOutput { name, span, ty, host });
        }
        self.flush();
        let block = self.blocks.pop().unwrap_or_default();
        let body = self.finish_body(Block { params, insts: block.insts, results });
        let place = loc(self.here);
        self.out.functions.push(HostFn {
            name: entry,
            results: types,
            body,
            rule: None,
            loc: place,
        });
        let inputs = self.lower_defaults(inputs)?;
        self.lower_functions()?;
        self.add_labels();
        self.verify()?;
        let watches = self.expand_host_requests()?;
        self.verify()?;
        Ok(Lowered { program: self.out, inputs, outputs: described, watches })
    }

    fn wanted(&self, mut outputs: Vec<Output<'p>>) -> Vec<Output<'p>> {
        if let Some(names) = &self.options.outputs {
            outputs.retain(|output| names.contains(&output.name));
        }
        outputs
    }

    fn declare_inputs(
        &mut self,
        params: &mut Vec<einlang_tir::host::HostDef>,
    ) -> R<Vec<(DefId, ProgramInput)>> {
        let mut inputs = Vec::new();
        for (id, def) in self.program.defs.iter() {
            let DefKind::Input(_) = &def.kind else { continue };
            let ty = self.input_type(id);
            let name = self.spelling(def.name.name).to_owned();
            self.here = def.span;
            let host_type = self.host_type(&ty)?;
            let host = self.param(&ty, params)?;
            let value = self.lifted(host, &ty, &name)?;
            let value = self.bound(value, &name)?;
            self.inputs.insert(id, value);
            let input = ProgramInput { name, ty, host: host_type, default: None, span: def.span };
            inputs.push((id, input));
        }
        Ok(inputs)
    }

    /// Functions that compute the default values of inputs.
    fn lower_defaults(&mut self, inputs: Vec<(DefId, ProgramInput)>) -> R<Vec<ProgramInput>> {
        let mut described = Vec::with_capacity(inputs.len());
        for (def, mut input) in inputs {
            let instance = self.typed.items.get(&def).copied();
            let value = instance.and_then(|id| self.value_of(id).map(|value| (id, value)));
            if let Some((id, value)) = value {
                let name = Ident::new(&self.unique(&format!("default.{}", input.name)));
                self.blocks.push(Block::default());
                let frame = Frame::new(id, self.typed.instance(id).body, None);
                let ty = input.ty.clone();
                let result = self.within(frame, |cx| {
                    let value = cx.eval(value)?;
                    cx.hosted(&value, &ty)
                });
                self.flush();
                let block = self.blocks.pop().unwrap_or_default();
                let results = vec![result?];
                let body = self.finish_body(Block { results, ..block });
                let results = vec![input.host.clone()];
                let place = loc(input.span);
                self.out.functions.push(HostFn {
                    name: name.clone(),
                    results,
                    body,
                    rule: None,
                    loc: place,
                });
                input.default = Some(name);
            }
            described.push(input);
        }
        Ok(described)
    }

    /// A size that several inputs name is the same in all of them.
    fn input_checks(&mut self, module: ModuleId) -> R<()> {
        for def in self.program.defs.values() {
            if matches!(def.kind, DefKind::Input(_)) && def.module == module {
                self.checks_in(def.name.span)?;
            }
        }
        Ok(())
    }

    /// Runs the statements of all modules, the root's last; gives the root's instance.
    fn lower_modules(&mut self) -> R<InstanceId> {
        let modules: Vec<ModuleId> = self.program.modules.ids().collect();
        let mut root = None;
        for module in modules.into_iter().rev() {
            let Some(Some(id)) = self.typed.modules.get(module.index()).copied() else { continue };
            let body = self.typed.instance(id).body;
            let parent = self.typed.instance(id).parent.and_then(|parent| self.frame_of(parent));
            self.frame = Frame::new(id, body, parent.map(Rc::new));
            self.bind_given(module);
            self.input_checks(module)?;
            let value = self.body_of(body).value;
            if let Some(ExprKind::Block(block)) = value.map(|value| self.body_of(body).kind(value))
            {
                self.statements(&block.statements)?;
                if let Some(value) = block.value {
                    self.eval(value)?;
                }
            }
            self.module_frames.insert(id, self.frame.clone());
            root = Some(id);
        }
        match root {
            Some(root) => Ok(root),
            None => unsupported(self.here, "a program without statements"),
        }
    }

    fn outputs(&mut self, root: InstanceId) -> R<Vec<Output<'p>>> {
        if let Some(main) = self.main_function() {
            let (value, ty) = self.call_main(main)?;
            return Ok(vec![Output { name: "main".to_owned(), span: None, value, ty }]);
        }
        let body = self.body_of(self.typed.instance(root).body);
        let Some(ExprKind::Block(block)) = body.value.map(|value| body.kind(value)) else {
            return Ok(Vec::new());
        };
        let mut locals: Vec<LocalId> = Vec::new();
        for statement in &block.statements {
            match statement {
                Statement::Let { pattern, .. } => {
                    pattern_locals(pattern, &mut |local| locals.push(local));
                }
                Statement::Clause(clause) => locals.extend(&clause.targets),
                _ => {}
            }
        }
        let mut outputs: Vec<Output<'p>> = Vec::new();
        for local in locals {
            let ty = self.typed.instance(root).local(local).clone();
            let crate::hir::Ident { name, span } = body[local].name;
            let (name, span) = (self.spelling(name).to_owned(), Some(span));
            let Some(value) = self.frame.lookup(self.frame.body, local).cloned() else { continue };
            if !self.can_leave(&ty) {
                continue;
            }
            outputs.retain(|output| output.name != name);
            outputs.push(Output { name, span, value, ty });
        }
        Ok(outputs)
    }

    /// Whether a value can be an output: functions, ranges and differentials cannot.
    pub(super) fn can_leave(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Fn(_) | Ty::Range(_) | Ty::Differential(_) | Ty::Error => false,
            Ty::Tuple(parts) => parts.iter().all(|ty| self.can_leave(ty)),
            Ty::Tensor(inner, _) | Ty::Jagged(inner, _) | Ty::Option(inner) => {
                self.can_leave(inner)
            }
            _ => true,
        }
    }

    fn main_function(&self) -> Option<DefId> {
        let root = self.program.modules.values().next()?;
        let entry = root.scope.entries.iter().find(|((name, space), _)| {
            *space == Namespace::Values && self.spelling(*name) == "main"
        })?;
        match entry.1.res {
            Res::Def(def) => matches!(self.program.def(def).kind, DefKind::Fn(_)).then_some(def),
            _ => None,
        }
    }

    fn call_main(&mut self, def: DefId) -> R<(Val<'p>, Ty)> {
        self.here = self.program.def(def).span;
        // Parameters have their defaults, with which it is checked where nobody calls it.
        let DefKind::Fn(Function { body, .. }) = self.program.def(def).kind else {
            return unsupported(self.here, "this `main`");
        };
        let n_params = self.body_of(body).params.len();
        let is_it = |id: &InstanceId| {
            let instance = self.typed.instance(*id);
            instance.body == body
                && instance.lambda.is_none()
                && (n_params == 0 || instance.uncalled)
        };
        let Some(id) = self.typed.ids().find(is_it) else {
            return unsupported(self.here, "this `main`");
        };
        let ret = self.typed.instance(id).ret.clone();
        let parent = self.typed.instance(id).parent.and_then(|parent| self.frame_of(parent));
        let value = self.call_instance(id, parent.map(Rc::new), vec![None; n_params], &ret)?;
        let value = self.bound(value, "main")?;
        Ok((value, ret))
    }

    /// The names of variants' fields, for printing.
    fn add_labels(&mut self) {
        let names: Vec<(Ty, Ident)> =
            self.type_names.iter().map(|(ty, name)| (ty.clone(), name.clone())).collect();
        let mut labels = Vec::new();
        for (ty, of) in names {
            let Ty::Enum(def, _) = ty else { continue };
            let DefKind::Enum(item) = &self.program.def(def).kind else { continue };
            for variant in &item.variants {
                if let Payload::Fields(fields) = &variant.payload {
                    let name = |f: &crate::hir::Field| Ident::new(self.spelling(f.name.name));
                    labels.push(Labels {
                        of: of.clone(),
                        variant: Ident::new(self.spelling(variant.name.name)),
                        names: fields.iter().map(name).collect(),
                    });
                }
            }
        }
        labels.sort_by(|a, b| (&a.of, &a.variant).cmp(&(&b.of, &b.variant)));
        self.out.labels = labels;
    }
}
