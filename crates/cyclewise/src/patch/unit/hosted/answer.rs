//! A refusal as one link unit hands it to another. Copies of this crate may have different layouts of [`Refusal`].
//!
//! # Safety
//! 1. The text of an answer is null or a static string of the coordinator, which is never unloaded.
#![expect(unsafe_code, reason = "a string of another link unit, by its address")]

use crate::error::Refusal;

/// The result of an operation, in C's layout.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(in crate::patch) struct Answer {
    /// 0 for success, else which refusal.
    code: u32,
    /// Its errno, count or byte.
    number: i32,
    at: usize,
    text: *const u8,
    length: usize,
}

impl Answer {
    /// Success.
    pub(in crate::patch) const DONE: Self = Self {
        code: 0,
        number: 0,
        at: 0,
        text: core::ptr::null(),
        length: 0,
    };

    fn refused(code: u32, number: i32, at: usize, text: &'static str) -> Self {
        Self {
            code,
            number,
            at,
            text: text.as_ptr(),
            length: text.len(),
        }
    }

    fn text(&self) -> &'static str {
        if self.text.is_null() {
            return "";
        }
        // SAFETY: a static string of the coordinator (Invariant 1).
        let bytes = unsafe { core::slice::from_raw_parts(self.text, self.length) };
        core::str::from_utf8(bytes).unwrap_or("")
    }
}

/// The codes: never changed, only added to.
impl From<Result<(), Refusal>> for Answer {
    fn from(outcome: Result<(), Refusal>) -> Self {
        let Err(refusal) = outcome else {
            return Self::DONE;
        };
        match refusal {
            Refusal::OtherThreads { threads } => Self::refused(1, threads.cast_signed(), 0, ""),
            Refusal::Busy => Self::refused(2, 0, 0, ""),
            Refusal::Breakpoint { at } => Self::refused(3, 0, at, ""),
            Refusal::UnexpectedByte { at, found } => Self::refused(4, found.into(), at, ""),
            Refusal::NotText { at } => Self::refused(5, 0, at, ""),
            Refusal::Misshapen { at } => Self::refused(6, 0, at, ""),
            Refusal::NotOneStore { at } => Self::refused(7, 0, at, ""),
            Refusal::NotVerified { at } => Self::refused(8, 0, at, ""),
            Refusal::HalfWritten { at } => Self::refused(9, 0, at, ""),
            Refusal::StillWritable { errno } => Self::refused(10, errno, 0, ""),
            Refusal::Creating => Self::refused(11, 0, 0, ""),
            Refusal::HelperThreads => Self::refused(12, 0, 0, ""),
            Refusal::Unhooked => Self::refused(13, 0, 0, ""),
            Refusal::WrongMode => Self::refused(14, 0, 0, ""),
            Refusal::Unstable => Self::refused(15, 0, 0, ""),
            Refusal::ForeignProc => Self::refused(16, 0, 0, ""),
            Refusal::NoMemory => Self::refused(17, 0, 0, ""),
            Refusal::NotInForce { hook } => Self::refused(18, 0, 0, hook),
            Refusal::System { call, errno } => Self::refused(19, errno, 0, call),
            Refusal::NotEnabled => Self::refused(20, 0, 0, ""),
            Refusal::BadUnit { at } => Self::refused(21, 0, at, ""),
            Refusal::MovedText { at } => Self::refused(22, 0, at, ""),
            Refusal::NothingBehind { hook } => Self::refused(23, 0, 0, hook),
            // None of the operations gives another.
            _ => Self::refused(u32::MAX, 0, 0, ""),
        }
    }
}

impl From<Answer> for Result<(), Refusal> {
    fn from(answer: Answer) -> Self {
        let Answer { code, number, at, .. } = answer;
        Err(match code {
            0 => return Ok(()),
            1 => Refusal::OtherThreads {
                threads: number.cast_unsigned(),
            },
            2 => Refusal::Busy,
            3 => Refusal::Breakpoint { at },
            4 => Refusal::UnexpectedByte {
                at,
                found: number as u8,
            },
            5 => Refusal::NotText { at },
            6 => Refusal::Misshapen { at },
            7 => Refusal::NotOneStore { at },
            8 => Refusal::NotVerified { at },
            9 => Refusal::HalfWritten { at },
            10 => Refusal::StillWritable { errno: number },
            11 => Refusal::Creating,
            12 => Refusal::HelperThreads,
            13 => Refusal::Unhooked,
            14 => Refusal::WrongMode,
            15 => Refusal::Unstable,
            16 => Refusal::ForeignProc,
            17 => Refusal::NoMemory,
            18 => Refusal::NotInForce { hook: answer.text() },
            19 => Refusal::System {
                call: answer.text(),
                errno: number,
            },
            20 => Refusal::NotEnabled,
            21 => Refusal::BadUnit { at },
            22 => Refusal::MovedText { at },
            23 => Refusal::NothingBehind { hook: answer.text() },
            // A code that this version does not know: the coordinator's is another.
            _ => Refusal::BadUnit { at: 0 },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_refusal_of_an_operation_arrives() {
        let at = 0x1234;
        let refusals = [
            Refusal::OtherThreads { threads: 3 },
            Refusal::Busy,
            Refusal::Breakpoint { at },
            Refusal::UnexpectedByte { at, found: 0xee },
            Refusal::NotText { at },
            Refusal::Misshapen { at },
            Refusal::NotOneStore { at },
            Refusal::NotVerified { at },
            Refusal::HalfWritten { at },
            Refusal::StillWritable { errno: 13 },
            Refusal::Creating,
            Refusal::HelperThreads,
            Refusal::Unhooked,
            Refusal::WrongMode,
            Refusal::Unstable,
            Refusal::ForeignProc,
            Refusal::NoMemory,
            Refusal::NotInForce { hook: "pthread_create" },
            Refusal::System {
                call: "mmap",
                errno: 12,
            },
            Refusal::NotEnabled,
            Refusal::BadUnit { at },
            Refusal::MovedText { at },
            Refusal::NothingBehind { hook: "pthread_create" },
        ];
        for refusal in refusals {
            let outcome: Result<(), Refusal> = Answer::from(Err(refusal)).into();
            assert_eq!(outcome, Err(refusal));
        }
        assert_eq!(Result::from(Answer::DONE), Ok(()));
        // One without a code is a refusal too.
        let outcome: Result<(), Refusal> = Answer::from(Err(Refusal::NoGs)).into();
        assert_eq!(outcome, Err(Refusal::BadUnit { at: 0 }));
    }
}
