//! Arcs converted from other owners, of slices, strings and trait objects; forwarded traits.
#![cfg(not(loom))]

use cyclewise::refs::rcuref::Pool;
use cyclewise::refs::{Arc, Unsizing, Weak};
use std::any::Any;
use std::borrow::{Borrow, Cow};
use std::cell::Cell;
use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};
use std::error::Error;
use std::ffi::{CStr, CString, OsStr, OsString};
use std::fmt::{self, Debug, Display};
use std::path::{Path, PathBuf};
use std::rc::Rc;

#[test]
fn from_values_and_boxes() {
    assert_eq!(*Arc::from(5), 5);
    assert_eq!(*Arc::<String>::from(Box::new(String::from("a"))), "a");
    assert_eq!(*Arc::<str>::from(String::from("foo").into_boxed_str()), *"foo");
    assert_eq!(*Arc::<[u8]>::from(vec![1, 2].into_boxed_slice()), [1, 2]);
    assert_eq!(
        Arc::<dyn Display>::from(Box::new(1) as Box<dyn Display>).to_string(),
        "1"
    );
    let nothing: Box<dyn Debug> = Box::new(());
    assert_eq!(format!("{:?}", Arc::<dyn Debug>::from(nothing)), "()");
    let nothing: Box<[String]> = Box::new([]);
    assert_eq!(Arc::<[String]>::from(nothing).len(), 0);
}

#[test]
fn from_slices_and_vectors() {
    let strings = ["a", "b", "c"].map(String::from);
    let cloned: Arc<[String]> = Arc::from(&strings[..]);
    let moved: Arc<[String]> = Arc::from(strings.to_vec());
    let array: Arc<[String]> = Arc::from(strings.clone());
    let collected: Arc<[String]> = strings.iter().filter(|s| *s != "x").cloned().collect();
    for arc in [cloned, moved, array, collected] {
        assert_eq!(*arc, strings);
        assert_eq!((Arc::strong_count(&arc), Arc::weak_count(&arc)), (1, 0));
    }
    assert_eq!(Arc::<[()]>::from(vec![(); 1000]).len(), 1000);
    assert_eq!(Arc::<[u8]>::from(&mut [1, 2][..]).len(), 2);
    assert_eq!(Arc::<[u8]>::default().len(), 0);
    assert_eq!(*std::pin::Pin::<Arc<u8>>::default(), 0);
    assert_eq!(*std::pin::Pin::<Arc<str>>::default(), *"");
}

#[test]
fn from_strings_of_every_kind() {
    assert_eq!(*Arc::<str>::from("a"), *"a");
    assert_eq!(*Arc::<str>::from(String::from("b").as_mut_str()), *"b");
    assert_eq!(*Arc::<str>::from(String::from("c")), *"c");
    assert_eq!(*Arc::<str>::from(Cow::Borrowed("d")), *"d");
    assert_eq!(*Arc::<str>::from(Cow::<str>::Owned("e".into())), *"e");
    assert_eq!(*Arc::<[u8]>::from(Cow::Borrowed(&b"f"[..])), *b"f");
    assert_eq!(*Arc::<[u8]>::from(Arc::<str>::from("g")), *b"g");
    assert_eq!(*Arc::<CStr>::from(c"h"), *c"h");
    assert_eq!(*Arc::<CStr>::from(CString::from(c"i")), *c"i");
    assert_eq!(*Arc::<OsStr>::from(OsStr::new("j")), *"j");
    assert_eq!(*Arc::<OsStr>::from(OsString::from("k")), *"k");
    let (mut name, mut path) = (OsString::from("k"), PathBuf::from("k"));
    let name: &mut OsStr = &mut name;
    assert_eq!(*Arc::<OsStr>::from(name), *"k");
    let path: &mut Path = &mut path;
    assert_eq!(&*Arc::<Path>::from(path), Path::new("k"));
    assert_eq!(*Arc::<Path>::from(Path::new("l")), *Path::new("l"));
    assert_eq!(*Arc::<Path>::from(PathBuf::from("m")), *Path::new("m"));
    assert_eq!((&*Arc::<str>::default(), &*Arc::<CStr>::default()), ("", c""));

    let mut path = Arc::<Path>::from(Path::new("n"));
    let second = path.clone();
    Arc::make_mut(&mut path).as_mut_os_str().make_ascii_uppercase();
    assert_eq!((&*path, &*second), (Path::new("N"), Path::new("n")));

    // The weak reference outlives a value whose size only its metadata holds.
    let name = Arc::<CStr>::from(c"swordfish");
    let weak = Arc::downgrade(&name);
    drop(name);
    assert!(weak.upgrade().is_none());
}

