//! An alternative: a sequence of instructions that is chosen once, by what the CPU supports.

#[cfg(target_arch = "x86_64")]
fn main() {
    use cyclewise::alternative;
    use cyclewise::arch::alternative::has;
    use cyclewise::arch::feature::RDTSCP;

    fn chosen() -> u64 {
        let number: u64;
        // SAFETY: each sequence writes one register.
        unsafe {
            alternative!(
                feature = RDTSCP,
                default = ["mov {number:e}, 1"],
                replacement = ["mov {number:e}, 2"],
                number = out(reg) number
            )
        };
        number
    }

    assert_eq!(chosen(), 1, "the default until the sequences are chosen");
    // SAFETY: called from main, not from a handler of a signal.
    if let Err(refusal) = unsafe { cyclewise::patch::apply_alternatives() } {
        return println!("the defaults stay: {refusal}");
    }
    assert_eq!(chosen() == 2, has(RDTSCP));
    println!("sequence {} of 2", chosen());
}

#[cfg(not(target_arch = "x86_64"))]
fn main() {
    println!("this architecture has no alternatives");
}
