//! The arguments of a launch as text, for profiles.

use gencl_program::{Argument, ArgumentKind, Kernel};
use half::f16;

use crate::kernel::{ArgumentBlock, ArgumentMemory};

/// A scalar type of OpenCL C: its name, its bytes, and how a value is written.
type Scalar = (&'static str, usize, fn(&[u8]) -> String);

/// A number of a type of the host.
macro_rules! number {
    ($type:ty) => {
        |bytes| {
            bytes.try_into().map(<$type>::from_le_bytes).map(|value| value.to_string()).unwrap_or_default()
        }
    };
}

/// The scalar types.
const SCALARS: [Scalar; 14] = [
    ("char", 1, number!(i8)),
    ("uchar", 1, number!(u8)),
    ("short", 2, number!(i16)),
    ("ushort", 2, number!(u16)),
    ("int", 4, number!(i32)),
    ("uint", 4, number!(u32)),
    ("long", 8, number!(i64)),
    ("ulong", 8, number!(u64)),
    ("half", 2, number!(f16)),
    ("float", 4, number!(f32)),
    ("double", 8, number!(f64)),
    ("unsigned char", 1, number!(u8)),
    ("unsigned int", 4, number!(u32)),
    ("unsigned long", 8, number!(u64)),
];

/// Most bytes of a value that are shown where its type is no scalar or vector.
const SHOWN: usize = 8;

/// Each argument as `NAME=VALUE`.
pub(super) fn of(kernel: &Kernel, values: &ArgumentBlock) -> Vec<String> {
    let text = |(index, argument): (usize, &Argument)| {
        let memory = values.memory().iter().find(|(of, _)| *of == index).map(|(_, memory)| memory);
        let value = match (argument.kind, memory) {
            (ArgumentKind::Value, _) => value(argument, values.part(argument, 0, argument.size)),
            (ArgumentKind::LocalPointer, _) => "local memory".to_owned(),
            (ArgumentKind::Sampler, _) => "sampler".to_owned(),
            (_, None) => "null".to_owned(),
            (_, Some(ArgumentMemory::Image(image))) => {
                let [width, height, depth] = image.layout().extent();
                format!("image of {width} x {height} x {depth}")
            }
            (_, Some(memory)) => format!("{} bytes", memory.range().2),
        };
        format!("{}={value}", argument.name)
    };
    kernel.arguments.iter().enumerate().map(text).collect()
}

/// The text of a by-value argument: numbers where its type is known, bytes where it is not.
fn value(argument: &Argument, bytes: &[u8]) -> String {
    let elements = argument.type_name.trim_end_matches(|c: char| c.is_ascii_digit());
    let scalar =
        SCALARS.iter().find(|(name, size, _)| *name == elements && bytes.len().is_multiple_of(*size));
    let Some((_, size, text)) = scalar else {
        let shown: String = bytes.iter().take(SHOWN).map(|byte| format!("{byte:02x}")).collect();
        return format!("0x{shown}{}", if bytes.len() > SHOWN { "..." } else { "" });
    };
    let values: Vec<String> = bytes.chunks(*size).map(text).collect();
    if values.len() == 1 { values.concat() } else { format!("({})", values.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gencl_program::Access;

    #[test]
    fn values_are_written_by_their_types() {
        let text = |type_name: &str, bytes: &[u8]| {
            let argument = Argument {
                name: "a".to_owned(),
                type_name: type_name.to_owned(),
                kind: ArgumentKind::Value,
                size: bytes.len() as u32,
                alignment: 4,
                block_offset: 0,
                type_qualifier: 0,
                access: Access::None,
            };
            value(&argument, bytes)
        };
        assert_eq!(text("int", &(-3i32).to_le_bytes()), "-3");
        assert_eq!(text("float", &1.5f32.to_le_bytes()), "1.5");
        assert_eq!(text("half", &f16::from_f32(0.25).to_le_bytes()), "0.25");
        assert_eq!(text("uchar4", &[1, 2, 3, 255]), "(1, 2, 3, 255)");
        assert_eq!(text("struct point", &[1, 2]), "0x0102");
        assert_eq!(text("size_t8", &[7; 16]), "0x0707070707070707...");
    }
}
