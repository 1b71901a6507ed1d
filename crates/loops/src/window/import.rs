//! Later reads in other modules, brought into the terms of the module that computes the tensor.
//!
//! The variables of the reading module become new ones here. Its symbols and the integers that it
//! takes are tied to what is known of them on this side: extents of what was computed here, operands
//! that both runs share, and integers that other modules computed from those.

use einlang_index::{Affine, Constraint, Quasi, Set, Var, VarKind};
use einlang_tir::host::HostArg;
use einlang_tir::module::SymbolSource;
use einlang_tir::types::{Ident, Loc};
use einlang_tir::vars::{VarTable, rename_quasi};
use rustc_hash::FxHashMap as HashMap;

use super::Prepared;
use super::context::Context;
use super::escape::{Fates, Run, Use};
use super::observe::{Observation, Observations, Observed, observe};
use super::report::Why;

/// Integers are followed through this many modules.
const MAX_DEPTH: usize = 8;

/// The observations of the outputs of a module by the host and by other modules, with the variables
/// that they need and what holds in each scope. The facts of a module hold only where it runs.
pub(super) fn observations(
    modules: &[Prepared],
    at: usize,
    fates: &Fates,
) -> (Observations, VarTable, Vec<Context>) {
    let here = &modules[at];
    let mut importer = Importer {
        modules,
        fates,
        here,
        vars: here.module.vars.clone(),
        context: here.context.clone(),
        known: HashMap::default(),
        scopes: Vec::new(),
    };
    let mut later = Observations::default();
    let runs = fates.runs.get(&here.module.name).map_or(&[][..], Vec::as_slice);
    for (position, name) in here.module.outputs.iter().enumerate() {
        if !here.tracked.contains(name) {
            continue;
        }
        let found = later.entry(name.clone()).or_default();
        for run in runs {
            if let Some(number) = run.results.get(position) {
                importer.uses(run, *number, found);
            }
        }
    }
    (later, importer.vars, importer.scopes)
}

fn escapes() -> Observation {
    Observation::new(Observed::Whole(Why::Escapes), Loc::default())
}

struct Importer<'a> {
    modules: &'a [Prepared],
    fates: &'a Fates,
    here: &'a Prepared,
    vars: VarTable,
    /// What holds where the reads happen that are being brought here.
    context: Context,
    /// The new names of the variables of each run that was brought into this context.
    known: HashMap<(&'a str, usize), HashMap<Var, Var>>,
    /// What holds where the reads happened that were brought here.
    scopes: Vec<Context>,
}

impl<'a> Importer<'a> {
    fn uses(&mut self, run: &Run, number: u32, found: &mut Vec<Observation>) {
        let uses = self.fates.all_uses(number);
        if Fates::is_cut(&uses) {
            return found.push(Observation::new(Observed::Whole(Why::Undecided), Loc::default()));
        }
        for how in uses {
            match how {
                Use::Whole(why, loc) => {
                    found.push(Observation::new(Observed::Whole(why.clone()), *loc));
                }
                Use::Part(_) => {}
                Use::Operand { module, run: other, at } => {
                    match self.reads(run, module, *other, *at) {
                        Some(reads) => found.extend(reads),
                        None => found.push(escapes()),
                    }
                }
            }
        }
    }

    /// What another module reads of an operand.
    fn reads(
        &mut self,
        run: &Run,
        module: &'a str,
        other: usize,
        operand: usize,
    ) -> Option<Vec<Observation>> {
        let there = self.module(module)?;
        let input = there.module.inputs.get(operand)?;
        let names = [input.name.clone()].into_iter().collect();
        let Some(found) = observe(&there.module, &names).remove(&input.name) else {
            return Some(Vec::new());
        };
        if found.iter().any(|observation| matches!(observation.what, Observed::Whole(_))) {
            return Some(found);
        }
        if module == self.here.module.name {
            return None;
        }
        self.context = self.here.context.clone();
        self.known.clear();
        let mut names = self.bring(run, module, other, 0)?;
        let mut reads = Vec::with_capacity(found.len());
        for observation in found {
            reads.push(self.observation(&mut names, observation));
        }
        self.scopes.push(self.context.clone());
        Some(reads)
    }

