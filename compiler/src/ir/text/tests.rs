//! Round trips, and texts that are wrong.

use super::{parse, parse_function, print};
use crate::ir::passes::{ControlFlow, Unobserved, standard};
use crate::ir::random::random_kernel;
use crate::ir::signature::{Operands, check_attributes};
use crate::ir::{
    AtomicOp, BinaryOp, BlockId, Condition, CrossLane, Family, Form, Function, GroupOp, ImageAccess, ImageOp,
    Input, Instruction, Op, Predicate, Reg, RegisterInfo, Rounding, Space, TernaryOp, Type, UnaryOp, Unit,
    Vote,
};
use gencl_program::{Data, DataSection, ImageProperty, PushSource, Relocation, SamplerSource};
use proptest::prelude::*;

const SAMPLE: &str = r#"constants 00010203ff
kernel "scale \"x\"; y" linear
    private_size 16
    local_size 64
    meta required_work_group_size [8,1,1]
    meta simd_width 16
    register dword %0 %1
    register uniform qword %2
    register bool %3
    register word %4
@0:
    %2 = input.push.pointer 0
    %0 = immediate.f32 0x3f800000 ; 1.0
    %1 = immediate.s32 -5
    %4 = input.lane_id
    %3 = compare.less_equal.u16 %4, %4
    (!%3) %0, %1 = load.global.f32.align4 %2
    (%3) store.global.f32.align4 %2, %0, %1
    %1 = convert.s32.f32.rtz.sat %0
    %1 = atomic.cmp_xchg.global.u32 %2, %0, %1
    barrier.local.global
    fence
    vote.none %3, @5, @2
@2:
    %0, %1 = undefined
    jump @5
@5:
    return
end
"#;

#[test]
fn text_is_kept() {
    let unit = parse(SAMPLE).expect("it is Gen IR");
    assert_eq!(print(&unit), SAMPLE);
    assert_eq!(unit.functions[0].kernel.simd_width, 16);
    assert_eq!(unit.functions[0].blocks.len(), 6);
    assert_eq!(unit.data.constants, [0, 1, 2, 3, 255]);
}

#[test]
fn wrong_lines_are_named() {
    let cases = [
        ("kernel scale per_lane", 1, "in quotes"),
        ("kernel \"a\" both", 1, "the form is"),
        ("kernel \"a\" per_lane\n", 1, "no `end`"),
        ("kernel \"a\" per_lane\nregister dword %1\nend", 3, "%0 is declared"),
        ("kernel \"a\" per_lane\n@0:\n%0 = addd.u32 %1, %2\nend", 3, "`addd` is not an operation"),
        ("kernel \"a\" per_lane\n@0:\n%0 = add.u31 %1, %2\nend", 3, "`u31` is not a type"),
        ("kernel \"a\" per_lane\n@0:\n%0 = immediate.u8 256\nend", 3, "does not fit u8"),
        ("kernel \"a\" per_lane\n@0:\njump\nend", 3, "a block is missing"),
        ("kernel \"a\" per_lane\n@0:\nreturn @1\nend", 3, "too many"),
        ("kernel \"a\" per_lane\n@4000000000:\nend", 2, "block numbers end"),
        ("kernel \"a\" per_lane\nmeta colour 1\nend", 2, "no field `colour`"),
        ("kernel \"a\" per_lane\n@0:\n%0 = half.left %1\nend", 3, "`left` is not a half"),
        ("constants 123", 1, "pairs"),
        ("@0:", 1, "neither"),
    ];
    for (text, line, message) in cases {
        let error = parse(text).expect_err(text);
        assert_eq!(error.line, line, "{text}: {error}");
        assert!(error.message.contains(message), "{text}: {error}");
    }
    assert!(parse_function("").is_err());
}

