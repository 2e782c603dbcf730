//! Doubles as pairs of channels.
//!
//! On Ivy Bridge a double counts as two floats: the execution size and the regions of an instruction with
//! operands of doubles are doubled (manual, Volume 4 Part 3, "Special Requirements for Handling Double
//! Precision Data Types"; Mesa's `brw_reg_from_fs_reg` and `brw_MOV`). The earlier stages count channels;
//! this conversion is done in emission.

use gencl_isa::{AccessMode, Format, Instruction, Operand, Region, Source, Type};

/// Whether an instruction has an operand of doubles.
fn has_doubles(i: &Instruction) -> bool {
    let computes = matches!(i.opcode.info().format, Format::Basic | Format::Ternary);
    let types = i.sources.iter().filter_map(Operand::ty).chain([i.destination.ty]);
    computes && types.into_iter().any(|ty| ty == Type::DF)
}

/// The region in pairs: of doubles both halves, of other types the same element twice. A region of one row
/// has its length as vertical stride.
fn paired(s: &Source, pairs: u8) -> Region {
    let Region { vstride, width, hstride } = s.region;
    match (s.ty, width) {
        (Type::DF, 1) if pairs == 1 => Region::new(2, 2, 1),
        (Type::DF, 1) => Region::new(2 * vstride, 2, 1),
        (Type::DF, _) => Region::new(2 * vstride, 2 * width, hstride),
        _ if s.region == Region::SCALAR => s.region,
        (_, 1) => Region::new(vstride, 2, 0),
        _ => Region::new(hstride, 2, 0),
    }
}

/// Doubles execution size and regions of an instruction with doubles.
pub fn pair_channels(i: &mut Instruction) {
    if !has_doubles(i) {
        return;
    }
    let pairs = i.exec_size;
    i.exec_size *= 2;
    if i.access_mode == AccessMode::Align16 {
        return;
    }
    for operand in &mut i.sources {
        if let Operand::Register(source) = operand {
            source.region = paired(source, pairs);
        }
    }
    // Doubles are packed, or there is only one. A conversion from double writes an unused element behind each
    // result.
    i.destination.hstride = 1;
}

#[cfg(test)]
mod tests {
    use super::*;
    use gencl_device_info::Family;

    #[test]
    fn channels_of_doubles_count_twice() {
        let generation = Family::Ivb.info().generation;
        let lines = [
            (
                "add(4) g3<1>DF g5<4,4,1>DF g7<0,1,0>DF { align1 1N };",
                "add(8) g3<1>DF g5<8,8,1>DF g7<0,2,1>DF { align1 1N };",
            ),
            ("mov(4) g3<2>F g5<4,4,1>DF { align1 2N };", "mov(8) g3<1>F g5<8,8,1>DF { align1 2N };"),
            ("mov(4) g3<1>DF g5<4,4,1>F { align1 1N };", "mov(8) g3<1>DF g5<1,2,0>F { align1 1N };"),
            ("mov(4) g3<1>DF g5<2,1,0>D { align1 1N };", "mov(8) g3<1>DF g5<2,2,0>D { align1 1N };"),
            (
                "add(1) g3.1<2>DF g5<0,1,0>DF g7<0,1,0>DF { align1 WE_all 1N };",
                "add(2) g3.1<1>DF g5<2,2,1>DF g7<2,2,1>DF { align1 WE_all 1N };",
            ),
            (
                "add(1) g3<1>DF g5<0,1,0>DF g7<0,1,0>DF { align1 WE_all 1N };",
                "add(2) g3<1>DF g5<2,2,1>DF g7<2,2,1>DF { align1 WE_all 1N };",
            ),
            (
                "mov(1) g3<1>DF g5<0,1,0>D { align1 WE_all 1N };",
                "mov(2) g3<1>DF g5<0,1,0>D { align1 WE_all 1N };",
            ),
            (
                "add(4) g3<1>F g5<4,4,1>F g7<0,1,0>F { align1 1N };",
                "add(4) g3<1>F g5<4,4,1>F g7<0,1,0>F { align1 1N };",
            ),
        ];
        for (channels, pairs) in lines {
            let parse = |line| gencl_isa::parse(generation, line).expect(line);
            let mut found = parse(channels);
            pair_channels(&mut found);
            assert_eq!(found, parse(pairs), "{channels}");
        }
    }
}
