//! Building modules without source text.
//!
//! Tensors are defined by closures over their indices; scalar expressions and index expressions
//! use ordinary operators. Mistakes are collected and reported by [`Builder::finish`], which also
//! finds the groups (mutually recursive bindings) and their order, and verifies the result.
//!
//! ```
//! use einlang_tir::builder::Builder;
//! use einlang_tir::types::Elem::F32;
//!
//! // Matrix product.
//! let b = Builder::new("matmul");
//! let (m, k, n) = (b.extent("M"), b.extent("K"), b.extent("N"));
//! let (x, y) = (b.input("A", F32, [&m, &k]), b.input("B", F32, [&k, &n]));
//! let c = b.define("C", F32, [("i", &m), ("j", &n)], |[i, j]| {
//!     b.sum([("p", &k)], |[p]| x.at([&i, &p]) * y.at([&p, &j]))
//! });
//! b.output(&c);
//! let module = b.finish().unwrap();
//! assert_eq!(module.bindings().count(), 1);
//!
//! // Prefix sum, as a recurrence.
//! let b = Builder::new("prefix");
//! let t = b.extent("T");
//! let x = b.input("x", F32, [&t]);
//! let s = b.declare("s", F32, [("t", &t)]);
//! b.clause(&s, |[t]| [t.equals(0)], |[t]| x.at([t]));
//! b.clause(&s, |[t]| [t.at_least(1)], |[t]| s.at([&t - 1]) + x.at([t]));
//! b.output(&s);
//! assert!(b.finish().is_ok());
//!
//! // Three-point stencil whose border is the input itself.
//! let b = Builder::new("stencil");
//! let n = b.extent("N");
//! let u = b.input("u", F32, [&n]);
//! let v = b.define("v", F32, [("i", &n)], |[i]| {
//!     let (left, right) = (u.at_or([&i - 1], u.at([&i])), u.at_or([&i + 1], u.at([&i])));
//!     (left + right) * 0.5
//! });
//! b.output(&v);
//! assert!(b.finish().is_ok());
//! ```

mod expr;
mod groups;
mod ix;
mod lower;
mod reduce;
mod tensor;

use std::cell::RefCell;
use std::fmt;

pub use einlang_index::GaveUp;
use einlang_index::{Domain, Var};
pub use expr::{Expr, Operand, Sub1, Subscripts};
pub use ix::{Ix, Range};
use rustc_hash::FxHashSet as HashSet;
pub use tensor::TensorRef;

use crate::module::{Axis, Clause, Condition, Module, Symbol, SymbolSource, Until, box_of};
use crate::module::{Binding, Check};
use crate::op::Trap;
use crate::region::{Region, Tensor};
use crate::types::{Dim, Elem, Ident, Loc, TensorType};
use crate::verify::{Problem, verify};
use expr::Node;
use lower::Lowering;

/// Why a module could not be finished.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BuildError {
    /// Everything that went wrong, in order.
    pub messages: Vec<String>,
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.messages.join("\n"))
    }
}

impl std::error::Error for BuildError {}

/// A module under construction.
#[derive(Debug)]
pub struct Builder {
    state: RefCell<State>,
}

#[derive(Debug)]
struct State {
    module: Module,
    bindings: Vec<Binding>,
    untils: Vec<Until>,
    bound: HashSet<Var>,
    errors: Vec<String>,
}

impl Builder {
    /// An empty module.
    pub fn new(name: &str) -> Builder {
        let (bindings, untils, errors) = (Vec::new(), Vec::new(), Vec::new());
        let (module, bound) = (Module::new(name), HashSet::default());
        Builder { state: RefCell::new(State { module, bindings, untils, bound, errors }) }
    }

    /// A symbolic extent. The first input with it as an axis gives its value; without one the
    /// caller passes it.
    pub fn extent(&self, name: &str) -> Ix {
        Ix(Ok(self.symbol(name, SymbolSource::Argument).into()))
    }

    /// An extent that is the value of a rank-0 integer tensor.
    pub fn extent_of(&self, name: &str, tensor: &TensorRef) -> Ix {
        Ix(Ok(self.symbol(name, SymbolSource::Value(tensor.name.clone())).into()))
    }

