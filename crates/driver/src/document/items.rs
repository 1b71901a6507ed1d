//! What a module offers: its public items, and what it passes on with `pub use`.

use std::collections::HashSet;

use einlang_sema::Outline;
use einlang_syntax::SyntaxKind;
use einlang_syntax::ast::{AstNode, Attributed, LetStmt, Path, Statement, UseItem, UseTree};

use super::provided;

/// One name that a module offers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Item {
    /// The name under which it is offered.
    pub name: String,
    /// The declaration as it is written, without a body.
    pub signature: String,
    /// The text of its doc comment.
    pub text: String,
}

/// Items that belong together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Section {
    /// The module that they are passed on from; none for what the module itself holds.
    pub topic: Option<String>,
    /// What that module says about itself.
    pub text: String,
    /// The items, in the order of the source.
    pub items: Vec<Item>,
}

/// What a module offers. Empty sections are left out.
pub(super) fn sections(outline: &Outline, module: usize) -> Vec<Section> {
    let mut own = Section { topic: None, text: String::new(), items: Vec::new() };
    let mut passed_on: Vec<(usize, Section)> = Vec::new();
    for statement in outline.statements(module) {
        if let Some(item) = declared(statement) {
            // Of a binding with several clauses the first one stands for all.
            if own.items.last().is_none_or(|last| last.name != item.name) {
                own.items.push(item);
            }
        }
        let Some((item, trees)) = passed(statement) else { continue };
        for (tree, before) in trees {
            let found = imported(outline, module, tree, &before, item, &mut Seen::new());
            let Some(from) = topic(outline, module, tree, &before) else {
                own.items.extend(found);
                continue;
            };
            match passed_on.iter_mut().find(|(topic, _)| *topic == from) {
                Some((_, section)) => section.items.extend(found),
                None => {
                    let (topic, text) = (outline.name(from), outline.documentation(from));
                    let topic = topic.map(str::to_owned);
                    passed_on.push((from, Section { topic, text, items: found }));
                }
            }
        }
    }
    let all = std::iter::once(own).chain(passed_on.into_iter().map(|(_, section)| section));
    all.filter(|section| !section.items.is_empty()).collect()
}

/// The public item that a statement declares.
fn declared(statement: Statement<'_>) -> Option<Item> {
    let (name, doc, end) = match statement {
        Statement::Fn(item) if item.pub_token().is_some() => {
            (item.name()?.text(), doc(item), item.body().map(|body| body.range().start))
        }
        Statement::Const(item) if item.pub_token().is_some() => {
            (item.name()?.text(), doc(item), None)
        }
        Statement::Struct(item) if item.pub_token().is_some() => {
            (item.name()?.text(), doc(item), None)
        }
        Statement::Enum(item) if item.pub_token().is_some() => {
            (item.name()?.text(), doc(item), None)
        }
        Statement::Let(item) if item.pub_token().is_some() => {
            (item.pattern()?.names().next()?.text(), doc(item), before_value(item))
        }
        _ => return None,
    };
    let node = statement.node();
    let start = node.token(SyntaxKind::PUB)?.range().start - node.range().start;
    let end = end.map_or(node.text().len(), |end| end - node.range().start);
    let signature = node.text().get(start..end)?.trim_end().to_owned();
    Some(Item { name: name.to_owned(), signature, text: doc })
}

fn before_value(item: LetStmt<'_>) -> Option<usize> {
    Some(item.node().token(SyntaxKind::EQ)?.range().start)
}

fn doc<'t>(item: impl Attributed<'t>) -> String {
    item.doc_lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

/// The trees of a `pub use` that each bring one name or `*`, with the path before each.
type Trees<'t> = Vec<(UseTree<'t>, Vec<String>)>;

fn passed(statement: Statement<'_>) -> Option<(UseItem<'_>, Trees<'_>)> {
    let Statement::Use(item) = statement else { return None };
    item.pub_token()?;
    let mut found = Vec::new();
    let mut open = vec![(item.tree()?, Vec::new())];
    while let Some((tree, before)) = open.pop() {
        let Some(list) = tree.list() else {
            found.push((tree, before));
            continue;
        };
        let below: Vec<String> = before.into_iter().chain(words(tree.path())).collect();
        open.extend(list.map(|tree| (tree, below.clone())).collect::<Vec<_>>().into_iter().rev());
    }
    Some((item, found))
}

fn words(path: Option<Path<'_>>) -> Vec<String> {
    path.into_iter().flat_map(Path::segments).map(|token| token.text().to_owned()).collect()
}

/// The module that the words of a path lead to, if it is one of the program's own.
fn follow(outline: &Outline, from: usize, path: &[String]) -> Option<usize> {
    path.iter().enumerate().try_fold(from, |module, (at, word)| match word.as_str() {
        "crate" if at == 0 => Some(0),
        "self" if at == 0 => Some(module),
        "super" => outline.parent(module),
        name => outline.child(module, name).or_else(|| {
            let is_root_meant = at == 0;
            is_root_meant.then(|| outline.child(0, name)).flatten()
        }),
    })
}

/// The words before the last one of a tree, and that one.
fn split(tree: UseTree<'_>, before: &[String]) -> (Vec<String>, Option<String>) {
    let mut path: Vec<String> = before.iter().cloned().chain(words(tree.path())).collect();
    let last = if tree.glob().is_some() { None } else { path.pop() };
    (path, last)
}

/// The private module of this one that a tree takes its name from.
fn topic(outline: &Outline, module: usize, tree: UseTree<'_>, before: &[String]) -> Option<usize> {
    let from = follow(outline, module, &split(tree, before).0)?;
    (outline.parent(from) == Some(module)).then_some(from)
}

/// What was asked of modules already. Imports may go in a circle, and globs may meet again.
type Seen = HashSet<(usize, Option<String>)>;

/// What a tree brings.
fn imported(
    outline: &Outline,
    module: usize,
    tree: UseTree<'_>,
    before: &[String],
    item: UseItem<'_>,
    seen: &mut Seen,
) -> Vec<Item> {
    let (path, last) = split(tree, before);
    let from = follow(outline, module, &path);
    let Some(last) = last else {
        return from.map_or(Vec::new(), |from| offered(outline, from, None, seen));
    };
    let offered =
        from.and_then(|from| offered(outline, from, Some(&last), seen).into_iter().next());
    let name = tree.alias().map_or(last.clone(), |alias| alias.text().to_owned());
    let found = offered.unwrap_or_else(|| Item {
        signature: provided::signature(&path, &last)
            .unwrap_or_else(|| format!("pub use {};", tree.text().trim())),
        name: String::new(),
        text: doc(item),
    });
    vec![Item { name, ..found }]
}

/// What a module offers under a name, or at all.
fn offered(outline: &Outline, module: usize, name: Option<&str>, seen: &mut Seen) -> Vec<Item> {
    if !seen.insert((module, name.map(str::to_owned))) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for statement in outline.statements(module) {
        found.extend(declared(statement));
        let Some((item, trees)) = passed(statement) else { continue };
        for (tree, before) in trees {
            let brings = |name: &str| {
                let own = tree.alias().map(|alias| alias.text().to_owned());
                own.or(split(tree, &before).1).is_none_or(|brought| brought == name)
            };
            if name.is_none_or(brings) {
                found.extend(imported(outline, module, tree, &before, item, seen));
            }
        }
    }
    found.retain(|item| name.is_none_or(|name| item.name == name));
    found
}
