//! Arithmetic instructions, from numbers to what a thread does.
//!
//! | file | |
//! | --- | --- |
//! | `wide.rs`, `functions.rs`, `math.rs` | numbers of the macros, and the functions of `math` |
//! | `value.rs`, `condition.rs` | exact values of elements, and conditional modifiers |
//! | `compute.rs` | the semantics of each operation on one channel |
//! | `general.rs`, `ieee_macro.rs` | execute any instruction, element by element |
//! | `fast/` | execute frequent instructions on all channels at once |

pub mod compute;
mod condition;
pub mod fast;
pub mod functions;
pub mod general;
pub mod ieee_macro;
mod math;
mod value;
mod wide;
