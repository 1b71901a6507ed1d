//! The text of a page: the module, an index of its names, and each item with its signature.
//!
//! Links within a page follow the rule by which readers of Markdown name headings: lower case, and
//! a number after the name from the second time on.

use std::collections::HashMap;
use std::fmt::Write;

use super::{Item, ModulePage, Section};

/// The first line of every page.
pub const MARK: &str = "<!-- Made by `einlang doc` from doc comments; change those instead. -->";

/// The page of a module.
pub(super) fn page(module: &ModulePage) -> String {
    let path = module.path.join("::");
    let mut text = format!("{MARK}\n\n# `{path}`\n");
    paragraph(&mut text, &module.text);
    let anchors = Anchors::of(module);
    modules(&mut text, module);
    index(&mut text, module, &anchors);
    for section in &module.sections {
        if let Some(topic) = &section.topic {
            let _ = write!(text, "\n## {}\n", title(topic));
            paragraph(&mut text, &section.text);
        }
        let level = if section.topic.is_some() { "###" } else { "##" };
        for item in &section.items {
            let Item { name, signature, text: doc } = item;
            let _ = write!(text, "\n{level} `{name}`\n\n```ein,signature\n{signature}\n```\n");
            paragraph(&mut text, doc);
        }
    }
    text
}

/// A paragraph of its own, unless there is nothing to say.
fn paragraph(text: &mut String, more: &str) {
    let more = more.trim();
    if !more.is_empty() {
        text.push('\n');
        text.push_str(more);
        text.push('\n');
    }
}

/// A table of the modules inside a module.
fn modules(text: &mut String, module: &ModulePage) {
    if module.modules.is_empty() {
        return;
    }
    text.push_str("\n| module | what it has |\n|---|---|\n");
    let folder = match module.path[1..].last() {
        Some(own) => format!("{own}/"),
        None => String::new(),
    };
    for (name, doc) in &module.modules {
        let _ = writeln!(text, "| [`{name}`]({folder}{name}.md) | {} |", cell(summary(doc)));
    }
}

/// A table of the names on a page: by topic, or with the first sentence of each.
fn index(text: &mut String, module: &ModulePage, anchors: &Anchors) {
    let link = |item: &Item, place: usize| format!("[`{}`](#{})", item.name, anchors.items[place]);
    let mut place = 0;
    let own = module.sections.iter().filter(|section| section.topic.is_none());
    for section in own {
        text.push_str("\n| name | what it is |\n|---|---|\n");
        for item in &section.items {
            let _ = writeln!(text, "| {} | {} |", link(item, place), cell(summary(&item.text)));
            place += 1;
        }
    }
    if module.sections.iter().any(|section| section.topic.is_some()) {
        text.push_str("\n| topic | names |\n|---|---|\n");
    }
    for (section, anchor) in module.sections.iter().zip(&anchors.sections) {
        let Section { topic: Some(topic), items, .. } = section else { continue };
        let start = place;
        place += items.len();
        let names = items.iter().enumerate().map(|(at, item)| link(item, start + at));
        let names = names.collect::<Vec<_>>().join(" ");
        let _ = writeln!(text, "| [{}](#{anchor}) | {names} |", title(topic));
    }
}

/// The names of the headings of a page, as links write them.
struct Anchors {
    sections: Vec<String>,
    items: Vec<String>,
}

impl Anchors {
    fn of(module: &ModulePage) -> Anchors {
        let mut seen: HashMap<String, usize> = HashMap::new();
        let mut anchor = |heading: &str| {
            let base: String = heading
                .to_lowercase()
                .chars()
                .filter(|c| c.is_alphanumeric() || "_- ".contains(*c))
                .map(|c| if c == ' ' { '-' } else { c })
                .collect();
            let n_before = seen.entry(base.clone()).or_default();
            *n_before += 1;
            if *n_before == 1 { base } else { format!("{base}-{}", *n_before - 1) }
        };
        anchor(&module.path.join(""));
        let (mut sections, mut items) = (Vec::new(), Vec::new());
        for section in &module.sections {
            sections.push(section.topic.as_ref().map_or(String::new(), |topic| anchor(topic)));
            items.extend(section.items.iter().map(|item| anchor(&item.name)));
        }
        Anchors { sections, items }
    }
}

/// A topic as a heading.
fn title(topic: &str) -> String {
    let mut letters = topic.chars();
    let first = letters.next().map(|first| first.to_uppercase().collect::<String>());
    first.unwrap_or_default() + &letters.as_str().replace('_', " ")
}

/// The first sentence of a documentation.
fn summary(text: &str) -> String {
    let paragraph = text.trim().split("\n\n").next().unwrap_or_default();
    let line = paragraph.lines().map(str::trim).collect::<Vec<_>>().join(" ");
    let end = line.find(". ").or_else(|| line.find(".\n"));
    end.map_or(line.clone(), |end| line[..end].to_owned()).trim_end_matches(['.', ':']).to_owned()
}

/// A text inside a table.
fn cell(text: String) -> String {
    text.replace('|', "\\|")
}
