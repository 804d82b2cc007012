//! A key with a hundred sites and more, on several pages: one in each instance of a generic function.
#![allow(dead_code, unreachable_pub, reason = "each test program uses a part")]

cyclewise::static_key! {
    /// The key.
    pub static MANY: StaticKey = false;
}

/// One site. Far enough from the next that a hundred of them take several pages.
#[inline(never)]
pub fn site<const N: usize>(seed: u64) -> (usize, u64) {
    let mut x = seed;
    // Code to take up room.
    for shift in [3, 5, 7] {
        x = x.rotate_left(shift).wrapping_mul(0x9e37_79b9_7f4a_7c15 + N as u64) ^ (x >> 17);
    }
    if MANY.is_enabled() { (N + 1000, x) } else { (N, x) }
}

macro_rules! instances {
    ($($tens:literal)+) => {
        &[$(
            site::<{ $tens * 10 }>, site::<{ $tens * 10 + 1 }>, site::<{ $tens * 10 + 2 }>, site::<{ $tens * 10 + 3 }>,
            site::<{ $tens * 10 + 4 }>, site::<{ $tens * 10 + 5 }>, site::<{ $tens * 10 + 6 }>,
            site::<{ $tens * 10 + 7 }>, site::<{ $tens * 10 + 8 }>, site::<{ $tens * 10 + 9 }>,
        )+]
    };
}

/// An instance, by its address.
pub type Instance = fn(u64) -> (usize, u64);

/// The 100 instances.
pub static INSTANCES: &[Instance] = instances!(0 1 2 3 4 5 6 7 8 9);

/// Whether every test says `on`.
pub fn all_say(on: bool) -> bool {
    INSTANCES
        .iter()
        .enumerate()
        .all(|(n, f)| f(1).0 == n + if on { 1000 } else { 0 })
}

/// Addresses of the sites, ascending.
pub fn sites() -> Vec<usize> {
    let mut sites: Vec<_> = MANY.sites().collect();
    sites.sort_unstable();
    sites
}

/// What every site holds.
pub fn text() -> Vec<[u8; 5]> {
    sites().into_iter().map(crate::common::text::bytes).collect()
}
