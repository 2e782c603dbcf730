//! Threads that can never end are stopped early, and no others.

use std::time::{Duration, Instant};

use gencl_i915::RenderNode;
use gencl_simulator::{Settings, Simulator};

use crate::setup::{CONTEXT, Launch, Machine};

/// A machine that soon looks whether threads can end, and otherwise waits for minutes.
fn machine() -> Machine {
    let settings = Settings { workers: 2, suspicion: Duration::from_millis(20), ..Settings::default() };
    Machine::new(Simulator::with_settings("skl", settings).unwrap())
}

/// Runs a kernel that is stopped, and checks that its error says so.
fn never_ends(launch: &Launch<'_>, texts: &[&str]) {
    let (machine, begin) = (machine(), Instant::now());
    machine.run_kernel(launch).unwrap();
    assert!(begin.elapsed() < Duration::from_secs(60), "as late as other batches");
    let error = machine.error().expect("it is stopped");
    for text in [&["never ends", "kernel offset", "lane 0", "work-group (0, 0, 0)"], texts].concat() {
        assert!(error.contains(text), "{error:?} does not say {text:?}");
    }
}

/// Counts in `g3` until it is 4,000,000.
const COUNT: &str = "
    mov(8) g3<1>UD 0UD                                { align1 1Q };
    COUNT:
    add(8) g3<1>UD g3<8,8,1>UD 1UD                    { align1 1Q };
    cmp.e.f0.0(8) null<1>UD g3<8,8,1>UD 4000000UD     { align1 1Q };
    (-f0.0) jmpi(1) JIP: COUNT                        { align1 WE_all 1N };";

/// Reads local memory until its first dword is not 0.
const SPIN: &str = "
    mov(8) g4<1>UD 0UD                                { align1 1Q };
    SPIN:
    send(8) g7<1>UW g4<8,8,1>UD 0x02106efe
        dp data 1 MsgDesc: mlen 1 rlen 1              { align1 1Q };
    cmp.ne.f0.0(8) null<1>UD g7<8,8,1>UD 0UD          { align1 1Q };
    (-f0.0) jmpi(1) JIP: SPIN                         { align1 WE_all 1N };";

/// Waits for the other threads.
const BARRIER: &str = "
    mov(8) g6<1>UD 0UD                                { align1 WE_all 1Q };
    and(1) g6.2<1>UD g0.2<0,1,0>UD 0x8f000000UD       { align1 WE_all 1N };
    send(8) null<1>UW g6<8,8,1>UD 0x02000004
        gateway MsgDesc: mlen 1 rlen 0                { align1 WE_all 1Q };
    wait(1) n0<1>UD                                   { align1 WE_all 1N };";

#[test]
fn loops_without_an_exit() {
    let kernel = "
        mov(8) g3<1>UD 0UD { align1 1Q };
        cmp.e.f0.0(8) null<1>UD g3<8,8,1>UD 1UD { align1 1Q };
        (+f0.0) jmpi(1) JIP: END { align1 WE_all 1N };
        mov(8) g5<1>UQ g1<0,1,0>UQ { align1 1Q };
        L0:
        add(8) g3<1>UD g3<8,8,1>UD 1UD { align1 1Q };
        mov(8) g7<1>UD g3<8,8,1>UD { align1 1Q };
        send(8) null<1>UW g5<8,8,1>UD 0x06066eff dp data 1 MsgDesc: mlen 3 rlen 0 { align1 1Q };
        jmpi(1) JIP: L0 { align1 WE_all 1N };
        END:
        nop;";
    never_ends(&Launch { kernel, ..Launch::default() }, &["no end of the kernel can be reached"]);
}

