//! Index expressions: from the variables of the analysis to those of the module under
//! construction.
//!
//! An index variable is bound by whoever opens its clause or reduction; a symbol is found through
//! its origin, as the extent or integer that the value has here. A function that is lowered in
//! place thus sees the extents of its caller.

use einlang_index::{Affine, Domain, MinMax, Quasi, Result as IndexResult, Set, Var, VarKind};
use einlang_source::Span;
use einlang_tir::module::SymbolSource;
use einlang_tir::types::{Elem, Loc};

use super::lists::List;
use super::tensors::Home;
use super::value::{Form, R, Scalar, Val};
use super::{Lower, unsupported};
use crate::hir::{ExprId, LocalId};
use crate::shapes::{Origin, Source};
use crate::types::InstanceId;

impl<'p> Lower<'p> {
    /// An answer of the index arithmetic, or a diagnostic where it gave up.
    pub(super) fn index_result<T>(&self, result: IndexResult<T>, span: Span) -> R<T> {
        match result {
            Ok(value) => Ok(value),
            Err(_) => unsupported(span, "index arithmetic beyond 64 bits"),
        }
    }

    /// What a variable of the analysis is here.
    pub(super) fn var(&mut self, var: Var) -> R<Quasi> {
        let mut frame = Some(&self.frame);
        while let Some(at) = frame {
            if let Some((module, found)) = at.vars.get(&var)
                && self.pending == Some(*module)
            {
                return Ok(found.clone());
            }
            if let Some(host) = at.host_vars.get(&var).cloned() {
                return self.quasi(&Scalar { elem: Elem::I64, form: Form::Host(host) });
            }
            frame = at.parent.as_deref();
        }
        if var.kind() == VarKind::Index {
            return unsupported(self.here, "an index outside of its clause");
        }
        match self.shapes.symbols.origin(var).cloned() {
            Some(Origin::Axis(source, path, axis)) => {
                let value = self.part(source, &path)?;
                let extents = self.extents_of(&value)?;
                match extents.into_iter().nth(axis) {
                    Some(extent) => Ok(extent),
                    None => unsupported(self.here, self.nameless(var)),
                }
            }
            Some(Origin::Value(source, path)) => match self.part(source, &path)? {
                Val::Scalar(scalar) => self.quasi(&scalar),
                _ => unsupported(self.here, self.nameless(var)),
            },
            Some(Origin::Until(instance, local)) => self.open_extent(var, instance, local),
            Some(Origin::Computed(size)) => self.extent(&size),
            _ => unsupported(self.here, self.nameless(var)),
        }
    }

    /// The length of a recurrence with `until` that has been evaluated.
    fn open_extent(&mut self, var: Var, instance: InstanceId, local: LocalId) -> R<Quasi> {
        let frame = self.frame.find(instance);
        let value = frame.and_then(|frame| frame.lookup(frame.body, local).cloned());
        let shape = self.shapes.instance(instance).locals.get(&local);
        let axis = shape.and_then(|shape| {
            let extents = shape.extents();
            extents.iter().position(|e| e.as_quasi().and_then(Quasi::as_var) == Some(var))
        });
        let (Some(value), Some(axis)) = (value, axis) else {
            return unsupported(self.here, self.nameless(var));
        };
        match self.extents_of(&value)?.into_iter().nth(axis) {
            Some(extent) => Ok(extent),
            None => unsupported(self.here, self.nameless(var)),
        }
    }

    /// Index expressions that a value holds belong to one module.
    pub(super) fn check_home(&self, home: Option<usize>, span: Span) -> R<()> {
        match home {
            Some(home) if self.pending != Some(home) => {
                unsupported(span, "a slice that is used after something was printed or called")
            }
            _ => Ok(()),
        }
    }

    fn nameless(&self, var: Var) -> String {
        format!("the size `{}`, whose value is not known here", self.shapes.symbols.name(var))
    }

