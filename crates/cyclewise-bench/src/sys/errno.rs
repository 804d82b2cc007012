//! An error number with its kernel name and meaning, for the doctor's evidence.

use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Errno(pub i32);

impl Errno {
    /// The calling thread's `errno`, to be read right after a call that failed.
    pub fn last() -> Self {
        Self::of_error(&std::io::Error::last_os_error())
    }

    /// The error number inside `error`; EIO where there is none, which only std's own errors lack.
    pub fn of_error(error: &std::io::Error) -> Self {
        Self(error.raw_os_error().unwrap_or(libc::EIO))
    }

    /// The kernel's name, for the numbers that the probes meet.
    pub fn name(self) -> &'static str {
        match self.0 {
            libc::EPERM => "EPERM",
            libc::ENOENT => "ENOENT",
            libc::EINTR => "EINTR",
            libc::EIO => "EIO",
            libc::ENXIO => "ENXIO",
            libc::EAGAIN => "EAGAIN",
            libc::ENOMEM => "ENOMEM",
            libc::EACCES => "EACCES",
            libc::EFAULT => "EFAULT",
            libc::EBUSY => "EBUSY",
            libc::ENODEV => "ENODEV",
            libc::ENOTDIR => "ENOTDIR",
            libc::EISDIR => "EISDIR",
            libc::EINVAL => "EINVAL",
            libc::EMFILE => "EMFILE",
            libc::ENOTTY => "ENOTTY",
            libc::ENOSYS => "ENOSYS",
            libc::EOPNOTSUPP => "EOPNOTSUPP",
            _ => "errno",
        }
    }
}

impl fmt::Display for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let said = std::io::Error::from_raw_os_error(self.0).to_string();
        // std appends " (os error N)"; the name says it better.
        let meaning = said.split(" (os error").next().unwrap_or(&said);
        write!(f, "{} {} ({meaning})", self.name(), self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_number_and_meaning() {
        assert_eq!(Errno(libc::ENOENT).to_string(), "ENOENT 2 (No such file or directory)");
        assert_eq!(Errno(libc::ENOSYS).to_string(), "ENOSYS 38 (Function not implemented)");
        assert!(Errno(4095).to_string().starts_with("errno 4095"));
    }

    #[test]
    fn an_error_without_a_number_is_eio() {
        assert_eq!(Errno::of_error(&std::io::Error::other("x")), Errno(libc::EIO));
    }
}
