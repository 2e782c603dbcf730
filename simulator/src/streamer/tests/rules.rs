//! Each rule with a batch that violates it, and a similar one that is accepted.

use super::{BASES, BATCH, Bench, DATA, GPGPU, SLM, STALL, STATE_FLUSH, VFE};

/// Runs commands whose fault must contain a text.
#[track_caller]
fn refused(commands: &[&[u32]], text: &str) {
    let fault = Bench::new().refused(commands);
    assert!(fault.contains(text), "{fault:?} does not say {text:?}");
}

#[track_caller]
fn accepted(commands: &[&[u32]]) {
    Bench::new().run(commands).unwrap();
}

#[test]
fn unknown_and_unsimulated_commands_are_reported_with_name_and_address() {
    refused(&[&[0x3f80_0000]], "unknown command 0x3f800000");
    refused(&[&[0x7b00_0005, 0, 0, 0, 0, 0, 0]], "not simulated: command 3DPRIMITIVE, of drawing");
    // The first command of what rusticl copies or clears.
    refused(
        &[&[0x7808_0003, 0, 0, 0, 0]],
        "not simulated: command 3DSTATE_VERTEX_BUFFERS, of drawing: only compute is",
    );
    refused(
        &[&[0], &[0x1780_0001, 0, 0]],
        "not simulated: command MI_ATOMIC\nbatch offset 0x4; address 0x10004",
    );
    refused(&[&[0x54c0_0008]], "not simulated: command XY_SRC_COPY_BLT");
}

#[test]
fn lengths_are_checked() {
    refused(&[&[0x7a00_0003, 0, 0, 0, 0, 0]], "PIPE_CONTROL: its DWord Length gives 5 dwords");
    refused(&[&[0x1100_0002, 0x2600, 0, 0x2604]], "MI_LOAD_REGISTER_IMM: its DWord Length gives 4 dwords");
    refused(&[&[0x1000_0003, DATA as u32, 0, 1, 2]], "Store Qword and DWord Length disagree");
}

#[test]
fn reserved_bits_are_checked() {
    refused(&[&[0x0500_0001]], "MI_BATCH_BUFFER_END: reserved bit 0 of dword 0 is set");
    refused(&[&[0x1000_0002, DATA as u32, 0x1_0000, 1]], "MI_STORE_DATA_IMM: reserved bit 16 of dword 2");
    refused(&[&[0x1100_0003, 0x2600, 0, 0x2602, 0]], "MI_LOAD_REGISTER_IMM: reserved bit 1 of dword 3");
    refused(&[&[0x7000_0007, 0, 0, 0, 4, 0, 0, 0, 0]], "MEDIA_VFE_STATE: reserved bit 2 of dword 4");
}

#[test]
fn unknown_registers_are_reported() {
    refused(&[&[0x1100_0001, 0x2000, 0]], "not simulated: register 0x2000");
    refused(&[&[0x1100_0001, 0x2358, 0]], "register TIMESTAMP (0x2358) is read only");
    refused(&[&[0x1200_0002, 0x9998, DATA as u32, 0]], "register 0x9998");
}

#[test]
fn the_global_gtt_is_not_accessible() {
    let text = "the global GTT is not accessible";
    refused(&[&[0x1040_0002, DATA as u32, 0, 1]], text);
    refused(&[&[0x1880_0001, BATCH as u32, 0]], text);
    refused(&[&[0x7a00_0004, 1 << 24 | 1 << 14, DATA as u32, 0, 0, 0]], text);
}

#[test]
fn pipe_control_rules() {
    let control = |flags: u32| [0x7a00_0004, flags, DATA as u32, 0, 1, 0];
    let (stall, write, timestamp) = (1 << 20, 1 << 14, 3 << 14);
    for (bit, name) in
        [(18, "TLB Invalidate"), (16, "Generic Media State Clear"), (9, "Indirect State Pointers")]
    {
        refused(&[&control(1 << bit)], name);
        accepted(&[&control(1 << bit | stall)]);
    }
    refused(&[&control(1 << 19 | stall)], "Global Snapshot Count Reset");
    refused(&[&control(1 << 26 | timestamp)], "Flush LLC");
    accepted(&[&control(1 << 26 | write)]);
    refused(&[&control(1 << 4)], "VF Cache Invalidation Enable");
    accepted(&[&control(1 << 4 | write)]);
    // Only for GPGPU.
    accepted(&[&control(1 << 10)]);
    refused(&[&GPGPU, &control(1 << 10)], "Texture Cache Invalidation Enable needs Command Streamer Stall");
    accepted(&[&GPGPU, &control(1 << 10 | stall)]);
    refused(&[&[0x7a00_0004, write, DATA as u32 + 4, 0, 1, 0]], "unaligned");
    refused(&[&control(2 << 14)], "Write PS Depth Count");
    refused(&[&control(1 << 23)], "LRI Post Sync Operation");
    refused(&[&control(1 << 21 | write)], "status page");
}

