//! Windows of messages: what is asked of each is asked before the threads of a work-group begin, and again when the simulator has found another
//! one for it. It is in variables, so that LLVM has values of it in the loop over threads.

use std::mem::{offset_of, size_of};

use gencl_eu::abi::{Frame, Image, Window as FrameWindow};
use rustc_hash::FxHashMap;

use super::{CONSTANT, FILE, FRAME, Lowering};
use crate::ir::{Function as Builder, I32, I64, Label, POINTER, Ty, Value as LlvmValue};
use crate::middle::op::{Input, Relation, Space, Window};

/// Bytes of a variable.
const SIZE: usize = 8;

/// Something that is asked of a window.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Question {
    /// The address of its first byte.
    Start,
    /// Where it is.
    Host,
    /// At which offset its pointer is.
    Delta,
    /// The number of offsets at which so many bytes are inside; 0 if the pointer is not, or is not as aligned as messages want.
    Limit(usize),
}

/// The windows of a function that is being lowered.
pub struct Windows<'c> {
    /// The variables that accesses read, and those that out-of-line functions write. They are the same for baseline code, so that no values
    /// are made of them. Values are better in loops, but there are some of each access, and each access joins them: for LLVM, work that
    /// grows with the square of straight code.
    pub known: LlvmValue<'c>,
    pub found: LlvmValue<'c>,
    count: u32,
    shared: FxHashMap<Window, u32>,
    scratch: Option<u32>,
    pointers: FxHashMap<u32, Pointer>,
    /// The parameters that are used, a variable for each.
    variables: Vec<(u32, Question)>,
    numbers: FxHashMap<(u32, Question), usize>,
    /// The blocks that begin with copies of a window's variables from `found` to `known`.
    copies: Vec<(Label<'c>, u32)>,
}

/// A window's pointer.
#[derive(Clone, Copy)]
struct Pointer {
    /// Its place among the constants of all threads.
    at: u16,
    /// Its type.
    ty: Ty,
    /// The largest alignment that messages want.
    alignment: u8,
}

/// The memory that an instruction may access without asking.
#[derive(Clone, Copy)]
pub struct Reach<'c> {
    /// What addresses are counted from, of the addresses' type: the window's pointer or its beginning.
    base: LlvmValue<'c>,
    /// The offset of that, if it is not 0.
    delta: Option<LlvmValue<'c>>,
    /// Where it is.
    pub host: LlvmValue<'c>,
    /// Its window; `None`: it is shared local memory, or an image.
    pub window: Option<u32>,
}

impl<'c> Windows<'c> {
    /// No windows. The variables are placeholders until all are known.
    pub fn new(f: &Builder<'_, 'c>, in_memory: bool) -> Windows<'c> {
        let known = f.placeholder();
        Windows {
            known,
            found: if in_memory { known } else { f.placeholder() },
            count: 0,
            shared: FxHashMap::default(),
            scratch: None,
            pointers: FxHashMap::default(),
            variables: Vec::new(),
            numbers: FxHashMap::default(),
            copies: Vec::new(),
        }
    }

    /// How many there are.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// What is asked of a window, with the variables' numbers.
    fn variables_of(&self, number: u32) -> Vec<(usize, Question)> {
        let all = self.variables.iter().enumerate();
        all.filter(|(_, (own, _))| *own == number)
            .map(|(variable, (_, question))| (variable, *question))
            .collect()
    }

    fn next(&mut self) -> u32 {
        self.count += 1;
        self.count - 1
    }
}

