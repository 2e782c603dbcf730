//! Arguments by value: every type, alignment, nesting and kind of use, in generated kernels.
//!
//! For each list of arguments there are three kernels: one reads all elements where they are, one at places
//! that it computes, one changes what it was given and reads it again. Expected layouts are those of the
//! OpenCL C specification (3.0, 6.3.5 "Alignment of Types", 6.11 "Attribute Qualifiers").

mod layout;
mod random;
mod reading;

use crate::memory::same;
use gencl_utest::{Arg, Case, Gpu, Launch, Outcome, Random};
use layout::{Field, INT, Leaf, Record, SCALARS, Scalar, Type, plain, structure};
use std::fmt::Write;

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for scalar in SCALARS {
        cases.push((format!("vectors_{}", scalar.name), vectors(scalar)));
    }
    for align in [1, 2, 4, 8, 16, 32, 64, 128] {
        cases.push((format!("aligned_{align}"), aligned(align)));
    }
    cases.push(("packed".into(), packed()));
    cases.push(("nested".into(), nested()));
    cases.push(("large".into(), vec![Type::Array(Box::new(Type::Scalar(INT)), 200)]));
    cases.extend((0..16).map(|seed| (format!("random_{seed}"), random(seed))));
    let case = |(name, types): (String, Vec<Type>)| {
        let fails = INTEL_FAILS.iter().find(|(case, _)| *case == name);
        let name = format!("compiler_function_argument_{name}");
        let run = move || run(&types);
        match fails {
            Some((_, why)) => Case::of_gencl(why, name, run),
            None => Case::new(name, run),
        }
    };
    let mut cases: Vec<Case> = cases.into_iter().map(case).collect();
    cases.push(Case::of_gencl(
        "Intel's compiler overwrites arguments",
        "compiler_function_argument_layouts",
        random::layouts,
    ));
    cases.push(Case::new("compiler_function_argument_larger", larger));
    cases
}

/// A value of 8 bytes for an argument of 4: the first are taken.
fn larger() -> Outcome {
    let gpu = Gpu::get()?;
    let source = "kernel void set(global uint *p, uint n, uint m) { p[get_global_id(0)] = n + m; }";
    let program = gpu.build_source(source, "")?;
    let buffer = gpu.buffer(&[0u32; 8])?;
    let [large, exact] = [(7u64 << 32 | 5).to_ne_bytes().to_vec(), 6u32.to_ne_bytes().to_vec()];
    program.run("set", &[buffer.arg(), Arg::Bytes(&large), Arg::Bytes(&exact)], &Launch::linear(8, 8))?;
    same(&buffer.read()?, &[11; 8])
}

/// What Intel's compiler (IGC 1.0.12504) does not do right, and why.
const INTEL_FAILS: &[(&str, &str)] = &[
    ("vectors_char", "Intel's compiler overwrites an argument"),
    ("vectors_uchar", "Intel's compiler overwrites an argument"),
    ("aligned_128", "Intel's compiler lacks registers"),
    ("random_6", "Intel's compiler loses the end of a vector of three"),
    ("random_11", "Intel's compiler loses the end of a vector of three"),
    ("random_13", "Intel's compiler loses the end of a vector of three"),
];

/// Every vector of a type, between scalars that take them off their alignment.
fn vectors(s: Scalar) -> Vec<Type> {
    let vectors = [3, 16, 2, 8, 4].map(|n| Type::Vector(s, n));
    vectors.into_iter().flat_map(|v| [Type::Scalar(s), v]).collect()
}

/// A field of an alignment behind one byte, alone, in arrays of structures and after another argument.
fn aligned(align: usize) -> Vec<Type> {
    let field = |ty: Type| Field { ty, align: Some(align) };
    let fields =
        vec![plain(Type::Scalar(SCALARS[0])), field(Type::Scalar(SCALARS[0])), field(Type::Scalar(INT))];
    let one = structure(fields);
    let many = structure(vec![plain(Type::Array(Box::new(one.clone()), 3))]);
    vec![Type::Scalar(SCALARS[2]), one, many]
}

fn packed() -> Vec<Type> {
    let vector = Type::Vector(INT, 4);
    let types = SCALARS.map(Type::Scalar).into_iter().chain([vector, Type::Scalar(SCALARS[0])]);
    let one = Type::Record(Record { packed: true, ..Record::of(types.map(plain).collect()) });
    vec![one.clone(), structure(vec![plain(Type::Scalar(SCALARS[0])), plain(one)])]
}

/// Structures in arrays in structures, five deep.
fn nested() -> Vec<Type> {
    let mut ty = structure(vec![plain(Type::Scalar(SCALARS[1])), plain(Type::Vector(SCALARS[2], 3))]);
    for _ in 0..4 {
        let fields = [Type::Scalar(SCALARS[2]), Type::Array(Box::new(ty), 2), Type::Scalar(SCALARS[6])];
        ty = structure(fields.map(plain).to_vec());
    }
    vec![ty]
}

fn random(seed: u64) -> Vec<Type> {
    let mut random = Random::new(seed + 1);
    (0..2 + random.next_u32() % 3).map(|_| random_type(&mut random, 3)).collect()
}