/// Of all lanes, and of some: the others wait behind the loop.
#[test]
fn registers_that_repeat() {
    let uniform = "
        mov(8) g3<1>UD 1UD { align1 1Q };
        L0:
        xor(8) g3<1>UD g3<8,8,1>UD 3UD { align1 1Q };
        cmp.e.f0.0(8) null<1>UD g3<8,8,1>UD 7UD { align1 1Q };
        (-f0.0) jmpi(1) JIP: L0 { align1 WE_all 1N };";
    // A cycle of 2^20 iterations, which begins after the first 1000.
    let long = "
        mov(8) g3<1>UD 0UD { align1 1Q };
        L0:
        add(8) g3<1>UD g3<8,8,1>UD 1UD { align1 1Q };
        cmp.e.f0.0(8) null<1>UD g3<8,8,1>UD 1049576UD { align1 1Q };
        (+f0.0) mov(8) g3<1>UD 1000UD { align1 1Q };
        cmp.e.f0.0(8) null<1>UD g3<8,8,1>UD 7000000UD { align1 1Q };
        (-f0.0) jmpi(1) JIP: L0 { align1 WE_all 1N };";
    let divergent = "
        mov(8) g3<1>UD g2<8,8,1>UW { align1 1Q };
        L0:
        cmp.l.f0.0(8) null<1>UD g3<8,8,1>UD 4UD { align1 1Q };
        (+f0.0) while(8) JIP: L0 { align1 1Q };";
    for kernel in [uniform, long, divergent] {
        for threads in [1, 2] {
            never_ends(&Launch { kernel, threads, ..Launch::default() }, &["the registers repeat"]);
        }
    }
}

#[test]
fn work_groups_that_repeat() {
    let with_barriers = SPIN.replace("SPIN:", &format!("SPIN:{BARRIER}"));
    for kernel in [SPIN, &with_barriers] {
        let launch = Launch { kernel, threads: 2, slm_code: 1, ..Launch::default() };
        never_ends(&launch, &["the work-group's registers and local memory repeat"]);
    }
}

fn ends(launch: &Launch<'_>) {
    let machine = machine();
    machine.run_kernel(launch).unwrap();
    assert_eq!(machine.error(), None);
}

#[test]
fn long_loops_end() {
    ends(&Launch { kernel: COUNT, threads: 2, ..Launch::default() });
}

/// The second thread counts; then it writes for what the first one waits.
#[test]
fn threads_that_wait_for_others_go_on() {
    let kernel = format!(
        "mov(8) g3<1>UD g2<8,8,1>UW {{ align1 1Q }};
        cmp.e.f0.0(8) null<1>UD g3<8,8,1>UD 0UD {{ align1 1Q }};
        mov(8) g9<1>UD 0UD {{ align1 1Q }};
        (+f0.0) jmpi(1) JIP: WAIT {{ align1 WE_all 1N }};
        {COUNT}
        mov(8) g10<1>UD 1UD {{ align1 1Q }};
        send(8) null<1>UW g9<8,8,1>UD 0x04026efe dp data 1 MsgDesc: mlen 2 rlen 0 {{ align1 1Q }};
        WAIT:
        {SPIN}"
    );
    ends(&Launch { kernel: &kernel, threads: 2, slm_code: 1, ..Launch::default() });
}

/// Its registers repeat all the time.
#[test]
fn a_thread_that_waits_for_the_host_goes_on() {
    let kernel = "
        mov(8) g5<1>UQ g1<0,1,0>UQ { align1 1Q };
        L0:
        send(8) g7<1>UW g5<8,8,1>UD 0x04146eff dp data 1 MsgDesc: mlen 2 rlen 1 { align1 1Q };
        cmp.e.f0.0(8) null<1>UD g7<8,8,1>UD 1UD { align1 1Q };
        (-f0.0) jmpi(1) JIP: L0 { align1 WE_all 1N };";
    for threads in [1, 2] {
        let machine = machine();
        let commands = machine.launch(&Launch { kernel, threads, ..Launch::default() });
        machine.start(CONTEXT, &[&commands]).unwrap();
        std::thread::sleep(Duration::from_millis(300));
        machine.data.write(0, &[1]);
        machine.node.gem_wait(machine.batch.handle, -1).unwrap();
        assert_eq!(machine.error(), None);
    }
}