impl<'c> Lowering<'_, 'c> {
    /// What an access may reach, of the window that it shares or of one of its own.
    pub fn reach(&mut self, space: Space, window: Option<Window>, alignment: u8) -> Reach<'c> {
        let ty = match space {
            Space::Local => {
                let host = self.field(POINTER, offset_of!(Frame, local));
                return Reach { base: self.f.int(I32, 0), delta: None, host, window: None };
            }
            Space::Image => {
                let number = match window {
                    Some(Window::Image(number)) => usize::from(number),
                    _ => 0,
                };
                let images = self.field(POINTER, offset_of!(Frame, images));
                let at = self.f.at(images, number * size_of::<Image>() + offset_of!(Image, host));
                let host = self.f.load(POINTER, at, CONSTANT);
                return Reach { base: self.f.int(I32, 0), delta: None, host, window: None };
            }
            Space::Flat => I32,
            Space::Global | Space::Scratch => I64,
        };
        let number = match (space, window) {
            (Space::Scratch, _) => match self.windows.scratch {
                Some(number) => number,
                None => *self.windows.scratch.insert(self.windows.count),
            },
            (_, Some(window)) => *self.windows.shared.entry(window).or_insert(self.windows.count),
            _ => self.windows.count,
        };
        if number == self.windows.count {
            self.windows.next();
        }
        self.reach_of(number, ty, window, alignment)
    }

    /// What an access may reach of the window with a number; `ty`: of its addresses.
    pub fn reach_of(&mut self, number: u32, ty: Ty, window: Option<Window>, alignment: u8) -> Reach<'c> {
        let host = self.known(number, Question::Host);
        if let Some(Window::Pointer(at)) = window {
            let pointer = self.windows.pointers.entry(number).or_insert(Pointer { at, ty, alignment });
            pointer.alignment = pointer.alignment.max(alignment);
            let base = self.input(Input::CrossThread(at), ty);
            let delta = self.known(number, Question::Delta);
            let delta = self.f.to(delta, ty);
            return Reach { base, delta: Some(delta), host, window: Some(number) };
        }
        let start = self.known(number, Question::Start);
        Reach { base: self.f.to(start, ty), delta: None, host, window: Some(number) }
    }

    /// How far addresses are from what they are counted from. That is as aligned as the addresses.
    pub fn distance(&self, reach: Reach<'c>, addresses: LlvmValue<'c>) -> LlvmValue<'c> {
        let base = self.f.splat(reach.base, addresses.ty.lanes);
        self.f.sub(addresses, base)
    }

    /// The offset in the window.
    pub fn offset(&self, reach: Reach<'c>, distance: LlvmValue<'c>) -> LlvmValue<'c> {
        let Some(delta) = reach.delta else { return distance };
        let delta = self.f.splat(delta, distance.ty.lanes);
        self.f.add(distance, delta)
    }

    /// Whether accesses of so many bytes at these offsets are inside.
    pub fn inside(&mut self, reach: Reach<'c>, offsets: LlvmValue<'c>, bytes: usize) -> LlvmValue<'c> {
        let limit = self.limit(reach, bytes);
        self.all_below(offsets, limit)
    }

    /// Whether they are at these offsets from another one.
    pub fn below(
        &mut self,
        reach: Reach<'c>,
        from: LlvmValue<'c>,
        offsets: LlvmValue<'c>,
        bytes: usize,
    ) -> LlvmValue<'c> {
        let limit = self.limit(reach, bytes);
        let limit = self.f.intrinsic("usub.sat", &[I64], I64, &[limit, from]);
        self.all_below(offsets, limit)
    }

    /// The number of offsets at which so many bytes are inside.
    fn limit(&mut self, reach: Reach<'c>, bytes: usize) -> LlvmValue<'c> {
        match reach.window {
            Some(number) => self.known(number, Question::Limit(bytes)),
            None => {
                let size = self.field(I64, offset_of!(Frame, local_size));
                self.room(size, bytes)
            }
        }
    }

    fn all_below(&self, offsets: LlvmValue<'c>, limit: LlvmValue<'c>) -> LlvmValue<'c> {
        // Windows have 2^31 bytes at most.
        let limit = self.f.resize(limit, offsets.ty.scalar.bits(), false);
        let limit = self.f.splat(limit, offsets.ty.lanes);
        self.f.compare(Relation::Ult, offsets, limit)
    }

    /// The number of offsets at which so many bytes are inside of a size.
    fn room(&self, size: LlvmValue<'c>, bytes: usize) -> LlvmValue<'c> {
        self.f.intrinsic("usub.sat", &[I64], I64, &[size, self.f.int(I64, bytes as u64 - 1)])
    }

    /// What is known of a window.
    fn known(&mut self, number: u32, question: Question) -> LlvmValue<'c> {
        let variables = &mut self.windows.variables;
        let variable = *self.windows.numbers.entry((number, question)).or_insert_with(|| {
            variables.push((number, question));
            variables.len() - 1
        });
        let at = self.f.at(self.windows.known, variable * SIZE);
        let ty = if question == Question::Host { POINTER } else { I64 };
        self.f.load(ty, at, FILE)
    }

    /// Reads again, at the beginning of the current block, what is known by now of a window.
    pub fn copy_again(&mut self, number: u32) {
        if self.windows.found != self.windows.known {
            self.windows.copies.push((self.f.current(), number));
        }
    }

    /// Builds the copies, when all parameters of windows are known that are used.
    pub fn copy_found(&mut self) {
        for (block, number) in std::mem::take(&mut self.windows.copies) {
            self.f.resume_at_begin(block);
            for (variable, _) in self.windows.variables_of(number) {
                let [from, to] =
                    [self.windows.found, self.windows.known].map(|own| self.f.at(own, variable * SIZE));
                let value = self.f.load(I64, from, FILE);
                self.f.store(value, to, FILE);
            }
        }
    }

    /// Makes the variables, and looks at all windows.
    pub fn look_at_all(&mut self) {
        let make = |old| {
            let own = self.f.variable((self.windows.variables.len() * SIZE).max(1));
            self.f.replace(old, own);
            own
        };
        let (known, found) = (self.windows.known, self.windows.found);
        self.windows.known = make(known);
        self.windows.found = if found == known { self.windows.known } else { make(found) };
        (0..self.windows.count).for_each(|number| self.look(number));
    }

    /// Looks at a window, and writes its parameters.
    pub fn look(&mut self, number: u32) {
        let windows = self.field(POINTER, offset_of!(Frame, windows));
        let window = self.f.at(windows, number as usize * size_of::<FrameWindow>());
        let field = |ty, offset| {
            let at = self.f.at(window, offset);
            self.f.load(ty, at, FRAME)
        };
        let start = field(I64, offset_of!(FrameWindow, start));
        let size = field(I64, offset_of!(FrameWindow, size));
        let host = field(POINTER, offset_of!(FrameWindow, host));
        let pointer = self.windows.pointers.get(&number).copied();
        let (delta, size) = match pointer {
            None => (self.f.int(I64, 0), size),
            Some(Pointer { at, ty, alignment }) => {
                let pointer = self.input(Input::CrossThread(at), ty);
                let pointer = self.f.resize(pointer, 64, false);
                let delta = self.f.sub(pointer, start);
                let most = self.f.int(I64, FrameWindow::MAX_SIZE);
                let inside = self.f.compare(Relation::Ult, delta, most);
                let holds = self.and_aligned(inside, delta, alignment);
                (delta, self.f.select(holds, size, self.f.int(I64, 0)))
            }
        };
        let both = [self.windows.known, self.windows.found];
        let places = if both[0] == both[1] { &both[..1] } else { &both };
        for (variable, question) in self.windows.variables_of(number) {
            let value = match question {
                Question::Start => start,
                Question::Host => host,
                Question::Delta => delta,
                Question::Limit(bytes) => self.room(size, bytes),
            };
            for place in places {
                let at = self.f.at(*place, variable * SIZE);
                self.f.store(value, at, FILE);
            }
        }
    }
}
