//! Calls of the C library that take numbers and return one, so that any caller may make them.

unsafe extern "C" {
    /// Ends the process at once. In a child of fork: without its parent's exit handlers.
    pub safe fn _exit(status: i32) -> !;
    /// SIGALRM ends the process after so many seconds, unless it is handled.
    pub safe fn alarm(seconds: u32) -> u32;
    pub safe fn geteuid() -> u32;
    pub safe fn getpid() -> i32;
    pub safe fn gettid() -> i32;
    pub safe fn getuid() -> u32;
    pub safe fn kill(process: i32, signal: i32) -> i32;
    pub safe fn raise(signal: i32) -> i32;
    pub safe fn sched_getcpu() -> i32;
    pub safe fn unshare(flags: i32) -> i32;
}
