//! How a thread begins, stops, and goes on.

use std::mem::{offset_of, size_of};

use gencl_eu::abi::{Frame, Image, YIELD};

use super::{FILE, FRAME, Lowering, llvm};
use crate::ir::{I32, I64, Label, POINTER, Ty, Value as LlvmValue};
use crate::middle::function::{Block, Target};
use crate::middle::op::Input;
use crate::middle::types::{Scalar, Type};

/// How inputs are read.
const INPUT: &str = "align 1, !tbaa !2, !invariant.load !5";
/// Where all threads before have stopped, or 0.
const COMMON: &str = "%common";
/// Bytes of a half register of the thread's own constants.
const HALF: usize = 16;

impl Lowering<'_> {
    /// Writes what is before the threads, from `entry` on, and between two of them.
    pub fn around(&mut self, entry: Label) {
        let [first, end, resume] = ["%first", "%end", "%resume"].map(|name| LlvmValue::named(I32, name));
        let [all, done] = [(); 2].map(|()| self.f.label());
        self.f.begin(entry);
        self.look_at_all();
        let before = self.f.current();
        self.f.jump(self.threads);
        self.f.begin(self.next);
        let common = self.stops.then(|| self.common_stop(&first));
        let after = self.f.binary("add nuw", &self.thread.clone(), &LlvmValue::int(I32, 1));
        let last = self.f.compare("icmp eq", &after, &end);
        self.f.branch(&last, all, self.threads);
        let mut begins = vec![(first.clone(), before), (after, self.next)];
        let place = LlvmValue::named(I32, "%place");
        let mut places = vec![(resume, before), (place.clone(), self.next)];
        self.f.begin(all);
        match &common {
            None => self.f.jump(done),
            Some(common) => {
                let again = self.f.label();
                self.go_on(common, [&first, &end], again, done);
                begins.push((first, again));
                places.push((common.clone(), again));
            }
        }
        self.f.begin(done);
        self.f.ret(&LlvmValue::int(I32, 0));
        self.f.begin(self.threads);
        self.f.phi_named(&self.thread, &begins);
        if let Some(common) = common {
            self.f.phi_named(&place, &places);
            let known = places.iter().map(|(_, from)| match *from == self.next {
                true => (common.clone(), *from),
                false => (LlvmValue::int(I32, 0), *from),
            });
            self.f.phi_named(&LlvmValue::named(I32, COMMON), &known.collect::<Vec<_>>());
        }
        self.find_file();
        let blocks = std::iter::once(0).chain(self.function.resumed.iter().map(|block| block.0 as usize));
        let targets: Vec<Label> = blocks.map(|block| self.labels[block]).collect();
        if let [only] = targets[..] {
            return self.f.jump(only);
        }
        let place = self.f.binary("and", &place, &LlvmValue::int(I32, u64::from(!YIELD)));
        self.f.switch(&place, &targets);
    }

    /// Notes where a thread has stopped; 0, or where all have until now.
    fn common_stop(&mut self, first: &LlvmValue) -> LlvmValue {
        let stopped = LlvmValue::named(I32, "%stopped");
        let stops = std::mem::take(&mut self.stopped);
        let stops: Vec<_> =
            stops.into_iter().map(|(place, from)| (LlvmValue::int(I32, place.into()), from)).collect();
        self.f.phi_named(&stopped, &stops);
        let all = self.constant(POINTER, offset_of!(Frame, resume));
        let own = self.element_at(&all, size_of::<u32>());
        self.f.store(&stopped, &own, FRAME);
        let common = LlvmValue::named(I32, COMMON);
        let same = self.f.compare("icmp eq", &common, &stopped);
        let common = self.f.select(&same, &stopped, &LlvmValue::int(I32, 0));
        let is_first = self.f.compare("icmp eq", &self.thread.clone(), first);
        self.f.select(&is_first, &stopped, &common)
    }

    /// Has the threads go on, in `again`, if they are all of the work-group's and have come to one `wait` and the barrier.
    fn go_on(&mut self, common: &LlvmValue, [first, end]: [&LlvmValue; 2], again: Label, done: Label) {
        let count = self.constant(I32, offset_of!(Frame, threads));
        let at = self.f.at(&self.frame.clone(), offset_of!(Frame, arrived));
        let arrived = self.f.load(I32, &at, FRAME);
        // Neither `YIELD` nor `ENDED`.
        let mut opens = self.f.compare("icmp sgt", common, &LlvmValue::int(I32, 0));
        for (a, b) in [(first, &LlvmValue::int(I32, 0)), (end, &count), (&arrived, &count)] {
            let same = self.f.compare("icmp eq", a, b);
            opens = self.f.binary("and", &opens, &same);
        }
        self.f.branch(&opens, again, done);
        self.f.begin(again);
        self.f.store(&LlvmValue::int(I32, 0), &at, FRAME);
        self.f.jump(self.threads);
    }

    /// Ends a thread, or stops it, as [`Frame::resume`] says.
    pub fn stop(&mut self, place: u32) {
        self.stopped.push((place, self.f.current()));
        self.f.jump(self.next);
    }

    /// The thread's registers.
    fn find_file(&mut self) {
        let files = self.constant(POINTER, offset_of!(Frame, files));
        // Threads that never stop have one after the other the same.
        let number = if self.stops { self.thread.typed() } else { "i32 0".to_owned() };
        self.f.line(&format!("%file.at = getelementptr ptr, {}, {number}", files.typed()));
        self.f.line(&format!("{} = load ptr, ptr %file.at, {}", self.file.name(), super::CONSTANT));
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
                return self.hoisted(&format!("%cross{offset}"), &all, offset.into(), ty, INPUT);
            }
            Input::PerThread(offset) => {
                let own = self.constant(POINTER, offset_of!(Frame, per_thread));
                let own = self.element_at(&own, self.plan.variant.per_thread.len() * HALF);
                self.f.at(&own, offset.into())
            }
            Input::Image(number, offset) => {
                let images = self.constant(POINTER, offset_of!(Frame, images));
                let place = usize::from(number) * size_of::<Image>() + offset_of!(Image, numbers);
                let place = place + usize::from(offset);
                return self.hoisted(&format!("%image{place}"), &images, place, ty, INPUT);
            }
            Input::Mask => {
                let masks = self.constant(POINTER, offset_of!(Frame, masks));
                self.element_at(&masks, 4)
            }
        };
        self.f.load(ty, &at, INPUT)
    }

    /// A field of the frame that does not change while the work-group runs.
    pub fn constant(&mut self, ty: Ty, offset: usize) -> LlvmValue {
        self.hoisted(&format!("%frame{offset}"), &self.frame.clone(), offset, ty, super::CONSTANT)
    }

    /// What is so many bytes behind a pointer and does not change: it is read in the function's first block, once.
    pub fn hoisted(
        &mut self,
        name: &str,
        pointer: &LlvmValue,
        offset: usize,
        ty: Ty,
        how: &str,
    ) -> LlvmValue {
        let name = format!("{name}.{}", ty.mangled());
        if self.hoisted.insert(name.clone()) {
            self.f.first(
                &format!("{name}.at"),
                &format!("getelementptr i8, {}, i64 {offset}", pointer.typed()),
            );
            self.f.first(&name, &format!("load {}, ptr {name}.at, {how}", ty.text()));
        }
        LlvmValue::named(ty, &name)
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
}
