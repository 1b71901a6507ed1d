//! Values while a program is lowered: scalars, tensors that are read point by point, records.
//!
//! A tensor is either named (a binding of a module, or a host value) or lazy: a recipe for one
//! element. Arithmetic, slices and literals stay lazy, so an expression such as `(a + b)[i]` reads
//! two elements and stores nothing; `let`s and parameters give lazy tensors a name, so nothing is
//! computed more often than the source says. A tensor of records is a record of tensors.

use std::collections::HashMap;
use std::rc::Rc;

use einlang_index::{Quasi, Var};
use einlang_source::Diagnostic;
use einlang_tir::constant::Const;
use einlang_tir::host::{HostArg, HostType};
use einlang_tir::region::{Subscript, Value};
use einlang_tir::types::Elem;

use super::Lower;
use crate::hir::{BodyId, ExprId, LocalId};
use crate::types::{FnTy, InstanceId};

/// What lowering a piece gives, or the reason why it cannot be lowered.
pub(super) type R<T> = Result<T, Box<Diagnostic>>;

/// A number of a tensor in the table of the lowering.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct TensorId(pub(super) usize);

/// A value.
#[derive(Clone)]
pub(super) enum Val<'p> {
    /// A number or truth value.
    Scalar(Scalar),
    /// A tensor of those.
    Tensor(Tensor<'p>),
    /// A tuple, a struct, or a tensor of them; `()` is the empty one.
    Record(Vec<Val<'p>>),
    /// `a..b`, the end exclusive and missing for an open range.
    Range(Scalar, Option<Scalar>),
    /// A function.
    Fn(Rc<FnVal<'p>>),
    /// What only the host knows: strings, enums, lists, function values.
    Host(HostArg, HostType),
    /// `@e`: a linear combination of differentials.
    Differential(Rc<Vec<Term<'p>>>),
}

/// One term of a differential: a factor times the differential of an expression. Either may have the
/// axes and fields of the whole, or go with each of them.
#[derive(Clone)]
pub(super) struct Term<'p> {
    pub(super) negated: bool,
    pub(super) factor: Option<Val<'p>>,
    pub(super) target: ExprId,
    pub(super) frame: Frame<'p>,
}

/// A number or truth value.
#[derive(Clone, Debug)]
pub(super) struct Scalar {
    pub(super) elem: Elem,
    pub(super) form: Form,
}

/// Where a scalar is.
#[derive(Clone, Debug)]
pub(super) enum Form {
    Const(Const),
    /// Computed in a region that is still open.
    Value(Value),
    /// An index expression of a module.
    Index(usize, Quasi),
    /// A tensor of rank 0.
    Named(TensorId),
    /// A host value.
    Host(HostArg),
}

/// A tensor of numbers.
#[derive(Clone)]
pub(super) struct Tensor<'p> {
    pub(super) elem: Elem,
    pub(super) rank: usize,
    pub(super) src: Src<'p>,
}

/// Where the elements of a tensor come from.
#[derive(Clone)]
pub(super) enum Src<'p> {
    Named(TensorId),
    Lazy(Rc<Lazy<'p>>),
}

type Extents<'p> = Box<dyn Fn(&mut Lower<'p>) -> R<Vec<Quasi>> + 'p>;
type Element<'p> = Box<dyn Fn(&mut Lower<'p>, &[Subscript]) -> R<Scalar> + 'p>;

/// A recipe for the elements of a tensor.
pub(super) struct Lazy<'p> {
    pub(super) extents: Extents<'p>,
    pub(super) element: Element<'p>,
    /// Reading an element is as cheap as reading a named tensor.
    pub(super) view: bool,
    /// The binding that means it, for messages.
    pub(super) name: std::cell::OnceCell<String>,
}

/// A function value: what it is and what it captured.
pub(super) struct FnVal<'p> {
    pub(super) ty: FnTy,
    pub(super) frame: Frame<'p>,
}

/// Where clauses define a point: lists in lists of bools, so many deep.
pub(super) type Marks = (HostArg, usize);

/// One activation of an instance that is being lowered in place.
#[derive(Clone)]
pub(super) struct Frame<'p> {
    pub(super) instance: InstanceId,
    pub(super) body: BodyId,
    pub(super) parent: Option<Rc<Frame<'p>>>,
    pub(super) params: Rc<Vec<Val<'p>>>,
    pub(super) env: Rc<HashMap<LocalId, Val<'p>>>,
    /// The values of expressions that symbols may come from.
    pub(super) exprs: Rc<HashMap<ExprId, Val<'p>>>,
    /// Expressions that were evaluated before the region that they stand in.
    pub(super) hoisted: Rc<HashMap<ExprId, Val<'p>>>,
    /// What the index variables of the analysis are in the module under construction.
    pub(super) vars: Rc<HashMap<Var, (usize, Quasi)>>,
    /// Index variables of the analysis that the host counts.
    pub(super) host_vars: Rc<HashMap<Var, HostArg>>,
    /// Whether the recurrences that the host has evaluated ended by their conditions.
    pub(super) endings: Rc<HashMap<LocalId, HostArg>>,
    /// Where the clauses of bindings that the host holds define a point.
    pub(super) marks: Rc<HashMap<LocalId, Marks>>,
    /// In a rule, the tangents of the parameters: what `@x` means.
    pub(super) tangents: Option<Rc<HashMap<LocalId, Val<'p>>>>,
    /// A constant takes the type of its use: from one element type to another.
    pub(super) retype: Option<(Elem, Elem)>,
}

