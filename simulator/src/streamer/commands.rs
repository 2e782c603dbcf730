//! The commands, each with its length in every generation.
//!
//! Opcodes and lengths: Volume 2a "Command Reference: Instructions" of the manuals (Gen7: Volume 2 Parts 1
//! and 2); a test compares them with Mesa's `gen7.xml` to `gen9.xml`.

use gencl_isa::Generation;

use super::command::{Command, Engines, Handler, Length, MI_MASK, RENDER_MASK};
use super::field::{COLUMNS, Field};
use super::{layouts, math, media, mi, pipe_control, pipeline_3d, registers, state};

/// A one-dword MI command of all generations.
const fn mi_one(name: &'static str, opcode: u32, fields: &'static [Field], run: Handler) -> Command {
    mi(name, opcode, [Length::One; COLUMNS], fields, run)
}

/// An MI command.
const fn mi(
    name: &'static str,
    opcode: u32,
    lengths: [Length; COLUMNS],
    fields: &'static [Field],
    run: Handler,
) -> Command {
    let (opcode, mask, engines, length_bits) = (opcode << 23, MI_MASK, Engines::All, [0xff; COLUMNS]);
    Command { name, opcode, mask, lengths, length_bits, engines, fields, keeps_state: false, run }
}

/// A command of the render engine; `opcode` is bits 31:16.
const fn render(
    name: &'static str,
    opcode: u32,
    lengths: [Length; COLUMNS],
    fields: &'static [Field],
    run: Handler,
) -> Command {
    let (opcode, mask, engines) = (opcode << 16, RENDER_MASK, Engines::Render);
    Command { opcode, mask, engines, ..mi(name, 0, lengths, fields, run) }
}

/// State of the 3D pipeline, on which walkers do not depend.
const fn for_3d(
    name: &'static str,
    opcode: u32,
    lengths: [Length; COLUMNS],
    fields: &'static [Field],
) -> Command {
    keeping_state(render(name, opcode, lengths, fields, mi::no_effect))
}

/// As [`render`] with the longer length field of the media commands.
const fn media(
    name: &'static str,
    opcode: u32,
    lengths: [Length; COLUMNS],
    fields: &'static [Field],
    run: Handler,
) -> Command {
    Command { length_bits: [0xffff; COLUMNS], ..render(name, opcode, lengths, fields, run) }
}

/// Marks a command as one that leaves the state that walkers depend on unchanged.
const fn keeping_state(command: Command) -> Command {
    Command { keeps_state: true, ..command }
}

/// A fixed number of dwords in all generations.
const fn same(dwords: u32) -> [Length; COLUMNS] {
    [Length::Exactly(dwords); COLUMNS]
}

/// A fixed number of dwords in each generation; 0 where it does not have the command.
const fn by_generation(dwords: [u32; COLUMNS]) -> [Length; COLUMNS] {
    let mut lengths = [Length::None; COLUMNS];
    let mut column = 0;
    while column < COLUMNS {
        if dwords[column] > 0 {
            lengths[column] = Length::Exactly(dwords[column]);
        }
        column += 1;
    }
    lengths
}

const NONE: Length = Length::None;
const ONE: Length = Length::One;
const MATH: Length = Length::Repeated { first: 2, each: 1 };
const PAIRS: Length = Length::Repeated { first: 3, each: 2 };

