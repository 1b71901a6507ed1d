//! The text form of kernels, which reads back as printed.

use std::collections::BTreeSet;
use std::fmt::{self, Write};

use einlang_index::{Domain, MinMax, Quasi, Var};
use einlang_tir::region::Value;

use super::{
    Access, Block, BufferId, Combine, Condition, Fold, FoldStart, Kernel, Loop, Operand, Own,
    Range, Role, Size, Stmt, Subscript,
};
use crate::schedule::show_layout;
use crate::text::{quote, show_name};

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut printer = Printer { kernel: self, out: String::new(), used: BTreeSet::new() };
        printer.declarations();
        printer.out += "  body {\n";
        printer.block(&self.body, 2);
        printer.out += "  }\n";
        writeln!(f, "kernel {} {{", show_name(&self.name))?;
        for (word, kind) in [
            ("symbols", einlang_index::VarKind::Symbol),
            ("indices", einlang_index::VarKind::Index),
        ] {
            let names = printer.used.iter().filter(|var| var.kind() == kind);
            let names = names.filter_map(|var| self.vars.name(*var)).map(show_name);
            let names: Vec<String> = names.collect();
            if !names.is_empty() {
                writeln!(f, "  {word} {};", names.join(", "))?;
            }
        }
        f.write_str(&printer.out)?;
        f.write_str("}\n")
    }
}

struct Printer<'k> {
    kernel: &'k Kernel,
    out: String,
    used: BTreeSet<Var>,
}

