//! A case as a host program with one module of tensor code.

use crate::case::{Case, Clause, Guard, Observer, Read};

pub(crate) const NAMES: [&str; 2] = ["x", "y"];

/// Writes instructions, with fresh numbers for their values.
struct Writer<'a> {
    case: &'a Case,
    n_values: usize,
    text: String,
}

/// The text of the program and the names of its outputs.
pub(crate) fn program(case: &Case) -> (String, Vec<String>) {
    let mut writer = Writer { case, n_values: 0, text: String::new() };
    writer.module();
    let rank = case.rank();
    let (mut outputs, mut types, mut printed) = (Vec::new(), Vec::new(), Vec::new());
    for (at, observer) in case.observers.iter().enumerate() {
        match observer {
            Observer::Printed { of } => printed.push(*of),
            Observer::Plane { .. } => {
                outputs.push(format!("e{at}"));
                types.push(format!("tensor(i32, {})", rank - 1));
            }
            _ => {
                outputs.push(format!("e{at}"));
                types.push("tensor(i32, 0)".to_owned());
            }
        }
    }
    printed.sort_unstable();
    printed.dedup();
    let all: Vec<String> =
        outputs.iter().cloned().chain(printed.iter().map(|of| NAMES[*of].to_owned())).collect();
    let tensors = printed.iter().map(|_| format!("tensor(i32, {rank})"));
    let results: Vec<String> = types
        .iter()
        .cloned()
        .chain(tensors)
        .enumerate()
        .map(|(at, ty)| format!("%{}: {ty}", at + 2))
        .collect();
    let length = if case.symbolic { format!(", {}i64", case.extents[0]) } else { String::new() };
    let given: Vec<String> = (0..outputs.len()).map(|at| format!("%{}", at + 2)).collect();
    let prints: String =
        (0..printed.len()).map(|at| format!("print(%{});\n", at + 2 + outputs.len())).collect();
    let text = format!(
        "program {{ module part {{ {} output {}; }}\nfn entry -> ({}) {{\n|%0: tensor(i32, 1), %1: tensor(i32, 0)|\n{} = run part(%0, %1{length});\n{prints}yield {};\n}}\nentry entry; }}",
        writer.text,
        all.join(", "),
        types.join(", "),
        results.join(", "),
        given.join(", "),
    );
    (text, outputs)
}

fn indices(binding: usize) -> [String; 3] {
    ["t", "i", "j"].map(|name| format!("{name}{binding}"))
}

fn plus(name: &str, by: i64) -> String {
    match by {
        0 => name.to_owned(),
        by if by > 0 => format!("{name} + {by}"),
        by => format!("{name} - {}", -by),
    }
}

