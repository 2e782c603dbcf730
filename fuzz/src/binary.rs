//! Program binaries from an application.

use std::sync::{Arc, LazyLock, Once};
use std::time::Duration;

use gencl_program::elf;
use gencl_runtime::{
    ArgumentKind, ArgumentValue, Buffer, CommandKind, Context, Device, Kernel, MemoryFlags, NdRange, Program,
    Queue, QueueFlags, Result, SimulatorSettings,
};

/// The application's objects: a queue, and a buffer for all pointers.
struct Session {
    queue: Arc<Queue>,
    buffer: Arc<Buffer>,
}

impl Session {
    fn new(target: &str) -> Result<Self> {
        let settings = SimulatorSettings {
            hang_limit: Duration::from_millis(50),
            workers: 1,
            shared: false,
            ..SimulatorSettings::default()
        };
        let device = Device::simulated(target, settings).expect("there is such a device");
        let context = Context::new(std::slice::from_ref(&device), None)?;
        let buffer = Buffer::new(&context, MemoryFlags::READ_WRITE, 1 << 16, None)?;
        Ok(Self { queue: Queue::new(&context, &device, QueueFlags::empty())?, buffer })
    }

    fn target(&self) -> &str {
        self.queue.device().facts().family.name()
    }
}

/// Devices with different addressing of memory, shared by all programs: creating one takes longer than most
/// programs.
static SESSIONS: LazyLock<Vec<Session>> =
    LazyLock::new(|| ["skl", "hsw"].map(|target| Session::new(target).expect("there is memory")).into());

/// Maximum size of an argument in bytes.
const LARGEST_ARGUMENT: u32 = 4096;

/// A program in parts. Its binary is loaded and built, and each of its kernels launched. Failures of a launch
/// must be errors, not panics.
pub fn binary(data: &[u8]) {
    let Some(program) = crate::parts::program(&crate::split(data)) else { return };
    let Ok(bytes) = elf::write(&program) else { return };
    discard_output();
    let session = SESSIONS.iter().find(|session| session.target() == program.target).unwrap_or(&SESSIONS[0]);
    // Rejected, or failed with a reason: both are correct.
    let _ = run(session, &bytes);
}

fn run(session: &Session, bytes: &[u8]) -> Result<()> {
    let program = Program::from_binary(session.queue.context(), session.queue.device(), bytes)?;
    program.build(&[], "", None)?;
    for kernel in Kernel::all(&program)? {
        // The other kernels are launched even if one cannot be.
        let _ = launch(session, &kernel);
    }
    Ok(())
}

fn launch(session: &Session, kernel: &Arc<Kernel>) -> Result<()> {
    for (index, argument) in (0..).zip(&kernel.info().arguments) {
        // A small number, as it can be a trip count.
        let mut bytes = vec![0; argument.size.min(LARGEST_ARGUMENT) as usize];
        bytes.iter_mut().step_by(8).for_each(|byte| *byte = 16);
        let value = match argument.kind {
            ArgumentKind::Value => ArgumentValue::Bytes(bytes.as_slice().into()),
            ArgumentKind::GlobalPointer | ArgumentKind::ConstantPointer => {
                ArgumentValue::Buffer(Arc::downgrade(&session.buffer))
            }
            ArgumentKind::LocalPointer => ArgumentValue::Local(256),
            ArgumentKind::Image | ArgumentKind::Sampler => continue,
        };
        kernel.set_argument(index, value)?;
    }
    for build in kernel.builds() {
        let _ = (build.work_group_size(), kernel.local_memory_size(build), build.private_memory_size());
    }
    let required = kernel.info().required_work_group_size;
    let global = required.unwrap_or([40, 1, 1]).map(u64::from);
    let range = NdRange { dimensions: 3, offset: [0; 3], global, local: None };
    session.queue.suggested_local_size(kernel, &range)?;
    session.queue.launch(CommandKind::NdRangeKernel, kernel, &range, &[])?.wait()
}

/// Discards the output of kernels' printf.
fn discard_output() {
    unsafe extern "C" {
        /// C's `stdout`, to which kernels print.
        static mut stdout: *mut libc::FILE;
    }
    static ONCE: Once = Once::new();
    // SAFETY: both are strings. GNU's C library lets programs replace the variable; the stream stays open.
    ONCE.call_once(|| unsafe {
        let nowhere = libc::fopen(c"/dev/null".as_ptr(), c"w".as_ptr());
        assert!(!nowhere.is_null());
        stdout = nowhere;
    });
}
