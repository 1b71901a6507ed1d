//! The logical storage window of each recurrent binding, and the report that shows it.
//!
//! [`analyse_program`] follows tensors from the module that computes them through the host code to
//! whatever reads them; [`analyse`] looks at one module alone, whose outputs then count as read in
//! full. What is found is what nobody can observe to be smaller; how values are laid out in memory
//! is decided elsewhere and may keep more.
//!
//! | file | owns |
//! |---|---|
//! | `report.rs` | the report |
//! | `integers.rs` | subscripts that are computed, seen as index expressions |
//! | `context.rs` | what is known of symbols; the range of an expression |
//! | `nest.rs` | the order in which axes run |
//! | `observe.rs`, `escape.rs`, `import.rs` | later reads: in the module, in the host, in other modules |
//! | `tail.rs`, `decide.rs` | tails, lookbacks and the decision |
//! | `producers.rs` | tensors that a recurrence reads in its own order |
//! | `select.rs` | what the inputs of one run decide |
//! | `show.rs` | names and extents as the source has them |
//!
//! Invariant: a window that is reported is enough. Whatever is not understood is kept in full, with
//! the place in the source that is the reason.

mod context;
mod decide;
mod escape;
mod import;
mod integers;
mod nest;
mod observe;
mod producers;
mod report;
mod select;
mod show;
mod tail;

use einlang_index::{Facts, Quasi, Var};
use einlang_tir::host::Program;
use einlang_tir::module::{Binding, Group, Module};
use einlang_tir::order::{Dependence, dependences};
use einlang_tir::passes::{Ctx, inline_calls, split_clauses};
use einlang_tir::region::InstKind;
use einlang_tir::types::{Ident, Loc};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

pub use report::{
    AxisOrder, AxisStorage, BindingStorage, Keep, Reason, ScheduledAxis, StorageReport, Why,
};
pub use show::name as index_name;

pub use select::Given;

use context::Context;
use decide::{Decision, Ordered};
use nest::{Nest, order_axes};
use observe::{Observation, Observations, Observed, observe};

/// The windows of a whole program, whose entry gives outputs of these names.
pub fn analyse_program(program: &Program, outputs: &[String]) -> StorageReport {
    analyse_run(program, outputs, &[])
}

/// The same for a run with these parameters of the entry: conditions that they decide are decided.
pub fn analyse_run(
    program: &Program,
    outputs: &[String],
    given: &[Option<Given>],
) -> StorageReport {
    let given = select::parameters(program, given);
    let mut bindings = Vec::new();
    let mut prepared: Vec<Prepared> = program.modules.iter().map(Prepared::new).collect();
    let fates = escape::fates(program, outputs);
    for at in 0..prepared.len() {
        if prepared[at].tracked.is_empty() {
            continue;
        }
        let (later, vars, scopes) = import::observations(&prepared, at, &fates);
        let here = &mut prepared[at];
        let own = std::mem::replace(&mut here.module.vars, vars);
        let values = select::symbols(here, &fates, &given);
        let mut analysed = here.analysed(later, &scopes);
        analysed.iter_mut().for_each(|binding| select::settle(binding, &values));
        bindings.extend(analysed);
        here.module.vars = own;
    }
    StorageReport { bindings }
}

/// The windows of one module; its outputs are read in full.
pub fn analyse(module: &Module) -> StorageReport {
    let prepared = Prepared::new(module);
    let whole = |name: &Ident| {
        let what = Observed::Whole(Why::Output(name.as_str().to_owned()));
        (name.clone(), vec![Observation::new(what, Loc::default())])
    };
    let later = module.outputs.iter().map(whole).collect();
    StorageReport { bindings: prepared.analysed(later, &[]) }
}

/// A module as the analysis wants it.
struct Prepared {
    module: Module,
    context: Context,
    facts: Facts,
    /// The values of the tensors without axes.
    scalars: HashMap<Ident, Quasi>,
    /// The values of symbols that are computed, as expressions of others.
    defined: HashMap<Var, Quasi>,
    /// The recurrent bindings, those inside regions included.
    tracked: HashSet<Ident>,
}

impl Prepared {
    fn new(module: &Module) -> Prepared {
        let mut module = module.clone();
        let ctx = Ctx { checked: false, verify: false, ..Ctx::default() };
        // A module that a pass rejects stays as it was: reads are then seen as passed on whole.
        for pass in [inline_calls, split_clauses] {
            let mut changed = module.clone();
            if pass(&mut changed, &ctx).is_ok() {
                module = changed;
            }
        }
        let value = module.vars.index("value");
        let mut context = Context::new(&module, value);
        let integers::Integers { scalars, defined } =
            integers::see_through_integers(&mut module, &mut context);
        let mut facts = module.facts();
        context.facts().for_each(|fact| facts.assume(fact.clone()));
        let mut tracked = HashSet::default();
        for group in groups(&module).into_iter().filter(|group| is_recurrent(group)) {
            tracked.extend(group.bindings.iter().map(|binding| binding.name.clone()));
        }
        Prepared { module, context, facts, scalars, defined, tracked }
    }

