//! The text form of Gen IR.

use gencl_compiler::ir::text::{parse, print};
use gencl_compiler::ir::validate::validate;

/// Text of Gen IR. A parsed unit is validated, printed and parsed again, with the same result.
pub fn gen_ir_text(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(unit) = parse(text) else { return };
    for function in &unit.functions {
        for fault in validate(function).err().unwrap_or_default() {
            assert!(!fault.to_string().is_empty());
        }
    }
    let printed = print(&unit);
    let again = parse(&printed).unwrap_or_else(|error| panic!("{error}\n{printed}"));
    assert_eq!(print(&again), printed);
}
