//! How a thread begins, stops, and goes on.

use std::mem::offset_of;

use gencl_eu::abi::{Frame, YIELD};

use super::{FILE, Lowering, ONE_THREAD, llvm};
use crate::ir::{I32, I64, POINTER, Ty, Value as LlvmValue};
use crate::middle::function::{Block, Target};
use crate::middle::op::Input;
use crate::middle::types::{Scalar, Type};

/// How inputs are read.
const INPUT: &str = "align 1, !tbaa !2, !invariant.load !5";
/// Bytes of a half register of the thread's own constants.
const HALF: usize = 16;

impl Lowering<'_> {
    /// Goes to where the thread begins or goes on.
    pub fn dispatch(&mut self) {
        let files = self.constant(POINTER, offset_of!(Frame, files));
        let number = if self.stops { self.thread.clone() } else { LlvmValue::int(I32, 0) };
        let wide = self.f.convert("zext", &number, I64);
        let bytes = self.f.binary("mul", &wide, &LlvmValue::int(I64, 8));
        let at = self.f.offset(&files, &bytes);
        self.file = self.f.load(POINTER, &at, super::CONSTANT);
        if !self.stops {
            return self.f.jump(self.labels[0]);
        }
        let resumed = self.function.resumed.iter().map(|block| self.labels[block.0 as usize]);
        let targets: Vec<_> = std::iter::once(self.labels[0]).chain(resumed).collect();
        let place = LlvmValue::int(I32, u64::from(!YIELD));
        let place = self.f.binary("and", &LlvmValue::named(I32, "%resume"), &place);
        self.f.switch(&place, &targets);
    }

    /// Something that the thread begins with.
    pub fn input(&mut self, input: Input, ty: Ty) -> LlvmValue {
        let at = match input {
            Input::Header(offset) => {
                let headers = self.constant(POINTER, offset_of!(Frame, headers));
                let step = self.constant(I64, offset_of!(Frame, header_step));
                let number = self.f.convert("zext", &self.thread.clone(), I64);
                let bytes = self.f.binary("mul", &number, &step);
                let own = self.f.offset(&headers, &bytes);
                self.f.at(&own, offset.into())
            }
            Input::CrossThread(offset) => {
                let all = self.constant(POINTER, offset_of!(Frame, cross_thread));
                self.f.at(&all, offset.into())
            }
            Input::PerThread(offset) => {
                let own = self.constant(POINTER, offset_of!(Frame, per_thread));
                let own = self.element_at(&own, self.plan.variant.per_thread.len() * HALF);
                self.f.at(&own, offset.into())
            }
            Input::Mask => {
                let masks = self.constant(POINTER, offset_of!(Frame, masks));
                self.element_at(&masks, 4)
            }
        };
        self.f.load(ty, &at, INPUT)
    }

    /// Where a thread keeps the parameters of a block where it goes on, with their types, and the end.
    fn kept(&self, block: Block) -> (Vec<(usize, Ty, Type)>, usize) {
        let mut at = 0;
        let parameters = &self.function.block(block).parameters;
        let kept = parameters.iter().map(|parameter| {
            let ty = self.function.ty(*parameter);
            let own = match ty.scalar {
                Scalar::Mask => Ty::int(u32::from(ty.lanes).next_multiple_of(8), 1),
                _ => llvm(ty),
            };
            let place = at;
            at += (own.scalar.bits() * own.lanes / 8) as usize;
            (place, own, ty)
        });
        (kept.collect(), at)
    }

    /// Bytes that a thread keeps while it has stopped.
    pub fn saved(&self) -> usize {
        self.function.resumed.iter().map(|block| self.kept(*block).1).max().unwrap_or(0).next_multiple_of(8)
    }

    fn saved_place(&mut self) -> LlvmValue {
        let all = self.constant(POINTER, offset_of!(Frame, saved));
        let size = self.saved();
        self.element_at(&all, size)
    }

    /// Keeps what a block takes.
    pub fn save(&mut self, target: &Target) {
        let place = self.saved_place();
        let (kept, _) = self.kept(target.block);
        for ((offset, own, ty), argument) in kept.into_iter().zip(&target.arguments) {
            let value = match ty.scalar {
                Scalar::Mask => {
                    let bits = self.value(*argument);
                    self.f.convert("zext", &bits, own)
                }
                _ => self.value(*argument),
            };
            let at = self.f.at(&place, offset);
            self.f.store(&value, &at, FILE);
        }
    }

    /// Takes what has been kept.
    pub fn restore(&mut self, block: Block) {
        let place = self.saved_place();
        let (kept, _) = self.kept(block);
        for ((offset, own, ty), parameter) in kept.into_iter().zip(&self.function.block(block).parameters) {
            let at = self.f.at(&place, offset);
            let value = self.f.load(own, &at, FILE);
            let value = match ty.scalar {
                Scalar::Mask => self.f.convert("trunc", &value, Ty::int(ty.lanes.into(), 1)),
                _ => value,
            };
            self.values.insert(*parameter, value);
        }
    }

    /// Writes the function around that of a thread.
    pub fn around(&mut self, header: &str) {
        let entry = self.f.label();
        self.f.begin(entry);
        let known = self.look_at_all().typed();
        let call = |lowering: &mut Self, number: &LlvmValue, resume: &str| {
            let (frame, number) = (lowering.frame.typed(), number.typed());
            lowering
                .f
                .value(I32, &format!("call i32 @{ONE_THREAD}({frame}, {number}, i32 {resume}, {known})"))
        };
        if self.stops {
            let number = self.thread.clone();
            let ended = call(self, &number, "%resume");
            self.f.ret(&ended);
        } else {
            let number = self.f.variable(4);
            self.f.store(&LlvmValue::int(I32, 0), &number, FILE);
            let count = self.constant(I32, offset_of!(Frame, threads));
            let [next, more, end] = [(); 3].map(|()| self.f.label());
            self.f.begin(next);
            let own = self.f.load(I32, &number, FILE);
            let ended = call(self, &own, "0");
            let fault = self.f.compare("icmp ne", &ended, &LlvmValue::int(I32, 0));
            self.f.branch(&fault, end, more);
            self.f.begin(more);
            let after = self.f.binary("add nuw", &own, &LlvmValue::int(I32, 1));
            self.f.store(&after, &number, FILE);
            let last = self.f.compare("icmp eq", &after, &count);
            self.f.branch(&last, end, next);
            self.f.begin(end);
            self.f.ret(&ended);
        }
        self.module.add(std::mem::take(&mut self.f), header, entry);
    }
}
