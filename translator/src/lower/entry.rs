//! The loop over the threads of a work-group: inputs, suspension at barriers, resumption.

use std::mem::{offset_of, size_of};

use gencl_eu::abi::{Frame, Image, YIELD};

use super::{CONSTANT, FILE, FRAME, Lowering, llvm};
use crate::ir::{Class, I32, I64, Label, Mark, POINTER, Ty, Value as LlvmValue};
use crate::middle::function::{Block, Target};
use crate::middle::op::{Binary, Input, Relation};
use crate::middle::types::{Scalar, Type};

/// Reads of inputs.
const INPUT: Mark = Mark::invariant(1, Class::Frame);
/// Bytes of a half register of the thread's own constants.
const HALF: usize = 16;

impl<'c> Lowering<'_, 'c> {
    /// Builds the loop over threads, which begins at `entry`: its preheader, its latch, and the outer loop over barriers.
    pub fn loop_over_threads(&mut self, entry: Label<'c>) {
        let [first, end, resume] = [1, 2, 3].map(|number| self.f.parameter(number));
        let [all, done] = [(); 2].map(|()| self.f.label());
        let (threads, next) = (self.control.threads, self.control.next);
        self.f.begin(entry);
        self.load_all_windows();
        let before = self.f.current();
        self.f.jump(threads);
        self.f.begin(next);
        let stopped = self.thread.resumed.map(|[_, common]| self.common_stop(first, common));
        let after = self.f.binary(Binary::AddNuw, self.thread.number, self.f.int(I32, 1));
        self.f.branch(self.f.equal(after, end), all, threads);
        let mut numbers = vec![(first, before), (after, next)];
        self.f.begin(all);
        match (self.thread.resumed, stopped) {
            (Some([place, common]), Some(stopped)) => {
                let again = self.f.label();
                self.resume_all(stopped, [first, end], again, done);
                numbers.push((first, again));
                self.f.add_incoming(place, &[(resume, before), (place, next), (stopped, again)]);
                let zero = self.f.int(I32, 0);
                self.f.add_incoming(common, &[(zero, before), (stopped, next), (zero, again)]);
            }
            _ => self.f.jump(done),
        }
        self.f.begin(done);
        self.f.ret(Some(self.f.int(I32, 0)));
        self.f.add_incoming(self.thread.number, &numbers);
        self.f.begin(threads);
        let files = self.field(POINTER, offset_of!(Frame, files));
        // Threads that never stop have one after the other the same.
        let own = match self.thread.resumed {
            Some(_) => self.element_at(files, size_of::<usize>()),
            None => files,
        };
        self.f.replace(self.thread.file, self.f.load(POINTER, own, CONSTANT));
        let blocks = std::iter::once(&Block(0)).chain(&self.function.resumed);
        let targets: Vec<Label<'c>> = blocks.map(|block| self.control.labels[*block]).collect();
        match self.thread.resumed {
            Some([place, _]) => {
                self.f.switch(self.f.and(place, self.f.int(I32, u64::from(!YIELD))), &targets);
            }
            None => self.f.jump(targets[0]),
        }
    }

    /// Stores where a thread has stopped; 0, or where all have until now.
    fn common_stop(&mut self, first: LlvmValue<'c>, common: LlvmValue<'c>) -> LlvmValue<'c> {
        let stops = std::mem::take(&mut self.control.stopped);
        let stops: Vec<_> =
            stops.into_iter().map(|(place, from)| (self.f.int(I32, place.into()), from)).collect();
        let stopped = self.f.phi_of(&stops);
        let all = self.field(POINTER, offset_of!(Frame, resume));
        self.f.store(stopped, self.element_at(all, size_of::<u32>()), FRAME);
        let common = self.f.select(self.f.equal(common, stopped), stopped, self.f.int(I32, 0));
        let is_first = self.f.equal(self.thread.number, first);
        self.f.select(is_first, stopped, common)
    }

    /// Resumes the threads, in `again`, if all of the work-group's have stopped at one `wait` and arrived at the barrier.
    fn resume_all(
        &mut self,
        common: LlvmValue<'c>,
        [first, end]: [LlvmValue<'c>; 2],
        again: Label<'c>,
        done: Label<'c>,
    ) {
        let count = self.field(I32, offset_of!(Frame, threads));
        let at = self.f.at(self.frame(), offset_of!(Frame, arrived));
        let arrived = self.f.load(I32, at, FRAME);
        let zero = self.f.int(I32, 0);
        // Neither `YIELD` nor `ENDED`.
        let mut opens = self.f.compare(Relation::Sgt, common, zero);
        for (a, b) in [(first, zero), (end, count), (arrived, count)] {
            opens = self.f.and(opens, self.f.equal(a, b));
        }
        self.f.branch(opens, again, done);
        self.f.begin(again);
        self.f.store(zero, at, FRAME);
        self.f.jump(self.control.threads);
    }

    /// Ends a thread, or stops it, as [`Frame::resume`] says.
    pub fn stop(&mut self, place: u32) {
        self.control.stopped.push((place, self.f.current()));
        self.f.jump(self.control.next);
    }

    /// Something that the thread begins with.
    pub fn input(&mut self, input: Input, ty: Ty) -> LlvmValue<'c> {
        let at = match input {
            Input::Header(offset) => {
                let headers = self.field(POINTER, offset_of!(Frame, headers));
                let step = self.field(I64, offset_of!(Frame, header_step));
                let number = self.f.to(self.thread.number, I64);
                let own = self.f.offset(headers, self.f.mul(number, step));
                self.f.at(own, offset.into())
            }
            Input::CrossThread(offset) => {
                let all = self.field(POINTER, offset_of!(Frame, cross_thread));
                return self.f.hoisted(all, offset.into(), ty, INPUT);
            }
            Input::PerThread(offset) => {
                let own = self.field(POINTER, offset_of!(Frame, per_thread));
                let own = self.element_at(own, self.plan.variant.per_thread.len() * HALF);
                self.f.at(own, offset.into())
            }
            Input::Image(number, offset) => {
                let images = self.field(POINTER, offset_of!(Frame, images));
                let place = usize::from(number) * size_of::<Image>() + offset_of!(Image, numbers);
                let place = place + usize::from(offset);
                return self.f.hoisted(images, place, ty, INPUT);
            }
            Input::Mask => {
                let masks = self.field(POINTER, offset_of!(Frame, masks));
                self.element_at(masks, 4)
            }
        };
        self.f.load(ty, at, INPUT)
    }

    /// A field of the frame that does not change while the work-group runs.
    pub fn field(&self, ty: Ty, offset: usize) -> LlvmValue<'c> {
        self.f.hoisted(self.frame(), offset, ty, CONSTANT)
    }

    /// The offsets and types of the parameters of a block where a thread is resumed, in its saved state, and the size of that.
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
            at += own.bytes();
            (place, own, ty)
        });
        (kept.collect(), at)
    }

    /// Bytes of a suspended thread's saved state.
    pub fn saved(&self) -> usize {
        self.function.resumed.iter().map(|block| self.kept(*block).1).max().unwrap_or(0).next_multiple_of(8)
    }

    fn saved_place(&mut self) -> LlvmValue<'c> {
        let all = self.field(POINTER, offset_of!(Frame, saved));
        let size = self.saved();
        self.element_at(all, size)
    }

    /// Saves the arguments of a block where the thread is resumed.
    pub fn save(&mut self, target: &Target) {
        let place = self.saved_place();
        let (kept, _) = self.kept(target.block);
        for ((offset, own, ty), argument) in kept.into_iter().zip(&target.arguments) {
            let value = match ty.scalar {
                Scalar::Mask => {
                    let bits = self.value(*argument);
                    self.f.to(bits, own)
                }
                _ => self.value(*argument),
            };
            self.f.store(value, self.f.at(place, offset), FILE);
        }
    }

    /// Loads the parameters of a block where the thread is resumed.
    pub fn restore(&mut self, block: Block) {
        let place = self.saved_place();
        let (kept, _) = self.kept(block);
        for ((offset, own, ty), parameter) in kept.into_iter().zip(&self.function.block(block).parameters) {
            let value = self.f.load(own, self.f.at(place, offset), FILE);
            let value = match ty.scalar {
                Scalar::Mask => self.f.to(value, Ty::int(ty.lanes.into(), 1)),
                _ => value,
            };
            self.values.insert(*parameter, value);
        }
    }
}
