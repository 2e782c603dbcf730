//! The differences of Gen7 and Gen7.5.

use super::launches::Descriptor;
use super::{Bench, DATA, HEAP};
use gencl_eu::device::Device;
use gencl_eu::dispatch::{HardwareThread, Scratch};

const GPGPU: [u32; 1] = [0x6904_0002];
/// STATE_BASE_ADDRESS: dynamic state and instructions at the heap, everything else at 0, no limits.
const BASES: [u32; 10] = [0x6101_0008, 1, 1, HEAP as u32 | 1, 1, HEAP as u32 | 1, 1, 1, 1, 1];
/// MEDIA_VFE_STATE: GPGPU mode, 64 threads, 64 registers of CURBE.
const VFE: [u32; 8] = [0x7000_0006, 0, 63 << 16 | 1 << 2, 0, 64, 0, 0, 0];
/// MEDIA_CURBE_LOAD of 16 registers.
const CURBE: [u32; 4] = [0x7001_0002, 0, 512, 0x400];
/// MEDIA_INTERFACE_DESCRIPTOR_LOAD of one descriptor at the start of the heap.
const LOAD: [u32; 4] = [0x7002_0002, 0, 32, 0];
/// MI_LOAD_REGISTER_IMM of L3CNTLREG2 with SLM Enable.
const SLM: [u32; 3] = [0x1100_0001, 0xb020, 0x0204_00a1];
/// GPGPU_WALKER: descriptor 0, SIMD16, 2 threads in a row, groups 1..4 x 0..2 x 3..5, right mask 0xff.
const WALKER: [u32; 11] = [0x7105_0009, 0, 1 << 30 | 1, 1, 4, 0, 2, 3, 5, 0xff, u32::MAX];

/// Two threads, barrier, 8 KiB of shared local memory, one register of constants for each thread.
fn descriptor() -> Descriptor {
    Descriptor([0x1000, 0, 0, 0x40, 1 << 16, 1 << 21 | 2 << 16 | 2, 0, 0])
}

fn with<const N: usize>(mut dwords: [u32; N], index: usize, value: u32) -> [u32; N] {
    dwords[index] = value;
    dwords
}

/// A device with a descriptor and constants in its heap.
fn bench(device: &str, descriptor: &Descriptor) -> Bench {
    let bench = Bench::on(device);
    descriptor.write(&bench, 0);
    bench.write(HEAP + 0x400, &(0..128).collect::<Vec<_>>());
    bench
}

#[track_caller]
fn refused(device: &str, commands: &[&[u32]], text: &str) {
    let fault = bench(device, &descriptor()).refused(commands);
    assert!(fault.contains(text), "{fault:?} does not say {text:?}");
}

/// The constants of thread 1 as dwords: what follows its header.
fn constants(bench: &Bench) -> Vec<u32> {
    let launch = bench.launches().remove(0);
    let mut registers = vec![0; launch.payload_registers() * 32];
    launch.write_payload([0; 3], 1, 0, &mut registers);
    registers[32..].chunks_exact(4).map(|d| u32::from_le_bytes([d[0], d[1], d[2], d[3]])).collect()
}

#[test]
fn the_launch_matches_the_state() {
    for device in ["ivb", "byt", "hsw"] {
        let mut bench = bench(device, &descriptor());
        let vfe = if device == "byt" { with(VFE, 2, 31 << 16 | 1 << 2) } else { VFE };
        bench.run(&[&GPGPU, &BASES, &SLM, &vfe, &CURBE, &LOAD, &WALKER]).unwrap();
        let launch = &bench.launches()[0];
        assert_eq!(launch.kernel, HEAP + 0x1000);
        assert_eq!((launch.simd_width, launch.threads), (16, [2, 1, 1]));
        assert_eq!((launch.first_group, launch.end_group), ([1, 0, 3], [4, 2, 5]));
        assert_eq!([launch.dispatch_mask(0), launch.dispatch_mask(1)], [0xffff, 0xff]);
        assert_eq!((launch.slm_size, launch.barrier), (8192, true));
        assert_eq!((launch.binding_table, launch.scratch), (0x40, None));
        assert_eq!((launch.bases.dynamic, launch.bases.general), (HEAP, 0));
    }
}

