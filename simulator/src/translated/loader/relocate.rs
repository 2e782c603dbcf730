//! Applies the relocations of position-independent code in the small code model (System V ABI, AMD64
//! supplement, 4.4.1).

use object::{
    Object, ObjectSection, ObjectSymbol, Relocation, RelocationFlags, RelocationTarget, SymbolIndex, elf,
};

use super::layout::Layout;
use super::{Elf, IMPORTS, LoadError};

/// The target of a relocation; all places are offsets in the mapping.
struct Target {
    /// The symbol, or the jump to an imported one.
    place: u64,
    /// Its table entry.
    slot: Option<u64>,
    /// Whether it is imported: its address then is not that of `place`.
    import: bool,
}

/// Applies the relocations of all sections that occupy memory.
pub fn all(file: &Elf<'_>, layout: &Layout, memory: &mut [u8]) -> Result<(), LoadError> {
    for symbol in file.symbols().filter(|symbol| !symbol.is_undefined()) {
        if let (Some(slot), Ok(target)) =
            (layout.symbol_slot(symbol.index()), target(file, layout, symbol.index()))
        {
            let address = memory.as_ptr() as u64 + target.place;
            memory[slot as usize..][..8].copy_from_slice(&address.to_le_bytes());
        }
    }
    for (start, section) in layout.sections(file) {
        let section = section?;
        for (offset, relocation) in section.relocations() {
            let width =
                if relocation.flags() == (RelocationFlags::Elf { r_type: elf::R_X86_64_64 }) { 8 } else { 4 };
            let inside = offset.checked_add(width).is_some_and(|end| end <= section.size());
            if !inside {
                return Err(LoadError::new(format!("a relocation at {offset:#x} is outside of its section")));
            }
            one(file, layout, memory, start + offset, &relocation)?;
        }
    }
    Ok(())
}

/// Applies a relocation at the offset `place`, which is within the mapping.
fn one(
    file: &Elf<'_>,
    layout: &Layout,
    memory: &mut [u8],
    place: u64,
    relocation: &Relocation,
) -> Result<(), LoadError> {
    let RelocationTarget::Symbol(index) = relocation.target() else {
        return Err(LoadError::new("a relocation without symbol"));
    };
    let RelocationFlags::Elf { r_type } = relocation.flags() else {
        return Err(LoadError::new("a relocation of another format"));
    };
    if relocation.has_implicit_addend() {
        return Err(LoadError::new("a relocation without addend"));
    }
    let target = target(file, layout, index)?;
    let addend = relocation.addend();
    let relative = |to: u64| {
        let value = i128::from(to) + i128::from(addend) - i128::from(place);
        i32::try_from(value).map_err(|_| LoadError::new("a relocation reaches too far"))
    };
    let value = match r_type {
        elf::R_X86_64_PC32 | elf::R_X86_64_PLT32 => relative(target.place)?,
        elf::R_X86_64_GOTPCREL | elf::R_X86_64_GOTPCRELX | elf::R_X86_64_REX_GOTPCRELX => {
            relative(target.slot.ok_or_else(|| LoadError::new("a symbol has no address"))?)?
        }
        elf::R_X86_64_64 if !target.import => {
            let address = (memory.as_ptr() as u64).wrapping_add(target.place).wrapping_add(addend as u64);
            memory[place as usize..][..8].copy_from_slice(&address.to_le_bytes());
            return Ok(());
        }
        other => return Err(LoadError::new(format!("a relocation of unsupported type {other}"))),
    };
    memory[place as usize..][..4].copy_from_slice(&value.to_le_bytes());
    Ok(())
}

/// Resolves a symbol.
fn target(file: &Elf<'_>, layout: &Layout, index: SymbolIndex) -> Result<Target, LoadError> {
    let symbol = file.symbol_by_index(index)?;
    if symbol.is_undefined() {
        let name = symbol.name()?;
        let import = IMPORTS.iter().position(|import| *import == name);
        let import = import.ok_or_else(|| LoadError::new(format!("undefined symbol {name:?}")))?;
        return Ok(Target {
            place: layout.jump(import),
            slot: Some(layout.import_slot(import)),
            import: true,
        });
    }
    let nowhere = || LoadError::new(format!("symbol {} is in no section", index.0));
    let section = file.section_by_index(symbol.section_index().ok_or_else(nowhere)?)?;
    let start = layout.section(section.index()).ok_or_else(nowhere)?;
    if symbol.address() > section.size() {
        return Err(nowhere());
    }
    Ok(Target { place: start + symbol.address(), slot: layout.symbol_slot(index), import: false })
}
