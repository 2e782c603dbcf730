//! Fine-grained shared virtual memory: host and kernels access the same bytes at the same time (3.3.3, "Fine-Grain
//! buffer sharing").

use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use gencl_utest::{Case, Gpu, Need, Outcome, all_needing};
use opencl_sys::{
    CL_DEVICE_SVM_ATOMICS, CL_DEVICE_SVM_FINE_GRAIN_BUFFER, CL_MEM_READ_WRITE, CL_MEM_SVM_ATOMICS,
    CL_MEM_SVM_FINE_GRAIN_BUFFER,
};
use opencl3::memory::{svm_alloc, svm_free};

use crate::memory::same;
use crate::shared_memory::{enqueue, pointer_argument, value_argument};

pub fn cases() -> Vec<Case> {
    let cases = vec![
        Case::new("fine_grained_turns", turns),
        Case::new("fine_grained_counter", counter),
        Case::new("fine_grained_stack", stack),
    ];
    let mut cases = all_needing(Need::FineGrain, cases);
    cases.extend(all_needing(Need::SharedMemory, vec![Case::new("fine_grained_flags", flags)]));
    cases
}

const SOURCE: &str = "
kernel void turns(global atomic_int *turn, global int *data, int rounds) {
    for (int round = 0; round < rounds; round++) {
        int now;
        do now = atomic_load_explicit(turn, memory_order_acquire, memory_scope_all_svm_devices);
        while (now >= 0 && now != 2 * round + 1);
        if (now < 0) return;
        for (int i = 0; i < 16; i++) data[i] = data[i] * 3 + i;
        atomic_store_explicit(turn, now + 1, memory_order_release, memory_scope_all_svm_devices);
    }
}
kernel void count(global atomic_int *counts, global atomic_long *sum, int rounds) {
    for (int round = 0; round < rounds; round++) {
        atomic_fetch_add_explicit(counts + round % 8, 1, memory_order_relaxed, memory_scope_all_svm_devices);
        atomic_fetch_add_explicit(sum, (long)get_global_id(0) << 32, memory_order_relaxed, memory_scope_all_svm_devices);
    }
}
kernel void push(global atomic_int *top, global int *next, int first) {
    int node = first + get_global_id(0);
    int above = atomic_load_explicit(top, memory_order_relaxed, memory_scope_all_svm_devices);
    do next[node] = above;
    while (!atomic_compare_exchange_weak_explicit(top, &above, node, memory_order_release, memory_order_relaxed,
                                                  memory_scope_all_svm_devices));
}";

/// How long the host waits for a kernel.
const LIMIT: Duration = Duration::from_secs(120);

/// An allocation with atomic operations, which the host never maps.
struct Shared(*mut u8);

impl Shared {
    fn new(bytes: usize) -> Result<Shared, String> {
        let flags = CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER | CL_MEM_SVM_ATOMICS;
        // SAFETY: the context is alive.
        let pointer = unsafe { svm_alloc(Gpu::get()?.context.get(), flags, bytes, 0) };
        pointer.map(|pointer| Shared(pointer.cast())).map_err(|code| format!("clSVMAlloc: {code}"))
    }

    /// The allocation as values. They have interior mutability, so that kernels may change them.
    fn values<T>(&self, len: usize) -> &[T] {
        // SAFETY: it is as large and zeroed, and T is an atomic type.
        unsafe { std::slice::from_raw_parts(self.0.cast(), len) }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if let Ok(gpu) = Gpu::get() {
            // SAFETY: the tests wait for their kernels.
            let _ = unsafe { svm_free(gpu.context.get(), self.0.cast()) };
        }
    }
}

/// Launches a kernel with two allocations and a number, has the host work meanwhile, and waits for the kernel.
fn beside(
    name: &str,
    [a, b]: [&Shared; 2],
    number: i32,
    global: usize,
    host: impl FnOnce() -> Outcome,
) -> Outcome {
    let gpu = Gpu::get()?;
    let program = gpu.build_source(SOURCE, "-cl-std=CL3.0")?;
    let kernel = program.kernel(name)?;
    let queue = gpu.queue()?;
    for (index, shared) in [(0, a), (1, b)] {
        pointer_argument(&kernel, index, shared.0.cast())
            .map_err(|code| format!("clSetKernelArgSVMPointer: {code}"))?;
    }
    value_argument(&kernel, 2, number)?;
    enqueue(&queue, &kernel, global)?;
    queue.flush().map_err(|error| error.to_string())?;
    let outcome = host();
    queue.finish().map_err(|error| error.to_string())?;
    outcome
}

