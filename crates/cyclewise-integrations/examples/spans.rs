//! Spans timed by the process's clock: a layer that says how long each span was open and how long it was entered, and lines with the
//! wall clock to the nanosecond.
//!
//! ```sh
//! cargo run --package cyclewise-integrations --example spans
//! ```

use cyclewise::clock::tracing::WallTime;
use cyclewise::clock::{Instant, PerTask};
use std::time::Duration;
use tracing::span::{Attributes, Id};
use tracing::{Subscriber, info, info_span};
use tracing_subscriber::layer::{Context, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{Layer, fmt, registry};

/// What a span has taken.
struct Timing {
    opened: Instant,
    /// Since it was entered, by a clock that need only be right on one thread: reading it waits for no load.
    entered: Option<Instant<PerTask>>,
    busy: Duration,
}

/// Reads the clock where spans open, are entered, are left and close.
struct Timings;

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Timings {
    fn on_new_span(&self, _: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        if let Some(span) = context.span(id) {
            span.extensions_mut().insert(Timing {
                opened: Instant::now(),
                entered: None,
                busy: Duration::ZERO,
            });
        }
    }

    fn on_enter(&self, id: &Id, context: Context<'_, S>) {
        if let Some(span) = context.span(id)
            && let Some(timing) = span.extensions_mut().get_mut::<Timing>()
        {
            timing.entered = Some(Instant::read());
        }
    }

    fn on_exit(&self, id: &Id, context: Context<'_, S>) {
        let now = Instant::<PerTask>::read();
        if let Some(span) = context.span(id)
            && let Some(timing) = span.extensions_mut().get_mut::<Timing>()
            && let Some(entered) = timing.entered.take()
        {
            timing.busy += now - entered;
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let Some(span) = context.span(&id) else { return };
        if let Some(Timing { opened, busy, .. }) = span.extensions().get() {
            let open = opened.elapsed();
            assert!(*busy <= open + Duration::from_millis(1), "two ways to read one clock");
            println!("{} was open for {open:?}, and entered for {busy:?} of it", span.name());
        }
    }
}

fn main() {
    let lines = fmt::layer().with_timer(WallTime::new()).with_writer(std::io::stdout);
    let subscriber = registry().with(Timings).with(lines);
    tracing::subscriber::with_default(subscriber, || {
        let request = info_span!("request", path = "/");
        for part in ["header", "body"] {
            request.in_scope(|| {
                info_span!("parse", part).in_scope(|| info!("parsed"));
            });
            // The span is open and not entered.
            std::thread::sleep(Duration::from_millis(2));
        }
    });
}
