//! GDB's remote protocol: gdb debugs kernels like the threads of a process.
//!
//! It has no architecture for GPUs of Intel. It is told of an x86-64 whose threads are the work-items of the work-group
//! that is executed; of its registers only `rip` means something. Lines, variables and types come from the program's own
//! debug information, which does not depend on the architecture: the file for gdb is the program's, with another machine in
//! its header. Addresses of variables are those of [debuggers](gencl_program::debug_address).

use std::ops::Range;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use gdbstub::common::{Signal, Tid};
use gdbstub::conn::{Connection, ConnectionExt};
use gdbstub::stub::run_blocking::{BlockingEventLoop, Event, WaitForStopReasonError};
use gdbstub::stub::{GdbStub, MultiThreadStopReason};
use gdbstub::target::ext::base::BaseOps;
use gdbstub::target::ext::base::multithread::{
    MultiThreadBase, MultiThreadRangeStepping, MultiThreadRangeSteppingOps, MultiThreadResume,
    MultiThreadResumeOps, MultiThreadSchedulerLocking, MultiThreadSchedulerLockingOps, MultiThreadSingleStep,
    MultiThreadSingleStepOps,
};
use gdbstub::target::ext::base::reverse_exec::{
    ReplayLogPosition, ReverseCont, ReverseContOps, ReverseStep, ReverseStepOps,
};
use gdbstub::target::ext::breakpoints::{
    Breakpoints, BreakpointsOps, HwWatchpoint, HwWatchpointOps, SwBreakpoint, SwBreakpointOps, WatchKind,
};
use gdbstub::target::ext::thread_extra_info::{ThreadExtraInfo, ThreadExtraInfoOps};
use gdbstub::target::{Target, TargetError, TargetResult};
use gdbstub_arch::x86::X86_64_SSE;
use gdbstub_arch::x86::reg::X86_64CoreRegs;

use crate::breakpoint::{Breakpoint, Spot};
use crate::info::Info;
use crate::session::{Session, Stop};
use crate::step::Step;
use crate::value::Memory;
use crate::work_item::{self, Lane};

/// Where the stack would be: zeros, which end gdb's search for callers. In no memory of a kernel.
const STACK: u64 = 0xa000_0000_0000_0000;
/// Bytes of it.
const STACK_BYTES: u64 = 1 << 16;

/// In the header of an ELF file: type and machine, and their values for a program of an x86-64.
const TYPE_AND_MACHINE: Range<usize> = 16..20;
const EXECUTABLE_X86_64: [u8; 4] = [2, 0, 62, 0];

/// A program's ELF file as one for gdb.
#[must_use]
pub fn symbols(mut program: Vec<u8>) -> Vec<u8> {
    if let Some(place) = program.get_mut(TYPE_AND_MACHINE) {
        place.copy_from_slice(&EXECUTABLE_X86_64);
    }
    program
}

/// What gdb has a thread do.
#[derive(Clone, Copy, Debug)]
enum Action {
    Continue,
    ReverseContinue,
    Step(Tid),
    ReverseStep(Tid),
    /// Until it leaves addresses.
    Within(Tid, u64, u64),
}

/// Why an interrupted launch has stopped.
fn interrupted(tid: Tid) -> MultiThreadStopReason<u64> {
    MultiThreadStopReason::SignalWithThread { tid, signal: Signal::SIGINT }
}

/// The kernels, for gdb.
pub struct Gdb {
    session: Session,
    action: Action,
    /// The time of a breakpoint, and the lanes that gdb has not been told of: it looks whether each of its threads, which a
    /// thread of the GPU executes together, is to stop.
    pending: Option<(u64, Vec<Lane>)>,
    /// Whether it has stepped over the breakpoint meanwhile.
    has_stepped: bool,
    /// Number of the next breakpoint.
    next_number: u32,
    /// The watched addresses, by number of the breakpoint.
    watched: Vec<(u32, u64, u64)>,
    /// What gdb is to print beside the reason of a stop.
    message: Option<String>,
}

