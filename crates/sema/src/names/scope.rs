//! The stack of scopes, and the order in which a name is looked up: scopes from the inside out
//! (bindings before items in each), bodies from the inside out, the module, indexed definitions
//! that come later, builtins.

use einlang_source::map::HashMap;

use einlang_source::{Id, Name, Span};

use super::Resolver;
use super::bindings::Bindings;
use super::clauses::Capture;
use crate::builtins::{Builtin, BuiltinType};
use crate::errors;
use crate::hir::*;

/// The scopes of one body.
pub(super) struct BodyScope {
    pub(super) id: BodyId,
    pub(super) frames: Vec<Frame>,
    /// Counts statements, so that "before" has a meaning within the body.
    pub(super) time: u32,
}

impl BodyScope {
    pub(super) fn new(id: BodyId, lambda_depth: u32) -> BodyScope {
        BodyScope { id, frames: vec![Frame::new(lambda_depth)], time: 0 }
    }
}

/// One scope.
pub(super) struct Frame {
    /// Bindings, the latest last.
    pub(super) locals: Bindings,
    /// Items of the block, visible throughout.
    pub(super) items: HashMap<(Name, Namespace), (Res, Span)>,
    /// Indexed definitions of the block by name, from their first clause.
    pub(super) indexed: HashMap<Name, LocalId>,
    /// Uses of the block's bindings: which, by which statement, from inside a closure.
    pub(super) uses: Vec<Use>,
    /// The statement being resolved.
    pub(super) statement: u32,
    lambda_depth: u32,
}

/// A use of a binding of a block.
#[derive(Clone, Copy)]
pub(super) struct Use {
    pub(super) local: LocalId,
    pub(super) statement: u32,
    pub(super) in_closure: bool,
    pub(super) span: Span,
}

impl Frame {
    fn new(lambda_depth: u32) -> Frame {
        Frame {
            locals: Bindings::default(),
            items: HashMap::default(),
            indexed: HashMap::default(),
            uses: Vec::new(),
            statement: 0,
            lambda_depth,
        }
    }
}

impl Resolver<'_, '_> {
    /// The innermost body.
    pub(super) fn scope(&mut self) -> &mut BodyScope {
        self.stack.last_mut().expect("invariant: names are resolved inside a body")
    }

    /// The innermost scope.
    pub(super) fn frame(&mut self) -> &mut Frame {
        self.scope().frames.last_mut().expect("invariant: a body has a scope")
    }

    /// Runs `f` in a scope of its own.
    pub(super) fn in_frame<R>(&mut self, f: impl FnOnce(&mut Self) -> R) -> R {
        let frame = Frame::new(self.lambda_depth);
        self.scope().frames.push(frame);
        let result = f(self);
        self.scope().frames.pop();
        result
    }

    /// Opens a scope that lasts as long as the body.
    pub(super) fn open_frame(&mut self) {
        let frame = Frame::new(self.lambda_depth);
        self.scope().frames.push(frame);
    }

    /// Makes a binding without making it visible. Those of a module were made beforehand.
    pub(super) fn new_local(&mut self, name: Ident, kind: LocalKind) -> LocalId {
        if let Some(local) = self.announced.remove(&name.span) {
            return local;
        }
        self.body().locals.alloc(Local { name, kind })
    }

    /// Makes a binding visible from here on.
    pub(super) fn show(&mut self, local: LocalId) {
        let name = self.body().locals[local].name.name;
        self.frame().locals.push(name, local);
        let (id, time) = (self.scope().id, self.scope().time);
        self.captures.push(Capture::Bound { body: id, local, time });
    }

    pub(super) fn bind(&mut self, name: Ident, kind: LocalKind) -> LocalId {
        let local = self.new_local(name, kind);
        self.show(local);
        local
    }

    /// What a value name means; nothing is reported.
    pub(super) fn find_value(&mut self, name: Ident) -> Option<Res> {
        self.find_binding(name)
            .or_else(|| self.find_in_module(name.name, Namespace::Values))
            .or_else(|| self.find_later(name))
            .or_else(|| Builtin::value(self.cx.spelling(name.name)).map(Res::Builtin))
    }

