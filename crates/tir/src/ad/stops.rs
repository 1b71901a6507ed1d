//! The condition of an `until` that asks for derivatives.
//!
//! Entries are expanded in bindings, so the condition becomes one: a tensor of the same group that says
//! after each step whether to stop, and that the condition reads.
//!
//! Invariant: afterwards no condition of a group of the module holds an entry.

use einlang_index::{Domain, Quasi};

use super::context::Ad;
use super::fault::R;
use crate::constant::Const;
use crate::module::{Axis, Binding, Clause, Until};
use crate::region::{InstKind, Region, Subscript};
use crate::substitute::Substitution;
use crate::types::{Elem, Ident, Loc};

impl Ad<'_> {
    /// Makes the conditions that ask for derivatives bindings of their groups.
    pub(super) fn bind_conditions(&mut self) -> R<()> {
        for at in 0..self.module.groups.len() {
            let group = &self.module.groups[at];
            let Some(until) = group.until.clone().filter(asks) else { continue };
            let first = group.bindings.first();
            let (base, loc) = first.map_or(("until", Loc::default()), |b| (b.name.as_str(), b.loc));
            let name = self.fresh_name(&format!("{base}.stops"));
            let binding = self.stops(&name, &until, loc)?;
            let mut insts = Vec::new();
            let point = vec![Subscript::Index(until.index.into())];
            let stops = self.read(&mut insts, &name, point, Elem::Bool, true);
            let condition = Region { params: Vec::new(), insts, results: vec![stops] };
            let group = &mut self.module.groups[at];
            group.bindings.push(binding);
            group.until = Some(Until { condition, ..until });
            self.find_places();
        }
        Ok(())
    }

    /// Whether each step is the last one; those before the first are not tested.
    fn stops(&mut self, name: &Ident, until: &Until, loc: Loc) -> R<Binding> {
        let step = self.module.vars.index("t");
        let mut tested = until.condition.clone();
        let mut later = Substitution::default();
        later.vars.insert(until.index, step.into());
        later.region(&mut tested)?;
        let untested = Region::yielding([Const::bool(false).into()]);
        let extent = Quasi::from(until.extent);
        let within = extent.sub(&step.into())?.sub(&1.into())?;
        let before = until.first.sub(&step.into())?.sub(&1.into())?;
        let after = Quasi::from(step).sub(&until.first)?;
        let early = [step.into(), before, within.clone()];
        let mut clauses = Vec::with_capacity(2);
        for (bounds, body) in [(&early[..], untested), (&[after, within][..], tested)] {
            let domain = Domain::where_nonnegative(vec![step], bounds)?.into();
            clauses.push(Clause { domain, guard: None, body, loc });
        }
        let axes = vec![Axis { var: step, dim: extent.into() }];
        let name = name.clone();
        Ok(Binding { name, elem: Elem::Bool, axes, clauses, zero_fill: false, loc })
    }
}

fn asks(until: &Until) -> bool {
    let mut found = false;
    until.condition.for_each_inst(&mut |inst| found |= matches!(inst.kind, InstKind::Deriv { .. }));
    found
}
