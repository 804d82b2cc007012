//! How long it takes to change a thousand sites on fifty pages: LOCK prefixes, and tests of a static key.
//!
//! The sites are never executed. The first change is slower, because the kernel then copies each page.

#[cfg(all(target_arch = "x86_64", target_env = "gnu"))]
mod x86_64 {
    use cyclewise::error::Refusal;
    use cyclewise::patch;
    use std::arch::naked_asm;
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
    use std::time::{Duration, Instant};

    const REPEATS: usize = 200;

    cyclewise::static_key! {
        static ADJACENT: StaticKey = false;
        static SCATTERED: StaticKey = false;
    }

    /// 20 LOCK prefixes on each of 50 pages, with records as the library's.
    #[unsafe(naked)]
    extern "C" fn prefixes() {
        naked_asm!(
            "ret",
            ".rept 50",
            ".p2align 12",
            ".rept 20",
            ".pushsection cyclewise_lock_v1, \"aR\", @progbits",
            ".balign 4",
            ".long 771f - .",
            ".popsection",
            "771: lock",
            "inc qword ptr [rdi]",
            ".endr",
            ".endr",
        )
    }

    /// 20 tests of a key on each of 50 pages, with this number of pages before each.
    macro_rules! tests_of {
        ($name:ident, $key:ident, $pages:literal) => {
            #[unsafe(naked)]
            extern "C" fn $name() {
                naked_asm!(
                    "ret",
                    ".rept 50",
                    ".p2align 12",
                    concat!(".skip 4096 * ", $pages),
                    ".rept 20",
                    ".p2align 3",
                    "771: .byte 0x0f, 0x1f, 0x44, 0, 0",
                    "772: ret",
                    ".pushsection cyclewise_key_v2, \"aR\", @progbits",
                    ".p2align 2",
                    ".long 771b - ., 772b - ., {key} - ., 0",
                    ".popsection",
                    ".endr",
                    ".endr",
                    key = sym $key,
                )
            }
        };
    }
    tests_of!(adjacent, ADJACENT, 0);
    tests_of!(scattered, SCATTERED, 4);

    /// Microseconds of one change.
    fn timed(change: impl FnOnce() -> Result<(), Refusal>) -> Result<f64, Refusal> {
        let begun = Instant::now();
        change()?;
        Ok(begun.elapsed().as_secs_f64() * 1e6)
    }

    fn say(what: &str, mut all_us: Vec<f64>) {
        all_us.sort_by(f64::total_cmp);
        let [low, median, high] = [1, 5, 9].map(|tenths| all_us[all_us.len() * tenths / 10]);
        println!("{what}: {median:.1} us, from {low:.1} to {high:.1} in eight of ten");
    }

    fn keys(company: &str) -> Result<(), Refusal> {
        for (key, name) in [(&*ADJACENT, "adjacent"), (&*SCATTERED, "scattered")] {
            let flip = |at| if at % 2 == 0 { key.enable() } else { key.disable() };
            (0..2).try_for_each(flip)?;
            let all: Result<Vec<f64>, _> = (0..REPEATS).map(|at| timed(|| flip(at))).collect();
            say(
                &format!("{} tests of a key on {name} pages, {company}", key.sites().count()),
                all?,
            );
        }
        Ok(())
    }

    pub(crate) fn run() -> Result<(), Refusal> {
        // Keeps them linked.
        std::hint::black_box([prefixes, adjacent, scattered].map(|f: extern "C" fn()| f as usize));
        // SAFETY: this program creates threads through std only, and shares no atomics with other processes.
        unsafe { cyclewise::enable_single!() }?;
        let (mut elide, mut restore) = (Vec::new(), Vec::new());
        for _ in 0..REPEATS {
            restore.push(timed(patch::lock)?);
            elide.push(timed(patch::reelide)?);
        }
        let sites = patch::sites().count();
        say(&format!("eliding {sites} LOCK prefixes"), elide);
        say(&format!("restoring {sites} LOCK prefixes"), restore);
        keys("alone")?;
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(Relaxed) {
                    std::hint::spin_loop();
                }
            });
            std::thread::sleep(Duration::from_millis(5));
            let outcome = keys("beside a running thread");
            stop.store(true, Relaxed);
            outcome
        })
    }
}

fn main() {
    #[cfg(all(target_arch = "x86_64", target_env = "gnu"))]
    if let Err(refusal) = x86_64::run() {
        println!("not changed: {refusal}");
    }
    #[cfg(not(all(target_arch = "x86_64", target_env = "gnu")))]
    println!("no LOCK prefix is elided in this build");
}
