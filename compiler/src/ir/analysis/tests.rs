//! Tests of the analyses against their definitions, by search on random kernels.

use super::cfg::Cfg;
use super::liveness::Liveness;
use super::parking::Parking;
use super::uniformity::uniform_registers;
use super::values::Values;
use crate::ir::passes::{arrange_blocks, lower_returns};
use crate::ir::random::random_kernel;
use crate::ir::text::parse_function;
use crate::ir::{BlockId, Function, Reg};
use proptest::prelude::*;

/// Blocks that are reached.
fn reached(cfg: &Cfg) -> Vec<BlockId> {
    let mut found = Vec::new();
    let mut work = vec![cfg.entry()];
    while let Some(block) = work.pop() {
        if !found.contains(&block) {
            found.push(block);
            work.extend(cfg.successors(block));
        }
    }
    found
}

/// Whether there is a path from the start of `block` to a read of `reg` without a write before it.
fn may_be_read(function: &Function, cfg: &Cfg, block: BlockId, reg: Reg) -> bool {
    let mut seen = Vec::new();
    let mut work = vec![block];
    'blocks: while let Some(block) = work.pop() {
        if seen.contains(&block) {
            continue;
        }
        seen.push(block);
        for instruction in &function.block(block).instructions {
            if instruction.reads().any(|r| r == reg) {
                return true;
            }
            if instruction.dsts.contains(&reg) {
                continue 'blocks;
            }
        }
        work.extend(cfg.successors(block));
    }
    false
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn alive_is_what_may_be_read(blocks in 1usize..8, choices in proptest::collection::vec(0u32..1000, 100)) {
        let function = random_kernel(blocks, &choices);
        let cfg = function.cfg();
        let liveness = Liveness::new(&function, &cfg);
        for &block in &function.layout {
            for index in 0..function.registers.len() {
                let reg = Reg(index as u32);
                prop_assert_eq!(
                    liveness.is_live_in(block, reg),
                    may_be_read(&function, &cfg, block, reg),
                    "{:?} {:?}", block, reg
                );
                let after = cfg.successors(block).iter().any(|&s| liveness.is_live_in(s, reg));
                prop_assert_eq!(liveness.is_live_out(block, reg), after);
            }
        }
    }

    #[test]
    fn orders_and_chains(blocks in 1usize..12, choices in proptest::collection::vec(0u32..1000, 100)) {
        let mut function = random_kernel(blocks, &choices);
        let cfg = function.cfg();
        let mut order = cfg.reverse_post_order();
        prop_assert_eq!(order[0], cfg.entry());
        order.sort_unstable();
        let mut all = reached(&cfg);
        all.sort_unstable();
        prop_assert_eq!(order, all);
        let values = Values::new(&function);
        for index in 0..function.registers.len() {
            let reg = Reg(index as u32);
            for place in values.writes(reg) {
                prop_assert!(place.instruction(&function).dsts.contains(&reg));
            }
            for place in values.reads(reg) {
                prop_assert!(place.instruction(&function).reads().any(|r| r == reg));
            }
            let writes = function.instructions().filter(|i| i.dsts.contains(&reg)).count();
            let reads: usize = function.instructions().map(|i| i.reads().filter(|&r| r == reg).count()).sum();
            prop_assert_eq!((values.writes(reg).len(), values.reads(reg).len()), (writes, reads));
        }
        // The layout keeps every block that is reached, the first at the beginning, the return block at the
        // end.
        lower_returns(&mut function);
        let before = reached(&function.cfg()).len();
        arrange_blocks(&mut function);
        let cfg = function.cfg();
        prop_assert!(function.layout.len() >= before);
        prop_assert!(cfg.predecessors(function.entry()).is_empty());
        let last = function.layout[function.layout.len() - 1];
        prop_assert!(cfg.successors(last).is_empty());
    }
}

/// A diamond in a loop: in the sides, lanes may be parked at the other side and after the loop; at the join
/// only after it.
#[test]
fn parking_in_a_loop() {
    let text = r#"kernel "parking" per_lane
        register word %0
        register dword %1 %2 %3
        register bool %4 %5 %6
        @0:
            %0 = input.local_id 0
            %1 = convert.u32.u16 %0
            %2 = immediate.u32 0
            %3 = immediate.u32 1
            jump @1
        @1:
            %2 = add.u32 %2, %3
            %4 = compare.less.u32 %2, %1
            branch %4, @2, @3
        @2:
            jump @4
        @3:
            jump @4
        @4:
            %5 = compare.equal.u32 %2, %1
            branch %5, @5, @1
        @5:
            %6 = compare.equal.u32 %3, %3
            branch %6, @6, @7
        @6:
            jump @7
        @7:
            return
        end"#;
    let mut function = parse_function(text).expect("it is Gen IR");
    let parked = |function: &Function| {
        let parking = Parking::new(function, &function.cfg());
        (0..8).map(|b| parking.parked(BlockId(b)).map(|b| b.0).collect()).collect::<Vec<Vec<u32>>>()
    };
    // Nothing is known to be uniform: lanes may part at @5 as well.
    assert_eq!(
        parked(&function),
        [vec![], vec![5], vec![3, 5], vec![4, 5], vec![5], vec![], vec![7], vec![]]
    );
    for reg in uniform_registers(&function).ones() {
        function.registers[reg].uniform = true;
    }
    // The counter is uniform as it is not read after the loop; the condition of @5 is; the loop's are not.
    let uniform: Vec<bool> = function.registers.iter().map(|r| r.uniform).collect();
    assert_eq!(uniform, [false, false, true, true, false, false, true]);
    assert_eq!(parked(&function)[6], Vec::<u32>::new());
}
