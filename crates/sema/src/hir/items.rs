//! Modules and items.

use std::collections::BTreeMap;

use einlang_source::{Arena, FileId, Name, Span};

use super::{Body, BodyId, DefId, Ident, ModuleId, Res, TypeRef};

/// Everything that was loaded and resolved.
#[derive(Debug, Default)]
pub struct Program {
    /// The modules; the first is the root.
    pub modules: Arena<Module>,
    /// The items of all modules and blocks.
    pub defs: Arena<Def>,
    /// The bodies of all modules and items.
    pub bodies: Arena<Body>,
    /// The root of the standard library, when the program reaches it.
    pub std: Option<ModuleId>,
    /// Where paths lead to Python.
    pub python: Vec<Span>,
}

/// A file or an inline module.
#[derive(Debug)]
pub struct Module {
    /// The name; the root has none.
    pub name: Option<Ident>,
    /// The module around.
    pub parent: Option<ModuleId>,
    /// The file it is written in.
    pub file: FileId,
    /// What can be named in it, by namespace.
    pub scope: ModuleScope,
    /// Its statements.
    pub body: Option<BodyId>,
    /// It belongs to the standard library.
    pub library: bool,
}

/// Types and modules live apart from values, so that a struct and a function may share a name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Namespace {
    /// Structs, enums, modules.
    Types,
    /// Functions, constants, inputs, bindings.
    Values,
}

/// What a module offers.
#[derive(Clone, Debug, Default)]
pub struct ModuleScope {
    /// Items, bindings and imports by name.
    pub entries: BTreeMap<(Name, Namespace), Entry>,
    /// What `use p::*` brings under the name of a binding of the module: it is visible inside the
    /// module, up to the binding.
    pub before_bindings: BTreeMap<(Name, Namespace), Res>,
}

/// One name of a module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    /// What it means.
    pub res: Res,
    /// Whether other modules may use it.
    pub public: bool,
    /// Where it was introduced.
    pub span: Span,
    /// It came with `use p::*`, and gives way to anything written by name.
    pub from_glob: bool,
}

/// An item.
#[derive(Debug)]
pub struct Def {
    /// The name.
    pub name: Ident,
    /// The module it belongs to.
    pub module: ModuleId,
    /// The body of the block it is written in; none at the top of a module.
    pub inside: Option<BodyId>,
    /// Whether other modules may use it.
    pub public: bool,
    /// The whole item.
    pub span: Span,
    /// What it is.
    pub kind: DefKind,
}

/// The kinds of items.
#[derive(Debug)]
pub enum DefKind {
    /// A function.
    Fn(Function),
    /// A derivative rule.
    Rule(Rule),
    /// A struct with its fields.
    Struct(Struct),
    /// An enum with its variants.
    Enum(Enum),
    /// A constant.
    Const(Const),
    /// A program input.
    Input(Input),
}

/// `fn f[c]<F>(x: T = d) -> R { … }`
#[derive(Debug)]
pub struct Function {
    /// The body, whose parameters hold the patterns, types and defaults.
    pub body: BodyId,
    /// Attributes such as `audit`.
    pub attrs: Vec<Attr>,
}

/// `@fn f(x, y) { … }`
#[derive(Debug)]
pub struct Rule {
    /// The function it is for.
    pub target: Res,
    /// The body; the cotangent of a reverse rule is its last parameter.
    pub body: BodyId,
    /// `from @r`: the rule gives cotangents.
    pub reverse: bool,
}

/// `struct P<T> { x: T }`
#[derive(Debug)]
pub struct Struct {
    /// Type parameters.
    pub generics: Vec<Ident>,
    /// The fields in order.
    pub fields: Vec<Field>,
}

/// A field of a struct or variant.
#[derive(Debug)]
pub struct Field {
    /// The name.
    pub name: Ident,
    /// The type.
    pub ty: TypeRef,
}

/// `enum E<T> { A, B(T), C { k: i32 } }`
#[derive(Debug)]
pub struct Enum {
    /// Type parameters.
    pub generics: Vec<Ident>,
    /// The variants in order.
    pub variants: Vec<Variant>,
}

/// A variant of an enum.
#[derive(Debug)]
pub struct Variant {
    /// The name.
    pub name: Ident,
    /// What it carries.
    pub payload: Payload,
}

/// What a variant carries.
#[derive(Debug)]
pub enum Payload {
    /// Nothing.
    Unit,
    /// Values by position.
    Tuple(Vec<TypeRef>),
    /// Values by name.
    Fields(Vec<Field>),
}

/// `const N: i32 = 10;`
#[derive(Debug)]
pub struct Const {
    /// The annotation.
    pub ty: Option<TypeRef>,
    /// The value.
    pub body: BodyId,
}

/// `input lr: f32 = 0.1;`
#[derive(Debug)]
pub struct Input {
    /// The declared type.
    pub ty: TypeRef,
    /// The body that holds the type's expressions and the default value.
    pub body: BodyId,
}

/// `#[broadcast(scale: b, h)]`
#[derive(Clone, Debug)]
pub struct Attr {
    /// The name.
    pub name: Ident,
    /// The arguments as written: an optional name before the colon, then a name.
    pub args: Vec<(Option<Ident>, Ident)>,
}

impl Program {
    /// The item behind an id.
    pub fn def(&self, id: DefId) -> &Def {
        &self.defs[id]
    }

    /// Whether an item belongs to the standard library.
    pub fn is_library(&self, id: DefId) -> bool {
        self.modules[self.defs[id].module].library
    }
}
