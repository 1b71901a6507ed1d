//! Bodies: the statements of a module, the body of a function, the value of a constant.

use std::ops::Index;
use std::sync::OnceLock;

use einlang_source::{Arena, Span};

use super::{
    Attr, BodyId, DefId, Expr, ExprId, ExprKind, Ident, LocalId, ModuleId, Pattern, Res, Subscript,
    TypeRef,
};

/// Expressions and bindings that belong together.
#[derive(Debug)]
pub struct Body {
    /// What the body belongs to.
    pub owner: Owner,
    /// The body around, whose bindings may be captured.
    pub parent: Option<BodyId>,
    /// The expressions.
    pub exprs: Arena<Expr>,
    /// The bindings: parameters, `let`s, pattern variables, indices, sizes.
    pub locals: Arena<Local>,
    /// Coordinate parameters `[c]`.
    pub coordinates: Vec<LocalId>,
    /// Type parameters `<F>`.
    pub generics: Vec<Ident>,
    /// Parameters.
    pub params: Vec<Param>,
    /// The declared result.
    pub ret: Option<TypeRef>,
    /// The value: a block for modules and functions.
    pub value: Option<ExprId>,
}

/// What a body belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Owner {
    /// The statements of a module.
    Module(ModuleId),
    /// The body of an item.
    Def(DefId),
}

/// A parameter of a function or lambda.
#[derive(Debug)]
pub struct Param {
    /// What the argument is bound to.
    pub pattern: Pattern,
    /// The declared type.
    pub ty: Option<TypeRef>,
    /// The default value.
    pub default: Option<ExprId>,
}

/// A binding inside a body.
#[derive(Debug)]
pub struct Local {
    /// The name where it is introduced.
    pub name: Ident,
    /// What introduces it.
    pub kind: LocalKind,
}

/// What introduces a binding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LocalKind {
    /// A plain `let`, or a name in its pattern.
    Let,
    /// A `let` with slots; the clauses refer to it.
    Indexed,
    /// A parameter of the function or lambda.
    Param,
    /// A name bound by a pattern of `match`, `for` or a comprehension.
    Pattern,
    /// An index of a slot, a reduction or a coordinate call.
    Index,
    /// A rest of indices, `..b`.
    Rest,
    /// `z = …` in a `where` or a comprehension.
    Where,
    /// A size or coordinate that an annotation declares: an extent. If the name meant something
    /// before, and that is an integer, it is that integer instead; types decide.
    Extent(Option<Res>),
}

/// What the value of an entry of a session is bound to; nobody can write this name.
pub const ENTRY_VALUE: &str = "(entry)";

/// A block: statements and a value.
#[derive(Debug)]
pub struct Block {
    /// The statements in source order.
    pub statements: Vec<Statement>,
    /// The value.
    pub value: Option<ExprId>,
    /// The order in which the statements are looked at, once it was asked for.
    pub(crate) groups: OnceLock<Vec<Group>>,
}

/// Statements that are looked at together.
#[derive(Debug)]
pub(crate) struct Group {
    /// Their positions in the block, in source order.
    pub(crate) statements: Vec<usize>,
    /// They read each other, or one reads itself.
    pub(crate) recursive: bool,
}

/// One statement.
#[derive(Debug)]
pub enum Statement {
    /// `let pattern: type = value;`
    Let {
        /// What is bound.
        pattern: Pattern,
        /// The annotation.
        ty: Option<TypeRef>,
        /// The value.
        value: ExprId,
        /// Attributes.
        attrs: Vec<Attr>,
    },
    /// One clause of an indexed definition.
    Clause(Clause),
    /// `for pattern in iterable { … }`
    For {
        /// What each element is bound to.
        pattern: Pattern,
        /// What is iterated over.
        iterable: ExprId,
        /// The statements.
        body: ExprId,
    },
    /// An expression for its effect.
    Expr(ExprId),
}

/// `let h[t in 1..T, j] = …`
#[derive(Debug)]
pub struct Clause {
    /// The bindings it defines: one, or several from a tuple body.
    pub targets: Vec<LocalId>,
    /// The slots.
    pub slots: Vec<Subscript>,
    /// The annotation after the slots.
    pub ty: Option<TypeRef>,
    /// The body, with its `where`.
    pub value: ExprId,
    /// The end of an open recurrence.
    pub until: Option<Until>,
    /// Attributes.
    pub attrs: Vec<Attr>,
    /// The whole clause.
    pub span: Span,
}

/// `until condition, max n`
#[derive(Clone, Copy, Debug)]
pub struct Until {
    /// When to stop.
    pub condition: ExprId,
    /// The largest number of steps.
    pub max: ExprId,
}

impl Body {
    /// A body without content.
    pub fn new(owner: Owner, parent: Option<BodyId>) -> Body {
        Body {
            owner,
            parent,
            exprs: Arena::new(),
            locals: Arena::new(),
            coordinates: Vec::new(),
            generics: Vec::new(),
            params: Vec::new(),
            ret: None,
            value: None,
        }
    }

    /// The kind of an expression.
    pub fn kind(&self, expr: ExprId) -> &ExprKind {
        &self.exprs[expr].kind
    }

    /// The span of an expression.
    pub fn span(&self, expr: ExprId) -> Span {
        self.exprs[expr].span
    }
}

impl Index<ExprId> for Body {
    type Output = Expr;

    fn index(&self, expr: ExprId) -> &Expr {
        &self.exprs[expr]
    }
}

impl Index<LocalId> for Body {
    type Output = Local;

    fn index(&self, local: LocalId) -> &Local {
        &self.locals[local]
    }
}