/// An operation from numbers, with attributes that the validator accepts, and its operands.
fn random_instruction(choices: &[u32], blocks: u32, linear: bool) -> Option<(Instruction, Vec<Family>)> {
    let mut next = choices.iter().copied();
    let mut pick = |count: usize| next.next().unwrap_or(0) as usize % count;
    let ty = Type::ALL[pick(Type::ALL.len())];
    let space = Space::ALL[pick(Space::ALL.len())];
    let align = 1 << pick(5);
    let flag = pick(2) == 1;
    let bits = (pick(1 << 30) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) & ty.mask();
    let number = pick(3) as u32;
    let block = |n: usize| BlockId(n as u32 % blocks);
    let pushes = [
        PushSource::Value { argument: number, offset: number * 4 },
        PushSource::Pointer { argument: number },
        PushSource::LocalOffset { argument: number },
        PushSource::Image { argument: number, property: ImageProperty::ChannelOrder },
        PushSource::GlobalOffset(number as u8),
        PushSource::GlobalSize(number as u8),
        PushSource::LocalSize(number as u8),
        PushSource::EnqueuedLocalSize(number as u8),
        PushSource::NumGroups(number as u8),
        PushSource::WorkDim,
        PushSource::ArgumentBlock,
        PushSource::ConstantBase,
        PushSource::VariableBase,
        PushSource::PrintfBuffer,
        PushSource::CheckBuffer,
        PushSource::RaceTable,
        PushSource::Shadow { argument: number },
        PushSource::LocalShadow,
        PushSource::StackBase,
    ];
    let inputs = [
        Input::LocalId(number as u8),
        Input::GroupId(number as u8),
        Input::LaneId,
        Input::SubgroupId,
        Input::SimdWidth,
        Input::Push(pushes[pick(pushes.len())]),
    ];
    let group = GroupOp::ALL[pick(GroupOp::ALL.len())];
    let op = match pick(30) {
        0 => Op::Immediate { ty, bits },
        1 => Op::Input(inputs[pick(inputs.len())]),
        2 => Op::Undefined,
        3 => Op::Unary(UnaryOp::ALL[pick(UnaryOp::ALL.len())], ty),
        4 => Op::Binary(BinaryOp::ALL[pick(BinaryOp::ALL.len())], ty),
        5 => Op::Ternary(TernaryOp::ALL[pick(TernaryOp::ALL.len())], ty),
        6 => Op::Compare(Condition::ALL[pick(Condition::ALL.len())], ty),
        7 => Op::Select(ty),
        8 => Op::Convert {
            to: Type::ALL[pick(Type::ALL.len())],
            from: ty,
            rounding: Rounding::ALL[pick(Rounding::ALL.len())],
            saturate: flag,
        },
        9 => Op::Load { space, ty, align },
        10 => Op::Store { space, ty, align },
        11 => Op::Atomic { op: AtomicOp::ALL[pick(AtomicOp::ALL.len())], space, ty },
        12 => Op::Barrier { local: flag, global: pick(2) == 1 },
        13 => Op::Fence { local: flag, global: pick(2) == 1 },
        14 => Op::Jump(block(pick(100))),
        15 => Op::Branch { then: block(pick(100)), otherwise: block(pick(100)) },
        16 => Op::Vote {
            vote: Vote::ALL[pick(Vote::ALL.len())],
            target: block(pick(100)),
            next: block(pick(100)),
        },
        17 => Op::SubgroupBarrier { local: flag, global: pick(2) == 1 },
        18 => Op::CrossLane(CrossLane::Shuffle(ty)),
        19 => Op::CrossLane(CrossLane::Reduce(group, ty)),
        20 => Op::CrossLane(CrossLane::Scan { op: group, ty, exclusive: flag }),
        21 => Op::CrossLane(CrossLane::Ballot),
        22 => Op::Pair,
        25 => Op::BarrierArrive { local: flag, global: pick(2) == 1 },
        26 => Op::BarrierWait,
        27 => Op::Clock,
        28 => Op::RaceCheck { site: number, granules: 1 + number, control: number as u8 },
        23 => Op::Half { upper: flag },
        24 => {
            let sampler =
                if flag { SamplerSource::Argument(number) } else { SamplerSource::Constant(number) };
            let ops = [ImageOp::Sample(sampler), ImageOp::Load, ImageOp::Write];
            let coordinates = 1 + pick(3) as u8;
            Op::Image(ImageAccess { op: ops[pick(3)], image: number, ty, coordinates })
        }
        _ => Op::Return,
    };
    check_attributes(&op).ok()?;
    let signature = op.signature();
    let mut families = Vec::new();
    let mut operands = |expected: &Operands, pick: &mut dyn FnMut(usize) -> usize| -> Vec<Reg> {
        let count = expected.min + pick((expected.max - expected.min).min(4) + 1);
        (0..count)
            .map(|index| {
                let allowed: Vec<Family> = expected.families(index).iter().collect();
                families.push(allowed[pick(allowed.len())]);
                Reg(families.len() as u32 - 1)
            })
            .collect()
    };
    let dsts = operands(&signature.dsts, &mut pick);
    let srcs = operands(&signature.srcs, &mut pick);
    let mut instruction = Instruction::new(op, dsts, srcs);
    if linear && flag {
        families.push(Family::Bool);
        let reg = Reg(families.len() as u32 - 1);
        instruction.predicate = Some(Predicate { reg, inverse: pick(2) == 1 });
    }
    Some((instruction, families))
}

