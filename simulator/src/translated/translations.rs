//! The translations of one kernel.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::loader::Code;
use super::variant;
use gencl_eu::abi::TranslationSource;
use gencl_eu::abi::{Answer, Interpreted, Request, VERSION, Variant};
use gencl_eu::dispatch::Launch;
use gencl_sync::{Condvar, Mutex};

/// After so many special variants of a kernel, only one for all launches is asked for.
const MAX_SPECIAL: usize = 4;

/// Most variants of a kernel; others are interpreted.
const MAX_VARIANTS: usize = 16;

/// The translations of a kernel, by what they are for.
#[derive(Debug, Default)]
pub struct Translations {
    /// In the order in which they were needed.
    entries: Mutex<Vec<Arc<Entry>>>,
    /// What the last launch was and had.
    last: Mutex<Option<Last>>,
    /// Nanoseconds for which the kernel has been interpreted.
    interpreted: AtomicU64,
    /// Threads wait in loops for each other.
    spins: AtomicBool,
}

#[derive(Debug)]
struct Last {
    shape: Shape,
    per_thread: Vec<u8>,
    choice: Choice,
}

/// What the variant of a launch depends on beside the threads' own constants.
#[derive(Debug, PartialEq, Eq)]
struct Shape {
    simd_width: u32,
    threads: [u32; 3],
    masks: [u32; 2],
    cross_thread: usize,
    per_thread_size: usize,
    control: u32,
    scratch: u32,
    flags: [bool; 5],
}

impl Shape {
    fn of(launch: &Launch, flat: bool, spins: bool) -> Shape {
        Shape {
            simd_width: launch.simd_width,
            threads: launch.threads,
            masks: [launch.right_mask, launch.bottom_mask],
            cross_thread: launch.cross_thread.len(),
            per_thread_size: launch.per_thread_size,
            control: launch.control(),
            scratch: launch.scratch.map_or(0, |scratch| scratch.per_thread),
            flags: [launch.indirect_data, launch.slm_size > 0, launch.barrier, flat, spins],
        }
    }
}

/// The translations that a launch may use.
#[derive(Clone, Debug)]
pub struct Choice {
    /// Made for such launches.
    best: Arc<Entry>,
    /// Others that hold for it.
    others: Vec<Arc<Entry>>,
}

impl Choice {
    /// The code, if there is any by now.
    #[inline]
    pub fn code(&self) -> Option<&Arc<Code>> {
        match self.best.result.get() {
            Some(Ok(code)) => Some(code),
            _ => self.others.iter().find_map(|entry| entry.result.get()?.as_ref().ok()),
        }
    }

    /// Has nobody asked for it yet?
    #[inline]
    pub fn can_be_asked(&self) -> bool {
        !self.best.asked.load(Ordering::Relaxed)
    }

    /// Has somebody asked for it who has no answer yet?
    pub fn is_awaited(&self) -> bool {
        !self.can_be_asked() && self.best.result.get().is_none()
    }

    /// Asks for it unless somebody has. `code` is the kernel's.
    pub fn ask(&self, source: &dyn TranslationSource, device: &str, code: &[u8]) {
        self.best.ask(source, device, code);
    }

    /// Waits until there is an answer; calls `tick` now and then until it says no.
    pub fn wait(&self, mut tick: impl FnMut() -> bool) {
        const TICK: Duration = Duration::from_millis(5);
        let mut guard = self.best.lock.lock();
        while self.best.result.get().is_none() && tick() {
            self.best.answered.wait_for(&mut guard, TICK);
        }
    }

    /// What the code leaves to the interpreter.
    ///
    /// # Errors
    /// Why there is no translation.
    pub fn outcome(&self) -> Result<&[Interpreted], &str> {
        match self.best.result.get() {
            Some(Ok(code)) => Ok(&code.interpreted),
            Some(Err(reason)) => Err(reason),
            None => Err("there was no answer yet"),
        }
    }
}

/// A translation that there may be.
#[derive(Debug)]
struct Entry {
    variant: Variant,
    asked: AtomicBool,
    result: OnceLock<Result<Arc<Code>, String>>,
    lock: Mutex<()>,
    /// Notified when there is a result.
    answered: Condvar,
}

impl Entry {
    fn new(variant: Variant) -> Arc<Entry> {
        let (asked, result) = (AtomicBool::new(false), OnceLock::new());
        Arc::new(Entry { variant, asked, result, lock: Mutex::default(), answered: Condvar::new() })
    }

