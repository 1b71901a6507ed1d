//! Printing regions and instructions.

use std::fmt;

use einlang_index::Var;

use super::print::{Printer, join};
use super::quoted;
use crate::message::MessagePart;
use crate::module::{Group, Module};
use crate::region::{
    Arg, Combiner, Inst, InstKind, Place, Read, Reduction, Region, Start, Subscript,
};

impl fmt::Display for Arg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Arg::Const(constant) => write!(f, "{constant}"),
            Arg::Value(value) => write!(f, "%{}", value.number),
            Arg::Tensor(name) => write!(f, "{name}"),
        }
    }
}

impl Printer<'_> {
    pub(super) fn region(&mut self, region: &Region) {
        self.braces(|p| {
            if !region.params.is_empty() {
                let defs: Vec<String> = region.params.iter().map(|def| p.def(def)).collect();
                p.line(&format!("|{}|", defs.join(", ")));
            }
            region.insts.iter().for_each(|inst| p.inst(inst));
            let space = if region.results.is_empty() { "" } else { " " };
            p.line(&format!("yield{space}{};", join(&region.results)));
        });
    }

    fn inst(&mut self, inst: &Inst) {
        if let InstKind::Group(group) = &inst.kind {
            return self.group(group);
        }
        let defs: Vec<String> = inst.results.iter().map(|def| self.def(def)).collect();
        let equals = if defs.is_empty() { "" } else { " = " };
        self.start(&format!("{}{equals}", defs.join(", ")));
        self.kind(&inst.kind);
        self.out.push_str(";\n");
    }

    fn kind(&mut self, kind: &InstKind) {
        match kind {
            InstKind::Op(op, args) => self.push(&format!("{} {}", op.name(), join(args))),
            InstKind::Index(expr) => self.push(&format!("index {}", self.quasi(expr))),
            InstKind::Read(read) => self.read(read),
            InstKind::If { condition, then, otherwise } => {
                self.push(&format!("if {condition} "));
                self.region(then);
                self.push(" else ");
                self.region(otherwise);
            }
            InstKind::Switch { on, cases, otherwise } => self.switch(on, cases, otherwise),
            InstKind::Reduce(reduction) => self.reduction(reduction),
            InstKind::Group(group) => self.group(group),
            InstKind::Call { function, args } => {
                self.push(&format!("call {function}({})", join(args)));
            }
            InstKind::HostCall { function, args } => {
                self.push(&format!("host_call {function}({})", join(args)));
            }
            InstKind::Deriv { of, by } => {
                self.push(&format!("deriv {} / {}", self.place(of), self.place(by)));
            }
            InstKind::Param { var, value } => {
                self.push(&format!("param {} = {value}", self.vars.show(*var)));
            }
            InstKind::Converged(var) => self.push(&format!("converged {}", self.vars.show(*var))),
            InstKind::Assert { condition, message } => {
                self.push(&format!("assert {condition} {}", join(&message.0)));
            }
            InstKind::Trap { trap, message } => {
                self.push(&format!("trap {} {}", trap.as_str(), join(&message.0)));
            }
        }
    }

    fn push(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn read(&mut self, read: &Read) {
        let proved = if read.proved { " proved" } else { "" };
        self.push(&format!("read {}{proved}", self.place(&read.place)));
        if let Some(default) = &read.default {
            self.push(" else ");
            self.region(default);
        }
    }

    fn place(&self, place: &Place) -> String {
        let subscript = |subscript: &Subscript| match subscript {
            Subscript::Index(expr) => self.quasi(expr),
            Subscript::Value(arg) => arg.to_string(),
        };
        let at = place.at.iter().map(subscript).collect::<Vec<_>>().join(", ");
        format!("{}[{at}]", place.tensor)
    }

    fn switch(&mut self, on: &Arg, cases: &[(i64, Region)], otherwise: &Region) {
        self.push(&format!("switch {on} "));
        self.braces(|p| {
            for (number, region) in cases {
                p.start(&format!("{number} "));
                p.region(region);
                p.push("\n");
            }
            p.start("else ");
            p.region(otherwise);
            p.push("\n");
        });
    }

    fn reduction(&mut self, reduction: &Reduction) {
        self.push("reduce ");
        match &reduction.combine {
            Combiner::Op(op) => self.push(op.name()),
            Combiner::Region(region) => self.region(region),
        }
        match &reduction.start {
            Start::Identity(args) => self.push(&format!(" identity {}", join(args))),
            Start::Init(args) => self.push(&format!(" init {}", join(args))),
            Start::First => self.push(" first"),
        }
        for (name, _) in reduction.flags.named().into_iter().filter(|flag| flag.1) {
            self.push(&format!(" {name}"));
        }
        self.push(&format!(" over {} ", self.domain(&reduction.domain)));
        self.guard(reduction.guard.as_ref());
        self.push("do ");
        self.region(&reduction.body);
    }
}

/// The index variables that binders introduce, in the order of the text.
pub(super) fn binders(module: &Module) -> Vec<Var> {
    let mut found = Vec::new();
    module.functions.iter().for_each(|function| region_binders(&function.body, &mut found));
    module.groups.iter().for_each(|group| group_binders(group, &mut found));
    found
}

fn group_binders(group: &Group, found: &mut Vec<Var>) {
    for binding in &group.bindings {
        found.extend(binding.dims());
        for clause in &binding.clauses {
            found.extend(clause.domain.dims());
            clause.guard.iter().chain([&clause.body]).for_each(|r| region_binders(r, found));
        }
    }
    if let Some(until) = &group.until {
        found.push(until.index);
        region_binders(&until.condition, found);
    }
}

fn region_binders(region: &Region, found: &mut Vec<Var>) {
    for inst in &region.insts {
        match &inst.kind {
            InstKind::Group(group) => group_binders(group, found),
            InstKind::Reduce(reduction) => {
                if let Combiner::Region(combine) = &reduction.combine {
                    region_binders(combine, found);
                }
                found.extend(reduction.domain.dims());
                let rest = reduction.guard.iter().chain([&reduction.body]);
                rest.for_each(|region| region_binders(region, found));
            }
            _ => inst.regions().into_iter().for_each(|region| region_binders(region, found)),
        }
    }
}

impl fmt::Display for MessagePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MessagePart::Text(text) => f.write_str(&quoted(text)),
            MessagePart::Value(arg, spec) => write!(f, "{arg} as {}", quoted(spec)),
        }
    }
}
