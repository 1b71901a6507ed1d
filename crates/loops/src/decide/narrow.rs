//! `narrow_windows`: what a step replaces point by point is replaced where it lies.
//!
//! A window is found before anything is known of the order inside a step, so it has a plane for what is read and
//! one for what is written. Where a step is through with an element before its place gets another one, one plane
//! less is enough: half the memory of a large state then, and half of what passes through caches.
//!
//! Invariant: what is proposed was proved like a schedule from a file.

use einlang_tir::module::Module;
use einlang_tir::order::dependences;

use super::legal::change_groups;
use super::windows::needed_windows;
use crate::schedule::{Layout, Nest, Role, Schedule};

/// Narrows the windows of recurrences.
pub(crate) fn narrow_windows(module: &Module, schedule: &mut Schedule) {
    change_groups(module, schedule, |group, decided, observers| {
        let is_wide = |layout: &Layout| matches!(layout, Layout::Mod(width) if *width > 1);
        let is_window = decided.tensors.iter().any(|tensor| tensor.storage.iter().any(is_wide));
        let is_steps = matches!(&decided.nest, Nest::Loop { tile: None, role: Role::Seq, .. });
        if !is_window || !is_steps {
            return;
        }
        let dependences = dependences(module, group);
        let least = needed_windows(group, decided, &dependences, observers, &module.facts());
        for (tensor, least) in decided.tensors.iter_mut().zip(least) {
            // Numbers, and what lies on the stack, stay in registers in any case.
            if tensor.stack || tensor.storage.len() < 2 {
                continue;
            }
            for (axis, least) in least {
                if let Some(Layout::Mod(width)) = tensor.storage.get_mut(axis) {
                    *width = least.min(*width);
                }
            }
        }
    });
}