/// All commands that are simulated. Columns: Gen7, Gen7.5, Gen8, Gen9.
#[rustfmt::skip]
pub const COMMANDS: &[Command] = &[
    mi_one("MI_NOOP", 0x00, layouts::mi_noop::FIELDS, mi::noop),
    mi_one("MI_USER_INTERRUPT", 0x02, &[], mi::no_effect),
    mi_one("MI_ARB_CHECK", 0x05, &[], mi::no_effect),
    Command {
        engines: Engines::Render,
        ..mi("MI_RS_CONTROL", 0x06, [NONE, ONE, ONE, ONE], layouts::mi_rs_control::FIELDS, mi::rs_control)
    },
    mi_one("MI_ARB_ON_OFF", 0x08, layouts::mi_arb_on_off::FIELDS, mi::no_effect),
    mi_one("MI_BATCH_BUFFER_END", 0x0a, &[], mi::batch_buffer_end),
    mi_one("MI_PREDICATE", 0x0c, layouts::mi_predicate::FIELDS, registers::predicate),
    Command {
        length_bits: [0, 0x3f, 0x3f, 0xff],
        ..mi("MI_MATH", 0x1a, [NONE, MATH, MATH, MATH], layouts::mi_math::FIELDS, math::execute)
    },
    mi("MI_SEMAPHORE_WAIT", 0x1c, by_generation([0, 0, 4, 4]), layouts::mi_semaphore_wait::FIELDS, mi::semaphore_wait),
    Command {
        length_bits: [0x3f, 0x3f, 0x3ff, 0x3ff],
        ..mi("MI_STORE_DATA_IMM", 0x20, [Length::Either(4, 5); COLUMNS], layouts::mi_store_data_imm::FIELDS, mi::store_data_imm)
    },
    mi("MI_LOAD_REGISTER_IMM", 0x22, [PAIRS; COLUMNS], layouts::mi_load_register_imm::FIELDS, registers::load_imm),
    mi("MI_STORE_REGISTER_MEM", 0x24, by_generation([3, 3, 4, 4]), layouts::mi_store_register_mem::FIELDS, registers::store_mem),
    Command {
        length_bits: [0x3f; COLUMNS], engines: Engines::NotRender,
        ..mi("MI_FLUSH_DW", 0x26, by_generation([4, 4, 5, 5]), layouts::mi_flush_dw::FIELDS, mi::flush_dw)
    },
    mi("MI_LOAD_REGISTER_MEM", 0x29, by_generation([3, 3, 4, 4]), layouts::mi_load_register_mem::FIELDS, registers::load_mem),
    mi("MI_LOAD_REGISTER_REG", 0x2a, by_generation([0, 3, 3, 3]), layouts::mi_load_register_reg::FIELDS, registers::load_reg),
    mi("MI_COPY_MEM_MEM", 0x2e, by_generation([0, 0, 5, 5]), layouts::mi_copy_mem_mem::FIELDS, mi::copy_mem_mem),
    mi("MI_BATCH_BUFFER_START", 0x31, by_generation([2, 2, 3, 3]), layouts::mi_batch_buffer_start::FIELDS, mi::batch_buffer_start),
    render("STATE_BASE_ADDRESS", 0x6101, by_generation([10, 10, 16, 19]), layouts::state_base_address::FIELDS, state::base_address),
    render("STATE_SIP", 0x6102, by_generation([2, 2, 3, 3]), layouts::state_sip::FIELDS, mi::no_effect),
    render("PIPELINE_SELECT", 0x6904, [ONE; COLUMNS], layouts::pipeline_select::FIELDS, state::pipeline_select),
    media("MEDIA_VFE_STATE", 0x7000, by_generation([8, 8, 9, 9]), layouts::media_vfe_state::FIELDS, media::vfe_state),
    media("MEDIA_CURBE_LOAD", 0x7001, same(4), layouts::media_curbe_load::FIELDS, media::curbe_load),
    media("MEDIA_INTERFACE_DESCRIPTOR_LOAD", 0x7002, same(4), layouts::media_interface_descriptor_load::FIELDS, media::descriptor_load),
    keeping_state(media("MEDIA_STATE_FLUSH", 0x7004, same(2), layouts::media_state_flush::FIELDS, media::state_flush)),
    keeping_state(render("GPGPU_WALKER", 0x7105, by_generation([11, 11, 15, 15]), layouts::gpgpu_walker::FIELDS, media::walker)),
    render("3DSTATE_CC_STATE_POINTERS", 0x780e, same(2), layouts::cc_state_pointers::FIELDS, state::cc_state_pointers),
    for_3d("3DSTATE_WM_CHROMAKEY", 0x784c, by_generation([0, 0, 2, 2]), pipeline_3d::WM_CHROMAKEY),
    Command {
        run: pipeline_3d::wm_hz_op,
        ..for_3d("3DSTATE_WM_HZ_OP", 0x7852, by_generation([0, 0, 5, 5]), pipeline_3d::WM_HZ_OP)
    },
    for_3d("3DSTATE_DRAWING_RECTANGLE", 0x7900, same(4), pipeline_3d::DRAWING_RECTANGLE),
    for_3d("3DSTATE_POLY_STIPPLE_OFFSET", 0x7906, same(2), pipeline_3d::POLY_STIPPLE_OFFSET),
    for_3d("3DSTATE_AA_LINE_PARAMETERS", 0x790a, same(3), pipeline_3d::AA_LINE_PARAMETERS),
    for_3d("3DSTATE_PUSH_CONSTANT_ALLOC_VS", 0x7912, same(2), pipeline_3d::PUSH_CONSTANT_ALLOC),
    for_3d("3DSTATE_PUSH_CONSTANT_ALLOC_HS", 0x7913, same(2), pipeline_3d::PUSH_CONSTANT_ALLOC),
    for_3d("3DSTATE_PUSH_CONSTANT_ALLOC_DS", 0x7914, same(2), pipeline_3d::PUSH_CONSTANT_ALLOC),
    for_3d("3DSTATE_PUSH_CONSTANT_ALLOC_GS", 0x7915, same(2), pipeline_3d::PUSH_CONSTANT_ALLOC),
    for_3d("3DSTATE_PUSH_CONSTANT_ALLOC_PS", 0x7916, same(2), pipeline_3d::PUSH_CONSTANT_ALLOC),
    for_3d("3DSTATE_SAMPLE_PATTERN", 0x791c, by_generation([0, 0, 9, 9]), pipeline_3d::SAMPLE_PATTERN),
    keeping_state(render("PIPE_CONTROL", 0x7a00, by_generation([5, 5, 6, 6]), layouts::pipe_control::FIELDS, pipe_control::pipe_control)),
];

/// Lowest of the opcode bits that all commands have: 31:23 of the first dword.
const KEY_SHIFT: u32 = 23;

/// The first row of [`COMMANDS`] with given opcode bits 31:23; the length of the table where there is none.
static FIRST_ROWS: [u8; 1 << (u32::BITS - KEY_SHIFT)] = {
    let mut first = [COMMANDS.len() as u8; 1 << (u32::BITS - KEY_SHIFT)];
    let mut row = COMMANDS.len();
    while row > 0 {
        row -= 1;
        first[(COMMANDS[row].opcode >> KEY_SHIFT) as usize] = row as u8;
    }
    first
};

/// The index of the row of the command with the first dword `header`.
pub fn row_of(generation: Generation, header: u32) -> Option<usize> {
    let first = usize::from(FIRST_ROWS[(header >> KEY_SHIFT) as usize]);
    Some(first + COMMANDS[first..].iter().position(|row| row.is(generation, header))?)
}
