//! Marks of the bytes that a launch accesses through its arguments, by which the runtime finds commands that use the same
//! memory in no order (`library/check_marks.cl`).

use super::Checker;
use super::access::{Access, Kind};
use super::pointer::{Target, argument_index, root};
use crate::llvm::view::{TypeKind, Value};

/// The library's function that marks bytes.
const MARK: &str = "__gencl_check_mark";

impl<'m> Checker<'_, 'm> {
    /// Marks an access through an argument, of which `target` tells the place. Where several arguments may be meant, none is
    /// marked.
    pub(super) fn touch(
        &mut self,
        kernel: Value<'m>,
        (instruction, access): (Value<'m>, &Access<'m>),
        target: Target<'m>,
    ) {
        let root = root(access.pointer);
        let is_global = matches!(root.ty().kind(), TypeKind::Pointer(1 | 2));
        let Some(argument) = argument_index(kernel, root).filter(|_| is_global) else { return };
        let kind = match access.kind {
            Kind::Read => 0,
            Kind::Write => 1,
            Kind::Atomic => 2,
        };
        let b = self.builder;
        b.before(instruction);
        let long = b.int(64);
        let offset = b.resize(target.offset, long, true);
        let length = b.resize(access.length, long, false);
        b.call(MARK, b.void(), &[b.number(32, argument.into()), b.number(32, kind), offset, length]);
    }
}
