//! Lane-serial loops: where the loads of a lane have unit stride across iterations, a loop is executed for one lane after the other, with scalars. All lanes together
//! would gather.
//!
//! Such a loop writes nothing, so that it may be restarted: if a lane's address is out of bounds of its window, all lanes execute the generic version.

use rustc_hash::{FxHashMap, FxHashSet};

use super::natural::{Loop, loops};
use super::sums::Evolutions;
use crate::middle::function::{Block, Constant, End, Function, Instruction, Target, Value};
use crate::middle::op::{Access, Addressing, Binary, Convert, Inside, Op, Relation, Space};
use crate::middle::types::{Scalar, Type};

/// The most instructions of such a loop.
const MAX_INSTRUCTIONS: usize = 200;

/// The same function with such loops.
pub fn serialise(function: &Function) -> Function {
    let mut result = function.clone();
    for found in loops(function) {
        if let Some(plan) = Plan::new(&result, &found) {
            Serial::write(&mut result, &found, &plan);
        }
    }
    result
}

/// The live-ins and live-outs of a loop, if it can be executed so and that pays.
struct Plan {
    lanes: usize,
    /// Its live-in vectors, parameters of the header among them.
    inputs: Vec<Value>,
    /// Its live-out vectors.
    outputs: Vec<Value>,
    /// Its blocks in reverse post-order.
    order: Vec<Block>,
}

impl Plan {
    fn new(function: &Function, own: &Loop) -> Option<Plan> {
        let order = own.order(function);
        let instructions: Vec<Instruction> =
            order.iter().flat_map(|block| function.block(*block).instructions.clone()).collect();
        let loads = instructions.iter().filter(|n| matches!(function.instruction(**n).op, Op::Load(_)));
        let lanes = loads.map(|n| function.ty(function.instruction(*n).operands[1]).lanes).max()?;
        if instructions.len() > MAX_INSTRUCTIONS || lanes < 2 || !pays(function, own, &instructions) {
            return None;
        }
        let lanes = usize::from(lanes);
        let defined = own.defined(function);
        for instruction in &instructions {
            let data = function.instruction(*instruction);
            // The bits of a mask are only compared with 0.
            let of_bits = |value: &Value| matches!(function.source(*value), Some((Op::Bits, _)));
            let is_odd = data.operands.iter().any(of_bits) && data.op != Op::ICmp(Relation::Ne);
            if is_odd || !fits(function, &data.op, &data.operands, &data.results, lanes) {
                return None;
            }
        }
        let mut inputs: Vec<Value> = function.block(own.header).parameters.clone();
        let mut used: Vec<Value> =
            instructions.iter().flat_map(|n| function.instruction(*n).operands.clone()).collect();
        let targets = order.iter().flat_map(|block| function.block(*block).end.targets());
        used.extend(targets.flat_map(|target| &target.arguments));
        let is_vector = |value: &Value| function.ty(*value).lanes > 1;
        let is_varying = |value: &Value| same_lanes(function, *value, lanes).is_none();
        inputs.extend(
            used.iter().filter(|value| is_vector(value) && is_varying(value) && !defined.contains(value)),
        );
        inputs.retain(is_vector);
        let mut seen = FxHashSet::default();
        inputs.retain(|value| seen.insert(*value));
        // All lanes of a vector are those of the loop, or masks with some more.
        let has_lanes = |value: &Value| {
            let ty = function.ty(*value);
            usize::from(ty.lanes) == lanes || ty.scalar == Scalar::Mask && usize::from(ty.lanes) > lanes
        };
        let outputs = own.outputs(function);
        let is_known = outputs.iter().all(|value| is_vector(value) && has_lanes(value));
        let vectors = defined.iter().filter(|value| is_vector(value)).all(has_lanes);
        (is_known && vectors && inputs.iter().all(has_lanes)).then_some(Plan {
            lanes,
            inputs,
            outputs,
            order,
        })
    }
}

/// What a constant is in all of the first lanes.
fn same_lanes(function: &Function, value: Value, lanes: usize) -> Option<u128> {
    let constant = function.as_constant(value)?;
    let count = lanes.min(function.ty(value).lanes.into());
    (0..count).all(|lane| constant.lane(lane) == constant.lane(0)).then(|| constant.lane(0))
}

