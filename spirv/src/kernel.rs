//! What clang says of kernels in metadata.

use rspirv::spirv::{Decoration, ExecutionMode, FunctionParameterAttribute, StorageClass};

use crate::module::{Function, Module};
use crate::text::escaped;
use crate::types::{Image, Type, Types, address_space};
use crate::walk::Id;

/// The attachments of a kernel's definition: kind, node.
pub(crate) fn metadata(
    module: &Module<'_>,
    types: &Types,
    name: &str,
    own: &Function<'_>,
) -> Vec<(&'static str, String)> {
    let given = |kind: &str| given_types(module, kind, name);
    let (given_type, given_qualifier) = (given("kernel_arg_type"), given("kernel_arg_type_qual"));
    let arguments: Vec<Argument> = own
        .parameters
        .iter()
        .enumerate()
        .map(|(number, parameter)| {
            let mut argument = Argument::new(module, types, parameter.ty, parameter.result);
            if let Some(name) = given_type.get(number) {
                argument.ty = name.clone();
            }
            if let Some(qualifiers) = given_qualifier.get(number) {
                argument.qualifiers = qualifiers.clone();
            }
            argument
        })
        .collect();
    let strings = |of: fn(&Argument) -> &str| {
        arguments.iter().map(|a| format!("!\"{}\"", escaped(of(a)))).collect::<Vec<_>>().join(", ")
    };
    let spaces: Vec<String> = arguments.iter().map(|a| format!("i32 {}", a.space)).collect();
    let mut list = vec![
        ("kernel_arg_addr_space", spaces.join(", ")),
        ("kernel_arg_access_qual", strings(|a| a.access)),
        ("kernel_arg_type", strings(|a| &a.ty)),
        ("kernel_arg_base_type", strings(|a| &a.base)),
        ("kernel_arg_type_qual", strings(|a| &a.qualifiers)),
    ];
    if arguments.iter().all(|a| !a.name.is_empty()) {
        list.push(("kernel_arg_name", strings(|a| &a.name)));
    }
    for mode in module.modes.get(&own.own.result).into_iter().flatten() {
        let sizes = || mode.operands.iter().map(|size| format!("i32 {size}")).collect::<Vec<_>>().join(", ");
        match mode.mode {
            ExecutionMode::LocalSize => list.push(("reqd_work_group_size", sizes())),
            ExecutionMode::LocalSizeHint => list.push(("work_group_size_hint", sizes())),
            ExecutionMode::SubgroupSize => list.push(("intel_reqd_sub_group_size", sizes())),
            _ => {}
        }
    }
    list
}

/// What a producer keeps of the source in a string "kind.kernel.a,b,c,".
fn given_types(module: &Module<'_>, kind: &str, name: &str) -> Vec<String> {
    let prefix = format!("{kind}.{name}.");
    let list = module.strings.values().find_map(|text| text.strip_prefix(prefix.as_str()));
    list.map(|list| list.split_terminator(',').map(str::to_owned).collect()).unwrap_or_default()
}

struct Argument {
    space: u32,
    access: &'static str,
    ty: String,
    base: String,
    qualifiers: String,
    name: String,
}

impl Argument {
    fn new(module: &Module<'_>, types: &Types, ty: Id, id: Id) -> Argument {
        let has = |attribute| {
            let mut rows = module.decorations_of(id, Decoration::FuncParamAttr);
            rows.any(|row| row.first() == Some(&(attribute as u32)))
        };
        let by_value = has(FunctionParameterAttribute::ByVal);
        let unsigned = has(FunctionParameterAttribute::Zext);
        let mut qualifiers = Vec::new();
        let mut own = Argument {
            space: 0,
            access: "none",
            ty: String::new(),
            base: String::new(),
            qualifiers: String::new(),
            name: module.names.get(&id).cloned().unwrap_or_default(),
        };
        match types.get(ty) {
            Some(Type::Pointer(_, pointee)) if by_value => {
                own.base = named(module, types, *pointee, unsigned)
            }
            Some(Type::Pointer(class, pointee)) => {
                own.space = address_space(*class).unwrap_or(0);
                own.base = named(module, types, *pointee, unsigned) + "*";
                let constant = *class == StorageClass::UniformConstant;
                let flags = [
                    (constant || has(FunctionParameterAttribute::NoWrite), "const"),
                    (has(FunctionParameterAttribute::NoAlias), "restrict"),
                    (module.decoration(id, Decoration::Volatile).is_some(), "volatile"),
                ];
                qualifiers.extend(flags.into_iter().filter(|(is, _)| *is).map(|(_, name)| name));
            }
            Some(Type::Image(image)) => {
                own.space = 1;
                own.access = ["read_only", "write_only", "read_write"][image.access.min(2) as usize];
                own.base = image_name(image);
            }
            _ => own.base = named(module, types, ty, unsigned),
        }
        own.ty = own.base.clone();
        own.qualifiers = qualifiers.join(" ");
        own
    }
}

/// OpenCL C's name of a type.
fn named(module: &Module<'_>, types: &Types, ty: Id, unsigned: bool) -> String {
    match types.get(ty) {
        Some(Type::Int(width)) => {
            let name = match width {
                8 => "char",
                16 => "short",
                64 => "long",
                _ => "int",
            };
            if unsigned { format!("u{name}") } else { name.into() }
        }
        Some(Type::Float(16)) => "half".into(),
        Some(Type::Float(32)) => "float".into(),
        Some(Type::Float(_)) => "double".into(),
        Some(Type::Bool) => "bool".into(),
        Some(Type::Vector(element, count)) => named(module, types, *element, unsigned) + &count.to_string(),
        // A pointer can point to its own type.
        Some(Type::Pointer(..)) => "void*".into(),
        Some(Type::Image(image)) => image_name(image),
        Some(Type::Sampler) => "sampler_t".into(),
        Some(Type::Event) => "event_t".into(),
        Some(Type::Struct(_) | Type::Opaque) => {
            module.names.get(&ty).map_or("struct", String::as_str).replacen("struct.", "struct ", 1)
        }
        _ => "void".into(),
    }
}

/// OpenCL C's name of an image type: `image2d_array_t`.
pub(crate) fn image_name(image: &Image) -> String {
    let dim = match image.dim {
        0 => "1d",
        2 => "3d",
        5 => "1d_buffer",
        _ => "2d",
    };
    let part = |is: u32, name: &'static str| if is == 1 { name } else { "" };
    let array = part(image.arrayed, "_array");
    format!("image{dim}{array}{}{}_t", part(image.multisampled, "_msaa"), part(image.depth, "_depth"))
}