fn data() -> Data {
    let relocation = Relocation {
        section: DataSection::Variables,
        offset: 8,
        size: 8,
        target: DataSection::Constants,
        addend: -4,
    };
    Data { constants: vec![7; 40], variables: vec![8; 33], relocations: vec![relocation] }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn kernels_are_kept(blocks in 1usize..10, choices in proptest::collection::vec(0u32..1000, 0..100)) {
        let mut unit = Unit { functions: vec![random_kernel(blocks, &choices)], data: data(), ..Unit::default() };
        prop_assert_eq!(&parse(&print(&unit)).expect("it was printed"), &unit);
        standard(&mut unit, ControlFlow::default(), &mut Unobserved).expect("random kernels are valid");
        for function in &mut unit.functions {
            // Blocks outside the layout are not in the text.
            let end = function.layout.iter().map(|b| b.0 as usize + 1).max().unwrap_or(0);
            function.blocks.truncate(end);
        }
        prop_assert_eq!(&parse(&print(&unit)).expect("it was printed"), &unit);
    }

    /// Every operation with every attribute, in a function of one block after the other.
    #[test]
    fn instructions_are_kept(
        lists in proptest::collection::vec(proptest::collection::vec(any::<u32>(), 40), 1..20),
        linear in any::<bool>(),
        name in ".*",
    ) {
        let mut function = Function::new(&name);
        function.form = if linear { Form::Linear } else { Form::PerLane };
        function.kernel.attributes = name.clone();
        for list in &lists {
            let Some((mut instruction, families)) = random_instruction(list, 1, linear) else { continue };
            let first = function.registers.len() as u32;
            let rename = |reg: &mut Reg| reg.0 += first;
            instruction.dsts.iter_mut().for_each(rename);
            instruction.srcs.iter_mut().for_each(rename);
            instruction.predicate.iter_mut().for_each(|p| p.reg.0 += first);
            for (index, family) in families.into_iter().enumerate() {
                function.registers.push(RegisterInfo { family, uniform: list[index] % 2 == 0 });
            }
            function.blocks[0].instructions.push(instruction);
        }
        let unit = Unit { functions: vec![function], ..Unit::default() };
        let text = print(&unit);
        prop_assert_eq!(parse(&text).map_err(|e| format!("{e}\n{text}")), Ok(unit));
    }

    #[test]
    fn any_text_is_read_or_refused(text in ".*", lines in proptest::collection::vec("[ -~]{0,40}", 0..10)) {
        let _ = parse(&text);
        let body = format!("kernel \"a\" linear\nregister dword %0\n@0:\n{}\nend\n", lines.join("\n"));
        let _ = parse(&body);
    }

    /// Text that is almost right.
    #[test]
    fn damaged_text_is_read_or_refused(cut in 0usize..1000, insert in "[ -~\n]{0,4}", length in 0usize..5) {
        let begin = cut % SAMPLE.len();
        let end = (begin + length).min(SAMPLE.len());
        let text = format!("{}{insert}{}", &SAMPLE[..begin], &SAMPLE[end..]);
        if let Ok(unit) = parse(&text) {
            let printed = print(&unit);
            prop_assert_eq!(parse(&printed), Ok(unit));
        }
    }
}
