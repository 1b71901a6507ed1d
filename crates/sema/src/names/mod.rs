//! Names: what every word of a body means.
//!
//! Items are hoisted within their block, bindings are visible from their statement on, indices in
//! their clause or reduction, and builtins come last. A name without an earlier binding may mean an
//! indexed definition later in the block. A function sees the bindings before it; calling it
//! earlier than they exist is found here too.
//!
//! | file | owns |
//! |---|---|
//! | `bindings.rs`, `scope.rs` | the stack of scopes and the order of look-up |
//! | `items.rs` | functions, rules, structs, enums, constants, inputs |
//! | `rules.rs` | which functions rules are for |
//! | `statements.rs` | blocks, `let`, clauses, `for` |
//! | `entries.rs` | the entries of a session |
//! | `clauses.rs` | clauses that come too late, functions that are called too early |
//! | `expressions.rs`, `operators.rs`, `literals.rs` | expressions |
//! | `access.rs` | subscripts, slots, reductions, coordinate calls |
//! | `patterns.rs`, `types.rs` | patterns and types |

mod access;
mod bindings;
mod clauses;
mod entries;
mod expressions;
mod items;
mod literals;
mod operators;
mod patterns;
mod rules;
mod scope;
mod statements;
mod types;

use einlang_source::map::HashMap;

use einlang_source::{FileId, Id, Span};
use einlang_syntax::ast::AstNode;

use crate::context::{Context, span_of};
use crate::hir::*;
use crate::modules::collect::{Collected, Pending};
use crate::modules::load::{Loaded, entry_statements, statements as module_statements};

use clauses::Capture;
use scope::BodyScope;

/// Resolves the bodies of all modules. `shows` says whether the last entry of a session ends with
/// an expression whose value is wanted.
pub(crate) fn resolve(cx: &mut Context, loaded: &Loaded, collected: Collected<'_>, shows: bool) {
    let mut captures = Vec::new();
    let mut announced = collected.bindings;
    for (index, items) in collected.items.into_iter().enumerate() {
        let module: ModuleId = Id::from_index(index);
        let file = cx.program.modules[module].file;
        let mut resolver = Resolver {
            cx,
            module,
            file,
            stack: Vec::new(),
            pending: items,
            captures: &mut captures,
            announced: &mut announced,
            lambda_depth: 0,
            subscript_depth: 0,
            coordinate_calls: 0,
        };
        match index == 0 && !loaded.entries.is_empty() {
            true => resolver.entries(&entry_statements(loaded), shows),
            false => resolver.module_body(&module_statements(loaded, index)),
        }
    }
    clauses::report_early_calls(cx, &captures);
    rules::report(cx);
}

/// Resolves one module.
struct Resolver<'a, 't> {
    cx: &'a mut Context,
    module: ModuleId,
    file: FileId,
    /// The bodies being resolved, outermost first.
    stack: Vec<BodyScope>,
    /// The module's items whose inside is not resolved yet.
    pending: Vec<Pending<'t>>,
    /// What functions capture and where they are referred to, of all modules.
    captures: &'a mut Vec<Capture>,
    /// Bindings of modules by the place of their name, not reached yet.
    announced: &'a mut HashMap<Span, LocalId>,
    /// How many lambdas are open.
    lambda_depth: u32,
    /// How many subscripts are open, up to the next call: `last` has a meaning inside.
    subscript_depth: u32,
    /// How many coordinate calls are open.
    coordinate_calls: u32,
}

impl<'t> Resolver<'_, 't> {
    fn span<'n>(&self, node: impl AstNode<'n>) -> Span {
        span_of(self.file, node.range())
    }

    fn ident(&mut self, name: einlang_syntax::ast::Name<'_>) -> Ident {
        self.cx.ident(self.file, name)
    }

    fn text(&self, name: einlang_source::Name) -> String {
        self.cx.spelling(name).to_string()
    }

    /// The body under construction.
    fn body(&mut self) -> &mut Body {
        let id = self.scope().id;
        &mut self.cx.program.bodies[id]
    }

    fn expr(&mut self, kind: ExprKind, span: Span) -> ExprId {
        self.body().exprs.alloc(Expr { kind, span })
    }

    /// Runs `f` on a body of its own, which may capture from those around it.
    fn in_body(&mut self, id: BodyId, f: impl FnOnce(&mut Self)) {
        self.stack.push(BodyScope::new(id, self.lambda_depth));
        f(self);
        self.stack.pop();
    }
}