fn random_type(random: &mut Random, depth: u32) -> Type {
    let mut any = |n: usize| random.next_u32() as usize % n;
    let s = SCALARS[any(SCALARS.len())];
    match any(if depth == 0 { 2 } else { 5 }) {
        0 => Type::Scalar(s),
        1 => Type::Vector(s, [2, 3, 4, 8][any(4)]),
        // An argument cannot be an array.
        2 if depth < 3 => {
            let n = 1 + any(4);
            Type::Array(Box::new(random_type(random, depth - 1)), n)
        }
        _ => {
            let count = 1 + any(4);
            let packed = any(8) == 0;
            let field = |_| {
                let ty = random_type(random, depth - 1);
                let align = random.next_u32().is_multiple_of(4).then(|| 1 << (random.next_u32() % 6));
                Field { ty, align: align.filter(|_| !packed) }
            };
            Type::Record(Record { packed, ..Record::of((0..count).map(field).collect()) })
        }
    }
}

/// Work-items, each of which has its own copy of what it changes.
const ITEMS: usize = 40;
/// Most elements of an argument that are looked at.
const LEAVES: usize = 250;

/// An argument that is an array is one in a structure.
fn wrapped(ty: &Type) -> Type {
    match ty {
        Type::Array(..) => structure(vec![plain(ty.clone())]),
        ty => ty.clone(),
    }
}

fn run(types: &[Type]) -> Outcome {
    let gpu = Gpu::get()?;
    let types: Vec<Type> = types.iter().map(wrapped).collect();
    let (mut structures, mut count) = (String::new(), 0);
    let mut parameters = String::new();
    let mut leaves = Vec::new();
    for (index, ty) in types.iter().enumerate() {
        let name = format!("a{index}");
        let _ = write!(parameters, ", {}", ty.declare(&name, &mut structures, &mut count));
        leaves.extend(ty.leaves(&name).into_iter().map(|leaf| (index, leaf)));
    }
    leaves.truncate(LEAVES);
    let source = source(&structures, &parameters, &leaves);

    let mut random = Random::new(7);
    let arguments: Vec<Vec<u8>> =
        types.iter().map(|ty| (0..ty.layout().0).map(|_| random.next_u32() as u8 & 0x3f).collect()).collect();
    let value = |(index, leaf): &(usize, Leaf)| {
        let mut bytes = [0; 8];
        bytes[..leaf.scalar.size].copy_from_slice(&arguments[*index][leaf.offset..][..leaf.scalar.size]);
        u64::from_le_bytes(bytes)
    };
    let given: Vec<u64> = leaves.iter().map(value).collect();
    for width in gpu.simd_widths() {
        let program =
            gpu.build_source(&source, &format!("-D WIDTH={width}")).map_err(|e| format!("{e}\n{source}"))?;
        for kernel in ["direct", "indirect", "written"] {
            let output = gpu.buffer(&vec![0u64; ITEMS * leaves.len()])?;
            let mut list = vec![output.arg(), Arg::Bytes(&[0; 4])];
            list.extend(arguments.iter().map(|bytes| Arg::Bytes(bytes)));
            program.run(kernel, &list, &Launch::linear(ITEMS, ITEMS / 2))?;
            let found = output.read()?;
            for item in 0..ITEMS {
                for (k, (_, leaf)) in leaves.iter().enumerate() {
                    let changes = kernel == "written" && k % 3 == 0;
                    let expected = if changes { given[k] ^ item as u64 } else { given[k] };
                    let found = found[item * leaves.len() + k];
                    if found != expected {
                        let place = &leaf.known;
                        return Err(format!(
                            "{kernel}, {width} lanes, item {item}: {place} is {found:#x}, not {expected:#x}\n{source}"
                        ));
                    }
                }
            }
        }
    }
    Ok(())
}

/// The kernels. Elements are given as their bits.
fn source(structures: &str, parameters: &str, leaves: &[(usize, Leaf)]) -> String {
    let mut text = format!("{structures}\n");
    for kernel in ["direct", "indirect", "written"] {
        let width = "__attribute__((intel_reqd_sub_group_size(WIDTH)))";
        let _ = writeln!(text, "kernel {width}\nvoid {kernel}(global ulong *out, int z{parameters}) {{");
        let _ = writeln!(text, "    size_t i = get_global_id(0);\n    out += i * {};", leaves.len());
        for (_, leaf) in leaves.iter().step_by(3).filter(|_| kernel == "written") {
            let Scalar { name, bits, .. } = leaf.scalar;
            let place = &leaf.computed;
            let _ = writeln!(text, "    {place} = as_{name}(({bits})(as_{bits}({place}) ^ i));");
        }
        for (k, (_, leaf)) in leaves.iter().enumerate() {
            let place = if kernel == "indirect" { &leaf.computed } else { &leaf.known };
            let _ = writeln!(text, "    out[{k}] = as_{}({place});", leaf.scalar.bits);
        }
        text.push_str("}\n");
    }
    text
}