    fn part(&mut self, source: Source, path: &[usize]) -> R<Val<'p>> {
        let whole = match source {
            Source::Param(instance, at) => {
                self.frame_of(instance).and_then(|frame| frame.params.get(at).cloned())
            }
            Source::Input(def) => self.inputs.get(&def).cloned(),
            Source::Expr(instance, expr) => match self.frame_of(instance) {
                Some(frame) => match frame.exprs.get(&expr).cloned() {
                    Some(value) => Some(value),
                    None => Some(self.within(frame, |cx| cx.computed(expr))?),
                },
                None => None,
            },
            Source::Local(instance, local) => match self.frame_of(instance) {
                Some(frame) => Some(self.within(frame, |cx| cx.local(cx.frame.body, local))?),
                None => None,
            },
        };
        let Some(mut value) = whole else {
            return unsupported(self.here, "an extent that comes from a value unknown here");
        };
        for at in path {
            value = match value {
                Val::Record(parts) => match parts.into_iter().nth(*at) {
                    Some(part) => part,
                    None => return unsupported(self.here, "an extent of a missing field"),
                },
                other => other,
            };
        }
        Ok(value)
    }

    /// An expression of a range or extent, which is pure and has not been evaluated before.
    fn computed(&mut self, expr: ExprId) -> R<Val<'p>> {
        if self.in_region() && self.needs_host(expr) {
            return unsupported(self.here, "a size that the host computes");
        }
        let key = (self.frame.instance, expr);
        if self.computing.contains(&key) {
            return unsupported(self.here, "a size that depends on itself");
        }
        self.computing.push(key);
        let value = self.eval(expr);
        self.computing.pop();
        value
    }

    /// The extents of a value; all leaves of a tensor of records share the outer ones.
    pub(super) fn extents_of(&mut self, value: &Val<'p>) -> R<Vec<Quasi>> {
        match value {
            Val::Tensor(tensor) => self.extents(tensor),
            Val::Record(parts) if !parts.is_empty() => self.extents_of(&parts[0].clone()),
            Val::Host(_, einlang_tir::host::HostType::List(_)) => {
                let Some(list) = List::of(value) else { return Ok(Vec::new()) };
                let lengths = self.list_lengths(&list).into_iter();
                let form = |host| Scalar { elem: Elem::I64, form: Form::Host(host) };
                lengths.map(|host| self.quasi(&form(host))).collect()
            }
            Val::Range(lo, Some(hi)) => {
                let (lo, hi) = (self.quasi(lo)?, self.quasi(hi)?);
                let length = self.index_result(hi.sub(&lo), self.here)?;
                Ok(vec![self.at_least_zero(length)])
            }
            _ => Ok(Vec::new()),
        }
    }

    pub(super) fn at_least_zero(&mut self, length: Quasi) -> Quasi {
        match length.as_constant() {
            Some(number) => number.max(0).into(),
            None => self.extreme(vec![length, 0.into()], true),
        }
    }

    /// The largest or smallest of some expressions of symbols, as a symbol.
    pub(super) fn extreme(&mut self, of: Vec<Quasi>, largest: bool) -> Quasi {
        let known = self.cx().tir.symbols.iter().find(|symbol| match &symbol.source {
            SymbolSource::Max(list) => largest && *list == of,
            SymbolSource::Min(list) => !largest && *list == of,
            _ => false,
        });
        if let Some(symbol) = known {
            return symbol.var.into();
        }
        let source = if largest { SymbolSource::Max(of) } else { SymbolSource::Min(of) };
        self.new_symbol("m", source, Loc::default()).into()
    }

    /// The integer as an index expression.
    pub(super) fn quasi(&mut self, scalar: &Scalar) -> R<Quasi> {
        if let Some(known) = self.known_index(scalar) {
            return Ok(known);
        }
        match &scalar.form {
            Form::Value(value) => Ok(self.local_symbol(*value).into()),
            Form::Named(id) => {
                if let Some(var) = self.symbol_of_local(*id)? {
                    return Ok(var.into());
                }
                let (name, _) = self.import(*id)?;
                if let Some(var) = self.cx().value_vars.get(&name) {
                    return Ok((*var).into());
                }
                let source = SymbolSource::Value(name.clone());
                let var = self.new_symbol(name.as_str(), source, Loc::default());
                self.cx().value_vars.insert(name, var);
                Ok(var.into())
            }
            Form::Host(host) => {
                let imported = self.import_scalar(host.clone(), scalar.elem)?;
                self.quasi(&imported)
            }
            Form::Index(..) => {
                let id = self.export_index(scalar);
                self.quasi(&Scalar { elem: scalar.elem, form: Form::Named(id) })
            }
            Form::Const(_) => unsupported(self.here, "an integer beyond 64 bits"),
        }
    }

    /// The expression in the variables of this module.
    pub(super) fn map_quasi(&mut self, expr: &Quasi) -> R<Quasi> {
        let span = self.here;
        let mut sum = Quasi::from(expr.affine().constant_part());
        for (var, coefficient) in expr.affine().terms() {
            let value = self.var(*var)?;
            sum = self.index_result(sum.combine(1, &value, *coefficient), span)?;
        }
        for (division, coefficient) in expr.divisions() {
            let number = self.map_quasi(&division.number)?;
            let quotient = self.index_result(number.divide(division.op, division.divisor), span)?;
            sum = self.index_result(sum.combine(1, &quotient, *coefficient), span)?;
        }
        Ok(sum)
    }

    /// The bound in the variables of this module.
    pub(super) fn map_minmax(&mut self, value: &MinMax) -> R<MinMax> {
        let value = self.shapes.symbols.resolved(value);
        self.map_resolved(&value)
    }

    fn map_resolved(&mut self, value: &MinMax) -> R<MinMax> {
        let span = self.here;
        match value {
            MinMax::Value(quasi) => self.map_quasi(quasi).map(MinMax::from),
            MinMax::Min(list) => {
                let list = list.iter().map(|v| self.map_resolved(v)).collect::<R<Vec<_>>>()?;
                self.index_result(MinMax::min_of(list), span)
            }
            MinMax::Max(list) => {
                let list = list.iter().map(|v| self.map_resolved(v)).collect::<R<Vec<_>>>()?;
                self.index_result(MinMax::max_of(list), span)
            }
        }
    }

    /// An extent as one expression: a maximum of symbols becomes a symbol, one that depends on
    /// indices is computed.
    pub(super) fn extent(&mut self, value: &MinMax) -> R<Quasi> {
        let value = self.map_minmax(value)?;
        self.one_quasi(&value)
    }

    pub(super) fn one_quasi(&mut self, value: &MinMax) -> R<Quasi> {
        let (list, largest) = match value {
            MinMax::Value(quasi) => return Ok(quasi.clone()),
            MinMax::Min(list) => (list, false),
            MinMax::Max(list) => (list, true),
        };
        let parts = list.iter().map(|part| self.one_quasi(part)).collect::<R<Vec<_>>>()?;
        let mut symbolic = true;
        for part in &parts {
            part.for_each_var(&mut |var| symbolic &= self.is_fixed(var));
        }
        if symbolic {
            return Ok(self.extreme(parts, largest));
        }
        let home = self.module();
        let index = |expr: Quasi| Scalar { elem: Elem::I64, form: Form::Index(home, expr) };
        let op = if largest { einlang_tir::op::Op::Max } else { einlang_tir::op::Op::Min };
        let mut parts = parts.into_iter();
        let Some(first) = parts.next() else { return Ok(0.into()) };
        let mut value = index(first);
        for part in parts {
            value = self.region_op(op, &[value, index(part)], Elem::I64, Loc::default())?;
        }
        self.quasi(&value)
    }

    /// Whether a variable is a symbol that is fixed for the whole module.
    pub(super) fn is_fixed(&self, var: Var) -> bool {
        let source = self.pending.and_then(|id| self.modules[id].tir.source(var));
        var.kind() == VarKind::Symbol && !matches!(source, Some(SymbolSource::Local))
    }

    /// A domain in the variables of this module, over these dimensions.
    pub(super) fn map_domain(&mut self, domain: &Domain, from: &[Var], to: &[Var]) -> R<Domain> {
        let span = self.here;
        let mut images: Vec<(Var, Affine)> = Vec::new();
        for (old, new) in from.iter().zip(to) {
            images.push((*old, Affine::var(*new)));
        }
        for param in domain.params() {
            let value = match self.shapes.symbols.resolved(&MinMax::from(param)) {
                MinMax::Value(quasi) if quasi.as_var() == Some(param) => self.var(param)?,
                known => self.extent(&known)?,
            };
            let affine = match value.as_affine() {
                Some(affine) => affine.clone(),
                None => Affine::var(self.alias(value)?),
            };
            images.push((param, affine));
        }
        let mut image = |var: Var| images.iter().find(|i| i.0 == var).map(|i| i.1.clone());
        let sets: IndexResult<Vec<Set>> =
            domain.sets().iter().map(|set| set.replace(&mut image)).collect();
        let sets = self.index_result(sets, span)?;
        Ok(Domain::of_sets(to.to_vec(), sets))
    }

    /// A symbol for an expression that is not affine.
    fn alias(&mut self, value: Quasi) -> R<Var> {
        let mut symbolic = true;
        value.for_each_var(&mut |var| symbolic &= self.is_fixed(var));
        if symbolic {
            let symbol = self.extreme(vec![value], true);
            return Ok(symbol.as_var().unwrap_or_else(|| self.cx().tir.vars.symbols()[0]));
        }
        let home = self.module();
        let scalar = Scalar { elem: Elem::I64, form: Form::Index(home, value) };
        let arg = self.arg(&scalar)?;
        match arg {
            einlang_tir::region::Arg::Value(value) => Ok(self.local_symbol(value)),
            _ => unsupported(self.here, "a range that is not affine"),
        }
    }

    /// Whether a tensor belongs to the module under construction.
    pub(super) fn is_at_home(&self, id: super::value::TensorId) -> bool {
        self.pending.is_some_and(|module| self.info(id).home == Home::Module(module))
    }
}
