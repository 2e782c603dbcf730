//! A launch allocates nothing once everything is warm, nor does setting a number that it is given.

mod setup;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

use gencl_runtime::ArgumentValue;
use setup::{Setup, line};

struct Counting;

/// Allocations of all threads.
static TOTAL: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Allocations of this thread.
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

fn count() {
    TOTAL.fetch_add(1, Ordering::Relaxed);
    ALLOCATIONS.set(ALLOCATIONS.get() + 1);
}

// SAFETY: all is handed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller gives a layout that is not empty.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller gives a block of this allocator, and its layout.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller gives a block of this allocator, its layout and a size that is not zero.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations of this thread during a call.
fn allocations(call: impl FnOnce()) -> usize {
    let before = ALLOCATIONS.get();
    call();
    ALLOCATIONS.get() - before
}

/// Enqueueing allocates nothing. Executing a batch does, in the simulator, for what the kernel driver would
/// keep in its own memory: as much for a batch of many launches as for one of few.
#[test]
fn launches_allocate_nothing() {
    // With a small stack, so that this thread does not execute the batches itself: a GPU would not allocate
    // here.
    let thread = std::thread::Builder::new().stack_size(512 << 10).spawn(compare).unwrap();
    thread.join().unwrap();
}

fn compare() {
    let setup = Setup::new();
    let buffer = setup.buffer(16);
    let kernel = setup.kernel("ids", Some(&buffer), 1);
    let launch = || {
        kernel.set_argument(1, ArgumentValue::Bytes(&2u32.to_ne_bytes())).unwrap();
        setup.launch(&kernel, line(16, Some(16)));
    };
    let finish = || setup.queue.finish().unwrap();
    for _ in 0..100 {
        (0..64).for_each(|_| launch());
        finish();
    }
    // How many batches the launches are submitted in is chance, so the fewest allocations of many rounds are
    // those of one batch.
    let fewest = |launches: usize| {
        let counts = (0..500).map(|_| {
            let before = TOTAL.load(Ordering::Relaxed);
            assert_eq!(allocations(|| (0..launches).for_each(|_| launch())), 0);
            finish();
            TOTAL.load(Ordering::Relaxed) - before
        });
        counts.min().unwrap()
    };
    let (few, many) = (fewest(2), fewest(12));
    assert!(few > 0 && many < few + 5, "{few} allocations for 2 launches, {many} for 12");
}