    fn module(&self, name: &str) -> Option<&'a Prepared> {
        self.modules.iter().find(|module| module.module.name == name)
    }

    /// Brings what a run of another module knows here, and gives the names of its variables.
    fn bring(
        &mut self,
        run: &Run,
        module: &'a str,
        other: usize,
        depth: usize,
    ) -> Option<HashMap<Var, Var>> {
        if let Some(names) = self.known.get(&(module, other)) {
            return Some(names.clone());
        }
        let there = self.module(module)?;
        let mut names = HashMap::default();
        for fact in there.context.facts() {
            let set = Set::new([fact.clone()]).ok()?;
            if let Some(set) = self.set(&mut names, &set) {
                self.context.assume(set.constraints().collect::<Vec<Constraint>>());
            }
        }
        for (var, sets) in there.context.choices() {
            let sets: Option<Vec<Set>> = sets.iter().map(|set| self.set(&mut names, set)).collect();
            let var = self.renamed(&mut names, var);
            if let Some(sets) = sets {
                self.context.choose(var, sets);
            }
        }
        let other_run = self.fates.runs.get(module)?.get(other)?;
        self.tie(&mut names, there, run, other_run, depth);
        self.known.insert((module, other), names.clone());
        Some(names)
    }

    /// The other module's symbols and integers that are known here.
    fn tie(
        &mut self,
        names: &mut HashMap<Var, Var>,
        there: &'a Prepared,
        run: &Run,
        other: &'a Run,
        depth: usize,
    ) {
        let module = &there.module;
        let mut passed = other.args.iter().skip(module.inputs.len());
        for symbol in &module.symbols {
            let value = match &symbol.source {
                SymbolSource::Shape(name, axis) => {
                    let at = module.inputs.iter().position(|input| input.name == *name);
                    at.and_then(|at| self.extent(run, other.args.get(at)?, *axis))
                }
                SymbolSource::Argument => passed.next().and_then(|arg| self.argument(run, arg)),
                _ => None,
            };
            if let Some(value) = value {
                let var = self.renamed(names, symbol.var);
                self.context.define(var, &value);
            }
        }
        for (input, arg) in module.inputs.iter().zip(&other.args) {
            if let Some(mine) = there.scalars.get(&input.name)
                && let Some(mine) = self.expression(names, mine)
                && let Some(value) = self.integer(run, arg, depth)
                && let Some(var) = mine.as_var()
            {
                self.context.define(var, &value);
            }
        }
    }

    /// The value of a tensor without axes, if it was computed here or from what was.
    fn integer(&mut self, run: &Run, arg: &'a HostArg, depth: usize) -> Option<Quasi> {
        let HostArg::Value(number) = arg else { return None };
        let mine = self.tensor_here(run, arg);
        if let Some(name) = mine {
            return self.here.scalars.get(&name).cloned();
        }
        let (module, other, position) = self.fates.made.get(number)?;
        if depth >= MAX_DEPTH || *module == self.here.module.name {
            return None;
        }
        let there = self.module(module)?;
        let name = there.module.outputs.get(*position)?;
        let value = there.scalars.get(name)?;
        let mut names = self.bring(run, module, *other, depth + 1)?;
        self.expression(&mut names, value)
    }

    /// The tensor of the module here that a value of the host is.
    fn tensor_here(&self, run: &Run, arg: &HostArg) -> Option<Ident> {
        let HostArg::Value(number) = arg else { return None };
        let module = &self.here.module;
        match run.results.iter().position(|result| result == number) {
            Some(at) => module.outputs.get(at).cloned(),
            None => {
                let at = run.args.iter().position(|mine| mine == arg)?;
                module.inputs.get(at).map(|input| input.name.clone())
            }
        }
    }

    /// The extent of an operand, if it is a result or an operand of the run here.
    fn extent(&self, run: &Run, arg: &HostArg, axis: usize) -> Option<Quasi> {
        let ty = self.here.module.tensor_type(&self.tensor_here(run, arg)?)?;
        ty.dims.get(axis).map(|dim| dim.extent.clone())
    }

    /// The integer that was passed, if it is a number or was passed here too.
    fn argument(&self, run: &Run, arg: &HostArg) -> Option<Quasi> {
        let arg = self.fates.origin(arg);
        if let HostArg::Const(constant) = &arg {
            return i64::try_from(constant.as_int()?).ok().map(Quasi::from);
        }
        let module = &self.here.module;
        let mine = run.args.iter().skip(module.inputs.len());
        let is_argument = |source: &SymbolSource| *source == SymbolSource::Argument;
        let symbols = module.symbols.iter().filter(|symbol| is_argument(&symbol.source));
        let found = mine.zip(symbols).find(|(mine, _)| self.fates.origin(mine) == arg);
        found.map(|(_, symbol)| Quasi::from(symbol.var))
    }

    fn renamed(&mut self, names: &mut HashMap<Var, Var>, var: Var) -> Var {
        let vars = &mut self.vars;
        *names.entry(var).or_insert_with(|| match var.kind() {
            VarKind::Index => vars.index("there"),
            _ => vars.symbol("there"),
        })
    }

    fn set(&mut self, names: &mut HashMap<Var, Var>, set: &Set) -> Option<Set> {
        set.replace(&mut |var| Some(Affine::var(self.renamed(names, var)))).ok()
    }

    fn expression(&mut self, names: &mut HashMap<Var, Var>, expr: &Quasi) -> Option<Quasi> {
        rename_quasi(expr, &mut |var| self.renamed(names, var)).ok()
    }

    fn observation(
        &mut self,
        names: &mut HashMap<Var, Var>,
        observation: Observation,
    ) -> Observation {
        let Observation { what, loc, .. } = observation;
        let what = match what {
            Observed::Points(at, sets) | Observed::Step(at, sets, _) => {
                self.points(names, &at, &sets).unwrap_or(Observed::Whole(Why::Undecided))
            }
            whole @ Observed::Whole(_) => whole,
        };
        Observation { scope: Some(self.scopes.len()), ..Observation::new(what, loc) }
    }

    fn points(
        &mut self,
        names: &mut HashMap<Var, Var>,
        at: &[Option<Quasi>],
        sets: &[Set],
    ) -> Option<Observed> {
        let mut subscripts = Vec::with_capacity(at.len());
        for subscript in at {
            subscripts.push(match subscript {
                Some(expr) => Some(self.expression(names, expr)?),
                None => None,
            });
        }
        let sets: Option<Vec<Set>> = sets.iter().map(|set| self.set(names, set)).collect();
        Some(Observed::Points(subscripts, sets?))
    }
}