/// Whether an operation can be done for one lane alone.
fn fits(function: &Function, op: &Op, operands: &[Value], results: &[Value], lanes: usize) -> bool {
    let is_scalar = results.iter().all(|value| function.ty(*value).lanes == 1);
    match op {
        Op::Cancelled | Op::Splat => true,
        Op::Load(access) => !matches!(access.space, Space::Scratch | Space::Image),
        // Whether a mask has a lane: that of the lane.
        Op::ICmp(Relation::Ne) if is_scalar => {
            let of_mask = matches!(function.source(operands[0]), Some((Op::Bits, _)));
            !of_mask || matches!(function.as_constant(operands[1]), Some(Constant::All(0)))
        }
        Op::Bits => true,
        Op::Shuffle(order) => {
            is_scalar && operands.iter().all(|value| function.ty(*value).lanes == 1)
                || lane_of(function, order, operands, lanes).is_some()
        }
        Op::Convert(Convert::Bitcast) => function.ty(operands[0]).lanes == function.ty(results[0]).lanes,
        Op::Mask | Op::Input(_) => false,
        _ => op.is_pure(),
    }
}

/// The operand whose lanes a shuffle leaves where they are.
fn lane_of(function: &Function, order: &[u16], operands: &[Value], lanes: usize) -> Option<usize> {
    let first = usize::from(function.ty(operands[0]).lanes);
    let stays = |from: usize| {
        order.len() >= lanes && order[..lanes].iter().enumerate().all(|(n, at)| usize::from(*at) == from + n)
    };
    [0, first].into_iter().position(stays).filter(|operand| *operand < operands.len())
}

/// Whether loads have unit stride across iterations, but none across lanes.
fn pays(function: &Function, own: &Loop, instructions: &[Instruction]) -> bool {
    // Evolutions are appended to a copy.
    let mut copy = function.clone();
    let entry = (copy.add_block(), function.block(own.header).parameters.clone());
    let mut evolutions = Evolutions::new(copy, own, entry, true);
    instructions.iter().any(|instruction| {
        let data = function.instruction(*instruction);
        let Op::Load(access) = &data.op else { return false };
        // Where all lanes are in the loop, `ahead` has vectors of all of them.
        let is_masked = function.as_constant(data.operands[0]).is_none();
        let is_varying = is_masked && access.stride().is_none() && function.ty(data.operands[1]).lanes > 1;
        let size = access.elements.count() * usize::from(access.elements.size);
        let step = if is_varying { evolutions.of(data.operands[1]).and_then(|own| own.step) } else { None };
        let step = step.and_then(|step| evolutions.builder.function.as_constant(step));
        step == Some(&Constant::All(size as u128))
    })
}

/// A loop that is written for one lane.
struct Serial<'a> {
    function: &'a mut Function,
    plan: &'a Plan,
    /// The scalar of each value.
    scalars: FxHashMap<Value, Value>,
    /// The first block of each block's code.
    blocks: FxHashMap<Block, Block>,
    /// Where code is appended.
    current: Block,
    /// The generic version.
    bail: Target,
}

