//! The inside of items.

use einlang_syntax::ast;

use super::Resolver;
use crate::hir::*;
use crate::modules::imports;

impl<'t> Resolver<'_, 't> {
    /// Fills in an item that was declared before.
    pub(super) fn item(&mut self, def: DefId, item: ast::Statement<'t>) {
        match item {
            ast::Statement::Fn(item) => self.function(def, item),
            ast::Statement::Struct(item) => self.structure(def, item),
            ast::Statement::Enum(item) => self.enumeration(def, item),
            ast::Statement::Const(item) => self.constant(def, item),
            ast::Statement::Input(item) => self.input(def, item),
            _ => {}
        }
    }

    fn function(&mut self, def: DefId, item: ast::FnItem<'t>) {
        let attrs = self.attributes(item);
        let DefKind::Fn(function) = &mut self.cx.program.defs[def].kind else {
            return;
        };
        function.attrs = attrs;
        let id = function.body;
        self.in_body(id, |r| {
            let generics = item.generics().map(|name| r.ident(name)).collect();
            r.body().generics = generics;
            for name in item.coordinates() {
                let name = r.ident(name);
                let local = r.bind(name, LocalKind::Extent(None));
                r.body().coordinates.push(local);
            }
            r.parameters(item.params());
            let ret = item.ret_type().map(|ty| r.ty(ty));
            r.body().ret = ret;
            r.body_value(item.body());
        });
    }

    /// Parameters are visible to each other's types and defaults, so all are bound first.
    fn parameters(&mut self, params: impl Iterator<Item = ast::Param<'t>>) {
        let params: Vec<_> = params.collect();
        let mut patterns = Vec::new();
        for param in &params {
            let span = self.span(*param);
            patterns.push(self.pattern_or_error(param.pattern(), LocalKind::Param, span));
        }
        for (param, pattern) in params.into_iter().zip(patterns) {
            let ty = param.ty().map(|ty| self.ty(ty));
            let default = param.default().map(|default| self.expression(default));
            self.body().params.push(Param { pattern, ty, default });
        }
    }

    fn body_value(&mut self, block: Option<ast::Block<'t>>) {
        if let Some(block) = block {
            let value = self.block(block);
            self.body().value = Some(value);
        }
    }

    /// `@fn f(x, y) from @r { … }`
    pub(super) fn rule(&mut self, item: ast::RuleItem<'t>) {
        let Some(path) = item.path() else { return };
        let target = self.value_path(path);
        let Some(last) = path.last() else { return };
        let name = self.cx.token(self.file, last);
        let span = self.span(item);
        let inside = (self.stack.len() > 1).then(|| self.scope().id);
        let parent = Some(self.scope().id);
        let def = einlang_source::Id::from_index(self.cx.program.defs.len());
        let body = self.cx.program.bodies.alloc(Body::new(Owner::Def(def), parent));
        let kind = DefKind::Rule(Rule { target, body, reverse: item.from().is_some() });
        let module = self.module;
        self.cx.program.defs.alloc(Def { name, module, inside, public: false, span, kind });
        self.in_body(body, |r| {
            r.parameters(item.params());
            if let Some(cotangent) = item.from().and_then(|from| from.name()) {
                let ident = r.ident(cotangent);
                let local = r.bind(ident, LocalKind::Param);
                let pattern = Pattern { kind: PatternKind::Bind(local, None), span: ident.span };
                r.body().params.push(Param { pattern, ty: None, default: None });
            }
            // The value of the function at the same arguments.
            let result = r.cx.interner.intern("result");
            r.bind(Ident { name: result, span: name.span }, LocalKind::Let);
            r.body_value(item.body());
        });
    }

    fn structure(&mut self, def: DefId, item: ast::StructItem<'t>) {
        let generics: Vec<Ident> = item.generics().map(|name| self.ident(name)).collect();
        let fields = self.with_generics(&generics, |r| r.fields(item.fields()));
        if let DefKind::Struct(structure) = &mut self.cx.program.defs[def].kind {
            *structure = Struct { generics, fields };
        }
    }

    fn fields(&mut self, fields: impl Iterator<Item = ast::FieldDef<'t>>) -> Vec<Field> {
        let mut resolved: Vec<Field> = Vec::new();
        for field in fields {
            let (Some(name), Some(ty)) = (field.name(), field.ty()) else {
                continue;
            };
            let name = self.ident(name);
            if let Some(first) = resolved.iter().find(|first| first.name.name == name.name) {
                let (text, first) = (self.text(name.name), first.name.span);
                self.cx.report(crate::errors::member_clash(&text, name.span, first));
            }
            let ty = self.ty(ty);
            resolved.push(Field { name, ty });
        }
        resolved
    }

    fn enumeration(&mut self, def: DefId, item: ast::EnumItem<'t>) {
        let generics: Vec<Ident> = item.generics().map(|name| self.ident(name)).collect();
        let variants: Vec<Variant> = self.with_generics(&generics, |r| {
            let named = item.variants().filter_map(|variant| Some((variant.name()?, variant)));
            let named: Vec<_> = named.collect();
            named.into_iter().map(|(name, variant)| r.variant(name, variant)).collect()
        });
        if let DefKind::Enum(enumeration) = &mut self.cx.program.defs[def].kind {
            *enumeration = Enum { generics, variants };
        }
    }

    fn variant(&mut self, name: ast::Name<'t>, variant: ast::Variant<'t>) -> Variant {
        let name = self.ident(name);
        let payload = match variant.payload() {
            ast::Payload::Unit => Payload::Unit,
            ast::Payload::Tuple(types) => {
                Payload::Tuple(types.into_iter().map(|ty| self.ty(ty)).collect())
            }
            ast::Payload::Fields(fields) => Payload::Fields(self.fields(fields.into_iter())),
        };
        Variant { name, payload }
    }

    /// Types of a struct or enum see its type parameters, which live on a body of their own.
    fn with_generics<R>(&mut self, generics: &[Ident], f: impl FnOnce(&mut Self) -> R) -> R {
        let outer = std::mem::replace(&mut self.body().generics, generics.to_vec());
        let result = f(self);
        self.body().generics = outer;
        result
    }

    fn constant(&mut self, def: DefId, item: ast::ConstItem<'t>) {
        let DefKind::Const(constant) = &self.cx.program.defs[def].kind else {
            return;
        };
        let id = constant.body;
        let mut ty = None;
        self.in_body(id, |r| {
            ty = item.ty().map(|ty| r.ty(ty));
            let value = item.value().map(|value| r.expression(value));
            r.body().value = value;
        });
        self.cx.program.defs[def].kind = DefKind::Const(Const { ty, body: id });
    }

    /// The sizes in the type of an input are visible in the program from there on, so the type
    /// belongs to the body of the module.
    fn input(&mut self, def: DefId, item: ast::InputItem<'t>) {
        let Some(ty) = item.ty() else { return };
        let ty = self.ty(ty);
        let DefKind::Input(input) = &mut self.cx.program.defs[def].kind else {
            return;
        };
        input.ty = ty;
        let id = input.body;
        self.in_body(id, |r| {
            let default = item.default().map(|default| r.expression(default));
            r.body().value = default;
        });
    }

    /// Imports written inside a block.
    pub(super) fn block_imports(&mut self, statements: &[ast::Statement<'t>]) {
        for statement in statements {
            let ast::Statement::Use(item) = statement else {
                continue;
            };
            let Some(tree) = item.tree() else { continue };
            let frames = self.stack.iter().rev().flat_map(|scope| scope.frames.iter().rev());
            let local = |name| {
                let key = (name, Namespace::Types);
                frames.clone().find_map(|frame| frame.items.get(&key)).map(|(res, _)| *res)
            };
            let found = imports::in_block(self.cx, self.module, self.file, tree, &local);
            for (name, namespace, res) in found {
                self.frame().items.insert((name.name, namespace), (res, name.span));
            }
        }
    }
}
