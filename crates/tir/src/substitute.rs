//! Replacing symbols by index expressions, and values and tensors by others, in instructions.
//!
//! Binders are identities, so nothing can be captured and no scope is kept.

use einlang_index::{Affine, Domain, Quasi, Result, Set, Var};
use rustc_hash::FxHashMap as HashMap;

use crate::module::Group;
use crate::region::{Arg, Combiner, Def, Inst, InstKind, Over, Place, Region, Subscript};
use crate::types::Ident;

/// What stands for what.
#[derive(Clone, Debug, Default)]
pub struct Substitution {
    /// Symbols. Where a domain mentions one, its expression must be affine.
    pub vars: HashMap<Var, Quasi>,
    /// Scalars by number.
    pub values: HashMap<u32, Arg>,
    /// Tensors.
    pub tensors: HashMap<Ident, Ident>,
}

impl Substitution {
    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.vars.is_empty() && self.values.is_empty() && self.tensors.is_empty()
    }

    /// Replaces in a region and those inside it.
    pub fn region(&self, region: &mut Region) -> Result<()> {
        region.params.iter_mut().try_for_each(|def| self.def(def))?;
        region.insts.iter_mut().try_for_each(|inst| self.inst(inst))?;
        region.results.iter_mut().for_each(|arg| self.arg(arg));
        Ok(())
    }

    /// Replaces in an instruction and its regions.
    pub fn inst(&self, inst: &mut Inst) -> Result<()> {
        inst.args_mut().into_iter().for_each(|arg| self.arg(arg));
        inst.results.iter_mut().try_for_each(|def| self.def(def))?;
        match &mut inst.kind {
            InstKind::Index(expr) => *expr = self.quasi(expr)?,
            InstKind::Read(read) => self.place(&mut read.place)?,
            InstKind::Deriv { of, by } => {
                self.place(of)?;
                self.place(by)?;
            }
            InstKind::Reduce(reduction) => self.domain(&mut reduction.domain)?,
            InstKind::Group(group) => return self.group(group),
            _ => {}
        }
        if let InstKind::Reduce(reduction) = &mut inst.kind
            && let Combiner::Region(combine) = &mut reduction.combine
        {
            self.region(combine)?;
            reduction.guard.iter_mut().try_for_each(|guard| self.region(guard))?;
            return self.region(&mut reduction.body);
        }
        inst.regions_mut().into_iter().try_for_each(|region| self.region(region))
    }

    /// Replaces in a group.
    pub fn group(&self, group: &mut Group) -> Result<()> {
        for binding in &mut group.bindings {
            for axis in &mut binding.axes {
                axis.dim.extent = self.quasi(&axis.dim.extent)?;
            }
            for clause in &mut binding.clauses {
                self.domain(&mut clause.domain)?;
            }
        }
        if let Some(until) = &mut group.until {
            until.first = self.quasi(&until.first)?;
            until.max = self.quasi(&until.max)?;
        }
        group.regions_mut().into_iter().try_for_each(|region| self.region(region))
    }

    /// The operand that stands for one.
    pub fn arg(&self, arg: &mut Arg) {
        let new = match arg {
            Arg::Const(_) => None,
            Arg::Value(value) => self.values.get(&value.number).cloned(),
            Arg::Tensor(name) => self.tensors.get(name).cloned().map(Arg::Tensor),
        };
        if let Some(new) = new {
            *arg = new;
        }
    }

    fn def(&self, def: &mut Def) -> Result<()> {
        if let Def::Tensor(tensor) = def {
            for dim in &mut tensor.ty.dims {
                dim.extent = self.quasi(&dim.extent)?;
            }
        }
        Ok(())
    }

    fn place(&self, place: &mut Place) -> Result<()> {
        if let Some(name) = self.tensors.get(&place.tensor) {
            place.tensor = name.clone();
        }
        for subscript in &mut place.at {
            if let Subscript::Index(expr) = subscript {
                *expr = self.quasi(expr)?;
            }
        }
        Ok(())
    }

    /// The expression with all symbols replaced at once.
    pub fn quasi(&self, expr: &Quasi) -> Result<Quasi> {
        let mut sum = Quasi::from(expr.affine().constant_part());
        for (var, coefficient) in expr.affine().terms() {
            let value = self.vars.get(var).cloned().unwrap_or_else(|| Quasi::from(*var));
            sum = sum.combine(1, &value, *coefficient)?;
        }
        for (division, coefficient) in expr.divisions() {
            let number = self.quasi(&division.number)?;
            let quotient = number.divide(division.op, division.divisor)?;
            sum = sum.combine(1, &quotient, *coefficient)?;
        }
        Ok(sum)
    }

    fn domain(&self, domain: &mut Over) -> Result<()> {
        if !domain.params().iter().any(|var| self.vars.contains_key(var)) {
            return Ok(());
        }
        let mut image = |var: Var| -> Option<Affine> {
            self.vars.get(&var).and_then(|expr| expr.as_affine().cloned())
        };
        let sets: Result<Vec<Set>> =
            domain.sets().iter().map(|set| set.replace(&mut image)).collect();
        *domain = Over(Domain::of_sets(domain.dims().to_vec(), sets?));
        Ok(())
    }
}
