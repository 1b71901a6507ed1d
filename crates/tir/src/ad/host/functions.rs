//! Functions with tangents beside their values.
//!
//! A function takes its values, then the tangents of those that have one, and gives its results,
//! then their tangents. There is one for each choice of parameters that change: the tangents of the
//! others are passed, are zero, and are not looked at.

use super::Host;
use super::dual::Dual;
use crate::ad::fault::{Fault, R};
use crate::host::{Block, HostFn};
use crate::types::{Ident, Loc};

/// The function, which of its parameters change, and whether its rule is used if it has one.
pub(super) type Key = (Ident, Vec<bool>, bool);

/// A function is written for this many choices; further ones use the function for all parameters.
const MAX_CHOICES: usize = 8;

impl Host<'_> {
    /// The function that takes and gives tangents beside the values.
    pub(super) fn dual_function(&mut self, name: &Ident, active: &[bool], loc: Loc) -> R<Ident> {
        self.dual_of(name, active, true, loc)
    }

    /// The same, by the rule or as if there were none.
    pub(super) fn dual_of(
        &mut self,
        name: &Ident,
        active: &[bool],
        by_rule: bool,
        loc: Loc,
    ) -> R<Ident> {
        let found = self.program.functions.iter().position(|f| f.name == *name);
        let Some(at) = found else { return Err(Fault::unsupported("this function", loc)) };
        let params = &self.program.functions[at].body.params;
        let carries = params.iter().map(|def| self.carries(&def.ty));
        let n_known = self.duals.keys().filter(|key| key.0 == *name).count();
        let all = n_known >= MAX_CHOICES;
        let active: Vec<bool> =
            carries.zip(active).map(|(carries, active)| carries && (*active || all)).collect();
        let key = (name.clone(), active, by_rule);
        if let Some(known) = self.duals.get(&key) {
            return Ok(known.clone());
        }
        let dual = self.unique(name.as_str());
        self.duals.insert(key.clone(), dual.clone());
        self.expand_function(at)?;
        let function = self.program.functions[at].clone();
        let body = match &function.rule {
            Some(rule) if by_rule => self.ruled_body(&function, rule, &key.1)?,
            _ => self.followed_body(&function, &key.1)?,
        };
        let floats = function.results.iter().filter(|ty| self.carries(ty)).cloned();
        let results = function.results.iter().cloned().chain(floats.collect::<Vec<_>>()).collect();
        self.program.functions.push(HostFn {
            name: dual.clone(),
            results,
            body,
            rule: None,
            loc: function.loc,
        });
        Ok(dual)
    }

    /// The body of a function, with tangents.
    fn followed_body(&mut self, function: &HostFn, active: &[bool]) -> R<Block> {
        let mut own = Dual::new(self, function.loc);
        let still = function.body.params.iter().zip(active).filter(|(_, active)| !**active);
        own.still = still.map(|(def, _)| def.number).collect();
        own.body(&function.body, 0)
    }
}