impl<'p> Frame<'p> {
    pub(super) fn new(
        instance: InstanceId,
        body: BodyId,
        parent: Option<Rc<Frame<'p>>>,
    ) -> Frame<'p> {
        // A lambda in a rule sees the differentials of the rule.
        let around = parent.as_ref().filter(|parent| parent.body == body);
        let tangents = around.and_then(|parent| parent.tangents.clone());
        Frame {
            instance,
            body,
            parent,
            params: Rc::default(),
            env: Rc::default(),
            exprs: Rc::default(),
            hoisted: Rc::default(),
            vars: Rc::default(),
            host_vars: Rc::default(),
            endings: Rc::default(),
            marks: Rc::default(),
            tangents,
            retype: None,
        }
    }

    /// The activation of an instance among this one and those around it.
    pub(super) fn find(&self, instance: InstanceId) -> Option<&Frame<'p>> {
        let mut frame = self;
        loop {
            if frame.instance == instance {
                return Some(frame);
            }
            frame = frame.parent.as_deref()?;
        }
    }

    /// A binding of a body around.
    pub(super) fn lookup(&self, body: BodyId, local: LocalId) -> Option<&Val<'p>> {
        let mut frame = self;
        loop {
            if frame.body == body
                && let Some(value) = frame.env.get(&local)
            {
                return Some(value);
            }
            frame = frame.parent.as_deref()?;
        }
    }

    pub(super) fn bind(&mut self, local: LocalId, value: Val<'p>) {
        Rc::make_mut(&mut self.env).insert(local, value);
    }

    /// Says what an expression is, which is not evaluated again.
    pub(super) fn hoist(&mut self, expr: ExprId, value: Val<'p>) {
        Rc::make_mut(&mut self.hoisted).insert(expr, value);
    }

    /// Evaluates an expression again from now on.
    pub(super) fn forget(&mut self, expr: ExprId) {
        if self.hoisted.contains_key(&expr) {
            Rc::make_mut(&mut self.hoisted).remove(&expr);
        }
    }

    /// Says which integer of the host a variable of the analysis is.
    pub(super) fn bind_host_var(&mut self, var: Var, value: HostArg) {
        Rc::make_mut(&mut self.host_vars).insert(var, value);
    }

    /// Says where a binding that the host holds is defined.
    pub(super) fn bind_marks(&mut self, local: LocalId, marks: Marks) {
        Rc::make_mut(&mut self.marks).insert(local, marks);
    }

    /// Where a binding of a body around is defined.
    pub(super) fn marks_of(&self, body: BodyId, local: LocalId) -> Option<&Marks> {
        let mut frames = std::iter::successors(Some(self), |frame| frame.parent.as_deref());
        frames.find_map(|frame| frame.marks.get(&local).filter(|_| frame.body == body))
    }

    /// Says whether a recurrence ended by its condition.
    pub(super) fn bind_ending(&mut self, local: LocalId, value: HostArg) {
        Rc::make_mut(&mut self.endings).insert(local, value);
    }

    /// Says what a variable of the analysis is in a module.
    pub(super) fn bind_var(&mut self, var: Var, module: usize, value: Quasi) {
        Rc::make_mut(&mut self.vars).insert(var, (module, value));
    }
}

impl Scalar {
    pub(super) fn constant(value: Const) -> Scalar {
        Scalar { elem: value.elem(), form: Form::Const(value) }
    }

    pub(super) fn value(value: Value) -> Scalar {
        Scalar { elem: value.elem, form: Form::Value(value) }
    }

    pub(super) fn as_const(&self) -> Option<Const> {
        match self.form {
            Form::Const(constant) => Some(constant),
            _ => None,
        }
    }
}

impl<'p> Val<'p> {
    pub(super) fn unit() -> Val<'p> {
        Val::Record(Vec::new())
    }

    pub(super) fn named(elem: Elem, rank: usize, id: TensorId) -> Val<'p> {
        match rank {
            0 => Val::Scalar(Scalar { elem, form: Form::Named(id) }),
            _ => Val::Tensor(Tensor { elem, rank, src: Src::Named(id) }),
        }
    }

    pub(super) fn lazy(
        elem: Elem,
        rank: usize,
        view: bool,
        extents: impl Fn(&mut Lower<'p>) -> R<Vec<Quasi>> + 'p,
        element: impl Fn(&mut Lower<'p>, &[Subscript]) -> R<Scalar> + 'p,
    ) -> Val<'p> {
        let (extents, element, name) = (Box::new(extents), Box::new(element), Default::default());
        let lazy = Lazy { extents, element, view, name };
        Val::Tensor(Tensor { elem, rank, src: Src::Lazy(Rc::new(lazy)) })
    }

    /// The value as a tensor; a scalar is one of rank 0.
    pub(super) fn leaves(&self) -> Vec<Val<'p>> {
        match self {
            Val::Record(parts) => parts.iter().flat_map(Val::leaves).collect(),
            other => vec![other.clone()],
        }
    }

    /// The same value with its leaves replaced, in order.
    pub(super) fn with_leaves(&self, leaves: &mut dyn Iterator<Item = Val<'p>>) -> Val<'p> {
        match self {
            Val::Record(parts) => {
                Val::Record(parts.iter().map(|part| part.with_leaves(leaves)).collect())
            }
            other => leaves.next().unwrap_or_else(|| other.clone()),
        }
    }
}
