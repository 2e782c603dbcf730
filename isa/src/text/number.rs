//! Printing of immediates.

use crate::Type;

/// The text of an immediate: the number with its type, and a comment with the value of a float.
pub(super) fn print(bits: u64, ty: Type) -> String {
    match ty {
        Type::UD | Type::V | Type::UV | Type::VF => {
            let comment = if ty == Type::VF { vector(bits as u32) } else { String::new() };
            format!("{bits:#010x}{ty:?}{comment}")
        }
        Type::D => format!("{}D", bits as u32 as i32),
        Type::UW => format!("{bits:#06x}UW"),
        Type::W => format!("{}W", bits as u16 as i16),
        Type::UQ | Type::Q => format!("{bits:#018x}{ty:?}"),
        // `dim` has floats of 64 bits.
        Type::F if bits > u64::from(u32::MAX) => format!("{bits:#018x}F /* {:?}F */", f64::from_bits(bits)),
        Type::F => format!("{bits:#x}F /* {:?}F */", f32::from_bits(bits as u32)),
        Type::DF => format!("{bits:#018x}DF /* {:?}DF */", f64::from_bits(bits)),
        Type::HF => format!("{bits:#06x}HF"),
        Type::UB | Type::B => format!("{bits:#x}{ty:?}"),
    }
}

/// The four floats of a packed vector.
fn vector(bits: u32) -> String {
    let [a, b, c, d] = bits.to_le_bytes().map(restricted_float);
    format!(" /* [{a}F, {b}F, {c}F, {d}F]VF */")
}

/// The value of an 8-bit restricted float: sign, 3 bits of exponent (bias 3), 4 bits of mantissa;
/// zero is all bits zero but the sign ("Numeric Data Types", Skylake, Volume 7).
pub(crate) fn restricted_float(bits: u8) -> f32 {
    let sign = u32::from(bits >> 7) << 31;
    if bits & 0x7f == 0 {
        return f32::from_bits(sign);
    }
    let exponent = u32::from(bits >> 4 & 7) + 127 - 3;
    f32::from_bits(sign | exponent << 23 | u32::from(bits & 0xf) << 19)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn restricted_floats_have_their_values() {
        for (bits, value) in [(0x00, 0.0), (0x30, 1.0), (0x20, 0.5), (0x40, 2.0), (0x6e, 15.0), (0xb0, -1.0)]
        {
            assert_eq!(restricted_float(bits), value);
        }
    }
}