    /// The extent of an axis that [`Builder::until`] ends.
    pub fn open(&self, name: &str) -> Ix {
        Ix(Ok(self.symbol(name, SymbolSource::Until).into()))
    }

    fn symbol(&self, name: &str, source: SymbolSource) -> Var {
        let module = &mut self.state.borrow_mut().module;
        let var = module.vars.symbol(name);
        module.symbols.push(Symbol { var, source, loc: Loc::default() });
        var
    }

    /// A fresh index.
    fn index(&self, name: &str) -> Var {
        self.state.borrow_mut().module.vars.index(name)
    }

    fn fail(&self, message: impl fmt::Display) {
        self.state.borrow_mut().errors.push(message.to_string());
    }

    /// The value, or `None` and a report.
    fn known<T, E: fmt::Display>(&self, result: Result<T, E>) -> Option<T> {
        result.map_err(|error| self.fail(error)).ok()
    }

    /// What is known of the extents without being tested.
    pub fn assume(&self, condition: Result<Condition, GaveUp>) {
        if let Some(condition) = self.known(condition) {
            self.state.borrow_mut().module.assumptions.push(condition);
        }
    }

    /// What is tested once at entry.
    pub fn check(&self, condition: Result<Condition, GaveUp>, message: &str) {
        if let Some(condition) = self.known(condition) {
            let (message, trap) = (message.to_owned(), Trap::ExtentsDiffer);
            let check = Check { condition, message, trap, loc: Loc::default() };
            self.state.borrow_mut().module.checks.push(check);
        }
    }

    /// An input; rank 0 is a scalar.
    pub fn input<const N: usize>(&self, name: &str, elem: Elem, extents: [&Ix; N]) -> TensorRef {
        let name = self.fresh_name(name);
        let mut dims: Vec<Dim> = Vec::with_capacity(N);
        for (axis, extent) in extents.into_iter().enumerate() {
            let Some(extent) = self.known(extent.0.clone()) else { continue };
            self.give_value(extent.as_var(), &name, axis);
            dims.push(extent.into());
        }
        let input = Tensor { name: name.clone(), ty: TensorType { elem, dims } };
        self.state.borrow_mut().module.inputs.push(input);
        TensorRef { name, elem }
    }

    /// The first axis that is just a symbol tells its value.
    fn give_value(&self, symbol: Option<Var>, tensor: &Ident, axis: usize) {
        let symbols = &mut self.state.borrow_mut().module.symbols;
        let symbol = symbols.iter_mut().find(|known| Some(known.var) == symbol);
        if let Some(symbol) = symbol.filter(|s| s.source == SymbolSource::Argument) {
            symbol.source = SymbolSource::Shape(tensor.clone(), axis);
        }
    }

    fn fresh_name(&self, name: &str) -> Ident {
        let state = self.state.borrow();
        let mut name = name.to_owned();
        let inputs = || state.module.inputs.iter().map(|input| &input.name);
        while inputs().chain(state.bindings.iter().map(|b| &b.name)).any(|n| n.as_str() == name) {
            name.push('\'');
        }
        Ident::new(&name)
    }

