//! Batches written by hand, dword by dword.

mod described;
mod gen7;
mod gen8;
mod launches;
mod memory;
mod random;
mod rules;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use gencl_i915::Engine;
use gencl_sync::Mutex;

use super::{ContextState, Streamer};
use crate::gpu::{Executor, Gpu, LaunchLog, Prepared};
use crate::running::Running;
use crate::settings::Settings;
use gencl_eu::device::Device;
use gencl_eu::dispatch::{GroupStatistics, Launch};
use gencl_eu::fault::Fault;
use gencl_eu::memory::{AddressSpace, Cursor, Object};

/// Addresses of the buffers.
pub const BATCH: u64 = 0x1_0000;
pub const DATA: u64 = 0x8_0000;
pub const HEAP: u64 = 0x10_0000;
pub const SIZE: u64 = 0x1_0000;

/// An engine that records launches and does not execute them.
#[derive(Clone, Default)]
pub struct Recorder(Arc<Recorded>);

#[derive(Default)]
struct Recorded {
    /// The executed launches.
    launches: Mutex<Vec<Launch>>,
    /// Number of launches that were prepared.
    prepared: AtomicUsize,
}

impl Executor for Recorder {
    fn prepare<'e>(
        &'e self,
        launch: Launch,
        _: &Arc<AddressSpace>,
        _: &Arc<Running>,
    ) -> Result<Box<dyn Prepared + 'e>, Fault> {
        self.0.prepared.fetch_add(1, Ordering::Relaxed);
        Ok(Box::new(Recording { launch, to: &self.0 }))
    }
}

struct Recording<'e> {
    launch: Launch,
    to: &'e Recorded,
}

impl Prepared for Recording<'_> {
    fn is_valid(&self) -> bool {
        true
    }

    fn execute(&mut self) -> Result<GroupStatistics, Fault> {
        self.to.launches.lock().push(self.launch.clone());
        Ok(GroupStatistics::default())
    }
}

/// A GPU with three buffers: the batch, data, and a heap for state and kernels.
pub struct Bench {
    pub gpu: Gpu,
    pub memory: Arc<AddressSpace>,
    pub running: Arc<Running>,
    pub state: ContextState,
    recorder: Recorder,
}

impl Bench {
    /// With a Skylake.
    pub fn new() -> Bench {
        Bench::on("skl")
    }

    /// With a device of a name.
    pub fn on(device: &str) -> Bench {
        let buffers = [BATCH, DATA, HEAP].map(|address| (address, Object::create(SIZE).unwrap()));
        let recorder = Recorder::default();
        let gpu = Gpu {
            device: Device::named(device).unwrap(),
            settings: Settings { workers: 1, ..Settings::default() },
            executor: Box::new(recorder.clone()),
            launches: LaunchLog::default(),
        };
        Bench {
            gpu,
            memory: Arc::new(AddressSpace::new(buffers).unwrap()),
            running: Arc::default(),
            state: ContextState::default(),
            recorder,
        }
    }

    pub fn write(&self, address: u64, dwords: &[u32]) {
        let mut cursor = Cursor::default();
        for (index, dword) in (0..).zip(dwords) {
            self.memory.write_u32(&mut cursor, address + 4 * index, *dword).unwrap();
        }
    }

    pub fn dword(&self, address: u64) -> u32 {
        self.memory.read_u32(&mut Cursor::default(), address).unwrap()
    }

    pub fn qword(&self, address: u64) -> u64 {
        self.memory.read_u64(&mut Cursor::default(), address).unwrap()
    }

    /// Runs commands, MI_BATCH_BUFFER_END added, on the render engine.
    pub fn run(&mut self, commands: &[&[u32]]) -> Result<(), Fault> {
        self.run_on(Engine::Render, commands)
    }

    pub fn run_on(&mut self, engine: Engine, commands: &[&[u32]]) -> Result<(), Fault> {
        let mut dwords = commands.concat();
        dwords.push(END);
        self.write(BATCH, &dwords);
        Streamer::new(&self.gpu, &self.memory, &self.running, &mut self.state, engine).run(BATCH)
    }

    /// Runs commands that must fail, and returns the text of the fault.
    pub fn refused(&mut self, commands: &[&[u32]]) -> String {
        self.run(commands).expect_err("the batch must be refused").to_string()
    }

    pub fn launches(&self) -> Vec<Launch> {
        std::mem::take(&mut self.recorder.0.launches.lock())
    }

    /// Number of launches that were prepared.
    pub fn prepared(&self) -> usize {
        self.recorder.0.prepared.load(Ordering::Relaxed)
    }
}

/// MI_BATCH_BUFFER_END
pub const END: u32 = 0x0500_0000;
/// PIPELINE_SELECT of the GPGPU pipeline with its mask bits.
pub const GPGPU: [u32; 1] = [0x6904_0302];
/// MEDIA_STATE_FLUSH
pub const STATE_FLUSH: [u32; 2] = [0x7004_0000, 0];
/// PIPE_CONTROL with Command Streamer Stall Enable
pub const STALL: [u32; 6] = [0x7a00_0004, 1 << 20, 0, 0, 0, 0];
/// STATE_BASE_ADDRESS: dynamic state and instructions at the heap, everything else at 0, no limits.
pub const BASES: [u32; 19] = [
    0x6101_0011,
    1,
    0,
    0,
    1,
    0,
    HEAP as u32 | 1,
    0,
    1,
    0,
    HEAP as u32 | 1,
    0,
    0xffff_f001,
    0xffff_f001,
    0xffff_f001,
    0xffff_f001,
    1,
    0,
    0,
];
/// MEDIA_VFE_STATE: no scratch, 168 threads, 2 URB entries of 2 registers, 64 registers of CURBE.
pub const VFE: [u32; 9] = [0x7000_0007, 0, 0, 167 << 16 | 2 << 8, 0, 2 << 16 | 64, 0, 0, 0];
/// MI_LOAD_REGISTER_IMM of L3CNTLREG with SLM Enable.
pub const SLM: [u32; 3] = [0x1100_0001, 0x7034, 0x6000_0121];
