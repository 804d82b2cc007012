//! A case of semantics: code that is run once, and what the guest must say after it.

use super::payload::Payload;
use crate::outcome::Outcome;

/// Code that is run once, and what is expected of it.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// What holds, as one sentence without a full stop.
    pub claim: &'static str,
    /// The code; its name is the case's.
    pub payload: Payload,
    /// What is expected.
    pub expect: Expect,
}

/// What is expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// These words, from the first result on.
    Words(&'static [u64]),
    /// An exception with this vector and error code, in this ring.
    Fault {
        /// The vector.
        vector: u8,
        /// The error code.
        error: u32,
        /// The privilege.
        ring: u8,
    },
}

/// Whether a case holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It does.
    Holds,
    /// The guest says something else: what.
    Differs(String),
    /// The hypervisor did not run the code, so it says nothing: why.
    NotRun(String),
}

impl Case {
    /// What an outcome says of the case.
    pub fn judge(&self, outcome: &Outcome) -> Verdict {
        match (outcome, self.expect) {
            (Outcome::Done(mailbox), Expect::Words(expected)) => {
                let wrong = (0..).zip(expected).find(|(i, word)| mailbox.result(*i) != **word);
                wrong.map_or(Verdict::Holds, |(i, word)| {
                    Verdict::Differs(format!("result {i} is {:#x} and not {word:#x}", mailbox.result(i)))
                })
            }
            (Outcome::Fault(fault), Expect::Fault { vector, error, ring })
                if (fault.vector, fault.error, fault.cs & 3) == (vector, error, ring.into()) =>
            {
                Verdict::Holds
            }
            (Outcome::Refused { .. } | Outcome::Outside { .. }, _) => Verdict::NotRun(outcome.to_string()),
            (_, expected) => Verdict::Differs(format!("{outcome}; expected {expected}")),
        }
    }
}

impl std::fmt::Display for Expect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Words(words) => write!(f, "{} results", words.len()),
            Self::Fault { vector, error, ring } => write!(f, "vector {vector}, error code {error:#x}, in ring {ring}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::popf::PAYLOADS;
    use crate::layout::mailbox;
    use crate::outcome::{Fault, Mailbox};

    fn case(expect: Expect) -> Case {
        Case {
            claim: "a claim",
            payload: PAYLOADS[0],
            expect,
        }
    }

    fn done(first: u64) -> Outcome {
        let mut bytes = vec![0; mailbox::BYTES];
        bytes[mailbox::RESULTS as usize..][..8].copy_from_slice(&first.to_le_bytes());
        Outcome::Done(Mailbox(bytes))
    }

    const FAULT: Fault = Fault {
        vector: 13,
        error: 0,
        address: 1,
        cs: 3,
        cr2: 0,
    };

    #[test]
    fn words_are_compared_one_by_one() {
        let case = case(Expect::Words(&[7, 0]));
        assert_eq!(case.judge(&done(7)), Verdict::Holds);
        assert_eq!(
            case.judge(&done(8)),
            Verdict::Differs("result 0 is 0x8 and not 0x7".into())
        );
        assert!(matches!(case.judge(&Outcome::Fault(FAULT)), Verdict::Differs(why) if why.contains("#GP")));
    }

    #[test]
    fn a_fault_has_its_vector_its_code_and_its_ring() {
        let expected = |error, ring| {
            case(Expect::Fault {
                vector: 13,
                error,
                ring,
            })
        };
        assert_eq!(expected(0, 3).judge(&Outcome::Fault(FAULT)), Verdict::Holds);
        for other in [expected(8, 3), expected(0, 0)] {
            assert!(matches!(other.judge(&Outcome::Fault(FAULT)), Verdict::Differs(_)));
        }
        assert!(
            matches!(expected(0, 3).judge(&done(0)), Verdict::Differs(_)),
            "no fault is wrong too"
        );
    }

    #[test]
    fn what_was_not_run_says_nothing() {
        let refused = Outcome::Refused {
            address: 2,
            why: "no emulation".into(),
        };
        assert!(
            matches!(case(Expect::Words(&[])).judge(&refused), Verdict::NotRun(why) if why.contains("no emulation"))
        );
    }
}
