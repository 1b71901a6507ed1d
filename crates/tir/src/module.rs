//! Modules: inputs, symbols, groups of bindings and outputs.
//!
//! A module is an ordered list of groups; a group is one binding or a set that is mutually
//! recursive, and reads only inputs, itself and earlier groups. A binding defines one tensor over
//! the box of its axes, which starts at 0; its clauses say what the points are. Points that no
//! clause covers read as zero. While [`Properties::disjoint`] is false the textually last clause
//! that covers a point defines it.

use std::collections::BTreeSet;

use einlang_index::{Constraint, Domain, Facts, Quasi, Result as IndexResult, Var};

pub use crate::symbol::{Check, Condition, Relation, Symbol, SymbolSource};

use crate::answer::Answer;
use crate::region::{Inst, InstKind, Over, Region, Tensor, Value};
use crate::types::{Dim, Elem, Ident, Loc, TensorType};
use crate::vars::VarTable;

/// A unit of tensor code.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Module {
    /// The name.
    pub name: String,
    /// What passes have established.
    pub properties: Properties,
    /// The index variables and symbols.
    pub vars: VarTable,
    /// Where each symbol's value comes from.
    pub symbols: Vec<Symbol>,
    /// What is known of the symbols without being tested.
    pub assumptions: Vec<Condition>,
    /// What is tested once at entry, and may be relied upon afterwards.
    pub checks: Vec<Check>,
    /// The tensors and, with rank 0, scalars that come from outside.
    pub inputs: Vec<Tensor>,
    /// Functions, until everything is inlined.
    pub functions: Vec<Function>,
    /// The groups, in order.
    pub groups: Vec<Group>,
    /// How requests for derivatives were answered, for people.
    pub answers: Vec<Answer>,
    /// The tensors that leave.
    pub outputs: Vec<Ident>,
    /// Fresh numbers for values.
    pub supply: Supply,
}

/// What passes have established; the verifier holds a module to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Properties {
    /// Clauses of one binding have no point in common.
    pub disjoint: bool,
    /// No function and no call is left.
    pub inlined: bool,
    /// No Jacobian entry is left.
    pub differentiated: bool,
    /// `select` may stand where an arm was proved not to trap.
    pub speculated: bool,
}

impl Properties {
    /// The properties with their names in the text form.
    pub fn named(self) -> [(&'static str, bool); 4] {
        [
            ("disjoint", self.disjoint),
            ("inlined", self.inlined),
            ("differentiated", self.differentiated),
            ("speculated", self.speculated),
        ]
    }
}

/// A source of value numbers that no other value has. It is no part of what a module means, so
/// all supplies are equal.
#[derive(Clone, Copy, Debug, Default)]
pub struct Supply {
    next: u32,
}

impl PartialEq for Supply {
    fn eq(&self, _: &Supply) -> bool {
        true
    }
}

impl Supply {
    /// A new value.
    pub fn value(&mut self, elem: Elem) -> Value {
        let number = self.next;
        self.next = self.next.saturating_add(1);
        Value { number, elem }
    }

    /// Takes note of a number that is in use.
    pub fn skip(&mut self, number: u32) {
        self.next = self.next.max(number.saturating_add(1));
    }
}

/// A function, until it is inlined. Its parameters are the region's; a tensor parameter's extents
/// may be symbols whose source is that parameter's shape.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Function {
    /// The name.
    pub name: Ident,
    /// Parameters, instructions and results.
    pub body: Region,
    /// The rule that replaces differentiating the body.
    pub rule: Option<Rule>,
    /// Where it was written.
    pub loc: Loc,
}

/// A derivative rule of the user's.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Rule {
    /// The function that computes it: parameters, then tangents (or the cotangent), give tangents
    /// (or one cotangent per parameter).
    pub function: Ident,
    /// Whether it is the reverse rule.
    pub reverse: bool,
    /// So many parameters come first of which the rule says nothing: what was captured. They have
    /// no tangents and no cotangents, and are differentiated through the body of the function.
    pub silent: usize,
}

/// One binding or a mutually recursive set.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Group {
    /// The bindings, in source order.
    pub bindings: Vec<Binding>,
    /// What ends the open axis.
    pub until: Option<Until>,
}

/// The end of an open axis. Axes whose extent is exactly the symbol advance in lockstep; after
/// each step from `first` on the condition is tested, and there are at most `max` steps.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Until {
    /// The run-time extent: a symbol declared `until`.
    pub extent: Var,
    /// The open index as the condition sees it.
    pub index: Var,
    /// The first step.
    pub first: Quasi,
    /// The largest number of steps.
    pub max: Quasi,
    /// Yields whether to stop after the step.
    pub condition: Region,
}

/// A tensor defined by clauses.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Binding {
    /// The name.
    pub name: Ident,
    /// The type of the elements.
    pub elem: Elem,
    /// The axes, outermost first. Their variables are the dimensions of every clause's domain.
    pub axes: Vec<Axis>,
    /// The clauses, in source order.
    pub clauses: Vec<Clause>,
    /// Self-reads of points that no clause covers give zero too.
    pub zero_fill: bool,
    /// Where it was defined.
    pub loc: Loc,
}

/// An axis: `0 <= var < extent`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Axis {
    /// The index.
    pub var: Var,
    /// The length and the coordinate.
    pub dim: Dim,
}

