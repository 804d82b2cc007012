//! A routing table that readers share for two stores, while a thread replaces it.

use cyclewise::rcu::{self, Rcu};
use std::collections::HashMap;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

static ROUTES: LazyLock<Rcu<HashMap<&str, u32>>> = LazyLock::new(|| Rcu::new(HashMap::from([("here", 0)])));
static OVER: AtomicBool = AtomicBool::new(false);

fn main() {
    let readers: Vec<_> = (0..2)
        .map(|_| {
            thread::spawn(|| {
                let mut lookups = 0_u64;
                while !OVER.load(Relaxed) {
                    let guard = rcu::read();
                    let routes = ROUTES.load(&guard);
                    assert_eq!(routes.len() as u32, routes["here"] + 1);
                    lookups += 1;
                }
                lookups
            })
        })
        .collect();
    for n in 1..=1000 {
        ROUTES.update(|old| {
            let mut new = old.clone();
            new.insert("here", n % 10);
            let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
            new.retain(|name, _| *name == "here");
            new.extend(names.iter().take(n as usize % 10).map(|name| (*name, 0)));
            Box::new(new)
        });
    }
    OVER.store(true, Relaxed);
    let lookups: u64 = readers.into_iter().map(|reader| reader.join().unwrap()).sum();
    rcu::barrier();
    println!(
        "{lookups} lookups in 1000 tables; {} tables wait to be dropped",
        rcu::pending()
    );
}
