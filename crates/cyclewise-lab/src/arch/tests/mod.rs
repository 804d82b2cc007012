//! What the bodies promise: they work on the arena as named, and their length is that of the emitted code.

use super::*;

#[test]
fn zero_iterations_execute_nothing() {
    let mut arena = Arena::new();
    let bytes = Length::ALL.map(|length| entry::ADD_CHAIN.run(length, 0, &mut arena));
    assert_eq!(bytes, [bytes[0], 2 * bytes[0], 4 * bytes[0]], "U, 2U and 4U copies");
    assert_eq!(Length::ALL.map(Length::times), [1, 2, 4]);
    assert!(arena.0.iter().all(|w| *w == 0));
}

#[test]
fn stamps_go_forward() {
    let a = stamp::start();
    let b = stamp::stop();
    assert!(b >= a);
}

#[test]
fn an_instruction_has_the_bytes_of_its_encoding_and_two_have_twice_as_many() {
    let words: &'static words::Plain = Box::leak(Box::new(words::Plain::new()));
    let one = crate::runner::code_bytes(move || words.inc(0)).unwrap();
    let two = crate::runner::code_bytes(move || {
        words.inc(0);
        words.inc(0);
    })
    .unwrap();
    // INC of a word by a register: REX, opcode, ModRM, and a byte more for some registers. LDR, ADD, STR.
    let expected = if cfg!(target_arch = "x86_64") { 3..=4 } else { 12..=12 };
    if cfg!(debug_assertions) {
        // Without optimization only the minimum is known.
        assert!(one >= *expected.start() && two >= one, "{one} and {two}");
        return;
    }
    assert!(expected.contains(&one), "{one}");
    assert_eq!(two, 2 * one);
    assert_eq!(crate::runner::code_bytes(|| ()), None);
}

mod width;

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::*;

    fn body(name: &str) -> Body {
        *lock_prefix::BODIES.iter().find(|b| b.name == name).unwrap()
    }

    #[test]
    fn increments_count_iterations_times_copies() {
        for name in ["plain-inc64", "ds-inc64", "lock-inc64"] {
            let mut arena = Arena::new();
            let b = body(name);
            for (length, expected) in Length::ALL.into_iter().zip([10, 30, 70]) {
                b.run(length, 10, &mut arena);
                assert_eq!(arena.0[0], expected * u64::from(b.copies), "{name}");
            }
            assert!(arena.0[1..].iter().all(|w| *w == 0), "{name} wrote past its word");
        }
    }

    #[test]
    fn the_prefixes_do_not_change_the_result() {
        for (one, other, third) in [
            ("nop-xadd32", "ds-xadd32", "lock-xadd32"),
            ("nop-xadd64", "ds-xadd64", "lock-xadd64"),
        ] {
            let values = [one, other, third].map(|name| {
                let mut arena = Arena::new();
                body(name).run(Length::Once, 3, &mut arena);
                arena.0[0]
            });
            assert_eq!(values[0], values[1]);
            assert_eq!(values[1], values[2]);
            assert_ne!(values[0], 0);
        }
    }

    #[test]
    fn code_bytes_are_those_of_the_encoding() {
        let expect = [
            ("nop-xadd32", 4),
            ("ds-xadd32", 4),
            ("lock-xadd32", 4),
            ("nop-xadd64", 5),
            ("lock-xadd64", 5),
            ("plain-inc64", 3),
            ("ds-inc64", 4),
            ("lock-inc64", 4),
            ("ds-cmpxchg64", 5),
            ("lock-cmpxchg64", 5),
            ("xchg64", 3),
        ];
        for (name, bytes) in expect {
            assert_eq!(body(name).code_bytes(), Some(bytes), "{name}");
        }
        assert_eq!(body("empty").code_bytes(), None);
    }

    /// The longest loop of a body is far below the instruction cache of any CPU, and near the µop caches of old ones.
    #[test]
    fn four_times_the_copies_fit_caches_of_instructions() {
        let all = lock_prefix::BODIES
            .iter()
            .chain(&popf::BODIES)
            .chain(&counter::BODIES)
            .chain(&super::super::width::BODIES);
        let small = [&entry::ADD_CHAIN, &entry::FUNCTION_CALL, &entry::GETPPID];
        // ADDS_100 and ADDS_101 are longer, but their adds wait for each other and not for being fetched.
        let tried = [
            &entry::CHAINS_100,
            &entry::CHAINS_101,
            &entry::RMW_CALLS_100,
            &entry::RMW_CALLS_101,
        ];
        for body in all.chain(small) {
            assert!(body.copies == 0 || body.copies >= 4, "{}", body.name);
        }
        let all = lock_prefix::BODIES
            .iter()
            .chain(&popf::BODIES)
            .chain(&counter::BODIES)
            .chain(&super::super::width::BODIES);
        for body in all.chain(small).chain(tried) {
            let bytes = body.run(Length::FourTimes, 0, &mut Arena::new());
            assert!(bytes <= 4096, "{}: {bytes} bytes", body.name);
        }
    }

    #[test]
    fn f3_9d_pops_flags_exactly_as_9d_does() {
        // Every combination of the six arithmetic flags.
        for bits in 0..64u64 {
            let flags = (0..6)
                .zip([0u64, 2, 4, 6, 7, 11])
                .map(|(i, at)| (bits >> i & 1) << at)
                .sum::<u64>();
            assert_eq!(popf::popped(flags, false), flags);
            assert_eq!(
                popf::popped(flags, true),
                flags,
                "F3 9D differs from 9D at flags {flags:#x}"
            );
        }
    }
}

#[test]
fn one_percent_more_is_one_of_the_same_in_a_hundred() {
    for (less, more) in [
        (entry::ADDS_100, entry::ADDS_101),
        (entry::CHAINS_100, entry::CHAINS_101),
        (entry::RMW_CALLS_100, entry::RMW_CALLS_101),
    ] {
        let bytes = [less.code_bytes().unwrap(), more.code_bytes().unwrap()];
        assert_eq!(bytes[0] * 101, bytes[1] * 100, "{}", more.name);
        assert_eq!(less.copies, more.copies);
    }
    // The calls are made: each counts in the arena.
    for (body, calls) in [(entry::RMW_CALLS_100, 100), (entry::RMW_CALLS_101, 101)] {
        let mut arena = Arena::new();
        body.run(Length::FourTimes, 5, &mut arena);
        assert_eq!(arena.0[0], 5 * 4 * calls, "{}", body.name);
    }
}
