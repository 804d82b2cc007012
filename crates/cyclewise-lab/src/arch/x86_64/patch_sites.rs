//! A thousand patch sites on fifty pages, to measure the cost of a change at a known size.
//!
//! The records are the library's (`cyclewise_lock_v1`): its table holds these sites too. They are never executed.
//!
//! # Safety
//! A record is the distance from itself to a LOCK prefix of this link unit, as the library's `arch` has it.
#![allow(unsafe_code, reason = "a naked function, whose attribute is unsafe")]

/// Pages that hold sites.
pub(crate) const PAGES: usize = 50;
pub(crate) const SITES_A_PAGE: usize = 20;

/// Where the sites begin; the reference keeps them linked.
pub(crate) fn address() -> usize {
    sites as *const () as usize
}

#[unsafe(naked)]
extern "C" fn sites() {
    core::arch::naked_asm!(
        "ret",
        ".rept {pages}",
        ".p2align 12",
        ".rept {sites}",
        ".pushsection cyclewise_lock_v1,\"aR\",@progbits",
        ".balign 4",
        ".long 771f - .",
        ".popsection",
        "771: lock",
        "inc qword ptr [rdi]",
        ".endr",
        ".endr",
        pages = const PAGES,
        sites = const SITES_A_PAGE,
    )
}
