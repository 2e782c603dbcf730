//! LLVM: from a module to an object.

use std::sync::OnceLock;

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

use super::{Host, own_cpu};
use crate::faults;

/// LLVM's passes. Nothing makes vectors: lanes are vectors already. Value numbering does not follow loads: that took 14 % of the time of a kernel with 130
/// messages, and found nothing that the passes before it had left. Nor are jumps threaded, sums reassociated and stores removed that nobody reads: that took a
/// quarter of the passes' time, and changed neither the size nor the speed of the bench's kernels.
const PASSES: &str = "function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,\
    loop-mssa(loop-rotate,licm),gvn<no-memdep>,adce,simplifycfg)";

/// For baseline code.
const FEW_PASSES: &str = "function(sroa,early-cse,simplifycfg)";

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

impl Host {
    /// Compiles a module.
    ///
    /// # Errors
    /// LLVM's texts.
    pub fn compile(&self, module: &Module<'_>, tier: Tier) -> Result<Vec<u8>, String> {
        self.run(module, tier, FileType::Object)
    }

    /// The assembly of a module, for people.
    ///
    /// # Errors
    /// LLVM's texts.
    pub fn assembly(&self, module: &Module<'_>, tier: Tier) -> Result<String, String> {
        self.run(module, tier, FileType::Assembly).map(|text| String::from_utf8_lossy(&text).into_owned())
    }

    /// LLVM's target.
    ///
    /// # Errors
    /// LLVM's texts.
    pub fn machine(&self, tier: Tier) -> Result<TargetMachine, String> {
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

    fn run(&self, module: &Module<'_>, tier: Tier, kind: FileType) -> Result<Vec<u8>, String> {
        let machine = self.machine(tier)?;
        self.optimise(module, &machine, tier)?;
        let object = machine.write_to_memory_buffer(module, kind).map_err(|e| e.to_string())?;
        Ok(object.as_slice().to_vec())
    }
}

/// A module of its text.
///
/// # Errors
/// LLVM's texts.
pub fn parsed<'c>(context: &'c Context, ir: &str) -> Result<Module<'c>, String> {
    let text = [ir.as_bytes(), b"\0"].concat();
    let buffer = MemoryBuffer::create_from_memory_range_copy(&text, "kernel");
    context.create_module_from_ir(buffer).map_err(|e| e.to_string())
}
