//! What code is made for, and LLVM: from a module's text to an object.

use std::sync::{LazyLock, OnceLock};

use gencl_eu::abi::Tier;
use inkwell::OptimizationLevel;
use inkwell::attributes::AttributeLoc;
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::{
    CodeModel, FileType, InitializationConfig, RelocMode, Target, TargetMachine, TargetMachineOptions,
    TargetTriple,
};

use crate::faults;

/// LLVM's passes. Nothing makes vectors: lanes are vectors already. Value numbering does not follow loads: that took 14 % of the time of a kernel with 130
/// messages, and found nothing that the passes before it had left. Nor are jumps threaded, sums reassociated and stores removed that nobody reads: that took a
/// quarter of the passes' time, and changed neither the size nor the speed of the bench's kernels. Functions for what is rare that nobody calls go first.
const PASSES: &str = "globaldce,function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,\
    loop-mssa(loop-rotate,licm),gvn<no-memdep>,adce,simplifycfg)";

/// For baseline code.
const FEW_PASSES: &str = "globaldce,function(sroa,early-cse,simplifycfg)";

/// The host as LLVM's target.
fn target(triple: &TargetTriple) -> Result<Target, String> {
    static INITIALISED: OnceLock<Result<(), String>> = OnceLock::new();
    INITIALISED
        .get_or_init(|| {
            faults::set_options();
            let config = InitializationConfig { disassembler: false, ..InitializationConfig::default() };
            Target::initialize_native(&config)
        })
        .clone()?;
    Target::from_triple(triple).map_err(|e| e.to_string())
}

/// The host's vector registers.
#[derive(Clone, Copy, Debug)]
pub struct Vectors {
    /// How many there are.
    pub count: usize,
    /// Bytes of each.
    pub bytes: usize,
    /// Are there masks that say of which elements an instruction is?
    pub masked: bool,
}

impl Vectors {
    fn of(features: &[&str]) -> Vectors {
        let has = |feature| features.contains(&feature);
        match () {
            () if has("+avx512f") => Vectors { count: 32, bytes: 64, masked: true },
            () if has("+avx") => Vectors { count: 16, bytes: 32, masked: false },
            () if has("+sse2") => Vectors { count: 16, bytes: 16, masked: false },
            () => Vectors { count: 32, bytes: 16, masked: false },
        }
    }
}

/// The levels of x86-64 (its ABI, "Micro-Architecture Levels"), and what each has that the one before has not.
const LEVELS: [(&str, &str); 3] = [
    ("v2", "+sse2,+cx16,+popcnt,+sahf,+sse3,+ssse3,+sse4.1,+sse4.2"),
    ("v3", "+avx,+avx2,+bmi,+bmi2,+f16c,+fma,+lzcnt,+movbe,+xsave"),
    ("v4", "+avx512f,+avx512bw,+avx512cd,+avx512dq,+avx512vl"),
];

/// What code is made for: which instructions there are. Which of them are fast is always as this machine's processor has it.
#[derive(Debug)]
pub struct Host {
    /// As LLVM calls it.
    cpu: String,
    /// LLVM's, separated by commas.
    features: String,
    /// Vector registers.
    pub vectors: Vectors,
    /// Are there instructions between half floats and others? Those of x86 are from 2012 on; elsewhere they come with vectors.
    pub converts_halves: bool,
    /// Is there an instruction for `a * b + c`, rounded once?
    pub fuses: bool,
}

