//! The differences of Gen8.

use super::launches::{Descriptor, WALKER};
use super::{BASES, Bench, DATA, END, HEAP, SLM, VFE};
use crate::streamer::commands::COMMANDS;
use gencl_eu::device::Device;
use gencl_eu::dispatch::Bases;
use gencl_isa::Generation;

/// PIPELINE_SELECT of the GPGPU pipeline, which has no mask bits.
const GPGPU: [u32; 1] = [0x6904_0002];
/// STATE_BASE_ADDRESS without the bindless surface state.
const SHORT_BASES: [u32; 16] = {
    let mut dwords = [0; 16];
    let mut index = 0;
    while index < 16 {
        dwords[index] = BASES[index];
        index += 1;
    }
    dwords[0] = 0x6101_000e;
    dwords
};
/// MEDIA_INTERFACE_DESCRIPTOR_LOAD of one descriptor at the start of the heap.
const LOAD: [u32; 4] = [0x7002_0002, 0, 32, 0];

fn broadwell() -> Bench {
    Bench::on("bdw")
}

#[track_caller]
fn refused(commands: &[&[u32]], text: &str) {
    let fault = broadwell().refused(commands);
    assert!(fault.contains(text), "{fault:?} does not say {text:?}");
}

/// A launch with a code for the size of shared local memory.
fn launch(slm: u32) -> Result<u32, String> {
    let mut bench = broadwell();
    Descriptor::default().with(5, 0).with(6, slm << 16 | 2).with(7, 0).write(&bench, 0);
    bench.run(&[&GPGPU, &SHORT_BASES, &SLM, &VFE, &LOAD, &WALKER]).map_err(|fault| fault.to_string())?;
    let launch = bench.launches().remove(0);
    assert_eq!(launch.bases, Bases { dynamic: HEAP, instruction: HEAP, ..Bases::default() });
    assert_eq!(launch.kernel, HEAP + 0x1000);
    Ok(launch.slm_size)
}

#[test]
fn shared_local_memory_sizes_are_blocks_of_4_kib() {
    let sizes = [(0, 0), (1, 4), (2, 8), (4, 16), (8, 32), (16, 64)];
    for (code, kib) in sizes {
        assert_eq!(launch(code), Ok(kib << 10), "code {code}");
    }
    for code in [3, 5, 7, 9, 31] {
        let fault = launch(code).unwrap_err();
        assert!(fault.contains(&format!("Shared Local Memory Size {code}")), "{fault}");
    }
}

#[test]
fn what_gen9_added_is_refused() {
    refused(&[&BASES], "STATE_BASE_ADDRESS: its DWord Length gives 19 dwords");
    refused(&[&super::GPGPU], "PIPELINE_SELECT: reserved bit 8 of dword 0");
    refused(
        &[&[0x7a00_0004, 1 << 26 | 1 << 14, DATA as u32, 0, 1, 0]],
        "PIPE_CONTROL: reserved bit 26 of dword 1",
    );
    refused(&[&[0x0e01_8002, 0, DATA as u32, 0]], "MI_SEMAPHORE_WAIT: reserved bit 16 of dword 0");
    refused(&[&[0x1880_0101, DATA as u32, 0x1_0000]], "MI_BATCH_BUFFER_START: reserved bit 16 of dword 2");
    let mut bench = broadwell();
    Descriptor::default().with(6, 1 << 15 | 2).write(&bench, 0);
    let fault = bench.refused(&[&GPGPU, &SHORT_BASES, &SLM, &VFE, &LOAD, &WALKER]);
    assert!(fault.contains("interface descriptor: reserved bits of dword 6"), "{fault}");
}

#[test]
fn gen9_refuses_what_only_gen8_has() {
    let mut bench = Bench::new();
    assert!(bench.refused(&[&SHORT_BASES]).contains("DWord Length gives 16 dwords"));
    assert!(bench.refused(&[&GPGPU]).contains("Mask Bits 0x0"));
    let mut vfe = VFE;
    vfe[3] |= 1 << 6;
    assert!(bench.refused(&[&vfe]).contains("MEDIA_VFE_STATE: reserved bit 6 of dword 3"));
    broadwell().run(&[&vfe]).unwrap();
}

