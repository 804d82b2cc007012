//! Arcs of types that need an operating system: paths, OS strings, files, file descriptors.
//!
//! Strings go through a box, because the standard library does not specify the representation of an OS string.

use super::Arc;
use super::unique::CloneArc;
use super::unique::sealed::Sealed;
use std::boxed::Box;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{IoSlice, IoSliceMut, Read, Result, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::path::{Path, PathBuf};
use std::string::String;
use std::vec::Vec;

conversions! {
    &OsStr => OsStr: |value| Arc::from(Box::<OsStr>::from(value));
    &mut OsStr => OsStr: |value| Arc::from(&*value);
    OsString => OsStr: |value| Arc::from(value.into_boxed_os_str());
    &Path => Path: |value| Arc::from(Box::<Path>::from(value));
    &mut Path => Path: |value| Arc::from(&*value);
    PathBuf => Path: |value| Arc::from(value.into_boxed_path());
}

// As std's: what `&File` does, whose methods these are; vectored ones too, since each is one system call.
impl Read for Arc<File> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        (&**self).read(buffer)
    }

    fn read_vectored(&mut self, buffers: &mut [IoSliceMut<'_>]) -> Result<usize> {
        (&**self).read_vectored(buffers)
    }

    fn read_to_end(&mut self, buffer: &mut Vec<u8>) -> Result<usize> {
        (&**self).read_to_end(buffer)
    }

    fn read_to_string(&mut self, buffer: &mut String) -> Result<usize> {
        (&**self).read_to_string(buffer)
    }
}

impl Write for Arc<File> {
    fn write(&mut self, buffer: &[u8]) -> Result<usize> {
        (&**self).write(buffer)
    }

    fn write_vectored(&mut self, buffers: &[IoSlice<'_>]) -> Result<usize> {
        (&**self).write_vectored(buffers)
    }

    fn flush(&mut self) -> Result<()> {
        (&**self).flush()
    }
}

impl Seek for Arc<File> {
    fn seek(&mut self, to: SeekFrom) -> Result<u64> {
        (&**self).seek(to)
    }
}

impl Sealed for OsStr {}
impl CloneArc for OsStr {
    fn clone_arc(&self) -> Arc<Self> {
        Arc::from(self)
    }
}

impl Sealed for Path {}
impl CloneArc for Path {
    fn clone_arc(&self) -> Arc<Self> {
        Arc::from(self)
    }
}

impl<T: AsFd + ?Sized> AsFd for Arc<T> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        (**self).as_fd()
    }
}

impl<T: AsRawFd + ?Sized> AsRawFd for Arc<T> {
    fn as_raw_fd(&self) -> RawFd {
        (**self).as_raw_fd()
    }
}
