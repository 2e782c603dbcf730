//! Validation of programs: the invariants that launches and `printf` rely on.
//!
//! A program may come from a file of the application. So every length, offset and index is checked when a
//! file is read, and when one is written.

use crate::printf::{LARGEST_RECORD, PrintfFormat, places};
use crate::{ArgumentKind, Kernel, MAX_SAMPLERS, Program, Push, PushSource, SamplerSource};

/// Bytes of a GRF.
const REGISTER: u32 = 32;

/// Limit of cross-thread constants in bytes: all registers but the header.
const MAX_CROSS_THREAD: u32 = 127 * REGISTER;

/// Limit of private memory per thread in bytes.
const MAX_PRIVATE: u32 = 2 << 20;

/// Limit of the argument block in bytes, far above `CL_DEVICE_MAX_PARAMETER_SIZE`.
const MAX_ARGUMENT_BLOCK: u32 = 1 << 20;

impl Program {
    /// Checks the invariants of the program.
    ///
    /// # Errors
    /// The first violation, as a text for users.
    pub fn check(&self) -> Result<(), String> {
        let mut names: Vec<_> = self.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
        names.sort_unstable();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(format!("two kernels are named {}", pair[0]));
        }
        if !self.data.is_sound() {
            return Err("a relocation outside its section".into());
        }
        if let Some(format) = self.formats.iter().find(|format| !format.is_sound()) {
            return Err(format!("arguments of the format {:?}", format.text));
        }
        let check =
            |kernel: &Kernel| kernel.check().map_err(|what| format!("kernel {}: {what}", kernel.name));
        self.kernels.iter().try_for_each(check)
    }
}

impl PrintfFormat {
    /// Whether elements have 1, 2, 4 or 8 bytes, and a record at most [`LARGEST_RECORD`] bytes.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        let sizes = self.arguments.iter().all(|argument| {
            [1, 2, 4, 8].contains(&argument.size) && (1..=LARGEST_RECORD).contains(&argument.count)
        });
        // Each argument takes at least four bytes of a record.
        sizes
            && self.arguments.len() <= LARGEST_RECORD as usize / 4
            && places(&self.arguments).1 <= LARGEST_RECORD
    }
}

impl Kernel {
    /// Checks the invariants of a kernel of a program.
    ///
    /// # Errors
    /// The first violation, without the kernel's name.
    pub fn check(&self) -> Result<(), String> {
        let good = [
            ("lanes", self.simd_width, [8, 16, 32].contains(&self.simd_width)),
            (
                "bytes of cross-thread constants",
                self.cross_thread_size,
                self.cross_thread_size.is_multiple_of(REGISTER) && self.cross_thread_size <= MAX_CROSS_THREAD,
            ),
            (
                "bytes of scratch memory",
                self.scratch_size,
                self.scratch_size.is_multiple_of(1024) && self.scratch_size <= MAX_PRIVATE,
            ),
            (
                "bytes of private memory in a buffer",
                self.stack_size,
                self.stack_size.is_multiple_of(REGISTER) && self.stack_size <= MAX_PRIVATE,
            ),
            ("bytes of arguments", self.argument_block_size, self.argument_block_size <= MAX_ARGUMENT_BLOCK),
        ];
        if let Some((what, number, _)) = good.iter().find(|(_, _, good)| !good) {
            return Err(format!("{number} {what}"));
        }
        if !self.code.len().is_multiple_of(8) {
            return Err(format!("{} bytes of machine code", self.code.len()));
        }
        for argument in &self.arguments {
            let end = argument.block_offset.checked_add(argument.block_size());
            let most = match self.argument_block_size {
                0 => MAX_ARGUMENT_BLOCK,
                size => size,
            };
            if end.is_none_or(|end| end > most) {
                return Err(format!("argument {} is beyond the argument block", argument.name));
            }
        }
        if self.samplers.len() > MAX_SAMPLERS {
            return Err(format!("{} samplers", self.samplers.len()));
        }
        if let Some(binding) =
            self.surfaces.iter().find(|binding| !self.is(binding.argument, ArgumentKind::Image))
        {
            return Err(format!("{binding:?}"));
        }
        let is_missing = |sampler: &&SamplerSource| match **sampler {
            SamplerSource::Argument(argument) => !self.is(argument, ArgumentKind::Sampler),
            SamplerSource::Constant(_) => false,
        };
        if let Some(sampler) = self.samplers.iter().find(is_missing) {
            return Err(format!("sampler {sampler:?}"));
        }
        match self.pushes.iter().find(|push| !self.is_sound(push)) {
            Some(push) => Err(format!("{push:?}")),
            None => Ok(()),
        }
    }

    /// Whether there is such an argument, of this kind.
    fn is(&self, argument: u32, kind: ArgumentKind) -> bool {
        self.arguments.get(argument as usize).is_some_and(|argument| argument.kind == kind)
    }

