//! The layouts of a program as text, for `einlang check --coords` and `einlang ir --after coords`:
//! each function for each layouts of its arguments, and for each of its bindings the layout, the
//! coordinates that its reductions consume, and the operands that are broadcast.

use einlang_source::map::HashMap;
use std::fmt::Write;

use einlang_source::{Interner, Name};

use super::layout::{Coordinate, Layout, axis_text};
use super::result::{Coords, Variant};
use crate::hir::{Body, ExprId, LocalId, LocalKind, Owner, Program};
use crate::types::{Instance, Ty, Typed};

/// Prints the variants that are reached, in the order in which they were found.
pub fn print(coords: &Coords, typed: &Typed, program: &Program, interner: &Interner) -> String {
    let mut out = String::new();
    for variant in coords.variants.iter().filter(|variant| variant.reached) {
        let Some(instance) = variant.instance.map(|id| typed.instance(id)) else { continue };
        let body = &program.bodies[instance.body];
        if instance.uncalled || is_constant(body, instance, program) || is_library(body, program) {
            continue;
        }
        let printer = Printer { variant, instance, body, program, interner };
        let text = printer.text();
        write!(out, "{text}").expect("invariant: writing to a string cannot fail");
    }
    out
}

/// Constants and default values have no bindings to show.
fn is_constant(body: &Body, instance: &Instance, program: &Program) -> bool {
    use crate::hir::DefKind;
    match body.owner {
        Owner::Def(def) => {
            instance.lambda.is_none() && !matches!(program.def(def).kind, DefKind::Fn(_))
        }
        Owner::Module(_) => false,
    }
}

/// The library is there for everybody; what is shown is the program.
fn is_library(body: &Body, program: &Program) -> bool {
    let module = match body.owner {
        Owner::Def(def) => program.def(def).module,
        Owner::Module(module) => module,
    };
    program.modules[module].library
}

struct Printer<'a> {
    variant: &'a Variant,
    instance: &'a Instance,
    body: &'a Body,
    program: &'a Program,
    interner: &'a Interner,
}

impl Printer<'_> {
    fn text(&self) -> String {
        let mut lines = vec![self.head()];
        let mut facts = self.facts();
        for local in self.bindings() {
            let name = self.name(self.body[local].name.name);
            let layout = self.layout(self.variant.locals.get(&local), self.instance.local(local));
            lines.push(format!("  {name}: {layout}"));
            lines.extend(facts.remove(&Some(local)).unwrap_or_default());
        }
        if let Some(rest) = facts.remove(&None) {
            lines.push("  value".to_string());
            lines.extend(rest);
        }
        lines.push(String::new());
        lines.join("\n")
    }

    fn name(&self, name: Name) -> &str {
        self.interner.resolve(name)
    }

    /// The layout of a binding, with a place for each part of a record.
    fn layout(&self, layout: Option<&Layout>, ty: &Ty) -> String {
        let layout = layout.cloned().unwrap_or_default();
        match ty {
            Ty::Fn(_) => "fn".to_string(),
            _ => layout.show(self.interner),
        }
    }

    fn head(&self) -> String {
        let params = self.variant.params.iter().zip(&self.instance.params);
        let names = self.body.params.iter().map(|param| {
            super::calls::param_name(self.body, param).map(|name| format!("{}: ", self.name(name)))
        });
        let names: Vec<Option<String>> = match self.instance.lambda {
            Some(_) => Vec::new(),
            None => names.collect(),
        };
        let params = params.enumerate().map(|(position, (layout, ty))| {
            let name = names.get(position).cloned().flatten().unwrap_or_default();
            format!("{name}{}", self.layout(Some(layout), ty))
        });
        let params = params.collect::<Vec<_>>().join(", ");
        let ret = self.layout(Some(&self.variant.ret), &self.instance.ret);
        if self.instance.lambda.is_some() {
            return format!("lambda({params}) -> {ret}");
        }
        match self.body.owner {
            Owner::Module(module) => match self.program.modules[module].name {
                Some(name) => format!("module {}", self.name(name.name)),
                None => "module crate".to_string(),
            },
            Owner::Def(def) => {
                let name = self.name(self.program.def(def).name.name);
                format!("fn {name}({params}) -> {ret}")
            }
        }
    }

    /// The bindings that a reader wrote with `let`, in source order.
    fn bindings(&self) -> Vec<LocalId> {
        let written =
            |id: &LocalId| matches!(self.body[*id].kind, LocalKind::Let | LocalKind::Indexed);
        let mut ids: Vec<LocalId> = self.variant.locals.keys().filter(written).collect();
        ids.sort_by_key(|id| (self.body[*id].name.span.start, *id));
        ids
    }

    /// What each definition consumes and broadcasts, in source order; what belongs to none is of
    /// the value.
    fn facts(&self) -> HashMap<Option<LocalId>, Vec<String>> {
        let sorted = |mut exprs: Vec<ExprId>| {
            exprs.sort_by_key(|expr| (self.body.span(*expr).start, self.body.span(*expr).end));
            exprs
        };
        let mut facts: HashMap<Option<LocalId>, Vec<String>> = HashMap::default();
        let binding = |expr: &ExprId| self.variant.binding_of.get(expr).copied();
        for expr in sorted(self.variant.consumed.keys().copied().collect()) {
            let names = &self.variant.consumed[&expr];
            if !names.is_empty() {
                let line = format!("    consumes {}", self.coordinates(names));
                facts.entry(binding(&expr)).or_default().push(line);
            }
        }
        for expr in sorted(self.variant.broadcasts.keys().copied().collect()) {
            for broadcast in &self.variant.broadcasts[&expr] {
                let tensors: Vec<&str> =
                    broadcast.tensors.iter().map(|name| self.name(*name)).collect();
                let missing = self.coordinates(&broadcast.missing);
                let line = format!("    broadcasts {} over {missing}", tensors.join(", "));
                facts.entry(binding(&expr)).or_default().push(line);
            }
        }
        facts
    }

    fn coordinates(&self, list: &[Coordinate]) -> String {
        let axes = list.iter().map(|c| axis_text(super::Axis::named(*c), self.interner));
        axes.collect::<Vec<_>>().join(", ")
    }
}
