//! The allocator of processes that run programs.
//!
//! Programs allocate many small values while they are checked, and a few large tensors while they run. The
//! first are what mimalloc is made for. The others come in large pages where the system has them, since asking
//! for one small page at a time takes longer than many a kernel, and their memory is kept for some seconds, as
//! the next call usually wants as much again.

#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout};

use libmimalloc_sys::{mi_malloc, mi_option_get, mi_option_set, mi_option_t, mi_realloc};
use mimalloc::MiMalloc;

/// From so many bytes on memory comes in large pages.
const LARGE: usize = 4 << 20;

/// All blocks are aligned to so much; asking for that takes longer.
const WORD: usize = 8;

/// The number of mimalloc's option for how long memory is kept, in milliseconds, its usual value, and ours. Large
/// blocks are kept ten times as long.
const PURGE_DELAY: mi_option_t = 15;
const USUAL_DELAY: std::ffi::c_long = 10;
const DELAY: std::ffi::c_long = 1_000;

/// Memory of mimalloc, in large pages for large blocks.
#[derive(Debug)]
pub struct Allocator;

// SAFETY: blocks are those of mimalloc, and advice about pages changes nothing about them.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of this very function.
        let block = unsafe {
            match layout.align() <= WORD {
                true => mi_malloc(layout.size()).cast(),
                false => MiMalloc.alloc(layout),
            }
        };
        advised(block, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        advised(unsafe { MiMalloc.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        let block = unsafe {
            match layout.align() <= WORD {
                true => mi_realloc(block.cast(), size).cast(),
                false => MiMalloc.realloc(block, layout, size),
            }
        };
        advised(block, size)
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { MiMalloc.dealloc(block, layout) }
    }
}

/// Keeps memory for some seconds after it was freed, unless the environment said how long.
pub fn keep_for_a_while() {
    // SAFETY: options may be read and set at any time. Should the numbers of options change, the usual value
    // is another one.
    unsafe {
        if mi_option_get(PURGE_DELAY) == USUAL_DELAY {
            mi_option_set(PURGE_DELAY, DELAY);
        }
    }
}

/// A block, of which the system was told that large pages are wanted.
fn advised(block: *mut u8, size: usize) -> *mut u8 {
    #[cfg(target_os = "linux")]
    if size >= LARGE && !block.is_null() {
        let (from, to) = (block.addr().next_multiple_of(PAGE), (block.addr() + size) / PAGE * PAGE);
        let inside = block.wrapping_add(from - block.addr());
        // SAFETY: whole pages of a block that is ours; they keep what they hold. A system without large pages
        // says so, which changes nothing.
        unsafe { libc::madvise(inside.cast(), to.saturating_sub(from), libc::MADV_HUGEPAGE) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (size, LARGE);
    block
}

/// Advice is given by small pages, of which no system has larger ones than that.
#[cfg(target_os = "linux")]
const PAGE: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_hold_what_they_should() {
        for size in [1, LARGE - 1, LARGE, LARGE + 1, 3 * LARGE + 5] {
            let layout = Layout::array::<u8>(size).expect("it is small");
            let larger = Layout::array::<u8>(size + LARGE).expect("it is small");
            // SAFETY: the block is used within its size, with the layout it was made with, and freed once.
            unsafe {
                let block = Allocator.alloc_zeroed(layout);
                assert!(!block.is_null() && *block == 0 && *block.add(size - 1) == 0);
                block.add(size - 1).write(7);
                let block = Allocator.realloc(block, layout, larger.size());
                assert_eq!(*block.add(size - 1), 7);
                Allocator.dealloc(block, larger);
            }
        }
    }

    #[test]
    fn memory_is_kept_for_a_while() {
        keep_for_a_while();
        // SAFETY: options may be read at any time.
        let delay = unsafe { mi_option_get(PURGE_DELAY) };
        assert!(delay == DELAY || std::env::var_os("MIMALLOC_PURGE_DELAY").is_some(), "{delay}");
    }
}
