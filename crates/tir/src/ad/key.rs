//! Subscripts that are data, as keys by which an adjoint is grouped.

use einlang_index::Quasi;

use super::context::Ad;
use super::fault::{Fault, R};
use super::uses::{Uses, slice};
use crate::constant::Const;
use crate::op::Op;
use crate::region::{Inst, InstKind, Region, Subscript};
use crate::types::{Elem, Loc};

impl Ad<'_> {
    /// Whether a subscript that is data equals a coordinate. If it is computed inside a branch, it
    /// equals nothing where the branch is not taken.
    pub(super) fn same_key(
        &mut self,
        code: &Region,
        subscript: &Subscript,
        at: &Quasi,
    ) -> R<Region> {
        let mut uses = Uses::default();
        match subscript {
            Subscript::Index(expr) => uses.quasi(expr),
            Subscript::Value(arg) => uses.arg(arg),
        }
        self.key_in(&code.insts, &uses, subscript, at)
    }

    fn key_in(
        &mut self,
        insts: &[Inst],
        uses: &Uses,
        subscript: &Subscript,
        at: &Quasi,
    ) -> R<Region> {
        let inside = insts.iter().position(|inst| defines_inside(inst, uses));
        let Some(position) = inside else {
            let mut uses = uses.clone();
            let mut insts = slice(insts, &mut uses);
            let own = self.as_integer(&mut insts, subscript);
            let key = self.as_integer(&mut insts, &Subscript::Index(at.clone()));
            let results = vec![self.op(&mut insts, Op::Eq, vec![own, key], Elem::Bool)];
            return Ok(Region { params: Vec::new(), insts, results });
        };
        let mut branch = insts[position].clone();
        match &branch.kind {
            InstKind::If { .. } | InstKind::Switch { .. } => {}
            InstKind::Read(read) => {
                let default = read.default.clone().unwrap_or_default();
                let all = [&insts[..position], &default.insts[..]].concat();
                return self.key_in(&all, uses, subscript, at);
            }
            _ => return Err(Fault::unsupported("a subscript of this kind", branch.loc)),
        }
        for arm in branch.regions_mut() {
            let is_here =
                arm.insts.iter().any(|inst| uses.wants(inst) || defines_inside(inst, uses));
            *arm = match is_here {
                true => self.key_in(&arm.insts, uses, subscript, at)?,
                false => Region::yielding([Const::bool(false).into()]),
            };
        }
        let mut needed = Uses::default();
        needed.inst(&branch);
        let mut insts = slice(&insts[..position], &mut needed);
        let result = self.push(&mut insts, Elem::Bool, branch.kind, Loc::default());
        Ok(Region { params: Vec::new(), insts, results: vec![result] })
    }
}

/// Whether something is defined in a region of an instruction.
fn defines_inside(inst: &Inst, uses: &Uses) -> bool {
    let mut found = false;
    for region in inst.regions() {
        region.for_each_inst(&mut |inst| found |= uses.wants(inst));
    }
    found
}
