//! What becomes of small kernels: which ways through memory there are, what the interpreter is left with, what is refused.

use gencl_eu::abi::{Interpreted, Pattern, Request, Tier, Translation, VERSION, Variant};
use gencl_isa::{
    Arf, Branch, Condition, Descriptor, Destination, Extra, Generation, Instruction, MathFunction, Opcode,
    Operand, Predicate, PredicateControl, Region, Register, Send, SharedFunction, Source, Type, encode,
};
use gencl_translator::analysis::Refused;
use gencl_translator::{Choices, Context, to_ir};

const SCALAR: Region = Region::SCALAR;
const FOUR: Region = Region { vstride: 4, width: 4, hstride: 1 };
const ROW: Region = Region { vstride: 8, width: 8, hstride: 1 };

fn grf(number: u8, subregister: u8, region: Region, ty: Type) -> Operand {
    Operand::Register(Source::new(Register::Grf(number), subregister, region, ty))
}

fn instruction(opcode: Opcode, lanes: u8, to: (u8, Type), sources: &[Operand]) -> Instruction {
    let mut i = Instruction::new(opcode, lanes);
    i.destination = Destination::new(Register::Grf(to.0), 0, to.1);
    i.sources[..sources.len()].copy_from_slice(sources);
    i
}

fn message(target: SharedFunction, lanes: u8, to: Option<u8>, payload: u8, descriptor: u32) -> Instruction {
    let mut i = Instruction::new(Opcode::Send, lanes);
    i.destination = match to {
        Some(register) => Destination::new(Register::Grf(register), 0, Type::UW),
        None => Destination::null(Type::UW),
    };
    i.sources[0] = grf(payload, 0, if lanes == 1 { SCALAR } else { ROW }, Type::UD);
    i.extra = Extra::Send(Send {
        target,
        descriptor: Descriptor::Immediate(descriptor),
        extended: Descriptor::Immediate(0),
        end_of_thread: target == SharedFunction::ThreadSpawner,
    });
    i
}

/// A64 untyped read of a dword for each of eight lanes.
fn read(to: u8, addresses: u8) -> Instruction {
    message(
        SharedFunction::DataCache1,
        8,
        Some(to),
        addresses,
        2 << 25 | 1 << 20 | 0x11 << 14 | 2 << 12 | 0xe << 8 | 0xff,
    )
}

/// A write of a dword for each of eight lanes.
fn write(addresses: u8, data: u8) -> Instruction {
    let descriptor = 2 << 25 | 0x19 << 14 | 2 << 12 | 0xe << 8 | 0xff;
    let mut i = message(SharedFunction::DataCache1, 8, None, addresses, descriptor);
    i.opcode = Opcode::Sends;
    i.sources[1] = grf(data, 0, ROW, Type::UD);
    if let Extra::Send(send) = &mut i.extra {
        send.extended = Descriptor::Immediate(1 << 6);
    }
    i
}

/// Addresses of eight lanes: the pointer in g1, and offsets in `g4`.
fn addresses(to: u8) -> Instruction {
    instruction(Opcode::Add, 8, (to, Type::UQ), &[grf(1, 0, SCALAR, Type::UQ), grf(4, 0, ROW, Type::D)])
}

/// The local ids in g2 as dwords in g3, times four in g4.
fn offsets() -> [Instruction; 2] {
    let four = Operand::Immediate { bits: 2, ty: Type::UW };
    let ids = Operand::Register(Source::new(Register::Grf(2), 0, ROW, Type::UW));
    [
        instruction(Opcode::Mov, 8, (3, Type::UD), &[ids]),
        instruction(Opcode::Shl, 8, (4, Type::UD), &[grf(3, 0, ROW, Type::UD), four]),
    ]
}

fn end() -> [Instruction; 2] {
    let mut copy = instruction(Opcode::Mov, 8, (127, Type::UD), &[grf(0, 0, ROW, Type::UD)]);
    copy.no_mask = true;
    [copy, message(SharedFunction::ThreadSpawner, 8, None, 127, 1 << 25 | 1 << 4)]
}

