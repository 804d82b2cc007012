//! serde: what is written and read is what std's types write and read.

use cyclewise::atomic;
use cyclewise::refs::{Arc, Weak};
use serde::de::IntoDeserializer;
use serde::de::value::{Error, SeqDeserializer};
use serde::{Deserialize, Deserializer, Serialize};
use serde_test::{Token, assert_de_tokens, assert_de_tokens_error, assert_ser_tokens, assert_tokens};
use std::path::Path;
use std::sync::Arc as StdArc;
use std::sync::atomic as std_atomic;

/// Writes ours and std's to the same tokens, and reads ours back from them.
fn same<O, S>(ours: &O, std: &S, tokens: &[Token])
where
    O: Serialize + for<'de> Deserialize<'de> + PartialEq + std::fmt::Debug,
    S: Serialize + for<'de> Deserialize<'de> + PartialEq + std::fmt::Debug,
{
    assert_tokens(std, tokens);
    assert_tokens(ours, tokens);
}

#[test]
fn an_arc_is_its_value() {
    same(&Arc::new(true), &StdArc::new(true), &[Token::Bool(true)]);
    let seq = [Token::Seq { len: Some(2) }, Token::I32(1), Token::I32(2), Token::SeqEnd];
    same(&Arc::new(vec![1, 2]), &StdArc::new(vec![1, 2]), &seq);
    same(
        &Arc::<[i32]>::from(vec![1, 2]),
        &StdArc::<[i32]>::from(vec![1, 2]),
        &seq,
    );
    same(
        &Arc::<str>::from("word"),
        &StdArc::<str>::from("word"),
        &[Token::String("word")],
    );
    same(&Arc::new(Some(())), &StdArc::new(Some(())), &[Token::Some, Token::Unit]);
    let path = |text: &str| {
        (
            Arc::<Path>::from(Path::new(text)),
            StdArc::<Path>::from(Path::new(text)),
        )
    };
    let (ours, std) = path("/usr/local/lib");
    same(&ours, &std, &[Token::String("/usr/local/lib")]);
}

#[test]
fn a_value_that_is_not_one_is_an_error() {
    let problem = "invalid type: string \"no\", expected a boolean";
    assert_de_tokens_error::<Arc<bool>>(&[Token::Str("no")], problem);
    assert_de_tokens_error::<StdArc<bool>>(&[Token::Str("no")], problem);
    assert_de_tokens_error::<Arc<[bool]>>(
        &[
            Token::Seq { len: Some(2) },
            Token::Bool(true),
            Token::Str("no"),
            Token::SeqEnd,
        ],
        problem,
    );
}

#[test]
fn two_references_are_written_twice_and_read_as_two_values() {
    let one = Arc::new(7u8);
    let pair = (Arc::clone(&one), one);
    let tokens = [Token::Tuple { len: 2 }, Token::U8(7), Token::U8(7), Token::TupleEnd];
    assert_ser_tokens(&pair, &tokens);
    let read: (Arc<u8>, Arc<u8>) = Deserialize::deserialize(numbers(&[7, 7])).unwrap();
    assert!(read == pair && !Arc::ptr_eq(&read.0, &read.1));
    assert_eq!((Arc::strong_count(&read.0), Arc::strong_count(&pair.0)), (1, 2));
}

/// A deserializer of a sequence of numbers.
fn numbers(numbers: &[u8]) -> impl for<'de> Deserializer<'de, Error = Error> {
    SeqDeserializer::<_, Error>::new(numbers.iter().copied())
}

/// `Weak` has no `==`; serde_test compares by it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(transparent)]
struct Observer<W>(W);

impl<T> PartialEq for Observer<Weak<T>> {
    fn eq(&self, other: &Self) -> bool {
        self.0.ptr_eq(&other.0)
    }
}

impl<T> PartialEq for Observer<std::sync::Weak<T>> {
    fn eq(&self, other: &Self) -> bool {
        self.0.ptr_eq(&other.0)
    }
}

#[test]
fn a_weak_is_an_option_and_is_read_as_none() {
    let (ours, std) = (Arc::new(5u8), StdArc::new(5u8));
    let (our_weak, std_weak) = (Arc::downgrade(&ours), StdArc::downgrade(&std));
    let some = [Token::Some, Token::U8(5)];
    assert_ser_tokens(&Observer(our_weak.clone()), &some);
    assert_ser_tokens(&Observer(std_weak.clone()), &some);
    drop((ours, std));
    assert_ser_tokens(&Observer(our_weak), &[Token::None]);
    assert_ser_tokens(&Observer(std_weak), &[Token::None]);
    for tokens in [&some[..], &[Token::None]] {
        assert_de_tokens(&Observer(Weak::<u8>::new()), tokens);
        assert_de_tokens(&Observer(std::sync::Weak::<u8>::new()), tokens);
    }
    assert_de_tokens_error::<Observer<Weak<u8>>>(
        &[Token::Some, Token::Bool(true)],
        "invalid type: boolean `true`, expected u8",
    );
}

#[test]
fn what_is_read_for_a_weak_is_dropped() {
    static DROPPED: std_atomic::AtomicUsize = std_atomic::AtomicUsize::new(0);
    #[derive(Debug, Deserialize)]
    struct Counted(#[expect(dead_code, reason = "what is read")] u8);
    impl Drop for Counted {
        fn drop(&mut self) {
            DROPPED.fetch_add(1, std_atomic::Ordering::Relaxed);
        }
    }
    assert_de_tokens(
        &Observer(Weak::<Counted>::new()),
        &[Token::Some, Token::NewtypeStruct { name: "Counted" }, Token::U8(7)],
    );
    // serde_test reads it twice: the second time in place.
    assert_eq!(DROPPED.load(std_atomic::Ordering::Relaxed), 2);
}

macro_rules! atomics {
    ($($atomic:ident $value:expr => $token:expr;)*) => { $(
        let (ours, std) = (atomic::$atomic::new($value), std_atomic::$atomic::new($value));
        assert_ser_tokens(&ours, &[$token]);
        assert_ser_tokens(&std, &[$token]);
        let read: Result<atomic::$atomic, Error> =
            Deserialize::deserialize(IntoDeserializer::into_deserializer($value));
        assert_eq!(read.unwrap().into_inner(), $value);
    )* };
}

#[test]
fn an_atomic_is_its_value() {
    atomics! {
        AtomicBool true => Token::Bool(true);
        AtomicI8 -8i8 => Token::I8(-8);
        AtomicI16 -16i16 => Token::I16(-16);
        AtomicI32 -32i32 => Token::I32(-32);
        AtomicI64 i64::MIN => Token::I64(i64::MIN);
        AtomicIsize -1isize => Token::I64(-1);
        AtomicU8 8u8 => Token::U8(8);
        AtomicU16 16u16 => Token::U16(16);
        AtomicU32 32u32 => Token::U32(32);
        AtomicU64 u64::MAX => Token::U64(u64::MAX);
        AtomicUsize 1usize => Token::U64(1);
    }
    let read: Result<atomic::AtomicU8, Error> = Deserialize::deserialize(IntoDeserializer::into_deserializer(256u32));
    assert!(
        read.unwrap_err().to_string().contains("256"),
        "a value that does not fit"
    );
}
