//! A process that makes calls.

use std::ffi::c_void;
use std::process::ExitCode;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use gencl_testing::{Journal, Random};
use gencl_utest::raw::{Api, api, command_buffers, image_requirements, semaphores, unified};
use opencl_sys::{
    cl_command_queue, cl_context, cl_device_id, cl_kernel, cl_mem, cl_platform_id, cl_program,
    clGetKernelSuggestedLocalWorkSizeKHR_t,
};

use crate::Arguments;
use crate::calls::{ARENA, Caller, SOURCES, Shared, release};
use crate::handles::{Handles, KINDS, Kind};

/// A thread that makes no further call for so long hangs.
const HANG_TIMEOUT: Duration = Duration::from_secs(60);

/// Interval at which user events are completed, so that no thread waits forever.
const OFTEN: Duration = Duration::from_millis(10);

/// Calls between two sequences of right calls.
const CHECKED: u64 = 100;

/// More memory than the objects of a process can take, in bytes.
const MUCH: u64 = 3 << 30;

/// Makes calls on all threads and releases everything.
pub fn run(arguments: &Arguments, seed: u64, descriptor: i32) -> ExitCode {
    match work(arguments, seed, descriptor) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("gencl-fuzz-api: {why}");
            ExitCode::FAILURE
        }
    }
}

fn work(arguments: &Arguments, seed: u64, descriptor: i32) -> Result<(), String> {
    let threads = arguments.threads as usize;
    let api = api()?;
    let journal = Journal::open(descriptor).map_err(|error| error.to_string())?;
    let (platform, device) = device(api)?;
    let binary = Own::new(api, device)?.binary()?;
    let (unified, buffers, requirements) = (unified()?, command_buffers()?, image_requirements()?);
    let semaphores = semaphores()?;
    // Both stay until the process ends, as commands and callbacks may use them until then.
    static SHARED: OnceLock<Shared> = OnceLock::new();
    static MEMORY: OnceLock<Vec<AtomicU8>> = OnceLock::new();
    let arena = MEMORY.get_or_init(|| (0..ARENA).map(|_| AtomicU8::new(0)).collect()).as_ptr() as usize;
    // SAFETY: the platform is alive, and the text has its end.
    let suggested_local_size = unsafe {
        let find = api.clGetExtensionFunctionAddressForPlatform;
        let address = find(platform, c"clGetKernelSuggestedLocalWorkSizeKHR".as_ptr());
        // SAFETY: null is no function, and everything else is the function of this name.
        std::mem::transmute::<*mut c_void, clGetKernelSuggestedLocalWorkSizeKHR_t>(address)
    };
    let shared: &'static Shared = SHARED.get_or_init(|| Shared {
        api,
        unified,
        buffers,
        semaphores,
        requirements,
        suggested_local_size,
        platform: platform as usize,
        device: device as usize,
        handles: Handles::default(),
        user_events: Mutex::default(),
        arena,
        binary,
        journal,
    });
    let (left, failed) = (AtomicUsize::new(threads), AtomicBool::new(false));
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let (left, failed) = (&left, &failed);
            scope.spawn(move || {
                let mut seeds = Random::new(seed.wrapping_add(thread as u64));
                let random = Random::new(seeds.next_u64());
                let result = calls(Caller { shared, thread, random }, arguments.calls);
                if let Err(why) = result {
                    eprintln!("gencl-fuzz-api: thread {thread}: {why}");
                    failed.store(true, Ordering::Relaxed);
                }
                left.fetch_sub(1, Ordering::Relaxed);
            });
        }
        watch(shared, threads, &left);
    });
    for kind in KINDS.into_iter().rev() {
        while let Some(handle) = shared.handles.take(kind, &mut Random::new(0)) {
            if release(api, kind, handle) != 0 {
                return Err(format!("a reference to {kind:?} {handle:?} was lost"));
            }
        }
    }
    if failed.into_inner() { Err("a thread has failed".into()) } else { Ok(()) }
}

/// Ends user events, and the process when it hangs or grows.
fn watch(shared: &Shared, threads: usize, left: &AtomicUsize) {
    let mut random = Random::new(1);
    let mut seen: Vec<_> = (0..threads).map(|_| (0, Instant::now())).collect();
    while left.load(Ordering::Relaxed) > 0 {
        std::thread::sleep(OFTEN);
        let events = shared.user_events.lock().map(|mut events| std::mem::take(&mut *events));
        for event in events.unwrap_or_default() {
            let status = random.pick(&[0, 0, 0, -1]);
            // SAFETY: a handle, which may have been released.
            unsafe { (shared.api.clSetUserEventStatus)(event as *mut _, status) };
        }
        for (thread, (count, since)) in seen.iter_mut().enumerate() {
            let now = shared.journal.count_of(thread);
            if now != *count {
                (*count, *since) = (now, Instant::now());
            } else if since.elapsed() > HANG_TIMEOUT && left.load(Ordering::Relaxed) == threads {
                eprintln!("gencl-fuzz-api: thread {thread} hangs");
                std::process::abort();
            }
        }
        if resident() > MUCH {
            eprintln!("gencl-fuzz-api: the process has grown to {} MiB", resident() >> 20);
            std::process::abort();
        }
    }
}