fn request(body: &[Instruction], ids: Pattern) -> Request {
    let code = body.iter().chain(&end()).flat_map(|i| encode(Generation::Gen9, i).unwrap()).collect();
    let variant = Variant {
        simd_width: 8,
        full: true,
        cross_thread: 32,
        per_thread: vec![ids, Pattern::Any],
        indirect_data: false,
        control: 0x4c0,
        local: true,
        scratch: 0,
        images: Vec::new(),
        flat: false,
        barrier: true,
        single_thread: false,
        spins: false,
        strict: true,
        counted: false,
    };
    Request { version: VERSION, device: "skl".into(), code, variant, tier: Tier::Optimised }
}

/// What is known of a kernel, with its LLVM IR as text.
struct Written {
    ir: String,
    translation: Translation,
}

fn written(body: &[Instruction], ids: Pattern) -> Result<Written, Refused> {
    written_for(&request(body, ids))
}

fn written_for(request: &Request) -> Result<Written, Refused> {
    let context = Context::create();
    let lowered = to_ir(&context, request, &Choices::default())?;
    lowered.module.verify().unwrap();
    let ir = lowered.module.print_to_string().to_string();
    Ok(Written { ir, translation: lowered.translation })
}

fn refusal(request: &Request) -> String {
    written_for(request).err().map(|refused| refused.0).unwrap_or_default()
}

/// Whether the thread has to track which registers it has written, as it may read one before.
fn notes(request: &Request) -> bool {
    written_for(request).unwrap().ir.contains("i128")
}

/// How many reads of eight lanes are scattered, but for those in functions that are called rarely: gathered where hosts have masks,
/// elsewhere lane by lane to the last one.
fn scattered_reads(ir: &str) -> usize {
    let begin = ir.find("define i32 @").unwrap();
    let ir = &ir[begin..begin + ir[begin..].find("\n}").unwrap()];
    let last = |line: &&str| line.contains("insertelement <8 x i32>") && line.ends_with("i64 7");
    ir.matches("call <8 x i32> @llvm.masked.gather").count() + ir.lines().filter(last).count()
}

#[test]
fn lanes_that_follow_each_other_are_one_access() {
    let mut body = offsets().to_vec();
    body.extend([addresses(6), read(8, 6)]);
    let consecutive = written(&body, Pattern::Consecutive).unwrap();
    assert_eq!(scattered_reads(&consecutive.ir), 0, "{}", consecutive.ir);
    assert_eq!(consecutive.translation.windows, 1);
    assert_eq!(consecutive.translation.interpreted, []);
    let uniform = written(&body, Pattern::Uniform).unwrap();
    assert_eq!(scattered_reads(&uniform.ir), 0);
    let any = written(&body, Pattern::Any).unwrap();
    assert_eq!(scattered_reads(&any.ir), 1);
}

#[test]
fn what_is_a_constant_behind_others_is_one_access_too() {
    let behind = |bytes| {
        let constant = Operand::Immediate { bits: bytes, ty: Type::D };
        instruction(Opcode::Add, 8, (10, Type::UQ), &[grf(6, 0, FOUR, Type::UQ), constant])
    };
    let ir = |bytes, ids| {
        let mut body = offsets().to_vec();
        body.extend([addresses(6), read(8, 6), behind(bytes), read(12, 10)]);
        written(&body, ids).unwrap().ir
    };
    let near = ir(16, Pattern::Consecutive);
    assert_eq!(scattered_reads(&near), 0, "{near}");
    assert_eq!(scattered_reads(&ir(16, Pattern::Any)), 2);
}

#[test]
fn messages_with_one_pointer_have_one_window() {
    let mut body = offsets().to_vec();
    body.extend([addresses(6), read(8, 6), addresses(10), read(12, 10)]);
    assert_eq!(written(&body, Pattern::Consecutive).unwrap().translation.windows, 1);
    // Another scalar.
    let other = [grf(1, 8, SCALAR, Type::UQ), grf(4, 0, ROW, Type::D)];
    body[4] = instruction(Opcode::Add, 8, (10, Type::UQ), &other);
    assert_eq!(written(&body, Pattern::Consecutive).unwrap().translation.windows, 2);
}

