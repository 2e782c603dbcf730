//! Decides when kernels are translated.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::kernels::CachedKernel;
use crate::running::Running;
use crate::settings::Settings;
use crate::translated::source::{EngineChoice, Source};
use crate::translated::{LaunchSurfaces, TranslationChoice};
use gencl_eu::abi::Tier;
use gencl_eu::device::Device;
use gencl_eu::dispatch::Launch;
use gencl_eu::memory::AddressSpace;

/// A kernel is translated after it has been interpreted for this long, and optimised after it has been executed by baseline code for this
/// long. Programs that run shorter never start the translator.
fn threshold(tier: Tier, code_bytes: usize) -> Duration {
    // Large kernels take longer to be translated, some 30 times the time for each byte, which does not pay for one that is launched a few
    // times only. Baseline code takes a tenth of the interpreter's time or less, optimised code half of that: it is requested when it would
    // have been made in the time, as other kernels' translations wait for it.
    let (least, per_byte) = match tier {
        Tier::Baseline => (Duration::from_millis(1), Duration::from_nanos(200)),
        Tier::Optimised => (Duration::from_millis(20), Duration::from_micros(6)),
    };
    least.max(per_byte * u32::try_from(code_bytes).unwrap_or(u32::MAX))
}

/// A kernel is also translated when the rest of its launch is expected to take this long, and
/// [`MIN_REMAINING_FACTOR`] times the threshold above.
const MIN_REMAINING_TIME: Duration = Duration::from_millis(10);
const MIN_REMAINING_FACTOR: u32 = 2;

/// Expectations are not made before a kernel has been executed for this long: the first work-groups run
/// with cold caches.
const WARM_UP: Duration = Duration::from_micros(200);

/// A launch of one work-group is interpreted to its end. A new kernel waits for its translation instead when such
/// launches have taken this long on average: about what starting the translator and a translation take.
const ONLY_GROUP_TIME: Duration = Duration::from_millis(30);
/// How many times longer the interpreter takes than baseline code.
const INTERPRETER_FACTOR: u32 = 10;

/// Requests translations from the source when they are expected to pay.
#[derive(Clone)]
pub struct TranslationPolicy {
    device: &'static Device,
    source: Source,
    /// Whether launches wait for their translation (`GENCL_ENGINE=translate`).
    first: bool,
    strict: bool,
    /// Code counts what it executes ([`Settings::fast_statistics`]).
    counted: bool,
    /// What the interpreter takes for a launch of one work-group, in nanoseconds: an average in which the last launches
    /// count most.
    only_group_time: Arc<AtomicU64>,
}

impl TranslationPolicy {
    /// The policy that the settings ask for; `None` when kernels are only interpreted. With statistics
    /// kernels are interpreted as well, unless these are fast: translations are then only requested, to be
    /// reported on, with [`EngineChoice::Translate`].
    pub fn new(device: &'static Device, settings: &Settings) -> Option<TranslationPolicy> {
        let source = settings.translations.clone()?;
        let counted = settings.fast_statistics && settings.statistics.is_some();
        // What is interpreted meanwhile would be counted slowly.
        let first =
            settings.engine == EngineChoice::Translate || counted && settings.engine == EngineChoice::Auto;
        let wanted = first || settings.engine == EngineChoice::Auto && settings.statistics.is_none();
        wanted.then(|| {
            source.0.expect();
            let only_group_time = Arc::default();
            TranslationPolicy { device, source, first, strict: settings.strict, counted, only_group_time }
        })
    }

    /// The surfaces of a launch.
    pub fn surfaces(&self, cached: &CachedKernel, launch: &Launch, memory: &AddressSpace) -> LaunchSurfaces {
        LaunchSurfaces::of(&cached.kernel, &cached.image_uses, self.device, launch, memory)
    }

    /// The translations that a launch with these surfaces may use. With [`EngineChoice::Translate`] it waits until there is code.
    pub fn choose(
        &self,
        cached: &CachedKernel,
        launch: &Launch,
        surfaces: &LaunchSurfaces,
        running: &Running,
    ) -> Option<TranslationChoice> {
        if launch.alternate_float || launch.single_program_flow {
            return None;
        }
        let choice = cached.translations.choose(launch, surfaces, self.strict, self.counted)?;
        if self.first {
            self.wait_until_translated(cached, &choice, running, || true);
        }
        Some(choice)
    }

