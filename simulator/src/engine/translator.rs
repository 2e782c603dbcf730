//! When kernels are translated.

use std::time::Duration;

use super::kernels::Known;
use crate::running::Running;
use crate::settings::Settings;
use crate::translated::Choice;
use crate::translated::source::{EngineChoice, Source};
use gencl_eu::device::Device;
use gencl_eu::dispatch::Launch;
use gencl_eu::memory::AddressSpace;
use gencl_eu::message::are_flat;

/// A kernel that has been interpreted for so long is translated. Programs that take less never pay for the
/// translator.
const ENOUGH: Duration = Duration::from_millis(2);

/// A large kernel, for each byte of its code: translation takes some 80 times as long, so what is launched a
/// few times only is left alone.
const ENOUGH_PER_BYTE: Duration = Duration::from_nanos(400);

/// So is a kernel whose launch will take so much longer, or so many times what is enough.
const MUCH_LEFT: Duration = Duration::from_millis(10);
const TIMES_LEFT: u32 = 2;

/// What the first work-groups take, which find nothing in the host's caches, tells little of the others.
const SAMPLE: Duration = Duration::from_micros(200);

/// Gets translations.
#[derive(Clone)]
pub struct Translator {
    device: &'static Device,
    source: Source,
    /// Before the first work-group.
    first: bool,
    strict: bool,
}

impl Translator {
    /// What the settings ask for; `None` when kernels are only interpreted. With statistics they are too, but
    /// those say what would become of them when the settings ask for translation.
    pub fn new(device: &'static Device, settings: &Settings) -> Option<Translator> {
        let source = settings.translations.clone()?;
        let first = settings.engine == EngineChoice::Translate;
        let wanted = first || settings.engine == EngineChoice::Auto && settings.statistics.is_none();
        wanted.then_some(Translator { device, source, first, strict: settings.strict })
    }

    /// Do a kernel's surfaces have the addresses that pointers have?
    pub fn is_flat(&self, known: &Known, launch: &Launch, memory: &AddressSpace) -> bool {
        are_flat(known.kernel.buffer_surfaces(), self.device, launch, memory)
    }

    /// The translations that a launch may use, if its surfaces are `flat` or not; perhaps after waiting for
    /// one.
    pub fn choose(&self, known: &Known, launch: &Launch, flat: bool, running: &Running) -> Option<Choice> {
        if launch.alternate_float || launch.single_program_flow {
            return None;
        }
        let choice = known.translations.choose(launch, flat, self.strict)?;
        if self.first {
            choice.ask(&*self.source.0, self.device.name, &known.code);
            choice.wait(|| {
                // The batch is not hung: it waits for the translator, which ends.
                running.advance();
                !running.cancel.is_set()
            });
        }
        Some(choice)
    }

    /// Waits for a translation that somebody has asked for, while `is_much` is left. One host thread does
    /// that instead of interpreting, or the translator, a process of its own, would have to share the host's
    /// cores with all of them.
    pub fn make_room(&self, choice: &Choice, running: &Running, is_much: impl Fn(Duration) -> bool) {
        if choice.is_awaited() {
            choice.wait(|| is_much(MUCH_LEFT) && !running.cancel.is_set());
        }
    }

    /// Asks for a translation if it is worth that: a kernel has been interpreted for so long, and will be for
    /// so much longer.
    pub fn consider(&self, known: &Known, choice: &Choice, took: Duration, left: Duration) {
        let sum = known.translations.add_interpreted(took);
        let enough = ENOUGH.max(ENOUGH_PER_BYTE * known.code.len() as u32);
        let worth = sum >= enough || sum >= SAMPLE && left >= MUCH_LEFT.max(TIMES_LEFT * enough);
        if worth && choice.can_be_asked() && known.translations.is_good(choice) {
            choice.ask(&*self.source.0, self.device.name, &known.code);
        }
    }
}