trait Shape: Any {
    fn sides(&self) -> u32;
}

trait Named: Shape {
    fn name(&self) -> String;
}

struct Polygon(u32, #[expect(dead_code, reason = "for its drop")] Rc<()>);

impl Shape for Polygon {
    fn sides(&self) -> u32 {
        self.0
    }
}

impl Named for Polygon {
    fn name(&self) -> String {
        format!("{}-gon", self.0)
    }
}

#[test]
fn unsizing_keeps_the_reference_and_its_value() {
    let witness = Rc::new(());
    let arc = Arc::new(Polygon(5, witness.clone()));
    let weak = Arc::downgrade(&arc);
    let named: Arc<dyn Named> = Arc::unsize(arc.clone(), |v| v);
    // From one trait object to that of a supertrait.
    let shape: Arc<dyn Shape> = Arc::unsize(named.clone(), |v| v);
    assert_eq!(
        (named.name().as_str(), shape.sides(), weak.strong_count()),
        ("5-gon", 5, 3)
    );
    let of_shape: Weak<dyn Shape> = Arc::downgrade(&shape);
    drop((arc, named));
    assert_eq!(Rc::strong_count(&witness), 2);
    drop(shape);
    assert_eq!(Rc::strong_count(&witness), 1);
    assert!(of_shape.upgrade().is_none() && weak.upgrade().is_none());
}

#[test]
fn unsizing_borrowed_and_aligned_values() {
    #[repr(align(128))]
    struct Aligned<'a>(&'a str);
    impl Display for Aligned<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }
    }
    let text = String::from("text");
    let display: Arc<dyn Display + '_> = Arc::unsize(Arc::new(Aligned(&text)), |v| v);
    assert!(Arc::as_ptr(&display).cast::<u8>().addr().is_multiple_of(128));
    assert_eq!(display.to_string(), "text");
    let error = Arc::unsize::<dyn Error>(Arc::new(fmt::Error), |v| v);
    assert!(error.is::<fmt::Error>() && error.source().is_none());
}

#[test]
fn weak_references_coerce_before_during_and_after_the_value() {
    struct Node {
        me: Weak<dyn Named>,
        number: u32,
    }
    trait Named {
        fn number(&self) -> u32;
    }
    impl Named for Node {
        fn number(&self) -> u32 {
            self.number
        }
    }
    let node = Arc::new_cyclic(|me: &Weak<Node>| {
        let coerced: Weak<dyn Named> = Weak::unsize(me.clone(), |value| value);
        assert!(coerced.upgrade().is_none(), "it is not there yet");
        assert_eq!((me.strong_count(), coerced.strong_count()), (0, 0));
        Node { me: coerced, number: 7 }
    });
    assert_eq!((Arc::strong_count(&node), Arc::weak_count(&node)), (1, 1));
    assert_eq!(node.me.upgrade().unwrap().number(), 7);

    let late = Weak::unsize(Arc::downgrade(&node), |value: &_| value as &Unsizing<dyn Named>);
    assert!(late.ptr_eq(&node.me));
    drop(node);
    assert!(late.upgrade().is_none());
    drop(late);

    // The last reference of any kind frees the memory with its original layout.
    let array = Arc::new([1_u64, 2, 3]);
    let slice: Weak<[u64]> = Weak::unsize(Arc::downgrade(&array), |value| value);
    assert_eq!(slice.upgrade().as_deref(), Some(&[1, 2, 3][..]));
    drop(array);
    assert!(slice.upgrade().is_none());

    // References to nothing, and of uninhabited or zero-sized types.
    enum Never {}
    impl Named for Never {
        fn number(&self) -> u32 {
            match *self {}
        }
    }
    let nothing: Weak<dyn Named> = Weak::unsize(Weak::<Never>::new(), |value| value);
    assert!(nothing.upgrade().is_none() && nothing.ptr_eq(&nothing.clone()));
    assert_eq!((nothing.strong_count(), nothing.weak_count()), (0, 0));
    let empty: Weak<[u8]> = Weak::unsize(Arc::downgrade(&Arc::new([])), |value| value);
    assert!(empty.upgrade().is_none());
}

