//! Loaded programs: machine code and program-scope variables in buffers.

use std::sync::{Arc, OnceLock};

use gencl_program::finding::Site;
use gencl_program::printf::PrintfFormat;
use gencl_program::protocol::{Status, ToServer, WidenRequest};
use gencl_program::{DebugSection, code_addresses, elf};

use super::lines::Origin;
use crate::context::DeviceContext;
use crate::launch::check;
use crate::memory::{Storage, Zone};
use crate::{Code, Error, Result, profile, trace};

/// Bytes that instruction prefetch may read beyond the last instruction (Skylake manual, Volume 7
/// "3D-Media-GPGPU", "Instruction prefetch": 128 bytes); they have to be mapped.
const PREFETCH: u64 = 128;

/// Kernels begin at multiples of this many bytes, as interface descriptors point to them.
const KERNEL_ALIGNMENT: usize = 64;

/// A program whose code and variables are in buffers of a device.
#[derive(Debug)]
pub(crate) struct Executable {
    kernels: Vec<gencl_program::Kernel>,
    /// Where each kernel's code begins in `code`.
    starts: Vec<u32>,
    code: Arc<Storage>,
    constants: Option<Arc<Storage>>,
    variables: Option<Arc<Storage>>,
    constants_size: u64,
    variables_size: u64,
    formats: Vec<PrintfFormat>,
    sites: Vec<Site>,
    uneven_groups: bool,
    /// Pointers in `constants` and `variables`.
    relocations: Vec<gencl_program::Relocation>,
    /// Line tables, if the program has them.
    debug: Vec<DebugSection>,
    /// How the program was made, if it was made of a source.
    origin: OnceLock<Origin>,
    /// Line tables of a program that has none of its own, for the first fault that needs them.
    lines: OnceLock<Vec<DebugSection>>,
    /// Number of the first kernel in a profile; 0 without one.
    first_number: u32,
    /// The program as an ELF file. Empty when it has no bitcode to compile for another SIMD width.
    binary: Arc<[u8]>,
    /// What came of its initializers, once they have run.
    initialized: OnceLock<Result<()>>,
    /// The same program at the largest SIMD width, compiled for the first launch that needs it.
    wide: OnceLock<Result<Arc<Executable>>>,
}

impl Executable {
    /// Loads a program, which was read from `binary`, for a device. `INVALID_BINARY` when it is for another
    /// device or a kernel exceeds the device's limits.
    pub(crate) fn load(
        context: &DeviceContext,
        program: gencl_program::Program,
        binary: &Arc<[u8]>,
    ) -> Result<Self> {
        let can_be_widened = !program.bitcode.is_empty();
        let executable = Self::new(context, program, None)?.kept(binary);
        Ok(if can_be_widened { Self { binary: binary.clone(), ..executable } } else { executable })
    }

