//! The translations of one kernel.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::loader::HostCode;
use super::surfaces::LaunchSurfaces;
use super::variant;
use gencl_eu::abi::TranslationSource;
use gencl_eu::abi::{Answer, ImageFacts, Interpreted, Request, Tier, VERSION, Variant};
use gencl_eu::dispatch::Launch;
use gencl_sync::{Condvar, Mutex};

/// After this many variants of a kernel, only those that are specialised for images alone are requested.
const MAX_SPECIAL: usize = 4;

/// After this many, only the most general one.
const MAX_IMAGES: usize = 10;

/// Maximum number of variants of a kernel; launches that need further ones are interpreted.
const MAX_VARIANTS: usize = 16;

/// The tiers, from the one that is requested first.
const TIERS: [Tier; 2] = [Tier::Baseline, Tier::Optimised];

/// The translations of a kernel, of each tier for each variant.
#[derive(Debug, Default)]
pub struct Translations {
    /// In the order of their first use.
    entries: Mutex<Vec<Arc<Entry>>>,
    /// The last launch and its choice, since most launches repeat the previous one.
    last: Mutex<Option<LastLaunch>>,
    /// Nanoseconds for which the kernel has been executed without code of a tier.
    without: [AtomicU64; TIERS.len()],
    /// Whether threads have been observed to spin on memory that others write.
    spins: AtomicBool,
}

#[derive(Debug)]
struct LastLaunch {
    key: VariantKey,
    per_thread: Vec<u8>,
    choice: TranslationChoice,
}

/// The properties of a launch, other than per-thread constants, that its variant depends on.
#[derive(Debug, PartialEq, Eq)]
struct VariantKey {
    simd_width: u32,
    threads: [u32; 3],
    masks: [u32; 2],
    cross_thread: usize,
    per_thread_size: usize,
    control: u32,
    scratch: u32,
    images: Vec<Option<ImageFacts>>,
    flags: [bool; 5],
}

impl VariantKey {
    fn of(launch: &Launch, surfaces: &LaunchSurfaces, spins: bool) -> VariantKey {
        VariantKey {
            simd_width: launch.simd_width,
            threads: launch.threads,
            masks: [launch.right_mask, launch.bottom_mask],
            cross_thread: launch.cross_thread.len(),
            per_thread_size: launch.per_thread_size,
            control: launch.control(),
            scratch: launch.scratch.map_or(0, |scratch| scratch.per_thread),
            images: surfaces.facts(),
            flags: [launch.indirect_data, launch.slm_size > 0, launch.barrier, surfaces.flat, spins],
        }
    }
}

/// The translations that a launch may use.
#[derive(Clone, Debug)]
pub struct TranslationChoice {
    /// The one that is specialised for the launch.
    best: Arc<Entry>,
    /// More general ones that are valid for it.
    others: Vec<Arc<Entry>>,
}

impl TranslationChoice {
    /// The best code that is available by now.
    #[inline]
    pub fn code(&self) -> Option<&Arc<HostCode>> {
        let of =
            |tier| self.best.code(tier).or_else(|| self.others.iter().find_map(|entry| entry.code(tier)));
        TIERS.iter().rev().find_map(|tier| of(*tier))
    }

    /// Whether there is code of the specialised translation.
    pub fn is_translated(&self) -> bool {
        TIERS.iter().any(|tier| self.best.code(*tier).is_some())
    }

    /// The tier to be requested next of the specialised translation; `None` while one is pending, or when all have been answered.
    #[inline]
    pub fn next_tier(&self) -> Option<Tier> {
        let [baseline, optimised] = &self.best.slots;
        match () {
            () if baseline.can_be_requested() => Some(Tier::Baseline),
            () if baseline.is_pending() || !optimised.can_be_requested() => None,
            () => Some(Tier::Optimised),
        }
    }

    /// Whether a tier of the specialised translation has been requested but not answered yet.
    pub fn is_pending(&self) -> bool {
        self.best.slots.iter().any(Slot::is_pending)
    }

