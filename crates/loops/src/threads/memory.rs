//! Memory of one thread.

use crate::ir::{Buffer, BufferDim, Layout};

/// The most elements of a buffer on the stack.
pub const MOST_ON_STACK: i64 = 256;

/// Whether a buffer is memory of a thread, so that every thread that gives it memory has its own: it
/// always lies on the stack, or keeps no more than a window, of which nothing is read that was not stored.
pub fn is_private(buffer: &Buffer) -> bool {
    if !buffer.stack || buffer.marks {
        return false;
    }
    let is_window = |dim: &BufferDim| matches!(dim.layout, Layout::Mod(_));
    let closed = buffer.dims.iter().all(|dim| dim.layout != Layout::Open);
    if closed && buffer.dims.iter().any(is_window) {
        return true;
    }
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
    true
}
