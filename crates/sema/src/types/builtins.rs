//! The functions that every program has.

use einlang_source::{Diagnostic, Span};

use super::Checker;
use super::calls::Fault;
use super::operators::Leaf;
use super::ty::Ty;
use crate::builtins::Function;
use crate::errors;
use crate::hir::Scalar;

/// How many arguments a builtin takes; none where any number is fine.
fn arity(function: Function) -> Option<std::ops::RangeInclusive<usize>> {
    Some(match function {
        Function::Print => return None,
        Function::Assert => 1..=2,
        Function::ArrayAppend
        | Function::Band
        | Function::Bor
        | Function::Bxor
        | Function::Shl
        | Function::Shr
        | Function::Min
        | Function::Max
        | Function::Pow
        | Function::Atan2
        | Function::Hypot
        | Function::WriteText
        | Function::LoadNpz
        | Function::LoadSafetensors
        | Function::LoadTensor => 2..=2,
        Function::SaveTensor => 3..=3,
        Function::SaveTensors => 4..=4,
        _ => 1..=1,
    })
}

impl Checker<'_> {
    pub(super) fn builtin_result(
        &mut self,
        function: Function,
        args: &[Ty],
        spans: &[Span],
        span: Span,
    ) -> Result<Ty, Fault> {
        if let Some(wanted) = arity(function)
            && !wanted.contains(&args.len())
        {
            let n_wanted = *wanted.end();
            return Err(Box::new(errors::wrong_arity(
                function.as_str(),
                n_wanted,
                args.len(),
                span,
                None,
            )));
        }
        let at = |index: usize| spans.get(index).copied().unwrap_or(span);
        if let Some(result) = self.host_result(function, args, &at) {
            return result;
        }
        match (function, args) {
            (Function::Assert, [condition, rest @ ..]) => {
                self.assertion(condition, rest, at(0), at(1))
            }
            (Function::Len, [value]) => self.length(value, at(0)),
            (Function::Shape, [value]) => self.shape(value, at(0)),
            (Function::Typeof, _) => Ok(Ty::STR),
            (Function::Converged, _) => Ok(Ty::BOOL),
            (Function::Detach, [value]) => Ok(value.clone()),
            (Function::ArrayAppend, [list, value]) => self.appended(list, value, at(1)),
            (Function::Min | Function::Max, [a, b]) => self.extremal(function, a, b, at(0), at(1)),
            (Function::Pow, [a, b]) => {
                let combined = self.combine(Leaf::Power, a, b);
                combined.map_err(|_| Box::new(self.two_arguments(function, a, b, at(0), at(1))))
            }
            (Function::Bnot, [value]) => self.bits(function, value, value, at(0), at(0)),
            (Function::Band | Function::Bor | Function::Bxor, [a, b]) => {
                self.bits(function, a, b, at(0), at(1))
            }
            (Function::Shl | Function::Shr, [a, b]) => {
                self.integer_argument(function, b, at(1))?;
                self.bits(function, a, a, at(0), at(0))
            }
            (Function::Atan2 | Function::Hypot, [a, b]) => {
                self.float_argument(function, a, at(0))?;
                self.float_argument(function, b, at(1))?;
                self.extremal(function, a, b, at(0), at(1))
            }
            (Function::IsNan | Function::IsFinite, [value]) => {
                self.float_argument(function, value, at(0))?;
                Ok(self.truth_of(value))
            }
            (Function::Abs | Function::Sign, [value]) => {
                let plain = self.plain(value);
                match self.combine(Leaf::Number, &plain, &plain) {
                    Ok(_) => Ok(value.clone()),
                    Err(_) => Err(Box::new(errors::needs_number(
                        function.as_str(),
                        &self.show(value),
                        at(0),
                    ))),
                }
            }
            (Function::Print, _) => Ok(Ty::unit()),
            (_, [value]) => {
                self.float_argument(function, value, at(0))?;
                Ok(value.clone())
            }
            _ => Ok(Ty::Error),
        }
    }

    fn float_argument(&mut self, function: Function, value: &Ty, at: Span) -> Result<(), Fault> {
        let plain = self.plain(value);
        match self.float_leaves(&plain) {
            true => Ok(()),
            false => {
                let got = self.show(value);
                Err(Box::new(errors::needs_float(function.as_str(), &got, at)))
            }
        }
    }

    /// The type with each leaf a truth value.
    fn truth_of(&mut self, ty: &Ty) -> Ty {
        match self.shallow(ty) {
            Ty::Tensor(_, extents) => Ty::Tensor(Box::new(Ty::BOOL), extents),
            ty if ty.is_silent() => ty,
            _ => Ty::BOOL,
        }
    }

    fn assertion(
        &mut self,
        condition: &Ty,
        message: &[Ty],
        at: Span,
        at_message: Span,
    ) -> Result<Ty, Fault> {
        if !self.unify(condition, &Ty::BOOL) {
            let got = self.show(condition);
            return Err(Box::new(errors::condition_not_bool(
                "the condition of `assert`",
                &got,
                at,
            )));
        }
        match message.first() {
            Some(message) if !self.unify(message, &Ty::STR) => {
                Err(Box::new(errors::wrong_argument("str", &self.show(message), at_message, None)))
            }
            _ => Ok(Ty::unit()),
        }
    }

    fn length(&mut self, value: &Ty, at: Span) -> Result<Ty, Fault> {
        match self.shallow(value) {
            Ty::Tensor(..) | Ty::Jagged(..) | Ty::Range(_) | Ty::Scalar(Scalar::Str) => Ok(Ty::I32),
            ty if ty.is_silent() => Ok(Ty::I32),
            ty @ Ty::Var(_) if self.vars.literal(&ty).is_none() => Ok(Ty::I32),
            _ => Err(Box::new(errors::needs_array("len", &self.show(value), at))),
        }
    }

    fn shape(&mut self, value: &Ty, at: Span) -> Result<Ty, Fault> {
        match self.shallow(value) {
            Ty::Tensor(_, extents) => Ok(Ty::tensor(Ty::I32, vec![Some(extents.len() as u64)])),
            Ty::Scalar(_) | Ty::Var(_) => Ok(Ty::tensor(Ty::I32, vec![Some(0)])),
            ty if ty.is_silent() => Ok(Ty::with_axes(Ty::I32, 1)),
            _ => Err(Box::new(errors::needs_array("shape", &self.show(value), at))),
        }
    }

    fn appended(&mut self, list: &Ty, value: &Ty, at: Span) -> Result<Ty, Fault> {
        let whole = self.shallow(list);
        let Some(element) = self.element_of(&whole) else {
            return Err(Box::new(errors::needs_array("array_append", &self.show(list), at)));
        };
        match (self.join(&element, value), whole) {
            (Some(element), Ty::Jagged(_, levels)) if levels > 1 => Ok(match element {
                Ty::Jagged(..) => Ty::tensor(element, vec![None]),
                element => element,
            }),
            (Some(element), _) => Ok(Ty::tensor(element, vec![None])),
            (None, _) => Err(Box::new(errors::wrong_argument(
                &self.show(&element),
                &self.show(value),
                at,
                None,
            ))),
        }
    }

    fn extremal(
        &mut self,
        function: Function,
        a: &Ty,
        b: &Ty,
        at: Span,
        at_second: Span,
    ) -> Result<Ty, Fault> {
        let combined = self.combine(Leaf::Number, a, b);
        combined.map_err(|_| Box::new(self.two_arguments(function, a, b, at, at_second)))
    }

    fn two_arguments(
        &mut self,
        function: Function,
        a: &Ty,
        b: &Ty,
        at: Span,
        second: Span,
    ) -> Diagnostic {
        errors::arguments_differ(function.as_str(), &self.show(a), &self.show(b), second, at)
    }

    fn bits(
        &mut self,
        function: Function,
        a: &Ty,
        b: &Ty,
        at: Span,
        at_second: Span,
    ) -> Result<Ty, Fault> {
        self.integer_argument(function, a, at)?;
        self.integer_argument(function, b, at_second)?;
        self.extremal(function, a, b, at, at_second)
    }

    fn integer_argument(&mut self, function: Function, ty: &Ty, at: Span) -> Result<(), Fault> {
        let element = match self.shallow(ty) {
            Ty::Tensor(element, _) => *element,
            ty => ty,
        };
        match self.is_integer(&element) {
            true => Ok(()),
            false => Err(Box::new(errors::needs_integer(function.as_str(), &self.show(ty), at))),
        }
    }

    /// Whether every leaf is a float, or a literal that becomes one.
    fn float_leaves(&mut self, ty: &Ty) -> bool {
        match self.shallow(ty) {
            Ty::Scalar(scalar) => scalar.is_float(),
            Ty::Tensor(element, _) => self.float_leaves(&element),
            Ty::Tuple(parts) => parts.iter().all(|part| self.float_leaves(part)),
            record @ Ty::Struct(..) => {
                let fields = self.fields_of(&record);
                self.record_depth += 1;
                let all = self.record_depth > super::MAX_RECORD_DEPTH
                    || fields.iter().all(|(_, field)| self.float_leaves(field));
                self.record_depth -= 1;
                all
            }
            ty @ Ty::Var(_) => self.vars.promote(&ty) || self.unify(&ty, &Ty::Scalar(Scalar::F32)),
            ty => ty.is_silent(),
        }
    }
}
