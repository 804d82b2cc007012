//! Lines about per-CPU data: restartable sequences and the ids they publish, membarrier, and the library's backend.

use super::line::{absent, limited, ok};
use super::{Answer, Inputs, Status};
use crate::sys::membarrier;
use cyclewise::percpu::Backend;

/// The bytes that the first kernels with rseq fill: cpu_id_start, cpu_id, rseq_cs, flags.
const ORIGINAL_FEATURES: u64 = 20;
/// End of `node_id` in `struct rseq` (include/uapi/linux/rseq.h).
const WITH_NODE_ID: u64 = 24;
/// End of `mm_cid`.
const WITH_MM_CID: u64 = 28;
/// Length of the original area, which glibc registers although `__rseq_size` may say 20.
const ORIGINAL_AREA: u64 = 32;

pub(super) fn lines(i: &Inputs) -> Vec<(&'static str, Answer)> {
    let live = live_features(i);
    vec![
        ("rseq", rseq(i, live)),
        (
            "mm-cid",
            field(i, live, WITH_MM_CID)
                .unless_ok("per-process CPU numbers are not used: areas are sized by the number of CPUs"),
        ),
        (
            "node-id",
            field(i, live, WITH_NODE_ID).unless_ok("the memory node comes from getcpu(2)"),
        ),
        ("membarrier", barrier(i)),
        ("percpu", backend(i)),
    ]
}

/// The backend, in the library's own words.
fn backend(i: &Inputs) -> Answer {
    let evidence = format!(
        "cyclewise::percpu::backend(): {:?}, {:?}",
        i.percpu.backend, i.percpu.reason
    );
    let line = |status| Answer::new(status, i.percpu.to_string(), evidence);
    match i.percpu.backend {
        Backend::Rseq => line(Status::Ok),
        _ => line(Status::Limited).so("a lock protects each per-CPU word, and words do not belong to a CPU"),
    }
}

/// The number of bytes of the registered area that the kernel fills; `None` if libc registered none.
fn live_features(i: &Inputs) -> Option<u64> {
    let registered = match u64::from(i.libc_rseq?.size) {
        0 => return None,
        // glibc before 2.40 says 20 or 32 for an area of 32.
        ORIGINAL_FEATURES | ORIGINAL_AREA => ORIGINAL_AREA,
        size => size,
    };
    Some(registered.min(i.auxv.rseq_feature_size.unwrap_or(ORIGINAL_FEATURES)))
}

fn evidence(i: &Inputs) -> String {
    let libc = i.libc_rseq.map_or("libc has no __rseq_size".to_owned(), |l| {
        format!(
            "__rseq_size = {}, __rseq_offset = {}, __rseq_flags = {:#x}",
            l.size, l.offset, l.flags
        )
    });
    let entry = |v: Option<u64>| v.map_or("absent".to_owned(), |v| v.to_string());
    format!(
        "{libc}; AT_RSEQ_FEATURE_SIZE = {}, AT_RSEQ_ALIGN = {}; rseq(2) with an unknown flag: {}",
        entry(i.auxv.rseq_feature_size),
        entry(i.auxv.rseq_align),
        i.rseq_refusal
    )
}

fn rseq(i: &Inputs, live: Option<u64>) -> Answer {
    match live {
        Some(bytes) => ok(format!("registered by libc, {bytes} bytes of features"), evidence(i)),
        None if i.rseq_refusal.0 == libc::EINVAL => limited("in the kernel, not registered by libc", evidence(i))
            .so("the library registers its own area for each thread"),
        None => absent("not in this kernel, or blocked by a filter", evidence(i))
            .so("the rseq variants are omitted; per-CPU data is in slots that a lock protects"),
    }
}

/// A field is published if the kernel's features include its end. The line `rseq` has the evidence of the area itself.
fn field(i: &Inputs, live: Option<u64>, end: u64) -> Answer {
    let given = i.auxv.rseq_feature_size.map_or("absent".to_owned(), |v| v.to_string());
    let Some(live) = live else {
        let evidence = format!("AT_RSEQ_FEATURE_SIZE = {given}, but libc registered no area");
        return absent("no rseq area is registered", evidence);
    };
    let evidence = format!("AT_RSEQ_FEATURE_SIZE = {given}; {live} bytes live, {end} needed");
    match live >= end {
        true => ok("published in the rseq area", evidence),
        false => absent("not published by this kernel", evidence),
    }
}

