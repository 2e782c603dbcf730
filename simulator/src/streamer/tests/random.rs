//! Random batches: any result is fine, but no panic and no endless loop.

use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop_oneof, proptest};

use super::launches::{Descriptor, WALKER};
use super::{BASES, Bench, DATA, GPGPU, SLM, STALL, STATE_FLUSH, VFE};

/// A random dword, likely the right one.
fn dword(right: u32) -> impl Strategy<Value = u32> {
    prop_oneof![
        12 => Just(right),
        1 => any::<u32>(),
        1 => (0..32u32).prop_map(move |bit| right ^ 1 << bit),
        1 => Just(DATA as u32),
    ]
}

/// A right command, some of whose dwords may have been changed.
fn command() -> impl Strategy<Value = Vec<u32>> {
    let data = DATA as u32;
    let right: Vec<Vec<u32>> = vec![
        vec![0],
        GPGPU.to_vec(),
        BASES.to_vec(),
        SLM.to_vec(),
        VFE.to_vec(),
        STALL.to_vec(),
        STATE_FLUSH.to_vec(),
        WALKER.to_vec(),
        vec![0x7001_0002, 0, 512, 0x400],
        vec![0x7002_0002, 0, 32, 0],
        vec![0x1000_0002, data, 0, 1],
        vec![0x1020_0003, data, 0, 1, 2],
        vec![0x1100_0003, 0x2600, 1, 0x2604, 2],
        vec![0x1480_0002, 0x2610, data, 0],
        vec![0x1200_0002, 0x2358, data, 0],
        vec![0x1500_0001, 0x2608, 0x2618],
        vec![0x1700_0003, data, 0, data + 4, 0],
        vec![0x0d00_0002, 0x0800_8000, 0x1000_0000, 0x1800_0831],
        vec![0x0600_0082],
        vec![0x0e00_8002, 0, data, 0],
        vec![0x18c0_0101, data, 0],
    ];
    proptest::sample::select(right).prop_flat_map(|dwords| dwords.into_iter().map(dword).collect::<Vec<_>>())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn changed_commands(commands in proptest::collection::vec(command(), 0..24), strict: bool) {
        let mut bench = Bench::new();
        bench.gpu.settings.strict = strict;
        // Endless loops have to be cancelled, as on hardware.
        bench.running.cancel.set();
        Descriptor::default().write(&bench, 0);
        let commands: Vec<&[u32]> = commands.iter().map(Vec::as_slice).collect();
        let _ = bench.run(&commands);
    }

    #[test]
    fn random_dwords(dwords in proptest::collection::vec(any::<u32>(), 0..64)) {
        let mut bench = Bench::new();
        bench.running.cancel.set();
        let _ = bench.run(&[&dwords]);
    }
}