    /// Loads a program; with `variables`, those of another executable are used.
    fn new(
        context: &DeviceContext,
        program: gencl_program::Program,
        variables: Option<&Arc<Storage>>,
    ) -> Result<Self> {
        let target = context.device().facts().family.name();
        if program.target != target {
            let reason = format!("the binary is for {}, the device is {target}", program.target);
            return Err(Error::new(Code::InvalidBinary, reason));
        }
        for kernel in &program.kernels {
            check(kernel, context.device().commands().shares_constants())
                .map_err(|what| Error::new(Code::InvalidBinary, format!("kernel {}: {what}", kernel.name)))?;
        }
        let mut bytes = Vec::new();
        let mut starts = Vec::new();
        for kernel in &program.kernels {
            bytes.resize(bytes.len().next_multiple_of(KERNEL_ALIGNMENT), 0);
            starts.push(bytes.len() as u32);
            bytes.extend_from_slice(&kernel.code);
        }
        let code = Storage::new(context.space(), Zone::Instructions, bytes.len() as u64 + PREFETCH)?;
        code.memory().write(0, &bytes);
        let code = Arc::new(code);
        let address_of = |start: &u32| u64::from(code.low_address() + start);
        let names = program.kernels.iter().map(|kernel| kernel.name.clone());
        context.device().kernel_names().add(&code, starts.iter().map(address_of).zip(names));
        let room = |bytes: &[u8]| match bytes.len() as u64 {
            0 => Ok(None),
            size => Storage::new(context.space(), Zone::Buffers, size).map(|storage| Some(Arc::new(storage))),
        };
        let shared = variables.is_some();
        let constants = room(&program.data.constants)?;
        let variables = match variables {
            Some(variables) => Some(variables.clone()),
            None => room(&program.data.variables)?,
        };
        let address =
            |storage: &Option<Arc<Storage>>| storage.as_ref().map_or(0, |storage| storage.address());
        let (constant_bytes, variable_bytes) = program.data.placed(address(&constants), address(&variables));
        if let Some(constants) = &constants {
            constants.memory().write(0, &constant_bytes);
        }
        if let (Some(variables), false) = (&variables, shared) {
            variables.memory().write(0, &variable_bytes);
        }
        Ok(Self {
            kernels: program.kernels,
            starts,
            code,
            constants,
            variables,
            constants_size: program.data.constants.len() as u64,
            variables_size: program.data.variables.len() as u64,
            formats: program.formats,
            sites: program.sites,
            uneven_groups: program.uneven_groups,
            relocations: program.data.relocations,
            debug: program.debug,
            origin: OnceLock::new(),
            lines: OnceLock::new(),
            first_number: 0,
            binary: Arc::new([]),
            initialized: OnceLock::new(),
            wide: OnceLock::new(),
        })
    }

    /// The executable, written for a profile if there is one.
    fn kept(self, binary: &Arc<[u8]>) -> Self {
        Self { first_number: profile::keep(binary, self.kernels.len()), ..self }
    }

    /// Number of the first kernel in a profile, which those of the others follow; 0 without one.
    pub(crate) fn first_number(&self) -> u32 {
        self.first_number
    }

    /// Largest of `widths` that a kernel can be compiled for, by its index.
    pub(crate) fn max_width(&self, number: usize, widths: &[u32]) -> u32 {
        let kernel = &self.kernels[number];
        let fixed = kernel.required_sub_group_size.is_some() || kernel.sub_groups || self.binary.is_empty();
        let widest = widths.iter().copied().filter(|_| !fixed).max();
        kernel.simd_width.max(widest.unwrap_or(0))
    }

    /// The same program compiled for a SIMD width of `lanes`, the same in all calls. It uses the variables of
    /// this one. `OUT_OF_RESOURCES` when compiling fails.
    pub(crate) fn widened(&self, context: &DeviceContext, lanes: u32) -> Result<Arc<Self>> {
        let widen = || -> std::result::Result<Self, String> {
            let request = ToServer::Widen(WidenRequest { program: self.binary.to_vec(), lanes });
            let result = trace::build("widen", || gencl_client::build(&request))
                .map_err(|reason| reason.to_string())?;
            if result.status != Status::Success {
                return Err(result.log);
            }
            let wide = elf::read(&result.binary).map_err(|error| error.to_string())?;
            // Launches bind arguments with this program's layout.
            let same_arguments = wide.kernels.len() == self.kernels.len()
                && wide.kernels.iter().zip(&self.kernels).all(|(wide, own)| wide.arguments == own.arguments);
            if !same_arguments || wide.data.variables.len() as u64 != self.variables_size {
                return Err("the compiler's output differs in kernels, arguments or variables".into());
            }
            let wide = Self::new(context, wide, self.variables()).map_err(|error| error.to_string())?;
            let wide = wide.kept(&result.binary.into());
            if let Some(origin) = self.origin.get() {
                wide.set_origin(Origin { lanes: Some(lanes), ..origin.clone() });
            }
            Ok(wide)
        };
        let refusal = |reason: String| {
            let reason = format!("so large a work-group needs SIMD{lanes}: {}", reason.trim_end());
            Error::new(Code::OutOfResources, reason)
        };
        self.wide.get_or_init(|| widen().map(Arc::new).map_err(refusal)).clone()
    }

    /// Whether the last work-group of a dimension may be smaller.
    pub(crate) fn uneven_groups(&self) -> bool {
        self.uneven_groups
    }

    pub(crate) fn kernels(&self) -> &[gencl_program::Kernel] {
        &self.kernels
    }