/// Host and kernel take turns: what one stores before a release the other reads after the acquire.
fn turns() -> Outcome {
    let rounds = 200;
    let (turn, data) = (Shared::new(4)?, Shared::new(64)?);
    let now = &turn.values::<AtomicI32>(1)[0];
    let values = data.values::<AtomicI32>(16);
    let mut expected = [0i32; 16];
    beside("turns", [&turn, &data], rounds, 1, || {
        let deadline = Instant::now() + LIMIT;
        for round in 0..rounds {
            for (value, expected) in values.iter().zip(&mut expected) {
                *expected = expected.wrapping_add(round);
                value.store(*expected, Ordering::Relaxed);
            }
            now.store(2 * round + 1, Ordering::Release);
            while now.load(Ordering::Acquire) != 2 * round + 2 {
                if Instant::now() > deadline {
                    now.store(-1, Ordering::Release);
                    return Err(format!("the kernel does not see turn {round}"));
                }
                std::thread::yield_now();
            }
            for (i, expected) in (0..).zip(&mut expected) {
                *expected = expected.wrapping_mul(3).wrapping_add(i);
            }
            let found: Vec<i32> = values.iter().map(|value| value.load(Ordering::Relaxed)).collect();
            if found != expected {
                now.store(-1, Ordering::Release);
                return same(&found, &expected);
            }
        }
        Ok(())
    })
}

/// No addition is lost when host and kernel count together, in 32 and 64 bits.
fn counter() -> Outcome {
    let (rounds, items) = (100, 256i64);
    let (counts, sum) = (Shared::new(32)?, Shared::new(8)?);
    let own = counts.values::<AtomicI32>(8);
    let total = &sum.values::<AtomicU64>(1)[0];
    beside("count", [&counts, &sum], rounds, items as usize, || {
        for round in 0..20_000 {
            own[round % 8].fetch_add(1, Ordering::Relaxed);
            total.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    })?;
    let found: i64 = own.iter().map(|count| i64::from(count.load(Ordering::Relaxed))).sum();
    same(&[found], &[20_000 + i64::from(rounds) * items])?;
    let of_items = ((0..items).sum::<i64>() * i64::from(rounds)) << 32;
    same(&[total.load(Ordering::Relaxed)], &[of_items as u64 + 20_000])
}

/// Host and kernel push to the same stack by compare and exchange: each node is in it once.
fn stack() -> Outcome {
    let (host, device) = (5_000, 2_048);
    let all = host + device;
    let (top, next) = (Shared::new(4)?, Shared::new(4 * (all as usize + 1))?);
    let above = &top.values::<AtomicI32>(1)[0];
    let nodes = next.values::<AtomicI32>(all as usize + 1);
    // Node 0 is the bottom.
    beside("push", [&top, &next], host + 1, device as usize, || {
        for node in 1..=host {
            let mut found = above.load(Ordering::Relaxed);
            loop {
                nodes[node as usize].store(found, Ordering::Relaxed);
                match above.compare_exchange_weak(found, node, Ordering::Release, Ordering::Relaxed) {
                    Ok(_) => break,
                    Err(other) => found = other,
                }
            }
        }
        Ok(())
    })?;
    let mut seen = vec![false; all as usize + 1];
    let mut node = above.load(Ordering::Acquire);
    while node != 0 {
        if std::mem::replace(&mut seen[node as usize], true) {
            return Err(format!("node {node} is there twice"));
        }
        node = nodes[node as usize].load(Ordering::Relaxed);
    }
    same(&[seen.iter().filter(|seen| **seen).count()], &[all as usize])
}

/// Allocations are as fine-grained as the device says, and atomics need fine grain.
fn flags() -> Outcome {
    let gpu = Gpu::get()?;
    let capability = gpu.device.svm_mem_capability();
    let fine = CL_MEM_SVM_FINE_GRAIN_BUFFER;
    for (flags, expected) in [
        (fine, capability & CL_DEVICE_SVM_FINE_GRAIN_BUFFER != 0),
        (fine | CL_MEM_READ_WRITE, capability & CL_DEVICE_SVM_FINE_GRAIN_BUFFER != 0),
        (fine | CL_MEM_SVM_ATOMICS, capability & CL_DEVICE_SVM_ATOMICS != 0),
        (CL_MEM_SVM_ATOMICS, false),
        (CL_MEM_SVM_ATOMICS | CL_MEM_READ_WRITE, false),
    ] {
        // SAFETY: the context is alive.
        let allocated = unsafe { svm_alloc(gpu.context.get(), flags, 64, 0) };
        let is_there = allocated.is_ok();
        if let Ok(pointer) = allocated {
            // SAFETY: it was allocated here.
            unsafe { svm_free(gpu.context.get(), pointer) }.map_err(|code| format!("clSVMFree: {code}"))?;
        }
        if is_there != expected {
            return Err(format!("flags {flags:#x}: {is_there}, expected {expected}"));
        }
    }
    Ok(())
}
