//! Random requests and random kernels: no panic, no endless loop in the simulator.

use gencl_i915::{
    ContextId, Engine, ExecBuffer, ExecFlags, ExecObject, GemHandle, ObjectFlags, Relocation, RenderNode,
};
use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop_oneof, proptest};

use crate::kernels::WRITE_IDS;
use crate::setup::{Launch, Machine, assemble, simulator, with_short_hang_limit};

fn relocation() -> impl Strategy<Value = Relocation> {
    let offset = prop_oneof![4 => (0..1024u64).prop_map(|n| 4 * n), 1 => any::<u64>()];
    (0..5u32, any::<u32>(), offset, any::<u64>(), 0..0x80u32, 0..0x80u32).prop_map(
        |(target, delta, offset, presumed_offset, read_domains, write_domain)| Relocation {
            target,
            delta,
            offset,
            presumed_offset,
            read_domains,
            write_domain,
        },
    )
}

fn object() -> impl Strategy<Value = ExecObject> {
    let offset = prop_oneof![4 => (0..16u64).prop_map(|page| page << 12), 1 => any::<u64>()];
    let alignment = prop_oneof![4 => Just(0), 2 => (0..64u32).prop_map(|bit| 1 << bit), 1 => any::<u64>()];
    let flags = prop_oneof![8 => 0..0x100u64, 1 => any::<u64>()];
    let relocations = proptest::collection::vec(relocation(), 0..3);
    (0..5u32, offset, alignment, flags, relocations).prop_map(
        |(handle, offset, alignment, flags, relocations)| {
            let flags = ObjectFlags::from_bits_retain(flags);
            ExecObject { handle: GemHandle(handle), offset, alignment, flags, pad_to_size: 0, relocations }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn requests(
        mut objects in proptest::collection::vec(object(), 0..5),
        context in 0..3u32,
        flags in prop_oneof![4 => Just(0u64), 2 => Just(1 << 12), 2 => Just(1 << 18), 1 => any::<u64>()],
        batch_start in prop_oneof![4 => Just(0u32), 1 => 0..8200u32, 1 => any::<u32>()],
        batch_length in prop_oneof![4 => Just(0u32), 1 => 0..8200u32, 1 => any::<u32>()],
        blit: bool,
        awaited: bool,
    ) {
        let node = with_short_hang_limit();
        for _ in 0..3 {
            node.gem_create(8192).unwrap();
        }
        node.context_create().unwrap();
        let engine = if blit { Engine::Blit } else { Engine::Render };
        let flags = ExecFlags::from_bits_retain(flags);
        let context = ContextId(context);
        let objects = &mut objects;
        let mut exec =
            ExecBuffer { context, engine, flags, objects, batch_start, batch_length, awaited };
        if node.exec_buffer(&mut exec).is_ok() {
            for handle in 1..4 {
                node.gem_wait(GemHandle(handle), -1).unwrap();
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    /// A valid kernel with flipped bits.
    #[test]
    fn kernels(flips in proptest::collection::vec((0..160usize, 0..8u32), 1..6)) {
        let machine = Machine::new(with_short_hang_limit());
        let commands = machine.launch(&Launch { kernel: WRITE_IDS, threads: 2, groups: 3, ..Launch::default() });
        let mut code = assemble(WRITE_IDS);
        for (byte, bit) in flips {
            code[byte] ^= 1 << bit;
        }
        machine.heap.write_bytes(0x4000, &code);
        machine.run(&[&commands]).unwrap();
        if let Some(error) = machine.error() {
            assert!(!error.contains("internal error"), "{error}");
        }
    }
}

#[test]
fn a_simulator_without_work_can_be_dropped() {
    drop(simulator());
}