#[test]
fn lanes_that_are_not_far_apart_are_read_with_what_lies_between() {
    let mut body = offsets().to_vec();
    let four = Operand::Immediate { bits: 4, ty: Type::UW };
    body.push(instruction(Opcode::Shl, 8, (4, Type::UD), &[grf(3, 0, ROW, Type::UD), four]));
    body.extend([addresses(6), read(8, 6)]);
    let ir = written(&body, Pattern::Consecutive).unwrap().ir;
    assert_eq!(scattered_reads(&ir), 0, "{ir}");
}

#[test]
fn lanes_in_front_of_each_other_are_one_access() {
    let mut body = offsets().to_vec();
    let all = Operand::Immediate { bits: 0xffff_ffff, ty: Type::UD };
    body.push(instruction(Opcode::Xor, 8, (4, Type::UD), &[grf(4, 0, ROW, Type::UD), all]));
    body.extend([addresses(6), read(8, 6), write(6, 8)]);
    let ir = written(&body, Pattern::Consecutive).unwrap().ir;
    // With its guard and without.
    assert_eq!(ir.matches("<8 x i32> <i32 7, i32 6,").count(), 4, "{ir}");
    assert_eq!(scattered_reads(&written(&body, Pattern::Any).unwrap().ir), 1);
}

#[test]
fn parts_of_elements_stay_in_their_lanes() {
    let bytes = Operand::Register(Source::new(Register::Grf(3), 1, Region::new(4, 1, 0), Type::UB));
    let mut back = instruction(Opcode::Mov, 8, (5, Type::UB), &[bytes]);
    (back.destination.subregister, back.destination.hstride) = (2, 4);
    let mut body = offsets().to_vec();
    body.extend([instruction(Opcode::Mov, 8, (5, Type::UD), &[grf(3, 0, ROW, Type::UD)]), back]);
    body.extend([addresses(6), write(6, 5)]);
    let ir = written(&body, Pattern::Any).unwrap().ir;
    assert!(!ir.contains("shufflevector <29 x i8>") && !ir.contains("shufflevector <25 x i8>"), "{ir}");
    assert_eq!(ir.matches("trunc <8 x i32>").count(), 1, "{ir}");
}

#[test]
fn what_llvm_does_lane_by_lane_is_written_otherwise() {
    let a = grf(3, 0, ROW, Type::UD);
    let mut divide = instruction(Opcode::Math, 8, (5, Type::UD), &[a, grf(4, 0, ROW, Type::UD)]);
    divide.extra = Extra::Math(MathFunction::IntDivQuotient);
    let convert = instruction(Opcode::Mov, 8, (5, Type::D), &[grf(5, 0, ROW, Type::F)]);
    let mut body = offsets().to_vec();
    body.extend([divide, convert, addresses(6), write(6, 5)]);
    let ir = written(&body, Pattern::Any).unwrap().ir;
    assert!(ir.contains("fdiv <8 x double>") && ir.contains("fptosi <8 x float>"), "{ir}");
    assert!(!ir.contains("udiv") && !ir.contains("fptosi.sat"), "{ir}");
}

#[test]
fn what_is_loaded_is_only_gathered_with() {
    let mut body = offsets().to_vec();
    body.extend([addresses(6), read(4, 6), addresses(10), read(12, 10)]);
    let ir = written(&body, Pattern::Consecutive).unwrap().ir;
    assert_eq!(scattered_reads(&ir), 1);
}

#[test]
fn a_kernel_that_waits_yields_and_a_barrier_needs_its_wait() {
    let barrier = {
        let mut i = message(SharedFunction::Gateway, 1, None, 0, 1 << 25 | 4);
        i.no_mask = true;
        i
    };
    let mut wait = Instruction::new(Opcode::Wait, 1);
    wait.no_mask = true;
    let counter = Register::Arf(Arf::Notification(0));
    wait.destination = Destination::new(counter, 0, Type::UD);
    wait.sources[0] = Operand::Register(Source::new(counter, 0, SCALAR, Type::UD));
    let waits = written(&[barrier, wait], Pattern::Any).unwrap();
    assert!(waits.translation.yields);
    let runs = written(&[], Pattern::Any).unwrap();
    assert!(!runs.translation.yields);
    assert!(refusal(&request(&[barrier], Pattern::Any)).contains("no wait follows"));
}

