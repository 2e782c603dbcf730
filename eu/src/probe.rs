//! Somebody who watches the execution of threads.

use super::op::Op;
use super::run::Context;
use super::thread::Thread;

/// Is shown what a work-group executes, in the order in which it is executed. The engine is compiled for each
/// implementation, so that not watching costs nothing.
pub trait Probe {
    /// A work-group of so many threads begins.
    fn group(&mut self, threads: u32);

    /// A thread is about to execute its instruction at `thread.ip` for the lanes in `mask`; bit 0 is the
    /// instruction's first lane. A `wait` is shown each time that it is tried.
    fn instruction(&mut self, context: &mut Context<'_>, thread: &mut Thread, op: &Op, mask: u32);

    /// All threads have arrived at the work-group's barrier.
    fn barrier_opens(&mut self);
}

/// Nobody.
pub struct NoProbe;

impl Probe for NoProbe {
    #[inline(always)]
    fn group(&mut self, _: u32) {}

    #[inline(always)]
    fn instruction(&mut self, _: &mut Context<'_>, _: &mut Thread, _: &Op, _: u32) {}

    #[inline(always)]
    fn barrier_opens(&mut self) {}
}
