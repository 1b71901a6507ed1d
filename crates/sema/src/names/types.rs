//! Types, and the sizes and coordinates that they declare.

use einlang_syntax::ast::{self, AstNode};

use super::Resolver;
use crate::builtins::BuiltinType;
use crate::errors;
use crate::hir::*;

impl<'t> Resolver<'_, 't> {
    pub(super) fn ty(&mut self, ty: ast::Type<'t>) -> TypeRef {
        let span = self.span(ty);
        TypeRef { kind: self.type_kind(ty).unwrap_or(TypeKind::Error), span }
    }

    fn type_kind(&mut self, ty: ast::Type<'t>) -> Option<TypeKind> {
        Some(match ty {
            ast::Type::Path(path) => self.named_type(path)?,
            ast::Type::Tensor(tensor) => self.tensor_type(tensor)?,
            ast::Type::Jagged(jagged) => {
                let element = self.ty(jagged.element()?);
                TypeKind::Jagged(Box::new(element), jagged.levels().unwrap_or(1))
            }
            ast::Type::Tuple(tuple) => {
                TypeKind::Tuple(tuple.elements().map(|ty| self.ty(ty)).collect())
            }
            ast::Type::Fn(function) => {
                let params = function.params().map(|ty| self.ty(ty)).collect();
                TypeKind::Fn(params, Box::new(self.ty(function.result()?)))
            }
            ast::Type::Paren(paren) => return self.type_kind(paren.inner()?),
        })
    }

    fn named_type(&mut self, ty: ast::PathType<'t>) -> Option<TypeKind> {
        let path = ty.path()?;
        let args: Vec<TypeRef> = ty.args().map(|arg| self.ty(arg)).collect();
        let Some(single) = path.single() else {
            return Some(TypeKind::Named(self.type_path(path), args));
        };
        if let Some(scalar) = Scalar::parse(single.text()) {
            return Some(TypeKind::Scalar(scalar));
        }
        let name = self.cx.token(self.file, single);
        if let Some(position) = self.generic_parameter(name) {
            return Some(TypeKind::Param(position));
        }
        if let Some(res) = self.find_type(name.name) {
            return Some(TypeKind::Named(res, args));
        }
        let text = self.text(name.name);
        let diagnostic = errors::unknown_type(&text, name.span, self.visible_types());
        self.cx.report(diagnostic);
        None
    }

    /// The position of a type parameter of the function or item around.
    fn generic_parameter(&mut self, name: Ident) -> Option<u32> {
        let generics = &self.body().generics;
        generics.iter().position(|generic| generic.name == name.name).map(|i| i as u32)
    }

    pub(super) fn visible_types(&self) -> Vec<&str> {
        let entries = &self.cx.program.modules[self.module].scope.entries;
        let types = entries.keys().filter(|(_, namespace)| *namespace == Namespace::Types);
        let mut names: Vec<&str> = types.map(|(name, _)| self.cx.spelling(*name)).collect();
        names.extend(Scalar::SPELLINGS.iter().map(|(spelling, _)| *spelling));
        names.extend(BuiltinType::ALL.iter().map(|ty| ty.as_str()));
        names
    }

    fn tensor_type(&mut self, tensor: ast::TensorType<'t>) -> Option<TypeKind> {
        let element = self.ty(tensor.element()?);
        let dims = match tensor.dims() {
            Some(dims) => dims.filter_map(|dim| self.dim(dim)).collect(),
            None => vec![Dim::Any(self.span(tensor))],
        };
        Some(TypeKind::Tensor(Box::new(element), dims))
    }

    fn dim(&mut self, dim: ast::Dim<'t>) -> Option<Dim> {
        let span = self.span(dim);
        Some(match dim {
            ast::Dim::Any(_) => Dim::Any(span),
            ast::Dim::Star(_) => Dim::AnyRank(span),
            ast::Dim::Rest(rest) => {
                let name = self.ident(rest.name()?);
                Dim::Rest(self.rest_in_type(name), span)
            }
            ast::Dim::Expr(expr) => match expr.expr()? {
                ast::Expr::Path(path) if path.single().is_some() => {
                    let name = self.cx.token(self.file, path.single()?);
                    Dim::Extent(Res::Local(self.extent(name)), span)
                }
                other => {
                    self.declare_sizes(other);
                    Dim::Expr(self.expression(other))
                }
            },
        })
    }

    /// The sizes inside `N - K + 1` are declared by it too.
    fn declare_sizes(&mut self, expr: ast::Expr<'t>) {
        for node in expr.node().descendants() {
            let path = ast::Path::cast(node).and_then(ast::Path::single);
            if let Some(token) = path {
                let name = self.cx.token(self.file, token);
                self.extent(name);
            }
        }
    }

    /// The size or coordinate with this name: the one in scope, or a new one that belongs to the
    /// whole function or program.
    fn extent(&mut self, name: Ident) -> LocalId {
        let body = self.scope().id;
        let before = self.find_binding(name).or_else(|| self.find_item(name.name));
        if let Some(Res::Local(local)) = before
            && matches!(self.cx.program.bodies[body].locals[local].kind, LocalKind::Extent(_))
        {
            return local;
        }
        let before = before.filter(|res| !matches!(res, Res::Builtin(_)));
        let local = self.new_local(name, LocalKind::Extent(before));
        self.show_in_body(name, local);
        local
    }

    fn rest_in_type(&mut self, name: Ident) -> LocalId {
        let body = self.scope().id;
        if let Some(Res::Local(local)) = self.find_binding(name)
            && self.cx.program.bodies[body].locals[local].kind == LocalKind::Rest
        {
            return local;
        }
        let local = self.new_local(name, LocalKind::Rest);
        self.show_in_body(name, local);
        local
    }

    /// Makes a name visible in the rest of the body, wherever it was declared.
    fn show_in_body(&mut self, name: Ident, local: LocalId) {
        let scope = self.scope();
        if let Some(frame) = scope.frames.first_mut() {
            frame.locals.push(name.name, local);
        }
    }
}
