//! Lists what each module declares, before anything inside it is looked at: this is what makes
//! items visible before the line they stand on, and modules able to use each other.

use einlang_source::map::HashMap;

use einlang_source::{FileId, Id, Span};
use einlang_syntax::ast::{self, AstNode, Attributed, Statement};

use super::load::{Loaded, statements};
use crate::context::{Context, span_of};
use crate::errors;
use crate::hir::*;

/// An item whose inside is still to be resolved.
pub(crate) struct Pending<'t> {
    pub(crate) def: DefId,
    pub(crate) item: Statement<'t>,
}

/// A `use` whose meaning is still to be found.
#[derive(Clone, Copy)]
pub(crate) struct PendingUse<'t> {
    pub(crate) module: ModuleId,
    pub(crate) file: FileId,
    pub(crate) item: ast::UseItem<'t>,
}

/// What collection leaves for later steps, by module.
pub(crate) struct Collected<'t> {
    pub(crate) items: Vec<Vec<Pending<'t>>>,
    pub(crate) uses: Vec<PendingUse<'t>>,
    /// The bindings of modules, by the place of their name. They are made before their statements
    /// are resolved, so that other modules can name them.
    pub(crate) bindings: HashMap<Span, LocalId>,
}

/// Makes the modules and items of the program.
pub(crate) fn collect<'t>(cx: &mut Context, loaded: &'t Loaded) -> Collected<'t> {
    let mut collected =
        Collected { items: Vec::new(), uses: Vec::new(), bindings: HashMap::default() };
    for index in 0..loaded.modules.len() {
        let module = add_module(cx, loaded, index);
        let file = loaded.files[loaded.modules[index].file].file;
        let mut items = Vec::new();
        for statement in statements(loaded, index) {
            if let Statement::Use(item) = statement {
                collected.uses.push(PendingUse { module, file, item });
            } else if let Some(pending) = declare(cx, module, None, file, statement) {
                enter(cx, module, pending.def);
                items.push(pending);
            }
        }
        for statement in statements(loaded, index) {
            if let Statement::Let(binding) = statement {
                announce(cx, module, file, binding, &mut collected.bindings);
            }
        }
        collected.items.push(items);
    }
    leave_unloaded(cx, loaded);
    collected
}

/// Modules of the library that the program does not reach have an entry that means nothing.
fn leave_unloaded(cx: &mut Context, loaded: &Loaded) {
    cx.program.std = loaded.std.map(Id::from_index);
    for module in &loaded.unloaded {
        let name = Ident { name: cx.interner.intern(&module.name), span: module.span };
        let entry = Entry {
            res: Res::External,
            public: module.public,
            span: module.span,
            from_glob: false,
        };
        add_entry(cx, Id::from_index(module.parent), name, Namespace::Types, entry);
    }
}

fn add_module(cx: &mut Context, loaded: &Loaded, index: usize) -> ModuleId {
    let source = &loaded.modules[index];
    let file = loaded.files[source.file].file;
    let name = source
        .name
        .as_ref()
        .map(|(text, span)| Ident { name: cx.interner.intern(text), span: *span });
    let parent = source.parent.map(Id::from_index);
    let body = cx.program.bodies.alloc(Body::new(Owner::Module(Id::from_index(index)), None));
    let module = Module {
        name,
        parent,
        file,
        scope: ModuleScope::default(),
        body: Some(body),
        library: source.library,
    };
    let id = cx.program.modules.alloc(module);
    if let (Some(name), Some(parent)) = (name, parent) {
        let entry = Entry {
            res: Res::Module(id),
            public: source.public,
            span: name.span,
            from_glob: false,
        };
        add_entry(cx, parent, name, Namespace::Types, entry);
    }
    id
}

/// Makes the item that a statement declares; none for statements that declare no item.
pub(crate) fn declare<'t>(
    cx: &mut Context,
    module: ModuleId,
    inside: Option<BodyId>,
    file: FileId,
    item: Statement<'t>,
) -> Option<Pending<'t>> {
    let name = item_name(item)?;
    let name = cx.ident(file, name);
    let parent = inside.or(cx.program.modules[module].body);
    let def = Id::from_index(cx.program.defs.len());
    let body = cx.program.bodies.alloc(Body::new(Owner::Def(def), parent));
    let kind = match item {
        Statement::Fn(_) => DefKind::Fn(Function { body, attrs: Vec::new() }),
        Statement::Struct(_) => {
            DefKind::Struct(Struct { generics: Vec::new(), fields: Vec::new() })
        }
        Statement::Enum(item) => DefKind::Enum(variants(cx, file, item)),
        Statement::Const(_) => DefKind::Const(Const { ty: None, body }),
        Statement::Input(_) => {
            let unknown = TypeRef { kind: TypeKind::Error, span: name.span };
            DefKind::Input(Input { ty: unknown, body })
        }
        _ => return None,
    };
    let span = span_of(file, item.range());
    let public = is_public(item);
    cx.program.defs.alloc(Def { name, module, inside, public, span, kind });
    Some(Pending { def, item })
}

