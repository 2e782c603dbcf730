//! Commands that move data.

use super::{BATCH, Bench, DATA, END};
use gencl_eu::fault::Reason;
use gencl_eu::memory::{Access, PageFault};
use gencl_i915::Engine;

#[test]
fn an_empty_batch_ends() {
    Bench::new().run(&[]).unwrap();
}

#[test]
fn immediate_data_is_stored() {
    let mut bench = Bench::new();
    let data = DATA as u32;
    bench
        .run(&[
            &[0],
            &[0x1000_0002, data + 4, 0, 0xdead_beef],
            // A qword.
            &[0x1020_0003, data + 8, 0, 0x1234_5678, 0x9abc_def0],
        ])
        .unwrap();
    assert_eq!(bench.dword(DATA + 4), 0xdead_beef);
    assert_eq!(bench.qword(DATA + 8), 0x9abc_def0_1234_5678);
    assert_eq!(bench.dword(DATA), 0);
}

#[test]
fn memory_and_registers_are_copied() {
    let mut bench = Bench::new();
    let data = DATA as u32;
    bench.write(DATA, &[7, 8]);
    bench
        .run(&[
            // MI_COPY_MEM_MEM: destination, source.
            &[0x1700_0003, data + 16, 0, data, 0],
            // MI_LOAD_REGISTER_IMM of two registers: GPR 0 and 1.
            &[0x1100_0003, 0x2600, 0x11, 0x2608, 0x22],
            // MI_LOAD_REGISTER_MEM, GPR 2.
            &[0x1480_0002, 0x2610, data + 4, 0],
            // MI_LOAD_REGISTER_REG: GPR 1 to GPR 3.
            &[0x1500_0001, 0x2608, 0x2618],
            // MI_STORE_REGISTER_MEM
            &[0x1200_0002, 0x2600, data + 20, 0],
            &[0x1200_0002, 0x2610, data + 24, 0],
            &[0x1200_0002, 0x2618, data + 28, 0],
        ])
        .unwrap();
    let stored: Vec<u32> = (4..8).map(|i| bench.dword(DATA + 4 * i)).collect();
    assert_eq!(stored, [7, 0x11, 8, 0x22]);
}

#[test]
fn arithmetic_on_registers() {
    let mut bench = Bench::new();
    let data = DATA as u32;
    let store = |register: u32, at: u32| [0x1200_0002, register, data + at, 0];
    bench
        .run(&[
            // GPR 0 = 0xffffffff00000001, GPR 1 = 2 << 32
            &[0x1100_0007, 0x2600, 1, 0x2604, 0xffff_ffff, 0x2608, 0, 0x260c, 2],
            // MI_MATH: load A, R0; load B, R1; add; store R2, accumulator; store R3, carry; sub; store R4,
            // acc
            &[
                0x0d00_0007,
                0x0800_8000,
                0x0800_8401,
                0x1000_0000,
                0x1800_0831,
                0x1800_0c33,
                0x1010_0000,
                0x1800_1031,
                0x5800_1432,
            ],
            &store(0x2610, 0),
            &store(0x2614, 4),
            &store(0x2618, 8),
            &store(0x2620, 12),
            &store(0x2624, 16),
            &store(0x2628, 20),
        ])
        .unwrap();
    let stored: Vec<u32> = (0..6).map(|i| bench.dword(DATA + 4 * i)).collect();
    // The last: the inverse of "was zero".
    assert_eq!(stored, [1, 1, 0xffff_ffff, 1, 0xffff_fffd, 0xffff_ffff]);
}

#[test]
fn timestamps_are_stored_and_increase() {
    let mut bench = Bench::new();
    let data = DATA as u32;
    bench
        .run(&[
            // PIPE_CONTROL: stall, then write timestamp.
            &super::STALL,
            &[0x7a00_0004, 3 << 14, data, 0, 0, 0],
            &[0x1200_0002, 0x2358, data + 8, 0],
            &[0x1200_0002, 0x235c, data + 12, 0],
            &[0x7a00_0004, 1 << 14, data + 16, 0, 0x55, 0x66],
        ])
        .unwrap();
    let (first, second) = (bench.qword(DATA), bench.qword(DATA + 8));
    assert!(first <= second && second - first < 12_000_000, "{first} {second}");
    assert_eq!(bench.qword(DATA + 16), 0x66_0000_0055);
}

#[test]
fn the_context_timestamp_stops_between_batches() {
    let mut bench = Bench::new();
    let data = DATA as u32;
    let read = |to: u32| [0x1200_0002, 0x23a8, to, 0];
    bench.run(&[&read(data)]).unwrap();
    let pause = std::time::Duration::from_millis(50);
    std::thread::sleep(pause);
    bench.run(&[&read(data + 4), &read(data + 8)]).unwrap();
    let [first, second, third] = [0, 4, 8].map(|offset| bench.dword(DATA + offset));
    // 12 ticks are a microsecond.
    assert!(first <= second && second <= third, "{first} {second} {third}");
    assert!(u128::from(third - first) < 12 * pause.as_micros(), "{first} {third}");
}