#[test]
fn what_the_host_computes_otherwise_is_interpreted() {
    let double = instruction(Opcode::Add, 4, (3, Type::DF), &[grf(2, 0, FOUR, Type::DF); 2]);
    let mut rounded = request(&[double], Pattern::Any);
    for rounding in 0..4 {
        rounded.variant.control = rounding << 4;
        assert_eq!(written_for(&rounded).unwrap().translation.interpreted, []);
    }
    let mut overflow =
        instruction(Opcode::Add, 8, (3, Type::F), &[grf(2, 0, ROW, Type::F), grf(2, 0, ROW, Type::F)]);
    overflow.condition = Some(Condition::Overflow);
    let left = written(&[overflow], Pattern::Any).unwrap().translation.interpreted;
    assert_eq!(left, [Interpreted { instruction: 0, reason: "add: these types and modifiers".into() }]);
}

/// The interpreter has accumulators of its own, so that host code has all of a kernel, or none.
#[test]
fn accumulators_of_dwords_are_host_code() {
    let row = |ty| [grf(2, 0, ROW, ty), grf(1, 0, ROW, ty)];
    let multiply = |ty| {
        let mut low = instruction(Opcode::Mul, 8, (0, ty), &row(ty));
        low.destination.register = Register::Arf(Arf::Accumulator(0));
        let mut high = instruction(Opcode::Mach, 8, (4, ty), &row(ty));
        high.accumulator_write = true;
        [low, high]
    };
    let left = |body: &[Instruction]| written(body, Pattern::Any).unwrap().translation.interpreted;
    assert_eq!(left(&multiply(Type::UD)), []);
    let words = [multiply(Type::D), multiply(Type::W)].concat();
    let left = left(&words);
    assert_eq!(left.iter().map(|left| left.instruction).collect::<Vec<_>>(), [0, 1, 2, 3]);
    assert!(left.iter().all(|left| left.reason.ends_with(": the accumulator")), "{left:?}");
}

/// An A64 untyped atomic operation on dwords of eight lanes: addresses in g8, operands from g10 on.
fn atomic(to: Option<u8>, length: u32, operation: u32) -> Instruction {
    let bits = length << 25 | operation << 8 | 0x12 << 14 | 0xff;
    let answer = if to.is_some() { 1 << 20 | 1 << 13 } else { 0 };
    message(SharedFunction::DataCache1, 8, to, 8, bits | answer)
}

#[test]
fn atomic_operations_are_the_hosts() {
    // An addition without answer, and `cmpxchg` with one.
    let [copy, shift] = offsets();
    let data = |to| instruction(Opcode::Mov, 8, (to, Type::UD), &[grf(3, 0, ROW, Type::UD)]);
    let ir = |i| {
        let body = [copy, shift, addresses(8), data(10), data(11), i];
        let found = written(&body, Pattern::Any).unwrap();
        assert_eq!((found.translation.interpreted.len(), found.translation.windows), (0, 1));
        found.ir
    };
    let sum = ir(atomic(None, 3, 7));
    assert!(sum.contains("llvm.vector.reduce.add.v8i32") && sum.contains("atomicrmw add"), "{sum}");
    let exchange = ir(atomic(Some(12), 4, 14));
    assert!(exchange.contains("cmpxchg ptr") && !exchange.contains("llvm.vector.reduce"), "{exchange}");
}

