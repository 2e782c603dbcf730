//! Tests that state and GPGPU_WALKER become the right launches.

use super::{BASES, Bench, GPGPU, HEAP, SLM, STALL, STATE_FLUSH, VFE};
use gencl_eu::dispatch::{Bases, Rounding, Scratch};

/// GPGPU_WALKER: descriptor 0, SIMD16, 2 threads in a row, groups 1..4 x 0..2 x 0..1, right mask 0xff.
pub const WALKER: [u32; 15] =
    [0x7105_000d, 0, 0, 0, 1 << 30 | 1, 1, 0, 4, 0, 0, 2, 0, 1, 0x00ff, 0xffff_ffff];

/// An interface descriptor.
pub struct Descriptor(pub [u32; 8]);

impl Default for Descriptor {
    /// Kernel at 0x1000 of the heap, 2 threads, barrier, 4 KiB of SLM; 2 registers of cross-thread constants
    /// and one for each thread.
    fn default() -> Descriptor {
        Descriptor([0x1000, 0, 0, 0, 0, 0, 1 << 21 | 3 << 16 | 2, 0])
    }
}

impl Descriptor {
    pub fn with(mut self, index: usize, value: u32) -> Descriptor {
        self.0[index] = value;
        self
    }

    pub fn write(&self, bench: &Bench, offset: u64) {
        bench.write(HEAP + offset, &self.0);
    }
}

/// Runs a walker with all state, a descriptor and 16 registers of CURBE.
fn run(bench: &mut Bench, descriptor: &Descriptor, walker: &[u32]) -> Result<(), gencl_eu::fault::Fault> {
    descriptor.write(bench, 0);
    let curbe: Vec<u32> = (0..128).collect();
    bench.write(HEAP + 0x400, &curbe);
    bench.run(&[&GPGPU, &BASES, &SLM, &VFE, &[0x7001_0002, 0, 512, 0x400], &[0x7002_0002, 0, 32, 0], walker])
}

fn refused(descriptor: Descriptor, walker: [u32; 15], text: &str) {
    let mut bench = Bench::new();
    let fault = run(&mut bench, &descriptor, &walker).expect_err("must be refused").to_string();
    assert!(fault.contains(text), "{fault:?} does not say {text:?}");
    assert!(fault.contains("command GPGPU_WALKER"), "{fault:?}");
    assert!(bench.launches().is_empty());
}

fn with<const N: usize>(mut dwords: [u32; N], index: usize, value: u32) -> [u32; N] {
    dwords[index] = value;
    dwords
}

#[test]
fn the_launch_matches_the_state() {
    let mut bench = Bench::new();
    // One register for each thread, two for all; binding table at 0x20, samplers at 0x40, round to zero.
    let descriptor = Descriptor::default()
        .with(3, 0x40)
        .with(4, 0x20)
        .with(5, 1 << 16)
        .with(6, 3 << 22 | 1 << 21 | 3 << 16 | 2)
        .with(7, 2);
    run(&mut bench, &descriptor, &WALKER).unwrap();
    let [launch] = &bench.launches()[..] else { panic!("one launch") };
    assert_eq!(launch.kernel, HEAP + 0x1000);
    assert_eq!(launch.simd_width, 16);
    assert_eq!(launch.threads, [2, 1, 1]);
    assert_eq!((launch.first_group, launch.end_group), ([1, 0, 0], [4, 2, 1]));
    assert_eq!(launch.groups(), [3, 2, 1]);
    assert_eq!([launch.dispatch_mask(0), launch.dispatch_mask(1)], [0xffff, 0xff]);
    assert_eq!((launch.slm_size, launch.barrier), (4096, true));
    assert_eq!(launch.rounding, Rounding::Zero);
    assert_eq!((launch.binding_table, launch.samplers), (0x20, 0x40));
    assert_eq!(launch.scratch, None);
    assert_eq!(launch.bases, Bases { dynamic: HEAP, instruction: HEAP, ..Bases::default() });
    // Payload of thread 1: header, registers 0 and 1 of the CURBE, then register 3.
    assert_eq!(launch.payload_registers(), 4);
    let mut registers = [0xee; 160];
    launch.write_payload([3, 1, 0], 1, 9, &mut registers);
    let dword = |index: usize| u32::from_le_bytes(registers[4 * index..4 * index + 4].try_into().unwrap());
    let header: Vec<u32> = (0..8).map(dword).collect();
    assert_eq!(header, [0, 3, 0, 0x40, 0x20, 9, 1, 0]);
    assert_eq!((8..24).map(dword).collect::<Vec<_>>(), (0..16).collect::<Vec<_>>());
    assert_eq!((24..32).map(dword).collect::<Vec<_>>(), (24..32).collect::<Vec<_>>());
    assert!(registers[128..].iter().all(|byte| *byte == 0xee), "nothing after the payload is written");
}