/// Four times the stack below. In optimized code this tests little: there no place in a frame is left that nobody uses.
type Large = [u8; 4 << 20];

fn on_a_small_stack(body: fn()) {
    let thread = std::thread::Builder::new().stack_size(1 << 20).spawn(body);
    thread.unwrap().join().unwrap();
}

/// Where std needs no stack for the value, we need none either. An overflow ends the process by SIGSEGV or SIGABRT.
#[test]
fn values_larger_than_the_stack_are_never_on_it() {
    on_a_small_stack(|| {
        let to_slice = |weak: Weak<Large>| -> Weak<[u8]> { Weak::unsize(weak, |value| value) };
        assert!(to_slice(Weak::new()).upgrade().is_none());
        // SAFETY: zeroes are a value.
        let mut array: Arc<Large> = unsafe { Arc::<Large>::new_zeroed().assume_init() };
        let slice = to_slice(Arc::downgrade(&array));
        assert_eq!(slice.upgrade().map(|slice| slice.len()), Some(size_of::<Large>()));
        // Moves the bytes, since there is a weak reference.
        Arc::make_mut(&mut array)[5] = 7;
        assert!(slice.upgrade().is_none());
        let array: Arc<[u8]> = Arc::unsize(array, |value| value);
        let array = Arc::<Large>::try_from(array).unwrap();
        assert_eq!(array[5], 7);
        let any: Arc<dyn std::any::Any + Send + Sync> = Arc::unsize(array, |value| value);
        assert_eq!(any.downcast::<Large>().unwrap()[5], 7);
        // SAFETY: zeroes are a value.
        let boxed: Box<Large> = unsafe { Box::new_zeroed().assume_init() };
        let moved: Arc<Large> = Arc::from(boxed);
        let uninit = (Arc::<Large>::new_uninit(), Arc::<[Large]>::new_uninit_slice(1));
        assert_eq!(
            (size_of_val(&*uninit.0), size_of_val(&*uninit.1)),
            (moved.len(), moved.len())
        );
        assert_eq!(Pool::<Large>::new(2).capacity(), 2);
    });
}

/// The twin: a place for a value in a frame. (Elsewhere tests run under an emulator, which cannot start this program again.)
#[cfg(all(debug_assertions, target_arch = "x86_64"))]
#[test]
fn a_value_on_the_stack_is_caught() {
    use std::os::unix::process::ExitStatusExt as _;
    const CHILD: &str = "CYCLEWISE_ON_THE_STACK";
    if crate::common::sanitizer::is_asan() {
        return println!("skipped: AddressSanitizer's frames are not probed page by page");
    }
    if std::env::var_os(CHILD).is_some() {
        return on_a_small_stack(|| {
            let place = std::hint::black_box(std::mem::MaybeUninit::<Large>::uninit());
            assert_eq!(size_of_val(&place), size_of::<Large>());
        });
    }
    let test = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "convert::a_value_on_the_stack_is_caught"])
        .env(CHILD, "1")
        .output()
        .unwrap();
    assert!(
        matches!(test.status.signal(), Some(libc::SIGABRT | libc::SIGSEGV)),
        "{test:?}"
    );
}

