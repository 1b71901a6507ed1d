//! Later reads in other modules, brought into the terms of the module that computes the tensor.
//!
//! The variables of the reading module become new ones here. Its symbols are tied to what is known
//! of them on this side: extents of what was computed here, and operands that both runs share.

use std::collections::HashMap;

use einlang_index::{Affine, Constraint, Quasi, Set, Var, VarKind};
use einlang_tir::host::HostArg;
use einlang_tir::module::{Module, SymbolSource};
use einlang_tir::types::Loc;
use einlang_tir::vars::rename_quasi;

use super::Prepared;
use super::escape::{Fates, Run, Use};
use super::observe::{Observation, Observations, Observed, observe};
use super::report::Why;

/// Adds the observations of the outputs of a module by the host and by other modules.
pub(super) fn observations(
    modules: &mut [Prepared],
    at: usize,
    fates: &Fates,
    later: &mut Observations,
) {
    let outputs = modules[at].module.outputs.clone();
    let runs = fates.runs.get(&modules[at].module.name).map_or(&[][..], Vec::as_slice);
    for (position, name) in outputs.iter().enumerate() {
        if !modules[at].tracked.contains(name) {
            continue;
        }
        for run in runs {
            let Some(number) = run.results.get(position) else { continue };
            let uses = fates.all_uses(*number);
            let found = later.entry(name.clone()).or_default();
            if Fates::is_cut(&uses) {
                let what = Observed::Whole(Why::Escapes);
                found.push(Observation { what, loc: Loc::default() });
                continue;
            }
            for how in uses {
                match how {
                    Use::Whole(why, loc) => {
                        found.push(Observation { what: Observed::Whole(why.clone()), loc: *loc });
                    }
                    Use::Part(_) => {}
                    Use::Operand { module, run: other, at: operand } => {
                        let reader = modules.iter().position(|m| m.module.name == *module);
                        let other = fates.runs.get(module).and_then(|runs| runs.get(*other));
                        match (reader, other) {
                            (Some(reader), Some(other)) => {
                                found.extend(brought(
                                    modules, at, run, reader, other, *operand, fates,
                                ));
                            }
                            _ => found.push(Observation {
                                what: Observed::Whole(Why::Escapes),
                                loc: Loc::default(),
                            }),
                        }
                    }
                }
            }
        }
    }
}

/// What another module reads of an operand.
fn brought(
    modules: &mut [Prepared],
    at: usize,
    run: &Run,
    reader: usize,
    other: &Run,
    operand: usize,
    fates: &Fates,
) -> Vec<Observation> {
    let escapes = || vec![Observation { what: Observed::Whole(Why::Escapes), loc: Loc::default() }];
    if reader == at {
        return escapes();
    }
    let there = &modules[reader];
    let Some(input) = there.module.inputs.get(operand) else { return escapes() };
    let names = [input.name.clone()].into_iter().collect();
    let Some(found) = observe(&there.module, &names).remove(&input.name) else {
        return Vec::new();
    };
    if found.iter().any(|observation| matches!(observation.what, Observed::Whole(_))) {
        return found;
    }
    let foreign = there.module.clone();
    let facts: Vec<Constraint> = there.context.facts().cloned().collect();
    let choices: Vec<(Var, Vec<Set>)> =
        there.context.choices().map(|(var, sets)| (var, sets.to_vec())).collect();
    let mut bridge = Bridge { here: &mut modules[at], names: HashMap::new() };
    for fact in facts {
        if let Some(fact) = bridge.constraint(fact) {
            bridge.here.context.assume([fact]);
        }
    }
    for (var, sets) in choices {
        let sets: Option<Vec<Set>> = sets.iter().map(|set| bridge.set(set)).collect();
        let var = bridge.renamed(var);
        if let Some(sets) = sets {
            bridge.here.context.choose(var, sets);
        }
    }
    bridge.tie(&foreign, run, other, fates);
    found.into_iter().map(|observation| bridge.observation(observation)).collect()
}