    /// Has `run` run the initializers of its variables, by their names, unless they have. The same result each time.
    pub(crate) fn initialize(&self, run: impl FnOnce(&[&str]) -> Result<()>) -> Result<()> {
        let result = self.initialized.get_or_init(|| {
            let initializers = self.kernels.iter().filter(|kernel| kernel.is_initializer());
            let names: Vec<&str> = initializers.map(|kernel| kernel.name.as_str()).collect();
            if names.is_empty() { Ok(()) } else { run(&names) }
        });
        result.clone()
    }

    /// Machine code of all kernels.
    pub(crate) fn code(&self) -> &Arc<Storage> {
        &self.code
    }

    /// Address of a kernel's first instruction, by the kernel's index.
    pub(crate) fn kernel_start(&self, number: usize) -> u32 {
        self.code.low_address() + self.starts[number]
    }

    /// Program-scope variables in global memory. They keep their values as long as the executable exists;
    /// each device has its own.
    pub(crate) fn variables(&self) -> Option<&Arc<Storage>> {
        self.variables.as_ref()
    }

    /// Program-scope variables in constant memory.
    pub(crate) fn constants(&self) -> Option<&Arc<Storage>> {
        self.constants.as_ref()
    }

    /// Pointers in [`Executable::constants`] and [`Executable::variables`].
    pub(crate) fn relocations(&self) -> &[gencl_program::Relocation] {
        &self.relocations
    }

    /// The storage of a data section.
    pub(crate) fn data_section(&self, section: gencl_program::DataSection) -> Option<&Arc<Storage>> {
        match section {
            gencl_program::DataSection::Constants => self.constants(),
            gencl_program::DataSection::Variables => self.variables(),
        }
    }

    /// The address of an instruction in [`Executable::debug`], by its kernel's index and its offset in the kernel.
    pub(crate) fn debug_address(&self, number: usize, offset: u32) -> Option<u64> {
        code_addresses(&self.kernels).nth(number).map(|address| address + u64::from(offset))
    }

    /// Says how the program was made.
    pub(super) fn set_origin(&self, origin: Origin) {
        // It has one if it is loaded from the cache again: the same.
        let _ = self.origin.set(origin);
    }

    /// Line tables. A program without is compiled again, with them, if its source is known; else they are empty.
    pub(crate) fn debug(&self) -> &[DebugSection] {
        let Some(origin) = self.origin.get().filter(|_| self.debug.is_empty()) else { return &self.debug };
        self.lines.get_or_init(|| origin.line_tables(&self.kernels).unwrap_or_default())
    }

    /// Places that are checked.
    pub(crate) fn sites(&self) -> &[Site] {
        &self.sites
    }

    /// Beginning and end of the program's variables, as addresses.
    pub(crate) fn variable_ranges(&self) -> impl Iterator<Item = [u64; 2]> {
        let parts = [(&self.constants, self.constants_size), (&self.variables, self.variables_size)];
        parts.into_iter().filter_map(|(storage, size)| {
            let begin = storage.as_ref()?.address();
            Some([begin, begin + size])
        })
    }

    /// Formats of `printf`.
    pub(crate) fn formats(&self) -> &[PrintfFormat] {
        &self.formats
    }

    /// The string at a GPU address in the program's variables, without the terminating zero. `place` returns
    /// the GPU address that a storage had when the kernel ran.
    pub(crate) fn string(&self, address: u64, place: impl Fn(&Storage) -> u64) -> Option<Vec<u8>> {
        let sections = [(&self.constants, self.constants_size), (&self.variables, self.variables_size)];
        sections.into_iter().find_map(|(storage, size)| {
            let storage = storage.as_ref()?;
            let begin = address.checked_sub(place(storage)).filter(|&begin| begin < size)?;
            let mut bytes = vec![0; (size - begin) as usize];
            storage.memory().read(begin as usize, &mut bytes);
            bytes.truncate(bytes.iter().position(|&byte| byte == 0)?);
            Some(bytes)
        })
    }

    /// Bytes of program-scope variables in global memory.
    pub(crate) fn variables_size(&self) -> u64 {
        self.variables_size
    }
}
