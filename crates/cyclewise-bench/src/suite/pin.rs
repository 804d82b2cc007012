//! The CPU of short rows.

use crate::error::{Error, Result};
use crate::runner::CpuChoice;
use crate::sys::affinity;
use std::io;

/// Runs `work` on the chosen CPU alone. Where pinning is refused, `refused` gets the reason and `work` runs all the same: a
/// sample during which the thread moves is rejected anyway.
///
/// # Errors
/// Those of `work`; exit 3 if the affinity cannot be restored.
pub(super) fn pinned<T>(
    choice: &CpuChoice,
    confine: impl Fn(&[u32]) -> io::Result<()>,
    refused: impl FnOnce(&Error),
    work: impl FnOnce() -> Result<T>,
) -> Result<T> {
    if let Err(e) = confine(&[choice.cpu]) {
        let hint = "variants are measured unpinned, and samples that move to another CPU are rejected";
        refused(&Error::system(&format!("pinning to CPU {}", choice.cpu), &e, hint));
        return work();
    }
    let result = work();
    confine(&choice.allowed).map_err(|e| Error::system("restoring the affinity mask", &e, "run again"))?;
    result
}

/// As the kernel has it.
pub(super) fn confine(cpus: &[u32]) -> io::Result<()> {
    affinity::confine(cpus)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    fn choice() -> CpuChoice {
        CpuChoice {
            cpu: 3,
            why: String::new(),
            allowed: vec![0, 3],
        }
    }

    #[test]
    fn where_pinning_is_forbidden_the_work_is_done_and_the_reason_told() {
        let told = RefCell::new(String::new());
        let refused = |e: &Error| *told.borrow_mut() = e.to_string();
        let forbidden = |_: &[u32]| Err(io::Error::from_raw_os_error(libc::EPERM));
        assert_eq!(pinned(&choice(), forbidden, refused, || Ok(7)), Ok(7));
        let told = told.into_inner();
        assert!(
            told.starts_with("pinning to CPU 3: ") && told.contains("unpinned"),
            "{told}"
        );
    }

    #[test]
    fn the_mask_is_restored_also_after_a_failure() {
        let asked = RefCell::new(Vec::new());
        let confine = |cpus: &[u32]| {
            asked.borrow_mut().push(cpus.to_vec());
            Ok(())
        };
        let work = || Err::<(), _>(Error::check("no"));
        assert!(pinned(&choice(), confine, |_| panic!("allowed"), work).is_err());
        assert_eq!(asked.into_inner(), [vec![3], vec![0, 3]]);
    }
}