#[test]
fn the_blitter_has_separate_registers_and_mi_flush_dw() {
    let mut bench = Bench::new();
    let data = DATA as u32;
    bench
        .run_on(
            Engine::Blit,
            &[
                // MI_FLUSH_DW with an immediate, then with a timestamp.
                &[0x1300_0003 | 1 << 14, data, 0, 0x77, 0x88],
                &[0x1300_0003 | 3 << 14, data + 8, 0, 0, 0],
                &[0x1100_0001, 0x2_2600, 5],
                &[0x1200_0002, 0x2_2600, data + 16, 0],
            ],
        )
        .unwrap();
    assert_eq!(bench.qword(DATA), 0x88_0000_0077);
    assert_ne!(bench.qword(DATA + 8), 0);
    assert_eq!(bench.dword(DATA + 16), 5);
    let fault = bench.run_on(Engine::Blit, &[&super::STALL]).unwrap_err().to_string();
    assert!(fault.contains("PIPE_CONTROL does not exist on this engine"), "{fault}");
}

#[test]
fn batches_are_chained_and_called() {
    let mut bench = Bench::new();
    let data = DATA as u32;
    let store = |at: u32, value: u32| [0x1000_0002, data + at, 0, value];
    // A second-level batch, which chains to another place before it returns.
    bench.write(BATCH + 0x1000, &[&store(0, 1)[..], &[0x18c0_0101, BATCH as u32 + 0x2000, 0]].concat());
    bench.write(BATCH + 0x2000, &[&store(4, 2)[..], &[END]].concat());
    // The target of a jump.
    bench.write(BATCH + 0x3000, &[&store(12, 4)[..], &[END]].concat());
    bench
        .run(&[
            &[0x18c0_0101, BATCH as u32 + 0x1000, 0],
            &store(8, 3),
            &[0x1880_0101, BATCH as u32 + 0x3000, 0],
            &store(12, 5),
        ])
        .unwrap();
    let stored: Vec<u32> = (0..4).map(|i| bench.dword(DATA + 4 * i)).collect();
    assert_eq!(stored, [1, 2, 3, 4]);
}

#[test]
fn predicated_commands_are_skipped() {
    let mut bench = Bench::new();
    let data = DATA as u32;
    let sources = |a: u32, b: u32| [0x1100_0007, 0x2400, a, 0x2404, 0, 0x2408, b, 0x240c, 0];
    // MI_PREDICATE: load the comparison of the sources.
    let equal = [0x0600_0000 | 2 << 6 | 2];
    let store = |at: u32| [0x1220_0002, 0x2400, data + at, 0];
    bench.run(&[&sources(3, 3), &equal, &store(0), &sources(4, 3), &equal, &store(4)]).unwrap();
    assert_eq!([bench.dword(DATA), bench.dword(DATA + 4)], [3, 0]);
}

#[test]
fn a_satisfied_semaphore_does_not_wait() {
    let mut bench = Bench::new();
    bench.write(DATA, &[5]);
    // Polling; memory greater than 4, then equal to 5.
    bench.run(&[&[0x0e00_8002, 4, DATA as u32, 0], &[0x0e00_8002 | 4 << 12, 5, DATA as u32, 0]]).unwrap();
}

#[test]
fn waiting_and_looping_batches_can_be_cancelled() {
    for commands in [
        // Memory is never 9.
        vec![0x0e00_8002 | 4 << 12, 9, DATA as u32, 0],
        // A jump to itself.
        vec![0x1880_0101, BATCH as u32, 0],
    ] {
        let mut bench = Bench::new();
        bench.running.cancel.set();
        let fault = bench.run(&[&commands]).unwrap_err();
        assert_eq!(fault.reason, Reason::Cancelled);
    }
}

#[test]
fn stores_outside_of_buffers_are_page_faults_with_address_and_command() {
    let mut bench = Bench::new();
    let fault = bench.run(&[&[0], &[0x1000_0002, 0x4000, 0x12, 1]]).unwrap_err();
    let page = PageFault { address: 0x12_0000_4000, access: Access::Write };
    assert_eq!(fault.reason, Reason::Page(page));
    assert_eq!(fault.command, Some("MI_STORE_DATA_IMM"));
    assert_eq!((fault.batch_offset, fault.batch_address), (Some(4), Some(BATCH + 4)));
}

#[test]
fn a_batch_without_an_end_runs_into_a_page_fault() {
    let mut bench = Bench::new();
    let fault = bench.run(&[&[0x1880_0101, (BATCH + super::SIZE) as u32 - 8, 0]]).unwrap_err();
    assert_eq!(fault.reason, Reason::Page(PageFault { address: BATCH + super::SIZE, access: Access::Fetch }));
}
