//! Fields of `cr0.0` (Volume 7, "Control Register").

/// Alternative floating-point mode.
pub const ALTERNATE: u32 = 1 << 0;
/// Single program flow.
pub const SINGLE_PROGRAM_FLOW: u32 = 1 << 2;
/// Rounding mode: 0 nearest even, 1 up, 2 down, 3 to zero.
pub const ROUNDING_SHIFT: u32 = 4;
/// Keep double precision denormals.
pub const DENORMALS_64: u32 = 1 << 6;
/// Keep single precision denormals.
pub const DENORMALS_32: u32 = 1 << 7;
/// Keep half precision denormals.
pub const DENORMALS_16: u32 = 1 << 10;