/// A packet that has gdb print a text while it waits for a stop.
fn console(text: &str) -> String {
    let digits = |byte| format!("{byte:02x}");
    let body: String = std::iter::once("O".to_owned()).chain(text.bytes().map(digits)).collect();
    let sum = body.bytes().fold(0_u8, u8::wrapping_add);
    format!("${body}#{sum:02x}")
}

impl Gdb {
    /// A session whose launch is stopped.
    #[must_use]
    pub fn new(session: Session) -> Gdb {
        Gdb {
            session,
            action: Action::Continue,
            pending: None,
            has_stepped: false,
            next_number: 1,
            watched: Vec::new(),
            message: None,
        }
    }

    /// Serves gdb until it disconnects.
    ///
    /// # Errors
    /// The connection fails.
    pub fn run(&mut self, stream: UnixStream) -> Result<(), String> {
        GdbStub::new(stream).run_blocking::<Loop>(self).map(|_| ()).map_err(|error| error.to_string())
    }

    /// The work-item that is a thread of gdb's.
    fn lane(&self, tid: Tid) -> Result<Lane, String> {
        let launch = self.session.launch()?;
        let number = tid.get() as u32 - 1;
        let lanes = launch.facts.lanes;
        Ok(Lane { group: launch.lane.group, thread: number / lanes, lane: number % lanes })
    }

    fn tid(&self) -> Tid {
        let number = self
            .session
            .launch()
            .map_or(1, |launch| launch.lane.thread * launch.facts.lanes + launch.lane.lane + 1);
        Tid::new(number as usize).unwrap_or(Tid::MIN)
    }

    /// Continues: first with the other lanes at a breakpoint, as if each came to it after the one before.
    fn run_on(&mut self) -> Result<Stop, String> {
        self.has_stepped = false;
        if let Some((time, mut lanes)) = self.pending.take()
            && let Some(lane) = lanes.pop()
        {
            self.session.go(time)?;
            self.session.select(lane)?;
            self.pending = Some((time, lanes));
            return Ok(Stop::Breakpoint(0));
        }
        let stop = self.session.run_on()?;
        if let Stop::Breakpoint(_) = stop
            && let Some(position) = self.session.launch()?.position
        {
            let launch = self.session.launch()?;
            let lanes = (0..launch.facts.lanes).filter(|lane| position.enabled >> lane & 1 != 0);
            let lanes = lanes.map(|lane| Lane { lane, ..launch.lane }).filter(|lane| *lane != launch.lane);
            self.pending = Some((launch.time, lanes.collect::<Vec<_>>().into_iter().rev().collect()));
        }
        Ok(stop)
    }

    fn go(&mut self) -> Result<MultiThreadStopReason<u64>, String> {
        let _busy = self.session.interrupter.begin();
        let is_first_step =
            matches!(self.action, Action::Step(_)) && !std::mem::replace(&mut self.has_stepped, true);
        if !is_first_step && !matches!(self.action, Action::Continue) {
            self.pending = None;
        }
        let stop = match self.action {
            Action::Continue => self.run_on()?,
            Action::ReverseContinue => self.session.resume(true)?,
            Action::Step(tid) => {
                self.session.select(self.lane(tid)?)?;
                self.session.step(Step::Instruction)?
            }
            Action::ReverseStep(tid) => {
                self.session.select(self.lane(tid)?)?;
                self.session.step_back(Step::Instruction)?
            }
            Action::Within(tid, begin, end) => {
                self.session.select(self.lane(tid)?)?;
                let base = self.session.launch()?.kernel().base;
                let offset = |address: u64| address.saturating_sub(base) as u32;
                self.session.leave(std::iter::once(offset(begin)..offset(end)).collect())?
            }
        };
        let tid = self.tid();
        Ok(match stop {
            Stop::Breakpoint(_) => MultiThreadStopReason::SwBreak(tid),
            Stop::Watch(number) => {
                let watched = self.watched.iter().find(|(own, ..)| *own == number);
                let addr = watched.map_or(0, |(_, address, _)| *address);
                MultiThreadStopReason::Watch { tid, kind: WatchKind::Write, addr }
            }
            Stop::Check(finding) => {
                self.message = Some(finding + "\n");
                MultiThreadStopReason::SignalWithThread { tid, signal: Signal::SIGTRAP }
            }
            Stop::Begin => MultiThreadStopReason::ReplayLog { tid: Some(tid), pos: ReplayLogPosition::Begin },
            Stop::Fault(_) => MultiThreadStopReason::SignalWithThread { tid, signal: Signal::SIGSEGV },
            Stop::Interrupted => interrupted(tid),
            Stop::Exit => {
                let status = self.session.program().wait()?;
                MultiThreadStopReason::Exited(gencl_commands::child::exit_code(status))
            }
            Stop::Step | Stop::End | Stop::EndOfWorkItem => {
                MultiThreadStopReason::SignalWithThread { tid, signal: Signal::SIGTRAP }
            }
        })
    }