#[test]
fn a_coercion_of_a_weak_reference_that_panics_drops_it() {
    let arc = Arc::new(5_u8);
    let weak = Arc::downgrade(&arc);
    let coerce = || {
        let _: Weak<u8> = Weak::unsize(weak, |_| std::panic::resume_unwind(Box::new(())));
    };
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(coerce)).is_err());
    assert_eq!(Arc::weak_count(&arc), 0);
}

#[test]
fn arrays_and_slices_turn_into_each_other() {
    let slice: Arc<[u32]> = Arc::unsize(Arc::new([1, 2, 3]), |v| v);
    assert_eq!(slice.clone().len(), 3);
    let slice = Arc::<[u32; 2]>::try_from(slice).unwrap_err();
    let array = Arc::<[u32; 3]>::try_from(slice).unwrap();
    assert_eq!((*array, Arc::strong_count(&array)), ([1, 2, 3], 1));
}

#[test]
fn downcasting_asks_for_the_right_type() {
    let any: Arc<dyn Any + Send + Sync> = Arc::unsize(Arc::new(String::from("a")), |v| v);
    let second = any.clone();
    let any = any.downcast::<&str>().unwrap_err();
    let string: Arc<String> = any.downcast().unwrap();
    assert_eq!((string.as_str(), Arc::strong_count(&string)), ("a", 2));
    drop(second);
    assert_eq!(Arc::try_unwrap(string).unwrap(), "a");
}

#[test]
fn memory_first_and_the_value_later() {
    let mut arc = Arc::<String>::new_uninit();
    Arc::get_mut(&mut arc).unwrap().write(String::from("a"));
    // SAFETY: just written.
    assert_eq!(*unsafe { arc.assume_init() }, "a");
    let mut slice = Arc::<[String]>::new_uninit_slice(3);
    for place in Arc::get_mut(&mut slice).unwrap() {
        place.write(String::from("b"));
    }
    // SAFETY: all were just written.
    assert_eq!(*unsafe { slice.assume_init() }, ["b", "b", "b"]);
    // Nothing is dropped where nothing was written.
    drop(Arc::<String>::new_uninit());
}

