//! A key whose sites lie on chosen pages: twelve adjacent ones, one behind a small hole, one behind a large hole.
use std::arch::naked_asm;

cyclewise::static_key! {
    pub(crate) static PAGED: StaticKey = false;
}

/// The pages with sites, counted from the first. One pwrite of the writer covers at most 8.
pub(crate) const PAGES: [usize; 14] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 24, 60];

/// Pages between them that hold no site.
pub(crate) const EMPTY: [usize; 2] = [18, 40];

/// The sites as functions that return the key's value, one on each page, behind bytes that are not edited.
#[unsafe(naked)]
extern "C" fn functions() {
    naked_asm!(
        "ret",
        // One on each of twelve pages, and two further away. The records come from the same lines.
        ".irp pages, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 12, 35",
        ".p2align 12",
        ".skip \\pages * 4096, 0x90",
        ".skip 64, 0x90",
        "771: .byte 0x0f, 0x1f, 0x44, 0, 0",
        "xor eax, eax",
        "ret",
        "772: mov eax, 1",
        "ret",
        ".pushsection cyclewise_key_v2, \"aR\", @progbits",
        ".p2align 2",
        ".long 771b - ., 772b - ., {key} - ., 0",
        ".popsection",
        ".endr",
        ".p2align 12",
        key = sym PAGED,
    )
}

pub(crate) fn start() -> usize {
    let some = functions as extern "C" fn() as usize;
    (some + 4096) & !4095
}

/// Addresses of the sites, ascending.
pub(crate) fn sites() -> Vec<usize> {
    let mut sites: Vec<_> = PAGED.sites().collect();
    sites.sort_unstable();
    let pages: Vec<_> = sites.iter().map(|at| at / 4096 - start() / 4096).collect();
    assert_eq!(pages, PAGES);
    sites
}

pub(crate) fn all_say(on: bool) -> bool {
    sites().into_iter().all(|at| {
        // SAFETY: a function without arguments begins at each site.
        let function = unsafe { std::mem::transmute::<usize, extern "C" fn() -> u32>(at) };
        function() == u32::from(on)
    })
}

/// All bytes from the first page to the last.
pub(crate) fn text() -> Vec<u8> {
    let length = (PAGES[13] + 1) * 4096;
    // SAFETY: text that nothing changes meanwhile.
    unsafe { std::slice::from_raw_parts(start() as *const u8, length) }.to_vec()
}