/// What some points of a tensor are.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Clause {
    /// The points, over the axes of the binding. Conditions that are affine in indices and
    /// symbols belong here and not in the guard.
    pub domain: Over,
    /// Yields whether a point is covered, and then what the body's parameters are.
    pub guard: Option<Region>,
    /// Yields the element.
    pub body: Region,
    /// Where it was written.
    pub loc: Loc,
}

impl Binding {
    /// The index variables of the axes.
    pub fn dims(&self) -> Vec<Var> {
        self.axes.iter().map(|axis| axis.var).collect()
    }

    /// The type of the tensor.
    pub fn ty(&self) -> TensorType {
        let dims = self.axes.iter().map(|axis| axis.dim.clone()).collect();
        TensorType { elem: self.elem, dims }
    }

    /// All points of the box.
    pub fn whole(&self) -> IndexResult<Domain> {
        box_of(&self.axes)
    }

    /// The points that no clause is certain to cover.
    pub fn uncovered(&self) -> IndexResult<Domain> {
        let certain = self.clauses.iter().filter(|clause| clause.guard.is_none());
        certain.fold(self.whole(), |rest, clause| rest?.subtract(&clause.domain))
    }
}

/// The points with `0 <= var < extent` on every axis.
pub fn box_of(axes: &[Axis]) -> IndexResult<Domain> {
    let dims: Vec<Var> = axes.iter().map(|axis| axis.var).collect();
    let mut bounds = Vec::with_capacity(2 * axes.len());
    for axis in axes {
        bounds.push(Quasi::from(axis.var));
        bounds.push(axis.dim.extent.sub(&axis.var.into())?.add_constant(-1)?);
    }
    Domain::where_nonnegative(dims, &bounds)
}

impl Module {
    /// An empty module.
    pub fn new(name: &str) -> Module {
        Module { name: name.to_owned(), ..Module::default() }
    }

    /// What is known of the symbols once the entry checks have passed: extents are not negative,
    /// an open axis holds at least what comes before its first step, assumptions and checks hold.
    pub fn facts(&self) -> Facts {
        let mut known: Vec<Constraint> =
            self.symbols.iter().flat_map(|symbol| symbol.constraints()).collect();
        for until in self.groups.iter().filter_map(|group| group.until.as_ref()) {
            known.extend(
                Condition::new(until.extent, Relation::Ge, until.first.clone()).constraints(),
            );
        }
        let checks = self.checks.iter().map(|check| &check.condition);
        known.extend(self.assumptions.iter().chain(checks).flat_map(Condition::constraints));
        Facts::of(known)
    }

    /// The source of a symbol.
    pub fn source(&self, var: Var) -> Option<&SymbolSource> {
        self.symbols.iter().find(|symbol| symbol.var == var).map(|symbol| &symbol.source)
    }

    /// The binding of this name, outside any region.
    pub fn binding(&self, name: &Ident) -> Option<&Binding> {
        self.bindings().find(|binding| binding.name == *name)
    }

    /// The bindings of all groups, in order.
    pub fn bindings(&self) -> impl Iterator<Item = &Binding> {
        self.groups.iter().flat_map(|group| &group.bindings)
    }

    /// Whether two bindings are computed together.
    pub fn is_of_one_group(&self, one: &Ident, other: &Ident) -> bool {
        let has = |group: &Group, name: &Ident| group.bindings.iter().any(|b| b.name == *name);
        self.groups.iter().any(|group| has(group, one) && has(group, other))
    }

    /// Whether a binding outside any region is computed from points of its own group.
    pub fn is_recurrent(&self, name: &Ident) -> bool {
        let own = |group: &&Group| group.bindings.iter().any(|binding| binding.name == *name);
        let Some(group) = self.groups.iter().find(own) else { return false };
        let mut found = false;
        for region in group.regions() {
            region.for_each_inst(&mut |inst| {
                let read = inst.tensors();
                found |= read.into_iter().any(|n| group.bindings.iter().any(|b| b.name == *n));
            });
        }
        found
    }

    /// The type of an input or of a binding outside any region.
    pub fn tensor_type(&self, name: &Ident) -> Option<TensorType> {
        let input = self.inputs.iter().find(|input| input.name == *name);
        input.map(|input| input.ty.clone()).or_else(|| self.binding(name).map(Binding::ty))
    }

    /// The names of all tensors, those inside regions included.
    pub fn tensor_names(&self) -> BTreeSet<Ident> {
        let mut names: BTreeSet<Ident> = self.inputs.iter().map(|i| i.name.clone()).collect();
        names.extend(self.bindings().map(|binding| binding.name.clone()));
        self.for_each_region(&mut |region| names.extend(region.tensor_params().cloned()));
        self.for_each_inst(&mut |inst| names.extend(defined_tensors(inst)));
        names
    }
}

/// The tensors an instruction defines.
fn defined_tensors(inst: &Inst) -> Vec<Ident> {
    let locals = match &inst.kind {
        InstKind::Group(group) => group.bindings.iter().map(|b| b.name.clone()).collect(),
        _ => Vec::new(),
    };
    let results = inst.results.iter().filter_map(|def| def.as_tensor());
    results.map(|tensor| tensor.name.clone()).chain(locals).collect()
}