#[test]
fn an_exchange_with_what_was_there_does_not_wait() {
    let copy = |to, from: u8| instruction(Opcode::Mov, 8, (to, Type::UD), &[grf(from, 0, ROW, Type::UD)]);
    let constant =
        |to| instruction(Opcode::Mov, 8, (to, Type::UD), &[Operand::Immediate { bits: 1, ty: Type::UD }]);
    let more = |to, from: u8| {
        let one = Operand::Immediate { bits: 1, ty: Type::UD };
        instruction(Opcode::Add, 8, (to, Type::UD), &[grf(from, 0, ROW, Type::UD), one])
    };
    let exchange = atomic(Some(12), 4, 14);
    let mut differs =
        instruction(Opcode::Cmp, 8, (14, Type::UD), &[grf(12, 0, ROW, Type::UD), grf(10, 0, ROW, Type::UD)]);
    differs.condition = Some(Condition::NotEqual);
    let waits = |rounds: &[Instruction]| {
        let mut body = offsets().to_vec();
        body.extend([addresses(8), read(12, 8), addresses(6)]);
        body.extend(rounds);
        let mut back = Instruction::new(Opcode::While, 8);
        back.predicate = Some(Predicate { control: PredicateControl::Normal, inverse: false });
        back.extra = Extra::Branch(Branch { jip: -16 * rounds.len() as i32, ..Branch::default() });
        body.push(back);
        written(&body, Pattern::Consecutive).unwrap().translation.yields
    };
    let sum = [copy(10, 12), more(11, 10), exchange, differs];
    assert!(!waits(&sum));
    // With what is read each time, at the same place or at another.
    let mut again = differs;
    again.sources[1] = grf(16, 0, ROW, Type::UD);
    assert!(!waits(&[read(16, 8), copy(10, 16), more(11, 16), exchange, again]));
    let elsewhere = [read(16, 6), copy(10, 16), more(11, 16), exchange, again];
    assert!(waits(&elsewhere));
    // Also as long as the number is not what it should be.
    let mut less =
        instruction(Opcode::Cmp, 8, (14, Type::UD), &[grf(12, 0, ROW, Type::UD), grf(3, 0, ROW, Type::UD)]);
    less.condition = Some(Condition::Less);
    assert!(waits(&[&sum[..], &[less]].concat()));
    // Until there is a number, which somebody else has to write.
    assert!(waits(&[constant(10), more(11, 12), exchange, differs]));
    assert!(waits(&[copy(10, 12), constant(10), more(11, 12), exchange, differs]));
    assert!(waits(&[more(10, 12), atomic(Some(12), 3, 7), differs]));
}

#[test]
fn half_floats_are_extended_and_rounded_once() {
    let half = |n| grf(n, 0, ROW, Type::HF);
    let ir = |i| {
        let mut body = offsets().to_vec();
        body.extend([i, addresses(6), write(6, 5)]);
        let found = written(&body, Pattern::Any).unwrap();
        assert_eq!(found.translation.interpreted, []);
        found.ir
    };
    let sum = ir(instruction(Opcode::Add, 8, (5, Type::HF), &[half(2), half(2)]));
    assert!(sum.contains("fadd <8 x float>") && sum.contains("fptrunc <8 x float>"), "{sum}");
    // A sum of floats is rounded in doubles, so that rounding it to a half float is not a second time.
    let narrow = ir(instruction(Opcode::Add, 8, (5, Type::HF), &[half(2), grf(2, 0, ROW, Type::F)]));
    assert!(narrow.contains("fadd <8 x double>"), "{narrow}");
}

/// Lanes below 4 write g10 in one place and go on behind the other, in which the others write it. The thread passes both places without a lane, if one
/// believes that it can have none.
#[test]
fn what_each_channel_has_written_is_written() {
    let number = |bits| Operand::Immediate { bits, ty: Type::UD };
    let branch = |opcode, jip, uip| {
        let mut i = Instruction::new(opcode, 8);
        i.extra = Extra::Branch(Branch { jip, uip, ..Branch::default() });
        i
    };
    let mut below = instruction(Opcode::Cmp, 8, (5, Type::UD), &[grf(3, 0, ROW, Type::UD), number(4)]);
    below.condition = Some(Condition::Less);
    let predicated = |inverse, jip, uip| {
        let mut i = branch(Opcode::Goto, jip, uip);
        i.predicate = Some(Predicate { control: PredicateControl::Normal, inverse });
        i
    };
    let result = |n| instruction(Opcode::Mov, 8, (10, Type::UD), &[number(n)]);
    let copied = instruction(Opcode::Add, 8, (11, Type::UD), &[grf(10, 0, ROW, Type::UD), number(1)]);
    let mut body = offsets().to_vec();
    body.extend([
        below,
        predicated(false, 48, 48),
        result(1),
        predicated(true, 16, 48),
        branch(Opcode::Join, 32, 0),
        result(2),
        branch(Opcode::Join, 16, 0),
        copied,
    ]);
    assert!(!notes(&request(&body, Pattern::Consecutive)));
    // One of them does not.
    let missing = body.len() - 3;
    body[missing].destination = Destination::new(Register::Grf(12), 0, Type::UD);
    assert!(notes(&request(&body, Pattern::Consecutive)));
    // A place to which the thread goes when no lane is left in front of it: what is for all lanes there is for those that are elsewhere, too.
    let at_jip = |no_mask| {
        let mut body = offsets().to_vec();
        body.extend([below, predicated(false, 32, 48), result(1), Instruction { no_mask, ..copied }]);
        body.push(branch(Opcode::Join, 16, 0));
        notes(&request(&body, Pattern::Consecutive))
    };
    assert!(!at_jip(false));
    assert!(at_jip(true));
}

