//! Memory of one thread.

use crate::ir::{Buffer, Layout};

/// The most elements of a buffer on the stack.
pub const MOST_ON_STACK: i64 = 256;

/// Whether a buffer always lies on the stack, so that every thread that gives it memory has its own.
pub(super) fn is_private(buffer: &Buffer) -> bool {
    let mut size = 1_i64;
    for dim in buffer.dims.iter().rev() {
        let kept = match dim.layout {
            Layout::Open => None,
            Layout::Mod(width) => Some(width),
            Layout::Full => dim.extent.as_constant(),
        };
        match kept.and_then(|kept| size.checked_mul(kept)) {
            Some(all @ 1..=MOST_ON_STACK) => size = all,
            _ => return false,
        }
    }
    buffer.stack && !buffer.marks
}
