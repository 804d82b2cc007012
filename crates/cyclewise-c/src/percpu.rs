//! What the creation of each per-CPU object begins with.

/// Makes the library's first use of per-CPU data here: it asks the dynamic linker, which a signal handler must not.
pub(crate) fn register_now() {
    let _ = cyclewise::percpu::backend();
}
