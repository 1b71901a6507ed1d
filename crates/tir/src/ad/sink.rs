//! Moving values to the arms that use them.
//!
//! An adjoint that only one arm of a condition uses is read there: the condition may be what keeps a
//! recurrence from reading its own point, and outside the arm that read would be a cycle.

use super::uses::Uses;
use crate::region::{Arg, Inst, InstKind, Region};

/// Puts instructions, each of which may use those before it, in front of a region, or into its arms
/// where only those use them. Arms may get copies with equal numbers; they never see each other.
pub(super) fn sink_into_arms(region: &mut Region, front: Vec<Inst>) {
    for inst in front.into_iter().rev() {
        sink(region, inst);
    }
}

fn sink(region: &mut Region, inst: Inst) {
    if !is_used_in_arms_only(region, &inst) {
        region.insts.insert(0, inst);
        return;
    }
    for arm in region.insts.iter_mut().flat_map(Inst::regions_mut) {
        let mut uses = Uses::default();
        uses.region(arm);
        if uses.wants(&inst) {
            sink(arm, inst.clone());
        }
    }
}

fn is_used_in_arms_only(region: &Region, inst: &Inst) -> bool {
    let uses = |args: &mut dyn Iterator<Item = &Arg>| Uses::of_args(args).wants(inst);
    !uses(&mut region.results.iter())
        && region.insts.iter().all(|user| match &user.kind {
            InstKind::If { .. } | InstKind::Switch { .. } => !uses(&mut user.args().into_iter()),
            _ => {
                let mut all = Uses::default();
                all.inst(user);
                !all.wants(inst)
            }
        })
}