#[test]
fn the_header_has_the_scratch_pointer() {
    let mut bench = Bench::new();
    // 1 KiB for each of 32 threads at 0x80000.
    let vfe = with(with(VFE, 1, super::DATA as u32), 3, 31 << 16 | 2 << 8);
    Descriptor::default().write(&bench, 0);
    bench.run(&[&GPGPU, &BASES, &SLM, &vfe, &[0x7002_0002, 0, 32, 0], &WALKER]).unwrap();
    let launch = bench.launches().remove(0);
    assert_eq!(launch.scratch, Some(Scratch { base: super::DATA, per_thread: 1024, code: 0, slots: 32 }));
    let mut registers = [0; 32];
    launch.write_payload([0; 3], 0, 5, &mut registers);
    assert_eq!(registers[20..24], ((super::DATA as u32 + 5 * 1024) | 5).to_le_bytes());
    // 64 KiB are 64 threads' part, not that of 65.
    let vfe = with(with(VFE, 1, super::DATA as u32), 3, 64 << 16 | 2 << 8);
    bench.state = Default::default();
    let fault = bench.refused(&[&GPGPU, &BASES, &SLM, &vfe, &[0x7002_0002, 0, 32, 0], &WALKER]);
    assert!(fault.contains("page fault: write at 0x90000"), "{fault}");
    // None at all is the business of kernels that use it.
    let vfe = with(with(VFE, 1, 0x9000_0000), 3, 31 << 16 | 2 << 8);
    bench.state = Default::default();
    bench.run(&[&GPGPU, &BASES, &SLM, &vfe, &[0x7002_0002, 0, 32, 0], &WALKER]).unwrap();
}

#[test]
fn indirect_dimensions_come_from_registers() {
    let mut bench = Bench::new();
    let dimensions = [0x1100_0005, 0x2500, 3, 0x2504, 5, 0x2508, 7];
    bench.run(&[&dimensions]).unwrap();
    run(&mut bench, &Descriptor::default(), &with(WALKER, 0, WALKER[0] | 1 << 10)).unwrap();
    assert_eq!(bench.launches()[0].end_group, [3, 5, 7]);
    // No groups, no launch.
    bench.state.threads_active = false;
    bench.state.descriptors_in_use = false;
    bench.run(&[&with(dimensions, 4, 0)]).unwrap();
    run(&mut bench, &Descriptor::default(), &with(WALKER, 0, WALKER[0] | 1 << 10)).unwrap();
    assert!(bench.launches().is_empty());
}

#[test]
fn indirect_data_replaces_the_curbe() {
    let mut bench = Bench::new();
    bench.write(super::DATA + 64, &[100, 101, 102, 103, 104, 105, 106, 107]);
    let walker = with(with(WALKER, 2, 64), 3, super::DATA as u32 + 64);
    run(&mut bench, &Descriptor::default().with(7, 1), &walker).unwrap();
    let launch = &bench.launches()[0];
    assert_eq!(launch.cross_thread[..8], [100, 0, 0, 0, 101, 0, 0, 0]);
    assert!(launch.indirect_data);
}

#[test]
fn per_thread_indirect_data_comes_first_in_registers() {
    let mut bench = Bench::new();
    run(&mut bench, &Descriptor::default().with(5, 1 << 16).with(7, 1), &WALKER).unwrap();
    let mut launch = bench.launches()[0].clone();
    launch.cross_thread = vec![1; 32];
    launch.per_thread = [[2; 32], [3; 32]].concat();
    launch.per_thread_size = 32;
    let payload = |indirect_data| {
        let mut registers = [0; 96];
        let launch = gencl_eu::dispatch::Launch { indirect_data, ..launch.clone() };
        launch.write_payload([0; 3], 1, 0, &mut registers);
        [registers[32], registers[63], registers[64], registers[95]]
    };
    assert_eq!(payload(false), [1, 1, 3, 3]);
    assert_eq!(payload(true), [3, 3, 1, 1]);
}

#[test]
fn writes_of_privileged_registers_are_dropped() {
    let mut bench = Bench::new();
    bench.run(&[&[0x1100_0001, 0xe404, 0x100], &[0x1200_0002, 0xe404, super::DATA as u32, 0]]).unwrap();
    assert_eq!(bench.dword(super::DATA), 0);
}

#[test]
fn executed_lanes_are_counted() {
    let mut bench = Bench::new();
    run(&mut bench, &Descriptor::default(), &WALKER).unwrap();
    bench.run(&[&[0x1200_0002, 0x2290, super::DATA as u32, 0]]).unwrap();
    assert_eq!(bench.dword(super::DATA), 6 * 24);
}

