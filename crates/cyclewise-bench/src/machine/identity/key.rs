//! Names for those who share records without saying whose machines they are: keyed hashes.
//!
//! A hash without a key would be found by hashing a list of host names. With the key of a file, a node has the same name in all
//! records of a fleet, and only the key holder can recover a node's name:
//!
//! ```text
//! printf %s NODE | openssl dgst -sha256 -hmac "$(cat KEYFILE)"
//! ```
//!
//! begins with the same digits.
//!
//! # References
//! RFC 2104 (HMAC); RFC 4231, whose test cases are below.

use crate::error::{Error, Result};
use crate::record::Identity;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::fmt::Write as _;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// What names of this kind begin with.
const PREFIX: &str = "anonymous-";
/// Bytes of the hash in a name: two of 100 000 nodes have the same name with a probability of 2 in 100 000.
const SHOWN: usize = 6;
/// The shortest key: 16 bytes are 64 bits even as hexadecimal digits.
const SHORTEST: usize = 16;
/// The longest: a larger file was named by mistake.
const LONGEST: u64 = 4096;

/// What to do where a key is refused.
const MAKE: &str = "make one for the whole fleet by `openssl rand -hex 32 > KEYFILE`";

/// Names of DMI that stay. Vendors and integrators write what they like into the others.
const KEPT: [&str; 6] = [
    "sys_vendor",
    "product_name",
    "board_name",
    "bios_vendor",
    "bios_version",
    "bios_date",
];

/// A secret that names are hashed with.
pub struct Key {
    bytes: Vec<u8>,
}

impl Key {
    /// The key in a file; newlines at its end do not count.
    ///
    /// # Errors
    /// Exit 2: the file cannot be read, or is no key.
    pub fn load(path: &Path) -> Result<Self> {
        let refused = |why: &str| Error::usage(format!("--anonymous {}: {why}; {MAKE}", path.display())).in_one_line();
        let mut bytes = Vec::new();
        // Read to a bound: the path may be that of a device.
        let read = File::open(path).and_then(|file| file.take(LONGEST + 1).read_to_end(&mut bytes));
        read.map_err(|e| refused(&e.to_string()))?;
        if bytes.len() as u64 > LONGEST {
            return Err(refused(&format!("a key has at most {LONGEST} bytes")));
        }
        while bytes.last().is_some_and(|b| matches!(b, b'\n' | b'\r')) {
            bytes.pop();
        }
        if bytes.len() < SHORTEST {
            return Err(refused(&format!(
                "a key has at least {SHORTEST} bytes, since a shorter one can be guessed; this has {}",
                bytes.len()
            )));
        }
        Ok(Self { bytes })
    }

    /// `anonymous-` and 12 hexadecimal digits.
    pub fn name(&self, text: &str) -> String {
        let hash = hmac_sha256(&self.bytes, text.as_bytes());
        let mut name = PREFIX.to_owned();
        for byte in &hash[..SHOWN] {
            // Writing to a String cannot fail.
            let _ = write!(name, "{byte:02x}");
        }
        name
    }

    /// A number of 32 bits.
    fn number(&self, text: &str) -> u32 {
        let hash = hmac_sha256(&self.bytes, text.as_bytes());
        u32::from_be_bytes([hash[0], hash[1], hash[2], hash[3]])
    }

    /// Replaces what names a machine or its owner: the node, its boot, its job. What kind of machine it is stays.
    pub fn hide(&self, identity: &mut Identity) {
        for name in [&mut identity.node, &mut identity.boot_id].into_iter().flatten() {
            *name = self.name(name);
        }
        if let Some(job) = &mut identity.job {
            // A rank is the node's place in the job's list. Another number still tells the job's tasks apart.
            job.task = job.task.map(|task| self.number(&format!("{} {task}", job.id)));
            job.id = self.name(&job.id);
        }
        identity.dmi.retain(|field, _| KEPT.contains(&field.as_str()));
    }
}

fn hmac_sha256(key: &[u8], text: &[u8]) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of every length");
    mac.update(text);
    mac.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Job;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|b| format!("{b:02x}")).collect()
    }

    /// Test cases 1, 2 and 6 of RFC 4231.
    #[test]
    fn the_hash_is_that_of_the_rfc() {
        for (key, text, mac) in [
            (
                &[0x0b; 20][..],
                "Hi There",
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
            ),
            (
                b"Jefe",
                "what do ya want for nothing?",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
            ),
            (
                &[0xaa; 131],
                "Test Using Larger Than Block-Size Key - Hash Key First",
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
            ),
        ] {
            assert_eq!(hex(&hmac_sha256(key, text.as_bytes())), mac);
        }
    }

    fn key(text: &str) -> Result<Key> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        Key::load(file.path())
    }

    #[test]
    fn a_name_is_the_nodes_and_the_keys() {
        let [a, b] = ["0123456789abcdef", "0123456789abcdeg"].map(|text| key(text).unwrap());
        let name = a.name("n17");
        assert_eq!(name, key("0123456789abcdef\r\n\n").unwrap().name("n17"));
        assert!(name != b.name("n17") && name != a.name("n18"));
        let digits = name.strip_prefix("anonymous-").unwrap();
        assert!(
            digits.len() == 12 && digits.chars().all(|c| c.is_ascii_hexdigit()),
            "{name}"
        );
    }

    #[test]
    fn what_is_no_key_is_refused() {
        for (text, says) in [
            ("", "this has 0"),
            ("fifteen bytes..\n\n\n", "this has 15"),
            (&"x".repeat(5000), "at most 4096"),
        ] {
            let error = key(text).err().unwrap();
            assert!(error.message.contains(says), "{error}");
            assert_says!(error.message, "openssl rand");
        }
        for path in ["/no/such/key", "/dev/zero", "/"] {
            let error = Key::load(Path::new(path)).err().unwrap();
            assert!(error.message.starts_with(&format!("--anonymous {path}: ")), "{error}");
            assert_eq!(error.status, crate::error::Status::Usage);
        }
    }

    #[test]
    fn the_kind_of_machine_stays_and_its_names_go() {
        let mut identity = Identity {
            node: Some("alice-n17".to_owned()),
            boot_id: Some("6367bd9b".to_owned()),
            microcode: Some("0x1".to_owned()),
            dmi: [("product_name", "m6a.large"), ("product_family", "alice's")]
                .map(|(k, v)| (k.to_owned(), v.to_owned()))
                .into(),
            job: Some(Job {
                engine: "pbs".to_owned(),
                id: "12.alice".to_owned(),
                task: Some(7),
                restarts: 1,
            }),
            ..Identity::default()
        };
        key("0123456789abcdef").unwrap().hide(&mut identity);
        let json = serde_json::to_string(&identity).unwrap();
        for gone in ["alice", "6367bd9b", "\"task\":7,"] {
            assert!(!json.contains(gone), "{json}");
        }
        assert_says!(json, "m6a.large", "0x1", "\"pbs\"", "\"task\":", "\"restarts\":1");
    }
}