#[test]
fn registers_depend_on_the_generation() {
    let write = |register: u32| [0x1100_0001, register, 0x0001_0001];
    let read = |register: u32| [0x1200_0002, register, DATA as u32, 0];
    // CS_CHICKEN1 came with Gen9.
    refused(&[&write(0x2580)], "not simulated: register 0x2580");
    refused(&[&read(0x2580)], "not simulated: register 0x2580");
    Bench::new().run(&[&write(0x2580)]).unwrap();
    // Writes of the preemption register by Intel's driver are dropped; Gen9 does not have it.
    let mut bench = broadwell();
    bench.run(&[&write(0x2248), &read(0x2248)]).unwrap();
    assert_eq!(bench.dword(DATA), 0);
    assert!(Bench::new().refused(&[&write(0x2248)]).contains("register 0x2248"));
}

#[test]
fn a_stall_needs_another_flush_stall_or_write() {
    let control = |flags: u32| [0x7a00_0004, 1 << 20 | flags, DATA as u32, 0, 1, 0];
    refused(&[&control(0)], "Command Streamer Stall Enable needs a flush, another stall or");
    refused(&[&control(1 << 10)], "Command Streamer Stall Enable needs a flush, another stall or");
    for company in [1 << 12, 1, 1 << 1, 1 << 13, 1 << 14, 1 << 5] {
        broadwell().run(&[&control(company)]).unwrap();
    }
    Bench::new().run(&[&control(0)]).unwrap();
}

#[test]
fn flushes_and_writes_in_gpgpu_mode_need_a_stall() {
    let control = |flags: u32| [0x7a00_0004, flags, DATA as u32, 0, 1, 0];
    for bit in [14, 8, 13, 12, 0, 5] {
        refused(&[&GPGPU, &control(1 << bit)], "needs Command Streamer Stall Enable in GPGPU mode");
        broadwell().run(&[&control(1 << bit)]).unwrap();
        broadwell().run(&[&GPGPU, &control(1 << bit | 1 << 20 | 1 << 1)]).unwrap();
        Bench::new().run(&[&super::GPGPU, &control(1 << bit)]).unwrap();
    }
    // The texture cache may be invalidated without, as it may not on Gen9.
    broadwell().run(&[&GPGPU, &control(1 << 10)]).unwrap();
    // State is invalidated after a stall, or with one, when threads may be running.
    let mut bench = broadwell();
    Descriptor::default().with(5, 0).with(6, 2).with(7, 0).write(&bench, 0);
    bench.run(&[&control(1 << 2), &GPGPU, &SHORT_BASES, &SLM, &VFE, &LOAD, &WALKER]).unwrap();
    let fault = bench.refused(&[&control(1 << 2)]);
    assert!(fault.contains("State Cache Invalidation Enable needs Command Streamer Stall"), "{fault}");
    bench.run(&[&control(1 << 2 | 1 << 20 | 1 << 1)]).unwrap();
    bench.run(&[&control(1 << 2)]).unwrap();
}

#[test]
fn the_timestamp_frequency_depends_on_the_device() {
    // MI_STORE_REGISTER_MEM of TIMESTAMP: both devices count from the same instant.
    let read = |device: &str| {
        let mut bench = Bench::on(device);
        let store = |register: u32, at: u32| [0x1200_0002, register, DATA as u32 + at, 0];
        bench.run(&[&store(0x2358, 0), &store(0x235c, 4)]).unwrap();
        bench.qword(DATA) as f64 / Device::named(device).unwrap().timestamp_frequency as f64
    };
    let (first, then, last) = (read("bdw"), read("bxt"), read("skl"));
    assert!(first <= then + 1e-6 && then <= last + 1e-6 && last - first < 60.0, "{first} {then} {last}");
}

#[test]
fn every_device_executes_the_common_commands() {
    for device in Device::all() {
        let mut bench = Bench::on(device.name());
        bench.run(&[&[0], &[END]]).unwrap();
        let has = |name: &str| {
            let command = COMMANDS.iter().find(|command| command.name == name).unwrap();
            command.is(device.generation, command.opcode)
        };
        assert!(has("GPGPU_WALKER") && has("MI_LOAD_REGISTER_IMM"), "{}", device.name());
    }
    let copy = COMMANDS.iter().find(|command| command.name == "MI_COPY_MEM_MEM").unwrap();
    assert!(!copy.is(Generation::Gen75, copy.opcode));
}
