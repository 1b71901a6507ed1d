//! Printing programs; the grammar is in [`super::parse`].

use std::fmt;

use super::{Block, FormatPart, HostArg, HostDef, HostFn, HostInst, HostKind, Program, TypeDecl};
use crate::text::quoted;

/// The text form of a program.
pub fn print_program(program: &Program) -> String {
    let mut printer = Printer { out: String::new(), depth: 0 };
    printer.start("program ");
    printer.braces(|p| p.items(program));
    printer.out.push('\n');
    printer.out
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&print_program(self))
    }
}

impl fmt::Display for HostArg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HostArg::Const(constant) => write!(f, "{constant}"),
            HostArg::Str(text) => f.write_str(&quoted(text)),
            HostArg::Value(number) => write!(f, "%{number}"),
        }
    }
}

impl fmt::Display for HostDef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "%{}: {}", self.number, self.ty)
    }
}

fn join<T: fmt::Display>(items: &[T]) -> String {
    items.iter().map(T::to_string).collect::<Vec<_>>().join(", ")
}

struct Printer {
    out: String,
    depth: usize,
}

impl Printer {
    fn start(&mut self, text: &str) {
        self.out.extend(std::iter::repeat_n("  ", self.depth));
        self.out.push_str(text);
    }

    fn line(&mut self, text: &str) {
        self.start(text);
        self.out.push('\n');
    }

    fn braces(&mut self, inside: impl FnOnce(&mut Self)) {
        self.out.push_str("{\n");
        self.depth += 1;
        inside(self);
        self.depth -= 1;
        self.start("}");
    }

    fn items(&mut self, program: &Program) {
        program.types.iter().for_each(|decl| self.type_decl(decl));
        for labels in &program.labels {
            let names = join(&labels.names);
            self.line(&format!("labels {} {}({names});", labels.of, labels.variant));
        }
        for module in &program.modules {
            module.to_string().lines().for_each(|line| self.line(line));
        }
        program.functions.iter().for_each(|function| self.function(function));
        if let Some(entry) = &program.entry {
            self.line(&format!("entry {entry};"));
        }
    }

    fn type_decl(&mut self, decl: &TypeDecl) {
        let (word, name, parts): (_, _, Vec<String>) = match decl {
            TypeDecl::Struct { name, fields } => {
                ("struct", name, fields.iter().map(|(name, ty)| format!("{name}: {ty}")).collect())
            }
            TypeDecl::Enum { name, variants } => {
                let variant = |v: &super::Variant| format!("{}({})", v.name, join(&v.fields));
                ("enum", name, variants.iter().map(variant).collect())
            }
        };
        self.line(&format!("{word} {name} {{ {} }}", parts.join(", ")));
    }

    fn function(&mut self, function: &HostFn) {
        let rule = function.rule.as_ref().map_or(String::new(), |rule| {
            let way = if rule.reverse { "reverse" } else { "forward" };
            format!(" rule {way} {}({})", rule.function, join(&rule.silent))
        });
        self.start(&format!("fn {}{rule} -> ({}) ", function.name, join(&function.results)));
        self.block(&function.body);
        self.out.push('\n');
    }

    fn block(&mut self, block: &Block) {
        self.braces(|p| {
            if !block.params.is_empty() {
                p.line(&format!("|{}|", join(&block.params)));
            }
            block.insts.iter().for_each(|inst| p.inst(inst));
            let space = if block.results.is_empty() { "" } else { " " };
            p.line(&format!("yield{space}{};", join(&block.results)));
        });
    }

    fn inst(&mut self, inst: &HostInst) {
        let equals = if inst.results.is_empty() { "" } else { " = " };
        self.start(&format!("{}{equals}", join(&inst.results)));
        match control(&inst.kind) {
            Some(head) => self.control(&head, &inst.kind),
            None => self.out.push_str(&simple(&inst.kind)),
        }
        self.out.push_str(";\n");
    }

    /// Instructions with blocks.
    fn control(&mut self, head: &str, kind: &HostKind) {
        self.out.push_str(head);
        match kind {
            HostKind::If(_, then, otherwise) => {
                self.block(then);
                self.out.push_str(" else ");
                self.block(otherwise);
            }
            HostKind::Switch(_, cases, otherwise) => self.braces(|p| {
                cases.iter().for_each(|(number, block)| p.arm(&number.to_string(), block));
                p.arm("else", otherwise);
            }),
            HostKind::Match(_, arms, otherwise) => self.braces(|p| {
                arms.iter().for_each(|(name, block)| p.arm(&name.to_string(), block));
                otherwise.iter().for_each(|block| p.arm("else", block));
            }),
            HostKind::For(_, _, _, body) | HostKind::Try(body) => self.block(body),
            HostKind::While(_, condition, body) => {
                self.block(condition);
                self.out.push_str(" do ");
                self.block(body);
            }
            _ => {}
        }
    }

    fn arm(&mut self, label: &str, block: &Block) {
        self.start(&format!("{label} "));
        self.block(block);
        self.out.push('\n');
    }
}

/// What stands before the blocks of an instruction that has some.
fn control(kind: &HostKind) -> Option<String> {
    Some(match kind {
        HostKind::If(condition, ..) => format!("if {condition} "),
        HostKind::Switch(on, ..) => format!("switch {on} "),
        HostKind::Match(on, ..) => format!("match {on} "),
        HostKind::For(lo, hi, carried, _) => format!("for {lo}, {hi} carry({}) ", join(carried)),
        HostKind::While(carried, ..) => format!("while carry({}) ", join(carried)),
        HostKind::Try(_) => "try ".to_owned(),
        _ => return None,
    })
}

/// Instructions without blocks.
fn simple(kind: &HostKind) -> String {
    match kind {
        HostKind::Op(op, args) => format!("{} {}", op.name(), join(args)),
        HostKind::Tuple(args) => format!("tuple({})", join(args)),
        HostKind::Struct(name, args) => format!("struct {name}({})", join(args)),
        HostKind::Variant(name, variant, args) => {
            format!("variant {name} {variant}({})", join(args))
        }
        HostKind::List(args) => format!("list({})", join(args)),
        HostKind::Field(of, at) => format!("field {of}, {at}"),
        HostKind::Call(name, args) => format!("call {name}({})", join(args)),
        HostKind::Closure(name, args) => format!("closure {name}({})", join(args)),
        HostKind::Apply(callee, args) => format!("apply {callee}({})", join(args)),
        HostKind::Run(name, args) => format!("run {name}({})", join(args)),
        HostKind::Format(parts) => format!("format({})", join(parts)),
        HostKind::Intrinsic(intrinsic, args) => format!("{}({})", intrinsic.name(), join(args)),
        HostKind::Assert(condition, message) => format!("assert {condition} {}", quoted(message)),
        HostKind::Trap(trap, message) => format!("trap {} {}", trap.as_str(), quoted(message)),
        HostKind::Fail(trap, message) => format!("fail {} {message}", trap.as_str()),
        HostKind::If(..)
        | HostKind::Switch(..)
        | HostKind::Match(..)
        | HostKind::For(..)
        | HostKind::While(..)
        | HostKind::Try(_) => String::new(),
    }
}

impl fmt::Display for FormatPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FormatPart::Text(text) => f.write_str(&quoted(text)),
            FormatPart::Value(arg, spec) => write!(f, "{arg} as {}", quoted(spec)),
        }
    }
}