#[test]
fn ivy_bridge_has_per_thread_constants_only() {
    let run = |device, dwords: &[(usize, u32)]| {
        let descriptor = dwords.iter().fold(descriptor(), |d, (index, value)| d.with(*index, *value));
        let mut bench = bench(device, &descriptor);
        bench
            .run(&[&GPGPU, &BASES, &SLM, &VFE, &CURBE, &LOAD, &WALKER])
            .map_err(|fault| fault.to_string())?;
        Ok(constants(&bench))
    };
    let numbers = |first: u32, last: u32| Ok::<Vec<u32>, String>((first..last).collect());
    assert_eq!(run("ivb", &[]), numbers(8, 16));
    // From register 3 on, two for each thread.
    assert_eq!(run("ivb", &[(4, 2 << 16 | 3)]), numbers(40, 56));
    let fault = run("ivb", &[(6, 1)]).unwrap_err();
    assert!(fault.contains("reserved bits of dword 6"), "{fault}");
    // Haswell: one register for all, one for each.
    let both = [(0..8).collect::<Vec<u32>>(), (16..24).collect()].concat();
    assert_eq!(run("hsw", &[(6, 1)]), Ok(both));
    let fault = run("hsw", &[(4, 1 << 16 | 3)]).unwrap_err();
    assert!(fault.contains("reserved bits of dword 4"), "{fault}");
}

#[test]
fn constants_have_limits() {
    for (device, most) in [("byt", 992), ("ivb", 2016), ("hsw", 2016)] {
        let vfe = |size| {
            if device == "byt" { with(with(VFE, 2, 31 << 16 | 1 << 2), 4, size) } else { with(VFE, 4, size) }
        };
        bench(device, &descriptor()).run(&[&GPGPU, &vfe(most)]).unwrap();
        refused(device, &[&GPGPU, &vfe(most + 1)], &format!("the device has {most}"));
    }
    let fault = bench("ivb", &descriptor().with(4, 64 << 16))
        .refused(&[&GPGPU, &BASES, &SLM, &VFE, &CURBE, &LOAD, &WALKER]);
    assert!(fault.contains("Constant URB Entry Read Length is 64"), "{fault}");
}

#[test]
fn a_walker_needs_gpgpu_mode() {
    let vfe = with(VFE, 2, 63 << 16);
    refused("hsw", &[&GPGPU, &BASES, &SLM, &vfe, &LOAD, &WALKER], "without GPGPU Mode of MEDIA_VFE_STATE");
    refused("hsw", &[&with(VFE, 3, 1)], "Half-Slice Disable");
    refused("ivb", &[&with(VFE, 3, 1)], "MEDIA_VFE_STATE: reserved bit 0 of dword 3");
}

#[test]
fn shared_local_memory_needs_slm_enable() {
    refused("hsw", &[&GPGPU, &BASES, &VFE, &CURBE, &LOAD, &WALKER], "SLM Enable of L3CNTLREG (0xb020)");
    refused("hsw", &[&[0x1100_0001, 0x7034, 1]], "register 0x7034");
    for device in ["ivb", "hsw"] {
        for register in [0xb010, 0xb024] {
            Bench::on(device).run(&[&[0x1100_0001, register, 0x61_0000]]).unwrap();
        }
    }
    // Atomics in the L3 cache are Haswell's, and its kernel's command parser lets them be allowed.
    for register in [0xb038, 0xe49c] {
        Bench::on("hsw").run(&[&[0x1100_0001, register, 0]]).unwrap();
        refused("ivb", &[&[0x1100_0001, register, 0]], "not simulated: register");
    }
}

#[test]
fn state_is_limited_by_upper_bounds() {
    let bases = |dynamic, instructions| with(with(BASES, 7, dynamic | 1), 9, instructions | 1);
    let run = |bases: [u32; 10]| {
        bench("hsw", &descriptor())
            .run(&[&GPGPU, &bases, &SLM, &VFE, &CURBE, &LOAD, &WALKER])
            .map_err(|fault| fault.to_string())
    };
    let heap = HEAP as u32;
    run(bases(heap + 0x1000, heap + 0x2000)).unwrap();
    let fault = run(bases(heap, 0)).unwrap_err();
    assert!(fault.contains("MEDIA_CURBE_LOAD: 0x600 is beyond the limit of dynamic state"), "{fault}");
    let fault = run(bases(0, heap + 0x1000)).unwrap_err();
    assert!(fault.contains("Kernel Start Pointer 0x1000 is beyond the limit of instructions"), "{fault}");
}

#[test]
fn scratch_codes_depend_on_the_generation() {
    let scratch = |device, code: u32, threads: u32| {
        let mut bench = bench(device, &descriptor());
        let vfe = with(with(VFE, 1, DATA as u32 | code), 2, (threads - 1) << 16 | 1 << 2);
        bench
            .run(&[&GPGPU, &BASES, &SLM, &vfe, &CURBE, &LOAD, &WALKER])
            .map_err(|fault| fault.to_string())?;
        Ok::<_, String>(bench.launches()[0].scratch)
    };
    let of = |per_thread, code, slots| Ok(Some(Scratch { base: DATA, per_thread, code, slots }));
    assert_eq!(scratch("ivb", 0, 64), of(1024, 0, 64));
    assert_eq!(scratch("ivb", 2, 20), of(3072, 2, 20));
    for (device, code) in [("ivb", 12), ("hsw", 11)] {
        let fault = scratch(device, code, 8).unwrap_err();
        assert!(fault.contains(&format!("Per Thread Scratch Space {code} is reserved")), "{fault}");
    }
    // Of the 64 KiB of data no thread of Haswell's 256 numbers gets 2 KiB.
    let fault = scratch("hsw", 0, 8).unwrap_err();
    assert!(fault.contains("page fault: write at 0x90000"), "{fault}");
}