    /// A tensor whose clauses follow.
    pub fn declare<'a, const N: usize>(
        &self,
        name: &str,
        elem: Elem,
        axes: [(&str, &'a Ix); N],
    ) -> TensorRef {
        let name = self.fresh_name(name);
        let axis = |(name, extent): (&str, &'a Ix)| {
            let extent = self.known(extent.0.clone()).unwrap_or_default();
            Axis { var: self.index(name), dim: extent.into() }
        };
        let axes = axes.into_iter().map(axis).collect();
        let (clauses, loc) = (Vec::new(), Loc::default());
        let binding = Binding { name: name.clone(), elem, axes, clauses, zero_fill: false, loc };
        self.state.borrow_mut().bindings.push(binding);
        TensorRef { name, elem }
    }

    /// A tensor with one clause that covers the whole box.
    pub fn define<const N: usize>(
        &self,
        name: &str,
        elem: Elem,
        axes: [(&str, &Ix); N],
        body: impl FnOnce([Ix; N]) -> Expr,
    ) -> TensorRef {
        let tensor = self.declare(name, elem, axes);
        self.clause(&tensor, |_| [], body);
        tensor
    }

    /// One clause of a declared tensor: the points of the box where the conditions hold.
    pub fn clause<const N: usize, const C: usize>(
        &self,
        tensor: &TensorRef,
        conditions: impl FnOnce(&[Ix; N]) -> [Result<Condition, GaveUp>; C],
        body: impl FnOnce([Ix; N]) -> Expr,
    ) {
        let Some(axes) = self.axes(&tensor.name) else {
            return self.fail(format!("`{}` has no clauses", tensor.name.as_str()));
        };
        let indices: Vec<Ix> = axes.iter().map(|axis| Ix(Ok(axis.var.into()))).collect();
        let Ok(indices) = <[Ix; N]>::try_from(indices) else {
            return self.fail(format!("`{}` has rank {}", tensor.name.as_str(), axes.len()));
        };
        let domain = self.restricted(box_of(&axes), conditions(&indices));
        let body = self.region(&[body(indices)]);
        let Some(domain) = self.known(domain) else { return };
        let clause = Clause { domain: domain.into(), guard: None, body, loc: Loc::default() };
        let bindings = &mut self.state.borrow_mut().bindings;
        if let Some(binding) = bindings.iter_mut().find(|b| b.name == tensor.name) {
            binding.clauses.push(clause);
        }
    }

    fn axes(&self, name: &Ident) -> Option<Vec<Axis>> {
        let state = self.state.borrow();
        state.bindings.iter().find(|b| b.name == *name).map(|binding| binding.axes.clone())
    }

    fn restricted<const C: usize>(
        &self,
        whole: Result<Domain, GaveUp>,
        conditions: [Result<Condition, GaveUp>; C],
    ) -> Result<Domain, GaveUp> {
        let mut domain = whole?;
        for condition in conditions {
            domain = domain.intersect(&condition?.domain(domain.dims())?)?;
        }
        Ok(domain)
    }

    /// Turns expressions into a region.
    fn region(&self, exprs: &[Expr]) -> Region {
        let state = &mut *self.state.borrow_mut();
        Lowering::new(&mut state.module, &mut state.errors, &mut state.bound).region(exprs)
    }

    /// Ends the open axis `extent` after the first step where `condition` holds, counting from
    /// the index `first`, or after `max` steps.
    pub fn until(
        &self,
        extent: &Ix,
        first: impl Into<Ix>,
        max: impl Into<Ix>,
        condition: impl FnOnce(Ix) -> Expr,
    ) {
        let index = self.index("t");
        let condition = self.region(&[condition(Ix(Ok(index.into())))]);
        let symbol = self.known(extent.0.clone()).and_then(|extent| extent.as_var());
        let (first, max) = (self.known(first.into().0), self.known(max.into().0));
        match (symbol, first, max) {
            (Some(extent), Some(first), Some(max)) => {
                let until = Until { extent, index, first, max, condition };
                self.state.borrow_mut().untils.push(until);
            }
            _ => self.fail("an open extent is a symbol of its own"),
        }
    }

    /// Marks a tensor as an output.
    pub fn output(&self, tensor: &TensorRef) {
        self.state.borrow_mut().module.outputs.push(tensor.name.clone());
    }

    /// Orders the bindings into groups and verifies the module.
    pub fn finish(self) -> Result<Module, BuildError> {
        let State { mut module, bindings, untils, errors, .. } = self.state.into_inner();
        if !errors.is_empty() {
            return Err(BuildError { messages: errors });
        }
        module.groups = groups::order(bindings, untils);
        match verify(&module) {
            problems if problems.is_empty() => Ok(module),
            problems => {
                let messages = problems.iter().map(Problem::to_string).collect();
                Err(BuildError { messages })
            }
        }
    }
}

impl Node {
    /// The address, which names the node while expressions are lowered.
    fn key(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }
}
