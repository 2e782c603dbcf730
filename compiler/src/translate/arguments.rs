//! Kernel arguments and attributes.

use gencl_program::options::FLOAT_DENORMALS;
use gencl_program::{Access, Argument, ArgumentKind, PushSource};

use super::translator::{Regs, Translator};
use super::types::{Scalar, layout};
use super::{Failure, types};
use crate::ir::{Input, Space};
use crate::llvm::prepare::SUB_GROUPS;
use crate::llvm::view::{Metadata, TypeKind, Value};

/// Bits of `CL_KERNEL_ARG_TYPE_QUALIFIER`, by the words of the metadata.
const QUALIFIERS: &[(&str, u32)] = &[("const", 1), ("restrict", 2), ("volatile", 4), ("pipe", 8)];

/// Fills in the kernel's metadata for the launch: arguments and attributes.
pub fn describe(translator: &mut Translator) -> Result<(), Failure> {
    let kernel = translator.kernel;
    let strings = |kind| kernel.metadata(kind).map(Metadata::strings).unwrap_or_default();
    // Clang omits the names without `-cl-kernel-arg-info`.
    let (names, types) = (strings("kernel_arg_name"), strings("kernel_arg_type"));
    // Without `typedef`.
    let base_types = strings("kernel_arg_base_type");
    translator.function.kernel.argument_information = kernel.metadata("kernel_arg_name").is_some();
    let (qualifiers, accesses) = (strings("kernel_arg_type_qual"), strings("kernel_arg_access_qual"));
    let at = |list: &[String], index: usize| list.get(index).cloned().unwrap_or_default();

    let mut block_size = 0u32;
    for (index, parameter) in kernel.parameters().into_iter().enumerate() {
        let base_type = at(&base_types, index);
        let mut argument = shape(translator, index as u32, parameter, &base_type)
            .map_err(|failure| Failure::new(format!("argument {}: {}", index + 1, failure.message)))?;
        // Without them, messages use LLVM's names of arguments.
        argument.name = names.get(index).cloned().unwrap_or_else(|| parameter.name());
        argument.type_name = match argument.kind {
            // What kinds of images the argument takes.
            ArgumentKind::Image => base_type,
            _ => at(&types, index),
        };
        let words = at(&qualifiers, index);
        argument.type_qualifier =
            QUALIFIERS.iter().filter(|(word, _)| words.split(' ').any(|w| w == *word)).map(|q| q.1).sum();
        argument.access = match at(&accesses, index).as_str() {
            "read_only" => Access::ReadOnly,
            "write_only" => Access::WriteOnly,
            "read_write" => Access::ReadWrite,
            _ => Access::None,
        };
        block_size = block_size.next_multiple_of(argument.alignment.max(1));
        argument.block_offset = block_size;
        block_size += argument.size;
        translator.function.kernel.arguments.push(argument);
    }
    attributes(translator)
}

/// Kind, size and alignment of an argument of the type `base_type`.
fn shape<'m>(
    translator: &Translator<'_, 'm>,
    index: u32,
    parameter: Value<'m>,
    base_type: &str,
) -> Result<Argument, Failure> {
    let module = translator.module;
    let by_value = translator.kernel.by_value(module, index);
    let (kind, size, alignment) = match (by_value, parameter.ty().kind()) {
        (Some((ty, align)), _) => (ArgumentKind::Value, module.size_of(ty), align),
        (None, TypeKind::Pointer(number)) => match types::address_space(number)? {
            Space::Global => (ArgumentKind::GlobalPointer, 8, 8),
            Space::Constant => (ArgumentKind::ConstantPointer, 8, 8),
            Space::Local => (ArgumentKind::LocalPointer, 8, pointee_alignment(translator, index)),
            Space::Private => return Err(Failure::new("a private pointer cannot be an argument")),
        },
        (None, TypeKind::Target) if base_type == "sampler_t" => (ArgumentKind::Sampler, 8, 8),
        (None, TypeKind::Target) if base_type.starts_with("image") => (ArgumentKind::Image, 8, 8),
        (None, TypeKind::Target) => return Err(Failure::new("pipes are not supported")),
        (None, _) => {
            layout(module, parameter.ty())?;
            let ty = parameter.ty();
            (ArgumentKind::Value, module.size_of(ty), module.align_of(ty))
        }
    };
    let size = u32::try_from(size).map_err(|_| Failure::new("more than 4 GB"))?;
    Ok(Argument {
        name: String::new(),
        type_name: String::new(),
        kind,
        size,
        alignment,
        block_offset: 0,
        type_qualifier: 0,
        access: Access::None,
    })
}

