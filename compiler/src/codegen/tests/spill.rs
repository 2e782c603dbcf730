//! Rematerialisation and spilling.

use crate::codegen::lir::{Block, GRF, Inst, InstKind, Program, VRef, Vreg, VregInfo};
use crate::codegen::{allocate, check, spill};
use gencl_device_info::Family;
use gencl_isa::{Destination, Instruction, Opcode, Operand, Region, Register, Source, Type};

const ARGUMENT: Vreg = Vreg(0);
const SCALAR: Vreg = Vreg(1);
const VECTOR: Vreg = Vreg(2);
const RESULT: Vreg = Vreg(3);

/// `dst` = `src` + 1 in 8 lanes, or in one.
fn add(dst: Vreg, src: Vreg, lanes: u8) -> Inst {
    let is_scalar = |v: Vreg| v == ARGUMENT || v == SCALAR;
    let mut isa = Instruction::new(Opcode::Add, lanes);
    isa.no_mask = lanes == 1;
    isa.destination = Destination::new(Register::Grf(0), 0, Type::UD);
    let region = if is_scalar(src) { Region::SCALAR } else { Region::new(8, 8, 1) };
    isa.sources[0] = Operand::Register(Source::new(Register::Grf(0), 0, region, Type::UD));
    isa.sources[1] = Operand::Immediate { bits: 1, ty: Type::UD };
    let mut inst = Inst::new(isa);
    inst.dst = Some(VRef { vreg: dst, offset: 0 });
    inst.srcs[0] = Some(VRef { vreg: src, offset: 0 });
    inst
}

/// The scalar is computed from the argument in a block of this loop depth, the vector from the scalar, the
/// result from the vector; `chosen` are spilled.
fn spilled(depth: u32, chosen: &[Vreg]) -> Program {
    spilled_on("skl", depth, chosen)
}

fn spilled_on(target: &str, depth: u32, chosen: &[Vreg]) -> Program {
    let register =
        |size, fixed| VregInfo { size, align: size.min(GRF), fixed, piece_of: None, spilled: None };
    let vregs = vec![register(4, Some(GRF)), register(4, None), register(GRF, None), register(GRF, None)];
    let first = Block { insts: vec![add(SCALAR, ARGUMENT, 1)], successors: vec![1], depth, masked: true };
    let insts = vec![add(VECTOR, SCALAR, 8), add(RESULT, VECTOR, 8), add(RESULT, VECTOR, 8)];
    let second = Block { insts, successors: vec![], depth: 0, masked: true };
    let mut program = Program { vregs, blocks: vec![first, second], spill_size: 0 };
    let target = Family::from_name(target).expect("it is there").info();
    spill::spill(&mut program, chosen, target).expect("there is scratch enough");
    let locations = allocate::allocate(&program, 16).expect("there are registers enough");
    check::check(&program, &locations).expect("the allocation is right");
    program
}

#[test]
fn a_vector_computed_from_a_scalar_is_rematerialised() {
    let program = spilled(0, &[VECTOR]);
    assert_eq!(program.spill_size, 0);
    let insts = &program.blocks[1].insts;
    assert_eq!(insts.len(), 4, "the two uses, each behind its own addition\n{}", program.dump());
    for pair in insts.chunks(2) {
        assert!(pair[0].isa.no_mask && pair[0].srcs[0].map(|v| v.vreg) == Some(SCALAR), "{}", program.dump());
        assert_eq!(pair[1].srcs[0], pair[0].dst, "{}", program.dump());
    }
}

/// The source of a rematerialised register is not rematerialised in the same pass.
#[test]
fn a_source_of_a_rematerialised_register_is_kept() {
    let program = spilled(0, &[SCALAR, VECTOR]);
    let writes_scalar = |inst: &Inst| inst.dst.is_some_and(|v| v.vreg == SCALAR);
    assert!(program.blocks[0].insts.iter().any(writes_scalar), "{}", program.dump());
    assert_eq!(program.blocks[1].insts.len(), 4, "{}", program.dump());
}

/// Lanes may have left the loop with values of the scalar from earlier iterations.
#[test]
fn a_vector_computed_from_a_scalar_of_a_loop_is_spilled() {
    let program = spilled(1, &[VECTOR]);
    assert_eq!(program.spill_size, GRF);
    let kinds = program.blocks[1].insts.iter().map(|i| i.kind);
    assert_eq!(
        kinds.filter(|k| *k != InstKind::Normal).count(),
        4,
        "a fill and a spill, two fills\n{}",
        program.dump()
    );
}

/// The checker reports a register whose only write was removed.
#[test]
fn a_register_that_nothing_writes_is_found() {
    let mut program = spilled(0, &[]);
    program.blocks[1].insts.remove(0);
    let locations = allocate::allocate(&program, 16).expect("there are registers enough");
    let found = check::check(&program, &locations).expect_err("the vector has no value");
    assert!(found.contains("never written"), "{found}");
}

/// Without split sends, the header and the data are copied into consecutive registers.
#[test]
fn spills_without_split_sends_copy_their_data_behind_a_header() {
    let program = spilled_on("bdw", 1, &[VECTOR]);
    let copies = program.blocks[1].insts.iter().filter(|i| i.kind == InstKind::Copy).count();
    assert_eq!(copies, 2, "{}", program.dump());
    assert!(program.blocks[1].insts.iter().all(|i| i.isa.opcode != Opcode::Sends), "{}", program.dump());
}