    /// What a name means as a binding or block item, without looking further.
    pub(super) fn find_binding(&mut self, name: Ident) -> Option<Res> {
        for depth in (0..self.stack.len()).rev() {
            for level in (0..self.stack[depth].frames.len()).rev() {
                let frame = &self.stack[depth].frames[level];
                if let Some(local) = frame.locals.get(name.name) {
                    return Some(self.use_local(depth, level, local, name.span));
                }
                if let Some((res, _)) = frame.items.get(&(name.name, Namespace::Values)).copied() {
                    return Some(self.use_item(res, name.span));
                }
            }
        }
        None
    }

    /// The size or coordinate of this name, also where an index of the same name is in scope.
    pub(super) fn find_extent(&mut self, name: Ident) -> Option<Res> {
        for depth in (0..self.stack.len()).rev() {
            let body = self.stack[depth].id;
            for level in (0..self.stack[depth].frames.len()).rev() {
                let Some(local) = self.stack[depth].frames[level].locals.get(name.name) else {
                    continue;
                };
                if matches!(self.cx.program.bodies[body][local].kind, LocalKind::Extent(_)) {
                    return Some(self.use_local(depth, level, local, name.span));
                }
            }
        }
        None
    }

    fn use_local(&mut self, depth: usize, level: usize, local: LocalId, span: Span) -> Res {
        let inner = depth + 1 == self.stack.len();
        let lambda_depth = self.lambda_depth;
        let scope = &mut self.stack[depth];
        let frame = &mut scope.frames[level];
        let in_closure = !inner || lambda_depth > frame.lambda_depth;
        frame.uses.push(Use { local, statement: frame.statement, in_closure, span });
        let body = scope.id;
        if inner {
            return Res::Local(local);
        }
        let user = self.scope().id;
        self.captures.push(Capture::Captures { user, body, local });
        Res::Outer(body, local)
    }

    /// Remembers where functions are referred to, for the check that they are not called early.
    pub(super) fn use_item(&mut self, res: Res, span: Span) -> Res {
        if let Res::Def(def) = res {
            let (body, time) = (self.scope().id, self.scope().time);
            self.captures.push(Capture::Refers { body, time, def, span });
        }
        res
    }

    /// The module's items and imports; its own bindings are found by their scope.
    fn find_in_module(&mut self, name: Name, namespace: Namespace) -> Option<Res> {
        let module = &self.cx.program.modules[self.module];
        let entry = module.scope.entries.get(&(name, namespace))?;
        match entry.res {
            Res::Outer(body, _) if Some(body) == module.body => {
                module.scope.before_bindings.get(&(name, namespace)).copied()
            }
            res => Some(res),
        }
    }

    /// An indexed definition that begins later in a block around.
    fn find_later(&mut self, name: Ident) -> Option<Res> {
        let depth = self.stack.len().checked_sub(1)?;
        for level in (0..self.stack[depth].frames.len()).rev() {
            if let Some(local) = self.stack[depth].frames[level].indexed.get(&name.name).copied() {
                return Some(self.use_local(depth, level, local, name.span));
            }
        }
        None
    }

    /// What a value name means, or an error.
    pub(super) fn value(&mut self, name: Ident) -> Res {
        if let Some(res) = self.find_value(name) {
            return self.use_item(res, name.span);
        }
        let text = self.text(name.name);
        let diagnostic = if self.find_type(name.name).is_some() {
            match self.find_type(name.name) {
                Some(Res::Module(_)) => errors::module_is_no_value(&text, name.span),
                _ => errors::type_is_no_value(&text, name.span),
            }
        } else {
            match (self.variant_path(name), self.sized_function(name)) {
                (Some(path), _) => errors::variant_without_enum(&text, &path, name.span),
                (None, Some(function)) => errors::size_in_rule(&text, &function, name.span),
                (None, None) => {
                    let suggest = self.cx.may_suggest();
                    let candidates = if suggest { self.visible_values() } else { Vec::new() };
                    errors::unknown_name(&text, name.span, candidates)
                }
            }
        };
        self.cx.report(diagnostic);
        // One message per name: from here on it is bound to an error.
        self.forgive(name);
        Res::Error
    }

