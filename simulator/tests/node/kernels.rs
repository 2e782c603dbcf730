//! Kernels that run on the simulated GPU, assembled by hand.

use crate::setup::{HEAP, KERNEL, Launch, Machine, assemble, simulator};

/// SIMD8, 16 work-items in a group: writes each global id to its dword. `g1.0` is the address.
pub const WRITE_IDS: &str = "
    mov(8) g3<1>UD g2<8,8,1>UW                        { align1 1Q };
    shl(8) g4<1>UD g0.1<0,1,0>UD 4UD                  { align1 1Q };
    add(8) g3<1>UD g3<8,8,1>UD g4<8,8,1>UD            { align1 1Q };
    shl(8) g4<1>UD g3<8,8,1>UD 2UD                    { align1 1Q };
    mov(8) g5<1>UQ g4<8,8,1>UD                        { align1 1Q };
    add(8) g5<1>UQ g5<4,4,1>UQ g1<0,1,0>UQ            { align1 1Q };
    mov(8) g7<1>UD g3<8,8,1>UD                        { align1 1Q };
    send(8) null<1>UW g5<8,8,1>UD 0x06066eff
        dp data 1 MsgDesc: mlen 3 rlen 0              { align1 1Q };";

#[test]
fn global_ids_arrive_in_memory() {
    let machine = Machine::new(simulator());
    let groups = 1000;
    machine.run_kernel(&Launch { kernel: WRITE_IDS, threads: 2, groups, ..Launch::default() }).unwrap();
    assert_eq!(machine.error(), None);
    let expected: Vec<u32> = (0..16 * groups).collect();
    assert_eq!(machine.data.read(0, 16 * groups as usize), expected);
    assert_eq!(machine.data.read(64 * groups as usize, 16), [0; 16], "nothing behind");
    let [launch] = &machine.node.take_launches()[..] else { panic!("one launch") };
    assert_eq!(launch.groups, [1000, 1, 1]);
    assert_eq!(launch.sum.threads, 2000);
    assert_eq!(launch.sum.instructions, 2000 * 10);
    assert_eq!(launch.sum.messages, 2000 * 2);
    assert!(launch.sum.cycles >= launch.sum.instructions);
    assert!(machine.node.take_launches().is_empty());
}

#[test]
fn the_right_mask_disables_lanes() {
    let machine = Machine::new(simulator());
    let launch = Launch { kernel: WRITE_IDS, threads: 2, right_mask: 0x07, groups: 2, ..Launch::default() };
    machine.run_kernel(&launch).unwrap();
    let expected =
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0, 0, 0, 0, 0, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26];
    assert_eq!(machine.data.read(0, 27), expected);
    assert_eq!(machine.data.read(27 * 4, 5), [0; 5]);
}

#[test]
fn overwritten_code_is_decoded_again() {
    let machine = Machine::new(simulator());
    let launch = |kernel| Launch { kernel, threads: 2, groups: 1, ..Launch::default() };
    machine.run_kernel(&launch(WRITE_IDS)).unwrap();
    assert_eq!(machine.data.read(0, 4), [0, 1, 2, 3]);
    let doubled = WRITE_IDS.replace("mov(8) g7<1>UD g3<8,8,1>UD", "shl(8) g7<1>UD g3<8,8,1>UD 1UD");
    machine.run_kernel(&launch(&doubled)).unwrap();
    assert_eq!(machine.data.read(0, 4), [0, 2, 4, 6]);
}

/// The commands of a launch, others, and the same walker again.
fn twice(machine: &Machine, launch: &Launch<'_>, between: &[u32]) -> Vec<u32> {
    const WALKER_AND_BEHIND: usize = 15 + 2 + 6;
    let once = machine.launch(launch);
    [&once, between, &once[once.len() - WALKER_AND_BEHIND..]].concat()
}

#[test]
fn repeated_walkers_execute_their_launch_again() {
    for groups in [1, 3] {
        let machine = Machine::new(simulator());
        machine
            .run(&[&twice(&machine, &Launch { kernel: WRITE_IDS, groups, ..Launch::default() }, &[])])
            .unwrap();
        let launches = machine.node.take_launches();
        assert_eq!((launches.len(), launches[0].sum.threads), (2, groups.into()));
        assert_eq!(launches[0], launches[1]);
    }
}

