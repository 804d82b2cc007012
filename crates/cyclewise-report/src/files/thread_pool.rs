//! A thread pool with one thread per core, or only the current thread if none can be created.

use rayon::ThreadPoolBuilder;

/// Runs `work` with its parallel iterators on all cores. If no thread can be created, `warn` gets the reason and `work` runs on
/// the current thread, with the same result.
pub(super) fn on_all_cores<T: Send>(warn: impl FnOnce(&str), work: impl FnOnce() -> T + Send) -> T {
    let refused = match ThreadPoolBuilder::new().build() {
        Ok(pool) => return pool.install(work),
        Err(refused) => refused,
    };
    warn(&format!(
        "cannot create threads ({refused}), so only one core is used; raise `ulimit -u` or the cgroup's pids.max"
    ));
    match ThreadPoolBuilder::new().num_threads(1).use_current_thread().build() {
        Ok(pool) => pool.install(work),
        // Not reached: this creates no thread.
        Err(_) => work(),
    }
}