#[test]
fn memory_of_zeroes_is_that_also_where_it_was_used_before() {
    for _ in 0..100 {
        let mut used = Arc::<[u64; 33]>::new_uninit();
        Arc::get_mut(&mut used).unwrap().write([u64::MAX; 33]);
        drop(used);
        let zeroed = Arc::<[u64; 33]>::new_zeroed();
        // SAFETY: zeroes are integers.
        assert_eq!(*unsafe { zeroed.assume_init() }, [0; 33]);
        let zeroed = Arc::<[u64]>::new_zeroed_slice(33);
        // SAFETY: zeroes are integers.
        let zeroed = unsafe { zeroed.assume_init() };
        let stds = std::sync::Arc::<[u64]>::new_zeroed_slice(33);
        // SAFETY: zeroes are valid integers, in std's too.
        assert_eq!(*zeroed, *unsafe { stds.assume_init() });
    }
    assert_eq!(Arc::<[()]>::new_zeroed_slice(usize::MAX).len(), usize::MAX);
    assert_eq!(Arc::<[u64]>::new_zeroed_slice(0).len(), 0);
    drop(Arc::<String>::new_zeroed());
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_is_read_and_written_as_stds() {
    use std::io::{IoSlice, Read, Seek, SeekFrom, Write};
    use std::os::fd::FromRawFd;
    fn through(mut file: impl Read + Write + Seek) -> (usize, u64, String, Vec<u8>) {
        file.write_all(b"one two").unwrap();
        let wrote = file.write_vectored(&[IoSlice::new(b" three"), IoSlice::new(b" four")]);
        file.flush().unwrap();
        file.seek(SeekFrom::Start(4)).unwrap();
        let mut word = [0; 3];
        file.read_exact(&mut word).unwrap();
        let at = file.stream_position().unwrap();
        let mut rest = String::new();
        file.read_to_string(&mut rest).unwrap();
        file.rewind().unwrap();
        let mut all = Vec::new();
        file.read_to_end(&mut all).unwrap();
        (wrote.unwrap(), at, rest, all)
    }
    let file = || {
        // SAFETY: a name and no flags.
        let fd = unsafe { libc::memfd_create(c"file".as_ptr(), 0) };
        assert!(fd >= 0, "memfd_create: {}", std::io::Error::last_os_error());
        // SAFETY: new, and nobody else's.
        unsafe { std::fs::File::from_raw_fd(fd) }
    };
    let (ours, stds) = (Arc::new(file()), std::sync::Arc::new(file()));
    let seen = through(ours.clone());
    assert_eq!(seen, through(stds));
    assert_eq!((seen.0, seen.1, seen.2.as_str()), (11, 7, " three four"));
    // All references share one file and one position in it.
    assert_eq!((&*ours).stream_position().unwrap(), 18);
}

#[test]
#[should_panic(expected = "larger than isize::MAX")]
fn a_slice_that_no_memory_holds_is_refused() {
    drop(Arc::<[u64]>::new_uninit_slice(usize::MAX / 8));
}

#[test]
fn comparisons_and_hashes_are_those_of_the_values() {
    let [one, two] = [1, 2].map(Arc::new);
    assert!(one == one.clone() && one != two);
    let same = one.clone();
    assert_eq!(
        [one < two, one <= two, one > two, one >= two],
        [true, true, false, false]
    );
    assert_eq!(
        [one < same, one <= same, one > same, one >= same],
        [false, true, false, true]
    );
    assert_eq!(
        (one.cmp(&two), one.partial_cmp(&two)),
        (Ordering::Less, Some(Ordering::Less))
    );
    let nan = Arc::new(f32::NAN);
    assert!(nan != nan.clone() && nan.partial_cmp(&nan).is_none());

    let map = HashMap::from([(Arc::<str>::from("a"), 1)]);
    assert_eq!(map.get("a"), Some(&1));
    let set = BTreeSet::from([Arc::<str>::from("a")]);
    assert!(set.contains("a"));
    let borrowed: &i32 = one.borrow();
    assert_eq!((borrowed, one.as_ref()), (&1, &1));
}

#[test]
fn printing_is_that_of_the_value() {
    let arc = Arc::new(5);
    assert_eq!(format!("{arc:?} {arc} {arc:p}"), format!("5 5 {:p}", &raw const *arc));
    assert_eq!(format!("{:02}", Arc::new(5)), "05");
}

#[test]
fn derived_traits_work_on_fields() {
    #[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
    struct Derived {
        number: Arc<i32>,
        text: Arc<str>,
        numbers: Arc<[u8]>,
    }
    let value = Derived::default();
    assert_eq!(value.clone(), value);
    assert_eq!(format!("{value:?}"), "Derived { number: 0, text: \"\", numbers: [] }");
}

#[test]
fn equality_looks_at_the_values_of_one_allocation_too() {
    struct Looked<'a>(&'a Cell<u32>);
    impl PartialEq for Looked<'_> {
        fn eq(&self, _: &Self) -> bool {
            self.0.set(self.0.get() + 1);
            true
        }
    }
    let looks = Cell::new(0);
    let arc = Arc::new(Looked(&looks));
    assert!(arc == arc.clone());
    assert_eq!(looks.get(), 1);
}

#[test]
fn what_has_a_descriptor_lends_it() {
    use std::os::fd::{AsFd, AsRawFd};
    let (reader, _writer) = std::io::pipe().unwrap();
    let number = reader.as_raw_fd();
    let arc = Arc::new(reader);
    assert_eq!((arc.as_fd().as_raw_fd(), arc.as_raw_fd()), (number, number));
}