impl Printer<'_> {
    fn declarations(&mut self) {
        for (var, size) in &self.kernel.sizes {
            let name = self.var(*var);
            let from = match size {
                Size::Argument => "argument".to_owned(),
                Size::Shape(buffer, axis) => format!("shape {} {axis}", buffer.0),
            };
            self.line(1, &format!("size {name} = {from};"));
        }
        for (at, buffer) in self.kernel.buffers.iter().enumerate() {
            let kind = if at < self.kernel.n_inputs { "input " } else { "" };
            let dims: Vec<String> = (buffer.dims.iter())
                .map(|dim| format!("{} ({})", show_layout(&dim.layout), self.quasi(&dim.extent)))
                .collect();
            let marks = if buffer.marks { " marks" } else { "" };
            let stack = if buffer.stack { " stack" } else { "" };
            let unset = if buffer.unset { " unset" } else { "" };
            let name = show_name(buffer.name.as_str());
            let line = format!(
                "buffer {at} {kind}{name}: {}[{}]{marks}{stack}{unset};",
                buffer.elem,
                dims.join(", ")
            );
            self.line(1, &line);
        }
        for (at, site) in self.kernel.sites.iter().enumerate() {
            self.line(1, &format!("site {at} {};", quote(&site.what)));
        }
        let outputs = self.kernel.outputs.iter().map(|buffer| buffer.0.to_string());
        let outputs: Vec<String> = outputs.collect();
        if !outputs.is_empty() {
            self.line(1, &format!("output {};", outputs.join(", ")));
        }
    }

    fn line(&mut self, depth: usize, text: &str) {
        let _ = writeln!(self.out, "{}{text}", "  ".repeat(depth));
    }

    fn var(&mut self, var: Var) -> String {
        self.used.insert(var);
        self.kernel.vars.name(var).map_or_else(|| "?".to_owned(), show_name)
    }

    fn quasi(&mut self, expr: &Quasi) -> String {
        expr.for_each_var(&mut |var| {
            self.used.insert(var);
        });
        expr.display(&self.kernel.vars).to_string()
    }

    fn bound(&mut self, bound: &MinMax) -> String {
        bound.for_each_var(&mut |var| {
            self.used.insert(var);
        });
        bound.display(&self.kernel.vars).to_string()
    }

    fn domain(&mut self, domain: &Domain) -> String {
        self.used.extend(domain.sets().iter().flat_map(|set| set.vars()));
        domain.display(&self.kernel.vars).to_string()
    }

    fn condition(&mut self, condition: &Condition) -> String {
        match condition {
            Condition::Value(operand) => show(operand),
            Condition::Within(domain) => format!("within {}", self.domain(domain)),
        }
    }

    fn place(&mut self, buffer: BufferId, at: &[Subscript]) -> String {
        let at: Vec<String> = (at.iter())
            .map(|subscript| match subscript {
                Subscript::Index(expr) => format!("({})", self.quasi(expr)),
                Subscript::Value(operand) => show(operand),
            })
            .collect();
        format!("{}[{}]", buffer.0, at.join(", "))
    }

    fn range(&mut self, range: &Range) -> String {
        let (lo, hi) = (self.bound(&range.lo), self.bound(&range.hi));
        let down = if range.down { " down" } else { "" };
        format!("{} in ({lo}, {hi}){down}", self.var(range.var))
    }

    fn block(&mut self, block: &Block, depth: usize) {
        block.stmts.iter().for_each(|stmt| self.stmt(stmt, depth));
        if !block.results.is_empty() {
            let line = format!("yield {};", shows(&block.results));
            self.line(depth, &line);
        }
    }

    fn stmt(&mut self, stmt: &Stmt, depth: usize) {
        let line = match stmt {
            Stmt::Op { result, op, args, site } => {
                let site = site.map_or(String::new(), |site| format!(" site {}", site.0));
                format!("{} = {} {}{site};", defined(&[*result]), op.name(), shows(args))
            }
            Stmt::Index { result, expr } => {
                format!("{} = index ({});", defined(&[*result]), self.quasi(expr))
            }
            Stmt::Bind { var, expr } => {
                let expr = self.bound(expr);
                format!("bind {} = ({expr});", self.var(*var))
            }
            Stmt::Param { var, value, site } => {
                format!("param {} = {} site {};", self.var(*var), show(value), site.0)
            }
            Stmt::Load { result, buffer, at, access } => {
                let access = match access {
                    Access::Proved => "proved".to_owned(),
                    Access::Ahead(parts) => format!("proved ahead {parts}"),
                    Access::Site(site, false) => format!("site {}", site.0),
                    Access::Site(site, true) => format!("site {} marked", site.0),
                };
                let place = self.place(*buffer, at);
                format!("{} = load {place} {access};", defined(&[*result]))
            }
            Stmt::Probe { result, buffer, at, marked } => {
                let marked = if *marked { " marked" } else { "" };
                let place = self.place(*buffer, at);
                format!("{} = probe {place}{marked};", defined(&[*result]))
            }
            Stmt::Store { buffer, at, value } => {
                let at: Vec<Subscript> = at.iter().cloned().map(Subscript::Index).collect();
                format!("store {} = {};", self.place(*buffer, &at), show(value))
            }
            Stmt::If { results, condition, then, otherwise } => {
                let head =
                    if results.is_empty() { String::new() } else { defined(results) + " = " };
                let condition = self.condition(condition);
                self.line(depth, &format!("{head}if {condition} {{"));
                self.block(then, depth + 1);
                if !otherwise.stmts.is_empty() || !otherwise.results.is_empty() {
                    self.line(depth, "} else {");
                    self.block(otherwise, depth + 1);
                }
                "}".to_owned()
            }
            Stmt::Loop(of) => return self.looped(of, depth),
            Stmt::Fold(fold) => return self.fold(fold, depth),
            Stmt::CheckShape(buffer, site) => format!("check_shape {} site {};", buffer.0, site.0),
            Stmt::Alloc(buffer) => format!("alloc {};", buffer.0),
            Stmt::Free(buffer) => format!("free {};", buffer.0),
            Stmt::Copy { to, from } => format!("copy {} from {};", to.0, from.0),
            Stmt::Call { results, function, args, site } => {
                let function = show_name(function.as_str());
                format!("{} = call {function}({}) site {};", defined(results), shows(args), site.0)
            }
            Stmt::Assert { condition, site } => {
                format!("assert {} site {};", self.condition(condition), site.0)
            }
            Stmt::Trap(site) => format!("trap {};", site.0),
            Stmt::Team(block) => {
                self.line(depth, "team {");
                self.block(block, depth + 1);
                "}".to_owned()
            }
            Stmt::Barrier => "barrier;".to_owned(),
        };
        self.line(depth, &line);
    }

    fn looped(&mut self, of: &Loop, depth: usize) {
        let own = match of.own {
            Own::All => "",
            Own::Part => " own",
            Own::Taken => " taken",
        };
        let role = show_role(of.role);
        let range = self.range(&of.range);
        self.line(depth, &format!("loop {range} {role}{own} {{"));
        self.block(&of.body, depth + 1);
        if let Some(until) = &of.until {
            let grows: Vec<String> = until.buffers.iter().map(|b| b.0.to_string()).collect();
            let (extent, first) = (self.var(until.extent), self.bound(&until.first));
            let converged = defined(&[until.converged]);
            let line = format!(
                "}} until {extent} from ({first}) gives {converged} grows ({}) {{",
                grows.join(", ")
            );
            self.line(depth, &line);
            self.block(&until.condition, depth + 1);
        }
        self.line(depth, "}");
    }

    fn fold(&mut self, fold: &Fold, depth: usize) {
        let ranges: Vec<String> = fold.ranges.iter().map(|range| self.range(range)).collect();
        let start = match &fold.start {
            FoldStart::From(operands) => format!("from ({})", shows(operands)),
            FoldStart::First(site) => format!("first site {}", site.0),
        };
        let how = match &fold.combine {
            Combine::Op(op) => op.name().to_owned(),
            Combine::Pairs(op) => format!("{} pairs", op.name()),
            Combine::Block { .. } => "block".to_owned(),
        };
        let within = match &fold.within {
            Some(domain) => format!(" within {}", self.domain(domain)),
            None => String::new(),
        };
        let resume = match fold.resume {
            Some(var) => format!(" resume {}", self.var(var)),
            None => String::new(),
        };
        let line = format!(
            "{} = fold {how} {start} over ({}){within}{resume} {{",
            defined(&fold.results),
            ranges.join(", ")
        );
        self.line(depth, &line);
        if let Some(guard) = &fold.guard {
            self.block(guard, depth + 1);
            self.line(depth, "} guards {");
        }
        self.block(&fold.body, depth + 1);
        if let Some(key) = &fold.key {
            self.line(depth, &format!("}} key {} {{", show(&key.bin)));
            self.block(&key.block, depth + 1);
        }
        if let Combine::Block { left, right, block } = &fold.combine {
            let line = format!("}} combine ({}) ({}) {{", defined(left), defined(right));
            self.line(depth, &line);
            self.block(block, depth + 1);
        }
        self.line(depth, "}");
    }
}

fn show(operand: &Operand) -> String {
    match operand {
        Operand::Const(constant) => constant.to_string(),
        Operand::Value(value) => format!("%{}", value.number),
    }
}

fn shows(operands: &[Operand]) -> String {
    operands.iter().map(show).collect::<Vec<_>>().join(", ")
}

/// Values with their types, as they are defined.
fn defined(values: &[Value]) -> String {
    let each = values.iter().map(|value| format!("%{}: {}", value.number, value.elem));
    each.collect::<Vec<_>>().join(", ")
}

/// The text of a role.
pub(crate) fn show_role(role: Role) -> String {
    match role {
        Role::Seq => "seq".to_owned(),
        Role::Par => "par".to_owned(),
        Role::Lane(width) => format!("lane {width}"),
        Role::Unroll(rounds) => format!("unroll {rounds}"),
        Role::Terms(block) => format!("terms {block}"),
        Role::Wave => "wave".to_owned(),
    }
}
