//! Program binaries: a [`Program`] as ELF file.
//!
//! | section | contents |
//! | --- | --- |
//! | `.text.<kernel>` | the kernel's machine code |
//! | `.rodata` | program-scope constants |
//! | `.gencl.info` | everything else as JSON text, made to be read with `readelf -p .gencl.info` |
//! | `.gencl.check` | format version and checksum of the other sections as text |
//!
//! The file is a relocatable object for machine 205 (`EM_INTELGT`). A file that was cut, changed or made by
//! another version of the format is refused.

use object::elf;
use object::read::elf::{ElfFile64, FileHeader};
use object::write::elf::{FileHeader as WriteHeader, SectionHeader, Writer};
use object::{LittleEndian, Object, ObjectSection};
use thiserror::Error;

use crate::Program;

/// Version of the format. A binary of another version is refused; the program is built anew from source.
pub const FORMAT_VERSION: u32 = 1;

/// `EM_INTELGT`: Intel graphics.
const MACHINE: u16 = 205;

const TEXT_PREFIX: &str = ".text.";
const RODATA: &str = ".rodata";
const INFO: &str = ".gencl.info";
const CHECK: &str = ".gencl.check";

/// Machine code is aligned to cache lines, as the instruction fetch likes it.
const TEXT_ALIGN: usize = 64;

/// Why a program binary was refused.
#[derive(Debug, Error)]
pub enum ElfError {
    /// Not a little-endian 64-bit ELF file, or a damaged one.
    #[error("not an ELF file: {0}")]
    NotElf(#[from] object::read::Error),
    /// An ELF file for something else.
    #[error("an ELF file for machine {0}, not for Intel graphics")]
    Machine(u16),
    /// A section is missing.
    #[error("section {0} is missing")]
    Missing(String),
    /// Made by another version of gencl.
    #[error("format version {found}, not {FORMAT_VERSION}")]
    Version {
        /// The file's version.
        found: String,
    },
    /// Contents differ from what was written.
    #[error("the checksum does not match: the file is damaged")]
    Checksum,
    /// The description cannot be read.
    #[error("bad description: {0}")]
    Description(#[from] serde_json::Error),
    /// Something in the description makes no sense.
    #[error("bad description: {0}")]
    Invalid(String),
}

/// Makes the ELF file. The same program gives the same bytes.
///
/// # Errors
/// [`ElfError::Invalid`] when two kernels have the same name or a name has a zero byte.
pub fn write(program: &Program) -> Result<Vec<u8>, ElfError> {
    check_names(program)?;
    let info = description(program)?;
    let check = check_text(program, &info);

    let mut sections: Vec<(String, u32, u64, usize, &[u8])> = Vec::new();
    for kernel in &program.kernels {
        let name = format!("{TEXT_PREFIX}{}", kernel.name);
        let flags = u64::from(elf::SHF_ALLOC | elf::SHF_EXECINSTR);
        sections.push((name, elf::SHT_PROGBITS, flags, TEXT_ALIGN, &kernel.code));
    }
    let alloc = u64::from(elf::SHF_ALLOC);
    sections.push((RODATA.into(), elf::SHT_PROGBITS, alloc, TEXT_ALIGN, &program.constants));
    sections.push((INFO.into(), elf::SHT_PROGBITS, 0, 1, info.as_bytes()));
    sections.push((CHECK.into(), elf::SHT_PROGBITS, 0, 1, check.as_bytes()));

    let mut bytes = Vec::new();
    let mut writer = Writer::new(object::Endianness::Little, true, &mut bytes);
    writer.reserve_file_header();
    let names: Vec<_> = sections.iter().map(|s| writer.add_section_name(s.0.as_bytes())).collect();
    writer.reserve_null_section_index();
    for _ in &sections {
        writer.reserve_section_index();
    }
    writer.reserve_shstrtab_section_index();
    let offsets: Vec<_> = sections.iter().map(|s| writer.reserve(s.4.len(), s.3)).collect();
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
        writer.write(section.4);
    }
    writer.write_shstrtab();
    writer.write_null_section_header();
    for ((section, &offset), &name) in sections.iter().zip(&offsets).zip(&names) {
        writer.write_section_header(&SectionHeader {
            name: Some(name),
            sh_type: section.1,
            sh_flags: section.2,
            sh_addr: 0,
            sh_offset: offset as u64,
            sh_size: section.4.len() as u64,
            sh_link: 0,
            sh_info: 0,
            sh_addralign: section.3 as u64,
            sh_entsize: 0,
        });
    }
    writer.write_shstrtab_section_header();
    Ok(bytes)
}

/// Reads an ELF file that [`write`] made.
///
/// # Errors
/// [`ElfError`] for anything else, never a panic.
pub fn read(bytes: &[u8]) -> Result<Program, ElfError> {
    let file = ElfFile64::<LittleEndian>::parse(bytes)?;
    let machine = file.elf_header().e_machine(LittleEndian);
    if machine != MACHINE {
        return Err(ElfError::Machine(machine));
    }
    let section = |name: &str| -> Result<&[u8], ElfError> {
        let section = file.section_by_name(name).ok_or_else(|| ElfError::Missing(name.into()))?;
        Ok(section.data()?)
    };

    // The version comes first: nothing else can be relied on in another version.
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
    program.constants = section(RODATA)?.to_vec();
    if check_text(&program, info).as_bytes() != check {
        return Err(ElfError::Checksum);
    }
    // Headers and paddings have no checksum, but there is just one file for a program.
    if write(&program)? != bytes {
        return Err(ElfError::Checksum);
    }
    Ok(program)
}

/// The text of `.gencl.info`: the program without what has sections of its own.
fn description(program: &Program) -> Result<String, ElfError> {
    let kernels = program.kernels.clone();
    let program = Program {
        target: program.target.clone(),
        options: program.options.clone(),
        constants: Vec::new(),
        kernels,
    };
    Ok(serde_json::to_string_pretty(&program)?)
}

/// The text of `.gencl.check`.
fn check_text(program: &Program, info: &str) -> String {
    let mut sum = crc32fast::Hasher::new();
    for kernel in &program.kernels {
        sum.update(&kernel.code);
    }
    sum.update(&program.constants);
    sum.update(info.as_bytes());
    format!("gencl format {FORMAT_VERSION} checksum {:08x}", sum.finalize())
}

fn check_names(program: &Program) -> Result<(), ElfError> {
    let mut names: Vec<_> = program.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
    names.sort_unstable();
    if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(ElfError::Invalid(format!("two kernels are named {}", pair[0])));
    }
    match names.iter().find(|name| name.contains('\0')) {
        Some(name) => Err(ElfError::Invalid(format!("kernel name {name:?}"))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Just, Strategy, any, prop_assert, prop_assert_eq, proptest};

    use super::*;
    use crate::{Access, Argument, ArgumentKind, Kernel, Push, PushSource, Statistics};

    fn sample() -> Program {
        Program {
            target: "skl".into(),
            options: "-cl-mad-enable".into(),
            constants: vec![1, 2, 3],
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
    fn every_cut_is_refused() {
        let bytes = write(&sample()).unwrap();
        for cut in 0..bytes.len() {
            assert!(read(&bytes[..cut]).is_err(), "cut at {cut}");
        }
    }

    #[test]
    fn another_version_is_named() {
        let mut bytes = write(&sample()).unwrap();
        let needle = b"gencl format 1";
        let at = bytes.windows(needle.len()).position(|window| window == needle).unwrap();
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
                code,
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
            Program { target: target.into(), options, constants, kernels }
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