    /// Machine code at an address.
    fn code(&self, address: u64, data: &mut [u8]) -> Option<usize> {
        let launch = self.session.launch().ok()?;
        let kernel = launch.info.kernels.iter().rev().find(|kernel| kernel.base <= address)?;
        let rest = kernel.kernel.code.get((address - kernel.base) as usize..)?;
        let count = rest.len().min(data.len());
        data[..count].copy_from_slice(&rest[..count]);
        (count > 0).then_some(count)
    }

    fn add(&mut self, spot: Spot) -> u32 {
        let number = self.next_number;
        self.next_number += 1;
        self.session.breakpoints.push(Breakpoint::new(number, spot));
        number
    }

    /// The kernel and offset of an address of code.
    fn place(&self, address: u64) -> Option<(String, u32)> {
        let info: &Info = &self.session.launch().ok()?.info;
        let kernel = info.kernels.iter().rev().find(|kernel| kernel.base <= address)?;
        Some((kernel.kernel.name.clone(), (address - kernel.base) as u32))
    }
}

impl Target for Gdb {
    type Arch = X86_64_SSE;
    type Error = String;

    fn base_ops(&mut self) -> BaseOps<'_, Self::Arch, Self::Error> {
        BaseOps::MultiThread(self)
    }

    fn support_breakpoints(&mut self) -> Option<BreakpointsOps<'_, Self>> {
        Some(self)
    }
}

impl MultiThreadBase for Gdb {
    fn read_registers(&mut self, registers: &mut X86_64CoreRegs, tid: Tid) -> TargetResult<(), Self> {
        let lane = self.lane(tid).map_err(TargetError::Fatal)?;
        let launch = self.session.launch().map_err(TargetError::Fatal)?;
        let kernel = launch.kernel();
        // A work-item that has ended is behind the code.
        let offset = launch.offset(lane).map_or(kernel.kernel.code.len() as u64, u64::from);
        registers.rip = kernel.base + offset;
        registers.regs[6..8].fill(STACK + STACK_BYTES / 2);
        Ok(())
    }

    fn write_registers(&mut self, _: &X86_64CoreRegs, _: Tid) -> TargetResult<(), Self> {
        // Launches are executed again to come to an earlier time, always in the same way.
        Err(TargetError::NonFatal)
    }

    fn read_addrs(&mut self, start: u64, data: &mut [u8], tid: Tid) -> TargetResult<usize, Self> {
        if (STACK..STACK + STACK_BYTES).contains(&start) {
            data.fill(0);
            return Ok(data.len());
        }
        if let Some(count) = self.code(start, data) {
            return Ok(count);
        }
        let lane = self.lane(tid).map_err(TargetError::Fatal)?;
        self.session.select(lane).map_err(|_| TargetError::NonFatal)?;
        let bytes = self.session.read(start, data.len()).map_err(|_| TargetError::NonFatal)?;
        data.copy_from_slice(&bytes);
        Ok(bytes.len())
    }

    fn write_addrs(&mut self, _: u64, _: &[u8], _: Tid) -> TargetResult<(), Self> {
        Err(TargetError::NonFatal)
    }

