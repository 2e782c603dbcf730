//! Checks of what kernels do, for `GENCL_DEBUG=check`.
//!
//! Each place that is checked gets a call of the library (`library/check.cl`), which leaves a record in a buffer of the
//! launch ([`gencl_program::finding`]) when the check fails. Checks are ordinary code, so that both engines of the
//! simulator and a GPU execute them. They stand in front of what they check, before any pass of LLVM's uses that this
//! would be undefined.
//!
//! - [`arithmetic`] checks operations of the source, before the library's functions are linked;
//! - [`accesses`] checks accesses to memory when all calls are inlined: that each is within its object ([`bounds`]), which
//!   is known by following pointers back to it ([`pointer`]), or its image ([`image`]); that it does not race with others ([`race`]); and that
//!   all work-items come to barriers ([`barrier`]); and that undefined values decide nothing ([`undefined`]). They leave
//!   marks of what is accessed, too ([`touched`]).

mod access;
mod align;
mod arithmetic;
mod barrier;
mod bounds;
mod image;
mod mark;
mod pointer;
mod race;
mod site;
mod touched;
mod undefined;

pub use arithmetic::arithmetic;
pub use barrier::mark_collectives;
pub use image::mark_images;
pub use mark::{is_mark as is_undefined, mark as mark_undefined};

use std::collections::HashMap;

use gencl_program::finding::{Check, Object, Site};
use gencl_program::tools::Tools;
use indexmap::IndexSet;
use inkwell::context::Context;
use inkwell::module::Module;

use self::access::Kind;
use self::pointer::Pointers;
use self::race::Races;
use self::undefined::Objects;
use super::build::Builder;
use super::view::{self, Opcode, Value};

/// The library's function that leaves a record if a check has failed.
const CHECK: &str = "__gencl_check";

/// Adds checks of all accesses of the module's kernels, which call no other functions of the source.
pub fn accesses(context: &Context, module: &Module, tools: Tools, sites: &mut IndexSet<Site>) {
    let builder = Builder::new(context, module);
    let module = view::Module::of(module);
    for kernel in module.functions().filter(|function| function.is_kernel()) {
        let instructions: Vec<_> = kernel.blocks().flat_map(view::Block::instructions).collect();
        let mut pointers = Pointers::new(&builder, module, kernel);
        let mut checker = Checker { builder: &builder, sites };
        if tools.sync {
            checker.barriers(context, &instructions);
        }
        let accesses = instructions.iter().flat_map(|&instruction| {
            access::of(&builder, module, instruction).into_iter().map(move |access| (instruction, access))
        });
        // Memory of the launch itself is right.
        let accesses: Vec<_> =
            accesses.filter(|(_, access)| pointers.target(access.pointer).is_some()).collect();
        let races = tools.race.then(|| Races::new(&builder, kernel, &instructions, &accesses)).flatten();
        // Checks of bounds use pointers in ways that these do not follow.
        let objects = tools.undefined.then(|| Objects::new(&builder, kernel, &instructions));
        let indices = instructions.iter().filter(|index| index.opcode() == Opcode::LLVMGetElementPtr);
        // Checks of bounds put other pointers in their place.
        indices.filter(|_| tools.memory).for_each(|index| checker.member(*index));
        let mut out_of_bounds = HashMap::new();
        for (instruction, access) in &accesses {
            let target = pointers.target(access.pointer);
            if let Some(target) = target.filter(|_| tools.order) {
                checker.touch(kernel, (*instruction, access), target);
            }
            let target = target.filter(|_| tools.memory);
            let memory = target.map_or(access.pointer, |target| {
                let forbidden = pointers.forbidden(access.pointer, access.kind != Kind::Read);
                let (memory, failed) = checker.bounds(kernel, (*instruction, access), target, forbidden);
                out_of_bounds.insert((*instruction, access.operand), failed);
                memory
            });
            if let Some(races) = &races {
                let failed = out_of_bounds.get(&(*instruction, access.operand)).copied();
                checker.race(races, kernel, (*instruction, access), memory, failed);
            }
        }
        if let Some(objects) = objects {
            checker.undefined(module, &instructions, (&mut pointers, objects), &out_of_bounds);
        }
        let marks = [mark::is_mark as fn(Value) -> bool, barrier::is_mark, image::is_mark];
        let [values, calls, images] =
            marks.map(|is_mark| instructions.iter().copied().filter(|i| is_mark(*i)).collect::<Vec<_>>());
        images.iter().for_each(|mark| checker.image(context, kernel, *mark));
        // Zeros, so that what a kernel with faults computes repeats.
        values.into_iter().for_each(|value| value.replace(builder.zero(value.ty())));
        calls.into_iter().chain(images).for_each(Value::erase);
    }
}

/// Adds checks to a module.
struct Checker<'c, 'm> {
    builder: &'c Builder<'m>,
    sites: &'c mut IndexSet<Site>,
}

impl<'m> Checker<'_, 'm> {
    /// Checks in front of an instruction, where the builder is, that `failed` is false. The numbers are those of
    /// [`gencl_program::finding::Record`]: address, offset and size, integers of at most 64 bits. The offset is signed.
    fn check(
        &mut self,
        instruction: Value<'m>,
        (check, object): (Check, Option<Object>),
        failed: Value<'m>,
        [address, offset, size]: [Value<'m>; 3],
    ) {
        if failed.integer() == Some(0) {
            return;
        }
        let site = self.site(Site { check, object, places: site::places(instruction) });
        let b = self.builder;
        let long = b.int(64);
        let arguments = [
            b.resize(failed, b.int(32), false),
            b.number(32, site),
            b.resize(address, long, false),
            b.resize(offset, long, true),
            b.resize(size, long, false),
        ];
        b.call(CHECK, b.void(), &arguments);
    }

    /// The number of a site.
    fn site(&mut self, site: Site) -> u64 {
        self.sites.insert_full(site).0 as u64
    }
}
