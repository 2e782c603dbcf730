//! Loads translated code: a relocatable ELF object becomes executable memory.
//!
//! All sections that occupy memory lie in one mapping, behind them a table of addresses (the "GOT") and jumps
//! through it to the host's functions, which may be farther away than a 32-bit displacement reaches. The
//! mapping is written while it is not executable, and never again afterwards.
//!
//! An object is not trusted to be whole: what does not fit is an error. Its machine code is trusted, as
//! nothing can check it.

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

use gencl_eu::abi::{self, Frame, IMPORTS, Interpreted, Translation};
use layout::Layout;

/// The parsed object.
type Elf<'a> = ElfFile64<'a, LittleEndian>;

/// Bytes that an object takes in memory at most.
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

/// [`abi::GROUP`]
pub type Group = unsafe extern "C" fn(*mut Frame) -> u32;

/// [`abi::THREAD`]
pub type Thread = unsafe extern "C" fn(*mut Frame, u32, u32) -> u32;

/// Where code is entered.
#[derive(Clone, Copy, Debug)]
pub enum Entry {
    /// Threads never stop before they end.
    Group(Group),
    /// They do.
    Thread(Thread),
}

/// Translated code that can be executed.
#[derive(Debug)]
pub struct Code {
    /// Where it is entered; valid as long as this lives.
    pub entry: Entry,
    /// See [`Translation::windows`].
    pub windows: u32,
    /// See [`Translation::kept`].
    pub kept: u32,
    /// See [`Translation::interpreted`].
    pub interpreted: Vec<Interpreted>,
    /// Keeps the memory.
    _memory: Mmap,
}

/// Most windows that code may use; a kernel has no more messages.
const MAX_WINDOWS: u32 = 1 << 20;

/// Most bytes that a thread may keep; a kernel has no more places where channels wait than instructions.
const MAX_KEPT: u32 = 1 << 20;

impl Code {
    /// Loads a translation.
    ///
    /// # Errors
    /// An object that is damaged, for another machine, or has in it what translations have not; a host that
    /// gives no executable memory.
    pub fn load(translation: &Translation) -> Result<Code, LoadError> {
        if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
            return Err(LoadError::new("this host's is not known"));
        }
        if translation.windows > MAX_WINDOWS {
            return Err(LoadError::new(format!("{} windows", translation.windows)));
        }
        if translation.kept > MAX_KEPT {
            return Err(LoadError::new(format!("{} bytes that each thread keeps", translation.kept)));
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
        let name = if translation.stops { abi::THREAD } else { abi::GROUP };
        let offset = entry(&file, &layout, name)?;
        let memory = memory.make_exec()?;
        let address = memory[offset as usize..].as_ptr();
        let entry = if translation.stops {
            // SAFETY: the address of machine code that has this signature, by what both sides have agreed on.
            Entry::Thread(unsafe { std::mem::transmute::<*const u8, Thread>(address) })
        } else {
            // SAFETY: the address of machine code that has this signature, by what both sides have agreed
            // on.
            Entry::Group(unsafe { std::mem::transmute::<*const u8, Group>(address) })
        };
        let interpreted = translation.interpreted.clone();
        let Translation { windows, kept, .. } = *translation;
        Ok(Code { entry, windows, kept, interpreted, _memory: memory })
    }
}

/// Where a function of the object is in memory.
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

/// The host's addresses of [`IMPORTS`].
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