    fn list_active_threads(&mut self, tell: &mut dyn FnMut(Tid)) -> Result<(), String> {
        let Ok(launch) = self.session.launch() else {
            tell(Tid::MIN);
            return Ok(());
        };
        let lanes = launch.threads.iter().flat_map(|thread| {
            let first = thread.position.thread * launch.facts.lanes;
            (1..).zip(&thread.lanes).filter(|(_, place)| place.is_some()).map(move |(lane, _)| first + lane)
        });
        let all: Vec<_> = lanes.filter_map(|number| Tid::new(number as usize)).collect();
        if all.is_empty() {
            tell(self.tid());
        }
        all.into_iter().for_each(tell);
        Ok(())
    }

    fn support_resume(&mut self) -> Option<MultiThreadResumeOps<'_, Self>> {
        Some(self)
    }

    fn support_thread_extra_info(&mut self) -> Option<ThreadExtraInfoOps<'_, Self>> {
        Some(self)
    }
}

impl ThreadExtraInfo for Gdb {
    fn thread_extra_info(&self, tid: Tid, buffer: &mut [u8]) -> Result<usize, String> {
        let launch = self.session.launch()?;
        let id = work_item::text(work_item::global_id(&launch.facts, self.lane(tid)?));
        let text = format!("work-item {id}");
        let count = text.len().min(buffer.len());
        buffer[..count].copy_from_slice(&text.as_bytes()[..count]);
        Ok(count)
    }
}

impl MultiThreadResume for Gdb {
    fn resume(&mut self) -> Result<(), String> {
        Ok(())
    }

    fn clear_resume_actions(&mut self) -> Result<(), String> {
        self.action = Action::Continue;
        Ok(())
    }

    fn set_resume_action_continue(&mut self, _: Tid, _: Option<Signal>) -> Result<(), String> {
        Ok(())
    }

    fn support_single_step(&mut self) -> Option<MultiThreadSingleStepOps<'_, Self>> {
        Some(self)
    }

    fn support_range_step(&mut self) -> Option<MultiThreadRangeSteppingOps<'_, Self>> {
        Some(self)
    }

    fn support_scheduler_locking(&mut self) -> Option<MultiThreadSchedulerLockingOps<'_, Self>> {
        Some(self)
    }

    fn support_reverse_step(&mut self) -> Option<ReverseStepOps<'_, Tid, Self>> {
        Some(self)
    }

    fn support_reverse_cont(&mut self) -> Option<ReverseContOps<'_, Tid, Self>> {
        Some(self)
    }
}

impl MultiThreadSingleStep for Gdb {
    fn set_resume_action_step(&mut self, tid: Tid, _: Option<Signal>) -> Result<(), String> {
        self.action = Action::Step(tid);
        Ok(())
    }
}

impl MultiThreadRangeStepping for Gdb {
    fn set_resume_action_range_step(&mut self, tid: Tid, begin: u64, end: u64) -> Result<(), String> {
        self.action = Action::Within(tid, begin, end);
        Ok(())
    }
}

impl MultiThreadSchedulerLocking for Gdb {
    fn set_resume_action_scheduler_lock(&mut self) -> Result<(), String> {
        // Launches have one order, and others wait where theirs comes later.
        Ok(())
    }
}

impl ReverseStep<Tid> for Gdb {
    fn reverse_step(&mut self, tid: Tid) -> Result<(), String> {
        self.action = Action::ReverseStep(tid);
        Ok(())
    }
}

impl ReverseCont<Tid> for Gdb {
    fn reverse_cont(&mut self) -> Result<(), String> {
        self.action = Action::ReverseContinue;
        Ok(())
    }
}

impl Breakpoints for Gdb {
    fn support_sw_breakpoint(&mut self) -> Option<SwBreakpointOps<'_, Self>> {
        Some(self)
    }

    fn support_hw_watchpoint(&mut self) -> Option<HwWatchpointOps<'_, Self>> {
        Some(self)
    }
}

impl SwBreakpoint for Gdb {
    fn add_sw_breakpoint(&mut self, address: u64, _: usize) -> TargetResult<bool, Self> {
        let Some((kernel, offset)) = self.place(address) else { return Ok(false) };
        self.add(Spot::Instruction { kernel, offset });
        Ok(true)
    }