impl Host {
    /// The processor of the machine on which this runs.
    pub fn own() -> &'static Host {
        static OWN: LazyLock<Host> = LazyLock::new(|| {
            let features = TargetMachine::get_host_cpu_features().to_string();
            Host::new(own_cpu(), features)
        });
        &OWN
    }

    /// A processor that has what a level of x86-64 has, and no more: `v2` to `v4`.
    pub fn named(name: &str) -> Option<&'static Host> {
        static ALL: LazyLock<Vec<Host>> = LazyLock::new(|| {
            let features = |last| LEVELS[..=last].iter().map(|level| level.1).collect::<Vec<_>>().join(",");
            (0..LEVELS.len()).map(|last| Host::new("x86-64".to_owned(), features(last))).collect()
        });
        LEVELS.iter().position(|level| level.0 == name).map(|number| &ALL[number])
    }

    fn new(cpu: String, features: String) -> Host {
        let own: Vec<_> = features.split(',').collect();
        let x86 = TargetMachine::get_default_triple().as_str().to_string_lossy().starts_with("x86");
        let converts_halves = !x86 || own.contains(&"+f16c");
        let fuses = !x86 || own.contains(&"+fma");
        Host { vectors: Vectors::of(&own), converts_halves, fuses, cpu, features }
    }

    /// Can this machine execute its code?
    pub fn is_here(&self) -> bool {
        let own: Vec<_> = Host::own().features.split(',').collect();
        self.features.split(',').all(|feature| !feature.starts_with('+') || own.contains(&feature))
    }

    /// How a function is marked that keeps all registers for its callers, and the intrinsic that it calls before another function.
    ///
    /// No calling convention of x86 keeps them all, but an attribute that is for handlers of interrupts does (GCC's manual, "x86 Function Attributes"). The
    /// upper parts of vectors, which LLVM clears before functions return, have to be left alone; who is called may have code without vectors of that width,
    /// which is slow when they are not clear. Other hosts ignore the attribute.
    pub fn keeping_registers(&self) -> (String, &'static str) {
        let Host { cpu, features, .. } = self;
        let keeps = "noinline \"no_caller_saved_registers\"";
        match features.split(',').any(|own| own == "+avx") {
            true => (
                format!("{keeps} \"target-cpu\"=\"{cpu}\" \"target-features\"=\"{features},-vzeroupper\""),
                "@llvm.x86.avx.vzeroupper()",
            ),
            false => (keeps.to_owned(), ""),
        }
    }

    /// Compiles a module.
    ///
    /// # Errors
    /// LLVM's texts.
    pub fn compile(&self, ir: &str, tier: Tier) -> Result<Vec<u8>, String> {
        self.run(ir, tier, FileType::Object)
    }

    /// The assembly of a module, for people.
    ///
    /// # Errors
    /// LLVM's texts.
    pub fn assembly(&self, ir: &str, tier: Tier) -> Result<String, String> {
        self.run(ir, tier, FileType::Assembly).map(|text| String::from_utf8_lossy(&text).into_owned())
    }

    /// The module as it is after LLVM's passes.
    ///
    /// # Errors
    /// LLVM's texts.
    pub fn optimised(&self, ir: &str) -> Result<String, String> {
        let context = Context::create();
        let machine = self.machine(Tier::Optimised)?;
        let module = parsed(&context, ir)?;
        self.optimise(&module, &machine, Tier::Optimised)?;
        Ok(module.print_to_string().to_string())
    }

    /// LLVM's target.
    ///
    /// # Errors
    /// LLVM's texts.
    pub(crate) fn machine(&self, tier: Tier) -> Result<TargetMachine, String> {
        let options = TargetMachineOptions::new()
            .set_cpu(&self.cpu)
            .set_features(&self.features)
            .set_level(match tier {
                Tier::Baseline => OptimizationLevel::None,
                Tier::Optimised => OptimizationLevel::Default,
            })
            .set_reloc_mode(RelocMode::PIC)
            .set_code_model(CodeModel::Small);
        let triple = TargetMachine::get_default_triple();
        target(&triple)?
            .create_target_machine_from_options(&triple, options)
            .ok_or_else(|| "no code for this host".into())
    }

    fn optimise(&self, module: &Module<'_>, machine: &TargetMachine, tier: Tier) -> Result<(), String> {
        module.set_triple(&machine.get_triple());
        module.set_data_layout(&machine.get_target_data().get_data_layout());
        let tuning = module.get_context().create_string_attribute("tune-cpu", &own_cpu());
        module.get_functions().for_each(|f| f.add_attribute(AttributeLoc::Function, tuning));
        let passes = match tier {
            Tier::Baseline => FEW_PASSES,
            Tier::Optimised => PASSES,
        };
        module.run_passes(passes, machine, PassBuilderOptions::create()).map_err(|e| e.to_string())?;
        faults::avoid(module, self.vectors).map_err(|e| e.to_string())
    }

    fn run(&self, ir: &str, tier: Tier, kind: FileType) -> Result<Vec<u8>, String> {
        let context = Context::create();
        let machine = self.machine(tier)?;
        let module = parsed(&context, ir)?;
        self.optimise(&module, &machine, tier)?;
        let object = machine.write_to_memory_buffer(&module, kind).map_err(|e| e.to_string())?;
        Ok(object.as_slice().to_vec())
    }
}

/// What LLVM calls the processor on which this runs.
fn own_cpu() -> String {
    TargetMachine::get_host_cpu_name().to_string()
}

/// A module of its text.
///
/// # Errors
/// LLVM's texts.
pub(crate) fn parsed<'c>(context: &'c Context, ir: &str) -> Result<Module<'c>, String> {
    let text = [ir.as_bytes(), b"\0"].concat();
    let buffer = MemoryBuffer::create_from_memory_range_copy(&text, "kernel");
    context.create_module_from_ir(buffer).map_err(|e| e.to_string())
}
