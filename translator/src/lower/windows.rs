//! Windows of messages: what is asked of each is asked before the threads of a work-group begin, and again when the simulator has found another
//! one for it. It is in variables, so that LLVM has values of it in the loop over threads.

use std::fmt::Write;
use std::mem::{offset_of, size_of};

use gencl_eu::abi::{Frame, Image, Window as FrameWindow};
use rustc_hash::FxHashMap;

use super::{CONSTANT, FILE, FRAME, Lowering};
use crate::ir::{I32, I64, POINTER, Ty, Value as LlvmValue};
use crate::middle::op::{Input, Space, Window};

/// Where accesses read the variables.
pub const KNOWN: &str = "%known";
/// Where rare functions write them, if LLVM makes values of [`KNOWN`].
const FOUND: &str = "%found";
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
#[derive(Default)]
pub struct Windows {
    /// Rare functions write what accesses read, so that no values are made of the variables. Values are better in loops, but there are
    /// some of each access, and each access joins them: for LLVM, work that grows with the square of straight code.
    in_memory: bool,
    count: u32,
    shared: FxHashMap<Window, u32>,
    scratch: Option<u32>,
    pointers: FxHashMap<u32, Pointer>,
    /// What is asked, a variable for each.
    variables: Vec<(u32, Question)>,
    numbers: FxHashMap<(u32, Question), usize>,
    /// Where what is known of a window is taken again.
    taken: Vec<(usize, u32)>,
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
#[derive(Clone)]
pub struct Reach {
    /// What addresses are counted from, of the addresses' type: the window's pointer or its beginning.
    base: LlvmValue,
    /// The offset of that, if it is not 0.
    delta: Option<LlvmValue>,
    /// Where it is.
    pub host: LlvmValue,
    /// Its window; `None`: it is shared local memory, or an image.
    pub window: Option<u32>,
}

impl Windows {
    /// No windows; `in_memory`: accesses read memory for what they ask, not values.
    pub fn new(in_memory: bool) -> Windows {
        Windows { in_memory, ..Windows::default() }
    }

