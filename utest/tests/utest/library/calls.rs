//! Calls of built-in functions on the device: any expressions, for every number of elements, with arguments
//! from memory or written out.

use std::ops::Range;

use gencl_utest::{Case, Gpu, Launch, Outcome};

use crate::numbers::Type;

/// Elements that a vector can have.
pub const WIDTHS: [usize; 6] = [1, 2, 3, 4, 8, 16];

/// There have to be a multiple of so many arguments: vectors of any size in work-groups of `GROUP`.
pub const MULTIPLE: usize = VECTORS * GROUP;
/// A multiple of all numbers of elements.
pub const VECTORS: usize = 48;
const GROUP: usize = 16;

/// A call and where its result goes.
pub struct Call {
    /// An expression of the vectors `x`, `y` and `z` and of `s` and `t`, the first elements of `y` and `z`;
    /// `#` stands for the number of elements, `@` for a pointer to where a second result goes: to private,
    /// global or local memory, as the number of elements has it.
    pub text: String,
    /// Of the result's elements.
    pub result: &'static Type,
    /// And of the second one's.
    pub second: Option<&'static Type>,
    /// Whether the result is one number for the whole vector.
    pub whole: bool,
    /// The arguments that it is for, if not all of them: for a call with a kernel of its own. They begin with
    /// a multiple of `VECTORS`, and end `MULTIPLE` before the last or earlier, as some of the next come after
    /// them.
    pub range: Option<Range<usize>>,
}

impl Call {
    /// A call for all arguments whose result has as many elements as they have.
    pub fn new(text: impl Into<String>, result: &'static Type) -> Call {
        Call { text: text.into(), result, second: None, whole: false, range: None }
    }
}

