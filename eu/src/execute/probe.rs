//! Observation of the execution of threads.

use crate::context::Context;
use crate::op::Op;
use crate::thread::Thread;

/// Called for everything that a work-group executes, in order. The interpreter is monomorphised for each
/// implementation, so that [`NoProbe`] has no cost.
pub trait Probe {
    /// A work-group begins: its number in each dimension, and how many threads it has.
    fn group(&mut self, group: [u32; 3], threads: u32);

    /// A thread is about to execute the instruction at `thread.ip` for the lanes in `mask`, whose bit 0 is
    /// the instruction's first lane. Called for each attempt to execute a `wait`.
    fn instruction(&mut self, context: &mut Context<'_>, thread: &mut Thread, op: &Op, mask: u32);

    /// All threads have arrived at the work-group's barrier.
    fn barrier_opens(&mut self);
}

/// Observes nothing.
pub struct NoProbe;

impl Probe for NoProbe {
    #[inline(always)]
    fn group(&mut self, _: [u32; 3], _: u32) {}

    #[inline(always)]
    fn instruction(&mut self, _: &mut Context<'_>, _: &mut Thread, _: &Op, _: u32) {}

    #[inline(always)]
    fn barrier_opens(&mut self) {}
}
