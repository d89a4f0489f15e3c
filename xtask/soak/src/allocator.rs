//! An allocator that counts the bytes held, and compares the layout that a block is given back with
//! to the one that it was taken with.
//!
//! Crates that check layouts keep what they saw for each thread, and the jobs of the stores give
//! back on one thread what another took.

#![allow(
    unsafe_code,
    reason = "an allocator is unsafe code by its trait; it is linked into tests and the soak alone"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The system's allocator behind two counters.
pub(crate) struct Checking {
    held: AtomicUsize,
    wrong: AtomicUsize,
}

/// Size and alignment, which stand right before each block.
const FRONT: usize = 2 * size_of::<usize>();

impl Checking {
    pub(crate) const fn new() -> Self {
        Self {
            held: AtomicUsize::new(0),
            wrong: AtomicUsize::new(0),
        }
    }

    /// The bytes that are taken and not given back.
    pub(crate) fn held(&self) -> usize {
        self.held.load(Relaxed)
    }

    /// How many blocks were given back with another size or alignment than they were taken with.
    pub(crate) fn wrong_layouts(&self) -> usize {
        self.wrong.load(Relaxed)
    }
}

/// How far a block lies behind the start of what the system gave for it.
fn offset(align: usize) -> usize {
    align.max(FRONT)
}

// SAFETY: blocks come from the system's allocator, larger by `offset(align)`, which is a multiple of
// the alignment; they go back as they came, by what was written before them.
unsafe impl GlobalAlloc for Checking {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let (size, align) = (layout.size(), layout.align());
        let whole = size
            .checked_add(offset(align))
            .and_then(|size| Layout::from_size_align(size, align.max(align_of::<usize>())).ok());
        let Some(whole) = whole else {
            return std::ptr::null_mut();
        };
        // SAFETY: the size is not zero, for the front is not.
        let start = unsafe { System.alloc(whole) };
        if start.is_null() {
            return start;
        }
        // SAFETY: the front lies within what the system gave, aligned for a word.
        unsafe {
            let block = start.add(offset(align));
            let front = block.sub(FRONT).cast::<[usize; 2]>();
            front.write([size, align]);
            self.held.fetch_add(size, Relaxed);
            block
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: `alloc` wrote the front, and asked the system for exactly this.
        unsafe {
            let [size, align] = block.sub(FRONT).cast::<[usize; 2]>().read();
            if (size, align) != (layout.size(), layout.align()) {
                self.wrong.fetch_add(1, Relaxed);
            }
            self.held.fetch_sub(size, Relaxed);
            let whole = Layout::from_size_align_unchecked(
                size + offset(align),
                align.max(align_of::<usize>()),
            );
            System.dealloc(block.sub(offset(align)), whole);
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_block_that_is_given_back_with_another_layout_is_counted() {
        use super::*;
        let checking = Checking::new();
        let (taken, other) = (Layout::new::<[u64; 5]>(), Layout::new::<[u64; 3]>());
        for (given, wrong) in [(taken, 0), (other, 1), (Layout::new::<[u8; 40]>(), 2)] {
            // SAFETY: what goes back to the system is what was asked of it, whatever layout is given.
            unsafe {
                let block = checking.alloc(taken);
                assert_eq!(checking.held(), 40);
                block.write_bytes(7, 40);
                checking.dealloc(block, given);
            }
            assert_eq!((checking.held(), checking.wrong_layouts()), (0, wrong));
        }
        let large = Layout::from_size_align(100, 128).unwrap();
        // SAFETY: it goes back as it came.
        unsafe {
            let block = checking.alloc_zeroed(large);
            assert_eq!(block.align_offset(128), 0);
            let block = checking.realloc(block, large, 200);
            assert_eq!(checking.held(), 200);
            checking.dealloc(block, Layout::from_size_align(200, 128).unwrap());
        }
        assert_eq!((checking.held(), checking.wrong_layouts()), (0, 2));
    }
}
