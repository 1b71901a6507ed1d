//! The resolved program as text, for `einlang ir --after names` and for fixtures.
//!
//! Each binding is printed with its number in its body, `x#3`; captured bindings carry a caret,
//! `^k#0`; items are printed with their module path. Operators are prefix, so that grouping shows.

use std::fmt::Write;

use einlang_source::{Interner, Name};

use super::*;

/// Prints a program without the library it uses.
pub fn print(program: &Program, interner: &Interner) -> String {
    let mut printer = Printer { program, interner, out: String::new(), depth: 0 };
    for (id, module) in program.modules.iter().filter(|(_, module)| !module.library) {
        printer.module(id, module);
    }
    printer.out
}

pub(super) struct Printer<'a> {
    pub(super) program: &'a Program,
    interner: &'a Interner,
    out: String,
    depth: usize,
}

impl Printer<'_> {
    pub(super) fn name(&self, name: Name) -> &str {
        self.interner.resolve(name)
    }

    fn line(&mut self, text: &str) {
        let indent = "  ".repeat(self.depth);
        writeln!(self.out, "{indent}{text}").expect("invariant: writing to a string cannot fail");
    }

    fn nested(&mut self, f: impl FnOnce(&mut Self)) {
        self.depth += 1;
        f(self);
        self.depth -= 1;
    }

    fn module(&mut self, id: ModuleId, module: &Module) {
        let title = format!("module {}", self.module_path(id));
        self.line(&title);
        self.nested(|p| {
            for (_, def) in p.program.defs.iter().filter(|(_, def)| def.module == id) {
                p.def(def);
            }
            if let Some(body) = module.body {
                p.statements(&p.program.bodies[body]);
            }
        });
    }

    fn module_path(&self, id: ModuleId) -> String {
        let module = &self.program.modules[id];
        match (module.name, module.parent) {
            (Some(name), Some(parent)) => {
                format!("{}::{}", self.module_path(parent), self.name(name.name))
            }
            (Some(name), None) => self.name(name.name).to_string(),
            (None, _) => "crate".to_string(),
        }
    }

    fn def_path(&self, id: DefId) -> String {
        let def = &self.program.defs[id];
        format!("{}::{}", self.module_path(def.module), self.name(def.name.name))
    }

    fn def(&mut self, def: &Def) {
        let name = self.name(def.name.name).to_string();
        let public = if def.public { "pub " } else { "" };
        match &def.kind {
            DefKind::Fn(function) => self.function(&format!("{public}fn {name}"), function.body),
            DefKind::Rule(rule) => {
                let reverse = if rule.reverse { " reverse" } else { "" };
                let target = self.res(None, rule.target);
                self.function(&format!("rule{reverse} for {target}"), rule.body);
            }
            DefKind::Struct(item) => {
                let fields: Vec<&str> =
                    item.fields.iter().map(|f| self.name(f.name.name)).collect();
                let text = format!("{public}struct {name} {{ {} }}", fields.join(", "));
                self.line(&text);
            }
            DefKind::Enum(item) => {
                let variants: Vec<&str> =
                    item.variants.iter().map(|v| self.name(v.name.name)).collect();
                let text = format!("{public}enum {name} {{ {} }}", variants.join(", "));
                self.line(&text);
            }
            DefKind::Const(item) => self.value_item(&format!("{public}const {name}"), item.body),
            DefKind::Input(item) => self.value_item(&format!("input {name}"), item.body),
        }
    }

    fn value_item(&mut self, head: &str, body: BodyId) {
        let body = &self.program.bodies[body];
        let text = match body.value {
            Some(value) => format!("{head} = {}", self.expr(body, value)),
            None => head.to_string(),
        };
        self.line(&text);
    }

    fn function(&mut self, head: &str, id: BodyId) {
        let body = &self.program.bodies[id];
        let params: Vec<String> =
            body.params.iter().map(|param| self.pattern(body, &param.pattern)).collect();
        let coordinates: Vec<String> =
            body.coordinates.iter().map(|local| self.local(body, *local)).collect();
        let coordinates = if coordinates.is_empty() {
            String::new()
        } else {
            format!("[{}]", coordinates.join(", "))
        };
        let text = format!("{head}{coordinates}({})", params.join(", "));
        self.line(&text);
        self.nested(|p| p.statements(body));
    }

    fn statements(&mut self, body: &Body) {
        match body.value.map(|value| body.kind(value)) {
            Some(ExprKind::Block(block)) => {
                for statement in &block.statements {
                    let text = self.statement(body, statement);
                    self.line(&text);
                }
                if let Some(value) = block.value {
                    let text = self.expr(body, value);
                    self.line(&text);
                }
            }
            _ => {
                if let Some(value) = body.value {
                    let text = self.expr(body, value);
                    self.line(&text);
                }
            }
        }
    }

    pub(super) fn local(&self, body: &Body, local: LocalId) -> String {
        format!("{}#{}", self.name(body.locals[local].name.name), local.index())
    }

    pub(super) fn res(&self, body: Option<&Body>, res: Res) -> String {
        match (res, body) {
            (Res::Local(local), Some(body)) => self.local(body, local),
            (Res::Local(local), None) => format!("#{}", local.index()),
            (Res::Outer(body, local), _) => {
                format!("^{}", self.local(&self.program.bodies[body], local))
            }
            (Res::Def(def), _) => self.def_path(def),
            (Res::Variant(def, position), _) => {
                let variant = match &self.program.defs[def].kind {
                    DefKind::Enum(item) => item.variants.get(position as usize),
                    _ => None,
                };
                let name = variant.map_or("?", |variant| self.name(variant.name.name));
                format!("{}::{name}", self.def_path(def))
            }
            (Res::Module(module), _) => self.module_path(module),
            (Res::Builtin(builtin), _) => builtin.to_string(),
            (Res::Python(path), _) => format!("python:{}", self.name(path)),
            (Res::External, _) => "<external>".to_string(),
            (Res::Error, _) => "<error>".to_string(),
        }
    }
}