    /// The function whose rule this is, if it has a size of this name.
    fn sized_function(&self, name: Ident) -> Option<String> {
        let bodies = &self.cx.program.bodies;
        let Owner::Def(def) = bodies[self.stack.last()?.id].owner else { return None };
        let DefKind::Rule(Rule { target: Res::Def(target), .. }) = self.cx.program.defs[def].kind
        else {
            return None;
        };
        let function = &self.cx.program.defs[target];
        let DefKind::Fn(Function { body, .. }) = function.kind else { return None };
        let is_size = |local: &Local| {
            matches!(local.kind, LocalKind::Extent(_)) && local.name.name == name.name
        };
        let sized = bodies[body].locals.iter().any(|(_, local)| is_size(local));
        sized.then(|| self.text(function.name.name))
    }

    /// The path to a variant of this name, if an enum of the program has one.
    pub(super) fn variant_path(&self, name: Ident) -> Option<String> {
        let mut defs = self.cx.program.defs.values();
        defs.find_map(|def| match &def.kind {
            DefKind::Enum(item) if item.variants.iter().any(|v| v.name.name == name.name) => {
                Some(format!("{}::{}", self.text(def.name.name), self.text(name.name)))
            }
            _ => None,
        })
    }

    /// Binds an unknown name to an error in the outermost scope of the body.
    fn forgive(&mut self, name: Ident) {
        let key = (name.name, Namespace::Values);
        if let Some(frame) = self.scope().frames.first_mut() {
            frame.items.insert(key, (Res::Error, name.span));
        }
    }

    /// What a name means among the types and modules of the blocks around.
    pub(super) fn find_type_in_blocks(&self, name: Name) -> Option<Res> {
        let key = (name, Namespace::Types);
        let mut frames = self.stack.iter().rev().flat_map(|scope| scope.frames.iter().rev());
        frames.find_map(|frame| frame.items.get(&key)).map(|(res, _)| *res)
    }

    /// What a name means as a type or module; nothing is reported.
    pub(super) fn find_type(&mut self, name: Name) -> Option<Res> {
        if let Some(res) = self.find_type_in_blocks(name) {
            return Some(res);
        }
        let root: ModuleId = Id::from_index(0);
        self.find_in_module(name, Namespace::Types)
            .or_else(|| {
                BuiltinType::parse(self.cx.spelling(name)).map(|ty| Res::Builtin(Builtin::Type(ty)))
            })
            .or_else(|| {
                // A path may also begin at the root of the project.
                let entry =
                    self.cx.program.modules[root].scope.entries.get(&(name, Namespace::Types))?;
                matches!(entry.res, Res::Module(_)).then_some(entry.res)
            })
    }

    /// The names a reader could have meant, nearest scope first.
    pub(super) fn visible_values(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for scope in self.stack.iter().rev() {
            for frame in scope.frames.iter().rev() {
                names.extend(frame.locals.names());
                names.extend(frame.indexed.keys().copied());
                let values = frame
                    .items
                    .iter()
                    .filter(|((_, ns), (res, _))| *ns == Namespace::Values && *res != Res::Error);
                names.extend(values.map(|((name, _), _)| *name));
            }
        }
        let entries = &self.cx.program.modules[self.module].scope.entries;
        names.extend(
            entries.keys().filter(|(_, ns)| *ns == Namespace::Values).map(|(name, _)| *name),
        );
        let mut names: Vec<&str> = names.into_iter().map(|name| self.cx.spelling(name)).collect();
        for builtin in Builtin::value_names() {
            names.push(builtin);
        }
        names
    }
}
