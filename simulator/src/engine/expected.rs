//! Translation of kernels that have not been launched yet.
//!
//! Baseline code is requested for one expected kernel after the other: what launches ask for has to wait for one of them at
//! most. Kernels that have been released meanwhile are left out, and those that have been launched: how long these take is
//! known by then.

use std::collections::VecDeque;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use super::translation_policy::TranslationPolicy;
use crate::kernels::{CachedKernel, KernelCache};
use gencl_eu::abi::Tier;
use gencl_eu::dispatch::{Launch, Scratch};
use gencl_i915::{ExpectedLaunch, LaunchHint};
use gencl_sync::Mutex;

/// A kernel is translated that is not launched while nothing has been built or translated for twice this time. Most kernels
/// are launched as soon as they and others that are needed have been built, and few of them take so long that code pays.
const DELAY: Duration = Duration::from_millis(10);

/// The kernels whose launch is expected.
pub struct Expectations(Arc<Shared>);

struct Shared {
    kernels: Arc<KernelCache>,
    policy: TranslationPolicy,
    queue: Mutex<Queue>,
}

#[derive(Default)]
struct Queue {
    /// In the order of their creation.
    waiting: VecDeque<Weak<Expected>>,
    /// Whether there is a thread that requests them. It ends when none is left.
    has_thread: bool,
}

/// A kernel whose launch is expected.
struct Expected {
    /// From its first instruction on.
    code: Vec<u8>,
    launch: Launch,
    /// Once it has been decoded: kept for its launch.
    decoded: OnceLock<Arc<CachedKernel>>,
}

impl Expectations {
    /// None yet.
    pub fn new(kernels: Arc<KernelCache>, policy: TranslationPolicy) -> Expectations {
        Expectations(Arc::new(Shared { kernels, policy, queue: Mutex::default() }))
    }

    /// Has a kernel translated when its turn comes, unless the result has been dropped by then.
    pub fn add(&self, expected: &ExpectedLaunch<'_>) -> LaunchHint {
        let (code, launch) = (expected.code.to_vec(), launch_of(expected));
        let expected = Arc::new(Expected { code, launch, decoded: OnceLock::new() });
        let mut queue = self.0.queue.lock();
        queue.waiting.push_back(Arc::downgrade(&expected));
        if !queue.has_thread {
            let shared = Arc::clone(&self.0);
            let thread = std::thread::Builder::new().name("gencl-expect".into());
            // Without a thread kernels are translated when they are launched.
            queue.has_thread = thread.spawn(move || shared.request_all()).is_ok();
        }
        Box::new(expected)
    }
}

impl Shared {
    /// Requests all that wait, one after the other.
    fn request_all(&self) {
        loop {
            let expected = {
                let mut queue = self.queue.lock();
                let Some(next) = queue.waiting.pop_front() else {
                    queue.has_thread = false;
                    return;
                };
                next
            };
            if expected.strong_count() == 0 {
                continue;
            }
            self.policy.wait_until_idle(DELAY);
            if let Some(expected) = expected.upgrade() {
                self.request(&expected);
            }
        }
    }

    /// Requests baseline code and waits for the answer.
    fn request(&self, expected: &Expected) {
        // What cannot be decoded is reported when it is launched.
        let Ok(cached) = self.kernels.expect(&expected.code) else { return };
        let cached = expected.decoded.get_or_init(|| cached);
        if cached.translations.was_executed() {
            return;
        }
        let choice = self.policy.expected(cached, &expected.launch);
        if let Some(choice) = choice.filter(|choice| choice.next_tier() == Some(Tier::Baseline)) {
            self.policy.request(cached, &choice, Tier::Baseline);
            choice.wait(|| true);
        }
    }
}

/// The launch, as far as its variant depends on it.
fn launch_of(expected: &ExpectedLaunch<'_>) -> Launch {
    let ExpectedLaunch {
        simd_width,
        work_items,
        cross_thread,
        per_thread,
        local_memory,
        barrier,
        scratch,
        ..
    } = *expected;
    let threads = work_items.div_ceil(simd_width).max(1);
    let mask = |lanes| u32::MAX >> (32 - lanes);
    let slots = Scratch { base: 0, per_thread: scratch, code: 0, slots: threads };
    Launch {
        simd_width,
        threads: [threads, 1, 1],
        end_group: [1; 3],
        right_mask: mask(work_items - (threads - 1) * simd_width),
        bottom_mask: mask(simd_width),
        cross_thread: vec![0; cross_thread],
        per_thread: per_thread.to_vec(),
        per_thread_size: per_thread.len() / threads as usize,
        slm_size: local_memory,
        barrier,
        scratch: (scratch > 0).then_some(slots),
        ..Launch::default()
    }
}
