//! Program binaries: a [`Program`] as an ELF file.
//!
//! | section | contents |
//! | --- | --- |
//! | `.text.<kernel>` | the kernel's machine code |
//! | `.rodata`, `.data` | program-scope variables in constant and in global memory |
//! | `.rela.rodata`, `.rela.data` | the pointers in them, against the symbols of the two sections |
//! | `.llvmbc` | LLVM bitcode from clang |
//! | `.debug_*` | DWARF line tables, if the source was compiled with them; Gen IR for a profile |
//! | `.gencl.info` | everything else as JSON text, readable with `readelf -p .gencl.info` |
//! | `.gencl.check` | format version and checksum of the other sections as text |
//!
//! The file is a relocatable object for machine 205 (`EM_INTELGT`). A file that is truncated, modified or of
//! another version of the format is refused.

use object::elf;
use object::endian::{I64, U64};
use object::pod::{bytes_of, slice_from_all_bytes};
use object::read::elf::{ElfFile64, FileHeader};
use object::write::elf::{FileHeader as WriteHeader, SectionHeader, SectionIndex, Sym, Writer};
use object::{LittleEndian, Object, ObjectSection};
use thiserror::Error;

use crate::{CODE_ALIGNMENT, Data, DataSection, DebugSection, Program, Relocation, code_addresses};

/// Version of the format. Binaries of other versions are refused, so applications have to build from source
/// again.
pub const FORMAT_VERSION: u32 = 6;

/// `EM_INTELGT`: Intel graphics.
const MACHINE: u16 = 205;

/// Types of relocations for addresses, and the bytes of each, as in Intel's binaries (`R_SYM_ADDR` and
/// `R_SYM_ADDR_32` in IGC's `ZEELFObjectBuilder`).
const ADDRESSES: [(u32, u32); 2] = [(1, 8), (2, 4)];

/// How modules in SPIR-V begin, in both orders of bytes (SPIR-V specification, 2.3, "Magic Number").
const SPIRV: [[u8; 4]; 2] = [[0x03, 0x02, 0x23, 0x07], [0x07, 0x23, 0x02, 0x03]];

const TEXT_PREFIX: &str = ".text.";
const RODATA: &str = ".rodata";
const DATA: &str = ".data";
const RELA: [&str; 2] = [".rela.rodata", ".rela.data"];
const BITCODE: &str = ".llvmbc";
const INFO: &str = ".gencl.info";
const CHECK: &str = ".gencl.check";

/// The reason why a program binary is refused.
#[derive(Debug, Error)]
pub enum ElfError {
    /// A module in SPIR-V.
    #[error(
        "a SPIR-V module: SPIR-V is not supported; programs are made of OpenCL C or of this driver's binaries"
    )]
    Spirv,
    /// Not a little-endian 64-bit ELF file, or a damaged one.
    #[error("not an ELF file: {0}")]
    NotElf(#[from] object::read::Error),
    /// An ELF file for something else.
    #[error("an ELF file for machine {0}, not for Intel graphics")]
    Machine(u16),
    /// A section is missing.
    #[error("section {0} is missing")]
    Missing(String),
    /// Another version of the format.
    #[error("format version {found}, not {FORMAT_VERSION}")]
    Version {
        /// The file's version.
        found: String,
    },
    /// Damaged contents.
    #[error("the checksum does not match: the file is damaged")]
    Checksum,
    /// `.gencl.info` is no valid JSON.
    #[error("bad description: {0}")]
    Description(#[from] serde_json::Error),
    /// The program violates an invariant ([`Program::check`]).
    #[error("bad description: {0}")]
    Invalid(String),
}

/// A section to be written.
struct Section<'a> {
    name: String,
    ty: u32,
    flags: u32,
    address: u64,
    align: usize,
    bytes: &'a [u8],
}

impl<'a> Section<'a> {
    fn new(name: impl Into<String>, flags: u32, align: usize, bytes: &'a [u8]) -> Self {
        Self { name: name.into(), ty: elf::SHT_PROGBITS, flags, address: 0, align, bytes }
    }
}

/// Writes the ELF file. The same program results in the same bytes.
///
/// # Errors
/// [`ElfError::Invalid`] when [`Program::check`] fails.
pub fn write(program: &Program) -> Result<Vec<u8>, ElfError> {
    program.check().map_err(ElfError::Invalid)?;
    write_unchecked(program)
}