    fn ask(self: &Arc<Entry>, source: &dyn TranslationSource, device: &str, code: &[u8]) {
        if self.asked.swap(true, Ordering::Relaxed) {
            return;
        }
        let request = Request {
            version: VERSION,
            device: device.to_owned(),
            code: code.to_owned(),
            variant: self.variant.clone(),
        };
        let promise = Promise(Arc::clone(self));
        source.request(request, Box::new(move |answer| promise.keep(answer)));
    }

    fn set(&self, result: Result<Code, String>) {
        match &result {
            Ok(code) => {
                tracing::debug!(
                    "a SIMD{} kernel was translated: {} windows, {} instructions interpreted",
                    self.variant.simd_width,
                    code.windows,
                    code.interpreted.len()
                );
                for Interpreted { instruction, reason } in &code.interpreted {
                    tracing::debug!("instruction {instruction} is interpreted: {reason}");
                }
            }
            Err(reason) => {
                tracing::info!("a SIMD{} kernel stays interpreted: {reason}", self.variant.simd_width);
            }
        }
        // There is one promise, and it is kept once.
        let _ = self.result.set(result.map(Arc::new));
        drop(self.lock.lock());
        self.answered.notify_all();
    }
}

/// Gives an entry its result, whatever happens.
struct Promise(Arc<Entry>);

impl Promise {
    fn keep(self, answer: Answer) {
        let loaded =
            answer.and_then(|translation| Code::load(&translation).map_err(|error| error.to_string()));
        self.0.set(loaded);
    }
}

impl Drop for Promise {
    fn drop(&mut self) {
        if self.0.result.get().is_none() {
            self.0.set(Err("the translator gave no answer".to_owned()));
        }
    }
}

impl Translations {
    /// What a launch may use; `None` when there are too many variants already. `flat`: [`Variant::flat`].
    pub fn choose(&self, launch: &Launch, flat: bool, strict: bool) -> Option<Choice> {
        let spins = self.spins.load(Ordering::Relaxed);
        let shape = Shape::of(launch, flat, spins);
        {
            let last = self.last.lock();
            if let Some(last) = &*last
                && last.shape == shape
                // With nothing to compare, `memcmp` reads from nowhere under an empty mask, which processors
                // take long for.
                && (launch.per_thread.is_empty() || last.per_thread == launch.per_thread)
            {
                return Some(last.choice.clone());
            }
        }
        let choice = self.choice(variant::of(launch, flat, spins, strict))?;
        let per_thread = launch.per_thread.clone();
        *self.last.lock() = Some(Last { shape, per_thread, choice: choice.clone() });
        Some(choice)
    }

    fn choice(&self, variant: Variant) -> Option<Choice> {
        let mut entries = self.entries.lock();
        let mut best = entries.iter().find(|entry| entry.variant == variant).cloned();
        let others = entries.iter().filter(|entry| variant::covers(&entry.variant, &variant));
        let others: Vec<_> = others.cloned().collect();
        if best.is_none() {
            let wanted = if entries.len() < MAX_SPECIAL { variant } else { variant::general(&variant) };
            best = entries.iter().find(|entry| entry.variant == wanted).cloned();
            if best.is_none() && entries.len() < MAX_VARIANTS {
                let entry = Entry::new(wanted);
                entries.push(Arc::clone(&entry));
                best = Some(entry);
            }
        }
        let best = best?;
        let others = others.into_iter().filter(|entry| !Arc::ptr_eq(entry, &best)).collect();
        Some(Choice { best, others })
    }

    /// Threads wait in loops for others. Translated code without [`Variant::spins`] is not to be used any
    /// more: it may execute a thread to its end before it begins the next one.
    pub fn set_spins(&self) {
        if !self.spins.swap(true, Ordering::Relaxed) {
            tracing::info!("threads of a kernel wait in loops for each other");
        }
    }

    /// Is a choice still good? It is not when threads have been seen to wait in loops since.
    pub fn is_good(&self, choice: &Choice) -> bool {
        choice.best.variant.spins || !self.spins.load(Ordering::Relaxed)
    }

    /// Adds to the time for which the kernel has been interpreted, and gives the sum.
    pub fn add_interpreted(&self, time: Duration) -> Duration {
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let before = self.interpreted.fetch_add(nanoseconds, Ordering::Relaxed);
        Duration::from_nanos(before.saturating_add(nanoseconds))
    }
}