    /// Whether the push is within the cross-thread constants, and its source within what it names.
    fn is_sound(&self, push: &Push) -> bool {
        let within = |offset: u32, size| offset.checked_add(push.size).is_some_and(|end| end <= size);
        // The kernel driver may relocate addresses, as whole dwords.
        let integer = push.offset.is_multiple_of(4) && [4, 8].contains(&push.size);
        let source = match push.source {
            PushSource::Value { argument, offset } => {
                self.arguments.get(argument as usize).is_some_and(|argument| {
                    matches!(argument.kind, ArgumentKind::Value | ArgumentKind::Sampler)
                        && within(offset, argument.size)
                })
            }
            PushSource::Pointer { argument }
            | PushSource::LocalOffset { argument }
            | PushSource::Shadow { argument } => {
                let argument = self.arguments.get(argument as usize);
                integer && argument.is_some_and(|argument| argument.kind != ArgumentKind::Value)
            }
            PushSource::Image { argument, .. } => {
                push.size == 4 && integer && self.is(argument, ArgumentKind::Image)
            }
            PushSource::GlobalOffset(dimension)
            | PushSource::GlobalSize(dimension)
            | PushSource::LocalSize(dimension)
            | PushSource::EnqueuedLocalSize(dimension)
            | PushSource::NumGroups(dimension) => integer && dimension < 3,
            PushSource::WorkDim
            | PushSource::ArgumentBlock
            | PushSource::ConstantBase
            | PushSource::VariableBase
            | PushSource::PrintfBuffer
            | PushSource::CheckBuffer
            | PushSource::RaceTable
            | PushSource::LocalShadow => integer,
            PushSource::StackBase => integer && self.stack_size > 0,
        };
        source && within(push.offset, self.cross_thread_size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::printf::PrintfArgument;
    use crate::{Access, Argument};

    fn argument(kind: ArgumentKind, size: u32, block_offset: u32) -> Argument {
        let (name, type_name) = (String::new(), String::new());
        let (alignment, type_qualifier, access) = (size, 0, Access::None);
        Argument { name, type_name, kind, size, alignment, block_offset, type_qualifier, access }
    }

    fn kernel() -> Kernel {
        Kernel {
            simd_width: 8,
            cross_thread_size: 32,
            argument_block_size: 16,
            arguments: vec![argument(ArgumentKind::Value, 4, 0), argument(ArgumentKind::GlobalPointer, 8, 8)],
            ..Kernel::default()
        }
    }

    #[test]
    fn sizes_of_kernels() {
        assert_eq!(kernel().check(), Ok(()));
        let wrong = [
            Kernel { simd_width: 12, ..kernel() },
            Kernel { cross_thread_size: 48, ..kernel() },
            Kernel { cross_thread_size: 128 * 32, ..kernel() },
            Kernel { scratch_size: 512, ..kernel() },
            Kernel { scratch_size: 1500, ..kernel() },
            Kernel { scratch_size: 4 << 20, ..kernel() },
            Kernel { stack_size: 48, ..kernel() },
            Kernel { stack_size: 3 << 20, ..kernel() },
            Kernel { argument_block_size: 8, ..kernel() },
            Kernel { argument_block_size: 2 << 20, ..kernel() },
            Kernel { arguments: vec![argument(ArgumentKind::Value, 4, u32::MAX)], ..kernel() },
            Kernel {
                argument_block_size: 0,
                arguments: vec![argument(ArgumentKind::Value, 4, 1 << 20)],
                ..kernel()
            },
            Kernel { code: vec![0; 12], ..kernel() },
        ];
        for kernel in wrong {
            assert!(kernel.check().is_err(), "{kernel:?}");
        }
    }

    #[test]
    fn pushes_are_within_source_and_target() {
        let good = |offset, size, source| kernel().is_sound(&Push { offset, size, source });
        assert!(good(28, 4, PushSource::WorkDim));
        assert!(!good(32, 4, PushSource::WorkDim));
        assert!(!good(u32::MAX - 3, 4, PushSource::WorkDim));
        // A relocation writes four bytes.
        assert!(!good(32, 0, PushSource::ConstantBase));
        assert!(!good(30, 2, PushSource::ConstantBase));
        assert!(!good(2, 4, PushSource::ConstantBase));
        assert!(good(0, 8, PushSource::Pointer { argument: 1 }));
        assert!(!good(0, 8, PushSource::Pointer { argument: 2 }));
        assert!(!good(0, 8, PushSource::Pointer { argument: 0 }), "a value");
        assert!(good(0, 2, PushSource::Value { argument: 0, offset: 2 }));
        assert!(!good(0, 4, PushSource::Value { argument: 0, offset: 2 }));
        assert!(!good(0, 4, PushSource::Value { argument: 0, offset: u32::MAX }));
        assert!(!good(0, 4, PushSource::Value { argument: 1, offset: 0 }));
        assert!(!good(0, 4, PushSource::GlobalSize(3)));
        assert!(!good(0, 4, PushSource::StackBase));
    }

    #[test]
    fn arguments_of_printf_are_scalars_and_vectors() {
        let good = |size, count, arguments| {
            PrintfFormat { text: String::new(), arguments: vec![PrintfArgument { size, count }; arguments] }
                .is_sound()
        };
        assert!(good(8, 16, 31));
        assert!(!good(8, 16, 32), "exceeds a record");
        for (size, count) in [(9, 1), (0, 1), (u32::MAX, 1), (4, 0), (4, 1024), (4, u32::MAX)] {
            assert!(!good(size, count, 1), "{size} {count}");
        }
    }
}
