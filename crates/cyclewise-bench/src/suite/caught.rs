//! Panics of a user's functions, as one line each.
//!
//! While this thread runs a user's function, the hook keeps the message for the line and prints nothing; elsewhere it does
//! what it did before.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::sync::Once;

thread_local! {
    static CATCHING: Cell<bool> = const { Cell::new(false) };
    static MESSAGE: RefCell<Option<String>> = const { RefCell::new(None) };
}

static HOOK: Once = Once::new();

/// Runs `work`; where it panics, the place and the message.
pub(super) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| match CATCHING.get() {
            true => MESSAGE.with(|m| *m.borrow_mut() = Some(line(info))),
            false => before(info),
        }));
    });
    let outer = CATCHING.replace(true);
    let result = catch_unwind(AssertUnwindSafe(work));
    CATCHING.set(outer);
    result.map_err(|payload| {
        // Its drop is the user's too, and may panic.
        std::mem::forget(payload);
        let message = MESSAGE.with(|m| m.borrow_mut().take());
        // resume_unwind calls no hook.
        message.unwrap_or_else(|| "panicked without a message".to_string())
    })
}

fn line(info: &PanicHookInfo<'_>) -> String {
    let message = info.payload_as_str().unwrap_or("a value that is no text");
    let place = info
        .location()
        .map_or(String::new(), |at| format!(" at {}:{}", at.file(), at.line()));
    format!("panicked{place}: {message}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_its_place_and_message() {
        let why = caught(|| assert_eq!(1 + 1, 3, "sums")).unwrap_err();
        assert!(
            why.starts_with("panicked at ") && why.contains("caught.rs") && why.contains("sums"),
            "{why}"
        );
        assert_eq!(caught(|| 7), Ok(7));
    }

    #[test]
    fn a_panic_whose_value_panics_when_dropped_is_one_panic() {
        struct Bomb;
        impl Drop for Bomb {
            fn drop(&mut self) {
                panic!("dropped");
            }
        }
        let why = caught(|| std::panic::panic_any(Bomb)).unwrap_err();
        assert!(why.contains("a value that is no text"), "{why}");
    }

    #[test]
    fn what_is_thrown_without_the_hook_has_a_line_too() {
        let why = caught(|| std::panic::resume_unwind(Box::new(())));
        assert_eq!(why, Err("panicked without a message".to_string()));
    }
}