fn barrier(i: &Inputs) -> Answer {
    let mask = match i.membarrier {
        Ok(mask) => mask,
        Err(errno) => {
            return absent(
                "not in this kernel, or blocked by a filter",
                format!("membarrier(QUERY): {errno}"),
            )
            .so("text is not patched while threads run, and remote per-CPU access runs on the owner's CPU");
        }
    };
    let evidence = format!("membarrier(QUERY) = {mask:#x}: {}", membarrier::names(mask).join(", "));
    let wanted = [
        (membarrier::PRIVATE_EXPEDITED, "PRIVATE_EXPEDITED", "asymmetric fences"),
        (membarrier::SYNC_CORE, "SYNC_CORE", "patching text while threads run"),
        (membarrier::RSEQ, "RSEQ", "remote access to per-CPU data"),
    ];
    let (has, lacks): (Vec<_>, Vec<_>) = wanted.iter().partition(|(bit, ..)| mask & bit != 0);
    let names = |list: &[&(u32, &'static str, &'static str)]| list.iter().map(|w| w.1).collect::<Vec<_>>().join(", ");
    if lacks.is_empty() {
        return ok(names(&has), evidence);
    }
    let uses: Vec<_> = lacks.iter().map(|w| w.2).collect();
    limited(format!("without {}", names(&lacks)), evidence).so(format!("not available: {}", uses.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::errno::Errno;
    use crate::sys::rseq::Libc;

    fn machine(size: Option<u32>, feature_size: Option<u64>) -> Inputs {
        let mut i = Inputs::nothing("x86_64");
        i.libc_rseq = size.map(|size| Libc {
            size,
            offset: -160,
            flags: 0,
        });
        i.auxv.rseq_feature_size = feature_size;
        i.rseq_refusal = Errno(libc::EINVAL);
        i
    }

    #[test]
    fn live_features_are_the_minimum_of_both() {
        for (size, feature, live) in [
            (Some(20), Some(28), Some(28)),
            (Some(32), Some(28), Some(28)),
            (Some(32), Some(33), Some(32)),
            (Some(33), Some(33), Some(33)),
            (Some(32), None, Some(20)),
            (Some(0), Some(28), None),
            (None, Some(28), None),
        ] {
            assert_eq!(live_features(&machine(size, feature)), live, "{size:?} {feature:?}");
        }
    }

    #[test]
    fn fields_depend_on_the_feature_size() {
        let status = |i: &Inputs| lines(i).iter().map(|(_, a)| a.status).take(3).collect::<Vec<_>>();
        assert_eq!(
            status(&machine(Some(20), Some(28))),
            [Status::Ok, Status::Ok, Status::Ok]
        );
        assert_eq!(
            status(&machine(Some(20), Some(24))),
            [Status::Ok, Status::Absent, Status::Ok]
        );
        assert_eq!(
            status(&machine(Some(32), None)),
            [Status::Ok, Status::Absent, Status::Absent]
        );
        assert_eq!(
            status(&machine(Some(0), Some(28))),
            [Status::Limited, Status::Absent, Status::Absent]
        );
        let mut filtered = machine(None, None);
        filtered.rseq_refusal = Errno(libc::ENOSYS);
        assert_eq!(status(&filtered)[0], Status::Absent);
    }

    #[test]
    fn the_backend_is_the_librarys_own() {
        let mut i = machine(Some(20), Some(28));
        assert_eq!(backend(&i).status, Status::Limited);
        assert!(backend(&i).value.starts_with("portable: rseq(2) failed with errno 38"));
        i.percpu = cyclewise::percpu::Report {
            backend: Backend::Rseq,
            reason: cyclewise::percpu::Reason::Registered,
            cid: true,
        };
        let line = backend(&i);
        assert_eq!(line.status, Status::Ok);
        assert_eq!(line.value, "rseq: registered by this library, thread by thread, mm_cid");
        // The process's own answer, whatever it is.
        assert_eq!(Inputs::gather().percpu, cyclewise::percpu::backend());
    }

    #[test]
    fn barriers_are_named() {
        let mut i = machine(None, None);
        i.membarrier = Ok(0x3ff);
        assert_eq!(
            (barrier(&i).status, barrier(&i).value.as_str()),
            (Status::Ok, "PRIVATE_EXPEDITED, SYNC_CORE, RSEQ")
        );
        i.membarrier = Ok(0b1_1111);
        assert_eq!(barrier(&i).value, "without SYNC_CORE, RSEQ");
        assert_says!(barrier(&i).consequence.unwrap(), "patching text");
        i.membarrier = Err(Errno(libc::ENOSYS));
        assert_eq!(barrier(&i).status, Status::Absent);
    }
}
