//! A static key: a flag whose test is one NOP until the flag changes.

use cyclewise::static_key;

static_key! {
    /// Whether requests are traced.
    static TRACING: StaticKey = false;
}

fn handle(request: u32) -> &'static str {
    println!("request {request}");
    // The branch below is out of line: while the key is off the hot path has no load and no jump.
    if TRACING.is_enabled() { "traced" } else { "plain" }
}

fn main() {
    assert_eq!(handle(1), "plain");
    // Writes every test of the key in the running program.
    match TRACING.enable() {
        Ok(()) => assert_eq!(handle(2), "traced"),
        Err(refusal) => return println!("the key keeps its value: {refusal}"),
    }
    TRACING.disable().expect("what was changed can be changed again");
    assert_eq!(handle(3), "plain");
}