    /// Waits until there is code, or it is known that there will be none, while `wants` says so.
    fn wait_until_translated(
        &self,
        cached: &CachedKernel,
        choice: &TranslationChoice,
        running: &Running,
        wants: impl Fn() -> bool,
    ) {
        while !choice.is_translated() && !running.cancel.is_set() && wants() {
            match choice.next_tier() {
                Some(tier) => self.request(cached, choice, tier),
                None if !choice.is_pending() => break,
                None => {}
            }
            choice.wait(|| {
                // The batch is not hung: the request to the translator has a time limit.
                running.advance();
                !running.cancel.is_set() && wants()
            });
        }
    }

    /// Before the only work-group of a launch is interpreted: waits for a translation if that is expected to pay, and no
    /// longer than the interpreter is expected to take.
    pub fn wait_before_only_group(
        &self,
        cached: &CachedKernel,
        choice: &TranslationChoice,
        running: &Running,
    ) {
        let expected = Duration::from_nanos(self.only_group_time.load(Ordering::Relaxed));
        if expected >= ONLY_GROUP_TIME && cached.translations.is_valid(choice) {
            let begin = Instant::now();
            self.wait_until_translated(cached, choice, running, || begin.elapsed() < expected);
        }
    }

    /// The only work-group of a launch has been executed by code of a tier, or interpreted.
    pub fn took_for_only_group(&self, by: Option<Tier>, took: Duration) {
        let interpreted = took.saturating_mul(if by.is_some() { INTERPRETER_FACTOR } else { 1 });
        let interpreted = u64::try_from(interpreted.as_nanos()).unwrap_or(u64::MAX);
        let average = self.only_group_time.load(Ordering::Relaxed);
        self.only_group_time.store(average - average / 4 + interpreted / 4, Ordering::Relaxed);
    }

    /// Waits for a translation that has been requested, while `has_left` says that the rest of the launch
    /// takes at least a given time. One host thread does this instead of interpreting: otherwise the
    /// translator, a process of its own, would compete for the host's cores with all of them.
    pub fn wait_for_translation(
        &self,
        choice: &TranslationChoice,
        running: &Running,
        has_left: impl Fn(Duration) -> bool,
    ) {
        if choice.is_pending() {
            choice.wait(|| has_left(MIN_REMAINING_TIME) && !running.cancel.is_set());
        }
    }

    /// Requests the next tier if it is expected to pay. The kernel has been executed by code of the tier `by`, or interpreted, for another
    /// `took`, and the rest of the launch would take `left`.
    pub fn request_if_worthwhile(
        &self,
        cached: &CachedKernel,
        choice: &TranslationChoice,
        by: Option<Tier>,
        took: Duration,
        left: Duration,
    ) {
        // How long the interpreter has taken says nothing about code that has come meanwhile.
        let Some(tier) = choice.next_tier().filter(|_| by.is_some() || !choice.is_translated()) else {
            return;
        };
        let sum = cached.translations.add_time_without(tier, took);
        let enough = threshold(tier, cached.code.len());
        let worth =
            sum >= enough || sum >= WARM_UP && left >= MIN_REMAINING_TIME.max(MIN_REMAINING_FACTOR * enough);
        if worth && cached.translations.is_valid(choice) {
            self.request(cached, choice, tier);
        }
    }

    /// The translations that an expected launch may use; `None` where its variant depends on images, which are not known yet.
    pub fn expected(&self, cached: &CachedKernel, launch: &Launch) -> Option<TranslationChoice> {
        let surfaces = LaunchSurfaces::expected(&cached.kernel, self.device);
        let known = cached.image_uses.is_empty();
        known.then(|| cached.translations.choose(launch, &surfaces, self.strict, self.counted)).flatten()
    }

    /// Waits until the source has been idle for some time.
    pub fn wait_until_idle(&self, time: Duration) {
        let mut looks = 0;
        while looks < 2 {
            looks = if self.source.0.is_idle() { looks + 1 } else { 0 };
            std::thread::sleep(time);
        }
    }

    /// Requests a tier unless that has been done.
    pub fn request(&self, cached: &CachedKernel, choice: &TranslationChoice, tier: Tier) {
        choice.request(tier, &*self.source.0, self.device.name(), &cached.code);
    }
}
