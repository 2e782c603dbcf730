//! Decides when kernels are translated.

use std::time::Duration;

use super::kernels::CachedKernel;
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
            TranslationPolicy { device, source, first, strict: settings.strict, counted }
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
        while self.first && !choice.is_translated() && !running.cancel.is_set() {
            match choice.next_tier() {
                Some(tier) => self.request(cached, &choice, tier),
                None if !choice.is_pending() => break,
                None => {}
            }
            choice.wait(|| {
                // The batch is not hung: the request to the translator has a time limit.
                running.advance();
                !running.cancel.is_set()
            });
        }
        Some(choice)
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
        choice.request(tier, &*self.source.0, self.device.name, &cached.code);
    }
}
