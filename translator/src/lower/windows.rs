//! Windows of messages. Their parameters are loaded once per work-group, and again when the simulator has found another window. They are in
//! variables, which LLVM promotes to values of the loop over threads.

use std::mem::{offset_of, size_of};

use gencl_eu::abi::{Frame, Image, Window as FrameWindow};
use rustc_hash::FxHashMap;

use super::{CONSTANT, FILE, FRAME, Lowering};
use crate::ir::{Function as Builder, I32, I64, Label, POINTER, Ty, Value as LlvmValue};
use crate::middle::op::{Input, Relation, Space, Window};

/// Bytes of a variable.
const SIZE: usize = 8;

/// A parameter of a window.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Parameter {
    /// The address of its first byte.
    Start,
    /// Its address in the host.
    Host,
    /// The offset of its pointer.
    Delta,
    /// The number of offsets at which an access of a size in bytes is inside; 0 if the pointer is not inside, or less aligned than messages
    /// require.
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
    variables: Vec<(u32, Parameter)>,
    numbers: FxHashMap<(u32, Parameter), usize>,
    /// The blocks that begin with copies of a window's variables from `found` to `known`.
    copies: Vec<(Label<'c>, u32)>,
}

/// A window's pointer.
#[derive(Clone, Copy)]
struct Pointer {
    /// Its offset in the cross-thread constants.
    at: u16,
    /// Its type.
    ty: Ty,
    /// The largest alignment that messages require.
    alignment: u8,
}

/// The window of an access, with its parameters.
#[derive(Clone, Copy)]
pub struct Reach<'c> {
    /// The base of addresses, of their type: the window's pointer or its beginning.
    base: LlvmValue<'c>,
    /// The offset of that, if it is not 0.
    delta: Option<LlvmValue<'c>>,
    /// Its address in the host.
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

    /// The parameters of a window that are used, with the variables' numbers.
    fn variables_of(&self, number: u32) -> Vec<(usize, Parameter)> {
        let all = self.variables.iter().enumerate();
        all.filter(|(_, (own, _))| *own == number)
            .map(|(variable, (_, parameter))| (variable, *parameter))
            .collect()
    }

    fn next(&mut self) -> u32 {
        self.count += 1;
        self.count - 1
    }
}

impl<'c> Lowering<'_, 'c> {
    /// The window of an access, shared or its own.
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

    /// The window with a number; `ty`: the type of addresses.
    pub fn reach_of(&mut self, number: u32, ty: Ty, window: Option<Window>, alignment: u8) -> Reach<'c> {
        let host = self.known(number, Parameter::Host);
        if let Some(Window::Pointer(at)) = window {
            let pointer = self.windows.pointers.entry(number).or_insert(Pointer { at, ty, alignment });
            pointer.alignment = pointer.alignment.max(alignment);
            let base = self.input(Input::CrossThread(at), ty);
            let delta = self.known(number, Parameter::Delta);
            let delta = self.f.to(delta, ty);
            return Reach { base, delta: Some(delta), host, window: Some(number) };
        }
        let start = self.known(number, Parameter::Start);
        Reach { base: self.f.to(start, ty), delta: None, host, window: Some(number) }
    }

    /// The distance of addresses from the base, which is as aligned as they are.
    pub fn distance(&self, reach: Reach<'c>, addresses: LlvmValue<'c>) -> LlvmValue<'c> {
        self.f.sub(addresses, self.f.splat(reach.base, addresses.ty.lanes))
    }

    /// The offset in the window.
    pub fn offset(&self, reach: Reach<'c>, distance: LlvmValue<'c>) -> LlvmValue<'c> {
        let Some(delta) = reach.delta else { return distance };
        self.f.add(distance, self.f.splat(delta, distance.ty.lanes))
    }

    /// Whether accesses of a size in bytes at these offsets are inside.
    pub fn inside(&mut self, reach: Reach<'c>, offsets: LlvmValue<'c>, bytes: usize) -> LlvmValue<'c> {
        let limit = self.limit(reach, bytes);
        self.all_below(offsets, limit)
    }

    /// Whether they are, at these offsets from another one.
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

    /// The number of offsets at which accesses of a size in bytes are inside.
    fn limit(&mut self, reach: Reach<'c>, bytes: usize) -> LlvmValue<'c> {
        match reach.window {
            Some(number) => self.known(number, Parameter::Limit(bytes)),
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

    /// The same of a window of a size.
    fn room(&self, size: LlvmValue<'c>, bytes: usize) -> LlvmValue<'c> {
        self.f.intrinsic("usub.sat", &[I64], I64, &[size, self.f.int(I64, bytes as u64 - 1)])
    }

    /// A parameter of a window.
    fn known(&mut self, number: u32, parameter: Parameter) -> LlvmValue<'c> {
        let variables = &mut self.windows.variables;
        let variable = *self.windows.numbers.entry((number, parameter)).or_insert_with(|| {
            variables.push((number, parameter));
            variables.len() - 1
        });
        let at = self.f.at(self.windows.known, variable * SIZE);
        let ty = if parameter == Parameter::Host { POINTER } else { I64 };
        self.f.load(ty, at, FILE)
    }

    /// Copies the parameters of a window again, at the beginning of the current block.
    pub fn copy_again(&mut self, number: u32) {
        if self.windows.found != self.windows.known {
            self.windows.copies.push((self.f.current(), number));
        }
    }

    /// Builds the copies, when it is known which parameters are used.
    pub fn copy_found(&mut self) {
        for (block, number) in std::mem::take(&mut self.windows.copies) {
            self.f.resume_at_begin(block);
            for (variable, _) in self.windows.variables_of(number) {
                let [from, to] =
                    [self.windows.found, self.windows.known].map(|own| self.f.at(own, variable * SIZE));
                self.f.store(self.f.load(I64, from, FILE), to, FILE);
            }
        }
    }

    /// Makes the variables, and loads the parameters of all windows.
    pub fn load_all_windows(&mut self) {
        let make = |old| {
            let own = self.f.variable((self.windows.variables.len() * SIZE).max(1));
            self.f.replace(old, own);
            own
        };
        let (known, found) = (self.windows.known, self.windows.found);
        self.windows.known = make(known);
        self.windows.found = if found == known { self.windows.known } else { make(found) };
        (0..self.windows.count).for_each(|number| self.load_window(number));
    }

    /// Loads a window, and stores its parameters.
    pub fn load_window(&mut self, number: u32) {
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
        for (variable, parameter) in self.windows.variables_of(number) {
            let value = match parameter {
                Parameter::Start => start,
                Parameter::Host => host,
                Parameter::Delta => delta,
                Parameter::Limit(bytes) => self.room(size, bytes),
            };
            for place in places {
                self.f.store(value, self.f.at(*place, variable * SIZE), FILE);
            }
        }
    }
}