#[test]
fn pipeline_select_needs_its_mask_bits() {
    refused(&[&[0x6904_0002]], "PIPELINE_SELECT: Mask Bits 0x0");
    refused(&[&[0x6904_0303]], "Pipeline Selection 3 is reserved");
}

#[test]
fn media_state_rules() {
    refused(&[&[0x7001_0002, 0, 64, 0]], "MEDIA_CURBE_LOAD without MEDIA_VFE_STATE");
    let with = |index: usize, value: u32| {
        let mut vfe = VFE;
        vfe[index] = value;
        vfe
    };
    refused(&[&with(3, 168 << 16 | 2 << 8)], "Maximum Number of Threads is 169, the device has 168");
    refused(&[&with(3, 167 << 16)], "no URB entries");
    refused(&[&with(1, 12)], "Per Thread Scratch Space 12");
    refused(&[&with(1, 3 << 4 | 2)], "Stack Size 3 is more than Per Thread Scratch Space 2");
    accepted(&[&with(1, 2 << 4 | 2)]);
    refused(&[&with(6, 1 << 31)], "the scoreboard");
    accepted(&[&BASES, &VFE, &[0x7001_0002, 0, 2048, 0]]);
    refused(&[&BASES, &VFE, &[0x7001_0002, 0, 2080, 0]], "2080 bytes are more than");
    refused(&[&BASES, &VFE, &[0x7001_0002, 0, 48, 0]], "48 is not a multiple of 32");
    refused(&[&BASES, &VFE, &[0x7001_0002, 0, 64, 32]], "0x20 is not a multiple of 64");
    refused(&[&BASES, &VFE, &[0x7001_0002, 0, 64, 0x10_0000]], "page fault: read at 0x200000");
    refused(&[&BASES, &[0x7002_0002, 0, 0, 0]], "Interface Descriptor Total Length 0");
    refused(&[&BASES, &[0x7002_0002, 0, 33, 0]], "Interface Descriptor Total Length 33");
    // A buffer size of one page.
    let mut small = BASES;
    small[13] = 0x1001;
    accepted(&[&small, &[0x7002_0002, 0, 64, 0xfc0]]);
    refused(&[&small, &[0x7002_0002, 0, 64, 0x1000]], "beyond the limit of dynamic state");
}

#[test]
fn state_changes_need_a_stall_after_a_walker() {
    let descriptor = super::launches::Descriptor::default();
    let walker = super::launches::WALKER;
    let load = [0x7002_0002, 0, 32, 0];
    let start: [&[u32]; 7] = [&GPGPU, &BASES, &SLM, &VFE, &load, &walker, &[0]];
    for (command, name) in
        [(&VFE[..], "MEDIA_VFE_STATE"), (&BASES, "STATE_BASE_ADDRESS"), (&GPGPU, "PIPELINE_SELECT")]
    {
        let mut bench = Bench::new();
        descriptor.write(&bench, 0);
        let fault = bench.refused(&[&start[..], &[command]].concat());
        assert!(fault.contains(&format!("{name} needs a PIPE_CONTROL")), "{fault}");
        // A stall after the state change is too late, one before it is right.
        bench.state = Default::default();
        bench.run(&[&start[..], &[&STALL, command]].concat()).unwrap();
    }
    let mut bench = Bench::new();
    descriptor.write(&bench, 0);
    let fault = bench.refused(&[&start[..], &[&load]].concat());
    assert!(fault.contains("MEDIA_INTERFACE_DESCRIPTOR_LOAD needs a MEDIA_STATE_FLUSH"), "{fault}");
    bench.state = Default::default();
    bench.run(&[&start[..], &[&STATE_FLUSH, &load]].concat()).unwrap();
    let fault = bench.refused(&[&[0x7a00_0004, 1 << 14, DATA as u32, 0, 1, 0]]);
    assert!(
        fault.contains("Post Sync Operation needs Command Streamer Stall Enable, in this command"),
        "{fault}"
    );
}

#[test]
fn rules_apply_in_strict_mode_only() {
    let mut bench = Bench::new();
    bench.gpu.settings.strict = false;
    bench.run(&[&GPGPU, &[0x7a00_0004, 1 << 10 | 1 << 18, 0, 0, 0, 0]]).unwrap();
}
