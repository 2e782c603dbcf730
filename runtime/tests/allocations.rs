//! A launch allocates nothing once everything is warm, nor does setting a number that it is given.

mod setup;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use gencl_runtime::ArgumentValue;
use setup::{Setup, line};

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: all is handed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: as the caller's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller's.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: as the caller's.
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

/// Who enqueues allocates nothing. Who waits hands the batch to the simulator, which allocates for each batch what the kernel would
/// have in its own memory: as much for many launches as for few.
#[test]
fn launches_allocate_nothing() {
    // With a small stack, so that this thread does not execute the batches itself: a GPU would not allocate here.
    let thread = std::thread::Builder::new().stack_size(512 << 10).spawn(count).unwrap();
    thread.join().unwrap();
}

fn count() {
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
    // The queue's thread may be faster than this one and do its work: then it is less.
    let most = |launches: usize| {
        let counts = (0..200).map(|_| {
            assert_eq!(allocations(|| (0..launches).for_each(|_| launch())), 0);
            allocations(finish)
        });
        counts.max().unwrap()
    };
    // How many batches of other threads have to be remembered is chance.
    let (few, many) = (most(2), most(12));
    assert!(many < few + 5, "{few} allocations for 2 launches, {many} for 12");
}