#[test]
fn code_that_is_overwritten_between_equal_walkers_is_decoded_again() {
    let machine = Machine::new(simulator());
    let kernel = format!(
        "mov(8) g20<1>UD 5UD {{ align1 1Q }};{}",
        WRITE_IDS.replace("mov(8) g7<1>UD g3", "mov(8) g7<1>UD g20")
    );
    let code = assemble(&kernel);
    let low = u32::from_le_bytes(code[8..12].try_into().unwrap());
    let at = HEAP as u32 + KERNEL as u32 + 8;
    // PIPE_CONTROL with Write Immediate Data: the second half of the first instruction, with another
    // constant.
    let replace = [0x7a00_0004, 1 << 20 | 1 << 14, at, 0, low, 9];
    let launch = Launch { kernel: &kernel, ..Launch::default() };
    machine.run(&[&twice(&machine, &launch, &[])]).unwrap();
    assert_eq!(machine.data.read(0, 8), [5; 8]);
    machine.run(&[&twice(&machine, &launch, &replace)]).unwrap();
    assert_eq!(machine.data.read(0, 8), [9; 8]);
}

#[test]
fn long_kernels_are_decoded_to_their_end() {
    let machine = Machine::new(simulator());
    let mut kernel = String::from("mov(8) g20<1>UD 0UD { align1 1Q };");
    for _ in 0..20_000 {
        kernel.push_str("add(8) g20<1>UD g20<8,8,1>UD 1UD { align1 1Q };\n");
    }
    kernel += &WRITE_IDS.replace("mov(8) g7<1>UD g3", "mov(8) g7<1>UD g20");
    machine.run_kernel(&Launch { kernel: &kernel, threads: 2, ..Launch::default() }).unwrap();
    assert_eq!(machine.error(), None);
    assert_eq!(machine.data.read(0, 16), [20_000; 16]);
}

/// Work-items exchange their ids through shared local memory, across a barrier: item n gets what item
/// 15 - n wrote.
pub const REVERSE: &str = "
    mov(8) g3<1>UD g2<8,8,1>UW                        { align1 1Q };
    shl(8) g4<1>UD g3<8,8,1>UD 2UD                    { align1 1Q };
    mov(8) g5<1>UD g3<8,8,1>UD                        { align1 1Q };
    send(8) null<1>UW g4<8,8,1>UD 0x04026efe
        dp data 1 MsgDesc: mlen 2 rlen 0              { align1 1Q };
    mov(8) g6<1>UD 0UD                                { align1 WE_all 1Q };
    and(1) g6.2<1>UD g0.2<0,1,0>UD 0x8f000000UD       { align1 WE_all 1N };
    send(8) null<1>UW g6<8,8,1>UD 0x02000004
        gateway MsgDesc: mlen 1 rlen 0                { align1 WE_all 1Q };
    wait(1) n0<1>UD                                   { align1 WE_all 1N };
    add(8) g4<1>D -g4<8,8,1>D 60D                     { align1 1Q };
    send(8) g7<1>UW g4<8,8,1>UD 0x02106efe
        dp data 1 MsgDesc: mlen 1 rlen 1              { align1 1Q };
    shl(8) g4<1>UD g3<8,8,1>UD 2UD                    { align1 1Q };
    mov(8) g5<1>UQ g4<8,8,1>UD                        { align1 1Q };
    add(8) g5<1>UQ g5<4,4,1>UQ g1<0,1,0>UQ            { align1 1Q };
    send(8) null<1>UW g5<8,8,1>UD 0x06066eff
        dp data 1 MsgDesc: mlen 3 rlen 0              { align1 1Q };";

#[test]
fn work_items_share_local_memory() {
    let machine = Machine::new(simulator());
    machine.run_kernel(&Launch { kernel: REVERSE, threads: 2, slm_code: 1, ..Launch::default() }).unwrap();
    assert_eq!(machine.error(), None);
    let expected: Vec<u32> = (0..16).rev().collect();
    assert_eq!(machine.data.read(0, 16), expected);
}

#[test]
fn results_do_not_depend_on_the_number_of_host_threads() {
    use gencl_simulator::{Settings, Simulator};
    let result = |workers| {
        let settings = Settings { workers, ..Settings::default() };
        let machine = Machine::new(Simulator::with_settings("skl", settings).unwrap());
        machine
            .run_kernel(&Launch { kernel: WRITE_IDS, threads: 2, groups: 5000, ..Launch::default() })
            .unwrap();
        let sum = machine.node.take_launches().remove(0).sum;
        (machine.data.read(0, 80_000), sum)
    };
    let one = result(1);
    for workers in [2, 5] {
        assert!(result(workers) == one, "{workers} threads");
    }
}

#[test]
fn waiting_for_a_notification_that_never_comes_is_a_fault() {
    for register in ["n0.1", "n1", "n2"] {
        let machine = Machine::new(simulator());
        let kernel = &REVERSE.replace("wait(1) n0<1>", &format!("wait(1) {register}<1>"));
        machine.run_kernel(&Launch { kernel, threads: 2, slm_code: 1, ..Launch::default() }).unwrap();
        let error = machine.error().unwrap();
        assert!(error.contains("never reach"), "{error}");
    }
}
