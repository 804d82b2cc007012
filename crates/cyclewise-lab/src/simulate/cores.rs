//! As many threads as there are cores, or where none can be made the one there is.

use rayon::ThreadPoolBuilder;

/// Does `work`, whose parallel iterators then run on every core; where no thread can be made, `say` is told so and they run on
/// this one. What comes of it is the same.
pub fn on_all<T: Send>(say: impl FnOnce(&str), work: impl FnOnce() -> T + Send) -> T {
    let refused = match ThreadPoolBuilder::new().build() {
        Ok(pool) => return pool.install(work),
        Err(refused) => refused,
    };
    say(&format!(
        "no thread can be made ({refused}), so one core does it all; raise `ulimit -u` or the cgroup's pids.max for more"
    ));
    match ThreadPoolBuilder::new().num_threads(1).use_current_thread().build() {
        Ok(pool) => pool.install(work),
        // Not reached: it makes no thread. The iterators would say what is wrong.
        Err(_) => work(),
    }
}
