//! Loads translated code: a relocatable ELF object becomes executable memory.
//!
//! All sections that occupy memory are in one mapping. They are followed by a table of addresses (GOT) and
//! jumps through it (PLT) to the imported functions, which may be beyond the reach of a 32-bit displacement.
//! The mapping is never writable and executable at the same time.
//!
//! The structure of the object is validated; its machine code is trusted, as nothing can check it.

mod layout;
mod relocate;
#[cfg(test)]
mod tests;

use std::ffi::c_int;

use memmap2::{Mmap, MmapMut};
use object::read::elf::ElfFile64;
use object::{
    Architecture, LittleEndian, Object, ObjectKind, ObjectSection, ObjectSymbol, SectionFlags, elf,
};

use gencl_eu::abi::{self, Counted, Frame, IMPORTS, Interpreted, Tier, Translation};
use layout::Layout;

/// The parsed object.
type Elf<'a> = ElfFile64<'a, LittleEndian>;

/// Maximum size of a loaded object in bytes.
const MAX_SIZE: u64 = 64 << 20;

/// Why an object cannot be executed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("translated code: {0}")]
pub struct LoadError(String);

impl LoadError {
    fn new(text: impl Into<String>) -> LoadError {
        LoadError(text.into())
    }
}

impl From<object::Error> for LoadError {
    fn from(error: object::Error) -> LoadError {
        LoadError(error.to_string())
    }
}

impl From<std::io::Error> for LoadError {
    fn from(error: std::io::Error) -> LoadError {
        LoadError(error.to_string())
    }
}

/// [`abi::ENTRY`]
pub type EntryPoint = unsafe extern "C" fn(*mut Frame, u32, u32, u32) -> u32;

/// Translated code in executable memory.
#[derive(Debug)]
pub struct HostCode {
    /// See [`Translation::tier`].
    pub tier: Tier,
    /// Its entry point, valid for the lifetime of this value.
    pub entry: EntryPoint,
    /// See [`Translation::windows`].
    pub windows: u32,
    /// See [`Translation::saved`].
    pub saved: u32,
    /// See [`Translation::yields`].
    pub yields: bool,
    /// See [`Translation::interpreted`].
    pub interpreted: Vec<Interpreted>,
    /// See [`Translation::counters`].
    pub counters: u32,
    /// See [`Translation::counted`].
    pub counted: Vec<Counted>,
    /// Keeps the memory.
    _memory: Mmap,
}

/// Maximum number of windows; a kernel has no more messages.
const MAX_WINDOWS: u32 = 1 << 20;

/// Maximum of [`Translation::counters`]; a kernel has fewer instructions.
const MAX_COUNTERS: u32 = 1 << 20;

/// Maximum of [`Translation::saved`]; a kernel has fewer instructions at which channels can be parked.
const MAX_SAVED: u32 = 1 << 20;

impl HostCode {
    /// Loads a translation.
    ///
    /// # Errors
    /// An object that is damaged, is for another architecture, or has unsupported sections, symbols or
    /// relocations; a host that refuses executable memory.
    pub fn load(translation: &Translation) -> Result<HostCode, LoadError> {
        if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
            return Err(LoadError::new("this host's architecture is not supported"));
        }
        if translation.windows > MAX_WINDOWS {
            return Err(LoadError::new(format!("{} windows are too many", translation.windows)));
        }
        let is_counter = |number: u32| number < translation.counters;
        if translation.counters > MAX_COUNTERS
            || !translation.counted.iter().all(|own| is_counter(own.executions) && is_counter(own.lanes))
        {
            return Err(LoadError::new("counters that do not exist"));
        }
        if translation.saved > MAX_SAVED {
            return Err(LoadError::new(format!(
                "{} bytes of saved state per thread are too many",
                translation.saved
            )));
        }
        let file = Elf::parse(translation.object.as_slice())?;
        if file.architecture() != Architecture::X86_64 || file.kind() != ObjectKind::Relocatable {
            return Err(LoadError::new("not a relocatable object for x86-64"));
        }
        let layout = Layout::of(&file)?;
        let mut memory = MmapMut::map_anon(layout.size() as usize)?;
        for (start, section) in layout.sections(&file) {
            let data = section?.data()?;
            memory[start as usize..start as usize + data.len()].copy_from_slice(data);
        }
        layout.write_table(&mut memory, &import_addresses());
        relocate::all(&file, &layout, &mut memory)?;
        let offset = entry(&file, &layout, abi::ENTRY)?;
        let memory = memory.make_exec()?;
        let address = memory[offset as usize..].as_ptr();
        // SAFETY: the address of machine code that has this signature according to the ABI.
        let entry = unsafe { std::mem::transmute::<*const u8, EntryPoint>(address) };
        let interpreted = translation.interpreted.clone();
        let counted = translation.counted.clone();
        let Translation { tier, windows, saved, yields, counters, .. } = *translation;
        Ok(HostCode { tier, entry, windows, saved, yields, interpreted, counters, counted, _memory: memory })
    }
}

/// The offset of a function of the object in the mapping.
fn entry(file: &Elf<'_>, layout: &Layout, name: &str) -> Result<u64, LoadError> {
    let missing = || LoadError::new(format!("no function {name}"));
    let symbol = file.symbols().find(|symbol| symbol.name() == Ok(name)).ok_or_else(missing)?;
    let section = file.section_by_index(symbol.section_index().ok_or_else(missing)?)?;
    let SectionFlags::Elf { sh_flags } = section.flags() else { return Err(missing()) };
    let start = layout.section(section.index()).ok_or_else(missing)?;
    if sh_flags & u64::from(elf::SHF_EXECINSTR) == 0 || symbol.address() >= section.size() {
        return Err(missing());
    }
    Ok(start + symbol.address())
}

extern "C" fn fma(a: f64, b: f64, c: f64) -> f64 {
    a.mul_add(b, c)
}

extern "C" fn fmaf(a: f32, b: f32, c: f32) -> f32 {
    a.mul_add(b, c)
}

/// The host addresses of [`IMPORTS`].
fn import_addresses() -> [u64; IMPORTS.len()] {
    type Copy = unsafe extern "C" fn(*mut libc::c_void, *const libc::c_void, usize) -> *mut libc::c_void;
    type Set = unsafe extern "C" fn(*mut libc::c_void, c_int, usize) -> *mut libc::c_void;
    let address = |name| match name {
        "memcpy" => libc::memcpy as Copy as usize,
        "memmove" => libc::memmove as Copy as usize,
        "memset" => libc::memset as Set as usize,
        "fma" => fma as extern "C" fn(f64, f64, f64) -> f64 as usize,
        "fmaf" => fmaf as extern "C" fn(f32, f32, f32) -> f32 as usize,
        other => unreachable!("{other} is not in the table of imports"),
    };
    IMPORTS.map(|name| address(name) as u64)
}
