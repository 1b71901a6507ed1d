//! The text form of schedules, which reads back as printed.
//!
//! ```text
//! schedule part {
//!   group {
//!     tensor D here [mod 2, full];
//!     loop D/0 by (1, 0), D/1 by (1, 0) + 1 {
//!       points D/0 (0, 1) par;
//!       points D/1 (0, 1) par;
//!     }
//!   }
//! }
//! ```

use std::fmt;

use einlang_tir::order::{Form, Statement};
use einlang_tir::types::Ident;

use super::replay::parse_replay;
use super::{Compute, Fma, GroupSchedule, Layout, Nest, Pack, Role, Schedule, TensorSchedule};
use crate::ir::{parse_role, show_role};
use crate::text::{Cursor, Parsed, TextError, show_name};

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fma = match self.fma {
            Fma::Nowhere => "",
            Fma::Steps => " fma steps",
            Fma::Everywhere => " fma",
        };
        let chains = if self.chains { " chains" } else { "" };
        let alone = if self.alone { " alone" } else { "" };
        writeln!(f, "schedule {}{fma}{chains}{alone} {{", show_name(&self.module))?;
        for (name, value) in &self.variant {
            writeln!(f, "  variant {} = {value};", show_name(name))?;
        }
        self.packs.iter().try_for_each(|pack| show_pack(pack, 1, f))?;
        self.replays.iter().try_for_each(|replay| replay.fmt(f))?;
        self.groups.iter().try_for_each(|group| show_group(group, f))?;
        f.write_str("}\n")
    }
}

fn show_pack(pack: &Pack, depth: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let (indent, Pack { tensor, axis, under, from, width, ahead, rows, in_blocks }) =
        ("  ".repeat(depth), pack);
    write!(f, "{indent}pack {} axis {axis}", show_name(tensor.as_str()))?;
    if *under > 0 {
        write!(f, " under {under}")?;
    }
    for (at, (times, size)) in from.iter().enumerate() {
        let sign = if at == 0 { "from" } else { "+" };
        write!(f, " {sign} {times} * {}", show_name(size))?;
    }
    write!(f, " by {width}")?;
    if *ahead > 0 {
        write!(f, " ahead {ahead}")?;
    }
    f.write_str(if *rows { " rows" } else { "" })?;
    f.write_str(if *in_blocks { " in blocks;\n" } else { ";\n" })
}

fn show_group(group: &GroupSchedule, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str("  group {\n")?;
    group.packs.iter().try_for_each(|pack| show_pack(pack, 2, f))?;
    for tensor in &group.tensors {
        let storage: Vec<String> = tensor.storage.iter().map(show_layout).collect();
        let compute = match tensor.compute {
            Compute::Here => "here",
            Compute::AtReads => "at_reads",
        };
        let name = show_name(tensor.name.as_str());
        let map: Vec<String> = tensor.map.iter().map(|form| show_form(form)).collect();
        let by = if map.is_empty() { String::new() } else { format!(" by {}", map.join(", ")) };
        let stack = if tensor.stack { " stack" } else { "" };
        let once: Vec<String> = tensor.once.iter().map(ToString::to_string).collect();
        let once = match once.is_empty() {
            true => String::new(),
            false => format!(" once ({})", once.join(", ")),
        };
        writeln!(f, "    tensor {name} {compute} [{}]{by}{stack}{once};", storage.join(", "))?;
    }
    show_nest(&group.nest, group, 2, f)?;
    f.write_str("  }\n")
}