#[test]
fn predicated_launches_are_skipped() {
    let mut bench = Bench::new();
    // MI_PREDICATE: load false.
    bench.run(&[&[0x0600_0000 | 2 << 6 | 1]]).unwrap();
    run(&mut bench, &Descriptor::default(), &with(WALKER, 0, WALKER[0] | 1 << 8)).unwrap();
    assert!(bench.launches().is_empty());
}

#[test]
fn missing_state_is_refused() {
    let mut bench = Bench::new();
    assert!(bench.refused(&[&WALKER]).contains("without PIPELINE_SELECT of the GPGPU pipeline"));
    assert!(bench.refused(&[&GPGPU, &WALKER]).contains("without MEDIA_VFE_STATE"));
    assert!(
        bench.refused(&[&GPGPU, &BASES, &VFE, &WALKER]).contains("interface descriptor 0, but 0 were loaded")
    );
}

#[test]
fn launches_that_hardware_cannot_do_are_refused() {
    let plain = Descriptor::default;
    refused(plain(), with(WALKER, 1, 1), "interface descriptor 1, but 1 were loaded");
    refused(plain(), with(WALKER, 4, 3 << 30 | 1), "SIMD Size 3");
    refused(
        plain(),
        with(WALKER, 4, 1 << 30 | 2),
        "dispatches 3 threads per work-group, the interface descriptor has 2",
    );
    refused(plain().with(6, 57), with(WALKER, 4, 56), "57 threads per work-group, a subslice has 56");
    refused(plain(), with(WALKER, 13, 0xff_0000), "leave no lane of thread 1");
    refused(plain().with(0, 0x10_0000), WALKER, "page fault: fetch at 0x200000");
    refused(plain().with(6, 8 << 16 | 2), WALKER, "Shared Local Memory Size 8");
    refused(plain().with(2, 1 << 13), WALKER, "illegal opcode exceptions");
    refused(plain().with(2, 1), WALKER, "reserved bits of dword 2");
    refused(plain().with(7, 17), WALKER, "reads 544 bytes of constants, 512 were loaded");
    refused(plain().with(5, 9 << 16), WALKER, "reads 576 bytes of constants, 512 were loaded");
    refused(plain().with(7, 127).with(5, 1 << 16), WALKER, "exceed the registers");
}

#[test]
fn shared_local_memory_needs_slm_enable() {
    let mut bench = Bench::new();
    Descriptor::default().write(&bench, 0);
    let fault = bench.refused(&[&GPGPU, &BASES, &VFE, &[0x7002_0002, 0, 32, 0], &WALKER]);
    assert!(fault.contains("SLM Enable of L3CNTLREG"), "{fault}");
    Descriptor::default().with(6, 2).write(&bench, 0);
    bench.state = Default::default();
    bench.run(&[&GPGPU, &BASES, &VFE, &[0x7002_0002, 0, 32, 0], &WALKER]).unwrap();
}

#[test]
fn a_repeated_walker_is_prepared_once() {
    let (curbe, descriptors) = ([0x7001_0002, 0, 512, 0x400], [0x7002_0002, 0, 32, 0]);
    let prepared = |walkers: [[u32; 15]; 2], between: &[u32]| {
        let mut bench = Bench::new();
        Descriptor::default().write(&bench, 0);
        bench.run(&[&[0x1100_0005, 0x2500, 3, 0x2504, 5, 0x2508, 7]]).unwrap();
        let [first, second] = &walkers;
        let (state, behind) = (
            [&GPGPU[..], &BASES, &SLM, &VFE, &curbe, &descriptors].concat(),
            [&STATE_FLUSH[..], &STALL].concat(),
        );
        bench.run(&[&state, first, &behind, between, second]).unwrap();
        assert_eq!(bench.launches().len(), 2);
        bench.prepared()
    };
    assert_eq!(prepared([WALKER; 2], &[]), 1);
    assert_eq!(prepared([WALKER, with(WALKER, 13, 0xff00)], &[]), 2, "another walker");
    assert_eq!(prepared([with(WALKER, 0, WALKER[0] | 1 << 10); 2], &[]), 2, "registers");
    let indirect = with(with(WALKER, 2, 64), 3, super::DATA as u32);
    assert_eq!(prepared([indirect; 2], &[]), 2, "indirect data");
    for state in [&GPGPU[..], &BASES, &SLM, &[&VFE[..], &curbe].concat(), &curbe, &descriptors] {
        assert_eq!(prepared([WALKER; 2], state), 2, "{:08x}", state[0]);
    }
}
