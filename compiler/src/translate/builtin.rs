//! Intrinsics of the library, which it declares and the compiler translates: `__gencl_*` of
//! `library/gencl.h`.

use gencl_program::PushSource;

use super::Failure;
use super::translator::{Regs, Translator};
use crate::conversion::Conversion;
use crate::ir::{BinaryOp, Family, Input, Op, Space, Type, UnaryOp};
use crate::llvm::atomics::{GLOBAL_FENCE, LOCAL_FENCE};
use crate::llvm::prepare::MAKE_SAMPLER;
use crate::llvm::view::Value;
use crate::unsupported;

/// The input of a dimension.
type OfDimension = fn(u8) -> Input;

/// Inputs of the launch, by function name.
const INPUTS: &[(&str, OfDimension)] = &[
    ("local_id", Input::LocalId),
    ("group_id", Input::GroupId),
    ("local_size", |d| Input::Push(PushSource::LocalSize(d))),
    ("enqueued_local_size", |d| Input::Push(PushSource::EnqueuedLocalSize(d))),
    ("num_groups", |d| Input::Push(PushSource::NumGroups(d))),
    ("global_size", |d| Input::Push(PushSource::GlobalSize(d))),
    ("global_offset", |d| Input::Push(PushSource::GlobalOffset(d))),
];

/// Functions of the MATH unit.
const UNARY: &[(&str, UnaryOp)] = &[
    ("rcp", UnaryOp::Rcp),
    ("rsqrt", UnaryOp::Rsqrt),
    ("sqrt", UnaryOp::Sqrt),
    ("exp2", UnaryOp::Exp2),
    ("log2", UnaryOp::Log2),
    ("sin", UnaryOp::Sin),
    ("cos", UnaryOp::Cos),
];
const BINARY: &[(&str, BinaryOp)] = &[("pow", BinaryOp::Pow), ("divide", BinaryOp::FastDiv)];