fn show_form(numbers: &[i64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    format!("({})", numbers.join(", "))
}

pub(crate) fn show_layout(layout: &Layout) -> String {
    match layout {
        Layout::Full => "full".to_owned(),
        Layout::Open => "open".to_owned(),
        Layout::Mod(width) => format!("mod {width}"),
    }
}

fn show_statement(group: &GroupSchedule, statement: Statement) -> String {
    let name = group.tensors.get(statement.binding).map_or("?", |tensor| tensor.name.as_str());
    format!("{}/{}", show_name(name), statement.clause)
}

fn show_nest(
    nest: &Nest,
    group: &GroupSchedule,
    depth: usize,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let indent = "  ".repeat(depth);
    let list = |numbers: &mut dyn Iterator<Item = String>| numbers.collect::<Vec<_>>().join(", ");
    match nest {
        Nest::Points { statement, axes, role } => {
            let role = show_role(*role);
            let axes = list(&mut axes.iter().map(ToString::to_string));
            writeln!(f, "{indent}points {} ({axes}) {role};", show_statement(group, *statement))
        }
        Nest::Phases(phases) => {
            writeln!(f, "{indent}phases {{")?;
            phases.iter().try_for_each(|phase| show_nest(phase, group, depth + 1, f))?;
            writeln!(f, "{indent}}}")
        }
        Nest::Loop { forms, tile, role, inner } => {
            let forms = forms.iter().map(|(statement, form)| {
                let numbers = show_form(&form.coefficients);
                let shift = match form.offset {
                    0 => String::new(),
                    offset => format!(" + {offset}"),
                };
                format!("{} by {numbers}{shift}", show_statement(group, *statement))
            });
            let mut how = tile.map_or(String::new(), |width| format!(" tile {width}"));
            if *role != Role::Seq {
                how += &format!(" {}", show_role(*role));
            }
            writeln!(f, "{indent}loop {}{how} {{", forms.collect::<Vec<_>>().join(", "))?;
            show_nest(inner, group, depth + 1, f)?;
            writeln!(f, "{indent}}}")
        }
    }
}

/// Reads schedules, one after the other.
pub fn parse_schedules(text: &str) -> Result<Vec<Schedule>, TextError> {
    let mut cursor = Cursor::new(text);
    let mut schedules = Vec::new();
    while !cursor.is_at_end() {
        cursor.expect_word("schedule")?;
        let mut schedule = Schedule { module: cursor.name()?, ..Schedule::default() };
        schedule.fma = match cursor.eat_word("fma") {
            false => Fma::Nowhere,
            true if cursor.eat_word("steps") => Fma::Steps,
            true => Fma::Everywhere,
        };
        schedule.chains = cursor.eat_word("chains");
        schedule.alone = cursor.eat_word("alone");
        cursor.expect("{")?;
        while cursor.eat_word("variant") {
            let name = cursor.name()?;
            cursor.expect("=")?;
            schedule.variant.push((name, cursor.number()?));
            cursor.expect(";")?;
        }
        while cursor.eat_word("pack") {
            schedule.packs.push(parse_pack(&mut cursor)?);
        }
        while cursor.eat_word("replay") {
            schedule.replays.push(parse_replay(&mut cursor)?);
        }
        while !cursor.eat("}") {
            schedule.groups.push(parse_group(&mut cursor)?);
        }
        schedules.push(schedule);
    }
    Ok(schedules)
}

fn parse_pack(cursor: &mut Cursor<'_>) -> Parsed<Pack> {
    let tensor = Ident::new(&cursor.name()?);
    cursor.expect_word("axis")?;
    let axis = usize::try_from(cursor.number()?);
    let under = if cursor.eat_word("under") { usize::try_from(cursor.number()?) } else { Ok(0) };
    let mut from = Vec::new();
    if cursor.eat_word("from") {
        loop {
            let times = cursor.number()?;
            cursor.expect("*")?;
            from.push((times, cursor.name()?));
            if !cursor.eat("+") {
                break;
            }
        }
    }
    cursor.expect_word("by")?;
    let width = cursor.number()?;
    let ahead = if cursor.eat_word("ahead") { u32::try_from(cursor.number()?) } else { Ok(0) };
    let rows = cursor.eat_word("rows");
    let in_blocks = cursor.eat_word("in");
    if in_blocks {
        cursor.expect_word("blocks")?;
    }
    cursor.expect(";")?;
    let fits = width > 0 && from.iter().all(|(times, _)| *times > 0);
    match (axis, under, ahead) {
        (Ok(axis), Ok(under), Ok(ahead)) if fits && under <= axis => {
            Ok(Pack { tensor, axis, under, from, width, ahead, rows, in_blocks })
        }
        _ => cursor.fail("a panel is a part of an axis"),
    }
}

fn parse_group(cursor: &mut Cursor<'_>) -> Parsed<GroupSchedule> {
    cursor.expect_word("group")?;
    cursor.expect("{")?;
    let (mut packs, mut tensors) = (Vec::new(), Vec::new());
    while cursor.eat_word("pack") {
        packs.push(parse_pack(cursor)?);
    }
    while cursor.eat_word("tensor") {
        let name = Ident::new(&cursor.name()?);
        let compute = match &cursor.name()?[..] {
            "here" => Compute::Here,
            "at_reads" => Compute::AtReads,
            _ => return cursor.fail("expected `here` or `at_reads`"),
        };
        cursor.expect("[")?;
        let storage = cursor.list("]", parse_layout)?;
        let mut map = Vec::new();
        if cursor.eat_word("by") {
            while cursor.eat("(") {
                map.push(cursor.list(")", Cursor::number)?);
                cursor.eat(",");
            }
        }
        let stack = cursor.eat_word("stack");
        let mut once = Vec::new();
        if cursor.eat_word("once") {
            cursor.expect("(")?;
            once = cursor.list(")", parse_clause)?;
        }
        cursor.expect(";")?;
        tensors.push(TensorSchedule { name, compute, storage, map, stack, once });
    }
    let nest = parse_nest(cursor, &tensors)?;
    cursor.expect("}")?;
    Ok(GroupSchedule { packs, tensors, nest })
}

pub(crate) fn parse_layout(cursor: &mut Cursor<'_>) -> Parsed<Layout> {
    match &cursor.name()?[..] {
        "full" => Ok(Layout::Full),
        "open" => Ok(Layout::Open),
        "mod" => match cursor.number()? {
            width if width > 0 => Ok(Layout::Mod(width)),
            _ => cursor.fail("a window has at least one plane"),
        },
        _ => cursor.fail("expected `full`, `open` or `mod`"),
    }
}

fn parse_clause(cursor: &mut Cursor<'_>) -> Parsed<usize> {
    match usize::try_from(cursor.number()?) {
        Ok(clause) => Ok(clause),
        Err(_) => cursor.fail("clauses are numbered from 0"),
    }
}

fn parse_statement(cursor: &mut Cursor<'_>, tensors: &[TensorSchedule]) -> Parsed<Statement> {
    let name = cursor.name()?;
    cursor.expect("/")?;
    let clause = usize::try_from(cursor.number()?);
    let binding = tensors.iter().position(|tensor| tensor.name.as_str() == name);
    match (binding, clause) {
        (Some(binding), Ok(clause)) => Ok(Statement { binding, clause }),
        _ => cursor.fail(format!("`{name}` is no tensor of the group")),
    }
}

fn parse_nest(cursor: &mut Cursor<'_>, tensors: &[TensorSchedule]) -> Parsed<Nest> {
    cursor.nested(|cursor| match &cursor.name()?[..] {
        "points" => {
            let statement = parse_statement(cursor, tensors)?;
            cursor.expect("(")?;
            let axes = cursor.list(")", |cursor| match usize::try_from(cursor.number()?) {
                Ok(axis) => Ok(axis),
                Err(_) => cursor.fail("an axis is not negative"),
            })?;
            let role = parse_role(cursor)?;
            cursor.expect(";")?;
            Ok(Nest::Points { statement, axes, role })
        }
        "phases" => {
            cursor.expect("{")?;
            let mut phases = Vec::new();
            while !cursor.eat("}") {
                phases.push(parse_nest(cursor, tensors)?);
            }
            Ok(Nest::Phases(phases))
        }
        "loop" => {
            let mut forms = Vec::new();
            loop {
                let statement = parse_statement(cursor, tensors)?;
                cursor.expect_word("by")?;
                cursor.expect("(")?;
                let coefficients = cursor.list(")", Cursor::number)?;
                let offset = if cursor.eat("+") { cursor.number()? } else { 0 };
                forms.push((statement, Form { coefficients, offset }));
                if !cursor.eat(",") {
                    break;
                }
            }
            let mut tile = None;
            if cursor.eat_word("tile") {
                tile = match cursor.number()? {
                    width if width > 0 => Some(width),
                    _ => return cursor.fail("a tile has at least one point"),
                };
            }
            let role = if cursor.eat("{") {
                Role::Seq
            } else {
                let role = parse_role(cursor)?;
                cursor.expect("{")?;
                role
            };
            let inner = Box::new(parse_nest(cursor, tensors)?);
            cursor.expect("}")?;
            Ok(Nest::Loop { forms, tile, role, inner })
        }
        _ => cursor.fail("expected `points`, `phases` or `loop`"),
    })
}
/// The line on which schedules say how a tensor of a module is stored, counted from 1; that on which the schedule
/// of the module begins if they do not, or no tensor is meant.
pub fn line_of(text: &str, module: &str, tensor: Option<&Ident>) -> Option<usize> {
    let words = |line: &str, first: &str, name: &str| {
        let rest = line.trim_start().strip_prefix(first);
        let rest = rest.and_then(|rest| rest.trim_start().strip_prefix(&show_name(name)[..]));
        rest.is_some_and(|rest| rest.starts_with([' ', '{']))
    };
    let mut lines = text.lines().enumerate();
    let (begin, _) = lines.find(|(_, line)| words(line, "schedule ", module))?;
    let mut inside = lines.take_while(|(_, line)| !line.starts_with("schedule "));
    let of =
        tensor.and_then(|tensor| inside.find(|(_, line)| words(line, "tensor ", tensor.as_str())));
    Some(of.map_or(begin, |(line, _)| line) + 1)
}
