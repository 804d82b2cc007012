//! Tests of the wrappers that need nothing but what the wrappers offer this folder.

mod cancellation;
mod clock_gettime;
mod clocksource;
mod fork_generation;
mod futex;
mod proc_mem;
mod proc_task;
mod rseq;
mod signal_mask;
mod thread;
mod uname;