/// Arguments of all calls: their types and their bits, as many of each.
pub struct Arguments<'a> {
    pub types: [&'static Type; 3],
    pub values: [&'a [u64]; 3],
    /// Of so many calls a kernel is made.
    pub together: usize,
}

/// A case for a type, left out where a device lacks the type.
pub fn case(name: &str, ty: &'static Type, run: impl FnOnce() -> Outcome + Send + 'static) -> Case {
    needing(ty, Case::new(format!("{name}/{}", ty.name), run))
}

/// The same, of what other drivers have wrong.
pub fn case_of_gencl(
    what: &'static str,
    name: &str,
    ty: &'static Type,
    run: impl FnOnce() -> Outcome + Send + 'static,
) -> Case {
    needing(ty, Case::of_gencl(what, format!("{name}/{}", ty.name), run))
}

/// A case that is left out where a device lacks the type.
pub fn needing(ty: &Type, case: Case) -> Case {
    match ty.need() {
        Some(need) => case.needing(need),
        None => case,
    }
}

/// Results by call and element, as bits, and the second ones.
pub type Results = Vec<[Vec<u64>; 2]>;

/// Bits of numbers of one size as they are in memory.
pub fn pack(ty: &Type, values: &[u64]) -> Vec<u8> {
    values.iter().flat_map(|bits| bits.to_le_bytes().into_iter().take(ty.bytes)).collect()
}

/// And from memory.
pub fn unpack(ty: &Type, bytes: &[u8]) -> Vec<u64> {
    let bits = |chunk: &[u8]| chunk.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
    bytes.chunks_exact(ty.bytes).map(bits).collect()
}

/// What the sources begin with.
pub fn extensions(gpu: &Gpu) -> String {
    let there = |need: gencl_utest::Need| need.is_there(gpu);
    let mut text = String::new();
    for (need, name) in [(gencl_utest::HALF, "cl_khr_fp16"), (gencl_utest::DOUBLE, "cl_khr_fp64")] {
        if there(need) {
            text += &format!("#pragma OPENCL EXTENSION {name} : enable\n");
        }
    }
    text
}

/// A number of elements in the name of a type.
pub fn suffix(width: usize) -> String {
    if width == 1 { String::new() } else { width.to_string() }
}

impl Arguments<'_> {
    fn len(&self) -> usize {
        self.values[0].len()
    }

    /// Bytes of the output that a call has, for both of its results.
    fn room(&self) -> usize {
        2 * 8 * self.len()
    }

    /// Evaluates calls for vectors of each of the numbers of elements.
    pub fn evaluate(
        &self,
        widths: &[usize],
        calls: impl Fn(usize) -> Vec<Call>,
    ) -> Result<Vec<(usize, Results)>, String> {
        let gpu = Gpu::get()?;
        let all: Vec<(usize, Vec<Call>)> = widths.iter().map(|&width| (width, calls(width))).collect();
        let source: String = all.iter().map(|(width, calls)| self.kernels(*width, calls)).collect();
        let program = gpu.build_source(&(extensions(gpu) + &source), "-cl-std=CL3.0")?;
        let [x, y, z] = [0, 1, 2].map(|i| gpu.buffer(&pack(self.types[i], self.values[i])));
        let (x, y, z) = (x?, y?, z?);
        let mut results = Vec::new();
        for (width, calls) in all {
            let output = gpu.buffer(&vec![0u8; self.room() * calls.len()])?;
            for (k, calls) in calls.chunks(self.together).enumerate() {
                let range = calls[0].range.clone().unwrap_or(0..self.len());
                let items = range.len().div_ceil(width).next_multiple_of(GROUP);
                let launch = Launch { offset: vec![range.start / width], ..Launch::linear(items, GROUP) };
                let arguments = [x.arg(), y.arg(), z.arg(), output.arg()];
                program.run(&format!("calls{width}_{k}"), &arguments, &launch)?;
            }
            let bytes = output.read()?;
            let of_call = |(call, bytes): (&Call, &[u8])| {
                let count = if call.whole { self.len() / width } else { self.len() };
                let (first, second) = bytes.split_at(self.room() / 2);
                let second = call.second.map(|ty| unpack(ty, &second[..count * ty.bytes]));
                [unpack(call.result, &first[..count * call.result.bytes]), second.unwrap_or_default()]
            };
            let values = calls.iter().zip(bytes.chunks(self.room())).map(of_call).collect();
            results.push((width, values));
        }
        Ok(results)
    }

    fn kernels(&self, width: usize, calls: &[Call]) -> String {
        let n = suffix(width);
        let [a, b, c] = self.types.map(|ty| ty.name);
        let load = |name: &str, ty: &str| match width {
            1 => format!("{ty} {name} = {name}s[i];"),
            _ => format!("{ty}{n} {name} = vload{n}(i, {name}s);"),
        };
        let first = if width == 1 { "" } else { ".s0" };
        let loads = [load("x", a), load("y", b), load("z", c)].concat();
        let kernel = |(k, calls): (usize, &[Call])| {
            let call = |(index, call): (usize, &Call)| {
                let room = self.room() * (k * self.together + index);
                self.statement(width, call, &call.text.replace('#', &n), room)
            };
            let statements: String = calls.iter().enumerate().map(call).collect();
            format!(
                "kernel void calls{width}_{k}(global const {a} *xs, global const {b} *ys, global const {c} *zs, \
                 global uchar *d) {{ size_t i = get_global_id(0); {loads} {b} s = y{first}; {c} t = z{first};\n\
                 {statements}}}\n"
            )
        };
        calls.chunks(self.together).enumerate().map(kernel).collect()
    }

    /// A call whose results are written after `room` bytes of `d`.
    fn statement(&self, width: usize, call: &Call, text: &str, room: usize) -> String {
        let n = suffix(width);
        let store = |value: &str, ty: &Type, room: usize| {
            let place = format!("(global {} *)(d + {room})", ty.name);
            match width {
                _ if call.whole => format!("({place})[i] = {value};\n"),
                1 => format!("({place})[i] = {value};\n"),
                _ => format!("vstore{n}({value}, i, {place});\n"),
            }
        };
        let Some(ty) = call.second else { return store(text, call.result, room) };
        let (behind, name) = (room + self.room() / 2, ty.name);
        // Three elements take the room of four, so the values go where they belong afterwards.
        let (declared, pointer) = match width {
            2 | 4 if !call.whole => (String::new(), format!("(global {name}{n} *)(d + {behind}) + i")),
            3 | 16 => (
                format!("local {name}{n} seconds{room}[{GROUP}];"),
                format!("&seconds{room}[get_local_id(0)]"),
            ),
            _ => (format!("{name}{n} second{room};"), format!("&second{room}")),
        };
        let first = store(&text.replace('@', &pointer), call.result, room);
        let second =
            if declared.is_empty() { String::new() } else { store(&format!("*({pointer})"), ty, behind) };
        format!("{declared} {first} {second}")
    }

    /// Evaluates calls for single numbers that are constants of the program, which the compiler folds: those
    /// of the given numbers for each call.
    pub fn fold(&self, calls: &[(Call, Vec<usize>)]) -> Result<Results, String> {
        let gpu = Gpu::get()?;
        let literal = |argument: usize, i: usize| {
            let ty = self.types[argument];
            format!("as_{}(({}){:#x}UL)", ty.name, ty.integers(false).name, self.values[argument][i])
        };
        let mut source = extensions(gpu);
        for (k, (call, numbers)) in calls.iter().enumerate() {
            source += &format!("kernel void fold{k}(global uchar *d) {{\n");
            for (place, &i) in numbers.iter().enumerate() {
                let [x, y, z] = [0, 1, 2].map(|argument| literal(argument, i));
                let [a, b, c] = self.types.map(|ty| ty.name);
                let statement = self.statement(1, call, &call.text.replace('#', ""), 0);
                source += &format!(
                    "{{ const size_t i = {place}; const {a} x = {x}; const {b} y = {y}, s = y; \
                     const {c} z = {z}, t = z; {statement} }}\n"
                );
            }
            source += "}\n";
        }
        // What is left of these is computed once for all lanes, with write masks that `iga64` reads otherwise
        // (`isa/src/witness.rs`).
        let program = gpu.build_unchecked(&source, "-cl-std=CL3.0")?;
        let mut results = Vec::new();
        for (k, (call, numbers)) in calls.iter().enumerate() {
            let output = gpu.buffer(&vec![0u8; self.room()])?;
            program.run(&format!("fold{k}"), &[output.arg()], &Launch::linear(1, 1))?;
            let bytes = output.read()?;
            let (first, second) = bytes.split_at(self.room() / 2);
            let values = |ty: &Type, bytes: &[u8]| unpack(ty, &bytes[..numbers.len() * ty.bytes]);
            let second = call.second.map(|ty| values(ty, second)).unwrap_or_default();
            results.push([values(call.result, first), second]);
        }
        Ok(results)
    }
}
