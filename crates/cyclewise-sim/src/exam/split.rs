//! Which machines the laws are learned from, and which they are examined on.
//!
//! # Rule
//! The first two parts were written down before anything was fitted or simulated for the examination; the third was added with the second
//! set of machines, before they were simulated. data/README.md has what was changed later.
//!
//! 1. A machine that a file of `machines/` was fitted to before the examination, or whose contended rows the simulator had been compared with, is to
//!    learn from: its rows were known when the model's laws were designed. [`SEEN`] lists them.
//! 2. Any other machine goes by its name in `data/contended.toml`: the 64-bit FNV-1a hash of the name's bytes, mixed by the
//!    finalizer of SplitMix64, because FNV's high bits depend little on the last bytes. If the highest bit is 0, the machine is to
//!    learn from; if it is 1, it is to be examined on.
//! 3. Machines with the same CPU go together: what is hashed is the CPU's model, the name up to the first ` (`.
//!
//! All rows of a machine go with it, so none is in both halves. A new machine does not move another one.

/// A family needs this many machines to learn from, so that one can be held out. Of two, each is predicted by the other alone: machines of a
/// family are taken to be alike.
pub const LEAST_MACHINES: usize = 2;

/// The machines of the first part of the rule.
pub const SEEN: &[&str] = &["AWS Graviton2", "i5-1035G4", "i7-6700HQ"];

/// The two halves of the published machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Half {
    /// Laws and bands come from these.
    Learn,
    /// These are predicted only.
    Examine,
}

/// The half of a machine, by its name.
pub fn half(name: &str) -> Half {
    let cpu = name.split(" (").next().unwrap_or(name);
    if SEEN.contains(&cpu) || mix(fnv(cpu.as_bytes())) >> 63 == 0 {
        Half::Learn
    } else {
        Half::Examine
    }
}

/// FNV-1a: G. Fowler, L. C. Noll, K.-P. Vo, D. Eastlake, The FNV Non-Cryptographic Hash Algorithm; the constants for 64 bits.
fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The finalizer of SplitMix64: G. L. Steele, D. Lea, C. H. Flood, Fast Splittable Pseudorandom Number Generators, OOPSLA 2014.
fn mix(mut hash: u64) -> u64 {
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_fnv() {
        // Test vectors of the algorithm's authors.
        assert_eq!(fnv(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn names_are_split_about_evenly() {
        let learned = (0..1_000)
            .filter(|i| half(&format!("machine {i}")) == Half::Learn)
            .count();
        assert!((450..=550).contains(&learned), "{learned}");
    }

    #[test]
    fn machines_with_the_same_cpu_go_together() {
        for cpu in ["a", "b", "c", "d"] {
            assert_eq!(half(&format!("{cpu} (2 sockets)")), half(cpu));
            assert_eq!(half(&format!("{cpu} (8 sockets) kernel")), half(cpu));
        }
    }

    #[test]
    fn what_was_seen_is_not_examined() {
        for name in SEEN {
            assert_eq!(half(name), Half::Learn);
        }
    }
}