#[test]
fn what_may_be_unwritten_is_noted_where_it_matters() {
    let add = |from| {
        instruction(Opcode::Add, 8, (3, Type::D), &[grf(from, 0, ROW, Type::D), grf(2, 0, ROW, Type::D)])
    };
    let copy = instruction(Opcode::Mov, 8, (51, Type::D), &[grf(50, 0, ROW, Type::D)]);
    let strict = |body: &[Instruction]| request(body, Pattern::Any);
    let lenient = |body: &[Instruction]| {
        let Request { variant, .. } = strict(body);
        Request { variant: Variant { strict: false, ..variant }, ..strict(body) }
    };
    assert!(notes(&strict(&[add(50)])) && !notes(&lenient(&[add(50)])));
    // What is copied matters only if the copy is read.
    assert!(notes(&strict(&[copy, add(51)])) && !notes(&strict(&[copy])));
}

/// Code behind a branch that all channels take because its flags are a constant is not reached that way.
#[test]
fn constant_predicates_are_known() {
    let number = |bits| Operand::Immediate { bits, ty: Type::UW };
    let branch = |opcode, jip: i32, uip: i32| {
        let mut i = Instruction::new(opcode, 8);
        i.extra = Extra::Branch(Branch { jip: 16 * jip, uip: 16 * uip, ..Branch::default() });
        i.predicate = (opcode == Opcode::Goto)
            .then_some(Predicate { control: PredicateControl::Normal, inverse: false });
        i
    };
    let flags = |bits| {
        let mut i = instruction(Opcode::Mov, 1, (0, Type::UW), &[number(bits)]);
        i.destination = Destination::new(Register::Arf(Arf::Flag(0)), 0, Type::UW);
        i.no_mask = true;
        i
    };
    let set = instruction(Opcode::Mov, 8, (50, Type::D), &[number(1)]);
    let read = instruction(Opcode::Add, 8, (3, Type::D), &[grf(50, 0, ROW, Type::D), number(1)]);
    // Nobody comes to the read but by the first branch's other way, where the register is written.
    let mut below = instruction(Opcode::Cmp, 8, (5, Type::UD), &[grf(2, 0, ROW, Type::UW), number(4)]);
    below.condition = Some(Condition::Less);
    let [goto, join] = [Opcode::Goto, Opcode::Join];
    let is_noted = |bits| {
        let then = [below, branch(goto, 4, 4), set, flags(0), branch(goto, 1, 4)];
        let otherwise = [branch(join, 3, 0), flags(bits), branch(goto, 1, 3)];
        let behind = [branch(join, 2, 0), read, branch(join, 1, 0)];
        notes(&request(&[&then[..], &otherwise, &behind].concat(), Pattern::Any))
    };
    assert!(!is_noted(0));
    assert!(is_noted(0xff) && is_noted(0xf));
}

#[test]
fn refusals_say_why() {
    let other = Request { version: VERSION + 1, ..request(&[], Pattern::Any) };
    assert!(refusal(&other).contains("version"));
    let nowhere = Request { device: "i740".into(), ..request(&[], Pattern::Any) };
    assert!(refusal(&nowhere).contains("no device"));
    let many = vec![instruction(Opcode::Mov, 8, (3, Type::D), &[grf(2, 0, ROW, Type::D)]); 40_001];
    assert!(refusal(&request(&many, Pattern::Any)).contains("instructions are more than"));
}
