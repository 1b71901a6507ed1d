//! Expressions: names, paths, calls, blocks and branches.

use einlang_syntax::SyntaxKind;
use einlang_syntax::ast;

use super::Resolver;
use crate::builtins::Builtin;
use crate::errors;
use crate::hir::*;
use crate::modules::paths;

impl<'t> Resolver<'_, 't> {
    /// Resolves an expression.
    pub(super) fn expression(&mut self, expr: ast::Expr<'t>) -> ExprId {
        let expr = expr.without_parens();
        let span = self.span(expr);
        if let ast::Expr::Block(block) = expr {
            return self.block(block);
        }
        let kind = self.expression_kind(expr).unwrap_or(ExprKind::Error);
        self.expr(kind, span)
    }

    fn expression_kind(&mut self, expr: ast::Expr<'t>) -> Option<ExprKind> {
        Some(match expr {
            ast::Expr::Path(path) => self.path_expression(path),
            ast::Expr::Literal(literal) => ExprKind::Literal(self.number(literal)?),
            ast::Expr::String(string) => self.string(string)?,
            ast::Expr::Paren(_) | ast::Expr::Block(_) => return None,
            ast::Expr::Tuple(tuple) => ExprKind::Tuple(self.expressions(tuple.elements())),
            ast::Expr::Array(array) => ExprKind::Array(self.expressions(array.elements())),
            ast::Expr::Comprehension(comprehension) => self.comprehension(comprehension)?,
            ast::Expr::If(branch) => self.if_expression(branch)?,
            ast::Expr::Match(matching) => self.match_expression(matching)?,
            ast::Expr::Lambda(lambda) => self.lambda(lambda)?,
            ast::Expr::Unary(unary) => self.unary(unary)?,
            ast::Expr::Binary(binary) => self.binary(binary)?,
            ast::Expr::Range(range) => self.range(range),
            ast::Expr::Cast(cast) => {
                let value = self.expression(cast.value()?);
                ExprKind::Cast(value, self.ty(cast.ty()?))
            }
            ast::Expr::Call(call) => self.call(call)?,
            ast::Expr::Index(index) => self.access(index)?,
            ast::Expr::Field(field) => {
                let base = self.expression(field.base()?);
                ExprKind::Field(base, self.cx.token(self.file, field.field()?))
            }
            ast::Expr::Struct(item) => self.struct_expression(item)?,
            ast::Expr::Pipe(pipe) => self.pipe(pipe)?,
            ast::Expr::Else(otherwise) => {
                let left = self.expression(otherwise.left()?);
                ExprKind::OrElse(left, self.expression(otherwise.right()?))
            }
            ast::Expr::Catch(catch) => {
                let left = self.expression(catch.left()?);
                ExprKind::Catch(left, self.expression(catch.right()?))
            }
            ast::Expr::Try(attempt) => ExprKind::Try(self.expression(attempt.expr()?)),
            ast::Expr::With(with) => self.with_updates(with)?,
            ast::Expr::Where(clause) => self.where_expression(clause)?,
        })
    }

    pub(super) fn expressions(
        &mut self,
        exprs: impl Iterator<Item = ast::Expr<'t>>,
    ) -> Vec<ExprId> {
        exprs.map(|expr| self.expression(expr)).collect()
    }

    fn path_expression(&mut self, path: ast::Path<'t>) -> ExprKind {
        match path.single() {
            Some(token) if self.in_subscript() && token.text() == "last" => {
                let name = self.cx.token(self.file, token);
                match self.find_value(name) {
                    Some(res) => ExprKind::Name(res),
                    None => ExprKind::Last,
                }
            }
            _ => ExprKind::Name(self.value_path(path)),
        }
    }

    /// What a path means as a value, or an error.
    pub(super) fn value_path(&mut self, path: ast::Path<'t>) -> Res {
        let (anchors, words) = self.split_path(path);
        if let ([], [name]) = (&anchors[..], &words[..]) {
            return self.value(*name);
        }
        let res = self.long_path(&anchors, &words, path, Namespace::Values);
        let span = self.span(path);
        self.use_item(res, span)
    }

    /// What a path means as a struct or variant with named fields, or an error.
    pub(super) fn struct_path(&mut self, path: ast::Path<'t>) -> Res {
        let (anchors, words) = self.split_path(path);
        if let ([], [name]) = (&anchors[..], &words[..]) {
            if let Some(res) = self.find_type(name.name) {
                return res;
            }
            if let Some(res @ Res::Variant(..)) = self.find_item(name.name) {
                return res;
            }
            let text = self.text(name.name);
            let diagnostic = match self.variant_path(*name) {
                Some(path) => errors::variant_without_enum(&text, &path, name.span),
                None => errors::unknown_type(&text, name.span, self.visible_types()),
            };
            self.cx.report(diagnostic);
            return Res::Error;
        }
        // The last word is a struct of a module or a variant of an enum.
        match self.try_long_path(&anchors, &words, Namespace::Types) {
            Ok(res) => res,
            Err(_) => self.long_path(&anchors, &words, path, Namespace::Values),
        }
    }

    /// What a path means as a type, or an error.
    pub(super) fn type_path(&mut self, path: ast::Path<'t>) -> Res {
        let (anchors, words) = self.split_path(path);
        self.long_path(&anchors, &words, path, Namespace::Types)
    }

    fn split_path(&mut self, path: ast::Path<'t>) -> (Vec<SyntaxKind>, Vec<Ident>) {
        let (mut anchors, mut words) = (Vec::new(), Vec::new());
        for token in path.segments() {
            match token.kind() {
                SyntaxKind::SELF | SyntaxKind::SUPER | SyntaxKind::CRATE => {
                    anchors.push(token.kind())
                }
                _ => words.push(self.cx.token(self.file, token)),
            }
        }
        (anchors, words)
    }

    fn long_path(
        &mut self,
        anchors: &[SyntaxKind],
        words: &[Ident],
        path: ast::Path<'t>,
        namespace: Namespace,
    ) -> Res {
        match self.try_long_path(anchors, words, namespace) {
            Ok(res) => res,
            Err(diagnostic) => {
                let span = self.span(path);
                let diagnostic = match diagnostic {
                    PathFailure::Path(error) => paths::path_error(self.cx, words, span, error),
                    PathFailure::Variant(def, name) => self.unknown_variant(def, name),
                };
                self.cx.report(diagnostic);
                Res::Error
            }
        }
    }

    /// Follows a path of several words. Its first word may be an item of a block around.
    fn try_long_path(
        &mut self,
        anchors: &[SyntaxKind],
        words: &[Ident],
        namespace: Namespace,
    ) -> Result<Res, PathFailure> {
        if anchors.is_empty()
            && let [first, rest @ ..] = words
            && let Some(Res::Def(def)) = self.find_type(first.name)
            && let [variant] = rest
        {
            let found = paths::variant(self.cx, def, variant.name);
            return found.ok_or(PathFailure::Variant(def, *variant));
        }
        if anchors.is_empty()
            && let [first, rest @ ..] = words
            && let Some(Res::Python(base)) = self.find_type(first.name)
        {
            return Ok(paths::python_member(self.cx, base, rest));
        }
        if anchors.is_empty()
            && let [first, _, ..] = words
            && let Some(module @ Res::Module(_)) = self.find_type_in_blocks(first.name)
        {
            let found = paths::resolve_within(self.cx, module, self.module, words, namespace);
            return found.map_err(PathFailure::Path);
        }
        paths::resolve_path(self.cx, self.module, anchors, words, namespace).map_err(|error| {
            // `m::Shape::Dott`: the path is right up to the enum.
            if let [containers @ .., last] = words
                && containers.len() > 1
                && let Ok(Res::Def(def)) =
                    paths::resolve_path(self.cx, self.module, anchors, containers, Namespace::Types)
            {
                return PathFailure::Variant(def, *last);
            }
            PathFailure::Path(error)
        })
    }

    fn unknown_variant(&self, def: DefId, name: Ident) -> einlang_source::Diagnostic {
        let item = &self.cx.program.defs[def];
        let text = self.cx.spelling(name.name);
        let owner = self.cx.spelling(item.name.name);
        match &item.kind {
            DefKind::Enum(item) => {
                let variants =
                    item.variants.iter().map(|variant| self.cx.spelling(variant.name.name));
                let variants: Vec<&str> = variants.collect();
                errors::unknown_variant(text, name.span, owner, variants)
            }
            _ => errors::unknown_module(owner, name.span, []),
        }
    }

    /// What a name means among items and builtins, bindings left out.
    pub(super) fn find_item(&mut self, name: einlang_source::Name) -> Option<Res> {
        let key = (name, Namespace::Values);
        for scope in self.stack.iter().rev() {
            for frame in scope.frames.iter().rev() {
                if let Some((res, _)) = frame.items.get(&key) {
                    return Some(*res);
                }
            }
        }
        let entry = self.cx.program.modules[self.module].scope.entries.get(&key);
        match entry.map(|entry| entry.res) {
            Some(Res::Outer(..)) | None => Builtin::value(self.cx.spelling(name)).map(Res::Builtin),
            found => found,
        }
    }

    fn comprehension(&mut self, comprehension: ast::Comprehension<'t>) -> Option<ExprKind> {
        let element = comprehension.element()?;
        self.in_frame(|r| {
            let mut items = Vec::new();
            for item in comprehension.items() {
                items.push(r.comprehension_item(item)?);
            }
            Some(ExprKind::Comprehension { element: r.expression(element), items })
        })
    }

    fn comprehension_item(&mut self, item: ast::CompItem<'t>) -> Option<CompItem> {
        Some(match item {
            ast::CompItem::Generator(generator) => {
                let iterable = self.expression(generator.iterable()?);
                let pattern = self.pattern(generator.pattern()?, LocalKind::Pattern);
                CompItem::Generator(pattern, iterable)
            }
            ast::CompItem::Binding(binding) => {
                let value = self.expression(binding.value()?);
                let name = self.ident(binding.name()?);
                CompItem::Binding(self.bind(name, LocalKind::Where), value)
            }
            ast::CompItem::Condition(condition) => {
                CompItem::Condition(self.expression(condition.expr()?))
            }
        })
    }

    fn if_expression(&mut self, branch: ast::IfExpr<'t>) -> Option<ExprKind> {
        let condition = self.expression(branch.condition()?);
        let then = self.block(branch.then_branch()?);
        let otherwise = branch.else_branch().map(|otherwise| self.expression(otherwise));
        Some(ExprKind::If { condition, then, otherwise })
    }

    fn match_expression(&mut self, matching: ast::MatchExpr<'t>) -> Option<ExprKind> {
        let scrutinee = self.expression(matching.scrutinee()?);
        let mut arms = Vec::new();
        for arm in matching.arms() {
            let (Some(pattern), Some(value)) = (arm.pattern(), arm.value()) else {
                continue;
            };
            arms.push(self.in_frame(|r| {
                let pattern = r.pattern(pattern, LocalKind::Pattern);
                let guard = arm.guard().map(|guard| r.expression(guard));
                Arm { pattern, guard, value: r.expression(value) }
            }));
        }
        Some(ExprKind::Match { scrutinee, arms })
    }

    fn lambda(&mut self, lambda: ast::LambdaExpr<'t>) -> Option<ExprKind> {
        let body = lambda.body()?;
        self.lambda_depth += 1;
        let kind = self.in_frame(|r| {
            let mut params = Vec::new();
            for param in lambda.params().into_iter().flat_map(ast::ParamList::params) {
                let span = r.span(param);
                let pattern = r.pattern_or_error(param.pattern(), LocalKind::Param, span);
                let ty = param.ty().map(|ty| r.ty(ty));
                params.push(Param { pattern, ty, default: None });
            }
            ExprKind::Lambda { params, body: r.expression(body) }
        });
        self.lambda_depth -= 1;
        Some(kind)
    }

    fn struct_expression(&mut self, item: ast::StructExpr<'t>) -> Option<ExprKind> {
        let res = self.struct_path(item.path()?);
        let mut fields = Vec::new();
        for field in item.fields() {
            let name = self.ident(field.name()?);
            let value = match field.value() {
                Some(value) => self.expression(value),
                None => {
                    let res = self.value(name);
                    self.expr(ExprKind::Name(res), name.span)
                }
            };
            fields.push((name, value));
        }
        Some(ExprKind::Struct { res, fields })
    }
}

enum PathFailure {
    Path(paths::PathError),
    Variant(DefId, Ident),
}