    /// The windows of the recurrent bindings, given who reads the outputs.
    fn analysed(&self, mut later: Observations, scopes: &[Context]) -> Vec<BindingStorage> {
        if self.tracked.is_empty() {
            return Vec::new();
        }
        for (name, found) in observe(&self.module, &self.tracked) {
            later.entry(name).or_default().splice(0..0, found);
        }
        let all = groups(&self.module).into_iter().enumerate();
        let recurrent = all.filter(|(_, group)| is_recurrent(group));
        let decided = recurrent.flat_map(|(at, group)| self.group(at, group, &later, scopes));
        decided.chain(self.producers()).collect()
    }

    fn group(
        &self,
        number: usize,
        group: &Group,
        later: &Observations,
        scopes: &[Context],
    ) -> Vec<BindingStorage> {
        let reads = dependences(&self.module, group);
        let nests = self.nests(group, &reads);
        let bindings = group.bindings.iter().enumerate();
        let decide = |(at, binding): (usize, &Binding)| {
            let later = later.get(&binding.name).map_or(&[][..], Vec::as_slice);
            let (schedule, decisions) = match &nests {
                Some(nests) => {
                    let (module, context) = (&self.module, &self.context);
                    let ordered = Ordered { module, context, scopes, group, reads: &reads, nests };
                    (AxisOrder::Axes(nests[at].axes.clone()), ordered.decide(at, later))
                }
                None => {
                    (AxisOrder::Other, binding.axes.iter().map(|_| unordered(binding)).collect())
                }
            };
            self.described(number, binding, schedule, decisions)
        };
        bindings.map(decide).collect()
    }

    /// The order of the axes; reads by data count if there is an order with them.
    fn nests(&self, group: &Group, reads: &[Dependence]) -> Option<Vec<Nest>> {
        order_axes(group, reads, &self.facts).or_else(|| {
            let known: Vec<Dependence> = reads.iter().filter(|r| !r.by_data).cloned().collect();
            if known.len() == reads.len() { None } else { order_axes(group, &known, &self.facts) }
        })
    }

    fn described(
        &self,
        group: usize,
        binding: &Binding,
        schedule: AxisOrder,
        decisions: Vec<Decision>,
    ) -> BindingStorage {
        let axis = |(axis, decision): (&einlang_tir::module::Axis, Decision)| AxisStorage {
            name: show::name(&self.module, axis.var),
            extent: axis.dim.extent.clone(),
            extent_now: axis.dim.extent.as_constant(),
            extent_text: show::expression(&self.module, &axis.dim.extent),
            lookback: decision.lookback,
            tail: decision.tail,
            keep: decision.keep,
            possible: decision.possible,
            condition_text: decision
                .conditions
                .iter()
                .map(|condition| show::condition(&self.module, condition))
                .collect(),
            conditions: decision.conditions,
            reasons: decision.reasons,
        };
        BindingStorage {
            name: binding.name.clone(),
            module: self.module.name.clone(),
            group,
            elem: binding.elem,
            loc: binding.loc,
            schedule,
            axes: binding.axes.iter().zip(decisions).map(axis).collect(),
            along_with: None,
            leaves: self.module.outputs.contains(&binding.name),
        }
    }
}

fn unordered(binding: &Binding) -> Decision {
    let reasons = vec![Reason { why: Why::NoAxisOrder, loc: binding.loc }];
    Decision {
        lookback: None,
        tail: None,
        keep: Keep::Full,
        possible: None,
        conditions: Vec::new(),
        reasons,
    }
}

/// All groups of a module, those inside regions after the ones around them.
fn groups(module: &Module) -> Vec<&Group> {
    let mut open: Vec<&Group> = module.groups.iter().rev().collect();
    let mut all = Vec::new();
    while let Some(group) = open.pop() {
        all.push(group);
        let mut inner: Vec<&Group> = group.regions().into_iter().flat_map(local_groups).collect();
        inner.reverse();
        open.extend(inner);
    }
    all
}

/// The groups directly inside a region, in order.
fn local_groups(region: &einlang_tir::region::Region) -> Vec<&Group> {
    let mut found = Vec::new();
    for inst in &region.insts {
        match &inst.kind {
            InstKind::Group(group) => found.push(&**group),
            _ => found.extend(inst.regions().into_iter().flat_map(local_groups)),
        }
    }
    found
}

/// Whether a group reads itself.
fn is_recurrent(group: &Group) -> bool {
    if group.until.is_some() || group.bindings.len() > 1 {
        return true;
    }
    let mut found = false;
    for region in group.regions() {
        region.for_each_inst(&mut |inst| {
            found |= inst.tensors().into_iter().any(|name| *name == group.bindings[0].name);
        });
    }
    found
}
