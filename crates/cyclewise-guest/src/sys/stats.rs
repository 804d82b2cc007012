//! The kernel's own counts of a vCPU: how often it left the guest, whoever handled that.
//!
//! KVM handles most exits in the kernel, and KVM_RUN returns for few of them.
//!
//! # References
//! Documentation/virt/kvm/api.rst, 4.133 KVM_GET_STATS_FD (since Linux 5.14).
//!
//! # Safety
//! The ioctl takes no argument and makes a file descriptor, which is ours.
#![expect(unsafe_code, reason = "an ioctl that kvm-ioctls does not have")]

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::fs::FileExt;

/// _IO(KVMIO, 0xce), from linux/kvm.h.
const KVM_GET_STATS_FD: libc::c_ulong = 0xaece;

/// The counter of exits of a vCPU.
pub(crate) struct ExitCounter {
    file: File,
    at: u64,
}

impl ExitCounter {
    /// The counter of a vCPU; none where the kernel has none.
    pub(crate) fn open(vcpu: &impl AsRawFd) -> io::Result<Option<Self>> {
        // SAFETY: the descriptor is open, and the request takes no argument.
        let fd = unsafe { libc::ioctl(vcpu.as_raw_fd(), KVM_GET_STATS_FD, 0) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel has just made it for us.
        let file = unsafe { File::from_raw_fd(fd) };
        let at = find(&file, "exits")?;
        Ok(at.map(|at| Self { file, at }))
    }

    pub(crate) fn read(&self) -> io::Result<u64> {
        let mut word = [0; 8];
        self.file.read_exact_at(&mut word, self.at)?;
        Ok(u64::from_ne_bytes(word))
    }
}

/// Where the value of a counter is in the file: a header, descriptors with names of a fixed length, values.
fn find(file: &File, name: &str) -> io::Result<Option<u64>> {
    let mut header = [0; 24];
    file.read_exact_at(&mut header, 0)?;
    let name_bytes = u64::from(word(&header, 4));
    let count = u64::from(word(&header, 8));
    let (descriptors, values) = (u64::from(word(&header, 16)), u64::from(word(&header, 20)));
    let mut descriptor = vec![0; 16 + name_bytes as usize];
    for index in 0..count {
        file.read_exact_at(&mut descriptor, descriptors + index * (16 + name_bytes))?;
        if descriptor[16..].split(|byte| *byte == 0).next() == Some(name.as_bytes()) {
            return Ok(Some(values + u64::from(word(&descriptor, 8))));
        }
    }
    Ok(None)
}

fn word(bytes: &[u8], at: usize) -> u32 {
    let four = bytes.get(at..at + 4).and_then(|b| b.try_into().ok());
    four.map_or(0, u32::from_ne_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_counter_is_found_by_its_name() {
        let mut file = tempfile();
        let words = |all: &[u32]| all.iter().flat_map(|w| w.to_ne_bytes()).collect::<Vec<u8>>();
        let mut bytes = words(&[0, 8, 2, 24, 24, 72]);
        for (name, offset) in [(b"halts\0\0\0", 0), (b"exits\0\0\0", 8)] {
            bytes.extend(words(&[0, 0x1_0000, offset, 0]));
            bytes.extend(name);
        }
        bytes.extend(7u64.to_ne_bytes());
        bytes.extend(41u64.to_ne_bytes());
        file.write_all(&bytes).unwrap();
        let at = find(&file, "exits").unwrap().unwrap();
        assert_eq!(
            ExitCounter {
                file: file.try_clone().unwrap(),
                at
            }
            .read()
            .unwrap(),
            41
        );
        assert_eq!(find(&file, "exit").unwrap(), None, "a whole name");
        file.set_len(30).unwrap();
        assert!(find(&file, "exits").is_err(), "a file that is cut off");
    }

    fn tempfile() -> File {
        let path = std::env::temp_dir().join(format!("cyclewise-stats-{}", std::process::id()));
        let file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(&path)
            .unwrap();
        std::fs::remove_file(path).unwrap();
        file
    }
}