/// Makes the bindings of a `let` of a module. Later ones shadow earlier ones for other modules;
/// an item of the same name stays what it is.
fn announce(
    cx: &mut Context,
    module: ModuleId,
    file: FileId,
    binding: ast::LetStmt<'_>,
    bindings: &mut HashMap<Span, LocalId>,
) {
    let (Some(pattern), Some(body)) = (binding.pattern(), cx.program.modules[module].body) else {
        return;
    };
    let kind = if binding.slots().is_some() { LocalKind::Indexed } else { LocalKind::Let };
    for name in pattern.names() {
        let name = cx.ident(file, name);
        let key = (name.name, Namespace::Values);
        let old = cx.program.modules[module].scope.entries.get(&key).copied();
        let further_clause = old.is_some_and(|old| match old.res {
            Res::Outer(_, local) => {
                kind == LocalKind::Indexed && cx.program.bodies[body].locals[local].kind == kind
            }
            _ => false,
        });
        let shadows = old.is_none_or(|old| matches!(old.res, Res::Outer(..)));
        if further_clause {
            continue;
        }
        let local = cx.program.bodies[body].locals.alloc(Local { name, kind });
        bindings.insert(name.span, local);
        if shadows {
            let public = binding.pub_token().is_some();
            let entry =
                Entry { res: Res::Outer(body, local), public, span: name.span, from_glob: true };
            cx.program.modules[module].scope.entries.insert(key, entry);
        }
    }
}

fn item_name(item: Statement<'_>) -> Option<ast::Name<'_>> {
    match item {
        Statement::Fn(item) => item.name(),
        Statement::Struct(item) => item.name(),
        Statement::Enum(item) => item.name(),
        Statement::Const(item) => item.name(),
        Statement::Input(item) => item.name(),
        _ => None,
    }
}

fn is_public(item: Statement<'_>) -> bool {
    match item {
        Statement::Fn(item) => item.pub_token().is_some(),
        Statement::Struct(item) => item.pub_token().is_some(),
        Statement::Enum(item) => item.pub_token().is_some(),
        Statement::Const(item) => item.pub_token().is_some(),
        _ => false,
    }
}

/// The names of the variants are needed at once, since paths and imports reach them.
fn variants(cx: &mut Context, file: FileId, item: ast::EnumItem<'_>) -> Enum {
    let names: Vec<Ident> =
        item.variants().filter_map(|variant| Some(cx.ident(file, variant.name()?))).collect();
    for (i, name) in names.iter().enumerate() {
        if let Some(first) = names[..i].iter().find(|first| first.name == name.name) {
            let text = cx.spelling(name.name).to_string();
            cx.report(errors::member_clash(&text, name.span, first.span));
        }
    }
    let variants = names.into_iter().map(|name| Variant { name, payload: Payload::Unit }).collect();
    Enum { generics: Vec::new(), variants }
}

/// The namespace an item lives in.
pub(crate) fn namespace(kind: &DefKind) -> Namespace {
    match kind {
        DefKind::Struct(_) | DefKind::Enum(_) => Namespace::Types,
        _ => Namespace::Values,
    }
}

fn enter(cx: &mut Context, module: ModuleId, def: DefId) {
    let item = &cx.program.defs[def];
    let (name, public, kind) = (item.name, item.public, namespace(&item.kind));
    let entry = Entry { res: Res::Def(def), public, span: name.span, from_glob: false };
    add_entry(cx, module, name, kind, entry);
}

/// Adds a name to a module, or reports that it is taken. Names from `use p::*` give way.
pub(crate) fn add_entry(
    cx: &mut Context,
    module: ModuleId,
    name: Ident,
    namespace: Namespace,
    entry: Entry,
) -> bool {
    let key = (name.name, namespace);
    let existing = cx.program.modules[module].scope.entries.get(&key).copied();
    match existing {
        Some(old) if old.res == entry.res => {
            // The same thing by two ways; the more visible one counts.
            let public = old.public || entry.public;
            let merged = Entry { public, ..old };
            cx.program.modules[module].scope.entries.insert(key, merged);
            merged != old
        }
        Some(old) if entry.from_glob && !old.from_glob => false,
        Some(old) if !old.from_glob || entry.from_glob => {
            let text = cx.spelling(name.name).to_string();
            cx.report(clash(&text, entry.span, old.span, entry.from_glob));
            false
        }
        _ => {
            cx.program.modules[module].scope.entries.insert(key, entry);
            true
        }
    }
}

fn clash(text: &str, new: Span, old: Span, glob: bool) -> einlang_source::Diagnostic {
    if glob { errors::glob_clash(text, new, old) } else { errors::name_clash(text, new, old) }
}