    /// Requests a tier of the specialised translation unless that has been done. `code` is the kernel's machine code.
    pub fn request(&self, tier: Tier, source: &dyn TranslationSource, device: &str, code: &[u8]) {
        self.best.request(tier, source, device, code);
    }

    /// Waits until nothing is pending, or until `tick`, which is called every few milliseconds, returns false.
    pub fn wait(&self, mut tick: impl FnMut() -> bool) {
        const TICK: Duration = Duration::from_millis(5);
        let mut guard = self.best.lock.lock();
        while self.is_pending() && tick() {
            self.best.answered.wait_for(&mut guard, TICK);
        }
    }

    /// The instructions that the specialised translation leaves to the interpreter, the same in each tier.
    ///
    /// # Errors
    /// Why there is no translation.
    pub fn outcome(&self) -> Result<&[Interpreted], &str> {
        let mut answers = self.best.slots.iter().rev().filter_map(|slot| slot.result.get());
        let answer = answers.clone().find(|answer| answer.is_ok()).or_else(|| answers.next());
        match answer {
            Some(Ok(code)) => Ok(&code.interpreted),
            Some(Err(reason)) => Err(reason),
            None => Err("there was no answer yet"),
        }
    }
}

/// A translation, which may be missing or pending.
#[derive(Debug, Default)]
struct Slot {
    requested: AtomicBool,
    result: OnceLock<Result<Arc<HostCode>, String>>,
}

impl Slot {
    fn can_be_requested(&self) -> bool {
        !self.requested.load(Ordering::Relaxed)
    }

    fn is_pending(&self) -> bool {
        !self.can_be_requested() && self.result.get().is_none()
    }
}

/// A variant and its translations.
#[derive(Debug)]
struct Entry {
    variant: Variant,
    /// One for each of [`TIERS`].
    slots: [Slot; TIERS.len()],
    lock: Mutex<()>,
    /// Notified when there is a result.
    answered: Condvar,
}

impl Entry {
    fn new(variant: Variant) -> Arc<Entry> {
        Arc::new(Entry {
            variant,
            slots: Default::default(),
            lock: Mutex::default(),
            answered: Condvar::new(),
        })
    }

    fn code(&self, tier: Tier) -> Option<&Arc<HostCode>> {
        self.slots[tier as usize].result.get()?.as_ref().ok()
    }

    fn request(self: &Arc<Entry>, tier: Tier, source: &dyn TranslationSource, device: &str, code: &[u8]) {
        if self.slots[tier as usize].requested.swap(true, Ordering::Relaxed) {
            return;
        }
        let request = Request {
            version: VERSION,
            device: device.to_owned(),
            code: code.to_owned(),
            variant: self.variant.clone(),
            tier,
        };
        let promise = Promise(Arc::clone(self), tier);
        source.request(request, Box::new(move |answer| promise.resolve(answer)));
    }

    fn set(&self, tier: Tier, result: Result<HostCode, String>) {
        match &result {
            Ok(code) => {
                tracing::debug!(
                    "a SIMD{} kernel was translated ({:?}): {} windows, {} instructions interpreted",
                    self.variant.simd_width,
                    code.tier,
                    code.windows,
                    code.interpreted.len()
                );
                for Interpreted { instruction, reason } in &code.interpreted {
                    tracing::debug!("instruction {instruction} is interpreted: {reason}");
                }
            }
            Err(reason) => {
                tracing::info!(
                    "a SIMD{} kernel is not translated ({tier:?}): {reason}",
                    self.variant.simd_width
                );
            }
        }
        // A better tier than was requested answers for both.
        let last = result.as_ref().map_or(tier, |code| code.tier.max(tier));
        let result = result.map(Arc::new);
        for slot in self.slots[tier as usize..=last as usize].iter().rev() {
            slot.requested.store(true, Ordering::Relaxed);
            // There is one promise for each, which sets the result once.
            let _ = slot.result.set(result.clone());
        }
        drop(self.lock.lock());
        self.answered.notify_all();
    }
}