/// Bytes of memory that the process has; 0 where the system does not tell.
fn resident() -> u64 {
    const PAGE: u64 = 4096;
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    text.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0) * PAGE
}

fn device(api: &Api) -> Result<(cl_platform_id, cl_device_id), String> {
    let (mut platform, mut device) = (null_mut(), null_mut());
    // SAFETY: room for one each.
    let codes = unsafe {
        [
            (api.clGetPlatformIDs)(1, &mut platform, null_mut()),
            (api.clGetDeviceIDs)(platform, u64::from(u32::MAX), 1, &mut device, null_mut()),
        ]
    };
    if codes == [0, 0] {
        Ok((platform, device))
    } else {
        Err("no device; OCL_ICD_VENDORS has to name a driver".into())
    }
}

fn calls(mut caller: Caller, count: u64) -> Result<(), String> {
    let own = Own::new(caller.shared.api, caller.shared.device as cl_device_id)?;
    let mut sum = 0;
    for number in 0..count {
        caller.call();
        if number % CHECKED == 0 {
            caller.shared.journal.write(caller.thread, "a sequence of right calls");
            sum += number as i32;
            own.check(number as i32, sum)?;
        }
    }
    Ok(())
}

/// Objects of one thread, which nobody else has: what is done with them has to be right whatever others do.
struct Own {
    api: &'static Api,
    context: cl_context,
    queue: cl_command_queue,
    buffer: cl_mem,
    program: cl_program,
    kernel: cl_kernel,
}

/// Work-items of a check.
const ITEMS: usize = 32;

impl Own {
    fn new(api: &'static Api, device: cl_device_id) -> Result<Self, String> {
        let mut errors = [0; 6];
        // SAFETY: lists have the lengths given.
        let own = unsafe {
            let context = (api.clCreateContext)(null(), 1, &device, None, null_mut(), &mut errors[0]);
            let queue = (api.clCreateCommandQueueWithProperties)(context, device, null(), &mut errors[1]);
            let buffer = (api.clCreateBuffer)(context, 1, 4 * ITEMS, null_mut(), &mut errors[2]);
            let mut text = SOURCES[0].as_ptr();
            let program = (api.clCreateProgramWithSource)(context, 1, &mut text, null(), &mut errors[3]);
            errors[4] = (api.clBuildProgram)(program, 0, null(), null(), None, null_mut());
            let kernel = (api.clCreateKernel)(program, c"add".as_ptr(), &mut errors[5]);
            (api.clSetKernelArg)(kernel, 0, size_of::<cl_mem>(), (&raw const buffer).cast());
            let zero = 0u32;
            let fill = api.clEnqueueFillBuffer;
            fill(queue, buffer, (&raw const zero).cast(), 4, 0, 4 * ITEMS, 0, null(), null_mut());
            Self { api, context, queue, buffer, program, kernel }
        };
        if errors == [0; 6] { Ok(own) } else { Err(format!("objects of its own: {errors:?}")) }
    }

    /// What the program was built to.
    fn binary(&self) -> Result<Vec<u8>, String> {
        let (info, mut size) = (self.api.clGetProgramInfo, 0usize);
        // SAFETY: the sizes and the pointers of one device's binary, and a binary of that size.
        unsafe {
            let word = size_of::<usize>();
            let first = info(self.program, 0x1165, word, (&raw mut size).cast(), null_mut());
            let mut bytes = vec![0u8; size];
            let mut place = bytes.as_mut_ptr();
            let second = info(self.program, 0x1166, word, (&raw mut place).cast(), null_mut());
            if [first, second] == [0, 0] && size > 0 { Ok(bytes) } else { Err("there is no binary".into()) }
        }
    }

    /// Adds `number`, after which the buffer has `sum`.
    fn check(&self, number: i32, sum: i32) -> Result<(), String> {
        let (api, items, mut values) = (self.api, ITEMS, [0i32; ITEMS]);
        // SAFETY: an int; one size; as many bytes as there are.
        let codes = unsafe {
            let set = (api.clSetKernelArg)(self.kernel, 1, 4, (&raw const number).cast());
            let launch = api.clEnqueueNDRangeKernel;
            let launched = launch(self.queue, self.kernel, 1, null(), &items, null(), 0, null(), null_mut());
            let (read, to) = (api.clEnqueueReadBuffer, values.as_mut_ptr().cast());
            [set, launched, read(self.queue, self.buffer, 1, 0, 4 * ITEMS, to, 0, null(), null_mut())]
        };
        if codes == [0; 3] && values == [sum; ITEMS] {
            Ok(())
        } else {
            Err(format!("right calls gave {codes:?} and {values:?}, expected {sum}"))
        }
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        let all = [
            (Kind::Kernel, self.kernel),
            (Kind::Program, self.program),
            (Kind::Memory, self.buffer),
            (Kind::Queue, self.queue),
            (Kind::Context, self.context),
        ];
        for (kind, handle) in all {
            if release(self.api, kind, handle) != 0 {
                eprintln!("gencl-fuzz-api: the thread's own {kind:?} was lost");
            }
        }
    }
}
