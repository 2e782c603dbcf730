//! Printing and parsing of instructions.
//!
//! The syntax is that of Mesa's assembler for Gen4 to Gen12 (`mnemonic(size) destination sources
//! { options };`), with additions for what it cannot express: numeric branch offsets
//! in bytes, register forms of branches, subregisters in bytes (`g1.3b`), an unused flag register
//! and `BranchCtrl` among the options. `docs/isa.md` describes it.

mod cursor;
mod number;
mod parse;
mod parse_operand;
mod print;
mod program;
mod statement;

pub use parse::{ParseError, parse};
pub use print::{Printed, print};
pub use program::{parse_program, print_program};