    /// Where rare functions write the variables.
    pub fn found(&self) -> LlvmValue {
        LlvmValue::named(POINTER, if self.in_memory { KNOWN } else { FOUND })
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

impl Lowering<'_> {
    /// What an access may reach, of the window that it shares or of one of its own.
    pub fn reach(&mut self, space: Space, window: Option<Window>, alignment: u8) -> Reach {
        let ty = match space {
            Space::Local => {
                let host = self.constant(POINTER, offset_of!(Frame, local));
                return Reach { base: LlvmValue::int(I32, 0), delta: None, host, window: None };
            }
            Space::Image => {
                let number = match window {
                    Some(Window::Image(number)) => usize::from(number),
                    _ => 0,
                };
                let images = self.constant(POINTER, offset_of!(Frame, images));
                let at = self.f.at(&images, number * size_of::<Image>() + offset_of!(Image, host));
                let host = self.f.load(POINTER, &at, CONSTANT);
                return Reach { base: LlvmValue::int(I32, 0), delta: None, host, window: None };
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
    pub fn reach_of(&mut self, number: u32, ty: Ty, window: Option<Window>, alignment: u8) -> Reach {
        let host = self.known(number, Question::Host);
        if let Some(Window::Pointer(at)) = window {
            let pointer = self.windows.pointers.entry(number).or_insert(Pointer { at, ty, alignment });
            pointer.alignment = pointer.alignment.max(alignment);
            let base = self.input(Input::CrossThread(at), ty);
            let delta = self.known(number, Question::Delta);
            let delta = self.f.convert("trunc", &delta, ty);
            return Reach { base, delta: Some(delta), host, window: Some(number) };
        }
        let start = self.known(number, Question::Start);
        Reach { base: self.f.convert("trunc", &start, ty), delta: None, host, window: Some(number) }
    }

    /// How far addresses are from what they are counted from. That is as aligned as the addresses.
    pub fn distance(&mut self, reach: &Reach, addresses: &LlvmValue) -> LlvmValue {
        let base = self.f.splat(&reach.base, addresses.ty.lanes);
        self.f.binary("sub", addresses, &base)
    }

    /// The offset in the window.
    pub fn offset(&mut self, reach: &Reach, distance: &LlvmValue) -> LlvmValue {
        let Some(delta) = &reach.delta else { return distance.clone() };
        let delta = self.f.splat(delta, distance.ty.lanes);
        self.f.binary("add", distance, &delta)
    }

    /// Whether accesses of so many bytes at these offsets are inside.
    pub fn inside(&mut self, reach: &Reach, offsets: &LlvmValue, bytes: usize) -> LlvmValue {
        let limit = self.limit(reach, bytes);
        self.all_below(offsets, &limit)
    }

    /// Whether they are at these offsets from another one.
    pub fn below(&mut self, reach: &Reach, from: &LlvmValue, offsets: &LlvmValue, bytes: usize) -> LlvmValue {
        let limit = self.limit(reach, bytes);
        let limit = self.f.intrinsic("usub.sat", ".i64", I64, &[&limit, from]);
        self.all_below(offsets, &limit)
    }

    /// The number of offsets at which so many bytes are inside.
    fn limit(&mut self, reach: &Reach, bytes: usize) -> LlvmValue {
        match reach.window {
            Some(number) => self.known(number, Question::Limit(bytes)),
            None => {
                let size = self.constant(I64, offset_of!(Frame, local_size));
                self.room(&size, bytes)
            }
        }
    }

    fn all_below(&mut self, offsets: &LlvmValue, limit: &LlvmValue) -> LlvmValue {
        // Windows have 2^31 bytes at most.
        let limit = self.f.resize(limit, offsets.ty.scalar.bits(), false);
        let limit = self.f.splat(&limit, offsets.ty.lanes);
        self.f.compare("icmp ult", offsets, &limit)
    }

    /// The number of offsets at which so many bytes are inside of a size.
    fn room(&mut self, size: &LlvmValue, bytes: usize) -> LlvmValue {
        self.f.intrinsic("usub.sat", ".i64", I64, &[size, &LlvmValue::int(I64, bytes as u64 - 1)])
    }

    /// What is known of a window.
    fn known(&mut self, number: u32, question: Question) -> LlvmValue {
        let variables = &mut self.windows.variables;
        let variable = *self.windows.numbers.entry((number, question)).or_insert_with(|| {
            variables.push((number, question));
            variables.len() - 1
        });
        let at = self.f.at(&LlvmValue::named(POINTER, KNOWN), variable * SIZE);
        let ty = if question == Question::Host { POINTER } else { I64 };
        self.f.load(ty, &at, FILE)
    }

    /// Takes what is known by now of a window.
    pub fn take_again(&mut self, number: u32) {
        if self.windows.in_memory {
            return;
        }
        let hole = self.f.hole();
        self.windows.taken.push((hole, number));
    }

    /// Writes what [`Lowering::take_again`] does, when all is known that is asked.
    pub fn fill_taken(&mut self) {
        for (hole, number) in std::mem::take(&mut self.windows.taken) {
            let mut text = String::new();
            for (variable, _) in self.windows.variables_of(number) {
                let (name, at) = (format!("%t{hole}.{variable}"), variable * SIZE);
                let _ = write!(
                    text,
                    "  {name}.from = getelementptr i8, ptr {FOUND}, i64 {at}\n  {name} = load i64, ptr {name}.from, {FILE}\n  \
                     {name}.to = getelementptr i8, ptr {KNOWN}, i64 {at}\n  store i64 {name}, ptr {name}.to, {FILE}\n"
                );
            }
            self.f.fill(hole, text);
        }
    }

    /// Makes the variables, and looks at all windows.
    pub fn look_at_all(&mut self) {
        let places = if self.windows.in_memory { &[KNOWN][..] } else { &[KNOWN, FOUND] };
        places
            .iter()
            .for_each(|name| self.f.variable_named(name, (self.windows.variables.len() * SIZE).max(1)));
        (0..self.windows.count).for_each(|number| self.look(number, places));
    }

    /// Looks at a window, and writes what is asked of it.
    pub fn look_again(&mut self, number: u32) {
        self.look(number, &[KNOWN]);
    }

    fn look(&mut self, number: u32, places: &[&str]) {
        let windows = self.constant(POINTER, offset_of!(Frame, windows));
        let window = self.f.at(&windows, number as usize * size_of::<FrameWindow>());
        let mut field = |ty, offset| {
            let at = self.f.at(&window, offset);
            self.f.load(ty, &at, FRAME)
        };
        let start = field(I64, offset_of!(FrameWindow, start));
        let size = field(I64, offset_of!(FrameWindow, size));
        let host = field(POINTER, offset_of!(FrameWindow, host));
        let pointer = self.windows.pointers.get(&number).copied();
        let (delta, size) = match pointer {
            None => (LlvmValue::int(I64, 0), size),
            Some(Pointer { at, ty, alignment }) => {
                let pointer = self.input(Input::CrossThread(at), ty);
                let pointer = self.f.resize(&pointer, 64, false);
                let delta = self.f.binary("sub", &pointer, &start);
                let most = LlvmValue::int(I64, FrameWindow::MAX_SIZE);
                let inside = self.f.compare("icmp ult", &delta, &most);
                let aligned = self.aligned(&delta, alignment);
                let holds = self.both(&inside, aligned);
                (delta, self.f.select(&holds, &size, &LlvmValue::int(I64, 0)))
            }
        };
        for (variable, question) in self.windows.variables_of(number) {
            let value = match question {
                Question::Start => start.clone(),
                Question::Host => host.clone(),
                Question::Delta => delta.clone(),
                Question::Limit(bytes) => self.room(&size, bytes),
            };
            for name in places {
                let at = self.f.at(&LlvmValue::named(POINTER, name), variable * SIZE);
                self.f.store(&value, &at, FILE);
            }
        }
    }
}
