//! The functions of the host that the standard library offers: characters, numbers in text, files.
//!
//! What a file holds, and what a function of Python gives, has no type of its own: it is undecided until
//! an annotation or a cast says what it is, and one that nothing says anything about is an error.

use einlang_source::{Name, Span};

use super::Checker;
use super::calls::Fault;
use super::instances::InstanceId;
use super::ty::{Ty, VarId};
use super::vars::Kind;
use crate::builtins::Function;
use crate::errors;
use crate::hir::Scalar;

/// A call of a loader whose result still waits for its type.
pub(super) struct Loading {
    var: VarId,
    pub(super) instance: InstanceId,
    from: Giver,
    span: Span,
}

/// Where a value without a type of its own comes from.
#[derive(Clone, Copy)]
enum Giver {
    File(Function),
    Python(Name),
}

impl Checker<'_> {
    /// The result of a host function; none for functions of other kinds.
    pub(super) fn host_result(
        &mut self,
        function: Function,
        args: &[Ty],
        at: &dyn Fn(usize) -> Span,
    ) -> Option<Result<Ty, Fault>> {
        let strings = |n_axes| Ty::with_axes(Ty::STR, n_axes);
        let (wanted, result) = match function {
            Function::Chars => (vec![Ty::STR], Ty::with_axes(Ty::I32, 1)),
            Function::FromChars => (vec![Ty::with_axes(Ty::I32, 1)], Ty::STR),
            Function::Upper | Function::Lower => (vec![Ty::STR], Ty::STR),
            Function::ParseI64 => (vec![Ty::STR], Ty::Scalar(Scalar::I64)),
            Function::ParseF64 => (vec![Ty::STR], Ty::Scalar(Scalar::F64)),
            Function::ReadText => (vec![Ty::STR], Ty::STR),
            Function::WriteText => (vec![Ty::STR, Ty::STR], Ty::unit()),
            Function::FileExists => (vec![Ty::STR], Ty::BOOL),
            Function::ListDir => (vec![Ty::STR], strings(1)),
            Function::SaveTensor => (vec![Ty::STR, Ty::STR], Ty::unit()),
            Function::SaveTensors => (vec![Ty::STR, Ty::STR, strings(1)], Ty::unit()),
            loader if loader.is_loader() => (vec![Ty::STR; args.len()], Ty::Unknown),
            _ => return None,
        };
        for (index, (wanted, given)) in wanted.iter().zip(args).enumerate() {
            if !self.unify(wanted, given) {
                let (wanted, got) = (self.show(wanted), self.show(given));
                let fault = errors::wrong_argument(&wanted, &got, at(index), None);
                return Some(Err(Box::new(fault)));
            }
        }
        let saved = match (function, args) {
            (Function::SaveTensor, [_, _, value]) => vec![self.shallow(value)],
            (Function::SaveTensors, [_, _, _, values]) => match self.shallow(values) {
                Ty::Tuple(values) => values.iter().map(|value| self.shallow(value)).collect(),
                value => vec![value],
            },
            _ => Vec::new(),
        };
        if let Some(value) = saved.iter().find(|value| !may_be_saved(&self.vars.settled(value))) {
            let got = self.show(value);
            let fault =
                errors::wrong_argument("a number or a tensor", &got, at(args.len() - 1), None);
            return Some(Err(Box::new(fault)));
        }
        Some(Ok(match function.is_loader() {
            true => self.loading(Giver::File(function), at(0)),
            false => result,
        }))
    }

    /// The result of a function of Python, which takes data of any kind.
    pub(super) fn python_result(
        &mut self,
        path: Name,
        args: &[(Ty, Span)],
        span: Span,
    ) -> Result<Ty, Fault> {
        for (ty, at) in args {
            let found = self.shallow(ty);
            if matches!(found, Ty::Fn(_) | Ty::Range(_) | Ty::Differential(_)) {
                let got = self.show(&found);
                let fault = errors::wrong_argument("numbers, text or records", &got, *at, None);
                return Err(Box::new(fault));
            }
        }
        Ok(self.loading(Giver::Python(path), span))
    }

    /// What a function of Python gives and nobody wants is nothing.
    pub(super) fn discard(&mut self, ty: &Ty) {
        if self.is_loading(ty) && self.loaded_by_python(ty) {
            self.unify(ty, &Ty::unit());
        }
    }

    fn loaded_by_python(&self, ty: &Ty) -> bool {
        let free = self.vars.shallow(ty);
        self.loadings.iter().any(|loading| {
            matches!(loading.from, Giver::Python(_))
                && self.vars.shallow(&Ty::Var(loading.var)) == free
        })
    }

    /// A type that the context has to tell.
    fn loading(&mut self, from: Giver, span: Span) -> Ty {
        let ty = self.vars.fresh(Kind::Any);
        if let Ty::Var(var) = ty {
            self.loadings.push(Loading { var, instance: self.cur, from, span });
        }
        ty
    }

    /// Whether a value was loaded and nothing has said yet what it is.
    pub(super) fn is_loading(&self, ty: &Ty) -> bool {
        let Ty::Var(free) = self.vars.shallow(ty) else { return false };
        self.vars.kind(free) == Kind::Any
            && self
                .loadings
                .iter()
                .any(|loading| self.vars.shallow(&Ty::Var(loading.var)) == Ty::Var(free))
    }

    /// Reports what was loaded without a type.
    pub(super) fn check_loadings(&mut self) {
        for loading in std::mem::take(&mut self.loadings) {
            let found = self.vars.settled(&Ty::Var(loading.var));
            if !matches!(self.vars.shallow(&Ty::Var(loading.var)), Ty::Var(_)) {
                if let Giver::File(function) = loading.from
                    && is_text(&found)
                {
                    let fault =
                        errors::loads_numbers(function.as_str(), &self.show(&found), loading.span);
                    self.instances[loading.instance.index()].diagnostics.push(fault);
                }
                continue;
            }
            let work = &mut self.instances[loading.instance.index()];
            if !work.alive {
                continue;
            }
            let message = match loading.from {
                Giver::File(function) => errors::untyped_load(function.as_str(), loading.span),
                Giver::Python(path) => {
                    errors::untyped_python(self.interner.resolve(path), loading.span)
                }
            };
            work.diagnostics.push(message);
        }
    }
}

/// Whether a type is that of text, or of a tensor of it.
fn is_text(ty: &Ty) -> bool {
    match ty {
        Ty::Tensor(element, _) => **element == Ty::STR,
        ty => *ty == Ty::STR,
    }
}

/// Whether a file of tensors can hold a value.
fn may_be_saved(ty: &Ty) -> bool {
    match ty {
        Ty::Error | Ty::Unknown | Ty::Var(_) | Ty::Range(_) => true,
        Ty::Tensor(element, _) => {
            matches!(**element, Ty::Scalar(_) | Ty::Error | Ty::Unknown | Ty::Var(_))
                && !is_text(ty)
        }
        Ty::Scalar(_) => !is_text(ty),
        _ => false,
    }
}