/// Alignment of the memory of a `__local` argument; that of the largest type when it is not known.
fn pointee_alignment(translator: &Translator, index: u32) -> u32 {
    match translator.kernel.parameter_alignment(index) {
        0 => 128,
        // The argument may be cast to vectors of its elements, of at most 16.
        known => known.max(16),
    }
}

fn attributes(translator: &mut Translator) -> Result<(), Failure> {
    let kernel = translator.kernel;
    let integers = |kind| kernel.metadata(kind).map(Metadata::integers).unwrap_or_default();
    let three = |kind| <[u64; 3]>::try_from(integers(kind)).ok().map(|sizes| sizes.map(|size| size as u32));
    let description = &mut translator.function.kernel;
    let mut words = Vec::new();
    if let Some([x, y, z]) = three("reqd_work_group_size") {
        description.required_work_group_size = Some([x, y, z]);
        words.push(format!("reqd_work_group_size({x},{y},{z})"));
    }
    if let Some([x, y, z]) = three("work_group_size_hint") {
        description.work_group_size_hint = Some([x, y, z]);
        words.push(format!("work_group_size_hint({x},{y},{z})"));
    }
    if let [size] = integers("intel_reqd_sub_group_size")[..] {
        description.required_sub_group_size = Some(size as u32);
        words.push(format!("intel_reqd_sub_group_size({size})"));
    }
    let (denormals, flushed) = FLOAT_DENORMALS;
    description.sub_groups = kernel.string_attribute(SUB_GROUPS).is_some();
    description.flushes_denormals = kernel.string_attribute(denormals).as_deref() == Some(flushed);
    if let Some(hint) = kernel.metadata("vec_type_hint") {
        words.extend(vector_hint(hint));
    }
    description.attributes = words.join(" ");
    Ok(())
}

/// `vec_type_hint(float4)`, from metadata with an undefined value of the type, and whether it is signed.
fn vector_hint(hint: Metadata) -> Option<String> {
    let operands = hint.operands();
    let (count, element) = match operands.first()?.ty().kind() {
        TypeKind::Vector(count, element) => (count.to_string(), element.kind()),
        kind => (String::new(), kind),
    };
    let unsigned = if hint.integers().last() == Some(&0) { "u" } else { "" };
    let name = match element {
        TypeKind::Integer(8) => format!("{unsigned}char"),
        TypeKind::Integer(16) => format!("{unsigned}short"),
        TypeKind::Integer(32) => format!("{unsigned}int"),
        TypeKind::Integer(64) => format!("{unsigned}long"),
        TypeKind::Half => "half".into(),
        TypeKind::Float => "float".into(),
        TypeKind::Double => "double".into(),
        _ => return None,
    };
    Some(format!("vec_type_hint({name}{count})"))
}

impl<'m> Translator<'_, 'm> {
    /// The registers of a kernel argument: pushed constants.
    pub fn argument(&mut self, parameter: Value<'m>) -> Result<Regs, Failure> {
        let index = self.kernel.parameters().iter().position(|&other| other == parameter);
        let argument = index.ok_or_else(|| Failure::new("an argument of another function"))? as u32;
        let mut registers = Regs::new();
        for (scalar, offset) in layout(self.module, parameter.ty())? {
            let source = match scalar {
                Scalar::Pointer(Space::Global | Space::Constant, _) => PushSource::Pointer { argument },
                Scalar::Pointer(..) => PushSource::LocalOffset { argument },
                _ => PushSource::Value { argument, offset },
            };
            registers.push(self.input(Input::Push(source), scalar.family()));
        }
        Ok(registers)
    }
}