/// New names on this side for the variables of another module.
struct Bridge<'a> {
    here: &'a mut Prepared,
    names: HashMap<Var, Var>,
}

impl Bridge<'_> {
    fn renamed(&mut self, var: Var) -> Var {
        let vars = &mut self.here.module.vars;
        *self.names.entry(var).or_insert_with(|| match var.kind() {
            VarKind::Index => vars.index("there"),
            _ => vars.symbol("there"),
        })
    }

    fn set(&mut self, set: &Set) -> Option<Set> {
        set.replace(&mut |var| Some(Affine::var(self.renamed(var)))).ok()
    }

    fn constraint(&mut self, constraint: Constraint) -> Option<Constraint> {
        let set = self.set(&Set::new([constraint]).ok()?)?;
        set.constraints().next()
    }

    /// The other module's symbols that are known here.
    fn tie(&mut self, foreign: &Module, run: &Run, other: &Run, fates: &Fates) {
        let mut passed = other.args.iter().skip(foreign.inputs.len());
        for symbol in &foreign.symbols {
            let value = match &symbol.source {
                SymbolSource::Shape(name, axis) => {
                    let at = foreign.inputs.iter().position(|input| input.name == *name);
                    at.and_then(|at| self.extent(run, other.args.get(at)?, *axis))
                }
                SymbolSource::Argument => {
                    passed.next().and_then(|arg| self.argument(run, arg, fates))
                }
                _ => None,
            };
            if let Some(value) = value {
                let var = self.renamed(symbol.var);
                self.here.context.define(var, &value);
            }
        }
    }

    /// The extent of an operand, if it is a result or an operand of the run here.
    fn extent(&self, run: &Run, arg: &HostArg, axis: usize) -> Option<Quasi> {
        let HostArg::Value(number) = arg else { return None };
        let module = &self.here.module;
        let result = run.results.iter().position(|result| result == number);
        let name = match result {
            Some(at) => module.outputs.get(at).cloned(),
            None => {
                let at = run.args.iter().position(|mine| mine == arg)?;
                module.inputs.get(at).map(|input| input.name.clone())
            }
        };
        let ty = module.tensor_type(&name?)?;
        ty.dims.get(axis).map(|dim| dim.extent.clone())
    }

    /// The integer that was passed, if it is a number or was passed here too.
    fn argument(&self, run: &Run, arg: &HostArg, fates: &Fates) -> Option<Quasi> {
        let arg = fates.origin(arg);
        if let HostArg::Const(constant) = &arg {
            return i64::try_from(constant.as_int()?).ok().map(Quasi::from);
        }
        let module = &self.here.module;
        let mine = run.args.iter().skip(module.inputs.len());
        let is_argument = |source: &SymbolSource| *source == SymbolSource::Argument;
        let symbols = module.symbols.iter().filter(|symbol| is_argument(&symbol.source));
        let found = mine.zip(symbols).find(|(mine, _)| fates.origin(mine) == arg);
        found.map(|(_, symbol)| Quasi::from(symbol.var))
    }

    fn observation(&mut self, observation: Observation) -> Observation {
        let Observation { what, loc } = observation;
        let what = match what {
            Observed::Points(at, sets) | Observed::Step(at, sets, _) => self
                .points(&at, &sets)
                .map_or(Observed::Whole(Why::Undecided), |(at, sets)| Observed::Points(at, sets)),
            whole @ Observed::Whole(_) => whole,
        };
        Observation { what, loc }
    }

    #[allow(clippy::type_complexity)]
    fn points(
        &mut self,
        at: &[Option<Quasi>],
        sets: &[Set],
    ) -> Option<(Vec<Option<Quasi>>, Vec<Set>)> {
        let mut subscripts = Vec::with_capacity(at.len());
        for subscript in at {
            subscripts.push(match subscript {
                Some(expr) => Some(rename_quasi(expr, &mut |var| self.renamed(var)).ok()?),
                None => None,
            });
        }
        let sets: Option<Vec<Set>> = sets.iter().map(|set| self.set(set)).collect();
        Some((subscripts, sets?))
    }
}