/// As [`write`] without [`Program::check`], for tests of readers.
///
/// # Errors
/// [`ElfError::Invalid`] when the program cannot be represented.
pub fn write_unchecked(program: &Program) -> Result<Vec<u8>, ElfError> {
    if let Some(kernel) = program.kernels.iter().find(|kernel| kernel.name.contains('\0')) {
        return Err(ElfError::Invalid(format!("kernel name {:?}", kernel.name)));
    }
    let info = description(program)?;
    let check = check_text(program, &info);
    let relocations = [DataSection::Constants, DataSection::Variables]
        .map(|data_section| relocation_bytes(program, data_section));

    let mut sections = Vec::new();
    for (kernel, address) in program.kernels.iter().zip(code_addresses(&program.kernels)) {
        let flags = elf::SHF_ALLOC | elf::SHF_EXECINSTR;
        let name = format!("{TEXT_PREFIX}{}", kernel.name);
        let section = Section::new(name, flags, CODE_ALIGNMENT, &kernel.code);
        sections.push(Section { address, ..section });
    }
    // The null section has number 0.
    let first_data_section = sections.len() as u32 + 1;
    sections.push(Section::new(RODATA, elf::SHF_ALLOC, CODE_ALIGNMENT, &program.data.constants));
    let writable = elf::SHF_ALLOC | elf::SHF_WRITE;
    sections.push(Section::new(DATA, writable, CODE_ALIGNMENT, &program.data.variables));
    for (name, bytes) in RELA.iter().zip(&relocations) {
        let section = Section::new(*name, elf::SHF_INFO_LINK, 8, bytes);
        sections.push(Section { ty: elf::SHT_RELA, ..section });
    }
    sections.push(Section::new(BITCODE, elf::SHF_EXCLUDE, 4, &program.bitcode));
    sections.extend(program.debug.iter().map(|debug| Section::new(&debug.name, 0, 1, &debug.bytes)));
    sections.push(Section::new(INFO, 0, 1, info.as_bytes()));
    sections.push(Section::new(CHECK, 0, 1, check.as_bytes()));
    layout(&sections, first_data_section)
}