impl Serial<'_> {
    fn write(function: &mut Function, own: &Loop, plan: &Plan) {
        let arrays = function.instructions.values().filter_map(|data| match data.op {
            Op::SetArray(number) => Some(number + 1),
            _ => None,
        });
        let first_array = arrays.max().unwrap_or(0);
        // Both versions leave to one block.
        let join = own.insert_exit(function, &plan.outputs);
        let (entry, given) = own.insert_preheader(function);
        let header = function.block(own.header).parameters.clone();
        // The loop over lanes.
        let lane_block = function.add_block();
        let number = Type::int(32, 1);
        let lane = function.add_parameter(lane_block, number);
        let zero = function.constant(number, Constant::All(0));
        let inputs: Vec<Value> = plan
            .inputs
            .iter()
            .map(|value| header.iter().position(|own| own == value).map_or(*value, |n| given[n]))
            .collect();
        let array = |n: usize| first_array + n as u16;
        for (n, value) in inputs.iter().enumerate() {
            function.add_instruction(entry, Op::SetArray(array(n)), &[*value], &[], 0);
        }
        let out = |n: usize| array(inputs.len() + n);
        for (n, value) in plan.outputs.iter().enumerate() {
            let none = function.constant(function.ty(*value), Constant::All(0));
            function.add_instruction(entry, Op::SetArray(out(n)), &[none], &[], 0);
        }
        function.block_mut(entry).end = End::Jump(Target { block: lane_block, arguments: vec![zero] });
        let bail = Target { block: own.header, arguments: given.clone() };
        let mut serial = Serial {
            function,
            plan,
            scalars: FxHashMap::default(),
            blocks: FxHashMap::default(),
            current: lane_block,
            bail,
        };
        for (n, value) in header.iter().enumerate() {
            serial.scalars.insert(*value, given[n]);
        }
        for (n, value) in plan.inputs.iter().enumerate() {
            let ty = serial.function.ty(*value).with_lanes(1);
            let own = serial.append(Op::GetElement(array(n)), &[lane], &[ty], 0)[0];
            serial.scalars.insert(*value, own);
        }
        let begin: Vec<Value> = header.iter().map(|value| serial.scalars[value]).collect();
        for block in &plan.order {
            let new = serial.function.add_block();
            serial.blocks.insert(*block, new);
            for parameter in serial.function.block(*block).parameters.clone() {
                let ty = serial.function.ty(parameter).with_lanes(1);
                let own = serial.function.add_parameter(new, ty);
                serial.scalars.insert(parameter, own);
            }
        }
        let to_header = Target { block: serial.blocks[&own.header], arguments: begin };
        serial.function.block_mut(lane_block).end = End::Jump(to_header.clone());
        let done = serial.function.add_block();
        for block in &plan.order {
            serial.block(own, *block, done);
        }
        let mask = serial.mask(own);
        let blocks: FxHashSet<Block> = (to_header.block.0..serial.function.blocks.len() as u32)
            .map(Block)
            .filter(|block| *block != done)
            .collect();
        let leaves =
            |block: &&Block| serial.function.block(**block).end.targets().any(|target| target.block == done);
        let last = blocks.iter().find(leaves).copied();
        // A lane's results.
        serial.current = done;
        for (n, value) in plan.outputs.iter().enumerate() {
            let own = serial.scalar(*value);
            serial.append(Op::SetElement(out(n)), &[lane, own], &[], 0);
        }
        let one = serial.function.constant(number, Constant::All(1));
        let count = serial.function.constant(number, Constant::All(plan.lanes as u128));
        let next = serial.append(Op::Binary(Binary::Add), &[lane, one], &[number], 0)[0];
        let more = serial.append(Op::ICmp(Relation::Ult), &[next, count], &[Type::mask(1)], 0)[0];
        let end = serial.function.add_block();
        let again = Target { block: lane_block, arguments: vec![next] };
        let leave = Target { block: end, arguments: Vec::new() };
        serial.function.block_mut(done).end = End::Branch { condition: more, yes: again, no: leave };
        serial.current = end;
        let types: Vec<Type> = plan.outputs.iter().map(|value| serial.function.ty(*value)).collect();
        let all: Vec<Value> = types
            .iter()
            .enumerate()
            .map(|(n, ty)| serial.append(Op::GetArray(out(n)), &[], &[*ty], 0)[0])
            .collect();
        serial.function.block_mut(end).end = End::Jump(Target { block: join, arguments: all });
        if let (Some(mask), Some(last)) = (mask, last) {
            let inner =
                Loop { header: to_header.block, blocks, entering: lane_block, exiting: last, exit: done };
            specialise(function, &inner, mask, &to_header);
        }
    }

    /// Which of the header's parameters says whether a lane is in the loop: the mask of what it reads.
    fn mask(&self, own: &Loop) -> Option<usize> {
        let instructions = self.plan.order.iter().flat_map(|block| &self.function.block(*block).instructions);
        let mut masks = instructions.filter_map(|instruction| {
            let data = self.function.instruction(*instruction);
            matches!(data.op, Op::Load(_)).then(|| self.scalars.get(&data.operands[0]))
        });
        let mask = masks.next()??;
        let parameters = &self.function.block(self.blocks[&own.header]).parameters;
        parameters.iter().position(|own| own == mask)
    }

    fn append(&mut self, op: Op, operands: &[Value], results: &[Type], origin: u32) -> Vec<Value> {
        self.function.add_instruction(self.current, op, operands, results, origin)
    }

    /// The scalar of a value.
    fn scalar(&mut self, value: Value) -> Value {
        if let Some(own) = self.scalars.get(&value) {
            return *own;
        }
        match same_lanes(self.function, value, self.plan.lanes) {
            Some(bits) => self.function.constant(self.function.ty(value).with_lanes(1), Constant::All(bits)),
            // A scalar from outside.
            _ => value,
        }
    }

    fn block(&mut self, own: &Loop, block: Block, done: Block) {
        self.current = self.blocks[&block];
        for instruction in self.function.block(block).instructions.clone() {
            self.instruction(instruction);
        }
        let mut end = self.function.block(block).end.clone();
        if let End::Branch { condition, .. } = &mut end {
            *condition = self.scalar(*condition);
        }
        for target in end.targets_mut() {
            let arguments = target.arguments.clone();
            *target = match self.blocks.get(&target.block) {
                Some(inner) => {
                    let inner = *inner;
                    Target {
                        block: inner,
                        arguments: arguments.iter().map(|value| self.scalar(*value)).collect(),
                    }
                }
                None if target.block == own.header => target.clone(),
                None if self.function.is_fault(target.block) => target.clone(),
                None => Target { block: done, arguments: Vec::new() },
            };
        }
        self.function.block_mut(self.current).end = end;
    }

    fn instruction(&mut self, instruction: Instruction) {
        let data = self.function.instruction(instruction).clone();
        let operands: Vec<Value> = data.operands.iter().map(|value| self.scalar(*value)).collect();
        let results: Vec<Type> =
            data.results.iter().map(|value| self.function.ty(*value).with_lanes(1)).collect();
        let found = match &data.op {
            Op::Splat | Op::Bits => vec![operands[0]],
            Op::ICmp(Relation::Ne)
                if matches!(self.function.source(data.operands[0]), Some((Op::Bits, _))) =>
            {
                vec![operands[0]]
            }
            Op::Shuffle(order) => {
                vec![operands[lane_of(self.function, order, &data.operands, self.plan.lanes).unwrap_or(0)]]
            }
            Op::Load(access) => self.load(access, &operands, &results, data.origin),
            op => self.append(op.clone(), &operands, &results, data.origin),
        };
        self.scalars.extend(data.results.iter().copied().zip(found));
    }

    /// A load under a bounds check; out of bounds it goes to the generic version.
    fn load(&mut self, access: &Access, operands: &[Value], results: &[Type], origin: u32) -> Vec<Value> {
        let [mask, address] = [operands[0], operands[1]];
        let (window, bytes) = (access.window, access.elements.span() as u32);
        let inside =
            Inside { space: access.space, window, first: 0, bytes, alignment: access.elements.alignment };
        let [asked, here, join] = [(); 3].map(|()| self.function.add_block());
        let found: Vec<Value> = results.iter().map(|ty| self.function.add_parameter(join, *ty)).collect();
        let none: Vec<Value> =
            results.iter().map(|ty| self.function.constant(*ty, Constant::All(0))).collect();
        let to = |block: Block, arguments: Vec<Value>| Target { block, arguments };
        let end = match self.function.as_constant(mask) {
            Some(_) => End::Jump(to(asked, Vec::new())),
            None => End::Branch { condition: mask, yes: to(asked, Vec::new()), no: to(join, none) },
        };
        self.function.block_mut(self.current).end = end;
        self.current = asked;
        let holds = self.append(Op::Inside(inside), &[address], &[Type::mask(1)], origin)[0];
        let bail = self.bail.clone();
        self.function.block_mut(asked).end =
            End::Branch { condition: holds, yes: to(here, Vec::new()), no: bail };
        self.current = here;
        let all = self.function.constant(Type::mask(1), Constant::All(1));
        let access = Access { addressing: Addressing::Affine(0), is_guarded: true, ..access.clone() };
        let own = self.append(Op::Load(Box::new(access)), &[all, address, address, all], results, origin);
        self.function.block_mut(here).end = End::Jump(to(join, own));
        self.current = join;
        found
    }
}

/// Versions a loop of one lane: the copy, without checks of the lane's mask, is executed while the lane is in the loop.
fn specialise(function: &mut Function, own: &Loop, mask: usize, entry: &Target) {
    let outputs = own.outputs(function);
    let join = own.insert_exit(function, &outputs);
    let all = function.constant(Type::mask(1), Constant::All(1));
    let parameters = function.block(own.header).parameters.clone();
    let copy = own.copied(function, join, &[(parameters[mask], all)]);
    let header = copy.blocks[&own.header];
    let choose = |arguments: &[Value]| {
        let to = |block: Block| Target { block, arguments: arguments.to_vec() };
        End::Branch { condition: arguments[mask], yes: to(header), no: to(own.header) }
    };
    function.block_mut(own.entering).end = choose(&entry.arguments);
    let back = function.add_block();
    let next: Vec<Value> =
        parameters.iter().map(|value| function.add_parameter(back, function.ty(*value))).collect();
    for block in copy.blocks.values() {
        let targets = function.block_mut(*block).end.targets_mut();
        targets.filter(|target| target.block == header).for_each(|target| target.block = back);
    }
    function.block_mut(back).end = choose(&next);
}