    fn remove_sw_breakpoint(&mut self, address: u64, _: usize) -> TargetResult<bool, Self> {
        let Some((kernel, offset)) = self.place(address) else { return Ok(false) };
        let is_it = |breakpoint: &Breakpoint| matches!(&breakpoint.spot, Spot::Instruction { kernel: own, offset: at } if *own == kernel && *at == offset);
        let found = self.session.breakpoints.iter().position(is_it);
        Ok(found.map(|index| self.session.breakpoints.remove(index)).is_some())
    }
}

impl HwWatchpoint for Gdb {
    fn add_hw_watchpoint(&mut self, address: u64, bytes: u64, kind: WatchKind) -> TargetResult<bool, Self> {
        if kind != WatchKind::Write {
            return Ok(false);
        }
        let watched = self.session.watch(address, bytes as usize).map_err(|_| TargetError::NonFatal)?;
        let launch = self.session.launch().map_err(TargetError::Fatal)?.facts.launch;
        let number = self.add(Spot::Watch { text: String::new(), launch, bytes: watched });
        self.watched.push((number, address, bytes));
        Ok(true)
    }

    fn remove_hw_watchpoint(&mut self, address: u64, bytes: u64, _: WatchKind) -> TargetResult<bool, Self> {
        let found = self.watched.iter().position(|(_, own, size)| (*own, *size) == (address, bytes));
        let Some(index) = found else { return Ok(false) };
        let (number, ..) = self.watched.remove(index);
        self.session.breakpoints.retain(|breakpoint| breakpoint.number != number);
        Ok(true)
    }
}

/// Time between looks whether gdb interrupts a launch.
const POLL: Duration = Duration::from_millis(5);

/// Launches run until they stop, or gdb sends something.
enum Loop {}

impl BlockingEventLoop for Loop {
    type Target = Gdb;
    type Connection = UnixStream;
    type StopReason = MultiThreadStopReason<u64>;

    fn wait_for_stop_reason(
        target: &mut Gdb,
        from: &mut UnixStream,
    ) -> Result<Event<Self::StopReason>, WaitForStopReasonError<String, std::io::Error>> {
        let mut other = from.try_clone().map_err(WaitForStopReasonError::Connection)?;
        let interrupter = target.session.interrupter.clone();
        let has_stopped = AtomicBool::new(false);
        let stop = thread::scope(|scope| {
            let watcher = scope.spawn(|| {
                while !has_stopped.load(Ordering::Acquire) {
                    if !matches!(ConnectionExt::peek(&mut other), Ok(None)) {
                        interrupter.interrupt();
                        return;
                    }
                    thread::park_timeout(POLL);
                }
            });
            let stop = target.go();
            has_stopped.store(true, Ordering::Release);
            watcher.thread().unpark();
            stop
        });
        let stop = stop.map_err(WaitForStopReasonError::Target)?;
        // A look at what is there is not blocked, nor is anything else then.
        from.set_nonblocking(false).map_err(WaitForStopReasonError::Connection)?;
        if let Some(message) = target.message.take() {
            let sent = Connection::write_all(from, console(&message).as_bytes());
            sent.map_err(WaitForStopReasonError::Connection)?;
        }
        let mut read = || match ConnectionExt::peek(from)? {
            Some(_) => ConnectionExt::read(from).map(Some),
            None => from.set_nonblocking(false).map(|()| None),
        };
        // Of an interruption that comes too late, gdb expects no answer.
        let interruption = read().map_err(WaitForStopReasonError::Connection)?;
        let is_interrupted = |stop: &Self::StopReason| {
            matches!(stop, MultiThreadStopReason::SignalWithThread { signal: Signal::SIGINT, .. })
        };
        Ok(match interruption {
            Some(byte) if is_interrupted(&stop) => Event::IncomingData(byte),
            _ => Event::TargetStopped(stop),
        })
    }

    fn on_interrupt(target: &mut Gdb) -> Result<Option<Self::StopReason>, String> {
        Ok(Some(interrupted(target.tid())))
    }
}
