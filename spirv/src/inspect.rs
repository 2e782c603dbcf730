//! What a runtime wants to know of a module before it is built.

use rspirv::spirv::{Decoration, Op};
use rustc_hash::FxHashMap;

use crate::error::SpirvError;
use crate::walk::{self, Id};

/// A specialization constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpecConstant {
    /// The number that its decoration SpecId gives it.
    pub id: u32,
    /// Bytes of its value; 1 for a truth value.
    pub size: usize,
}

/// The specialization constants of a module, in its order. Instructions are not checked: a build does that, whose log
/// says what is wrong.
///
/// # Errors
/// The header is wrong or of a version that is not supported, or the lengths of instructions do not add up to the size.
pub fn specialization_constants(module: &[u8]) -> Result<Vec<SpecConstant>, SpirvError> {
    let words = walk::words(module)?;
    let mut numbers: FxHashMap<Id, u32> = FxHashMap::default();
    let mut bits: FxHashMap<Id, u32> = FxHashMap::default();
    let mut found = Vec::new();
    for instruction in walk::encoded(&words) {
        let (place, operands) = instruction?;
        match (Op::from_u32(place.opcode.into()), operands) {
            (Some(Op::Decorate), [target, decoration, number])
                if *decoration == Decoration::SpecId as u32 =>
            {
                numbers.insert(*target, *number);
            }
            (Some(Op::GroupDecorate), [group, targets @ ..]) => {
                if let Some(&number) = numbers.get(group) {
                    numbers.extend(targets.iter().map(|target| (*target, number)));
                }
            }
            (Some(Op::TypeInt | Op::TypeFloat), [ty, width, ..]) => {
                bits.insert(*ty, *width);
            }
            (Some(Op::SpecConstant | Op::SpecConstantTrue | Op::SpecConstantFalse), [ty, constant, ..]) => {
                if let Some(&id) = numbers.get(constant) {
                    found.push(SpecConstant { id, size: bits.get(ty).unwrap_or(&8).div_ceil(8) as usize });
                }
            }
            _ => {}
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(instructions: &[&[u32]]) -> Vec<u8> {
        let mut words = vec![rspirv::spirv::MAGIC_NUMBER, 0x1_0000, 0, 100, 0];
        for instruction in instructions {
            words.push((instruction.len() as u32) << 16 | instruction[0]);
            words.extend(&instruction[1..]);
        }
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn constants_have_their_numbers_and_sizes() {
        let spec_id = Decoration::SpecId as u32;
        let bytes = module(&[
            &[Op::Decorate as u32, 10, spec_id, 7],
            &[Op::Decorate as u32, 20, spec_id, 9],
            &[Op::DecorationGroup as u32, 20],
            &[Op::GroupDecorate as u32, 20, 11],
            &[Op::TypeInt as u32, 1, 64, 0],
            &[Op::TypeBool as u32, 2],
            &[Op::SpecConstant as u32, 1, 10, 5, 0],
            &[Op::SpecConstantTrue as u32, 2, 11],
            &[Op::SpecConstant as u32, 1, 12, 5, 0],
        ]);
        let expected = [SpecConstant { id: 7, size: 8 }, SpecConstant { id: 9, size: 1 }];
        assert_eq!(specialization_constants(&bytes).unwrap(), expected);
        assert!(specialization_constants(&bytes[..bytes.len() - 4]).is_err());
        assert!(specialization_constants(&bytes[4..]).is_err());
    }
}
