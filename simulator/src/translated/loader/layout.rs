//! The memory layout of a loaded object.

use std::collections::BTreeMap;

use object::{
    Object, ObjectSection, ObjectSymbol, SectionFlags, SectionIndex, SectionKind, SymbolIndex, elf,
};

use super::{Elf, IMPORTS, LoadError, MAX_SIZE};

/// Bytes of a table entry, an address.
const SLOT: u64 = 8;

/// Bytes of a jump to an imported function, with padding.
const JUMP: u64 = 8;

/// Maximum alignment of a section: that of the mapping.
const MAX_ALIGNMENT: u64 = 4096;

/// Offsets of an object's parts in the mapping.
#[derive(Debug)]
pub struct Layout {
    /// Each section that occupies memory, by its index.
    sections: BTreeMap<usize, u64>,
    /// Addresses of [`IMPORTS`], then those of the object's own symbols.
    table: u64,
    /// Jumps to [`IMPORTS`].
    jumps: u64,
    /// The table entry of each symbol that the object defines, by its index.
    symbols: BTreeMap<usize, u64>,
    size: u64,
}

impl Layout {
    /// Lays out an object.
    pub fn of(file: &Elf<'_>) -> Result<Layout, LoadError> {
        let mut sections = BTreeMap::new();
        let mut end = 0u64;
        for section in file.sections() {
            let SectionFlags::Elf { sh_flags } = section.flags() else { continue };
            if sh_flags & u64::from(elf::SHF_ALLOC) == 0 {
                continue;
            }
            let name = section.name()?;
            check_kind(sh_flags, section.kind(), name)?;
            let alignment = section.align().max(1);
            if !alignment.is_power_of_two() || alignment > MAX_ALIGNMENT {
                return Err(LoadError::new(format!("section {name} is aligned to {alignment} bytes")));
            }
            let start = end.next_multiple_of(alignment);
            // In a damaged file, the section's data may be shorter than its header says.
            let size = section.data()?.len() as u64;
            if size != section.size() || size > MAX_SIZE - start.min(MAX_SIZE) {
                return Err(LoadError::new(format!("section {name} has {} bytes", section.size())));
            }
            sections.insert(section.index().0, start);
            end = start + size;
        }
        if sections.is_empty() {
            return Err(LoadError::new("the object has no code"));
        }
        let table = end.next_multiple_of(SLOT);
        let own = table + IMPORTS.len() as u64 * SLOT;
        let own_count = file.symbols().filter(|symbol| !symbol.is_undefined()).count() as u64;
        let symbols = file.symbols().filter(|symbol| !symbol.is_undefined());
        let symbols = symbols.zip(0..).map(|(symbol, n)| (symbol.index().0, own + n * SLOT)).collect();
        let jumps = own + own_count * SLOT;
        let size = jumps + IMPORTS.len() as u64 * JUMP;
        if size > MAX_SIZE {
            return Err(LoadError::new(format!("the object needs {size} bytes of memory")));
        }
        Ok(Layout { sections, table, jumps, symbols, size })
    }

    /// Size of the mapping in bytes; not 0.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The offset of a section; `None` when it occupies no memory.
    pub fn section(&self, index: SectionIndex) -> Option<u64> {
        self.sections.get(&index.0).copied()
    }

    /// The sections that occupy memory, each with its offset.
    pub fn sections<'a, 'b: 'a>(
        &'a self,
        file: &'a Elf<'b>,
    ) -> impl Iterator<Item = (u64, object::Result<<Elf<'b> as Object<'b>>::Section<'a>>)> {
        self.sections.iter().map(|(index, start)| (*start, file.section_by_index(SectionIndex(*index))))
    }

    /// The offset of the table entry of one of [`IMPORTS`].
    pub fn import_slot(&self, import: usize) -> u64 {
        self.table + import as u64 * SLOT
    }

    /// The offset of the table entry of a symbol that the object defines.
    pub fn symbol_slot(&self, symbol: SymbolIndex) -> Option<u64> {
        self.symbols.get(&symbol.0).copied()
    }

    /// The offset of the jump to one of [`IMPORTS`].
    pub fn jump(&self, import: usize) -> u64 {
        self.jumps + import as u64 * JUMP
    }

    /// Fills in the addresses of [`IMPORTS`] and the jumps to them.
    pub fn write_table(&self, memory: &mut [u8], addresses: &[u64; IMPORTS.len()]) {
        for (import, address) in addresses.iter().enumerate() {
            let (slot, jump) = (self.import_slot(import), self.jump(import));
            memory[slot as usize..][..8].copy_from_slice(&address.to_le_bytes());
            // `jmp *displacement(%rip)`; the displacement counts from the end of its six bytes.
            let displacement = slot as i64 - (jump as i64 + 6);
            let memory = &mut memory[jump as usize..][..6];
            memory[..2].copy_from_slice(&[0xff, 0x25]);
            memory[2..].copy_from_slice(&(displacement as i32).to_le_bytes());
        }
    }
}

/// Refuses sections with variables, since threads share the code.
fn check_kind(flags: u64, kind: SectionKind, name: &str) -> Result<(), LoadError> {
    let relocated_constants = name.starts_with(".data.rel.ro");
    let written = flags & u64::from(elf::SHF_WRITE) != 0 && !relocated_constants;
    let thread_local = flags & u64::from(elf::SHF_TLS) != 0;
    if written || thread_local || kind == SectionKind::UninitializedData {
        return Err(LoadError::new(format!("section {name} is variable")));
    }
    Ok(())
}
