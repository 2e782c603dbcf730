//! The back end: from Gen IR to machine code.

use std::time::Duration;

use gencl_device_info::DeviceInfo;
use gencl_program::debug;
use gencl_program::{DebugSection, GEN_IR, Program};

use super::{Driver, Stop};
use crate::codegen;
use crate::ir::passes::{ControlFlow, Strategy};
use crate::ir::{self, Unit, passes, text};
use crate::{dwarf, statistics};

/// Lanes of threads of programs that are debugged, where the work-group is not too large.
const DEBUGGED_LANES: u32 = 8;

impl Driver<'_> {
    /// Compiles Gen IR to machine code, at SIMD width `lanes` if given, but kernels that use sub-groups at the
    /// width that they have without. `program` has the parts that are complete; `name` is the source's name in
    /// the log.
    pub(super) fn back_end(
        &mut self,
        name: &str,
        target: &DeviceInfo,
        program: Program,
        mut unit: Unit,
        lanes: Option<u32>,
    ) -> Result<Program, Stop> {
        if self.debug.is_set(debug::IR_PASSES) {
            self.listener.print(debug::IR_PASSES, &format!("; as translated\n{}", text::print(&unit)));
        }
        let control_flow = self.debug.value(debug::CONTROL_FLOW);
        let control_flow = control_flow.and_then(ControlFlow::from_name).unwrap_or_default();
        let in_order = self.is_debugged();
        let lower_qwords = !target.execution.int64 || self.debug.is_set(debug::QWORDS);
        let strategy = Strategy { control_flow, lower_qwords, no_gotos: !target.execution.gotos, in_order };
        self.run("", "ir", |driver| passes::standard(&mut unit, strategy, &mut Observer { driver }))
            .map_err(|e| self.internal(&e.function, &e))?;
        if self.debug.is_set(debug::IR) {
            self.listener.print(debug::IR, &text::print(&unit));
        }

        let simd = self.debug.value(debug::SIMD).and_then(|simd| simd.parse().ok());
        let options = codegen::Options {
            simd: simd.or(in_order.then_some(DEBUGGED_LANES)),
            in_order,
            check: self.debug.is_set(debug::VALIDATE),
            dump_lir: self.debug.is_set(debug::LIR),
            ..codegen::Options::default()
        };
        let (mut kernels, mut lines) = (Vec::new(), Vec::new());
        for function in &unit.functions {
            let lanes = lanes.filter(|_| !function.kernel.sub_groups);
            let options = codegen::Options { simd: lanes.or(options.simd), ..options };
            let compiled = self
                .run(&function.name, "codegen", |_| codegen::compile(function, target, &options))
                .map_err(|e| match e.is_internal {
                    true => self.internal(&e.kernel, &e),
                    false => Stop::of_kernel(&e.kernel, format!("error: {e}")),
                })?;
            compiled.kernel.check().map_err(|what| self.internal(&function.name, what))?;
            if let Some(text) = &compiled.lir {
                self.listener.print(debug::LIR, text);
            }
            if self.debug.is_set(debug::ASM) {
                self.listener.print(debug::ASM, &compiled.listing());
            }
            lines.push(compiled.lines().collect());
            kernels.push(compiled.kernel);
        }
        if self.debug.is_set(debug::STATS) {
            self.listener.print(debug::STATS, &statistics::table(&kernels, name));
        }
        let pointer_bytes = (target.pointer_bits() / 8) as u8;
        let mut debug = self
            .run("", "line-tables", |_| {
                dwarf::sections(&kernels, &lines, &unit.locations, &unit.variables, pointer_bytes)
            })
            .map_err(|e| self.internal("", format!("line tables: {e}")))?;
        if self.debug.is_set(debug::PROFILE) {
            debug.push(DebugSection { name: GEN_IR.into(), bytes: text::print(&unit).into_bytes() });
        }
        let Unit { data, formats, sites, .. } = unit;
        Ok(Program { target: target.family.name().into(), data, formats, sites, kernels, debug, ..program })
    }
}

struct Observer<'d, 'a> {
    driver: &'d mut Driver<'a>,
}

impl passes::Observer for Observer<'_, '_> {
    fn after_pass(&mut self, pass: &'static str, function: &ir::Function, time: Duration) {
        self.driver.times.push((format!("{pass} {}", function.name), time));
        if let Some(option) = self.driver.prints_after(debug::IR_PASSES, pass) {
            let text = format!("; after {pass}\n{}", text::print_function(function));
            self.driver.listener.print(option, &text);
        }
    }

    fn validates(&self) -> bool {
        self.driver.validates()
    }
}