/// Sets the result of a tier of an entry, at the latest when it is dropped.
struct Promise(Arc<Entry>, Tier);

impl Promise {
    fn resolve(self, answer: Answer) {
        let loaded =
            answer.and_then(|translation| HostCode::load(&translation).map_err(|error| error.to_string()));
        self.0.set(self.1, loaded);
    }
}

impl Drop for Promise {
    fn drop(&mut self) {
        if self.0.slots[self.1 as usize].result.get().is_none() {
            self.0.set(self.1, Err("the translator gave no answer".to_owned()));
        }
    }
}

impl Translations {
    /// The translations that a launch may use; `None` when there are too many variants already. `counted`:
    /// [`Variant::counted`], the same for all launches, as is `strict`.
    pub fn choose(
        &self,
        launch: &Launch,
        surfaces: &LaunchSurfaces,
        strict: bool,
        counted: bool,
    ) -> Option<TranslationChoice> {
        let spins = self.spins.load(Ordering::Relaxed);
        let key = VariantKey::of(launch, surfaces, spins);
        {
            let last = self.last.lock();
            if let Some(last) = &*last
                && last.key == key
                // With size 0, `memcmp` does a masked load from the dangling pointer of an empty vector,
                // which is slow on some processors.
                && (launch.per_thread.is_empty() || last.per_thread == launch.per_thread)
            {
                return Some(last.choice.clone());
            }
        }
        let choice = self.choice(Variant { counted, ..variant::of(launch, surfaces, spins, strict) })?;
        let per_thread = launch.per_thread.clone();
        *self.last.lock() = Some(LastLaunch { key, per_thread, choice: choice.clone() });
        Some(choice)
    }

    fn choice(&self, variant: Variant) -> Option<TranslationChoice> {
        let mut entries = self.entries.lock();
        let mut best = entries.iter().find(|entry| entry.variant == variant).cloned();
        let others = entries.iter().filter(|entry| variant::covers(&entry.variant, &variant));
        let others: Vec<_> = others.cloned().collect();
        if best.is_none() {
            let wanted = match entries.len() {
                count if count < MAX_SPECIAL => variant,
                count if count < MAX_IMAGES => variant::general(&variant),
                _ => variant::most_general(&variant),
            };
            best = entries.iter().find(|entry| entry.variant == wanted).cloned();
            if best.is_none() && entries.len() < MAX_VARIANTS {
                let entry = Entry::new(wanted);
                entries.push(Arc::clone(&entry));
                best = Some(entry);
            }
        }
        let best = best?;
        let others = others.into_iter().filter(|entry| !Arc::ptr_eq(entry, &best)).collect();
        Some(TranslationChoice { best, others })
    }

    /// Records that threads spin on memory that others write. Code without [`Variant::spins`] becomes
    /// invalid: it may execute a thread to its end before it begins the next one.
    pub fn set_spins(&self) {
        if !self.spins.swap(true, Ordering::Relaxed) {
            tracing::info!(
                "threads of a kernel spin on memory that others write: its code has to yield in loops"
            );
        }
    }

    /// Whether a choice is still valid. It is not if threads have been observed to spin since it was made.
    pub fn is_valid(&self, choice: &TranslationChoice) -> bool {
        choice.best.variant.spins || !self.spins.load(Ordering::Relaxed)
    }

    /// Whether a part of a launch has been executed without baseline code.
    pub fn was_executed(&self) -> bool {
        self.without[Tier::Baseline as usize].load(Ordering::Relaxed) > 0
    }

    /// Adds to the time for which the kernel has been executed without code of a tier, and returns the sum.
    pub fn add_time_without(&self, tier: Tier, time: Duration) -> Duration {
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let before = self.without[tier as usize].fetch_add(nanoseconds, Ordering::Relaxed);
        Duration::from_nanos(before.saturating_add(nanoseconds))
    }
}