/// Lays out and writes sections, and symbols for the two data sections, of which the first has section number
/// `first_data_section`.
fn layout(sections: &[Section<'_>], first_data_section: u32) -> Result<Vec<u8>, ElfError> {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(object::Endianness::Little, true, &mut bytes);
    writer.reserve_file_header();
    let names: Vec<_> = sections.iter().map(|s| writer.add_section_name(s.name.as_bytes())).collect();
    writer.reserve_null_section_index();
    for _ in sections {
        writer.reserve_section_index();
    }
    let data_sections = [first_data_section, first_data_section + 1].map(SectionIndex);
    writer.reserve_null_symbol_index();
    for data_section in data_sections {
        writer.reserve_symbol_index(Some(data_section));
    }
    let symbols = writer.reserve_symtab_section_index();
    writer.reserve_strtab_section_index();
    writer.reserve_shstrtab_section_index();
    let offsets: Vec<_> = sections.iter().map(|s| writer.reserve(s.bytes.len(), s.align)).collect();
    writer.reserve_symtab();
    writer.reserve_strtab();
    writer.reserve_shstrtab();
    writer.reserve_section_headers();

    let header = WriteHeader {
        os_abi: elf::ELFOSABI_NONE,
        abi_version: 0,
        e_type: elf::ET_REL,
        e_machine: MACHINE,
        e_entry: 0,
        e_flags: 0,
    };
    let invalid = |e: object::write::Error| ElfError::Invalid(e.to_string());
    writer.write_file_header(&header).map_err(invalid)?;
    for (section, &offset) in sections.iter().zip(&offsets) {
        writer.pad_until(offset);
        writer.write(section.bytes);
    }
    writer.write_null_symbol();
    for data_section in data_sections {
        writer.write_symbol(&Sym {
            name: None,
            section: Some(data_section),
            st_info: (elf::STB_LOCAL << 4) | elf::STT_SECTION,
            st_other: 0,
            st_shndx: 0,
            st_value: 0,
            st_size: 0,
        });
    }
    writer.write_strtab();
    writer.write_shstrtab();
    writer.write_null_section_header();
    let mut data_section = data_sections.into_iter();
    for ((section, &offset), &name) in sections.iter().zip(&offsets).zip(&names) {
        let relocations = section.ty == elf::SHT_RELA;
        writer.write_section_header(&SectionHeader {
            name: Some(name),
            sh_type: section.ty,
            sh_flags: u64::from(section.flags),
            sh_addr: section.address,
            sh_offset: offset as u64,
            sh_size: section.bytes.len() as u64,
            sh_link: if relocations { symbols.0 } else { 0 },
            sh_info: if relocations {
                data_section.next().map_or(0, |data_section| data_section.0)
            } else {
                0
            },
            sh_addralign: section.align as u64,
            sh_entsize: if relocations { size_of::<Rela>() as u64 } else { 0 },
        });
    }
    writer.write_symtab_section_header(data_sections.len() as u32 + 1);
    writer.write_strtab_section_header();
    writer.write_shstrtab_section_header();
    Ok(bytes)
}

/// An entry of `.rela.*`.
type Rela = elf::Rela64<LittleEndian>;

/// The relocations of a data section as contents of a `.rela` section.
fn relocation_bytes(program: &Program, data_section: DataSection) -> Vec<u8> {
    let mut bytes = Vec::new();
    for relocation in program.data.relocations.iter().filter(|relocation| relocation.section == data_section)
    {
        let known = ADDRESSES.iter().find(|(_, size)| *size == relocation.size);
        let kind = known.map_or(0, |(kind, _)| *kind);
        let entry = Rela {
            r_offset: U64::new(LittleEndian, relocation.offset),
            r_info: Rela::r_info(LittleEndian, false, symbol(relocation.target), kind),
            r_addend: I64::new(LittleEndian, relocation.addend),
        };
        bytes.extend_from_slice(bytes_of(&entry));
    }
    bytes
}

/// The relocations of a data section from the contents of a `.rela` section.
fn read_relocations(data_section: DataSection, bytes: &[u8]) -> Result<Vec<Relocation>, ElfError> {
    let invalid = || ElfError::Invalid("relocations".into());
    let entries = slice_from_all_bytes::<Rela>(bytes).map_err(|()| invalid())?;
    let read = |entry: &Rela| {
        let number = entry.r_sym(LittleEndian, false);
        let target = [DataSection::Constants, DataSection::Variables]
            .into_iter()
            .find(|data_section| symbol(*data_section) == number);
        let kind = entry.r_type(LittleEndian, false);
        let size = ADDRESSES.iter().find(|(known, _)| *known == kind).map(|(_, size)| *size);
        Ok(Relocation {
            section: data_section,
            offset: entry.r_offset.get(LittleEndian),
            size: size.ok_or_else(invalid)?,
            target: target.ok_or_else(invalid)?,
            addend: entry.r_addend.get(LittleEndian),
        })
    };
    entries.iter().map(read).collect()
}

/// The number of a data section's symbol.
fn symbol(data_section: DataSection) -> u32 {
    match data_section {
        DataSection::Constants => 1,
        DataSection::Variables => 2,
    }
}

/// Reads an ELF file written by [`write`].
///
/// # Errors
/// [`ElfError`] for anything else, never a panic.
pub fn read(bytes: &[u8]) -> Result<Program, ElfError> {
    if SPIRV.iter().any(|magic| bytes.starts_with(magic)) {
        return Err(ElfError::Spirv);
    }
    let file = ElfFile64::<LittleEndian>::parse(bytes)?;
    let machine = file.elf_header().e_machine(LittleEndian);
    if machine != MACHINE {
        return Err(ElfError::Machine(machine));
    }
    let section = |name: &str| -> Result<&[u8], ElfError> {
        let section = file.section_by_name(name).ok_or_else(|| ElfError::Missing(name.into()))?;
        Ok(section.data()?)
    };

    // First the version, as anything else may differ in other versions.
    let check = section(CHECK)?;
    let version = std::str::from_utf8(check)
        .ok()
        .and_then(|text| text.strip_prefix("gencl format "))
        .and_then(|text| text.split_once(' '))
        .map(|(version, _)| version)
        .ok_or(ElfError::Checksum)?;
    if version != FORMAT_VERSION.to_string() {
        return Err(ElfError::Version { found: version.chars().take(20).collect() });
    }

    let info = std::str::from_utf8(section(INFO)?).map_err(|_| ElfError::Checksum)?;
    let mut program: Program = serde_json::from_str(info)?;
    for kernel in &mut program.kernels {
        kernel.code = section(&format!("{TEXT_PREFIX}{}", kernel.name))?.to_vec();
    }
    let mut relocations = read_relocations(DataSection::Constants, section(RELA[0])?)?;
    relocations.extend(read_relocations(DataSection::Variables, section(RELA[1])?)?);
    program.data =
        Data { constants: section(RODATA)?.to_vec(), variables: section(DATA)?.to_vec(), relocations };
    program.bitcode = section(BITCODE)?.to_vec();
    for section in file.sections() {
        if let Some(name) = section.name()?.strip_prefix(DebugSection::PREFIX) {
            let name = format!("{}{name}", DebugSection::PREFIX);
            program.debug.push(DebugSection { name, bytes: section.data()?.to_vec() });
        }
    }
    if check_text(&program, info).as_bytes() != check {
        return Err(ElfError::Checksum);
    }
    // Headers and padding have no checksum, but each program has exactly one file.
    if write(&program)? != bytes {
        return Err(ElfError::Checksum);
    }
    Ok(program)
}

/// The text of `.gencl.info`: the program without the parts that have sections of their own.
fn description(program: &Program) -> Result<String, ElfError> {
    let mut program = program.clone();
    (program.data, program.bitcode) = (Data::default(), Vec::new());
    Ok(serde_json::to_string_pretty(&program)?)
}

/// The text of `.gencl.check`.
fn check_text(program: &Program, info: &str) -> String {
    let mut sum = crc32fast::Hasher::new();
    for kernel in &program.kernels {
        sum.update(&kernel.code);
    }
    sum.update(&program.data.constants);
    sum.update(&program.data.variables);
    for data_section in [DataSection::Constants, DataSection::Variables] {
        sum.update(&relocation_bytes(program, data_section));
    }
    sum.update(&program.bitcode);
    for section in &program.debug {
        sum.update(section.name.as_bytes());
        sum.update(&section.bytes);
    }
    sum.update(info.as_bytes());
    format!("gencl format {FORMAT_VERSION} checksum {:08x}", sum.finalize())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Just, Strategy, any, prop_assert, prop_assert_eq, proptest};

    use super::*;
    use crate::{Access, Argument, ArgumentKind, Kernel, Push, PushSource, Statistics};

    #[test]
    fn modules_in_spirv_are_named() {
        for magic in [0x0723_0203u32.to_le_bytes(), 0x0723_0203u32.to_be_bytes()] {
            let module = [&magic[..], &[0; 16]].concat();
            let message = read(&module).unwrap_err().to_string();
            assert!(message.starts_with("a SPIR-V module: SPIR-V is not supported"), "{message}");
        }
    }

    fn sample() -> Program {
        Program {
            target: "skl".into(),
            options: "-cl-mad-enable".into(),
            data: Data {
                constants: vec![1; 16],
                variables: vec![2; 20],
                relocations: vec![
                    Relocation {
                        section: DataSection::Constants,
                        offset: 8,
                        size: 4,
                        target: DataSection::Variables,
                        addend: 4,
                    },
                    Relocation {
                        section: DataSection::Variables,
                        offset: 0,
                        size: 8,
                        target: DataSection::Constants,
                        addend: -1,
                    },
                ],
            },
            bitcode: vec![3; 5],
            debug: vec![DebugSection { name: ".debug_line".into(), bytes: vec![4; 7] }],
            kernels: vec![Kernel {
                name: "saxpy".into(),
                code: (0..64).collect(),
                simd_width: 16,
                arguments: vec![Argument {
                    name: "x".into(),
                    type_name: "float*".into(),
                    kind: ArgumentKind::GlobalPointer,
                    size: 8,
                    alignment: 8,
                    block_offset: 0,
                    type_qualifier: 0,
                    access: Access::None,
                }],
                cross_thread_size: 32,
                pushes: vec![Push { offset: 0, size: 8, source: PushSource::Pointer { argument: 0 } }],
                required_work_group_size: Some([64, 1, 1]),
                statistics: Statistics { instructions: 4, ..Statistics::default() },
                ..Kernel::default()
            }],
            ..Program::default()
        }
    }

    #[test]
    fn a_program_survives() {
        let program = sample();
        assert_eq!(read(&write(&program).unwrap()).unwrap(), program);
    }

    #[test]
    fn the_empty_program_survives() {
        let program = Program::default();
        assert_eq!(read(&write(&program).unwrap()).unwrap(), program);
    }

    #[test]
    fn two_kernels_of_one_name_are_refused() {
        let mut program = sample();
        program.kernels.push(program.kernels[0].clone());
        assert!(matches!(write(&program), Err(ElfError::Invalid(_))));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        // As a file says that is changed with care: with the checksum of what it has become.
        let mut program = sample();
        program.kernels[0].simd_width = 19;
        let bytes = write_unchecked(&program).unwrap();
        let error = read(&bytes).unwrap_err();
        assert!(matches!(&error, ElfError::Invalid(what) if what.contains("19 lanes")), "{error}");
    }

    #[test]
    fn every_cut_is_refused() {
        let bytes = write(&sample()).unwrap();
        for cut in 0..bytes.len() {
            assert!(read(&bytes[..cut]).is_err(), "cut at {cut}");
        }
    }

    #[test]
    fn a_kernel_without_spills_is_written_as_before_there_was_their_size() {
        let mut program = sample();
        assert!(!description(&program).unwrap().contains("spill_size"));
        assert_eq!(read(&write(&program).unwrap()).unwrap(), program);
        program.kernels[0].spill_size = 64;
        assert!(description(&program).unwrap().contains("\"spill_size\": 64"));
        assert_eq!(read(&write(&program).unwrap()).unwrap(), program);
    }

    #[test]
    fn another_version_is_named() {
        let mut bytes = write(&sample()).unwrap();
        let needle = format!("gencl format {FORMAT_VERSION}");
        let at = bytes.windows(needle.len()).position(|window| window == needle.as_bytes()).unwrap();
        bytes[at + needle.len() - 1] = b'9';
        assert!(matches!(read(&bytes), Err(ElfError::Version { found }) if found == "9"));
    }

    #[test]
    fn another_machine_is_named() {
        let mut bytes = write(&sample()).unwrap();
        bytes[18] = 62;
        assert!(matches!(read(&bytes), Err(ElfError::Machine(62))));
    }

    fn kernel() -> impl Strategy<Value = Kernel> {
        (any::<Vec<u8>>(), any::<u32>(), any::<bool>(), any::<Option<[u32; 3]>>()).prop_map(
            |(code, local_size, barrier, required_work_group_size)| Kernel {
                code: code.repeat(8),
                simd_width: 16,
                local_size,
                barrier,
                required_work_group_size,
                ..Kernel::default()
            },
        )
    }

    fn program() -> impl Strategy<Value = Program> {
        let kernels = proptest::collection::vec(kernel(), 0..4).prop_map(|mut kernels| {
            for (i, kernel) in kernels.iter_mut().enumerate() {
                kernel.name = format!("k{i}");
            }
            kernels
        });
        (".*", any::<Vec<u8>>(), kernels, Just("skl")).prop_map(|(options, constants, kernels, target)| {
            let data =
                Data { variables: constants.iter().rev().copied().collect(), constants, ..Data::default() };
            Program { target: target.into(), options, data, kernels, ..Program::default() }
        })
    }

    proptest! {
        #[test]
        fn any_program_survives(program in program()) {
            prop_assert_eq!(read(&write(&program).unwrap()).unwrap(), program);
        }

        #[test]
        fn a_changed_byte_is_harmless(at in any::<proptest::sample::Index>(), bit in 0..8) {
            let good = sample();
            let mut bytes = write(&good).unwrap();
            let at = at.index(bytes.len());
            bytes[at] ^= 1u8 << bit;
            // Padding and unused header fields may change; what was read must not.
            prop_assert!(read(&bytes).map_or(true, |program| program == good));
        }

        #[test]
        fn garbage_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..512)) {
            prop_assert!(read(&bytes).is_err());
        }
    }
}
