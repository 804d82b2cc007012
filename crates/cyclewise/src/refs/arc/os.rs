//! Arcs of what is only there with an operating system: paths, OS strings, file descriptors.
//!
//! Strings go through a box: the standard library promises nothing about the bytes of an OS string.

use super::shared::Arc;
use super::unique::CloneArc;
use std::boxed::Box;
use std::ffi::{OsStr, OsString};
#[cfg(unix)]
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::path::{Path, PathBuf};

impl From<&OsStr> for Arc<OsStr> {
    fn from(value: &OsStr) -> Self {
        Self::from(Box::<OsStr>::from(value))
    }
}

impl From<OsString> for Arc<OsStr> {
    fn from(value: OsString) -> Self {
        Self::from(value.into_boxed_os_str())
    }
}

impl From<&Path> for Arc<Path> {
    fn from(value: &Path) -> Self {
        Self::from(Box::<Path>::from(value))
    }
}

impl From<PathBuf> for Arc<Path> {
    fn from(value: PathBuf) -> Self {
        Self::from(value.into_boxed_path())
    }
}

impl CloneArc for OsStr {
    fn clone_arc(&self) -> Arc<Self> {
        Arc::from(self)
    }
}

impl CloneArc for Path {
    fn clone_arc(&self) -> Arc<Self> {
        Arc::from(self)
    }
}

#[cfg(unix)]
impl<T: AsFd + ?Sized> AsFd for Arc<T> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        (**self).as_fd()
    }
}

#[cfg(unix)]
impl<T: AsRawFd + ?Sized> AsRawFd for Arc<T> {
    fn as_raw_fd(&self) -> RawFd {
        (**self).as_raw_fd()
    }
}