#[test]
fn thread_numbers_have_gaps_on_haswell() {
    let number = |device: &str, slot| HardwareThread::number(Device::named(device).unwrap(), slot);
    assert_eq!([0, 5, 127].map(|slot| number("ivb", slot)), [0, 5, 127]);
    // Thread 0 of each EU, then thread 1; the second subslice has those from 128 on.
    assert_eq!([0, 1, 9, 10, 69, 70].map(|slot| number("hsw", slot)), [0, 8, 72, 1, 78, 128]);
}

#[test]
fn every_fourth_pipe_control_stalls_on_ivy_bridge() {
    let control = |flags: u32| [0x7a00_0003, flags, 0, 0, 0];
    let (flush, stall, invalidate) = (control(1 << 12), control(1 << 20 | 1 << 1), control(1 << 10 | 1 << 3));
    let text = "the fourth in a row without Command Streamer Stall Enable";
    refused("ivb", &[&flush, &flush, &flush, &flush], text);
    Bench::on("ivb").run(&[&flush, &flush, &flush, &stall, &flush, &flush, &flush]).unwrap();
    Bench::on("ivb").run(&[&flush, &flush, &flush, &invalidate, &invalidate]).unwrap();
    Bench::on("hsw").run(&[&flush, &flush, &flush, &flush, &flush]).unwrap();
    // The count starts at 0 in each batch.
    let mut bench = Bench::on("ivb");
    bench.run(&[&flush, &flush, &flush]).unwrap();
    bench.run(&[&flush]).unwrap();
}

#[test]
fn pipe_control_rules_depend_on_the_generation() {
    let data = DATA as u32;
    let control = |flags: u32| [0x7a00_0003, flags, data, 1, 0];
    let (stall, write) = (1 << 20 | 1 << 1, 1 << 14);
    refused("hsw", &[&control(1 << 18 | stall)], "TLB Invalidate needs a Post Sync Operation");
    Bench::on("hsw").run(&[&control(1 << 18 | stall | write)]).unwrap();
    refused("ivb", &[&control(1 << 13 | 1 << 12)], "Depth Stall Enable must not come with a flush");
    Bench::on("hsw").run(&[&control(1 << 13 | 1 << 12)]).unwrap();
    refused("ivb", &[&control(1 << 20)], "Command Streamer Stall Enable needs a flush, another stall or");
}

#[test]
fn the_l3_cache_is_partitioned_only_when_no_thread_runs() {
    let mut bench = bench("hsw", &descriptor());
    bench.run(&[&GPGPU, &BASES, &SLM, &VFE, &CURBE, &LOAD, &WALKER]).unwrap();
    let fault = bench.refused(&[&SLM]);
    assert!(
        fault.contains("L3CNTLREG2 is written while threads of a GPGPU_WALKER may be running"),
        "{fault}"
    );
    bench.run(&[&[0x7a00_0003, 1 << 20 | 1 << 5, 0, 0, 0], &SLM]).unwrap();
}

#[test]
fn addresses_have_32_bits() {
    let data = DATA as u32;
    let mut bench = Bench::on("ivb");
    bench.write(super::BATCH + 0x100, &[super::END]);
    bench
        .run(&[
            // MI_STORE_DATA_IMM of a dword and a qword.
            &[0x1000_0002, 0, data + 4, 7],
            &[0x1000_0003, 0, data + 8, 8, 9],
            // MI_LOAD_REGISTER_MEM and MI_STORE_REGISTER_MEM of 3DPRIM_START_VERTEX.
            &[0x1480_0001, 0x2430, data + 4],
            &[0x1200_0001, 0x2430, data],
            // PIPE_CONTROL with an immediate.
            &[0x7a00_0003, 1 << 14 | 1 << 20, data + 16, 5, 6],
            // MI_BATCH_BUFFER_START
            &[0x1880_0100, super::BATCH as u32 + 0x100],
        ])
        .unwrap();
    let stored: Vec<u32> = (0..6).map(|i| bench.dword(DATA + 4 * i)).collect();
    assert_eq!(stored, [7, 7, 8, 9, 5, 6]);
    refused("ivb", &[&[0x1500_0001, 0x2430, 0x2434]], "unknown command");
    Bench::on("hsw").run(&[&[0x1500_0001, 0x2430, 0x2434]]).unwrap();
}
