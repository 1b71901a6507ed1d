//! Dropping what nothing uses, within one region.

use rustc_hash::FxHashSet as HashSet;

use super::uses::Uses;
use crate::region::{InstKind, Region};

/// Removes instructions without effect whose results are not used.
pub(super) fn drop_dead(region: &mut Region) {
    let mut uses = Uses::of_args(&region.results);
    let mut keep: HashSet<usize> = HashSet::default();
    for (at, inst) in region.insts.iter().enumerate().rev() {
        let has_effect = matches!(inst.kind, InstKind::Assert { .. } | InstKind::Trap { .. });
        if has_effect || uses.wants(inst) {
            uses.inst(inst);
            keep.insert(at);
        }
    }
    let mut at = 0;
    region.insts.retain(|_| {
        at += 1;
        keep.contains(&(at - 1))
    });
}
