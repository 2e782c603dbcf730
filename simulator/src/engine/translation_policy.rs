//! Decides when kernels are translated.

use std::time::Duration;

use super::kernels::CachedKernel;
use crate::running::Running;
use crate::settings::Settings;
use crate::translated::source::{EngineChoice, Source};
use crate::translated::{LaunchSurfaces, TranslationChoice};
use gencl_eu::device::Device;
use gencl_eu::dispatch::Launch;
use gencl_eu::memory::AddressSpace;

/// A kernel is translated after it has been interpreted for this long. Programs that run shorter never start
/// the translator.
const TRANSLATE_AFTER: Duration = Duration::from_millis(2);

/// The same per byte of code, for large kernels: translation takes some 80 times as long, which does not pay
/// for a kernel that is launched a few times only.
const TRANSLATE_AFTER_PER_CODE_BYTE: Duration = Duration::from_nanos(400);

/// A kernel is also translated when the rest of its launch is expected to take this long, and
/// [`MIN_REMAINING_FACTOR`] times the threshold above.
const MIN_REMAINING_TIME: Duration = Duration::from_millis(10);
const MIN_REMAINING_FACTOR: u32 = 2;

/// Expectations are not made before a kernel has been interpreted for this long: the first work-groups run
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

    /// The translations that a launch with these surfaces may use. Waits for the translation with
    /// [`EngineChoice::Translate`].
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
            choice.request(&*self.source.0, self.device.name, &cached.code);
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

    /// Requests a translation if it is expected to pay. The kernel has been interpreted for another `took`,
    /// and the rest of the launch would take `left`.
    pub fn request_if_worthwhile(
        &self,
        cached: &CachedKernel,
        choice: &TranslationChoice,
        took: Duration,
        left: Duration,
    ) {
        let sum = cached.translations.add_interpreted(took);
        let enough = TRANSLATE_AFTER.max(TRANSLATE_AFTER_PER_CODE_BYTE * cached.code.len() as u32);
        let worth =
            sum >= enough || sum >= WARM_UP && left >= MIN_REMAINING_TIME.max(MIN_REMAINING_FACTOR * enough);
        if worth && choice.can_be_requested() && cached.translations.is_valid(choice) {
            choice.request(&*self.source.0, self.device.name, &cached.code);
        }
    }
}