impl Writer<'_> {
    fn value(&mut self) -> String {
        self.n_values += 1;
        format!("%{}", self.n_values - 1)
    }

    /// The end of an axis moved by a number.
    fn end(&self, axis: usize, by: i64) -> String {
        match self.case.symbolic && axis == 0 {
            true => plus("T", by),
            false => (self.case.extents[axis] + by).to_string(),
        }
    }

    fn axes(&self, names: &[String]) -> String {
        let axis = |axis: usize| format!("{} < {}", names[axis], self.end(axis, 0));
        (0..self.case.rank()).map(axis).collect::<Vec<_>>().join(", ")
    }

    fn module(&mut self) {
        if self.case.symbolic {
            self.text += "symbol T; assume T >= 6;\n";
        }
        for (at, observer) in self.case.observers.iter().enumerate() {
            if matches!(observer, Observer::Function { .. }) {
                for axis in 0..self.case.rank() {
                    self.text += &format!("symbol n{at}_{axis} = shape v{at} {axis};\n");
                }
            }
        }
        self.text += "input mask: i32[3];\ninput pick: i32[];\n";
        for (at, observer) in self.case.observers.iter().enumerate() {
            if matches!(observer, Observer::Function { .. }) {
                self.function(at);
            }
        }
        let reads = |reader: usize, of: usize| {
            let clauses = self.case.bindings.get(reader).into_iter().flatten();
            clauses.flat_map(|clause| &clause.reads).any(|read| read.of() == of)
        };
        let (forth, back) = (reads(0, 1), reads(1, 0));
        if forth && back {
            self.text += "group {\n";
        }
        let order = if forth && !back { vec![1, 0] } else { vec![0, 1] };
        for binding in order.into_iter().filter(|at| *at < self.case.bindings.len()) {
            self.binding(binding);
        }
        if forth && back {
            self.text += "}\n";
        }
        for (at, observer) in self.case.observers.iter().enumerate() {
            self.observer(at, observer);
        }
    }

    fn function(&mut self, at: usize) {
        let rank = self.case.rank();
        let dims: Vec<String> = (0..rank).map(|axis| format!("n{at}_{axis}")).collect();
        let last = |axis: usize| match self.case.descending[axis] {
            true => "0".to_owned(),
            false => format!("n{at}_{axis} - 1"),
        };
        let read: Vec<String> = (0..rank).map(last).collect();
        let value = self.value();
        self.text += &format!(
            "fn f{at} {{ |v{at}: i32[{}]|\n{value}: i32 = read v{at}[{}];\nyield {value}; }}\n",
            dims.join(", "),
            read.join(", ")
        );
    }

    fn binding(&mut self, binding: usize) {
        let names = indices(binding);
        self.text += &format!("binding {}: i32[{}] {{\n", NAMES[binding], self.axes(&names));
        for clause in &self.case.bindings[binding] {
            self.clause(&names, clause);
        }
        self.text += "}\n";
    }

    fn clause(&mut self, names: &[String; 3], clause: &Clause) {
        let case = self.case;
        let mut conditions: Vec<String> = Vec::new();
        for (axis, (low, high)) in clause.ranges.iter().enumerate() {
            // The upper end moves with the box, unless it is near the lower one.
            let high = match high - low > 1 {
                true => self.end(axis, high - case.extents[axis]),
                false => high.to_string(),
            };
            conditions.push(format!("{low} <= {0} and {0} < {high}", names[axis]));
        }
        if clause.guard == Guard::Ordered {
            conditions.push(format!("{} <= {}", names[0], names[case.rank() - 1]));
        }
        let dims = names[..case.rank()].join(", ");
        self.text += &format!("clause {{ [{dims}] : {} }} ", conditions.join(" and "));
        if clause.guard == Guard::Data {
            let (mask, holds) = (self.value(), self.value());
            self.text += &format!(
                "where {{ {mask}: i32 = read mask[{} % 3]; {holds}: bool = gt {mask}, 0i32; yield {holds}; }} ",
                names[0]
            );
        }
        self.text += "{\n";
        let mut sum = "1i32".to_owned();
        for read in &clause.reads {
            let value = self.read(names, read);
            let next = self.value();
            self.text += &format!("{next}: i32 = add {sum}, {value};\n");
            sum = next;
        }
        self.text += &format!("yield {sum};\n}}\n");
    }

    fn read(&mut self, names: &[String; 3], read: &Read) -> String {
        let (of, rank) = (NAMES[read.of()], self.case.rank());
        let along = |axis: usize, what: &str| -> String {
            let own = |at: usize| if at == axis { what.to_owned() } else { names[at].clone() };
            (0..rank).map(own).collect::<Vec<_>>().join(", ")
        };
        let value = self.value();
        match read {
            Read::Offset { offset, default, .. } => {
                let at: Vec<String> =
                    offset.iter().enumerate().map(|(axis, by)| plus(&names[axis], *by)).collect();
                let default = if *default { " else { yield 0i32; }" } else { "" };
                self.text += &format!("{value}: i32 = read {of}[{}]{default};\n", at.join(", "));
            }
            Read::Reduced { axis, n, .. } => {
                let (k, term) = (format!("k{}", self.n_values), self.value());
                let sign = if self.case.descending[*axis] { "+" } else { "-" };
                let at = along(*axis, &format!("{} {sign} {k}", names[*axis]));
                self.text += &format!(
                    "{value}: i32 = reduce add identity 0i32 commutative over {{ [{k}] : 1 <= {k} <= {n} }} do {{\n{term}: i32 = read {of}[{at}];\nyield {term}; }};\n"
                );
            }
            Read::Data { axis, .. } => {
                let (mask, index, at) = (self.value(), self.value(), self.value());
                let (op, step) = if self.case.descending[*axis] { ("add", 1) } else { ("sub", -1) };
                self.text += &format!("{mask}: i32 = read mask[{} % 3];\n", names[*axis]);
                self.text += &format!("{index}: i32 = index {};\n", plus(&names[*axis], step));
                self.text += &format!("{at}: i32 = {op} {index}, {mask};\n");
                self.text += &format!("{value}: i32 = read {of}[{}];\n", along(*axis, &at));
            }
        }
        value
    }

    /// A subscript so many points from where the axis stops.
    fn counted_back(&self, axis: usize, back: i64) -> String {
        match self.case.descending[axis] {
            true => back.to_string(),
            false => self.end(axis, -1 - back),
        }
    }

    fn observer(&mut self, at: usize, observer: &Observer) {
        let (of, rank) = (NAMES[observer.of()], self.case.rank());
        let own: Vec<String> = (0..rank).map(|axis| format!("o{at}_{axis}")).collect();
        let mut axes: Vec<usize> = Vec::new();
        let mut before = String::new();
        let mut subscripts: Vec<String> =
            (0..rank).map(|axis| self.counted_back(axis, 0)).collect();
        let value = self.value();
        match observer {
            Observer::Printed { .. } => return,
            Observer::Point { back, .. } => {
                subscripts = (0..rank).map(|axis| self.counted_back(axis, back[axis])).collect();
            }
            Observer::Function { .. } => {
                self.text += &format!(
                    "binding e{at}: i32[] {{ clause {{ [] }} {{ {value}: i32 = call f{at}({of}); yield {value}; }} }}\n"
                );
                return;
            }
            Observer::Suffix { axis, n, .. } => {
                let k = format!("s{at}");
                subscripts[*axis] = match self.case.descending[*axis] {
                    true => k.clone(),
                    false => format!("{} - {k}", self.end(*axis, -1)),
                };
                return self.reduced(at, of, &[format!("0 <= {k} < {n}")], &[k], &subscripts);
            }
            Observer::Plane { axis, .. } => {
                axes = (0..rank).filter(|a| a != axis).collect();
                axes.iter().for_each(|a| subscripts[*a] = own[*a].clone());
            }
            Observer::Whole { .. } => {
                let bounds: Vec<String> =
                    (0..rank).map(|a| format!("0 <= {} < {}", own[a], self.end(a, 0))).collect();
                return self.reduced(at, of, &bounds, &own, &own);
            }
            Observer::Dynamic { .. } => {
                let pick = self.value();
                before = format!("{pick}: i32 = read pick[];\n");
                subscripts[0] = pick;
            }
            Observer::Fixed { .. } => {
                let far = |axis: usize| match self.case.descending[axis] {
                    true => self.end(axis, -1),
                    false => "0".to_owned(),
                };
                subscripts = (0..rank).map(far).collect();
            }
        }
        let dims: Vec<String> =
            axes.iter().map(|a| format!("{} < {}", own[*a], self.end(*a, 0))).collect();
        let names: Vec<String> = axes.iter().map(|a| own[*a].clone()).collect();
        let bounds: Vec<String> = axes
            .iter()
            .map(|a| format!("0 <= {0} and {0} < {1}", own[*a], self.end(*a, 0)))
            .collect();
        let bounds =
            if bounds.is_empty() { String::new() } else { format!(" : {}", bounds.join(" and ")) };
        self.text += &format!(
            "binding e{at}: i32[{}] {{ clause {{ [{}]{bounds} }} {{ {before}{value}: i32 = read {of}[{}]; yield {value}; }} }}\n",
            dims.join(", "),
            names.join(", "),
            subscripts.join(", "),
        );
    }

    /// An observer that adds up what it reads.
    fn reduced(
        &mut self,
        at: usize,
        of: &str,
        bounds: &[String],
        dims: &[String],
        read: &[String],
    ) {
        let (sum, term) = (self.value(), self.value());
        self.text += &format!(
            "binding e{at}: i32[] {{ clause {{ [] }} {{ {sum}: i32 = reduce add identity 0i32 commutative over {{ [{}] : {} }} do {{ {term}: i32 = read {of}[{}]; yield {term}; }}; yield {sum}; }} }}\n",
            dims.join(", "),
            bounds.join(" and "),
            read.join(", "),
        );
    }
}