impl<'m> Translator<'_, 'm> {
    /// A call.
    pub fn call(&mut self, instruction: Value<'m>) -> Result<Regs, Failure> {
        let Some(callee) = instruction.callee() else {
            return Err(Failure::new("calls by pointer and inline assembly are not supported"));
        };
        let name = callee.name();
        if let Some(name) = name.strip_prefix("llvm.") {
            return self.intrinsic(name, instruction);
        }
        if let Some(name) = name.strip_prefix("__gencl_") {
            return self.builtin(name, instruction);
        }
        if let Some(conversion) = Conversion::parse(&name).filter(|_| callee.is_declaration()) {
            return self.each(instruction, |this, _, operands| Ok(this.converted(conversion, operands[0])));
        }
        if name == MAKE_SAMPLER {
            // Those that use it look for what it is made of.
            return Ok(Regs::new());
        }
        Err(Failure::new(if !callee.is_declaration() {
            format!("{name} calls itself; recursion is not supported")
        } else {
            let name = plain(&name);
            match unsupported::function(name) {
                Some(what) => format!("{what} ({name})"),
                None => format!("{name} is not defined"),
            }
        }))
    }

    fn builtin(&mut self, name: &str, instruction: Value<'m>) -> Result<Regs, Failure> {
        let arguments = instruction.call_arguments();
        if let Some((_, input)) = INPUTS.iter().find(|(input, _)| *input == name) {
            let dimension = arguments[0].integer().filter(|&dimension| dimension < 3);
            let dimension = dimension.ok_or_else(|| Failure::new(format!("{name}: no such dimension")))?;
            let input = input(dimension as u8);
            return Ok(Regs::from_elem(
                match input {
                    Input::LocalId(_) => {
                        let word = self.input(input, Family::Word);
                        self.convert(Type::U32, Type::U16, word)
                    }
                    _ => self.input(input, Family::Dword),
                },
                1,
            ));
        }
        if let Some((_, op)) = UNARY.iter().find(|(unary, _)| *unary == name) {
            let x = self.one(arguments[0])?;
            return Ok(Regs::from_elem(self.unary(*op, Type::F32, x), 1));
        }
        if let Some((_, op)) = BINARY.iter().find(|(binary, _)| *binary == name) {
            let (x, y) = (self.one(arguments[0])?, self.one(arguments[1])?);
            return Ok(Regs::from_elem(self.binary(*op, Type::F32, x, y), 1));
        }
        if let Some(result) = self.across_lanes(name, &arguments)? {
            return Ok(result);
        }
        if let Some(name) = name.strip_prefix("image_") {
            return self.image_function(name, &arguments);
        }
        if let Some(name) = name.strip_prefix("atomic_") {
            return self.atomic_function(name, instruction);
        }
        match name {
            "printf_buffer" => Ok(self.buffer(PushSource::PrintfBuffer)),
            "check_buffer" => Ok(self.buffer(PushSource::CheckBuffer)),
            "race_check" => self.race_check(&arguments),
            "shadow_of_argument" => {
                let argument = arguments[0].integer().unwrap_or_default() as u32;
                Ok(self.buffer(PushSource::Shadow { argument }))
            }
            "shadow_of_local" => {
                let offset = self.input(Input::Push(PushSource::LocalShadow), Family::Dword);
                Ok(Regs::from_elem(offset, 1))
            }
            "event" => Ok(Regs::from_elem(self.immediate(Type::U32, 1), 1)),
            "event_number" => self.value(arguments[0]),
            "sampler_number" => self.sampler_number(arguments[0]),
            "work_dim" => Ok(Regs::from_elem(self.input(Input::Push(PushSource::WorkDim), Family::Dword), 1)),
            "barrier_wait" => {
                self.emit(Op::BarrierWait, &[], &[]);
                Ok(Regs::new())
            }
            "clock" => {
                let halves = [(); 2].map(|()| self.function.new_register(Family::Dword));
                self.emit(Op::Clock, &halves, &[]);
                Ok(Regs::from_slice(&halves))
            }
            "barrier" | "barrier_arrive" | "sub_group_barrier" | "fence" => {
                // If the flags are not constant, assume both.
                let flags = arguments[0].integer().unwrap_or(LOCAL_FENCE | GLOBAL_FENCE);
                let (local, global) = (flags & LOCAL_FENCE != 0, flags & GLOBAL_FENCE != 0);
                let barrier = name.starts_with("barrier");
                let op = match name {
                    "barrier" => Op::Barrier { local, global },
                    "barrier_arrive" => Op::BarrierArrive { local, global },
                    "sub_group_barrier" => Op::SubgroupBarrier { local, global },
                    _ => Op::Fence { local, global },
                };
                self.emit(op, &[], &[]);
                self.function.kernel.barrier |= barrier;
                Ok(Regs::new())
            }
            _ => Err(Failure::new(format!("__gencl_{name} does not exist"))),
        }
    }
}

impl<'m> Translator<'_, 'm> {
    /// A check for data races: constants, then the sources of the operation.
    fn race_check(&mut self, arguments: &[Value<'m>]) -> Result<Regs, Failure> {
        let [site, granules, control] = [0, 1, 2].map(|index| arguments[index].integer().unwrap_or_default());
        let mut sources = Vec::new();
        for value in &arguments[3..] {
            sources.push(self.one(*value)?);
        }
        let op = Op::RaceCheck { site: site as u32, granules: granules as u32, control: control as u8 };
        self.emit(op, &[], &sources);
        Ok(Regs::new())
    }

    /// The address of a buffer of the launch.
    fn buffer(&mut self, source: PushSource) -> Regs {
        Regs::from_elem(self.input(Input::Push(source), self.pointers.address(Space::Global).family()), 1)
    }
}

/// A mangled name's plain part: `_Z3sinf` is sin.
fn plain(name: &str) -> &str {
    let Some(rest) = name.strip_prefix("_Z") else { return name };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let length: usize = rest[..digits].parse().unwrap_or(0);
    rest.get(digits..digits + length).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_are_made_plain() {
        assert_eq!(super::plain("_Z14work_group_alli"), "work_group_all");
        assert_eq!(super::plain("helper"), "helper");
        assert_eq!(super::plain("_Z99x"), "_Z99x");
    }
}
