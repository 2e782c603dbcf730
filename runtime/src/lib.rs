//! Contexts, queues, events, memory, programs and kernels, without C types.
